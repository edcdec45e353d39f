//! Rows of a table that are fetched by the page although they are asked for one by one.
//!
//! An index scan often finds several rows of one page in a row. They are then fetched together with the first of them: the page is looked
//! up, pinned and latched once. A snapshot sees the same of a row whenever it is looked at, so nobody can tell.
//!
//! Where a node above is going to lock all these rows, they are locked with that too ([`PageLock`]), up to the first that is not to be had for
//! nothing: the rows behind it are fetched after it was handled.

use base::{BlockNo, OffsetNo, SqlResult, Tid};
use eval::cx::Cx;
use heap::vm::VmCursor;
use heap::{Fetched, FetchedRows, HeapRel, HeapTuple, LockStrength, TupleRef, View};

use super::Drained;

/// Rows of one page that were fetched before they are asked for.
#[derive(Default)]
pub(super) struct Ahead {
    rows: FetchedRows,
    /// Where the index entries lead, of those in `rows`.
    roots: Vec<OffsetNo>,
    block: BlockNo,
    /// The first that has not been asked for.
    at: usize,
    /// How many the next time, beside the one that is asked for. Who asks for few is not to pay for many.
    most: usize,
    lock: Option<PageLock>,
}

/// How rows are locked when they are fetched.
pub(crate) struct PageLock {
    strength: LockStrength,
    /// Whether all of them are read.
    drained: Drained,
    map: VmCursor,
}

impl PageLock {
    /// Locks of this strength.
    pub(super) fn new(strength: LockStrength, drained: Drained) -> PageLock {
        PageLock { strength, drained, map: VmCursor::default() }
    }

    /// Whether rows are locked now: not before one has been locked alone, so that a statement which finds none stays without an xid.
    fn is_on(&self, cx: &Cx<'_>) -> bool {
        self.drained.is_so(cx) && cx.xid.get().is_valid()
    }
}

/// Most rows that are fetched ahead.
const MOST_AHEAD: usize = 127;

impl Ahead {
    /// Rows that are locked, perhaps.
    pub(super) fn locking(lock: Option<PageLock>) -> Ahead {
        Ahead { lock, ..Ahead::default() }
    }

    /// Forgets the rows, and begins with few.
    pub(super) fn restart(&mut self) {
        self.forget();
        self.most = 0;
        if let Some(lock) = &mut self.lock {
            lock.map = VmCursor::default();
        }
    }

    fn forget(&mut self) {
        self.roots.clear();
        self.rows.clear();
        self.at = 0;
    }

    /// Fetches the row at `tid`. `upcoming`: what will be asked for next. `alone`: where a row goes that no others are fetched with.
    #[inline]
    pub(super) fn row<'a>(
        &'a mut self,
        heap: &HeapRel,
        (tid, upcoming): (Tid, impl Iterator<Item = Tid>),
        alone: &'a mut HeapTuple,
        cx: &Cx<'_>,
    ) -> SqlResult<(Fetched, Option<TupleRef<'a>>)> {
        if self.block != tid.block || self.roots.get(self.at) != Some(&tid.offset) {
            let locks = self.lock.as_ref().is_some_and(|lock| lock.is_on(cx));
            self.find_roots(tid, upcoming);
            if self.roots.len() > 1 || locks {
                self.fetch_page(heap, (locks, true), cx)?;
            }
            if self.rows.is_empty() {
                self.forget();
                let fetched = cx.with_view(|access, view| heap::fetch(access, heap, view, tid, alone));
                let fetched = fetched.map_err(eval::error::heap)?;
                return Ok((fetched, (fetched == Fetched::Visible).then(|| alone.get()).flatten()));
            }
        }
        self.at += 1;
        Ok(self.rows.get(self.at - 1))
    }

    /// How many of the rows that come next are there and have all that is wanted of them; may fetch some, and such without values. They are
    /// to be passed now: what each is, [`Ahead::pass`] tells.
    pub(super) fn ready(
        &mut self,
        heap: &HeapRel,
        mut upcoming: impl Iterator<Item = Tid>,
        cx: &Cx<'_>,
    ) -> SqlResult<usize> {
        let locks = self.lock.as_ref().map(|lock| lock.is_on(cx));
        if locks == Some(false) {
            return Ok(0);
        }
        if self.at == self.rows.len() {
            let Some(tid) = upcoming.next() else { return Ok(0) };
            self.find_roots(tid, upcoming);
            self.fetch_page(heap, (locks.is_some(), false), cx)?;
        }
        let end = if locks.is_some() { self.rows.locked() } else { self.rows.len() };
        Ok(end.saturating_sub(self.at))
    }

    /// Goes on to the next row, without it.
    pub(super) fn pass(&mut self) -> Fetched {
        self.at += 1;
        self.rows.found(self.at - 1)
    }

    /// Goes on to the next row if it was fetched already and is not visible.
    pub(super) fn pass_unseen(&mut self) -> Option<Fetched> {
        (self.at < self.rows.len() && self.rows.found(self.at) != Fetched::Visible).then(|| self.pass())
    }

    /// Whether the last row that was fetched was locked.
    pub(super) fn is_locked(&self) -> bool {
        0 < self.at && self.at <= self.rows.locked()
    }

    /// The row at `tid` and those of the same page behind it.
    fn find_roots(&mut self, tid: Tid, upcoming: impl Iterator<Item = Tid>) {
        self.forget();
        self.block = tid.block;
        self.roots.push(tid.offset);
        let same_page = upcoming.take(self.most).take_while(|next| next.block == tid.block);
        self.roots.extend(same_page.map(|next| next.offset));
        self.most = (self.most * 4 + 3).min(MOST_AHEAD);
    }

    /// Fetches the rows at `roots`, or the first of them. `copies`: what is locked is not only counted.
    fn fetch_page(&mut self, heap: &HeapRel, (locks, copies): (bool, bool), cx: &Cx<'_>) -> SqlResult<()> {
        let (page, rows) = ((self.block, self.roots.as_slice()), &mut self.rows);
        let fetched = match self.lock.as_mut().filter(|_| locks) {
            None => cx.with_view(|access, view| heap::fetch_rows(access, heap, view, page, rows)),
            Some(lock) => cx.with_writer(heap, |access, writer| {
                let view = View {
                    snapshot: cx.env.snapshot,
                    curcid: writer.cid,
                    me: writer.me,
                    combo: writer.combo,
                };
                let how = (lock.strength, &mut *cx.env.holders.borrow_mut());
                heap::fetch_and_lock_rows(
                    access,
                    heap,
                    (&view, writer),
                    page,
                    how,
                    &mut lock.map,
                    (rows, copies),
                )
            })?,
        };
        fetched.map_err(eval::error::heap)?;
        if rows.len() < self.roots.len() {
            self.roots.truncate(rows.len());
            self.most = 0;
        }
        Ok(())
    }
}
