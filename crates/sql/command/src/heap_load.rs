//! # What
//! Rows on their way into the heap of a table, for commands that store many: formed as they come, so that no value is kept, and put on pages some at a time.
//!
//! # WAL and crash
//! One record for all rows that go to one page. Large values are stored, and logged, when their row is formed.

use std::sync::Arc;

use base::{Oid, SqlResult, Tid};
use counters::Change;
use eval::cx::Facilities;
use heap::{Access, Chunks, FormedRows, HeapRel, HeapResult, InsertOptions, TupleRef, Writer};
use session::Session;
use tuple::Datum;

/// Most bytes of formed rows that wait.
const MOST_BYTES: usize = 128 * 1024;

/// Rows that go to one heap.
pub(crate) struct HeapLoad {
    table: Oid,
    heap: Arc<HeapRel>,
    options: InsertOptions,
    formed: FormedRows,
    /// Places of the rows last stored.
    tids: Vec<Tid>,
}

impl HeapLoad {
    pub(crate) fn new(table: Oid, heap: Arc<HeapRel>, options: InsertOptions) -> HeapLoad {
        HeapLoad { table, heap, options, formed: FormedRows::default(), tids: Vec::new() }
    }

    pub(crate) fn heap(&self) -> &Arc<HeapRel> {
        &self.heap
    }

    /// How rows are stored from now on. There are none yet.
    pub(crate) fn set_options(&mut self, options: InsertOptions) {
        debug_assert_eq!(self.formed.count(), 0);
        self.options = options;
    }

    /// Whether those that wait are to be stored now.
    pub(crate) fn is_full(&self) -> bool {
        self.formed.bytes() >= MOST_BYTES
    }

    /// Forms a row.
    #[inline]
    pub(crate) fn add(&mut self, session: &Session, row: &[Datum]) -> SqlResult<()> {
        let (heap, options, formed) = (&self.heap, self.options, &mut self.formed);
        if formed.add_small(heap, row, options) {
            return Ok(());
        }
        with_writer(session, heap, |access, writer| formed.add(access, heap, writer, row, options))
    }

    /// Takes a row over from a table that [stores rows alike](heap::stores_alike), where it [is whole](TupleRef::is_whole).
    #[inline]
    pub(crate) fn add_stored(&mut self, row: &TupleRef<'_>) {
        self.formed.add_stored(row, self.options);
    }

    /// Stores all that wait. Returns their places.
    pub(crate) fn store(&mut self, session: &Session) -> SqlResult<&[Tid]> {
        let (heap, options, formed, tids) = (&self.heap, self.options, &mut self.formed, &mut self.tids);
        let count = formed.count();
        tids.clear();
        if count > 0 {
            with_writer(session, heap, |access, writer| formed.insert(access, heap, writer, options, tids))?;
            let depth = session.txn.borrow().depth() as u32;
            session.count_change(self.table, depth, Change::Insert(count as i64));
        }
        Ok(&self.tids)
    }
}

/// One call of storage that writes.
fn with_writer(
    session: &Session,
    heap: &HeapRel,
    f: impl FnOnce(&Access<'_>, &Writer<'_>) -> HeapResult<()>,
) -> SqlResult<()> {
    let xid = session.txn.borrow_mut().xid_for(heap.is_logged())?;
    let me = session.txn.borrow();
    let chunks = Chunks::default();
    let writer = Writer {
        xid,
        cid: me.current_command(),
        me: &me,
        combo: &session.combo,
        compression: session.compression(),
        chunks: Some(&chunks),
    };
    f(&session.engine().heap_access(), &writer).map_err(heap::HeapError::into_sql)?;
    session.count_chunks(heap, me.depth() as u32, &chunks);
    Ok(())
}
