//! Reproducible choices.

/// A stream of numbers that depends on nothing but what it was made of (SplitMix64).
pub struct Random(u64);

impl Random {
    /// The stream of one row of one table: rows can be made in any order, and again.
    pub fn of(table: u64, row: u64) -> Random {
        let mut random = Random(table << 56 ^ row);
        random.next();
        random
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Evenly from `low` to `high`, both inclusive.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        let span = (high - low + 1) as u64;
        low + ((u128::from(self.next()) * u128::from(span)) >> 64) as i64
    }

    /// One of a list.
    pub fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.between(0, list.len() as i64 - 1) as usize]
    }
}
