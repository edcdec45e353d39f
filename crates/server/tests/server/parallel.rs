//! Queries that several threads run beside each other have the answers, and the errors, of those that one runs.
//!
//! `STAMPEDE_PARALLEL_QUERIES` makes the run of random queries longer, `STAMPEDE_PARALLEL_SEED` makes it another.

use crate::column_joins::{ENOUGH, LITTLE, QUERIES, SETUP, query};
use crate::support::batches::{ALONE_AND_TOGETHER, EAGER, answer, assert_same_after};
use crate::support::{Client, Random, Server, knob, run};

fn filled(server: &Server) -> Client {
    let mut client = server.client();
    run(&mut client, SETUP);
    run(&mut client, EAGER);
    client
}

fn lines(client: &mut Client, text: &str) -> String {
    let rows = client.query(text).unwrap_or_else(|failure| panic!("{text}: {failure:?}"));
    rows.into_iter().map(|mut row| row.remove(0).unwrap_or_default() + "\n").collect()
}

fn analyzed(client: &mut Client, text: &str) -> String {
    lines(client, &format!("explain (analyze, costs off, timing off, summary off, buffers off) {text}"))
}

#[test]
fn joins_and_aggregates_answer_the_same() {
    let server = Server::start(&[]);
    let mut client = filled(&server);
    for batches in ["on", "off"] {
        run(&mut client, &[&format!("set stampede.batch_execution = {batches}")]);
        for query in QUERIES {
            assert_same_after(&mut client, ALONE_AND_TOGETHER, query);
        }
    }
    let plan = analyzed(&mut client, "select x, count(*), sum(id) from big group by x");
    for part in ["Gather", "Workers Planned: ", "Workers Launched: ", "Parallel Seq Scan on big"] {
        assert!(plan.contains(part), "no {part:?} in {plan}");
    }
    assert!(!plan.contains("Workers Launched: 0"), "{plan}");
}

/// Orders in which no two rows are alike.
const ORDERED: &[&str] = &[
    "select id, x from big order by x desc nulls last, id desc",
    "select id, n, late from big where k % 3 = 0 order by n, late, id limit 20",
    "select id, f from big order by f, id offset 4200",
    "select id, d, row_number() over (partition by d order by id) from big order by 1",
    "select distinct on (k) k, id from big order by k, id",
    "select big.id, title from big join small using (k) order by title, id",
    "select k, string_agg(x, ',' order by id) from big group by k order by k",
    "select distinct x, c from big order by x, c",
    "select id, 10 / (id - 3001) from big order by 2, 1",
    "select distinct k from big where id > (select avg(id) from big) order by k",
    "select distinct x, n from big where k < (select max(k) from small) order by n, x",
    "select id, (select count(*) from small) from big where exists (select from nothing) or k = 7 order by id",
    "select id from big where id > (select 1 / count(*) from nothing) order by id",
];

#[test]
fn sorted_rows_come_in_the_same_order() {
    let server = Server::start(&[]);
    let mut client = filled(&server);
    for memory in [ENOUGH, "set work_mem = '64kB'"] {
        run(&mut client, &[memory]);
        for query in ORDERED {
            run(&mut client, &[ALONE_AND_TOGETHER[0]]);
            let alone = format!("{:?}", client.query(query));
            run(&mut client, &[ALONE_AND_TOGETHER[1]]);
            assert_eq!(format!("{:?}", client.query(query)), alone, "{query}");
        }
    }
    let plan = analyzed(&mut client, ORDERED[0]);
    assert!(plan.contains("Gather Merge") && plan.contains("Workers Launched: 4"), "{plan}");
}

#[test]
fn random_queries_answer_the_same() {
    let server = Server::start(&[]);
    let mut client = filled(&server);
    run(&mut client, &["reset enable_mergejoin; reset enable_nestloop"]);
    let mut random = Random(knob("STAMPEDE_PARALLEL_SEED", 5));
    for number in 0..knob("STAMPEDE_PARALLEL_QUERIES", 60) {
        let little = number % 3 == 0;
        run(&mut client, &[if little { LITTLE } else { ENOUGH }]);
        let batches = if number % 5 == 0 { "off" } else { "on" };
        run(&mut client, &[&format!("set stampede.batch_execution = {batches}")]);
        assert_same_after(&mut client, ALONE_AND_TOGETHER, &query(&mut random));
    }
}

#[test]
fn helpers_know_the_letters_of_the_database() {
    let mut server = Server::init(&["--locale=C.UTF-8"]);
    server.run();
    let mut client = filled(&server);
    run(&mut client, &[ALONE_AND_TOGETHER[1]]);
    let query = "select id from big where upper('é' || id) not like 'É%'";
    assert!(analyzed(&mut client, query).contains("Workers Launched: 4"));
    assert_eq!(lines(&mut client, query), "");
}

#[test]
fn a_query_that_takes_long_is_cancelled() {
    let server = Server::start(&[]);
    let mut client = filled(&server);
    run(
        &mut client,
        &[
            "create table same (k int)",
            "insert into same select 1 from generate_series(1, 60000)",
            "analyze same",
            ALONE_AND_TOGETHER[1],
            "set statement_timeout = '300ms'",
        ],
    );
    let query = "select count(*) from same a join same b on a.k = b.k and a.k + b.k > 2 + a.k % 2";
    assert!(lines(&mut client, &format!("explain {query}")).contains("Workers Planned"));
    for (batches, leader) in [("on", "on"), ("off", "on"), ("on", "off"), ("off", "off")] {
        run(
            &mut client,
            &[
                &format!("set stampede.batch_execution = {batches}"),
                &format!("set parallel_leader_participation = {leader}"),
            ],
        );
        assert_eq!(answer(&mut client, query).unwrap_err().0, "57014", "batches {batches}, leader {leader}");
    }
    run(&mut client, &["reset statement_timeout"]);
    assert_eq!(client.value("select count(*) from same"), "60000");
}

#[test]
fn what_only_the_session_sees_is_seen() {
    let server = Server::start(&[]);
    let mut client = filled(&server);
    run(&mut client, &[ALONE_AND_TOGETHER[1]]);
    let count = "select count(*), sum(id) from big where id > 0";
    let before = client.query(count).unwrap();
    run(&mut client, &["begin", "delete from big where id % 2 = 0", "insert into big (id) values (1)"]);
    let plan = analyzed(&mut client, count);
    assert!(plan.contains("Workers Launched: 0"), "{plan}");
    let within = client.query(count).unwrap();
    assert_ne!(before, within);
    run(&mut client, &["commit"]);
    assert_eq!(client.query(count).unwrap(), within);
    run(&mut client, &["begin isolation level serializable"]);
    assert!(!analyzed(&mut client, count).contains("Workers Launched: 4"));
    run(&mut client, &["commit", "begin isolation level repeatable read"]);
    assert_eq!(client.query(count).unwrap(), within);
    run(&mut server.client(), &["delete from big"]);
    assert_eq!(client.query(count).unwrap(), within);
    run(&mut client, &["commit"]);
    assert_eq!(client.value("select count(*) from big"), "0");
}

#[test]
fn there_are_no_more_helpers_than_settings_allow() {
    let server = Server::start(&[]);
    let mut client = filled(&server);
    run(&mut client, &["alter table big set (parallel_workers = 3)", ALONE_AND_TOGETHER[1]]);
    let launched = |client: &mut Client| {
        let plan = analyzed(client, "select count(*) from big where id % 3 = 1");
        plan.split("Workers Launched: ").nth(1).and_then(|rest| rest.lines().next()).map(str::to_owned)
    };
    assert_eq!(launched(&mut client).as_deref(), Some("3"));
    run(&mut client, &["set max_parallel_workers = 2"]);
    assert_eq!(launched(&mut client).as_deref(), Some("2"));
    run(&mut client, &["set max_parallel_workers = 0"]);
    assert_eq!(launched(&mut client).as_deref(), Some("0"));
    run(&mut client, &["reset max_parallel_workers", "set parallel_leader_participation = off"]);
    assert_eq!(
        client.value("select count(*) from big where id % 3 = 1"),
        client.value("select count(*) from big where (id + 2) % 3 = 0")
    );
    run(&mut client, &["set max_parallel_workers_per_gather = 0"]);
    assert_eq!(launched(&mut client), None);
}

#[test]
fn statistics_count_what_helpers_read() {
    let server = Server::start(&[]);
    let mut client = filled(&server);
    run(&mut client, &["alter table big set (parallel_workers = 2)", ALONE_AND_TOGETHER[1]]);
    let read = "select seq_tup_read from pg_stat_user_tables where relname = 'big'";
    run(&mut client, &["select pg_stat_force_next_flush()"]);
    let before: i64 = client.value(read).parse().unwrap();
    assert_eq!(client.value("select count(*) from big"), "4300");
    run(&mut client, &["select pg_stat_force_next_flush()"]);
    let after: i64 = client.value(read).parse().unwrap();
    assert_eq!(after - before, 4300);
}

#[test]
fn statistics_count_helpers() {
    let server = Server::start(&["max_parallel_workers=3"]);
    let mut client = filled(&server);
    run(&mut client, &["alter table big set (parallel_workers = 4)", ALONE_AND_TOGETHER[1]]);
    let mut helpers = || {
        run(&mut client, &["select pg_stat_force_next_flush()"]);
        let row = "select parallel_workers_to_launch, parallel_workers_launched from pg_stat_database \
                   where datname = current_database()";
        let row = client.query(row).unwrap().remove(0);
        let [asked, started] = [0, 1].map(|i| row[i].as_ref().unwrap().parse::<i64>().unwrap());
        run(&mut client, &["select count(*) from big"]);
        (asked, started)
    };
    let (first, second) = (helpers(), helpers());
    assert_eq!((second.0 - first.0, second.1 - first.1), (4, 3));
}
