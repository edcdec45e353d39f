//! Reading the fields of a message.

use std::ffi::CStr;

use base::{SqlError, SqlResult, SqlState, sql_err};

/// The rest of a message's body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a>(&'a [u8]);

fn insufficient() -> SqlError {
    SqlError::new(SqlState::PROTOCOL_VIOLATION, "insufficient data left in message")
}

impl<'a> Reader<'a> {
    pub(crate) fn new(body: &'a [u8]) -> Reader<'a> {
        Reader(body)
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        self.0
    }

    pub(crate) fn bytes(&mut self, n: usize) -> SqlResult<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(n).ok_or_else(insufficient)?;
        self.0 = tail;
        Ok(head)
    }

    fn array<const N: usize>(&mut self) -> SqlResult<[u8; N]> {
        let (head, tail) = self.0.split_first_chunk().ok_or_else(insufficient)?;
        self.0 = tail;
        Ok(*head)
    }

    #[inline]
    pub(crate) fn byte(&mut self) -> SqlResult<u8> {
        match self.array::<1>() {
            Ok([byte]) => Ok(byte),
            Err(_) => Err(sql_err!(PROTOCOL_VIOLATION, "no data left in message")),
        }
    }

    pub(crate) fn u16(&mut self) -> SqlResult<u16> {
        self.array().map(u16::from_be_bytes)
    }

    pub(crate) fn i32(&mut self) -> SqlResult<i32> {
        self.array().map(i32::from_be_bytes)
    }

    pub(crate) fn u64(&mut self) -> SqlResult<u64> {
        self.array().map(u64::from_be_bytes)
    }

    /// A string that ends with a zero byte.
    pub(crate) fn cstr_bytes(&mut self) -> SqlResult<&'a [u8]> {
        match CStr::from_bytes_until_nul(self.0) {
            Ok(text) => {
                self.0 = &self.0[text.count_bytes() + 1..];
                Ok(text.to_bytes())
            }
            Err(_) => Err(sql_err!(PROTOCOL_VIOLATION, "invalid string in message")),
        }
    }

    #[inline]
    pub(crate) fn cstr(&mut self) -> SqlResult<&'a str> {
        // The unnamed statement and the unnamed portal: the most frequent names by far.
        if let Some((0, rest)) = self.0.split_first() {
            self.0 = rest;
            return Ok("");
        }
        check_utf8(self.cstr_bytes()?)
    }

    /// Fails unless everything was read.
    pub(crate) fn end(&self) -> SqlResult<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        Err(sql_err!(PROTOCOL_VIOLATION, "invalid message format"))
    }
}

/// Text in the server's encoding, or PostgreSQL's error 22021 naming the offending bytes.
pub fn check_utf8(bytes: &[u8]) -> SqlResult<&str> {
    std::str::from_utf8(bytes).map_err(|error| {
        let bad = &bytes[error.valid_up_to()..];
        // PostgreSQL shows as many bytes as the first one promises.
        let promised = match bad[0] {
            0xC0..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF7 => 4,
            _ => 1,
        };
        let shown: Vec<String> = bad.iter().take(promised).map(|b| format!("0x{b:02x}")).collect();
        sql_err!(
            CHARACTER_NOT_IN_REPERTOIRE,
            "invalid byte sequence for encoding \"UTF8\": {}",
            shown.join(" ")
        )
    })
}
