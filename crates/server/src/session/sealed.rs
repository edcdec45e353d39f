//! One connection over TLS: decrypts the bytes that the socket receives and encrypts those to be sent.
//!
//! # What
//! `rustls` without buffers of its own: what has come lies in the worker's scratch buffer and is opened there, what is to go is
//! sealed into a buffer of the worker's pool. A session that waits for its client keeps keys and counters only.
//!
//! # Invariants
//! 1. Sealed bytes go to the socket in the order in which they were sealed.
//! 2. `rustls` sees the bytes that it has not used up again, in front of those that follow.
//! 3. After a failure nothing more is opened or sealed.

use std::sync::Arc;

use rustls::ServerConfig;
use rustls::server::{ServerConnectionData, UnbufferedServerConnection};
use rustls::unbuffered::{
    ConnectionState, EncodeError, EncodeTlsData, EncryptError, UnbufferedStatus, WriteTraffic,
};

use super::io::{give_buffer, take_buffer};
use crate::tls::certificate::Identity;
use crate::tls::{PROTOCOL, cipher_name};

/// What was agreed on, once the handshake is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secured {
    /// `TLSv1.2` or `TLSv1.3`.
    pub version: &'static str,
    /// Cipher, as OpenSSL names it.
    pub cipher: &'static str,
    /// Bits of its key.
    pub bits: i32,
    /// Whether the client named our protocol (ALPN).
    pub names_protocol: bool,
    /// Whose certificate the client has shown; it was found to be good.
    pub client: Option<Identity>,
}

impl Secured {
    /// As others see it.
    pub(super) fn shown(&self) -> session::Encryption {
        let of = |field: fn(&Identity) -> &String| {
            self.client.as_ref().map(|client| field(client).as_str().into())
        };
        session::Encryption {
            version: self.version,
            cipher: self.cipher,
            bits: self.bits,
            client_name: of(|client| &client.subject),
            client_serial: of(|client| &client.serial),
            issuer_name: of(|client| &client.issuer),
        }
    }
}

/// TLS's side of a connection.
pub(super) struct Sealed {
    connection: UnbufferedServerConnection,
    /// Bytes of the socket that are not a whole record yet.
    incoming: Vec<u8>,
    /// Sealed bytes for the socket.
    pub(super) outgoing: Vec<u8>,
    /// The handshake is not over.
    pub(super) is_new: bool,
    /// The client will send nothing more.
    has_ended: bool,
    /// Why it is over.
    pub(super) failure: Option<String>,
}

impl std::fmt::Debug for Sealed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Nothing secret goes to a log.
        f.debug_struct("Sealed").field("is_new", &self.is_new).finish_non_exhaustive()
    }
}

impl Sealed {
    pub(super) fn new(config: Arc<ServerConfig>) -> Result<Sealed, rustls::Error> {
        Ok(Sealed {
            connection: UnbufferedServerConnection::new(config)?,
            incoming: Vec::new(),
            outgoing: Vec::new(),
            is_new: true,
            has_ended: false,
            failure: None,
        })
    }

    /// Whether nothing more will come.
    pub(super) fn has_ended(&self) -> bool {
        self.has_ended || self.failure.is_some()
    }

    /// Opens bytes that came; `plain` gets what was in them. What the handshake has to say is in `outgoing` then.
    pub(super) fn open(&mut self, bytes: &mut [u8], plain: impl FnMut(&[u8])) {
        if self.has_ended() {
            return;
        }
        if self.incoming.is_empty() {
            let used = self.process(bytes, plain);
            if used < bytes.len() {
                self.incoming = take_buffer();
                self.incoming.extend_from_slice(&bytes[used..]);
            }
            return;
        }
        let mut all = std::mem::take(&mut self.incoming);
        all.extend_from_slice(bytes);
        let used = self.process(&mut all, plain);
        all.drain(..used);
        self.incoming = all;
    }

    /// Goes through whole records; returns the number of bytes that were used up.
    fn process(&mut self, bytes: &mut [u8], mut plain: impl FnMut(&[u8])) -> usize {
        let mut used = 0;
        loop {
            let UnbufferedStatus { mut discard, state } =
                self.connection.process_tls_records(&mut bytes[used..]);
            let goes_on = match state {
                Ok(ConnectionState::ReadTraffic(mut traffic)) => {
                    while let Some(Ok(record)) = traffic.next_record() {
                        discard += record.discard;
                        plain(record.payload);
                    }
                    true
                }
                Ok(ConnectionState::EncodeTlsData(data)) => encode(data, &mut self.outgoing),
                Ok(ConnectionState::TransmitTlsData(data)) => {
                    data.done();
                    true
                }
                Ok(ConnectionState::PeerClosed) => {
                    self.has_ended = true;
                    true
                }
                Ok(_) => false,
                Err(error) => {
                    self.failure = Some(error.to_string());
                    false
                }
            };
            used += discard;
            if !goes_on {
                break;
            }
        }
        if self.failure.is_some() {
            self.take_alert(&mut bytes[used..]);
        }
        used
    }

    /// After a failure: what the client is to be told of it.
    fn take_alert(&mut self, rest: &mut [u8]) {
        while self.connection.wants_write() {
            match self.connection.process_tls_records(rest).state {
                Ok(ConnectionState::EncodeTlsData(data)) => {
                    encode(data, &mut self.outgoing);
                }
                _ => return,
            }
        }
    }

    /// Seals bytes into `outgoing`. False if that is not possible any more.
    pub(super) fn seal(&mut self, bytes: &[u8]) -> bool {
        // What a record adds, and how much one holds.
        let room = bytes.len() + (bytes.len() / (16 << 10) + 1) * 64;
        self.when_writable(room, |traffic, room| traffic.encrypt(bytes, room))
    }

    /// Tells the client that nothing more will come.
    pub(super) fn close(&mut self) {
        self.when_writable(64, |traffic, room| traffic.queue_close_notify(room));
    }

    fn when_writable(
        &mut self,
        room: usize,
        mut write: impl FnMut(
            &mut WriteTraffic<'_, ServerConnectionData>,
            &mut [u8],
        ) -> Result<usize, EncryptError>,
    ) -> bool {
        if self.failure.is_some() {
            return false;
        }
        if self.outgoing.capacity() == 0 {
            self.outgoing = take_buffer();
        }
        loop {
            let UnbufferedStatus { state, .. } = self.connection.process_tls_records(&mut self.incoming);
            match state {
                Ok(ConnectionState::WriteTraffic(mut traffic)) => {
                    let written = extend(&mut self.outgoing, room, |room| {
                        write(&mut traffic, room).map_err(|error| match error {
                            EncryptError::InsufficientSize(size) => Some(size.required_size),
                            EncryptError::EncryptExhausted => None,
                        })
                    });
                    return written.is_some();
                }
                Ok(ConnectionState::EncodeTlsData(data)) => {
                    if !encode(data, &mut self.outgoing) {
                        return false;
                    }
                }
                Ok(ConnectionState::TransmitTlsData(data)) => data.done(),
                Ok(ConnectionState::PeerClosed) => self.has_ended = true,
                // `open` has left nothing behind that can be read.
                Ok(_) | Err(_) => return false,
            }
        }
    }

    /// Gives empty buffers back.
    pub(super) fn release(&mut self) {
        if self.incoming.is_empty() {
            give_buffer(&mut self.incoming);
        }
        if self.outgoing.is_empty() {
            give_buffer(&mut self.outgoing);
        }
    }

    /// Whether there is more to agree on.
    pub(super) fn is_handshaking(&self) -> bool {
        self.connection.is_handshaking()
    }

    /// What was agreed on. An error says why it is not enough.
    pub(super) fn secured(&mut self) -> Result<Secured, String> {
        self.is_new = false;
        let suite = self.connection.negotiated_cipher_suite().ok_or("no cipher was agreed on")?;
        let (cipher, bits) = cipher_name(suite.suite());
        let certificates = self.connection.peer_certificates();
        let client = certificates.and_then(|chain| chain.first()).map(Identity::of).transpose()?;
        Ok(Secured {
            version: if suite.tls13().is_some() { "TLSv1.3" } else { "TLSv1.2" },
            cipher,
            bits,
            names_protocol: self.connection.alpn_protocol() == Some(PROTOCOL),
            client,
        })
    }
}

/// Appends a record of TLS's own. False if it was taken before.
fn encode(mut data: EncodeTlsData<'_, ServerConnectionData>, out: &mut Vec<u8>) -> bool {
    let written = extend(out, 256, |room| {
        data.encode(room).map_err(|error| match error {
            EncodeError::InsufficientSize(size) => Some(size.required_size),
            EncodeError::AlreadyEncoded => None,
        })
    });
    written.is_some()
}

/// Appends what `write` puts into the buffer that it is given; if it asks for a larger buffer, it is called again.
fn extend(
    out: &mut Vec<u8>,
    room: usize,
    mut write: impl FnMut(&mut [u8]) -> Result<usize, Option<usize>>,
) -> Option<usize> {
    let start = out.len();
    let mut room = room;
    let written = loop {
        out.resize(start + room, 0);
        match write(&mut out[start..]) {
            Ok(written) => break Some(written),
            Err(Some(more)) if more > room => room = more,
            Err(_) => break None,
        }
    };
    out.truncate(start + written.unwrap_or(0));
    written
}

#[cfg(test)]
#[path = "sealed_tests.rs"]
mod tests;
