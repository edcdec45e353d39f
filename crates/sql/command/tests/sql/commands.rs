//! Utility statements through whole sessions.

use crate::support::{Client, Collected, Server};

fn notices(session: &Client, sql: &str) -> Vec<String> {
    session.run(sql).unwrap().notices
}

fn copy_in(session: &Client, sql: &str, data: &[&str]) -> Result<String, String> {
    let mut out =
        Collected { input: data.iter().map(|d| d.as_bytes().to_vec()).collect(), ..Collected::default() };
    match session.session().simple_query(sql, &mut out) {
        Ok(()) => Ok(out.tags.join(",")),
        Err(e) => Err(format!("{} / {}", e.message(), e.report().context.as_deref().unwrap_or("-"))),
    }
}

#[test]
fn what_pgbench_makes() {
    let server = Server::new();
    let s = server.connect();
    let out = s.run("drop table if exists pgbench_accounts, pgbench_branches").unwrap();
    assert_eq!(out.tags, ["DROP TABLE"]);
    assert_eq!(
        out.notices,
        [
            "table \"pgbench_accounts\" does not exist, skipping",
            "table \"pgbench_branches\" does not exist, skipping"
        ]
    );
    s.run("create table pgbench_accounts(aid int not null,bid int,abalance int,filler char(84)) with (fillfactor=100)")
        .unwrap();
    s.run("create table pgbench_history(tid int,bid int,aid int,delta int,mtime timestamp,filler char(22))")
        .unwrap();
    s.run("begin").unwrap();
    s.run("truncate table pgbench_accounts, pgbench_history").unwrap();
    let data = "1\t1\t0\t\n2\t1\t0\t\n3\t1\t0\t\n";
    assert_eq!(copy_in(&s, "copy pgbench_accounts from stdin with (freeze on)", &[data]).unwrap(), "COPY 3");
    s.run("commit").unwrap();
    assert_eq!(s.run("vacuum analyze pgbench_accounts").unwrap().tags, ["VACUUM"]);
    assert_eq!(s.run("alter table pgbench_accounts add primary key (aid)").unwrap().tags, ["ALTER TABLE"]);
    assert_eq!(
        s.query(
            "alter table pgbench_accounts add constraint f foreign key (bid) references pgbench_branches"
        ),
        "ERROR:  relation \"pgbench_branches\" does not exist"
    );
    assert_eq!(s.query("select aid, abalance from pgbench_accounts where aid = 2"), "2|0");
    assert_eq!(
        s.query("select relname, reltuples from pg_class where relname like 'pgbench_a%' order by 1"),
        "pgbench_accounts|3\npgbench_accounts_pkey|3"
    );
    assert_eq!(
        s.query("insert into pgbench_accounts values (2)"),
        "ERROR:  duplicate key value violates unique constraint \"pgbench_accounts_pkey\""
    );
}

#[test]
fn freeze_needs_a_fresh_file() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (a int)").unwrap();
    let error = copy_in(&s, "copy t from stdin (freeze)", &["1\n"]).unwrap_err();
    assert!(
        error.starts_with("cannot perform COPY FREEZE because the table was not created or truncated"),
        "{error}"
    );
    s.run("begin; truncate t; savepoint x").unwrap();
    assert!(copy_in(&s, "copy t from stdin (freeze)", &["1\n"]).is_err());
    s.run("rollback").unwrap();
}

#[test]
fn copy_says_where_it_failed() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (a int not null, b text unique)").unwrap();
    let copy = |sql: &str, data: &str| copy_in(&s, sql, &[data]);
    assert_eq!(
        copy("copy t from stdin", "1\tx\nz\ty\n").unwrap_err(),
        "invalid input syntax for type integer: \"z\" / COPY t, line 2, column a: \"z\""
    );
    assert_eq!(
        copy("copy t from stdin", "1\n").unwrap_err(),
        "missing data for column \"b\" / COPY t, line 1: \"1\""
    );
    assert_eq!(
        copy("copy t from stdin", "1\t2\t3\n").unwrap_err(),
        "extra data after last expected column / COPY t, line 1: \"1\t2\t3\""
    );
    assert_eq!(
        copy("copy t from stdin", "\\N\tx\n").unwrap_err(),
        "null value in column \"a\" of relation \"t\" violates not-null constraint / COPY t, line 1: \"\\N\tx\""
    );
    assert_eq!(
        copy("copy t from stdin", "1\tx\n2\tx\n").unwrap_err(),
        "duplicate key value violates unique constraint \"t_b_key\" / COPY t, line 2"
    );
    assert_eq!(copy("copy t from stdin (on_error ignore)", "1\tx\nz\ty\n3\tz\n").unwrap(), "COPY 2");
    assert_eq!(copy("copy t (b, a) from stdin csv header", "b,a\n\"q,\",7\n").unwrap(), "COPY 1");
    assert_eq!(s.query("copy t to stdout"), "1\tx\n\n3\tz\n\n7\tq,\n");
    assert_eq!(
        s.query("copy (select a, b from t where a > 1 order by a) to stdout csv header"),
        "a,b\n\n3,z\n\n7,\"q,\"\n"
    );
}

#[test]
fn copy_uses_defaults_checks_and_conditions() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (a int check (a > 0), b text default 'none')").unwrap();
    assert_eq!(copy_in(&s, "copy t (a) from stdin where a <> 2", &["1\n2\n3\n"]).unwrap(), "COPY 2");
    assert_eq!(s.query("select * from t order by a"), "1|none\n3|none");
    let error = copy_in(&s, "copy t (a) from stdin", &["4\n-1\n"]).unwrap_err();
    assert_eq!(
        error,
        "new row for relation \"t\" violates check constraint \"t_a_check\" / COPY t, line 2: \"-1\""
    );
}

#[test]
fn names_are_chosen_as_postgresql_does() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (a int primary key, b int unique, c int, unique (b, c), check (b < c))").unwrap();
    s.run("create index on t (c)").unwrap();
    s.run("create index on t (c desc nulls last)").unwrap();
    s.run("create index on t (a) include (c)").unwrap();
    let names = "select relname from pg_class where relname like 't\\_%' order by 1";
    assert_eq!(s.query(names), "t_a_c_idx\nt_b_c_key\nt_b_key\nt_c_idx\nt_c_idx1\nt_pkey");
    let constraints = "select conname from pg_constraint where conrelid = 't'::regclass order by 1";
    assert_eq!(s.query(constraints), "t_a_not_null\nt_b_c_key\nt_b_key\nt_check\nt_pkey");
}

#[test]
fn refused_definitions() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (a int)").unwrap();
    for (sql, message) in [
        ("create table t (a int)", "relation \"t\" already exists"),
        ("create table u (a int, a int)", "column \"a\" specified more than once"),
        ("create table u (ctid int)", "column name \"ctid\" conflicts with a system column name"),
        ("create table u (a nosuch)", "type \"nosuch\" does not exist"),
        (
            "create table u (a int primary key, primary key (a))",
            "multiple primary keys for table \"u\" are not allowed",
        ),
        ("create table u (a int, unique (b))", "column \"b\" named in key does not exist"),
        (
            "create table u (a int null not null)",
            "conflicting NULL/NOT NULL declarations for column \"a\" of table \"u\"",
        ),
        ("create table u (a int) with (fillfactor=5)", "value 5 out of bounds for option \"fillfactor\""),
        ("create table nosuch.u (a int)", "schema \"nosuch\" does not exist"),
        ("create index on t (b)", "column \"b\" does not exist"),
        ("create index on nosuch (b)", "relation \"nosuch\" does not exist"),
        ("create index on t using nosuch (a)", "access method \"nosuch\" does not exist"),
        ("drop table nosuch", "table \"nosuch\" does not exist"),
        ("drop view t", "\"t\" is not a view"),
        ("drop table pg_class", "permission denied: \"pg_class\" is a system catalog"),
        ("create schema pg_x", "unacceptable schema name \"pg_x\""),
        ("lock table t", "LOCK TABLE can only be used in transaction blocks"),
        ("set work_mem = 'x'", "invalid value for parameter \"work_mem\": \"x\""),
    ] {
        assert_eq!(s.query(sql), format!("ERROR:  {message}"), "{sql}");
    }
    s.run("begin").unwrap();
    assert_eq!(s.query("vacuum"), "ERROR:  VACUUM cannot run inside a transaction block");
    s.run("rollback").unwrap();
    assert_eq!(
        notices(&s, "create table if not exists t (b int)"),
        ["relation \"t\" already exists, skipping"]
    );
}

#[test]
fn an_index_is_built_over_what_is_there() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (a int, b text)").unwrap();
    s.run("insert into t select i % 1000, 'v' || i from generate_series(1, 5000) i").unwrap();
    s.run("set maintenance_work_mem = '1MB'").unwrap();
    let error = s.run("create unique index u on t (a)").err().unwrap();
    assert_eq!(error.message(), "could not create unique index \"u\"");
    assert!(error.report().detail.as_deref().unwrap().ends_with("is duplicated."));
    s.run("create index i on t (a, b desc)").unwrap();
    s.run("set enable_seqscan = off").unwrap();
    assert_eq!(s.query("select count(*) from t where a = 7"), "5");
    assert_eq!(s.query("select b from t where a = 7 order by b desc limit 1"), "v7");
    s.run("create index e on t ((a * 2)) where b > 'v4'").unwrap();
    assert_eq!(s.query("select count(*) from t where a * 2 = 14 and b > 'v4'"), "2");
}

#[test]
fn truncate_and_rollback() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (a int primary key, b text)").unwrap();
    s.run("insert into t values (1, repeat('x', 100000))").unwrap();
    s.run("begin").unwrap();
    s.run("truncate t").unwrap();
    s.run("insert into t values (1, 'new')").unwrap();
    assert_eq!(s.query("select b from t where a = 1"), "new");
    s.run("rollback").unwrap();
    assert_eq!(s.query("select length(b) from t where a = 1"), "100000");
}

#[test]
fn tables_are_altered() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (a int, b text)").unwrap();
    s.run("insert into t values (1, 'x'), (null, 'y')").unwrap();
    assert_eq!(
        s.query("alter table t alter a set not null"),
        "ERROR:  column \"a\" of relation \"t\" contains null values"
    );
    s.run("alter table t add column c int default 5, alter b set default 'd'").unwrap();
    assert_eq!(s.query("select c from t where b = 'x'"), "5");
    assert_eq!(
        s.query("alter table t add check (c > 5)"),
        "ERROR:  check constraint \"t_c_check\" of relation \"t\" is violated by some row"
    );
    s.run("alter table t add constraint big check (c > 1)").unwrap();
    s.run("alter table t rename column c to d").unwrap();
    assert_eq!(
        s.query("insert into t (a, d) values (2, 0)"),
        "ERROR:  new row for relation \"t\" violates check constraint \"big\""
    );
    s.run("alter table t drop constraint big").unwrap();
    s.run("insert into t (a, d) values (2, 0)").unwrap();
    assert_eq!(s.query("select b from t where a = 2"), "d");
    s.run("alter table t drop column b").unwrap();
    s.run("alter table t rename to u").unwrap();
    assert_eq!(s.query("select * from u where a = 2"), "2|0");
    s.run("alter table u set (fillfactor = 50)").unwrap();
    assert_eq!(s.query("select reloptions from pg_class where relname = 'u'"), "{fillfactor=50}");
    s.run("create schema sc").unwrap();
    s.run("alter table u set schema sc").unwrap();
    assert_eq!(s.query("select count(*) from sc.u"), "3");
    assert_eq!(s.query("alter table u add e int"), "ERROR:  relation \"u\" does not exist");
    assert_eq!(notices(&s, "alter table if exists u add e int"), ["relation \"u\" does not exist, skipping"]);
    assert_eq!(s.query("drop schema sc"), "ERROR:  cannot drop schema sc because other objects depend on it");
    assert_eq!(notices(&s, "drop schema sc cascade"), ["drop cascades to table sc.u"]);
}

#[test]
fn views_are_made_and_go_with_cascade() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (a int, b text)").unwrap();
    s.run("insert into t values (1, 'x')").unwrap();
    s.run("create view v as select a + 1 as n, b from t").unwrap();
    assert_eq!(s.query("select * from v"), "2|x");
    s.run("create or replace view v as select a + 2 as n, b, 1 as one from t").unwrap();
    assert_eq!(s.query("select * from v"), "3|x|1");
    assert_eq!(
        s.query("create or replace view v as select b from t"),
        "ERROR:  cannot drop columns from view"
    );
    assert_eq!(s.query("drop table t"), "ERROR:  cannot drop table t because other objects depend on it");
    assert_eq!(notices(&s, "drop table t cascade"), ["drop cascades to view v"]);
}

#[test]
fn temporary_tables_hide_others_and_go() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (a int)").unwrap();
    s.run("create temp table t (b text)").unwrap();
    s.run("insert into t values ('mine')").unwrap();
    assert_eq!(s.query("select * from t"), "mine");
    let other = server.connect();
    assert_eq!(other.query("select * from t"), "");
    s.run("discard temp").unwrap();
    assert_eq!(s.query("select * from t"), "");
    s.run("create temp table u (b text)").unwrap();
    s.run("create function pg_temp.f() returns int language sql as 'select 1'").unwrap();
    s.run("create type pg_temp.mood as enum ('good')").unwrap();
    s.run("create function of_mood(pg_temp.mood) returns int language sql as 'select 2'").unwrap();
    let left = "select (select count(*) from pg_proc where proname in ('f', 'of_mood')), \
                (select count(*) from pg_type where typname = 'mood')";
    assert_eq!(s.query(left), "2|1");
    s.run("discard temp").unwrap();
    assert_eq!(other.query(left), "0|0");
    s.run("create temp table u (b text)").unwrap();
    drop(s);
    assert_eq!(other.query("select count(*) from pg_class where relname = 'u'"), "0");
}

#[test]
fn vacuum_removes_and_analyze_counts() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (a int primary key, b int)").unwrap();
    s.run("insert into t select i, i % 4 from generate_series(1, 2000) i").unwrap();
    s.run("delete from t where a > 1000").unwrap();
    s.run("vacuum t").unwrap();
    assert_eq!(
        s.query("select reltuples from pg_class where relname in ('t', 't_pkey') order by relname"),
        "1000\n1000"
    );
    s.run("analyze t").unwrap();
    assert_eq!(
        s.query("select stadistinct from pg_statistic where starelid = 't'::regclass order by staattnum"),
        "-1\n4"
    );
    assert_eq!(s.query("select count(*) from t where a > 900"), "100");
    s.run("vacuum").unwrap();
    s.run("analyze").unwrap();
    assert_eq!(s.query("select count(*) from pg_class where relname = 'pg_class'"), "1");
}

#[test]
fn vacuum_and_analyze_skip_the_temporary_tables_of_others() {
    let server = Server::new();
    let (s, other) = (server.connect(), server.connect());
    for client in [&s, &other] {
        client.query("create temp table mine (a int)");
        client.query("insert into mine select * from generate_series(1, 10)");
    }
    let counted = "select reltuples from pg_class where oid = 'mine'::regclass";
    let schema = other.query("select pg_my_temp_schema()::regnamespace");
    for sql in ["vacuum", "analyze", &format!("vacuum analyze {schema}.mine")] {
        assert_eq!(notices(&s, sql), [""; 0], "{sql}");
        assert_eq!((s.query(counted), other.query(counted)), ("10".into(), "-1".into()), "{sql}");
    }
    other.query("vacuum");
    assert_eq!(other.query(counted), "10");
}

#[test]
fn settings_are_set_and_shown() {
    let server = Server::new();
    let s = server.connect();
    assert_eq!(s.query("show work_mem"), "4MB");
    s.run("set work_mem = '8MB'").unwrap();
    assert_eq!(s.query("show work_mem"), "8MB");
    s.run("begin; set local work_mem = '1MB'").unwrap();
    assert_eq!(s.query("show work_mem"), "1MB");
    s.run("commit").unwrap();
    assert_eq!(s.query("show work_mem"), "8MB");
    s.run("reset work_mem").unwrap();
    assert_eq!(s.query("show work_mem"), "4MB");
    s.run("create schema x; create table x.t (a int); set search_path = x, public").unwrap();
    assert_eq!(s.query("select count(*) from t"), "0");
    assert_eq!(s.query("show search_path"), "x, public");
    assert!(s.query("show all").contains("work_mem|4MB|"));
}

#[test]
fn only_messages_that_the_client_wants() {
    let server = Server::new();
    let s = server.connect();
    let skipped = ["table \"nothing\" does not exist, skipping"];
    let no_block = ["there is no transaction in progress"];
    assert_eq!(notices(&s, "drop table if exists nothing"), skipped);
    s.run("set client_min_messages = warning").unwrap();
    assert!(notices(&s, "drop table if exists nothing").is_empty());
    let mut out = Collected::default();
    s.session().parse("", "drop table if exists nothing", &[], &mut out).unwrap();
    s.session().bind("", "", &[], &[], &[]).unwrap();
    s.session().execute("", 0, &mut out).unwrap();
    s.session().sync(&mut out).unwrap();
    assert!(out.notices.is_empty(), "{:?}", out.notices);
    assert_eq!(notices(&s, "commit"), no_block);
    s.run("set client_min_messages = error").unwrap();
    assert!(notices(&s, "commit").is_empty());
    s.run("create table t (a int)").unwrap();
    assert!(!notices(&s, "vacuum verbose t").is_empty());
    s.run("reset client_min_messages; begin; set local client_min_messages = error").unwrap();
    assert!(notices(&s, "drop table if exists nothing").is_empty());
    s.run("commit").unwrap();
    assert_eq!(notices(&s, "drop table if exists nothing"), skipped);
}

#[test]
fn explain_analyze_counts_what_conditions_throw_away() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (a int, b int); insert into t select g, g % 10 from generate_series(1, 100) g")
        .unwrap();
    let explain = |sql: &str| {
        s.query(&format!("explain (analyze, costs off, timing off, summary off, buffers off) {sql}"))
    };
    assert_eq!(
        explain("select * from t where b = 3"),
        "Seq Scan on t (actual rows=10.00 loops=1)\n  Filter: (b = 3)\n  Rows Removed by Filter: 90"
    );
    s.run("set enable_hashjoin = off; set enable_mergejoin = off; set enable_material = off").unwrap();
    let join = explain("select * from t x join t y on x.a < y.a where x.a <= 2 and y.a <= 3");
    let lines: Vec<&str> = join.lines().map(str::trim).collect();
    assert_eq!(
        lines[..3],
        [
            "Nested Loop (actual rows=3.00 loops=1)",
            "Join Filter: (x.a < y.a)",
            "Rows Removed by Join Filter: 3"
        ]
    );
    assert!(
        lines.contains(&"Rows Removed by Filter: 98") && lines.contains(&"Rows Removed by Filter: 97"),
        "{join}"
    );
}

/// Sends statements without Sync between them; the first error, if any.
fn pipelined(s: &Client, statements: &[&str]) -> Option<String> {
    let (session, mut out) = (s.session(), Collected::default());
    let mut run = |statement: &str| {
        session.parse("", statement, &[], &mut out)?;
        session.bind("", "", &[], &[], &[])?;
        session.execute("", 0, &mut out)
    };
    let failed = statements.iter().find_map(|statement| run(statement).err());
    session.sync(&mut out).unwrap();
    failed.map(|error| error.message().to_owned())
}

#[test]
fn what_comes_before_sync_is_a_block() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (a int)").unwrap();
    let cases: [(&[&str], &str, &str); 6] = [
        (&["insert into t values (1)", "vacuum t"], "VACUUM cannot run inside a transaction block", "0"),
        (
            &["insert into t values (1)", "create index concurrently on t (a)"],
            "CREATE INDEX CONCURRENTLY cannot run inside a transaction block",
            "0",
        ),
        (&["vacuum t", "insert into t values (1)"], "", "1"),
        (&["begin", "insert into t values (1)", "commit", "vacuum t"], "", "2"),
        (&["insert into t values (1)", "begin", "rollback"], "", "2"),
        (
            &["insert into t values (1)", "savepoint a"],
            "SAVEPOINT can only be used in transaction blocks",
            "2",
        ),
    ];
    for (statements, error, rows) in cases {
        assert_eq!(pipelined(&s, statements).unwrap_or_default(), error, "{statements:?}");
        assert_eq!(s.query("select count(*) from t"), rows, "{statements:?}");
    }
}

#[test]
fn messages_call_a_statement_by_its_tag() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (a int)").unwrap();
    s.run(
        "create trigger x before update on t for each row execute function suppress_redundant_updates_trigger()",
    )
    .unwrap();
    assert_eq!(s.run("alter trigger x on t rename to y").unwrap().tags, ["ALTER TRIGGER"]);
    s.run("create function drops() returns int language sql stable as 'drop table t; select 1'").unwrap();
    assert_eq!(s.query("select drops()"), "ERROR:  DROP TABLE is not allowed in a non-volatile function");
    assert_eq!(
        s.query("create function c() returns int begin atomic commit; select 1; end"),
        "ERROR:  COMMIT is not yet supported in unquoted SQL function body"
    );
    s.run("begin read only").unwrap();
    assert_eq!(
        s.query("alter trigger y on t rename to x"),
        "ERROR:  cannot execute ALTER TRIGGER in a read-only transaction"
    );
    s.run("rollback").unwrap();
    assert_eq!(
        s.query("alter event trigger e rename to f"),
        "ERROR:  ALTER EVENT TRIGGER RENAME is not supported yet"
    );
}

#[test]
fn the_word_of_a_kind_must_fit_the_relation() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (a int); create view v as select 1 as a").unwrap();
    for what in ["set schema public", "rename to u", "owner to current_user"] {
        let refused = s.query(&format!("alter foreign table t {what}"));
        assert_eq!(refused, "ERROR:  \"t\" is not a foreign table", "{what}");
    }
    assert_eq!(s.query("comment on foreign table t is 'x'"), "ERROR:  \"t\" is not a foreign table");
    assert_eq!(s.query("alter sequence v rename to w"), "ERROR:  \"v\" is not a sequence");
    assert_eq!(s.run("alter table v rename to w").unwrap().tags, ["ALTER TABLE"]);
    assert_eq!(s.run("alter view t rename a to b").unwrap().tags, ["ALTER VIEW"]);
    assert_eq!(s.query("alter function f() owner to nobody"), "ERROR:  role \"nobody\" does not exist");
}
