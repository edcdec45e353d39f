//! VACUUM, the maps, and random histories against a model.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use base::{BlockNo, Fork, Tid, Xid};
use page::LpFlags;
use proptest::prelude::*;
use txn::standby::Conflict;
use txn::{RelKind, Snapshot, TxnOptions};
use wal::Rmgr;

use super::world::*;
use crate::records::info;
use crate::vm::{ALL_FROZEN, ALL_VISIBLE, VmCursor};
use crate::*;

fn bits(world: &World, rel: &HeapRel, block: u32) -> u8 {
    vm::bits(&world.access(), rel, BlockNo(block), &mut VmCursor::default()).unwrap()
}

fn nblocks(world: &World, rel: &HeapRel) -> u32 {
    world.pool.nblocks(rel.desc.file, Fork::Main).unwrap()
}

#[test]
fn dead_rows_leave_index_then_heap_and_their_room_is_used_again() {
    let world = World::new();
    let rel = world.pairs();
    let mut setup = world.session();
    let tids: Vec<Tid> = (0..500).map(|key| setup.insert(&rel, key, &"x".repeat(100))).collect();
    setup.commit();
    let pages = nblocks(&world, &rel);
    let mut deleter = world.session();
    for tid in tids.iter().step_by(2) {
        assert_eq!(deleter.delete(&rel, *tid), DeleteOutcome::Deleted);
    }
    deleter.commit();
    let mut index = TestIndex { entries: tids.clone(), ..Default::default() };
    let stats = world.vacuum(&rel, &mut index);
    assert_eq!((stats.tuples_removed, stats.live_tuples, stats.line_pointers_freed), (250, 250, 250));
    assert_eq!(stats.index_passes, 1);
    assert_eq!(index.entries, tids.iter().skip(1).step_by(2).copied().collect::<Vec<_>>());
    assert_eq!(stats.pages_all_visible, pages);
    let mut writer = world.session();
    for key in 1000..1200 {
        writer.insert(&rel, key, &"y".repeat(100));
    }
    writer.commit();
    assert_eq!(nblocks(&world, &rel), pages, "the free-space map led to the freed room");
    assert_eq!(world.rows(&rel).len(), 450);
    world.check_redo(&[&rel]);
}

/// Who reads a page on which many dead versions lie takes them away, though there is room; not those that a snapshot needs.
#[test]
fn a_scan_takes_many_dead_versions_away() {
    let world = World::new();
    let rel = world.pairs();
    let mut setup = world.session();
    let mut tid = setup.insert(&rel, 1, "v");
    setup.commit();
    let mut update = |times: u32| {
        for _ in 0..times {
            let mut writer = world.session();
            tid = writer.update(&rel, tid, 1, "v").0;
            writer.commit();
        }
    };
    let versions = || {
        let pin = world.pool.read(crate::fetch::heap_tag(&rel, BlockNo(0))).unwrap();
        let page = pin.shared();
        let normal = |n| page::line_pointer(&page, n).is_some_and(|lp| lp.flags == LpFlags::Normal);
        (1..=page::max_offset(&page)).filter(|n| normal(*n)).count() as u32
    };
    update(prune::MANY_DEAD - 1);
    assert_eq!(world.session().rows(&rel).len(), 1);
    assert_eq!(versions(), prune::MANY_DEAD, "they are too few");
    let mut reader = world.session();
    let snapshot = reader.txn.statement_snapshot().unwrap();
    update(prune::MANY_DEAD);
    assert_eq!(world.session().rows(&rel).len(), 1);
    assert_eq!(versions(), 2 * prune::MANY_DEAD, "the snapshot needs more of them than are left");
    drop(snapshot);
    // A worker that knows of no later need does not ask again at once.
    update(1);
    assert_eq!(world.session().rows(&rel).len(), 1);
    assert!(versions() <= 2);
    world.check_redo(&[&rel]);
}

#[test]
fn a_snapshot_holds_vacuum_back() {
    let world = World::new();
    let rel = world.pairs();
    let mut setup = world.session();
    let tid = setup.insert(&rel, 1, "x");
    setup.commit();
    let mut reader = world.session();
    let snapshot = reader.txn.statement_snapshot().unwrap();
    let mut deleter = world.session();
    deleter.delete(&rel, tid);
    deleter.commit();
    let mut index = TestIndex { entries: vec![tid], ..Default::default() };
    let stats = world.vacuum(&rel, &mut index);
    assert_eq!((stats.tuples_removed, stats.recently_dead_tuples, stats.died_before), (0, 1, 1));
    assert_eq!(bits(&world, &rel, 0), 0);
    let found =
        reader.look_with(&snapshot, |access, view| fetch(access, &rel, view, tid, &mut HeapTuple::new()));
    assert_eq!(found.unwrap(), Fetched::Visible);
    drop(snapshot);
    reader.commit();
    assert_eq!(world.vacuum(&rel, &mut index).tuples_removed, 1);
    assert_eq!(index.entries, []);
}

/// With `old_snapshot_threshold`, on the simulation's clock: what an old snapshot alone sees goes, and only who needed it fails.
#[test]
fn an_old_snapshot_fails_where_it_lost_a_row_and_nowhere_else() {
    let test = || {
        let options =
            TxnOptions { old_snapshot_threshold: Some(Duration::from_secs(60)), ..TxnOptions::default() };
        let world = World::with(64, Xid::FIRST_NORMAL, &options);
        let rel = world.pairs();
        let mut setup = world.session();
        let filler = "x".repeat(1000);
        let tids: Vec<Tid> = (0..20).map(|key| setup.insert(&rel, key, &filler)).collect();
        setup.commit();
        let old = world.session();
        let snapshot = world.txns.snapshot();
        let write = |change: &dyn Fn(&mut Session<'_>)| {
            let mut writer = world.session();
            change(&mut writer);
            writer.commit();
        };
        // Of three versions in a row the old snapshot needs the first; a row that came and went is none of its business.
        write(&|writer| assert!(writer.update(&rel, tids[0], 0, "second").1));
        let brief = RefCell::new(tids[0]);
        write(&|writer| *brief.borrow_mut() = writer.insert(&rel, 99, "brief"));
        write(&|writer| assert_eq!(writer.delete(&rel, *brief.borrow()), DeleteOutcome::Deleted));
        let mut index = TestIndex { entries: tids.clone(), ..Default::default() };
        assert_eq!(world.vacuum(&rel, &mut index).tuples_removed, 0, "no snapshot is old yet");
        let look = |snapshot: &Snapshot, tid| {
            let mut out = HeapTuple::new();
            old.look_with(snapshot, |access, view| fetch(access, &rel, view, tid, &mut out))
        };
        for _ in 0..3 {
            runtime::wait(runtime::sleep(Duration::from_secs(60)));
            drop(world.txns.snapshot());
            world.txns.early_limit(RelKind::Plain);
        }
        let young = world.txns.snapshot();
        assert_eq!(look(&snapshot, tids[0]).unwrap(), Fetched::Visible, "nobody removed it yet");
        assert_eq!(world.vacuum(&rel, &mut index).tuples_removed, 2);
        assert!(matches!(look(&snapshot, tids[0]), Err(HeapError::SnapshotTooOld)));
        assert_eq!(look(&snapshot, tids[1]).unwrap(), Fetched::Visible, "that row of the same page is there");
        assert_eq!(look(&snapshot, tids[19]).unwrap(), Fetched::Visible);
        assert_ne!(brief.borrow().block, tids[0].block);
        assert_eq!(look(&snapshot, *brief.borrow()).unwrap(), Fetched::AllDead, "it never saw this row");
        assert_eq!(look(&young, tids[0]).unwrap(), Fetched::Visible, "the second version");
        let scan = |snapshot: &Snapshot| {
            old.look_with(snapshot, |access, view| {
                let mut scan = HeapScan::new(access, rel.clone(), None)?;
                let mut rows = 0;
                while scan.next(access, view)?.is_some() {
                    rows += 1;
                }
                HeapResult::Ok(rows)
            })
        };
        assert!(matches!(scan(&snapshot), Err(HeapError::SnapshotTooOld)));
        assert_eq!(scan(&young).unwrap(), 20);
    };
    runtime::Simulation::new(1).run(test).unwrap();
}

#[test]
fn a_lock_that_ended_during_vacuum_leaves_the_page_unfrozen() {
    let world = World::new();
    let rel = world.pairs();
    let mut setup = world.session();
    let tids: Vec<Tid> = (0..2).map(|key| setup.insert(&rel, key, "x")).collect();
    setup.commit();
    let mut deleter = world.session();
    deleter.delete(&rel, tids[0]);
    deleter.commit();
    let lock = || {
        let mut locker = world.session();
        locker.lock(&rel, tids[1], LockStrength::Update);
        locker.commit();
    };
    let mut index = TestIndex { entries: tids.clone(), between: Some(Box::new(lock)), ..Default::default() };
    world.vacuum(&rel, &mut index);
    // That the locker has ended is a hint, which a crash undoes; nobody looks at a frozen page again.
    assert_eq!(bits(&world, &rel, 0), ALL_VISIBLE);
    drop(index);
    world.vacuum(&rel, &mut TestIndex::default());
    assert_eq!(bits(&world, &rel, 0), ALL_VISIBLE | ALL_FROZEN);
}

/// A frozen version is shown to all, also to those of a standby whose snapshots are older than its inserter, and whoever deletes it.
#[test]
fn standbys_are_told_before_a_version_is_frozen_that_is_being_deleted() {
    let world = World::new();
    world.txns.tell_standbys(true);
    let rel = world.pairs();
    let mut setup = world.session();
    let tid = setup.insert(&rel, 1, "v");
    let inserter = setup.txn.xid().unwrap();
    setup.commit();
    let mut deleter = world.session();
    deleter.delete(&rel, tid);
    world.vacuum(&rel, &mut TestIndex::default());
    let (mut told, mut pruned) = (Xid::INVALID, false);
    for record in world.log() {
        if let Some(Conflict::Snapshots(limit)) = txn::standby::conflict_of(&record) {
            told = told.max(limit);
        }
        if (record.rmgr, record.info) == (Rmgr::Heap, info::PRUNE) {
            assert!(told >= inserter, "{told} was told, and {inserter} is frozen");
            pruned = true;
        }
    }
    assert!(pruned);
}

#[test]
fn cutting_gives_way_and_comes_back() {
    let world = World::new();
    let rel = world.pairs();
    let mut setup = world.session();
    let tids: Vec<Tid> = (0..500).map(|key| setup.insert(&rel, key, &"x".repeat(100))).collect();
    setup.commit();
    let pages = nblocks(&world, &rel);
    let mut deleter = world.session();
    for tid in tids.iter().filter(|tid| tid.block.0 > 0) {
        deleter.delete(&rel, *tid);
    }
    deleter.commit();
    let mut index = TestIndex { entries: tids, is_waited_for: true, ..Default::default() };
    let stats = world.vacuum(&rel, &mut index);
    assert_eq!(index.cuts, ["lock", "unlock"], "who waits for VACUUM itself waits no longer");
    assert!(stats.truncation_stopped && stats.pages_removed == 0);
    let mut index = TestIndex { wanted: 3, ..Default::default() };
    let stats = world.vacuum(&rel, &mut index);
    assert_eq!(index.cuts, ["lock", "unlock", "lock", "unlock", "lock", "cut to 1", "unlock"]);
    assert_eq!(stats.pages_removed, pages - 1);
}

#[test]
fn the_visibility_map_follows_the_page() {
    let world = World::new();
    let rel = world.pairs();
    let mut setup = world.session();
    let tid = setup.insert(&rel, 1, "x");
    setup.commit();
    let vacuum = || world.vacuum(&rel, &mut TestIndex::default());
    vacuum();
    assert_eq!(bits(&world, &rel, 0), ALL_VISIBLE | ALL_FROZEN);
    let mut locker = world.session();
    locker.lock(&rel, tid, LockStrength::Update);
    assert_eq!(bits(&world, &rel, 0), ALL_VISIBLE, "a lock leaves the row visible, but not frozen");
    locker.commit();
    vacuum();
    assert_eq!(bits(&world, &rel, 0), ALL_VISIBLE | ALL_FROZEN);
    let mut writer = world.session();
    let second = writer.insert(&rel, 2, "y");
    assert_eq!(bits(&world, &rel, 0), 0, "cleared with the change, not with the commit");
    writer.commit();
    vacuum();
    let mut deleter = world.session();
    deleter.delete(&rel, second);
    assert_eq!(bits(&world, &rel, 0), 0);
    deleter.abort();
    vacuum();
    let mut updater = world.session();
    updater.update(&rel, tid, 1, "z");
    assert_eq!(bits(&world, &rel, 0), 0);
    updater.commit();
    world.check_redo(&[&rel]);
}

#[test]
fn tables_without_indexes_need_one_pass() {
    let world = World::new();
    let rel = world.pairs();
    let mut setup = world.session();
    let tids: Vec<Tid> = (0..10).map(|key| setup.insert(&rel, key, "x")).collect();
    setup.commit();
    let mut deleter = world.session();
    deleter.delete(&rel, tids[9]);
    deleter.delete(&rel, tids[3]);
    deleter.commit();
    let stats = world.vacuum(&rel, &mut TestIndex { none: true, ..Default::default() });
    assert_eq!((stats.tuples_removed, stats.index_passes), (2, 0));
    let pin = world.pool.read(crate::fetch::heap_tag(&rel, BlockNo(0))).unwrap();
    let page = pin.shared();
    assert_eq!(page::max_offset(&page), 9, "the last line pointer is dropped");
    assert_eq!(page::line_pointer(&page, 4).unwrap().flags, LpFlags::Unused);
}

/// Rows of catalogs are updated by transactions that hold no lock to their end.
#[test]
fn a_build_scan_finds_the_row_whose_update_is_rolled_back_meanwhile() {
    for seed in 0..40 {
        let simulation = runtime::Simulation::new(seed);
        simulation.interleave(2);
        let found = simulation.run(move || {
            let world = Rc::new(World::new());
            let rel = world.pairs();
            let mut setup = world.session();
            let root = setup.insert(&rel, 1, "a");
            setup.commit();
            let updated = Rc::new(runtime::Event::new());
            let rolled_back = {
                let (world, rel, updated) = (world.clone(), rel.clone(), updated.clone());
                runtime::spawn_fiber("updater", move || {
                    let mut updater = world.session();
                    assert!(updater.update(&rel, root, 1, "b").1, "heap-only");
                    updated.set();
                    (0..seed % 8).for_each(|_| runtime::yield_now());
                    updater.abort();
                })
            };
            updated.wait();
            let mut roots = Vec::new();
            let pages = 0..world.access().pool.nblocks(rel.desc.file, base::Fork::Main).unwrap();
            let visit = &mut |row: BuildRow<'_>| {
                roots.push((row.root, row.live));
                Ok(())
            };
            build_scan(&world.access(), &rel, &|_| false, pages, visit).unwrap();
            rolled_back.join().unwrap();
            assert_eq!(roots, [(root, true)], "seed {seed}");
        });
        found.unwrap();
    }
}

#[test]
fn a_build_scan_gives_each_live_version_its_root() {
    let world = World::new();
    let rel = world.pairs();
    let mut setup = world.session();
    let roots: Vec<Tid> = (0..5).map(|key| setup.insert(&rel, key, "x")).collect();
    setup.commit();
    let mut updater = world.session();
    updater.update(&rel, roots[2], 2, "y");
    updater.commit();
    let mut deleter = world.session();
    deleter.delete(&rel, roots[4]);
    deleter.commit();
    let me = world.session();
    let mut seen = Vec::new();
    let pages = 0..world.access().pool.nblocks(rel.desc.file, base::Fork::Main).unwrap();
    let broken = build_scan(&world.access(), &rel, &|xid| me.txn.is_mine(xid), pages, &mut |row| {
        seen.push((row.root, decode(&rel, &row.row), row.live));
        Ok(())
    })
    .unwrap();
    assert!(!broken, "nobody needs the old version");
    seen.sort();
    let text = |key| if key == 2 { "y".to_string() } else { "x".to_string() };
    let expected: Vec<_> = (0..4).map(|key| (roots[key as usize], (key, text(key)), true)).collect();
    assert_eq!(seen, expected);
    let pin = world.access().pool.read(crate::fetch::heap_tag(&rel, BlockNo(0))).unwrap();
    let counts = sample_page(&world.access(), &rel, &me.txn, pin, &mut |_| Ok(())).unwrap();
    assert_eq!(counts.live, 4);
}

#[test]
fn the_free_space_map_corrects_itself() {
    let world = World::new();
    let rel = world.pairs();
    let mut setup = world.session();
    for key in 0..40 {
        setup.insert(&rel, key, &"x".repeat(1900));
    }
    setup.commit();
    let (access, pages) = (world.access(), nblocks(&world, &rel));
    let search = |need| fsm::search(&access, &rel, need, pages).unwrap();
    // Lies of both kinds: a full page said to be empty, and a place behind the end of the file.
    fsm::record(&access, &rel, BlockNo(3), 8000).unwrap();
    fsm::record(&access, &rel, BlockNo(pages + 5), 8000).unwrap();
    assert_eq!(search(4000), Some(BlockNo(3)));
    rel.forget_targets();
    let mut writer = world.session();
    let tid = writer.insert(&rel, 100, &"y".repeat(1900));
    writer.commit();
    assert!(tid.block.0 + 1 >= pages);
    assert_eq!(
        fsm::search(&access, &rel, 4000, pages).unwrap(),
        None,
        "the misled inserter has recorded the truth"
    );
    assert!(fsm::recorded(&access, &rel, BlockNo(3)).unwrap() < 1000);
}

#[test]
fn a_torn_map_page_is_forgotten() {
    let world = World::with_buffers(16);
    let rel = world.pairs();
    let mut setup = world.session();
    setup.insert(&rel, 1, "x");
    setup.commit();
    fsm::record(&world.access(), &rel, BlockNo(0), 5000).unwrap();
    world.pool.flush_relation(rel.desc.file).unwrap();
    world.pool.drop_relations(&[rel.desc.file]);
    let mut garbage = [7; base::PAGE_SIZE];
    garbage[14..20].fill(0);
    world.pool.smgr().write(rel.desc.file, Fork::Fsm, BlockNo(1), &garbage).unwrap();
    assert_eq!(fsm::recorded(&world.access(), &rel, BlockNo(0)).unwrap(), 0);
    fsm::record(&world.access(), &rel, BlockNo(0), 4096).unwrap();
    assert_eq!(fsm::search(&world.access(), &rel, 4000, 1).unwrap(), Some(BlockNo(0)));
}

#[derive(Clone, Debug)]
enum Step {
    Insert(i32, usize),
    Update(usize, usize),
    Delete(usize),
    Savepoint,
    RollbackTo,
    Release,
    Commit,
    Abort,
    Vacuum,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (any::<i32>(), 0usize..1500).prop_map(|(key, len)| Step::Insert(key, len)),
        8 => (any::<usize>(), 0usize..1500).prop_map(|(n, len)| Step::Update(n, len)),
        3 => any::<usize>().prop_map(Step::Delete),
        2 => Just(Step::Savepoint),
        1 => Just(Step::RollbackTo),
        1 => Just(Step::Release),
        4 => Just(Step::Commit),
        1 => Just(Step::Abort),
        1 => Just(Step::Vacuum),
    ]
}

type Model = BTreeMap<i32, String>;

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// One session with savepoints against a map; another sees only what is committed; then the log gives the same pages again.
    #[test]
    fn random_histories_follow_the_model(steps in proptest::collection::vec(step(), 1..120)) {
        let world = World::with_buffers(64);
        let rel = world.pairs();
        let mut session = world.session();
        let mut committed = Model::new();
        let mut levels = vec![Model::new()];
        for (i, step) in steps.into_iter().enumerate() {
            let depth = levels.len();
            let now = levels.last_mut().unwrap();
            let rows = session.scan(&rel);
            match step {
                Step::Insert(key, len) if !now.contains_key(&key) => {
                    let value = format!("{i}{}", "v".repeat(len));
                    session.insert(&rel, key, &value);
                    now.insert(key, value);
                }
                Step::Update(n, len) if !rows.is_empty() => {
                    let (tid, (key, _)) = rows[n % rows.len()].clone();
                    let value = format!("{i}{}", "u".repeat(len));
                    session.update(&rel, tid, key, &value);
                    now.insert(key, value);
                }
                Step::Delete(n) if !rows.is_empty() => {
                    let (tid, (key, _)) = rows[n % rows.len()].clone();
                    prop_assert_eq!(session.delete(&rel, tid), DeleteOutcome::Deleted);
                    now.remove(&key);
                }
                Step::Savepoint => {
                    session.txn.push_subxact(None);
                    let copy = now.clone();
                    levels.push(copy);
                }
                Step::RollbackTo if depth > 1 => {
                    session.txn.rollback_current();
                    levels.pop();
                }
                Step::Release if depth > 1 => {
                    session.txn.release_current();
                    let top = levels.pop().unwrap();
                    *levels.last_mut().unwrap() = top;
                }
                Step::Commit => {
                    committed = now.clone();
                    session.commit();
                    session = world.session();
                    levels = vec![committed.clone()];
                }
                Step::Abort => {
                    session.abort();
                    session = world.session();
                    levels = vec![committed.clone()];
                }
                Step::Vacuum => {
                    world.vacuum(&rel, &mut TestIndex::default());
                }
                _ => {}
            }
            let own: Model = session.rows(&rel).into_iter().collect();
            prop_assert_eq!(&own, levels.last().unwrap());
            let others: Model = world.rows(&rel).into_iter().collect();
            prop_assert_eq!(&others, &committed);
        }
        drop(session);
        prop_assert_eq!(world.pool.pins(), 0);
        world.check_redo(&[&rel]);
    }
}
