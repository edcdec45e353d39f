//! Sessions insert, move, lock and delete rows that others refer to, and roll much of it back, at every place where others can come between.
//!
//! What must hold in every snapshot: keys are unique; whoever refers to a row finds it; a table shows the same rows by each of its indexes
//! and without.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::OnceLock;
use std::time::Duration;

use base::{SqlError, SqlResult, SqlState};
use history::Choices;
use runtime::sim::{DiskImage, Simulation};
use runtime::{sleep, wait};

use crate::agreement::verify;
use crate::cluster::{Server, initialized_disk, small_options};
use crate::crew::Crew;
use crate::seeds;
use crate::session::Client;

/// Keys that rows have.
const KEYS: u64 = 10;
/// Virtual time in which the sessions work.
const LIFE: Duration = Duration::from_millis(250);

const SETUP: &[&str] = &[
    "create table owners (id int primary key, tag int not null, n int not null) with (fillfactor = 50)",
    "create index on owners (tag)",
    "create table kept (id int primary key, owner int not null references owners)",
    "create table carried (id int primary key, owner int not null references owners on delete cascade on update cascade)",
    "create index on carried (owner)",
    "create table late (id int primary key, owner int not null references owners deferrable initially deferred)",
    "insert into owners select n, n, 0 from generate_series(0, 9, 2) n",
];

const REFERRING: [&str; 3] = ["kept", "carried", "late"];

/// What others may refuse.
const CONFLICTS: [SqlState; 6] = [
    SqlState::UNIQUE_VIOLATION,
    SqlState::FOREIGN_KEY_VIOLATION,
    SqlState::T_R_SERIALIZATION_FAILURE,
    SqlState::T_R_DEADLOCK_DETECTED,
    SqlState::LOCK_NOT_AVAILABLE,
    SqlState::IN_FAILED_SQL_TRANSACTION,
];

fn image() -> &'static DiskImage {
    static IMAGE: OnceLock<DiskImage> = OnceLock::new();
    IMAGE.get_or_init(|| initialized_disk(&small_options(), SETUP))
}

/// Done so far.
#[derive(Default)]
struct Tally {
    committed: Cell<u64>,
    refused: Cell<u64>,
    snapshots: Cell<u64>,
}

fn count(cell: &Cell<u64>) {
    cell.set(cell.get() + 1);
}

/// A session that changes rows.
struct Writer {
    client: Client,
    choices: Choices,
    tally: Rc<Tally>,
}

impl Writer {
    fn transaction(&mut self) {
        match self.attempt() {
            Ok(()) => count(&self.tally.committed),
            Err(error) => {
                expect_conflict(&error);
                count(&self.tally.refused);
                self.client.run("rollback").expect("a block is rolled back");
            }
        }
        if self.choices.one_in(3) {
            wait(sleep(Duration::from_micros(self.choices.below(500))));
        }
    }

    fn attempt(&mut self) -> SqlResult<()> {
        let repeatable = self.choices.one_in(3);
        self.client.run(if repeatable { "begin isolation level repeatable read" } else { "begin" })?;
        for n in 0..self.choices.between(1, 4) {
            let savepoint = self.choices.one_in(3);
            if savepoint {
                self.client.run(&format!("savepoint s{n}"))?;
            }
            let done = self.step();
            if savepoint && (done.is_err() || self.choices.one_in(3)) {
                self.client.run(&format!("rollback to s{n}"))?;
            }
            match done {
                Err(error) if savepoint => expect_conflict(&error),
                done => done?,
            }
        }
        // A block that failed says ROLLBACK to its COMMIT.
        self.client.run(if self.choices.one_in(3) { "rollback" } else { "commit" }).map(drop)
    }

    fn step(&mut self) -> SqlResult<()> {
        let (key, other) = (self.choices.below(KEYS), self.choices.below(KEYS));
        let table = *self.choices.of(&REFERRING);
        let sql = match self.choices.below(13) {
            0 => format!("insert into owners values ({key}, {other}, 0)"),
            1 => format!("insert into owners values ({key}, {other}, 0) on conflict do nothing"),
            2 => format!(
                "insert into owners values ({key}, {other}, 0) on conflict (id) do update set n = owners.n + 1"
            ),
            3 => format!("update owners set n = n + 1 where id = {key}"),
            4 => format!("update owners set tag = {other} where id = {key}"),
            5 => format!("update owners set id = {other} where id = {key}"),
            6 => format!("delete from owners where id = {key}"),
            7 | 8 => format!("insert into {table} values ({other}, {key})"),
            9 => format!("update {table} set owner = {other} where id = {key}"),
            10 => format!("delete from {table} where owner = {key}"),
            _ => {
                let strength = self.choices.of(&["key share", "share", "no key update", "update"]);
                let wait = self.choices.of(&["", "", "nowait", "skip locked"]);
                format!("select 1 from owners where id = {key} for {strength} {wait}")
            }
        };
        self.client.run(&sql).map(drop)
    }
}

fn expect_conflict(error: &SqlError) {
    assert!(CONFLICTS.contains(&error.code()), "{} {error}", error.code());
}

/// One snapshot, looked at in all ways.
fn observe(client: &Client) {
    let run = |sql: &str| client.run(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    run("begin isolation level repeatable read");
    for (table, columns) in
        [("owners", "id, tag, n"), ("kept", "id, owner"), ("carried", "id, owner"), ("late", "id, owner")]
    {
        let rows = |settings: &str, condition: &str| {
            run(settings);
            let mut rows = run(&format!("select {columns} from {table} where {condition}"));
            rows.sort();
            rows
        };
        let all =
            rows("set enable_seqscan = on; set enable_indexscan = off; set enable_bitmapscan = off", "true");
        let by_index = "set enable_seqscan = off; set enable_indexscan = on";
        let second = columns.split(", ").nth(1).expect("there are two");
        assert_eq!(all, rows(by_index, "id >= 0"), "{table} by its key");
        assert_eq!(all, rows(by_index, &format!("{second} >= 0")), "{table} by {second}");
        assert_eq!(
            run(&format!("select id from {table} group by id having count(*) > 1")),
            [""; 0],
            "{table} has keys twice"
        );
        if table != "owners" {
            let orphans = run(&format!(
                "select * from {table} r where not exists (select from owners o where o.id = r.owner)"
            ));
            assert_eq!(orphans, [""; 0], "{table} refers to nothing");
        }
    }
    run("commit");
}

fn life(seed: u64) {
    let mut choices = Choices::new(seed, 30);
    let server = Server::open(small_options());
    let background = server.start_background();
    let (tally, crew) = (Rc::<Tally>::default(), Crew::default());
    for n in 0..choices.between(3, 8) {
        let client = server.connect(10 + n as i32);
        client.run("set deadlock_timeout = '1ms'").expect("it is a setting");
        let choices = Choices::new(choices.below(u64::MAX), n);
        let mut writer = Writer { client, choices, tally: tally.clone() };
        crew.start("writer", move |crew| {
            while !crew.told_to_stop() {
                writer.transaction();
            }
        });
    }
    let (observer, seen) = (server.connect(5), tally.clone());
    crew.start("observer", move |crew| {
        while !crew.told_to_stop() {
            observe(&observer);
            count(&seen.snapshots);
            wait(sleep(Duration::from_micros(300)));
        }
    });
    let upkeep = server.connect(6);
    crew.start("upkeep", move |crew| {
        while !crew.told_to_stop() {
            wait(sleep(Duration::from_millis(choices.between(1, 6))));
            let sql =
                choices.of(&["vacuum", "vacuum (freeze)", "reindex table owners", "reindex table carried"]);
            if let Err(error) = upkeep.run(sql) {
                assert_eq!(error.code(), SqlState::T_R_DEADLOCK_DETECTED, "{sql}: {error}");
            }
        }
    });
    wait(sleep(LIFE));
    crew.stop();
    background.stop();
    let client = server.connect(7);
    observe(&client);
    verify(&server);
    client.close();
    server.engine.shutdown().expect("the server shuts down");
    let Tally { committed, refused, snapshots } = &*tally;
    eprintln!(
        "seed {seed}: {} committed, {} refused, {} snapshots",
        committed.get(),
        refused.get(),
        snapshots.get()
    );
    assert!(committed.get() > 0 && snapshots.get() > 1, "the sessions got little done");
}

fn simulate(seed: u64) {
    let mut choices = Choices::new(seed, 31);
    let simulation = Simulation::with_disk(seed, image());
    simulation.interleave(choices.between(3, 24));
    simulation.run(move || life(seed)).expect("nothing crashes the machine");
}

#[test]
fn whoever_refers_to_a_row_finds_it_0() {
    seeds::for_each(0, 2, simulate);
}

#[test]
fn whoever_refers_to_a_row_finds_it_1() {
    seeds::for_each(1, 2, simulate);
}
