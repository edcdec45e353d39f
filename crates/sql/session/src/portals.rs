//! The portals of a session by name.

use rustc_hash::FxHashMap;

use super::portal::Portal;

/// Portals by name. The unnamed one, which nearly every statement of the extended protocol uses, has a place of its own.
#[derive(Default)]
pub(crate) struct Portals {
    unnamed: Option<Box<Portal>>,
    named: FxHashMap<Box<str>, Box<Portal>>,
}

impl Portals {
    pub(super) fn contains(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    pub(super) fn get(&self, name: &str) -> Option<&Portal> {
        let portal = if name.is_empty() { self.unnamed.as_ref() } else { self.named.get(name) };
        portal.map(|portal| &**portal)
    }

    pub(super) fn insert(&mut self, name: &str, portal: Box<Portal>) {
        if name.is_empty() {
            self.unnamed = Some(portal);
        } else {
            self.named.insert(name.into(), portal);
        }
    }

    pub(super) fn remove(&mut self, name: &str) -> Option<Box<Portal>> {
        if name.is_empty() { self.unnamed.take() } else { self.named.remove(name) }
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.unnamed.is_none() && self.named.is_empty()
    }

    /// Whether there are others than the unnamed one.
    pub(super) fn has_named(&self) -> bool {
        !self.named.is_empty()
    }

    /// All of them with their names.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &Portal)> {
        let unnamed = self.unnamed.iter().map(|portal| ("", &**portal));
        unnamed.chain(self.named.iter().map(|(name, portal)| (&**name, &**portal)))
    }

    /// All of them, to be changed.
    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut Portal> {
        self.unnamed.iter_mut().chain(self.named.values_mut()).map(|portal| &mut **portal)
    }

    /// Takes out the unnamed one if `which` says so.
    pub(super) fn take_unnamed_if(&mut self, which: impl Fn(&Portal) -> bool) -> Option<Box<Portal>> {
        self.unnamed.take_if(|portal| which(portal))
    }

    /// Takes out those with names of which `which` says so.
    pub(super) fn take_named_if(&mut self, which: impl Fn(&Portal) -> bool) -> Vec<(Box<str>, Box<Portal>)> {
        self.named.extract_if(|_, portal| which(portal)).collect()
    }
}
