//! # What
//! From a sample of a column to its statistics: nulls, width, number of distinct values, most common values, histogram,
//! correlation. Pure.
//!
//! # PostgreSQL counterpart and differences
//! `compute_scalar_stats` and `analyze_mcv_list` of `commands/analyze.c`; the estimate of distinct values is that of Haas and
//! Stokes (1998). A type without order gets nulls and width only.

use catalog::ColumnStatistics;
use tuple::Datum;

/// Longer values are counted, but neither compared nor stored.
const TOO_WIDE: usize = 1024;

/// How two values of the column compare.
pub(crate) type Compare = types::Order;

/// What is known of the table behind the sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Population {
    /// Rows in the table, by estimate.
    pub(crate) rows: f64,
    /// Entries wanted in lists (`default_statistics_target`).
    pub(crate) target: usize,
}

/// Bytes of a value as PostgreSQL counts widths: those on disk.
pub(super) fn width(value: &Datum) -> usize {
    match value {
        Datum::Null => 0,
        Datum::Bool(_) | Datum::Char(_) => 1,
        Datum::Int2(_) => 2,
        Datum::Int4(_) | Datum::Oid(_) | Datum::Float4(_) => 4,
        Datum::Int8(_) | Datum::Float8(_) => 8,
        Datum::Bytes(bytes) => bytes.len() + if bytes.len() < 127 { 1 } else { 4 },
        Datum::Toasted(bytes) => bytes.len(),
    }
}

/// A number as `pg_statistic` can have it.
pub(crate) fn single(number: f64) -> f64 {
    f64::from(number as f32)
}

/// Statistics of a column from its values in the sampled rows, in physical order.
pub(crate) fn column(values: &[Datum], compare: Option<Compare>, population: Population) -> ColumnStatistics {
    let sample = values.len() as f64;
    if values.is_empty() {
        return ColumnStatistics::default();
    }
    let nulls = values.iter().filter(|v| v.is_null()).count();
    let present = values.len() - nulls;
    let total: usize = values.iter().map(width).sum();
    let mut stats = ColumnStatistics {
        null_fraction: single(nulls as f64 / sample),
        width: if present > 0 { (total as f64 / present as f64).floor() } else { 0.0 },
        ..ColumnStatistics::default()
    };
    if present == 0 {
        // All NULL: there are no distinct values that anybody knows of.
        return stats;
    }
    let Some(compare) = compare else { return stats };
    let mut sorted: Vec<(&Datum, usize)> = values
        .iter()
        .filter(|v| !v.is_null() && width(v) <= TOO_WIDE)
        .enumerate()
        .map(|(i, v)| (v, i))
        .collect();
    sorted.sort_by(|a, b| compare.compare(a.0, b.0).then(a.1.cmp(&b.1)));
    let too_wide = present - sorted.len();
    let groups = Groups::of(&sorted, compare, population.target);
    stats.distinct = single(distinct(&groups, too_wide, (sample, nulls as f64), population.rows));
    let keep = common_to_keep(&groups, too_wide, &stats, (sample, population));
    stats.common = groups.tracked[..keep]
        .iter()
        .map(|group| (sorted[group.first].0.clone(), single(group.count as f64 / sample)))
        .collect();
    stats.histogram = histogram(&sorted, &groups, keep, population.target);
    stats.correlation = correlation(&sorted);
    stats
}

/// Equal values in the sorted sample.
#[derive(Clone, Copy)]
struct Group {
    first: usize,
    count: usize,
}

struct Groups {
    /// Number of groups.
    distinct: usize,
    /// Number of those with more than one member.
    multiple: usize,
    /// The largest, largest first.
    tracked: Vec<Group>,
}

impl Groups {
    fn of(sorted: &[(&Datum, usize)], compare: Compare, most: usize) -> Groups {
        let mut groups = Groups { distinct: 0, multiple: 0, tracked: Vec::new() };
        let mut first = 0;
        for i in 1..=sorted.len() {
            if i < sorted.len() && compare.compare(sorted[i].0, sorted[first].0).is_eq() {
                continue;
            }
            groups.distinct += 1;
            if i - first > 1 {
                groups.multiple += 1;
                groups.tracked.push(Group { first, count: i - first });
            }
            first = i;
        }
        // Stable: among equally common values the smaller comes first.
        groups.tracked.sort_by_key(|group| std::cmp::Reverse(group.count));
        groups.tracked.truncate(most);
        groups
    }
}

/// `stadistinct`: a number, or minus a share of the rows.
fn distinct(groups: &Groups, too_wide: usize, (sample, nulls): (f64, f64), rows: f64) -> f64 {
    let null_fraction = nulls / sample;
    if groups.multiple == 0 {
        return -(1.0 - null_fraction);
    }
    let mut distinct = groups.distinct as f64;
    if too_wide > 0 || groups.multiple != groups.distinct {
        let once = (groups.distinct - groups.multiple + too_wide) as f64;
        let d = once + groups.multiple as f64;
        let n = sample - nulls;
        let all = rows * (1.0 - null_fraction);
        let estimate = if all > 0.0 { n * d / ((n - once) + once * n / all) } else { 0.0 };
        distinct = (estimate.max(d).min(all.max(d)) + 0.5).floor();
    }
    if distinct > 0.1 * rows { -(distinct / rows) } else { distinct }
}

/// How many of the tracked groups are worth listing.
fn common_to_keep(
    groups: &Groups,
    too_wide: usize,
    stats: &ColumnStatistics,
    (sample, population): (f64, Population),
) -> usize {
    let tracked = groups.tracked.len();
    if tracked == groups.distinct && too_wide == 0 && stats.distinct > 0.0 && tracked <= population.target {
        return tracked;
    }
    let rows = population.rows;
    if sample >= rows || rows <= 1.0 {
        return tracked;
    }
    let distinct = stats.distinct;
    let distinct = if distinct < 0.0 { -distinct * rows } else { distinct };
    let mut keep = tracked;
    let mut before: f64 =
        groups.tracked.iter().take(keep.saturating_sub(1)).map(|group| group.count as f64).sum();
    while keep > 0 {
        let mut share = (1.0 - before / sample - stats.null_fraction).clamp(0.0, 1.0);
        let others = distinct - (keep - 1) as f64;
        if others > 1.0 {
            share /= others;
        }
        let count = groups.tracked[keep - 1].count as f64;
        let k = rows * count / sample;
        let variance = sample * k * (rows - k) * (rows - sample) / (rows * rows * (rows - 1.0));
        if count > share * sample + 2.0 * variance.max(0.0).sqrt() + 0.5 {
            break;
        }
        keep -= 1;
        if keep > 0 {
            before -= groups.tracked[keep - 1].count as f64;
        }
    }
    keep
}

/// Bounds of buckets with equally many of the values that are not listed as common.
fn histogram(sorted: &[(&Datum, usize)], groups: &Groups, keep: usize, target: usize) -> Vec<Datum> {
    let bounds = (groups.distinct - keep).min(target + 1);
    if bounds < 2 {
        return Vec::new();
    }
    let mut listed: Vec<Group> = groups.tracked[..keep].to_vec();
    listed.sort_by_key(|group| group.first);
    let mut rest: Vec<&Datum> = Vec::with_capacity(sorted.len());
    let mut at = 0;
    for group in listed {
        rest.extend(sorted[at..group.first].iter().map(|entry| entry.0));
        at = group.first + group.count;
    }
    rest.extend(sorted[at..].iter().map(|entry| entry.0));
    (0..bounds).map(|i| rest[i * (rest.len() - 1) / (bounds - 1)].clone()).collect()
}

/// How the order of values follows the order of rows, from -1 to 1.
fn correlation(sorted: &[(&Datum, usize)]) -> Option<f64> {
    if sorted.len() < 2 {
        return None;
    }
    let n = sorted.len() as f64;
    let products: f64 = sorted.iter().enumerate().map(|(i, entry)| i as f64 * entry.1 as f64).sum();
    let sum = (n - 1.0) * n / 2.0;
    let squares = (n - 1.0) * n * (2.0 * n - 1.0) / 6.0;
    Some(single((n * products - sum * sum) / (n * squares - sum * sum)))
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    pub(crate) fn ints(a: &Datum, b: &Datum) -> std::cmp::Ordering {
        match (a, b) {
            (Datum::Int4(a), Datum::Int4(b)) => a.cmp(b),
            _ => std::cmp::Ordering::Equal,
        }
    }

    fn of(values: impl IntoIterator<Item = i32>, rows: f64) -> ColumnStatistics {
        let values: Vec<Datum> = values.into_iter().map(Datum::Int4).collect();
        column(&values, Some(types::Order::Plain(ints)), Population { rows, target: 10 })
    }

    #[test]
    fn a_key_is_as_distinct_as_its_rows() {
        let stats = of(0..1000, 100_000.0);
        assert_eq!(stats.distinct, -1.0);
        assert_eq!(stats.correlation, Some(1.0));
        assert!(stats.common.is_empty());
        assert_eq!(stats.histogram.first(), Some(&Datum::Int4(0)));
        assert_eq!(stats.histogram.last(), Some(&Datum::Int4(999)));
        assert_eq!(stats.histogram.len(), 11);
        assert_eq!(stats.width, 4.0);
    }

    #[test]
    fn few_values_are_all_listed() {
        let stats = of((0..1000).map(|i| i % 4), 100_000.0);
        assert_eq!(stats.distinct, 4.0);
        assert_eq!(stats.common.len(), 4);
        assert!(stats.common.iter().all(|(_, share)| (share - 0.25).abs() < 1e-6));
        assert!(stats.histogram.is_empty());
    }

    #[test]
    fn a_common_value_is_listed_and_left_out_of_the_histogram() {
        let stats = of((0..1000).map(|i| if i % 2 == 0 { 7 } else { i + 1000 }), 100_000.0);
        assert_eq!(stats.common, [(Datum::Int4(7), 0.5)]);
        assert!(!stats.histogram.contains(&Datum::Int4(7)));
        assert_eq!(stats.distinct, 992.0);
    }

    #[test]
    fn nulls_and_descending_rows_are_seen() {
        let mut values: Vec<Datum> = (0..100).rev().map(Datum::Int4).collect();
        values.extend(vec![Datum::Null; 100]);
        let stats = column(&values, Some(types::Order::Plain(ints)), Population { rows: 200.0, target: 10 });
        assert_eq!(stats.null_fraction, 0.5);
        assert_eq!(stats.distinct, -0.5);
        assert_eq!(stats.correlation, Some(-1.0));
    }

    #[test]
    fn no_rows_and_no_order_give_what_there_is() {
        assert_eq!(of([], 0.0), ColumnStatistics::default());
        let stats = column(&[Datum::text("abc")], None, Population { rows: 1.0, target: 10 });
        assert_eq!((stats.width, stats.distinct), (4.0, 0.0));
    }

    proptest! {
        #[test]
        fn lists_are_bounded_and_ordered(values in proptest::collection::vec(0i32..50, 0..300), factor in 1.0f64..50.0) {
            let rows = (values.len() as f64 * factor).max(1.0);
            let stats = of(values.clone(), rows);
            prop_assert!(stats.common.len() <= 10 && stats.histogram.len() <= 11);
            prop_assert!(stats.common.windows(2).all(|w| w[0].1 >= w[1].1));
            prop_assert!(stats.histogram.windows(2).all(|w| ints(&w[0], &w[1]).is_le()));
            prop_assert!(stats.distinct >= -1.0 && stats.distinct <= rows);
            prop_assert!(stats.correlation.is_none_or(|c| (-1.0001..=1.0001).contains(&c)));
        }
    }
}
