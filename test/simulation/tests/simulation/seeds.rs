//! Seeds: which run, and the message of the one that failed.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Seeds of the default run.
const DEFAULT_SEEDS: u64 = 10;

/// A number that the environment may set.
pub fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

/// Runs `test` for the seeds of one part of `parts`, so that the test harness's threads share them.
pub fn for_each(part: u64, parts: u64, test: impl Fn(u64)) {
    for_each_of(DEFAULT_SEEDS, part, parts, test);
}

/// As [`for_each`], with so many seeds unless others are asked for.
pub fn for_each_of(default: u64, part: u64, parts: u64, test: impl Fn(u64)) {
    let seeds = match number("STAMPEDE_SIM_SEED") {
        Some(one) => one..one + 1,
        None => {
            let first = number("STAMPEDE_SIM_FIRST").unwrap_or(0);
            first..first + number("STAMPEDE_SIM_SEEDS").unwrap_or(default)
        }
    };
    for seed in seeds.filter(|seed| seed % parts == part) {
        let result = catch_unwind(AssertUnwindSafe(|| test(seed)));
        if let Err(failure) = result {
            eprintln!("seed {seed} failed; STAMPEDE_SIM_SEED={seed} runs it again");
            resume_unwind(failure);
        }
    }
}
