//! Functions and operators of multiranges, alone and with ranges.

use super::*;
use crate::{
    array::Array,
    registry::{SetRows, Values},
};

fn construct(cx: &Call, ranges: Vec<Datum>) -> SqlResult<Multirange> {
    let mut spans = Vec::with_capacity(ranges.len());
    for range in &ranges {
        if range.is_null() {
            return Err(sql_err!(NULL_VALUE_NOT_ALLOWED, "multirange values cannot contain null members"));
        }
        spans.extend(Range::from_datum(range).span);
    }
    Multirange::of_type(&range_info(cx.result_type, cx)?, spans, cx)
}

fn construct_from_array(cx: &Call, array: &[u8]) -> SqlResult<Multirange> {
    let array = Array::from_payload(array);
    if array.dimensions.len() > 1 {
        return Err(sql_err!(
            CARDINALITY_VIOLATION,
            "multiranges cannot be constructed from multidimensional arrays"
        ));
    }
    construct(cx, array.into_elements())
}

fn unnest(_cx: &Call, args: &[Datum]) -> SqlResult<Box<dyn SetRows>> {
    let Multirange { shape, spans, .. } = Multirange::from_datum(&args[0]);
    Ok(Box::new(Values(spans.into_iter().map(move |span| Range { shape, span: Some(span) }.into_datum()))))
}

/// Either kind of argument as what the comparisons of position need.
trait Extent {
    fn shape(&self) -> &Shape;
    fn whole(&self) -> Option<Span>;
}

impl Extent for Range {
    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn whole(&self) -> Option<Span> {
        self.span.clone()
    }
}

impl Extent for Multirange {
    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn whole(&self) -> Option<Span> {
        Multirange::whole(self)
    }
}

fn before(a: &impl Extent, b: &impl Extent) -> bool {
    a.whole().zip(b.whole()).is_some_and(|(x, y)| x.before(a.shape(), &y))
}

fn overleft(a: &impl Extent, b: &impl Extent) -> bool {
    a.whole().zip(b.whole()).is_some_and(|(x, y)| x.upper.order(a.shape(), &y.upper).is_le())
}

fn overright(a: &impl Extent, b: &impl Extent) -> bool {
    a.whole().zip(b.whole()).is_some_and(|(x, y)| x.lower.order(a.shape(), &y.lower).is_ge())
}

fn adjacent(a: &impl Extent, b: &impl Extent) -> SqlResult<bool> {
    match a.whole().zip(b.whole()) {
        Some((x, y)) => x.adjacent(a.shape(), &y),
        None => Ok(false),
    }
}

fn overlaps_range(a: &Multirange, b: &Range) -> bool {
    b.span.as_ref().is_some_and(|span| a.overlaps(span))
}

fn overlaps(a: &Multirange, b: &Multirange) -> bool {
    b.spans.iter().any(|span| a.overlaps(span))
}

fn contains_range(a: &Multirange, b: &Range) -> bool {
    b.span.as_ref().is_none_or(|span| a.contains(span))
}

fn contains(a: &Multirange, b: &Multirange) -> bool {
    b.spans.iter().all(|span| a.contains(span))
}

fn within(a: &Multirange, b: &Range) -> bool {
    match (Multirange::whole(a), &b.span) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(whole), Some(span)) => span.contains(&a.shape, &whole),
    }
}

fn value_of(bound: Option<Bound>) -> Datum {
    bound.and_then(|bound| bound.value).unwrap_or_default()
}

impl Multirange {
    fn lower(&self) -> Option<Bound> {
        self.spans.first().map(|span| span.lower.clone())
    }

    fn upper(&self) -> Option<Bound> {
        self.spans.last().map(|span| span.upper.clone())
    }
}

functions! {
    1293 unnest(anymultirange) -> anyrange [immutable strict rows(100.0)] { set unnest }
    4228 range_merge(anymultirange) -> anyrange [immutable strict] { |a: Multirange| Range { shape: a.shape, span: a.whole() } }
    4235 lower(anymultirange) -> anyelement [immutable strict] { |a: Multirange| value_of(a.lower()) }
    4236 upper(anymultirange) -> anyelement [immutable strict] { |a: Multirange| value_of(a.upper()) }
    4237 isempty(anymultirange) -> bool [immutable strict] { |a: Multirange| a.spans.is_empty() }
    4238 lower_inc(anymultirange) -> bool [immutable strict] { |a: Multirange| a.lower().is_some_and(|bound| bound.inclusive) }
    4239 upper_inc(anymultirange) -> bool [immutable strict] { |a: Multirange| a.upper().is_some_and(|bound| bound.inclusive) }
    4240 lower_inf(anymultirange) -> bool [immutable strict] { |a: Multirange| a.lower().is_some_and(|bound| bound.value.is_none()) }
    4241 upper_inf(anymultirange) -> bool [immutable strict] { |a: Multirange| a.upper().is_some_and(|bound| bound.value.is_none()) }
    4244 multirange_eq(anymultirange, anymultirange) -> bool [immutable strict] { |a: &Datum, b: &Datum| compare_multi(a, b).is_eq() }
    4245 multirange_ne(anymultirange, anymultirange) -> bool [immutable strict] { |a: &Datum, b: &Datum| compare_multi(a, b).is_ne() }
    4246 range_overlaps_multirange(anyrange, anymultirange) -> bool [immutable strict] { |a: Range, b: Multirange| overlaps_range(&b, &a) }
    4247 multirange_overlaps_range(anymultirange, anyrange) -> bool [immutable strict] { |a: Multirange, b: Range| overlaps_range(&a, &b) }
    4248 multirange_overlaps_multirange(anymultirange, anymultirange) -> bool [immutable strict] { |a: Multirange, b: Multirange| overlaps(&a, &b) }
    4249 multirange_contains_elem(anymultirange, anyelement) -> bool [immutable strict] { |a: Multirange, b: &Datum| a.contains_value(b) }
    4250 multirange_contains_range(anymultirange, anyrange) -> bool [immutable strict] { |a: Multirange, b: Range| contains_range(&a, &b) }
    4251 multirange_contains_multirange(anymultirange, anymultirange) -> bool [immutable strict] { |a: Multirange, b: Multirange| contains(&a, &b) }
    4252 elem_contained_by_multirange(anyelement, anymultirange) -> bool [immutable strict] { |a: &Datum, b: Multirange| b.contains_value(a) }
    4253 range_contained_by_multirange(anyrange, anymultirange) -> bool [immutable strict] { |a: Range, b: Multirange| contains_range(&b, &a) }
    4254 multirange_contained_by_multirange(anymultirange, anymultirange) -> bool [immutable strict] { |a: Multirange, b: Multirange| contains(&b, &a) }
    4255 range_adjacent_multirange(anyrange, anymultirange) -> bool [immutable strict] { |a: Range, b: Multirange| adjacent(&a, &b) }
    4256 multirange_adjacent_multirange(anymultirange, anymultirange) -> bool [immutable strict] { |a: Multirange, b: Multirange| adjacent(&a, &b) }
    4257 multirange_adjacent_range(anymultirange, anyrange) -> bool [immutable strict] { |a: Multirange, b: Range| adjacent(&a, &b) }
    4258 range_before_multirange(anyrange, anymultirange) -> bool [immutable strict] { |a: Range, b: Multirange| before(&a, &b) }
    4259 multirange_before_range(anymultirange, anyrange) -> bool [immutable strict] { |a: Multirange, b: Range| before(&a, &b) }
    4260 multirange_before_multirange(anymultirange, anymultirange) -> bool [immutable strict] { |a: Multirange, b: Multirange| before(&a, &b) }
    4261 range_after_multirange(anyrange, anymultirange) -> bool [immutable strict] { |a: Range, b: Multirange| before(&b, &a) }
    4262 multirange_after_range(anymultirange, anyrange) -> bool [immutable strict] { |a: Multirange, b: Range| before(&b, &a) }
    4263 multirange_after_multirange(anymultirange, anymultirange) -> bool [immutable strict] { |a: Multirange, b: Multirange| before(&b, &a) }
    4264 range_overleft_multirange(anyrange, anymultirange) -> bool [immutable strict] { |a: Range, b: Multirange| overleft(&a, &b) }
    4265 multirange_overleft_range(anymultirange, anyrange) -> bool [immutable strict] { |a: Multirange, b: Range| overleft(&a, &b) }
    4266 multirange_overleft_multirange(anymultirange, anymultirange) -> bool [immutable strict] { |a: Multirange, b: Multirange| overleft(&a, &b) }
    4267 range_overright_multirange(anyrange, anymultirange) -> bool [immutable strict] { |a: Range, b: Multirange| overright(&a, &b) }
    4268 multirange_overright_range(anymultirange, anyrange) -> bool [immutable strict] { |a: Multirange, b: Range| overright(&a, &b) }
    4269 multirange_overright_multirange(anymultirange, anymultirange) -> bool [immutable strict] { |a: Multirange, b: Multirange| overright(&a, &b) }
    4270 multirange_union(anymultirange, anymultirange) -> anymultirange [immutable strict] { |a: Multirange, b: Multirange| a.union(b) }
    4271 multirange_minus(anymultirange, anymultirange) -> anymultirange [immutable strict] { |cx; a: Multirange, b: Multirange| a.minus(cx, &b) }
    4388 multirange_intersect_agg_transfn(anymultirange, anymultirange) -> anymultirange [immutable strict] { |cx; a: Multirange, b: Multirange| a.intersection(cx, &b) }
    4272 multirange_intersect(anymultirange, anymultirange) -> anymultirange [immutable strict] { |cx; a: Multirange, b: Multirange| a.intersection(cx, &b) }
    4273 multirange_cmp(anymultirange, anymultirange) -> int4 [immutable strict] { |a: &Datum, b: &Datum| compare_multi(a, b) as i32 }
    4274 multirange_lt(anymultirange, anymultirange) -> bool [immutable strict] { |a: &Datum, b: &Datum| compare_multi(a, b).is_lt() }
    4275 multirange_le(anymultirange, anymultirange) -> bool [immutable strict] { |a: &Datum, b: &Datum| compare_multi(a, b).is_le() }
    4276 multirange_ge(anymultirange, anymultirange) -> bool [immutable strict] { |a: &Datum, b: &Datum| compare_multi(a, b).is_ge() }
    4277 multirange_gt(anymultirange, anymultirange) -> bool [immutable strict] { |a: &Datum, b: &Datum| compare_multi(a, b).is_gt() }
    4278 hash_multirange(anymultirange) -> int4 [immutable strict] { |cx; a: &Datum| hashable(cx, &Multirange::from_datum(a).shape).map(|()| sql_hash_multi(a, 0) as i32) }
    4279 hash_multirange_extended(anymultirange, int8) -> int8 [immutable strict] { |cx; a: &Datum, seed: i64| hashable(cx, &Multirange::from_datum(a).shape).map(|()| sql_hash_multi(a, seed as u64) as i64) }
    4280 int4multirange() -> int4multirange [immutable strict] { |cx;| construct(cx, Vec::new()) }
    4281 int4multirange(int4range) -> int4multirange [immutable strict] { |cx; a: &Datum| construct(cx, vec![a.clone()]) }
    4282 int4multirange(_int4range) -> int4multirange [immutable strict variadic(crate::oids::int4range) outs(b"v", &[crate::oids::_int4range])] { |cx; a: &[u8]| construct_from_array(cx, a) }
    4283 nummultirange() -> nummultirange [immutable strict] { |cx;| construct(cx, Vec::new()) }
    4284 nummultirange(numrange) -> nummultirange [immutable strict] { |cx; a: &Datum| construct(cx, vec![a.clone()]) }
    4285 nummultirange(_numrange) -> nummultirange [immutable strict variadic(crate::oids::numrange) outs(b"v", &[crate::oids::_numrange])] { |cx; a: &[u8]| construct_from_array(cx, a) }
    4286 tsmultirange() -> tsmultirange [immutable strict] { |cx;| construct(cx, Vec::new()) }
    4287 tsmultirange(tsrange) -> tsmultirange [immutable strict] { |cx; a: &Datum| construct(cx, vec![a.clone()]) }
    4288 tsmultirange(_tsrange) -> tsmultirange [immutable strict variadic(crate::oids::tsrange) outs(b"v", &[crate::oids::_tsrange])] { |cx; a: &[u8]| construct_from_array(cx, a) }
    4289 tstzmultirange() -> tstzmultirange [immutable strict] { |cx;| construct(cx, Vec::new()) }
    4290 tstzmultirange(tstzrange) -> tstzmultirange [immutable strict] { |cx; a: &Datum| construct(cx, vec![a.clone()]) }
    4291 tstzmultirange(_tstzrange) -> tstzmultirange [immutable strict variadic(crate::oids::tstzrange) outs(b"v", &[crate::oids::_tstzrange])] { |cx; a: &[u8]| construct_from_array(cx, a) }
    4292 datemultirange() -> datemultirange [immutable strict] { |cx;| construct(cx, Vec::new()) }
    4293 datemultirange(daterange) -> datemultirange [immutable strict] { |cx; a: &Datum| construct(cx, vec![a.clone()]) }
    4294 datemultirange(_daterange) -> datemultirange [immutable strict variadic(crate::oids::daterange) outs(b"v", &[crate::oids::_daterange])] { |cx; a: &[u8]| construct_from_array(cx, a) }
    4295 int8multirange() -> int8multirange [immutable strict] { |cx;| construct(cx, Vec::new()) }
    4296 int8multirange(int8range) -> int8multirange [immutable strict] { |cx; a: &Datum| construct(cx, vec![a.clone()]) }
    4297 int8multirange(_int8range) -> int8multirange [immutable strict variadic(crate::oids::int8range) outs(b"v", &[crate::oids::_int8range])] { |cx; a: &[u8]| construct_from_array(cx, a) }
    4298 multirange(anyrange) -> anymultirange [immutable strict] { |cx; a: &Datum| construct(cx, vec![a.clone()]) }
    4541 range_contains_multirange(anyrange, anymultirange) -> bool [immutable strict] { |a: Range, b: Multirange| within(&b, &a) }
    4542 multirange_contained_by_range(anymultirange, anyrange) -> bool [immutable strict] { |a: Multirange, b: Range| within(&a, &b) }
}
