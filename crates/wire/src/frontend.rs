//! Messages from the client.

use base::{SqlError, SqlResult, SqlState, sql_err};

use crate::reader::Reader;

/// Longest message of the types that carry no data of the user's.
const SMALL_LIMIT: usize = 10_000;
/// Longest message of any type: one byte less than the largest allocation of PostgreSQL.
const LARGE_LIMIT: usize = 0x3FFF_FFFE;
/// Longest message while the client authenticates.
const AUTHENTICATION_LIMIT: usize = 65_535;

/// A whole message, not yet decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// First byte.
    pub kind: u8,
    /// What follows the length.
    pub body: &'a [u8],
    /// Bytes of the buffer that the message takes.
    pub length: usize,
}

/// The message at the head of the buffer, once it is all there.
///
/// An error here is FATAL: the stream is out of step, and the connection is to be closed.
#[inline]
pub fn frame(buffer: &[u8]) -> SqlResult<Option<Frame<'_>>> {
    let Some((&kind, rest)) = buffer.split_first() else { return Ok(None) };
    let limit = match kind {
        b'Q' | b'F' | b'P' | b'B' | b'd' => LARGE_LIMIT,
        b'C' | b'D' | b'E' | b'H' | b'S' | b'X' | b'c' | b'f' => SMALL_LIMIT,
        other => {
            return Err(SqlError::fatal(
                SqlState::PROTOCOL_VIOLATION,
                format!("invalid frontend message type {other}"),
            ));
        }
    };
    limited_frame(kind, rest, limit)
}

/// As [`frame`], for the answers to authentication requests: only `p` may come.
///
/// `expected` names them in the error: `password response` or `SASL response`.
pub fn authentication_frame<'a>(buffer: &'a [u8], expected: &str) -> SqlResult<Option<Frame<'a>>> {
    let Some((&kind, rest)) = buffer.split_first() else { return Ok(None) };
    if kind != b'p' {
        return Err(SqlError::fatal(
            SqlState::PROTOCOL_VIOLATION,
            format!("expected {expected}, got message type {kind}"),
        ));
    }
    limited_frame(kind, rest, AUTHENTICATION_LIMIT)
}

#[inline]
fn limited_frame(kind: u8, rest: &[u8], limit: usize) -> SqlResult<Option<Frame<'_>>> {
    let Some(length) = rest.first_chunk::<4>() else { return Ok(None) };
    let length = u32::from_be_bytes(*length) as usize;
    if length < 4 || length > limit {
        return Err(SqlError::fatal(SqlState::PROTOCOL_VIOLATION, "invalid message length"));
    }
    Ok(rest.get(4..length).map(|body| Frame { kind, body, length: length + 1 }))
}

/// The text of a password message. Errors are FATAL.
pub fn password<'a>(frame: &Frame<'a>) -> SqlResult<&'a str> {
    let wrong = |code, message| SqlError::fatal(code, message);
    match frame.body.split_last() {
        Some((0, text)) if !text.contains(&0) => {
            if text.is_empty() {
                return Err(wrong(SqlState::INVALID_PASSWORD, "empty password returned by client"));
            }
            crate::check_utf8(text)
        }
        _ => Err(wrong(SqlState::PROTOCOL_VIOLATION, "invalid password packet size")),
    }
}

/// What Describe and Close name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target<'a> {
    /// A prepared statement; the unnamed one has an empty name.
    Statement(&'a str),
    /// A portal; the unnamed one has an empty name.
    Portal(&'a str),
}

/// A decoded message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frontend<'a> {
    /// Simple query: one string of statements.
    Query(&'a str),
    /// Makes a prepared statement.
    Parse {
        /// Its name; empty for the unnamed one.
        name: &'a str,
        /// Its text.
        query: &'a str,
        /// Types of the first parameters; 0 leaves one open.
        types: Types<'a>,
    },
    /// Makes a portal.
    Bind(Bind<'a>),
    /// Runs a portal.
    Execute {
        /// Its name.
        portal: &'a str,
        /// Rows at most; 0: all.
        max_rows: i32,
    },
    /// Asks for parameter and result types.
    Describe(Target<'a>),
    /// Drops a statement or portal.
    Close(Target<'a>),
    /// Asks for what is in the output buffer.
    Flush,
    /// Ends a series of extended-protocol messages.
    Sync,
    /// Data for COPY FROM STDIN; need not end at a line's end.
    CopyData(&'a [u8]),
    /// End of the data.
    CopyDone,
    /// The client gives COPY up, for this reason.
    CopyFail(&'a str),
    /// Calls a function by its OID.
    FunctionCall(FunctionCall<'a>),
    /// Ends the session.
    Terminate,
}

/// A FunctionCall message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionCall<'a> {
    /// OID of the function.
    pub function: u32,
    /// Formats of the arguments.
    pub formats: Formats<'a>,
    count: usize,
    values: &'a [u8],
    /// Format of the result.
    pub result_format: i16,
}

impl<'a> FunctionCall<'a> {
    /// How many arguments there are.
    pub fn argument_count(&self) -> usize {
        self.count
    }

    /// The arguments; `None` is NULL.
    pub fn arguments(&self) -> impl Iterator<Item = Option<&'a [u8]>> + use<'a> {
        Values(self.values)
    }
}

/// Parameter types of a Parse message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Types<'a>(&'a [u8]);

impl<'a> Types<'a> {
    /// How many are given.
    pub fn len(&self) -> usize {
        self.0.len() / 4
    }

    /// Whether none is given.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Their OIDs.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = u32> + use<'a> {
        self.0.chunks_exact(4).map(|b| u32::from_be_bytes([b[0], b[1], b[2], b[3]]))
    }
}

/// A list of format codes: none (all text), one (for all) or one for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Formats<'a>(&'a [u8]);

impl<'a> Formats<'a> {
    /// How many are given.
    pub fn len(&self) -> usize {
        self.0.len() / 2
    }

    /// Whether none is given.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// As they are given.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = i16> + use<'a> {
        self.0.chunks_exact(2).map(|b| i16::from_be_bytes([b[0], b[1]]))
    }

    /// Format of value `i`: 0 text, 1 binary; other codes are the caller's to refuse.
    pub fn get(&self, i: usize) -> i16 {
        let at = match self.len() {
            0 => return 0,
            1 => 0,
            _ => i * 2,
        };
        self.0.get(at..at + 2).map_or(0, |b| i16::from_be_bytes([b[0], b[1]]))
    }
}

/// A Bind message. Its framing was checked; the values were not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bind<'a> {
    /// Portal to make.
    pub portal: &'a str,
    /// Statement to make it of.
    pub statement: &'a str,
    /// Formats of the parameters.
    pub parameter_formats: Formats<'a>,
    count: usize,
    values: &'a [u8],
    /// Formats wanted for the results.
    pub result_formats: Formats<'a>,
}

impl<'a> Bind<'a> {
    /// How many parameters there are.
    pub fn parameter_count(&self) -> usize {
        self.count
    }

    /// The parameters' bytes; `None` is NULL.
    pub fn parameters(&self) -> impl Iterator<Item = Option<&'a [u8]>> + use<'a> {
        Values(self.values)
    }
}

struct Values<'a>(&'a [u8]);

impl<'a> Iterator for Values<'a> {
    type Item = Option<&'a [u8]>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        // The framing was checked when the message was decoded: what is missing can only be the end.
        let (length, rest) = self.0.split_first_chunk()?;
        let (value, rest) = match usize::try_from(i32::from_be_bytes(*length)) {
            Ok(length) => {
                let (value, rest) = rest.split_at_checked(length)?;
                (Some(value), rest)
            }
            Err(_) => (None, rest),
        };
        self.0 = rest;
        Some(value)
    }
}

/// Decodes a message. Errors are ERRORs: the session skips to the next Sync after them.
#[inline]
pub fn decode<'a>(frame: &Frame<'a>) -> SqlResult<Frontend<'a>> {
    let mut reader = Reader::new(frame.body);
    let message = match frame.kind {
        b'Q' => Frontend::Query(reader.cstr()?),
        b'P' => {
            let (name, query) = (reader.cstr()?, reader.cstr()?);
            let count = usize::from(reader.u16()?);
            Frontend::Parse { name, query, types: Types(reader.bytes(4 * count)?) }
        }
        b'B' => Frontend::Bind(bind(&mut reader)?),
        b'E' => Frontend::Execute { portal: reader.cstr()?, max_rows: reader.i32()? },
        b'D' => Frontend::Describe(target(&mut reader, "DESCRIBE")?),
        b'C' => Frontend::Close(target(&mut reader, "CLOSE")?),
        b'H' => Frontend::Flush,
        b'S' => Frontend::Sync,
        b'X' => return Ok(Frontend::Terminate),
        b'd' => return Ok(Frontend::CopyData(frame.body)),
        b'c' => return Ok(Frontend::CopyDone),
        b'f' => Frontend::CopyFail(reader.cstr()?),
        b'F' => Frontend::FunctionCall(function_call(&mut reader)?),
        other => {
            return Err(SqlError::fatal(
                SqlState::PROTOCOL_VIOLATION,
                format!("invalid frontend message type {other}"),
            ));
        }
    };
    reader.end()?;
    Ok(message)
}

#[inline]
fn target<'a>(reader: &mut Reader<'a>, what: &str) -> SqlResult<Target<'a>> {
    let kind = reader.byte()?;
    let name = reader.cstr()?;
    match kind {
        b'S' => Ok(Target::Statement(name)),
        b'P' => Ok(Target::Portal(name)),
        other => Err(sql_err!(PROTOCOL_VIOLATION, "invalid {what} message subtype {other}")),
    }
}

#[inline]
fn bind<'a>(reader: &mut Reader<'a>) -> SqlResult<Bind<'a>> {
    let (portal, statement) = (reader.cstr()?, reader.cstr()?);
    let parameter_formats = formats(reader)?;
    let (count, values) = values(reader)?;
    let formats_given = parameter_formats.len();
    if formats_given > 1 && formats_given != count {
        return Err(sql_err!(
            PROTOCOL_VIOLATION,
            "bind message has {formats_given} parameter formats but {count} parameters"
        ));
    }
    let result_formats = formats(reader)?;
    Ok(Bind { portal, statement, parameter_formats, count, values, result_formats })
}

fn function_call<'a>(reader: &mut Reader<'a>) -> SqlResult<FunctionCall<'a>> {
    let function = reader.i32()? as u32;
    let formats = formats(reader)?;
    let (count, values) = values(reader)?;
    Ok(FunctionCall { function, formats, count, values, result_format: reader.u16()? as i16 })
}

/// How many values there are, and their framing.
#[inline]
fn values<'a>(reader: &mut Reader<'a>) -> SqlResult<(usize, &'a [u8])> {
    let count = usize::from(reader.u16()?);
    let from = reader.rest();
    for _ in 0..count {
        let length = reader.i32()?;
        // -1 is NULL; PostgreSQL reads other negative lengths as too long.
        if length != -1 {
            let length = usize::try_from(length).unwrap_or(usize::MAX);
            reader.bytes(length)?;
        }
    }
    Ok((count, &from[..from.len() - reader.rest().len()]))
}

fn formats<'a>(reader: &mut Reader<'a>) -> SqlResult<Formats<'a>> {
    let count = usize::from(reader.u16()?);
    reader.bytes(2 * count).map(Formats)
}

/// The client's choice in its first answer to an offer of SASL mechanisms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SaslInitialResponse<'a> {
    /// Mechanism chosen.
    pub mechanism: &'a str,
    /// First message of the mechanism, if it came along.
    pub data: Option<&'a [u8]>,
}

/// Decodes a SASLInitialResponse (`p`).
pub fn sasl_initial_response<'a>(frame: &Frame<'a>) -> SqlResult<SaslInitialResponse<'a>> {
    let mut reader = Reader::new(frame.body);
    let mechanism = reader.cstr()?;
    let data = match reader.i32()? {
        -1 => None,
        length => Some(reader.bytes(usize::try_from(length).unwrap_or(usize::MAX))?),
    };
    reader.end()?;
    Ok(SaslInitialResponse { mechanism, data })
}
