//! Aggregates with ORDER BY or DISTINCT: which order of their input serves most of them, so that they need not sort the rows of each group.
//!
//! # PostgreSQL counterpart
//! `adjust_group_pathkeys_for_groupagg` of `optimizer/plan/planner.c`.

use crate::expr::{AggCall, SortKey};
use crate::level::{Level, plain_var};
use crate::path::shared_keys;
use crate::plan::SortKeys;
use crate::sorting::Wanted;

/// The order by `keys`, then by what serves most of the calls; of several such orders that of the first call.
pub(crate) fn order_for(calls: &[AggCall], keys: &[SortKey], level: &mut Level) -> Wanted {
    let mut open: Vec<Wanted> =
        calls.iter().filter(|call| may_be_served(call)).map(|call| order_of(call, keys, level)).collect();
    let (mut best, mut most) = (level.wanted(keys), 0);
    while let Some(first) = open.first() {
        let mut order = first.clone();
        let before = open.len();
        open.retain(|other| {
            let shared = shared_keys(&other.order, &order.order);
            let served = shared == other.order.len();
            let serves = shared == order.order.len();
            if serves {
                order = other.clone();
            }
            !served && !serves
        });
        if before - open.len() > most {
            (best, most) = (order, before - open.len());
        }
    }
    best
}

/// Notes which calls get their rows in the order they ask for.
pub(crate) fn note_served(calls: &mut [AggCall], keys: &[SortKey], order: &Wanted, level: &mut Level) {
    for call in calls.iter_mut().filter(|call| may_be_served(call)) {
        call.presorted = order_of(call, keys, level).is_met_by(&order.order);
    }
}

/// The order by `keys`, then by what a call asks for.
fn order_of(call: &AggCall, keys: &[SortKey], level: &mut Level) -> Wanted {
    let mut all = [keys, &call.order].concat();
    if call.distinct {
        all.extend(SortKeys::ascending(call.args.clone()).0);
    }
    level.wanted(&all)
}

/// Whether a call wants an order, and one that rows can have before they are grouped: computing it must have no effects, and below a FILTER it may not
/// even fail.
fn may_be_served(call: &AggCall) -> bool {
    let ordered = !call.within_group && (call.distinct || !call.order.is_empty());
    let mut exprs = call.args.iter().chain(call.order.iter().map(|key| &key.expr));
    ordered
        && exprs.all(|e| {
            let may = if call.filter.is_some() { plain_var(e).is_some() } else { !e.is_volatile() };
            may && !e.has_subplans()
        })
}
