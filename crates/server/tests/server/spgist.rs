//! SP-GiST indexes through a client: what they find is what the table has, before and after a crash, of every operator class.

use crate::support::{Client, Server, run};

const TABLE: [&str; 3] = [
    "create table t (id int, p point, k point, b box, g polygon, s text, r int4range, a inet)",
    "select setseed(0.25)",
    "insert into t select i, point(x, y), point(x, y), box(point(x, y), point(x + z, y + z / 2)), polygon(box(point(x, y), point(x + z, y + z))), \
     repeat(chr(97 + (x / 300)::int), (z * 3)::int) || (y::int % 40), \
     case when i % 50 = 3 then 'empty' when i % 50 = 4 then int4range(null, x::int) when i % 50 = 5 then int4range(y::int, null) else int4range(x::int, (x + z)::int) end, \
     case when i % 3 = 0 then ('2001:db8::' || x::int || '/' || 100 + (z::int % 29))::inet else ('10.' || x::int % 250 || '.' || y::int % 250 || '.0/' || 8 + z::int)::inet end \
     from (select i, (random() * 1000)::int as x, random() * 1000 as y, random() * 20 as z from generate_series(1, 3000) i) _",
];

const INDEXES: [&str; 8] = [
    "create index on t using spgist (p)",
    "create index on t using spgist (k kd_point_ops) include (id)",
    "create index on t using spgist (b)",
    "create index on t using spgist (g) with (fillfactor = 60)",
    "create index on t using spgist (s) include (id)",
    "create index on t using spgist (r)",
    "create index on t using spgist (a)",
    "insert into t select id, p, k, b, g, s, r, a from t union all select 0, null, null, null, null, null, null, null \
     union all select -i, point(7, 7), point(7, 7), box(point(7, 7), point(8, 8)), polygon(box(point(7, 7), point(8, 8))), 'again', 'empty', '10.1.1.1' from generate_series(1, 1500) i",
];

const CONDITIONS: [&str; 69] = [
    "p << point(100,0)",
    "p >> point(900,0)",
    "p ~= point(7,7)",
    "p <@ box(point(10,10),point(240,240))",
    "p <<| point(0,50)",
    "p |>> point(0,950)",
    "k << point(100,0)",
    "k >> point(900,0)",
    "k ~= point(7,7)",
    "k <@ box(point(10,10),point(240,240))",
    "k <<| point(0,50)",
    "k |>> point(0,950)",
    "p is null",
    "p is not null",
    "p << point(100,0) and p |>> point(0,500)",
    "b << box(point(50,50),point(60,60))",
    "b &< box(point(50,50),point(60,60))",
    "b && box(point(300,300),point(400,400))",
    "b &> box(point(950,50),point(960,60))",
    "b >> box(point(900,50),point(950,60))",
    "b ~= box(point(7,7),point(8,8))",
    "b @> box(point(400,400),point(401,401))",
    "b <@ box(point(100,100),point(300,300))",
    "b &<| box(point(1,50),point(60,60))",
    "b <<| box(point(50,50),point(60,60))",
    "b |>> box(point(50,900),point(60,960))",
    "b |&> box(point(1,900),point(2,950))",
    "g << polygon(box(point(50,50),point(60,60)))",
    "g &< polygon(box(point(50,50),point(60,60)))",
    "g && polygon(box(point(300,300),point(400,400)))",
    "g &> polygon(box(point(950,50),point(960,60)))",
    "g >> polygon(box(point(900,50),point(950,60)))",
    "g ~= polygon(box(point(7,7),point(8,8)))",
    "g @> polygon(box(point(400,400),point(401,401)))",
    "g <@ polygon(box(point(100,100),point(300,300)))",
    "g <<| polygon(box(point(50,50),point(60,60)))",
    "g |>> polygon(box(point(50,900),point(60,960)))",
    "s = 'again'",
    "s < 'aaa'",
    "s <= 'bb3'",
    "s >= 'dd'",
    "s > 'cccc'",
    "s ~<~ 'aaa'",
    "s ~<=~ 'aaa12'",
    "s ~>=~ 'ccc'",
    "s ~>~ 'ccc20'",
    "s ^@ 'bbb'",
    "s ^@ ''",
    "r << int4range(100,200)",
    "r &< int4range(50,60)",
    "r && int4range(300,310)",
    "r &> int4range(950,970)",
    "r >> int4range(900,950)",
    "r -|- int4range(400,500)",
    "r @> int4range(500,503)",
    "r @> 700",
    "r <@ int4range(100,200)",
    "r = 'empty'",
    "r @> 'empty'::int4range",
    "r <@ 'empty'::int4range",
    "a = '10.1.1.1'",
    "a < '10.20.0.0/16'",
    "a >= '2001:db8::500'",
    "a << '10.0.0.0/11'",
    "a <<= '10.32.0.0/12'",
    "a >> '10.5.6.7'",
    "a >>= '10.64.0.0/12'",
    "a && '2001:db8::100/118'",
    "a <> '10.1.1.1'",
];

/// Every condition finds the same rows by the table, an index and a bitmap.
fn compare(client: &mut Client) {
    for condition in CONDITIONS {
        let mut answers = Vec::new();
        for allowed in ["seqscan", "indexscan", "bitmapscan"] {
            for way in ["seqscan", "indexscan", "indexonlyscan", "bitmapscan"] {
                let same = way == allowed || way == "indexonlyscan" && allowed == "indexscan";
                run(client, &[&format!("set enable_{way} = {}", if same { "on" } else { "off" })]);
            }
            let column = condition.split(' ').next().unwrap();
            // With the column alone an index that returns it is enough.
            for what in ["sum(id)", &format!("min({column}::text), max({column}::text)")] {
                let query = format!("select count(*), {what} from t where {condition}");
                answers.push(client.query(&query).unwrap());
            }
        }
        assert_eq!(answers[0..2], answers[2..4], "{condition}: index");
        assert_eq!(answers[0..2], answers[4..6], "{condition}: bitmap");
    }
}

#[test]
fn indexes_find_what_the_table_has() {
    let mut server = Server::start(&[]);
    let mut client = server.client();
    run(&mut client, &TABLE);
    run(&mut client, &INDEXES);
    compare(&mut client);
    run(&mut client, &["delete from t where id % 3 = 0", "vacuum analyze t"]);
    compare(&mut client);
    server.kill();
    server.run();
    let mut client = server.client();
    compare(&mut client);
    run(
        &mut client,
        &["update t set r = int4range(id, id + 50), p = point(id, 7), s = s || s", "reindex table t"],
    );
    compare(&mut client);
    run(&mut client, &["delete from t where id > 5", "vacuum t", "vacuum t"]);
    compare(&mut client);
    drop(client);
    server.stop();
    server.assert_sound();
}

/// Texts of any length are indexed; what an entry includes is not made shorter.
#[test]
fn long_values() {
    let mut server = Server::start(&[]);
    let mut client = server.client();
    run(
        &mut client,
        &[
            "create table t (s text, n text)",
            "create index t_s on t using spgist (s) include (n)",
            "insert into t select repeat('x', 40000) || i, 'n' from generate_series(1, 20) i",
            "set enable_seqscan = off",
        ],
    );
    let found = client.query("select count(*) from t where s = repeat('x', 40000) || 7").unwrap();
    assert_eq!(found, [[Some("1".to_owned())]]);
    let refused = client
        .query("insert into t select 'a', string_agg(md5(i::text), '') from generate_series(1, 1000) i")
        .unwrap_err();
    let crate::support::Failure::Error { code, message, .. } = &refused else { panic!("{refused:?}") };
    assert_eq!(code, "54000");
    assert!(message.contains("exceeds maximum") && message.contains("\"t_s\""), "{message}");
    drop(client);
    server.stop();
    server.assert_sound();
}

/// By an index rows come as far as they come when sorted: those that are infinitely far, or no number away, before those without a place.
#[test]
fn nearest_rows_come_first() {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(
        &mut client,
        &[
            "create table t as select point(i * 7919 % 1000, i * 104729 % 997) p from generate_series(1, 500) i",
            "insert into t values (null), ('(Infinity,0)'), ('(NaN,0)'), (null), ('(0,-Infinity)'), ('(1,NaN)')",
            "alter table t add b box, add g polygon",
            "update t set b = box(p, point(p[0] + 5, p[1] + 9)), g = polygon(box(p, point(p[0] + 30, p[1] + 3)))",
            "create index tq on t using spgist (p quad_point_ops)",
            "create index tk on t using spgist (p kd_point_ops)",
            "create index tb on t using spgist (b)",
            "create index tg on t using spgist (g)",
        ],
    );
    for (column, other) in [("p", "tk"), ("p", "tq"), ("b", ""), ("g", "")] {
        let order = format!("{column} <-> point '(529,529)'");
        let query = format!("select {order} from t order by {order}");
        run(&mut client, &["set enable_seqscan = on", "set enable_indexscan = off"]);
        let sorted = client.query(&query).unwrap();
        run(&mut client, &["set enable_seqscan = off", "set enable_indexscan = on", "begin"]);
        if !other.is_empty() {
            run(&mut client, &[&format!("drop index {other}")]);
        }
        let plan = format!("{:?}", client.query(&format!("explain {query}")).unwrap());
        assert!(plan.contains("Order By"), "{plan}");
        assert_eq!(client.query(&query).unwrap(), sorted, "{column} without {other}");
        run(&mut client, &["rollback"]);
    }
}
