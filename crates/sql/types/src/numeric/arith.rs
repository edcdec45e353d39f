//! Sum, difference, product, quotient, remainder, rounding.

use std::cmp::Ordering;

use base::{SqlResult, sql_err};

use crate::piece::Pace;

use super::{BASE, Kind, LIMB_DIGITS, Limbs, MAX_DISPLAY_SCALE, MAX_SCALE, MIN_SIGNIFICANT, Numeric};

fn division_by_zero() -> base::SqlError {
    sql_err!(DIVISION_BY_ZERO, "division by zero")
}

/// Limb of `n` at `weight`, 0 outside.
#[inline]
fn limb_at(n: &Numeric, weight: i32) -> u32 {
    let i = n.weight - weight;
    if i < 0 { 0 } else { n.limbs.get(i as usize).map_or(0, |l| u32::from(*l)) }
}

/// Weight of the last limb.
fn low(n: &Numeric) -> i32 {
    n.weight - n.limbs.len() as i32 + 1
}

impl Numeric {
    /// Sum; display scale is the larger one.
    pub fn add(&self, other: &Numeric) -> Numeric {
        if !self.is_finite() || !other.is_finite() {
            return match (self.kind, other.kind) {
                (Kind::NaN, _) | (_, Kind::NaN) => Numeric::nan(),
                (Kind::Infinity, Kind::MinusInfinity) | (Kind::MinusInfinity, Kind::Infinity) => {
                    Numeric::nan()
                }
                (Kind::Infinity | Kind::MinusInfinity, _) => self.clone(),
                _ => other.clone(),
            };
        }
        let scale = self.scale.max(other.scale);
        let mut sum = if self.kind == other.kind {
            Numeric { kind: self.kind, ..add_abs(self, other) }
        } else {
            match self.compare_abs(other) {
                Ordering::Equal => Numeric::zero(),
                Ordering::Greater => Numeric { kind: self.kind, ..sub_abs(self, other) },
                Ordering::Less => Numeric { kind: other.kind, ..sub_abs(other, self) },
            }
        };
        sum.scale = scale;
        sum.normalize()
    }

    /// Difference; display scale is the larger one.
    pub fn sub(&self, other: &Numeric) -> Numeric {
        self.add(&other.clone().negate())
    }

    /// Product as PostgreSQL shows it: scales add up, but not above the largest that can be stored.
    pub fn mul(&self, other: &Numeric) -> Numeric {
        if !self.is_finite() || !other.is_finite() {
            return match self.signum() * other.signum() {
                _ if self.is_nan() || other.is_nan() => Numeric::nan(),
                0 => Numeric::nan(),
                sign => Numeric::infinity(sign < 0),
            };
        }
        let product = self.mul_exact(other);
        if product.scale > MAX_SCALE { product.round(MAX_SCALE) } else { product }
    }

    /// Product of finite numbers with all digits.
    pub(crate) fn mul_exact(&self, other: &Numeric) -> Numeric {
        let scale = self.scale + other.scale;
        let (a, b) = (&self.limbs, &other.limbs);
        if a.is_empty() || b.is_empty() {
            return Numeric { scale, ..Numeric::zero() };
        }
        let mut columns = vec![0u64; a.len() + b.len()];
        let mut pace = Pace::new();
        for (i, x) in a.iter().enumerate() {
            pace.pass(b.len());
            for (j, y) in b.iter().enumerate() {
                columns[i + j + 1] += u64::from(*x) * u64::from(*y);
            }
        }
        let mut limbs: Limbs = Limbs::from_elem(0, columns.len());
        let mut carry = 0;
        for i in (0..columns.len()).rev() {
            let sum = columns[i] + carry;
            limbs[i] = (sum % u64::from(BASE)) as u16;
            carry = sum / u64::from(BASE);
        }
        let kind = if self.kind == other.kind { Kind::Positive } else { Kind::Negative };
        Numeric { kind, weight: self.weight + other.weight + 1, scale, limbs }.normalize()
    }

    /// Product of finite numbers, rounded to `scale` digits behind the point.
    pub(crate) fn mul_rounded(&self, other: &Numeric, scale: i32) -> Numeric {
        self.mul_exact(other).round(scale)
    }

    /// A whole number divided by 10^`places`, shown with as many digits behind the point.
    pub(crate) fn scaled_down(&self, places: i32) -> Numeric {
        let limbs_behind = (places + LIMB_DIGITS - 1) / LIMB_DIGITS;
        let unit = 10u16.pow((limbs_behind * LIMB_DIGITS - places) as u32);
        let factor = Numeric {
            kind: Kind::Positive,
            weight: -limbs_behind,
            scale: places,
            limbs: Limbs::from_slice(&[unit]),
        };
        self.mul_exact(&factor)
    }

    /// Quotient with the scale that PostgreSQL chooses.
    pub fn div(&self, other: &Numeric) -> SqlResult<Numeric> {
        if !self.is_finite() || !other.is_finite() {
            return special_quotient(self, other);
        }
        if other.is_zero() {
            return Err(division_by_zero());
        }
        Ok(self.div_rounded(other, division_scale(self, other)))
    }

    /// Quotient of finite numbers rounded to `scale`; the divisor is not zero.
    pub(crate) fn div_rounded(&self, other: &Numeric, scale: i32) -> Numeric {
        self.quotient(other, scale).round(scale)
    }

    /// Quotient of finite numbers cut at `scale`.
    pub(crate) fn div_truncated(&self, other: &Numeric, scale: i32) -> Numeric {
        self.quotient(other, scale).truncate(scale)
    }

    /// At least `scale` and one more exact digits of the quotient.
    fn quotient(&self, other: &Numeric, scale: i32) -> Numeric {
        if self.limbs.is_empty() {
            return Numeric { scale: scale.max(0), ..Numeric::zero() };
        }
        let weight = self.weight - other.weight;
        // Limbs wanted: from `weight` down to one below the last that the scale needs.
        let lowest = -(scale.div_euclid(LIMB_DIGITS) + 2);
        let count = (weight - lowest + 1).max(1) as usize;
        let limbs = if other.limbs.len() <= 3 {
            divide_short(&self.limbs, &other.limbs, count)
        } else {
            divide_long(&self.limbs, &other.limbs, count)
        };
        let kind = if self.kind == other.kind { Kind::Positive } else { Kind::Negative };
        Numeric { kind, weight, scale: scale.max(0), limbs }.normalize()
    }

    /// Remainder with the sign of the dividend.
    pub fn rem(&self, other: &Numeric) -> SqlResult<Numeric> {
        if self.is_nan() || other.is_nan() {
            return Ok(Numeric::nan());
        }
        if !self.is_finite() {
            return if other.is_zero() { Err(division_by_zero()) } else { Ok(Numeric::nan()) };
        }
        if !other.is_finite() {
            return Ok(self.clone());
        }
        if other.is_zero() {
            return Err(division_by_zero());
        }
        let whole = self.div_truncated(other, 0);
        let mut rest = self.sub(&other.mul_exact(&whole));
        rest.scale = self.scale.max(other.scale);
        Ok(rest)
    }

    /// Quotient cut to a whole number: `div()`.
    pub fn div_whole(&self, other: &Numeric) -> SqlResult<Numeric> {
        if !self.is_finite() || !other.is_finite() {
            return special_quotient(self, other);
        }
        if other.is_zero() {
            return Err(division_by_zero());
        }
        Ok(self.div_truncated(other, 0))
    }

    /// Rounded half away from zero to `scale` digits behind the point (before it, when negative).
    pub fn round(mut self, scale: i32) -> Numeric {
        if !self.is_finite() {
            return self;
        }
        let keep = (self.weight + 1) * LIMB_DIGITS + scale;
        self.scale = scale.max(0);
        if keep < 0 || self.limbs.is_empty() {
            return Numeric { scale: self.scale, ..Numeric::zero() };
        }
        let whole = (keep / LIMB_DIGITS) as usize;
        if whole >= self.limbs.len() {
            return self;
        }
        let part = 10u32.pow((LIMB_DIGITS - keep % LIMB_DIGITS) as u32);
        let limb = u32::from(self.limbs[whole]);
        let up = limb % part >= part / 2;
        self.limbs.truncate(whole + 1);
        let mut carry = limb - limb % part + if up { part } else { 0 };
        for i in (0..=whole).rev() {
            self.limbs[i] = (carry % BASE) as u16;
            if carry < BASE {
                carry = 0;
                break;
            }
            carry = carry / BASE + if i > 0 { u32::from(self.limbs[i - 1]) } else { 0 };
        }
        if carry > 0 {
            self.limbs.insert(0, carry as u16);
            self.weight += 1;
        }
        self.normalize()
    }

    /// Cut to `scale` digits behind the point (before it, when negative).
    pub fn truncate(mut self, scale: i32) -> Numeric {
        if !self.is_finite() {
            return self;
        }
        let keep = (self.weight + 1) * LIMB_DIGITS + scale;
        self.scale = scale.max(0);
        if keep <= 0 || self.limbs.is_empty() {
            return Numeric { scale: self.scale, ..Numeric::zero() };
        }
        let whole = (keep / LIMB_DIGITS) as usize;
        if whole < self.limbs.len() {
            let part = 10u16.pow((keep % LIMB_DIGITS) as u32);
            let limb = self.limbs[whole];
            self.limbs.truncate(whole + 1);
            self.limbs[whole] = if part == 1 { 0 } else { limb - limb % (BASE as u16 / part) };
        }
        self.normalize()
    }

    /// Largest whole number not above.
    pub fn floor(self) -> Numeric {
        let whole = self.clone().truncate(0);
        if self.signum() < 0 && whole != self { whole.sub(&Numeric::from_i64(1)) } else { whole }
    }

    /// Smallest whole number not below.
    pub fn ceil(self) -> Numeric {
        let whole = self.clone().truncate(0);
        if self.signum() > 0 && whole != self { whole.add(&Numeric::from_i64(1)) } else { whole }
    }

    /// Digits behind the point that are needed to show the value.
    pub fn min_scale(&self) -> i32 {
        let Some(last) = self.limbs.last() else { return 0 };
        let mut scale = -low(self) * LIMB_DIGITS;
        let mut limb = *last;
        while limb % 10 == 0 && scale > 0 {
            limb /= 10;
            scale -= 1;
        }
        scale.max(0)
    }
}

fn special_quotient(a: &Numeric, b: &Numeric) -> SqlResult<Numeric> {
    if a.is_nan() || b.is_nan() || (!a.is_finite() && !b.is_finite()) {
        Ok(Numeric::nan())
    } else if a.is_finite() {
        Ok(Numeric::zero())
    } else if b.is_zero() {
        Err(division_by_zero())
    } else {
        Ok(Numeric::infinity(a.signum() * b.signum() < 0))
    }
}

/// At least 16 significant digits, at least the operands' scales.
pub(super) fn division_scale(a: &Numeric, b: &Numeric) -> i32 {
    let first = |n: &Numeric| n.limbs.first().map_or((0, 0), |l| (n.weight, *l));
    let ((weight_a, first_a), (weight_b, first_b)) = (first(a), first(b));
    let mut weight = weight_a - weight_b;
    if first_a <= first_b {
        weight -= 1;
    }
    (MIN_SIGNIFICANT - weight * LIMB_DIGITS).max(a.scale).max(b.scale).clamp(0, MAX_DISPLAY_SCALE)
}

fn add_abs(a: &Numeric, b: &Numeric) -> Numeric {
    if a.limbs.is_empty() {
        return b.clone();
    }
    if b.limbs.is_empty() {
        return a.clone();
    }
    let (top, bottom) = (a.weight.max(b.weight) + 1, low(a).min(low(b)));
    let mut limbs = Limbs::from_elem(0, (top - bottom + 1) as usize);
    let mut carry = 0;
    for (i, weight) in (bottom..=top).enumerate() {
        let sum = limb_at(a, weight) + limb_at(b, weight) + carry;
        let place = limbs.len() - 1 - i;
        limbs[place] = (sum % BASE) as u16;
        carry = sum / BASE;
    }
    Numeric { kind: Kind::Positive, weight: top, scale: 0, limbs }
}

/// `|a| - |b|` where `|a| > |b|`.
fn sub_abs(a: &Numeric, b: &Numeric) -> Numeric {
    if b.limbs.is_empty() {
        return a.clone();
    }
    let (top, bottom) = (a.weight, low(a).min(low(b)));
    let mut limbs = Limbs::from_elem(0, (top - bottom + 1) as usize);
    let mut borrow = 0;
    for (i, weight) in (bottom..=top).enumerate() {
        let take = limb_at(b, weight) + borrow;
        let have = limb_at(a, weight);
        borrow = u32::from(have < take);
        let place = limbs.len() - 1 - i;
        limbs[place] = (have + borrow * BASE - take) as u16;
    }
    Numeric { kind: Kind::Positive, weight: top, scale: 0, limbs }
}

/// `count` limbs of the quotient, the first at the difference of the weights, by a divisor below 10^12.
fn divide_short(a: &[u16], b: &[u16], count: usize) -> Limbs {
    let divisor = b.iter().fold(0u64, |n, limb| n * u64::from(BASE) + u64::from(*limb));
    let mut rest = 0u64;
    // The divisor has b.len() limbs: the quotient's first limb appears once as many of the dividend are taken.
    for limb in (0..b.len() - 1).map(|i| a.get(i).copied().unwrap_or(0)) {
        rest = rest * u64::from(BASE) + u64::from(limb);
    }
    let mut out = Limbs::with_capacity(count);
    for i in 0..count {
        rest = rest * u64::from(BASE) + u64::from(a.get(i + b.len() - 1).copied().unwrap_or(0));
        out.push((rest / divisor) as u16);
        rest %= divisor;
    }
    out
}

/// The same by any divisor of two or more limbs: schoolbook division with an estimated limb, corrected downwards.
fn divide_long(a: &[u16], b: &[u16], count: usize) -> Limbs {
    let n = b.len();
    // Scaling both so that the divisor's first limb is at least half the base keeps the estimate within two.
    let factor = BASE / (u32::from(b[0]) + 1);
    let scale = |limbs: &[u16], extra: usize| -> Vec<u32> {
        let mut out = vec![0u32; limbs.len() + extra];
        let mut carry = 0;
        for i in (0..limbs.len()).rev() {
            let product = u32::from(limbs[i]) * factor + carry;
            out[i + extra] = product % BASE;
            carry = product / BASE;
        }
        if extra > 0 {
            out[0] = carry;
        }
        out
    };
    let divisor = scale(b, 0);
    let mut dividend = scale(a, 1);
    dividend.resize(dividend.len().max(count + n + 1), 0);
    let mut out = Limbs::with_capacity(count);
    let mut pace = Pace::new();
    for i in 0..count {
        pace.pass(n);
        let head = u64::from(dividend[i]) * u64::from(BASE) + u64::from(dividend[i + 1]);
        let mut q = head / u64::from(divisor[0]);
        let mut r = head % u64::from(divisor[0]);
        while q >= u64::from(BASE)
            || q * u64::from(divisor[1]) > r * u64::from(BASE) + u64::from(dividend[i + 2])
        {
            q -= 1;
            r += u64::from(divisor[0]);
            if r >= u64::from(BASE) {
                break;
            }
        }
        if !subtract_multiple(&mut dividend[i..=i + n], &divisor, q as u32) {
            q -= 1;
            add_back(&mut dividend[i..=i + n], &divisor);
        }
        out.push(q as u16);
    }
    out
}

/// `window -= divisor * q`; false when it went below zero (it then lies one divisor too low, in base complement).
fn subtract_multiple(window: &mut [u32], divisor: &[u32], q: u32) -> bool {
    let mut borrow = 0u32;
    for j in (0..divisor.len()).rev() {
        let take = divisor[j] * q + borrow;
        let have = window[j + 1];
        let need = take % BASE;
        borrow = take / BASE;
        if have < need {
            window[j + 1] = have + BASE - need;
            borrow += 1;
        } else {
            window[j + 1] = have - need;
        }
    }
    if window[0] < borrow {
        window[0] = window[0] + BASE - borrow;
        false
    } else {
        window[0] -= borrow;
        true
    }
}

fn add_back(window: &mut [u32], divisor: &[u32]) {
    let mut carry = 0;
    for j in (0..divisor.len()).rev() {
        let sum = window[j + 1] + divisor[j] + carry;
        window[j + 1] = sum % BASE;
        carry = sum / BASE;
    }
    window[0] = (window[0] + carry) % BASE;
}
