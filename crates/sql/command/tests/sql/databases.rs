//! CREATE, ALTER and DROP DATABASE, and sessions of several databases.

use std::collections::BTreeSet;

use crate::support::crash::crash_if_asked;
use crate::support::{Client, Server};

fn connect(server: &Server, database: &str) -> Client {
    server.connect_to(database, "postgres").unwrap_or_else(|error| panic!("{database}: {error}"))
}

/// What a statement is answered with: nothing, or the SQLSTATE and the message.
fn answer(s: &Client, statement: &str) -> String {
    match s.run(statement) {
        Ok(_) => String::new(),
        Err(error) => format!("{} {}", error.code(), error.message()),
    }
}

#[test]
fn what_cannot_be_is_refused_in_postgresql_s_words() {
    let server = Server::new();
    let s = server.connect();
    for statement in ["create database d", "create role plain login", "create role maker login createdb"] {
        s.run(statement).unwrap();
    }
    for (statement, expected) in [
        ("create database d", "42P04 database \"d\" already exists"),
        ("create database e template nope", "3D000 template database \"nope\" does not exist"),
        ("create database e owner nope", "42704 role \"nope\" does not exist"),
        ("create database e encoding 'nope'", "42704 nope is not a valid encoding name"),
        ("create database e encoding 'SJIS'", "42704 SJIS is not a valid encoding name"),
        ("create database e encoding 99", "42704 99 is not a valid encoding code"),
        (
            "create database e encoding 'LATIN1'",
            "22023 encoding \"LATIN1\" does not match locale \"C.UTF-8\"",
        ),
        (
            "create database e encoding 'SQL_ASCII'",
            "22023 new encoding (SQL_ASCII) is incompatible with the encoding of the template database (UTF8)",
        ),
        (
            "create database e encoding 'LATIN1' locale 'C' template template0",
            "0A000 server encoding \"LATIN1\" is not supported yet",
        ),
        (
            "create database e encoding 0 locale_provider builtin builtin_locale 'C.UTF-8' template template0",
            "42809 encoding \"SQL_ASCII\" does not match locale \"C.UTF-8\"",
        ),
        (
            "create database e locale 'C'",
            "22023 new collation (C) is incompatible with the collation of the template database (C.UTF-8)",
        ),
        (
            "create database e lc_ctype 'C'",
            "22023 new LC_CTYPE (C) is incompatible with the LC_CTYPE of the template database (C.UTF-8)",
        ),
        (
            "create database e locale 'en_US.UTF-8' template template0",
            "42809 invalid LC_COLLATE locale name: \"en_US.UTF-8\"",
        ),
        (
            "create database e locale_provider builtin template template0",
            "22023 LOCALE or BUILTIN_LOCALE must be specified",
        ),
        (
            "create database e locale_provider builtin builtin_locale 'C.UTF-8'",
            "22023 new locale provider (builtin) does not match locale provider of the template database (libc)",
        ),
        (
            "create database e builtin_locale 'C' template template0",
            "42P17 BUILTIN_LOCALE cannot be specified unless locale provider is builtin",
        ),
        ("create database e locale_provider x", "42P17 unrecognized locale provider: x"),
        ("create database e tablespace nope", "42704 tablespace \"nope\" does not exist"),
        ("create database e tablespace pg_global", "22023 pg_global cannot be used as default tablespace"),
        ("create database e connection limit -2", "22023 invalid connection limit: -2"),
        ("create database e strategy x", "22023 invalid create database strategy \"x\""),
        ("create database e oid 16000", "22023 OIDs less than 16384 are reserved for system objects"),
        ("create database e owner plain owner maker", "42601 conflicting or redundant options"),
        ("create database e nonsense 4", "42601 option \"nonsense\" not recognized"),
        ("drop database nope", "3D000 database \"nope\" does not exist"),
        ("drop database postgres", "55006 cannot drop the currently open database"),
        ("drop database template1", "42809 cannot drop a template database"),
        ("alter database nope connection limit 1", "3D000 database \"nope\" does not exist"),
        ("alter database d nonsense 4", "42601 option \"nonsense\" not recognized"),
        (
            "alter database postgres allow_connections false",
            "22023 cannot disallow connections for current database",
        ),
        ("alter database postgres rename to e", "0A000 current database cannot be renamed"),
        ("alter database d rename to postgres", "42P04 database \"postgres\" already exists"),
        ("alter database d set tablespace nope", "42704 tablespace \"nope\" does not exist"),
        (
            "alter database postgres set tablespace pg_default",
            "55006 cannot change the tablespace of the currently open database",
        ),
        ("alter database d set tablespace pg_default", ""),
        ("begin; create database e", "25001 CREATE DATABASE cannot run inside a transaction block"),
        ("rollback; begin; drop database d", "25001 DROP DATABASE cannot run inside a transaction block"),
        (
            "rollback; begin; alter database d tablespace pg_default",
            "25001 ALTER DATABASE SET TABLESPACE cannot run inside a transaction block",
        ),
        ("rollback", ""),
        ("set session authorization plain", ""),
        ("create database e", "42501 permission denied to create database"),
        ("drop database d", "42501 must be owner of database d"),
        ("alter database d rename to e", "42501 must be owner of database d"),
        ("alter database d connection limit 3", "42501 must be owner of database d"),
        ("set session authorization maker", ""),
        ("create database e owner plain", "42501 must be able to SET ROLE \"plain\""),
        ("create database e template d", "42501 permission denied to copy database \"d\""),
        ("create database e is_template true", ""),
        ("alter database e is_template false", ""),
        ("drop database e", ""),
        ("reset session authorization", ""),
    ] {
        assert_eq!(answer(&s, statement), expected, "{statement}");
    }
    assert_eq!(s.query("select datname from pg_database order by oid"), "template1\ntemplate0\npostgres\nd");
}

#[test]
fn the_first_databases_are_postgresql_s() {
    let server = Server::new();
    let rows = server.connect().query(
        "select d.oid, datname, datistemplate, datallowconn, datconnlimit, encoding, datacl,
             shobj_description(d.oid, 'pg_database')
         from pg_database d order by d.oid",
    );
    assert_eq!(
        rows,
        "1|template1|t|t|-1|6|{=c/postgres,postgres=CTc/postgres}|default template for new databases\n\
         4|template0|t|f|-1|6|{=c/postgres,postgres=CTc/postgres}|unmodifiable empty database\n\
         5|postgres|f|t|-1|6||default administrative connection database"
    );
}

#[test]
fn a_database_has_what_its_template_has_and_is_its_own() {
    let mut server = Server::new();
    let in_template = connect(&server, "template1");
    in_template.run("create role owner login; create table t (id int primary key, v text)").unwrap();
    in_template.run("insert into t select g, repeat('long', 3000) from generate_series(1, 9) g").unwrap();
    in_template.run("alter table t owner to owner").unwrap();
    in_template.run("vacuum full pg_class").unwrap();
    drop(in_template);
    let s = server.connect();
    s.run("create database logged").unwrap();
    s.run("create database copied strategy file_copy owner owner connection limit 7").unwrap();
    let whole = "select count(*), sum(id), min(length(v)) from t";
    for database in ["logged", "copied"] {
        let other = connect(&server, database);
        assert_eq!(other.query(whole), "9|45|12000", "{database}");
        other.run(&format!("create table own (name text); insert into own values ('{database}')")).unwrap();
        other.run(&format!("delete from t where id = {}", database.len() % 5 + 1)).unwrap();
        assert_eq!(other.query("select current_database(), name from own"), format!("{database}|{database}"));
    }
    assert_eq!(connect(&server, "template1").query(whole), "9|45|12000");
    // What is in them needs the role, and so does the one that it owns.
    assert_eq!(
        answer(&s, "drop role owner"),
        "2BP01 role \"owner\" cannot be dropped because some objects depend on it"
    );
    assert_eq!(
        s.query("select datdba::regrole, datconnlimit from pg_database where datname = 'copied'"),
        "owner|7"
    );
    drop(s);
    server.crash_and_restart();
    for database in ["logged", "copied"] {
        let other = connect(&server, database);
        assert_eq!(other.query("select name from own"), database);
        assert_eq!(other.query("select count(*) from t"), "8");
        other.run("vacuum freeze").unwrap();
    }
    let s = server.connect();
    s.run("drop database logged").unwrap();
    s.run("drop database copied").unwrap();
    let needing =
        "select count(*) from pg_shdepend where dbid <> 0 and dbid not in (select oid from pg_database)";
    assert_eq!(s.query(needing), "0");
}

#[test]
fn sessions_side_by_side_do_not_mix() {
    let server = Server::new();
    let s = server.connect();
    s.run("create database a").unwrap();
    s.run("create database b").unwrap();
    let [a, b] = ["a", "b"].map(|database| connect(&server, database));
    a.run("create table t (id int primary key, v text); insert into t values (1, 'of a')").unwrap();
    // Before the other database has such a table, the plan of a text is kept for this one.
    let text = "select v from t where id = 1";
    for _ in 0..4 {
        assert_eq!(a.query(text), "of a");
        assert_eq!(b.query(text), "ERROR:  relation \"t\" does not exist");
    }
    b.run("create table t (v text, id numeric); insert into t values ('of b', 1)").unwrap();
    for session in [&a, &b] {
        session.run("prepare p as select v from t where id = $1").unwrap();
    }
    for _ in 0..6 {
        assert_eq!((a.query(text), b.query(text)), ("of a".into(), "of b".into()));
        assert_eq!((a.query("execute p(1)"), b.query("execute p(1)")), ("of a".into(), "of b".into()));
    }
    // A change in one is none in the other; a change of roles is one in both.
    a.run("drop table t").unwrap();
    assert_eq!(a.query("execute p(1)"), "ERROR:  relation \"t\" does not exist");
    assert_eq!(b.query("execute p(1)"), "of b");
    b.run("create role reader login; create table secret (x int)").unwrap();
    let reader = server.connect_to("b", "reader").unwrap();
    assert_eq!(reader.query("select * from secret"), "ERROR:  permission denied for table secret");
    a.run("alter role reader superuser").unwrap();
    assert_eq!(reader.query("select count(*) from secret"), "0");
    // Advisory locks, channels and sessions are of a database; roles and databases are of all.
    assert_eq!(a.query("select pg_try_advisory_lock(1)"), "t");
    assert_eq!(b.query("select pg_try_advisory_lock(1)"), "t");
    assert_eq!(
        s.query(
            "select datname, count(*) from pg_stat_activity where datname in ('a', 'b') group by 1 order by 1"
        ),
        "a|1\nb|2"
    );
    assert_eq!(s.query("select numbackends from pg_stat_database where datname = 'b'"), "2");
    assert_eq!(
        b.query("select * from a.public.t"),
        "ERROR:  cross-database references are not implemented: \"a.public.t\""
    );
    assert_eq!(b.query("select 'b.public.t'::regclass"), "t");
    assert_eq!(
        b.query("select 'a.public.t'::regclass"),
        "ERROR:  cross-database references are not implemented: \"a.public.t\""
    );
}

#[test]
fn who_may_enter() {
    let server = Server::new();
    let s = server.connect();
    for statement in [
        "create role plain login",
        "create database d connection limit 1",
        "create database shut allow_connections false",
        "create database closed",
        "revoke connect on database closed from public",
    ] {
        s.run(statement).unwrap();
    }
    let refused = |database: &str, user: &str| match server.connect_to(database, user) {
        Ok(_) => panic!("{user} enters {database}"),
        Err(error) => format!("{} {}", error.code(), error.message()),
    };
    assert_eq!(refused("nope", "plain"), "3D000 database \"nope\" does not exist");
    assert_eq!(refused("shut", "postgres"), "55000 database \"shut\" is not currently accepting connections");
    assert_eq!(
        refused("template0", "postgres"),
        "55000 database \"template0\" is not currently accepting connections"
    );
    assert_eq!(refused("closed", "plain"), "42501 permission denied for database \"closed\"");
    let first = server.connect_to("d", "plain").unwrap();
    assert_eq!(refused("d", "plain"), "53300 too many connections for database \"d\"");
    connect(&server, "d");
    drop(first);
    server.connect_to("d", "plain").unwrap();
    // Settings of the database hold for who enters.
    s.run("alter database closed set work_mem = '77kB'").unwrap();
    assert_eq!(connect(&server, "closed").query("show work_mem"), "77kB");
    s.run("alter database closed rename to open").unwrap();
    let open = connect(&server, "open");
    assert_eq!(open.query("select current_database(), current_setting('work_mem')"), "open|77kB");
    assert_eq!(refused("closed", "postgres"), "3D000 database \"closed\" does not exist");
}

#[test]
fn a_database_that_is_used_is_neither_copied_nor_removed() {
    let server = Server::new();
    let s = server.connect();
    s.run("create database d").unwrap();
    let inside = connect(&server, "d");
    let refused = |statement: &str, expected: &str| {
        let Err(error) = s.run(statement) else { panic!("{statement} is not refused") };
        assert_eq!(format!("{} {}", error.code(), error.message()), expected);
        assert_eq!(
            error.report().detail.as_deref(),
            Some("There is 1 other session using the database."),
            "{statement}"
        );
    };
    refused("drop database d", "55006 database \"d\" is being accessed by other users");
    refused("create database e template d", "55006 source database \"d\" is being accessed by other users");
    refused("alter database d rename to e", "55006 database \"d\" is being accessed by other users");
    drop(inside);
    s.run("create database e template d").unwrap();
    s.run("drop database d").unwrap();
}

#[test]
fn nothing_is_left_of_a_database_for_the_next_of_its_oid() {
    let server = Server::new();
    let s = server.connect();
    let text = "select v from t where id = 1";
    for round in 0..3 {
        s.run("create database d oid 70000").unwrap();
        let d = connect(&server, "d");
        let ty = ["text", "int", "numeric"][round];
        d.run(&format!("create table filler{round} (x int)")).unwrap();
        d.run(&format!("create table t (id int primary key, v {ty}); insert into t values (1, {round})"))
            .unwrap();
        for _ in 0..4 {
            assert_eq!(d.query(text), round.to_string());
        }
        if round == 1 {
            s.run("checkpoint").unwrap();
        }
        drop(d);
        let rows = "select xact_commit from pg_stat_database where datid = 70000";
        assert_ne!(s.query(rows), "0");
        s.run("drop database d").unwrap();
        assert_eq!(s.query(rows), "");
    }
}

/// What a process does until it crashes.
const STEPS: [&str; 8] = [
    "create database logged template filled",
    "create database copied template filled strategy file_copy",
    "drop database logged",
    "create database again template copied",
    "checkpoint",
    "alter database again rename to renamed",
    "drop database copied",
    "drop database renamed",
];

/// Where it crashes: a stop point, and the passes that are let through.
const CRASHES_AT: [(&str, u64); 18] = [
    ("database-before-rename", 0),
    ("database-before-rename", 1),
    ("database-made", 0),
    ("database-made", 1),
    ("database-before-removal", 0),
    ("database-before-removal", 1),
    ("database-before-emptying", 0),
    ("database-before-emptying", 1),
    ("smgr-before-extend", 3),
    ("smgr-before-extend", 300),
    ("commit-before-flush", 0),
    ("commit-before-flush", 1),
    ("commit-before-clog", 0),
    ("commit-after-running", 1),
    ("commit-before-clog", 2),
    ("checkpoint-before-record", 0),
    ("checkpoint-before-control", 0),
    ("commit-after-clog", 5),
];

/// The databases that there are after so many steps.
fn expected(done: usize) -> BTreeSet<&'static str> {
    let mut names = BTreeSet::from(["filled", "postgres", "template0", "template1"]);
    for step in &STEPS[..done] {
        let words: Vec<&str> = step.split(' ').collect();
        match words[..] {
            ["create", "database", name, ..] => _ = names.insert(name),
            ["drop", "database", name] => _ = names.remove(name),
            ["alter", "database", old, "rename", "to", new] => {
                names.remove(old);
                names.insert(new);
            }
            _ => {}
        }
    }
    names
}

/// Every database is whole, and each folder is one of them.
fn check(server: &Server) -> BTreeSet<String> {
    let s = server.connect();
    let names: BTreeSet<String> =
        s.query("select datname from pg_database").lines().map(str::to_owned).collect();
    let oids: BTreeSet<String> = s.query("select oid from pg_database").lines().map(str::to_owned).collect();
    let base = server.instance().engine().dir().join("base");
    let folders =
        std::fs::read_dir(&base).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let folders: BTreeSet<String> = folders.filter(|name| name != "pgsql_tmp").collect();
    assert_eq!(folders, oids);
    for oid in &oids {
        assert!(!base.join(oid).join(engine::database::MAKER).exists(), "{oid} is unfinished");
    }
    for name in names.iter().filter(|name| !name.starts_with("template") && *name != "postgres") {
        let d = connect(server, name);
        assert_eq!(d.query("select count(*), sum(id), min(length(v)) from t"), "200|20100|4000", "{name}");
        assert_eq!(d.query("select count(*) from t where id between 50 and 59"), "10", "{name}");
    }
    names
}

#[test]
fn a_crash_at_any_step_leaves_whole_databases_and_no_lost_files() {
    crash_if_asked("", |_| STEPS.map(str::to_owned).to_vec());
    let mut server = Server::new();
    server.connect().run("create database filled").unwrap();
    let filled = connect(&server, "filled");
    filled.run("create table t (id int primary key, v text)").unwrap();
    filled.run("insert into t select g, repeat('abcd', 1000) from generate_series(1, 200) g").unwrap();
    filled.run("reindex table pg_class").unwrap();
    drop(filled);
    for (point, skip) in CRASHES_AT {
        let test = "databases::a_crash_at_any_step_leaves_whole_databases_and_no_lost_files";
        let done = server.crash_at(test, (point, skip));
        let names = check(&server);
        let fits = [done, done + 1].iter().any(|&n| n <= STEPS.len() && expected(n).iter().eq(names.iter()));
        assert!(fits, "{point} after {skip}, {done} steps done: {names:?}");
        let s = server.connect();
        for name in names.difference(&expected(0).iter().map(|&name| name.to_owned()).collect()) {
            s.run(&format!("drop database {name}")).unwrap();
        }
        drop(s);
        check(&server);
    }
}
