//! Simple queries that differ in literals only answer byte for byte as if each were a statement of its own.
//!
//! Every text is sent by two sessions: as it is, and with an empty statement behind it, which keeps it from being shared.

use crate::support::client::message;
use crate::support::{Client, Server};

const SETUP: &str = "
create type color as enum ('red', 'green', 'blue');
create domain positive as int check (value > 0);
create domain short as varchar(3);
create table t (id int primary key, s smallint, b bigint, n numeric(6,2), m numeric, f float8, r real, x text,
    v varchar(4), c char(3), d date, z timestamptz, l bool, u uuid, j jsonb, a int[], e color, p positive, h short,
    i interval, iv interval(0), nm name, y bytea, o oid, g int generated always as (id * 2) stored,
    k text default 'none', check (s < 1000));
insert into t (id, s, b, n, m, f, r, x, v, c, d, z, l, u, j, a, e, p, h, i, nm, y, o)
    select q, q, q * 3000000000, q + 0.25, q / 7.0, q * 1.5, q * 0.1, 'x' || q, 'v' || q % 5, 'c' || q % 3, date '2020-01-01' + q,
        timestamptz '2020-01-01 00:00+00' + q * interval '1 day', q % 2 = 0, ('00000000-0000-0000-0000-0000000000' || q + 10)::uuid,
        jsonb_build_object('k', q), array[q, q + 1], (array['red', 'green', 'blue'])[q % 3 + 1]::color, q, 'h' || q, q * interval '1 hour',
        'n' || q, 'y'::bytea, q from generate_series(1, 40) q;
insert into t (id) values (100);
create index on t (b);
create index on t (x) where s > 20;
create table parts (k int, w text) partition by range (k);
create table parts_1 partition of parts for values from (0) to (10);
create table parts_2 partition of parts for values from (10) to (20);
insert into parts select q, 'w' || q from generate_series(0, 19) q;
create view shown as select id, x, 5 as five from t where s > 3;
create function noisy(q int) returns int language plpgsql immutable as $$ begin raise notice 'noisy %', q; return q; end $$;
create function twice(q int) returns int language sql immutable as 'select $1 * 2';
create table ids (id int generated always as identity, w varchar(3) not null, q int default twice(4));
analyze";

/// Texts with a place for a value, and values for it.
const QUERIES: &[(&str, &[&str])] = &[
    (
        "select x from t where id = {}",
        &[
            "1",
            "2",
            "-3",
            "40",
            "41",
            "2147483647",
            "2147483648",
            "9223372036854775808",
            "1.0",
            "1.5",
            "'7'",
            "'7x'",
            "' 8 '",
            "null",
            "'99999999999'",
        ],
    ),
    ("select id from t where id={}or s ={} order by id", &["1", "'2'", "- 3", "4.0"]),
    (
        "select id from t where (s > {} or b < -{} or x <> 'a{}') and id < {} order by id",
        &["1", "222", "33333", "4", "555555555"],
    ),
    ("select id, g, l from t where s = {} and id > -1", &["1", "70000", "'70000'", "-2147483648", "'a'"]),
    ("select id from t where b = {}", &["3000000000", "6000000000", "'9000000000'", "5", "9000000000.0"]),
    (
        "select id from t where n = {}",
        &["1.25", "2.25", "-2.25", "3", "'4.25'", "1e2", "'nan'", "'abc'", "00005.2500"],
    ),
    (
        "select id, m + {} from t where m < {} order by id",
        &["1.5", "0.5", "0.333333333333333333333333333333", "5"],
    ),
    ("select id from t where f > {} order by 1", &["10.5", "20", "'30.5'", "'1e400'", "'infinity'"]),
    ("select id from t where r = {}", &["0.1", "0.2", "'0.3'"]),
    ("select id from t where x = {}", &["'x1'", "'x2'", "'it''s'", "''", "'é'", "5", "'x3'"]),
    ("select id from t where v = {} order by id", &["'v1'", "'v2'", "'v3 '", "'too long for it'"]),
    ("select id from t where c = {} order by id", &["'c1'", "'c2 '", "'c0'", "'longer'"]),
    (
        "select id from t where d = {}",
        &[
            "'2020-01-05'",
            "'01/06/2020'",
            "'yesterday'",
            "'2020-13-01'",
            "'epoch'",
            "date '2020-01-07'",
            "'2020-01-08'::date",
        ],
    ),
    ("select id from t where d - {} = '2020-01-05'", &["1", "2", "3", "'2020-01-01'"]),
    (
        "select id from t where d + {} > '2020-02-08' order by 1",
        &["1", "2", "3", "interval '1 day'", "'1 day'"],
    ),
    (
        "select id from t where z >= {} order by id",
        &["'2020-02-05'", "'2020-02-06 12:00:00+02'", "'2020-02-06 12:00 Mars'", "'now'"],
    ),
    ("select id from t where l = {} order by id limit 3", &["'t'", "'no'", "true", "'maybe'", "1"]),
    (
        "select id from t where u = {}",
        &["'00000000-0000-0000-0000-000000000011'", "'{00000000000000000000000000000012}'", "'0'"],
    ),
    ("select id from t where j = {}", &["'{\"k\": 1}'", "'{\"k\":  2}'", "'{\"k\": 3'", "'3'"]),
    ("select id from t where j->>'k' = {}", &["'1'", "'2'", "'3'"]),
    ("select id from t where j->'k' = {}", &["'1'", "'2'", "'x'"]),
    ("select id from t where a = {}", &["'{1,2}'", "'{2,3}'", "'{2'", "'{null,1}'"]),
    ("select id from t where a[1] = {}", &["1", "2", "'3'"]),
    ("select id from t where a[{}] = 5", &["1", "2", "3"]),
    ("select id from t where e = {} order by id limit 4", &["'red'", "'green'", "'blue'", "'pink'"]),
    ("select id from t where e > {} order by id limit 4", &["'red'", "'green'", "'blue'"]),
    ("select id from t where p = {}", &["1", "2", "-3", "'4'", "0"]),
    ("select id from t where h = {}", &["'h1'", "'h2'", "'longer'"]),
    ("select id from t where i = {}", &["'1 hour'", "'02:00'", "'3'", "interval '4' hour"]),
    (
        "select id from t where nm = {}",
        &["'n1'", "'n2'", "'0123456789012345678901234567890123456789012345678901234567890123456789'"],
    ),
    ("select id from t where y = {} order by id limit 2", &["'y'", "'\\x79'", "'\\x7'"]),
    ("select id from t where o = {}", &["1", "2", "'3'", "-1", "5000000000"]),
    ("select id from t where o = 'pg_class'::regclass or id = {}", &["1", "2", "3"]),
    ("select id from t where t = {}", &["'(1)'", "'2'"]),
    (
        "select x from t where id in ({}, 2, 3) order by id",
        &["1", "4", "'5'", "6.0", "3000000000", "-7", "null"],
    ),
    ("select x from t where x not in ('x1', {}) and id < 5 order by id", &["'x2'", "'x3'", "'x4'", "5"]),
    ("select x from t where id between {} and 4 order by id", &["1", "2", "3.5", "'2'", "-1"]),
    (
        "select x from t where d not between '2020-01-03' and {} order by id",
        &["'2020-02-05'", "'2020-02-07'", "'x'"],
    ),
    ("select x from t where x like {} order by id", &["'x1%'", "'x2_'", "'%3'"]),
    ("select x from t where x ~ {} order by id", &["'^x1'", "'2$'", "'('"]),
    ("select x || {} from t where id < 4 order by id", &["'a'", "'b'", "5"]),
    ("select id from t where x || {} = 'x1a'", &["'a'", "'b'", "'c'", "1"]),
    ("select {} from t where id = 1", &["1", "2", "'x'", "1.5", "-1", "3000000000"]),
    ("select id as \"a {}\" from t where id = 1", &["1", "2", "3"]),
    ("select id from t where id < 10 order by {} desc", &["1", "1", "2", "'1'"]),
    ("select s % 3, count(*) from t where id > {} group by {}", &["1", "1", "1", "1"]),
    ("select s + 1, count(*) from t where id > {} group by s + 1 order by 1", &["37", "38", "39", "'40'"]),
    ("select id from t order by id limit {}", &["1", "2", "0", "-1", "'3'", "null", "all", "1.6"]),
    ("select id from t order by id limit 2 offset {}", &["1", "2", "0", "-1", "'3'", "3000000000", "1.6"]),
    ("select id from t where id = {} for update", &["1", "2", "3", "4"]),
    ("select id / {} from t where id = 7", &["1", "2", "0", "0"]),
    ("select id from t where id / {} = 7 order by 1", &["1", "2", "0", "3"]),
    ("select id from t where s > 20 and x = {}", &["'x21'", "'x22'", "'x19'", "'x30'"]),
    ("select id from t where s > {} and x = 'x25'", &["20", "21", "10", "30"]),
    ("select w from parts where k = {}", &["1", "12", "19", "20", "'3'", "null", "4.0"]),
    ("select w from parts where k in (1, {}) order by k", &["12", "13", "5", "-1"]),
    ("select * from shown where id = {} and five = 5", &["4", "5", "2", "6"]),
    ("select * from shown where five = {} order by id limit 2", &["4", "5", "2", "6"]),
    ("select a.id from t a join t b on a.id = b.s + {} where b.x = 'x3'", &["1", "2", "-1", "70"]),
    (
        "select id from t where exists (select from parts where k = id and k > {}) order by id",
        &["15", "16", "-1", "'17'"],
    ),
    ("select id from t where id = (select max(k) from parts where k < {})", &["15", "16", "-1", "'17'"]),
    ("select q.n from (select id as n from t where id < {}) q where q.n > 2 order by 1", &["5", "6", "4"]),
    ("select id from t where id = 1 union all select k from parts where k = {} order by 1", &["5", "6", "4"]),
    ("select noisy(1) from t where id = {}", &["1", "2", "3", "4"]),
    ("select id from t where id = noisy({})", &["1", "2", "3", "4"]),
    ("select id from t where id + twice({}) = 9", &["1", "2", "3", "4"]),
    ("select id from t where id = {} and now() > '2020-01-01'", &["1", "2", "3", "4"]),
    ("select id from t where z < 'tomorrow' and id = {}", &["1", "2", "3", "4"]),
    ("select id from t where missing = {}", &["1", "2", "3", "4"]),
    ("select id from t where id == {}", &["1", "2", "3", "4"]),
    ("select id from where id = {}", &["1", "2", "3", "4"]),
    ("select id from t where (id, s) = ({}, 2)", &["1", "2", "3", "4"]),
    ("select id from t where id is distinct from {} and id < 4 order by id", &["1", "2", "'3'", "null"]),
    ("select id from t where nullif(id, {}) is null", &["1", "2", "3", "4"]),
    ("select id from t where id = -{}", &["1", "2", " -4", " - 5", "2147483648", "1.0"]),
    ("select id from t where id - -{} = 41", &["1", "2", "2147483648", "4"]),
    ("select id from t where b = -{}", &["3000000000", "2147483648", "9223372036854775808", "4"]),
    ("select id from t where id = '{}'::int", &["1", "2", "x", "4"]),
    ("select id from t where v = cast('{}' as varchar(2)) order by id", &["v1", "v2x", "v3", "v4"]),
    (
        "select id as a_very_long_name_that_is_cut_because_names_have_less_than_sixty_four_bytes from t where id = {}",
        &["1", "2", "3", "4"],
    ),
];

/// The same, of statements that change rows.
const CHANGES: &[(&str, &[&str])] = &[
    (
        "insert into t (id, x) values ({}, 'new')",
        &["1000", "1001", "1", "-1002", "'1003'", "3000000000", "1004.5", "'x'", "null"],
    ),
    ("insert into t (id, s) values (2000, {})", &["1", "2", "70000", "'3'", "5000", "2.6"]),
    (
        "insert into t (id, n, m) values (2000, {}, {}) returning n, m",
        &["1.005", "2.5", "12345.678", "'3.14159'", "7", "-0.004"],
    ),
    (
        "insert into t (id, v) values (2000, {}) returning v, k",
        &["'a'", "'bcd'", "'too long'", "'ab      '", "5", "12345"],
    ),
    ("insert into t (id, c) values (2000, {}) returning c", &["'a'", "'bcd'", "'too long'", "'ab      '"]),
    (
        "insert into t (id, d, z) values (2000, '2020-05-05', {}) returning d, z",
        &["'2020-01-01'", "'1999-12-31 23:59:59.5+00'", "'x'", "default"],
    ),
    ("insert into t (id, e) values (2000, {}) returning e", &["'red'", "'green'", "'pink'", "null"]),
    ("insert into t (id, p) values (2000, {}) returning p", &["1", "2", "-1", "'3'"]),
    ("insert into t (id, h) values (2000, {}) returning h", &["'a'", "'b'", "'longer'"]),
    (
        "insert into t (id, i, iv) values (2000, {}, '1.6 seconds') returning i, iv",
        &["'1 day'", "'2 days'", "'x'"],
    ),
    ("insert into t (id, g) values (2000, {})", &["1", "2", "3"]),
    (
        "insert into t (id, l, u, j, a) values (2000, 'yes', null, {}, '{1}') returning j",
        &["'1'", "'{}'", "'x'", "'[]'"],
    ),
    ("insert into t (id) values (1) on conflict (id) do update set x = {} returning x", &["'a'", "'b'", "5"]),
    ("insert into t (id, x) values ({}, 'y') on conflict do nothing returning id", &["1", "2", "5000"]),
    ("insert into t (id, x) values (3000, 'a'), ({}, 'b') returning id", &["3001", "3002", "'3003'"]),
    ("insert into ids (w) values ({}) returning w, q", &["'a'", "'b'", "'long'", "null"]),
    ("insert into ids (id, w) values ({}, 'a')", &["1", "2", "3"]),
    ("insert into parts values ({}, 'p') returning tableoid::regclass", &["1", "12", "20", "'3'"]),
    ("update t set x = {} where id < 3 returning id, x", &["'a'", "'b'", "5", "null", "default"]),
    ("update t set s = {} where id = 5 returning s", &["1", "2", "70000", "-3", "1.5", "'x'"]),
    ("update t set s = {} where id = -5", &["1", "2", "70000", "'70000'"]),
    ("update t set v = {} where id = 5 returning v", &["'a'", "'b'", "'too long'"]),
    ("update t set v = {} where id = -5", &["'a'", "'b'", "'too long'"]),
    ("update t set n = n + {}, m = -{} where id = 5 returning n, m", &["1", "2.25", "3.5", "99999"]),
    (
        "update t set b = b + -{}, n = n - {}, x = '{}' where id < {} returning id, b, n, x",
        &["1", "222", "3333", "4", "55"],
    ),
    ("update t set b = b - {} where id = 5 returning b", &["1", "3000000000", "-3000000000", "'7'"]),
    ("update t set (s, x) = ({}, 'q') where id = 5 returning s", &["1", "2", "3"]),
    ("update t set a[2] = {} where id = 5 returning a", &["1", "2", "'3'"]),
    ("update t set a[{}] = 7 where id = 5 returning a", &["1", "2", "'3'"]),
    ("update parts set k = {} where k = 3 returning tableoid::regclass, k", &["4", "14", "30"]),
    ("update shown set x = 'z' where id = {} returning id, x", &["4", "5", "1"]),
    ("delete from t where id = {} returning id", &["1", "2", "-1", "'3'"]),
    ("delete from t using parts where t.id = k and w = {} returning id", &["'w1'", "'w12'", "'w0'"]),
];

/// Everything a statement is answered with.
fn answer(client: &mut Client, text: &str) -> Vec<(char, String)> {
    client.send(&message(b'Q', &[text.as_bytes(), b"\0"].concat())).unwrap();
    let mut messages = Vec::new();
    loop {
        let (kind, body) = client.message().unwrap();
        messages.push((char::from(kind), String::from_utf8_lossy(&body).replace('\0', "|")));
        if kind == b'Z' {
            return messages;
        }
    }
}

/// The two sessions.
struct Pair {
    sharing: Client,
    plain: Client,
    /// Descriptions name tables that each session has for itself.
    own_tables: bool,
}

impl Pair {
    fn new(server: &Server) -> Pair {
        Pair { sharing: server.client(), plain: server.client(), own_tables: false }
    }

    fn both(&mut self, text: &str) {
        self.sharing.query(text).unwrap();
        self.plain.query(text).unwrap();
    }

    fn compare(&mut self, text: &str) {
        let mut expected = answer(&mut self.plain, &format!("{text};;"));
        let mut found = answer(&mut self.sharing, text);
        if self.own_tables {
            expected.retain(|(kind, _)| *kind != 'T');
            found.retain(|(kind, _)| *kind != 'T');
        }
        assert_eq!(found, expected, "{text}");
    }

    /// All values in turn, several times, so that each comes after the first ones.
    fn queries(&mut self, rounds: usize) {
        for (text, values) in QUERIES {
            for value in values.iter().cycle().take(rounds * values.len().max(3)) {
                self.compare(&text.replace("{}", value));
            }
        }
    }

    fn changes(&mut self, rounds: usize) {
        for (text, values) in CHANGES {
            for value in values.iter().cycle().take(rounds * values.len().max(3)) {
                let text = text.replace("{}", value);
                let run = |client: &mut Client, text: &str| {
                    let mut all = answer(client, "begin");
                    all.extend(answer(client, "select setval('ids_id_seq', 1)"));
                    all.extend(answer(client, text));
                    all.extend(answer(
                        client,
                        "select count(*), sum(id), sum(s), sum(n), max(x), max(v) from t",
                    ));
                    all.extend(answer(client, "rollback"));
                    all
                };
                let expected = run(&mut self.plain, &format!("{text};;"));
                assert_eq!(run(&mut self.sharing, &text), expected, "{text}");
            }
        }
    }
}

#[test]
fn answers_are_those_of_single_statements() {
    let server = Server::start(&[]);
    server.client().query(SETUP).unwrap();
    let mut pair = Pair::new(&server);
    pair.queries(2);
    pair.changes(2);
    for mode in ["force_generic_plan", "force_custom_plan"] {
        pair = Pair::new(&server);
        pair.both(&format!("set plan_cache_mode = {mode}"));
        pair.queries(1);
        pair.changes(1);
    }
}

/// What may change between two texts of a shape, and what the text reads after it.
#[test]
fn changes_between_texts_are_seen() {
    let server = Server::start(&[]);
    let mut other = server.client();
    other.query(SETUP).unwrap();
    other.query("create role reader; grant select on t to reader; create schema first; insert into parts values (5, 'x')").unwrap();
    let mut pair = Pair::new(&server);
    let ask = |pair: &mut Pair| {
        for id in 1..=8 {
            pair.compare(&format!("select x, d, r from t where id = {id}"));
            pair.compare("select count(*) from t");
            pair.compare(&format!("select * from t where d > '02/0{id}/2020' and x <> 'x9' order by id"));
            pair.compare(&format!("select id from t where a <> '{{null,{id}}}' and id < 3"));
            pair.compare(&format!("select e from t where e = 'red' and id = {id}"));
            pair.compare(&format!("select w from parts where k = {id} order by w"));
        }
    };
    ask(&mut pair);
    for change in [
        "create index on t (d)",
        "insert into t (id, d, x) select q, '2020-02-03', 'y' from generate_series(200, 3000) q",
        "analyze t",
        "alter table t alter r type float8",
        "alter table t add column late int default 4",
        "alter table t rename column x to x_old; alter table t add column x text default 'x2'",
        "alter type color add value 'yellow'",
        "alter table t alter e type text",
        "drop index t_d_idx",
        "create table parts_3 partition of parts for values from (20) to (30)",
        "alter table parts detach partition parts_1",
        "delete from t where id > 100; vacuum t",
        "revoke select on t from reader",
        "drop table parts",
        "create table first.t as select id, 'first'::text as x, d, s, a, e from public.t",
        "drop table first.t",
    ] {
        // Not all may stand in one message.
        for statement in change.split("; ") {
            other.query(statement).unwrap();
        }
        ask(&mut pair);
    }
    for setting in [
        "set datestyle = 'ISO, DMY'",
        "set array_nulls = off",
        "set timezone = 'Asia/Tokyo'",
        "set search_path = first, public",
        "set enable_indexscan = off",
        "create temp table t as select * from public.t where id < 5",
        "drop table pg_temp.t",
        "set role reader",
        "reset role",
        "reset all",
    ] {
        pair.both(setting);
        pair.own_tables = setting.starts_with("create temp");
        ask(&mut pair);
    }
    // A transaction sees what it changed itself, and afterwards that it was rolled back.
    pair.sharing.query("begin; alter table t rename column x to gone").unwrap();
    let missing = pair.sharing.error("select x, d, r from t where id = 1");
    assert_eq!(missing, "42703 column \"x\" does not exist");
    pair.sharing.query("rollback").unwrap();
    ask(&mut pair);
}

/// Errors of values come with their position, and leave the shape as it was; what a failed block says comes first.
#[test]
fn errors_are_those_of_the_text() {
    let server = Server::start(&[]);
    server.client().query(SETUP).unwrap();
    let mut pair = Pair::new(&server);
    for round in 0..5 {
        for value in ["1", "'2x'", "99999999999999999999", "'3'", "3 3", "5x"] {
            pair.compare(&format!("select x from t\n where id = {value} and s > {round}"));
            pair.compare(&format!("select x from t where id = {value} and s = 'é'"));
        }
    }
    pair.both("begin");
    for _ in 0..5 {
        pair.compare("select x from t where id = 'oops' and s > 5");
        pair.compare("select x from t where id = 5 and s > 5");
    }
    pair.both("rollback");
    for id in 1..5 {
        pair.compare(&format!("select x from t where id = {id} and s > 0"));
    }
}

#[test]
fn others_see_the_text_that_was_sent() {
    let server = Server::start(&[]);
    let (mut client, mut watcher) = (server.client(), server.client());
    client.query(SETUP).unwrap();
    let pid = client.value("select pg_backend_pid()");
    for id in 1..9 {
        let text = format!("select x from t where id = {id} /* {pid} */");
        client.query(&text).unwrap();
        let shown = watcher.value(&format!("select query from pg_stat_activity where pid = {pid}"));
        assert_eq!(shown, text);
        let own = client.query("select query from pg_stat_activity where pid = pg_backend_pid()").unwrap();
        assert_eq!(
            own[0][0].as_deref(),
            Some("select query from pg_stat_activity where pid = pg_backend_pid()")
        );
    }
    assert_eq!(client.value("select count(*) from pg_prepared_statements"), "0");
}

/// A session that never sends the same shape twice, and one whose shape has ever new other literals, do not grow.
#[test]
fn shapes_are_forgotten() {
    let server = Server::start(&[]);
    let mut client = server.client();
    client.query("create table t (id int primary key, v int); insert into t select q, q from generate_series(1, 9) q").unwrap();
    for i in 0..2000 {
        let id = i % 9 + 1;
        assert_eq!(client.value(&format!("select v as c{i} from t where id = {id}")), id.to_string());
        assert_eq!(client.value(&format!("select v + {i} from t where id = {id}")), (id + i).to_string());
        assert_eq!(client.value(&format!("select v from t where id = {id}")), id.to_string());
    }
}
