//! WITH RECURSIVE: the first term's rows, then the second term over the previous step's rows until there are none.
//!
//! UNION without ALL must know all rows that it gave. Those that outgrow `work_mem` lie in a file; their hashes stay in memory, two
//! or three dozen bytes a row, so that a row is given, or known not to be new, at once.

use base::{SqlResult, sql_err};
use eval::cx::Cx;
use eval::row_store::{Place, RowStore};
use plan::{ParamId, Plan};
use rustc_hash::FxHashMap;
use tuple::Datum;

use super::{BoxNode, Builder, Node};
use crate::row_key::RowKey;

/// A recursive union.
pub fn build<'p>(
    builder: &mut Builder<'p>,
    initial: &'p Plan,
    recursive: &'p Plan,
    table: usize,
    distinct: bool,
) -> SqlResult<BoxNode> {
    let cell = builder.statement.work_tables[table];
    let seen = distinct.then(|| Seen::new(&builder.statement.types, &initial.output)).transpose()?;
    let (initial, recursive) = (builder.build(initial)?, builder.build(recursive)?);
    Ok(Box::new(RecursiveUnion {
        initial,
        recursive,
        table,
        cell,
        step: 0,
        seen,
        gathered: RowStore::default(),
        in_initial: true,
        row: Vec::new(),
    }))
}

/// No row.
const NONE: u64 = u64::MAX;

/// Rows given so far, for UNION without ALL.
struct Seen {
    key: RowKey,
    rows: RowStore,
    place: Place,
    /// The last row with a hash, by its number.
    last: FxHashMap<u64, u64>,
    /// For each row, the one before it with the same hash, or [`NONE`].
    before: Vec<u64>,
}

impl Seen {
    fn new(user: &plan::UserTypes, columns: &[plan::Expr]) -> SqlResult<Seen> {
        let none = |_| {
            sql_err!(FEATURE_NOT_SUPPORTED, "could not implement recursive UNION")
                .detail("All column datatypes must be hashable.")
        };
        let key = RowKey::of(user, columns, none)?;
        let (rows, place) = (RowStore::default(), Place::default());
        Ok(Seen { key, rows, place, last: FxHashMap::default(), before: Vec::new() })
    }

    /// Whether the row is new.
    fn add(&mut self, row: &[Datum], cx: &Cx<'_>) -> SqlResult<bool> {
        let hash = self.key.hash(row);
        let newest = self.last.get(&hash).copied().unwrap_or(NONE);
        let mut at = newest;
        while at != NONE {
            if self.rows.get(&mut self.place, at)?.is_some_and(|known| self.key.same(known, row)) {
                return Ok(false);
            }
            at = self.before[at as usize];
        }
        self.last.insert(hash, self.rows.len());
        self.before.push(newest);
        self.rows.push(row.to_vec(), cx.env.hash_mem, cx.env.temp)?;
        Ok(true)
    }

    fn clear(&mut self) {
        self.rows.clear();
        (self.place, self.last, self.before) = (Place::default(), FxHashMap::default(), Vec::new());
    }
}

struct RecursiveUnion {
    initial: BoxNode,
    recursive: BoxNode,
    table: usize,
    /// Stands for the work table in what its readers depend on.
    cell: ParamId,
    /// Steps made, over rescans too: the value of the cell.
    step: i64,
    seen: Option<Seen>,
    /// The next step's work table.
    gathered: RowStore,
    in_initial: bool,
    row: Vec<Datum>,
}

impl Node for RecursiveUnion {
    fn next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        loop {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            let term = if self.in_initial { &mut self.initial } else { &mut self.recursive };
            if term.next(cx)? {
                let row = term.row().to_vec();
                if let Some(seen) = &mut self.seen
                    && !seen.add(&row, cx)?
                {
                    continue;
                }
                self.gathered.push(row.clone(), cx.env.work_mem, cx.env.temp)?;
                self.row = row;
                return Ok(true);
            }
            if self.gathered.is_empty() {
                return Ok(false);
            }
            let gathered = &self.gathered;
            cx.tell(|before| super::stored(before, gathered));
            cx.state.work_tables[self.table] = std::mem::take(&mut self.gathered);
            self.in_initial = false;
            self.step += 1;
            cx.set(self.cell, Datum::Int8(self.step));
            self.recursive.rescan(cx, &[self.cell])?;
        }
    }

    fn row(&self) -> &[Datum] {
        &self.row
    }

    fn rescan(&mut self, cx: &mut Cx<'_>, changed: &[ParamId]) -> SqlResult<()> {
        self.in_initial = true;
        self.gathered.clear();
        if let Some(seen) = &mut self.seen {
            seen.clear();
        }
        cx.state.work_tables[self.table].clear();
        self.initial.rescan(cx, changed)?;
        if changed.is_empty() {
            return self.recursive.rescan(cx, changed);
        }
        let changed: Vec<ParamId> = changed.iter().copied().chain([self.cell]).collect();
        self.recursive.rescan(cx, &changed)
    }

    fn close(&mut self, cx: &mut Cx<'_>) {
        self.gathered.clear();
        if let Some(seen) = &mut self.seen {
            seen.clear();
        }
        cx.state.work_tables[self.table].clear();
        self.initial.close(cx);
        self.recursive.close(cx);
    }
}
