//! Estimates by what ANALYZE learnt of several columns together (`CREATE STATISTICS`): most common combinations, columns that decide others, numbers
//! of distinct combinations.
//!
//! # Invariants
//! 1. Nothing is looked at of relations without statistics objects.
//! 2. Each condition is counted once: by the list of an object, by dependencies, or by itself.
//!
//! # PostgreSQL counterpart
//! `statistics/extended_stats.c`, `dependencies.c`, `mcv.c`; `estimate_multivariate_ndistinct` of `utils/adt/selfuncs.c`.

use std::sync::Arc;

use base::Oid;
use catalog::{ColumnStatistics, ExtendedStatistics};
use tuple::Datum;
use types::Selectivity;
use types::extended_statistics::{Combination, CommonItem};

use crate::expr::{ArrayOp, Call, CallForm, Expr, RelId, Test, Var};
use crate::planner::Planner;
use crate::relset::RelSet;
use crate::selectivity::{self, Columns};

/// What is known of some columns and expressions of a relation together.
#[derive(Debug)]
pub struct Known {
    /// Columns, then expressions, as the numbers stand for.
    columns: Vec<(i16, Expr)>,
    /// How many of them are columns.
    keys: usize,
    stats: Arc<ExtendedStatistics>,
}

impl Known {
    fn place(&self, expr: &Expr) -> Option<usize> {
        self.columns.iter().position(|(_, column)| column == expr)
    }

    fn number(&self, expr: &Expr) -> Option<i16> {
        self.place(expr).map(|at| self.columns[at].0)
    }

    /// Statistics of one of the expressions.
    fn expression(&self, expr: &Expr) -> Option<Arc<ColumnStatistics>> {
        let at = self.place(expr)?.checked_sub(self.keys)?;
        self.stats.expressions.get(at)?.clone()
    }
}

/// Statistics of an expression, if an object has it.
pub(crate) fn expression_stats(columns: &dyn Columns, expr: &Expr) -> Option<Arc<ColumnStatistics>> {
    let expr = strip(expr);
    let rel = single(std::iter::once(expr))?;
    columns.extended(rel).iter().find_map(|known| known.expression(expr))
}

/// The one relation that all expressions are over.
fn single<'e>(mut exprs: impl Iterator<Item = &'e Expr>) -> Option<RelId> {
    let all = exprs.try_fold(RelSet::EMPTY, |set, expr| {
        let rels = RelSet::of(expr);
        (rels.len() == 1).then_some(set | rels)
    })?;
    if all.len() == 1 { all.iter().next() } else { None }
}

/// The same columns to somebody who knows no objects.
struct Separate<'c>(&'c dyn Columns);

impl Columns for Separate<'_> {
    fn rows(&self, var: &Var) -> f64 {
        self.0.rows(var)
    }

    fn stats(&self, var: &Var) -> Option<Arc<ColumnStatistics>> {
        self.0.stats(var)
    }

    fn is_unique(&self, var: &Var) -> bool {
        self.0.is_unique(var)
    }

    fn rules(&self, collation: Oid) -> Option<&'static collation::Rules> {
        self.0.rules(collation)
    }

    fn has_extended(&self) -> bool {
        false
    }

    fn extended(&self, _rel: RelId) -> &[Known] {
        &[]
    }

    fn rows_left(&self, rel: RelId) -> Option<f64> {
        self.0.rows_left(rel)
    }

    fn expression_stats(&self, expr: &Expr) -> Option<Arc<ColumnStatistics>> {
        self.0.expression_stats(expr)
    }
}

/// The share of rows that satisfy those of `quals` that objects know of together, which are marked in the result.
pub(crate) fn conjunction(columns: &dyn Columns, quals: &[Expr]) -> Option<(f64, Vec<bool>)> {
    let rel = single(quals.iter())?;
    let objects = columns.extended(rel);
    if objects.is_empty() {
        return None;
    }
    let mut done = vec![false; quals.len()];
    let mut share = 1.0;
    while let Some((known, covered)) = best(objects, quals, &done) {
        let clauses: Vec<&Expr> = covered.iter().map(|at| &quals[*at]).collect();
        let own: Vec<Expr> = clauses.iter().map(|clause| (*clause).clone()).collect();
        let simple = selectivity::conjunction(&Separate(columns), &own);
        let items = &known.stats.common.items;
        let matching = items.iter().filter(|item| clauses.iter().all(|clause| holds(known, item, clause)));
        let (mut common, mut base) = (0.0, 0.0);
        matching.for_each(|item| {
            common += item.share;
            base += item.base_share;
        });
        let total: f64 = items.iter().map(|item| item.share).sum();
        share *= combined(simple, common, base, total);
        covered.into_iter().for_each(|at| done[at] = true);
    }
    share *= dependent(columns, objects, quals, &mut done);
    done.contains(&true).then_some((share, done))
}

/// The share of rows that satisfy any of `quals`, if objects say more of it than each by itself.
pub(crate) fn disjunction(columns: &dyn Columns, quals: &[Expr]) -> Option<f64> {
    let rel = single(quals.iter())?;
    let objects = columns.extended(rel);
    let mut done = vec![false; quals.len()];
    let mut share = 0.0;
    while let Some((known, covered)) = best(objects, quals, &done) {
        let clauses: Vec<&Expr> = covered.iter().map(|at| &quals[*at]).collect();
        let part = any_of(columns, known, &clauses);
        share += part - share * part;
        covered.into_iter().for_each(|at| done[at] = true);
    }
    if !done.contains(&true) {
        return None;
    }
    for (qual, _) in quals.iter().zip(&done).filter(|(_, done)| !**done) {
        let one = selectivity::selectivity(columns, qual);
        share += one - share * one;
    }
    Some(share)
}

/// P(A or B) = P(A) + P(B) - P(A and B), one condition after the other.
fn any_of(columns: &dyn Columns, known: &Known, clauses: &[&Expr]) -> f64 {
    let items = &known.stats.common.items;
    let total: f64 = items.iter().map(|item| item.share).sum();
    let mut before = vec![false; items.len()];
    let (mut simple_all, mut share) = (0.0, 0.0_f64);
    for clause in clauses {
        let simple = selectivity::selectivity(&Separate(columns), clause);
        let simple_overlap = simple_all * simple;
        simple_all = (simple_all + simple - simple_overlap).clamp(0.0, 1.0);
        let (mut own, mut own_base, mut both, mut both_base) = (0.0, 0.0, 0.0, 0.0);
        for (item, before) in items.iter().zip(&mut before) {
            if !holds(known, item, clause) {
                continue;
            }
            own += item.share;
            own_base += item.base_share;
            if *before {
                both += item.share;
                both_base += item.base_share;
            }
            *before = true;
        }
        // Of one column its own statistics know more.
        let one = match used(known, clause).len() {
            1 => simple,
            _ => combined(simple, own, own_base, total),
        };
        let overlap = combined(simple_overlap, both, both_base, total);
        share = (share + one - overlap).clamp(0.0, 1.0);
    }
    share
}

/// What the list says of its combinations, and independence of the others.
fn combined(simple: f64, common: f64, base: f64, total: f64) -> f64 {
    let others = (simple - base).clamp(0.0, 1.0).min((1.0 - total).max(0.0));
    (common + others).clamp(0.0, 1.0)
}

/// The object whose list covers most columns of conditions that are not `done`, two at least, and the places of those that it covers.
fn best<'k>(objects: &'k [Known], quals: &[Expr], done: &[bool]) -> Option<(&'k Known, Vec<usize>)> {
    let mut best: Option<(usize, usize, &Known, Vec<usize>)> = None;
    for known in objects.iter().filter(|known| !known.stats.common.items.is_empty()) {
        let mut matched: Vec<usize> = Vec::new();
        let mut covered = Vec::new();
        for (at, qual) in quals.iter().enumerate().filter(|(at, _)| !done[*at]) {
            if is_compatible(known, qual) {
                collect_used(known, qual, &mut matched);
                covered.push(at);
            }
        }
        let (count, keys) = (matched.len(), known.columns.len());
        let better =
            best.as_ref().is_none_or(|(most, least, ..)| count > *most || count == *most && keys < *least);
        if count >= 2 && better {
            best = Some((count, keys, known, covered));
        }
    }
    best.map(|(_, _, known, covered)| (known, covered))
}

/// The columns of an object that a condition is about.
fn used(known: &Known, qual: &Expr) -> Vec<usize> {
    let mut out = Vec::new();
    collect_used(known, qual, &mut out);
    out
}

fn collect_used(known: &Known, expr: &Expr, out: &mut Vec<usize>) {
    match known.place(expr) {
        Some(at) if out.contains(&at) => {}
        Some(at) => out.push(at),
        None => expr.for_children(&mut |child| collect_used(known, child, out)),
    }
}

/// Whether the combinations of an object can be asked about a condition.
fn is_compatible(known: &Known, qual: &Expr) -> bool {
    let side = |a: &Expr, b: &Expr| known.place(strip(a)).is_some() && matches!(b, Expr::Const { .. });
    match qual {
        Expr::And(list) | Expr::Or(list) => list.iter().all(|qual| is_compatible(known, qual)),
        Expr::Not(arg) => is_compatible(known, arg),
        Expr::Test(Test::IsNull | Test::IsNotNull, arg) => known.place(strip(arg)).is_some(),
        Expr::Call(call) => match call.args.as_slice() {
            [a, b] => is_comparison(call) && (side(a, b) || side(b, a)),
            _ => false,
        },
        Expr::ArrayOp(op) => {
            side(&op.left, &op.array) || (known.place(strip(&op.left)).is_some() && constants(op).is_some())
        }
        Expr::Var(_) => known.place(qual).is_some(),
        _ => false,
    }
}

fn is_comparison(call: &Call) -> bool {
    use Selectivity as S;
    let CallForm::Operator(operator) = &call.form else { return false };
    matches!(
        operator.selectivity,
        S::Equal | S::NotEqual | S::Less | S::LessEqual | S::Greater | S::GreaterEqual
    )
}

/// Below casts that keep the value.
fn strip(expr: &Expr) -> &Expr {
    match expr {
        Expr::Relabel { arg, .. } => strip(arg),
        _ => expr,
    }
}

/// The elements of an array of constants.
pub(crate) fn constants(op: &ArrayOp) -> Option<Vec<Expr>> {
    let element = |value: Datum| Expr::Const { value, type_oid: op.element, typmod: -1 };
    match &op.array {
        Expr::Const { value: Datum::Bytes(bytes), .. } => {
            Some(types::array::Array::from_payload(bytes).into_elements().into_iter().map(element).collect())
        }
        Expr::Array { elements, nested: false, .. } => {
            elements.iter().all(|e| matches!(e, Expr::Const { .. })).then(|| elements.clone())
        }
        _ => None,
    }
}

/// Whether a condition holds for a combination.
fn holds(known: &Known, item: &CommonItem, qual: &Expr) -> bool {
    truth(known, item, qual) == Some(true)
}

/// The value of a condition for a combination; none if it is NULL, or nobody can say.
fn truth(known: &Known, item: &CommonItem, qual: &Expr) -> Option<bool> {
    match qual {
        Expr::And(list) => match list.iter().map(|qual| truth(known, item, qual)).collect::<Vec<_>>() {
            all if all.contains(&Some(false)) => Some(false),
            all if all.contains(&None) => None,
            _ => Some(true),
        },
        Expr::Or(list) => match list.iter().map(|qual| truth(known, item, qual)).collect::<Vec<_>>() {
            all if all.contains(&Some(true)) => Some(true),
            all if all.contains(&None) => None,
            _ => Some(false),
        },
        Expr::Not(arg) => truth(known, item, arg).map(|truth| !truth),
        Expr::ArrayOp(op) => {
            let one = |right: Expr| Expr::Call(Box::new(op.call_with(right)));
            let all: Vec<_> =
                constants(op)?.into_iter().map(|element| truth(known, item, &one(element))).collect();
            match all.contains(&Some(op.any)) {
                true => Some(op.any),
                false if all.contains(&None) => None,
                false => Some(!op.any),
            }
        }
        _ => {
            let mut expr = qual.clone();
            expr.replace(&mut |e| {
                let at = known.place(e)?;
                let (type_oid, typmod) = (e.type_oid(), -1);
                Some(Expr::Const { value: item.values.get(at)?.clone(), type_oid, typmod })
            });
            crate::fold::fold(&mut expr);
            match expr {
                Expr::Const { value: Datum::Bool(truth), .. } => Some(truth),
                _ => None,
            }
        }
    }
}

/// The column that a condition equates with a constant, as dependencies look at it.
fn equated<'e>(known: &Known, qual: &'e Expr) -> Option<&'e Expr> {
    let column = |expr: &'e Expr| Some(strip(expr)).filter(|expr| known.place(expr).is_some());
    let equality =
        |call: &Call| matches!(&call.form, CallForm::Operator(o) if o.selectivity == Selectivity::Equal);
    match qual {
        Expr::Call(call) if equality(call) => match call.args.as_slice() {
            [a, b] if b.is_fixed() => column(a),
            [a, b] if a.is_fixed() => column(b),
            _ => None,
        },
        Expr::ArrayOp(op)
            if op.any && op.operator.selectivity == Selectivity::Equal && op.array.is_fixed() =>
        {
            column(&op.left)
        }
        // All arms are about one column.
        Expr::Or(list) => {
            let first = equated(known, list.first()?)?;
            list.iter().all(|arm| equated(known, arm) == Some(first)).then_some(first)
        }
        Expr::Not(arg) => column(arg).filter(|arg| matches!(arg, Expr::Var(_))),
        Expr::Var(_) => column(qual),
        _ => None,
    }
}

/// The share of rows that satisfy conditions on columns of which some decide others. They are marked in `done`.
fn dependent(columns: &dyn Columns, objects: &[Known], quals: &[Expr], done: &mut [bool]) -> f64 {
    if objects.iter().all(|known| known.stats.dependencies.is_empty()) {
        return 1.0;
    }
    // Columns of conditions that dependencies can say something of, each once.
    let mut attributes: Vec<&Expr> = Vec::new();
    let mut of_qual: Vec<Option<usize>> = vec![None; quals.len()];
    for (at, qual) in quals.iter().enumerate().filter(|(at, _)| !done[*at]) {
        let Some(column) = objects.iter().find_map(|known| equated(known, qual)) else { continue };
        let place = attributes.iter().position(|known| *known == column).unwrap_or_else(|| {
            attributes.push(column);
            attributes.len() - 1
        });
        of_qual[at] = Some(place);
    }
    if attributes.len() < 2 {
        return 1.0;
    }
    let chosen = strongest(objects, &attributes);
    if chosen.is_empty() {
        return 1.0;
    }
    let mut shares: Vec<Option<f64>> = vec![None; attributes.len()];
    for place in chosen.iter().flat_map(|(places, _)| places) {
        if shares[*place].is_none() {
            let mine: Vec<usize> = (0..quals.len()).filter(|at| of_qual[*at] == Some(*place)).collect();
            let own: Vec<Expr> = mine.iter().map(|at| quals[*at].clone()).collect();
            shares[*place] = Some(selectivity::conjunction(&Separate(columns), &own));
            mine.into_iter().for_each(|at| done[at] = true);
        }
    }
    for (places, degree) in chosen.iter().rev() {
        let Some((implied, by)) = places.split_last() else { continue };
        let by: f64 = by.iter().filter_map(|place| shares[*place]).product();
        let own = shares[*implied].unwrap_or(1.0);
        shares[*implied] = Some(match by <= own {
            true => degree + (1.0 - degree) * own,
            false => degree * own / by + (1.0 - degree) * own,
        });
    }
    shares.into_iter().flatten().product::<f64>().clamp(0.0, 1.0)
}

/// The dependencies to be applied, those on most columns and of the highest degree first: places of their columns among `attributes`, and their
/// degree. What one of them implies implies nothing in a later one.
fn strongest(objects: &[Known], attributes: &[&Expr]) -> Vec<(Vec<usize>, f64)> {
    let mut free = vec![true; attributes.len()];
    let mut chosen = Vec::new();
    loop {
        let mut best: Option<(Vec<usize>, f64)> = None;
        for known in objects {
            let place = |number: &i16| {
                let column = &known.columns.iter().find(|(known, _)| known == number)?.1;
                attributes.iter().position(|a| *a == column).filter(|at| free[*at])
            };
            for dependency in &known.stats.dependencies {
                let Combination { columns, figure } = dependency;
                let better = |(places, degree): &(Vec<usize>, f64)| {
                    columns.len() > places.len() || columns.len() == places.len() && figure > degree
                };
                if best.as_ref().is_none_or(better)
                    && let Some(places) = columns.iter().map(place).collect::<Option<Vec<_>>>()
                {
                    best = Some((places, *figure));
                }
            }
        }
        let Some((places, degree)) = best else { return chosen };
        if let Some(implied) = places.last() {
            free[*implied] = false;
        }
        chosen.push((places, degree));
    }
}

/// How many different combinations there are of some of `keys`, and which of these the number counts.
pub(crate) fn distinct(objects: &[Known], keys: &[&Expr]) -> Option<(f64, Vec<usize>)> {
    let mut best: Option<(usize, &Known, Vec<usize>)> = None;
    for known in objects.iter().filter(|known| !known.stats.distinct.is_empty()) {
        let matched: Vec<usize> = (0..keys.len()).filter(|at| known.place(keys[*at]).is_some()).collect();
        if matched.len() >= 2 && best.as_ref().is_none_or(|(most, ..)| matched.len() > *most) {
            best = Some((matched.len(), known, matched));
        }
    }
    let (_, known, matched) = best?;
    let mut numbers: Vec<i16> = matched.iter().filter_map(|at| known.number(keys[*at])).collect();
    numbers.sort_unstable();
    let same = |combination: &&Combination| {
        let mut columns = combination.columns.clone();
        columns.sort_unstable();
        columns == numbers
    };
    known.stats.distinct.iter().find(same).map(|combination| (combination.figure, matched))
}

impl Planner<'_> {
    /// Notes what is known of a relation's columns together.
    pub(crate) fn note_statistics(&mut self, rel: RelId) {
        let Some(table) = self.relations[rel].table.as_ref().filter(|table| !table.statistics.is_empty())
        else {
            return;
        };
        let table = table.clone();
        if self.extended.contains_key(&rel) || self.is_inherited(rel) {
            return;
        }
        let mut all = Vec::new();
        for object in &table.statistics {
            let Some(stats) = self.context.statistics.extended(object.oid) else { continue };
            let mut columns = Vec::new();
            columns.extend(object.keys.iter().filter_map(|n| Some((*n, self.column(&table, rel, *n)?))));
            let keys = columns.len();
            for (at, text) in object.expressions.iter().enumerate() {
                // Without an expression an object still says something of the others.
                let expr = self.stored(text, rel).unwrap_or_else(|_| Expr::boolean(false));
                columns.push((-(at as i16) - 1, expr));
            }
            all.push(Known { columns, keys, stats });
        }
        self.extended.insert(rel, all);
    }
}
