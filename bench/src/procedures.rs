//! What functions cost: PL/pgSQL and SQL, beside PostgreSQL.
//!
//! Each case is one statement of one client, timed as the client sees it. Servers take turns, several rounds; the figures are medians of milliseconds.
//! Loops that could be quadratic run with 10,000 steps and with 40,000: four times the steps are to cost about four times as much.

use std::time::Instant;

use crate::client::Client;
use crate::peers::Server;
use crate::report::median;

/// A statement that is timed.
struct Case {
    name: &'static str,
    /// `:n` is the number of steps.
    statement: &'static str,
    steps: u32,
    /// It runs with a fourth of the steps as well.
    is_scaled: bool,
}

/// What the cases stand on.
const SETUP: &str = "
    drop table if exists procedures_rows, procedures_written;
    create table procedures_rows (k int primary key, v int);
    insert into procedures_rows select g, g * 2 from generate_series(1, 10000) g;
    create table procedures_written (a int, b int);
    create or replace function procedures_next(x int) returns int language plpgsql as 'begin return x + 1; end';
    create or replace function procedures_square(x int) returns int language sql immutable as 'select x * x';
    create or replace function procedures_below(most int) returns setof procedures_rows language sql stable
        as 'select * from procedures_rows where k < most';
    create or replace function procedures_doubled() returns trigger language plpgsql
        as 'begin new.b := new.a * 2; return new; end';
    create trigger doubled before insert on procedures_written for each row execute function procedures_doubled();
    analyze procedures_rows";

const CASES: [Case; 13] = [
    Case {
        name: "integer loop",
        statement: "do $$ declare s int := 0; begin for i in 1..:n loop s := s + 1; end loop; end $$",
        steps: 2_000_000,
        is_scaled: false,
    },
    Case {
        name: "integer loop with IF",
        statement: "do $$ declare s bigint := 0; begin for i in 1..:n loop
            if i % 3 = 0 then s := s + i; end if; end loop; end $$",
        steps: 1_000_000,
        is_scaled: false,
    },
    Case {
        name: "numeric loop",
        statement: "do $$ declare s numeric := 0; begin for i in 1..:n loop s := s + 1.5; end loop; end $$",
        steps: 500_000,
        is_scaled: false,
    },
    Case {
        name: "text append",
        statement: "do $$ declare s text := ''; begin for i in 1..:n loop s := s || 'x'; end loop; end $$",
        steps: 40_000,
        is_scaled: false,
    },
    Case {
        name: "array elements",
        statement: "do $$ declare a int[]; begin for i in 1..:n loop a[i] := i; end loop; end $$",
        steps: 40_000,
        is_scaled: true,
    },
    Case {
        name: "array elements, text",
        statement: "do $$ declare a text[]; begin for i in 1..:n loop a[i] := 'element ' || i; end loop; end $$",
        steps: 40_000,
        is_scaled: true,
    },
    Case {
        name: "record field",
        statement: "do $$ declare r record; begin select 1 as a, 2 as b into r;
            for i in 1..:n loop r.a := r.a + r.b; end loop; end $$",
        steps: 500_000,
        is_scaled: false,
    },
    Case {
        name: "nested function calls",
        statement: "do $$ declare s int := 0; begin for i in 1..:n loop s := procedures_next(s); end loop; end $$",
        steps: 300_000,
        is_scaled: true,
    },
    Case {
        name: "SQL function in an expression",
        statement: "select sum(procedures_square(g % 1000)) from generate_series(1, :n) g",
        steps: 200_000,
        is_scaled: false,
    },
    Case {
        name: "SQL function in FROM",
        statement: "do $$ declare s int; begin for i in 1..:n loop
            select v into s from procedures_below(i + 1) where k = i; end loop; end $$",
        steps: 5_000,
        is_scaled: false,
    },
    Case {
        name: "trigger on insert",
        statement: "insert into procedures_written select g from generate_series(1, :n) g",
        steps: 100_000,
        is_scaled: false,
    },
    Case {
        name: "single-row SELECT loop",
        statement: "do $$ declare s int; begin for i in 1..:n loop
            select v into s from procedures_rows where k = i % 10000 + 1; end loop; end $$",
        steps: 100_000,
        is_scaled: true,
    },
    // Of the thread on subtransactions and cached snapshots.
    Case {
        name: "subtransactions in DO",
        statement: "do $do$ begin for i in 1..:n loop begin
            execute $cf$create or replace function foo() returns void language plpgsql as $f$begin frakbar; end;$f$;$cf$;
            exception when others then end; end loop; end $do$",
        steps: 10_000,
        is_scaled: true,
    },
];

impl Case {
    /// Milliseconds of a run with so many steps.
    fn time(&self, client: &mut Client, steps: u32) -> Result<f64, String> {
        client.query("truncate procedures_written")?;
        let statement = self.statement.replace(":n", &steps.to_string());
        let start = Instant::now();
        client.query(&statement)?;
        Ok(start.elapsed().as_secs_f64() * 1000.0)
    }
}

/// The chosen cases; prints a line each.
pub fn run(servers: &[&Server], only: Option<&str>, rounds: u32) -> Result<(), String> {
    for server in servers {
        Client::connect(server)?.query(SETUP).map_err(|e| format!("{}: {e}", server.name))?;
    }
    println!("\n## Functions: milliseconds\n");
    for case in CASES.iter().filter(|case| only.is_none_or(|only| case.name.contains(only))) {
        let mut all = vec![Vec::new(); servers.len()];
        let mut fourths = all.clone();
        for _ in 0..rounds {
            for (n, server) in servers.iter().enumerate() {
                let of = |e: String| format!("{}: {}: {e}", case.name, server.name);
                let mut client = Client::connect(server)?;
                all[n].push(case.time(&mut client, case.steps).map_err(of)?);
                if case.is_scaled {
                    fourths[n].push(case.time(&mut client, case.steps / 4).map_err(of)?);
                }
            }
        }
        let all: Vec<f64> = all.into_iter().map(median).collect();
        let fourths: Vec<f64> = fourths.into_iter().map(median).collect();
        let shown = servers.iter().enumerate().map(|(n, server)| {
            let scaled = match case.is_scaled {
                true => format!(", {:.2} times a fourth of the steps", all[n] / fourths[n]),
                false => String::new(),
            };
            let speed = all[n] / all[0];
            format!("{} {:.1}{scaled} (Stampede's speed ÷ this: {speed:.2})", server.name, all[n])
        });
        println!("{}, {} steps: {}", case.name, case.steps, shown.collect::<Vec<_>>().join("; "));
    }
    Ok(())
}
