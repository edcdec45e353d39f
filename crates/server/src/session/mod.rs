//! One connection, from its first packet to its end.
//!
//! # What
//! [`serve`] is the task of a connection on its worker: start-up and authentication (`startup`), then a loop that waits for
//! bytes and carries out whole messages in a fiber (`messages`). While it waits it holds neither fiber nor buffers (`io`).
//!
//! # PostgreSQL counterpart and differences
//! `backend_startup.c`, `postgres.c`.

mod auth;
pub mod io;
mod life;
mod messages;
mod negotiate;
mod sealed;
mod sender;
mod startup;

use std::sync::{Arc, OnceLock};

use base::settings::{ServerSettings, Setting};
use base::{Lines, Severity, SqlError, SqlResult, SqlState};
use parking_lot::RwLock;
use runtime::{Interrupt, Interrupts, run_fiber, time, with_interrupts};

use crate::backend::Database;
use crate::config::access::{HostName, Maps, Rules};
use crate::log::{self, Subject};
use crate::sessions::{Registration, Sessions};
use crate::tls::Tls;
pub use auth::user_name;
pub use life::unknown_step;

use auth::{Attempt, Login, Refused};
use io::{Arrival, Io, Stream};
use messages::{Connection, Next};

/// Whether clients are let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Recovering.
    Starting,
    /// Open.
    Running,
    /// On the way down.
    Stopping,
}

/// What all connections of a server share.
pub struct Shared {
    /// Settings in force.
    pub settings: RwLock<Arc<ServerSettings>>,
    /// Who may connect.
    pub rules: RwLock<Arc<Rules>>,
    /// Which users of other systems may be which roles.
    pub maps: RwLock<Arc<Maps>>,
    /// What new connections are secured with, if TLS is on.
    pub tls: RwLock<Option<Arc<Tls>>>,
    /// Whether clients are let in.
    pub phase: RwLock<Phase>,
    /// All sessions.
    pub sessions: Arc<Sessions>,
    /// The database, once it is open.
    pub database: OnceLock<Arc<dyn Database>>,
    /// Makes the salt of users that do not exist.
    pub mock_secret: [u8; 32],
}

impl Shared {
    /// For a server that is starting.
    pub fn new(settings: Arc<ServerSettings>, rules: Rules, workers: usize, mock_secret: [u8; 32]) -> Shared {
        Shared {
            settings: RwLock::new(settings),
            rules: RwLock::new(Arc::new(rules)),
            maps: RwLock::default(),
            tls: RwLock::default(),
            phase: RwLock::new(Phase::Starting),
            sessions: Arc::new(Sessions::new(workers)),
            database: OnceLock::new(),
            mock_secret,
        }
    }

    /// Settings in force.
    pub fn settings(&self) -> Arc<ServerSettings> {
        self.settings.read().clone()
    }
}

/// Where a connection comes from.
#[derive(Clone, Copy, Debug)]
pub enum Peer {
    /// Over TCP.
    Tcp(std::net::SocketAddr),
    /// Over a Unix socket, from a process of this user.
    Unix(Option<u32>),
}

/// `terminating connection due to administrator command` (57P01).
pub fn terminated() -> SqlError {
    SqlError::fatal(SqlState::ADMIN_SHUTDOWN, "terminating connection due to administrator command")
}

/// Runs code of the database in a fiber.
async fn in_fiber<T: 'static>(
    interrupts: &Interrupts,
    f: impl FnOnce() -> SqlResult<T> + 'static,
) -> SqlResult<T> {
    let interrupts = interrupts.clone();
    let guarded = move || {
        let run = std::panic::AssertUnwindSafe(|| with_interrupts(&interrupts, f));
        match std::panic::catch_unwind(run) {
            Ok(result) => result,
            Err(payload) if runtime::fiber::is_unwinding() => std::panic::resume_unwind(payload),
            Err(payload) => {
                let message = runtime::spawn::panic_message(&*payload);
                Err(SqlError::internal(format!("internal error: {message}")))
            }
        }
    };
    run_fiber(guarded).await
}

/// Serves a connection until it ends.
pub async fn serve(shared: Arc<Shared>, stream: Stream, peer: Peer) {
    // Boxed: the loop, where a session spends its life, does not carry what its start needed.
    let opened = Box::pin(open(&shared, stream, peer)).await;
    if let Some((connection, _registration)) = opened {
        let tells_end = life::tells_end(&*connection.client);
        let subject = run(connection).await;
        if tells_end {
            life::ended(&subject);
        }
    }
}

/// From the first packet to a session, unless the client is not let in.
async fn open(shared: &Shared, stream: Stream, peer: Peer) -> Option<(Box<Connection>, Registration<'_>)> {
    let interrupts = Interrupts::new();
    let local = stream.local_address();
    let mut io = Io::new(stream, interrupts.clone());
    let pid = shared.sessions.draw_number();
    let mut subject = Subject { pid, since: runtime::wall_clock_micros(), ..Subject::default() };
    match peer {
        Peer::Tcp(address) => {
            subject.host = address.ip().to_canonical().to_string();
            subject.port = Some(address.port());
            subject.local = local.map(|ip| ip.to_canonical().to_string()).unwrap_or_default();
        }
        Peer::Unix(_) => (subject.host, subject.local) = ("[local]".into(), "[local]".into()),
    }
    let host_name = host_name(shared, peer, &interrupts).await;
    if let Some(name) = &host_name {
        subject.host.clone_from(name);
    }
    life::received(shared, &subject);
    let limit = shared.settings().duration(Setting::authentication_timeout);
    let first = time::timeout(limit, negotiate::first_packet(shared, &mut io, peer, &subject)).await;
    let greeting = match first {
        None => Err(SqlError::fatal(SqlState::PROTOCOL_VIOLATION, "canceling authentication due to timeout")),
        Some(Ok(None)) => return None,
        Some(Ok(Some(greeting))) => Ok(greeting),
        Some(Err(error)) => Err(error),
    };
    let greeting = match greeting {
        Ok(greeting) => greeting,
        Err(error) => return turn_away(io, error.into(), &subject).await,
    };
    subject.user.clone_from(&greeting.user);
    subject.database.clone_from(&greeting.database);
    let name = |option: &&(String, String)| option.0.eq_ignore_ascii_case("application_name");
    if let Some((_, application)) = greeting.options.iter().rev().find(name) {
        subject.application.clone_from(application);
    }
    let login_began = runtime::wall_clock_micros();
    let attempt = Attempt {
        shared,
        io: &mut io,
        greeting: &greeting,
        peer,
        interrupts: &interrupts,
        subject: &subject,
    };
    let Login { role, system_user } = match time::timeout(limit, attempt.authenticate()).await {
        Some(Ok(login)) => login,
        Some(Err(refused)) => return turn_away(io, refused, &subject).await,
        None => {
            let error = SqlError::fatal(SqlState::QUERY_CANCELED, "canceling authentication due to timeout");
            return turn_away(io, error.into(), &subject).await;
        }
    };
    let authentication = login_began..runtime::wall_clock_micros();
    life::authorized(shared, &greeting, &subject);
    let key_length = if greeting.version.minor >= 2 { crate::sessions::KEY_LENGTH } else { 4 };
    let limits = startup::limits(shared);
    let rank = greeting.replication.is_none().then(|| role.rank());
    let registered = shared.sessions.register(pid, limits, rank, key_length, &interrupts);
    let registration = match registered {
        Ok(registration) => registration,
        Err(error) => return turn_away(io, error.into(), &subject).await,
    };
    subject.pid = registration.pid;
    let opened = startup::open_session(
        shared,
        &mut io,
        &greeting,
        (peer, host_name),
        system_user,
        &registration,
        &interrupts,
    )
    .await;
    match opened {
        Ok(mut client) => {
            life::ready(&*client, &subject, authentication);
            let logged = subject.clone();
            client.log_to(Box::new(move |line, statement, situation| {
                log::report_in(line, Some(&logged), statement, situation);
            }));
            let replicates = greeting.replication.is_some();
            Some((Box::new(Connection::new(io, client, interrupts, subject, replicates)), registration))
        }
        Err(error) => {
            // Who is told that he is refused may come again at once: his place is free by then.
            drop(registration);
            turn_away(io, error.into(), &subject).await
        }
    }
}

/// The name of the client's host, if `log_hostname` asks for it and there is one.
async fn host_name(shared: &Shared, peer: Peer, interrupts: &Interrupts) -> Option<String> {
    let Peer::Tcp(address) = peer else { return None };
    if !shared.settings().bool(Setting::log_hostname) {
        return None;
    }
    let asked = in_fiber(interrupts, move || Ok(runtime::blocking(|| HostName::name_of(address))));
    asked.await.ok().flatten()
}

/// Tells a client why it is not let in.
async fn turn_away<T>(mut io: Io, refused: Refused, subject: &Subject) -> Option<T> {
    let Refused::Told { mut error, detail } = refused else { return None };
    error.report_mut().severity = Severity::Fatal;
    // A client that does not speak the protocol is only logged, as in PostgreSQL.
    if !error.message().starts_with("invalid length of startup packet") {
        wire::backend::error_response(io.out(), error.report());
        io.finish().await;
    } else {
        error.report_mut().severity = Severity::Log;
    }
    if let Some(detail) = detail {
        error = error.detail(detail);
    }
    log::report(&error, Some(subject), None);
    None
}

/// Turns of a session from one time that it notes its lines to the next: they seldom move.
const TURNS_BETWEEN_NOTES: u64 = 8;

/// The session's loop. Returns who it was.
async fn run(mut connection: Box<Connection>) -> Subject {
    // Kept in the task, which is looked at first.
    let mut lines = Lines::default();
    for turn in 0u64.. {
        connection.io.release();
        if turn.is_multiple_of(TURNS_BETWEEN_NOTES) {
            connection.note_lines(&mut lines);
        }
        let arrival = match connection.idle_limit() {
            None => connection.arrival(&lines).await,
            Some((limit, interrupt)) => match time::timeout(limit, connection.arrival(&lines)).await {
                Some(arrival) => arrival,
                None => {
                    connection.interrupts.set(interrupt);
                    Arrival::Interrupt
                }
            },
        };
        let next = match arrival {
            Arrival::Interrupt if connection.tell_news() => sent(&mut connection).await,
            Arrival::Bytes => {
                let (back, next) = run_fiber(move || {
                    let next = connection.run_batch();
                    (connection, next)
                })
                .await;
                connection = back;
                match sent(&mut connection).await {
                    Next::Continue => next,
                    Next::Close => Next::Close,
                }
            }
            Arrival::Interrupt => interrupted(&mut connection),
            Arrival::Refused => {
                connection.send_error(&io::out_of_memory());
                Next::Close
            }
            Arrival::End => {
                lost(&connection);
                connection.end = counters::SessionEnd::Abandoned;
                Next::Close
            }
        };
        if next == Next::Close {
            break;
        }
    }
    if let Some(failure) = connection.io.take_failure() {
        log::report(&log::line(format!("SSL error: {failure}")), Some(&connection.subject), None);
    }
    connection.io.finish().await;
    let subject = std::mem::take(&mut connection.subject);
    run_fiber(move || {
        let interrupts = connection.interrupts.clone();
        with_interrupts(&interrupts, || connection.client.close(connection.end));
    })
    .await;
    subject
}

/// Sends what is in the output buffer.
async fn sent(connection: &mut Connection) -> Next {
    match connection.io.flush_with_others().await {
        Ok(()) => Next::Continue,
        Err(error) => {
            connection.send_error(&error);
            Next::Close
        }
    }
}

/// An interrupt came while the session waited for its client.
fn interrupted(connection: &mut Connection) -> Next {
    let interrupt = match connection.interrupts.take() {
        // Nothing runs that could be cancelled.
        Some(
            Interrupt::Cancel | Interrupt::StatementTimeout | Interrupt::LockTimeout | Interrupt::OutOfMemory,
        )
        | None => {
            return Next::Continue;
        }
        // A snapshot that it had is gone with the transaction.
        Some(Interrupt::ConflictingSnapshot | Interrupt::ConflictingLock)
            if connection.client.transaction_status() == session::TransactionStatus::Idle =>
        {
            return Next::Continue;
        }
        Some(interrupt) => interrupt,
    };
    let error = interrupt.ends_idle();
    connection.send_error(&error);
    Next::Close
}

/// The client has gone without a word.
fn lost(connection: &Connection) {
    if connection.client.transaction_status() != session::TransactionStatus::Idle {
        let error = SqlError::with_severity(
            Severity::Log,
            SqlState::PROTOCOL_VIOLATION,
            "unexpected EOF on client connection with an open transaction",
        );
        log::report(&error, Some(&connection.subject), None);
    }
}
