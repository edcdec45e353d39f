//! Distances, by which entries may come: numbers, with NULL behind all of them.

use std::cmp::Ordering;

/// The distance that is NULL: behind all others, those that are not a number included.
pub const NULL_DISTANCE: f64 = f64::from_bits(0x7fff_ffff_ffff_ffff);

/// A computed distance as it compares with others: there is one zero, and one that is not a number.
pub fn distance(value: f64) -> f64 {
    if value.is_nan() { f64::NAN.copysign(1.0) } else { value + 0.0 }
}

/// Order of distances: the first ones decide.
pub fn compare_distances(a: &[f64], b: &[f64]) -> Ordering {
    a.iter().zip(b).map(|(a, b)| a.total_cmp(b)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_a_number_comes_last_and_null_behind_it() {
        let far = [f64::NEG_INFINITY, -1.0, 0.0, f64::INFINITY, f64::NAN].map(distance);
        assert!(far.windows(2).all(|pair| compare_distances(&pair[..1], &pair[1..]).is_lt()));
        assert!(compare_distances(&far[4..], &[NULL_DISTANCE]).is_lt());
        assert!(compare_distances(&[distance(-0.0)], &[0.0]).is_eq());
        assert!(compare_distances(&[distance(-f64::NAN)], &[distance(f64::NAN)]).is_eq());
    }
}
