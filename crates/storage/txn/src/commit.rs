//! What · The end of a transaction: its WAL record, and the order of the steps.
//!
//! Layout of the record · `time: i64` (microseconds since 2000, little-endian), then numbers in LEB128: count of runs of
//! subtransaction xids, for each run its distance from the end of the run before (the first: from the transaction's
//! xid) and its length; count of files, for each tablespace, database, number; count of mapped files, for each database, relation,
//! number; length of the invalidations and their bytes, which this crate does not read; count of relations that were locked against all others, for each
//! database and relation; of a transaction that was replicated, its [`Mark`]. A million savepoints in one session are one run.
//!
//! Invariants: a commit goes through these steps in this order, and a crash between any two is harmless
//! 1. record inserted (lost: the transaction never happened);
//! 2. commit log: subtransactions, then the top level (lost: redo repeats it, its pages are never ahead of WAL); files of catalogs
//!    that were rewritten take the old ones' places (lost: redo of the record does it);
//! 3. out of the running set: new snapshots see it, after all whose records come before ([`order`](crate::order));
//! 4. end actions, locks;
//! 5. record durable, and on standbys if some are named, unless `synchronous_commit` says otherwise; files go (lost files: redo of the record drops them); the client hears of it.
//!
//! So others see a transaction, and go on where they waited for it, before the disk has it ([`early`](crate::early) says why nobody is told what a
//! crash can take back). A transaction is durable before step 2 if it did more than change rows: if files or descriptions of relations change with
//! it, which sessions keep without asking whose they are, if it notifies, and if it has very many subtransactions.
//!
//! The end of a prepared transaction ([`prepared`](crate::prepared)) takes the same steps; its record is always durable first.
//!
//! A read-only transaction takes none of the steps 1 to 3 and touches nothing shared.
//!
//! Checkpoints · From before step 1 until after step 4 the worker counts the transaction in [`CheckpointGate`]. A checkpoint that
//! moved the redo pointer waits for those that were counted before: the commit log it then writes has every commit
//! whose record redo will not read.
//!
//! PostgreSQL counterpart · `RecordTransactionCommit`, `delayChkptFlags`. Differences: the gate counts for each worker and
//! in two generations, so a checkpoint never looks at sessions.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use base::settings::SyncCommit;
use base::{Lsn, Oid, RelFile, Xid, stop_point};
use parking_lot::Mutex;
use runtime::{Interrupt, WaitEvent, interleaving_point, waiting};
use wal::Rmgr;

use crate::clog::Outcome;
use crate::early::MOST_CHILDREN;
use crate::error::TxnError;
use crate::order::Number;
use crate::origin::Mark;
use crate::running::Completion;
use crate::subxact::Family;
use crate::synchronous::Reach;
use crate::system::TxnSystem;

/// `info` of the records of `Rmgr::Xact`.
pub mod info {
    /// A transaction committed.
    pub const COMMIT: u8 = 0;
    /// A transaction or subtransaction was rolled back.
    pub const ABORT: u8 = 1;
    /// A transaction was prepared: [`PreparedState`](crate::PreparedState).
    pub const PREPARE: u8 = 2;
    /// A prepared transaction committed; its data are those of [`COMMIT`].
    pub const COMMIT_PREPARED: u8 = 3;
    /// A prepared transaction was rolled back; its data are those of [`ABORT`].
    pub const ABORT_PREPARED: u8 = 4;
    /// How far a replication origin has come, said by itself: its number in LEB128, the position u64.
    pub const ORIGIN_SET: u8 = 5;
    /// A replication origin is no more; the same data.
    pub const ORIGIN_DROP: u8 = 6;
}

/// That a transaction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// Top-level xid, or that of a subtransaction that was rolled back.
    pub xid: Xid,
    /// When, in microseconds since 2000-01-01 UTC.
    pub time: i64,
    /// It committed.
    pub committed: bool,
}

/// The end that a record tells of, if it tells of one.
pub fn end_of<B: std::ops::Deref<Target = [u8]>>(record: &wal::Record<B>) -> Option<End> {
    if record.rmgr != Rmgr::Xact {
        return None;
    }
    let committed = match record.info {
        info::COMMIT | info::COMMIT_PREPARED => true,
        info::ABORT | info::ABORT_PREPARED => false,
        _ => return None,
    };
    let time = i64::from_le_bytes(*record.data().first_chunk()?);
    Some(End { xid: record.xid, time, committed })
}

/// From its commit on, a relation of a system catalog has this file. Of relation 0, what the storage above makes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MappedFile {
    /// Its database; 0 if it is shared.
    pub database: Oid,
    /// The relation.
    pub relation: Oid,
    /// Number of the file.
    pub number: u32,
}

/// Contents of a commit or abort record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndRecord {
    /// When, in microseconds since 2000-01-01 UTC.
    pub time: i64,
    /// Subtransactions that share the fate, ascending.
    pub subxids: Vec<Xid>,
    /// Files that go.
    pub files: Vec<RelFile>,
    /// Files of catalogs rewritten.
    pub mapped: Vec<MappedFile>,
    /// For caches.
    pub invalidations: Vec<u8>,
    /// Relations that nobody else may use when it ends: database and relation.
    pub locks: Vec<(Oid, Oid)>,
    /// Where it comes from, if it was replicated.
    pub origin: Option<Mark>,
}

/// Appends a number in LEB128.
pub(crate) fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Takes a LEB128 number off the front.
pub(crate) fn get(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// The record's bytes, for a transaction that ends at `time`.
pub fn encode(remains: &Remains<'_>, time: i64) -> Vec<u8> {
    let Remains { xid, subxids, files, mapped, invalidations, locks, origin } = *remains;
    let mut out = Vec::with_capacity(16 + invalidations.len() + 12 * (files.len() + mapped.len()));
    out.extend_from_slice(&time.to_le_bytes());
    let runs = || subxids.chunk_by(|a, b| b.0 == a.0 + 1);
    put(&mut out, runs().count() as u64);
    let mut end = xid.0;
    for run in runs() {
        put(&mut out, run[0].0 - end);
        put(&mut out, run.len() as u64);
        end = run[0].0 + run.len() as u64;
    }
    let put_three = |out: &mut Vec<u8>, numbers: [u32; 3]| {
        numbers.into_iter().for_each(|number| put(out, number.into()));
    };
    put(&mut out, files.len() as u64);
    for file in files {
        put_three(&mut out, [file.tablespace.0, file.database.0, file.number]);
    }
    put(&mut out, mapped.len() as u64);
    for file in mapped {
        put_three(&mut out, [file.database.0, file.relation.0, file.number]);
    }
    put(&mut out, invalidations.len() as u64);
    out.extend_from_slice(invalidations);
    put(&mut out, locks.len() as u64);
    for (database, relation) in locks {
        put(&mut out, database.0.into());
        put(&mut out, relation.0.into());
    }
    origin.iter().for_each(|mark| mark.encode(&mut out));
    out
}

/// The record from its bytes; `None` if they are no such record.
pub fn decode(xid: Xid, bytes: &[u8]) -> Option<EndRecord> {
    let (time, mut rest) = bytes.split_first_chunk::<8>()?;
    let rest = &mut rest;
    let mut record = EndRecord { time: i64::from_le_bytes(*time), ..EndRecord::default() };
    let mut end = xid.0;
    for _ in 0..get(rest)? {
        let first = end.checked_add(get(rest)?)?;
        end = first.checked_add(get(rest)?)?;
        // A run longer than any transaction could make is no run.
        if end - first > u64::from(u32::MAX) {
            return None;
        }
        record.subxids.extend((first..end).map(Xid));
    }
    let number = |rest: &mut &[u8]| get(rest).and_then(|number| u32::try_from(number).ok());
    for _ in 0..get(rest)? {
        let (tablespace, database) = (Oid(number(rest)?), Oid(number(rest)?));
        record.files.push(RelFile { tablespace, database, number: number(rest)? });
    }
    for _ in 0..get(rest)? {
        let (database, relation) = (Oid(number(rest)?), Oid(number(rest)?));
        record.mapped.push(MappedFile { database, relation, number: number(rest)? });
    }
    let length = usize::try_from(get(rest)?).ok()?;
    let (invalidations, mut rest) = rest.split_at_checked(length)?;
    record.invalidations = invalidations.to_vec();
    let rest = &mut rest;
    for _ in 0..get(rest)? {
        record.locks.push((Oid(number(rest)?), Oid(number(rest)?)));
    }
    if !rest.is_empty() {
        record.origin = Some(Mark::decode(rest)?);
    }
    Some(record)
}

/// One worker's transactions between steps 1 and 5, by the generation in which they began.
#[derive(Debug, Default)]
pub struct InFlight([AtomicU64; 2]);

/// Makes checkpoints wait for commits whose record they would cut off.
#[derive(Default)]
pub struct CheckpointGate {
    generation: AtomicU64,
    workers: Mutex<Vec<Arc<InFlight>>>,
}

/// While it exists, a checkpoint that begins waits before it writes the commit log.
pub struct GatePass<'a> {
    count: &'a AtomicU64,
}

impl Drop for GatePass<'_> {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::Release);
    }
}

impl CheckpointGate {
    /// Counters for one more worker.
    pub fn register(&self) -> Arc<InFlight> {
        let counters = Arc::new(InFlight::default());
        self.workers.lock().push(counters.clone());
        counters
    }

    /// The worker's thread ends.
    pub fn unregister(&self, counters: &Arc<InFlight>) {
        self.workers.lock().retain(|other| !Arc::ptr_eq(other, counters));
    }

    /// Before a record is inserted whose effects on the commit log must not miss a checkpoint.
    pub fn enter<'a>(&self, worker: &'a InFlight) -> GatePass<'a> {
        loop {
            let generation = self.generation.load(Ordering::SeqCst);
            let count = &worker.0[(generation % 2) as usize];
            count.fetch_add(1, Ordering::SeqCst);
            // Again: a checkpoint that turned the generation in between may not have seen the count.
            if self.generation.load(Ordering::SeqCst) == generation {
                return GatePass { count };
            }
            count.fetch_sub(1, Ordering::Release);
        }
    }

    /// Called after the redo pointer moved: waits for all commits that began before this call. One caller at a time.
    pub fn wait(&self) {
        let before = self.generation.fetch_add(1, Ordering::SeqCst);
        loop {
            let left = |worker: &Arc<InFlight>| worker.0[(before % 2) as usize].load(Ordering::SeqCst) > 0;
            if !self.workers.lock().iter().any(left) {
                return;
            }
            waiting(WaitEvent::CommitOrder, || runtime::wait(runtime::sleep(Duration::from_millis(1))));
        }
    }
}

/// How far a commit's record must come on standbys, where some are named.
fn reach(sync: SyncCommit) -> Option<Reach> {
    match sync {
        SyncCommit::Off | SyncCommit::Local => None,
        SyncCommit::RemoteWrite => Some(Reach::Written),
        SyncCommit::On => Some(Reach::Flushed),
        SyncCommit::RemoteApply => Some(Reach::Applied),
    }
}

/// What a transaction that has an xid leaves behind.
#[derive(Clone, Copy, Debug, Default)]
pub struct Remains<'a> {
    /// Top-level xid.
    pub xid: Xid,
    /// Its live subtransactions, ascending.
    pub subxids: &'a [Xid],
    /// Files that go.
    pub files: &'a [RelFile],
    /// Files of catalogs rewritten.
    pub mapped: &'a [MappedFile],
    /// For caches.
    pub invalidations: &'a [u8],
    /// Relations that it has locked against all others: database and relation.
    pub locks: &'a [(Oid, Oid)],
    /// Where it comes from, if it was replicated.
    pub origin: Option<Mark>,
}

impl Remains<'_> {
    pub(crate) fn latest(&self) -> Xid {
        self.subxids.last().copied().unwrap_or(self.xid)
    }

    /// Inserts the record; returns its end.
    pub(crate) fn log(&self, system: &TxnSystem, info: u8) -> Lsn {
        let data = encode(self, runtime::wall_clock_micros());
        system.log().insert(Rmgr::Xact, info, self.xid, &data)
    }

    /// The record of a rollback. It says what silence says too, unless there are files to drop: on a full disk statements that are
    /// refused again and again must not use up the room that commits need.
    fn log_abort(&self, system: &TxnSystem) -> Lsn {
        if self.files.is_empty() && !system.log().has_room() {
            return Lsn::INVALID;
        }
        self.log(system, info::ABORT)
    }
}

/// When the record of a commit is made durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durable {
    /// Before anybody sees the transaction.
    First,
    /// Before the client hears of it.
    Last,
    /// Some time.
    Later,
}

impl Durable {
    /// `acts`: whether more becomes known with the transaction than its rows.
    pub(crate) fn of(remains: &Remains<'_>, sync: SyncCommit, acts: bool) -> Durable {
        // Files that go cannot come back: their commit must not get lost.
        let files = !remains.files.is_empty() || !remains.mapped.is_empty();
        match sync {
            SyncCommit::Off if files => Durable::First,
            SyncCommit::Off => Durable::Later,
            _ if files || acts || !remains.invalidations.is_empty() => Durable::First,
            _ if remains.subxids.len() > MOST_CHILDREN => Durable::First,
            _ => Durable::Last,
        }
    }
}

/// A commit that others see.
pub(crate) struct Visible<'a> {
    /// Lets checkpoints go on once the commit is over.
    pass: GatePass<'a>,
    /// What has to be durable before the client hears of it.
    unflushed: Option<Lsn>,
    /// How far its record has to come on standbys.
    awaited: Option<Awaited>,
}

/// A record that standbys are to have.
#[derive(Clone, Copy)]
pub(crate) struct Awaited {
    pub(crate) reach: Reach,
    lsn: Lsn,
}

/// A transaction's place among the commits.
pub(crate) struct Turn<'a> {
    system: &'a TxnSystem,
    number: Number,
    left: bool,
}

impl<'a> Turn<'a> {
    /// Before the record is inserted.
    pub(crate) fn enter(system: &'a TxnSystem) -> Turn<'a> {
        let number = system.order.enter(system.log().end());
        Turn { system, number, left: false }
    }

    /// The record was inserted, and more is to be done before the transaction may be seen.
    pub(crate) fn inserted(&self, lsn: Lsn) {
        self.system.order.inserted(self.number, lsn, self.system.running());
        self.system.behind.wake_all();
    }

    /// Waits until all that come before are seen.
    pub(crate) fn wait(&self) {
        let first = || self.system.order.is_first(self.number).then_some(());
        if first().is_none() {
            waiting(WaitEvent::CommitOrder, || self.system.behind.wait_until(first));
        }
    }

    /// Leaves the running set, after all that come before.
    pub(crate) fn leave(mut self, remains: &Remains<'_>, lsn: Lsn) {
        self.left = true;
        let TxnSystem { order, behind, .. } = self.system;
        let completion = Completion { xid: remains.xid, latest: remains.latest() };
        if !order.complete(self.number, lsn, completion, self.system.running()) {
            let left = || order.has_left(self.number).then_some(());
            waiting(WaitEvent::CommitOrder, || behind.wait_until(left));
        }
        behind.wake_all();
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if !self.left {
            self.system.order.withdraw(self.number, self.system.running());
            self.system.behind.wake_all();
        }
    }
}

impl TxnSystem {
    /// Steps 1 to 3 of a commit. An error means that the server must stop: the record may be durable or not. `decided` is called
    /// in the moment before others see it, if there is anything to call.
    pub(crate) fn commit_tree<'a>(
        &self,
        remains: Remains<'_>,
        (durable, sync): (Durable, SyncCommit),
        in_flight: &'a InFlight,
        decided: Option<impl FnOnce()>,
    ) -> Result<Visible<'a>, TxnError> {
        let pass = self.gate().enter(in_flight);
        let turn = Turn::enter(self);
        stop_point!("commit-before-record");
        let lsn = remains.log(self, info::COMMIT);
        if let Some(mark) = remains.origin {
            self.origins.advance(mark, lsn);
        }
        stop_point!("commit-before-flush");
        // A commit whose record was not inserted must never be seen. If the log breaks later, whoever relies on the record fails.
        match durable {
            Durable::Last if self.log().has_failed() => self.log().flush(lsn)?,
            Durable::First => {
                turn.inserted(lsn);
                self.log().flush(lsn)?;
            }
            Durable::Last | Durable::Later => {}
        }
        let awaited = self.expect_standbys(sync, lsn);
        if durable == Durable::Last || awaited.is_some() {
            self.early.add(remains.xid, remains.subxids, lsn, awaited.map(|awaited| awaited.reach));
        }
        stop_point!("commit-before-clog");
        self.clog()
            .mark(Some(remains.xid), remains.subxids, Outcome::Committed, lsn, durable == Durable::Later)
            .map_err(TxnError::status(remains.xid))?;
        stop_point!("commit-after-clog");
        interleaving_point();
        if let Some(decided) = decided {
            turn.inserted(lsn);
            turn.wait();
            decided();
        }
        self.map_files(remains.mapped);
        turn.leave(&remains, lsn);
        stop_point!("commit-after-running");
        interleaving_point();
        self.locks().xids_ended(remains.xid, |_| true);
        Ok(Visible { pass, unflushed: (durable == Durable::Last).then_some(lsn), awaited })
    }

    /// A transaction whose record ends at `lsn` is about to be seen: what its client waits for on standbys.
    pub(crate) fn expect_standbys(&self, sync: SyncCommit, lsn: Lsn) -> Option<Awaited> {
        let reach = reach(sync).filter(|_| self.standbys.are_named())?;
        let lsn = self.log().received_end(lsn);
        self.standbys.expect(reach, lsn);
        Some(Awaited { reach, lsn })
    }

    /// Waits until standbys have what they are to have. Returns the interrupt that ended the wait before.
    pub(crate) fn await_standbys(&self, awaited: Option<Awaited>) -> Option<Interrupt> {
        let Awaited { reach, lsn } = awaited?;
        stop_point!("commit-before-standbys");
        self.standbys.wait(reach, lsn).err()
    }

    /// Step 5 of a commit: what was seen early is made durable, and standbys get it. Returns the interrupt that ended the wait for them.
    pub(crate) fn make_durable(
        &self,
        commit: Visible<'_>,
        xid: Xid,
        subxids: &[Xid],
    ) -> Result<Option<Interrupt>, TxnError> {
        let Visible { pass, unflushed, awaited } = commit;
        if let Some(lsn) = unflushed {
            stop_point!("commit-before-last-flush");
            self.log().flush(lsn)?;
        }
        drop(pass);
        let cut = self.await_standbys(awaited);
        if unflushed.is_some() || awaited.is_some() {
            self.early.remove(xid, subxids);
        }
        Ok(cut)
    }

    /// The same for a rollback: nothing is waited for, and a commit log that cannot be written says the same by its silence.
    pub(crate) fn abort_tree(&self, remains: Remains<'_>) {
        let lsn = remains.log_abort(self);
        let _ = self.clog().mark(Some(remains.xid), remains.subxids, Outcome::Aborted, lsn, false);
        interleaving_point();
        self.running().complete(remains.xid, remains.latest());
        self.locks().xids_ended(remains.xid, |_| true);
    }

    /// A subtransaction and its children are rolled back while `top` runs on: from now on they count as ended.
    pub(crate) fn abort_children(&self, top: Xid, children: &[Xid], files: &[RelFile]) {
        let Some((&xid, subxids)) = children.split_first() else { return };
        let remains = Remains { xid, subxids, files, ..Remains::default() };
        let lsn = remains.log_abort(self);
        let _ = self.clog().mark(None, children, Outcome::Aborted, lsn, false);
        interleaving_point();
        self.parents().mark_aborted(children);
        interleaving_point();
        self.running().children_aborted(remains.latest());
        let ended = |xid| matches!(self.parents().family(xid), Family::AbortedChild(_));
        self.locks().xids_ended(top, ended);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn records_survive_and_damage_is_noticed(
            gaps in prop::collection::vec(1_u64..5, 0..200),
            numbers in prop::collection::vec(any::<u32>(), 0..5),
            invalidations in prop::collection::vec(any::<u8>(), 0..50),
            time in any::<i64>(),
            cut in any::<prop::sample::Index>(),
        ) {
            let mut last = 1_000;
            let subxids: Vec<_> = gaps.iter().map(|gap| { last += gap; Xid(last) }).collect();
            let file = |&number: &u32| RelFile { tablespace: Oid(1663), database: Oid(number / 2), number };
            let files: Vec<_> = numbers.iter().map(file).collect();
            let mapped = |&number: &u32| MappedFile { database: Oid(number / 3), relation: Oid(number / 5), number };
            let mapped: Vec<_> = numbers.iter().map(mapped).collect();
            let locks: Vec<_> = numbers.iter().map(|&number| (Oid(number / 7), Oid(number))).collect();
            let remains = Remains {
                xid: Xid(1_000),
                subxids: &subxids,
                files: &files,
                mapped: &mapped,
                invalidations: &invalidations,
                locks: &locks,
                origin: None,
            };
            let bytes = encode(&remains, time);
            let origin = Some(Mark { origin: 9, remote: Lsn(77), time });
            let replicated = encode(&Remains { origin, ..remains }, time);
            let record = EndRecord { time, subxids, files, mapped, invalidations, locks, origin: None };
            let with_origin = EndRecord { origin, ..record.clone() };
            prop_assert_eq!(decode(Xid(1_000), &bytes), Some(record));
            prop_assert_eq!(decode(Xid(1_000), &bytes[..cut.index(bytes.len())]), None);
            prop_assert_eq!(decode(Xid(1_000), &replicated), Some(with_origin));
        }

        #[test]
        fn any_bytes_are_safe(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            // Runs are bounded by u32::MAX each; keep the memory of a test small.
            if bytes.len() < 12 || bytes[8..].iter().all(|&byte| byte < 0x80) {
                let _ = decode(Xid(7), &bytes);
            }
        }
    }

    #[test]
    fn a_million_consecutive_subtransactions_are_one_run() {
        let subxids: Vec<_> = (11..1_000_011).map(Xid).collect();
        let remains = Remains { xid: Xid(10), subxids: &subxids, ..Remains::default() };
        assert!(encode(&remains, 0).len() < 24);
    }

    #[test]
    fn the_gate_waits_for_those_before_and_not_for_those_after() {
        let gate = CheckpointGate::default();
        let worker = gate.register();
        let before = gate.enter(&worker);
        std::thread::scope(|scope| {
            let checkpoint = scope.spawn(|| gate.wait());
            while gate.generation.load(Ordering::SeqCst) == 0 {
                std::thread::yield_now();
            }
            let _after = gate.enter(&worker);
            assert!(!checkpoint.is_finished(), "the checkpoint passed a commit in flight");
            drop(before);
            checkpoint.join().unwrap();
        });
    }
}
