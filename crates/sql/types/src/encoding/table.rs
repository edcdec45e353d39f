//! Tables between the characters of an encoding and Unicode, made when an encoding is first used.
//!
//! They are the library's (`encoding_rs`, which follows the WHATWG) with what PostgreSQL's differ in: [`single`] for encodings of one byte,
//! [`multi`](mod@super::multi) for the others. A table that is being made is not interrupted: the largest takes a few milliseconds.

use std::sync::OnceLock;

use base::Encoding as E;
use encoding_rs as rs;

use super::multi;

/// Numbers for numbers, in pages of 256; 0 where there is none.
#[derive(Default)]
pub(super) struct Pages(Vec<Option<Box<[u32; 256]>>>);

impl Pages {
    #[inline]
    pub(super) fn get(&self, key: u32) -> u32 {
        match self.0.get((key >> 8) as usize) {
            Some(Some(page)) => page[(key & 0xFF) as usize],
            _ => 0,
        }
    }

    pub(super) fn set(&mut self, key: u32, value: u32) {
        let page = (key >> 8) as usize;
        if self.0.len() <= page {
            self.0.resize_with(page + 1, || None);
        }
        self.0[page].get_or_insert_with(|| Box::new([0; 256]))[(key & 0xFF) as usize] = value;
    }
}

/// Both ways of an encoding.
#[derive(Default)]
pub(super) struct Table {
    /// Code point of a character's bytes, which are the digits of a number.
    pub(super) decode: Pages,
    /// Bytes of a code point, as the digits of a number.
    pub(super) encode: Pages,
}

impl Table {
    /// A character both ways. Where several have the same code point, the first is written.
    pub(super) fn add(&mut self, bytes: u32, code: u32) {
        self.decode.set(bytes, code);
        if self.encode.get(code) == 0 {
            self.encode.set(code, bytes);
        }
    }

    /// Takes a character out.
    pub(super) fn remove(&mut self, bytes: u32) {
        let code = self.decode.get(bytes);
        self.decode.set(bytes, 0);
        if self.encode.get(code) == bytes {
            self.encode.set(code, 0);
        }
    }
}

/// The table of an encoding that is converted and known.
pub(super) fn table(encoding: E) -> &'static Table {
    static TABLES: [OnceLock<Table>; 42] = [const { OnceLock::new() }; 42];
    TABLES[encoding as usize].get_or_init(|| match library(encoding) {
        Some(library) => single(encoding, library),
        None => multi::table(encoding),
    })
}

/// What the library calls an encoding of one byte.
fn library(encoding: E) -> Option<&'static rs::Encoding> {
    Some(match encoding {
        E::Latin1 | E::Win1252 => rs::WINDOWS_1252,
        E::Latin2 => rs::ISO_8859_2,
        E::Latin3 => rs::ISO_8859_3,
        E::Latin4 => rs::ISO_8859_4,
        E::Latin5 | E::Win1254 => rs::WINDOWS_1254,
        E::Latin6 => rs::ISO_8859_10,
        E::Latin7 => rs::ISO_8859_13,
        E::Latin8 => rs::ISO_8859_14,
        E::Latin9 => rs::ISO_8859_15,
        E::Latin10 => rs::ISO_8859_16,
        E::Win1256 => rs::WINDOWS_1256,
        E::Win1258 => rs::WINDOWS_1258,
        E::Win866 => rs::IBM866,
        E::Win874 => rs::WINDOWS_874,
        E::Koi8r => rs::KOI8_R,
        E::Koi8u => rs::KOI8_U,
        E::Win1250 => rs::WINDOWS_1250,
        E::Win1251 => rs::WINDOWS_1251,
        E::Win1253 => rs::WINDOWS_1253,
        E::Win1255 => rs::WINDOWS_1255,
        E::Win1257 => rs::WINDOWS_1257,
        E::Iso88595 => rs::ISO_8859_5,
        E::Iso88596 => rs::ISO_8859_6,
        E::Iso88597 => rs::ISO_8859_7,
        E::Iso88598 => rs::ISO_8859_8,
        _ => return None,
    })
}

/// The character that the library reads in some bytes, if it is one.
pub(super) fn read(library: &'static rs::Encoding, bytes: &[u8]) -> Option<u32> {
    let text = library.decode_without_bom_handling_and_without_replacement(bytes)?;
    let mut characters = text.chars();
    let first = characters.next()?;
    characters.next().is_none().then_some(u32::from(first))
}

fn single(encoding: E, library: &'static rs::Encoding) -> Table {
    let mut table = Table::default();
    for byte in 0x80..=0xFFu8 {
        let control = byte < 0xA0;
        let code = match (encoding, byte) {
            // The library has the code pages of Windows for these, which put letters where control characters are.
            (E::Latin1 | E::Latin5, 0x80..0xA0) => Some(byte.into()),
            (E::Win1255, 0xCA) => None,
            (E::Koi8u, 0xAE) => Some(0x255D),
            (E::Koi8u, 0xBE) => Some(0x256C),
            _ => read(library, &[byte]).filter(|code| {
                // It knows no gaps in the code pages of Windows: it has control characters there.
                !(is_of_windows(encoding) && control && *code == u32::from(byte))
            }),
        };
        if let Some(code) = code {
            table.add(byte.into(), code);
        }
    }
    table
}

fn is_of_windows(encoding: E) -> bool {
    use E::{Win874, Win1250, Win1251, Win1252, Win1253, Win1254, Win1255, Win1257, Win1258};
    matches!(encoding, Win874 | Win1250 | Win1251 | Win1252 | Win1253 | Win1254 | Win1255 | Win1257 | Win1258)
}
