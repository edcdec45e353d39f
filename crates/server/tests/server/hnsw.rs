//! HNSW indexes of the extension `vector` through a client: how near what they find is to the truth, before and after changes, VACUUM and a crash.

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

fn nearest(client: &mut Client, operator: &str, sought: &str, index: bool) -> Vec<String> {
    let (one, other) = if index { ("on", "off") } else { ("off", "on") };
    run(client, &[&format!("set enable_indexscan = {one}"), &format!("set enable_seqscan = {other}")]);
    let query = format!("select id from t order by v {operator} '{sought}' limit 10");
    let plan = client.query(&format!("explain (costs off) {query}")).unwrap();
    let used = plan.iter().any(|row| row[0].as_ref().is_some_and(|line| line.contains("Order By: (v ")));
    assert_eq!(used, index, "{plan:?}");
    client.query(&query).unwrap().into_iter().filter_map(|row| row[0].clone()).collect()
}

/// So many of ten rows that are nearest are found.
fn check(client: &mut Client, operator: &str, of_ten: usize) {
    let (mut wanted, mut found) = (0, 0);
    for sought in SOUGHT {
        let truth = nearest(client, operator, sought, false);
        let near = nearest(client, operator, sought, true);
        assert_eq!(near.len(), truth.len(), "{operator} {sought}");
        wanted += truth.len();
        found += near.iter().filter(|id| truth.contains(id)).count();
    }
    assert!(found * 10 >= wanted * of_ten, "{operator}: {found} of {wanted}");
}

fn count(client: &mut Client, limit: u32) -> String {
    run(client, &["set enable_indexscan = on", "set enable_seqscan = off"]);
    let sought = SOUGHT[0];
    client
        .value(&format!("select count(*) from (select id from t order by v <-> '{sought}' limit {limit}) s"))
}

#[test]
fn the_nearest_are_found() {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(&mut client, &TABLE);
    for (operator, class) in [
        ("<->", "vector_l2_ops"),
        ("<#>", "vector_ip_ops"),
        ("<=>", "vector_cosine_ops"),
        ("<+>", "vector_l1_ops"),
    ] {
        run(&mut client, &[&format!("create index on t using hnsw (v {class})")]);
        if operator == "<#>" || operator == "<=>" {
            // Many rows are about as near as one another.
            run(&mut client, &["set hnsw.ef_search = 200"]);
        }
        // A product is no distance: what leads to the greatest ones is not always there.
        check(&mut client, operator, if operator == "<#>" { 7 } else { 9 });
        run(&mut client, &["reset hnsw.ef_search", "drop index t_v_idx"]);
    }
}

#[test]
fn a_search_ends_or_goes_on() {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(&mut client, &TABLE);
    run(&mut client, &["create index on t using hnsw (v vector_l2_ops) with (m = 8, ef_construction = 40)"]);
    assert_eq!(count(&mut client, 500), "40");
    run(&mut client, &["set hnsw.ef_search = 100"]);
    assert_eq!(count(&mut client, 500), "100");
    run(&mut client, &["set hnsw.iterative_scan = relaxed_order"]);
    assert_eq!(count(&mut client, 250), "250");
    assert_eq!(count(&mut client, 5000), "301");
    run(&mut client, &["set hnsw.max_scan_tuples = 1"]);
    assert!(count(&mut client, 5000).parse::<u32>().unwrap() < 301);
    run(&mut client, &["reset hnsw.max_scan_tuples", "set hnsw.iterative_scan = strict_order"]);
    let sought = SOUGHT[0];
    let ordered = format!(
        "with s as materialized (select v <-> '{sought}' as d from t order by v <-> '{sought}' limit 250) \
         select bool_and(d >= before) from (select d, lag(d) over () as before from s) x where before is not null"
    );
    assert_eq!(client.value(&ordered), "t");
    assert_eq!(
        client.value(
            "select count(*) from (select id from t order by v <-> (select null::vector) limit 5000) s"
        ),
        "301"
    );
}

#[test]
fn a_search_keeps_only_so_much_in_mind() {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(&mut client, &TABLE);
    run(
        &mut client,
        &[
            "insert into t select i, array[i * 7 % 101, i * 13 % 103, i * 29 % 107, i * 31 % 109, i * 37 % 113, i % 11]::vector from generate_series(1000, 3999) i",
            "create index on t using hnsw (v vector_l2_ops) with (m = 6, ef_construction = 20)",
            "set hnsw.iterative_scan = relaxed_order",
            "set hnsw.max_scan_tuples = 1000000",
            "set work_mem = '64kB'",
        ],
    );
    assert!(count(&mut client, 5000).parse::<u32>().unwrap() < 3301);
    run(&mut client, &["set hnsw.scan_mem_multiplier = 1000"]);
    assert_eq!(count(&mut client, 5000), "3301");
}

#[test]
fn many_clients_enter_rows_at_a_time() {
    let mut server = Server::start(&[]);
    let mut client = server.client();
    run(&mut client, &TABLE);
    run(&mut client, &["create index on t using hnsw (v vector_l2_ops)"]);
    std::thread::scope(|scope| {
        for n in 1..=4 {
            let mut client = server.client();
            scope.spawn(move || {
                for batch in 0..6 {
                    let from = n * 10_000 + batch * 10;
                    run(&mut client, &[&format!(
                        "insert into t select i, array[i * 7 % 101, i * 13 % 103, i * 29 % 107, i * 31 % 109, i * 37 % 113, i % 11]::vector from generate_series({from}, {from} + 9) i"
                    )]);
                    if batch == 3 {
                        run(&mut client, &[&format!("delete from t where id between {from} and {from} + 4"), "vacuum t"]);
                    }
                }
            });
        }
    });
    check(&mut client, "<->", 9);
    drop(client);
    server.stop();
    server.assert_sound();
}

#[test]
fn changes_and_a_crash_leave_it_sound() {
    let mut server = Server::start(&[]);
    let mut client = server.client();
    run(&mut client, &TABLE);
    run(
        &mut client,
        &[
            "create index on t using hnsw (v vector_l2_ops)",
            "delete from t where id % 3 = 0",
            "vacuum t",
            "insert into t select i, array[i % 101, i * 17 % 103, 50, 50, 50, i % 7]::vector from generate_series(2000, 2099) i",
        ],
    );
    check(&mut client, "<->", 9);
    run(&mut client, &["update t set v = v + '[1,1,1,1,1,1]' where id % 5 = 0"]);
    check(&mut client, "<->", 9);
    drop(client);
    server.kill();
    server.run();
    let mut client = server.client();
    check(&mut client, "<->", 9);
    run(
        &mut client,
        &["delete from t where id < 150", "vacuum t", "insert into t values (7, '[3,99,7,80,21,1]')"],
    );
    assert_eq!(nearest(&mut client, "<->", SOUGHT[1], true)[0], "7");
    run(&mut client, &["delete from t", "vacuum t"]);
    assert!(nearest(&mut client, "<->", SOUGHT[1], true).is_empty());
    run(&mut client, &["insert into t values (8, '[1,2,3,4,5,6]')"]);
    assert_eq!(nearest(&mut client, "<->", SOUGHT[1], true), ["8"]);
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
            "create index on t using hnsw (v)",
            "42704 data type vector has no default operator class for access method \"hnsw\"",
        ),
        (
            "create index on t using hnsw (v vector_l2_ops) with (m = 40, ef_construction = 50)",
            "22023 ef_construction must be greater than or equal to 2 * m",
        ),
        (
            "create index on t using hnsw (v vector_l2_ops, id)",
            "0A000 access method \"hnsw\" does not support multicolumn indexes",
        ),
        (
            "create unique index on t using hnsw (v vector_l2_ops)",
            "0A000 access method \"hnsw\" does not support unique indexes",
        ),
        (
            "create index on t using hnsw (v vector_l2_ops) with (m = 1)",
            "22023 value 1 out of bounds for option \"m\"",
        ),
        (
            "set hnsw.ef_search = 0",
            "22023 0 is outside the valid range for parameter \"hnsw.ef_search\" (1 .. 1000)",
        ),
    ] {
        assert_eq!(client.error(statement), wanted, "{statement}");
    }
}
