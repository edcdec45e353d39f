//! An open index, and how its pages are reached and changed.

use std::sync::{Arc, OnceLock};

use index::changes::{Change, change_pages};
use index::{Access, Finds, IndexDesc, IndexResult, Pages, PerIndex, vectors};
use runtime::Latch;
use tuple::Datum;

use crate::format::{META, Meta, NODE_HEAD};
use crate::insert::AROUND;

/// An open index. Share it by `Arc`.
#[derive(Debug)]
pub struct HnswRel {
    /// The description.
    pub desc: IndexDesc,
    structure: OnceLock<Arc<Latch>>,
}

/// Held shared by those who enter a row, alone by those who make searches begin elsewhere, and by VACUUM.
static STRUCTURES: PerIndex<Latch> = PerIndex::new();

/// A row that is entered may be among the nearest.
impl Finds for HnswRel {}

impl HnswRel {
    /// Opens an index by its description. No I/O.
    pub fn new(desc: IndexDesc) -> HnswRel {
        HnswRel { desc, structure: OnceLock::new() }
    }

    /// What is held by those who change the graph. Locked with no page latched.
    pub(crate) fn structure(&self, access: &Access<'_>) -> &Latch {
        self.structure.get_or_init(|| STRUCTURES.of(access, self.desc.file))
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
    pub(crate) fn distance(&self, a: &[u8], b: &[u8]) -> IndexResult<f64> {
        vectors::between(self.desc.trees[0], a, b)
    }

    /// The key of a row's value, if it has one.
    pub(crate) fn key_of(&self, values: &[Datum]) -> IndexResult<Option<Datum>> {
        let most = page::MAX_ITEM - NODE_HEAD - AROUND;
        vectors::key_of(self.desc.trees[0], values, "hnsw", most)
    }

    /// Changes pages, with one record.
    pub(crate) fn change(&self, access: &Access<'_>, pages: &mut [Change<'_>]) -> IndexResult<()> {
        change_pages(access, self, pages)
    }
}
