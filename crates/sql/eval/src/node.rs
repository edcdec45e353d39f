//! # What
//! What every node of a running plan is to those above it and to expressions: a source of rows.
//!
//! A node's row stays valid until its next call.
//!
//! # Invariants
//! 1. No borrow of the session's transaction is held over a call of `next`.
//! 2. Every loop that can go on without giving a row checks for interrupts.
//! 3. After `rescan` a node behaves as newly built; with `changed` it may keep what depends on none of those cells.

use base::{Oid, SqlResult, Tid};
use heap::TupleRef;
use plan::ParamId;
use tuple::{Batch, Bytes, Datum, RowLayout};

use crate::cx::Cx;

/// A table, and the place of one of its rows.
pub type Origin = (Oid, Tid);

/// What a node gives that is asked for many rows.
pub enum Batched<'a> {
    /// Rows, at least one.
    Rows(Batch<'a>),
    /// The next row, if there is one, is to be had by [`Node::next`] only.
    NotNow,
    /// There are no more.
    End,
}

/// What a node gives that is asked for rows as they are stored.
pub enum Stored<'a> {
    /// A row that [is whole](TupleRef::is_whole).
    Row(TupleRef<'a>),
    /// The node's current row.
    Values,
    /// There are no more.
    End,
}

/// A node of an execution state tree.
pub trait Node {
    /// Moves to the next row; false at the end.
    fn next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool>;
    /// The current row.
    fn row(&self) -> &[Datum];
    /// Whether [`Node::next`] will find no more, where that is known without asking it.
    fn is_over(&self) -> bool {
        false
    }
    /// Passes over rows that are at hand, whose values nobody reads, and tells how many they were; afterwards there is no current row. None: the next
    /// one, if there is one, is to be had by [`Node::next`] only.
    fn skip(&mut self, _cx: &mut Cx<'_>) -> SqlResult<usize> {
        Ok(0)
    }
    /// Goes on over rows that are at hand, and appends the first column of each; afterwards there is no current row. None: as for [`Node::skip`].
    fn append(&mut self, _cx: &mut Cx<'_>, _out: &mut Vec<Datum>) -> SqlResult<()> {
        Ok(())
    }
    /// Goes on over rows that are at hand, as columns; afterwards there is no current row. A node that was built to be asked for rows only gives none.
    fn batch(&mut self, _cx: &mut Cx<'_>) -> SqlResult<Batched<'_>> {
        Ok(Batched::NotNow)
    }
    /// The layout of the table whose rows the node gives, all columns of them as they are, if it can give them as they are stored.
    fn stored_layout(&self) -> Option<&RowLayout> {
        None
    }
    /// Moves to the next row of a node with a [stored layout](Node::stored_layout). If that is given as it is stored, there is no current row.
    fn next_stored(&mut self, cx: &mut Cx<'_>) -> SqlResult<Stored<'_>> {
        Ok(if self.next(cx)? { Stored::Values } else { Stored::End })
    }
    /// Whether the node has locked the current row as the page lock that it was built with says.
    fn is_locked(&self) -> bool {
        false
    }
    /// The tables that the current row is of and the places of their rows, where one way leads from here to the scan or the row lock that
    /// knows them.
    fn origins(&self, _found: &mut Vec<Origin>) {}
    /// Says before the first row of a run how many rows will be asked for at most, if that is known.
    fn bound(&mut self, _rows: Option<usize>) {}
    /// Starts again; `changed` names the cells that have new values.
    fn rescan(&mut self, cx: &mut Cx<'_>, changed: &[ParamId]) -> SqlResult<()>;
    /// Ends the run: releases pins, memory and temporary files. The node may be used again after `rescan`.
    fn close(&mut self, cx: &mut Cx<'_>);
}

/// A node on the heap.
pub type BoxNode = Box<dyn Node>;

/// A place as a value of type `tid`: block (u32) and offset (u16), little-endian.
pub fn tid_datum(tid: Tid) -> Datum {
    let mut bytes = [0; 6];
    bytes[..4].copy_from_slice(&tid.block.0.to_le_bytes());
    bytes[4..].copy_from_slice(&tid.offset.to_le_bytes());
    Datum::Bytes(Bytes::new(&bytes))
}

/// The place in a value of type `tid`.
pub fn datum_tid(value: &Datum) -> Option<Tid> {
    let Datum::Bytes(bytes) = value else { return None };
    let block = u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?);
    let offset = u16::from_le_bytes(bytes.get(4..6)?.try_into().ok()?);
    Some(Tid::new(base::BlockNo(block), offset))
}
