//! What share of rows passes a condition.

use std::cmp::Ordering;

use base::Oid;
use catalog::ColumnStatistics;
use tuple::Datum;
use types::Selectivity;

use crate::expr::{ArrayOp, Call, CallForm, Expr, RelId, Test, Var};
use crate::extended::{self, Known};
use crate::relset::RelSet;
use crate::walk::or_restriction;

const EQUAL: f64 = 0.005;
const INEQUALITY: f64 = 1.0 / 3.0;
const RANGE: f64 = 0.005;
const MATCH: f64 = 0.005;
const UNKNOWN: f64 = 0.005;
/// Distinct values assumed when nothing is known.
pub const DISTINCT: f64 = 200.0;

/// An order of values, perhaps of two types.
type Order<'a> = dyn Fn(&Datum, &Datum) -> Ordering + 'a;

/// What the estimator asks about columns.
pub trait Columns {
    /// Rows of the relation before any condition.
    fn rows(&self, var: &Var) -> f64;
    /// Statistics of the column.
    fn stats(&self, var: &Var) -> Option<std::sync::Arc<ColumnStatistics>>;
    /// Whether the column is unique by itself.
    fn is_unique(&self, var: &Var) -> bool;
    /// Whether anything is known of columns together.
    fn has_extended(&self) -> bool;
    /// What is known of columns of a relation together.
    fn extended(&self, rel: RelId) -> &[Known];
    /// Rows of a relation that its conditions leave.
    fn rows_left(&self, rel: RelId) -> Option<f64>;
    /// Statistics of an expression that is no column.
    fn expression_stats(&self, expr: &Expr) -> Option<std::sync::Arc<ColumnStatistics>>;
    /// The rules of a collation.
    fn rules(&self, collation: Oid) -> Option<&'static collation::Rules>;
}

/// The column below casts that keep the value.
pub fn column_of(expr: &Expr) -> Option<&Var> {
    match expr {
        Expr::Var(var) => Some(var),
        Expr::Relabel { arg, .. } => column_of(arg),
        Expr::Placeholder(placeholder) => column_of(&placeholder.arg),
        Expr::Call(call) if call.form == CallForm::ImplicitCast && call.args.len() == 1 => {
            column_of(&call.args[0])
        }
        _ => None,
    }
}

/// Number of distinct values of an expression.
pub fn distinct_values(columns: &dyn Columns, expr: &Expr, rows: f64) -> f64 {
    if expr.type_oid() == Oid(16) {
        return 2.0;
    }
    if expr.is_fixed() {
        return 1.0;
    }
    let Some(var) = column_of(expr) else {
        let known = columns.expression_stats(expr);
        let known = known.and_then(|stats| stats.distinct_values(rows_of(columns, expr)));
        return known.unwrap_or_else(|| DISTINCT.min(rows.max(1.0)));
    };
    let table_rows = columns.rows(var);
    if columns.is_unique(var) || var.column == -1 {
        return table_rows.max(1.0);
    }
    let known = columns.stats(var).and_then(|s| s.distinct_values(table_rows));
    known.unwrap_or_else(|| DISTINCT.min(table_rows.max(1.0)))
}

/// Rows of the relation that an expression is over, before any condition.
fn rows_of(columns: &dyn Columns, expr: &Expr) -> f64 {
    let mut rows = 1000.0;
    expr.any(&mut |e| match e {
        Expr::Var(var) => {
            rows = columns.rows(var);
            true
        }
        _ => false,
    });
    rows
}

/// How many groups of equal `keys` there are among `rows` rows.
pub fn groups(columns: &dyn Columns, keys: &[Expr], rows: f64) -> f64 {
    let mut all = 1.0;
    // Of each relation, what is grouped by: a column or expression of its own statistics, else the columns that it is made of.
    let mut rels: Vec<(RelId, Vec<Expr>)> = Vec::new();
    for key in keys {
        if key.type_oid() == Oid(16) {
            all *= 2.0;
            continue;
        }
        if key.is_fixed() && !key.is_volatile() {
            continue;
        }
        let mut parts = Vec::new();
        match column_of(key) {
            Some(var) => parts.push((var.rel, Expr::Var(var.clone()))),
            None => match (columns.expression_stats(key), RelSet::of(key).iter().next()) {
                (Some(_), Some(rel)) => parts.push((rel, key.clone())),
                _ => collect_columns(key, &mut parts),
            },
        }
        if parts.is_empty() {
            return rows;
        }
        for (rel, part) in parts {
            match rels.iter_mut().find(|(known, _)| *known == rel) {
                Some((_, known)) => crate::create::add_unique(known, part),
                None => rels.push((rel, vec![part])),
            }
        }
    }
    for (rel, parts) in rels {
        all *= groups_of_relation(columns, rel, parts);
    }
    all.ceil().min(rows).max(1.0)
}

fn collect_columns(expr: &Expr, out: &mut Vec<(RelId, Expr)>) {
    match expr {
        Expr::Var(var) => out.push((var.rel, expr.clone())),
        _ => expr.for_children(&mut |child| collect_columns(child, out)),
    }
}

/// The same of one relation's columns and expressions, among the rows that its conditions leave.
fn groups_of_relation(columns: &dyn Columns, rel: RelId, mut parts: Vec<Expr>) -> f64 {
    let tuples = rows_of(columns, &parts[0]);
    let (mut distinct, mut most, mut count) = (1.0, 0.0_f64, 0);
    while !parts.is_empty() {
        let keys: Vec<&Expr> = parts.iter().collect();
        let (one, used) = match extended::distinct(columns.extended(rel), &keys) {
            Some(found) => found,
            None => (distinct_values(columns, &parts[0], tuples), vec![0]),
        };
        distinct *= one;
        most = most.max(one);
        count += 1;
        let mut at = 0;
        parts.retain(|_| {
            at += 1;
            !used.contains(&(at - 1))
        });
    }
    if tuples > 0.0 {
        // Columns are not that independent.
        let bound = if count > 1 { (tuples * 0.1).max(most).min(tuples) } else { tuples };
        distinct = distinct.min(bound);
        let left = columns.rows_left(rel).unwrap_or(tuples);
        if distinct > 0.0 && left < tuples {
            distinct *= 1.0 - ((tuples - left) / tuples).powf(tuples / distinct);
        }
        distinct = crate::cost::clamp_rows(distinct);
    }
    distinct
}

/// The same, if it is more than a guess.
pub fn known_distinct_values(columns: &dyn Columns, expr: &Expr) -> Option<f64> {
    if expr.type_oid() == Oid(16) {
        return Some(2.0);
    }
    let var = column_of(expr)?;
    if columns.is_unique(var) {
        return Some(columns.rows(var).max(1.0));
    }
    columns.stats(var)?.distinct_values(columns.rows(var))
}

/// The fraction of rows that satisfy all of `quals`; pairs of bounds on one expression count as a range.
pub fn conjunction(columns: &dyn Columns, quals: &[Expr]) -> f64 {
    if let [one] = quals {
        return selectivity(columns, one);
    }
    if columns.has_extended()
        && let Some((share, done)) = extended::conjunction(columns, quals)
    {
        let rest: Vec<Expr> =
            quals.iter().zip(done).filter(|(_, done)| !done).map(|(qual, _)| qual.clone()).collect();
        return (share * independent(columns, &rest)).clamp(0.0, 1.0);
    }
    independent(columns, quals)
}

/// The same, were all conditions independent of each other.
fn independent(columns: &dyn Columns, quals: &[Expr]) -> f64 {
    let mut share = 1.0;
    // Lower and upper bound per expression: PostgreSQL's range queries.
    let mut ranges: Vec<(&Expr, Option<f64>, Option<f64>)> = Vec::new();
    for qual in quals {
        let s = selectivity(columns, qual);
        match bound_of(qual) {
            Some((expr, upper)) => {
                let at = ranges.iter().position(|(e, ..)| *e == expr).unwrap_or_else(|| {
                    ranges.push((expr, None, None));
                    ranges.len() - 1
                });
                let slot = if upper { &mut ranges[at].2 } else { &mut ranges[at].1 };
                *slot = Some(slot.map_or(s, |old: f64| old.min(s)));
            }
            None => share *= s,
        }
    }
    for (expr, low, high) in ranges {
        share *= match (low, high) {
            (Some(low), Some(high)) if low == INEQUALITY && high == INEQUALITY => RANGE,
            (Some(low), Some(high)) => {
                let nulls = column_of(expr).and_then(|v| columns.stats(v)).map_or(0.0, |s| s.null_fraction);
                let both = low + high + nulls - 1.0;
                if both <= 0.0 { if both < -0.01 { RANGE } else { 1.0e-10 } } else { both }
            }
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => 1.0,
        };
    }
    share.clamp(0.0, 1.0)
}

/// `expr < constant` and similar conditions: the expression, and whether the constant is an upper bound.
fn bound_of(qual: &Expr) -> Option<(&Expr, bool)> {
    let Expr::Call(call) = qual else { return None };
    let upper = match estimator(call) {
        Selectivity::Less | Selectivity::LessEqual => true,
        Selectivity::Greater | Selectivity::GreaterEqual => false,
        _ => return None,
    };
    let [left, right] = call.args.as_slice() else { return None };
    if right.is_fixed() && !left.is_fixed() {
        Some((left, upper))
    } else if left.is_fixed() && !right.is_fixed() {
        Some((right, !upper))
    } else {
        None
    }
}

fn estimator(call: &Call) -> Selectivity {
    let CallForm::Operator(operator) = &call.form else { return Selectivity::None };
    operator.selectivity
}

/// The share of rows that pass one condition.
pub fn selectivity(columns: &dyn Columns, qual: &Expr) -> f64 {
    let share = match qual {
        Expr::Const { value: Datum::Bool(true), .. } => 1.0,
        Expr::Const { .. } => 0.0,
        Expr::And(list) => conjunction(columns, list),
        Expr::Or(list) => match columns.has_extended().then(|| extended::disjunction(columns, list)) {
            Some(Some(share)) => share,
            _ => {
                let share = list.iter().fold(0.0, |sum, e| {
                    let s = selectivity(columns, e);
                    sum + s - sum * s
                });
                share / restricted_share(columns, qual, list)
            }
        },
        Expr::Not(arg) => 1.0 - selectivity(columns, arg),
        Expr::Test(test, arg) => test_selectivity(columns, *test, arg),
        Expr::Call(call) => call_selectivity(columns, call),
        Expr::Distinct { equality, negated } => {
            let s = call_selectivity(columns, equality);
            if *negated { s } else { 1.0 - s }
        }
        Expr::ArrayOp(op) => array_selectivity(columns, op),
        Expr::Var(var) => match columns.stats(var) {
            Some(stats) => equal_const(columns.rows(var), var.type_oid, &stats, &Datum::Bool(true)),
            None => 0.5,
        },
        Expr::Relabel { arg, .. } => selectivity(columns, arg),
        _ => 0.5,
    };
    share.clamp(0.0, 1.0)
}

/// The share of pairs of rows that is left by what an OR over several relations demands of each alone, and which each has been
/// restricted by before.
fn restricted_share(columns: &dyn Columns, or: &Expr, arms: &[Expr]) -> f64 {
    let rels = RelSet::of(or);
    if rels.len() < 2 {
        return 1.0;
    }
    let restrictions = rels.iter().filter_map(|rel| or_restriction(arms, rel));
    restrictions.map(|e| selectivity(columns, &e)).product::<f64>().max(1.0e-10)
}

fn test_selectivity(columns: &dyn Columns, test: Test, arg: &Expr) -> f64 {
    let nulls = column_of(arg).and_then(|v| columns.stats(v)).map(|s| s.null_fraction);
    match test {
        Test::IsNull | Test::IsUnknown => nulls.unwrap_or(UNKNOWN),
        Test::IsNotNull | Test::IsNotUnknown => 1.0 - nulls.unwrap_or(UNKNOWN),
        Test::IsTrue => selectivity(columns, arg),
        Test::IsNotTrue => 1.0 - selectivity(columns, arg),
        Test::IsFalse => 1.0 - selectivity(columns, arg) - nulls.unwrap_or(0.0),
        Test::IsNotFalse => selectivity(columns, arg) + nulls.unwrap_or(0.0),
    }
}

/// Elements of an array, as far as one can tell before it is there.
pub fn array_length(array: &Expr) -> f64 {
    match array {
        Expr::Array { elements, nested: false, .. } => elements.len() as f64,
        _ => 10.0,
    }
}

fn array_selectivity(columns: &dyn Columns, op: &ArrayOp) -> f64 {
    let one = |right: Expr| selectivity(columns, &Expr::Call(Box::new(op.call_with(right))));
    let unknown = || Expr::Param { number: usize::MAX, type_oid: op.element };
    let shares: Vec<f64> = match (&op.array, extended::constants(op)) {
        (_, Some(elements)) => elements.into_iter().map(one).collect(),
        (Expr::Array { elements, nested: false, .. }, None) => {
            elements.iter().map(|e| one(e.clone())).collect()
        }
        _ => vec![one(unknown()); 10],
    };
    let equality = op.operator.selectivity == Selectivity::Equal;
    if op.any && equality {
        // Different values exclude each other: the sum, unless that is too much.
        let sum: f64 = shares.iter().sum();
        if sum <= 1.0 {
            return sum;
        }
    }
    if op.any { shares.iter().fold(0.0, |sum, s| sum + s - sum * s) } else { shares.iter().product() }
}

fn call_selectivity(columns: &dyn Columns, call: &Call) -> f64 {
    let kind = estimator(call);
    let [left, right] = call.args.as_slice() else { return 1.0 / 3.0 };
    if call.type_oid != Oid(16) {
        return 0.5;
    }
    if kind == Selectivity::None {
        return 1.0 / 3.0;
    }
    let (left_var, right_var) = (column_of(left), column_of(right));
    if let (Some(a), Some(b)) = (left_var, right_var)
        && a.rel != b.rel
    {
        return join_selectivity(columns, kind, left, right);
    }
    let (column, value, flipped) = match (left_var, right_var) {
        (Some(var), _) if right.is_fixed() || right_var.is_none() => (Some(var), right, false),
        (_, Some(var)) if left.is_fixed() || left_var.is_none() => (Some(var), left, true),
        _ => (None, right, false),
    };
    if column.is_none() && !left.is_fixed() && !right.is_fixed() && kind == Selectivity::Equal {
        return join_selectivity(columns, kind, left, right);
    }
    let mut stats = column.and_then(|v| columns.stats(v));
    // An expression that a statistics object has is as good as a column.
    let mut expression = None;
    let (mut value, mut flipped) = (value, flipped);
    if column.is_none() {
        for (expr, other, other_way) in [(left, right, false), (right, left, true)] {
            if other.is_fixed()
                && let Some(known) = columns.expression_stats(expr)
            {
                (stats, expression, value, flipped) = (Some(known), Some(expr), other, other_way);
            }
        }
    }
    let typed = column.map(|var| var.type_oid).or(expression.map(Expr::type_oid));
    if let (Selectivity::Equal | Selectivity::NotEqual, Some(expr), Some(stats)) = (kind, expression, &stats)
    {
        let equal = expression_equality(columns, expr, stats, value);
        return if kind == Selectivity::Equal { equal } else { 1.0 - equal - stats.null_fraction };
    }
    match kind {
        Selectivity::Equal => equality(columns, column, stats.as_deref(), value),
        Selectivity::NotEqual => {
            let nulls = stats.as_ref().map_or(0.0, |s| s.null_fraction);
            1.0 - equality(columns, column, stats.as_deref(), value) - nulls
        }
        Selectivity::Less | Selectivity::LessEqual | Selectivity::Greater | Selectivity::GreaterEqual => {
            let less = matches!(kind, Selectivity::Less | Selectivity::LessEqual) != flipped;
            let inclusive = matches!(kind, Selectivity::LessEqual | Selectivity::GreaterEqual);
            let side = if flipped { right } else { left };
            // Below an implicit cast, statistics are of another type than the operator's.
            let own = typed == Some(side.type_oid());
            let order = types::registry::comparison(call.function.oid()).filter(|_| own);
            let order = order.and_then(|of| match of.is_collated() {
                true => columns.rules(call.collation).map(|rules| of.under(rules)),
                false => Some(of.under(&collation::C)),
            });
            let order = order.map(|order| {
                move |v: &Datum, bound: &Datum| match flipped {
                    false => order.compare(v, bound),
                    true => order.compare(bound, v).reverse(),
                }
            });
            let order = order.as_ref().map(|order| order as &Order<'_>);
            inequality(typed, stats.as_deref(), value, (less, inclusive), order)
        }
        Selectivity::Like
        | Selectivity::ILike
        | Selectivity::Regex
        | Selectivity::IRegex
        | Selectivity::Prefix
        | Selectivity::NotLike
        | Selectivity::NotILike
        | Selectivity::NotRegex
        | Selectivity::NotIRegex => {
            let equal = |text: &Expr| equality(columns, column, stats.as_deref(), text);
            let negated = matches!(
                kind,
                Selectivity::NotLike | Selectivity::NotILike | Selectivity::NotRegex | Selectivity::NotIRegex
            );
            let unknown = if negated { 1.0 - MATCH } else { MATCH };
            crate::pattern::share(call, column.zip(stats.as_deref()), equal).unwrap_or(unknown)
        }
        Selectivity::ArrayContain | Selectivity::Area | Selectivity::Network => 0.005,
        Selectivity::Position => 0.1,
        // Without statistics of bounds.
        Selectivity::Range | Selectivity::Multirange => 0.01,
        Selectivity::TextSearch => document_share(stats.as_deref(), value),
        Selectivity::Contain => 0.001,
        Selectivity::Matching => 0.010,
        Selectivity::None => 1.0 / 3.0,
    }
}

/// The share of documents that satisfy a query, 0.001 if the query is not known.
fn document_share(stats: Option<&ColumnStatistics>, query: &Expr) -> f64 {
    let bytes = match query {
        Expr::Const { value: Datum::Null, .. } => return 0.0,
        Expr::Const { value: Datum::Bytes(bytes), type_oid, .. } if *type_oid == types::oids::tsquery => {
            bytes
        }
        _ => return types::textsearch::UNKNOWN_LEXEME,
    };
    let lexemes = stats.and_then(|stats| stats.lexemes.as_ref());
    let shares = lexemes.map(|lexemes| types::textsearch::KnownLexemes {
        shares: &lexemes.shares,
        least: f64::from(lexemes.least),
    });
    let nulls = stats.map_or(0.0, |stats| stats.null_fraction);
    types::textsearch::share_of_documents(bytes, shares.as_ref()) * (1.0 - nulls)
}

/// The share of rows in which an expression has a value.
fn expression_equality(columns: &dyn Columns, expr: &Expr, stats: &ColumnStatistics, value: &Expr) -> f64 {
    let rows = rows_of(columns, expr);
    match value {
        Expr::Const { value: Datum::Null, .. } => 0.0,
        Expr::Const { value, .. } => equal_const(rows, expr.type_oid(), stats, value),
        _ => (1.0 - stats.null_fraction) / stats.distinct_values(rows).unwrap_or(DISTINCT).max(1.0),
    }
}

fn equality(
    columns: &dyn Columns,
    column: Option<&Var>,
    stats: Option<&ColumnStatistics>,
    value: &Expr,
) -> f64 {
    let Some(var) = column else { return EQUAL };
    if columns.is_unique(var) || var.column == -1 {
        return 1.0 / columns.rows(var).max(1.0);
    }
    let Some(stats) = stats else {
        return 1.0 / DISTINCT.min(columns.rows(var).max(1.0));
    };
    match value {
        Expr::Const { value: Datum::Null, .. } => 0.0,
        Expr::Const { value, .. } => equal_const(columns.rows(var), var.type_oid, stats, value),
        _ => {
            let distinct = stats.distinct_values(columns.rows(var)).unwrap_or(DISTINCT);
            let share = (1.0 - stats.null_fraction) / distinct.max(1.0);
            stats.common.first().map_or(share, |(_, top)| share.min(*top))
        }
    }
}

/// The share of rows that have a value, of a column or expression of a type.
fn equal_const(rows: f64, type_oid: Oid, stats: &ColumnStatistics, value: &Datum) -> f64 {
    let equal = types::equal(type_oid);
    let same = |a: &Datum| same_variant(a, value) && equal.map_or(a == value, |f| f(a, value));
    if let Some((_, share)) = stats.common.iter().find(|(v, _)| same(v)) {
        return *share;
    }
    let rest = 1.0 - stats.common_share() - stats.null_fraction;
    let distinct = stats.distinct_values(rows).unwrap_or(DISTINCT) - stats.common.len() as f64;
    let share = (rest / distinct.max(1.0)).max(0.0);
    stats.common.last().map_or(share, |(_, least)| share.min(*least))
}

fn same_variant(a: &Datum, b: &Datum) -> bool {
    std::mem::discriminant(a) == std::mem::discriminant(b)
}

/// `column`: type of the column or expression.
fn inequality(
    column: Option<Oid>,
    stats: Option<&ColumnStatistics>,
    value: &Expr,
    (less, inclusive): (bool, bool),
    order: Option<&Order<'_>>,
) -> f64 {
    let (Some(column), Some(stats), Expr::Const { value, type_oid, .. }) = (column, stats, value) else {
        return INEQUALITY;
    };
    if value.is_null() {
        return 0.0;
    }
    let Some(compare) = types::compare(column) else { return INEQUALITY };
    let sample = stats.common.first().map(|(v, _)| v).or(stats.histogram.first());
    if !sample.is_some_and(|s| order.is_some() || same_variant(s, value)) {
        return INEQUALITY;
    }
    let order = |v: &Datum| order.map_or_else(|| compare(v, value), |order| order(v, value));
    let passes = |v: &Datum| match order(v) {
        Ordering::Less => less,
        Ordering::Greater => !less,
        Ordering::Equal => inclusive,
    };
    let common: f64 = stats.common.iter().filter(|(v, _)| passes(v)).map(|(_, s)| s).sum();
    let rest = (1.0 - stats.common_share() - stats.null_fraction).max(0.0);
    let bound = scalar(value).map(|v| v * unit(*type_oid) / unit(column));
    let below = histogram_share(&stats.histogram, bound, &order);
    let histogram = match below {
        Some(below) => {
            if less {
                below
            } else {
                1.0 - below
            }
        }
        None => INEQUALITY,
    };
    (common + rest * histogram).clamp(1.0e-10, 1.0)
}

/// What a step of a type's numbers is in those of the types that it compares with: a date counts days, a timestamp microseconds.
fn unit(type_oid: Oid) -> f64 {
    if type_oid == types::oids::date { 86_400_000_000.0 } else { 1.0 }
}

/// Share of the histogram's rows below a value, interpolating within its bucket; `order` compares a bound with the value.
fn histogram_share(bounds: &[Datum], value: Option<f64>, order: &dyn Fn(&Datum) -> Ordering) -> Option<f64> {
    if bounds.len() < 2 {
        return None;
    }
    let buckets = (bounds.len() - 1) as f64;
    let at = bounds.partition_point(|b| order(b) == Ordering::Less);
    if at == 0 {
        return Some(0.0001_f64.min(1.0 / buckets));
    }
    if at == bounds.len() {
        return Some(1.0 - 0.0001_f64.min(1.0 / buckets));
    }
    let (low, high) = (scalar(&bounds[at - 1]), scalar(&bounds[at]));
    let within = match (low, high, value) {
        (Some(low), Some(high), Some(v)) if high > low => ((v - low) / (high - low)).clamp(0.0, 1.0),
        _ => 0.5,
    };
    Some(((at - 1) as f64 + within) / buckets)
}

fn scalar(value: &Datum) -> Option<f64> {
    Some(match value {
        Datum::Bool(v) => f64::from(u8::from(*v)),
        Datum::Char(v) => f64::from(*v),
        Datum::Int2(v) => f64::from(*v),
        Datum::Int4(v) => f64::from(*v),
        Datum::Int8(v) => *v as f64,
        Datum::Oid(v) => f64::from(*v),
        Datum::Float4(v) => f64::from(*v),
        Datum::Float8(v) => *v,
        _ => return None,
    })
}

/// The fraction of pairs of rows of two relations that satisfy `left op right`.
fn join_selectivity(columns: &dyn Columns, kind: Selectivity, left: &Expr, right: &Expr) -> f64 {
    let equal = {
        let rows = |e: &Expr| column_of(e).map_or(1000.0, |v| columns.rows(v));
        let nulls = |e: &Expr| column_of(e).and_then(|v| columns.stats(v)).map_or(0.0, |s| s.null_fraction);
        let a = distinct_values(columns, left, rows(left));
        let b = distinct_values(columns, right, rows(right));
        (1.0 - nulls(left)) * (1.0 - nulls(right)) / a.max(b).max(1.0)
    };
    match kind {
        Selectivity::Equal => equal,
        Selectivity::NotEqual => 1.0 - equal,
        Selectivity::Less | Selectivity::LessEqual | Selectivity::Greater | Selectivity::GreaterEqual => {
            INEQUALITY
        }
        Selectivity::NotLike | Selectivity::NotILike | Selectivity::NotRegex | Selectivity::NotIRegex => {
            1.0 - MATCH
        }
        _ => MATCH,
    }
}
