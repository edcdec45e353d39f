//! What the log has for each page: lists of records, by the page.
//!
//! # Layout
//! A file's lists are spread over some parts by stretches of blocks. A part has one vector of entries, each of which names the one before it of
//! the same page, and a table of the last entry of each page. So adding is a look-up and a push, and an entry takes 16 bytes. Entries that no list needs any
//! more go when there are as many of them as of others.
//!
//! # Invariants
//! 1. What is added is not seen before it is *published*, up to a position of the log. So steps of one record are seen together, by who looks for any of its
//!    pages: [`Lists::get`] gives what was published when it is called, and nothing of what comes behind.
//! 2. A list that is given has what its page needs and no more: it begins with the last published image, or record that initialises the page.
//! 3. After [`FileLists::cut`] at the end of its file no list is of a block behind it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

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
/// Of an entry's length: the step needs nothing of what comes before.
const FRESH: u32 = 1 << 31;
/// Entries below which a part is not tidied.
const FEW: usize = 256;

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
    /// With [`FRESH`].
    length: u32,
    before: u32,
}

impl Entry {
    fn position(&self) -> u64 {
        self.what >> 8
    }

    fn is_fresh(&self) -> bool {
        self.length & FRESH != 0
    }

    fn step(&self) -> Step {
        let at = RecordAt { position: self.position(), length: self.length & !FRESH };
        Step { at, index: self.what as u8 }
    }
}

#[derive(Clone, Copy)]
struct Head {
    last: u32,
    /// There is a step that needs nothing of what the file has.
    fresh: bool,
}

#[derive(Default)]
struct Part {
    heads: FxHashMap<u32, Head>,
    entries: Vec<Entry>,
    /// So many entries are worth a look at who needs them.
    tidy_at: usize,
}

impl Part {
    /// The entries of a list, the last first, back to where it begins for who sees what was published up to a position.
    fn chain(&self, last: u32, published: u64) -> impl Iterator<Item = (u32, &Entry)> {
        let mut next = last;
        std::iter::from_fn(move || {
            let (number, entry) = (next, self.entries.get(next as usize)?);
            next = if entry.is_fresh() && entry.position() <= published { NONE } else { entry.before };
            Some((number, entry))
        })
    }

    /// Gives up what no list needs any more, if that may be much.
    fn tidy(&mut self, published: u64) {
        if self.heads.is_empty() {
            *self = Part::default();
            return;
        }
        if self.entries.len() < self.tidy_at.max(FEW) {
            return;
        }
        let mut kept = Vec::new();
        let mut heads = std::mem::take(&mut self.heads);
        for head in heads.values_mut() {
            let from = kept.len();
            kept.extend(self.chain(head.last, published).map(|(_, entry)| *entry));
            kept[from..].reverse();
            for (at, entry) in kept[from..].iter_mut().enumerate() {
                entry.before = if at == 0 { NONE } else { (from + at - 1) as u32 };
            }
            head.last = kept.len() as u32 - 1;
        }
        (self.heads, self.entries) = (heads, kept);
        self.tidy_at = 2 * self.entries.len();
    }
}

/// The steps of a page, in order.
pub(super) struct List {
    pub steps: Vec<Step>,
    /// The first step needs nothing of what the file has.
    pub fresh: bool,
}

impl List {
    /// Position of the last step.
    pub fn end(&self) -> u64 {
        self.steps.last().map_or(0, |step| step.at.position)
    }
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
    fn add(&self, block: u32, step: Step, fresh: bool, published: u64) -> bool {
        let mut part = self.part(block).lock();
        part.tidy(published);
        let part = &mut *part;
        let number = part.entries.len() as u32;
        let mut is_first = false;
        let head = part.heads.entry(block).or_insert_with(|| {
            is_first = true;
            Head { last: NONE, fresh }
        });
        let what = step.at.position << 8 | u64::from(step.index);
        let length = if fresh { step.at.length | FRESH } else { step.at.length };
        part.entries.push(Entry { what, length, before: head.last });
        *head = Head { last: number, fresh: head.fresh || fresh };
        is_first
    }

    fn get(&self, block: u32, published: &AtomicU64) -> Option<List> {
        let part = self.part(block).lock();
        let head = *part.heads.get(&block)?;
        // Acquire: pairs with the Release of who publishes; the bytes of what is published can be read.
        let published = published.load(Ordering::Acquire);
        let seen = part.chain(head.last, published).skip_while(|(_, entry)| entry.position() > published);
        let (mut steps, mut fresh) = (Vec::new(), false);
        for (_, entry) in seen {
            steps.push(entry.step());
            fresh = entry.is_fresh();
        }
        steps.reverse();
        (!steps.is_empty()).then_some(List { steps, fresh })
    }

    /// Removes the steps up to a position: whether the list is gone, and whether there was one that is not.
    fn remove(&self, block: u32, through: u64) -> (bool, bool) {
        let mut part = self.part(block).lock();
        let Some(head) = part.heads.get(&block).copied() else { return (false, false) };
        let unseen = part.chain(head.last, through).take_while(|(_, entry)| entry.position() > through);
        let Some((oldest, _)) = unseen.last() else {
            part.heads.remove(&block);
            if part.heads.is_empty() {
                *part = Part::default();
            }
            return (true, false);
        };
        part.entries[oldest as usize].before = NONE;
        (false, true)
    }

    /// Removes the lists from a block on; returns how many.
    fn cut(&self, from: u32) -> usize {
        let cut = |part: &Mutex<Part>| {
            let mut part = part.lock();
            let before = part.heads.len();
            part.heads.retain(|block, _| *block < from);
            let removed = before - part.heads.len();
            if part.heads.is_empty() {
                *part = Part::default();
            }
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
pub(super) struct Lists {
    files: RwLock<FxHashMap<File, Arc<FileLists>>>,
    /// Steps of records up to this position are seen.
    published: AtomicU64,
    /// Lists there are.
    pages: AtomicUsize,
    /// How often files were forgotten.
    forgotten: AtomicUsize,
}

/// Who adds knows the files that he added to.
#[derive(Default)]
pub(super) struct KnownFiles {
    /// When they were looked up.
    forgotten: usize,
    /// The one asked for last.
    last: usize,
    numbers: FxHashMap<File, usize>,
    files: Vec<KnownFile>,
}

/// A file that was added to.
struct KnownFile {
    file: File,
    lists: Arc<FileLists>,
    /// Its length, if that was asked for.
    pages: Option<u32>,
}

impl KnownFiles {
    /// Files known at most.
    const MOST: usize = 1024;

    fn get(&mut self, file: File, lists: &Lists) -> &mut KnownFile {
        // Relaxed: whoever adds is the one who forgets.
        let forgotten = lists.forgotten.load(Ordering::Relaxed);
        if self.forgotten != forgotten || self.files.len() >= Self::MOST {
            *self = KnownFiles { forgotten, ..KnownFiles::default() };
        }
        if self.files.get(self.last).is_none_or(|last| last.file != file) {
            self.last = *self.numbers.entry(file).or_insert_with(|| {
                let lists = lists.files.write().entry(file).or_default().clone();
                self.files.push(KnownFile { file, lists, pages: None });
                self.files.len() - 1
            });
        }
        &mut self.files[self.last]
    }

    /// Where the length of a page's file is kept, until files are forgotten.
    pub fn pages(&mut self, tag: Tag, lists: &Lists) -> &mut Option<u32> {
        &mut self.get((tag.rel, tag.fork), lists).pages
    }
}

impl Lists {
    /// Whatever is added is seen up to a position; [`u64::MAX`]: at once.
    pub fn published(position: u64) -> Lists {
        Lists {
            files: RwLock::default(),
            published: AtomicU64::new(position),
            pages: AtomicUsize::new(0),
            forgotten: AtomicUsize::new(0),
        }
    }

    /// Steps of records up to this position are seen from now on.
    #[inline]
    pub fn publish(&self, position: u64) {
        // Release: see `FileLists::get`.
        self.published.store(position, Ordering::Release);
    }

    fn file(&self, file: File) -> Option<Arc<FileLists>> {
        self.files.read().get(&file).cloned()
    }

    /// Adds a step to a page's list; `fresh`: it needs nothing of what comes before.
    pub fn add(&self, tag: Tag, step: Step, fresh: bool, known: &mut KnownFiles) {
        let known = known.get((tag.rel, tag.fork), self);
        // Relaxed: whoever adds publishes.
        if known.lists.add(tag.block.0, step, fresh, self.published.load(Ordering::Relaxed)) {
            self.pages.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The list of a page that has one, as far as it is published.
    pub fn get(&self, tag: Tag) -> Option<List> {
        self.file((tag.rel, tag.fork))?.get(tag.block.0, &self.published)
    }

    pub fn has(&self, tag: Tag) -> bool {
        self.file((tag.rel, tag.fork))
            .is_some_and(|file| file.part(tag.block.0).lock().heads.contains_key(&tag.block.0))
    }

    /// The page has what its list had for it up to a position, or needs it no longer; whether there is more.
    pub fn done(&self, tag: Tag, through: u64) -> bool {
        let Some(file) = self.file((tag.rel, tag.fork)) else { return false };
        let (gone, more) = file.remove(tag.block.0, through);
        if gone {
            self.pages.fetch_sub(1, Ordering::Relaxed);
        }
        more
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
            Gone::Database(tablespace, database) => {
                let gone = |rel: &RelFile| rel.tablespace == tablespace && rel.database == database;
                let mut files = self.files.write();
                let removed: Vec<_> = files.extract_if(|(rel, _), _| gone(rel)).collect();
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
        let (lists, mut known) = (Lists::published(u64::MAX), KnownFiles::default());
        for (position, block, fresh) in
            [(8, 1, false), (16, 2, false), (24, 1, false), (32, 2, true), (40, 2, false)]
        {
            lists.add(tag(7, block), step(position, 1), fresh, &mut known);
        }
        assert_eq!(positions(&lists, tag(7, 1)), Some((vec![8, 24], false)));
        assert_eq!(positions(&lists, tag(7, 2)), Some((vec![32, 40], true)));
        assert_eq!(lists.get(tag(7, 2)).unwrap().steps[1], step(40, 1));
        assert_eq!(lists.pages(), 2);
        assert_eq!(lists.files(|_| true), [(tag(7, 0).rel, Fork::Main, 3)]);
        assert!(!lists.done(tag(7, 1), 24));
        assert!(!lists.done(tag(7, 1), 24));
        assert_eq!((positions(&lists, tag(7, 1)), lists.pages()), (None, 1));
    }

    #[test]
    fn what_is_not_published_is_not_seen() {
        let (lists, mut known) = (Lists::published(0), KnownFiles::default());
        for (position, fresh) in [(8, false), (16, false), (24, true), (32, false)] {
            lists.add(tag(7, 1), step(position, 0), fresh, &mut known);
        }
        let seen_at = |position| {
            lists.publish(position);
            positions(&lists, tag(7, 1))
        };
        assert_eq!(seen_at(0), None);
        assert_eq!(seen_at(16), Some((vec![8, 16], false)), "an image that nobody sees yet begins nothing");
        assert!(lists.done(tag(7, 1), 16), "there is more");
        assert_eq!(seen_at(20), None);
        assert_eq!(seen_at(31), Some((vec![24], true)));
        assert!(lists.done(tag(7, 1), 24) && lists.has(tag(7, 1)));
        assert_eq!(seen_at(32), Some((vec![32], false)));
        assert!(!lists.done(tag(7, 1), 32));
        assert_eq!((lists.pages(), lists.has(tag(7, 1))), (0, false));
    }

    #[test]
    fn lists_are_the_same_when_a_part_is_tidied() {
        let (lists, mut known) = (Lists::published(0), KnownFiles::default());
        let mut wanted = vec![Vec::new(); 5];
        for position in 1..10_000_u64 {
            let block = (position * position % 5) as usize;
            let fresh = position % 37 == 0;
            lists.add(tag(7, block as u32), step(position, 0), fresh, &mut known);
            lists.publish(position);
            if fresh {
                wanted[block].clear();
            }
            wanted[block].push(position);
            if position % 101 == 0 {
                lists.done(tag(7, block as u32), position);
                wanted[block].clear();
            }
        }
        for (block, wanted) in wanted.into_iter().enumerate() {
            let got = positions(&lists, tag(7, block as u32)).map(|(got, _)| got);
            assert_eq!(got.unwrap_or_default(), wanted);
        }
        let file = lists.file((tag(7, 0).rel, Fork::Main)).unwrap();
        assert!(file.part(0).lock().entries.len() < 2000);
    }

    #[test]
    fn what_is_gone_needs_nothing() {
        let (lists, mut known) = (Lists::published(u64::MAX), KnownFiles::default());
        for (number, block) in [(7, 1), (7, 100), (7, 2000), (8, 0), (9, 5)] {
            lists.add(tag(number, block), step(8, 0), false, &mut known);
        }
        lists.forget(Gone::From(tag(7, 100)));
        assert_eq!(lists.tags(|_| true), [tag(7, 1), tag(8, 0), tag(9, 5)]);
        lists.forget(Gone::Relations(&[tag(9, 0).rel, tag(7, 0).rel]));
        // A new file of the same number begins anew.
        lists.add(tag(9, 6), step(16, 0), false, &mut known);
        assert_eq!(lists.tags(|_| true), [tag(8, 0), tag(9, 6)]);
        lists.forget(Gone::Database(Oid(1663), Oid(4)));
        assert_eq!(lists.pages(), 2);
        lists.forget(Gone::Database(Oid(1663), Oid(5)));
        assert_eq!((lists.pages(), lists.tags(|_| true)), (0, vec![]));
    }
}
