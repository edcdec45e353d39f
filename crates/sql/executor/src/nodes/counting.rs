//! What EXPLAIN ANALYZE measures of each node.

use base::{SqlError, SqlResult};
use eval::cx::{Counters, Cx};
use eval::node::Batched;
use plan::ParamId;
use runtime::usage::Usage;
use tuple::Datum;

use super::{BoxNode, Node, Origin};

/// Counts rows, runs, time and what a node uses.
pub struct Counting {
    node: BoxNode,
    number: usize,
    running: bool,
}

impl Counting {
    /// Around a node.
    pub fn new(node: BoxNode, number: usize) -> Counting {
        Counting { node, number, running: false }
    }

    /// Calls the node, as the running one, and adds what it took.
    fn measured<T>(
        &mut self,
        cx: &mut Cx<'_>,
        work: impl FnOnce(&mut BoxNode, &mut Cx<'_>) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let node = &mut self.node;
        let (result, counters) = measure(cx, self.number, |cx| work(node, cx));
        if counters.is_none() {
            return Err(SqlError::internal("a counted plan runs without counters"));
        }
        result
    }

    fn end_run(&mut self, cx: &mut Cx<'_>) {
        if std::mem::take(&mut self.running)
            && let Some(counters) = counters_of(cx, self.number)
        {
            counters.loops += 1.0;
        }
    }
}

fn counters_of<'a>(cx: &'a mut Cx<'_>, number: usize) -> Option<&'a mut Counters> {
    cx.state.counters.as_mut().and_then(|all| all.get_mut(number))
}

/// Does a node's work, and adds time and usage to its counters.
pub fn measure<'a, 's, T>(
    cx: &'a mut Cx<'s>,
    number: usize,
    work: impl FnOnce(&mut Cx<'s>) -> T,
) -> (T, Option<&'a mut Counters>) {
    let outer = std::mem::replace(&mut cx.node, number);
    let before = Usage::so_far();
    let start = cx.state.timing.then(runtime::now);
    let result = work(cx);
    let spent = start.map_or(0, |start| runtime::now().0.saturating_sub(start.0));
    let usage = Usage::so_far() - before;
    cx.node = outer;
    let counters = counters_of(cx, number);
    match counters {
        Some(counters) => {
            counters.total += spent;
            counters.usage += usage;
            (result, Some(counters))
        }
        None => (result, None),
    }
}

impl Node for Counting {
    fn next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        let first = !std::mem::replace(&mut self.running, true);
        let before = counters_of(cx, self.number).map_or(0, |c| c.total);
        let more = self.measured(cx, |node, cx| node.next(cx))?;
        if let Some(counters) = counters_of(cx, self.number) {
            if first {
                counters.startup += counters.total - before;
            }
            if more {
                counters.rows += 1.0;
            }
        }
        if !more {
            self.end_run(cx);
        }
        Ok(more)
    }

    fn row(&self) -> &[Datum] {
        self.node.row()
    }

    fn skip(&mut self, cx: &mut Cx<'_>) -> SqlResult<usize> {
        let passed = self.measured(cx, |node, cx| node.skip(cx))?;
        if let Some(counters) = counters_of(cx, self.number) {
            counters.rows += passed as f64;
        }
        Ok(passed)
    }

    fn batch(&mut self, cx: &mut Cx<'_>) -> SqlResult<Batched<'_>> {
        let first = !std::mem::replace(&mut self.running, true);
        let number = self.number;
        let before = counters_of(cx, number).map_or(0, |c| c.total);
        let (result, counters) = measure(cx, number, |cx| self.node.batch(cx));
        let Some(counters) = counters else {
            return Err(SqlError::internal("a counted plan runs without counters"));
        };
        let batched = result?;
        if first {
            counters.startup += counters.total - before;
        }
        match &batched {
            Batched::Rows(batch) => {
                counters.rows += batch.rows.len() as f64;
                counters.detail = counters.detail.one_more_batch();
            }
            Batched::NotNow => {}
            Batched::End => {
                counters.loops += 1.0;
                self.running = false;
            }
        }
        Ok(batched)
    }

    fn append(&mut self, cx: &mut Cx<'_>, out: &mut Vec<Datum>) -> SqlResult<()> {
        let before = out.len();
        self.measured(cx, |node, cx| node.append(cx, out))?;
        if let Some(counters) = counters_of(cx, self.number) {
            counters.rows += (out.len() - before) as f64;
        }
        Ok(())
    }

    fn bound(&mut self, rows: Option<usize>) {
        self.node.bound(rows);
    }

    fn is_locked(&self) -> bool {
        self.node.is_locked()
    }

    fn origins(&self, found: &mut Vec<Origin>) {
        self.node.origins(found);
    }

    fn rescan(&mut self, cx: &mut Cx<'_>, changed: &[ParamId]) -> SqlResult<()> {
        self.end_run(cx);
        self.measured(cx, |node, cx| node.rescan(cx, changed))
    }

    fn close(&mut self, cx: &mut Cx<'_>) {
        self.end_run(cx);
        let closed = self.measured(cx, |node, cx| {
            node.close(cx);
            Ok(())
        });
        debug_assert!(closed.is_ok());
    }
}
