//! Rules: what they make of statements, what they need, and how they are written.

use crate::support::{Client, Server};

/// A table whose changes rules write down.
fn watched(server: &Server) -> Client {
    let s = server.connect();
    s.run("create table t (id int primary key, v text default 'new')").unwrap();
    s.run("create table log (what text, id int, v text)").unwrap();
    s.run("create rule ins as on insert to t do also insert into log values ('ins', new.id, new.v)").unwrap();
    s.run(
        "create rule upd as on update to t where old.v is distinct from new.v
         do insert into log values ('upd', old.id, old.v || '>' || new.v)",
    )
    .unwrap();
    s.run("create rule del as on delete to t do insert into log values ('del', old.id, old.v)").unwrap();
    s
}

fn tag(s: &Client, sql: &str) -> String {
    s.run(sql).unwrap().tags.concat()
}

/// The detail of a statement's error.
fn detail(s: &Client, sql: &str) -> Option<String> {
    match s.run(sql) {
        Ok(_) => None,
        Err(error) => error.report().detail.as_ref().map(ToString::to_string),
    }
}

#[test]
fn also_does_more_and_the_statement_counts() {
    let server = Server::new();
    let s = watched(&server);
    assert_eq!(tag(&s, "insert into t (id) values (1)"), "INSERT 0 1");
    assert_eq!(tag(&s, "insert into t values (2, 'two'), (3, default)"), "INSERT 0 2");
    assert_eq!(tag(&s, "insert into t select g, 'g' from generate_series(4, 5) g"), "INSERT 0 2");
    assert_eq!(
        s.query("select what, id, v from log order by id"),
        "ins|1|new\nins|2|two\nins|3|new\nins|4|g\nins|5|g"
    );
    s.run("truncate log").unwrap();
    // The rule's condition, and the statement's.
    assert_eq!(tag(&s, "update t set v = 'new' where id <= 3"), "UPDATE 3");
    assert_eq!(s.query("select * from log"), "upd|2|two>new");
    s.run("truncate log").unwrap();
    // Rows are found before they are gone.
    assert_eq!(tag(&s, "delete from t using (values (1), (4)) w(n) where id = n"), "DELETE 2");
    assert_eq!(s.query("select * from log order by id"), "del|1|new\ndel|4|g");
}

#[test]
fn instead_stands_for_the_statement() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table base (a int, b text)").unwrap();
    s.run("create view v as select a, b, a * 2 as twice from base where a > 0 union all select 0, '', 0")
        .unwrap();
    assert_eq!(s.query("insert into v values (1, 'x')"), "ERROR:  cannot insert into view \"v\"");
    s.run(
        "create rule i as on insert to v do instead
         insert into base values (new.a, new.b) returning a, b, a * 2",
    )
    .unwrap();
    s.run("create rule u as on update to v do instead update base set b = new.b where a = old.a").unwrap();
    s.run("create rule d as on delete to v do instead nothing").unwrap();
    assert_eq!(
        s.query("insert into v values (1, 'one'), (2, 'two') returning twice, v, new.b"),
        "2|(1,one,2)|one\n4|(2,two,4)|two"
    );
    assert_eq!(tag(&s, "update v set b = upper(b) where twice > 2"), "UPDATE 1");
    assert_eq!(tag(&s, "delete from v"), "DELETE 0");
    assert_eq!(s.query("select * from base order by a"), "1|one\n2|TWO");
    assert_eq!(
        s.query("update v set b = '' returning a"),
        "ERROR:  cannot perform UPDATE RETURNING on relation \"v\""
    );
    // Another kind of statement tells nothing of this one.
    s.run("create or replace rule d as on delete to v do instead update base set b = '-' where a = old.a")
        .unwrap();
    assert_eq!(tag(&s, "delete from v where a = 1"), "DELETE 0");
    assert_eq!(s.query("select * from base order by a"), "1|-\n2|TWO");
    assert_eq!(s.query("explain (costs off) insert into v values (3, '')"), "Insert on base\n  ->  Result");
}

#[test]
fn conditions_share_the_rows_out() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (a int); create table big (a int); create table huge (a int)").unwrap();
    s.run("create rule b as on insert to t where new.a > 10 do instead insert into big values (new.a)")
        .unwrap();
    s.run("create rule h as on insert to t where new.a > 100 do instead insert into huge values (new.a)")
        .unwrap();
    assert_eq!(tag(&s, "insert into t select * from (values (1), (11), (101), (null)) w"), "INSERT 0 2");
    assert_eq!(s.query("select * from t"), "1\n");
    assert_eq!(s.query("select * from big"), "11\n101");
    assert_eq!(s.query("select * from huge"), "101");
    assert_eq!(
        s.query("explain (costs off) insert into t values (5)"),
        "Insert on t\n  ->  Result\n\nInsert on big\n  ->  Result\n        One-Time Filter: false\n\nInsert on huge\n  ->  Result\n        One-Time Filter: false"
    );
    assert_eq!(
        s.query("insert into t values (1) returning a"),
        "ERROR:  cannot perform INSERT RETURNING on relation \"t\""
    );
    s.run("create view v as select * from t; create rule vb as on insert to v where new.a > 5 do instead nothing").unwrap();
    assert_eq!(
        detail(&s, "insert into v values (1)").as_deref(),
        Some("Views with conditional DO INSTEAD rules are not automatically updatable.")
    );
}

#[test]
fn what_rules_are_not_for() {
    let server = Server::new();
    let s = watched(&server);
    for (sql, message) in [
        (
            "with w as (insert into t values (1) returning id) select * from w",
            "DO ALSO rules are not supported for data-modifying statements in WITH",
        ),
        (
            "with w as (select 1) insert into t select * from w",
            "WITH cannot be used in a query that is rewritten by rules into multiple queries",
        ),
        ("copy (delete from t returning id) to stdout", "DO ALSO rules are not supported for COPY"),
        (
            "insert into t values (1) on conflict do nothing",
            "INSERT with ON CONFLICT clause cannot be used with table that has INSERT or UPDATE rules",
        ),
        (
            "merge into t using log on t.id = log.id when matched then delete",
            "cannot execute MERGE on relation \"t\"",
        ),
        (
            "create rule r as on insert to t do delete from log where id = old.id",
            "ON INSERT rule cannot use OLD",
        ),
        ("create rule r as on select to t do instead select 1", "relation \"t\" cannot have ON SELECT rules"),
        (
            "create rule ins as on insert to t do instead nothing",
            "rule \"ins\" for relation \"t\" already exists",
        ),
        (
            "create rule r as on insert to t do instead insert into log (id) values (new.id) returning id",
            "RETURNING list has too few entries",
        ),
        (
            "create rule r as on insert to t where new.id > 1 do notify n",
            "rules with WHERE conditions can only have SELECT, INSERT, UPDATE, or DELETE actions",
        ),
        (
            "create rule r as on update to t do with w as (select new.id) insert into log (id) select * from w",
            "cannot refer to NEW within WITH query",
        ),
        ("alter table t enable rule r", "rule \"r\" for relation \"t\" does not exist"),
        ("drop rule r on t", "rule \"r\" for relation \"t\" does not exist"),
    ] {
        let found = s.query(sql);
        assert!(found.contains(&format!("ERROR:  {message}")), "{sql}: {found}");
    }
    s.run("create rule again as on insert to log do insert into log values ('x', new.id + 1, '')").unwrap();
    assert_eq!(
        s.query("insert into log values ('y', 1, '')"),
        "ERROR:  infinite recursion detected in rules for relation \"log\""
    );
}

#[test]
fn plans_follow_rules() {
    let server = Server::new();
    let s = watched(&server);
    s.run("prepare p as insert into t values ($1, $2)").unwrap();
    assert_eq!(tag(&s, "execute p (1, 'a')"), "INSERT 0 1");
    s.run("alter table t disable rule ins").unwrap();
    s.run("execute p (2, 'b')").unwrap();
    s.run("alter table t enable replica rule ins").unwrap();
    s.run("execute p (3, 'c')").unwrap();
    s.run("set session_replication_role = replica").unwrap();
    s.run("execute p (4, 'd')").unwrap();
    s.run("reset session_replication_role").unwrap();
    s.run("execute p (5, 'e')").unwrap();
    s.run("drop rule ins on t").unwrap();
    s.run("execute p (6, 'f')").unwrap();
    assert_eq!(s.query("select id from log order by id"), "1\n4");
    assert_eq!(s.query("select count(*) from t"), "6");
    // Parameters reach what rules do, also in functions.
    s.run("truncate log").unwrap();
    s.run("create function f(int) returns void begin atomic update t set v = v || '!' where id = $1; end")
        .unwrap();
    s.run("select f(5)").unwrap();
    assert_eq!(s.query("select * from log"), "upd|5|e>e!");
}

#[test]
fn actions_are_the_owners() {
    let server = Server::new();
    let s = watched(&server);
    s.run("create role bob; grant usage on schema public to bob; grant insert on t to bob").unwrap();
    s.run("set role bob").unwrap();
    assert_eq!(tag(&s, "insert into t values (1)"), "INSERT 0 1");
    assert_eq!(s.query("delete from t"), "ERROR:  permission denied for table t");
    assert_eq!(s.query("insert into log values ('x')"), "ERROR:  permission denied for table log");
    assert_eq!(
        s.query("create rule r as on insert to t do instead nothing"),
        "ERROR:  must be owner of table t"
    );
    s.run("reset role").unwrap();
    assert_eq!(s.query("select * from log"), "ins|1|new");
}

#[test]
fn rules_are_objects() {
    let server = Server::new();
    let s = watched(&server);
    assert_eq!(
        s.query("select definition from pg_rules where rulename = 'upd'"),
        "CREATE RULE upd AS\n    ON UPDATE TO public.t\n   WHERE (old.v IS DISTINCT FROM new.v) DO  INSERT INTO log (what, id, v)\n  VALUES ('upd'::text, old.id, ((old.v || '>'::text) || new.v));"
    );
    assert_eq!(
        detail(&s, "alter table t drop column v").as_deref(),
        Some(
            "rule ins on table t depends on column v of table t\nrule upd on table t depends on column v of table t\nrule del on table t depends on column v of table t"
        )
    );
    assert_eq!(
        s.query("alter table t alter v type varchar"),
        "ERROR:  cannot alter type of a column used by a view or rule"
    );
    s.run("comment on rule ins on t is 'written down'").unwrap();
    s.run("alter rule ins on t rename to inserted").unwrap();
    assert_eq!(
        s.query("select obj_description(oid, 'pg_rewrite') from pg_rewrite where rulename = 'inserted'"),
        "written down"
    );
    s.run("alter table t rename v to w; alter table log rename to journal").unwrap();
    s.run("insert into t values (7, 'x')").unwrap();
    assert_eq!(s.query("select id, v from journal"), "7|x");
    s.run("drop table journal cascade").unwrap();
    assert_eq!(s.query("select count(*) from pg_rules where tablename = 't'"), "0");
    assert_eq!(tag(&s, "insert into t values (8)"), "INSERT 0 1");
    s.run("create view v as select * from t").unwrap();
    assert_eq!(
        s.query("drop rule \"_RETURN\" on v"),
        "ERROR:  cannot drop rule _RETURN on view v because view v requires it"
    );
    // A new query leaves the other rules of a view as they are.
    s.run("create rule no as on insert to v do instead nothing").unwrap();
    s.run("create or replace view v as select id, w from t where id > 0").unwrap();
    assert_eq!(tag(&s, "insert into v values (9)"), "INSERT 0 0");
}

#[test]
fn rows_of_added_queries_are_shown_and_kept_apart() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (a int); insert into t values (1)").unwrap();
    s.run("create rule r as on update to t do also select old.a as before, new.a as after").unwrap();
    assert_eq!(s.query("update t set a = a + 1"), "1|2");
    // RETURNING's rows are the statement's own.
    assert_eq!(s.query("update t set a = a + 1 returning a"), "3");
    s.run("create rule n as on insert to t do notify ch, 'x'").unwrap();
    s.run("insert into t values (5)").unwrap();
    assert_eq!(
        s.query("explain (costs off) insert into t values (5)"),
        "Insert on t\n  ->  Result\n\nNOTIFY"
    );
    s.run("create or replace rule n as on insert to t do instead nothing").unwrap();
    assert_eq!(s.query("explain insert into t values (5)"), "Query rewrites to nothing");
}
