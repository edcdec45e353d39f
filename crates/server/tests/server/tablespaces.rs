//! Tablespaces of a running server: after kill -9, on a standby, and through a dump of all databases.

use std::fs;
use std::path::Path;

use crate::support::backups::{backup, started, stored, unpack};
use crate::support::pair::{caught_up, run_standby, standby_of};
use crate::support::{Client, Server, output, run, text};

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
    let mut primary = Server::start(&["wal_keep_size=1GB"]);
    let mut standby = standby_of(&mut primary, "", &[]);
    run_standby(&mut standby);
    let mut on_primary = primary.client();
    run(&mut on_primary, &["set allow_in_place_tablespaces = on"]);
    run(&mut on_primary, &["create tablespace a location ''", "create tablespace b location ''"]);
    fill(&mut on_primary);
    let mut client = standby.client();
    caught_up(&mut on_primary, &mut client);
    assert_eq!((client.value(PLACES), client.value(SUMS)), (PLACED.into(), "1000 500000".into()));
    // A database moves under who reads it on the standby, who is sent away.
    let in_d = |server: &Server| server.connect(&[("database", "d")]);
    run(&mut in_d(&primary).unwrap(), &["create table moved as select generate_series(1, 100) x"]);
    caught_up(&mut on_primary, &mut client);
    let mut reader = in_d(&standby).unwrap();
    let path = "select count(*) || ' ' || split_part(pg_relation_filepath('moved'), '/', 1) from moved";
    assert_eq!(reader.value(path), "100 pg_tblspc");
    run(&mut on_primary, &["alter database d set tablespace pg_default"]);
    caught_up(&mut on_primary, &mut client);
    assert!(reader.query(path).is_err());
    assert_eq!(in_d(&standby).unwrap().value(path), "100 base");
    run(&mut in_d(&primary).unwrap(), &["reindex table pg_class", "insert into moved values (101)"]);
    caught_up(&mut on_primary, &mut client);
    assert_eq!(in_d(&standby).unwrap().value(path), "101 base");
    standby.kill();
    run(&mut on_primary, &["alter database d set tablespace b"]);
    run_standby(&mut standby);
    let mut client = standby.client();
    caught_up(&mut on_primary, &mut client);
    assert_eq!(in_d(&standby).unwrap().value(path), "101 pg_tblspc");
    standby.kill();
    run(&mut on_primary, &["drop database d", "alter table t set tablespace a"]);
    run(&mut on_primary, &["drop index i", "drop tablespace b"]);
    run_standby(&mut standby);
    let mut client = standby.client();
    caught_up(&mut on_primary, &mut client);
    assert_eq!((client.value(PLACES), client.value(SUMS)), ("t a".into(), "1000 500000".into()));
    assert_eq!(fs::read_dir(standby.data().join("pg_tblspc")).unwrap().count(), 1);
}

/// A server with a tablespace elsewhere, one in place, and something in both; their OIDs.
fn with_tablespaces(settings: &[&str]) -> (Server, [String; 2]) {
    let server = Server::start(settings);
    let mut client = server.client();
    let location = server.file("elsewhere \\ a");
    fs::create_dir(&location).unwrap();
    run(
        &mut client,
        &[
            "set allow_in_place_tablespaces = on",
            &format!("create tablespace a location '{}'", location.display()),
            "create tablespace b location ''",
        ],
    );
    fill(&mut client);
    let oids = ["a", "b"]
        .map(|name| client.value(&format!("select oid from pg_tablespace where spcname = '{name}'")));
    (server, oids)
}

/// A copy has the tables where they are to be, and nothing of it lies where the server has it.
fn check_copy(mut copy: Server, a: &str, place: &Path, sums: &str) {
    let mut client = copy.client();
    assert_eq!((client.value(PLACES), &*client.value(SUMS)), (PLACED.into(), sums));
    assert_eq!(client.value(&format!("select pg_tablespace_location({a})")), place.display().to_string());
    run(&mut client, &["insert into t values (-1, 'x')", "create table mine tablespace a as select 1 as x"]);
    drop(client);
    copy.stop();
    copy.assert_sound();
}

#[test]
fn archives_of_a_base_backup_are_put_together_by_the_map() {
    let (server, [a, b]) = with_tablespaces(&[]);
    let stored = stored(&server, "stored", None, ", TABLESPACE_MAP");
    let folder = server.file("folder");
    unpack(&stored.join("base.tar"), &folder);
    assert_eq!(fs::read_dir(folder.join("pg_tblspc")).unwrap().count(), 1, "no link");
    let place = server.file("moved \\ a");
    unpack(&stored.join(format!("{a}.tar")), &place);
    unpack(&stored.join(format!("{b}.tar")), &folder.join("pg_tblspc").join(&b));
    let (map, location) = (folder.join("tablespace_map"), server.file("elsewhere \\ a"));
    let written = |path: &Path| format!("{a} {}\n", path.display().to_string().replace('\\', "\\\\"));
    assert_eq!(fs::read_to_string(&map).unwrap(), written(&location));
    fs::write(&map, written(&place)).unwrap();
    let copy = started(&folder);
    assert!(!copy.data().join("tablespace_map").exists() && copy.data().join("tablespace_map.old").exists());
    check_copy(copy, &a, &place, "1000 500000");

    let mut client = server.client();
    run(&mut client, &["select pg_backup_start('x', true)"]);
    assert_eq!(client.value("select spcmapfile from pg_backup_stop(false)"), written(&location));
}

#[test]
fn a_damaged_map_is_refused_and_one_alone_is_put_aside() {
    let mut server = Server::start(&[]);
    server.stop();
    let map = server.data().join("tablespace_map");
    fs::write(&map, "16384\n").unwrap();
    server.run();
    assert!(
        server.log().contains("ignoring file \"tablespace_map\" because no file \"backup_label\" exists")
    );
    assert!(!map.exists() && server.data().join("tablespace_map.old").exists());
    let folder = backup(&server, "folder", None, &[]);
    fs::write(folder.join("tablespace_map"), "16384\n").unwrap();
    let done = output(server.program("postgres").arg("-D").arg(&folder));
    assert!(
        !done.status.success() && text(&done).contains("invalid data in file \"tablespace_map\""),
        "{}",
        text(&done)
    );
}

#[test]
fn incremental_backups_have_tablespaces() {
    let (server, [a, b]) = with_tablespaces(&["summarize_wal=on"]);
    let mut client = server.client();
    run(&mut client, &["vacuum"]);
    let taken = |name: &str, earlier: Option<&Path>| {
        let inside = server.file(name).join("pg_tblspc").join(&b);
        backup(&server, name, earlier, &[(&a, server.file(&format!("{name} a"))), (&b, inside)])
    };
    let full = taken("full", None);
    run(
        &mut client,
        &[
            "update t set v = 'y' where x <= 10",
            "vacuum t",
            "create table late tablespace a as select 1 as x",
        ],
    );
    let one = taken("one", Some(&full));
    let path = client.value("select pg_relation_filepath('t')");
    let (folder, name) = path.rsplit_once('/').unwrap();
    assert!(one.join(folder).join(format!("INCREMENTAL.{name}")).exists(), "{path}");
    run(&mut client, &["delete from t where x > 500", "drop table late"]);
    let two = taken("two", Some(&one));
    let (combined, place) = (server.file("combined"), server.file("combined a"));
    let combine = |mapping: &[&str]| {
        let mut program = server.program("pg_combinebackup");
        let done = output(program.args([&full, &one, &two]).args(mapping).arg("-o").arg(&combined));
        (done.status.success(), text(&done))
    };
    let (done, told) = combine(&[]);
    assert!(!done && told.contains("has no tablespace mapping"), "{told}");
    let mapping = format!("{}={}", server.file("two a").display(), place.display());
    assert_eq!(combine(&["-T", &mapping]), (true, String::new()));
    check_copy(started(&combined), &a, &place, "500 245010");
}
