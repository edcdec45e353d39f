//! What indexes cost: building one over a filled table, searching it, and inserting into it with one client and with many.
//!
//! Each kind has a table with one column and the same rows on every server. Synchronous commits are off, so that what is measured is the index and
//! not the disk. Servers take turns, several rounds; the figures are medians.
//!
//! * *build*: milliseconds of CREATE INDEX. PostgreSQL builds some kinds with parallel workers; it is timed with them, as it comes, and without.
//! * *search*: statements a second of one client that count what the index finds. Every server's plan is looked at first.
//! * *insert*: rows a second, a hundred a statement.
//!
//! Behind each figure stands the one by processor time of the server, which also holds where others use the machine meanwhile; work that a server leaves to its background counts there.

use crate::client::Client;
use crate::peers::Server;
use crate::pgbench::{Length, Script};
use crate::report::{self, Figure};

/// Clients of the second measurement of insertion.
const CROWD: u32 = 32;
/// Rows of one statement that inserts.
const BATCH: u32 = 100;
/// Statements of the client that inserts alone, and of each that does not.
const STATEMENTS: [u32; 2] = [1000, 60];

/// A kind of index.
struct Kind {
    name: &'static str,
    /// Type of the first column, and further columns.
    column: &'static str,
    /// The values of row `i`.
    value: &'static str,
    index: &'static str,
    /// Takes some of the rows, by `:at`, the number of one.
    condition: &'static str,
    /// What the index needs first.
    before: &'static str,
}

const NOTHING: &str = "select 1";

/// A number that does not follow `i`, below 2³¹; different for different `i`.
const SCATTERED: &str = "(i * 2654435761 % 2147483648)";

const KINDS: [Kind; 14] = [
    Kind {
        name: "btree int",
        column: "int",
        value: "{scattered}::int",
        index: "btree (v)",
        condition: "v between {scattered_at} and {scattered_at} + 5000000",
        before: NOTHING,
    },
    Kind {
        name: "btree text",
        column: "text",
        value: "md5(i::text)",
        index: "btree (v)",
        condition: "v between substr(md5(:at::text), 1, 3) and substr(md5(:at::text), 1, 3) || 'g'",
        before: NOTHING,
    },
    Kind {
        name: "btree text of ICU",
        column: "text collate \"en-x-icu\"",
        value: "md5(i::text)",
        index: "btree (v)",
        condition: "v between substr(md5(:at::text), 1, 3) and substr(md5(:at::text), 1, 3) || 'g'",
        before: NOTHING,
    },
    Kind {
        name: "btree int, int",
        column: "int, w int",
        value: "({scattered} % 1000)::int, {scattered}::int",
        index: "btree (v, w)",
        condition: "v = ({scattered_at} % 1000)::int",
        before: NOTHING,
    },
    Kind {
        name: "hash int",
        column: "int",
        value: "({scattered} % 100000)::int",
        index: "hash (v)",
        condition: "v = ({scattered_at} % 100000)::int",
        before: NOTHING,
    },
    Kind {
        name: "gin int[]",
        column: "int[]",
        value: "array[{scattered} % 1000, {scattered} / 7 % 10000, {scattered} / 11 % 100000, i % 10, i / 100]::int[]",
        index: "gin (v)",
        condition: "v @> array[{scattered_at} % 1000]::int[]",
        before: NOTHING,
    },
    Kind {
        name: "gin jsonb",
        column: "jsonb",
        value: "jsonb_build_object('group', {scattered} % 1000, 'name', md5((i / 10)::text), 'tags', jsonb_build_array(i % 7, {scattered} / 3 % 5000))",
        index: "gin (v)",
        condition: "v @> jsonb_build_object('tags', jsonb_build_array({scattered_at} / 3 % 5000))",
        before: NOTHING,
    },
    Kind {
        name: "gin tsvector",
        column: "tsvector",
        value: "array_to_tsvector(array['a' || i % 10, 'b' || {scattered} % 1000, 'c' || {scattered} / 7 % 10000, 'd' || {scattered} / 11 % 100000, 'e' || i % 300, 'f' || i / 100])",
        index: "gin (v)",
        condition: "v @@ ('b' || {scattered_at} % 1000 || ' & (a1 | a2 | e' || :at % 300 || ')')::tsquery",
        before: NOTHING,
    },
    Kind {
        name: "gin trigrams",
        column: "text",
        value: "md5(i::text)",
        index: "gin (v gin_trgm_ops)",
        condition: "v like '%' || substr(md5(:at::text), 5, 6) || '%'",
        before: "create extension if not exists pg_trgm",
    },
    Kind {
        name: "gist point",
        column: "point",
        value: "point({scattered} % 100000, {scattered} / 7 % 100000)",
        index: "gist (v)",
        condition: "v <@ box(point({scattered_at} % 100000, {scattered_at} / 7 % 100000), point({scattered_at} % 100000 + 3000, {scattered_at} / 7 % 100000 + 3000))",
        before: NOTHING,
    },
    Kind {
        name: "gist range",
        column: "int4range",
        value: "int4range({scattered}::int / 2, {scattered}::int / 2 + 1000)",
        index: "gist (v)",
        condition: "v && int4range({scattered_at}::int / 2, {scattered_at}::int / 2 + 1000000)",
        before: NOTHING,
    },
    Kind {
        name: "spgist point",
        column: "point",
        value: "point({scattered} % 100000, {scattered} / 7 % 100000)",
        index: "spgist (v)",
        condition: "v <@ box(point({scattered_at} % 100000, {scattered_at} / 7 % 100000), point({scattered_at} % 100000 + 3000, {scattered_at} / 7 % 100000 + 3000))",
        before: NOTHING,
    },
    Kind {
        name: "spgist text",
        column: "text",
        value: "md5(i::text)",
        index: "spgist (v)",
        condition: "v ^@ substr(md5(:at::text), 1, 3)",
        before: NOTHING,
    },
    Kind {
        name: "brin int",
        column: "int",
        value: "i::int",
        index: "brin (v)",
        condition: "v between :at::int and :at::int + 10000",
        before: NOTHING,
    },
];

impl Kind {
    fn filled(&self, pattern: &str) -> String {
        pattern
            .replace("{scattered_at}", &SCATTERED.replacen('i', ":at::int8", 1))
            .replace("{scattered}", SCATTERED)
    }

    fn search(&self) -> String {
        format!("select count(*) from indexed where {}", self.filled(self.condition))
    }

    fn rows(&self, first: &str, last: &str) -> String {
        let value = self.filled(self.value);
        format!("insert into indexed select {value} from generate_series({first}, {last}) i")
    }
}

/// What is measured, and whether it is a time, of which less is better.
const FIGURES: [(&str, bool); 5] = [
    ("build, ms", true),
    ("build without parallel workers, ms", true),
    ("search, statements/s", false),
    ("insert by 1 client, rows/s", false),
    ("insert by 32 clients, rows/s", false),
];

/// How often, and for how long.
pub struct Task<'a> {
    /// Only kinds whose name contains this.
    pub only: Option<&'a str>,
    /// Rows of each table.
    pub rows: u32,
    /// Rounds; every round runs every server once.
    pub rounds: u32,
    /// Seconds of one search.
    pub seconds: u32,
}

/// The chosen kinds; prints a table each.
pub fn run(servers: &[&Server], task: &Task<'_>) -> Result<(), String> {
    for kind in KINDS.iter().filter(|kind| task.only.is_none_or(|only| kind.name.contains(only))) {
        let of = |server: &Server, error: String| format!("{}: {}: {error}", kind.name, server.name);
        servers.iter().try_for_each(|server| make(server, kind, task.rows).map_err(|e| of(server, e)))?;
        let mut values = vec![FIGURES.map(|_| Vec::new()); servers.len()];
        for _ in 0..task.rounds {
            for (server, values) in servers.iter().zip(&mut values) {
                let round = measure(server, kind, task).map_err(|e| of(server, e))?;
                values.iter_mut().zip(round).for_each(|(values, value)| values.push(value));
            }
        }
        publish(servers, &format!("{}, {} rows", kind.name, task.rows), &values);
    }
    Ok(())
}

fn publish(servers: &[&Server], title: &str, values: &[[Vec<Figure>; FIGURES.len()]]) {
    println!("\n## Index: {title}\n");
    for (n, (what, is_time)) in FIGURES.iter().enumerate() {
        let figures: Vec<Vec<Figure>> = values.iter().map(|values| values[n].clone()).collect();
        println!("{what}: {}", report::beside(servers, &figures, *is_time));
    }
}

/// Makes the table, as every round finds it but for what rounds before have inserted.
fn make(server: &Server, kind: &Kind, rows: u32) -> Result<(), String> {
    let mut client = Client::connect(server)?;
    for statement in [
        "alter role postgres set synchronous_commit = off",
        "alter role postgres set enable_seqscan = off",
        "drop table if exists indexed",
        kind.before,
        &format!("create table indexed (v {})", kind.column),
        &kind.rows("1::int8", &format!("{rows}::int8")),
        "vacuum analyze indexed",
    ] {
        client.query(statement)?;
    }
    Ok(())
}

/// One round on one server.
fn measure(server: &Server, kind: &Kind, task: &Task<'_>) -> Result<[Figure; FIGURES.len()], String> {
    let mut client = Client::connect(server)?;
    let with_workers = build(server, &mut client, kind)?;
    let alone = if server.name == "Stampede" {
        with_workers
    } else {
        client.query("set max_parallel_maintenance_workers = 0")?;
        build(server, &mut client, kind)?
    };
    client.query("vacuum analyze indexed")?;
    client.query("checkpoint")?;
    let search = kind.search();
    check_plan(&mut client, &search.replace(":at", "12345"))?;
    let search = Script::new("search", &format!("\\set at random(1, {})\n{search};\n", task.rows))?;
    let searched = rate(server, &search, 1, Length::Seconds(task.seconds), 1.0)?;
    let rows = kind.rows(":at::int8", &format!(":at::int8 + {}", BATCH - 1));
    let insert = format!("\\set at random({}, 2000000000)\n{rows};\n", task.rows);
    let insert = Script::new("insert", &insert)?;
    let inserted = |clients, statements| {
        rate(server, &insert, clients, Length::Transactions(statements), f64::from(BATCH))
    };
    let by_one = inserted(1, STATEMENTS[0])?;
    let by_crowd = inserted(CROWD, STATEMENTS[1])?;
    Ok([with_workers, alone, searched, by_one, by_crowd])
}

/// How fast a script is run, whose every statement counts as so many.
fn rate(server: &Server, script: &Script, clients: u32, length: Length, each: f64) -> Result<Figure, String> {
    let before = server.processor_seconds();
    let figures = script.run(server, clients, length)?;
    let taken = server.processor_seconds() - before;
    Ok(Figure::rate(figures.tps * each, figures.counts[0] * each, taken))
}

/// Milliseconds of CREATE INDEX.
fn build(server: &Server, client: &mut Client, kind: &Kind) -> Result<Figure, String> {
    client.query("drop index if exists indexed_v")?;
    client.query("checkpoint")?;
    Figure::milliseconds(server, || {
        client.query(&format!("create index indexed_v on indexed using {}", kind.index)).map(drop)
    })
}

/// Fails unless the statement reads the index.
fn check_plan(client: &mut Client, statement: &str) -> Result<(), String> {
    let plan = client.query(&format!("explain {statement}"))?;
    let lines: Vec<String> = plan.into_iter().flatten().flatten().collect();
    if lines.iter().any(|line| line.contains("indexed_v")) {
        return Ok(());
    }
    Err(format!("does not use the index:\n{}", lines.join("\n")))
}
