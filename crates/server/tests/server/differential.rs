//! Random queries must have one answer: under every choice of the planner, with much memory and with little, and, where
//! there is one to ask, the answer of PostgreSQL 18.
//!
//! A query and what it is taken apart into must have one answer too.
//!
//! `STAMPEDE_PEER` is the port of a PostgreSQL server on 127.0.0.1 that lets `postgres` in; a database of the test's own is
//! made there and dropped. `STAMPEDE_DIFFERENTIAL_QUERIES` and `STAMPEDE_DIFFERENTIAL_SEED` make the run longer or another;
//! `STAMPEDE_DIFFERENTIAL_WAYS` leaves only those of [`PROFILES`] whose names contain one of its words.

mod generate;
mod schema;

use crate::support::{Client, Failure, Server, knob};
use generate::{Generator, Query};

/// Ways to run a query; the settings come on top of those of all.
const PROFILES: &[(&str, &[(&str, &str)])] = &[
    ("as it is", &[]),
    ("little memory", &[("work_mem", "64kB")]),
    ("nested loops", &[("enable_hashjoin", "off"), ("enable_mergejoin", "off"), ("enable_memoize", "off")]),
    ("merge joins", &[("enable_hashjoin", "off"), ("enable_nestloop", "off"), ("enable_hashagg", "off")]),
    (
        "hash joins, little memory",
        &[
            ("enable_mergejoin", "off"),
            ("enable_nestloop", "off"),
            ("enable_indexscan", "off"),
            ("work_mem", "64kB"),
        ],
    ),
    (
        "indexes and sorts",
        &[
            ("enable_seqscan", "off"),
            ("enable_hashagg", "off"),
            ("work_mem", "64kB"),
            ("enable_bitmapscan", "off"),
        ],
    ),
    ("rows", &[("stampede.batch_execution", "off")]),
    ("by partitions", &[("enable_partitionwise_join", "on"), ("enable_memoize", "off")]),
    ("batches", BATCHES),
    ("workers, rows", &[("stampede.batch_execution", "off"), SETUP, ROW, SIZE, INDEX_SIZE, WORKERS, FORCED]),
    ("workers, batches", &[BATCHES[0], BATCHES[1], SETUP, ROW, SIZE, INDEX_SIZE, WORKERS]),
];

/// Even small tables cost what scans by columns are for; rows are hashed, since only hash joins and hash aggregates take columns.
const BATCHES: &[(&str, &str)] = &[("cpu_tuple_cost", "10"), ("enable_mergejoin", "off")];

/// Even small tables are read by several, and what they could not share is run by one.
const SETUP: (&str, &str) = ("parallel_setup_cost", "0");
const ROW: (&str, &str) = ("parallel_tuple_cost", "0");
const SIZE: (&str, &str) = ("min_parallel_table_scan_size", "0");
const INDEX_SIZE: (&str, &str) = ("min_parallel_index_scan_size", "0");
const WORKERS: (&str, &str) = ("max_parallel_workers_per_gather", "3");
const FORCED: (&str, &str) = ("debug_parallel_query", "on");

/// Settings of every session.
const COMMON: &[(&str, &str)] = &[
    ("timezone", "UTC"),
    ("datestyle", "ISO"),
    ("intervalstyle", "postgres"),
    ("extra_float_digits", "1"),
    ("statement_timeout", "2s"),
    ("jit", "off"),
];

/// What a server said.
#[derive(Clone, PartialEq, Debug)]
enum Answer {
    Rows(Vec<String>),
    /// SQLSTATE and message.
    Error(String, String),
    /// The connection is gone, which is never right.
    Lost,
}

impl Answer {
    fn of(client: &mut Client, query: &Query) -> Answer {
        match client.query(&query.text) {
            Ok(rows) => {
                let mut lines: Vec<String> = rows.into_iter().map(line).collect();
                if !query.ordered {
                    lines.sort();
                }
                Answer::Rows(lines)
            }
            Err(Failure::Error { code, message, .. }) => Answer::Error(code, message),
            Err(Failure::Lost) => Answer::Lost,
        }
    }

    /// Whether both are right if one is: the plan decides which row meets an error in the data first, or whether one does.
    fn agrees(&self, other: &Answer) -> bool {
        match (self, other) {
            (Answer::Rows(one), Answer::Rows(other)) => one == other,
            // What is wrong with a query itself does not depend on the plan, and is said in the same words.
            (Answer::Error(one, words), Answer::Error(other, others)) => {
                let of_data = |code: &str| code.starts_with("22");
                of_data(one) && of_data(other) || one == other && (!one.starts_with("42") || words == others)
            }
            (Answer::Lost, _) | (_, Answer::Lost) => false,
            (Answer::Error(code, _), _) | (_, Answer::Error(code, _)) => code.starts_with("22"),
        }
    }

    fn timed_out(&self) -> bool {
        matches!(self, Answer::Error(code, _) if code == "57014")
    }

    /// PostgreSQL refuses FULL JOIN where its plan has no condition to hash or merge by, and another plan has one.
    fn depends_on_plan(&self) -> bool {
        matches!(self, Answer::Error(_, words) if words.starts_with("FULL JOIN is only supported"))
    }

    /// The query is wrong by itself.
    fn is_refused(&self) -> bool {
        matches!(self, Answer::Error(code, _) if code.starts_with("42"))
    }

    /// An internal error: as PostgreSQL's answer it is a fault of its own.
    fn is_internal(&self) -> bool {
        matches!(self, Answer::Error(code, _) if code == "XX000")
    }
}

fn line(row: Vec<Option<String>>) -> String {
    let shown = row.into_iter().map(|value| value.unwrap_or_else(|| "∅".to_string()));
    shown.collect::<Vec<_>>().join("|")
}

/// PostgreSQL, with a database that goes away with it.
struct Peer {
    port: u16,
    database: String,
    client: Option<Client>,
}

impl Peer {
    fn new(port: u16) -> Peer {
        let mut owner = Client::connect(port, &[]).expect("the peer");
        let database = format!("stampede_differential_{}", std::process::id());
        owner.query(&format!("drop database if exists {database}")).unwrap();
        owner.query(&format!("create database {database} template template0 locale '{LOCALE}'")).unwrap();
        let parameters = [&[("database", database.as_str())], COMMON].concat();
        let client = Client::connect(port, &parameters).unwrap();
        Peer { port, database, client: Some(client) }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.client = None;
        if let Ok(mut owner) = Client::connect(self.port, &[]) {
            let _ = owner.query(&format!("drop database if exists {} with (force)", self.database));
        }
    }
}

/// What differs, for the one who looks into it.
fn difference(query: &Query, first: (&str, &Answer), second: (&str, &Answer)) -> String {
    let text = |answer: &Answer| match answer {
        Answer::Error(code, message) => format!("  {code} {message}"),
        Answer::Lost => "  the connection is lost".into(),
        Answer::Rows(rows) => {
            let other = if std::ptr::eq(answer, first.1) { second.1 } else { first.1 };
            let only = |row: &&String| !matches!(other, Answer::Rows(others) if others.contains(row));
            let some: Vec<&str> = rows.iter().filter(only).take(5).map(String::as_str).collect();
            format!("  {} rows, among them\n    {}", rows.len(), some.join("\n    "))
        }
    };
    format!("{};\n-- {}\n{}\n-- {}\n{}\n", query.text, first.0, text(first.1), second.0, text(second.1))
}

/// A session for each of [`PROFILES`].
fn sessions(server: &Server) -> Vec<(&'static str, Client)> {
    let session = |settings: &[_]| server.connect(&[COMMON, settings].concat()).unwrap();
    let wanted = std::env::var("STAMPEDE_DIFFERENTIAL_WAYS").ok();
    let is_wanted = |name: &str| {
        wanted.as_ref().is_none_or(|words| words.split_whitespace().any(|word| name.contains(word)))
    };
    let profiles = PROFILES.iter().filter(|(name, _)| is_wanted(name));
    profiles.map(|(name, settings)| (*name, session(settings))).collect()
}

/// Makes the tables, however long that takes.
fn fill(client: &mut Client) {
    let mut run = |statement: &str| {
        client.query(statement).unwrap_or_else(|error| panic!("{statement}: {error:?}"));
    };
    run("set statement_timeout = 0");
    schema::statements().iter().for_each(|statement| run(statement));
    run("reset statement_timeout");
}

/// Letters are Unicode's and are ordered by code points, whatever the environment says.
const LOCALE: &str = "C.UTF-8";

fn server() -> Server {
    let mut server = Server::init(&[&format!("--locale={LOCALE}")]);
    server.run();
    server
}

#[test]
fn one_answer_to_every_query() {
    let count = knob("STAMPEDE_DIFFERENTIAL_QUERIES", 30);
    let seed = knob("STAMPEDE_DIFFERENTIAL_SEED", 3);
    let mut server = server();
    let mut peer = std::env::var("STAMPEDE_PEER").ok().map(|port| Peer::new(port.parse().expect("a port")));
    let mut clients = sessions(&server);
    fill(&mut clients[0].1);
    if let Some(peer) = &mut peer {
        fill(peer.client.as_mut().unwrap());
    }
    let mut generator = Generator::new(seed);
    let (mut differences, mut errors, mut slow) = (0, 0, 0);
    for _ in 0..count {
        let query = generator.next();
        let mut reference =
            peer.as_mut().map(|peer| ("PostgreSQL", Answer::of(peer.client.as_mut().unwrap(), &query)));
        let is_no_answer =
            |answer: &Answer| answer.timed_out() || answer.depends_on_plan() || answer.is_internal();
        if reference.as_ref().is_some_and(|(_, answer)| is_no_answer(answer)) {
            continue;
        }
        let mut lost = false;
        for (name, client) in &mut clients {
            let answer = Answer::of(client, &query);
            lost |= answer == Answer::Lost;
            errors += usize::from(matches!(answer, Answer::Error(..)));
            if answer.timed_out() {
                slow += 1;
                println!("too slow, {name}: {};", query.text);
                break;
            }
            match &reference {
                Some((other, expected)) if !expected.agrees(&answer) => {
                    differences += 1;
                    println!("{}", difference(&query, (other, expected), (name, &answer)));
                    break;
                }
                Some(_) => {}
                None => reference = Some((name, answer)),
            }
        }
        if lost {
            if server.connect(&[]).is_err() {
                println!("the server ended: {}", server.log());
                server.wait();
                server.run();
            }
            clients = sessions(&server);
        }
    }
    println!(
        "{count} queries, {} ways: {differences} differences, {errors} errors, {slow} too slow",
        clients.len()
    );
    assert_eq!(differences, 0);
}

#[test]
fn queries_taken_apart_have_the_same_rows() {
    let count = knob("STAMPEDE_DIFFERENTIAL_QUERIES", 30);
    let mut generator = Generator::new(knob("STAMPEDE_DIFFERENTIAL_SEED", 3));
    let server = server();
    let mut client = server.connect(COMMON).unwrap();
    fill(&mut client);
    let mut differences = 0;
    for _ in 0..count {
        let (whole, parts) = generator.taken_apart();
        let answers = [&whole, &parts].map(|query| Answer::of(&mut client, query));
        if answers.contains(&Answer::Lost) {
            client = server.connect(COMMON).expect("the server ended");
        }
        if answers.iter().any(|answer| answer.timed_out() || answer.depends_on_plan() || answer.is_refused())
        {
            continue;
        }
        if answers.iter().any(Answer::is_internal) || !answers[0].agrees(&answers[1]) {
            differences += 1;
            println!("{}", difference(&whole, ("whole", &answers[0]), (&parts.text, &answers[1])));
        }
    }
    println!("{count} queries taken apart: {differences} differences");
    assert_eq!(differences, 0);
}
