//! # What
//! Passages of a text that show where it matches a query, with the words that were found marked.
//!
//! # Layout
//! The text as `Part`s, the tokens of the default parser, of which some are operands of the query. A *cover* is a shortest stretch that
//! satisfies the query; `Covers` gives one after another. A headline is one cover made longer or shorter to a good length, or some of them.
//!
//! # PostgreSQL counterpart
//! `prsd_headline` in `wparser_def.c`, `ts_parse.c`. The passages are the same.

use base::{SqlError, SqlResult, sql_err};
use runtime::pace::Pace;

use crate::configuration::Configuration;
use crate::matching::{Answer, Options, Places, Source, execute, locations};
use crate::parser::Kind;
use crate::query::{Item, Operand, Query};
use crate::vector::MAX_POSITION;

/// How a headline is made.
#[derive(Clone, Debug)]
pub struct Style {
    start: String,
    stop: String,
    delimiter: String,
    /// All of the text, with the words marked.
    all: bool,
    most: i32,
    least: i32,
    short: i32,
    fragments: i32,
}

impl Default for Style {
    fn default() -> Style {
        Style {
            start: "<b>".into(),
            stop: "</b>".into(),
            delimiter: " ... ".into(),
            all: false,
            most: 35,
            least: 15,
            short: 3,
            fragments: 0,
        }
    }
}

impl Style {
    /// The style that options say: `MaxWords=10, StartSel="<i>"`.
    pub fn of(options: &[(String, String)]) -> SqlResult<Style> {
        let mut style = Style::default();
        for (name, value) in options {
            match name.to_ascii_lowercase().as_str() {
                "maxwords" => style.most = number(value)?,
                "minwords" => style.least = number(value)?,
                "shortword" => style.short = number(value)?,
                "maxfragments" => style.fragments = number(value)?,
                "startsel" => style.start.clone_from(value),
                "stopsel" => style.stop.clone_from(value),
                "fragmentdelimiter" => style.delimiter.clone_from(value),
                "highlightall" => {
                    let word = value.to_ascii_lowercase();
                    style.all = ["1", "on", "true", "t", "y", "yes"].contains(&word.as_str());
                }
                _ => {
                    return Err(sql_err!(
                        INVALID_PARAMETER_VALUE,
                        "unrecognized headline parameter: \"{name}\""
                    ));
                }
            }
        }
        style.check()?;
        Ok(style)
    }

    fn check(&self) -> SqlResult<()> {
        let refused = |what: &str| Err(SqlError::new(base::SqlState::INVALID_PARAMETER_VALUE, what));
        match self {
            style if style.all => Ok(()),
            style if style.least >= style.most => refused("MinWords must be less than MaxWords"),
            style if style.least <= 0 => refused("MinWords must be positive"),
            style if style.short < 0 => refused("ShortWord must be >= 0"),
            style if style.fragments < 0 => refused("MaxFragments must be >= 0"),
            _ => Ok(()),
        }
    }
}

fn number(value: &str) -> SqlResult<i32> {
    value.trim().parse().map_err(|_| {
        sql_err!(INVALID_TEXT_REPRESENTATION, "invalid input syntax for type integer: \"{value}\"")
    })
}

/// A token of the text.
#[derive(Clone)]
struct Part<'t> {
    kind: Kind,
    text: &'t str,
    /// The operand of the query that it is, by its place there.
    operand: Option<usize>,
    /// Whether it is the token before once more, as another operand.
    again: bool,
    place: u16,
    shown: bool,
    marked: bool,
    /// Shown as a space.
    replaced: bool,
    /// Not shown, for its parts are.
    left_out: bool,
}

impl Part<'_> {
    fn is_whole(&self) -> bool {
        matches!(self.kind, Kind::Url | Kind::NumHyphenWord | Kind::AsciiHyphenWord | Kind::HyphenWord)
    }

    fn is_word(&self) -> bool {
        !matches!(self.kind, Kind::Blank | Kind::Tag) && !self.is_whole()
    }

    /// Whether it is a number, or what stands for something else.
    fn is_figure(&self) -> bool {
        use Kind::*;
        matches!(self.kind, ScientificFloat | Version | Float | Int | UnsignedInt | Protocol | Entity)
    }

    /// Whether it is what was looked for.
    fn found(&self) -> bool {
        self.operand.is_some() && !self.again
    }
}

/// The headline of a text.
pub fn headline(
    configuration: &Configuration,
    text: &str,
    query: &Query,
    style: &Style,
    tell: &mut dyn FnMut(SqlError),
) -> SqlResult<String> {
    let mut made = Headline { parts: parts(configuration, text, query, tell)?, style, pace: Pace::new() };
    if style.all && style.fragments == 0 {
        let last = made.parts.len();
        made.show(0, last);
    } else {
        let mut words = Operands { parts: &made.parts };
        let locations = locations(query, &mut words)?;
        let mut covers = Covers { query, locations, next: 0 };
        match style.fragments {
            0 => made.one(&mut covers)?,
            _ => made.several(&mut covers)?,
        }
    }
    made.text()
}

/// The tokens of a text, with the operands of the query that they are.
fn parts<'t>(
    configuration: &Configuration,
    text: &'t str,
    query: &Query,
    tell: &mut dyn FnMut(SqlError),
) -> SqlResult<Vec<Part<'t>>> {
    let (mut parts, mut place, mut pace) = (Vec::new(), 0u32, Pace::new());
    configuration.looked_up(text, tell, &mut |looked| {
        place += u32::from(looked.lexemes.is_some());
        for token in looked.tokens {
            pace.did(64 + token.text.len() + query.items.len())?;
            let mut part = Part {
                kind: token.kind,
                text: token.text,
                operand: None,
                again: false,
                place: 0,
                shown: false,
                marked: false,
                replaced: false,
                left_out: false,
            };
            let (mut more, mut here) = (Vec::new(), place);
            for lexeme in looked.lexemes.iter().flatten() {
                here += u32::from(lexeme.next_place);
                for (at, item) in query.items.iter().enumerate() {
                    let Item::Value(operand) = item else { continue };
                    if !is_meant(operand, &lexeme.word) {
                        continue;
                    }
                    let place = here.min(MAX_POSITION.into()) as u16;
                    match part.operand {
                        None => (part.operand, part.place) = (Some(at), place),
                        Some(_) => more.push(Part { operand: Some(at), again: true, place, ..part.clone() }),
                    }
                }
            }
            parts.push(part);
            parts.append(&mut more);
        }
        Ok(())
    })?;
    Ok(parts)
}

fn is_meant(operand: &Operand, lexeme: &str) -> bool {
    match operand.prefix {
        true => lexeme.starts_with(&*operand.word),
        false => lexeme == operand.word,
    }
}

/// The operands that a stretch of the text has.
struct Operands<'p, 't> {
    parts: &'p [Part<'t>],
}

impl Source for Operands<'_, '_> {
    fn find(&mut self, at: usize, _operand: &Operand, places: Option<&mut Vec<u16>>) -> Answer {
        let mut found = self.parts.iter().filter(|part| part.operand == Some(at)).map(|part| part.place);
        match places {
            None => {
                if found.next().is_some() {
                    Answer::Yes
                } else {
                    Answer::No
                }
            }
            Some(places) => {
                for place in found {
                    if places.last() != Some(&place) {
                        places.push(place);
                    }
                }
                if places.is_empty() { Answer::No } else { Answer::Yes }
            }
        }
    }
}

/// Covers of a query, one after another.
struct Covers<'q> {
    query: &'q Query<'q>,
    /// Where each of the terms matches that must all be there.
    locations: Vec<Places>,
    next: i32,
}

impl Covers<'_> {
    /// First and last part of the next cover.
    fn next(&mut self, parts: &[Part], pace: &mut Pace) -> SqlResult<Option<(usize, usize)>> {
        loop {
            let mut end = -1;
            for term in &self.locations {
                let at = term.at.partition_point(|place| i32::from(*place) < self.next);
                let Some(first) = term.at.get(at) else { return Ok(None) };
                end = end.max(i32::from(*first));
            }
            if end < 0 {
                return Ok(None);
            }
            let starts = self.locations.iter().map(|term| {
                let mut starts = term.at.iter().rev().map(|place| i32::from(*place) - term.width);
                starts.find(|start| *start <= end).unwrap_or(-1)
            });
            let begin = starts.min().unwrap_or(-1).max(self.next);
            pace.did(64 + parts.len())?;
            self.next = begin + 1;
            let within = |part: &Part| part.operand.is_some();
            let first = parts.iter().position(|part| within(part) && i32::from(part.place) >= begin);
            let behind = parts.iter().position(|part| within(part) && i32::from(part.place) > end);
            let last = parts[..behind.unwrap_or(parts.len())].iter().rposition(within);
            if let (Some(first), Some(last)) = (first, last)
                && first <= last
            {
                let mut words = Operands { parts: &parts[first..=last] };
                if execute(self.query, &mut words, Options::default())? != Answer::No {
                    return Ok(Some((first, last)));
                }
            }
        }
    }
}

/// A piece of a cover that may be shown.
#[derive(Clone, Copy)]
struct Fragment {
    first: usize,
    last: usize,
    words: i32,
    found: i32,
    /// Whether it was chosen, or lies where a chosen one does.
    used: bool,
}

struct Headline<'s, 't> {
    parts: Vec<Part<'t>>,
    style: &'s Style,
    pace: Pace,
}

impl Headline<'_, '_> {
    fn word(&self, i: usize) -> i32 {
        i32::from(self.parts[i].is_word())
    }

    fn found(&self, i: usize) -> i32 {
        i32::from(self.parts[i].found())
    }

    /// Whether a headline had better not end here.
    fn is_bad_end(&self, i: usize) -> bool {
        let part = &self.parts[i];
        let short = part.text.len() as i32 <= self.style.short;
        (!part.is_word() || part.is_figure() || short) && !part.found()
    }

    /// Shows the parts from `first` to the one in front of `end`.
    fn show(&mut self, first: usize, end: usize) {
        let all = self.style.all;
        for part in &mut self.parts[first..end] {
            part.marked |= part.found();
            part.replaced |= !all && part.kind == Kind::Tag;
            part.left_out |= part.is_whole();
            part.shown = !part.again;
        }
    }

    /// Shows the first words of the text.
    fn show_beginning(&mut self) {
        let (mut words, mut end) = (0, 0);
        while end < self.parts.len() && words < self.style.least {
            words += self.word(end);
            end += 1;
        }
        self.show(0, end);
    }

    /// The headline is one passage.
    fn one(&mut self, covers: &mut Covers) -> SqlResult<()> {
        let mut best: Option<(bool, i32, usize, usize)> = None;
        while let Some(cover) = covers.next(&self.parts, &mut self.pace)? {
            let (first, last, found) = self.fitted(cover);
            let whole = first <= cover.0 && last >= cover.1;
            let better = best.is_none_or(|(best_whole, best_found, _, best_last)| {
                (whole, found) > (best_whole, best_found)
                    || (whole, found) == (best_whole, best_found)
                        && !self.is_bad_end(last)
                        && self.is_bad_end(best_last)
            });
            if better {
                best = Some((whole, found, first, last));
            }
        }
        match best {
            Some((_, _, first, last)) => self.show(first, last + 1),
            None => self.show_beginning(),
        }
        Ok(())
    }

    /// A cover made longer or shorter: first and last part, and how many found words it has.
    fn fitted(&self, (first, last): (usize, usize)) -> (usize, usize, i32) {
        let (mut words, mut found, mut begin, mut end) = (0, 0, first, first);
        let mut i = first;
        while i <= last && words < self.style.most {
            words += self.word(i);
            found += self.found(i);
            end = i;
            i += 1;
        }
        if words >= self.style.most {
            let mut i = i.min(last);
            while words > self.style.least && self.is_bad_end(i) {
                words -= self.word(i);
                found -= self.found(i);
                end = i.saturating_sub(1);
                i = i.saturating_sub(1);
            }
            return (begin, end, found);
        }
        // There is room: on to a good end, beginning with the last word once more.
        i = i.saturating_sub(1);
        while i < self.parts.len() && words < self.style.most {
            if i > last {
                words += self.word(i);
                found += self.found(i);
            }
            end = i;
            if !self.is_bad_end(i) && words >= self.style.least {
                break;
            }
            i += 1;
        }
        if words < self.style.least {
            begin = 0;
            for i in (0..first).rev() {
                words += self.word(i);
                found += self.found(i);
                if words >= self.style.most || !self.is_bad_end(i) && words >= self.style.least {
                    begin = i;
                    break;
                }
            }
        }
        (begin, end, found)
    }

    /// The headline is several passages.
    fn several(&mut self, covers: &mut Covers) -> SqlResult<()> {
        let mut fragments: Vec<Fragment> = Vec::new();
        while let Some((mut first, last)) = covers.next(&self.parts, &mut self.pace)? {
            while first <= last {
                let fragment = self.fragment(first, last);
                first = fragment.last + 1;
                fragments.push(fragment);
            }
        }
        let mut shown = false;
        for _ in 0..self.style.fragments {
            self.pace.did(fragments.len())?;
            // The most words that were found, in the fewest words.
            let mut best: Option<usize> = None;
            for (i, fragment) in fragments.iter().enumerate().filter(|(_, fragment)| !fragment.used) {
                let than = best.map_or((0, i32::MAX), |best| (fragments[best].found, fragments[best].words));
                if fragment.found > than.0 || fragment.found == than.0 && fragment.words < than.1 {
                    best = Some(i);
                }
            }
            let Some(best) = best else { break };
            let (first, last) = self.stretched(fragments[best]);
            self.show(first, last + 1);
            shown = true;
            fragments[best].used = true;
            for other in &mut fragments {
                other.used |= other.first <= last && other.last >= first;
            }
        }
        if !shown {
            self.show_beginning();
        }
        Ok(())
    }

    /// The first piece of a cover: from a found word to a found word, and no longer than a headline.
    fn fragment(&self, mut first: usize, mut last: usize) -> Fragment {
        while first < last && !self.parts[first].found() {
            first += 1;
        }
        let (mut words, mut found, mut i) = (0, 0, first);
        while i <= last && words < self.style.most {
            words += self.word(i);
            found += self.found(i);
            i += 1;
        }
        if last > i {
            last = i;
            while last > first && !self.parts[last].found() {
                words -= self.word(last);
                last -= 1;
            }
        }
        Fragment { first, last, words, found, used: false }
    }

    /// A fragment with words around it: half of what there is room for in front of it, the rest behind.
    fn stretched(&self, fragment: Fragment) -> (usize, usize) {
        let Fragment { mut first, mut last, mut words, .. } = fragment;
        if words >= self.style.most {
            return (first, last);
        }
        let (room, mut taken, mut begin) = ((self.style.most - words) / 2, 0, first);
        while begin > 0 && taken < room && !self.parts[begin - 1].shown {
            begin -= 1;
            taken += self.word(begin);
        }
        words += taken;
        while begin < first && self.is_bad_end(begin) {
            words -= self.word(begin);
            begin += 1;
        }
        first = begin;
        let mut end = last;
        while end + 1 < self.parts.len() && words < self.style.most && !self.parts[end + 1].shown {
            end += 1;
            words += self.word(end);
        }
        while end > last && self.is_bad_end(end) {
            end -= 1;
        }
        last = end;
        (first, last)
    }

    fn text(mut self) -> SqlResult<String> {
        let (mut out, mut fragments, mut inside) = (String::new(), 0, false);
        for i in 0..self.parts.len() {
            let part = &self.parts[i];
            if part.again {
                continue;
            }
            if !part.shown {
                inside = false;
                continue;
            }
            if !inside {
                fragments += 1;
                if fragments > 1 {
                    out.push_str(&self.style.delimiter);
                }
                inside = true;
            }
            if part.replaced {
                out.push(' ');
            } else if !part.left_out {
                if part.marked {
                    out.push_str(&self.style.start);
                }
                out.push_str(part.text);
                if part.marked {
                    out.push_str(&self.style.stop);
                }
            }
            self.pace.did(32 + part.text.len())?;
        }
        Ok(out)
    }
}

/// Names and values of a list of options: `MaxWords = 10, StartSel = '<i>', StopSel="</i>"`.
pub fn options(list: &str) -> SqlResult<Vec<(String, String)>> {
    let wrong = || sql_err!(SYNTAX_ERROR, "invalid parameter list format: \"{list}\"");
    let (mut found, mut rest) = (Vec::new(), list);
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
        if rest.is_empty() {
            return Ok(found);
        }
        let name;
        (name, rest) = match rest.strip_prefix('"') {
            Some(quoted) => in_quotes(quoted, '"').ok_or_else(wrong)?,
            None => {
                let end = rest.find(|c: char| c.is_whitespace() || c == '=').ok_or_else(wrong)?;
                (rest[..end].to_owned(), &rest[end..])
            }
        };
        rest = rest.trim_start().strip_prefix('=').ok_or_else(wrong)?.trim_start();
        let value;
        (value, rest) = match rest.chars().next().ok_or_else(wrong)? {
            quote @ ('\'' | '"') => in_quotes(&rest[1..], quote).ok_or_else(wrong)?,
            _ => {
                let end = rest.find(|c: char| c.is_whitespace() || c == ',').unwrap_or(rest.len());
                (rest[..end].to_owned(), &rest[end..])
            }
        };
        found.push((name, value));
    }
}

/// What stands up to the quote, which is doubled where it is meant itself, and what follows.
fn in_quotes(text: &str, quote: char) -> Option<(String, &str)> {
    let (mut value, mut chars) = (String::new(), text.char_indices().peekable());
    while let Some((at, c)) = chars.next() {
        let doubled = chars.peek().is_some_and(|(_, next)| *next == c);
        if c == quote && !doubled {
            return Some((value, &text[at + 1..]));
        }
        value.push(c);
        if doubled && (c == quote || c == '\\' && quote == '\'') {
            chars.next();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin;
    use crate::query::{Op, Syntax};

    const TEXT: &str = "Day after day, day after day, We stuck, nor breath nor motion, As idle as a painted Ship \
         Upon a painted Ocean. Water, water, every where And all the boards did shrink; Water, water, every where, \
         Nor any drop to drink. S. T. Coleridge (1772-1834)";

    fn made(query: &str, list: &str) -> String {
        let english = &*builtin::configuration(13099).unwrap();
        let query = english.query(query, Syntax::Operators, Op::Phrase, &mut |_| {}).unwrap();
        let style = Style::of(&options(list).unwrap()).unwrap();
        headline(english, TEXT, &query, &style, &mut |_| {}).unwrap()
    }

    #[test]
    fn passages_show_what_was_found() {
        let answers = [
            (
                "painted <-> Ocean",
                "",
                "<b>painted</b> <b>Ocean</b>. Water, water, every where And all the boards did shrink; Water, water, every",
            ),
            (
                "idle & painted",
                "MaxFragments=2, MaxWords=5, MinWords=3",
                "<b>idle</b> as a <b>painted</b> Ship",
            ),
            (
                "breath & motion",
                "MaxFragments=2, MaxWords=8, MinWords=3",
                "stuck, nor <b>breath</b> nor <b>motion</b>, As idle",
            ),
            (
                "water & drink",
                "MaxWords=10, MinWords=5",
                "<b>water</b>, every where, Nor any drop to <b>drink</b>",
            ),
            (
                "ocean",
                "MaxFragments=2, StartSel='[', StopSel=\"]\"",
                "after day, We stuck, nor breath nor motion, As idle as a painted Ship Upon a painted [Ocean]. Water, water, every where And all the boards did shrink; Water, water, every where, Nor any drop",
            ),
            ("seahorse", "", "Day after day, day after day, We stuck, nor breath nor motion, As idle as"),
            (
                "seahorse",
                "MaxFragments=2",
                "Day after day, day after day, We stuck, nor breath nor motion, As idle as",
            ),
            (
                "day | drink",
                "MaxFragments=3, MaxWords=6, MinWords=2, FragmentDelimiter=###",
                "<b>Day</b> after <b>day</b>, <b>day</b> after <b>day</b>###drop to <b>drink</b>. S. T. Coleridge",
            ),
            ("water:* & !day", "MinWords=3,MaxWords=7", "<b>Day</b> after <b>day</b>"),
            (
                "painted",
                "HighlightAll=true",
                "Day after day, day after day, We stuck, nor breath nor motion, As idle as a <b>painted</b> Ship Upon a <b>painted</b> Ocean. Water, water, every where And all the boards did shrink; Water, water, every where, Nor any drop to drink. S. T. Coleridge (1772-1834)",
            ),
            ("drop | nor", "MaxWords=8, MinWords=4, ShortWord=0", "<b>drop</b> to drink. S"),
        ];
        for (query, list, wanted) in answers {
            assert_eq!(made(query, list), wanted, "{query} {list}");
        }
    }

    #[test]
    fn options_are_refused_that_make_no_sense() {
        let message =
            |list: &str| options(list).and_then(|o| Style::of(&o)).unwrap_err().message().to_owned();
        assert_eq!(message("MinWords=5, MaxWords=5"), "MinWords must be less than MaxWords");
        assert_eq!(message("Colour=red"), "unrecognized headline parameter: \"Colour\"");
        assert_eq!(message("MinWords"), "invalid parameter list format: \"MinWords\"");
    }
}
