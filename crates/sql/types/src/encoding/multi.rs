//! Encodings of more than one byte: how long their characters are, and where PostgreSQL's tables differ from the library's.

use base::Encoding as E;
use encoding_rs as rs;

use super::table::{Table, read};

/// Most characters of GB18030 of four bytes that stand for the rest of the first plane.
const GB18030_FIRST_PLANE: u32 = 39420;
/// Where GB18030 has the planes beyond the first.
const GB18030_PLANES: u32 = 189_000;

/// Bytes that the first one (and the second, if it is there) of a character promises.
#[inline]
pub(super) fn promised(encoding: E, bytes: &[u8]) -> usize {
    let first = bytes[0];
    match encoding {
        _ if first < 0x80 => 1,
        E::EucJp | E::EucKr | E::Johab | E::EucJis2004 => 2 + usize::from(first == 0x8F),
        E::EucTw => match first {
            0x8E => 4,
            0x8F => 3,
            _ => 2,
        },
        E::Sjis | E::ShiftJis2004 if matches!(first, 0xA1..=0xDF) => 1,
        E::Gb18030 => match bytes.get(1) {
            Some(0x30..=0x39) => 4,
            _ => 2,
        },
        E::EucCn | E::Big5 | E::Gbk | E::Uhc | E::Sjis | E::ShiftJis2004 => 2,
        _ => 1,
    }
}

/// Whether the bytes, as many as [`promised`], can be a character.
pub(super) fn is_formed(encoding: E, bytes: &[u8]) -> bool {
    let high = |byte: &u8| matches!(byte, 0xA1..=0xFE);
    let (&first, rest) = bytes.split_first().unwrap_or((&0, &[]));
    if first < 0x80 {
        return first != 0;
    }
    match encoding {
        E::EucJp | E::EucJis2004 => match first {
            0x8E => matches!(rest[0], 0xA1..=0xDF),
            0x8F => rest.iter().all(high),
            _ => bytes.iter().all(high),
        },
        E::EucKr | E::EucCn => bytes.iter().all(high),
        E::EucTw => match first {
            0x8E => matches!(rest[0], 0xA1..=0xA7) && rest[1..].iter().all(high),
            0x8F => false,
            _ => bytes.iter().all(high),
        },
        E::Johab => rest.iter().all(high),
        E::Sjis | E::ShiftJis2004 if rest.is_empty() => true,
        E::Sjis | E::ShiftJis2004 => {
            matches!(first, 0x81..=0x9F | 0xE0..=0xFC) && matches!(rest[0], 0x40..=0x7E | 0x80..=0xFC)
        }
        E::Big5 | E::Gbk | E::Uhc => rest[0] != 0 && bytes != b"\x8d ",
        E::Gb18030 => {
            matches!(first, 0x81..=0xFE)
                && match rest {
                    [second] => matches!(second, 0x40..=0x7E | 0x80..=0xFE),
                    [_, third, fourth] => matches!(third, 0x81..=0xFE) && matches!(fourth, 0x30..=0x39),
                    _ => false,
                }
        }
        _ => true,
    }
}

/// What characters of three and four bytes are found under: a number beyond those of two.
#[inline]
pub(super) fn key(encoding: E, bytes: &[u8]) -> u32 {
    let number = bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte));
    match bytes.len() {
        3 => number & 0xFFFF | 0x1_0000,
        4 if encoding == E::Gb18030 => 0x1_0000 + gb18030_place(number),
        _ => number,
    }
}

/// The number of a four-byte character of GB18030 among them.
fn gb18030_place(number: u32) -> u32 {
    let [a, b, c, d] = number.to_be_bytes().map(u32::from);
    ((a.wrapping_sub(0x81) * 10 + (b - 0x30)) * 126 + (c - 0x81)) * 10 + (d - 0x30)
}

fn gb18030_bytes(place: u32) -> u32 {
    let (place, d) = (place / 10, place % 10 + 0x30);
    let (place, c) = (place / 126, place % 126 + 0x81);
    let (a, b) = (place / 10 + 0x81, place % 10 + 0x30);
    a << 24 | b << 16 | c << 8 | d
}

/// Characters beyond the table: GB18030 has all of Unicode in order.
pub(super) fn decode_beyond(encoding: E, key: u32) -> Option<u32> {
    let code = key.checked_sub(GB18030_PLANES + 0x1_0000)? + 0x1_0000;
    (encoding == E::Gb18030 && code <= 0x10_FFFF).then_some(code)
}

/// The way back.
pub(super) fn encode_beyond(encoding: E, code: u32) -> Option<u32> {
    (encoding == E::Gb18030 && code >= 0x1_0000).then(|| gb18030_bytes(code - 0x1_0000 + GB18030_PLANES))
}

/// The table of an encoding of more than one byte.
pub(super) fn table(encoding: E) -> Table {
    let mut table = Table::default();
    match encoding {
        E::EucJp => euc_jp(&mut table),
        E::Sjis => sjis(&mut table),
        E::EucCn => euc_cn(&mut table),
        E::Gbk => gbk(&mut table),
        E::Gb18030 => gb18030(&mut table),
        E::EucKr => euc_kr(&mut table),
        E::Uhc => uhc(&mut table),
        E::Johab => johab(&mut table),
        E::Big5 => big5(&mut table),
        _ => {}
    }
    table
}

/// All of two bytes that the library knows.
fn pairs(table: &mut Table, library: &'static rs::Encoding, wanted: impl Fn(u8, u8, u32) -> bool) {
    for first in 0x81..=0xFEu8 {
        for second in 0x40..=0xFEu8 {
            if let Some(code) = read(library, &[first, second]).filter(|code| wanted(first, second, *code)) {
                table.add(u32::from(first) << 8 | u32::from(second), code);
            }
        }
    }
}

fn is_private(code: u32) -> bool {
    matches!(code, 0xE000..=0xF8FF)
}

fn euc_jp(table: &mut Table) {
    // Halves of katakana; what IBM added is beyond JIS X 0212, not in the rows of NEC.
    pairs(table, rs::EUC_JP, |first, _, _| first < 0xF9);
    for first in 0xA1..=0xFEu8 {
        for second in 0xA1..=0xFEu8 {
            let bytes = [0x8F, first, second];
            let code = match bytes {
                [_, 0xA2, 0xB7] => None,
                [_, 0xA2, 0xC3] => Some(0xFFE4),
                _ => read(rs::EUC_JP, &bytes),
            };
            if let Some(code) = code {
                add_long(table, bytes, code);
            }
        }
    }
    let places = (0xF3F3..=0xF3FEu32).chain(0xF4A1..=0xF4FE);
    for (place, code) in places.zip(IBM_ADDED.chars()) {
        add_long(table, [0x8F, (place >> 8) as u8, place as u8], code.into());
    }
    table.encode.set(0xA6, 0x8F_A2C3);
}

/// A character of three bytes.
fn add_long(table: &mut Table, bytes: [u8; 3], code: u32) {
    table.decode.set(key(E::EucJp, &bytes), code);
    if table.encode.get(code) == 0 {
        table.encode.set(code, bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte)));
    }
}

/// What IBM added to the Japanese characters, in its order.
const IBM_ADDED: &str = "ⅰⅱⅲⅳⅴⅵⅶⅷⅸⅹⅠⅡⅢⅣⅤⅥⅦⅧⅨⅩ＇＂㈱№℡炻仼僴凬匇匤\u{fa0e}咊坙\u{fa0f}\u{fa10}增寬峵嵓\u{fa11}德悅愠敎昻晥\u{fa12}\u{f929}栁\u{fa13}\u{fa14}橫櫢淸淲瀨\u{fa15}\u{fa16}甁皂皞\u{fa17}礰\u{fa18}\u{fa19}\u{fa1a}\u{fa1b}竧\u{fa1c}\u{fa1d}綠緖\u{fa1e}荢\u{fa1f}薰\u{fa20}\u{fa21}蠇\u{fa22}譿賴赶\u{fa23}\u{fa24}\u{fa25}郞\u{fa26}鄕\u{fa27}\u{fa28}閒\u{f9dc}\u{fa29}霻靍靑\u{fa2a}\u{fa2b}\u{fa2c}馞髙魲\u{fa2d}黑";

fn sjis(table: &mut Table) {
    for byte in 0xA1..=0xDFu32 {
        table.add(byte, 0xFF61 + byte - 0xA1);
    }
    pairs(table, rs::SHIFT_JIS, |_, _, code| !is_private(code));
    // Of the places that a character has, that of IBM is written.
    for bytes in 0xFA40..=0xFCFFu32 {
        let code = table.decode.get(bytes);
        let is_of_nec = matches!(table.encode.get(code), 0x8700..=0x87FF | 0xED00..=0xEEFF);
        if is_of_nec && !matches!(code, 0x222A | 0x2235 | 0xFFE2) {
            table.encode.set(code, bytes);
        }
    }
    // Characters that other tables of this encoding have.
    for (code, bytes) in [
        (0xA2, 0x8191),
        (0xA3, 0x8192),
        (0xA5, 0x5C),
        (0xAC, 0x81CA),
        (0x2016, 0x8161),
        (0x203E, 0x7E),
        (0x2212, 0x817C),
        (0x301C, 0x8160),
    ] {
        table.encode.set(code, bytes);
    }
}

fn euc_cn(table: &mut Table) {
    pairs(table, rs::GBK, |first, second, code| {
        let bytes = u32::from(first) << 8 | u32::from(second);
        // What GBK added in between.
        let added = matches!(bytes, 0xA2A1..=0xA2AA | 0xA2E3 | 0xA6D9..=0xA6F5 | 0xA8BB..=0xA8C0);
        first >= 0xA1 && second >= 0xA1 && !is_private(code) && !added && !matches!(bytes, 0xA1A4 | 0xA1AA)
    });
    table.add(0xA1A4, 0x30FB);
    table.add(0xA1AA, 0x2015);
}

fn gbk(table: &mut Table) {
    pairs(table, rs::GBK, |first, second, code| {
        let bytes = u32::from(first) << 8 | u32::from(second);
        // What GB18030 added.
        let added = matches!(
            bytes,
            0xA2E3 | 0xA3A0 | 0xA6D9..=0xA6DF | 0xA6EC | 0xA6ED | 0xA6F3 | 0xA8BC | 0xA8BF | 0xA989..=0xA995 | 0xFE50..=0xFEA0
        );
        !is_private(code) && !added
    });
    table.encode.set(0x20AC, 0x80);
}

fn gb18030(table: &mut Table) {
    pairs(table, rs::GB18030, |_, _, _| true);
    // As it was before 2005, with characters in the private area that Unicode had not yet.
    for (bytes, code) in [
        (0xA3A0, 0xE5E5),
        (0xA6D9, 0xE78D),
        (0xA6DA, 0xE78E),
        (0xA6DB, 0xE78F),
        (0xA6DC, 0xE790),
        (0xA6DD, 0xE791),
        (0xA6DE, 0xE792),
        (0xA6DF, 0xE793),
        (0xA6EC, 0xE794),
        (0xA6ED, 0xE795),
        (0xA6F3, 0xE796),
        (0xA8BC, 0xE7C7),
        (0xFE59, 0xE81E),
        (0xFE61, 0xE826),
        (0xFE66, 0xE82B),
        (0xFE67, 0xE82C),
        (0xFE6D, 0xE832),
        (0xFE7E, 0xE843),
        (0xFE90, 0xE854),
        (0xFEA0, 0xE864),
    ] {
        table.remove(bytes);
        table.add(bytes, code);
    }
    // The rest of the first plane in its order, in four bytes.
    let rest = (0x80..0xD800).chain(0xE000..0x1_0000u32).filter(|code| table.encode.get(*code) == 0);
    let rest: Vec<u32> = rest.collect();
    for (place, code) in (0..GB18030_FIRST_PLANE).zip(rest) {
        table.decode.set(0x1_0000 + place, code);
        table.encode.set(code, gb18030_bytes(place));
    }
}

fn euc_kr(table: &mut Table) {
    pairs(table, rs::EUC_KR, |first, second, _| first >= 0xA1 && second >= 0xA1);
    table.add(0xA2E8, 0x327E);
}

fn uhc(table: &mut Table) {
    pairs(table, rs::EUC_KR, |_, _, _| true);
    table.add(0xA2E8, 0x327E);
    // Two rows for private use.
    for second in 0..94 {
        table.add(0xC9A1 + second, 0xE000 + second);
        table.add(0xFEA1 + second, 0xE05E + second);
    }
}

/// Vowels by the five bits that they have in Johab; 0: no vowel.
const JOHAB_VOWELS: [u32; 21] =
    [3, 4, 5, 6, 7, 10, 11, 12, 13, 14, 15, 18, 19, 20, 21, 22, 23, 26, 27, 28, 29];

/// The consonants that can begin a syllable, and those that can end one, as letters of their own.
const BEGINNINGS: &str = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ";
const ENDINGS: &str = "ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ";

/// Johab spells syllables with three times five bits; its symbols and Chinese characters are those of KS X 1001 in other places.
fn johab(table: &mut Table) {
    let code = |beginning: u32, vowel: u32, ending: u32| 0x8000 | beginning << 10 | vowel << 5 | ending;
    // Endings leave out 18.
    let ending = |i: u32| i + 1 + u32::from(i >= 17);
    for (b, letter) in (0..).zip(BEGINNINGS.chars()) {
        for (v, vowel) in (0..).zip(JOHAB_VOWELS) {
            for e in 0..28 {
                table.add(code(b + 2, vowel, ending(e)), 0xAC00 + (b * 21 + v) * 28 + e);
            }
        }
        table.add(code(b + 2, 2, 1), letter.into());
    }
    for (v, vowel) in (0..).zip(JOHAB_VOWELS) {
        table.add(code(1, vowel, 1), 0x314F + v);
    }
    for (e, letter) in (1..).zip(ENDINGS.chars()) {
        if table.encode.get(letter.into()) == 0 {
            table.add(code(1, 2, ending(e)), letter.into());
        }
    }
    for row in (0..12u32).chain(41..93) {
        for cell in 0..94u32 {
            let of_ks = [(row + 0xA1) as u8, (cell + 0xA1) as u8];
            let known = if of_ks == [0xA2, 0xE8] { Some(0x327E) } else { read(rs::EUC_KR, &of_ks) };
            let Some(code) = known.filter(|code| table.encode.get(*code) == 0) else { continue };
            let (first, half) =
                if row < 12 { (0xD9 + row / 2, row % 2) } else { (0xE0 + (row - 41) / 2, (row - 41) % 2) };
            let place = half * 94 + cell;
            table.add(first << 8 | (place + if place < 78 { 0x31 } else { 0x43 }), code);
        }
    }
}

fn big5(table: &mut Table) {
    pairs(table, rs::BIG5, |first, second, _| {
        let bytes = u32::from(first) << 8 | u32::from(second);
        // Neither the additions of Hong Kong nor those of Windows; another row of symbols.
        matches!(bytes, 0xA140..=0xA3BF | 0xA440..=0xC67E | 0xC940..=0xF9DC)
            && BIG5_SYMBOLS.iter().all(|own| own.0 != bytes)
    });
    for (bytes, code) in BIG5_SYMBOLS {
        table.add(bytes, code);
    }
    let places = (0xC6A1..=0xC6FEu32).chain(0xC740..=0xC77E).chain(0xC7A1..=0xC7FC);
    let codes = BIG5_ROWS.iter().flat_map(|(from, count)| *from..from + count);
    for (bytes, code) in places.zip(codes) {
        table.add(bytes, code);
    }
}

/// Symbols of Big5 that are other characters in PostgreSQL.
const BIG5_SYMBOLS: [(u32, u32); 18] = [
    (0xA145, 0x2022),
    (0xA14E, 0xFF64),
    (0xA15A, 0xFFFD),
    (0xA1C2, 0x203E),
    (0xA1C3, 0xFFFD),
    (0xA1C5, 0xFFFD),
    (0xA1E3, 0x223C),
    (0xA1F2, 0x2641),
    (0xA1F3, 0x2609),
    (0xA1FE, 0xFFFD),
    (0xA240, 0xFFFD),
    (0xA241, 0xFF0F),
    (0xA242, 0xFF3C),
    (0xA244, 0xA5),
    (0xA246, 0xA2),
    (0xA247, 0xA3),
    (0xA2CC, 0xFFFD),
    (0xA2CE, 0xFFFD),
];

/// Rows of signs, kana, Cyrillic letters and numbers: where they begin, and how many follow each other.
const BIG5_ROWS: [(u32, u32); 13] = [
    (0x30FE, 1),
    (0x309D, 2),
    (0x3005, 1),
    (0x3041, 83),
    (0x30A1, 86),
    (0x0414, 2),
    (0x0401, 1),
    (0x0416, 7),
    (0x0423, 19),
    (0x0451, 1),
    (0x0436, 26),
    (0x2460, 10),
    (0x2474, 10),
];
