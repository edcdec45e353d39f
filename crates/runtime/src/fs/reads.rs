//! Reads that are started and end by themselves.
//!
//! # What
//! [`start_read`] begins to fill several pieces of memory from one place of a file, and says how that went when it is over: maybe before
//! it returns, maybe on another thread. What the page cache has is read at once. The rest is read by a few threads, which nobody waits
//! for but who wants the bytes. In a simulation a task of its own reads.
//!
//! # Invariants
//! 1. `done` is called once, or dropped if the read will never end (the simulated machine is gone); the pieces are not touched after that.
//! 2. What is `done` must not wait: it keeps a thread from other reads.

use std::collections::VecDeque;
use std::io::{self, IoSliceMut};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::file::File;
use super::uring;
use crate::env::{self, Kind};

/// How a read that is started goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadMethod {
    /// No read is started before its bytes are wanted.
    Sync,
    /// Threads read.
    #[default]
    Worker,
    /// The kernel's `io_uring`, once [`prepare_reads`] has found that there is one.
    IoUring,
}

/// Reads end at multiples of this, or with the file.
const SECTOR: usize = 512;
/// Threads at first.
const THREADS: usize = 3;

/// Before the first read is started by this method: fails if the system does not allow it.
pub fn prepare_reads(method: ReadMethod) -> io::Result<()> {
    if method == ReadMethod::IoUring && env::kind() != Kind::Sim { uring::set_up() } else { Ok(()) }
}

/// What hears of a read's end: how many bytes came.
pub type Done = Box<dyn FnOnce(io::Result<usize>) + Send>;

/// Starts to fill the pieces, one behind the other; see the module.
pub fn start_read(
    file: Arc<File>,
    method: ReadMethod,
    mut pieces: Vec<IoSliceMut<'static>>,
    offset: u64,
    done: Done,
) {
    if env::kind() == Kind::Sim {
        crate::spawn_fiber("read", move || {
            let result = file.read_vectored_at(&mut pieces, offset);
            drop(pieces);
            done(result);
        });
        return;
    }
    let mut read = Read { file, pieces, offset, got: 0, done };
    match read.file.read_vectored_cached(&mut read.pieces, offset) {
        Err(error) => return read.end(Some(error)),
        Ok(0) => {}
        Ok(got) if read.came(got) => return read.end(None),
        Ok(_) => {}
    }
    match (method, read.file.descriptor()) {
        (ReadMethod::IoUring, Some(descriptor)) => uring::put(read, descriptor),
        _ => READERS.submit(Box::new(|| read.read_here())),
    }
}

/// A read that is not over.
pub(super) struct Read {
    file: Arc<File>,
    /// What is still to be filled.
    pub pieces: Vec<IoSliceMut<'static>>,
    /// Where it began.
    pub offset: u64,
    /// Bytes that came.
    pub got: usize,
    done: Done,
}

impl Read {
    /// Takes note of bytes that came: none, at the end of the file. True if there are no more to come.
    pub fn came(&mut self, bytes: usize) -> bool {
        self.got += bytes;
        let mut left = bytes;
        self.pieces.retain_mut(|piece| {
            let here = piece.len().min(left);
            left -= here;
            piece.advance(here);
            !piece.is_empty()
        });
        // A part of a sector comes at the end of a file only.
        bytes == 0 || !bytes.is_multiple_of(SECTOR) || self.pieces.is_empty()
    }

    /// It is over, with this error or without.
    pub fn end(self, error: Option<io::Error>) {
        let Read { pieces, got, done, .. } = self;
        drop(pieces);
        done(error.map_or(Ok(got), Err));
    }

    /// Reads the rest on this thread.
    pub fn read_here(mut self) {
        let rest = self.file.read_vectored_at(&mut self.pieces, self.offset + self.got as u64);
        let error = rest.map(|more| self.got += more).err();
        self.end(error);
    }
}

/// So many threads read from now on.
pub fn set_readers(count: usize) {
    READERS.state.lock().unwrap_or_else(PoisonError::into_inner).wanted = count.max(1);
    READERS.ready.notify_all();
}

type Job = Box<dyn FnOnce() + Send>;

struct State {
    jobs: VecDeque<Job>,
    idle: usize,
    threads: usize,
    wanted: usize,
}

/// The threads that read; started when there is something to do.
struct Readers {
    state: Mutex<State>,
    ready: Condvar,
}

static READERS: Readers = Readers {
    state: Mutex::new(State { jobs: VecDeque::new(), idle: 0, threads: 0, wanted: THREADS }),
    ready: Condvar::new(),
};

impl Readers {
    fn submit(&'static self, job: Job) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.jobs.push_back(job);
        let start = state.jobs.len() > state.idle && state.threads < state.wanted;
        state.threads += usize::from(start);
        drop(state);
        if !start {
            self.ready.notify_one();
        } else if std::thread::Builder::new().name("stampede-read".into()).spawn(|| self.work()).is_err() {
            self.state.lock().unwrap_or_else(PoisonError::into_inner).threads -= 1;
            self.work_off();
        }
    }

    /// There may be no thread at all: does what there is to do.
    #[cold]
    fn work_off(&self) {
        let next = || self.state.lock().unwrap_or_else(PoisonError::into_inner).jobs.pop_front();
        while let Some(job) = next() {
            job();
        }
    }

    fn work(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while state.threads <= state.wanted {
            if let Some(job) = state.jobs.pop_front() {
                drop(state);
                job();
                state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            state.idle += 1;
            state = self.ready.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        }
        state.threads -= 1;
        // A wake-up that this thread has had may have been meant for one of those that stay.
        self.ready.notify_one();
    }
}
