//! An open index.

use base::Fork;
use index::changes::{Change, change_pages};
use index::{Access, Exclusive, Finds, IndexDesc, IndexResult, Pages, vectors};
use tuple::Datum;

use crate::format::{AROUND, ENTRY_HEAD, META, MOST_LISTS, Meta, SPECIAL};

/// An open index. Share it by `Arc`.
#[derive(Debug)]
pub struct IvfflatRel {
    /// The description.
    pub desc: IndexDesc,
}

/// A row that is entered may be among the nearest.
impl Finds for IvfflatRel {}

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
        vectors::distance(self.desc.trees[0], a, b)
    }

    /// The key of a row's value, if it has one.
    pub(crate) fn key_of(&self, values: &[Datum]) -> IndexResult<Option<Datum>> {
        let most = page::MAX_ITEM - ENTRY_HEAD - AROUND - SPECIAL;
        vectors::key_of(self.desc.trees[0], values, "ivfflat", most)
    }

    /// Changes pages, with one record.
    pub(crate) fn change(&self, access: &Access<'_>, pages: &mut [Change<'_>]) -> IndexResult<()> {
        change_pages(access, self, pages)
    }

    /// A new page at the end of the file.
    pub(crate) fn new_page(&self, access: &Access<'_>) -> IndexResult<Exclusive> {
        Ok(access.pool.extend(self.desc.file, Fork::Main, self.desc.persistence)?)
    }
}
