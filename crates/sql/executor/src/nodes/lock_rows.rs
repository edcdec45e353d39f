//! SELECT … FOR UPDATE, FOR NO KEY UPDATE, FOR SHARE and FOR KEY SHARE.
//!
//! Where all rows are going to be read anyway, the node takes from below what lies on one page of the table and locks it together
//! ([`heap::lock_rows`]), up to the first row that somebody holds or has changed. That one is locked alone, as every row is otherwise: waiting for
//! it, a statement has locked all rows before it and none behind. What the rows below are does not depend on when they are read, as the snapshot says
//! what they are; only what functions do between two rows could tell, so that one of those puts an end to it ([`may_lock_ahead`]). An index scan right
//! below that gives all it finds locks such rows itself, in the same look at the page ([`PageLock`]).
//!
//! SKIP LOCKED looks whether somebody has the row before it asks for the page: workers at one queue of jobs pass what the others have taken side by side.

use std::sync::Arc;

use base::{OffsetNo, Oid, SqlError, SqlResult, Tid};
use eval::cx::Cx;
use eval::node::datum_tid;
use eval::spill::row_bytes;
use heap::{HeapRel, Wanted};
use plan::{Expr, ParamId, Plan, RelId, RowLockStrength, RowLockWait, RowMark, Statement};
use tuple::Datum;

use super::ahead::PageLock;
use super::table_scan::heap_of;
use super::{BoxNode, Builder, Drained, Node, Origin};
use crate::recheck::{self, Given, Newest, Reference};

/// Most rows that are taken from below before the first of them is given.
const MOST_AHEAD: usize = 256;
/// Bytes of rows from which on no more are taken.
const BYTES_AHEAD: usize = 128 * 1024;

/// A row locking node.
pub fn build<'p>(
    builder: &mut Builder<'p>,
    child: &'p Plan,
    marks: &[RowMark],
    drained: Drained,
) -> SqlResult<BoxNode> {
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
    let ahead = match compiled.len() == 1 && may_lock_ahead(builder.statement) {
        true => drained,
        false => Drained::Unknown,
    };
    // Of several tables, or with a filter, a scan does not know what is to be locked; nor does one that may read rows before their turn.
    let scans = matches!(&child.node, plan::Node::IndexScan { rel, distances, .. } if *rel == marked[0] && distances.is_empty());
    let by_scan = scans && ahead != Drained::Unknown && child.filter.is_empty();
    builder.page_lock = by_scan.then(|| PageLock::new(compiled[0].strength, ahead));
    let child = builder.build(child)?;
    builder.page_lock = None;
    Ok(Box::new(LockRows {
        child,
        marks: compiled,
        others,
        ahead: if by_scan { Drained::Unknown } else { ahead },
        by_scan,
        direct: false,
        taken: Taken::default(),
        places: Vec::new(),
    }))
}

/// Whether nothing happens between two rows of a statement that could tell whether the second has been locked. Functions that have an effect might:
/// those of users anywhere, others where they are called for each row.
fn may_lock_ahead(statement: &Statement) -> bool {
    let in_subplans = statement.subplans.iter().any(|sub| calls(&sub.plan, &|f| f.user().is_some()));
    !in_subplans && !calls(&statement.plan, &|_| true)
}

/// Whether an expression of the plan calls a volatile function that is `meant`.
pub fn calls(plan: &Plan, meant: &dyn Fn(&plan::Function) -> bool) -> bool {
    let mut found = false;
    plan.for_exprs(&mut |expr| found = found || expr.calls_volatile(meant));
    plan.for_children(&mut |child| found = found || calls(child, meant));
    found
}

/// The members of the tree that `rel` stands for below a plan.
pub fn members(plan: &Plan, rel: RelId) -> Vec<RelId> {
    if let plan::Node::Append { tree: Some(tree), .. } | plan::Node::MergeAppend { tree: Some(tree), .. } =
        &plan.node
        && let Some(members) = tree.members_of(rel)
    {
        return members;
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
        if self.wait == RowLockWait::SkipLocked && self.is_held(table, tid, cx)? {
            return Ok(Newest::Skipped);
        }
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

impl Mark {
    /// Whether somebody has the row. Many who look for one that is free need not keep each other from the page for that.
    fn is_held(&self, table: &Locked, tid: Tid, cx: &Cx<'_>) -> SqlResult<bool> {
        let me = cx.env.txn.borrow();
        heap::is_held(&cx.env.access, &table.heap, &me, tid, self.strength).map_err(eval::error::heap)
    }
}

/// Rows taken from below that belong to one page, or one alone.
#[derive(Default)]
struct Taken {
    /// Of these the first `count` are in use; the others keep their memory.
    rows: Vec<Vec<Datum>>,
    count: usize,
    /// The present one.
    at: usize,
    /// Those before this one are locked.
    locked: usize,
    /// The child has a row that is not among them.
    waits: bool,
    /// The child has no more.
    ended: bool,
}

impl Taken {
    fn push(&mut self, row: &[Datum]) {
        if self.count == self.rows.len() {
            self.rows.push(Vec::new());
        }
        self.rows[self.count].clear();
        self.rows[self.count].extend_from_slice(row);
        self.count += 1;
    }

    fn clear(&mut self) {
        (self.count, self.at, self.locked) = (0, 0, 0);
    }

    /// Forgets the rows and where the child stands.
    fn reset(&mut self) {
        let mut rows = std::mem::take(&mut self.rows);
        rows.truncate(1);
        rows.iter_mut().for_each(Vec::clear);
        *self = Taken { rows, ..Taken::default() };
    }

    fn row(&self) -> &[Datum] {
        &self.rows[self.at]
    }
}

struct LockRows {
    child: BoxNode,
    marks: Vec<Mark>,
    /// Tables that are not locked.
    others: Vec<Reference>,
    /// Whether rows are taken from below by the page.
    ahead: Drained,
    /// The child may have locked a row that it gives.
    by_scan: bool,
    /// The present row is the child's, which has locked it.
    direct: bool,
    taken: Taken,
    places: Vec<OffsetNo>,
}

impl LockRows {
    /// Moves to the next row, which may be locked already; false if there is none.
    fn advance(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        if self.taken.at + 1 < self.taken.count {
            self.taken.at += 1;
            return Ok(true);
        }
        self.taken.clear();
        self.direct = false;
        if !self.take(cx)? {
            return Ok(false);
        }
        if self.by_scan && self.child.is_locked() {
            (self.direct, self.taken.waits) = (true, false);
            return Ok(true);
        }
        self.taken.push(self.child.row());
        self.taken.waits = false;
        if self.ahead.is_so(cx) {
            self.take_page(cx)?;
        }
        Ok(true)
    }

    /// Whether the child stands on a row that has not been used.
    fn take(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        if !self.taken.waits && !self.taken.ended {
            self.taken.waits = self.child.next(cx)?;
            self.taken.ended = !self.taken.waits;
        }
        Ok(self.taken.waits)
    }

    /// Takes the rows from below that lie on the same page as the first.
    fn take_page(&mut self, cx: &mut Cx<'_>) -> SqlResult<()> {
        let Some(mark) = self.marks.first() else { return Ok(()) };
        let (place, table_place) = (mark.place, mark.table_place);
        let Some(first) = datum_tid(&self.taken.rows[0][place]) else { return Ok(()) };
        let mut bytes = row_bytes(&self.taken.rows[0]);
        while self.taken.count < MOST_AHEAD && bytes < BYTES_AHEAD && self.take(cx)? {
            let row = self.child.row();
            let same_page = datum_tid(&row[place]).is_some_and(|tid| tid.block == first.block);
            if !same_page || table_place.is_some_and(|place| row[place] != self.taken.rows[0][place]) {
                return Ok(());
            }
            bytes += row_bytes(row);
            self.taken.push(row);
            self.taken.waits = false;
        }
        Ok(())
    }

    /// Locks the present row and those behind it, as far as that needs no more than a stamp on each.
    fn lock_ahead(&mut self, cx: &mut Cx<'_>) -> SqlResult<()> {
        let (mark, taken) = (&self.marks[0], &mut self.taken);
        let rows = &taken.rows[taken.at..taken.count];
        let table = mark.table_of(&rows[0])?;
        let tids = || rows.iter().filter_map(|row| datum_tid(&row[mark.place]));
        let Some(Tid { block, .. }) = tids().next() else { return Ok(()) };
        self.places.clear();
        self.places.extend(tids().map(|tid| tid.offset));
        let (page, holders) = ((block, self.places.as_slice()), cx.env.holders);
        let locked = cx.with_writer(&table.heap, |access, writer| {
            heap::lock_rows(access, &table.heap, writer, page, mark.strength, &mut holders.borrow_mut())
        })?;
        taken.locked = taken.at + locked.map_err(eval::error::heap)?;
        Ok(())
    }

    /// Locks the present row; false if it is none of the result any more.
    fn lock(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        if self.taken.at >= self.taken.locked && self.taken.at + 1 < self.taken.count {
            self.lock_ahead(cx)?;
        }
        if self.taken.at < self.taken.locked {
            return Ok(true);
        }
        self.lock_all(cx)
    }

    /// Locks all that the row consists of. If others changed some of it, the row is made and checked again from the newest versions.
    fn lock_all(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        let mut changed = false;
        let mut given = Vec::with_capacity(self.marks.len() + self.others.len());
        let row = self.taken.row();
        for mark in &self.marks {
            let Some(tid) = datum_tid(&row[mark.place]) else {
                // The NULL side of an outer join has no row.
                given.extend(mark.tables.iter().map(|table| table.version(None)));
                continue;
            };
            let table = mark.table_of(row)?;
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
        given.extend(self.others.iter().map(|reference| reference.of(row)));
        let Some(row) = recheck::run_again(self.marks[0].rel, &given, cx)? else { return Ok(false) };
        self.taken.rows[self.taken.at] = row;
        Ok(true)
    }
}

impl Node for LockRows {
    fn next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        while self.advance(cx)? {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            if self.direct || self.lock(cx)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn row(&self) -> &[Datum] {
        if self.direct { self.child.row() } else { self.taken.row() }
    }

    fn skip(&mut self, cx: &mut Cx<'_>) -> SqlResult<usize> {
        if self.by_scan && !self.taken.waits { self.child.skip(cx) } else { Ok(0) }
    }

    fn origins(&self, found: &mut Vec<Origin>) {
        let row = self.row();
        for mark in &self.marks {
            if let (Some(tid), Ok(table)) = (datum_tid(&row[mark.place]), mark.table_of(row)) {
                found.push((table.oid, tid));
            }
        }
    }

    fn rescan(&mut self, cx: &mut Cx<'_>, changed: &[ParamId]) -> SqlResult<()> {
        self.direct = false;
        self.taken.reset();
        self.child.rescan(cx, changed)
    }

    fn close(&mut self, cx: &mut Cx<'_>) {
        self.direct = false;
        self.taken.reset();
        self.child.close(cx);
    }
}
