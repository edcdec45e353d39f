//! Listening sockets, and handing connections to workers.
//!
//! # What
//! One task accepts on all sockets and gives each connection to the worker with the fewest.
//!
//! # PostgreSQL counterpart and differences
//! `pqcomm.c` (`ListenServerPort`), `postmaster.c` (`ServerLoop`).

use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use base::settings::{ServerSettings, Setting};
use base::{Severity, SqlError, SqlState};
use runtime::Workers;
use session::SocketOptions;
use tokio::io::unix::AsyncFd;

use crate::pidfile::{Contents, PidFile, Status};
use crate::session::io::Stream;
use crate::session::{Peer, Shared, serve};
use crate::{descriptors, log};

/// The open sockets of a server. Socket files are removed when this is dropped.
#[derive(Debug, Default)]
pub struct Listeners {
    tcp: Vec<TcpListener>,
    unix: Vec<UnixSocket>,
}

#[derive(Debug)]
struct UnixSocket {
    listener: UnixListener,
    path: PathBuf,
    _lock: PidFile,
}

impl Drop for UnixSocket {
    fn drop(&mut self) {
        // It may have been removed by hand.
        let _ = runtime::fs::remove_file(&self.path);
    }
}

/// Elements of a comma-separated list.
fn elements(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(|word| word.trim().trim_matches('"')).filter(|word| !word.is_empty())
}

impl Listeners {
    /// Opens everything that `listen_addresses` and `unix_socket_directories` ask for. What fails is logged; it is an
    /// error when a kind was asked for and none of it could be had.
    pub fn open(settings: &ServerSettings, contents: &Contents) -> Result<Listeners, SqlError> {
        let mut listeners = Listeners::default();
        let port = contents.port;
        let mut wanted = 0;
        for host in elements(settings.text(Setting::listen_addresses)) {
            wanted += 1;
            if listeners.open_tcp(host, port) == 0 {
                warn(format!("could not create listen socket for \"{host}\""));
            }
        }
        if wanted > 0 && listeners.tcp.is_empty() {
            return Err(SqlError::fatal(SqlState::CONFIG_FILE_ERROR, "could not create any TCP/IP sockets"));
        }
        let mut wanted = 0;
        for dir in elements(settings.text(Setting::unix_socket_directories)) {
            wanted += 1;
            let mode = settings.int(Setting::unix_socket_permissions).unsigned_abs();
            match listeners.open_unix(Path::new(dir), mode, contents) {
                Ok(()) => {}
                Err(error) if error.report().severity == Severity::Fatal => return Err(error),
                Err(error) => {
                    log::report(&error, None, None);
                    warn(format!("could not create Unix-domain socket in directory \"{dir}\""));
                }
            }
        }
        if wanted > 0 && listeners.unix.is_empty() {
            return Err(SqlError::fatal(
                SqlState::CONFIG_FILE_ERROR,
                "could not create any Unix-domain sockets",
            ));
        }
        Ok(listeners)
    }

    /// Number of sockets opened for a host name or address.
    fn open_tcp(&mut self, host: &str, port: u16) -> usize {
        let addresses: Vec<SocketAddr> = match host {
            "*" => vec![([0, 0, 0, 0], port).into(), ([0u16; 8], port).into()],
            _ => match (host, port).to_socket_addrs() {
                Ok(addresses) => addresses.collect(),
                Err(error) => {
                    log::log(format!("could not translate host name \"{host}\" to address: {error}"));
                    return 0;
                }
            },
        };
        let mut opened = 0;
        for address in addresses {
            let family = if address.is_ipv4() { "IPv4" } else { "IPv6" };
            match bind_tcp(address) {
                Ok(listener) => {
                    log::log(format!("listening on {family} address \"{}\", port {port}", address.ip()));
                    self.tcp.push(listener);
                    opened += 1;
                }
                // A machine without IPv6 is no reason to complain.
                Err(error)
                    if matches!(error.raw_os_error(), Some(libc::EAFNOSUPPORT | libc::EADDRNOTAVAIL)) => {}
                Err(error) => {
                    let message = format!(
                        "could not bind {family} address \"{}\": {}",
                        address.ip(),
                        base::os_error(&error)
                    );
                    let mut report =
                        SqlError::with_severity(Severity::Log, SqlState::CONFIG_FILE_ERROR, message);
                    if error.kind() == io::ErrorKind::AddrInUse {
                        report = report.hint(format!(
                            "Is another postmaster already running on port {port}? \
                             If not, wait a few seconds and retry."
                        ));
                    }
                    log::report(&report, None, None);
                }
            }
        }
        opened
    }

    fn open_unix(&mut self, dir: &Path, mode: u32, contents: &Contents) -> Result<(), SqlError> {
        let path = dir.join(format!(".s.PGSQL.{}", contents.port));
        let mut contents = contents.clone();
        contents.socket_directory = dir.display().to_string();
        let lock = PidFile::create_for_socket(&path, contents)?;
        lock.write(Status::Starting)?;
        // A socket file without a living owner is a remnant: the lock file says so.
        let _ = runtime::fs::remove_file(&path);
        let failed = |error: io::Error| {
            SqlError::with_severity(
                Severity::Log,
                SqlState::CONFIG_FILE_ERROR,
                format!("could not bind Unix address \"{}\": {}", path.display(), base::os_error(&error)),
            )
        };
        let listener = UnixListener::bind(&path).map_err(failed)?;
        raise_backlog(&listener).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        runtime::fs::set_permissions(&path, mode).map_err(failed)?;
        log::log(format!("listening on Unix socket \"{}\"", path.display()));
        self.unix.push(UnixSocket { listener, path, _lock: lock });
        Ok(())
    }

    /// First directory with a Unix socket, for `postmaster.pid`.
    pub fn socket_directory(&self) -> String {
        let first = self.unix.first().and_then(|socket| socket.path.parent());
        first.map(|dir| dir.display().to_string()).unwrap_or_default()
    }

    /// Accepts on all sockets until this is dropped, on the event loop of the calling thread.
    pub async fn accept(self, shared: Arc<Shared>, workers: Workers) -> io::Result<()> {
        let mut tasks = Vec::new();
        for listener in self.tcp {
            let (shared, workers) = (shared.clone(), workers.clone());
            tasks.push(tokio::task::spawn_local(accept_tcp(listener, shared, workers)));
        }
        for socket in self.unix {
            let (shared, workers) = (shared.clone(), workers.clone());
            tasks.push(tokio::task::spawn_local(accept_unix(socket, shared, workers)));
        }
        let _stop = AbortAll(tasks);
        std::future::pending().await
    }
}

struct AbortAll(Vec<tokio::task::JoinHandle<io::Result<()>>>);

impl Drop for AbortAll {
    fn drop(&mut self) {
        for task in &self.0 {
            task.abort();
        }
    }
}

fn warn(message: String) {
    log::report(
        &SqlError::with_severity(Severity::Warning, SqlState::CONFIG_FILE_ERROR, message),
        None,
        None,
    );
}

/// A listening TCP socket; IPv6 ones take IPv6 only, so that both families can be listened on.
fn bind_tcp(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => tokio::net::TcpSocket::new_v4()?,
        SocketAddr::V6(_) => {
            let socket = tokio::net::TcpSocket::new_v6()?;
            let on: libc::c_int = 1;
            // SAFETY: plain system call on an open socket, with a pointer to an int and its size.
            let rc = unsafe {
                libc::setsockopt(
                    socket.as_raw_fd(),
                    libc::IPPROTO_IPV6,
                    libc::IPV6_V6ONLY,
                    (&raw const on).cast(),
                    size_of_val(&on) as libc::socklen_t,
                )
            };
            if rc != 0 {
                return Err(io::Error::last_os_error());
            }
            socket
        }
    };
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    let listener = socket.listen(BACKLOG)?.into_std()?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Connections that may wait to be accepted; the kernel cuts it down to its own limit.
const BACKLOG: u32 = 4096;

/// The standard library listens with a short queue; asking again makes it longer.
fn raise_backlog(listener: &UnixListener) -> io::Result<()> {
    // SAFETY: plain system call on an open socket.
    match unsafe { libc::listen(listener.as_raw_fd(), BACKLOG as libc::c_int) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Watches a listening socket. Accepting by hand gives streams that no event loop knows yet, for a worker's to take.
fn watch<L: AsRawFd>(listener: L) -> io::Result<AsyncFd<L>> {
    // SAFETY: the standard library's listeners return the one descriptor that they own, open until they are dropped, and
    // the `AsyncFd` owns the listener.
    unsafe { AsyncFd::register_with_interest(listener, tokio::io::Interest::READABLE) }
        .map_err(io::Error::from)
}

async fn accept_tcp(listener: TcpListener, shared: Arc<Shared>, workers: Workers) -> io::Result<()> {
    let listener = watch(listener)?;
    let mut shortage = Shortage::default();
    loop {
        let accepted = listener.readable().await?.try_io(|fd| fd.get_ref().accept());
        match accepted {
            Err(_would_block) => {}
            Ok(Ok((stream, _))) if descriptors::is_one_of_the_last(&stream) => {
                shortage.turn_away(stream).await
            }
            Ok(Ok((stream, address))) => {
                shortage.ends();
                let configured = configure_tcp(&stream);
                if let Err(error) = configured.and_then(|()| stream.set_nonblocking(true)) {
                    log::log(format!("could not configure connection: {}", base::os_error(&error)));
                    continue;
                }
                dispatch(&shared, &workers, Peer::Tcp(address), move || {
                    tokio::net::TcpStream::from_std(stream).map(Stream::Tcp)
                });
            }
            Ok(Err(error)) => shortage.wait(&error).await,
        }
    }
}

async fn accept_unix(socket: UnixSocket, shared: Arc<Shared>, workers: Workers) -> io::Result<()> {
    let listener = watch(socket.listener.try_clone()?)?;
    let mut shortage = Shortage::default();
    loop {
        let accepted = listener.readable().await?.try_io(|fd| fd.get_ref().accept());
        match accepted {
            Err(_would_block) => {}
            Ok(Ok((stream, _))) if descriptors::is_one_of_the_last(&stream) => {
                shortage.turn_away(stream).await
            }
            Ok(Ok((stream, _))) => {
                shortage.ends();
                if stream.set_nonblocking(true).is_err() {
                    continue;
                }
                let uid = peer_uid(&stream);
                dispatch(&shared, &workers, Peer::Unix(uid), move || {
                    tokio::net::UnixStream::from_std(stream).map(Stream::Unix)
                });
            }
            Ok(Err(error)) => shortage.wait(&error).await,
        }
    }
}

/// Starts the task of a connection on the least loaded worker.
fn dispatch(
    shared: &Arc<Shared>,
    workers: &Workers,
    peer: Peer,
    open: impl FnOnce() -> io::Result<Stream> + Send + 'static,
) {
    let worker = shared.sessions.choose_worker();
    let shared = shared.clone();
    workers.spawn_on(worker, move || async move {
        shared.sessions.adjust_wakeup(worker);
        match open() {
            Ok(stream) => serve(shared.clone(), stream, peer).await,
            Err(error) => log::log(format!("could not take over connection: {}", base::os_error(&error))),
        }
        shared.sessions.leave_worker(worker);
    });
}

/// A time in which no connection can be taken: usually there are no file descriptors. It is logged when it begins.
#[derive(Default)]
struct Shortage {
    lasts: bool,
}

impl Shortage {
    /// Waits a little before the next attempt: others may end.
    async fn wait(&mut self, error: &io::Error) {
        if !self.lasts {
            log::log(format!("could not accept new connection: {}", base::os_error(error)));
        }
        self.lasts = true;
        runtime::sleep(Duration::from_millis(100)).await;
    }

    /// Ends a connection that no descriptor is left for, with a word that clients of any version understand.
    async fn turn_away(&mut self, mut stream: impl io::Write) {
        // A socket that takes no bytes at once is not worth a wait.
        let _ = stream.write_all(b"Eout of file descriptors for new connections\n\0");
        drop(stream);
        self.wait(&io::Error::from_raw_os_error(libc::EMFILE)).await;
    }

    fn ends(&mut self) {
        self.lasts = false;
    }
}

/// What no setting changes: answers leave at once, and the system looks whether a silent client is still there.
fn configure_tcp(stream: &std::net::TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    set_option(stream.as_raw_fd(), libc::SOL_SOCKET, libc::SO_KEEPALIVE, 1)
}

/// Takes over a session's settings `tcp_*`. What the system does not take, is not allowed or not there: that is no reason to end the session.
pub(crate) fn apply_options(socket: RawFd, options: SocketOptions) {
    for (option, value) in [
        (libc::TCP_KEEPIDLE, options.idle),
        (libc::TCP_KEEPINTVL, options.interval),
        (libc::TCP_KEEPCNT, options.count),
        (libc::TCP_USER_TIMEOUT, options.user_timeout),
    ] {
        // The system knows 0 for the last one only, and has no other word for its own values.
        if value > 0 || option == libc::TCP_USER_TIMEOUT {
            let _ = set_option(socket, libc::IPPROTO_TCP, option, value);
        }
    }
}

fn set_option(socket: RawFd, level: libc::c_int, option: libc::c_int, value: i32) -> io::Result<()> {
    let length = size_of_val(&value) as libc::socklen_t;
    // SAFETY: plain system call on an open socket, with a pointer to an int and its size.
    let rc = unsafe { libc::setsockopt(socket, level, option, (&raw const value).cast(), length) };
    if rc == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// User of the process on the other end of a Unix socket.
fn peer_uid(stream: &std::os::unix::net::UnixStream) -> Option<u32> {
    // SAFETY: `credentials` is plain data that getsockopt fills in; its size is passed along.
    unsafe {
        let mut credentials: libc::ucred = std::mem::zeroed();
        let mut length = size_of::<libc::ucred>() as libc::socklen_t;
        let rc = libc::getsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut credentials).cast(),
            &mut length,
        );
        (rc == 0).then_some(credentials.uid)
    }
}
