//! # What
//! Transaction modes: what BEGIN, SET TRANSACTION and the settings `transaction_*` change, when they may, and what READ ONLY refuses.
//!
//! # Invariants
//! 1. The modes live in the transaction ([`Characteristics`]); the three settings of the same names only show them.
//!
//! # PostgreSQL counterpart and differences
//! The check hooks in `commands/variable.c`, `PreventCommandIfReadOnly`.

use base::settings::{Setting, Value, Who};
use base::{SqlResult, sql_err};
use catalog::CatalogView;
use parse::ast::{DefElem, OptionValue};
use plan::RowLockStrength;
use txn::{Characteristics, IsolationLevel};

use super::Session;
use super::identity::names_a_role;

impl Session {
    /// SET, SET LOCAL and `set_config`; `None` is the default.
    pub fn change_setting(&self, name: &str, text: Option<&str>, local: bool) -> SqlResult<()> {
        if let (Some(setting), Some(text)) = (Setting::find(name).filter(is_mode), text) {
            let value = self.settings.borrow().check(setting, text)?;
            return self.set_mode(setting, &value);
        }
        if let Some(setting) = Setting::find(name).filter(|setting| names_a_role(*setting)) {
            return self.change_identity(setting, text, local);
        }
        if let (Some(Setting::default_table_access_method), Some(text)) = (Setting::find(name), text) {
            crate::lookup::access_method::check_default(self, text)?;
        }
        if let (Some(Setting::default_tablespace), Some(text)) = (Setting::find(name), text) {
            crate::lookup::names::check_default_tablespace(self, text)?;
        }
        if let (Some(Setting::temp_tablespaces), Some(text)) = (Setting::find(name), text) {
            self.check_temp_tablespaces(text)?;
        }
        let checked = match (Setting::find(name), text) {
            (Some(Setting::default_text_search_config), Some(text)) => Some(self.checked_text_search(text)?),
            _ => None,
        };
        let text = checked.as_deref().or(text);
        let who = if self.may_set(name)? { Who::Superuser } else { Who::User };
        let level = self.txn.borrow().depth() as u32;
        self.settings.borrow_mut().set(name, text, local, level, who)?;
        if Setting::find(name) == Some(Setting::seed) {
            let seed = self.settings.borrow().get(Setting::seed).as_real();
            *self.random.borrow_mut() = types::random::Random::from_float(seed);
        }
        self.apply_settings();
        Ok(())
    }

    /// The modes of BEGIN and SET TRANSACTION, or its SNAPSHOT.
    pub fn set_transaction_modes(&self, modes: &[DefElem]) -> SqlResult<()> {
        for mode in modes {
            let text = match &mode.value {
                Some(OptionValue::String(text)) => text,
                Some(OptionValue::Boolean(false) | OptionValue::Integer(0)) => "off",
                _ => "on",
            };
            match mode.name.as_str() {
                "snapshot" => self.import_snapshot(text)?,
                name => self.change_setting(name, Some(text), true)?,
            }
        }
        Ok(())
    }

    fn set_mode(&self, setting: Setting, value: &Value) -> SqlResult<()> {
        let mut txn = self.txn.borrow_mut();
        let mut modes = txn.characteristics();
        let nested = txn.depth() > 1;
        let late = txn.snapshot_taken();
        let refused = |message: &str| Err(sql_err!(ACTIVE_SQL_TRANSACTION, "{message}"));
        match setting {
            Setting::transaction_isolation => {
                let level = isolation(value.as_text());
                if level == IsolationLevel::Serializable && self.engine().is_following() {
                    return Err(sql_err!(
                        FEATURE_NOT_SUPPORTED,
                        "cannot use serializable mode in a hot standby"
                    )
                    .hint("You can use REPEATABLE READ instead."));
                }
                if level != modes.isolation && late {
                    return refused("SET TRANSACTION ISOLATION LEVEL must be called before any query");
                }
                if level != modes.isolation && nested {
                    return refused("SET TRANSACTION ISOLATION LEVEL must not be called in a subtransaction");
                }
                modes.isolation = level;
            }
            Setting::transaction_read_only => {
                let loosens = modes.read_only && !value.as_bool();
                if loosens && nested {
                    return refused("cannot set transaction read-write mode inside a read-only transaction");
                }
                if loosens && late {
                    return refused("transaction read-write mode must be set before any query");
                }
                if loosens && self.engine().is_following() {
                    return Err(sql_err!(
                        FEATURE_NOT_SUPPORTED,
                        "cannot set transaction read-write mode during recovery"
                    ));
                }
                modes.read_only = value.as_bool();
            }
            _ => {
                if nested {
                    return refused(
                        "SET TRANSACTION [NOT] DEFERRABLE cannot be called within a subtransaction",
                    );
                }
                if late {
                    return refused("SET TRANSACTION [NOT] DEFERRABLE must be called before any query");
                }
                modes.deferrable = value.as_bool();
            }
        }
        txn.set_characteristics(modes);
        drop(txn);
        self.show_characteristics(modes);
        Ok(())
    }

    /// What new transactions are, by the `default_transaction_*` settings.
    pub(super) fn default_characteristics(&self) -> Characteristics {
        let settings = self.settings.borrow();
        let fast = settings.fast();
        let isolation = match fast.default_read_committed {
            true => IsolationLevel::ReadCommitted,
            false if fast.on_standby => {
                drop(settings);
                return self.standby_characteristics();
            }
            false => isolation(settings.text(Setting::default_transaction_isolation)),
        };
        Characteristics { isolation, read_only: fast.default_read_only, deferrable: fast.default_deferrable }
    }

    /// What new transactions of a session are that was begun on a standby: read-only, until that is promoted.
    #[cold]
    fn standby_characteristics(&self) -> Characteristics {
        if !self.engine().is_following() {
            self.settings.borrow_mut().set_on_standby(false);
            if self.has_not_entered.get() {
                // Whose database nobody had ever entered that could write: it enters anew.
                self.backend.interrupts.set(runtime::Interrupt::Terminate);
            }
            return self.default_characteristics();
        }
        let settings = self.settings.borrow();
        let isolation = isolation(settings.text(Setting::default_transaction_isolation));
        Characteristics { isolation, read_only: true, deferrable: settings.fast().default_deferrable }
    }

    /// Fails while the log is replayed, for what needs more than a read-only transaction.
    pub fn refuse_in_recovery(&self, what: &str) -> SqlResult<()> {
        if !self.engine().is_following() {
            return Ok(());
        }
        Err(sql_err!(READ_ONLY_SQL_TRANSACTION, "cannot execute {what} during recovery"))
    }

    /// The values of `transaction_isolation`, `transaction_read_only` and `transaction_deferrable` until the transaction ends.
    pub(super) fn show_characteristics(&self, characteristics: Characteristics) {
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

    /// Fails in a read-only transaction.
    pub fn refuse_read_only(&self, what: &str) -> SqlResult<()> {
        if self.txn.borrow().characteristics().read_only {
            return Err(sql_err!(
                READ_ONLY_SQL_TRANSACTION,
                "cannot execute {what} in a read-only transaction"
            ));
        }
        Ok(())
    }

    /// Fails in a read-only transaction for a statement that writes to a table which is not temporary, or locks its rows.
    pub fn refuse_writes(&self, statement: &plan::Statement) -> SqlResult<()> {
        if !self.txn.borrow().characteristics().read_only {
            return Ok(());
        }
        let on_standby = self.engine().is_following();
        for &(relation, mode) in &statement.locks {
            if on_standby {
                let table = self.with_reader(|reader| reader.relation_by_oid(relation))?;
                if table.is_some_and(|table| table.persistence != 'p') {
                    return Err(sql_err!(
                        FEATURE_NOT_SUPPORTED,
                        "cannot access temporary or unlogged relations during recovery"
                    ));
                }
            }
            let is_read = mode <= txn::LockMode::AccessShare as u8;
            if is_read {
                continue;
            }
            let table = self.with_reader(|reader| reader.relation_by_oid(relation))?;
            if table.is_none_or(|table| table.persistence != 't') {
                return self.refuse_read_only(tag(statement));
            }
        }
        Ok(())
    }
}

fn is_mode(setting: &Setting) -> bool {
    matches!(
        setting,
        Setting::transaction_isolation | Setting::transaction_read_only | Setting::transaction_deferrable
    )
}

fn isolation(text: &str) -> IsolationLevel {
    match text {
        "read uncommitted" => IsolationLevel::ReadUncommitted,
        "repeatable read" => IsolationLevel::RepeatableRead,
        "serializable" => IsolationLevel::Serializable,
        _ => IsolationLevel::ReadCommitted,
    }
}

/// What errors call a planned statement.
fn tag(statement: &plan::Statement) -> &'static str {
    match (statement.command, row_lock(&statement.plan)) {
        (plan::Command::Select, None) => "SELECT",
        (plan::Command::Select, Some(RowLockStrength::KeyShare)) => "SELECT FOR KEY SHARE",
        (plan::Command::Select, Some(RowLockStrength::Share)) => "SELECT FOR SHARE",
        (plan::Command::Select, Some(RowLockStrength::NoKeyUpdate)) => "SELECT FOR NO KEY UPDATE",
        (plan::Command::Select, Some(RowLockStrength::Update)) => "SELECT FOR UPDATE",
        (plan::Command::Insert, _) => "INSERT",
        (plan::Command::Update, _) => "UPDATE",
        (plan::Command::Delete, _) => "DELETE",
        (plan::Command::Merge, _) => "MERGE",
    }
}

/// The row lock that the top of a plan takes.
fn row_lock(plan: &plan::Plan) -> Option<RowLockStrength> {
    match &plan.node {
        plan::Node::LockRows { marks, .. } => marks.first().map(|mark| mark.strength),
        plan::Node::Limit { child, .. }
        | plan::Node::Sort { child, .. }
        | plan::Node::IncrementalSort { child, .. } => row_lock(child),
        _ => None,
    }
}
