//! Collations through whole sessions: what sorts, compares, groups, joins, searches and changes case by them.

use crate::support::{Client, Server};

fn error(client: &Client, sql: &str) -> String {
    match client.run(sql) {
        Ok(_) => format!("no error: {sql}"),
        Err(error) => format!("{} {}", error.code().as_str(), error.message()),
    }
}

fn session(server: &Server) -> Client {
    let s = server.connect();
    for sql in [
        "create collation ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
        "create table w (x text collate \"sv-x-icu\", y text collate ci, z text collate \"C\")",
        "insert into w select a, a, a from unnest(array['abc', 'äbc', 'bbc', 'ABC', 'zbc']) a",
    ] {
        s.run(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    s
}

#[test]
fn rows_are_sorted_by_the_collation_of_the_key() {
    let server = Server::new();
    let s = session(&server);
    let sorted = |by: &str| s.query(&format!("select string_agg(z, ',' order by {by}) from w"));
    assert_eq!(sorted("x"), "abc,ABC,bbc,zbc,äbc");
    assert_eq!(sorted("x collate \"en-x-icu\""), "abc,ABC,äbc,bbc,zbc");
    assert_eq!(sorted("z"), "ABC,abc,bbc,zbc,äbc");
    assert_eq!(s.query("select min(x) || max(x) || greatest(min(x), 'ö') from w"), "abcäbcö");
    assert_eq!(s.query("select 'ä' < 'b' collate \"de-x-icu\", 'ä' < 'b' collate \"sv-x-icu\""), "t|f");
}

#[test]
fn texts_may_be_equal_that_have_other_bytes() {
    let server = Server::new();
    let s = session(&server);
    assert_eq!(s.query("select count(*), count(distinct y), count(distinct z) from w"), "5|4|5");
    assert_eq!(s.query("select count(*) from (select y from w group by y) g"), "4");
    assert_eq!(s.query("select count(*) from (select y from w union select 'ABC') g"), "4");
    assert_eq!(s.query("select count(*) from w a join w b on a.y = b.y"), "7");
    assert_eq!(s.query("select count(*) from w where y in ('ABC', 'ZBC', 'no')"), "3");
    assert_eq!(s.query("select count(*) from w where y not in (select 'ABC')"), "3");
    assert_eq!(s.query("select count(*) from w where y like 'AB%'"), "2");
    assert_eq!(s.query("select array['a'] = array['A'] collate ci"), "t");
    assert!(error(&s, "select y ~ 'a' from w").starts_with("0A000 nondeterministic collations"));
    assert!(error(&s, "create unique index on w (y)").starts_with("23505"));
}

#[test]
fn indexes_are_searched_in_their_order() {
    let server = Server::new();
    let s = session(&server);
    for sql in ["create index wx on w (x)", "create index wy on w (y)", "set enable_seqscan = off"] {
        s.run(sql).unwrap();
    }
    let found =
        |condition: &str| s.query(&format!("select string_agg(z, ',' order by z) from w where {condition}"));
    assert_eq!(found("x > 'zbc'"), "äbc");
    assert_eq!(found("x >= 'abc' and x < 'b'"), "ABC,abc");
    assert_eq!(found("y = 'ABC'"), "ABC,abc");
    assert_eq!(found("x = any (array['äbc', 'bbc', 'no'])"), "bbc,äbc");
    // Another collation is not that of the index.
    assert_eq!(found("x > 'zbc' collate \"en-x-icu\""), "");
    assert_eq!(
        s.query("select string_agg(x, ',') from (select x from w order by x) o"),
        "abc,ABC,bbc,zbc,äbc"
    );
}

#[test]
fn partitions_are_chosen_by_the_collation_of_the_key() {
    let server = Server::new();
    let s = session(&server);
    for sql in [
        "create table p (a text collate ci) partition by list (a)",
        "create table p1 partition of p for values in ('abc')",
        "insert into p values ('abc'), ('ABC')",
        "create table h (a text collate ci) partition by hash (a)",
        "create table h0 partition of h for values with (modulus 2, remainder 0)",
        "create table h1 partition of h for values with (modulus 2, remainder 1)",
        "insert into h values ('def'), ('DEF')",
    ] {
        s.run(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    assert_eq!(s.query("select count(*) from p where a = 'Abc'"), "2");
    assert_eq!(s.query("select count(*) in (0, 2) from h0"), "t");
}

#[test]
fn letters_change_case_by_their_collation() {
    let server = Server::new();
    let s = server.connect();
    assert_eq!(
        s.query("select lower('HIJ' collate \"tr-x-icu\"), upper('hij' collate \"tr-x-icu\")"),
        "hıj|HİJ"
    );
    assert_eq!(s.query("select upper('ß' collate pg_c_utf8), upper('ß' collate pg_unicode_fast)"), "ß|SS");
    assert_eq!(s.query("select upper('ä' collate \"C\"), initcap('äb cd' collate \"de-x-icu\")"), "ä|Äb Cd");
    assert_eq!(s.query("select 'Türkiye' collate \"tr-x-icu\" ilike '%KI%'"), "f");
}

#[test]
fn comparisons_need_to_know_their_collation() {
    let server = Server::new();
    let s = session(&server);
    let unknown = "42P22 could not determine which collation to use for string comparison";
    assert_eq!(error(&s, "select x < z from w"), unknown);
    assert_eq!(s.query("select count(x || z) from w"), "5");
    let mismatch = "42P21 collation mismatch between implicit collations \"sv-x-icu\" and \"C\"";
    for sql in [
        "select z from w order by x || z",
        "select array_agg(y order by x || z) from w",
        "select x from w union select z from w",
        "select x from w except select z from w order by 1",
    ] {
        assert_eq!(error(&s, sql), mismatch, "{sql}");
    }
    assert_eq!(s.query("select count(*) from (select x from w union all select z from w) u"), "10");
    assert_eq!(s.query("select count(*) from (select x from w union select z collate \"C\" from w) u"), "5");
    assert_eq!(
        error(&s, "create table u as select x from w union all select z from w"),
        "42P22 no collation was derived for column \"x\" with collatable type text"
    );
    assert_eq!(
        error(&s, "create view u as select x from w union all select z from w"),
        "42P22 could not determine which collation to use for view column \"x\""
    );
    assert_eq!(s.query("select count(*) from unnest((select array_agg(x) from w))"), "5");
}

#[test]
fn collations_are_made_changed_and_dropped() {
    let server = Server::new();
    let s = session(&server);
    for (sql, expected) in [
        ("create collation ci from \"C\"", "42710 collation \"ci\" already exists"),
        ("create collation d from \"default\"", "42P17 collation \"default\" cannot be copied"),
        ("create collation d (provider = builtin)", "42P17 parameter \"locale\" must be specified"),
        (
            "create collation d (locale = 'nowhere')",
            "22023 could not create locale \"nowhere\": No such file or directory",
        ),
        (
            "create collation d (provider = icu, locale = '', rules = '&a < g')",
            "0A000 CREATE COLLATION with RULES is not supported yet",
        ),
        (
            "create collation d (provider = builtin, locale = 'x')",
            "42809 invalid locale name \"x\" for builtin provider",
        ),
        ("drop collation ci", "2BP01 cannot drop collation ci because other objects depend on it"),
        ("drop collation d", "42704 collation \"d\" for encoding \"UTF8\" does not exist"),
        (
            "create index on w (y text_pattern_ops)",
            "0A000 nondeterministic collations are not supported for operator class \"text_pattern_ops\"",
        ),
    ] {
        assert_eq!(error(&s, sql), expected, "{sql}");
    }
    for sql in [
        "create collation if not exists ci from \"C\"",
        "alter collation ci refresh version",
        "alter collation ci rename to cj",
        "create schema other",
        "alter collation cj set schema other",
        "comment on collation other.cj is 'alike'",
        "drop table w",
        "drop collation other.cj",
        "drop collation if exists other.cj",
    ] {
        s.run(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    assert_eq!(s.query("select count(*) > 700 from pg_collation where collprovider = 'i'"), "t");
    assert_eq!(s.query("select pg_collation_actual_version(oid) = collversion from pg_collation where collname = 'unicode'"), "t");
}
