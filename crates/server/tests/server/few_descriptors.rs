//! A server that may have few files open: it serves more tables than that, survives a crash under the same limit, and turns away
//! connections that no descriptor is left for without harm to the others.

use std::os::unix::process::CommandExt;

use crate::support::{Client, Failure, Server, until};

const LIMIT: libc::rlim_t = 256;

/// A server whose process may have [`LIMIT`] descriptors.
fn limited(settings: &[&str]) -> Server {
    let mut server = Server::init(&[]);
    for setting in settings {
        server.set_option(setting);
    }
    server.prepare(|command| {
        let limit = libc::rlimit { rlim_cur: LIMIT, rlim_max: LIMIT };
        // SAFETY: between fork and exec there is one system call, with a pointer to plain data.
        unsafe {
            command.pre_exec(move || match libc::setrlimit(libc::RLIMIT_NOFILE, &limit) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            });
        }
    });
    server.run();
    server
}

/// Files that a server has open.
fn open_files(server: &Server) -> usize {
    std::fs::read_dir(format!("/proc/{}/fd", server.pid())).unwrap().count()
}

const TABLES: usize = 400;

#[test]
fn more_tables_than_descriptors() {
    let mut server = limited(&["max_connections=20"]);
    let mut client = server.client();
    let each = |statement: &str| {
        format!("do $$ begin for n in 1..{TABLES} loop execute format('{statement}', n); end loop; end $$")
    };
    client.query(&each("create table t%1$s (id int primary key, v text)")).unwrap();
    client
        .query(&each("insert into t%1$s select g, repeat(''x'', 100) from generate_series(1, 50) g"))
        .unwrap();
    let files = client.value("select count(*) from pg_class where relname ~ '^t[0-9]+(_pkey)?$'");
    assert_eq!(files, (2 * TABLES).to_string());
    client.query("checkpoint").unwrap();
    client.query(&each("update t%1$s set v = ''y'' where id = 7")).unwrap();
    assert!(open_files(&server) < LIMIT as usize);
    server.kill();
    server.run();
    let mut client = server.client();
    let rows = each("select 1 / (count(*) = 50 and max(v) = ''y'')::int from t%1$s");
    client.query(&rows).unwrap();
    // Sorts that go to temporary files find descriptors too.
    client.query("set work_mem = 64").unwrap();
    let sorted = "select count(*) from (select g from generate_series(1, 300000) g order by g::text desc) s";
    assert_eq!(client.value(sorted), "300000");
    server.stop();
}

#[test]
fn connections_beyond_the_limit_are_turned_away() {
    let mut server = limited(&["max_connections=500"]);
    let mut first = server.client();
    first.query("create table t (a int); insert into t values (1)").unwrap();
    let mut others: Vec<Client> = Vec::new();
    let lost = loop {
        match Client::connect(server.port, &[("user", "postgres"), ("database", "postgres")]) {
            Ok(client) => others.push(client),
            Err(failure) => break failure,
        }
        assert!(others.len() < LIMIT as usize);
    };
    assert!(matches!(lost, Failure::Lost), "{lost:?}");
    assert!(others.len() > 50, "{} connections", others.len());
    first
        .query("create table u as select g from generate_series(1, 1000) g; insert into t values (2)")
        .unwrap();
    for client in &mut others {
        assert_eq!(client.value("select sum(a) from t"), "3");
    }
    assert_eq!(server.log().matches("could not accept new connection: Too many open files").count(), 1);
    others.clear();
    until("there is room for others", || {
        Client::connect(server.port, &[("user", "postgres"), ("database", "postgres")]).is_ok()
    });
    server.stop();
}
