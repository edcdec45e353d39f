//! Rows of one page that are locked together.

use base::Tid;

use super::world::*;
use crate::header::{Header, read_header};
use crate::*;

const SHARE: LockStrength = LockStrength::Share;

fn header(world: &World, rel: &HeapRel, tid: Tid) -> Header {
    let pin = world.pool.read(crate::fetch::heap_tag(rel, tid.block)).unwrap();
    read_header(&pin.shared(), tid.offset).unwrap()
}

fn rows(world: &World, rel: &HeapRel, count: i32) -> Vec<Tid> {
    let mut setup = world.session();
    let tids = (0..count).map(|key| setup.insert(rel, key, "row")).collect();
    setup.commit();
    tids
}

fn log_end(world: &World) -> u64 {
    world.pool.wal().insert_end().0
}

#[test]
fn a_page_of_rows_costs_one_record_and_those_that_others_share_one_set() {
    let world = World::new();
    let rel = world.pairs();
    let tids = rows(&world, &rel, 100);
    let mut lockers: Vec<_> = (0..12).map(|_| world.session()).collect();
    // Half of the rows are shared by one more than the others.
    assert_eq!(lockers[0].lock_rows(&rel, &tids[..50], SHARE), 50);
    for (n, locker) in lockers.iter_mut().enumerate().skip(1) {
        let (before, sets) = (log_end(&world), world.txns.next_multi().0);
        assert_eq!(locker.lock_rows(&rel, &tids, SHARE), 100);
        let (bytes, made) = (log_end(&world) - before, world.txns.next_multi().0 - sets);
        assert!(bytes < 1200, "{bytes} bytes of log");
        assert!(made <= 2, "{made} entries for sharer {n}");
        assert_eq!(locker.lock_rows(&rel, &tids, SHARE), 100);
        assert_eq!(log_end(&world) - before, bytes, "what it has costs nothing");
    }
    let members = |tid| {
        let multi = header(&world, &rel, tid).multi().unwrap();
        world.txns.multi_holders(multi).unwrap().len()
    };
    assert_eq!((members(tids[0]), members(tids[49]), members(tids[99])), (12, 12, 11));
    world.check_redo(&[&rel]);
    let mut writer = world.session();
    assert_eq!(writer.lock_rows(&rel, &tids, LockStrength::NoKeyUpdate), 0);
    for locker in lockers {
        locker.commit();
    }
    assert_eq!(writer.lock_rows(&rel, &tids, LockStrength::Update), 100);
    assert_eq!(header(&world, &rel, tids[7]).raw_xmax, writer.txn.xid().unwrap());
    world.check_redo(&[&rel]);
}

#[test]
fn the_first_row_that_is_not_free_ends_it() {
    let world = World::new();
    let rel = world.pairs();
    let tids = rows(&world, &rel, 6);
    let (mut holder, mut updater, mut locker) = (world.session(), world.session(), world.session());
    holder.lock(&rel, tids[2], LockStrength::NoKeyUpdate);
    updater.update(&rel, tids[4], 4, "new");
    assert_eq!(locker.lock_rows(&rel, &tids, SHARE), 2);
    assert_eq!(header(&world, &rel, tids[3]).raw_xmax, base::Xid::INVALID, "none behind it is locked");
    assert_eq!(locker.lock_rows(&rel, &tids[2..], LockStrength::KeyShare), 2, "a weak lock minds less");
    // An update that runs, committed or was rolled back is for who locks rows one by one.
    assert_eq!(locker.lock_rows(&rel, &tids[4..], LockStrength::KeyShare), 0);
    updater.commit();
    assert_eq!(locker.lock_rows(&rel, &tids[4..], LockStrength::KeyShare), 0);
    let mut failed = world.session();
    failed.update(&rel, tids[5], 5, "new");
    failed.abort();
    assert_eq!(locker.lock_rows(&rel, &tids[5..], SHARE), 1);
    assert_eq!(header(&world, &rel, tids[5]).ctid, tids[5]);
    world.check_redo(&[&rel]);
}

#[test]
fn what_is_known_of_holders_ends_with_the_savepoint() {
    let world = World::new();
    let rel = world.pairs();
    let tids = rows(&world, &rel, 4);
    let mut other = world.session();
    other.lock_rows(&rel, &tids, SHARE);
    let mut locker = world.session();
    let mut known = KnownHolders::new();
    let mut lock = |locker: &mut Session<'_>, places: &[u16], strength| {
        let page = (tids[0].block, places);
        locker.write(|access, writer| lock_rows(access, &rel, writer, page, strength, &mut known))
    };
    locker.txn.push_subxact(Some("a"));
    assert_eq!(lock(&mut locker, &[1, 2], SHARE), 2);
    locker.txn.rollback_to("a").unwrap();
    assert_eq!(lock(&mut locker, &[1, 2, 3], SHARE), 3);
    other.commit();
    let mut writer = world.session();
    for tid in &tids[..3] {
        let refused = writer.lock(&rel, *tid, LockStrength::NoKeyUpdate);
        assert!(matches!(refused, LockOutcome::Refused(Refusal::WouldBlock { .. })), "{tid}");
    }
    assert_eq!(lock(&mut locker, &[1, 2, 3], LockStrength::Update), 3, "and with the strength");
    let refused = writer.lock(&rel, tids[0], LockStrength::KeyShare);
    assert!(matches!(refused, LockOutcome::Refused(Refusal::WouldBlock { .. })));
    world.check_redo(&[&rel]);
}

/// Finds and locks rows of one page; how many were locked or not there, and the keys of all that are visible, as far as they were copied.
fn find_and_lock(session: &mut Session<'_>, rel: &HeapRel, tids: &[Tid], copies: bool) -> (usize, Vec<i32>) {
    let snapshot = session.txn.statement_snapshot().unwrap();
    let places: Vec<_> = tids.iter().map(|tid| tid.offset).collect();
    let (mut map, mut out) = (vm::VmCursor::default(), FetchedRows::new());
    session.write(|access, writer| {
        let (snapshot, curcid) = (&snapshot, writer.cid);
        let view = View { snapshot, curcid, me: writer.me, combo: writer.combo };
        let (page, how) = ((tids[0].block, &places[..]), (SHARE, &mut KnownHolders::new()));
        fetch_and_lock_rows(access, rel, (&view, writer), page, how, &mut map, (&mut out, copies))
    });
    let rows = (0..out.len()).filter_map(|n| out.get(n).1);
    (out.locked(), rows.map(|row| decode(rel, &row).0).collect())
}

#[test]
fn rows_are_found_and_locked_in_one_go() {
    let world = World::new();
    let rel = world.pairs();
    let mut tids = rows(&world, &rel, 8);
    let mut setup = world.session();
    let (newer, hot) = setup.update(&rel, tids[1], 1, "newer");
    assert!(hot);
    setup.delete(&rel, tids[2]);
    setup.commit();
    let (mut holder, mut locker) = (world.session(), world.session());
    holder.lock(&rel, tids[5], LockStrength::NoKeyUpdate);
    // The sixth is in the way: it is given, and nothing behind it.
    assert_eq!(find_and_lock(&mut locker, &rel, &tids, true), (5, vec![0, 1, 3, 4, 5]));
    assert_eq!(find_and_lock(&mut locker, &rel, &tids, false), (5, vec![5]));
    let xid = locker.txn.xid().unwrap();
    let xmax = |tid| header(&world, &rel, tid).raw_xmax;
    assert_eq!([tids[0], newer, tids[3], tids[4]].map(xmax), [xid; 4]);
    assert_ne!(xmax(tids[2]), xid, "nobody sees it");
    assert_eq!((xmax(tids[6]), xmax(tids[7])), (base::Xid::INVALID, base::Xid::INVALID));
    // What is inserted later is not seen, and so not locked.
    let snapshot = locker.txn.statement_snapshot().unwrap();
    let late = holder.insert(&rel, 9, "late");
    holder.commit();
    let (mut map, mut out) = (vm::VmCursor::default(), FetchedRows::new());
    tids.push(late);
    locker.write(|access, writer| {
        let view = View { snapshot: &snapshot, curcid: writer.cid, me: writer.me, combo: writer.combo };
        let places = [tids[5].offset, late.offset];
        let (page, how) = ((late.block, &places[..]), (SHARE, &mut KnownHolders::new()));
        fetch_and_lock_rows(access, &rel, (&view, writer), page, how, &mut map, (&mut out, false))
    });
    assert_eq!((out.locked(), out.found(0), out.found(1)), (2, Fetched::Visible, Fetched::Invisible));
    assert_eq!((xmax(tids[5]), xmax(late)), (xid, base::Xid::INVALID));
    world.check_redo(&[&rel]);
}

#[test]
fn only_the_first_lock_on_a_frozen_page_changes_the_map() {
    let world = World::new();
    let rel = world.pairs();
    let tids = rows(&world, &rel, 10);
    world.vacuum(&rel, &mut TestIndex::default());
    let bits = || vm::bits(&world.access(), &rel, tids[0].block, &mut vm::VmCursor::default()).unwrap();
    assert_eq!(bits(), vm::ALL_VISIBLE | vm::ALL_FROZEN);
    let mut locker = world.session();
    let mut cost = |tid: Tid| {
        let before = log_end(&world);
        assert_eq!(locker.lock_rows(&rel, &[tid], SHARE), 1);
        log_end(&world) - before
    };
    // The very first ones have images of the pages with them.
    cost(tids[0]);
    assert_eq!(bits(), vm::ALL_VISIBLE);
    let costs: Vec<u64> = tids[1..].iter().map(|tid| cost(*tid)).collect();
    assert!(costs.iter().all(|bytes| *bytes == costs[0] && *bytes < 64), "{costs:?}");
    world.check_redo(&[&rel]);
}
