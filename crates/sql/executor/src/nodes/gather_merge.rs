//! Rows of a part of the plan in order: each participant sorts its own, and the leader merges what they have sorted ([`super::gather`]). The rows
//! stay where the sorts have left them, in memory or in temporary files.
//!
//! # PostgreSQL counterpart and differences
//! `nodeGatherMerge.c`. Rows are merged once all participants have sorted theirs.

use base::{SqlError, SqlResult};
use eval::cx::Cx;
use plan::{ParamId, Plan, SortKey};
use tuple::Datum;

use super::counting::measure;
use super::gather::{Part, together};
use super::sort::{self, Sort, Sorter};
use super::{BoxNode, Builder, Node};

/// The node of the plan `gather`, whose child is the sort `plan`.
pub(super) fn build<'p>(
    builder: &mut Builder<'p>,
    gather: &'p Plan,
    plan: &'p Plan,
    workers: u32,
) -> SqlResult<BoxNode> {
    let (child, keys) = taken_apart(plan)?;
    let number = builder.count();
    let mut part = Part::new(builder, gather, workers)?;
    let sort = sort::node(builder, child, keys)?;
    part.scans = builder.scans;
    Ok(Box::new(GatherMerge { sort, number, part, sources: Vec::new(), heap: Vec::new(), started: false }))
}

fn taken_apart(plan: &Plan) -> SqlResult<(&Plan, &[SortKey])> {
    match &plan.node {
        plan::Node::Sort { child, keys } => Ok((child, keys)),
        _ => Err(SqlError::internal("a merging of what is not sorted")),
    }
}

struct GatherMerge {
    sort: Sort,
    /// The sort's among the nodes.
    number: usize,
    part: Part,
    /// What the participants have sorted.
    sources: Vec<Sorter>,
    /// Those that are at a row, as a heap: none comes before the one at half its place.
    heap: Vec<usize>,
    started: bool,
}

/// What one participant has sorted.
fn sorted(sort: &mut Sort, number: usize, cx: &mut Cx<'_>) -> SqlResult<Sorter> {
    let before = cx.state.counters.as_ref().map_or(0, |counters| counters[number].total);
    let (sorter, counters) = measure(cx, number, |cx| sort.sorted(cx));
    let sorter = sorter?;
    if let Some(counters) = counters {
        counters.startup += counters.total - before;
        counters.rows += sorter.len() as f64;
        counters.loops += 1.0;
    }
    Ok(sorter)
}

impl GatherMerge {
    fn start(&mut self, cx: &mut Cx<'_>) -> SqlResult<()> {
        let GatherMerge { sort, number, part, .. } = self;
        let (number, bound) = (*number, sort.bound);
        let found = together(
            part,
            cx,
            |cx| {
                sort.child.rescan(cx, &[])?;
                sorted(sort, number, cx)
            },
            &|builder, (_, plan), cx| {
                let (child, keys) = taken_apart(plan)?;
                let mut sort = sort::node(builder, child, keys)?;
                sort.bound = bound;
                let sorter = sorted(&mut sort, number, cx);
                sort.child.close(cx);
                sorter
            },
        )?;
        self.sources = match found {
            Some(sources) => sources,
            None => {
                self.sort.child.rescan(cx, &[])?;
                vec![sorted(&mut self.sort, number, cx)?]
            }
        };
        self.heap.clear();
        for (source, sorter) in self.sources.iter_mut().enumerate() {
            if sorter.next(&self.sort.keyed.keys)? {
                self.heap.push(source);
            }
        }
        for at in (0..self.heap.len() / 2).rev() {
            self.sink(at);
        }
        self.started = true;
        Ok(())
    }

    /// Whether the row of source `a` comes before that of `b`.
    fn before(&self, a: usize, b: usize) -> bool {
        self.sources[a].compare(&self.sources[b], &self.sort.keyed.keys).is_lt()
    }

    /// Moves the source at `at` down to its place.
    fn sink(&mut self, mut at: usize) {
        loop {
            let mut first = at;
            for below in [2 * at + 1, 2 * at + 2] {
                if below < self.heap.len() && self.before(self.heap[below], self.heap[first]) {
                    first = below;
                }
            }
            if first == at {
                return;
            }
            self.heap.swap(at, first);
            at = first;
        }
    }

    fn forget(&mut self) {
        self.started = false;
        self.sources.clear();
        self.heap.clear();
    }
}

impl Node for GatherMerge {
    fn next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        if !self.started {
            self.start(cx)?;
            return Ok(!self.heap.is_empty());
        }
        runtime::check_interrupts().map_err(eval::error::interrupted)?;
        let Some(&first) = self.heap.first() else { return Ok(false) };
        if !self.sources[first].next(&self.sort.keyed.keys)? {
            self.heap.swap_remove(0);
        }
        self.sink(0);
        Ok(!self.heap.is_empty())
    }

    fn row(&self) -> &[Datum] {
        &self.sources[self.heap[0]].row()[..self.sort.keyed.width]
    }

    fn bound(&mut self, rows: Option<usize>) {
        self.sort.bound = rows;
    }

    fn rescan(&mut self, cx: &mut Cx<'_>, changed: &[ParamId]) -> SqlResult<()> {
        self.forget();
        self.sort.child.rescan(cx, changed)
    }

    fn close(&mut self, cx: &mut Cx<'_>) {
        self.forget();
        self.sort.child.close(cx);
    }
}
