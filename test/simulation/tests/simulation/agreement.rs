//! Every index of a database against its heap.

use std::collections::BTreeSet;
use std::sync::Arc;

use base::{Oid, SqlError, Tid, Xid};
use catalog::{CatalogView, Index, POSTGRES, Reader, SessionCatalog, Table};
use heap::{ComboCids, Fetched, HeapRel, HeapScan, HeapTuple, View};
use tuple::Datum;
use txn::{Transaction, TxnSystem};

use crate::cluster::Server;
use crate::session::Client;

/// Session number of the transaction that looks.
const SESSION: txn::SessionId = txn::SessionId(9_999);

/// Checks all B-trees: their own order, and that through each index exactly the visible rows are found, each under its key. Nothing may
/// write meanwhile. Returns the number of indexes.
pub fn check_indexes(server: &Server, client: &Client) -> usize {
    // Extended statistics do not exist yet, and neither do the types of this table's columns.
    let tables =
        "select oid from pg_class where relkind in ('r', 't') and relname <> 'pg_statistic_ext_data'";
    let tables = client.run(tables).expect("pg_class is read");
    let txns: Arc<TxnSystem> = server.engine.txns().clone();
    let mut me = Transaction::new(txns.clone(), SESSION);
    me.start(Default::default());
    let combo = ComboCids::new();
    let names = SessionCatalog::new(Oid(10));
    let catalog = server.instance.catalog(POSTGRES, "postgres");
    let reader = Reader { catalog: &catalog, session: &names, me: &me, combo: &combo };
    let snapshot = txns.snapshot();
    let view = View { snapshot: &snapshot, curcid: me.current_command(), me: &me, combo: &combo };
    let mut checked = 0;
    for oid in tables {
        let oid = Oid(oid.parse().expect("an oid"));
        let table = reader.relation_by_oid(oid).expect("the catalog is read").expect("the table is there");
        let Some(heap) = &table.heap else { continue };
        let rows = visible_rows(server, &view, heap);
        for index in table.indexes.iter().filter(|index| index.valid) {
            check_index(server, &view, &table, index, heap, &rows);
            checked += 1;
        }
    }
    drop(snapshot);
    me.abort();
    checked
}

fn visible_rows(server: &Server, view: &View<'_>, heap: &Arc<HeapRel>) -> BTreeSet<Tid> {
    let access = server.engine.heap_access();
    let mut scan = HeapScan::new(&access, heap.clone(), None).expect("the heap is scanned");
    let mut rows = BTreeSet::new();
    while let Some(row) = scan.next(&access, view).expect("the heap is scanned") {
        rows.insert(row.tid);
    }
    rows
}

fn check_index(
    server: &Server,
    view: &View<'_>,
    table: &Table,
    index: &Index,
    heap: &HeapRel,
    rows: &BTreeSet<Tid>,
) {
    let whole = index.predicate.is_none() && !index.keys.contains(&0);
    let columns: Vec<usize> = index.keys.iter().chain(&index.including).map(|n| (n - 1) as usize).collect();
    let access = server.engine.heap_access();
    let mut tuple = HeapTuple::new();
    let mut found = BTreeSet::new();
    let mut keys: Vec<Vec<Datum>> = Vec::new();
    let mut entry = |tid: Tid, values: &[Datum]| -> Result<(), SqlError> {
        if heap::fetch(&access, heap, view, tid, &mut tuple).map_err(|e| e.into_sql())? != Fetched::Visible {
            return Ok(());
        }
        let row = tuple.get().expect("the fetch filled it");
        let wrong = || format!("entry {tid} of index \"{}\" of \"{}\"", index.name, table.name);
        assert!(found.insert(row.tid), "{}: a second entry for the row at {}", wrong(), row.tid);
        if whole {
            for (&column, value) in columns.iter().zip(values) {
                let stored = row.decode_column(&heap.desc.layout, column).expect("the row is sound");
                assert_eq!(&stored, value, "{}: the row has another key", wrong());
            }
        }
        if index.unique && !values.contains(&Datum::Null) {
            keys.push(values[..index.keys.len()].to_vec());
        }
        Ok(())
    };
    let btree = index.btree.as_ref().expect("indexes are open");
    let index_access = server.engine.index_access(Xid::INVALID);
    if let Err(error) = btree::verify(&index_access, btree, Some(&mut entry)) {
        panic!("index \"{}\" of \"{}\": {error:?}", index.name, table.name);
    }
    // Entries come in the order of the keys.
    assert!(keys.windows(2).all(|two| two[0] != two[1]), "unique index \"{}\" has a key twice", index.name);
    if index.predicate.is_none() {
        assert_eq!(&found, rows, "rows found through index \"{}\" and in \"{}\"", index.name, table.name);
    }
}
