//! Who asks for more memory than there is gets an error; everybody else goes on.

use crate::support::client::message;
use crate::support::{Client, Server, until};

const LIMIT: &str = "stampede.memory_limit=300MB";
const REFUSED: &str = "53200 out of memory";

/// Megabytes that are allocated besides the shared buffers.
fn allocated(client: &mut Client) -> i64 {
    let total = "select size >> 20 from pg_shmem_allocations where name = '<anonymous>'";
    client.value(total).parse().unwrap()
}

/// Statements that would take many times the limit, each in a way of its own.
const GREEDY: &[&str] = &[
    "select length(array_agg(repeat('x', 1000) || i)::text) from generate_series(1, 10000000) i",
    "select length(string_agg(repeat('x', 1000), '')) from generate_series(1, 1000000) i",
    "select count(*) from (select distinct repeat('x', 1000) || i from generate_series(1, 10000000) i offset 0) t, \
     generate_series(1, 2)",
    "with t as materialized (select repeat('x', 1000) || i as a from generate_series(1, 10000000) i) \
     select count(*) from t a, t b where a.a < b.a",
    "select json_agg(repeat('x', 1000)) from generate_series(1, 10000000)",
];

#[test]
fn the_greedy_statement_ends_and_all_others_go_on() {
    let server = Server::start(&[LIMIT, "shared_buffers=32MB", "work_mem=100GB", "temp_buffers=100MB"]);
    let (mut greedy, mut modest) = (server.client(), server.client());
    modest.query("create table t (a int); insert into t select generate_series(1, 1000)").unwrap();
    let before = allocated(&mut modest);
    for statement in GREEDY {
        crate::support::beside(
            &server,
            &[&|other, _| assert_eq!(other.value("select count(*) from t where a > 10"), "990")],
            || assert_eq!(greedy.error(statement), REFUSED, "{statement}"),
        );
        // Its session and all others work as before.
        assert_eq!(greedy.value("select sum(a) from t"), "500500");
        assert_eq!(modest.value("select sum(a) from t"), "500500");
        until("what the statement took is given back", || allocated(&mut modest) < before + 20);
    }
}

/// Bytes of the session's own contexts: what it has for long, and what the statement has taken.
fn own(client: &mut Client, name: &str, inside: &str) -> i64 {
    let context = format!("from pg_backend_memory_contexts where name = '{name}' and a is not null");
    let text = format!("select (select total_bytes {context}) from (select {inside} offset 0)");
    client.value(&text).parse().unwrap()
}

#[test]
fn a_session_sees_what_it_has_and_what_its_statement_takes() {
    let server = Server::start(&[]);
    let mut client = server.client();
    client.query("select 1 from pg_class").unwrap();
    let before = own(&mut client, "TopMemoryContext", "1 as a");
    let much = "array_agg(repeat('x', 1000) || i) as a from generate_series(1, 10000) i";
    let taken = own(&mut client, "MessageContext", much);
    assert!((10_000_000..20_000_000).contains(&taken), "{taken}");
    let after = own(&mut client, "TopMemoryContext", "1 as a");
    assert!(after < before + (5 << 20), "{before} {after}");
    // A cursor keeps its rows.
    client.query("begin; declare c cursor with hold for select repeat('x', 1000) || i from generate_series(1, 2000) i; commit").unwrap();
    let kept = own(&mut client, "TopMemoryContext", "1 as a");
    assert!((after + 1_900_000..after + 4_000_000).contains(&kept), "{after} {kept}");
    let query = "select total_bytes = used_bytes, path from pg_backend_memory_contexts order by level";
    let rows = client.query(query).unwrap();
    let rows: Vec<_> =
        rows.iter().map(|row| row.iter().flatten().cloned().collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(rows, ["t {1}", "t {1,2}"]);
}

#[test]
fn the_limit_can_be_changed_and_must_leave_something() {
    let mut server = Server::start(&["shared_buffers=32MB"]);
    let mut client = server.client();
    let left = "select size >> 20 from pg_shmem_allocations where name is null";
    assert!(client.value(left).parse::<i64>().unwrap() > 100, "part of the machine's memory");
    let set = |client: &mut Client, limit: &str| {
        let file = server.data().join("postgresql.auto.conf");
        std::fs::write(file, format!("stampede.memory_limit = '{limit}'\n")).unwrap();
        client.query("select pg_reload_conf()").unwrap();
    };
    set(&mut client, "200MB");
    until("the limit holds", || client.value(left).parse::<i64>().unwrap() < 200);
    assert_eq!(
        client.error("select length(string_agg(repeat('x', 1000), '')) from generate_series(1, 1000000)"),
        REFUSED
    );
    set(&mut client, "0");
    until("there is no limit", || client.query(left).unwrap().is_empty());
    set(&mut client, "30MB");
    let message = "\"stampede.memory_limit\" must be greater than the 32 MB of shared buffers";
    until("the log tells", || server.log().contains(message));
    server.stop();
    server.launch();
    assert!(!server.wait().success());
    assert!(server.log().contains(message), "{}", server.log());
}

#[test]
fn long_messages_need_memory_too() {
    let server = Server::start(&[LIMIT, "shared_buffers=32MB"]);
    let mut modest = server.client();
    let before = allocated(&mut modest);
    // Announced is nothing taken yet.
    let text = vec![b' '; 1 << 20];
    let mut head = message(b'Q', &text)[..5].to_vec();
    head[1..].copy_from_slice(&1_000_000_000u32.to_be_bytes());
    let mut clients: Vec<Client> = (0..20).map(|_| server.client()).collect();
    clients.iter_mut().for_each(|client| client.send(&head).unwrap());
    assert!(allocated(&mut modest) < before + 50);
    // All of them send more and more of their message.
    let mut refused = 0;
    for _ in 0..40 {
        // Who was refused is gone.
        clients.iter_mut().for_each(|client| refused += usize::from(client.send(&text).is_err()));
        assert_eq!(modest.value("select 1"), "1");
    }
    assert!(refused > 0);
    until("some are refused", || server.log().contains("FATAL:  out of memory"));
    assert!(allocated(&mut modest) < 350);
    drop(clients);
    until("their memory is given back", || allocated(&mut modest) < before + 20);
}

/// Prepares these statements and waits for the answer.
fn prepare(client: &mut Client, texts: &[String]) {
    let parse = |(i, text): (usize, &String)| message(b'P', format!("s{i}\0{text}\0\0\0").as_bytes());
    let mut bytes: Vec<u8> = texts.iter().enumerate().flat_map(parse).collect();
    bytes.extend(message(b'S', b""));
    client.send(&bytes).unwrap();
    while let (kind, body) = client.message().unwrap()
        && kind != b'Z'
    {
        assert_eq!((kind, body), (b'1', Vec::new()));
    }
}

#[test]
fn equal_statements_of_sessions_share_text_tree_and_plan() {
    const STATEMENTS: usize = 200;
    let server = Server::start(&[]);
    let (mut first, mut second) = (server.client(), server.client());
    first.query("create table t (a int primary key, b text); analyze t").unwrap();
    let text = |i| {
        let often: String = (0..20).map(|n| format!(" or one.a = {n} and other.b = 'text {n}'")).collect();
        format!(
            "select one.a, other.b from t one join t other using (a) where one.a = $1 and other.a <> {i}{often}"
        )
    };
    let texts: Vec<String> = (0..STATEMENTS).map(text).collect();
    let sqls: Vec<String> =
        texts.iter().enumerate().map(|(i, text)| format!("prepare p{i} as {text}")).collect();
    let taken = |client: &mut Client| {
        let before = own(client, "TopMemoryContext", "1 as a");
        prepare(client, &texts);
        let parsed = own(client, "TopMemoryContext", "1 as a");
        sqls.iter().for_each(|sql| drop(client.query(sql).unwrap()));
        let prepared = own(client, "TopMemoryContext", "1 as a");
        [parsed - before, prepared - parsed].map(|bytes| bytes / STATEMENTS as i64)
    };
    let (alone, shared) = (taken(&mut first), taken(&mut second));
    assert!(alone.iter().all(|bytes| *bytes > 8000), "{alone:?}");
    assert!(shared.iter().all(|bytes| *bytes < 1000), "{shared:?}");
    // Both work by them, also when the plan is made again.
    first.query("insert into t select i, 'b' || i from generate_series(1, 10) i").unwrap();
    for change in ["alter table t add c int", "analyze t"] {
        assert_eq!(first.value("execute p4(3)"), "3");
        assert_eq!(second.value("execute p4(5)"), "5");
        first.query(change).unwrap();
    }
}

#[test]
fn statements_are_shared_however_many_there_are() {
    // More than the plans that are kept for nobody.
    const STATEMENTS: i64 = 4500;
    let server = Server::start(&[]);
    let (mut first, mut second) = (server.client(), server.client());
    let texts: Vec<String> = (0..STATEMENTS).map(|i| format!("select $1::int4 + {i}")).collect();
    let taken = |client: &mut Client| {
        let before = own(client, "TopMemoryContext", "1 as a");
        prepare(client, &texts);
        (own(client, "TopMemoryContext", "1 as a") - before) / STATEMENTS
    };
    let (alone, shared) = (taken(&mut first), taken(&mut second));
    assert!(shared < 700 && alone > 3 * shared, "{alone} {shared}");
}
