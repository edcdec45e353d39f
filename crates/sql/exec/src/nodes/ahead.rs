//! Rows of a table that are fetched by the page although they are asked for one by one.
//!
//! Who finds rows by an index often finds several of one page in turn. What lies there is then fetched with the first of them: the page is looked
//! up, pinned and latched once. A snapshot sees the same of a row whenever it is looked at, so nobody can tell.

use base::{BlockNo, OffsetNo, SqlResult, Tid};
use heap::{Fetched, FetchedRows, HeapRel, HeapTuple, TupleRef};

use crate::cx::Cx;

/// Rows of one page that were fetched before they are asked for.
#[derive(Default)]
pub(super) struct Ahead {
    rows: FetchedRows,
    /// Where the index entries lead.
    roots: Vec<OffsetNo>,
    block: BlockNo,
    /// The first that has not been asked for.
    at: usize,
    /// How many the next time, beside the one that is asked for. Who asks for few is not to pay for many.
    most: usize,
}

/// Most rows that are fetched ahead.
const MOST_AHEAD: usize = 127;

impl Ahead {
    /// Forgets the rows, and begins with few.
    pub(super) fn restart(&mut self) {
        self.roots.clear();
        self.rows.clear();
        (self.at, self.most) = (0, 0);
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
        if self.block == tid.block && self.roots.get(self.at) == Some(&tid.offset) {
            self.at += 1;
            return Ok(self.rows.get(self.at - 1));
        }
        self.roots.clear();
        let same_page = upcoming.take(self.most).take_while(|next| next.block == tid.block);
        self.roots.extend(same_page.map(|next| next.offset));
        self.most = (self.most * 4 + 3).min(MOST_AHEAD);
        if !self.roots.is_empty() {
            self.fetch_page(heap, tid, cx)?;
            return Ok(self.rows.get(0));
        }
        let fetched = cx.with_view(|access, view| heap::fetch(access, heap, view, tid, alone));
        let fetched = fetched.map_err(crate::error::heap)?;
        Ok((fetched, (fetched == Fetched::Visible).then(|| alone.get()).flatten()))
    }

    /// Fetches the row at `tid` and those of `roots`, which follow it.
    fn fetch_page(&mut self, heap: &HeapRel, tid: Tid, cx: &Cx<'_>) -> SqlResult<()> {
        let mut roots = std::mem::take(&mut self.roots);
        roots.insert(0, tid.offset);
        (self.block, self.at) = (tid.block, 1);
        let (page, rows) = ((tid.block, roots.as_slice()), &mut self.rows);
        cx.with_view(|access, view| heap::fetch_rows(access, heap, view, page, rows))
            .map_err(crate::error::heap)?;
        self.roots = roots;
        Ok(())
    }
}
