//! Affix files, old (Ispell) and new (MySpell, Hunspell), and the affixes in them.

use std::collections::HashMap;

use base::SqlResult;

use super::super::lines::{Text, bad};
use super::super::lower;
use super::flags::{Flags, Form, place};
use super::mask::Mask;
use super::words::Words;

/// A rule: what a word gets and loses with it.
#[derive(Debug)]
pub(super) struct Affix {
    /// The flag of the words that may have it.
    pub(super) flag: Box<str>,
    /// What it means for words that are put together ([`place`]).
    meaning: u8,
    suffix: bool,
    /// What stands in the word without it.
    find: Box<str>,
    /// What stands there with it.
    with: Box<str>,
    mask: Mask,
}

impl Affix {
    /// Whether it goes together with affixes of the other side.
    pub(super) fn crosses(&self) -> bool {
        self.meaning & place::CROSS != 0
    }

    fn may_stand(&self, at: u8) -> bool {
        let (has, forbidden) = (|bits| self.meaning & bits != 0, self.meaning & place::FORBID != 0);
        match at {
            0 => !has(place::ONLY),
            at if at & place::BEGIN != 0 => !forbidden && (has(place::BEGIN) || !self.suffix),
            at if at & place::MIDDLE != 0 => !forbidden && has(place::MIDDLE),
            _ => !forbidden && (has(place::LAST) || self.suffix),
        }
    }

    /// A word that has the affix without it, and how many bytes of the word stayed, if the affix may stand in a part at this place. `kept`: how many
    /// bytes stayed when a suffix was taken off before.
    pub(super) fn without(&self, word: &str, at: u8, kept: Option<usize>) -> Option<(String, usize)> {
        if !self.may_stand(at) {
            return None;
        }
        let (form, stayed) = if self.suffix {
            let rest = word.strip_suffix(&*self.with)?;
            (format!("{rest}{}", self.find), rest.len())
        } else {
            // Nothing is left of a word that is a prefix and a suffix.
            if kept.is_some_and(|kept| kept + self.find.len() <= self.with.len()) {
                return None;
            }
            let rest = word.strip_prefix(&*self.with)?;
            (format!("{}{rest}", self.find), rest.len())
        };
        self.mask.fits(&form, self.suffix).then_some((form, stayed))
    }
}

/// An affix that marks a part of a compound word before or after which another part stands.
#[derive(Debug)]
pub(super) struct Joint {
    pub(super) affix: Box<str>,
    pub(super) suffix: bool,
}

/// What is in an affix file.
#[derive(Debug, Default)]
pub(super) struct Affixes {
    pub(super) flags: Flags,
    all: Vec<Affix>,
    /// By what stands in the word with them, and which are suffixes.
    by_text: [HashMap<Box<str>, Vec<u32>>; 2],
    /// Most bytes of a prefix and of a suffix.
    longest: [usize; 2],
    pub(super) joints: Vec<Joint>,
}

impl Affixes {
    /// Reads a file of either form.
    pub(super) fn read(text: &Text) -> SqlResult<Affixes> {
        let mut made = Affixes::default();
        let mut old = Old::default();
        text.each(&mut |line| made.read_old(line, &mut old))?;
        if old.is_new {
            made = Affixes::default();
            text.each(&mut |line| made.read_facts(line))?;
            let mut new = New::default();
            text.each(&mut |line| made.read_new(line, &mut new))?;
        }
        for (number, affix) in made.all.iter().enumerate() {
            let side = usize::from(affix.suffix);
            made.by_text[side].entry(affix.with.clone()).or_default().push(number as u32);
            made.longest[side] = made.longest[side].max(affix.with.len());
        }
        Ok(made)
    }

    /// Finds out which affixes join words.
    pub(super) fn find_compound(&mut self, words: &Words) -> SqlResult<()> {
        let joins = |affix: &Affix| {
            affix.meaning & place::ANY != 0 && !affix.with.is_empty() && words.uses(&affix.flag)
        };
        let mut joints: Vec<(bool, Vec<u8>, u32)> = Vec::new();
        for (number, affix) in self.all.iter().enumerate().filter(|(_, affix)| joins(affix)) {
            let mut text = affix.with.as_bytes().to_vec();
            if affix.suffix {
                text.reverse();
            }
            joints.push((affix.suffix, text, number as u32));
        }
        runtime::pace::sort_by(&mut joints, |a, b| a.cmp(b))?;
        let joints: Vec<&Affix> = joints.iter().map(|(_, _, number)| &self.all[*number as usize]).collect();
        for affix in joints {
            // Of those that end alike the shortest is enough.
            let known = self.joints.last().is_some_and(|last| {
                last.suffix == affix.suffix
                    && match affix.suffix {
                        true => affix.with.ends_with(&*last.affix),
                        false => affix.with.starts_with(&*last.affix),
                    }
            });
            if !known {
                self.joints.push(Joint { affix: affix.with.clone(), suffix: affix.suffix });
            }
        }
        Ok(())
    }

    fn add(
        &mut self,
        (flag, meaning): (&str, u8),
        [mask, find, with]: [&str; 3],
        suffix: bool,
    ) -> SqlResult<()> {
        let mask = Mask::of(mask, suffix)?;
        let meaning = match meaning {
            // What is a part only may be any part.
            some if some & place::ONLY != 0 && some & place::ANY == 0 => some | place::ANY,
            some => some,
        };
        self.all.push(Affix {
            flag: flag.into(),
            meaning,
            suffix,
            find: find.into(),
            with: with.into(),
            mask,
        });
        Ok(())
    }

    /// The prefixes that a word may have, shorter ones first.
    pub(super) fn prefixes_of(&self, word: &str) -> impl Iterator<Item = &Affix> {
        let ends = (0..=word.len().min(self.longest[0])).filter(|end| word.is_char_boundary(*end));
        ends.flat_map(|end| self.with_text(false, &word[..end]))
    }

    /// The suffixes that a word may have, shorter ones first.
    pub(super) fn suffixes_of(&self, word: &str) -> impl Iterator<Item = &Affix> {
        let least = word.len().saturating_sub(self.longest[1]);
        let starts = (least..=word.len()).rev().filter(|start| word.is_char_boundary(*start));
        starts.flat_map(|start| self.with_text(true, &word[start..]))
    }

    fn with_text(&self, suffix: bool, text: &str) -> impl Iterator<Item = &Affix> {
        let found = self.by_text[usize::from(suffix)].get(text);
        found.into_iter().flatten().map(|number| &self.all[*number as usize])
    }

    /// A line of the old form. What shows that the file has the new one is noted, and nothing more is read then.
    fn read_old(&mut self, line: &str, old: &mut Old) -> SqlResult<()> {
        if old.is_new || line.is_empty() || line.starts_with('#') {
            return Ok(());
        }
        let small = lower(line);
        if small.starts_with("compoundwords") {
            // The flag follows the word that begins with an L: `compoundwords controlled z`.
            let word = line.find(['l', 'L']).map(|at| &line[at..]);
            let mut behind = word.into_iter().flat_map(str::split_whitespace).skip(1);
            if let Some(flag) = behind.next() {
                self.flags.add_compound(flag, place::ANY)?;
            }
            old.seen = true;
            return Ok(());
        }
        for (word, suffixes) in [("suffixes", true), ("prefixes", false)] {
            if small.starts_with(word) {
                (old.suffixes, old.seen) = (Some(suffixes), true);
                return Ok(());
            }
        }
        let starts_new =
            ["COMPOUNDFLAG", "COMPOUNDMIN", "PFX", "SFX"].iter().any(|word| line.starts_with(word));
        let is_new = match small.starts_with("flag") {
            true => !old.flag_line(line["flag".len()..].trim_start()),
            false => starts_new,
        };
        if is_new {
            old.is_new = true;
            return match old.seen {
                true => Err(bad("affix file contains both old-style and new-style commands")),
                false => Ok(()),
            };
        }
        if small.starts_with("flag") {
            return Ok(());
        }
        let Some(suffixes) = old.suffixes else { return Ok(()) };
        match old_rule(&small)? {
            Some(rule) => {
                let [mask, find, with] = &rule;
                self.add((&old.flag, old.meaning), [mask, find, with], suffixes)
            }
            None => Ok(()),
        }
    }

    /// A line of the new form, as far as it says something about flags.
    fn read_facts(&mut self, line: &str) -> SqlResult<()> {
        const FACTS: [(&str, u8); 8] = [
            ("COMPOUNDFLAG", place::ANY),
            ("COMPOUNDBEGIN", place::BEGIN),
            ("COMPOUNDLAST", place::LAST),
            ("COMPOUNDEND", place::LAST),
            ("COMPOUNDMIDDLE", place::MIDDLE),
            ("ONLYINCOMPOUND", place::ONLY),
            ("COMPOUNDPERMITFLAG", place::PERMIT),
            ("COMPOUNDFORBIDFLAG", place::FORBID),
        ];
        for (word, meaning) in FACTS {
            if let Some(rest) = line.strip_prefix(word) {
                return self.flags.add_compound(rest, meaning);
            }
        }
        if let Some(rest) = line.strip_prefix("FLAG") {
            let rest = rest.trim_start();
            self.flags.form = match rest {
                _ if rest.starts_with("long") => Form::Long,
                _ if rest.starts_with("num") => Form::Number,
                _ if rest.is_empty() || rest.starts_with("default") => Form::Character,
                _ => {
                    let what =
                        "Ispell dictionary supports only \"default\", \"long\", and \"num\" flag values";
                    return Err(bad(what));
                }
            };
        }
        Ok(())
    }

    /// A line of the new form: an alias, the head of an affix, or a rule of it.
    fn read_new(&mut self, line: &str, new: &mut New) -> SqlResult<()> {
        if line.starts_with(|c: char| c.is_whitespace() || c == '#') {
            return Ok(());
        }
        let fields: Vec<&str> = line.split_whitespace().take(5).collect();
        let Some(kind) = fields.first().map(|kind| kind.to_ascii_lowercase()) else { return Ok(()) };
        let field = |number: usize| fields.get(number).copied().unwrap_or_default();
        if kind.starts_with("af") {
            return self.read_alias(field(1), new);
        }
        let suffix = kind.starts_with("sfx");
        if fields.len() < 4 || !(suffix || kind.starts_with("pfx")) {
            return Ok(());
        }
        let flag = field(1);
        let most = match self.flags.form {
            Form::Character => 1,
            Form::Long => 2,
            Form::Number => usize::MAX,
        };
        if flag.chars().count() > most {
            return Ok(());
        }
        if fields.len() == 4 {
            new.suffix = suffix;
            new.meaning = if field(2).starts_with(['y', 'Y']) { place::CROSS } else { 0 };
            return Ok(());
        }
        let (with, set) = field(3).split_once('/').unwrap_or((field(3), ""));
        let meaning = self.flags.meaning(&self.flags.each(self.flags.set(set)?)?);
        let none = |text: &str| if text.starts_with('0') { String::new() } else { lower(text) };
        let (mask, find, with) = (lower(field(4)), none(field(2)), none(with));
        self.add((flag, new.meaning | meaning), [&mask, &find, &with], new.suffix)
    }

    fn read_alias(&mut self, text: &str, new: &mut New) -> SqlResult<()> {
        match &mut self.flags.aliases {
            None => {
                let count = text.parse::<usize>().ok().filter(|count| *count > 0);
                new.aliases = count.ok_or_else(|| bad("invalid number of flag vector aliases"))?;
                self.flags.aliases = Some(Vec::new());
            }
            Some(known) if known.len() < new.aliases => known.push(text.into()),
            Some(_) => {
                let what = format!("number of aliases exceeds specified number {}", new.aliases);
                return Err(bad(what));
            }
        }
        Ok(())
    }
}

/// Where the reading of an old file stands.
#[derive(Default)]
struct Old {
    /// Something that only old files have was seen.
    seen: bool,
    is_new: bool,
    suffixes: Option<bool>,
    flag: String,
    meaning: u8,
}

impl Old {
    /// A line that names the flag of the rules after it. False if it belongs to the new file format.
    fn flag_line(&mut self, mut rest: &str) -> bool {
        self.meaning = 0;
        if let Some(behind) = rest.strip_prefix('*') {
            (self.meaning, rest) = (place::CROSS, behind);
        } else if let Some(behind) = rest.strip_prefix('~') {
            (self.meaning, rest) = (place::ONLY, behind);
        }
        rest = rest.strip_prefix('\\').unwrap_or(rest);
        let mut chars = rest.chars();
        let Some(flag) = chars.next().filter(char::is_ascii) else { return false };
        let ends = chars.next().is_none_or(|next| matches!(next, '#' | ':') || next.is_whitespace());
        self.flag = flag.to_string();
        self.seen |= ends;
        ends
    }
}

/// Where the reading of a new file stands.
#[derive(Default)]
struct New {
    aliases: usize,
    suffix: bool,
    meaning: u8,
}

/// A rule of the old form, `mask > -find,with`: mask, what the word has without the affix, and with it.
fn old_rule(line: &str) -> SqlResult<Option<[String; 3]>> {
    let line = line.split('#').next().unwrap_or_default();
    let Some((mask, rest)) = line.split_once('>') else { return Ok(None) };
    let plain = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    let rest = plain(rest);
    let (find, with) = match rest.strip_prefix('-') {
        Some(rest) => rest.split_once(',').ok_or_else(|| bad("syntax error"))?,
        None => ("", &*rest),
    };
    // A dash says that nothing takes the place.
    let with = if with == "-" { "" } else { with };
    if !(find.chars().chain(with.chars())).all(|c| c.is_alphabetic() || c == '\'' || c == '-') {
        return Err(bad("syntax error"));
    }
    let mask = plain(mask);
    let some = !(mask.is_empty() || find.is_empty() && with.is_empty());
    Ok(some.then(|| [mask, find.to_owned(), with.to_owned()]))
}
