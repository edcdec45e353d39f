//! # What
//! Replication origins: their names and numbers, and the functions of SQL about them. How far each has come is kept in [`txn::origin`].
//!
//! # Invariants
//! 1. A session that commits for an origin says so in every commit record, until it says otherwise.
//!
//! # PostgreSQL counterpart
//! `replication/logical/origin.c`.

use base::settings::Setting;
use base::{Lsn, Oid, SqlError, SqlResult, sql_err};
use catalog::system::pg_replication_origin;
use tuple::Datum;
use txn::origin::{Mark, Refused};
use txn::{LockMode, LockWait, SessionId};
use types::SessionFn;

use super::position;
use crate::functions::{Row, arg};
use crate::{Session, session_id};

/// Longest name.
const LONGEST: usize = 512;

fn refused(origin: u16, refused: Refused) -> SqlError {
    match refused {
        Refused::InUse(user) => sql_err!(
            OBJECT_IN_USE,
            "replication origin with ID {origin} is already active for PID {}",
            user.0
        ),
        Refused::NotInUse => sql_err!(
            OBJECT_NOT_IN_PREREQUISITE_STATE,
            "could not find replication state slot for replication origin with OID {origin} which was acquired by the given PID"
        ),
        Refused::Full => sql_err!(
            CONFIGURATION_LIMIT_EXCEEDED,
            "could not find free replication state slot for replication origin with ID {origin}"
        )
        .hint("Increase \"max_active_replication_origins\" and try again."),
    }
}

fn missing(name: &str) -> SqlError {
    sql_err!(UNDEFINED_OBJECT, "replication origin \"{name}\" does not exist")
}

fn not_set_up() -> SqlError {
    sql_err!(OBJECT_NOT_IN_PREREQUISITE_STATE, "no replication origin is configured")
}

/// Names that users may not give.
fn check_name(name: &str) -> SqlResult<()> {
    if name == "any" || name == "none" || name.starts_with("pg_") {
        let error = sql_err!(RESERVED_NAME, "replication origin name \"{name}\" is reserved");
        return Err(
            error.detail("Origin names \"any\", \"none\", and names starting with \"pg_\" are reserved.")
        );
    }
    if name.len() > LONGEST {
        let error = sql_err!(PROGRAM_LIMIT_EXCEEDED, "replication origin name is too long");
        return Err(error.detail(format!("Replication origin names must be no longer than {LONGEST} bytes.")));
    }
    Ok(())
}

impl Session {
    fn check_origins(&self, during_recovery: bool) -> SqlResult<()> {
        if !during_recovery && self.engine().is_following() {
            return Err(sql_err!(
                READ_ONLY_SQL_TRANSACTION,
                "cannot manipulate replication origins during recovery"
            ));
        }
        if self.instance.settings().int(Setting::max_active_replication_origins) > 0 {
            return Ok(());
        }
        Err(sql_err!(
            OBJECT_NOT_IN_PREREQUISITE_STATE,
            "cannot query or manipulate replication origin when \"max_active_replication_origins\" is 0"
        ))
    }

    fn lock_origins(&self, mode: LockMode) -> SqlResult<()> {
        let tag = self.catalog.lock_tag(pg_replication_origin::TABLE.oid);
        Ok(self.txn.borrow_mut().lock(tag, mode, LockWait::Block)?)
    }

    /// The number of the origin of this name, which is made unless there is one.
    pub fn origin(&self, name: &str) -> SqlResult<u16> {
        self.lock_origins(LockMode::Exclusive)?;
        match self.with_reader(|reader| reader.origin_by_name(name))? {
            Some(origin) => Ok(origin),
            None => self.with_changer(|changer| changer.create_origin(name)),
        }
    }

    /// Removes an origin and how far it has come; false if there is none of this name.
    pub fn drop_origin(&self, name: &str) -> SqlResult<bool> {
        self.lock_origins(LockMode::Exclusive)?;
        let Some(origin) = self.with_reader(|reader| reader.origin_by_name(name))? else { return Ok(false) };
        let origins = self.engine().txns().origins();
        if let Some(user) = origins.user(origin) {
            return Err(sql_err!(
                OBJECT_IN_USE,
                "could not drop replication origin with ID {origin}, in use by PID {}",
                user.0
            ));
        }
        self.with_changer(|changer| changer.drop_origin(name))?;
        self.engine().txns().forget_origin(origin)?;
        Ok(true)
    }

    /// The session commits for this origin from now on.
    pub fn follow_origin(&self, origin: u16) -> SqlResult<()> {
        let (origins, nobody) = (self.engine().txns().origins(), SessionId::default());
        origins.acquire(origin, session_id(self.info.pid), nobody).map_err(|why| refused(origin, why))?;
        self.txn.borrow_mut().set_origin(Some(Mark { origin, ..Mark::default() }));
        Ok(())
    }

    /// The session commits for no origin any more.
    pub fn leave_origin(&self) {
        self.engine().txns().origins().release(session_id(self.info.pid));
        self.txn.borrow_mut().set_origin(None);
    }

    fn known_origin(&self, name: &str) -> SqlResult<u16> {
        self.with_reader(|reader| reader.origin_by_name(name))?.ok_or_else(|| missing(name))
    }

    /// How far an origin has come, perhaps as far as that is durable.
    fn origin_position(&self, origin: u16, durable: bool) -> SqlResult<Datum> {
        let Some(progress) = self.engine().txns().origins().progress(origin) else { return Ok(Datum::Null) };
        if durable {
            self.engine().wal().flush(progress.local).map_err(engine::EngineError::Wal)?;
        }
        Ok(position(progress.remote))
    }

    /// Functions about origins that give one value.
    pub(super) fn origin_function(&self, id: SessionFn, args: &[Datum]) -> SqlResult<Option<Datum>> {
        use SessionFn as F;
        let void = || Datum::text("");
        let set_up = || self.txn.borrow().origin();
        Ok(Some(match id {
            F::PgReplicationOriginCreate => {
                self.check_origins(false)?;
                let name = arg::<&str>(args, 0);
                check_name(name)?;
                self.lock_origins(LockMode::Exclusive)?;
                if self.with_reader(|reader| reader.origin_by_name(name))?.is_some() {
                    return Err(sql_err!(
                        UNIQUE_VIOLATION,
                        "duplicate key value violates unique constraint \"pg_replication_origin_roname_index\""
                    )
                    .detail(format!("Key (roname)=({name}) already exists.")));
                }
                let origin = self.with_changer(|changer| changer.create_origin(name))?;
                Datum::Oid(origin.into())
            }
            F::PgReplicationOriginDrop => {
                self.check_origins(false)?;
                let name = arg::<&str>(args, 0);
                if !self.drop_origin(name)? {
                    return Err(missing(name));
                }
                void()
            }
            F::PgReplicationOriginOid => {
                self.check_origins(true)?;
                let found = self.with_reader(|reader| reader.origin_by_name(arg(args, 0)))?;
                found.map_or(Datum::Null, |origin| Datum::Oid(origin.into()))
            }
            F::PgReplicationOriginSessionSetup => {
                self.check_origins(false)?;
                let origin = self.known_origin(arg(args, 0))?;
                if set_up().is_some() {
                    return Err(sql_err!(
                        OBJECT_NOT_IN_PREREQUISITE_STATE,
                        "cannot setup replication origin when one is already setup"
                    ));
                }
                self.follow_origin(origin)?;
                void()
            }
            F::PgReplicationOriginSessionReset => {
                self.check_origins(false)?;
                set_up().ok_or_else(not_set_up)?;
                self.leave_origin();
                void()
            }
            F::PgReplicationOriginSessionIsSetup => {
                self.check_origins(false)?;
                Datum::Bool(set_up().is_some())
            }
            F::PgReplicationOriginSessionProgress => {
                self.check_origins(false)?;
                let mark = set_up().ok_or_else(not_set_up)?;
                self.origin_position(mark.origin, arg(args, 0))?
            }
            F::PgReplicationOriginXactSetup => {
                self.check_origins(false)?;
                let mark = set_up().ok_or_else(not_set_up)?;
                let remote = Lsn(arg::<i64>(args, 0) as u64);
                let mark = Mark { remote, time: arg(args, 1), ..mark };
                self.txn.borrow_mut().set_origin(Some(mark));
                void()
            }
            F::PgReplicationOriginXactReset => {
                self.check_origins(false)?;
                let mark = set_up().map(|mark| Mark { origin: mark.origin, ..Mark::default() });
                self.txn.borrow_mut().set_origin(mark);
                void()
            }
            F::PgReplicationOriginAdvance => {
                self.check_origins(false)?;
                self.lock_origins(LockMode::RowExclusive)?;
                let origin = self.known_origin(arg(args, 0))?;
                let (origins, me) = (self.engine().txns().origins(), session_id(self.info.pid));
                origins.acquire(origin, me, SessionId::default()).map_err(|why| refused(origin, why))?;
                let done = self.engine().txns().set_origin(origin, Lsn(arg::<i64>(args, 1) as u64), true);
                if set_up().is_none_or(|mark| mark.origin != origin) {
                    origins.leave(origin, me);
                }
                done?;
                void()
            }
            F::PgReplicationOriginProgress => {
                self.check_origins(true)?;
                let origin = self.known_origin(arg(args, 0))?;
                self.origin_position(origin, arg(args, 1))?
            }
            _ => return Ok(None),
        }))
    }

    /// `pg_show_replication_origin_status`
    pub(crate) fn origin_rows(&self) -> SqlResult<Vec<Row>> {
        let mut rows = Vec::new();
        for (origin, progress) in self.engine().txns().origins().list() {
            let name = self.with_reader(|reader| reader.origin_name(origin))?;
            rows.push(vec![
                Datum::Oid(Oid(origin.into()).0),
                name.map_or(Datum::Null, |name| Datum::text(&name)),
                Datum::Int8(progress.remote.0 as i64),
                Datum::Int8(progress.local.0 as i64),
            ]);
        }
        Ok(rows)
    }
}
