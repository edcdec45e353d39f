//! Lists of stored expressions in one text column (`pg_index.indexprs`): each expression is preceded by its length in bytes
//! and a colon, so that their own syntax does not matter.

use std::fmt::Write as _;
use std::sync::Arc;

/// Joins expressions.
pub fn join<S: AsRef<str>>(expressions: &[S]) -> String {
    let mut text = String::new();
    for expression in expressions {
        let expression = expression.as_ref();
        let _ = write!(text, "{}:{expression}", expression.len());
    }
    text
}

/// Splits what [`join`] made; stops at the first thing that is not of its form.
pub fn split(mut text: &str) -> Vec<Arc<str>> {
    let mut expressions = Vec::new();
    while let Some((length, rest)) = text.split_once(':') {
        let Some(expression) = length.parse().ok().and_then(|length: usize| rest.get(..length)) else {
            break;
        };
        expressions.push(expression.into());
        text = &rest[expression.len()..];
    }
    expressions
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_is_joined_is_split() {
        let list = ["lower(a)", "", "x:12:y", "größer"];
        let split = super::split(&super::join(&list));
        assert_eq!(split.iter().map(|s| &**s).collect::<Vec<_>>(), list);
    }
}
