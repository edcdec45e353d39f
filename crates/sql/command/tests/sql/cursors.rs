//! Cursors: going backward, savepoints, and those that outlive their transaction.

use crate::support::{Client, Collected, Server};

const FORWARD_ONLY: &str = "ERROR:  cursor can only scan forward";

fn start() -> (Server, Client) {
    let server = Server::new();
    let s = server.connect();
    s.query("create table t (a int, b text); insert into t select g, 'r' || g from generate_series(1, 10) g");
    (server, s)
}

/// Runs one statement after the other; rows are given with blanks between them.
fn script(s: &Client, steps: &[(&str, &str)]) {
    for (sql, expected) in steps {
        assert_eq!(s.query(sql).replace('\n', " "), *expected, "{sql}");
    }
}

#[test]
fn fetch_goes_everywhere() {
    let (_server, s) = start();
    // The first runs a scan again, the second has kept an aggregate's rows from the first.
    for declare in [
        "declare c cursor for select a from t",
        "declare c scroll cursor for select a from t group by a order by a",
        "declare c scroll cursor for select distinct a from t where random() < 2 order by a",
    ] {
        s.query("begin");
        s.query(declare);
        script(
            &s,
            &[
                ("fetch backward 1 from c", ""),
                ("fetch 3 from c", "1 2 3"),
                ("fetch backward 2 from c", "2 1"),
                ("fetch prior from c", ""),
                ("fetch next from c", "1"),
                ("fetch all from c", "2 3 4 5 6 7 8 9 10"),
                ("fetch 1 from c", ""),
                ("fetch relative 0 from c", ""),
                ("fetch backward 1 from c", "10"),
                ("fetch relative 0 from c", "10"),
                ("fetch absolute 4 from c", "4"),
                ("fetch absolute 9 from c", "9"),
                ("fetch absolute -9 from c", "2"),
                ("fetch relative 3 from c", "5"),
                ("fetch relative -2 from c", "3"),
                ("fetch absolute 100 from c", ""),
                ("fetch prior from c", "10"),
                ("fetch absolute -100 from c", ""),
                ("fetch first from c", "1"),
                ("fetch last from c", "10"),
                ("fetch backward all from c", "9 8 7 6 5 4 3 2 1"),
                ("fetch absolute 0 from c", ""),
                ("fetch forward -1 from c", ""),
                ("fetch backward -2 from c", "1 2"),
            ],
        );
        s.query("rollback");
    }
}

#[test]
fn move_counts_rows() {
    let (_server, s) = start();
    s.query("begin; declare c scroll cursor for select a from t");
    for (sql, tag) in [
        ("move 3 in c", "MOVE 3"),
        ("move 0 in c", "MOVE 1"),
        ("move backward all in c", "MOVE 2"),
        ("move 0 in c", "MOVE 0"),
        ("move forward all in c", "MOVE 10"),
        ("move backward all in c", "MOVE 10"),
        ("move absolute 5 in c", "MOVE 1"),
        ("move absolute 50 in c", "MOVE 0"),
        ("fetch backward 2 in c", "FETCH 2"),
    ] {
        assert_eq!(s.run(sql).unwrap().tags, [tag], "{sql}");
    }
}

#[test]
fn no_scroll_goes_forward_only_and_an_error_ends_it() {
    let (_server, s) = start();
    s.query("begin; savepoint s");
    for (steps, fails) in [
        ("fetch 2 from c", "fetch backward 1 from c"),
        ("fetch absolute 4 from c", "fetch absolute 4 from c"),
        ("fetch 1 from c", "fetch relative 0 from c"),
        ("fetch 1 from c", "fetch absolute 0 from c"),
        ("fetch 1 from c", "fetch last from c"),
        ("fetch 1 from c", "move backward all in c"),
    ] {
        assert_eq!(s.query("declare c no scroll cursor for select a from t; savepoint deep"), "");
        let answer = s.query(steps);
        assert!(!answer.starts_with("ERROR"), "{steps}: {answer}");
        assert_eq!(s.query(fails), FORWARD_ONLY, "{fails}");
        s.query("rollback to deep");
        assert_eq!(s.query("fetch 1 from c"), "ERROR:  portal \"c\" cannot be run");
        s.query("rollback to s");
    }
    script(
        &s,
        &[
            ("declare c cursor for select count(*) from t", ""),
            ("fetch 2 from c", "10"),
            ("select is_scrollable from pg_cursors", "f"),
            ("fetch prior from c", FORWARD_ONLY),
        ],
    );
}

#[test]
fn a_cursor_sees_what_there_was_when_it_was_declared() {
    let (server, s) = start();
    let other = server.connect();
    script(
        &s,
        &[
            ("begin; declare c cursor for select a from t", ""),
            ("fetch 2 from c", "1 2"),
            ("delete from t where a < 9; insert into t values (11)", ""),
        ],
    );
    other.query("delete from t where a = 10");
    other.query("vacuum t");
    script(
        &s,
        &[
            ("fetch all from c", "3 4 5 6 7 8 9 10"),
            ("fetch backward all from c", "10 9 8 7 6 5 4 3 2 1"),
            ("select a from t", "9 11"),
            ("rollback", ""),
        ],
    );
}

#[test]
fn savepoints_end_the_cursors_made_in_them() {
    let (_server, s) = start();
    let names = "select string_agg(name, ',' order by name) from pg_cursors";
    script(
        &s,
        &[
            ("begin; declare outside cursor for select a from t", ""),
            ("savepoint s; declare inside cursor for select a from t", ""),
            ("fetch 2 from outside", "1 2"),
            ("rollback to s", ""),
            // What was fetched stays fetched.
            ("fetch 1 from outside", "3"),
            (names, "outside"),
            ("savepoint deep; declare kept cursor for select a from t; release deep", ""),
            (names, "kept,outside"),
            ("select 1/0", "ERROR:  division by zero"),
            ("rollback to s", ""),
            (names, "outside"),
            ("fetch 1 from outside", "4"),
            ("close all", ""),
            (names, ""),
            ("fetch 1 from outside", "ERROR:  cursor \"outside\" does not exist"),
            ("rollback", ""),
        ],
    );
}

#[test]
fn holdable_cursors_outlive_their_transaction() {
    let (_server, s) = start();
    s.query("set work_mem = '64kB'");
    script(
        &s,
        &[
            ("begin; declare h cursor with hold for select a from t", ""),
            ("fetch 2 from h", "1 2"),
            ("commit", ""),
            ("delete from t; drop table t", ""),
            ("fetch 2 from h", "3 4"),
            ("select name, is_holdable, is_scrollable from pg_cursors", "h|t|t"),
            ("fetch absolute 1 from h", "1"),
            ("begin; fetch 1 from h; select 1/0", "ERROR:  division by zero"),
            ("rollback", ""),
            ("fetch backward 1 from h", "1"),
            ("close h", ""),
            // One that has no way back keeps the rest only; large rows go to a file.
            ("begin", ""),
            (
                "declare n no scroll cursor with hold for select g, repeat('x', 1000) from generate_series(1, 500) g",
                "",
            ),
            ("move 498 in n; commit", ""),
            ("fetch 1 from n", &format!("499|{}", "x".repeat(1000))),
            ("fetch backward 1 from n", FORWARD_ONLY),
            // Outside a block.
            ("declare alone cursor with hold for select 1", ""),
            ("fetch alone", "1"),
            ("begin; declare gone cursor with hold for select 1; rollback", ""),
            ("fetch gone", "ERROR:  cursor \"gone\" does not exist"),
            // Its rows are computed by the commit, which may fail of it.
            ("begin; declare bad cursor with hold for select 1 / (g - 1) from generate_series(0, 1) g", ""),
            ("fetch bad", "-1"),
            ("commit", "ERROR:  division by zero"),
            ("fetch bad", "ERROR:  cursor \"bad\" does not exist"),
            ("select count(*) from pg_cursors", "2"),
            ("discard all", ""),
            ("select count(*) from pg_cursors", "0"),
        ],
    );
    assert_eq!(s.session().transaction_status(), session::TransactionStatus::Idle);
}

#[test]
fn declarations_are_checked() {
    let (_server, s) = start();
    s.query("begin; savepoint s");
    for (what, message) in [
        (
            "scroll cursor for select a from t for update",
            "DECLARE SCROLL CURSOR ... FOR UPDATE is not supported",
        ),
        (
            "cursor with hold for select a from t for no key update",
            "DECLARE CURSOR WITH HOLD ... FOR NO KEY UPDATE is not supported",
        ),
        (
            "insensitive cursor for select a from t for update",
            "DECLARE INSENSITIVE CURSOR ... FOR UPDATE is not valid",
        ),
        ("scroll no scroll cursor for select 1", "cannot specify both SCROLL and NO SCROLL"),
        (
            "cursor for with x as (delete from t returning a) select * from x",
            "DECLARE CURSOR must not contain data-modifying statements in WITH",
        ),
    ] {
        assert_eq!(s.query(&format!("declare c {what}")), format!("ERROR:  {message}"));
        s.query("rollback to s");
    }
    s.query("rollback");
    let message = "ERROR:  DECLARE CURSOR can only be used in transaction blocks";
    assert_eq!(s.query("declare c cursor for select 1"), message);
    // Several statements of one message are a block.
    assert_eq!(s.query("declare c cursor for select 1; fetch c"), "1");
    assert_eq!(s.query("explain (costs off) declare c cursor for select a from t"), "Seq Scan on t");
}

#[test]
fn changes_hit_the_row_that_a_cursor_stands_on() {
    let (server, s) = start();
    let other = server.connect();
    s.query(
        "delete from t where a > 6; create table parent (a int); create table child () inherits (parent)",
    );
    s.query("insert into parent values (1), (2); insert into child values (11), (12)");
    let change = "update t set b = b || '!' where current of c returning a, b";
    // The chain of versions is found through sets of lockers too.
    other.query("begin; select from t where a = 2 for key share; select from t where a = 3 for key share");
    script(
        &s,
        &[
            ("begin; declare c scroll cursor for select * from t", ""),
            ("fetch 2 from c", "1|r1 2|r2"),
            // Each change is of the row as it is now, which the cursor does not see.
            (change, "2|r2!"),
            (change, "2|r2!!"),
            ("fetch 3 from c", "3|r3 4|r4 5|r5"),
            ("fetch backward 2 from c", "4|r4 3|r3"),
            (change, "3|r3!"),
            ("fetch next from c", "4|r4"),
            ("delete from t where current of c returning b", "r4"),
            (change, ""),
            ("fetch absolute 2 from c", "2|r2"),
            ("move forward all from c", ""),
            (change, "ERROR:  cursor \"c\" is not positioned on a row"),
            ("rollback; begin; declare c cursor for select a from parent", ""),
            ("fetch 3 from c", "1 2 11"),
            ("update only parent set a = 0 where current of c returning a", ""),
            ("update parent set a = 100 where current of c returning tableoid::regclass, a", "child|100"),
            // What a sorted or joined query locks is known too.
            (
                "rollback; begin; declare c cursor for select a from t natural join parent order by b desc for no key update of t",
                "",
            ),
            ("fetch c", "2"),
            (change, "2|r2!"),
            ("fetch c", "1"),
            (change, "1|r1!"),
            ("rollback", ""),
            (
                "begin; declare c cursor for select a from t; explain (costs off) delete from t where current of c",
                "Delete on t   ->  Tid Scan on t         TID Cond: CURRENT OF c",
            ),
            ("rollback", ""),
        ],
    );
}

#[test]
fn not_every_cursor_stands_on_a_row_of_the_table() {
    let (_server, s) = start();
    s.query("create table u as select * from t; create view v as select * from t");
    let errors = [
        ("select * from t", "cursor \"c\" is not positioned on a row"),
        ("select * from u", "cursor \"c\" is not a simply updatable scan of table \"t\""),
        ("select count(*) from t", "cursor \"c\" is not a simply updatable scan of table \"t\""),
        (
            "select a from t union all select a from t",
            "cursor \"c\" is not a simply updatable scan of table \"t\"",
        ),
        (
            "select * from u for update",
            "cursor \"c\" does not have a FOR UPDATE/SHARE reference to table \"t\"",
        ),
        (
            "select 1 from t x, t y for update",
            "cursor \"c\" has multiple FOR UPDATE/SHARE references to table \"t\"",
        ),
    ];
    for (query, error) in errors {
        s.query(&format!("begin; declare c cursor for {query}"));
        assert_eq!(s.query("delete from t where current of c"), format!("ERROR:  {error}"), "{query}");
        s.query("rollback");
    }
    assert_eq!(s.query("delete from t where current of c"), "ERROR:  cursor \"c\" does not exist");
    s.query("begin; declare c cursor with hold for select * from t; fetch c; commit");
    let held = "ERROR:  cursor \"c\" is held from a previous transaction";
    assert_eq!(s.query("delete from t where current of c"), held);
    let view = "ERROR:  WHERE CURRENT OF on a view is not implemented";
    assert_eq!(s.query("delete from v where current of c"), view);
    s.query("create rule gone as on delete to v do instead nothing");
    assert_eq!(s.query("delete from v where current of c"), view);
}

#[test]
fn several_statements_of_a_message_have_queries_of_their_own() {
    let (_server, s) = start();
    for _ in 0..2 {
        let message =
            "begin; declare c cursor for select 1; declare d cursor for select 2; fetch c; fetch d; rollback";
        assert_eq!(s.query(message), "1\n2");
        let message = "select 1; create temp table made as select 2 as a; table made; drop table made";
        assert_eq!(s.query(message), "1\n2");
    }
}

#[test]
fn a_row_limit_does_not_stop_a_statement_that_writes() {
    let (_server, s) = start();
    s.query("create table p (id int primary key); insert into p values (1), (2)");
    let cases = [
        ("insert into t select generate_series(11, 15) returning a", "INSERT 0 5", "15"),
        ("update t set a = a + 100 where a > 10 returning a", "UPDATE 5", "15"),
        ("delete from t where a > 10 returning a", "DELETE 5", "10"),
        (
            "with c as (insert into t select generate_series(21, 25) returning a) select a from c",
            "SELECT 2",
            "15",
        ),
    ];
    for (sql, tag, rows) in cases {
        s.query("begin");
        let (session, mut out) = (s.session(), Collected::default());
        session.parse("", sql, &[], &mut out).unwrap();
        session.bind("limited", "", &[], &[], &[]).unwrap();
        session.execute("limited", 3, &mut out).unwrap();
        session.sync(&mut out).unwrap();
        assert_eq!((out.rows.len(), out.tags.len()), (3, 0), "{sql}");
        assert_eq!(s.query("select count(*) from t"), rows, "{sql}");
        assert_ne!(s.query("select count(*) from t where a between 11 and 15"), "2", "{sql}");
        session.execute("limited", 0, &mut out).unwrap();
        session.sync(&mut out).unwrap();
        assert_eq!((out.rows.len(), &out.tags[..]), (5, &[tag.to_owned()][..]));
        s.query("commit");
    }
    s.query("create table r (id int references p)");
    let mut out = Collected::default();
    for sql in [
        "insert into r values (1), (77) returning id",
        "with x as (insert into r values (1), (77) returning id) select * from x",
        "insert into t select 6 / (3 - g) from generate_series(1, 5) g returning a",
    ] {
        s.session().simple_query(sql, &mut out).unwrap_err();
        assert_eq!(out.rows, [""; 0], "{sql}");
    }
    let (session, mut out) = (s.session(), Collected::default());
    session.parse("", "insert into r values (1), (77) returning id", &[], &mut out).unwrap();
    session.bind("", "", &[], &[], &[]).unwrap();
    let refused = session.execute("", 1, &mut out).unwrap_err();
    assert_eq!(refused.code(), base::SqlState::FOREIGN_KEY_VIOLATION);
    session.fail(&refused);
    session.sync(&mut out).unwrap();
    assert_eq!(s.query("select count(*) from r"), "0");
}
