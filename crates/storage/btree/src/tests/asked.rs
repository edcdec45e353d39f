//! Orders that code of users tells: it runs with nothing latched, may fail, and may say anything.

use std::cell::{Cell, RefCell};
use std::cmp::Ordering;
use std::rc::Rc;
use std::sync::Arc;

use base::{BlockNo, Fork, SqlError, Tid};
use index::{
    Compare, Direction, IndexDesc, IndexError, KeyColumn, OrderBy, Pages, ScanKey, ScanOp, UniqueCheck,
    strategy,
};
use store::{AllLive, Random};
use tuple::Datum;

use super::world::{Shape, World};
use crate::BtreeRel;
use crate::insert::insert;
use crate::scan::Scan;

type Code = Box<dyn Fn(i32, i32) -> Result<Ordering, SqlError>>;

thread_local! {
    /// What the order of the test's index is told by.
    static CODE: RefCell<Option<Code>> = const { RefCell::new(None) };
    static FAILURE: RefCell<Option<SqlError>> = const { RefCell::new(None) };
    /// Questions so far.
    static ASKED: Cell<usize> = const { Cell::new(0) };
}

#[derive(Debug)]
struct Told(#[allow(dead_code)] u8);

impl OrderBy for Told {
    fn compare(&self, a: &Datum, b: &Datum) -> Ordering {
        self.ask(a, b).unwrap_or_else(|error| {
            FAILURE.with(|failure| failure.borrow_mut().get_or_insert(error).clone());
            Ordering::Equal
        })
    }

    fn leading(&self, _value: &Datum) -> u64 {
        0
    }

    fn asks(&self) -> bool {
        true
    }

    fn ask(&self, a: &Datum, b: &Datum) -> Result<Ordering, SqlError> {
        let (Datum::Int4(a), Datum::Int4(b)) = (a, b) else { panic!("{a:?} {b:?}") };
        ASKED.set(ASKED.get() + 1);
        CODE.with(|code| (code.borrow().as_ref().unwrap())(*a, *b))
    }

    fn check(&self) -> Result<(), SqlError> {
        FAILURE.take().map_or(Ok(()), Err)
    }
}

static TOLD: Told = Told(1);

/// An index whose order `code` tells.
fn world(code: impl Fn(i32, i32) -> Result<Ordering, SqlError> + 'static) -> World {
    let mut world = World::new(Shape::Int, 256);
    let keys = [KeyColumn::ascending(Compare::By(&TOLD))].into();
    let desc = IndexDesc { keys, equal_image: false, ..Shape::Int.desc(false) };
    world.rel = Arc::new(BtreeRel::new(desc));
    CODE.set(Some(Box::new(code)));
    world
}

fn by_magnitude(a: i32, b: i32) -> Ordering {
    a.abs().cmp(&b.abs())
}

/// Some numbers of both signs, none of which is NULL in the index.
fn number(random: &mut Random, below: u64) -> i32 {
    let n = random.below(below) as i32;
    let n = if n % 97 == 96 { n - 1 } else { n };
    if random.below(2) == 0 { n } else { -n }
}

#[test]
fn questions_are_asked_with_no_page_latched() {
    let world = Rc::new(world(|a, b| Ok(by_magnitude(a, b))));
    let seen = Rc::downgrade(&world);
    CODE.set(Some(Box::new(move |a, b| {
        let world = seen.upgrade().unwrap();
        let pool = &world.store.pool;
        // Who holds a latch waits for himself here.
        for n in 0..pool.nblocks(world.rel.desc.file, Fork::Main).unwrap() {
            drop(world.rel.exclusive(pool, BlockNo(n)).unwrap());
        }
        Ok(by_magnitude(a, b))
    })));
    let mut random = Random(7);
    let entries: Vec<(Datum, Tid)> =
        (1..1500).map(|i| (Datum::Int4(number(&mut random, 700)), store::tid(i))).collect();
    for (key, tid) in &entries {
        let key = std::slice::from_ref(key);
        insert(&world.access(), &world.rel, key, *tid, UniqueCheck::No, &AllLive).unwrap();
    }
    let equal = ScanKey { column: 0, op: ScanOp::Strategy(strategy::EQUAL, entries[3].0.clone()) };
    assert!(!world.collect(vec![equal], Direction::Forward).is_empty());
    world.verify();
    CODE.set(Some(Box::new(|a, b| Ok(by_magnitude(a, b)))));
    let mut world = Rc::into_inner(world).unwrap();
    for (key, tid) in entries {
        world.remember(vec![key], tid);
    }
    assert!(world.check().leaves > 3);
    let key = |op| vec![ScanKey { column: 0, op }];
    let near = world.collect(key(ScanOp::Strategy(strategy::LESS, Datum::Int4(-50))), Direction::Backward);
    let expected =
        world.model.iter().filter(|(row, _)| matches!(row[0], Datum::Int4(n) if n.abs() < 50)).count();
    assert_eq!(near.len(), expected);
    let listed = ScanOp::Any([3, -70, 500].map(Datum::Int4).to_vec());
    let some = world.collect(key(listed), Direction::Forward);
    let listed = |n: &i32| [3, 70, 500].contains(&n.abs());
    let expected =
        world.model.iter().filter(|(row, _)| matches!(&row[0], Datum::Int4(n) if listed(n))).count();
    assert_eq!(some.len(), expected);
    let gone: Vec<_> = world
        .model
        .iter()
        .filter(|(row, _)| matches!(row[0], Datum::Int4(n) if (100..600).contains(&n.abs())))
        .map(|(_, tid)| *tid)
        .collect();
    let deleted = world.vacuum(|tid| gone.contains(&tid)).pages_deleted;
    assert!(deleted > 0);
    world.check();
    CODE.set(None);
}

#[test]
fn a_search_asks_few_questions() {
    let mut world = world(|a, b| Ok(a.cmp(&b)));
    let mut random = Random(3);
    for _ in 0..3000 {
        let n = number(&mut random, 1_000_000);
        world.insert(n);
    }
    ASKED.set(0);
    let value = Datum::Int4(1234);
    world.collect(
        vec![ScanKey { column: 0, op: ScanOp::Strategy(strategy::EQUAL, value) }],
        Direction::Forward,
    );
    assert!(ASKED.get() < 60, "{}", ASKED.get());
    CODE.set(None);
}

#[test]
fn an_error_leaves_the_index_as_it_was() {
    let fails = |a: i32, b: i32| match a == 13 || b == 13 {
        true => Err(base::sql_err!(DIVISION_BY_ZERO, "division by zero")),
        false => Ok(a.cmp(&b)),
    };
    let mut world = world(fails);
    for n in (100..1000).rev().filter(|n| n % 97 != 96) {
        world.insert(n);
    }
    let tid = world.new_tid();
    let entered = insert(&world.access(), &world.rel, &[Datum::Int4(13)], tid, UniqueCheck::No, &AllLive);
    assert!(matches!(entered, Err(IndexError::Callback(_))), "{entered:?}");
    for op in
        [ScanOp::Strategy(strategy::EQUAL, Datum::Int4(13)), ScanOp::Any([13, 500].map(Datum::Int4).to_vec())]
    {
        let keys = index::ScanKeys { keys: vec![ScanKey { column: 0, op }], direction: Direction::Forward };
        let mut scan = Scan::new(world.rel.clone(), keys, false, false);
        let found = scan.next(&world.access());
        assert!(matches!(found, Err(IndexError::Callback(_))), "{found:?}");
        scan.finish(&world.access());
    }
    world.check();
    CODE.set(None);
}

#[test]
fn an_order_that_contradicts_itself_ends() {
    let random = RefCell::new(Random(11));
    let mut world = world(move |_, _| Ok(random.borrow_mut().below(3).cmp(&1)));
    for n in 0..4000 {
        let tid = world.new_tid();
        insert(&world.access(), &world.rel, &[Datum::Int4(n)], tid, UniqueCheck::No, &AllLive).unwrap();
    }
    assert_eq!(world.collect(vec![], Direction::Forward).len(), 4000);
    for n in 0..100 {
        let op = ScanOp::Strategy(strategy::EQUAL, Datum::Int4(n));
        let keys = index::ScanKeys { keys: vec![ScanKey { column: 0, op }], direction: Direction::Forward };
        let mut scan = Scan::new(world.rel.clone(), keys, false, false);
        // Found or not: it comes to an end.
        while let Ok(Some(_)) = scan.next(&world.access()) {}
        scan.finish(&world.access());
    }
    world.vacuum(|tid| tid.offset % 2 == 0);
    CODE.set(None);
}
