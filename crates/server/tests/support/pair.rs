//! A server and a standby that receives its log.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::support::{Client, Server, until};

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

/// A server on a copy of the data of another, which is stopped for it: a standby of that one, not started yet.
pub fn standby_of(primary: &mut Server, settings: &[&str]) -> Server {
    let mut server = Server::init(&[]);
    fs::remove_dir_all(server.data()).unwrap();
    primary.stop();
    copy(&primary.data(), &server.data());
    primary.run();
    fs::set_permissions(server.data(), fs::Permissions::from_mode(0o700)).unwrap();
    fs::write(server.data().join("standby.signal"), "").unwrap();
    let conninfo = format!("primary_conninfo=host=127.0.0.1 port={} user=postgres", primary.port);
    let usual = ["autovacuum=off", "wal_retrieve_retry_interval=100ms", &conninfo];
    usual.iter().chain(settings).for_each(|setting| server.set_option(setting));
    server
}

/// Starts a standby, and waits until it lets clients in that read.
pub fn run_standby(standby: &mut Server) {
    standby.launch();
    standby.wait_for_log("database system is ready to accept read-only connections");
}

/// Waits until a client of a standby sees all that a client of its primary sees now.
pub fn caught_up(primary: &mut Client, standby: &mut Client) {
    let end = primary.value("select pg_current_wal_insert_lsn()");
    // What was not waited for is on its way, too.
    primary.query("checkpoint").unwrap();
    let has = format!("select pg_last_wal_replay_lsn() >= '{end}'");
    until("the standby has replayed all", || standby.value(&has) == "t");
}
