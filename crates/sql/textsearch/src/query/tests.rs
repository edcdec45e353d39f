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
}
