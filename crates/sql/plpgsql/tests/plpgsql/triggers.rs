//! Triggers with functions in PL/pgSQL, through whole sessions.

use crate::support::{Client, Server};

fn server() -> Server {
    let server = Server::new();
    server.instance().languages().register(vec![plpgsql::language()]);
    server
}

fn script(s: &Client, steps: &[(&str, &str)]) {
    for (sql, expected) in steps {
        assert_eq!(s.query(sql), *expected, "{sql}");
    }
}

/// A function that notes what fires in the table `seen`.
const NOTE: &str = "create table seen (n int generated always as identity, what text);
    create function note() returns trigger language plpgsql as $$ begin
      insert into seen (what) values (concat_ws(' ', tg_argv[0], tg_when, tg_op, tg_level, tg_table_name, old, new));
      return case when tg_op = 'DELETE' then old else new end; end $$";
/// What was noted, and a clean slate.
const SEEN: &str = "with d as (delete from seen returning *) select string_agg(what, '; ' order by n) from d";

#[test]
fn they_fire_in_order_around_the_change() {
    let server = server();
    let s = server.connect();
    s.query("create table t (id int primary key, v text)");
    s.query(NOTE);
    for (name, when, level) in [
        ("d", "after insert or update or delete", "row"),
        ("c", "after insert or update or delete or truncate", "statement"),
        ("b", "before insert or update or delete", "row"),
        ("a", "before insert or update or delete or truncate", "statement"),
    ] {
        s.query(&format!(
            "create trigger {name} {when} on t for each {level} execute function note('{name}')"
        ));
    }
    script(
        &s,
        &[
            ("insert into t values (1, 'x'), (2, 'y')", ""),
            (
                SEEN,
                "a BEFORE INSERT STATEMENT t; b BEFORE INSERT ROW t (1,x); b BEFORE INSERT ROW t (2,y); \
                 d AFTER INSERT ROW t (1,x); d AFTER INSERT ROW t (2,y); c AFTER INSERT STATEMENT t",
            ),
            ("update t set v = 'z' where id = 1", ""),
            (
                SEEN,
                "a BEFORE UPDATE STATEMENT t; b BEFORE UPDATE ROW t (1,x) (1,z); d AFTER UPDATE ROW t (1,x) (1,z); \
                 c AFTER UPDATE STATEMENT t",
            ),
            ("delete from t where id = 3", ""),
            (SEEN, "a BEFORE DELETE STATEMENT t; c AFTER DELETE STATEMENT t"),
            ("truncate t", ""),
            (SEEN, "a BEFORE TRUNCATE STATEMENT t; c AFTER TRUNCATE STATEMENT t"),
            ("insert into t values (1, 'x') on conflict (id) do update set v = 'w'", ""),
            (
                SEEN,
                "a BEFORE INSERT STATEMENT t; a BEFORE UPDATE STATEMENT t; b BEFORE INSERT ROW t (1,x); \
                 d AFTER INSERT ROW t (1,x); c AFTER UPDATE STATEMENT t; c AFTER INSERT STATEMENT t",
            ),
        ],
    );
}

#[test]
fn a_row_trigger_changes_or_refuses_rows() {
    let server = server();
    let s = server.connect();
    s.query("create table t (id int, v text, twice int generated always as (id * 2) stored)");
    s.query(
        "create function f() returns trigger language plpgsql as $$ begin
           if new.id < 0 then return null; end if; new.id = new.id + 100; return new; end $$",
    );
    s.query("create trigger f before insert or update of v on t for each row when (new.v is not null) execute function f()");
    script(
        &s,
        &[
            ("insert into t values (1, 'a'), (-1, 'b'), (2, null) returning id, twice", "101|202\n2|4"),
            // Only an UPDATE of the column fires it.
            ("update t set id = 3 where id = 2 returning id", "3"),
            ("update t set v = 'c' where id = 3 returning id, twice", "103|206"),
            ("alter table t disable trigger f; insert into t values (-5, 'x') returning id", "-5"),
            ("alter table t enable replica trigger f; insert into t values (-6, 'x') returning id", "-6"),
            ("set session_replication_role = replica; insert into t values (-7, 'x') returning id", ""),
            ("reset session_replication_role", ""),
            (
                "select pg_get_triggerdef(oid) from pg_trigger where tgname = 'f'",
                "CREATE TRIGGER f BEFORE INSERT OR UPDATE OF v ON public.t FOR EACH ROW WHEN ((new.v IS NOT NULL)) \
                 EXECUTE FUNCTION f()",
            ),
            ("drop function f()", "ERROR:  cannot drop function f() because other objects depend on it"),
            ("drop trigger f on t; drop function f()", ""),
        ],
    );
}

#[test]
fn a_row_changed_by_its_own_trigger_is_an_error() {
    let server = server();
    let s = server.connect();
    s.query("create table t (id int, v int); insert into t values (1, 0)");
    s.query(
        "create function f() returns trigger language plpgsql as $$ begin
           update t set v = v + 1 where id = new.id and pg_trigger_depth() = 1; return new; end $$",
    );
    s.query("create trigger f before update on t for each row execute function f()");
    assert_eq!(
        s.query("update t set v = 10"),
        "ERROR:  tuple to be updated was already modified by an operation triggered by the current command"
    );
    s.query("drop trigger f on t; create trigger f after update on t for each row execute function f()");
    assert_eq!(s.query("update t set v = 10; select v from t"), "11");
}

#[test]
fn constraint_triggers_wait_as_they_are_told() {
    let server = server();
    let s = server.connect();
    s.query("create table t (id int)");
    s.query(NOTE);
    s.query(
        "create constraint trigger late after insert on t deferrable initially deferred for each row \
         execute function note('late')",
    );
    script(
        &s,
        &[
            ("begin; insert into t values (1); savepoint a; insert into t values (2); rollback to a", ""),
            ("insert into t values (3)", ""),
            (SEEN, ""),
            (
                "alter table t add column v int",
                "ERROR:  cannot ALTER TABLE \"t\" because it has pending trigger events",
            ),
            (
                "rollback; begin; insert into t values (1); savepoint a; insert into t values (2); rollback to a",
                "",
            ),
            ("insert into t values (3); commit", ""),
            (SEEN, "late AFTER INSERT ROW t (1); late AFTER INSERT ROW t (3)"),
            // What a savepoint fired is to fire again when it is undone.
            ("begin; insert into t values (4); savepoint b; set constraints late immediate", ""),
            (SEEN, "late AFTER INSERT ROW t (4)"),
            ("insert into t values (5)", ""),
            (SEEN, "late AFTER INSERT ROW t (5)"),
            ("rollback to b; insert into t values (6); commit", ""),
            (SEEN, "late AFTER INSERT ROW t (4); late AFTER INSERT ROW t (6)"),
            ("set constraints nothing deferred", "ERROR:  constraint \"nothing\" does not exist"),
        ],
    );
}

#[test]
fn an_error_at_commit_undoes_everything() {
    let server = server();
    let s = server.connect();
    s.query("create table t (id int)");
    s.query("create function f() returns trigger language plpgsql as $$ begin raise exception 'no %', new.id; end $$");
    s.query(
        "create constraint trigger f after insert on t initially deferred for each row execute function f()",
    );
    assert_eq!(s.query("begin; insert into t values (1)"), "");
    assert_eq!(s.query("commit"), "ERROR:  no 1");
    assert_eq!(s.query("select count(*) from t"), "0");
    assert_eq!(s.query("insert into t values (2)"), "ERROR:  no 2");
    assert_eq!(s.query("select count(*) from t"), "0");
}

#[test]
fn partitions_have_the_triggers_of_their_table() {
    let server = server();
    let s = server.connect();
    s.query("create table p (id int, v text) partition by list (id)");
    s.query("create table p1 partition of p for values in (1)");
    s.query(NOTE);
    s.query("create trigger r after insert or update or delete on p for each row execute function note('r')");
    s.query("create table p2 (v text, id int)");
    s.query("alter table p attach partition p2 for values in (2)");
    script(
        &s,
        &[
            ("insert into p values (1, 'a'), (2, 'b')", ""),
            (SEEN, "r AFTER INSERT ROW p1 (1,a); r AFTER INSERT ROW p2 (b,2)"),
            ("update p set id = 2 where id = 1", ""),
            (SEEN, "r AFTER DELETE ROW p1 (1,a); r AFTER INSERT ROW p2 (a,2)"),
            (
                "drop trigger r on p1",
                "ERROR:  cannot drop trigger r on table p1 because trigger r on table p requires it",
            ),
            (
                "alter trigger r on p rename to q; select tgrelid::regclass from pg_trigger where tgname = 'q' order by 1",
                "p\np1\np2",
            ),
            ("alter table p detach partition p2; insert into p2 values ('c', 7)", ""),
            (SEEN, ""),
            ("drop trigger q on p; select count(*) from pg_trigger", "0"),
        ],
    );
}

#[test]
fn copy_fires_them_once_around_all_rows() {
    let server = server();
    let s = server.connect();
    s.query("create table t (id int)");
    s.query(NOTE);
    s.query("create trigger s after insert on t for each statement execute function note('s')");
    s.query("create trigger r after insert on t for each row when (new.id > 1) execute function note('r')");
    let file = std::env::temp_dir().join(format!("stampede-triggers-{}", std::process::id()));
    std::fs::write(&file, "1\n2\n3\n").unwrap();
    s.run(&format!("copy t from '{}'", file.display())).map(drop).unwrap();
    std::fs::remove_file(&file).unwrap();
    assert_eq!(
        s.query(SEEN),
        "r AFTER INSERT ROW t (2); r AFTER INSERT ROW t (3); s AFTER INSERT STATEMENT t"
    );
}

#[test]
fn what_create_trigger_refuses() {
    let server = server();
    let s = server.connect();
    s.query("create table t (id int, g int generated always as (id) stored)");
    s.query("create function f() returns trigger language plpgsql as 'begin return new; end'");
    s.query("create function wrong() returns int language sql as 'select 1'");
    let create = |rest: &str| s.query(&format!("create trigger x {rest} execute function f()"));
    let refused = [
        ("instead of insert on t for each row", "\"t\" is a table"),
        ("before truncate on t for each row", "TRUNCATE FOR EACH ROW triggers are not supported"),
        (
            "before insert on t for each row when (old.id = 1)",
            "INSERT trigger's WHEN condition cannot reference OLD values",
        ),
        (
            "before delete on t for each row when (new.id = 1)",
            "DELETE trigger's WHEN condition cannot reference NEW values",
        ),
        (
            "before update on t when (new.id = 1)",
            "statement trigger's WHEN condition cannot reference column values",
        ),
        (
            "before update on t for each row when (new.g = 1)",
            "BEFORE trigger's WHEN condition cannot reference NEW generated columns",
        ),
        ("before update of id, id on t", "column \"id\" specified more than once"),
        ("before update of none on t", "column \"none\" of relation \"t\" does not exist"),
        (
            "before update on t for each row when (exists (select 1))",
            "cannot use subquery in trigger WHEN condition",
        ),
    ];
    for (rest, message) in refused {
        assert_eq!(create(rest), format!("ERROR:  {message}"), "{rest}");
    }
    assert_eq!(
        s.query("create trigger x before insert on t execute function wrong()"),
        "ERROR:  function wrong must return type trigger"
    );
    assert_eq!(s.query("select f()"), "ERROR:  trigger functions can only be called as triggers");
    assert_eq!(create("before insert on t"), "");
    assert_eq!(create("before insert on t"), "ERROR:  trigger \"x\" for relation \"t\" already exists");
}

#[test]
fn a_new_column_sets_none_off() {
    let server = server();
    let s = server.connect();
    s.query("create table t(a int, b int); insert into t values (1, 2)");
    s.query(
        "create function f() returns trigger language plpgsql as $$ begin new.a := 99; return new; end $$",
    );
    s.query("create trigger f before update on t for each row execute function f()");
    s.query("alter table t add c int default 7, add d float default random()");
    s.query(
        "alter table t add e int generated always as (b * 2) stored, add i int generated always as identity",
    );
    assert_eq!(s.query("select a, b, c, d is null, e, i from t"), "1|2|7|f|4|1");
}

/// A function that tells the rows of its statement's change as it may read them.
const TOLD: &str =
    "create function told() returns trigger language plpgsql as $$ declare o text; n text; begin
      if tg_op <> 'INSERT' then select string_agg(x::text, ',' order by a) from gone x into o; end if;
      if tg_op <> 'DELETE' then select string_agg(x::text, ',' order by a) from come x into n; end if;
      insert into seen (what) values (concat_ws(' ', tg_op, tg_level, o, '>', n));
      return null; end $$";

#[test]
fn they_read_the_rows_of_a_change_as_tables() {
    let server = server();
    let s = server.connect();
    s.query(NOTE);
    s.query(TOLD);
    s.query("create table t (a int, b text) partition by list (a)");
    s.query("create table t1 (b text, x int, a int); alter table t1 drop x");
    s.query("alter table t attach partition t1 for values in (1); create table t2 partition of t default");
    for (event, tables) in [
        ("insert", "new table as come"),
        ("update", "old table as gone new table as come"),
        ("delete", "old table as gone"),
    ] {
        s.query(&format!(
            "create trigger t_{event} after {event} on t referencing {tables} for each statement execute function told()"
        ));
    }
    script(
        &s,
        &[
            ("insert into t values (1, 'x'), (2, 'y')", ""),
            (SEEN, "INSERT STATEMENT > (1,x),(2,y)"),
            ("update t set a = 3 where a = 1", ""),
            (SEEN, "UPDATE STATEMENT (1,x) > (3,x)"),
            ("update t set a = 0 where false", ""),
            (SEEN, "UPDATE STATEMENT >"),
            (
                "merge into t using (values (2), (9)) v (x) on a = x when matched then delete when not matched then insert values (x)",
                "",
            ),
            (SEEN, "DELETE STATEMENT (2,y) >; INSERT STATEMENT > (9,)"),
            ("with w as (insert into t values (20) returning a) insert into t select a + 1 from w", ""),
            (SEEN, "INSERT STATEMENT > (20,),(21,)"),
            ("insert into t values (30, (select b from come))", "ERROR:  relation \"come\" does not exist"),
            ("alter table t add c int default 5; delete from t where a = 9", ""),
            (SEEN, "DELETE STATEMENT (9,,5) >"),
        ],
    );
}

#[test]
fn actions_of_foreign_keys_are_part_of_their_statement() {
    let server = server();
    let s = server.connect();
    s.query(NOTE);
    s.query(TOLD);
    s.query(
        "create table p (a int primary key); create table t (a int, b int references p on delete cascade)",
    );
    s.query("create trigger first before delete on t for each statement execute function note('b')");
    s.query("create trigger last after delete on t referencing old table as gone for each statement execute function told()");
    s.query("insert into p values (1), (2), (3); insert into t values (1, 1), (2, 1), (3, 2), (4, 3)");
    script(
        &s,
        &[
            ("delete from p where a < 3", ""),
            (SEEN, "b BEFORE DELETE STATEMENT t; DELETE STATEMENT (1,1),(2,1),(3,2) >"),
            (
                "create function refuse() returns trigger language plpgsql as 'begin delete from gone; return null; end'",
                "",
            ),
            (
                "create trigger r after delete on p referencing old table as gone for each row execute function refuse()",
                "",
            ),
            ("delete from p", "ERROR:  relation \"gone\" cannot be the target of a modifying statement"),
        ],
    );
}

/// A view that its triggers change.
const CHANGED_VIEW: &str = "create table t (a int primary key, b text); insert into t values (1, 'one'), (2, 'two');
    create view v as select b as bb, a as aa, a * 10 as ten from t where a < 100;
    create function act() returns trigger language plpgsql as $$ begin
      if tg_op = 'INSERT' then insert into t values (new.aa, coalesce(new.bb, 'none')); new.ten := -1; return new;
      elsif tg_op = 'UPDATE' then update t set a = new.aa, b = new.bb where a = old.aa; new.ten := new.aa * 100; return new;
      elsif old.aa = 2 then return null; end if;
      delete from t where a = old.aa; return old; end $$;
    create trigger i instead of insert on v for each row execute function act();
    create trigger u instead of update on v for each row execute function act()";

#[test]
fn they_change_views_instead() {
    let server = server();
    let s = server.connect();
    s.query(CHANGED_VIEW);
    s.query(NOTE);
    s.query("create trigger st after insert or update or delete on v for each statement execute function note('st')");
    let some = "ERROR:  cannot merge into view \"v\"";
    script(
        &s,
        &[
            ("insert into v (aa, bb) values (4, default), (5, 'five') returning *", "|4|-1\nfive|5|-1"),
            ("update v set bb = bb || x from (values (1, '!'), (4, '?')) y (i, x) where aa = i returning old.ten, new.*, x", "10|one!|1|100|!\n40|none?|4|400|?"),
            ("update v set (aa, bb) = (select aa + 1, 'six') where ten = 50 returning aa", "6"),
            (SEEN, "st AFTER INSERT STATEMENT v; st AFTER UPDATE STATEMENT v; st AFTER UPDATE STATEMENT v"),
            ("merge into v using (values (1)) x (i) on aa = i when matched then delete when not matched then insert (aa) values (i)", some),
            ("create trigger d instead of delete on v for each row execute function act()", ""),
            ("delete from v where aa < 6 returning aa, old.bb", "1|one!\n4|none?"),
            ("merge into v using (values (2, 'm'), (9, 'n')) x (i, t) on aa = i when matched then update set bb = t
              when not matched then insert (aa, bb) values (i, t) returning merge_action(), v.*, i", "UPDATE|m|2|200|2\nINSERT|n|9|-1|9"),
            ("select * from t order by 1", "2|m\n6|six\n9|n"),
            ("create view w as select aa, bb from v where aa < 50 with check option", ""),
            ("insert into w values (60, 'x')", "ERROR:  new row violates check option for view \"w\""),
            ("insert into w values (10, 'x') returning aa", "10"),
            ("select pg_relation_is_updatable('v'::regclass, false), pg_relation_is_updatable('v'::regclass, true)", "28|28"),
            ("create trigger x instead of insert on t for each row execute function act()", "ERROR:  \"t\" is a table"),
        ],
    );
}
