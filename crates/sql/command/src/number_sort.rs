//! Sorting rows by numbers that tell most of their order: rows are first dealt to piles by samples of the numbers, then each pile, which is small, is sorted.

use std::cmp::Ordering;

use base::SqlResult;
use runtime::pace::Pace;

/// A row, and a number it sorts by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Numbered {
    pub(crate) number: u64,
    pub(crate) row: u32,
}

/// Rows of a pile, about.
const PILE: usize = 4096;
/// Most piles.
const MOST_PILES: usize = 2048;
/// Numbers looked at for each pile.
const SAMPLES: usize = 16;

/// Sorts by the numbers, equal ones by `ties`, and rows that are equal by that too stay in the order in which they are.
pub(crate) fn sort(
    mut rows: Vec<Numbered>,
    mut ties: impl FnMut(u32, u32) -> Ordering,
) -> SqlResult<Vec<Numbered>> {
    let mut order = |a: &Numbered, b: &Numbered| a.number.cmp(&b.number).then_with(|| ties(a.row, b.row));
    let mut ends = Vec::new();
    if rows.len() > 2 * PILE {
        (rows, ends) = deal(&rows)?;
    }
    let mut rest = &mut rows[..];
    let mut from = 0;
    for end in ends {
        let (pile, behind) = rest.split_at_mut(end - from);
        types::piece::sort_by(pile, &mut order)?;
        runtime::check_interrupts()?;
        (rest, from) = (behind, end);
    }
    types::piece::sort_by(rest, &mut order)?;
    Ok(rows)
}

/// Puts rows into piles, with smaller numbers in earlier ones, in the order in which they come. Also returns where each pile ends.
fn deal(rows: &[Numbered]) -> SqlResult<(Vec<Numbered>, Vec<usize>)> {
    let piles = (rows.len() / PILE).min(MOST_PILES);
    let mut samples: Vec<u64> =
        rows.iter().step_by(rows.len() / (piles * SAMPLES)).map(|row| row.number).collect();
    samples.sort_unstable();
    let mut first: Vec<u64> = samples.into_iter().skip(SAMPLES).step_by(SAMPLES).collect();
    first.dedup();
    let mut pace = Pace::new();
    let mut piles = Vec::with_capacity(rows.len());
    let mut places = vec![0; first.len() + 1];
    for row in rows {
        let pile = first.partition_point(|least| *least <= row.number);
        places[pile] += 1;
        piles.push(pile as u16);
        pace.did(16)?;
    }
    let mut sum = 0;
    for place in &mut places {
        sum += std::mem::replace(place, sum);
    }
    let mut out = vec![Numbered::default(); rows.len()];
    for (row, pile) in rows.iter().zip(piles) {
        let place = &mut places[usize::from(pile)];
        out[*place] = *row;
        *place += 1;
        pace.did(16)?;
    }
    Ok((out, places))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(numbers: impl Iterator<Item = u64>) {
        let rows: Vec<Numbered> = numbers.zip(0..).map(|(number, row)| Numbered { number, row }).collect();
        let mut expected = rows.clone();
        expected.sort_by_key(|row| (row.number, row.row % 10));
        let sorted = sort(rows, |a, b| (a % 10).cmp(&(b % 10))).unwrap();
        assert!(sorted == expected, "{} rows", sorted.len());
    }

    #[test]
    fn any_numbers_are_sorted_stably() {
        for count in [0, 1, 100, 2 * PILE as u64, 2 * PILE as u64 + 1, 100_000] {
            check((0..count).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
            check((0..count).map(|i| i * 7919 % 50));
            check((0..count).rev());
            check((0..count).map(|_| u64::MAX));
            check((0..count).map(|i| if i % 1000 == 0 { i } else { 5 }));
        }
    }
}
