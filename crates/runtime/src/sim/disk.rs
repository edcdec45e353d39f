//! The simulated disk.
//!
//! # What
//! Each file has the bytes that a crash cannot take (`durable`), the bytes that readers see (`current`), and the changes
//! between the two in their order. Names have the same: durable ones, current ones, and the changes between.
//!
//! # WAL and crash
//! What a crash leaves:
//! * of a file's unsynced changes any subset, in their order; a write that is kept may be torn at 512-byte boundaries;
//! * of a directory's unsynced changes a prefix; a rename is kept whole or not at all;
//! * a file that has no durable name left is gone.
//!
//! # Invariants
//! 1. `durable` plus all of `pending` gives `current`, for each file and for the names.
//! 2. A handle opened before a crash of the whole simulation fails afterwards. After that of one machine it leads to a file that is not there any more.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, IoSliceMut};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use super::{SimCore, trace};
use crate::fiber;
use crate::fs::{DirEntry, Metadata, OpenOptions};
use crate::time::sleep;

/// Unit in which a write may be torn.
const SECTOR: usize = 512;

type Random<'a> = &'a mut dyn FnMut(u64) -> u64;

#[derive(Clone)]
enum Change {
    Write { offset: usize, bytes: Vec<u8> },
    SetLen(usize),
}

/// What is known of any directory.
const DIRECTORY: Metadata =
    Metadata { len: 0, is_dir: true, mode: 0o700, owner: 0, is_file: false, times: [0; 3] };

impl Change {
    fn apply(&self, to: &mut Vec<u8>) {
        match self {
            Change::Write { offset, bytes } => {
                let end = offset + bytes.len();
                if to.len() < end {
                    to.resize(end, 0);
                }
                to[*offset..end].copy_from_slice(bytes);
            }
            Change::SetLen(len) => to.resize(*len, 0),
        }
    }

    /// What a crash leaves of it.
    fn crash(&self, to: &mut Vec<u8>, random: Random<'_>) {
        match (random(4), self) {
            (0, _) => {}
            (1, Change::Write { offset, bytes }) => {
                let mut at = 0;
                while at < bytes.len() {
                    // Sectors end at multiples of their size within the file.
                    let end = (at + SECTOR - (offset + at) % SECTOR).min(bytes.len());
                    if random(2) == 0 {
                        Change::Write { offset: offset + at, bytes: bytes[at..end].to_vec() }.apply(to);
                    }
                    at = end;
                }
            }
            _ => self.apply(to),
        }
    }
}

#[derive(Default)]
struct Contents {
    durable: Vec<u8>,
    current: Vec<u8>,
    pending: Vec<Change>,
}

impl Contents {
    fn change(&mut self, change: Change) {
        change.apply(&mut self.current);
        self.pending.push(change);
    }

    fn sync(&mut self) {
        for change in self.pending.drain(..) {
            change.apply(&mut self.durable);
        }
    }

    fn crash(&mut self, random: Random<'_>) {
        for change in std::mem::take(&mut self.pending) {
            change.crash(&mut self.durable, random);
        }
        self.current.clone_from(&self.durable);
    }
}

#[derive(Clone)]
enum Node {
    File(Arc<Mutex<Contents>>),
    Dir,
}

/// A change of names, in the directories whose sync makes it durable.
#[derive(Clone)]
enum NameChange {
    Set(PathBuf, Node),
    Remove(PathBuf),
    Rename(PathBuf, PathBuf),
}

type Names = BTreeMap<PathBuf, Node>;

impl NameChange {
    fn apply(&self, names: &mut Names) {
        match self {
            NameChange::Set(path, node) => drop(names.insert(path.clone(), node.clone())),
            NameChange::Remove(path) => drop(names.remove(path)),
            NameChange::Rename(from, to) => {
                // Directories are renamed with what is in them.
                let moved: Vec<PathBuf> = names
                    .range(from.clone()..)
                    .map(|(p, _)| p.clone())
                    .filter(|p| p.starts_with(from))
                    .collect();
                for path in moved {
                    if let (Some(node), Ok(rest)) = (names.remove(&path), path.strip_prefix(from)) {
                        let target = if rest.as_os_str().is_empty() { to.clone() } else { to.join(rest) };
                        names.insert(target, node);
                    }
                }
            }
        }
    }

    fn touches(&self, dir: &Path) -> bool {
        match self {
            NameChange::Set(path, _) | NameChange::Remove(path) => path.parent() == Some(dir),
            NameChange::Rename(from, to) => from.parent() == Some(dir) || to.parent() == Some(dir),
        }
    }

    fn dirs(&self) -> Vec<&Path> {
        match self {
            NameChange::Set(path, _) | NameChange::Remove(path) => path.parent().into_iter().collect(),
            NameChange::Rename(from, to) => from.parent().into_iter().chain(to.parent()).collect(),
        }
    }
}

struct State {
    durable: Names,
    current: Names,
    pending: Vec<NameChange>,
    /// Locked files, and which lock it was.
    locks: BTreeMap<PathBuf, u64>,
    last_lock: u64,
    /// Limit on the total size of the files below these directories.
    limits: BTreeMap<PathBuf, usize>,
    powered: bool,
    /// Counts crashes: handles of an earlier life are dead.
    life: u64,
}

impl State {
    fn change(&mut self, change: NameChange) {
        change.apply(&mut self.current);
        self.pending.push(change);
    }

    fn files_below<'a>(&'a self, dir: &'a Path) -> impl Iterator<Item = &'a Arc<Mutex<Contents>>> {
        let below =
            self.current.range(dir.to_path_buf()..).take_while(move |(path, _)| path.starts_with(dir));
        below.filter_map(|(_, node)| match node {
            Node::File(contents) => Some(contents),
            Node::Dir => None,
        })
    }

    /// Refuses to let a file grow beyond what its directories may have.
    fn check_room(&self, file: &Arc<Mutex<Contents>>, growth: usize) -> io::Result<()> {
        if growth == 0 {
            return Ok(());
        }
        for (dir, limit) in &self.limits {
            let (mut used, mut inside) = (0, false);
            for contents in self.files_below(dir) {
                used += contents.lock().current.len();
                inside |= Arc::ptr_eq(contents, file);
            }
            if inside && used + growth > *limit {
                return Err(ErrorKind::StorageFull.into());
            }
        }
        Ok(())
    }

    fn check_parent(&self, path: &Path) -> io::Result<()> {
        match path.parent() {
            Some(parent) if parent != Path::new("/") => match self.current.get(parent) {
                Some(Node::Dir) => Ok(()),
                Some(Node::File(_)) => Err(ErrorKind::NotADirectory.into()),
                None => Err(ErrorKind::NotFound.into()),
            },
            _ => Ok(()),
        }
    }

    fn sync_dir(&mut self, dir: &Path) {
        let pending = std::mem::take(&mut self.pending);
        for change in pending {
            if change.touches(dir) {
                change.apply(&mut self.durable);
            } else {
                self.pending.push(change);
            }
        }
    }

    /// Files and folders below `dir` are left as a crash leaves them.
    fn crash(&mut self, dir: &Path, random: Random<'_>) {
        let mut lost: Vec<PathBuf> = Vec::new();
        for change in std::mem::take(&mut self.pending) {
            let dirs = change.dirs();
            if !dirs.iter().any(|d| d.starts_with(dir)) {
                self.pending.push(change);
            } else if dirs.iter().any(|d| lost.iter().any(|l| l == d)) || random(3) == 0 {
                lost.extend(dirs.into_iter().map(Path::to_path_buf));
            } else {
                change.apply(&mut self.durable);
            }
        }
        let inside = |path: &PathBuf| path.starts_with(dir);
        for (_, node) in self.durable.iter_mut().filter(|(path, _)| inside(path)) {
            if let Node::File(contents) = node {
                contents.lock().crash(random);
                // Handles that there are lead to what is gone.
                let left = std::mem::take(&mut *contents.lock());
                *contents = Arc::new(Mutex::new(left));
            }
        }
        self.current.retain(|path, _| !inside(path));
        let left = self.durable.iter().filter(|(path, _)| inside(path));
        self.current.extend(left.map(|(path, node)| (path.clone(), node.clone())));
        self.locks.retain(|path, _| !inside(path));
    }
}

/// What a disk is sure to keep: directories, and files with their synced bytes. Many machines can start from it.
#[derive(Clone, Debug, Default)]
pub struct DiskImage(Arc<BTreeMap<PathBuf, Option<Vec<u8>>>>);

impl DiskImage {
    /// With each of these folders a copy of `from`, which is gone.
    pub fn copied(&self, from: &Path, to: &[&Path]) -> DiskImage {
        let (from, mut out) = (normal(from), BTreeMap::new());
        for (path, node) in self.0.iter() {
            match path.strip_prefix(&from) {
                Err(_) => drop(out.insert(path.clone(), node.clone())),
                Ok(rest) if rest.as_os_str().is_empty() => {
                    out.extend(to.iter().map(|to| (normal(to), node.clone())));
                }
                Ok(rest) => out.extend(to.iter().map(|to| (normal(to).join(rest), node.clone()))),
            }
        }
        DiskImage(Arc::new(out))
    }
}

/// Files and names of a simulated machine.
pub(super) struct Disk(Mutex<State>);

impl Disk {
    pub(super) fn new(image: &DiskImage) -> Disk {
        let node = |bytes: &Option<Vec<u8>>| match bytes {
            Some(bytes) => Node::File(Arc::new(Mutex::new(Contents {
                durable: bytes.clone(),
                current: bytes.clone(),
                pending: Vec::new(),
            }))),
            None => Node::Dir,
        };
        let durable: Names = image.0.iter().map(|(path, bytes)| (path.clone(), node(bytes))).collect();
        Disk(Mutex::new(State {
            current: durable.clone(),
            durable,
            pending: Vec::new(),
            locks: BTreeMap::new(),
            last_lock: 0,
            limits: BTreeMap::new(),
            powered: true,
            life: 0,
        }))
    }

    /// What the worst crash would leave now.
    pub(super) fn image(&self) -> DiskImage {
        let state = self.0.lock();
        let bytes = |node: &Node| match node {
            Node::File(contents) => Some(contents.lock().durable.clone()),
            Node::Dir => None,
        };
        DiskImage(Arc::new(state.durable.iter().map(|(path, node)| (path.clone(), bytes(node))).collect()))
    }

    /// Files below `dir` have no room beyond this many bytes together.
    pub(super) fn limit(&self, dir: &Path, bytes: Option<usize>) {
        let mut state = self.0.lock();
        match bytes {
            Some(bytes) => state.limits.insert(normal(dir), bytes),
            None => state.limits.remove(&normal(dir)),
        };
    }

    /// Bytes of the files below `dir`.
    pub(super) fn used(&self, dir: &Path) -> usize {
        let (state, dir) = (self.0.lock(), normal(dir));
        state.files_below(&dir).map(|contents| contents.lock().current.len()).sum()
    }

    /// From now on every operation fails.
    pub(super) fn power_off(&self) {
        self.0.lock().powered = false;
    }

    /// Decides what the crash left.
    pub(super) fn power_on(&self, random: Random<'_>) {
        let mut state = self.0.lock();
        state.crash(Path::new("/"), random);
        state.powered = true;
        state.life += 1;
    }

    /// Decides what the crash of one machine left, whose files are below `dir`.
    pub(super) fn crash_below(&self, dir: &Path, random: Random<'_>) {
        self.0.lock().crash(&normal(dir), random);
    }

    /// Files below `dir` are nobody's any more: the processes that had locked them are gone.
    pub(super) fn unlock_below(&self, dir: &Path) {
        let dir = normal(dir);
        self.0.lock().locks.retain(|path, _| !path.starts_with(&dir));
    }
}

/// An absolute path without `.` and `..`: relative ones are below `/sim`, which always exists.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::Normal(name) => out.push(name),
            Component::ParentDir => drop(out.pop()),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    out
}

fn powered_off() -> io::Error {
    io::Error::other("the simulated machine is off")
}

impl SimCore {
    /// Before each disk operation: it takes time, others run meanwhile, and the machine may crash.
    fn before_disk(&self, longest: Duration) -> io::Result<()> {
        if fiber::is_unwinding() || !self.disk.0.lock().powered {
            return Err(powered_off());
        }
        self.operations.set(self.operations.get() + 1);
        if fiber::in_fiber() {
            if self.operations.get() >= self.crash_at.get() {
                super::crash_here();
            }
            if self.random_below(4) == 0 {
                let times = self.slow_disks.borrow().get(&self.machine()).copied().unwrap_or(1);
                let nanos = self.random_below((longest * times).as_nanos() as u64);
                fiber::wait(sleep(Duration::from_nanos(nanos)));
            } else if self.random_below(4) == 0 {
                fiber::yield_now();
            }
        }
        Ok(())
    }

    /// Before an operation on names.
    fn disk_state(&self) -> io::Result<parking_lot::MutexGuard<'_, State>> {
        self.before_disk(Duration::from_micros(100))?;
        Ok(self.disk.0.lock())
    }

    pub(crate) fn disk_rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let (from, to) = (normal(from), normal(to));
        let mut state = self.disk_state()?;
        if !state.current.contains_key(&from) {
            return Err(ErrorKind::NotFound.into());
        }
        state.check_parent(&to)?;
        if matches!(state.current.get(&to), Some(Node::Dir)) {
            return Err(ErrorKind::IsADirectory.into());
        }
        self.note("renames", trace::hash(from.as_os_str().as_encoded_bytes()));
        state.change(NameChange::Rename(from, to));
        Ok(())
    }

    pub(crate) fn disk_remove_file(&self, path: &Path) -> io::Result<()> {
        let path = normal(path);
        let mut state = self.disk_state()?;
        match state.current.get(&path) {
            None => Err(ErrorKind::NotFound.into()),
            Some(Node::Dir) => Err(ErrorKind::IsADirectory.into()),
            Some(Node::File(_)) => {
                self.note("removes", trace::hash(path.as_os_str().as_encoded_bytes()));
                state.change(NameChange::Remove(path));
                Ok(())
            }
        }
    }

    pub(crate) fn disk_create_dir(&self, path: &Path) -> io::Result<()> {
        let path = normal(path);
        let mut state = self.disk_state()?;
        state.check_parent(&path)?;
        if state.current.contains_key(&path) {
            return Err(ErrorKind::AlreadyExists.into());
        }
        state.change(NameChange::Set(path, Node::Dir));
        Ok(())
    }

    pub(crate) fn disk_create_dir_all(&self, path: &Path) -> io::Result<()> {
        let path = normal(path);
        let mut state = self.disk_state()?;
        let mut missing: Vec<PathBuf> = path
            .ancestors()
            .filter(|p| *p != Path::new("/") && !state.current.contains_key(*p))
            .map(Path::to_path_buf)
            .collect();
        missing.reverse();
        for dir in missing {
            state.change(NameChange::Set(dir, Node::Dir));
        }
        Ok(())
    }

    pub(crate) fn disk_read_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        let path = normal(path);
        let state = self.disk_state()?;
        if path != Path::new("/") && !matches!(state.current.get(&path), Some(Node::Dir)) {
            return Err(ErrorKind::NotFound.into());
        }
        let inside = state.current.iter().filter(|(p, _)| p.parent() == Some(&path));
        Ok(inside
            .filter_map(|(p, node)| {
                let name = p.file_name()?.to_string_lossy().into_owned();
                Some(DirEntry { name, is_dir: matches!(node, Node::Dir) })
            })
            .collect())
    }

    pub(crate) fn disk_metadata(&self, path: &Path) -> io::Result<Metadata> {
        let path = normal(path);
        let state = self.disk_state()?;
        match state.current.get(&path) {
            None if path == Path::new("/") => Ok(DIRECTORY),
            None => Err(ErrorKind::NotFound.into()),
            Some(Node::Dir) => Ok(DIRECTORY),
            Some(Node::File(contents)) => Ok(Metadata {
                len: contents.lock().current.len() as u64,
                is_dir: false,
                mode: 0o600,
                is_file: true,
                ..DIRECTORY
            }),
        }
    }

    pub(crate) fn disk_sync_dir(&self, path: &Path) -> io::Result<()> {
        let path = normal(path);
        self.before_disk(Duration::from_millis(2))?;
        let mut state = self.disk.0.lock();
        if path != Path::new("/") && !matches!(state.current.get(&path), Some(Node::Dir)) {
            return Err(ErrorKind::NotFound.into());
        }
        state.sync_dir(&path);
        Ok(())
    }

    pub(crate) fn disk_remove_dir_all(&self, path: &Path) -> io::Result<()> {
        let path = normal(path);
        let mut state = self.disk_state()?;
        if !matches!(state.current.get(&path), Some(Node::Dir)) {
            return Err(ErrorKind::NotFound.into());
        }
        let inside: Vec<PathBuf> = state.current.keys().filter(|p| p.starts_with(&path)).cloned().collect();
        for path in inside.into_iter().rev() {
            state.change(NameChange::Remove(path));
        }
        Ok(())
    }

    pub(crate) fn disk_lock(&self, path: &Path) -> io::Result<SimLock> {
        let path = normal(path);
        let mut state = self.disk_state()?;
        state.check_parent(&path)?;
        if state.locks.contains_key(&path) {
            return Err(ErrorKind::WouldBlock.into());
        }
        state.last_lock += 1;
        let number = state.last_lock;
        state.locks.insert(path.clone(), number);
        if !state.current.contains_key(&path) {
            state.change(NameChange::Set(path.clone(), Node::File(Arc::default())));
        }
        Ok(SimLock { disk: self.disk.clone(), path, number })
    }
}

/// A lock on a simulated file.
pub(crate) struct SimLock {
    disk: Arc<Disk>,
    path: PathBuf,
    number: u64,
}

impl std::fmt::Debug for SimLock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("SimLock").field(&self.path).finish()
    }
}

impl Drop for SimLock {
    fn drop(&mut self) {
        let mut state = self.disk.0.lock();
        if state.locks.get(&self.path) == Some(&self.number) {
            state.locks.remove(&self.path);
        }
    }
}

/// An open file of a simulated disk.
pub(crate) struct SimFile {
    disk: Arc<Disk>,
    contents: Arc<Mutex<Contents>>,
    life: u64,
    writable: bool,
}

impl std::fmt::Debug for SimFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SimFile").field("len", &self.contents.lock().current.len()).finish()
    }
}

impl SimFile {
    pub(crate) fn open(sim: &SimCore, path: &Path, options: OpenOptions) -> io::Result<SimFile> {
        let path = normal(path);
        let mut state = sim.disk_state()?;
        sim.note("opens", trace::hash(path.as_os_str().as_encoded_bytes()));
        let contents = match state.current.get(&path) {
            Some(Node::Dir) => return Err(ErrorKind::IsADirectory.into()),
            Some(Node::File(_)) if options.create_new => return Err(ErrorKind::AlreadyExists.into()),
            Some(Node::File(contents)) => contents.clone(),
            None if options.create || options.create_new => {
                state.check_parent(&path)?;
                let contents = Arc::<Mutex<Contents>>::default();
                state.change(NameChange::Set(path, Node::File(contents.clone())));
                contents
            }
            None => return Err(ErrorKind::NotFound.into()),
        };
        if options.truncate {
            contents.lock().change(Change::SetLen(0));
        }
        Ok(SimFile { disk: sim.disk.clone(), contents, life: state.life, writable: options.write })
    }

    fn before(&self, longest: Duration) -> io::Result<()> {
        if let Some(sim) = crate::env::sim() {
            sim.before_disk(longest)?;
        }
        let state = self.disk.0.lock();
        if state.life != self.life || !state.powered {
            return Err(powered_off());
        }
        Ok(())
    }

    fn before_write(&self) -> io::Result<()> {
        self.before(Duration::from_micros(100))?;
        if self.writable { Ok(()) } else { Err(ErrorKind::PermissionDenied.into()) }
    }

    /// Before the file is to have `len` bytes at least.
    fn before_growth(&self, len: usize) -> io::Result<()> {
        let growth = len.saturating_sub(self.contents.lock().current.len());
        self.disk.0.lock().check_room(&self.contents, growth)
    }

    pub(crate) fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.read_vectored_at(&mut [IoSliceMut::new(buffer)], offset)
    }

    pub(crate) fn read_vectored_at(&self, pieces: &mut [IoSliceMut<'_>], offset: u64) -> io::Result<usize> {
        self.before(Duration::from_micros(200))?;
        if let Some(sim) = crate::env::sim() {
            sim.note("reads at", offset);
        }
        let contents = self.contents.lock();
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(contents.current.len());
        let mut there = &contents.current[start..];
        for piece in pieces {
            let n = piece.len().min(there.len());
            piece[..n].copy_from_slice(&there[..n]);
            there = &there[n..];
        }
        Ok(contents.current.len() - start - there.len())
    }

    pub(crate) fn write(&self, pieces: &[&[u8]], offset: u64) -> io::Result<()> {
        self.before_write()?;
        let offset = usize::try_from(offset).map_err(io::Error::other)?;
        let bytes = pieces.concat();
        self.before_growth(offset + bytes.len())?;
        if let Some(sim) = crate::env::sim() {
            sim.note("writes at", offset as u64);
            sim.note("writes", trace::hash(&bytes));
        }
        self.contents.lock().change(Change::Write { offset, bytes });
        Ok(())
    }

    pub(crate) fn sync(&self) -> io::Result<()> {
        self.before(Duration::from_millis(2))?;
        if let Some(sim) = crate::env::sim() {
            sim.note("syncs", 0);
        }
        self.contents.lock().sync();
        Ok(())
    }

    pub(crate) fn len(&self) -> io::Result<u64> {
        Ok(self.contents.lock().current.len() as u64)
    }

    pub(crate) fn set_len(&self, len: u64) -> io::Result<()> {
        self.before_write()?;
        let len = usize::try_from(len).map_err(io::Error::other)?;
        self.contents.lock().change(Change::SetLen(len));
        Ok(())
    }

    pub(crate) fn allocate(&self, offset: u64, len: u64) -> io::Result<()> {
        self.before_write()?;
        let end = usize::try_from(offset + len).map_err(io::Error::other)?;
        self.before_growth(end)?;
        let mut contents = self.contents.lock();
        if contents.current.len() < end {
            contents.change(Change::SetLen(end));
        }
        Ok(())
    }
}
