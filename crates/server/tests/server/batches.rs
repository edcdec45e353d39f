//! INSERT of many rows, which are stored together: nothing tells that they are.

use crate::support::{Client, Server, run};

fn column(client: &mut Client, text: &str) -> Vec<String> {
    let rows = client.query(text).unwrap_or_else(|failure| panic!("{text}: {failure:?}"));
    rows.into_iter().map(|row| row[0].clone().unwrap_or_default()).collect()
}

#[test]
fn rows_of_one_statement_reach_every_kind_of_index() {
    let mut server = Server::start(&[]);
    let mut client = server.client();
    run(
        &mut client,
        &[
            "create extension btree_gist",
            "create table t (id int primary key, i int, t text, a int[], p point, x text)",
            "create index on t (i)",
            "create index on t (t) include (i) where i % 3 > 0",
            "create index on t (md5(x), i desc)",
            "create index on t using hash (t)",
            "create index on t using gin (a)",
            "create index on t using gin (a) with (fastupdate = off)",
            "create index on t using gist (p, i)",
            "create index on t using spgist (t)",
            "create index on t using brin (id, t) with (pages_per_range = 2)",
            "insert into t select i, i % 50, 't' || i % 77, array[i % 9, i % 11], point(i % 40, i % 60), repeat('X', i % 300) \
             from generate_series(1, 5000) i",
            // Rows that do not fit beside others, NULLs, large values.
            "insert into t select i, null, case when i % 2 = 0 then 't' || i end, case when i % 5 > 0 then array[i, null] end, \
             null, (select string_agg(md5((i * n)::text), '') from generate_series(1, 1 + i % 7 * 40) n) from generate_series(5001, 5500) i",
        ],
    );
    assert_eq!(
        client.value("select count(*) || ' ' || sum(id) || ' ' || count(i) from t"),
        "5500 15127750 5000"
    );
    run(&mut client, &["set enable_seqscan = off"]);
    for (condition, count) in [
        ("i = 7", 100),
        ("t = 't7'", 65),
        ("md5(x) = md5('')", 16),
        ("a @> '{3}'", 960),
        ("p <@ box '(0,0),(5,5)'", 0),
        ("id between 2000 and 2999", 1000),
    ] {
        let query = format!("select count(*) from t where {condition}");
        let seen = client.value(&query);
        run(
            &mut client,
            &[
                "set enable_seqscan = on; set enable_indexscan = off; set enable_bitmapscan = off; set enable_indexonlyscan = off",
            ],
        );
        assert_eq!(seen, client.value(&query), "{condition}");
        run(
            &mut client,
            &[
                "reset enable_indexscan; reset enable_bitmapscan; reset enable_indexonlyscan; set enable_seqscan = off",
            ],
        );
        assert!(count == 0 || seen == count.to_string(), "{condition}: {seen}");
    }
    server.stop();
    server.assert_sound();
}

#[test]
fn the_first_row_that_is_refused_is_the_one_reported() {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(
        &mut client,
        &[
            "create table u (a int primary key, b int unique, c int check (c > 0), e int not null default 1)",
            "create table d (a int primary key deferrable initially deferred)",
            "create function three() returns int language plpgsql as $$ begin return 3; end $$",
        ],
    );
    // A duplicate in row 2, before a division by zero in row 4, a violated condition in row 5.
    let values = "case when i = 2 then 1 else i end, case when i < 4 then i else 10 / (i - 4) end, 6 - i";
    let error =
        client.error(&format!("insert into u (a, b, c) select {values} from generate_series(1, 9) i"));
    assert!(error.contains("u_pkey"), "{error}");
    let values = "i, case when i < 4 then i else 10 / (i - 4) end, 3 - i";
    let error =
        client.error(&format!("insert into u (a, b, c) select {values} from generate_series(1, 9) i"));
    assert!(error.contains("u_c_check"), "{error}");
    let values = "i, case when i < 4 then i else 10 / (i - 4) end, 1";
    let error =
        client.error(&format!("insert into u (a, b, c) select {values} from generate_series(1, 9) i"));
    assert!(error.contains("division by zero"), "{error}");
    // Row 1 has a duplicate in the second index, row 2 in the first.
    run(&mut client, &["insert into u values (1, 1, 1), (2, 2, 1)"]);
    let error = client.error("insert into u values (3, 1, 1), (1, 3, 1)");
    assert!(error.contains("u_b_key"), "{error}");
    assert_eq!(client.value("select count(*) from u"), "2");
    run(&mut client, &["begin", "insert into d select i % 3 from generate_series(1, 6) i"]);
    let error = client.error("commit");
    assert!(error.contains("d_pkey"), "{error}");
}

#[test]
fn functions_with_effects_see_the_rows_before() {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(
        &mut client,
        &[
            "create table t (n bigint, s serial)",
            "create function seen() returns bigint volatile language sql as 'select count(*) from t'",
            "create function stays() returns bigint stable language sql as 'select count(*) from t'",
            "insert into t select seen() from generate_series(1, 3)",
            "insert into t select stays() from generate_series(1, 2)",
            "insert into t values (seen()), (seen())",
            "create table c (n bigint check (n >= seen()))",
            "insert into t select n from t",
        ],
    );
    let seen = column(&mut client, "select n || ':' || s from t order by s limit 7");
    assert_eq!(seen, ["0:1", "1:2", "2:3", "3:4", "3:5", "5:6", "6:7"]);
    assert_eq!(client.value("select count(*) || ' ' || max(s) from t"), "14 14");
}

#[test]
fn triggers_and_foreign_keys_hear_of_each_row() {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(
        &mut client,
        &[
            "create table p (a int primary key)",
            "create table t (a int references p, g int generated always as (a * 2) stored)",
            "create table log (n serial, what text)",
            "create function note() returns trigger language plpgsql as $$ begin \
             insert into log (what) values (tg_when || ' ' || new.a || ' ' || coalesce(new.g::text, '-') || ' ' || (select count(*) from t)); return new; end $$",
            "create function note_all() returns trigger language plpgsql as $$ begin \
             insert into log (what) select 'all ' || string_agg(a::text, ',') from fresh; return null; end $$",
            "create trigger a after insert on t for each row execute function note()",
            "create trigger s after insert on t referencing new table as fresh for each statement execute function note_all()",
            "insert into p values (1), (2), (3)",
            "insert into t select i from generate_series(1, 3) i",
        ],
    );
    let log = column(&mut client, "select what from log order by n");
    assert_eq!(log, ["AFTER 1 2 3", "AFTER 2 4 3", "AFTER 3 6 3", "all 1,2,3"]);
    let error = client.error("insert into t select i from generate_series(2, 4) i");
    assert!(error.contains("t_a_fkey"), "{error}");
    run(
        &mut client,
        &[
            "truncate log",
            "create trigger b before insert on t for each row execute function note()",
            "insert into t values (1), (2)",
        ],
    );
    let log = column(&mut client, "select what from log order by n limit 2");
    assert_eq!(log, ["BEFORE 1 - 3", "BEFORE 2 - 4"]);
}
