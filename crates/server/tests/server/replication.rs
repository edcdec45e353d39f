//! Connections that replicate: who may, what they may say, slots, and the log as it is sent.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::support::client::message;
use crate::support::{Client, Failure, Server, has, output, run, text, until};

/// A connection that replicates the cluster.
fn sender(server: &Server) -> Client {
    server.connect(&[("replication", "true")]).unwrap()
}

/// Severity, code and message of a failure.
fn told(failure: Failure) -> String {
    match failure {
        Failure::Error { severity, code, message } => format!("{severity} {code} {message}"),
        Failure::Lost => "lost".into(),
    }
}

/// Why a connection with these parameters is refused.
fn refusal(server: &Server, parameters: &[(&str, &str)]) -> String {
    told(server.connect(parameters).err().expect("a refusal"))
}

/// The values of the only row.
fn row(client: &mut Client, text: &str) -> Vec<Option<String>> {
    let rows = client.query(text).unwrap_or_else(|failure| panic!("{text}: {failure:?}"));
    assert_eq!(rows.len(), 1, "{text}: {rows:?}");
    rows.into_iter().next().unwrap()
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

/// A position, `X/Y`.
fn lsn(text: &str) -> u64 {
    let (high, low) = text.split_once('/').unwrap();
    u64::from_str_radix(high, 16).unwrap() << 32 | u64::from_str_radix(low, 16).unwrap()
}

fn shown(lsn: u64) -> String {
    format!("{:X}/{:X}", lsn >> 32, lsn as u32)
}

#[test]
fn who_may_replicate() {
    let mut server = Server::start(&["max_wal_senders=2"]);
    let mut admin = server.client();
    run(&mut admin, &["create role plain login", "create role copier login replication"]);
    for kind in ["true", "database"] {
        assert_eq!(
            refusal(&server, &[("user", "plain"), ("replication", kind)]),
            "FATAL 42501 permission denied to start WAL sender"
        );
    }
    assert_eq!(
        refusal(&server, &[("replication", "maybe")]),
        "FATAL 22023 invalid value for parameter \"replication\": \"maybe\""
    );
    let mut copier = None;
    // Those that were refused may not have gone quite yet.
    until("there is room", || {
        copier = server.connect(&[("user", "copier"), ("replication", "on")]).ok();
        copier.is_some()
    });
    let mut copier = copier.unwrap();
    assert_eq!(copier.query("IDENTIFY_SYSTEM").unwrap().len(), 1);
    let mut other = None;
    until("there is room for another", || {
        other = server.connect(&[("replication", "true")]).ok();
        other.is_some()
    });
    assert_eq!(
        refusal(&server, &[("replication", "1")]),
        "FATAL 53300 number of requested standby connections exceeds \"max_wal_senders\" (currently 2)"
    );
    assert_eq!(
        admin.value("select backend_type || ' ' || (datname is null)::text || ' ' || usename from pg_stat_activity where usename = 'copier'"),
        "walsender true copier"
    );
    assert_eq!(
        admin.value("select distinct state || coalesce(sent_lsn::text, ' none') from pg_stat_replication"),
        "startup none"
    );
    drop((copier, other));
    until("the place is free", || {
        server.connect(&[("replication", "0")]).is_ok() && { server.connect(&[("replication", "1")]).is_ok() }
    });
    drop(admin);
    // A rule for all databases is none for replication, and the other way round.
    fs::write(
        server.data().join("pg_hba.conf"),
        "host all all all trust\nhost replication copier all trust\n",
    )
    .unwrap();
    server.stop();
    server.run();
    assert_eq!(
        refusal(&server, &[("replication", "1")]),
        "FATAL 28000 no pg_hba.conf entry for replication connection from host \"127.0.0.1\", user \"postgres\", no encryption"
    );
    assert!(server.connect(&[("user", "copier"), ("replication", "1")]).is_ok());
}

#[test]
fn what_connections_that_replicate_may_say() {
    let server = Server::start(&["log_replication_commands=on"]);
    let mut physical = sender(&server);
    let system = row(&mut physical, "IDENTIFY_SYSTEM");
    assert_eq!((system.len(), &system[1], &system[3]), (4, &some("1"), &None));
    assert!(server.log().contains("received replication command: IDENTIFY_SYSTEM"));
    assert_eq!(physical.value("SHOW wal_segment_size"), "16MB");
    assert_eq!(physical.error("SHOW a.b"), "42704 unrecognized configuration parameter \"a.b\"");
    let sql = "0A000 cannot execute SQL commands in WAL sender for physical replication";
    for text in ["select 1", "", "show work_mem", "begin"] {
        assert_eq!(physical.error(text), sql);
    }
    assert_eq!(physical.error("IDENTIFY_SYSTEM x"), "42601 syntax error");
    assert_eq!(physical.error("SHOW 'x"), "42601 unterminated quoted string");
    assert_eq!(
        physical.error("TIMELINE_HISTORY 77"),
        "58P01 could not open file \"pg_wal/0000004D.history\": No such file or directory"
    );
    physical.send(&message(b'P', b"\0select 1\0\0\0")).unwrap();
    physical.send(&message(b'S', b"")).unwrap();
    let (kind, body) = physical.message().unwrap();
    let body = String::from_utf8_lossy(&body).into_owned();
    assert!(kind == b'E' && body.contains("extended query protocol not supported"), "{body}");
    assert_eq!(physical.message().unwrap().0, b'Z');

    let mut database = server.connect(&[("replication", "database")]).unwrap();
    assert_eq!(row(&mut database, "IDENTIFY_SYSTEM")[3], some("postgres"));
    assert_eq!(database.value("select 'a'; show work_mem; select 'b'"), "a");
    run(&mut database, &["begin"]);
    assert_eq!(
        database.error("START_REPLICATION 0/1000000"),
        "25001 START_REPLICATION cannot run inside a transaction block"
    );
    assert_eq!(
        database.error("IDENTIFY_SYSTEM"),
        "25P02 current transaction is aborted, commands ignored until end of transaction block"
    );
    run(&mut database, &["rollback"]);
    let logical = "55000 logical decoding requires \"wal_level\" >= \"logical\"";
    assert_eq!(database.error("CREATE_REPLICATION_SLOT l LOGICAL pgoutput"), logical);
    assert_eq!(database.error("select pg_create_logical_replication_slot('l', 'pgoutput')"), logical);
}

#[test]
fn slots_are_made_shown_moved_and_dropped() {
    let mut server = Server::start(&["max_replication_slots=3"]);
    let mut admin = server.client();
    let mut physical = sender(&server);
    assert_eq!(
        row(&mut physical, "CREATE_REPLICATION_SLOT a PHYSICAL"),
        [some("a"), some("0/0"), None, None]
    );
    let state = "select active, restart_lsn is null, wal_status, temporary, inactive_since is null from pg_replication_slots where slot_name = ";
    assert_eq!(row(&mut admin, &format!("{state} 'a'")), [some("f"), some("t"), None, some("f"), some("f")]);
    assert_eq!(row(&mut physical, "READ_REPLICATION_SLOT a"), [some("physical"), None, None]);
    assert_eq!(row(&mut physical, "READ_REPLICATION_SLOT nix"), [None, None, None]);
    assert_eq!(
        physical.error("CREATE_REPLICATION_SLOT a PHYSICAL"),
        "42710 replication slot \"a\" already exists"
    );
    assert_eq!(
        physical.error("CREATE_REPLICATION_SLOT \"B\" PHYSICAL"),
        "42602 replication slot name \"B\" contains invalid character"
    );
    assert_eq!(physical.error("CREATE_REPLICATION_SLOT b PHYSICAL (foo)"), "XX000 unrecognized option: foo");
    assert_eq!(
        physical.error("ALTER_REPLICATION_SLOT a (FAILOVER)"),
        "0A000 cannot use ALTER_REPLICATION_SLOT with a physical replication slot"
    );
    // A temporary one is its session's as long as that lives.
    row(&mut physical, "CREATE_REPLICATION_SLOT t TEMPORARY PHYSICAL RESERVE_WAL");
    assert_eq!(
        row(&mut admin, &format!("{state} 't'")),
        [some("t"), some("f"), some("reserved"), some("t"), some("t")]
    );
    assert!(
        admin
            .error("select pg_drop_replication_slot('t')")
            .starts_with("55006 replication slot \"t\" is active for PID ")
    );
    drop(physical);
    until("the temporary slot is gone", || {
        admin.query("select from pg_replication_slots where slot_name = 't'").unwrap().is_empty()
    });

    let kept =
        row(&mut admin, "select slot_name, lsn from pg_create_physical_replication_slot('kept', true)");
    assert_eq!(kept[0], some("kept"));
    assert_eq!(
        admin.error("select pg_copy_physical_replication_slot('a', 'c')"),
        "55000 cannot copy a replication slot that doesn't reserve WAL"
    );
    assert_eq!(
        row(&mut admin, "select * from pg_copy_physical_replication_slot('kept', 'copy')"),
        [some("copy"), None]
    );
    assert_eq!(
        admin.error("select pg_create_physical_replication_slot('more')"),
        "53400 all replication slots are in use"
    );
    assert_eq!(
        admin.error("select pg_replication_slot_advance('a', pg_current_wal_lsn())"),
        "55000 replication slot \"a\" cannot be advanced"
    );
    assert_eq!(
        admin.error("select pg_replication_slot_advance('kept', '0/1')"),
        format!("55000 cannot advance replication slot to 0/1, minimum is {}", kept[1].clone().unwrap())
    );
    run(&mut admin, &["create table t as select generate_series(1, 1000)"]);
    let moved = row(
        &mut admin,
        "select slot_name, end_lsn = pg_current_wal_flush_lsn() from pg_replication_slot_advance('kept', 'FFFF/0')",
    );
    assert_eq!(moved, [some("kept"), some("t")]);
    run(&mut admin, &["select pg_drop_replication_slot('copy')", "create role plain login"]);
    assert_eq!(
        admin.error("select pg_drop_replication_slot('copy')"),
        "42704 replication slot \"copy\" does not exist"
    );
    let mut plain = server.connect(&[("user", "plain")]).unwrap();
    assert_eq!(
        plain.error("select pg_create_physical_replication_slot('p')"),
        "42501 permission denied to use replication slots"
    );

    let before = admin.value("select string_agg(slot_name || coalesce(restart_lsn::text, ''), ' ' order by 1) from pg_replication_slots");
    server.stop();
    server.run();
    let mut admin = server.client();
    let after = admin.value("select string_agg(slot_name || coalesce(restart_lsn::text, ''), ' ' order by 1) from pg_replication_slots");
    assert_eq!(before, after);
    server.stop();
    server.set_option("max_replication_slots=1");
    server.launch();
    assert!(!server.becomes_ready());
    assert!(server.log().contains("too many replication slots active before shutdown"));
}

/// Starts a stream; the client is in the midst of COPY then.
fn stream(server: &Server, command: &str) -> Client {
    let mut client = sender(server);
    start(&mut client, command);
    client
}

fn start(client: &mut Client, command: &str) {
    client.send(&message(b'Q', format!("{command}\0").as_bytes())).unwrap();
    let (kind, body) = client.message().unwrap();
    assert_eq!(kind, b'W', "{}", String::from_utf8_lossy(&body));
}

/// What a stream brings.
enum Came {
    /// Bytes of the log, from a position on.
    Log(u64, Vec<u8>),
    /// A sign of life, and whether it asks for an answer.
    Alive(bool),
    /// Anything else.
    Other(u8, Vec<u8>),
}

fn next(client: &mut Client) -> Came {
    let (kind, body) = client.message().unwrap();
    match (kind, body.first()) {
        (b'd', Some(b'w')) => {
            Came::Log(u64::from_be_bytes(body[1..9].try_into().unwrap()), body[25..].to_vec())
        }
        (b'd', Some(b'k')) => Came::Alive(body[17] == 1),
        _ => Came::Other(kind, body),
    }
}

/// Receives the log up to a position, in order.
fn receive(client: &mut Client, from: u64, to: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while from + (bytes.len() as u64) < to {
        if let Came::Log(start, more) = next(client) {
            assert_eq!(start, from + bytes.len() as u64, "out of order");
            bytes.extend(more);
        }
    }
    bytes
}

/// The receiver has written, flushed and applied all before this.
fn report(client: &mut Client, position: u64, asks: bool) {
    let mut body = vec![b'r'];
    for number in [position, position, position, 7] {
        body.extend(number.to_be_bytes());
    }
    body.push(asks.into());
    client.send(&message(b'd', &body)).unwrap();
}

/// The beginning of the segment that the log ends in.
fn segment_now(client: &mut Client) -> u64 {
    lsn(&client.value("select pg_current_wal_flush_lsn()")) >> 24 << 24
}

#[test]
fn the_log_is_sent_as_it_is_written() {
    let server = Server::start(&[]);
    let mut admin = server.client();
    let begin = segment_now(&mut admin);
    let mut receiver = stream(&server, &format!("START_REPLICATION {} TIMELINE 1", shown(begin)));
    run(&mut admin, &["create table t as select generate_series(1, 20000) as id"]);
    let end = lsn(&admin.value("select pg_current_wal_flush_lsn()"));
    let mut bytes = receive(&mut receiver, begin, end);
    report(&mut receiver, end, true);
    assert!(matches!(next(&mut receiver), Came::Alive(false)), "it was asked for an answer");
    // Nothing happens, until something does.
    run(&mut admin, &["insert into t values (0)"]);
    let later = lsn(&admin.value("select pg_current_wal_flush_lsn()"));
    bytes.extend(receive(&mut receiver, begin + bytes.len() as u64, later));
    report(&mut receiver, end, false);
    let shows = "select state || ' ' || (sent_lsn >= '{later}') || ' ' || flush_lsn || ' ' || replay_lsn || ' ' || sync_state || ' ' || (write_lag is not null) || ' ' || application_name from pg_stat_replication";
    let shows = shows.replace("{later}", &shown(later));
    let wanted = format!("streaming true {} {} async true ", shown(end), shown(end));
    until("the status is shown", || admin.query(&shows).unwrap()[0][0].as_deref() == Some(&*wanted));
    assert_eq!(
        admin.value("select wait_event_type || ' ' || wait_event || ' ' || query from pg_stat_activity where backend_type = 'walsender'"),
        format!("Activity WalSenderMain START_REPLICATION {} TIMELINE 1", shown(begin))
    );
    let name = admin.value("select pg_walfile_name(pg_current_wal_lsn())");
    let file = fs::read(server.data().join("pg_wal").join(name)).unwrap();
    assert!(bytes == file[..bytes.len()], "other bytes than the file's");
    // It ends when the receiver says so, and goes on with commands.
    receiver.send(&message(b'c', b"")).unwrap();
    let mut kinds = Vec::new();
    loop {
        match next(&mut receiver) {
            Came::Other(b'Z', _) => break,
            Came::Other(kind, body) => kinds.push((kind, String::from_utf8_lossy(&body).into_owned())),
            _ => {}
        }
    }
    let done = |tag: &str| (b'C', format!("{tag}\0"));
    assert_eq!(kinds, [(b'c', String::new()), done("START_STREAMING"), done("START_REPLICATION")]);
    assert_eq!(receiver.query("IDENTIFY_SYSTEM").unwrap().len(), 1);

    assert!(
        receiver
            .error("START_REPLICATION 0/0 TIMELINE 9")
            .ends_with("requested timeline 9 is not in this server's history")
    );
    assert_eq!(
        receiver.error("START_REPLICATION SLOT nix 0/0"),
        "42704 replication slot \"nix\" does not exist"
    );
    start(&mut receiver, "START_REPLICATION FF/0");
    assert!(
        matches!(next(&mut receiver), Came::Other(b'E', body) if String::from_utf8_lossy(&body).contains("is ahead of the WAL flush position"))
    );
}

#[test]
fn a_slot_keeps_the_log_for_its_receiver() {
    let server = Server::start(&["min_wal_size=32MB", "max_wal_size=32MB"]);
    let mut admin = server.client();
    let begin = segment_now(&mut admin);
    run(&mut admin, &["select pg_create_physical_replication_slot('s', true)", "create table t (v text)"]);
    let fill = "insert into t select repeat(md5(i::text), 30) from generate_series(1, 40000) i";
    run(&mut admin, &[fill, "checkpoint", fill, "checkpoint"]);
    let end = lsn(&admin.value("select pg_current_wal_flush_lsn()"));
    assert!(end > begin + (48 << 20), "too little was written");
    let mut receiver = stream(&server, &format!("START_REPLICATION SLOT s {}", shown(begin)));
    let mut other = sender(&server);
    assert!(
        other
            .error(&format!("START_REPLICATION SLOT s {}", shown(begin)))
            .starts_with("55006 replication slot \"s\" is active for PID ")
    );
    receive(&mut receiver, begin, end);
    report(&mut receiver, end, false);
    until("the slot has moved", || admin.value("select restart_lsn from pg_replication_slots") == shown(end));
    run(&mut admin, &["checkpoint", "insert into t values ('x')", "checkpoint"]);
    let error = {
        start(&mut other, &format!("START_REPLICATION {}", shown(begin)));
        match next(&mut other) {
            Came::Other(b'E', body) => String::from_utf8_lossy(&body).into_owned(),
            _ => panic!("the log should be gone"),
        }
    };
    assert!(
        error.contains("C58P01") && error.contains("requested WAL segment 0000000100000000000000"),
        "{error}"
    );
    assert!(error.contains("has already been removed"), "{error}");
}

#[test]
fn a_slot_that_keeps_too_much_is_lost() {
    let server = Server::start(&["min_wal_size=32MB", "max_wal_size=32MB", "max_slot_wal_keep_size=16MB"]);
    let mut admin = server.client();
    let begin = segment_now(&mut admin);
    run(&mut admin, &["select pg_create_physical_replication_slot('s', true)", "create table t (v text)"]);
    let mut receiver = stream(&server, &format!("START_REPLICATION SLOT s {}", shown(begin)));
    let fill = "insert into t select repeat(md5(i::text), 30) from generate_series(1, 40000) i";
    run(&mut admin, &[fill, fill, "checkpoint"]);
    assert_eq!(
        row(
            &mut admin,
            "select wal_status, invalidation_reason, restart_lsn, safe_wal_size from pg_replication_slots"
        ),
        [some("lost"), some("wal_removed"), None, None]
    );
    assert!(server.log().contains("to release replication slot \"s\""));
    while receiver.message().is_ok() {}
    assert_eq!(
        sender(&server).error("START_REPLICATION SLOT s 0/0"),
        "55000 can no longer access replication slot \"s\""
    );
}

/// A receiver that takes nothing, from that place on, of more than its socket holds.
fn receiver_that_is_behind(server: &Server, admin: &mut Client) -> (Client, u64) {
    let begin = segment_now(admin);
    let receiver = stream(server, &format!("START_REPLICATION {}", shown(begin)));
    run(admin, &["create table t (v text)"]);
    for _ in 0..4 {
        run(admin, &["insert into t select repeat(md5(i::text), 30) from generate_series(1, 10000) i"]);
    }
    until("it waits for the socket", || {
        admin.value("select wait_event from pg_stat_activity where backend_type = 'walsender'")
            == "WalSenderWriteData"
    });
    (receiver, begin)
}

#[test]
fn a_receiver_that_takes_nothing_blocks_nobody() {
    let server = Server::start(&[]);
    let mut admin = server.client();
    let (mut slow, begin) = receiver_that_is_behind(&server, &mut admin);
    let end = lsn(&admin.value("select pg_current_wal_flush_lsn()"));
    receive(&mut slow, begin, end);
}

#[test]
fn a_silent_receiver_is_asked_and_then_left() {
    let server = Server::start(&["wal_sender_timeout=2s"]);
    let mut admin = server.client();
    let begin = segment_now(&mut admin);
    let began = Instant::now();
    let mut silent = stream(&server, &format!("START_REPLICATION {}", shown(begin)));
    let mut asked = false;
    loop {
        match silent.message() {
            Ok((b'd', body)) => asked |= body[0] == b'k' && body[17] == 1,
            Ok((kind, body)) => panic!("{kind} {}", String::from_utf8_lossy(&body)),
            Err(_) => break,
        }
    }
    assert!(asked && began.elapsed() >= Duration::from_secs(2));
    assert!(server.log().contains("terminating walsender process due to replication timeout"));
}

#[test]
fn all_of_the_log_is_sent_before_the_server_ends() {
    let mut server = Server::start(&[]);
    let mut admin = server.client();
    let begin = segment_now(&mut admin);
    let mut receiver = stream(&server, &format!("START_REPLICATION {}", shown(begin)));
    let mut idle = sender(&server);
    run(&mut admin, &["create table t as select generate_series(1, 5000)"]);
    server.signal(libc::SIGINT);
    let mut bytes: Vec<u8> = Vec::new();
    let mut last = Vec::new();
    while let Ok((kind, body)) = receiver.message() {
        match (kind, body[0]) {
            (b'd', b'w') => {
                bytes.extend(&body[25..]);
                report(&mut receiver, begin + bytes.len() as u64, false);
            }
            (b'd', _) => {}
            _ => last.push((kind, String::from_utf8_lossy(&body).into_owned())),
        }
    }
    assert_eq!(last, [(b'C', "COPY 0\0".to_owned())]);
    assert!(matches!(idle.query("IDENTIFY_SYSTEM"), Err(Failure::Error { code, .. }) if code == "57P01"));
    assert!(server.wait().success());
    let name = format!("00000001{:08X}{:08X}", begin >> 32, begin as u32 >> 24);
    let file = fs::read(server.data().join("pg_wal").join(name)).unwrap();
    assert!(bytes == file[..bytes.len()] && file[bytes.len()..].iter().all(|byte| *byte == 0));
}

/// A report that is read while the last bytes still wait for the socket is not asked for again.
#[test]
fn a_report_ahead_of_the_last_bytes_lets_the_server_end() {
    let mut server = Server::start(&["wal_keep_size=1GB"]);
    let mut admin = server.client();
    let (mut receiver, _) = receiver_that_is_behind(&server, &mut admin);
    report(&mut receiver, 1 << 40, false);
    until("the report is read", || {
        admin.value("select flush_lsn from pg_stat_replication") == shown(1 << 40)
    });
    server.signal(libc::SIGINT);
    until("the log is complete", || server.log().contains("checkpoint complete: "));
    let mut last = Vec::new();
    while let Ok((kind, _)) = receiver.message() {
        if kind != b'd' {
            last.push(kind);
        }
    }
    assert_eq!(last, [b'C']);
    assert!(server.wait().success());
}

#[test]
fn what_is_no_status_ends_its_connection_and_nothing_else() {
    let server = Server::start(&[]);
    let mut admin = server.client();
    let begin = segment_now(&mut admin);
    for body in [&b""[..], b"x", b"r", b"r\0\0\0\0", b"h12345678", &[b'r'; 80]] {
        let mut client = stream(&server, &format!("START_REPLICATION {}", shown(begin)));
        client.send(&message(b'd', body)).unwrap();
        loop {
            match client.message() {
                Ok((b'E', body)) => {
                    let body = String::from_utf8_lossy(&body).into_owned();
                    assert!(body.contains("SFATAL") && body.contains("C08P01"), "{body}");
                }
                Ok(_) => {}
                Err(_) => break,
            }
        }
    }
    let mut client = stream(&server, &format!("START_REPLICATION {}", shown(begin)));
    client.send(&message(b'Q', b"select 1\0")).unwrap();
    while client.message().is_ok() {}
    assert_eq!(admin.value("select 1"), "1");
}

#[test]
fn pg_receivewal_receives() {
    if !has("pg_receivewal") {
        return;
    }
    let server = Server::start(&[]);
    let mut admin = server.client();
    let port = crate::support::relay::as_version_15(server.port).to_string();
    let program = || {
        let mut program = server.tool("pg_receivewal");
        program
            .env("PGHOST", "127.0.0.1")
            .env("PGPORT", &port)
            .env("PGSSLMODE", "disable")
            .env("PGGSSENCMODE", "disable");
        program.env_remove("PGDATABASE");
        program
    };
    let made = output(program().args(["--create-slot", "-S", "archive"]));
    assert!(made.status.success(), "{}", text(&made));
    let folder = server.file("received");
    fs::create_dir(&folder).unwrap();
    let begin = segment_now(&mut admin);
    run(&mut admin, &["create table t (v text)"]);
    let fill = "insert into t select repeat(md5(i::text), 30) from generate_series(1, 20000) i";
    let mut child = program()
        .args(["--synchronous", "--no-loop", "-S", "archive", "-D"])
        .arg(&folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until("it receives", || !admin.query("select from pg_stat_replication").unwrap().is_empty());
    run(&mut admin, &[fill, fill]);
    let end = lsn(&admin.value("select pg_current_wal_flush_lsn()"));
    until("all is received", || {
        let rows = admin
            .query(&format!("select from pg_stat_replication where flush_lsn >= '{}'", shown(end)))
            .unwrap();
        !rows.is_empty()
    });
    assert_eq!(
        admin.value(
            "select active::text || ' ' || (restart_lsn >= '0/2000000')::text from pg_replication_slots"
        ),
        "true true"
    );
    crate::support::signal_to(child.id() as i32, libc::SIGINT);
    assert!(crate::support::wait(&mut child).is_some());
    let first = format!("00000001{:08X}{:08X}", begin >> 32, begin as u32 >> 24);
    let ours = fs::read(server.data().join("pg_wal").join(&first)).unwrap();
    assert!(ours == fs::read(folder.join(&first)).unwrap(), "another first segment");
    let dropped = output(program().args(["--drop-slot", "-S", "archive"]));
    assert!(dropped.status.success(), "{}", text(&dropped));
}

/// Snapshots of the receiver need rows from this xid on; 0: none.
fn feed_back(client: &mut Client, xid: u64) {
    let mut body = vec![b'h'];
    body.extend(7_u64.to_be_bytes());
    for half in [xid as u32, (xid >> 32) as u32, 0, 0] {
        body.extend(half.to_be_bytes());
    }
    client.send(&message(b'd', &body)).unwrap();
}

#[test]
fn what_a_receivers_queries_need_stays() {
    let server = Server::start(&[]);
    let mut admin = server.client();
    let statements = [
        "create extension pgstattuple",
        "create table t as select generate_series(1, 100) as id",
        "select pg_create_physical_replication_slot('s', true)",
    ];
    run(&mut admin, &statements);
    let command = format!("{} TIMELINE 1", shown(segment_now(&mut admin)));
    let dead = "select dead_tuple_count from pgstattuple('t')";
    let slot_holds = "select coalesce(xmin::text, 'nothing') from pg_replication_slots";
    let sender_holds = "select coalesce(max(backend_xmin::text), 'nothing') from pg_stat_replication";
    for (begin, holds, stays) in [("SLOT s", slot_holds, true), ("", sender_holds, false)] {
        let mut receiver = stream(&server, &format!("START_REPLICATION {begin} {command}"));
        let xid: u64 = admin.value("select pg_current_xact_id()").parse().unwrap();
        feed_back(&mut receiver, xid);
        until("rows are held", || admin.value(holds) == xid.to_string());
        run(&mut admin, &["delete from t", "vacuum t"]);
        assert_eq!(admin.value(dead), "100");
        // What nobody can have seen yet holds nothing back.
        feed_back(&mut receiver, xid + 1_000_000);
        drop(receiver);
        until("it is gone", || admin.value("select count(*) from pg_stat_replication") == "0");
        assert_eq!(admin.value(holds), if stays { xid.to_string() } else { "nothing".into() });
        if stays {
            run(&mut admin, &["vacuum t"]);
            assert_eq!(admin.value(dead), "100");
            let mut receiver = stream(&server, &format!("START_REPLICATION {begin} {command}"));
            feed_back(&mut receiver, 0);
            until("nothing is held", || admin.value(holds) == "nothing");
        }
        run(&mut admin, &["vacuum t", "insert into t select generate_series(1, 100)"]);
        assert_eq!(admin.value(dead), "0");
    }
}
