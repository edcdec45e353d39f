//! What · Sets of transactions that share a row: lockers, and at most one that updated it (thread 5).
//!
//! Layout · [`Slru`] pages in `pg_multixact/`; a multixact is one entry of four words, 252 to a page, at the place its id says:
//!
//! | word | |
//! |---|---|
//! | 0 | a member: xid in the upper 61 bits, [`MemberStatus`] + 1 in the lower 3 |
//! | 1 | another member, or an older multixact with the remaining ones: its id in the upper 61 bits, 0 in the lower 3 |
//! | 2 | xid of the member that updated the row; 0 if there is none |
//! | 3 | how many ids back the oldest entry lies that members are read from (upper 32 bits), entries in all (lower 32) |
//!
//! Adding a member is one new entry that points to the old set: it costs the same for a set of two and of ten thousand. Of a few members those
//! that have ended are left out each time. Whoever makes
//! the number of entries of a larger set a power of two first looks whether half of the members have ended, and then writes a new set of those that
//! have not ([`TxnSystem::join_multi`]). An entry is copied only when as many go for good, so a member costs O(1) in all, and the entries read
//! for a set are at most about twice the members that were there together.
//!
//! Invariants
//! 1. An entry never changes once its id is known to anybody else: its words are written before the id is stored in a row, under the
//!    latch of the row's page. Nobody ever waits for an entry.
//! 2. A page exists, and its zeroing is logged, before any entry on it is written.
//! 3. An entry is in memory before its record is logged: a checkpoint that begins behind the record writes it. An entry on
//!    disk without its record is harmless, no row on disk names it.
//! 4. Ids are 64 bits wide and given out once. They never wrap around.
//! 5. Among the members of one set at most one updated the row.
//! 6. No row names a set that is read from entries before [`MultiXacts::oldest`], whose pages may have been removed ([`crate::truncation`]).
//!
//! Locks · Reading takes none, nor does adding to a page that is there ([`Slru`]). `extending`, fiber-aware, held over making a page.
//!
//! WAL and crash · [`ZERO_PAGE`] with the page number; [`CREATE`] with the first id, then the words of all entries; [`TRUNCATE`] with the
//! first id that is kept. After a crash
//! members that were running have ended; prepared transactions hold on.
//!
//! PostgreSQL counterpart · `multixact.c`. Differences: no offsets, so nothing to wait for that another has not set yet; a set shares its
//! tail with the one it grew from instead of being copied.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base::{Lsn, MultiXactId, Xid};
use runtime::WaitEvent;
use wal::Rmgr;

use crate::error::TxnError;
use crate::slru::{HitCounter, Slru, SlruError, SlruStats, WORDS};
use crate::system::{Log, TxnSystem};

/// `info` of the record that a page was zeroed.
pub const ZERO_PAGE: u8 = 0;
/// `info` of the record of new entries.
pub const CREATE: u8 = 1;
/// `info` of the record that older entries were removed.
pub const TRUNCATE: u8 = 2;

/// The first id given out.
pub const FIRST: MultiXactId = MultiXactId(1);

/// Words of an entry.
const ENTRY: usize = 4;
/// Entries of a page.
pub const PER_PAGE: u64 = (WORDS / ENTRY) as u64;
/// Sets with fewer entries are looked through at every change.
const SHORT: u32 = 8;
/// Entries of a record.
const PER_RECORD: usize = 128;

/// Strength of a row lock, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LockStrength {
    /// FOR KEY SHARE: the row keeps its key.
    KeyShare,
    /// FOR SHARE: the row stays as it is.
    Share,
    /// FOR NO KEY UPDATE, and UPDATE of other columns than key columns.
    NoKeyUpdate,
    /// FOR UPDATE, DELETE and UPDATE of key columns.
    Update,
}

impl LockStrength {
    /// Whether two transactions cannot have these locks on a row at once.
    pub fn conflicts(self, other: LockStrength) -> bool {
        match self.min(other) {
            LockStrength::KeyShare => self.max(other) == LockStrength::Update,
            LockStrength::Share => self.max(other) >= LockStrength::NoKeyUpdate,
            _ => true,
        }
    }
}

/// What a member did with the row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemberStatus {
    /// Locked it.
    Locked(LockStrength),
    /// Updated it and kept its key.
    UpdatedNoKey,
    /// Deleted it or changed its key.
    Updated,
}

impl MemberStatus {
    /// The lock that this amounts to.
    pub fn strength(self) -> LockStrength {
        match self {
            MemberStatus::Locked(strength) => strength,
            MemberStatus::UpdatedNoKey => LockStrength::NoKeyUpdate,
            MemberStatus::Updated => LockStrength::Update,
        }
    }

    /// Whether the row was updated or deleted.
    pub fn updates(self) -> bool {
        !matches!(self, MemberStatus::Locked(_))
    }

    /// The same, at least as strong.
    pub fn at_least(self, strength: LockStrength) -> MemberStatus {
        match self {
            MemberStatus::Locked(own) => MemberStatus::Locked(own.max(strength)),
            MemberStatus::UpdatedNoKey if strength == LockStrength::Update => MemberStatus::Updated,
            updated => updated,
        }
    }

    /// Its name in `pg_get_multixact_members`.
    pub fn name(self) -> &'static str {
        match self {
            MemberStatus::Locked(LockStrength::KeyShare) => "keysh",
            MemberStatus::Locked(LockStrength::Share) => "sh",
            MemberStatus::Locked(LockStrength::NoKeyUpdate) => "fornokeyupd",
            MemberStatus::Locked(LockStrength::Update) => "forupd",
            MemberStatus::UpdatedNoKey => "nokeyupd",
            MemberStatus::Updated => "upd",
        }
    }

    fn code(self) -> u64 {
        match self {
            MemberStatus::Locked(strength) => strength as u64,
            MemberStatus::UpdatedNoKey => 4,
            MemberStatus::Updated => 5,
        }
    }

    fn from_code(code: u64) -> MemberStatus {
        match code {
            0 => MemberStatus::Locked(LockStrength::KeyShare),
            1 => MemberStatus::Locked(LockStrength::Share),
            2 => MemberStatus::Locked(LockStrength::NoKeyUpdate),
            3 => MemberStatus::Locked(LockStrength::Update),
            4 => MemberStatus::UpdatedNoKey,
            _ => MemberStatus::Updated,
        }
    }
}

/// A transaction (or subtransaction) of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// Who.
    pub xid: Xid,
    /// What it did.
    pub status: MemberStatus,
}

/// A member that still matters: its lock holds, or its update was not rolled back.
///
/// The fate was asked once. Who asks again may hear another, and must not think that what has ended meanwhile committed, or updated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Who, and what it did.
    pub member: Member,
    /// It updated and committed; otherwise it runs.
    pub committed: bool,
}

impl Member {
    fn word(self) -> u64 {
        self.xid.0 << 3 | (self.status.code() + 1)
    }

    /// The member in a word, unless that names an older set.
    fn of_word(word: u64) -> Option<Member> {
        let status = (word & 7).checked_sub(1).map(MemberStatus::from_code)?;
        Some(Member { xid: Xid(word >> 3), status })
    }
}

/// An entry as it is stored.
type Words = [u64; ENTRY];

fn length(words: &Words) -> u32 {
    words[3] as u32
}

fn root(id: MultiXactId, words: &Words) -> MultiXactId {
    MultiXactId(id.0.saturating_sub(words[3] >> 32))
}

/// The entry of a set with one more member than `parent` has; none if the way back becomes too long to be noted.
fn joined(id: MultiXactId, member: Member, parent: MultiXactId, words: &Words) -> Option<Words> {
    let back = u32::try_from(id.0.checked_sub(root(parent, words).0)?).ok()?;
    let updater = if member.status.updates() { member.xid.0 } else { words[2] };
    Some([member.word(), parent.0 << 3, updater, u64::from(back) << 32 | u64::from(length(words) + 1)])
}

fn pair(a: Member, b: Member) -> Words {
    let updater = [a, b].into_iter().find(|member| member.status.updates()).map_or(0, |member| member.xid.0);
    [a.word(), b.word(), updater, 1]
}

/// First id and number of the entries of a [`CREATE`] record.
pub(crate) fn entries(data: &[u8]) -> Option<(u64, u64)> {
    let (first, entries) = data.split_first_chunk::<8>()?;
    let first = u64::from_le_bytes(*first);
    let whole = entries.len().is_multiple_of(size_of::<Words>());
    (whole && first < 1 << 61).then_some((first, (entries.len() / size_of::<Words>()) as u64))
}

/// All sets of a server.
pub struct MultiXacts {
    pages: Slru,
    log: Arc<dyn Log>,
    next: AtomicU64,
    /// First id whose page is not known to exist.
    limit: AtomicU64,
    /// First id that is kept.
    oldest: AtomicU64,
    /// First id whose page need not be there when the sets were opened.
    opened: MultiXactId,
    extending: runtime::Mutex<()>,
}

fn place(id: MultiXactId) -> (u64, usize) {
    (id.0 / PER_PAGE, (id.0 % PER_PAGE) as usize * ENTRY)
}

impl MultiXacts {
    /// Opens the sets in `dir` (`pg_multixact`); ids from `ids.start` on may be asked for, those below `ids.end` were given out and have
    /// their pages.
    pub fn open(dir: &Path, buffers: usize, log: Arc<dyn Log>, ids: Range<MultiXactId>) -> MultiXacts {
        let shown: (_, HitCounter) = (WaitEvent::MultiXactPages, |c| &c.multixact_hits);
        let pages = Slru::new(dir.to_owned(), buffers, log.clone(), true, shown);
        MultiXacts {
            pages,
            log,
            next: AtomicU64::new(ids.end.0),
            limit: AtomicU64::new(0),
            oldest: AtomicU64::new(ids.start.0),
            opened: ids.end,
            extending: runtime::Mutex::new(WaitEvent::MultiXactGen, ()),
        }
    }

    /// Replay is over: every page must be there from now on. Ids go on with a new page. Fails with an id whose page is not there.
    pub fn end_recovery(&self) -> Result<(), (MultiXactId, SlruError)> {
        let next = self.next();
        if next > FIRST {
            let page = next.0.next_multiple_of(PER_PAGE);
            self.next.store(page, Ordering::Release);
            self.limit.store(page, Ordering::Release);
        }
        let end = if self.opened > FIRST { self.opened.0.div_ceil(PER_PAGE) } else { 0 };
        let first = |page: u64| (page * PER_PAGE).max(FIRST.0);
        let pages = self.oldest().0 / PER_PAGE..end;
        self.pages.end_recovery(pages, first).map_err(|(id, error)| (MultiXactId(id), error))
    }

    /// First id not given out, or without a page yet: for a checkpoint. No row names a later one unless its record comes later.
    pub fn next_with_page(&self) -> MultiXactId {
        MultiXactId(self.next().0.min(self.limit.load(Ordering::Acquire)).max(FIRST.0))
    }

    /// First id not given out.
    pub fn next(&self) -> MultiXactId {
        MultiXactId(self.next.load(Ordering::Acquire))
    }

    /// Takes `count` ids for good, and makes the pages they lie on.
    fn claim(&self, count: u64) -> Result<MultiXactId, SlruError> {
        let first = self.next.fetch_add(count, Ordering::AcqRel);
        while first + count > self.limit.load(Ordering::Acquire) {
            self.extend(self.limit.load(Ordering::Acquire))?;
        }
        Ok(MultiXactId(first))
    }

    /// Adds one page, unless another thread did so since the caller saw `limit`.
    #[cold]
    fn extend(&self, limit: u64) -> Result<(), SlruError> {
        let _extending = self.extending.lock();
        if self.limit.load(Ordering::Acquire) != limit {
            return Ok(());
        }
        let page = limit / PER_PAGE;
        // In memory first: invariant 3.
        self.pages.zero(page, Lsn::INVALID)?;
        self.log.insert(Rmgr::Multixact, ZERO_PAGE, Xid::INVALID, &page.to_le_bytes());
        // Release: partner of the Acquire in `claim`.
        self.limit.store(limit + PER_PAGE, Ordering::Release);
        Ok(())
    }

    /// Stores and logs entries whose ids were claimed.
    fn write(&self, first: MultiXactId, entries: &[Words], xid: Xid) -> Result<(), SlruError> {
        let starts = (first.0..).step_by(PER_RECORD);
        for (start, entries) in starts.zip(entries.chunks(PER_RECORD)) {
            self.store(MultiXactId(start), entries)?;
            let mut data = Vec::with_capacity(8 + size_of_val(entries));
            data.extend_from_slice(&start.to_le_bytes());
            for word in entries.iter().flatten() {
                data.extend_from_slice(&word.to_le_bytes());
            }
            self.log.insert(Rmgr::Multixact, CREATE, xid, &data);
        }
        Ok(())
    }

    fn store(&self, first: MultiXactId, entries: &[Words]) -> Result<(), SlruError> {
        for (id, words) in (first.0..).map(MultiXactId).zip(entries) {
            let (page, at) = place(id);
            let Some(pin) = self.pages.pin_in_redo(page, id.0)? else { continue };
            for (index, &word) in (at..).zip(words) {
                pin.change(index, u64::MAX, word);
            }
        }
        Ok(())
    }

    /// Replays [`ZERO_PAGE`].
    pub(crate) fn redo_zero_page(&self, page: u64, lsn: Lsn) -> Result<(), SlruError> {
        self.pages.zero(page, lsn)
    }

    /// Replays [`CREATE`]; false if the bytes are none.
    pub(crate) fn redo_create(&self, data: &[u8]) -> Result<bool, SlruError> {
        let Some((first, count)) = entries(data) else { return Ok(false) };
        let words: Vec<u64> =
            data.as_chunks().0[1..].iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
        self.next.fetch_max(first + count, Ordering::AcqRel);
        self.store(MultiXactId(first), words.as_chunks().0)?;
        Ok(true)
    }

    /// Notes that the sets of a [`CREATE`] have been made.
    pub(crate) fn observe_create(&self, data: &[u8]) {
        if let Some((first, count)) = entries(data) {
            self.next.fetch_max(first + count, Ordering::AcqRel);
        }
    }

    /// First id that may be asked for.
    pub fn oldest(&self) -> MultiXactId {
        MultiXactId(self.oldest.load(Ordering::Acquire))
    }

    /// Removes the files of entries before `oldest`, which are never looked up any more.
    pub fn truncate(&self, oldest: MultiXactId) -> Result<(), SlruError> {
        // As for the commit log, before anything goes.
        let known = self.oldest.fetch_max(oldest.0, Ordering::AcqRel).min(oldest.0);
        let record = || self.log.insert(Rmgr::Multixact, TRUNCATE, Xid::INVALID, &oldest.0.to_le_bytes());
        self.pages.truncate(known / PER_PAGE..oldest.0 / PER_PAGE, record)
    }

    /// Replays [`TRUNCATE`].
    pub(crate) fn redo_truncate(&self, oldest: MultiXactId) -> Result<(), SlruError> {
        self.oldest.fetch_max(oldest.0, Ordering::AcqRel);
        self.pages.remove_before(place(oldest).0)
    }

    fn entry(&self, id: MultiXactId) -> Result<Words, SlruError> {
        let (page, at) = place(id);
        self.pages.read_words(page, at)
    }

    /// The member that updated the row; invalid if none did.
    pub fn updater(&self, id: MultiXactId) -> Result<Xid, SlruError> {
        Ok(Xid(self.entry(id)?[2]))
    }

    /// The oldest entry that members of the set are read from: it must not be removed before the set.
    pub fn root(&self, id: MultiXactId) -> Result<MultiXactId, SlruError> {
        Ok(root(id, &self.entry(id)?))
    }

    /// Shows the members, newest first, until `visit` has seen enough. A transaction that locked twice is shown twice.
    pub fn visit(&self, id: MultiXactId, visit: impl FnMut(Member) -> bool) -> Result<(), SlruError> {
        self.visit_since(FIRST, id, visit)
    }

    /// As [`visit`](Self::visit), but for the members of entries before `first`.
    pub fn visit_since(
        &self,
        first: MultiXactId,
        mut id: MultiXactId,
        mut visit: impl FnMut(Member) -> bool,
    ) -> Result<(), SlruError> {
        while id >= first {
            let words = self.entry(id)?;
            let Some(member) = Member::of_word(words[0]) else { return Ok(()) };
            if !visit(member) {
                return Ok(());
            }
            let parent = MultiXactId(words[1] >> 3);
            match Member::of_word(words[1]) {
                Some(last) => {
                    visit(last);
                    return Ok(());
                }
                // Entries lead to older ones only: damaged bytes make no circle.
                None if parent.0 == 0 || parent >= id => return Ok(()),
                None => id = parent,
            }
        }
        Ok(())
    }

    /// All members that were noted, each once with the most it did, in the order in which they came.
    pub fn members(&self, id: MultiXactId) -> Result<Vec<Member>, SlruError> {
        let mut members = Vec::new();
        self.visit(id, |member| {
            members.push(member);
            true
        })?;
        members.reverse();
        Ok(unique(members))
    }

    /// Makes a set of at least two members.
    fn create(&self, members: &[Member]) -> Result<MultiXactId, SlruError> {
        debug_assert!(members.len() > 1, "one member needs no set");
        debug_assert!(members.iter().filter(|m| m.status.updates()).count() < 2, "invariant 5");
        let first = self.claim(members.len() as u64 - 1)?;
        let mut entries = vec![pair(members[1], members[0])];
        for (parent, &member) in (first.0..).zip(&members[2..]) {
            let before = entries[entries.len() - 1];
            let id = MultiXactId(parent + 1);
            // The way back is as long as the list.
            entries.extend(joined(id, member, MultiXactId(parent), &before));
        }
        self.write(first, &entries, members[members.len() - 1].xid)?;
        Ok(MultiXactId(first.0 + entries.len() as u64 - 1))
    }

    /// What its pages have been through.
    pub fn slru_stats(&self) -> SlruStats {
        self.pages.stats()
    }

    /// Writes everything and makes it durable.
    pub fn checkpoint(&self) -> Result<(), SlruError> {
        self.pages.checkpoint()
    }
}

/// Each transaction once, with the most it did, in order of first appearance.
fn unique(members: Vec<Member>) -> Vec<Member> {
    let mut places = rustc_hash::FxHashMap::default();
    let mut list: Vec<Member> = Vec::with_capacity(members.len());
    for member in members {
        let at = *places.entry(member.xid).or_insert(list.len());
        match list.get_mut(at) {
            None => list.push(member),
            Some(known) if member.status.updates() => {
                known.status = member.status.at_least(known.status.strength())
            }
            Some(known) => known.status = known.status.at_least(member.status.strength()),
        }
    }
    list
}

/// Most sets that a worker remembers.
const REMEMBERED: usize = 4096;

/// The sets that a worker made last, by what they were made of: locking many rows that others have locked in the same way makes one set.
#[derive(Default)]
pub(crate) struct RecentSets {
    sets: std::cell::RefCell<rustc_hash::FxHashMap<(u64, u64), MultiXactId>>,
}

impl RecentSets {
    fn find(&self, rest: u64, member: Member) -> Option<MultiXactId> {
        self.sets.borrow().get(&(rest, member.word())).copied()
    }

    fn remember(&self, rest: u64, member: Member, id: MultiXactId) {
        let mut sets = self.sets.borrow_mut();
        if sets.len() >= REMEMBERED {
            sets.clear();
        }
        sets.insert((rest, member.word()), id);
    }
}

impl TxnSystem {
    /// The sets of transactions that share rows.
    pub fn multixacts(&self) -> &MultiXacts {
        &self.multixacts
    }

    /// The member of a set that updated the row; invalid if none did.
    pub fn multi_updater(&self, id: MultiXactId) -> Result<Xid, TxnError> {
        self.multixacts.updater(id).map_err(TxnError::multi(id))
    }

    /// A member as a holder, if it still matters.
    pub fn holder(&self, member: Member) -> Result<Option<Holder>, TxnError> {
        if self.is_in_progress(member.xid) {
            return Ok(Some(Holder { member, committed: false }));
        }
        let matters = member.status.updates() && self.did_commit(member.xid)?;
        Ok(matters.then_some(Holder { member, committed: true }))
    }

    /// The members of a set that still matter.
    pub fn multi_holders(&self, id: MultiXactId) -> Result<Vec<Holder>, TxnError> {
        let members = self.multixacts.members(id).map_err(TxnError::multi(id))?;
        members.into_iter().filter_map(|member| self.holder(member).transpose()).collect()
    }

    /// A new set of at least two members, none of which need be the caller.
    pub fn copy_multi(&self, members: &[Member]) -> Result<MultiXactId, TxnError> {
        self.multixacts.create(members).map_err(TxnError::multi(self.multixacts.next()))
    }

    /// A set of at least two members, the last of which is the caller.
    pub fn make_multi(&self, members: &[Member]) -> Result<MultiXactId, TxnError> {
        let worker = self.worker();
        if let &[other, member] = members
            && let Some(id) = worker.recent_sets.find(other.word(), member)
        {
            return Ok(id);
        }
        let id = self.copy_multi(members)?;
        if let &[other, member] = members {
            worker.recent_sets.remember(other.word(), member, id);
        }
        Ok(id)
    }

    /// Adds a locker to a set. `None` if those that have ended are to be left out first: any of a short set; of a long one, which is not looked
    /// through each time, when they are half of it or more.
    pub fn join_multi(&self, id: MultiXactId, member: Member) -> Result<Option<MultiXactId>, TxnError> {
        let worker = self.worker();
        if let Some(known) = worker.recent_sets.find(id.0 << 3, member) {
            return Ok(Some(known));
        }
        let sets = &self.multixacts;
        let words = sets.entry(id).map_err(TxnError::multi(id))?;
        let is_short = length(&words) < SHORT;
        if is_short || (length(&words) + 1).is_power_of_two() {
            let (mut all, mut ended) = (0, 0);
            let count = |member: Member| {
                all += 1;
                ended += u32::from(!self.is_in_progress(member.xid));
                !is_short || ended == 0
            };
            sets.visit(id, count).map_err(TxnError::multi(id))?;
            if if is_short { ended > 0 } else { ended * 2 >= all } {
                return Ok(None);
            }
        }
        let new = sets.claim(1).map_err(TxnError::multi(id))?;
        let Some(entry) = joined(new, member, id, &words) else { return Ok(None) };
        sets.write(new, &[entry], member.xid).map_err(TxnError::multi(id))?;
        worker.recent_sets.remember(id.0 << 3, member, new);
        Ok(Some(new))
    }
}
