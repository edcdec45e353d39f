//! Foreign data as catalogs know it: wrappers, servers, user mappings, foreign tables. Who reads foreign tables is tested with the modules that do.

use crate::support::{Client, Server};

fn error(s: &Client, sql: &str) -> base::SqlError {
    s.run(sql).err().unwrap_or_else(|| panic!("{sql}: no error"))
}

fn hint(s: &Client, sql: &str) -> String {
    let error = error(s, sql);
    format!("{} / {}", error.message(), error.report().hint.as_deref().unwrap_or_default())
}

fn detail(s: &Client, sql: &str) -> String {
    let error = error(s, sql);
    format!("{} / {}", error.message(), error.report().detail.as_deref().unwrap_or_default())
}

#[test]
fn options_are_added_set_and_dropped() {
    let server = Server::new();
    let s = server.connect();
    let options = || s.query("select fdwoptions from pg_foreign_data_wrapper");
    s.run("create foreign data wrapper w options (a '1', \"b c\" 'x=y')").unwrap();
    assert_eq!(options(), "{a=1,\"b c=x=y\"}");
    s.run("alter foreign data wrapper w options (drop a, set \"b c\" '2', add d '3', e '4')").unwrap();
    assert_eq!(options(), "{\"b c=2\",d=3,e=4}");
    assert_eq!(
        s.query("select * from pg_options_to_table((select fdwoptions from pg_foreign_data_wrapper))"),
        "b c|2\nd|3\ne|4"
    );
    for (change, message) in [
        ("set x '1'", "ERROR:  option \"x\" not found"),
        ("drop x", "ERROR:  option \"x\" not found"),
        ("d '1'", "ERROR:  option \"d\" provided more than once"),
        ("\"a=b\" '1'", "ERROR:  invalid option name \"a=b\": must not contain \"=\""),
    ] {
        assert_eq!(s.query(&format!("alter foreign data wrapper w options ({change})")), message);
    }
    s.run("alter foreign data wrapper w options (drop \"b c\", drop d, drop e)").unwrap();
    assert_eq!(s.query("select fdwoptions is null from pg_foreign_data_wrapper"), "t");
}

#[test]
fn validators_are_asked() {
    let server = Server::new();
    let s = server.connect();
    s.run("create foreign data wrapper w validator postgresql_fdw_validator").unwrap();
    assert_eq!(
        hint(&s, "alter foreign data wrapper w options (host 'a')"),
        "invalid option \"host\" / There are no valid options in this context."
    );
    s.run("create server s foreign data wrapper w options (host 'a', port '1')").unwrap();
    assert_eq!(hint(&s, "alter server s options (foo '1')"), "invalid option \"foo\" / ");
    assert_eq!(
        hint(&s, "create user mapping for user server s options (username 'a')"),
        "invalid option \"username\" / Perhaps you meant the option \"user\"."
    );
    s.run(
        "create function only_a(text[], oid) returns bool language sql as
           $$ select case when $1 in ('{}', '{a=1}') then true else ('not ' || $1::text || ', of ' || $2::regclass)::bool end $$",
    )
    .unwrap();
    let made = s.run("alter foreign data wrapper w validator only_a").unwrap();
    assert_eq!(
        made.notices,
        [
            "changing the foreign-data wrapper validator can cause the options for dependent objects to become invalid"
        ]
    );
    s.run("create foreign table t (x int options (a '1')) server s options (a '1')").unwrap();
    assert_eq!(
        s.query("alter foreign table t options (set a '2')"),
        "ERROR:  invalid input syntax for type boolean: \"not {a=2}, of pg_foreign_table\""
    );
    assert_eq!(
        s.query("alter foreign table t alter x options (drop a, b '1')"),
        "ERROR:  invalid input syntax for type boolean: \"not {b=1}, of pg_attribute\""
    );
    assert_eq!(
        s.query("create foreign data wrapper v validator nope"),
        "ERROR:  function nope(text[], oid) does not exist"
    );
    s.run("create function one() returns int language sql as 'select 1'").unwrap();
    assert_eq!(
        s.query("create foreign data wrapper v handler one"),
        "ERROR:  function one must return type fdw_handler"
    );
    assert_eq!(
        s.query("create foreign data wrapper v no handler handler one"),
        "ERROR:  conflicting or redundant options"
    );
}

#[test]
fn rights_are_those_of_owners_and_users() {
    let server = Server::new();
    let s = server.connect();
    s.run(
        "create role a; create role b; create foreign data wrapper w; create server s foreign data wrapper w",
    )
    .unwrap();
    s.run("set role a").unwrap();
    assert_eq!(
        hint(&s, "create foreign data wrapper v"),
        "permission denied to create foreign-data wrapper \"v\" / Must be superuser to create a foreign-data wrapper."
    );
    for (statement, message) in [
        ("create server t foreign data wrapper w", "permission denied for foreign-data wrapper w"),
        ("create user mapping for a server s", "permission denied for foreign server s"),
        ("create user mapping for b server s", "must be owner of foreign server s"),
        ("alter server s version '1'", "must be owner of foreign server s"),
        ("drop server s", "must be owner of foreign server s"),
        ("drop foreign data wrapper w", "must be owner of foreign-data wrapper w"),
        ("comment on server s is 'x'", "must be owner of foreign server s"),
    ] {
        assert_eq!(error(&s, statement).message(), message, "{statement}");
    }
    s.run("reset role; grant usage on foreign server s to a; grant usage on foreign data wrapper w to a")
        .unwrap();
    s.run("set role a; create server t foreign data wrapper w; create user mapping for a server s").unwrap();
    assert_eq!(s.query("alter server t owner to b"), "ERROR:  must be able to SET ROLE \"b\"");
    s.run("reset role").unwrap();
    assert_eq!(
        hint(&s, "alter foreign data wrapper w owner to a"),
        "permission denied to change owner of foreign-data wrapper \"w\" / The owner of a foreign-data wrapper must be a superuser."
    );
    assert_eq!(
        s.query("select has_server_privilege('a', 's', 'usage'), has_server_privilege('b', 's', 'usage')"),
        "t|f"
    );
    let held = detail(&s, "drop role a");
    for line in [
        "privileges for foreign-data wrapper w",
        "privileges for server s",
        "owner of server t",
        "owner of user mapping for a on server s",
    ] {
        assert!(held.contains(line), "{held}");
    }
    s.run("reassign owned by a to b").unwrap();
    assert_eq!(s.query("select srvowner::regrole from pg_foreign_server where srvname = 't'"), "b");
    s.run("drop owned by a, b; drop role a, b").unwrap();
    assert_eq!(s.query("select srvname from pg_foreign_server"), "s");
    assert_eq!(s.query("select count(*) from pg_user_mapping"), "0");
}

#[test]
fn what_depends_goes_with_it() {
    let server = Server::new();
    let s = server.connect();
    s.run("create foreign data wrapper w; create server s foreign data wrapper w").unwrap();
    s.run("create user mapping for public server s options (a 'b'); create foreign table t (x int) server s")
        .unwrap();
    assert_eq!(
        detail(&s, "drop foreign data wrapper w"),
        "cannot drop foreign-data wrapper w because other objects depend on it / \
         server s depends on foreign-data wrapper w\n\
         user mapping for public on server s depends on server s\nforeign table t depends on server s"
    );
    assert_eq!(
        s.query(
            "select a.type, object_names, object_args, pg_describe_object(classid, objid, 0), i.identity
             from pg_depend d, pg_identify_object_as_address(classid, objid, 0) a,
             pg_identify_object(classid, objid, 0) i
             where classid = 'pg_user_mapping'::regclass"
        ),
        "user mapping|{public}|{s}|user mapping for public on server s|public on server s"
    );
    assert_eq!(
        s.query(
            "select classid::regclass, objid = (select oid from pg_user_mapping)
             from pg_get_object_address('user mapping', '{public}', '{s}')"
        ),
        "pg_user_mapping|t"
    );
    let dropped = s.run("drop foreign data wrapper w cascade").unwrap();
    assert_eq!(dropped.notices, ["drop cascades to 3 other objects"]);
    let left = "select (select count(*) from pg_foreign_table), (select count(*) from pg_user_mapping),
        (select count(*) from pg_depend where objid >= 16384 or refobjid >= 16384)";
    assert_eq!(s.query(left), "0|0|0");
    for (statement, message) in [
        ("drop server s", "ERROR:  server \"s\" does not exist"),
        ("drop foreign data wrapper w", "ERROR:  foreign-data wrapper \"w\" does not exist"),
        ("drop foreign table t", "ERROR:  foreign table \"t\" does not exist"),
        ("drop user mapping for public server s", "ERROR:  server \"s\" does not exist"),
    ] {
        assert_eq!(s.query(statement), message);
    }
    assert_eq!(s.run("drop server if exists s").unwrap().notices, ["server \"s\" does not exist, skipping"]);
}

#[test]
fn mappings_are_one_a_user_and_server() {
    let server = Server::new();
    let s = server.connect();
    s.run("create foreign data wrapper w; create server s foreign data wrapper w").unwrap();
    s.run("create user mapping for current_user server s options (user 'a', password 'b')").unwrap();
    let user = s.query("select current_user");
    let taken = format!("user mapping for \"{user}\" already exists for server \"s\"");
    assert_eq!(error(&s, "create user mapping for user server s").message(), taken);
    let skipped = s.run("create user mapping if not exists for user server s").unwrap();
    assert_eq!(skipped.notices, [format!("{taken}, skipping")]);
    assert_eq!(
        s.query("alter user mapping for public server s options (a 'b')"),
        "ERROR:  user mapping for \"public\" does not exist for server \"s\""
    );
    s.run("alter user mapping for user server s options (drop password)").unwrap();
    assert_eq!(s.query("select srvname, umoptions from pg_user_mappings"), "s|{user=a}");
    for (of, notice) in [
        ("nobody server s", "role \"nobody\" does not exist, skipping"),
        ("user server t", "server \"t\" does not exist, skipping"),
        ("public server s", "user mapping for \"public\" does not exist for server \"s\", skipping"),
    ] {
        assert_eq!(s.run(&format!("drop user mapping if exists for {of}")).unwrap().notices, [notice]);
    }
    s.run("drop user mapping for user server s").unwrap();
    assert_eq!(s.query("select count(*) from pg_user_mapping"), "0");
}

#[test]
fn foreign_tables_are_tables_that_store_nothing() {
    let server = Server::new();
    let s = server.connect();
    s.run("create foreign data wrapper w; create server s foreign data wrapper w").unwrap();
    s.run(
        "create foreign table t (a int options (p '1') not null, b text default 'x', c serial, check (b <> ''))
         server s options (o 'v')",
    )
    .unwrap();
    assert_eq!(
        s.query(
            "select relkind, relfilenode, relam, reltoastrelid, relfrozenxid, ftoptions, attfdwoptions
             from pg_class join pg_foreign_table on ftrelid = pg_class.oid
             join pg_attribute on attrelid = ftrelid and attname = 'a'"
        ),
        "f|0|0|0|0|{o=v}|{p=1}"
    );
    for (statement, message) in [
        ("select * from t", "foreign-data wrapper \"w\" has no handler"),
        ("insert into t values (1)", "foreign-data wrapper \"w\" has no handler"),
        ("create index on t (a)", "cannot create index on relation \"t\""),
        (
            "create foreign table u (a int primary key) server s",
            "primary key constraints are not supported on foreign tables",
        ),
        (
            "create foreign table u (a int, unique (a)) server s",
            "unique constraints are not supported on foreign tables",
        ),
        (
            "create foreign table u (a int references t) server s",
            "foreign key constraints are not supported on foreign tables",
        ),
        ("alter foreign table t add unique (a)", "unique constraints are not supported on foreign tables"),
        (
            "alter foreign table t alter constraint t_b_check deferrable",
            "ALTER action ALTER CONSTRAINT cannot be performed on relation \"t\"",
        ),
        (
            "alter foreign table t set (fillfactor = 10)",
            "ALTER action SET (...) cannot be performed on relation \"t\"",
        ),
        ("create table u (a int options (p '1'))", "\"u\" is not a foreign table"),
        ("truncate t", "foreign-data wrapper \"w\" has no handler"),
        ("create foreign table u (a int) server nope", "server \"nope\" does not exist"),
        ("drop table t", "\"t\" is not a table"),
        ("import foreign schema x from server s into public", "foreign-data wrapper \"w\" has no handler"),
    ] {
        assert_eq!(error(&s, statement).message(), message, "{statement}");
    }
    s.run("alter foreign table t add d int options (q '2') not null, drop c, alter a options (set p '3')")
        .unwrap();
    s.run("alter foreign table t alter b type varchar(9), alter a drop not null, options (drop o, n 'w')")
        .unwrap();
    s.run("alter foreign table t rename a to e; alter foreign table t rename to u; create schema z").unwrap();
    s.run("alter foreign table u set schema z; comment on foreign table z.u is 'far'").unwrap();
    assert_eq!(
        s.query("select attname, atttypid::regtype, attnotnull, attfdwoptions from pg_attribute where attrelid = 'z.u'::regclass and attnum > 0 and not attisdropped order by attnum"),
        "e|integer|f|{p=3}\nb|character varying|f|\nd|integer|t|{q=2}"
    );
    assert_eq!(
        s.query("select * from information_schema.foreign_table_options").split('|').nth(3),
        Some("n")
    );
    assert_eq!(s.query("select obj_description('z.u'::regclass)"), "far");
}

#[test]
fn foreign_tables_are_children_and_partitions() {
    let server = Server::new();
    let s = server.connect();
    s.run("create foreign data wrapper w; create server s foreign data wrapper w").unwrap();
    s.run("create table p (a int not null, b text check (b <> ''))").unwrap();
    s.run("create foreign table f () inherits (p) server s; create table g () inherits (f)").unwrap();
    s.run("alter table p add c int default 1, alter a type bigint").unwrap();
    assert_eq!(
        s.query("select count(*), min(atttypid::regtype::text) from pg_attribute where attrelid in ('f'::regclass, 'g'::regclass) and attname in ('a', 'c') and atttypid <> 23"),
        "2|bigint"
    );
    assert_eq!(error(&s, "alter table p alter c type text using 'x'").message(), "\"f\" is not a table");
    s.run("create table q (a int, b text) partition by list (a)").unwrap();
    s.run("create foreign table q1 partition of q for values in (1) server s; create table q2 partition of q default").unwrap();
    s.run("create foreign table q3 (a int, b text) server s; alter table q attach partition q3 for values in (3)").unwrap();
    s.run("insert into q values (2, 'x')").unwrap();
    assert_eq!(s.query("select * from q where a = 2"), "2|x");
    assert_eq!(s.query("select * from q where a < 3"), "ERROR:  foreign-data wrapper \"w\" has no handler");
    assert_eq!(s.query("insert into q values (1, 'x')"), "ERROR:  cannot insert into foreign table \"q1\"");
    s.run("create index on q (b)").unwrap();
    assert_eq!(
        detail(&s, "create unique index on q (a)"),
        "cannot create unique index on partitioned table \"q\" / Table \"q\" contains partitions that are foreign tables."
    );
    s.run("create table k (a int primary key) partition by list (a); create foreign table k1 (a int not null) server s").unwrap();
    assert_eq!(
        detail(&s, "create foreign table k2 partition of k default server s"),
        "cannot create foreign partition of partitioned table \"k\" / Table \"k\" contains indexes that are unique."
    );
    assert_eq!(
        detail(&s, "alter table k attach partition k1 default"),
        "cannot attach foreign table \"k1\" as partition of partitioned table \"k\" / Partitioned table \"k\" contains unique indexes."
    );
    s.run("alter table q detach partition q3; drop foreign table q3; drop table q").unwrap();
}

#[test]
fn triggers_of_foreign_tables_see_no_tables_of_changes() {
    let server = Server::new();
    let s = server.connect();
    s.run("create foreign data wrapper w; create server s foreign data wrapper w").unwrap();
    s.run("create foreign table f (a int) server s").unwrap();
    s.run("create trigger r before insert on f for each row execute function suppress_redundant_updates_trigger()").unwrap();
    s.run("create trigger a after update on f execute function suppress_redundant_updates_trigger(); alter foreign table f disable trigger a")
        .unwrap();
    for (statement, told) in [
        (
            "create trigger x after insert on f referencing new table as n execute function suppress_redundant_updates_trigger()",
            "Triggers on foreign tables cannot have transition tables.",
        ),
        (
            "create constraint trigger x after insert on f for each row execute function suppress_redundant_updates_trigger()",
            "Foreign tables cannot have constraint triggers.",
        ),
        (
            "create trigger x instead of insert on f for each row execute function suppress_redundant_updates_trigger()",
            "Foreign tables cannot have INSTEAD OF triggers.",
        ),
    ] {
        assert_eq!(detail(&s, statement), format!("\"f\" is a foreign table / {told}"));
    }
}
