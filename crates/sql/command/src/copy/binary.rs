//! # What
//! COPY's binary format: a signature, flags and an extension; rows of counted fields; the end marker.
//!
//! # Invariants
//! 1. No input makes this panic; what is not of the format is an error of class 22P04.

use base::{SqlError, SqlResult, sql_err};

/// What a file begins with.
const SIGNATURE: &[u8; 11] = b"PGCOPY\n\xff\r\n\0";
/// Flags that a reader must know; there are none yet.
const CRITICAL: u32 = 0xffff_0000;
/// Rows with OIDs, which tables no longer have.
const WITH_OIDS: u32 = 1 << 16;

fn bad(message: impl Into<String>) -> SqlError {
    SqlError::new(base::SqlState::BAD_COPY_FILE_FORMAT, message)
}

/// What stands before the first row.
pub(super) fn header() -> Vec<u8> {
    let mut out = SIGNATURE.to_vec();
    out.extend_from_slice(&[0; 8]);
    out
}

/// What stands behind the last row.
pub(super) const TRAILER: [u8; 2] = (-1i16).to_be_bytes();

/// Takes bytes as they come and cuts them.
#[derive(Default)]
pub(super) struct Reader {
    buffer: Vec<u8>,
    at: usize,
}

/// Where more bytes come from; `None` at the end.
pub(super) type More<'m> = dyn FnMut() -> SqlResult<Option<Vec<u8>>> + 'm;

impl Reader {
    /// The next `n` bytes; `None` if the input ends before.
    fn take(&mut self, n: usize, more: &mut More<'_>) -> SqlResult<Option<&[u8]>> {
        while self.buffer.len() - self.at < n {
            self.buffer.drain(..self.at);
            self.at = 0;
            match more()? {
                Some(bytes) => self.buffer.extend_from_slice(&bytes),
                None => return Ok(None),
            }
        }
        self.at += n;
        Ok(Some(&self.buffer[self.at - n..self.at]))
    }

    fn word(&mut self, more: &mut More<'_>) -> SqlResult<Option<u32>> {
        let bytes = self.take(4, more)?;
        Ok(bytes.and_then(|b| b.try_into().ok()).map(u32::from_be_bytes))
    }

    /// Reads what stands before the first row.
    pub(super) fn header(&mut self, more: &mut More<'_>) -> SqlResult<()> {
        if self.take(SIGNATURE.len(), more)? != Some(SIGNATURE) {
            return Err(bad("COPY file signature not recognized"));
        }
        let flags = self.word(more)?.ok_or_else(|| bad("invalid COPY file header (missing flags)"))?;
        if flags & WITH_OIDS != 0 {
            return Err(bad("invalid COPY file header (WITH OIDS)"));
        }
        if flags & CRITICAL != 0 {
            return Err(bad("unrecognized critical flags in COPY file header"));
        }
        let length = self.word(more)?.map(|n| n as i32);
        let length = length.ok_or_else(|| bad("invalid COPY file header (missing length)"))?;
        let length = usize::try_from(length).map_err(|_| bad("invalid COPY file header (missing length)"))?;
        for _ in 0..length {
            if self.take(1, more)?.is_none() {
                return Err(bad("invalid COPY file header (wrong length)"));
            }
        }
        Ok(())
    }

    /// Begins a row of `expected` fields; false at the end.
    pub(super) fn row(&mut self, expected: usize, more: &mut More<'_>) -> SqlResult<bool> {
        let Some(count) = self.take(2, more)?.and_then(|b| b.try_into().ok()).map(i16::from_be_bytes) else {
            return Ok(false);
        };
        if count == -1 {
            if self.take(1, more)?.is_some() {
                return Err(bad("received copy data after EOF marker"));
            }
            return Ok(false);
        }
        if usize::try_from(count) != Ok(expected) {
            return Err(bad(format!("row field count is {count}, expected {expected}")));
        }
        Ok(true)
    }

    /// The next field; `None` is NULL.
    pub(super) fn field(&mut self, more: &mut More<'_>) -> SqlResult<Option<&[u8]>> {
        let size = self.word(more)?.ok_or_else(|| bad("unexpected EOF in COPY data"))? as i32;
        if size == -1 {
            return Ok(None);
        }
        let size = usize::try_from(size).map_err(|_| sql_err!(BAD_COPY_FILE_FORMAT, "invalid field size"))?;
        self.take(size, more)?.map(Some).ok_or_else(|| bad("unexpected EOF in COPY data"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(bytes: &[u8], size: usize) -> impl FnMut() -> SqlResult<Option<Vec<u8>>> + use<> {
        let mut rest: Vec<Vec<u8>> = bytes.chunks(size).map(<[u8]>::to_vec).rev().collect();
        move || Ok(rest.pop())
    }

    fn sample() -> Vec<u8> {
        let mut out = header();
        out.extend_from_slice(&[0, 2, 0, 0, 0, 1, b'x', 255, 255, 255, 255]);
        out.extend_from_slice(&TRAILER);
        out
    }

    #[test]
    fn rows_come_back_however_they_are_cut() {
        for size in 1..30 {
            let (mut reader, mut more) = (Reader::default(), pieces(&sample(), size));
            reader.header(&mut more).unwrap();
            assert!(reader.row(2, &mut more).unwrap());
            assert_eq!(reader.field(&mut more).unwrap(), Some(&b"x"[..]));
            assert_eq!(reader.field(&mut more).unwrap(), None);
            assert!(!reader.row(2, &mut more).unwrap());
        }
    }

    #[test]
    fn damage_is_an_error() {
        let read = |bytes: &[u8]| -> SqlResult<()> {
            let (mut reader, mut more) = (Reader::default(), pieces(bytes, 7));
            reader.header(&mut more)?;
            while reader.row(2, &mut more)? {
                reader.field(&mut more)?;
                reader.field(&mut more)?;
            }
            Ok(())
        };
        read(&sample()).unwrap();
        let cut = sample();
        assert_eq!(read(&cut[..5]).unwrap_err().message(), "COPY file signature not recognized");
        assert_eq!(read(&cut[..13]).unwrap_err().message(), "invalid COPY file header (missing flags)");
        assert_eq!(read(&cut[..24]).unwrap_err().message(), "unexpected EOF in COPY data");
        let mut more = sample();
        more.push(0);
        assert_eq!(read(&more).unwrap_err().message(), "received copy data after EOF marker");
        let mut wrong = sample();
        wrong[20] = 3;
        assert_eq!(read(&wrong).unwrap_err().message(), "row field count is 3, expected 2");
    }
}
