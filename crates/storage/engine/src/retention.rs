//! # What
//! Which segments of the log must stay: the one place that every checkpoint asks before it gives segments up.
//!
//! A segment stays as long as any of these needs it:
//! * recovery from a crash, from the redo point of the latest checkpoint on;
//! * `wal_keep_size`, so many bytes behind the end of the log;
//! * slots ([`Retention::set_slots`]), bounded as their owner says;
//! * the archive: a segment that is not archived yet stays whatever its place ([`wal::ArchiveStatus::may_remove`], which [`wal::Wal`] asks for each one).
//!
//! # Locks
//! `slots`, short: held for a call that takes only what ranks below it.

use std::sync::Arc;

use base::Lsn;
use parking_lot::RwLock;

use crate::{Engine, EngineError};

/// Tells the oldest LSN that replication slots need. `end`: of the log. Asked at each checkpoint; who answers may invalidate slots that are too far behind
/// (`max_slot_wal_keep_size`) first. None: no slot needs any.
pub type SlotsNeed = Arc<dyn Fn(Lsn) -> Option<Lsn> + Send + Sync>;

/// What keeps log beside recovery and the archive.
#[derive(Default)]
pub(crate) struct Retention {
    slots: RwLock<Option<SlotsNeed>>,
}

/// The oldest of what is needed.
fn oldest_needed(redo: Lsn, end: Lsn, keep_size: u64, slots: Option<Lsn>) -> Lsn {
    let kept = match keep_size {
        0 => redo,
        size => Lsn(end.0.saturating_sub(size)),
    };
    redo.min(kept).min(slots.unwrap_or(redo))
}

impl Engine {
    /// From now on segments that slots need stay.
    pub fn keep_for_slots(&self, need: SlotsNeed) {
        *self.retention.slots.write() = Some(need);
    }

    /// The log must stay from here on, the archive's needs aside. `redo`: of the latest checkpoint.
    pub fn oldest_needed(&self, redo: Lsn) -> Lsn {
        let end = self.wal.insert_end();
        let slots = self.retention.slots.read().clone();
        let slots = slots.and_then(|need| need(end));
        oldest_needed(redo, end, self.options().wal_keep_size, slots)
    }

    /// Gives up segments that nobody needs behind a checkpoint with this redo point.
    pub(crate) fn remove_old_segments(&self, redo: Lsn) -> Result<wal::Recycled, EngineError> {
        Ok(self.wal.remove_segments_before(redo, self.oldest_needed(redo))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_neediest_decides() {
        let (redo, end) = (Lsn(5000), Lsn(9000));
        assert_eq!(oldest_needed(redo, end, 0, None), redo);
        assert_eq!(oldest_needed(redo, end, 1000, None), redo);
        assert_eq!(oldest_needed(redo, end, 6000, None), Lsn(3000));
        assert_eq!(oldest_needed(redo, end, 1 << 40, Some(Lsn(10))), Lsn(0));
        assert_eq!(oldest_needed(redo, end, 6000, Some(Lsn(2000))), Lsn(2000));
        assert_eq!(oldest_needed(redo, end, 0, Some(Lsn(7000))), redo);
    }
}
