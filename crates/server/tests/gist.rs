//! GiST indexes through a client: what they find is what the table has, before and after a crash.

mod support;

use support::{Client, Server, run};

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
    drop(client);
    server.stop();
    server.assert_sound();
}
