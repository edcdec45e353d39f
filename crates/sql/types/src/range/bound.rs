//! Bounds and what lies between two of them.

use super::*;

/// An end of a range.
#[derive(Clone, Debug)]
pub(crate) struct Bound {
    /// None: no limit.
    pub value: Option<Datum>,
    pub inclusive: bool,
    /// Which end it is.
    pub lower: bool,
}

/// What lies between two bounds, a point at least.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    pub lower: Bound,
    pub upper: Bound,
}

impl Bound {
    pub fn new(value: &Datum, inclusive: bool, lower: bool) -> Bound {
        let value = (!value.is_null()).then(|| value.clone());
        Bound { inclusive: inclusive && value.is_some(), value, lower }
    }

    /// The bound of what lies on the other side.
    pub fn opposite(&self) -> Bound {
        Bound { value: self.value.clone(), inclusive: !self.inclusive, lower: !self.lower }
    }

    /// Where the points begin or end relative to the value.
    fn offset(&self) -> i8 {
        match (self.inclusive, self.lower) {
            (true, _) => 0,
            (false, true) => 1,
            (false, false) => -1,
        }
    }

    /// Where the bound is: by value, then by which points at the value are within.
    pub fn order(&self, shape: &Shape, other: &Bound) -> Ordering {
        self.order_values(shape, other).then_with(|| match &self.value {
            Some(_) => self.offset().cmp(&other.offset()),
            None => Ordering::Equal,
        })
    }

    /// Order by value alone.
    pub fn order_values(&self, shape: &Shape, other: &Bound) -> Ordering {
        let end = |bound: &Bound| if bound.lower { -1 } else { 1 };
        match (&self.value, &other.value) {
            (Some(a), Some(b)) => shape.order(a, b),
            (None, None) => end(self).cmp(&end(other)),
            (None, Some(_)) => end(self).cmp(&0),
            (Some(_), None) => 0.cmp(&end(other)),
        }
    }
}

impl Span {
    /// What lies between two bounds; none if there is no point; an error when they are the wrong way round.
    pub fn between(shape: &Shape, lower: Bound, upper: Bound) -> SqlResult<Option<Span>> {
        let order = lower.order_values(shape, &upper);
        if order.is_gt() {
            return Err(data_error("range lower bound must be less than or equal to range upper bound"));
        }
        if order.is_eq() && !(lower.inclusive && upper.inclusive) {
            return Ok(None);
        }
        Ok(Some(Span { lower, upper }))
    }

    pub fn contains_value(&self, shape: &Shape, value: &Datum) -> bool {
        let point = Bound { value: Some(value.clone()), inclusive: true, lower: true };
        self.lower.order(shape, &point).is_le() && self.upper.order(shape, &point).is_ge()
    }

    pub fn contains(&self, shape: &Shape, other: &Span) -> bool {
        self.lower.order(shape, &other.lower).is_le() && self.upper.order(shape, &other.upper).is_ge()
    }

    pub fn overlaps(&self, shape: &Shape, other: &Span) -> bool {
        self.lower.order(shape, &other.upper).is_le() && other.lower.order(shape, &self.upper).is_le()
    }

    pub fn before(&self, shape: &Shape, other: &Span) -> bool {
        self.upper.order(shape, &other.lower).is_lt()
    }

    pub fn adjacent(&self, shape: &Shape, other: &Span) -> SqlResult<bool> {
        Ok(meet(shape, &self.upper, &other.lower)? || meet(shape, &other.upper, &self.lower)?)
    }

    /// The span from the lower of the lower bounds to the upper of the upper ones.
    pub fn merged(&self, shape: &Shape, other: &Span) -> Span {
        let lower = if self.lower.order(shape, &other.lower).is_le() { &self.lower } else { &other.lower };
        let upper = if self.upper.order(shape, &other.upper).is_ge() { &self.upper } else { &other.upper };
        Span { lower: lower.clone(), upper: upper.clone() }
    }

    pub fn intersection(&self, shape: &Shape, other: &Span) -> Option<Span> {
        if !self.overlaps(shape, other) {
            return None;
        }
        let lower = if self.lower.order(shape, &other.lower).is_ge() { &self.lower } else { &other.lower };
        let upper = if self.upper.order(shape, &other.upper).is_le() { &self.upper } else { &other.upper };
        Some(Span { lower: lower.clone(), upper: upper.clone() })
    }

    /// What is left on either side when another span is taken out.
    pub fn minus(&self, shape: &Shape, other: &Span) -> SqlResult<(Option<Span>, Option<Span>)> {
        if !self.overlaps(shape, other) {
            return Ok((Some(self.clone()), None));
        }
        let piece = |lower: Bound, upper: Bound| -> SqlResult<Option<Span>> {
            Ok(Range::new(*shape, lower, upper)?.span)
        };
        let left = match self.lower.order(shape, &other.lower) {
            Ordering::Less => piece(self.lower.clone(), other.lower.opposite())?,
            _ => None,
        };
        let right = match self.upper.order(shape, &other.upper) {
            Ordering::Greater => piece(other.upper.opposite(), self.upper.clone())?,
            _ => None,
        };
        Ok((left, right))
    }
}

/// Order of two ranges of one type: the empty one first.
pub(super) fn order(shape: &Shape, a: Option<&Span>, b: Option<&Span>) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => a.lower.order(shape, &b.lower).then_with(|| a.upper.order(shape, &b.upper)),
        _ => a.is_some().cmp(&b.is_some()),
    }
}

/// Whether nothing lies between an upper bound and the lower bound behind it, and no point is within both.
fn meet(shape: &Shape, upper: &Bound, lower: &Bound) -> SqlResult<bool> {
    match upper.order_values(shape, lower) {
        Ordering::Equal => Ok(upper.value.is_some() && upper.inclusive != lower.inclusive),
        Ordering::Greater => Ok(false),
        // Where values are discrete, there may be none between two different ones.
        Ordering::Less if has_canonical(shape) && upper.value.is_some() && lower.value.is_some() => {
            Ok(Range::new(*shape, upper.opposite(), lower.opposite())?.span.is_none())
        }
        Ordering::Less => Ok(false),
    }
}

fn has_canonical(shape: &Shape) -> bool {
    matches!(shape.range, oids::int4range | oids::int8range | oids::daterange)
}

/// Brings the bounds of a range over discrete values to the form `[)`.
pub(super) fn canonical(shape: &Shape, span: Span) -> SqlResult<(Bound, Bound)> {
    let Span { mut lower, mut upper } = span;
    if has_canonical(shape) {
        for (bound, wanted) in [(&mut lower, true), (&mut upper, false)] {
            if let Some(value) = &bound.value
                && bound.inclusive != wanted
                && let Some(next) = successor(shape, value)?
            {
                bound.value = Some(next);
                bound.inclusive = wanted;
            }
        }
    }
    Ok((lower, upper))
}

/// The next value; none behind an infinite date.
fn successor(shape: &Shape, value: &Datum) -> SqlResult<Option<Datum>> {
    Ok(Some(match (value, shape.subtype) {
        (Datum::Int4(days), oids::date) => {
            if !crate::date::is_finite(*days) {
                return Ok(None);
            }
            Datum::Int4(crate::date::check(days.wrapping_add(1))?)
        }
        (Datum::Int4(n), _) => Datum::Int4(crate::int::four::add(*n, 1)?),
        (Datum::Int8(n), _) => Datum::Int8(crate::int::eight::add(*n, 1)?),
        _ => return Ok(None),
    }))
}
