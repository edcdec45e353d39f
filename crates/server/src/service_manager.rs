//! # What
//! Tells a service manager (systemd, or a container runtime that speaks its protocol) where the server is in its life.
//!
//! # PostgreSQL counterpart
//! `sd_notify` in `postmaster.c`. One datagram for each change, to the socket that `NOTIFY_SOCKET` names; without the variable, nothing.

use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

use crate::log;

/// What a service manager may be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Clients are let in.
    Ready,
    /// The configuration is being read again; [`State::Ready`] follows.
    Reloading,
    /// The server has begun to stop.
    Stopping,
}

/// Tells it. What cannot be sent is logged: the server's work does not depend on it.
pub fn tell(state: State) {
    let Some(socket) = std::env::var_os("NOTIFY_SOCKET") else { return };
    if let Err(error) = send(socket.as_bytes(), &message(state)) {
        log::log(format!("could not notify the service manager: {}", base::os_error(&error)));
    }
}

fn message(state: State) -> String {
    match state {
        State::Ready => "READY=1\n".to_owned(),
        // The time tells the manager which reload the next READY=1 answers.
        State::Reloading => format!("RELOADING=1\nMONOTONIC_USEC={}\n", monotonic_micros()),
        State::Stopping => "STOPPING=1\n".to_owned(),
    }
}

/// The clock that a service manager compares with, in microseconds.
fn monotonic_micros() -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure is ours and outlives the call.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec * 1_000_000 + time.tv_nsec / 1_000
}

/// Sends to a socket in the file system, or to an abstract one if its name begins with `@`.
fn send(socket: &[u8], message: &str) -> io::Result<()> {
    let address = match socket.strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(std::ffi::OsStr::from_bytes(socket))?,
    };
    UnixDatagram::unbound()?.send_to_addr(message.as_bytes(), &address).map(|_| ())
}
