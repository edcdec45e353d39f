//! # What
//! How texts go in and out: between a database's encoding and that of a client or a file.
//!
//! # Layout
//! In a database with the encoding `SQL_ASCII` a text is any bytes but zeros. Inside the server it is UTF-8 nevertheless: a byte `b` above those of
//! ASCII is the character U+EF00 + `b`, of Unicode's private use ([`to_inside`], [`to_outside`]). So a byte is a character to everything that counts,
//! compares, cuts or matches characters, it has neither case nor class, and the order of texts is that of their bytes.
//!
//! # Invariants
//! 1. Such characters are in texts of databases with that encoding only. What leaves one has bytes in their place.
//! 2. Characters beyond ASCII that are none of those came from elsewhere (names in shared catalogs) and leave as the bytes that they are.
//!
//! # PostgreSQL counterpart and differences
//! `pg_any_to_server`, `pg_server_to_any`. A byte above those of ASCII takes three in rows and indexes, where PostgreSQL stores one: that tells in
//! `pg_column_size`, and in how long a name or an indexed value can be.

use std::borrow::Cow;

use base::{Encoding, SqlResult, sql_err};

use super::{invalid, plain, whole_characters};
use crate::piece;
use crate::text;

/// The character of byte 0.
const FIRST: u32 = 0xEF00;

/// The character that a byte is inside a server whose texts are bytes.
pub fn inside(byte: u8) -> char {
    match byte {
        0x80.. => char::from_u32(FIRST + u32::from(byte)).unwrap_or_default(),
        _ => char::from(byte),
    }
}

/// The byte that a character stands for in a text that is bytes.
pub fn byte_of(character: char) -> Option<u8> {
    match u32::from(character) {
        code @ ..0x80 => Some(code as u8),
        code @ 0xEF80..=0xEFFF => Some((code - FIRST) as u8),
        _ => None,
    }
}

/// Whether texts among these bytes have characters that stand for bytes.
pub fn has_bytes(texts: &[u8]) -> bool {
    texts.windows(3).any(|bytes| matches!(bytes, [0xEE, 0xBE | 0xBF, 0x80..=0xBF]))
}

/// Appends bytes as a text of a database whose texts are bytes.
pub(crate) fn to_inside(bytes: &[u8], out: &mut String) -> SqlResult<()> {
    for piece in piece::slices(bytes) {
        let piece = piece?;
        match plain(piece) {
            all if all == piece.len() => out.push_str(crate::value::str_of(piece)),
            _ => {
                if let Some(zero) = memchr::memchr(0, piece) {
                    return Err(invalid(Encoding::SqlAscii, &piece[zero..=zero]));
                }
                out.extend(piece.iter().map(|byte| inside(*byte)));
            }
        }
    }
    Ok(())
}

/// Appends the bytes that such a text is.
pub(crate) fn to_outside(text: &str, out: &mut Vec<u8>) -> SqlResult<()> {
    for piece in piece::texts(text) {
        push_outside(piece?, out);
    }
    Ok(())
}

fn push_outside(text: &str, out: &mut Vec<u8>) {
    if text.is_ascii() {
        out.extend_from_slice(text.as_bytes());
        return;
    }
    for character in text.chars() {
        match byte_of(character) {
            Some(byte) => out.push(byte),
            None => out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
}

/// What hashes and the like go by: the bytes of a text of the running fiber's database, however long it takes.
pub(crate) fn hashed_bytes(text: &[u8]) -> Cow<'_, [u8]> {
    if text.is_ascii() || !text::texts_are_bytes() {
        return Cow::Borrowed(text);
    }
    let mut out = Vec::with_capacity(text.len());
    push_outside(crate::value::str_of(text), &mut out);
    Cow::Owned(out)
}

/// The bytes that a text of the running fiber's database is.
pub fn bytes_of(text: &[u8]) -> SqlResult<Cow<'_, [u8]>> {
    if !text::texts_are_bytes() || text.is_ascii() {
        return Ok(Cow::Borrowed(text));
    }
    let mut out = Vec::with_capacity(text.len());
    to_outside(crate::value::str_of(text), &mut out)?;
    Ok(Cow::Owned(out))
}

/// The text of the running fiber's database that these bytes are, or `invalid byte sequence`.
pub fn text_of(bytes: &[u8]) -> SqlResult<Cow<'_, str>> {
    if !text::texts_are_bytes() {
        return text::check_utf8(bytes).map(Cow::Borrowed);
    }
    let mut out = String::with_capacity(bytes.len());
    to_inside(bytes, &mut out)?;
    Ok(Cow::Owned(out))
}

/// What such a text is to those outside of the database, as far as it is UTF-8: for the log, and views that all see.
pub fn shown_outside(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    push_outside(text, &mut out);
    String::from_utf8(out).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// A way for texts on which something happens to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// Whether the database's texts are bytes; else they are UTF-8.
    bytes: bool,
    outside: Encoding,
}

impl Passage {
    /// Between a database with the encoding `server` and a client or file with the encoding `outside`. None: texts go as they are.
    pub fn new(server: Encoding, outside: Encoding) -> Option<Passage> {
        let bytes = server == Encoding::SqlAscii;
        (bytes || outside.is_converted()).then_some(Passage { bytes, outside })
    }

    /// Appends what came as text of the server. What stands before a character that cannot be read has been appended when it fails.
    pub fn decode(self, bytes: &[u8], out: &mut String) -> SqlResult<()> {
        if self.bytes
            && !self.outside.is_of_servers()
            && let Some(byte) = bytes.iter().find(|byte| !byte.is_ascii())
        {
            // Bytes of its longer characters could be taken for quotes and backslashes.
            return Err(sql_err!(
                CHARACTER_NOT_IN_REPERTOIRE,
                "invalid byte value for encoding \"SQL_ASCII\": 0x{byte:02x}"
            ));
        }
        self.decode_whole(bytes, true, out).map(drop)
    }

    /// As [`decode`](Self::decode); unless these are the `last` bytes, a character that is not all there is left. Returns how many bytes were read.
    pub fn decode_whole(self, bytes: &[u8], last: bool, out: &mut String) -> SqlResult<usize> {
        if !self.bytes {
            return super::decode_whole(self.outside, bytes, last, out);
        }
        let whole = match self.outside.max_length() {
            1 => bytes.len(),
            _ => whole_characters(self.outside, bytes, last)?.0,
        };
        to_inside(&bytes[..whole], out)?;
        Ok(whole)
    }

    /// Appends a text of the server as it is to go.
    pub fn encode(self, text: &str, out: &mut Vec<u8>) -> SqlResult<()> {
        if !self.bytes {
            return super::encode(self.outside, text, out);
        }
        let start = out.len();
        to_outside(text, out)?;
        if self.outside.max_length() > 1 && !out[start..].is_ascii() {
            // Who asked for characters of an encoding is to get no others.
            whole_characters(self.outside, &out[start..], true)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(passage: Passage, bytes: &[u8]) -> Result<String, String> {
        let mut text = String::new();
        passage.decode(bytes, &mut text).map(|()| text).map_err(|error| error.message().to_owned())
    }

    #[test]
    fn all_bytes_but_zero_come_back() {
        let passage = Passage::new(Encoding::SqlAscii, Encoding::Latin1).unwrap();
        let all: Vec<u8> = (1..=255).collect();
        let text = read(passage, &all).unwrap();
        assert_eq!(text.chars().count(), 255);
        assert!(has_bytes(text.as_bytes()) && !has_bytes("aé\u{ee80}\u{f000}".as_bytes()));
        let mut sorted: Vec<char> = text.chars().collect();
        sorted.sort_unstable();
        assert!(sorted.iter().copied().eq(text.chars()), "the order is that of the bytes");
        let mut out = Vec::new();
        passage.encode(&text, &mut out).unwrap();
        assert_eq!(out, all);
        assert_eq!(
            read(passage, b"a\0").unwrap_err(),
            "invalid byte sequence for encoding \"SQL_ASCII\": 0x00"
        );
    }

    #[test]
    fn bytes_must_be_characters_of_the_clients_encoding() {
        let utf8 = Passage::new(Encoding::SqlAscii, Encoding::Utf8).unwrap();
        let text = read(utf8, "é".as_bytes()).unwrap();
        assert_eq!(text.chars().count(), 2);
        assert_eq!(read(utf8, b"a\xe9").unwrap_err(), "invalid byte sequence for encoding \"UTF8\": 0xe9");
        assert!(utf8.encode(&text[..3], &mut Vec::new()).is_err());
        let sjis = Passage::new(Encoding::SqlAscii, Encoding::Sjis).unwrap();
        assert_eq!(read(sjis, b"\x95\\").unwrap_err(), "invalid byte value for encoding \"SQL_ASCII\": 0x95");
        let mut out = String::new();
        assert_eq!(utf8.decode_whole(b"a\xc3", false, &mut out).unwrap(), 1);
        assert!(utf8.decode_whole(b"a\xc3", true, &mut out).is_err());
        assert_eq!(Passage::new(Encoding::Utf8, Encoding::SqlAscii), None);
    }

    #[test]
    fn characters_from_elsewhere_go_as_they_are() {
        let mut out = Vec::new();
        to_outside("aé\u{efff}", &mut out).unwrap();
        assert_eq!(out, b"a\xc3\xa9\xff");
        assert_eq!(shown_outside("a\u{efc3}\u{efa9}\u{efff}"), "aé\u{fffd}");
    }
}
