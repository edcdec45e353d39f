use proptest::prelude::*;

use super::*;

fn shown(query: &Query) -> String {
    let mut out = Vec::new();
    write(query, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn message(text: &str) -> String {
    parse(text).unwrap_err().message().to_owned()
}

#[test]
fn operators_bind_as_postgresqls() {
    for (text, value) in [
        ("a", "'a'"),
        ("a | b & c", "'a' | 'b' & 'c'"),
        ("(a|b)&c", "( 'a' | 'b' ) & 'c'"),
        ("!a <-> b", "!'a' <-> 'b'"),
        ("!(a <2> b)", "!( 'a' <2> 'b' )"),
        ("a <-> (b <-> c)", "'a' <-> ( 'b' <-> 'c' )"),
        ("a <-> b <-> c", "'a' <-> 'b' <-> 'c'"),
        ("a:*Bc & !!b:d", "'a':*BC & !!'b':D"),
        ("'it''s' & \\\\x", "'it''s' & '\\\\x'"),
        ("a<0>b", "'a' <0> 'b'"),
        ("", ""),
        ("  ", ""),
    ] {
        let query = parse(text).unwrap();
        assert_eq!(shown(&query), value, "{text}");
        assert_eq!(parse(value).unwrap(), query);
        assert_eq!(Query::decode(&query.encode()).unwrap(), query);
    }
    assert_eq!(message("a &"), "no operand in tsquery: \"a &\"");
    assert_eq!(message("a:Bb*x"), "syntax error in tsquery: \"a:Bb*x\"");
    assert_eq!(message("(a"), "syntax error in tsquery: \"(a\"");
    assert_eq!(message("a)"), "syntax error in tsquery: \"a)\"");
    assert_eq!(
        message("a <16385> b"),
        "distance in phrase operator must be an integer value between zero and 16384 inclusive"
    );
}

#[test]
fn depth_costs_an_error_at_most() {
    for text in ["!".repeat(1 << 20) + "a", "(".repeat(1 << 20) + "a" + &")".repeat(1 << 20)] {
        let query = parse(&text).unwrap();
        assert!(query.compare(&query).is_eq());
        let bytes = query.encode();
        let stored = Query::decode(&bytes).unwrap();
        let mut out = Vec::new();
        let _ = write(&stored, &mut out);
    }
}

/// Marks `the` as a stop word.
struct Stops;

impl Morphology for Stops {
    fn push(&mut self, builder: &mut Builder, word: &str, weights: u8, prefix: bool) -> SqlResult<()> {
        match word {
            "the" => builder.stop(),
            _ => builder.value(word, weights, prefix)?,
        }
        Ok(())
    }
}

#[test]
fn phrases_widen_where_stop_words_stood() {
    for (text, value) in [
        ("the", ""),
        ("a & the", "'a'"),
        ("!the | a", "'a'"),
        ("a <-> the <-> b", "'a' <2> 'b'"),
        ("a <-> (the <-> b)", "'a' <2> 'b'"),
        ("(a <-> the) <-> (the <-> b)", "'a' <3> 'b'"),
        ("a <-> (the | b)", "'a' <-> 'b'"),
        ("(the & the) <3> b <-> the <-> c", "'b' <2> 'c'"),
    ] {
        let query = parse_as(text, Syntax::Operators, &mut Stops).unwrap();
        assert_eq!(shown(&without_stop_words(query).unwrap()), value, "{text}");
    }
}

#[test]
fn what_people_type_is_a_query() {
    for (text, value) in [
        ("a b", "'a' & 'b'"),
        ("a or -b", "'a' | !'b'"),
        ("or a", "'or' & 'a'"),
        ("a or", "'a' & 'or'"),
        ("\"a b\" c", "'a b' & 'c'"),
        ("\"a b", "'a b'"),
        ("a & | (b", "'a' & 'b'"),
        ("-", ""),
        ("a:b", "'a' & ':b'"),
    ] {
        let query = parse_as(text, Syntax::Web, &mut AsTheyAreOrStops).unwrap();
        assert_eq!(shown(&without_stop_words(query).unwrap()), value, "{text}");
    }
}

struct AsTheyAreOrStops;

impl Morphology for AsTheyAreOrStops {
    fn push(&mut self, builder: &mut Builder, word: &str, weights: u8, prefix: bool) -> SqlResult<()> {
        builder.value(word, weights, prefix)
    }
}

#[test]
fn what_an_index_can_find() {
    for (text, value) in [
        ("a & !b", "'a'"),
        ("a | !b", ""),
        ("(a | !b) & c", "'c'"),
        ("!a", ""),
        ("a <-> !b & c | d", "'a' & 'c' | 'd'"),
    ] {
        assert_eq!(shown(&indexable(parse(text).unwrap()).unwrap()), value, "{text}");
    }
}

fn rewritten(query: &str, part: &str, other: &str) -> String {
    let (query, part, other) = (parse(query).unwrap(), parse(part).unwrap(), parse(other).unwrap());
    shown(&crate::rewrite::Rewriting::new(&query).unwrap().replaced_once(&part, &other).unwrap())
}

#[test]
fn parts_are_replaced() {
    assert_eq!(rewritten("a & b & c", "c & a", "d | e"), "'b' & ( 'e' | 'd' )");
    assert_eq!(rewritten("a & b", "a & b", ""), "");
    assert_eq!(rewritten("!a & b", "a", ""), "'b'");
    assert_eq!(rewritten("a <-> b", "b", "c"), "'a' <-> 'c'");
}

/// What a client sends: the number of items, then each.
fn sent(count: u32, items: &[&[u8]]) -> Vec<u8> {
    [&count.to_be_bytes()[..], &items.concat()].concat()
}

/// All as PostgreSQL but the last, which it takes and shows as text that is no query.
#[test]
fn what_clients_send_is_refused() {
    let (a, b): (&[u8], &[u8]) = (b"\x01\0\0a\0", b"\x01\0\0b\0");
    let long = |length| [&[1, 0, 0], vec![b'a'; length].as_slice(), &[0]].concat();
    for (bytes, code, message) in [
        (sent(u32::MAX, &[]), "XX000", "invalid size of tsquery"),
        (sent(0x3fff_ffff, &[a]), "XX000", "invalid size of tsquery"),
        (sent(1, &[b"\x01\x10\0a\0"]), "XX000", "invalid tsquery: invalid weight bitmap"),
        (sent(1, &[&long(2048)]), "XX000", "invalid tsquery: operand too long"),
        (sent(2, &[&[2, 5], a]), "XX000", "invalid tsquery: unrecognized operator type 5"),
        (sent(2, &[&[2, 0], a]), "XX000", "invalid tsquery: unrecognized operator type 0"),
        (sent(1, &[&[0]]), "XX000", "unrecognized tsquery node type: 0"),
        (sent(2, &[a, b]), "XX000", "malformed tsquery: extra nodes"),
        (sent(2, &[&[2, 2], b]), "XX000", "malformed tsquery: operand not found"),
        (sent(2, &[b, &[2, 1]]), "XX000", "invalid pointer to right operand"),
        (sent(1, &[&[2, 1]]), "XX000", "invalid pointer to right operand"),
        (sent(1, &[a, b"x"]), "22P03", "incorrect binary data format"),
        (sent(2, &[a]), "08P01", "insufficient data left in message"),
        (sent(1, &[b"\x01\0\0\xff\0"]), "22021", "invalid byte sequence for encoding \"UTF8\""),
        (
            sent(3, &[&[2, 4, 0x40, 1], b, a]),
            "22023",
            "distance in phrase operator must be an integer value between zero and 16384 inclusive",
        ),
    ] {
        let error = Query::receive(&bytes).unwrap_err();
        assert_eq!((error.code().as_str(), error.message()), (code, message), "{bytes:?}");
    }
    let farthest = sent(3, &[&[2, 4, 0x40, 0], b, a]);
    assert_eq!(shown(&Query::receive(&farthest).unwrap()), "'a' <16384> 'b'");
    assert!(Query::receive(&sent(1, &[&long(2047)])).is_ok());
}

proptest! {
    #[test]
    fn any_text_is_a_query_or_an_error(text in "[ a-c:,0-9A-D'\\\\&|!<>()\"*-]{0,40}") {
        if let Ok(query) = parse(&text) {
            prop_assert_eq!(&parse(&shown(&query)).unwrap(), &query);
            let bytes = query.encode();
            prop_assert_eq!(&Query::decode(&bytes).unwrap(), &query);
            let again = join(Op::And, 0, &bytes, &negate(&bytes));
            prop_assert!(Query::decode(&again).is_ok());
            prop_assert!(query.compare(&query).is_eq());
        }
        // Nothing that people type is an error.
        prop_assert!(parse_as(&text, Syntax::Web, &mut AsTheyAreOrStops).is_ok());
    }

    #[test]
    fn any_bytes_are_a_query_or_an_error(bytes in prop::collection::vec(0u8..5, 0..60)) {
        let _ = Query::decode(&bytes).map(|query| shown(&query));
    }

    #[test]
    fn spoilt_bytes_are_a_query_that_can_be_written_or_an_error(
        spoilt in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = parse("!(a:*A <3> b) | c <16384> (d & !e:BC)").unwrap().encode();
        for (at, byte) in spoilt {
            *at.get_mut(&mut bytes) = byte;
        }
        if let Ok(query) = Query::receive(&bytes) {
            let again = query.encode();
            prop_assert_eq!(&Query::receive(&again).unwrap(), &query);
            let vector = crate::vector::parse("a:1A b:4 c d:9C").unwrap();
            let found = |query: &Query| crate::matching::matches(&crate::vector::Vector::new(&vector), query).unwrap();
            let opposite = negate(&bytes);
            prop_assert!(query.is_empty() || found(&query) != found(&Query::decode(&opposite).unwrap()));
            // A client can send an empty word, as to PostgreSQL, which no text can write.
            let written = query.operands().all(|operand| !operand.word.is_empty());
            prop_assert_eq!(parse(&shown(&query)).ok(), written.then_some(query));
        }
    }
}
