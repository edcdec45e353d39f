//! Comments on built-in objects (`pg_description`), as psql's `+` commands show them.
//!
//! `descriptions.txt` has the name of a catalog on a line of its own; each line behind it, indented, has OIDs, a colon and the text that
//! is said of all of them. A function that implements an operator is said to do so; the others have no comment.

use base::Oid;
use rustc_hash::FxHashSet;
use types::registry::operators::OPERATORS;

use super::{Rows, add};
use crate::row::{RowBuilder, RowExt};
use crate::system::{self, pg_conversion, pg_database, pg_description, pg_proc, pg_shdescription};

const TEXTS: &str = include_str!("descriptions.txt");

/// Adds the comments on the objects that `rows` has.
pub(super) fn describe(rows: &mut Rows) {
    let known: FxHashSet<(Oid, Oid)> =
        rows.iter().flat_map(|(&class, all)| all.iter().map(move |row| (class, row.oid(0)))).collect();
    let mut told: FxHashSet<Oid> = FxHashSet::default();
    for (class, oid, text) in texts().filter(|&(class, oid, _)| known.contains(&(class, oid))) {
        comment(rows, (class, oid), text);
    }
    for (oid, text) in super::conversions::comments() {
        comment(rows, (pg_conversion::TABLE.oid, oid), &text);
    }
    for (class, oid, text) in super::text_search::comments() {
        comment(rows, (class, oid), &text);
    }
    for operator in OPERATORS.iter().filter(|operator| !types::registry::is_unlisted(operator.oid)) {
        let function = (pg_proc::TABLE.oid, operator.function);
        if known.contains(&function) && told.insert(operator.function) {
            let text = format!("implementation of {} operator", operator.name);
            comment(rows, function, &text);
        }
    }
}

/// Catalog, OID and text of everything in the file.
fn texts() -> impl Iterator<Item = (Oid, Oid, &'static str)> {
    let mut class = Oid::INVALID;
    TEXTS.lines().flat_map(move |line| {
        let (oids, text) = match line.strip_prefix(' ') {
            Some(entry) => entry.split_once(": ").unwrap_or_default(),
            None => {
                class = system::tables().find(|t| t.name == line).map_or(Oid::INVALID, |t| t.oid);
                Default::default()
            }
        };
        let class = class;
        oids.split(' ').filter_map(|oid| oid.parse().ok()).map(move |oid| (class, Oid(oid), text))
    })
}

fn comment(rows: &mut Rows, (class, oid): (Oid, Oid), text: &str) {
    if class == pg_database::TABLE.oid {
        use pg_shdescription as d;
        let row =
            RowBuilder::new(&d::TABLE).set(d::OBJOID, oid).set(d::CLASSOID, class).set(d::DESCRIPTION, text);
        return add(rows, &d::TABLE, row.build());
    }
    use pg_description as d;
    let row = RowBuilder::new(&d::TABLE)
        .set(d::OBJOID, oid)
        .set(d::CLASSOID, class)
        .set(d::OBJSUBID, 0)
        .set(d::DESCRIPTION, text);
    add(rows, &d::TABLE, row.build());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_file_says_something() {
        let known: Vec<_> = texts().collect();
        assert!(
            known.iter().all(|(class, oid, text)| class.is_valid() && oid.is_valid() && !text.is_empty())
        );
        let lines = TEXTS.lines().filter(|line| line.starts_with(' '));
        assert!(lines.clone().all(|line| line.contains(": ")));
        assert!(known.len() >= lines.count());
        assert!(known.contains(&(system::pg_namespace::TABLE.oid, Oid(11), "system catalog schema")));
    }
}
