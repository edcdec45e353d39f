//! Sorting few rows, with ties in the order in which PostgreSQL leaves them.
//!
//! SQL promises no order among equal keys, but PostgreSQL's is deterministic and people's expected outputs hold it. It follows
//! from its algorithm: Bentley and McIlroy's quicksort ("Engineering a Sort Function", 1993), with a look for sorted input at
//! each level. Its worst case is quadratic, so only short inputs are sorted this way; long ones are the standard library's.

use std::cmp::Ordering;

/// Longest input that is sorted this way.
pub const LONGEST: usize = 1024;

/// Sorts; not stable.
pub fn sort<T>(mut rows: &mut [T], order: &impl Fn(&T, &T) -> Ordering) {
    loop {
        let count = rows.len();
        if count < 7 {
            return insertion(rows, order);
        }
        if rows.is_sorted_by(|a, b| order(a, b).is_le()) {
            return;
        }
        rows.swap(0, pivot(rows, order));
        let (smaller, larger) = partition(rows, order);
        let (left, rest) = rows.split_at_mut(smaller);
        let right_from = rest.len() - larger;
        let right = &mut rest[right_from..];
        let (short, long) = if smaller <= larger { (left, right) } else { (right, left) };
        sort(short, order);
        rows = long;
    }
}

fn insertion<T>(rows: &mut [T], order: &impl Fn(&T, &T) -> Ordering) {
    for i in 1..rows.len() {
        let mut at = i;
        while at > 0 && order(&rows[at - 1], &rows[at]).is_gt() {
            rows.swap(at - 1, at);
            at -= 1;
        }
    }
}

/// The middle, the median of three, or of three medians of three.
fn pivot<T>(rows: &[T], order: &impl Fn(&T, &T) -> Ordering) -> usize {
    let count = rows.len();
    let (mut low, mut middle, mut high) = (0, count / 2, count - 1);
    if count == 7 {
        return middle;
    }
    if count > 40 {
        let step = count / 8;
        low = median(rows, [low, low + step, low + 2 * step], order);
        middle = median(rows, [middle - step, middle, middle + step], order);
        high = median(rows, [high - 2 * step, high - step, high], order);
    }
    median(rows, [low, middle, high], order)
}

fn median<T>(rows: &[T], [a, b, c]: [usize; 3], order: &impl Fn(&T, &T) -> Ordering) -> usize {
    let less = |x: usize, y: usize| order(&rows[x], &rows[y]).is_lt();
    let more = |x: usize, y: usize| order(&rows[x], &rows[y]).is_gt();
    if less(a, b) {
        if less(b, c) {
            b
        } else if less(a, c) {
            c
        } else {
            a
        }
    } else if more(b, c) {
        b
    } else if less(a, c) {
        a
    } else {
        c
    }
}

/// Parts the rows by the first one: less, equal, greater. Gives the lengths of the first and the last part.
fn partition<T>(rows: &mut [T], order: &impl Fn(&T, &T) -> Ordering) -> (usize, usize) {
    let count = rows.len();
    // Equal ones gather at both ends while the others part in between; `high` and `equal_high` are exclusive.
    let (mut equal_low, mut low, mut high, mut equal_high) = (1, 1, count, count);
    loop {
        while low < high {
            let found = order(&rows[low], &rows[0]);
            if found.is_gt() {
                break;
            }
            if found.is_eq() {
                rows.swap(equal_low, low);
                equal_low += 1;
            }
            low += 1;
        }
        while low < high {
            let found = order(&rows[high - 1], &rows[0]);
            if found.is_lt() {
                break;
            }
            if found.is_eq() {
                equal_high -= 1;
                rows.swap(high - 1, equal_high);
            }
            high -= 1;
        }
        if low >= high {
            break;
        }
        rows.swap(low, high - 1);
        low += 1;
        high -= 1;
    }
    let (smaller, larger) = (low - equal_low, equal_high - low);
    exchange(rows, 0, low, equal_low.min(smaller));
    exchange(rows, low, count, larger.min(count - equal_high));
    (smaller, larger)
}

/// Swaps the `length` rows from `from` on with those before `to`.
fn exchange<T>(rows: &mut [T], from: usize, to: usize, length: usize) {
    for i in 0..length {
        rows.swap(from + i, to - length + i);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(keys: &[u32]) -> Vec<(u32, usize)> {
        let mut rows: Vec<(u32, usize)> = keys.iter().copied().zip(0..).collect();
        sort(&mut rows, &|a, b| a.0.cmp(&b.0));
        rows
    }

    #[test]
    fn any_input_is_sorted() {
        let mut seed = 7u32;
        for count in 0..200 {
            for distinct in [1, 2, 5, 1000] {
                let keys: Vec<u32> = (0..count)
                    .map(|_| {
                        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                        (seed >> 8) % distinct
                    })
                    .collect();
                let mut expected = keys.clone();
                expected.sort_unstable();
                let got = sorted(&keys);
                assert_eq!(got.iter().map(|r| r.0).collect::<Vec<_>>(), expected);
                let mut places: Vec<usize> = got.iter().map(|r| r.1).collect();
                places.sort_unstable();
                assert!(places.into_iter().eq(0..count), "a row was lost");
            }
        }
    }

    #[test]
    fn ties_come_in_postgresqls_order() {
        let keys = [0, 2, 1, 2, 1, 0, 1, 3, 3, 0];
        let order: Vec<usize> = sorted(&keys).into_iter().map(|r| r.1).collect();
        assert_eq!(order, [9, 5, 0, 6, 4, 2, 3, 1, 7, 8]);
    }
}
