//! Every kind of join by every method gives the same rows.

use super::{Db, counted};

fn filled() -> Db {
    let db = Db::new();
    db.table("a", &[("x", "int4"), ("p", "text")]);
    db.table("b", &[("y", "int4"), ("q", "text")]);
    db.rows("INSERT INTO a VALUES (1,'one'),(2,'two'),(2,'zwei'),(3,'three'),(NULL,'none')");
    db.rows("INSERT INTO b VALUES (2,'II'),(2,'deux'),(3,'III'),(4,'IV'),(NULL,'nil')");
    db
}

const JOINS: [&str; 7] = [
    "SELECT p, q FROM a JOIN b ON x = y",
    "SELECT p, q FROM a LEFT JOIN b ON x = y",
    "SELECT p, q FROM a RIGHT JOIN b ON x = y",
    "SELECT p, q FROM a FULL JOIN b ON x = y",
    "SELECT p FROM a WHERE EXISTS (SELECT 1 FROM b WHERE x = y)",
    "SELECT p FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE x = y)",
    "SELECT p, q FROM a LEFT JOIN b ON x = y AND q > 'II' WHERE p <> 'one'",
];

/// Rows of each of [`JOINS`], counted by hand.
const COUNTS: [usize; 7] = [5, 7, 7, 9, 3, 2, 4];

#[test]
fn methods_agree() {
    let mut db = filled();
    for (sql, count) in JOINS.iter().zip(COUNTS) {
        let mut expected = None;
        for (hash, merge, nest) in [(true, false, false), (false, true, false), (false, false, true)] {
            db.settings.enable_hashjoin = hash;
            db.settings.enable_mergejoin = merge;
            db.settings.enable_nestloop = nest;
            let rows = counted(db.run(sql).unwrap_or_else(|e| panic!("{sql}: {e}")));
            assert_eq!(
                rows.values().sum::<usize>(),
                count,
                "{sql} {hash} {merge} {nest}\n{}",
                db.explain(sql)
            );
            match &expected {
                None => expected = Some(rows),
                Some(first) => assert_eq!(*first, rows, "{sql}"),
            }
        }
    }
}

#[test]
fn three_tables_and_lateral() {
    let db = filled();
    assert_eq!(
        db.rows("SELECT a.p, b.q, c.p FROM a JOIN b ON a.x = b.y JOIN a c ON c.x = b.y WHERE a.x = 3"),
        "three|III|three"
    );
    assert_eq!(
        db.sorted(
            "SELECT x, n FROM a, LATERAL (SELECT count(*) AS n FROM b WHERE y = x) s WHERE x IS NOT NULL"
        ),
        "1|0 2|2 2|2 3|1"
    );
}

/// The plan must use the node, then the answer counts.
fn by_method(db: &mut Db, node: &str, sql: &str) -> String {
    db.settings.enable_hashjoin = node.starts_with("Hash");
    db.settings.enable_mergejoin = node.starts_with("Merge");
    db.settings.enable_nestloop = node.starts_with("Nested");
    let plan = db.explain(sql);
    assert!(plan.contains(node), "{plan}");
    db.sorted(sql)
}

#[test]
fn a_null_in_a_later_merge_key_hides_nothing() {
    let mut db = Db::new();
    db.table("m", &[("a", "int4"), ("b", "int4")]);
    db.rows("INSERT INTO m VALUES (1,NULL),(1,NULL),(2,5),(3,NULL),(4,6),(NULL,7)");
    let on = "JOIN m n ON m.a = n.a AND m.b = n.b";
    for (kind, expected) in
        [("", "2 4"), ("LEFT", "1 1 2 3 4 null"), ("FULL", "1 1 2 3 4 null null null null null")]
    {
        let sql = format!("SELECT m.a FROM m {kind} {on}");
        assert_eq!(by_method(&mut db, "Merge", &sql), expected, "{kind}");
    }
}

#[test]
fn a_hash_table_serves_every_rescan() {
    let mut db = filled();
    let sql = "SELECT x, (SELECT count(*) + 0 * o.x FROM a JOIN b ON a.x = b.y) FROM a o WHERE x < 3";
    assert_eq!(by_method(&mut db, "Hash Join", sql), "1|5 2|5 2|5");
}

#[test]
fn full_joins_on_constants() {
    let db = filled();
    let from = |on: &str| {
        format!("SELECT p, w FROM a FULL JOIN (VALUES ('w1'), ('w2')) v(w) ON {on} WHERE x IS NULL")
    };
    assert_eq!(db.sorted(&from("true")), "none|w1 none|w2");
    assert_eq!(db.sorted(&from("false")), "none|null null|w1 null|w2");
}

#[test]
fn an_in_subquery_whose_from_looks_outside() {
    let db = filled();
    assert_eq!(
        db.sorted(
            "SELECT p FROM a WHERE x IN (SELECT y FROM b LEFT JOIN (SELECT a.p AS p) s ON true WHERE s.p > 'two')"
        ),
        "zwei"
    );
}

#[test]
fn a_condition_in_every_arm_of_an_or_joins() {
    let mut db = filled();
    let sql = "SELECT p, q FROM a, b WHERE (x = y AND p = 'two' AND q = 'II') OR (x = y AND p = 'three')";
    assert_eq!(by_method(&mut db, "Hash Join", sql), "three|III two|II");
    let sql = "SELECT p, q FROM a, b WHERE (x = y AND p = 'two') OR x = y";
    assert_eq!(by_method(&mut db, "Hash Join", sql), "three|III two|II two|deux zwei|II zwei|deux");
}

#[test]
fn outer_joins_around_what_nothing_connects() {
    let db = filled();
    // The right side of the semijoin, and of the outer join, is joined first although no condition does so.
    let sql = "SELECT p FROM a LEFT JOIN b ON x = y WHERE EXISTS (SELECT 1 FROM a c CROSS JOIN b d WHERE b.y = c.x)";
    assert_eq!(db.sorted(sql), "three two two zwei zwei");
    let sql = "SELECT count(*) FROM a LEFT JOIN (b CROSS JOIN a c) ON a.x = b.y LEFT JOIN b d ON c.x = d.y";
    assert_eq!(db.rows(sql), "37");
}

#[test]
fn conditions_on_outer_queries_stay_below_full_joins() {
    let db = filled();
    let sql = "SELECT p, (SELECT count(*) FROM a c JOIN b d ON c.x = d.y AND a.x > 2 FULL JOIN b e ON d.y = e.y) FROM a";
    assert_eq!(db.sorted(sql), "none|5 one|5 three|11 two|5 zwei|5");
}

#[test]
fn lateral_items_inside_other_joins() {
    for (from, expected) in [
        // A column of the left side that a lateral subquery gives is NULL where the subquery gives no row.
        ("a LEFT JOIN LATERAL (SELECT a.p AS l FROM b WHERE y = x) s ON true", "7|5|"),
        ("a LEFT JOIN LATERAL (SELECT a.p AS l FROM b WHERE y > 9) s ON true", "5|0|"),
        ("a LEFT JOIN (b JOIN LATERAL (VALUES (a.x + b.y)) s (l) ON true) ON x = y", "7|5|22"),
        (
            "a JOIN LATERAL (SELECT 1 AS l FROM b c JOIN (VALUES (a.x)) v (k) ON c.y = v.k FULL JOIN b d ON c.y = d.y) s ON true",
            "29|29|29",
        ),
        ("a LEFT JOIN (b LEFT JOIN LATERAL (SELECT a.x + b.y AS l LIMIT 1) s ON l > 4) ON x = y", "7|1|6"),
        // Both subqueries are merged, and the one names the other's columns.
        (
            "(SELECT x AS f FROM a WHERE p > 'n') c JOIN LATERAL (SELECT f + 1 AS l FROM b) s ON f < l",
            "20|20|60",
        ),
    ] {
        let sum = if expected.ends_with('|') { "NULL" } else { "sum(l)" };
        let sql = format!("SELECT count(*), count(l), {sum} FROM {from}");
        let expected = expected.strip_suffix('|').map_or(expected.to_string(), |e| format!("{e}|null"));
        for nested_loops in [true, false] {
            let mut db = filled();
            db.settings.enable_nestloop = nested_loops;
            assert_eq!(db.rows(&sql), expected, "{sql}");
        }
    }
}

#[test]
fn an_or_over_two_tables_restricts_each() {
    let mut db = filled();
    let sql =
        "SELECT p, q FROM a, b WHERE x = y AND ((p = 'two' AND q = 'II') OR (p = 'three' AND q <> 'II'))";
    assert_eq!(by_method(&mut db, "Hash Join", sql), "three|III two|II");
    let plan = db.explain(sql);
    assert!(plan.contains("Filter: ((p = 'two'::text) OR (p = 'three'::text))"), "{plan}");
    assert!(plan.contains("Filter: ((q = 'II'::text) OR (q <> 'II'::text))"), "{plan}");
    // A row without a partner has NULLs that the other side's own rows do not have.
    let sql =
        "SELECT p, q FROM a LEFT JOIN b ON x = y WHERE (p = 'two' AND q = 'II') OR (p = 'one' AND q IS NULL)";
    assert_eq!(by_method(&mut db, "Hash", sql), "one|null two|II");
}
