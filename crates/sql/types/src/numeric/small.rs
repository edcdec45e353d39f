//! Numbers with few digits, held as one integer: what tables of amounts are made of.
//!
//! Nothing here changes a result. Whatever does not fit gives `None`, and the general way is gone.

use std::cmp::Ordering;

use base::SqlResult;
use base::{push_decimal, push_padded};
use tuple::{Bytes, Datum};

use super::convert::split_typmod;
use super::{LIMB_DIGITS, Numeric};
use crate::value::{FromDatum, IntoDatum};

/// Digits behind the point that a small number has at most.
const MOST_SCALE: u32 = 16;
/// Characters of a text that is read, without its sign.
const MOST_WRITTEN: usize = 17;
/// Limbs of a payload that is read: below 10^16.
const MOST_LIMBS: usize = 4;
/// Limbs that 64 bits can need on both sides of the point.
const WRITTEN_LIMBS: usize = 10;

const POWERS: [u64; 20] = {
    let mut powers = [1; 20];
    let mut i = 1;
    while i < powers.len() {
        powers[i] = powers[i - 1] * 10;
        i += 1;
    }
    powers
};

/// `digits / 10^scale`, shown with `scale` digits behind the point.
#[derive(Clone, Copy, Debug)]
pub struct Small {
    pub(super) digits: i64,
    pub(super) scale: u32,
}

impl Small {
    /// A stored number, if it is small.
    #[inline]
    pub fn of(value: &Datum) -> Option<Small> {
        match value {
            Datum::Bytes(bytes) => Small::from_payload(bytes),
            _ => None,
        }
    }

    /// The same of its bytes.
    #[inline]
    pub fn from_payload(payload: &[u8]) -> Option<Small> {
        let (header, limbs) = payload.split_first_chunk::<4>()?;
        let bits = u16::from_le_bytes([header[0], header[1]]);
        let scale = u32::from(bits & 0x3FFF);
        let count = limbs.len() / 2;
        if bits >> 14 > 1 || scale > MOST_SCALE || count > MOST_LIMBS {
            return None;
        }
        let mut digits = 0u64;
        for limb in limbs.chunks_exact(2) {
            digits = digits * 10_000 + u64::from(u16::from_le_bytes([limb[0], limb[1]]).min(9999));
        }
        if digits == 0 {
            return Some(Small { digits: 0, scale });
        }
        let weight = i32::from(i16::from_le_bytes([header[2], header[3]]));
        // Digits behind the point that the limbs have; what the scale does not show of them is zero.
        let behind = LIMB_DIGITS * (count as i32 - 1 - weight);
        let shift = scale as i32 - behind;
        let digits = match POWERS.get(shift.unsigned_abs() as usize)? {
            power if shift >= 0 => digits.checked_mul(*power)?,
            power if digits.is_multiple_of(*power) => digits / power,
            _ => return None,
        };
        let digits = i64::try_from(digits).ok()?;
        Some(Small { digits: if bits >> 14 == 1 { -digits } else { digits }, scale })
    }

    /// A number written as digits, perhaps with a point among them and a minus before, brought to a modifier. None if it is written otherwise, has many digits, or
    /// does not fit the modifier as it is.
    #[inline]
    pub(super) fn parse(text: &str, typmod: i32) -> Option<Small> {
        let (negative, unsigned) = match text.as_bytes() {
            [b'-', rest @ ..] => (true, rest),
            all => (false, all),
        };
        if unsigned.len() > MOST_WRITTEN {
            return None;
        }
        let (mut digits, mut point) = (0i64, None);
        for (at, byte) in unsigned.iter().enumerate() {
            match byte {
                b'0'..=b'9' => digits = digits * 10 + i64::from(byte - b'0'),
                b'.' if point.is_none() => point = Some(at),
                _ => return None,
            }
        }
        if unsigned.len() == usize::from(point.is_some()) {
            return None;
        }
        let mut scale = point.map_or(0, |at| unsigned.len() - 1 - at) as u32;
        if let Some((precision, wanted)) = split_typmod(typmod) {
            let wanted = u32::try_from(wanted).ok()?;
            let missing = wanted.checked_sub(scale)?;
            digits = digits.checked_mul(i64::try_from(*POWERS.get(missing as usize)?).ok()?)?;
            scale = wanted;
            if POWERS.get(precision as usize).is_some_and(|limit| digits as u64 >= *limit) {
                return None;
            }
        }
        (scale <= MOST_SCALE).then_some(Small { digits: if negative { -digits } else { digits }, scale })
    }

    /// Appends its text.
    pub(super) fn show(self, out: &mut Vec<u8>) {
        if self.digits < 0 {
            out.push(b'-');
        }
        let (magnitude, power) = (self.digits.unsigned_abs(), POWERS[self.scale as usize]);
        push_decimal(out, magnitude / power);
        if self.scale > 0 {
            out.push(b'.');
            push_padded(out, magnitude % power, self.scale as usize);
        }
    }

    /// Both numbers' digits at the larger scale.
    #[inline]
    fn aligned(self, other: Small) -> Option<(i64, i64, u32)> {
        let scale = self.scale.max(other.scale);
        let at = |n: Small| n.digits.checked_mul(POWERS[(scale - n.scale) as usize] as i64);
        Some((at(self)?, at(other)?, scale))
    }

    /// The stored form: that of the same [`Numeric`].
    pub fn to_datum(self) -> Datum {
        let magnitude = self.digits.unsigned_abs();
        let power = POWERS[self.scale as usize];
        let (mut whole, fraction) = (magnitude / power, magnitude % power);
        let fraction_limbs = self.scale.div_ceil(4) as usize;
        let mut fraction = fraction * POWERS[fraction_limbs * 4 - self.scale as usize];
        let mut limbs = [0u16; WRITTEN_LIMBS];
        let mut first = WRITTEN_LIMBS;
        let mut push = |limb: u64| {
            first -= 1;
            limbs[first] = limb as u16;
        };
        for _ in 0..fraction_limbs {
            push(fraction % 10_000);
            fraction /= 10_000;
        }
        let mut weight = -1;
        while whole > 0 {
            push(whole % 10_000);
            whole /= 10_000;
            weight += 1;
        }
        let mut limbs = &limbs[first..];
        while let [0, rest @ ..] = limbs {
            limbs = rest;
            weight -= 1;
        }
        while let [rest @ .., 0] = limbs {
            limbs = rest;
        }
        let sign = if self.digits < 0 { 0x4000 } else { 0 };
        let weight = if limbs.is_empty() { 0 } else { weight as i16 };
        let mut payload = [0; 4 + 2 * WRITTEN_LIMBS];
        payload[..2].copy_from_slice(&(self.scale as u16 | sign).to_le_bytes());
        payload[2..4].copy_from_slice(&weight.to_le_bytes());
        for (place, limb) in payload[4..].chunks_exact_mut(2).zip(limbs) {
            place.copy_from_slice(&limb.to_le_bytes());
        }
        Datum::Bytes(Bytes::new(&payload[..4 + 2 * limbs.len()]))
    }
}

/// Arithmetic that small numbers have a short way for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Arithmetic {
    Add,
    Sub,
    Mul,
}

impl Arithmetic {
    /// Of two small numbers, if the result is one.
    #[inline]
    pub fn small(self, a: Small, b: Small) -> Option<Small> {
        if self == Arithmetic::Mul {
            let scale = a.scale + b.scale;
            let digits = a.digits.checked_mul(b.digits)?;
            return (scale <= MOST_SCALE).then_some(Small { digits, scale });
        }
        let (a, b, scale) = a.aligned(b)?;
        let digits = if self == Arithmetic::Add { a.checked_add(b) } else { a.checked_sub(b) };
        Some(Small { digits: digits?, scale })
    }

    /// Of any two numbers.
    pub fn of(self, a: &Datum, b: &Datum) -> SqlResult<Datum> {
        let short = || self.small(Small::of(a)?, Small::of(b)?);
        if let Some(result) = short() {
            return Ok(result.to_datum());
        }
        let (a, b) = (Numeric::from_datum(a), Numeric::from_datum(b));
        let result = match self {
            Arithmetic::Add => a.add(&b),
            Arithmetic::Sub => a.sub(&b),
            Arithmetic::Mul => a.mul(&b),
        };
        result.into_datum()
    }
}

/// Order of two stored numbers, straight from their bytes where both are finite.
pub fn compare_payloads(a: &[u8], b: &[u8]) -> Ordering {
    let parts = |payload: &[u8]| -> Option<(bool, i16)> {
        let header = payload.first_chunk::<4>()?;
        let kind = header[1] >> 6;
        (kind <= 1).then(|| (kind == 1, i16::from_le_bytes([header[2], header[3]])))
    };
    let (Some((a_negative, a_weight)), Some((b_negative, b_weight))) = (parts(a), parts(b)) else {
        return Numeric::from_payload(a).compare(&Numeric::from_payload(b));
    };
    let (a, b) = (&a[4..], &b[4..]);
    let sign = |limbs: &[u8], negative| match (limbs.is_empty(), negative) {
        (true, _) => 0,
        (_, true) => -1,
        _ => 1,
    };
    let (a_sign, b_sign) = (sign(a, a_negative), sign(b, b_negative));
    if a_sign != b_sign || a_sign == 0 {
        return a_sign.cmp(&b_sign);
    }
    // Without trailing zero limbs, a longer number with an equal head is the larger one.
    let order = a_weight.cmp(&b_weight).then_with(|| limbs_order(a, b));
    if a_sign < 0 { order.reverse() } else { order }
}

/// Order of limbs from the first on.
fn limbs_order(a: &[u8], b: &[u8]) -> Ordering {
    fn limbs(bytes: &[u8]) -> impl Iterator<Item = u16> {
        bytes.chunks_exact(2).map(|l| u16::from_le_bytes([l[0], l[1]]))
    }
    limbs(a).cmp(limbs(b))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn number(digits: i64, scale: u32) -> Numeric {
        let text = format!("{digits}e-{scale}");
        let mut number: Numeric = Numeric::parse(&text).unwrap();
        number.scale = scale as i32;
        number
    }

    fn digits() -> impl Strategy<Value = i64> {
        prop_oneof![any::<i64>(), -1_000_000i64..1_000_000, Just(0), Just(i64::MIN), Just(10_000), Just(9999)]
    }

    #[test]
    fn plain_texts_are_read_the_short_way() {
        let read = |text, typmod| Small::parse(text, typmod).map(|small| (small.digits, small.scale));
        let amount = ((12 << 16) | 2) + 4;
        assert_eq!(read("123.4", -1), Some((1234, 1)));
        assert_eq!(read("123.4", amount), Some((12_340, 2)));
        assert_eq!(read("-.5", amount), Some((-50, 2)));
        assert_eq!(read("7.", -1), Some((7, 0)));
        assert_eq!(read("9999999999.99", amount), Some((999_999_999_999, 2)));
        for (text, typmod) in [
            ("10000000000", amount),
            ("1.234", amount),
            (".", -1),
            ("-", -1),
            ("", -1),
            ("1e3", -1),
            (" 1", -1),
            ("1_0", -1),
        ] {
            assert_eq!(read(text, typmod), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn the_stored_form_is_the_same(digits in digits(), scale in 0..=MOST_SCALE) {
            let datum = Small { digits, scale }.to_datum();
            prop_assert_eq!(&datum, &number(digits, scale).into_datum().unwrap());
            if let Some(back) = Small::of(&datum) {
                prop_assert_eq!((back.digits, back.scale), (digits, scale));
            } else {
                prop_assert!(digits.unsigned_abs() >= 10_u64.pow(12));
            }
        }

        #[test]
        fn texts_are_the_same(digits in digits(), scale in 0..=MOST_SCALE) {
            let small = Small { digits, scale };
            let (mut shown, general) = (Vec::new(), number(digits, scale));
            small.show(&mut shown);
            prop_assert_eq!(String::from_utf8(shown).unwrap(), general.to_string());
        }

        #[test]
        fn what_is_read_is_the_same(text in "-?[0-9]{0,9}(\\.[0-9]{0,9})?[ e_]?", precision in 1..20i32, scale in -2..8i32) {
            for typmod in [-1, ((precision << 16) | (scale & 0x7FF)) + 4] {
                if let Some(small) = Small::parse(&text, typmod) {
                    let general = Numeric::parse(&text).unwrap().apply_typmod(typmod).unwrap();
                    prop_assert_eq!(small.to_datum(), general.into_datum().unwrap(), "{}", text);
                }
            }
        }

        #[test]
        fn results_are_the_same(a in digits(), b in digits(), s in 0..=MOST_SCALE, t in 0..=MOST_SCALE) {
            let (x, y) = (number(a, s), number(b, t));
            let (left, right) = (x.clone().into_datum().unwrap(), y.clone().into_datum().unwrap());
            let general = [x.add(&y), x.sub(&y), x.mul(&y)];
            for (op, general) in [Arithmetic::Add, Arithmetic::Sub, Arithmetic::Mul].iter().zip(general) {
                prop_assert_eq!(op.of(&left, &right).unwrap(), general.into_datum().unwrap(), "{:?}", op);
            }
            let (Datum::Bytes(left), Datum::Bytes(right)) = (left, right) else { unreachable!() };
            prop_assert_eq!(compare_payloads(&left, &right), x.compare(&y));
        }

        #[test]
        fn no_payload_panics(bytes in proptest::collection::vec(any::<u8>(), 0..16)) {
            let _ = Small::from_payload(&bytes);
            let _ = compare_payloads(&bytes, &bytes);
        }
    }
}
