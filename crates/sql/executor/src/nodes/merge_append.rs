//! Rows of several sorted children merged into one order.

use std::cmp::Ordering;

use base::SqlResult;
use eval::compile::Inputs;
use eval::cx::Cx;
use plan::{ParamId, Plan, SortKey};
use tuple::Datum;

use super::simple::Live;
use super::sort::{Key, compare_rows, keys};
use super::{BoxNode, Builder, Node};

/// A merging node; `plan` is its own, whose columns are those of the children by position.
pub fn build<'p>(
    builder: &mut Builder<'p>,
    plan: &Plan,
    children: &'p [Plan],
    order: &[SortKey],
    tree: Option<&plan::Tree>,
) -> SqlResult<BoxNode> {
    let keys = keys(builder, order, Inputs::one(&plan.output))?;
    let children = children.iter().map(|c| builder.build(c)).collect::<SqlResult<Vec<_>>>()?;
    let live = Live::new(builder, children.len(), tree)?;
    Ok(Box::new(MergeAppend { children, keys, heap: Vec::new(), started: false, live }))
}

struct MergeAppend {
    children: Vec<BoxNode>,
    keys: Box<[Key]>,
    /// Children that have a row, as a heap: no child's row comes before that of the one at half its place.
    heap: Vec<usize>,
    started: bool,
    live: Live,
}

impl MergeAppend {
    /// Whether the row of child `a` comes before that of `b`; the earlier child first among equals.
    fn before(&self, a: usize, b: usize, cx: &mut Cx<'_>) -> SqlResult<bool> {
        let order = compare_rows(&self.keys, self.children[a].row(), self.children[b].row(), cx)?;
        Ok(order.then_with(|| a.cmp(&b)) == Ordering::Less)
    }

    /// Moves the child at `at` down to its place.
    fn sink(&mut self, mut at: usize, cx: &mut Cx<'_>) -> SqlResult<()> {
        loop {
            let mut first = at;
            for below in [2 * at + 1, 2 * at + 2] {
                if below < self.heap.len() && self.before(self.heap[below], self.heap[first], cx)? {
                    first = below;
                }
            }
            if first == at {
                return Ok(());
            }
            self.heap.swap(at, first);
            at = first;
        }
    }

    fn start(&mut self, cx: &mut Cx<'_>) -> SqlResult<()> {
        self.heap.clear();
        self.live.choose(cx)?;
        for (i, child) in self.children.iter_mut().enumerate() {
            if self.live.is_live(i) && child.next(cx)? {
                self.heap.push(i);
            }
        }
        for at in (0..self.heap.len() / 2).rev() {
            self.sink(at, cx)?;
        }
        self.started = true;
        Ok(())
    }
}

impl Node for MergeAppend {
    fn next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        if !self.started {
            self.start(cx)?;
            return Ok(!self.heap.is_empty());
        }
        let Some(&first) = self.heap.first() else { return Ok(false) };
        if !self.children[first].next(cx)? {
            self.heap.swap_remove(0);
        }
        self.sink(0, cx)?;
        Ok(!self.heap.is_empty())
    }

    fn row(&self) -> &[Datum] {
        self.children[self.heap[0]].row()
    }

    fn bound(&mut self, rows: Option<usize>) {
        self.children.iter_mut().for_each(|c| c.bound(rows));
    }

    fn rescan(&mut self, cx: &mut Cx<'_>, changed: &[ParamId]) -> SqlResult<()> {
        self.started = false;
        self.live.forget();
        self.children.iter_mut().try_for_each(|c| c.rescan(cx, changed))
    }

    fn close(&mut self, cx: &mut Cx<'_>) {
        self.started = false;
        self.heap.clear();
        self.children.iter_mut().for_each(|c| c.close(cx));
    }
}
