//! Searching ordered lists from their beginning.

/// Number of leading values that are `before`, cheap when they are few.
#[inline]
pub fn gallop<T>(list: &[T], before: impl Fn(&T) -> bool) -> usize {
    let mut step = 1;
    let mut from = 0;
    while from < list.len() {
        let to = (from + step).min(list.len());
        if !before(&list[to - 1]) {
            return from + list[from..to - 1].partition_point(&before);
        }
        (from, step) = (to, step * 2);
    }
    from
}

#[cfg(test)]
mod tests {
    use super::gallop;

    #[test]
    fn gallops_end_where_halving_does() {
        for len in 0..70u32 {
            let list: Vec<u32> = (0..len).map(|n| n * 3).collect();
            for sought in 0..=3 * len {
                let before = |value: &u32| *value < sought;
                assert_eq!(gallop(&list, before), list.partition_point(before));
            }
        }
    }
}
