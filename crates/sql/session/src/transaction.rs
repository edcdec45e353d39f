//! BEGIN to COMMIT, and what every statement begins and ends with.

use base::settings::Setting;
use base::{SqlError, SqlResult, SqlState, SubxactId, sql_err};
use catalog::Written;
use counters::Change;
use eval::cx::Facilities;
use parse::Statement;
use parse::ast::{self, DefElem};
use runtime::Interrupt;
use txn::{BlockState, Characteristics, End, SyncCommit};

use super::statement::{Source, Work};
use super::{BackendKind, Session};

/// What statements of a failed block are told.
pub(super) fn failed_block() -> SqlError {
    SqlError::new(
        SqlState::IN_FAILED_SQL_TRANSACTION,
        "current transaction is aborted, commands ignored until end of transaction block",
    )
}

impl Session {
    /// Before every statement: a transaction runs, times and formats are current.
    pub fn begin_statement(&self) {
        self.adopt_reload();
        self.prepare_fiber(self.settings.borrow().fast());
        let mut txn = self.txn.borrow_mut();
        if txn.state() == BlockState::Idle {
            let wanted = self.default_characteristics();
            txn.start(wanted);
            if wanted != Characteristics::default() {
                self.show_characteristics(wanted);
            }
            // The first statement of a transaction begins with it.
            self.refresh_format(txn.start_time(), txn.start_time());
        } else {
            self.refresh_format(txn.start_time(), runtime::wall_clock_micros());
        }
    }

    /// As [`Session::begin_statement`] for a message that belongs to the one before: if that one's transaction still runs, its time is this one's too.
    pub(super) fn go_on(&self) {
        if self.txn.borrow().state() == BlockState::Idle {
            self.begin_statement();
        }
    }

    /// After every statement: one that runs by itself commits.
    pub(super) fn end_statement(&self) -> SqlResult<()> {
        let state = self.txn.borrow().state();
        match state {
            BlockState::Started | BlockState::Implicit => {}
            // In a block: the next statement sees what this one did.
            _ => return self.next_command(),
        }
        self.commit_transaction().map(drop)
    }

    /// What a statement did is visible to the next one of its transaction.
    pub fn next_command(&self) -> SqlResult<()> {
        let mut txn = self.txn.borrow_mut();
        match txn.state() {
            BlockState::Idle | BlockState::Failed => Ok(()),
            _ => Ok(txn.next_command()?),
        }
    }

    /// What the transaction did until now, if it wrote, is visible to what follows.
    pub fn see_changes(&self) -> SqlResult<()> {
        let wrote = self.txn.borrow().top_xid_if_assigned().is_some();
        if wrote { self.next_command() } else { Ok(()) }
    }

    /// A failed block accepts its end only.
    pub(super) fn check_usable(&self, source: &Source) -> SqlResult<()> {
        if self.txn.borrow().state() != BlockState::Failed {
            return Ok(());
        }
        let ends = match &source.work {
            Work::Empty => true,
            Work::Query(_) | Work::Stored => false,
            Work::Utility(raw) => matches!(
                raw.stmt,
                Statement::Transaction(
                    ast::Transaction::Commit { .. }
                        | ast::Transaction::Prepare(_)
                        | ast::Transaction::Rollback { .. }
                        | ast::Transaction::RollbackTo(_)
                )
            ),
        };
        if ends {
            return Ok(());
        }
        Err(failed_block())
    }

    /// Ends the running transaction well, or rolls a failed one back.
    pub fn commit_transaction(&self) -> SqlResult<End> {
        if self.txn.borrow().state() != BlockState::Failed {
            self.fire_deferred(false).inspect_err(|_| self.abort_transaction())?;
            self.hold_cursors().inspect_err(|_| self.abort_transaction())?;
            self.commands().before_commit(self).inspect_err(|_| self.abort_transaction())?;
            self.prepare_serializable().inspect_err(|_| self.abort_transaction())?;
            self.notify_at_commit().inspect_err(|_| self.abort_transaction())?;
        }
        self.close_transaction_portals();
        let sync = self.synchronous_commit();
        let end = self.txn.borrow_mut().commit(sync, &[])?;
        self.after_transaction(end == End::Commit);
        let cut = self.txn.borrow_mut().take_cut_wait();
        self.tell_cut_wait(cut)?;
        Ok(end)
    }

    /// What commits wait for. Upkeep goes on while clients wait for standbys, and who sends the log to them cannot wait for them.
    pub(super) fn synchronous_commit(&self) -> SyncCommit {
        let wanted = self.settings.borrow().fast().synchronous_commit;
        match self.backend.kind {
            BackendKind::Client
            | BackendKind::Inspector
            | BackendKind::ApplyWorker
            | BackendKind::TableCopier => wanted,
            BackendKind::AutovacuumWorker | BackendKind::Sender if wanted == SyncCommit::Off => wanted,
            BackendKind::AutovacuumWorker | BackendKind::Sender => SyncCommit::Local,
        }
    }

    /// What has ended did not wait for standbys to the end. If that is the end of the session, nobody is told that it committed.
    pub(super) fn tell_cut_wait(&self, cut: Option<Interrupt>) -> SqlResult<()> {
        let Some(interrupt) = cut else { return Ok(()) };
        let ends = !matches!(interrupt, Interrupt::Cancel | Interrupt::StatementTimeout);
        let (code, message) = match ends {
            true => (
                SqlState::ADMIN_SHUTDOWN,
                "canceling the wait for synchronous replication and terminating connection due to administrator command",
            ),
            false => {
                (SqlState::QUERY_CANCELED, "canceling wait for synchronous replication due to user request")
            }
        };
        self.notice(SqlError::with_severity(base::Severity::Warning, code, message).detail(
            "The transaction has already committed locally, but might not have been replicated to the standby.",
        ));
        if ends { Err(interrupt.into()) } else { Ok(()) }
    }

    /// Whether a serializable transaction may commit: asked when it has done all that it will.
    pub(super) fn prepare_serializable(&self) -> SqlResult<()> {
        Ok(self.txn.borrow_mut().prepare_serializable()?)
    }

    /// Ends the running transaction and begins the next: commands that go through many tables.
    pub fn next_transaction(&self) -> SqlResult<()> {
        self.commit_transaction()?;
        self.begin_statement();
        Ok(())
    }

    /// Rolls the running transaction back.
    pub fn abort_transaction(&self) {
        self.close_transaction_portals();
        self.txn.borrow_mut().abort();
        self.after_transaction(false);
    }

    /// The rows of catalogs that were written are counted as those of tables are.
    fn count_catalogs(&self) {
        for Written { catalog, depth, rows } in self.names.take_written() {
            let [inserted, updated, deleted] = rows;
            self.count_change(catalog, depth, Change::Insert(inserted.into()));
            for _ in 0..updated {
                self.count_change(catalog, depth, Change::Update { hot: false, newpage: false });
            }
            self.count_change(catalog, depth, Change::Delete(deleted.into()));
        }
    }

    /// The levels of subtransactions from this one on have ended, for counters.
    fn end_counted_level(&self, depth: u32, committed: bool) {
        self.count_catalogs();
        self.pending.end_subtransaction(depth, committed);
    }

    /// What the transaction did goes to the server's counters.
    fn report_counters(&self, committed: bool) {
        self.count_catalogs();
        let now = || self.format.borrow().statement_time;
        let (counters, database) = (self.instance.counters(), self.catalog.database());
        let gone = self.names.take_gone();
        gone.iter().for_each(|relation| self.pending.forget(*relation));
        self.pending.report(counters, database, committed, now);
        gone.into_iter().for_each(|relation| counters.forget(database, relation));
        self.forget_seen_counters();
    }

    /// After the end of a transaction: settings are what they are outside, counters are told, and nothing waits any more.
    pub(super) fn after_transaction(&self, committed: bool) {
        let has_set = self.settings.borrow_mut().end_transaction(committed);
        self.report_counters(committed);
        self.combo.clear();
        self.holders.borrow_mut().forget();
        self.deferred.take();
        self.close_large_objects();
        if self.txn.borrow().characteristics() != Characteristics::default() {
            let mut settings = self.settings.borrow_mut();
            settings.clear_internal(Setting::transaction_isolation);
            settings.clear_internal(Setting::transaction_read_only);
            settings.clear_internal(Setting::transaction_deferrable);
        }
        if has_set {
            self.apply_settings();
        }
    }

    /// An error: the block is failed, or the implicit transaction is over.
    pub(super) fn fail_transaction(&self) {
        let level = self.txn.borrow().failing_subxact();
        self.close_cursors_since(level);
        let in_block = {
            let mut txn = self.txn.borrow_mut();
            txn.fail();
            txn.state() != BlockState::Idle
        };
        if !in_block {
            self.after_transaction(false);
        }
    }

    /// BEGIN, COMMIT and their kin. Returns the command tag.
    pub fn transaction_command(&self, command: &ast::Transaction) -> SqlResult<String> {
        use ast::Transaction as T;
        match command {
            T::Begin(modes) => self.begin(modes, "BEGIN"),
            T::Start(modes) => self.begin(modes, "START TRANSACTION"),
            T::Commit { chain } => self.end_block(true, *chain),
            T::Rollback { chain } => self.end_block(false, *chain),
            T::Savepoint(name) => {
                self.require_explicit_block("SAVEPOINT")?;
                self.txn.borrow_mut().push_subxact(Some(name));
                Ok("SAVEPOINT".into())
            }
            T::Release(name) => {
                self.require_explicit_block("RELEASE SAVEPOINT")?;
                self.txn.borrow_mut().release(name)?;
                self.adopt_cursors();
                self.show_outer_characteristics();
                let depth = self.txn.borrow().depth() as u32;
                self.settings.borrow_mut().end_subtransaction(depth + 1, true);
                self.end_counted_level(depth + 1, true);
                Ok("RELEASE".into())
            }
            T::RollbackTo(name) => {
                self.require_explicit_block("ROLLBACK TO SAVEPOINT")?;
                let level = self.txn.borrow().savepoint(name)?;
                self.close_cursors_since(level);
                self.txn.borrow_mut().rollback_to(name)?;
                self.roll_back_deferred(level);
                self.show_outer_characteristics();
                let depth = self.txn.borrow().depth() as u32;
                self.settings.borrow_mut().end_subtransaction(depth, false);
                self.end_counted_level(depth, false);
                self.apply_settings();
                Ok("ROLLBACK".into())
            }
            T::Prepare(gid) => self.prepare_transaction(gid),
            T::CommitPrepared(gid) => self.end_prepared(gid, End::Commit, "COMMIT PREPARED"),
            T::RollbackPrepared(gid) => self.end_prepared(gid, End::Abort, "ROLLBACK PREPARED"),
        }
    }

    fn begin(&self, modes: &[DefElem], tag: &str) -> SqlResult<String> {
        let fresh = self.txn.borrow_mut().begin_block();
        if !fresh {
            self.warning(SqlState::ACTIVE_SQL_TRANSACTION, "there is already a transaction in progress");
        }
        self.set_transaction_modes(modes).inspect_err(|_| {
            // A block that did not come to be cannot be in a failed state.
            if fresh {
                self.abort_transaction();
            }
        })?;
        Ok(tag.into())
    }

    fn end_block(&self, commit: bool, chain: bool) -> SqlResult<String> {
        let state = self.txn.borrow().state();
        let in_block = matches!(state, BlockState::InBlock | BlockState::Failed);
        if !in_block {
            if chain {
                let what = if commit { "COMMIT AND CHAIN" } else { "ROLLBACK AND CHAIN" };
                return Err(sql_err!(
                    NO_ACTIVE_SQL_TRANSACTION,
                    "{what} can only be used in transaction blocks"
                ));
            }
            self.warning(SqlState::NO_ACTIVE_SQL_TRANSACTION, "there is no transaction in progress");
        }
        let chosen = match (commit, state) {
            (true, BlockState::InBlock) => Some(self.txn.borrow().characteristics()),
            _ => self.txn.borrow().outermost_characteristics(),
        };
        let characteristics = chosen.unwrap_or_else(|| self.default_characteristics());
        let end = match commit {
            true => self.commit_transaction()?,
            false => {
                self.abort_transaction();
                End::Abort
            }
        };
        if chain {
            let mut txn = self.txn.borrow_mut();
            txn.start(characteristics);
            txn.begin_block();
            self.show_characteristics(characteristics);
            self.chained.set(true);
        }
        Ok(if end == End::Commit { "COMMIT" } else { "ROLLBACK" }.into())
    }

    /// Whether AND CHAIN has begun a transaction since this was last asked: its time starts anew.
    pub fn take_chained(&self) -> bool {
        self.chained.replace(false)
    }

    /// After the end of a savepoint's level: READ ONLY is what it was outside.
    fn show_outer_characteristics(&self) {
        let characteristics = self.txn.borrow().characteristics();
        let shown = self.settings.borrow().get(Setting::transaction_read_only).as_bool();
        if shown != characteristics.read_only {
            self.show_characteristics(characteristics);
        }
    }

    /// Refuses a command that needs BEGIN before it.
    fn require_explicit_block(&self, command: &str) -> SqlResult<()> {
        match self.txn.borrow().state() {
            BlockState::InBlock | BlockState::Failed => Ok(()),
            _ => Err(outside_block(command)),
        }
    }

    /// Refuses a command whose effects would end with it.
    pub(crate) fn require_block(&self, command: &str) -> SqlResult<()> {
        if self.is_alone() { Err(outside_block(command)) } else { Ok(()) }
    }

    /// Whether the transaction ends with the command: it is in no block, as several statements of one message are, and in no function.
    fn is_alone(&self) -> bool {
        !self.in_block() && !self.in_routine.get()
    }

    /// Takes back what subtransactions from this one on, which are undone, have deferred and fired.
    fn roll_back_deferred(&self, level: SubxactId) {
        if let Some(deferred) = &mut *self.deferred.borrow_mut() {
            deferred.roll_back(level);
        }
    }

    /// Ends the current subtransaction of a procedural language.
    pub(crate) fn leave_subtransaction(&self, commit: bool) {
        if commit {
            self.txn.borrow_mut().release_current();
            self.adopt_cursors();
        } else {
            let level = self.txn.borrow().subxact();
            self.close_cursors_since(level);
            self.txn.borrow_mut().rollback_current();
            self.roll_back_deferred(level);
        }
        self.show_outer_characteristics();
        let depth = self.txn.borrow().depth() as u32;
        self.settings.borrow_mut().end_subtransaction(depth + 1, commit);
        self.end_counted_level(depth + 1, commit);
        if !commit {
            self.apply_settings();
        }
    }

    /// COMMIT or ROLLBACK in a procedure: the next transaction begins at once. Refused in a loop over rows of what is no SELECT.
    pub fn end_in_procedure(&self, commit: bool, chain: bool) -> SqlResult<()> {
        if self.unendable.get() > 0 {
            return Err(sql_err!(
                OBJECT_NOT_IN_PREREQUISITE_STATE,
                "cannot perform transaction commands inside a cursor loop that is not read-only"
            ));
        }
        let before = self.txn.borrow().characteristics();
        match commit {
            true => drop(self.commit_transaction()?),
            false => self.abort_transaction(),
        }
        let next = if chain { before } else { self.default_characteristics() };
        self.txn.borrow_mut().start(next);
        if next != Characteristics::default() {
            self.show_characteristics(next);
        }
        Ok(())
    }

    /// Whether the client began a block, or sent several statements at once: what runs may not end the transaction.
    pub fn in_block(&self) -> bool {
        !matches!(self.txn.borrow().state(), BlockState::Started | BlockState::Idle)
    }

    /// Warns that a command has no effect outside a transaction block.
    pub fn warn_outside_block(&self, command: &str) {
        if self.is_alone() {
            let message = format!("{command} can only be used in transaction blocks");
            self.warning(SqlState::NO_ACTIVE_SQL_TRANSACTION, &message);
        }
    }

    /// Refuses a command inside a transaction block or a function (VACUUM).
    pub fn prevent_in_block(&self, command: &str) -> SqlResult<()> {
        let txn = self.txn.borrow();
        match txn.state() {
            BlockState::Started if txn.depth() <= 1 && !self.in_routine.get() => Ok(()),
            BlockState::Started if txn.depth() <= 1 => {
                Err(sql_err!(ACTIVE_SQL_TRANSACTION, "{command} cannot be executed from a function"))
            }
            _ => Err(sql_err!(ACTIVE_SQL_TRANSACTION, "{command} cannot run inside a transaction block")),
        }
    }

    /// Tells the client a warning.
    pub fn warning(&self, code: SqlState, message: &str) {
        self.notice(SqlError::with_severity(base::Severity::Warning, code, message));
    }
}

fn outside_block(command: &str) -> SqlError {
    sql_err!(NO_ACTIVE_SQL_TRANSACTION, "{command} can only be used in transaction blocks")
}
