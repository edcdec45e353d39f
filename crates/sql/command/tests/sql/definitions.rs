//! Tables made from queries, generated columns, and changes of columns' types, through whole sessions.

use crate::support::{Client, Server};

fn message(s: &Client, sql: &str) -> String {
    s.run(sql).err().map_or_else(|| format!("{sql}: no error"), |e| e.message().to_owned())
}

#[test]
fn tables_made_from_queries() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table src as select g as a, repeat('x', g * 3000) as b from generate_series(1, 3) g")
        .unwrap();
    let made = s.run("create table t (x) as select a, b from src where a > 1").unwrap();
    assert_eq!(made.tags, ["SELECT 2"]);
    assert_eq!(s.query("select x, length(b) from t order by 1"), "2|6000\n3|9000");
    let skipped = s.run("create table if not exists t as select 1").unwrap();
    assert_eq!((skipped.tags[0].as_str(), skipped.notices.len()), ("CREATE TABLE AS", 1));
    assert_eq!(message(&s, "create table u (a, b) as select 1"), "too many column names were specified");
    s.run("create table empty as select * from t with no data").unwrap();
    assert_eq!(s.query("select count(*) from empty"), "0");
    s.run("prepare p (int) as select $1 + a as s from src").unwrap();
    assert_eq!(s.run("create table u as execute p(10)").unwrap().tags, ["SELECT 3"]);
    assert_eq!(s.run("select s into v from u where s > 11").unwrap().tags, ["SELECT 2"]);
    assert_eq!(s.query("explain (costs off) create table w as select a from src"), "Seq Scan on src");
    assert_eq!(message(&s, "table w"), "relation \"w\" does not exist");
}

#[test]
fn generated_columns_follow_their_expression() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (a int, b int generated always as (a * 2) stored)").unwrap();
    assert_eq!(s.query("insert into t values (1) returning b"), "2");
    assert_eq!(s.query("update t set a = 5 returning b"), "10");
    s.run("alter table t alter b set expression as (a + 1)").unwrap();
    assert_eq!(s.query("select b from t"), "6");
    assert_eq!(
        message(&s, "create table u (a int, b float8 generated always as (random()) stored)"),
        "generation expression is not immutable"
    );
    let error = s.run("alter table t drop column a").err().unwrap();
    assert_eq!(error.report().detail.as_deref(), Some("column b of table t depends on column a of table t"));
    s.run("alter table t alter b drop expression").unwrap();
    s.run("insert into t values (7, 7)").unwrap();
    s.run("drop table t").unwrap();
    let left = "select count(*) from pg_depend where objid >= 16384 or refobjid >= 16384";
    assert_eq!(s.query(left), "0");
}

#[test]
fn a_new_type_keeps_rows_indexes_and_constraints() {
    let mut server = Server::new();
    let s = server.connect();
    s.run("create table t (id int primary key, gone int, x text check (length(x) > 0), y int)").unwrap();
    s.run("insert into t select g, 0, g::text, g from generate_series(1, 500) g").unwrap();
    s.run("alter table t drop column gone; create index i on t (x); create index e on t ((y + 1))").unwrap();
    s.run("begin; alter table t alter id type text; rollback").unwrap();
    assert_eq!(
        message(&s, "alter table t alter x type int using x::int"),
        "function length(integer) does not exist"
    );
    s.run("alter table t drop constraint t_x_check, alter x type int using x::int, alter y type numeric")
        .unwrap();
    drop(s);
    server.crash_and_restart();
    let s = server.connect();
    s.run("set enable_seqscan = off").unwrap();
    assert_eq!(s.query("select id from t where x = 77"), "77");
    assert_eq!(s.query("select id from t where y + 1 = 100"), "99");
    assert_eq!(s.query("select sum(x), count(*) from t"), "125250|500");
    assert_eq!(
        message(&s, "insert into t values (3)"),
        "duplicate key value violates unique constraint \"t_pkey\""
    );
    s.run("create view v as select y from t").unwrap();
    assert_eq!(
        message(&s, "alter table t alter y type int"),
        "cannot alter type of a column used by a view or rule"
    );
}

#[test]
fn a_table_gets_room_for_large_values_when_it_needs_it() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (a int)").unwrap();
    s.run("alter table t add b text").unwrap();
    s.run("insert into t select 1, string_agg(md5(g::text), '') from generate_series(1, 1000) g").unwrap();
    assert_eq!(s.query("select length(b) from t"), "32000");
}

#[test]
fn a_whole_row_in_checks_and_indexes() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (a int, gone int, b int, check (t is not null))").unwrap();
    s.run("insert into t values (1, 0, 2), (3, 0, 4)").unwrap();
    s.run("create index full_rows on t (a) where t is not null").unwrap();
    s.run("create unique index hashes on t (hash_record(t))").unwrap();
    s.run("alter table t drop column gone").unwrap();
    assert_eq!(
        message(&s, "insert into t values (1)"),
        "new row for relation \"t\" violates check constraint \"t_check\""
    );
    s.run("insert into t values (5, 6); update t set b = 7 where a = 3").unwrap();
    assert_eq!(
        message(&s, "insert into t values (3, 7)"),
        "duplicate key value violates unique constraint \"hashes\""
    );
    s.run("set enable_seqscan = off").unwrap();
    assert_eq!(s.query("select b from t where hash_record(t) = hash_record(row(3, 7))"), "7");
    assert_eq!(s.query("select pg_get_indexdef('hashes'::regclass, 1, true)"), "hash_record(t.*)");
    assert_eq!(
        s.query("select pg_get_constraintdef(oid) from pg_constraint where conrelid = 't'::regclass"),
        "CHECK ((t.* IS NOT NULL))"
    );
    assert_eq!(
        message(&s, "create table u (a int, b bool generated always as (u is null) stored)"),
        "cannot use whole-row variable in column generation expression"
    );
}

#[test]
fn an_index_expression_is_immutable_and_has_a_name_and_a_collation() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (a text collate \"C\", d date)").unwrap();
    assert_eq!(
        message(&s, "create index on t ((d::text))"),
        "functions in index expression must be marked IMMUTABLE"
    );
    assert_eq!(
        message(&s, "create index on t (a) where d < now()"),
        "functions in index predicate must be marked IMMUTABLE"
    );
    assert_eq!(
        message(&s, "create index on t ((ctid::text))"),
        "index creation on system columns is not supported"
    );
    s.run("create index on t (lower(a), (a || 'x'), upper(a) collate \"default\")").unwrap();
    assert_eq!(
        s.query("select pg_get_indexdef('t_lower_expr_upper_idx'::regclass)"),
        "CREATE INDEX t_lower_expr_upper_idx ON public.t USING btree (lower(a), ((a || 'x'::text)), upper(a) COLLATE \"default\")"
    );
    s.run("create index optional on t (a) with (fillfactor = 70, deduplicate_items = off)").unwrap();
    assert_eq!(
        s.query("select pg_get_indexdef('optional'::regclass)"),
        "CREATE INDEX optional ON public.t USING btree (a) WITH (fillfactor='70', deduplicate_items=off)"
    );
}

#[test]
fn a_dropped_view_needs_its_tables_no_more() {
    let server = Server::new();
    let s = server.connect();
    s.query("create table t (id int); create view v as select * from t");
    s.query("create or replace view v as select * from t where id > 1; drop view v");
    assert_eq!(s.query("drop table t"), "");
    assert_eq!(
        s.query("select count(*) from pg_depend where classid = 'pg_rewrite'::regclass and objid >= 16384"),
        "0"
    );
}

#[test]
fn views_are_shown_with_the_names_of_their_columns() {
    let server = Server::new();
    let s = server.connect();
    s.query(
        "create view v (x, y) as with q as (select 1 as a) select a, a + 1 from q union all values (2, 3)",
    );
    let shown = s.query("select pg_get_viewdef('v'::regclass)");
    assert!(shown.contains("SELECT q.a AS x,\n    (q.a + 1) AS y\n"), "{shown}");
    s.query("create view w (n) as values (1)");
    s.run("alter view w rename column n to m").unwrap();
    let shown = s.query("select pg_get_viewdef('w'::regclass)");
    assert!(shown.starts_with(" SELECT column1 AS m\n   FROM (VALUES (1)) \"*VALUES*\""), "{shown}");
}

#[test]
fn a_column_names_how_its_values_are_compressed() {
    let server = Server::new();
    let s = server.connect();
    s.query("create table t (l text compression lz4, p text compression pglz, d text)");
    let methods = "select string_agg(attcompression::text, ',' order by attnum) from pg_attribute where attrelid = 't'::regclass and attnum > 0";
    assert_eq!(s.query(methods), "l,p,");
    for setting in ["pglz", "lz4"] {
        s.run(&format!("set default_toast_compression = {setting}")).unwrap();
        // Compressed in line, and compressed in chunks.
        s.run("insert into t select x, x, x from (values (repeat('to and fro, ', 600)), ((select string_agg(i::text, ',') from generate_series(1, 40000) i))) v(x)").unwrap();
    }
    assert_eq!(s.query("select count(*), count(distinct l), bool_and(l = p and p = d) from t"), "4|2|t");
    s.run("alter table t alter p set compression default, alter d set compression pglz").unwrap();
    assert_eq!(s.query(methods), "l,,p");
    s.run("create table copy (like t including compression)").unwrap();
    assert_eq!(s.query(&methods.replace("'t'", "'copy'")), "l,,p");
    assert_eq!(
        s.query("create table n (a int compression pglz)"),
        "ERROR:  column data type integer does not support compression"
    );
    assert_eq!(
        s.query("alter table t alter l set compression best"),
        "ERROR:  invalid compression method \"best\""
    );
    s.run("create table other (l text compression pglz)").unwrap();
    let conflict = "ERROR:  column \"l\" has a compression method conflict";
    assert_eq!(s.query("create table child () inherits (t, other)"), conflict);
    assert_eq!(s.query("create table child (l text compression pglz) inherits (t)"), conflict);
}

#[test]
fn storage_of_a_column_and_comments_on_all_kinds() {
    let server = Server::new();
    let s = server.connect();
    s.query("create table t (a int constraint positive check (a > 0), b text); create domain d as int constraint c check (value > 1)");
    s.run("alter table t alter b set storage external").unwrap();
    let storage = "select attstorage from pg_attribute where attrelid = 't'::regclass and attname = 'b'";
    assert_eq!(s.query(storage), "e");
    s.run("alter table t alter b set storage default").unwrap();
    assert_eq!(s.query(storage), "x");
    assert_eq!(s.query("alter table t alter b set storage odd"), "ERROR:  invalid storage type \"odd\"");
    for object in [
        "constraint positive on t",
        "domain d",
        "constraint c on domain d",
        "type d",
        "database postgres",
        "language sql",
        "access method btree",
        "cast (int as bigint)",
        "tablespace pg_default",
    ] {
        s.run(&format!("comment on {object} is 'said of it'")).unwrap();
    }
    assert_eq!(s.query("select count(*) from pg_description where description = 'said of it'"), "6");
    assert_eq!(s.query("select count(*) from pg_shdescription where description = 'said of it'"), "2");
    assert_eq!(
        s.query("comment on constraint nosuch on t is ''"),
        "ERROR:  constraint \"nosuch\" for table \"t\" does not exist"
    );
}

#[test]
fn a_new_column_asks_no_old_constraint() {
    let server = Server::new();
    let s = server.connect();
    s.run(
        "create table t(a int, b int unique); insert into t values (null, 1), (30, 3);
         alter table t add not null a not valid, add check (b > 2) not valid",
    )
    .unwrap();
    // Volatile, constant, computed from the row, and from a sequence.
    s.run("alter table t add column v float default random()").unwrap();
    s.run("alter table t add column c int default 5").unwrap();
    s.run("alter table t add column g int generated always as (b * 2) stored").unwrap();
    s.run("alter table t add column i int generated always as identity").unwrap();
    s.run("create domain d as int check (value > 0)").unwrap();
    s.run("alter table t add column d d default 7").unwrap();
    assert_eq!(
        s.query("select a, b, v is null, c, g, i, d from t order by i"),
        "|1|f|5|2|1|7\n30|3|f|5|6|2|7"
    );
    assert_eq!(s.query("select count(distinct v) from t"), "2");
    s.run("set enable_seqscan = off").unwrap();
    assert_eq!(s.query("select a, c from t where b = 3"), "30|5");
    s.run("create table w(a int primary key, b bool generated always as (tableoid = 'w'::regclass) stored)")
        .unwrap();
    s.run("insert into w values (1), (2)").unwrap();
    s.run("alter table w add column c regclass generated always as (tableoid) stored").unwrap();
    assert_eq!(s.query("select * from w"), "1|t|w\n2|t|w");
    // What is new is asked.
    assert_eq!(
        s.query("alter table t add column n int not null"),
        "ERROR:  column \"n\" of relation \"t\" contains null values"
    );
    assert_eq!(
        s.query("alter table t add column d2 d default -7"),
        "ERROR:  value for domain d violates check constraint \"d_check\""
    );
    assert_eq!(
        s.query("alter table t add column n int default 4 check (n > 4)"),
        "ERROR:  check constraint \"t_n_check\" of relation \"t\" is violated by some row"
    );
    assert!(s.query("update t set c = 6").starts_with("ERROR:  null value in column"));
}

/// Constraints of a table: name, kind, columns.
fn constraints(s: &Client, table: &str) -> String {
    let sql = "select string_agg(concat_ws(' ', conname, contype, conkey), ', ' order by conname)
               from pg_constraint where conrelid = ";
    s.query(&format!("{sql}'{table}'::regclass"))
}

#[test]
fn chosen_constraint_names_are_free_in_the_schema() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (constraint t_a_not_null check (true)); alter table t add a int not null").unwrap();
    assert_eq!(constraints(&s, "t"), "t_a_not_null c, t_a_not_null1 n {1}");
    s.run(
        "create table a_b (c int not null check (c > 0)); create table a (b_c int not null check (b_c > 0))",
    )
    .unwrap();
    assert_eq!(constraints(&s, "a"), "a_b_c_check1 c {1}, a_b_c_not_null1 n {1}");
    s.run("create table p (x int constraint u_pkey check (true)); create table u (a int primary key)")
        .unwrap();
    assert_eq!(constraints(&s, "u"), "u_a_not_null n {1}, u_pkey1 p {1}");
    s.run("create table l (x int constraint m_y_not_null not null); create table m (like l, y int not null)")
        .unwrap();
    assert_eq!(constraints(&s, "m"), "m_y_not_null n {1}, m_y_not_null1 n {2}");
    s.run("create table i (a int constraint n not null); create table j (b int constraint n not null)")
        .unwrap();
    s.run("create table k (c int not null) inherits (i, j)").unwrap();
    assert_eq!(constraints(&s, "k"), "k_b_not_null n {2}, k_c_not_null n {3}, n n {1}");
    // A number takes room from what is before it.
    let (long, column) = ("t".repeat(62), "c".repeat(44));
    s.run(&format!("create table {long} ({column}1 int not null, {column}2 int not null)")).unwrap();
    let shown = constraints(&s, &long);
    assert_eq!(
        shown,
        format!(
            "{t}_{c}_not_null1 n {{2}}, t{t}_{c}_not_null n {{1}}",
            t = "t".repeat(26),
            c = "c".repeat(26)
        )
    );
}

#[test]
fn not_null_constraints_of_a_column_agree() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (a int constraint n not null, not null a)").unwrap();
    assert_eq!(constraints(&s, "t"), "n n {1}");
    let names = "ERROR:  conflicting not-null constraint names \"n\" and \"m\"";
    assert_eq!(s.query("create table u (a int constraint n not null constraint m not null)"), names);
    assert_eq!(s.query("create table u (a int, constraint n not null a, constraint m not null a)"), names);
    assert_eq!(
        s.query("create table u (a int not null no inherit, not null a)"),
        "ERROR:  conflicting NO INHERIT declaration for not-null constraint on column \"a\""
    );
    s.run("create table p (a int); create table c (constraint p_a_key check (true)) inherits (p)").unwrap();
    assert_eq!(
        s.query("alter table p add column b int constraint p_a_key not null"),
        "ERROR:  constraint \"p_a_key\" for relation \"c\" already exists"
    );
}

#[test]
fn only_new_constraints_are_told_to_make_others_inheritable() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table up (a int, not null a no inherit); create table down () inherits (up)").unwrap();
    let report = |sql: &str| s.run(sql).err().unwrap().report().clone();
    for (sql, hinted) in
        [("alter table up add not null a", true), ("alter table up alter a set not null", false)]
    {
        let report = report(sql);
        assert_eq!(
            report.message,
            "cannot change NO INHERIT status of NOT NULL constraint \"up_a_not_null\" on relation \"up\""
        );
        assert_eq!(report.hint.is_some(), hinted, "{sql}");
    }
}

#[test]
fn virtual_columns_are_computed_where_they_are_read() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (a int, b int generated always as (a * 2), c int generated always as (coalesce(a, 0) + 1) virtual not null)")
        .unwrap();
    assert_eq!(s.query("insert into t (a) values (1), (null) returning *, old.c"), "1|2|2|\n||1|");
    assert_eq!(s.query("update t set a = 5 where b = 2 returning old.b, new.b, t"), "2|10|(5,10,6)");
    s.run("create view v as select b, c from t").unwrap();
    s.run("alter table t alter b set expression as (a * 3)").unwrap();
    assert_eq!(s.query("select * from v order by b"), "15|6\n|1");
    assert_eq!(
        s.query("select x, b, c, t is null from (values (5), (9)) y (x) left join t on a = x"),
        "5|15|6|f\n9|||t"
    );
    assert_eq!(
        s.query("select attgenerated from pg_attribute where attrelid = 't'::regclass and attnum = 2"),
        "v"
    );
    s.run("alter table t add check (b < 100), add d text generated always as (a || 'd')").unwrap();
    let error = s.run("insert into t (a) values (50)").err().unwrap();
    assert_eq!(
        (error.message(), error.report().detail.as_deref()),
        (
            "new row for relation \"t\" violates check constraint \"t_b_check\"",
            Some("Failing row contains (50, virtual, virtual, virtual).")
        )
    );
    s.run("create table n (a int, b int generated always as (nullif(a, 7)) not null)").unwrap();
    for (sql, expected) in [
        (
            "insert into n (a) values (7)",
            "null value in column \"b\" of relation \"n\" violates not-null constraint",
        ),
        ("insert into t values (1, 2)", "cannot insert a non-DEFAULT value into column \"b\""),
        ("create index on t ((b + 1))", "indexes on virtual generated columns are not supported"),
        ("alter table n add primary key (b)", "primary keys on virtual generated columns are not supported"),
        (
            "alter table n alter b drop expression",
            "ALTER TABLE / DROP EXPRESSION is not supported for virtual generated columns",
        ),
    ] {
        assert_eq!(message(&s, sql), expected);
    }
}

#[test]
fn an_index_becomes_that_of_a_constraint() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (a int, b text, c int); create table other (a int)").unwrap();
    s.run("insert into t select g, 'b' || g, g from generate_series(1, 100) g").unwrap();
    s.run(
        "create unique index t_a on t (a); create unique index t_b on t (b) include (c); create unique index t_c on t (c)",
    )
    .unwrap();
    s.run(
        "create index many on t (a); create unique index computed on t ((a + 1)); create unique index part on t (a) where a > 5;
        create unique index down on t (a, b desc); create unique index patterned on t (b text_pattern_ops);
        create unique index far on other (a)",
    )
    .unwrap();
    let add = |kind: &str, index: &str| message(&s, &format!("alter table t add {kind} using index {index}"));
    assert_eq!(add("unique", "missing"), "index \"missing\" does not exist");
    assert_eq!(add("unique", "t"), "\"t\" is not an index");
    assert_eq!(add("unique", "far"), "index \"far\" does not belong to table \"t\"");
    assert_eq!(add("unique", "many"), "\"many\" is not a unique index");
    assert_eq!(add("unique", "computed"), "index \"computed\" contains expressions");
    assert_eq!(add("primary key", "part"), "\"part\" is a partial index");
    for (index, column) in [("down", 2), ("patterned", 1)] {
        let wanted =
            format!("index \"{index}\" column number {column} does not have default sorting behavior");
        assert_eq!(add("unique", index), wanted);
    }
    assert_eq!(
        message(&s, "create table u (a int, unique using index t_a)"),
        "cannot use an existing index in CREATE TABLE"
    );
    let said = s.run("alter table t add constraint t_pkey primary key using index t_a").unwrap().notices;
    assert_eq!(said[0], "ALTER TABLE / ADD CONSTRAINT USING INDEX will rename index \"t_a\" to \"t_pkey\"");
    assert_eq!(add("unique", "t_pkey"), "index \"t_pkey\" is already associated with a constraint");
    assert_eq!(add("primary key", "t_c"), "multiple primary keys for table \"t\" are not allowed");
    s.run(
        "alter table t add unique using index t_b, add unique using index t_c deferrable initially deferred",
    )
    .unwrap();
    assert_eq!(constraints(&s, "t"), "t_a_not_null n {1}, t_b u {2}, t_c u {3}, t_pkey p {1}");
    s.run("update t set c = 101 - c").unwrap();
    assert_eq!(
        message(&s, "insert into t values (1)"),
        "duplicate key value violates unique constraint \"t_pkey\""
    );
    assert_eq!(
        message(&s, "drop index t_pkey"),
        "cannot drop index t_pkey because constraint t_pkey on table t requires it"
    );
    s.run("alter table t drop constraint t_pkey, drop constraint t_b; drop table t, other").unwrap();
    let left = "select count(*) from pg_depend where objid >= 16384 or refobjid >= 16384";
    assert_eq!(s.query(left), "0");
}

#[test]
fn keys_and_not_null_do_not_contradict_each_other() {
    let server = Server::new();
    let s = server.connect();
    for (definition, error) in [
        (
            "a int not null no inherit primary key",
            "conflicting NO INHERIT declarations for not-null constraints on column \"a\"",
        ),
        (
            "a int generated always as identity not null no inherit",
            "conflicting NO INHERIT declarations for not-null constraints on column \"a\"",
        ),
        (
            "a int not null no inherit, primary key (a)",
            "conflicting NO INHERIT declaration for not-null constraint on column \"a\"",
        ),
        (
            "a int primary key, not null a no inherit",
            "conflicting NO INHERIT declaration for not-null constraint on column \"a\"",
        ),
    ] {
        assert_eq!(s.query(&format!("create table t ({definition})")), format!("ERROR:  {error}"));
    }
    assert_eq!(
        s.query("create table p (a int, b int) partition by list (((a, b)))"),
        "ERROR:  partition key column 1 has pseudo-type record"
    );
    s.run("create table t (a int not null no inherit) with (oids = false)").unwrap();
    assert_eq!(
        s.query("create table o (a int) with (oids)"),
        "ERROR:  tables declared WITH OIDS are not supported"
    );
}
