//! # What
//! What collations do with texts: the [`Rules`] behind a collation, by which texts are ordered, equal, hashed and change case.
//!
//! # Layout
//! * Here: the rules, and the global table of them.
//! * `ascii`: comparing texts of ASCII characters by a table that a collator has filled.
//! * `case`: upper, lower and title case, case folding.
//! * `locale`: names of locales of ICU, as language tags and in the older notation of ICU; the locales that every cluster has collations for.
//!
//! # Invariants
//! 1. There is one [`Rules`] for each definition in the process, and it stays: a collator is made once and two collations that order alike are told by the
//!    address of their rules. Their number is that of the definitions that sessions have used, not of the collations.
//! 2. Rules that order by bytes have no collator ([`Rules::is_bytewise`]): nothing but comparing bytes is done for them.
//! 3. What rules say of two texts never changes while a server of one version runs; indexes are built on it ([`Rules::version`]).
//!
//! # Locks
//! The table's lock, during a look-up; the first rules are found by number without it.
//!
//! # PostgreSQL counterpart
//! `pg_locale.c`, `pg_locale_builtin.c`, `pg_locale_icu.c`. Orders of ICU come from `icu_collator`, whose data of CLDR is compiled in.

mod ascii;
mod case;
pub mod locale;

use std::cmp::Ordering;
use std::fmt;
use std::sync::OnceLock;

use base::{SqlError, SqlResult, sql_err};
use icu_collator::{CollationKeySink, CollatorBorrowed};
use parking_lot::RwLock;

use crate::ascii::Ascii;

/// Who says what a collation does: `pg_collation.collprovider`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provider {
    /// `b`: the server itself.
    Builtin,
    /// `c`: the C library; only its locales that order by bytes are supported.
    Libc,
    /// `i`
    Icu,
}

impl Provider {
    /// From the letter of catalogs.
    pub fn of_letter(letter: u8) -> Option<Provider> {
        match letter {
            b'b' => Some(Provider::Builtin),
            b'c' => Some(Provider::Libc),
            b'i' => Some(Provider::Icu),
            _ => None,
        }
    }

    /// The letter of catalogs.
    pub fn letter(self) -> u8 {
        match self {
            Provider::Builtin => b'b',
            Provider::Libc => b'c',
            Provider::Icu => b'i',
        }
    }

    /// As CREATE COLLATION has it.
    pub fn name(self) -> &'static str {
        match self {
            Provider::Builtin => "builtin",
            Provider::Libc => "libc",
            Provider::Icu => "icu",
        }
    }
}

/// What a collation does.
pub struct Rules {
    /// Its place in the table.
    number: u32,
    provider: Provider,
    locale: &'static str,
    deterministic: bool,
    order: Option<Order>,
    letters: case::Letters,
}

/// An order that is not that of bytes.
struct Order {
    collator: CollatorBorrowed<'static>,
    ascii: Ascii,
    /// Texts compare by their sort keys. The collator skips what they have in common and looks back one character for contractions; one that is longer it does not see, `c'h` of Breton.
    by_keys: bool,
}

impl Order {
    fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        match self.ascii.compare(a, b) {
            Some(order) => order,
            None if self.by_keys => self.key(a).cmp(&self.key(b)),
            None => self.collator.compare_utf8(a, b),
        }
    }

    fn key(&self, text: &[u8]) -> Vec<u8> {
        let mut key = Vec::new();
        let Ok(()) = self.collator.write_sort_key_utf8_to(text, &mut key);
        key
    }
}

impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Rules({}, {:?})", self.provider.name(), self.locale)
    }
}

impl PartialEq for Rules {
    fn eq(&self, other: &Rules) -> bool {
        self.number == other.number
    }
}

/// The C locale.
pub static C: Rules = Rules {
    number: 0,
    provider: Provider::Libc,
    locale: "C",
    deterministic: true,
    order: None,
    letters: case::Letters::Ascii,
};

/// Rules by number, behind those of C; they are never taken away.
static TABLE: RwLock<Vec<&'static Rules>> = RwLock::new(Vec::new());

/// The first of them, to be found without the lock: those of databases, which each comparison in their default collation looks up, are made early.
static FIRST: [OnceLock<&'static Rules>; 16] = [const { OnceLock::new() }; 16];

/// What identifies rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Definition<'a> {
    /// Who says what it does.
    pub provider: Provider,
    /// The locale; of ICU a language tag.
    pub locale: &'a str,
    /// Whether texts of different bytes always differ.
    pub deterministic: bool,
}

/// The rules of a definition: an error if there is no such locale.
pub fn rules(definition: Definition<'_>) -> SqlResult<&'static Rules> {
    let same = |known: &&&'static Rules| {
        (known.provider, known.locale, known.deterministic)
            == (definition.provider, definition.locale, definition.deterministic)
    };
    if same(&&&C) {
        return Ok(&C);
    }
    let known = TABLE.read().iter().find(same).copied();
    if let Some(known) = known {
        return Ok(known);
    }
    let (order, letters) = make(definition)?;
    let mut table = TABLE.write();
    // Somebody else may have made them meanwhile.
    if let Some(known) = table.iter().find(same) {
        return Ok(known);
    }
    let made: &'static Rules = Box::leak(Box::new(Rules {
        number: table.len() as u32 + 1,
        provider: definition.provider,
        locale: Box::leak(definition.locale.into()),
        deterministic: definition.deterministic,
        order,
        letters,
    }));
    if let Some(place) = FIRST.get(table.len()) {
        // Under the lock: nobody else sets it.
        let _ = place.set(made);
    }
    table.push(made);
    Ok(made)
}

/// The rules with a number that [`Rules::number`] gave.
#[inline]
pub fn numbered(number: u32) -> &'static Rules {
    let Some(at) = number.checked_sub(1) else { return &C };
    match FIRST.get(at as usize).and_then(OnceLock::get) {
        Some(rules) => rules,
        None => TABLE.read().get(at as usize).copied().unwrap_or(&C),
    }
}

fn make(definition: Definition<'_>) -> SqlResult<(Option<Order>, case::Letters)> {
    let Definition { provider, locale, .. } = definition;
    match (provider, locale) {
        (Provider::Icu, _) => Ok((Some(order_of(locale)?), case::Letters::of_language(locale))),
        (_, "C" | "POSIX") => Ok((None, case::Letters::Ascii)),
        (_, "C.UTF-8") | (Provider::Libc, "C.utf8") => Ok((None, case::Letters::Simple)),
        (Provider::Builtin, "PG_UNICODE_FAST") => Ok((None, case::Letters::Full)),
        (Provider::Builtin, _) => Err(unknown_builtin(locale)),
        (Provider::Libc, _) => Err(sql_err!(
            INVALID_PARAMETER_VALUE,
            "could not create locale \"{locale}\": No such file or directory"
        )
        .detail(format!(
            "The operating system could not find any locale data for the locale name \"{locale}\"."
        ))),
    }
}

/// The name of a locale of the server's own, as catalogs have it: an error if there is none.
pub fn builtin_locale(name: &str) -> SqlResult<&'static str> {
    match name {
        "C" => Ok("C"),
        "PG_UNICODE_FAST" => Ok("PG_UNICODE_FAST"),
        "C.UTF-8" | "C.UTF8" => Ok("C.UTF-8"),
        _ => Err(unknown_builtin(name)),
    }
}

fn unknown_builtin(locale: &str) -> SqlError {
    sql_err!(WRONG_OBJECT_TYPE, "invalid locale name \"{locale}\" for builtin provider")
}

fn order_of(locale: &str) -> SqlResult<Order> {
    let (preferences, options) = locale::attributes(locale)?;
    let open = |options| {
        CollatorBorrowed::try_new(preferences, options).map_err(|error| {
            SqlError::internal(format!("could not open collator for locale \"{locale}\": {error}"))
        })
    };
    let by_keys = locale::language_of(locale) == "br";
    Ok(Order { collator: open(options)?, ascii: Ascii::new(options, open)?, by_keys })
}

/// What stands between the levels of a sort key, and nowhere else.
const END_OF_LEVEL: u8 = 1;

/// The first bytes of a sort key. Who writes one ends where they are there: most of a key would be for nothing.
#[derive(Default)]
struct Leading {
    bytes: [u8; 8],
    count: usize,
}

/// All bytes are there.
struct Full;

impl Leading {
    /// Only the first level stays.
    fn end_level(&mut self) {
        let end = self.bytes.iter().position(|byte| *byte == END_OF_LEVEL).unwrap_or(self.bytes.len());
        self.bytes[end..].fill(0);
    }
}

impl CollationKeySink for Leading {
    type Error = Full;
    type State = ();
    type Output = ();

    fn write(&mut self, _state: &mut (), key: &[u8]) -> Result<(), Full> {
        let room = &mut self.bytes[self.count..];
        let taken = room.len().min(key.len());
        room[..taken].copy_from_slice(&key[..taken]);
        self.count += taken;
        if self.count == self.bytes.len() { Err(Full) } else { Ok(()) }
    }

    fn finish(&mut self, _state: ()) -> Result<(), Full> {
        Ok(())
    }
}

impl Rules {
    /// Number of these rules in this process, 0 for C.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Who says what they do.
    pub fn provider(&self) -> Provider {
        self.provider
    }

    /// Their locale; of ICU a language tag.
    pub fn locale(&self) -> &'static str {
        self.locale
    }

    /// Whether texts of different bytes always differ.
    #[inline]
    pub fn is_deterministic(&self) -> bool {
        self.deterministic
    }

    /// Whether texts are in the order of their bytes, which is that of code points, and equal if these are.
    #[inline]
    pub fn is_bytewise(&self) -> bool {
        self.order.is_none()
    }

    /// Version of the order, as catalogs record it; none where it cannot change.
    pub fn version(&self) -> Option<&'static str> {
        version(self.provider, self.locale)
    }

    /// Order of two texts. In a deterministic collation, the bytes decide between texts that are otherwise equal.
    pub fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        let Some(order) = &self.order else { return a.cmp(b) };
        let found = order.compare(a, b);
        if self.deterministic { found.then_with(|| a.cmp(b)) } else { found }
    }

    /// Whether two texts are equal.
    #[inline]
    pub fn equal(&self, a: &[u8], b: &[u8]) -> bool {
        a == b || !self.deterministic && self.compare(a, b).is_eq()
    }

    /// Appends bytes that are in the order of the texts; those of equal texts are equal.
    pub fn sort_key(&self, text: &[u8], out: &mut Vec<u8>) {
        let Some(order) = &self.order else { return out.extend_from_slice(text) };
        let Ok(()) = order.collator.write_sort_key_utf8_to(text, out);
        if self.deterministic {
            out.push(0);
            out.extend_from_slice(text);
        }
    }

    /// The first bytes of the [sort key](Rules::sort_key)'s first level, the first one on top: of two texts, that with the smaller number comes first.
    pub fn leading(&self, text: &[u8]) -> u64 {
        let mut head = Leading::default();
        // An error means that all eight are there.
        let _ = match &self.order {
            None => head.write(&mut (), text),
            Some(order) => match order.ascii.leading(text) {
                Some(bytes) => return u64::from_be_bytes(bytes),
                None => order.collator.write_sort_key_utf8_to(text, &mut head),
            },
        };
        if self.order.is_some() {
            head.end_level();
        }
        u64::from_be_bytes(head.bytes)
    }

    /// Calls `f` with bytes that equal texts share: themselves, but for collations that are not deterministic.
    #[inline]
    pub fn hashed<T>(&self, text: &[u8], f: impl FnOnce(&[u8]) -> T) -> T {
        if self.deterministic {
            return f(text);
        }
        let mut key = Vec::with_capacity(text.len() * 2);
        self.sort_key(text, &mut key);
        f(&key)
    }
}

/// Version of a provider's locale, as catalogs record it; none where the order cannot change.
pub fn version(provider: Provider, locale: &str) -> Option<&'static str> {
    match provider {
        Provider::Builtin => Some("1"),
        Provider::Libc => None,
        Provider::Icu => Some(if locale.is_empty() { "" } else { ICU_VERSION }),
    }
}

/// Version of the data of `icu_collator` that is compiled in: it changes with the order of any locale, so that indexes are known to be stale.
const ICU_VERSION: &str = "icu4x-2.4";

#[cfg(test)]
mod tests {
    use super::*;

    fn icu(locale: &str, deterministic: bool) -> &'static Rules {
        rules(Definition { provider: Provider::Icu, locale, deterministic }).unwrap()
    }

    #[test]
    fn languages_order_letters_in_their_ways() {
        let order = |locale: &str, a: &str, b: &str| icu(locale, true).compare(a.as_bytes(), b.as_bytes());
        assert_eq!(order("en", "äbc", "bbc"), Ordering::Less);
        assert_eq!(order("sv", "äbc", "bbc"), Ordering::Greater);
        assert_eq!(order("de", "Goldmann", "Götz"), Ordering::Less);
        assert_eq!(order("de-u-co-phonebk", "Goldmann", "Götz"), Ordering::Greater);
        assert_eq!(order("und-u-kn", "A-21", "A-123"), Ordering::Less);
        assert_eq!(order("und-u-ka-shifted", "de-luge", "deanza"), Ordering::Greater);
        assert_eq!(order("und-u-kf-upper", "aaa", "AAA"), Ordering::Greater);
        assert_eq!(order("und", "aaa", "AAA"), Ordering::Less);
    }

    #[test]
    fn equal_texts_hash_equal() {
        let key = |rules: &Rules, text: &str| rules.hashed(text.as_bytes(), <[u8]>::to_vec);
        let folded = icu("und-u-ks-level2", false);
        assert!(folded.equal(b"abc", b"ABC"));
        assert_eq!(key(folded, "abc"), key(folded, "ABC"));
        assert_ne!(key(folded, "abc"), key(folded, "abd"));
        let exact = icu("und-u-ks-level2", true);
        assert!(!exact.equal(b"abc", b"ABC"));
        assert_eq!(exact.compare(b"abc", b"ABC"), Ordering::Greater);
    }

    #[test]
    fn sort_keys_are_in_the_order_of_texts() {
        let words = ["", "a", "A", "á", "ab", "a b", "a-b", "Z", "z", "ß", "ss", "10", "9"];
        for rules in [icu("en", true), icu("und-u-kn", true), icu("und-u-ks-level1", false), &C] {
            for a in words {
                for b in words {
                    let (mut x, mut y) = (Vec::new(), Vec::new());
                    rules.sort_key(a.as_bytes(), &mut x);
                    rules.sort_key(b.as_bytes(), &mut y);
                    assert_eq!(x.cmp(&y), rules.compare(a.as_bytes(), b.as_bytes()), "{a:?} {b:?} {rules:?}");
                }
            }
        }
    }

    #[test]
    fn leading_bytes_never_contradict_the_order() {
        let words = [
            "",
            "a",
            "A",
            "\u{e4}",
            "ab",
            "Ab",
            "abcdefghij",
            "abcdefghiJ",
            "co-op",
            "coop",
            "10",
            "9",
            "\u{6f22}\u{5b57}",
            "a\0b",
        ];
        for rules in [
            &C,
            icu("en", true),
            icu("en", false),
            icu("de-u-co-phonebk", true),
            icu("en-u-kn", true),
            icu("en-u-kf-upper", true),
        ] {
            for word in words.map(str::as_bytes) {
                let mut key = Vec::new();
                rules.sort_key(word, &mut key);
                let head = rules.leading(word).to_be_bytes();
                // Behind the last level come zeros, and in the key the text.
                let order = head.iter().zip(&key).take_while(|(told, byte)| told == byte).count();
                assert!(
                    order == 8.min(key.len()) || head[order..].iter().all(|byte| *byte == 0),
                    "{rules:?} {word:?}"
                );
            }
            for (a, b) in words.iter().flat_map(|a| words.iter().map(move |b| (a.as_bytes(), b.as_bytes()))) {
                let numbers = rules.leading(a).cmp(&rules.leading(b));
                assert!(numbers.is_eq() || numbers == rules.compare(a, b), "{rules:?} {a:?} {b:?}");
            }
            assert!(rules.leading(b"abc") < rules.leading(b"abd"), "{rules:?}");
        }
    }

    #[test]
    fn one_definition_has_one_set_of_rules() {
        assert!(std::ptr::eq(icu("en", true), icu("en", true)));
        assert!(!std::ptr::eq(icu("en", true), icu("en", false)));
        let en = icu("en", true);
        assert!(std::ptr::eq(numbered(en.number()), en));
        assert!(std::ptr::eq(numbered(0), &C));
    }
}
