//! What moving many rows costs: loading, copying, unloading, deleting, and what follows a load: indexes, keys, a new column.
//!
//! Each case is one statement of one client (or one run of `pgbench -i`), timed as the client sees it, with what goes before it untimed. Files of
//! COPY are the server's own. Servers take turns, several rounds; the figures are medians of milliseconds, by the clock and by processor time of the
//! server. What a statement leaves is counted and compared.

use crate::client::Client;
use crate::peers::Server;
use crate::pgbench;
use crate::report::{self, Figure};

/// The rows to move and the rows that they refer to; `:n` is the number of rows.
const SETUP: &str = "
    drop table if exists bulk_rows, bulk_owners cascade;
    create table bulk_owners (id int primary key, name text);
    insert into bulk_owners select g, 'owner ' || g from generate_series(0, 9999) g;
    create table bulk_rows (id int, owner int, at timestamp, amount numeric(12, 2), f float8, name text, note text);
    insert into bulk_rows select g, g * 7919::bigint % 10000, timestamp '2024-01-01' + g * interval '17.25 seconds', (g % 100000) / 100.0, g * 0.25,
        md5(g::text), case g % 5 when 0 then null else 'note' || g % 100 end from generate_series(1, :n) g";

/// A table like the one that is moved, without rows.
const EMPTY: &str = "drop table if exists moved cascade; create table moved (like bulk_rows)";
/// One with them.
const FILLED: &str = "drop table if exists moved cascade; create table moved as select * from bulk_rows";

struct Case {
    name: &'static str,
    /// What goes before.
    before: &'static [&'static str],
    /// What is timed; `:file` is where files may be. `pgbench -i` if there is none.
    timed: Option<&'static str>,
    /// Counts what is there then.
    check: &'static str,
}

const COUNT: &str = "select count(*) || ' ' || sum(id) || ' ' || count(note) from moved";

const CASES: [Case; 17] = [
    Case {
        name: "COPY TO, text",
        before: &[],
        timed: Some("copy bulk_rows to ':file'"),
        check: "select size from pg_stat_file(':file')",
    },
    Case {
        name: "COPY FROM, text",
        before: &[EMPTY, "copy bulk_rows to ':file'"],
        timed: Some("copy moved from ':file'"),
        check: COUNT,
    },
    Case {
        name: "COPY TO, csv",
        before: &[],
        timed: Some("copy bulk_rows to ':file' (format csv)"),
        check: "select size from pg_stat_file(':file')",
    },
    Case {
        name: "COPY FROM, csv",
        before: &[EMPTY, "copy bulk_rows to ':file' (format csv)"],
        timed: Some("copy moved from ':file' (format csv)"),
        check: COUNT,
    },
    Case {
        name: "COPY TO, ints",
        before: &[],
        timed: Some("copy bulk_rows (id, owner) to ':file'"),
        check: "select size from pg_stat_file(':file')",
    },
    Case {
        name: "COPY FROM, ints",
        before: &[
            "drop table if exists moved; create table moved (id int, note int)",
            "copy bulk_rows (id, owner) to ':file'",
        ],
        timed: Some("copy moved from ':file'"),
        check: COUNT,
    },
    Case {
        name: "COPY FROM, with primary key",
        before: &[EMPTY, "alter table moved add primary key (id)", "copy bulk_rows to ':file'"],
        timed: Some("copy moved from ':file'"),
        check: COUNT,
    },
    Case {
        name: "COPY FROM, with CHECK",
        before: &[EMPTY, "alter table moved add check (amount >= 0)", "copy bulk_rows to ':file'"],
        timed: Some("copy moved from ':file'"),
        check: COUNT,
    },
    Case {
        name: "COPY FROM, with foreign key",
        before: &[
            EMPTY,
            "alter table moved add foreign key (owner) references bulk_owners",
            "copy bulk_rows to ':file'",
        ],
        timed: Some("copy moved from ':file'"),
        check: COUNT,
    },
    Case {
        name: "CREATE TABLE AS",
        before: &["drop table if exists moved cascade"],
        timed: Some("create table moved as select * from bulk_rows"),
        check: COUNT,
    },
    Case {
        name: "INSERT … SELECT",
        before: &[EMPTY],
        timed: Some("insert into moved select * from bulk_rows"),
        check: COUNT,
    },
    Case {
        name: "DELETE of a fifth",
        before: &[FILLED],
        timed: Some("delete from moved where id % 5 = 0"),
        check: COUNT,
    },
    Case {
        name: "CREATE INDEX, int",
        before: &[FILLED],
        timed: Some("create index on moved (owner)"),
        check: COUNT,
    },
    Case {
        name: "CREATE INDEX, text",
        before: &[FILLED],
        timed: Some("create index on moved (name)"),
        check: COUNT,
    },
    Case {
        name: "ADD FOREIGN KEY",
        before: &[FILLED],
        timed: Some("alter table moved add foreign key (owner) references bulk_owners"),
        check: COUNT,
    },
    Case {
        name: "ADD COLUMN with a default",
        before: &[FILLED],
        timed: Some("alter table moved add column more int default 7"),
        check: "select count(*) || ' ' || sum(more) from moved",
    },
    Case {
        name: "pgbench -i",
        before: &[],
        timed: None,
        check: "select count(*) || ' ' || sum(abalance) from pgbench_accounts",
    },
];

/// Rows that `pgbench -i` makes for one of its scale.
const ROWS_OF_SCALE: u32 = 100_000;

impl Case {
    /// Once on a server; what is there then goes with it.
    fn time(&self, server: &Server, rows: u32) -> Result<(Figure, String), String> {
        let file = server.data.with_extension("copied");
        let filled = |sql: &str| sql.replace(":file", &file.to_string_lossy());
        let mut client = Client::connect(server)?;
        for statement in self.before {
            client.query(&filled(statement))?;
        }
        client.query("checkpoint")?;
        let spent = Figure::milliseconds(server, || match self.timed {
            Some(statement) => client.query(&filled(statement)).map(drop),
            None => pgbench::initialize(server, rows / ROWS_OF_SCALE),
        })?;
        Ok((spent, client.value(&filled(self.check))?))
    }
}

/// The chosen cases; prints a line each.
pub fn run(servers: &[&Server], only: Option<&str>, rows: u32, rounds: u32) -> Result<(), String> {
    for server in servers {
        let mut client = Client::connect(server)?;
        for statement in [&SETUP.replace(":n", &rows.to_string()), "vacuum analyze bulk_rows, bulk_owners"] {
            client.query(statement).map_err(|e| format!("{}: {e}", server.name))?;
        }
    }
    println!("\n## Moving {rows} rows: milliseconds\n");
    for case in CASES.iter().filter(|case| only.is_none_or(|only| case.name.contains(only))) {
        let mut all = vec![Vec::new(); servers.len()];
        let mut expected = None;
        for _ in 0..rounds {
            for (times, server) in all.iter_mut().zip(servers) {
                let of = |e: String| format!("{}: {}: {e}", case.name, server.name);
                let (spent, found) = case.time(server, rows).map_err(of)?;
                if *expected.get_or_insert_with(|| found.clone()) != found {
                    return Err(of(format!("leaves {found}, not what the others leave")));
                }
                times.push(spent);
            }
        }
        println!("{}: {}", case.name, report::beside(servers, &all, true));
    }
    Ok(())
}
