//! Rows that other transactions changed meanwhile: waiting, locking the newest version, checking conditions again.
//!
//! Who waits for a row stands in its queue, a heavyweight lock on the version that he found, and holds that lock until his transaction ends once he
//! has come to its head: so the end of a transaction wakes one of those who wait for its row, however many there are. The queue moves along with the
//! row: its head takes it to the newest version that it finds ([`txn::Transaction::carry_queue`]), and a commit to the one that it wrote
//! ([`txn::Transaction::row_moved`]). Who finds the row free, and a crowd waiting for it, queues too ([`is_crowded`]); if its statement has done nothing
//! yet, without its snapshot ([`come_in_turn`]).

use std::sync::Arc;

use base::{Oid, SqlError, SqlResult, Tid, Xid, sql_err};
use eval::cx::{Cx, GivenRow};
use eval::node::{datum_tid, tid_datum};
use eval::turn::Turn;
use heap::{HeapRel, HeapTuple, Later, LockOutcome, LockStrength, Refusal, View, Wanted};
use plan::{Expr, Node as PlanNode, Plan, RelId, RowLockWait, Statement, Var};
use tuple::Datum;
use txn::{LockMode, LockTag, Snapshot};

use crate::nodes::Builder;

/// What became of a row that was to be changed or locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Newest {
    /// The newest version, locked (or free to be tried again if it is the one asked for).
    Locked(Tid),
    /// Deleted.
    Gone,
    /// This command changed it already.
    SelfModified,
    /// Locked by another, SKIP LOCKED.
    Skipped,
}

fn serialization(what: &str) -> SqlError {
    sql_err!(T_R_SERIALIZATION_FAILURE, "could not serialize access due to concurrent {what}")
}

/// Another transaction put the row into another partition.
fn moved(cx: &Cx<'_>) -> SqlError {
    if cx.env.fixed_snapshot {
        return serialization("update");
    }
    sql_err!(
        T_R_SERIALIZATION_FAILURE,
        "tuple to be locked was already moved to another partition due to concurrent update"
    )
}

/// A table: its OID and its rows.
pub type Table<'a> = (Oid, &'a HeapRel);

/// Locks on it are places in the queue for the row.
fn row_tag((table, heap): Table<'_>, tid: Tid) -> LockTag {
    LockTag::Tuple { database: heap.desc.file.database, relation: table, tid }
}

/// A row was updated.
#[inline]
pub fn row_moved(table: Table<'_>, from: Tid, to: Tid, cx: &Cx<'_>) {
    cx.env.txn.borrow_mut().row_moved(row_tag(table, from), row_tag(table, to));
}

/// The queue of transactions that wait for a row.
struct Queue<'h> {
    table: Table<'h>,
    strength: LockStrength,
    /// The version in whose queue it is, at the head.
    at: Option<Tid>,
    /// From where it went there without following the chain, until that turned out well.
    jumped_from: Option<Tid>,
}

impl<'h> Queue<'h> {
    fn new(table: Table<'h>, strength: LockStrength) -> Queue<'h> {
        Queue { table, strength, at: None, jumped_from: None }
    }

    fn tag(&self, tid: Tid) -> LockTag {
        row_tag(self.table, tid)
    }

    /// Locks in these modes conflict as the row locks do.
    fn mode(&self) -> LockMode {
        match self.strength {
            LockStrength::KeyShare => LockMode::AccessShare,
            LockStrength::Share => LockMode::RowShare,
            LockStrength::NoKeyUpdate => LockMode::Exclusive,
            LockStrength::Update => LockMode::AccessExclusive,
        }
    }

    /// Waits for the one in the way. Returns the version to go on with; `None` if waiting is not wanted. Who has a lock on the row already does
    /// not queue: others wait for him.
    fn wait(&mut self, tid: Tid, way: (Xid, bool), wait: RowLockWait, cx: &Cx<'_>) -> SqlResult<Option<Tid>> {
        let (xid, mine) = way;
        match wait {
            RowLockWait::SkipLocked => return Ok(None),
            RowLockWait::NoWait => return Err(sql_err!(LOCK_NOT_AVAILABLE, "could not obtain lock on row")),
            RowLockWait::Block => {}
        }
        let mut txn = cx.env.txn.borrow_mut();
        if !mine && self.at.is_none() {
            drop(txn);
            let at = self.come_to_head(tid, cx)?;
            if at != tid {
                return if cx.env.fixed_snapshot { Err(serialization("update")) } else { Ok(Some(at)) };
            }
            txn = cx.env.txn.borrow_mut();
        }
        txn.wait_for(xid).map_err(eval::error::txn)?;
        Ok(Some(tid))
    }

    /// Waits for its turn. Returns the version to look at: another one, if the queue has moved on to one that a committed transaction wrote.
    fn come_to_head(&mut self, tid: Tid, cx: &Cx<'_>) -> SqlResult<Tid> {
        let got = cx.env.txn.borrow_mut().lock_in_queue(self.tag(tid), self.mode());
        let LockTag::Tuple { tid: at, .. } = got.map_err(eval::error::lock)? else { return Ok(tid) };
        self.at = Some(at);
        if at == tid || !self.may_jump(cx) {
            return Ok(tid);
        }
        self.jumped_from = Some(tid);
        Ok(at)
    }

    /// Whether the version to which the queue has moved can be looked at without following the chain to it. It is there as long as the statement's
    /// snapshot protects it; a key-shared lock may do with an older one.
    fn may_jump(&self, cx: &Cx<'_>) -> bool {
        let loses = cx.env.access.txns.running().old_snapshots().is_some();
        self.strength != LockStrength::KeyShare && !loses
    }

    /// The row has a newer version: takes the queue there.
    fn follow(&mut self, next: Tid, cx: &Cx<'_>) {
        let Some(at) = self.at.filter(|at| *at != next) else { return };
        if cx.env.txn.borrow_mut().carry_queue(self.tag(at), self.tag(next), self.mode()) {
            self.at = Some(next);
        } else {
            self.leave(cx);
        }
    }

    /// There is no row to wait for any more. An error ends the (sub)transaction and its place in the queue.
    fn leave(&mut self, cx: &Cx<'_>) {
        if let Some(tid) = self.at.take() {
            cx.env.txn.borrow_mut().unlock(self.tag(tid), self.mode());
        }
    }
}

/// What to do after a version refused a change: waits, follows the chain, locks the newest version.
pub fn after_refusal(
    table: Table<'_>,
    tid: Tid,
    refusal: Refusal,
    strength: LockStrength,
    wait: RowLockWait,
    cx: &mut Cx<'_>,
) -> SqlResult<Newest> {
    let mut queue = Queue::new(table, strength);
    let (from, deletion) = match refusal {
        Refusal::WouldBlock { xid, mine } => match queue.wait(tid, (xid, mine), wait, cx)? {
            Some(from) => (from, "delete"),
            None => return Ok(Newest::Skipped),
        },
        Refusal::Concurrent { .. } if cx.env.fixed_snapshot => return Err(serialization("update")),
        Refusal::Concurrent { next, .. } => (next, "update"),
        Refusal::Moved => return Err(moved(cx)),
        Refusal::Deleted { .. } if cx.env.fixed_snapshot => return Err(serialization("delete")),
        Refusal::SelfModified { .. } => return Ok(Newest::SelfModified),
        Refusal::Deleted { .. } | Refusal::Invisible => return Ok(Newest::Gone),
    };
    lock_queued(&mut queue, (from, Wanted::Newest), wait, deletion, cx)
}

/// Whether who wants to change a version that nobody has locked or changed is to queue for it, because a crowd waits for it. A transaction that keeps its
/// snapshot is better off if it is first.
pub fn is_crowded(table: Table<'_>, tid: Tid, strength: LockStrength, cx: &Cx<'_>) -> bool {
    let (tag, mode) = (row_tag(table, tid), Queue::new(table, strength).mode());
    !cx.env.fixed_snapshot
        && cx.env.access.txns.locks().is_crowded(tag, mode)
        && !cx.env.txn.borrow().holds_lock(tag, mode)
}

/// A statement is about to change its first row, and has done nothing yet. If a crowd waits for the row, or has waited while the statement looked for it, the
/// statement ends, to begin again in its turn ([`eval::turn`]).
pub fn come_in_turn(
    table: Table<'_>,
    tid: Tid,
    (turn, strength): (Turn, LockStrength),
    cx: &mut Cx<'_>,
) -> SqlResult<()> {
    let here = (row_tag(table, tid), Queue::new(table, strength).mode());
    match turn.come() {
        Some(come) if come == here => return Ok(()),
        // The row is not where its queue has led to.
        Some((tag, mode)) => drop(cx.env.txn.borrow_mut().unlock(tag, mode)),
        None => {}
    }
    let locks = cx.env.access.txns.locks();
    if !turn.may_begin_again() || cx.env.fixed_snapshot || !locks.may_be_crowded() {
        return Ok(());
    }
    let again = match find_crowd(table, tid, strength, cx)? {
        Crowd::None => return Ok(()),
        Crowd::At(tid) => Some((row_tag(table, tid), here.1)),
        Crowd::Ahead => None,
    };
    cx.state.turn = turn;
    cx.state.turn.end(again);
    Err(SqlError::internal("a statement that is to begin again went on"))
}

/// Versions of a row that are looked at to find the crowd that waits for it.
const MOST_VERSIONS: usize = 64;

/// Where a crowd waits for a row.
enum Crowd {
    /// Nowhere; or this transaction may have a part in the row, so that others wait for it.
    None,
    /// For the version at this place.
    At(Tid),
    /// For one that is far ahead.
    Ahead,
}

/// Looks for the crowd that waits for the row of which the statement sees the version at `tid`: there, or at a version that has come since.
fn find_crowd(table: Table<'_>, tid: Tid, strength: LockStrength, cx: &Cx<'_>) -> SqlResult<Crowd> {
    let (mut at, mut writer, mut version) = (tid, None, HeapTuple::new());
    for _ in 0..MOST_VERSIONS {
        heap::fetch_version(&cx.env.access, table.1, at, &mut version).map_err(eval::error::heap)?;
        let header = version.get().filter(|tuple| writer.is_none_or(|xid| tuple.xmin() == xid));
        let Some(header) = header.map(|tuple| *tuple.header()) else { return Ok(Crowd::None) };
        let me = cx.env.txn.borrow();
        let held = !header.xmax_invalid();
        let mine = me.is_mine(header.raw_xmax) || me.is_rolled_back_child(header.raw_xmax);
        drop(me);
        if held && (mine || header.multi().is_some()) {
            return Ok(Crowd::None);
        }
        if is_crowded(table, at, strength, cx) {
            return Ok(Crowd::At(at));
        }
        if !held || header.lock_only() || header.ctid == at {
            return Ok(Crowd::None);
        }
        (at, writer) = (header.ctid, Some(header.raw_xmax));
    }
    Ok(Crowd::Ahead)
}

/// Waits in the queue for a row, then locks its newest version.
pub fn after_crowd(table: Table<'_>, tid: Tid, strength: LockStrength, cx: &mut Cx<'_>) -> SqlResult<Newest> {
    let mut queue = Queue::new(table, strength);
    let at = queue.come_to_head(tid, cx)?;
    lock_queued(&mut queue, (at, Wanted::Newest), RowLockWait::Block, "delete", cx)
}

/// Locks a row, beginning with the version at `tid`: the newest; or, if the one is wanted that the statement sees, that one, if a key-shared lock
/// is asked for and it was updated since, but not in its key.
pub fn lock_row(
    table: Table<'_>,
    version: (Tid, Wanted),
    strength: LockStrength,
    wait: RowLockWait,
    cx: &mut Cx<'_>,
) -> SqlResult<Newest> {
    // Who only locks does not tell a deletion apart.
    lock_queued(&mut Queue::new(table, strength), version, wait, "update", cx)
}

/// The same, for one who may have come to the head of the queue. `deletion`: what a deletion is called that the transaction's snapshot does not show.
fn lock_queued(
    queue: &mut Queue<'_>,
    (mut tid, mut wanted): (Tid, Wanted),
    wait: RowLockWait,
    deletion: &str,
    cx: &mut Cx<'_>,
) -> SqlResult<Newest> {
    let ((_, heap), strength) = (queue.table, queue.strength);
    let newest = loop {
        let refusal = match lock_version(heap, (tid, wanted), strength, cx)? {
            LockOutcome::Locked { later: None } => return Ok(Newest::Locked(tid)),
            LockOutcome::Locked { later: Some(later) } => match lock_rest(heap, later, strength, cx)? {
                None => return Ok(Newest::Locked(tid)),
                Some(refusal) => refusal,
            },
            LockOutcome::Refused(refusal) => refusal,
        };
        match refusal {
            Refusal::WouldBlock { xid, mine } => match queue.wait(tid, (xid, mine), wait, cx)? {
                Some(at) if at == tid => {}
                Some(at) => (tid, wanted) = (at, Wanted::Newest),
                None => break Newest::Skipped,
            },
            Refusal::Concurrent { .. } if cx.env.fixed_snapshot => return Err(serialization("update")),
            Refusal::Deleted { .. } if cx.env.fixed_snapshot => return Err(serialization(deletion)),
            Refusal::Concurrent { next, .. } => {
                queue.jumped_from = None;
                queue.follow(next, cx);
                (tid, wanted) = (next, Wanted::Newest);
            }
            Refusal::Moved => return Err(moved(cx)),
            // What the queue led to is none of the row's versions: they are followed one by one.
            Refusal::Invisible => match queue.jumped_from.take() {
                Some(from) => (tid, wanted) = (from, Wanted::Newest),
                None => break Newest::Gone,
            },
            Refusal::Deleted { .. } => break Newest::Gone,
            Refusal::SelfModified { .. } => break Newest::SelfModified,
        }
    };
    queue.leave(cx);
    Ok(newest)
}

/// Locks one version, if no other transaction prevents it.
pub fn lock_version(
    heap: &HeapRel,
    version: (Tid, Wanted),
    strength: LockStrength,
    cx: &Cx<'_>,
) -> SqlResult<LockOutcome> {
    runtime::check_interrupts().map_err(eval::error::interrupted)?;
    cx.with_writer(heap, |access, writer| heap::lock_tuple(access, heap, writer, version, strength))?
        .map_err(eval::error::heap)
}

/// Locks the versions that came after a locked one, waiting where it must; what is in the way for good, if something is.
fn lock_rest(
    heap: &HeapRel,
    later: Later,
    strength: LockStrength,
    cx: &mut Cx<'_>,
) -> SqlResult<Option<Refusal>> {
    let mut next = Some(later);
    while let Some(later) = next {
        runtime::check_interrupts().map_err(eval::error::interrupted)?;
        let outcome = cx
            .with_writer(heap, |access, writer| heap::lock_later(access, heap, writer, later, strength))?
            .map_err(eval::error::heap)?;
        match outcome {
            LockOutcome::Locked { later } => next = later,
            LockOutcome::Refused(Refusal::WouldBlock { xid, .. }) => {
                cx.env.txn.borrow().wait_for(xid).map_err(eval::error::txn)?;
            }
            // What this transaction changed is its own.
            LockOutcome::Refused(Refusal::SelfModified { .. } | Refusal::Invisible) => return Ok(None),
            LockOutcome::Refused(refusal) => return Ok(Some(refusal)),
        }
    }
    Ok(None)
}

/// Locks the row that stands in an INSERT's way, for ON CONFLICT DO UPDATE; false if it is not there any more as it was: then the key is to
/// be looked up again.
pub fn lock_conflicting(
    table: Table<'_>,
    tid: Tid,
    strength: LockStrength,
    cx: &mut Cx<'_>,
) -> SqlResult<bool> {
    let (mut queue, heap) = (Queue::new(table, strength), table.1);
    loop {
        let refusal = match lock_version(heap, (tid, Wanted::Seen), strength, cx)? {
            LockOutcome::Locked { .. } => return Ok(true),
            LockOutcome::Refused(refusal) => refusal,
        };
        match refusal {
            // Wherever the queue has gone: this version is looked at again.
            Refusal::WouldBlock { xid, mine } => {
                queue.wait(tid, (xid, mine), RowLockWait::Block, cx)?;
            }
            Refusal::Concurrent { .. } if cx.env.fixed_snapshot => return Err(serialization("update")),
            Refusal::Moved => return Err(moved(cx)),
            Refusal::Deleted { .. } if cx.env.fixed_snapshot => return Err(serialization("delete")),
            Refusal::Concurrent { .. } | Refusal::Deleted { .. } => break,
            Refusal::Invisible if !is_own(heap, tid, cx)? => break,
            // This command wrote it.
            Refusal::SelfModified { .. } | Refusal::Invisible => {
                return Err(sql_err!(
                    CARDINALITY_VIOLATION,
                    "ON CONFLICT DO UPDATE command cannot affect row a second time"
                )
                .hint(
                    "Ensure that no rows proposed for insertion within the same command have duplicate constrained values.",
                ));
            }
        }
    }
    queue.leave(cx);
    Ok(false)
}

/// Whether this transaction inserted the version.
fn is_own(heap: &HeapRel, tid: Tid, cx: &Cx<'_>) -> SqlResult<bool> {
    let mut version = HeapTuple::new();
    heap::fetch_version(&cx.env.access, heap, tid, &mut version).map_err(eval::error::heap)?;
    Ok(version.get().is_some_and(|tuple| cx.env.txn.borrow().is_mine(tuple.xmin())))
}

/// A transaction that keeps its snapshot must not act on a row which that does not show, but for its own.
pub fn must_see(heap: &HeapRel, tid: Tid, cx: &Cx<'_>) -> SqlResult<()> {
    if cx.env.fixed_snapshot { must_show(cx.env.snapshot, heap, tid, cx) } else { Ok(()) }
}

fn must_show(snapshot: &Snapshot, heap: &HeapRel, tid: Tid, cx: &Cx<'_>) -> SqlResult<()> {
    if is_own(heap, tid, cx)? {
        return Ok(());
    }
    let seen = cx.with_view(|access, view| {
        heap::fetch_exact(access, heap, &View { snapshot, ..*view }, tid, &mut HeapTuple::new())
    });
    if seen.map_err(eval::error::heap)? { Ok(()) } else { Err(serialization("update")) }
}

/// The same where the statement sees all that has committed, as the action of a foreign key does: the row that it is to change must be in the
/// snapshot that the transaction keeps.
pub fn must_be_kept(heap: &HeapRel, tid: Tid, cx: &Cx<'_>) -> SqlResult<()> {
    if !cx.env.fixed_snapshot {
        return Ok(());
    }
    let kept = cx.env.txn.borrow().next_snapshot();
    if Arc::ptr_eq(kept.data(), cx.env.snapshot.data()) {
        return Ok(());
    }
    must_show(&kept, heap, tid, cx)
}

/// The error that a row's bytes are no row of its table.
#[cold]
pub fn corrupted(table: Oid, tid: Tid) -> SqlError {
    sql_err!(DATA_CORRUPTED, "corrupted tuple {tid} of relation {table}")
}

/// All columns of the version at `tid`, large values as pointers, then the system columns; false if there is none.
pub fn read_version(
    heap: &HeapRel,
    table: Oid,
    tid: Tid,
    buffer: &mut HeapTuple,
    out: &mut Vec<Datum>,
    cx: &Cx<'_>,
) -> SqlResult<bool> {
    if !heap::fetch_version(&cx.env.access, heap, tid, buffer).map_err(eval::error::heap)? {
        return Ok(false);
    }
    let Some(tuple) = buffer.get() else { return Ok(false) };
    out.clear();
    tuple.decode(&heap.desc.layout, heap.desc.layout.len(), out).map_err(|_| corrupted(table, tid))?;
    out.push(tid_datum(tid));
    out.push(Datum::Oid(tuple.xmin().0 as u32));
    out.push(Datum::Oid(tuple.raw_cid().0));
    out.push(Datum::Oid(tuple.xmax().0 as u32));
    out.push(Datum::Oid(tuple.raw_cid().0));
    out.push(Datum::Oid(table.0));
    Ok(true)
}

/// A table whose rows a plan's rows name by their `ctid`.
pub struct Reference {
    /// Which.
    pub rel: RelId,
    /// Its rows.
    pub heap: Arc<HeapRel>,
    /// Its OID.
    pub table: Oid,
    /// Where the `ctid` is.
    pub place: usize,
}

/// The tables that rows of a plan with this output name, but for `except`.
pub fn references(statement: &Statement, output: &[Expr], except: &[RelId]) -> Vec<Reference> {
    let mut found: Vec<Reference> = Vec::new();
    for (place, expr) in output.iter().enumerate() {
        let Expr::Var(Var { rel, column: -1, .. }) = *expr else { continue };
        let Some(table) = &statement.relations[rel].table else { continue };
        let Some(heap) = &table.heap else { continue };
        if !except.contains(&rel) && found.iter().all(|reference| reference.rel != rel) {
            found.push(Reference { rel, heap: heap.clone(), table: table.oid, place });
        }
    }
    found
}

impl Reference {
    /// The row that a row of the plan names; none on the empty side of an outer join.
    pub fn of<'a>(&'a self, row: &[Datum]) -> Given<'a> {
        Given { rel: self.rel, heap: &self.heap, table: self.table, tid: datum_tid(&row[self.place]) }
    }
}

/// The one version, if any, that a relation gives when a plan runs again.
pub struct Given<'a> {
    /// The relation.
    pub rel: RelId,
    /// Its rows.
    pub heap: &'a HeapRel,
    /// Its OID.
    pub table: Oid,
    /// The version.
    pub tid: Option<Tid>,
}

impl Given<'_> {
    /// The version with whole values; `None` if it is not there.
    fn read(&self, cx: &Cx<'_>) -> SqlResult<Option<GivenRow>> {
        let Some(tid) = self.tid else { return Ok(Some(GivenRow { rel: self.rel, row: None, done: false })) };
        let mut row = Vec::new();
        if !read_version(self.heap, self.table, tid, &mut HeapTuple::new(), &mut row, cx)? {
            return Ok(None);
        }
        for value in &mut row {
            if let Datum::Toasted(_) = value {
                *value = heap::detoast(&cx.env.access, self.heap.desc.toast.as_ref(), value)
                    .map_err(eval::error::heap)?;
            }
        }
        Ok(Some(GivenRow { rel: self.rel, row: Some(row), done: false }))
    }
}

/// Runs the plan below the change or lock of `rel` once more, with the given rows standing for their relations: the newest versions of those
/// that are changed or locked, and of the other tables the rows that were joined to them. The first row that comes out, if the
/// conditions still hold.
pub fn run_again(rel: RelId, given: &[Given<'_>], cx: &mut Cx<'_>) -> SqlResult<Option<Vec<Datum>>> {
    let mut first = None;
    let mut take = |row: &[Datum]| {
        first = Some(row.to_vec());
        false
    };
    run_again_each(rel, given, &mut take, cx)?;
    Ok(first)
}

/// As [`run_again`], for all rows that come out until `visit` says that it has seen enough.
pub fn run_again_each(
    rel: RelId,
    given: &[Given<'_>],
    visit: &mut dyn FnMut(&[Datum]) -> bool,
    cx: &mut Cx<'_>,
) -> SqlResult<()> {
    let mut rows = Vec::with_capacity(given.len());
    for one in given {
        let Some(row) = one.read(cx)? else { return Ok(()) };
        rows.push(row);
    }
    let statement: Arc<Statement> = cx.statement.clone();
    let source = find_source(&statement, rel)
        .ok_or_else(|| SqlError::internal("plan of a changed relation not found"))?;
    let mut builder = Builder::new(&statement);
    builder.recheck = rows.iter().map(|row| row.rel).collect();
    let mut node = builder.build(source)?;
    let outer = std::mem::replace(&mut cx.recheck, rows);
    let result = loop {
        match node.next(cx) {
            Ok(true) if visit(node.row()) => {}
            Ok(_) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    node.close(cx);
    cx.recheck = outer;
    result
}

/// The plan whose rows drive the change or lock of `rel`.
fn find_source(statement: &Statement, rel: RelId) -> Option<&Plan> {
    let plans = std::iter::once(&statement.plan).chain(statement.subplans.iter().map(|s| &s.plan));
    plans.into_iter().find_map(|plan| find_in(plan, rel))
}

fn find_in(plan: &Plan, rel: RelId) -> Option<&Plan> {
    match &plan.node {
        PlanNode::Modify(modify) if modify.rel == rel => return Some(&modify.source),
        PlanNode::LockRows { child, marks } if marks.iter().any(|m| m.rel == rel) => return Some(child),
        _ => {}
    }
    let mut found = None;
    plan.for_children(&mut |child| {
        if found.is_none() {
            found = find_in(child, rel);
        }
    });
    found
}
