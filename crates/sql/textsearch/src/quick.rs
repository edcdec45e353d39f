//! What an index asks of a query: whether a row may satisfy it, given which of the query's words the row has. Nothing here waits or looks for
//! interrupts.

use crate::matching::Answer;
use crate::query::{Item, Op, Operand, Query};

/// A query whose items are its own.
pub type Owned = Query<'static>;

impl Query<'_> {
    /// The same, with words of its own.
    pub fn into_owned(self) -> Owned {
        let own = |item| match item {
            Item::Value(Operand { word, weights, prefix }) => {
                Item::Value(Operand { word: word.into_owned().into(), weights, prefix })
            }
            Item::Stop => Item::Stop,
            Item::Operator { op, distance, left } => Item::Operator { op, distance, left },
        };
        Query { items: self.items.into_iter().map(own).collect() }
    }

    /// Whether no row satisfies it that has none of its words.
    pub fn needs_words(&self) -> bool {
        self.answer(&mut |_, _| Answer::No) == Answer::No
    }

    /// Whether a row satisfies it, by what is known of its words: `found` says it of the word of an item. Phrases are never certain, as nothing is
    /// known of places.
    pub fn answer(&self, found: &mut dyn FnMut(usize, &Operand) -> Answer) -> Answer {
        // Items from the last to the first: operands come before their operators.
        let mut answers = vec![Answer::No; self.items.len()];
        for (at, item) in self.items.iter().enumerate().rev() {
            answers[at] = match item {
                Item::Value(operand) => found(at, operand),
                Item::Stop => Answer::No,
                Item::Operator { op, left, .. } => {
                    let of = |at: usize| answers.get(at).copied().unwrap_or(Answer::Maybe);
                    let (right, left) = (of(at + 1), of(at + *left as usize));
                    match (op, left, right) {
                        (Op::Not, _, Answer::No) => Answer::Yes,
                        (Op::Not, _, Answer::Yes) => Answer::No,
                        (Op::Not, ..) => Answer::Maybe,
                        (Op::Or, Answer::Yes, _) | (Op::Or, _, Answer::Yes) => Answer::Yes,
                        (Op::Or, Answer::No, Answer::No) => Answer::No,
                        (Op::Or, ..) => Answer::Maybe,
                        (_, Answer::No, _) | (_, _, Answer::No) => Answer::No,
                        (Op::And, Answer::Yes, Answer::Yes) => Answer::Yes,
                        _ => Answer::Maybe,
                    }
                }
            };
        }
        answers.first().copied().unwrap_or(Answer::No)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(text: &str) -> Owned {
        crate::query::parse(text).unwrap().into_owned()
    }

    #[test]
    fn words_that_are_known_to_be_there_answer() {
        let answer = |text: &str, has: &[&str]| {
            query(text).answer(&mut |_, operand| match has.contains(&&*operand.word) {
                true => Answer::Yes,
                false => Answer::No,
            })
        };
        for (text, has, expected) in [
            ("a & b", &["a", "b"][..], Answer::Yes),
            ("a & b", &["a"], Answer::No),
            ("a | b", &["b"], Answer::Yes),
            ("a & !b", &["a"], Answer::Yes),
            ("a & !b", &["a", "b"], Answer::No),
            ("a <-> b", &["a", "b"], Answer::Maybe),
            ("a <-> b", &["a"], Answer::No),
            ("!(a <-> b)", &["a", "b"], Answer::Maybe),
            ("a | b <-> c", &["c"], Answer::No),
        ] {
            assert_eq!(answer(text, has), expected, "{text} {has:?}");
        }
        for (text, needs) in
            [("a", true), ("!a", false), ("a & !b", true), ("a | !b", false), ("!a <-> b", true)]
        {
            assert_eq!(query(text).needs_words(), needs, "{text}");
        }
    }
}
