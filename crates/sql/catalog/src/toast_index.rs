//! The index of a TOAST table, which the heap reaches through a trait: a B-tree on (chunk_id, chunk_seq).

use std::sync::Arc;

use base::{Oid, RelFile, SqlError, Tid, Xid};
use buffer::Persistence;
use engine::{DeadRows, Engine, OpenIndex};
use heap::{Access, HeapError, HeapRel, HeapResult, ToastIndex, ToastTable};
use index::{
    Compare, Direction, IndexDesc, IndexError, InsertOutcome, KeyColumn, ScanKey, ScanKeys, ScanOp,
    UniqueCheck, Wants, strategy,
};
use tuple::{Attr, Datum, Physical, RowLayout};

/// The columns of every TOAST table: `chunk_id oid, chunk_seq int4, chunk_data bytea`, stored plain.
pub fn toast_layout() -> RowLayout {
    RowLayout::new(vec![
        Attr { physical: Physical::Oid, align: 4, storage: b'p', compression: None },
        Attr { physical: Physical::Int4, align: 4, storage: b'p', compression: None },
        Attr { physical: Physical::Varlena, align: 4, storage: b'p', compression: None },
    ])
}

/// Describes the index of a TOAST table in `file`. No I/O.
pub fn open_toast_index(file: RelFile, persistence: Persistence) -> OpenIndex {
    let attrs = toast_layout().attrs()[..2].to_vec();
    OpenIndex::open_default(IndexDesc {
        file,
        layout: Arc::new(RowLayout::new(attrs)),
        keys: [Compare::Oid, Compare::Int4].map(KeyColumn::ascending).into(),
        unique: true,
        nulls_not_distinct: false,
        equal_image: true,
        options: Vec::new(),
        trees: Vec::new(),
        hashes: Vec::new(),
        parts: Vec::new(),
        spaces: Vec::new(),
        summaries: Vec::new(),
        persistence,
    })
}

/// A TOAST table and its index; and others that are maintained too, while one is made again ([`Index::others`]).
pub fn open_toast(
    engine: &Arc<Engine>,
    oid: Oid,
    rel: Arc<HeapRel>,
    (searched, others): (OpenIndex, Vec<OpenIndex>),
) -> ToastTable {
    let index = Index { engine: engine.clone(), searched, others, rel: rel.clone() };
    ToastTable { oid, rel, index: Arc::new(index) }
}

struct Index {
    engine: Arc<Engine>,
    /// What values are found by.
    searched: OpenIndex,
    /// Copies of it that REINDEX CONCURRENTLY is building, or retiring: they get all entries but are never searched.
    others: Vec<OpenIndex>,
    rel: Arc<HeapRel>,
}

impl Index {
    fn enter(&self, heap: &Access<'_>, open: &OpenIndex, key: &[Datum], tid: Tid) -> HeapResult<()> {
        let access = self.engine.index_access(Xid::INVALID);
        // Value numbers are checked for being free when they are drawn, so a unique check would find nothing.
        let rows = DeadRows { access: *heap, heap: &self.rel };
        match open.insert(&access, key, tid, UniqueCheck::No, &rows).map_err(callback)? {
            InsertOutcome::Inserted => Ok(()),
            other => Err(HeapError::Callback(SqlError::internal(format!("unexpected outcome {other:?}")))),
        }
    }
}

impl ToastIndex for Index {
    fn insert(&self, heap: &Access<'_>, value_id: u32, seq: i32, tid: Tid) -> HeapResult<()> {
        let key = [Datum::Oid(value_id), Datum::Int4(seq)];
        self.enter(heap, &self.searched, &key, tid)?;
        self.others.iter().try_for_each(|other| self.enter(heap, other, &key, tid))
    }

    fn find(
        &self,
        _: &Access<'_>,
        value_id: u32,
        first_seq: i32,
        visit: &mut dyn FnMut(i32, Tid) -> HeapResult<bool>,
    ) -> HeapResult<()> {
        let access = self.engine.index_access(Xid::INVALID);
        let keys = vec![
            ScanKey { column: 0, op: ScanOp::Strategy(strategy::EQUAL, Datum::Oid(value_id)) },
            ScanKey { column: 1, op: ScanOp::Strategy(strategy::GREATER_EQUAL, Datum::Int4(first_seq)) },
        ];
        let keys = ScanKeys { keys, direction: Direction::Forward };
        let mut scan = self.searched.scan(keys, Wants { values: true, pin: false });
        let mut values = Vec::with_capacity(2);
        while let Some(tid) = scan.next(&access).map_err(callback)? {
            values.clear();
            scan.values(&mut values).map_err(callback)?;
            let Some(&Datum::Int4(seq)) = values.get(1) else {
                return Err(HeapError::Callback(SqlError::internal("malformed key in a TOAST index")));
            };
            if !visit(seq, tid)? {
                break;
            }
        }
        Ok(())
    }

    fn next_value_id(&self) -> u32 {
        self.engine.next_oid().0
    }
}

fn callback(error: IndexError) -> HeapError {
    HeapError::Callback(error.into_sql("TOAST index", "TOAST table"))
}
