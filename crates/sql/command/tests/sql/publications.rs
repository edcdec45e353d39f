//! Publications: what can be in them, what they keep from being changed, what they tell subscribers; and subscriptions, as far as nobody connects.

use session::ConnectionStrings;
use session::subscription::{Failure, Publisher};

use crate::support::{Client, Server};

/// What a statement is answered with: nothing, or the SQLSTATE, the message and the detail.
fn answer(s: &Client, statement: &str) -> String {
    match s.run(statement) {
        Ok(_) => String::new(),
        Err(error) => {
            let detail = error.report().detail.as_deref().map_or(String::new(), |d| format!(" / {d}"));
            format!("{} {}{detail}", error.code(), error.message())
        }
    }
}

fn check(s: &Client, statements: &[(&str, &str)]) {
    for (statement, expected) in statements {
        assert_eq!(answer(s, statement), *expected, "{statement}");
    }
}

const TABLES: &str =
    "select string_agg(concat_ws(' ', tablename, attnames, rowfilter), '; ' order by pubname, tablename)
    from pg_publication_tables";

#[test]
fn publications_tell_what_they_publish() {
    let server = Server::new();
    let s = server.connect();
    s.run(
        "create table a (id int primary key, v text, twice int generated always as (id * 2) stored);
         create schema there create table b (c int);
         create table parted (k int, w int) partition by list (k);
         create table part1 partition of parted for values in (1)",
    )
    .unwrap();
    for (statement, expected) in [
        ("create publication p for table a", "a {id,v}"),
        ("alter publication p set (publish_generated_columns = stored)", "a {id,v,twice}"),
        ("alter publication p set table a (v, id) where (id > 7)", "a {id,v} (id > 7)"),
        ("alter publication p set tables in schema there", "b {c}"),
        ("alter publication p add table parted", "b {c}; part1 {k,w}"),
        ("alter publication p set (publish_via_partition_root)", "b {c}; parted {k,w}"),
        ("alter publication p drop table parted", "b {c}"),
        ("drop schema there cascade", ""),
        ("alter publication p set table a", "a {id,v,twice}"),
        ("drop table a", ""),
        ("drop publication p; create publication p for all tables", "part1 {k,w}"),
    ] {
        s.run(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
        assert_eq!(s.query(TABLES), expected, "{statement}");
    }
    assert_eq!(
        answer(&s, "select * from pg_get_publication_tables('q')"),
        "42704 publication \"q\" does not exist"
    );
}

#[test]
fn publications_are_refused_in_postgresql_s_words() {
    let server = Server::new();
    let s = server.connect();
    s.run(
        "create table t (a int, b text, v int generated always as (a) virtual);
         create unlogged table u (a int); create table plainer (a int); create view w as select 1 as a;
         create table parted (k int) partition by list (k);
         create type mood as enum ('good'); create table moody (m mood);
         create function seven() returns int immutable return 7;
         create role plain; create publication p for table t; create publication q for all tables",
    )
    .unwrap();
    check(
        &s,
        &[
            ("create publication p", "42710 publication \"p\" already exists"),
            ("create publication r with (fine)", "42601 unrecognized publication parameter: \"fine\""),
            (
                "create publication r with (publish = 'insert, sleep')",
                "42601 unrecognized value for publication option \"publish\": \"sleep\"",
            ),
            (
                "create publication r with (publish = 'insert,')",
                "42601 invalid list syntax in parameter \"publish\"",
            ),
            (
                "create publication r with (publish_generated_columns = some)",
                "42601 invalid value for publication parameter \"publish_generated_columns\": \"some\" / Valid values are \"none\" and \"stored\".",
            ),
            (
                "create publication r for table w",
                "22023 cannot add relation \"w\" to publication / This operation is not supported for views.",
            ),
            (
                "create publication r for table u",
                "22023 cannot add relation \"u\" to publication / This operation is not supported for unlogged tables.",
            ),
            (
                "create publication r for table pg_class",
                "22023 cannot add relation \"pg_class\" to publication / This operation is not supported for system tables.",
            ),
            (
                "create publication r for tables in schema pg_catalog",
                "22023 cannot add schema \"pg_catalog\" to publication / This operation is not supported for system schemas.",
            ),
            (
                "create publication r for table parted where (k > 1)",
                "22023 cannot use publication WHERE clause for relation \"parted\" / WHERE clause cannot be used for a partitioned table when publish_via_partition_root is false.",
            ),
            (
                "create publication r for tables in schema public, table t (a)",
                "22023 cannot use column list for relation \"public.t\" in publication \"r\" / Column lists cannot be specified in publications containing FOR TABLES IN SCHEMA elements.",
            ),
            (
                "create publication r for table t where (a)",
                "42804 argument of PUBLICATION WHERE must be type boolean, not type integer",
            ),
            (
                "create publication r for table t where (a > seven())",
                "0A000 invalid publication WHERE expression / User-defined or built-in mutable functions are not allowed.",
            ),
            (
                "create publication r for table t where (ctid = '(0,1)')",
                "0A000 invalid publication WHERE expression / System columns are not allowed.",
            ),
            (
                "create publication r for table moody where (m = 'good')",
                "0A000 invalid publication WHERE expression / User-defined types are not allowed.",
            ),
            (
                "create publication r for table t where (a in (select 1))",
                "0A000 invalid publication WHERE expression / Only columns, constants, built-in operators, built-in data types, built-in collations, and immutable built-in functions are allowed.",
            ),
            (
                "create publication r for table t, t (a)",
                "42710 conflicting or redundant column lists for table \"t\"",
            ),
            (
                "create publication r for table t where (a > 1), t",
                "42710 conflicting or redundant WHERE clauses for table \"t\"",
            ),
            (
                "alter publication p add table t",
                "42710 relation \"t\" is already member of publication \"p\"",
            ),
            (
                "alter publication p set table t (a, a)",
                "42710 duplicate column \"a\" in publication column list",
            ),
            (
                "alter publication p set table t (ctid)",
                "42P10 cannot use system column \"ctid\" in publication column list",
            ),
            (
                "alter publication p set table t (v)",
                "42P10 cannot use virtual generated column \"v\" in publication column list",
            ),
            (
                "alter publication p drop table moody",
                "42704 relation \"moody\" is not part of the publication",
            ),
            (
                "alter publication p drop tables in schema public",
                "42704 tables from schema \"public\" are not part of the publication",
            ),
            (
                "alter publication q add table t",
                "55000 publication \"q\" is defined as FOR ALL TABLES / Tables cannot be added to or dropped from FOR ALL TABLES publications.",
            ),
            (
                "alter table t set unlogged",
                "55000 cannot change table \"t\" to unlogged because it is part of a publication / Unlogged relations cannot be replicated.",
            ),
            ("alter publication p set table plainer where (a > 1)", ""),
            (
                "alter table plainer alter a type bigint",
                "0A000 cannot alter type of a column used by a publication WHERE clause / publication of table plainer in publication p depends on column \"a\"",
            ),
            (
                "alter table plainer drop a",
                "2BP01 cannot drop column a of table plainer because other objects depend on it / publication of table plainer in publication p depends on column a of table plainer",
            ),
            ("set role plain", ""),
            ("create publication r", "42501 permission denied for database postgres"),
            ("alter publication p rename to r", "42501 must be owner of publication p"),
            ("drop publication p", "42501 must be owner of publication p"),
            ("reset role", ""),
            ("drop publication if exists nope", ""),
            ("alter publication p set table t; alter publication p owner to plain", ""),
            ("reassign owned by plain to postgres", ""),
        ],
    );
    assert_eq!(s.query("select pubowner::regrole from pg_publication where pubname = 'p'"), "postgres");
}

#[test]
fn rows_are_changed_only_if_subscribers_can_tell_which() {
    let server = Server::new();
    let s = server.connect();
    s.run(
        "create table bare (a int unique, b int); create table t (id int primary key, b int, c int);
         create table twice (a int, d int generated always as (a * 2) stored);
         create table parted (a int unique, b int) partition by range (a);
         create table part1 partition of parted for values from (0) to (10);
         create table part2 partition of parted for values from (10) to (20);
         insert into bare values (1, 1); insert into t values (1, 1, 1);
         prepare change as update bare set b = b + 1; execute change",
    )
    .unwrap();
    let no_update = |table: &str| {
        format!(
            "55000 cannot update table \"{table}\" because it does not have a replica identity and publishes updates"
        )
    };
    let of = |table: &str, why: &str| format!("42P10 cannot update table \"{table}\" / {why}");
    let filter = "Column used in the publication WHERE expression is not part of the replica identity.";
    let columns = "Column list used by the publication does not cover the replica identity.";
    let generated = "Replica identity must not contain unpublished generated columns.";
    check(
        &s,
        &[
            ("create publication p for table bare with (publish = 'insert, truncate')", ""),
            ("execute change", ""),
            ("alter publication p set (publish = 'insert, update')", ""),
            ("execute change", &no_update("bare")),
            ("delete from bare where false", ""),
            ("insert into bare values (1) on conflict do nothing", ""),
            ("insert into bare values (7) on conflict (a) do update set b = 2", &no_update("bare")),
            ("merge into bare using t on t.id = bare.a when matched then update set b = 9", &no_update("bare")),
            ("merge into bare using t on t.id = bare.a when matched then delete", ""),
            ("alter table bare replica identity full; execute change", ""),
            ("alter publication p set (publish = 'delete'); alter table bare replica identity nothing", ""),
            (
                "delete from bare",
                "55000 cannot delete from table \"bare\" because it does not have a replica identity and publishes deletes",
            ),
            ("alter publication p set (publish = 'update')", ""),
            ("alter publication p set table t where (b > 1)", ""),
            ("update t set c = 2", &of("t", filter)),
            ("alter publication p set table t where (id > 1)", ""),
            ("update t set c = 2", ""),
            ("alter publication p set table t (b, c)", ""),
            ("update t set c = 2", &of("t", columns)),
            ("alter table t alter b set not null; create unique index t_b on t (b)", ""),
            ("alter table t replica identity using index t_b; update t set c = 3", ""),
            ("alter publication p set table twice; alter table twice replica identity full", ""),
            ("update twice set a = 1", &of("twice", generated)),
            ("alter publication p set (publish_generated_columns = stored); update twice set a = 1", ""),
            ("alter publication p set table part2", ""),
            ("insert into parted values (1, 1) on conflict (a) do update set b = 2", ""),
            ("insert into parted values (11, 1) on conflict (a) do update set b = 2", &no_update("part2")),
            ("update parted set b = 7 where a < 5", ""),
            ("update parted set b = 7", &no_update("part2")),
            ("alter publication p set tables in schema public", ""),
            ("update part1 set b = 7", &no_update("part1")),
            ("update parted set b = 7 where false", ""),
            ("update parted set b = 7 where a > 70", ""),
            ("drop publication p; update parted set b = 7", ""),
            ("create table top (a int, b int) partition by list (b); create publication p for table top", ""),
            (
                "create table mid (a int, b int) partition by list (a); create table leaf partition of mid default;
                 update leaf set b = 7",
                "",
            ),
            ("alter table top attach partition mid default", ""),
            ("update leaf set b = 7", &no_update("leaf")),
            ("alter table top detach partition mid; update leaf set b = 7", ""),
        ],
    );
}

#[test]
fn a_publication_counts_for_other_sessions_once_it_is_committed() {
    let server = Server::new();
    let (s, other) = (server.connect(), server.connect());
    s.run("create table t (a int); insert into t values (1)").unwrap();
    other.run("prepare change as update t set a = a + 1; execute change").unwrap();
    s.run("begin; create publication p for table t").unwrap();
    assert!(answer(&s, "savepoint a; update t set a = 1").starts_with("55000"));
    other.run("execute change").unwrap();
    s.run("rollback to a; commit").unwrap();
    assert!(answer(&other, "execute change").starts_with("55000"));
    s.run("begin; drop publication p; rollback").unwrap();
    assert!(answer(&other, "execute change").starts_with("55000"));
    s.run("drop publication p").unwrap();
    other.run("execute change").unwrap();
}

#[test]
fn what_publications_have_is_named_and_found() {
    let server = Server::new();
    let s = server.connect();
    s.run(
        "create schema \"S\" create table \"T\" (a int);
         create publication p for table \"S\".\"T\"; create publication q for tables in schema \"S\";
         comment on publication p is 'mine'",
    )
    .unwrap();
    assert_eq!(
        s.query("select obj_description(oid, 'pg_publication') from pg_publication where pubname = 'p'"),
        "mine"
    );
    for (catalog, described, address) in [
        (
            "pg_publication_rel",
            "publication of table \"S\".\"T\" in publication p",
            "publication relation|\"S\".\"T\" in publication p|{S,T}|{p}",
        ),
        (
            "pg_publication_namespace",
            "publication of schema S in publication q",
            "publication namespace|\"S\" in publication q|{S}|{q}",
        ),
        ("pg_publication where pubname = 'p'", "publication p", "publication|p|{p}|{}"),
    ] {
        let of = |what: &str| s.query(&format!("select {what} from (select oid, tableoid from {catalog}) c"));
        assert_eq!(of("pg_describe_object(tableoid, oid, 0)"), described);
        let identity = "(pg_identify_object(tableoid, oid, 0)).identity";
        let as_address = "(pg_identify_object_as_address(tableoid, oid, 0))";
        assert_eq!(
            of(&format!(
                "{as_address}.type, {identity}, {as_address}.object_names, {as_address}.object_args"
            )),
            address
        );
        let found = format!(
            "(pg_get_object_address({as_address}.type, {as_address}.object_names, {as_address}.object_args)).objid = oid"
        );
        assert_eq!(of(&found), "t");
    }
}

/// Words before the equals signs of a string.
struct Words;

impl ConnectionStrings for Words {
    fn read(&self, text: &str) -> Result<Vec<(String, String)>, String> {
        let pair = |word: &str| {
            let (name, value) = word.split_once('=').ok_or_else(|| format!("no \"=\" in \"{word}\""))?;
            Ok((name.to_owned(), value.to_owned()))
        };
        text.split_whitespace().map(pair).collect()
    }

    fn connect(&self, _text: &str, _name: &str, _asked: bool) -> Result<Box<dyn Publisher>, Failure> {
        Err(Failure::Broken("nobody is there".into()))
    }
}

#[test]
fn subscriptions_are_kept_though_nobody_connects() {
    let server = Server::new();
    server.instance().on_connection_strings(Words);
    let s = server.connect();
    s.run("create role plain in role pg_create_subscription; create role other; grant create on database postgres to plain")
        .unwrap();
    check(
        &s,
        &[
            (
                "create subscription s connection 'x' publication p with (connect = false)",
                "42601 invalid connection string syntax: no \"=\" in \"x\"",
            ),
            (
                "create subscription s connection 'host=x' publication p, p with (connect = false)",
                "42710 publication name \"p\" used more than once",
            ),
            (
                "create subscription s connection 'host=x' publication p",
                "08006 subscription \"s\" could not connect to the publisher: nobody is there",
            ),
            (
                "begin; create subscription s connection 'host=x' publication p",
                "25001 CREATE SUBSCRIPTION ... WITH (create_slot = true) cannot run inside a transaction block",
            ),
            ("rollback", ""),
            (
                "create subscription s connection 'host=x' publication p with (connect = false, copy_data)",
                "42601 connect = false and copy_data = true are mutually exclusive options",
            ),
            (
                "create subscription s connection 'host=x' publication p with (slot_name = none)",
                "42601 subscription with slot_name = NONE must also set enabled = false",
            ),
            (
                "create subscription s connection 'host=x' publication p with (streaming = some)",
                "42601 streaming requires a Boolean value or \"parallel\"",
            ),
            (
                "create subscription s connection 'host=x' publication p with (fine)",
                "42601 unrecognized subscription parameter: \"fine\"",
            ),
            ("create subscription s connection 'host=x' publication p with (connect = false)", ""),
            (
                "create subscription s connection 'host=x' publication p with (connect = false)",
                "42710 subscription \"s\" already exists",
            ),
            ("comment on subscription s is 'mine'", ""),
            (
                "create subscription t connection 'host=x' publication p with (two_phase)",
                "0A000 CREATE SUBSCRIPTION ... WITH (two_phase = true) is not supported yet",
            ),
            ("alter subscription s enable", ""),
            (
                "alter subscription s refresh publication",
                "08006 subscription \"s\" could not connect to the publisher: nobody is there",
            ),
            ("alter subscription s disable", ""),
            ("alter subscription s set (origin = here)", "22023 unrecognized origin value: \"here\""),
            (
                "alter subscription s set (binary, streaming = off, synchronous_commit = local, origin = none)",
                "",
            ),
            (
                "alter subscription s set publication q",
                "55000 ALTER SUBSCRIPTION with refresh is not allowed for disabled subscriptions",
            ),
            ("alter subscription s add publication q, r with (refresh = false)", ""),
            ("alter subscription s drop publication p with (refresh = false)", ""),
            (
                "alter subscription s drop publication q, r with (refresh = false)",
                "55000 cannot drop all the publications from a subscription",
            ),
            (
                "alter subscription s refresh publication",
                "55000 ALTER SUBSCRIPTION ... REFRESH is not allowed for disabled subscriptions",
            ),
            ("alter subscription s skip (lsn = '0/12345')", ""),
            (
                "alter subscription s set (failover)",
                "08006 subscription \"s\" could not connect to the publisher: nobody is there",
            ),
        ],
    );
    assert_eq!(
        s.query(
            "select subname, subenabled, subbinary, substream, subslotname, subsynccommit, subpublications, suborigin,
                subskiplsn, obj_description(oid, 'pg_subscription') from pg_subscription"
        ),
        "s|f|t|f|s|local|{q,r}|none|0/12345|mine"
    );
    assert_eq!(s.query("select subname, apply_error_count from pg_stat_subscription_stats"), "s|0");
    check(
        &s,
        &[
            (
                "drop subscription s",
                "08006 could not connect to publisher when attempting to drop replication slot \"s\": nobody is there",
            ),
            ("begin; drop subscription s", "25001 DROP SUBSCRIPTION cannot run inside a transaction block"),
            ("rollback; alter subscription s rename to t; alter subscription t set (slot_name = none)", ""),
            (
                "alter subscription t enable",
                "55000 cannot enable subscription that does not have a slot name",
            ),
            ("begin; drop subscription t; commit", ""),
            ("drop subscription t", "42704 subscription \"t\" does not exist"),
            ("drop subscription if exists t", ""),
            ("set session authorization plain", ""),
            (
                "create subscription s connection 'host=x' publication p with (connect = false)",
                "2F003 password is required / Non-superusers must provide a password in the connection string.",
            ),
            (
                "create subscription s connection 'host=x password=y' publication p with (connect = false, password_required = off)",
                "42501 password_required=false is superuser-only",
            ),
            ("create subscription s connection 'host=x password=y' publication p with (connect = false)", ""),
            ("alter subscription s owner to other", "42501 must be able to SET ROLE \"other\""),
            ("alter subscription s skip (lsn = '0/1')", "42501 must be superuser to skip transaction"),
            (
                "set session authorization other; alter subscription s disable",
                "42501 must be owner of subscription s",
            ),
            (
                "reset session authorization; drop role plain",
                "2BP01 role \"plain\" cannot be dropped because some objects depend on it / owner of subscription s\nprivileges for database postgres",
            ),
        ],
    );
    assert_eq!(
        s.query("select count(*) from pg_description where classoid = 'pg_subscription'::regclass"),
        "0"
    );
}
