//! Characters of each kind, and what is none. That all others are PostgreSQL's too was compared with a real server, code point by code point.

use base::Encoding as E;

use super::*;
use crate::Call;

fn read(encoding: E, bytes: &[u8]) -> String {
    let mut out = String::new();
    match decode(encoding, bytes, &mut out) {
        Ok(()) => out,
        Err(error) => format!("{} {}", error.code().as_str(), error.message()),
    }
}

fn written(encoding: E, text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    encode(encoding, text, &mut out).expect("it is in the encoding");
    out
}

/// A checksum over what all bytes of two (GB18030: four) and all code points of the first three planes become.
fn checksum(encoding: E) -> u32 {
    let mut crc = 0;
    let mut take = |result: SqlResult<Vec<u8>>| {
        let bytes = result.unwrap_or_else(|error| error.code().as_str().as_bytes().to_vec());
        crc = crc32c::crc32c_append(crc, &bytes);
        crc = crc32c::crc32c_append(crc, &[0]);
    };
    let decoded = |bytes: &[u8]| {
        let mut out = String::new();
        decode(encoding, bytes, &mut out).map(|()| out.into_bytes())
    };
    let longest: &[&[u8]] = match encoding {
        E::EucJp => &[b"", b"\x8f"],
        E::Gb18030 => &[b"", b"\x81\x30", b"\x83\x36", b"\x90\x30", b"\xe3\x32"],
        _ => &[b""],
    };
    for prefix in longest {
        (0x100..0x1_0000u32).for_each(|pair| take(decoded(&[prefix, &pair.to_be_bytes()[2..]].concat())));
    }
    for character in (0..0x3_0000).filter_map(char::from_u32) {
        let mut out = Vec::new();
        take(encode(encoding, character.encode_utf8(&mut [0; 4]), &mut out).map(|()| out));
    }
    crc
}

/// The checksums were taken when every character was the same as in PostgreSQL 18.1.
#[test]
fn tables_are_those_of_postgresql() {
    let known = [
        (E::EucJp, 0x7BC6BA67),
        (E::EucCn, 0x5CBA777A),
        (E::EucKr, 0x12A42689),
        (E::Latin1, 0xBFF1BDD2),
        (E::Latin2, 0xE2DA704E),
        (E::Latin3, 0xC0523E2C),
        (E::Latin4, 0xD0E4784C),
        (E::Latin5, 0x118C8F6A),
        (E::Latin6, 0xD5DDBAD2),
        (E::Latin7, 0x5787BE13),
        (E::Latin8, 0xBF8D8883),
        (E::Latin9, 0xFF488D87),
        (E::Latin10, 0xDBDC5712),
        (E::Win1256, 0x1A9D4463),
        (E::Win1258, 0xFE75F2DA),
        (E::Win866, 0x8453CFBE),
        (E::Win874, 0xA10DF5EC),
        (E::Koi8r, 0xDD9A35ED),
        (E::Win1251, 0x714BAB5A),
        (E::Win1252, 0x3DE1D509),
        (E::Iso88595, 0x768E8A4D),
        (E::Iso88596, 0x908BC74B),
        (E::Iso88597, 0xA0B0E463),
        (E::Iso88598, 0x2A9A2A06),
        (E::Win1250, 0xB2346638),
        (E::Win1253, 0xAF8F6472),
        (E::Win1254, 0x1A8A2AED),
        (E::Win1255, 0x539DA222),
        (E::Win1257, 0x6A88126E),
        (E::Koi8u, 0x7E804A17),
        (E::Sjis, 0xE6E92266),
        (E::Big5, 0x3CA7B26E),
        (E::Gbk, 0xC4F3C924),
        (E::Uhc, 0xE3096FD6),
        (E::Gb18030, 0x05B301D9),
        (E::Johab, 0x0C6DB4B0),
    ];
    let all =
        (0..42).filter_map(E::from_number).filter(|encoding| encoding.is_converted() && encoding.is_known());
    let found: Vec<(E, u32)> = all.map(|encoding| (encoding, checksum(encoding))).collect();
    assert_eq!(found, known);
}

#[test]
fn characters_are_read_and_written() {
    for (encoding, bytes, text) in [
        (E::Latin1, &b"caf\xe9"[..], "café"),
        (E::Win1252, b"\x80", "€"),
        (E::Sjis, b"\x95\x5c\xb1", "表ｱ"),
        (E::EucJp, b"\x8f\xb0\xa1\xc6\xfc", "丂日"),
        (E::Big5, b"\xa4\xa4", "中"),
        (E::Gb18030, b"\x95\x32\x82\x36\xd6\xd0", "𠀀中"),
        (E::Uhc, b"\xb0\xa1\x81\x41", "가갂"),
        (E::Johab, b"\xd1\xb1", "홈"),
    ] {
        assert_eq!(read(encoding, bytes), text);
        assert_eq!(written(encoding, text), bytes);
    }
}

#[test]
fn what_is_no_character_is_told() {
    for (encoding, bytes, said) in [
        (E::Latin1, &b"a\0"[..], "22021 invalid byte sequence for encoding \"LATIN1\": 0x00"),
        (
            E::Win1252,
            b"\x81",
            "22P05 character with byte sequence 0x81 in encoding \"WIN1252\" has no equivalent in encoding \"UTF8\"",
        ),
        (E::Sjis, b"\x81", "22021 invalid byte sequence for encoding \"SJIS\": 0x81"),
        (E::EucKr, b"\xb0\x41z", "22021 invalid byte sequence for encoding \"EUC_KR\": 0xb0 0x41"),
    ] {
        assert_eq!(read(encoding, bytes), said);
    }
    let mut out = Vec::new();
    let error = encode(E::Latin1, "10 €", &mut out).unwrap_err();
    assert_eq!(
        error.message(),
        "character with byte sequence 0xe2 0x82 0xac in encoding \"UTF8\" has no equivalent in encoding \"LATIN1\""
    );
}

#[test]
fn some_conversions_go_past_unicode() {
    let converted = |bytes: &[u8], from, to| match convert(bytes, from, to) {
        Ok(bytes) => bytes,
        Err(error) => error.message().as_bytes().to_vec(),
    };
    assert_eq!(converted(b"a\xe9", E::Latin2, E::Win1250), b"a\xe9");
    assert_eq!(converted(b"\xc1\xa4", E::Koi8r, E::Win1251), b"\xe0\xba");
    assert_eq!(converted(b"\xe9", E::Utf8, E::Utf8), b"invalid byte sequence for encoding \"UTF8\": 0xe9");
    assert_eq!(
        converted(b"\xe9", E::Latin1, E::Win1251),
        b"default conversion function for encoding \"LATIN1\" to \"WIN1251\" does not exist"
    );
    assert_eq!(converted(b"\xe9", E::SqlAscii, E::Latin1), b"\xe9");
    assert_eq!(
        converted(b"\xa4\xa2", E::EucJp, E::Sjis),
        b"conversion between EUC_JP and SJIS is not supported"
    );
}

#[test]
fn texts_within_values_are_converted() {
    let context = crate::FormatContext::default();
    let call = Call::new(&context);
    let array = |text: &[u8]| {
        let mut out = [1i32, 0, 25, 1, 1].map(i32::to_be_bytes).concat();
        out.extend((text.len() as i32).to_be_bytes());
        out.extend(text);
        out
    };
    let (ours, theirs) = (array("é".as_bytes()), array(b"\xe9"));
    let latin1 = Passage::new(E::Utf8, E::Latin1).unwrap();
    assert_eq!(from_client(latin1, crate::oids::_text, &theirs, &call).unwrap(), ours);
    assert_eq!(to_client(latin1, crate::oids::_text, &ours, &call).unwrap(), theirs);
    assert_eq!(from_client(latin1, crate::oids::bytea, b"\xe9", &call).unwrap(), &b"\xe9"[..]);
    assert_eq!(
        from_client(latin1, crate::oids::jsonb, b"\x01\"\xe9\"", &call).unwrap(),
        "\x01\"é\"".as_bytes()
    );
    for end in 0..theirs.len() {
        from_client(latin1, crate::oids::_text, &theirs[..end], &call).unwrap();
    }
}
