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
