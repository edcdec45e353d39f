//! The statements that read a server, and what their rows mean.
//!
//! All go as one message of the simple protocol: one way there and back, one moment (`pg_stat_activity` does not change within a
//! transaction), and values as text, which needs no knowledge of types and suits every version.

use tokio_postgres::SimpleQueryMessage;

use crate::model::{Lock, Server, Session, Snapshot, Statement, Totals};

/// Server, totals, sessions, locks that are waited for: four results.
pub const SNAPSHOT: &str = "\
select version(), current_database(), pg_backend_pid(), current_setting('max_connections'),
       extract(epoch from clock_timestamp() - pg_postmaster_start_time()),
       to_char(clock_timestamp(), 'HH24:MI:SS'), extract(epoch from clock_timestamp());
select sum(xact_commit), sum(xact_rollback), sum(blks_hit), sum(blks_read), sum(temp_bytes), sum(deadlocks)
  from pg_catalog.pg_stat_database;
select pid, usename, datname, application_name,
       case when client_addr is not null then host(client_addr) || ':' || client_port
            when client_port = -1 then 'local' end,
       state, wait_event_type, wait_event,
       extract(epoch from clock_timestamp() - state_change), extract(epoch from clock_timestamp() - xact_start),
       extract(epoch from clock_timestamp() - query_start), extract(epoch from clock_timestamp() - backend_start),
       backend_start, backend_type,
       case when wait_event_type = 'Lock' then array_to_string(pg_blocking_pids(pid), ',') end, query
  from pg_catalog.pg_stat_activity;
select pid, locktype, coalesce(case when database = (select oid from pg_catalog.pg_database
                                                     where datname = current_database())
                                    then relation::regclass::text end, relation::text),
       transactionid, virtualxid, page, tuple, objid, mode, granted
  from pg_catalog.pg_locks where not granted";

/// Locks of one session, those that it waits for first.
pub fn locks_of(pid: i32) -> String {
    let wanted = "where not granted";
    let (_, locks) = SNAPSHOT.rsplit_once(';').expect("several statements");
    locks.replace(wanted, &format!("where pid = {pid} order by granted, locktype, relation"))
}

/// In which schema `pg_stat_statements` is, quoted; no row: it is not installed.
pub const STATEMENTS_SCHEMA: &str = "\
select quote_ident(n.nspname) from pg_catalog.pg_extension e
  join pg_catalog.pg_namespace n on n.oid = e.extnamespace where e.extname = 'pg_stat_statements'";

/// The statements that took the most time.
pub fn statements(schema: &str) -> String {
    format!(
        "select pg_get_userbyid(s.userid), d.datname, s.calls, s.total_exec_time, s.mean_exec_time, s.rows, s.query
           from {schema}.pg_stat_statements s left join pg_catalog.pg_database d on d.oid = s.dbid
          order by s.total_exec_time desc limit 500"
    )
}

/// Ends the statement (`pg_cancel_backend`) or session (`pg_terminate_backend`) with pid `$1` that started at `$2`: nobody else who
/// has that pid by now.
pub fn end_session(function: &str) -> String {
    format!(
        "select {function}(pid) from pg_catalog.pg_stat_activity
          where pid = $1 and backend_start is not distinct from nullif($2, '')::timestamptz"
    )
}

/// The same for all sessions of the role `$1`, but not ours.
pub fn end_role(function: &str) -> String {
    format!(
        "select {function}(pid) from pg_catalog.pg_stat_activity
          where usename = $1 and pid <> pg_backend_pid() and backend_type = 'client backend'"
    )
}

/// Values of a row; NULL is empty.
pub type Values = Vec<String>;

/// Rows of each result.
pub fn results(messages: Vec<SimpleQueryMessage>) -> Vec<Vec<Values>> {
    let mut results = vec![Vec::new()];
    for message in messages {
        match message {
            SimpleQueryMessage::Row(row) => {
                let values = (0..row.len()).map(|at| row.get(at).unwrap_or_default().to_string());
                results.last_mut().expect("never empty").push(values.collect());
            }
            SimpleQueryMessage::CommandComplete(_) => results.push(Vec::new()),
            _ => {}
        }
    }
    results.pop();
    results
}

/// The snapshot in the results of [`SNAPSHOT`].
pub fn snapshot(results: &[Vec<Values>]) -> Snapshot {
    let first = |at: usize| results.get(at).and_then(|rows| rows.first());
    let rows = |at: usize| results.get(at).map(Vec::as_slice).unwrap_or_default();
    Snapshot {
        server: first(0).map(server).unwrap_or_default(),
        totals: first(1).map(totals).unwrap_or_default(),
        sessions: rows(2).iter().map(session).collect(),
        wanted: rows(3).iter().map(lock).collect(),
        statements: None,
    }
}

fn text(row: &Values, at: usize) -> String {
    row.get(at).cloned().unwrap_or_default()
}

fn number(row: &Values, at: usize) -> f64 {
    seconds(row, at).unwrap_or(0.0)
}

fn seconds(row: &Values, at: usize) -> Option<f64> {
    row.get(at)?.parse().ok()
}

fn pid(row: &Values, at: usize) -> i32 {
    text(row, at).parse().unwrap_or(0)
}

fn server(row: &Values) -> Server {
    let version = text(row, 0);
    Server {
        version: version.split(" on ").next().unwrap_or_default().to_string(),
        database: text(row, 1),
        own_pid: pid(row, 2),
        max_connections: number(row, 3) as u64,
        uptime: number(row, 4),
        clock: text(row, 5),
        epoch: number(row, 6),
    }
}

fn totals(row: &Values) -> Totals {
    Totals {
        commits: number(row, 0),
        rollbacks: number(row, 1),
        hits: number(row, 2),
        reads: number(row, 3),
        temp_bytes: number(row, 4),
        deadlocks: number(row, 5),
    }
}

fn session(row: &Values) -> Session {
    Session {
        pid: pid(row, 0),
        user: text(row, 1),
        database: text(row, 2),
        application: text(row, 3),
        client: text(row, 4),
        state: text(row, 5),
        wait_type: text(row, 6),
        wait_event: text(row, 7),
        in_state: seconds(row, 8),
        in_transaction: seconds(row, 9),
        in_query: seconds(row, 10),
        connected: seconds(row, 11),
        started: text(row, 12),
        kind: text(row, 13),
        blocked_by: text(row, 14).split(',').filter_map(|pid| pid.parse().ok()).collect(),
        query: text(row, 15),
    }
}

/// A row of `pg_locks`.
pub fn lock(row: &Values) -> Lock {
    let kind = text(row, 1);
    let [relation, xid, virtual_xid, page, tuple, object] = [2, 3, 4, 5, 6, 7].map(|at| text(row, at));
    let what = match kind.as_str() {
        "transactionid" => format!("transaction {xid}"),
        "virtualxid" => format!("virtual transaction {virtual_xid}"),
        "relation" => format!("relation {relation}"),
        "extend" => format!("extension of {relation}"),
        "page" => format!("page {page} of {relation}"),
        "tuple" => format!("row ({page},{tuple}) of {relation}"),
        _ => format!("{kind} {object}").trim_end().to_string(),
    };
    Lock { pid: pid(row, 0), object: what, mode: text(row, 8), granted: text(row, 9) == "t" }
}

/// A row of [`statements`].
pub fn statement(row: &Values) -> Statement {
    Statement {
        user: text(row, 0),
        database: text(row, 1),
        calls: number(row, 2),
        total: number(row, 3),
        mean: number(row, 4),
        rows: number(row, 5),
        text: text(row, 6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_are_named() {
        let row = |values: [&str; 10]| lock(&values.map(String::from).to_vec()).object;
        assert_eq!(
            row(["7", "relation", "accounts", "", "", "", "", "", "ShareLock", "f"]),
            "relation accounts"
        );
        assert_eq!(row(["7", "tuple", "accounts", "", "", "3", "4", "", "x", "f"]), "row (3,4) of accounts");
        assert_eq!(row(["7", "transactionid", "", "812", "", "", "", "", "x", "f"]), "transaction 812");
        assert_eq!(row(["7", "advisory", "", "", "", "", "", "42", "x", "f"]), "advisory 42");
    }

    #[test]
    fn locks_of_one_session() {
        let query = locks_of(7);
        assert!(query.trim_start().starts_with("select pid, locktype"));
        assert!(query.ends_with("where pid = 7 order by granted, locktype, relation"));
    }
}
