//! # What
//! What a session waits for, where others can see it (`pg_stat_activity`): whoever is about to wait says so with [`waiting`].
//!
//! # Invariants
//! 1. Only a wait is told: a path that does not wait pays nothing.
//! 2. A session's own fiber writes what it waits for; others read it with [`Interrupts::waits_for`](crate::Interrupts::waits_for). There is
//!    no order to keep with anything else.
//!
//! # PostgreSQL counterpart and differences
//! `wait_event.c`. Where PostgreSQL has several events for what is one wait here, the one that says most of it stands for all. Waits for heavyweight locks are not told: they are found in the lock manager when somebody looks.

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

use crate::fiber::with_state;

macro_rules! events {
    ($($(#[$doc:meta])* $event:ident = $kind:literal $name:literal,)*) => {
        /// Something that a session can be seen waiting for.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum WaitEvent {
            $($(#[$doc])* $event,)*
        }

        impl WaitEvent {
            /// All of them, in their order.
            pub const ALL: &[WaitEvent] = &[$(WaitEvent::$event,)*];

            /// Type and name, as PostgreSQL has them.
            pub fn names(self) -> (&'static str, &'static str) {
                match self {
                    $(WaitEvent::$event => ($kind, $name),)*
                }
            }
        }
    };
}

events! {
    /// Something to archive.
    ArchiverMain = "Activity" "ArchiverMain",
    /// More log to summarize.
    WalSummarizer = "Activity" "WalSummarizerWal",
    /// A summary of the log.
    WalSummaryReady = "IPC" "WalSummaryReady",
    /// A write of a summary of the log.
    WalSummaryWrite = "IO" "WalSummaryWrite",
    /// Others, to let go of a page.
    BufferPin = "BufferPin" "BufferPin",
    /// More log to send, or word of the receiver.
    WalSenderMain = "Activity" "WalSenderMain",
    /// A receiver, to take the log that was sent.
    WalSenderWrite = "Client" "WalSenderWriteData",
    /// More of the client's data, in the middle of a command.
    ClientRead = "Client" "ClientRead",
    /// The client, to take what was sent.
    ClientWrite = "Client" "ClientWrite",
    /// A read of a temporary file.
    TempFileRead = "IO" "BuffileRead",
    /// A write of a temporary file.
    TempFileWrite = "IO" "BuffileWrite",
    /// The control file to be written.
    ControlFile = "IO" "ControlFileSyncUpdate",
    /// A relation's file to grow.
    DataFileExtend = "IO" "DataFileExtend",
    /// A read of a relation's page.
    DataFileRead = "IO" "DataFileRead",
    /// Files of relations to be durable.
    DataFileSync = "IO" "DataFileSync",
    /// A write of a relation's page.
    DataFileWrite = "IO" "DataFileWrite",
    /// A read of an SLRU's page.
    SlruRead = "IO" "SlruRead",
    /// Files of an SLRU to be durable.
    SlruSync = "IO" "SlruSync",
    /// A write of an SLRU's page.
    SlruWrite = "IO" "SlruWrite",
    /// A state file of a prepared transaction to be durable.
    TwoPhaseFile = "IO" "TwophaseFileSync",
    /// A new file of the log.
    WalInit = "IO" "WalInitWrite",
    /// A write of the log that is durable when it returns.
    WalSync = "IO" "WalSync",
    /// A read of a file that a base backup copies.
    BackupRead = "IO" "BasebackupRead",
    /// A write of a file of a base backup that stays with the server.
    BackupWrite = "IO" "BasebackupWrite",
    /// The file of a replication slot to be durable.
    SlotFile = "IO" "ReplicationSlotWrite",
    /// A write of the log.
    WalWrite = "IO" "WalWrite",
    /// The command that archives a file of the log.
    ArchiveCommand = "IPC" "ArchiveCommand",
    /// The command that removes what a restart point does not need from an archive.
    ArchiveCleanupCommand = "IPC" "ArchiveCleanupCommand",
    /// The command that recovery runs when it is over.
    RecoveryEndCommand = "IPC" "RecoveryEndCommand",
    /// Snapshots to go that need what the log removes.
    RecoveryConflictSnapshot = "IPC" "RecoveryConflictSnapshot",
    /// Somebody to let the replay go on.
    RecoveryPause = "IPC" "RecoveryPause",
    /// The command that brings a file of the log from an archive.
    RestoreCommand = "IPC" "RestoreCommand",
    /// The archive to have all that a base backup needs.
    BackupArchive = "IPC" "BackupWaitWalArchive",
    /// The end of another session.
    BackendTermination = "IPC" "BackendTermination",
    /// Another session's read or write of a page.
    BufferIo = "IPC" "BufferIo",
    /// A checkpoint under way.
    Checkpoint = "IPC" "CheckpointDone",
    /// Transactions that commit before.
    CommitOrder = "IPC" "ProcarrayGroupUpdate",
    /// Another session's use of a replication slot to end.
    SlotDrop = "IPC" "ReplicationSlotDrop",
    /// Standbys that are to have a commit.
    SyncRep = "IPC" "SyncRep",
    /// Writers that may make a read-only transaction's snapshot unsafe.
    SafeSnapshot = "IPC" "SafeSnapshot",
    /// A page's latch.
    BufferContent = "LWLock" "BufferContent",
    /// A page for new multixacts.
    MultiXactGen = "LWLock" "MultiXactGen",
    /// The cache of multixacts.
    MultiXactPages = "LWLock" "MultiXactMemberSLRU",
    /// New OIDs.
    OidGen = "LWLock" "OidGen",
    /// Another session's change of a catalog's files.
    RelationMapping = "LWLock" "RelationMapping",
    /// The making or removal of another replication slot.
    SlotChange = "LWLock" "ReplicationSlotAllocation",
    /// Prepared transactions that change hands.
    TwoPhaseState = "LWLock" "TwoPhaseState",
    /// Another session's copy into the log's buffer.
    WalInsert = "LWLock" "WALInsert",
    /// Another session's write of the log.
    WalFlush = "LWLock" "WALWrite",
    /// The removal of old ids.
    WrapLimits = "LWLock" "WrapLimitsVacuum",
    /// The cache of the commit log.
    XactPages = "LWLock" "XactSLRU",
    /// A page for new transactions.
    XidGen = "LWLock" "XidGen",
    /// Who makes a table longer.
    Extend = "Lock" "extend",
    /// The right to clean the pending entries of an index.
    Page = "Lock" "page",
    /// The throttling of a base backup (`MAX_RATE`).
    BackupThrottle = "Timeout" "BaseBackupThrottle",
    /// The time between two writes of a checkpoint.
    CheckpointDelay = "Timeout" "CheckpointWriteDelay",
    /// The time that `pg_sleep` was told.
    PgSleep = "Timeout" "PgSleep",
    /// The pause of a VACUUM or ANALYZE that has used its cost limit.
    VacuumDelay = "Timeout" "VacuumDelay",
    /// The lock that a VACUUM wants for cutting a table, which others have.
    VacuumTruncate = "Timeout" "VacuumTruncate",
}

/// What a session waits for: the number of an event from 1 on, or 0.
#[derive(Debug, Default)]
pub(crate) struct Shown(AtomicU8);

impl Shown {
    /// What is shown.
    pub(crate) fn event(&self) -> Option<WaitEvent> {
        // Relaxed: invariant 2.
        let number = usize::from(self.0.load(Relaxed));
        WaitEvent::ALL.get(number.checked_sub(1)?).copied()
    }
}

/// Shows the number of an event for the session of the running fiber. Returns what was shown before.
fn show(number: u8) -> u8 {
    with_state(|state| {
        let Some(Shown(cell)) = state.interrupts.shown() else { return 0 };
        let before = cell.load(Relaxed);
        cell.store(number, Relaxed);
        before
    })
}

/// Runs `wait`; meanwhile `pg_stat_activity` shows that the running fiber's session waits for this.
pub fn waiting<T>(event: WaitEvent, wait: impl FnOnce() -> T) -> T {
    struct Restore(u8);
    impl Drop for Restore {
        fn drop(&mut self) {
            show(self.0);
        }
    }
    let _restore = Restore(show(event as u8 + 1));
    wait()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Interrupts, with_interrupts};

    #[test]
    fn the_innermost_wait_is_shown() {
        let mine = Interrupts::new();
        with_interrupts(&mine, || {
            assert_eq!(mine.waits_for(), None);
            waiting(WaitEvent::BufferIo, || {
                assert_eq!(mine.waits_for(), Some(WaitEvent::BufferIo));
                waiting(WaitEvent::PgSleep, || assert_eq!(mine.waits_for(), Some(WaitEvent::PgSleep)));
                assert_eq!(mine.waits_for(), Some(WaitEvent::BufferIo));
            });
            assert_eq!(mine.waits_for(), None);
        });
        waiting(WaitEvent::PgSleep, || assert_eq!(mine.waits_for(), None));
    }

    #[test]
    fn numbers_are_places_in_the_list() {
        assert!(WaitEvent::ALL.iter().enumerate().all(|(place, event)| *event as usize == place));
    }
}
