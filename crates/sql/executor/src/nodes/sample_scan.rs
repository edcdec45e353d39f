//! TABLESAMPLE: which rows are drawn is a hash of their places, so that REPEATABLE finds the same ones as long as the table stays.
//!
//! PostgreSQL counterpart: `access/tablesample/bernoulli.c`, `system.c`.

use std::sync::Arc;

use base::{SqlResult, Tid, sql_err};
use counters::Counted;
use eval::code::{Code, Rows};
use eval::compile::Inputs;
use eval::cx::Cx;
use heap::{HeapRel, HeapScan};
use plan::{ParamId, Plan, RelId, Sample};
use tuple::Datum;
use types::{hashing, oids};

use super::row_reader::{RowReader, SelectiveReader};
use super::table_scan::{Parts, parts, recheck};
use super::{BoxNode, Builder, Node, Origin, Projection};

/// A scan of part of a table.
pub fn build(builder: &Builder<'_>, plan: &Plan, rel: RelId, sample: &Sample) -> SqlResult<BoxNode> {
    if builder.recheck.contains(&rel) {
        return recheck(builder, plan, rel, Vec::new());
    }
    let Parts { heap, raw, projection, table } = parts(builder, plan, rel, &[])?;
    let compiler = builder.compiler();
    let repeatable = sample.repeatable.as_ref().map(|e| compiler.expr(e, Inputs::default())).transpose()?;
    Ok(Box::new(SampleScan {
        reader: SelectiveReader::new(RowReader::new(heap.clone(), raw, table), plan, &[]),
        heap,
        projection,
        system: sample.system,
        percent: compiler.expr(&sample.percent, Inputs::default())?,
        repeatable,
        seed: None,
        scan: None,
        at: Tid::default(),
        values: Vec::new(),
        counted: Counted::new(table),
    }))
}

struct SampleScan {
    heap: Arc<HeapRel>,
    reader: SelectiveReader,
    projection: Projection,
    system: bool,
    percent: Code,
    repeatable: Option<Code>,
    /// What the draw begins with where nothing is said: the same for the whole run.
    seed: Option<u32>,
    scan: Option<(HeapScan, Draw)>,
    /// Place of the row last read.
    at: Tid,
    values: Vec<Datum>,
    /// Rows drawn are read; the scan itself is not one of all rows, and does not count as such.
    counted: Counted,
}

/// What is drawn: whatever hashes to less than `below`.
#[derive(Clone, Copy)]
struct Draw {
    seed: u32,
    below: u64,
}

impl Draw {
    fn takes(self, place: &[u32]) -> bool {
        let words = place.iter().chain(std::iter::once(&self.seed));
        let bytes: Vec<u8> = words.flat_map(|word| word.to_le_bytes()).collect();
        u64::from(hashing::hash_bytes(&bytes, 0) as u32) < self.below
    }
}

impl SampleScan {
    fn start(&mut self, cx: &mut Cx<'_>) -> SqlResult<(HeapScan, Draw)> {
        let Datum::Float4(percent) = self.percent.eval(Rows::one(&[]), cx)? else {
            return Err(sql_err!(INVALID_TABLESAMPLE_ARGUMENT, "TABLESAMPLE parameter cannot be null"));
        };
        let seed = match &self.repeatable {
            None => *self.seed.get_or_insert_with(|| runtime::random_u64() as u32),
            Some(code) => match code.eval(Rows::one(&[]), cx)? {
                Datum::Null => {
                    return Err(sql_err!(
                        INVALID_TABLESAMPLE_REPEAT,
                        "TABLESAMPLE REPEATABLE parameter cannot be null"
                    ));
                }
                value => hashing::hash32(oids::float8, &value) as u32,
            },
        };
        if !(0.0..=100.0).contains(&percent) {
            return Err(sql_err!(
                INVALID_TABLESAMPLE_ARGUMENT,
                "sample percentage must be between 0 and 100"
            ));
        }
        let below = ((f64::from(u32::MAX) + 1.0) * f64::from(percent) / 100.0).round_ties_even() as u64;
        cx.with_view(|_, view| heap::watch_scan(&self.heap, view.me));
        let scan = HeapScan::new(&cx.env.access, self.heap.clone(), None).map_err(eval::error::heap)?;
        Ok((scan, Draw { seed, below }))
    }

    fn end_scan(&mut self) {
        if let Some((scan, _)) = self.scan.take() {
            self.counted.scan.add_pages(scan.pages());
        }
    }
}

impl Node for SampleScan {
    fn next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        if self.scan.is_none() {
            self.scan = Some(self.start(cx)?);
        }
        let Some((scan, draw)) = &mut self.scan else { return Ok(false) };
        let (system, draw) = (self.system, *draw);
        loop {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            let chosen = |block: u32| !system || draw.takes(&[block]);
            let found = cx.with_view(|access, view| scan.next_of(access, view, chosen));
            let Some(tuple) = found.map_err(eval::error::heap)? else { return Ok(false) };
            self.at = tuple.tid;
            if !system && !draw.takes(&[self.at.block.0, u32::from(self.at.offset)]) {
                continue;
            }
            self.counted.scan.returned += 1;
            if self.reader.read(&tuple, (&[], Some(&self.projection)), cx, &mut self.values)? {
                self.projection.project(Rows::one(&self.values), cx)?;
                return Ok(true);
            }
        }
    }

    fn row(&self) -> &[Datum] {
        self.projection.row()
    }

    fn origins(&self, found: &mut Vec<Origin>) {
        found.push((self.reader.reader.table(), self.at));
    }

    fn rescan(&mut self, _cx: &mut Cx<'_>, _changed: &[ParamId]) -> SqlResult<()> {
        self.end_scan();
        Ok(())
    }

    fn close(&mut self, cx: &mut Cx<'_>) {
        self.end_scan();
        self.seed = None;
        cx.count_scan(&mut self.counted);
    }
}
