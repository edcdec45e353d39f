//! Large values.

use std::sync::Arc;

use base::{Oid, Tid};
use tuple::Datum;

use crate::error::HeapResult;
use crate::rel::{Access, HeapRel};

/// The B-tree index of a toast table on (chunk_id oid, chunk_seq int4), which this crate does not know.
pub trait ToastIndex: Send + Sync {
    /// Enters a chunk.
    fn insert(&self, access: &Access<'_>, value_id: u32, seq: i32, tid: Tid) -> HeapResult<()>;

    /// Calls `visit` for each entry of a value in order of `chunk_seq`, from `first_seq` on, until it returns `false`.
    fn find(
        &self,
        access: &Access<'_>,
        value_id: u32,
        first_seq: i32,
        visit: &mut dyn FnMut(i32, Tid) -> HeapResult<bool>,
    ) -> HeapResult<()>;

    /// A number for a new value: the next OID; whether it is in use here is checked by the caller.
    fn next_value_id(&self) -> u32;
}

/// Where a table's large values go.
#[derive(Clone)]
pub struct ToastTable {
    /// OID of the toast table, written into pointers.
    pub oid: Oid,
    /// Its heap: `chunk_id oid, chunk_seq int4, chunk_data bytea`, all plain storage.
    pub rel: Arc<HeapRel>,
    /// Its index.
    pub index: Arc<dyn ToastIndex>,
}

/// The whole value: fetched and decompressed as needed. Values that are not [`Datum::Toasted`] come back as they are.
pub fn detoast(access: &Access<'_>, toast: Option<&ToastTable>, value: &Datum) -> HeapResult<Datum> {
    let _ = (access, toast, value);
    todo!()
}
