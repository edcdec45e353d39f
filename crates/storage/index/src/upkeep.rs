//! VACUUM and verification of an index.

use base::{Fork, SqlError, Tid};
use buffer::{Pin, Purpose, ReadStream, Ring};
use runtime::Interrupt;
use tuple::Datum;

use crate::{Access, IndexDesc, IndexError, IndexResult};

/// How a VACUUM goes about its work on an index.
pub struct Manner<'a> {
    /// Pages that are not in the pool come into these buffers; none: into any.
    pub ring: Option<&'a Ring>,
    /// Called before each page, with no latch held: pauses, and looks for interrupts.
    pub pause: &'a mut dyn FnMut() -> Result<(), Interrupt>,
}

/// Visits an index's pages, pinned, from block `first` on in physical order, those added meanwhile included. Returns how many the main fork has.
pub fn each_block(
    access: &Access<'_>,
    desc: &IndexDesc,
    first: u32,
    manner: &mut Manner<'_>,
    mut visit: impl FnMut(Pin) -> IndexResult<()>,
) -> IndexResult<u32> {
    let mut blocks = first..first;
    let mut stream = ReadStream::new(access.pool, (desc.file, Fork::Main), manner.ring, Purpose::Maintenance);
    loop {
        let end = access.pool.nblocks(desc.file, Fork::Main)?;
        if blocks.end >= end {
            return Ok(end);
        }
        blocks.end = end;
        loop {
            (manner.pause)().map_err(IndexError::Interrupted)?;
            let Some(pin) = stream.next(access.pool, manner.ring, || blocks.next())? else { break };
            access.pool.admit(desc.persistence)?;
            visit(pin)?;
        }
    }
}

/// What VACUUM found and did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VacuumStats {
    /// Pages of the main fork.
    pub pages: u32,
    /// Pages deleted by this VACUUM.
    pub pages_newly_deleted: u32,
    /// All deleted pages, free or not.
    pub pages_deleted: u32,
    /// Pages that may be used again.
    pub pages_free: u32,
    /// Entries removed.
    pub tuples_removed: u64,
    /// Entries left.
    pub tuples: u64,
    /// `tuples` was not counted: no pass over the index was needed.
    pub estimated: bool,
}

impl VacuumStats {
    /// Those of one more pass of the same VACUUM.
    pub fn add_pass(&mut self, found: VacuumStats) {
        *self = VacuumStats {
            tuples_removed: self.tuples_removed + found.tuples_removed,
            pages_newly_deleted: self.pages_newly_deleted + found.pages_newly_deleted,
            ..found
        };
    }
}

/// Takes one entry's TID and values, in the order of the index if it has one; an error fails the check.
pub type EntryCheck<'a> = &'a mut dyn FnMut(Tid, &[Datum]) -> Result<(), SqlError>;

/// What is checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VerifyOptions {
    /// Nobody changes the index meanwhile: links between all its pages are checked too.
    pub still: bool,
    /// Every entry is found by a search. Of a still index only.
    pub root_descend: bool,
}

impl VerifyOptions {
    /// All that can be told of an index that nobody changes.
    pub const ALL: VerifyOptions = VerifyOptions { still: true, root_descend: true };
}
