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
