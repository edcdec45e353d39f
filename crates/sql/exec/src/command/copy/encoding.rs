//! Files that are not in UTF-8: those of COPY's ENCODING, or of a client's encoding.

use base::{Encoding, SqlError, SqlResult};

use super::options::{CopyOptions, Format};
use crate::session::Session;

/// The encoding that a text or CSV file, or the texts in a binary one, are converted from or to; none where there is nothing to convert.
pub(super) fn of_file(session: &Session, options: &CopyOptions, from: bool) -> SqlResult<Option<Encoding>> {
    let own = options.encoding.filter(|_| options.format != Format::Binary);
    let encoding = own.unwrap_or_else(|| session.encoding());
    match from {
        true => types::encoding::check_known(encoding, Encoding::Utf8)?,
        false => types::encoding::check_known(Encoding::Utf8, encoding)?,
    }
    Ok(Some(encoding).filter(|encoding| encoding.is_converted()))
}

/// Converts a file's bytes as they come.
pub(super) struct Decoder {
    encoding: Encoding,
    /// The beginning of a character whose end has not come.
    begun: Vec<u8>,
    /// What is wrong behind what was given out last: the lines before it come first.
    failed: Option<SqlError>,
}

impl Decoder {
    pub(super) fn new(encoding: Encoding) -> Decoder {
        Decoder { encoding, begun: Vec::new(), failed: None }
    }

    /// The next bytes as UTF-8; `None` is the end, to which nothing may be missing.
    pub(super) fn decode(&mut self, bytes: Option<Vec<u8>>) -> SqlResult<Option<Vec<u8>>> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let last = bytes.is_none();
        let mut all = std::mem::take(&mut self.begun);
        if last && all.is_empty() {
            return Ok(None);
        }
        all.extend(bytes.unwrap_or_default());
        let mut text = String::with_capacity(all.len());
        match types::encoding::decode_whole(self.encoding, &all, last, &mut text) {
            Ok(read) => self.begun = all.split_off(read),
            Err(error) if text.is_empty() => return Err(error),
            Err(error) => self.failed = Some(error),
        }
        Ok(Some(text.into_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_may_come_in_parts() {
        let mut decoder = Decoder::new(Encoding::Sjis);
        let mut out = Vec::new();
        for byte in b"a\x83\\\n\x95\x5c" {
            out.extend(decoder.decode(Some(vec![*byte])).unwrap().unwrap());
        }
        assert_eq!(String::from_utf8(out).unwrap(), "aソ\n表");
        assert_eq!(decoder.decode(None).unwrap(), None);
    }

    #[test]
    fn what_comes_before_a_bad_character_is_given_out_first() {
        let mut decoder = Decoder::new(Encoding::Win1252);
        assert_eq!(decoder.decode(Some(b"\xe9\n\x81x".to_vec())).unwrap().unwrap(), "é\n".as_bytes());
        assert_eq!(decoder.decode(Some(b"y".to_vec())).unwrap_err().code().as_str(), "22P05");
        let mut cut = Decoder::new(Encoding::Big5);
        assert_eq!(cut.decode(Some(b"\xa4".to_vec())).unwrap().unwrap(), b"");
        assert_eq!(cut.decode(None).unwrap_err().code().as_str(), "22021");
    }
}
