//! MERGE: the join of target and source, and its arms.
//!
//! The target is the nullable side where rows of the source may be inserted, the source where rows of the target may be without match;
//! both where both may be. What an arm writes is computed by the node that writes, from the target's row as it is then.

use std::sync::Arc;

use analyze::{self as a, Query};
use base::SqlResult;
use catalog::view::{Generated, Table};
use tuple::Datum;
use types::oids;

use crate::convert::Converter;
use crate::expr::{Expr, RelId, Test, Var};
use crate::logical::{Block, From, Target};
use crate::plan::{Command, JoinKind, Merge, MergeAction, MergeMatch};
use crate::walk::flatten_and;

/// Whether an action other than DO NOTHING applies to such rows.
fn acts(query: &Query, matched: MergeMatch) -> bool {
    query.merge_actions.iter().any(|a| a.matched == matched && a.command != a::Command::Utility)
}

impl Converter<'_, '_> {
    /// FROM of a MERGE.
    pub(crate) fn merge_join(&mut self, query: &Query, block: &mut Block) -> SqlResult<()> {
        self.scope().is_merge = true;
        let Some((source, on)) = &query.merge_join else {
            return Err(base::SqlError::internal("MERGE without a source"));
        };
        let target = self.rows_of_target(query)?;
        let source = vec![self.join_tree_node(source)?];
        let mut quals = Vec::new();
        flatten_and(self.expr(on)?, &mut quals);
        let mut filter = Vec::new();
        if let Some(condition) = &query.join_tree.filter {
            flatten_and(self.expr(condition)?, &mut filter);
        }
        let target_side = vec![From::Rel(target)];
        let by_source = acts(query, MergeMatch::NotMatchedBySource);
        let (kind, left, right) = match (by_source, acts(query, MergeMatch::NotMatchedByTarget)) {
            (false, false) => {
                block.from = target_side.into_iter().chain(source).collect();
                block.quals.append(&mut quals);
                block.quals.append(&mut filter);
                return Ok(());
            }
            (false, true) => {
                // Rows of the target that its view hides match nothing.
                quals.append(&mut filter);
                (JoinKind::Left, source, target_side)
            }
            (true, false) => (JoinKind::Left, target_side, source),
            (true, true) => {
                quals.extend(filter.iter().cloned());
                (JoinKind::Full, target_side, source)
            }
        };
        block.from = vec![From::Join { kind, left, right, quals }];
        let place = self.planner.row_marker(target)?;
        for condition in filter {
            block.quals.push(match kind {
                JoinKind::Full => {
                    let absent = Expr::Test(Test::IsNull, Box::new(place.clone()));
                    Expr::Or(vec![absent, condition])
                }
                _ => condition,
            });
        }
        Ok(())
    }

    /// The arms; what they need of the source's rows goes to `targets`.
    pub(crate) fn merge(
        &mut self,
        query: &Query,
        table: &Arc<Table>,
        targets: &mut Vec<Target>,
    ) -> SqlResult<Merge> {
        let mut source_there = None;
        if acts(query, MergeMatch::NotMatchedBySource)
            && let Some((source, _)) = &query.merge_join
        {
            let source = self.join_tree_node(source)?;
            let expr = self.is_there(&source)?;
            source_there = Some(targets.len());
            targets.push(Target { expr, name: "".into(), junk: true });
        }
        let mut actions = Vec::with_capacity(query.merge_actions.len());
        for action in &query.merge_actions {
            actions.push(self.merge_arm(action, table)?);
        }
        Ok(Merge { actions, source_there, action_cell: None })
    }

    fn merge_arm(&mut self, action: &a::MergeAction, table: &Arc<Table>) -> SqlResult<MergeAction> {
        let command = match action.command {
            a::Command::Insert => Some(Command::Insert),
            a::Command::Update => Some(Command::Update),
            a::Command::Delete => Some(Command::Delete),
            _ => None,
        };
        let mut out = MergeAction {
            matched: action.matched,
            command,
            condition: Vec::new(),
            multi: Vec::new(),
            set: Vec::new(),
        };
        if let Some(condition) = &action.condition {
            flatten_and(self.expr(condition)?, &mut out.condition);
        }
        for entry in &action.targets {
            let value = self.expr(&entry.expr)?;
            if entry.junk { out.multi.push(value) } else { out.set.push((entry.resno, value)) }
        }
        if command == Some(Command::Insert) {
            for (i, column) in table.columns.iter().enumerate() {
                let number = i as i16 + 1;
                let given = column.dropped || out.set.iter().any(|(n, _)| *n == number);
                if !given && column.generated == Generated::None {
                    let (type_oid, typmod) = (column.type_oid, column.typmod);
                    let null = Expr::Const { value: Datum::Null, type_oid, typmod };
                    out.set.push((number, self.null_of(null, column)?));
                }
            }
        }
        Ok(out)
    }

    /// An expression that tells whether an item of FROM on the nullable side of a join has a row.
    fn is_there(&mut self, item: &From) -> SqlResult<Expr> {
        Ok(match item {
            From::Rel(rel) => {
                let marker = self.planner.row_marker(*rel)?;
                Expr::Test(Test::IsNotNull, Box::new(marker))
            }
            From::Join { kind, left, right, .. } => {
                let mut parts = Vec::new();
                for side in [left.first(), right.first()].into_iter().flatten() {
                    parts.push(self.is_there(side)?);
                }
                if *kind == JoinKind::Full { Expr::Or(parts) } else { parts.swap_remove(0) }
            }
        })
    }

    /// `merge_action()`: what the innermost MERGE around is doing.
    pub(crate) fn merge_action_name(&mut self) -> SqlResult<Expr> {
        let Some(at) = self.scopes.iter().rposition(|scope| scope.is_merge) else {
            return Err(base::SqlError::internal("MERGE_ACTION() outside MERGE"));
        };
        let cell = match self.scopes[at].merge_action {
            Some(cell) => cell,
            None => self.planner.new_cell(),
        };
        self.scopes[at].merge_action = Some(cell);
        Ok(Expr::ExecParam { id: cell, type_oid: oids::text, source: None })
    }
}

/// The `ctid` of a table's row.
fn place_of(rel: RelId) -> Expr {
    Expr::Var(Var { rel, column: -1, type_oid: oids::tid, typmod: -1 })
}

impl crate::planner::Planner<'_> {
    /// An expression that is NULL where an outer join found no row of a relation: the `ctid` of a table, or the whole row of other relations.
    pub(crate) fn row_marker(&mut self, rel: RelId) -> SqlResult<Expr> {
        if self.sources[rel].is_table() {
            return Ok(place_of(rel));
        }
        self.row_as_value(rel)
    }

    /// A relation's whole row.
    pub(crate) fn row_as_value(&mut self, rel: RelId) -> SqlResult<Expr> {
        let type_oid = self.whole_rows.get(&rel).map_or(oids::record, |row| row.type_oid);
        self.whole_row(rel, type_oid)?;
        Ok(Expr::Var(Var { rel, column: 0, type_oid, typmod: -1 }))
    }
}
