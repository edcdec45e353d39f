//! Which trigrams a text has that matches a pattern.
//!
//! What is known of the texts that match is kept as *pieces*: characters of words in lower case, and one blank for whatever stands between words, also for the ends of the text. Of
//! a piece the trigrams are known that lie in it whole: what is before and behind it is not known.
//!
//! Of each part of a regular expression is known either all that it matches, if that is little, or how that begins and ends, and in any case which trigrams it has.

use std::collections::BTreeSet;

use regex_syntax::hir::{Class, Hir, HirKind, Look, Repetition};

use super::trigram::{Trigram, trigram};

/// Pieces that are told apart at most; more are as good as unknown.
const MOST_PIECES: usize = 64;
/// Characters of a set of which each is a piece of its own, at most.
const MOST_CHARACTERS: u32 = 64;
/// How often a part is written out that is repeated.
const MOST_REPEATED: u32 = 4;
/// Characters of a piece's end that matter for trigrams beyond it.
const CONTEXT: usize = 2;

/// What trigrams a text must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Needs {
    /// Any, or none.
    Nothing,
    One(Trigram),
    All(Vec<Needs>),
    Any(Vec<Needs>),
}

impl Needs {
    fn all(list: impl IntoIterator<Item = Needs>) -> Needs {
        let mut out: Vec<Needs> = Vec::new();
        for needs in list {
            match needs {
                Needs::Nothing => {}
                Needs::All(inner) => out.extend(inner),
                other => out.push(other),
            }
        }
        if out.len() <= MOST_PIECES {
            let mut seen = Vec::new();
            out.retain(|needs| {
                let is_new = !seen.contains(needs);
                seen.extend(is_new.then(|| needs.clone()));
                is_new
            });
        }
        match out.len() {
            0 => Needs::Nothing,
            1 => out.remove(0),
            _ => Needs::All(out),
        }
    }

    fn any(list: impl IntoIterator<Item = Needs>) -> Needs {
        let mut out = Vec::new();
        for needs in list {
            match needs {
                Needs::Nothing => return Needs::Nothing,
                Needs::Any(inner) => out.extend(inner),
                other => out.push(other),
            }
        }
        match out.len() {
            1 => out.remove(0),
            _ => Needs::Any(out),
        }
    }
}

type Piece = Vec<char>;
type Pieces = BTreeSet<Piece>;

/// Appends a character to a piece.
fn push(piece: &mut Piece, c: char) {
    if c.is_alphanumeric() {
        piece.extend(c.to_lowercase());
    } else {
        gap(piece);
    }
}

/// Appends what is between words.
fn gap(piece: &mut Piece) {
    if piece.last() != Some(&' ') {
        piece.push(' ');
    }
}

fn join(a: &[char], b: &[char]) -> Piece {
    let mut piece = a.to_vec();
    let b = if a.last() == Some(&' ') { b.strip_prefix(&[' ']).unwrap_or(b) } else { b };
    piece.extend(b);
    piece
}

/// The trigrams that lie in a piece.
fn within(piece: &[char]) -> Needs {
    let mut found = Vec::new();
    let mut start = 0;
    for word in piece.split(|c| *c == ' ') {
        let end = start + word.len();
        if !word.is_empty() {
            let mut padded = Vec::with_capacity(word.len() + 3);
            if start > 0 {
                padded.extend([' ', ' ']);
            }
            padded.extend(word);
            if end < piece.len() {
                padded.push(' ');
            }
            found.extend(padded.windows(3).map(|three| Needs::One(trigram(three))));
        }
        start = end + 1;
    }
    Needs::all(found)
}

fn within_any(pieces: &Pieces) -> Needs {
    if pieces.len() > MOST_PIECES {
        return Needs::Nothing;
    }
    Needs::any(pieces.iter().map(|piece| within(piece)))
}

/// What a text has that matches a pattern of LIKE; in either case if `fold`.
pub(super) fn of_like(pattern: &str, fold: bool) -> Needs {
    let mut pieces = Vec::new();
    let mut piece = vec![' '];
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            '%' | '_' => pieces.push(std::mem::take(&mut piece)),
            '\\' => {
                if let Some(c) = chars.next() {
                    push(&mut piece, c);
                }
            }
            // Which small letter a sigma has depends on its place.
            'Σ' | 'σ' | 'ς' if fold => pieces.push(std::mem::take(&mut piece)),
            c => push(&mut piece, c),
        }
    }
    gap(&mut piece);
    pieces.push(piece);
    Needs::all(pieces.iter().map(|piece| within(piece)))
}

/// What a text has that matches a regular expression somewhere.
pub(super) fn of_regex(hir: &Hir) -> Needs {
    Known::of(hir).loose().needs
}

/// What is known of the texts that a part matches.
struct Known {
    /// All that it matches; then this stands for beginnings and ends too.
    exact: Option<Pieces>,
    begins: Pieces,
    ends: Pieces,
    needs: Needs,
}

impl Known {
    fn exactly(pieces: Pieces) -> Known {
        if pieces.len() > MOST_PIECES {
            return Known::anything();
        }
        Known { exact: Some(pieces), begins: Pieces::new(), ends: Pieces::new(), needs: Needs::Nothing }
    }

    fn anything() -> Known {
        let unknown = || Pieces::from([Piece::new()]);
        Known { exact: None, begins: unknown(), ends: unknown(), needs: Needs::Nothing }
    }

    fn begins(&self) -> &Pieces {
        self.exact.as_ref().unwrap_or(&self.begins)
    }

    fn ends(&self) -> &Pieces {
        self.exact.as_ref().unwrap_or(&self.ends)
    }

    fn of(hir: &Hir) -> Known {
        match hir.kind() {
            HirKind::Empty => Known::exactly([Piece::new()].into()),
            HirKind::Literal(literal) => match std::str::from_utf8(&literal.0) {
                Ok(text) => {
                    let mut piece = Piece::new();
                    text.chars().for_each(|c| push(&mut piece, c));
                    Known::exactly([piece].into())
                }
                Err(_) => Known::anything(),
            },
            HirKind::Class(class) => Known::of_class(class),
            HirKind::Look(Look::Start | Look::End | Look::StartLF | Look::EndLF) => {
                Known::exactly([vec![' ']].into())
            }
            HirKind::Look(_) => Known::exactly([Piece::new()].into()),
            HirKind::Repetition(repetition) => Known::of_repetition(repetition),
            HirKind::Capture(capture) => Known::of(&capture.sub),
            HirKind::Concat(list) => {
                list.iter().map(Known::of).reduce(Known::then).unwrap_or_else(Known::anything)
            }
            HirKind::Alternation(list) => {
                list.iter().map(Known::of).reduce(Known::or).unwrap_or_else(Known::anything)
            }
        }
    }

    fn of_class(class: &Class) -> Known {
        let Class::Unicode(class) = class else { return Known::anything() };
        let count: u64 =
            class.iter().map(|range| u64::from(u32::from(range.end()) - u32::from(range.start())) + 1).sum();
        if count > u64::from(MOST_CHARACTERS) {
            return Known::anything();
        }
        let one = |c: char| {
            let mut piece = Piece::new();
            push(&mut piece, c);
            piece
        };
        Known::exactly(class.iter().flat_map(|range| range.start()..=range.end()).map(one).collect())
    }

    fn of_repetition(of: &Repetition) -> Known {
        let once = || Known::of(&of.sub);
        match (of.min, of.max) {
            (0, Some(0)) => Known::exactly([Piece::new()].into()),
            (0, Some(1)) => once().or(Known::exactly([Piece::new()].into())),
            (0, _) => Known::anything(),
            (least, most) => {
                let written = least.min(MOST_REPEATED);
                let all = (1..written).fold(once(), |all, _| all.then(once()));
                if most == Some(written) { all } else { all.loose() }
            }
        }
    }

    /// The same without all that it matches: beginnings and ends only.
    fn loose(self) -> Known {
        match self.exact {
            None => self,
            Some(pieces) => {
                let needs = Needs::all([self.needs, within_any(&pieces)]);
                Known { exact: None, begins: heads(&pieces), ends: tails(&pieces), needs }
            }
        }
    }

    fn then(self, next: Known) -> Known {
        if let (Some(a), Some(b)) = (&self.exact, &next.exact)
            && let Some(both) = cross(a, b)
        {
            return Known { needs: Needs::all([self.needs, next.needs]), ..Known::exactly(both) };
        }
        let mut needs = vec![self.needs.clone(), next.needs.clone()];
        match cross(self.ends(), next.begins()) {
            Some(both) => needs.push(within_any(&both)),
            None => needs.extend([within_any(self.ends()), within_any(next.begins())]),
        }
        let begins = match &self.exact {
            Some(all) => cross(all, next.begins()).unwrap_or_else(|| all.clone()),
            None => self.begins.clone(),
        };
        let ends = match &next.exact {
            Some(all) => cross(self.ends(), all).unwrap_or_else(|| all.clone()),
            None => next.ends.clone(),
        };
        needs.extend([within_any(&begins), within_any(&ends)]);
        Known { exact: None, begins: heads(&begins), ends: tails(&ends), needs: Needs::all(needs) }
    }

    fn or(self, other: Known) -> Known {
        if let (Some(a), Some(b)) = (&self.exact, &other.exact)
            && a.len() + b.len() <= MOST_PIECES
        {
            let both = a.union(b).cloned().collect();
            return Known { needs: Needs::any([self.needs, other.needs]), ..Known::exactly(both) };
        }
        let (a, b) = (self.loose(), other.loose());
        let union = |a: &Pieces, b: &Pieces| few(a.union(b).cloned().collect());
        Known {
            exact: None,
            begins: union(&a.begins, &b.begins),
            ends: union(&a.ends, &b.ends),
            needs: Needs::any([a.needs, b.needs]),
        }
    }
}

/// All pieces of the one set before all of the other, unless these are too many.
fn cross(a: &Pieces, b: &Pieces) -> Option<Pieces> {
    if a.len() * b.len() > MOST_PIECES {
        return None;
    }
    Some(a.iter().flat_map(|a| b.iter().map(|b| join(a, b))).collect())
}

/// The set, or what stands for too many.
fn few(pieces: Pieces) -> Pieces {
    if pieces.len() > MOST_PIECES { [Piece::new()].into() } else { pieces }
}

fn heads(pieces: &Pieces) -> Pieces {
    few(pieces.iter().map(|piece| piece[..piece.len().min(CONTEXT)].to_vec()).collect())
}

fn tails(pieces: &Pieces) -> Pieces {
    few(pieces.iter().map(|piece| piece[piece.len().saturating_sub(CONTEXT)..].to_vec()).collect())
}

#[cfg(test)]
mod tests {
    use super::super::trigram::shown;
    use super::*;

    fn written(needs: &Needs) -> String {
        let list = |list: &[Needs], between| list.iter().map(written).collect::<Vec<_>>().join(between);
        match needs {
            Needs::Nothing => "-".to_owned(),
            Needs::One(trigram) => shown(*trigram).replace(' ', "_"),
            Needs::All(all) => list(all, " "),
            Needs::Any(any) => format!("({})", list(any, "|")),
        }
    }

    #[test]
    fn like_needs_what_lies_between_wildcards() {
        let needs = |pattern: &str| written(&of_like(pattern, false));
        assert_eq!(needs("%foo bar%"), "foo oo_ __b _ba bar");
        assert_eq!(needs("foo%"), "__f _fo foo");
        assert_eq!(needs("Abc_\\%d"), "__a _ab abc __d _d_");
        assert_eq!(needs("%ab%"), "-");
        assert_eq!(needs(""), "-");
    }

    #[test]
    fn regular_expressions_need_what_each_match_has() {
        let needs = |pattern: &str, fold: bool| {
            written(&of_regex(&types::text::regex_hir(pattern, fold).unwrap().unwrap()))
        };
        assert_eq!(needs("foo(bar|baz)", false), "(foo oob oba bar|foo oob oba baz)");
        assert_eq!(needs("^foo$", false), "__f _fo foo oo_");
        assert_eq!(needs("abc.*def", false), "abc def");
        assert_eq!(needs("ab+c", false), "-");
        assert_eq!(needs("abb+c", false), "abb");
        assert_eq!(needs("(foo|.)x", false), "-");
        assert_eq!(needs("abc|def", false), "(abc|def)");
        assert_eq!(needs("[ab]cd", false), "(acd|bcd)");
        assert_eq!(needs("colou?r", false), "(col olo lor|col olo lou our)");
        assert_eq!(needs("(abc){2}x*", false), "abc bca cab");
        assert_eq!(needs("a.c", false), "-");
        // A long s is a small s in another shape.
        assert!(needs("sab", true).starts_with("(sab|0x"));
        assert!(types::text::regex_hir(r"(a)\1", false).unwrap().is_none());
    }
}
