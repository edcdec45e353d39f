//! # What
//! Shared by commands that work in several transactions so that others can write meanwhile (CREATE INDEX CONCURRENTLY and the like): a lock that
//! outlives the transactions, and waits for transactions that may not know of the last step yet.
//!
//! # Locks
//! A session that waits here holds no snapshot (except FINALIZE, in a transaction that keeps one) and only the locks that it keeps, or those of a
//! transaction that has done nothing else.
//!
//! # PostgreSQL counterpart and differences
//! `WaitForLockers` of `lmgr.c`, `WaitForOlderSnapshots` of `commands/indexcmds.c`. Snapshots are not bound to a database here, so those of
//! sessions in other databases are waited for too, and so are those of other index builds.

use std::time::Duration;

use base::{Oid, SqlResult, Xid};
use session::progress::Progress;
use session::{Session, session_id};
use txn::{LockMode, LockTag, LockWait, Locker, SessionId};

// Figures of progress views.
const LOCKERS: usize = 4;
const LOCKERS_DONE: usize = 5;
const LOCKER: usize = 6;

/// Pause before looking again for a snapshot that no session owns up to: a loop of the server has it, or it has only just been taken.
const PAUSE: Duration = Duration::from_millis(1);

/// A lock that outlives transactions, until it is dropped.
pub(super) struct KeptLock<'s> {
    session: &'s Session,
    tag: LockTag,
    mode: LockMode,
}

impl<'s> KeptLock<'s> {
    /// Takes it.
    pub(super) fn take(session: &'s Session, relation: Oid, mode: LockMode) -> SqlResult<KeptLock<'s>> {
        let tag = session.catalog.lock_tag(relation);
        session.txn.borrow_mut().lock_for_session(tag, mode, LockWait::Block)?;
        Ok(KeptLock { session, tag, mode })
    }
}

impl Drop for KeptLock<'_> {
    fn drop(&mut self) {
        self.session.txn.borrow_mut().unlock_for_session(self.tag, self.mode);
    }
}

/// Waits for the end of all transactions that hold a lock on the relation which conflicts with `mode`. Those that come later know what
/// has been committed until now.
pub(super) fn wait_for_lockers(
    session: &Session,
    relation: Oid,
    mode: LockMode,
    progress: Option<&Progress>,
) -> SqlResult<()> {
    let tag = session.catalog.lock_tag(relation);
    let me = session.txn.borrow().session();
    let lockers = session.engine().txns().lockers(tag, mode, me);
    let tell = |figure, value| progress.into_iter().for_each(|progress| progress.set(figure, value));
    tell(LOCKERS, lockers.len() as i64);
    for (done, &locker) in lockers.iter().enumerate() {
        tell(LOCKERS_DONE, done as i64);
        tell(LOCKER, pid_of(locker));
        session.txn.borrow().wait_for_locker(locker)?;
    }
    [LOCKERS, LOCKERS_DONE, LOCKER].into_iter().for_each(|figure| tell(figure, 0));
    Ok(())
}

fn pid_of(locker: Locker) -> i64 {
    match locker {
        Locker::Session(one) => i64::from(one.session.0),
        Locker::Prepared(_) => 0,
    }
}

/// Waits until no snapshot of others is left that is older than one of the caller's with this `xmin`, which he needs no more.
pub(super) fn wait_for_older_snapshots(
    session: &Session,
    xmin: Xid,
    progress: Option<&Progress>,
) -> SqlResult<()> {
    let txns = session.engine().txns();
    let tell = |figure, value| progress.into_iter().for_each(|progress| progress.set(figure, value));
    // Some sessions with the same `xmin` are older, and new ones appear as long as that transaction runs: only sessions that are there now are waited for.
    let old = holders(session, xmin);
    let mut running = txns.virtual_xids();
    running.retain(|one| old.contains(&one.session));
    tell(LOCKERS, running.len() as i64);
    for (done, one) in running.into_iter().enumerate() {
        tell(LOCKERS_DONE, done as i64);
        if holders(session, xmin).contains(&one.session) {
            tell(LOCKER, pid_of(Locker::Session(one)));
            session.txn.borrow().wait_for_locker(Locker::Session(one))?;
        }
    }
    [LOCKERS, LOCKERS_DONE, LOCKER].into_iter().for_each(|figure| tell(figure, 0));
    // One that no session owned up to. What the caller's transaction keeps it keeps.
    let kept = || session.backend.xmin().is_some_and(|kept| kept < xmin);
    while txns.oldest_snapshot().is_some_and(|oldest| oldest < xmin) && !kept() {
        runtime::wait_interruptible(runtime::sleep(PAUSE)).map_err(eval::error::interrupted)?;
    }
    Ok(())
}

/// Other sessions that hold a snapshot with this `xmin` or a lower one.
fn holders(session: &Session, xmin: Xid) -> Vec<SessionId> {
    let backends = session.instance.sessions().list();
    let others = backends.iter().filter(|backend| backend.pid != session.backend.pid);
    let old = others.filter(|backend| backend.xmin().is_some_and(|held| held <= xmin));
    old.map(|backend| session_id(backend.pid)).collect()
}
