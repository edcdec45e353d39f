//! A session that keeps up tables of one database.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use base::settings::{ServerSettings, Setting};
use base::{BlockNo, Oid, Severity, SqlError, SqlResult, SqlState, Xid};
use catalog::change::{Behavior, ObjectAddress};
use catalog::system::pg_class;
use catalog::{CatalogView, Table};
use runtime::Interrupt;
use runtime::usage::Account;
use session::{Instance, LogSink, Session};
use txn::{BlockState, LockError, LockMode, LockWait, RelKind};

use super::expense::Expense;
use super::look;
use super::need::{Facts, Need};
use super::state::{Ended, Hired, Job, Outcome, is_wanted};
use crate::oldest_ids;
use crate::vacuum::{AnalyzeReport, Maintenance, VacuumReport, full_name, skipped_locked};

/// Where a worker runs.
pub struct Place {
    /// Its number, which no session has.
    pub pid: i32,
    /// Where its lines for the server's log go, by the name of its database.
    pub log: Box<dyn FnOnce(&str) -> LogSink + Send>,
}

/// Rows that died from this transaction on, some snapshot may need.
pub(super) fn horizon(instance: &Instance) -> Xid {
    instance.engine().txns().horizon(RelKind::Plain, None).maybe_needed
}

/// The life of a worker.
pub(super) fn work(instance: &Arc<Instance>, place: Place, hired: &Hired, first: Job) {
    Account::AutovacuumWorker.enter();
    runtime::with_interrupts(&hired.interrupts(), || {
        // Whoever removes the database is in the way, or the server stops: there is nothing to be said.
        let Ok(session) = Session::for_upkeep(instance.clone(), place.pid, first.database) else { return };
        session.log_to((place.log)(session.catalog.database_name()));
        let worker = Worker { session: &session, hired, task: RefCell::default() };
        worker.run(first);
        session.close();
    });
}

struct Worker<'a> {
    session: &'a Session,
    hired: &'a Hired,
    /// What it does, for errors.
    task: RefCell<String>,
}

impl Worker<'_> {
    fn run(&self, first: Job) {
        let (mut next, mut vacuumed) = (Some(first), false);
        while let Some(job) = next {
            let ended = self.keep_up(job);
            vacuumed |= matches!(ended.outcome, Outcome::Done(done) if done.vacuum);
            self.hired.end(ended);
            next = self.goes_on().then(|| self.hired.next(job.database)).flatten();
        }
        if vacuumed && self.goes_on() {
            self.task.take();
            if let Err(error) = self.settle(first.database) {
                self.fail(error);
            }
        }
    }

    /// Whether it may go on: nobody has cancelled it.
    fn goes_on(&self) -> bool {
        let interrupts = &self.session.backend.interrupts;
        !interrupts.is_set(Interrupt::Terminate) && is_wanted(&self.session.instance.settings())
    }

    /// Does what a table needs.
    fn keep_up(&self, job: Job) -> Ended {
        // A cancel that comes between two tables is none of the next one.
        self.session.backend.interrupts.clear(Interrupt::Cancel);
        let (start, horizon) = (runtime::now(), horizon(&self.session.instance));
        let outcome = self.try_to_keep_up(job).unwrap_or_else(|error| {
            self.fail(error);
            Outcome::Failed
        });
        Ended { job, outcome, took: start.elapsed(), horizon }
    }

    fn try_to_keep_up(&self, job: Job) -> SqlResult<Outcome> {
        let session = self.session;
        session.begin_statement();
        if let Some(block) = job.summarize {
            return self.summarize(job.key.1, block);
        }
        let settings = session.instance.settings();
        let found = session.with_reader(|reader| {
            let facts = look::table(reader, session.instance.sessions(), job.key.1, &settings)?;
            Ok::<_, SqlError>(facts.zip(reader.relation_by_oid(job.key.1)?))
        })?;
        // Others may have done it meanwhile, or the table is gone.
        let counted = session.instance.counters().of_key(job.key).unwrap_or_default();
        let need = |facts: &Facts| facts.need(&counted, &settings).and(job.allowed);
        let Some((facts, table)) = found.filter(|(facts, _)| need(facts).any()) else {
            session.commit_transaction()?;
            return Ok(Outcome::Unneeded);
        };
        let need = need(&facts);
        self.show(&table, need);
        if need.drop {
            return self.drop_orphan(&table, &settings);
        }
        let how = self.maintenance(&facts, &settings);
        let reports = session.with_orders(|| do_it(session, table.oid, need, &how))?;
        session.commit_transaction()?;
        let Some(reports) = reports else {
            self.tell_of_lock(&table, need, &facts, &settings);
            return Ok(Outcome::Refused);
        };
        self.tell(&reports, &facts, &settings);
        Ok(Outcome::Done(need))
    }

    /// Summarizes a range of a table in an index, if that is still there.
    fn summarize(&self, index: Oid, block: BlockNo) -> SqlResult<Outcome> {
        let session = self.session;
        if let Some(found) = session.with_reader(|reader| reader.relation_by_oid(index))? {
            let (schema, name) = (&found.schema_name, &found.name);
            let start = session.txn.borrow().start_time();
            let text = format!("autovacuum: BRIN summarize {schema}.{name} {}", block.0);
            session.backend.begin_command(&text.into(), runtime::wall_clock_micros(), start);
            let name = full_name(session, &found);
            self.task.replace(format!("processing work entry for relation \"{name}\""));
            session.summarize_range(index, block)?;
        }
        session.commit_transaction()?;
        Ok(Outcome::Unneeded)
    }

    /// Drops a temporary table whose session is gone, unless another session is doing so.
    fn drop_orphan(&self, table: &Table, settings: &ServerSettings) -> SqlResult<Outcome> {
        let session = self.session;
        let tag = session.catalog.lock_tag(table.oid);
        match session.txn.borrow_mut().lock(tag, LockMode::AccessExclusive, LockWait::NoWait) {
            Ok(()) => {}
            Err(LockError::NotAvailable) => {
                session.commit_transaction()?;
                return Ok(Outcome::Refused);
            }
            Err(other) => return Err(other.into()),
        }
        let sessions = session.instance.sessions();
        let still = session.with_reader(|reader| look::table(reader, sessions, table.oid, settings))?;
        if still.is_some_and(|facts| facts.is_orphan) {
            let name = full_name(session, table);
            self.log(
                SqlState::SUCCESSFUL_COMPLETION,
                format!("autovacuum: dropping orphan temp table \"{name}\""),
            );
            let object = ObjectAddress { class: pg_class::TABLE.oid, object: table.oid, sub: 0 };
            session.with_changer(|changer| changer.drop_objects(&[object], Behavior::Cascade))?;
        }
        session.commit_transaction()?;
        Ok(Outcome::Unneeded)
    }

    /// Shows what it does, to others and in errors.
    fn show(&self, table: &Table, need: Need) {
        let (schema, name) = (&table.schema_name, &table.name);
        let what = match need {
            Need { vacuum: true, analyze: true, .. } => "VACUUM ANALYZE",
            Need { vacuum: true, .. } => "VACUUM",
            Need { analyze: true, .. } => "ANALYZE",
            Need { .. } => "DROP TABLE",
        };
        let start = self.session.txn.borrow().start_time();
        let text = format!("autovacuum: {what} {schema}.{name}");
        self.session.backend.begin_command(&text.into(), runtime::wall_clock_micros(), start);
        let table = full_name(self.session, table);
        self.task.replace(format!("automatic {} of table \"{table}\"", need.verb()));
    }

    /// How to go about a table: by its parameters, by what the server has for automatic vacuums, and else as other sessions do.
    fn maintenance(&self, facts: &Facts, settings: &ServerSettings) -> Maintenance {
        let mut how = Maintenance::of_session(self.session);
        (how.automatic, how.skip_locked, how.workers) = (true, true, None);
        // TOAST tables have counters of their own.
        (how.process_main, how.process_toast) = (true, false);
        let memory = settings.int(Setting::autovacuum_work_mem);
        if memory >= 0 {
            how.memory = (memory.max(64) as usize) << 10;
        }
        let age = |parameter: &str, most: Setting| {
            let age = facts.parameters.int(parameter)?;
            Some(age.min(settings.int(most) / 2).max(0) as u64)
        };
        let xid = age("autovacuum_freeze_min_age", Setting::autovacuum_freeze_max_age);
        let multi = age("autovacuum_multixact_freeze_min_age", Setting::autovacuum_multixact_freeze_max_age);
        how.freeze_ages.xid = xid.unwrap_or(how.freeze_ages.xid);
        how.freeze_ages.multi = multi.unwrap_or(how.freeze_ages.multi);
        self.hired.spend(Expense::new(self.session, facts), &how.budget);
        how
    }

    /// What was done goes to the log, if it has taken long enough.
    fn tell(&self, reports: &Reports, facts: &Facts, settings: &ServerSettings) {
        let Ok(least) = u64::try_from(facts.log_min_duration(settings)) else { return };
        let least = Duration::from_millis(least);
        let vacuum = reports.vacuum.as_ref().filter(|report| report.took() >= least);
        let analyze = reports.analyze.as_ref().filter(|report| report.took() >= least);
        let texts = vacuum.map(VacuumReport::automatic).into_iter();
        for text in texts.chain(analyze.map(AnalyzeReport::automatic)) {
            self.log(SqlState::SUCCESSFUL_COMPLETION, text);
        }
    }

    fn log(&self, code: SqlState, message: String) {
        self.session.log_report(&SqlError::with_severity(Severity::Log, code, message));
    }

    /// Somebody has the table.
    fn tell_of_lock(&self, table: &Table, need: Need, facts: &Facts, settings: &ServerSettings) {
        if facts.log_min_duration(settings) < 0 {
            return;
        }
        self.log(SqlState::LOCK_NOT_AVAILABLE, skipped_locked(need.verb(), &table.name));
    }

    /// Notes the database's oldest ids, once in a while.
    fn settle(&self, database: Oid) -> SqlResult<()> {
        let rest = self.session.instance.settings().duration(Setting::autovacuum_naptime);
        let now = runtime::wall_clock_micros();
        if !self.hired.may_settle(database, now, rest.as_micros() as i64) {
            return Ok(());
        }
        self.session.begin_statement();
        oldest_ids::settle(self.session)?;
        self.session.commit_transaction().map(drop)
    }

    /// Gives up what it does, and tells why.
    fn fail(&self, error: SqlError) {
        if self.session.txn.borrow().state() != BlockState::Idle {
            self.session.abort_transaction();
        }
        self.session.txn.borrow_mut().unlock_all_for_session(|_| true);
        let mut error = told(error);
        let task = self.task.borrow();
        if !task.is_empty() && error.report().severity < Severity::Fatal {
            error = error.context(task.clone());
        }
        self.session.log_report(&error);
    }
}

/// What was done to a table.
#[derive(Default)]
struct Reports {
    vacuum: Option<VacuumReport>,
    analyze: Option<AnalyzeReport>,
}

/// VACUUM, then ANALYZE; none if the table is locked by another session, or gone.
fn do_it(session: &Session, table: Oid, need: Need, how: &Maintenance) -> SqlResult<Option<Reports>> {
    let mut reports = Reports::default();
    if need.vacuum {
        reports.vacuum = how.vacuum(session, table)?;
        if reports.vacuum.is_none() {
            return Ok(None);
        }
    }
    if need.analyze {
        reports.analyze = how.analyze(session, table)?;
    }
    Ok((reports.vacuum.is_some() || reports.analyze.is_some()).then_some(reports))
}

/// In the words of an automatic vacuum that was interrupted.
fn told(error: SqlError) -> SqlError {
    let code = error.code();
    let mut said = match code {
        SqlState::QUERY_CANCELED => base::sql_err!(QUERY_CANCELED, "canceling autovacuum task"),
        SqlState::ADMIN_SHUTDOWN => {
            SqlError::fatal(code, "terminating autovacuum process due to administrator command")
        }
        _ => return error,
    };
    said.report_mut().context.clone_from(&error.report().context);
    said
}
