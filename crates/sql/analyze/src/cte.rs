//! WITH.
//!
//! PostgreSQL counterpart: `parse_cte.c`.

use base::{SqlResult, sql_err};
use parse::ast::{self, Statement};

use crate::core::{Analyzer, PendingCte};
use crate::query::{ColumnType, Command, Cte, Query};

impl Analyzer<'_> {
    /// The queries of WITH, into the innermost level.
    pub(crate) fn with_clause(&mut self, with: &ast::With, query: &mut Query) -> SqlResult<()> {
        for (i, cte) in with.ctes.iter().enumerate() {
            if with.ctes[..i].iter().any(|c| c.name == cte.name) {
                let error =
                    sql_err!(DUPLICATE_ALIAS, "WITH query name \"{}\" specified more than once", cte.name);
                return Err(self.at(error, cte.location));
            }
            if !matches!(cte.query, Statement::Select(_)) {
                self.level().has_modifying_cte = true;
            }
        }
        query.recursive = with.recursive;
        let order = if with.recursive {
            crate::recursion::order(self, &with.ctes)?
        } else {
            (0..with.ctes.len()).collect()
        };
        if !with.recursive {
            self.level().future_ctes = with.ctes.iter().map(|c| c.name.clone()).collect();
        }
        for i in order {
            self.common_table(&with.ctes[i], with.recursive)?;
        }
        self.level().future_ctes.clear();
        Ok(())
    }

    fn common_table(&mut self, cte: &ast::Cte, recursive: bool) -> SqlResult<()> {
        let search = cte.search.as_ref().map(|s| self.search_clause(s));
        let cycle = cte.cycle.as_ref().map(|c| self.cycle_clause(c)).transpose()?;
        let added = crate::search_cycle::added_columns(search.as_ref(), cycle.as_ref());
        if recursive {
            crate::recursion::check(self, cte)?;
            self.level().pending.push(PendingCte {
                name: cte.name.clone(),
                columns: None,
                added: added.clone(),
                referenced: false,
            });
        }
        let alias_columns = cte.columns.clone();
        let result = self.nested(|a| match &cte.query {
            Statement::Select(s) => {
                a.level().cte_aliases = alias_columns;
                a.select(s)
            }
            other => a.modifying(other),
        });
        let pending = if recursive { self.level().pending.pop() } else { None };
        let query = result?;
        if query.command != Command::Select && self.levels.len() > 1 + self.outside {
            let error = sql_err!(
                FEATURE_NOT_SUPPORTED,
                "WITH clause containing a data-modifying statement must be at the top level"
            );
            return Err(self.at(error, cte.location));
        }
        let self_referencing = pending.is_some_and(|p| p.referenced);
        let columns = self.cte_columns(cte, &query)?;
        self.level().future_ctes.retain(|n| *n != cte.name);
        if self_referencing {
            self.check_recursive_types(cte, &columns, &query)?;
        }
        let made = Cte {
            name: cte.name.clone(),
            materialize: cte.materialize,
            query,
            recursive: self_referencing,
            references: 0,
            columns: columns.iter().cloned().chain(added).collect(),
            aliased: cte.columns.len(),
            search,
            cycle,
        };
        self.check_search_cycle(cte, &made, &columns)?;
        self.level().ctes.push(made);
        Ok(())
    }

    /// Columns of a CTE: those of its query under the aliases given.
    fn cte_columns(&self, cte: &ast::Cte, query: &Query) -> SqlResult<Vec<ColumnType>> {
        let mut columns = self.query_columns(query);
        if cte.columns.len() > columns.len() {
            let error = sql_err!(
                INVALID_COLUMN_REFERENCE,
                "WITH query \"{}\" has {} columns available but {} columns specified",
                cte.name,
                columns.len(),
                cte.columns.len()
            );
            return Err(self.at(error, cte.location));
        }
        for (c, name) in columns.iter_mut().zip(&cte.columns) {
            c.name.clone_from(name);
        }
        Ok(columns)
    }

    /// Tells the recursive term of the CTE under way which columns it has, once the other term is known.
    pub(crate) fn announce_recursive(&mut self, columns: &[ColumnType]) -> SqlResult<()> {
        let n = self.levels.len();
        if n < 2 {
            return Ok(());
        }
        let aliases = std::mem::take(&mut self.levels[n - 1].cte_aliases);
        let Some(pending) = self.levels[n - 2].pending.last_mut() else { return Ok(()) };
        if pending.columns.is_some() {
            return Ok(());
        }
        let mut columns = columns.to_vec();
        for (c, name) in columns.iter_mut().zip(&aliases) {
            c.name.clone_from(name);
        }
        for c in &mut columns {
            if c.type_oid == types::oids::unknown {
                c.type_oid = types::oids::text;
                c.collation = base::Oid(100);
            }
        }
        pending.columns = Some(columns);
        Ok(())
    }

    /// The result of a recursive query must have the types of its non-recursive term.
    fn check_recursive_types(
        &mut self,
        cte: &ast::Cte,
        columns: &[ColumnType],
        query: &Query,
    ) -> SqlResult<()> {
        let Some(crate::query::SetOperation::Node(node)) = &query.set_operation else { return Ok(()) };
        let crate::query::SetOperation::Leaf(left) = &node.left else { return Ok(()) };
        let Some(crate::query::RteKind::Subquery(sub)) = query.range_table.get(*left).map(|r| &r.kind) else {
            return Ok(());
        };
        let first = self.query_columns(&sub.query);
        for (i, (have, want)) in first.iter().zip(columns).enumerate() {
            if have.type_oid != want.type_oid || have.typmod != want.typmod {
                let error = sql_err!(
                    DATATYPE_MISMATCH,
                    "recursive query \"{}\" column {} has type {} in non-recursive term but type {} overall",
                    cte.name,
                    i + 1,
                    self.type_text_mod(have.type_oid, have.typmod),
                    self.type_text_mod(want.type_oid, want.typmod)
                )
                .hint("Cast the output of the non-recursive term to the correct type.");
                let at = sub
                    .query
                    .targets
                    .iter()
                    .filter(|t| !t.junk)
                    .nth(i)
                    .map_or(cte.location, |t| crate::facts::location(&t.expr));
                return Err(self.at(error, at));
            }
            if have.collation != want.collation {
                let error = sql_err!(
                    COLLATION_MISMATCH,
                    "recursive query \"{}\" column {} has collation \"{}\" in non-recursive term but collation \"{}\" overall",
                    cte.name,
                    i + 1,
                    crate::collate::name(self, have.collation),
                    crate::collate::name(self, want.collation)
                )
                .hint("Use the COLLATE clause to set the collation of the non-recursive term.");
                let first = sub.query.targets.iter().filter(|t| !t.junk).nth(i);
                return Err(self.at(error, first.map_or(cte.location, |t| crate::facts::location(&t.expr))));
            }
        }
        Ok(())
    }

    /// INSERT, UPDATE, DELETE or MERGE inside WITH.
    fn modifying(&mut self, s: &Statement) -> SqlResult<Query> {
        let query = self.plannable(s)?;
        debug_assert_ne!(query.command, Command::Utility);
        Ok(query)
    }
}
