//! Tablespaces of a running server: after kill -9, on a standby, and through a dump of all databases.

mod support;

use std::fs;

use support::pair::{caught_up, run_standby, standby_of};
use support::{Client, Server, run};

/// Names and places of relations and databases in tablespaces of users.
const PLACES: &str = "select string_agg(name || ' ' || place, ', ' order by name) from (
    select relname as name, spcname as place from pg_class join pg_tablespace s on s.oid = reltablespace where spcname !~ '^pg_' and relname !~ '^pg_'
    union all select datname, spcname from pg_database join pg_tablespace s on s.oid = dattablespace where spcname !~ '^pg_') p";

fn fill(client: &mut Client) {
    run(
        client,
        &[
            "create table t (x int primary key, v text) tablespace a",
            "insert into t select g, repeat('x', 500) from generate_series(1, 1000) g",
            "create index i on t (v) tablespace b",
            "create database d tablespace a",
            "alter table t set tablespace b",
        ],
    );
}

const PLACED: &str = "d a, i b, t b";
const SUMS: &str = "select count(*) || ' ' || sum(length(v)) from t";

#[test]
fn what_lies_elsewhere_survives_kill_9() {
    let mut server = Server::start(&[]);
    let mut client = server.client();
    let [a, b] = ["a", "b"].map(|name| {
        let location = server.file(&format!("elsewhere {name}"));
        fs::create_dir(&location).unwrap();
        run(&mut client, &[&format!("create tablespace {name} location '{}'", location.display())]);
        location
    });
    let first = "select pg_tablespace_location(oid) from pg_tablespace where spcname = 'a'";
    assert_eq!(client.value(first), a.display().to_string());
    fill(&mut client);
    server.kill();
    server.run();
    let mut client = server.client();
    assert_eq!((client.value(PLACES), client.value(SUMS)), (PLACED.into(), "1000 500000".into()));
    assert_eq!(client.value("select count(*) from t where x between 1 and 10"), "10");
    run(&mut client, &["drop database d", "alter table t set tablespace pg_default", "drop index i"]);
    run(&mut client, &["drop tablespace a", "drop tablespace b"]);
    for location in [&a, &b] {
        assert_eq!(fs::read_dir(location).unwrap().count(), 0, "{}", location.display());
    }
    assert_eq!(client.value(SUMS), "1000 500000");
    drop(client);
    server.stop();
    server.assert_sound();
}

#[test]
fn a_standby_has_the_same_tablespaces() {
    let mut primary = Server::start(&[]);
    let mut standby = standby_of(&mut primary, "", &[]);
    run_standby(&mut standby);
    let mut on_primary = primary.client();
    run(&mut on_primary, &["set allow_in_place_tablespaces = on"]);
    run(&mut on_primary, &["create tablespace a location ''", "create tablespace b location ''"]);
    fill(&mut on_primary);
    let mut client = standby.client();
    caught_up(&mut on_primary, &mut client);
    assert_eq!((client.value(PLACES), client.value(SUMS)), (PLACED.into(), "1000 500000".into()));
    standby.kill();
    run(&mut on_primary, &["drop database d", "alter table t set tablespace a"]);
    run(&mut on_primary, &["drop index i", "drop tablespace b"]);
    run_standby(&mut standby);
    let mut client = standby.client();
    caught_up(&mut on_primary, &mut client);
    assert_eq!((client.value(PLACES), client.value(SUMS)), ("t a".into(), "1000 500000".into()));
    assert_eq!(fs::read_dir(standby.data().join("pg_tblspc")).unwrap().count(), 1);
}

#[test]
fn a_base_backup_is_refused_that_would_lack_a_tablespace() {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(&mut client, &["set allow_in_place_tablespaces = on", "create tablespace a location ''"]);
    assert_eq!(
        client.error("select pg_backup_start('x')"),
        "0A000 base backups of a server with tablespaces are not supported yet"
    );
    run(
        &mut client,
        &["drop tablespace a", "select pg_backup_start('x', true)", "select pg_backup_stop(false)"],
    );
}
