//! What is counted of one statement.

use runtime::usage::Usage;

/// What a statement took, in all.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Figures {
    /// Making of plans.
    pub(super) plans: Times,
    /// Runs.
    pub(super) runs: Times,
    /// Rows returned or changed.
    pub(super) rows: u64,
    /// Pages, log, temporary files.
    pub(super) usage: Usage,
    /// Number of the round of forgetting in which it was last counted.
    pub(super) round: u64,
}

/// Lengths of time, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Times {
    /// How many.
    pub(super) count: u64,
    /// Sum.
    pub(super) total: f64,
    /// Shortest since extremes were reset; infinite if there is none.
    pub(super) min: f64,
    /// Longest since then.
    pub(super) max: f64,
    /// Mean.
    pub(super) mean: f64,
    /// Sum of squared differences from the mean.
    pub(super) squares: f64,
}

impl Default for Times {
    fn default() -> Times {
        Times { count: 0, total: 0.0, min: f64::INFINITY, max: 0.0, mean: 0.0, squares: 0.0 }
    }
}

impl Times {
    /// One more.
    pub(super) fn add(&mut self, millis: f64) {
        self.count += 1;
        self.total += millis;
        self.min = self.min.min(millis);
        self.max = self.max.max(millis);
        let before = millis - self.mean;
        self.mean += before / self.count as f64;
        self.squares += before * (millis - self.mean);
    }

    /// Those counted elsewhere too.
    fn merge(&mut self, other: &Times) {
        if other.count == 0 {
            return;
        }
        let (mine, theirs) = (self.count as f64, other.count as f64);
        let apart = other.mean - self.mean;
        self.count += other.count;
        self.total += other.total;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.mean += apart * theirs / (mine + theirs);
        self.squares += other.squares + apart * apart * mine * theirs / (mine + theirs);
    }

    /// The shortest; 0 if there is none.
    pub(super) fn shown_min(&self) -> f64 {
        if self.min.is_finite() { self.min } else { 0.0 }
    }

    /// Standard deviation of all.
    pub(super) fn deviation(&self) -> f64 {
        if self.count > 1 { (self.squares / self.count as f64).sqrt() } else { 0.0 }
    }
}

impl Figures {
    /// Those counted elsewhere too.
    pub(super) fn merge(&mut self, other: &Figures) {
        self.plans.merge(&other.plans);
        self.runs.merge(&other.runs);
        self.rows += other.rows;
        self.usage += other.usage;
        self.round = self.round.max(other.round);
    }

    /// Extremes begin anew.
    pub(super) fn reset_extremes(&mut self) {
        for times in [&mut self.plans, &mut self.runs] {
            (times.min, times.max) = (f64::INFINITY, 0.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_make_the_same_whole() {
        let all = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0];
        let mut whole = Times::default();
        all.iter().for_each(|millis| whole.add(*millis));
        let (mut one, mut other) = (Times::default(), Times::default());
        all[..3].iter().for_each(|millis| one.add(*millis));
        all[3..].iter().for_each(|millis| other.add(*millis));
        one.merge(&other);
        one.merge(&Times::default());
        assert_eq!((one.count, one.total, one.min, one.max), (7, 25.0, 1.0, 9.0));
        assert!((one.mean - whole.mean).abs() < 1e-9 && (one.deviation() - whole.deviation()).abs() < 1e-9);
        assert!((whole.deviation() - 2.6108).abs() < 1e-3, "{}", whole.deviation());
    }
}
