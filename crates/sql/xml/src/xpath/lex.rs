//! Tokens of XPath.

use super::Error;
use crate::chars::{is_name_char, is_name_start};

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// A sign: `/`, `//`, `::`, `<=` and so on.
    Sign(&'static str),
    /// `and`, `or`, `div`, `mod`, `*` between operands.
    Operator(&'static str),
    /// A name with its prefix, `*` for any local name.
    Name { prefix: Option<Box<str>>, local: Box<str> },
    /// A quoted text.
    Literal(Box<str>),
    /// A number.
    Number(f64),
    /// `$name`
    Variable,
}

/// Longer ones first.
const SIGNS: [&str; 20] = [
    "//", "::", "..", "!=", "<=", ">=", "/", "(", ")", "[", "]", ".", "@", ",", "|", "+", "-", "=", "<", ">",
];

pub(super) fn tokens(text: &str) -> Result<Vec<Token>, Error> {
    let mut out: Vec<Token> = Vec::new();
    let mut rest = text.trim_start_matches([' ', '\t', '\r', '\n']);
    while let Some(c) = rest.chars().next() {
        if out.len() % 256 == 255 {
            runtime::check_interrupts()?;
        }
        let before = rest.len();
        let token = match c {
            '"' | '\'' => {
                let end = rest[1..].find(c).ok_or(Error::Syntax("Unfinished literal"))?;
                let literal = &rest[1..=end];
                rest = &rest[end + 2..];
                Token::Literal(literal.into())
            }
            '0'..='9' => number(&mut rest),
            '.' if rest[1..].starts_with(|c: char| c.is_ascii_digit()) => number(&mut rest),
            '$' => {
                rest = &rest[1..];
                name(&mut rest).ok_or(Error::Syntax("Invalid expression"))?;
                Token::Variable
            }
            '*' => {
                rest = &rest[1..];
                match is_operand_before(&out) {
                    true => Token::Operator("*"),
                    false => Token::Name { prefix: None, local: "*".into() },
                }
            }
            c if is_name_start(c) && c != ':' => word(&mut rest, &out)?,
            _ => {
                let sign = SIGNS.iter().find(|s| rest.starts_with(**s));
                let sign = sign.ok_or(Error::Syntax("Invalid expression"))?;
                rest = &rest[sign.len()..];
                Token::Sign(sign)
            }
        };
        debug_assert!(rest.len() < before);
        out.push(token);
        rest = rest.trim_start_matches([' ', '\t', '\r', '\n']);
    }
    Ok(out)
}

/// Whether an operand ends here, so that an operator is to come.
fn is_operand_before(out: &[Token]) -> bool {
    match out.last() {
        None | Some(Token::Operator(_)) => false,
        Some(Token::Sign(sign)) => matches!(*sign, ")" | "]" | "." | ".."),
        Some(_) => true,
    }
}

/// Digits with a point, and an exponent, which libxml2 knows.
fn number(rest: &mut &str) -> Token {
    let bytes = rest.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut end = digits(0);
    if bytes.get(end) == Some(&b'.') {
        end += 1 + digits(end + 1);
    }
    let mut value = rest[..end].parse().unwrap_or(f64::NAN);
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let count = digits(end + 1 + sign);
        if count > 0 {
            value = rest[..end + 1 + sign + count].parse().unwrap_or(f64::NAN);
        }
        end += 1 + sign + count;
    }
    *rest = &rest[end..];
    Token::Number(value)
}

/// A name without a colon.
fn plain_name<'t>(rest: &mut &'t str) -> Option<&'t str> {
    let first = rest.chars().next().filter(|c| is_name_start(*c) && *c != ':')?;
    let end = rest[first.len_utf8()..].find(|c| !is_name_char(c) || c == ':');
    let end = end.map_or(rest.len(), |n| n + first.len_utf8());
    let found = &rest[..end];
    *rest = &rest[end..];
    Some(found)
}

fn name<'t>(rest: &mut &'t str) -> Option<(Option<&'t str>, &'t str)> {
    let first = plain_name(rest)?;
    let Some(behind) = rest.strip_prefix(':').filter(|r| !r.starts_with(':')) else {
        return Some((None, first));
    };
    let mut after = behind;
    let local = match behind.strip_prefix('*') {
        Some(end) => {
            after = end;
            "*"
        }
        None => plain_name(&mut after)?,
    };
    *rest = after;
    Some((Some(first), local))
}

/// A name, or an operator that is one.
fn word(rest: &mut &str, out: &[Token]) -> Result<Token, Error> {
    if is_operand_before(out) {
        let word = plain_name(rest).unwrap_or_default();
        let operators = ["and", "or", "div", "mod"];
        let operator = operators.iter().find(|o| **o == word).ok_or(Error::Syntax("Invalid expression"))?;
        return Ok(Token::Operator(operator));
    }
    let (prefix, local) = name(rest).ok_or(Error::Syntax("Invalid expression"))?;
    Ok(Token::Name { prefix: prefix.map(Into::into), local: local.into() })
}
