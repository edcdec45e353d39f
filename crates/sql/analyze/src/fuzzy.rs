//! What the user may have meant by a column that does not exist.
//!
//! PostgreSQL counterpart: `errorMissingColumn`, `searchRangeTableForCol`.

use base::SqlError;

use crate::core::Analyzer;

/// Names further away than this are not offered.
const MAX_DISTANCE: usize = 3;

/// A column that comes near.
struct Near {
    relation: String,
    column: String,
}

#[derive(Default)]
struct Search {
    best: Option<usize>,
    first: Option<Near>,
    second: Option<Near>,
    exact: Vec<(String, bool, bool)>,
}

/// Adds DETAIL and HINT to the error of a missing column.
pub(crate) fn suggest(
    analyzer: &Analyzer<'_>,
    error: SqlError,
    relation: Option<&str>,
    name: &str,
) -> SqlError {
    let mut search = Search { best: Some(MAX_DISTANCE + 1), ..Search::default() };
    for level in analyzer.levels.iter().rev() {
        for (i, entry) in level.range_table.iter().enumerate() {
            // A join's columns are those of its inputs.
            if matches!(entry.kind, crate::query::RteKind::Join(_)) {
                continue;
            }
            let penalty = relation.map_or(0, |r| distance(r, &entry.name, MAX_DISTANCE + 1));
            let item = level.namespace.iter().find(|n| n.rte == i);
            let reachable = item.is_some_and(|n| n.cols_visible && (!n.lateral_only || level.lateral_active));
            let qualified = item.is_some_and(|n| n.rel_visible && (!n.lateral_only || level.lateral_active));
            let lateral = item.is_some_and(|n| n.rel_visible && n.lateral_only && n.lateral_ok);
            for column in entry.columns.iter().filter(|c| !c.is_empty()) {
                if column == name && penalty == 0 && !(reachable && relation.is_none()) {
                    search.exact.push((entry.name.clone(), qualified, lateral));
                } else {
                    search.consider(name, &entry.name, column, penalty);
                }
            }
        }
    }
    search.finish(error, name)
}

impl Search {
    fn consider(&mut self, name: &str, relation: &str, column: &str, penalty: usize) {
        let Some(best) = self.best else { return };
        if penalty > MAX_DISTANCE {
            return;
        }
        let d = distance(name, column, best.saturating_sub(penalty) + 1) + penalty;
        if d > MAX_DISTANCE || d > name.chars().count() / 2 + penalty {
            return;
        }
        let near = Near { relation: relation.to_owned(), column: column.to_owned() };
        if d < best {
            self.best = Some(d);
            self.first = Some(near);
            self.second = None;
        } else if d == best {
            if self.second.is_some() {
                // Three that are equally near say nothing.
                self.first = None;
                self.second = None;
                self.best = (d > 0).then(|| d - 1);
            } else {
                self.second = Some(near);
            }
        }
    }

    fn finish(self, error: SqlError, name: &str) -> SqlError {
        match self.exact.as_slice() {
            [] => {}
            [(relation, qualified, lateral)] => {
                let error = error.detail(format!(
                    "There is a column named \"{name}\" in table \"{relation}\", but it cannot be referenced from this part of the query."
                ));
                return if *lateral {
                    error.hint("To reference that column, you must mark this subquery with LATERAL.")
                } else if *qualified {
                    error.hint("To reference that column, you must use a table-qualified name.")
                } else {
                    error
                };
            }
            _ => {
                return error.detail(format!(
                    "There are columns named \"{name}\", but they are in tables that cannot be referenced from this part of the query."
                ));
            }
        }
        match (self.first, self.second) {
            (Some(a), None) => error
                .hint(format!("Perhaps you meant to reference the column \"{}.{}\".", a.relation, a.column)),
            (Some(a), Some(b)) => error.hint(format!(
                "Perhaps you meant to reference the column \"{}.{}\" or the column \"{}.{}\".",
                a.relation, a.column, b.relation, b.column
            )),
            _ => error,
        }
    }
}

/// Number of insertions, deletions and replacements from one word to another, at most `limit`.
fn distance(a: &str, b: &str, limit: usize) -> usize {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    if a.len().abs_diff(b.len()) >= limit {
        return limit;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replace = corner + usize::from(x != y);
            corner = row[j + 1];
            row[j + 1] = replace.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.len()].min(limit)
}

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn distances() {
        assert_eq!(distance("abc", "abc", 4), 0);
        assert_eq!(distance("abc", "abd", 4), 1);
        assert_eq!(distance("abc", "xabc", 4), 1);
        assert_eq!(distance("kitten", "sitting", 9), 3);
        assert_eq!(distance("a", "abcdef", 4), 4);
    }
}
