//! The order in which the queries of WITH RECURSIVE are analysed: those referred to first.

use base::SqlResult;
use parse::ast::Cte;

use crate::core::Analyzer;

/// Indexes of the queries, each after those it refers to; an error if two refer to each other.
pub(crate) fn order(analyzer: &Analyzer<'_>, ctes: &[Cte]) -> SqlResult<Vec<usize>> {
    let texts: Vec<String> = ctes.iter().map(|c| format!("{:?}", c.query)).collect();
    let refers = |from: usize, to: usize| from != to && mentions(&texts[from], &ctes[to].name);
    let mut left: Vec<usize> = (0..ctes.len()).collect();
    let mut out = Vec::with_capacity(ctes.len());
    while !left.is_empty() {
        let free = left.iter().position(|i| !left.iter().any(|j| refers(*i, *j)));
        match free {
            Some(at) => out.push(left.remove(at)),
            None => {
                let error = base::SqlError::new(
                    base::SqlState::FEATURE_NOT_SUPPORTED,
                    "mutual recursion between WITH items is not implemented",
                );
                return Err(analyzer.at(error, ctes[left[0]].location));
            }
        }
    }
    Ok(out)
}

/// Whether a query of WITH refers to a name.
pub(crate) fn refers(cte: &Cte, name: &str) -> bool {
    mentions(&format!("{:?}", cte.query), name)
}

/// Whether a tree, printed, names a relation without schema.
fn mentions(tree: &str, name: &str) -> bool {
    tree.contains(&format!("schema: None, name: {name:?},"))
}
