//! Functions that build, measure and take apart arrays.

use base::{Oid, SqlResult, sql_err};
use tuple::Datum;

use crate::{
    call::Call,
    piece::{self, Pace},
    registry::{SetRows, Values, builtin_type},
    value::FromDatum,
};

use super::{Array, Dimension, Dimensions, Elements, compare_by, element_count, text::text_of};
use crate::comparator::order_in;

functions! {
    744 array_eq(anyarray, anyarray) -> bool [immutable strict] { |cx; a: &[u8], b: &[u8]| order(cx, a, b).map(|order| order.is_eq()) }
    390 array_ne(anyarray, anyarray) -> bool [immutable strict] { |cx; a: &[u8], b: &[u8]| order(cx, a, b).map(|order| order.is_ne()) }
    391 array_lt(anyarray, anyarray) -> bool [immutable strict] { |cx; a: &[u8], b: &[u8]| order(cx, a, b).map(|order| order.is_lt()) }
    393 array_le(anyarray, anyarray) -> bool [immutable strict] { |cx; a: &[u8], b: &[u8]| order(cx, a, b).map(|order| order.is_le()) }
    392 array_gt(anyarray, anyarray) -> bool [immutable strict] { |cx; a: &[u8], b: &[u8]| order(cx, a, b).map(|order| order.is_gt()) }
    396 array_ge(anyarray, anyarray) -> bool [immutable strict] { |cx; a: &[u8], b: &[u8]| order(cx, a, b).map(|order| order.is_ge()) }
    382 btarraycmp(anyarray, anyarray) -> int4 [immutable strict] { |cx; a: &[u8], b: &[u8]| order(cx, a, b).map(|order| order as i32) }
    515 array_larger(anyarray, anyarray) -> anyarray [immutable strict] { |cx; a: &Datum, b: &Datum| order_of(cx, a, b).map(|order| if order.is_gt() { a.clone() } else { b.clone() }) }
    516 array_smaller(anyarray, anyarray) -> anyarray [immutable strict] { |cx; a: &Datum, b: &Datum| order_of(cx, a, b).map(|order| if order.is_lt() { a.clone() } else { b.clone() }) }
    626 hash_array(anyarray) -> int4 [immutable strict] { |cx; a: &Datum| seeded(cx, a, 0).map(|hash| hash as i32) }
    782 hash_array_extended(anyarray, int8) -> int8 [immutable strict] { |cx; a: &Datum, seed: i64| seeded(cx, a, seed as u64).map(|hash| hash as i64) }
    679 oidvectoreq(oidvector, oidvector) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| ({ let (a, b) = (super::oid_vector(a), super::oid_vector(b)); a.len().cmp(&b.len()).then_with(|| a.cmp(&b)) }).is_eq() }
    619 oidvectorne(oidvector, oidvector) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| ({ let (a, b) = (super::oid_vector(a), super::oid_vector(b)); a.len().cmp(&b.len()).then_with(|| a.cmp(&b)) }).is_ne() }
    677 oidvectorlt(oidvector, oidvector) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| ({ let (a, b) = (super::oid_vector(a), super::oid_vector(b)); a.len().cmp(&b.len()).then_with(|| a.cmp(&b)) }).is_lt() }
    678 oidvectorle(oidvector, oidvector) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| ({ let (a, b) = (super::oid_vector(a), super::oid_vector(b)); a.len().cmp(&b.len()).then_with(|| a.cmp(&b)) }).is_le() }
    681 oidvectorgt(oidvector, oidvector) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| ({ let (a, b) = (super::oid_vector(a), super::oid_vector(b)); a.len().cmp(&b.len()).then_with(|| a.cmp(&b)) }).is_gt() }
    680 oidvectorge(oidvector, oidvector) -> bool [immutable strict leakproof] { |a: &[u8], b: &[u8]| ({ let (a, b) = (super::oid_vector(a), super::oid_vector(b)); a.len().cmp(&b.len()).then_with(|| a.cmp(&b)) }).is_ge() }
    404 btoidvectorcmp(oidvector, oidvector) -> int4 [immutable strict leakproof] { |a: &[u8], b: &[u8]| ({ let (a, b) = (super::oid_vector(a), super::oid_vector(b)); a.len().cmp(&b.len()).then_with(|| a.cmp(&b)) }) as i32 }
    457 hashoidvector(oidvector) -> int4 [immutable strict] { |a: &Datum| crate::hashing::hash32(crate::oids::oidvector, a) }
    776 hashoidvectorextended(oidvector, int8) -> int8 [immutable strict] { |a: &Datum, seed: i64| crate::hashing::hash64(crate::oids::oidvector, a, seed) }
    378 array_append(anycompatiblearray, anycompatible) -> anycompatiblearray [immutable] { fn append }
    379 array_prepend(anycompatible, anycompatiblearray) -> anycompatiblearray [immutable] { fn prepend }
    383 array_cat(anycompatiblearray, anycompatiblearray) -> anycompatiblearray [immutable] { fn concatenate }
    748 array_ndims(anyarray) -> int4 [immutable strict] { |a: &[u8]| Some(Array::from_payload(a).dimensions.len() as i32).filter(|n| *n > 0) }
    747 array_dims(anyarray) -> text [immutable strict] { |a: &[u8]| dimension_text(&Array::from_payload(a)) }
    2091 array_lower(anyarray, int4) -> int4 [immutable strict] { |a: &[u8], n: i32| dimension(a, n).map(|d| d.lower) }
    2092 array_upper(anyarray, int4) -> int4 [immutable strict] { |a: &[u8], n: i32| dimension(a, n).map(|d| d.upper()) }
    2176 array_length(anyarray, int4) -> int4 [immutable strict] { |a: &[u8], n: i32| dimension(a, n).map(|d| d.length) }
    3179 cardinality(anyarray) -> int4 [immutable strict] { |a: &[u8]| Array::from_payload(a).elements().len() as i32 }
    395 array_to_string(anyarray, text) -> text [stable strict] { fn to_string }
    384 array_to_string(anyarray, text, text) -> text [stable] { fn to_string }
    2331 unnest(anyarray) -> anyelement [immutable strict returns_set rows(100.0)] { set unnest }
    1192 generate_subscripts(anyarray, int4) -> int4 [immutable strict returns_set rows(1000.0)] { set subscripts }
    1191 generate_subscripts(anyarray, int4, bool) -> int4 [immutable strict returns_set rows(1000.0)] { set subscripts }
    1193 array_fill(anyelement, _int4) -> anyarray [immutable] { fn fill }
    1286 array_fill(anyelement, _int4, _int4) -> anyarray [immutable] { fn fill }
    6172 trim_array(anyarray, int4) -> anyarray [immutable strict] { |a: &[u8], n: i32| trim(a, n) }
    6381 array_reverse(anyarray) -> anyarray [immutable strict] { |a: &[u8]| reverse(a) }
    6388 array_sort(anyarray) -> anyarray [immutable strict] { fn sort }
    6389 array_sort(anyarray, bool) -> anyarray [immutable strict names(&["array", "descending"])] { fn sort }
    6390 array_sort(anyarray, bool, bool) -> anyarray [immutable strict names(&["array", "descending", "nulls_first"])] { fn sort }
    6215 array_shuffle(anyarray) -> anyarray [strict] { |cx; a: &[u8]| shuffle(cx, a) }
    6216 array_sample(anyarray, int4) -> anyarray [strict] { |cx; a: &[u8], n: i32| sample(cx, a, n) }
}

/// The element type that the declared types of a call mean for its array.
fn element_type(cx: &Call, array_argument: usize) -> Oid {
    let of = |type_oid: Oid| {
        builtin_type(type_oid)
            .map(|t| t.element)
            .or_else(|| cx.session.type_shape(type_oid).map(|s| s.element))
    };
    of(cx.arg_type(array_argument))
        .filter(|e| e.is_valid())
        .or_else(|| of(cx.result_type))
        .unwrap_or_default()
}

fn array_or_empty(cx: &Call, args: &[Datum], n: usize) -> SqlResult<Array> {
    if args[n].is_null() {
        Array::empty(element_type(cx, n), cx)
    } else {
        Ok(Array::from_payload(<&[u8]>::from_datum(&args[n])))
    }
}

fn one_dimension(array: &Array) -> SqlResult<()> {
    if array.dimensions.len() > 1 {
        return Err(sql_err!(DATA_EXCEPTION, "argument must be empty or one-dimensional array"));
    }
    Ok(())
}

fn append(cx: &Call, args: &[Datum]) -> SqlResult<Datum> {
    let mut array = array_or_empty(cx, args, 0)?;
    one_dimension(&array)?;
    let at = match array.dimensions.first() {
        Some(d) => d.upper().checked_add(1).ok_or_else(crate::int::int4_range)?,
        None => 1,
    };
    array.set(&[at], args[1].clone())?;
    Ok(array.to_datum())
}

fn prepend(cx: &Call, args: &[Datum]) -> SqlResult<Datum> {
    let array = array_or_empty(cx, args, 1)?;
    one_dimension(&array)?;
    let lower = array.dimensions.first().map_or(1, |d| d.lower);
    let element = array.element;
    let mut values = array.into_elements();
    values.insert(0, args[0].clone());
    let dimensions = Dimensions::from_slice(&[Dimension { length: values.len() as i32, lower }]);
    element_count(&dimensions)?;
    Ok(Array::with_dimensions(element, dimensions, values, cx)?.to_datum())
}

fn concatenate(cx: &Call, args: &[Datum]) -> SqlResult<Datum> {
    if args[0].is_null() || args[1].is_null() {
        return Ok(if args[0].is_null() { args[1].clone() } else { args[0].clone() });
    }
    let (a, b) = (array_or_empty(cx, args, 0)?, array_or_empty(cx, args, 1)?);
    if a.dimensions.is_empty() || b.dimensions.is_empty() {
        return Ok(if a.dimensions.is_empty() { args[1].clone() } else { args[0].clone() });
    }
    let incompatible = |detail: String| {
        sql_err!(ARRAY_SUBSCRIPT_ERROR, "cannot concatenate incompatible arrays").detail(detail)
    };
    let (n, m) = (a.dimensions.len(), b.dimensions.len());
    let inner = "Arrays with differing dimensions are not compatible for concatenation.";
    let dimensions = if n == m {
        if a.dimensions[1..].iter().zip(&b.dimensions[1..]).any(|(x, y)| x != y) {
            return Err(incompatible(
                "Arrays with differing element dimensions are not compatible for concatenation.".into(),
            ));
        }
        let mut dimensions = a.dimensions.clone();
        dimensions[0].length = dimensions[0].length.saturating_add(b.dimensions[0].length);
        dimensions
    } else if n == m + 1 || n + 1 == m {
        let (outer, item) = if n > m { (&a, &b) } else { (&b, &a) };
        if outer.dimensions[1..] != item.dimensions[..] {
            return Err(incompatible(inner.into()));
        }
        let mut dimensions = outer.dimensions.clone();
        dimensions[0].length = dimensions[0].length.saturating_add(1);
        dimensions
    } else {
        return Err(incompatible(format!(
            "Arrays of {n} and {m} dimensions are not compatible for concatenation."
        )));
    };
    element_count(&dimensions)?;
    let element = a.element;
    let mut values = a.into_elements();
    values.extend(b.into_elements());
    Ok(Array::with_dimensions(element, dimensions, values, cx)?.to_datum())
}

fn dimension(bytes: &[u8], n: i32) -> Option<Dimension> {
    let n = usize::try_from(n).ok()?.checked_sub(1)?;
    Array::from_payload(bytes).dimensions.get(n).copied()
}

fn dimension_text(array: &Array) -> Option<String> {
    let text: String = array.dimensions.iter().map(|d| format!("[{}:{}]", d.lower, d.upper())).collect();
    Some(text).filter(|t| !t.is_empty())
}

fn to_string(cx: &Call, args: &[Datum]) -> SqlResult<Datum> {
    if args[0].is_null() || args[1].is_null() {
        return Ok(Datum::Null);
    }
    let array = array_or_empty(cx, args, 0)?;
    let separator = <&str>::from_datum(&args[1]);
    let null = args.get(2).and_then(Option::<&str>::from_datum);
    let mut out = Vec::new();
    let mut first = true;
    let mut pace = Pace::new();
    for value in array.elements() {
        pace.did(64)?;
        let text =
            if value.is_null() { null.map(str::to_owned) } else { Some(text_of(array.element, value, cx)?) };
        let Some(text) = text else { continue };
        if !first {
            piece::append(&mut out, separator.as_bytes())?;
        }
        first = false;
        piece::append(&mut out, text.as_bytes())?;
    }
    Ok(Datum::Bytes(out.into()))
}

fn unnest(_cx: &Call, args: &[Datum]) -> SqlResult<Box<dyn SetRows>> {
    match &args[0] {
        Datum::Bytes(payload) => Ok(Box::new(Values(Elements::new(payload.clone()).map(Ok)))),
        _ => Ok(Box::new(Values(std::iter::empty()))),
    }
}

fn subscripts(_cx: &Call, args: &[Datum]) -> SqlResult<Box<dyn SetRows>> {
    if args.iter().any(Datum::is_null) {
        return Ok(Box::new(Values(std::iter::empty())));
    }
    let found = dimension(<&[u8]>::from_datum(&args[0]), i32::from_datum(&args[1]));
    let reverse = args.get(2).is_some_and(bool::from_datum);
    let (lower, length) = found.map_or((1, 0), |d| (d.lower, d.length));
    Ok(Box::new(Values(
        (0..length).map(move |i| Ok(Datum::Int4(lower + if reverse { length - 1 - i } else { i }))),
    )))
}

/// `array_fill(value, lengths[, lower bounds])`
fn fill(cx: &Call, args: &[Datum]) -> SqlResult<Datum> {
    let null = || sql_err!(NULL_VALUE_NOT_ALLOWED, "dimension array or low bound array cannot be null");
    let list = |n: usize| -> SqlResult<Vec<i32>> {
        let bytes = Option::<&[u8]>::from_datum(&args[n]).ok_or_else(null)?;
        let array = Array::from_payload(bytes);
        if array.dimensions.len() > 1 {
            return Err(sql_err!(ARRAY_SUBSCRIPT_ERROR, "wrong number of array subscripts")
                .detail("Dimension array must be one dimensional."));
        }
        if array.has_nulls() {
            return Err(sql_err!(NULL_VALUE_NOT_ALLOWED, "dimension values cannot be null"));
        }
        Ok(array.elements().iter().map(i32::from_datum).collect())
    };
    let lengths = list(1)?;
    let lowers = if args.len() > 2 { list(2)? } else { vec![1; lengths.len()] };
    if lengths.len() != lowers.len() {
        return Err(sql_err!(ARRAY_SUBSCRIPT_ERROR, "wrong number of array subscripts")
            .detail("Low bound array has different size than dimensions array."));
    }
    if lengths.len() > super::MAX_DIMENSIONS {
        return Err(sql_err!(
            PROGRAM_LIMIT_EXCEEDED,
            "number of array dimensions ({}) exceeds the maximum allowed ({})",
            lengths.len(),
            super::MAX_DIMENSIONS
        ));
    }
    let dimensions: Dimensions = lengths
        .iter()
        .zip(&lowers)
        .map(|(length, lower)| Dimension { length: *length, lower: *lower })
        .collect();
    if lengths.iter().any(|l| *l < 0) {
        return Err(sql_err!(
            PROGRAM_LIMIT_EXCEEDED,
            "array size exceeds the maximum allowed ({})",
            super::MAX_ELEMENTS
        ));
    }
    let count = element_count(&dimensions)?;
    let element = cx.arg_type(0);
    if count == 0 {
        return Ok(Array::empty(element, cx)?.to_datum());
    }
    let (mut values, mut pace) = (Vec::with_capacity(count), Pace::new());
    for _ in 0..count {
        values.push(args[0].clone());
        pace.did(16)?;
    }
    Ok(Array::with_dimensions(element, dimensions, values, cx)?.to_datum())
}

/// Number of elements of the outermost dimension, and of what each of them holds.
fn outer(array: &Array) -> (usize, usize) {
    let length = array.dimensions.first().map_or(0, |d| d.length as usize);
    (length, array.elements().len().checked_div(length).unwrap_or(0))
}

/// Keeps items of the outermost dimension in the given order.
fn pick(array: &Array, order: &[usize], lower: i32) -> Datum {
    let (_, size) = outer(array);
    let mut out = Array {
        values: Vec::with_capacity(order.len() * size),
        dimensions: array.dimensions.clone(),
        ..*array
    };
    let mut pace = Pace::new();
    for i in order {
        out.values.extend_from_slice(&array.values[i * size..(i + 1) * size]);
        pace.pass(16 * size);
    }
    if out.values.is_empty() {
        out.dimensions.clear();
    } else {
        out.dimensions[0] = Dimension { length: order.len() as i32, lower };
    }
    out.to_datum()
}

fn trim(bytes: &[u8], n: i32) -> SqlResult<Datum> {
    let array = Array::from_payload(bytes);
    let (length, _) = outer(&array);
    if n < 0 || n as usize > length {
        return Err(sql_err!(
            ARRAY_ELEMENT_ERROR,
            "number of elements to trim must be between 0 and {length}"
        ));
    }
    let keep: Vec<usize> = (0..length - n as usize).collect();
    Ok(pick(&array, &keep, array.dimensions.first().map_or(1, |_| 1)))
}

fn reverse(bytes: &[u8]) -> Datum {
    let array = Array::from_payload(bytes);
    let order: Vec<usize> = (0..outer(&array).0).rev().collect();
    pick(&array, &order, array.dimensions.first().map_or(1, |d| d.lower))
}

fn sort(cx: &Call, args: &[Datum]) -> SqlResult<Datum> {
    let array = Array::from_payload(<&[u8]>::from_datum(&args[0]));
    let descending = args.get(1).is_some_and(bool::from_datum);
    let nulls_first = args.get(2).map_or(descending, bool::from_datum);
    let (length, size) = outer(&array);
    if length < 2 {
        return Ok(args[0].clone());
    }
    let missing = || {
        sql_err!(UNDEFINED_FUNCTION, "could not identify a comparison function for type {}", array.element)
    };
    let order = order_in(cx, array.comparable)?.ok_or_else(missing)?;
    let mut items: Vec<usize> = (0..length).collect();
    let nulls = |x: &Datum, y: &Datum| {
        let side = y.is_null().cmp(&x.is_null());
        if nulls_first { side } else { side.reverse() }
    };
    piece::sort_by(&mut items, |i, j| {
        let (x, y) = (&array.values[i * size..(i + 1) * size], &array.values[j * size..(j + 1) * size]);
        for (x, y) in x.iter().zip(y) {
            let found = if x.is_null() || y.is_null() {
                nulls(x, y)
            } else if descending {
                order.compare(y, x)
            } else {
                order.compare(x, y)
            };
            if found.is_ne() {
                return found;
            }
        }
        std::cmp::Ordering::Equal
    })?;
    Ok(pick(&array, &items, array.dimensions[0].lower))
}

fn shuffled(cx: &Call, length: usize, keep: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..length).collect();
    cx.session.with_random(&mut |generator| {
        let mut pace = Pace::new();
        for i in 0..keep {
            pace.pass(16);
            let j = generator.range(i as i64, length as i64 - 1) as usize;
            order.swap(i, j);
        }
    });
    order.truncate(keep);
    order
}

fn shuffle(cx: &Call, bytes: &[u8]) -> Datum {
    let array = Array::from_payload(bytes);
    let (length, _) = outer(&array);
    pick(&array, &shuffled(cx, length, length), array.dimensions.first().map_or(1, |d| d.lower))
}

fn sample(cx: &Call, bytes: &[u8], n: i32) -> SqlResult<Datum> {
    let array = Array::from_payload(bytes);
    let (length, _) = outer(&array);
    if n < 0 || n as usize > length {
        return Err(sql_err!(INVALID_PARAMETER_VALUE, "sample size must be between 0 and {length}"));
    }
    Ok(pick(&array, &shuffled(cx, length, n as usize), 1))
}

/// Order of two arrays in the collation of a call.
fn order(cx: &Call, a: &[u8], b: &[u8]) -> SqlResult<std::cmp::Ordering> {
    let (a, b) = (Array::at_once(a), Array::at_once(b));
    Ok(compare_by(order_in(cx, a.comparable)?, &a, &b))
}

fn order_of(cx: &Call, a: &Datum, b: &Datum) -> SqlResult<std::cmp::Ordering> {
    order(cx, <&[u8]>::from_datum(a), <&[u8]>::from_datum(b))
}

/// The hash that SQL sees, in the collation of a call: an error where the elements have no hash.
fn seeded(cx: &Call, a: &Datum, seed: u64) -> SqlResult<u64> {
    let array = Array::from_payload(<&[u8]>::from_datum(a));
    if crate::compare::hash(array.comparable).is_none() {
        return Err(crate::hashing::no_hash(cx, array.element));
    }
    Ok(super::kinds::seeded_hash_under(cx.rules_for(array.comparable)?, a, seed))
}
