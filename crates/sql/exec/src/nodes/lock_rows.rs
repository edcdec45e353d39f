//! SELECT … FOR UPDATE, FOR NO KEY UPDATE, FOR SHARE and FOR KEY SHARE.

use std::sync::Arc;

use base::{Oid, SqlError, SqlResult, Tid};
use heap::{HeapRel, Wanted};
use plan::{Expr, ParamId, Plan, RelId, RowLockStrength, RowLockWait, RowMark};
use tuple::Datum;

use super::table_scan::{datum_tid, heap_of};
use super::{BoxNode, Builder, Node, Origin};
use crate::cx::Cx;
use crate::recheck::{self, Given, Newest, Reference};

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
                {
                    let members = members(child, mark.rel).into_iter();
                    (members.map(|m| Locked::new(builder, m)).collect::<SqlResult<_>>()?, Some(place))
                }
            }
        };
        compiled.push(Mark { rel: mark.rel, tables, table_place, place, strength, wait: mark.wait });
    }
    let marked: Vec<RelId> = marks.iter().map(|mark| mark.rel).collect();
    let others = recheck::references(builder.statement, &child.output, &marked);
    Ok(Box::new(LockRows { child: builder.build(child)?, marks: compiled, others, row: Vec::new() }))
}

/// The members of the tree that `rel` stands for below a plan.
pub fn members(plan: &Plan, rel: RelId) -> Vec<RelId> {
    if let plan::Node::Append { tree: Some(tree), .. } | plan::Node::MergeAppend { tree, .. } = &plan.node
        && tree.rel == rel
    {
        return tree.members.clone();
    }
    let mut found = Vec::new();
    plan.for_children(&mut |child| {
        if found.is_empty() {
            found = members(child, rel);
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

    fn version(&self, tid: Option<Tid>) -> Given<'_> {
        Given { rel: self.rel, heap: &self.heap, table: self.oid, tid }
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

    /// Locks the row of which the statement sees the version at `tid`.
    fn lock(&self, table: &Locked, tid: Tid, cx: &mut Cx<'_>) -> SqlResult<Newest> {
        recheck::lock_row((table.oid, &table.heap), (tid, Wanted::Seen), self.strength, self.wait, cx)
            .map_err(|error| {
                if error.code() == base::SqlState::LOCK_NOT_AVAILABLE && self.wait == RowLockWait::NoWait {
                    return base::sql_err!(
                        LOCK_NOT_AVAILABLE,
                        "could not obtain lock on row in relation \"{}\"",
                        table.name
                    );
                }
                error
            })
    }
}

struct LockRows {
    child: BoxNode,
    marks: Vec<Mark>,
    /// Tables that are not locked.
    others: Vec<Reference>,
    row: Vec<Datum>,
}

impl LockRows {
    /// Locks all that the row consists of. If others changed some of it, the row is made and checked again from the newest versions.
    fn lock_all(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        let mut changed = false;
        let mut given = Vec::with_capacity(self.marks.len() + self.others.len());
        for mark in &self.marks {
            let Some(tid) = datum_tid(&self.row[mark.place]) else {
                // The NULL side of an outer join has no row.
                given.extend(mark.tables.iter().map(|table| table.version(None)));
                continue;
            };
            let table = mark.table_of(&self.row)?;
            match mark.lock(table, tid, cx)? {
                Newest::Gone | Newest::Skipped | Newest::SelfModified => return Ok(false),
                Newest::Locked(newest) => {
                    changed |= newest != tid;
                    given.push(table.version(Some(newest)));
                }
            }
        }
        if !changed {
            return Ok(true);
        }
        given.extend(self.others.iter().map(|reference| reference.of(&self.row)));
        let Some(row) = recheck::run_again(self.marks[0].rel, &given, cx)? else { return Ok(false) };
        self.row = row;
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

    fn origins(&self, found: &mut Vec<Origin>) {
        for mark in &self.marks {
            if let (Some(tid), Ok(table)) = (datum_tid(&self.row[mark.place]), mark.table_of(&self.row)) {
                found.push((table.oid, tid));
            }
        }
    }

    fn rescan(&mut self, cx: &mut Cx<'_>, changed: &[ParamId]) -> SqlResult<()> {
        self.child.rescan(cx, changed)
    }

    fn close(&mut self, cx: &mut Cx<'_>) {
        self.child.close(cx);
    }
}
