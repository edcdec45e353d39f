//! CREATE, ALTER, DROP EXTENSION, and the members of an extension.

use base::SqlError;

use crate::support::Client;

fn error(s: &Client, sql: &str) -> SqlError {
    s.run(sql).err().unwrap_or_else(|| panic!("{sql}: no error"))
}

#[test]
fn an_extension_comes_and_goes_with_its_members() {
    let server = crate::server();
    let s = server.connect();
    let made = s.run("create extension pgcrypto").unwrap();
    assert_eq!(made.tags, ["CREATE EXTENSION"]);
    let listed = "select extname, extversion, extrelocatable, nspname, obj_description(e.oid, 'pg_extension')
        from pg_extension e join pg_namespace n on n.oid = extnamespace where extname <> 'plpgsql'";
    assert_eq!(s.query(listed), "pgcrypto|1.4|t|public|cryptographic functions");
    let members = "select count(*) from pg_depend where deptype = 'e' and refobjid =
        (select oid from pg_extension where extname = 'pgcrypto')";
    assert_eq!(s.query(members), "37");
    let refused = error(&s, "drop function digest(text, text)");
    assert_eq!(
        refused.message(),
        "cannot drop function digest(text,text) because extension pgcrypto requires it"
    );
    assert_eq!(refused.report().hint.as_deref(), Some("You can drop extension pgcrypto instead."));
    s.run("create view v as select digest('a', 'md5') as d").unwrap();
    let refused = error(&s, "drop extension pgcrypto");
    assert_eq!(refused.report().detail.as_deref(), Some("view v depends on function digest(text,text)"));
    let dropped = s.run("drop extension pgcrypto cascade").unwrap();
    assert_eq!(dropped.notices[0], "drop cascades to view v");
    assert_eq!(s.query("select count(*) from pg_depend where objid >= 16384 or refobjid >= 16384"), "0");
    assert_eq!(s.query("select count(*) from pg_proc where oid >= 16384"), "0");
}

#[test]
fn what_a_script_says_of_its_steps_is_kept_back() {
    let server = crate::server();
    let s = server.connect();
    assert!(s.run("create extension hstore").unwrap().notices.is_empty());
    assert_eq!(s.query("show client_min_messages"), "notice");
    s.run("set client_min_messages = error").unwrap();
    s.run("create extension btree_gist").unwrap();
    assert_eq!(s.query("show client_min_messages"), "error");
}

#[test]
fn names_versions_and_places_are_checked() {
    let server = crate::server();
    let s = server.connect();
    let missing = error(&s, "create extension nope");
    assert_eq!(missing.message(), "extension \"nope\" is not available");
    assert_eq!(missing.code().as_str(), "0A000");
    assert_eq!(error(&s, "create extension \"../x\"").message(), "invalid extension name: \"../x\"");
    let version = error(&s, "create extension pgcrypto version '9'");
    assert_eq!(
        version.message(),
        "extension \"pgcrypto\" has no installation script nor update path for version \"9\""
    );
    assert_eq!(error(&s, "create extension pgcrypto schema s").message(), "schema \"s\" does not exist");
    s.run("create schema s; create extension pgcrypto schema s").unwrap();
    let twice = s.run("create extension if not exists pgcrypto").unwrap();
    assert_eq!(twice.notices[0], "extension \"pgcrypto\" already exists, skipping");
    assert_eq!(error(&s, "create extension pgcrypto").code().as_str(), "42710");
    let held = error(&s, "drop schema s");
    assert_eq!(held.report().detail.as_deref(), Some("extension pgcrypto depends on schema s"));
    s.run("alter extension pgcrypto set schema public; drop schema s").unwrap();
    assert_eq!(s.query("select length(public.digest('a', 'sha1'))"), "20");
    let update = s.run("alter extension pgcrypto update").unwrap();
    assert_eq!(update.notices[0], "version \"1.4\" of extension \"pgcrypto\" is already installed");
    assert_eq!(
        error(&s, "alter extension pgcrypto update to '2'").message(),
        "extension \"pgcrypto\" has no update path from version \"1.4\" to version \"2\""
    );
    assert_eq!(s.query("show search_path"), "\"$user\", public");
}

#[test]
fn members_can_be_added_and_taken_out() {
    let server = crate::server();
    let s = server.connect();
    s.run("create extension pgcrypto; create table t (a int)").unwrap();
    s.run("alter extension pgcrypto add table t").unwrap();
    assert_eq!(
        error(&s, "alter extension pgcrypto add table t").message(),
        "table t is already a member of extension \"pgcrypto\""
    );
    assert_eq!(
        error(&s, "drop table t").message(),
        "cannot drop table t because extension pgcrypto requires it"
    );
    s.run("alter extension pgcrypto drop table t").unwrap();
    assert_eq!(
        error(&s, "alter extension pgcrypto drop table t").message(),
        "table t is not a member of extension \"pgcrypto\""
    );
    s.run("alter extension pgcrypto add table t; drop extension pgcrypto").unwrap();
    assert_eq!(error(&s, "table t").message(), "relation \"t\" does not exist");
}

#[test]
fn what_members_began_with_is_noted() {
    let server = crate::server();
    let s = server.connect();
    s.run("create extension pgstattuple; create role reader; create role writer").unwrap();
    let noted = |of: &str| {
        s.query(&format!(
            "select pg_describe_object(classoid, objoid, objsubid), initprivs from pg_init_privs
                where privtype = 'e' and pg_describe_object(classoid, objoid, objsubid) ~ '{of}' order by 1"
        ))
    };
    let of_script = "{postgres=X/postgres,pg_stat_scan_tables=X/postgres}";
    assert_eq!(
        noted("^function pg_relpages"),
        format!("function pg_relpages(regclass)|{of_script}\nfunction pg_relpages(text)|{of_script}")
    );
    s.run(
        "create function f() returns int language sql as 'select 1'; create table t (a int, b int);
            grant execute on function f() to reader; grant select on t to writer; grant select (b) on t to reader;
            alter extension pgstattuple add function f(); alter extension pgstattuple add table t",
    )
    .unwrap();
    let three = "(f\\(\\)|table t)$";
    let with = |role: &str| {
        format!(
            "column b of table t|{{{role}=r/postgres}}\nfunction f()|{{=X/postgres,postgres=X/postgres,{role}=X/postgres}}\n\
             table t|{{postgres=arwdDxtm/postgres,writer=r/postgres}}"
        )
    };
    assert_eq!(noted(three), with("reader"));
    // What is granted later is no beginning.
    s.run("grant insert on t to reader").unwrap();
    assert_eq!(noted(three), with("reader"));
    s.run("revoke all on t from reader; revoke all on function f() from reader; revoke all (b) on t from reader").unwrap();
    assert_eq!(
        error(&s, "drop role reader").report().detail.as_deref(),
        Some("initial privileges for function f()\ninitial privileges for column b of table t")
    );
    s.run("reassign owned by reader to writer; drop role reader").unwrap();
    assert_eq!(noted(three), with("writer"));
    s.run("drop owned by writer; drop role writer").unwrap();
    assert_eq!(
        noted(three),
        "function f()|{=X/postgres,postgres=X/postgres}\ntable t|{postgres=arwdDxtm/postgres}"
    );
    s.run("alter extension pgstattuple drop function f()").unwrap();
    assert_eq!(noted(three), "table t|{postgres=arwdDxtm/postgres}");
    s.run("drop extension pgstattuple").unwrap();
    assert_eq!(noted(""), "");
}

#[test]
fn who_may_create_objects_may_install_what_is_trusted() {
    let server = crate::server();
    let s = server.connect();
    s.run("create role r; set role r").unwrap();
    let refused = error(&s, "create extension pgcrypto");
    assert_eq!(refused.message(), "permission denied to create extension \"pgcrypto\"");
    s.run("reset role; grant create on database postgres to r; set role r").unwrap();
    s.run("create extension pgcrypto").unwrap();
    let owners = "select distinct proowner::regrole::text, extowner::regrole::text
        from pg_proc, pg_extension where extname = 'pgcrypto' and proname = 'digest'";
    assert_eq!(s.query(owners), "postgres|r");
    s.run("drop extension pgcrypto").unwrap();
}

#[test]
fn functions_in_c_are_those_of_modules() {
    let server = crate::server();
    let s = server.connect();
    let missing = error(&s, "create function f(int) returns int language c as 'nosuchfile'");
    assert_eq!(missing.message(), "could not access file \"nosuchfile\": No such file or directory");
    assert_eq!(missing.code().as_str(), "58P01");
    let missing = error(&s, "create function f(int) returns int language c as '$libdir/pgcrypto', 'nosuch'");
    assert_eq!(missing.code().as_str(), "42883");
    s.run("create function f(text, text) returns bytea language c strict as '$libdir/pgcrypto', 'pg_digest'")
        .unwrap();
    assert_eq!(s.query("select f('a', 'md5')"), "\\x0cc175b9c0f1b6a831c399e269772661");
    assert_eq!(error(&s, "load 'nosuch'").code().as_str(), "58P01");
    assert_eq!(s.run("load 'pgcrypto'").unwrap().tags, ["LOAD"]);
}

#[test]
fn citext_is_text_without_regard_to_case() {
    let server = crate::server();
    let s = server.connect();
    s.run("create extension citext; create table u (name citext primary key, n int)").unwrap();
    s.run("insert into u values ('Anna', 1), ('bert', 2), ('CLARA', 3)").unwrap();
    let twice = error(&s, "insert into u values ('ANNA', 4)");
    assert_eq!(twice.report().detail.as_deref(), Some("Key (name)=(ANNA) already exists."));
    s.run("insert into u values ('aNNa', 5) on conflict (name) do update set n = excluded.n").unwrap();
    assert_eq!(s.query("select * from u order by name desc"), "CLARA|3\nbert|2\nAnna|5");
    s.run("set enable_seqscan = off").unwrap();
    let plan = s.query("explain (costs off) select * from u where name = 'anna'");
    assert!(plan.contains("Index Cond: (name = 'anna'::citext)"), "{plan}");
    assert_eq!(s.query("select n from u where name = 'anna'"), "5");
    assert_eq!(s.query("select n from u where name in ('BERT', 'clara') order by n"), "2\n3");
    assert_eq!(s.query("select n from u where name > 'ANNA' and name < 'C'"), "2");
    assert_eq!(s.query("select n from u where name like 'B%' or name ~ '^cl'"), "2\n3");
    assert_eq!(s.query("select min(name), max(name), count(distinct name) from u"), "Anna|CLARA|3");
    s.run("create table o (of citext, k int); insert into o values ('BERT', 1), ('Bert', 2)").unwrap();
    for join in ["hashjoin", "mergejoin", "nestloop"] {
        s.run(&format!("set enable_{join} = off")).unwrap();
        assert_eq!(s.query("select u.name, sum(k) from u join o on o.of = u.name group by 1"), "bert|3");
    }
    assert_eq!(s.query("select 'A'::citext = 'a', 'A'::citext = 'a'::text, 'x'::citext || 'Y'"), "t|f|xY");
    assert_eq!(
        s.query("select replace('aXbx'::citext, 'X', '.'), strpos('abC'::citext, 'c'), split_part('1X2x3'::citext, 'x', 2)"),
        "a.b.|3|2"
    );
    assert_eq!(s.query("select array_agg(name order by name)::text from u"), "{Anna,bert,CLARA}");
    s.run("drop extension citext cascade").unwrap();
    assert_eq!(s.query("select count(*) from pg_type where oid >= 16384 and typname like '%citext%'"), "0");
}

#[test]
fn members_may_be_in_pg_catalog() {
    let server = crate::server();
    let s = server.connect();
    s.run("create extension fuzzystrmatch schema pg_catalog; create extension amcheck schema pg_catalog")
        .unwrap();
    assert_eq!(s.query("select pg_catalog.soundex('a') || soundex('b')"), "A000B000");
    assert_eq!(s.query("select count(*) from pg_catalog.verify_heapam('pg_class')"), "0");
    s.run("create extension citext schema pg_catalog").unwrap();
    assert_eq!(s.query("select 'A'::citext operator(pg_catalog.=) 'a'::citext"), "t");
}

#[test]
fn foreign_keys_compare_citext_as_it_does() {
    let server = crate::server();
    let s = server.connect();
    s.run("create schema x; create extension citext schema x; set search_path = public, x").unwrap();
    s.run("create table u (name citext primary key, n int); insert into u values ('Anna', 1), ('bert', 2), ('CLARA', 3)")
        .unwrap();
    s.run("create table o (of citext references u on update cascade on delete cascade, k int)").unwrap();
    // Whatever the search path is.
    s.run("set search_path = public; insert into o values ('BERT', 1), ('Bert', 2), ('anna', 3)").unwrap();
    let missing = error(&s, "insert into o values ('dora', 4)");
    assert_eq!(missing.report().detail.as_deref(), Some("Key (of)=(dora) is not present in table \"u\"."));
    s.run("update u set name = 'BERTA' where n = 2; update u set name = 'ANNA' where n = 1").unwrap();
    assert_eq!(s.query("select * from o order by k"), "BERTA|1\nBERTA|2\nANNA|3");
    s.run("delete from u where n = 1").unwrap();
    assert_eq!(s.query("select * from o order by k"), "BERTA|1\nBERTA|2");
    s.run("set search_path = public, x; create table p (of citext references u); insert into p values ('clara')").unwrap();
    // The key is there again, in other letters.
    s.run("update u set name = 'Clara' where n = 3").unwrap();
    let referenced = error(&s, "update u set name = 'Clarissa' where n = 3");
    let detail = "Key (name)=(Clara) is still referenced from table \"p\".";
    assert_eq!(referenced.report().detail.as_deref(), Some(detail));
    s.run("create table t (name text primary key); insert into t values ('a'); create table q (of citext references t)").unwrap();
    s.run("insert into q values ('a')").unwrap();
    assert_eq!(error(&s, "insert into q values ('A')").code().as_str(), "23503", "as text");
    let other = error(&s, "create table r (of text references u)");
    assert_eq!(
        other.report().detail.as_deref(),
        Some(
            "Key columns \"of\" of the referencing table and \"name\" of the referenced table are of incompatible types: text and citext."
        )
    );
    s.run("alter table p drop constraint p_of_fkey; insert into p values ('nobody')").unwrap();
    assert_eq!(error(&s, "alter table p add foreign key (of) references u").code().as_str(), "23503");
    assert_eq!(
        s.query("select conrelid::regclass, conpfeqop[1]::regoperator, conffeqop[1]::regoperator from pg_constraint where contype = 'f' and conrelid in ('q'::regclass, 'o'::regclass) order by 1"),
        "o|=(citext,citext)|=(citext,citext)\nq|=(text,text)|=(text,text)"
    );
}

#[test]
fn a_library_that_would_do_nothing_is_not_loaded() {
    let server = crate::server();
    let prewarm = server.instance().modules().find("pg_prewarm").unwrap();
    let refused = prewarm.preload.unwrap()(server.instance()).unwrap_err();
    assert_eq!((refused.code().as_str(), refused.message()), ("0A000", "autoprewarm is not supported yet"));
}
