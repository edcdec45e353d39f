//! INTERSECT and EXCEPT: the right side is counted in a table, the left side looks there.
//!
//! A table that outgrows `work_mem` takes no new rows: they go to files by hash, and so do the left side's rows whose counts may
//! be there. Each pair of files is processed afterwards in the same way.

use base::{SqlError, SqlResult};
use eval::cx::Cx;
use eval::spill::{Parts, SpillFile, SpillReader, row_bytes};
use plan::{ParamId, Plan, SetOpKind};
use rustc_hash::FxHashMap;
use tuple::Datum;

use super::{BoxNode, Builder, Node};
use crate::row_key::RowKey;

/// A set operation over two inputs with the same columns.
pub fn build<'p>(
    builder: &mut Builder<'p>,
    kind: SetOpKind,
    left: &'p Plan,
    right: &'p Plan,
) -> SqlResult<BoxNode> {
    let none = |t| SqlError::not_supported(format!("a set operation over type {t}"));
    let key = RowKey::of(&builder.statement.types, &left.output, none)?;
    let (left, right) = (builder.build(left)?, builder.build(right)?);
    let work = Work::default();
    Ok(Box::new(SetOp { kind, left, right, key, started: false, work, waiting: Vec::new(), row: Vec::new() }))
}

/// A row of the right side, or one that the left side gave.
struct Entry {
    row: Vec<Datum>,
    /// How often the right side has it.
    count: u64,
    /// The left side gave it.
    given: bool,
}

/// One pair of inputs.
#[derive(Default)]
struct Work {
    table: FxHashMap<u64, Vec<Entry>>,
    bytes: usize,
    right_parts: Parts,
    left_parts: Parts,
    /// Where the left rows come from; none for the node's own input.
    left: Option<SpillReader>,
    level: usize,
}

/// Spilled rows: of the left side, of the right side, and how often they were partitioned.
type Waiting = (SpillFile, Option<SpillFile>, usize);

struct SetOp {
    kind: SetOpKind,
    left: BoxNode,
    right: BoxNode,
    key: RowKey,
    started: bool,
    work: Work,
    waiting: Vec<Waiting>,
    row: Vec<Datum>,
}

impl Work {
    fn find(&mut self, key: &RowKey, hash: u64, row: &[Datum]) -> Option<&mut Entry> {
        self.table.get_mut(&hash)?.iter_mut().find(|entry| key.same(&entry.row, row))
    }

    fn insert(&mut self, hash: u64, entry: Entry) {
        self.bytes += row_bytes(&entry.row) + 64;
        self.table.entry(hash).or_default().push(entry);
    }

    /// Takes a row of the right side.
    fn count(&mut self, key: &RowKey, row: &[Datum], cx: &Cx<'_>) -> SqlResult<()> {
        runtime::check_interrupts().map_err(eval::error::interrupted)?;
        let hash = key.hash(row);
        if let Some(entry) = self.find(key, hash, row) {
            entry.count += 1;
        } else if self.bytes > cx.env.hash_mem {
            self.right_parts.write(Parts::part_of(hash, self.level), row, cx.env.temp)?;
        } else {
            self.insert(hash, Entry { row: row.to_vec(), count: 1, given: false });
        }
        Ok(())
    }

    /// Takes a row of the left side; whether it belongs to the result.
    fn gives(&mut self, kind: SetOpKind, key: &RowKey, row: &[Datum], cx: &Cx<'_>) -> SqlResult<bool> {
        let hash = key.hash(row);
        if let Some(Entry { count, given, .. }) = self.find(key, hash, row) {
            let give = match kind {
                SetOpKind::Intersect => *count > 0 && !*given,
                SetOpKind::Except => *count == 0 && !*given,
                SetOpKind::IntersectAll => *count > 0,
                SetOpKind::ExceptAll => *count == 0,
            };
            if matches!(kind, SetOpKind::IntersectAll | SetOpKind::ExceptAll) {
                *count = count.saturating_sub(1);
            }
            *given |= give;
            return Ok(give);
        }
        let part = Parts::part_of(hash, self.level);
        let full = self.bytes > cx.env.hash_mem;
        match kind {
            _ if self.right_parts.has(part) => {}
            SetOpKind::Intersect | SetOpKind::IntersectAll => return Ok(false),
            SetOpKind::ExceptAll => return Ok(true),
            SetOpKind::Except if full => {}
            SetOpKind::Except => {
                self.insert(hash, Entry { row: row.to_vec(), count: 0, given: true });
                return Ok(true);
            }
        }
        self.left_parts.write(part, row, cx.env.temp)?;
        Ok(false)
    }
}

impl SetOp {
    /// Counts the right side.
    fn start(&mut self, cx: &mut Cx<'_>) -> SqlResult<()> {
        self.started = true;
        while self.right.next(cx)? {
            self.work.count(&self.key, self.right.row(), cx)?;
        }
        Ok(())
    }

    /// The next left row into `row`.
    fn next_left(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        runtime::check_interrupts().map_err(eval::error::interrupted)?;
        if let Some(reader) = &mut self.work.left {
            return reader.next(&mut self.row);
        }
        let more = self.left.next(cx)?;
        if more {
            self.row.clear();
            self.row.extend_from_slice(self.left.row());
        }
        Ok(more)
    }

    /// Goes on with the rows that were spilled; false if there are none.
    fn next_work(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        let done = std::mem::take(&mut self.work);
        if !done.left_parts.is_empty() {
            let pairs = done.left_parts.finish()?.into_iter().zip(done.right_parts.finish()?);
            // Right rows alone give nothing.
            let pairs = pairs.filter_map(|(left, right)| Some((left?, right, done.level + 1)));
            self.waiting.extend(pairs);
        }
        let Some((left, right, level)) = self.waiting.pop() else { return Ok(false) };
        self.work = Work { left: Some(left.into_reader()?), level, ..Work::default() };
        let mut row = Vec::new();
        if let Some(right) = right {
            let mut reader = right.into_reader()?;
            while reader.next(&mut row)? {
                self.work.count(&self.key, &row, cx)?;
            }
        }
        Ok(true)
    }

    fn forget(&mut self) {
        (self.started, self.work, self.waiting) = (false, Work::default(), Vec::new());
    }
}

impl Node for SetOp {
    fn next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        if !self.started {
            self.start(cx)?;
        }
        loop {
            while self.next_left(cx)? {
                if self.work.gives(self.kind, &self.key, &self.row, cx)? {
                    return Ok(true);
                }
            }
            if !self.next_work(cx)? {
                return Ok(false);
            }
        }
    }

    fn row(&self) -> &[Datum] {
        &self.row
    }

    fn rescan(&mut self, cx: &mut Cx<'_>, changed: &[ParamId]) -> SqlResult<()> {
        self.forget();
        self.left.rescan(cx, changed)?;
        self.right.rescan(cx, changed)
    }

    fn close(&mut self, cx: &mut Cx<'_>) {
        self.forget();
        self.left.close(cx);
        self.right.close(cx);
    }
}
