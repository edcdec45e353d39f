//! # What
//! Text in other encodings than UTF-8: what clients send and want, files of COPY, `convert` and its kin.
//!
//! # Layout
//! `table`: tables between bytes and code points, and the encodings of one byte. `multi`: those of more. `pairs`: conversions that go past
//! UTF-8. `passage`: between a database's encoding and that of a client or file. `values`: texts inside of values in binary form. `functions`: what SQL calls.
//!
//! # Invariants
//! 1. Text inside the server is UTF-8, in databases with the encoding `SQL_ASCII` too (`passage`); what comes in is converted before it is looked at,
//!    what goes out after it is made.
//! 2. A character is converted here as PostgreSQL 18 does, and refused where that refuses it.
//! 3. An encoding that is not known ([`Encoding::is_known`]) comes no further than the setting or function that names it.
//!
//! # PostgreSQL counterpart and differences
//! `utils/mb`. `EUC_TW`, `EUC_JIS_2004`, `SHIFT_JIS_2004` and `MULE_INTERNAL` are not there: no library has the first three.

mod functions;
mod multi;
mod pairs;
pub(crate) mod passage;
mod table;
mod values;

#[cfg(test)]
mod tests;

use base::{Encoding, SqlError, SqlResult, sql_err};

use crate::piece::{self, Pace};
pub(crate) use functions::FUNCTIONS;
pub use passage::{Passage, byte_of, bytes_of, has_bytes, inside, shown_outside, text_of};
pub use values::{from_client, to_client};

/// Bytes as errors show them.
fn shown(bytes: &[u8]) -> String {
    let shown: Vec<String> = bytes.iter().take(8).map(|byte| format!("0x{byte:02x}")).collect();
    shown.join(" ")
}

/// `invalid byte sequence` (22021) for what `bytes` begin with.
pub(crate) fn invalid(encoding: Encoding, bytes: &[u8]) -> SqlError {
    let length = match (encoding, bytes[0]) {
        (Encoding::Utf8, 0xC0..=0xDF) => 2,
        (Encoding::Utf8, 0xE0..=0xEF) => 3,
        (Encoding::Utf8, 0xF0..=0xF7) => 4,
        (Encoding::Gb18030, 0x80..) if bytes.len() == 1 => 1,
        _ => multi::promised(encoding, bytes),
    };
    sql_err!(
        CHARACTER_NOT_IN_REPERTOIRE,
        "invalid byte sequence for encoding \"{}\": {}",
        encoding.name(),
        shown(&bytes[..length.min(bytes.len())])
    )
}

/// `has no equivalent` (22P05).
fn untranslatable(from: Encoding, to: Encoding, character: &[u8]) -> SqlError {
    sql_err!(
        UNTRANSLATABLE_CHARACTER,
        "character with byte sequence {} in encoding \"{}\" has no equivalent in encoding \"{}\"",
        shown(character),
        from.name(),
        to.name()
    )
}

/// `unsupported Unicode escape sequence` for a character that the running fiber's database has not.
pub(crate) fn untranslatable_escape() -> SqlError {
    sql_err!(UNTRANSLATABLE_CHARACTER, "unsupported Unicode escape sequence").detail(format!(
        "Unicode escape value could not be translated to the server's encoding {}.",
        crate::text::server_encoding().name()
    ))
}

/// Bytes of ASCII without zeros that these begin with.
#[inline]
fn plain(bytes: &[u8]) -> usize {
    bytes.iter().position(|byte| !matches!(byte, 1..=0x7F)).unwrap_or(bytes.len())
}

/// Appends bytes of the encoding as UTF-8. What stands before a character that cannot be read has been appended when it fails.
fn decode(encoding: Encoding, bytes: &[u8], out: &mut String) -> SqlResult<()> {
    decode_whole(encoding, bytes, true, out).map(drop)
}

/// As [`decode`]; unless these are the `last` bytes, a character that is not all there is left. Returns how many bytes were read.
fn decode_whole(encoding: Encoding, bytes: &[u8], last: bool, out: &mut String) -> SqlResult<usize> {
    if !encoding.is_converted() {
        return decode_utf8(bytes, last, out);
    }
    let table = table::table(encoding);
    let (mut at, mut pace) = (0, Pace::new());
    while at < bytes.len() {
        let ascii = plain(&bytes[at..bytes.len().min(at + piece::PIECE)]);
        out.push_str(crate::value::str_of(&bytes[at..at + ascii]));
        at += ascii;
        pace.did(ascii + 1)?;
        let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) else { break };
        if matches!(rest[0], 1..=0x7F) {
            continue;
        }
        let length = multi::promised(encoding, rest);
        if rest.len() < length && !last {
            break;
        }
        let character = rest.get(..length).filter(|character| multi::is_formed(encoding, character));
        let character = character.ok_or_else(|| invalid(encoding, rest))?;
        let key = multi::key(encoding, character);
        let code = match table.decode.get(key) {
            0 => multi::decode_beyond(encoding, key),
            code => Some(code),
        };
        match code.and_then(char::from_u32) {
            Some(found) => out.push(found),
            None => return Err(untranslatable(encoding, Encoding::Utf8, character)),
        }
        at += length;
    }
    Ok(at)
}

/// The bytes without a last character that is not all there, unless these are the last ones.
fn whole_utf8(bytes: &[u8], last: bool) -> &[u8] {
    match crate::value::utf8(bytes) {
        Err(at) if !last && bytes.len() - at < 4 && is_begun(&bytes[at..]) => &bytes[..at],
        _ => bytes,
    }
}

fn decode_utf8(bytes: &[u8], last: bool, out: &mut String) -> SqlResult<usize> {
    let whole = whole_utf8(bytes, last);
    for piece in piece::texts(crate::text::check_utf8(whole)?) {
        out.push_str(piece?);
    }
    Ok(whole.len())
}

/// Whether the bytes are the beginning of a character of UTF-8, and lack its end.
fn is_begun(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
}

/// Appends UTF-8 in the encoding.
fn encode(encoding: Encoding, text: &str, out: &mut Vec<u8>) -> SqlResult<()> {
    if !encoding.is_converted() {
        return piece::append(out, text.as_bytes());
    }
    let (mut rest, mut pace) = (text, Pace::new());
    let table = table::table(encoding);
    while !rest.is_empty() {
        let most = rest.len().min(piece::PIECE);
        let ascii = rest.as_bytes()[..most].iter().position(|byte| !byte.is_ascii()).unwrap_or(most);
        out.extend_from_slice(&rest.as_bytes()[..ascii]);
        rest = &rest[ascii..];
        pace.did(ascii + 1)?;
        let Some(character) = rest.chars().next().filter(|character| !character.is_ascii()) else { continue };
        let (character, behind) = rest.split_at(character.len_utf8());
        let code = character.chars().next().map_or(0, u32::from);
        let bytes = match table.encode.get(code) {
            0 => multi::encode_beyond(encoding, code)
                .ok_or_else(|| untranslatable(Encoding::Utf8, encoding, character.as_bytes()))?,
            bytes => bytes,
        };
        let length = 4 - bytes.leading_zeros() as usize / 8;
        out.extend_from_slice(&bytes.to_be_bytes()[4 - length..]);
        rest = behind;
    }
    Ok(())
}

/// The number of characters of bytes in the encoding, which are checked to be some.
pub fn char_length(encoding: Encoding, bytes: &[u8]) -> SqlResult<usize> {
    whole_characters(encoding, bytes, true).map(|(_, count)| count)
}

/// The bytes that are whole characters of the encoding, which they are checked to be, and how many characters those are. Unless these are the `last`
/// bytes, a character that is not all there is left.
fn whole_characters(encoding: Encoding, bytes: &[u8], last: bool) -> SqlResult<(usize, usize)> {
    if encoding == Encoding::Utf8 {
        let whole = whole_utf8(bytes, last);
        let text = crate::text::check_utf8(whole)?;
        return Ok((whole.len(), crate::text::char_count(text.as_bytes())));
    }
    let (mut at, mut count, mut pace) = (0, 0, Pace::new());
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let length = multi::promised(encoding, rest);
        if rest.len() < length && !last {
            break;
        }
        let formed = rest.get(..length).is_some_and(|character| multi::is_formed(encoding, character));
        if !formed {
            return Err(invalid(encoding, rest));
        }
        at += length;
        count += 1;
        pace.did(length)?;
    }
    Ok((at, count))
}

/// Bytes of one encoding in another.
pub fn convert(bytes: &[u8], from: Encoding, to: Encoding) -> SqlResult<Vec<u8>> {
    char_length(from, bytes)?;
    if from == to || to == Encoding::SqlAscii {
        return piece::copy(bytes);
    }
    if from == Encoding::SqlAscii {
        char_length(to, bytes)?;
        return piece::copy(bytes);
    }
    if from != Encoding::Utf8 && to != Encoding::Utf8 {
        let differences = pairs::differences(from, to).ok_or_else(|| no_conversion(from, to))?;
        return convert_past(bytes, (from, to), differences);
    }
    check_known(from, to)?;
    let (mut text, mut out) = (String::with_capacity(bytes.len()), Vec::with_capacity(bytes.len()));
    decode(from, bytes, &mut text)?;
    encode(to, &text, &mut out)?;
    Ok(out)
}

/// Between two encodings of one byte.
fn convert_past(bytes: &[u8], (from, to): (Encoding, Encoding), differences: &[u8]) -> SqlResult<Vec<u8>> {
    let (reading, writing) = (table::table(from), table::table(to));
    let mut out = Vec::with_capacity(bytes.len());
    for piece in piece::slices(bytes) {
        for &byte in piece? {
            let own = differences.as_chunks::<2>().0.iter().find(|[known, _]| *known == byte);
            let result = match own {
                Some([_, result]) => u32::from(*result),
                None if byte < 0x80 => byte.into(),
                None => writing.encode.get(reading.decode.get(byte.into())),
            };
            if result == 0 {
                return Err(untranslatable(from, to, &[byte]));
            }
            out.push(result as u8);
        }
    }
    Ok(out)
}

/// Fails for a conversion that there is in PostgreSQL, but not here (0A000), or not even there (42883).
pub fn check_known(from: Encoding, to: Encoding) -> SqlResult<()> {
    let other = if from == Encoding::Utf8 { to } else { from };
    if other == Encoding::MuleInternal {
        return Err(no_conversion(from, to));
    }
    if other.is_known() {
        return Ok(());
    }
    Err(missing(from, to))
}

fn missing(from: Encoding, to: Encoding) -> SqlError {
    sql_err!(FEATURE_NOT_SUPPORTED, "conversion between {} and {} is not supported", from.name(), to.name())
}

fn no_conversion(from: Encoding, to: Encoding) -> SqlError {
    if pairs::is_missing(from, to) {
        return missing(from, to);
    }
    sql_err!(
        UNDEFINED_FUNCTION,
        "default conversion function for encoding \"{}\" to \"{}\" does not exist",
        from.name(),
        to.name()
    )
}
