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
    let left = std::fs::read_dir(&db.temp.path).map_or(0, |d| d.count());
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
