//! Each setting that `pg_settings` shows as working is set away from its default, and its effect is seen; any other is refused when it is set, or
//! says why its value cannot matter.
//!
//! # Layout
//! `session`: what a session sets. `start`: what a server starts with, or reads again; `in_time`: what is waited for; `upkeep`: automatic vacuums; `reads`: reading ahead. The tests at the end of this file see to it that none
//! is left out. A [`Row`] names the setting and how its effect shows.

mod in_time;
mod reads;
mod session;
mod start;
mod upkeep;

use std::collections::BTreeSet;

use crate::support::client::message;
use crate::support::{Client, Server};

/// A setting, and how its effect shows.
type Row = (&'static str, Effect);

/// How the effect of a setting shows. Statements that are messages of their own stand between `;;`.
enum Effect {
    /// With this value the statements' transcript tells this, and not without it.
    Tells(&'static str, &'static str, &'static str),
    /// The other way round.
    Silences(&'static str, &'static str, &'static str),
    /// As `Tells`; without the value the statements would not end soon.
    Ends(&'static str, &'static str, &'static str),
    /// With this value the statements leave this in the log, and not without it.
    Logs(&'static str, &'static str, &'static str),
    /// It cannot be set to this, for this reason.
    Refuses(&'static str, &'static str),
    /// Seen in another way.
    Seen(fn(&Server)),
}

/// All that the server says to statements: rows, tags, notices, errors, settings.
fn transcript(client: &mut Client, statements: &str) -> String {
    let mut out = String::new();
    for text in statements.split(";;") {
        if client.send(&message(b'Q', &[text.as_bytes(), b"\0"].concat())).is_err() {
            return out;
        }
        loop {
            let Ok((kind, body)) = client.message() else { return out };
            match kind {
                b'Z' => break,
                b'D' => out.push_str(&row(&body)),
                b'E' | b'N' => out.push_str(&report(&body)),
                b'C' | b'S' => out.push_str(&String::from_utf8_lossy(&body).replace('\0', " ")),
                _ => continue,
            }
            out.push('\n');
        }
    }
    out
}

fn row(body: &[u8]) -> String {
    let (mut rest, mut columns) = (&body[2..], Vec::new());
    while let Some((head, tail)) = rest.split_first_chunk::<4>() {
        let length = i32::from_be_bytes(*head);
        let (value, tail) = tail.split_at(length.max(0) as usize);
        columns.push(if length < 0 { "null".into() } else { String::from_utf8_lossy(value).into_owned() });
        rest = tail;
    }
    columns.join("|")
}

/// `SEVERITY CODE message`, then DETAIL and HINT.
fn report(body: &[u8]) -> String {
    let fields = body.split(|byte| *byte == 0).filter(|field| b"SCMDH".contains(field.first().unwrap_or(&0)));
    fields.map(|field| String::from_utf8_lossy(&field[1..]).into_owned()).collect::<Vec<_>>().join(" ")
}

/// A session that has set the value.
fn client_with(server: &Server, name: &str, value: &str) -> Client {
    let mut client = server.client();
    let told = transcript(&mut client, &format!("select set_config('{name}', $v${value}$v$, false)"));
    assert!(!told.starts_with("ERROR"), "{name}: {told}");
    client
}

/// Sees the effect of a setting that sessions set.
fn see(server: &Server, (name, effect): &Row) {
    let with = |value: &str, statements: &str| transcript(&mut client_with(server, name, value), statements);
    let without = |statements: &str| transcript(&mut server.client(), statements);
    let logged = |client: &mut Client, statements: &str| {
        let start = server.log().len();
        transcript(client, statements);
        server.log()[start..].to_string()
    };
    let check = |told: &str, there: bool, wanted: &str| {
        assert_eq!(told.contains(wanted), there, "{name}, \"{wanted}\" in: {told}");
    };
    match effect {
        Effect::Tells(value, statements, wanted) => {
            check(&without(statements), false, wanted);
            check(&with(value, statements), true, wanted);
        }
        Effect::Silences(value, statements, wanted) => {
            check(&without(statements), true, wanted);
            check(&with(value, statements), false, wanted);
        }
        Effect::Ends(value, statements, wanted) => check(&with(value, statements), true, wanted),
        Effect::Logs(value, statements, wanted) => {
            check(&logged(&mut server.client(), statements), false, wanted);
            check(&logged(&mut client_with(server, name, value), statements), true, wanted);
        }
        Effect::Refuses(value, wanted) => {
            check(&without(&format!("select set_config('{name}', $v${value}$v$, false)")), true, wanted);
        }
        Effect::Seen(seen) => seen(server),
    }
}

/// A table of two rows, the first of which eleven transactions had locked together, so many that their set has parts of different age. All
/// but two have ended, which are prepared. What the row says of that, as [`lockers`] does.
fn locked_together(server: &Server) -> String {
    let mut client = server.client();
    transcript(&mut client, "create table locked as select generate_series(1, 2) as id");
    let lock = "begin;;select from locked where id = 1 for key share";
    let mut early: [Client; 9] = std::array::from_fn(|_| server.client());
    early.iter_mut().for_each(|client| drop(transcript(client, lock)));
    // What comes before a VACUUM is known to be old once those that ran then have ended.
    transcript(&mut client, "vacuum locked");
    for name in ["a", "b"] {
        transcript(&mut client, &format!("{lock};;prepare transaction '{name}'"));
    }
    early.iter_mut().for_each(|client| drop(transcript(client, "commit")));
    lockers(&mut client)
}

/// What the first row of that table says of its lockers.
fn lockers(client: &mut Client) -> String {
    transcript(client, "select xmax from locked where id = 1")
}

/// Names of settings with this `extra_desc` or none.
fn named(client: &mut Client, condition: &str) -> BTreeSet<String> {
    let rows = client.query(&format!("select name from pg_settings where {condition}")).unwrap();
    rows.into_iter().filter_map(|row| row[0].clone()).collect()
}

#[test]
fn every_setting_that_works_is_seen_to() {
    let server = Server::start(&[]);
    let mut client = server.client();
    let working = named(&mut client, "extra_desc is null and context <> 'internal'");
    let seen: BTreeSet<String> = session::ROWS
        .iter()
        .map(|(name, _)| *name)
        .chain(start::names())
        .chain(in_time::names())
        .chain(upkeep::names())
        .chain(reads::NAMES.iter().copied())
        .map(str::to_string)
        .collect();
    let unseen: Vec<_> = working.difference(&seen).collect();
    assert!(unseen.is_empty(), "working, they say: {unseen:?}");
    // Those that `pg_settings` does not show.
    let hidden = ["role", "seed", "session_authorization"].map(str::to_string);
    let others: Vec<_> = seen.difference(&working).filter(|name| !hidden.contains(name)).collect();
    assert!(others.is_empty(), "no working settings: {others:?}");
}

#[test]
fn every_other_setting_is_refused_or_says_why_it_does_not_matter() {
    let server = Server::start(&[]);
    let mut client = server.client();
    for name in named(&mut client, "context = 'internal'") {
        let refused = format!("55P02 parameter \"{name}\" cannot be changed");
        assert_eq!(client.error(&format!("alter system set {name} = '1'")), refused);
    }
    let rows = client
        .query("select name, extra_desc, vartype, boot_val, min_val, max_val, array_to_string(enumvals, ',') from pg_settings where extra_desc is not null")
        .unwrap();
    assert!(rows.len() > 100);
    for row in rows {
        let column = |at: usize| row[at].clone().unwrap_or_default();
        let (name, remark) = (column(0), column(1));
        let other = other_value(&column(2), [3, 4, 5, 6].map(column), &remark);
        // Those of a transaction are none of the file's.
        let statements = match name.starts_with("transaction_") {
            true => format!("set {name} = '{other}'"),
            false => format!("alter system set {name} = '{other}';;alter system reset {name}"),
        };
        let told = transcript(&mut client, &statements);
        match remark.starts_with("Cannot be ") {
            true => assert!(told.starts_with("ERROR "), "{name} = {other}: {told}"),
            false => assert!(!told.contains("ERROR"), "{name} = {other}: {told}"),
        }
    }
}

/// A value that is neither the default nor one that the remark excepts.
fn other_value(kind: &str, [default, min, max, words]: [String; 4], remark: &str) -> String {
    let excepted = remark.split(" or ").nth(1).and_then(|rest| rest.split(':').next()).unwrap_or_default();
    match kind {
        "bool" if default == "on" => "off".into(),
        "bool" => "on".into(),
        "enum" => {
            let is_other = |word: &&str| **word != *default && !excepted.split(", ").any(|one| one == *word);
            words.split(',').find(is_other).unwrap().into()
        }
        "string" => "other".into(),
        _ if min == max => "1".into(),
        _ if default == min => max,
        _ => min,
    }
}
