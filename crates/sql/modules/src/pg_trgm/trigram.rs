//! From text to trigrams.
//!
//! Words are runs of letters and digits in lower case, with two blanks before them and one behind. A trigram of single bytes is these three; of
//! others it is three bytes of a checksum over it, as PostgreSQL keeps them in its indexes.

use base::{SqlError, SqlResult, sql_err};

/// Three bytes, ordered as signed ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Trigram([i8; 3]);

impl Trigram {
    /// Its bytes.
    pub(super) fn bytes(self) -> [u8; 3] {
        self.0.map(|byte| byte as u8)
    }

    /// A number that trigrams are in order of: their bytes, the signs turned round.
    fn number(self) -> u32 {
        let [a, b, c] = self.bytes().map(|byte| u32::from(byte ^ SIGN));
        a << 16 | b << 8 | c
    }

    /// The one with this number.
    fn of_number(number: u32) -> Trigram {
        let [_, a, b, c] = number.to_be_bytes();
        Trigram::of([a, b, c].map(|byte| byte ^ SIGN))
    }

    /// The one with these bytes.
    pub(super) fn of([a, b, c]: [u8; 3]) -> Trigram {
        Trigram([a, b, c].map(|byte| byte as i8))
    }
}

/// The trigrams of a text in its order.
pub(super) struct Trigrams {
    pub(super) list: Vec<Trigram>,
    /// For each whether it is the first and whether it is the last one of its word.
    pub(super) ends: Vec<(bool, bool)>,
}

/// Most bytes of text that are taken apart.
const MAX_TEXT: usize = 0x3FFF_FFFF / 12;
/// Of the number of a trigram: all its bits.
const NUMBER: u32 = 0xff_ffff;
/// The highest bit of a byte.
const SIGN: u8 = 0x80;
/// Trigrams between two looks for interrupts.
const AT_ONCE: usize = 4 << 10;

/// All trigrams of a text, with repetitions.
pub(super) fn trigrams(text: &str) -> SqlResult<Trigrams> {
    if text.len() > MAX_TEXT {
        return Err(sql_err!(PROGRAM_LIMIT_EXCEEDED, "out of memory"));
    }
    let mut found = Trigrams { list: Vec::new(), ends: Vec::new() };
    let mut word: Vec<char> = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(char::is_alphanumeric) {
        let length = rest[start..].find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len() - start);
        word.clear();
        word.extend([' ', ' ']);
        word.extend(rest[start..start + length].chars().flat_map(char::to_lowercase));
        word.push(' ');
        add_word(&word, &mut found)?;
        rest = &rest[start + length..];
    }
    Ok(found)
}

fn add_word(word: &[char], found: &mut Trigrams) -> SqlResult<()> {
    let last = word.len() - 3;
    for (i, three) in word.windows(3).enumerate() {
        if found.list.len() % AT_ONCE == AT_ONCE - 1 {
            runtime::check_interrupts().map_err(SqlError::from)?;
        }
        found.list.push(trigram(three));
        found.ends.push((i == 0, i == last));
    }
    Ok(())
}

/// Each of a text's trigrams once, in order.
pub(super) fn kinds(text: &str) -> SqlResult<Vec<Trigram>> {
    let mut numbers = match text.is_ascii() && text.len() <= MAX_TEXT {
        true => of_ascii(text)?,
        false => trigrams(text)?.list.into_iter().map(Trigram::number).collect(),
    };
    numbers.sort_unstable();
    numbers.dedup();
    Ok(numbers.into_iter().map(Trigram::of_number).collect())
}

/// The numbers of all trigrams of a text whose characters are single bytes, with repetitions.
fn of_ascii(text: &str) -> SqlResult<Vec<u32>> {
    let number = |byte: u8| u32::from(byte ^ SIGN);
    let before = number(b' ') << 8 | number(b' ');
    let mut found = Vec::with_capacity(text.len() + 2);
    let mut three = before;
    for piece in text.as_bytes().chunks(AT_ONCE) {
        runtime::check_interrupts().map_err(SqlError::from)?;
        for byte in piece {
            if byte.is_ascii_alphanumeric() {
                three = (three << 8 | number(byte.to_ascii_lowercase())) & NUMBER;
                found.push(three);
            } else if three != before {
                found.push((three << 8 | number(b' ')) & NUMBER);
                three = before;
            }
        }
    }
    if three != before {
        found.push((three << 8 | number(b' ')) & NUMBER);
    }
    Ok(found)
}

/// The trigram of three characters of a word, which are in lower case.
pub(super) fn trigram(three: &[char]) -> Trigram {
    let mut bytes = [0u8; 12];
    let mut length = 0;
    for character in three {
        length += character.encode_utf8(&mut bytes[length..]).len();
    }
    let [a, b, c, _] = match length {
        3 => [bytes[0], bytes[1], bytes[2], 0],
        _ => checksum(&bytes[..length]).to_le_bytes(),
    };
    Trigram([a, b, c].map(|byte| byte as i8))
}

/// The CRC of Ethernet as PostgreSQL once got it wrong: its table taken from the other end.
fn checksum(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = {
        let mut table = [0u32; 256];
        let mut i = 0;
        while i < 256 {
            let (mut entry, mut bit) = (i as u32, 0);
            while bit < 8 {
                entry = if entry & 1 == 1 { entry >> 1 ^ 0xEDB8_8320 } else { entry >> 1 };
                bit += 1;
            }
            table[i] = entry;
            i += 1;
        }
        table
    };
    !bytes.iter().fold(!0u32, |crc, byte| TABLE[((crc >> 24) as u8 ^ byte) as usize] ^ crc << 8)
}

/// As `show_trgm` has it: the three characters, or the number that their bytes make.
pub(super) fn shown(Trigram(bytes): Trigram) -> String {
    let bytes = bytes.map(|byte| byte as u8);
    if bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b' ') {
        return bytes.map(char::from).iter().collect();
    }
    let [a, b, c] = bytes;
    format!("0x{a:02x}{b:02x}{c:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_bytes_are_taken_as_characters_are() {
        for text in ["", " ", "a", "Cat", "two  Words", " -ab, c1-", "a b c a b", "under_score's", "x\n"] {
            let mut all = trigrams(text).unwrap().list;
            all.sort_unstable();
            all.dedup();
            assert_eq!(kinds(text).unwrap(), all, "{text:?}");
        }
        let high = kinds("é").unwrap();
        assert!(high.is_sorted() && high.iter().all(|t| Trigram::of_number(t.number()) == *t), "{high:?}");
    }

    #[test]
    fn words_have_blanks_around_them() {
        let list = |text: &str| trigrams(text).unwrap().list.into_iter().map(shown).collect::<Vec<_>>();
        assert_eq!(list("Foo, x"), ["  f", " fo", "foo", "oo ", "  x", " x "]);
        assert_eq!(list("日本"), ["0x1e22e9", "0x836e53", "0x203d17"].map(str::to_owned));
        assert!(list(" _ ").is_empty());
    }
}
