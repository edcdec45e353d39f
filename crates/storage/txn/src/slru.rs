//! What · A page cache over numbered small files: the commit log and multixacts (thread 5).
//!
//! Layout · Pages of 8 KiB, 32 to a segment file named by its number in at least four hex digits (`pg_xact/0000`). A page
//! is an array of [`WORDS`] little-endian 64-bit words; a new page is all zero. On disk 63 of them at a time fill a sector of 512 bytes,
//! whose last word checks them (`seal`): the CRC-32C of the words, the page's number and the sector's in it, and the same inverted above.
//! In memory: banks of [`BANK`] slots, a page belongs to
//! bank `page % banks`. The memory of a slot is allocated at its first use, so a generous setting costs nothing unused.
//!
//! Invariants
//! 1. Reads of a page in memory take no lock and write nothing shared: a slot's version is even and the same before and
//!    after the word was read.
//! 2. Words change only under a pin; a slot with pins keeps its page. A slot being evicted takes no new pins.
//! 3. A page is written only after WAL is durable up to its `lsn`, which is raised before the words that need it change.
//! 4. A dirty flag is set after the change and cleared before the copy for writing is taken: no change is lost.
//!
//! Locks · One fiber-aware mutex for each bank, held over the reading and writing of its pages. Readers and writers of pages
//! in memory do not take it. `upkeep`, another, before those: a checkpoint or a removal at a time. `files`, a short mutex.
//!
//! WAL and crash · The owner logs the zeroing of new pages and replays it. The owner also logs truncations, and orders them by
//! [`Slru::remove_before`] when nobody can ask for the pages any more. Redo may change a page that such a truncation has taken: changes of
//! pages that cannot be read are left out and noted ([`Slru::pin_in_redo`]), and unless the truncation is replayed too, recovery fails in the
//! end. A crash leaves of a page some sectors as they were and some as they were to be, all of them whole: redo repeats the changes, so this
//! is no damage.
//!
//! What of damage is found · A file that is missing or too short at the start ([`Slru::end_recovery`]); a changed bit, a block of zeros or a
//! page of another place when the page is read. Not found: sectors that an older copy of the same file has put back.
//!
//! PostgreSQL counterpart · `slru.c` with its banks of version 17. Differences: lock-free hits; memory on demand.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};
use std::sync::{Arc, OnceLock};

use base::{Lsn, PAGE_SIZE, stop_point};
use parking_lot::Mutex;
use runtime::fs::{self, File, OpenOptions};
use runtime::usage::{Counters, used};
use runtime::{WaitEvent, waiting};
use rustc_hash::FxHashMap;

use crate::system::Log;

/// Slots of a bank.
pub const BANK: usize = 16;
/// Unit that a disk writes whole.
const SECTOR: usize = 512;
/// Words of a sector beside its check.
const SECTOR_WORDS: usize = SECTOR / 8 - 1;
/// Words of a page.
pub const WORDS: usize = PAGE_SIZE / SECTOR * SECTOR_WORDS;
const PAGES_PER_SEGMENT: u64 = 32;

/// Name of a segment's file.
pub(crate) fn segment_name(segment: u64) -> String {
    format!("{segment:04X}")
}

/// The segment whose file has this name.
fn segment_number(name: &str) -> Option<u64> {
    let number = u64::from_str_radix(name, 16).ok()?;
    (segment_name(number) == name).then_some(number)
}

/// The first page of the segment whose file has this name.
pub fn first_page_of_segment(name: &str) -> Option<u64> {
    segment_number(name).map(|segment| segment * PAGES_PER_SEGMENT)
}

/// Whether a page as it was read from its file is one that was written, or none yet.
pub fn is_whole_page(page: u64, bytes: &[u8]) -> bool {
    decode(page, bytes).is_some() || bytes.iter().all(|byte| *byte == 0)
}

const OPEN_FILES: usize = 16;
const EVICTING: u32 = 1 << 31;

/// A page could not be read or written.
#[derive(Clone, Debug)]
pub struct SlruError {
    /// What was tried, in the words of PostgreSQL's DETAIL.
    pub message: String,
    /// What the operating system said; `UnexpectedEof` for a file that is too short.
    pub kind: io::ErrorKind,
    /// Nothing happened, and it may succeed later: no room, no descriptor.
    pub transient: bool,
}

impl SlruError {
    fn new(what: &str, path: &Path, error: &io::Error) -> SlruError {
        SlruError {
            message: format!("Could not {what} file \"{}\": {}.", name(path), reason(error)),
            kind: error.kind(),
            transient: base::os::is_transient(error),
        }
    }

    /// A page could not be read.
    fn reading(path: &Path, offset: u64, error: &io::Error) -> SlruError {
        if error.kind() == io::ErrorKind::NotFound {
            return SlruError::new("open", path, error);
        }
        SlruError {
            message: format!(
                "Could not read from file \"{}\" at offset {offset}: {}.",
                name(path),
                reason(error)
            ),
            kind: error.kind(),
            transient: base::os::is_transient(error),
        }
    }

    /// The bytes are gone or are not those that were written.
    fn is_damage(&self) -> bool {
        use io::ErrorKind::{InvalidData, NotFound, UnexpectedEof};
        matches!(self.kind, InvalidData | NotFound | UnexpectedEof)
    }
}

/// A file or folder as people know it, without the way to the data directory.
fn name(path: &Path) -> String {
    let last = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let file = last(path);
    match (segment_number(&file), path.parent()) {
        (Some(_), Some(folder)) => format!("{}/{file}", last(folder)),
        _ => file,
    }
}

fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "read too few bytes".into(),
        io::ErrorKind::NotFound => "No such file or directory".into(),
        _ => base::os_error(error),
    }
}

/// The word that checks a sector.
fn seal(page: u64, sector: usize, words: &[u8]) -> u64 {
    let place = crc32c::crc32c_append(crc32c::crc32c(&page.to_le_bytes()), &(sector as u64).to_le_bytes());
    let crc = crc32c::crc32c_append(place, words);
    u64::from(crc) | u64::from(!crc) << 32
}

/// A page as it is on disk.
pub(crate) fn encode(page: u64, words: impl Iterator<Item = u64>) -> Vec<u8> {
    let mut words = words;
    let mut bytes = Vec::with_capacity(PAGE_SIZE);
    for sector in 0..PAGE_SIZE / SECTOR {
        let start = bytes.len();
        for word in words.by_ref().take(SECTOR_WORDS) {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        let seal = seal(page, sector, &bytes[start..]);
        bytes.extend_from_slice(&seal.to_le_bytes());
    }
    bytes
}

/// The words of a page from disk; `None` if a sector is damaged.
fn decode(page: u64, bytes: &[u8]) -> Option<Vec<u64>> {
    let mut words = Vec::with_capacity(WORDS);
    for (number, sector) in bytes.as_chunks::<SECTOR>().0.iter().enumerate() {
        let (data, check) = sector.split_last_chunk::<8>()?;
        if u64::from_le_bytes(*check) != seal(page, number, data) {
            return None;
        }
        words.extend(data.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)));
    }
    Some(words)
}

struct Slot {
    /// Odd while the slot changes its page.
    version: AtomicU64,
    /// Page number + 1; 0 is none.
    page: AtomicU64,
    /// Number of pins, and [`EVICTING`].
    pins: AtomicU32,
    dirty: AtomicBool,
    /// Second chance for the clock.
    recent: AtomicBool,
    lsn: AtomicU64,
    words: OnceLock<Box<[AtomicU64]>>,
    /// LSNs of asynchronous changes for each word, from the first such change on.
    word_lsns: OnceLock<Box<[AtomicU64]>>,
}

fn zeros() -> Box<[AtomicU64]> {
    std::iter::repeat_with(|| AtomicU64::new(0)).take(WORDS).collect()
}

impl Slot {
    fn new() -> Slot {
        Slot {
            version: AtomicU64::new(0),
            page: AtomicU64::new(0),
            pins: AtomicU32::new(0),
            dirty: AtomicBool::new(false),
            recent: AtomicBool::new(false),
            lsn: AtomicU64::new(0),
            words: OnceLock::new(),
            word_lsns: OnceLock::new(),
        }
    }

    fn words(&self) -> &[AtomicU64] {
        self.words.get_or_init(zeros)
    }

    fn holds(&self, page: u64) -> bool {
        self.page.load(Ordering::Acquire) == page + 1
    }

    /// Reads from `page`, if the slot holds it throughout.
    fn peek<T>(&self, page: u64, read: impl FnOnce(&Slot) -> T) -> Option<T> {
        // Acquire: partner of the Release that ends `replace`.
        let version = self.version.load(Ordering::Acquire);
        if version % 2 == 1 || !self.holds(page) {
            return None;
        }
        let value = read(self);
        // The fence keeps the second look at the version behind the reads of the words.
        fence(Ordering::Acquire);
        if self.version.load(Ordering::Relaxed) != version {
            return None;
        }
        if !self.recent.load(Ordering::Relaxed) {
            self.recent.store(true, Ordering::Relaxed);
        }
        Some(value)
    }

    /// Gives the slot another page. The caller holds the bank's mutex, and no pin can be taken.
    fn replace(&self, page: Option<u64>, lsn: Lsn, fill: impl FnOnce(&[AtomicU64])) {
        let version = self.version.load(Ordering::Relaxed);
        self.version.store(version + 1, Ordering::Relaxed);
        // Release fence: a reader that sees a new word also sees the odd version.
        fence(Ordering::Release);
        self.page.store(page.map_or(0, |page| page + 1), Ordering::Relaxed);
        fill(self.words());
        for lsn in self.word_lsns.get().into_iter().flatten() {
            lsn.store(0, Ordering::Relaxed);
        }
        self.lsn.store(lsn.0, Ordering::Relaxed);
        self.recent.store(true, Ordering::Relaxed);
        self.version.store(version + 2, Ordering::Release);
    }
}

struct Bank {
    slots: Box<[Slot]>,
    /// Held to change which pages the bank holds, and to write them. The value is the clock's hand.
    change: runtime::Mutex<usize>,
}

impl Bank {
    /// Takes the pages before `page` out, written or not. `_change`: the bank's mutex is held.
    fn forget_before(&self, page: u64, _change: &mut usize) {
        for slot in &self.slots {
            let held = slot.page.load(Ordering::Relaxed);
            if held == 0 || held > page {
                continue;
            }
            while slot.pins.compare_exchange(0, EVICTING, Ordering::SeqCst, Ordering::SeqCst).is_err() {
                runtime::yield_now();
            }
            slot.dirty.store(false, Ordering::SeqCst);
            slot.replace(None, Lsn::INVALID, |_| ());
            slot.pins.fetch_and(!EVICTING, Ordering::Release);
        }
    }
}

/// What an SLRU has done since it was opened. Pages found in memory are counted by who looked ([`runtime::usage`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlruStats {
    /// Pages made.
    pub zeroed: u64,
    /// Pages read.
    pub read: u64,
    /// Pages written.
    pub written: u64,
    /// Times that all dirty pages were written.
    pub flushes: u64,
    /// Times that files were removed.
    pub truncates: u64,
}

/// Where pages found in memory are counted.
pub type HitCounter = fn(&Counters) -> &Cell<u64>;

/// A cached set of numbered pages.
pub struct Slru {
    hits: HitCounter,
    zeroed: AtomicU64,
    pages_read: AtomicU64,
    written: AtomicU64,
    flushes: AtomicU64,
    truncates: AtomicU64,
    dir: PathBuf,
    banks: Box<[Bank]>,
    log: Arc<dyn Log>,
    recovering: AtomicBool,
    replayed: Mutex<Replayed>,
    /// Held to write everything or to remove files: a removed one is not made again by a sync.
    upkeep: runtime::Mutex<()>,
    files: Mutex<Files>,
}

/// What redo has met with.
#[derive(Default)]
struct Replayed {
    /// Pages whose changes redo skipped, each with the first id that was to be recorded there, and the reason.
    unreadable: BTreeMap<u64, (u64, SlruError)>,
    /// The first page that was made again; those behind it were too.
    first_zeroed: Option<u64>,
}

#[derive(Default)]
struct Files {
    open: FxHashMap<u64, Arc<File>>,
    /// Segments written since the last [`Slru::checkpoint`].
    unsynced: BTreeSet<u64>,
    /// A sync that failed: the kernel may have dropped the pages, so no later one may succeed.
    failed: Option<SlruError>,
}

/// A page that stays in memory; its words may be changed.
pub struct PagePin<'a> {
    slot: &'a Slot,
}

impl PagePin<'_> {
    /// A word as it is.
    pub fn word(&self, index: usize) -> u64 {
        self.slot.words()[index].load(Ordering::Acquire)
    }

    /// Announces that WAL up to `lsn` must be durable before the page is written. Before the change it covers.
    pub fn raise_lsn(&self, lsn: Lsn) {
        self.slot.lsn.fetch_max(lsn.0, Ordering::SeqCst);
    }

    /// Remembers for this word that `lsn` may not be durable yet. Before the change.
    pub fn raise_word_lsn(&self, index: usize, lsn: Lsn) {
        self.slot.word_lsns.get_or_init(zeros)[index].fetch_max(lsn.0, Ordering::SeqCst);
    }

    /// Changes the bits under `mask` to those of `bits`.
    pub fn change(&self, index: usize, mask: u64, bits: u64) {
        let word = &self.slot.words()[index];
        if mask == bits {
            word.fetch_or(bits, Ordering::AcqRel);
        } else {
            let changed =
                word.fetch_update(Ordering::AcqRel, Ordering::Acquire, |old| Some(old & !mask | bits));
            debug_assert!(changed.is_ok());
        }
    }
}

impl Drop for PagePin<'_> {
    fn drop(&mut self) {
        // Every pin may have changed the page; readers of single words take none.
        self.slot.dirty.store(true, Ordering::SeqCst);
        self.slot.pins.fetch_sub(1, Ordering::Release);
    }
}

impl Slru {
    /// Over the files of `dir`, with at least one bank. `event`: what is seen of those who wait for
    /// its pages.
    pub fn new(
        dir: PathBuf,
        buffers: usize,
        log: Arc<dyn Log>,
        recovering: bool,
        (event, hits): (WaitEvent, HitCounter),
    ) -> Slru {
        let banks = buffers.div_ceil(BANK).max(1);
        let bank = || Bank {
            slots: std::iter::repeat_with(Slot::new).take(BANK).collect(),
            change: runtime::Mutex::new(event, 0),
        };
        Slru {
            hits,
            zeroed: AtomicU64::new(0),
            pages_read: AtomicU64::new(0),
            written: AtomicU64::new(0),
            flushes: AtomicU64::new(0),
            truncates: AtomicU64::new(0),
            dir,
            banks: std::iter::repeat_with(bank).take(banks).collect(),
            log,
            recovering: AtomicBool::new(recovering),
            replayed: Mutex::default(),
            upkeep: runtime::Mutex::new(WaitEvent::SlruSync, ()),
            files: Mutex::default(),
        }
    }

    /// What was done so far.
    pub fn stats(&self) -> SlruStats {
        // Relaxed, here and where they are counted: shown to people, orders nothing.
        let figure = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        SlruStats {
            zeroed: figure(&self.zeroed),
            read: figure(&self.pages_read),
            written: figure(&self.written),
            flushes: figure(&self.flushes),
            truncates: figure(&self.truncates),
        }
    }

    /// From now on every page must be there. `pages` were there when redo began, or it made them anew; fails if files are too short for
    /// them, and if redo was to change a page that cannot be read. With the error comes the first id that was to be noted on the page, or
    /// `id_of` the page.
    pub fn end_recovery(
        &self,
        pages: Range<u64>,
        id_of: impl FnOnce(u64) -> u64,
    ) -> Result<(), (u64, SlruError)> {
        self.recovering.store(false, Ordering::Release);
        let Replayed { mut unreadable, first_zeroed } = std::mem::take(&mut *self.replayed.lock());
        if let Some((_, failure)) = unreadable.pop_first() {
            return Err(failure);
        }
        let end = first_zeroed.map_or(pages.end, |first| pages.end.min(first));
        self.check_lengths(pages.start..end).map_err(|(page, error)| (id_of(page), error))
    }

    /// Fails with the first of these pages that no file is long enough for.
    fn check_lengths(&self, pages: Range<u64>) -> Result<(), (u64, SlruError)> {
        let mut page = pages.start;
        while page < pages.end {
            let (segment, offset) = place(page);
            let path = self.path(segment);
            let failed = |error: &io::Error| (page, SlruError::reading(&path, offset, error));
            let there = fs::metadata(&path).map_err(|error| failed(&error))?.len / PAGE_SIZE as u64;
            let end = ((segment + 1) * PAGES_PER_SEGMENT).min(pages.end);
            page = segment * PAGES_PER_SEGMENT + there;
            if page < end {
                let (_, offset) = place(page);
                let error = io::ErrorKind::UnexpectedEof.into();
                return Err((page, SlruError::reading(&path, offset, &error)));
            }
            page = end;
        }
        Ok(())
    }

    fn bank(&self, page: u64) -> &Bank {
        &self.banks[(page % self.banks.len() as u64) as usize]
    }

    /// A word of a page.
    #[inline]
    pub fn read(&self, page: u64, index: usize) -> Result<u64, SlruError> {
        self.read_words::<1>(page, index).map(|[word]| word)
    }

    /// Words of a page that follow one another, each as it is when it is read.
    #[inline]
    pub fn read_words<const N: usize>(&self, page: u64, index: usize) -> Result<[u64; N], SlruError> {
        let read = |slot: &Slot| {
            let words = slot.words();
            std::array::from_fn(|n| words[index + n].load(Ordering::Acquire))
        };
        loop {
            for slot in &self.bank(page).slots {
                if let Some(words) = slot.peek(page, read) {
                    used(self.hits, 1);
                    return Ok(words);
                }
            }
            self.load(page)?;
        }
    }

    /// WAL position up to which the word's latest asynchronous change needs WAL to be durable. 0 if the page is not in
    /// memory: it was written, after WAL.
    pub fn word_lsn(&self, page: u64, index: usize) -> Lsn {
        let read = |slot: &Slot| slot.word_lsns.get().map_or(0, |lsns| lsns[index].load(Ordering::Acquire));
        Lsn(self.bank(page).slots.iter().find_map(|slot| slot.peek(page, read)).unwrap_or(0))
    }

    /// Keeps a page in memory in order to change it.
    pub fn pin(&self, page: u64) -> Result<PagePin<'_>, SlruError> {
        loop {
            for slot in &self.bank(page).slots {
                if !slot.holds(page) {
                    continue;
                }
                let before = slot.pins.fetch_add(1, Ordering::SeqCst);
                if before & EVICTING == 0 && slot.holds(page) {
                    return Ok(PagePin { slot });
                }
                slot.pins.fetch_sub(1, Ordering::Release);
            }
            self.load(page)?;
        }
    }

    /// Keeps a page in memory for redo, which notes something of `id` there; `None` if it cannot be read: a truncation that will be replayed
    /// took it, or recovery is going to fail. After recovery as [`pin`](Self::pin).
    pub fn pin_in_redo(&self, page: u64, id: u64) -> Result<Option<PagePin<'_>>, SlruError> {
        match self.pin(page) {
            Err(error) if error.is_damage() && self.recovering.load(Ordering::Acquire) => {
                self.replayed.lock().unreadable.entry(page).or_insert((id, error));
                Ok(None)
            }
            pinned => pinned.map(Some),
        }
    }

    /// Brings a page into its bank.
    #[cold]
    fn load(&self, page: u64) -> Result<(), SlruError> {
        let bank = self.bank(page);
        let mut hand = bank.change.lock();
        if bank.slots.iter().any(|slot| slot.holds(page)) {
            return Ok(());
        }
        let read = self.read_page(page)?;
        self.pages_read.fetch_add(1, Ordering::Relaxed);
        let slot = self.vacate(bank, &mut hand)?;
        slot.replace(Some(page), Lsn::INVALID, |words| {
            for (word, read) in words.iter().zip(read) {
                word.store(read, Ordering::Relaxed);
            }
        });
        slot.pins.fetch_and(!EVICTING, Ordering::Release);
        Ok(())
    }

    /// A new page of zeros, whatever was there; its zeroing was logged up to `lsn`.
    pub fn zero(&self, page: u64, lsn: Lsn) -> Result<(), SlruError> {
        self.zeroed.fetch_add(1, Ordering::Relaxed);
        if self.recovering.load(Ordering::Acquire) {
            self.replayed.lock().first_zeroed.get_or_insert(page);
        }
        let bank = self.bank(page);
        let mut hand = bank.change.lock();
        let clear = |words: &[AtomicU64]| words.iter().for_each(|word| word.store(0, Ordering::Relaxed));
        if let Some(slot) = bank.slots.iter().find(|slot| slot.holds(page)) {
            clear(slot.words());
            slot.lsn.fetch_max(lsn.0, Ordering::SeqCst);
            slot.dirty.store(true, Ordering::SeqCst);
            return Ok(());
        }
        let slot = self.vacate(bank, &mut hand)?;
        slot.replace(Some(page), lsn, clear);
        slot.dirty.store(true, Ordering::SeqCst);
        slot.pins.fetch_and(!EVICTING, Ordering::Release);
        Ok(())
    }

    /// An empty or written-back slot that takes no pins (`EVICTING` is set).
    fn vacate<'a>(&self, bank: &'a Bank, hand: &mut usize) -> Result<&'a Slot, SlruError> {
        loop {
            for _ in 0..2 * BANK {
                let slot = &bank.slots[*hand];
                *hand = (*hand + 1) % BANK;
                if slot.page.load(Ordering::Relaxed) != 0 && slot.recent.swap(false, Ordering::Relaxed) {
                    continue;
                }
                if slot.pins.compare_exchange(0, EVICTING, Ordering::SeqCst, Ordering::SeqCst).is_err() {
                    continue;
                }
                if let Err(error) = self.write_back(slot) {
                    slot.pins.fetch_and(!EVICTING, Ordering::Release);
                    return Err(error);
                }
                slot.replace(None, Lsn::INVALID, |_| ());
                return Ok(slot);
            }
            // Every slot is pinned at this moment: pins last for a few instructions, or for a look at WAL.
            runtime::yield_now();
        }
    }

    /// Writes the slot's page if it is dirty. The caller holds the bank's mutex.
    fn write_back(&self, slot: &Slot) -> Result<(), SlruError> {
        let page = slot.page.load(Ordering::Relaxed);
        if page == 0 || !slot.dirty.swap(false, Ordering::SeqCst) {
            return Ok(());
        }
        let bytes = encode(page - 1, slot.words().iter().map(|word| word.load(Ordering::SeqCst)));
        // After the copy: whatever the copy has raised the LSN before.
        let lsn = Lsn(slot.lsn.load(Ordering::SeqCst));
        let written = self.flush_wal(lsn).and_then(|()| self.write_page(page - 1, &bytes));
        if written.is_err() {
            slot.dirty.store(true, Ordering::SeqCst);
        }
        written
    }

    /// Makes WAL durable up to `lsn`.
    fn flush_wal(&self, lsn: Lsn) -> Result<(), SlruError> {
        if lsn <= self.log.flushed() {
            return Ok(());
        }
        let failed = |error| SlruError {
            message: format!("Could not flush WAL: {error}."),
            kind: io::ErrorKind::Other,
            transient: false,
        };
        self.log.flush(lsn).map_err(failed)
    }

    /// Writes all dirty pages and makes them durable. A failed sync is sticky: the server must stop and recover.
    pub fn checkpoint(&self) -> Result<(), SlruError> {
        if let Some(error) = &self.files.lock().failed {
            return Err(error.clone());
        }
        let _upkeep = self.upkeep.lock();
        for bank in &self.banks {
            if bank.slots.iter().all(|slot| !slot.dirty.load(Ordering::SeqCst)) {
                continue;
            }
            let _change = bank.change.lock();
            for slot in &bank.slots {
                self.write_back(slot)?;
            }
        }
        self.flushes.fetch_add(1, Ordering::Relaxed);
        let unsynced = std::mem::take(&mut self.files.lock().unsynced);
        let synced = self.sync(&unsynced);
        if let Err(error) = &synced {
            self.files.lock().failed = Some(error.clone());
        }
        synced
    }

    /// The pages from `pages.end` on are wanted, where those from `pages.start` on were before: if files can go, says so in the log by
    /// `record`, durably, and then removes them.
    pub fn truncate(&self, pages: Range<u64>, record: impl FnOnce() -> Lsn) -> Result<(), SlruError> {
        if pages.end / PAGES_PER_SEGMENT <= pages.start / PAGES_PER_SEGMENT {
            return Ok(());
        }
        stop_point!("truncate-before-record");
        self.flush_wal(record())?;
        stop_point!("truncate-before-removal");
        self.truncates.fetch_add(1, Ordering::Relaxed);
        self.remove_before(pages.end)
    }

    /// Removes the segments all of whose pages lie before `page`. Nobody changes those pages any more.
    pub fn remove_before(&self, page: u64) -> Result<(), SlruError> {
        let first_kept = page / PAGES_PER_SEGMENT;
        self.replayed.lock().unreadable.retain(|&page, _| page >= first_kept * PAGES_PER_SEGMENT);
        let _upkeep = self.upkeep.lock();
        for bank in &self.banks {
            let mut change = bank.change.lock();
            bank.forget_before(first_kept * PAGES_PER_SEGMENT, &mut change);
        }
        {
            let mut files = self.files.lock();
            files.open.retain(|&segment, _| segment >= first_kept);
            files.unsynced.retain(|&segment| segment >= first_kept);
        }
        let failed = |what: &'static str, path: &Path| {
            let path = path.to_owned();
            move |error| SlruError::new(what, &path, &error)
        };
        for entry in fs::read_dir(&self.dir).map_err(failed("open", &self.dir))? {
            if segment_number(&entry.name).is_some_and(|segment| segment < first_kept) {
                let path = self.dir.join(&entry.name);
                fs::remove_file(&path).map_err(failed("remove", &path))?;
                stop_point!("truncate-between-files");
            }
        }
        fs::sync_dir(&self.dir).map_err(failed("fsync", &self.dir))
    }

    fn sync(&self, segments: &BTreeSet<u64>) -> Result<(), SlruError> {
        let failed = |path: &Path, error: io::Error| SlruError::new("fsync", path, &error);
        for &segment in segments {
            let synced = self.file(segment, true).and_then(|file| file.sync_data());
            synced.map_err(|error| failed(&self.path(segment), error))?;
        }
        if segments.is_empty() {
            Ok(())
        } else {
            fs::sync_dir(&self.dir).map_err(|error| failed(&self.dir, error))
        }
    }

    fn path(&self, segment: u64) -> PathBuf {
        self.dir.join(segment_name(segment))
    }

    /// A segment's file; `create`: made if it does not exist.
    fn file(&self, segment: u64, create: bool) -> io::Result<Arc<File>> {
        if let Some(file) = self.files.lock().open.get(&segment) {
            return Ok(file.clone());
        }
        let options = if create { OpenOptions::CREATE } else { OpenOptions::READ_WRITE };
        let file = Arc::new(File::open(&self.path(segment), options)?);
        let mut files = self.files.lock();
        if files.open.len() >= OPEN_FILES {
            files.open.clear();
        }
        files.open.insert(segment, file.clone());
        Ok(file)
    }

    fn read_page(&self, page: u64) -> Result<Vec<u64>, SlruError> {
        let (segment, offset) = place(page);
        let mut bytes = vec![0; PAGE_SIZE];
        // One that was removed is not made again.
        let read = || self.file(segment, false).and_then(|file| file.read_exact_at(&mut bytes, offset));
        let damaged = || io::Error::new(io::ErrorKind::InvalidData, "checksum does not match");
        waiting(WaitEvent::SlruRead, read)
            .and_then(|()| decode(page, &bytes).ok_or_else(damaged))
            .map_err(|error| SlruError::reading(&self.path(segment), offset, &error))
    }

    fn write_page(&self, page: u64, bytes: &[u8]) -> Result<(), SlruError> {
        let (segment, offset) = place(page);
        let failed = |what| move |error| SlruError::new(what, &self.path(segment), &error);
        let file = self.file(segment, true).map_err(failed("open"))?;
        self.files.lock().unsynced.insert(segment);
        self.written.fetch_add(1, Ordering::Relaxed);
        waiting(WaitEvent::SlruWrite, || file.write_all_at(bytes, offset)).map_err(failed("write to"))
    }
}

/// Segment of a page, and its offset there.
fn place(page: u64) -> (u64, u64) {
    (page / PAGES_PER_SEGMENT, page % PAGES_PER_SEGMENT * PAGE_SIZE as u64)
}
