//! The validator of options that name a PostgreSQL server, for wrappers without one of their own.
//!
//! PostgreSQL counterpart: `postgresql_fdw_validator` of `foreign/foreign.c`.

use base::{Oid, SqlError, SqlResult, sql_err};
use tuple::Datum;

use crate::array::Array;
use crate::call::Call;
use crate::value::FromDatum;

/// `pg_foreign_server` and `pg_user_mapping`.
const SERVER: Oid = Oid(1417);
const MAPPING: Oid = Oid(1418);

/// Options, and whether they are a server's or a mapping's.
const KNOWN: &[(&str, Oid)] = &[
    ("authtype", SERVER),
    ("service", SERVER),
    ("user", MAPPING),
    ("password", MAPPING),
    ("connect_timeout", SERVER),
    ("dbname", SERVER),
    ("host", SERVER),
    ("hostaddr", SERVER),
    ("port", SERVER),
    ("tty", SERVER),
    ("options", SERVER),
    ("requiressl", SERVER),
    ("sslmode", SERVER),
    ("gsslib", SERVER),
    ("gssdelegation", SERVER),
];

functions! {
    2316 postgresql_fdw_validator(_text, oid) -> bool [immutable strict] { fn validate }
}

fn validate(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    let [Datum::Bytes(options), Datum::Oid(class)] = args else { return Ok(Datum::Bool(true)) };
    let valid: Vec<&str> = KNOWN.iter().filter(|(_, of)| of.0 == *class).map(|(name, _)| *name).collect();
    let options = Array::from_payload(options);
    let mut names = options
        .elements()
        .iter()
        .map(|option| <&str>::from_datum(option).split('=').next().unwrap_or_default());
    match names.find(|name| !valid.contains(name)) {
        Some(name) => Err(unknown_option(name, &valid)),
        None => Ok(Datum::Bool(true)),
    }
}

/// The error of an option that there is not, with the one of the valid ones that may have been meant.
pub fn unknown_option(name: &str, valid: &[&str]) -> SqlError {
    let error = sql_err!(SYNTAX_ERROR, "invalid option \"{name}\"");
    match closest(name, valid) {
        Some(meant) => error.hint(format!("Perhaps you meant the option \"{meant}\".")),
        None if valid.is_empty() => error.hint("There are no valid options in this context."),
        None => error,
    }
}

/// The first of the nearest candidates, if one is near enough to have been meant.
fn closest<'c>(name: &str, candidates: &[&'c str]) -> Option<&'c str> {
    /// Most changes of characters.
    const FAR: usize = 4;
    let near = candidates.iter().map(|candidate| (changes_between(name, candidate), *candidate));
    let near = near.filter(|(changes, _)| *changes <= FAR && *changes <= name.len() / 2);
    near.min_by_key(|(changes, _)| *changes).map(|(_, candidate)| candidate)
}

/// How many characters are to be put in, taken out or replaced to make one word of another.
fn changes_between(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_option_is_proposed_if_it_is_near() {
        assert_eq!(changes_between("kitten", "sitting"), 3);
        assert_eq!(closest("username", &["user", "password"]), Some("user"));
        assert_eq!(closest("foo", &["host", "port"]), None);
        assert_eq!(closest("hots", &["port", "host"]), Some("host"));
    }
}
