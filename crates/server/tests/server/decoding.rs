//! Logical decoding: what slots tell of changed rows, from when on, and over a crash.

use std::sync::mpsc;

use crate::support::client::message;
use crate::support::{Client, Server, run, until};

fn server() -> Server {
    Server::start(&["wal_level=logical"])
}

/// Everything that a slot has to tell, taken out.
fn changes(client: &mut Client, slot: &str) -> Vec<String> {
    let rows = client.query(&format!(
        "select data from pg_logical_slot_get_changes('{slot}', null, null, 'include-xids', '0', 'skip-empty-xacts', '1')"
    ));
    rows.unwrap().into_iter().map(|row| row[0].clone().unwrap()).collect()
}

fn create(client: &mut Client, slot: &str, plugin: &str) {
    run(client, &[&format!("select pg_create_logical_replication_slot('{slot}', '{plugin}')")]);
}

#[test]
fn changes_are_told_by_replica_identity() {
    let server = server();
    let mut client = server.client();
    run(
        &mut client,
        &[
            "create type mood as enum ('sad', 'it''s ok')",
            "create table t (id int primary key, v text, m mood, b bit(3))",
            "create table whole (id int, v text)",
            "alter table whole replica identity full",
            "create table noid (id int)",
            "create table toasted (id int primary key, big text, small text)",
            "alter table toasted alter column big set storage external",
            "create table part (id int primary key) partition by range (id)",
            "create table part_1 partition of part for values from (0) to (100)",
            "create table part_2 partition of part for values from (100) to (200)",
        ],
    );
    create(&mut client, "s", "test_decoding");
    run(
        &mut client,
        &[
            "insert into t values (1, 'a''b', 'it''s ok', '101'), (2, null, null, null)",
            "update t set v = 'x' where id = 2",
            "update t set id = 3 where id = 2",
            "delete from t where id = 3",
            "insert into whole values (1, null)",
            "update whole set v = 'v'",
            "delete from whole",
            "insert into noid values (1)",
            "delete from noid",
            "insert into toasted values (1, repeat('z', 3000), 's')",
            "checkpoint",
            "update toasted set small = 't'",
            "insert into part values (1)",
            "update part set id = 101",
            "begin; insert into noid values (2); savepoint a; insert into noid values (3); rollback to a; \
             insert into noid values (4); alter table noid add column more text default 'd'; \
             savepoint b; insert into noid values (5, 'e'); release b; commit",
            "begin; insert into noid values (6); rollback",
            "insert into t values (1) on conflict (id) do update set v = 'again'",
            "truncate t, noid restart identity cascade",
            "select pg_logical_emit_message(true, 'p', 'text')",
            "vacuum full whole",
            "create temp table tmp as select 1 as a",
        ],
    );
    let big = format!(
        "table public.toasted: INSERT: id[integer]:1 big[text]:'{}' small[text]:'s'",
        "z".repeat(3000)
    );
    let expected: [&[&str]; 18] = [
        &[
            "table public.t: INSERT: id[integer]:1 v[text]:'a''b' m[mood]:'it''s ok' b[bit]:B'101'",
            "table public.t: INSERT: id[integer]:2 v[text]:null m[mood]:null b[bit]:null",
        ],
        &["table public.t: UPDATE: id[integer]:2 v[text]:'x' m[mood]:null b[bit]:null"],
        &[
            "table public.t: UPDATE: old-key: id[integer]:2 new-tuple: id[integer]:3 v[text]:'x' m[mood]:null b[bit]:null",
        ],
        &["table public.t: DELETE: id[integer]:3"],
        &["table public.whole: INSERT: id[integer]:1 v[text]:null"],
        &["table public.whole: UPDATE: old-key: id[integer]:1 new-tuple: id[integer]:1 v[text]:'v'"],
        &["table public.whole: DELETE: id[integer]:1 v[text]:'v'"],
        &["table public.noid: INSERT: id[integer]:1"],
        &["table public.noid: DELETE: (no-tuple-data)"],
        &[&big],
        &["table public.toasted: UPDATE: id[integer]:1 big[text]:unchanged-toast-datum small[text]:'t'"],
        &["table public.part_1: INSERT: id[integer]:1"],
        &["table public.part_1: DELETE: id[integer]:1", "table public.part_2: INSERT: id[integer]:101"],
        &[
            "table public.noid: INSERT: id[integer]:2",
            "table public.noid: INSERT: id[integer]:4",
            "table public.noid: INSERT: id[integer]:5 more[text]:'e'",
        ],
        &["table public.t: UPDATE: id[integer]:1 v[text]:'again' m[mood]:'it''s ok' b[bit]:B'101'"],
        &["table public.t, public.noid: TRUNCATE: restart_seqs cascade"],
        &["message: transactional: 1 prefix: p, sz: 4 content:text"],
        &[],
    ];
    let mut wanted = Vec::new();
    for transaction in expected.iter().filter(|transaction| !transaction.is_empty()) {
        wanted.push("BEGIN".to_owned());
        wanted.extend(transaction.iter().map(|line| (*line).to_owned()));
        wanted.push("COMMIT".to_owned());
    }
    assert_eq!(changes(&mut client, "s"), wanted);
    assert!(changes(&mut client, "s").is_empty(), "it was taken out");
}

#[test]
fn a_slot_and_what_it_has_not_told_survive_a_kill() {
    let mut server = Server::start(&["wal_level=logical", "logical_decoding_work_mem=64kB"]);
    let mut client = server.client();
    run(&mut client, &["create table t (id int primary key, v text)"]);
    create(&mut client, "s", "test_decoding");
    run(&mut client, &["insert into t values (1, 'told')"]);
    assert_eq!(changes(&mut client, "s").len(), 3);
    run(&mut client, &["insert into t values (2, 'kept')", "checkpoint", "begin"]);
    // More than what may wait in memory, and lost with the crash.
    run(&mut client, &["insert into t select g, repeat('x', 100) from generate_series(100, 2000) g"]);
    let mut other = server.client();
    run(&mut other, &["update t set v = 'changed' where id = 2"]);
    server.kill();
    server.run();
    let mut client = server.client();
    assert_eq!(
        changes(&mut client, "s"),
        [
            "BEGIN",
            "table public.t: INSERT: id[integer]:2 v[text]:'kept'",
            "COMMIT",
            "BEGIN",
            "table public.t: UPDATE: id[integer]:2 v[text]:'changed'",
            "COMMIT"
        ]
    );
    // A large transaction goes through files.
    run(&mut client, &["insert into t select g, repeat('x', 100) from generate_series(5000, 7000) g"]);
    assert_eq!(changes(&mut client, "s").len(), 2003);
    assert_eq!(
        client.value(
            "select spill_txns > 0 and spill_bytes > 0 and total_txns = 3 from pg_stat_replication_slots"
        ),
        "t"
    );
    assert_eq!(
        client.value(
            "select slot_type || ' ' || plugin || ' ' || database || ' ' || active || ' ' \
             || (restart_lsn <= confirmed_flush_lsn) from pg_replication_slots"
        ),
        "logical test_decoding postgres false true"
    );
    server.stop();
    server.set_option("wal_level=replica");
    server.launch();
    assert!(!server.becomes_ready());
    assert!(server.log().contains("logical replication slot \"s\" exists, but \"wal_level\" < \"logical\""));
}

#[test]
fn a_slot_begins_at_a_point_that_its_snapshot_matches() {
    let server = server();
    let mut client = server.client();
    run(&mut client, &["create table t (id int)", "insert into t values (1)"]);
    let mut running = server.client();
    run(&mut running, &["begin", "insert into t values (2)"]);
    // The slot is made once those have ended that run.
    let (done, made) = mpsc::channel();
    let mut maker = server.connect(&[("replication", "database")]).unwrap();
    let thread = std::thread::spawn(move || {
        let rows = maker.query("CREATE_REPLICATION_SLOT s LOGICAL test_decoding").unwrap();
        done.send(rows).unwrap();
        maker
    });
    until("the slot is being made", || {
        client.value("select count(*) from pg_replication_slots where restart_lsn is not null") == "1"
    });
    run(&mut client, &["insert into t values (3)"]);
    run(&mut running, &["insert into t values (4)", "commit"]);
    let rows = made.recv().unwrap();
    let maker = thread.join().unwrap();
    let snapshot = rows[0][2].clone().unwrap();
    run(&mut client, &["insert into t values (5)"]);
    let mut reader = server.client();
    run(
        &mut reader,
        &["begin isolation level repeatable read", &format!("set transaction snapshot '{snapshot}'")],
    );
    assert_eq!(reader.value("select string_agg(id::text, ' ' order by id) from t"), "1 2 3 4");
    assert_eq!(changes(&mut client, "s"), ["BEGIN", "table public.t: INSERT: id[integer]:5", "COMMIT"]);
    drop(maker);
}

#[test]
fn what_is_refused() {
    let server = server();
    let mut client = server.client();
    create(&mut client, "s", "pgoutput");
    assert_eq!(
        client.error("select pg_create_logical_replication_slot('s', 'pgoutput')"),
        "42710 replication slot \"s\" already exists"
    );
    assert_eq!(
        client.error("select pg_create_logical_replication_slot('x', 'nix')"),
        "58P01 could not access file \"nix\": No such file or directory"
    );
    assert_eq!(
        client.error("select pg_create_logical_replication_slot('x', 'pgoutput', false, true)"),
        "0A000 logical decoding of prepared transactions is not supported yet"
    );
    assert_eq!(
        client.error("select * from pg_logical_slot_get_changes('s', null, null, 'proto_version', '1', 'publication_names', 'p')"),
        "0A000 logical decoding output plugin \"pgoutput\" produces binary output, but function \"pg_logical_slot_get_changes(name,pg_lsn,integer,text[])\" expects textual data"
    );
    assert_eq!(
        client.error("select * from pg_logical_slot_get_changes('nix', null, null)"),
        "42704 replication slot \"nix\" does not exist"
    );
    run(&mut client, &["select pg_create_physical_replication_slot('physical')", "create database other"]);
    assert_eq!(
        client.error("select * from pg_logical_slot_get_changes('physical', null, null)"),
        "55000 cannot use physical replication slot for logical decoding"
    );
    let mut other = server.connect(&[("database", "other")]).unwrap();
    assert_eq!(
        other.error("select * from pg_logical_slot_get_changes('s', null, null)"),
        "55000 replication slot \"s\" was not created in this database"
    );
    run(&mut client, &["begin", "create table t (a int)"]);
    assert_eq!(
        client.error("select pg_create_logical_replication_slot('x', 'pgoutput')"),
        "25001 cannot create logical replication slot in transaction that has performed writes"
    );
    run(&mut client, &["rollback", "create role plain login"]);
    let mut plain = server.connect(&[("user", "plain")]).unwrap();
    assert_eq!(
        plain.error("select * from pg_logical_slot_get_changes('s', null, null)"),
        "42501 permission denied to use replication slots"
    );
    let mut physical = server.connect(&[("replication", "true")]).unwrap();
    assert_eq!(
        physical.error("START_REPLICATION SLOT s LOGICAL 0/0"),
        "55000 logical decoding requires a database connection"
    );
    assert_eq!(
        physical.error("START_REPLICATION SLOT s PHYSICAL 0/0"),
        "55000 cannot use a logical replication slot for physical replication"
    );
}

/// The next message of a stream that is no sign of life: position and contents.
fn next_message(client: &mut Client) -> (u64, Vec<u8>) {
    loop {
        let (kind, body) = client.message().unwrap();
        assert_eq!(kind, b'd', "{}", String::from_utf8_lossy(&body));
        if body[0] == b'w' {
            return (u64::from_be_bytes(body[1..9].try_into().unwrap()), body[25..].to_vec());
        }
    }
}

fn confirm(client: &mut Client, lsn: u64) {
    let mut status = vec![b'r'];
    for number in [lsn, lsn, lsn, 7] {
        status.extend(number.to_be_bytes());
    }
    status.push(0);
    client.send(&message(b'd', &status)).unwrap();
}

#[test]
fn subscribers_are_told_what_publications_publish() {
    let mut server = server();
    let mut client = server.client();
    run(
        &mut client,
        &[
            "create table t (id int primary key, v text, secret text)",
            "create table hidden (id int primary key)",
            "create publication p for table t (id, v) where (id < 100)",
        ],
    );
    create(&mut client, "s", "pgoutput");
    let start = |server: &Server| {
        let mut stream = server.connect(&[("replication", "database")]).unwrap();
        let command = "START_REPLICATION SLOT s LOGICAL 0/0 (proto_version '4', publication_names '\"p\"', streaming 'parallel', origin 'any')\0";
        stream.send(&message(b'Q', command.as_bytes())).unwrap();
        assert_eq!(stream.message().unwrap().0, b'W');
        stream
    };
    let mut stream = start(&server);
    run(
        &mut client,
        &[
            "insert into hidden values (1)",
            "insert into t values (1, 'a', 'x'), (200, 'far', 'y')",
            "update t set v = null, id = 2 where id = 1",
            "update t set id = 300 where id = 2",
            "update t set id = 3 where id = 300",
            "delete from t where id = 3",
            "truncate t",
        ],
    );
    let oid: u32 = client.value("select 't'::regclass::oid").parse().unwrap();
    let of = |kind: &[u8]| [&kind[..1], &oid.to_be_bytes()[..], &kind[1..]].concat();
    let row = |id: &str, v: Option<&str>| {
        let mut out = b"\0\x02t\0\0\0".to_vec();
        out.push(id.len() as u8);
        out.extend(id.bytes());
        match v {
            None => out.push(b'n'),
            Some(v) => out.extend([b"t\0\0\0".as_slice(), &[v.len() as u8], v.as_bytes()].concat()),
        }
        out
    };
    let key = |id: &str| row(id, None);
    let table = of(b"Rpublic\0t\0d\0\x02\x01id\0\0\0\0\x17\xff\xff\xff\xff\0v\0\0\0\0\x19\xff\xff\xff\xff");
    let transactions: [Vec<Vec<u8>>; 6] = [
        vec![table, of(&[b"IN".as_slice(), &row("1", Some("a"))].concat())],
        vec![of(&[b"UK".as_slice(), &key("1"), b"N", &row("2", None)].concat())],
        vec![of(&[b"DK".as_slice(), &key("2")].concat())],
        vec![of(&[b"IN".as_slice(), &row("3", None)].concat())],
        vec![of(&[b"DK".as_slice(), &key("3")].concat())],
        vec![[b"T\0\0\0\x01\0".as_slice(), &oid.to_be_bytes()].concat()],
    ];
    let mut last = 0;
    for (n, transaction) in transactions.iter().enumerate() {
        let (_, begin) = next_message(&mut stream);
        assert_eq!((begin[0], begin.len()), (b'B', 21));
        for wanted in transaction {
            let (_, got) = next_message(&mut stream);
            assert_eq!(got, *wanted, "{}", String::from_utf8_lossy(&got));
        }
        let (end, commit) = next_message(&mut stream);
        assert_eq!((commit[0], commit.len()), (b'C', 26));
        assert_eq!(begin[1..9], commit[2..10], "both have the position of the commit record");
        assert_eq!(u64::from_be_bytes(commit[10..18].try_into().unwrap()), end);
        if n == 2 {
            last = end;
        }
    }
    confirm(&mut stream, last);
    let shown = format!("{:X}/{:X}", last >> 32, last as u32);
    until("the slot has moved", || {
        client.value("select confirmed_flush_lsn from pg_replication_slots") == shown
    });
    run(&mut client, &["checkpoint"]);
    drop(stream);
    server.kill();
    server.run();
    // What was not confirmed comes again, and nothing that was.
    let mut stream = start(&server);
    for wanted in [b'B', b'R', b'I', b'C', b'B', b'D', b'C', b'B', b'T', b'C'] {
        assert_eq!(next_message(&mut stream).1[0], wanted);
    }
}
