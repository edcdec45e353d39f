//! The server's log: statements, durations, errors with their statements, connections. Lines as PostgreSQL 18 wrote them for the same messages.

use crate::support::client::message;
use crate::support::{Client, Server, until};

/// What the extended protocol sends.
struct Extended<'a>(&'a mut Client);

impl Extended<'_> {
    fn parse(&mut self, name: &str, text: &str) -> &mut Self {
        self.send(b'P', &[name.as_bytes(), b"\0", text.as_bytes(), b"\0\0\0"])
    }

    fn bind(&mut self, portal: &str, name: &str, values: &[Option<&str>]) -> &mut Self {
        let mut body = [portal.as_bytes(), b"\0", name.as_bytes(), b"\0\0\0"].concat();
        body.extend((values.len() as u16).to_be_bytes());
        for value in values {
            body.extend(value.map_or(-1, |text| text.len() as i32).to_be_bytes());
            body.extend(value.unwrap_or_default().bytes());
        }
        self.send(b'B', &[&body, b"\0\0"])
    }

    fn execute(&mut self, portal: &str, rows: u32) -> &mut Self {
        self.send(b'E', &[portal.as_bytes(), b"\0", &rows.to_be_bytes()])
    }

    /// An error is for the log to tell.
    fn sync(&mut self) {
        self.send(b'S', &[]);
        while self.0.message().unwrap().0 != b'Z' {}
    }

    fn run(&mut self, text: &str, values: &[Option<&str>]) {
        self.parse("", text).bind("", "", values).execute("", 0).sync();
    }

    fn send(&mut self, kind: u8, parts: &[&[u8]]) -> &mut Self {
        self.0.send(&message(kind, &parts.concat())).unwrap();
        self
    }
}

/// The log since `start`, with durations taken for one, after all that the client did.
fn lines(server: &Server, start: usize) -> Vec<String> {
    let log = server.log();
    log[start..]
        .lines()
        .map(|line| match line.strip_prefix("LOG:  duration: ").and_then(|rest| rest.split_once(" ms")) {
            Some((figure, rest)) => {
                let (whole, thousandths) = figure.split_once('.').expect("a point");
                assert!(whole.parse::<u32>().unwrap() < 60_000 && thousandths.len() == 3, "{line}");
                format!("LOG:  duration: N ms{rest}")
            }
            None => line.to_owned(),
        })
        .collect()
}

fn quiet() -> Server {
    Server::start(&["log_line_prefix=", "max_prepared_transactions=1"])
}

fn attempt(client: &mut Client, statement: &str) {
    let _ = client.query(statement);
}

#[test]
fn statements_by_what_they_do() {
    let server = quiet();
    let mut client = server.client();
    client
        .query("create table t (a int); prepare p as select $1::int; prepare c as insert into t values ($1)")
        .unwrap();
    let all = [
        "select 1",
        "insert into t values (2)",
        "create table u ()",
        "explain analyze insert into t values (3)",
        "explain insert into t values (3)",
        "execute p(3)",
        "execute c(3)",
        "truncate u",
        "select 1 into v",
        "begin",
        "commit",
        "select 1; select 2",
        "",
    ];
    let run = |client: &mut Client, kind: &str| {
        client.query(&format!("set log_statement = '{kind}'")).unwrap();
        let start = server.log().len();
        all.iter().for_each(|statement| attempt(client, statement));
        client.query("set log_statement = none; drop table u, v").unwrap();
        let told = lines(&server, start);
        told.into_iter().filter(|line| !line.contains("drop table")).collect::<Vec<_>>()
    };
    assert_eq!(
        run(&mut client, "ddl"),
        ["LOG:  statement: create table u ()", "LOG:  statement: select 1 into v"]
    );
    assert_eq!(
        run(&mut client, "mod"),
        [
            "LOG:  statement: insert into t values (2)",
            "LOG:  statement: create table u ()",
            "LOG:  statement: explain analyze insert into t values (3)",
            "LOG:  statement: execute c(3)",
            "DETAIL:  prepare: create table t (a int); prepare p as select $1::int; prepare c as insert into t values ($1)",
            "LOG:  statement: truncate u",
            "LOG:  statement: select 1 into v",
        ]
    );
    assert_eq!(run(&mut client, "none"), [""; 0]);
    let told = run(&mut client, "all");
    let statements = told.iter().filter_map(|line| line.strip_prefix("LOG:  statement: "));
    assert_eq!(statements.collect::<Vec<_>>(), all);
}

#[test]
fn messages_of_the_extended_protocol() {
    let server = quiet();
    let mut client = server.client();
    client.query("create table t (a int)").unwrap();
    client.query("set log_statement = 'all'").unwrap();
    let start = server.log().len();
    let mut extended = Extended(&mut client);
    extended.run("select $1::int, $2::text", &[Some("4"), Some("it's")]);
    extended.run("select 1", &[]);
    extended.parse("nm", "select generate_series(1, $1::int)").bind("po", "nm", &[Some("5")]);
    extended.execute("po", 2).execute("po", 0).sync();
    extended.bind("", "nm", &[None]).execute("", 0).sync();
    extended.run("", &[]);
    assert_eq!(
        lines(&server, start),
        [
            "LOG:  execute <unnamed>: select $1::int, $2::text",
            "DETAIL:  Parameters: $1 = '4', $2 = 'it''s'",
            "LOG:  execute <unnamed>: select 1",
            "LOG:  execute nm/po: select generate_series(1, $1::int)",
            "DETAIL:  Parameters: $1 = '5'",
            "LOG:  execute fetch from nm/po: select generate_series(1, $1::int)",
            "DETAIL:  Parameters: $1 = '5'",
            "LOG:  execute nm: select generate_series(1, $1::int)",
            "DETAIL:  Parameters: $1 = NULL",
        ]
    );
    client.query("set log_statement = 'mod'; set log_parameter_max_length = 3").unwrap();
    let start = server.log().len();
    let mut extended = Extended(&mut client);
    extended.run("select 1", &[]);
    extended.run("insert into t select length($1)", &[Some("long long")]);
    assert_eq!(
        lines(&server, start),
        ["LOG:  execute <unnamed>: insert into t select length($1)", "DETAIL:  Parameters: $1 = 'lon...'"]
    );
}

#[test]
fn durations() {
    let server = quiet();
    let mut client = server.client();
    client.query("create table t (a int)").unwrap();
    let start = server.log().len();
    client.query("set log_duration = on").unwrap();
    client.query("select 1").unwrap();
    Extended(&mut client).run("select 3", &[]);
    assert_eq!(lines(&server, start), ["LOG:  duration: N ms"; 5]);
    client
        .query("set log_duration = off; set log_min_duration_statement = 0; set log_statement = 'mod'")
        .unwrap();
    let start = server.log().len();
    client.query("select 5").unwrap();
    client.query("insert into t values (1)").unwrap();
    let mut extended = Extended(&mut client);
    extended.run("insert into t values ($1)", &[Some("4")]);
    extended.run("select 3 + $1::int", &[Some("7")]);
    attempt(&mut client, "select 1/0");
    let expected = [
        "LOG:  duration: N ms  statement: select 5",
        "LOG:  statement: insert into t values (1)",
        "LOG:  duration: N ms",
        "LOG:  duration: N ms  parse <unnamed>: insert into t values ($1)",
        "LOG:  duration: N ms  bind <unnamed>: insert into t values ($1)",
        "DETAIL:  Parameters: $1 = '4'",
        "LOG:  execute <unnamed>: insert into t values ($1)",
        "DETAIL:  Parameters: $1 = '4'",
        "LOG:  duration: N ms",
        "LOG:  duration: N ms  parse <unnamed>: select 3 + $1::int",
        "LOG:  duration: N ms  bind <unnamed>: select 3 + $1::int",
        "DETAIL:  Parameters: $1 = '7'",
        "LOG:  duration: N ms  execute <unnamed>: select 3 + $1::int",
        "DETAIL:  Parameters: $1 = '7'",
        "ERROR:  division by zero",
        "STATEMENT:  select 1/0",
    ];
    assert_eq!(lines(&server, start), expected);
    client.query("set log_min_duration_statement = '1h'; set log_statement = 'none'").unwrap();
    let start = server.log().len();
    client.query("select 5").unwrap();
    assert_eq!(lines(&server, start), [""; 0]);
}

#[test]
fn errors_with_their_statements() {
    let server = quiet();
    let mut client = server.client();
    let start = server.log().len();
    attempt(&mut client, "syntax error");
    attempt(&mut client, "select 1/0;\nselect 2");
    let mut extended = Extended(&mut client);
    extended.run("selec 1", &[]);
    extended.run("select 5/$1::int", &[Some("0")]);
    extended.run("select $1::int", &[Some("x")]);
    extended.run("insert into pg_temp.nope values (1)", &[]);
    extended.bind("", "none", &[]).sync();
    client.query("set log_parameter_max_length_on_error = 2").unwrap();
    let mut extended = Extended(&mut client);
    extended.run("select 1/$1::int, $2::text", &[Some("0"), Some("abcdef")]);
    extended.run("select $1::int", &[Some("xyz")]);
    client.query("set log_min_error_statement = panic").unwrap();
    attempt(&mut client, "select 1/0");
    client.query("set log_min_error_statement = fatal").unwrap();
    client
        .query("do 'begin raise warning $$beware$$; raise notice $$not this$$; raise log $$this$$; end'")
        .unwrap();
    attempt(&mut client, "select pg_terminate_backend(pg_backend_pid()), pg_sleep(60)");
    assert_eq!(
        lines(&server, start),
        [
            "ERROR:  syntax error at or near \"syntax\" at character 1",
            "STATEMENT:  syntax error",
            "ERROR:  division by zero",
            "STATEMENT:  select 1/0;",
            "\tselect 2",
            "ERROR:  syntax error at or near \"selec\" at character 1",
            "STATEMENT:  selec 1",
            "ERROR:  division by zero",
            "STATEMENT:  select 5/$1::int",
            "ERROR:  invalid input syntax for type integer: \"x\"",
            "CONTEXT:  unnamed portal parameter $1 = '...'",
            "STATEMENT:  select $1::int",
            "ERROR:  relation \"pg_temp.nope\" does not exist at character 13",
            "STATEMENT:  insert into pg_temp.nope values (1)",
            "ERROR:  prepared statement \"none\" does not exist",
            "ERROR:  division by zero",
            "CONTEXT:  unnamed portal with parameters: $1 = '0', $2 = 'ab...'",
            "STATEMENT:  select 1/$1::int, $2::text",
            "ERROR:  invalid input syntax for type integer: \"xyz\"",
            "CONTEXT:  unnamed portal parameter $1 = 'xy...'",
            "STATEMENT:  select $1::int",
            "ERROR:  division by zero",
            "WARNING:  beware",
            "CONTEXT:  PL/pgSQL function inline_code_block line 1 at RAISE",
            "LOG:  this",
            "CONTEXT:  PL/pgSQL function inline_code_block line 1 at RAISE",
            "FATAL:  terminating connection due to administrator command",
            "STATEMENT:  select pg_terminate_backend(pg_backend_pid()), pg_sleep(60)",
        ]
    );
}

#[test]
fn how_much_is_said_of_an_error() {
    for (verbosity, expected) in [
        (
            "terse",
            ["ERROR:  no", "STATEMENT:  do 'begin raise using message = $$no$$, detail = $$d$$; end'", ""],
        ),
        (
            "verbose",
            [
                "ERROR:  P0001: no",
                "DETAIL:  d",
                "CONTEXT:  PL/pgSQL function inline_code_block line 1 at RAISE",
            ],
        ),
    ] {
        let server = Server::start(&["log_line_prefix=", &format!("log_error_verbosity={verbosity}")]);
        let start = server.log().len();
        attempt(&mut server.client(), "do 'begin raise using message = $$no$$, detail = $$d$$; end'");
        let told = lines(&server, start);
        assert_eq!(told[..2], expected[..2]);
        assert_eq!(told.get(2).map_or("", |line| line), expected[2]);
    }
}

#[test]
fn a_connection_has_its_number_from_the_beginning() {
    let server = Server::start(&["log_line_prefix=%p ", "log_connections=all"]);
    let start = server.log().len();
    let pid = server.client().value("select pg_backend_pid()");
    until("it is told", || server.log()[start..].contains("connection authorized"));
    let log = server.log();
    let told: Vec<_> = log[start..].lines().filter(|line| line.contains("LOG:  connection")).collect();
    assert!(told[0].contains("received") && told.len() > 2, "{log}");
    assert!(told.iter().all(|line| line.starts_with(&format!("{pid} "))), "{log}");
    let _ = server.connect(&[("user", "nobody")]);
    until("it is refused", || server.log().contains("FATAL:"));
    let next = pid.parse::<i32>().unwrap() + 1;
    assert!(server.log().contains(&format!("\n{next} FATAL:")), "{}", server.log());
}

#[test]
fn connections_and_their_ends() {
    let server = Server::start(&["log_line_prefix=", "log_connections=all", "log_disconnections=on"]);
    let start = server.log().len();
    let client = server.connect(&[("application_name", "app")]).unwrap();
    until("it is ready", || server.log()[start..].contains("LOG:  connection ready: "));
    let _ = server.connect(&[("database", "nowhere")]);
    drop(client);
    until("it is told", || server.log()[start..].contains("LOG:  disconnection: session time: 0:00:0"));
    let log = server.log();
    let told: Vec<_> = log[start..].lines().collect();
    let port = told[0].rsplit_once('=').unwrap().1;
    assert_eq!(told[0], format!("LOG:  connection received: host=127.0.0.1 port={port}"));
    assert!(
        told[1].starts_with("LOG:  connection authenticated: user=\"postgres\" method=trust (/"),
        "{log}"
    );
    assert!(told[1].contains("pg_hba.conf:"), "{log}");
    assert_eq!(told[2], "LOG:  connection authorized: user=postgres database=postgres application_name=app");
    assert!(told[3].starts_with("LOG:  connection ready: setup total="), "{log}");
    assert!(log.contains("LOG:  connection authorized: user=postgres database=nowhere\n"), "{log}");
    assert!(log.contains("FATAL:  database \"nowhere\" does not exist\n"), "{log}");
    let end = format!(" user=postgres database=postgres host=127.0.0.1 port={port}\n");
    assert!(log.contains(&end), "{log}");
}
