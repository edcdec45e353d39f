//! Addresses of objects, and their names.

use crate::support::{Client, Server};

fn error(s: &Client, sql: &str) -> String {
    s.run(sql).err().map_or_else(|| format!("{sql}: no error"), |e| format!("{} {}", e.code(), e.message()))
}

const EVERYTHING: &str = "select 'pg_proc'::regclass::oid as c, oid as o, 0 as s from pg_proc
    union all select 'pg_type'::regclass, oid, 0 from pg_type
    union all select 'pg_operator'::regclass, oid, 0 from pg_operator where oprleft <> 0
    union all select 'pg_cast'::regclass, oid, 0 from pg_cast
    union all select 'pg_opclass'::regclass, oid, 0 from pg_opclass
    union all select 'pg_opfamily'::regclass, oid, 0 from pg_opfamily
    union all select 'pg_am'::regclass, oid, 0 from pg_am
    union all select 'pg_amop'::regclass, oid, 0 from pg_amop
    union all select 'pg_amproc'::regclass, oid, 0 from pg_amproc
    union all select 'pg_class'::regclass, oid, 0 from pg_class where relkind not in ('t', 'c')
    union all select 'pg_class'::regclass, attrelid, attnum from pg_attribute join pg_class c on c.oid = attrelid
        where relnamespace = 'public'::regnamespace and relkind = 'r'
    union all select 'pg_constraint'::regclass, oid, 0 from pg_constraint
    union all select 'pg_attrdef'::regclass, oid, 0 from pg_attrdef
    union all select 'pg_rewrite'::regclass, oid, 0 from pg_rewrite
    union all select 'pg_trigger'::regclass, oid, 0 from pg_trigger
    union all select 'pg_namespace'::regclass, oid, 0 from pg_namespace
    union all select 'pg_language'::regclass, oid, 0 from pg_language
    union all select 'pg_collation'::regclass, oid, 0 from pg_collation
    union all select 'pg_conversion'::regclass, oid, 0 from pg_conversion
    union all select 'pg_default_acl'::regclass, oid, 0 from pg_default_acl
    union all select 'pg_largeobject'::regclass, oid, 0 from pg_largeobject_metadata
    union all select 'pg_authid'::regclass, oid, 0 from pg_authid
    union all select 'pg_database'::regclass, oid, 0 from pg_database
    union all select 'pg_tablespace'::regclass, oid, 0 from pg_tablespace
    union all select 'pg_extension'::regclass, oid, 0 from pg_extension";

#[test]
fn the_address_of_an_object_leads_back_to_it() {
    let server = Server::new();
    let s = server.connect();
    s.run(
        "create table \"A b\" (\"C d\" serial primary key, v text default 'x' constraint \"K k\" check (v > ''));
         create domain \"D d\" as int constraint \"P p\" check (value > 0);
         create function \"F f\"(\"D d\", text[]) returns int language sql as 'select 1';
         create table child (a int references \"A b\");
         alter default privileges in schema public grant select on tables to public;
         alter default privileges grant usage on types to public;
         select lo_create(4711)",
    )
    .unwrap();
    assert_eq!(
        s.query(&format!(
            "select c::regclass, o, s, a.*, r.* from ({EVERYTHING}) e, pg_identify_object_as_address(c, o, s) a,
             pg_get_object_address(a.type, a.object_names, a.object_args) r where (r.*) is distinct from (c, o, s)"
        )),
        ""
    );
    assert_eq!(
        s.query("select (pg_identify_object('pg_class'::regclass, '\"A b\"'::regclass, 1)).*"),
        "table column|public|\"A b\"|public.\"A b\".\"C d\""
    );
    assert_eq!(
        s.query(
            "select pg_describe_object(classid, objid, objsubid) from pg_depend
             where refobjid = '\"A b\"'::regclass and classid not in ('pg_class'::regclass, 'pg_trigger'::regclass)
             group by 1 order by 1"
        ),
        "constraint A b_C d_not_null on table \"A b\"\nconstraint A b_pkey on table \"A b\"\nconstraint K k on table \"A b\"\n\
         constraint child_a_fkey on table child\ndefault value for column C d of table \"A b\"\n\
         default value for column v of table \"A b\"\ntype \"A b\""
    );
}

#[test]
fn names_that_mean_nothing_are_refused() {
    let server = Server::new();
    let s = server.connect();
    for (args, expected) in [
        ("'stone', '{}', '{}'", "22023 unrecognized object type \"stone\""),
        ("'index column', '{a}', '{}'", "22023 unsupported object type \"index column\""),
        ("'table', '{}', '{}'", "22023 name list length must be at least 1"),
        ("'table', '{NULL}', '{}'", "22023 name or argument lists may not contain nulls"),
        ("'large object', '{NULL}', '{}'", "22023 large object OID may not be null"),
        ("'table', '{nosuch,x}', '{}'", "3F000 schema \"nosuch\" does not exist"),
        ("'view', '{pg_class}', '{}'", "42809 \"pg_class\" is not a view"),
        ("'table column', '{pg_class}', '{}'", "42601 column name must be qualified"),
        (
            "'default value', '{pg_class,oid}', '{}'",
            "42703 default value for column \"oid\" of relation \"pg_class\" does not exist",
        ),
        ("'operator', '{+}', '{int4,point}'", "42883 operator does not exist: integer + point"),
        (
            "'operator class', '{btree,x}', '{}'",
            "42704 operator class \"x\" does not exist for access method \"btree\"",
        ),
        ("'cast', '{int4}', '{text[]}'", "42704 cast from type integer to type text[] does not exist"),
        ("'function', '{a,b,c}', '{}'", "0A000 cross-database references are not implemented: a.b.c"),
        (
            "'default acl', '{postgres,public}', '{r}'",
            "42704 default ACL for user \"postgres\" in schema \"public\" on tables does not exist",
        ),
        ("'server', '{one,two}', '{}'", "22023 name list length must be exactly 1"),
    ] {
        assert_eq!(error(&s, &format!("select pg_get_object_address({args})")), expected, "{args}");
    }
    assert_eq!(
        s.query("select pg_identify_object('pg_proc'::regclass, 0, 0), pg_describe_object('pg_proc'::regclass, 0, 0) is null"),
        "(routine,,,)|t"
    );
    assert_eq!(error(&s, "select pg_identify_object(1, 1, 0)"), "XX000 unsupported object class: 1");
}
