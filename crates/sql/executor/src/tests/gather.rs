//! What several participants find together is what one finds alone.

use std::sync::Arc;

use plan::explain::Detail;
use plan::{AggStrategy, Node, Plan, Split};

use super::{Db, counted};
use crate::run::{Execution, Prepared};

fn filled() -> Db {
    let db = Db::new();
    db.table("t", &[("k", "int4"), ("g", "int4"), ("pad", "text"), ("n", "numeric")]);
    db.table("u", &[("g", "int4"), ("name", "text")]);
    for part in 0..10 {
        let row = |i: i32| {
            let n = part * 500 + i;
            let g = if n % 11 == 0 { "NULL".to_owned() } else { (n % 700).to_string() };
            format!("({},{g},'padding of row {}',{n}.25)", (n * 7919) % 5000, n % 900)
        };
        let values: Vec<String> = (0..500).map(row).collect();
        db.rows(&format!("INSERT INTO t VALUES {}", values.join(",")));
    }
    let values: Vec<String> = (0..650).map(|g| format!("({g},'name {}')", g % 50)).collect();
    db.rows(&format!("INSERT INTO u VALUES {}", values.join(",")));
    db.next_transaction();
    db
}

/// Takes a plan out of its place.
fn take(plan: &mut Plan) -> Plan {
    let empty = Node::ValuesScan { rel: 0, rows: Vec::new() };
    std::mem::replace(plan, around(plan, empty))
}

fn around(plan: &Plan, node: Node) -> Plan {
    Plan { cost: plan.cost, output: plan.output.clone(), filter: Vec::new(), node }
}

fn gathering(child: Plan, workers: u32) -> Plan {
    let Plan { cost, output, .. } = around(&child, Node::ValuesScan { rel: 0, rows: Vec::new() });
    let merge = matches!(child.node, Node::Sort { .. });
    Plan {
        cost,
        output,
        filter: Vec::new(),
        node: Node::Gather { child: Box::new(child), workers, merge, single_copy: false },
    }
}

/// Has participants share the first scan.
fn share(plan: &mut Plan) {
    match &mut plan.node {
        Node::SeqScan { parallel, .. } => *parallel = true,
        Node::HashJoin { outer, .. } => share(outer),
        Node::Sort { child, .. } => share(child),
        other => panic!("not a plan to share: {other:?}"),
    }
}

/// The plan, with its aggregation, join or scan shared.
fn gather(plan: &mut Plan, workers: u32) {
    match &mut plan.node {
        Node::Limit { child, .. } => gather(child, workers),
        Node::Aggregate { strategy: AggStrategy::Plain | AggStrategy::Hashed, child, .. } => {
            share(child);
            let mut partial = take(plan);
            let Node::Aggregate { strategy, split, keys, calls, .. } = &mut partial.node else { return };
            *split = Split::Partial;
            let (strategy, keys, calls) = (*strategy, keys.clone(), calls.clone());
            let filter = std::mem::take(&mut partial.filter);
            let gather = gathering(partial, workers);
            let (split, child, rollups) = (Split::Final, Box::new(gather), Vec::new());
            let node = Node::Aggregate { strategy, split, child, keys, rollups, calls };
            *plan = Plan { node, filter, output: std::mem::take(&mut plan.output), cost: plan.cost };
        }
        _ => {
            share(plan);
            let child = take(plan);
            *plan = gathering(child, workers);
        }
    }
}

fn gathered(db: &Db, sql: &str, workers: u32) -> Arc<Prepared> {
    let mut prepared = db.prepare(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
    let statement = Arc::get_mut(&mut Arc::get_mut(&mut prepared).unwrap().statement);
    gather(&mut statement.unwrap().plan, workers);
    prepared
}

fn run(db: &Db, prepared: &Arc<Prepared>) -> Result<Vec<String>, String> {
    let mut execution = Execution::new(prepared).unwrap();
    let first = db.execute(&mut execution, &[]).map_err(|e| e.to_string());
    // The same tree again.
    let second = db.execute(&mut execution, &[]).map_err(|e| e.to_string());
    assert_eq!(first.clone().map(counted), second.map(counted));
    first
}

const QUERIES: &[&str] = &[
    "SELECT count(*), sum(k), min(pad), max(g), avg(n), sum(n) FROM t",
    "SELECT count(*), sum(k) FROM t WHERE k < 0",
    "SELECT count(g) FILTER (WHERE k % 2 = 0), stddev(n) FROM t WHERE k > 100 HAVING count(*) > 5",
    "SELECT g, count(*), sum(k), avg(n) FROM t GROUP BY g",
    "SELECT pad, g % 3, min(n), bit_xor(k) FROM t GROUP BY pad, g % 3 HAVING count(*) > 1",
    "SELECT n, count(*) FROM t GROUP BY n",
    "SELECT DISTINCT g FROM t",
    "SELECT k, pad || 'x', n FROM t WHERE g % 5 = 1",
    "SELECT t.k, u.name FROM t JOIN u ON t.g = u.g",
    "SELECT u.name, count(*), sum(t.k) FROM t JOIN u ON t.g = u.g GROUP BY u.name",
    "SELECT count(*), count(u.g) FROM t LEFT JOIN u ON t.g = u.g",
    "SELECT count(*), sum(k * (SELECT max(g) FROM u)) FROM t WHERE g > (SELECT max(g) FROM u) - 200",
    "SELECT g, array_length(array(SELECT g FROM u WHERE g < 9), 1) FROM t WHERE g < 9 OR EXISTS (SELECT FROM u WHERE g = 777)",
];

fn only_hashing(db: &mut Db) {
    db.settings.enable_mergejoin = false;
    db.settings.enable_nestloop = false;
    db.settings.enable_sort = false;
}

#[test]
fn participants_find_what_one_finds() {
    let mut db = filled();
    only_hashing(&mut db);
    for batches in [true, false] {
        db.settings.batch_execution = batches;
        for work_mem in [16 << 20, 16 << 10] {
            for sql in QUERIES {
                db.work_mem = work_mem;
                let alone = db.run(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
                for (workers, leader) in [(3, true), (2, false)] {
                    db.facilities.leader_works.set(leader);
                    db.facilities.claimed.set(0);
                    let together = run(&db, &gathered(&db, sql, workers)).unwrap();
                    assert_eq!(counted(alone.clone()), counted(together), "{sql}, {work_mem}, {batches}");
                    assert_eq!(db.facilities.claimed.get(), 2 * workers as usize, "{sql}");
                }
            }
        }
    }
    let left = std::fs::read_dir(db._dir.0.join("base/pgsql_tmp")).map_or(0, |d| d.count());
    assert_eq!(left, 0, "temporary files stay behind");
}

/// Orders in which no two rows are alike.
const ORDERED: &[&str] = &[
    "SELECT k, g, n FROM t ORDER BY k",
    "SELECT g, k FROM t ORDER BY g DESC NULLS LAST, k % 10, k",
    "SELECT pad, k FROM t WHERE g % 3 = 0 ORDER BY pad || 'x', k DESC",
    "SELECT k FROM t ORDER BY n DESC LIMIT 7",
    "SELECT k FROM t ORDER BY k OFFSET 4000 LIMIT 999",
    "SELECT k FROM t WHERE k < 20 ORDER BY k LIMIT 50",
    "SELECT k FROM t WHERE k < 0 ORDER BY k",
    "SELECT u.name, t.k FROM t JOIN u ON t.g = u.g ORDER BY u.name, t.k",
];

#[test]
fn what_participants_have_sorted_comes_in_order() {
    let mut db = filled();
    only_hashing(&mut db);
    db.settings.enable_sort = true;
    for work_mem in [16 << 20, 16 << 10] {
        for sql in ORDERED {
            db.work_mem = work_mem;
            let alone = db.run(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
            for (workers, leader) in [(3, true), (2, false), (6, true)] {
                db.facilities.leader_works.set(leader);
                db.facilities.claimed.set(0);
                assert_eq!(alone, run(&db, &gathered(&db, sql, workers)).unwrap(), "{sql}, {work_mem}");
                assert_eq!(db.facilities.claimed.get(), 2 * workers as usize, "{sql}");
            }
        }
    }
    let left = std::fs::read_dir(db._dir.0.join("base/pgsql_tmp")).map_or(0, |d| d.count());
    assert_eq!(left, 0, "temporary files stay behind");
}

#[test]
fn the_error_is_the_first_that_one_finds_alone() {
    let mut db = filled();
    only_hashing(&mut db);
    for batches in [true, false] {
        db.settings.batch_execution = batches;
        for sql in [
            // Divisions by zero, and sums that are too large, in other rows.
            "SELECT sum(1 / (k - 4000)), sum(g + 2147483647 - 690) FROM t",
            "SELECT sum(1 / (k - 2000)), sum(g + 2147483647 - 698) FROM t WHERE 1 / (k - 4999) < 9",
            "SELECT g, sum(1 / (k - 4321)) FROM t GROUP BY g",
            "SELECT 1 / (k - 77) FROM t",
            "SELECT sum(cast(substr(pad, 16) AS int4) + 2147483000) FROM t",
            "SELECT k FROM t ORDER BY 1 / (k - 77)",
            "SELECT count(*) FROM t WHERE k > (SELECT 1 / min(g) FROM u)",
        ] {
            let alone = db.run(sql).map_err(|e| e.to_string());
            assert!(alone.is_err(), "{sql}");
            assert_eq!(alone, run(&db, &gathered(&db, sql, 3)), "{sql}");
        }
    }
}

#[test]
fn what_a_helper_cannot_do_the_leader_does() {
    let db = filled();
    let sql = "SELECT count(*) FROM t WHERE pad <> current_user";
    assert_eq!(run(&db, &gathered(&db, sql, 2)).unwrap(), ["5000"]);
}

#[test]
fn a_transaction_that_has_written_has_no_helpers() {
    let db = filled();
    db.rows("INSERT INTO t VALUES (1, 1, 'more', 1)");
    db.facilities.claimed.set(0);
    assert_eq!(run(&db, &gathered(&db, "SELECT count(*) FROM t", 2)).unwrap(), ["5001"]);
    assert_eq!(db.facilities.claimed.get(), 0);
}

#[test]
fn rows_of_a_statement_that_is_read_in_part_come_from_the_leader_alone() {
    let db = filled();
    let mut execution = Execution::new(&gathered(&db, "SELECT k FROM t", 2)).unwrap();
    let snapshot = db.engine.txns().snapshot();
    let env = db.env(&snapshot);
    execution.start(&[]);
    let mut seen = 0;
    let mut each = |_: &[tuple::Datum]| {
        seen += 1;
        Ok(())
    };
    while !execution.fetch(&env, 700, &mut each).unwrap().finished {}
    assert_eq!((seen, db.facilities.claimed.get()), (5000, 0));
}

#[test]
fn explain_counts_what_all_have_sorted() {
    let mut db = filled();
    only_hashing(&mut db);
    db.settings.enable_sort = true;
    for (sql, sorted) in [
        ("SELECT k FROM t WHERE k >= 1000 ORDER BY k", 4000.0..=4000.0),
        ("SELECT k FROM t WHERE k >= 1000 ORDER BY k LIMIT 10", 10.0..=40.0),
    ] {
        let prepared = gathered(&db, sql, 3);
        let mut execution = Execution::counting(&prepared, true).unwrap();
        let rows = db.execute(&mut execution, &[]).unwrap().len() as f64;
        let [.., gather, sort, scan] = execution.counters().unwrap() else { panic!("three nodes") };
        assert_eq!((gather.rows, sort.loops, scan.loops), (rows, 4.0, 4.0), "{sql}");
        assert!(sorted.contains(&sort.rows), "{sql}: {}", sort.rows);
        assert!(matches!(gather.detail, Detail::Workers(3)));
        assert!(matches!(sort.detail, Detail::Sort { .. }));
        assert_eq!((scan.rows, scan.filtered), (4000.0, 1000.0));
    }
}

#[test]
fn explain_counts_what_all_do() {
    let mut db = filled();
    only_hashing(&mut db);
    for sql in ["SELECT g, sum(k) FROM t WHERE k >= 1000 GROUP BY g", "SELECT sum(k) FROM t WHERE k >= 1000"]
    {
        let prepared = gathered(&db, sql, 3);
        let mut execution = Execution::counting(&prepared, true).unwrap();
        let rows = db.execute(&mut execution, &[]).unwrap().len() as f64;
        let [whole, gather, partial, scan] = execution.counters().unwrap() else { panic!("four nodes") };
        assert_eq!((whole.rows, whole.loops), (rows, 1.0));
        assert_eq!((gather.loops, partial.loops, scan.loops), (1.0, 4.0, 4.0));
        assert!(matches!(gather.detail, Detail::Workers(3)));
        assert_eq!(gather.rows, partial.rows);
        assert_eq!(matches!(whole.detail, Detail::Groups { batches: 1, .. }), rows > 1.0);
        assert!(partial.rows >= rows);
        assert_eq!((scan.rows, scan.filtered), (4000.0, 1000.0));
        assert!(gather.usage.shared_hit >= scan.usage.shared_hit && scan.usage.shared_hit > 0);
    }
}
