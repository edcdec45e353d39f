//! Which texts run as one statement. That their answers are the same is tested with a whole server.

use session::Session;
use session::Sharing::{self, Alone, Seen, Shared, Unseen};

use crate::support::Server;

/// What is known of a text.
fn state(session: &Session, text: &str) -> Option<Sharing> {
    session.sharing_of(text)
}

const SETUP: &str = "create table t (id int primary key, s smallint, b bigint, n numeric(6,2), x text, v varchar(4), d date, i interval,
        a int[]);
    insert into t select q, q, q, q, q, q, date '2020-01-01' + q, q * interval '1 s' from generate_series(1, 200) q;
    create type color as enum ('red', 'green');
    create domain positive as int check (value > 0);
    create table u (e color, p positive, w int generated always as identity);
    create function loud(q int) returns int language sql immutable as 'select $1'";

#[test]
fn texts_are_shared_where_that_cannot_be_told() {
    let server = Server::new();
    let client = server.connect();
    client.run(SETUP).unwrap();
    for (text, expected) in [
        ("select x from t where id = {}", Shared),
        ("select x from t where id = -{};", Shared),
        ("select x from t where s = {} and n > {}.5 and b < 9{}", Shared),
        ("select x from t where x = '{}' and v = '{}'", Shared),
        ("select x from t where d > '2020-01-0{}'", Shared),
        ("select x from t where d > '2020-01-0{}'::date and id in ({}, 2, 3)", Shared),
        ("select x from t where a = '{{},2}'", Shared),
        ("select 1, 'a' from t where id = {} limit 5 offset {}", Shared),
        ("select id from t where i > '2 s' and id = {}", Alone),
        ("select id from t where loud(1) = 1 and id = {}", Alone),
        ("select id from t where d < 'now' and id = {}", Shared),
        ("select id from t where d < date 'now' and id = {}", Alone),
        ("select s + 1 from t where id = {} group by s + 1", Shared),
        ("select s from t where s + 1 = {} group by s having s + 1 > 0", Shared),
        ("insert into t values ({}000, {}, {}, {}.25, 'x{}', '{}')", Shared),
        ("insert into u (e) select 'red' where '{}' <> ''", Unseen),
        ("insert into u (e) values ('red')  /* {} */", Seen),
        ("insert into u (p) values ({})", Shared),
        ("insert into u (p) values ('{}')", Alone),
        ("update t set s = {}, x = x || '{}' where id = 7", Shared),
        ("update t set b = b + -{} where id = 7", Shared),
        ("delete from t where id = {} + 100", Unseen),
        ("delete from t where id = {}", Shared),
        ("select {}", Unseen),
        ("select x from t order by 1 /* {} */", Unseen),
    ] {
        for value in 1..=5 {
            let text = text.replace("{}", &value.to_string());
            client.run(&text).unwrap_or_else(|e| panic!("{text}: {e}"));
        }
        let last = text.replace("{}", "5");
        assert_eq!(state(client.session(), &last), Some(expected), "{last}");
    }
}

#[test]
fn other_literals_make_other_variants() {
    let server = Server::new();
    let client = server.connect();
    client.run(SETUP).unwrap();
    for limit in 1..=3 {
        for id in 1..=4 {
            client.run(&format!("select x from t where id = {id} limit {limit}")).unwrap();
        }
    }
    for limit in 1..=3 {
        assert_eq!(
            state(client.session(), &format!("select x from t where id = 9 limit {limit}")),
            Some(Shared)
        );
    }
    for limit in 4..=20 {
        client.run(&format!("select x from t where id = 1 limit {limit}")).unwrap();
    }
    let last = |limit: i32| format!("select x from t where id = 9 limit {limit}");
    assert_eq!(state(client.session(), &last(17)), Some(Seen));
    assert_eq!(state(client.session(), &last(16)), Some(Unseen));
}

#[test]
fn errors_of_values_change_nothing_and_other_columns_begin_anew() {
    let server = Server::new();
    let client = server.connect();
    client.run(SETUP).unwrap();
    let text = |value: &str| format!("select * from t where id = '{value}'");
    for value in ["1", "2", "3"] {
        assert!(client.query(&text(value)).starts_with(value));
    }
    assert_eq!(client.query(&text("4x")), "ERROR:  invalid input syntax for type integer: \"4x\"");
    assert_eq!(state(client.session(), &text("5")), Some(Shared));
    client.run("alter table t add column more int default 9").unwrap();
    assert!(client.query(&text("6")).ends_with("|9"));
    assert_eq!(state(client.session(), &text("7")), Some(Seen));
    for _ in 0..3 {
        assert!(client.query(&text("7")).ends_with("|9"));
        assert!(client.query(&text("8")).ends_with("|9"));
    }
    assert_eq!(state(client.session(), &text("7")), Some(Shared));
    client.run("set datestyle = 'ISO, DMY'").unwrap();
    client.run("select 1").unwrap();
    assert_eq!(state(client.session(), &text("7")), None);
}

#[test]
fn shapes_are_limited() {
    let server = Server::new();
    let client = server.connect();
    client.run(SETUP).unwrap();
    let hot = |id: i32| format!("select b from t where id = {id}");
    for id in 1..=500 {
        client.run(&hot(id)).unwrap();
        client.run(&format!("select b as column_{id} from t where id = {id}")).unwrap();
    }
    assert_eq!(state(client.session(), &hot(7)), Some(Shared));
    assert_eq!(state(client.session(), "select b as column_1 from t where id = 1"), None);
}
