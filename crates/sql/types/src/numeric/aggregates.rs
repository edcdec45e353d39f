//! Sums of many numbers.

use super::{Numeric, Small};

/// Running count, sum and (where asked for) sum of squares. Special values are counted, not
/// added.
#[derive(Clone, Debug, Default)]
pub struct NumericSum {
    /// Numbers taken, special ones included.
    pub count: i64,
    /// Sum of numbers with few digits, in units of 10^-`small_scale`: the common case costs one addition.
    small: i128,
    small_scale: u32,
    /// All others, if there are any.
    rest: Option<Box<Rest>>,
}

/// What a sum holds of numbers that are not small. A sum of none of them is the default.
#[derive(Clone, Debug)]
struct Rest {
    sum: Numeric,
    squares: Numeric,
    nans: i64,
    infinities: i64,
    minus_infinities: i64,
}

impl Default for Rest {
    fn default() -> Rest {
        Rest { sum: Numeric::zero(), squares: Numeric::zero(), nans: 0, infinities: 0, minus_infinities: 0 }
    }
}

impl NumericSum {
    /// Takes a number with few digits.
    #[inline]
    pub fn add_small(&mut self, value: Small) {
        self.count += 1;
        let mut digits = i128::from(value.digits);
        if value.scale > self.small_scale {
            match self.small.checked_mul(10i128.pow(value.scale - self.small_scale)) {
                Some(small) => self.small = small,
                None => self.set_aside(),
            }
            self.small_scale = value.scale;
        } else if value.scale < self.small_scale {
            digits *= 10i128.pow(self.small_scale - value.scale);
        }
        match self.small.checked_add(digits) {
            Some(small) => self.small = small,
            None => {
                self.set_aside();
                self.small = digits;
            }
        }
    }

    /// Moves the integer's part of the sum to the other.
    #[cold]
    fn set_aside(&mut self) {
        let total = self.total();
        self.rest.get_or_insert_default().sum = total;
        self.small = 0;
    }

    /// Takes a number.
    pub fn add(&mut self, value: &Numeric, with_squares: bool) {
        self.count += 1;
        let rest = self.rest.get_or_insert_default();
        match value.kind {
            super::Kind::NaN => rest.nans += 1,
            super::Kind::Infinity => rest.infinities += 1,
            super::Kind::MinusInfinity => rest.minus_infinities += 1,
            _ => {
                rest.sum = rest.sum.add(value);
                if with_squares {
                    rest.squares = rest.squares.add(&value.mul_exact(value));
                }
            }
        }
    }

    /// Takes what another sum has taken.
    pub fn merge(&mut self, other: &NumericSum) {
        self.count += other.count;
        let rest = self.rest.get_or_insert_default();
        rest.sum = rest.sum.add(&other.total());
        if let Some(other) = &other.rest {
            rest.squares = rest.squares.add(&other.squares);
            rest.nans += other.nans;
            rest.infinities += other.infinities;
            rest.minus_infinities += other.minus_infinities;
        }
    }

    fn special(&self) -> Option<Numeric> {
        let rest = self.rest.as_ref()?;
        match (rest.nans, rest.infinities, rest.minus_infinities) {
            (0, 0, 0) => None,
            (0, _, 0) => Some(Numeric::infinity(false)),
            (0, 0, _) => Some(Numeric::infinity(true)),
            _ => Some(Numeric::nan()),
        }
    }

    /// The sum; `None` of no numbers.
    pub fn sum(&self) -> Option<Numeric> {
        if self.count == 0 {
            return None;
        }
        Some(self.special().unwrap_or_else(|| self.total()))
    }

    fn total(&self) -> Numeric {
        let small = Numeric::from_i128(self.small).scaled_down(self.small_scale as i32);
        match &self.rest {
            Some(rest) => rest.sum.add(&small),
            None => small,
        }
    }

    /// The mean; `None` of no numbers.
    pub fn average(&self) -> Option<Numeric> {
        let sum = self.sum()?;
        sum.div(&Numeric::from_i64(self.count)).ok()
    }

    /// Variance or standard deviation, of a sample or of the whole population.
    pub fn variance(&self, sample: bool, deviation: bool) -> Option<Numeric> {
        if self.count == 0 || (sample && self.count == 1) {
            return None;
        }
        if self.special().is_some() {
            return Some(Numeric::nan());
        }
        let count = Numeric::from_i64(self.count);
        let sum = self.total();
        // n·Σx² - (Σx)², never negative but for rounding.
        let squares = self.rest.as_ref().map_or_else(Numeric::zero, |rest| rest.squares.clone());
        let numerator = count.mul_exact(&squares).sub(&sum.mul_exact(&sum));
        if numerator.signum() <= 0 {
            return Some(Numeric::zero());
        }
        let divisor = if sample {
            count.mul_exact(&Numeric::from_i64(self.count - 1))
        } else {
            count.mul_exact(&count)
        };
        let variance = numerator.div(&divisor).ok()?;
        // The root has as many digits as the variance has.
        if deviation { variance.sqrt_rounded(variance.scale()).ok() } else { Some(variance) }
    }
}
