//! The generator behind `random()`: PostgreSQL's xoroshiro128**, so that a seed gives PostgreSQL's numbers.

/// One session's generator.
#[derive(Clone, Debug)]
pub struct Random {
    state: [u64; 2],
}

impl Random {
    /// Seeded from an integer.
    pub fn new(seed: u64) -> Random {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let z = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            z ^ (z >> 31)
        };
        Random { state: [next(), next()] }
    }

    /// `setseed`: a number from -1 to 1.
    pub fn from_float(seed: f64) -> Random {
        Random::new((((1i64 << 52) - 1) as f64 * seed) as i64 as u64)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        let [s0, s1] = self.state;
        let result = s0.wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let sx = s1 ^ s0;
        self.state = [s0.rotate_left(24) ^ sx ^ (sx << 16), sx.rotate_left(37)];
        result
    }

    /// Uniform in `[0, 1)`.
    pub fn float(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * 2f64.powi(-53) // 52 bits would do; 53 are exact too
    }

    /// Uniform in `min..=max`, both included.
    pub fn range(&mut self, min: i64, max: i64) -> i64 {
        let span = max.wrapping_sub(min) as u64;
        if span == 0 {
            return min;
        }
        let shift = span.leading_zeros();
        loop {
            let bits = self.bits() >> shift;
            if bits <= span {
                return min.wrapping_add(bits as i64);
            }
        }
    }
}

impl Random {
    /// A number of the normal distribution with mean 0 and deviation 1 (Box and Muller's method).
    pub fn normal(&mut self) -> f64 {
        // 1 - [0, 1) is never zero, so the logarithm is finite.
        let (u1, u2) = (1.0 - self.float(), 1.0 - self.float());
        (-2.0 * u1.ln()).sqrt() * (std::f64::consts::TAU * u2).sin()
    }
}
