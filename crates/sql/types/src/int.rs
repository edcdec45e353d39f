//! `int2`, `int4`, `int8`: arithmetic, comparison, bits.

use base::{SqlError, SqlResult, sql_err};
use tuple::Datum;

use crate::registry::types::prelude::*;
use crate::{
    call::Call,
    registry::{SetRows, Values},
    value::FromDatum,
};

/// `smallint out of range`
#[cold]
pub fn int2_range() -> SqlError {
    sql_err!(NUMERIC_VALUE_OUT_OF_RANGE, "smallint out of range")
}

/// `integer out of range`
#[cold]
pub fn int4_range() -> SqlError {
    sql_err!(NUMERIC_VALUE_OUT_OF_RANGE, "integer out of range")
}

/// `bigint out of range`
#[cold]
pub fn int8_range() -> SqlError {
    sql_err!(NUMERIC_VALUE_OUT_OF_RANGE, "bigint out of range")
}

/// `division by zero`
#[cold]
pub fn division_by_zero() -> SqlError {
    sql_err!(DIVISION_BY_ZERO, "division by zero")
}

/// Arithmetic of one width with its errors; also what the expression compiler calls inline.
macro_rules! arithmetic {
    ($module:ident, $ty:ty, $range:ident, $doc:literal) => {
        #[doc = $doc]
        pub mod $module {
            use super::*;

            /// Sum.
            #[inline]
            pub fn add(a: $ty, b: $ty) -> SqlResult<$ty> {
                a.checked_add(b).ok_or_else($range)
            }

            /// Difference.
            #[inline]
            pub fn sub(a: $ty, b: $ty) -> SqlResult<$ty> {
                a.checked_sub(b).ok_or_else($range)
            }

            /// Product.
            #[inline]
            pub fn mul(a: $ty, b: $ty) -> SqlResult<$ty> {
                a.checked_mul(b).ok_or_else($range)
            }

            /// Quotient, cut towards zero.
            #[inline]
            pub fn div(a: $ty, b: $ty) -> SqlResult<$ty> {
                if b == 0 { Err(division_by_zero()) } else { a.checked_div(b).ok_or_else($range) }
            }

            /// Remainder with the sign of the dividend.
            #[inline]
            pub fn rem(a: $ty, b: $ty) -> SqlResult<$ty> {
                if b == 0 { Err(division_by_zero()) } else { Ok(a.wrapping_rem(b)) }
            }

            /// Opposite.
            #[inline]
            pub fn neg(a: $ty) -> SqlResult<$ty> {
                a.checked_neg().ok_or_else($range)
            }

            /// Absolute value.
            pub fn abs(a: $ty) -> SqlResult<$ty> {
                a.checked_abs().ok_or_else($range)
            }

            /// Greatest common divisor.
            pub fn gcd(a: $ty, b: $ty) -> SqlResult<$ty> {
                let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
                while b != 0 {
                    (a, b) = (b, a % b);
                }
                <$ty>::try_from(a).map_err(|_| $range())
            }

            /// Least common multiple.
            pub fn lcm(a: $ty, b: $ty) -> SqlResult<$ty> {
                if a == 0 || b == 0 {
                    return Ok(0);
                }
                let divisor = gcd(a, b)?;
                let product = mul(a / divisor, b)?;
                product.checked_abs().ok_or_else($range)
            }
        }
    };
}

arithmetic!(two, i16, int2_range, "Of `int2`.");
arithmetic!(four, i32, int4_range, "Of `int4`.");
arithmetic!(eight, i64, int8_range, "Of `int8`.");

/// Appends a decimal number.
pub(crate) fn output(_type_oid: Oid, value: &Datum, _cx: &Call, out: &mut Vec<u8>) -> SqlResult<()> {
    let value = crate::compare::widen(value);
    if value < 0 {
        out.push(b'-');
    }
    base::push_decimal(out, value.unsigned_abs());
    Ok(())
}

/// Reads 64 bits.
pub(crate) fn receive8(
    _type_oid: Oid,
    reader: &mut crate::value::Reader,
    _typmod: i32,
    _cx: &Call,
) -> SqlResult<Datum> {
    Ok(Datum::Int8(reader.i64()?))
}

/// A whole number of 16 bits.
pub(crate) static INT2: TypeImp = TypeImp {
    row: Some(TypeInfo {
        array: oids::_int2,
        io: [Oid(38), Oid(39), Oid(2404), Oid(2405)],
        ..TypeInfo::new(oids::int2, "int2", b'N', Physical::Int2)
    }),
    input: |_, text, _, _| Ok(Datum::Int2(parse(text, "smallint")?)),
    output,
    receive: |_, reader, _, _| Ok(Datum::Int2(reader.i16()?)),
    sql_name: "smallint",
    ..crate::compare::INTEGERS
};

/// A whole number of 32 bits.
pub(crate) static INT4: TypeImp = TypeImp {
    row: Some(TypeInfo {
        array: oids::_int4,
        io: [Oid(42), Oid(43), Oid(2406), Oid(2407)],
        ..TypeInfo::new(oids::int4, "int4", b'N', Physical::Int4)
    }),
    input: |_, text, _, _| Ok(Datum::Int4(parse(text, "integer")?)),
    output,
    receive: |_, reader, _, _| Ok(Datum::Int4(reader.i32()?)),
    sql_name: "integer",
    ..crate::compare::INTEGERS
};

/// A whole number of 64 bits.
pub(crate) static INT8: TypeImp = TypeImp {
    row: Some(TypeInfo {
        array: oids::_int8,
        io: [Oid(460), Oid(461), Oid(2408), Oid(2409)],
        ..TypeInfo::new(oids::int8, "int8", b'N', Physical::Int8)
    }),
    input: |_, text, _, _| Ok(Datum::Int8(parse(text, "bigint")?)),
    output,
    receive: |_, reader, _, _| Ok(Datum::Int8(reader.i64()?)),
    sql_name: "bigint",
    ..crate::compare::INTEGERS
};

functions! {
    38 int2in(cstring) -> int2 [immutable strict] { input int2 }
    39 int2out(int2) -> cstring [immutable strict] { output int2 }
    42 int4in(cstring) -> int4 [immutable strict] { input int4 }
    43 int4out(int4) -> cstring [immutable strict] { output int4 }
    460 int8in(cstring) -> int8 [immutable strict] { input int8 }
    461 int8out(int8) -> cstring [immutable strict] { output int8 }
    2404 int2recv(internal) -> int2 [immutable strict] { receive int2 }
    2405 int2send(int2) -> bytea [immutable strict] { send int2 }
    2406 int4recv(internal) -> int4 [immutable strict] { receive int4 }
    2407 int4send(int4) -> bytea [immutable strict] { send int4 }
    2408 int8recv(internal) -> int8 [immutable strict] { receive int8 }
    2409 int8send(int8) -> bytea [immutable strict] { send int8 }
    63 int2eq(int2, int2) -> bool [immutable strict leakproof] { |a: i16, b: i16| (a.cmp(&b)).is_eq() }
    145 int2ne(int2, int2) -> bool [immutable strict leakproof] { |a: i16, b: i16| (a.cmp(&b)).is_ne() }
    64 int2lt(int2, int2) -> bool [immutable strict leakproof] { |a: i16, b: i16| (a.cmp(&b)).is_lt() }
    148 int2le(int2, int2) -> bool [immutable strict leakproof] { |a: i16, b: i16| (a.cmp(&b)).is_le() }
    146 int2gt(int2, int2) -> bool [immutable strict leakproof] { |a: i16, b: i16| (a.cmp(&b)).is_gt() }
    151 int2ge(int2, int2) -> bool [immutable strict leakproof] { |a: i16, b: i16| (a.cmp(&b)).is_ge() }
    350 btint2cmp(int2, int2) -> int4 [immutable strict leakproof] { |a: i16, b: i16| (a.cmp(&b)) as i32 }
    65 int4eq(int4, int4) -> bool [immutable strict leakproof] { |a: i32, b: i32| (a.cmp(&b)).is_eq() }
    144 int4ne(int4, int4) -> bool [immutable strict leakproof] { |a: i32, b: i32| (a.cmp(&b)).is_ne() }
    66 int4lt(int4, int4) -> bool [immutable strict leakproof] { |a: i32, b: i32| (a.cmp(&b)).is_lt() }
    149 int4le(int4, int4) -> bool [immutable strict leakproof] { |a: i32, b: i32| (a.cmp(&b)).is_le() }
    147 int4gt(int4, int4) -> bool [immutable strict leakproof] { |a: i32, b: i32| (a.cmp(&b)).is_gt() }
    150 int4ge(int4, int4) -> bool [immutable strict leakproof] { |a: i32, b: i32| (a.cmp(&b)).is_ge() }
    5051 btequalimage(oid) -> bool [immutable strict] { |_input: &Datum| true }
    351 btint4cmp(int4, int4) -> int4 [immutable strict leakproof] { |a: i32, b: i32| (a.cmp(&b)) as i32 }
    467 int8eq(int8, int8) -> bool [immutable strict leakproof] { |a: i64, b: i64| (a.cmp(&b)).is_eq() }
    468 int8ne(int8, int8) -> bool [immutable strict leakproof] { |a: i64, b: i64| (a.cmp(&b)).is_ne() }
    469 int8lt(int8, int8) -> bool [immutable strict leakproof] { |a: i64, b: i64| (a.cmp(&b)).is_lt() }
    471 int8le(int8, int8) -> bool [immutable strict leakproof] { |a: i64, b: i64| (a.cmp(&b)).is_le() }
    470 int8gt(int8, int8) -> bool [immutable strict leakproof] { |a: i64, b: i64| (a.cmp(&b)).is_gt() }
    472 int8ge(int8, int8) -> bool [immutable strict leakproof] { |a: i64, b: i64| (a.cmp(&b)).is_ge() }
    842 btint8cmp(int8, int8) -> int4 [immutable strict leakproof] { |a: i64, b: i64| (a.cmp(&b)) as i32 }
    158 int24eq(int2, int4) -> bool [immutable strict leakproof] { |a: i16, b: i32| (i32::from(a).cmp(&b)).is_eq() }
    164 int24ne(int2, int4) -> bool [immutable strict leakproof] { |a: i16, b: i32| (i32::from(a).cmp(&b)).is_ne() }
    160 int24lt(int2, int4) -> bool [immutable strict leakproof] { |a: i16, b: i32| (i32::from(a).cmp(&b)).is_lt() }
    166 int24le(int2, int4) -> bool [immutable strict leakproof] { |a: i16, b: i32| (i32::from(a).cmp(&b)).is_le() }
    162 int24gt(int2, int4) -> bool [immutable strict leakproof] { |a: i16, b: i32| (i32::from(a).cmp(&b)).is_gt() }
    168 int24ge(int2, int4) -> bool [immutable strict leakproof] { |a: i16, b: i32| (i32::from(a).cmp(&b)).is_ge() }
    2190 btint24cmp(int2, int4) -> int4 [immutable strict leakproof] { |a: i16, b: i32| (i32::from(a).cmp(&b)) as i32 }
    159 int42eq(int4, int2) -> bool [immutable strict leakproof] { |a: i32, b: i16| (a.cmp(&i32::from(b))).is_eq() }
    165 int42ne(int4, int2) -> bool [immutable strict leakproof] { |a: i32, b: i16| (a.cmp(&i32::from(b))).is_ne() }
    161 int42lt(int4, int2) -> bool [immutable strict leakproof] { |a: i32, b: i16| (a.cmp(&i32::from(b))).is_lt() }
    167 int42le(int4, int2) -> bool [immutable strict leakproof] { |a: i32, b: i16| (a.cmp(&i32::from(b))).is_le() }
    163 int42gt(int4, int2) -> bool [immutable strict leakproof] { |a: i32, b: i16| (a.cmp(&i32::from(b))).is_gt() }
    169 int42ge(int4, int2) -> bool [immutable strict leakproof] { |a: i32, b: i16| (a.cmp(&i32::from(b))).is_ge() }
    2191 btint42cmp(int4, int2) -> int4 [immutable strict leakproof] { |a: i32, b: i16| (a.cmp(&i32::from(b))) as i32 }
    1850 int28eq(int2, int8) -> bool [immutable strict leakproof] { |a: i16, b: i64| (i64::from(a).cmp(&b)).is_eq() }
    1851 int28ne(int2, int8) -> bool [immutable strict leakproof] { |a: i16, b: i64| (i64::from(a).cmp(&b)).is_ne() }
    1852 int28lt(int2, int8) -> bool [immutable strict leakproof] { |a: i16, b: i64| (i64::from(a).cmp(&b)).is_lt() }
    1854 int28le(int2, int8) -> bool [immutable strict leakproof] { |a: i16, b: i64| (i64::from(a).cmp(&b)).is_le() }
    1853 int28gt(int2, int8) -> bool [immutable strict leakproof] { |a: i16, b: i64| (i64::from(a).cmp(&b)).is_gt() }
    1855 int28ge(int2, int8) -> bool [immutable strict leakproof] { |a: i16, b: i64| (i64::from(a).cmp(&b)).is_ge() }
    2192 btint28cmp(int2, int8) -> int4 [immutable strict leakproof] { |a: i16, b: i64| (i64::from(a).cmp(&b)) as i32 }
    1856 int82eq(int8, int2) -> bool [immutable strict leakproof] { |a: i64, b: i16| (a.cmp(&i64::from(b))).is_eq() }
    1857 int82ne(int8, int2) -> bool [immutable strict leakproof] { |a: i64, b: i16| (a.cmp(&i64::from(b))).is_ne() }
    1858 int82lt(int8, int2) -> bool [immutable strict leakproof] { |a: i64, b: i16| (a.cmp(&i64::from(b))).is_lt() }
    1860 int82le(int8, int2) -> bool [immutable strict leakproof] { |a: i64, b: i16| (a.cmp(&i64::from(b))).is_le() }
    1859 int82gt(int8, int2) -> bool [immutable strict leakproof] { |a: i64, b: i16| (a.cmp(&i64::from(b))).is_gt() }
    1861 int82ge(int8, int2) -> bool [immutable strict leakproof] { |a: i64, b: i16| (a.cmp(&i64::from(b))).is_ge() }
    2193 btint82cmp(int8, int2) -> int4 [immutable strict leakproof] { |a: i64, b: i16| (a.cmp(&i64::from(b))) as i32 }
    852 int48eq(int4, int8) -> bool [immutable strict leakproof] { |a: i32, b: i64| (i64::from(a).cmp(&b)).is_eq() }
    853 int48ne(int4, int8) -> bool [immutable strict leakproof] { |a: i32, b: i64| (i64::from(a).cmp(&b)).is_ne() }
    854 int48lt(int4, int8) -> bool [immutable strict leakproof] { |a: i32, b: i64| (i64::from(a).cmp(&b)).is_lt() }
    856 int48le(int4, int8) -> bool [immutable strict leakproof] { |a: i32, b: i64| (i64::from(a).cmp(&b)).is_le() }
    855 int48gt(int4, int8) -> bool [immutable strict leakproof] { |a: i32, b: i64| (i64::from(a).cmp(&b)).is_gt() }
    857 int48ge(int4, int8) -> bool [immutable strict leakproof] { |a: i32, b: i64| (i64::from(a).cmp(&b)).is_ge() }
    2188 btint48cmp(int4, int8) -> int4 [immutable strict leakproof] { |a: i32, b: i64| (i64::from(a).cmp(&b)) as i32 }
    474 int84eq(int8, int4) -> bool [immutable strict leakproof] { |a: i64, b: i32| (a.cmp(&i64::from(b))).is_eq() }
    475 int84ne(int8, int4) -> bool [immutable strict leakproof] { |a: i64, b: i32| (a.cmp(&i64::from(b))).is_ne() }
    476 int84lt(int8, int4) -> bool [immutable strict leakproof] { |a: i64, b: i32| (a.cmp(&i64::from(b))).is_lt() }
    478 int84le(int8, int4) -> bool [immutable strict leakproof] { |a: i64, b: i32| (a.cmp(&i64::from(b))).is_le() }
    477 int84gt(int8, int4) -> bool [immutable strict leakproof] { |a: i64, b: i32| (a.cmp(&i64::from(b))).is_gt() }
    479 int84ge(int8, int4) -> bool [immutable strict leakproof] { |a: i64, b: i32| (a.cmp(&i64::from(b))).is_ge() }
    2189 btint84cmp(int8, int4) -> int4 [immutable strict leakproof] { |a: i64, b: i32| (a.cmp(&i64::from(b))) as i32 }
    176 int2pl(int2, int2) -> int2 [immutable strict] { |a: i16, b: i16| two::add(a, b) }
    180 int2mi(int2, int2) -> int2 [immutable strict] { |a: i16, b: i16| two::sub(a, b) }
    152 int2mul(int2, int2) -> int2 [immutable strict] { |a: i16, b: i16| two::mul(a, b) }
    153 int2div(int2, int2) -> int2 [immutable strict] { |a: i16, b: i16| two::div(a, b) }
    155 int2mod(int2, int2) -> int2 [immutable strict] { |a: i16, b: i16| two::rem(a, b) }
    940 mod(int2, int2) -> int2 [immutable strict] { |a: i16, b: i16| two::rem(a, b) }
    177 int4pl(int4, int4) -> int4 [immutable strict] { |a: i32, b: i32| four::add(a, b) }
    181 int4mi(int4, int4) -> int4 [immutable strict] { |a: i32, b: i32| four::sub(a, b) }
    141 int4mul(int4, int4) -> int4 [immutable strict] { |a: i32, b: i32| four::mul(a, b) }
    154 int4div(int4, int4) -> int4 [immutable strict] { |a: i32, b: i32| four::div(a, b) }
    156 int4mod(int4, int4) -> int4 [immutable strict] { |a: i32, b: i32| four::rem(a, b) }
    941 mod(int4, int4) -> int4 [immutable strict] { |a: i32, b: i32| four::rem(a, b) }
    463 int8pl(int8, int8) -> int8 [immutable strict] { |a: i64, b: i64| eight::add(a, b) }
    464 int8mi(int8, int8) -> int8 [immutable strict] { |a: i64, b: i64| eight::sub(a, b) }
    465 int8mul(int8, int8) -> int8 [immutable strict] { |a: i64, b: i64| eight::mul(a, b) }
    466 int8div(int8, int8) -> int8 [immutable strict] { |a: i64, b: i64| eight::div(a, b) }
    945 int8mod(int8, int8) -> int8 [immutable strict] { |a: i64, b: i64| eight::rem(a, b) }
    947 mod(int8, int8) -> int8 [immutable strict] { |a: i64, b: i64| eight::rem(a, b) }
    178 int24pl(int2, int4) -> int4 [immutable strict] { |a: i16, b: i32| four::add(a.into(), b) }
    182 int24mi(int2, int4) -> int4 [immutable strict] { |a: i16, b: i32| four::sub(a.into(), b) }
    170 int24mul(int2, int4) -> int4 [immutable strict] { |a: i16, b: i32| four::mul(a.into(), b) }
    172 int24div(int2, int4) -> int4 [immutable strict] { |a: i16, b: i32| four::div(a.into(), b) }
    179 int42pl(int4, int2) -> int4 [immutable strict] { |a: i32, b: i16| four::add(a, b.into()) }
    183 int42mi(int4, int2) -> int4 [immutable strict] { |a: i32, b: i16| four::sub(a, b.into()) }
    171 int42mul(int4, int2) -> int4 [immutable strict] { |a: i32, b: i16| four::mul(a, b.into()) }
    173 int42div(int4, int2) -> int4 [immutable strict] { |a: i32, b: i16| four::div(a, b.into()) }
    841 int28pl(int2, int8) -> int8 [immutable strict] { |a: i16, b: i64| eight::add(a.into(), b) }
    942 int28mi(int2, int8) -> int8 [immutable strict] { |a: i16, b: i64| eight::sub(a.into(), b) }
    943 int28mul(int2, int8) -> int8 [immutable strict] { |a: i16, b: i64| eight::mul(a.into(), b) }
    948 int28div(int2, int8) -> int8 [immutable strict] { |a: i16, b: i64| eight::div(a.into(), b) }
    837 int82pl(int8, int2) -> int8 [immutable strict] { |a: i64, b: i16| eight::add(a, b.into()) }
    838 int82mi(int8, int2) -> int8 [immutable strict] { |a: i64, b: i16| eight::sub(a, b.into()) }
    839 int82mul(int8, int2) -> int8 [immutable strict] { |a: i64, b: i16| eight::mul(a, b.into()) }
    840 int82div(int8, int2) -> int8 [immutable strict] { |a: i64, b: i16| eight::div(a, b.into()) }
    1278 int48pl(int4, int8) -> int8 [immutable strict] { |a: i32, b: i64| eight::add(a.into(), b) }
    1279 int48mi(int4, int8) -> int8 [immutable strict] { |a: i32, b: i64| eight::sub(a.into(), b) }
    1280 int48mul(int4, int8) -> int8 [immutable strict] { |a: i32, b: i64| eight::mul(a.into(), b) }
    1281 int48div(int4, int8) -> int8 [immutable strict] { |a: i32, b: i64| eight::div(a.into(), b) }
    1274 int84pl(int8, int4) -> int8 [immutable strict] { |a: i64, b: i32| eight::add(a, b.into()) }
    1275 int84mi(int8, int4) -> int8 [immutable strict] { |a: i64, b: i32| eight::sub(a, b.into()) }
    1276 int84mul(int8, int4) -> int8 [immutable strict] { |a: i64, b: i32| eight::mul(a, b.into()) }
    1277 int84div(int8, int4) -> int8 [immutable strict] { |a: i64, b: i32| eight::div(a, b.into()) }
    213 int2um(int2) -> int2 [immutable strict] { |a: i16| two::neg(a) }
    212 int4um(int4) -> int4 [immutable strict] { |a: i32| four::neg(a) }
    462 int8um(int8) -> int8 [immutable strict] { |a: i64| eight::neg(a) }
    1911 int2up(int2) -> int2 [immutable strict] { |a: i16| a }
    1912 int4up(int4) -> int4 [immutable strict] { |a: i32| a }
    1910 int8up(int8) -> int8 [immutable strict] { |a: i64| a }
    1253 int2abs(int2) -> int2 [immutable strict] { |a: i16| two::abs(a) }
    1251 int4abs(int4) -> int4 [immutable strict] { |a: i32| four::abs(a) }
    1230 int8abs(int8) -> int8 [immutable strict] { |a: i64| eight::abs(a) }
    1398 abs(int2) -> int2 [immutable strict] { |a: i16| two::abs(a) }
    1397 abs(int4) -> int4 [immutable strict] { |a: i32| four::abs(a) }
    1396 abs(int8) -> int8 [immutable strict] { |a: i64| eight::abs(a) }
    5044 gcd(int4, int4) -> int4 [immutable strict] { |a: i32, b: i32| four::gcd(a, b) }
    5045 gcd(int8, int8) -> int8 [immutable strict] { |a: i64, b: i64| eight::gcd(a, b) }
    5046 lcm(int4, int4) -> int4 [immutable strict] { |a: i32, b: i32| four::lcm(a, b) }
    5047 lcm(int8, int8) -> int8 [immutable strict] { |a: i64, b: i64| eight::lcm(a, b) }
    766 int4inc(int4) -> int4 [immutable strict] { |a: i32| four::add(a, 1) }
    1219 int8inc(int8) -> int8 [immutable strict] { |a: i64| eight::add(a, 1) }
    2804 int8inc_any(int8, any) -> int8 [immutable strict] { |a: i64, _b: &Datum| eight::add(a, 1) }
    3546 int8dec(int8) -> int8 [immutable strict] { |a: i64| eight::sub(a, 1) }
    3547 int8dec_any(int8, any) -> int8 [immutable strict] { |a: i64, _b: &Datum| eight::sub(a, 1) }
    1892 int2and(int2, int2) -> int2 [immutable strict] { |a: i16, b: i16| a & b }
    1893 int2or(int2, int2) -> int2 [immutable strict] { |a: i16, b: i16| a | b }
    1894 int2xor(int2, int2) -> int2 [immutable strict] { |a: i16, b: i16| a ^ b }
    1895 int2not(int2) -> int2 [immutable strict] { |a: i16| !a }
    1896 int2shl(int2, int4) -> int2 [immutable strict] { |a: i16, b: i32| (i32::from(a).wrapping_shl(b as u32)) as i16 }
    1897 int2shr(int2, int4) -> int2 [immutable strict] { |a: i16, b: i32| (i32::from(a).wrapping_shr(b as u32)) as i16 }
    1898 int4and(int4, int4) -> int4 [immutable strict] { |a: i32, b: i32| a & b }
    1899 int4or(int4, int4) -> int4 [immutable strict] { |a: i32, b: i32| a | b }
    1900 int4xor(int4, int4) -> int4 [immutable strict] { |a: i32, b: i32| a ^ b }
    1901 int4not(int4) -> int4 [immutable strict] { |a: i32| !a }
    1902 int4shl(int4, int4) -> int4 [immutable strict] { |a: i32, b: i32| a.wrapping_shl(b as u32) }
    1903 int4shr(int4, int4) -> int4 [immutable strict] { |a: i32, b: i32| a.wrapping_shr(b as u32) }
    1904 int8and(int8, int8) -> int8 [immutable strict] { |a: i64, b: i64| a & b }
    1905 int8or(int8, int8) -> int8 [immutable strict] { |a: i64, b: i64| a | b }
    1906 int8xor(int8, int8) -> int8 [immutable strict] { |a: i64, b: i64| a ^ b }
    1907 int8not(int8) -> int8 [immutable strict] { |a: i64| !a }
    1908 int8shl(int8, int4) -> int8 [immutable strict] { |a: i64, b: i32| a.wrapping_shl(b as u32) }
    1909 int8shr(int8, int4) -> int8 [immutable strict] { |a: i64, b: i32| a.wrapping_shr(b as u32) }
    770 int2larger(int2, int2) -> int2 [immutable strict] { |a: i16, b: i16| a.max(b) }
    771 int2smaller(int2, int2) -> int2 [immutable strict] { |a: i16, b: i16| a.min(b) }
    768 int4larger(int4, int4) -> int4 [immutable strict] { |a: i32, b: i32| a.max(b) }
    769 int4smaller(int4, int4) -> int4 [immutable strict] { |a: i32, b: i32| a.min(b) }
    1236 int8larger(int8, int8) -> int8 [immutable strict] { |a: i64, b: i64| a.max(b) }
    1237 int8smaller(int8, int8) -> int8 [immutable strict] { |a: i64, b: i64| a.min(b) }
    313 int4(int2) -> int4 [immutable strict leakproof] { |a: i16| i32::from(a) }
    754 int8(int2) -> int8 [immutable strict leakproof] { |a: i16| i64::from(a) }
    481 int8(int4) -> int8 [immutable strict leakproof] { |a: i32| i64::from(a) }
    314 int2(int4) -> int2 [immutable strict] { |a: i32| i16::try_from(a).map_err(|_| int2_range()) }
    714 int2(int8) -> int2 [immutable strict] { |a: i64| i16::try_from(a).map_err(|_| int2_range()) }
    480 int4(int8) -> int4 [immutable strict] { |a: i64| i32::try_from(a).map_err(|_| int4_range()) }
    2558 int4(bool) -> int4 [immutable strict leakproof] { |a: bool| i32::from(a) }
    2557 bool(int4) -> bool [immutable strict leakproof] { |a: i32| a != 0 }
    449 hashint2(int2) -> int4 [immutable strict] { |a: &Datum| crate::hashing::hash32(crate::oids::int2, a) }
    450 hashint4(int4) -> int4 [immutable strict] { |a: &Datum| crate::hashing::hash32(crate::oids::int4, a) }
    949 hashint8(int8) -> int4 [immutable strict] { |a: &Datum| crate::hashing::hash32(crate::oids::int8, a) }
    441 hashint2extended(int2, int8) -> int8 [immutable strict] { |a: &Datum, seed: i64| crate::hashing::hash64(crate::oids::int2, a, seed) }
    425 hashint4extended(int4, int8) -> int8 [immutable strict] { |a: &Datum, seed: i64| crate::hashing::hash64(crate::oids::int4, a, seed) }
    442 hashint8extended(int8, int8) -> int8 [immutable strict] { |a: &Datum, seed: i64| crate::hashing::hash64(crate::oids::int8, a, seed) }
    2089 to_hex(int4) -> text [immutable strict] { |a: i32| format!("{a:x}") }
    2090 to_hex(int8) -> text [immutable strict] { |a: i64| format!("{a:x}") }
    6332 to_oct(int4) -> text [immutable strict] { |a: i32| format!("{a:o}") }
    6333 to_oct(int8) -> text [immutable strict] { |a: i64| format!("{a:o}") }
    6330 to_bin(int4) -> text [immutable strict] { |a: i32| format!("{a:b}") }
    6331 to_bin(int8) -> text [immutable strict] { |a: i64| format!("{a:b}") }
    320 width_bucket(float8, float8, float8, int4) -> int4 [immutable strict] { |v: f64, low: f64, high: f64, n: i32| crate::float::width_bucket(v, low, high, n) }
    1067 generate_series(int4, int4) -> int4 [immutable strict returns_set rows(1000.0)] { set generate_series_int4 }
    1066 generate_series(int4, int4, int4) -> int4 [immutable strict returns_set rows(1000.0)] { set generate_series_int4 }
    1069 generate_series(int8, int8) -> int8 [immutable strict returns_set rows(1000.0)] { set generate_series_int8 }
    1068 generate_series(int8, int8, int8) -> int8 [immutable strict returns_set rows(1000.0)] { set generate_series_int8 }
    6339 random(int4, int4) -> int4 [strict restricted names(&["min", "max"])] { |cx; low: i32, high: i32| random(cx, low.into(), high.into()).map(|v| v as i32) }
    6340 random(int8, int8) -> int8 [strict restricted names(&["min", "max"])] { |cx; low: i64, high: i64| random(cx, low, high) }
}

fn random(cx: &Call, low: i64, high: i64) -> SqlResult<i64> {
    if low > high {
        return Err(sql_err!(
            INVALID_PARAMETER_VALUE,
            "lower bound must be less than or equal to upper bound"
        ));
    }
    let mut value = low;
    cx.session.with_random(&mut |generator| value = generator.range(low, high));
    Ok(value)
}

fn generate_series_int4(_cx: &Call, args: &[Datum]) -> SqlResult<Box<dyn SetRows>> {
    let step = args.get(2).map_or(1, i32::from_datum);
    series(i32::from_datum(&args[0]).into(), i32::from_datum(&args[1]).into(), step.into(), |v| {
        Datum::Int4(v as i32)
    })
}

fn generate_series_int8(_cx: &Call, args: &[Datum]) -> SqlResult<Box<dyn SetRows>> {
    let step = args.get(2).map_or(1, i64::from_datum);
    series(i64::from_datum(&args[0]), i64::from_datum(&args[1]), step, Datum::Int8)
}

/// The integers from `start` to `stop` by `step`; ends where the next one would overflow.
fn series(start: i64, stop: i64, step: i64, datum: fn(i64) -> Datum) -> SqlResult<Box<dyn SetRows>> {
    if step == 0 {
        return Err(sql_err!(INVALID_PARAMETER_VALUE, "step size cannot equal zero"));
    }
    let mut next = Some(start);
    Ok(Box::new(Values(std::iter::from_fn(move || {
        let value = next?;
        if if step > 0 { value > stop } else { value < stop } {
            return None;
        }
        next = value.checked_add(step);
        Some(Ok(datum(value)))
    }))))
}

/// Reads what most integers look like: a few decimal digits, perhaps behind a minus sign. `None` only says that this is something else.
#[inline]
pub fn parse_plain(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    // 18 digits cannot overflow.
    if digits.is_empty() || digits.len() > 18 {
        return None;
    }
    let mut value = 0;
    for c in digits {
        let digit = c.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + i64::from(digit);
    }
    Some(if negative { -value } else { value })
}

/// Reads an integer as PostgreSQL does: blanks around, sign, decimal or `0x`, `0o`, `0b`, underscores between digits.
pub fn parse<T: TryFrom<i128>>(text: &str, type_name: &str) -> SqlResult<T> {
    let syntax =
        || sql_err!(INVALID_TEXT_REPRESENTATION, "invalid input syntax for type {type_name}: \"{text}\"");
    let range =
        || sql_err!(NUMERIC_VALUE_OUT_OF_RANGE, "value \"{text}\" is out of range for type {type_name}");
    if let Some(value) = parse_plain(text.as_bytes()) {
        return T::try_from(value.into()).map_err(|_| range());
    }
    let body = text.trim_matches(|c: char| c.is_ascii_whitespace() || c == '\x0b').as_bytes();
    let (negative, body) = match body {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, body),
    };
    let (radix, digits) = match body {
        [b'0', b'x' | b'X', rest @ ..] => (16, rest),
        [b'0', b'o' | b'O', rest @ ..] => (8, rest),
        [b'0', b'b' | b'B', rest @ ..] => (2, rest),
        _ => (10, body),
    };
    let mut value = 0i128;
    let mut overflow = false;
    // An underscore needs a digit behind it, and one (or the radix prefix) before it.
    let mut after_underscore = true;
    for (i, c) in digits.iter().enumerate() {
        if *c == b'_' {
            if after_underscore && (i > 0 || radix == 10) {
                return Err(syntax());
            }
            after_underscore = true;
            continue;
        }
        let digit = (*c as char).to_digit(radix).ok_or_else(syntax)?;
        after_underscore = false;
        if value < 1 << 100 {
            value = value * i128::from(radix) + i128::from(digit);
        } else {
            overflow = true;
        }
    }
    if after_underscore {
        return Err(syntax());
    }
    if overflow {
        return Err(range());
    }
    T::try_from(if negative { -value } else { value }).map_err(|_| range())
}

#[cfg(test)]
mod tests {
    use base::SqlState;

    use super::parse;

    #[test]
    fn plain_and_other_texts_read_alike() {
        let read = |text: &str| parse::<i64>(text, "bigint").map_err(|error| error.report().code);
        for (text, value) in [
            ("0", 0),
            ("-0", 0),
            ("007", 7),
            ("-42", -42),
            ("+42", 42),
            (" 42\n", 42),
            ("1_000", 1000),
            ("0x1F", 31),
            ("999999999999999999", 999_999_999_999_999_999),
            ("9223372036854775807", i64::MAX),
            ("-9223372036854775808", i64::MIN),
        ] {
            assert_eq!(read(text), Ok(value), "{text:?}");
        }
        for text in ["", "-", "+", "--1", "1-", "1 2", "_1", "1_", "0x", "\u{661}"] {
            assert_eq!(read(text), Err(SqlState::INVALID_TEXT_REPRESENTATION), "{text:?}");
        }
        for text in
            ["9223372036854775808", "-9223372036854775809", "100000000000000000000000000000000000000000"]
        {
            assert_eq!(read(text), Err(SqlState::NUMERIC_VALUE_OUT_OF_RANGE), "{text:?}");
        }
        assert_eq!(parse::<i32>("-2147483648", "integer").ok(), Some(i32::MIN));
        let error = parse::<i16>("40000", "smallint").unwrap_err();
        assert_eq!(error.message(), "value \"40000\" is out of range for type smallint");
    }
}
