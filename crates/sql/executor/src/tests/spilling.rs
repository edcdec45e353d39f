//! Sorts, hash joins and aggregations with little memory give the rows that they give with much.

use super::{Db, counted};

fn filled() -> Db {
    let db = Db::new();
    db.table("t", &[("k", "int4"), ("g", "int4"), ("pad", "text")]);
    for part in 0..10 {
        let values: Vec<String> = (0..500)
            .map(|i| {
                let n = part * 500 + i;
                format!("({},{},'padding of row {n}')", (n * 7919) % 5000, n % 700)
            })
            .collect();
        db.rows(&format!("INSERT INTO t VALUES {}", values.join(",")));
    }
    db
}

fn agree(db: &mut Db, sql: &str, ordered: bool) {
    db.work_mem = 64 << 20;
    let plenty = db.run(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
    db.work_mem = 16 << 10;
    let little = db.run(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
    assert!(!plenty.is_empty(), "{sql}");
    if ordered {
        assert_eq!(plenty, little, "{sql}");
    } else {
        assert_eq!(counted(plenty), counted(little), "{sql}");
    }
    let left = std::fs::read_dir(db._dir.0.join("base/pgsql_tmp")).map_or(0, |d| d.count());
    assert_eq!(left, 0, "temporary files stay behind");
}

#[test]
fn sorts() {
    agree(&mut filled(), "SELECT k, pad FROM t ORDER BY pad DESC, k", true);
}

#[test]
fn hash_joins() {
    let mut db = filled();
    db.settings.enable_mergejoin = false;
    db.settings.enable_nestloop = false;
    agree(&mut db, "SELECT a.k, b.pad FROM t a JOIN t b ON a.k = b.k", false);
    agree(&mut db, "SELECT a.k, b.pad FROM t a FULL JOIN t b ON a.k = b.k + 2500", false);
}

#[test]
fn aggregations() {
    let mut db = filled();
    agree(&mut db, "SELECT g, count(*), sum(k) FROM t GROUP BY g", false);
    agree(&mut db, "SELECT k, max(pad) FROM t GROUP BY k", false);
    agree(&mut db, "SELECT g, count(DISTINCT k) FROM t GROUP BY g", false);
}

#[test]
fn grouping_sets() {
    let mut db = filled();
    let hashed =
        "SELECT g, k % 900, count(*), sum(k), grouping(g, k % 900) FROM t GROUP BY CUBE (g, k % 900)";
    agree(&mut db, hashed, false);
    agree(&mut db, "SELECT g, count(DISTINCT k), max(pad) FROM t GROUP BY ROLLUP (g, k)", false);
    agree(&mut db, "SELECT g, string_agg(pad, '' ORDER BY k) FROM t GROUP BY GROUPING SETS (g, ())", false);
    let empty = "FROM t WHERE k < 0 GROUP BY GROUPING SETS (g, (), ())";
    let ranks =
        "SELECT rank(g + 1) WITHIN GROUP (ORDER BY k), g IS NULL FROM t WHERE g < 2 GROUP BY ROLLUP (g)";
    // Of a set without it, a grouped column in a direct argument is NULL, which comes last.
    assert_eq!(db.sorted(ranks), "17|t 1|f 2|f");
    assert_eq!(
        db.rows("SELECT rank(g) WITHIN GROUP (ORDER BY k) FROM t WHERE k < 0 GROUP BY ROLLUP (g)"),
        "1"
    );
    for aggregate in ["count(*)", "count(DISTINCT k)"] {
        assert_eq!(db.sorted(&format!("SELECT g, {aggregate} {empty}")), "null|0 null|0");
    }
}

#[test]
fn set_operations() {
    let mut db = filled();
    for operation in ["INTERSECT", "INTERSECT ALL", "EXCEPT", "EXCEPT ALL"] {
        let sql =
            format!("SELECT k % 3000, g FROM t {operation} SELECT (k + 500) % 3000, g FROM t WHERE k < 4000");
        agree(&mut db, &sql, false);
        // Left rows that the right side does not have outgrow memory, too.
        agree(
            &mut db,
            &format!("SELECT k % 3000, g FROM t {operation} SELECT k, g FROM t WHERE k < 9"),
            false,
        );
    }
}

#[test]
fn windows() {
    let mut db = filled();
    agree(
        &mut db,
        "SELECT k, rank() OVER w, sum(k) OVER w, lag(pad, 700) OVER w FROM t WINDOW w AS (ORDER BY g)",
        false,
    );
    let frames = "SELECT k, first_value(k) OVER w, nth_value(k, 3) OVER w, ntile(7) OVER w FROM t
        WINDOW w AS (ORDER BY k ROWS BETWEEN 2 PRECEDING AND 3 FOLLOWING EXCLUDE CURRENT ROW)";
    agree(&mut db, frames, false);
    let range = "SELECT k, count(*) OVER (ORDER BY k RANGE BETWEEN 10 PRECEDING AND 5 FOLLOWING) FROM t";
    agree(&mut db, range, false);
}

#[test]
fn common_table_expressions() {
    let mut db = filled();
    let twice =
        "WITH c AS MATERIALIZED (SELECT k, pad FROM t) SELECT a.pad, b.k FROM c a JOIN c b ON a.k = b.k + 1";
    agree(&mut db, twice, false);
    let steps = "WITH RECURSIVE r(n, k, pad) AS (SELECT 1, k, pad FROM t UNION ALL
        SELECT n + 1, k, pad FROM r WHERE n < 3) SELECT n, count(*), max(pad) FROM r GROUP BY n";
    agree(&mut db, steps, false);
}

#[test]
fn merge_joins_and_rescans() {
    let mut db = filled();
    db.settings.enable_hashjoin = false;
    db.settings.enable_nestloop = false;
    // Long groups of equal keys.
    agree(&mut db, "SELECT count(*), max(b.pad) FROM t a JOIN t b ON a.g % 5 = b.g % 5 AND a.k > b.k", false);
    agree(&mut db, "SELECT a.k, b.k FROM t a FULL JOIN t b ON a.g = b.g + 600 AND a.k = b.k", false);
    db.settings.enable_nestloop = true;
    db.settings.enable_mergejoin = false;
    agree(&mut db, "SELECT count(*) FROM t a JOIN t b ON a.k + b.k = 4000 WHERE a.g < 30", false);
}

#[test]
fn hash_joins_with_one_key_most_often() {
    let mut db = filled();
    db.settings.enable_mergejoin = false;
    db.settings.enable_nestloop = false;
    let half = "CASE WHEN k % 2 = 0 THEN NULL WHEN k % 5 = 0 THEN 1 ELSE k END";
    for kind in ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"] {
        let sides = format!(
            "(SELECT {half} AS x, pad FROM t) a {kind} (SELECT {half} AS y, k FROM t WHERE k < 1500) b"
        );
        agree(&mut db, &format!("SELECT a.pad, b.k FROM {sides} ON x = y"), false);
    }
    agree(&mut db, "SELECT k FROM t a WHERE EXISTS (SELECT 1 FROM t b WHERE b.k = a.k * 2)", false);
    agree(&mut db, "SELECT k FROM t a WHERE NOT EXISTS (SELECT 1 FROM t b WHERE b.k = a.k * 2)", false);
}
