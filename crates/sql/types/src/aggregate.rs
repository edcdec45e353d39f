//! How aggregates are computed: a state a group, a row at a time, a result at the end.

use base::{Oid, SqlError, SqlResult, sql_err};
use tuple::Datum;

use crate::{
    aggregate_columns::{Lane, States},
    array::Array,
    call::Call,
    comparator::order_in,
    compare::{double, widen},
    float,
    interval::Interval,
    numeric::{Numeric, NumericSum, Small},
    piece::{self, Pace},
    value::{FromDatum, IntoDatum},
    value_list::ValueList,
};

/// State of one aggregate in one group.
#[derive(Clone, Debug, Default)]
pub enum AggState {
    /// Nothing but NULLs seen yet.
    #[default]
    Empty,
    /// A running count.
    Count(i64),
    /// A value so far: the extreme, the sum, the combination.
    Value(Datum),
    /// A sum of integers, and their number.
    Integers(i128, i64),
    /// Count, sum and sum of squares in decimal.
    Numeric(Box<NumericSum>),
    /// N, Σx, Σ(x-x̄)², Σy, Σ(y-ȳ)², Σ(x-x̄)(y-ȳ)
    Floats(Box<[f64; 6]>),
    /// A sum of intervals, and their number.
    Interval(Box<(Interval, i64)>),
    /// All values.
    Values(ValueList),
    /// All arrays.
    Arrays(Vec<Array>),
    /// Text so far, and the length of the first separator (so that states can be joined).
    Text(Vec<u8>, usize),
    /// A JSON document without its last bracket.
    Json(Box<crate::json::JsonState>),
    /// What sorted rows have shown.
    Sorted(Box<crate::ordered_set::State>),
}

/// One aggregate's steps. The caller handles DISTINCT, FILTER and ORDER BY.
pub trait AggregateImp: Sync {
    /// The state before the first row.
    fn start(&self) -> AggState;

    /// The state before the first of a group's sorted rows, of which there are so many: ordered-set aggregates only.
    fn start_sorted(&self, _cx: &Call, _direct: &[Datum], _rows: u64) -> SqlResult<AggState> {
        Err(SqlError::internal("not an ordered-set aggregate"))
    }

    /// Takes one row's arguments, NULLs included.
    fn add(&self, cx: &Call, state: &mut AggState, args: &[Datum]) -> SqlResult<()>;

    /// The result so far; the state may go on.
    fn finish(&self, cx: &Call, state: &AggState) -> SqlResult<Datum>;

    /// Merges the state of other rows of the same group (parallel and spilled aggregation).
    fn combine(&self, cx: &Call, state: &mut AggState, other: AggState) -> SqlResult<()>;

    /// Whether it is the number of rows: its state is [`AggState::Count`].
    fn counts_rows(&self) -> bool {
        false
    }

    /// Whether rows can be taken from a column ([`AggregateImp::add_column`]).
    fn takes_columns(&self) -> bool {
        false
    }

    /// Takes rows of a column, each into its state: what [`AggregateImp::add`] does with them one after the other.
    fn add_column(&self, _cx: &Call, _states: States<'_>, _lane: &Lane<'_>) -> SqlResult<()> {
        Err(SqlError::internal("an aggregate that takes no columns"))
    }

    /// Whether the result is the same whatever the order of rows (float rounding aside), so that DISTINCT or ORDER BY
    /// of the argument may be dropped.
    fn order_matters(&self) -> bool {
        false
    }
}

/// The result that is wanted of a variance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spread {
    VarPop,
    VarSamp,
    StddevPop,
    StddevSamp,
}

impl Spread {
    fn sample(self) -> bool {
        matches!(self, Spread::VarSamp | Spread::StddevSamp)
    }

    fn deviation(self) -> bool {
        matches!(self, Spread::StddevPop | Spread::StddevSamp)
    }
}

/// The results of two-argument statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Regression {
    Count,
    Sxx,
    Syy,
    Sxy,
    AvgX,
    AvgY,
    R2,
    Slope,
    Intercept,
    CovarPop,
    CovarSamp,
    Corr,
}

/// A bit operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bits {
    And,
    Or,
    Xor,
}

/// Every aggregate, by what it computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    CountStar,
    Count,
    Min(Oid),
    Max(Oid),
    /// Sum of `int2` or `int4` as `int8`.
    SumInt,
    /// Sum of `int8` as `numeric`.
    SumInt8,
    AvgInt,
    SumNumeric,
    AvgNumeric,
    SumFloat4,
    SumFloat8,
    AvgFloat,
    SumMoney,
    SumInterval,
    AvgInterval,
    NumericSpread(Spread),
    FloatSpread(Spread),
    Regression(Regression),
    BoolAnd,
    BoolOr,
    Bits(Bits),
    /// A bit operation on bit strings.
    BitStrings(Bits),
    StringAgg,
    ArrayAgg,
    ArrayAggArray,
    AnyValue,
}

impl AggregateImp for Kind {
    fn start(&self) -> AggState {
        match self {
            Kind::CountStar | Kind::Count => AggState::Count(0),
            Kind::FloatSpread(_) | Kind::Regression(_) | Kind::AvgFloat => AggState::Floats(Box::default()),
            _ => AggState::Empty,
        }
    }

    #[inline]
    fn add(&self, cx: &Call, state: &mut AggState, args: &[Datum]) -> SqlResult<()> {
        if let Kind::CountStar = self {
            return increment(state);
        }
        let Some(value) = args.first() else { return Ok(()) };
        match self {
            Kind::ArrayAgg => {
                push(state, value.clone());
                return Ok(());
            }
            Kind::ArrayAggArray => return push_array(state, value),
            _ if value.is_null() => return Ok(()),
            Kind::Count => return increment(state),
            Kind::Min(_)
            | Kind::Max(_)
            | Kind::AnyValue
            | Kind::BoolAnd
            | Kind::BoolOr
            | Kind::Bits(_)
            | Kind::BitStrings(_)
            | Kind::SumMoney
            | Kind::SumFloat4
            | Kind::SumFloat8 => {
                return self.fold(cx, state, value);
            }
            _ => {}
        }
        match self {
            Kind::SumInt | Kind::AvgInt | Kind::SumInt8 => match state {
                AggState::Integers(sum, count) => {
                    *sum += i128::from(widen(value));
                    *count += 1;
                }
                _ => *state = AggState::Integers(widen(value).into(), 1),
            },
            Kind::SumNumeric | Kind::AvgNumeric => {
                let sum = numeric_state(state);
                match Small::of(value) {
                    Some(small) => sum.add_small(small),
                    None => sum.add(&Numeric::from_datum(value), false),
                }
            }
            Kind::NumericSpread(_) => {
                let number = match value {
                    Datum::Bytes(bytes) => Numeric::from_payload(bytes),
                    other => Numeric::from_i64(widen(other)),
                };
                numeric_state(state).add(&number, true);
            }
            Kind::AvgFloat | Kind::FloatSpread(_) => {
                if let AggState::Floats(sums) = state {
                    accumulate(sums, double(value))?;
                }
            }
            Kind::Regression(_) => {
                if let (AggState::Floats(sums), Some(x)) = (state, args.get(1).filter(|x| !x.is_null())) {
                    accumulate_pair(sums, double(x), double(value))?;
                }
            }
            Kind::SumInterval | Kind::AvgInterval => {
                let value = Interval::from_payload(<&[u8]>::from_datum(value));
                match state {
                    AggState::Interval(sum) => {
                        sum.0 = sum.0.add(&value)?;
                        sum.1 += 1;
                    }
                    _ => *state = AggState::Interval(Box::new((value, 1))),
                }
            }
            Kind::StringAgg => return append_text(state, value, args.get(1)),
            _ => {
                return Err(SqlError::internal(format!(
                    "aggregate {self:?} with result type {}",
                    cx.result_type
                )));
            }
        }
        Ok(())
    }

    fn finish(&self, cx: &Call, state: &AggState) -> SqlResult<Datum> {
        match (self, state) {
            (Kind::AvgFloat, AggState::Floats(s)) => {
                Ok(if s[0] == 0.0 { Datum::Null } else { Datum::Float8(s[1] / s[0]) })
            }
            (Kind::FloatSpread(spread), AggState::Floats(s)) => Ok(float_spread(s, *spread)),
            (Kind::Regression(what), AggState::Floats(s)) => Ok(regression(s, *what)),
            (_, AggState::Empty) => Ok(Datum::Null),
            (_, AggState::Count(n)) => Ok(Datum::Int8(*n)),
            (_, AggState::Value(value)) => Ok(value.clone()),
            (Kind::SumInt, AggState::Integers(sum, _)) => {
                i64::try_from(*sum).map(Datum::Int8).map_err(|_| crate::int::int8_range())
            }
            (Kind::SumInt8, AggState::Integers(sum, _)) => Numeric::from_i128(*sum).into_datum(),
            (_, AggState::Integers(sum, count)) => {
                Numeric::from_i128(*sum).div(&Numeric::from_i64(*count))?.into_datum()
            }
            (Kind::SumNumeric, AggState::Numeric(sum)) => sum.sum().into_datum(),
            (Kind::NumericSpread(spread), AggState::Numeric(sum)) => {
                sum.variance(spread.sample(), spread.deviation()).into_datum()
            }
            (_, AggState::Numeric(sum)) => sum.average().into_datum(),
            (Kind::AvgInterval, AggState::Interval(sum)) => sum.0.div(sum.1 as f64)?.into_datum(),
            (_, AggState::Interval(sum)) => sum.0.into_datum(),
            (_, AggState::Values(values)) => {
                let (mut copies, mut pace) = (Vec::with_capacity(values.len()), Pace::new());
                for value in values.iter() {
                    copies.push(value.clone());
                    pace.did(16)?;
                }
                let array = Array::from_values(cx.arg_type(0), copies, cx)?;
                let datum = array.to_datum();
                drop(ValueList::from(array.into_elements()));
                Ok(datum)
            }
            (_, AggState::Arrays(arrays)) => crate::array::stacked(arrays, cx),
            (_, AggState::Text(text, first)) => piece::datum(&text[*first..]),
            (_, AggState::Floats(_) | AggState::Json(_) | AggState::Sorted(_)) => {
                Err(SqlError::internal("an aggregate's state of another aggregate"))
            }
        }
    }

    fn combine(&self, cx: &Call, state: &mut AggState, other: AggState) -> SqlResult<()> {
        match (&mut *state, other) {
            (_, AggState::Empty) => {}
            (AggState::Empty, other) => *state = other,
            (AggState::Count(n), AggState::Count(m)) => *n = crate::int::eight::add(*n, m)?,
            (AggState::Value(_), AggState::Value(value)) => return self.add(cx, state, &[value]),
            (AggState::Integers(sum, count), AggState::Integers(other, m)) => {
                *sum += other;
                *count += m;
            }
            (AggState::Numeric(sum), AggState::Numeric(other)) => sum.merge(&other),
            (AggState::Floats(sums), AggState::Floats(other)) => combine_floats(sums, &other),
            (AggState::Interval(sum), AggState::Interval(other)) => {
                sum.0 = sum.0.add(&other.0)?;
                sum.1 += other.1;
            }
            (AggState::Values(values), AggState::Values(mut other)) => values.append(&mut other),
            (AggState::Arrays(arrays), AggState::Arrays(other)) => arrays.extend(other),
            (AggState::Text(text, _), AggState::Text(other, _)) => text.extend(other),
            _ => return Err(SqlError::internal("aggregate states of different kinds")),
        }
        Ok(())
    }

    fn counts_rows(&self) -> bool {
        matches!(self, Kind::CountStar)
    }

    fn takes_columns(&self) -> bool {
        crate::aggregate_columns::takes(*self)
    }

    fn add_column(&self, cx: &Call, states: States<'_>, lane: &Lane<'_>) -> SqlResult<()> {
        crate::aggregate_columns::add(*self, cx, states, lane)
    }

    fn order_matters(&self) -> bool {
        matches!(self, Kind::StringAgg | Kind::ArrayAgg | Kind::ArrayAggArray | Kind::AnyValue)
    }
}

impl Kind {
    /// Aggregates whose state is one value: the first one, then combined with each.
    fn fold(&self, cx: &Call, state: &mut AggState, value: &Datum) -> SqlResult<()> {
        let AggState::Value(held) = state else {
            *state = AggState::Value(value.clone());
            return Ok(());
        };
        match self {
            Kind::Min(ty) | Kind::Max(ty) => {
                let order = order_in(cx, *ty)?.ok_or_else(|| SqlError::internal("a type without order"))?;
                let found = order.compare(value, held);
                let better = if matches!(self, Kind::Min(_)) { found.is_lt() } else { found.is_gt() };
                // Of two that are equal but not the same, the later one; of blank-padded strings the first.
                if better || found.is_eq() && *ty != crate::oids::bpchar {
                    *held = value.clone();
                }
            }
            Kind::BoolAnd => *held = Datum::Bool(bool::from_datum(held) && bool::from_datum(value)),
            Kind::BoolOr => *held = Datum::Bool(bool::from_datum(held) || bool::from_datum(value)),
            Kind::SumMoney => {
                *held = Datum::Int8(crate::money::add(i64::from_datum(held), i64::from_datum(value))?)
            }
            Kind::BitStrings(op) => {
                let (a, b) = (crate::bits::Bits::from_datum(held), crate::bits::Bits::from_datum(value));
                let result = match op {
                    Bits::And => a.and(&b),
                    Bits::Or => a.or(&b),
                    Bits::Xor => a.xor(&b),
                };
                *held = result?.into_datum()?;
            }
            Kind::SumFloat8 => {
                *held = Datum::Float8(float::add(f64::from_datum(held), f64::from_datum(value))?)
            }
            Kind::SumFloat4 => {
                *held = Datum::Float4(float::add4(f32::from_datum(held), f32::from_datum(value))?)
            }
            Kind::Bits(op) => {
                let (a, b) = (widen(held), widen(value));
                let result = match op {
                    Bits::And => a & b,
                    Bits::Or => a | b,
                    Bits::Xor => a ^ b,
                };
                *held = match held {
                    Datum::Int2(_) => Datum::Int2(result as i16),
                    Datum::Int4(_) => Datum::Int4(result as i32),
                    _ => Datum::Int8(result),
                };
            }
            _ => {}
        }
        Ok(())
    }
}

#[inline]
fn increment(state: &mut AggState) -> SqlResult<()> {
    if let AggState::Count(n) = state {
        *n = crate::int::eight::add(*n, 1)?;
    }
    Ok(())
}

fn push(state: &mut AggState, value: Datum) {
    match state {
        AggState::Values(values) => values.push(value),
        _ => *state = AggState::Values(vec![value].into()),
    }
}

pub(crate) fn numeric_state(state: &mut AggState) -> &mut NumericSum {
    if !matches!(state, AggState::Numeric(_)) {
        *state = AggState::Numeric(Box::default());
    }
    match state {
        AggState::Numeric(sum) => sum,
        _ => unreachable!("just made one"),
    }
}

fn push_array(state: &mut AggState, value: &Datum) -> SqlResult<()> {
    if !matches!(state, AggState::Arrays(_)) {
        *state = AggState::Arrays(Vec::new());
    }
    match state {
        AggState::Arrays(arrays) => crate::array::accumulate(arrays, value),
        _ => unreachable!("just made one"),
    }
}

fn append_text(state: &mut AggState, value: &Datum, separator: Option<&Datum>) -> SqlResult<()> {
    let separator: &[u8] = separator.filter(|s| !s.is_null()).map_or(&[], <&[u8]>::from_datum);
    if !matches!(state, AggState::Text(..)) {
        *state = AggState::Text(Vec::new(), separator.len());
    }
    if let AggState::Text(text, _) = state {
        piece::append(text, separator)?;
        piece::append(text, <&[u8]>::from_datum(value))?;
    }
    Ok(())
}

fn check_overflow(result: f64, inputs_finite: bool) -> SqlResult<()> {
    if result.is_infinite() && inputs_finite {
        return Err(sql_err!(NUMERIC_VALUE_OUT_OF_RANGE, "value out of range: overflow"));
    }
    Ok(())
}

/// Youngs and Cramer's update: no cancellation of large squares.
pub(crate) fn accumulate(s: &mut [f64; 6], x: f64) -> SqlResult<()> {
    let finite = s[1].is_finite() && x.is_finite();
    s[0] += 1.0;
    s[1] += x;
    if s[0] > 1.0 {
        let t = x * s[0] - s[1];
        s[2] += t * t / (s[0] * (s[0] - 1.0));
        if !s[1].is_finite() || !s[2].is_finite() {
            check_overflow(s[1], finite)?;
            check_overflow(s[2], finite)?;
            s[2] = f64::NAN;
        }
    } else if !x.is_finite() {
        s[2] = f64::NAN;
    }
    Ok(())
}

pub(crate) fn accumulate_pair(s: &mut [f64; 6], x: f64, y: f64) -> SqlResult<()> {
    let finite = s[1].is_finite() && s[3].is_finite() && x.is_finite() && y.is_finite();
    s[0] += 1.0;
    s[1] += x;
    s[3] += y;
    if s[0] > 1.0 {
        let (tx, ty) = (x * s[0] - s[1], y * s[0] - s[3]);
        let scale = 1.0 / (s[0] * (s[0] - 1.0));
        s[2] += tx * tx * scale;
        s[4] += ty * ty * scale;
        s[5] += tx * ty * scale;
        for sum in &mut s[1..] {
            check_overflow(*sum, finite)?;
        }
    }
    if !x.is_finite() {
        (s[2], s[5]) = (f64::NAN, f64::NAN);
    }
    if !y.is_finite() {
        (s[4], s[5]) = (f64::NAN, f64::NAN);
    }
    Ok(())
}

pub(crate) fn combine_floats(a: &mut [f64; 6], b: &[f64; 6]) {
    if b[0] == 0.0 {
        return;
    }
    if a[0] == 0.0 {
        *a = *b;
        return;
    }
    let n = a[0] + b[0];
    let (dx, dy) = (a[1] / a[0] - b[1] / b[0], a[3] / a[0] - b[3] / b[0]);
    let weight = a[0] * b[0] / n;
    a[2] += b[2] + weight * dx * dx;
    a[4] += b[4] + weight * dy * dy;
    a[5] += b[5] + weight * dx * dy;
    a[0] = n;
    a[1] += b[1];
    a[3] += b[3];
}

pub(crate) fn float_spread(s: &[f64; 6], spread: Spread) -> Datum {
    let divisor = if spread.sample() { s[0] - 1.0 } else { s[0] };
    if s[0] == 0.0 || divisor <= 0.0 {
        return Datum::Null;
    }
    let variance = s[2] / divisor;
    Datum::Float8(if spread.deviation() { variance.sqrt() } else { variance })
}

pub(crate) fn regression(s: &[f64; 6], what: Regression) -> Datum {
    let [n, sx, sxx, sy, syy, sxy] = *s;
    if what == Regression::Count {
        return Datum::Int8(n as i64);
    }
    if n < 1.0 {
        return Datum::Null;
    }
    let value = match what {
        Regression::Count => None,
        Regression::Sxx => Some(sxx),
        Regression::Syy => Some(syy),
        Regression::Sxy => Some(sxy),
        Regression::AvgX => Some(sx / n),
        Regression::AvgY => Some(sy / n),
        Regression::CovarPop => Some(sxy / n),
        Regression::CovarSamp => (n > 1.0).then(|| sxy / (n - 1.0)),
        Regression::Corr => (sxx != 0.0 && syy != 0.0).then(|| sxy / (sxx * syy).sqrt()),
        Regression::R2 if sxx == 0.0 => None,
        Regression::R2 => Some(if syy == 0.0 { 1.0 } else { sxy * sxy / (sxx * syy) }),
        Regression::Slope => (sxx != 0.0).then(|| sxy / sxx),
        Regression::Intercept => (sxx != 0.0).then(|| (sy - sx * sxy / sxx) / n),
    };
    value.map_or(Datum::Null, Datum::Float8)
}
