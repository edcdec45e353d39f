//! Rows of a table as values.

use std::sync::Arc;

use base::{Oid, SqlError, SqlResult, Tid};
use eval::code::{Code, Rows, passes};
use eval::compile::RawRow;
use eval::cx::Cx;
use eval::node::tid_datum;
use heap::HeapRel;
use plan::{Expr, Plan};
use tuple::{Datum, Physical, Selection, Undecoded};

use super::Projection;
use crate::recheck::corrupted;

/// Decodes rows of one table into the layout of a [`RawRow`].
pub(super) struct RowReader {
    heap: Arc<HeapRel>,
    raw: RawRow,
    table: Oid,
}

impl RowReader {
    /// A reader for what `raw` names.
    pub fn new(heap: Arc<HeapRel>, raw: RawRow, table: Oid) -> RowReader {
        RowReader { heap, raw, table }
    }

    /// The table's OID.
    pub fn table(&self) -> Oid {
        self.table
    }

    /// Whether it reads all columns of the table, and nothing else.
    pub fn is_of_all(&self) -> bool {
        self.raw.upto == self.heap.desc.layout.len() && self.raw.system.is_empty()
    }

    /// Replaces `out` by the row's values.
    #[inline]
    pub fn read(&self, tuple: &heap::TupleRef<'_>, out: &mut Vec<Datum>) -> SqlResult<()> {
        out.clear();
        if self.raw.upto > 0 {
            tuple
                .decode(&self.heap.desc.layout, self.raw.upto, out)
                .map_err(|_| self.corrupted(tuple.tid))?;
        }
        self.read_system(tuple, out);
        Ok(())
    }

    #[cold]
    fn corrupted(&self, tid: Tid) -> SqlError {
        corrupted(self.table, tid)
    }

    #[inline]
    fn read_system(&self, tuple: &heap::TupleRef<'_>, out: &mut Vec<Datum>) {
        for column in &self.raw.system {
            out.push(match column {
                -1 => tid_datum(tuple.tid),
                -2 => Datum::Oid(tuple.xmin().0 as u32),
                -4 => Datum::Oid(tuple.xmax().0 as u32),
                -3 | -5 => Datum::Oid(tuple.raw_cid().0),
                _ => Datum::Oid(self.table.0),
            });
        }
    }

    /// Fetches large values that `out` holds as pointers.
    #[inline]
    pub fn detoast(&self, cx: &Cx<'_>, out: &mut [Datum]) -> SqlResult<()> {
        for value in out {
            if let Datum::Toasted(_) = value {
                let toast = self.heap.desc.toast.as_ref();
                *value = heap::detoast(&cx.env.access, toast, value).map_err(|error| {
                    let lost =
                        toast.is_some_and(|t| cx.env.snapshot.lost_from(t.rel.desc.file, base::BlockNo(0)));
                    let missing = matches!(error, heap::HeapError::ToastMissing { .. });
                    eval::error::heap(if lost && missing { heap::HeapError::SnapshotTooOld } else { error })
                })?;
            }
        }
        Ok(())
    }
}

/// Decodes of a row what the filter reads, and the rest that is wanted once the filter has let it through.
pub(super) struct SelectiveReader {
    pub(super) reader: RowReader,
    selection: Selection,
    left: Undecoded,
    /// The wanted columns that may be stored elsewhere.
    varlenas: Box<[usize]>,
}

impl SelectiveReader {
    /// For rows that are read for a plan, and checked against the conditions of its scan before its filter.
    pub(super) fn new(reader: RowReader, plan: &Plan, conditions: &[Expr]) -> SelectiveReader {
        let early = reader.raw.read_by(plan.filter.iter().chain(conditions));
        let late = reader.raw.read_by(&plan.output);
        let selection = Selection::new(reader.raw.upto, |c| early[c], |c| late[c]);
        let attrs = reader.heap.desc.layout.attrs().iter().take(reader.raw.upto).enumerate();
        let varlenas = attrs
            .filter(|(c, attr)| attr.physical == Physical::Varlena && (early[*c] || late[*c]))
            .map(|(c, _)| c)
            .collect();
        SelectiveReader { reader, selection, left: Undecoded::default(), varlenas }
    }

    /// Whether the row passes conditions and the filter, if that is still to be asked; then `out` holds its values.
    #[inline]
    pub(super) fn read(
        &mut self,
        tuple: &heap::TupleRef<'_>,
        (conditions, filter): (&[Code], Option<&Projection>),
        cx: &mut Cx<'_>,
        out: &mut Vec<Datum>,
    ) -> SqlResult<bool> {
        let passes = self.read_first(tuple, (conditions, filter), cx, out)?;
        if passes {
            self.read_rest(tuple, cx, out)?;
        }
        Ok(passes)
    }

    /// The first step of [`SelectiveReader::read`]: whether the row passes conditions and the filter.
    #[inline]
    pub(super) fn read_first(
        &mut self,
        tuple: &heap::TupleRef<'_>,
        (conditions, filter): (&[Code], Option<&Projection>),
        cx: &mut Cx<'_>,
        out: &mut Vec<Datum>,
    ) -> SqlResult<bool> {
        let layout = &self.reader.heap.desc.layout;
        let corrupted = |_| self.reader.corrupted(tuple.tid);
        // Columns that are not wanted stay NULL from the first row on.
        out.resize(self.reader.raw.upto, Datum::Null);
        self.selection.decode_first(layout, &tuple.row(), &mut self.left, out).map_err(corrupted)?;
        let filter = filter.filter(|projection| !projection.filter.is_empty());
        if filter.is_some() || !conditions.is_empty() {
            self.reader.read_system(tuple, out);
            self.detoast(cx, out)?;
            let rows = Rows::one(out);
            if !passes(conditions, rows, cx)? {
                cx.note_rechecked_rows(1);
                return Ok(false);
            }
            if let Some(projection) = filter
                && !projection.accepts(rows, cx)?
            {
                return Ok(false);
            }
            out.truncate(self.reader.raw.upto);
        }
        Ok(true)
    }

    /// The second step: the values that are not in `out` yet.
    #[inline]
    pub(super) fn read_rest(
        &mut self,
        tuple: &heap::TupleRef<'_>,
        cx: &mut Cx<'_>,
        out: &mut Vec<Datum>,
    ) -> SqlResult<()> {
        let layout = &self.reader.heap.desc.layout;
        let corrupted = |_| self.reader.corrupted(tuple.tid);
        self.selection.decode_rest(layout, &tuple.row(), &mut self.left, out).map_err(corrupted)?;
        self.reader.read_system(tuple, out);
        self.detoast(cx, out)
    }

    #[inline]
    fn detoast(&self, cx: &Cx<'_>, out: &mut [Datum]) -> SqlResult<()> {
        for column in &self.varlenas {
            if let Datum::Toasted(_) = out[*column] {
                self.reader.detoast(cx, &mut out[*column..=*column])?;
            }
        }
        Ok(())
    }
}
