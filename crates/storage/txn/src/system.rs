//! What · One server's transactions: the parts joined, and what a worker thread keeps of them.
//!
//! Invariants
//! 1. Whether a transaction ended is asked of the running set (through a snapshot); how, of the commit log. In this order.
//! 2. What a worker keeps is used by its thread only; words that others read have cache lines of their own.
//!
//! Locks · none of its own.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use base::{BlockNo, Lsn, MultiXactId, Oid, RelFile, Severity, SqlError, SqlResult, Xid};
use parking_lot::Mutex;
use runtime::rest::{Ground, rest_on};
use runtime::{WaitQueue, fs};
use wal::{RecordBuilder, Rmgr, Wal, WalError};

use crate::clog::{Clog, Outcome};
use crate::commit::{CheckpointGate, InFlight, MappedFile};
use crate::early::EarlyCommits;
use crate::error::TxnError;
use crate::horizon::{Bounds, Held, Horizons, Oldest, Publishers, RelKind};
use crate::lock::{LockInfo, LockManager, LockMode, LockTag, LockWait};
use crate::lock_fast::FastTable;
use crate::lock_held::HeldLocks;
use crate::long_wait::LockTimeouts;
use crate::multixact::{MultiXacts, RecentSets};
use crate::old_snapshot::{OldSnapshots, Removed};
use crate::order::CommitOrder;
use crate::origin::Origins;
use crate::prepared::{PreparedTransactions, TWO_PHASE_DIR};
use crate::running::{Running, RunningEntry};
use crate::serializable::{PredicateLimits, Serializable};
use crate::slru::SlruStats;
use crate::snapshot::{Snapshot, SnapshotCache, SnapshotData};
use crate::subxact::{Family, SubxactMap};
use crate::synchronous::Standbys;
use crate::truncation::{OldestIds, Truncation};
use crate::virtual_xid::VirtualXids;
use crate::{SessionId, slru, standby};

/// Fate of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum XidStatus {
    /// Not ended yet.
    InProgress,
    /// Committed, with all its parents.
    Committed,
    /// Rolled back or lost in a crash.
    Aborted,
}

/// What this crate needs of the write-ahead log.
pub trait Log: Send + Sync {
    /// Appends a record; returns its end.
    fn insert(&self, rmgr: Rmgr, info: u8, xid: Xid, data: &[u8]) -> Lsn;
    /// Whether records may be made that can as well be left out.
    fn has_room(&self) -> bool;
    /// Waits until WAL is durable up to `upto`.
    fn flush(&self, upto: Lsn) -> Result<(), WalError>;
    /// Durable up to here.
    fn flushed(&self) -> Lsn;
    /// Where who receives its bytes has all before `lsn`.
    fn received_end(&self, lsn: Lsn) -> Lsn {
        lsn
    }
    /// Where it ends; records that are inserted later end behind it.
    fn end(&self) -> Lsn;
    /// Whether it is broken: records go nowhere, and every flush fails.
    fn has_failed(&self) -> bool;
}

impl Log for Wal {
    fn insert(&self, rmgr: Rmgr, info: u8, xid: Xid, data: &[u8]) -> Lsn {
        let mut record = RecordBuilder::new(rmgr, info, xid);
        record.data(data);
        Wal::insert(self, &record)
    }

    fn has_room(&self) -> bool {
        Wal::has_room(self)
    }

    fn flush(&self, upto: Lsn) -> Result<(), WalError> {
        Wal::flush(self, upto)
    }

    fn flushed(&self) -> Lsn {
        Wal::flushed(self)
    }

    fn received_end(&self, lsn: Lsn) -> Lsn {
        Wal::received_end(self, lsn)
    }

    fn end(&self) -> Lsn {
        Wal::insert_end(self)
    }

    fn has_failed(&self) -> bool {
        self.failure().is_some()
    }
}

/// The log, as something that answers rest on.
struct Durability {
    log: Arc<dyn Log>,
    standbys: Arc<Standbys>,
}

impl Ground for Durability {
    fn settle(&self, position: u64) -> SqlResult<()> {
        self.log.flush(Lsn(position)).map_err(TxnError::Wal)?;
        self.standbys.settle(Lsn(position)).map_err(|interrupt| {
            let mut error = SqlError::from(interrupt);
            // What was to be answered is known, and must not be.
            error.report_mut().severity = Severity::Fatal;
            error.detail(
                "The answer rests on a transaction that might not have been replicated to the standby.",
            )
        })
    }
}

/// What the end of a transaction does to files of relations.
pub trait RelationFiles: Send + Sync {
    /// Relations of system catalogs have other files from now on. No I/O.
    fn map_files(&self, files: &[MappedFile]);

    /// Drops all forks of these, which a commit dropped or a rolled-back transaction made, cached pages first. Files that are gone
    /// already are no error.
    fn drop_files(&self, files: &[RelFile]);
}

/// Settings.
#[derive(Clone, Debug)]
pub struct TxnOptions {
    /// Pages of the commit log kept in memory (`transaction_buffers`); allocated as they are used.
    pub transaction_buffers: usize,
    /// Pages of multixacts kept in memory (`multixact_member_buffers` and `multixact_offset_buffers`); allocated as they are used.
    pub multixact_buffers: usize,
    /// Prepared transactions at most (`max_prepared_transactions`).
    pub max_prepared: usize,
    /// Replication origins that may have come somewhere (`max_active_replication_origins`).
    pub max_origins: usize,
    /// Things that can be locked at the same time, but for weak locks on relations.
    pub max_locks: usize,
    /// Age from which snapshots may lose rows (`old_snapshot_threshold`); none: never.
    pub old_snapshot_threshold: Option<Duration>,
    /// Predicate locks of serializable transactions.
    pub predicate: PredicateLimits,
}

impl Default for TxnOptions {
    fn default() -> TxnOptions {
        TxnOptions {
            transaction_buffers: 1024,
            multixact_buffers: 1024,
            max_prepared: 0,
            max_origins: 10,
            max_locks: usize::MAX,
            old_snapshot_threshold: None,
            predicate: PredicateLimits::default(),
        }
    }
}

/// Where to go on from, as the checkpoint says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TxnStart {
    /// First xid not yet given out.
    pub next_xid: Xid,
    /// First multixact id not yet given out.
    pub next_multi: MultiXactId,
    /// Oldest ids that rows may hold.
    pub oldest: OldestIds,
}

/// Folder of the commit log in the data directory.
pub const CLOG_DIR: &str = "pg_xact";
/// Folder of the multixacts.
pub const MULTIXACT_DIR: &str = "pg_multixact";

/// What a worker thread keeps of a system.
pub(crate) struct Worker {
    system: u64,
    alive: Weak<()>,
    cache: SnapshotCache,
    catalog_bounds: Bounds,
    plain_bounds: Bounds,
    /// What was looked up of transactions that have ended, each where its xid puts it.
    endings: [Cell<Known>; ENDINGS],
    pub(crate) recent_sets: RecentSets,
    pub(crate) in_flight: Arc<InFlight>,
    gate: Arc<CheckpointGate>,
    fast: Arc<FastTable>,
    locks: Arc<LockManager>,
}

/// Number of transactions whose outcome a worker caches.
const ENDINGS: usize = 128;

/// What a worker knows of a transaction that has ended.
#[derive(Clone, Copy, Default)]
struct Known {
    xid: Xid,
    committed: bool,
    /// Where its commit record ends, if that may not be durable yet.
    early: Lsn,
}

/// Through whom a standby holds back rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StandbyHolder {
    /// The replication slots.
    Slots,
    /// The session of this number, which sends the log.
    Sender(i32),
}

/// How a transaction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Nothing of it counts.
    Aborted,
    /// It committed and its client still waits until the record is durable; others already see its changes
    /// ([`is_early`](TxnSystem::is_early)).
    CommittedEarly,
    /// It committed.
    Committed,
}

impl Worker {
    /// Its bounds for a class of relations that sessions share, and which part of [`Oldest`] is theirs.
    fn bounds(&self, kind: RelKind) -> (&Bounds, fn(&Oldest) -> Xid) {
        match kind {
            RelKind::Shared | RelKind::Catalog => (&self.catalog_bounds, |oldest| oldest.catalogs),
            RelKind::Plain | RelKind::Temp => (&self.plain_bounds, |oldest| oldest.plain),
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.gate.unregister(&self.in_flight);
        self.locks.fast.unregister(&self.fast);
    }
}

thread_local! {
    static WORKERS: RefCell<Vec<Rc<Worker>>> = const { RefCell::new(Vec::new()) };
}

static SYSTEMS: AtomicU64 = AtomicU64::new(0);

/// Locks of the replay, until they are dropped.
pub struct ReplayLocks<'a> {
    system: &'a TxnSystem,
    held: HeldLocks,
}

impl Drop for ReplayLocks<'_> {
    fn drop(&mut self) {
        self.held.release_transaction(&self.system.locks);
    }
}

/// See [`TxnSystem::on_replayed_commit`].
type ReplayedCommit = Box<dyn Fn(&[MappedFile], &[u8]) + Send + Sync>;

/// All transactions of a server.
pub struct TxnSystem {
    id: u64,
    alive: Arc<()>,
    running: Running,
    parents: Arc<SubxactMap>,
    publishers: Arc<Publishers>,
    standby_holders: Mutex<BTreeMap<StandbyHolder, Xid>>,
    clog: Clog,
    gate: Arc<CheckpointGate>,
    locks: Arc<LockManager>,
    log: Arc<dyn Log>,
    files: Arc<dyn RelationFiles>,
    pub(crate) multixacts: MultiXacts,
    pub(crate) truncation: Truncation,
    pub(crate) prepared: PreparedTransactions,
    pub(crate) origins: Origins,
    pub(crate) virtuals: VirtualXids,
    pub(crate) order: CommitOrder,
    /// Who commits and has to wait for others that come before.
    pub(crate) behind: WaitQueue,
    pub(crate) early: EarlyCommits,
    pub(crate) standbys: Arc<Standbys>,
    ground: Arc<dyn Ground>,
    serializable: Serializable,
    /// Runs once, before the first write.
    first_write: OnceLock<Box<dyn Fn() + Send + Sync>>,
    replayed_commit: OnceLock<ReplayedCommit>,
    /// Greatest limit of removals that the log tells of; the greatest number: it tells of none.
    removed: AtomicU64,
    /// It is still to be done.
    awaits_write: AtomicBool,
}

impl TxnSystem {
    /// Makes the commit log of a new data directory (initdb), durably: its first page, for the xids up to the first normal one
    /// and those after it.
    pub fn create(data_dir: &Path) -> std::io::Result<()> {
        let dir = data_dir.join(CLOG_DIR);
        fs::create_dir_all(&dir)?;
        fs::create_dir_all(&data_dir.join(MULTIXACT_DIR))?;
        fs::create_dir_all(&data_dir.join(TWO_PHASE_DIR))?;
        let page = slru::encode(0, std::iter::repeat_n(0, slru::WORDS));
        fs::write_file_durably(&dir.join(slru::segment_name(0)), &page)?;
        fs::sync_dir(data_dir)
    }

    /// Opens the data directory, to be followed by redo, if there is any, and [`end_recovery`](Self::end_recovery).
    pub fn open(
        data_dir: &Path,
        log: Arc<dyn Log>,
        files: Arc<dyn RelationFiles>,
        options: &TxnOptions,
        start: TxnStart,
    ) -> TxnSystem {
        let clog_dir: PathBuf = data_dir.join(CLOG_DIR);
        let buffers = options.transaction_buffers.max(slru::BANK);
        let parents = Arc::new(SubxactMap::default());
        let mut running = Running::new(start.next_xid, parents.clone());
        running.set_old_snapshots(options.old_snapshot_threshold.map(OldSnapshots::new));
        let multixacts = MultiXacts::open(
            &data_dir.join(MULTIXACT_DIR),
            options.multixact_buffers.max(slru::BANK),
            log.clone(),
            start.oldest.multi..start.next_multi,
        );
        let standbys = Arc::<Standbys>::default();
        let ground = Arc::new(Durability { log: log.clone(), standbys: standbys.clone() });
        TxnSystem {
            // Relaxed: only uniqueness matters.
            id: SYSTEMS.fetch_add(1, Ordering::Relaxed),
            alive: Arc::new(()),
            running,
            parents,
            publishers: Arc::default(),
            standby_holders: Mutex::default(),
            clog: Clog::open(&clog_dir, buffers, log.clone(), start.oldest.xid..start.next_xid, true),
            truncation: Truncation::new(start.oldest.multi),
            gate: Arc::default(),
            locks: Arc::new(LockManager::with_room(options.max_locks)),
            log,
            files,
            multixacts,
            prepared: PreparedTransactions::new(data_dir, options.max_prepared),
            origins: Origins::new(data_dir, options.max_origins),
            virtuals: VirtualXids::default(),
            order: CommitOrder::default(),
            behind: WaitQueue::new(),
            early: EarlyCommits::default(),
            standbys,
            ground,
            serializable: Serializable::new(options.predicate),
            first_write: OnceLock::new(),
            replayed_commit: OnceLock::new(),
            removed: AtomicU64::new(u64::MAX),
            awaits_write: AtomicBool::new(false),
        }
    }

    /// Calls `told` once, when the next transaction gets an xid. At most once in a system's life.
    pub fn on_first_write(&self, told: impl Fn() + Send + Sync + 'static) {
        if self.first_write.set(Box::new(told)).is_ok() {
            // Release: pairs with the Acquire in `note_write`.
            self.awaits_write.store(true, Ordering::Release);
        }
    }

    /// A transaction is about to write.
    #[inline]
    fn note_write(&self) {
        if self.awaits_write.load(Ordering::Acquire) && self.awaits_write.swap(false, Ordering::AcqRel) {
            self.first_write.get().into_iter().for_each(|told| told());
        }
    }

    /// Before replay: reads what is known of prepared transactions. Nobody gets an xid.
    pub fn begin_recovery(&self) -> Result<(), TxnError> {
        self.clog.begin_recovery();
        self.origins.load()?;
        self.prepared.load()
    }

    /// From now on the log says what standbys must know of removals, or it does not (`wal_level`). When it has just been started.
    pub fn tell_standbys(&self, tells: bool) {
        self.removed.store(if tells { 0 } else { u64::MAX }, Ordering::Relaxed);
    }

    /// Something is about to be removed, or shown to all, that a snapshot could need otherwise which does not see `limit` as ended; or one that is older. Called
    /// before that is logged.
    ///
    /// The log says so once for each greater limit. That is enough: who takes a snapshot of a standby behind that record has all below the limit ended, for the
    /// server that wrote it had; so only snapshots of before are misled by what comes.
    #[inline]
    pub fn note_removal(&self, limit: Xid) {
        // Relaxed: who finds that another has told, whose record is in the log, inserts his own behind it.
        if limit.0 > self.removed.load(Ordering::Relaxed) {
            self.log_removal(limit);
        }
    }

    #[cold]
    fn log_removal(&self, limit: Xid) {
        self.log.insert(Rmgr::Standby, standby::REMOVED, Xid::INVALID, &limit.0.to_le_bytes());
        self.removed.fetch_max(limit.0, Ordering::AcqRel);
    }

    /// The file of a relation is about to be cut, which its owner has locked against all others.
    pub fn note_cut(&self, (database, relation): (Oid, Oid), file: RelFile) {
        if self.removed.load(Ordering::Relaxed) != u64::MAX {
            let data = standby::encode_cut((database, relation), file);
            self.log.insert(Rmgr::Standby, standby::CUT, Xid::INVALID, &data);
        }
    }

    /// As [`note_removal`](Self::note_removal), of rows that this thread has found removable. False while the log is replayed: nothing goes.
    pub fn note_dead(&self) -> bool {
        if self.is_in_recovery() {
            return false;
        }
        let worker = self.worker();
        let known = [&worker.catalog_bounds, &worker.plain_bounds].map(Bounds::maybe_needed);
        let newest = known[0].max(known[1]);
        if newest.is_normal() {
            self.note_removal(Xid(newest.0 - 1));
        }
        true
    }

    /// The oldest xid that a snapshot needs which somebody holds; none without one.
    pub fn oldest_held(&self) -> Option<Xid> {
        self.publishers.oldest_held()
    }

    /// Whether the log is being replayed.
    pub fn is_in_recovery(&self) -> bool {
        self.clog.limit() == Xid::INVALID
    }

    /// Before a replay that sessions may watch: transactions from `oldest` on ran when the checkpoint was taken, as far as they have not ended.
    pub fn begin_replay(&self, oldest: Xid) {
        let from = oldest.max(self.clog.oldest()).max(Xid::FIRST_NORMAL);
        // A page that is not there will be made by the log.
        let runs = |xid: &Xid| !matches!(self.clog.get(*xid), Ok(Outcome::Committed | Outcome::Aborted));
        let running: Vec<Xid> = (from.0..self.next_xid().0).map(Xid).filter(runs).collect();
        self.running.begin_replay(&running);
    }

    /// Calls `told` when the replay of a commit has made it visible, with the catalogs' files that are others now and with what caches must forget.
    pub fn on_replayed_commit(&self, told: impl Fn(&[MappedFile], &[u8]) + Send + Sync + 'static) {
        let _ = self.replayed_commit.set(Box::new(told));
    }

    pub(crate) fn replayed_commit(&self, mapped: &[MappedFile], invalidations: &[u8]) {
        if (!mapped.is_empty() || !invalidations.is_empty())
            && let Some(told) = self.replayed_commit.get()
        {
            told(mapped, invalidations);
        }
    }

    /// Replay is over: what is prepared runs on, everything else that has no end in WAL counts as rolled back, and transactions
    /// may begin. Fails if files are missing or too short.
    pub fn end_recovery(&self) -> Result<(), TxnError> {
        self.clog.end_recovery(self.next_xid()).map_err(|(xid, error)| TxnError::Status { xid, error })?;
        self.multixacts.end_recovery().map_err(|(multi, error)| TxnError::Multi { multi, error })?;
        self.restore_prepared()?;
        self.running.end_replay();
        Ok(())
    }

    /// What this thread keeps of the system.
    #[inline]
    pub(crate) fn worker(&self) -> Rc<Worker> {
        let known =
            WORKERS.with_borrow(|workers| workers.iter().find(|worker| worker.system == self.id).cloned());
        known.unwrap_or_else(|| self.new_worker())
    }

    #[cold]
    fn new_worker(&self) -> Rc<Worker> {
        let worker = Rc::new(Worker {
            system: self.id,
            alive: Arc::downgrade(&self.alive),
            cache: SnapshotCache::new(&self.running, Rc::new(Held::new(&self.publishers))),
            catalog_bounds: Bounds::default(),
            plain_bounds: Bounds::default(),
            endings: [const { Cell::new(Known { xid: Xid::INVALID, committed: false, early: Lsn::INVALID }) };
                ENDINGS],
            recent_sets: RecentSets::default(),
            in_flight: self.gate.register(),
            gate: self.gate.clone(),
            fast: self.locks.fast.register(),
            locks: self.locks.clone(),
        });
        // Workers of systems that are gone are dropped after the list is free again.
        let gone: Vec<_> = WORKERS.with_borrow_mut(|workers| {
            workers.push(worker.clone());
            workers.extract_if(.., |worker| worker.alive.strong_count() == 0).collect()
        });
        drop(gone);
        worker
    }

    /// The present snapshot: shared and reused until a transaction with an xid ends.
    #[inline]
    pub fn snapshot(&self) -> Snapshot {
        self.worker().cache.take(&self.running)
    }

    /// A snapshot for VACUUM: it holds no rows back.
    pub fn snapshot_for_vacuum(&self) -> Snapshot {
        self.worker().cache.take_for_vacuum(&self.running)
    }

    /// Another session's snapshot for this thread (`SET TRANSACTION SNAPSHOT`). The original must be held until this returns.
    pub fn adopt_snapshot(&self, data: Arc<SnapshotData>) -> Snapshot {
        self.worker().cache.adopt(data)
    }

    /// Whether `xid` (top level or subtransaction) is still running. Rolled-back subtransactions are not, xids not given out
    /// yet are.
    pub fn is_in_progress(&self, xid: Xid) -> bool {
        // It may end between two questions.
        runtime::interleaving_point();
        let worker = self.worker();
        // What had ended at any time has ended.
        !worker.cache.last_sees(xid) && !worker.cache.present(&self.running).sees(xid)
    }

    /// Fate of `xid`. Asks the running set first, so that no transaction ever is half committed.
    pub fn status(&self, xid: Xid) -> Result<XidStatus, TxnError> {
        if xid.is_normal() && self.is_in_progress(xid) {
            return Ok(XidStatus::InProgress);
        }
        Ok(if self.did_commit(xid)? { XidStatus::Committed } else { XidStatus::Aborted })
    }

    /// Whether an `xid` that is known to have ended (a snapshot sees it, [`is_in_progress`](Self::is_in_progress) said no)
    /// committed.
    #[inline]
    pub fn did_commit(&self, xid: Xid) -> Result<bool, TxnError> {
        Ok(self.ending(xid)? != Ending::Aborted)
    }

    /// How an `xid` that is known to have ended did. Who hears of an early commit rests on it.
    pub fn ending(&self, xid: Xid) -> Result<Ending, TxnError> {
        if !xid.is_normal() {
            return Ok(if xid.is_valid() { Ending::Committed } else { Ending::Aborted });
        }
        let worker = self.worker();
        let slot = &worker.endings[xid.0 as usize % ENDINGS];
        let mut known = slot.get();
        if known.xid != xid {
            known = self.look_up(xid)?;
            slot.set(known);
        }
        if known.early != Lsn::INVALID {
            let flushed = self.log.flushed();
            if known.early > flushed || self.early.lsn_of(xid, flushed, &self.standbys).is_some() {
                rest_on(known.early.0, &self.ground);
                return Ok(Ending::CommittedEarly);
            }
            slot.set(Known { early: Lsn::INVALID, ..known });
        }
        Ok(if known.committed { Ending::Committed } else { Ending::Aborted })
    }

    fn look_up(&self, xid: Xid) -> Result<Known, TxnError> {
        let committed = self.clog.get(xid).map_err(TxnError::status(xid))? == Outcome::Committed;
        let early = self.early.lsn_of(xid, self.log.flushed(), &self.standbys).filter(|_| committed);
        Ok(Known { xid, committed, early: early.unwrap_or(Lsn::INVALID) })
    }

    /// Standbys that commits wait for.
    pub fn standbys(&self) -> &Standbys {
        &self.standbys
    }

    /// Whether `xid`, which committed, is seen before it is durable although its client waits for that: nothing may be done for its sake that
    /// others cannot tell from what was always so.
    #[inline]
    pub fn is_early(&self, xid: Xid) -> bool {
        self.early.lsn_of(xid, self.log.flushed(), &self.standbys).is_some()
    }

    /// Whether a hint bit may say that `xid` committed: its commit record is durable.
    pub fn may_hint_committed(&self, xid: Xid) -> bool {
        if !xid.is_normal() {
            return true;
        }
        let (lsn, flushed) = (self.clog.hint_lsn(xid), self.log.flushed());
        (lsn == Lsn::INVALID || lsn <= flushed) && self.early.lsn_of(xid, flushed, &self.standbys).is_none()
    }

    /// The top-level xid of a subtransaction, as long as anybody may ask; `xid` itself otherwise.
    pub fn top_level(&self, xid: Xid) -> Xid {
        match self.parents.family(xid) {
            Family::Top => xid,
            Family::Child(top) | Family::AbortedChild(top) => top,
        }
    }

    /// `xmin` of the oldest snapshot that looks at rows of plain tables; none without one. Those of VACUUM do not.
    pub fn oldest_snapshot(&self) -> Option<Xid> {
        self.publishers.oldest_snapshot()
    }

    /// A standby's queries need rows from this xid on; none: it needs none any more.
    pub fn hold_for_standby(&self, holder: StandbyHolder, xmin: Option<Xid>) {
        let mut holders = self.standby_holders.lock();
        match xmin {
            Some(xmin) => drop(holders.insert(holder, xmin)),
            None => drop(holders.remove(&holder)),
        }
        self.publishers.set_standbys(holders.values().min().copied());
    }

    /// From which xid on snapshots need rows of tables, those of standbys too.
    pub fn rows_needed_from(&self) -> Xid {
        self.oldest_needed().plain
    }

    /// What any running transaction or snapshot needs.
    pub(crate) fn oldest_needed(&self) -> Oldest {
        self.compute_horizons()
    }

    #[cold]
    fn compute_horizons(&self) -> Oldest {
        let accurate = self.publishers.compute(&self.running);
        self.parents.free_before(accurate.parents);
        accurate
    }

    /// The accurate horizon of a class: VACUUM's cutoff. `own`: the running transaction of the session that asks, which alone matters
    /// to its temporary relations.
    pub fn horizon(&self, kind: RelKind, own: Option<Xid>) -> Horizons {
        if kind == RelKind::Temp {
            let horizon = own.unwrap_or_else(|| self.running.latest_completed().next());
            return Horizons { definitely_needed: horizon, maybe_needed: horizon };
        }
        let worker = self.worker();
        let (bounds, class) = worker.bounds(kind);
        let known = worker.cache.last_known(class);
        bounds.refresh(known, class(&self.compute_horizons()));
        bounds.get(known)
    }

    /// Whether no snapshot can need a row version whose deletion by `xid` committed.
    #[inline]
    pub fn is_removable(&self, kind: RelKind, xid: Xid) -> bool {
        if kind == RelKind::Temp {
            // Only the running transaction of the one session that uses the relation could need it, and that did not end.
            return !self.is_in_progress(xid);
        }
        let worker = self.worker();
        let (bounds, class) = worker.bounds(kind);
        bounds.is_removable(xid, worker.cache.last_known(class), || class(&self.compute_horizons()))
    }

    /// Below this, committed deletions of a plain relation may be carried out although old snapshots still see the rows
    /// (`old_snapshot_threshold`): whoever does so calls [`lose`](Self::lose) before. Invalid if there is no such limit.
    #[inline]
    pub fn early_limit(&self, kind: RelKind) -> Xid {
        match self.running.old_snapshots() {
            Some(old) if kind == RelKind::Plain => old.limit(runtime::now(), || self.running.oldest().plain),
            _ => Xid::INVALID,
        }
    }

    /// Called every now and then, so that the ages of snapshots are known even while nothing is written.
    pub fn note_time(&self) {
        self.early_limit(RelKind::Plain);
    }

    /// Committed versions that [`is_removable`](Self::is_removable) would keep are about to go from a page, whose exclusive latch the
    /// caller holds: the snapshots that see one of them will fail when they read there.
    pub fn lose(&self, file: RelFile, block: BlockNo, removed: &[Removed]) {
        if let Some(old) = self.running.old_snapshots() {
            old.lose(file, block, removed);
        }
    }

    /// First xid not yet given out.
    pub fn next_xid(&self) -> Xid {
        self.running.next_xid()
    }

    /// First multixact id not yet given out.
    pub fn next_multi(&self) -> MultiXactId {
        self.multixacts.next()
    }

    /// First multixact id without an entry that a checkpoint answers for.
    pub fn next_multi_with_page(&self) -> MultiXactId {
        self.multixacts.next_with_page()
    }

    /// Oldest xid still running, or the next one.
    pub fn oldest_running(&self) -> Xid {
        self.running.oldest_running()
    }

    /// Gives out the xid of a top-level transaction.
    pub(crate) fn assign_xid(&self, entry: RunningEntry) -> Result<Xid, TxnError> {
        self.note_write();
        loop {
            let limit = self.clog.limit();
            match self.running.assign(entry, limit) {
                Some(xid) => return Ok(xid),
                None => self.extend_clog(limit)?,
            }
        }
    }

    /// Gives out the xid of a subtransaction of `top`.
    pub(crate) fn assign_child_xid(&self, top: Xid) -> Result<Xid, TxnError> {
        loop {
            let limit = self.clog.limit();
            match self.running.assign_child(limit) {
                Some(xid) => {
                    // Parents that are no longer looked up are freed at the latest when room for new ones is made.
                    if self.parents.insert(xid, top) {
                        self.compute_horizons();
                    }
                    return Ok(xid);
                }
                None => self.extend_clog(limit)?,
            }
        }
    }

    #[cold]
    fn extend_clog(&self, limit: Xid) -> Result<(), TxnError> {
        if limit == Xid::INVALID {
            return Err(TxnError::InRecovery);
        }
        let worker = self.worker();
        // A checkpoint whose redo starts after the record of the new page must write the page.
        let _pass = self.gate.enter(&worker.in_flight);
        self.clog.extend(limit).map_err(TxnError::status(limit))
    }

    /// Does something that a checkpoint must not begin in the middle of: logs a change, and makes it.
    pub fn within_gate<T>(&self, change: impl FnOnce() -> T) -> T {
        let worker = self.worker();
        let _pass = self.gate.enter(&worker.in_flight);
        change()
    }

    /// Sleeps until `xid` (top level or subtransaction) has ended.
    pub fn wait_for(&self, session: SessionId, xid: Xid, timeouts: LockTimeouts) -> Result<(), TxnError> {
        while self.is_in_progress(xid) && xid < self.next_xid() {
            let top = self.top_level(xid);
            let running = || self.is_in_progress(xid);
            let owner = || self.running.entry(top).map(|entry| entry.session);
            if !self.locks.wait_for_xid(session, xid, top, owner, timeouts, running)? {
                // It ends just now.
                runtime::yield_now();
            }
        }
        Ok(())
    }

    /// What the commit log and the multixacts have done so far.
    pub fn slru_stats(&self) -> [SlruStats; 2] {
        [self.clog.slru_stats(), self.multixacts.slru_stats()]
    }

    /// For a checkpoint, between moving the redo pointer and [`checkpoint`](Self::checkpoint): waits for the commits whose
    /// record redo would not read.
    pub fn wait_for_commits_in_flight(&self) {
        self.gate.wait();
    }

    /// How far other servers' changes were applied.
    pub fn origins(&self) -> &Origins {
        &self.origins
    }

    /// Makes durable what redo from `redo` on would not find: the commit log, multixacts, how far origins have come, and what is prepared, which is returned.
    pub fn checkpoint(&self, redo: Lsn) -> Result<Vec<Xid>, TxnError> {
        self.clog.checkpoint().map_err(TxnError::status(self.next_xid()))?;
        self.multixacts.checkpoint().map_err(TxnError::multi(self.next_multi()))?;
        self.origins.checkpoint(&*self.log)?;
        self.prepared.checkpoint(redo)
    }

    /// While the log is replayed: writes what is known so far, so that redo may begin behind.
    pub fn restart_point(&self) -> Result<(), TxnError> {
        self.clog.checkpoint().map_err(TxnError::status(self.next_xid()))?;
        self.multixacts.checkpoint().map_err(TxnError::multi(self.next_multi()))?;
        self.origins.checkpoint(&*self.log)?;
        self.prepared.keep_recovered()
    }

    /// Locks relations for the replay, against all others. `patience` is asked how long to wait, first without anybody in the way, then, each time that was not enough,
    /// with those who are.
    pub fn lock_for_replay(
        &self,
        tags: &[LockTag],
        mut patience: impl FnMut(&[SessionId]) -> Duration,
    ) -> ReplayLocks<'_> {
        let mut locks = ReplayLocks { system: self, held: HeldLocks::new(SessionId::REPLAY) };
        for &tag in tags {
            let mut most = patience(&[]);
            loop {
                let timeouts = LockTimeouts { lock: Some(most), ..LockTimeouts::default() };
                let (table, mode) = (|| self.fast_table(), LockMode::AccessExclusive);
                if locks
                    .held
                    .acquire(&self.locks, table, tag, mode, false, LockWait::Block, &timeouts)
                    .is_ok()
                {
                    break;
                }
                let all = self.locks.list().into_iter();
                let in_the_way =
                    all.filter(|lock| lock.tag == tag && lock.granted && lock.session != SessionId::REPLAY);
                most = patience(&in_the_way.map(|lock| lock.session).collect::<Vec<_>>());
            }
        }
        locks
    }

    /// Heavyweight locks.
    pub fn locks(&self) -> &LockManager {
        &self.locks
    }

    /// All locks, those of running transactions on themselves and their xids among them (`pg_locks`).
    pub fn list_locks(&self) -> Vec<LockInfo> {
        let mut list = self.locks.list();
        list.extend(self.implicit_virtual_locks(&list));
        let running = self.running.list().into_iter();
        let own = running.filter(|(_, entry)| entry.session != SessionId::REPLAY);
        list.extend(own.map(|(xid, entry)| LockInfo {
            session: entry.session,
            tag: LockTag::Xid(xid),
            mode: LockMode::Exclusive,
            granted: true,
            fastpath: false,
            wait_start: None,
        }));
        list
    }

    pub(crate) fn fast_table(&self) -> Arc<FastTable> {
        self.worker().fast.clone()
    }

    /// Serializable transactions.
    #[inline]
    pub fn serializable(&self) -> &Serializable {
        &self.serializable
    }

    /// The running set.
    pub fn running(&self) -> &Running {
        &self.running
    }

    /// Parents of subtransactions.
    pub fn parents(&self) -> &SubxactMap {
        &self.parents
    }

    pub(crate) fn clog(&self) -> &Clog {
        &self.clog
    }

    pub(crate) fn gate(&self) -> &CheckpointGate {
        &self.gate
    }

    pub(crate) fn log(&self) -> &dyn Log {
        &*self.log
    }

    pub(crate) fn map_files(&self, files: &[MappedFile]) {
        if !files.is_empty() {
            self.files.map_files(files);
        }
    }

    pub(crate) fn drop_files(&self, files: &[RelFile]) {
        if !files.is_empty() {
            self.files.drop_files(files);
        }
    }
}
