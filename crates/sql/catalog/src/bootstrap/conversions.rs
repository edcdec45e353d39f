//! PostgreSQL's conversions between encodings (`pg_conversion`) and their functions.
//!
//! `conversions.txt` has a library on a line of its own; behind it, indented, OID and name of each of its functions, and behind each, indented
//! further, the conversions that it does: OID, name, from which encoding, to which. The rows are for who lists them: what is converted
//! is `types::encoding`'s, and the functions cannot be called from SQL.

use base::{Encoding, Oid};
use types::oids;

use super::{BOOTSTRAP_SUPERUSER, Rows, add, add_c_function};
use crate::database::PG_CATALOG;
use crate::row::RowBuilder;
use crate::system::pg_conversion;

const TEXT: &str = include_str!("conversions.txt");

/// Adds the rows.
pub(super) fn describe(rows: &mut Rows) {
    let (mut library, mut function) = ("", Oid::INVALID);
    for line in TEXT.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [name] => library = name,
            [oid, name] => {
                function = number(oid);
                add_function(rows, function, name, library);
            }
            [oid, name, from, to] => add_conversion(rows, (number(oid), name), [from, to], function),
            _ => {}
        }
    }
}

fn number(word: &str) -> Oid {
    word.parse().map_or(Oid::INVALID, Oid)
}

/// What is said of the conversions: their OIDs and comments.
pub(super) fn comments() -> impl Iterator<Item = (Oid, String)> {
    TEXT.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [oid, _, from, to] = words.as_slice() else { return None };
        let shown = |name: &str| match name.strip_prefix("ISO_8859_") {
            Some(part) => format!("ISO-8859-{part}"),
            None => name.to_owned(),
        };
        Some((number(oid), format!("conversion for {} to {}", shown(from), shown(to))))
    })
}

fn add_function(rows: &mut Rows, oid: Oid, name: &str, library: &str) {
    let arguments = [oids::int4, oids::int4, oids::cstring, oids::internal, oids::int4, oids::bool];
    add_c_function(rows, oid, (name, library), (&arguments, oids::int4), (true, b'i', b's'));
}

fn add_conversion(rows: &mut Rows, (oid, name): (Oid, &str), encodings: [&str; 2], function: Oid) {
    use pg_conversion as c;
    let [from, to] = encodings.map(|name| Encoding::find(name).unwrap_or_default().number());
    let row = RowBuilder::new(&c::TABLE)
        .set(c::OID, oid)
        .set(c::CONNAME, name)
        .set(c::CONNAMESPACE, PG_CATALOG)
        .set(c::CONOWNER, BOOTSTRAP_SUPERUSER)
        .set(c::CONFORENCODING, from)
        .set(c::CONTOENCODING, to)
        .set(c::CONPROC, function)
        .set(c::CONDEFAULT, true);
    add(rows, &c::TABLE, row.build());
}
