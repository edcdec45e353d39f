//! Paths: `ltree`. A payload is the text form: labels with dots between them.

use std::cmp::Ordering;

use base::{SqlError, SqlResult, sql_err};
use tuple::Datum;

/// Labels at most.
pub(super) const MOST_LABELS: usize = 65535;
/// Characters of a label at most.
const LONGEST: usize = 1000;

/// Whether labels are made of it.
pub(super) fn is_label(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-')
}

/// The labels of a path.
pub(super) fn labels(path: &str) -> impl DoubleEndedIterator<Item = &str> + Clone {
    let all = if path.is_empty() { None } else { Some(path.split('.')) };
    all.into_iter().flatten()
}

/// Number of labels.
pub(super) fn levels(path: &str) -> usize {
    if path.is_empty() { 0 } else { 1 + path.bytes().filter(|byte| *byte == b'.').count() }
}

pub(super) fn too_long(length: usize, at: usize) -> SqlError {
    sql_err!(NAME_TOO_LONG, "label string is too long")
        .detail(format!("Label length is {length}, must be at most {LONGEST}, at character {at}."))
}

/// Checks the length of a label that ends before the `at`th character.
pub(super) fn check_label(length: usize, at: usize) -> SqlResult<()> {
    if length > LONGEST { Err(too_long(length, at)) } else { Ok(()) }
}

fn check_levels(count: usize) -> SqlResult<()> {
    if count > MOST_LABELS {
        return Err(sql_err!(
            PROGRAM_LIMIT_EXCEEDED,
            "number of ltree labels ({count}) exceeds the maximum allowed ({MOST_LABELS})"
        ));
    }
    Ok(())
}

/// Reads a path.
pub(super) fn read(text: &str) -> SqlResult<Datum> {
    check_levels(1 + text.bytes().filter(|byte| *byte == b'.').count())?;
    let mut length = 0;
    let mut count = 0;
    for (i, c) in text.chars().enumerate() {
        count = i + 1;
        match c {
            '.' if length > 0 => {
                check_label(length, i + 1)?;
                length = 0;
            }
            c if is_label(c) => length += 1,
            _ => return Err(sql_err!(SYNTAX_ERROR, "ltree syntax error at character {}", i + 1)),
        }
    }
    if length == 0 && !text.is_empty() {
        return Err(sql_err!(SYNTAX_ERROR, "ltree syntax error").detail("Unexpected end of input."));
    }
    check_label(length, count + 1)?;
    Ok(Datum::text(text))
}

/// By the first labels that differ; a path stands before those below it.
pub(super) fn compare(a: &str, b: &str) -> Ordering {
    labels(a).map(str::as_bytes).cmp(labels(b).map(str::as_bytes))
}

/// What `ltree_cmp` tells: the order, and more the earlier the labels differ.
pub(super) fn three_way(a: &str, b: &str) -> i32 {
    let (count, other) = (levels(a) as i32, levels(b) as i32);
    let same = labels(a).zip(labels(b)).take_while(|(a, b)| a == b).count();
    let order = match (labels(a).nth(same), labels(b).nth(same)) {
        (Some(a), Some(b)) => a.as_bytes().cmp(b.as_bytes()) as i32,
        _ => count - other,
    };
    order * 10 * (count - same as i32 + 1)
}

/// Whether `path` is `ancestor` or below it.
pub(super) fn is_within(path: &str, ancestor: &str) -> bool {
    match path.strip_prefix(ancestor) {
        Some(rest) => ancestor.is_empty() || rest.is_empty() || rest.starts_with('.'),
        None => false,
    }
}

/// The labels from one on, up to before another.
pub(super) fn part(path: &str, start: i64, end: i64) -> SqlResult<Datum> {
    let count = levels(path) as i64;
    if start < 0 || end < 0 || start >= count || start > end {
        return Err(sql_err!(INVALID_PARAMETER_VALUE, "invalid positions"));
    }
    let taken = labels(path).skip(start as usize).take((end.min(count) - start) as usize);
    Ok(Datum::text(&taken.collect::<Vec<_>>().join(".")))
}

/// One path below another.
pub(super) fn join(a: &str, b: &str) -> SqlResult<Datum> {
    check_levels(levels(a) + levels(b))?;
    let between = if a.is_empty() || b.is_empty() { "" } else { "." };
    Ok(Datum::text(&format!("{a}{between}{b}")))
}

/// Where the labels of `sought` stand in `path`, from a place on; from the end if that is negative.
pub(super) fn index(path: &str, sought: &str, from: i64) -> i32 {
    let (all, wanted): (Vec<&str>, Vec<&str>) = (labels(path).collect(), labels(sought).collect());
    let count = all.len() as i64;
    let from = if from >= 0 { from } else { (count + from).max(0) };
    if wanted.is_empty() || count - from < wanted.len() as i64 {
        return -1;
    }
    let found = all.windows(wanted.len()).skip(from as usize).position(|part| part == wanted);
    found.map_or(-1, |at| (at as i64 + from) as i32)
}

/// The longest path that is above all; none without paths, or if one is empty.
pub(super) fn common_ancestor(paths: &[&str]) -> Option<Datum> {
    let first: Vec<&str> = labels(paths.first()?).collect();
    let mut common = first.len().checked_sub(1)?;
    for path in &paths[1..] {
        let most = levels(path).checked_sub(1)?.min(common);
        common = first.iter().zip(labels(path)).take(most).take_while(|(a, b)| *a == b).count();
    }
    Some(Datum::text(&first[..common].join(".")))
}
