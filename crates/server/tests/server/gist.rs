//! GiST indexes through a client: what they find is what the table has, before and after a crash.

use crate::support::{Client, Server, run};

const TABLE: [&str; 4] = [
    "create table t (id int, r int4range, b box, p point, c circle, g polygon, a inet, m int4multirange)",
    "insert into t select i, int4range(i, i + i % 10), box(point(i,i), point(i+3,i+3)), point(i % 100, i / 100), circle(point(i,i), 2), \
     polygon(box(point(i,i), point(i+3,i+3))), ('10.' || i % 200 || '.' || i / 200 || '.0/24')::inet, int4multirange(int4range(i,i+3)) \
     from generate_series(1,1500) i",
    "create index t2 on t using gist (r, b) include (id)",
    "create index t1 on t using gist (r)",
];

const MORE: [&str; 7] = [
    "create index on t using gist (b)",
    "create index on t using gist (p)",
    "create index on t using gist (c)",
    "create index on t using gist (g)",
    "create index on t using gist (a inet_ops)",
    "create index on t using gist (m)",
    "insert into t select id, r, b, p, c, g, a, m from t union all select 0, 'empty', null, null, null, null, null, '{}'",
];

const CONDITIONS: [&str; 20] = [
    "r && int4range(100,120)",
    "r @> 100",
    "int4range(100,103) <@ r",
    "r <@ int4range(100,130)",
    "r -|- int4range(50,60)",
    "r && '{[3,5),[100,103)}'::int4multirange",
    "r @> 'empty'::int4range",
    "r is null",
    "r && int4range(100,120) and b && box(point(101,101),point(102,102))",
    "b <@ box(point(10,10),point(40,40))",
    "b << box(point(10,10),point(20,20))",
    "p <@ circle(point(10,10),5)",
    "p >> point(98,0)",
    "c && circle(point(10,10),4)",
    "g @> polygon(box(point(10,10),point(12,12)))",
    "a << '10.5.0.0/16'",
    "a >>= '10.5.3.4'",
    "a < '10.5.0.0/16'",
    "m @> 100",
    "m <@ '{[1,100)}'::int4multirange",
];

/// Every condition finds the same rows by the table, an index and a bitmap.
fn compare(client: &mut Client) {
    for condition in CONDITIONS {
        let mut answers = Vec::new();
        for allowed in ["seqscan", "indexscan", "bitmapscan"] {
            for way in ["seqscan", "indexscan", "indexonlyscan", "bitmapscan"] {
                let on = if way.starts_with(allowed) || way == "indexonlyscan" && allowed == "indexscan" {
                    "on"
                } else {
                    "off"
                };
                run(client, &[&format!("set enable_{way} = {on}")]);
            }
            let query = format!("select count(*), sum(id) from t where {condition}");
            answers.push(client.query(&query).unwrap());
        }
        assert!(answers[0] == answers[1] && answers[0] == answers[2], "{condition}: {answers:?}");
    }
}

#[test]
fn indexes_find_what_the_table_has() {
    let mut server = Server::start(&[]);
    let mut client = server.client();
    run(&mut client, &TABLE);
    run(&mut client, &MORE);
    compare(&mut client);
    run(&mut client, &["delete from t where id % 3 = 0", "vacuum analyze t"]);
    compare(&mut client);
    server.kill();
    server.run();
    let mut client = server.client();
    compare(&mut client);
    run(&mut client, &["update t set r = int4range(id, id + 50), p = point(id, 7)", "reindex table t"]);
    compare(&mut client);
    // Rows are entered one by one, as they lie in the table.
    run(
        &mut client,
        &["alter index t1 set (buffering = off)", "alter index t2 set (buffering = off)", "reindex table t"],
    );
    compare(&mut client);
    drop(client);
    server.stop();
    server.assert_sound();
}

/// Orders by distance, and what else is asked.
const NEAREST: [&str; 8] = [
    "p <-> point(33.3, 7)",
    "point(33.3, 7) <-> p",
    "b <-> point(500, 480)",
    "c <-> point(500, 480)",
    "g <-> point(500, 480)",
    "p <-> (select null::point)",
    "p <-> (select point(3, 4))",
    "c <-> point(800, 1)",
];

fn allow(client: &mut Client, index: bool) {
    let (one, other) = if index { ("on", "off") } else { ("off", "on") };
    run(
        client,
        &[
            &format!("set enable_indexscan = {one}"),
            &format!("set enable_indexonlyscan = {one}"),
            &format!("set enable_seqscan = {other}"),
            &format!("set enable_sort = {other}"),
            "set enable_bitmapscan = off",
        ],
    );
}

#[test]
fn the_nearest_come_first() {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(&mut client, &TABLE);
    run(&mut client, &MORE);
    run(
        &mut client,
        &[
            "insert into t (id, p, c) values (-1, '(NaN,3)', '<(1,1),0>'), (-2, '(Infinity,3)', '<(800,1),300>'), (-3, null, null)",
            "delete from t where id % 7 = 0",
        ],
    );
    for distance in NEAREST {
        for (condition, limit) in
            [("true", "40"), ("id % 2 = 0", "10"), ("p <@ box(point(0,0), point(50,9))", "all")]
        {
            let query =
                format!("select {distance} from t where {condition} order by {distance} limit {limit}");
            allow(&mut client, false);
            let sorted = client.query(&query).unwrap();
            allow(&mut client, true);
            let plan = client.query(&format!("explain (costs off) {query}")).unwrap();
            let has =
                |words: &str| plan.iter().any(|row| row[0].as_ref().is_some_and(|line| line.contains(words)));
            assert!(has("Order By: (") && !has("Sort"), "{query}: {plan:?}");
            assert_eq!(client.query(&query).unwrap(), sorted, "{query}");
        }
    }
}

#[test]
fn distances_may_come_from_parameters_and_other_rows() {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(&mut client, &TABLE);
    run(&mut client, &MORE);
    run(&mut client, &["vacuum analyze t"]);
    run(
        &mut client,
        &["prepare nearest(point, int) as select id from t where id > 0 order by p <-> $1 limit $2"],
    );
    for _ in 0..7 {
        assert_eq!(client.value("execute nearest('(30.1,7)', 1)"), "730");
    }
    let plan = client.query("explain (costs off) execute nearest('(30.1,7)', 1)").unwrap();
    assert!(
        plan.iter().any(|row| row[0].as_ref().is_some_and(|line| line.contains("Order By: (p <-> "))),
        "{plan:?}"
    );
    let lateral = "select string_agg(n.id::text, ' ' order by a.id) from (values (1, point(30, 3)), (2, point(99, 9))) a (id, p), \
                   lateral (select id from t order by p <-> a.p limit 1) n";
    allow(&mut client, true);
    assert_eq!(client.value(lateral), "330 999");
    // Only ascending, NULLs last.
    run(&mut client, &["reset all"]);
    for order in ["p <-> '(1,1)' desc", "p <-> '(1,1)' nulls first", "p <-> '(1,1)', id"] {
        let plan =
            client.query(&format!("explain (costs off) select id from t order by {order} limit 1")).unwrap();
        assert!(
            plan.iter().any(|row| row[0].as_ref().is_some_and(|line| line.contains("Sort Key"))),
            "{order}: {plan:?}"
        );
    }
    let can = |client: &mut Client, index: &str, property: &str| {
        client.value(&format!("select pg_index_column_has_property('{index}', 1, '{property}')"))
    };
    assert_eq!(can(&mut client, "t_p_idx", "distance_orderable"), "t");
    assert_eq!(can(&mut client, "t1", "distance_orderable"), "f");
    assert_eq!(
        [can(&mut client, "t_p_idx", "returnable"), can(&mut client, "t_c_idx", "returnable")],
        ["t", "f"]
    );
}
