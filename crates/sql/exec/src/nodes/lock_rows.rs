//! SELECT … FOR UPDATE and FOR NO KEY UPDATE.

use std::sync::Arc;

use base::{Oid, SqlError, SqlResult};
use heap::HeapRel;
use plan::{Expr, ParamId, Plan, RelId, RowLockStrength, RowLockWait, RowMark};
use tuple::Datum;

use super::table_scan::{datum_tid, heap_of};
use super::{BoxNode, Builder, Node};
use crate::cx::Cx;
use crate::recheck::{self, Newest};

/// A row locking node.
pub fn build<'p>(builder: &mut Builder<'p>, child: &'p Plan, marks: &[RowMark]) -> SqlResult<BoxNode> {
    let mut compiled = Vec::new();
    for mark in marks {
        let is_ctid = |e: &Expr| matches!(e, Expr::Var(v) if v.rel == mark.rel && v.column == -1);
        let place = child.output.iter().position(is_ctid);
        let place = place.ok_or_else(|| SqlError::internal("ctid of a locked relation not found"))?;
        let strength = match mark.strength {
            RowLockStrength::KeyShare => heap::LockStrength::KeyShare,
            RowLockStrength::Share => heap::LockStrength::Share,
            RowLockStrength::NoKeyUpdate => heap::LockStrength::NoKeyUpdate,
            RowLockStrength::Update => heap::LockStrength::Update,
        };
        let (tables, table_place) = match mark.tree {
            false => (vec![Locked::new(builder, mark.rel)?], None),
            true => {
                let is_oid = |e: &Expr| matches!(e, Expr::Var(v) if v.rel == mark.rel && v.column == -6);
                let place = child.output.iter().position(is_oid);
                let place =
                    place.ok_or_else(|| SqlError::internal("tableoid of a locked relation not found"))?;
                (members(builder, child, mark.rel)?, Some(place))
            }
        };
        compiled.push(Mark { rel: mark.rel, tables, table_place, place, strength, wait: mark.wait });
    }
    Ok(Box::new(LockRows { child: builder.build(child)?, marks: compiled, row: Vec::new() }))
}

/// The tables of the tree that `rel` stands for.
fn members(builder: &Builder<'_>, plan: &Plan, rel: RelId) -> SqlResult<Vec<Locked>> {
    if let plan::Node::Append { tree: Some(tree), .. } | plan::Node::MergeAppend { tree, .. } = &plan.node
        && tree.rel == rel
    {
        return tree.members.iter().map(|m| Locked::new(builder, *m)).collect();
    }
    let mut found = Ok(Vec::new());
    plan.for_children(&mut |child| {
        if matches!(&found, Ok(list) if list.is_empty()) {
            found = members(builder, child, rel);
        }
    });
    found
}

/// A table whose rows are locked.
struct Locked {
    rel: RelId,
    heap: Arc<HeapRel>,
    oid: Oid,
    name: String,
}

impl Locked {
    fn new(builder: &Builder<'_>, rel: RelId) -> SqlResult<Locked> {
        let table = builder.statement.relations[rel].table.as_ref();
        let (oid, name) = table.map_or((Oid::INVALID, String::new()), |t| (t.oid, t.name.clone()));
        Ok(Locked { rel, heap: heap_of(builder, rel)?, oid, name })
    }
}

struct Mark {
    rel: RelId,
    /// The relation's table, or those of its tree.
    tables: Vec<Locked>,
    /// Where rows say which table they are of.
    table_place: Option<usize>,
    place: usize,
    strength: heap::LockStrength,
    wait: RowLockWait,
}

impl Mark {
    fn table_of(&self, row: &[Datum]) -> SqlResult<&Locked> {
        let table = match self.table_place.map(|place| &row[place]) {
            None => self.tables.first(),
            Some(Datum::Oid(oid)) => self.tables.iter().find(|t| t.oid == Oid(*oid)),
            Some(_) => None,
        };
        table.ok_or_else(|| SqlError::internal("a locked row is of no table"))
    }
}

struct LockRows {
    child: BoxNode,
    marks: Vec<Mark>,
    row: Vec<Datum>,
}

impl LockRows {
    fn lock_all(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        for mark in &self.marks {
            // The NULL side of an outer join has no row.
            let Some(tid) = datum_tid(&self.row[mark.place]) else { continue };
            let table = mark.table_of(&self.row)?;
            let newest =
                recheck::lock_newest(&table.heap, tid, mark.strength, mark.wait, cx).map_err(|e| {
                    if e.code() == base::SqlState::LOCK_NOT_AVAILABLE && mark.wait == RowLockWait::NoWait {
                        return base::sql_err!(
                            LOCK_NOT_AVAILABLE,
                            "could not obtain lock on row in relation \"{}\"",
                            table.name
                        );
                    }
                    e
                })?;
            match newest {
                Newest::Gone | Newest::Skipped | Newest::SelfModified => return Ok(false),
                Newest::Locked(newest) if newest == tid => {}
                Newest::Locked(newest) => {
                    let member = (table.rel, &*table.heap, table.oid);
                    match recheck::run_again(mark.rel, member, newest, cx)? {
                        Some(row) => self.row = row,
                        None => return Ok(false),
                    }
                }
            }
        }
        Ok(true)
    }
}

impl Node for LockRows {
    fn next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        while self.child.next(cx)? {
            runtime::check_interrupts().map_err(crate::error::interrupted)?;
            self.row.clear();
            self.row.extend_from_slice(self.child.row());
            if self.lock_all(cx)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn row(&self) -> &[Datum] {
        &self.row
    }

    fn rescan(&mut self, cx: &mut Cx<'_>, changed: &[ParamId]) -> SqlResult<()> {
        self.child.rescan(cx, changed)
    }

    fn close(&mut self, cx: &mut Cx<'_>) {
        self.child.close(cx);
    }
}
