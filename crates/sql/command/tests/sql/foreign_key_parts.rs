//! Foreign keys of and to partitioned tables, their states, and attributes of constraints.

use crate::support::{Client, Server};

/// Runs one statement after the other; every answer is one of `expected`.
fn script(s: &Client, steps: &[(&str, &str)]) {
    for (sql, expected) in steps {
        assert_eq!(s.query(sql), *expected, "{sql}");
    }
}

fn referenced(s: &Client) {
    script(
        s,
        &[
            ("create table r (a int primary key) partition by range (a)", ""),
            ("create table r1 partition of r for values from (0) to (10)", ""),
            ("create table r2 partition of r for values from (10) to (20)", ""),
            ("insert into r values (1), (2), (11)", ""),
        ],
    );
}

fn referencing(s: &Client, how: &str) {
    script(
        s,
        &[
            ("create table p (k int, b int) partition by list (k)", ""),
            (&format!("alter table p add constraint p_b_fkey foreign key (b) references r {how}"), ""),
            ("create table p1 partition of p for values in (1)", ""),
            ("create table p2 (b int, k int)", ""),
            ("alter table p attach partition p2 for values in (2)", ""),
            ("insert into p values (1, 1), (2, 11)", ""),
        ],
    );
}

#[test]
fn both_sides_may_be_partitioned() {
    let server = Server::new();
    let s = server.connect();
    referenced(&s);
    referencing(&s, "");
    let refused = |table: &str| {
        format!("ERROR:  insert or update on table \"{table}\" violates foreign key constraint \"p_b_fkey\"")
    };
    let needed = |table: &str, name: &str| {
        format!(
            "ERROR:  update or delete on table \"{table}\" violates foreign key constraint \"{name}\" on table \"p\""
        )
    };
    script(
        &s,
        &[
            ("insert into p values (1, 3)", &refused("p1")),
            ("update p set b = 12 where k = 2", &refused("p2")),
            ("delete from r where a = 1", &needed("r1", "p_b_fkey_1")),
            ("delete from r2", &needed("r2", "p_b_fkey_2")),
            // A row that moves to another partition is updated, as seen from outside.
            ("update r set a = 12 where a = 1", &needed("r", "p_b_fkey")),
            ("update r set a = 13 where a = 2", ""),
            ("drop table r1", "ERROR:  cannot drop table r1 because other objects depend on it"),
            (
                "alter table r detach partition r1",
                "ERROR:  removing partition \"r1\" violates foreign key constraint \"p_b_fkey_1\"",
            ),
            (
                "alter table p1 drop constraint p_b_fkey",
                "ERROR:  cannot drop inherited constraint \"p_b_fkey\" of relation \"p1\"",
            ),
            ("delete from p1", ""),
            ("alter table r detach partition r1", ""),
            ("insert into p values (1, 1)", &refused("p1")),
        ],
    );
}

#[test]
fn actions_reach_all_partitions() {
    let server = Server::new();
    let s = server.connect();
    referenced(&s);
    referencing(&s, "on update cascade on delete cascade");
    script(
        &s,
        &[
            ("update r set a = 15 where a = 1", ""),
            ("update r set a = 3 where a = 11", ""),
            ("select k, b from p order by 1", "1|15\n2|3"),
            ("delete from r where a = 15", ""),
            ("select k, b from p order by 1", "2|3"),
            ("truncate r cascade", ""),
        ],
    );
}

#[test]
fn a_detached_partition_keeps_its_key() {
    let server = Server::new();
    let s = server.connect();
    referenced(&s);
    referencing(&s, "");
    let count = "select count(*) from pg_constraint where contype = 'f' and conrelid = 'p2'::regclass";
    script(
        &s,
        &[
            (count, "1"),
            ("alter table p detach partition p2", ""),
            (count, "3"),
            (
                "delete from r where a = 11",
                "ERROR:  update or delete on table \"r2\" violates foreign key constraint \"p_b_fkey_4\" on table \"p2\"",
            ),
            ("alter table p attach partition p2 for values in (2)", ""),
            (count, "1"),
            ("alter table p drop constraint p_b_fkey", ""),
            (count, "0"),
            ("delete from r", ""),
        ],
    );
}

#[test]
fn a_table_between_must_not_be_referred_to_when_rows_move() {
    let server = Server::new();
    let s = server.connect();
    script(
        &s,
        &[
            ("create table m (id int primary key) partition by range (id)", ""),
            ("create table m1 partition of m for values from (0) to (10) partition by range (id)", ""),
            ("create table m11 partition of m1 for values from (0) to (5)", ""),
            ("create table m2 partition of m for values from (10) to (20)", ""),
            ("create table n (a int references m1)", ""),
            ("insert into m values (1)", ""),
            (
                "update m set id = 11",
                "ERROR:  cannot move tuple across partitions when a non-root ancestor of the source partition is directly referenced in a foreign key",
            ),
        ],
    );
}

#[test]
fn constraints_can_be_altered() {
    let server = Server::new();
    let s = server.connect();
    referenced(&s);
    referencing(&s, "");
    let refused = "ERROR:  insert or update on table \"p1\" violates foreign key constraint \"p_b_fkey\"";
    script(
        &s,
        &[
            (
                "alter table p1 alter constraint p_b_fkey deferrable",
                "ERROR:  cannot alter constraint \"p_b_fkey\" on relation \"p1\"",
            ),
            ("alter table p alter constraint p_b_fkey deferrable initially deferred", ""),
            ("begin", ""),
            ("insert into p values (1, 5)", ""),
            ("insert into r values (5)", ""),
            ("commit", ""),
            ("alter table p alter constraint p_b_fkey not enforced", ""),
            ("insert into p values (1, 6)", ""),
            ("alter table p alter constraint p_b_fkey enforced", refused),
            ("alter table p validate constraint p_b_fkey", "ERROR:  cannot validate NOT ENFORCED constraint"),
            ("delete from p where b = 6", ""),
            ("alter table p alter constraint p_b_fkey enforced", ""),
            ("alter table p alter constraint p_b_fkey not deferrable", ""),
            ("insert into p values (1, 6)", refused),
        ],
    );
}

#[test]
fn attributes_stand_behind_columns() {
    let server = Server::new();
    let s = server.connect();
    script(
        &s,
        &[
            ("create table r (id int primary key)", ""),
            ("insert into r values (1)", ""),
            (
                "create table t (id int primary key deferrable initially deferred, u int references r deferrable, c int check (c > 0) not enforced)",
                "",
            ),
            ("insert into t values (1, 1, -1)", ""),
            ("begin", ""),
            ("insert into t values (1, 1)", ""),
            ("delete from t where c is null", ""),
            ("set constraints t_u_fkey deferred", ""),
            ("update t set u = 7", ""),
            ("update t set u = 1", ""),
            ("commit", ""),
            ("create table x (a int check (a > 0) deferrable)", "ERROR:  misplaced DEFERRABLE clause"),
            ("create table x (a int primary key enforced)", "ERROR:  misplaced ENFORCED clause"),
            (
                "create table x (a int unique initially deferred not deferrable)",
                "ERROR:  constraint declared INITIALLY DEFERRED must be DEFERRABLE",
            ),
        ],
    );
}

#[test]
fn what_was_not_valid_can_be_validated() {
    let server = Server::new();
    let s = server.connect();
    let states = "select conname, convalidated from pg_constraint where conrelid = 't'::regclass order by 1";
    script(
        &s,
        &[
            ("create table t (a int, b int)", ""),
            ("insert into t values (null, -1)", ""),
            ("alter table t add constraint n not null a not valid", ""),
            ("alter table t add constraint c check (b > 0) not valid", ""),
            (
                "insert into t values (1, -1)",
                "ERROR:  new row for relation \"t\" violates check constraint \"c\"",
            ),
            (
                "insert into t values (null, 1)",
                "ERROR:  null value in column \"a\" of relation \"t\" violates not-null constraint",
            ),
            (
                "alter table t validate constraint n",
                "ERROR:  column \"a\" of relation \"t\" contains null values",
            ),
            (
                "alter table t validate constraint c",
                "ERROR:  check constraint \"c\" of relation \"t\" is violated by some row",
            ),
            (states, "c|f\nn|f"),
            ("update t set a = 1, b = 1", ""),
            ("alter table t validate constraint n", ""),
            ("alter table t validate constraint c", ""),
            (states, "c|t\nn|t"),
        ],
    );
}
