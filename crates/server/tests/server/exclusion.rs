//! Exclusion constraints and keys WITHOUT OVERLAPS through sockets: what is refused, who waits for whom, and what several sessions leave.

use std::thread;

use crate::support::{Random, Server, code, knob, output, run, text, until};

const BOOKINGS: &str = "create table booking (room int4range, during int4range, note text, \
     constraint free exclude using gist (room with =, during with &&) where (note is null))";
const REFUSED: &str = "23P01 conflicting key value violates exclusion constraint \"free\"";
const WAITING: &str = "select count(*) from pg_locks where not granted and locktype = 'transactionid'";

#[test]
fn rows_that_conflict_are_refused() {
    let mut server = Server::start(&[]);
    let mut client = server.client();
    run(&mut client, &[BOOKINGS, "insert into booking values ('[1,2)', '[1,5)'), ('[1,2)', '[5,9)')"]);
    assert_eq!(client.error("insert into booking values ('[1,2)', '[4,6)')"), REFUSED);
    assert_eq!(client.error("update booking set during = '[1,6)' where during = '[5,9)'"), REFUSED);
    let free = [
        "insert into booking values ('[2,3)', '[4,6)')",
        "insert into booking values ('[1,2)', '[4,6)', 'outside of the condition')",
        "insert into booking values (null, '[4,6)'), ('[1,2)', null)",
        "update booking set during = '[1,4)' where during = '[1,5)'",
        "update booking set during = '[2,3)' where during = '[1,4)'",
    ];
    run(&mut client, &free);
    let exact = "insert into booking values ('[1,2)', '[2,9)') on conflict";
    for target in ["", " on constraint free"] {
        run(&mut client, &[&format!("{exact}{target} do nothing")]);
    }
    assert_eq!(
        client.error(&format!("{exact} on constraint free do update set note = 'x'")),
        "42809 ON CONFLICT DO UPDATE not supported with exclusion constraints"
    );
    assert_eq!(client.value("select count(*) from booking"), "6");
    let more = "create table all_kinds (i int, t text, c circle, m int4multirange, exclude (i with =, (lower(t)) with =), \
                exclude using gist (c with &&), exclude using gist (m with &&))";
    run(&mut client, &[more, "insert into all_kinds values (1, 'A', '<(0,0),2>', '{[1,2),[8,9)}')"]);
    let error = client.error("insert into all_kinds values (1, 'a')");
    assert_eq!(error, "23P01 conflicting key value violates exclusion constraint \"all_kinds_i_lower_excl\"");
    // What the index keeps of these meets, what they are does not.
    run(&mut client, &["insert into all_kinds values (2, 'a', '<(3,3),2>', '{[4,6)}')"]);
    client.error("insert into all_kinds values (2, 'b', '<(2,2),2>')");
    client.error("insert into all_kinds values (2, 'b', null, '{[5,7)}')");
    server.stop();
    server.assert_sound();
}

#[test]
fn keys_without_overlaps() {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(
        &mut client,
        &[
            "create table t (id int4range, valid daterange, primary key (id, valid without overlaps))",
            "insert into t values ('[1,2)', '[2020-01-01,2020-02-01)'), ('[1,2)', '[2020-02-01,)')",
        ],
    );
    client.error("insert into t values ('[1,2)', '[2020-01-31,2020-02-01)')");
    assert_eq!(
        client.error("insert into t values ('[3,4)', 'empty')"),
        "23514 empty WITHOUT OVERLAPS value found in column \"valid\" in relation \"t\""
    );
    assert_eq!(
        client.error("create table u (id int, valid daterange, unique (id, valid without overlaps))"),
        "42704 data type integer has no default operator class for access method \"gist\""
    );
    let definition = "select pg_get_constraintdef(oid) from pg_constraint where conrelid = 't'::regclass and contype = 'p'";
    assert_eq!(client.value(definition), "PRIMARY KEY (id, valid WITHOUT OVERLAPS)");
    run(
        &mut client,
        &["reindex table t", "vacuum full t", "alter table t alter id type int8range using '[7,8)'"],
    );
    client.error("insert into t values ('[7,8)', '[2021-01-31,2021-02-01)')");
}

#[test]
fn rows_that_are_there_are_checked_when_a_constraint_is_added() {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(
        &mut client,
        &["create table t (r int4range)", "insert into t values ('[1,5)'), ('[4,6)'), (null), (null)"],
    );
    assert_eq!(
        client.error("alter table t add constraint apart exclude using gist (r with &&)"),
        "23P01 could not create exclusion constraint \"apart\""
    );
    run(
        &mut client,
        &[
            "delete from t where r = '[4,6)'",
            "alter table t add constraint apart exclude using gist (r with &&)",
        ],
    );
    client.error("insert into t values ('[4,6)')");
    run(&mut client, &["alter table t drop constraint apart", "insert into t values ('[4,6)')"]);
}

#[test]
fn deferred_constraints_are_checked_at_the_end() {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(
        &mut client,
        &[
            "create table t (r int4range, constraint apart exclude using gist (r with &&) deferrable initially deferred)",
            "insert into t values ('[1,3)'), ('[3,5)')",
            "begin",
            "update t set r = int4range(lower(r) + 1, upper(r) + 1)",
            "insert into t values ('[1,2)'), ('[1,4)')",
            "delete from t where r = '[1,4)'",
            "commit",
            "begin",
            "insert into t values ('[5,9)')",
        ],
    );
    assert_eq!(client.error("commit"), "23P01 conflicting key value violates exclusion constraint \"apart\"");
    run(&mut client, &["begin", "insert into t values ('[5,9)')"]);
    client.error("set constraints apart immediate");
    run(&mut client, &["rollback"]);
    assert_eq!(client.value("select string_agg(r::text, ' ' order by r) from t"), "[1,2) [2,4) [4,6)");
    assert_eq!(
        client.error("insert into t values ('[5,9)') on conflict do nothing"),
        "55000 ON CONFLICT does not support deferrable unique constraints/exclusion constraints as arbiters"
    );
}

/// Who conflicts with a row that is not committed waits, and is refused only if it stays.
#[test]
fn conflicts_with_running_transactions_are_waited_for() {
    let server = Server::start(&[]);
    let (mut one, mut two, mut watcher) = (server.client(), server.client(), server.client());
    run(&mut one, &[BOOKINGS]);
    for (end, refused) in [("rollback", false), ("commit", true)] {
        for conflict in ["", " on conflict do nothing"] {
            run(&mut one, &["truncate booking", "begin", "insert into booking values ('[1,2)', '[1,5)')"]);
            let text = format!("insert into booking values ('[1,2)', '[4,6)'){conflict}");
            thread::scope(|scope| {
                let second = scope.spawn(|| two.query(&text).map(drop));
                until("the second waits", || watcher.value(WAITING) == "1");
                run(&mut one, &[end]);
                let done = second.join().unwrap();
                match refused && conflict.is_empty() {
                    true => assert_eq!(code(&done.unwrap_err()), "23P01"),
                    false => done.unwrap(),
                }
            });
            assert_eq!(watcher.value("select count(*) from booking"), "1");
        }
    }
    // A row that is being deleted may stay too.
    run(&mut one, &["begin", "delete from booking"]);
    thread::scope(|scope| {
        let second = scope.spawn(|| two.query("insert into booking values ('[1,2)', '[2,6)')").map(drop));
        until("the second waits", || watcher.value(WAITING) == "1");
        run(&mut one, &["commit"]);
        second.join().unwrap().unwrap();
    });
}

#[test]
fn two_sessions_that_wait_for_each_other_are_a_deadlock() {
    let server = Server::start(&["deadlock_timeout=100ms"]);
    let (mut one, mut two, mut watcher) = (server.client(), server.client(), server.client());
    run(&mut one, &[BOOKINGS, "begin", "insert into booking values ('[1,2)', '[1,5)')"]);
    run(&mut two, &["begin", "insert into booking values ('[2,3)', '[1,5)')"]);
    thread::scope(|scope| {
        let first = scope.spawn(|| {
            let done = one.query("insert into booking values ('[2,3)', '[4,6)')").map(drop);
            one.query("rollback").unwrap();
            done
        });
        until("the first waits", || watcher.value(WAITING) == "1");
        let second = two.query("insert into booking values ('[1,2)', '[4,6)')").map(drop);
        two.query("rollback").unwrap();
        let failed: Vec<_> = [first.join().unwrap(), second].into_iter().filter_map(Result::err).collect();
        assert!(failed.iter().any(|failure| code(failure) == "40P01"), "{failed:?}");
    });
}

/// Sessions book at random, in every way there is: no two bookings meet, and kill -9 changes nothing of that.
#[test]
fn no_conflict_is_lost_between_sessions() {
    let mut server = Server::start(&["deadlock_timeout=50ms"]);
    let mut client = server.client();
    run(
        &mut client,
        &[
            BOOKINGS,
            "create table slot (n int, constraint once exclude (n with =))",
            "create table later (r int4range, exclude using gist (r with &&) deferrable initially deferred)",
        ],
    );
    let rounds = knob("EXCLUSION_ROUNDS", 60);
    thread::scope(|scope| {
        for seed in 1..=4 {
            let mut client = server.client();
            scope.spawn(move || {
                let mut random = Random(seed);
                for _ in 0..rounds {
                    let (room, from, length) = (random.below(3), random.below(60), 1 + random.below(4));
                    let range = format!("int4range({from}, {})", from + length);
                    let statement = match random.below(6) {
                        0 => format!("insert into booking values (int4range({room}, {room} + 1), {range}) on conflict do nothing"),
                        1 => format!("update booking set during = {range} where during @> {from}::int and room @> {room}::int"),
                        2 => format!("delete from booking where during && {range} and room @> {room}::int"),
                        3 => format!("insert into slot values ({from}), ({room}) on conflict on constraint once do nothing"),
                        4 => format!("insert into later values ({range})"),
                        _ => format!("insert into booking values (int4range({room}, {room} + 1), {range})"),
                    };
                    if let Err(failure) = client.query(&statement) {
                        assert!(matches!(code(&failure), "23P01" | "40P01"), "{statement}: {failure:?}");
                    }
                }
            });
        }
    });
    let lost = "select (select count(*) from booking a, booking b where a.ctid < b.ctid and a.room = b.room and a.during && b.during) \
                + (select count(*) - count(distinct n) from slot) \
                + (select count(*) from later a, later b where a.ctid < b.ctid and a.r && b.r)";
    assert_eq!(client.value(lost), "0");
    assert!(client.value("select count(*) from booking").parse::<u32>().unwrap() > 3);
    server.kill();
    server.run();
    let mut client = server.client();
    assert_eq!(client.value(lost), "0");
    run(
        &mut client,
        &["delete from booking where note is null", "insert into booking values ('[1,2)', '[1,5)')"],
    );
    assert_eq!(client.error("insert into booking values ('[1,2)', '[4,6)')"), REFUSED);
    run(&mut client, &["vacuum booking"]);
    assert_eq!(client.error("insert into booking values ('[1,2)', '[4,6)')"), REFUSED);
    server.stop();
    server.assert_sound();
}

/// Periods of several rows cover that of a row which refers to them, as long as they are there, whoever takes them away.
#[test]
fn foreign_keys_with_period() {
    let server = Server::start(&[]);
    let (mut one, mut two, mut watcher) = (server.client(), server.client(), server.client());
    run(
        &mut one,
        &[
            "create table pk (id int4range, valid int4range, primary key (id, valid without overlaps))",
            "create table fk (id int4range, valid int4range, constraint covered foreign key (id, period valid) references pk)",
            "insert into pk values ('[1,2)', '[1,5)'), ('[1,2)', '[5,9)'), ('[2,3)', '[1,5)')",
            "insert into fk values ('[1,2)', '[2,8)'), (null, '[50,60)'), ('[1,2)', null)",
        ],
    );
    let refused = "23503 insert or update on table \"fk\" violates foreign key constraint \"covered\"";
    for values in ["('[1,2)', '[2,10)')", "('[2,3)', '[5,6)')", "('[3,4)', '[1,2)')", "('[1,2)', 'empty')"] {
        assert_eq!(one.error(&format!("insert into fk values {values}")), refused, "{values}");
    }
    let needed =
        "23503 update or delete on table \"pk\" violates foreign key constraint \"covered\" on table \"fk\"";
    assert_eq!(one.error("delete from pk where valid = '[5,9)'"), needed);
    assert_eq!(one.error("update pk set valid = '[6,9)' where valid = '[5,9)'"), needed);
    // What is no longer covered by one row is covered by the other.
    run(
        &mut one,
        &[
            "update pk set valid = case when valid = '[5,9)' then '[4,8)' else '[2,4)' end::int4range where id = '[1,2)'",
        ],
    );
    run(
        &mut one,
        &[
            "update pk set valid = '[2,8)' where valid = '[2,4)' and false",
            "delete from pk where id = '[2,3)'",
        ],
    );
    // A row that a new one relies on stays until that is decided.
    run(
        &mut one,
        &["insert into pk values ('[5,6)', '[1,9)')", "begin", "insert into fk values ('[5,6)', '[2,3)')"],
    );
    thread::scope(|scope| {
        let second = scope.spawn(|| two.query("delete from pk where id = '[5,6)'").map(drop));
        until("the second waits", || watcher.value(WAITING) == "1");
        run(&mut one, &["commit"]);
        assert_eq!(code(&second.join().unwrap().unwrap_err()), "23503");
    });
    let definition =
        "select pg_get_constraintdef(oid) from pg_constraint where conname = 'covered' and conperiod";
    assert_eq!(one.value(definition), "FOREIGN KEY (id, PERIOD valid) REFERENCES pk(id, PERIOD valid)");
    run(&mut one, &["alter table fk drop constraint covered", "insert into fk values ('[7,8)', '[1,2)')"]);
    assert_eq!(
        one.error("alter table fk add constraint covered foreign key (id, period valid) references pk"),
        refused
    );
    assert_eq!(
        one.error("create table f (id int4range, v int4range, foreign key (id, period v) references pk on delete cascade)"),
        "0A000 unsupported ON DELETE action for foreign key constraint using PERIOD"
    );
}

/// Who may not read the columns of the constraint is not told what stands in them.
#[test]
fn values_are_hidden_from_who_may_not_read_them() {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(
        &mut client,
        &[
            BOOKINGS,
            "insert into booking values ('[1,2)', '[1,5)')",
            "create role writer login",
            "grant insert on booking to writer",
        ],
    );
    for (right, detail) in [
        ("", "Key conflicts with existing key."),
        (
            "grant select (room, during) on booking to writer",
            "Key (room, during)=([1,2), [4,6)) conflicts with existing key (room, during)=([1,2), [1,5)).",
        ),
    ] {
        run(&mut client, &[right]);
        for statement in [
            "insert into booking values ('[1,2)', '[4,6)')",
            "do $$ begin insert into booking values ('[1,2)', '[4,6)'); end $$",
        ] {
            let mut writer = server.connect(&[("user", "writer")]).unwrap();
            let told = format!(
                "do $d$ declare said text; begin execute $x${statement}$x$; exception when exclusion_violation then \
                 get stacked diagnostics said = pg_exception_detail; raise exception '%', said; end $d$"
            );
            assert_eq!(writer.error(&told), format!("P0001 {detail}"));
        }
        let file = server.file("booking");
        std::fs::write(&file, "[1,2)\t[4,6)\n").unwrap();
        let copied = output(
            server
                .tool("psql")
                .args(["-X", "-U", "writer", "-c"])
                .arg(format!("\\copy booking (room, during) from '{}'", file.display())),
        );
        assert!(text(&copied).contains(detail), "{}", text(&copied));
    }
}
