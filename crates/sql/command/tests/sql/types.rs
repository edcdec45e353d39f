//! Row values, and types that users make, through whole sessions.

use crate::support::Server;

#[test]
fn rows_are_values() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t(a int, b text); insert into t values (1,'x'), (2,null), (null,'a b')").unwrap();
    assert_eq!(s.query("select t from t order by t"), "(1,x)\n(2,)\n(,\"a b\")");
    assert_eq!(s.query("select (t).b, t is null, t is not null from t where t = row(1,'x')::t"), "x|f|t");
    assert_eq!(
        s.query("select row(null,null) is null, row(1,null) is null, row(1,null) is not null"),
        "t|f|f"
    );
    assert_eq!(s.query("select count(*) from (select t from t union select t from t) u"), "3");
    assert_eq!(
        s.query("select r from t left join (select a as q from t) r on r.q = t.a order by t.a"),
        "(1)\n(2)\n"
    );
    s.run(
        "create table u(id int, v t); insert into u values (1, row(5,'five')), (2, '(6,\"a,b\")'), (3, null)",
    )
    .unwrap();
    s.run("update u set v.a = 77 where id <> 1; insert into u(id, v.b) values (9,'nine')").unwrap();
    assert_eq!(s.query("select v from u order by id"), "(5,five)\n(77,\"a,b\")\n(77,)\n(,nine)");
    assert_eq!(s.query("select max(v), min(v) from u"), "(,nine)|(5,five)");
    s.run("create index on u(v); set enable_seqscan = off").unwrap();
    assert_eq!(s.query("select id from u where v = row(5,'five')::t"), "1");
    assert_eq!(
        s.query("select row(1,2) = r from (select row(1,'a'::text) as r) s"),
        "ERROR:  cannot compare dissimilar column types integer and text at record column 2"
    );
    // Rows made before a column was added, or dropped, have the new shape.
    s.run("alter table t add column c int; alter table t drop column b").unwrap();
    assert_eq!(s.query("select v, (v).c from u where id = 1"), "(5,)|");
    assert_eq!(s.query("select v from u where v is null order by id"), "(,)");
}

#[test]
fn enums_order_as_their_labels() {
    let server = Server::new();
    let s = server.connect();
    s.run("create type e as enum ('red', 'green', 'blue')").unwrap();
    s.run("create table t(c e primary key); insert into t values ('blue'), ('red'), ('green')").unwrap();
    s.run("alter type e add value 'cyan' before 'green'").unwrap();
    s.run("insert into t values ('cyan')").unwrap();
    assert_eq!(s.query("select c from t order by c desc"), "blue\ngreen\ncyan\nred");
    assert_eq!(s.query("select max(c), enum_range('cyan'::e, null) from t"), "blue|{cyan,green,blue}");
    assert_eq!(s.query("select 'pink'::e"), "ERROR:  invalid input value for enum e: \"pink\"");
    assert_eq!(
        s.query("begin; alter type e add value 'new'; select 'new'::e"),
        "ERROR:  unsafe use of new value \"new\" of enum type e"
    );
    s.run("rollback; alter type e rename value 'red' to 'crimson'").unwrap();
    assert_eq!(s.query("select min(c) from t"), "crimson");
    s.run("drop type e cascade").unwrap();
    assert_eq!(s.query("select count(*) from pg_type where typname in ('e', '_e')"), "0");
}

#[test]
fn domains_check_every_value() {
    let server = Server::new();
    let s = server.connect();
    s.run("create domain posint as int default 7 check (value > 0)").unwrap();
    s.run("create table t(a posint, c int); insert into t(c) values (1)").unwrap();
    let refused = "ERROR:  value for domain posint violates check constraint \"posint_check\"";
    for sql in [
        "select '-3'::posint",
        "insert into t values (0)",
        "update t set a = a - 10",
        "select '{1,-2}'::posint[]",
        "prepare q(posint) as select $1; execute q(-5)",
    ] {
        assert_eq!(s.query(sql), refused, "{sql}");
    }
    assert_eq!(s.query("select a + c from t"), "8");
    // A cached plan does not outlive a change of the domain.
    s.run("prepare i as insert into t values (50); execute i").unwrap();
    s.run("delete from t where a = 50; alter domain posint add constraint small check (value < 10)").unwrap();
    assert_eq!(s.query("execute i"), "ERROR:  value for domain posint violates check constraint \"small\"");
    assert_eq!(
        s.query("alter domain posint add check (value > 7)"),
        "ERROR:  column \"a\" of table \"t\" contains values that violate the new constraint"
    );
    s.run("create domain nn as text not null").unwrap();
    assert_eq!(s.query("select null::nn"), "ERROR:  domain nn does not allow null values");
}

#[test]
fn points_boxes_money_and_bits_are_stored() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table g(p point, b box, l path, y polygon, c circle, m money, v bit(4), w bit varying(6))")
        .unwrap();
    s.run(
        "insert into g values ('(1,2)', '(0,0),(2,3)', '[(0,0),(3,4)]', '((0,0),(4,0),(4,4))', '<(1,1),2>', '$1,234.50', B'1010', '111')",
    )
    .unwrap();
    assert_eq!(
        s.query("select * from g"),
        "(1,2)|(2,3),(0,0)|[(0,0),(3,4)]|((0,0),(4,0),(4,4))|<(1,1),2>|$1,234.50|1010|111"
    );
    assert_eq!(
        s.query("select p[0], b[1], p <@ b, @-@ l, p <@ c, m * 2, v | X'3', w || v from g"),
        "1|(0,0)|t|5|t|$2,469.00|1011|1111010"
    );
    s.run("update g set p[1] = 7.5").unwrap();
    assert_eq!(s.query("select p, p[2] from g"), "(1,7.5)|");
    assert_eq!(s.query("update g set p[2] = 1"), "ERROR:  array subscript out of range");
    assert_eq!(s.query("select p[0:1] from g"), "ERROR:  slices of fixed-length arrays not implemented");
    assert_eq!(
        s.query("insert into g(v) values (B'101')"),
        "ERROR:  bit string length 3 does not match type bit(4)"
    );
    s.run("create index on g(m); create index on g(w); set enable_seqscan = off").unwrap();
    assert_eq!(s.query("select w from g where m = 1234.5::money and w > B'110'"), "111");
    assert_eq!(
        s.query("select distinct p from g"),
        "ERROR:  could not identify an equality operator for type point"
    );
    assert_eq!(s.query("select sum(m), min(m), bit_or(v) from g"), "$1,234.50|$1,234.50|1010");
}

#[test]
fn ranges_are_made_stored_and_found() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table r(a int4range, d daterange, m int4multirange); create index on r(a)").unwrap();
    s.run("insert into r values ('[1,3]', '[2024-01-01,2024-01-31]', '{[1,3),[3,5)}'), ('empty', null, '{}'), ('(,0)', '(,)', null)")
        .unwrap();
    assert_eq!(
        s.query("select * from r order by a"),
        "empty||{}\n(,0)|(,)|\n[1,4)|[2024-01-01,2024-02-01)|{[1,5)}"
    );
    s.run("set enable_seqscan = off").unwrap();
    assert_eq!(s.query("select a from r where a = int4range(1, 4)"), "[1,4)");
    assert_eq!(
        s.query("select range_agg(a), range_intersect_agg(d) from r where not isempty(a)"),
        "{(,0),[1,4)}|[2024-01-01,2024-02-01)"
    );
    assert_eq!(s.query("select unnest(m) from r where m @> 4"), "[1,5)");
    assert_eq!(
        s.query("select int4range(1,2) + int4range(5,6)"),
        "ERROR:  result of range union would not be contiguous"
    );
    assert_eq!(
        s.query("select '[3,1]'::int4range"),
        "ERROR:  range lower bound must be less than or equal to range upper bound"
    );
    assert_eq!(s.query("select count(*) from r a join r b on a.a = b.a"), "3");
}

#[test]
fn users_make_range_types() {
    let server = Server::new();
    let s = server.connect();
    s.run("create type pair as (a int, b int); create type pairs as range (subtype = pair)").unwrap();
    s.run("create table t(r pairs, m pairs_multirange)").unwrap();
    s.run(
        "insert into t values (pairs(row(1,2), row(3,4)), pairs_multirange(pairs(row(1,2), row(3,4), '[]')))",
    )
    .unwrap();
    assert_eq!(
        s.query("select r, m, r @> row(2,0)::pair, upper(r), range_agg(r) from t group by r, m"),
        "[\"(1,2)\",\"(3,4)\")|{[\"(1,2)\",\"(3,4)\"]}|t|(3,4)|{[\"(1,2)\",\"(3,4)\")}"
    );
    assert_eq!(
        s.query("drop type pairs_multirange"),
        "ERROR:  cannot drop type pairs_multirange because type pairs requires it"
    );
    s.run("drop type pairs cascade").unwrap();
    assert_eq!(s.query("select count(*) from pg_proc where proname like 'pairs%'"), "0");
    assert_eq!(s.query("select count(*) from pg_range where rngtypid > 16383"), "0");
    assert_eq!(s.query("select count(*) from pg_cast where oid > 16383"), "0");
}

#[test]
fn composite_types_change() {
    let server = Server::new();
    let s = server.connect();
    s.query("create type pair as (a int, b text); create type outer_pair as (p pair, n int)");
    s.query("create function f(p pair) returns int language sql as 'select p.a'");
    s.run("alter type pair add attribute c numeric(4,1), alter attribute a type bigint").unwrap();
    assert_eq!(
        s.query("select row(1, 'x', 2.25)::pair, (row(row(1, 'x', 2)::pair, 3)::outer_pair).p.c"),
        "(1,x,2.3)|2.0"
    );
    assert_eq!(s.query("select f(row(7, 'x', 1))"), "7");
    assert_eq!(
        s.query("alter type pair add attribute c int"),
        "ERROR:  column \"c\" of relation \"pair\" already exists"
    );
    assert_eq!(
        s.query("alter type pair drop attribute e"),
        "ERROR:  column \"e\" of relation \"pair\" does not exist"
    );
    s.run("alter type pair drop attribute if exists e").unwrap();
    s.run("alter type pair drop attribute b").unwrap();
    assert_eq!(s.query("select (row(1, 2)::pair).c"), "2.0");
    s.query("create table t (o outer_pair[])");
    assert_eq!(
        s.query("alter type pair alter attribute a type int"),
        "ERROR:  cannot alter type \"pair\" because column \"t.o\" uses it"
    );
    s.run("insert into t values (array[row(row(1, 2)::pair, 3)::outer_pair])").unwrap();
    s.run("alter type pair add attribute z int").unwrap();
    assert_eq!(s.query("select (o[1]).p from t"), "(1,2.0,)");
    assert_eq!(
        s.query("alter type nosuch add attribute z int"),
        "ERROR:  relation \"nosuch\" does not exist"
    );
    assert_eq!(s.query("alter type t add attribute z int"), "ERROR:  \"t\" is not a composite type");
}

#[test]
fn times_at_the_end_of_their_range_do_not_wrap_around() {
    let server = Server::new();
    let s = server.connect();
    s.run("set timezone = 'Europe/Berlin'").unwrap();
    for sum in [
        "timestamp '2000-01-01' + interval '2147483647 days'",
        "timestamp '0001-01-01 BC' - interval '2147483647 days'",
        "timestamptz '2024-03-31' + interval '2147483647 days'",
        "date '2000-02-29' + interval '-2147483648 days'",
        "timestamptz '294276-12-31 23:59:59+00'::timestamp",
        "timestamptz '294276-12-31 23:59:59+00' at local",
    ] {
        assert_eq!(s.query(&format!("select {sum}")), "ERROR:  timestamp out of range", "{sum}");
    }
    assert_eq!(s.query("select timestamptz 'infinity'::timestamp"), "infinity");
}

#[test]
fn what_is_nested_deep_takes_no_longer_for_each_level() {
    let server = Server::new();
    let s = server.connect();
    let nested = |open: &str, close: &str| format!("select {}1{}", open.repeat(60), close.repeat(60));
    assert_eq!(s.query(&nested("coalesce(", ")")), "1");
    assert_eq!(s.query(&nested("greatest(", ")")), "1");
}

#[test]
fn moments_and_numbers_in_rare_forms() {
    let server = Server::new();
    let s = server.connect();
    s.query("set timezone = 'America/Los_Angeles'");
    // The hours are those of the clock on the wall on both sides of a change of time.
    assert_eq!(
        s.query("select age('2001-06-15 12:00'::timestamptz, '2000-02-29'::timestamptz)"),
        "1 year 3 mons 15 days 12:00:00"
    );
    assert_eq!(
        s.query("select 'January 8, 99 BC'::date, to_char('2000-02-29'::timestamp, 'tmMonth')"),
        "0099-01-08 BC|February"
    );
    assert_eq!(
        s.query("select '1 Jan 0 BC'::date"),
        "ERROR:  date/time field value out of range: \"1 Jan 0 BC\""
    );
    assert_eq!(s.query("select '0x1.8p1'::float8, '-0x1p-1'::float4"), "3|-0.5");
    assert_eq!(s.query("select extract(timezone from 'infinity'::timestamp) is null"), "t");
    assert_eq!(
        s.query("select min(x), max(x) from (values ('1 mon'::interval), ('30 days')) v(x)"),
        "30 days|30 days"
    );
    assert_eq!(s.query("select to_number('12,345', '9999.9')"), "ERROR:  numeric field overflow");
    assert_eq!(s.query("select to_number('junk', 'RN')"), "ERROR:  invalid Roman numeral");
    assert_eq!(s.query("select to_number('', 'RN')"), "ERROR:  invalid input syntax for type numeric: \" \"");
    assert_eq!(s.query("select to_number('1e5', '9.99EEEE')"), "ERROR:  \"EEEE\" not supported for input");
}

#[test]
fn casts_by_a_function_of_another_type() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t(a int2, b regtype, c oid); insert into t values (23, 23::int2, (-2)::int2)")
        .unwrap();
    s.run("insert into t(a, b, c) select -1, a, a from t").unwrap();
    assert_eq!(s.query("select * from t"), "23|integer|4294967294\n-1|integer|23");
    assert_eq!(
        s.query("select 1::int2::regtype, (-1)::int2::oid, 1::int2::regproc, 11::int2::regnamespace"),
        "1|4294967295|1|pg_catalog"
    );
    assert_eq!(
        s.query("select a::oid, a::regtype, b::int8 from t"),
        "23|integer|23\n4294967295|4294967295|23"
    );
    assert_eq!(
        s.query("select array[23::int2, -1]::regtype[], '{-1}'::int2[]::oid[]"),
        "{integer,4294967295}|{4294967295}"
    );
    assert_eq!(s.query("select a from t where b = 23::int2 and a::oid in (select c from t)"), "23");
    s.run("create view v as select a::oid, a::regtype as r from t where a = c").unwrap();
    assert_eq!(
        s.query("select pg_get_viewdef('v')"),
        " SELECT (a)::oid AS a,\n    (a)::regtype AS r\n   FROM t\n  WHERE ((a)::oid = c);"
    );
    // What a polymorphic function gives is of the type asked for already.
    assert_eq!(
        s.query(
            "select unnest(array[1, 23]::regtype[]), 4294967295::oid in (select unnest(array[(-1)::int4::oid]))"
        ),
        "1|t\ninteger|t"
    );
    // So do a user's, and a domain over the target comes after.
    s.run(
        "create function minus(point) returns int4 language sql as 'select -$1[0]::int4';
         create cast (point as oid) with function minus(point); create domain d as oid check (value <> 4294967291)",
    )
    .unwrap();
    assert_eq!(s.query("select point(7, 0)::oid, point(6, 0)::d"), "4294967289|4294967290");
    assert_eq!(
        s.query("select point(5, 0)::d"),
        "ERROR:  value for domain d violates check constraint \"d_check\""
    );
}

#[test]
fn clients_are_told_the_types_under_domains() {
    let server = Server::new();
    let s = server.connect();
    s.run("create domain short as varchar(5); create domain shorter as short; create type mood as enum ('sad', 'ok')")
        .unwrap();
    s.run("create table t (a shorter, b mood, c int, d numeric(10, 2))").unwrap();
    s.run("create procedure p(inout a shorter) language sql as 'select a'").unwrap();
    let told = |sql: &str| -> Vec<(u32, i16, i32)> {
        let told = |c: &session::Column| (c.type_oid.0, c.type_len, c.typmod);
        s.run(sql).unwrap().columns.iter().map(told).collect()
    };
    let mood = s.query("select 'mood'::regtype::oid").parse().unwrap();
    let numeric = (1700, -1, ((10 << 16) | 2) + 4);
    assert_eq!(told("select * from t"), [(1043, -1, 9), (mood, 4, -1), (23, 4, -1), numeric]);
    assert_eq!(told("call p('x')"), [(1043, -1, 9)]);
    s.run("prepare q as select a from t").unwrap();
    assert_eq!(s.query("select result_types from pg_prepared_statements"), "{shorter}");
}

#[test]
fn concatenation_casts_what_is_no_text() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (a text, b bool); insert into t values ('x', true)").unwrap();
    s.run("create domain flag as bool").unwrap();
    assert_eq!(
        s.query("select a || b, b || a, 'y' || false::flag, b || 'z'::char(3) from t"),
        "xtrue|truex|yfalse|truez"
    );
    assert_eq!(
        s.query("select 'x' || inet '10.0.0.1', quote_literal(b), quote_nullable(b) from t"),
        "x10.0.0.1/32|'true'|'true'"
    );
    // Others take what the type puts out.
    assert_eq!(
        s.query("select concat(a, b), format('%s', b), array_to_string(array[b], '') from t"),
        "xt|t|t"
    );
    s.run("create type pair as (a int, b int)").unwrap();
    s.run("create function shown(pair) returns text immutable return ($1).a + ($1).b").unwrap();
    s.run("create cast (pair as text) with function shown(pair)").unwrap();
    assert_eq!(s.query("select 'x' || row(1, 2)::pair, concat('x', row(1, 2)::pair)"), "x3|x(1,2)");
    s.run("create view v as select a || b as c from t").unwrap();
    assert_eq!(s.query("select c, pg_get_viewdef('v') from v"), "xtrue| SELECT (a || b) AS c\n   FROM t;");
    assert_eq!(
        s.query("explain (verbose, costs off) select a || b from t"),
        "Seq Scan on public.t\n  Output: (a || (b)::text)"
    );
}

#[test]
fn what_only_the_server_writes_is_not_read_from_text() {
    let server = Server::new();
    let s = server.connect();
    assert_eq!(
        s.query(
            "select count(*) from pg_attribute a left join pg_type t on t.oid = a.atttypid where t.oid is null"
        ),
        "0"
    );
    for name in ["pg_node_tree", "pg_ndistinct", "pg_dependencies", "pg_mcv_list"] {
        let refused = format!("ERROR:  cannot accept a value of type {name}");
        assert_eq!(s.query(&format!("select '1'::{name}")), refused);
        assert_eq!(s.query(&format!("select ('1' || '')::{name}")), refused);
    }
    // A stored expression that somebody made up would be taken for one of the server's.
    assert_eq!(
        s.query("select pg_get_expr('1', 'pg_class'::regclass)"),
        "ERROR:  cannot accept a value of type pg_node_tree"
    );
}

#[test]
fn regular_expressions_with_back_references_fail_soon_where_they_cannot_match() {
    let server = Server::new();
    let s = server.connect();
    // Each of them took minutes once, without a look for interrupts.
    for (text, pattern, found) in [
        ("repeat('ab', 50000)", r"(.*)(.*)(.*)(.*)(.*)\1\2\3\4\5x", "f"),
        ("repeat('ab', 6000)", r"(.*)(.*)(.*)\1\2\3x", "f"),
        ("repeat('ab', 6000)", r"(.+)\1c", "f"),
        ("repeat('ab', 20000)", r"(?=.*c)a", "f"),
        ("repeat('ab', 20000)", r"(?=.*b)ac", "f"),
        ("repeat('ab', 20000)", r"a(?<=b.*a)c", "f"),
        ("repeat('ab', 20000)", r"(?!.*b)a", "f"),
        ("repeat('ab', 20000) || 'c'", r"(?=.*c)b", "t"),
        ("repeat('a', 200) || 'b'", r"^(a+)+\1$", "f"),
        ("repeat('a', 200)", r"^(a+)+\1$", "t"),
    ] {
        assert_eq!(s.query(&format!("select {text} ~ '{pattern}'")), found, "{text} ~ {pattern}");
    }
    let swapped = r"select regexp_replace('aa bb ab cc', '(\w)\1 ', '<\1>', 'g')";
    assert_eq!(s.query(swapped), "<a><b>ab cc");
    let parts = r"select regexp_matches('abcabcab', '^(a(bc)*)+?(\1|b*)+(ab)$')";
    assert_eq!(s.query(parts), "{abc,bc,abc,ab}");
}

#[test]
fn periods_may_be_told_by_their_length() {
    let server = Server::new();
    let s = server.connect();
    let overlaps = |a: &str, b: &str| s.query(&format!("select ({a}) overlaps ({b})"));
    assert_eq!(
        overlaps("date '2020-01-31', interval '1 month'", "date '2020-02-28', date '2020-03-01'"),
        "t"
    );
    assert_eq!(
        overlaps("timestamp '2020-01-31', interval '1 day'", "timestamp '2020-02-01', interval '1 day'"),
        "f"
    );
    assert_eq!(
        overlaps("timestamptz '2020-01-01', now()", "timestamptz '2020-01-01', interval '1 day'"),
        "t"
    );
    assert_eq!(overlaps("time '23:00', interval '2 hours'", "time '00:30', time '23:30'"), "t");
    assert_eq!(overlaps("time '10:00', time '11:00'", "time '11:00', interval '1 hour'"), "f");
    assert_eq!(
        overlaps("timestamp '2020-01-31', null::interval", "timestamp '2020-02-01', interval '1 day'"),
        ""
    );
}

#[test]
fn base_types_are_made_of_the_functions_of_others() {
    let server = Server::new();
    let s = server.connect();
    let error = |sql: &str| s.run(sql).err().unwrap();
    let shell = error("create type nope (input = int4in, output = int4out)");
    assert_eq!(shell.message(), "type \"nope\" does not exist");
    let made = s
        .run("create function in42(cstring) returns n42 as 'int4in' language internal strict immutable")
        .unwrap();
    assert_eq!(made.notices, ["type \"n42\" is not yet defined"]);
    let known = s
        .run("create function out42(n42) returns cstring as 'int4out' language internal strict immutable")
        .unwrap();
    assert_eq!(known.notices, ["argument type n42 is only a shell"]);
    assert_eq!(error("create table t (a n42)").message(), "type \"n42\" is only a shell");
    s.run("create type n42 (internallength = 4, input = in42, output = out42, alignment = int4, default = 42, passedbyvalue)")
        .unwrap();
    s.run("create table t (a n42, b n42[], k int); insert into t (k) values (1); insert into t values ('7', '{1,2}', 2)")
        .unwrap();
    assert_eq!(s.query("select * from t order by k"), "42||1\n7|{1,2}|2");
    assert_eq!(
        error("select * from t order by a").message(),
        "could not identify an ordering operator for type n42"
    );
    assert_eq!(error("insert into t values ('x')").message(), "invalid input syntax for type integer: \"x\"");
    s.run("create cast (n42 as int) without function as implicit").unwrap();
    assert_eq!(s.query("select a + 1 from t order by 1"), "8\n43");
    assert_eq!(error("drop function in42(cstring)").code().as_str(), "2BP01");
    s.run("drop type n42 cascade").unwrap();
    assert_eq!(s.query("select count(*) from pg_type where typname like '%n42'"), "0");
}
