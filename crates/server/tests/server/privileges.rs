//! Who may run what: the statements of `test/privileges/table.txt`, each as every role, must end as PostgreSQL's do.
//!
//! The table is written by `test/privileges/generate` from the answers of a PostgreSQL 18. `known.txt` beside it names the
//! outcomes that are not PostgreSQL's, each statement with a reason; `unsupported.txt` names the statements that Stampede
//! cannot run even for a superuser. What is named there but no longer so fails the test too.
//!
//! A session runs the whole table, since some statements leave something for later ones of the same session. What one role does another does
//! not see, with the superuser's exception, so the roles are divided among servers, which run side by side. All have a session on each, whom
//! others may want to cancel.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::support::client::message;
use crate::support::{Client, Server};

const SETUP: &str = include_str!("../../../../test/privileges/setup.sql");
const TABLE: &str = include_str!("../../../../test/privileges/table.txt");
const KNOWN: &str = include_str!("../../../../test/privileges/known.txt");
const UNSUPPORTED: &str = include_str!("../../../../test/privileges/unsupported.txt");

/// A statement of the table; `kind` and text are its name.
#[derive(Default)]
struct Case<'a> {
    kind: &'a str,
    statement: &'a str,
    undo: Option<&'a str>,
    reason: Option<&'a str>,
    /// Outcome by role; `*` are the roles that are not named.
    outcomes: HashMap<&'a str, &'a str>,
}

impl<'a> Case<'a> {
    fn outcome(&self, role: &str) -> Option<&'a str> {
        self.outcomes.get(role).or_else(|| self.outcomes.get("*")).copied()
    }

    /// Runs it as the role of the session, in a transaction that is rolled back where it can be in one.
    fn run(&self, session: &mut Client, root: &mut Client) -> String {
        let outcome = if self.kind.ends_with('!') {
            let outcome = answer(session, self.statement);
            if let Some(undo) = self.undo {
                answer(root, undo);
            }
            outcome
        } else {
            let outcome = answer(session, &format!("begin; {}", self.statement));
            answer(session, "rollback");
            outcome
        };
        // Where many objects are concerned, their order decides about the message.
        match self.kind.ends_with('~') {
            true => outcome.split([' ', ';']).next().unwrap_or_default().to_string(),
            false => outcome,
        }
    }
}

/// The cases of a table.
fn cases(text: &str) -> Vec<Case<'_>> {
    let mut cases: Vec<Case<'_>> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let Some(detail) = line.strip_prefix("    ") else {
            let (kind, statement) = line[1..].split_once("] ").expect("a kind");
            cases.push(Case { kind, statement, ..Case::default() });
            continue;
        };
        let case = cases.last_mut().expect("a case");
        if let Some(undo) = detail.strip_prefix("undo: ") {
            case.undo = Some(undo);
        } else if let Some(reason) = detail.strip_prefix("reason: ") {
            case.reason = Some(reason);
        } else {
            let (outcome, roles) = detail.rsplit_once(": ").expect("an outcome");
            case.outcomes.extend(roles.split(' ').map(|role| (role, outcome)));
        }
    }
    cases
}

/// The first error, with its detail if it is about privileges, or else `ok` and the warnings. The database that the table
/// calls `pvdb` is `postgres` here.
fn answer(session: &mut Client, text: &str) -> String {
    let text = text.replace("pvdb", "postgres");
    session.send(&message(b'Q', &[text.as_bytes(), b"\0"].concat())).unwrap();
    let (mut error, mut warnings) = (None, BTreeSet::new());
    loop {
        let (kind, body) = session.message().unwrap_or_else(|lost| panic!("{text}: {lost}"));
        match kind {
            b'Z' => break,
            b'G' => session.send(&message(b'c', b"")).unwrap(),
            b'E' => drop(error.get_or_insert(report(&body).1)),
            b'N' => {
                let (severity, report) = report(&body);
                if severity == "WARNING" {
                    warnings.insert(report);
                }
            }
            _ => {}
        }
    }
    let outcome = error
        .unwrap_or_else(|| std::iter::once("ok".to_string()).chain(warnings).collect::<Vec<_>>().join("; "));
    let renamed = ["database ", "database \"", "for \""];
    renamed
        .iter()
        .fold(outcome, |text, before| text.replace(&format!("{before}postgres"), &format!("{before}pvdb")))
}

/// Severity, and SQLSTATE with message and perhaps detail.
fn report(body: &[u8]) -> (String, String) {
    let field = |code: u8| {
        let field = body.split(|byte| *byte == 0).find(|field| field.first() == Some(&code));
        field.map(|field| String::from_utf8_lossy(&field[1..]).replace('\n', " "))
    };
    let (code, text) = (field(b'C').unwrap_or_default(), field(b'M').unwrap_or_default());
    let detail =
        field(b'D').filter(|_| code == "42501").map_or(String::new(), |detail| format!(" | {detail}"));
    (field(b'S').unwrap_or_default(), format!("{code} {text}{detail}"))
}

/// The roles and objects of the table; names of the roles that it has a column for.
fn set_up(root: &mut Client) -> Vec<&'static str> {
    let mut roles = Vec::new();
    let lines: Vec<&str> =
        SETUP.lines().filter(|line| !line.starts_with("--") && !line.starts_with('\\')).collect();
    let text = lines.join("\n");
    for statement in text.split(";\n") {
        // The database is there already.
        let statement = match statement.starts_with("create database") {
            true => "alter database pvdb owner to pv_dbo",
            false => statement,
        };
        assert_eq!(answer(root, statement), "ok", "{statement}");
    }
    for line in SETUP.lines() {
        let Some(rest) = line.strip_prefix("create role pv_") else { continue };
        let name = rest.split([' ', ';']).next().unwrap_or_default();
        if rest.contains(" login") && !name.contains("victim") {
            roles.push(name);
        }
    }
    roles
}

fn session(server: &Server, role: &str) -> Client {
    server.connect(&[("user", &format!("pv_{role}"))]).unwrap()
}

/// How many servers the roles are divided among.
const PARTS: usize = 4;

/// Every [`PARTS`]th role, from this one on, may what it may in PostgreSQL. The superuser, the first, leaves what others find: he is in each part.
fn run_part(part: usize) {
    // Else COPY runs no programs where the test runs as root.
    let server = Server::start(&["stampede.allow_root_access=on"]);
    let mut root = server.client();
    let roles = set_up(&mut root);
    let _targets = ["victim", "supervictim"].map(|role| session(&server, role));
    let mut sessions: Vec<(&str, Client)> =
        roles.into_iter().map(|role| (role, session(&server, role))).collect();
    for (_, session) in &mut sessions {
        answer(session, "set search_path = s; set statement_timeout = '10s'");
    }
    let known: BTreeMap<_, _> =
        cases(KNOWN).into_iter().map(|case| ((case.kind, case.statement), case)).collect();
    let unsupported = unsupported();
    let mut wrong = Vec::new();
    for case in cases(TABLE) {
        let name = format!("[{}] {}", case.kind, case.statement);
        let known = known.get(&(case.kind, case.statement));
        let told = unsupported.iter().find_map(|line| line.strip_prefix(&name)?.strip_prefix(": "));
        for (number, (role, session)) in sessions.iter_mut().enumerate() {
            if number > 0 && number % PARTS != part {
                continue;
            }
            // Of what does not even work for a superuser, only that is looked at.
            if told.is_some() && *role != "super" {
                continue;
            }
            let outcome = case.run(session, &mut root);
            let expected = known.and_then(|case| case.outcomes.get(role).copied()).or(case.outcome(role));
            let expected = told.or(expected);
            if expected != Some(outcome.as_str()) {
                wrong.push(format!("{name}\n  {role}: {outcome}\n  not: {}", expected.unwrap_or("?")));
            }
        }
    }
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
}

/// Lines of `unsupported.txt`: the name of a statement, and what a superuser is told.
fn unsupported() -> Vec<&'static str> {
    UNSUPPORTED.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).collect()
}

#[test]
fn every_role_may_what_it_may_in_postgresql_part_1() {
    run_part(0);
}

#[test]
fn every_role_may_what_it_may_in_postgresql_part_2() {
    run_part(1);
}

#[test]
fn every_role_may_what_it_may_in_postgresql_part_3() {
    run_part(2);
}

#[test]
fn every_role_may_what_it_may_in_postgresql_part_4() {
    run_part(3);
}

/// What is known to differ is in the table, and has a reason.
#[test]
fn known_differences_are_in_the_table_and_have_reasons() {
    let table = cases(TABLE);
    let table: BTreeSet<_> = table.iter().map(|case| (case.kind, case.statement)).collect();
    for case in cases(KNOWN) {
        let name = format!("[{}] {}", case.kind, case.statement);
        assert!(table.contains(&(case.kind, case.statement)), "{name}: only in known.txt");
        assert!(case.reason.is_some(), "{name}: without a reason in known.txt");
    }
}
