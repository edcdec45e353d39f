//! Advisory locks, and which session waits for which.

use base::{SqlError, SqlResult, Xid};
use eval::error;
use rustc_hash::FxHashMap;
use tuple::Datum;
use txn::{LockError, LockInfo, LockMode, LockTag, LockWait, PredicateLock, SessionId, Target};
use types::{Call, SessionFn, array::Array, oids};

use super::{Row, arg};
use crate::Session;

/// What an advisory function does.
struct Advisory {
    shared: bool,
    /// Fails instead of waiting.
    tries: bool,
    /// Ends with the transaction.
    transaction: bool,
}

impl Session {
    pub(super) fn lock_function(
        &self,
        id: SessionFn,
        call: &Call<'_>,
        args: &[Datum],
    ) -> SqlResult<Option<Datum>> {
        use SessionFn as F;
        if let Some(what) = advisory(id) {
            return self.advisory_lock(&what, args).map(Some);
        }
        Ok(Some(match id {
            F::PgAdvisoryUnlock => self.advisory_unlock(args, LockMode::Exclusive)?,
            F::PgAdvisoryUnlockShared => self.advisory_unlock(args, LockMode::Share)?,
            F::PgAdvisoryUnlockAll => {
                let advisory = |tag| matches!(tag, LockTag::Advisory { .. });
                self.txn.borrow_mut().unlock_all_for_session(advisory);
                Datum::text("")
            }
            F::PgBlockingPids => {
                let session = crate::session_id(arg(args, 0));
                let pids = self.engine().txns().locks().blocking(session);
                pid_array(pids, call)?
            }
            F::PgSafeSnapshotBlockingPids => {
                let session = crate::session_id(arg(args, 0));
                pid_array(self.engine().txns().serializable().safe_snapshot_blockers(session), call)?
            }
            F::PgIsolationTestSessionIsBlocked => self.is_blocked_by(args)?,
            _ => return Ok(None),
        }))
    }

    pub(super) fn lock_rows(&self, id: SessionFn) -> SqlResult<Option<Vec<Row>>> {
        match id {
            SessionFn::PgLockStatus => {
                let mut locks = self.engine().txns().list_locks();
                let prepared = self.engine().txns().prepared().list();
                let prepared: FxHashMap<_, _> = prepared.iter().map(|p| (p.stand_in, p.xid)).collect();
                let stand_in = |session| prepared.get(&session).copied();
                // One that came or went in between has no row.
                locks.retain(|lock| !lock.session.is_stand_in() || stand_in(lock.session).is_some());
                let running: FxHashMap<_, _> =
                    self.engine().txns().virtual_xids().iter().map(|one| (one.session, one.local)).collect();
                let owner = |session: SessionId| match stand_in(session) {
                    Some(xid) => Owner::Prepared(xid),
                    None => Owner::Session(running.get(&session).copied().unwrap_or(0)),
                };
                let mut rows: Vec<Row> =
                    locks.iter().map(|lock| lock_row(lock, owner(lock.session))).collect();
                for lock in self.engine().txns().serializable().list() {
                    let owner = match stand_in(lock.who.session) {
                        Some(xid) => Owner::Prepared(xid),
                        None => Owner::Session(lock.who.local),
                    };
                    rows.push(self.predicate_lock_row(&lock, owner)?);
                }
                Ok(Some(rows))
            }
            _ => Ok(None),
        }
    }

    /// A row of `pg_locks` for what a serializable transaction has read. A range of keys is a part of an index, with no number of a page.
    fn predicate_lock_row(&self, lock: &PredicateLock, owner: Owner) -> SqlResult<Row> {
        let (kind, file) = match lock.target {
            Target::Relation(file) => ("relation", file),
            Target::Page(file, _) | Target::Keys(file) => ("page", file),
            Target::Row(file, _) => ("tuple", file),
        };
        let relation = match file.database == self.catalog.database() {
            true => self.relation_of_file(file.tablespace, file.number)?,
            false => Datum::Null,
        };
        let mut row = vec![Datum::Null; 16];
        row[LOCK_TYPE] = Datum::text(kind);
        row[DATABASE] = file.database.into();
        row[RELATION] = relation;
        match lock.target {
            Target::Page(_, block) => row[PAGE] = Datum::Int4(block.0 as i32),
            Target::Row(_, tid) => {
                row[PAGE] = Datum::Int4(tid.block.0 as i32);
                row[TUPLE] = Datum::Int2(tid.offset as i16);
            }
            _ => {}
        }
        fill_owner(&mut row, lock.who.session, owner);
        row[12] = Datum::text("SIReadLock");
        row[13] = Datum::Bool(true);
        row[14] = Datum::Bool(false);
        Ok(row)
    }

    fn advisory_tag(&self, args: &[Datum]) -> LockTag {
        let database = self.catalog.database();
        match args {
            [Datum::Int4(key1), Datum::Int4(key2)] => {
                LockTag::Advisory { database, key1: *key1 as u32, key2: *key2 as u32, kind: 2 }
            }
            _ => {
                let key = arg::<i64>(args, 0) as u64;
                LockTag::Advisory { database, key1: (key >> 32) as u32, key2: key as u32, kind: 1 }
            }
        }
    }

    fn advisory_lock(&self, what: &Advisory, args: &[Datum]) -> SqlResult<Datum> {
        let tag = self.advisory_tag(args);
        let mode = if what.shared { LockMode::Share } else { LockMode::Exclusive };
        let wait = if what.tries { LockWait::NoWait } else { LockWait::Block };
        let mut txn = self.txn.borrow_mut();
        let result = match what.transaction {
            true => txn.lock(tag, mode, wait),
            false => txn.lock_for_session(tag, mode, wait),
        };
        match result {
            Ok(()) if what.tries => Ok(Datum::Bool(true)),
            Ok(()) => Ok(Datum::text("")),
            Err(LockError::NotAvailable) if what.tries => Ok(Datum::Bool(false)),
            Err(e) => Err(error::lock(e)),
        }
    }

    fn advisory_unlock(&self, args: &[Datum], mode: LockMode) -> SqlResult<Datum> {
        let held = self.txn.borrow_mut().unlock_for_session(self.advisory_tag(args), mode);
        if !held {
            self.notice(SqlError::with_severity(
                base::Severity::Warning,
                base::SqlState::WARNING,
                format!("you don't own a lock of type {}", mode.name()),
            ));
        }
        Ok(Datum::Bool(held))
    }

    fn is_blocked_by(&self, args: &[Datum]) -> SqlResult<Datum> {
        let session = crate::session_id(arg(args, 0));
        // A session that waits for a safe snapshot waits for all transactions that may make it unsafe, in whichever session they run.
        if !self.engine().txns().serializable().safe_snapshot_blockers(session).is_empty() {
            return Ok(Datum::Bool(true));
        }
        let waiting = self.engine().txns().locks().blocking(session);
        let Datum::Bytes(payload) = &args[1] else { return Ok(Datum::Bool(false)) };
        let suspects = Array::from_payload(payload).into_elements();
        let among = |pid: &SessionId| suspects.contains(&Datum::Int4(pid.0 as i32));
        Ok(Datum::Bool(waiting.iter().any(among)))
    }
}

fn advisory(id: SessionFn) -> Option<Advisory> {
    use SessionFn as F;
    let (shared, tries, transaction) = match id {
        F::PgAdvisoryLock => (false, false, false),
        F::PgAdvisoryLockShared => (true, false, false),
        F::PgAdvisoryXactLock => (false, false, true),
        F::PgAdvisoryXactLockShared => (true, false, true),
        F::PgTryAdvisoryLock => (false, true, false),
        F::PgTryAdvisoryLockShared => (true, true, false),
        F::PgTryAdvisoryXactLock => (false, true, true),
        F::PgTryAdvisoryXactLockShared => (true, true, true),
        _ => return None,
    };
    Some(Advisory { shared, tries, transaction })
}

/// Prepared transactions are all 0.
fn pid_array(pids: Vec<SessionId>, call: &Call<'_>) -> SqlResult<Datum> {
    let pid = |session: SessionId| if session.is_stand_in() { 0 } else { session.0 as i32 };
    let values = pids.into_iter().map(|session| Datum::Int4(pid(session))).collect();
    Ok(Array::from_values(oids::int4, values, call)?.to_datum())
}

/// Kind of a lock as `pg_locks.locktype` and `pg_stat_activity.wait_event` name it.
pub(super) fn lock_type(tag: &LockTag) -> &'static str {
    match tag {
        LockTag::Relation { .. } => "relation",
        LockTag::Extend { .. } => "extend",
        LockTag::Page { .. } => "page",
        LockTag::Tuple { .. } => "tuple",
        LockTag::Xid(_) => "transactionid",
        LockTag::VirtualXid { .. } => "virtualxid",
        LockTag::Speculative(_) => "spectoken",
        LockTag::Object { .. } => "object",
        LockTag::Advisory { .. } => "advisory",
    }
}

/// Who has a lock.
#[derive(Clone, Copy)]
enum Owner {
    /// A session, with the number of its running transaction, 0 between two.
    Session(u32),
    /// A prepared transaction.
    Prepared(Xid),
}

const LOCK_TYPE: usize = 0;
const DATABASE: usize = 1;
const RELATION: usize = 2;
const PAGE: usize = 3;
const TUPLE: usize = 4;

/// Who has a lock, in a row of `pg_locks`.
fn fill_owner(row: &mut Row, session: SessionId, owner: Owner) {
    match owner {
        Owner::Prepared(xid) => row[10] = Datum::text(&format!("-1/{xid}")),
        Owner::Session(local) => {
            row[10] = Datum::text(&format!("{}/{local}", session.0));
            row[11] = Datum::Int4(session.0 as i32);
        }
    }
}

/// A row of `pg_locks`.
fn lock_row(lock: &LockInfo, owner: Owner) -> Row {
    const VIRTUAL_XID: usize = 5;
    const XID: usize = 6;
    const CLASS: usize = 7;
    const OBJECT: usize = 8;
    const SUBOBJECT: usize = 9;
    let mut row = vec![Datum::Null; 16];
    row[LOCK_TYPE] = Datum::text(lock_type(&lock.tag));
    match lock.tag {
        LockTag::Relation { database, relation } | LockTag::Extend { database, relation } => {
            row[DATABASE] = database.into();
            row[RELATION] = relation.into();
        }
        LockTag::Page { database, relation, block } => {
            row[DATABASE] = database.into();
            row[RELATION] = relation.into();
            row[PAGE] = Datum::Int4(block.0 as i32);
        }
        LockTag::Tuple { database, relation, tid } => {
            row[DATABASE] = database.into();
            row[RELATION] = relation.into();
            row[PAGE] = Datum::Int4(tid.block.0 as i32);
            row[TUPLE] = Datum::Int2(tid.offset as i16);
        }
        LockTag::Xid(xid) | LockTag::Speculative(xid) => row[XID] = Datum::Oid(xid.0 as u32),
        LockTag::VirtualXid { session, local } => {
            row[VIRTUAL_XID] = Datum::text(&format!("{}/{local}", session.0));
        }
        LockTag::Object { database, class, object, sub } => {
            row[DATABASE] = database.into();
            row[CLASS] = class.into();
            row[OBJECT] = object.into();
            row[SUBOBJECT] = Datum::Int2(sub as i16);
        }
        LockTag::Advisory { database, key1, key2, kind } => {
            row[DATABASE] = database.into();
            row[CLASS] = Datum::Oid(key1);
            row[OBJECT] = Datum::Oid(key2);
            row[SUBOBJECT] = Datum::Int2(kind as i16);
        }
    }
    fill_owner(&mut row, lock.session, owner);
    row[12] = Datum::text(lock.mode.name());
    row[13] = Datum::Bool(lock.granted);
    row[14] = Datum::Bool(lock.fastpath);
    row[15] = lock.wait_start.map_or(Datum::Null, Datum::Int8);
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Oid;

    #[test]
    fn every_kind_of_lock_fills_its_columns() {
        let lock = |tag| LockInfo {
            session: SessionId(7),
            tag,
            mode: LockMode::Share,
            granted: false,
            fastpath: false,
            wait_start: Some(5),
        };
        let of = |tag| lock_row(&lock(tag), Owner::Session(3));
        let row = of(LockTag::Advisory { database: Oid(5), key1: 1, key2: 2, kind: 2 });
        assert_eq!(row.len(), 16);
        assert_eq!(row[0], Datum::text("advisory"));
        assert_eq!([&row[7], &row[8], &row[9]], [&Datum::Oid(1), &Datum::Oid(2), &Datum::Int2(2)]);
        assert_eq!([&row[11], &row[12]], [&Datum::Int4(7), &Datum::text("ShareLock")]);
        assert_eq!(row[15], Datum::Int8(5));
        let row = of(LockTag::Relation { database: Oid(5), relation: Oid(1259) });
        assert_eq!([&row[1], &row[2], &row[3]], [&Datum::Oid(5), &Datum::Oid(1259), &Datum::Null]);
        let row = lock_row(&lock(LockTag::Xid(Xid(750))), Owner::Prepared(Xid(750)));
        assert_eq!([&row[10], &row[11]], [&Datum::text("-1/750"), &Datum::Null], "prepared: nobody's pid");
    }
}
