//! A standby that lags behind on purpose (`recovery_min_apply_delay`): it has the log at once, and what the log says later.

use std::fs;

use crate::support::copies::{base_copy, restored};
use crate::support::{READY, Server, output, run, text, until};

#[test]
fn a_standby_keeps_commits_back_until_they_are_old_enough_or_it_is_promoted() {
    let mut primary = Server::init(&["--wal-segsize=1"]);
    primary.set_option("autovacuum=off");
    primary.run();
    run(&mut primary.client(), &["create table t (n int)"]);
    let base = base_copy(&mut primary, "base");
    let source = format!("primary_conninfo=host=127.0.0.1 port={} user=postgres", primary.port);
    let mut standby = restored(&base, &primary.file("nowhere"), &["restore_command=", &source]);
    fs::rename(standby.data().join("recovery.signal"), standby.data().join("standby.signal")).unwrap();
    standby.set_option("recovery_min_apply_delay=1h");
    // The copy has no log.
    let mut client = primary.client();
    standby.launch();
    standby.wait_for_log("started streaming WAL from primary at");
    run(&mut client, &["insert into t select generate_series(1, 1000)"]);
    let end = client.value("select pg_current_wal_flush_lsn()");
    let count = |client: &mut crate::support::Client, which: &str| {
        client.value(&format!("select count(*) from pg_stat_replication where {which} >= '{end}'"))
    };
    until("the standby has the log", || count(&mut client, "flush_lsn") == "1");
    assert_eq!(count(&mut client, "replay_lsn"), "0", "it is replayed already");
    // Whoever asks for a checkpoint does not wait for what is kept back.
    run(&mut standby.client(), &["checkpoint"]);
    primary.kill();
    let promoted = output(standby.program("pg_ctl").arg("-D").arg(standby.data()).arg("promote"));
    assert!(promoted.status.success(), "{}", text(&promoted));
    standby.wait_for_log(READY);
    assert_eq!(standby.client().value("select count(*) from t"), "1000");
    standby.stop();
    standby.assert_sound();
}
