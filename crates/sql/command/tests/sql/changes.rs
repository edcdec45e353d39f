//! INSERT, UPDATE and DELETE: RETURNING of old and new rows, changes through views.

use crate::support::{Client, Server};
use base::SqlError;

/// The first failing statement's message and detail.
fn failure(session: &Client, sql: &str) -> String {
    let error: SqlError = session.run(sql).map(|_| ()).unwrap_err();
    let detail = error.report().detail.clone();
    format!("{} / {}", error.message(), detail.as_deref().unwrap_or("-"))
}

#[test]
fn returning_names_old_and_new_rows() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (a int primary key, b text)").unwrap();
    assert_eq!(
        s.query("insert into t values (1, 'x') returning old.a, new.a, old, new, old.ctid is null, a"),
        "|1||(1,x)|t|1"
    );
    assert_eq!(
        s.query("update t set b = b || '!' returning old.b, new.b, b, old, new, (select old.b || new.b)"),
        "x|x!|x!|(1,x)|(1,x!)|xx!"
    );
    let upsert = "insert into t values (1, 'y'), (2, 'z') on conflict (a) do update set b = excluded.b
         returning with (old as o, new as n) o.b, n.b";
    assert_eq!(s.query(upsert), "x!|y\n|z");
    assert_eq!(s.query("delete from t where a = 1 returning old.b, new.b, b, new"), "y||y|");
}

#[test]
fn changes_through_a_view_reach_its_table() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (a int primary key, b text default 'of t', c int default 7)").unwrap();
    s.run("create view v as select c as cc, a, b as bb, a + 1 as d from t where a < 10").unwrap();
    s.run("create view w as select bb, a as k from v where a > 2").unwrap();
    assert_eq!(s.query("insert into w (k) values (3) returning w, k, old.k"), "(\"of t\",3)|3|");
    s.run("alter view v alter bb set default 'of v'").unwrap();
    assert_eq!(s.query("insert into w values (default, 4), ('five', 5) returning bb"), "of v\nfive");
    assert_eq!(s.query("insert into v (a) values (1) returning cc, d, old.d, new.d"), "7|2||2");
    // Rows that a view does not show are out of its reach.
    assert_eq!(s.query("update w set bb = 'u' returning k, old.bb"), "3|of t\n4|of v\n5|five");
    assert_eq!(s.query("delete from w where k in (1, 4) returning *"), "u|4");
    assert_eq!(
        s.query("insert into v (a, bb) values (3, 'c') on conflict (a) do update set bb = excluded.bb || v.bb returning bb"),
        "cu"
    );
    assert_eq!(s.query("select a, b, c from t order by a"), "1|of v|7\n3|cu|7\n5|u|7");
    // What is read is the view as it is now.
    s.run("create or replace view v as select c as cc, a, b as bb, a + 1 as d from t where a < 5").unwrap();
    assert_eq!(s.query("select k from w"), "3");
}

#[test]
fn views_refuse_what_has_no_place_below() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (a int, b int generated always as (a) stored)").unwrap();
    s.run("create view v as select a, a as again, b, a + 1 as d, ctid as c, t as whole from t").unwrap();
    let columns = [
        ("d", "View columns that are not columns of their base relation are not updatable."),
        ("c", "View columns that refer to system columns are not updatable."),
        ("whole", "View columns that return whole-row references are not updatable."),
    ];
    for (column, why) in columns {
        let sql = format!("update v set {column} = null");
        assert_eq!(failure(&s, &sql), format!("cannot update column \"{column}\" of view \"v\" / {why}"));
    }
    assert_eq!(
        failure(&s, "insert into v (a, again) values (1, 2)"),
        "multiple assignments to same column \"a\" / -"
    );
    assert!(
        failure(&s, "insert into v (a, b) values (1, 2)").starts_with("cannot insert a non-DEFAULT value")
    );
    assert_eq!(failure(&s, "update v set ctid = null"), "cannot assign to system column \"ctid\" / -");
    let shapes = [
        ("select distinct a from t", "Views containing DISTINCT are not automatically updatable."),
        ("select a from t limit 1", "Views containing LIMIT or OFFSET are not automatically updatable."),
        (
            "select count(*) as a from t",
            "Views that return aggregate functions are not automatically updatable.",
        ),
        (
            "select t.a from t, t as u",
            "Views that do not select from a single table or view are not automatically updatable.",
        ),
    ];
    for (query, why) in shapes {
        s.run(&format!("drop view if exists x; create view x as {query}")).unwrap();
        assert_eq!(failure(&s, "delete from x"), format!("cannot delete from view \"x\" / {why}"));
        assert_eq!(s.query("select pg_relation_is_updatable('x'::regclass, false)"), "0");
    }
    assert_eq!(
        s.query(
            "select pg_relation_is_updatable('v'::regclass, false),
             pg_column_is_updatable('v'::regclass, 1::smallint, false),
             pg_column_is_updatable('v'::regclass, 4::smallint, false)"
        ),
        "28|t|f"
    );
}

#[test]
fn check_options_of_views_hold() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (a int)").unwrap();
    s.run("create view low as select a from t where a > 0").unwrap();
    s.run("create view local as select a from low where a < 10 with local check option").unwrap();
    s.run("create view casc as select a from low where a < 10 with cascaded check option").unwrap();
    let refused = |view: &str, row: &str| {
        format!("new row violates check option for view \"{view}\" / Failing row contains ({row}).")
    };
    assert_eq!(failure(&s, "insert into local values (10)"), refused("local", "10"));
    s.run("insert into local values (-1)").unwrap();
    assert_eq!(failure(&s, "insert into casc values (-1)"), refused("low", "-1"));
    assert_eq!(failure(&s, "insert into casc values (null)"), refused("low", "null"));
    s.run("insert into casc values (5)").unwrap();
    assert_eq!(failure(&s, "update casc set a = a + 5"), refused("casc", "10"));
    s.run("alter view casc reset (check_option)").unwrap();
    s.run("update casc set a = a + 5").unwrap();
    assert_eq!(s.query("select a from t order by a"), "-1\n10");
    assert_eq!(
        failure(&s, "create view x as select distinct a from t with check option"),
        "WITH CHECK OPTION is supported only on automatically updatable views / -"
    );
    s.run("create or replace view low as select a from t where a in (select a from casc)").unwrap();
    assert_eq!(
        s.query("select * from low"),
        "ERROR:  infinite recursion detected in rules for relation \"low\""
    );
}

#[test]
fn conditions_above_a_barrier_see_no_hidden_rows() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (a int); insert into t values (1), (2), (9)").unwrap();
    s.run("create view v with (security_barrier) as select a from t where a < 5").unwrap();
    assert_eq!(
        s.query("explain (costs off) select a from v where 10 / (a - 9) < 0"),
        "Subquery Scan on v\n  Filter: ((10 / (v.a - 9)) < 0)\n  ->  Seq Scan on t\n        Filter: (a < 5)"
    );
    assert_eq!(s.query("select a from v where 10 / (a - 9) < 0"), "1\n2");
}

#[test]
fn rows_that_are_not_stored_yet_know_their_table() {
    let server = Server::new();
    let s = server.connect();
    s.run(
        "create table p (a int, c regclass generated always as (tableoid) stored, check (tableoid > 0))
         partition by list (a)",
    )
    .unwrap();
    s.run("create table p1 partition of p for values in (1)").unwrap();
    s.run("create table p2 partition of p for values in (2)").unwrap();
    assert_eq!(s.query("insert into p values (1), (2) returning a, c"), "1|p1\n2|p2");
    // Moved to the other partition.
    s.run("update p set a = 2 where a = 1").unwrap();
    assert_eq!(s.query("select a, c from p order by a"), "2|p2\n2|p2");
    s.run("merge into p using (values (1)) v (x) on p.a = x when not matched then insert (a) values (x)")
        .unwrap();
    assert_eq!(s.query("select c from p where a = 1"), "p1");
    s.run("create table t (a int primary key, c regclass generated always as (tableoid) stored)").unwrap();
    s.run("insert into t values (1) on conflict (a) do nothing").unwrap();
    s.run("insert into t values (1) on conflict (a) do update set a = 2").unwrap();
    assert_eq!(s.query("select a, c from t"), "2|t");
    s.run("create table u (a int, constraint u_tableoid_check check (tableoid is null))").unwrap();
    assert_eq!(
        failure(&s, "insert into u values (1)"),
        "new row for relation \"u\" violates check constraint \"u_tableoid_check\" / Failing row contains (1)."
    );
}

#[test]
fn a_statement_counts_its_own_changes_only() {
    let server = Server::new();
    let s = server.connect();
    s.run(
        "create table t (a int primary key, b int); insert into t select g, 0 from generate_series(1, 4) g",
    )
    .unwrap();
    s.run("create table u (a int, b int)").unwrap();
    let tags = [
        ("update t set b = 2 where a = 1", "UPDATE 1"),
        ("update t set b = 2 from x where t.a = 1 and x.a = 2", "UPDATE 1"),
        ("delete from t where a = 1 and exists (select from x)", "DELETE 1"),
        ("insert into t select a + 10, b from x where a < 4", "INSERT 0 2"),
        ("insert into u values (1, 2)", "INSERT 0 1"),
        ("merge into u using x on x.a = u.a when not matched then insert values (x.a, x.b)", "MERGE 3"),
        ("select", "SELECT 1"),
        ("select from x", "SELECT 3"),
    ];
    for (statement, tag) in tags {
        let with = format!("with x as (update t set b = b + 1 where a in (2, 3, 4) returning *) {statement}");
        assert_eq!(s.run(&with).unwrap().tags, [tag], "{with}");
    }
}

#[test]
fn a_duplicate_of_an_expression_is_shown() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (a text, b int)").unwrap();
    s.run("create unique index on t (b, lower(a), (a || 'z'))").unwrap();
    s.run("insert into t values ('X', 1)").unwrap();
    let error = s.run("insert into t values ('X', 1)").err().unwrap();
    assert_eq!(
        error.report().detail.as_deref(),
        Some("Key (b, lower(a), (a || 'z'::text))=(1, x, Xz) already exists.")
    );
}

#[test]
fn values_of_parameters_tell_the_index_of_a_conflict() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (a int, active bool); create unique index on t (a) where active").unwrap();
    s.run("prepare add as insert into t values ($1, $2) on conflict (a) where active = $2 do update set a = -excluded.a").unwrap();
    for a in 0..8 {
        s.run(&format!("execute add({a}, true)")).unwrap();
    }
    s.run("execute add(7, true)").unwrap();
    assert_eq!(s.query("select max(a), min(a) from t"), "6|-7");
    let error = s.run("execute add(1, false)").err().unwrap();
    assert_eq!(
        error.message(),
        "there is no unique or exclusion constraint matching the ON CONFLICT specification"
    );
    s.run("create table c (n text); create unique index on c (n collate \"C\")").unwrap();
    s.run("insert into c values ('x'), ('x') on conflict (n collate \"C\") do nothing").unwrap();
    let other =
        s.run("insert into c values ('x') on conflict (n collate \"POSIX\") do nothing").err().unwrap();
    assert_eq!(other.code().as_str(), "42P10");
}

#[test]
fn a_row_is_found_by_the_place_of_its_new_version() {
    let server = Server::new();
    let s = server.connect();
    s.query("create table t (a int primary key, b int); insert into t values (1, 1), (2, 2)");
    s.query("update t set b = 3 where a = 1");
    assert_eq!(s.query("select ctid from t where a = 1"), "(0,3)");
    assert_eq!(s.query("select a, b from t where ctid = '(0,3)'"), "1|3");
    assert_eq!(
        s.query("select a, b from t where ctid = any (array['(0,1)', '(0,2)', '(0,3)']::tid[])"),
        "2|2\n1|3"
    );
    assert_eq!(
        s.query("update t set b = 4 where ctid = (select max(ctid) from t) returning ctid, b"),
        "(0,4)|4"
    );
    assert_eq!(s.query("delete from t where ctid = '(0,4)' returning a"), "1");
}
