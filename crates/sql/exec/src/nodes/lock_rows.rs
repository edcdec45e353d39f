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
        let table = builder.statement.relations[mark.rel].table.as_ref();
        let (oid, name) = table.map_or((Oid::INVALID, String::new()), |t| (t.oid, t.name.clone()));
        let heap = heap_of(builder, mark.rel)?;
        compiled.push(Mark { rel: mark.rel, heap, table: oid, name, place, strength, wait: mark.wait });
    }
    Ok(Box::new(LockRows { child: builder.build(child)?, marks: compiled, row: Vec::new() }))
}

struct Mark {
    rel: RelId,
    heap: Arc<HeapRel>,
    table: Oid,
    name: String,
    place: usize,
    strength: heap::LockStrength,
    wait: RowLockWait,
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
            let newest =
                recheck::lock_newest(&mark.heap, tid, mark.strength, mark.wait, cx).map_err(|e| {
                    if e.code() == base::SqlState::LOCK_NOT_AVAILABLE && mark.wait == RowLockWait::NoWait {
                        return base::sql_err!(
                            LOCK_NOT_AVAILABLE,
                            "could not obtain lock on row in relation \"{}\"",
                            mark.name
                        );
                    }
                    e
                })?;
            match newest {
                Newest::Gone | Newest::Skipped | Newest::SelfModified => return Ok(false),
                Newest::Locked(newest) if newest == tid => {}
                Newest::Locked(newest) => {
                    match recheck::run_again(mark.rel, &mark.heap, mark.table, newest, cx)? {
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
