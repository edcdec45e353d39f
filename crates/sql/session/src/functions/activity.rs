//! Sessions as others see them: `pg_stat_activity`, cancelling and ending them; this session's prepared statements.

use std::sync::Arc;
use std::time::Duration;

use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::{RoleFacts, predefined};
use eval::error;
use runtime::{Interrupt, WaitEvent};
use tuple::Datum;
use txn::{LockInfo, LockTag};
use types::SessionFn;
use types::array::from_regtypes;
use types::numeric::Numeric;
use types::value::IntoDatum;

use super::locks::lock_type;
use super::{Row, arg};
use crate::progress::Lengthy;
use crate::{Backend, BackendKind, BackendState, Background, CursorInfo, Named, Session};

/// How often a session that waits for another's end looks.
const POLL: Duration = Duration::from_millis(10);

impl Session {
    pub(super) fn activity_function(&self, id: SessionFn, args: &[Datum]) -> SqlResult<Option<Datum>> {
        use SessionFn as F;
        Ok(Some(match id {
            F::PgCancelBackend => self.cancel_backend(arg(args, 0))?,
            F::PgTerminateBackend => self.terminate_backend(arg(args, 0), arg(args, 1))?,
            F::PgStatGetDbNumbackends => {
                Datum::Int4(self.instance.sessions().count_of(Oid(arg(args, 0))) as i32)
            }
            other => {
                let Some(column) = backend_column(other) else { return Ok(None) };
                let pid = arg(args, 0);
                match self.activity(Some(pid))?.pop() {
                    Some(mut row) => row.swap_remove(column),
                    None if column == QUERY => Datum::text("<backend information not available>"),
                    None => Datum::Null,
                }
            }
        }))
    }

    pub(super) fn activity_rows(&self, id: SessionFn, args: &[Datum]) -> SqlResult<Option<Vec<Row>>> {
        use SessionFn as F;
        Ok(Some(match id {
            F::PgStatGetActivity => self.activity(arg(args, 0))?,
            F::PgStatGetProgressInfo => self.progress_rows(arg(args, 0))?,
            // Subtransactions are never lost track of, however many there are.
            F::PgStatGetBackendSubxact => match self.instance.sessions().get(arg(args, 0)) {
                Some(_) => vec![vec![Datum::Null, Datum::Bool(false)]],
                None => vec![vec![Datum::Null, Datum::Null]],
            },
            F::PgCursor => self.cursors().into_iter().map(cursor_row).collect(),
            F::PgPreparedStatement => self.named_statement_rows(),
            F::PgStatGetBackendIdset => {
                self.instance.sessions().list().iter().map(|b| vec![Datum::Int4(b.pid)]).collect()
            }
            _ => return Ok(None),
        }))
    }

    /// The rows of `pg_prepared_statements`.
    fn named_statement_rows(&self) -> Vec<Row> {
        let row = |name: &str, named: &Named| {
            let source = &named.source;
            let result = source
                .columns()
                .map_or(Datum::Null, |columns| from_regtypes(columns.iter().map(|column| column.declared)));
            vec![
                Datum::text(name),
                Datum::text(&named.source.text),
                Datum::Int8(named.made),
                from_regtypes(source.param_types().iter().copied()),
                result,
                Datum::Bool(named.from_sql),
                Datum::Int8(source.choices.generic.get()),
                Datum::Int8(source.choices.custom.get()),
            ]
        };
        let statements = self.statements.borrow();
        statements.iter().filter(|(name, _)| !name.is_empty()).map(|(name, named)| row(name, named)).collect()
    }

    /// The session with this pid, if the caller may signal it.
    fn signalled(&self, pid: i32, end: bool) -> SqlResult<Option<std::sync::Arc<Backend>>> {
        let Some(backend) = self.instance.sessions().get(pid) else {
            self.notice(SqlError::with_severity(
                base::Severity::Warning,
                base::SqlState::WARNING,
                format!("PID {pid} is not a PostgreSQL backend process"),
            ));
            return Ok(None);
        };
        self.check_may_signal(&backend, end)?;
        Ok(Some(backend))
    }

    /// Fails if the current user may not cancel what a session does, or end it.
    pub fn check_may_signal(&self, backend: &Backend, end: bool) -> SqlResult<()> {
        if self.has_all_rights()? {
            return Ok(());
        }
        let (what, act, object, done) = match end {
            true => ("terminate process", "terminate processes", "process", "terminated"),
            false => ("cancel query", "cancel queries", "query", "canceled"),
        };
        let denied = |detail: String| {
            Err(sql_err!(INSUFFICIENT_PRIVILEGE, "permission denied to {what}").detail(detail))
        };
        if backend.kind == BackendKind::AutovacuumWorker {
            if self.has_role(predefined::SIGNAL_AUTOVACUUM_WORKER)? {
                return Ok(());
            }
            return denied(format!(
                "Only roles with privileges of the \"pg_signal_autovacuum_worker\" role may {} autovacuum workers.",
                if end { "terminate" } else { "cancel" }
            ));
        }
        if self.with_reader(|reader| reader.is_superuser(backend.user))? {
            return denied(format!(
                "Only roles with the SUPERUSER attribute may {act} of roles with the SUPERUSER attribute."
            ));
        }
        if self.has_role(backend.user)? || self.has_role(predefined::SIGNAL_BACKEND)? {
            return Ok(());
        }
        denied(format!(
            "Only roles with privileges of the role whose {object} is being {done} or with privileges of the \
             \"pg_signal_backend\" role may {} this {object}.",
            if end { "terminate" } else { "cancel" }
        ))
    }

    fn cancel_backend(&self, pid: i32) -> SqlResult<Datum> {
        let Some(backend) = self.signalled(pid, false)? else { return Ok(Datum::Bool(false)) };
        // A cancel that comes between two commands is no cancel of the next one.
        if backend.activity().state == BackendState::Active {
            backend.interrupts.set(Interrupt::Cancel);
        }
        // It may have been this session's own.
        runtime::check_interrupts()?;
        Ok(Datum::Bool(true))
    }

    /// Ends a session; with a timeout (milliseconds) waits until it is gone.
    fn terminate_backend(&self, pid: i32, timeout: i64) -> SqlResult<Datum> {
        if timeout < 0 {
            return Err(sql_err!(NUMERIC_VALUE_OUT_OF_RANGE, "\"timeout\" must not be negative"));
        }
        let Some(backend) = self.signalled(pid, true)? else { return Ok(Datum::Bool(false)) };
        backend.interrupts.set(Interrupt::Terminate);
        // It may have been this session's own.
        runtime::check_interrupts()?;
        if timeout == 0 {
            return Ok(Datum::Bool(true));
        }
        let start = runtime::now();
        let gone = |session: &Session| {
            let known = session.instance.sessions().get(pid);
            known.is_none_or(|known| !std::sync::Arc::ptr_eq(&known, &backend))
        };
        while !gone(self) {
            if start.elapsed() >= Duration::from_millis(timeout as u64) {
                self.notice(SqlError::with_severity(
                    base::Severity::Warning,
                    base::SqlState::WARNING,
                    format!("backend with PID {pid} did not terminate within {timeout} milliseconds"),
                ));
                return Ok(Datum::Bool(false));
            }
            let pause = || runtime::wait_interruptible(runtime::sleep(POLL));
            let step = runtime::waiting(WaitEvent::BackendTermination, pause);
            step.map_err(error::interrupted)?;
        }
        Ok(Datum::Bool(true))
    }

    /// Whose details the current user may see.
    fn sight(&self) -> SqlResult<Sight> {
        let me = self.names.user();
        let facts = self.with_reader(|reader| reader.role_facts(me))?;
        let all = facts.superuser || facts.inherits.contains(&predefined::READ_ALL_STATS);
        Ok(Sight { all, facts })
    }

    /// Rows of `pg_stat_get_activity`: of one session, or of all.
    fn activity(&self, pid: Option<i32>) -> SqlResult<Vec<Row>> {
        let sessions = self.instance.sessions();
        let backends = match pid {
            Some(pid) => sessions.get(pid).into_iter().collect(),
            None => sessions.list(),
        };
        let locks = self.engine().txns().list_locks();
        let sight = self.sight()?;
        let mut rows: Vec<Row> = backends.iter().map(|b| activity_row(b, &locks, sight.sees(b))).collect();
        let loops = sessions.background().into_iter().filter(|b| pid.is_none_or(|pid| pid == b.pid));
        rows.extend(loops.map(|b| background_row(&b, sight.all)));
        Ok(rows)
    }

    /// Rows of `pg_stat_get_progress_info`.
    fn progress_rows(&self, command: &str) -> SqlResult<Vec<Row>> {
        if command.eq_ignore_ascii_case(RECOVERY) {
            return Ok(self.recovery_row().into_iter().collect());
        }
        let Some(command) = Lengthy::named(command) else {
            return Err(sql_err!(INVALID_PARAMETER_VALUE, "invalid command name: \"{command}\""));
        };
        let sight = self.sight()?;
        let mut rows = Vec::new();
        for backend in self.instance.sessions().list() {
            let Some(progress) = backend.progress.lock().clone() else { continue };
            if command != progress.command {
                continue;
            }
            let sees = sight.sees(&backend);
            let shown = |d: Datum| if sees { d } else { Datum::Null };
            let mut row =
                vec![Datum::Int4(backend.pid), backend.database.into(), shown(progress.relation.into())];
            row.extend(progress.figures().into_iter().map(|figure| shown(Datum::Int8(figure))));
            rows.push(row);
        }
        Ok(rows)
    }
}

/// The name by which the view `stampede_recovery` asks for its figures.
const RECOVERY: &str = "STAMPEDE RECOVERY";
/// Figures of a row of progress.
const FIGURES: usize = 20;

impl Session {
    /// How far recovery has come, if the server was opened before its end.
    fn recovery_row(&self) -> Option<Row> {
        let recovery = self.engine().recovery_progress()?;
        let done = recovery.total.saturating_sub(recovery.pages);
        let millis = recovery.elapsed.as_millis() as i64;
        let figures = [recovery.total as i64, done as i64, recovery.log as i64, millis];
        let mut row = vec![Datum::Int4(0), Oid::INVALID.into(), Oid::INVALID.into()];
        row.extend(figures.map(Datum::Int8));
        row.resize(3 + FIGURES, Datum::Int8(0));
        Some(row)
    }
}

/// What a user may see of sessions: everything of `all`, or of those of roles whose privileges it has.
struct Sight {
    all: bool,
    facts: Arc<RoleFacts>,
}

impl Sight {
    fn sees(&self, backend: &Backend) -> bool {
        self.all || backend.kind.has_client() && self.facts.inherits.contains(&backend.user)
    }
}

/// Columns of `pg_stat_get_activity`.
const COLUMNS: usize = 31;
const QUERY: usize = 5;

/// The column that a function about one session shows.
fn backend_column(id: SessionFn) -> Option<usize> {
    use SessionFn as F;
    Some(match id {
        F::PgStatGetBackendDbid => 0,
        F::PgStatGetBackendPid => 1,
        F::PgStatGetBackendUserid => 2,
        F::PgStatGetBackendActivity => QUERY,
        F::PgStatGetBackendWaitEventType => 6,
        F::PgStatGetBackendWaitEvent => 7,
        F::PgStatGetBackendXactStart => 8,
        F::PgStatGetBackendActivityStart => 9,
        F::PgStatGetBackendStart => 10,
        F::PgStatGetBackendClientAddr => 12,
        F::PgStatGetBackendClientPort => 14,
        _ => return None,
    })
}

/// A loop of the server, as a row of `pg_stat_get_activity`.
fn background_row(background: &Background, visible: bool) -> Row {
    let shown = |d: Datum| if visible { d } else { Datum::Null };
    let mut row = vec![Datum::Null; COLUMNS];
    row[1] = Datum::Int4(background.pid);
    row[3] = Datum::text("");
    row[QUERY] = Datum::text(if visible { "" } else { "<insufficient privilege>" });
    row[6] = shown(Datum::text("Activity"));
    row[7] = shown(Datum::text(background.wait));
    row[10] = shown(Datum::Int8(background.start));
    row[17] = shown(Datum::text(background.kind));
    row
}

/// What a session waits for: type and name.
fn wait_of(backend: &Backend, locks: &[LockInfo]) -> Option<(&'static str, &'static str)> {
    let activity = backend.activity();
    let mine = |lock: &&LockInfo| lock.session.0 as i32 == backend.pid && !lock.granted;
    match locks.iter().find(mine) {
        Some(lock) => Some(("Lock", lock_type(&lock.tag))),
        None if backend.kind.has_client() && activity.state != BackendState::Active => {
            Some(("Client", "ClientRead"))
        }
        None => backend.interrupts.waits_for().map(WaitEvent::names),
    }
}

fn cursor_row(cursor: CursorInfo) -> Row {
    vec![
        Datum::text(&cursor.name),
        Datum::text(&cursor.statement),
        Datum::Bool(cursor.holdable),
        Datum::Bool(cursor.binary),
        Datum::Bool(cursor.scrollable),
        Datum::Int8(cursor.created),
    ]
}

fn activity_row(backend: &Backend, locks: &[LockInfo], visible: bool) -> Row {
    let activity = backend.activity();
    let told = !backend.is_hidden();
    let time = |t: Option<i64>| t.filter(|_| told).map_or(Datum::Null, Datum::Int8);
    let shown = |d: Datum| if visible { d } else { Datum::Null };
    let wait = wait_of(backend, locks);
    let part = |pick: fn((&'static str, &'static str)) -> &'static str| {
        shown(wait.map_or(Datum::Null, |wait| Datum::text(pick(wait))))
    };
    let xid = locks.iter().find_map(|lock| match lock.tag {
        LockTag::Xid(xid) if lock.granted && lock.session.0 as i32 == backend.pid => Some(xid),
        _ => None,
    });
    // The server's own sessions belong to no role and have no client.
    let clients = |d: Datum| if backend.kind.has_client() { d } else { Datum::Null };
    let mut row = vec![
        Some(backend.database).filter(|database| database.is_valid()).map_or(Datum::Null, Into::into),
        Datum::Int4(backend.pid),
        clients(backend.user.into()),
        Datum::text(&activity.application),
        shown(Datum::text(if told { activity.state.as_str() } else { "disabled" })),
        match visible {
            true => Datum::text(if told { &activity.query } else { "" }),
            false => Datum::text("<insufficient privilege>"),
        },
        part(|wait| wait.0),
        part(|wait| wait.1),
        shown(time(activity.transaction_start)),
        shown(time(activity.query_start)),
        shown(Datum::Int8(backend.start)),
        shown(time(Some(activity.state_change))),
        shown(super::address(backend.client)),
        shown(backend.client_host.as_deref().map_or(Datum::Null, Datum::text)),
        clients(shown(Datum::Int4(backend.client.map_or(-1, |a| i32::from(a.port()))))),
        xid.map_or(Datum::Null, |xid| Datum::Oid(xid.0 as u32)),
        backend.xmin().map_or(Datum::Null, |xmin| Datum::Oid(xmin.0 as u32)),
        shown(Datum::text(backend.kind.as_str())),
    ];
    row.extend(encryption(backend).map(shown));
    // GSSAPI cannot be in use.
    let (no, none) = (|| shown(Datum::Bool(false)), Datum::Null);
    let id = match backend.query_id() {
        0 => Datum::Null,
        _ if !told => Datum::Null,
        id => shown(Datum::Int8(id)),
    };
    row.extend([no(), none.clone(), no(), no(), none, id]);
    row
}

/// The columns about TLS.
fn encryption(backend: &Backend) -> [Datum; 7] {
    let Some(encryption) = &backend.encryption else {
        let none = || Datum::Null;
        return [Datum::Bool(false), none(), none(), none(), none(), none(), none()];
    };
    let name = |name: &Option<Box<str>>| {
        name.as_deref().map_or(Datum::Null, |name| Datum::text(types::text::clip_name(name)))
    };
    let serial = encryption.client_serial.as_deref().and_then(|serial| Numeric::parse(serial).ok());
    [
        Datum::Bool(true),
        Datum::text(encryption.version),
        Datum::text(encryption.cipher),
        Datum::Int4(encryption.bits),
        name(&encryption.client_name),
        serial.and_then(|serial| serial.into_datum().ok()).unwrap_or(Datum::Null),
        name(&encryption.issuer_name),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Xid;
    use runtime::Interrupts;
    use std::sync::Arc;
    use txn::{LockMode, SessionId};

    fn lock(session: u32, tag: LockTag, granted: bool) -> LockInfo {
        LockInfo {
            session: SessionId(session),
            tag,
            mode: LockMode::Exclusive,
            granted,
            fastpath: false,
            wait_start: None,
        }
    }

    #[test]
    fn rows_show_waits_and_hide_what_is_not_the_viewer_s() {
        let b = Backend::new(7, Interrupts::new(), (Oid(10), "p"), (Oid(5), "d"), None);
        assert_eq!(wait_of(&b, &[]), Some(("Client", "ClientRead")));
        b.begin_command(&Arc::from("update t"), 3, 2);
        assert_eq!(wait_of(&b, &[]), None);
        let locks = [lock(7, LockTag::Xid(Xid(900)), true), lock(7, LockTag::Xid(Xid(800)), false)];
        assert_eq!(activity_row(&b, &locks, true)[16], Datum::Null);
        b.uses_snapshot(Xid(750));
        b.uses_snapshot(Xid(760));
        let row = activity_row(&b, &locks, true);
        assert_eq!(row.len(), COLUMNS);
        assert_eq!([&row[6], &row[7]], [&Datum::text("Lock"), &Datum::text("transactionid")]);
        assert_eq!([&row[4], &row[5]], [&Datum::text("active"), &Datum::text("update t")]);
        assert_eq!([&row[15], &row[16]], [&Datum::Oid(900), &Datum::Oid(750)]);
        b.holds_snapshots([Xid(800), Xid(790)].into_iter());
        assert_eq!(b.xmin(), Some(Xid(790)));
        b.holds_snapshots(std::iter::empty());
        assert_eq!(b.xmin(), None);
        let hidden = activity_row(&b, &locks, false);
        assert_eq!([&hidden[4], &hidden[6], &hidden[9]], [&Datum::Null; 3]);
        assert_eq!(hidden[5], Datum::text("<insufficient privilege>"));
    }
}
