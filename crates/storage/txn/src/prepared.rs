//! What · Prepared transactions: two-phase commit. PREPARE TRANSACTION parts a transaction from its session; anybody may end it later,
//! also after a crash.
//!
//! Layout · A table of slots, one for each prepared transaction, `max_prepared_transactions` at most. A slot's number makes the
//! *stand-in*, the [`SessionId`] that owns the transaction's locks and stands in the running set. The state is kept in memory,
//! whatever its size; [`PreparedState`] is what the log and state files keep of it.
//!
//! Invariants
//! 1. From its first write until it is ended the xid is in the running set without a gap: PREPARE only exchanges its
//!    entry there, so that no reader sees it neither running nor committed. COMMIT PREPARED takes the steps of any commit in
//!    their order (see [`commit`](crate::commit)): commit log, then running set.
//! 2. The PREPARE record is durable before the slot is `Phase::Prepared`: nobody can end, or see in `pg_prepared_xacts`, what a
//!    crash would take back.
//! 3. A lock has an owner at every moment: it changes from session to stand-in under the mutex of the table that it is in.
//! 4. One session at a time ends a transaction: it claims the slot (`Phase::Ending`) first.
//! 5. The record of the end is durable before the state file is removed.
//!
//! Locks · `table`, a short mutex. `files`, fiber-aware: held while one state file is written or removed, so that a file is never
//! left behind by a checkpoint that met the end of its transaction.
//!
//! WAL and crash · PREPARE, COMMIT_PREPARED and ABORT_PREPARED records. A checkpoint writes a state file for what was prepared before
//! its redo point and has not ended; what is younger, redo reads in the log. So most prepared transactions never touch a file.
//! Recovery collects files and records, takes out what ended, and at its end ([`TxnSystem::end_recovery`]) enters the
//! rest into the running set and the lock tables, before the first session. The commit log is asked first: a file whose
//! removal a crash undid belongs to an ended transaction, also if that is so old that its status is gone. xids have 64 bits, so a name is never used twice. A damaged file
//! stops the start: to ignore it would roll back what was promised to be committable.
//!
//! PostgreSQL counterpart · `twophase.c`. Differences: the state stays in memory, nobody reads it back from the log; one record
//! layout; no dummy processes. `pg_locks` shows a stand-in's virtual transaction always as `-1/xid`.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use base::{Lsn, Oid, SqlError, Xid, sql_err, stop_point};
use parking_lot::Mutex;
use runtime::{Interrupt, fs};
use wal::Rmgr;

use crate::SessionId;
use crate::SyncCommit;
use crate::clog::Outcome;
use crate::commit::{Remains, Turn, info};
use crate::error::TxnError;
use crate::horizon::XidHolds;
use crate::prepared_state::{PreparedState, state_file, xid_of_file};
use crate::running::RunningEntry;
use crate::serializable::{Member, Target};
use crate::system::TxnSystem;
use crate::transaction::{End, Obstacle};
use crate::virtual_xid::VirtualXid;

/// Folder of the state files in the data directory.
pub const TWO_PHASE_DIR: &str = "pg_twophase";

/// Bytes of an identifier, exclusive.
const GID_SIZE: usize = 200;

/// Why a transaction was not prepared, or a prepared one not ended.
#[derive(Debug)]
pub enum PrepareError {
    /// It did what cannot be handed over.
    Obstacle(Obstacle),
    /// It holds a lock at both levels.
    MixedLocks,
    /// The identifier is too long.
    TooLong(String),
    /// `max_prepared_transactions` is 0.
    Disabled,
    /// The identifier is in use.
    Duplicate(String),
    /// So many are prepared already.
    Full(usize),
    /// There is none of this identifier.
    Missing(String),
    /// Another session is ending it.
    Busy(String),
    /// Neither its owner nor a superuser.
    NotOwner,
    /// It belongs to another database.
    OtherDatabase,
    /// Below: for PREPARE and the ends alike, the log's errors mean that the server must stop.
    Txn(TxnError),
}

impl From<TxnError> for PrepareError {
    fn from(error: TxnError) -> PrepareError {
        PrepareError::Txn(error)
    }
}

impl From<wal::WalError> for PrepareError {
    fn from(error: wal::WalError) -> PrepareError {
        PrepareError::Txn(error.into())
    }
}

impl From<PrepareError> for SqlError {
    fn from(error: PrepareError) -> SqlError {
        match error {
            PrepareError::Obstacle(obstacle) => {
                sql_err!(FEATURE_NOT_SUPPORTED, "cannot PREPARE a transaction that {}", obstacle.words())
            }
            PrepareError::MixedLocks => sql_err!(
                FEATURE_NOT_SUPPORTED,
                "cannot PREPARE while holding both session-level and transaction-level locks on the same object"
            ),
            PrepareError::TooLong(gid) => {
                sql_err!(INVALID_PARAMETER_VALUE, "transaction identifier \"{gid}\" is too long")
            }
            PrepareError::Disabled => {
                sql_err!(OBJECT_NOT_IN_PREREQUISITE_STATE, "prepared transactions are disabled")
                    .hint("Set \"max_prepared_transactions\" to a nonzero value.")
            }
            PrepareError::Duplicate(gid) => {
                sql_err!(DUPLICATE_OBJECT, "transaction identifier \"{gid}\" is already in use")
            }
            PrepareError::Full(most) => too_many(most),
            PrepareError::Missing(gid) => {
                sql_err!(UNDEFINED_OBJECT, "prepared transaction with identifier \"{gid}\" does not exist")
            }
            PrepareError::Busy(gid) => sql_err!(
                OBJECT_NOT_IN_PREREQUISITE_STATE,
                "prepared transaction with identifier \"{gid}\" is busy"
            ),
            PrepareError::NotOwner => {
                sql_err!(INSUFFICIENT_PRIVILEGE, "permission denied to finish prepared transaction")
                    .hint("Must be superuser or the user that prepared the transaction.")
            }
            PrepareError::OtherDatabase => {
                sql_err!(FEATURE_NOT_SUPPORTED, "prepared transaction belongs to another database")
                    .hint("Connect to the database where the transaction was prepared to finish it.")
            }
            PrepareError::Txn(error) => error.into(),
        }
    }
}

/// The error of one prepared transaction too many, now or at start.
pub(crate) fn too_many(most: usize) -> SqlError {
    sql_err!(OUT_OF_MEMORY, "maximum number of prepared transactions reached")
        .hint(format!("Increase \"max_prepared_transactions\" (currently {most})."))
}

/// Who asks for the end of a prepared transaction.
#[derive(Clone, Copy, Debug)]
pub struct Resolver {
    /// Current user.
    pub user: Oid,
    /// Whether that is a superuser.
    pub superuser: bool,
    /// Database connected to.
    pub database: Oid,
}

/// A row of `pg_prepared_xacts`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreparedTransaction {
    /// Top-level xid.
    pub xid: Xid,
    /// Identifier.
    pub gid: String,
    /// When it was prepared, microseconds since 2000-01-01 UTC.
    pub time: i64,
    /// Role that prepared it.
    pub owner: Oid,
    /// Its database.
    pub database: Oid,
    /// Owner of its locks.
    pub stand_in: SessionId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Its identifier is taken, its record not yet durable.
    Preparing,
    /// Waits for its end.
    Prepared,
    /// A session ends it.
    Ending,
    /// It ended; locks and file are being let go.
    Ended,
}

struct Slot {
    gid: Arc<str>,
    /// The owner that it had in the session that prepared it: whoever waits for that owner must go on waiting. `None` for a recovered one.
    was: Option<VirtualXid>,
    phase: Phase,
    /// Since it left [`Phase::Preparing`].
    state: Option<Arc<PreparedState>>,
    /// End of the PREPARE record.
    logged: Lsn,
    /// It has a state file.
    on_disk: bool,
    /// What a serializable transaction is to others of its level.
    serial: Option<Arc<Member>>,
}

#[derive(Default)]
struct Table {
    slots: Vec<Option<Slot>>,
    free: Vec<u32>,
    by_gid: BTreeMap<Arc<str>, u32>,
}

impl Table {
    fn slot(&mut self, number: u32) -> Option<&mut Slot> {
        self.slots.get_mut(number as usize)?.as_mut()
    }

    fn release(&mut self, number: u32) {
        if let Some(slot) = self.slots[number as usize].take() {
            self.by_gid.remove(&slot.gid);
            self.free.push(number);
        }
    }
}

/// What recovery found and has seen no end of.
struct Recovered {
    state: PreparedState,
    logged: Lsn,
    on_disk: bool,
}

/// The prepared transactions of a server.
pub struct PreparedTransactions {
    dir: PathBuf,
    most: usize,
    table: Mutex<Table>,
    recovered: Mutex<BTreeMap<Xid, Recovered>>,
    /// Waited for their ends at the checkpoint that recovery began from.
    expected: Mutex<Vec<Xid>>,
    files: runtime::Mutex<()>,
    /// Counts transfers of a session's locks to a prepared transaction: those begun, and those completed.
    begun: AtomicU64,
    done: AtomicU64,
}

/// Pause before looking again at locks that were on their way.
const PAUSE: Duration = Duration::from_millis(1);

/// A hand-over, until it is dropped.
struct HandOver<'a>(&'a PreparedTransactions);

impl Drop for HandOver<'_> {
    fn drop(&mut self) {
        self.0.done.fetch_add(1, Ordering::SeqCst);
    }
}

/// A slot of a transaction that is being prepared. Dropped, it is free again, unless it is kept.
pub(crate) struct Reserved<'a> {
    prepared: &'a PreparedTransactions,
    number: u32,
    kept: bool,
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        if !self.kept {
            self.prepared.table.lock().release(self.number);
        }
    }
}

impl PreparedTransactions {
    fn begin_hand_over(&self) -> HandOver<'_> {
        self.begun.fetch_add(1, Ordering::SeqCst);
        HandOver(self)
    }

    /// What `look` finds of locks and of who has them, while none are on their way to a stand-in: on it they may be seen nowhere, or with one that
    /// stands for nobody yet.
    pub(crate) fn between_hand_overs<T>(&self, look: impl Fn() -> T) -> T {
        loop {
            // In this order: equal counts say that at the second load no hand-over was under way.
            let done = self.done.load(Ordering::SeqCst);
            if self.begun.load(Ordering::SeqCst) == done {
                let found = look();
                if self.begun.load(Ordering::SeqCst) == done {
                    return found;
                }
            }
            runtime::waiting(runtime::WaitEvent::TwoPhaseState, || runtime::wait(runtime::sleep(PAUSE)));
        }
    }

    /// At most `most`, with state files in a folder of `data_dir`.
    pub(crate) fn new(data_dir: &Path, most: usize) -> PreparedTransactions {
        PreparedTransactions {
            dir: data_dir.join(TWO_PHASE_DIR),
            most,
            table: Mutex::default(),
            recovered: Mutex::default(),
            expected: Mutex::default(),
            begun: AtomicU64::new(0),
            done: AtomicU64::new(0),
            files: runtime::Mutex::new(runtime::WaitEvent::TwoPhaseFile, ()),
        }
    }

    /// Takes a slot for this identifier.
    fn reserve(&self, gid: &str, was: Option<VirtualXid>) -> Result<Reserved<'_>, PrepareError> {
        if gid.len() >= GID_SIZE {
            return Err(PrepareError::TooLong(gid.into()));
        }
        if self.most == 0 {
            return Err(PrepareError::Disabled);
        }
        self.take_slot(gid, was)
    }

    fn take_slot(&self, gid: &str, was: Option<VirtualXid>) -> Result<Reserved<'_>, PrepareError> {
        let mut table = self.table.lock();
        if table.by_gid.contains_key(gid) {
            return Err(PrepareError::Duplicate(gid.into()));
        }
        if table.by_gid.len() >= self.most {
            return Err(PrepareError::Full(self.most));
        }
        let gid: Arc<str> = gid.into();
        let slot = Slot {
            gid: gid.clone(),
            was,
            phase: Phase::Preparing,
            state: None,
            logged: Lsn::INVALID,
            on_disk: false,
            serial: None,
        };
        let number = match table.free.pop() {
            Some(number) => {
                table.slots[number as usize] = Some(slot);
                number
            }
            None => {
                table.slots.push(Some(slot));
                table.slots.len() as u32 - 1
            }
        };
        table.by_gid.insert(gid, number);
        Ok(Reserved { prepared: self, number, kept: false })
    }

    /// From now on it is seen, and anybody may end it.
    fn publish(
        &self,
        number: u32,
        (state, serial): (PreparedState, Option<Arc<Member>>),
        logged: Lsn,
        on_disk: bool,
    ) {
        if let Some(slot) = self.table.lock().slot(number) {
            debug_assert_eq!(slot.phase, Phase::Preparing);
            slot.state = Some(Arc::new(state));
            slot.serial = serial;
            slot.logged = logged;
            slot.on_disk = on_disk;
            slot.phase = Phase::Prepared;
        }
    }

    /// Claims the transaction for its end (invariant 4).
    fn claim(&self, by: &Resolver, gid: &str) -> Result<(u32, Arc<PreparedState>), PrepareError> {
        let mut table = self.table.lock();
        let missing = || PrepareError::Missing(gid.into());
        let number = table.by_gid.get(gid).copied().ok_or_else(missing)?;
        let slot = table.slot(number).ok_or_else(missing)?;
        let state = slot.state.clone().ok_or_else(missing)?;
        match slot.phase {
            Phase::Preparing | Phase::Ended => return Err(missing()),
            Phase::Ending => return Err(PrepareError::Busy(gid.into())),
            Phase::Prepared => {}
        }
        if by.user != state.owner && !by.superuser {
            return Err(PrepareError::NotOwner);
        }
        if by.database != state.database {
            return Err(PrepareError::OtherDatabase);
        }
        slot.phase = Phase::Ending;
        Ok((number, state))
    }

    fn set_ended(&self, number: u32) {
        if let Some(slot) = self.table.lock().slot(number) {
            slot.phase = Phase::Ended;
        }
    }

    fn take_serial(&self, number: u32) -> Option<Arc<Member>> {
        self.table.lock().slot(number).and_then(|slot| slot.serial.take())
    }

    /// Everything of it is let go: its file goes, then its slot is free.
    fn forget(&self, number: u32, xid: Xid) {
        let _files = self.files.lock();
        let on_disk = self.table.lock().slot(number).is_some_and(|slot| slot.on_disk);
        if on_disk {
            // A file that stays does no harm: the commit log says that the transaction ended.
            let _ = fs::remove_file(&state_file(&self.dir, xid));
        }
        self.table.lock().release(number);
    }

    /// The xid under which a session's transaction was prepared, if it was and has not ended.
    pub(crate) fn prepared_from(&self, virtual_xid: VirtualXid) -> Option<Xid> {
        let table = self.table.lock();
        let slot = table.slots.iter().flatten().find(|slot| slot.was == Some(virtual_xid))?;
        slot.state.as_ref().map(|state| state.xid)
    }

    /// Those that wait for their end.
    pub fn list(&self) -> Vec<PreparedTransaction> {
        let table = self.table.lock();
        let row = |(number, slot): (usize, &Option<Slot>)| {
            let slot = slot.as_ref().filter(|slot| matches!(slot.phase, Phase::Prepared | Phase::Ending))?;
            let state = slot.state.as_ref()?;
            Some(PreparedTransaction {
                xid: state.xid,
                gid: state.gid.clone(),
                time: state.time,
                owner: state.owner,
                database: state.database,
                stand_in: SessionId::stand_in(number as u32),
            })
        };
        let mut list: Vec<_> = table.slots.iter().enumerate().filter_map(row).collect();
        drop(table);
        // While the log is replayed they have no slots.
        let recovered = self.recovered.lock();
        list.extend(recovered.values().map(|Recovered { state, .. }| PreparedTransaction {
            xid: state.xid,
            gid: state.gid.clone(),
            time: state.time,
            owner: state.owner,
            database: state.database,
            stand_in: SessionId::REPLAY,
        }));
        list
    }

    /// Writes state files for what redo from `redo` on would not find in the log. Returns all that have one: a start from this checkpoint
    /// finds their files, or their ends in the commit log ([`expect`](Self::expect)).
    pub(crate) fn checkpoint(&self, redo: Lsn) -> Result<Vec<Xid>, TxnError> {
        let due = |slot: &Slot| {
            let waits = matches!(slot.phase, Phase::Prepared | Phase::Ending);
            slot.state.clone().filter(|_| waits && !slot.on_disk && slot.logged <= redo)
        };
        let slots = self.table.lock().slots.len() as u32;
        for number in 0..slots {
            let _files = self.files.lock();
            let state = self.table.lock().slot(number).and_then(|slot| due(slot));
            let Some(state) = state else { continue };
            stop_point!("prepared-file-before-write");
            state.write_file(&self.dir).map_err(|error| self.file_error(state.xid, error))?;
            if let Some(slot) = self.table.lock().slot(number) {
                slot.on_disk = true;
            }
        }
        let table = self.table.lock();
        let waiting = |slot: &&Slot| slot.on_disk && matches!(slot.phase, Phase::Prepared | Phase::Ending);
        let waiting = table.slots.iter().flatten().filter(waiting);
        Ok(waiting.filter_map(|slot| slot.state.as_ref().map(|state| state.xid)).collect())
    }

    fn file_error(&self, xid: Xid, error: io::Error) -> TxnError {
        let name = state_file(Path::new(TWO_PHASE_DIR), xid);
        TxnError::StateFile {
            name: name.display().to_string(),
            kind: error.kind(),
            transient: base::os::is_transient(&error),
            reason: base::os_error(&error),
        }
    }

    // Recovery

    /// Reads the state files, before redo.
    pub(crate) fn load(&self) -> Result<(), TxnError> {
        let entries = match fs::read_dir(&self.dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(self.file_error(Xid::INVALID, error)),
        };
        for entry in entries {
            let Some(xid) = xid_of_file(&entry.name) else { continue };
            let path = state_file(&self.dir, xid);
            let bytes = fs::read_to_vec(&path).map_err(|error| self.file_error(xid, error))?;
            let state = PreparedState::from_file(&bytes).filter(|state| state.xid == xid);
            let damaged =
                || self.file_error(xid, io::Error::new(io::ErrorKind::InvalidData, "it is damaged"));
            let state = state.ok_or_else(damaged)?;
            let recovered = Recovered { state, logged: Lsn::INVALID, on_disk: true };
            self.recovered.lock().insert(xid, recovered);
        }
        Ok(())
    }

    /// These waited for their ends when the checkpoint was taken.
    pub fn expect(&self, xids: Vec<Xid>) {
        *self.expected.lock() = xids;
    }

    /// Writes state files for the prepared transactions that redo has found, so that redo may begin after their records.
    pub(crate) fn keep_recovered(&self) -> Result<(), TxnError> {
        let _files = self.files.lock();
        let unwritten = |(_, recovered): &(&Xid, &Recovered)| !recovered.on_disk;
        let due: Vec<PreparedState> = self
            .recovered
            .lock()
            .iter()
            .filter(unwritten)
            .map(|(_, recovered)| recovered.state.clone())
            .collect();
        for state in due {
            state.write_file(&self.dir).map_err(|error| self.file_error(state.xid, error))?;
            if let Some(recovered) = self.recovered.lock().get_mut(&state.xid) {
                recovered.on_disk = true;
            }
        }
        Ok(())
    }

    /// Replays PREPARE. There may be a file already, of a checkpoint that was not finished.
    pub(crate) fn redo_prepare(&self, state: PreparedState, logged: Lsn) {
        let mut recovered = self.recovered.lock();
        let on_disk = recovered.get(&state.xid).is_some_and(|known| known.on_disk);
        recovered.insert(state.xid, Recovered { state, logged, on_disk });
    }

    /// Replays the end of a prepared transaction.
    pub(crate) fn redo_end(&self, xid: Xid) {
        let ended = self.recovered.lock().remove(&xid);
        self.expected.lock().retain(|expected| *expected != xid);
        if ended.is_some_and(|ended| ended.on_disk) {
            let _ = fs::remove_file(&state_file(&self.dir, xid));
        }
    }
}

impl TxnSystem {
    /// Prepared transactions.
    pub fn prepared(&self) -> &PreparedTransactions {
        &self.prepared
    }

    /// Ends a prepared transaction. `invalidate` gets what the catalog's caches must forget, once the commit is visible and
    /// before its locks are released; it must neither fail nor wait. An error of the log means that the server must stop. Returns the interrupt that ended the
    /// wait for standbys.
    pub fn end_prepared(
        &self,
        by: &Resolver,
        gid: &str,
        (end, sync): (End, SyncCommit),
        invalidate: impl FnOnce(&[u8]),
    ) -> Result<Option<Interrupt>, PrepareError> {
        let (number, state) = self.prepared.claim(by, gid)?;
        let commit = end == End::Commit;
        let (kind, outcome, files, invalidations): (_, _, _, &[u8]) = match commit {
            true => (info::COMMIT_PREPARED, Outcome::Committed, &state.commit_files, &state.invalidations),
            false => (info::ABORT_PREPARED, Outcome::Aborted, &state.abort_files, &[]),
        };
        let (xid, subxids) = (state.xid, &state.subxids);
        let exclusive = |(tag, mode): &(crate::LockTag, crate::LockMode)| match *tag {
            crate::LockTag::Relation { database, relation } if *mode == crate::LockMode::AccessExclusive => {
                Some((database, relation))
            }
            _ => None,
        };
        let locks: Vec<(Oid, Oid)> = match commit {
            true => state.locks.iter().filter_map(exclusive).collect(),
            false => Vec::new(),
        };
        let remains =
            Remains { xid, subxids, files, mapped: &[], invalidations, locks: &locks, origin: None };
        let worker = self.worker();
        let pass = self.gate().enter(&worker.in_flight);
        let turn = commit.then(|| Turn::enter(self));
        stop_point!("end-prepared-before-record");
        let lsn = remains.log(self, kind);
        stop_point!("end-prepared-before-flush");
        if let Some(turn) = &turn {
            turn.inserted(lsn);
        }
        // Always, also for a rollback (invariant 5).
        self.log().flush(lsn)?;
        let awaited = self.expect_standbys(sync, lsn);
        if let Some(awaited) = awaited.filter(|_| commit) {
            self.early.add(xid, subxids, lsn, Some(awaited.reach));
        }
        stop_point!("end-prepared-before-clog");
        let marked = self.clog().mark(Some(state.xid), &state.subxids, outcome, lsn, false);
        marked.map_err(TxnError::status(state.xid))?;
        stop_point!("end-prepared-after-clog");
        match turn {
            Some(turn) => turn.leave(&remains, lsn),
            None => self.running().complete(state.xid, state.latest()),
        }
        self.prepared.set_ended(number);
        self.locks().xids_ended(state.xid, |_| true);
        if commit {
            invalidate(&state.invalidations);
        }
        self.locks().release_all_of(SessionId::stand_in(number), &state.locks);
        if let Some(member) = self.prepared.take_serial(number) {
            self.serializable().end(&member, commit);
        }
        self.drop_files(files);
        drop(pass);
        stop_point!("end-prepared-before-unlink");
        self.prepared.forget(number, state.xid);
        let cut = self.await_standbys(awaited);
        if awaited.is_some() && commit {
            self.early.remove(xid, subxids);
        }
        Ok(cut)
    }

    /// Logs `state`, durably, up to the position that is returned, then lets the stand-in take the session's place; `hand_over` does so with its locks.
    pub(crate) fn prepare_tree(
        &self,
        mut reserved: Reserved<'_>,
        state: PreparedState,
        serial: Option<Arc<Member>>,
        hand_over: impl FnOnce(SessionId),
    ) -> Result<Lsn, TxnError> {
        let worker = self.worker();
        // A checkpoint whose redo starts behind the record must find the slot.
        let _pass = self.gate().enter(&worker.in_flight);
        stop_point!("prepare-before-record");
        // From here on only the log can tell whether it is prepared.
        reserved.kept = true;
        let end = self.log().insert(Rmgr::Xact, info::PREPARE, state.xid, &state.encode());
        stop_point!("prepare-before-flush");
        self.log().flush(end)?;
        stop_point!("prepare-before-hand-over");
        let stand_in = SessionId::stand_in(reserved.number);
        let _handing_over = self.prepared.begin_hand_over();
        self.running().set_entry(state.xid, RunningEntry { session: stand_in, holds: XidHolds::Everything });
        self.locks().hand_over_xids(state.xid, stand_in);
        hand_over(stand_in);
        if let Some(member) = &serial {
            self.serializable().hand_over(member, stand_in);
        }
        stop_point!("prepare-before-publish");
        self.prepared.publish(reserved.number, (state, serial), end, false);
        Ok(end)
    }

    /// A place for one more prepared transaction of this identifier; given back when it is dropped.
    pub(crate) fn reserve_prepared(
        &self,
        gid: &str,
        was: Option<VirtualXid>,
    ) -> Result<Reserved<'_>, PrepareError> {
        self.prepared.reserve(gid, was)
    }

    /// Enters what redo found prepared and not ended: transactions run again, their locks are held. Before the first session, and
    /// before the first look at the running set.
    pub(crate) fn restore_prepared(&self) -> Result<(), TxnError> {
        let recovered = std::mem::take(&mut *self.prepared.recovered.lock());
        for xid in std::mem::take(&mut *self.prepared.expected.lock()) {
            // As below: what is too old for the commit log has ended.
            if !recovered.contains_key(&xid)
                && xid >= self.clog().oldest()
                && self.clog().get(xid).map_err(TxnError::status(xid))? == Outcome::Open
            {
                return Err(self.prepared.file_error(xid, io::ErrorKind::NotFound.into()));
            }
        }
        for (xid, Recovered { state, logged, on_disk }) in recovered {
            // What is prepared keeps its part of the commit log: if that is gone, it ended long ago.
            let ended = xid >= self.next_xid()
                || xid < self.clog().oldest()
                || self.clog().get(xid).map_err(TxnError::status(xid))? != Outcome::Open;
            if ended {
                let _ = fs::remove_file(&state_file(&self.prepared.dir, xid));
                continue;
            }
            let full = |_| TxnError::TooManyPrepared(self.prepared.most);
            let mut reserved = self.prepared.take_slot(&state.gid, None).map_err(full)?;
            reserved.kept = true;
            let stand_in = SessionId::stand_in(reserved.number);
            for &child in &state.subxids {
                self.parents().insert(child, xid);
            }
            let entry = RunningEntry { session: stand_in, holds: XidHolds::Everything };
            self.running().insert(xid, &state.subxids, entry);
            self.locks().restore_all_of(stand_in, &state.locks);
            let restore = |targets: &Vec<Target>| self.serializable().restore(xid, stand_in, targets);
            let serial = state.predicate_locks.as_ref().map(restore);
            self.prepared.publish(reserved.number, (state, serial), logged, on_disk);
        }
        Ok(())
    }
}
