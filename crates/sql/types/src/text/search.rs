//! Searching and matching of texts under collations that are not deterministic: what equals a text may have other bytes, and more or fewer of them.

use std::ops::Range;

use base::{SqlResult, sql_err};
use collation::Rules;

use crate::piece::Pace;

/// The ends of the characters of a text, behind an empty beginning.
fn ends(text: &str) -> impl Iterator<Item = usize> {
    text.char_indices().map(|(at, c)| at + c.len_utf8())
}

/// The first part of a text, from byte `from` on, that equals another text: of those that begin there the shortest.
pub(super) fn find(rules: &Rules, text: &str, part: &str, from: usize) -> SqlResult<Option<Range<usize>>> {
    search(rules, (text, from), part, false)
}

/// The same, of those that begin there the longest.
pub(super) fn find_longest(
    rules: &Rules,
    text: &str,
    part: &str,
    from: usize,
) -> SqlResult<Option<Range<usize>>> {
    search(rules, (text, from), part, true)
}

fn search(
    rules: &Rules,
    (text, from): (&str, usize),
    part: &str,
    longest: bool,
) -> SqlResult<Option<Range<usize>>> {
    if part.is_empty() {
        return Ok(Some(from..from));
    }
    let mut pace = Pace::new();
    for (at, _) in text[from..].char_indices() {
        let start = from + at;
        let mut found = None;
        for end in ends(&text[start..]) {
            pace.did(end)?;
            if rules.equal(&text.as_bytes()[start..start + end], part.as_bytes()) {
                found = Some(start..start + end);
                if !longest {
                    break;
                }
            }
        }
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// The text with all parts that equal `from` replaced.
pub(super) fn replace(rules: &Rules, text: &str, from: &str, to: &str) -> SqlResult<Vec<u8>> {
    let (mut out, mut done) = (Vec::with_capacity(text.len()), 0);
    while !from.is_empty()
        && let Some(found) = find_longest(rules, text, from, done)?
    {
        out.extend_from_slice(&text.as_bytes()[done..found.start]);
        out.extend_from_slice(to.as_bytes());
        if out.len() > super::MAX_TEXT {
            return Err(super::too_long());
        }
        done = found.end;
    }
    out.extend_from_slice(&text.as_bytes()[done..]);
    Ok(out)
}

/// Field `n` of a text, from 1; from the end if negative.
pub(super) fn split_part<'a>(rules: &Rules, text: &'a str, delimiter: &str, n: i32) -> SqlResult<&'a str> {
    let (mut fields, mut start) = (Vec::new(), 0);
    while let Some(found) = find(rules, text, delimiter, start)? {
        fields.push(&text[start..found.start]);
        start = found.end;
        if n > 0 && fields.len() == n as usize {
            break;
        }
    }
    fields.push(&text[start..]);
    let at = if n > 0 { Some(n as usize - 1) } else { fields.len().checked_sub(n.unsigned_abs() as usize) };
    Ok(at.and_then(|at| fields.get(at).copied()).unwrap_or(""))
}

/// LIKE: what stands between wildcards must equal a part of the text.
pub(super) fn like(rules: &Rules, text: &str, pattern: &str) -> SqlResult<bool> {
    matches(rules, text, pattern, &mut Pace::new())
}

fn matches(rules: &Rules, text: &str, pattern: &str, pace: &mut Pace) -> SqlResult<bool> {
    runtime::check_stack()?;
    if let Some(rest) = pattern.strip_prefix('_') {
        let mut chars = text.chars();
        return Ok(chars.next().is_some() && matches(rules, chars.as_str(), rest, pace)?);
    }
    if let Some(rest) = pattern.strip_prefix('%') {
        for at in std::iter::once(0).chain(ends(text)) {
            pace.did(1)?;
            if matches(rules, &text[at..], rest, pace)? {
                return Ok(true);
            }
        }
        return Ok(false);
    }
    let (literal, rest) = literal(pattern)?;
    if rest.is_empty() {
        return Ok(rules.equal(text.as_bytes(), literal.as_bytes()));
    }
    for at in std::iter::once(0).chain(ends(text)) {
        pace.did(literal.len())?;
        if rules.equal(&text.as_bytes()[..at], literal.as_bytes()) && matches(rules, &text[at..], rest, pace)?
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What a pattern begins with up to its next wildcard, escapes resolved, and what follows.
fn literal(pattern: &str) -> SqlResult<(String, &str)> {
    let (mut out, mut chars) = (String::new(), pattern.chars());
    loop {
        let rest = chars.as_str();
        match chars.next() {
            None | Some('%' | '_') => return Ok((out, rest)),
            Some('\\') => out.push(chars.next().ok_or_else(|| {
                sql_err!(INVALID_ESCAPE_SEQUENCE, "LIKE pattern must not end with escape character")
            })?),
            Some(c) => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use collation::{Definition, Provider, rules};

    use super::*;

    fn accents() -> &'static Rules {
        let locale = "und-u-kc-ks-level1";
        rules(Definition { provider: Provider::Icu, locale, deterministic: false }).unwrap()
    }

    #[test]
    fn parts_are_found_whatever_their_bytes() {
        let rules = accents();
        assert_eq!(find(rules, "a\u{308}bc", "äb", 0).unwrap(), Some(0..4));
        assert_eq!(find(rules, "xyz", "ä", 0).unwrap(), None);
        assert_eq!(replace(rules, "co\u{302}te", "co", "ma").unwrap(), b"mate");
        assert_eq!(split_part(rules, "xäya\u{308}z", "a", -1).unwrap(), "\u{308}z");
        assert_eq!(split_part(rules, "xäya\u{308}z", "a", 2).unwrap(), "y");
    }

    #[test]
    fn patterns_match_longer_parts_where_shorter_ones_do_not() {
        let like = |text: &str, pattern: &str| like(accents(), text, pattern);
        assert!(like("a\u{308}bc", "ä_c").unwrap());
        assert!(like("äbc", "a\u{308}_c").unwrap());
        assert!(like("a\u{308}bc", "ä%%c").unwrap());
        assert!(!like("a\u{308}bc", "_bd").unwrap());
        assert!(like("foo", "foo\\").is_err());
    }
}
