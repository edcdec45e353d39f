//! Functions and operators of ranges.

use super::*;

/// The range type that a call is to give.
fn result_shape(cx: &Call) -> SqlResult<Shape> {
    Shape::of(&range_info(cx.result_type, cx)?, cx)
}

fn construct(cx: &Call, lower: &Datum, upper: &Datum) -> SqlResult<Range> {
    Range::new(result_shape(cx)?, Bound::new(lower, true, true), Bound::new(upper, false, false))
}

fn construct_with(cx: &Call, lower: &Datum, upper: &Datum, flags: Option<&str>) -> SqlResult<Range> {
    let flags = flags.ok_or_else(|| data_error("range constructor flags argument must not be null"))?;
    let (low, high) = match flags {
        "[]" => (true, true),
        "[)" => (true, false),
        "(]" => (false, true),
        "()" => (false, false),
        _ => {
            return Err(sql_err!(SYNTAX_ERROR, "invalid range bound flags")
                .hint("Valid values are \"[]\", \"[)\", \"(]\", and \"()\"."));
        }
    };
    Range::new(result_shape(cx)?, Bound::new(lower, low, true), Bound::new(upper, high, false))
}

impl Range {
    /// Whether both have points and a test says so.
    fn both(&self, other: &Range, test: impl Fn(&Shape, &Span, &Span) -> bool) -> bool {
        match (&self.span, &other.span) {
            (Some(a), Some(b)) => test(&self.shape, a, b),
            _ => false,
        }
    }

    fn contains(&self, other: &Range) -> bool {
        match (&self.span, &other.span) {
            (_, None) => true,
            (None, _) => false,
            (Some(a), Some(b)) => a.contains(&self.shape, b),
        }
    }

    fn contains_value(&self, value: &Datum) -> bool {
        self.span.as_ref().is_some_and(|span| span.contains_value(&self.shape, value))
    }

    fn adjacent(&self, other: &Range) -> SqlResult<bool> {
        match (&self.span, &other.span) {
            (Some(a), Some(b)) => a.adjacent(&self.shape, b),
            _ => Ok(false),
        }
    }

    /// The range over both; an error if there is a gap that must not be.
    fn union(self, other: Range, strict: bool) -> SqlResult<Range> {
        let (Some(a), Some(b)) = (&self.span, &other.span) else {
            return Ok(if self.span.is_none() { other } else { self });
        };
        if strict && !a.overlaps(&self.shape, b) && !a.adjacent(&self.shape, b)? {
            return Err(data_error("result of range union would not be contiguous"));
        }
        Ok(Range { span: Some(a.merged(&self.shape, b)), ..self })
    }

    pub fn intersection(self, other: &Range) -> Range {
        let span = match (&self.span, &other.span) {
            (Some(a), Some(b)) => a.intersection(&self.shape, b),
            _ => None,
        };
        Range { span, ..self }
    }

    fn minus(self, other: &Range) -> SqlResult<Range> {
        let (Some(a), Some(b)) = (&self.span, &other.span) else { return Ok(self) };
        match a.minus(&self.shape, b)? {
            (Some(_), Some(_)) => Err(data_error("result of range difference would not be contiguous")),
            (left, right) => Ok(Range { span: left.or(right), ..self }),
        }
    }
}

fn value_of(span: Option<Span>, bound: fn(Span) -> Bound) -> Datum {
    span.and_then(|span| bound(span).value).unwrap_or_default()
}

functions! {
    6347 gist_translate_cmptype_common(int4) -> int2 [immutable strict] { |kind: i32| trees::strategy_of(kind) }
    3417 hash_range_extended(anyrange, int8) -> int8 [immutable strict] { |cx; a: &Datum, seed: i64| hashable(cx, &Range::from_datum(a).shape).map(|()| sql_hash(a, seed as u64) as i64) }
    3840 int4range(int4, int4) -> int4range [immutable] { |cx; a: &Datum, b: &Datum| construct(cx, a, b) }
    3841 int4range(int4, int4, text) -> int4range [immutable] { |cx; a: &Datum, b: &Datum, flags: Option<&str>| construct_with(cx, a, b, flags) }
    3844 numrange(numeric, numeric) -> numrange [immutable] { |cx; a: &Datum, b: &Datum| construct(cx, a, b) }
    3845 numrange(numeric, numeric, text) -> numrange [immutable] { |cx; a: &Datum, b: &Datum, flags: Option<&str>| construct_with(cx, a, b, flags) }
    3848 lower(anyrange) -> anyelement [immutable strict] { |a: Range| value_of(a.span, |span| span.lower) }
    3849 upper(anyrange) -> anyelement [immutable strict] { |a: Range| value_of(a.span, |span| span.upper) }
    3850 isempty(anyrange) -> bool [immutable strict] { |a: Range| a.span.is_none() }
    3851 lower_inc(anyrange) -> bool [immutable strict] { |a: Range| a.span.is_some_and(|span| span.lower.inclusive) }
    3852 upper_inc(anyrange) -> bool [immutable strict] { |a: Range| a.span.is_some_and(|span| span.upper.inclusive) }
    3853 lower_inf(anyrange) -> bool [immutable strict] { |a: Range| a.span.is_some_and(|span| span.lower.value.is_none()) }
    3854 upper_inf(anyrange) -> bool [immutable strict] { |a: Range| a.span.is_some_and(|span| span.upper.value.is_none()) }
    3855 range_eq(anyrange, anyrange) -> bool [immutable strict] { |a: &Datum, b: &Datum| compare(a, b).is_eq() }
    3856 range_ne(anyrange, anyrange) -> bool [immutable strict] { |a: &Datum, b: &Datum| compare(a, b).is_ne() }
    3857 range_overlaps(anyrange, anyrange) -> bool [immutable strict] { |a: Range, b: Range| a.both(&b, |shape, a, b| a.overlaps(shape, b)) }
    3858 range_contains_elem(anyrange, anyelement) -> bool [immutable strict] { |a: Range, b: &Datum| a.contains_value(b) }
    3859 range_contains(anyrange, anyrange) -> bool [immutable strict] { |a: Range, b: Range| a.contains(&b) }
    3860 elem_contained_by_range(anyelement, anyrange) -> bool [immutable strict] { |a: &Datum, b: Range| b.contains_value(a) }
    3861 range_contained_by(anyrange, anyrange) -> bool [immutable strict] { |a: Range, b: Range| b.contains(&a) }
    3862 range_adjacent(anyrange, anyrange) -> bool [immutable strict] { |a: Range, b: Range| a.adjacent(&b) }
    3863 range_before(anyrange, anyrange) -> bool [immutable strict] { |a: Range, b: Range| a.both(&b, |shape, a, b| a.before(shape, b)) }
    3864 range_after(anyrange, anyrange) -> bool [immutable strict] { |a: Range, b: Range| a.both(&b, |shape, a, b| b.before(shape, a)) }
    3865 range_overleft(anyrange, anyrange) -> bool [immutable strict] { |a: Range, b: Range| a.both(&b, |shape, a, b| a.upper.order(shape, &b.upper).is_le()) }
    3866 range_overright(anyrange, anyrange) -> bool [immutable strict] { |a: Range, b: Range| a.both(&b, |shape, a, b| a.lower.order(shape, &b.lower).is_ge()) }
    3867 range_union(anyrange, anyrange) -> anyrange [immutable strict] { |a: Range, b: Range| a.union(b, true) }
    3868 range_intersect(anyrange, anyrange) -> anyrange [immutable strict] { |a: Range, b: Range| a.intersection(&b) }
    4401 range_intersect_agg_transfn(anyrange, anyrange) -> anyrange [immutable strict] { |a: Range, b: Range| a.intersection(&b) }
    3869 range_minus(anyrange, anyrange) -> anyrange [immutable strict] { |a: Range, b: Range| a.minus(&b) }
    3870 range_cmp(anyrange, anyrange) -> int4 [immutable strict] { |a: &Datum, b: &Datum| compare(a, b) as i32 }
    3871 range_lt(anyrange, anyrange) -> bool [immutable strict] { |a: &Datum, b: &Datum| compare(a, b).is_lt() }
    3872 range_le(anyrange, anyrange) -> bool [immutable strict] { |a: &Datum, b: &Datum| compare(a, b).is_le() }
    3873 range_ge(anyrange, anyrange) -> bool [immutable strict] { |a: &Datum, b: &Datum| compare(a, b).is_ge() }
    3874 range_gt(anyrange, anyrange) -> bool [immutable strict] { |a: &Datum, b: &Datum| compare(a, b).is_gt() }
    3902 hash_range(anyrange) -> int4 [immutable strict] { |cx; a: &Datum| hashable(cx, &Range::from_datum(a).shape).map(|()| sql_hash(a, 0) as i32) }
    3914 int4range_canonical(int4range) -> int4range [immutable strict] { |a: &Datum| a.clone() }
    3915 daterange_canonical(daterange) -> daterange [immutable strict] { |a: &Datum| a.clone() }
    3928 int8range_canonical(int8range) -> int8range [immutable strict] { |a: &Datum| a.clone() }
    3922 int4range_subdiff(int4, int4) -> float8 [immutable strict] { |a: i32, b: i32| f64::from(a) - f64::from(b) }
    3923 int8range_subdiff(int8, int8) -> float8 [immutable strict] { |a: i64, b: i64| a as f64 - b as f64 }
    3924 numrange_subdiff(numeric, numeric) -> float8 [immutable strict] { |a: crate::numeric::Numeric, b: crate::numeric::Numeric| a.sub(&b).to_f64() }
    3925 daterange_subdiff(date, date) -> float8 [immutable strict] { |a: i32, b: i32| f64::from(a) - f64::from(b) }
    3929 tsrange_subdiff(timestamp, timestamp) -> float8 [immutable strict] { |a: i64, b: i64| (a as f64 - b as f64) / 1_000_000.0 }
    3930 tstzrange_subdiff(timestamptz, timestamptz) -> float8 [immutable strict] { |a: i64, b: i64| (a as f64 - b as f64) / 1_000_000.0 }
    3933 tsrange(timestamp, timestamp) -> tsrange [immutable] { |cx; a: &Datum, b: &Datum| construct(cx, a, b) }
    3934 tsrange(timestamp, timestamp, text) -> tsrange [immutable] { |cx; a: &Datum, b: &Datum, flags: Option<&str>| construct_with(cx, a, b, flags) }
    3937 tstzrange(timestamptz, timestamptz) -> tstzrange [immutable] { |cx; a: &Datum, b: &Datum| construct(cx, a, b) }
    3938 tstzrange(timestamptz, timestamptz, text) -> tstzrange [immutable] { |cx; a: &Datum, b: &Datum, flags: Option<&str>| construct_with(cx, a, b, flags) }
    3941 daterange(date, date) -> daterange [immutable] { |cx; a: &Datum, b: &Datum| construct(cx, a, b) }
    3942 daterange(date, date, text) -> daterange [immutable] { |cx; a: &Datum, b: &Datum, flags: Option<&str>| construct_with(cx, a, b, flags) }
    3945 int8range(int8, int8) -> int8range [immutable] { |cx; a: &Datum, b: &Datum| construct(cx, a, b) }
    3946 int8range(int8, int8, text) -> int8range [immutable] { |cx; a: &Datum, b: &Datum, flags: Option<&str>| construct_with(cx, a, b, flags) }
    4057 range_merge(anyrange, anyrange) -> anyrange [immutable strict] { |a: Range, b: Range| a.union(b, false) }
}
