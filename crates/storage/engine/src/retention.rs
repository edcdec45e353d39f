//! # What
//! Which segments of the log must stay: the one place that every checkpoint and restart point asks before it gives segments up.
//!
//! A segment stays as long as any of these needs it:
//! * recovery from a crash, from the redo point of the latest checkpoint on;
//! * `wal_keep_size`, so many bytes behind the end of the log;
//! * summaries that are yet to be written ([`crate::summaries`]);
//! * replication slots, as far as they may ([`crate::slots`]);
//! * the archive: a segment that is not archived yet stays whatever its place ([`wal::ArchiveStatus::may_remove`], which [`wal::Wal`] asks for each one).

use base::Lsn;

use crate::{Engine, EngineError};

/// The oldest of what is needed.
fn oldest_needed(redo: Lsn, end: Lsn, keep_size: u64) -> Lsn {
    let kept = match keep_size {
        0 => redo,
        size => Lsn(end.0.saturating_sub(size)),
    };
    redo.min(kept)
}

impl Engine {
    /// The log must stay from here on, the archive's needs aside. `redo`: of the latest checkpoint. Slots that would keep too much of it are of no use any more.
    pub(crate) fn oldest_needed(&self, redo: Lsn) -> Result<Lsn, EngineError> {
        let end = if self.wal.is_recovering() { self.wal.durable_end() } else { self.wal.insert_end() };
        let needed = oldest_needed(redo, end, self.options().wal_keep_size);
        let unsummarized = self.unsummarized()?.unwrap_or(needed);
        Ok(self.keep_for_slots(needed)?.min(unsummarized))
    }

    /// Gives up segments that nobody needs behind a checkpoint with this redo point.
    pub(crate) fn remove_old_segments(&self, redo: Lsn) -> Result<wal::Recycled, EngineError> {
        Ok(self.wal.remove_segments_before(redo, self.oldest_needed(redo)?)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_neediest_decides() {
        let (redo, end) = (Lsn(5000), Lsn(9000));
        assert_eq!(oldest_needed(redo, end, 0), redo);
        assert_eq!(oldest_needed(redo, end, 1000), redo);
        assert_eq!(oldest_needed(redo, end, 6000), Lsn(3000));
        assert_eq!(oldest_needed(redo, end, 1 << 40), Lsn(0));
    }
}
