//! # What
//! PREPARE TRANSACTION, COMMIT PREPARED, ROLLBACK PREPARED; `pg_prepared_xact()`.
//!
//! # PostgreSQL counterpart
//! `xact.c`, `twophase.c`.

use base::{SqlResult, SqlState, sql_err};
use tuple::Datum;
use txn::{BlockState, End, Obstacle, PreparedTransaction, Resolver};

use super::Session;

impl Session {
    /// PREPARE TRANSACTION. Whatever it meets, the block is over. Returns the command tag.
    pub(super) fn prepare_transaction(&self, gid: &str) -> SqlResult<String> {
        let state = self.txn.borrow().state();
        if !matches!(state, BlockState::InBlock | BlockState::Failed) {
            self.warning(SqlState::NO_ACTIVE_SQL_TRANSACTION, "there is no transaction in progress");
        }
        match state {
            BlockState::Idle | BlockState::Started => return Ok("ROLLBACK".into()),
            BlockState::Failed => {
                self.abort_transaction();
                return Ok("ROLLBACK".into());
            }
            BlockState::Implicit | BlockState::InBlock => {}
        }
        self.fire_deferred(false).inspect_err(|_| self.abort_transaction())?;
        self.commands().before_commit(self).inspect_err(|_| self.abort_transaction())?;
        if self.made_holdable_cursor() {
            self.abort_transaction();
            return Err(sql_err!(
                FEATURE_NOT_SUPPORTED,
                "cannot PREPARE a transaction that has created a cursor WITH HOLD"
            ));
        }
        self.prepare_serializable().inspect_err(|_| self.abort_transaction())?;
        self.check_nothing_notified().inspect_err(|_| self.abort_transaction())?;
        self.close_transaction_portals();
        let by = (self.names.user(), self.catalog.database());
        let sync = self.synchronous_commit();
        let prepared = self.txn.borrow_mut().prepare(gid, by, sync);
        if let Err(error) = prepared {
            self.abort_transaction();
            return Err(error.into());
        }
        // What becomes of its rows is not known yet: they count as changed.
        self.after_transaction(true);
        let cut = self.txn.borrow_mut().take_cut_wait();
        self.tell_cut_wait(cut)?;
        Ok("PREPARE TRANSACTION".into())
    }

    /// COMMIT PREPARED and ROLLBACK PREPARED. Returns the command tag.
    pub(super) fn end_prepared(&self, gid: &str, end: End, command: &str) -> SqlResult<String> {
        self.prevent_in_block(command)?;
        let by = Resolver {
            user: self.names.user(),
            superuser: self.has_all_rights()?,
            database: self.catalog.database(),
        };
        let forget = |invalidations: &[u8]| self.catalog.forget_prepared(invalidations);
        let how = (end, self.synchronous_commit());
        let cut = self.engine().txns().end_prepared(&by, gid, how, forget)?;
        self.tell_cut_wait(cut)?;
        Ok(command.into())
    }

    /// The running transaction works with temporary objects: it cannot be prepared any more.
    pub(crate) fn note_temporary(&self) {
        self.txn.borrow_mut().obstruct_prepare(Obstacle::TemporaryObjects);
    }

    /// Rows of `pg_prepared_xact()`.
    pub(crate) fn prepared_rows(&self) -> Vec<Vec<Datum>> {
        let row = |prepared: PreparedTransaction| {
            vec![
                Datum::Oid(prepared.xid.0 as u32),
                Datum::text(&prepared.gid),
                Datum::Int8(prepared.time),
                prepared.owner.into(),
                prepared.database.into(),
            ]
        };
        self.engine().txns().prepared().list().into_iter().map(row).collect()
    }
}
