//! Functions in PL/pgSQL, through whole sessions.

use crate::support::{Client, Server};

fn server() -> Server {
    let server = Server::new();
    server.instance().languages().register(vec![plpgsql::language()]);
    server
}

fn function(s: &Client, head: &str, body: &str) {
    s.run(&format!("create function {head} language plpgsql as $${body}$$")).unwrap();
}

fn failure(s: &Client, sql: &str) -> (String, String) {
    let error = s.run(sql).err().unwrap_or_else(|| panic!("{sql}: no error"));
    (error.message().to_owned(), error.report().context.clone().unwrap_or_default())
}

#[test]
fn control_flows_through_loops_and_branches() {
    let server = server();
    let s = server.connect();
    let body = "declare s int := 0; begin
        <<out>> for i in 1..10 loop
          for j in reverse 3..1 loop
            continue out when j = 2 and i % 2 = 0; s := s + i * j; exit out when s > 100;
          end loop;
        end loop;
        case when s > 100 then return s; else return -s; end case; end";
    function(&s, "f() returns int", body);
    assert_eq!(s.query("select f()"), "111");
    function(
        &s,
        "fact(n int) returns numeric",
        "begin if n <= 1 then return 1; end if; return n * fact(n - 1); end",
    );
    assert_eq!(s.query("select fact(20)"), "2432902008176640000");
    let body = "declare x int; t int := 0; a int[] := '{1,2,3}'; begin a[2] := 20; foreach x in array a loop t := t + x; end loop; return t; end";
    function(&s, "sum_array() returns int", body);
    assert_eq!(s.query("select sum_array()"), "24");
    let (message, context) = {
        function(&s, "falls() returns int", "begin null; end");
        failure(&s, "select falls()")
    };
    assert_eq!(message, "control reached end of function without RETURN");
    assert_eq!(context, "PL/pgSQL function falls()");
}

#[test]
fn queries_fill_variables_and_results() {
    let server = server();
    let s = server.connect();
    s.run("create table t (id int primary key, v text); insert into t values (1, 'a'), (2, 'b')").unwrap();
    let body = "declare r t%rowtype; w t.v%type; n int; begin
        select * into strict r from t where t.id = get.id; w := r.v || '!';
        execute 'select count(*) from t where id >= $1' into n using id; return w || n; end";
    function(&s, "get(id int) returns text", body);
    assert_eq!(s.query("select get(1), get(2)"), "a!2|b!1");
    let (message, context) = failure(&s, "select get(3)");
    assert_eq!(message, "query returned no rows");
    assert_eq!(context, "PL/pgSQL function get(integer) line 2 at SQL statement");
    let body = "declare r record; begin for r in select * from t loop return next r; end loop;
        return query select 9, 'z'::text; end";
    function(&s, "rows() returns setof t", body);
    assert_eq!(s.query("select * from rows()"), "1|a\n2|b\n9|z");
    function(&s, "outs(out a int, out b text)", "begin a := 1; b := 'x'; end");
    assert_eq!(s.query("select * from outs()"), "1|x");
    function(&s, "amb(id int) returns int", "begin return (select id from t limit 1); end");
    assert_eq!(failure(&s, "select amb(1)").0, "column reference \"id\" is ambiguous");
    let body = "declare c cursor (low int) for select id from t where id >= low; x int; n int := 0; begin
        open c(2); fetch c into x; close c; for r in c(1) loop n := n + r.id; end loop; return x * 10 + n; end";
    function(&s, "cur() returns int", body);
    assert_eq!(s.query("select cur()"), "23");
}

#[test]
fn handlers_undo_what_their_block_did() {
    let server = server();
    let s = server.connect();
    s.run("create table t (id int primary key)").unwrap();
    let body = "declare state text; begin
        insert into t values (n);
        begin
          insert into t values (n + 1); insert into t values (n);
        exception when unique_violation then get stacked diagnostics state = returned_sqlstate;
        end;
        return state; end";
    function(&s, "twice(n int) returns text", body);
    assert_eq!(s.query("select twice(1), twice(5)"), "23505|23505");
    assert_eq!(s.query("select id from t order by id"), "1\n5");
    let body = "begin perform 1 / 0; exception when division_by_zero then raise notice 'caught %', sqlerrm; raise; end";
    function(&s, "again() returns void", body);
    let (message, context) = failure(&s, "select again()");
    assert_eq!(message, "division by zero");
    assert_eq!(context, "SQL statement \"SELECT 1 / 0\"\nPL/pgSQL function again() line 1 at PERFORM");
    function(
        &s,
        "raises() returns int",
        "begin raise exception 'bad %', 7 using errcode = 'P7777', hint = 'h'; end",
    );
    let error = s.run("select raises()").err().unwrap();
    assert_eq!(
        (error.message(), error.code().as_str(), error.report().hint.as_deref()),
        ("bad 7", "P7777", Some("h"))
    );
}

#[test]
fn procedures_end_transactions_and_blocks_run_alone() {
    let server = server();
    let s = server.connect();
    s.run("create table t (id int)").unwrap();
    let body = "begin for i in 1..4 loop insert into t values (i); if i % 2 = 0 then commit; else rollback; end if; end loop; end";
    s.run(&format!("create procedure p() language plpgsql as $${body}$$")).unwrap();
    s.run("call p()").unwrap();
    assert_eq!(s.query("select id from t order by id"), "2\n4");
    assert_eq!(failure(&s, "begin; call p()").0, "invalid transaction termination");
    s.run("rollback").unwrap();
    s.run("create procedure add(a int, inout b int) language plpgsql as 'begin b := a + b; end'").unwrap();
    let told =
        s.run("do $$ declare z int := 5; begin call add(10, z); raise notice 'z=%', z; end $$").unwrap();
    assert_eq!(told.notices, ["z=15"]);
    assert_eq!(s.query("call add(1, 2)"), "3");
}

#[test]
fn procedures_that_are_bound_to_their_transaction_do_not_end_it() {
    let server = server();
    let s = server.connect();
    let make = |name: &str, how: &str, body: &str| {
        let definition =
            format!("create procedure {name}() language plpgsql {how} as $p$begin {body}; end$p$");
        s.run(&definition).unwrap();
    };
    make("ends", "", "commit");
    make("as_owner", "security definer", "commit");
    make("with_setting", "set work_mem = '5MB'", "rollback");
    make("calls_as_owner", "security definer", "call ends()");
    make("calls_with_setting", "set work_mem = '5MB'", "call ends()");
    make("calls_owner", "", "call as_owner()");
    make("executes_call", "", "execute 'call ends()'");
    make("executes_do", "", "execute $x$do 'begin commit; end'$x$");
    make("runs_do", "", "do 'begin commit; end'");
    let bound = [
        "as_owner",
        "with_setting",
        "calls_as_owner",
        "calls_with_setting",
        "calls_owner",
        "executes_call",
        "executes_do",
    ];
    for name in bound {
        let error = s.run(&format!("call {name}()")).err().unwrap();
        assert_eq!(error.code().as_str(), "2D000", "{name}");
        assert_eq!(error.message(), "invalid transaction termination", "{name}");
    }
    s.run("call ends()").unwrap();
    s.run("call runs_do()").unwrap();
}

#[test]
fn loops_over_changes_do_not_end_the_transaction() {
    let server = server();
    let s = server.connect();
    s.run("create table t (a int)").unwrap();
    s.run("insert into t values (1), (2)").unwrap();
    s.run("create procedure ends() language plpgsql as 'begin commit; end'").unwrap();
    let looping = |query: &str, body: &str| {
        s.run(&format!("do $$ declare r record; begin for r in {query} loop {body}; end loop; end $$"))
    };
    let changes = [
        "update t set a = a + 1 returning a",
        "insert into t values (3) returning a",
        "delete from t returning a",
        "execute 'update t set a = a + 1 returning a'",
        "with w as (update t set a = a + 1 returning a) select a from w",
        "explain select 1",
    ];
    for query in changes {
        for body in ["commit", "rollback", "call ends()", "for r in select 1 loop commit; end loop"] {
            let error = looping(query, body).err().unwrap();
            assert_eq!(error.code().as_str(), "55000", "{query}: {body}");
            let message = "cannot perform transaction commands inside a cursor loop that is not read-only";
            assert_eq!(error.message(), message);
        }
    }
    for query in
        ["select a from t", "select a from t for update", "execute 'select a from t'", "values (1), (2)"]
    {
        looping(query, "commit").unwrap();
        looping(query, "rollback").unwrap();
    }
    looping("update t set a = a + 1 returning a", "null; end loop; commit; for r in select 1 loop null")
        .unwrap();
    assert_eq!(s.query("select count(*), sum(a) from t"), "2|5");
}

#[test]
fn mistakes_are_found_when_a_function_is_made() {
    let server = server();
    let s = server.connect();
    let made = |body: &str| {
        let error = s.run(&format!("create function f() returns int language plpgsql as '{body}'")).err();
        error.map(|e| e.message().to_owned()).unwrap_or_default()
    };
    assert_eq!(made("begin retrn 1; end"), "syntax error at or near \"retrn\"");
    assert_eq!(made("begin return 1 + ; end"), "syntax error at end of input");
    assert_eq!(made("begin x := 1; end"), "\"x\" is not a known variable");
    assert_eq!(made("begin exit; end"), "EXIT cannot be used outside a loop, unless it has a label");
    assert_eq!(made("begin if true then return 1; end"), "syntax error at end of input");
    assert_eq!(made("begin return next 1; end"), "cannot use RETURN NEXT in a non-SETOF function");
    assert_eq!(made("begin raise notice ''%''; end"), "too few parameters specified for RAISE");
    s.run("create function g() returns int language plpgsql as 'begin loop end loop; end'").unwrap();
    s.run("set statement_timeout = 50").unwrap();
    assert_eq!(failure(&s, "select nosuch()").0, "function nosuch() does not exist");
}

#[test]
fn utility_statements_give_rows_too() {
    let server = server();
    let s = server.connect();
    function(
        &s,
        "plan(q text) returns setof text",
        "declare line text; begin for line in execute 'explain (costs off) ' || q loop return next line; end loop;
         for line in explain (costs off) select 2 where false loop return next line; end loop; end",
    );
    assert_eq!(s.query("select plan('select 1')"), "Result\nResult\n  One-Time Filter: false");
    function(
        &s,
        "setting() returns text",
        "declare x text; begin execute 'show standard_conforming_strings' into x; return x; end",
    );
    assert_eq!(s.query("select setting()"), "on");
    function(&s, "lost() returns void", "begin explain select 1; end");
    assert_eq!(failure(&s, "select lost()").0, "query has no destination for result data");
    // Statements of functions choose their plans by the values of variables.
    s.run("create table t (g int); insert into t select case when i < 1900 then 1 else i end from generate_series(1, 2000) i; create index on t (g)").unwrap();
    s.run("vacuum analyze t").unwrap();
    function(&s, "n(x int) returns bigint", "begin return (select count(*) from t where g = x); end");
    for _ in 0..7 {
        assert_eq!(s.query("select n(1), n(1950), n(null)"), "1899|1|0");
    }
}

#[test]
fn changes_hit_the_row_of_a_cursor_variable() {
    let server = server();
    let s = server.connect();
    s.run("create table t (a int, b text); insert into t select g, 'r' || g from generate_series(1, 5) g")
        .unwrap();
    let body = "declare c cursor for select * from t for update; r record; n refcursor := 'named'; begin
        for r in c loop
            if r.a % 2 = 0 then update t set b = 'even' where current of c;
            elsif r.a = 3 then delete from t where current of c; end if;
        end loop;
        open n for select * from t where a = 5; fetch n into r; update t set b = 'named' where current of n; end";
    function(&s, "f() returns void", body);
    s.run("select f()").unwrap();
    assert_eq!(s.query("select * from t order by a"), "1|r1\n2|even\n4|even\n5|named");
    function(&s, "g(c refcursor) returns void", "begin delete from t where current of c; end");
    assert_eq!(failure(&s, "select g('none')").0, "cursor \"none\" does not exist");
    assert_eq!(failure(&s, "select g(null)").0, "no value found for parameter 1");
}

#[test]
fn what_is_more_than_one_transaction_is_no_part_of_a_function() {
    let server = server();
    let s = server.connect();
    s.run("create table t (a int)").unwrap();
    for (sql, command) in
        [("vacuum t", "VACUUM"), ("create index concurrently on t (a)", "CREATE INDEX CONCURRENTLY")]
    {
        let (message, context) = failure(&s, &format!("do $$ begin {sql}; end $$"));
        assert_eq!(message, format!("{command} cannot be executed from a function"));
        assert!(context.starts_with(&format!("SQL statement \"{sql}\"")), "{context}");
        s.run(sql).unwrap();
    }
}

#[test]
fn row_count_and_found_are_of_the_statement_itself() {
    let server = server();
    let s = server.connect();
    s.run("create table t (a int primary key, b int)").unwrap();
    s.run("insert into t select g, 0 from generate_series(1, 4) g").unwrap();
    let with = "with x as (update t set b = b + 1 returning *)";
    let cases = [
        (format!("{with} update t set b = 2 where a = 0"), "0 f"),
        (format!("{with} insert into t select 5, 5 from x where a = 1"), "1 t"),
        (format!("{with} select a into n from x where a > 2"), "1 t"),
        (format!("{with} select a into n from x where a > 5"), "0 f"),
        // EXECUTE runs to the end, and leaves FOUND alone.
        ("execute 'select a from t' into n".to_owned(), "5 f"),
        ("execute 'select a from t where a = 3' into strict n".to_owned(), "1 f"),
        ("execute 'update t set b = b + 1 returning a' into n".to_owned(), "5 f"),
        ("explain (costs off) select a from t order by b into w".to_owned(), "3 f"),
    ];
    for (statement, counted) in cases {
        let body = format!(
            "declare n int; w text; rows int; begin
             {statement}; get diagnostics rows = row_count; raise notice '% %', rows, found; end"
        );
        assert_eq!(s.run(&format!("do $do${body}$do$")).unwrap().notices, [counted], "{statement}");
    }
}

#[test]
fn what_needs_a_block_runs_in_a_function() {
    let server = server();
    let s = server.connect();
    let alone = |command: &str| format!("{command} can only be used in transaction blocks");
    s.run("create table t (a int primary key deferrable)").unwrap();
    for (sql, command) in [
        ("set local work_mem = '8MB'", "SET LOCAL"),
        ("set transaction read only", "SET TRANSACTION"),
        ("set constraints all deferred", "SET CONSTRAINTS"),
        ("set constraints t_pkey immediate", "SET CONSTRAINTS"),
    ] {
        assert_eq!(s.run(sql).unwrap().notices, [alone(command)], "{sql}");
        for within in [format!("do $$ begin {sql}; end $$"), format!("begin; {sql}; commit")] {
            assert_eq!(s.run(&within).unwrap().notices, [""; 0], "{within}");
        }
    }
    for (sql, command) in
        [("lock table t", "LOCK TABLE"), ("declare c cursor for select 1", "DECLARE CURSOR")]
    {
        assert_eq!(s.query(sql), format!("ERROR:  {}", alone(command)));
        assert_eq!(s.query(&format!("do $$ begin execute '{sql}'; end $$")), "");
    }
}

#[test]
fn return_query_takes_rows_of_the_functions_type_only() {
    let server = server();
    let s = server.connect();
    s.run("create table t (a int); insert into t values (1), (0)").unwrap();
    let mismatch = |of: &str, body: &str| {
        let body = format!("begin return query {body}; end");
        function(&s, &format!("f() returns {of}"), &body);
        let error = s.run("select * from f()").err().unwrap();
        s.run("drop function f").unwrap();
        assert_eq!(error.message(), "structure of query does not match function result type");
        let context = error.report().context.clone().unwrap_or_default();
        assert!(context.starts_with("SQL statement \"") && context.ends_with("at RETURN QUERY"), "{context}");
        error.report().detail.clone().unwrap_or_default()
    };
    assert_eq!(
        mismatch("setof int", "select 1::bigint where false"),
        "Returned type bigint does not match expected type integer in column \"\" (position 1)."
    );
    assert_eq!(
        mismatch("table (x int, y text)", "execute 'select 1, 2, 3'"),
        "Returned type integer does not match expected type text in column \"y\" (position 2)."
    );
    assert_eq!(
        mismatch("setof int", "select 1, 2"),
        "Number of returned columns (2) does not match expected column count (1)."
    );
    function(
        &s,
        "g() returns setof int",
        "declare r t; begin for r in select 1 / a as a from t loop return next r.a; end loop; end",
    );
    let failed = failure(&s, "select * from g()");
    assert_eq!(failed.1, "PL/pgSQL function g() line 1 at FOR over SELECT rows");
    function(&s, "h() returns record", "begin return (1, 2); end");
    let failed = failure(&s, "select * from h() as x(a int, b text)");
    assert_eq!(failed.1, "PL/pgSQL function h() while casting return value to function's return type");
    function(&s, "i() returns t", "begin return 1; end");
    let failed = failure(&s, "select i()");
    assert_eq!(failed.1, "PL/pgSQL function i() line 1 at RETURN");
}

#[test]
fn the_language_is_an_extension() {
    let server = Server::new();
    server.instance().languages().register(vec![plpgsql::language()]);
    server.instance().modules().register(vec![&plpgsql::MODULE]);
    let s = server.connect();
    s.run("create function f() returns int language plpgsql as 'begin return 1; end'").unwrap();
    let error = s.run("drop extension plpgsql").err().expect("in use");
    assert_eq!(error.report().detail.as_deref(), Some("function f() depends on language plpgsql"));
    s.run("drop extension plpgsql cascade").unwrap();
    let error = s.run("do 'begin null; end'").err().expect("gone");
    assert_eq!(error.message(), "language \"plpgsql\" does not exist");
    s.run(
        "create extension plpgsql; create function f() returns int language plpgsql as 'begin return 2; end'",
    )
    .unwrap();
    assert_eq!(s.query("select f()"), "2");
    let members = "select count(*) from pg_depend where deptype = 'e'";
    assert_eq!(s.query(members), "4");
}

/// Variables that hide others are told of when a function is made; what INTO takes, when it runs. A session that ends with its first error
/// catches none.
#[test]
fn dubious_programming_is_told() {
    let server = server();
    let session = server.connect();
    session.query("set plpgsql.extra_warnings = 'shadowed_variables'");
    let shadow = "create or replace function f(a int) returns int language plpgsql as $$ declare a int; begin return a; end $$";
    let told = session.run(shadow).unwrap();
    assert_eq!(told.notices, ["variable \"a\" shadows a previously defined variable"]);
    session.query("set plpgsql.extra_errors = 'all'");
    assert_eq!(session.query(shadow), "ERROR:  variable \"a\" shadows a previously defined variable");
    assert_eq!(session.query("select f(1)"), "");
    for (row, error) in [
        ("1 as a, 2 as b", "number of source and target fields in assignment does not match"),
        ("g from generate_series(1, 2) g", "query returned more than one row"),
    ] {
        let text = format!("do 'declare a int; begin select {row} into a; end'");
        assert_eq!(session.query(&text), format!("ERROR:  {error}"));
    }
    assert_eq!(session.query("do 'declare a int; b int; begin select 1, 2 into a, b; end'"), "");
    session.query("reset plpgsql.extra_errors");
    let bad = "set plpgsql.extra_errors = 'none, too_many_rows'";
    assert_eq!(
        session.query(bad),
        "ERROR:  invalid value for parameter \"plpgsql.extra_errors\": \"none, too_many_rows\""
    );
    let caught = "do 'begin perform 1 / 0; exception when others then null; end'";
    assert_eq!(session.query(caught), "");
    session.query("set exit_on_error = on");
    assert_eq!(session.query(caught), "ERROR:  division by zero");
}
