//! # What
//! Windows of a query level before it is planned: which are used, which frame is enough for them, in which order they are computed, and
//! how EXPLAIN calls them.
//!
//! # PostgreSQL counterpart
//! `optimize_window_clauses`, `select_active_windows` and `name_active_windows` of `optimizer/plan/planner.c`.

use std::cmp::Ordering;
use std::sync::Arc;

use types::Imp;
use types::registry::WindowFn;

use crate::create::add_unique;
use crate::expr::{Expr, SortKey, WindowCall};
use crate::logical::{Block, Window};
use crate::plan::{FrameBound, FrameExclude, FrameMode, WindowFrame};

/// Leaves the windows that are used, in the order in which they are computed. `calls`: those of the level.
pub(crate) fn settle(block: &mut Block, calls: &[WindowCall]) {
    if block.windows.is_empty() {
        return;
    }
    let keys = keys_in_order(block);
    // Where the calls of each window are computed.
    let mut place: Vec<usize> = (0..block.windows.len()).collect();
    for window in &mut block.windows {
        window.frame.offsets_mut().for_each(crate::fold::fold);
    }
    for at in 0..block.windows.len() {
        let own = || calls.iter().filter(|c| c.window == at);
        if own().next().is_none() || !own().all(needs_no_frame) || is_running(&block.windows[at].frame) {
            continue;
        }
        block.windows[at].frame = running();
        let same = |other: &usize| {
            let (a, b) = (&block.windows[at], &block.windows[*other]);
            *other != at
                && is_running(&b.frame)
                && a.partition == b.partition
                && a.order == b.order
                && calls.iter().any(|c| c.window == *other)
        };
        if let Some(other) = (0..block.windows.len()).find(same) {
            place.iter_mut().filter(|place| **place == at).for_each(|place| *place = other);
        }
    }
    let mut active: Vec<usize> =
        (0..block.windows.len()).filter(|w| calls.iter().any(|c| place[c.window] == *w)).collect();
    active.sort_by(|a, b| compare(&keys, &block.windows[*a], &block.windows[*b]));
    let windows = active.iter().map(|w| block.windows[*w].clone()).collect();
    block.windows = windows;
    name(&mut block.windows);
    let number = |call: &WindowCall| active.iter().position(|w| *w == place[call.window]).unwrap_or_default();
    block.for_upper_exprs_mut(&mut |expr| {
        expr.replace(&mut |e| match e {
            Expr::Window(call) => {
                Some(Expr::Window(Box::new(WindowCall { window: number(call), ..(**call).clone() })))
            }
            _ => None,
        });
    });
}

/// Calls the windows without a name `w1`, `w2` and so on.
fn name(windows: &mut [Window]) {
    let mut number = 0;
    for at in 0..windows.len() {
        while windows[at].name.is_empty() {
            number += 1;
            let name: Arc<str> = format!("w{number}").into();
            if windows.iter().all(|window| window.name != name) {
                windows[at].name = name;
            }
        }
    }
}

/// Whether a call gives the same whatever the frame is.
fn needs_no_frame(call: &WindowCall) -> bool {
    use WindowFn as F;
    matches!(
        call.function.imp(),
        Some(Imp::Window(F::RowNumber | F::Rank | F::DenseRank | F::PercentRank | F::CumeDist | F::Ntile))
    )
}

/// ROWS UNBOUNDED PRECEDING, which is the cheapest.
fn running() -> WindowFrame {
    WindowFrame {
        mode: FrameMode::Rows,
        start: FrameBound::UnboundedPreceding,
        end: FrameBound::CurrentRow,
        exclude: FrameExclude::Nothing,
        range: None,
    }
}

fn is_running(frame: &WindowFrame) -> bool {
    frame.mode == FrameMode::Rows
        && matches!(frame.start, FrameBound::UnboundedPreceding)
        && matches!(frame.end, FrameBound::CurrentRow)
        && frame.exclude == FrameExclude::Nothing
}

/// The expressions that a level sorts or groups by, in the order in which its clauses name them first.
fn keys_in_order(block: &Block) -> Vec<Expr> {
    let mut keys = Vec::new();
    block.sort.iter().for_each(|k| add_unique(&mut keys, k.expr.clone()));
    block.group.iter().for_each(|e| add_unique(&mut keys, e.clone()));
    block.distinct.iter().for_each(|e| add_unique(&mut keys, e.clone()));
    for window in &block.windows {
        window.order.iter().for_each(|k| add_unique(&mut keys, k.expr.clone()));
        window.partition.iter().for_each(|e| add_unique(&mut keys, e.clone()));
    }
    keys
}

/// Windows with a common beginning stand together, the one that sorts by most before the others: those need no sort of their own.
fn compare(keys: &[Expr], a: &Window, b: &Window) -> Ordering {
    let sorts = |window: &Window| -> Vec<(usize, bool, bool)> {
        let place = |e: &Expr| keys.iter().position(|k| k == e).unwrap_or_default();
        let partition = window.partition.iter().map(|e| (place(e), false, false));
        let order = window.order.iter().map(|k: &SortKey| (place(&k.expr), k.descending, k.nulls_first));
        partition.chain(order).collect()
    };
    let (a, b) = (sorts(a), sorts(b));
    let differing = a.iter().zip(&b).map(|(a, b)| b.cmp(a)).find(|order| order.is_ne());
    differing.unwrap_or_else(|| b.len().cmp(&a.len()))
}
