use proptest::prelude::*;

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

/// A query as a tree, from which its text is written with all parentheses.
#[derive(Clone, Debug)]
enum Tree {
    Word { prefix: String, any_end: bool, weights: String },
    Not(Box<Tree>),
    Two(Box<Tree>, &'static str, u16, Box<Tree>),
}

impl Tree {
    fn text(&self) -> String {
        match self {
            Tree::Word { prefix, any_end, weights } => {
                let star = if *any_end { "*" } else { "" };
                let colon = if *any_end || !weights.is_empty() { ":" } else { "" };
                format!("{prefix}{colon}{star}{weights}")
            }
            Tree::Not(inner) => format!("!({})", inner.text()),
            Tree::Two(a, "<>", distance, b) => format!("({} <{distance}> {})", a.text(), b.text()),
            Tree::Two(a, op, _, b) => format!("({} {op} {})", a.text(), b.text()),
        }
    }
}

fn trees() -> impl Strategy<Value = Tree> {
    let word = (
        "[abc]{1,2}",
        prop::bool::weighted(0.3),
        prop_oneof![3 => Just(""), 1 => Just("A"), 1 => Just("BD")],
    );
    let word =
        word.prop_map(|(prefix, any_end, weights)| Tree::Word { prefix, any_end, weights: weights.into() });
    word.prop_recursive(4, 12, 2, |inner| {
        let op = prop_oneof![2 => Just("&"), 2 => Just("|"), 5 => Just("<>")];
        prop_oneof![
            1 => inner.clone().prop_map(|tree| Tree::Not(tree.into())),
            3 => (inner.clone(), op, 0..4u16, inner).prop_map(|(a, op, n, b)| Tree::Two(a.into(), op, n, b.into())),
        ]
    })
}

/// A word of a document and where it stands, with weights; nowhere if its positions were stripped.
type Lexeme = (String, Vec<(i32, char)>);

fn documents() -> impl Strategy<Value = Vec<Lexeme>> {
    let places = prop::collection::btree_map(1..9i32, prop::char::range('A', 'D'), 1..4);
    let places = prop_oneof![6 => places, 1 => Just(Default::default())];
    prop::collection::btree_map("[abc]{1,2}", places.prop_map(|p| p.into_iter().collect()), 1..6)
        .prop_map(|words| words.into_iter().collect())
}

fn document_text(document: &[Lexeme]) -> String {
    let places = |at: &[(i32, char)]| at.iter().map(|(p, w)| format!("{p}{w}")).collect::<Vec<_>>().join(",");
    let word =
        |(word, at): &Lexeme| if at.is_empty() { word.clone() } else { format!("{word}:{}", places(at)) };
    document.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// What the model knows of a part of a phrase: at which places it ends, as a bit for each of -64 to 63 around the document, and how wide it is.
#[derive(Clone, Copy, Default)]
struct Ends {
    at: u128,
    width: u32,
}

/// Where nothing of a document stands: bits of what holds everywhere else too go in here when a set is shifted.
const FAR_LEFT: u128 = 1;

impl Ends {
    fn shifted(self, by: u32) -> u128 {
        let fill = if self.at & FAR_LEFT != 0 { (1 << by) - 1 } else { 0 };
        self.at << by | fill
    }
}

fn words<'a>(document: &'a [Lexeme], prefix: &'a str, any_end: bool) -> impl Iterator<Item = &'a Lexeme> {
    document.iter().filter(move |(word, _)| if any_end { word.starts_with(prefix) } else { word == prefix })
}

fn has_weight(weights: &str, weight: char) -> bool {
    weights.is_empty() || weights.contains(weight)
}

/// Where a part of a phrase ends; nothing if it cannot be told for want of positions.
fn ends(tree: &Tree, document: &[Lexeme]) -> Option<Ends> {
    match tree {
        Tree::Word { prefix, any_end, weights } => {
            let mut at = 0;
            for (_, places) in words(document, prefix, *any_end) {
                if places.is_empty() {
                    return None;
                }
                let counted = places.iter().filter(|(_, weight)| has_weight(weights, *weight));
                at |= counted.map(|(place, _)| 1u128 << (64 + place)).sum::<u128>();
            }
            Some(Ends { at, width: 0 })
        }
        Tree::Not(inner) => ends(inner, document).map(|inner| Ends { at: !inner.at, ..inner }),
        Tree::Two(a, op, distance, b) => {
            let (first, second) = (ends(a, document), ends(b, document));
            let nowhere = |side: &Option<Ends>| side.is_some_and(|ends| ends.at == 0);
            if *op != "|" && (nowhere(&first) || nowhere(&second)) {
                return Some(Ends::default());
            }
            let (first, second) = (first?, second?);
            let width = |side: Ends| if side.at == 0 { 0 } else { side.width };
            let widest = width(first).max(width(second));
            Some(match *op {
                "<>" => Ends {
                    at: first.shifted(u32::from(*distance) + second.width) & second.at,
                    width: u32::from(*distance) + first.width + second.width,
                },
                "&" => Ends {
                    at: first.shifted(widest - first.width) & second.shifted(widest - second.width),
                    width: widest,
                },
                _ => Ends {
                    at: first.shifted(widest - width(first)) | second.shifted(widest - width(second)),
                    width: widest,
                },
            })
        }
    }
}

/// Whether the document satisfies the query, by the model.
fn satisfies(document: &[Lexeme], tree: &Tree) -> bool {
    match tree {
        Tree::Word { prefix, any_end, weights } => words(document, prefix, *any_end)
            .any(|(_, at)| at.is_empty() || at.iter().any(|(_, weight)| has_weight(weights, *weight))),
        Tree::Not(inner) => !satisfies(document, inner),
        Tree::Two(a, "&", _, b) => satisfies(document, a) && satisfies(document, b),
        Tree::Two(a, "|", _, b) => satisfies(document, a) || satisfies(document, b),
        Tree::Two(..) => ends(tree, document).is_some_and(|ends| ends.at != 0),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    /// The model is PostgreSQL's answer: cases of the same generators were compared with it.
    #[test]
    fn answers_are_the_models(document in documents(), tree in trees()) {
        let (vector, query) = (document_text(&document), tree.text());
        let answer = found(&vector, &query);
        prop_assert_eq!(answer, satisfies(&document, &tree), "{} @@ {}", vector, query);
        prop_assert_eq!(found(&vector, &format!("!({query})")), !answer, "{} @@ {}", vector, query);
    }
}
