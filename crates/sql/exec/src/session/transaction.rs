//! BEGIN to COMMIT, and what every statement begins and ends with.

use base::settings::{Setting, Value};
use base::{SqlError, SqlResult, SqlState, sql_err};
use parse::Statement;
use parse::ast::{self, DefElem, OptionValue};
use txn::{BlockState, Characteristics, End, IsolationLevel, LockTimeouts, SyncCommit};

use super::Session;
use super::statement::{Source, Work};

impl Session {
    /// Before every statement: a transaction runs, times and formats are current.
    pub(crate) fn begin_statement(&self) {
        self.adopt_reload();
        let mut txn = self.txn.borrow_mut();
        if txn.state() == BlockState::Idle {
            let settings = self.settings.borrow();
            let wanted = Characteristics {
                isolation: isolation(settings.text(Setting::default_transaction_isolation)),
                read_only: settings.get(Setting::default_transaction_read_only).as_bool(),
                deferrable: settings.get(Setting::default_transaction_deferrable).as_bool(),
            };
            txn.start(wanted);
            let millis = |n: i32| std::time::Duration::from_millis(n.max(0) as u64);
            let fast = settings.fast();
            txn.set_timeouts(LockTimeouts {
                deadlock: millis(fast.deadlock_timeout),
                lock: (fast.lock_timeout > 0).then(|| millis(fast.lock_timeout)),
            });
            drop(settings);
            if wanted != Characteristics::default() {
                self.show_characteristics(wanted);
            }
        }
        self.refresh_format(txn.start_time());
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
    pub(crate) fn next_command(&self) -> SqlResult<()> {
        let mut txn = self.txn.borrow_mut();
        match txn.state() {
            BlockState::Idle | BlockState::Failed => Ok(()),
            _ => Ok(txn.next_command()?),
        }
    }

    /// A failed block accepts its end only.
    pub(super) fn check_usable(&self, source: &Source) -> SqlResult<()> {
        if self.txn.borrow().state() != BlockState::Failed {
            return Ok(());
        }
        let ends = match &source.work {
            Work::Empty => true,
            Work::Query(_) => false,
            Work::Utility(raw) => matches!(
                raw.stmt,
                Statement::Transaction(
                    ast::Transaction::Commit { .. }
                        | ast::Transaction::Rollback { .. }
                        | ast::Transaction::RollbackTo(_)
                )
            ),
        };
        if ends {
            return Ok(());
        }
        Err(SqlError::new(
            SqlState::IN_FAILED_SQL_TRANSACTION,
            "current transaction is aborted, commands ignored until end of transaction block",
        ))
    }

    /// Ends the running transaction well, or rolls a failed one back.
    pub(crate) fn commit_transaction(&self) -> SqlResult<End> {
        self.close_transaction_portals();
        let sync = match self.settings.borrow().fast().synchronous_commit {
            true => SyncCommit::On,
            false => SyncCommit::Off,
        };
        let end = self.txn.borrow_mut().commit(sync, &[])?;
        self.settings.borrow_mut().end_transaction(end == End::Commit);
        self.after_transaction();
        Ok(end)
    }

    /// Rolls the running transaction back.
    pub(crate) fn abort_transaction(&self) {
        self.close_transaction_portals();
        self.txn.borrow_mut().abort();
        self.settings.borrow_mut().end_transaction(false);
        self.after_transaction();
    }

    fn after_transaction(&self) {
        self.combo.clear();
        if self.txn.borrow().characteristics() != Characteristics::default() {
            let mut settings = self.settings.borrow_mut();
            settings.clear_internal(Setting::transaction_isolation);
            settings.clear_internal(Setting::transaction_read_only);
            settings.clear_internal(Setting::transaction_deferrable);
        }
        self.apply_settings();
    }

    /// An error: the block is failed, or the implicit transaction is over.
    pub(super) fn fail_transaction(&self) {
        self.close_transaction_portals();
        let in_block = {
            let mut txn = self.txn.borrow_mut();
            txn.fail();
            txn.state() != BlockState::Idle
        };
        if !in_block {
            self.settings.borrow_mut().end_transaction(false);
            self.after_transaction();
        }
    }

    /// BEGIN, COMMIT and their kin. Returns the command tag.
    pub(crate) fn transaction_command(&self, command: &ast::Transaction) -> SqlResult<String> {
        use ast::Transaction as T;
        match command {
            T::Begin(modes) => self.begin(modes, "BEGIN"),
            T::Start(modes) => self.begin(modes, "START TRANSACTION"),
            T::Commit { chain } => self.end_block(true, *chain),
            T::Rollback { chain } => self.end_block(false, *chain),
            T::Savepoint(name) => {
                self.require_block("SAVEPOINT")?;
                self.txn.borrow_mut().push_subxact(Some(name));
                Ok("SAVEPOINT".into())
            }
            T::Release(name) => {
                self.require_block("RELEASE SAVEPOINT")?;
                self.txn.borrow_mut().release(name)?;
                let depth = self.txn.borrow().depth() as u32;
                self.settings.borrow_mut().end_subtransaction(depth + 1, true);
                Ok("RELEASE".into())
            }
            T::RollbackTo(name) => {
                self.require_block("ROLLBACK TO SAVEPOINT")?;
                self.close_transaction_portals();
                self.txn.borrow_mut().rollback_to(name)?;
                let depth = self.txn.borrow().depth() as u32;
                self.settings.borrow_mut().end_subtransaction(depth, false);
                self.apply_settings();
                Ok("ROLLBACK".into())
            }
            T::Prepare(_) => Err(SqlError::not_supported("PREPARE TRANSACTION")),
            T::CommitPrepared(_) => Err(SqlError::not_supported("COMMIT PREPARED")),
            T::RollbackPrepared(_) => Err(SqlError::not_supported("ROLLBACK PREPARED")),
        }
    }

    fn begin(&self, modes: &[DefElem], tag: &str) -> SqlResult<String> {
        if !self.txn.borrow_mut().begin_block() {
            self.warning(SqlState::ACTIVE_SQL_TRANSACTION, "there is already a transaction in progress");
        }
        self.set_transaction_modes(modes)?;
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
        let characteristics = self.txn.borrow().characteristics();
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
        }
        Ok(if end == End::Commit { "COMMIT" } else { "ROLLBACK" }.into())
    }

    /// Refuses a command outside a transaction block.
    pub(crate) fn require_block(&self, command: &str) -> SqlResult<()> {
        match self.txn.borrow().state() {
            BlockState::InBlock | BlockState::Failed => Ok(()),
            _ => Err(sql_err!(NO_ACTIVE_SQL_TRANSACTION, "{command} can only be used in transaction blocks")),
        }
    }

    /// Refuses a command inside a transaction block (VACUUM).
    pub(crate) fn prevent_in_block(&self, command: &str) -> SqlResult<()> {
        let txn = self.txn.borrow();
        match txn.state() {
            BlockState::Started if txn.depth() <= 1 => Ok(()),
            _ => Err(sql_err!(ACTIVE_SQL_TRANSACTION, "{command} cannot run inside a transaction block")),
        }
    }

    /// The modes of BEGIN and SET TRANSACTION.
    pub(crate) fn set_transaction_modes(&self, modes: &[DefElem]) -> SqlResult<()> {
        let mut txn = self.txn.borrow_mut();
        let mut wanted = txn.characteristics();
        for mode in modes {
            match mode.name.as_str() {
                "transaction_isolation" => {
                    let level = isolation(mode_text(mode));
                    if level == IsolationLevel::Serializable {
                        return Err(SqlError::not_supported("isolation level SERIALIZABLE"));
                    }
                    if level != wanted.isolation && txn.has_snapshot() {
                        return Err(sql_err!(
                            ACTIVE_SQL_TRANSACTION,
                            "SET TRANSACTION ISOLATION LEVEL must be called before any query"
                        ));
                    }
                    wanted.isolation = level;
                }
                "transaction_read_only" => wanted.read_only = mode_flag(mode),
                "transaction_deferrable" => wanted.deferrable = mode_flag(mode),
                other => return Err(SqlError::not_supported(format!("transaction mode {other}"))),
            }
        }
        txn.set_characteristics(wanted);
        self.show_characteristics(wanted);
        Ok(())
    }

    /// What `SHOW transaction_isolation` and its like say until the transaction ends.
    fn show_characteristics(&self, characteristics: Characteristics) {
        let level = match characteristics.isolation {
            IsolationLevel::ReadUncommitted => "read uncommitted",
            IsolationLevel::ReadCommitted => "read committed",
            IsolationLevel::RepeatableRead => "repeatable read",
            IsolationLevel::Serializable => "serializable",
        };
        let mut settings = self.settings.borrow_mut();
        settings.set_internal(Setting::transaction_isolation, Value::Choice(level));
        settings.set_internal(Setting::transaction_read_only, Value::Bool(characteristics.read_only));
        settings.set_internal(Setting::transaction_deferrable, Value::Bool(characteristics.deferrable));
    }

    fn warning(&self, code: SqlState, message: &str) {
        self.notice(SqlError::with_severity(base::Severity::Warning, code, message));
    }
}

fn isolation(text: &str) -> IsolationLevel {
    match text {
        "read uncommitted" => IsolationLevel::ReadUncommitted,
        "repeatable read" => IsolationLevel::RepeatableRead,
        "serializable" => IsolationLevel::Serializable,
        _ => IsolationLevel::ReadCommitted,
    }
}

fn mode_text(mode: &DefElem) -> &str {
    match &mode.value {
        Some(OptionValue::String(text)) => text,
        _ => "",
    }
}

fn mode_flag(mode: &DefElem) -> bool {
    match &mode.value {
        Some(OptionValue::Boolean(on)) => *on,
        Some(OptionValue::Integer(n)) => *n != 0,
        _ => true,
    }
}
