//! Relation files.
//!
//! # What
//! [`Smgr`] finds, reads, writes, extends, cuts, syncs and removes the files of relations. It knows pages only as 8192 bytes, but for how those
//! without content are written ([`page::write_blank`]).
//!
//! # Layout
//! A fork of a relation is a sequence of pages in segment files of 1 GiB: `base/5/16384`, `base/5/16384.1`, …, or in the folder of another tablespace
//! ([`base::tablespace_folder`]); the forks' files have the endings `_fsm`, `_vm` and `_init`. Every segment but the last is full.
//!
//! # Invariants
//! 1. The number of pages ([`Smgr::nblocks`]) is read from the files once and counted from then on.
//! 2. Files have no holes: pages are added by writing blank ones, so that a full disk shows when a page is added and not when it is
//!    written back. A fork may be *physically* longer than its number of pages says (room taken ahead, blank); after a
//!    crash that room counts as pages, which are new and empty.
//! 5. The pages that a checkpoint has noted ([`Smgr::lengths`]) are on disk, and none of them is all zero, until the relation is cut or removed.
//! 3. A write is followed by an entry in the pending set; [`Smgr::sync_all_pending`] takes the set and syncs every file
//!    once. Whoever needs a write to be in a checkpoint makes sure that the call to [`Smgr::write`] has returned before.
//! 4. An error of a sync is sticky: the kernel may have dropped the pages, so no later sync may succeed. A file that is closed before it
//!    is synced is opened again for that: Linux tells the first sync of an inode of an error that none has been told of, through
//!    whatever descriptor the page was written.
//!
//! # Locks
//! `shards` (short): the map of known forks. `lengths` (short), before it. `ForkState::files` (short): its open files. `Pending::sets` (short): what is to be synced.
//! None is held over I/O. [`Fork::lock_extension`](ForkState::lock_extension) (fiber-aware) serialises those who add pages to a
//! fork, and is held over I/O, as is, behind it, `learning` of who first asks for the number of pages; `Pending::cycle` (fiber-aware) those who sync. Both are taken before any short one.
//!
//! # WAL and crash
//! Writes are neither ordered nor durable until synced. Creating, cutting and removing relations is logged by the callers
//! before the file changes; all three may be repeated.
//!
//! # PostgreSQL counterpart and differences
//! `smgr.c`, `md.c`, `sync.c`, `fd.c`. Removing needs no tombstone file until the next checkpoint, as file numbers are never
//! used again.

mod database;
mod lengths;
mod pending;
mod relation;
mod run;
mod tablespace;

#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use base::{BlockNo, Fork, Oid, PAGE_SIZE, RelFile};
use parking_lot::RwLock;
use runtime::fs::{self, File, OpenOptions};
use rustc_hash::FxHashMap;

pub use database::{database_folder, remove_leftovers, unfinished_folder};
pub use lengths::DAMAGED;
use lengths::Lengths;
use pending::Pending;
pub use relation::{ForkState, SmgrError, SmgrResult};
pub use run::PageRun;
pub use tablespace::{
    TABLESPACES, has_files, link_tablespace, make_tablespace, tablespace_link, tablespace_location,
    tablespaces, unfinished_tablespace, unfinished_tablespaces,
};

/// Pages of a segment file: 1 GiB.
pub const SEGMENT_PAGES: u32 = (1 << 30) / PAGE_SIZE as u32;
/// Most pages that are taken ahead when a fork grows.
const MAX_AHEAD: u32 = 64;
const SHARDS: usize = 64;

/// What [`Smgr::sync_all_pending`] has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Synced {
    /// Files and directories.
    pub count: usize,
    /// Time that the slowest file took.
    pub longest: Duration,
    /// Time that all files took.
    pub total: Duration,
}

/// Habits of file access.
#[derive(Clone, Copy, Debug)]
pub struct SmgrOptions {
    /// Open files kept (`max_files_per_process`, or fewer).
    pub max_open_files: usize,
    /// Wait for the disk (`fsync`).
    pub fsync: bool,
    /// Read and write around the page cache (`debug_io_direct`).
    pub direct: bool,
}

impl Default for SmgrOptions {
    fn default() -> Self {
        SmgrOptions { max_open_files: 1000, fsync: true, direct: false }
    }
}

type Shard = RwLock<FxHashMap<(RelFile, Fork), Arc<ForkState>>>;

/// The files of all relations of a data directory.
pub struct Smgr {
    dir: PathBuf,
    options: SmgrOptions,
    segment_pages: u32,
    shards: Box<[Shard]>,
    open_files: AtomicUsize,
    /// Where closing of unused files goes on.
    close_hand: AtomicUsize,
    pending: Pending,
    lengths: Lengths,
    /// Redo goes on: see [`lengths`].
    recovering: AtomicBool,
}

impl fs::SpareFiles for Smgr {
    fn close_some(&self) -> usize {
        let open = self.open_files();
        self.close_unused(open - open.div_ceil(8))
    }
}

/// One segment file of a fork.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SegmentId {
    pub rel: RelFile,
    pub fork: Fork,
    pub segment: u32,
}

impl SegmentId {
    /// Path below the data directory.
    fn name(&self) -> String {
        let SegmentId { rel, fork, segment } = self;
        match segment {
            0 => format!("{rel}{}", fork.suffix()),
            n => format!("{rel}{}.{n}", fork.suffix()),
        }
    }
}

impl Smgr {
    /// Relation files below `data_dir`.
    pub fn new(data_dir: &Path) -> Smgr {
        Smgr::with_options(data_dir, SmgrOptions::default())
    }

    /// Relation files below `data_dir`, with these habits.
    pub fn with_options(data_dir: &Path, options: SmgrOptions) -> Smgr {
        Smgr::with_segment_pages(data_dir, options, SEGMENT_PAGES)
    }

    /// For tests of segment boundaries.
    fn with_segment_pages(data_dir: &Path, options: SmgrOptions, segment_pages: u32) -> Smgr {
        Smgr {
            dir: data_dir.to_path_buf(),
            options,
            segment_pages,
            shards: (0..SHARDS).map(|_| Shard::default()).collect(),
            open_files: AtomicUsize::new(0),
            close_hand: AtomicUsize::new(0),
            pending: Pending::default(),
            lengths: Lengths::default(),
            recovering: AtomicBool::new(false),
        }
    }

    /// Before redo: so many pages relations have at least, or had.
    pub fn begin_recovery(&self, lengths: impl Iterator<Item = (RelFile, u32)>) {
        self.recovering.store(true, Ordering::Release);
        self.lengths.set(lengths);
    }

    /// From now on who reads a relation that is too short gets an error.
    pub fn end_recovery(&self) {
        self.recovering.store(false, Ordering::Release);
    }

    /// So many pages of its main fork were on disk at the last checkpoint, and have not been cut since.
    pub fn settled_pages(&self, rel: RelFile, fork: Fork) -> u32 {
        if fork == Fork::Main { self.lengths.get(rel) } else { 0 }
    }

    /// For a checkpoint, before its [`sync_all_pending`](Self::sync_all_pending): what main forks must have from now on, [`DAMAGED`] for
    /// those that have lost pages.
    pub fn lengths(&self) -> Vec<(RelFile, u32)> {
        let main = |((rel, fork), state): (&(RelFile, Fork), &Arc<ForkState>)| {
            let pages = state.nblocks().filter(|_| *fork == Fork::Main)?;
            Some((*rel, pages))
        };
        let shard = |shard: &Shard| shard.read().iter().filter_map(main).collect::<Vec<_>>();
        self.lengths.collect(self.shards.iter().flat_map(shard))
    }

    /// The error of who reads a relation that has lost pages.
    fn check_whole(&self, state: &ForkState, rel: RelFile, fork: Fork) -> SmgrResult<()> {
        if !state.is_cut() || self.recovering.load(Ordering::Acquire) {
            return Ok(());
        }
        let path = SegmentId { rel, fork, segment: 0 }.name();
        let (nblocks, expected) = self.lengths.missing(rel);
        Err(SmgrError::Cut { path, nblocks, expected })
    }

    fn shard(&self, rel: RelFile) -> &Shard {
        let mixed = rel.number.wrapping_mul(0x9E37_79B9) >> 26;
        &self.shards[mixed as usize % SHARDS]
    }

    /// The fork's entry, made if nobody asked for it yet.
    pub fn fork(&self, rel: RelFile, fork: Fork) -> Arc<ForkState> {
        let shard = self.shard(rel);
        if let Some(state) = shard.read().get(&(rel, fork)) {
            return state.clone();
        }
        shard.write().entry((rel, fork)).or_default().clone()
    }

    fn path(&self, id: SegmentId) -> PathBuf {
        self.dir.join(id.name())
    }

    /// The open file of a segment.
    fn open(&self, state: &ForkState, id: SegmentId, options: OpenOptions) -> SmgrResult<Arc<File>> {
        if let Some(file) = state.file(id.segment) {
            return Ok(file);
        }
        let options = OpenOptions { direct: self.options.direct, ..options };
        let file =
            File::open(&self.path(id), options).map_err(|error| SmgrError::open(&id.name(), &error))?;
        let (file, added) = state.keep_file(id.segment, Arc::new(file));
        if added {
            let open = self.open_files.fetch_add(1, Ordering::Relaxed) + 1;
            if open > self.options.max_open_files {
                self.close_unused(self.options.max_open_files / 8 * 7);
            }
        }
        Ok(file)
    }

    /// Closes files of forks that were not used since the last time, until no more than `goal` files are open; returns how many it closed.
    /// Who reads or writes a file holds on to it.
    fn close_unused(&self, goal: usize) -> usize {
        let mut closed = 0;
        for _ in 0..2 * SHARDS {
            if self.open_files.load(Ordering::Relaxed) <= goal {
                break;
            }
            let hand = self.close_hand.fetch_add(1, Ordering::Relaxed) % SHARDS;
            let shard: usize = self.shards[hand].read().values().map(|state| state.close_if_unused()).sum();
            self.open_files.fetch_sub(shard, Ordering::Relaxed);
            closed += shard;
        }
        closed
    }

    /// Number of open files.
    pub fn open_files(&self) -> usize {
        self.open_files.load(Ordering::Relaxed)
    }

    /// Makes the first file of a fork. An existing one is an error unless `redo`, which also makes its directory.
    pub fn create(&self, rel: RelFile, fork: Fork, redo: bool) -> SmgrResult<()> {
        let id = SegmentId { rel, fork, segment: 0 };
        let path = self.path(id);
        let io_error = |error: io::Error| SmgrError::io("create file", &id.name(), &error);
        let parent = path.parent().unwrap_or(&self.dir);
        if redo && !fs::exists(parent).map_err(io_error)? {
            fs::create_dir_all(parent).map_err(io_error)?;
            if let Some(grandparent) = parent.parent() {
                self.pending.add_dir(grandparent.to_path_buf());
            }
        }
        if !redo && fork == Fork::Main {
            self.lengths.remove(rel);
        }
        let options = if redo { OpenOptions::CREATE } else { OpenOptions::CREATE_NEW };
        match File::open(&path, options) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && self.make_folder(rel, parent)? => {
                File::open(&path, options).map_err(io_error)?
            }
            file => file.map_err(io_error)?,
        };
        self.pending.add_file(id);
        self.pending.add_dir(parent.to_path_buf());
        Ok(())
    }

    /// The first file of a database in a tablespace makes the folder. The tablespace must be there.
    fn make_folder(&self, rel: RelFile, folder: &Path) -> SmgrResult<bool> {
        if rel.tablespace == Oid::PG_DEFAULT || rel.tablespace == Oid::PG_GLOBAL {
            return Ok(false);
        }
        match fs::create_dir(folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                let shown = RelFile::whole_database(rel.tablespace, rel.database).to_string();
                return Err(SmgrError::io("create directory", &shown, &error));
            }
            _ => {}
        }
        if let Some(above) = folder.parent() {
            self.pending.add_dir(above.to_path_buf());
        }
        Ok(true)
    }

    /// Whether the fork has a file.
    pub fn exists(&self, rel: RelFile, fork: Fork) -> SmgrResult<bool> {
        if self.fork(rel, fork).file(0).is_some() {
            return Ok(true);
        }
        let id = SegmentId { rel, fork, segment: 0 };
        fs::exists(&self.path(id)).map_err(|error| SmgrError::io("stat file", &id.name(), &error))
    }

    /// Removes all files of a relation and forgets their pending syncs. Missing files are no error. The caller has discarded
    /// the relation's buffers, and nobody uses it any more.
    pub fn unlink(&self, rel: RelFile) -> SmgrResult<()> {
        self.pending.cancel(rel);
        for fork in Fork::ALL {
            if let Some(state) = self.shard(rel).write().remove(&(rel, fork)) {
                self.open_files.fetch_sub(state.close(), Ordering::Relaxed);
            }
            for segment in 0.. {
                let id = SegmentId { rel, fork, segment };
                let path = self.path(id);
                match fs::remove_file(&path) {
                    Ok(()) => self.pending.add_dir(path.parent().unwrap_or(&self.dir).to_path_buf()),
                    Err(error) if error.kind() == io::ErrorKind::NotFound => break,
                    Err(error) => return Err(SmgrError::io("remove file", &id.name(), &error)),
                }
            }
        }
        // After its entry has left the map: whoever collects lengths now does not note it again.
        self.lengths.remove(rel);
        Ok(())
    }

    /// Number of pages. A missing file is an error.
    pub fn nblocks(&self, rel: RelFile, fork: Fork) -> SmgrResult<u32> {
        let state = self.fork(rel, fork);
        let nblocks = self.known_nblocks(&state, rel, fork)?;
        self.check_whole(&state, rel, fork)?;
        Ok(nblocks)
    }

    fn known_nblocks(&self, state: &ForkState, rel: RelFile, fork: Fork) -> SmgrResult<u32> {
        if let Some(nblocks) = state.nblocks() {
            return Ok(nblocks);
        }
        let _learning = state.lock_learning();
        match state.nblocks() {
            Some(nblocks) => Ok(nblocks),
            None => self.learn_nblocks(state, rel, fork),
        }
    }

    /// Reads from the files how many pages there are.
    #[cold]
    fn learn_nblocks(&self, state: &ForkState, rel: RelFile, fork: Fork) -> SmgrResult<u32> {
        let mut total = 0;
        for segment in 0.. {
            let id = SegmentId { rel, fork, segment };
            let file = match self.open(state, id, OpenOptions::READ_WRITE) {
                Err(SmgrError::MissingFile { .. }) if segment > 0 => break,
                file => file?,
            };
            let length = file.len().map_err(|error| SmgrError::io("stat file", &id.name(), &error))?;
            let pages = (length / PAGE_SIZE as u64).min(self.segment_pages as u64) as u32;
            total += pages;
            if pages < self.segment_pages {
                break;
            }
        }
        if fork == Fork::Main {
            state.set_cut(self.lengths.is_cut(rel, total));
            self.fill_tail(state, rel, self.lengths.get(rel)..total)?;
        }
        state.learn_nblocks(total);
        Ok(total)
    }

    /// A crash may have lost what was written to pages that no checkpoint has seen: where nothing came to the disk they are blank from now on.
    fn fill_tail(&self, state: &ForkState, rel: RelFile, blocks: std::ops::Range<u32>) -> SmgrResult<()> {
        let mut pages = Vec::new();
        let mut at = blocks.start;
        while at < blocks.end {
            let (id, offset) = self.locate(rel, Fork::Main, BlockNo(at));
            let count = (blocks.end - at).min(self.segment_pages - at % self.segment_pages).min(MAX_AHEAD);
            pages.resize(count as usize, [0; PAGE_SIZE]);
            let file = self.open(state, id, OpenOptions::READ_WRITE)?;
            let failed = |what| move |error| SmgrError::io(what, &id.name(), &error);
            file.read_exact_at(pages.as_flattened_mut(), offset).map_err(failed("read file"))?;
            for (block, page) in (at..).zip(&mut pages).filter(|(_, page)| page.iter().all(|byte| *byte == 0))
            {
                page::write_blank(std::slice::from_mut(page), BlockNo(block));
                let offset = self.locate(rel, Fork::Main, BlockNo(block)).1;
                file.write_all_at(page, offset).map_err(failed("write file"))?;
                self.pending.add_file(id);
            }
            at += count;
        }
        Ok(())
    }

    /// Adds `count` blank pages starting at `first`, which must be the current end. The caller holds
    /// [`ForkState::lock_extension`]; readers see the new pages when this returns.
    pub fn extend(&self, rel: RelFile, fork: Fork, first: BlockNo, count: u32) -> SmgrResult<()> {
        let state = self.fork(rel, fork);
        let nblocks = self.known_nblocks(&state, rel, fork)?;
        assert_eq!(first.0, nblocks, "pages are added at the end of {rel}");
        let id = SegmentId { rel, fork, segment: 0 };
        base::stop_result!("smgr-before-extend")
            .map_err(|error| SmgrError::io("extend file", &id.name(), &error.into()))?;
        let wanted = nblocks.checked_add(count).filter(|wanted| *wanted != u32::MAX).ok_or_else(|| {
            let error = io::Error::new(io::ErrorKind::FileTooLarge, "too many blocks");
            SmgrError::io("extend file", &id.name(), &error)
        })?;
        let physical = state.physical();
        if wanted > physical {
            let ahead = if fork == Fork::Main { (wanted / 8).min(MAX_AHEAD - 1) } else { 0 };
            self.write_blank(&state, rel, fork, physical..wanted.saturating_add(ahead))?;
        }
        state.set_nblocks(wanted);
        Ok(())
    }

    fn write_blank(
        &self,
        state: &ForkState,
        rel: RelFile,
        fork: Fork,
        blocks: std::ops::Range<u32>,
    ) -> SmgrResult<()> {
        let mut at = blocks.start;
        while at < blocks.end {
            let (id, offset) = self.locate(rel, fork, BlockNo(at));
            let count = (blocks.end - at).min(self.segment_pages - at % self.segment_pages).min(MAX_AHEAD);
            let file = self.open(
                state,
                id,
                if id.segment > 0 { OpenOptions::CREATE } else { OpenOptions::READ_WRITE },
            )?;
            let mut pages = vec![[0; PAGE_SIZE]; count as usize];
            page::write_blank(&mut pages, BlockNo(at));
            file.write_all_at(pages.as_flattened(), offset)
                .map_err(|error| SmgrError::io("extend file", &id.name(), &error))?;
            if id.segment > 0 && offset == 0 {
                self.pending.add_dir(self.path(id).parent().unwrap_or(&self.dir).to_path_buf());
            }
            self.pending.add_file(id);
            at += count;
            state.set_physical(at);
        }
        Ok(())
    }

    fn locate(&self, rel: RelFile, fork: Fork, block: BlockNo) -> (SegmentId, u64) {
        let id = SegmentId { rel, fork, segment: block.0 / self.segment_pages };
        (id, (block.0 % self.segment_pages) as u64 * PAGE_SIZE as u64)
    }

    /// Reads a page.
    pub fn read(
        &self,
        rel: RelFile,
        fork: Fork,
        block: BlockNo,
        page: &mut [u8; PAGE_SIZE],
    ) -> SmgrResult<()> {
        let state = self.fork(rel, fork);
        let nblocks = self.known_nblocks(&state, rel, fork)?;
        self.check_whole(&state, rel, fork)?;
        let (id, offset) = self.locate(rel, fork, block);
        if block.0 >= nblocks {
            return Err(SmgrError::PastEnd { path: id.name(), block, nblocks });
        }
        let file = self.open(&state, id, OpenOptions::READ_WRITE)?;
        let doing = |error| SmgrError::io(&format!("read block {block} in file"), &id.name(), &error);
        let got = file.read_at(page, offset).map_err(doing)?;
        if got == PAGE_SIZE {
            return Ok(());
        }
        // The file is shorter than we counted: somebody cut it behind our back.
        Err(SmgrError::ShortRead { path: id.name(), block, bytes: got })
    }

    /// So many pages from `block` on, or fewer: as many as there are next to each other in one file. None if that is no page.
    pub fn run(&self, rel: RelFile, fork: Fork, block: BlockNo, most: u32) -> SmgrResult<Option<PageRun>> {
        let state = self.fork(rel, fork);
        let nblocks = self.known_nblocks(&state, rel, fork)?;
        self.check_whole(&state, rel, fork)?;
        let (id, offset) = self.locate(rel, fork, block);
        let count =
            most.min(nblocks.saturating_sub(block.0)).min(self.segment_pages - block.0 % self.segment_pages);
        if count == 0 {
            return Ok(None);
        }
        let file = self.open(&state, id, OpenOptions::READ_WRITE)?;
        Ok(Some(PageRun { file, offset, count }))
    }

    /// Tells the kernel that pages will be read.
    pub fn prefetch(&self, rel: RelFile, fork: Fork, block: BlockNo, count: u32) {
        let state = self.fork(rel, fork);
        let (id, offset) = self.locate(rel, fork, block);
        if let Ok(file) = self.open(&state, id, OpenOptions::READ_WRITE) {
            file.prefetch(offset, count as u64 * PAGE_SIZE as u64);
        }
    }

    /// Writes a page that exists; the file is synced by the next checkpoint.
    pub fn write(&self, rel: RelFile, fork: Fork, block: BlockNo, page: &[u8; PAGE_SIZE]) -> SmgrResult<()> {
        let state = self.fork(rel, fork);
        let nblocks = self.known_nblocks(&state, rel, fork)?;
        let (id, offset) = self.locate(rel, fork, block);
        if block.0 >= nblocks {
            return Err(SmgrError::PastEnd { path: id.name(), block, nblocks });
        }
        let file = self.open(&state, id, OpenOptions::READ_WRITE)?;
        file.write_all_at(page, offset)
            .map_err(|error| SmgrError::io(&format!("write block {block} in file"), &id.name(), &error))?;
        self.pending.add_file(id);
        Ok(())
    }

    /// Cuts the fork to `nblocks` pages; a shorter one stays as it is. The caller has logged it and discarded the buffers.
    pub fn truncate(&self, rel: RelFile, fork: Fork, nblocks: u32) -> SmgrResult<()> {
        let state = self.fork(rel, fork);
        let _extension = state.lock_extension();
        let old = self.known_nblocks(&state, rel, fork)?;
        if fork == Fork::Main {
            // Before the files: what a checkpoint notes is never more than there is, or redo cuts it again.
            let cut = self.lengths.cut(rel, nblocks);
            state.set_cut(cut);
        }
        if nblocks > old {
            return Ok(());
        }
        self.cut_files(&state, rel, fork, nblocks)?;
        state.set_nblocks(nblocks);
        Ok(())
    }

    /// Brings the files to `nblocks` pages. Segments behind are emptied and kept: somebody may have them open.
    fn cut_files(&self, state: &ForkState, rel: RelFile, fork: Fork, nblocks: u32) -> SmgrResult<()> {
        let last = state.physical().saturating_sub(1) / self.segment_pages;
        for segment in (nblocks / self.segment_pages..=last).rev() {
            let id = SegmentId { rel, fork, segment };
            let file = match self.open(state, id, OpenOptions::READ_WRITE) {
                Err(SmgrError::MissingFile { .. }) if segment > 0 => continue,
                file => file?,
            };
            let keep = nblocks.saturating_sub(segment * self.segment_pages);
            file.set_len(keep as u64 * PAGE_SIZE as u64)
                .map_err(|error| SmgrError::io("truncate file", &id.name(), &error))?;
            self.pending.add_file(id);
        }
        state.set_physical(nblocks);
        Ok(())
    }

    /// Gives room back that was taken ahead; for a clean shutdown, before its last sync.
    pub fn trim(&self) -> SmgrResult<()> {
        for shard in &self.shards {
            let forks: Vec<_> = shard.read().iter().map(|(key, state)| (*key, state.clone())).collect();
            for ((rel, fork), state) in forks {
                let _extension = state.lock_extension();
                if let Some(nblocks) = state.nblocks()
                    && state.physical() > nblocks
                {
                    self.cut_files(&state, rel, fork, nblocks)?;
                }
            }
        }
        Ok(())
    }

    /// Syncs all files written, and directories changed, since the last call. An error is sticky: the server must stop and recover.
    pub fn sync_all_pending(&self) -> SmgrResult<Synced> {
        let _cycle = self.pending.begin()?;
        let (files, dirs) = self.pending.take();
        let mut synced = Synced { count: files.len() + dirs.len(), ..Synced::default() };
        if !self.options.fsync {
            return Ok(synced);
        }
        for id in files {
            let began = runtime::now();
            self.sync_file(id).map_err(|error| self.pending.fail(error))?;
            let took = began.elapsed();
            synced.longest = synced.longest.max(took);
            synced.total += took;
        }
        for dir in dirs {
            match fs::sync_dir(&dir) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    let error = SmgrError::io("fsync file", &dir.display().to_string(), &error);
                    return Err(self.pending.fail(error));
                }
                // A directory that is gone took its entries with it.
                _ => {}
            }
        }
        Ok(synced)
    }

    fn sync_file(&self, id: SegmentId) -> SmgrResult<()> {
        let state = self.fork(id.rel, id.fork);
        let synced = self.open(&state, id, OpenOptions::READ_WRITE).and_then(|file| {
            base::stop_result!("smgr-before-sync")
                .map_err(io::Error::from)
                .and_then(|()| file.sync_data())
                .map_err(|error| SmgrError::io("fsync file", &id.name(), &error))
        });
        match synced {
            Err(SmgrError::MissingFile { .. }) if self.pending.was_cancelled(id.rel) => {
                // Dropped meanwhile: the entry that was just made for it is of no use.
                self.shard(id.rel).write().remove(&(id.rel, id.fork));
                Ok(())
            }
            synced => synced,
        }
    }

    /// Syncs one relation's files now (a relation that was filled without logging). Errors are sticky.
    pub fn sync_relation(&self, rel: RelFile) -> SmgrResult<()> {
        let _cycle = self.pending.begin()?;
        for fork in Fork::ALL {
            if !self.exists(rel, fork)? {
                continue;
            }
            let nblocks = self.nblocks(rel, fork)?;
            for segment in 0..=nblocks.saturating_sub(1) / self.segment_pages {
                if self.options.fsync {
                    self.sync_file(SegmentId { rel, fork, segment })
                        .map_err(|error| self.pending.fail(error))?;
                }
            }
        }
        Ok(())
    }
}
