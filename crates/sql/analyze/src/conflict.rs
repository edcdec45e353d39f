//! ON CONFLICT.
//!
//! What: the statement keeps which constraint it names, or the keys and the condition that tell its indexes; the planner finds those.
//!
//! PostgreSQL counterpart: `transformOnConflictClause` of `analyze.c`, `transformOnConflictArbiter` of `parse_clause.c`.

use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::view::Table;
use parse::ast::{self, ConflictTarget, Indirection};

use crate::core::{Analyzer, NsItem, Place};
use crate::query::{ConflictUpdate, Inference, InferenceElement, OnConflict};

impl Analyzer<'_> {
    /// ON CONFLICT.
    pub(crate) fn on_conflict(
        &mut self,
        c: &ast::OnConflict,
        relation: &ast::RangeVar,
        table: &std::sync::Arc<Table>,
        target: &NsItem,
    ) -> SqlResult<OnConflict> {
        if c.update.is_some() && c.target.is_none() {
            let error = sql_err!(
                SYNTAX_ERROR,
                "ON CONFLICT DO UPDATE requires inference specification or constraint name"
            )
            .hint("For example, ON CONFLICT (column_name).");
            return Err(self.at(error, c.location));
        }
        self.level().namespace = vec![target.clone()];
        let (constraint, inference) = match &c.target {
            None => (Oid::INVALID, None),
            Some(ConflictTarget::Constraint { name, .. }) => {
                (self.conflict_constraint(table, name, target.rte)?, None)
            }
            Some(ConflictTarget::Index { elements, filter, .. }) => {
                let elements = self.inference(elements)?;
                let filter = filter.as_ref().map(|f| self.condition(f, Place::IndexPredicate)).transpose()?;
                (Oid::INVALID, Some(Inference { elements, filter }))
            }
        };
        let update = match &c.update {
            None => None,
            Some((list, filter)) => {
                let excluded = ast::RangeVar {
                    name: table.name.clone(),
                    inherit: false,
                    alias: Some(ast::Alias { name: "excluded".into(), columns: Vec::new() }),
                    ..ast::RangeVar::default()
                };
                let mut item = self.plain_item(table.clone(), &excluded, 3, 0)?;
                let excluded_rte = item.rte;
                self.level().range_table[excluded_rte].in_from = false;
                item.relation = Oid::INVALID;
                item.cols_visible = false;
                let rte = target.rte;
                self.level().namespace.push(item);
                let targets = self.set_list(list, table, rte, relation)?;
                let filter = self.opt_condition(filter.as_ref(), Place::Where)?;
                Some(ConflictUpdate { targets, filter, excluded_rte })
            }
        };
        Ok(OnConflict { constraint, update, inference })
    }

    /// The constraint named, whose columns the user must be allowed to read.
    fn conflict_constraint(&mut self, table: &Table, name: &str, rte: usize) -> SqlResult<Oid> {
        let index = self.catalog.constraint_index(table.oid, name)?;
        let Some(index) = index.and_then(|oid| table.indexes.iter().find(|i| i.oid == oid)) else {
            return Err(sql_err!(
                UNDEFINED_OBJECT,
                "constraint \"{name}\" for table \"{}\" does not exist",
                table.name
            ));
        };
        if let Some(access) = &mut self.level().range_table[rte].access {
            access.required |= crate::query::access::SELECT;
            access.selected.extend(&index.keys);
            access.selected.sort_unstable();
            access.selected.dedup();
        }
        Ok(index.constraint)
    }

    /// The keys that tell which indexes are meant.
    fn inference(&mut self, elements: &[ast::IndexElement]) -> SqlResult<Vec<InferenceElement>> {
        let mut out = Vec::new();
        for e in elements {
            if e.direction != ast::SortDirection::Default {
                let error =
                    sql_err!(INVALID_COLUMN_REFERENCE, "ASC/DESC is not allowed in ON CONFLICT clause");
                return Err(self.at(error, e.location));
            }
            if e.nulls != ast::SortNulls::Default {
                let error = sql_err!(
                    INVALID_COLUMN_REFERENCE,
                    "NULLS FIRST/LAST is not allowed in ON CONFLICT clause"
                );
                return Err(self.at(error, e.location));
            }
            let collation = e.collation.as_ref().map(|name| self.collation(name, e.location)).transpose()?;
            let opclass = e.opclass.as_ref().map(|name| self.unique_index_class(name)).transpose()?;
            let expr = match (&e.column, &e.expr) {
                (Some(name), _) => {
                    let reference = ast::ColumnRef {
                        fields: vec![Indirection::Field(name.clone())],
                        location: e.location,
                    };
                    self.column_ref(&reference)?
                }
                (None, Some(expr)) => self.in_place(Place::IndexExpression, |a| a.expr(expr))?,
                (None, None) => return Err(SqlError::internal("empty index element")),
            };
            self.mark_selected(&expr, 0);
            out.push(InferenceElement {
                expr,
                collation: collation.unwrap_or_default(),
                opclass: opclass.unwrap_or_default(),
            });
        }
        Ok(out)
    }
}
