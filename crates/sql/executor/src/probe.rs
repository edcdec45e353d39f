//! # What
//! The row of a table that has a unique key, found and locked FOR KEY SHARE without a plan: what a foreign key asks for each new row.
//!
//! # Invariants
//! 1. A probe finds and locks what `SELECT 1 FROM ONLY t WHERE key = $1 FOR KEY SHARE` would under READ COMMITTED. It does not lock keys for
//!    serializable transactions.
//!
//! # PostgreSQL counterpart
//! None in 18; `ri_PerformCheck` runs a query.

use std::sync::Arc;

use base::{Oid, SqlResult, Tid, Xid};
use catalog::Table;
use counters::Counted;
use engine::{OpenIndex, OpenScan};
use eval::cx::{Cx, Env, State};
use eval::needs::Needs;
use heap::{Fetched, HeapRel, HeapTuple, LockStrength, Wanted};
use index::{Access as IndexAccess, Direction, Limits, ScanKeys, Wants};
use plan::{Expr, RowLockWait, Statement};
use tuple::Datum;

use crate::nodes::TableHorizon;
use crate::recheck::{self, Newest};

/// Looks for rows of a table by a key.
pub struct KeyProbe {
    table: Arc<Table>,
    heap: Arc<HeapRel>,
    name: String,
    keys: Keys,
    scan: OpenScan,
    tuple: HeapTuple,
    counted: Counted,
    index_counted: Counted,
    /// None: what the lower layers ask a statement for is nothing that a probe has.
    statement: Arc<Statement>,
    needs: Needs,
    state: State,
}

/// The keys of an index.
struct Keys {
    index: OpenIndex,
    /// Its columns, as the table numbers them.
    columns: Box<[i16]>,
    /// Which value of a key each of them has.
    order: Box<[usize]>,
}

impl Keys {
    /// Whether a row of the table has this key.
    fn are_of(&self, row: &[Datum], key: &[Datum]) -> bool {
        let own: Vec<Datum> = self.columns.iter().map(|number| row[*number as usize - 1].clone()).collect();
        let asked: Vec<Datum> = self.order.iter().map(|n| key[*n].clone()).collect();
        self.index.compare_entries((&own, Tid::default()), (&asked, Tid::default())).is_eq()
    }
}

impl KeyProbe {
    /// For keys of these columns, whose values are of the columns' types, by an index of the table; none if that cannot be used by everybody, or does not compare
    /// as the columns do.
    pub fn new(table: &Arc<Table>, columns: &[i16], index: Oid) -> SqlResult<Option<KeyProbe>> {
        let fits = |known: &catalog::Index| {
            let usable = known.unique && known.valid && known.serves && known.check_xmin.is_none();
            usable
                && known.oid == index
                && known.predicate.is_none()
                && known.including.is_empty()
                && known.excluders.is_empty()
                && known.keys.len() == columns.len()
                && known.keys.iter().zip(&known.collations).all(|(key, collation)| {
                    columns.contains(key) && table.columns[*key as usize - 1].collation == *collation
                })
        };
        let (Some(index), Some(heap)) = (table.indexes.iter().find(|known| fits(known)), &table.heap) else {
            return Ok(None);
        };
        let open = index.storage()?.clone();
        if !matches!(open, OpenIndex::Btree(_)) {
            return Ok(None);
        }
        let order =
            index.keys.iter().filter_map(|key| columns.iter().position(|column| column == key)).collect();
        let keys = ScanKeys { keys: Vec::new(), direction: Direction::Forward };
        Ok(Some(KeyProbe {
            heap: heap.clone(),
            scan: open.scan(keys, Wants::TIDS),
            name: index.name.clone(),
            keys: Keys { index: open, columns: index.keys.as_slice().into(), order },
            tuple: HeapTuple::new(),
            counted: Counted::new(table.oid),
            index_counted: Counted::new(index.oid),
            statement: Arc::new(Statement::of_expression(Expr::boolean(true))),
            needs: Needs::default(),
            state: State::of_cells(0),
            table: table.clone(),
        }))
    }

    /// Whether there is a row with this key, of values that are not NULL. It is locked then.
    pub fn lock(&mut self, env: &Env<'_>, key: &[Datum]) -> SqlResult<bool> {
        let horizon = TableHorizon::new(env.access.txns, self.heap.desc.kind);
        let access = IndexAccess {
            pool: env.access.pool,
            horizon: &horizon,
            xid: Xid::INVALID,
            limits: Limits::default(),
        };
        let order = &self.keys.order;
        let value = |column: usize| Ok::<_, base::SqlError>(key[order[column]].clone());
        let may_be_there = self.scan.rescan_equal(&access, order.len(), value)?;
        let found = if may_be_there { self.search(env, &access, key) } else { Ok(false) };
        self.scan.finish(&access);
        self.index_counted.scan.scans += self.scan.take_searches() as i64;
        let cx = Cx::new(env, &self.needs, &self.statement, &[], &mut self.state);
        cx.count_scan(&mut self.counted);
        cx.count_scan(&mut self.index_counted);
        found
    }

    fn search(&mut self, env: &Env<'_>, access: &IndexAccess<'_>, key: &[Datum]) -> SqlResult<bool> {
        let KeyProbe { table, heap, name, keys, scan, tuple, index_counted, .. } = self;
        let cx = &mut Cx::new(env, &self.needs, &self.statement, &[], &mut self.state);
        let rows = (table.oid, &**heap);
        loop {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            let found = scan.next(access).map_err(|e| e.into_sql(name, &table.name))?;
            let Some(tid) = found else { return Ok(false) };
            index_counted.scan.returned += 1;
            let fetched = cx.with_view(|access, view| heap::fetch(access, heap, view, tid, tuple));
            match fetched.map_err(eval::error::heap)? {
                Fetched::Invisible => continue,
                Fetched::AllDead => {
                    scan.kill_current();
                    continue;
                }
                Fetched::Visible => index_counted.scan.fetched += 1,
            }
            let Some(seen) = tuple.get().map(|tuple| tuple.tid) else { continue };
            let (strength, wait) = (LockStrength::KeyShare, RowLockWait::Block);
            let Newest::Locked(at) = recheck::lock_row(rows, (seen, Wanted::Seen), strength, wait, cx)?
            else {
                continue;
            };
            // Its key may have been changed, and changed back.
            let mut row = Vec::new();
            if at == seen
                || recheck::read_version(heap, table.oid, at, tuple, &mut row, cx)? && keys.are_of(&row, key)
            {
                return Ok(true);
            }
        }
    }
}
