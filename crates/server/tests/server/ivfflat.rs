//! IVFFlat indexes of the extension `vector` through a client: how near what they find is to the truth, before and after changes, VACUUM and a crash.

use crate::support::{Client, Server, run};

const TABLE: [&str; 4] = [
    "create extension vector",
    "create table t (id int, v vector(6))",
    "insert into t select i, array[i * 7 % 101, i * 13 % 103, i * 29 % 107, i * 31 % 109, i * 37 % 113, i % 11]::vector from generate_series(1, 300) i",
    "insert into t values (-1, null), (-2, '[0,0,0,0,0,0]')",
];

/// Queries, spread over the rows.
const SOUGHT: [&str; 5] = [
    "[50,50,50,50,50,5]",
    "[3,99,7,80,21,1]",
    "[100,1,100,1,100,10]",
    "[20,40,60,80,100,0]",
    "[0,0,0,0,0,1]",
];

fn ids(client: &mut Client, query: &str, index: bool) -> Vec<String> {
    let (one, other) = if index { ("on", "off") } else { ("off", "on") };
    run(client, &[&format!("set enable_indexscan = {one}"), &format!("set enable_seqscan = {other}")]);
    let plan = client.query(&format!("explain (costs off) {query}")).unwrap();
    let used = plan.iter().any(|row| row[0].as_ref().is_some_and(|line| line.contains("Order By: (")));
    assert_eq!(used, index, "{plan:?}");
    client.query(query).unwrap().into_iter().filter_map(|row| row[0].clone()).collect()
}

/// So many of ten rows that are nearest are found with so many probes, and all of them with as many as there are lists.
fn check(client: &mut Client, operator: &str, (probes, of_ten): (u32, usize)) {
    let (mut wanted, mut found) = (0, 0);
    for sought in SOUGHT {
        let nearest = format!("select id from t order by v {operator} '{sought}' limit 10");
        let truth = ids(client, &nearest, false);
        run(client, &["set ivfflat.probes = 10"]);
        let distances = |client: &mut Client, ids: &[String]| {
            let list = ids.join(",");
            client.value(&format!(
                "select array_agg(d order by d) from (select v {operator} '{sought}' as d from t where id in ({list})) s"
            ))
        };
        let all = ids(client, &nearest, true);
        assert_eq!(distances(client, &all), distances(client, &truth), "{operator} {sought}");
        run(client, &[&format!("set ivfflat.probes = {probes}")]);
        let near = ids(client, &nearest, true);
        wanted += truth.len();
        found += near.iter().filter(|id| truth.contains(id)).count();
    }
    assert!(found * 10 >= wanted * of_ten, "{operator}: {found} of {wanted}");
}

fn count(client: &mut Client, limit: u32) -> u32 {
    run(client, &["set enable_indexscan = on", "set enable_seqscan = off"]);
    let sought = SOUGHT[0];
    let counted =
        format!("select count(*) from (select id from t order by v <-> '{sought}' limit {limit}) s");
    client.value(&counted).parse().unwrap()
}

#[test]
fn the_nearest_are_found() {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(&mut client, &TABLE);
    for (operator, class) in
        [("<->", "vector_l2_ops"), ("<#>", "vector_ip_ops"), ("<=>", "vector_cosine_ops")]
    {
        run(&mut client, &[&format!("create index on t using ivfflat (v {class}) with (lists = 10)")]);
        check(&mut client, operator, (5, 7));
        run(&mut client, &["reset ivfflat.probes", "drop index t_v_idx"]);
    }
    // Half precision and bits.
    run(&mut client, &["create index on t using ivfflat ((v::halfvec(6)) halfvec_l2_ops) with (lists = 10)"]);
    run(&mut client, &["set ivfflat.probes = 10"]);
    let half = "select id from t order by v::halfvec(6) <-> '[3,99,7,80,21,1]' limit 5";
    assert_eq!(ids(&mut client, half, true), ids(&mut client, half, false));
    run(
        &mut client,
        &[
            "create table b (id int, v bit(8))",
            "insert into b select i, i::bit(8) from generate_series(0, 255) i",
        ],
    );
    run(&mut client, &["create index on b using ivfflat (v bit_hamming_ops) with (lists = 10)"]);
    let bits = "select count(*) filter (where v <~> '10101010' <= 1) from (select v from b order by v <~> '10101010' limit 9) s";
    run(&mut client, &["set enable_seqscan = off"]);
    assert_eq!(client.value(bits), "9");
}

#[test]
fn a_search_ends_or_goes_on() {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(&mut client, &TABLE);
    run(&mut client, &["create index on t using ivfflat (v) with (lists = 10)"]);
    let one = count(&mut client, 500);
    assert!((1..200).contains(&one), "{one}");
    run(&mut client, &["set ivfflat.probes = 10"]);
    assert_eq!(count(&mut client, 500), 301);
    run(&mut client, &["reset ivfflat.probes", "set ivfflat.iterative_scan = relaxed_order"]);
    assert_eq!(count(&mut client, 500), 301);
    run(&mut client, &["set ivfflat.max_probes = 1"]);
    assert_eq!(count(&mut client, 500), one);
    run(&mut client, &["reset ivfflat.max_probes", "reset ivfflat.iterative_scan"]);
    let nothing = "select count(*) from (select id from t order by v <-> (select null::vector) limit 5000) s";
    assert_eq!(client.value(nothing), "301");
}

#[test]
fn changes_and_a_crash_leave_it_sound() {
    let mut server = Server::start(&[]);
    let mut client = server.client();
    run(&mut client, &TABLE);
    run(
        &mut client,
        &[
            "create index on t using ivfflat (v vector_l2_ops) with (lists = 10)",
            "create unlogged table u (id int, v vector(6))",
            "create index on u using ivfflat (v)",
            "insert into u select * from t",
            "delete from t where id % 3 = 0",
            "vacuum t",
            "insert into t select i, array[i % 101, i * 17 % 103, 50, 50, 50, i % 7]::vector from generate_series(2000, 2099) i",
        ],
    );
    check(&mut client, "<->", (5, 7));
    run(&mut client, &["update t set v = v + '[1,1,1,1,1,1]' where id % 5 = 0"]);
    check(&mut client, "<->", (5, 7));
    drop(client);
    server.kill();
    server.run();
    let mut client = server.client();
    check(&mut client, "<->", (5, 7));
    run(&mut client, &["insert into u values (1, '[1,2,3,4,5,6]')", "set enable_seqscan = off"]);
    assert_eq!(client.value("select id from u order by v <-> '[1,2,3,4,5,6]' limit 1"), "1");
    run(
        &mut client,
        &["delete from t where id < 150", "vacuum t", "insert into t values (7, '[3,99,7,80,21,1]')"],
    );
    let nearest = "select id from t order by v <-> '[3,99,7,80,21,1]' limit 1";
    assert_eq!(ids(&mut client, nearest, true), ["7"]);
    run(&mut client, &["delete from t", "vacuum t"]);
    assert!(ids(&mut client, nearest, true).is_empty());
    run(&mut client, &["reindex index t_v_idx", "insert into t values (8, '[1,2,3,4,5,6]')"]);
    assert_eq!(ids(&mut client, nearest, true), ["8"]);
    drop(client);
    server.stop();
    server.assert_sound();
}

#[test]
fn what_cannot_be_is_refused() {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(&mut client, &TABLE);
    for (statement, wanted) in [
        (
            "create index on t using ivfflat (v vector_l1_ops)",
            "42704 operator class \"vector_l1_ops\" does not exist for access method \"ivfflat\"",
        ),
        (
            "create index on t using ivfflat (v, id)",
            "0A000 access method \"ivfflat\" does not support multicolumn indexes",
        ),
        (
            "create unique index on t using ivfflat (v)",
            "0A000 access method \"ivfflat\" does not support unique indexes",
        ),
        (
            "create index on t using ivfflat (v) with (lists = 0)",
            "22023 value 0 out of bounds for option \"lists\"",
        ),
        (
            "create index on t using ivfflat (v) with (lists = 32769)",
            "22023 value 32769 out of bounds for option \"lists\"",
        ),
        (
            "set ivfflat.probes = 0",
            "22023 0 is outside the valid range for parameter \"ivfflat.probes\" (1 .. 32768)",
        ),
    ] {
        assert_eq!(client.error(statement), wanted, "{statement}");
    }
}
