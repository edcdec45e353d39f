//! Page operations alone: what normal running does to one copy of a page, and redo, from the log, to another.

use base::{BlockNo, Fork, PAGE_SIZE, Tid, Xid};
use page::{LpFlags, PageBytes};
use proptest::prelude::*;
use tuple::{Attr, Datum, Physical, RowLayout};

use crate::header::{
    Bases, Header, MAX_TUPLES_PER_PAGE, form_tuple, infomask, infomask2, read_header, tuple_len,
};
use crate::ops::{self, EndedRow, Mismatch, PrunePlan, RebasePlan, RowLock, Stamp};
use crate::records::{
    Put, common_parts, info, logged_len, put_locked_tuple, put_new_tuple, put_prune, put_rebase,
    put_row_locks, put_stamp,
};
use crate::redo::{Change, apply};

const BLOCK: BlockNo = BlockNo(7);

fn layout() -> RowLayout {
    let attr = |physical, align| Attr { physical, align, storage: b'x', compression: None };
    RowLayout::new(vec![attr(Physical::Int4, 4), attr(Physical::Varlena, 4), attr(Physical::Int8, 8)])
}

fn row(key: i32, text: usize, null: bool) -> Vec<u8> {
    let last = if null { Datum::Null } else { Datum::Int8(key.into()) };
    let mut out = Vec::new();
    form_tuple(&layout(), &[Datum::Int4(key), Datum::text(&"x".repeat(text)), last], &mut out);
    out
}

/// The page as normal running and as redo left it.
struct Pair {
    page: Box<PageBytes>,
    redone: Box<PageBytes>,
}

impl Pair {
    fn new() -> Pair {
        let mut page = Box::new([0; PAGE_SIZE]);
        ops::init_page(&mut page, Xid(100));
        Pair { redone: page.clone(), page }
    }

    fn redo(&mut self, kind: u8, xid: Xid, data: &[u8]) {
        let change =
            Change { kind, xid, main: &[], index: 0, fork: Fork::Main, block: BLOCK, will_init: false, data };
        apply(&mut self.redone, &change).expect("what was logged can be redone");
        let (mut one, mut two) = (self.page.clone(), self.redone.clone());
        ops::mask_hints(&mut one);
        ops::mask_hints(&mut two);
        assert!(one == two, "redo of record {kind} differs");
    }

    fn normal(&self) -> Vec<u16> {
        let max = page::max_offset(&self.page);
        (1..=max)
            .filter(|&n| page::line_pointer(&self.page, n).is_some_and(|lp| lp.flags == LpFlags::Normal))
            .collect()
    }

    fn insert(&mut self, xid: Xid, mut tuple: Vec<u8>) -> Option<u16> {
        let offset = ops::insert(&mut self.page, BLOCK, None, &mut tuple, xid, 3).ok()?;
        let mut log = Vec::new();
        put_new_tuple(&mut log, offset, &tuple);
        self.redo(info::INSERT, xid, &log);
        Some(offset)
    }

    fn stamp(&mut self, kind: u8, stamp: Stamp) {
        let mut log = Vec::new();
        put_stamp(&mut log, &stamp);
        ops::stamp_xmax(&mut self.page, &stamp).unwrap();
        self.redo(kind, stamp.xmax, &log);
    }

    fn lock_rows(&mut self, xid: Xid, locks: &[(RowLock, u16)]) {
        let mut log = Vec::new();
        put_row_locks(&mut log, locks);
        ops::lock_rows(&mut self.page, BLOCK, locks).unwrap();
        self.redo(info::LOCK_ROWS, xid, &log);
    }

    fn delete_rows(&mut self, xid: Xid, rows: &[EndedRow]) {
        let mut log = Vec::new();
        log.set(&rows.iter().map(|row| row.offset).collect::<Vec<_>>());
        ops::delete_rows(&mut self.page, BLOCK, xid, rows).unwrap();
        self.redo(info::DELETE_ROWS, xid, &log);
    }

    fn update(&mut self, old: u16, xid: Xid, mut tuple: Vec<u8>) {
        let before = page::item(&self.page, old).unwrap().to_vec();
        let (prefix, suffix) = common_parts(&before, &tuple);
        let Ok(new) = ops::insert(&mut self.page, BLOCK, None, &mut tuple, xid, 3) else { return };
        let stamp = Stamp {
            offset: old,
            xmax: xid,
            infomask: 0,
            infomask2: infomask2::HOT_UPDATED,
            cid: Some(9),
            next: Tid::new(BLOCK, new),
        };
        ops::stamp_xmax(&mut self.page, &stamp).unwrap();
        let mut log = Vec::new();
        put_stamp(&mut log, &stamp);
        log.u16(prefix);
        log.u16(suffix);
        put_locked_tuple(&mut log, new, &tuple, prefix as usize, suffix as usize, Xid::INVALID);
        self.redo(info::HOT_UPDATE, xid, &log);
    }

    fn prune(&mut self, plan: &PrunePlan) {
        let mut log = Vec::new();
        put_prune(&mut log, plan, false);
        ops::prune(&mut self.page, plan).unwrap();
        self.redo(info::PRUNE, Xid::INVALID, &log);
    }
}

#[derive(Clone, Debug)]
enum Step {
    Insert(usize, bool),
    Delete(usize),
    Update(usize, usize),
    Lock(usize),
    LockRows(u8),
    DeleteRows(u8),
    Prune(u8),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        5 => (0usize..600, any::<bool>()).prop_map(|(len, null)| Step::Insert(len, null)),
        2 => any::<usize>().prop_map(Step::Delete),
        3 => (any::<usize>(), 0usize..300).prop_map(|(n, len)| Step::Update(n, len)),
        1 => any::<usize>().prop_map(Step::Lock),
        1 => any::<u8>().prop_map(Step::LockRows),
        1 => any::<u8>().prop_map(Step::DeleteRows),
        1 => any::<u8>().prop_map(Step::Prune),
    ]
}

proptest! {
    #[test]
    fn redo_repeats_every_change(steps in proptest::collection::vec(step(), 1..80)) {
        let mut pair = Pair::new();
        for (i, step) in steps.into_iter().enumerate() {
            let xid = Xid(100 + i as u64);
            let there = pair.normal();
            let pick = |n: usize| there[n % there.len()];
            match step {
                Step::Insert(len, null) => {
                    pair.insert(xid, row(i as i32, len, null));
                }
                _ if there.is_empty() => {}
                Step::Delete(n) => pair.stamp(info::DELETE, Stamp {
                    offset: pick(n),
                    xmax: xid,
                    infomask: infomask::COMBO_CID,
                    infomask2: infomask2::KEYS_UPDATED,
                    cid: Some(i as u32),
                    next: Tid::new(BLOCK, pick(n)),
                }),
                Step::Update(n, len) => pair.update(pick(n), xid, row(i as i32, len, false)),
                Step::Lock(n) => pair.stamp(info::LOCK, Stamp {
                    offset: pick(n),
                    xmax: xid,
                    infomask: infomask::XMAX_LOCK_ONLY | infomask::XMAX_EXCL_LOCK,
                    infomask2: 0,
                    cid: None,
                    next: Tid::new(BLOCK, pick(n)),
                }),
                Step::LockRows(which) => {
                    let one = infomask::XMAX_LOCK_ONLY | infomask::XMAX_EXCL_LOCK;
                    let set = one | infomask::XMAX_KEYSHR_LOCK | infomask::XMAX_IS_MULTI;
                    let lock = |i: usize| match (i + which as usize) % 3 {
                        0 => Some(RowLock { xmax: xid, infomask: one, infomask2: infomask2::KEYS_UPDATED }),
                        1 => Some(RowLock { xmax: Xid(7 + u64::from(which)), infomask: set, infomask2: 0 }),
                        _ => None,
                    };
                    let locks = there.iter().enumerate().filter_map(|(i, &n)| Some((lock(i)?, n)));
                    pair.lock_rows(xid, &locks.collect::<Vec<_>>());
                }
                Step::DeleteRows(which) => {
                    let chosen = there.iter().filter(|n| (**n + u16::from(which)) % 3 != 0);
                    let combo = |n: u16| if n.is_multiple_of(2) { infomask::COMBO_CID } else { 0 };
                    let rows = chosen.map(|&n| EndedRow { offset: n, cid: i as u32, combo: combo(n) });
                    pair.delete_rows(xid, &rows.collect::<Vec<_>>());
                }
                Step::Prune(which) => {
                    let mut plan = PrunePlan { prune_xid: xid, ..PrunePlan::default() };
                    for (i, &n) in there.iter().enumerate() {
                        match (i + which as usize) % 5 {
                            0 => plan.dead.push(n),
                            1 => plan.unused.push(n),
                            2 => plan.frozen.push(n),
                            3 => plan.xmax_cleared.push(n),
                            _ => {}
                        }
                    }
                    pair.prune(&plan);
                    let dead: Vec<u16> = plan.dead.iter().copied().filter(|n| n % 2 == 0).collect();
                    let mut log = Vec::new();
                    log.set(&dead);
                    ops::free_dead(&mut pair.page, &dead).unwrap();
                    pair.redo(info::VACUUM, Xid::INVALID, &log);
                }
            }
        }
    }

    #[test]
    fn damaged_records_do_not_panic(kind in 0u8..18, data in proptest::collection::vec(any::<u8>(), 0..80), index in 0usize..2) {
        let mut pair = Pair::new();
        for i in 0..10 {
            pair.insert(Xid(100), row(i, 20, false));
        }
        let change = Change { kind, xid: Xid(200), main: &data, index, fork: Fork::Main, block: BLOCK, will_init: false, data: &data };
        let _ = apply(&mut pair.page, &change);
    }

    #[test]
    fn headers_round_trip(xmin in 0u64..1 << 40, delta in 0u64..1 << 31, cid in any::<u32>(), mask in any::<u16>()) {
        let bases = Bases { multi: xmin, ..Bases::around(Xid(xmin)) };
        let multi = mask & infomask::XMAX_IS_MULTI != 0;
        let xmax = if multi { Xid(xmin + u64::from(cid).max(1)) } else { Xid(xmin + delta) };
        prop_assert!(bases.fits_xmax(xmax, mask));
        let header = Header {
            raw_xmin: Xid(xmin),
            raw_xmax: xmax,
            cid,
            ctid: Tid::new(BlockNo(cid), mask),
            infomask2: mask,
            infomask: mask,
            hoff: 24,
        };
        let mut bytes = [0; 24];
        header.write(&mut bytes, bases);
        prop_assert_eq!(Header::read(&bytes, bases), Some(header));
    }
}

#[test]
fn redo_of_a_batch_and_of_a_new_page() {
    let mut pair = Pair::new();
    let mut log = Vec::new();
    log.u16(3);
    for i in 0..3 {
        let mut tuple = row(i, 10, i == 1);
        let offset = ops::insert(&mut pair.page, BLOCK, None, &mut tuple, Xid(100), 0).unwrap();
        log.u16(logged_len(tuple.len()) as u16);
        put_new_tuple(&mut log, offset, &tuple);
    }
    *pair.redone = [0; PAGE_SIZE];
    let change = Change {
        kind: info::MULTI_INSERT,
        xid: Xid(100),
        main: &[],
        index: 0,
        fork: Fork::Main,
        block: BLOCK,
        will_init: true,
        data: &log,
    };
    apply(&mut pair.redone, &change).unwrap();
    ops::mask_hints(&mut pair.page);
    ops::mask_hints(&mut pair.redone);
    assert!(pair.page == pair.redone);
}

#[test]
fn a_page_holds_no_more_line_pointers_than_it_may() {
    let mut pair = Pair::new();
    let mut count = 0;
    let layout = RowLayout::new(Vec::new());
    let mut tuple = Vec::new();
    form_tuple(&layout, &[], &mut tuple);
    while ops::insert(&mut pair.page, BLOCK, None, &mut tuple, Xid(100), 0).is_ok() {
        count += 1;
    }
    assert_eq!(count, MAX_TUPLES_PER_PAGE);
    assert_eq!(ops::room(&pair.page), 0);
}

#[test]
fn a_rebase_keeps_recent_xids_and_settles_old_ones() {
    let mut page = Box::new([0; PAGE_SIZE]);
    ops::init_page(&mut page, Xid(100));
    for key in 0..3 {
        ops::insert(&mut page, BLOCK, None, &mut row(key, 5, false), Xid(100 + key as u64), 0).unwrap();
    }
    let recent = Xid((1 << 32) - 10);
    let stamp =
        Stamp { offset: 3, xmax: recent, infomask: 0, infomask2: 0, cid: None, next: Tid::new(BLOCK, 3) };
    ops::stamp_xmax(&mut page, &stamp).unwrap();
    let new = Xid((1 << 32) + 1000);
    assert!(!Bases::of(&page).fits(new));
    assert_eq!(
        ops::insert(&mut page, BLOCK, None, &mut row(9, 5, false), new, 0),
        Err(Mismatch),
        "an xid that does not fit is refused"
    );
    let bases = Bases::around(new);
    let mut plan = RebasePlan { bases, frozen: vec![1, 3], ..RebasePlan::default() };
    let before = page.clone();
    assert_eq!(
        ops::rebase(&mut page, &plan),
        Err(Mismatch),
        "tuple 2 has an xid that the new base cannot hold"
    );
    assert!(page == before, "invariant 1");
    plan.xmin_aborted = vec![2];
    let mut log = Vec::new();
    put_rebase(&mut log, &plan);
    let mut redone = page.clone();
    ops::rebase(&mut page, &plan).unwrap();
    let change = Change {
        kind: info::REBASE,
        xid: Xid::INVALID,
        main: &[],
        index: 0,
        fork: Fork::Main,
        block: BLOCK,
        will_init: false,
        data: &log,
    };
    apply(&mut redone, &change).unwrap();
    assert!(page == redone);
    assert_eq!(read_header(&page, 1).unwrap().xmin(), Xid::FROZEN);
    assert!(read_header(&page, 2).unwrap().xmin_hinted_aborted());
    assert_eq!(read_header(&page, 3).unwrap().raw_xmax, recent);
    assert!(ops::insert(&mut page, BLOCK, None, &mut row(9, 5, false), new, 0).is_ok());
}

#[test]
fn formed_tuples_have_the_length_foretold() {
    for (text, null) in [(0, false), (3, true), (126, false), (127, true), (500, false)] {
        let last = if null { Datum::Null } else { Datum::Int8(1) };
        let values = [Datum::Int4(1), Datum::text(&"x".repeat(text)), last];
        assert_eq!(row(1, text, null).len(), tuple_len(&layout(), &values));
    }
}
