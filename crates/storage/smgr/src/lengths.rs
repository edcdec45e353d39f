//! How many pages relations must have: what the last checkpoint left, less what was cut since.
//!
//! Files say of themselves how long they are, and a file that has lost its end, or all of its pages, says so too: rows would be gone without a
//! word. So a checkpoint notes the lengths of main forks ([`Lengths::collect`]), and a start takes them over. Maps of free space and of
//! visibility do without: what they lose costs no answer.
//!
//! During redo a file may rightly be shorter than noted: its cut or its removal is replayed later, or was of a transaction that was rolled
//! back, whose table nobody will ask for. So redo goes on with what there is, and the error comes from who reads the relation afterwards.

use base::RelFile;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;

/// A length that no file has: the relation is damaged until it is dropped or emptied.
pub const DAMAGED: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Length {
    pages: u32,
    /// What there was when the relation was first looked at, if that was less.
    found: Option<u32>,
}

/// What main forks must have at least.
#[derive(Default)]
pub(crate) struct Lengths(Mutex<FxHashMap<RelFile, Length>>);

impl Lengths {
    pub fn set(&self, all: impl Iterator<Item = (RelFile, u32)>) {
        self.0.lock().extend(all.map(|(rel, pages)| (rel, Length { pages, found: None })));
    }

    pub fn get(&self, rel: RelFile) -> u32 {
        self.0.lock().get(&rel).map_or(0, |length| length.pages)
    }

    /// The relation is looked at for the first time, and has so many pages; whether that is too few.
    pub fn is_cut(&self, rel: RelFile, pages: u32) -> bool {
        let mut all = self.0.lock();
        let Some(length) = all.get_mut(&rel).filter(|length| length.pages > pages) else { return false };
        length.found.get_or_insert(pages);
        true
    }

    /// How many pages a relation that has too few had, and has to have.
    pub fn missing(&self, rel: RelFile) -> (u32, u32) {
        let all = self.0.lock();
        all.get(&rel).map_or((0, 0), |length| (length.found.unwrap_or(0), length.pages))
    }

    /// The relation is cut to so many pages; whether pages are still missing.
    pub fn cut(&self, rel: RelFile, pages: u32) -> bool {
        let mut all = self.0.lock();
        let Some(length) = all.get_mut(&rel) else { return false };
        if length.pages == DAMAGED && pages > 0 {
            return length.found.is_some();
        }
        length.pages = length.pages.min(pages);
        length.found = length.found.filter(|&found| found < length.pages);
        length.found.is_some()
    }

    pub fn remove(&self, rel: RelFile) {
        self.0.lock().remove(&rel);
    }

    pub fn remove_where(&self, gone: impl Fn(&RelFile) -> bool) {
        self.0.lock().retain(|rel, _| !gone(rel));
    }

    /// What the next start must find, with the lengths of relations that are known now; in order.
    pub fn collect(&self, known: impl Iterator<Item = (RelFile, u32)>) -> Vec<(RelFile, u32)> {
        let mut all = self.0.lock();
        for (rel, pages) in known {
            let length = all.entry(rel).or_insert(Length { pages, found: None });
            if length.found.is_none() {
                length.pages = pages;
            }
        }
        let mut list: Vec<_> = all
            .iter()
            .map(|(&rel, length)| (rel, if length.found.is_some() { DAMAGED } else { length.pages }))
            .collect();
        list.sort_unstable();
        list
    }
}
