//! The stemmer of German as PostgreSQL 18 has it: that of Snowball before 3.0, which also spells `ae` as `ä` and takes `-erin` and `-ln` off, but leaves
//! the `-et` of verbs.

/// Letters before which an `s` is an ending, and those before which an `st` is one.
const BEFORE_S: &str = "bdfghklmnrt";
const BEFORE_ST: &str = "bdfghklmnt";

fn is_vowel(c: char) -> bool {
    "aeiouyäöü".contains(c)
}

/// A word from whose end suffixes are taken.
struct Word {
    letters: Vec<char>,
    /// Where the regions begin in which suffixes are found: behind the first vowel that a consonant follows and that consonant, and behind the next
    /// such pair. The first one has three letters before it.
    regions: [usize; 2],
}

/// The stem of a word in small letters.
pub(super) fn stem(word: &str) -> String {
    let letters = spelled(word);
    let regions = regions(&letters);
    let mut word = Word { letters, regions };
    word.endings();
    word.comparatives();
    word.derivations();
    let plain = |c: char| match c {
        'Y' => 'y',
        'U' | 'ü' => 'u',
        'ä' => 'a',
        'ö' => 'o',
        other => other,
    };
    word.letters.into_iter().map(plain).collect()
}

/// A word's letters, with `u` and `y` between vowels as consonants (in capitals), and umlauts as one letter.
fn spelled(word: &str) -> Vec<char> {
    let mut letters: Vec<char> = word.chars().collect();
    for at in 1..letters.len().saturating_sub(1) {
        if matches!(letters[at], 'u' | 'y') && is_vowel(letters[at - 1]) && is_vowel(letters[at + 1]) {
            letters[at] = if letters[at] == 'u' { 'U' } else { 'Y' };
        }
    }
    let (mut out, mut at) = (Vec::with_capacity(letters.len()), 0);
    while let Some(&c) = letters.get(at) {
        let umlaut = match (c, letters.get(at + 1)) {
            ('a', Some('e')) => Some('ä'),
            ('o', Some('e')) => Some('ö'),
            ('u', Some('e')) => Some('ü'),
            _ => None,
        };
        match (c, umlaut) {
            (_, Some(umlaut)) => out.push(umlaut),
            ('q', _) if letters.get(at + 1) == Some(&'u') => out.extend(['q', 'u']),
            ('ß', _) => {
                out.extend(['s', 's']);
                at += 1;
                continue;
            }
            _ => {
                out.push(c);
                at += 1;
                continue;
            }
        }
        at += 2;
    }
    out
}

fn regions(letters: &[char]) -> [usize; 2] {
    let end = letters.len();
    let behind = |from: usize| {
        let vowel = (from..end).find(|at| is_vowel(letters[*at]))?;
        (vowel..end).find(|at| !is_vowel(letters[*at])).map(|at| at + 1)
    };
    let Some(first) = behind(0).filter(|_| end >= 3) else { return [end; 2] };
    [first.max(3), behind(first).unwrap_or(end)]
}

impl Word {
    /// Where a suffix begins, if the word has it.
    fn place(&self, suffix: &str) -> Option<usize> {
        let length = suffix.chars().count();
        let at = self.letters.len().checked_sub(length)?;
        suffix.chars().eq(self.letters[at..].iter().copied()).then_some(at)
    }

    /// The longest of some suffixes that the word has, if it lies in a region: its number and where it begins.
    fn suffix(&self, suffixes: &[&str], region: usize) -> Option<(usize, usize)> {
        let found = suffixes.iter().enumerate().filter_map(|(n, suffix)| Some((n, self.place(suffix)?)));
        found.min_by_key(|(_, at)| *at).filter(|(_, at)| *at >= self.regions[region])
    }

    /// Takes one of some suffixes off that lies in a region.
    fn take(&mut self, suffixes: &[&str], region: usize) {
        if let Some((_, at)) = self.suffix(suffixes, region) {
            self.letters.truncate(at);
        }
    }

    /// Whether one of these letters stands before a place.
    fn before(&self, at: usize, letters: &str) -> bool {
        at > 0 && letters.contains(self.letters[at - 1])
    }

    fn endings(&mut self) {
        const SUFFIXES: [&str; 11] =
            ["em", "ern", "er", "erin", "erinnen", "ln", "lns", "s", "e", "en", "es"];
        let Some((number, at)) = self.suffix(&SUFFIXES, 0) else { return };
        match SUFFIXES[number] {
            "em" if self.letters[..at].ends_with(&['s', 'y', 's', 't']) => {}
            "s" if !self.before(at, BEFORE_S) => {}
            "ln" | "lns" => self.letters.truncate(at + 1),
            "e" | "en" | "es" => {
                self.letters.truncate(at);
                if self.letters.ends_with(&['n', 'i', 's', 's']) {
                    self.letters.pop();
                }
            }
            _ => self.letters.truncate(at),
        }
    }

    fn comparatives(&mut self) {
        const SUFFIXES: [&str; 4] = ["en", "er", "est", "st"];
        let Some((number, at)) = self.suffix(&SUFFIXES, 0) else { return };
        if SUFFIXES[number] != "st" || self.before(at, BEFORE_ST) && at > 3 {
            self.letters.truncate(at);
        }
    }

    fn derivations(&mut self) {
        const SUFFIXES: [&str; 8] = ["end", "ung", "ig", "ik", "isch", "lich", "heit", "keit"];
        let Some((number, at)) = self.suffix(&SUFFIXES, 1) else { return };
        let suffix = SUFFIXES[number];
        if matches!(suffix, "ig" | "ik" | "isch") && self.before(at, "e") {
            return;
        }
        self.letters.truncate(at);
        match suffix {
            "end" | "ung" => {
                if let Some((_, at)) = self.suffix(&["ig"], 1)
                    && !self.before(at, "e")
                {
                    self.letters.truncate(at);
                }
            }
            "lich" | "heit" => self.take(&["er", "en"], 0),
            "keit" => self.take(&["lich", "ig"], 1),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::stem;

    #[test]
    fn words_have_the_stems_of_postgresql() {
        for (word, wanted) in [
            ("aufeinanderfolgenden", "aufeinanderfolg"),
            ("abgeleitet", "abgeleitet"),
            ("abgeleitetes", "abgeleitet"),
            ("häuser", "haus"),
            ("haeuser", "haus"),
            ("quellen", "quell"),
            ("lehrerinnen", "lehr"),
            ("kenntnisse", "kenntnis"),
            ("systemen", "system"),
            ("grösstes", "grosst"),
            ("größtes", "grosst"),
            ("freundlichkeiten", "freundlich"),
            ("angel", "angel"),
            ("angeln", "angel"),
            ("bauer", "bau"),
            ("ab", "ab"),
            ("", ""),
        ] {
            assert_eq!(stem(word), wanted, "{word}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_word_has_a_stem(word in "[a-zäöüßYUé]{0,12}") {
            assert!(stem(&word).chars().count() <= word.chars().count() * 2);
        }
    }
}
