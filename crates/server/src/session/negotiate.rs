//! The packets before a session: requests for encryption, cancel requests, and the one that says who wants in.
//!
//! # Invariants
//! 1. What came before the handshake and is not part of it is never taken for what came under it.
//!
//! # PostgreSQL counterpart
//! `ProcessSSLStartup`, `ProcessStartupPacket` (`backend_startup.c`).

use std::sync::Arc;

use base::settings::Setting;
use base::{SqlError, SqlResult, SqlState};
use wire::backend as message;
use wire::startup::{FirstPacket, GSS_CODE, SSL_CODE};

use super::io::{Arrival, Io};
use super::life::note;
use super::sealed::Secured;
use super::startup::{Greeting, read_startup};
use super::{Peer, Phase, Shared};
use crate::log::Subject;
use crate::tls::Tls;

/// The first byte of a client that begins with TLS.
const HANDSHAKE: u8 = 0x16;

/// How a connection is secured.
#[derive(Debug)]
pub(super) struct Security {
    /// What was agreed on.
    pub(super) agreed: Secured,
    /// What the server secured it with.
    pub(super) tls: Arc<Tls>,
}

/// Encryption that was asked for: each kind once.
#[derive(Default)]
struct Asked {
    ssl: bool,
    gss: bool,
}

/// The connection is over; the log knows why.
struct Over;

/// Reads packets until one wants a session. `None`: there is nothing more to do for this connection.
pub(super) async fn first_packet(
    shared: &Shared,
    io: &mut Io,
    peer: Peer,
    subject: &Subject,
) -> SqlResult<Option<Greeting>> {
    let mut asked = Asked::default();
    while io.unread().is_empty() {
        if io.fill().await != Arrival::Bytes {
            return Ok(None);
        }
    }
    let mut security = None;
    if io.unread()[0] == HANDSHAKE {
        match direct(shared, io, peer, subject).await {
            Ok(secured) => security = Some(secured),
            Err(Over) => return Ok(None),
        }
    }
    loop {
        let Some((packet, length)) = wire::first_packet(io.unread())? else {
            match io.fill().await {
                Arrival::Bytes => continue,
                _ => return Ok(None),
            }
        };
        match packet {
            FirstPacket::SslRequest if !asked.ssl => {
                asked = Asked { ssl: true, ..asked };
                io.consume(length);
                refuse_injected(io, "SSL")?;
                let tls = if security.is_some() { None } else { offered(shared, peer) };
                trace(
                    shared,
                    subject,
                    if tls.is_some() { "SSLRequest accepted" } else { "SSLRequest rejected" },
                );
                io.out().push(if tls.is_some() { b'S' } else { b'N' });
                io.flush().await;
                if let Some(tls) = tls {
                    asked.gss = true;
                    match secure(io, tls, subject).await {
                        Ok(secured) => security = Some(secured),
                        Err(Over) => return Ok(None),
                    }
                }
            }
            FirstPacket::GssEncRequest if !asked.gss => {
                asked.gss = true;
                io.consume(length);
                refuse_injected(io, "GSSAPI encryption")?;
                trace(shared, subject, "GSSENCRequest rejected");
                io.out().push(b'N');
                io.flush().await;
            }
            FirstPacket::SslRequest => return Err(wire::startup::unsupported(SSL_CODE)),
            FirstPacket::GssEncRequest => return Err(wire::startup::unsupported(GSS_CODE)),
            FirstPacket::Cancel { pid, key } => {
                shared.sessions.cancel(pid, key);
                return Ok(None);
            }
            FirstPacket::Startup(startup) => {
                let greeting = read_startup(&startup, security)?;
                let mut answer = Vec::new();
                if startup.needs_negotiation() {
                    let version = startup.negotiated();
                    message::negotiate_protocol_version(&mut answer, version, startup.extensions());
                }
                io.consume(length);
                io.out().append(&mut answer);
                check_phase(shared)?;
                return Ok(Some(greeting));
            }
        }
    }
}

/// TLS for this client, if there is any. A Unix socket needs none.
fn offered(shared: &Shared, peer: Peer) -> Option<Arc<Tls>> {
    match peer {
        Peer::Tcp(_) => shared.tls.read().clone(),
        Peer::Unix(_) => None,
    }
}

/// A client that begins with TLS at once. It must say which protocol is to follow.
async fn direct(shared: &Shared, io: &mut Io, peer: Peer, subject: &Subject) -> Result<Security, Over> {
    let rejected = || {
        trace(shared, subject, "direct SSL connection rejected");
        Over
    };
    let tls = offered(shared, peer).ok_or_else(rejected)?;
    let security = secure(io, tls, subject).await.map_err(|Over| rejected())?;
    if !security.agreed.names_protocol {
        note(
            subject,
            "received direct SSL connection request without ALPN protocol negotiation extension".into(),
        );
        return Err(rejected());
    }
    trace(shared, subject, "direct SSL connection accepted");
    Ok(security)
}

async fn secure(io: &mut Io, tls: Arc<Tls>, subject: &Subject) -> Result<Security, Over> {
    match io.secure(tls.config.clone()).await {
        Ok(agreed) => Ok(Security { agreed, tls }),
        Err(why) => {
            note(subject, format!("could not accept SSL connection: {why}"));
            Err(Over)
        }
    }
}

/// Bytes that came before encryption began may be anybody's: they must not be taken for the client's.
fn refuse_injected(io: &Io, request: &str) -> SqlResult<()> {
    if io.unread().is_empty() {
        return Ok(());
    }
    let message = format!("received unencrypted data after {request} request");
    Err(SqlError::fatal(SqlState::PROTOCOL_VIOLATION, message).detail(
        "This could be either a client-software bug or evidence of an attempted man-in-the-middle attack.",
    ))
}

/// A line of `trace_connection_negotiation`.
fn trace(shared: &Shared, subject: &Subject, message: &str) {
    if shared.settings().bool(Setting::trace_connection_negotiation) {
        note(subject, message.into());
    }
}

fn check_phase(shared: &Shared) -> SqlResult<()> {
    let why = match *shared.phase.read() {
        Phase::Running => return Ok(()),
        Phase::Starting => "the database system is starting up",
        Phase::Stopping => "the database system is shutting down",
    };
    Err(SqlError::fatal(SqlState::CANNOT_CONNECT_NOW, why))
}
