//! One session: the tree against a sorted list.

use std::cell::RefCell;
use std::collections::HashMap;

use base::{SqlError, Tid, Xid};
use index::{
    Direction, IndexDesc, IndexError, InsertOutcome, Liveness, ScanKey, ScanKeys, ScanOp, TupleState,
    UniqueCheck, VacuumStats, VerifyOptions, strategy,
};
use proptest::prelude::*;
use store::{AllLive, Random};
use tuple::Datum;

use super::world::{Entry, Shape, World, manner, same};
use crate::build::build;
use crate::insert::insert;
use crate::vacuum::cleanup;
use crate::verify::verify;
use crate::{BtreeRel, Scan};

#[derive(Clone, Debug)]
enum Op {
    Insert(i32),
    /// Many of one key.
    Pile(i32, u16),
    Ascending(i32, u16),
    Vacuum {
        modulus: u32,
        keep: u32,
    },
    VacuumKeys(i32, i32),
    Range(i32, i32, Direction),
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        20 => (0..400i32).prop_map(Op::Insert),
        2 => ((0..400i32), (1..900u16)).prop_map(|(n, count)| Op::Pile(n, count)),
        3 => ((0..400i32), (1..300u16)).prop_map(|(n, count)| Op::Ascending(n, count)),
        2 => ((1..5u32), (0..5u32)).prop_map(|(modulus, keep)| Op::Vacuum { modulus, keep }),
        3 => ((0..400i32), (0..400i32)).prop_map(|(a, b)| Op::VacuumKeys(a, b)),
        6 => ((0..400i32), (0..400i32), any::<bool>()).prop_map(|(a, b, back)| {
            Op::Range(a, b, if back { Direction::Backward } else { Direction::Forward })
        }),
    ]
}

/// Conditions in the type's order, evaluated the slow way.
pub fn satisfies(key: &ScanKey, desc: &IndexDesc, row: &[Datum]) -> bool {
    let value = &row[key.column];
    let compare = |bound: &Datum| {
        if value.is_null() || bound.is_null() {
            None
        } else {
            Some(index::compare_values(desc.keys[key.column].compare, value, bound))
        }
    };
    match &key.op {
        ScanOp::Strategy(strategy::LESS, b) => compare(b).is_some_and(|o| o.is_lt()),
        ScanOp::Strategy(strategy::LESS_EQUAL, b) => compare(b).is_some_and(|o| o.is_le()),
        ScanOp::Strategy(strategy::EQUAL, b) => compare(b).is_some_and(|o| o.is_eq()),
        ScanOp::Strategy(strategy::GREATER_EQUAL, b) => compare(b).is_some_and(|o| o.is_ge()),
        ScanOp::Strategy(strategy::GREATER, b) => compare(b).is_some_and(|o| o.is_gt()),
        ScanOp::Strategy(..) | ScanOp::Operator { .. } => false,
        ScanOp::Any(list) => list.iter().any(|b| compare(b).is_some_and(|o| o.is_eq())),
        ScanOp::IsNull => value.is_null(),
        ScanOp::IsNotNull => !value.is_null(),
    }
}

fn expect_scan(world: &World, keys: Vec<ScanKey>, direction: Direction) {
    let desc = &world.rel.desc;
    let mut expected: Vec<Entry> = world
        .model
        .iter()
        .filter(|(row, _)| keys.iter().all(|key| satisfies(key, desc, row)))
        .cloned()
        .collect();
    if direction == Direction::Backward {
        expected.reverse();
    }
    same(&world.collect(keys, direction), &expected);
}

/// Scans with one and two conditions on every column between two keys.
fn expect_scans(world: &World, a: i32, b: i32, direction: Direction) {
    let (low, high) = (world.shape.row(a.min(b)), world.shape.row(a.max(b)));
    for column in 0..world.rel.nkeys() {
        let key = |op| ScanKey { column, op };
        let (l, h) = (low[column].clone(), high[column].clone());
        expect_scan(
            world,
            vec![
                key(ScanOp::Strategy(strategy::GREATER_EQUAL, l.clone())),
                key(ScanOp::Strategy(strategy::LESS, h.clone())),
            ],
            direction,
        );
        expect_scan(world, vec![key(ScanOp::Strategy(strategy::GREATER, l.clone()))], direction);
        expect_scan(world, vec![key(ScanOp::Strategy(strategy::LESS_EQUAL, h))], direction);
        expect_scan(world, vec![key(ScanOp::IsNull)], direction);
        expect_scan(
            world,
            vec![key(ScanOp::IsNotNull), key(ScanOp::Strategy(strategy::LESS, l.clone()))],
            direction,
        );
        let mut point = vec![key(ScanOp::Strategy(strategy::EQUAL, l))];
        expect_scan(world, point.clone(), direction);
        if column > 0 {
            point.push(ScanKey { column: 0, op: ScanOp::Strategy(strategy::EQUAL, low[0].clone()) });
            expect_scan(world, point, direction);
        }
    }
}

fn run(world: &mut World, op: &Op) {
    match *op {
        Op::Insert(n) => world.insert(n),
        Op::Pile(n, count) => (0..count).for_each(|_| world.insert(n)),
        Op::Ascending(n, count) => (0..i32::from(count)).for_each(|i| world.insert(n + i)),
        Op::Vacuum { modulus, keep } => {
            world.vacuum(|tid| (tid.block.0 * 100 + u32::from(tid.offset)) % modulus != keep);
        }
        Op::VacuumKeys(a, b) => {
            let (low, high) = (world.shape.row(a.min(b)), world.shape.row(a.max(b)));
            let rel = world.rel.clone();
            let inside = |row: &[Datum]| {
                rel.desc.compare_keys(row, &low).is_ge() && rel.desc.compare_keys(row, &high).is_le()
            };
            let dead: std::collections::HashSet<Tid> =
                world.model.iter().filter(|(row, _)| inside(row)).map(|(_, tid)| *tid).collect();
            world.vacuum(|tid| dead.contains(&tid));
        }
        Op::Range(a, b, direction) => expect_scans(world, a, b, direction),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn tree_agrees_with_a_sorted_list(shape in 0..4usize, ops in prop::collection::vec(op(), 1..60)) {
        let mut world = World::new(Shape::ALL[shape], 4096);
        for op in &ops {
            run(&mut world, op);
        }
        world.check();
    }
}

#[test]
fn every_insertion_order_gives_a_sound_tree() {
    for shape in Shape::ALL {
        let count = if shape == Shape::Long { 1500 } else { 6000 };
        for order in 0..3 {
            let mut world = World::new(shape, 8192);
            let mut random = Random(17);
            for i in 0..count {
                let n = match order {
                    0 => i,
                    1 => count - i,
                    _ => random.below(count as u64) as i32,
                };
                world.insert(n);
            }
            let report = world.check();
            assert!(report.levels >= if shape == Shape::Long { 4 } else { 2 }, "{shape:?} {report:?}");
            expect_scans(&world, count / 3, count / 2, Direction::Forward);
            expect_scans(&world, count / 3, count / 2, Direction::Backward);
        }
    }
}

#[test]
fn ascending_keys_fill_pages_to_the_fillfactor() {
    let mut world = World::new(Shape::Int, 4096);
    for n in 0..50_000 {
        world.next_tid += 1;
        let tid = Tid::new(base::BlockNo(world.next_tid / 100), (world.next_tid % 100 + 1) as u16);
        insert(&world.access(), &world.rel, &[Datum::Int4(n)], tid, UniqueCheck::No, &AllLive).unwrap();
    }
    // 20 bytes an entry, nine tenths of 8136 bytes a page: about 366.
    let report = world.verify();
    assert!((134..=140).contains(&report.leaves), "{report:?}");
}

#[test]
fn duplicates_share_keys() {
    let mut world = World::new(Shape::Int, 4096);
    for i in 0..12_000 {
        world.insert(i % 3);
    }
    let report = world.check();
    // 6 bytes a TID and some slack, instead of 20.
    assert!(report.leaves < 24, "{report:?}");
    // TIDs out of order go into the middle of posting lists.
    let mut world = World::new(Shape::Int, 4096);
    let mut random = Random(3);
    let mut tids: Vec<u32> = (1..8000).collect();
    for i in (1..tids.len()).rev() {
        tids.swap(i, random.below(i as u64 + 1) as usize);
    }
    for n in tids {
        world.insert_at(5, Tid::new(base::BlockNo(n / 100), (n % 100 + 1) as u16));
    }
    world.check();
}

#[test]
fn an_emptied_tree_shrinks_and_its_pages_are_used_again() {
    for shape in [Shape::Int, Shape::Long] {
        let mut world = World::new(shape, 8192);
        let count = if shape == Shape::Long { 1000 } else { 8000 };
        (0..count).for_each(|n| world.insert(n));
        let full = world.check();
        let mut stats = world.vacuum(|_| true);
        assert_eq!(stats.tuples, 0);
        // The last child of a parent stays until it is the only one: a later pass deletes it.
        for _ in 0..full.levels {
            if world.check().leaves > 1 {
                let more = world.vacuum(|_| true);
                stats = VacuumStats {
                    pages_newly_deleted: stats.pages_newly_deleted + more.pages_newly_deleted,
                    ..more
                };
            }
        }
        let report = world.check();
        assert_eq!((report.leaves, report.half_dead), (1, 0), "{report:?}");
        assert!(stats.pages_newly_deleted >= full.leaves - 1);
        let pages = stats.pages;
        // With no snapshot about, the next pass frees what the first could not.
        let stats = world.vacuum(|_| false);
        assert_eq!(stats.pages_free, stats.pages_deleted);
        assert_eq!(world.check().free, stats.pages_free);
        (0..count).for_each(|n| world.insert(n));
        world.check();
        let after = world.store.pool.nblocks(store::FILE, base::Fork::Main).unwrap();
        assert!(after <= pages + 2, "{after} pages instead of {pages}");
    }
}

#[test]
fn deleted_pages_wait_for_snapshots() {
    let mut world = World::new(Shape::Int, 4096);
    (0..5000).for_each(|n| world.insert(n));
    let snapshots = std::mem::take(&mut world.snapshots);
    let old = snapshots.take();
    let access = index::Access { horizon: &snapshots, ..world.access() };
    let mut stats = VacuumStats::default();
    crate::vacuum::bulk_delete(&access, &world.rel, |_| true, &mut manner(), &mut stats).unwrap();
    let stats = cleanup(&access, &world.rel, &mut manner(), Some(stats)).unwrap();
    assert!(stats.pages_deleted > 10 && stats.pages_free == 0, "{stats:?}");
    // Without work for VACUUM itself, enough waiting pages make it look again.
    let stats = cleanup(&access, &world.rel, &mut manner(), None).unwrap();
    assert!(!stats.estimated && stats.pages_free == 0, "{stats:?}");
    drop(old);
    let stats = cleanup(&access, &world.rel, &mut manner(), None).unwrap();
    assert_eq!(stats.pages_free, stats.pages_deleted);
    assert!(cleanup(&access, &world.rel, &mut manner(), None).unwrap().estimated);
}

#[test]
fn build_equals_insertion() {
    for shape in Shape::ALL {
        for count in [0, 1, 2, 500, if shape == Shape::Long { 3000 } else { 20_000 }] {
            let mut world = World::with_store(shape, store::Store::new(8192));
            let mut random = Random(9);
            let mut rows: Vec<Entry> = Vec::new();
            for _ in 0..count {
                let tid = world.new_tid();
                rows.push((shape.row(random.below(1 + count as u64 / 2) as i32), tid));
            }
            let rel = world.rel.clone();
            rows.sort_by(|a, b| rel.desc.compare_entries((&a.0, a.1), (&b.0, b.1)));
            world.model = rows.clone();
            let mut rows = rows.into_iter();
            let built = build(&world.access(), &rel, &mut |values| {
                Ok(rows.next().map(|(row, tid)| {
                    *values = row;
                    tid
                }))
            });
            assert_eq!(built.unwrap(), count as u64);
            world.check();
            (0..300).for_each(|n| world.insert(n * 5));
            world.check();
        }
    }
}

#[test]
fn scans_turn_round_and_go_back_to_marks() {
    let mut world = World::new(Shape::Int, 4096);
    (0..2000).for_each(|n| world.insert(n));
    let access = world.access();
    let keys = vec![
        ScanKey { column: 0, op: ScanOp::Strategy(strategy::GREATER_EQUAL, Datum::Int4(100)) },
        ScanKey { column: 0, op: ScanOp::Strategy(strategy::LESS, Datum::Int4(1900)) },
    ];
    let expected: Vec<Tid> =
        world.collect(keys.clone(), Direction::Forward).into_iter().map(|(_, tid)| tid).collect();
    let mut scan =
        Scan::new(world.rel.clone(), ScanKeys { keys, direction: Direction::Forward }, false, false);
    let mut random = Random(5);
    // Position as a cursor has it: 0 before the first, one more than their number behind the last.
    let (mut at, mut marked, mut started) = (0usize, None, false);
    for _ in 0..30_000 {
        match random.below(1000) {
            0 => {
                scan.mark();
                marked = Some((at, started));
            }
            1 => {
                if let Some((place, was_started)) = marked {
                    scan.restore(&access);
                    (at, started) = (place, was_started);
                }
            }
            // Long runs one way, so that leaves are left.
            choice => {
                let forward = (choice / 333) % 3 != 2 || at == 0 && !started;
                let direction = if forward { Direction::Forward } else { Direction::Backward };
                for _ in 0..random.below(200) {
                    at = if forward { (at + 1).min(expected.len() + 1) } else { at.saturating_sub(1) };
                    started = true;
                    let want = at.checked_sub(1).and_then(|i| expected.get(i)).copied();
                    assert_eq!(scan.step(&access, direction).unwrap(), want, "at {at}");
                }
            }
        }
    }
}

#[test]
fn a_kept_scan_runs_one_point_query_after_the_other() {
    let mut world = World::new(Shape::Broad, 4096);
    (0..700).for_each(|n| world.insert(n));
    let access = world.access();
    for direction in [Direction::Forward, Direction::Backward] {
        let keys = ScanKeys { keys: Vec::new(), direction };
        let mut scan = Scan::new(world.rel.clone(), keys, false, false);
        let mut told = 0;
        for n in (-1..141).rev().chain(-1..141) {
            let found = scan.rescan_equal(&access, 1, |_| Ok::<_, ()>(Datum::Int4(n)));
            assert_eq!(found, Ok(true));
            let mut expected = world.model.iter().filter(|(row, _)| row[0] == Datum::Int4(n));
            for rank in 1.. {
                let want = match direction {
                    Direction::Forward => expected.next(),
                    Direction::Backward => expected.next_back(),
                };
                let tid = scan.next(&access).unwrap();
                assert_eq!(tid, want.map(|(_, tid)| *tid), "{n}");
                if tid.is_none() {
                    break;
                }
                assert!(rank == 5 || scan.has_more(), "{n}");
                told += usize::from(!scan.has_more());
            }
            // Some runs end with NULL, after which nothing is found.
            if n % 3 == 0 {
                assert_eq!(scan.rescan_equal(&access, 1, |_| Ok::<_, ()>(Datum::Null)), Ok(false));
                assert_eq!(scan.next(&access).unwrap(), None);
            }
        }
        // Mostly the leaf tells, without another look, that the entry was the last.
        assert!(told > 100, "{direction:?} {told}");
    }
}

/// Up to `count` values of a column, in the type's order, each once; some have no entry.
fn some_values(random: &mut Random, shape: Shape, (column, count, most): (usize, usize, i32)) -> Vec<Datum> {
    let key = &shape.desc(false).keys[column];
    let any = |_| shape.row(random.below(most as u64 + 300) as i32 - 150).swap_remove(column);
    let mut list: Vec<Datum> = (0..count).map(any).filter(|value| !value.is_null()).collect();
    let order = |a: &Datum, b: &Datum| index::compare_values(key.compare, a, b);
    list.sort_by(order);
    list.dedup_by(|a, b| order(a, b).is_eq());
    list
}

/// Some condition on a column, or none.
fn some_condition(random: &mut Random, shape: Shape, (column, most): (usize, i32)) -> Option<ScanKey> {
    let value = shape.row(random.below(most as u64) as i32).swap_remove(column);
    let count = [1, 3, 40, 2000][random.below(4) as usize];
    let op = match random.below(7) {
        0 => return None,
        1 | 2 => ScanOp::Any(some_values(random, shape, (column, count, most))),
        3 if value.is_null() => ScanOp::IsNull,
        3 => ScanOp::Strategy(strategy::EQUAL, value),
        4 => ScanOp::IsNotNull,
        _ if value.is_null() => ScanOp::IsNull,
        5 => ScanOp::Strategy(strategy::GREATER_EQUAL, value),
        _ => ScanOp::Strategy(strategy::LESS, value),
    };
    Some(ScanKey { column, op })
}

#[test]
fn scans_from_group_to_group_find_what_the_conditions_say() {
    let mut random = Random(7);
    let (mut skips, mut lists) = (0, 0);
    for (shape, most) in [(Shape::Int, 3000), (Shape::Mixed, 1500), (Shape::Broad, 900)] {
        let mut world = World::new(shape, 4096);
        (0..most).filter(|n| n % 7 != 3).for_each(|n| world.insert(n));
        let all = world.collect(vec![], Direction::Forward);
        let desc = shape.desc(false);
        let columns = desc.keys.len();
        let access = world.access();
        let mut scan = Scan::new(world.rel.clone(), ScanKeys::default(), true, false);
        for round in 0..300 {
            let keys: Vec<ScanKey> = (0..columns)
                .flat_map(|column| [some_condition(&mut random, shape, (column, most)), None])
                .flatten()
                .collect();
            let direction = if round % 2 == 0 { Direction::Forward } else { Direction::Backward };
            let mut expected: Vec<_> = all
                .iter()
                .filter(|(row, _)| keys.iter().all(|key| satisfies(key, &desc, row)))
                .cloned()
                .collect();
            if direction == Direction::Backward {
                expected.reverse();
            }
            scan.rescan(&access, ScanKeys { keys: keys.clone(), direction });
            let mut found = Vec::new();
            while let Some(tid) = scan.next(&access).unwrap() {
                let mut row = Vec::new();
                scan.values(&mut row).unwrap();
                found.push((row, tid));
            }
            assert!(!scan.has_more());
            same(&found, &expected);
            let searches = scan.take_searches();
            assert!(searches <= u64::from(world.verify().leaves) * 2, "{searches} searches");
            lists += usize::from(matches!(keys.first(), Some(ScanKey { op: ScanOp::Any(_), .. })));
            skips += usize::from(keys.first().is_some_and(|key| key.column > 0));
        }
        scan.finish(&access);
        assert_eq!(world.store.pool.pins(), 0);
    }
    assert!(skips > 20 && lists > 100, "{skips} {lists}");
}

#[test]
fn lists_that_name_many_integers_of_a_leaf_find_them_all() {
    let mut random = Random(11);
    for shape in [Shape::Int, Shape::Down] {
        let mut world = World::new(shape, 4096);
        // Some are there several times, and every 97th is NULL.
        (0..2500).for_each(|n| world.insert(n));
        (300..400).for_each(|n| (0..n % 5).for_each(|_| world.insert(n)));
        let all = world.collect(vec![], Direction::Forward);
        for round in 0..60 {
            // Parts of the list are dense, others sparse, and some of its values are nowhere.
            let bits: Vec<u64> = (0..30).map(|_| [1, 2, 3, 40, 400][random.below(5) as usize]).collect();
            let list: Vec<i32> =
                (-40..2600).filter(|n| random.below(bits[(n + 40) as usize / 100]) == 0).collect();
            let direction = if round % 3 == 2 { Direction::Backward } else { Direction::Forward };
            let wanted = |row: &[Datum]| matches!(row, [Datum::Int4(n)] if list.binary_search(n).is_ok());
            let mut expected: Vec<_> = all.iter().filter(|(row, _)| wanted(row)).cloned().collect();
            if direction == Direction::Backward {
                expected.reverse();
            }
            let op = ScanOp::Any(list.iter().map(|n| Datum::Int4(*n)).collect());
            same(&world.collect(vec![ScanKey { column: 0, op }], direction), &expected);
        }
    }
}

/// Searches of a scan for these conditions.
fn searches(world: &World, keys: Vec<ScanKey>, direction: Direction) -> u64 {
    let access = world.access();
    let mut scan = Scan::new(world.rel.clone(), ScanKeys { keys, direction }, false, false);
    while scan.next(&access).unwrap().is_some() {}
    scan.finish(&access);
    scan.take_searches()
}

#[test]
fn only_groups_apart_cost_a_search_each() {
    let mut world = World::new(Shape::Int, 4096);
    (0..3000).for_each(|n| world.insert(n));
    let leaves = u64::from(world.verify().leaves);
    assert!(leaves > 5, "{leaves}");
    for direction in [Direction::Forward, Direction::Backward] {
        let any = |list: &[i32]| {
            let list = list.iter().map(|n| Datum::Int4(*n)).collect();
            searches(&world, vec![ScanKey { column: 0, op: ScanOp::Any(list) }], direction)
        };
        assert_eq!(any(&[5, 6, 8]), 1, "side by side");
        assert_eq!(any(&[5, 6, 2900, 2901]), 2, "far apart");
        assert_eq!(any(&[]), 0);
        assert!(any(&(0..3000).collect::<Vec<_>>()) <= leaves);
    }
}

#[test]
fn killed_entries_are_passed_by_and_removed_before_a_split() {
    let mut world = World::new(Shape::Int, 4096);
    (0..360).for_each(|n| world.insert(n * 2));
    let leaves = world.verify().leaves;
    let access = world.access();
    let mut scan = Scan::new(world.rel.clone(), ScanKeys::default(), false, false);
    let mut n = 0;
    while scan.next(&access).unwrap().is_some() {
        if n % 2 == 0 {
            scan.kill_current();
        }
        n += 1;
    }
    scan.finish(&access);
    assert_eq!(world.collect(vec![], Direction::Forward).len(), 180);
    world.model = world.collect(vec![], Direction::Forward);
    (0..150).for_each(|n| world.insert(n * 4 + 1));
    assert_eq!(world.check().leaves, leaves);
}

#[test]
fn leaves_on_which_all_is_dead_go_with_the_scan_that_leaves_them() {
    let mut world = World::new(Shape::Int, 4096);
    (0..3000).for_each(|n| world.insert(n));
    let before = world.verify();
    world.kill_first(1000);
    let after = world.check();
    assert!(after.leaves + 2 <= before.leaves, "{after:?} after {before:?}");
    assert_eq!(after.deleted - before.deleted, before.leaves - after.leaves);
    // Their keys belong to the leaf behind them now.
    (0..500).for_each(|n| world.insert(n));
    world.check();
    // And VACUUM makes them free.
    world.vacuum(|_| false);
    assert!(world.vacuum(|_| false).pages_free > 0);
    world.check();
}

#[test]
fn leaves_that_somebody_has_pinned_stay() {
    let mut world = World::new(Shape::Int, 4096);
    (0..3000).for_each(|n| world.insert(n));
    let mut believer = Scan::new(world.rel.clone(), ScanKeys::default(), true, true);
    believer.next(&world.access()).unwrap();
    world.kill_first(500);
    let pinned = world.verify();
    believer.finish(&world.access());
    // Whoever comes by next finds it.
    assert_eq!(world.collect(vec![], Direction::Forward).len(), world.model.len());
    assert_eq!(world.check().leaves, pinned.leaves - 1);
}

#[test]
fn kills_are_lost_when_the_page_has_changed() {
    let mut world = World::new(Shape::Int, 4096);
    (0..10).for_each(|n| world.insert(n * 2));
    let mut scan = Scan::new(world.rel.clone(), ScanKeys::default(), false, false);
    while scan.next(&world.access()).unwrap().is_some() {
        scan.kill_current();
    }
    world.insert(1);
    scan.finish(&world.access());
    world.check();
}

/// Rows by TID.
#[derive(Default)]
struct Rows {
    states: RefCell<HashMap<Tid, TupleState>>,
    asked: RefCell<Vec<Tid>>,
}

impl Liveness for Rows {
    fn check(&self, tid: Tid) -> Result<TupleState, SqlError> {
        self.asked.borrow_mut().push(tid);
        Ok(self.states.borrow().get(&tid).copied().unwrap_or(TupleState::Live { tid }))
    }
}

#[test]
fn unique_checks() {
    let world = World::with_store(Shape::Int, store::Store::new(1024));
    let rel = BtreeRel::new(Shape::Int.desc(true));
    let access = world.access();
    crate::build::create_empty(&access, &rel).unwrap();
    let rows = Rows::default();
    let tid = |n: u32| Tid::new(base::BlockNo(n), 1);
    let put = |n: i32, at: u32, unique: UniqueCheck<'_>| {
        insert(&access, &rel, &[Datum::Int4(n)], tid(at), unique, &AllLive).unwrap()
    };
    let set = |at: u32, state| rows.states.borrow_mut().insert(tid(at), state);

    assert_eq!(put(1, 1, UniqueCheck::Yes(&rows)), InsertOutcome::Inserted);
    assert_eq!(put(1, 2, UniqueCheck::Yes(&rows)), InsertOutcome::Conflict { tid: tid(1) });
    set(1, TupleState::InProgress(Xid(77)));
    assert_eq!(put(1, 2, UniqueCheck::Yes(&rows)), InsertOutcome::WaitFor { xid: Xid(77), tid: tid(1) });
    set(1, TupleState::Deleted);
    assert_eq!(put(1, 2, UniqueCheck::Yes(&rows)), InsertOutcome::Inserted);
    // A row dead to everybody is marked and not asked about again.
    set(1, TupleState::Dead);
    set(2, TupleState::Dead);
    assert_eq!(put(1, 3, UniqueCheck::Yes(&rows)), InsertOutcome::Inserted);
    rows.asked.borrow_mut().clear();
    assert_eq!(put(1, 4, UniqueCheck::Partial(&rows)), InsertOutcome::InsertedMaybeConflict);
    assert_eq!(*rows.asked.borrow(), [tid(3)]);
    // The row itself is no conflict; the other one is, until it is gone.
    assert_eq!(put(1, 4, UniqueCheck::Existing(&rows)), InsertOutcome::Conflict { tid: tid(3) });
    set(3, TupleState::Deleted);
    assert_eq!(put(1, 4, UniqueCheck::Existing(&rows)), InsertOutcome::Inserted);

    // NULLs are all different.
    for at in 10..12 {
        let outcome =
            insert(&access, &rel, &[Datum::Null], tid(at), UniqueCheck::Yes(&rows), &AllLive).unwrap();
        assert_eq!(outcome, InsertOutcome::Inserted);
    }
    let strict = BtreeRel::new(IndexDesc { nulls_not_distinct: true, ..rel.desc.clone() });
    let outcome =
        insert(&access, &strict, &[Datum::Null], tid(13), UniqueCheck::Yes(&rows), &AllLive).unwrap();
    assert_eq!(outcome, InsertOutcome::Conflict { tid: tid(10) });
}

#[test]
fn unique_checks_see_duplicates_on_several_pages() {
    let world = World::with_store(Shape::Included, store::Store::new(1024));
    let rel = BtreeRel::new(Shape::Included.desc(true));
    let access = world.access();
    crate::build::create_empty(&access, &rel).unwrap();
    let rows = Rows::default();
    let row = |n: i32| [Datum::Int4(n), Datum::text("a payload of some length, to fill pages")];
    for n in 0..700u32 {
        let tid = Tid::new(base::BlockNo(n), 1);
        rows.states.borrow_mut().insert(tid, TupleState::Deleted);
        let outcome = insert(&access, &rel, &row(5), tid, UniqueCheck::Yes(&rows), &AllLive).unwrap();
        assert_eq!(outcome, InsertOutcome::Inserted);
        insert(&access, &rel, &row(n as i32 * 2), Tid::new(base::BlockNo(n), 2), UniqueCheck::No, &AllLive)
            .unwrap();
    }
    let live = Tid::new(base::BlockNo(690), 1);
    rows.states.borrow_mut().insert(live, TupleState::Live { tid: live });
    let outcome =
        insert(&access, &rel, &row(5), Tid::new(base::BlockNo(0), 9), UniqueCheck::Yes(&rows), &AllLive)
            .unwrap();
    assert_eq!(outcome, InsertOutcome::Conflict { tid: live });
    verify(&access, &rel, VerifyOptions::ALL, None).unwrap();
}

#[test]
fn an_entry_too_large_is_refused() {
    let world = World::new(Shape::Long, 256);
    let row = [Datum::text(&"x".repeat(2701))];
    let tid = Tid::new(base::BlockNo(3), 4);
    let error = insert(&world.access(), &world.rel, &row, tid, UniqueCheck::No, &AllLive).unwrap_err();
    let IndexError::TooLarge { size, max, tid: at, .. } = &error else { panic!("{error}") };
    assert_eq!((*size, *max, *at), (2720, 2704, tid));
    let error = error.into_sql("t_a_idx", "t");
    assert_eq!(
        error.message(),
        "index row size 2720 exceeds btree version 4 maximum 2704 for index \"t_a_idx\""
    );
    assert_eq!(error.code().as_str(), "54000");
    assert_eq!(error.report().detail.as_deref(), Some("Index row references tuple (3,4) in relation \"t\"."));
}

#[test]
fn entering_a_row_twice_is_corruption() {
    let mut world = World::new(Shape::Int, 256);
    let tid = world.new_tid();
    world.insert_at(1, tid);
    let error =
        insert(&world.access(), &world.rel, &[Datum::Int4(1)], tid, UniqueCheck::No, &AllLive).unwrap_err();
    assert!(matches!(error, IndexError::Corrupt { .. }), "{error}");
}

#[test]
fn an_empty_tree_has_nothing() {
    let world = World::new(Shape::Int, 256);
    assert!(world.collect(vec![], Direction::Forward).is_empty());
    assert!(
        world
            .collect(
                vec![ScanKey { column: 0, op: ScanOp::Strategy(strategy::EQUAL, Datum::Int4(1)) }],
                Direction::Backward
            )
            .is_empty()
    );
    assert_eq!(world.check().levels, 0);
}
