//! Patterns: `lquery`. A payload is the text form, written the same way whoever wrote it.

use base::{SqlError, SqlResult, sql_err};

use super::path::{MOST_LABELS, check_label, is_label, labels};

/// A word that a label is compared with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    /// `@`: in either case.
    pub(super) fold: bool,
    /// `*`: the label may go on.
    pub(super) open: bool,
    /// `%`: parts between underscores.
    pub(super) parts: bool,
}

impl Word {
    /// Whether a label is the word.
    pub(super) fn matches(&self, label: &str) -> bool {
        if self.fold {
            let (word, label) = (self.text.to_lowercase(), label.to_lowercase());
            return self.matches_as(&word, &label);
        }
        self.matches_as(&self.text, label)
    }

    fn matches_as(&self, word: &str, label: &str) -> bool {
        let same = |word: &str, label: &str| if self.open { label.starts_with(word) } else { word == label };
        if !self.parts {
            return same(word, label);
        }
        let parts = |text| str::split(text, '_').filter(|part| !part.is_empty());
        parts(word).all(|word| parts(label).any(|part| same(word, part)))
    }

    /// Whether only the label that is its text matches.
    pub(super) fn is_plain(&self) -> bool {
        !(self.fold || self.open || self.parts)
    }

    /// Takes a sign behind the text; whether it is one.
    pub(super) fn takes(&mut self, sign: char) -> bool {
        match sign {
            '@' => self.fold = true,
            '*' => self.open = true,
            '%' => self.parts = true,
            _ => return false,
        }
        true
    }

    /// Appends the text form.
    pub(super) fn show(&self, out: &mut String) {
        out.push_str(&self.text);
        let signs = [(self.parts, '%'), (self.fold, '@'), (self.open, '*')];
        out.extend(signs.iter().filter(|(is_set, _)| *is_set).map(|(_, sign)| *sign));
    }
}

/// What stands between two dots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Level {
    /// None: `*`.
    pub(super) words: Vec<Word>,
    pub(super) negated: bool,
    /// How many labels it stands for.
    pub(super) least: usize,
    pub(super) most: usize,
    /// The numbers were written.
    counted: bool,
}

impl Level {
    fn matches(&self, label: &str) -> bool {
        self.words.is_empty() || self.words.iter().any(|word| word.matches(label)) != self.negated
    }

    fn show(&self, out: &mut String) {
        if self.negated {
            out.push('!');
        }
        if self.words.is_empty() {
            out.push('*');
        }
        for (i, word) in self.words.iter().enumerate() {
            if i > 0 {
                out.push('|');
            }
            word.show(out);
        }
        if !self.counted && !self.words.is_empty() {
            return;
        }
        let (least, most) = (self.least, self.most);
        match (least, most) {
            (0, MOST_LABELS) if self.words.is_empty() => {}
            _ if least == most => out.push_str(&format!("{{{least}}}")),
            (0, MOST_LABELS) => out.push_str("{,}"),
            (0, _) => out.push_str(&format!("{{,{most}}}")),
            (_, MOST_LABELS) => out.push_str(&format!("{{{least},}}")),
            _ => out.push_str(&format!("{{{least},{most}}}")),
        }
    }
}

/// A pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    pub(super) levels: Vec<Level>,
}

/// What may come next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Level,
    Alternative,
    Word,
    Star,
    First,
    Second,
    InFirst,
    InSecond,
    Closed,
}

fn syntax(detail: String) -> SqlError {
    sql_err!(SYNTAX_ERROR, "lquery syntax error").detail(detail)
}

struct Reader {
    done: Vec<Level>,
    level: Level,
    /// Digits of the number that is being read.
    number: String,
}

impl Reader {
    fn word(&mut self) -> SqlResult<&mut Word> {
        self.level.words.last_mut().ok_or_else(|| SqlError::internal("a word of lquery is missing"))
    }

    /// Ends a word before the `at`th character.
    fn end_word(&mut self, at: usize) -> SqlResult<()> {
        let word = self.word()?;
        if word.text.is_empty() {
            let signs = [word.fold, word.open, word.parts].iter().filter(|sign| **sign).count();
            let at = at - signs;
            return Err(sql_err!(SYNTAX_ERROR, "lquery syntax error at character {at}")
                .detail("Empty labels are not allowed."));
        }
        check_label(word.text.chars().count(), at)
    }

    fn end_level(&mut self) {
        self.done.push(std::mem::take(&mut self.level));
    }

    fn limit(&mut self, which: &str, at: usize) -> SqlResult<usize> {
        let number: i64 = std::mem::take(&mut self.number).parse().unwrap_or(i64::MAX);
        usize::try_from(number).ok().filter(|number| *number <= MOST_LABELS).ok_or_else(|| {
            sql_err!(PROGRAM_LIMIT_EXCEEDED, "lquery syntax error").detail(format!(
                "{which} limit ({number}) exceeds the maximum allowed ({MOST_LABELS}), at character {at}."
            ))
        })
    }

    fn step(&mut self, state: State, c: char, at: usize) -> SqlResult<State> {
        let wrong = || sql_err!(SYNTAX_ERROR, "lquery syntax error at character {at}");
        Ok(match (state, c) {
            (State::Level, '*') => {
                (self.level.least, self.level.most) = (0, MOST_LABELS);
                State::Star
            }
            (State::Level, '!') => {
                self.level.negated = true;
                self.first_word(None);
                State::Word
            }
            (State::Level, c) if is_label(c) => {
                self.first_word(Some(c));
                State::Word
            }
            (State::Alternative, c) if is_label(c) => {
                self.level.words.push(Word { text: c.into(), ..Word::default() });
                State::Word
            }
            (State::Word, '|') => {
                self.end_word(at)?;
                State::Alternative
            }
            (State::Word, '{') => {
                self.end_word(at)?;
                self.level.counted = true;
                State::First
            }
            (State::Word, '.') => {
                self.end_word(at)?;
                self.end_level();
                State::Level
            }
            (State::Word, c) => {
                let word = self.word()?;
                if is_label(c) && word.is_plain() {
                    word.text.push(c);
                } else if is_label(c) || word.text.is_empty() || !word.takes(c) {
                    return Err(wrong());
                }
                State::Word
            }
            (State::Star, '{') => State::First,
            (State::Star | State::Closed, '.') => {
                self.end_level();
                State::Level
            }
            (State::First, ',') => {
                self.level.least = 0;
                State::Second
            }
            (State::First | State::InFirst, c) if c.is_ascii_digit() => {
                self.number.push(c);
                State::InFirst
            }
            (State::InFirst, ',' | '}') => {
                self.level.least = self.limit("Low", at - self.number.len())?;
                self.level.most = self.level.least;
                if c == ',' { State::Second } else { State::Closed }
            }
            (State::Second, '}') => {
                self.level.most = MOST_LABELS;
                State::Closed
            }
            (State::Second | State::InSecond, c) if c.is_ascii_digit() => {
                self.number.push(c);
                State::InSecond
            }
            (State::InSecond, '}') => {
                let at = at - self.number.len();
                self.level.most = self.limit("High", at)?;
                let (least, most) = (self.level.least, self.level.most);
                if least > most {
                    return Err(syntax(format!(
                        "Low limit ({least}) is greater than high limit ({most}), at character {at}."
                    )));
                }
                State::Closed
            }
            _ => return Err(wrong()),
        })
    }

    fn first_word(&mut self, c: Option<char>) {
        (self.level.least, self.level.most) = (1, 1);
        self.level.words.push(Word { text: c.into_iter().collect(), ..Word::default() });
    }
}

impl Pattern {
    /// Reads the text form.
    pub(super) fn read(text: &str) -> SqlResult<Pattern> {
        let count = 1 + text.bytes().filter(|byte| *byte == b'.').count();
        if count > MOST_LABELS {
            return Err(sql_err!(
                PROGRAM_LIMIT_EXCEEDED,
                "number of lquery items ({count}) exceeds the maximum allowed ({MOST_LABELS})"
            ));
        }
        let mut reader = Reader { done: Vec::new(), level: Level::default(), number: String::new() };
        let mut state = State::Level;
        let mut at = 1;
        for c in text.chars() {
            state = reader.step(state, c, at)?;
            at += 1;
        }
        match state {
            State::Word => reader.end_word(at)?,
            State::Star | State::Closed => {}
            _ => return Err(syntax("Unexpected end of input.".to_owned())),
        }
        reader.end_level();
        Ok(Pattern { levels: reader.done })
    }

    /// The text form.
    pub(super) fn show(&self) -> String {
        let mut out = String::new();
        for (i, level) in self.levels.iter().enumerate() {
            if i > 0 {
                out.push('.');
            }
            level.show(&mut out);
        }
        out
    }

    /// Whether a path matches. Of each level is computed to which places in the path it leads.
    pub(super) fn matches(&self, path: &str) -> SqlResult<bool> {
        let all: Vec<&str> = labels(path).collect();
        let mut reached = vec![false; all.len() + 1];
        reached[0] = true;
        for level in &self.levels {
            runtime::check_interrupts()?;
            reached = step(level, &all, &reached);
        }
        Ok(reached[all.len()])
    }
}

/// The places where a level ends that begins at one of those reached.
fn step(level: &Level, path: &[&str], reached: &[bool]) -> Vec<bool> {
    // From how far back on all labels up to here match.
    let mut matching_from = 0;
    let mut out = vec![false; reached.len()];
    // How many places are reached before each.
    let mut before = vec![0; reached.len() + 1];
    for (i, is_reached) in reached.iter().enumerate() {
        before[i + 1] = before[i] + usize::from(*is_reached);
    }
    for end in 0..reached.len() {
        if end > 0 && !level.matches(path[end - 1]) {
            matching_from = end;
        }
        let (Some(last), first) = (end.checked_sub(level.least), end.saturating_sub(level.most)) else {
            continue;
        };
        let first = first.max(matching_from);
        out[end] = first <= last && before[last + 1] > before[first];
    }
    out
}
