//! # What
//! `numeric`: decimal numbers of up to 131,072 digits before and 16,383 behind the point, NaN and the infinities.
//!
//! # Layout
//! A value in memory ([`Numeric`]) and on disk is a sign, a display scale, a weight and limbs in base 10,000, most
//! significant first: `value = ± Σ limb[i] · 10000^(weight - i)`. The payload, little-endian:
//!
//! | bytes | |
//! |---|---|
//! | 0..2 | bits 0 to 13: display scale; bits 14 and 15: 0 positive, 1 negative, 2 special (then the scale is 0 NaN, 1 infinity, 2 -infinity, and nothing follows) |
//! | 2..4 | weight, signed |
//! | 4.. | limbs, two bytes each |
//!
//! # Invariants
//! 1. No leading and no trailing zero limb; zero has no limb, weight 0 and the positive sign.
//! 2. The display scale says how many digits are printed behind the point; it does not take part in comparison and hash.
//!
//! # PostgreSQL counterpart and differences
//! `numeric.c`: the same results and display scales; the payload is ours.

use std::cmp::Ordering;

use base::{SqlError, SqlResult, sql_err};
use smallvec::SmallVec;
use tuple::{Bytes, Datum};

use crate::value::{FromDatum, IntoDatum};

mod aggregates;
mod arith;
mod convert;
pub(crate) mod functions;
mod log;
mod small;
mod text;

pub use aggregates::NumericSum;
pub use convert::{binary_receive, binary_send, format_typmod, numeric_typmod};
pub(crate) use functions::FUNCTIONS;
pub use small::{Arithmetic, Small, compare_payloads};

/// Base of a limb.
pub(crate) const BASE: u32 = 10_000;
/// Decimal digits in a limb.
pub(crate) const LIMB_DIGITS: i32 = 4;
/// Most digits behind the point that arithmetic shows.
pub(crate) const MAX_DISPLAY_SCALE: i32 = 1000;
/// Digits that division and the like give at least.
pub(crate) const MIN_SIGNIFICANT: i32 = 16;
/// Most digits behind the point that a value can have.
pub(crate) const MAX_SCALE: i32 = 16_383;
/// Largest weight of a first limb.
pub(crate) const MAX_WEIGHT: i32 = 32_767;

/// Limbs, most significant first.
pub(crate) type Limbs = SmallVec<[u16; 12]>;

/// Which kind of number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Zero or above.
    Positive,
    /// Below zero.
    Negative,
    /// Not a number; equals itself and is above all others.
    NaN,
    /// Above all finite numbers.
    Infinity,
    /// Below all finite numbers.
    MinusInfinity,
}

/// A decimal number in memory.
#[derive(Clone, Debug)]
pub struct Numeric {
    pub(crate) kind: Kind,
    pub(crate) weight: i32,
    pub(crate) scale: i32,
    pub(crate) limbs: Limbs,
}

/// `value overflows numeric format`
pub(crate) fn overflow() -> SqlError {
    sql_err!(NUMERIC_VALUE_OUT_OF_RANGE, "value overflows numeric format")
}

impl Numeric {
    /// Zero with no digit behind the point.
    pub fn zero() -> Numeric {
        Numeric { kind: Kind::Positive, weight: 0, scale: 0, limbs: Limbs::new() }
    }

    /// Not a number.
    pub fn nan() -> Numeric {
        Numeric { kind: Kind::NaN, ..Numeric::zero() }
    }

    /// Plus or minus infinity.
    pub fn infinity(negative: bool) -> Numeric {
        Numeric { kind: if negative { Kind::MinusInfinity } else { Kind::Infinity }, ..Numeric::zero() }
    }

    /// Zero?
    pub fn is_zero(&self) -> bool {
        self.is_finite() && self.limbs.is_empty()
    }

    /// Neither NaN nor infinite?
    pub fn is_finite(&self) -> bool {
        matches!(self.kind, Kind::Positive | Kind::Negative)
    }

    /// NaN?
    pub fn is_nan(&self) -> bool {
        self.kind == Kind::NaN
    }

    /// -1, 0 or 1; NaN counts as 1.
    pub fn signum(&self) -> i32 {
        match self.kind {
            Kind::Negative | Kind::MinusInfinity => -1,
            Kind::Positive if self.limbs.is_empty() => 0,
            _ => 1,
        }
    }

    /// Digits printed behind the point.
    pub fn scale(&self) -> i32 {
        self.scale
    }

    /// Restores invariant 1.
    pub(crate) fn normalize(mut self) -> Numeric {
        let leading = self.limbs.iter().take_while(|limb| **limb == 0).count();
        if leading > 0 {
            self.limbs.drain(..leading);
            self.weight -= leading as i32;
        }
        while self.limbs.last() == Some(&0) {
            self.limbs.pop();
        }
        if self.limbs.is_empty() {
            self.weight = 0;
            if self.kind == Kind::Negative {
                self.kind = Kind::Positive;
            }
        }
        self
    }

    /// The number with the opposite sign.
    pub fn negate(mut self) -> Numeric {
        self.kind = match self.kind {
            Kind::Positive if self.limbs.is_empty() => Kind::Positive,
            Kind::Positive => Kind::Negative,
            Kind::Negative => Kind::Positive,
            Kind::Infinity => Kind::MinusInfinity,
            Kind::MinusInfinity => Kind::Infinity,
            Kind::NaN => Kind::NaN,
        };
        self
    }

    /// The number without its sign.
    pub fn abs(self) -> Numeric {
        if self.signum() < 0 { self.negate() } else { self }
    }

    /// An error when the number is too large to be stored.
    pub(crate) fn checked(self) -> SqlResult<Numeric> {
        if self.weight > MAX_WEIGHT || self.weight < -32_768 || self.scale > MAX_SCALE {
            Err(overflow())
        } else {
            Ok(self)
        }
    }

    /// Reads a stored payload. Damaged payloads give NaN or drop what does not fit: never a panic.
    pub fn from_payload(bytes: &[u8]) -> Numeric {
        let Some((header, limbs)) = bytes.split_at_checked(4) else { return Numeric::nan() };
        let bits = u16::from_le_bytes([header[0], header[1]]);
        let scale = i32::from(bits & 0x3FFF);
        let kind = match (bits >> 14, scale) {
            (0, _) => Kind::Positive,
            (1, _) => Kind::Negative,
            (_, 1) => return Numeric::infinity(false),
            (_, 2) => return Numeric::infinity(true),
            _ => return Numeric::nan(),
        };
        let weight = i32::from(i16::from_le_bytes([header[2], header[3]]));
        let limbs = limbs.chunks_exact(2).map(|l| u16::from_le_bytes([l[0], l[1]]).min(9999)).collect();
        Numeric { kind, weight, scale, limbs }
    }

    /// The stored payload.
    pub fn to_payload(&self) -> Bytes {
        let (bits, weight) = match self.kind {
            Kind::Positive => (self.scale as u16 & 0x3FFF, self.weight as i16),
            Kind::Negative => (self.scale as u16 & 0x3FFF | 0x4000, self.weight as i16),
            Kind::NaN => (0x8000, 0),
            Kind::Infinity => (0x8001, 0),
            Kind::MinusInfinity => (0x8002, 0),
        };
        let mut out: SmallVec<[u8; 64]> = SmallVec::new();
        out.extend_from_slice(&bits.to_le_bytes());
        out.extend_from_slice(&weight.to_le_bytes());
        for limb in &self.limbs {
            out.extend_from_slice(&limb.to_le_bytes());
        }
        Bytes::new(&out)
    }

    /// Order of two numbers; NaN is above all.
    pub fn compare(&self, other: &Numeric) -> Ordering {
        let rank = |n: &Numeric| match n.kind {
            Kind::MinusInfinity => -2,
            Kind::Infinity => 2,
            Kind::NaN => 3,
            _ => 0,
        };
        if !self.is_finite() || !other.is_finite() {
            return rank(self).cmp(&rank(other));
        }
        match (self.signum(), other.signum()) {
            (a, b) if a != b => a.cmp(&b),
            (0, _) => Ordering::Equal,
            (1, _) => self.compare_abs(other),
            _ => other.compare_abs(self),
        }
    }

    /// Order of the absolute values of two finite numbers.
    pub(crate) fn compare_abs(&self, other: &Numeric) -> Ordering {
        match (self.limbs.is_empty(), other.limbs.is_empty()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            // Without trailing zero limbs, a longer number with an equal head is the larger one: slice order.
            _ => {
                self.weight.cmp(&other.weight).then_with(|| self.limbs.as_slice().cmp(other.limbs.as_slice()))
            }
        }
    }
}

impl PartialEq for Numeric {
    fn eq(&self, other: &Numeric) -> bool {
        self.compare(other) == Ordering::Equal
    }
}

impl<'a> FromDatum<'a> for Numeric {
    fn from_datum(datum: &'a Datum) -> Numeric {
        Numeric::from_payload(<&[u8]>::from_datum(datum))
    }
}

impl IntoDatum for Numeric {
    fn into_datum(self) -> SqlResult<Datum> {
        Ok(Datum::Bytes(self.checked()?.to_payload()))
    }
}
