//! A standby that receives the log from another server as it is written, and what becomes of it when something fails.

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use support::{Client, READY, Server, until};

/// A server with a table of sums.
fn primary(settings: &[&str]) -> Server {
    let mut server = Server::init(&["--wal-segsize=1"]);
    ["autovacuum=off"].iter().chain(settings).for_each(|setting| server.set_option(setting));
    server.run();
    server.client().query("create table t (n int primary key, amount int, pad text)").unwrap();
    server
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).unwrap()),
        }
    }
}

/// How a standby connects to a server.
fn conninfo(to: &Server, more: &str) -> String {
    format!("primary_conninfo=host=127.0.0.1 port={} user=postgres {more}", to.port)
}

/// A standby on a copy of the data of a server, which is stopped for it; not started yet.
fn standby(of: &mut Server, settings: &[&str]) -> Server {
    let mut server = Server::init(&[]);
    fs::remove_dir_all(server.data()).unwrap();
    of.stop();
    copy(&of.data(), &server.data());
    of.run();
    fs::set_permissions(server.data(), fs::Permissions::from_mode(0o700)).unwrap();
    fs::write(server.data().join("standby.signal"), "").unwrap();
    server.set_option("autovacuum=off");
    server.set_option("wal_retrieve_retry_interval=100ms");
    server.set_option(&conninfo(of, "application_name=s1"));
    settings.iter().for_each(|setting| server.set_option(setting));
    server
}

/// Adds `count` rows.
fn add(client: &mut Client, from: u32, count: u32) {
    let statement = format!(
        "insert into t select n, n % 97, repeat('x', 200) from generate_series({from}, {}) n",
        from + count - 1
    );
    client.query(&statement).unwrap();
}

fn sum(client: &mut Client) -> String {
    client.value("select count(*) || ' ' || coalesce(sum(amount), 0) from t")
}

/// Waits until a standby of this name has replayed all there is.
fn caught_up(primary: &Server, name: &str) {
    let mut client = primary.client();
    let end = client.value("select pg_current_wal_flush_lsn()");
    let has = format!(
        "select count(*) from pg_stat_replication where application_name = '{name}' and replay_lsn >= '{end}'"
    );
    until("the standby has replayed all", || client.value(&has) == "1");
}

fn promote(server: &mut Server) {
    fs::write(server.data().join("promote"), "").unwrap();
    server.signal(libc::SIGUSR1);
    server.wait_for_log(READY);
}

#[test]
fn a_standby_follows_and_becomes_a_server_of_its_own() {
    let mut primary = primary(&[]);
    let mut standby = standby(&mut primary, &[]);
    standby.launch();
    standby.wait_for_log("started streaming WAL from primary at");
    let mut client = primary.client();
    // More than one segment, and commits one by one.
    add(&mut client, 1, 10_000);
    for n in 0..20 {
        add(&mut client, 20_000 + n, 1);
    }
    let wanted = sum(&mut client);
    caught_up(&primary, "s1");
    assert_eq!(
        client.value("select state || ' ' || (flush_lsn = replay_lsn)::text || ' ' || (sent_lsn = write_lsn)::text from pg_stat_replication"),
        "streaming true true"
    );
    primary.kill();
    standby.wait_for_log("could not connect to the primary server: connection to server at");
    promote(&mut standby);
    let mut client = standby.client();
    assert_eq!(sum(&mut client), wanted);
    add(&mut client, 50_000, 10);
    drop(client);
    standby.stop();
    standby.assert_sound();
}
