//! What · Heavyweight locks: tags, modes, the main table, queues, waiting.
//!
//! Layout · The main table has [`PARTITIONS`] parts by the tag's hash, each a map from [`LockTag`] to who holds it and who
//! waits. Weak locks on relations usually live in their worker's table instead ([`lock_fast`](crate::lock_fast)). A session knows
//! what it holds in its own [`HeldLocks`](crate::lock_held), so the main table counts a session once for each mode.
//! [`long_wait`](crate::long_wait): sleeping.
//!
//! A running transaction's lock on its xid is not in any table until somebody waits for it
//! ([`LockManager::wait_for_xid`]): commits and a million savepoints cost no lock.
//!
//! Invariants
//! 1. Modes that sessions hold on one tag do not conflict, between different sessions.
//! 2. A lock is granted at once only if its mode conflicts neither with other holders nor with anybody queued, except that a
//!    session which already holds what a queued one waits for goes ahead of that one.
//! 3. Whoever removes a holder or a waiter wakes, in queue order, all whose modes conflict with neither holders nor
//!    those still queued ahead. Of those who want the same of a row, the waker's own worker's go first (`near`): another worker may not have a
//!    processor just now, and all would wait for it. Nobody is passed over more than `PASSES` times, so nobody starves.
//! 4. A queue moves to another tag only together with its one holder, who does it (`lock_queue`).
//! 5. While a strong lock on a relation is held or waited for, its counter in the fast path is above zero.
//!
//! Cost · A crowd at one lock costs no more for each of them the larger it is: who queues, is granted or moves the queue looks at no other
//! waiters, but for who holds a lock on the tag already, and where modes that do not conflict wait together.
//!
//! Locks · The partitions' short mutexes; the deadlock detector takes all, ascending. `xid_waits`, a short mutex, may be
//! held when a partition is taken, never the other way round. Parts of `waits` are taken inside partitions. Nobody suspends while holding one.
//!
//! PostgreSQL counterpart · `lock.c`, `proc.c`. Differences: implicit xid locks; no lock groups.

use std::collections::VecDeque;
use std::fmt;
use std::future::{Future, poll_fn};
use std::hash::{BuildHasher, Hash};
use std::pin::pin;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Poll, Waker};
use std::time::Duration;

use base::{BlockNo, Oid, Tid, Xid};
use parking_lot::MutexGuard;
use runtime::usage::used;
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;

use crate::SessionId;
use crate::lock_fast::FastLocks;
use crate::long_wait::{BlockedListener, Listener, LockTimeouts};
use crate::sync::{Alone, Mutex};
use crate::virtual_xid::VirtualXid;

/// Parts of the main table.
pub const PARTITIONS: usize = 16;

/// PostgreSQL's eight lock modes, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum LockMode {
    AccessShare = 1,
    RowShare = 2,
    RowExclusive = 3,
    ShareUpdateExclusive = 4,
    Share = 5,
    ShareRowExclusive = 6,
    Exclusive = 7,
    AccessExclusive = 8,
}

/// A set of modes: bit `mode as u8`.
pub type ModeSet = u16;

impl LockMode {
    /// All, weakest first.
    pub const ALL: [LockMode; 8] = [
        LockMode::AccessShare,
        LockMode::RowShare,
        LockMode::RowExclusive,
        LockMode::ShareUpdateExclusive,
        LockMode::Share,
        LockMode::ShareRowExclusive,
        LockMode::Exclusive,
        LockMode::AccessExclusive,
    ];

    /// The set of this mode alone.
    pub const fn bit(self) -> ModeSet {
        1 << self as u8
    }

    /// The modes that another session must not hold.
    pub const fn conflicts(self) -> ModeSet {
        use LockMode::*;
        const fn all_from(mode: LockMode) -> ModeSet {
            0x1ff & !(mode.bit() - 1)
        }
        match self {
            AccessShare => AccessExclusive.bit(),
            RowShare => Exclusive.bit() | AccessExclusive.bit(),
            RowExclusive => all_from(Share),
            ShareUpdateExclusive => all_from(ShareUpdateExclusive),
            Share => all_from(ShareUpdateExclusive) & !Share.bit() | RowExclusive.bit(),
            ShareRowExclusive => all_from(RowExclusive),
            Exclusive => all_from(RowShare),
            AccessExclusive => all_from(AccessShare),
        }
    }

    /// Weak modes conflict with no weak mode; on relations they take the fast path.
    pub const fn is_weak(self) -> bool {
        (self as u8) < LockMode::ShareUpdateExclusive as u8
    }

    /// PostgreSQL's name: `AccessShareLock`.
    pub const fn name(self) -> &'static str {
        match self {
            LockMode::AccessShare => "AccessShareLock",
            LockMode::RowShare => "RowShareLock",
            LockMode::RowExclusive => "RowExclusiveLock",
            LockMode::ShareUpdateExclusive => "ShareUpdateExclusiveLock",
            LockMode::Share => "ShareLock",
            LockMode::ShareRowExclusive => "ShareRowExclusiveLock",
            LockMode::Exclusive => "ExclusiveLock",
            LockMode::AccessExclusive => "AccessExclusiveLock",
        }
    }
}

/// What is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum LockTag {
    Relation {
        database: Oid,
        relation: Oid,
    },
    /// Right to extend a relation.
    Extend {
        database: Oid,
        relation: Oid,
    },
    Page {
        database: Oid,
        relation: Oid,
        block: BlockNo,
    },
    Tuple {
        database: Oid,
        relation: Oid,
        tid: Tid,
    },
    /// Held by every running transaction on its xid; waited for in share mode.
    Xid(Xid),
    /// Held by every running transaction of a session on itself; waited for in share mode.
    VirtualXid {
        session: SessionId,
        local: u32,
    },
    /// Held by a transaction while it puts in a row that it may take back (INSERT with ON CONFLICT); waited for in share mode by whoever meets the
    /// row, who need not wait for the transaction's end.
    Speculative(Xid),
    /// A catalog object that is no relation (`sub` is its column or 0).
    Object {
        database: Oid,
        class: Oid,
        object: Oid,
        sub: u16,
    },
    /// `pg_advisory_lock`: one 64-bit key (`kind` 1) or two 32-bit ones (`kind` 2).
    Advisory {
        database: Oid,
        key1: u32,
        key2: u32,
        kind: u16,
    },
}

impl fmt::Display for LockTag {
    /// As PostgreSQL's messages name it: `relation 16384 of database 5`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LockTag::Relation { database, relation } => {
                write!(f, "relation {relation} of database {database}")
            }
            LockTag::Extend { database, relation } => {
                write!(f, "extension of relation {relation} of database {database}")
            }
            LockTag::Page { database, relation, block } => {
                write!(f, "page {block} of relation {relation} of database {database}")
            }
            LockTag::Tuple { database, relation, tid } => {
                write!(f, "tuple {tid} of relation {relation} of database {database}")
            }
            LockTag::Xid(xid) => write!(f, "transaction {xid}"),
            LockTag::Speculative(xid) => write!(f, "speculative token of transaction {xid}"),
            LockTag::VirtualXid { session, local } => write!(f, "virtual transaction {}/{local}", session.0),
            LockTag::Object { database, class, object, .. } => {
                write!(f, "object {object} of class {class} of database {database}")
            }
            LockTag::Advisory { database, key1, key2, kind } => {
                write!(f, "advisory lock [{database},{key1},{key2},{kind}]")
            }
        }
    }
}

impl LockTag {
    /// Whether the lock is a transaction's on its own xid: it is in the table only while others wait for it, and these never hold it.
    pub(crate) fn is_implicit(self) -> bool {
        matches!(self, LockTag::Xid(_) | LockTag::VirtualXid { .. })
    }
}

/// What to do when a lock is not free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockWait {
    /// Wait for it.
    Block,
    /// Fail with [`LockError::NotAvailable`].
    NoWait,
}

/// Why a lock was not granted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LockError {
    /// 40P01; the cycle, in order: each waits for the next, the last for the first.
    Deadlock(Vec<DeadlockEdge>),
    /// NOWAIT and not free.
    NotAvailable,
    /// 53200: as many things are locked as the server has room for.
    OutOfMemory,
    /// `lock_timeout` passed.
    Timeout,
    /// Cancelled, terminated or timed out.
    Interrupted(runtime::Interrupt),
}

/// One wait of a deadlock's cycle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadlockEdge {
    /// Who waits.
    pub waiter: SessionId,
    /// For what.
    pub tag: LockTag,
    /// In which mode.
    pub mode: LockMode,
    /// Who blocks it.
    pub blocker: SessionId,
}

/// A lock held or waited for, as `pg_locks` shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockInfo {
    /// Whose.
    pub session: SessionId,
    /// On what.
    pub tag: LockTag,
    /// How.
    pub mode: LockMode,
    /// Held, not waited for.
    pub granted: bool,
    /// In a worker's table.
    pub fastpath: bool,
    /// When the wait began, microseconds since 2000-01-01 UTC.
    pub wait_start: Option<i64>,
}

/// As long as fewer wait for a row, newcomers need not queue for it ([`LockManager::is_crowded`]).
const CROWD: usize = 32;

/// How far from the front of a queue one is looked for whom its worker can let go on at once, and how many go ahead of anybody so.
const WINDOW: usize = 32;
const PASSES: u32 = 64;

const WAITING: u8 = 0;
const GRANTED: u8 = 1;

/// A session in a queue.
pub(crate) struct Waiter {
    pub(crate) session: SessionId,
    pub(crate) mode: LockMode,
    /// What the session held on the tag when it queued.
    held: ModeSet,
    since: i64,
    /// The worker that it waits on.
    worker: Option<usize>,
    /// How many have gone ahead of it.
    passed: AtomicU32,
    state: AtomicU8,
    waker: Mutex<Option<Waker>>,
    place: Arc<Place>,
}

/// The current tag of a queue, shared by its waiters, as a queue can move to another tag. Changed with the partitions of both tags locked.
pub(crate) struct Place(Mutex<LockTag>);

impl Place {
    fn tag(&self) -> LockTag {
        *self.0.lock()
    }

    pub(crate) fn set_tag(&self, tag: LockTag) {
        *self.0.lock() = tag;
    }
}

impl Waiter {
    /// For what it waits, or what it got.
    pub(crate) fn tag(&self) -> LockTag {
        self.place.tag()
    }

    pub(crate) fn granted(&self) -> bool {
        self.state.load(Ordering::Acquire) == GRANTED
    }

    pub(crate) fn until_granted(&self) -> impl Future<Output = ()> {
        poll_fn(|cx| {
            *self.waker.lock() = Some(cx.waker().clone());
            // Read after the waker is set: a grant stores the state first, then takes the waker.
            if self.granted() { Poll::Ready(()) } else { Poll::Pending }
        })
    }

    fn grant(&self) {
        self.state.store(GRANTED, Ordering::Release);
        let waker = self.waker.lock().take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// Holders of a tag and waiters for it.
#[derive(Default)]
pub(crate) struct Lock {
    pub(crate) holders: SmallVec<[(SessionId, ModeSet); 2]>,
    /// The deadlock detector may reorder it; owners are added and removed by `enter` and `leave`.
    pub(crate) queue: VecDeque<Arc<Waiter>>,
    /// How many wait for each mode.
    waiting: [u32; LockMode::ALL.len()],
    /// There is one from the first waiter on.
    pub(crate) place: Option<Arc<Place>>,
}

impl Lock {
    fn held_by(&self, session: SessionId) -> ModeSet {
        self.holders.iter().find(|holder| holder.0 == session).map_or(0, |holder| holder.1)
    }

    fn conflicts_with_others(&self, session: SessionId, mode: LockMode) -> bool {
        self.holders.iter().any(|&(holder, modes)| holder != session && modes & mode.conflicts() != 0)
    }

    fn add(&mut self, session: SessionId, mode: LockMode) {
        match self.holders.iter_mut().find(|holder| holder.0 == session) {
            Some(holder) => holder.1 |= mode.bit(),
            None => self.holders.push((session, mode.bit())),
        }
    }

    fn remove(&mut self, session: SessionId, mode: LockMode) {
        if let Some(at) = self.holders.iter().position(|holder| holder.0 == session) {
            self.holders[at].1 &= !mode.bit();
            if self.holders[at].1 == 0 {
                self.holders.swap_remove(at);
            }
        }
    }

    fn enter(&mut self, at: usize, waiter: Arc<Waiter>) {
        self.waiting[waiter.mode as usize - 1] += 1;
        self.queue.insert(at, waiter);
    }

    fn leave(&mut self, at: usize) -> Option<Arc<Waiter>> {
        let waiter = self.queue.remove(at)?;
        self.waiting[waiter.mode as usize - 1] -= 1;
        Some(waiter)
    }

    /// The modes that waiters want.
    fn waited_for(&self) -> ModeSet {
        let modes = LockMode::ALL.into_iter().zip(self.waiting);
        modes.filter(|(_, number)| *number > 0).fold(0, |modes, (mode, _)| modes | mode.bit())
    }

    /// Grants what invariant 3 says. An xid's waiters only wait, they get nothing to hold.
    pub(crate) fn wake(&mut self, tag: LockTag) {
        let mut ahead: ModeSet = 0;
        let mut at = 0;
        while let Some(waiter) = self.queue.get(at) {
            if waiter.mode.conflicts() & ahead != 0 || self.conflicts_with_others(waiter.session, waiter.mode)
            {
                ahead |= waiter.mode.bit();
                at += 1;
                // Nobody is left who could go past those.
                let waited_for = self.waited_for();
                if LockMode::ALL
                    .into_iter()
                    .all(|mode| waited_for & mode.bit() == 0 || mode.conflicts() & ahead != 0)
                {
                    break;
                }
                continue;
            }
            let next = self.near(at, tag);
            let Some(waiter) = self.leave(next) else { break };
            if !tag.is_implicit() {
                self.add(waiter.session, waiter.mode);
            }
            waiter.grant();
        }
    }

    /// Who is granted the lock instead of the one at `at`, who may have it: of those behind it that want the same of a row, one whom the caller's
    /// worker runs, so that the row need not wait until another worker comes to it.
    fn near(&self, at: usize, tag: LockTag) -> usize {
        let (LockTag::Tuple { .. }, Some(here)) = (tag, runtime::worker_index()) else { return at };
        let mode = self.queue[at].mode;
        let passed = |waiter: &Waiter| waiter.passed.load(Ordering::Relaxed);
        let window = self.queue.iter().skip(at).take(WINDOW).take_while(|waiter| waiter.mode == mode);
        for (steps, waiter) in window.enumerate() {
            if waiter.worker == Some(here) {
                // Relaxed: changed with the part locked only.
                let ahead = self.queue.iter().skip(at).take(steps);
                ahead.for_each(|waiter| waiter.passed.store(passed(waiter) + 1, Ordering::Relaxed));
                return at + steps;
            }
            if passed(waiter) >= PASSES {
                break;
            }
        }
        at
    }

    fn is_unused(&self) -> bool {
        self.holders.is_empty() && self.queue.is_empty()
    }

    /// Where a request goes in the queue: `Err` for a deadlock with the waiter it would go ahead of, `Ok(None)` if it need
    /// not wait after all.
    fn place_for(&self, session: SessionId, mode: LockMode) -> Result<Option<usize>, SessionId> {
        let held = self.held_by(session);
        let mut ahead: ModeSet = 0;
        // An owner that holds nothing gets no precedence.
        let before = if held == 0 { 0 } else { self.queue.len() };
        for (at, waiter) in self.queue.iter().take(before).enumerate() {
            if waiter.mode.conflicts() & held != 0 {
                if mode.conflicts() & waiter.held != 0 {
                    return Err(waiter.session);
                }
                let free = mode.conflicts() & ahead == 0 && !self.conflicts_with_others(session, mode);
                return Ok(if free { None } else { Some(at) });
            }
            ahead |= waiter.mode.bit();
        }
        let free = mode.conflicts() & self.waited_for() == 0 && !self.conflicts_with_others(session, mode);
        Ok(if free { None } else { Some(self.queue.len()) })
    }
}

/// One part of the main table.
#[derive(Default)]
pub(crate) struct Partition {
    pub(crate) locks: FxHashMap<LockTag, Lock>,
}

/// Where sessions wait.
type Waits = FxHashMap<SessionId, Arc<Place>>;

/// All heavyweight locks of a server.
pub struct LockManager {
    partitions: Box<[Alone<Mutex<Partition>>]>,
    /// In parts, by session.
    waits: Box<[Alone<Mutex<Waits>>]>,
    pub(crate) fast: FastLocks,
    /// Number of xids in `xid_waits`: a transaction that ends looks there only if it is not 0.
    xid_waited: AtomicU64,
    /// For each top-level xid, the xids of its tree that have waiters, and how many.
    xid_waits: Mutex<FxHashMap<Xid, Vec<(Xid, u32)>>>,
    /// Who waits for a virtual transaction: one that ends looks for waiters only if it is not 0.
    virtual_waited: AtomicU64,
    /// How many wait for rows.
    row_waiters: AtomicUsize,
    /// Who is told of long waits.
    pub(crate) listener: OnceLock<Listener>,
    /// Is told of owners that others wait for.
    pub(crate) blocked: OnceLock<BlockedListener>,
    /// Number of tags in the main table, and the limit from which on no new tag can be locked.
    made: AtomicUsize,
    most: usize,
}

impl Default for LockManager {
    fn default() -> LockManager {
        LockManager::with_room(usize::MAX)
    }
}

impl LockManager {
    /// For so many tags in the main table (`max_locks_per_transaction`).
    pub(crate) fn with_room(most: usize) -> LockManager {
        LockManager {
            partitions: std::iter::repeat_with(Alone::default).take(PARTITIONS).collect(),
            waits: std::iter::repeat_with(Alone::default).take(PARTITIONS).collect(),
            fast: FastLocks::default(),
            xid_waited: AtomicU64::new(0),
            xid_waits: Mutex::default(),
            virtual_waited: AtomicU64::new(0),
            row_waiters: AtomicUsize::new(0),
            listener: OnceLock::new(),
            blocked: OnceLock::new(),
            made: AtomicUsize::new(0),
            most,
        }
    }
}

/// The result of asking for a lock in the main table.
enum Request {
    Granted,
    Queued(Arc<Waiter>),
}

impl LockManager {
    fn partition(&self, tag: &LockTag) -> &Mutex<Partition> {
        self.part(Self::part_of(tag))
    }

    /// Which part has the tag.
    pub(crate) fn part_of(tag: &LockTag) -> usize {
        FxBuildHasher.hash_one(tag) as usize >> 32 & (PARTITIONS - 1)
    }

    pub(crate) fn part(&self, number: usize) -> &Mutex<Partition> {
        &self.partitions[number]
    }

    fn waits(&self, session: SessionId) -> &Mutex<Waits> {
        &self.waits[session.0 as usize % PARTITIONS]
    }

    /// For what the session waits, or has just waited. Asked with all parts locked, it is so.
    pub(crate) fn waits_for(&self, session: SessionId) -> Option<LockTag> {
        let waits = self.waits(session).lock();
        waits.get(&session).map(|place| place.tag())
    }

    /// The part where the waiter is, and the tag of its queue.
    fn part_with(&self, waiter: &Waiter) -> (MutexGuard<'_, Partition>, LockTag) {
        loop {
            let tag = waiter.tag();
            let partition = self.partition(&tag).lock();
            // A queue moves only with its part locked.
            if waiter.tag() == tag {
                return (partition, tag);
            }
        }
    }

    /// All parts, for a consistent look.
    pub(crate) fn lock_all(&self) -> Vec<MutexGuard<'_, Partition>> {
        self.partitions.iter().map(|partition| partition.lock()).collect()
    }

    /// Takes a lock in the main table. Returns its tag, which is another one if the queue has moved meanwhile.
    pub(crate) fn acquire_main(
        &self,
        session: SessionId,
        tag: LockTag,
        mode: LockMode,
        wait: LockWait,
        timeouts: LockTimeouts,
    ) -> Result<LockTag, LockError> {
        match self.request(session, tag, mode, wait)? {
            Request::Granted => Ok(tag),
            Request::Queued(waiter) => self.sleep(waiter, timeouts),
        }
    }

    fn request(
        &self,
        session: SessionId,
        tag: LockTag,
        mode: LockMode,
        wait: LockWait,
    ) -> Result<Request, LockError> {
        let mut partition = self.partition(&tag).lock();
        // Relaxed, as all of `made`: a count, which orders nothing.
        if !partition.locks.contains_key(&tag) && self.made.load(Ordering::Relaxed) >= self.most {
            return Err(LockError::OutOfMemory);
        }
        let lock = self.lock_on(&mut partition, tag);
        let place = match lock.place_for(session, mode) {
            Ok(place) => place,
            Err(_) if wait == LockWait::NoWait => return Err(LockError::NotAvailable),
            Err(other) => {
                used(|c| &c.deadlocks, 1);
                return Err(LockError::Deadlock(mutual(lock, tag, session, mode, other)));
            }
        };
        let Some(place) = place else {
            lock.add(session, mode);
            return Ok(Request::Granted);
        };
        if wait == LockWait::NoWait {
            return Err(LockError::NotAvailable);
        }
        Ok(Request::Queued(self.enqueue(&mut partition, session, tag, mode, place)))
    }

    /// Holders of a tag, and its waiters in the order of the queue.
    pub(crate) fn around(&self, tag: LockTag) -> [Vec<SessionId>; 2] {
        let partition = self.partition(&tag).lock();
        let Some(lock) = partition.locks.get(&tag) else { return Default::default() };
        let holders = lock.holders.iter().map(|holder| holder.0);
        [holders.collect(), lock.queue.iter().map(|waiter| waiter.session).collect()]
    }

    /// The lock on a tag, made if there is none.
    fn lock_on<'p>(&self, partition: &'p mut Partition, tag: LockTag) -> &'p mut Lock {
        partition.locks.entry(tag).or_insert_with(|| {
            self.made.fetch_add(1, Ordering::Relaxed);
            Lock::default()
        })
    }

    /// Forgets a tag without holders and waiters.
    fn tidy(&self, partition: &mut Partition, tag: LockTag) {
        if partition.locks.get(&tag).is_some_and(Lock::is_unused) {
            partition.locks.remove(&tag);
            self.made.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn enqueue(
        &self,
        partition: &mut Partition,
        session: SessionId,
        tag: LockTag,
        mode: LockMode,
        at: usize,
    ) -> Arc<Waiter> {
        let lock = self.lock_on(partition, tag);
        let place = lock.place.get_or_insert_with(|| Arc::new(Place(Mutex::new(tag)))).clone();
        self.waits(session).lock().insert(session, place.clone());
        if let LockTag::Tuple { .. } = tag {
            self.row_waiters.fetch_add(1, Ordering::Relaxed);
        }
        let waiter = Arc::new(Waiter {
            session,
            mode,
            held: lock.held_by(session),
            since: runtime::wall_clock_micros(),
            worker: runtime::worker_index(),
            passed: AtomicU32::new(0),
            state: AtomicU8::new(WAITING),
            waker: Mutex::new(None),
            place,
        });
        lock.enter(at, waiter.clone());
        waiter
    }

    pub(crate) fn has_waited(&self, session: SessionId) {
        let place = self.waits(session).lock().remove(&session);
        if place.is_some_and(|place| matches!(place.tag(), LockTag::Tuple { .. })) {
            self.row_waiters.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Whether so many wait for rows that there may be a crowd at one.
    #[inline]
    pub fn may_be_crowded(&self) -> bool {
        // Relaxed: a count, which orders nothing.
        self.row_waiters.load(Ordering::Relaxed) >= CROWD
    }

    /// Whether a crowd waits for a row in a mode that conflicts with this one. Who comes then and finds the row free is to queue all the same: each
    /// who goes ahead of a crowd makes its snapshots older, and what they hold back is in everybody's way.
    pub fn is_crowded(&self, tag: LockTag, mode: LockMode) -> bool {
        self.may_be_crowded()
            && self
                .partition(&tag)
                .lock()
                .locks
                .get(&tag)
                .is_some_and(|lock| lock.queue.len() >= CROWD && lock.waited_for() & mode.conflicts() != 0)
    }

    /// Leaves the queue, or lets go of what was granted at the last moment.
    fn give_up(&self, waiter: &Arc<Waiter>) {
        let (mut partition, tag) = self.part_with(waiter);
        self.has_waited(waiter.session);
        if let Some(lock) = partition.locks.get_mut(&tag) {
            match lock.queue.iter().position(|other| Arc::ptr_eq(other, waiter)) {
                Some(at) => drop(lock.leave(at)),
                None if tag.is_implicit() => {}
                None => lock.remove(waiter.session, waiter.mode),
            }
            lock.wake(tag);
        }
        self.tidy(&mut partition, tag);
    }

    /// Lets go of a lock in the main table.
    pub(crate) fn release_main(&self, session: SessionId, tag: LockTag, mode: LockMode) {
        let mut partition = self.partition(&tag).lock();
        if let Some(lock) = partition.locks.get_mut(&tag) {
            lock.remove(session, mode);
            if !lock.queue.is_empty() {
                lock.wake(tag);
            }
        }
        self.tidy(&mut partition, tag);
    }

    /// Enters weak locks that a worker's table held: they are granted already.
    pub(crate) fn enter_granted(&self, tag: LockTag, holders: &[(SessionId, LockMode)]) {
        if holders.is_empty() {
            return;
        }
        let mut partition = self.partition(&tag).lock();
        let lock = self.lock_on(&mut partition, tag);
        for &(session, mode) in holders {
            lock.add(session, mode);
        }
    }

    /// Hands a lock in the main table to another owner (PREPARE TRANSACTION); waiters do not notice.
    pub(crate) fn hand_over_main(&self, tag: LockTag, mode: LockMode, from: SessionId, to: SessionId) {
        let mut partition = self.partition(&tag).lock();
        if let Some(lock) = partition.locks.get_mut(&tag) {
            lock.remove(from, mode);
            lock.add(to, mode);
        }
    }

    /// Lets go of all locks of a prepared transaction.
    pub(crate) fn release_all_of(&self, stand_in: SessionId, locks: &[(LockTag, LockMode)]) {
        for &(tag, mode) in locks {
            self.release_main(stand_in, tag, mode);
            if let Some(relation) = strong_relation(tag, mode) {
                self.fast.end_strong(relation);
            }
        }
    }

    /// Takes the locks that a prepared transaction had before the server started, while there are no others.
    pub(crate) fn restore_all_of(&self, stand_in: SessionId, locks: &[(LockTag, LockMode)]) {
        for &(tag, mode) in locks {
            if let Some(relation) = strong_relation(tag, mode) {
                self.fast.begin_strong(relation, |_| {});
            }
            self.enter_granted(tag, &[(stand_in, mode)]);
        }
    }

    /// Called after the running set has a new owner of `top`: waiters for an xid of its tree now wait for that owner.
    pub(crate) fn hand_over_xids(&self, top: Xid, to: SessionId) {
        if self.xid_waited.load(Ordering::SeqCst) == 0 {
            return;
        }
        let waits = self.xid_waits.lock();
        let tree: Vec<Xid> = waits.get(&top).into_iter().flatten().map(|wait| wait.0).collect();
        drop(waits);
        for tag in tree.into_iter().map(LockTag::Xid) {
            let mut partition = self.partition(&tag).lock();
            if let Some(lock) = partition.locks.get_mut(&tag).filter(|lock| !lock.holders.is_empty()) {
                lock.holders.clear();
                lock.add(to, LockMode::Exclusive);
            }
        }
    }

    /// Sleeps until `xid`, of the tree of `top`, has ended; false, at once, if nobody is its `owner` any more. The share lock that
    /// PostgreSQL would take is not kept.
    ///
    /// The owner is asked for under the tag's mutex, after the announcement: a hand-over that comes later finds both.
    ///
    /// The waiter announces itself, then looks once more whether the xid runs (`running`); who ends it first leaves the
    /// running set, then looks for waiters. All of it SeqCst: one of the two sees the other.
    pub fn wait_for_xid(
        &self,
        session: SessionId,
        xid: Xid,
        top: Xid,
        owner: impl Fn() -> Option<SessionId>,
        timeouts: LockTimeouts,
        running: impl Fn() -> bool,
    ) -> Result<bool, LockError> {
        let tag = LockTag::Xid(xid);
        self.announce_xid_wait(top, xid);
        let _announced = Announced { manager: self, top, xid };
        let waiter = {
            let mut partition = self.partition(&tag).lock();
            let Some(owner) = owner() else { return Ok(false) };
            let lock = self.lock_on(&mut partition, tag);
            lock.add(owner, LockMode::Exclusive);
            let end = lock.queue.len();
            self.enqueue(&mut partition, session, tag, LockMode::Share, end)
        };
        if running() {
            return self.sleep(waiter, timeouts).map(|_| true);
        }
        self.give_up(&waiter);
        Ok(true)
    }

    fn announce_xid_wait(&self, top: Xid, xid: Xid) {
        let mut waits = self.xid_waits.lock();
        let tree = waits.entry(top).or_default();
        match tree.iter_mut().find(|wait| wait.0 == xid) {
            Some(wait) => wait.1 += 1,
            None => tree.push((xid, 1)),
        }
        // SeqCst: partner of the load in `xids_ended`.
        self.xid_waited.fetch_add(1, Ordering::SeqCst);
    }

    fn retract_xid_wait(&self, top: Xid, xid: Xid) {
        let mut waits = self.xid_waits.lock();
        self.xid_waited.fetch_sub(1, Ordering::SeqCst);
        let Some(tree) = waits.get_mut(&top) else { return };
        let Some(at) = tree.iter().position(|wait| wait.0 == xid) else { return };
        tree[at].1 -= 1;
        if tree[at].1 > 0 {
            return;
        }
        tree.swap_remove(at);
        if tree.is_empty() {
            waits.remove(&top);
        }
        // The last waiter takes the owner's lock out again, should it have given up.
        self.clear_implicit(LockTag::Xid(xid), |_| true);
    }

    /// Called after xids of the tree of `top` left the running set: wakes the waiters for those for which `ended` holds.
    #[inline]
    pub fn xids_ended(&self, top: Xid, ended: impl Fn(Xid) -> bool) {
        if self.xid_waited.load(Ordering::SeqCst) == 0 {
            return;
        }
        self.wake_xid_waiters(top, ended);
    }

    #[cold]
    fn wake_xid_waiters(&self, top: Xid, ended: impl Fn(Xid) -> bool) {
        let waits = self.xid_waits.lock();
        let tree: Vec<Xid> = waits.get(&top).into_iter().flatten().map(|wait| wait.0).collect();
        drop(waits);
        for xid in tree.into_iter().filter(|&xid| ended(xid)) {
            self.clear_implicit(LockTag::Xid(xid), |_| true);
        }
    }

    /// Sleeps until a session's transaction has ended; returns at once if it is not `running`. The waiter announces itself, then asks; who ends
    /// the transaction says so, then looks for waiters ([`virtual_xid`](crate::virtual_xid)).
    pub(crate) fn wait_for_virtual(
        &self,
        session: SessionId,
        target: VirtualXid,
        timeouts: LockTimeouts,
        running: impl Fn() -> bool,
    ) -> Result<(), LockError> {
        let tag = target.tag();
        // SeqCst: partner of the load in `virtual_ended`.
        self.virtual_waited.fetch_add(1, Ordering::SeqCst);
        let _announced = VirtualWait { manager: self, tag };
        let waiter = {
            let mut partition = self.partition(&tag).lock();
            let lock = self.lock_on(&mut partition, tag);
            lock.add(target.session, LockMode::Exclusive);
            let end = lock.queue.len();
            self.enqueue(&mut partition, session, tag, LockMode::Share, end)
        };
        if running() {
            return self.sleep(waiter, timeouts).map(drop);
        }
        self.give_up(&waiter);
        Ok(())
    }

    /// Called after a session's transaction ended: wakes the waiters for its end.
    #[inline]
    pub(crate) fn virtual_ended(&self, ended: VirtualXid) {
        if self.virtual_waited.load(Ordering::SeqCst) > 0 {
            self.clear_implicit(ended.tag(), |_| true);
        }
    }

    /// Ends an implicit lock, if `when` agrees to its queue, and wakes the waiters.
    fn clear_implicit(&self, tag: LockTag, when: impl Fn(&VecDeque<Arc<Waiter>>) -> bool) {
        let mut partition = self.partition(&tag).lock();
        if let Some(lock) = partition.locks.get_mut(&tag).filter(|lock| when(&lock.queue)) {
            lock.holders.clear();
            lock.wake(tag);
        }
        self.tidy(&mut partition, tag);
    }

    /// All locks held and waited for, but for the implicit ones on xids.
    pub fn list(&self) -> Vec<LockInfo> {
        let mut list: Vec<LockInfo> = Vec::new();
        let info = |session, tag, mode, fastpath| LockInfo {
            session,
            tag,
            mode,
            granted: true,
            fastpath,
            wait_start: None,
        };
        list.extend(self.fast.list().into_iter().map(|(session, tag, mode)| info(session, tag, mode, true)));
        for partition in self.lock_all() {
            for (&tag, lock) in &partition.locks {
                for &(session, modes) in &lock.holders {
                    let held = LockMode::ALL.into_iter().filter(|mode| modes & mode.bit() != 0);
                    // Xid locks are the running set's to show.
                    if !matches!(tag, LockTag::Xid(_)) {
                        list.extend(held.map(|mode| info(session, tag, mode, false)));
                    }
                }
                list.extend(lock.queue.iter().map(|waiter| LockInfo {
                    granted: false,
                    wait_start: Some(waiter.since),
                    ..info(waiter.session, tag, waiter.mode, false)
                }));
            }
        }
        list
    }

    /// Whether anybody waits for a lock on the tag.
    pub fn is_waited_for(&self, tag: LockTag) -> bool {
        self.partition(&tag).lock().locks.get(&tag).is_some_and(|lock| !lock.queue.is_empty())
    }

    /// Sessions that `session` waits for: conflicting holders, and those queued ahead with conflicting requests
    /// (`pg_blocking_pids`).
    pub fn blocking(&self, session: SessionId) -> Vec<SessionId> {
        let partitions = self.lock_all();
        let Some(tag) = self.waits_for(session) else { return Vec::new() };
        let Some(lock) = partitions[Self::part_of(&tag)].locks.get(&tag) else { return Vec::new() };
        let Some(at) = lock.queue.iter().position(|waiter| waiter.session == session) else {
            return Vec::new();
        };
        let conflicts = lock.queue[at].mode.conflicts();
        let holders = lock.holders.iter().filter(|holder| holder.0 != session && holder.1 & conflicts != 0);
        let ahead = lock.queue.iter().take(at).filter(|waiter| waiter.mode.bit() & conflicts != 0);
        let mut blocking: Vec<SessionId> =
            holders.map(|holder| holder.0).chain(ahead.map(|waiter| waiter.session)).collect();
        blocking.sort_unstable();
        blocking.dedup();
        blocking
    }
}

/// A place in a queue.
pub(crate) struct Queued<'a> {
    pub(crate) manager: &'a LockManager,
    pub(crate) waiter: Arc<Waiter>,
    pub(crate) granted: bool,
}

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        if self.granted {
            self.manager.has_waited(self.waiter.session);
        } else {
            self.manager.give_up(&self.waiter);
        }
    }
}

/// An announced wait for an xid.
struct Announced<'a> {
    manager: &'a LockManager,
    top: Xid,
    xid: Xid,
}

impl Drop for Announced<'_> {
    fn drop(&mut self) {
        self.manager.retract_xid_wait(self.top, self.xid);
    }
}

/// A wait for a virtual transaction that others can see; dropping it takes the owner's lock out again, should the last waiter have given up.
struct VirtualWait<'a> {
    manager: &'a LockManager,
    tag: LockTag,
}

impl Drop for VirtualWait<'_> {
    fn drop(&mut self) {
        self.manager.virtual_waited.fetch_sub(1, Ordering::SeqCst);
        self.manager.clear_implicit(self.tag, VecDeque::is_empty);
    }
}

/// Two sessions that each hold what the other waits for, on one tag.
fn mutual(
    lock: &Lock,
    tag: LockTag,
    session: SessionId,
    mode: LockMode,
    other: SessionId,
) -> Vec<DeadlockEdge> {
    let theirs = lock.queue.iter().find(|waiter| waiter.session == other).map_or(mode, |waiter| waiter.mode);
    vec![
        DeadlockEdge { waiter: session, tag, mode, blocker: other },
        DeadlockEdge { waiter: other, tag, mode: theirs, blocker: session },
    ]
}

/// Completes with `future` or after `limit`.
pub(crate) async fn within(future: impl Future<Output = ()>, limit: Option<Duration>) {
    let Some(limit) = limit else { return future.await };
    let mut future = pin!(future);
    let mut sleep = pin!(runtime::sleep(limit));
    poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Ready(()) => Poll::Ready(()),
        Poll::Pending => sleep.as_mut().poll(cx),
    })
    .await;
}

/// The relation, if this is a lock that the fast path must know of.
pub(crate) fn strong_relation(tag: LockTag, mode: LockMode) -> Option<(Oid, Oid)> {
    match tag {
        LockTag::Relation { database, relation } if !mode.is_weak() => Some((database, relation)),
        _ => None,
    }
}

/// Spreads tags over a power of two of counters.
pub(crate) fn spread(tag: &impl Hash, among: usize) -> usize {
    (FxBuildHasher.hash_one(tag) >> 20) as usize & (among - 1)
}
