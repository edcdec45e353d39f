//! Expressions without a statement of their own, arrays that change in place, and functions in SQL whose bodies stand in place of calls. The answers are
//! PostgreSQL's.

use crate::support::Server;

const STEPS: &[(&str, &str)] = &[
    ("create function add(x int) returns int language plpgsql as $$ begin return x + 1; end $$", ""),
    (
        "create function twice() returns text language plpgsql as $$ declare s int := 0; begin for i in 1..2 loop s := add(s); if i = 1 then create or replace function add(x int) returns int language plpgsql as 'begin return x + 100; end'; end if; end loop; return s::text; end $$",
        "",
    ),
    ("select twice(), twice()", "101|200"),
    ("create schema one", ""),
    ("create schema two", ""),
    ("create function one.which() returns text language sql as $$ select 'one' $$", ""),
    ("create function two.which() returns text language plpgsql as $$ begin return 'two'; end $$", ""),
    (
        "create function paths() returns text language plpgsql as $$ declare t text := ''; begin foreach t slice 0 in array array['one', 'two', 'one'] loop perform set_config('search_path', t || ', public', true); raise notice '%', which(); end loop; perform set_config('search_path', 'public', true); return which(); exception when undefined_function then return sqlerrm; end $$",
        "",
    ),
    ("select paths()", "function which() does not exist"),
    ("create table seen (n int)", ""),
    (
        "create function note(n int) returns int language plpgsql as $$ begin insert into seen values (n); return n; end $$",
        "",
    ),
    ("create function noted() returns int language sql volatile as $$ select count(*)::int from seen $$", ""),
    (
        "create function notes() returns text language plpgsql as $$ declare a int; b text := ''; begin for i in 1..3 loop a := note(i); b := b || noted() || '/' || (select count(*) from seen) || ' '; end loop; return b; end $$",
        "",
    ),
    ("select notes()", "1/1 2/2 3/3 "),
    ("create function imm() returns int language sql immutable as $$ select count(*)::int from seen $$", ""),
    (
        "create function arrays() returns text language plpgsql as $$ declare a int[]; b int[]; c text[] := '{x}'; m int[] := '{{1,2},{3,4}}'; n int; begin for i in 1..5 loop a[i] := i * i; if i > 1 then a[i - 1] := a[i - 1] + a[i]; end if; end loop; b := a; a[1] := -1; b := b || 7; b[9] := b[1]; c[3] := 'z'; c := c || 'w'::text; c[0] := c[3] || c[4]; m[2][1] := m[1][2] + m[2][2]; n := m[2][1]; return concat_ws(' ', a, b, c, m, n, a[2], a[7], array_length(a, 1), cardinality(b), a = b, a[2:3]); end $$",
        "",
    ),
    (
        "select arrays()",
        "{-1,13,25,41,25} {5,13,25,41,25,7,NULL,NULL,5} [0:4]={zw,x,NULL,z,w} {{1,2},{6,4}} 6 13 5 9 f {13,25}",
    ),
    (
        "create function wrong(kind int) returns text language plpgsql as $$ declare a int[] := '{1,2}'; m int[] := '{{1,2},{3,4}}'; n int; e text; begin begin case kind when 1 then a[n] := 1; when 2 then m[5][1] := 1; when 3 then m[1] := 1; when 4 then a[1] := 1 / 0; when 5 then a[1] := a; when 6 then m := m || 1; else a := a || null::int; end case; exception when others then e := sqlstate || ' ' || sqlerrm; end; return concat_ws(' ', e, a, m); end $$",
        "",
    ),
    (
        "select k, wrong(k) from generate_series(1, 7) k where k <> 5",
        "1|22004 array subscript in assignment must not be null {1,2} {{1,2},{3,4}}\n2|2202E array subscript out of range {1,2} {{1,2},{3,4}}\n3|2202E wrong number of array subscripts {1,2} {{1,2},{3,4}}\n4|22012 division by zero {1,2} {{1,2},{3,4}}\n6|22000 argument must be empty or one-dimensional array {1,2} {{1,2},{3,4}}\n7|{1,2,NULL} {{1,2},{3,4}}",
    ),
    (
        "create function changed(a int[]) returns int[] language plpgsql as $$ begin a[1] := 100; return a; end $$",
        "",
    ),
    (
        "create function kept() returns text language plpgsql as $$ declare a int[] := '{1,2,3}'; b int[]; r record; begin a[2] := 20; b := changed(a); r := row(a, b); a[3] := (select max(x) from unnest(a) x); select a || b into b; a := null; a[2] := 1; return concat_ws(' ', a, b, r); end $$",
        "",
    ),
    ("select kept()", "[2:2]={1} {1,20,20,100,20,3} (\"{1,20,3}\",\"{100,20,3}\")"),
    ("create domain positive as int check (value > 0)", ""),
    (
        "create function domains(n int) returns text language plpgsql as $$ declare p positive := 1; v varchar(3); k constant int := 2; o int not null := 0; begin v := 'abc'; p := n; o := nullif(n, 7); return p || v || k || o; exception when others then return sqlstate || ' ' || sqlerrm; end $$",
        "",
    ),
    (
        "select domains(3), domains(-1), domains(7)",
        "3abc23|23514 value for domain positive violates check constraint \"positive_check\"|22004 null value cannot be assigned to variable \"o\" declared NOT NULL",
    ),
    (
        "create function shapes() returns text language plpgsql as $$ declare r record; t text := ''; begin for i in 1..4 loop if i % 2 = 1 then r := row(i, 'a'::text); else select i * 1.5 as x, true as y into r; end if; if i % 2 = 1 then t := t || r.f1 || r.f2; else t := t || r.x || ' ' || r.y; end if; end loop; return t; end $$",
        "",
    ),
    ("select shapes()", "1a3.0 true3a6.0 true"),
    (
        "create function operands(x anyelement) returns text language plpgsql as $$ begin case x when '1' then return 'one'; when '2', '3' then return 'more'; else return 'else'; end case; end $$",
        "",
    ),
    (
        "select operands(1), operands('2'::text), operands(3.0), operands(1), operands('x'::text)",
        "one|more|more|one|else",
    ),
    (
        "create function fact(n int) returns numeric language plpgsql as $$ declare a int[]; begin a[1] := n; if n <= 1 then return 1; end if; return a[1] * fact(n - 1) * coalesce(a[2], 1) ; end $$",
        "",
    ),
    ("select fact(10)", "3628800"),
    ("create table t (a int, b text)", ""),
    (
        r#"create function tr() returns trigger language plpgsql as $$ declare o text := U&"\0074g_op"; begin new.b := o || coalesce(new.b, '') || new.a; if new.a = 3 then return null; end if; return new; end $$"#,
        "",
    ),
    ("create trigger x before insert or update on t for each row execute function tr()", ""),
    ("insert into t values (1, 'x'), (2, null), (3, 'y')", ""),
    ("update t set a = a + 10 where a = 1 returning *", "11|UPDATEINSERTx111"),
    ("select * from t order by a", "2|INSERT2\n11|UPDATEINSERTx111"),
    (
        "create function row_of(x int) returns t language plpgsql as $$ declare r t; begin if x > 0 then r.a := x; r.b := 'b'; end if; return r; end $$",
        "",
    ),
    ("select row_of(1), row_of(0), (row_of(2)).b", "(1,b)||b"),
    (
        "create function unset() returns record language plpgsql as $$ declare r record; begin return r; end $$",
        "",
    ),
    ("select unset()", ""),
    (
        "create function overflows() returns int language plpgsql as $$ declare i int := 2147483647; begin i := i + 1; return i; end $$",
        "",
    ),
    ("select overflows()", "ERROR:  integer out of range"),
    (
        "create function divides(n int) returns int language plpgsql as $$ begin if n > 0 then return 1 / (n - n); end if; return 0; end $$",
        "",
    ),
    ("select divides(1)", "ERROR:  division by zero"),
    (
        "create function never() returns int language plpgsql as $$ begin if false then return 1 / 0; end if; return 5; end $$",
        "",
    ),
    ("select never()", "5"),
    (
        "create procedure ends() language plpgsql as $$ declare a int[] := '{1}'; n int := 0; begin for i in 1..3 loop a[i] := i; insert into seen values (100 + a[i]); n := n + 1; commit; end loop; insert into seen values (200 + n + a[3]); rollback; raise notice '% %', a, noted(); end $$",
        "",
    ),
    ("call ends()", ""),
    ("create function sq(x int) returns int language sql immutable as $$ select x * x $$", ""),
    (
        "create function strictly(x int, y int) returns int language sql strict as $$ select coalesce(x, 0) + y $$",
        "",
    ),
    (
        "create function pick(x int, y int) returns int language sql as $$ select case when x > 0 then x else y end $$",
        "",
    ),
    ("create function lied() returns float8 language sql immutable as $$ select random() $$", ""),
    (
        "select sq(3), sq(sq(2)), strictly(1, null), strictly(null, 1), strictly(1, 2), pick(0, 5), sq(null)",
        "9|16|||3|5|",
    ),
    ("create sequence s", ""),
    ("select pick(nextval('s')::int, 9), currval('s')", "1|1"),
    (
        "explain (verbose, costs off) select sq(g), strictly(g, 1), pick(g, 1) from generate_series(1, 2) g",
        "Function Scan on pg_catalog.generate_series g\n  Output: (g * g), strictly(g, 1), CASE WHEN (g > 0) THEN g ELSE 1 END\n  Function Call: generate_series(1, 2)",
    ),
    ("create table numbers as select g as n, g * 10 as m from generate_series(1, 10) g", ""),
    (
        "create function below(most int) returns setof numbers language sql stable as $$ select * from numbers where n < most $$",
        "",
    ),
    (
        "create function below_v(most int) returns setof numbers language sql as $$ select * from numbers where n < most $$",
        "",
    ),
    (
        "create function ns(most int) returns table (x int, y bigint) language sql stable as $$ select n, m from numbers where n <= most order by n desc limit 2 $$",
        "",
    ),
    (
        "create function ones(most int) returns setof int language sql stable as $$ select n from numbers where n < most $$",
        "",
    ),
    ("explain (costs off) select * from below(4) b", "Seq Scan on numbers\n  Filter: (n < 4)"),
    ("explain (costs off) select * from below_v(4) b", "Function Scan on below_v b"),
    (
        "explain (verbose, costs off) select x from ones(4) x",
        "Seq Scan on public.numbers\n  Output: numbers.n\n  Filter: (numbers.n < 4)",
    ),
    ("select * from below(4) b where b.m > 10", "2|20\n3|30"),
    ("select * from ns(4)", "4|40\n3|30"),
    ("select sum(x) from ones(5) x", "10"),
    ("select b, b.n from below(2) b", "(1,10)|1"),
    ("select n, o from below(3) with ordinality as w(n, m, o)", "1|1\n2|2"),
    ("select t.n, x from numbers t, lateral ones(t.n) x where t.n = 3", "3|1\n3|2"),
    (
        "create function fib(n int) returns int language sql immutable as $$ select case when n < 2 then n else fib(n - 1) + fib(n - 2) end $$",
        "",
    ),
    ("select fib(10)", "55"),
    ("create function div0(x int) returns int language sql as $$ select x / 0 $$", ""),
    ("select div0(1)", "ERROR:  division by zero"),
    ("create role reader", ""),
    ("grant usage on schema public to reader", ""),
    ("create function secret() returns int language sql as $$ select 1 $$", ""),
    ("revoke execute on function secret() from public", ""),
    ("create function open_secret() returns int language sql as $$ select secret() + 1 $$", ""),
    ("set role reader", ""),
    ("select secret()", "ERROR:  permission denied for function secret"),
    ("select open_secret()", "ERROR:  permission denied for function secret"),
    ("select * from below(3)", "ERROR:  permission denied for table numbers"),
    ("reset role", ""),
    ("drop owned by reader", ""),
    ("drop role reader", ""),
    (
        "create function ints(a int, b int) returns text language plpgsql as $$ declare q int; m int; big bigint; c text; e text; begin for k in 1..2 loop begin m := a % b; q := a / b; big := a::bigint * b + k; c := case when b = 0 or a / b > 1 then 'big' when a is null or not (a < b) then 'not less' else coalesce(null, 'less') end; e := null; exception when others then e := sqlstate || ' ' || sqlerrm; end; end loop; return concat_ws(' ', m, q, big, c, e); end $$",
        "",
    ),
    (
        "select ints(7, 2), ints(-7, 2), ints(7, null), ints(7, 0), ints(-2147483648, -1), ints(1, 2)",
        "1 3 16 big|-1 -3 -12 less|less|22012 division by zero|0 22003 integer out of range|1 0 4 less",
    ),
    (
        "create function numerics() returns text language plpgsql as $$ declare d numeric := 1.5; big numeric := 1e30; n numeric := 0.5; begin for i in 1..4 loop d := d * 2 + 0.25 - n; n := coalesce(n, i) + d; big := big * d; if d > 2 and big <> 0 then d := -d; end if; end loop; return concat_ws(' ', d, big, n); end $$",
        "",
    ),
    ("select numerics()", "-6.00 -1612875000000000000000000000000000.00000000 -22.75"),
    (
        "create function fields() returns text language plpgsql as $$ declare r record; begin select 1 as a, 2::bigint as b, 'x' as c into r; for i in 1..3 loop r.a := r.a + 1; r.b := r.b + r.a; r.c := r.c || r.a; if i = 2 then select 10 as z, 7::bigint as a, 5::bigint as b, 'y' as c into r; r.a := 5; end if; end loop; return r::text; end $$",
        "",
    ),
    ("select fields(), fields()", "(10,6,11,y6)|(10,6,11,y6)"),
    (
        "create function missing() returns text language plpgsql as $$ declare r record; s text := ''; begin for i in 1..3 loop if i = 2 then select 1 as b into r; else select i as a into r; end if; begin s := s || (r.a + 1) || ' '; exception when others then s := s || sqlerrm || ' '; end; end loop; return s; end $$",
        "",
    ),
    ("select missing()", "2 record \"r\" has no field \"a\" 4 "),
    // A body that is refused has changed nothing: no transaction id was needed.
    ("begin", ""),
    (
        "do $$ begin execute 'create function bad() returns void language plpgsql as ''begin frakbar; end'''; exception when syntax_error then raise notice 'refused'; end $$",
        "",
    ),
    ("select pg_current_xact_id_if_assigned() is null", "t"),
    ("commit", ""),
];

#[test]
fn answers_are_those_of_statements() {
    let server = Server::new();
    server.instance().languages().register(vec![plpgsql::language()]);
    let s = server.connect();
    for (sql, expected) in STEPS {
        assert_eq!(s.query(sql), *expected, "{sql}");
    }
}

#[test]
fn a_function_that_another_session_replaces_is_called_anew() {
    let server = Server::new();
    server.instance().languages().register(vec![plpgsql::language()]);
    let (s, other) = (server.connect(), server.connect());
    let make = |body: &str| {
        format!(
            "create or replace function step(x int) returns int language plpgsql as $$ begin return {body}; end $$"
        )
    };
    other.query(&make("x + 1"));
    s.query("create function stepped() returns int language plpgsql as $$ declare s int := 0; begin for i in 1..3 loop s := step(s) + 0; end loop; return s; end $$");
    assert_eq!(s.query("select stepped(), stepped()"), "3|3");
    other.query(&make("x + 10"));
    assert_eq!(s.query("select stepped(), stepped()"), "30|30");
    other.query("drop function step");
    assert_eq!(s.query("select stepped()"), "ERROR:  function step(integer) does not exist");
}
