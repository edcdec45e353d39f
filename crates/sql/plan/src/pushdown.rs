//! Conditions moved to where they keep rows away earlier: from HAVING to WHERE, and from a query into the subqueries in its FROM that were
//! not merged with it. What cannot go below window functions may still end their computation (`Block::run`).
//!
//! # Invariants
//! 1. What is moved says the same of all rows that become one (a group, rows that DISTINCT or a set operation finds equal), or of all rows that
//!    see each other (a window's partition). So nothing volatile is moved, and nothing below a comparison by a collation in which different
//!    texts are equal.
//! 2. Below a view with `security_barrier` come only functions that tell nothing of what they are given.
//!
//! # PostgreSQL counterpart and differences
//! `subquery_push_qual` and what decides about it in `allpaths.c`. Columns that are brought to a common type by a set operation are no
//! obstacle.

use base::Oid;
use types::Imp;
use types::registry::WindowFn;

use crate::expr::{Call, CallForm, Expr, OperatorRef, RelId, WindowCall};
use crate::function::Function;
use crate::level::Level;
use crate::logical::{Block, SetOperation, SetTree, Source};
use crate::placeholder::Merged;
use crate::plan::{FrameBound, FrameExclude, FrameMode};
use crate::planner::Planner;
use crate::relset::RelSet;
use crate::security::is_leakproof;

/// `count(any)` and `count(*)`.
const COUNTS: [Oid; 2] = [Oid(2147), Oid(2803)];

impl Planner<'_> {
    /// Conditions of HAVING without aggregates decide about whole groups: before the rows are grouped they cost less.
    pub(crate) fn lower_having(&mut self, block: &mut Block) {
        // Where a grouping set does not have a key, the key is NULL, whatever the rows have.
        let nulled = |key: usize| block.grouping_sets.iter().any(|set| !set.contains(&key));
        let nulled: Vec<&Expr> =
            block.group.iter().enumerate().filter(|(i, _)| nulled(*i)).map(|(_, key)| key).collect();
        // Without rows there is a group nevertheless.
        let always = block.group.is_empty() || block.grouping_sets.iter().any(|set| set.is_empty());
        for qual in std::mem::take(&mut block.having) {
            let loose = |key: &Expr| self.equals_differ(key) && qual.any(&mut |e| e == key);
            if qual.has_aggregates()
                || qual.is_volatile()
                || qual.has_subplans()
                || block.group.iter().any(loose)
                || qual.any(&mut |e| matches!(e, Expr::Grouping(_)) || nulled.contains(&e))
            {
                block.having.push(qual);
                continue;
            }
            if always {
                block.having.push(qual.clone());
            }
            block.quals.push(qual);
        }
    }

    /// Hands the conditions on a subquery alone down to it.
    pub(crate) fn push_down(&mut self, rel: RelId, level: &mut Level) {
        let Source::Subquery(inner) = &mut self.sources[rel] else { return };
        let filters = level.filters_of(rel);
        if filters.is_empty() {
            return;
        }
        let mut inner = std::mem::take(&mut **inner);
        for filter in filters {
            let movable = !filter.is_volatile() && !filter.has_subplans() && !filter.returns_set();
            if movable && self.takes(&inner, rel, &filter) {
                take(&mut inner, rel, &filter);
                level.pushed.push((rel, filter));
            } else if movable && let Some((condition, whole)) = run_condition(&inner, rel, &filter) {
                let condition = put_in(&inner, rel, &condition);
                inner.run.push(condition);
                if whole {
                    level.pushed.push((rel, filter));
                }
            }
        }
        self.sources[rel] = Source::Subquery(Box::new(inner));
    }

    /// Whether a condition on a query's result may be checked inside it.
    fn takes(&self, block: &Block, rel: RelId, qual: &Expr) -> bool {
        let whole = block.limit.is_none() && block.offset.is_none() && block.modify.is_none();
        if !whole || (block.barrier && !is_leakproof(qual)) {
            return false;
        }
        let targets: Vec<&Expr> = block.targets.iter().filter(|t| !t.junk).map(|t| &t.expr).collect();
        let fits = |number: i16| {
            let column = usize::try_from(number).ok().filter(|n| *n > 0).and_then(|n| targets.get(n - 1));
            column.is_some_and(|column| self.is_plain_column(block, column))
        };
        if qual.any(&mut |e| matches!(e, Expr::Var(var) if var.rel == rel && !fits(var.column))) {
            return false;
        }
        match &block.set {
            Some((set, tree)) => self.tree_takes(tree, *set, &put_in(block, rel, qual)),
            None => true,
        }
    }

    fn tree_takes(&self, tree: &SetTree, rel: RelId, qual: &Expr) -> bool {
        let loose = |qual: &Expr| qual.any(&mut |e| matches!(e, Expr::Var(_)) && self.equals_differ(e));
        match tree {
            SetTree::Leaf(block) => self.takes(block, rel, qual),
            SetTree::Op { op: SetOperation::Except, .. } | SetTree::Recursive { .. } => false,
            SetTree::Op { op, all, left, right } => {
                let alike = *op == SetOperation::Union && *all;
                (alike || !loose(qual))
                    && self.tree_takes(left, rel, qual)
                    && self.tree_takes(right, rel, qual)
            }
            SetTree::Converted { input, exprs, .. } => {
                !exprs.iter().any(Expr::is_volatile)
                    && self.tree_takes(input, rel, &convert(qual, rel, exprs.clone()))
            }
        }
    }

    /// Whether conditions on a result column may be put below what the query does with its rows.
    fn is_plain_column(&self, block: &Block, column: &Expr) -> bool {
        let compared = !block.distinct.is_empty() || !block.windows.is_empty() || !block.group.is_empty();
        !column.is_volatile()
            && !column.returns_set()
            && !column.has_subplans()
            && !column.has_windows()
            && block.windows.iter().all(|window| window.partition.contains(column))
            && (!block.distinct_on || block.distinct.contains(column))
            && !(compared && self.equals_differ(column))
    }

    /// Whether values that are equal may be told apart by comparing their bytes.
    fn equals_differ(&self, value: &Expr) -> bool {
        let collation = value.collation();
        let collated = types::comparator::is_collatable(self.types.comparable(value.type_oid()));
        collated && self.types.rules(collation).is_ok_and(|rules| !rules.is_deterministic())
    }
}

/// How the values of a window function go on from one row of a partition to the next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Course {
    Up,
    Down,
    Same,
}

impl Course {
    fn of(block: &Block, call: &WindowCall) -> Option<Course> {
        use WindowFn as F;
        let frame = &block.windows.get(call.window)?.frame;
        match call.function.imp() {
            Some(Imp::Window(
                F::RowNumber | F::Rank | F::DenseRank | F::PercentRank | F::CumeDist | F::Ntile,
            )) => Some(Course::Up),
            _ if !COUNTS.contains(&call.function.oid()) || frame.exclude != FrameExclude::Nothing => None,
            _ => match (&frame.start, &frame.end) {
                _ if block.windows[call.window].order.is_empty() && frame.mode != FrameMode::Rows => {
                    Some(Course::Same)
                }
                (FrameBound::UnboundedPreceding, FrameBound::UnboundedFollowing) => Some(Course::Same),
                (FrameBound::UnboundedPreceding, _) => Some(Course::Up),
                (_, FrameBound::UnboundedFollowing) => Some(Course::Down),
                _ => None,
            },
        }
    }
}

/// A condition that window functions of a query need not be computed beyond, of one on their values; and whether it says all of that.
fn run_condition(block: &Block, rel: RelId, qual: &Expr) -> Option<(Expr, bool)> {
    let plain = block.set.is_none()
        && block.limit.is_none()
        && block.offset.is_none()
        && block.modify.is_none()
        && !block.distinct_on
        && !block.targets.iter().any(|t| t.expr.returns_set());
    if !plain || (block.barrier && !is_leakproof(qual)) {
        return None;
    }
    let Expr::Call(call) = qual else { return None };
    let (CallForm::Operator(operator), [left, right]) = (&call.form, call.args.as_slice()) else {
        return None;
    };
    let (column, fixed, swapped) = match (left, right) {
        (Expr::Var(var), fixed) if var.rel == rel => (var.column, fixed, false),
        (fixed, Expr::Var(var)) if var.rel == rel => (var.column, fixed, true),
        _ => return None,
    };
    if !RelSet::of(fixed).is_empty() {
        return None;
    }
    let mut targets = block.targets.iter().filter(|t| !t.junk);
    let Expr::Window(window) = &targets.nth(usize::try_from(column).ok()?.checked_sub(1)?)?.expr else {
        return None;
    };
    // What differs from one look to the next may go back; and who counts calls sees that some are missing.
    if window.args.iter().chain(&window.filter).any(|e| e.is_volatile() || e.has_subplans()) {
        return None;
    }
    let course = Course::of(block, window)?;
    let known = types::registry::operator(operator.oid)?;
    let falls = |course: Course| if swapped { course == Course::Down } else { course == Course::Up };
    let rises = |course: Course| if swapped { course == Course::Up } else { course == Course::Down };
    match known.name {
        "<" | "<=" | ">" | ">=" | "=" if course == Course::Same => Some((qual.clone(), true)),
        "<" | "<=" if falls(course) => Some((qual.clone(), true)),
        ">" | ">=" if rises(course) => Some((qual.clone(), true)),
        "=" => {
            let name = if falls(course) { "<=" } else { ">=" };
            let loose = types::registry::operator_between(name, known.left, known.right)?;
            let condition = Expr::Call(Box::new(Call {
                function: Function::Builtin(types::registry::function(loose.function)?),
                form: CallForm::Operator(OperatorRef::built_in(loose)),
                ..(**call).clone()
            }));
            Some((condition, false))
        }
        _ => None,
    }
}

/// The condition on a query's result as one on what computes it.
fn put_in(block: &Block, rel: RelId, qual: &Expr) -> Expr {
    let targets = block.targets.iter().filter(|t| !t.junk).map(|t| t.expr.clone()).collect();
    convert(qual, rel, targets)
}

fn convert(qual: &Expr, rel: RelId, targets: Vec<Expr>) -> Expr {
    let columns = Merged { rel, targets, row: None, written: Vec::new() };
    let mut qual = qual.clone();
    columns.put_in(&mut qual, false);
    qual
}

fn take(block: &mut Block, rel: RelId, qual: &Expr) {
    let qual = put_in(block, rel, qual);
    match &mut block.set {
        Some((set, tree)) => tree_take(tree, *set, &qual),
        None if block.aggregated => block.having.push(qual),
        None => block.quals.push(qual),
    }
}

fn tree_take(tree: &mut SetTree, rel: RelId, qual: &Expr) {
    match tree {
        SetTree::Leaf(block) => take(block, rel, qual),
        SetTree::Op { left, right, .. } => {
            tree_take(left, rel, qual);
            tree_take(right, rel, qual);
        }
        SetTree::Converted { input, exprs, .. } => {
            let qual = convert(qual, rel, exprs.clone());
            tree_take(input, rel, &qual);
        }
        SetTree::Recursive { .. } => {}
    }
}
