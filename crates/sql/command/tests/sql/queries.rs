//! Queries that need a session: what subqueries name of the queries around them, sets of rows in expressions, sets that outgrow
//! memory.

use crate::support::{Client, Server};

fn filled() -> (Server, Client) {
    let server = Server::new();
    let s = server.connect();
    s.query("create table o (g int, x int); insert into o values (1, 1), (1, 2), (2, 5), (null, 7)");
    s.query("create table i (y int); insert into i values (1), (3), (8)");
    (server, s)
}

#[test]
fn aggregates_of_the_outer_query_stand_in_subqueries() {
    let (_server, s) = filled();
    for (columns, expected) in [
        ("(select sum(o.x))", "1|3\n2|5\n|7"),
        ("(select max(y) from i where y < sum(o.x))", "1|1\n2|3\n|3"),
        ("(select (select sum(o.x) + count(i.y) from i))", "1|6\n2|8\n|10"),
        ("exists (select 1 from i where y = sum(o.x))", "1|t\n2|f\n|f"),
        ("sum(x) in (select y from i where y <= max(o.x) + 1)", "1|t\n2|f\n|f"),
        ("(select string_agg(o.x::text, ',' order by o.x desc) from i limit 1)", "1|2,1\n2|5\n|7"),
        ("(select count(*) filter (where o.x > 1))", "1|1\n2|1\n|1"),
        ("array(select y + sum(o.x) from i order by 1)", "1|{4,6,11}\n2|{6,8,13}\n|{8,10,15}"),
        ("(with c as (select sum(o.x) as s) select s from c)", "1|3\n2|5\n|7"),
        ("(select count(*) from i where y > sum(o.x) and y > g)", "1|1\n2|1\n|0"),
    ] {
        assert_eq!(
            s.query(&format!("select g, {columns} from o group by g order by g")),
            expected,
            "{columns}"
        );
    }
    let sets = "select g, (select grouping(o.g)), (select sum(o.x)) from o group by rollup (g) order by 1, 2";
    assert_eq!(s.query(sets), "1|0|3\n2|0|5\n|0|7\n|1|15");
    assert_eq!(s.query("select g from o group by g having (select sum(o.x) > 3) order by g"), "2\n");
    let nested = "ERROR:  aggregate function calls cannot be nested";
    assert_eq!(s.query("select (select sum((select max(o.x) from i where y > o.x))) from o"), nested);
    let wrong = "ERROR:  aggregate functions are not allowed in WHERE";
    assert_eq!(s.query("select 1 from o where (select sum(o.x)) > 1"), wrong);
    assert_eq!(s.query("select sum((select sum(o.x))) from o"), nested);
    s.query("create view v as select g, (select sum(o.x)) as s from o group by g");
    assert_eq!(s.query("select * from v order by g"), "1|3\n2|5\n|7");
    s.run("drop view v; drop table o").unwrap();
}

#[test]
fn a_volatile_condition_without_tables_is_asked() {
    let (_server, s) = filled();
    assert_eq!(s.query("select 1 where random() < 0"), "");
    assert_eq!(s.query("select 1 where clock_timestamp() > '2000-01-01'"), "1");
    assert_eq!(s.query("select g from o where exists (select 1 where random() < 0)"), "");
    assert_eq!(s.query("select count(*) from (select 1 where random() < 0 union all select 2) as u"), "1");
    assert_eq!(
        s.query("explain (costs off) select 1 where random() < 0"),
        "Result\n  One-Time Filter: (random() < '0'::double precision)"
    );
}

#[test]
fn rows_of_sets_are_taken_apart() {
    let (_server, s) = filled();
    assert_eq!(s.query("select (jsonb_each('{\"a\": 1, \"b\": [2]}')).*"), "a|1\nb|[2]");
    assert_eq!(s.query("select jsonb_each('{\"a\": 1, \"b\": [2]}')"), "(a,1)\n(b,[2])");
    assert_eq!(s.query("select (json_each_text('{\"a\": 1, \"b\": null}')).value is null"), "f\nt");
    assert_eq!(s.query("select (pg_options_to_table(array['a=1', 'b=2'])).*"), "a|1\nb|2");
    s.query(
        "create function f() returns table (a int, b text) language sql as 'values (1, ''x''), (2, ''y'')'",
    );
    assert_eq!(s.query("select (f()).b, generate_series(1, 3)"), "x|1\ny|2\n|3");
}

#[test]
fn sets_of_functions_outgrow_memory() {
    let (_server, s) = filled();
    s.query("set work_mem = '64kB'");
    let body = "select n, repeat('x', 50) || n from generate_series(1, 5000) n";
    s.query(&format!("create function f() returns table (a int, b text) language sql as $$ {body} $$"));
    assert_eq!(
        s.query("select count(*), sum(a), max(b) from f()"),
        format!("5000|12502500|{}999", "x".repeat(50))
    );
    assert_eq!(s.query("select count(*), count(distinct b) from f() x join f() y using (a, b)"), "5000|5000");
    assert_eq!(s.query("select count(*) from (select (f()).b) s"), "5000");
    // A cursor goes back over rows that are in a file.
    s.query("begin; declare c scroll cursor for select * from f(); move last from c");
    assert_eq!(s.query("fetch absolute 77 from c"), format!("77|{}77", "x".repeat(50)));
    assert_eq!(s.query("fetch prior from c"), format!("76|{}76", "x".repeat(50)));
    s.query("commit");
}

#[test]
fn direct_arguments_are_known_where_their_aggregate_is() {
    let (_server, s) = filled();
    assert_eq!(
        s.query("select (select rank(i.y) within group (order by o.x) from i) from o"),
        "ERROR:  outer-level aggregate cannot contain a lower-level variable in its direct arguments"
    );
    assert_eq!(
        s.query("select rank(sum(x)) within group (order by x) from o"),
        "ERROR:  aggregate function calls cannot be nested"
    );
    assert_eq!(s.query("select (select rank(o.g) within group (order by o.x) from i limit 1) from o where g = 1 group by g"), "1");
}

#[test]
fn conditions_of_outer_joins_may_name_what_stands_beside_them() {
    let (_server, s) = filled();
    for (query, expected) in [
        (
            "select o.x, f.* from o, lateral (select i.y, j.y from i left join i j on i.y = j.y and o.x < j.y where i.y < 8) f
             where o.g = 1 order by 1, 2",
            "1|1|\n1|3|3\n2|1|\n2|3|3",
        ),
        (
            "select o.x, f.* from o, lateral (select i.y, j.y from i full join (select y from i where y > 1) j on i.y = j.y
             where i.y is distinct from o.x) f where o.g = 2 order by 1, 2",
            "5|1|\n5|3|3\n5|8|8",
        ),
        (
            "select o.x, f.y, f.z from o cross join (select 1) n(n) left join lateral
             (select i.y, k.z from i left join lateral (select j.y + o.x as z from i j where j.y > i.y) k on k.z > o.x + 3) f
             on f.y = o.x where o.g = 1 order by 1, 3",
            "1|1|9\n2||",
        ),
        (
            "select a.x, c.y from o a cross join (i b left join lateral (select y from i where y = a.x) c on b.y > 1)
             where a.x = 1 order by 2",
            "1|1\n1|1\n1|",
        ),
        (
            "select o.x, f.* from o, lateral (select i.y, j.y from i left join i j on exists (select where i.y = j.y and o.x = i.y)) f
             where o.x = 1 order by 2",
            "1|1|1\n1|3|\n1|8|",
        ),
        (
            "select o.x, f.* from o, lateral (select k.z, j.y from (select o.x as z from i) k left join i j on k.z = j.y) f
             where o.g = 1 order by 1",
            "1|1|1\n1|1|1\n1|1|1\n2|2|\n2|2|\n2|2|",
        ),
    ] {
        assert_eq!(s.query(query), expected, "{query}");
    }
}

#[test]
fn all_equalities_of_a_class_are_checked() {
    let (_server, s) = filled();
    s.query("create table p (id int, b int); insert into p select n, n % 7 from generate_series(0, 49) n");
    s.query(
        "create table q (a int, s int); insert into q select n % 10, n % 3 from generate_series(1, 60) n",
    );
    s.query("insert into q select n, 2 from generate_series(10, 5000) n");
    s.query("create index on q (a); analyze p; analyze q");
    let query = "select p.id, q.s, count(*) from p join q on p.b = q.a and (case q.s when 0 then p.id when 1 then q.s end) = q.a
         group by 1, 2 order by 1, 2";
    let expected = "0|0|2\n1|0|2\n1|1|2\n2|0|2\n3|0|2\n4|0|2\n5|0|2\n6|0|2\n8|1|2\n15|1|2\n22|1|2\n29|1|2\n36|1|2\n43|1|2";
    assert_eq!(s.query(query), expected);
    s.run("set enable_hashjoin = off; set enable_mergejoin = off").unwrap();
    assert!(s.query(&format!("explain {query}")).contains("Index Cond: (a = p.b)"));
    assert_eq!(s.query(query), expected);
}

#[test]
fn frames_that_stay_or_grow_take_each_row_once() {
    let (_server, s) = filled();
    s.query("create table w (k int, p int); insert into w select n, n / 3 from generate_series(1, 7) n");
    let over = |frame: &str| s.query(&format!("select array_agg(k) over (order by p {frame}) from w"));
    assert_eq!(
        over("groups between 1 preceding and current row"),
        "{1,2}\n{1,2}\n{1,2,3,4,5}\n{1,2,3,4,5}\n{1,2,3,4,5}\n{3,4,5,6,7}\n{3,4,5,6,7}"
    );
    assert_eq!(
        over("groups between 1 preceding and current row exclude group"),
        "\n\n{1,2}\n{1,2}\n{1,2}\n{3,4,5}\n{3,4,5}"
    );
    assert_eq!(
        over("range between 5 preceding and 1 following exclude ties"),
        "{1,3,4,5}\n{2,3,4,5}\n{1,2,3,6,7}\n{1,2,4,6,7}\n{1,2,5,6,7}\n{1,2,3,4,5,6}\n{1,2,3,4,5,7}"
    );
    assert_eq!(
        over("range between current row and unbounded following"),
        "{1,2,3,4,5,6,7}\n{1,2,3,4,5,6,7}\n{3,4,5,6,7}\n{3,4,5,6,7}\n{3,4,5,6,7}\n{6,7}\n{6,7}"
    );
    // What is aggregated for one row serves its peers.
    s.query("create sequence calls; create function counted(int) returns int language sql as 'select $1 + 0 * nextval(''calls'')::int'");
    s.query("select max(counted(k)) over (order by p groups between 1 preceding and 1 following) from w");
    assert_eq!(s.query("select currval('calls')"), "12");
}

#[test]
fn recursive_unions_know_rows_that_outgrew_memory() {
    let (_server, s) = filled();
    let query = "with recursive r(n, t) as (select 1, repeat('x', 100) union all select 2, repeat('x', 100)
         union select (n * 2 + d) % 5000, t from r, (values (0), (1)) v(d)) select count(*), sum(n), count(distinct t) from r";
    let expected = s.query(query);
    assert_eq!(expected, "5000|12497500|1");
    s.query("set work_mem = '64kB'");
    assert_eq!(s.query(query), expected);
    let nested = format!("select x, (select a + x from ({query}) i(a, b, c)) from (values (1), (2)) v(x)");
    assert_eq!(s.query(&nested), "1|5001\n2|5002");
}

#[test]
fn a_sample_is_drawn_again_where_it_is_repeatable() {
    let server = Server::new();
    let s = server.connect();
    let steps = [
        ("create table t (id int, pad text) with (fillfactor = 10)", ""),
        ("insert into t select i, repeat(i::text, 200) from generate_series(0, 9) i", ""),
        ("select id from t tablesample system (50) repeatable (0)", "3\n4\n5\n6\n7\n8"),
        ("select id from t tablesample bernoulli (50) repeatable (0)", "4\n5\n6\n7\n8"),
        ("select id from t tablesample bernoulli (50) repeatable (0) where id > 5", "6\n7\n8"),
        ("select count(*) from t tablesample system (100)", "10"),
        ("select count(*) from t tablesample bernoulli (0)", "0"),
        (
            "select p, (select count(*) from t tablesample bernoulli (p)) from (values (0), (100)) v (p)",
            "0|0\n100|10",
        ),
        (
            "select p, c from (values (0), (100)) v (p), lateral (select count(*) c from t tablesample system (p)) x",
            "0|0\n100|10",
        ),
        ("select 1 from t tablesample system (-1)", "ERROR:  sample percentage must be between 0 and 100"),
        ("select 1 from t tablesample system (null)", "ERROR:  TABLESAMPLE parameter cannot be null"),
        (
            "select 1 from t tablesample system (1) repeatable (null)",
            "ERROR:  TABLESAMPLE REPEATABLE parameter cannot be null",
        ),
        ("create view v as select id from t x tablesample system (10 * 2) repeatable (2)", ""),
        (
            "select pg_get_viewdef('v')",
            " SELECT id\n   FROM t x TABLESAMPLE system ((10 * 2)) REPEATABLE (2);",
        ),
    ];
    for (sql, expected) in steps {
        assert_eq!(s.query(sql), expected, "{sql}");
    }
}

#[test]
fn a_long_list_of_columns_and_values() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t(a int, b int); insert into t values (1, 1), (2, 7), (1999, 0)").unwrap();
    let members = |member: &dyn Fn(usize) -> String| (0..2000).map(member).collect::<Vec<_>>().join(",");
    let list = members(&|i| if i % 2 == 0 { "b".into() } else { i.to_string() });
    assert_eq!(s.query(&format!("select a from t where a in ({list})")), "1\n1999");
    assert_eq!(s.query(&format!("select a from t where a not in ({list})")), "2");
    // A short one is connected pair by pair.
    s.run("create view v as select from t where a in (1, b, 3, a + b)").unwrap();
    let shown = |pretty: bool| {
        s.query(&format!("select regexp_replace(pg_get_viewdef('v', {pretty}), '.*WHERE', '')"))
    };
    assert_eq!(shown(false), " (((a = ANY (ARRAY[1, 3])) OR (a = b)) OR (a = (a + b)));");
    assert_eq!(shown(true), " (a = ANY (ARRAY[1, 3])) OR a = b OR a = (a + b);");
}

#[test]
fn only_a_condition_that_cannot_hold_for_missing_rows_makes_a_join_inner() {
    let (_server, s) = filled();
    s.query("create table l (id int, a int, b int)");
    s.query("create table r (id int, n int)");
    s.query("insert into l values (1, 5, 1)");
    s.query("insert into r values (1, 0), (2, 0), (3, null)");
    for (condition, expected) in [
        // NULL AND false is false, NULL OR true is true, and a strict function of either knows.
        ("(l.a = 5 and r.n <> r.n)::int <= - r.n", "1,1;2,"),
        ("not (l.a = 5 and r.n <> r.n)", "1,1;2,"),
        ("(l.a = 7 or r.n = r.n) = true", "1,1;2,"),
        ("(l.a = 7 or r.n = r.n) is not null", "1,1;2,"),
        ("not (l.a = any ('{}'))", "1,1;2,;3,"),
        // These reject them.
        ("(l.a = 5 and l.b = 1)::int = 1", "1,1"),
        ("l.a = 5 and r.n = 0", "1,1"),
        ("(l.a = 5) is true or l.b > 0", "1,1"),
    ] {
        let rows = format!(
            "select string_agg(r.id || ',' || coalesce(l.id::text, ''), ';' order by r.id) \
             from l right join r on l.id = r.id where {condition}"
        );
        assert_eq!(s.query(&rows), expected, "{condition}");
    }
}

#[test]
fn sets_of_numbers_come_out_of_arrays_of_numbers() {
    let (_server, s) = filled();
    assert_eq!(s.query("select * from unnest(array[1, 2])"), "1\n2");
    assert_eq!(s.query("select sum(u) from o, unnest(array[x, g]) u"), "19");
    assert_eq!(s.query("select unnest(array[x]) + 1 from o where g = 2"), "6");
}

#[test]
fn a_row_with_a_null_may_be_in_a_subquery_or_not() {
    let (_server, s) = filled();
    s.query("create table k (id int, a int, b int)");
    s.query("insert into k values (1, 1, 1), (2, 1, null), (3, null, 1), (4, null, null), (5, 7, 7), (6, 7, null)");
    let found = |rows: &str| {
        let (hashed, one_by_one) =
            (format!("(values {rows}) v"), format!("(values {rows}) v where k.id > 0"));
        let answers = [hashed, one_by_one].map(|from| {
            s.query(&format!(
                "select string_agg(coalesce(((a, b) in (select column1, column2 from {from}))::text, 'null'), ' ' order by id) from k"
            ))
        });
        assert_eq!(answers[0], answers[1], "{rows}");
        answers[0].clone()
    };
    assert_eq!(found("(1, 1), (2, 2)"), "true null null null false false");
    assert_eq!(found("(1, null), (2, 2::int)"), "null null null null false false");
    assert_eq!(found("(2, null), (3, 3::int)"), "false false null null false false");
    assert_eq!(found("(null, 7), (1, 2::int)"), "false null false null null null");
    assert_eq!(found("(null::int, null::int)"), "null null null null null null");
    assert_eq!(s.query("select count(*) from k where (a, b) not in (select 2, null::int from o)"), "4");
    assert_eq!(s.query("select count(*) from k where (a, b) not in (select 2, 2 where false)"), "6");
    assert_eq!(s.query("select count(*) from k where a not in (select null::int from o)"), "0");
}

#[test]
fn an_index_scan_runs_again_with_other_keys() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table k (a int, b int, c text); create index on k (a, b)").unwrap();
    s.run("insert into k select g / 3, g % 3, 'c' || g from generate_series(0, 2999) g").unwrap();
    s.run("set enable_seqscan = off; set enable_bitmapscan = off").unwrap();
    let outer = "from (values (5, 1), (null, 1), (7, null), (2000, 0), (6, 2), (6, 2)) v(a, b)";
    for (inner, expected) in [
        // All columns, the leading one only, and the index alone.
        ("select c from k where k.a = v.a and k.b = v.b", "c16||||c20|c20"),
        (
            "select string_agg(c, ',') from k where k.a = v.a",
            "c15,c16,c17||c21,c22,c23||c18,c19,c20|c18,c19,c20",
        ),
        ("select max(b) from k where k.a = v.a", "2||2||2|2"),
        ("select c from k where k.a = v.a order by k.b desc limit 1", "c17||c23||c20|c20"),
        // No points.
        ("select count(*) from k where k.a = v.a and k.b < v.b", "1|0|0|0|2|2"),
        ("select count(*) from k where k.a in (v.a, v.a + 1, 4) and k.b = v.b", "3|1|0|1|3|3"),
    ] {
        let rows = s.query(&format!("select ({inner}) {outer}"));
        assert_eq!(rows.replace('\n', "|"), expected, "{inner}");
    }
    // The end stays the end, also where nothing can be found.
    s.run("prepare p (int) as select c from k where a = $1 and b = 0").unwrap();
    for (key, found) in [("5", "c15"), ("null", ""), ("6", "c18")] {
        assert_eq!(s.query(&format!("execute p ({key})")), found);
        s.run(&format!("begin; declare n cursor for select c from k where a = {key}::int and b = 0"))
            .unwrap();
        assert_eq!(s.query("fetch 1 from n"), found);
        assert_eq!(s.query("fetch 1 from n"), "");
        assert_eq!(s.query("fetch 1 from n"), "");
        s.run("commit").unwrap();
    }
}

#[test]
fn frames_begin_and_end_where_queries_say() {
    let server = Server::new();
    let s = server.connect();
    let sums = |frame: &str| {
        s.query(&format!(
            "with w as (select 1 as n) select string_agg(s::text, ' ') from
                (select sum(x) over (order by x rows {frame}) s from generate_series(1, 5) x) q"
        ))
    };
    assert_eq!(sums("(select 1) + 1 preceding"), "1 3 6 9 12");
    assert_eq!(sums("(select n from w) preceding"), "1 3 5 7 9");
    let following = "(select max(y) from generate_series(1, 2) y) following";
    assert_eq!(sums(&format!("between 1 preceding and {following}")), "6 10 14 12 9");
    // An offset of the query outside, and one that is a parameter in part.
    assert_eq!(
        s.query(
            "select a, (select string_agg(s::text, ' ') from
                (select sum(y) over (order by y rows a preceding) s from generate_series(1, 4) y) q) from generate_series(0, 2) a"
        ),
        "0|1 2 3 4\n1|1 3 5 7\n2|1 3 6 9"
    );
    s.run("prepare p(int) as select sum(x) over (order by x rows $1 + (select 1) preceding) from generate_series(1, 3) x").unwrap();
    assert_eq!(s.query("execute p(0)"), "1\n3\n5");
    assert_eq!(s.query("execute p(1)"), "1\n3\n6");
    let refused = s
        .run("select sum(x) over (order by x rows (select -1) preceding) from generate_series(1, 3) x")
        .err();
    assert_eq!(refused.unwrap().message(), "frame starting offset must not be negative");
    assert_eq!(
        s.query("explain (costs off) select sum(x) over (order by x rows (select 1) preceding) from generate_series(1, 3) x"),
        "WindowAgg\n  Window: w1 AS (ORDER BY x ROWS (InitPlan 1).col1 PRECEDING)\n  InitPlan 1\n    ->  Result\n  \
         ->  Sort\n        Sort Key: x\n        ->  Function Scan on generate_series x"
    );
}

#[test]
fn windows_that_folding_leaves_without_calls_are_gone() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table w(a int, b text); insert into w values (1, 'x'), (2, 'y')").unwrap();
    assert_eq!(
        s.query("select case when false then sum(a) over (partition by b order by a) else 7 end, a from w"),
        "7|1\n7|2"
    );
    assert_eq!(s.query("select a, lag(a) over (order by a)||null::text, b from w"), "1||x\n2||y");
    // One window of two is left without a call.
    assert_eq!(
        s.query(
            "select b, sum(a) over (order by b desc), coalesce(3, max(a) over (partition by b)) from w order by b"
        ),
        "x|3|3\ny|2|3"
    );
    assert_eq!(
        s.query(
            "select count(*), case when true then 1 else rank() over (order by b) end from w group by b order by b"
        ),
        "1|1\n1|1"
    );
}

#[test]
fn grouping_sets_null_columns_that_folding_makes_constant_or_alike() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table w(a int, b int); insert into w values (1,1),(2,1),(3,2),(null,2)").unwrap();
    assert_eq!(
        s.query("select case when true then 7 else a end x, count(*) from w group by rollup(1) order by 1"),
        "7|4\n|4"
    );
    // The second column is what the first is folded to, but is nulled by other sets.
    assert_eq!(
        s.query("select coalesce(b, null) x, b y, count(*) from w group by cube(1, 2) order by 1, 2, 3"),
        "1|1|2\n1||2\n2|2|2\n2||2\n|1|2\n|2|2\n||4"
    );
    assert_eq!(
        s.query(
            "select coalesce(b, null) + 1 x, b + 1 y, count(*) from w group by cube(coalesce(b, null), b) order by 1, 2, 3"
        ),
        "2|2|2\n2||2\n3|3|2\n3||2\n|2|2\n|3|2\n||4"
    );
}

#[test]
fn calls_that_differ_in_more_than_their_arguments_are_not_one() {
    let server = Server::new();
    let s = server.connect();
    let lists = "(values (array['a', 'b'])) v(k)";
    let calls = "concat(k), concat(variadic k)";
    assert_eq!(s.query(&format!("select {calls} from {lists} group by {calls}")), "{a,b}|ab");
    assert_eq!(s.query(&format!("select distinct {calls} from {lists}")), "{a,b}|ab");
    // Each call of a volatile function is its own, unless one place names another.
    assert_eq!(s.query("select sum(random()) = sum(random()) from generate_series(1, 9)"), "f");
    assert_eq!(s.query("select x = y from (select distinct random() x, random() y) s"), "f");
    assert_eq!(s.query("select x = y from (select random() x, random() y, sum(1) over () offset 0) s"), "f");
    assert_eq!(
        s.query(
            "select array_agg(r order by r) = array_agg(r) from (select random() r from generate_series(1, 9) order by r) s"
        ),
        "t"
    );
    s.run("create sequence q; create table t(a bigint default nextval('q'), b bigint default nextval('q'))")
        .unwrap();
    assert_eq!(s.query("insert into t default values returning a <> b"), "t");
    assert_eq!(s.query("insert into t select from generate_series(1, 2) returning a <> b"), "t\nt");
}

#[test]
fn ranges_that_decide_alone_contain_null_too_or_not() {
    let server = Server::new();
    let s = server.connect();
    let null = "(select null::int i offset 0) n";
    let row =
        format!("select 'empty'::int4range @> i, i <@ 'empty'::int4range, i <@ '(,)'::int4range from {null}");
    assert_eq!(s.query(&row), "f|f|t");
    assert_eq!(
        s.query(&format!("select int4range(1, 3) @> i, 'empty'::int4range @> null::int from {null}")),
        "|"
    );
}

#[test]
fn lateral_relations_are_never_joined_so_that_two_wait_for_each_other() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table a(x int, y int); create table b(x int, y int); create table c(x int)").unwrap();
    s.run("insert into a values (1, 2); insert into b values (2, 1); insert into c values (1)").unwrap();
    s.run("analyze a; analyze b; analyze c").unwrap();
    s.run("set geqo_threshold = 2").unwrap();
    // The third is joined with the first more cheaply than the second is, and then the second stands between the two.
    let chain = "a, lateral (select a.x, a.y limit 1) l, lateral (select l.x, a.x as z limit 1) m
                 where m.z = a.x and m.x = a.x";
    let pair = "b, lateral (select b.x, b.y limit 1) l full join c on l.x = c.x, lateral (select b.x, l.x as z limit 1) m
                where c.x = m.z";
    assert_eq!(s.query(&format!("select l.y, m.z from {chain}")), "2|1");
    assert_eq!(s.query(&format!("select l.y, m.z from {pair}")), "");
    assert_eq!(
        s.query(&format!(
            "select c.x, s.y, t.z from c left join (select m.x, l.y from {chain}) s on s.x = c.x
             left join (select m.z from {pair}) t on t.z = c.x where exists (select from {chain} and a.x = c.x)"
        )),
        "1|2|"
    );
}

#[test]
fn outer_joins_that_allow_no_greedy_order_are_joined_as_written() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table j(a int, b int)").unwrap();
    assert_eq!(
        s.query(
            "select 1 from (((((j t0 join j t1 on t0.a = t1.a) join j t2 on t0.a = t2.a) left join j t3 on t0.a = t3.a)
             left join (j t4 left join (j t5 full join (j t6 join j t7 on t6.a = t7.a) on t5.a = t6.a) on t4.a = t5.a)
             on t3.a = t7.a) join ((j t8 join j t9 on t8.a = t9.a) right join j t10 on t8.a = t10.a) on t0.a = t8.a),
             lateral (select t4.a, t9.a limit 1) s"
        ),
        ""
    );
}

#[test]
fn recursive_queries_search_and_find_cycles() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table graph (f int, t int)").unwrap();
    s.run("insert into graph values (1, 2), (2, 3), (3, 1), (1, 4)").unwrap();
    let query = |clauses: &str, rest: &str| {
        format!(
            "with recursive w(f, t) as (select * from graph where f = 1 union all \
             select g.* from graph g, w where g.f = w.t) {clauses} select {rest}"
        )
    };
    let cycle = "cycle f, t set again using path";
    assert_eq!(
        s.query(&query(cycle, "f, t, again, cardinality(path) from w order by path")),
        "1|2|f|1\n2|3|f|2\n3|1|f|3\n1|2|t|4\n1|4|f|4\n1|4|f|1"
    );
    assert_eq!(
        s.query(&query(
            &format!("search depth first by f, t set seq {cycle}"),
            "seq from w where not again order by seq"
        )),
        "{\"(1,2)\"}\n{\"(1,2)\",\"(2,3)\"}\n{\"(1,2)\",\"(2,3)\",\"(3,1)\"}\n{\"(1,2)\",\"(2,3)\",\"(3,1)\",\"(1,4)\"}\n{\"(1,4)\"}"
    );
    assert_eq!(
        s.query(&query(
            "search breadth first by t set seq cycle t set mark to 'y' default 'n' using p",
            "t, seq, mark from w order by seq"
        )),
        "2|(0,2)|n\n4|(0,4)|n\n3|(1,3)|n\n1|(2,1)|n\n2|(3,2)|y\n4|(3,4)|n"
    );
    // What the clauses add can be named inside, but is not meant by the star.
    assert_eq!(
        s.query("with recursive a as (select 1 as b union select * from a where not c) cycle b set c using p select * from a"),
        "1|f|{(1)}\n1|t|{(1),(1)}"
    );
    s.run(&format!("create view v as {}", query(cycle, "f, t, again from w"))).unwrap();
    let shown = s.query("select pg_get_viewdef('v'::regclass)");
    assert!(shown.starts_with(" WITH RECURSIVE w(f, t) AS ("), "{shown}");
    assert!(shown.contains(") CYCLE f, t SET again USING path\n SELECT f,\n    t,\n    again\n"), "{shown}");
    assert_eq!(s.query("select count(*) from v"), "6");
    for (clauses, message) in [
        ("search depth first by x set seq", "search column \"x\" not in WITH query column list"),
        ("search depth first by f, f set seq", "search column \"f\" specified more than once"),
        (
            "search depth first by t set f",
            "search sequence column name \"f\" already used in WITH query column list",
        ),
        ("cycle f set c to true default 1 using p", "CYCLE types boolean and integer cannot be matched"),
        (
            "cycle f set c to point '(0,0)' default point '(1,1)' using p",
            "could not identify an equality operator for type point",
        ),
        ("cycle f set c using c", "cycle mark column name and cycle path column name are the same"),
        (
            "search depth first by f set c cycle f set c using p",
            "search sequence column name and cycle mark column name are the same",
        ),
    ] {
        assert_eq!(s.query(&query(clauses, "* from w")), format!("ERROR:  {message}"), "{clauses}");
    }
    assert_eq!(
        s.query("with recursive a as (select 1 as b) search depth first by b set s select * from a"),
        "ERROR:  WITH query is not recursive"
    );
}

#[test]
fn sets_in_a_list_of_columns_are_sorted() {
    let server = Server::new();
    let s = server.connect();
    assert_eq!(s.query("select generate_series(1, 3) g order by g desc"), "3\n2\n1");
    assert_eq!(s.query("select distinct generate_series(1, 3) % 2 g order by 1 desc"), "1\n0");
    assert_eq!(s.query("select generate_series(1, 3) g order by g desc limit 1"), "3");
}
