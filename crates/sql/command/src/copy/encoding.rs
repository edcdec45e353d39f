//! Files whose texts are not what the server has inside: those of COPY's ENCODING, or of a client's encoding.

use base::{Encoding, SqlError, SqlResult};
use session::Session;
use types::encoding::Passage;
use types::text::texts_are_bytes;

use super::options::{CopyOptions, Format};

/// How a text or CSV file, or the texts in a binary one, are converted; none where there is nothing to convert.
pub(super) fn of_file(session: &Session, options: &CopyOptions, from: bool) -> SqlResult<Option<Passage>> {
    let own = options.encoding.filter(|_| options.format != Format::Binary);
    let encoding = own.unwrap_or_else(|| session.encoding());
    match from {
        _ if texts_are_bytes() => {}
        true => types::encoding::check_known(encoding, Encoding::Utf8)?,
        false => types::encoding::check_known(Encoding::Utf8, encoding)?,
    }
    Ok(session.passage_of(encoding))
}

/// Converts a file's bytes as they come.
pub(super) struct Decoder {
    passage: Passage,
    /// The beginning of a character whose end has not come.
    begun: Vec<u8>,
    /// What is wrong behind what was given out last: the lines before it come first.
    failed: Option<SqlError>,
}

impl Decoder {
    pub(super) fn new(passage: Passage) -> Decoder {
        Decoder { passage, begun: Vec::new(), failed: None }
    }

    /// The next bytes as text of the server; `None` is the end, to which nothing may be missing.
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
        match self.passage.decode_whole(&all, last, &mut text) {
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

    fn from(outside: Encoding) -> Decoder {
        Decoder::new(Passage::new(Encoding::Utf8, outside).unwrap())
    }

    #[test]
    fn characters_may_come_in_parts() {
        let mut decoder = from(Encoding::Sjis);
        let mut out = Vec::new();
        for byte in b"a\x83\\\n\x95\x5c" {
            out.extend(decoder.decode(Some(vec![*byte])).unwrap().unwrap());
        }
        assert_eq!(String::from_utf8(out).unwrap(), "aソ\n表");
        assert_eq!(decoder.decode(None).unwrap(), None);
    }

    #[test]
    fn what_comes_before_a_bad_character_is_given_out_first() {
        let mut decoder = from(Encoding::Win1252);
        assert_eq!(decoder.decode(Some(b"\xe9\n\x81x".to_vec())).unwrap().unwrap(), "é\n".as_bytes());
        assert_eq!(decoder.decode(Some(b"y".to_vec())).unwrap_err().code().as_str(), "22P05");
        let mut cut = from(Encoding::Big5);
        assert_eq!(cut.decode(Some(b"\xa4".to_vec())).unwrap().unwrap(), b"");
        assert_eq!(cut.decode(None).unwrap_err().code().as_str(), "22021");
    }
}
