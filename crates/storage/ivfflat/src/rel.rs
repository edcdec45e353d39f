//! An open index.

use base::{Fork, SqlError, SqlState};
use index::changes::{Change, change_pages};
use index::{Access, Exclusive, Finds, IndexDesc, IndexError, IndexResult, Pages, ScanKey};
use tuple::Datum;
use tuple::tree::TreeQuery;

use crate::format::{AROUND, ENTRY_HEAD, META, MOST_LISTS, Meta, SPECIAL};
use crate::redo::Kind;

/// An open index. Share it by `Arc`.
#[derive(Debug)]
pub struct IvfflatRel {
    /// The description.
    pub desc: IndexDesc,
}

impl Finds for IvfflatRel {
    /// A row that is entered may be among the nearest.
    fn might_find(&self, _keys: &[ScanKey], _values: &[Datum]) -> bool {
        true
    }
}

impl IvfflatRel {
    /// Opens an index by its description. No I/O.
    pub fn new(desc: IndexDesc) -> IvfflatRel {
        IvfflatRel { desc }
    }

    /// How many lists a build is to make.
    pub(crate) fn wanted_lists(&self) -> usize {
        let asked = self.desc.option("lists").and_then(|value| value.parse().ok());
        usize::from(asked.unwrap_or(100).clamp(1, MOST_LISTS))
    }

    pub(crate) fn meta(&self, access: &Access<'_>) -> IndexResult<Meta> {
        let page = self.shared(access.pool, META)?;
        self.check(META, Meta::read(&page))
    }

    /// Distance of two keys.
    pub(crate) fn distance(&self, a: &Datum, b: &Datum) -> IndexResult<f64> {
        let query = TreeQuery { strategy: 1, operand: base::Oid::INVALID, value: b };
        let (distance, _) = self.desc.trees[0].distance(a, query, true);
        if distance.is_nan() {
            let error = SqlError::new(SqlState::DATA_EXCEPTION, "different vector dimensions");
            return Err(IndexError::Callback(error));
        }
        Ok(distance)
    }

    /// The key of a row's value, if it has one.
    pub(crate) fn key_of(&self, values: &[Datum]) -> IndexResult<Option<Datum>> {
        let Some(value) = values.first().filter(|value| !value.is_null()) else { return Ok(None) };
        let key = self.desc.trees[0].compress(value);
        let Datum::Bytes(bytes) = &key else { return Ok(None) };
        if ENTRY_HEAD + bytes.len() + AROUND + SPECIAL > page::MAX_ITEM {
            let error = SqlError::new(
                SqlState::PROGRAM_LIMIT_EXCEEDED,
                "column cannot have more than 2000 dimensions for ivfflat index",
            );
            return Err(IndexError::Callback(error));
        }
        Ok(Some(key))
    }

    /// Changes pages, with one record.
    pub(crate) fn change(&self, access: &Access<'_>, pages: &mut [Change<'_>]) -> IndexResult<()> {
        change_pages(access, self, Kind::Change as u8, pages)
    }

    /// A new page at the end of the file.
    pub(crate) fn new_page(&self, access: &Access<'_>) -> IndexResult<Exclusive> {
        Ok(access.pool.extend(self.desc.file, Fork::Main, self.desc.persistence)?)
    }
}
