//! # What
//! `bit` and `bit varying`.
//!
//! # Layout
//! Number of bits, 4 bytes little-endian; then the bits, the first one highest in the first byte. Bits behind the last are 0.
//!
//! # PostgreSQL counterpart and differences
//! `varbit.c`. A length modifier is stored as it is, as there.

use std::cmp::Ordering;

use base::{Oid, SqlError, SqlResult, sql_err};
use tuple::Datum;

use crate::registry::types::prelude::*;
use crate::{
    oids,
    value::{FromDatum, IntoDatum, Reader},
};

/// Most bits of a value.
const MAX_BITS: i32 = i32::MAX - 7;

/// Most bits of a declared length.
const MAX_LENGTH: i32 = 83_886_080;

/// A string of bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bits {
    length: usize,
    bytes: Vec<u8>,
}

impl FromDatum<'_> for Bits {
    fn from_datum(datum: &Datum) -> Bits {
        match <&[u8]>::from_datum(datum).split_first_chunk::<4>() {
            Some((length, bytes)) => {
                let length = (u32::from_le_bytes(*length) as usize).min(bytes.len() * 8);
                Bits { length, bytes: bytes.to_vec() }
            }
            None => Bits { length: 0, bytes: Vec::new() },
        }
    }
}

impl IntoDatum for Bits {
    fn into_datum(self) -> SqlResult<Datum> {
        let mut out = Vec::with_capacity(4 + self.bytes.len());
        out.extend_from_slice(&(self.length as u32).to_le_bytes());
        out.extend_from_slice(&self.bytes);
        out.into_datum()
    }
}

impl Bits {
    fn zeros(length: usize) -> Bits {
        Bits { length, bytes: vec![0; length.div_ceil(8)] }
    }

    fn get(&self, n: usize) -> bool {
        self.bytes[n / 8] & (0x80 >> (n % 8)) != 0
    }

    fn set(&mut self, n: usize, on: bool) {
        let mask = 0x80 >> (n % 8);
        if on {
            self.bytes[n / 8] |= mask;
        } else {
            self.bytes[n / 8] &= !mask;
        }
    }

    /// Clears the bits behind the last.
    fn clear_tail(&mut self) {
        let used = self.length % 8;
        if let (1.., Some(last)) = (used, self.bytes.last_mut()) {
            *last &= 0xff << (8 - used);
        }
    }

    /// Eight bits from number `n` on; those behind the end are 0.
    fn byte_at(&self, n: usize) -> u8 {
        let byte = |i: usize| u16::from(self.bytes.get(i).copied().unwrap_or(0));
        let pair = byte(n / 8) << 8 | byte(n / 8 + 1);
        (pair >> (8 - n % 8)) as u8
    }

    /// `length` bits from number `start` on.
    fn part(&self, start: usize, length: usize) -> Bits {
        let bytes = (0..length.div_ceil(8)).map(|i| self.byte_at(start + i * 8)).collect();
        let mut part = Bits { length, bytes };
        part.clear_tail();
        part
    }

    /// The same with another length: cut, or with zeros behind.
    fn resized(mut self, length: usize) -> Bits {
        self.bytes.resize(length.div_ceil(8), 0);
        self.length = length;
        self.clear_tail();
        self
    }

    fn joined(&self, other: &Bits) -> SqlResult<Bits> {
        let length = self.length + other.length;
        if length > MAX_BITS as usize {
            return Err(too_long());
        }
        let mut joined = self.clone();
        joined.bytes.resize(length.div_ceil(8), 0);
        joined.length = length;
        let shift = self.length % 8;
        for (at, byte) in (self.length / 8..).zip(&other.bytes) {
            joined.bytes[at] |= byte >> shift;
            if let (1.., Some(next)) = (shift, joined.bytes.get_mut(at + 1)) {
                *next = byte << (8 - shift);
            }
        }
        Ok(joined)
    }

    /// The bits moved towards the end, zeros coming in.
    fn shifted_right(&self, by: usize) -> Bits {
        if by >= self.length {
            return Bits::zeros(self.length);
        }
        let moved = Bits::zeros(by).joined(&self.part(0, self.length - by));
        moved.unwrap_or_else(|_| Bits::zeros(self.length))
    }

    /// The bits moved towards the front, zeros coming in.
    fn shifted_left(&self, by: usize) -> Bits {
        if by >= self.length {
            return Bits::zeros(self.length);
        }
        self.part(by, self.length)
    }

    fn shifted(&self, by: i32) -> Bits {
        let distance = by.unsigned_abs() as usize;
        if by < 0 { self.shifted_right(distance) } else { self.shifted_left(distance) }
    }

    /// From position `from`, counted from 1, `length` bits or all of the rest; what is outside does not count.
    fn substring(&self, from: i32, length: Option<i32>) -> SqlResult<Bits> {
        let start = i64::from(from) - 1;
        let all = self.length as i64;
        let end = match length {
            None => all,
            Some(length) if length < 0 => {
                return Err(sql_err!(SUBSTRING_ERROR, "negative substring length not allowed"));
            }
            Some(length) => start + i64::from(length),
        };
        let (start, end) = (start.max(0), end.min(all));
        Ok(if start >= end { Bits::zeros(0) } else { self.part(start as usize, (end - start) as usize) })
    }

    fn overlay(&self, new: &Bits, from: i32, length: Option<i32>) -> SqlResult<Bits> {
        if from <= 0 {
            return Err(sql_err!(SUBSTRING_ERROR, "negative substring length not allowed"));
        }
        let length = length.unwrap_or(new.length as i32);
        let behind = from.checked_add(length).ok_or_else(crate::int::int4_range)?;
        self.substring(1, Some(from - 1))?.joined(new)?.joined(&self.substring(behind, None)?)
    }

    /// Where `part` begins, counted from 1; 0 if nowhere.
    fn position(&self, part: &Bits) -> i32 {
        if self.length == 0 || part.length > self.length {
            return 0;
        }
        let found = (0..=self.length - part.length).find(|start| {
            let whole = part.length / 8;
            let rest = part.length % 8;
            (0..whole).all(|i| self.byte_at(start + i * 8) == part.bytes[i])
                && (rest == 0
                    || (self.byte_at(start + whole * 8) ^ part.bytes[whole]) & (0xff << (8 - rest)) == 0)
        });
        found.map_or(0, |start| start as i32 + 1)
    }

    fn combined(&self, other: &Bits, name: &str, op: fn(u8, u8) -> u8) -> SqlResult<Bits> {
        if self.length != other.length {
            return Err(sql_err!(
                STRING_DATA_LENGTH_MISMATCH,
                "cannot {name} bit strings of different sizes"
            ));
        }
        let bytes = self.bytes.iter().zip(&other.bytes).map(|(a, b)| op(*a, *b)).collect();
        Ok(Bits { length: self.length, bytes })
    }

    pub(crate) fn and(&self, other: &Bits) -> SqlResult<Bits> {
        self.combined(other, "AND", |a, b| a & b)
    }

    pub(crate) fn or(&self, other: &Bits) -> SqlResult<Bits> {
        self.combined(other, "OR", |a, b| a | b)
    }

    pub(crate) fn xor(&self, other: &Bits) -> SqlResult<Bits> {
        self.combined(other, "XOR", |a, b| a ^ b)
    }

    fn not(mut self) -> Bits {
        for byte in &mut self.bytes {
            *byte = !*byte;
        }
        self.clear_tail();
        self
    }

    fn index(&self, n: i32) -> SqlResult<usize> {
        match usize::try_from(n) {
            Ok(index) if index < self.length => Ok(index),
            _ => Err(sql_err!(
                ARRAY_SUBSCRIPT_ERROR,
                "bit index {n} out of valid range (0..{})",
                self.length as i64 - 1
            )),
        }
    }

    fn with_bit(mut self, n: i32, value: i32) -> SqlResult<Bits> {
        let index = self.index(n)?;
        if !(0..=1).contains(&value) {
            return Err(sql_err!(INVALID_PARAMETER_VALUE, "new bit must be 0 or 1"));
        }
        self.set(index, value == 1);
        Ok(self)
    }

    /// The lowest `length` bits of an integer; above its own, its sign.
    fn of_integer(value: i64, length: i32) -> Bits {
        let length = if (1..=MAX_BITS).contains(&length) { length as usize } else { 1 };
        let mut bits = Bits::zeros(length);
        for (from_end, index) in (0..length).rev().enumerate() {
            bits.set(index, (value >> from_end.min(63)) & 1 == 1);
        }
        bits
    }

    /// The bits as an unsigned integer of at most `width` bits.
    fn integer(&self, width: usize, range: fn() -> SqlError) -> SqlResult<u64> {
        if self.length > width {
            return Err(range());
        }
        Ok((0..self.length).fold(0, |value, n| value << 1 | u64::from(self.get(n))))
    }

    fn ones(&self) -> i64 {
        self.bytes.iter().map(|b| i64::from(b.count_ones())).sum()
    }

    /// Brought to `bit(length)`.
    fn fit_bit(self, length: i32, explicit: bool) -> SqlResult<Bits> {
        if length <= 0 || length > MAX_BITS || self.length == length as usize {
            return Ok(self);
        }
        if !explicit {
            return Err(length_mismatch(self.length, length));
        }
        Ok(self.resized(length as usize))
    }

    /// Brought to `bit varying(length)`.
    fn fit_varbit(self, length: i32, explicit: bool) -> SqlResult<Bits> {
        if length <= 0 || self.length <= length as usize {
            return Ok(self);
        }
        if !explicit {
            return Err(too_long_for(length));
        }
        Ok(self.resized(length as usize))
    }
}

#[cold]
fn too_long() -> SqlError {
    sql_err!(PROGRAM_LIMIT_EXCEEDED, "bit string length exceeds the maximum allowed ({MAX_BITS})")
}

#[cold]
fn length_mismatch(length: usize, declared: i32) -> SqlError {
    sql_err!(STRING_DATA_LENGTH_MISMATCH, "bit string length {length} does not match type bit({declared})")
}

#[cold]
fn too_long_for(declared: i32) -> SqlError {
    sql_err!(STRING_DATA_RIGHT_TRUNCATION, "bit string too long for type bit varying({declared})")
}

/// Order: by bits, then the shorter first.
pub(crate) fn compare(a: &Datum, b: &Datum) -> Ordering {
    let (a, b) = (Bits::from_datum(a), Bits::from_datum(b));
    let common = a.bytes.len().min(b.bytes.len());
    a.bytes[..common].cmp(&b.bytes[..common]).then(a.length.cmp(&b.length))
}

/// Reads a text form: `b` and binary digits, `x` and hexadecimal ones, or binary digits alone.
pub(crate) fn parse(type_oid: Oid, text: &str, typmod: i32) -> SqlResult<Datum> {
    let (hex, digits) = match text.as_bytes().first() {
        Some(b'b' | b'B') => (false, &text[1..]),
        Some(b'x' | b'X') => (true, &text[1..]),
        _ => (false, text),
    };
    let width = if hex { 4 } else { 1 };
    if digits.len() > MAX_BITS as usize / width {
        return Err(too_long());
    }
    let length = digits.len() * width;
    if type_oid == oids::bit && typmod > 0 && length != typmod as usize {
        return Err(length_mismatch(length, typmod));
    }
    if type_oid == oids::varbit && typmod > 0 && length > typmod as usize {
        return Err(too_long_for(typmod));
    }
    let mut bits = Bits::zeros(length);
    for (n, c) in digits.char_indices() {
        let value = c.to_digit(1 << width).ok_or_else(|| {
            let kind = if hex { "hexadecimal" } else { "binary" };
            sql_err!(INVALID_TEXT_REPRESENTATION, "\"{c}\" is not a valid {kind} digit")
        })?;
        for bit in 0..width {
            bits.set(n * width + bit, value >> (width - 1 - bit) & 1 == 1);
        }
    }
    bits.into_datum()
}

/// The text form: binary digits.
pub(crate) fn text(value: &Datum) -> String {
    let bits = Bits::from_datum(value);
    (0..bits.length).map(|n| if bits.get(n) { '1' } else { '0' }).collect()
}

/// Value of a binary form.
pub(crate) fn receive(type_oid: Oid, reader: &mut Reader, typmod: i32) -> SqlResult<Datum> {
    let length = reader.i32()?;
    if !(0..=MAX_BITS).contains(&length) {
        return Err(sql_err!(INVALID_BINARY_REPRESENTATION, "invalid length in external bit string"));
    }
    if type_oid == oids::bit && typmod > 0 && length != typmod {
        return Err(length_mismatch(length as usize, typmod));
    }
    if type_oid == oids::varbit && typmod > 0 && length > typmod {
        return Err(too_long_for(typmod));
    }
    let bytes = reader.take((length as usize).div_ceil(8))?.to_vec();
    let mut bits = Bits { length: length as usize, bytes };
    bits.clear_tail();
    bits.into_datum()
}

/// Appends the binary form.
pub(crate) fn send(value: &Datum, out: &mut Vec<u8>) {
    let bits = Bits::from_datum(value);
    out.extend_from_slice(&(bits.length as i32).to_be_bytes());
    out.extend_from_slice(&bits.bytes);
}

/// The modifier that `bit(n)` means.
pub(crate) fn typmod_in(type_oid: Oid, modifiers: &[&str]) -> SqlResult<i32> {
    let name = if type_oid == oids::bit { "bit" } else { "varbit" };
    let [length] = modifiers else {
        return Err(sql_err!(INVALID_PARAMETER_VALUE, "invalid type modifier"));
    };
    let length: i32 = crate::int::parse(length, "integer")?;
    if length < 1 {
        return Err(sql_err!(INVALID_PARAMETER_VALUE, "length for type {name} must be at least 1"));
    }
    if length > MAX_LENGTH {
        return Err(sql_err!(INVALID_PARAMETER_VALUE, "length for type {name} cannot exceed {MAX_LENGTH}"));
    }
    Ok(length)
}

/// What both share.
const BITS: TypeImp = TypeImp {
    output: |_, value, _, out| show(text(value), out),
    send: |_, value, _, out| {
        send(value, out);
        Ok(())
    },
    compare: Some(compare),
    equal: crate::compare::BYTES.equal,
    typmod_out: |typmod| if typmod >= 0 { format!("({typmod})") } else { String::new() },
    ..TypeImp::NONE
};

/// A string of so many bits.
pub(crate) static BIT: TypeImp = TypeImp {
    row: Some(TypeInfo {
        array: oids::_bit,
        io: [Oid(1564), Oid(1565), Oid(2456), Oid(2457)],
        typmod_io: [Oid(2919), Oid(2920)],
        ..TypeInfo::new(oids::bit, "bit", b'V', Physical::Varlena)
    }),
    input: |_, text, typmod, _| parse(oids::bit, text, typmod),
    receive: |_, reader, typmod, _| receive(oids::bit, reader, typmod),
    typmod_in: |_, modifiers| typmod_in(oids::bit, modifiers),
    unsized_name: Some("\"bit\""),
    ..BITS
};

/// A string of bits.
pub(crate) static VARBIT: TypeImp = TypeImp {
    row: Some(TypeInfo {
        preferred: true,
        array: oids::_varbit,
        io: [Oid(1579), Oid(1580), Oid(2458), Oid(2459)],
        typmod_io: [Oid(2902), Oid(2921)],
        ..TypeInfo::new(oids::varbit, "varbit", b'V', Physical::Varlena)
    }),
    input: |_, text, typmod, _| parse(oids::varbit, text, typmod),
    receive: |_, reader, typmod, _| receive(oids::varbit, reader, typmod),
    typmod_in: |_, modifiers| typmod_in(oids::varbit, modifiers),
    sql_name: "bit varying",
    ..BITS
};

functions! {
    1564 bit_in(cstring, oid, int4) -> bit [immutable strict] { input bit }
    1565 bit_out(bit) -> cstring [immutable strict] { output bit }
    1579 varbit_in(cstring, oid, int4) -> varbit [immutable strict] { input varbit }
    1580 varbit_out(varbit) -> cstring [immutable strict] { output varbit }
    2456 bit_recv(internal, oid, int4) -> bit [immutable strict] { receive bit }
    2457 bit_send(bit) -> bytea [immutable strict] { send bit }
    2458 varbit_recv(internal, oid, int4) -> varbit [immutable strict] { receive varbit }
    2459 varbit_send(varbit) -> bytea [immutable strict] { send varbit }
    2902 varbittypmodin(_cstring) -> int4 [immutable strict] { typmod_in varbit }
    2919 bittypmodin(_cstring) -> int4 [immutable strict] { typmod_in bit }
    2920 bittypmodout(int4) -> cstring [immutable strict] { typmod_out bit }
    2921 varbittypmodout(int4) -> cstring [immutable strict] { typmod_out varbit }
    1581 biteq(bit, bit) -> bool [immutable strict leakproof] { |a: &Datum, b: &Datum| compare(a, b).is_eq() }
    1582 bitne(bit, bit) -> bool [immutable strict leakproof] { |a: &Datum, b: &Datum| compare(a, b).is_ne() }
    1592 bitge(bit, bit) -> bool [immutable strict leakproof] { |a: &Datum, b: &Datum| compare(a, b).is_ge() }
    1593 bitgt(bit, bit) -> bool [immutable strict leakproof] { |a: &Datum, b: &Datum| compare(a, b).is_gt() }
    1594 bitle(bit, bit) -> bool [immutable strict leakproof] { |a: &Datum, b: &Datum| compare(a, b).is_le() }
    1595 bitlt(bit, bit) -> bool [immutable strict leakproof] { |a: &Datum, b: &Datum| compare(a, b).is_lt() }
    1596 bitcmp(bit, bit) -> int4 [immutable strict leakproof] { |a: &Datum, b: &Datum| compare(a, b) as i32 }
    1666 varbiteq(varbit, varbit) -> bool [immutable strict leakproof] { |a: &Datum, b: &Datum| compare(a, b).is_eq() }
    1667 varbitne(varbit, varbit) -> bool [immutable strict leakproof] { |a: &Datum, b: &Datum| compare(a, b).is_ne() }
    1668 varbitge(varbit, varbit) -> bool [immutable strict leakproof] { |a: &Datum, b: &Datum| compare(a, b).is_ge() }
    1669 varbitgt(varbit, varbit) -> bool [immutable strict leakproof] { |a: &Datum, b: &Datum| compare(a, b).is_gt() }
    1670 varbitle(varbit, varbit) -> bool [immutable strict leakproof] { |a: &Datum, b: &Datum| compare(a, b).is_le() }
    1671 varbitlt(varbit, varbit) -> bool [immutable strict leakproof] { |a: &Datum, b: &Datum| compare(a, b).is_lt() }
    1672 varbitcmp(varbit, varbit) -> int4 [immutable strict leakproof] { |a: &Datum, b: &Datum| compare(a, b) as i32 }
    1673 bitand(bit, bit) -> bit [immutable strict] { |a: Bits, b: Bits| a.and(&b) }
    1674 bitor(bit, bit) -> bit [immutable strict] { |a: Bits, b: Bits| a.or(&b) }
    1675 bitxor(bit, bit) -> bit [immutable strict] { |a: Bits, b: Bits| a.xor(&b) }
    1676 bitnot(bit) -> bit [immutable strict] { |a: Bits| a.not() }
    1677 bitshiftleft(bit, int4) -> bit [immutable strict] { |a: Bits, by: i32| a.shifted(by) }
    1678 bitshiftright(bit, int4) -> bit [immutable strict] { |a: Bits, by: i32| a.shifted(by.saturating_neg()) }
    1679 bitcat(varbit, varbit) -> varbit [immutable strict] { |a: Bits, b: Bits| a.joined(&b) }
    1680 substring(bit, int4, int4) -> bit [immutable strict] { |a: Bits, from: i32, length: i32| a.substring(from, Some(length)) }
    1681 length(bit) -> int4 [immutable strict] { |a: Bits| a.length as i32 }
    1682 octet_length(bit) -> int4 [immutable strict] { |a: Bits| a.bytes.len() as i32 }
    1683 bit(int4, int4) -> bit [immutable strict] { |a: i32, length: i32| Bits::of_integer(a.into(), length) }
    1684 int4(bit) -> int4 [immutable strict] { |a: Bits| a.integer(32, crate::int::int4_range).map(|v| v as i32) }
    1685 bit(bit, int4, bool) -> bit [immutable strict] { |a: Bits, length: i32, explicit: bool| a.fit_bit(length, explicit) }
    1687 varbit(varbit, int4, bool) -> varbit [immutable strict] { |a: Bits, length: i32, explicit: bool| a.fit_varbit(length, explicit) }
    1698 position(bit, bit) -> int4 [immutable strict] { |a: Bits, b: Bits| a.position(&b) }
    1699 substring(bit, int4) -> bit [immutable strict] { |a: Bits, from: i32| a.substring(from, None) }
    1812 bit_length(bit) -> int4 [immutable strict] { |a: Bits| a.length as i32 }
    2075 bit(int8, int4) -> bit [immutable strict] { |a: i64, length: i32| Bits::of_integer(a, length) }
    2076 int8(bit) -> int8 [immutable strict] { |a: Bits| a.integer(64, crate::int::int8_range).map(|v| v as i64) }
    3030 overlay(bit, bit, int4, int4) -> bit [immutable strict] { |a: Bits, b: Bits, from: i32, length: i32| a.overlay(&b, from, Some(length)) }
    3031 overlay(bit, bit, int4) -> bit [immutable strict] { |a: Bits, b: Bits, from: i32| a.overlay(&b, from, None) }
    3032 get_bit(bit, int4) -> int4 [immutable strict] { |a: Bits, n: i32| a.index(n).map(|index| i32::from(a.get(index))) }
    3033 set_bit(bit, int4, int4) -> bit [immutable strict] { |a: Bits, n: i32, value: i32| a.with_bit(n, value) }
    6162 bit_count(bit) -> int8 [immutable strict] { |a: Bits| a.ones() }
}
