//! INSERT, UPDATE, DELETE, indexes, repeated execution.

use tuple::Datum;

use super::Db;
use crate::run::Execution;

fn accounts(rows: i32) -> Db {
    let db = Db::new();
    let table = db.table("accounts", &[("aid", "int4"), ("balance", "int4"), ("filler", "text")]);
    db.unique_index("accounts_pkey", table, &[1]);
    let values: Vec<String> = (1..=rows).map(|i| format!("({i},0,'f')")).collect();
    db.rows(&format!("INSERT INTO accounts VALUES {}", values.join(",")));
    db
}

#[test]
fn point_query_runs_again_and_again() {
    let db = accounts(500);
    let sql = "SELECT balance FROM accounts WHERE aid = $1";
    assert_eq!(db.explain(sql), "Index Scan using accounts_pkey on accounts\n  Index Cond: (aid = $1)");
    let prepared = db.prepare(sql).unwrap();
    let mut execution = Execution::new(&prepared).unwrap();
    for aid in [1, 250, 500] {
        assert_eq!(db.execute(&mut execution, &[Datum::Int4(aid)]).unwrap(), ["0"]);
    }
    assert!(db.execute(&mut execution, &[Datum::Int4(501)]).unwrap().is_empty());
    assert!(db.execute(&mut execution, &[Datum::Null]).unwrap().is_empty());
}

#[test]
fn update_and_delete_return_rows() {
    let db = accounts(20);
    assert_eq!(
        db.rows("UPDATE accounts SET balance = balance + 7 WHERE aid = 3 RETURNING aid, balance"),
        "3|7"
    );
    assert_eq!(db.rows("SELECT balance FROM accounts WHERE aid = 3"), "7");
    // Changes the key: the index gets a new entry, the old one leads nowhere.
    assert_eq!(db.rows("UPDATE accounts SET aid = 100 WHERE aid = 3 RETURNING aid"), "100");
    assert_eq!(db.rows("SELECT count(*) FROM accounts WHERE aid = 3"), "0");
    assert_eq!(db.rows("SELECT balance FROM accounts WHERE aid = 100"), "7");
    assert_eq!(db.rows("DELETE FROM accounts WHERE aid > 10 RETURNING aid").split(' ').count(), 11);
    assert_eq!(db.rows("SELECT count(*), sum(aid) FROM accounts"), "9|52");
    assert_eq!(
        db.sorted("UPDATE accounts SET balance = v.n FROM (VALUES (1,11),(2,22)) v(k,n) WHERE aid = v.k RETURNING aid, balance, v.n"),
        "1|11|11 2|22|22"
    );
}

#[test]
fn duplicate_keys_are_refused() {
    let db = accounts(3);
    let error = db.run("INSERT INTO accounts VALUES (2, 0, 'x')").unwrap_err();
    assert_eq!(error.message(), "duplicate key value violates unique constraint \"accounts_pkey\"");
    assert_eq!(error.report().detail.as_deref(), Some("Key (aid)=(2) already exists."));
    assert_eq!(error.code(), base::SqlState::UNIQUE_VIOLATION);
}

#[test]
fn on_conflict() {
    let db = accounts(3);
    assert_eq!(
        db.rows("INSERT INTO accounts VALUES (2,5,'x'),(4,5,'x') ON CONFLICT DO NOTHING RETURNING aid"),
        "4"
    );
    assert_eq!(
        db.rows(
            "INSERT INTO accounts VALUES (2,5,'x') ON CONFLICT (aid) DO UPDATE SET balance = accounts.balance + excluded.balance RETURNING aid, balance"
        ),
        "2|5"
    );
}

#[test]
fn index_ranges_and_order() {
    let mut db = accounts(300);
    db.settings.enable_seqscan = false;
    db.settings.enable_bitmapscan = false;
    assert_eq!(db.rows("SELECT aid FROM accounts WHERE aid BETWEEN 10 AND 12"), "10 11 12");
    assert_eq!(db.rows("SELECT aid FROM accounts WHERE aid IN (7, 3, 9, 3)"), "3 7 9");
    assert_eq!(db.rows("SELECT aid FROM accounts ORDER BY aid DESC LIMIT 2"), "300 299");
    db.settings.enable_bitmapscan = true;
    db.settings.enable_indexscan = false;
    db.settings.enable_indexonlyscan = false;
    assert_eq!(db.sorted("SELECT aid FROM accounts WHERE aid = 5 OR aid = 8"), "5 8");
    assert_eq!(db.sorted("SELECT aid FROM accounts WHERE aid < 3"), "1 2");
}

#[test]
fn insert_from_select_and_modifying_cte() {
    let db = accounts(5);
    db.table("log", &[("aid", "int4")]);
    assert_eq!(db.rows("INSERT INTO log SELECT aid FROM accounts WHERE aid > 3 RETURNING aid"), "4 5");
    assert_eq!(db.rows("WITH d AS (DELETE FROM log RETURNING aid) SELECT count(*) FROM d"), "2");
    assert_eq!(db.rows("SELECT count(*) FROM log"), "0");
}

#[test]
fn row_locks() {
    let db = accounts(5);
    assert_eq!(db.rows("SELECT aid FROM accounts WHERE aid = 2 FOR UPDATE"), "2");
}
