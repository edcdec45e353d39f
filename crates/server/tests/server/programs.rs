//! PostgreSQL's client programs against the server: createdb, vacuumdb, reindexdb and their kin, pg_dump and pg_restore.
//!
//! A program that is missing is skipped, with a notice. `STAMPEDE_CLIENTS` names the folder to look in before PATH: pg_dump must be no older
//! than the server says it is.

use std::path::Path;
use std::process::Command;

use crate::support::{Server, exists, has, output, text};

/// The program, if it is there.
fn program(name: &str) -> Option<String> {
    let own = std::env::var("STAMPEDE_CLIENTS").map(|folder| format!("{folder}/{name}"));
    let found = own.ok().filter(|path| exists(Path::new(path))).unwrap_or_else(|| name.to_owned());
    has(&found).then_some(found)
}

/// Its major version.
fn version(program: &str) -> u32 {
    let said = text(&output(Command::new(program).arg("--version")));
    let number = said.split(' ').find_map(|word| word.split('.').next()?.parse().ok());
    number.unwrap_or(0)
}

/// Runs a program that must succeed; what it printed.
fn run(server: &Server, name: &str, arguments: &[&str]) -> Option<String> {
    let mut command = server.tool(&program(name)?);
    command.args(arguments);
    let done = output(&mut command);
    assert!(done.status.success(), "{name} {arguments:?}: {}", text(&done));
    Some(text(&done))
}

#[test]
fn databases_and_roles_come_and_go() {
    let server = Server::start(&[]);
    let mut s = server.client();
    run(&server, "pg_isready", &[]);
    if run(&server, "createuser", &["--createdb", "--no-inherit", "--connection-limit=4", "maker"]).is_none()
    {
        return;
    }
    let role =
        "select rolcreatedb, rolinherit, rolcanlogin, rolconnlimit from pg_roles where rolname = 'maker'";
    assert_eq!(
        s.query(role).unwrap(),
        [["t", "f", "t", "4"].map(|v| Some(v.to_string())).to_vec()],
        "what createuser made"
    );
    run(&server, "createdb", &["--owner=maker", "made", "it has a comment"]);
    run(
        &server,
        "createdb",
        &["--template=template0", "--encoding=UTF8", "--locale=C", "--strategy=file_copy", "copied"],
    );
    let made = "select datname || ' ' || datdba::regrole || ' ' || datcollate || ' ' || \
                coalesce(shobj_description(oid, 'pg_database'), '-') from pg_database where oid >= 16384 order by 1";
    let rows = s.query(made).unwrap();
    let rows: Vec<String> = rows.into_iter().map(|mut row| row[0].take().unwrap()).collect();
    assert_eq!(rows, ["copied postgres C -", "made maker C.UTF-8 it has a comment"]);
    run(&server, "dropdb", &["copied"]);
    run(&server, "dropdb", &["--if-exists", "copied"]);
    run(&server, "dropdb", &["--force", "made"]);
    run(&server, "dropuser", &["maker"]);
    assert_eq!(s.value("select count(*) from pg_database where oid >= 16384"), "0");
}

#[test]
fn upkeep_of_all_databases() {
    let server = Server::start(&[]);
    let mut s = server.client();
    s.query("create database other").unwrap();
    let mut other = server.connect(&[("user", "postgres"), ("database", "other")]).unwrap();
    other.query("create table t (a int primary key, b text)").unwrap();
    other.query("insert into t select g, 'x' from generate_series(1, 500) g").unwrap();
    other.query("cluster t using t_pkey").unwrap();
    other.query("delete from t where a > 100").unwrap();
    if run(&server, "vacuumdb", &["--all", "--analyze", "--jobs=2"]).is_none() {
        return;
    }
    assert_eq!(other.value("select reltuples from pg_class where relname = 't'"), "100");
    run(&server, "vacuumdb", &["--all", "--analyze-in-stages", "--jobs=2"]);
    run(&server, "vacuumdb", &["--full", "--table=t", "other"]);
    run(&server, "vacuumdb", &["--freeze", "--skip-locked", "--min-xid-age=1", "other"]);
    let file = "select pg_relation_filenode('t_pkey')";
    let before = other.value(file);
    run(&server, "reindexdb", &["--all"]);
    run(&server, "reindexdb", &["--system", "other"]);
    run(&server, "reindexdb", &["--concurrently", "--index=t_pkey", "other"]);
    assert_ne!(other.value(file), before);
    run(&server, "clusterdb", &["--all"]);
    assert_eq!(other.value("select sum(a) from t"), "5050");
}

#[test]
fn a_dump_comes_back_as_it_went() {
    let Some(dump) = program("pg_dump") else { return };
    if version(&dump) < 18 {
        println!("skipped: {dump} is older than the server says it is");
        return;
    }
    let server = Server::start(&["fsync=off"]);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../test/dump/run");
    let done = output(Command::new(script).arg(server.socket()).arg(server.port.to_string()));
    assert!(done.status.success(), "{}\n{}", text(&done), server.log());
}
