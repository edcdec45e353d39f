//! An open index, and how its pages are reached and changed.

use base::SqlError;
use index::changes::{Change, change_pages};
use index::{Access, Finds, IndexDesc, IndexError, IndexResult, Pages, ScanKey};
use tuple::Datum;
use tuple::tree::TreeQuery;

use crate::format::{META, Meta};
use crate::redo::Kind;

/// An open index. Share it by `Arc`.
#[derive(Debug)]
pub struct HnswRel {
    /// The description.
    pub desc: IndexDesc,
}

impl Finds for HnswRel {
    /// A row that is entered may be among the nearest.
    fn might_find(&self, _keys: &[ScanKey], _values: &[Datum]) -> bool {
        true
    }
}

impl HnswRel {
    /// Opens an index by its description. No I/O.
    pub fn new(desc: IndexDesc) -> HnswRel {
        HnswRel { desc }
    }

    fn number(&self, name: &str, default: u16) -> u16 {
        self.desc.option(name).and_then(|value| value.parse().ok()).unwrap_or(default)
    }

    /// What block 0 of an empty index says.
    pub(crate) fn new_meta(&self) -> Meta {
        use crate::format::Pointer;
        Meta {
            m: self.number("m", 16).clamp(2, 100),
            ef_construction: self.number("ef_construction", 64),
            entry: Pointer::NONE,
            level: 0,
            room: META,
            free: Pointer::NONE,
        }
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
            let error = SqlError::new(base::SqlState::DATA_EXCEPTION, "different vector dimensions");
            return Err(IndexError::Callback(error));
        }
        Ok(distance)
    }

    /// Changes pages, with one record.
    pub(crate) fn change(&self, access: &Access<'_>, pages: &mut [Change<'_>]) -> IndexResult<()> {
        change_pages(access, self, Kind::Change as u8, pages)
    }
}
