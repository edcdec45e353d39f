//! What planned statements need on relations and functions. Whether their user has it is the session's to say.

use analyze::query::{Access, Command, Cte, Query, RteKind};
use analyze::{Expr, walk};
use base::Oid;

/// What a statement needs.
#[derive(Debug, Default)]
pub struct Needs {
    /// Relations, and what it does with each.
    pub relations: Vec<(Oid, Access)>,
    /// Functions that it may call.
    pub functions: Vec<Oid>,
    /// Functions that it may call as window functions.
    pub windows: Vec<Oid>,
}

impl Needs {
    /// Adds what others need.
    pub fn merge(&mut self, other: Needs) {
        self.relations.extend(other.relations);
        self.functions.extend(other.functions);
        self.windows.extend(other.windows);
    }

    /// Of an analysed query.
    pub fn of(query: &Query) -> Needs {
        let mut needs = Needs::default();
        needs.add_relations(query);
        let never = walk::visit_query::<std::convert::Infallible>(query, 0, &mut |expr, _| {
            match expr {
                Expr::SubLink(sub) => needs.add_relations(&sub.query),
                Expr::Func(call) => needs.functions.push(call.function),
                Expr::Op(call) | Expr::Distinct(call) | Expr::NullIf(call) => {
                    needs.functions.push(call.function)
                }
                Expr::ScalarArray(call) => needs.functions.push(call.function),
                Expr::Aggregate(call) => needs.functions.push(call.function),
                Expr::Window(call) => needs.windows.push(call.function),
                _ => {}
            }
            Ok(true)
        });
        let Ok(()) = never;
        needs.functions.sort_unstable();
        needs.functions.dedup();
        needs.windows.sort_unstable();
        needs.windows.dedup();
        needs
    }

    /// Columns of a relation that the statement says values for.
    pub fn written(&self, relation: Oid) -> Vec<i16> {
        let of_it = self.relations.iter().filter(|(oid, _)| *oid == relation);
        of_it.flat_map(|(_, access)| access.inserted.iter().chain(&access.updated)).copied().collect()
    }

    /// Of the relations in FROM, in WITH, and in what stands there; an outer query's first. Not of queries in expressions.
    fn add_relations(&mut self, query: &Query) {
        for entry in &query.range_table {
            let oid = match &entry.kind {
                RteKind::Relation(relation) => relation.oid,
                RteKind::Subquery(subquery) if subquery.view.is_valid() => subquery.view,
                _ => continue,
            };
            self.relations.extend(entry.access.clone().map(|access| (oid, access)));
        }
        for entry in &query.range_table {
            if let RteKind::Subquery(subquery) = &entry.kind {
                self.add_relations(&subquery.query);
            }
        }
        // A subplan whose result is never read is never run.
        let runs = |cte: &&Cte| cte.references > 0 || cte.query.command != Command::Select;
        query.ctes.iter().filter(runs).for_each(|cte| self.add_relations(&cte.query));
    }
}
