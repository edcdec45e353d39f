//! The prepared statements of a session by name.
//!
//! # Invariants
//! 1. `recent` is one of `all`, under that name.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::statement::{Named, Source};

/// A name, which most clients keep short.
type Name = SmallVec<[u8; 24]>;

/// Prepared statements by name; the empty one is the unnamed statement's. The one that was asked for last is found without a search: most
/// often it is the next one too.
#[derive(Default)]
pub(crate) struct Statements {
    recent: Option<(Name, Rc<Source>)>,
    all: FxHashMap<Box<str>, Named>,
}

impl Statements {
    pub(super) fn contains(&self, name: &str) -> bool {
        self.all.contains_key(name)
    }

    /// The statement of this name.
    pub(super) fn find(&mut self, name: &str) -> Option<Rc<Source>> {
        if let Some((known, source)) = &self.recent
            && known.as_slice() == name.as_bytes()
        {
            return Some(source.clone());
        }
        let source = self.all.get(name)?.source.clone();
        self.recent = Some((Name::from_slice(name.as_bytes()), source.clone()));
        Some(source)
    }

    /// The one that was asked for last.
    pub(super) fn recent(&self) -> Option<&Rc<Source>> {
        self.recent.as_ref().map(|(_, source)| source)
    }

    pub(super) fn insert(&mut self, name: &str, statement: Named) {
        self.recent = None;
        self.all.insert(name.into(), statement);
    }

    pub(super) fn remove(&mut self, name: &str) -> Option<Named> {
        self.recent = None;
        self.all.remove(name)
    }

    pub(super) fn clear(&mut self) {
        *self = Statements::default();
    }

    /// All of them with their names.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Named)> {
        self.all.iter().map(|(name, statement)| (&**name, statement))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str) -> Named {
        Named { source: Source::new(text, None, None), from_sql: false, made: 0 }
    }

    fn text(statements: &mut Statements, name: &str) -> Option<String> {
        statements.find(name).map(|source| source.text.to_string())
    }

    #[test]
    fn what_was_found_last_is_forgotten_with_its_name() {
        let mut statements = Statements::default();
        statements.insert("", named("one"));
        statements.insert("s", named("two"));
        assert_eq!(text(&mut statements, "").as_deref(), Some("one"));
        assert_eq!(text(&mut statements, "").as_deref(), Some("one"));
        statements.insert("", named("three"));
        assert_eq!(text(&mut statements, "").as_deref(), Some("three"));
        assert_eq!(text(&mut statements, "s").as_deref(), Some("two"));
        statements.remove("s");
        assert_eq!(text(&mut statements, "s"), None);
        assert_eq!(text(&mut statements, "").as_deref(), Some("three"));
        statements.clear();
        assert!(statements.recent().is_none());
        assert_eq!(text(&mut statements, ""), None);
    }
}
