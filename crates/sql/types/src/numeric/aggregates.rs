//! Sums of many numbers.

use super::Numeric;

/// Running count, sum and (where asked for) sum of squares. Special values are counted, not
/// added.
#[derive(Clone, Debug)]
pub struct NumericSum {
    /// Numbers taken, special ones included.
    pub count: i64,
    /// Sum of those that fit an integer, kept apart: the common case costs one addition.
    small: i128,
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
            sum: Numeric::zero(),
            squares: Numeric::zero(),
            nans: 0,
            infinities: 0,
            minus_infinities: 0,
        }
    }
}

impl NumericSum {
    /// Takes an integer.
    #[inline]
    pub fn add_int(&mut self, value: i64) {
        self.count += 1;
        // 2^64 rows of the largest value do not overflow.
        self.small += i128::from(value);
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
        self.small += other.small;
        self.sum = self.sum.add(&other.sum);
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
        if self.small == 0 { self.sum.clone() } else { self.sum.add(&Numeric::from_i128(self.small)) }
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
