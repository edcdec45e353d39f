//! Functions and procedures in SQL, through whole sessions.

use crate::support::{Client, Server};

fn message(s: &Client, sql: &str) -> String {
    s.run(sql).err().map_or_else(|| format!("{sql}: no error"), |e| e.message().to_owned())
}

#[test]
fn functions_give_values_rows_and_sets() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (id int primary key, v text); insert into t values (1,'a'),(2,'b'),(3,'c')")
        .unwrap();
    s.run("create function one(int) returns t language sql as 'select * from t where id = $1'").unwrap();
    s.run("create function many() returns setof t stable language sql as 'table t'").unwrap();
    s.run("create function outs(x int, out y int, out z text) language sql as 'select x * 2, x::text'")
        .unwrap();
    s.run("create function tab(n int) returns table (a int) language sql as 'select generate_series(1, n)'")
        .unwrap();
    assert_eq!(s.query("select one(2), (one(3)).v"), "(2,b)|c");
    assert_eq!(s.query("select * from one(1)"), "1|a");
    assert_eq!(s.query("select sum(id) from many() where v > 'a'"), "5");
    assert_eq!(s.query("select y, z from outs(4)"), "8|4");
    assert_eq!(s.query("select tab(2)"), "1\n2");
    let both = "select * from rows from (tab(2), one(1)) with ordinality";
    assert_eq!(s.query(both), "1|1|a|1\n2|||2");
    s.run("create function any_row() returns setof record language sql as $$ select 1, 'x'::text $$")
        .unwrap();
    assert_eq!(s.query("select b, a from any_row() as r(a int, b text)"), "x|1");
    assert_eq!(
        message(&s, "select * from any_row() as r(a int)"),
        "return type mismatch in function declared to return record"
    );
}

#[test]
fn arguments_are_found_by_name_number_and_default() {
    let server = Server::new();
    let s = server.connect();
    s.run("create function f(a int, b int default 10) returns int language sql as 'select a - f.b'").unwrap();
    assert_eq!(s.query("select f(1), f(1, 2), f(b => 5, a => 7), f($$3$$)"), "-9|-1|2|-7");
    s.run("create function v(variadic list text[]) returns text language sql as $$ select list[2] $$")
        .unwrap();
    assert_eq!(s.query("select v('a', 'b'), v(variadic array['c', 'd'])"), "b|d");
    s.run("create function twice(anyelement) returns anyarray language sql as 'select array[$1, $1]'")
        .unwrap();
    assert_eq!(s.query("select twice(1), twice('x'::text)"), "{1,1}|{x,x}");
    s.run("create function f(text) returns text language sql as $$ select 'text' $$").unwrap();
    assert_eq!(s.query("select f('x'::text)"), "text");
    assert_eq!(message(&s, "select f(1, 2, 3)"), "function f(integer, integer, integer) does not exist");
}

#[test]
fn volatile_functions_see_their_own_changes_and_others_change_nothing() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (id int)").unwrap();
    let body = "insert into t values ($1); select count(*)::int from t";
    s.run(&format!("create function grow(int) returns int language sql as '{body}'")).unwrap();
    assert_eq!(s.query("select grow(g) from generate_series(1, 3) g"), "1\n2\n3");
    s.run("create function size() returns int stable language sql as 'select count(*)::int from t'").unwrap();
    assert_eq!(s.query("select grow(4), size()"), "4|3");
    assert_eq!(
        message(&s, "create function g() returns void stable language sql as 'delete from t'"),
        "DELETE is not allowed in a non-volatile function"
    );
    s.run("create procedure add(a int, out b int) language sql as 'insert into t values (a) returning id'")
        .unwrap();
    assert_eq!(s.query("call add(9, null)"), "9");
    assert_eq!(s.query("select count(*) from t"), "5");
    assert_eq!(message(&s, "select add(1)"), "add(integer) is a procedure");
}

#[test]
fn a_body_in_standard_form_depends_on_what_it_uses() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (id int)").unwrap();
    s.run("create function f(a int) returns bigint begin atomic; select count(*) from t where id > a; end")
        .unwrap();
    s.run("create function g(a int) returns int return a * 2").unwrap();
    assert_eq!(s.query("select f(0), g(21)"), "0|42");
    assert_eq!(s.query("select pg_get_function_sqlbody('g'::regproc)"), "RETURN (a * 2)");
    assert_eq!(message(&s, "drop table t"), "cannot drop table t because other objects depend on it");
    s.run("alter table t rename to u; insert into u values (5)").unwrap();
    assert_eq!(s.query("select f(0)"), "1");
    s.run("drop table u cascade").unwrap();
    assert_eq!(message(&s, "select f(0)"), "function f(integer) does not exist");
}

#[test]
fn a_body_that_changes_rows_is_shown_as_it_was_written() {
    let server = Server::new();
    let s = server.connect();
    s.run("create type pair as (a int, b text)").unwrap();
    s.run("create table t (id int primary key, v text default 'd', arr int[], c pair, g int generated always as (id * 2) stored)").unwrap();
    s.run("create table log (at int, note text)").unwrap();
    let body = "begin atomic
        insert into t (id, v) values (f.i, default) on conflict (id) do update set v = excluded.v || '!' where t.id > 0;
        insert into t (id, arr[1], c.b) values (i + 1, 7, 'x'), (i + 2, 8, 'y') on conflict on constraint t_pkey do nothing;
        insert into log (at, note) select x.id, x.v from t x;
        insert into log default values;
        update only t set arr[1] = 1, arr[2] = 2, (v, id) = (select l.note, l.at from log l), g = default from log
          where t.id = log.at;
        delete from log l using t where l.at = t.id and l.note is null;
        with gone as (delete from log returning at) insert into log select at, 'again' from gone;
        merge into t using log l on t.id = l.at
          when matched and l.note = 'x' then update set v = l.note when matched then delete
          when not matched then insert (id, v) values (l.at, default);
        update t set v = 'z' where id = i returning with (old as o) o.id, new.v;
        end";
    s.run(&format!("create function f(i int, out a int, out b text) {body}")).unwrap();
    let shown = s.query("select pg_get_function_sqlbody('f'::regproc)");
    assert_eq!(shown, include_str!("routines_body.sql").trim_end());
    // What it says makes the same function again.
    let definition = s.query("select pg_get_functiondef('f'::regproc)");
    s.run(&definition).unwrap();
    assert_eq!(s.query("select pg_get_function_sqlbody('f'::regproc)"), shown);
    let held = s.run("alter table t drop column arr").err().unwrap();
    assert_eq!(held.report().detail.as_deref(), Some("function f(integer) depends on column arr of table t"));
}

#[test]
fn a_body_follows_the_defaults_and_views_of_its_tables() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (id int, v text default 'old'); create view w as select id as wid, v as wv from t")
        .unwrap();
    s.run(
        "create procedure add(i int) begin atomic insert into t (id) values (i); insert into w (wid) values (-i);
         insert into t values (i * 10, default), (i * 100, 'own'); end",
    )
    .unwrap();
    s.run("create function all_of() returns setof w begin atomic select * from w; end").unwrap();
    s.run("call add(1)").unwrap();
    assert_eq!(s.query("select * from t order by id"), "-1|old\n1|old\n10|old\n100|own");
    s.run("alter table t alter v set default 'new'; alter view w alter wv set default 'of the view'; alter table t rename v to vv")
        .unwrap();
    s.run("delete from t; call add(2)").unwrap();
    assert_eq!(s.query("select * from all_of() order by 1"), "-2|of the view\n2|new\n20|new\n200|own");
    assert_eq!(
        message(
            &s,
            "create function g() returns int begin atomic insert into t (nope) values (1); select 1; end"
        ),
        "column \"nope\" of relation \"t\" does not exist"
    );
}

#[test]
fn indexes_and_checks_depend_on_the_functions_of_their_expressions() {
    let server = Server::new();
    let s = server.connect();
    s.run("create function k(int) returns int immutable language sql as 'select -$1'").unwrap();
    s.run("create table u (a int, check (k(a) <> 0)); create table kid () inherits (u)").unwrap();
    s.run("create index u_k on u (k(a)); create index u_p on u (a) where k(a) > 3").unwrap();
    s.run("create domain dk as int check (k(value) <> 0)").unwrap();
    s.run("create table p (a int) partition by range (a); create table p1 partition of p default").unwrap();
    s.run("create index p_k on p (k(a))").unwrap();
    let error = s.run("drop function k").err().unwrap();
    let dependents = [
        "constraint u_a_check on table u",
        "constraint u_a_check on table kid",
        "index u_k",
        "index u_p",
        "constraint dk_check",
        "index p_k",
    ];
    let mut expected = dependents.map(|object| format!("{object} depends on function k(integer)"));
    expected.sort();
    let mut detail: Vec<String> =
        error.report().detail.as_deref().unwrap_or_default().lines().map(str::to_owned).collect();
    detail.sort();
    assert_eq!(detail, expected);
    s.run("drop function k cascade; insert into u values (0); insert into p values (1)").unwrap();
    assert_eq!(s.query("select count(*) from pg_index i join pg_class c on c.oid = indrelid where relname in ('u', 'p', 'p1')"), "0");
}

#[test]
fn definitions_are_checked_replaced_and_dropped() {
    let server = Server::new();
    let s = server.connect();
    let error = s.run("create function f() returns int language sql as 'select nope'").err().unwrap();
    assert_eq!((error.message(), error.report().position), ("column \"nope\" does not exist", Some(57)));
    let text = s.run("create function f() returns int language sql as $$ select 'x' $$").err().unwrap();
    assert_eq!(text.report().detail.as_deref(), Some("Actual return type is text."));
    s.run("create function f(a int) returns int language sql as 'select 1 / a'").unwrap();
    let other = server.connect();
    assert_eq!(other.query("select f(1)"), "1");
    s.run("create or replace function f(a int) returns int language sql as 'select 2 / a'").unwrap();
    assert_eq!(other.query("select f(1)"), "2");
    let again = "create function f(int) returns int language sql as 'select 1'";
    assert_eq!(message(&s, again), "function \"f\" already exists with same argument types");
    let retyped = "create or replace function f(a int) returns text language sql as 'select 1::text'";
    assert_eq!(message(&s, retyped), "cannot change return type of existing function");
    s.run("create view v as select f(1) as x").unwrap();
    assert_eq!(
        message(&s, "drop function f(int)"),
        "cannot drop function f(integer) because other objects depend on it"
    );
    s.run("alter function f(int) rename to g; alter function g strict immutable set work_mem = '1MB'")
        .unwrap();
    assert_eq!(s.query("select x, g(null) from v"), "2|");
    assert_eq!(
        s.query("select proisstrict, provolatile, proconfig from pg_proc where proname = 'g'"),
        "t|i|{work_mem=1MB}"
    );
    s.run("drop function g cascade").unwrap();
    let gone = s.run("drop function if exists g(int)").unwrap();
    assert_eq!(gone.notices, ["function g(pg_catalog.int4) does not exist, skipping"]);
    let left = "select count(*) from pg_depend where objid >= 16384 or refobjid >= 16384";
    assert_eq!(s.query(left), "0");
}

#[test]
fn settings_of_a_function_end_with_it_and_recursion_ends_in_an_error() {
    let server = Server::new();
    let s = server.connect();
    let shown = "select current_setting('work_mem')";
    s.run(&format!("create function f() returns text set work_mem = '2MB' language sql as $$ {shown} $$"))
        .unwrap();
    assert_eq!(s.query("select f(), current_setting('work_mem')"), "2MB|4MB");
    s.run("create function deep(int) returns int language sql as 'select 1'").unwrap();
    s.run("create or replace function deep(int) returns int language sql as 'select deep($1 + 1) + 1'")
        .unwrap();
    assert_eq!(message(&s, "select deep(1)"), "stack depth limit exceeded");
    assert_eq!(s.query("select 1"), "1");
}

#[test]
fn operators_and_casts_call_functions() {
    let server = Server::new();
    let s = server.connect();
    s.run("create function far(int, int) returns bool immutable language sql as 'select abs($1 - $2) > 10'")
        .unwrap();
    s.run("create operator <<-> (leftarg = int, rightarg = int, function = far, commutator = <<->)").unwrap();
    assert_eq!(s.query("select 1 <<-> 20, 1 <<-> 5, 30 <<-> any (array[25, 2])"), "t|f|t");
    assert_eq!(s.query("select oprcom = oid from pg_operator where oprname = '<<->'"), "t");
    let again = "create operator <<-> (leftarg = int, rightarg = int, function = far)";
    assert_eq!(message(&s, again), "operator <<-> already exists");
    assert_eq!(
        message(&s, "drop function far"),
        "cannot drop function far(integer,integer) because other objects depend on it"
    );
    s.run("create type mood as enum ('sad', 'ok')").unwrap();
    s.run("create function rank_of(mood) returns int language sql as $$ select case $1 when 'ok' then 1 else 0 end $$")
        .unwrap();
    assert_eq!(message(&s, "select 'ok'::mood::int"), "cannot cast type mood to integer");
    s.run("create cast (mood as int) with function rank_of(mood) as assignment").unwrap();
    assert_eq!(s.query("select 'ok'::mood::int, 'ok'::mood::int + 1"), "1|2");
    s.run("drop cast (mood as int); drop operator <<-> (int, int)").unwrap();
    assert_eq!(message(&s, "select 1 <<-> 2"), "operator does not exist: integer <<-> integer");
    let gone = s.run("drop cast if exists (mood as int); drop operator if exists <<-> (int, int)").unwrap();
    assert_eq!(gone.notices.len(), 2);
}

#[test]
fn an_index_is_built_by_a_function_that_reads() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (a int); insert into t select generate_series(1, 3)").unwrap();
    s.run("create function twice(int) returns int language sql immutable as 'select $1 * 2'").unwrap();
    s.run("create function large(int) returns bool language sql immutable as 'select $1 > 1'").unwrap();
    s.run("create index i on t (twice(a)) where large(a); analyze t").unwrap();
    s.run("set enable_seqscan = off").unwrap();
    assert_eq!(s.query("select a from t where twice(a) = 6 and large(a)"), "3");
}
