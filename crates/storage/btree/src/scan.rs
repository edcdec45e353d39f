//! Scans in either direction, a leaf at a time.
//!
//! # Interlock with VACUUM
//! A scan copies the matching items of a leaf under one shared latch and then holds nothing. VACUUM may remove those entries meanwhile and the heap
//! may give their TIDs to new rows. That is sound for MVCC snapshots: a TID is given away only when the old row was dead to every snapshot, so the
//! scan could not have seen it; and the new row is inserted after the scan read the leaf, hence after its snapshot was taken (or by a later
//! command of its own transaction), so the snapshot does not see it either. It is not sound for whoever believes a TID without looking at the
//! row under such a snapshot: an index-only scan asks the visibility map, which may by then speak of the new row. Such scans keep their leaf pinned,
//! and VACUUM removes entries only under the cleanup latch, which waits for pins to go.
//!
//! Marking entries as dead when the scan leaves a page needs the same care: the marks go to the entries that were read. If nothing was pinned, the page's
//! LSN must be the one read (nothing logged happened, so the items are where they were). Pages of relations that are not logged have no LSN that moves:
//! their scans keep the pin, and entries are found again by their TIDs, which cannot have been recycled.
//!
//! # Siblings
//! Going right, a scan follows the right link it *read*: what a later split moved right has been returned already. Going left, it follows the left link it
//! read and then moves right until the page whose right link leads to where it came from, since the left sibling may have been split; if its own page
//! was deleted meanwhile, it starts over from the next page to the right that lives.
//!
//! # What comes, and in what order
//! Entries that were in when the scan began come once and in order, as long as their rows live: they never leave the key space between the pages read and
//! those to come. Entries made meanwhile may come or not, and out of order: when the page that the scan has read is emptied and deleted, its
//! key space goes to the page in front of the scan, and with it new entries whose keys the scan has passed. No snapshot as old as the scan sees their rows.

use std::sync::Arc;

use base::{BlockNo, Lsn, OffsetNo, PAGE_SIZE, Tid};
use buffer::{Persistence, Pin};
use index::bytes::Check;
use index::{Access, Direction, IndexError, IndexResult, Pages, ScanKeys, Shared, check_answers};
use page::PageBytes;
use runtime::usage::used_often;
use tuple::Datum;
use txn::KeyRange;

use crate::bounds::Bounds;
use crate::delete::delete_dead_leaf;
use crate::format::{DELETED, Item, NONE, Node, Opaque};
use crate::groups::{Groups, Next};
use crate::key::SearchKey;
use crate::range::ScanRange;
use crate::rel::BtreeRel;
use crate::search::{Hops, descend, edge, move_right};
use crate::unique::mark_dead;

/// One entry copied out of a leaf.
#[derive(Clone, Copy, Debug)]
struct Entry {
    tid: Tid,
    /// Number of its item on the page.
    at: OffsetNo,
    /// Where its columns are in `Leaf::bytes`.
    start: u32,
    end: u32,
}

/// What a scan knows of the leaf it is on.
#[derive(Default)]
struct Leaf {
    started: bool,
    block: BlockNo,
    lsn: Lsn,
    prev: BlockNo,
    next: BlockNo,
    more_left: bool,
    more_right: bool,
    /// What comes next is to be looked for from the root.
    search: bool,
    entries: Vec<Entry>,
    bytes: Vec<u8>,
    /// Index of the current entry, counted from 1; 0 is before the first, one more than their number behind the last.
    position: usize,
    killed: Vec<usize>,
    /// Every entry is marked as dead.
    all_dead: bool,
    pin: Option<Pin>,
}

impl Leaf {
    fn clear(&mut self) {
        self.started = false;
        self.entries.clear();
        self.bytes.clear();
        self.killed.clear();
        self.all_dead = false;
        self.position = 0;
        self.more_left = false;
        self.more_right = false;
        self.search = false;
        self.pin = None;
    }

    /// Copies the items `from..to`, and with what is to be known of them.
    #[inline]
    fn copy_range(
        &mut self,
        node: &Node<'_>,
        (from, to): (OffsetNo, OffsetNo),
        want_values: bool,
    ) -> Check<()> {
        let mut at = from;
        while at < to {
            if !want_values {
                at = self.copy_lone(node, (at, to));
                if at == to {
                    break;
                }
            }
            let copied = self.copy_item(node, at, want_values)?;
            at = if copied { at + 1 } else { page::past_dead(node.page, at + 1, to) };
        }
        Ok(())
    }

    /// Copies those of the items `from..to` that lead to one live row each, until one does not: its place, or `to`.
    #[inline]
    fn copy_lone(&mut self, node: &Node<'_>, (from, to): (OffsetNo, OffsetNo)) -> OffsetNo {
        let (before, start) = (self.entries.len(), self.bytes.len() as u32);
        let lone = |at| node.lone_tid(at).map(|tid| Entry { tid, at, start, end: start });
        self.entries.extend((from..to).map_while(lone));
        from + (self.entries.len() - before) as OffsetNo
    }

    /// Copies an item; false if it is marked as dead.
    #[inline]
    fn copy_item(&mut self, node: &Node<'_>, at: OffsetNo, want_values: bool) -> Check<bool> {
        let Some(item) = node.live_item(at)? else { return Ok(false) };
        let start = self.bytes.len() as u32;
        if want_values {
            // Without the list, so that the bytes are those of a plain item.
            self.bytes.extend_from_slice(item.key_part()?);
        }
        let end = self.bytes.len() as u32;
        for i in 0..item.tid_count() {
            self.entries.push(Entry { tid: item.tid(i)?, at, start, end });
        }
        Ok(true)
    }
}

/// A scan of an index. Copies the matching items of one leaf at a time; holds no latch between calls, and no pin either
/// unless asked to (or the index is not logged).
pub struct Scan {
    rel: Arc<BtreeRel>,
    bounds: Bounds,
    direction: Direction,
    want_values: bool,
    keep_pin: bool,
    /// Searches from the root.
    searches: u64,
    leaf: Leaf,
    /// The marked position is on `leaf`.
    mark_here: Option<(bool, usize)>,
    /// The leaf of the marked position, which the scan has left.
    marked: Option<Leaf>,
    scratch: Vec<Datum>,
}

impl Scan {
    /// A scan that has not started. With `want_values` it keeps the items' bytes for [`Scan::values`] (index-only scans).
    /// With `keep_pin` the leaf stays pinned until the scan leaves it, so that VACUUM cannot recycle the TIDs that came from it: needed by
    /// index-only scans (which trust the visibility map instead of looking at the row) and by scans under other than MVCC snapshots.
    pub fn new(rel: Arc<BtreeRel>, keys: ScanKeys, want_values: bool, keep_pin: bool) -> Scan {
        Scan {
            direction: keys.direction,
            bounds: Bounds::new(&rel.desc, keys),
            keep_pin: keep_pin || rel.desc.persistence != Persistence::Permanent,
            rel,
            want_values,
            searches: 0,
            leaf: Leaf::default(),
            mark_here: None,
            marked: None,
            scratch: Vec::new(),
        }
    }

    /// Starts again with other conditions, keeping allocations.
    pub fn rescan(&mut self, access: &Access<'_>, keys: ScanKeys) {
        self.finish(access);
        self.direction = keys.direction;
        self.bounds.set(&self.rel.desc, keys);
    }

    /// The keys that the scan is going to read, for a serializable transaction to lock; none if it reads none. From now on the scan knows where it is.
    pub fn watch(&mut self) -> Option<Arc<dyn KeyRange>> {
        self.want_values = true;
        let range = || Arc::new(ScanRange::new(self.rel.clone(), self.bounds.clone())) as Arc<dyn KeyRange>;
        (!self.bounds.empty).then(range)
    }

    /// The part of them that it has read, if it is to go no further; none if it is all of them. With `want_values` as in [`Scan::new`].
    pub fn read_part(&mut self, want_values: bool) -> IndexResult<Option<Arc<dyn KeyRange>>> {
        if !self.leaf.started || !self.has_more() {
            self.want_values = want_values;
            return Ok(None);
        }
        let mut key = Vec::new();
        self.values(&mut key)?;
        self.want_values = want_values;
        let part = || ScanRange::up_to(self.rel.clone(), &self.bounds, &key, self.direction);
        Ok((!key.is_empty()).then(part))
    }

    /// How often a scan searched from the root since this was asked.
    pub fn take_searches(&mut self) -> u64 {
        std::mem::take(&mut self.searches)
    }

    /// Starts again as a point query, in the direction that it has: each of the leading `columns`, at least one, is to equal its `value`.
    /// `false` if one of them is NULL: nothing will be found, as after an error.
    #[inline]
    pub fn rescan_equal<E>(
        &mut self,
        access: &Access<'_>,
        columns: usize,
        value: impl FnMut(usize) -> Result<Datum, E>,
    ) -> Result<bool, E> {
        self.finish(access);
        self.bounds.set_equal(columns, value)
    }

    /// The next entry in the scan's direction. Every condition has been checked: no recheck is needed.
    pub fn next(&mut self, access: &Access<'_>) -> IndexResult<Option<Tid>> {
        self.step(access, self.direction)
    }

    /// One step in any direction (scrollable cursors). A scan that has not started begins at the end it comes from. Neither steps against the
    /// scan's own direction nor marks are for scans that go from group to group.
    pub fn step(&mut self, access: &Access<'_>, direction: Direction) -> IndexResult<Option<Tid>> {
        if self.bounds.empty {
            return Ok(None);
        }
        if !self.leaf.started && !self.start(access, direction)? {
            return Ok(None);
        }
        loop {
            let leaf = &mut self.leaf;
            match direction {
                Direction::Forward if leaf.position <= leaf.entries.len() => leaf.position += 1,
                Direction::Backward if leaf.position > 0 => leaf.position -= 1,
                _ => {}
            }
            if let Some(index) = leaf.position.checked_sub(1)
                && let Some(entry) = leaf.entries.get(index)
            {
                return Ok(Some(entry.tid));
            }
            let more = match direction {
                _ if leaf.search => {
                    interrupts()?;
                    self.leave(access);
                    self.start(access, direction)?
                }
                Direction::Forward => leaf.more_right && self.turn_right(access)?,
                Direction::Backward => leaf.more_left && self.turn_left(access)?,
            };
            if !more {
                return Ok(None);
            }
        }
    }

    /// Goes on by so many entries of those that are [`Scan::upcoming`].
    #[inline]
    pub fn pass(&mut self, count: usize) {
        let leaf = &mut self.leaf;
        match self.direction {
            Direction::Forward => leaf.position = (leaf.position + count).min(leaf.entries.len()),
            Direction::Backward => leaf.position = leaf.position.saturating_sub(count).max(1),
        }
    }

    /// Whether [`Scan::next`] may find an entry behind the one that it returned last.
    #[inline]
    pub fn has_more(&self) -> bool {
        let leaf = &self.leaf;
        match self.direction {
            Direction::Forward => leaf.position < leaf.entries.len() || leaf.more_right || leaf.search,
            Direction::Backward => leaf.position > 1 || leaf.more_left || leaf.search,
        }
    }

    /// What [`Scan::next`] will return of the leaf that it is on, by its number from now on.
    #[inline]
    pub fn upcoming(&self, n: usize) -> Option<Tid> {
        let at = match self.direction {
            Direction::Forward => self.leaf.position + n,
            Direction::Backward => self.leaf.position.checked_sub(n + 2)?,
        };
        self.leaf.entries.get(at).map(|entry| entry.tid)
    }

    fn current(&self) -> Option<&Entry> {
        self.leaf.entries.get(self.leaf.position.checked_sub(1)?)
    }

    /// Column values of the entry that the last [`Scan::next`] returned, INCLUDE columns too; appended to `out`. Nothing is appended
    /// without a current entry or without `want_values`.
    pub fn values(&self, out: &mut Vec<Datum>) -> IndexResult<()> {
        let Some(entry) = self.current().filter(|_| self.want_values) else { return Ok(()) };
        let layout = &self.rel.desc.layout;
        let bytes = &self.leaf.bytes[entry.start as usize..entry.end as usize];
        let decoded = Item::new(bytes).and_then(|item| item.decode(layout, layout.len(), out));
        self.rel.check(self.leaf.block, decoded)
    }

    /// The row of the current entry is dead to everybody: its entry is marked when the scan leaves the page.
    pub fn kill_current(&mut self) {
        if self.current().is_some() {
            self.leaf.killed.push(self.leaf.position - 1);
        }
    }

    /// Remembers the current position.
    pub fn mark(&mut self) {
        self.mark_here = Some((self.leaf.started, self.leaf.position));
        self.marked = None;
    }

    /// Goes back to the marked position: `next` returns what followed it. Without a mark, to the start.
    pub fn restore(&mut self, access: &Access<'_>) {
        if let Some((started, position)) = self.mark_here {
            self.leaf.started = started;
            self.leaf.position = position;
            return;
        }
        self.apply_kills(access);
        match self.marked.take() {
            Some(leaf) => {
                self.mark_here = Some((leaf.started, leaf.position));
                self.leaf = leaf;
            }
            None => self.leaf.clear(),
        }
    }

    /// Ends the scan: applies pending kills and drops the pin. Dropping the scan without it only loses the kills. The scan may start again.
    #[inline]
    pub fn finish(&mut self, access: &Access<'_>) {
        if self.leaf.started || self.mark_here.is_some() || self.marked.is_some() {
            self.finish_started(access);
        }
    }

    fn finish_started(&mut self, access: &Access<'_>) {
        self.apply_kills(access);
        if self.leaf.all_dead {
            // An error is ignored here; the next VACUUM meets and reports it.
            let _ = self.delete_dead_leaf(access);
        }
        self.leaf.clear();
        self.mark_here = None;
        self.marked = None;
    }

    /// Reads the first leaf; `false` in an empty tree.
    fn start(&mut self, access: &Access<'_>, direction: Direction) -> IndexResult<bool> {
        let forward = direction == Direction::Forward;
        let rel = &*self.rel;
        let key = match &self.bounds.groups {
            Some(groups) => groups.seek(&rel.desc),
            None if forward => self.bounds.begin(&rel.desc),
            None => self.bounds.end(&rel.desc),
        };
        used_often(|c| &c.index_searches);
        self.searches += 1;
        let found = rel.asking(|| first_leaf(access, rel, key, forward))?;
        let Some((page, op)) = found else { return Ok(false) };
        self.read_leaf(page, op, direction)?;
        Ok(true)
    }

    /// Copies the matching items of a leaf and stands before the first of them in the scan's direction.
    fn read_leaf(&mut self, page: Shared, op: Opaque, direction: Direction) -> IndexResult<()> {
        let block = page.tag().block;
        if !self.rel.asks {
            self.read_items(block, &Node { page: &page, op }, direction)?;
            self.leaf.pin = self.keep_pin.then(|| page.into_pin());
            return Ok(());
        }
        // Code of users is to be asked for the order of keys, with no latch held.
        let mut copy: Box<PageBytes> = Box::new([0; PAGE_SIZE]);
        copy.copy_from_slice(&page[..]);
        let pin = page.into_pin();
        let read = self.read_items(block, &Node { page: &copy, op }, direction);
        if let Err(error) = check_answers(&self.rel.desc.keys).and(read) {
            self.leaf.clear();
            return Err(error);
        }
        self.leaf.pin = self.keep_pin.then_some(pin);
        Ok(())
    }

    fn read_items(&mut self, block: BlockNo, node: &Node<'_>, direction: Direction) -> IndexResult<()> {
        let op = node.op;
        self.leaf.clear();
        self.leaf.prev = op.prev;
        self.leaf.next = op.next;
        let read = match self.bounds.groups.take() {
            _ if !op.is_leaf() => Err("link between leaves leads to an internal page"),
            None => self.copy_items(node),
            Some(mut groups) => {
                let read = match direction {
                    Direction::Forward => self.copy_groups(node, &mut groups),
                    Direction::Backward => self.copy_groups_backward(node, &mut groups),
                };
                self.bounds.groups = Some(groups);
                read
            }
        };
        self.rel.check(block, read)?;
        self.leaf.all_dead = self.leaf.entries.is_empty() && node.is_all_dead();
        self.leaf.started = true;
        self.leaf.block = block;
        self.leaf.lsn = page::lsn(node.page);
        self.leaf.position = if direction == Direction::Forward { 0 } else { self.leaf.entries.len() + 1 };
        Ok(())
    }

    fn copy_items(&mut self, node: &Node<'_>) -> Check<()> {
        let from = match self.bounds.begin(&self.rel.desc) {
            Some(key) => key.search(node)?,
            None => node.first(),
        };
        let end = self.bounds.end(&self.rel.desc);
        let to = match &end {
            Some(key) => key.gallop(node, from)?,
            None => node.max() + 1,
        };
        let leaf = &mut self.leaf;
        leaf.more_left = from == node.first() && !node.op.leftmost();
        leaf.more_right = to > node.max()
            && match &end {
                None => !node.op.rightmost(),
                Some(key) => key.beyond_page(node)?,
            };
        leaf.copy_range(node, (from, to), self.want_values)
    }

    /// Copies the groups of a leaf, and finds out where it goes on: nowhere, on the next leaf, or where a search will tell. Where groups are small, searching
    /// for the next one costs more than looking at each entry.
    fn copy_groups(&mut self, node: &Node<'_>, groups: &mut Groups) -> Check<()> {
        let rel = self.rel.clone();
        let mut from = match groups.seek(&rel.desc) {
            Some(key) => key.search(node)?,
            None => node.first(),
        };
        let (mut start, mut steps) = (from, 0);
        loop {
            let on_page = from <= node.max();
            steps += 1;
            let dense = is_dense(steps, from - start);
            if dense && on_page {
                let to = self.copy_listed(node, groups, from)?;
                if to > from {
                    (from, start, steps) = (to, to, 0);
                    continue;
                }
            }
            // Behind the last item, the high key tells what the next leaf may begin with.
            let Some(item) = (if on_page { Some(node.item(from)?) } else { node.high_key()? }) else { break };
            self.scratch.clear();
            item.decode(&rel.desc.layout, groups.width(), &mut self.scratch)?;
            let to = match groups.advance(&rel.desc, &self.scratch) {
                Next::Done => break,
                Next::Seek if dense && on_page => from + 1,
                Next::Here if on_page => {
                    let to = match dense {
                        true => from + 1,
                        false => match groups.end().key(&rel.desc) {
                            Some(key) => key.gallop(node, from)?,
                            None => node.max() + 1,
                        },
                    };
                    self.leaf.copy_range(node, (from, to), self.want_values)?;
                    to
                }
                Next::Seek if on_page => match groups.seek(&rel.desc) {
                    Some(key) => key.gallop(node, from)?,
                    None => return Err(DISORDER),
                },
                next => {
                    let far = |key: SearchKey<'_>| key.beyond_page(node);
                    let far = next == Next::Seek && groups.seek(&rel.desc).map_or(Ok(false), far)?;
                    (self.leaf.search, self.leaf.more_right) = (far, !far);
                    break;
                }
            };
            if to <= from {
                return Err(DISORDER);
            }
            from = to;
        }
        Ok(())
    }

    /// Copies what a list of integers names, item by item, until many in turn are not wanted; where it goes on. The same item as before if there is no such list,
    /// or nothing is to be found by it.
    fn copy_listed(&mut self, node: &Node<'_>, groups: &mut Groups, from: OffsetNo) -> Check<OffsetNo> {
        let Some((list, first)) = groups.ints() else { return Ok(from) };
        let (mut at, mut n, mut wanted) = (first, from, from);
        while n <= node.max() && n - wanted < MOST_UNWANTED {
            let Some((found, equal)) = list.meet(node, n, at) else { break };
            at = found;
            if equal {
                self.leaf.copy_item(node, n, self.want_values)?;
                wanted = n + 1;
            }
            n += 1;
        }
        if at > first {
            groups.go_to(at);
        }
        Ok(n)
    }

    /// The same from right to left.
    fn copy_groups_backward(&mut self, node: &Node<'_>, groups: &mut Groups) -> Check<()> {
        let rel = self.rel.clone();
        let start = match groups.seek(&rel.desc) {
            Some(key) => key.search(node)?,
            None => node.max() + 1,
        };
        let (mut to, mut steps) = (start, 0);
        loop {
            let on_page = to > node.first();
            steps += 1;
            if !on_page && (node.op.leftmost() || start <= node.first()) {
                // The leaf has nothing to tell.
                self.leaf.more_left = !node.op.leftmost();
                break;
            }
            // Before the first item, that one itself tells what the next leaf may end with.
            let item = node.item(if on_page { to - 1 } else { to })?;
            self.scratch.clear();
            item.decode(&rel.desc.layout, groups.width(), &mut self.scratch)?;
            let next = groups.advance(&rel.desc, &self.scratch);
            let place = match next {
                Next::Here => groups.end(),
                Next::Seek => groups.seek_place(),
                Next::Done => break,
            };
            if !on_page {
                (self.leaf.search, self.leaf.more_left) = (next == Next::Seek, next == Next::Here);
                break;
            }
            let from = match place.key(&rel.desc) {
                _ if is_dense(steps, start - to) => to - 1,
                Some(key) => key.gallop_back(node, node.first(), to)?,
                None => node.first(),
            };
            if from >= to {
                return Err(DISORDER);
            }
            if next == Next::Here {
                let first = self.leaf.entries.len();
                self.leaf.copy_range(node, (from, to), self.want_values)?;
                self.leaf.entries[first..].reverse();
            }
            to = from;
        }
        self.leaf.entries.reverse();
        Ok(())
    }

    /// Leaves the page, keeping it aside if it holds the marked position.
    fn leave(&mut self, access: &Access<'_>) {
        self.apply_kills(access);
        if let Some((started, position)) = self.mark_here.take() {
            let mut leaf = std::mem::take(&mut self.leaf);
            leaf.started = started;
            leaf.position = position;
            self.marked = Some(leaf);
        }
    }

    /// Goes to the next leaf; `false` if there is none.
    fn turn_right(&mut self, access: &Access<'_>) -> IndexResult<bool> {
        let mut next = self.leaf.next;
        self.leave(access);
        if self.leaf.all_dead {
            self.delete_dead_leaf(access)?;
        }
        let mut hops = Hops::default();
        while next != NONE {
            interrupts()?;
            hops.count(&self.rel, next)?;
            let page = self.rel.shared(access.pool, next)?;
            let op = self.rel.node(next, &page)?.op;
            if !op.ignored() {
                self.read_leaf(page, op, Direction::Forward)?;
                return Ok(true);
            }
            next = op.next;
        }
        Ok(false)
    }

    /// Goes to the leaf on the left; `false`, staying before the first entry, at the end.
    fn turn_left(&mut self, access: &Access<'_>) -> IndexResult<bool> {
        let Some((page, op)) = self.left_sibling(access)? else {
            self.leaf.more_left = false;
            return Ok(false);
        };
        // Kills latch the old leaf, to the right of the one now latched: left before right.
        self.leave(access);
        self.read_leaf(page, op, Direction::Backward)?;
        Ok(true)
    }

    /// The living page to the left of the current leaf, latched, and its special area.
    fn left_sibling(&self, access: &Access<'_>) -> IndexResult<Option<(Shared, Opaque)>> {
        let rel = &*self.rel;
        let (mut own, mut left) = (self.leaf.block, self.leaf.prev);
        for _ in 0..MAX_ATTEMPTS {
            interrupts()?;
            if left == NONE {
                return Ok(None);
            }
            let mut block = left;
            // Splits of the left sibling are passed by; many of them mean rather that our own page is gone.
            for _ in 0..MAX_SPLITS {
                let page = rel.shared(access.pool, block)?;
                let op = rel.node(block, &page)?.op;
                if !op.is(DELETED) && op.next == own {
                    if !op.ignored() {
                        return Ok(Some((page, op)));
                    }
                    // Half-dead: nothing on it; go on from there.
                    (own, block) = (block, op.prev);
                    if block == NONE {
                        return Ok(None);
                    }
                    continue;
                }
                if op.rightmost() {
                    break;
                }
                block = op.next;
            }
            // Look at our own page again: its left link has changed, or it is deleted and the next living one stands for it.
            loop {
                let page = rel.shared(access.pool, own)?;
                let op = rel.node(own, &page)?.op;
                if !op.is(DELETED) {
                    left = op.prev;
                    break;
                }
                if op.rightmost() {
                    return Err(rel.corrupt(own, "right-most page is deleted"));
                }
                own = op.next;
            }
        }
        Err(rel.corrupt(own, "left link leads to a page that does not lead back"))
    }

    /// Marks the entries whose rows were found dead, if they can still be told for sure.
    #[inline]
    fn apply_kills(&mut self, access: &Access<'_>) {
        if !self.leaf.killed.is_empty() {
            self.mark_killed(access);
        }
    }

    fn mark_killed(&mut self, access: &Access<'_>) {
        if !access.horizon.may_remove() {
            self.leaf.killed.clear();
            return;
        }
        let mut killed: Vec<(OffsetNo, Tid)> = self
            .leaf
            .killed
            .drain(..)
            .filter_map(|i| self.leaf.entries.get(i))
            .map(|e| (e.at, e.tid))
            .collect();
        killed.sort_unstable();
        killed.dedup();
        let Ok(page) = self.rel.shared(access.pool, self.leaf.block) else { return };
        let Ok(node) = Node::new(&page) else { return };
        let unchanged =
            self.rel.desc.persistence == Persistence::Permanent && page::lsn(&page) == self.leaf.lsn;
        if !(unchanged || self.leaf.pin.is_some()) || !node.op.is_leaf() || node.op.ignored() {
            return;
        }
        for group in killed.chunk_by(|a, b| a.0 == b.0) {
            let last = if unchanged { group[0].0 } else { node.max() };
            let found = (group[0].0.max(node.first())..=last).find(|&n| {
                let tids = node.item(n).and_then(|item| item.tids());
                tids.is_ok_and(|tids| {
                    tids.iter().all(|tid| group.binary_search_by_key(tid, |&(_, tid)| tid).is_ok())
                })
            });
            if let Some(n) = found
                && !node.is_dead(n)
            {
                mark_dead(&page, n);
            }
        }
        self.leaf.all_dead = node.is_all_dead();
    }

    /// Deletes the leaf that the scan is about to leave, which has no live entries. No latch is held.
    #[cold]
    fn delete_dead_leaf(&mut self, access: &Access<'_>) -> IndexResult<()> {
        self.leaf.all_dead = false;
        self.leaf.pin = None;
        if !access.horizon.may_remove() {
            return Ok(());
        }
        delete_dead_leaf(access, &self.rel, self.leaf.block)
    }
}

/// The leaf where a scan begins, by the place that it looks for or at an end of the index, and its special area; `None` in an empty tree.
#[inline]
fn first_leaf(
    access: &Access<'_>,
    rel: &BtreeRel,
    key: Option<SearchKey<'_>>,
    forward: bool,
) -> IndexResult<Option<(Shared, Opaque)>> {
    let Some(mut key) = key else {
        let Some(page) = edge(access, rel, 0, !forward)? else { return Ok(None) };
        let op = rel.node(page.tag().block, &page)?.op;
        return Ok(Some((page, op)));
    };
    key.prefer_right = forward && !key.behind;
    match descend(access, rel, &key, 0, None)? {
        None => Ok(None),
        Some(pin) => Ok(Some(move_right(access, rel, &key, pin.into_shared(), None)?)),
    }
}

/// Whether so many steps from group to group have passed so few entries that the others of the leaf are looked at one by one.
fn is_dense(steps: OffsetNo, passed: OffsetNo) -> bool {
    steps > 8 && passed < 4 * steps
}

/// Items in turn that are looked at though none of them is wanted.
const MOST_UNWANTED: OffsetNo = 32;

/// The error for items that are out of order.
const DISORDER: &str = "items are out of order";

/// Times that the left sibling may change while it is being looked for.
const MAX_ATTEMPTS: u32 = 1000;
/// Right moves in search of the left sibling before the own page is looked at again.
const MAX_SPLITS: u32 = 4;

/// Between pages, no latch held.
pub(crate) fn interrupts() -> IndexResult<()> {
    runtime::check_interrupts().map_err(IndexError::Interrupted)
}
