//! The packets before authentication: start-up, requests for encryption, cancel requests.

use base::{SqlError, SqlResult, SqlState, sql_err};

use crate::reader::Reader;

/// Longest packet accepted before authentication.
pub const MAX_STARTUP_LENGTH: usize = 10_000;

/// Newest protocol version spoken here: 3.2.
pub const LATEST: Version = Version { major: 3, minor: 2 };

const CANCEL_CODE: u32 = (1234 << 16) | 5678;
/// What a request for TLS has in the place of a version.
pub const SSL_CODE: u32 = (1234 << 16) | 5679;
/// The same of a request for GSS encryption.
pub const GSS_CODE: u32 = (1234 << 16) | 5680;

/// A protocol version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// 3.
    pub major: u16,
    /// 0 or 2, or what a newer client asks for.
    pub minor: u16,
}

impl Version {
    /// As it stands in packets.
    pub fn code(self) -> u32 {
        (u32::from(self.major) << 16) | u32::from(self.minor)
    }

    fn from_code(code: u32) -> Version {
        Version { major: (code >> 16) as u16, minor: code as u16 }
    }
}

/// A whole packet from a client that has not been authenticated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FirstPacket<'a> {
    /// Asks for TLS: answered with one byte, `S` or `N`.
    SslRequest,
    /// Asks for GSS encryption: answered with one byte, `N`.
    GssEncRequest,
    /// Asks to cancel what another session does; the connection is then closed without an answer.
    Cancel {
        /// The session's number from BackendKeyData.
        pid: i32,
        /// Its secret.
        key: &'a [u8],
    },
    /// Wants a session.
    Startup(Startup<'a>),
}

/// What the client says of the session it wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Startup<'a> {
    /// Version asked for. Answer with [`Startup::negotiated`].
    pub version: Version,
    /// Name and value pairs, unchecked but for their framing: `user`, `database`, `options`, settings.
    body: &'a [u8],
}

impl<'a> Startup<'a> {
    /// Version that both sides speak.
    pub fn negotiated(&self) -> Version {
        self.version.min(LATEST)
    }

    /// All parameters but those of protocol extensions, in the client's order.
    pub fn parameters(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        Pairs(Reader::new(self.body)).filter(|(name, _)| !name.starts_with(b"_pq_."))
    }

    /// Names of protocol extensions asked for; none is known here.
    pub fn extensions(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        Pairs(Reader::new(self.body)).map(|(name, _)| name).filter(|name| name.starts_with(b"_pq_."))
    }

    /// Whether the client must be told what is spoken here (`NegotiateProtocolVersion`).
    pub fn needs_negotiation(&self) -> bool {
        self.version > LATEST || self.extensions().next().is_some()
    }

    /// The last value of a parameter.
    pub fn get(&self, name: &str) -> Option<&'a [u8]> {
        self.parameters().filter(|p| p.0 == name.as_bytes()).last().map(|p| p.1)
    }
}

/// Pairs up to the empty name that ends them. The framing was checked before.
struct Pairs<'a>(Reader<'a>);

impl<'a> Iterator for Pairs<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let name = self.0.cstr_bytes().ok()?;
        if name.is_empty() {
            return None;
        }
        Some((name, self.0.cstr_bytes().ok()?))
    }
}

fn invalid_length() -> SqlError {
    SqlError::fatal(SqlState::PROTOCOL_VIOLATION, "invalid length of startup packet")
}

/// The packet at the head of the buffer and its length, once it is all there.
///
/// Errors are FATAL; the connection is to be closed after them.
pub fn first_packet(buffer: &[u8]) -> SqlResult<Option<(FirstPacket<'_>, usize)>> {
    let Some(head) = buffer.first_chunk::<4>() else { return Ok(None) };
    let length = u32::from_be_bytes(*head) as usize;
    if !(8..=MAX_STARTUP_LENGTH).contains(&length) {
        return Err(invalid_length());
    }
    if buffer.len() < length {
        return Ok(None);
    }
    let packet = parse(&buffer[4..length])?;
    Ok(Some((packet, length)))
}

fn parse(packet: &[u8]) -> SqlResult<FirstPacket<'_>> {
    let (code, body) = packet.split_first_chunk::<4>().ok_or_else(invalid_length)?;
    let code = u32::from_be_bytes(*code);
    match code {
        CANCEL_CODE => {
            let (pid, key) = body.split_first_chunk::<4>().ok_or_else(invalid_length)?;
            if key.is_empty() || key.len() > 256 {
                return Err(invalid_length());
            }
            Ok(FirstPacket::Cancel { pid: i32::from_be_bytes(*pid), key })
        }
        SSL_CODE => Ok(FirstPacket::SslRequest),
        GSS_CODE => Ok(FirstPacket::GssEncRequest),
        _ => startup(Version::from_code(code), body).map(FirstPacket::Startup),
    }
}

/// The error for a version that is not spoken here, or for a request that may not come (again).
pub fn unsupported(code: u32) -> SqlError {
    let Version { major, minor } = Version::from_code(code);
    let (newest, least) = (LATEST.major, LATEST.minor);
    let message =
        format!("unsupported frontend protocol {major}.{minor}: server supports 3.0 to {newest}.{least}");
    SqlError::fatal(SqlState::FEATURE_NOT_SUPPORTED, message)
}

fn startup(version: Version, body: &[u8]) -> SqlResult<Startup<'_>> {
    if version.major != LATEST.major {
        return Err(unsupported(version.code()));
    }
    let mut reader = Reader::new(body);
    let layout = |_| {
        let mut error =
            sql_err!(PROTOCOL_VIOLATION, "invalid startup packet layout: expected terminator as last byte");
        error.report_mut().severity = base::Severity::Fatal;
        error
    };
    loop {
        if reader.cstr_bytes().map_err(layout)?.is_empty() {
            break;
        }
        reader.cstr_bytes().map_err(layout)?;
    }
    reader.end().map_err(layout)?;
    Ok(Startup { version, body })
}
