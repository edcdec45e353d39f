//! What · A session's transaction: block states, savepoints, command ids, end actions.
//!
//! Layout · A stack of levels; level 0 is the transaction, each savepoint adds one. What belongs to levels (xids of
//! subtransactions, files, actions, locks) lies in one list each, and a level remembers where its part begins: releasing a savepoint
//! is a pop, rolling back to one truncates the lists. A million savepoints cost no more than their own entries. What most transactions
//! have (one level, a lock or two) is in the [`Transaction`] itself; what few of them have is in its `Effects`, made on first use.
//!
//! Invariants
//! 1. Levels with an xid are a prefix of the stack: parents get theirs first.
//! 2. `subxids` ascends, and everything from a level's own xid on belongs to that level and its children.
//! 3. Nothing shared is touched by a transaction without an xid, but for its snapshot's horizon and its locks.
//! 4. In the state [`BlockState::Failed`] the failed level's effects are undone and its locks released already.
//!
//! PostgreSQL counterpart · `xact.c`. Differences: warnings and errors about the use of commands are the executor's.

use std::cell::RefCell;
use std::mem::take;
use std::sync::Arc;

use base::{CommandId, MultiXactId, Oid, RelFile, SqlError, SubxactId, Xid, sql_err};
use runtime::Interrupt;
use smallvec::SmallVec;

use crate::SessionId;
use crate::SyncCommit;
use crate::commit::{Durable, MappedFile, Remains};
use crate::effects::{Effects, Marks, run_actions, run_all, take_if};
use crate::error::TxnError;
use crate::horizon::XidHolds;
use crate::lock::{LockError, LockMode, LockTag, LockWait};
use crate::lock_held::HeldLocks;
use crate::logical::Described;
use crate::long_wait::LockTimeouts;
use crate::origin::Mark;
use crate::prepared::PrepareError;
use crate::prepared_state::PreparedState;
use crate::running::RunningEntry;
use crate::serializable::Member;
use crate::snapshot::Snapshot;
use crate::subxact::Family;
use crate::system::TxnSystem;
use crate::virtual_xid::{Locker, VirtualSlot, VirtualXid};

/// Isolation levels; READ UNCOMMITTED acts as READ COMMITTED.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum IsolationLevel {
    ReadUncommitted,
    #[default]
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

impl IsolationLevel {
    /// Whether all statements see what the first one saw.
    pub fn keeps_snapshot(self) -> bool {
        self >= IsolationLevel::RepeatableRead
    }
}

/// What BEGIN or SET TRANSACTION chose; AND CHAIN repeats it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Characteristics {
    /// Isolation level.
    pub isolation: IsolationLevel,
    /// READ ONLY.
    pub read_only: bool,
    /// DEFERRABLE.
    pub deferrable: bool,
}

/// Where a session stands between BEGIN and COMMIT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockState {
    /// No transaction.
    Idle,
    /// A single statement's own transaction.
    Started,
    /// Several statements of one simple-query message: an implicit block.
    Implicit,
    /// After BEGIN.
    InBlock,
    /// After an error within a block: only ROLLBACK (TO) and COMMIT are accepted.
    Failed,
}

/// How a transaction, or the subtransaction that registered an action, ended for its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It committed.
    Commit,
    /// It was rolled back.
    Abort,
    /// It was prepared: its effects are not visible yet, and may never be, but they are no longer the session's.
    Prepare,
}

/// What keeps a transaction from being prepared. A rollback to a savepoint does not take it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// Temporary relations belong to the session and are not logged.
    TemporaryObjects,
    /// Its snapshots are held by the worker that it leaves.
    ExportedSnapshots,
    /// Its session alone knows the catalogs that are to take the places of others.
    MappedFiles,
}

impl Obstacle {
    /// What the transaction did.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Obstacle::TemporaryObjects => "has operated on temporary objects",
            Obstacle::ExportedSnapshots => "has exported snapshots",
            Obstacle::MappedFiles => "modified relation mapping",
        }
    }
}

/// When an end action runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// At commit: before its record is logged. Such an action may wait for what others do in a moment and with no lock of the transaction's in
    /// their way. Otherwise as `BeforeLocks`.
    BeforeRecord,
    /// At commit: nothing can prevent it any more, but nobody sees it yet, and who waits for the transaction still waits. Whoever depends on
    /// the transaction comes after. Otherwise as `BeforeLocks`.
    BeforeVisible,
    /// The outcome is decided and visible, locks are still held: invalidate caches here.
    BeforeLocks,
    /// Locks are released.
    AfterLocks,
}

/// The transaction, or a subtransaction on the stack.
struct Level {
    subxact: SubxactId,
    /// Savepoint's name; none for the top level and for subtransactions of procedures.
    name: Option<Box<str>>,
    xid: Option<Xid>,
    /// Where this level's part of the effects begins.
    from: Marks,
    /// Its first lock's serial.
    locks_from: u64,
    /// READ ONLY as it was outside: what the level chose ends with it, however it ends.
    outer_read_only: bool,
}

/// A session's transaction with its savepoints. Lives as long as the session; between transactions it is idle.
///
/// In the order of its fields in memory: what every statement looks at comes first.
#[repr(C)]
pub struct Transaction {
    pub(crate) system: Arc<TxnSystem>,
    /// Says that it runs.
    slot: Arc<VirtualSlot>,
    pub(crate) session: SessionId,
    /// Number of this transaction within the session: the second half of its virtual xid.
    pub(crate) local: u32,
    start_time: i64,
    next_subxact: u64,
    command: CommandId,
    state: BlockState,
    pub(crate) characteristics: Characteristics,
    snapshot_taken: bool,
    /// A commit has begun and not come back: only WAL knows.
    in_doubt: bool,
    /// It asked for an xid to log changes with.
    logged: bool,
    obstacle: Option<Obstacle>,
    /// What ended the last wait for standbys too early.
    cut_wait: Option<Interrupt>,
    /// What its xid will hold back.
    holds: XidHolds,
    pub(crate) snapshot: Option<Snapshot>,
    /// What others see of it at SERIALIZABLE, since its first snapshot; none if that is safe.
    pub(crate) serial: Option<Arc<Member>>,
    effects: Option<Box<Effects>>,
    /// No set that it is a member of is older, once it has an xid.
    first_multi: MultiXactId,
    /// Levels that have an xid, from the bottom of the stack.
    with_xid: usize,
    levels: SmallVec<[Level; 1]>,
    held: HeldLocks,
    timeouts: LockTimeouts,
    /// What its commits say of where they come from.
    origin: Option<Mark>,
    /// The tables that it has described to decoders of the log.
    pub(crate) described: RefCell<Option<Box<Described>>>,
}

impl Transaction {
    /// Idle transaction of a session.
    pub fn new(system: Arc<TxnSystem>, session: SessionId) -> Transaction {
        let slot = system.virtuals.register(session);
        Transaction {
            system,
            slot,
            session,
            local: 0,
            start_time: 0,
            next_subxact: 1,
            command: CommandId(0),
            state: BlockState::Idle,
            characteristics: Characteristics::default(),
            snapshot_taken: false,
            in_doubt: false,
            logged: false,
            obstacle: None,
            cut_wait: None,
            holds: XidHolds::Everything,
            snapshot: None,
            serial: None,
            effects: None,
            first_multi: MultiXactId(0),
            with_xid: 0,
            levels: SmallVec::new(),
            held: HeldLocks::new(session),
            timeouts: LockTimeouts::default(),
            origin: None,
            described: RefCell::default(),
        }
    }

    /// Updates the facts that the next statement reads outside of this value.
    #[inline]
    pub fn note_lines(&self, lines: &mut base::Lines) {
        lines.add(Arc::as_ptr(&self.slot));
    }

    /// The server's transactions.
    pub fn system(&self) -> &Arc<TxnSystem> {
        &self.system
    }

    /// Whose transaction it is.
    pub fn session(&self) -> SessionId {
        self.session
    }

    /// Where the session stands.
    pub fn state(&self) -> BlockState {
        self.state
    }

    /// What was chosen for this transaction.
    pub fn characteristics(&self) -> Characteristics {
        self.characteristics
    }

    /// Changes them (SET TRANSACTION); when that is allowed is the caller's business.
    pub fn set_characteristics(&mut self, characteristics: Characteristics) {
        self.characteristics = characteristics;
    }

    /// `deadlock_timeout` and `lock_timeout`, from now on.
    pub fn set_timeouts(&mut self, timeouts: LockTimeouts) {
        self.timeouts = timeouts;
    }

    /// Commits say from now on that the transaction comes from there.
    pub fn set_origin(&mut self, origin: Option<Mark>) {
        self.origin = origin;
    }

    /// What commits say of where they come from.
    pub fn origin(&self) -> Option<Mark> {
        self.origin
    }

    /// Starts a transaction if none is running: before every statement.
    pub fn start(&mut self, characteristics: Characteristics) {
        if self.state != BlockState::Idle {
            return;
        }
        self.state = BlockState::Started;
        self.characteristics = characteristics;
        self.snapshot_taken = false;
        self.command = CommandId(0);
        self.local = self.local.wrapping_add(1).max(1);
        self.slot.begin(self.local);
        self.start_time = runtime::wall_clock_micros();
        self.next_subxact = 1;
        self.push_level(None);
    }

    /// BEGIN: turns the statement's transaction into a block. False if there was one already.
    pub fn begin_block(&mut self) -> bool {
        debug_assert_ne!(self.state, BlockState::Idle, "start comes first");
        let fresh = matches!(self.state, BlockState::Started | BlockState::Implicit);
        if fresh {
            self.state = BlockState::InBlock;
        }
        fresh
    }

    /// A simple-query message has more than one statement, or others may follow before Sync: they share a transaction unless one says BEGIN.
    pub fn begin_implicit_block(&mut self) {
        if self.state == BlockState::Started {
            self.state = BlockState::Implicit;
        }
    }

    /// When the transaction started, microseconds since 2000-01-01 UTC (`now()`).
    pub fn start_time(&self) -> i64 {
        self.start_time
    }

    /// Number of the transaction within its session (`virtualxid` is session/local).
    pub fn local_id(&self) -> u32 {
        self.local
    }

    /// Settles that its xid, should it get one, will hold back less than everything; false if it has one already. Until its end
    /// the transaction writes no rows of other classes.
    pub fn set_holds(&mut self, holds: XidHolds) -> bool {
        let settled = self.top_xid_if_assigned().is_none();
        if settled {
            self.holds = holds;
        }
        settled
    }

    /// What its xid holds back, or would.
    pub fn holds(&self) -> XidHolds {
        self.holds
    }

    // Snapshots

    /// The snapshot for a statement: a new one at READ COMMITTED, always the first one from REPEATABLE READ on.
    ///
    /// # Errors
    /// SERIALIZABLE READ ONLY DEFERRABLE waits for its first one, which may be interrupted.
    #[inline]
    pub fn statement_snapshot(&mut self) -> Result<Snapshot, TxnError> {
        self.snapshot_taken = true;
        if !self.characteristics.isolation.keeps_snapshot() {
            return Ok(self.system.snapshot());
        }
        if self.snapshot.is_none() {
            self.snapshot = Some(self.first_snapshot()?);
        }
        Ok(self.snapshot.clone().expect("it was taken above"))
    }

    /// The snapshot that [`statement_snapshot`](Self::statement_snapshot) would give now; a later one sees no less.
    pub fn next_snapshot(&self) -> Snapshot {
        self.snapshot.clone().unwrap_or_else(|| self.system.snapshot())
    }

    /// `xmin` of the snapshot that the transaction keeps.
    pub fn kept_xmin(&self) -> Option<Xid> {
        self.snapshot.as_ref().map(Snapshot::xmin)
    }

    /// Goes on with this snapshot.
    pub(crate) fn keep_snapshot(&mut self, snapshot: Snapshot) {
        self.snapshot_taken = true;
        self.snapshot = Some(snapshot);
    }

    /// Whether a statement of the transaction had a snapshot: its isolation level is settled.
    pub fn snapshot_taken(&self) -> bool {
        self.snapshot_taken
    }

    /// Whether the transaction keeps a snapshot: it must stay on its worker.
    pub fn has_snapshot(&self) -> bool {
        self.snapshot.is_some()
    }

    // Xids and commands

    /// xid of the current (sub)transaction, if it wrote.
    pub fn xid_if_assigned(&self) -> Option<Xid> {
        self.levels.last().and_then(|level| level.xid)
    }

    /// xid of the top level, if anything wrote.
    pub fn top_xid_if_assigned(&self) -> Option<Xid> {
        self.levels.first().and_then(|level| level.xid)
    }

    /// xid of the current (sub)transaction, assigned now if it has none; parents first. For changes that are logged.
    #[inline]
    pub fn xid(&mut self) -> Result<Xid, TxnError> {
        self.xid_for(true)
    }

    /// The same; unless `logged`, nothing goes to the log under it: it only names the transaction, or writes temporary relations.
    /// A transaction that never asked for more loses nothing if a crash takes its commit back, so the commit waits for no disk.
    #[inline]
    pub fn xid_for(&mut self, logged: bool) -> Result<Xid, TxnError> {
        self.logged |= logged;
        match self.xid_if_assigned() {
            Some(xid) => Ok(xid),
            None => self.assign_xids(),
        }
    }

    /// Whether it asked for an xid to log changes with.
    pub fn is_logged(&self) -> bool {
        self.logged
    }

    #[cold]
    fn assign_xids(&mut self) -> Result<Xid, TxnError> {
        debug_assert!(!self.levels.is_empty(), "no transaction is running");
        let mut last = Xid::INVALID;
        while self.with_xid < self.levels.len() {
            let xid = match self.top_xid_if_assigned() {
                None => {
                    self.first_multi = self.system.next_multi();
                    let entry = RunningEntry { session: self.session, holds: self.holds };
                    let xid = self.system.assign_xid(entry)?;
                    self.note_xid(xid);
                    xid
                }
                Some(top) => {
                    let xid = self.system.assign_child_xid(top)?;
                    self.levels[self.with_xid].from.subxids = self.effects().add_subxid(xid);
                    xid
                }
            };
            self.levels[self.with_xid].xid = Some(xid);
            self.with_xid += 1;
            last = xid;
        }
        Ok(last)
    }

    /// Whether `xid` is this transaction's own or that of a subtransaction of it that was not rolled back.
    #[inline]
    pub fn is_mine(&self, xid: Xid) -> bool {
        self.top_xid_if_assigned().is_some_and(|top| is_of(&self.system, top, xid))
    }

    /// The same for threads that help; it knows what has an xid now.
    pub fn owner(&self) -> impl Fn(Xid) -> bool + Send + Sync + 'static {
        let (system, top) = (self.system.clone(), self.top_xid_if_assigned());
        move |xid| top.is_some_and(|top| is_of(&system, top, xid))
    }

    /// No set that it is a member of is older than this one.
    pub fn first_multi(&self) -> MultiXactId {
        self.first_multi
    }

    /// Whether `xid` is a subtransaction of this transaction that was rolled back.
    pub fn is_rolled_back_child(&self, xid: Xid) -> bool {
        self.top_xid_if_assigned()
            .is_some_and(|top| xid > top && self.system.parents().family(xid) == Family::AbortedChild(top))
    }

    /// Live subtransactions' xids, ascending.
    pub fn subxids(&self) -> &[Xid] {
        self.effects.as_ref().map_or(&[], |effects| &effects.subxids)
    }

    /// Command id of the present command.
    pub fn current_command(&self) -> CommandId {
        self.command
    }

    /// Makes the effects of the present command visible to the next.
    pub fn next_command(&mut self) -> Result<(), TxnError> {
        if self.command.0 >= u32::MAX - 1 {
            return Err(TxnError::TooManyCommands);
        }
        self.command.0 += 1;
        Ok(())
    }

    // Subtransactions

    /// Current subtransaction; 1 is the top level.
    pub fn subxact(&self) -> SubxactId {
        self.levels.last().map_or(SubxactId(0), |level| level.subxact)
    }

    /// Depth of the stack: 1 at the top level, 0 without a transaction.
    pub fn depth(&self) -> usize {
        self.levels.len()
    }

    fn push_level(&mut self, name: Option<Box<str>>) {
        let subxact = SubxactId(self.next_subxact);
        self.next_subxact += 1;
        self.levels.push(Level {
            subxact,
            name,
            xid: None,
            from: self.effects.as_ref().map_or_else(Marks::default, |effects| effects.end()),
            locks_from: self.held.mark(),
            outer_read_only: self.characteristics.read_only,
        });
    }

    /// SAVEPOINT name, or an anonymous subtransaction (PL/pgSQL's EXCEPTION block).
    pub fn push_subxact(&mut self, name: Option<&str>) {
        debug_assert!(!self.levels.is_empty(), "no transaction is running");
        self.push_level(name.map(Box::from));
    }

    /// The current subtransaction ends well: what it did is its parent's.
    pub fn release_current(&mut self) {
        debug_assert!(self.levels.len() > 1, "the top level is no subtransaction");
        if let Some(level) = self.levels.pop() {
            self.characteristics.read_only = level.outer_read_only;
        }
        self.with_xid = self.with_xid.min(self.levels.len());
    }

    /// The current subtransaction is rolled back and gone.
    pub fn rollback_current(&mut self) {
        debug_assert!(self.levels.len() > 1, "the top level is no subtransaction");
        self.undo_current();
        self.release_current();
    }

    fn find_savepoint(&self, name: &str) -> Result<usize, SqlError> {
        let found = self.levels.iter().rposition(|level| level.name.as_deref() == Some(name));
        found.ok_or_else(|| sql_err!(S_E_INVALID_SPECIFICATION, "savepoint \"{name}\" does not exist"))
    }

    /// The subtransaction of the latest savepoint of this name.
    pub fn savepoint(&self, name: &str) -> Result<SubxactId, SqlError> {
        Ok(self.levels[self.find_savepoint(name)?].subxact)
    }

    /// The oldest subtransaction that [`fail`](Self::fail) would undo now; those after it go along.
    pub fn failing_subxact(&self) -> SubxactId {
        match self.state {
            BlockState::InBlock => {}
            BlockState::Failed => return SubxactId(u64::MAX),
            _ => return SubxactId(0),
        }
        let kept = self.levels.iter().rposition(|level| level.name.is_some());
        self.levels.get(kept.unwrap_or(0)).map_or(SubxactId(0), |level| level.subxact)
    }

    /// The characteristics set outside of all savepoints; none if they were rolled back with a failure there.
    pub fn outermost_characteristics(&self) -> Option<Characteristics> {
        match self.levels.get(1) {
            Some(level) => Some(Characteristics { read_only: level.outer_read_only, ..self.characteristics }),
            None => (self.state != BlockState::Failed).then_some(self.characteristics),
        }
    }

    /// RELEASE SAVEPOINT: the latest of this name, and all after it.
    pub fn release(&mut self, name: &str) -> Result<(), SqlError> {
        let at = self.find_savepoint(name)?;
        self.characteristics.read_only = self.levels[at].outer_read_only;
        self.levels.truncate(at);
        self.with_xid = self.with_xid.min(at);
        Ok(())
    }

    /// ROLLBACK TO SAVEPOINT: undoes all since the latest of this name, which stays. Mends a failed block.
    pub fn rollback_to(&mut self, name: &str) -> Result<(), SqlError> {
        let at = self.find_savepoint(name)?;
        // All levels from there on at once: what belongs to them lies behind the lowest one's marks.
        self.levels.truncate(at + 1);
        self.rollback_current();
        self.push_level(Some(name.into()));
        if self.state == BlockState::Failed {
            self.state = BlockState::InBlock;
        }
        Ok(())
    }

    /// Undoes the current level's effects. The level stays on the stack, empty; a second call has no effect.
    fn undo_current(&mut self) {
        let top = self.top_xid_if_assigned();
        let Some(level) = self.levels.last_mut() else { return };
        // Decoders forget what a subtransaction that was rolled back described.
        *self.described.get_mut() = None;
        let (wrote, locks_from) = (level.xid.take().is_some(), level.locks_from);
        let undone = self.effects.as_mut().map(|effects| effects.split_off(&level.from)).unwrap_or_default();
        if let (Some(top), true) = (top, wrote) {
            self.system.abort_children(top, &undone.subxids, &undone.abort_files);
        }
        self.with_xid = self.with_xid.min(self.levels.len() - 1);
        let late = run_actions(undone.actions, End::Abort);
        self.held.release_since(self.system.locks(), locks_from);
        self.system.drop_files(&undone.abort_files);
        run_all(late, End::Abort);
    }

    // Locks

    /// Takes a heavyweight lock until the end of the (sub)transaction.
    #[inline]
    pub fn lock(&mut self, tag: LockTag, mode: LockMode, wait: LockWait) -> Result<(), LockError> {
        self.acquire(tag, mode, false, wait).map(drop)
    }

    /// Waits in a queue that may move: takes the lock at the tag where the queue is when the session comes to its head, which is returned.
    pub fn lock_in_queue(&mut self, tag: LockTag, mode: LockMode) -> Result<LockTag, LockError> {
        self.acquire(tag, mode, false, LockWait::Block)
    }

    /// Takes a lock of the transaction's, and the queue behind it, to another tag; false if that cannot be done now.
    pub fn carry_queue(&mut self, from: LockTag, to: LockTag, mode: LockMode) -> bool {
        self.held.carry(self.system.locks(), from, to, mode)
    }

    /// The transaction has written a new version of a row. If it is at the head of the row's queue, the queue goes there when the transaction commits:
    /// just before others see the new version, so that who comes to that one finds who waits for it.
    #[inline]
    pub fn row_moved(&mut self, from: LockTag, to: LockTag) {
        if self.held.any_in_main() {
            self.note_row_move(from, to);
        }
    }

    #[cold]
    fn note_row_move(&mut self, from: LockTag, to: LockTag) {
        let known = self.effects.as_ref().and_then(|effects| effects.row_move_to(from));
        if known.is_none() && row_mode(&self.held, from).is_none() {
            return;
        }
        // What a savepoint may undo stays a step of its own.
        let here = self.levels.last().map_or(0, |level| level.from.row_moves());
        let moves = &mut self.effects().row_moves;
        match known.filter(|at| *at >= here) {
            Some(at) => moves[at].1 = to,
            None => moves.push((from, to)),
        }
    }

    /// Takes a lock that outlives the transaction (`pg_advisory_lock`, VACUUM).
    pub fn lock_for_session(
        &mut self,
        tag: LockTag,
        mode: LockMode,
        wait: LockWait,
    ) -> Result<(), LockError> {
        self.acquire(tag, mode, true, wait).map(drop)
    }

    #[inline]
    fn acquire(
        &mut self,
        tag: LockTag,
        mode: LockMode,
        session_level: bool,
        wait: LockWait,
    ) -> Result<LockTag, LockError> {
        let system = &self.system;
        let table = || system.fast_table();
        self.held.acquire(system.locks(), table, tag, mode, session_level, wait, &self.timeouts)
    }

    /// Lets go of a transaction-level lock early; false if it is not held.
    pub fn unlock(&mut self, tag: LockTag, mode: LockMode) -> bool {
        self.held.release(self.system.locks(), tag, mode, false)
    }

    /// Lets go of a session-level lock once; false if it is not held.
    pub fn unlock_for_session(&mut self, tag: LockTag, mode: LockMode) -> bool {
        self.held.release(self.system.locks(), tag, mode, true)
    }

    /// Lets go of the session-level locks on tags of which `which` says so (`pg_advisory_unlock_all`).
    pub fn unlock_all_for_session(&mut self, which: impl Fn(LockTag) -> bool) {
        self.held.release_session_level(self.system.locks(), which);
    }

    /// Whether the session holds a lock in this mode.
    pub fn holds_lock(&self, tag: LockTag, mode: LockMode) -> bool {
        self.held.holds(tag, mode)
    }

    /// Sleeps until `xid` (top level or subtransaction) has ended.
    pub fn wait_for(&self, xid: Xid) -> Result<(), TxnError> {
        self.system.wait_for(self.session, xid, self.timeouts)
    }

    /// Sleeps until a transaction that is in the way has ended.
    pub fn wait_for_locker(&self, locker: Locker) -> Result<(), TxnError> {
        self.system.wait_for_locker(self.session, locker, self.timeouts)
    }

    // Files and actions

    /// These files go when the transaction commits (DROP TABLE).
    pub fn drop_at_commit(&mut self, file: RelFile) {
        self.effects().commit_files.push(file);
    }

    /// These files go when the current (sub)transaction is rolled back (CREATE TABLE).
    pub fn drop_at_abort(&mut self, file: RelFile) {
        self.effects().abort_files.push(file);
    }

    /// When the transaction commits, a relation of a system catalog changes to another file. Such a transaction cannot be prepared.
    pub fn map_at_commit(&mut self, file: MappedFile) {
        self.obstruct_prepare(Obstacle::MappedFiles);
        self.effects().mapped.push(file);
    }

    /// Whether the file was made in the current (sub)transaction, so that it vanishes unseen if that is rolled back.
    pub fn made_here(&self, file: RelFile) -> bool {
        match (&self.effects, self.levels.last()) {
            (Some(effects), Some(level)) => effects.files_since(&level.from).contains(&file),
            _ => false,
        }
    }

    /// Bytes that whoever commits this transaction after it was prepared gets: what the catalog's caches must forget then. For
    /// any other end an action ([`on_end`](Self::on_end)) does it.
    pub fn invalidate_at_commit_prepared(&mut self, invalidations: &[u8]) {
        self.effects().invalidations.extend_from_slice(invalidations);
    }

    /// The transaction did what keeps it from being prepared.
    pub fn obstruct_prepare(&mut self, obstacle: Obstacle) {
        self.obstacle.get_or_insert(obstacle);
    }

    /// Runs `action` when the current subtransaction is rolled back, or with the outcome of the whole transaction: caches to
    /// invalidate, cursors to close, settings to restore. In order of registration at commit, in reverse at rollback. An
    /// action must not fail, nor wait but in [`Phase::BeforeRecord`].
    pub fn on_end(&mut self, phase: Phase, action: Box<dyn FnOnce(End)>) {
        self.effects().actions.push((phase, action));
    }

    fn effects(&mut self) -> &mut Effects {
        self.effects.get_or_insert_default()
    }

    // The end

    /// An error reached the session: undoes the current (sub)transaction. Within a block the rest waits for ROLLBACK (TO);
    /// otherwise the transaction is over.
    pub fn fail(&mut self) {
        match self.state {
            BlockState::Idle | BlockState::Failed => {}
            BlockState::Started | BlockState::Implicit => self.abort(),
            BlockState::InBlock => {
                while self.levels.len() > 1 && self.levels.last().is_some_and(|level| level.name.is_none()) {
                    self.rollback_current();
                }
                if self.levels.len() > 1 {
                    self.undo_current();
                } else {
                    self.undo_all();
                    self.push_level(None);
                }
                self.state = BlockState::Failed;
            }
        }
    }

    /// COMMIT: ends the transaction and its savepoints. A failed block is rolled back, and the result says so. An error is
    /// one of WAL or the commit log: whether the transaction committed is then open until recovery, and the server must
    /// stop.
    pub fn commit(&mut self, sync: SyncCommit, invalidations: &[u8]) -> Result<End, TxnError> {
        if self.state == BlockState::Failed {
            self.abort();
            return Ok(End::Abort);
        }
        self.snapshot = None;
        let xid = self.top_xid_if_assigned();
        if xid.is_none() && self.effects.is_none() {
            self.clear();
            self.let_go();
            self.end_serializable(true);
        } else {
            self.commit_effects(xid, sync, invalidations)?;
        }
        self.state = BlockState::Idle;
        Ok(End::Commit)
    }

    /// Commits a transaction that did more than read.
    fn commit_effects(
        &mut self,
        xid: Option<Xid>,
        sync: SyncCommit,
        invalidations: &[u8],
    ) -> Result<(), TxnError> {
        let sync = if self.logged { sync } else { SyncCommit::Off };
        let Effects {
            subxids,
            commit_files: files,
            mapped,
            mut actions,
            invalidations: stale,
            row_moves,
            ..
        } = self.effects.take().map_or_else(Effects::default, |effects| *effects);
        run_all(take_if(&mut actions, |phase| phase == Phase::BeforeRecord), End::Commit);
        self.in_doubt = xid.is_some();
        let first = take_if(&mut actions, |phase| phase == Phase::BeforeVisible);
        let decided = (!first.is_empty()).then_some(|| run_all(first, End::Commit));
        for (from, to) in row_moves {
            if let Some(mode) = row_mode(&self.held, from) {
                self.held.carry(self.system.locks(), from, to, mode);
            }
        }
        let worker = xid.is_some().then(|| self.system.worker());
        let commit = match (xid, &worker) {
            (Some(xid), Some(worker)) => {
                let (subxids, files, mapped) = (&subxids, &files, &mapped);
                let invalidations = if invalidations.is_empty() { &stale } else { invalidations };
                // Who only changed rows holds none that readers of a standby would mind.
                let changes_more = !invalidations.is_empty() || !files.is_empty() || !mapped.is_empty();
                let locks = if changes_more { self.held.exclusive_relations() } else { Vec::new() };
                let locks = &locks;
                let origin = self.origin;
                let remains = Remains { xid, subxids, files, mapped, invalidations, locks, origin };
                let durable = Durable::of(&remains, sync, decided.is_some() || !stale.is_empty());
                Some((xid, self.system.commit_tree(remains, (durable, sync), &worker.in_flight, decided)?))
            }
            _ => {
                decided.into_iter().for_each(|decided| decided());
                None
            }
        };
        self.clear();
        let late = run_actions(actions, End::Commit);
        self.let_go();
        // Who begins now sees it, so it is not concurrent with it.
        self.end_serializable(true);
        if let Some((xid, commit)) = commit {
            self.cut_wait = self.system.make_durable(commit, xid, &subxids)?;
        }
        self.in_doubt = false;
        self.system.drop_files(&files);
        run_all(late, End::Commit);
        Ok(())
    }

    /// PREPARE TRANSACTION: ends the transaction for this session and leaves it to whoever commits it or rolls it back, with all
    /// its locks. Not for a failed block. After an error it is to be rolled back; one of the log means that the server must stop.
    pub fn prepare(
        &mut self,
        gid: &str,
        (owner, database): (Oid, Oid),
        sync: SyncCommit,
    ) -> Result<(), PrepareError> {
        debug_assert!(!matches!(self.state, BlockState::Idle | BlockState::Failed));
        if let Some(obstacle) = self.obstacle {
            return Err(PrepareError::Obstacle(obstacle));
        }
        let system = self.system.clone();
        let slot = system.reserve_prepared(gid, self.slot.running())?;
        // What it changed is locked by its xid, for which the next in each queue waits from now on.
        self.held.release_where(system.locks(), |tag| matches!(tag, LockTag::Tuple { .. }));
        let locks = self.held.transaction_locks().ok_or(PrepareError::MixedLocks)?;
        self.levels.truncate(1);
        self.with_xid = self.with_xid.min(1);
        let xid = self.xid()?;
        let effects = self.effects();
        let (subxids, invalidations) = (take(&mut effects.subxids), take(&mut effects.invalidations));
        let (commit_files, abort_files) = (take(&mut effects.commit_files), take(&mut effects.abort_files));
        let state = PreparedState {
            xid,
            gid: gid.into(),
            owner,
            database,
            time: runtime::wall_clock_micros(),
            subxids,
            commit_files,
            abort_files,
            invalidations,
            locks,
            predicate_locks: self.lasting_predicate_locks(),
        };
        self.snapshot = None;
        self.in_doubt = true;
        let serial = self.serial.clone();
        let end = system.prepare_tree(slot, state, serial, |to| self.held.hand_over(system.locks(), to))?;
        self.in_doubt = false;
        let actions = take(&mut self.effects().actions);
        self.clear();
        self.end_virtual();
        let late = run_actions(actions, End::Prepare);
        run_all(late, End::Prepare);
        self.serial = None;
        self.state = BlockState::Idle;
        self.cut_wait = system.await_standbys(system.expect_standbys(sync, end));
        Ok(())
    }

    /// The interrupt that ended the wait for standbys of what committed or was prepared last, if one did. It is told once.
    pub fn take_cut_wait(&mut self) -> Option<Interrupt> {
        self.cut_wait.take()
    }

    /// Rolls everything back.
    pub fn abort(&mut self) {
        if self.state != BlockState::Idle {
            self.undo_all();
            self.state = BlockState::Idle;
        }
    }

    fn undo_all(&mut self) {
        self.snapshot = None;
        let undone = self.effects.take().map_or_else(Effects::default, |effects| *effects);
        let (subxids, files) = (undone.subxids.as_slice(), undone.abort_files.as_slice());
        if let Some(xid) = self.top_xid_if_assigned() {
            self.system.abort_tree(Remains { xid, subxids, files, ..Remains::default() });
        }
        self.clear();
        let late = run_actions(undone.actions, End::Abort);
        self.let_go();
        self.end_serializable(false);
        self.system.drop_files(files);
        run_all(late, End::Abort);
    }

    /// Lets go of its locks and of itself.
    #[inline]
    fn let_go(&mut self) {
        self.held.release_transaction(self.system.locks());
        self.end_virtual();
    }

    /// Its locks are released: wakes the waiters for its end.
    #[inline]
    fn end_virtual(&self) {
        let local = self.slot.end();
        if local != 0 {
            self.system.locks().virtual_ended(VirtualXid { session: self.session, local });
        }
    }

    #[inline]
    fn clear(&mut self) {
        self.levels.clear();
        self.with_xid = 0;
        self.effects = None;
        self.obstacle = None;
        self.holds = XidHolds::Everything;
        self.logged = false;
    }
}

/// Whether `xid` is that of the transaction `top` or of a subtransaction of it that was not rolled back.
#[inline]
fn is_of(system: &TxnSystem, top: Xid, xid: Xid) -> bool {
    xid == top || xid > top && system.parents().family(xid) == Family::Child(top)
}

/// In which of the modes that only one can have the lock for a row is held.
fn row_mode(held: &HeldLocks, tag: LockTag) -> Option<LockMode> {
    [LockMode::Exclusive, LockMode::AccessExclusive].into_iter().find(|mode| held.holds(tag, *mode))
}

impl Drop for Transaction {
    /// The session is gone without a word, perhaps because its machine is: frees what others could wait for, and waits for
    /// nothing. The commit log's silence says that the transaction was rolled back. One whose commit did not come back stays
    /// as it is, locks and all: the server is about to stop, and recovery will know.
    fn drop(&mut self) {
        if self.in_doubt {
            return;
        }
        if let Some(xid) = self.top_xid_if_assigned() {
            let latest = self.subxids().last().copied().unwrap_or(xid);
            self.system.running().complete(xid, latest);
            self.system.locks().xids_ended(xid, |_| true);
        }
        self.end_serializable(false);
        self.held.release_transaction(self.system.locks());
        self.held.release_session_level(self.system.locks(), |_| true);
        self.end_virtual();
        self.system.virtuals.unregister(&self.slot);
    }
}
