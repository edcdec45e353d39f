//! Policies, and conditions that must not see what they hide.

use crate::support::{Client, Server};

/// A table of three rows of `ann` and `bob`, which both may read and change as policies let them.
fn notes(server: &Server) -> Client {
    let s = server.connect();
    s.run("create role ann; create role bob; create role boss bypassrls").unwrap();
    s.run("grant all on schema public to ann, bob, boss").unwrap();
    s.run("create table notes (id int primary key, who name, level int)").unwrap();
    s.run("insert into notes values (1, 'ann', 1), (2, 'bob', 2), (3, 'bob', 3)").unwrap();
    s.run("grant all on notes to ann, bob, boss").unwrap();
    s.run("alter table notes enable row level security").unwrap();
    s
}

/// The message of a statement's error, and its detail.
fn details(s: &Client, sql: &str) -> String {
    let Err(error) = s.run(sql) else { return "no error".to_owned() };
    format!("{} / {}", error.message(), error.report().detail.as_deref().unwrap_or("-"))
}

#[test]
fn without_policies_nothing_is_seen_or_written() {
    let server = Server::new();
    let s = notes(&server);
    s.run("set role bob").unwrap();
    assert_eq!(s.query("select count(*) from notes"), "0");
    assert_eq!(s.query("explain (costs off) select * from notes"), "Result\n  One-Time Filter: false");
    assert_eq!(s.run("update notes set level = 5").unwrap().tags, ["UPDATE 0"]);
    assert_eq!(s.run("delete from notes").unwrap().tags, ["DELETE 0"]);
    assert_eq!(
        s.query("insert into notes values (4, 'bob', 1)"),
        "ERROR:  new row violates row-level security policy for table \"notes\""
    );
    s.run("reset role; set role boss").unwrap();
    assert_eq!(s.query("select count(*) from notes"), "3");
}

#[test]
fn policies_are_for_commands_and_roles() {
    let server = Server::new();
    let s = notes(&server);
    s.run("create policy seen on notes for select using (level < 3)").unwrap();
    s.run("create policy own on notes for update using (who = current_user) with check (level < 10)")
        .unwrap();
    s.run("create policy new on notes for insert to bob with check (who = current_user)").unwrap();
    s.run("create policy strict on notes as restrictive for update to bob with check (level <> 7)").unwrap();
    s.run("set role bob").unwrap();
    assert_eq!(s.query("select id from notes order by 1"), "1\n2");
    // Rows are locked only that may be updated.
    assert_eq!(s.query("select id from notes order by 1 for update"), "2");
    assert_eq!(s.query("update notes set level = 1 returning id"), "2");
    assert_eq!(
        s.query("update notes set level = 7 where id = 2"),
        "ERROR:  new row violates row-level security policy \"strict\" for table \"notes\""
    );
    // What would not be seen any more is refused where rows are read.
    assert_eq!(
        s.query("update notes set level = 4 where id = 2"),
        "ERROR:  new row violates row-level security policy for table \"notes\""
    );
    assert_eq!(s.query("insert into notes values (4, 'bob', 1) returning id"), "4");
    assert_eq!(
        s.query("insert into notes values (5, 'ann', 1)"),
        "ERROR:  new row violates row-level security policy for table \"notes\""
    );
    s.run("insert into notes values (6, 'bob', 9)").unwrap();
    assert_eq!(
        s.query("insert into notes values (7, 'bob', 9) returning id"),
        "ERROR:  new row violates row-level security policy for table \"notes\""
    );
    s.run("reset role; set role ann").unwrap();
    assert_eq!(
        s.query("insert into notes values (8, 'ann', 1)"),
        "ERROR:  new row violates row-level security policy for table \"notes\""
    );
}

#[test]
fn plans_follow_roles_policies_and_the_setting() {
    let server = Server::new();
    let s = notes(&server);
    s.run("create policy own on notes using (who = current_user)").unwrap();
    s.run("prepare q as select count(*) from notes").unwrap();
    assert_eq!(s.query("execute q"), "3");
    s.run("set role bob").unwrap();
    assert_eq!(s.query("execute q"), "2");
    s.run("set row_security = off").unwrap();
    let off = "ERROR:  query would be affected by row-level security policy for table \"notes\"";
    assert_eq!(s.query("execute q"), off);
    assert_eq!(s.query("insert into notes values (9, 'bob', 1)"), off);
    s.run("reset row_security; reset role; set role ann").unwrap();
    assert_eq!(s.query("execute q"), "1");
    s.run("reset role; alter policy own on notes using (level > 0); set role ann").unwrap();
    assert_eq!(s.query("execute q"), "3");
    s.run("reset role; create role readers; grant readers to ann").unwrap();
    s.run("alter policy own on notes to readers; set role ann").unwrap();
    assert_eq!(s.query("execute q"), "3");
    s.run("reset role; revoke readers from ann; set role ann").unwrap();
    assert_eq!(s.query("execute q"), "0");
    s.run("reset role; alter table notes disable row level security; set role ann").unwrap();
    assert_eq!(s.query("execute q"), "3");
}

#[test]
fn the_owner_is_exempt_unless_forced() {
    let server = Server::new();
    let s = notes(&server);
    s.run("alter table notes owner to ann").unwrap();
    s.run("create table refers (id int references notes)").unwrap();
    s.run("alter table refers owner to ann; set role ann").unwrap();
    assert_eq!(s.query("select count(*), row_security_active('notes') from notes"), "3|f");
    s.run("alter table notes force row level security").unwrap();
    assert_eq!(s.query("select count(*), row_security_active('notes'::regclass) from notes"), "0|t");
    // Foreign keys are kept nevertheless, and a new one looks at all rows.
    s.run("insert into refers values (1)").unwrap();
    s.run("alter table refers add foreign key (id) references notes").unwrap();
    assert_eq!(
        s.query("insert into refers values (17)"),
        "ERROR:  insert or update on table \"refers\" violates foreign key constraint \"refers_id_fkey\""
    );
    // So do constraints, and columns that are filled in.
    s.run("alter table notes add check (level < 4), add column more int default 8 + (random() * 0)::int")
        .unwrap();
    assert_eq!(
        s.query("alter table notes add check (level < 3)"),
        "ERROR:  check constraint \"notes_level_check1\" of relation \"notes\" is violated by some row"
    );
    s.run("alter table notes no force row level security").unwrap();
    assert_eq!(s.query("select sum(more) from notes"), "24");
}

#[test]
fn hidden_rows_are_told_to_nobody() {
    let server = Server::new();
    let s = notes(&server);
    s.run("create policy own on notes using (who = current_user)").unwrap();
    s.run("set role bob").unwrap();
    // Asked of the hidden row, the condition would fail.
    assert_eq!(s.query("select id from notes where 1 / (id - 1) >= 0 order by 1"), "2\n3");
    assert_eq!(
        s.query("select id from (select * from notes offset 0) n where 1 / (id - 1) >= 0 order by 1"),
        "2\n3"
    );
    assert_eq!(
        s.query("select n.id from notes n left join notes m on false where 1 / (n.id - 1) >= 0 order by 1"),
        "2\n3"
    );
    assert_eq!(s.query("select n.id from notes n, notes m where 1 / (n.id - 1) = m.id - 1"), "2");
    assert_eq!(s.run("update notes set level = level where 1 / (id - 1) >= 0").unwrap().tags, ["UPDATE 2"]);
    assert_eq!(s.run("delete from notes where 1 / (id - 1) < 0").unwrap().tags, ["DELETE 0"]);
    assert_eq!(s.query("select id from notes where id = 1 and 1 / (id - 1) >= 0"), "");
    // What tells nothing may look into an index; what might does not.
    s.run("set enable_seqscan = off").unwrap();
    assert_eq!(
        s.query("explain (costs off) select id from notes where id = 1 and 1 / (id - 1) >= 0"),
        "Index Scan using notes_pkey on notes\n  Index Cond: (id = 1)\n  Filter: ((who = CURRENT_USER) AND ((1 / (id - 1)) >= 0))"
    );
    s.run("reset role; alter table notes alter level type numeric; create index on notes (level)").unwrap();
    let looked_up =
        || s.query("explain (costs off) select id from notes where level = 3").contains("Index Cond");
    assert!(looked_up());
    s.run("set role bob").unwrap();
    assert!(!looked_up());
    // Neither are their keys and values.
    assert_eq!(
        details(&s, "insert into notes values (1, 'bob', 1)"),
        "duplicate key value violates unique constraint \"notes_pkey\" / -"
    );
    assert_eq!(
        details(&s, "insert into notes values (null, 'bob', 1)"),
        "null value in column \"id\" of relation \"notes\" violates not-null constraint / -"
    );
}

#[test]
fn barriers_hold_where_rows_are_changed() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table t (a int primary key, b text)").unwrap();
    s.run("insert into t select g, 'v' || g from generate_series(1, 5) g").unwrap();
    s.run("create view even with (security_barrier) as select * from t where a % 2 = 0").unwrap();
    s.run("create view late with (security_barrier) as select * from even where a > 2").unwrap();
    // Asked of the first row, which both hide, the condition would fail; and of the second, which one hides.
    assert_eq!(s.run("update even set b = b where 10 / (a - 1) > 0").unwrap().tags, ["UPDATE 2"]);
    assert_eq!(s.run("update late set b = b where 10 / ((a - 1) * (a - 2)) > 0").unwrap().tags, ["UPDATE 1"]);
    assert_eq!(s.run("delete from late where 10 / (a - 2) < 0").unwrap().tags, ["DELETE 0"]);
    s.run("set enable_seqscan = off; set enable_bitmapscan = off").unwrap();
    assert_eq!(
        s.query("explain (costs off) update even set b = 'x' where a = 4 and 1 / a = 0"),
        "Update on t\n  ->  Index Scan using t_pkey on t\n        Index Cond: (a = 4)\n        Filter: (((a % 2) = 0) AND ((1 / a) = 0))"
    );
}

#[test]
fn conflicts_and_merges_are_refused_where_policies_are_against_them() {
    let server = Server::new();
    let s = notes(&server);
    s.run("create policy seen on notes for select using (true)").unwrap();
    s.run("create policy new on notes for insert with check (true)").unwrap();
    s.run("create policy own on notes for update using (who = current_user) with check (level < 9)").unwrap();
    s.run("create policy gone on notes for delete using (level > 2)").unwrap();
    s.run("set role bob").unwrap();
    let upsert = |id: i32, level: i32| {
        s.query(&format!(
            "insert into notes values ({id}, 'bob', {level}) on conflict (id) do update set level = excluded.level"
        ))
    };
    assert_eq!(upsert(2, 4), "");
    assert_eq!(
        upsert(1, 4),
        "ERROR:  new row violates row-level security policy (USING expression) for table \"notes\""
    );
    assert_eq!(upsert(2, 10), "ERROR:  new row violates row-level security policy for table \"notes\"");
    let merge = |id: i32, action: &str| {
        s.query(&format!("merge into notes using (values ({id})) v (x) on id = x when matched then {action}"))
    };
    let refused =
        "ERROR:  target row violates row-level security policy (USING expression) for table \"notes\"";
    assert_eq!(merge(2, "update set level = 3"), "");
    assert_eq!(merge(1, "update set level = 3"), refused);
    assert_eq!(merge(1, "delete"), refused);
    assert_eq!(merge(1, "do nothing"), "");
    assert_eq!(merge(3, "delete"), "");
    assert_eq!(
        merge(2, "update set level = 9"),
        "ERROR:  new row violates row-level security policy for table \"notes\""
    );
}

#[test]
fn policies_that_read_their_table_are_refused() {
    let server = Server::new();
    let s = notes(&server);
    s.run("create policy loop on notes using (level < (select max(level) from notes))").unwrap();
    s.run("set role bob").unwrap();
    let endless = "ERROR:  infinite recursion detected in policy for relation \"notes\"";
    assert_eq!(s.query("select * from notes"), endless);
    s.run("reset role; create view over as select * from notes; alter view over owner to ann").unwrap();
    s.run("alter policy loop on notes using (level < (select max(level) from over)); set role bob").unwrap();
    assert_eq!(s.query("select * from notes"), endless);
    // A table with policies of its own is read through them.
    s.run("reset role; create table levels (level int, who name); insert into levels values (1, 'bob'), (2, 'ann')").unwrap();
    s.run("grant select on levels to public; alter table levels enable row level security").unwrap();
    s.run("create policy own on levels using (who = current_user)").unwrap();
    s.run("alter policy loop on notes using (level in (select level from levels)); set role ann").unwrap();
    assert_eq!(s.query("select id from notes"), "2");
    s.run("reset role; revoke select on levels from public; set role ann").unwrap();
    assert_eq!(s.query("select id from notes"), "ERROR:  permission denied for table levels");
}

#[test]
fn views_and_functions_read_as_whom_they_run() {
    let server = Server::new();
    let s = notes(&server);
    s.run("create policy own on notes using (who = current_user)").unwrap();
    s.run("create policy all_of_boss on notes to boss using (true)").unwrap();
    s.run("alter role boss nobypassrls; set role boss").unwrap();
    s.run("create view as_owner as select * from notes").unwrap();
    s.run("create view as_user with (security_invoker) as select * from notes").unwrap();
    s.run("create function plain() returns bigint language sql stable as 'select count(*) from notes'")
        .unwrap();
    s.run("create function as_boss() returns bigint language sql stable security definer as 'select count(*) from notes'").unwrap();
    s.run("create function rows() returns setof notes language sql stable as 'select * from notes'").unwrap();
    s.run("grant all on as_owner, as_user to public; reset role; set role ann").unwrap();
    assert_eq!(s.query("select count(*) from as_owner"), "3");
    assert_eq!(s.query("select count(*) from as_user"), "1");
    assert_eq!(s.query("select plain(), as_boss(), (select count(*) from rows())"), "1|3|1");
}

#[test]
fn a_tree_has_the_policies_of_the_table_that_is_named() {
    let server = Server::new();
    let s = server.connect();
    s.run("create role ann").unwrap();
    s.run("create table p (id int, part int, who name) partition by list (part)").unwrap();
    s.run(
        "create table p1 partition of p for values in (1); create table p2 partition of p for values in (2)",
    )
    .unwrap();
    s.run("insert into p values (1, 1, 'ann'), (2, 1, 'bob'), (3, 2, 'ann')").unwrap();
    s.run("grant all on p, p1, p2 to ann").unwrap();
    s.run("alter table p enable row level security; create policy own on p using (who = current_user)")
        .unwrap();
    s.run("alter table p2 enable row level security; set role ann").unwrap();
    assert_eq!(s.query("select id from p order by 1"), "1\n3");
    assert_eq!(s.query("select count(*) from p1"), "2");
    assert_eq!(s.query("select count(*) from p2"), "0");
    assert_eq!(s.query("update p set part = 2 where id = 1 returning tableoid::regclass"), "p2");
    let refused = "ERROR:  new row violates row-level security policy for table \"p\"";
    assert_eq!(s.query("update p set part = 1, who = 'bob' where id = 3"), refused);
    assert_eq!(s.query("insert into p values (9, 2, 'bob')"), refused);
}

#[test]
fn copy_goes_through_policies() {
    let server = Server::new();
    let s = notes(&server);
    s.run("create policy own on notes using (who = current_user)").unwrap();
    s.run("set role ann").unwrap();
    assert_eq!(s.run("copy notes to stdout").unwrap().tags, ["COPY 1"]);
    assert_eq!(s.query("copy notes from stdin"), "ERROR:  COPY FROM not supported with row-level security");
    s.run("set row_security = off").unwrap();
    assert_eq!(
        s.query("copy notes to stdout"),
        "ERROR:  query would be affected by row-level security policy for table \"notes\""
    );
}

#[test]
fn policies_are_objects() {
    let server = Server::new();
    let s = notes(&server);
    s.run("create table others (k int)").unwrap();
    s.run("create policy own on notes to ann, bob using (who = current_user and level in (select k from others))").unwrap();
    assert_eq!(
        s.query("create policy own on notes"),
        "ERROR:  policy \"own\" for table \"notes\" already exists"
    );
    assert_eq!(
        s.query("select permissive, roles, cmd, qual, with_check from pg_policies"),
        "PERMISSIVE|{ann,bob}|ALL|((who = CURRENT_USER) AND (level IN ( SELECT others.k\n   FROM others)))|"
    );
    assert_eq!(
        s.query("select pg_describe_object(classid, objid, objsubid) from pg_get_object_address('policy', '{public,notes,own}', '{}')"),
        "policy own on table notes"
    );
    s.run("comment on policy own on notes is 'mine'").unwrap();
    assert_eq!(s.query("select obj_description(oid, 'pg_policy') from pg_policy"), "mine");
    assert_eq!(
        details(&s, "alter table notes drop column level"),
        "cannot drop column level of table notes because other objects depend on it / policy own on table notes depends on column level of table notes"
    );
    assert_eq!(
        details(&s, "drop table others"),
        "cannot drop table others because other objects depend on it / policy own on table notes depends on table others"
    );
    assert_eq!(
        details(&s, "alter table others alter column k type bigint"),
        "cannot alter type of a column used in a policy definition / policy own on table notes depends on column \"k\""
    );
    s.run("revoke all on notes from ann, bob; revoke all on schema public from ann, bob").unwrap();
    assert_eq!(
        details(&s, "drop role ann"),
        "role \"ann\" cannot be dropped because some objects depend on it / target of policy own on table notes"
    );
    s.run("drop owned by ann; drop role ann").unwrap();
    assert_eq!(s.query("select roles from pg_policies"), "{bob}");
    s.run("alter policy own on notes using (exists (select from others where k = level))").unwrap();
    assert_eq!(
        s.query("select qual from pg_policies"),
        "(EXISTS ( SELECT\n   FROM others\n  WHERE (others.k = notes.level)))"
    );
    s.run("alter policy own on notes rename to mine").unwrap();
    s.run("drop owned by bob").unwrap();
    assert_eq!(s.query("select count(*) from pg_policy"), "0");
    assert_eq!(
        s.query("drop policy mine on notes"),
        "ERROR:  policy \"mine\" for table \"notes\" does not exist"
    );
    assert_eq!(
        s.run("drop policy if exists mine on notes").unwrap().notices,
        ["policy \"mine\" for relation \"notes\" does not exist, skipping"]
    );
    s.run("create policy again on notes; drop table notes").unwrap();
    assert_eq!(s.query("select count(*) from pg_policy"), "0");
}

#[test]
fn what_policies_may_not_be() {
    let server = Server::new();
    let s = notes(&server);
    s.run("create view v as select 1 as a").unwrap();
    for (sql, message) in [
        (
            "create policy p on notes for select with check (true)",
            "WITH CHECK cannot be applied to SELECT or DELETE",
        ),
        ("create policy p on notes for insert using (true)", "only WITH CHECK expression allowed for INSERT"),
        (
            "create policy p on notes using (level)",
            "argument of POLICY must be type boolean, not type integer",
        ),
        (
            "create policy p on notes using (count(*) > 0)",
            "aggregate functions are not allowed in policy expressions",
        ),
        ("create policy p on v using (true)", "\"v\" is not a table"),
        ("create policy p on pg_class using (true)", "permission denied: \"pg_class\" is a system catalog"),
        ("create policy p on notes to nobody", "role \"nobody\" does not exist"),
        (
            "alter table v enable row level security",
            "ALTER action ENABLE ROW SECURITY cannot be performed on relation \"v\"",
        ),
    ] {
        assert_eq!(s.query(sql), format!("ERROR:  {message}"), "{sql}");
    }
    s.run("set role bob").unwrap();
    assert_eq!(s.query("create policy p on notes"), "ERROR:  must be owner of table notes");
    assert_eq!(
        s.query("alter table notes disable row level security"),
        "ERROR:  must be owner of table notes"
    );
}
