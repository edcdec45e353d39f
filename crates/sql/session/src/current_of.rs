//! WHERE CURRENT OF: the row of a table that a cursor stands on.
//!
//! # PostgreSQL counterpart
//! `execCurrent.c`.

use base::{Oid, SqlError, SqlResult, Tid, sql_err};
use catalog::CatalogView;
use executor::nodes::members;
use plan::{Node, Plan, RelId, Statement};

use super::Session;
use super::statement::Work;

impl Session {
    /// Place of the row of a table that a cursor stands on; `None` if its row is of other members of the table's tree.
    pub(crate) fn current_of(&self, name: &str, table: Oid) -> SqlResult<Option<Tid>> {
        let portals = self.portals.borrow();
        let missing = || sql_err!(INVALID_CURSOR_NAME, "cursor \"{name}\" does not exist");
        let portal = portals.get(name).ok_or_else(missing)?;
        if matches!(portal.source.work, Work::Utility(_) | Work::Empty) {
            return Err(sql_err!(INVALID_CURSOR_STATE, "cursor \"{name}\" is not a SELECT query"));
        }
        if portal.is_held() {
            return Err(sql_err!(
                INVALID_CURSOR_STATE,
                "cursor \"{name}\" is held from a previous transaction"
            ));
        }
        let nowhere = || sql_err!(INVALID_CURSOR_STATE, "cursor \"{name}\" is not positioned on a row");
        let (statement, mut origins) = portal.current().ok_or_else(nowhere)?;
        if statement.modifies && statement.command != plan::Command::Select {
            return Err(sql_err!(INVALID_CURSOR_STATE, "cursor \"{name}\" is not a SELECT query"));
        }
        let mut on_row = !origins.is_empty();
        if let Some(cursor) = &portal.cursor {
            on_row = cursor.on_row();
            if on_row && let Some(kept) = cursor.kept_origins()? {
                origins = kept;
            }
        }
        drop(portals);
        self.check_updatable(name, &statement, table)?;
        if !on_row {
            return Err(nowhere());
        }
        Ok(origins.into_iter().find(|(of, _)| *of == table).map(|(_, tid)| tid))
    }

    /// Whether the rows of a cursor are rows of the table: locked by it, or read one by one.
    fn check_updatable(&self, name: &str, statement: &Statement, table: Oid) -> SqlResult<()> {
        let of = |rel: RelId| statement.relations[rel].table.as_ref().is_some_and(|t| t.oid == table);
        let what = match locked(&statement.plan, &of) {
            Some(1) => return Ok(()),
            Some(0) => "does not have a FOR UPDATE/SHARE reference to table",
            Some(_) => "has multiple FOR UPDATE/SHARE references to table",
            None if scans(&statement.plan, &of) == 1 => return Ok(()),
            None => "is not a simply updatable scan of table",
        };
        Err(self.unfit(name, what, table)?)
    }

    fn unfit(&self, name: &str, what: &str, table: Oid) -> SqlResult<SqlError> {
        let table = self.with_reader(|reader| reader.relation_by_oid(table))?;
        let table = table.map_or_else(String::new, |table| table.name.to_string());
        Ok(sql_err!(INVALID_CURSOR_STATE, "cursor \"{name}\" {what} \"{table}\""))
    }
}

/// How many locks on rows of the table a plan takes; `None` if it locks no rows at all.
fn locked(plan: &Plan, of: &dyn Fn(RelId) -> bool) -> Option<usize> {
    let mut count = None;
    if let Node::LockRows { child, marks } = &plan.node {
        let tables = |rel, tree| if tree { members(child, rel) } else { vec![rel] };
        let rels = marks.iter().flat_map(|mark| tables(mark.rel, mark.tree));
        count = Some(rels.filter(|rel| of(*rel)).count());
    }
    plan.for_children(&mut |child| {
        if let Some(more) = locked(child, of) {
            count = Some(count.unwrap_or(0) + more);
        }
    });
    count
}

/// Number of scans of the table whose rows are passed on one by one.
fn scans(plan: &Plan, of: &dyn Fn(RelId) -> bool) -> usize {
    match &plan.node {
        Node::SeqScan { rel, .. }
        | Node::SampleScan { rel, .. }
        | Node::IndexScan { rel, .. }
        | Node::IndexOnlyScan { rel, .. }
        | Node::BitmapHeapScan { rel, .. }
        | Node::TidScan { rel, .. } => usize::from(of(*rel)),
        Node::Append { children, .. } => children.iter().map(|child| scans(child, of)).sum(),
        Node::Result { child: Some(child), .. }
        | Node::Limit { child, .. }
        | Node::SubqueryScan { child, .. } => scans(child, of),
        _ => 0,
    }
}
