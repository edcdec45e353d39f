//! Aggregates of users, through whole sessions.

use crate::support::{Client, Server};

fn message(s: &Client, sql: &str) -> String {
    s.run(sql).err().map_or_else(|| format!("{sql}: no error"), |e| e.message().to_owned())
}

/// `joined(text)`: values with commas between them; `joined_strict` starts with its first value.
fn joined(s: &Client) {
    s.run(
        "create function joined_step(text, text) returns text language sql
         as 'select coalesce($1 || '','', '''') || coalesce($2, ''null'')'",
    )
    .unwrap();
    s.run("create function strict_step(text, text) returns text strict language sql as 'select $1 || ''+'' || $2'")
        .unwrap();
    s.run(
        "create function bracketed(text) returns text strict language sql as 'select ''['' || $1 || '']'''",
    )
    .unwrap();
    s.run("create aggregate joined(text) (sfunc = joined_step, stype = text, finalfunc = bracketed)")
        .unwrap();
    s.run("create aggregate joined_strict(text) (sfunc = strict_step, stype = text)").unwrap();
}

#[test]
fn functions_of_users_make_aggregates() {
    let server = Server::new();
    let s = server.connect();
    joined(&s);
    s.run("create table t (g int, x text)").unwrap();
    s.run("insert into t values (1, 'b'), (1, 'a'), (2, null), (2, 'c'), (1, 'a')").unwrap();
    assert_eq!(
        s.query("select joined(x order by x), joined_strict(x order by x) from t"),
        "[a,a,b,c,null]|a+a+b+c"
    );
    assert_eq!(
        s.query(
            "select g, joined(distinct x), joined(x) filter (where x > 'a') from t group by g order by g"
        ),
        "1|[a,b]|[b]\n2|[c,null]|[c]"
    );
    assert_eq!(s.query("select joined(x), joined_strict(x) is null from t where false"), "|t");
    assert_eq!(
        s.query("select joined(x) over (order by x rows between 1 preceding and current row) from t where x is not null"),
        "[a]\n[a,a]\n[a,b]\n[b,c]"
    );
    s.run("create aggregate counted(*) (sfunc = int8inc, stype = int8, initcond = 5)").unwrap();
    assert_eq!(s.query("select counted(*) from t"), "10");
    assert_eq!(
        message(&s, "select counted() from t"),
        "counted(*) must be used to call a parameterless aggregate function"
    );
}

#[test]
fn polymorphic_states_follow_the_arguments() {
    let server = Server::new();
    let s = server.connect();
    s.run("create aggregate gathered(anycompatible) (sfunc = array_append, stype = anycompatiblearray, initcond = '{}')")
        .unwrap();
    assert_eq!(
        s.query(
            "select gathered(g), pg_typeof(gathered(g)), gathered('x' || g) from generate_series(1, 2) g"
        ),
        "{1,2}|integer[]|{x1,x2}"
    );
    s.run(
        "create function least_of(anyelement, variadic anyarray) returns anyelement language sql
           as 'select least($1, min($2[i])) from generate_subscripts($2, 1) i'",
    )
    .unwrap();
    s.run("create aggregate least_agg(variadic anyarray) (sfunc = least_of, stype = anyelement)").unwrap();
    assert_eq!(
        s.query("select least_agg(g, 10 - g), least_agg(variadic array[g, -g]) from generate_series(3, 5) g"),
        "3|-5"
    );
}

#[test]
fn ordered_sets_call_their_final_function_with_direct_arguments() {
    let server = Server::new();
    let s = server.connect();
    s.run("create function sum_step(int, int) returns int language sql as 'select coalesce($1, 0) + $2'")
        .unwrap();
    s.run("create function scaled(int, int, int) returns int language sql as 'select $1 * $2 + coalesce($3, 7)'").unwrap();
    s.run(
        "create aggregate scaled_sum(int order by int)
           (sfunc = sum_step, stype = int, finalfunc = scaled, finalfunc_extra)",
    )
    .unwrap();
    assert_eq!(s.query("select scaled_sum(10) within group (order by g) from generate_series(1, 3) g"), "67");
    s.run("create aggregate my_rank(variadic \"any\" order by variadic \"any\")
           (sfunc = ordered_set_transition_multi, stype = internal, finalfunc = rank_final, finalfunc_extra, hypothetical)")
        .unwrap();
    assert_eq!(s.query("select my_rank(3) within group (order by g) from generate_series(1, 5) g"), "3");
    assert_eq!(
        s.query("select pg_get_function_arguments('my_rank'::regproc), pg_get_function_arguments('scaled_sum'::regproc)"),
        "VARIADIC \"any\" ORDER BY VARIADIC \"any\"|integer ORDER BY integer"
    );
}

#[test]
fn moving_frames_take_rows_back() {
    let server = Server::new();
    let s = server.connect();
    s.run("create function log_add(text, int) returns text language sql as 'select coalesce($1, '''') || ''+'' || $2'").unwrap();
    s.run("create function log_sub(text, int) returns text language sql as 'select $1 || ''-'' || $2'")
        .unwrap();
    s.run("create aggregate logged(int) (sfunc = log_add, stype = text, msfunc = log_add, minvfunc = log_sub, mstype = text)").unwrap();
    let frame = "over (order by g rows between 1 preceding and current row)";
    assert_eq!(
        s.query(&format!("select logged(g) {frame} from generate_series(1, 4) g")),
        "+1\n+1+2\n+1+2-1+3\n+1+2-1+3-2+4"
    );
    assert_eq!(
        s.query("select logged(g) over (order by g rows unbounded preceding) from generate_series(1, 2) g"),
        "+1\n+1+2"
    );
    assert_eq!(
        s.query("select logged(g) over (order by g rows between 2 following and 2 following) from generate_series(1, 4) g"),
        "+3\n+4\n\n"
    );
}

#[test]
fn definitions_are_checked() {
    let server = Server::new();
    let s = server.connect();
    joined(&s);
    let refused = [
        ("create aggregate a(int) (stype = int)", "aggregate sfunc must be specified"),
        ("create aggregate a(int) (sfunc = int4pl)", "aggregate stype must be specified"),
        ("create aggregate a (sfunc = int4pl, stype = int)", "aggregate input type must be specified"),
        (
            "create aggregate a(int) (sfunc = int4pl, stype = int8)",
            "function int4pl(bigint, integer) does not exist",
        ),
        (
            "create aggregate a(text) (sfunc = int4pl, stype = int)",
            "function int4pl(integer, text) does not exist",
        ),
        (
            "create aggregate a(int) (sfunc = int4pl, stype = int, finalfunc = numeric_in)",
            "function numeric_in(integer) does not exist",
        ),
        (
            "create aggregate a(int) (sfunc = int48pl, stype = int)",
            "function int48pl(integer, bigint) requires run-time type coercion",
        ),
        (
            "create aggregate a(int) (sfunc = int4pl, stype = anyarray)",
            "cannot determine transition data type",
        ),
        (
            "create aggregate a(int) (sfunc = int4pl, stype = int, initcond = 'x')",
            "invalid input syntax for type integer: \"x\"",
        ),
        (
            "create aggregate a(int, int) (sfunc = int4pl, stype = int, sortop = >)",
            "function int4pl(integer, integer, integer) does not exist",
        ),
        (
            "create aggregate a(int) (sfunc = int4pl, stype = int, parallel = maybe)",
            "parameter \"parallel\" must be SAFE, RESTRICTED, or UNSAFE",
        ),
        (
            "create aggregate a(int) (sfunc = int4pl, stype = int, msfunc = int4pl)",
            "aggregate msfunc must not be specified without mstype",
        ),
        (
            "create aggregate joined(text) (sfunc = joined_step, stype = text)",
            "function \"joined\" already exists with same argument types",
        ),
    ];
    for (sql, wanted) in refused {
        assert_eq!(message(&s, sql), wanted, "{sql}");
    }
    assert_eq!(
        message(&s, "drop function joined_step(text, text)"),
        "cannot drop function joined_step(text,text) because other objects depend on it"
    );
    assert_eq!(message(&s, "drop function joined(text)"), "\"joined\" is an aggregate function");
    s.run("alter aggregate joined(text) rename to listed").unwrap();
    s.run("comment on aggregate listed(text) is 'a list'").unwrap();
    assert_eq!(
        s.query(
            "select aggfnoid, aggtransfn, aggfinalfn, prokind, obj_description(p.oid, 'pg_proc')
                 from pg_aggregate join pg_proc p on p.oid = aggfnoid where proname = 'listed'"
        ),
        "listed|joined_step|bracketed|a|a list"
    );
    s.run("create or replace aggregate listed(text) (sfunc = strict_step, stype = text, initcond = '>')")
        .unwrap();
    assert_eq!(s.query("select listed(g::text) from generate_series(1, 2) g"), ">+1+2");
    s.run("drop aggregate listed(text)").unwrap();
    assert_eq!(message(&s, "select listed('a')"), "function listed(unknown) does not exist");
    assert_eq!(s.query("select count(*) from pg_aggregate where aggfnoid >= 16384"), "1");
}
