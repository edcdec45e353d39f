//! Expressions, aggregates, windows, subqueries, set operations.

use super::Db;

#[test]
fn expressions_without_tables() {
    let db = Db::new();
    assert_eq!(db.rows("SELECT 1 + 2 * 3, 'a' || 'b', NULL IS NULL"), "7|ab|t");
    assert_eq!(db.rows("SELECT CASE WHEN 1 > 2 THEN 'x' ELSE 'y' END, coalesce(NULL, 5)"), "y|5");
    assert_eq!(db.rows("SELECT 3 = ANY (ARRAY[1,2,3]), 4 IN (1,2), greatest(1, 7, 3)"), "t|f|7");
    let error = db.run("SELECT 2147483647 + 1").unwrap_err();
    assert_eq!(error.message(), "integer out of range");
    assert_eq!(db.run("SELECT 1 / 0").unwrap_err().message(), "division by zero");
}

#[test]
fn values_sorted_limited_distinct() {
    let db = Db::new();
    let v = "(VALUES (3,'c'),(1,'a'),(2,'b'),(1,'z')) v(n,t)";
    assert_eq!(db.rows(&format!("SELECT n, t FROM {v} ORDER BY n, t DESC")), "1|z 1|a 2|b 3|c");
    assert_eq!(db.rows(&format!("SELECT n FROM {v} ORDER BY n DESC LIMIT 2 OFFSET 1")), "2 1");
    assert_eq!(db.rows(&format!("SELECT DISTINCT n FROM {v} ORDER BY n")), "1 2 3");
    assert_eq!(db.rows(&format!("SELECT DISTINCT ON (n) n, t FROM {v} ORDER BY n, t DESC")), "1|z 2|b 3|c");
}

#[test]
fn aggregates() {
    let db = Db::new();
    let v = "(VALUES (1,10),(1,20),(2,30),(2,NULL),(3,NULL)) v(g,x)";
    assert_eq!(
        db.rows(&format!("SELECT count(*), count(x), sum(x), min(x), max(x) FROM {v}")),
        "5|3|60|10|30"
    );
    assert_eq!(
        db.rows(&format!("SELECT g, sum(x), count(*) FROM {v} GROUP BY g HAVING count(*) > 1 ORDER BY g")),
        "1|30|2 2|30|2"
    );
    assert_eq!(db.rows(&format!("SELECT count(DISTINCT g) FROM {v}")), "3");
    assert_eq!(db.rows(&format!("SELECT count(*) FROM {v} WHERE g > 100")), "0");
    assert_eq!(db.sorted(&format!("SELECT g, count(*) FROM {v} GROUP BY ROLLUP (g)")), "1|2 2|2 3|1 null|5");
}

#[test]
fn windows() {
    let db = Db::new();
    let v = "(VALUES (1,10),(1,20),(2,30),(2,30)) v(g,x)";
    assert_eq!(
        db.rows(&format!("SELECT g, x, sum(x) OVER (PARTITION BY g ORDER BY x) FROM {v} ORDER BY 1,2,3")),
        "1|10|10 1|20|30 2|30|60 2|30|60"
    );
    assert_eq!(
        db.rows(&format!(
            "SELECT x, count(*) OVER (ORDER BY x ROWS BETWEEN 1 PRECEDING AND CURRENT ROW), count(*) OVER () FROM {v} ORDER BY 1, 2"
        )),
        "10|1|4 20|2|4 30|2|4 30|2|4"
    );
}

#[test]
fn range_frames_with_an_offset() {
    let db = Db::new();
    let v = "(VALUES (1),(2),(4),(7),(7),(NULL)) v(x)";
    let over = |frame: &str| db.rows(&format!("SELECT x, count(*) OVER (ORDER BY x {frame}) FROM {v}"));
    assert_eq!(over("RANGE BETWEEN 2 PRECEDING AND 1 FOLLOWING"), "1|2 2|2 4|2 7|2 7|2 null|1");
    assert_eq!(over("DESC RANGE BETWEEN 3 PRECEDING AND CURRENT ROW"), "null|1 7|2 7|2 4|3 2|2 1|3");
    assert_eq!(
        db.rows(
            "SELECT d, sum(1) OVER (ORDER BY d RANGE BETWEEN '1 month' PRECEDING AND '1 day' PRECEDING) \
             FROM (VALUES (date '2020-01-31'),(date '2020-02-01'),(date '2020-02-29')) v(d)"
        ),
        "2020-01-31|null 2020-02-01|1 2020-02-29|2"
    );
    let error =
        db.run("SELECT sum(1) OVER (ORDER BY x RANGE -1 PRECEDING) FROM (VALUES (1)) v(x)").unwrap_err();
    assert_eq!(error.message(), "invalid preceding or following size in window function");
}

#[test]
fn equal_grouping_columns_are_kept_apart() {
    let db = Db::new();
    let from = "FROM generate_series(1, 2) g GROUP BY a, ROLLUP (b)";
    assert_eq!(db.sorted(&format!("SELECT g AS a, g AS b {from}")), "1|1 1|null 2|2 2|null");
}

#[test]
fn grouping_tells_which_keys_a_set_leaves_out() {
    let db = Db::new();
    let from = "FROM (VALUES (1, 2)) v(a, b)";
    assert_eq!(db.rows(&format!("SELECT grouping(b, a) {from} GROUP BY a, b")), "0");
    assert_eq!(
        db.sorted(&format!("SELECT a, b, grouping(a), grouping(b, a) {from} GROUP BY ROLLUP (a, b)")),
        "1|2|0|0 1|null|0|2 null|null|1|3"
    );
    assert_eq!(db.rows(&format!("SELECT 1 {from} GROUP BY CUBE (a) HAVING grouping(a) = 1")), "1");
}

#[test]
fn aggregates_over_sorted_rows() {
    let db = Db::new();
    let over = |call: &str| {
        db.rows(&format!("SELECT {call} FROM (VALUES (1,'a'),(2,'b'),(2,NULL),(7,'b'),(NULL,'c')) v(n, t)"))
    };
    assert_eq!(over("percentile_cont(0.5) WITHIN GROUP (ORDER BY n)"), "2");
    assert_eq!(over("percentile_cont(0.75) WITHIN GROUP (ORDER BY n DESC)"), "1.75");
    assert_eq!(
        over("percentile_disc(ARRAY[[0, 0.25], [NULL, 1]]) WITHIN GROUP (ORDER BY n)"),
        "{{1,1},{NULL,7}}"
    );
    assert_eq!(
        over("percentile_cont(0.4) WITHIN GROUP (ORDER BY n * interval '1 day')"),
        over("max(interval '2 days')")
    );
    assert_eq!(over("mode() WITHIN GROUP (ORDER BY t)"), "b");
    assert_eq!(over("mode() WITHIN GROUP (ORDER BY t) FILTER (WHERE n > 9)"), "null");
    let ranks = ["rank", "dense_rank", "percent_rank", "cume_dist"];
    let ranked = ranks.map(|f| over(&format!("{f}(3) WITHIN GROUP (ORDER BY n)"))).join(" ");
    assert_eq!(ranked, "4 3 0.6 0.6666666666666666");
    assert_eq!(over("rank(2, 'b') WITHIN GROUP (ORDER BY n, t DESC)"), "3");
    let message = |call: &str| db.run(&format!("SELECT {call}")).unwrap_err().message().to_string();
    assert_eq!(
        message("percentile_cont(1.5) WITHIN GROUP (ORDER BY 1)"),
        "percentile value 1.5 is not between 0 and 1"
    );
    assert_eq!(
        message("rank(1) WITHIN GROUP (ORDER BY 1, 2)"),
        "function rank(integer, integer, integer) does not exist"
    );
    assert_eq!(
        message("rank('x'::text) WITHIN GROUP (ORDER BY 1)"),
        "WITHIN GROUP types integer and text cannot be matched"
    );
}

#[test]
fn a_with_query_merged_more_than_once() {
    let db = Db::new();
    assert_eq!(
        db.rows(
            "WITH w AS (SELECT 7 AS x), v AS NOT MATERIALIZED (SELECT x + 1 AS x FROM w) \
             SELECT a.x, b.x, (SELECT sum(x) FROM v) FROM v a, v b WHERE a.x = b.x"
        ),
        "8|8|8"
    );
}

#[test]
fn what_reads_a_work_table_is_read_again_at_each_step() {
    let db = Db::new();
    assert_eq!(
        db.rows(
            "WITH RECURSIVE steps(n) AS (SELECT 1 UNION ALL ( \
               WITH next AS (SELECT n + 1 AS n, max(n) OVER () AS top FROM steps WHERE n < 4), \
                    kept AS (SELECT n FROM next WHERE top < 10) \
               SELECT a.n FROM kept a, kept b)) SELECT n FROM steps"
        ),
        "1 2 3 4"
    );
}

#[test]
fn subqueries() {
    let db = Db::new();
    let (a, b) = ("(VALUES (1),(2),(3)) a(x)", "(VALUES (2),(3),(4)) b(y)");
    assert_eq!(db.rows(&format!("SELECT (SELECT max(y) FROM {b})")), "4");
    assert_eq!(db.sorted(&format!("SELECT x FROM {a} WHERE x IN (SELECT y FROM {b})")), "2 3");
    assert_eq!(db.sorted(&format!("SELECT x FROM {a} WHERE x NOT IN (SELECT y FROM {b})")), "1");
    assert_eq!(
        db.sorted(&format!("SELECT x FROM {a} WHERE EXISTS (SELECT 1 FROM {b} WHERE y = x + 1)")),
        "1 2 3"
    );
    assert_eq!(
        db.sorted(&format!("SELECT x FROM {a} WHERE NOT EXISTS (SELECT 1 FROM {b} WHERE y = x)")),
        "1"
    );
    assert_eq!(
        db.sorted(&format!("SELECT x, (SELECT count(*) FROM {b} WHERE y > x) FROM {a}")),
        "1|3 2|2 3|1"
    );
    assert_eq!(
        db.run(&format!("SELECT (SELECT y FROM {b})")).unwrap_err().message(),
        "more than one row returned by a subquery used as an expression"
    );
}

#[test]
fn set_operations_and_recursion() {
    let db = Db::new();
    assert_eq!(db.rows("SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 1"), "1 2 1");
    assert_eq!(db.sorted("SELECT 1 UNION SELECT 2 UNION SELECT 1"), "1 2");
    assert_eq!(db.sorted("VALUES (1),(2),(2) INTERSECT ALL VALUES (2),(2),(3)"), "2 2");
    assert_eq!(db.sorted("VALUES (1),(2),(2) EXCEPT VALUES (1)"), "2");
    assert_eq!(
        db.rows("WITH RECURSIVE t(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM t WHERE n < 5) SELECT sum(n) FROM t"),
        "15"
    );
    // Equal is what the type says, not what has the same bytes.
    assert_eq!(
        db.rows("WITH RECURSIVE t(n) AS (SELECT 1.0 UNION SELECT n + 0.00 FROM t) SELECT n FROM t"),
        "1.0"
    );
    // A type without hashing would be compared with every row before.
    let bits = "WITH RECURSIVE t(n) AS (VALUES ('01'::varbit) UNION SELECT n || '10'::varbit FROM t) SELECT n FROM t";
    assert_eq!(db.run(bits).unwrap_err().message(), "could not implement recursive UNION");
    assert_eq!(db.rows("WITH x AS MATERIALIZED (SELECT 7 AS n) SELECT a.n + b.n FROM x a, x b"), "14");
}

#[test]
fn arrays_of_arrays() {
    let db = Db::new();
    assert_eq!(db.rows("SELECT ARRAY[[1,2],[3,4]], ARRAY[NULL::int[], '{}']"), "{{1,2},{3,4}}|{}");
    assert_eq!(db.rows("SELECT ARRAY(SELECT ARRAY[i, -i] FROM generate_series(1, 2) i)"), "{{1,-1},{2,-2}}");
    assert_eq!(db.rows("SELECT '[2:3]={1,2}'::int[]::text[]"), "[2:3]={1,2}");
    assert_eq!(
        db.run("SELECT ARRAY[ARRAY[1,2], '{}'::int[]]").unwrap_err().message(),
        "multidimensional arrays must have array expressions with matching dimensions"
    );
    assert_eq!(
        db.run("SELECT ARRAY(SELECT NULL::int[])").unwrap_err().message(),
        "cannot accumulate null arrays"
    );
}

#[test]
fn constant_lists() {
    let db = Db::new();
    let t = "(VALUES (1.0), (2.50), (NULL)) t(x)";
    let each = |condition: &str| db.rows(&format!("SELECT {condition} FROM {t}"));
    assert_eq!(each("x IN (2.5, 7)"), "f t null");
    assert_eq!(each("x IN (1, NULL)"), "t null null");
    assert_eq!(each("x NOT IN (1, 7)"), "f t null");
    assert_eq!(each("x NOT IN (7, NULL)"), "null null null");
    assert_eq!(each("x IN (9, 8, 7, 6, 5, 4, 3, 2.5, 0, 11)"), "f t null");
    assert_eq!(db.rows("SELECT 'b '::bpchar IN ('a', 'b'), 'b ' IN ('a', 'b')"), "t|f");
}

#[test]
fn conditions_of_three_values() {
    let db = Db::new();
    let t = "(VALUES (1, 2.0), (2, NULL), (NULL, 1.0)) t(x, y)";
    let each = |condition: &str| db.rows(&format!("SELECT {condition} FROM {t}"));
    assert_eq!(each("x < y"), "t null null");
    assert_eq!(each("x = 1 AND y > 1.5"), "t f f");
    assert_eq!(each("x = 2 OR y > 0.5"), "t t t");
    assert_eq!(each("NOT (x = 1 AND y > 1.5)"), "f t t");
    assert_eq!(each("(x > 1) IS UNKNOWN"), "f f t");
    assert_eq!(each("x * y - 0.5 + y"), "3.5 null null");
    // What decides nothing does not keep the others from failing.
    assert!(db.run("SELECT NULL::bool AND 1 / (x - x) = 1 FROM (VALUES (1)) t(x)").is_err());
    let dates = "(VALUES (date '1994-01-01'), ('infinity'), (NULL)) t(d)";
    let sql = format!("SELECT d < timestamp '1994-01-01 00:00:01', timestamp '1994-01-01' >= d FROM {dates}");
    assert_eq!(db.rows(&sql), "t|t f|f null|null");
}

#[test]
fn sums_beyond_few_digits() {
    let db = Db::new();
    let t = "(VALUES (1.5), (123456789012345678901234567890.123456789012345678), (-0.0005), (2)) t(x)";
    assert_eq!(
        db.rows(&format!("SELECT sum(x) FROM {t}")),
        "123456789012345678901234567893.622956789012345678"
    );
    assert_eq!(
        db.rows("SELECT sum(x), avg(x) FROM (VALUES (0.00), (0.0)) t(x)"),
        "0.00|0.00000000000000000000"
    );
    assert_eq!(
        db.rows("SELECT sum(x) FROM (VALUES (9999999999.999999), (0.0000000000000001)) t(x)"),
        "9999999999.9999990000000001"
    );
}

#[test]
fn groups_keep_what_their_keys_determine() {
    let db = Db::new();
    let table = db.table("g", &[("id", "int4"), ("v", "int4")]);
    db.unique_index("g_pkey", table, &[1]);
    db.run("INSERT INTO g SELECT i, i % 3 FROM generate_series(1, 1000) i").unwrap();
    assert_eq!(
        db.rows("SELECT v, count(*), sum(id) FROM g GROUP BY v ORDER BY v"),
        "0|333|166833 1|334|167167 2|333|166500"
    );
    assert_eq!(db.rows("SELECT count(*) FROM (SELECT id, count(*) FROM g GROUP BY id) t"), "1000");
}
