//! The same statements under different sizes give the same answers.
//!
//! Each variant starts from an initialisation of its own and runs the groups of [`SCRIPT`] one after the other; between groups some variants
//! pull the plug. What the statements answer, errors included, must not tell the variants apart.

use std::sync::OnceLock;
use std::time::Duration;

use engine::{CheckpointCause, EngineOptions};
use runtime::sim::Simulation;
use runtime::{sleep, spawn_fiber, wait};
use wal::WalOptions;

use crate::agreement::verify;
use crate::cluster::{Server, initialized_disk, small_options};

/// Groups of statements; no transaction is open between two groups.
const SCRIPT: &[&[&str]] = &[
    &[
        "create table items (id int primary key, grp int, word text, big text) with (fillfactor = 80)",
        "create index items_grp on items (grp, word)",
        "create index items_word on items using hash (word)",
        "insert into items select n, n % 7, 'word ' || n, null from generate_series(1, 400) as n",
        "select count(*), sum(id), min(word), max(word) from items",
        "select grp, count(*) from items group by grp order by grp",
    ],
    &[
        "begin",
        "update items set word = word || '!' where grp = 3",
        "savepoint a",
        "delete from items where grp = 4",
        "select count(*) from items",
        "rollback to a",
        "delete from items where id % 10 = 5",
        "insert into items values (1, 0, 'again', null)",
        "select 1",
        "rollback to a",
        "delete from items where id % 10 = 5",
        "commit",
        "select count(*), sum(id) from items",
        "select id, word from items where grp = 3 and id < 60 order by id",
    ],
    &[
        "update items set big = repeat(word || ' ', 2000) where id < 12",
        "select id, length(big), substr(big, 1, 20) from items where id < 12 order by id",
        "update items set id = id + 1000 where grp = 1",
        "select id from items where id > 1000 order by id limit 20",
        "select a.id, b.id from items a join items b on a.id + 1000 = b.id order by 1, 2 limit 10",
    ],
    &[
        "begin",
        "delete from items",
        "create table gone (a int primary key)",
        "insert into gone values (1), (2), (1)",
        "select * from gone",
        "rollback",
        "select * from gone",
        "select count(*), sum(id), sum(length(word)), sum(length(big)) from items",
    ],
    &[
        "vacuum items",
        "delete from items where grp in (0, 2)",
        "vacuum items",
        "insert into items select n, n % 7, 'second ' || n, null from generate_series(401, 700) as n",
        "select count(*), sum(id), min(word), max(word) from items",
        "select id from items where word > 'second 6' order by word, id limit 10",
        "select grp, max(word) from items group by grp order by grp",
    ],
    &[
        "create table kept (id int, word text)",
        "insert into kept select id, word from items where grp = 5",
        "select count(*), sum(id), max(word) from kept",
        "truncate items",
        "select count(*) from items",
        "insert into items values (1, 1, 'one', 'b')",
        "select * from items",
        "drop table items",
        "select * from items",
    ],
];

/// How a variant differs.
#[derive(Clone)]
struct Knobs {
    options: EngineOptions,
    /// Checkpoints follow one another without a pause.
    checkpoints: bool,
    /// The machine crashes between groups.
    crashes: bool,
}

/// Roomy: nothing is evicted, no checkpoint comes.
fn plain() -> Knobs {
    Knobs { options: EngineOptions::default(), checkpoints: false, crashes: false }
}

fn answers(knobs: &Knobs) -> Vec<String> {
    let simulation = Simulation::with_disk(7, &initialized_disk(&knobs.options, &[]));
    let per_life = if knobs.crashes { 1 } else { SCRIPT.len() };
    let mut answers = Vec::new();
    for groups in SCRIPT.chunks(per_life) {
        let knobs = knobs.clone();
        let part = simulation.run(move || one_life(&knobs, groups));
        answers.extend(part.expect("nothing crashes the machine within a group"));
        simulation.crash();
    }
    answers
}

/// From an opening to a crash.
fn one_life(knobs: &Knobs, groups: &'static [&'static [&'static str]]) -> Vec<String> {
    let server = Server::open(knobs.options.clone());
    let _background = server.start_background();
    if knobs.checkpoints {
        let engine = server.engine.clone();
        spawn_fiber("checkpoints", move || {
            loop {
                engine.checkpoint(CheckpointCause::Requested).expect("a checkpoint is taken");
                wait(sleep(Duration::from_micros(200)));
            }
        });
    }
    let client = server.connect(1);
    let shown = groups.iter().copied().flatten().map(|sql| format!("{sql}\n{}", client.show(sql))).collect();
    verify(&server);
    client.close();
    shown
}

fn assert_same(knobs: &Knobs) {
    static EXPECTED: OnceLock<Vec<String>> = OnceLock::new();
    let expected = EXPECTED.get_or_init(|| answers(&plain()));
    let found = answers(knobs);
    for (expected, found) in expected.iter().zip(&found) {
        assert_eq!(expected, found);
    }
    assert_eq!(expected.len(), found.len());
}

#[test]
fn the_script_does_what_it_is_for() {
    let answers = answers(&plain());
    let failed: Vec<&String> = answers.iter().filter(|answer| answer.contains("ERROR")).collect();
    let expected = [
        ("insert into items values (1, 0, 'again', null)", "23505"),
        ("select 1", "25P02"),
        ("insert into gone values (1), (2), (1)", "23505"),
        ("select * from gone", "25P02"),
        ("select * from gone", "42P01"),
        ("select * from items", "42P01"),
    ];
    assert_eq!(failed.len(), expected.len(), "{failed:#?}");
    for (failed, (sql, code)) in failed.iter().zip(expected) {
        assert!(failed.starts_with(&format!("{sql}\n{code}")), "{failed}");
    }
}

#[test]
fn a_tiny_buffer_pool() {
    let mut knobs = plain();
    knobs.options.shared_buffers = 32;
    assert_same(&knobs);
}

#[test]
fn checkpoint_after_checkpoint() {
    assert_same(&Knobs { checkpoints: true, ..plain() });
}

#[test]
fn tiny_log_segments_and_buffers() {
    let mut knobs = plain();
    knobs.options.wal = WalOptions {
        segment_size: 8 << 10,
        buffers: 32 << 10,
        min_size: 16 << 10,
        max_size: 256 << 10,
        ..WalOptions::default()
    };
    assert_same(&knobs);
}

#[test]
fn a_crash_between_groups() {
    assert_same(&Knobs { crashes: true, ..plain() });
}

#[test]
fn everything_small_and_crashing() {
    assert_same(&Knobs { options: small_options(), checkpoints: true, crashes: true });
}
