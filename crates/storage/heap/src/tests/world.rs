//! A small server for tests: real log, files, pool and transactions in a folder of its own; sessions that a test drives step by step on one thread.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use base::{Fork, Lsn, MultiXactId, Oid, RelFile, Tid, Xid};
use buffer::{BufferPool, Persistence, Ring};
use smgr::Smgr;
use tuple::{Attr, Datum, Physical, RowLayout};
use txn::{
    End, RelKind, RelationFiles, SessionId, Snapshot, SyncCommit, Transaction, TxnOptions, TxnStart,
    TxnSystem,
};
use wal::{Record, Rmgr, Wal, WalOptions};

use crate::error::HeapResult;
use crate::vacuum::{IndexCleanup, VacuumCallbacks, VacuumOptions, VacuumPhase, VacuumStats, vacuum};
use crate::*;

struct KeepFiles;

impl RelationFiles for KeepFiles {
    fn map_files(&self, _: &[txn::MappedFile]) {}
    fn drop_files(&self, _: &[RelFile]) {}
}

pub struct World {
    dir: PathBuf,
    pub pool: BufferPool,
    pub txns: Arc<TxnSystem>,
    /// Where the log begins.
    start: Lsn,
    next_file: AtomicU32,
    next_session: AtomicU32,
}

static WORLDS: AtomicU32 = AtomicU32::new(0);

fn wal_options() -> WalOptions {
    WalOptions { segment_size: 1 << 20, buffers: 1 << 20, fsync: false, ..WalOptions::default() }
}

/// Locked, and no other version has to be.
pub const LOCKED: LockOutcome = LockOutcome::Locked { later: None };

impl World {
    pub fn new() -> World {
        World::with_buffers(256)
    }

    pub fn with_buffers(buffers: usize) -> World {
        World::starting_at(buffers, Xid::FIRST_NORMAL)
    }

    /// A server whose first transaction gets this xid.
    pub fn starting_at(buffers: usize, next_xid: Xid) -> World {
        World::with(buffers, next_xid, &TxnOptions::default())
    }

    pub fn with(buffers: usize, next_xid: Xid, options: &TxnOptions) -> World {
        let number = WORLDS.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("stampede-heap-{}-{number}", std::process::id()));
        let _ = runtime::fs::remove_dir_all(&dir);
        runtime::fs::create_dir_all(&dir.join("base/5")).unwrap();
        let wal = Arc::new(Wal::create(&dir.join("pg_wal"), wal_options(), 1).unwrap());
        let start = wal.insert_end();
        let smgr = Arc::new(Smgr::new(&dir));
        let pool = BufferPool::new(buffers, smgr, wal.clone());
        TxnSystem::create(&dir).unwrap();
        let oldest = txn::OldestIds { xid: next_xid, multi: MultiXactId(1) };
        let first = TxnStart { next_xid, next_multi: MultiXactId(1), oldest };
        let txns = Arc::new(TxnSystem::open(&dir, wal, Arc::new(KeepFiles), options, first));
        World { dir, pool, txns, start, next_file: AtomicU32::new(16384), next_session: AtomicU32::new(1) }
    }

    pub fn access(&self) -> Access<'_> {
        Access { pool: &self.pool, txns: &self.txns }
    }

    pub fn table(&self, layout: RowLayout, toast: Option<ToastTable>) -> Arc<HeapRel> {
        self.logged_table(layout, toast, None)
    }

    /// A table whose records say this to decoders of the log.
    pub fn logged_table(
        &self,
        layout: RowLayout,
        toast: Option<ToastTable>,
        logged: Option<Arc<Logged>>,
    ) -> Arc<HeapRel> {
        let number = self.next_file.fetch_add(1, Ordering::Relaxed);
        let file = RelFile { tablespace: Oid(1663), database: Oid(5), number };
        self.pool.smgr().create(file, Fork::Main, false).unwrap();
        Arc::new(HeapRel::new(HeapDesc {
            logged,
            file,
            layout: Arc::new(layout),
            fillfactor: 100,
            persistence: Persistence::Permanent,
            kind: RelKind::Plain,
            toast,
        }))
    }

    /// `key int4, value text`
    pub fn pairs(&self) -> Arc<HeapRel> {
        self.table(pair_layout(), None)
    }

    pub fn session(&self) -> Session<'_> {
        let id = self.next_session.fetch_add(1, Ordering::Relaxed);
        let mut txn = Transaction::new(self.txns.clone(), SessionId(id));
        txn.start(Default::default());
        Session { world: self, txn, combo: ComboCids::new() }
    }

    pub fn vacuum(&self, rel: &HeapRel, callbacks: &mut TestIndex<'_>) -> VacuumStats {
        let usable = txn::OldestIds {
            xid: self.txns.horizon(RelKind::Plain, None).maybe_needed,
            multi: self.txns.oldest_usable_multi(),
        };
        let options = VacuumOptions {
            memory: 1 << 20,
            disable_page_skipping: false,
            freeze_limit: usable,
            usable,
            truncate: true,
            index_cleanup: IndexCleanup::On,
            ring: 256 << 10,
        };
        vacuum(&self.access(), rel, &options, callbacks).unwrap()
    }

    /// Keys that a new session sees, with their values, by a sequential scan.
    pub fn rows(&self, rel: &Arc<HeapRel>) -> Vec<(i32, String)> {
        let mut session = self.session();
        let rows = session.rows(rel);
        session.commit();
        rows
    }

    /// All records since the world began.
    pub fn log(&self) -> impl Iterator<Item = Record> {
        self.pool.wal().flush(self.pool.wal().insert_end()).unwrap();
        self.pool.wal().reader(self.start).map(Result::unwrap)
    }

    /// Plays the whole log into the files of an empty folder, and compares all pages of these tables with the pool's.
    pub fn check_redo(&self, rels: &[&HeapRel]) {
        let copy = World::with_buffers(64);
        for rel in rels {
            copy.pool.smgr().create(rel.desc.file, Fork::Main, false).unwrap();
        }
        for record in self.log() {
            if record.rmgr == Rmgr::Heap {
                buffer::replay(&copy.pool, &record, change).unwrap();
            }
        }
        for rel in rels {
            for fork in [Fork::Main, Fork::Vm] {
                self.compare(&copy, rel, fork);
            }
        }
    }

    fn compare(&self, copy: &World, rel: &HeapRel, fork: Fork) {
        let file = rel.desc.file;
        if !self.pool.smgr().exists(file, fork).unwrap() {
            return;
        }
        let exists = copy.pool.smgr().exists(file, fork).unwrap();
        let redone = if exists { copy.pool.nblocks(file, fork).unwrap() } else { 0 };
        for block in 0..self.pool.nblocks(file, fork).unwrap() {
            let tag = buffer::Tag { rel: file, fork, block: base::BlockNo(block) };
            let mut one = *self.pool.read(tag).unwrap().shared();
            let mut two = if block < redone { *copy.pool.read(tag).unwrap().shared() } else { [0; 8192] };
            if fork == Fork::Main {
                assert_eq!(ops::is_all_visible(&one), ops::is_all_visible(&two), "{tag:?}");
                ops::mask_hints(&mut one);
                ops::mask_hints(&mut two);
            }
            assert!(one[32..] == two[32..], "redo of {tag:?} differs");
        }
    }
}

fn change(page: &mut page::PageBytes, record: &wal::RecordRef<'_>, index: usize) -> Result<(), String> {
    redo::redo_block(page, record, index).map_err(|error| error.to_string())
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

pub fn pair_layout() -> RowLayout {
    let attr = |physical| Attr { physical, align: 4, storage: b'x', compression: None };
    RowLayout::new(vec![attr(Physical::Int4), attr(Physical::Varlena)])
}

pub fn pair(key: i32, value: &str) -> [Datum; 2] {
    [Datum::Int4(key), Datum::text(value)]
}

/// A session in a transaction.
pub struct Session<'a> {
    pub world: &'a World,
    pub txn: Transaction,
    pub combo: ComboCids,
}

impl Session<'_> {
    pub fn write<T>(&mut self, f: impl FnOnce(&Access<'_>, &Writer<'_>) -> HeapResult<T>) -> T {
        let xid = self.txn.xid().unwrap();
        let writer = Writer {
            xid,
            cid: self.txn.current_command(),
            me: &self.txn,
            combo: &self.combo,
            compression: Default::default(),
            chunks: None,
        };
        f(&self.world.access(), &writer).unwrap()
    }

    pub fn insert(&mut self, rel: &HeapRel, key: i32, value: &str) -> Tid {
        let tid =
            self.write(|access, writer| insert(access, rel, writer, &pair(key, value), Default::default()));
        self.txn.next_command().unwrap();
        tid
    }

    pub fn try_update(&mut self, rel: &HeapRel, tid: Tid, key: i32, value: &str, hot: bool) -> UpdateOutcome {
        let outcome =
            self.write(|access, writer| update(access, rel, writer, tid, &pair(key, value), hot, !hot));
        self.txn.next_command().unwrap();
        outcome
    }

    pub fn update(&mut self, rel: &HeapRel, tid: Tid, key: i32, value: &str) -> (Tid, bool) {
        match self.try_update(rel, tid, key, value, true) {
            UpdateOutcome::Updated { tid, hot } => (tid, hot),
            other => panic!("{other:?}"),
        }
    }

    pub fn delete(&mut self, rel: &HeapRel, tid: Tid) -> DeleteOutcome {
        let outcome = self.write(|access, writer| delete(access, rel, writer, tid));
        self.txn.next_command().unwrap();
        outcome
    }

    pub fn lock(&mut self, rel: &HeapRel, tid: Tid, strength: LockStrength) -> LockOutcome {
        self.write(|access, writer| lock_tuple(access, rel, writer, (tid, Wanted::Seen), strength))
    }

    /// Locks rows of one page, knowing nothing before; how many.
    pub fn lock_rows(&mut self, rel: &HeapRel, tids: &[Tid], strength: LockStrength) -> usize {
        let places: Vec<_> = tids.iter().map(|tid| tid.offset).collect();
        let (page, known) = ((tids[0].block, places.as_slice()), &mut KnownHolders::new());
        self.write(|access, writer| lock_rows(access, rel, writer, page, strength, known))
    }

    pub fn lock_later(&mut self, rel: &HeapRel, later: Later, strength: LockStrength) -> LockOutcome {
        self.write(|access, writer| lock_later(access, rel, writer, later, strength))
    }

    pub fn look<T>(&mut self, f: impl FnOnce(&Access<'_>, &View<'_>) -> T) -> T {
        let snapshot = self.txn.statement_snapshot().unwrap();
        self.look_with(&snapshot, f)
    }

    pub fn look_with<T>(&self, snapshot: &Snapshot, f: impl FnOnce(&Access<'_>, &View<'_>) -> T) -> T {
        let view = View { snapshot, curcid: self.txn.current_command(), me: &self.txn, combo: &self.combo };
        f(&self.world.access(), &view)
    }

    pub fn fetch(&mut self, rel: &HeapRel, tid: Tid) -> (Fetched, Option<(i32, String)>) {
        let mut out = HeapTuple::new();
        let found = self.look(|access, view| fetch(access, rel, view, tid, &mut out)).unwrap();
        let row = (found == Fetched::Visible).then(|| decode(rel, &out.get().unwrap()));
        (found, row)
    }

    pub fn scan(&mut self, rel: &Arc<HeapRel>) -> Vec<(Tid, (i32, String))> {
        self.look(|access, view| {
            let mut scan = HeapScan::new(access, rel.clone(), None).unwrap();
            let mut rows = Vec::new();
            while let Some(row) = scan.next(access, view).unwrap() {
                rows.push((row.tid, decode(rel, &row)));
            }
            rows
        })
    }

    pub fn rows(&mut self, rel: &Arc<HeapRel>) -> Vec<(i32, String)> {
        let mut rows: Vec<_> = self.scan(rel).into_iter().map(|(_, row)| row).collect();
        rows.sort();
        rows
    }

    pub fn commit(mut self) {
        assert_eq!(self.txn.commit(SyncCommit::On, &[]).unwrap(), End::Commit);
    }

    pub fn abort(mut self) {
        self.txn.abort();
    }
}

/// Text that lz4 cannot make shorter.
pub fn noise(len: usize, seed: u64) -> String {
    let mut state = seed;
    let letter = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(b'!' + (state >> 33) as u8 % 94)
    };
    (0..len).map(letter).collect()
}

pub fn decode(rel: &HeapRel, row: &TupleRef<'_>) -> (i32, String) {
    let mut values = Vec::new();
    row.decode(&rel.desc.layout, 2, &mut values).unwrap();
    match values.as_slice() {
        [Datum::Int4(key), Datum::Bytes(text)] => (*key, String::from_utf8(text.to_vec()).unwrap()),
        other => panic!("{other:?}"),
    }
}

/// An index that knows which TIDs it would have entries for, and loses them to VACUUM.
#[derive(Default)]
pub struct TestIndex<'a> {
    pub entries: Vec<Tid>,
    pub none: bool,
    /// Called between the two passes over the table.
    pub between: Option<Box<dyn FnMut() + 'a>>,
    /// How often somebody waits for the lock that cutting takes.
    pub wanted: u32,
    /// Somebody waits as long as VACUUM goes on, who wants another lock than that for cutting.
    pub is_waited_for: bool,
    /// The lock for cutting is held.
    pub locked: bool,
    /// What became of that lock, and of the table.
    pub cuts: Vec<String>,
}

impl VacuumCallbacks for TestIndex<'_> {
    fn bulk_delete(&mut self, dead: &TidSet, _: Option<&Ring>) -> HeapResult<()> {
        self.entries.retain(|&tid| !dead.contains(tid));
        if let Some(between) = &mut self.between {
            between();
        }
        Ok(())
    }
    fn cleanup_indexes(&mut self, _: Option<&Ring>) -> HeapResult<()> {
        Ok(())
    }
    fn has_indexes(&self) -> bool {
        !self.none
    }
    fn lock_for_truncation(&mut self) -> HeapResult<bool> {
        self.cuts.push("lock".into());
        self.locked = true;
        Ok(true)
    }
    fn is_lock_wanted(&mut self) -> bool {
        if self.locked {
            self.wanted = self.wanted.saturating_sub(1);
        }
        self.is_waited_for || self.locked && self.wanted > 0
    }
    fn unlock_after_truncation(&mut self) {
        self.cuts.push("unlock".into());
        self.locked = false;
    }
    fn truncate(&mut self, _: &Access<'_>, pages: u32) -> HeapResult<()> {
        self.cuts.push(format!("cut to {pages}"));
        // Truncation is the storage manager's record; these tests replay the heap's alone.
        Ok(())
    }
    fn progress(&mut self, _: VacuumPhase, _: base::BlockNo, _: u32, _: (usize, usize)) -> HeapResult<()> {
        Ok(())
    }
}

/// A toast table's index.
#[derive(Default)]
pub struct TestToastIndex {
    entries: Mutex<BTreeMap<(u32, i32), Vec<Tid>>>,
    next: AtomicU32,
}

thread_local! {
    static FORCED_IDS: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
}

/// The next value ids to be handed out on this thread, last first.
pub fn force_value_ids(ids: Vec<u32>) {
    FORCED_IDS.set(ids);
}

impl ToastIndex for TestToastIndex {
    fn insert(&self, _: &Access<'_>, value_id: u32, seq: i32, tid: Tid) -> HeapResult<()> {
        self.entries.lock().unwrap().entry((value_id, seq)).or_default().push(tid);
        Ok(())
    }

    fn find(
        &self,
        _: &Access<'_>,
        value_id: u32,
        first_seq: i32,
        visit: &mut dyn FnMut(i32, Tid) -> HeapResult<bool>,
    ) -> HeapResult<()> {
        let found: Vec<(i32, Tid)> = self
            .entries
            .lock()
            .unwrap()
            .range((value_id, first_seq)..=(value_id, i32::MAX))
            .flat_map(|(&(_, seq), tids)| tids.iter().map(move |&tid| (seq, tid)))
            .collect();
        for (seq, tid) in found {
            if !visit(seq, tid)? {
                break;
            }
        }
        Ok(())
    }

    fn next_value_id(&self) -> u32 {
        let forced = FORCED_IDS.with_borrow_mut(Vec::pop);
        forced.unwrap_or_else(|| 50_000 + self.next.fetch_add(1, Ordering::Relaxed))
    }
}

impl World {
    /// `key int4, value text` with a toast table; the text column's `attstorage`.
    pub fn toasted(&self, storage: u8) -> Arc<HeapRel> {
        let plain = |physical| Attr { physical, align: 4, storage: b'p', compression: None };
        let chunks =
            RowLayout::new(vec![plain(Physical::Oid), plain(Physical::Int4), plain(Physical::Varlena)]);
        let toast = ToastTable {
            oid: Oid(40_000),
            rel: self.table(chunks, None),
            index: Arc::new(TestToastIndex::default()),
        };
        let attr = |physical| Attr { physical, align: 4, storage, compression: None };
        self.table(RowLayout::new(vec![attr(Physical::Int4), attr(Physical::Varlena)]), Some(toast))
    }
}
