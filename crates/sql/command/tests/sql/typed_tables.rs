//! Typed tables, and composite types that are altered while tables store them.

use crate::support::{Client, Server};

fn error(s: &Client, sql: &str) -> String {
    s.run(sql).err().map_or_else(|| format!("{sql}: no error"), |e| format!("{} {}", e.code(), e.message()))
}

#[test]
fn a_typed_table_changes_with_its_type_only() {
    let server = Server::new();
    let s = server.connect();
    s.run(
        "create type person as (id int, name text); create table a of person;
         create table b of person (name with options default 'x' not null, primary key (id), check (id > 0));
         insert into a values (1, 'one'); insert into b values (2); create table loose (id int)",
    )
    .unwrap();
    assert_eq!(s.query("select reloftype::regtype from pg_class where relname = 'b'"), "person");
    assert_eq!(s.query("table b"), "2|x");
    for (sql, expected) in [
        ("create table c of int4", "42809 type integer is not a composite type"),
        ("create table c of a", "42809 type a is the row type of another table"),
        ("create table c of person (nope with options unique)", "42703 column \"nope\" does not exist"),
        ("alter table a add x int", "42809 cannot add column to typed table"),
        ("alter table a drop name", "42809 cannot drop column from typed table"),
        ("alter table a rename id to x", "42809 cannot rename column of typed table"),
        ("alter table a alter name type varchar", "42809 cannot alter column type of typed table"),
        ("alter table a inherit loose", "42809 cannot change inheritance of typed table"),
        ("alter table loose not of", "42809 \"loose\" is not a typed table"),
        ("alter table loose of person", "42804 table is missing column \"name\""),
        ("drop type person", "2BP01 cannot drop type person because other objects depend on it"),
    ] {
        assert_eq!(error(&s, sql), expected);
    }
    for action in [
        "add attribute x int",
        "drop attribute id",
        "alter attribute id type int8",
        "rename attribute id to x",
    ] {
        assert_eq!(
            error(&s, &format!("alter type person {action}")),
            "2BP01 cannot alter type \"person\" because it is the type of a typed table"
        );
    }
    s.run("alter type person add attribute x int cascade, alter attribute id type int8 cascade").unwrap();
    s.run("alter type person rename attribute name to nombre cascade").unwrap();
    assert_eq!(s.query("select pg_typeof(id), nombre, x from a"), "bigint|one|");
    s.run("alter type person drop attribute x cascade").unwrap();
    assert_eq!(s.query("table b"), "2|x");
    s.run("alter table b not of; alter table b add y int").unwrap();
    assert_eq!(error(&s, "alter table b of person"), "42804 table has extra column \"y\"");
    s.run("alter table b drop y; alter table b of person; drop type person cascade").unwrap();
    assert_eq!(s.query("select count(*) from pg_class where relname in ('a', 'b')"), "0");
}

#[test]
fn stored_values_keep_the_attributes_that_they_had() {
    let server = Server::new();
    let s = server.connect();
    s.run(
        "create type addr as (street text, no int); create table t (id int, a addr, aa addr[]);
         insert into t values (1, ('x', 1), array[('y', 2)::addr]);
         alter type addr add attribute zip text;
         insert into t values (2, ('x', 1, null), array[('y', 2, 'z')::addr])",
    )
    .unwrap();
    assert_eq!(s.query("select a, (aa[1]).zip from t order by id"), "(x,1,)|\n(x,1,)|z");
    assert_eq!(s.query("select count(*) from (select distinct a from t) d"), "1");
    assert_eq!(s.query("select count(*) from t x join t y on x.a = y.a"), "4");
    s.run("alter type addr drop attribute street; insert into t values (3, (7, 'w'))").unwrap();
    assert_eq!(s.query("select a from t order by a desc, id"), "(7,w)\n(1,)\n(1,)");
    s.run("update t set a.zip = 'q' where id < 3").unwrap();
    assert_eq!(
        s.query("select a, (a).no, row_to_json(a) from t where id = 1"),
        "(1,q)|1|{\"no\":1,\"zip\":\"q\"}"
    );
    assert_eq!(
        error(&s, "alter type addr alter attribute no type text"),
        "0A000 cannot alter type \"addr\" because column \"t.aa\" uses it"
    );
    s.run("alter type addr rename attribute no to number").unwrap();
    assert_eq!(s.query("select (a).number from t where id = 3"), "7");
}

#[test]
fn types_get_other_names_and_schemas() {
    let server = Server::new();
    let s = server.connect();
    s.run(
        "create schema other; create type mood as enum ('sad'); create table t (m mood, mm mood[]);
         insert into t values ('sad', '{sad}'); create domain pos as int check (value > 0); create type pair as (a int)",
    )
    .unwrap();
    s.run("alter type mood rename to feeling; alter domain pos rename to positive").unwrap();
    assert_eq!(s.query("select pg_typeof(m), pg_typeof(mm) from t"), "feeling|feeling[]");
    assert_eq!(s.query("select typname from pg_type where typname in ('_mood', '_feeling')"), "_feeling");
    s.run("alter type feeling set schema other; alter domain positive set schema other").unwrap();
    s.run("alter type pair set schema other").unwrap();
    assert_eq!(s.query("select 'sad'::other.feeling, '{sad}'::other.feeling[], m from t"), "sad|{sad}|sad");
    assert_eq!(
        error(&s, "select 0::other.positive"),
        "23514 value for domain other.positive violates check constraint \"pos_check\""
    );
    for (sql, expected) in [
        ("alter type t rename to u", "42809 t is a table's row type"),
        ("alter type _int4 rename to u", "42809 cannot alter array type integer[]"),
        ("alter domain other.feeling rename to u", "42809 other.feeling is not a domain"),
        ("alter type other.pair rename to feeling", "42710 type \"feeling\" already exists"),
        ("alter type nosuch rename to u", "42704 type \"nosuch\" does not exist"),
        ("drop schema other", "2BP01 cannot drop schema other because other objects depend on it"),
    ] {
        assert_eq!(error(&s, sql), expected);
    }
    s.run("drop schema other cascade").unwrap();
    assert_eq!(s.query("select count(*) from pg_type where typname in ('feeling', 'positive', 'pair')"), "0");
}
