//! What goes in CopyData messages while the log is sent.
//!
//! # Layout
//! Integers are big-endian, positions and times 64 bits; times are microseconds since 2000-01-01 UTC.
//!
//! | from | first byte | what follows |
//! |---|---|---|
//! | server | `w` | position of the first byte, end of the log, time; then bytes of the log |
//! | server | `k` | end of what was sent, time, whether an answer is wanted |
//! | client | `r` | what it has written, made durable, applied; time, whether an answer is wanted |
//! | client | `h` | time, xmin with its epoch, xmin of catalogs with its epoch |

use base::{Lsn, SqlError, SqlResult, SqlState};

use crate::reader::Reader;

/// The head of a message with bytes of the log, which follow it.
pub fn log_data(out: &mut Vec<u8>, start: Lsn, end: Lsn, time: i64) {
    out.push(b'w');
    out.extend_from_slice(&start.0.to_be_bytes());
    out.extend_from_slice(&end.0.to_be_bytes());
    out.extend_from_slice(&time.to_be_bytes());
}

/// A sign of life; with `asks` the client is to answer at once.
pub fn keepalive(sent: Lsn, time: i64, asks: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(18);
    out.push(b'k');
    out.extend_from_slice(&sent.0.to_be_bytes());
    out.extend_from_slice(&time.to_be_bytes());
    out.push(asks.into());
    out
}

/// How far a receiver is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// It has written all before this.
    pub written: Lsn,
    /// That is durable.
    pub flushed: Lsn,
    /// It has applied all before this.
    pub applied: Lsn,
    /// When it said so.
    pub time: i64,
    /// It wants an answer.
    pub asks: bool,
}

/// What the snapshots of a receiver need: lower halves of xids, and how often these have begun anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feedback {
    /// When it said so.
    pub time: i64,
    /// Rows that died before this are not needed; 0: no snapshot needs any.
    pub xmin: (u32, u32),
    /// The same of catalogs.
    pub catalog_xmin: (u32, u32),
}

impl Status {
    /// Its message.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(34);
        out.push(b'r');
        for number in [self.written.0, self.flushed.0, self.applied.0, self.time as u64] {
            out.extend_from_slice(&number.to_be_bytes());
        }
        out.push(self.asks.into());
        out
    }
}

impl Feedback {
    /// Its message.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(25);
        out.push(b'h');
        out.extend_from_slice(&self.time.to_be_bytes());
        for number in [self.xmin.0, self.xmin.1, self.catalog_xmin.0, self.catalog_xmin.1] {
            out.extend_from_slice(&number.to_be_bytes());
        }
        out
    }
}

/// A message of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message<'a> {
    /// Bytes of the log.
    Log {
        /// Where they belong.
        start: Lsn,
        /// Where the sender's log ends.
        end: Lsn,
        /// When it was sent.
        time: i64,
        /// The bytes.
        bytes: &'a [u8],
    },
    /// A sign of life.
    Alive {
        /// Where the sender's log ends.
        end: Lsn,
        /// When it was sent.
        time: i64,
        /// An answer is wanted.
        asks: bool,
    },
}

/// Reads the body of a CopyData message of a sender.
pub fn message(body: &[u8]) -> SqlResult<Message<'_>> {
    let mut reader = Reader::new(body);
    match reader.byte()? {
        b'w' => {
            let (start, end) = (Lsn(reader.u64()?), Lsn(reader.u64()?));
            Ok(Message::Log { start, end, time: reader.u64()? as i64, bytes: reader.rest() })
        }
        b'k' => {
            let (end, time) = (Lsn(reader.u64()?), reader.u64()? as i64);
            let message = Message::Alive { end, time, asks: reader.byte()? != 0 };
            reader.end()?;
            Ok(message)
        }
        other => Err(SqlError::new(
            SqlState::PROTOCOL_VIOLATION,
            format!("invalid replication message type {other}"),
        )),
    }
}

/// A message of a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// How far it is.
    Status(Status),
    /// What its snapshots need.
    Feedback(Feedback),
}

/// Reads the body of a CopyData message of a receiver. Errors are FATAL: the stream is out of step.
pub fn reply(body: &[u8]) -> SqlResult<Reply> {
    let mut reader = Reader::new(body);
    let read = |reader: &mut Reader<'_>| -> SqlResult<Option<Reply>> {
        let reply = match reader.byte()? {
            b'r' => Reply::Status(Status {
                written: Lsn(reader.u64()?),
                flushed: Lsn(reader.u64()?),
                applied: Lsn(reader.u64()?),
                time: reader.u64()? as i64,
                asks: reader.byte()? != 0,
            }),
            b'h' => Reply::Feedback(Feedback {
                time: reader.u64()? as i64,
                xmin: (reader.i32()? as u32, reader.i32()? as u32),
                catalog_xmin: (reader.i32()? as u32, reader.i32()? as u32),
            }),
            _ => return Ok(None),
        };
        reader.end()?;
        Ok(Some(reply))
    };
    match read(&mut reader) {
        Ok(Some(reply)) => Ok(reply),
        Ok(None) => Err(SqlError::fatal(
            SqlState::PROTOCOL_VIOLATION,
            format!("unexpected message type \"{}\"", char::from(body[0]).escape_default()),
        )),
        Err(error) => Err(SqlError::fatal(SqlState::PROTOCOL_VIOLATION, error.message().to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_read() {
        let mut body = vec![b'r'];
        for number in [1u64, 2, 3, 4] {
            body.extend(number.to_be_bytes());
        }
        body.push(1);
        let status = Status { written: Lsn(1), flushed: Lsn(2), applied: Lsn(3), time: 4, asks: true };
        assert_eq!(reply(&body).unwrap(), Reply::Status(status));
        for length in 0..body.len() {
            assert!(reply(&body[..length]).is_err());
        }
        body.push(0);
        assert_eq!(reply(&body).unwrap_err().message(), "invalid message format");
    }

    #[test]
    fn feedback_is_read_and_others_are_refused() {
        let mut body = vec![b'h'];
        body.extend(9u64.to_be_bytes());
        for number in [1u32, 2, 3, 4] {
            body.extend(number.to_be_bytes());
        }
        let feedback = Feedback { time: 9, xmin: (1, 2), catalog_xmin: (3, 4) };
        assert_eq!(reply(&body).unwrap(), Reply::Feedback(feedback));
        let error = reply(b"\x01abc").unwrap_err();
        assert_eq!(error.message(), "unexpected message type \"\\u{1}\"");
        assert_eq!(error.report().severity, base::Severity::Fatal);
    }

    #[test]
    fn what_is_sent_has_its_layout() {
        let mut out = Vec::new();
        log_data(&mut out, Lsn(1), Lsn(2), 3);
        assert_eq!((out[0], out.len(), out[8], out[16], out[24]), (b'w', 25, 1, 2, 3));
        let alive = keepalive(Lsn(5), 6, true);
        assert_eq!((alive[0], alive.len(), alive[8], alive[16], alive[17]), (b'k', 18, 5, 6, 1));
        out.extend(b"log");
        let sent = Message::Log { start: Lsn(1), end: Lsn(2), time: 3, bytes: b"log" };
        assert_eq!(message(&out).unwrap(), sent);
        assert_eq!(message(&alive).unwrap(), Message::Alive { end: Lsn(5), time: 6, asks: true });
        assert!(message(&out[..24]).is_err() && message(&alive[..17]).is_err() && message(b"").is_err());
        assert_eq!(message(b"x").unwrap_err().message(), "invalid replication message type 120");
    }

    #[test]
    fn what_a_receiver_says_is_read_as_it_was_meant() {
        let status = Status { written: Lsn(1), flushed: Lsn(2), applied: Lsn(3), time: -4, asks: false };
        assert_eq!(reply(&status.encode()).unwrap(), Reply::Status(status));
        let feedback = Feedback { time: 9, xmin: (1, 2), catalog_xmin: (3, 4) };
        assert_eq!(reply(&feedback.encode()).unwrap(), Reply::Feedback(feedback));
    }
}
