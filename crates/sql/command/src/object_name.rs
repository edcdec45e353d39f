//! # What
//! Names that the server chooses: `t_pkey`, `t_a_key`, `t_a_b_idx`, `t_a_not_null`.

use base::{Oid, SqlResult};
use session::Session;

/// Longest name in bytes.
const MAX_NAME: usize = 63;

/// `first_second_label` cut to the longest name possible: the longer of the first two loses bytes, at a character's boundary.
pub(crate) fn make(first: &str, second: Option<&str>, label: &str) -> String {
    let overhead = 1 + label.len() + second.map_or(0, |_| 1);
    let room = MAX_NAME.saturating_sub(overhead);
    let (mut one, mut two) = (first.len(), second.map_or(0, str::len));
    while one + two > room {
        if one > two {
            one -= 1;
        } else {
            two -= 1;
        }
    }
    let first = &first[..first.floor_char_boundary(one)];
    match second {
        Some(second) => format!("{first}_{}_{label}", &second[..second.floor_char_boundary(two)]),
        None => format!("{first}_{label}"),
    }
}

/// A name cut to the longest possible.
pub(crate) fn cut(name: &str) -> &str {
    &name[..name.floor_char_boundary(name.len().min(MAX_NAME))]
}

/// The columns' part of an index's name: `a_b`, until it is long enough.
pub(crate) fn columns_part(columns: &[String]) -> String {
    let mut out = String::new();
    for column in columns {
        if !out.is_empty() {
            out.push('_');
        }
        out.push_str(column);
        if out.len() > MAX_NAME {
            break;
        }
    }
    out.truncate(out.floor_char_boundary(MAX_NAME));
    out
}

/// Names of an index's own columns: the table's or those that expressions have by themselves, `expr` for others, with a
/// number where they would repeat.
pub(crate) fn index_columns<'a>(names: impl Iterator<Item = Option<&'a str>>) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for name in names {
        let base = name.unwrap_or("expr");
        let mut candidate = base.to_owned();
        let mut n = 0;
        while out.contains(&candidate) {
            n += 1;
            let number = n.to_string();
            let keep = base.floor_char_boundary(base.len().min(MAX_NAME - number.len()));
            candidate = format!("{}{number}", &base[..keep]);
        }
        out.push(candidate);
    }
    out
}

/// The first of `first_second_label`, `…label1`, `…label2` that is no relation of the schema and, if it names a `constraint` too, no
/// constraint.
pub(crate) fn free_relation(
    session: &Session,
    schema: Oid,
    words: (&str, Option<&str>, &str),
    constraint: bool,
) -> SqlResult<String> {
    first_free(words, |name| {
        let relation = session.with_reader(|reader| reader.relation_oid(schema, name))?.is_some();
        Ok(relation
            || constraint && session.with_reader(|reader| reader.constraint_name_taken(schema, name))?)
    })
}

/// The same for a constraint: no other of the schema has the name.
pub(crate) fn free_constraint(
    session: &Session,
    schema: Oid,
    words: (&str, Option<&str>, &str),
) -> SqlResult<String> {
    first_free(words, |name| session.with_reader(|reader| reader.constraint_name_taken(schema, name)))
}

/// The first of `first_second_label`, `…label1`, `…label2` that is not `taken`.
pub(crate) fn first_free(
    (first, second, label): (&str, Option<&str>, &str),
    taken: impl Fn(&str) -> SqlResult<bool>,
) -> SqlResult<String> {
    let mut n = 0;
    loop {
        let numbered = if n == 0 { label.to_owned() } else { format!("{label}{n}") };
        let name = make(first, second, &numbered);
        if !taken(&name)? {
            return Ok(name);
        }
        n += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_stay_whole() {
        assert_eq!(make("t", None, "pkey"), "t_pkey");
        assert_eq!(make("t", Some("a_b"), "idx"), "t_a_b_idx");
    }

    #[test]
    fn the_longer_part_is_cut() {
        let name = make(&"x".repeat(70), Some("abc"), "key");
        assert_eq!(name.len(), 63);
        assert!(name.ends_with("_abc_key"));
        let name = make(&"ä".repeat(40), None, "pkey");
        assert!(name.len() <= 63 && name.ends_with("ä_pkey"));
    }

    #[test]
    fn repeated_columns_get_numbers() {
        let names = index_columns([Some("a"), None, Some("a"), None].into_iter());
        assert_eq!(names, ["a", "expr", "a1", "expr1"]);
    }
}
