//! Seeds: which run, what is drawn from them, and the message of the one that failed.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Seeds of the default run.
const DEFAULT_SEEDS: u64 = 10;

/// Runs `test` for the seeds of one part of `parts`, so that the test harness's threads share them.
pub fn for_each(part: u64, parts: u64, test: impl Fn(u64)) {
    let number = |name| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    let seeds = match number("STAMPEDE_SIM_SEED") {
        Some(one) => one..one + 1,
        None => 0..number("STAMPEDE_SIM_SEEDS").unwrap_or(DEFAULT_SEEDS),
    };
    for seed in seeds.filter(|seed| seed % parts == part) {
        let result = catch_unwind(AssertUnwindSafe(|| test(seed)));
        if let Err(failure) = result {
            eprintln!("seed {seed} failed; STAMPEDE_SIM_SEED={seed} runs it again");
            resume_unwind(failure);
        }
    }
}

/// Choices of a test, apart from the simulation's own.
#[derive(Clone, Debug)]
pub struct Choices(u64);

impl Choices {
    /// The choices of a seed; `stream` tells apart who chooses.
    pub fn new(seed: u64, stream: u64) -> Choices {
        let mut choices = Choices(seed.wrapping_mul(0x2545_F491_4F6C_DD1D) ^ stream);
        choices.next();
        choices
    }

    /// SplitMix64.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// One of several.
    pub fn of<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len() as u64) as usize]
    }
}
