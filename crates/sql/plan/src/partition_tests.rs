use super::*;

fn v(n: i32) -> Datum {
    Datum::Int4(n)
}

fn map(strategy: Strategy, keys: usize, bounds: Vec<BoundValues>) -> PartitionMap {
    PartitionMap::for_tests(vec![key_of_integers(); keys], strategy, bounds)
}

fn range(from: &[Limit<Datum>], to: &[Limit<Datum>]) -> BoundValues {
    Bound::Range(from.to_vec(), to.to_vec())
}

fn at(n: i32) -> Limit<Datum> {
    Limit::Value(v(n))
}

fn left(map: &PartitionMap, condition: Condition<Datum>) -> Vec<usize> {
    let set = map.matching(&condition, &mut |d, _| Ok(Some(vec![d.clone()]))).unwrap();
    (0..map.partitions.len()).filter(|i| set.contains(*i)).collect()
}

fn is(column: usize, comparison: Comparison, n: i32) -> Condition<Datum> {
    Condition::Compare(column, comparison, v(n))
}

#[test]
fn ranges_take_and_leave() {
    use Comparison::*;
    let ranges = vec![
        range(&[Limit::Min], &[at(10)]),
        range(&[at(10)], &[at(20)]),
        range(&[at(30)], &[Limit::Max]),
        Bound::Default,
    ];
    let map = map(Strategy::Range, 1, ranges);
    assert_eq!(map.route(&[v(-5)]), Some(0));
    assert_eq!(map.route(&[v(10)]), Some(1));
    assert_eq!(map.route(&[v(20)]), Some(3));
    assert_eq!(map.route(&[v(30)]), Some(2));
    assert_eq!(map.route(&[Datum::Null]), Some(3));
    assert_eq!(left(&map, is(0, Less, 10)), [0]);
    assert_eq!(left(&map, is(0, LessEqual, 10)), [0, 1]);
    assert_eq!(left(&map, is(0, Greater, 15)), [1, 2, 3]);
    assert_eq!(left(&map, is(0, GreaterEqual, 30)), [2]);
    assert_eq!(left(&map, is(0, Equal, 25)), [3]);
    assert_eq!(left(&map, Condition::Null(0)), [3]);
    assert_eq!(left(&map, Condition::Or(vec![is(0, Equal, 1), is(0, Equal, 40)])), [0, 2]);
    assert_eq!(left(&map, Condition::And(vec![is(0, Greater, 12), is(0, Less, 12)])), [] as [usize; 0]);
    assert_eq!(left(&map, Condition::And(vec![is(0, GreaterEqual, 10), is(0, Less, 20)])), [1]);
}

#[test]
fn prefixes_of_a_key_leave_the_default() {
    use Comparison::*;
    let ranges = vec![
        range(&[at(1), Limit::Min], &[at(1), at(10)]),
        range(&[at(1), at(10)], &[at(2), Limit::Min]),
        range(&[at(2), Limit::Min], &[at(2), Limit::Max]),
        Bound::Default,
    ];
    let map = map(Strategy::Range, 2, ranges);
    assert_eq!(map.route(&[v(1), v(9)]), Some(0));
    assert_eq!(map.route(&[v(1), v(10)]), Some(1));
    assert_eq!(map.route(&[v(3), v(0)]), Some(3));
    assert_eq!(left(&map, is(0, Equal, 1)), [0, 1, 3]);
    assert_eq!(left(&map, Condition::And(vec![is(0, Equal, 1), is(1, Less, 5)])), [0]);
    assert_eq!(left(&map, Condition::And(vec![is(0, Equal, 2), is(1, Equal, 5)])), [2]);
    assert_eq!(left(&map, is(0, Greater, 1)), [1, 2, 3]);
}

#[test]
fn lists_take_and_leave() {
    use Comparison::*;
    let lists = vec![Bound::List(vec![v(1), v(2)]), Bound::List(vec![v(3), Datum::Null]), Bound::Default];
    let map = map(Strategy::List, 1, lists);
    assert_eq!(map.route(&[v(2)]), Some(0));
    assert_eq!(map.route(&[Datum::Null]), Some(1));
    assert_eq!(map.route(&[v(9)]), Some(2));
    assert_eq!(left(&map, is(0, Equal, 3)), [1]);
    assert_eq!(left(&map, is(0, NotEqual, 3)), [0, 2]);
    assert_eq!(left(&map, Condition::Null(0)), [1]);
    assert_eq!(left(&map, is(0, Less, 2)), [0, 2]);
    assert_eq!(left(&map, Condition::Never), [] as [usize; 0]);
}
