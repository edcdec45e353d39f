//! Patterns of LIKE, `^@` and regular expressions: what all matches begin with, as a range of an index, and what share of rows they match.
//!
//! # Invariants
//! 1. Every text that matches begins with the prefix. So the condition itself is always checked as well.
//! 2. A range of texts with a prefix is one of an index only where texts are in the order of their bytes: of the collation C and those like it,
//!    and of the classes `…_pattern_ops`.
//!
//! # PostgreSQL counterpart and differences
//! `like_support.c`. The prefix of a regular expression is read off its text, up to the first thing that is not a plain character. Of
//! `bpchar` and `bytea` no ranges are made.

use base::Oid;
use catalog::ColumnStatistics;
use tuple::Datum;
use types::{Selectivity, oids};

use crate::expr::{Call, CallForm, Expr, OperatorRef, Var};
use crate::fold::{Native, fold, is_true};
use crate::plan::{IndexBound, IndexCondition, IndexRef};
use crate::planner::Planner;
use crate::scan::strip;

/// The share of texts that have one certain character in one place, or any of some, and what wildcards make of it.
const CHARACTER: f64 = 0.20;
const RANGE: f64 = 0.25;
const ANY_CHARACTER: f64 = 0.9;
const WILDCARD: f64 = 5.0;
const REPEATED: f64 = 2.0;
/// The share of texts with a prefix where nothing is known of them.
const PREFIX: f64 = 0.005;
/// Known values from which on they alone tell.
const ENOUGH: usize = 100;

/// What a pattern says of its matches.
#[derive(Debug, PartialEq)]
struct Pattern {
    /// What they begin with.
    prefix: String,
    /// The prefix is all there is.
    exact: bool,
    /// The share of the texts with the prefix that match.
    rest: f64,
}

impl Pattern {
    fn new(kind: Selectivity, text: &str) -> Option<Pattern> {
        match kind {
            Selectivity::Like | Selectivity::NotLike => Some(Pattern::of_like(text, true)),
            Selectivity::ILike | Selectivity::NotILike => Some(Pattern::of_like(text, false)),
            Selectivity::Regex | Selectivity::NotRegex => Some(Pattern::of_regex(text, true)),
            Selectivity::IRegex | Selectivity::NotIRegex => Some(Pattern::of_regex(text, false)),
            Selectivity::Prefix => Some(Pattern { prefix: text.into(), exact: false, rest: 1.0 }),
            _ => None,
        }
    }

    /// Without regard to case, only what has none is certain.
    fn of_like(pattern: &str, case: bool) -> Pattern {
        let mut prefix = String::new();
        let mut rest = pattern.chars();
        loop {
            let mut next = rest.clone();
            let character = match next.next() {
                None => return Pattern { prefix, exact: true, rest: 1.0 },
                Some('%' | '_') => break,
                Some('\\') => next.next(),
                other => other,
            };
            match character.filter(|c| case || !c.is_alphabetic()) {
                Some(character) => prefix.push(character),
                None => break,
            }
            rest = next;
        }
        Pattern { prefix, exact: false, rest: like_share(rest.as_str()) }
    }

    fn of_regex(pattern: &str, case: bool) -> Pattern {
        let none = || Pattern { prefix: String::new(), exact: false, rest: regex_share(pattern, 0) };
        // With an alternative anywhere, what stands first need not be there.
        let Some(body) = pattern.strip_prefix('^').filter(|body| !body.contains('|')) else { return none() };
        let mut prefix = String::new();
        let mut rest = body.chars();
        let exact = loop {
            let mut next = rest.clone();
            let character = match next.next() {
                None => break false,
                Some('$') => break next.next().is_none(),
                Some('*' | '?' | '{') => {
                    // The character before may be missing.
                    prefix.pop();
                    break false;
                }
                Some('.' | '[' | ']' | '(' | ')' | '+' | '^') => break false,
                Some('\\') => next.next().filter(|c| !c.is_alphanumeric()),
                other => other,
            };
            match character.filter(|c| case || !c.is_alphabetic()) {
                Some(character) => prefix.push(character),
                None => break false,
            }
            rest = next;
        };
        let rest = if exact { 1.0 } else { regex_share(pattern, prefix.chars().count()) };
        Pattern { prefix, exact, rest }
    }
}

/// The share of texts that match a pattern of LIKE.
fn like_share(pattern: &str) -> f64 {
    let mut share = 1.0;
    let mut characters = pattern.trim_start_matches(['%', '_']).chars();
    while let Some(character) = characters.next() {
        share *= match character {
            '%' => WILDCARD,
            '_' => ANY_CHARACTER,
            '\\' => {
                characters.next();
                CHARACTER
            }
            _ => CHARACTER,
        };
    }
    share.min(1.0)
}

/// The share of texts with a prefix of so many characters that match a regular expression which begins with it.
fn regex_share(pattern: &str, prefix: usize) -> f64 {
    let ends = pattern.ends_with('$') && !pattern.ends_with("\\$");
    let whole = match ends {
        true => regex_part(&pattern[..pattern.len() - 1]),
        false => regex_part(pattern) * WILDCARD,
    };
    (whole / CHARACTER.powi(prefix as i32)).clamp(0.0, 1.0)
}

fn regex_part(pattern: &str) -> f64 {
    let mut share = 1.0;
    let mut sum = 0.0;
    let mut characters = pattern.trim_start_matches('^').chars();
    while let Some(character) = characters.next() {
        share *= match character {
            '|' => {
                sum += std::mem::replace(&mut share, 1.0);
                1.0
            }
            '(' | ')' => 1.0,
            '[' => {
                let negated = characters.as_str().starts_with('^');
                while characters.next().is_some_and(|c| c != ']') {}
                if negated { 1.0 - RANGE } else { RANGE }
            }
            '.' => ANY_CHARACTER,
            '*' | '?' | '+' => REPEATED,
            '{' => {
                while characters.next().is_some_and(|c| c != '}') {}
                REPEATED
            }
            '\\' => {
                characters.next();
                CHARACTER
            }
            _ => CHARACTER,
        };
    }
    f64::min(sum + share, 1.0)
}

/// The least text that is greater than all with a prefix, in the order of bytes. None if there is no such text.
fn after(prefix: &str) -> Option<String> {
    let mut text = prefix.to_owned();
    while let Some(last) = text.pop() {
        // Between two characters there may be codes that are none.
        let next = (u32::from(last) + 1..=u32::from(char::MAX)).find_map(char::from_u32);
        if let Some(next) = next {
            text.push(next);
            return Some(text);
        }
    }
    None
}

fn text_of(value: &Datum) -> Option<&str> {
    match value {
        Datum::Bytes(bytes) => std::str::from_utf8(bytes).ok(),
        _ => None,
    }
}

/// Operator, column and pattern of a condition, if the pattern is known.
fn parts(qual: &Expr) -> Option<(&Call, &OperatorRef, Pattern)> {
    let Expr::Call(call) = qual else { return None };
    let CallForm::Operator(operator) = &call.form else { return None };
    let [_, Expr::Const { value, type_oid, .. }] = call.args.as_slice() else { return None };
    let pattern = Pattern::new(operator.selectivity, text_of(value).filter(|_| *type_oid == oids::text)?)?;
    Some((call, operator, pattern))
}

impl Planner<'_> {
    /// The range of an index column in which all texts lie that match a pattern.
    pub(crate) fn range_of_pattern(
        &self,
        (index, column): (&IndexRef, usize),
        of: &Expr,
        qual: &Expr,
    ) -> Vec<IndexCondition> {
        let Some((call, operator, pattern)) = parts(qual) else { return Vec::new() };
        let matches = !matches!(
            operator.selectivity,
            Selectivity::NotLike | Selectivity::NotILike | Selectivity::NotRegex | Selectivity::NotIRegex
        );
        let left = &call.args[0];
        let rules = self.types.rules(call.collation);
        if !matches
            || !index.method.can_order
            || (left != of && strip(left) != strip(of))
            || !rules.is_ok_and(|rules| rules.is_deterministic())
        {
            return Vec::new();
        }
        let bounds = match pattern.exact {
            true => vec![(IndexBound::Equal, index::strategy::EQUAL, pattern.prefix)],
            false if pattern.prefix.is_empty() => return Vec::new(),
            false => {
                let end = after(&pattern.prefix);
                let mut bounds =
                    vec![(IndexBound::GreaterEqual, index::strategy::GREATER_EQUAL, pattern.prefix)];
                bounds.extend(end.map(|end| (IndexBound::Less, index::strategy::LESS, end)));
                bounds
            }
        };
        let exact = pattern.exact;
        let condition = |(bound, strategy, text): (IndexBound, u16, String)| {
            let mut original = self.bound_on((index, column), (left, call.collation), strategy, exact)?;
            let value =
                Expr::Const { value: Datum::Bytes(text.as_bytes().into()), type_oid: oids::text, typmod: -1 };
            original.args.push(value.clone());
            Some(IndexCondition { column, bound, value, original: Expr::Call(Box::new(original)) })
        };
        bounds.into_iter().map(condition).collect::<Option<Vec<_>>>().unwrap_or_default()
    }

    /// A comparison by an index's column, its right side missing, if the index has texts in the order of their bytes; for equality, in any order
    /// of the same collation.
    fn bound_on(
        &self,
        (index, column): (&IndexRef, usize),
        (left, collation): (&Expr, Oid),
        strategy: u16,
        exact: bool,
    ) -> Option<Call> {
        let class = self.families.class(*index.opclasses.get(column)?)?;
        let types = match strip(left).type_oid() {
            oids::name => (oids::name, oids::text),
            oids::text | oids::varchar => (oids::text, oids::text),
            _ => return None,
        };
        let own = index.collations.get(column).copied().unwrap_or_default();
        let bytewise = || self.types.rules(own).is_ok_and(|rules| rules.is_bytewise());
        let by_bytes = self.families.operator(class.family, (oids::text, oids::text), 4) == Some(Oid(2317));
        let usable = if exact { own == collation || bytewise() } else { by_bytes || bytewise() };
        if !usable {
            return None;
        }
        let operator = self.families.operator(class.family, types, strategy as i16)?;
        let operator = types::registry::operator(operator)?;
        let function = crate::function::Function::Builtin(types::registry::function(operator.function)?);
        Some(Call {
            function,
            form: CallForm::Operator(OperatorRef::built_in(operator)),
            args: vec![left.clone()],
            type_oid: oids::bool,
            typmod: -1,
            collation: own,
            variadic: false,
            number: 0,
        })
    }
}

/// The share of rows that match a pattern: by the values that are known, the more the more there are, else by what the pattern looks like.
/// `equal` is the share of rows that equal a text.
pub(crate) fn share(
    call: &Call,
    column: Option<(&Var, &ColumnStatistics)>,
    equal: impl Fn(&Expr) -> f64,
) -> Option<f64> {
    let CallForm::Operator(operator) = &call.form else { return None };
    let negated = matches!(
        operator.selectivity,
        Selectivity::NotLike | Selectivity::NotILike | Selectivity::NotRegex | Selectivity::NotIRegex
    );
    let [_, Expr::Const { value, type_oid, .. }] = call.args.as_slice() else { return None };
    let pattern = Pattern::new(operator.selectivity, text_of(value).filter(|_| *type_oid == oids::text)?)?;
    let known = |pattern: &Pattern| match pattern {
        Pattern { exact: true, prefix, .. } => {
            let value = Datum::Bytes(prefix.as_bytes().into());
            equal(&Expr::Const { value, type_oid: oids::text, typmod: -1 })
        }
        Pattern { prefix, rest, .. } if prefix.is_empty() => *rest,
        Pattern { rest, .. } => PREFIX * rest,
    };
    let guess = known(&pattern);
    let Some((var, stats)) = column else {
        return Some(if negated { 1.0 - guess } else { guess });
    };
    let matches = matcher(call, var);
    let passes = |value: &Datum| matches(value) != negated;
    // The first and the last value are the least and the greatest there is, which says little of the others.
    let inner = stats.histogram.get(1..stats.histogram.len().saturating_sub(1)).unwrap_or_default();
    let mut rest = guess;
    if inner.len() >= 10 {
        let found = inner.iter().filter(|value| passes(value)).count() as f64 / inner.len() as f64;
        let weight = (stats.histogram.len() as f64 / ENOUGH as f64).min(1.0);
        rest = found * weight + guess * (1.0 - weight);
    }
    let rest = rest.clamp(0.0001, 0.9999);
    let common: f64 = stats.common.iter().filter(|(value, _)| passes(value)).map(|(_, share)| share).sum();
    let share = rest * (1.0 - stats.common_share() - stats.null_fraction).max(0.0) + common;
    Some(if negated { 1.0 - share - stats.null_fraction } else { share })
}

/// Says of values of a column whether they satisfy a condition on it. They are many, so it is told only the value where it can be.
fn matcher<'a>(call: &'a Call, var: &'a Var) -> Box<dyn Fn(&Datum) -> bool + 'a> {
    if let [left, Expr::Const { value: pattern, .. }] = call.args.as_slice()
        && matches!(strip(left), Expr::Var(of) if of == var)
        && !pattern.is_null()
        && let Some(native) = Native::of(call)
    {
        let passes = move |value: &Datum| native.compute(&[relabelled(left, value), pattern.clone()]);
        return Box::new(move |value| matches!(passes(value), Ok(Datum::Bool(true))));
    }
    Box::new(move |value| satisfies(call, var, value))
}

/// A value of a column as an expression has it that only calls its type another.
fn relabelled(expr: &Expr, value: &Datum) -> Datum {
    match expr {
        Expr::Relabel { arg, type_oid, .. } => types::registry::relabel(relabelled(arg, value), *type_oid),
        _ => value.clone(),
    }
}

/// Whether a value of a column satisfies a condition on it.
fn satisfies(call: &Call, var: &Var, value: &Datum) -> bool {
    let mut expr = Expr::Call(Box::new(call.clone()));
    expr.replace(&mut |e| match e {
        Expr::Var(of) if of == var => {
            Some(Expr::Const { value: value.clone(), type_oid: var.type_oid, typmod: var.typmod })
        }
        _ => None,
    });
    fold(&mut expr);
    is_true(&expr)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix(kind: Selectivity, text: &str) -> (String, bool) {
        let pattern = Pattern::new(kind, text).unwrap();
        (pattern.prefix, pattern.exact)
    }

    #[test]
    fn prefixes_of_like() {
        for (text, expected, exact) in [
            ("abc%", "abc", false),
            ("abc", "abc", true),
            ("", "", true),
            ("%abc", "", false),
            ("a_c", "a", false),
            ("a\\%b%", "a%b", false),
            ("a\\", "a", false),
        ] {
            assert_eq!(prefix(Selectivity::Like, text), (expected.into(), exact), "{text}");
        }
        assert_eq!(prefix(Selectivity::ILike, "12a%"), ("12".into(), false));
        assert_eq!(prefix(Selectivity::ILike, "12"), ("12".into(), true));
    }

    #[test]
    fn prefixes_of_regular_expressions() {
        for (text, expected, exact) in [
            ("^abc", "abc", false),
            ("^abc$", "abc", true),
            ("abc", "", false),
            ("^abc*", "ab", false),
            ("^abc+", "abc", false),
            ("^abc?d", "ab", false),
            ("^abc{0}", "ab", false),
            ("^ab|c", "", false),
            ("^a.c", "a", false),
            ("^a\\.c", "a.c", false),
            ("^a\\dc", "a", false),
            ("^(abc)", "", false),
            ("***=abc", "", false),
            ("^a$b", "a", false),
        ] {
            assert_eq!(prefix(Selectivity::Regex, text), (expected.into(), exact), "{text}");
        }
        assert_eq!(prefix(Selectivity::IRegex, "^1a"), ("1".into(), false));
    }

    #[test]
    fn the_text_after_a_prefix() {
        for (text, next) in [("abc", "abd"), ("a\u{10FFFF}", "b"), ("\u{D7FF}", "\u{E000}"), ("é", "ê")] {
            assert_eq!(after(text).as_deref(), Some(next));
            assert!(next > text);
        }
        assert_eq!(after("\u{10FFFF}"), None);
    }

    #[test]
    fn shares_without_statistics() {
        let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(close(like_share("%abc%"), 0.04));
        assert!(close(like_share("%"), 1.0));
        assert!(close(regex_share("ab", 0), 0.2));
        assert!(close(regex_share("^ab$", 2), 1.0));
    }
}
