//! Where recovery of an archive ends: at a moment, a transaction, a place of the log or a name, or as soon as the data are consistent.

use base::{Lsn, TimelineId, Xid};
use wal::RecordRef;

use super::time::shown;

/// What recovery is to come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Consistency (`recovery_target`).
    Immediate,
    /// A moment, in microseconds since 2000-01-01 UTC (`recovery_target_time`).
    Time(i64),
    /// The end of a transaction (`recovery_target_xid`).
    Xid(Xid),
    /// A restore point (`recovery_target_name`).
    Name(String),
    /// A place in the log (`recovery_target_lsn`).
    Lsn(Lsn),
}

/// The time line that recovery follows (`recovery_target_timeline`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TargetTimeline {
    /// That of the data.
    Current,
    /// The newest that descends from it.
    #[default]
    Latest,
    /// This one.
    Number(TimelineId),
}

/// What follows when the target is reached (`recovery_target_action`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TargetAction {
    /// The server opens, on a new time line.
    Promote,
    /// It rests, so that sessions can look, until somebody wants it to open.
    Pause,
    /// It stops, and may go on from there later.
    #[default]
    Shutdown,
}

/// Recovery came to its target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reached {
    /// For the history of the new time line.
    pub reason: String,
    /// For the log.
    pub message: String,
}

/// Looks for the target in each record.
#[derive(Clone, Debug)]
pub(super) struct Stopper {
    pub target: Option<Target>,
    /// What the target names is replayed too.
    pub inclusive: bool,
}

impl Stopper {
    /// Whether redo ends before this record. `consistent`: the data are.
    pub fn before(&self, record: &RecordRef<'_>, consistent: bool) -> Option<Reached> {
        match (&self.target, self.inclusive) {
            (Some(Target::Immediate), _) if consistent => return Some(immediate()),
            (Some(Target::Lsn(lsn)), false) if record.lsn >= *lsn => {
                return Some(Reached {
                    reason: format!("before LSN {lsn}"),
                    message: format!("recovery stopping before WAL location (LSN) \"{lsn}\""),
                });
            }
            (Some(Target::Time(_)), _) | (Some(Target::Xid(_)), false) => {}
            _ => return None,
        }
        let end = txn::commit::end_of(record)?;
        let reason = match self.target {
            Some(Target::Xid(xid)) if end.xid == xid => format!("before transaction {xid}"),
            Some(Target::Time(time)) if end.time > time || end.time == time && !self.inclusive => {
                format!("before {}", shown(end.time))
            }
            _ => return None,
        };
        Some(Reached { reason, message: stopping("before", &end) })
    }

    /// Whether redo ends behind this record.
    pub fn after(&self, record: &RecordRef<'_>, consistent: bool) -> Option<Reached> {
        match &self.target {
            Some(Target::Immediate) if consistent => Some(immediate()),
            Some(Target::Lsn(lsn)) if self.inclusive && record.lsn >= *lsn => Some(Reached {
                reason: format!("after LSN {lsn}"),
                message: format!("recovery stopping after WAL location (LSN) \"{lsn}\""),
            }),
            Some(Target::Xid(xid)) if self.inclusive => {
                let end = txn::commit::end_of(record).filter(|end| end.xid == *xid)?;
                let message = stopping("after", &end);
                Some(Reached { reason: format!("after transaction {xid}"), message })
            }
            Some(Target::Name(wanted)) => {
                let (time, name) = wal::restore_point(record).filter(|(_, name)| name == wanted)?;
                let message = format!("recovery stopping at restore point \"{name}\", time {}", shown(time));
                Some(Reached { reason: format!("at restore point \"{name}\""), message })
            }
            _ => None,
        }
    }
}

fn immediate() -> Reached {
    Reached {
        reason: "reached consistency".into(),
        message: "recovery stopping after reaching consistency".into(),
    }
}

fn stopping(whence: &str, end: &txn::commit::End) -> String {
    let what = if end.committed { "commit" } else { "abort" };
    format!("recovery stopping {whence} {what} of transaction {}, time {}", end.xid, shown(end.time))
}
