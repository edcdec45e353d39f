//! Text and binary forms that are wrong in all ways: the types of modules answer with a value or an error, and a value reads back as itself.

use base::Oid;
use types::random::Random;
use types::registry::libraries::LibraryType;
use types::value::Reader;
use types::{Call, FormatContext};

/// What texts are put together from.
const PIECES: &[&str] = &[
    "[", "]", "{", "}", "(", ")", "=>", "=", ",", ":", "/", "\"", "\\", "NULL", " ", "1", "-2.5", "1e39",
    "NaN", "a", "é", "&", "|", "!", "3", ".", "*", "@", "%",
];

/// Forms that are right, which are then spoilt.
const RIGHT: &[&str] = &[
    "\"a\"=>\"1\", \"b\"=>NULL",
    "[1,2.5,-3]",
    "{1:1.5,3:2}/5",
    "1&(2|!3)",
    "a=>b,c=>\"d\\\"\"",
    "[1e-7]",
    "[(1,2),(3,-inf)]",
    "a.b_c.d-3",
    "!a|b@*{1,3}.*.c{2}",
    "a & !(b|c%@*)",
];

fn below(random: &mut Random, limit: usize) -> usize {
    (random.bits() % limit as u64) as usize
}

fn text(random: &mut Random) -> String {
    let mut text = String::new();
    if below(random, 2) == 0 {
        text += RIGHT[below(random, RIGHT.len())];
    }
    for _ in 0..below(random, 8) {
        let at = below(random, text.len() + 1);
        let at = text.floor_char_boundary(at);
        match below(random, 3) {
            0 => text.truncate(at),
            _ => text.insert_str(at, PIECES[below(random, PIECES.len())]),
        }
    }
    text
}

fn check(ty: &LibraryType, value: &tuple::Datum, cx: &Call<'_>) {
    let (mut shown, mut sent) = (Vec::new(), Vec::new());
    (ty.imp.output)(Oid::INVALID, value, cx, &mut shown).expect("a value has a text form");
    let shown = String::from_utf8(shown).expect("text is UTF-8");
    let again =
        (ty.imp.input)(Oid::INVALID, &shown, -1, cx).unwrap_or_else(|e| panic!("{ty:?} {shown}: {e}"));
    assert_eq!(again, *value, "{ty:?} {shown}");
    if (ty.imp.send)(Oid::INVALID, value, cx, &mut sent).is_ok() {
        let received =
            (ty.imp.receive)(Oid::INVALID, &mut Reader::new(&sent), -1, cx).expect("what was sent");
        assert_eq!(received, *value, "{ty:?} {shown}");
    }
}

/// The binary form of a value with some of its bytes changed, left out or doubled; none if it has no such form.
fn spoilt(ty: &LibraryType, value: &tuple::Datum, cx: &Call<'_>, random: &mut Random) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    (ty.imp.send)(Oid::INVALID, value, cx, &mut bytes).ok().filter(|()| !bytes.is_empty())?;
    for _ in 0..=below(random, 3) {
        let at = below(random, bytes.len());
        match below(random, 5) {
            0 => bytes.truncate(at.max(1)),
            1 => bytes.insert(at, bytes[at]),
            2 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][below(random, 5)],
            _ => bytes[at] ^= 1 << below(random, 8),
        }
    }
    Some(bytes)
}

#[test]
fn forms_of_types() {
    let format = FormatContext::default();
    let cx = Call::new(&format);
    let mut random = Random::new(20_261_127);
    let types: Vec<&LibraryType> = crate::all().iter().flat_map(|module| module.types).collect();
    for _ in 0..20_000 {
        let text = text(&mut random);
        let bytes: Vec<u8> = (0..below(&mut random, 40))
            .map(|_| if below(&mut random, 2) == 0 { 0 } else { random.bits() as u8 })
            .collect();
        for ty in &types {
            let read = (ty.imp.input)(Oid::INVALID, &text, -1, &cx).ok();
            let almost = read.as_ref().and_then(|value| spoilt(ty, value, &cx, &mut random));
            let received = [almost.as_ref().unwrap_or(&bytes), &bytes]
                .map(|bytes| (ty.imp.receive)(Oid::INVALID, &mut Reader::new(bytes), -1, &cx).ok());
            for value in received.into_iter().flatten().chain(read) {
                check(ty, &value, &cx);
            }
        }
    }
}
