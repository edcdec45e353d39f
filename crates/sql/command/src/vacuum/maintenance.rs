//! # What
//! VACUUM and ANALYZE of one table, given by its OID, for the statements and for autovacuum.
//!
//! # Locks
//! SHARE UPDATE EXCLUSIVE on the table, held by the session over VACUUM's transactions. The lock of a TOAST table is that of the table which it belongs to
//! ([`names::guard`]).

use std::sync::Arc;
use std::time::Duration;

use base::settings::Setting;
use base::{Oid, Severity, SqlError, SqlResult, SqlState};
use catalog::{RelationKind, Table};
use heap::vacuum::IndexCleanup;
use session::Session;
use session::progress::Lengthy;
use txn::{LockMode, LockTag, LockWait};

use super::pace::Budget;
use super::report::{AnalyzeReport, VacuumReport};
use super::table;
use crate::{analyze, names, rewrite};

/// From which age on ids are taken out of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreezeAges {
    /// Transactions.
    pub xid: u64,
    /// Sets of lockers.
    pub multi: u64,
}

impl FreezeAges {
    /// All ids that no transaction needs any more.
    pub const NONE: FreezeAges = FreezeAges { xid: 0, multi: 0 };
}

/// How VACUUM and ANALYZE go about a table. [`Maintenance::of_session`] takes everything from the session's settings; who knows better changes
/// fields.
#[derive(Clone, Debug)]
pub struct Maintenance {
    /// Autovacuum runs it: no privileges are checked, and no statement gets messages.
    pub automatic: bool,
    /// Reports to the client what was done.
    pub verbose: bool,
    /// A table that others have locked is left alone (and `None` returned).
    pub skip_locked: bool,
    /// Ids of which age go out of rows that stay.
    pub freeze_ages: FreezeAges,
    /// All pages are scanned, whatever the visibility map says (DISABLE_PAGE_SKIPPING).
    pub disable_page_skipping: bool,
    /// None: as the table's `vacuum_index_cleanup` says.
    pub index_cleanup: Option<IndexCleanup>,
    /// None: as the table's `vacuum_truncate` says, and else the setting.
    pub truncate: Option<bool>,
    /// The table itself is gone through.
    pub process_main: bool,
    /// The TOAST table is gone through too.
    pub process_toast: bool,
    /// Helpers at most for passes over indexes; 0: as many as there is work for. None: none.
    pub workers: Option<u32>,
    /// Bytes of the ring of buffers; 0: all of the pool.
    pub ring: usize,
    /// Bytes for dead TIDs.
    pub memory: usize,
    /// When pauses are made. Whoever keeps another reference may change it meanwhile.
    pub budget: Arc<Budget>,
}

impl Maintenance {
    /// As the session's settings say.
    pub fn of_session(session: &Session) -> Maintenance {
        let settings = session.settings.borrow();
        let number = |setting: Setting| settings.get(setting).as_int().max(0) as u64;
        // Half of the age at which a VACUUM would come by itself, at most.
        let age = |setting: Setting, most: Setting| number(setting).min(number(most) / 2);
        let delay = settings.get(Setting::vacuum_cost_delay).as_real() / 1000.0;
        let limit = number(Setting::vacuum_cost_limit) as u32;
        Maintenance {
            automatic: false,
            verbose: false,
            skip_locked: false,
            freeze_ages: FreezeAges {
                xid: age(Setting::vacuum_freeze_min_age, Setting::autovacuum_freeze_max_age),
                multi: age(
                    Setting::vacuum_multixact_freeze_min_age,
                    Setting::autovacuum_multixact_freeze_max_age,
                ),
            },
            disable_page_skipping: false,
            index_cleanup: None,
            truncate: None,
            process_main: true,
            process_toast: true,
            workers: Some(0),
            ring: (number(Setting::vacuum_buffer_usage_limit) << 10) as usize,
            memory: settings.fast().maintenance_work_mem as usize,
            budget: Arc::new(Budget::new(limit, Duration::from_secs_f64(delay.max(0.0)))),
        }
    }

    /// VACUUM of a table, and of its TOAST table if that is wanted. Gives what was found in the table itself, or in the TOAST table if only that was
    /// gone through; `None`: it was skipped. A transaction runs before and after: another one than before.
    pub fn vacuum(&self, session: &Session, table: Oid) -> SqlResult<Option<VacuumReport>> {
        vacuum_named(session, table, self, false)
    }

    /// ANALYZE of a table, in the running transaction. `None`: it was skipped.
    pub fn analyze(&self, session: &Session, table: Oid) -> SqlResult<Option<AnalyzeReport>> {
        analyze_named(session, table, &[], (self, false))
    }
}

/// See [`Maintenance::vacuum`]; `named`: a user named the table and is told what is wrong with it.
pub(super) fn vacuum_named(
    session: &Session,
    oid: Oid,
    how: &Maintenance,
    named: bool,
) -> SqlResult<Option<VacuumReport>> {
    let mode = ("vacuum", LockMode::ShareUpdateExclusive, true);
    let Some((table, tag)) = lock(session, oid, (how, named), mode)? else { return Ok(None) };
    let done = (|| {
        let mut report = None;
        if how.process_main || table.kind == RelationKind::Toast {
            report = table::vacuum(session, &table, how, tag)?;
        }
        if how.process_toast && table.toast.is_valid() {
            let toast = names::describe(session, table.toast)?;
            let of_toast = table::vacuum(session, &toast, how, tag)?;
            report = report.or(of_toast);
        }
        Ok(report)
    })();
    session.txn.borrow_mut().unlock_for_session(tag, LockMode::ShareUpdateExclusive);
    done
}

/// See [`Maintenance::analyze`]; all columns, or those named.
pub(super) fn analyze_named(
    session: &Session,
    oid: Oid,
    columns: &[String],
    (how, named): (&Maintenance, bool),
) -> SqlResult<Option<AnalyzeReport>> {
    match lock(session, oid, (how, named), ("analyze", LockMode::ShareUpdateExclusive, false))? {
        Some((table, _)) => analyze::table(session, &table, columns, how),
        None => Ok(None),
    }
}

/// VACUUM FULL of a table and its TOAST table, in the running transaction; false if it was skipped.
pub(super) fn rewrite_named(session: &Session, oid: Oid, how: &Maintenance, named: bool) -> SqlResult<bool> {
    let mode = ("vacuum", LockMode::AccessExclusive, false);
    let Some((table, _)) = lock(session, oid, (how, named), mode)? else { return Ok(false) };
    let verb = how.verbose.then_some("vacuuming");
    if how.process_main || table.kind == RelationKind::Toast {
        let progress = session.progress(Lengthy::Cluster, table.oid);
        progress.set(rewrite::COMMAND, rewrite::VACUUM_FULL);
        rewrite::table(session, &table, None, verb)?;
    } else if table.toast.is_valid() {
        rewrite::table(session, names::describe(session, table.toast)?.as_ref(), None, verb)?;
    }
    Ok(true)
}

/// The table, locked ([`names::guard`]), if it is still there and may be gone through; and the lock, which is the session's if `for_session`.
fn lock(
    session: &Session,
    oid: Oid,
    (how, named): (&Maintenance, bool),
    (verb, mode, for_session): (&str, LockMode, bool),
) -> SqlResult<Option<(Arc<Table>, LockTag)>> {
    let find = || session.with_reader(|reader| catalog::CatalogView::relation_by_oid(reader, oid));
    let Some(before) = find()? else { return Ok(None) };
    let tag = session.catalog.lock_tag(names::guard(session, &before)?);
    let wait = if how.skip_locked { LockWait::NoWait } else { LockWait::Block };
    let taken = match for_session {
        true => session.txn.borrow_mut().lock_for_session(tag, mode, wait),
        false => session.txn.borrow_mut().lock(tag, mode, wait),
    };
    match taken {
        Ok(()) => {}
        Err(txn::LockError::NotAvailable) => {
            if named {
                warn_locked(session, verb, &before.name);
            }
            return Ok(None);
        }
        Err(other) => return Err(other.into()),
    }
    let allowed = match find()? {
        Some(table) => check(session, &table, verb, how.automatic)?.then_some(table),
        None => {
            if named {
                let message = format!("skipping {verb} of \"{}\" --- relation no longer exists", before.name);
                warn(session, SqlState::UNDEFINED_TABLE, message);
            }
            None
        }
    };
    if allowed.is_none() && for_session {
        session.txn.borrow_mut().unlock_for_session(tag, mode);
    }
    Ok(allowed.map(|table| (table, tag)))
}

pub(super) fn warn(session: &Session, code: SqlState, message: String) {
    session.notice(SqlError::with_severity(Severity::Warning, code, message));
}

pub(super) fn warn_locked(session: &Session, verb: &str, name: &str) {
    warn(session, SqlState::LOCK_NOT_AVAILABLE, skipped_locked(verb, name));
}

/// What is said of a table that others have locked.
pub(crate) fn skipped_locked(verb: &str, name: &str) -> String {
    format!("skipping {verb} of \"{name}\" --- lock not available")
}

fn check(session: &Session, table: &Table, verb: &str, automatic: bool) -> SqlResult<bool> {
    // Its owner alone knows which of its rows are needed. No warning, as one without a list of tables meets many.
    if table.persistence == 't' && session.names.temporary_schema() != Some(table.schema) {
        return Ok(false);
    }
    // It has no rows of its own; its partitions follow.
    if table.kind == RelationKind::PartitionedTable {
        return Ok(false);
    }
    if table.kind == RelationKind::ForeignTable && verb == "analyze" {
        if session.foreign_pages(&Arc::new(table.clone()))?.is_none() {
            let message = format!("skipping \"{}\" --- cannot analyze this foreign table", table.name);
            warn(session, SqlState::WARNING, message);
            return Ok(false);
        }
        return analyze::may(session, table, verb);
    }
    let fits = matches!(table.kind, RelationKind::Table | RelationKind::MaterializedView)
        || (verb == "vacuum" && table.kind == RelationKind::Toast);
    if !fits {
        let message =
            format!("skipping \"{}\" --- cannot {verb} non-tables or special system tables", table.name);
        warn(session, SqlState::WARNING, message);
        return Ok(false);
    }
    Ok(automatic || analyze::may(session, table, verb)?)
}
