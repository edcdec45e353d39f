//! What the log has for each page: lists of records, by the page.
//!
//! # Layout
//! A file's lists are spread over some parts by stretches of blocks. A part has one vector of entries, each of which names the one before it of
//! the same page, and a table of the last entry of each page. So adding is a look-up and a push, and an entry takes 16 bytes.
//!
//! # Invariants
//! 1. A list has what its page needs and no more: an image, or a record that initialises the page, begins the list anew.
//! 2. After [`FileLists::cut`] at the end of its file no list is of a block behind it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base::{BlockNo, Fork, RelFile};
use buffer::{Gone, Tag};
use parking_lot::{Mutex, RwLock};
use rustc_hash::FxHashMap;
use wal::RecordAt;

/// Parts of a file's lists.
const PARTS: usize = 16;
/// Blocks that lie in the same part, side by side.
const STRETCH: u32 = 64;
/// No entry before.
const NONE: u32 = u32::MAX;

/// A step of a list: a record, and which of its block references.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub at: RecordAt,
    pub index: u8,
}

#[derive(Clone, Copy)]
struct Entry {
    /// Position of the record, shifted by 8, and the index.
    what: u64,
    length: u32,
    before: u32,
}

#[derive(Clone, Copy)]
struct Head {
    last: u32,
    /// The first step needs nothing of what the file has.
    fresh: bool,
}

#[derive(Default)]
struct Part {
    heads: FxHashMap<u32, Head>,
    entries: Vec<Entry>,
}

impl Part {
    /// Room that no list needs any more.
    fn tidy(&mut self) {
        if self.heads.is_empty() {
            *self = Part::default();
        }
    }
}

/// The steps of a page, in order.
pub(super) struct List {
    pub steps: Vec<Step>,
    /// The first step needs nothing of what the file has.
    pub fresh: bool,
}

/// The lists of a file's pages.
#[derive(Default)]
pub(super) struct FileLists {
    parts: [Mutex<Part>; PARTS],
}

impl FileLists {
    fn part(&self, block: u32) -> &Mutex<Part> {
        &self.parts[(block / STRETCH) as usize % PARTS]
    }

    /// Adds a step; whether it is the page's first.
    fn add(&self, block: u32, step: Step, fresh: bool) -> bool {
        let mut part = self.part(block).lock();
        let part = &mut *part;
        let number = part.entries.len() as u32;
        let mut is_first = false;
        let head = part.heads.entry(block).or_insert_with(|| {
            is_first = true;
            Head { last: NONE, fresh }
        });
        let before = if fresh { NONE } else { head.last };
        *head = Head { last: number, fresh: head.fresh || fresh };
        let what = step.at.position << 8 | u64::from(step.index);
        part.entries.push(Entry { what, length: step.at.length, before });
        is_first
    }

    fn get(&self, block: u32) -> Option<List> {
        let part = self.part(block).lock();
        let head = *part.heads.get(&block)?;
        let mut steps = Vec::new();
        let mut next = head.last;
        while let Some(entry) = part.entries.get(next as usize) {
            let at = RecordAt { position: entry.what >> 8, length: entry.length };
            steps.push(Step { at, index: entry.what as u8 });
            next = entry.before;
        }
        steps.reverse();
        Some(List { steps, fresh: head.fresh })
    }

    fn remove(&self, block: u32) -> bool {
        let mut part = self.part(block).lock();
        let removed = part.heads.remove(&block).is_some();
        part.tidy();
        removed
    }

    /// Removes the lists from a block on; returns how many.
    fn cut(&self, from: u32) -> usize {
        let cut = |part: &Mutex<Part>| {
            let mut part = part.lock();
            let before = part.heads.len();
            part.heads.retain(|block, _| *block < from);
            let removed = before - part.heads.len();
            part.tidy();
            removed
        };
        self.parts.iter().map(cut).sum()
    }

    /// Pages that the file must have for the lists that bring their own beginning.
    fn least_pages(&self) -> u32 {
        let greatest = |part: &Mutex<Part>| {
            let part = part.lock();
            part.heads.iter().filter(|(_, head)| head.fresh).map(|(block, _)| block + 1).max()
        };
        self.parts.iter().filter_map(greatest).max().unwrap_or(0)
    }

    fn blocks(&self) -> Vec<u32> {
        let blocks = |part: &Mutex<Part>| part.lock().heads.keys().copied().collect::<Vec<_>>();
        self.parts.iter().flat_map(blocks).collect()
    }
}

type File = (RelFile, Fork);

/// The lists of all pages.
#[derive(Default)]
pub(super) struct Lists {
    files: RwLock<FxHashMap<File, Arc<FileLists>>>,
    /// Lists there are.
    pages: AtomicUsize,
    /// How often files were forgotten.
    forgotten: AtomicUsize,
}

/// Remembers the file that a step was added to last.
#[derive(Default)]
pub(super) struct LastFile(Option<(File, usize, Arc<FileLists>)>);

impl Lists {
    fn file(&self, file: File) -> Option<Arc<FileLists>> {
        self.files.read().get(&file).cloned()
    }

    /// Adds a step to a page's list; `fresh`: it needs nothing of what comes before.
    pub fn add(&self, tag: Tag, step: Step, fresh: bool, last: &mut LastFile) {
        let file = (tag.rel, tag.fork);
        // Relaxed: whoever adds is the one who forgets.
        let forgotten = self.forgotten.load(Ordering::Relaxed);
        let known = last.0.as_ref().is_some_and(|(known, then, _)| *known == file && *then == forgotten);
        if !known {
            let lists = self.files.write().entry(file).or_default().clone();
            last.0 = Some((file, forgotten, lists));
        }
        let (_, _, lists) = last.0.as_ref().expect("set above");
        if lists.add(tag.block.0, step, fresh) {
            self.pages.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The list of a page that has one.
    pub fn get(&self, tag: Tag) -> Option<List> {
        self.file((tag.rel, tag.fork))?.get(tag.block.0)
    }

    pub fn has(&self, tag: Tag) -> bool {
        self.file((tag.rel, tag.fork))
            .is_some_and(|file| file.part(tag.block.0).lock().heads.contains_key(&tag.block.0))
    }

    /// The page has what its list had for it, or needs it no longer.
    pub fn done(&self, tag: Tag) {
        if self.file((tag.rel, tag.fork)).is_some_and(|file| file.remove(tag.block.0)) {
            self.pages.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Pages that have a list.
    pub fn pages(&self) -> usize {
        // Relaxed: shown to people; who needs to know that there are none has waited for those who saw to it.
        self.pages.load(Ordering::Relaxed)
    }

    pub fn forget(&self, gone: Gone<'_>) {
        self.forgotten.fetch_add(1, Ordering::Relaxed);
        let forgotten = match gone {
            Gone::From(tag) => self.file((tag.rel, tag.fork)).map_or(0, |file| file.cut(tag.block.0)),
            Gone::Relations(rels) => {
                let forks = rels.iter().flat_map(|&rel| Fork::ALL.map(|fork| (rel, fork)));
                let mut files = self.files.write();
                let removed: Vec<_> = forks.filter_map(|file| files.remove(&file)).collect();
                drop(files);
                removed.iter().map(|file| file.cut(0)).sum()
            }
            Gone::Database(database) => {
                let mut files = self.files.write();
                let removed: Vec<_> = files.extract_if(|(rel, _), _| rel.database == database).collect();
                drop(files);
                removed.iter().map(|(_, file)| file.cut(0)).sum()
            }
        };
        self.pages.fetch_sub(forgotten, Ordering::Relaxed);
    }

    /// Files that `wanted` names and that have lists, with how many pages they must have at least.
    pub fn files(&self, wanted: impl Fn(RelFile) -> bool) -> Vec<(RelFile, Fork, u32)> {
        let files = self.files.read();
        let wanted = files.iter().filter(|((rel, _), _)| wanted(*rel));
        wanted.map(|(&(rel, fork), lists)| (rel, fork, lists.least_pages())).collect()
    }

    /// The pages of files that `wanted` names, in the order of files.
    pub fn tags(&self, wanted: impl Fn(RelFile) -> bool) -> Vec<Tag> {
        let files = self.files.read();
        let wanted = files.iter().filter(|((rel, _), _)| wanted(*rel));
        let tags = |(&(rel, fork), lists): (&File, &Arc<FileLists>)| {
            lists.blocks().into_iter().map(move |block| Tag { rel, fork, block: BlockNo(block) })
        };
        let mut tags: Vec<Tag> = wanted.flat_map(tags).collect();
        tags.sort_unstable();
        tags
    }
}

#[cfg(test)]
mod tests {
    use base::Oid;

    use super::*;

    fn tag(number: u32, block: u32) -> Tag {
        let rel = RelFile { tablespace: Oid(1663), database: Oid(5), number };
        Tag::new(rel, Fork::Main, BlockNo(block))
    }

    fn step(position: u64, index: u8) -> Step {
        Step { at: RecordAt { position, length: 40 }, index }
    }

    fn positions(lists: &Lists, tag: Tag) -> Option<(Vec<u64>, bool)> {
        let list = lists.get(tag)?;
        Some((list.steps.iter().map(|step| step.at.position).collect(), list.fresh))
    }

    #[test]
    fn a_list_has_what_its_page_needs() {
        let (lists, mut last) = (Lists::default(), LastFile::default());
        for (position, block, fresh) in
            [(8, 1, false), (16, 2, false), (24, 1, false), (32, 2, true), (40, 2, false)]
        {
            lists.add(tag(7, block), step(position, 1), fresh, &mut last);
        }
        assert_eq!(positions(&lists, tag(7, 1)), Some((vec![8, 24], false)));
        assert_eq!(positions(&lists, tag(7, 2)), Some((vec![32, 40], true)));
        assert_eq!(lists.get(tag(7, 2)).unwrap().steps[1], step(40, 1));
        assert_eq!(lists.pages(), 2);
        assert_eq!(lists.files(|_| true), [(tag(7, 0).rel, Fork::Main, 3)]);
        lists.done(tag(7, 1));
        lists.done(tag(7, 1));
        assert_eq!((positions(&lists, tag(7, 1)), lists.pages()), (None, 1));
    }

    #[test]
    fn what_is_gone_needs_nothing() {
        let (lists, mut last) = (Lists::default(), LastFile::default());
        for (number, block) in [(7, 1), (7, 100), (7, 2000), (8, 0), (9, 5)] {
            lists.add(tag(number, block), step(8, 0), false, &mut last);
        }
        lists.forget(Gone::From(tag(7, 100)));
        assert_eq!(lists.tags(|_| true), [tag(7, 1), tag(8, 0), tag(9, 5)]);
        lists.forget(Gone::Relations(&[tag(9, 0).rel, tag(7, 0).rel]));
        // A new file of the same number begins anew.
        lists.add(tag(9, 6), step(16, 0), false, &mut last);
        assert_eq!(lists.tags(|_| true), [tag(8, 0), tag(9, 6)]);
        lists.forget(Gone::Database(Oid(4)));
        assert_eq!(lists.pages(), 2);
        lists.forget(Gone::Database(Oid(5)));
        assert_eq!((lists.pages(), lists.tags(|_| true)), (0, vec![]));
    }
}
