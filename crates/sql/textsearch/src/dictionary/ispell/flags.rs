//! Flags of words and affixes: letters, pairs of letters or numbers, as the affix file says.

use base::SqlResult;

use super::super::lines::bad;

/// What a word or an affix is in words that are put together, as bits. Places of parts: the first one, the last one, or one between.
pub(super) mod place {
    pub(in super::super) const ONLY: u8 = 0x01;
    pub(in super::super) const BEGIN: u8 = 0x02;
    pub(in super::super) const MIDDLE: u8 = 0x04;
    pub(in super::super) const LAST: u8 = 0x08;
    /// In any place.
    pub(in super::super) const ANY: u8 = BEGIN | MIDDLE | LAST;
    /// What counts for words.
    pub(in super::super) const OF_WORDS: u8 = ONLY | ANY;
    pub(in super::super) const PERMIT: u8 = 0x10;
    pub(in super::super) const FORBID: u8 = 0x20;
    /// Of affixes: it goes together with those of the other side.
    pub(in super::super) const CROSS: u8 = 0x40;
}

/// How flags are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Form {
    /// One character each.
    #[default]
    Character,
    /// Two characters each.
    Long,
    /// Numbers with commas between.
    Number,
}

/// What an affix file says about flags.
#[derive(Debug, Default)]
pub(super) struct Flags {
    pub(super) form: Form,
    /// What flags mean for words that are put together.
    pub(super) compound: Vec<(Box<str>, u8)>,
    /// Sets that are named by numbers, from 1.
    pub(super) aliases: Option<Vec<Box<str>>>,
}

impl Flags {
    /// Notes what a flag means.
    pub(super) fn add_compound(&mut self, rest: &str, meaning: u8) -> SqlResult<()> {
        let flag = rest.split_whitespace().next().ok_or_else(|| bad("syntax error"))?;
        if self.form == Form::Number {
            self.check_number(flag)?;
        }
        self.compound.push((flag.into(), meaning));
        Ok(())
    }

    fn check_number(&self, flag: &str) -> SqlResult<()> {
        let number: i64 = flag.parse().map_err(|_| bad(format!("invalid affix flag \"{flag}\"")))?;
        match (0..=65000).contains(&number) {
            true => Ok(()),
            false => Err(bad(format!("affix flag \"{flag}\" is out of range"))),
        }
    }

    /// The set that stands in a text: itself, or the one that it is a number of.
    pub(super) fn set<'f>(&'f self, text: &'f str) -> SqlResult<&'f str> {
        let Some(aliases) = &self.aliases else { return Ok(text) };
        if text.is_empty() {
            return Ok("");
        }
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let number = text[..digits].parse::<usize>().ok();
        let found = match number {
            Some(0) => Some(""),
            Some(number) => aliases.get(number - 1).map(|set| &**set),
            None => None,
        };
        found.ok_or_else(|| bad(format!("invalid affix alias \"{text}\"")))
    }

    /// The flags of a set.
    pub(super) fn each<'f>(&self, set: &'f str) -> SqlResult<Vec<&'f str>> {
        match self.form {
            Form::Character => Ok(set.split_inclusive(|_| true).collect()),
            Form::Long => {
                let mut flags = Vec::new();
                let mut rest = set;
                while !rest.is_empty() {
                    let end = rest.char_indices().nth(2).map_or(rest.len(), |(at, _)| at);
                    if rest[..end].chars().count() < 2 {
                        let what = format!("invalid affix flag \"{rest}\" with \"long\" flag value");
                        return Err(bad(what));
                    }
                    flags.push(&rest[..end]);
                    rest = &rest[end..];
                }
                Ok(flags)
            }
            Form::Number => {
                let flags: Vec<&str> =
                    set.split(',').map(str::trim).filter(|flag| !flag.is_empty()).collect();
                flags.iter().try_for_each(|flag| self.check_number(flag))?;
                Ok(flags)
            }
        }
    }

    /// What a set of flags means for compound words.
    pub(super) fn meaning(&self, flags: &[&str]) -> u8 {
        let known = self.compound.iter().filter(|(known, _)| flags.contains(&&**known));
        known.fold(0, |all, (_, meaning)| all | meaning)
    }
}
