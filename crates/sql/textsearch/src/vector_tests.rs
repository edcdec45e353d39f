use proptest::prelude::*;

use super::*;

fn shown(bytes: &[u8]) -> String {
    let mut out = Vec::new();
    Vector::new(bytes).write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn message(text: &str) -> String {
    parse(text).unwrap_err().message().to_owned()
}

#[test]
fn words_are_sorted_and_their_positions_gathered() {
    for (text, value) in [
        ("a b a", "'a' 'b'"),
        ("b:2 a:3,1B a:1a,2", "'a':1A,2,3 'b':2"),
        (":a b", "':a' 'b'"),
        (r"\:a:3", "':a':3"),
        ("'a b':3 'it''s'", "'a b':3 'it''s'"),
        (r"'a' :3 \\x", r"':3' '\\x' 'a'"),
        ("a|b&c", "'a|b&c'"),
        ("a:1,2,99999999999,4b", "'a':1,2,4B,16383"),
        ("a:1A23,5D", "'a':1A,5"),
        ("", ""),
    ] {
        assert_eq!(shown(&parse(text).unwrap()), value, "{text}");
        assert_eq!(shown(&parse(value).unwrap()), value);
    }
    assert_eq!(message("a:b"), "syntax error in tsvector: \"a:b\"");
    assert_eq!(message("a:1AD"), "syntax error in tsvector: \"a:1AD\"");
    assert_eq!(message("''"), "syntax error in tsvector: \"''\"");
    assert_eq!(message("a:0"), "wrong position info in tsvector: \"a:0\"");
    assert_eq!(message(r"a\"), "there is no escaped character: \"a\\\"");
    assert_eq!(message(&"x".repeat(2047)), "word is too long (2047 bytes, max 2046 bytes)");
    let many: String = (0..90_000).map(|i| format!("word{i:08} ")).collect();
    assert_eq!(message(&many), "string is too long for tsvector (1048584 bytes, max 1048575 bytes)");
}

#[test]
fn vectors_are_in_postgresqls_order() {
    let order = |a: &str, b: &str| {
        let (a, b) = (parse(a).unwrap(), parse(b).unwrap());
        Vector::new(&a).compare(&Vector::new(&b))
    };
    for (a, b) in [
        ("a", "a:1"),
        ("a b:2", "a:1 b"),
        ("a:1 bb", "a bb:2"),
        ("a:1", "b:1"),
        ("a:2", "a:1"),
        ("a:1A", "a:1B"),
        ("aa:1,2 bb", "aa bb:1,2"),
        ("aa bb:1,2 cc:1", "aa bb:1 cc:1,2"),
    ] {
        assert_eq!((order(a, b), order(b, a)), (Ordering::Less, Ordering::Greater), "{a}, {b}");
    }
}

#[test]
fn damaged_bytes_are_read_without_panic() {
    let mut bytes = parse("a:1,2 bcd:3 e").unwrap();
    for at in 0..bytes.len() {
        for value in [0, 1, 255] {
            let kept = std::mem::replace(&mut bytes[at], value);
            let _ = Vector::new(&bytes).write(&mut Vec::new());
            let _ = Vector::new(&bytes).find(b"bcd");
            let _ = Vector::new(&bytes[..at]).iter().count();
            bytes[at] = kept;
        }
    }
}

proptest! {
    #[test]
    fn any_text_is_a_vector_or_an_error(text in "[ a-c:,0-9A-D'\\\\&|!<>()\"*-]{0,40}") {
        if let Ok(bytes) = parse(&text) {
            let value = shown(&bytes);
            prop_assert_eq!(&parse(&value).unwrap(), &bytes);
            let mut sent = Vec::new();
            Vector::new(&bytes).send(&mut sent).unwrap();
            prop_assert_eq!(&receive(&sent).unwrap(), &bytes);
        }
    }

    #[test]
    fn any_bytes_are_a_vector_or_an_error(bytes in prop::collection::vec(prop_oneof![Just(0u8), Just(1), any::<u8>()], 0..60)) {
        if let Ok(value) = receive(&bytes) {
            // A client can send an empty lexeme, as to PostgreSQL, which no text can write.
            let written = Vector::new(&value).iter().all(|(lexeme, _)| !lexeme.is_empty());
            prop_assert_eq!(parse(&shown(&value)).is_ok(), written);
            prop_assert!(!written || parse(&shown(&value)).unwrap() == value);
        }
    }
}
