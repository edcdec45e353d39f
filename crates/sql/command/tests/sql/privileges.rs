//! GRANT, REVOKE, owners, and what they let whom do.

use crate::support::{Client, Server};

fn error(client: &Client, sql: &str) -> String {
    match client.run(sql) {
        Ok(_) => format!("no error: {sql}"),
        Err(error) => format!("{} {}", error.code().as_str(), error.message()),
    }
}

fn all(client: &Client, statements: &[&str]) {
    for sql in statements {
        client.run(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

/// A server with users a and b, and the superuser's session.
fn server() -> (Server, Client) {
    let server = Server::new();
    let su = server.connect();
    all(&su, &["create role a login", "create role b login"]);
    (server, su)
}

#[test]
fn tables_are_their_owners() {
    let (server, su) = server();
    all(&su, &["create table t (x int, y int)", "insert into t values (1, 2)"]);
    let a = server.connect_as("a").unwrap();
    for sql in [
        "select * from t",
        "insert into t values (1)",
        "update t set x = 1",
        "delete from t",
        "truncate t",
        "copy t to stdout",
        "explain select * from t",
        "create table u as select * from t",
        "begin; declare c cursor for select 1 from t",
        "begin; lock table t in access share mode",
    ] {
        assert_eq!(error(&a, sql), "42501 permission denied for table t", "{sql}");
        a.query("rollback");
    }
    for sql in
        ["drop table t", "alter table t add z int", "create index on t (x)", "comment on table t is ''"]
    {
        assert_eq!(error(&a, sql), "42501 must be owner of table t", "{sql}");
    }
    all(&su, &["grant select, update on t to a"]);
    assert_eq!(a.query("update t set x = x + 1; select * from t"), "2|2");
    assert_eq!(error(&a, "delete from t"), "42501 permission denied for table t");
    assert_eq!(
        su.query("select relacl from pg_class where relname = 't'"),
        "{postgres=arwdDxtm/postgres,a=rw/postgres}"
    );
    all(&su, &["revoke all on t from a"]);
    assert_eq!(error(&a, "select 1 from t"), "42501 permission denied for table t");
    all(&su, &["alter table t owner to a"]);
    all(&a, &["alter table t add z int", "drop table t"]);
}

#[test]
fn a_plan_lets_nobody_else_in() {
    let (server, su) = server();
    all(
        &su,
        &["create table t (x int)", "insert into t values (1)", "grant select on t to a", "create role g"],
    );
    let (a, b) = (server.connect_as("a").unwrap(), server.connect_as("b").unwrap());
    let denied = "42501 permission denied for table t";
    for _ in 0..3 {
        assert_eq!(a.query("select x from t"), "1");
        assert_eq!(error(&b, "select x from t"), denied);
    }
    // A statement that was prepared as one user does not run as another.
    all(&su, &["prepare p as select x from t", "execute p", "set role a"]);
    assert_eq!(su.query("execute p"), "1");
    all(&su, &["reset role", "set role b"]);
    assert_eq!(error(&su, "execute p"), denied);
    all(&su, &["reset role"]);
    assert_eq!(su.query("execute p"), "1");
    // Rights that go are missed at once, whichever way they came.
    all(&a, &["prepare p as select x from t"]);
    assert_eq!(a.query("execute p"), "1");
    all(&su, &["revoke select on t from a"]);
    assert_eq!(error(&a, "execute p"), denied);
    all(&su, &["grant select on t to g", "grant g to a"]);
    assert_eq!(a.query("execute p"), "1");
    all(&su, &["revoke g from a"]);
    assert_eq!(error(&a, "execute p"), denied);
    all(&su, &["grant g to a with inherit false"]);
    assert_eq!(error(&a, "execute p"), denied);
    all(&su, &["grant g to a with inherit true"]);
    assert_eq!(a.query("execute p"), "1");
    all(&su, &["revoke usage on schema public from public"]);
    assert_eq!(error(&a, "execute p"), "42P01 relation \"t\" does not exist");
    all(&su, &["grant usage on schema public to a"]);
    assert_eq!(a.query("execute p"), "1");
    all(&su, &["alter role a superuser", "revoke g from a"]);
    assert_eq!(a.query("execute p"), "1");
    all(&su, &["alter role a nosuperuser"]);
    assert_eq!(error(&a, "execute p"), denied);
    // An aborted change changes nothing.
    all(&su, &["begin", "grant select on t to a", "rollback"]);
    assert_eq!(error(&a, "execute p"), denied);
}

#[test]
fn columns_have_their_own() {
    let (server, su) = server();
    all(&su, &["create table t (x int, y int, z int)", "insert into t values (1, 2, 3)"]);
    all(&su, &["grant select (x, y), update (y), insert (x) on t to a"]);
    let a = server.connect_as("a").unwrap();
    assert_eq!(a.query("select x, y from t where x = 1"), "1|2");
    for sql in [
        "select * from t",
        "select z from t",
        "select t from t",
        "update t set x = 1",
        "select ctid from t",
        "insert into t (x, y) values (1, 1)",
        "update t set y = z",
        "insert into t (x) values (1) returning z",
    ] {
        assert_eq!(error(&a, sql), "42501 permission denied for table t", "{sql}");
    }
    all(
        &a,
        &[
            "update t set y = x + 1",
            "insert into t (x) values (9)",
            "select 1 from t",
            "copy t (x, y) to stdout",
        ],
    );
    assert_eq!(error(&a, "copy t to stdout"), "42501 permission denied for table t");
    let attacl =
        "select attname, attacl from pg_attribute where attrelid = 't'::regclass and attacl is not null";
    assert_eq!(su.query(attacl), "x|{a=ar/postgres}\ny|{a=rw/postgres}");
    let has =
        "select has_column_privilege('a', 't', 'z', 'select'), has_any_column_privilege('a', 't', 'insert')";
    assert_eq!(su.query(has), "f|t");
    all(&su, &["revoke select on t from a"]);
    assert_eq!(su.query(attacl), "x|{a=a/postgres}\ny|{a=w/postgres}");
    assert_eq!(error(&su, "grant delete (x) on t to a"), "0LP01 invalid privilege type DELETE for column");
    assert_eq!(
        error(&su, "grant select (q) on t to a"),
        "42703 column \"q\" of relation \"t\" does not exist"
    );
}

#[test]
fn dropped_columns_grant_nothing_and_who_may_not_maintain_is_warned_once() {
    let (server, su) = server();
    all(
        &su,
        &[
            "create table t (x int, y int)",
            "grant select (x) on t to a",
            "grant create on schema public to a",
        ],
    );
    let a = server.connect_as("a").unwrap();
    all(&a, &["select 1 from t"]);
    all(&su, &["alter table t drop x", "create domain d as int", "revoke usage on type d from public"]);
    assert_eq!(error(&a, "select 1 from t"), "42501 permission denied for table t");
    assert_eq!(
        a.run("vacuum analyze t").unwrap().notices,
        ["permission denied to vacuum \"t\", skipping it"]
    );
    for sql in [
        "create function f(d) returns int language sql as 'select 1'",
        "create function f() returns d language sql as 'select 1'",
    ] {
        assert_eq!(error(&a, sql), "42501 permission denied for type d");
    }
    all(&su, &["grant maintain on t to a"]);
    assert_eq!(a.run("vacuum analyze t").unwrap().notices, Vec::<String>::new());
}

#[test]
fn views_ask_for_their_owner() {
    let (server, su) = server();
    all(&su, &["create table t (x int)", "insert into t values (1)", "create view v as select x from t"]);
    all(&su, &["grant select on v to a", "grant create on schema public to a"]);
    let a = server.connect_as("a").unwrap();
    assert_eq!(a.query("select * from v"), "1");
    all(&a, &["create view w as select * from v", "create view u as select * from t"]);
    assert_eq!(a.query("select * from w"), "1");
    assert_eq!(error(&a, "select * from u"), "42501 permission denied for table t");
    all(&a, &["grant select on u to b", "grant select on w to b"]);
    let b = server.connect_as("b").unwrap();
    assert_eq!(b.query("select * from w"), "1");
    assert_eq!(error(&b, "select * from v"), "42501 permission denied for view v");
    assert_eq!(error(&b, "select * from u"), "42501 permission denied for table t");
    all(&su, &["alter view v owner to b"]);
    assert_eq!(error(&a, "select * from w"), "42501 permission denied for table t");
}

#[test]
fn grant_options_and_grantors() {
    let (server, su) = server();
    all(&su, &["create table t (x int)", "create role c login", "grant select on t to a with grant option"]);
    let (a, b) = (server.connect_as("a").unwrap(), server.connect_as("b").unwrap());
    all(&a, &["grant select on t to b"]);
    let acl = "select relacl from pg_class where relname = 't'";
    assert_eq!(su.query(acl), "{postgres=arwdDxtm/postgres,a=r*/postgres,b=r/a}");
    assert_eq!(
        a.run("grant select, insert on t to c").unwrap().notices,
        ["not all privileges were granted for \"t\""]
    );
    assert_eq!(b.run("grant select on t to c").unwrap().notices, ["no privileges were granted for \"t\""]);
    let c = server.connect_as("c").unwrap();
    all(&su, &["revoke select on t from c"]);
    all(&a, &["revoke select on t from c"]);
    assert_eq!(error(&c, "grant select on t to b"), "42501 permission denied for table t");
    assert_eq!(error(&su, "revoke select on t from a"), "2BP01 dependent privileges exist");
    assert_eq!(
        error(&su, "drop role a"),
        "2BP01 role \"a\" cannot be dropped because some objects depend on it"
    );
    all(&su, &["revoke select on t from a cascade"]);
    assert_eq!(su.query(acl), "{postgres=arwdDxtm/postgres}");
    assert_eq!(
        error(&su, "grant select on t to public with grant option"),
        "0LP01 grant options can only be granted to roles"
    );
    assert_eq!(error(&su, "grant usage on t to a"), "0LP01 invalid privilege type USAGE for table");
    assert_eq!(error(&su, "grant foo on t to a"), "42601 unrecognized privilege type \"foo\"");
}

#[test]
fn schemas_types_sequences_and_databases() {
    let (server, su) = server();
    all(
        &su,
        &["create schema s", "create table s.t (x int)", "create sequence q", "create type e as enum ('v')"],
    );
    let a = server.connect_as("a").unwrap();
    assert_eq!(error(&a, "select * from s.t"), "42501 permission denied for schema s");
    assert_eq!(error(&a, "create table t (x int)"), "42501 permission denied for schema public");
    assert_eq!(error(&a, "create schema z"), "42501 permission denied for database postgres");
    assert_eq!(error(&a, "select nextval('q')"), "42501 permission denied for sequence q");
    assert_eq!(error(&a, "drop schema s"), "42501 must be owner of schema s");
    all(
        &su,
        &[
            "grant usage, create on schema s to a",
            "grant usage on sequence q to a",
            "grant create on database postgres to a",
        ],
    );
    assert_eq!(error(&a, "select * from s.t"), "42501 permission denied for table t");
    assert_eq!(a.query("select nextval('q')"), "1");
    assert_eq!(error(&a, "select setval('q', 3)"), "42501 permission denied for sequence q");
    all(&a, &["create table s.own (x e)", "create schema z", "create temp table tt (x int)"]);
    all(&su, &["revoke usage on type e from public", "revoke temp on database postgres from public"]);
    assert_eq!(error(&a, "create table s.other (x e[])"), "42501 permission denied for type e");
    let b = server.connect_as("b").unwrap();
    assert_eq!(
        error(&b, "create temp table tt (x int)"),
        "42501 permission denied to create temporary tables in database \"postgres\""
    );
    all(&su, &["revoke connect on database postgres from public"]);
    assert_eq!(
        server.connect_as("b").map(drop).unwrap_err().message(),
        "permission denied for database \"postgres\""
    );
}

#[test]
fn catalogs_and_predefined_roles() {
    let (server, su) = server();
    all(&su, &["create table t (x int)", "create schema s", "create table s.u (x int)"]);
    let a = server.connect_as("a").unwrap();
    assert_eq!(a.query("select relname from pg_class where relname = 'pg_class'"), "pg_class");
    assert_eq!(a.query("select rolname from pg_roles where rolname = 'a'"), "a");
    assert_eq!(error(&a, "select * from pg_authid"), "42501 permission denied for table pg_authid");
    assert_eq!(error(&a, "select * from pg_shadow"), "42501 permission denied for view pg_shadow");
    assert_eq!(error(&a, "delete from pg_class"), "42501 permission denied for table pg_class");
    all(&su, &["grant all on pg_class to a"]);
    assert_eq!(error(&a, "delete from pg_class"), "42501 permission denied for table pg_class");
    assert_eq!(error(&a, "select pg_reload_conf()"), "42501 permission denied for function pg_reload_conf");
    all(&su, &["grant pg_read_all_data to a"]);
    assert_eq!(a.query("select count(*) from t, s.u"), "0");
    assert_eq!(error(&a, "insert into t values (1)"), "42501 permission denied for table t");
    all(&su, &["grant pg_write_all_data to a", "grant execute on function pg_reload_conf() to a"]);
    all(&a, &["insert into t values (1)", "delete from s.u"]);
    assert_eq!(error(&a, "delete from pg_class"), "42501 permission denied for table pg_class");
    assert_eq!(error(&a, "checkpoint"), "42501 permission denied to execute CHECKPOINT command");
    assert_eq!(error(&a, "show data_directory"), "42501 permission denied to examine \"data_directory\"");
}

#[test]
fn default_privileges() {
    let (server, su) = server();
    all(&su, &["alter default privileges grant select on tables to a", "create schema s"]);
    all(&su, &["alter default privileges in schema s grant insert on tables to b", "create table t (x int)"]);
    all(
        &su,
        &[
            "create table s.t (x int)",
            "create sequence q",
            "alter default privileges revoke usage on types from public",
            "create type e as enum ()",
        ],
    );
    let acl = "select c.relnamespace::regnamespace, relacl from pg_class c where relname in ('t', 'q') order by 1, relname";
    assert_eq!(
        su.query(acl),
        "public|\npublic|{postgres=arwdDxtm/postgres,a=r/postgres}\ns|{postgres=arwdDxtm/postgres,a=r/postgres,b=a/postgres}"
    );
    assert_eq!(su.query("select typacl from pg_type where typname = 'e'"), "{postgres=U/postgres}");
    assert_eq!(
        error(&su, "drop role b"),
        "2BP01 role \"b\" cannot be dropped because some objects depend on it"
    );
    let a = server.connect_as("a").unwrap();
    assert_eq!(
        error(&a, "alter default privileges for role b grant select on tables to a"),
        "42501 permission denied to change default privileges"
    );
    all(&su, &["drop owned by a, b", "drop role a, b"]);
    assert_eq!(
        su.query("select defaclobjtype, defaclnamespace, defaclacl from pg_default_acl"),
        "T|0|{postgres=U/postgres}"
    );
}

#[test]
fn owners_change_and_go() {
    let (server, su) = server();
    all(&su, &["grant create on schema public to a", "grant create on database postgres to a"]);
    let a = server.connect_as("a").unwrap();
    all(&a, &["create table t (id int generated always as identity, x text)", "create index i on t (x)"]);
    all(
        &a,
        &[
            "create type e as enum ('v')",
            "create type r as (x int)",
            "create schema s",
            "create view v as select * from t",
        ],
    );
    all(&a, &["grant select on t to b"]);
    assert_eq!(error(&a, "alter table t owner to b"), "42501 must be able to SET ROLE \"b\"");
    let owners = "select relname from pg_class where relowner = 'b'::regrole and relname not like 'pg_toast%' order by 1";
    all(&su, &["reassign owned by a to b"]);
    assert_eq!(su.query(owners), "i\nr\nt\nt_id_seq\nv");
    assert_eq!(su.query("select typname from pg_type where typowner = 'a'::regrole"), "");
    assert_eq!(su.query("select relacl from pg_class where relname = 't'"), "{b=arwdDxtm/b}");
    let detail = su.run("drop role b").map(drop).unwrap_err().report().detail.clone().unwrap_or_default();
    for owned in [
        "owner of table t",
        "owner of type e",
        "owner of type r",
        "owner of schema s",
        "owner of view v",
        "owner of sequence t_id_seq",
    ] {
        assert!(detail.contains(owned), "{owned} in {detail}");
    }
    assert_eq!(error(&a, "drop owned by b"), "42501 permission denied to drop objects");
    all(&su, &["drop owned by b", "drop role b", "drop owned by a", "drop role a"]);
    assert_eq!(su.query("select count(*) from pg_shdepend"), "0");
    assert_eq!(
        error(&su, "drop owned by postgres"),
        "2BP01 cannot drop objects owned by role postgres because they are required by the database system"
    );
}

#[test]
fn conflicts_and_violations_tell_only_what_may_be_known() {
    let (server, su) = server();
    all(
        &su,
        &[
            "create table t (k int primary key, v int check (v > 0), w text)",
            "insert into t values (1, 1, 'secret')",
        ],
    );
    all(&su, &["grant insert (k, v), update (v), select (v) on t to a"]);
    let a = server.connect_as("a").unwrap();
    let denied = "42501 permission denied for table t";
    assert_eq!(error(&a, "insert into t (k) values (1) on conflict (k) do nothing"), denied);
    assert_eq!(error(&a, "insert into t (k) values (1) on conflict on constraint t_pkey do nothing"), denied);
    all(&a, &["insert into t (k) values (1) on conflict do nothing"]);
    let detail = |client: &Client, sql: &str| {
        client.run(sql).map(drop).unwrap_err().report().detail.clone().unwrap_or_default()
    };
    assert_eq!(detail(&a, "insert into t (k) values (1)"), "");
    assert_eq!(detail(&a, "insert into t (k, v) values (2, -1)"), "Failing row contains (k, v) = (2, -1).");
    assert_eq!(detail(&a, "update t set v = -2"), "Failing row contains (v) = (-2).");
    assert_eq!(detail(&su, "update t set v = -2"), "Failing row contains (1, -2, secret).");
    assert_eq!(detail(&su, "insert into t values (1, 1)"), "Key (k)=(1) already exists.");
    all(&su, &["grant select (k) on t to a"]);
    all(&a, &["insert into t (k) values (1) on conflict (k) do update set v = excluded.v + 5"]);
    assert_eq!(
        error(&a, "insert into t (k) values (1) on conflict (k) do update set v = length(excluded.w)"),
        denied
    );
}

#[test]
fn functions_ask_for_their_caller_or_their_owner() {
    let (server, su) = server();
    all(&su, &["create table t (x int)", "insert into t values (7)"]);
    all(&su, &["create function own() returns int language sql security definer as 'select x from t'"]);
    all(&su, &["create function callers() returns int language sql as 'select x from t'"]);
    all(
        &su,
        &[
            "create function who() returns text language sql security definer set work_mem = '1MB' as 'select current_user::text || session_user'",
        ],
    );
    all(
        &su,
        &[
            "create function sets() returns text language sql security definer as $$select set_config('role', 'b', true)$$",
        ],
    );
    let a = server.connect_as("a").unwrap();
    assert_eq!(a.query("select own(), who()"), "7|postgresa");
    assert_eq!(error(&a, "select callers()"), "42501 permission denied for table t");
    assert_eq!(a.query("select current_user"), "a");
    assert_eq!(
        error(&a, "select sets()"),
        "42501 cannot set parameter \"role\" within security-definer function"
    );
    assert_eq!(error(&a, "drop function own()"), "42501 must be owner of function own");
    all(&su, &["revoke execute on function own() from public"]);
    assert_eq!(error(&a, "select own()"), "42501 permission denied for function own");
    assert_eq!(
        su.query("select pg_get_acl('pg_proc'::regclass, 'own'::regproc, 0)"),
        "{postgres=X/postgres}"
    );
    all(&su, &["grant execute on all functions in schema public to a"]);
    assert_eq!(a.query("select own()"), "7");
    all(&su, &["grant create on schema public to a", "revoke usage on language sql from public"]);
    assert_eq!(
        error(&a, "create function f() returns int language sql as 'select 1'"),
        "42501 permission denied for language sql"
    );
    all(&su, &["alter function own() owner to b"]);
    assert_eq!(error(&a, "select own()"), "42501 permission denied for table t");
}

#[test]
fn schemas_with_elements_are_their_owner_s() {
    let (server, su) = server();
    all(
        &su,
        &["create schema s authorization a create view v as select x from t grant select on v to b \
                create index i on t (x) create table t (x int)"],
    );
    let owners = "select relname from pg_class where relowner = 'a'::regrole order by 1";
    assert_eq!(su.query(owners), "i\nt\nv");
    assert_eq!(su.query("show search_path"), "\"$user\", public");
    all(&su, &["grant usage on schema s to b"]);
    let b = server.connect_as("b").unwrap();
    assert_eq!(b.query("select count(*) from s.v"), "0");
    // Who owns a schema may drop what others made in it.
    all(&su, &["create table s.other (x int)"]);
    assert_eq!(error(&b, "drop table s.other"), "42501 must be owner of table other");
    let a = server.connect_as("a").unwrap();
    all(&a, &["drop table s.other"]);
    all(&su, &["grant all on s.v to b", "revoke all on s.t from a"]);
    assert_eq!(error(&b, "begin; lock table s.v"), "42501 permission denied for table t");
    all(&su, &["rollback", "grant set on parameter log_statement to b"]);
    b.query("rollback");
    all(&b, &["set log_statement to 'all'"]);
    assert_eq!(
        error(&a, "set log_statement to 'all'"),
        "42501 permission denied to set parameter \"log_statement\""
    );
    all(&su, &["comment on role a is 'first'"]);
    assert_eq!(su.query("select shobj_description('a'::regrole, 'pg_authid')"), "first");
    assert_eq!(error(&b, "comment on role a is 'x'"), "42501 permission denied");
    assert_eq!(error(&su, "select 'a=r/'::aclitem"), "22P02 a name must follow the \"/\" sign");
}

#[test]
fn casts_are_made_and_dropped_by_owners_of_their_types() {
    let (server, su) = server();
    all(&su, &["grant create on schema public to a", "create type other as (b int)"]);
    all(&su, &["revoke usage on type other from public"]);
    let a = server.connect_as("a").unwrap();
    let functions = [
        "create function f(int) returns text language sql as 'select 1::text'",
        "create type own as (x int)",
        "create function f(own) returns text language sql as 'select 1::text'",
        "create cast (own as text) with function f(own)",
    ];
    all(&a, &functions);
    all(&su, &["create function to_other(own) returns other language sql as 'select null::other'"]);
    // It would run in everybody's statements.
    for (cast, types) in [
        ("(int as text) with function f(int) as implicit", "type integer or type text"),
        ("(int as text) with inout as implicit", "type integer or type text"),
        ("(int8 as int4) without function", "type bigint or type integer"),
    ] {
        assert_eq!(error(&a, &format!("create cast {cast}")), format!("42501 must be owner of {types}"));
    }
    let cast = "create cast (own as other) with function to_other(own)";
    assert_eq!(error(&a, cast), "42501 permission denied for type other");
    assert_eq!(
        error(&a, "create cast (own as bigint) without function"),
        "42501 must be superuser to create a cast WITHOUT FUNCTION"
    );
    let b = server.connect_as("b").unwrap();
    assert_eq!(error(&b, "drop cast (own as text)"), "42501 must be owner of type own or type text");
    all(&a, &["drop cast (own as text)"]);
}

#[test]
fn functions_are_not_defined_with_settings_that_their_owner_may_not_make() {
    let (server, su) = server();
    all(&su, &["grant create on schema public to a", "grant b to a"]);
    let a = server.connect_as("a").unwrap();
    let with =
        |setting: &str| format!("create function f() returns int language sql set {setting} as 'select 1'");
    for (setting, refused) in [
        ("role = 'postgres'", "42501 permission denied to set role \"postgres\""),
        (
            "session_authorization = 'postgres'",
            "42501 permission denied to set session authorization \"postgres\"",
        ),
        ("log_statement = 'all'", "42501 permission denied to set parameter \"log_statement\""),
        ("is_superuser = on", "55P02 parameter \"is_superuser\" cannot be changed"),
        ("nonsense = on", "42704 unrecognized configuration parameter \"nonsense\""),
    ] {
        assert_eq!(error(&a, &with(setting)), refused);
    }
    // What is let in without a look at the body, or later, is refused when it is called.
    all(&a, &["set check_function_bodies = off", &with("role = 'postgres'")]);
    assert_eq!(error(&a, "select f()"), "42501 permission denied to set role \"postgres\"");
    all(&a, &["drop function f()", &with("role = 'b'")]);
    assert_eq!(a.query("select f()"), "1");
    assert_eq!(
        error(&a, "alter function f() set log_statement = 'all'"),
        "42501 permission denied to set parameter \"log_statement\""
    );
}

/// A table of user a with an expression index whose function tells in `seen` who runs it.
fn owned_by_a(su: &Client, trap: &str) {
    all(
        su,
        &[
            "create schema s authorization a",
            "set role a",
            "create table s.seen (who text, path text)",
            "create table s.t (x int, y int)",
            "insert into s.t values (1, 1), (2, 2)",
            "grant insert on s.seen to public",
            "create function s.trap(int) returns int language sql volatile as 'select $1'",
            "create function s.key(int) returns int language sql immutable as 'select s.trap($1)'",
            "create index i on s.t (s.key(x)) where s.key(y) > 0",
            &format!(
                "create or replace function s.trap(int) returns int language sql volatile as '{trap}; select $1'"
            ),
            "reset role",
        ],
    );
}

/// Every statement that computes the expressions of a table's indexes without being asked to.
const UPKEEP: [&str; 13] = [
    "vacuum full s.t",
    "vacuum (full, analyze) s.t",
    "cluster s.t using i2",
    "reindex index s.i",
    "reindex table s.t",
    "reindex schema s",
    "reindex database",
    "reindex index concurrently s.i",
    "reindex table concurrently s.t",
    "reindex schema concurrently s",
    "create index i3 on s.t (s.key(y))",
    "create index concurrently i4 on s.t (y) where s.key(x) > 0",
    "alter table s.t alter x type bigint",
];

#[test]
fn upkeep_runs_as_the_tables_owner() {
    let (_server, su) = server();
    owned_by_a(&su, "insert into s.seen values (current_user, current_setting(''search_path''))");
    all(&su, &["create function s.f(bigint) returns int language sql immutable as 'select s.trap($1::int)'"]);
    all(&su, &["create index i2 on s.t (s.key(x), y)"]);
    for sql in UPKEEP {
        all(&su, &["delete from s.seen"]);
        if sql.starts_with("alter") {
            all(&su, &["drop index s.i, s.i2, s.i4", "create index i on s.t (s.f(x))", "delete from s.seen"]);
        }
        all(&su, &["set search_path = s, public", sql]);
        let seen = su.query("select distinct who, path from s.seen");
        assert_eq!(seen, "a|pg_catalog, pg_temp", "{sql}");
        assert_eq!(su.query("select current_user, current_setting('search_path')"), "postgres|s, public");
    }
}

#[test]
fn nobody_raises_himself_by_what_a_superuser_maintains() {
    let refused = [
        ("alter role a superuser", "42501 permission denied to alter role"),
        ("set role postgres", "42501 cannot set parameter \"role\" within security-restricted operation"),
        ("reset role", "42501 cannot set parameter \"role\" within security-restricted operation"),
        (
            "set session authorization postgres",
            "42501 cannot set parameter \"session_authorization\" within security-restricted operation",
        ),
        (
            "select set_config(''role'', ''postgres'', false)",
            "42501 cannot set parameter \"role\" within security-restricted operation",
        ),
        (
            "create temp table z ()",
            "42501 cannot create temporary table within security-restricted operation",
        ),
        (
            "create temp view z as select 1",
            "42501 cannot create temporary table within security-restricted operation",
        ),
        (
            "create temp sequence z",
            "42501 cannot create temporary table within security-restricted operation",
        ),
        (
            "declare c cursor with hold for select 1",
            "42501 cannot create a cursor WITH HOLD within security-restricted operation",
        ),
        ("prepare p as select 1", "42501 cannot execute PREPARE within security-restricted operation"),
        ("deallocate all", "42501 cannot execute DEALLOCATE within security-restricted operation"),
        ("close all", "42501 cannot execute CLOSE within security-restricted operation"),
        ("discard plans", "42501 cannot execute DISCARD within security-restricted operation"),
        ("listen z", "42501 cannot execute LISTEN within security-restricted operation"),
        ("unlisten *", "42501 cannot execute UNLISTEN within security-restricted operation"),
        (
            "insert into s.late values (1), (1)",
            "42501 cannot fire deferred trigger within security-restricted operation",
        ),
    ];
    let (_server, su) = server();
    owned_by_a(&su, "select 1");
    all(
        &su,
        &[
            "set role a",
            "create table s.late (x int unique deferrable initially deferred)",
            "create index i2 on s.t (y)",
            "reset role",
        ],
    );
    for (trap, message) in refused {
        let function = "create or replace function s.trap(int) returns int language sql volatile";
        all(&su, &["set role a", &format!("{function} as '{trap}; select $1'"), "reset role"]);
        for sql in UPKEEP.iter().filter(|sql| !sql.starts_with("alter")) {
            assert_eq!(error(&su, sql), message, "{trap}: {sql}");
            assert_eq!(su.query("select current_user, session_user"), "postgres|postgres");
            all(&su, &["drop index if exists s.i4, s.i_ccnew"]);
        }
        assert_eq!(su.query("select rolsuper from pg_authid where rolname = 'a'"), "f");
    }
}

#[test]
fn what_upkeep_sets_goes_back() {
    let (_server, su) = server();
    owned_by_a(&su, "set work_mem = ''99MB''; set x.y = 1; set local x.z = 2; reset search_path");
    all(&su, &["set work_mem = '7MB'", "set x.z = 'own'"]);
    all(&su, &["begin", "set local work_mem = '8MB'", "reindex table s.t"]);
    assert_eq!(su.query("select current_setting('work_mem'), current_setting('x.z')"), "8MB|own");
    all(&su, &["commit"]);
    assert_eq!(su.query("select current_setting('work_mem'), current_setting('x.y', true)"), "7MB|");
    all(&su, &["vacuum full s.t"]);
    assert_eq!(su.query("select current_setting('work_mem'), current_setting('x.z')"), "7MB|own");
    assert_eq!(su.query("show search_path"), "\"$user\", public");
}
