//! WITH RECURSIVE: the first term's rows, then the second term over the previous step's rows until there are none.

use base::SqlResult;
use plan::{ParamId, Plan};
use tuple::Datum;

use super::set::RowTable;
use super::{BoxNode, Builder, Node};
use crate::cx::Cx;

/// A recursive union.
pub fn build<'p>(
    builder: &mut Builder<'p>,
    initial: &'p Plan,
    recursive: &'p Plan,
    table: usize,
    distinct: bool,
) -> SqlResult<BoxNode> {
    let cell = builder.statement.work_tables[table];
    let seen = if distinct { Some(RowTable::new(builder, initial)?) } else { None };
    let (initial, recursive) = (builder.build(initial)?, builder.build(recursive)?);
    Ok(Box::new(RecursiveUnion {
        initial,
        recursive,
        table,
        cell,
        step: 0,
        seen,
        gathered: Vec::new(),
        in_initial: true,
        row: Vec::new(),
    }))
}

struct RecursiveUnion {
    initial: BoxNode,
    recursive: BoxNode,
    table: usize,
    /// Stands for the work table in what its readers depend on.
    cell: ParamId,
    /// Steps made, over rescans too: the value of the cell.
    step: i64,
    /// Rows given so far, for UNION without ALL.
    seen: Option<RowTable<()>>,
    gathered: Vec<Vec<Datum>>,
    in_initial: bool,
    row: Vec<Datum>,
}

impl Node for RecursiveUnion {
    fn next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        loop {
            runtime::check_interrupts().map_err(crate::error::interrupted)?;
            let term = if self.in_initial { &mut self.initial } else { &mut self.recursive };
            if term.next(cx)? {
                if let Some(seen) = &mut self.seen
                    && !seen.entry(term.row()).1
                {
                    continue;
                }
                let row = term.row().to_vec();
                self.gathered.push(row.clone());
                self.row = row;
                return Ok(true);
            }
            if self.gathered.is_empty() {
                return Ok(false);
            }
            let gathered = &self.gathered;
            cx.tell(|before| super::stored(before, gathered));
            cx.work_tables[self.table] = std::mem::take(&mut self.gathered);
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
        cx.work_tables[self.table].clear();
        self.initial.rescan(cx, changed)?;
        if changed.is_empty() {
            return self.recursive.rescan(cx, changed);
        }
        let changed: Vec<ParamId> = changed.iter().copied().chain([self.cell]).collect();
        self.recursive.rescan(cx, &changed)
    }

    fn close(&mut self, cx: &mut Cx<'_>) {
        self.gathered = Vec::new();
        cx.work_tables[self.table] = Vec::new();
        self.initial.close(cx);
        self.recursive.close(cx);
    }
}
