//! REINDEX and VACUUM beside sessions that read and write, of tables and of what they keep large values in.

use std::fs;
use std::os::unix::fs::FileExt;
use std::thread;

use crate::support::client::message;
use crate::support::{Client, Repeated, Server, beside, knob, run, until};

/// A statement that takes an index's file away waits for whoever reads by it.
fn waits_for_the_reader(statement: &str, order: &str) {
    let server = Server::start(&[]);
    let (mut reader, mut watcher) = (server.client(), server.client());
    run(
        &mut reader,
        &[
            "create table t (id int primary key)",
            "create function f(int) returns int immutable language sql as 'select -$1'",
            "create index t_f on t (f(id))",
            "insert into t select generate_series(1, 2000)",
            "set enable_seqscan = off",
            "set enable_sort = off",
            "begin",
            &format!("declare c cursor for select id from t order by {order}"),
            "move 10 from c",
        ],
    );
    thread::scope(|scope| {
        let taker = scope.spawn(|| server.client().query(statement).map(drop));
        let waits = "select mode from pg_locks where not granted and relation = 't'::regclass";
        until("it waits", || watcher.query(waits).unwrap() == [[Some("AccessExclusiveLock".to_string())]]);
        assert_eq!(reader.query("fetch all from c").unwrap().len(), 1990);
        run(&mut reader, &["commit"]);
        taker.join().unwrap().unwrap();
    });
    assert_eq!(reader.value("select count(*) from t where id > 0"), "2000");
}

#[test]
fn reindex_waits_for_those_who_read_by_the_old_index() {
    waits_for_the_reader("reindex index t_pkey", "id");
}

#[test]
fn an_index_that_goes_with_something_else_goes_when_nobody_reads_by_it() {
    waits_for_the_reader("drop function f cascade", "f(id)");
}

/// What a table's rows go through is not taken away, by whatever takes it along, between two rows of one transaction.
#[test]
fn parts_of_a_table_go_when_nobody_uses_the_table() {
    let server = Server::start(&[]);
    let (mut writer, mut watcher) = (server.client(), server.client());
    run(
        &mut writer,
        &[
            "create function f(int) returns int immutable language sql as 'select $1'",
            "create function g() returns trigger language plpgsql as 'begin return new; end'",
            "create table with_check (id int check (f(id) > 0))",
            "create table with_default (id int, v int default f(1))",
            "create table with_trigger (id int)",
            "create trigger g before insert on with_trigger for each row execute function g()",
            "create table refers (id int)",
            "create table referred (id int primary key)",
            "insert into referred values (1)",
            "alter table refers add constraint fk foreign key (id) references referred",
        ],
    );
    let cases = [
        ("with_check", "insert into with_check values (1)", "drop function f cascade"),
        ("with_default", "insert into with_default values (1)", "drop function f cascade"),
        ("with_trigger", "insert into with_trigger values (1)", "drop function g cascade"),
        ("refers", "lock refers in row exclusive mode", "drop table referred cascade"),
        ("referred", "insert into referred values (2)", "alter table refers drop constraint fk"),
    ];
    for (table, write, drop) in cases {
        run(&mut writer, &["begin", write]);
        thread::scope(|scope| {
            let mut taker = server.client();
            let waits =
                format!("select mode from pg_locks where not granted and relation = '{table}'::regclass");
            let taken = scope.spawn(move || taker.query(&format!("begin; {drop}; rollback")).map(|_| ()));
            until("it waits", || {
                watcher.query(&waits).unwrap() == [[Some("AccessExclusiveLock".to_string())]]
            });
            run(&mut writer, &["rollback"]);
            taken.join().unwrap().unwrap();
        });
    }
}

#[test]
fn readers_by_an_index_do_not_notice_that_it_is_built_anew() {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(
        &mut client,
        &[
            "create table t (id int primary key, v int)",
            "insert into t select g, g from generate_series(1, 1000) g",
        ],
    );
    let read: Repeated<'_> = &|reader, round| {
        if round == 0 {
            run(reader, &["set enable_seqscan = off", "set enable_bitmapscan = off"]);
        }
        assert_eq!(reader.value("select sum(v) from t where id > 0"), "500500");
    };
    beside(&server, &[read; 2], || {
        for _ in 0..knob("REINDEX_ROUNDS", 100) {
            run(&mut client, &["reindex table t"]);
        }
    });
}

#[test]
fn large_values_stay_whole_whatever_is_done_to_the_table_they_are_in() {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(&mut client, &["create table big (id int primary key, v text, sum text)"]);
    run(&mut client, &["alter table big alter v set storage external"]);
    let toast = client.value("select reltoastrelid::regclass from pg_class where oid = 'big'::regclass");
    let work = [
        format!("vacuum {toast}"),
        format!("reindex table {toast}"),
        "vacuum big".to_string(),
        format!("vacuum full {toast}"),
        "reindex table concurrently big".to_string(),
        format!("reindex index {toast}_index"),
        "reindex table big".to_string(),
    ];
    let broken = "select count(*) from big where md5(v) <> sum";
    let write = |writer: &mut Client, i: u64| {
        let (id, value) = (i % 30, format!("repeat(md5('{i}'), {})", 100 + i % 100));
        let insert = format!(
            "insert into big values ({id}, {value}, md5({value})) \
             on conflict (id) do update set v = excluded.v, sum = excluded.sum"
        );
        run(writer, &[&insert]);
        if i.is_multiple_of(5) {
            run(writer, &[&format!("delete from big where id = {id}")]);
        }
        if i.is_multiple_of(7) {
            assert_eq!(writer.value(broken), "0");
        }
    };
    let writers: [Repeated<'_>; 3] = [
        &|writer, round| write(writer, 3 * round),
        &|writer, round| write(writer, 3 * round + 1),
        &|writer, round| write(writer, 3 * round + 2),
    ];
    beside(&server, &writers, || {
        for _ in 0..knob("UPKEEP_ROUNDS", 20) {
            let mut upkeep = server.client();
            let mut vacuum = server.client();
            thread::scope(|scope| {
                scope.spawn(|| run(&mut vacuum, &["vacuum big"]));
                for statement in &work {
                    run(&mut upkeep, &[statement]);
                }
            });
        }
    });
    assert_eq!(client.value(broken), "0");
}

#[test]
fn nobody_stands_behind_a_vacuum_that_would_cut_the_table() {
    let server = Server::start(&[]);
    let (mut client, mut reader, mut other) = (server.client(), server.client(), server.client());
    run(
        &mut client,
        &[
            "create table t (id int)",
            "insert into t select generate_series(1, 20000)",
            "delete from t where id > 1000",
        ],
    );
    run(&mut reader, &["begin", "select count(*) from t"]);
    thread::scope(|scope| {
        let vacuum = scope.spawn(|| client.query("vacuum t").map(drop));
        let waits = "select count(*) from pg_stat_activity where wait_event = 'VacuumTruncate'";
        until("it waits", || other.value(waits) == "1");
        assert_eq!(other.value("select count(*) from pg_locks where not granted"), "0", "in no queue");
        run(&mut other, &["set lock_timeout = 1"]);
        assert_eq!(other.value("select count(*) from t"), "1000", "at once");
        run(&mut reader, &["commit"]);
        vacuum.join().unwrap().unwrap();
    });
    assert_eq!(other.value("select pg_relation_size('t') / 8192"), "5");
}

/// A statement that takes long, and what a view tells of it after a while.
const LONG: [(&str, &str); 6] = [
    (
        "set vacuum_cost_delay = 100; set vacuum_cost_limit = 1; set track_cost_delay_timing = on;; vacuum t",
        "select phase = 'scanning heap' and heap_blks_total = 45 and heap_blks_scanned > 0 and delay_time > 0 from pg_stat_progress_vacuum where relid = 't'::regclass",
    ),
    (
        "set vacuum_cost_delay = 100; set vacuum_cost_limit = 1;; analyze t",
        "select phase = 'acquiring sample rows' and sample_blks_total = 45 and sample_blks_scanned > 0 from pg_stat_progress_analyze where relid = 't'::regclass",
    ),
    (
        "create index on t (slow(id))",
        "select phase = 'building index: scanning table' and blocks_total = 45 and blocks_done > 0 from pg_stat_progress_create_index where relid = 't'::regclass",
    ),
    (
        "vacuum full indexed",
        "select phase = 'rebuilding index' and heap_tuples_scanned = 1000 and heap_tuples_written = 1000 from pg_stat_progress_cluster where relid = 'indexed'::regclass",
    ),
    (
        "cluster indexed using indexed_pkey",
        "select command = 'CLUSTER' and heap_blks_total = 5 and heap_blks_scanned = 5 and heap_tuples_written = 1000 from pg_stat_progress_cluster where relid = 'indexed'::regclass",
    ),
    (
        "copy (select slow(id) from t) to 'FILE'",
        "select command = 'COPY TO' and tuples_processed > 0 and bytes_processed > 0 from pg_stat_progress_copy",
    ),
];

#[test]
fn others_see_how_far_a_command_is() {
    let server = Server::start(&[]);
    let mut watcher = server.client();
    run(
        &mut watcher,
        &[
            "create table t as select generate_series(1, 10000) id",
            "create function slow(int) returns int immutable language plpgsql as 'begin if $1 > 300 then perform pg_sleep(0.01); end if; return $1; end'",
            "create table indexed (id int primary key)",
            "create index on indexed (slow(id))",
            "insert into indexed select -generate_series(1, 1000)",
            "create or replace function slow(int) returns int immutable language plpgsql as 'begin if $1 < -10 or $1 > 300 then perform pg_sleep(0.01); end if; return $1; end'",
        ],
    );
    let file = server.data().join("copied").display().to_string();
    for (statements, seen) in LONG {
        let statements = &statements.replace("FILE", &file);
        let mut client = server.client();
        let pid = client.value("select pg_backend_pid()");
        thread::scope(|scope| {
            let command = scope.spawn(move || {
                statements.split(";;").map(|statement| client.query(statement).map(drop)).last().unwrap()
            });
            until(statements, || watcher.query(seen).unwrap() == [[Some("t".to_string())]]);
            run(&mut watcher, &[&format!("select pg_cancel_backend({pid})")]);
            let failure = command.join().unwrap().unwrap_err();
            let told = format!("{failure:?}");
            assert!(told.contains("canceling statement"), "{statements}: {told}");
        });
    }
}

/// Versions of rows die between two VACUUMs; their entries make room for those of the next ones.
#[test]
fn indexes_of_updated_rows_do_not_grow_until_a_vacuum_comes() {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(
        &mut client,
        &[
            "create table t (id int primary key, v int, w text)",
            "create index t_v on t (v)",
            "create index t_w on t (w)",
            "insert into t select i, i, 'row ' || i from generate_series(1, 3000) i",
        ],
    );
    let sizes = "select pg_relation_size('t_pkey') + pg_relation_size('t_v') + pg_relation_size('t_w')";
    let before: i64 = client.value(sizes).parse().unwrap();
    for _ in 0..20 {
        run(&mut client, &["update t set v = v + 1"]);
    }
    let after: i64 = client.value(sizes).parse().unwrap();
    assert!(after <= 3 * before, "{before} bytes became {after}");
    run(&mut client, &["set enable_seqscan = off", "set enable_bitmapscan = off"]);
    for column in ["id", "v", "w"] {
        let found = client.value(&format!("select sum(v) from (select v from t order by {column}) as t"));
        assert_eq!(found, (3000 * 3001 / 2 + 3000 * 20).to_string(), "by {column}");
    }
}

#[test]
fn rows_that_die_beside_a_vacuum_count_for_the_next_one() {
    let server = Server::start(&[]);
    let (mut client, mut other) = (server.client(), server.client());
    run(
        &mut client,
        &[
            "create table t (id int)",
            "insert into t select generate_series(1, 2000)",
            "set vacuum_cost_delay = 100",
            "set vacuum_cost_limit = 1",
        ],
    );
    thread::scope(|scope| {
        let vacuum = scope.spawn(|| run(&mut client, &["vacuum t"]));
        let scanned = "select coalesce(max(heap_blks_scanned), 0) > 0 from pg_stat_progress_vacuum";
        until("its first page", || vacuum.is_finished() || other.value(scanned) == "t");
        run(&mut other, &["delete from t where id <= 5", "insert into t values (0), (0)"]);
        vacuum.join().unwrap();
    });
    let counted = "select n_dead_tup, n_ins_since_vacuum from pg_stat_user_tables where relname = 't'";
    let row: Vec<_> = other.query(counted).unwrap().remove(0).into_iter().flatten().collect();
    assert_eq!(row, ["5", "2"]);
}

#[test]
fn versions_that_have_gone_without_a_vacuum_are_not_dead() {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(&mut client, &["create table t (id int primary key, v int)", "insert into t values (1, 0)"]);
    for _ in 0..600 {
        run(&mut client, &["update t set v = v + 1 where id = 1"]);
    }
    assert_eq!(client.value("select n_tup_hot_upd from pg_stat_user_tables where relname = 't'"), "600");
    let dead = client.value("select n_dead_tup from pg_stat_user_tables where relname = 't'");
    assert!(dead.parse::<i64>().unwrap() < 400, "{dead}");
}

/// A table with three indexes of many pages, half of whose rows are dead.
const INDEXED: [&str; 5] = [
    "create table t as select g a, g b, g c from generate_series(1, 2000) g",
    "create index t_a on t (a) with (fillfactor = 10)",
    "create index t_b on t (b) with (fillfactor = 10)",
    "create index t_c on t (c) with (fillfactor = 10)",
    "delete from t where a % 2 = 0",
];

/// Texts of the notices that come with a statement.
fn notices(client: &mut Client, statement: &str) -> Vec<String> {
    client.send(&message(b'Q', &[statement.as_bytes(), b"\0"].concat())).unwrap();
    let mut texts = Vec::new();
    loop {
        let (kind, body) = client.message().unwrap();
        let fields = String::from_utf8_lossy(&body);
        match kind {
            b'Z' => return texts,
            b'E' => panic!("{statement}: {fields}"),
            b'N' => {
                texts.extend(fields.split('\0').find_map(|field| field.strip_prefix('M')).map(Into::into))
            }
            _ => {}
        }
    }
}

/// Half of the rows are there, by each index.
fn half_is_there(client: &mut Client) {
    run(client, &["create extension if not exists amcheck"]);
    for index in ["t_a", "t_b", "t_c"] {
        run(client, &[&format!("select bt_index_check('{index}', true)")]);
        let entries = format!("select reltuples from pg_class where relname = '{index}'");
        assert_eq!(client.value(&entries), "1000", "{index}");
    }
}

#[test]
fn indexes_are_vacuumed_side_by_side() {
    let server = Server::start(&["min_parallel_index_scan_size=0"]);
    let mut client = server.client();
    let mut told = |options: &str, table: &str| {
        run(&mut client, &["drop table if exists t"]);
        let made = INDEXED[0].replace("create table", &format!("create {table}"));
        run(&mut client, &[&[made.as_str()], &INDEXED[1..]].concat());
        let told = notices(&mut client, &format!("vacuum ({options}) t"));
        half_is_there(&mut client);
        let line = |text: &&String| text.starts_with("launched") || text.starts_with("disabling");
        told.iter().filter(line).cloned().collect::<Vec<_>>()
    };
    let launched = |n: &str| format!("launched {n} for index vacuuming (planned: {})", &n[..1]);
    assert_eq!(told("verbose", "table"), [launched("2 parallel vacuum workers")]);
    assert_eq!(told("verbose, parallel 1", "table"), [launched("1 parallel vacuum worker")]);
    assert_eq!(told("verbose, parallel 9", "table"), [launched("2 parallel vacuum workers")]);
    assert_eq!(told("verbose, parallel 0", "table"), [""; 0]);
    assert_eq!(told("verbose", "temp table"), [""; 0]);
    let refused =
        "disabling parallel option of vacuum on \"t\" --- cannot vacuum temporary tables in parallel";
    assert_eq!(told("parallel 2", "temp table"), [refused]);
}

#[test]
fn a_vacuum_ends_with_its_helpers() {
    let server = Server::start(&["min_parallel_index_scan_size=0"]);
    let (mut client, mut watcher) = (server.client(), server.client());
    run(&mut client, &INDEXED);
    run(&mut client, &["set vacuum_cost_delay = 20", "set vacuum_cost_limit = 1"]);
    let pid = client.value("select pg_backend_pid()");
    thread::scope(|scope| {
        let vacuum = scope.spawn(|| client.error("vacuum t"));
        let at = "select coalesce(max(phase), '') = 'vacuuming indexes' and max(indexes_total) = 3 from pg_stat_progress_vacuum";
        until("it is at the indexes", || vacuum.is_finished() || watcher.value(at) == "t");
        run(&mut watcher, &[&format!("select pg_cancel_backend({pid})")]);
        assert_eq!(vacuum.join().unwrap(), "57014 canceling statement due to user request");
    });
    run(&mut client, &["reset vacuum_cost_delay", "vacuum t"]);
    half_is_there(&mut client);
}

#[test]
fn damage_that_a_helper_finds_is_told() {
    let mut server = Server::start(&["min_parallel_index_scan_size=0"]);
    let mut client = server.client();
    run(&mut client, &INDEXED);
    let path = client.value("select pg_relation_filepath('t_c')");
    server.stop();
    let file = fs::OpenOptions::new().read(true).write(true).open(server.data().join(&path)).unwrap();
    let (mut byte, at) = ([0], 5 * 8192 + 100);
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[byte[0] ^ 1], at).unwrap();
    server.run();
    let error = server.client().error("vacuum t");
    assert_eq!(error, format!("XX001 invalid page in block 5 of relation \"{path}\""));
}
