//! Grouping sets over columns that are computed alike, through whole sessions.

use crate::support::{Client, Server};

/// `two`: two rows with a constant and one column twice.
fn connected(server: &Server) -> Client {
    let s = server.connect();
    s.run("create view two as select 'a'::text as x, i, i as j, i + 1 as k from generate_series(1, 2) i")
        .unwrap();
    s
}

#[test]
fn constants_are_nulled_by_the_sets_that_leave_them_out() {
    let server = Server::new();
    let s = connected(&server);
    let direct = "select 'a'::text as x, 'a'::text as y, count(*) from generate_series(1, 2) group by";
    assert_eq!(s.query(&format!("{direct} cube (x) order by x")), "a|a|2\n|a|2");
    assert_eq!(s.query(&format!("{direct} grouping sets ((x), (y)) order by x")), "a||2\n|a|2");
    // Only the grouping column itself: the same value elsewhere is another.
    let sum = "select 1 + 1 as x, 1 + 1 as y, now() is null as n, grouping(1 + 1) from generate_series(1, 2) group by";
    assert_eq!(
        s.query(&format!("{sum} rollup (x), rollup (now()) order by 1, 3, 4")),
        ["2|2|f|0", "2|2|f|0", "|2|f|1", "|2|f|1"].join("\n")
    );
    let stable = "select current_database() as x, current_database() is null from generate_series(1, 2) group by cube (x)";
    assert_eq!(s.query(&format!("{stable} order by x")), "postgres|f\n|f");
    s.run("prepare p (int) as select $1 as x, $1 + 1, count(*) from generate_series(1, 2) group by cube (x) order by x")
        .unwrap();
    assert_eq!(s.query("execute p (5)"), "5|6|2\n|6|2");
    s.run("set plan_cache_mode = force_generic_plan").unwrap();
    assert_eq!(s.query("execute p (7)"), "7|8|2\n|8|2");
    let outer = "select (select string_agg(coalesce(k::text, '-') || l, ',') from
        (select v.n as k, v.n as l from generate_series(1, 2) group by grouping sets ((k), ()) order by k) q)
        from (values (1), (2)) v (n)";
    assert_eq!(s.query(outer), "11,-1\n22,-2");
}

#[test]
fn columns_of_merged_subqueries_stay_apart() {
    let server = Server::new();
    let s = connected(&server);
    let computed =
        "select x, x || 'b', x is null, 'a' as y, sum(i) filter (where x = 'a'), count(x) from two";
    assert_eq!(s.query(&format!("{computed} group by cube (x) order by x")), "a|ab|f|a|3|2\n||t|a|3|2");
    assert_eq!(s.query(&format!("{computed} group by cube (x) having x = 'a'")), "a|ab|f|a|3|2");
    assert_eq!(s.query(&format!("{computed} group by cube (x) having x is null")), "||t|a|3|2");
    let alike = "select i, j, count(*) from two group by grouping sets ((i), (j)) order by i, j";
    assert_eq!(s.query(alike), "1||1\n2||1\n|1|1\n|2|1");
    let other = "select i, i + 1, k from two group by grouping sets ((i, k), (i)) order by i, k";
    assert_eq!(s.query(other), "1|2|2\n1|2|\n2|3|3\n2|3|");
    let rows = "select r, (r).x from (select x, 5 as y from two) r group by grouping sets ((r, r.x), ())";
    assert_eq!(s.query(&format!("{rows} order by r")), "(a,5)|a\n|");
    let nested =
        "select u, v from (select x as u, x || x as v from two) s group by grouping sets ((u), (v), ())";
    assert_eq!(s.query(&format!("{nested} order by u, v")), "a|\n|aa\n|");
    let nullable = "select t.x, u.y from two t left join lateral (select t.x || 'r' as y from two where i > t.i) u on true";
    assert_eq!(
        s.query(&format!("{nullable} group by grouping sets ((t.x, u.y), ()) order by 1, 2")),
        "a|ar\na|\n|"
    );
    let both = "select x from (select x from two union all select 'b') s group by cube (x) order by x";
    assert_eq!(s.query(both), "a\nb\n");
}

#[test]
fn nodes_above_see_nulled_columns() {
    let server = Server::new();
    let s = connected(&server);
    let windows = "select x, lag(x) over (order by x), sum(count(*)) over (partition by x) from two";
    assert_eq!(s.query(&format!("{windows} group by cube (x) order by x")), "a||2\n|a|2");
    assert_eq!(
        s.query("select distinct x, k from (select x, 5 as k from two) s group by cube (x, k) order by x, k"),
        "a|5\na|\n|5\n|"
    );
    assert_eq!(s.query("select distinct on (x) x from two group by cube (x, i) order by x desc"), "\na");
    assert_eq!(
        s.query(
            "select x, (select x || 'q' from generate_series(1, 2) limit 1), exists (select where x is null)
        from two group by cube (x) order by x"
        ),
        "a|aq|f\n||t"
    );
    assert_eq!(
        s.query(
            "select x, (select count(*) from two t where t.x = two.x) from two group by cube (x) order by x"
        ),
        "a|2\n|0"
    );
    // Conditions below hold no longer: neither that a column has one value nor that two are equal.
    assert_eq!(
        s.query("select i, rank() over (order by i) from two where i = 1 group by cube (i) order by i"),
        "1|1\n|2"
    );
    assert_eq!(s.query("select i, k from two where i = k - 1 and x = 'a' group by grouping sets ((i), (k)) order by i desc, k"),
        "|2\n|3\n2|\n1|");
    assert_eq!(
        s.query(
            "select a.i, b.i from two a join two b on a.i = b.i group by cube (a.i, b.i)
        order by a.i, b.i desc"
        ),
        "1|\n1|1\n2|\n2|2\n|\n|2\n|1"
    );
}

#[test]
fn conditions_below_still_see_what_computes_a_column() {
    let server = Server::new();
    let s = connected(&server);
    s.run("create table t (a int primary key, b int)").unwrap();
    s.run("insert into t select i, i % 3 from generate_series(1, 1000) i").unwrap();
    let plan = s.query(
        "explain (costs off) select y, x || 'b' from (select a as y, 'x'::text as x from t) s
        where y = 7 group by cube (y, x)",
    );
    assert!(plan.contains("Index Cond: (a = 7)") || plan.contains("Index Cond: (t.a = 7)"), "{plan}");
    let plan = s.query("explain (verbose, costs off) select x, x || 'b' from (select 'x'::text as x from t) s group by cube (x)");
    assert!(plan.contains("Output: ('x'::text), (('x'::text) || 'b'::text)"), "{plan}");
    let (hashed, all) = (plan.find("Hash Key: 'x'::text"), plan.find("Group Key: ()"));
    assert!(hashed.is_some() && hashed < all, "{plan}");
    let plan = s.query("explain (costs off) select a, b from t group by grouping sets ((a), (b))");
    assert!(plan.starts_with("HashAggregate"), "{plan}");
    assert_eq!(
        s.query(
            "select y from (select b as y, a from t) s
        where exists (select from t where t.a = s.y and t.b = s.a % 3) group by cube (y) order by y"
        ),
        "1\n2\n"
    );
}

#[test]
fn what_depends_on_the_keys_of_all_sets_stays() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (a int primary key, b int, c int, d int); insert into t values (1, 1, 1, 5), (2, 2, 2, 6)").unwrap();
    assert_eq!(
        s.query("select a, d, b, grouping(b) from t group by grouping sets ((a, b), (a, c)) order by 1, 4"),
        "1|5|1|0\n1|5||1\n2|6|2|0\n2|6||1"
    );
}
