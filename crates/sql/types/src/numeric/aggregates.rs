//! Sums of many numbers.

use super::{Numeric, Small};

/// Running count, sum and (where asked for) sum of squares. Special values are counted, not
/// added.
#[derive(Clone, Debug)]
pub struct NumericSum {
    /// Numbers taken, special ones included.
    pub count: i64,
    /// Sum of integers and of numbers with few digits, kept apart: the common case costs one addition. In units of 10^-`small_scale`.
    small: i128,
    small_scale: u32,
    sum: Numeric,
    squares: Numeric,
    nans: i64,
    infinities: i64,
    minus_infinities: i64,
}

impl Default for NumericSum {
    fn default() -> NumericSum {
        NumericSum {
            count: 0,
            small: 0,
            small_scale: 0,
            sum: Numeric::zero(),
            squares: Numeric::zero(),
            nans: 0,
            infinities: 0,
            minus_infinities: 0,
        }
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
        self.sum = self.total();
        self.small = 0;
    }

    /// Takes a number.
    pub fn add(&mut self, value: &Numeric, with_squares: bool) {
        self.count += 1;
        match value.kind {
            super::Kind::NaN => self.nans += 1,
            super::Kind::Infinity => self.infinities += 1,
            super::Kind::MinusInfinity => self.minus_infinities += 1,
            _ => {
                self.sum = self.sum.add(value);
                if with_squares {
                    self.squares = self.squares.add(&value.mul_exact(value));
                }
            }
        }
    }

    /// Takes what another sum has taken.
    pub fn merge(&mut self, other: &NumericSum) {
        self.count += other.count;
        self.sum = self.sum.add(&other.total());
        self.squares = self.squares.add(&other.squares);
        self.nans += other.nans;
        self.infinities += other.infinities;
        self.minus_infinities += other.minus_infinities;
    }

    fn special(&self) -> Option<Numeric> {
        match (self.nans, self.infinities, self.minus_infinities) {
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
        if self.small == 0 && self.small_scale == 0 {
            return self.sum.clone();
        }
        let small = Numeric::from_i128(self.small).scaled_down(self.small_scale as i32);
        self.sum.add(&small)
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
        let numerator = count.mul_exact(&self.squares).sub(&sum.mul_exact(&sum));
        if numerator.signum() <= 0 {
            return Some(Numeric::zero());
        }
        let divisor = if sample {
            count.mul_exact(&Numeric::from_i64(self.count - 1))
        } else {
            count.mul_exact(&count)
        };
        let variance = numerator.div(&divisor).ok()?;
        if deviation { variance.sqrt().ok() } else { Some(variance) }
    }
}
