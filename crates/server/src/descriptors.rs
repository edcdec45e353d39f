//! How the file descriptors that the system allows are shared out: sockets, files of relations, and all else.
//!
//! # Rule
//! Relations' files get what `max_connections` sockets and [`RESERVED`] leave, but no more than `max_files_per_process`. Behind
//! that bound, files that were not used lately are closed (`smgr`). A connection that would take one of the last
//! descriptors is turned away: temporary files, the log and status files must find some. Where the sharing does not suffice,
//! relations' files give way (`runtime::fs::give_way`).
//!
//! # PostgreSQL counterpart and differences
//! `set_max_safe_fds` in `fd.c`. There each session is a process with descriptors of its own; here all share one limit.

use std::os::fd::AsRawFd;

use base::settings::{ServerSettings, Setting};
use base::{SqlError, SqlResult, SqlState};

/// Descriptors for all that is neither a socket of a client nor a relation's file: event loops, the log, status files, temporary files.
const RESERVED: usize = 64;
/// Relations' files that may be open at least.
const LEAST_FILES: usize = 48;
/// Descriptors that no connection gets.
const KEPT_FROM_CONNECTIONS: usize = RESERVED / 2;

/// Lets the process have as many open files as its hard limit says.
pub(crate) fn raise_limit() {
    if let Some(mut limit) = read_limit() {
        limit.rlim_cur = limit.rlim_max;
        // SAFETY: a plain system call with a pointer to plain data. If it fails, the limit stays, and is what counts.
        unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) };
    }
}

fn read_limit() -> Option<libc::rlimit> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: a plain system call with a pointer to plain data.
    let read = unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) } == 0;
    read.then_some(limit)
}

/// Descriptors that this process may have.
fn allowed() -> usize {
    read_limit().map_or(usize::MAX, |limit| usize::try_from(limit.rlim_cur).unwrap_or(usize::MAX))
}

/// Relations' files that may be open; an error if the system allows too few for a server.
pub(crate) fn for_relations(settings: &ServerSettings) -> SqlResult<usize> {
    let wanted = settings.int(Setting::max_files_per_process) as usize;
    let connections = settings.int(Setting::max_connections) as usize;
    share(allowed(), wanted, connections)
}

fn share(allowed: usize, wanted: usize, connections: usize) -> SqlResult<usize> {
    let least = RESERVED + LEAST_FILES;
    if allowed < least {
        let message = "insufficient file descriptors available to start server process";
        return Err(SqlError::fatal(SqlState::INSUFFICIENT_RESOURCES, message)
            .detail(format!("System allows {allowed}, server needs at least {least}.")));
    }
    Ok(wanted.min((allowed - RESERVED).saturating_sub(connections)).max(LEAST_FILES))
}

/// Whether a connection's descriptor, the lowest that was free, is one of the last.
pub(crate) fn is_one_of_the_last(socket: &impl AsRawFd) -> bool {
    socket.as_raw_fd() as usize >= allowed().saturating_sub(KEPT_FROM_CONNECTIONS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_and_the_rest_come_before_relations() {
        assert_eq!(share(256, 1000, 100).unwrap(), 92);
        assert_eq!(share(65_536, 1000, 5000).unwrap(), 1000);
        assert_eq!(share(1024, 1000, 5000).unwrap(), LEAST_FILES);
        assert_eq!(share(usize::MAX, 64, 100).unwrap(), 64);
        let error = share(100, 1000, 100).unwrap_err();
        assert_eq!(error.report().detail.as_deref(), Some("System allows 100, server needs at least 112."));
    }
}
