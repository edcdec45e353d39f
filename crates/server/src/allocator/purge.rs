//! Freed memory goes back to the system on a thread of its own.
//!
//! Left to itself, mimalloc gives back all that was freed a second ago in the middle of whoever frees or takes a block next: after
//! a statement that had 10 GB that is a third of a second in which nobody else runs on its worker.

use std::ffi::c_long;
use std::time::Duration;

use libmimalloc_sys as mi;

/// How long freed memory is kept at most, for whoever asks next.
const EVERY: Duration = Duration::from_secs(1);
/// mimalloc's own delay, in milliseconds; so long that nobody else comes to it. (It keeps no list of what to give back without one.)
const NEVER: c_long = 24 * 3600 * 1000;
/// mimalloc's number of that option (`mi_option_purge_delay`), which the bindings lack.
const PURGE_DELAY: mi::mi_option_t = 15;

/// Starts the thread; it lives as long as the process.
pub fn start() -> std::io::Result<()> {
    drop(runtime::spawn_thread("memory", || {
        // SAFETY: an option with this number is there, and any value will do.
        unsafe { mi::mi_option_set(PURGE_DELAY, NEVER) };
        loop {
            std::thread::sleep(EVERY);
            // SAFETY: any thread may call it at any time.
            unsafe { mi::mi_collect(true) };
        }
    })?);
    Ok(())
}
