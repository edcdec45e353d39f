//! Calls of functions, counted.

use crate::support::Server;

#[test]
fn calls_of_functions_are_counted_when_that_is_wanted() {
    let server = Server::new();
    server.instance().languages().register(vec![plpgsql::language()]);
    let s = server.connect();
    s.run(
        "create function f(n int) returns int language plpgsql as
           'begin if n > 0 then return f(n - 1); end if; perform pg_sleep(0.002); return 0; end'",
    )
    .unwrap();
    s.run("create function g() returns int language sql volatile set work_mem = '1MB' as 'select f(1)'")
        .unwrap();
    s.run("select f(1)").unwrap();
    assert_eq!(s.query("select count(*) from pg_stat_user_functions"), "0");
    s.run("set track_functions = pl; begin; select g()").unwrap();
    let mine = "select funcname, calls, total_time >= self_time from pg_stat_xact_user_functions order by 1";
    assert_eq!(s.query(mine), "f|2|t");
    s.run("commit; set track_functions = 'all'; select g()").unwrap();
    let all = "select funcname, calls from pg_stat_user_functions order by 1";
    assert_eq!(s.query(all), "f|4\ng|1");
    // Calls of a function by itself count once for its time.
    let times = "select total_time < 2 * self_time and self_time >= 4 from pg_stat_user_functions where funcname = 'f'";
    assert_eq!(s.query(times), "t");
    assert_eq!(
        s.query("select self_time < total_time from pg_stat_user_functions where funcname = 'g'"),
        "t"
    );
    s.run("select pg_stat_reset_single_function_counters('g'::regproc)").unwrap();
    assert_eq!(s.query(all), "f|4\ng|0");
    s.run("drop function g").unwrap();
    assert_eq!(s.query(all), "f|4");
}
