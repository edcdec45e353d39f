//! # What
//! Large values: compressed in line, then moved out of the row into chunks of the table's toast table.
//!
//! # Layout
//! The toast table has rows `(chunk_id oid, chunk_seq int4, chunk_data bytea)`, none longer than a quarter of a page. The row keeps a pointer
//! ([`tuple::varlena::External`]). A compressed value's chunks hold the compressed bytes without header.
//!
//! # Invariants
//! 1. A row's chunks are written before the row and deleted after it, by the same transaction: who sees the row finds them all.
//! 2. A value has one owner: a row version takes over a pointer from the version it replaces, and from nowhere else.
//!
//! # Locks
//! No latch of the main table is held while the toast table or its index is used.
//!
//! # PostgreSQL counterpart and differences
//! `heaptoast.c`, `toast_internals.c`. Same thresholds and order of measures by `attstorage`.

use std::cell::Cell;
use std::sync::Arc;

use base::{Oid, SqlError, Tid};
use tuple::varlena::{self, Compression, External, View};
use tuple::{Datum, Physical};

use crate::error::{DeleteOutcome, HeapError, HeapResult};
use crate::fetch::fetch_version;
use crate::header::{MAX_TUPLE, tuple_len};
use crate::insert::{InsertOptions, insert};
use crate::rel::{Access, Chunks, HeapRel, Writer};
use crate::row::{HeapTuple, TupleRef};

/// Rows longer than this are made shorter, if they can be, down to this: a quarter of a page.
pub const THRESHOLD: usize = 2032;
/// Bytes of a value in one chunk, so that four chunk rows fill a page.
pub const CHUNK: usize = THRESHOLD - 24 - 4 - 4 - 4;

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

/// The whole value: fetched and decompressed as needed. Values that are not [`Datum::Toasted`] come back as they are. `toast` is the toast
/// table of the table that the value was read from.
pub fn detoast(access: &Access<'_>, toast: Option<&ToastTable>, value: &Datum) -> HeapResult<Datum> {
    let Datum::Toasted(stored) = value else { return Ok(value.clone()) };
    let bad =
        || HeapError::Callback(SqlError::new(base::SqlState::DATA_CORRUPTED, "compressed data is corrupt"));
    match varlena::parse(stored).map_err(|_| bad())?.0 {
        View::External(pointer) => {
            let bytes = fetch_value(access, toast, &pointer)?;
            let Some(method) = pointer.compression else { return Ok(Datum::Bytes(bytes.into())) };
            let size = pointer.raw_size as usize;
            let raw = elsewhere(size, || varlena::decompress(&bytes, size, method)).map_err(|_| bad())?;
            Ok(Datum::Bytes(raw.into()))
        }
        _ => varlena::resolve_inline(stored).map_err(|_| bad())?.ok_or_else(bad),
    }
}

/// Bytes that are compressed here and now: less than a millisecond.
const COMPRESSED_HERE: usize = 256 << 10;

/// Compression of so many bytes, which cannot be done in pieces: a lot is done by a thread beside the workers.
fn elsewhere<T: Send>(size: usize, work: impl FnOnce() -> T + Send) -> T {
    if size <= COMPRESSED_HERE { work() } else { runtime::blocking(work) }
}

/// The bytes in a value's chunks.
fn fetch_value(access: &Access<'_>, toast: Option<&ToastTable>, pointer: &External) -> HeapResult<Vec<u8>> {
    let missing =
        HeapError::ToastMissing { value_id: pointer.value_id, toast_relation: pointer.toast_relation };
    let Some(toast) = toast.filter(|toast| toast.oid.0 == pointer.toast_relation) else {
        return Err(missing);
    };
    let size = pointer.stored_size as usize;
    let mut out = Vec::with_capacity(size);
    let mut row = HeapTuple::new();
    toast.index.find(access, pointer.value_id, 0, &mut |seq, tid| {
        runtime::check_interrupts()?;
        if seq as usize * CHUNK != out.len() || !fetch_version(access, &toast.rel, tid, &mut row)? {
            return Ok(true);
        }
        if let Some(chunk) = row.get().and_then(|row| chunk_of(&row, &toast.rel, pointer.value_id, seq)) {
            out.extend_from_slice(&chunk);
        }
        Ok(out.len() < size)
    })?;
    if out.len() == size { Ok(out) } else { Err(missing) }
}

/// The data of a chunk row, if it is the one wanted.
fn chunk_of(row: &TupleRef<'_>, rel: &HeapRel, value_id: u32, seq: i32) -> Option<tuple::Bytes> {
    let mut values = Vec::with_capacity(3);
    row.decode(&rel.desc.layout, 3, &mut values).ok()?;
    match values.as_slice() {
        [Datum::Oid(id), Datum::Int4(n), Datum::Bytes(bytes)] if *id == value_id && *n == seq => {
            Some(bytes.clone())
        }
        _ => None,
    }
}

fn count(writer: &Writer<'_>, counter: impl FnOnce(&Chunks) -> &Cell<u32>) {
    if let Some(counter) = writer.chunks.map(counter) {
        counter.set(counter.get() + 1);
    }
}

/// Stores a value's bytes in chunks and returns the pointer to them.
fn store_value(
    access: &Access<'_>,
    toast: &ToastTable,
    writer: &Writer<'_>,
    stored: &Datum,
    options: InsertOptions,
) -> HeapResult<Datum> {
    let (bytes, raw_size, compression): (&[u8], _, _) = match stored {
        Datum::Bytes(bytes) => (bytes, bytes.len(), None),
        Datum::Toasted(stored) => match varlena::parse(stored) {
            Ok((View::Compressed { method, raw_size, bytes }, _)) => (bytes, raw_size as usize, Some(method)),
            _ => return Ok(Datum::Toasted(stored.clone())),
        },
        other => return Ok(other.clone()),
    };
    let value_id = new_value_id(access, toast)?;
    for (seq, chunk) in bytes.chunks(CHUNK).enumerate() {
        runtime::check_interrupts()?;
        let row = [Datum::Oid(value_id), Datum::Int4(seq as i32), Datum::Bytes(chunk.into())];
        let tid = insert(access, &toast.rel, writer, &row, options)?;
        toast.index.insert(access, value_id, seq as i32, tid)?;
        count(writer, |chunks| &chunks.inserted);
    }
    let pointer = External {
        raw_size: raw_size as u32,
        stored_size: bytes.len() as u32,
        compression,
        value_id,
        toast_relation: toast.oid.0,
    };
    Ok(Datum::Toasted(pointer.to_bytes().as_slice().into()))
}

/// A value OID that no chunk has, dead ones included.
fn new_value_id(access: &Access<'_>, toast: &ToastTable) -> HeapResult<u32> {
    loop {
        runtime::check_interrupts()?;
        let id = toast.index.next_value_id();
        let mut used = id == 0;
        toast.index.find(access, id, 0, &mut |_, _| {
            used = true;
            Ok(false)
        })?;
        if !used {
            return Ok(id);
        }
    }
}

/// How a chunk's row goes.
type Remove = fn(&Access<'_>, &HeapRel, &Writer<'_>, Tid) -> HeapResult<DeleteOutcome>;

/// Removes the chunks of values that a removed or replaced row version owned.
pub(crate) fn delete_values(
    access: &Access<'_>,
    rel: &HeapRel,
    writer: &Writer<'_>,
    pointers: &[External],
    remove: Remove,
) -> HeapResult<()> {
    let Some(toast) = &rel.desc.toast else { return Ok(()) };
    for pointer in pointers.iter().filter(|pointer| pointer.toast_relation == toast.oid.0) {
        let mut tids = Vec::new();
        toast.index.find(access, pointer.value_id, 0, &mut |_, tid| {
            tids.push(tid);
            Ok(true)
        })?;
        for tid in tids {
            runtime::check_interrupts()?;
            match remove(access, &toast.rel, writer, tid)? {
                DeleteOutcome::Deleted => count(writer, |chunks| &chunks.deleted),
                DeleteOutcome::Refused(_) => {
                    return Err(HeapError::ToastMissing {
                        value_id: pointer.value_id,
                        toast_relation: toast.oid.0,
                    });
                }
            }
        }
    }
    Ok(())
}

/// The external values that a stored row version points to.
pub(crate) fn pointers_of(rel: &HeapRel, row: &TupleRef<'_>) -> Vec<External> {
    let mut values = Vec::new();
    if row.decode(&rel.desc.layout, row.columns(), &mut values).is_err() {
        return Vec::new();
    }
    values.iter().filter_map(as_external).collect()
}

pub(crate) fn as_external(value: &Datum) -> Option<External> {
    match value {
        Datum::Toasted(stored) => varlena::external(stored),
        _ => None,
    }
}

/// A row being made shorter.
struct Shrinker<'a> {
    rel: &'a HeapRel,
    values: Vec<Datum>,
    /// Columns that need not be compressed (again).
    incompressible: Vec<bool>,
    /// Columns chosen to be stored out of line.
    moved: Vec<bool>,
    /// For columns that name no method.
    compression: Compression,
}

impl Shrinker<'_> {
    /// Length of the row if what is to be moved out were.
    fn len(&self) -> usize {
        let pointer: Arc<[u8]> =
            External { raw_size: 0, stored_size: 0, compression: None, value_id: 0, toast_relation: 0 }
                .to_bytes()
                .as_slice()
                .into();
        let shadow: Vec<Datum> = self
            .values
            .iter()
            .zip(&self.moved)
            .map(|(value, moved)| if *moved { Datum::Toasted(pointer.clone()) } else { value.clone() })
            .collect();
        tuple_len(&self.rel.desc.layout, &shadow)
    }

    fn stored_size(value: &Datum) -> usize {
        match value {
            Datum::Bytes(bytes) => bytes.len() + 4,
            Datum::Toasted(stored) if !varlena::is_external(stored) => stored.len(),
            _ => 0,
        }
    }

    /// The column with the most bytes among those with one of these storage classes. Small ones are not worth a pointer.
    fn biggest(&self, storages: &[u8], to_compress: bool) -> Option<usize> {
        let attrs = self.rel.desc.layout.attrs();
        (0..self.values.len())
            .filter(|&i| attrs[i].physical == Physical::Varlena && storages.contains(&attrs[i].storage))
            .filter(|&i| !self.moved[i])
            .filter(|&i| !to_compress || !self.incompressible[i] && matches!(self.values[i], Datum::Bytes(_)))
            .filter(|&i| Self::stored_size(&self.values[i]) > page::align8(varlena::EXTERNAL_LEN))
            .max_by_key(|&i| Self::stored_size(&self.values[i]))
    }

    fn compress(&mut self, i: usize) {
        self.incompressible[i] = true;
        let method = self.rel.desc.layout.attrs()[i].compression.unwrap_or(self.compression);
        if let Datum::Bytes(bytes) = &self.values[i]
            && let Some(stored) = elsewhere(bytes.len(), || varlena::compress(bytes, method))
        {
            self.values[i] = Datum::Toasted(stored);
        }
    }

    /// PostgreSQL's four rounds.
    fn run(&mut self, has_toast: bool) {
        // Compress extended columns; one that alone fills the row goes out at once.
        while self.len() > THRESHOLD
            && let Some(i) = self.biggest(b"xe", true)
        {
            if self.rel.desc.layout.attrs()[i].storage == b'x' {
                self.compress(i);
            } else {
                self.incompressible[i] = true;
            }
            if has_toast && Self::stored_size(&self.values[i]) > THRESHOLD - 32 {
                self.moved[i] = true;
            }
        }
        while has_toast
            && self.len() > THRESHOLD
            && let Some(i) = self.biggest(b"xe", false)
        {
            self.moved[i] = true;
        }
        while self.len() > THRESHOLD
            && let Some(i) = self.biggest(b"m", true)
        {
            self.compress(i);
        }
        while has_toast
            && self.len() > MAX_TUPLE
            && let Some(i) = self.biggest(b"m", false)
        {
            self.moved[i] = true;
        }
    }
}

/// Makes a row fit: `None` if it may be stored as it is. `kept`: pointers of the version being replaced, which may be taken over. Other
/// pointers (of the same toast table) are copied, for every value has one owner.
pub(crate) fn shrink(
    access: &Access<'_>,
    rel: &HeapRel,
    writer: &Writer<'_>,
    values: &[Datum],
    kept: Option<&[External]>,
    options: InsertOptions,
) -> HeapResult<Option<Vec<Datum>>> {
    let foreign =
        |value: &Datum| as_external(value).is_some_and(|p| !kept.is_some_and(|kept| kept.contains(&p)));
    let any_foreign = values.iter().any(foreign);
    if !any_foreign && tuple_len(&rel.desc.layout, values) <= THRESHOLD {
        return Ok(None);
    }
    let toast = rel.desc.toast.as_ref();
    let mut values = values.to_vec();
    for value in values.iter_mut().filter(|value| foreign(value)) {
        *value = detoast(access, toast, value)?;
    }
    let n = values.len();
    let mut shrinker = Shrinker {
        rel,
        values,
        incompressible: vec![false; n],
        moved: vec![false; n],
        compression: writer.compression,
    };
    shrinker.run(toast.is_some());
    let Shrinker { mut values, moved, .. } = shrinker;
    if let Some(toast) = toast {
        for (value, _) in values.iter_mut().zip(moved).filter(|(_, moved)| *moved) {
            *value = store_value(access, toast, writer, value, options)?;
        }
    }
    Ok(Some(values))
}
