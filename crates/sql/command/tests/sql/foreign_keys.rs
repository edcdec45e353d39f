//! FOREIGN KEY: what is refused, what the actions do, when checks run, and who waits for whom.

use crate::support::{Client, Server};

/// Runs one statement after the other; every answer is one of `expected`.
fn script(s: &Client, steps: &[(&str, &str)]) {
    for (sql, expected) in steps {
        assert_eq!(s.query(sql), *expected, "{sql}");
    }
}

fn tables(s: &Client, how: &str) {
    script(
        s,
        &[
            ("create table p (id int primary key, v int)", ""),
            (&format!("create table c (id int primary key, p int default 9 references p {how})"), ""),
            ("insert into p values (1, 0), (2, 0)", ""),
            ("insert into c values (1, 1), (2, 2), (3, null)", ""),
        ],
    );
}

#[test]
fn a_row_must_refer_to_something() {
    let server = Server::new();
    let s = server.connect();
    tables(&s, "");
    let refused = "ERROR:  insert or update on table \"c\" violates foreign key constraint \"c_p_fkey\"";
    let needed =
        "ERROR:  update or delete on table \"p\" violates foreign key constraint \"c_p_fkey\" on table \"c\"";
    script(
        &s,
        &[
            ("insert into c values (4, 3)", refused),
            ("update c set p = 3 where id = 1", refused),
            ("delete from p where id = 1", needed),
            ("update p set id = 5 where id = 1", needed),
            ("update p set v = 1", ""),
            ("update c set p = 2 where id = 1", ""),
            ("delete from p where id = 1", ""),
            ("select id, p from c order by 1", "1|2\n2|2\n3|"),
        ],
    );
}

#[test]
fn actions_follow_the_referenced_row() {
    let server = Server::new();
    let s = server.connect();
    tables(&s, "on delete cascade on update cascade");
    script(
        &s,
        &[
            ("update p set id = 10 where id = 1", ""),
            ("delete from p where id = 2", ""),
            ("select id, p from c order by 1", "1|10\n3|"),
            ("drop table c", ""),
            ("drop table p", ""),
        ],
    );
    tables(&s, "on delete set null on update set default");
    script(
        &s,
        &[
            ("delete from p where id = 2", ""),
            (
                "update p set id = 7 where id = 1",
                "ERROR:  insert or update on table \"c\" violates foreign key constraint \"c_p_fkey\"",
            ),
            ("insert into p values (9, 0)", ""),
            ("update p set id = 7 where id = 1", ""),
            ("select id, p from c order by 1", "1|9\n2|\n3|"),
            ("drop table c, p", ""),
        ],
    );
    tables(&s, "on delete restrict");
    script(
        &s,
        &[(
            "delete from p where id = 1",
            "ERROR:  update or delete on table \"p\" violates RESTRICT setting of foreign key constraint \"c_p_fkey\" on table \"c\"",
        )],
    );
}

#[test]
fn deferred_keys_are_checked_at_the_end() {
    let server = Server::new();
    let s = server.connect();
    tables(&s, "deferrable initially deferred");
    let needed =
        "ERROR:  update or delete on table \"p\" violates foreign key constraint \"c_p_fkey\" on table \"c\"";
    script(
        &s,
        &[
            ("begin; delete from p where id = 1", ""),
            ("insert into p values (1, 5)", ""),
            ("commit", ""),
            ("begin; delete from p where id = 1", ""),
            ("commit", needed),
            ("begin; delete from p where id = 1", ""),
            ("set constraints all immediate", needed),
            ("rollback", ""),
            ("begin; set constraints c_p_fkey immediate", ""),
            ("delete from p where id = 1", needed),
            ("rollback", ""),
            ("begin; savepoint s; insert into c values (8, 8)", ""),
            ("rollback to s", ""),
            ("commit", ""),
        ],
    );
}

#[test]
fn a_check_that_waits_goes_with_its_key() {
    let server = Server::new();
    let s = server.connect();
    tables(&s, "initially deferred");
    s.query("begin; insert into c values (4, 7); drop table p cascade");
    assert_eq!(s.query("commit"), "");
    assert_eq!(s.query("select id from c where p = 7"), "4");
}

#[test]
fn a_key_may_refer_to_its_own_table_and_have_several_columns() {
    let server = Server::new();
    let s = server.connect();
    script(
        &s,
        &[
            ("create table t (id int primary key, up int references t on delete cascade)", ""),
            ("insert into t values (1, 1), (2, 1), (3, 2)", ""),
            ("delete from t where id = 2", ""),
            ("select id, up from t order by 1", "1|1"),
            ("create table k (a int, b text, unique (a, b))", ""),
            ("create table f (x text, y int, foreign key (y, x) references k (a, b) match full)", ""),
            ("insert into k values (1, 'one')", ""),
            ("insert into f values ('one', 1), (null, null)", ""),
            (
                "insert into f values ('one', null)",
                "ERROR:  insert or update on table \"f\" violates foreign key constraint \"f_y_x_fkey\"",
            ),
            (
                "insert into f values ('two', 1)",
                "ERROR:  insert or update on table \"f\" violates foreign key constraint \"f_y_x_fkey\"",
            ),
        ],
    );
}

#[test]
fn keys_that_cannot_be_are_refused() {
    let server = Server::new();
    let s = server.connect();
    script(
        &s,
        &[
            ("create table p (id int primary key, v int, w text)", ""),
            ("insert into p values (1, 1, 'x')", ""),
            (
                "create table c (a int references p (v))",
                "ERROR:  there is no unique constraint matching given keys for referenced table \"p\"",
            ),
            (
                "create table c (a text references p)",
                "ERROR:  foreign key constraint \"c_a_fkey\" cannot be implemented",
            ),
            ("create table c (a int8 references p)", ""),
            ("insert into c values (1)", ""),
            (
                "insert into c values (5000000000)",
                "ERROR:  insert or update on table \"c\" violates foreign key constraint \"c_a_fkey\"",
            ),
            ("truncate p", "ERROR:  cannot truncate a table referenced in a foreign key constraint"),
            ("drop table p", "ERROR:  cannot drop table p because other objects depend on it"),
            ("alter table c drop constraint c_a_fkey", ""),
            ("insert into c values (2)", ""),
            (
                "alter table c add foreign key (a) references p",
                "ERROR:  insert or update on table \"c\" violates foreign key constraint \"c_a_fkey\"",
            ),
            ("alter table c add constraint later foreign key (a) references p not valid", ""),
            (
                "alter table c validate constraint later",
                "ERROR:  insert or update on table \"c\" violates foreign key constraint \"later\"",
            ),
            ("delete from c where a = 2", ""),
            ("alter table c validate constraint later", ""),
            ("select convalidated from pg_constraint where conname = 'later'", "t"),
        ],
    );
}

/// More deferred checks than `work_mem` has room for: those of a rolled-back savepoint are gone, the others find what is wrong.
#[test]
fn deferred_checks_outgrow_memory() {
    let server = Server::new();
    let s = server.connect();
    let insert = |from: u32, to: u32| format!("insert into c select i from generate_series({from}, {to}) i");
    script(
        &s,
        &[
            ("set work_mem = '64kB'", ""),
            ("create table p (id int primary key)", ""),
            ("insert into p select i from generate_series(1, 6500) i", ""),
            ("create table c (a int references p deferrable initially deferred)", ""),
            ("begin", ""),
            (&insert(1, 5000), ""),
            ("savepoint x", ""),
            (&insert(5001, 10500), ""),
            ("rollback to x", ""),
            (&insert(5001, 6500), ""),
            ("set constraints all immediate", ""),
            ("set constraints all deferred", ""),
            ("savepoint y", ""),
            (&insert(6501, 15000), ""),
            (
                "set constraints all immediate",
                "ERROR:  insert or update on table \"c\" violates foreign key constraint \"c_a_fkey\"",
            ),
            ("rollback to y", ""),
            ("insert into c values (6501)", ""),
            ("insert into p values (6501)", ""),
            ("commit", ""),
            ("select count(*) from c", "6501"),
            ("begin", ""),
            (&insert(1, 5000), ""),
            ("insert into c values (0)", ""),
            (
                "commit",
                "ERROR:  insert or update on table \"c\" violates foreign key constraint \"c_a_fkey\"",
            ),
            ("select count(*) from c", "6501"),
        ],
    );
}
