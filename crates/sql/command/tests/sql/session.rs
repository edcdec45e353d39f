//! Whole sessions in one process: statements in, rows as text or an error out.

use session::Format;

use crate::support::{Collected, Server};

#[test]
fn a_new_cluster_answers() {
    let server = Server::new();
    let session = server.connect();
    assert_eq!(session.query("select 1 + 1"), "2");
    assert_eq!(session.query("select relname from pg_class where oid = 1259"), "pg_class");
    assert_eq!(session.query("select datname from pg_database order by 1"), "postgres\ntemplate0\ntemplate1");
}

#[test]
fn roles_of_a_session_are_looked_up() {
    let server = Server::new();
    let session = server.connect();
    let user = session.query("select session_user");
    for setting in ["role", "session authorization"] {
        let error = session.run(&format!("set {setting} joe")).map(drop).unwrap_err();
        assert_eq!((error.message(), error.code().as_str()), ("role \"joe\" does not exist", "22023"));
        assert_eq!(session.query(&format!("set {setting} {user}; select current_user")), user);
    }
    assert_eq!(
        session.query("select set_config('role', 'joe', false)"),
        "ERROR:  role \"joe\" does not exist"
    );
    assert_eq!(session.query("set role none; show role"), "none");
    assert_eq!(session.query("show session_authorization"), user);
    assert_eq!(session.query("set session authorization default; show session_authorization"), user);
    assert_eq!(session.query("show is_superuser"), "on");
}

#[test]
fn tables_come_change_and_go() {
    let mut server = Server::new();
    let session = server.connect();
    assert_eq!(session.query("create table t (a int primary key, b text)"), "");
    assert_eq!(session.query("insert into t values (1, 'one'), (2, 'two') returning a"), "1\n2");
    assert_eq!(session.query("select * from t where a = 2"), "2|two");
    assert_eq!(
        session.query("insert into t values (1, 'again')"),
        "ERROR:  duplicate key value violates unique constraint \"t_pkey\""
    );
    assert_eq!(session.query("update t set b = b || '!' where a = 1"), "");
    assert_eq!(session.query("select b from t order by a"), "one!\ntwo");
    assert_eq!(session.query("delete from t where a = 2"), "");
    session.query("begin");
    session.query("insert into t values (3, 'three')");
    session.query("rollback");
    drop(session);
    server.crash_and_restart();
    let session = server.connect();
    assert_eq!(session.query("select * from t"), "1|one!");
    assert_eq!(session.query("drop table t"), "");
    assert_eq!(session.query("select * from t"), "ERROR:  relation \"t\" does not exist");
}

#[test]
fn savepoints_undo_what_followed_them() {
    let server = Server::new();
    let session = server.connect();
    session.query("create table s (a int)");
    session.query("begin");
    session.query("insert into s values (1)");
    session.query("savepoint x");
    session.query("insert into s values (2)");
    session.query("rollback to x");
    session.query("insert into s values (3)");
    session.query("release x");
    session.query("commit");
    assert_eq!(session.query("select a from s order by 1"), "1\n3");
}

#[test]
fn prepared_statements_and_cursors_run_from_sql() {
    let server = Server::new();
    let session = server.connect();
    session.query("prepare p (int) as select $1 * 2");
    assert_eq!(session.query("execute p (21)"), "42");
    assert_eq!(session.query("execute p ('x')"), "ERROR:  invalid input syntax for type integer: \"x\"");
    session.query("begin");
    session.query("declare c cursor for select * from generate_series(1, 5)");
    assert_eq!(session.query("fetch 2 from c"), "1\n2");
    assert_eq!(session.run("move c").unwrap().tags, ["MOVE 1"]);
    assert_eq!(session.query("fetch all from c"), "4\n5");
    session.query("commit");
    assert_eq!(session.query("fetch c"), "ERROR:  cursor \"c\" does not exist");
    assert!(session.query("explain select 1").starts_with("Result  (cost=0.00..0.01"));
}

#[test]
fn a_transaction_has_the_isolation_it_asked_for() {
    let server = Server::new();
    let (one, two) = (server.connect(), server.connect());
    one.query("create table i (a int)");
    for begin in
        ["begin isolation level repeatable read", "begin; set transaction isolation level repeatable read"]
    {
        one.query(begin);
        assert_eq!(one.query("show transaction_isolation"), "repeatable read");
        let before = one.query("select count(*) from i");
        two.query("insert into i values (1)");
        assert_eq!(one.query("select count(*) from i"), before);
        one.query("commit");
        assert_eq!(one.query("show transaction_isolation"), "read committed");
        assert_ne!(one.query("select count(*) from i"), before);
    }
    one.query("begin read only");
    assert_eq!(
        one.query("insert into i values (1)"),
        "ERROR:  cannot execute INSERT in a read-only transaction"
    );
    one.query("rollback");
    one.query("begin read write");
    assert_eq!(one.query("insert into i values (1)"), "");
    one.query("commit");
}

#[test]
fn inputs_of_set_operations_become_the_common_type() {
    let server = Server::new();
    let s = server.connect();
    for (sql, expected) in [
        ("select 1.5 union all select 2", "1.5\n2"),
        ("select 1 union select 2 union select 1.5 order by 1", "1\n1.5\n2"),
        ("select 1 union select 1.0", "1"),
        ("(select 1::int2 intersect select 1::int8) union all select 2.5::float8", "1\n2.5"),
        ("select 3 except select 3.0", ""),
        ("select 'a'::name union select 'a'::text", "a"),
        (
            "select date '2020-01-01' union all select timestamp '2020-01-02 03:04'",
            "2020-01-01 00:00:00\n2020-01-02 03:04:00",
        ),
        (
            "with recursive r(n) as (select 1::numeric union all select n + 1 from r where n < 3) select * from r",
            "1\n2\n3",
        ),
        (
            "select n / 2 from (select 5 as n union select 4.0) u order by 1",
            "2.0000000000000000\n2.5000000000000000",
        ),
    ] {
        assert_eq!(s.query(sql), expected, "{sql}");
    }
}

#[test]
fn a_table_that_has_grown_is_planned_anew() {
    let server = Server::new();
    let writer = server.connect();
    writer.query("create table grown (a int primary key, filler text); insert into grown values (1, 'x'); analyze grown");
    let plan = || server.connect().query("explain (costs off) select * from grown where a = 7");
    assert_eq!(plan(), "Seq Scan on grown\n  Filter: (a = 7)");
    let user = server.connect();
    user.query("prepare p as select * from grown where a = 7");
    writer.query("insert into grown select g, repeat('x', 100) from generate_series(2, 3000) g");
    let better = "Index Scan using grown_pkey on grown\n  Index Cond: (a = 7)";
    assert_eq!(plan(), better);
    // A statement prepared before comes to it too, and soon.
    for _ in 0..4 {
        user.query("execute p");
    }
    assert_eq!(user.query("explain (costs off) execute p"), better);
}

#[test]
fn a_union_part_may_compute_its_columns_by_subqueries() {
    let server = Server::new();
    let session = server.connect();
    session.query("create table r (id oid, v int2vector); insert into r values (1259, '1 2')");
    let sql = "select relname, null from pg_class where oid = 1249 union \
               select relname, case when v is not null then \
               (select string_agg(attname, ',') from generate_series(0, array_upper(r.v::int2[], 1)) s, pg_attribute \
               where attrelid = r.id and attnum = r.v[s]) end from r join pg_class c on c.oid = r.id where r.id = '1259' \
               order by 1";
    assert_eq!(session.query(sql), "pg_attribute|\npg_class|oid,relname");
}

#[test]
fn prepared_statements_are_listed() {
    let server = Server::new();
    let client = server.connect();
    client.query("PREPARE q(int, text) AS SELECT $1 + 1, $2");
    client.query("EXECUTE q(1, 'x')");
    assert_eq!(
        client.query("SELECT name, statement, parameter_types, result_types, from_sql, generic_plans FROM pg_prepared_statements"),
        "q|PREPARE q(int, text) AS SELECT $1 + 1, $2|{integer,text}|{integer,text}|t|0"
    );
    client.query("DEALLOCATE q");
    assert_eq!(client.query("SELECT count(*) FROM pg_prepared_statements"), "0");
}

#[test]
fn constants_mean_what_settings_and_the_time_make_of_them() {
    let server = Server::new();
    let (s, other) = (server.connect(), server.connect());
    let midnight = "select extract(epoch from '2000-01-01'::timestamptz)";
    s.query("set timezone = 'UTC'");
    other.query("set timezone = 'Asia/Tokyo'");
    assert_eq!(s.query(midnight), "946684800.000000");
    assert_eq!(other.query(midnight), "946652400.000000");
    let day = "select '01/02/2003'::date - '2003-01-01'::date";
    s.query("set datestyle = 'ISO, MDY'");
    assert_eq!(s.query(day), "1");
    s.query("set datestyle = 'ISO, DMY'");
    assert_eq!(s.query(day), "31");
    let now = "select 'now'::timestamptz = now(), '2000-01-01'::date < 'today'";
    for _ in 0..3 {
        assert_eq!((s.query(now), other.query(now)), ("t|t".into(), "t|t".into()));
    }
    // The least integer is one, sign and all.
    assert_eq!(s.query("select pg_typeof(-2147483648), pg_typeof(-2147483649)"), "integer|bigint");
}

#[test]
fn functions_of_analysis() {
    let server = Server::new();
    let s = server.connect();
    let all = "select erf(0.5), erfc(0.5), gamma(5), gamma(0.5), lgamma(10), erf('nan'), lgamma('-inf'), gamma('inf')";
    let expected =
        "0.5204998778130465|0.4795001221869535|24|1.772453850905516|12.80182748008147|NaN|Infinity|Infinity";
    assert_eq!(s.query(all), expected);
    for argument in ["0", "-1", "1000", "'-inf'"] {
        assert_eq!(s.query(&format!("select gamma({argument})")), "ERROR:  value out of range: overflow");
    }
}

#[test]
fn a_function_may_be_the_first_to_name_a_setting() {
    let server = Server::new();
    let s = server.connect();
    s.run("create function f() returns text set my.f = 'in' return current_setting('my.f')").unwrap();
    assert_eq!(s.query("select f()"), "in");
    assert_eq!(s.query("show my.f"), "");
    s.run("begin; set local my.g = 'x'; commit").unwrap();
    assert_eq!(
        s.query("select current_setting('my.g', true) = '', current_setting('my.h', true) is null"),
        "t|t"
    );
}

#[test]
fn a_parameter_that_is_no_value_of_its_type_is_named_and_not_shown() {
    let server = Server::new();
    let s = server.connect();
    let (session, mut out) = (s.session(), Collected::default());
    session.parse("", "select $1::int, $2::int", &[], &mut out).unwrap();
    let context = |format, value: &[u8]| {
        let values = [Some(&b"1"[..]), Some(value)];
        let error = session.bind("", "", &[Format::Text, format], &values, &[]).unwrap_err();
        session.sync(&mut Collected::default()).unwrap();
        error.report().context.clone().unwrap_or_default()
    };
    assert_eq!(context(Format::Text, b"x"), "unnamed portal parameter $2 = '...'");
    assert_eq!(context(Format::Text, b""), "unnamed portal parameter $2 = ''");
    assert_eq!(context(Format::Binary, b"123"), "unnamed portal parameter $2");
}

#[test]
fn parameters_are_held_to_their_domains_and_to_the_encoding() {
    let server = Server::new();
    let s = server.connect();
    s.run("create domain whole as int not null").unwrap();
    s.run("create domain inner_one as int check (value < 9); create domain more as inner_one not null check (value > 0)").unwrap();
    let inherited = s.run("select 10::more").map(drop).unwrap_err();
    let message = "value for domain more violates check constraint \"inner_one_check\"";
    assert_eq!(inherited.report().message, message);
    s.run("create domain checked as text check (value is not null and value <> '')").unwrap();
    s.run("create type mood as enum ('sad')").unwrap();
    let null_element = s.run("select '{NULL}'::whole[]").map(drop).unwrap_err();
    assert_eq!(null_element.report().message, "domain whole does not allow null values");
    let (session, mut out) = (s.session(), Collected::default());
    let mut bound = |ty: &str, format, value: Option<&[u8]>| {
        session.parse("", &format!("select $1::{ty}"), &[], &mut out).unwrap();
        let bound = session.bind("", "", &[format], &[value], &[]);
        session.sync(&mut Collected::default()).unwrap();
        bound.map_or_else(|error| format!("{} {}", error.code(), error.report().message), |()| "bound".into())
    };
    for format in [Format::Text, Format::Binary] {
        assert_eq!(bound("whole", format, None), "23502 domain whole does not allow null values");
        let broken = "23514 value for domain checked violates check constraint \"checked_check\"";
        assert_eq!(bound("checked", format, None), broken);
        for ty in ["int", "text", "mood", "mood[]", "whole[]"] {
            assert_eq!(bound(ty, format, None), "bound", "{ty}");
        }
        for ty in ["text", "varchar", "char(3)", "name", "json", "checked"] {
            let zero = "22021 invalid byte sequence for encoding \"UTF8\": 0x00";
            assert_eq!(bound(ty, format, Some(b"a\0b")), zero, "{ty}");
            let bad = "22021 invalid byte sequence for encoding \"UTF8\": 0xff";
            assert_eq!(bound(ty, format, Some(b"a\xFF")), bad, "{ty}");
        }
    }
}
