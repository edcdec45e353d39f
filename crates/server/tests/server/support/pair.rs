//! A server and a standby that receives its log.

use std::fs;

use super::copies::copy_into;
use super::{Client, READY, Server, until};

/// A server on a copy of the data of another, which is stopped for it: a standby of that one, not started yet. `conninfo`: what else it says to connect.
pub fn standby_of(primary: &mut Server, conninfo: &str, settings: &[&str]) -> Server {
    let mut server = unconnected_standby_of(primary);
    server.set_option("wal_retrieve_retry_interval=100ms");
    server.set_option(&primary_conninfo(primary, conninfo));
    settings.iter().for_each(|setting| server.set_option(setting));
    server
}

/// The same, which is not told where the other is.
pub fn unconnected_standby_of(primary: &mut Server) -> Server {
    primary.stop();
    let mut server = Server::without_data();
    copy_into(&primary.data(), &mut server);
    primary.run();
    fs::write(server.data().join("standby.signal"), "").unwrap();
    server.set_option("autovacuum=off");
    server
}

/// How a standby connects to a server.
pub fn primary_conninfo(to: &Server, more: &str) -> String {
    format!("primary_conninfo=host=127.0.0.1 port={} user=postgres {more}", to.port)
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

/// A standby becomes a server of its own.
pub fn promote(standby: &mut Server) {
    fs::write(standby.data().join("promote"), "").unwrap();
    standby.signal(libc::SIGUSR1);
    standby.wait_for_log(READY);
}
