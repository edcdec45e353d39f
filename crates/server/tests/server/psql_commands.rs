//! psql's commands with a backslash, on a schema with every kind of object that there is.
//!
//! `psql/schema.sql` makes the schema, `psql/commands.sql` asks about it; `psql/expected.txt` is what psql 15 printed on a fresh
//! PostgreSQL 18. To renew it: `cat schema.sql commands.sql | psql -X -a postgres 2>&1`, with the number in `pg_temp_N` replaced.

use std::fs::File;
use std::io::Write;
use std::process::Stdio;

use crate::support::{Server, has, output, text};

const SCHEMA: &str = include_str!("psql/schema.sql");
const COMMANDS: &str = include_str!("psql/commands.sql");
const EXPECTED: &str = include_str!("psql/expected.txt");

/// Catalogs, each with the columns that psql 15 to 18 read.
const COLUMNS: &str = include_str!("psql/columns.txt");
/// Functions that psql 15 to 18 call.
const FUNCTIONS: &str = include_str!("psql/functions.txt");

#[test]
fn every_command_prints_what_it_prints_with_postgresql() {
    if !has("psql") {
        return;
    }
    let server = Server::start(&[]);
    let version = text(&output(server.tool("psql").arg("--version")));
    if !version.contains(" 15.") {
        eprintln!("skipped: the expected output is that of psql 15, not of {version}");
        return;
    }
    let mut psql = server.tool("psql");
    psql.args(["-X", "-a", "postgres"]).stdin(Stdio::piped());
    // One pipe for both, so that errors stay where they belong.
    let path = server.file("psql.out");
    let out = File::create(&path).unwrap();
    psql.stdout(out.try_clone().unwrap()).stderr(out);
    let mut child = psql.spawn().unwrap();
    child.stdin.take().unwrap().write_all(format!("{SCHEMA}{COMMANDS}").as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    let said = temporary_schema(&std::fs::read_to_string(path).unwrap());
    let widths = widths_that_vary(EXPECTED);
    for (line, (ours, theirs)) in said.lines().zip(EXPECTED.lines()).enumerate() {
        let shown = |line: &str, varies: bool| if varies { narrow(line) } else { line.to_owned() };
        assert_eq!(
            shown(ours, widths[line]),
            shown(theirs, widths[line]),
            "line {} of expected.txt",
            line + 1
        );
    }
    assert_eq!(said.lines().count(), EXPECTED.lines().count());
}

/// For each line, whether it is in a table with the number of a session in a column, which may have more digits or fewer.
fn widths_that_vary(expected: &str) -> Vec<bool> {
    let lines: Vec<&str> = expected.lines().collect();
    let tables = lines.split_inclusive(|line| line.is_empty());
    tables
        .flat_map(|table| {
            let varies = table.iter().any(|line| line.contains("pg_temp_N"));
            vec![varies; table.len()]
        })
        .collect()
}

/// A line as it is in a table of any width.
fn narrow(line: &str) -> String {
    let mut narrow = String::new();
    for c in line.trim().chars() {
        if !(matches!(c, ' ' | '-') && narrow.ends_with(c)) {
            narrow.push(c);
        }
    }
    narrow
}

/// `pg_temp_` and the number of a session, without the number.
fn temporary_schema(said: &str) -> String {
    let mut parts = said.split("pg_temp_");
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        shown.push_str("pg_temp_N");
        shown.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    shown
}

#[test]
fn what_any_psql_asks_of_the_catalogs_is_there() {
    let server = Server::start(&[]);
    let mut client = server.client();
    for line in COLUMNS.lines() {
        let (catalog, columns) = line.split_once(' ').unwrap();
        let sql = format!("select {} from pg_catalog.{catalog} limit 0", columns.replace(' ', ", "));
        let asked = client.query(&sql);
        assert!(asked.is_ok(), "{sql}: {asked:?}");
    }
    for function in FUNCTIONS.lines() {
        let found = client.value(&format!("select to_regprocedure('{function}') is not null"));
        assert_eq!(found, "t", "{function}");
    }
}
