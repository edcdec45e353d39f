//! Databases of a running server: DROP DATABASE ... (FORCE), kill -9 while databases come and go, sessions of many databases.

use std::thread;
use std::time::Duration;

use crate::support::{Client, Failure, Random, Server, knob, signal_to, until};

fn connect(server: &Server, database: &str) -> Client {
    let found = server.connect(&[("user", "postgres"), ("database", database)]);
    found.unwrap_or_else(|failure| panic!("{database}: {failure:?}"))
}

#[test]
fn force_ends_the_sessions_that_are_in_the_way() {
    let server = Server::start(&["max_prepared_transactions=5"]);
    let mut s = server.client();
    s.query("create database d").unwrap();
    s.query("create role plain login createdb").unwrap();
    let mut idle = connect(&server, "d");
    let mut busy = connect(&server, "d");
    let mut open = connect(&server, "d");
    open.query("create table t (x int)").unwrap();
    open.query("begin").unwrap();
    open.query("insert into t values (1)").unwrap();
    let sleeping = thread::spawn(move || busy.query("select pg_sleep(600)"));
    let active = "select count(*) from pg_stat_activity where datname = 'd' and state = 'active'";
    until("a session sleeps", || s.value(active) == "1");

    let mut prepared = connect(&server, "d");
    prepared.query("begin").unwrap();
    prepared.query("insert into t values (2)").unwrap();
    prepared.query("prepare transaction 'p'").unwrap();
    assert_eq!(
        s.error("drop database d with (force)"),
        "55006 database \"d\" is being used by prepared transactions"
    );
    prepared.query("rollback prepared 'p'").unwrap();

    // Who may not end them ends none.
    s.query("alter database d owner to plain").unwrap();
    let mut plain = server.connect(&[("user", "plain"), ("database", "postgres")]).unwrap();
    assert_eq!(plain.error("drop database d (force)"), "42501 permission denied to terminate process");
    assert_eq!(idle.value("select 1"), "1");

    s.query("drop database d with (force)").unwrap();
    let ended = "terminating connection due to administrator command";
    for lost in [idle.query("select 1"), open.query("commit"), sleeping.join().unwrap()] {
        match lost {
            Err(Failure::Lost) => {}
            Err(Failure::Error { severity, code, message }) => {
                assert_eq!((severity.as_str(), code.as_str(), message.as_str()), ("FATAL", "57P01", ended));
            }
            Ok(rows) => panic!("an answer from a database that is gone: {rows:?}"),
        }
    }
    let gone = server.connect(&[("user", "postgres"), ("database", "d")]);
    let Err(Failure::Error { severity, code, .. }) = gone else { panic!("d is entered") };
    assert_eq!((severity.as_str(), code.as_str()), ("FATAL", "3D000"));
    assert_eq!(s.value("select count(*) from pg_stat_activity where datname = 'd'"), "0");
}

/// Makes and removes databases until the server is gone.
fn churn(server: &Server, mut random: Random, worker: usize) {
    let mut s = server.client();
    for n in 0..1000 {
        let name = format!("w{worker}_{n}");
        let strategy = ["wal_log", "file_copy"][random.below(2) as usize];
        // Another one may copy the template just now: then it is tried again.
        let made = s.query(&format!("create database {name} template filled strategy {strategy}"));
        let done = made.and_then(|_| match random.below(2) {
            0 => s.query(&format!("drop database {name}")),
            _ => s.query(&format!("alter database {name} rename to {name}x")),
        });
        match done {
            Err(Failure::Lost) => return,
            Err(Failure::Error { severity, .. }) if severity == "FATAL" => return,
            done => drop(done.unwrap_or_else(|failure| panic!("{name}: {failure:?}"))),
        }
    }
}

/// Every database is whole, and every folder belongs to one.
fn check(server: &Server) -> usize {
    let mut s = server.client();
    let rows = s.query("select oid::text, datname from pg_database").unwrap();
    let known: Vec<(String, String)> =
        rows.into_iter().map(|mut row| (row[0].take().unwrap(), row[1].take().unwrap())).collect();
    let folders = std::fs::read_dir(server.data().join("base")).unwrap();
    let mut folders: Vec<String> = folders.map(|f| f.unwrap().file_name().into_string().unwrap()).collect();
    folders.retain(|name| name != "pgsql_tmp");
    folders.sort();
    let mut oids: Vec<String> = known.iter().map(|(oid, _)| oid.clone()).collect();
    oids.sort();
    assert_eq!(folders, oids);
    let made: Vec<&String> = known
        .iter()
        .map(|(_, name)| name)
        .filter(|name| name.starts_with('w') || *name == "filled")
        .collect();
    for name in &made {
        let mut d = connect(server, name);
        assert_eq!(d.value("select count(*)::text || ' ' || sum(length(v)) from t"), "500 500000", "{name}");
        assert_eq!(d.value("select count(*) from t where id between 100 and 199"), "100", "{name}");
        d.query("insert into t values (0, '')").unwrap();
        d.query("delete from t where id = 0").unwrap();
    }
    made.len()
}

#[test]
fn kill_9_leaves_whole_databases_and_no_lost_files() {
    let seed = knob("STAMPEDE_TEST_SEED", u64::from(std::process::id()));
    println!("STAMPEDE_TEST_SEED={seed}");
    let mut random = Random(seed);
    let mut server = Server::start(&["checkpoint_timeout=30s"]);
    server.client().query("create database filled").unwrap();
    let mut filled = connect(&server, "filled");
    filled.query("create table t (id int primary key, v text)").unwrap();
    filled.query("insert into t select g, repeat('x', 1000) from generate_series(1, 500) g").unwrap();
    drop(filled);
    for round in 0..knob("STAMPEDE_CRASH_ROUNDS", 3) {
        let pid = server.pid();
        thread::scope(|scope| {
            for worker in 0..2 {
                let (server, seed) = (&server, random.next());
                scope.spawn(move || churn(server, Random(seed), (round * 10) as usize + worker));
            }
            thread::sleep(Duration::from_millis(400 + random.below(2_500)));
            signal_to(pid, libc::SIGKILL);
        });
        server.wait();
        server.run();
        println!("round {round}: {} databases", check(&server));
        let mut s = server.client();
        for row in s.query("select datname from pg_database where datname like 'w%'").unwrap() {
            s.query(&format!("drop database {}", row[0].as_ref().unwrap())).unwrap();
        }
    }
    check(&server);
}
