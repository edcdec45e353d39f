//! Views whose INSTEAD OF triggers carry changes out.
//!
//! What: such a view stays the target of the statement. UPDATE, DELETE and MERGE find its present rows in an entry of their own, the view's
//! query: [`Query::instead`]. Expressions of the statement are over that entry, RETURNING over the row that the triggers leave.
//!
//! PostgreSQL counterpart: `view_has_instead_trigger` and `ApplyRetrieveRule` of `rewriteHandler.c`.

use std::convert::Infallible;

use base::{SqlError, SqlResult, sql_err};
use catalog::TriggerKind;
use catalog::view::{RelationKind, Table};

use crate::core::Analyzer;
use crate::expr::Expr;
use crate::expr_transform::typed_null;
use crate::query::{Command, Query, RteKind, Subquery};
use crate::updatable::replace_entry;
use crate::walk;

impl Analyzer<'_> {
    /// Prepares a statement that triggers of its target carry out, if that is a view.
    pub(crate) fn instead(&mut self, query: &mut Query, rte: usize, view: &Table) -> SqlResult<()> {
        if view.kind != RelationKind::View {
            return Ok(());
        }
        if query.on_conflict.is_some() {
            return Err(SqlError::not_supported("ON CONFLICT on a view with INSTEAD OF triggers"));
        }
        match query.command {
            Command::Insert => leave_open_null(query),
            _ => self.read_view(query, rte, view)?,
        }
        Ok(())
    }

    /// Adds the view's rows to what the statement reads.
    fn read_view(&mut self, query: &mut Query, old: usize, view: &Table) -> SqlResult<()> {
        crate::updatable::refuse_current_of(query)?;
        let below = crate::views::expand(view, self.catalog)?;
        let security_barrier = view.bool_option("security_barrier");
        let mut entry = query.range_table[old].clone();
        entry.kind = RteKind::Subquery(Subquery { query: Box::new(below), view: view.oid, security_barrier });
        // Rights are asked of the target.
        entry.access = None;
        entry.in_from = true;
        query.range_table[old].in_from = false;
        query.range_table.push(entry);
        let new = query.range_table.len() - 1;
        query.instead = Some(new);
        for node in &mut query.join_tree.items {
            replace_entry(node, old, new);
        }
        let returning = std::mem::take(&mut query.returning);
        let checks = std::mem::take(&mut query.view_checks);
        let actions = std::mem::take(&mut query.merge_actions);
        let _ = walk::visit_query_mut::<Infallible>(query, 0, &mut |e, depth| {
            if let Expr::Var(var) = e
                && (var.rte, var.levels_up) == (old, depth)
            {
                var.rte = new;
            }
            Ok(true)
        });
        (query.returning, query.view_checks, query.merge_actions) = (returning, checks, actions);
        Ok(())
    }
}

/// Whether triggers of a view carry out all that a statement does.
pub(crate) fn is_handled(query: &Query, view: &Table) -> SqlResult<bool> {
    let has = |command: Command| {
        let event = match command {
            Command::Insert => TriggerKind::INSERT,
            Command::Update => TriggerKind::UPDATE,
            _ => TriggerKind::DELETE,
        };
        let wanted = TriggerKind::ROW | TriggerKind::INSTEAD | event;
        view.triggers.iter().any(|trigger| trigger.kind.has(wanted))
    };
    if query.command != Command::Merge {
        return Ok(has(query.command));
    }
    let acts = |c: &Command| matches!(c, Command::Insert | Command::Update | Command::Delete);
    let mut actions = query.merge_actions.iter().map(|action| action.command).filter(acts);
    let (some, all) = (actions.clone().any(has), actions.all(has));
    if some && !all {
        return Err(sql_err!(FEATURE_NOT_SUPPORTED, "cannot merge into view \"{}\"", view.name)
            .detail("MERGE is not supported for views with INSTEAD OF triggers for some actions but not all.")
            .hint("To enable merging into the view, either provide a full set of INSTEAD OF triggers or drop the existing INSTEAD OF triggers."));
    }
    Ok(some)
}

/// DEFAULT in rows of VALUES that no view has filled in.
pub(crate) fn leave_open_null(query: &mut Query) {
    for entry in &mut query.range_table {
        let RteKind::Values(values) = &mut entry.kind else { continue };
        for value in values.rows.iter_mut().flatten() {
            if let Expr::Default(open) = value {
                *value = typed_null(open.type_oid, open.typmod, open.collation);
            }
        }
    }
}
