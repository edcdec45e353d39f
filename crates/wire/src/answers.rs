//! Messages from a server, as a client reads them: those that a connection that replicates meets.
//!
//! # Invariants
//! 1. Whatever bytes come, there is a message, the wish for more bytes, or an error; nothing is reserved for bytes that are not there.

use base::{SqlError, SqlResult, SqlState};

use crate::reader::Reader;

/// Longest message, as libpq takes it.
const LIMIT: usize = 0x3FFF_FFFE;
/// Longest message before the connection stands.
const START_LIMIT: usize = 30_000;

/// A message that is all there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer<'a> {
    /// First byte.
    pub kind: u8,
    /// What follows the length.
    pub body: &'a [u8],
    /// Bytes of the buffer that the message takes.
    pub length: usize,
}

fn broken(message: String) -> SqlError {
    SqlError::fatal(SqlState::PROTOCOL_VIOLATION, message)
}

/// The message at the head of the buffer, once it is all there. `starting`: the connection does not stand yet, and what answers may be no server of ours.
pub fn answer(buffer: &[u8], starting: bool) -> SqlResult<Option<Answer<'_>>> {
    let Some((&kind, rest)) = buffer.split_first() else { return Ok(None) };
    let Some(length) = rest.first_chunk::<4>() else { return Ok(None) };
    let length = u32::from_be_bytes(*length) as usize;
    let limit = if starting { START_LIMIT } else { LIMIT };
    if length < 4 || length > limit {
        return Err(broken(match starting {
            true => format!("expected authentication request from server, but received {}", shown(kind)),
            false => format!(
                "lost synchronization with server: got message type \"{}\", length {length}",
                shown(kind)
            ),
        }));
    }
    Ok(rest.get(4..length).map(|body| Answer { kind, body, length: length + 1 }))
}

/// A byte that should be a letter.
pub fn shown(kind: u8) -> impl std::fmt::Display {
    char::from(kind).escape_default()
}

/// What a server asks for before it lets a client in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Nothing more.
    Ok,
    /// The password.
    Password,
    /// Its MD5 hash with this salt.
    Md5([u8; 4]),
    /// An exchange by one of these mechanisms.
    Sasl(Vec<String>),
    /// Its next step.
    SaslContinue(Vec<u8>),
    /// Its last step.
    SaslFinal(Vec<u8>),
    /// Something else.
    Other(i32),
}

/// Reads an authentication request.
pub fn request(body: &[u8]) -> SqlResult<Request> {
    let mut reader = Reader::new(body);
    Ok(match reader.i32()? {
        0 => Request::Ok,
        3 => Request::Password,
        5 => Request::Md5(reader.bytes(4)?.try_into().expect("four bytes")),
        10 => {
            let mut mechanisms = Vec::new();
            loop {
                match text(reader.cstr_bytes()?) {
                    end if end.is_empty() => break Request::Sasl(mechanisms),
                    name => mechanisms.push(name),
                }
            }
        }
        11 => Request::SaslContinue(reader.rest().to_vec()),
        12 => Request::SaslFinal(reader.rest().to_vec()),
        other => Request::Other(other),
    })
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// An error or notice of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Complaint {
    /// As it is shown.
    pub severity: String,
    /// SQLSTATE.
    pub code: String,
    /// What is wrong.
    pub message: String,
    /// More of it.
    pub detail: String,
    /// What may help.
    pub hint: String,
}

impl std::fmt::Display for Complaint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:  {}", self.severity, self.message)?;
        for (name, value) in [("DETAIL", &self.detail), ("HINT", &self.hint)] {
            if !value.is_empty() {
                write!(f, "\n{name}:  {value}")?;
            }
        }
        Ok(())
    }
}

/// Reads an error or a notice.
pub fn complaint(body: &[u8]) -> SqlResult<Complaint> {
    let mut reader = Reader::new(body);
    let mut complaint = Complaint::default();
    loop {
        let field = reader.byte()?;
        if field == 0 {
            return Ok(complaint);
        }
        let value = text(reader.cstr_bytes()?);
        match field {
            b'S' => complaint.severity = value,
            b'C' => complaint.code = value,
            b'M' => complaint.message = value,
            b'D' => complaint.detail = value,
            b'H' => complaint.hint = value,
            _ => {}
        }
    }
}

/// Reads a row of texts.
pub fn row(body: &[u8]) -> SqlResult<Vec<Option<String>>> {
    let mut reader = Reader::new(body);
    let mut values = Vec::new();
    for _ in 0..reader.u16()? {
        values.push(match reader.i32()? {
            -1 => None,
            length => Some(text(reader.bytes(
                usize::try_from(length).map_err(|_| broken(format!("invalid length {length} of a value")))?,
            )?)),
        });
    }
    reader.end()?;
    Ok(values)
}

/// Reads a ParameterStatus message: name and value of a setting.
pub fn parameter(body: &[u8]) -> SqlResult<(String, String)> {
    let mut reader = Reader::new(body);
    Ok((text(reader.cstr_bytes()?), text(reader.cstr_bytes()?)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_message_is_taken_when_it_is_there() {
        let whole = [b'Z', 0, 0, 0, 5, b'I', b'x'];
        for length in 0..6 {
            assert_eq!(answer(&whole[..length], false).unwrap(), None);
        }
        assert_eq!(answer(&whole, false).unwrap(), Some(Answer { kind: b'Z', body: b"I", length: 6 }));
        assert!(answer(b"HTTP/1.1 400 Bad Request", true).is_err());
        assert!(answer(&[b'd', 0, 0, 0, 3], false).is_err());
    }

    #[test]
    fn what_a_server_says_is_read() {
        let mut body = 10_i32.to_be_bytes().to_vec();
        body.extend(b"SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0");
        let both = ["SCRAM-SHA-256-PLUS", "SCRAM-SHA-256"].map(String::from).to_vec();
        assert_eq!(request(&body).unwrap(), Request::Sasl(both));
        assert_eq!(request(&[0, 0, 0, 5, 1, 2, 3, 4]).unwrap(), Request::Md5([1, 2, 3, 4]));
        assert!(request(&[0, 0, 0, 5, 1]).is_err());
        let complaint = complaint(b"SFATAL\0C28000\0Mno\0Dbecause\0\0").unwrap();
        assert_eq!(complaint.to_string(), "FATAL:  no\nDETAIL:  because");
        assert_eq!(row(b"\0\x02\0\0\0\x01a\xff\xff\xff\xff").unwrap(), [Some("a".into()), None]);
        assert!(row(b"\0\x01\0\0\0\x05a").is_err() && row(b"\0\x01\xff\xff\xff\xfe").is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_safe(bytes in prop::collection::vec(any::<u8>(), 0..200), starting: bool) {
            let _ = answer(&bytes, starting);
            let _ = (request(&bytes), complaint(&bytes), row(&bytes), parameter(&bytes));
            let _ = crate::replication::message(&bytes);
        }
    }
}
