//! # What
//! Unlogged relations after a crash: each begins again as its initial fork says.
//!
//! # Layout
//! `<file>_init` beside the relation's other files: what the main fork is to be. None of a table's pages, the meta page of an index, the page of a sequence. It
//! is made with the relation's file, and a relation is unlogged to storage if it has one.
//!
//! # Invariants
//! 1. Changes of initial forks are logged; those of the other forks of such a relation are not, and only a shutdown has all of them on disk.
//! 2. Whoever starts without that shutdown resets them before anybody reads them, and before the control file says that recovery is over:
//!    a crash in the middle is another start that resets.
//!
//! # WAL and crash
//! Redo of the log may meet the other forks (they were made, or cut) and leaves there whatever it finds; they are emptied behind it.
//!
//! # PostgreSQL counterpart and differences
//! `reinit.c`. There files are removed before redo and copied behind it; here the forks are cut and filled through the pool, which knows
//! their lengths.

use base::{BlockNo, Fork, Lsn, RelFile};
use buffer::{BufferError, Persistence, Tag};

use crate::{Engine, EngineError, map};

impl Engine {
    /// Empties all unlogged relations. Redo is done, and nobody else is there yet.
    pub(crate) fn reset_unlogged(&self) -> Result<(), EngineError> {
        for (tablespace, database) in map::database_folders(&self.dir)? {
            for rel in self.relations_with(tablespace, database, Fork::Init)? {
                self.reset(rel)?;
            }
        }
        Ok(())
    }

    fn reset(&self, rel: RelFile) -> Result<(), EngineError> {
        self.smgr.create(rel, Fork::Main, true)?;
        for fork in [Fork::Main, Fork::Fsm, Fork::Vm] {
            if self.smgr.exists(rel, fork)? {
                self.pool.truncate(rel, fork, 0)?;
            }
        }
        for block in 0..self.pool.nblocks(rel, Fork::Init)? {
            let initial = match self.pool.read(Tag::new(rel, Fork::Init, BlockNo(block))) {
                Err(error @ BufferError::Corrupt { .. }) => {
                    // Torn, where the crash took the log of a relation that was being made. Another one says so to who reads it.
                    tracing::warn!("could not reset unlogged relation \"{rel}\": {error}");
                    return Ok(());
                }
                initial => initial?,
            };
            let mut page = self.pool.extend(rel, Fork::Main, Persistence::Unlogged)?;
            page.copy_from_slice(&initial.shared()[..]);
            page::set_lsn(&mut page, Lsn::INVALID);
            page.mark_dirty();
        }
        Ok(())
    }
}
