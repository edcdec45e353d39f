//! CREATE, ALTER and DROP TABLESPACE, relations in tablespaces, and crashes at each step.

use std::path::{Path, PathBuf};

use crate::support::crash::crash_if_asked;
use crate::support::{Client, Server};

/// What a statement is answered with: nothing, or the SQLSTATE and the message.
fn answer(s: &Client, statement: &str) -> String {
    match s.run(statement) {
        Ok(_) => String::new(),
        Err(error) => format!("{} {}", error.code(), error.message()),
    }
}

fn all(s: &Client, statements: &[&str]) {
    for statement in statements {
        s.run(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
    }
}

const PLACES: &str = "select relname, coalesce(spcname, '-') from pg_class c
    left join pg_tablespace s on s.oid = reltablespace where relname ~ '^[a-z]_' order by relname";

#[test]
fn what_cannot_be_is_refused_in_postgresql_s_words() {
    let server = Server::new();
    let s = server.connect();
    let taken = server.instance().engine().dir().with_extension("taken");
    std::fs::create_dir_all(taken.join(base::TABLESPACE_VERSION)).unwrap();
    let taken = taken.display().to_string();
    all(&s, &["set allow_in_place_tablespaces = on", "create tablespace a location ''", "create role plain"]);
    for (statement, expected) in [
        ("create tablespace b location 'x'", "42P17 tablespace location must be an absolute path"),
        ("create tablespace b location '/it''s'", "42602 tablespace location cannot contain single quotes"),
        ("create tablespace b location '/no/such'", "58P01 directory \"/no/such\" does not exist"),
        (
            &format!("create tablespace b location '{taken}/'"),
            &format!("55006 directory \"{taken}/PG_18_202506291\" already in use as a tablespace"),
        ),
        ("create tablespace pg_b location ''", "42939 unacceptable tablespace name \"pg_b\""),
        ("create tablespace a location ''", "42710 tablespace \"a\" already exists"),
        ("create tablespace b location '' with (fine = 1)", "22023 unrecognized parameter \"fine\""),
        (
            "create tablespace b location '' with (seq_page_cost = -2)",
            "22023 value -2 out of bounds for option \"seq_page_cost\"",
        ),
        (
            "begin; create tablespace b location ''",
            "25001 CREATE TABLESPACE cannot run inside a transaction block",
        ),
        ("rollback", ""),
        ("drop tablespace nope", "42704 tablespace \"nope\" does not exist"),
        ("drop tablespace if exists nope", ""),
        ("drop tablespace pg_default", "42501 permission denied for tablespace pg_default"),
        ("alter tablespace a rename to pg_a", "42939 unacceptable tablespace name \"pg_a\""),
        ("alter tablespace a rename to pg_default", "42939 unacceptable tablespace name \"pg_default\""),
        (
            "alter tablespace a reset (seq_page_cost = 1)",
            "42601 RESET must not include values for parameters",
        ),
        ("create table t (x int) tablespace nope", "42704 tablespace \"nope\" does not exist"),
        (
            "create table t (x int) tablespace pg_global",
            "22023 only shared relations can be placed in pg_global tablespace",
        ),
        (
            "create table t (x int) partition by list (x) tablespace pg_default",
            "0A000 cannot specify default tablespace for partitioned relations",
        ),
        (
            "set default_tablespace = nope",
            "22023 invalid value for parameter \"default_tablespace\": \"nope\"",
        ),
        ("create table t (x int)", ""),
        (
            "alter table t set tablespace a, set tablespace a",
            "42601 cannot have multiple SET TABLESPACE subcommands",
        ),
        ("set role plain", ""),
        ("create table u (x int) tablespace a", "42501 permission denied for schema public"),
        ("create tablespace b location ''", "42501 permission denied to create tablespace \"b\""),
        ("drop tablespace a", "42501 must be owner of tablespace a"),
    ] {
        assert_eq!(answer(&s, statement), expected, "{statement}");
    }
    std::fs::remove_dir_all(taken).unwrap();
}

#[test]
fn relations_lie_where_they_were_put() {
    let server = Server::new();
    let s = server.connect();
    all(
        &s,
        &[
            "set allow_in_place_tablespaces = on",
            "create tablespace a location ''",
            "create tablespace b location ''",
            "create table t_1 (x int primary key using index tablespace b, v text) tablespace a",
            "insert into t_1 select g, repeat('x', 3000) from generate_series(1, 50) g",
            "create index t_2 on t_1 (v)",
            "create table p_1 (x int) partition by list (x) tablespace a",
            "create table p_2 partition of p_1 for values in (1)",
            "set default_tablespace = b",
            "create table d_1 as select 1 x",
            "create index d_2 on d_1 (x) tablespace pg_default",
            "reset default_tablespace",
        ],
    );
    let places = "d_1|b\nd_2|-\np_1|a\np_2|a\nt_1|a\nt_1_pkey|b\nt_2|-";
    assert_eq!(s.query(PLACES), places);
    let (folder, rows) =
        ("select split_part(pg_relation_filepath('t_1'), '/', 3)", "select sum(length(v)) from t_1");
    assert_eq!(s.query(folder), base::TABLESPACE_VERSION);
    // What is written anew stays.
    all(&s, &["vacuum full t_1", "truncate d_1", "reindex table t_1", "reindex table concurrently t_1"]);
    assert_eq!(s.query(PLACES), places);
    assert_eq!(answer(&s, "drop tablespace b"), "55000 tablespace \"b\" is not empty");
    all(&s, &["alter table t_1 set tablespace b", "begin", "alter table t_1 set tablespace a", "rollback"]);
    all(&s, &["alter index t_2 set tablespace a", "reindex (tablespace pg_default) index t_1_pkey"]);
    assert_eq!(s.query(PLACES), "d_1|b\nd_2|-\np_1|a\np_2|a\nt_1|b\nt_1_pkey|-\nt_2|a");
    assert_eq!(s.query(rows), "150000");
    assert_eq!(s.query("select count(*) from t_1 where x = 7"), "1");
    all(&s, &["alter table all in tablespace b set tablespace pg_default", "drop table p_2"]);
    assert_eq!(s.query(PLACES), "d_1|-\nd_2|-\np_1|a\nt_1|-\nt_1_pkey|-\nt_2|a");
    all(&s, &["drop tablespace b", "drop index t_2"]);
    assert_eq!(
        answer(&s, "drop tablespace a"),
        "2BP01 tablespace \"a\" cannot be dropped because some objects depend on it"
    );
    all(&s, &["drop table p_1", "drop tablespace a"]);
    assert_eq!(s.query(rows), "150000");
    let left = std::fs::read_dir(server.instance().engine().dir().join("pg_tblspc")).unwrap();
    assert_eq!(left.count(), 0);
}

#[test]
fn databases_lie_where_they_were_put() {
    let server = Server::new();
    let s = server.connect();
    all(&s, &["set allow_in_place_tablespaces = on", "create tablespace a location ''"]);
    all(&s, &["create tablespace b location ''", "create database d tablespace a"]);
    let d = server.connect_to("d", "postgres").unwrap();
    all(&d, &["create table t tablespace b as select 7 x", "create table u as select 8 x"]);
    assert_eq!(d.query("select reltablespace from pg_class where relname = 'u'"), "0");
    assert!(d.query("select pg_relation_filepath('u')").starts_with("pg_tblspc/"));
    drop(d);
    for strategy in ["wal_log", "file_copy"] {
        all(&s, &[&format!("create database e template d strategy {strategy}")]);
        let e = server.connect_to("e", "postgres").unwrap();
        assert_eq!(e.query("select t.x, u.x from t, u"), "7|8", "{strategy}");
        drop(e);
        assert_eq!(
            answer(&s, "create database f template d tablespace b"),
            "0A000 cannot assign new default tablespace \"b\""
        );
        all(&s, &["drop database e"]);
    }
    assert_eq!(answer(&s, "drop tablespace a"), "55000 tablespace \"a\" is not empty");
    all(&s, &["drop database d", "drop tablespace a", "drop tablespace b"]);
}

/// How many temporary files of a tablespace there are.
fn temporary_files(s: &Client, tablespace: &str) -> usize {
    let count = format!(
        "select count(*) from pg_ls_tmpdir((select oid from pg_tablespace where spcname = '{tablespace}'))"
    );
    s.query(&count).parse().unwrap()
}

#[test]
fn temporary_relations_and_files_take_turns() {
    let server = Server::new();
    let (s, other) = (server.connect(), server.connect());
    all(
        &s,
        &[
            "set allow_in_place_tablespaces = on",
            "create tablespace a location ''",
            "create tablespace b location ''",
            "create role plain login",
            "grant create on tablespace b to plain",
            "set temp_tablespaces = a, b",
            "create table t_0 (x int)",
            "begin",
            "create temp table t_1 (x int)",
            "create temp table t_2 (x int)",
            "create temp table t_3 as select 1 x",
            "create index t_4 on t_3 (x)",
            "create temp table t_5 (x int) tablespace a",
            "commit",
        ],
    );
    let mut places: Vec<String> = s.query(PLACES).lines().map(str::to_owned).collect();
    assert_eq!((places.remove(0), places.pop().unwrap()), ("t_0|-".to_owned(), "t_5|a".to_owned()));
    let turns: Vec<&str> = places.iter().map(|line| line.split_once('|').unwrap().1).collect();
    assert!(turns == ["a", "b", "a", "b"] || turns == ["b", "a", "b", "a"], "{turns:?}");
    // Files, while something needs them.
    all(
        &s,
        &[
            "set work_mem = '64kB'",
            "begin",
            "declare c cursor for select g, repeat('x', 100) from generate_series(1, 20000) g order by 1 desc",
            "fetch c",
        ],
    );
    let before = (temporary_files(&other, "a"), temporary_files(&other, "b"));
    assert!(before.0 + before.1 > 0 && temporary_files(&other, "pg_default") == 0, "{before:?}");
    all(&s, &["close c", "commit"]);
    assert_eq!((temporary_files(&other, "a"), temporary_files(&other, "b")), (0, 0));
    // A tablespace that somebody has files in stays, and what is gone is passed over.
    all(&s, &["discard temp", "set temp_tablespaces = a", "begin"]);
    all(
        &s,
        &[
            "declare c cursor for select g, repeat('x', 100) from generate_series(1, 20000) g order by 1 desc",
            "fetch c",
        ],
    );
    assert_eq!(answer(&other, "drop tablespace a"), "55000 tablespace \"a\" is not empty");
    all(&s, &["commit", "set temp_tablespaces = a, b"]);
    all(&other, &["drop tablespace a"]);
    all(&s, &["create temp table t_1 (x int)", "create temp table t_2 (x int)"]);
    assert_eq!(s.query(PLACES), "t_0|-\nt_1|b\nt_2|b");
    for (statement, expected) in [
        ("set temp_tablespaces = b, a", "42704 tablespace \"a\" does not exist"),
        ("set temp_tablespaces = ''", ""),
        ("create temp table t_6 (x int)", ""),
        ("set temp_tablespaces = pg_default, b", ""),
        ("set role plain", ""),
        ("set temp_tablespaces = b", ""),
        ("set temp_tablespaces = pg_global", "42501 permission denied for tablespace pg_global"),
        ("reset role", ""),
        ("revoke create on tablespace b from plain", ""),
        ("alter role plain set temp_tablespaces = b", ""),
        ("set role plain", ""),
        ("set temp_tablespaces = b", "42501 permission denied for tablespace b"),
        ("reset role", ""),
    ] {
        assert_eq!(answer(&s, statement), expected, "{statement}");
    }
    assert_eq!(s.query(PLACES), "t_0|-\nt_1|b\nt_2|b\nt_6|-");
    // One that a role may not use is passed over, too.
    let plain = server.connect_to("postgres", "plain").unwrap();
    all(&plain, &["create temp table t_7 (x int)"]);
    assert_eq!(plain.query("select reltablespace from pg_class where relname = 't_7'"), "0");
}

#[test]
fn pages_cost_what_their_tablespace_says() {
    let server = Server::new();
    let s = server.connect();
    all(&s, &["set allow_in_place_tablespaces = on", "create tablespace a location ''", "create database d"]);
    all(&s, &["create tablespace b location '' with (random_page_cost = 100)"]);
    let d = server.connect_to("d", "postgres").unwrap();
    for s in [&s, &d] {
        all(s, &["create table t (x int primary key using index tablespace b) tablespace a"]);
        all(s, &["insert into t select generate_series(1, 10)", "vacuum analyze t"]);
    }
    let total = |s: &Client, off: &[&str]| -> f64 {
        for way in ["seqscan", "indexscan", "indexonlyscan", "bitmapscan"] {
            let value = if off.contains(&way) { "off" } else { "on" };
            all(s, &[&format!("set enable_{way} = {value}")]);
        }
        let plan = s.query("explain select * from t where x = 3");
        let (_, cost) = plan.lines().next().unwrap().split_once("..").unwrap();
        cost.split_once(' ').unwrap().0.parse().unwrap()
    };
    let is_whole = |s: &Client, wanted: f64| {
        let cost = total(s, &["indexscan", "indexonlyscan", "bitmapscan"]);
        // Ten rows in one page.
        assert!((cost - wanted - 0.125).abs() < 0.01, "{cost} instead of {wanted} and the rows");
    };
    let searched = |s: &Client| total(s, &["seqscan"]);
    [&s, &d].into_iter().for_each(|s| is_whole(s, 1.0));
    assert!(searched(&s) > 100.0, "{}", searched(&s));
    all(
        &s,
        &["alter tablespace a set (seq_page_cost = 20)", "alter tablespace b set (random_page_cost = 1)"],
    );
    [&s, &d].into_iter().for_each(|s| is_whole(s, 20.0));
    assert!(searched(&s) < 10.0 && searched(&d) < 10.0, "{} {}", searched(&s), searched(&d));
    all(
        &s,
        &["alter tablespace a reset (seq_page_cost)", "alter tablespace pg_default set (seq_page_cost = 7)"],
    );
    is_whole(&s, 1.0);
    all(&s, &["alter table t set tablespace pg_default"]);
    is_whole(&s, 7.0);
    is_whole(&d, 1.0);
}

#[test]
fn databases_move() {
    let server = Server::new();
    let s = server.connect();
    all(&s, &["set allow_in_place_tablespaces = on", "create tablespace a location ''"]);
    all(&s, &["create tablespace b location ''", "create database d"]);
    let d = server.connect_to("d", "postgres").unwrap();
    all(
        &d,
        &[
            "create table t (x int primary key, v text)",
            "alter table t alter v set storage external",
            "insert into t select g, repeat('abcd', 1000) from generate_series(1, 100) g",
            "create unlogged table u as select 7 x",
            "create table b (x int) tablespace b",
            "insert into b values (8)",
            "reindex table pg_class",
        ],
    );
    assert_eq!(
        answer(&d, "alter database d set tablespace a"),
        "55006 cannot change the tablespace of the currently open database"
    );
    assert_eq!(
        answer(&s, "alter database d set tablespace a"),
        "55006 database \"d\" is being accessed by other users"
    );
    drop(d);
    let folder = |place: &str| {
        let oid = s.query("select oid from pg_database where datname = 'd'");
        let tablespace = s.query(&format!("select oid from pg_tablespace where spcname = '{place}'"));
        let path = base::RelFile::whole_database(
            base::Oid(tablespace.parse().unwrap()),
            base::Oid(oid.parse().unwrap()),
        );
        server.instance().engine().dir().join(path.to_string())
    };
    let is_whole = || {
        let d = server.connect_to("d", "postgres").unwrap();
        assert_eq!(d.query("select count(*), sum(x), min(length(v)) from t"), "100|5050|4000");
        assert_eq!(d.query("select u.x, b.x from u, b"), "7|8");
        all(&d, &["insert into t values (1000, '')", "delete from t where x = 1000", "vacuum t"]);
        d.query("select pg_relation_filepath('t')")
    };
    for (statement, expected) in [
        (
            "alter database d set tablespace b",
            "55000 some relations of database \"d\" are already in tablespace \"b\"",
        ),
        ("alter database d set tablespace pg_global", "22023 pg_global cannot be used as default tablespace"),
        ("alter database d set tablespace pg_default", ""),
        (
            "begin; alter database d set tablespace a",
            "25001 ALTER DATABASE SET TABLESPACE cannot run inside a transaction block",
        ),
        ("rollback", ""),
        ("alter database d set tablespace a", ""),
    ] {
        assert_eq!(answer(&s, statement), expected, "{statement}");
    }
    assert!(is_whole().starts_with("pg_tblspc/"));
    assert!(folder("a").exists() && !folder("pg_default").exists());
    let stored =
        "select spcname from pg_database d join pg_tablespace t on t.oid = dattablespace where datname = 'd'";
    assert_eq!(s.query(stored), "a");
    all(
        &s,
        &["create database e template d", "alter database e set tablespace pg_default", "drop database e"],
    );
    all(&s, &["alter database d set tablespace pg_default"]);
    assert!(is_whole().starts_with("base/"));
    assert!(folder("pg_default").exists() && !folder("a").exists());
    all(&s, &["drop tablespace a", "drop database d", "drop tablespace b"]);
}

/// Moves that a process makes until it crashes.
const MOVES: [&str; 4] = [
    "alter database d set tablespace a",
    "checkpoint",
    "alter database d set tablespace pg_default",
    "alter database d set tablespace a",
];

/// Where it crashes: a stop point, and the passes that are let through.
const MOVES_CRASH_AT: [(&str, u64); 16] = [
    ("database-before-rename", 0),
    ("database-before-rename", 1),
    ("smgr-before-extend", 100),
    ("database-moved", 0),
    ("database-moved", 2),
    ("commit-before-flush", 0),
    ("commit-before-clog", 0),
    ("commit-after-running", 0),
    ("commit-after-running", 2),
    ("database-before-removal", 0),
    ("database-before-removal", 1),
    ("database-before-emptying", 0),
    ("database-before-emptying", 2),
    ("checkpoint-before-map", 0),
    ("checkpoint-before-record", 0),
    ("checkpoint-before-control", 0),
];

#[test]
fn a_crash_leaves_a_database_here_or_there() {
    crash_if_asked("", |_| MOVES.map(str::to_owned).to_vec());
    for (point, skip) in MOVES_CRASH_AT {
        let mut server = Server::new();
        let s = server.connect();
        all(
            &s,
            &["set allow_in_place_tablespaces = on", "create tablespace a location ''", "create database d"],
        );
        let d = server.connect_to("d", "postgres").unwrap();
        all(
            &d,
            &[
                "create table t (x int primary key, v text)",
                "alter table t alter v set storage external",
                "insert into t select g, repeat('abcd', 1000) from generate_series(1, 200) g",
                "reindex table pg_class",
                "create unlogged table u (x int)",
            ],
        );
        drop((s, d));
        let done = server.crash_at("tablespaces::a_crash_leaves_a_database_here_or_there", (point, skip));
        let place = |steps: usize| match MOVES[..steps].iter().rfind(|step| step.starts_with("alter")) {
            Some(step) if step.ends_with('a') => "a",
            _ => "pg_default",
        };
        let s = server.connect();
        let home = "select spcname from pg_database d join pg_tablespace t on t.oid = dattablespace where datname = 'd'";
        let home = s.query(home);
        let fits = [done, done + 1].into_iter().any(|n| n <= MOVES.len() && place(n) == home);
        assert!(fits, "{point} after {skip}, {done} steps done: {home}");
        let there = "select datname, spcname from pg_tablespace t, lateral pg_tablespace_databases(t.oid) d(id) join pg_database on oid = d.id where datname = 'd'";
        assert_eq!(s.query(there), format!("d|{home}"), "{point} after {skip}");
        let folder = s.query("select oid from pg_database where datname = 'd'");
        let tablespace = s.query(&format!("select oid from pg_tablespace where spcname = '{home}'"));
        let path = base::RelFile::whole_database(
            base::Oid(tablespace.parse().unwrap()),
            base::Oid(folder.parse().unwrap()),
        );
        let maker = server.instance().engine().dir().join(path.to_string()).join(engine::database::MAKER);
        assert!(!maker.exists(), "{point} after {skip}");
        let d = server.connect_to("d", "postgres").unwrap();
        assert_eq!(
            d.query("select count(*), sum(x), min(length(v)) from t"),
            "200|20100|4000",
            "{point} {skip}"
        );
        assert_eq!(d.query("select count(*) from t where x between 50 and 59"), "10");
        all(&d, &["insert into u values (1)", "reindex table pg_class", "insert into t values (1001, '')"]);
        drop(d);
        all(&s, &["checkpoint"]);
        for to in ["pg_default", "a"] {
            all(&s, &[&format!("alter database d set tablespace {to}")]);
            let d = server.connect_to("d", "postgres").unwrap();
            assert_eq!(d.query("select count(*) from t, u"), "201", "{point} after {skip}");
        }
    }
}

/// What a process does until it crashes. The first tablespace lies beside the data directory, the second inside.
const STEPS: [&str; 8] = [
    "create tablespace a location '<beside>'",
    "create tablespace b location ''",
    "alter table t set tablespace a",
    "checkpoint",
    "alter table t set tablespace b",
    "drop tablespace a",
    "alter table t set tablespace pg_default",
    "drop tablespace b",
];

/// Where it crashes: a stop point, and the passes that are let through.
const CRASHES_AT: [(&str, u64); 8] = [
    ("tablespace-before-folder", 0),
    ("tablespace-before-link", 0),
    ("tablespace-made", 1),
    ("relation-copied", 0),
    ("relation-copied", 4),
    ("tablespace-before-removal", 0),
    ("tablespace-before-link-goes", 0),
    ("commit-after-running", 3),
];

/// The location of the first tablespace of this data directory.
fn beside(dir: &Path) -> PathBuf {
    dir.with_extension("beside")
}

/// The tablespaces and the table's one after so many steps.
fn expected(done: usize) -> (Vec<&'static str>, &'static str) {
    let (mut there, mut place) = (Vec::new(), "");
    for step in &STEPS[..done] {
        match step.split(' ').collect::<Vec<_>>()[..] {
            ["create", "tablespace", name, ..] => there.push(name),
            ["drop", "tablespace", name] => there.retain(|other| *other != name),
            ["alter", "table", .., name] => place = if name == "pg_default" { "" } else { name },
            _ => {}
        }
    }
    (there, place)
}

/// The table is whole, and what lies in the folder of tablespaces is one of them. Returns those, and the table's.
fn check(server: &Server) -> (Vec<String>, String) {
    let s = server.connect();
    let lines = |query: &str| -> Vec<String> { s.query(query).lines().map(str::to_owned).collect() };
    let own = "from pg_tablespace where spcname !~ '^pg_'";
    let oids = lines(&format!("select oid {own} order by oid::text"));
    let data = server.instance().engine().dir().to_path_buf();
    let names = |folder: &str| -> Vec<String> {
        let entries = std::fs::read_dir(data.join(folder)).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    };
    let mut folders = names("pg_tblspc");
    folders.sort();
    assert_eq!(folders, oids);
    let is_used = s.query("select count(*) from pg_tablespace where spcname = 'a'") == "1";
    assert_eq!(std::fs::read_dir(beside(&data)).unwrap().count(), usize::from(is_used));
    assert!(!names("global").iter().any(|name| name.ends_with(".unfinished")));
    assert_eq!(s.query("select count(*), sum(x), min(length(v)) from t"), "200|20100|4000");
    assert_eq!(s.query("select count(*) from t where x between 50 and 59"), "10");
    let place =
        "select coalesce(spcname, '') from pg_class c left join pg_tablespace s on s.oid = reltablespace
        where relname = 't'";
    (lines(&format!("select spcname {own} order by spcname")), s.query(place))
}

#[test]
fn a_crash_at_any_step_leaves_whole_relations_and_no_lost_tablespaces() {
    crash_if_asked("set allow_in_place_tablespaces = on", |dir| {
        let location = beside(dir).display().to_string();
        STEPS.map(|step| step.replace("<beside>", &location)).to_vec()
    });
    for (point, skip) in CRASHES_AT {
        // A new one each time: a crash leaves the files of a relation that was on its way.
        let mut server = Server::new();
        let location = beside(server.instance().engine().dir());
        std::fs::create_dir(&location).unwrap();
        all(
            &server.connect(),
            &[
                "create table t (x int primary key, v text)",
                "alter table t alter v set storage external",
                "insert into t select g, repeat('abcd', 1000) from generate_series(1, 200) g",
            ],
        );
        let test = "tablespaces::a_crash_at_any_step_leaves_whole_relations_and_no_lost_tablespaces";
        let done = server.crash_at(test, (point, skip));
        let (there, place) = check(&server);
        let fits = |n: usize| {
            let (names, home) = expected(n);
            names == there && home == place
        };
        let fits = [done, done + 1].into_iter().any(|n| n <= STEPS.len() && fits(n));
        assert!(fits, "{point} after {skip}, {done} steps done: {there:?}, {place}");
        server.connect().run("alter table t set tablespace pg_default").unwrap();
        check(&server);
        std::fs::remove_dir_all(location).unwrap();
    }
}
