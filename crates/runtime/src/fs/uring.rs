//! Reads by the kernel's `io_uring`.
//!
//! # What
//! One ring serves the process: who starts a read puts it in, and a thread takes out what has ended. So any thread may start reads, and each ends
//! whatever its starter does.
//!
//! # Invariants
//! 1. A read in the ring is an [`UnderWay`] that was leaked; who takes its completion out owns it again.
//! 2. Only who holds `entering` touches the submission queue, and only the ring's thread the completion queue.
//! 3. The ring's thread puts nothing in: where the kernel takes no more until completions are taken out, it would wait for itself. What came short, which is
//!    rare, it reads in place.

use std::io;
use std::os::fd::RawFd;
use std::sync::{Mutex, OnceLock, PoisonError};

use io_uring::{IoUring, opcode, types};

use super::reads::Read;

/// Reads that may be put in before the kernel takes them.
const ENTRIES: u32 = 256;
/// Most pieces of one call.
const MAX_PIECES: usize = 128;

struct Ring {
    ring: IoUring,
    entering: Mutex<()>,
}

static RING: OnceLock<Ring> = OnceLock::new();

/// Makes the ring, or says why the kernel refuses it.
pub(super) fn set_up() -> io::Result<()> {
    if RING.get().is_some() {
        return Ok(());
    }
    let ring = Ring { ring: IoUring::new(ENTRIES)?, entering: Mutex::new(()) };
    if RING.set(ring).is_ok()
        && let Some(ring) = RING.get()
    {
        std::thread::Builder::new().name("stampede-uring".into()).spawn(|| ring.take_out())?;
    }
    Ok(())
}

/// Puts a read of a file with this descriptor into the ring; reads in place if there is none.
pub(super) fn put(read: Read, fd: RawFd) {
    match RING.get() {
        Some(ring) => ring.put(Box::new(UnderWay { read, fd })),
        None => read.read_here(),
    }
}

/// A read in the ring.
struct UnderWay {
    read: Read,
    fd: RawFd,
}

impl Ring {
    fn put(&self, under_way: Box<UnderWay>) {
        let UnderWay { read, fd } = &*under_way;
        let count = read.pieces.len().min(MAX_PIECES) as u32;
        let call = opcode::Readv::new(types::Fd(*fd), read.pieces.as_ptr().cast(), count);
        let call = call.offset(read.offset + read.got as u64);
        let under_way = Box::into_raw(under_way);
        let entry = call.build().user_data(under_way.expose_provenance() as u64);
        let entering = self.entering.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: invariant 2; the pieces, the file and the vector that names them stay until the completion is taken out.
        let pushed = unsafe { self.ring.submission_shared().push(&entry) };
        // Refused for a moment only: by a signal, or until some completions are taken out.
        while pushed.is_ok() && self.ring.submit().is_err() {
            std::thread::yield_now();
        }
        drop(entering);
        if pushed.is_err() {
            // SAFETY: invariant 1; it did not get into the queue.
            unsafe { Box::from_raw(under_way) }.read.read_here();
        }
    }

    /// The ring's thread.
    fn take_out(&self) {
        loop {
            const WAIT: u32 = 1;
            /// `IORING_ENTER_GETEVENTS`
            const COMPLETIONS: u32 = 1;
            // SAFETY: no argument that the kernel would look at. What an error means, the queue tells: nothing has come.
            let _ = unsafe { self.ring.submitter().enter::<libc::sigset_t>(0, WAIT, COMPLETIONS, None) };
            // SAFETY: invariant 2.
            let ended: Vec<_> = unsafe { self.ring.completion_shared() }.collect();
            for entry in ended {
                let read = std::ptr::with_exposed_provenance_mut::<UnderWay>(entry.user_data() as usize);
                // SAFETY: invariant 1; the kernel is done with it.
                let mut under_way = unsafe { Box::from_raw(read) };
                match entry.result() {
                    bytes if bytes >= 0 && under_way.read.came(bytes as usize) => under_way.read.end(None),
                    bytes if bytes >= 0 => under_way.read.read_here(),
                    error if [libc::EINTR, libc::EAGAIN].contains(&-error) => under_way.read.read_here(),
                    error => under_way.read.end(Some(io::Error::from_raw_os_error(-error))),
                }
            }
        }
    }
}
