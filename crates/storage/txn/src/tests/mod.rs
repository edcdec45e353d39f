//! Whole-crate tests, and those of files that the model compiles a second time.

mod damage;
mod early;
mod locks;
mod multixact;
mod old_snapshots;
mod prepared;
mod queues;
mod recovery;
mod transactions;
mod truncation;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base::{Lsn, MultiXactId, RelFile, Xid};
use parking_lot::Mutex;
use runtime::Simulation;
use wal::{Rmgr, WalError};

use crate::{
    Characteristics, Log, MappedFile, OldestIds, RelationFiles, SessionId, Transaction, TxnOptions, TxnStart,
    TxnSystem,
};

use crate::subxact::{Family, SubxactMap};

const CHUNK: u64 = 1 << 15;

/// A record of [`MemoryLog`].
#[derive(Clone)]
struct Logged {
    rmgr: Rmgr,
    info: u8,
    xid: Xid,
    data: Vec<u8>,
    end: Lsn,
}

/// WAL that is a list; what is flushed survives.
#[derive(Default)]
struct MemoryLog {
    records: Mutex<Vec<Logged>>,
    flushed: Mutex<Lsn>,
    /// No flush ends.
    stuck: AtomicBool,
}

impl Log for MemoryLog {
    fn insert(&self, rmgr: Rmgr, info: u8, xid: Xid, data: &[u8]) -> Lsn {
        let mut records = self.records.lock();
        let end = Lsn(records.len() as u64 + 1);
        records.push(Logged { rmgr, info, xid, data: data.to_vec(), end });
        end
    }

    fn has_room(&self) -> bool {
        true
    }

    fn flush(&self, upto: Lsn) -> Result<(), WalError> {
        runtime::yield_now();
        while self.stuck.load(Ordering::SeqCst) {
            runtime::wait(runtime::sleep(Duration::from_millis(1)));
        }
        let mut flushed = self.flushed.lock();
        *flushed = upto.max(*flushed);
        Ok(())
    }

    fn flushed(&self) -> Lsn {
        *self.flushed.lock()
    }

    fn end(&self) -> Lsn {
        Lsn(self.records.lock().len() as u64)
    }

    fn has_failed(&self) -> bool {
        false
    }
}

/// Files that were dropped, and those that took others' places.
#[derive(Default)]
struct Dropped(Mutex<Vec<u32>>, Mutex<Vec<MappedFile>>);

impl RelationFiles for Dropped {
    fn map_files(&self, files: &[MappedFile]) {
        self.1.lock().extend(files);
    }

    fn drop_files(&self, files: &[RelFile]) {
        self.0.lock().extend(files.iter().map(|file| file.number));
    }
}

fn file(number: u32) -> RelFile {
    RelFile { number, ..RelFile::default() }
}

struct Server {
    system: Arc<TxnSystem>,
    log: Arc<MemoryLog>,
    dropped: Arc<Dropped>,
}

const FIRST: TxnStart = TxnStart {
    next_xid: Xid::FIRST_NORMAL,
    next_multi: MultiXactId(1),
    oldest: OldestIds { xid: Xid::FIRST_NORMAL, multi: MultiXactId(1) },
};

fn small_options() -> TxnOptions {
    TxnOptions { transaction_buffers: 16, max_prepared: 8, ..TxnOptions::default() }
}

impl Server {
    /// A new server on an empty (simulated) disk.
    fn new() -> Server {
        Server::with(small_options())
    }

    fn with(options: TxnOptions) -> Server {
        TxnSystem::create(Path::new("/data")).unwrap();
        runtime::fs::sync_dir(Path::new("/")).unwrap();
        let server = Server::open_with(Arc::default(), FIRST, options);
        server.system.end_recovery().unwrap();
        server
    }

    fn open(log: Arc<MemoryLog>, start: TxnStart) -> Server {
        Server::open_with(log, start, small_options())
    }

    fn open_with(log: Arc<MemoryLog>, start: TxnStart, options: TxnOptions) -> Server {
        let dropped = Arc::new(Dropped::default());
        let system = TxnSystem::open(Path::new("/data"), log.clone(), dropped.clone(), &options, start);
        Server { system: Arc::new(system), log, dropped }
    }

    fn session(&self, number: u32) -> Transaction {
        let mut transaction = Transaction::new(self.system.clone(), SessionId(number));
        transaction.start(Characteristics::default());
        transaction
    }
}

/// Runs a test in a fiber on a simulated machine.
fn simulate(seed: u64, test: impl FnOnce() + 'static) {
    Simulation::new(seed).run(test).unwrap();
}

#[test]
fn leads_to_the_top_and_remembers_aborts() {
    let map = SubxactMap::default();
    assert_eq!(map.family(Xid(11)), Family::Top);
    map.insert(Xid(11), Xid(10));
    map.insert(Xid(12), Xid(10));
    map.mark_aborted(&[Xid(12)]);
    assert_eq!(map.family(Xid(10)), Family::Top);
    assert_eq!(map.family(Xid(11)), Family::Child(Xid(10)));
    assert_eq!(map.family(Xid(12)), Family::AbortedChild(Xid(10)));
    assert_eq!(map.family(Xid(13)), Family::Top);
}

#[test]
fn a_million_children_and_freeing_behind_the_horizon() {
    let map = SubxactMap::default();
    let top = Xid(5);
    for xid in 6..1_000_000 {
        map.insert(Xid(xid), top);
    }
    assert!((6..1_000_000).all(|xid| map.family(Xid(xid)) == Family::Child(top)));
    let all = map.chunks();
    map.free_before(Xid(500_000));
    assert_eq!(map.family(Xid(6)), Family::Top);
    assert_eq!(map.family(Xid(500_000)), Family::Child(top));
    assert!(map.chunks() < all * 6 / 10, "{} of {all} chunks kept", map.chunks());
    map.free_before(Xid(2_000_000));
    assert_eq!(map.chunks(), 0);
}

#[test]
fn a_late_older_child_extends_the_table_downwards() {
    let map = SubxactMap::default();
    map.insert(Xid(10 * CHUNK), Xid(4));
    map.insert(Xid(7 * CHUNK), Xid(4));
    map.free_before(Xid(6 * CHUNK));
    assert_eq!(map.family(Xid(7 * CHUNK)), Family::Child(Xid(4)));
    assert_eq!(map.family(Xid(10 * CHUNK)), Family::Child(Xid(4)));
}

#[test]
fn the_system_is_shared_by_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<TxnSystem>();
    shared::<crate::SnapshotData>();
}
