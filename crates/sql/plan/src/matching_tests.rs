use super::*;
use crate::partition::key_of_integers;

fn v(n: i32) -> Datum {
    Datum::Int4(n)
}

fn bounds(strategy: Strategy, list: &[Bound<Datum>]) -> Bounds {
    Bounds::of(&PartitionMap::for_tests(vec![key_of_integers()], strategy, list.to_vec()))
}

fn list(values: &[i32]) -> Bound<Datum> {
    Bound::List(values.iter().map(|n| v(*n)).collect())
}

fn range(from: i32, to: i32) -> Bound<Datum> {
    Bound::Range(vec![Limit::Value(v(from))], vec![Limit::Value(v(to))])
}

/// Pairs that match, all partitions being read; none if the tables do not match.
fn pairs(kind: JoinKind, a: &Bounds, b: &Bounds) -> Option<Vec<Option<(usize, usize)>>> {
    let (left, right) = (vec![true; a.count], vec![true; b.count]);
    matched(kind, Side { bounds: a, read: &left }, Side { bounds: b, read: &right }).map(|m| m.pairs)
}

#[test]
fn the_same_bounds_match_one_to_one() {
    let a = bounds(Strategy::Range, &[range(0, 10), range(10, 20), Bound::Default]);
    let all = Some(vec![Some((0, 0)), Some((1, 1)), Some((2, 2))]);
    assert_eq!(pairs(JoinKind::Full, &a, &a.clone()), all);
    let hash = bounds(Strategy::Hash, &[Bound::Hash(2, 0), Bound::Hash(2, 1)]);
    assert_eq!(pairs(JoinKind::Inner, &hash, &hash.clone()), Some(vec![Some((0, 0)), Some((1, 1))]));
    let other = bounds(Strategy::Hash, &[Bound::Hash(2, 0), Bound::Hash(4, 1), Bound::Hash(4, 3)]);
    assert_eq!(pairs(JoinKind::Inner, &hash, &other), None);
}

#[test]
fn an_outer_join_needs_the_partition_that_was_left_out() {
    let a = bounds(Strategy::Range, &[range(0, 10), range(10, 20)]);
    let (all, first) = ([true, true], [true, false]);
    let of = |kind, left, right| {
        let side = |read| Side { bounds: &a, read };
        matched(kind, side(left), side(right)).map(|m| m.pairs)
    };
    assert_eq!(of(JoinKind::Inner, &all, &first), Some(vec![Some((0, 0)), None]));
    assert_eq!(of(JoinKind::Left, &first, &all), Some(vec![Some((0, 0)), None]));
    assert_eq!(of(JoinKind::Left, &all, &first), None);
    assert_eq!(of(JoinKind::Full, &first, &all), None);
}

#[test]
fn ranges_merge_that_overlap_one_other() {
    let a = bounds(Strategy::Range, &[range(0, 10), range(10, 20), range(30, 40)]);
    let b = bounds(Strategy::Range, &[range(2, 8), range(10, 25), range(50, 60)]);
    assert_eq!(pairs(JoinKind::Inner, &a, &b), Some(vec![Some((0, 0)), Some((1, 1))]));
    // Nothing stands for the partition that rows 30 to 40 would find their matches in.
    assert_eq!(pairs(JoinKind::Left, &a, &b), None);
    let wide = bounds(Strategy::Range, &[range(0, 15), range(15, 40)]);
    assert_eq!(pairs(JoinKind::Inner, &a, &wide), None);
}

#[test]
fn a_default_partition_takes_what_the_other_side_lists() {
    let a = bounds(Strategy::List, &[list(&[1, 2]), list(&[3]), list(&[7])]);
    let b = bounds(Strategy::List, &[list(&[1, 2]), list(&[3]), Bound::Default]);
    assert_eq!(pairs(JoinKind::Left, &a, &b), Some(vec![Some((0, 0)), Some((1, 1)), Some((2, 2))]));
    // Two partitions would match the DEFAULT one.
    let c = bounds(Strategy::List, &[list(&[1, 2]), list(&[3]), list(&[7]), list(&[8])]);
    assert_eq!(pairs(JoinKind::Inner, &c, &b), None);
}

#[test]
fn nulls_are_kept_together_by_outer_joins() {
    let with = |values: &[i32], null: bool| {
        let mut all: Vec<Datum> = values.iter().map(|n| v(*n)).collect();
        all.extend(null.then_some(Datum::Null));
        Bound::List(all)
    };
    let a = bounds(Strategy::List, &[with(&[1, 2], false), with(&[], true)]);
    let b = bounds(Strategy::List, &[with(&[1], false), with(&[5], true)]);
    assert_eq!(pairs(JoinKind::Inner, &a, &b), Some(vec![Some((0, 0))]));
    assert_eq!(pairs(JoinKind::Left, &a, &b), Some(vec![Some((0, 0)), Some((1, 1))]));
}

#[test]
fn what_has_been_merged_matches_again() {
    let a = bounds(Strategy::List, &[list(&[1, 2]), list(&[3, 4])]);
    let b = bounds(Strategy::List, &[list(&[1]), list(&[4, 9])]);
    let read = [true, true];
    let both = matched(JoinKind::Inner, Side { bounds: &a, read: &read }, Side { bounds: &b, read: &read });
    let both = both.unwrap().bounds;
    let c = bounds(Strategy::List, &[list(&[1, 3]), list(&[4])]);
    assert_eq!(pairs(JoinKind::Inner, &both, &c), Some(vec![Some((0, 0)), Some((1, 1))]));
}
