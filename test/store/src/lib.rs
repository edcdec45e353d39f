//! What the tests of index access methods stand on: files in a directory of their own, a log, a pool, snapshots, and a table whose rows all live.

pub mod crowd;
pub mod points;
pub mod replay;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

use base::{BlockNo, Fork, Lsn, OffsetNo, Oid, RelFile, SqlError, Tid, Xid};
use buffer::{BufferPool, Tag};
use index::{DeadRows, Horizon};
use page::PageBytes;
use smgr::Smgr;
use wal::{Record, Rmgr, Wal, WalOptions};

/// The index under test.
pub const FILE: RelFile = RelFile { tablespace: Oid(1663), database: Oid(5), number: 16384 };

/// A directory that goes with its value.
struct Dir(PathBuf);

impl Dir {
    fn new() -> Dir {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let name = format!("stampede-index-{}-{}", std::process::id(), NEXT.fetch_add(1, SeqCst));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Dir(path)
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Files, log and pool.
pub struct Store {
    _dir: Dir,
    /// The log.
    pub wal: Arc<Wal>,
    /// The pool.
    pub pool: BufferPool,
    /// Where its log begins.
    pub start: Lsn,
}

impl Store {
    /// With this many buffers; [`FILE`] is there and empty.
    pub fn new(buffers: usize) -> Store {
        let dir = Dir::new();
        let options = WalOptions {
            segment_size: 1 << 20,
            buffers: 1 << 20,
            // Redo is to change pages, not to copy images.
            full_page_writes: false,
            fsync: false,
            ..WalOptions::default()
        };
        let wal = Arc::new(Wal::create(&dir.0.join("pg_wal"), options, 1).unwrap());
        let smgr = Arc::new(Smgr::new(&dir.0));
        runtime::fs::create_dir_all(&dir.0.join("base/5")).unwrap();
        smgr.create(FILE, Fork::Main, false).unwrap();
        let pool = BufferPool::new(buffers, smgr, wal.clone());
        let start = wal.insert_end();
        Store { _dir: dir, wal, pool, start }
    }

    /// What a resource manager has logged.
    pub fn records(&self, rmgr: Rmgr) -> Vec<Record> {
        self.wal.flush(self.wal.insert_end()).unwrap();
        self.wal.reader(self.start).map(Result::unwrap).filter(|record| record.rmgr == rmgr).collect()
    }

    /// LSN, items, and what `of` makes of each page of [`FILE`], without hints and without bytes that mean nothing.
    pub fn pages<T>(&self, of: impl Fn(&PageBytes) -> T) -> Vec<(Lsn, T, Vec<Vec<u8>>)> {
        let state = |block| {
            let pin = self.pool.read(Tag { rel: FILE, fork: Fork::Main, block: BlockNo(block) }).unwrap();
            let page = pin.shared();
            let items = (1..=page::max_offset(&page))
                .map(|n| page::item(&page, n).unwrap_or_default().to_vec())
                .collect();
            (page::lsn(&page), of(&page), items)
        };
        (0..self.pool.nblocks(FILE, Fork::Main).unwrap()).map(state).collect()
    }
}

/// Snapshots and xids as far as page deletion needs them.
#[derive(Default)]
pub struct Snapshots {
    next: AtomicU64,
    active: Mutex<BTreeSet<u64>>,
}

/// A registered snapshot.
pub struct Snap<'a>(&'a Snapshots, u64);

impl Snapshots {
    /// Registers one; an xid passes.
    pub fn take(&self) -> Snap<'_> {
        let mut active = self.active.lock().unwrap();
        let xid = self.next.fetch_add(1, SeqCst);
        active.insert(xid);
        Snap(self, xid)
    }
}

impl Drop for Snap<'_> {
    fn drop(&mut self) {
        self.0.active.lock().unwrap().remove(&self.1);
    }
}

impl Horizon for Snapshots {
    fn next_xid(&self) -> Xid {
        Xid(self.next.load(SeqCst))
    }
    fn is_removable(&self, xid: Xid) -> bool {
        self.active.lock().unwrap().first().is_none_or(|&oldest| oldest >= xid.0)
    }
}

/// Nobody deletes rows.
pub struct AllLive;

impl DeadRows for AllLive {
    fn find(&self, _: BlockNo, _: &[OffsetNo], _: &mut Vec<OffsetNo>) -> Result<(), SqlError> {
        Ok(())
    }
}

/// The `n`-th TID: a hundred a page.
pub fn tid(n: u32) -> Tid {
    Tid::new(BlockNo(n / 100), (n % 100 + 1) as u16)
}

/// A generator that is the same everywhere.
pub struct Random(pub u64);

impl Random {
    /// The next number below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}
