use super::*;
use crate::query::parse;

fn found(vector: &str, query: &str) -> bool {
    let vector = crate::vector::parse(vector).unwrap();
    matches(&Vector::new(&vector), &parse(query).unwrap()).unwrap()
}

#[test]
fn words_weights_and_prefixes() {
    for (vector, query, wanted) in [
        ("a b:89 ca:23A,64b d:34c", "d:AC & ca", true),
        ("a b:89 ca:23A,64b d:34c", "d:AB & ca", false),
        ("a b:89 ca:23A,64b d:34c", "d:AC & c:*B", true),
        ("a b:89 ca:23A,64b d:34c", "d:AC & c:*C", false),
        ("a b:89 cb:80 ca:23A,64b d:34c", "d:AC & c:*C", false),
        ("a b", "a:A", true),
        ("a b", "!c", true),
        ("", "!c", false),
    ] {
        assert_eq!(found(vector, query), wanted, "{vector} @@ {query}");
    }
}

#[test]
fn phrases() {
    for (vector, query, wanted) in [
        ("a:1 b:2", "a <-> b", true),
        ("a:1 b:3", "a <-> b", false),
        ("a:1 b:3", "a <2> b", true),
        ("a b", "a <-> b", false),
        ("a:1 b:2 c:3", "a <-> b <-> c", true),
        ("a:1 b:3 c:4", "a <-> (b | c)", false),
        ("q:1 x:2 q:3 y:4", "!x <-> y", true),
        ("q:1 x:2 q:3 x:4 y:5", "!x <-> y", false),
        ("q:1 x:2 q:3 y:4", "!!x <-> y", false),
        ("q:1 x:2 q:3 y:4", "!(x <-> y)", true),
        ("q:1 x:2 q:3 y:4", "!x <-> !y", true),
        ("q:1 x:2 q:3 y:4", "(!x | y) <-> y", true),
        ("a:1 bb:2 bc:3", "b:* <-> b:*", true),
        ("a:1", "a <0> a", true),
    ] {
        assert_eq!(found(vector, query), wanted, "{vector} @@ {query}");
    }
}

#[test]
fn deep_queries_end_in_an_error() {
    let vector = crate::vector::parse("a").unwrap();
    let query = parse(&("!".repeat(1 << 20) + "a")).unwrap();
    // It depends on the stack whether it is answered; the test is that the process survives.
    let _ = matches(&Vector::new(&vector), &query);
}
