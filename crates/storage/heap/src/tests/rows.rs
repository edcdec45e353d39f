//! Reading and writing rows: who sees what, who may change what, HOT chains, locks.

use base::{BlockNo, Fork, Tid, Xid};
use tuple::Datum;

use super::world::*;
use crate::*;

#[test]
fn rows_appear_with_their_transaction() {
    let world = World::new();
    let rel = world.pairs();
    let mut writer = world.session();
    let tid = writer.insert(&rel, 1, "one");
    assert_eq!(writer.rows(&rel), [(1, "one".into())], "its own later commands see the row");
    assert_eq!(world.rows(&rel), [], "others do not");
    let mut early = world.session();
    let old_snapshot = early.txn.statement_snapshot().unwrap();
    writer.commit();
    assert_eq!(world.rows(&rel), [(1, "one".into())]);
    let mut out = HeapTuple::new();
    let found =
        early.look_with(&old_snapshot, |access, view| fetch(access, &rel, view, tid, &mut out)).unwrap();
    assert_eq!(found, Fetched::Invisible, "a snapshot from before does not see it, hint or no hint");
    assert_eq!(early.rows(&rel).len(), 1, "a new one does");
}

#[test]
fn a_command_does_not_see_itself() {
    let world = World::new();
    let rel = world.pairs();
    let mut session = world.session();
    session.write(|access, writer| insert(access, &rel, writer, &pair(1, "x"), Default::default()));
    assert_eq!(session.rows(&rel), []);
    session.txn.next_command().unwrap();
    assert_eq!(session.rows(&rel).len(), 1);
}

#[test]
fn aborted_rows_are_dead_at_once() {
    let world = World::new();
    let rel = world.pairs();
    let mut session = world.session();
    let tid = session.insert(&rel, 1, "x");
    session.abort();
    assert_eq!(world.session().fetch(&rel, tid).0, Fetched::AllDead);
}

/// Thread 4: what a subtransaction of the *running* transaction left behind is recognised as dead, also under a snapshot
/// from before.
#[test]
fn rows_of_own_aborted_subtransactions_are_surely_dead() {
    let world = World::new();
    let rel = world.pairs();
    let mut session = world.session();
    session.insert(&rel, 0, "keep");
    let snapshot = session.txn.statement_snapshot().unwrap();
    session.txn.push_subxact(None);
    let tid = session.insert(&rel, 1, "gone");
    assert_ne!(session.fetch(&rel, tid).0, Fetched::AllDead);
    session.txn.rollback_current();
    assert_eq!(session.fetch(&rel, tid).0, Fetched::AllDead);
    let mut out = HeapTuple::new();
    let found =
        session.look_with(&snapshot, |access, view| fetch(access, &rel, view, tid, &mut out)).unwrap();
    assert_eq!(found, Fetched::AllDead);
    assert_eq!(session.rows(&rel), [(0, "keep".into())]);
}

#[test]
fn a_deletion_by_an_aborted_subtransaction_did_not_happen() {
    let world = World::new();
    let rel = world.pairs();
    let mut session = world.session();
    let tid = session.insert(&rel, 1, "x");
    session.txn.push_subxact(None);
    assert_eq!(session.delete(&rel, tid), DeleteOutcome::Deleted);
    assert_eq!(session.rows(&rel), []);
    session.txn.rollback_current();
    assert_eq!(session.rows(&rel).len(), 1);
    assert!(session.update(&rel, tid, 1, "y").1);
    session.commit();
    assert_eq!(world.rows(&rel), [(1, "y".into())]);
}

#[test]
fn combo_command_ids_serve_old_cursors() {
    let world = World::new();
    let rel = world.pairs();
    let mut session = world.session();
    let tid = session.insert(&rel, 1, "x");
    // A cursor opened now keeps this command id.
    let (snapshot, cursor_cid) = (session.txn.statement_snapshot().unwrap(), session.txn.current_command());
    session.txn.next_command().unwrap();
    session.delete(&rel, tid);
    assert_eq!(session.fetch(&rel, tid).0, Fetched::Invisible);
    let view = View { snapshot: &snapshot, curcid: cursor_cid, me: &session.txn, combo: &session.combo };
    let found = fetch(&world.access(), &rel, &view, tid, &mut HeapTuple::new()).unwrap();
    assert_eq!(found, Fetched::Visible, "inserted before the cursor, deleted after it");
}

#[test]
fn writers_meet_at_a_row() {
    let world = World::new();
    let rel = world.pairs();
    let mut setup = world.session();
    let (one, two) = (setup.insert(&rel, 1, "a"), setup.insert(&rel, 2, "b"));
    setup.commit();

    let (mut first, mut second) = (world.session(), world.session());
    let (next, hot) = first.update(&rel, one, 1, "a2");
    assert!(hot);
    first.delete(&rel, two);
    let xid = first.txn.xid().unwrap();
    let blocked = Refusal::WouldBlock { xid, mine: false };
    assert_eq!(second.try_update(&rel, one, 1, "mine", true), UpdateOutcome::Refused(blocked));
    assert_eq!(second.delete(&rel, two), DeleteOutcome::Refused(blocked));
    assert_eq!(second.lock(&rel, one, LockStrength::Update), LockOutcome::Refused(blocked));
    assert_eq!(
        first.try_update(&rel, one, 1, "again", true),
        UpdateOutcome::Refused(Refusal::Invisible),
        "the old version is not there for the next command of its updater"
    );
    first.commit();
    assert_eq!(
        second.try_update(&rel, one, 1, "mine", true),
        UpdateOutcome::Refused(Refusal::Concurrent { next, xmax: xid })
    );
    assert_eq!(second.delete(&rel, two), DeleteOutcome::Refused(Refusal::Deleted { xmax: xid }));
    second.update(&rel, next, 1, "mine");
    second.commit();
    assert_eq!(world.rows(&rel), [(1, "mine".into())]);
}

#[test]
fn a_row_changed_twice_by_one_command_is_reported() {
    let world = World::new();
    let rel = world.pairs();
    let mut session = world.session();
    let tid = session.insert(&rel, 1, "a");
    let cmax = session.txn.current_command();
    let outcome =
        session.write(|access, writer| update(access, &rel, writer, tid, &pair(1, "b"), true, false));
    let UpdateOutcome::Updated { tid: next, .. } = outcome else { panic!("{outcome:?}") };
    let again = session.write(|access, writer| delete(access, &rel, writer, tid));
    assert_eq!(again, DeleteOutcome::Refused(Refusal::SelfModified { cmax, next }));
}

#[test]
fn locks_hold_until_the_end_and_leave_no_trace() {
    let world = World::new();
    let rel = world.pairs();
    let mut setup = world.session();
    let tid = setup.insert(&rel, 1, "a");
    setup.commit();
    let (mut first, mut second) = (world.session(), world.session());
    assert_eq!(first.lock(&rel, tid, LockStrength::NoKeyUpdate), LOCKED);
    assert_eq!(first.lock(&rel, tid, LockStrength::Update), LOCKED, "upgrade");
    let xid = first.txn.xid().unwrap();
    assert_eq!(
        second.lock(&rel, tid, LockStrength::NoKeyUpdate),
        LockOutcome::Refused(Refusal::WouldBlock { xid, mine: false })
    );
    assert_eq!(second.rows(&rel).len(), 1, "readers do not care");
    first.commit();
    assert_eq!(second.lock(&rel, tid, LockStrength::Update), LOCKED);
    assert!(second.update(&rel, tid, 1, "b").1);
    second.commit();
    assert_eq!(world.rows(&rel), [(1, "b".into())]);
}

#[test]
fn hot_updates_stay_on_their_page() {
    let world = World::new();
    let rel = world.pairs();
    let mut setup = world.session();
    let root = setup.insert(&rel, 1, "0");
    setup.commit();
    for i in 0..2000 {
        let mut session = world.session();
        let (found, row) = session.fetch(&rel, root);
        assert_eq!(
            (found, row.unwrap().1),
            (Fetched::Visible, i.to_string()),
            "the root leads to the live version"
        );
        let tid = session.scan(&rel)[0].0;
        let (_, hot) = session.update(&rel, tid, 1, &(i + 1).to_string());
        assert!(hot);
        session.commit();
    }
    assert_eq!(world.pool.nblocks(rel.desc.file, Fork::Main).unwrap(), 1, "pruning made room all the time");
    world.check_redo(&[&rel]);
}

#[test]
fn an_old_snapshot_keeps_its_versions() {
    let world = World::new();
    let rel = world.pairs();
    let mut setup = world.session();
    let root = setup.insert(&rel, 1, "old");
    setup.commit();
    let mut reader = world.session();
    let snapshot = reader.txn.statement_snapshot().unwrap();
    let mut tid = root;
    for i in 0..300 {
        let mut session = world.session();
        tid = session.update(&rel, tid, 1, &format!("{i:0>100}")).0;
        session.commit();
    }
    let mut out = HeapTuple::new();
    let found =
        reader.look_with(&snapshot, |access, view| fetch(access, &rel, view, root, &mut out)).unwrap();
    assert_eq!(found, Fetched::Visible);
    assert_eq!(decode(&rel, &out.get().unwrap()).1, "old");
    drop(snapshot);
    reader.commit();
    assert_eq!(world.rows(&rel), [(1, format!("{:0>100}", 299))]);
}

#[test]
fn an_update_moves_to_another_page_when_it_must() {
    let world = World::new();
    let rel = world.pairs();
    let mut setup = world.session();
    let tids: Vec<Tid> = (0..4).map(|key| setup.insert(&rel, key, &"x".repeat(1900))).collect();
    setup.commit();
    assert_eq!(tids[3].block, BlockNo(0));
    let mut session = world.session();
    let (next, hot) = session.update(&rel, tids[0], 0, &"y".repeat(1900));
    assert!(!hot && next.block == BlockNo(1));
    let mut out = HeapTuple::new();
    assert!(fetch_version(&world.access(), &rel, tids[0], &mut out).unwrap());
    assert_eq!(out.get().unwrap().header().ctid, next);
    session.commit();
    assert_eq!(world.rows(&rel)[0].1, "y".repeat(1900));
    world.check_redo(&[&rel]);
}

#[test]
fn batches_fill_pages_and_redo_the_same() {
    let world = World::new();
    let rel = world.pairs();
    let rows: Vec<Vec<Datum>> =
        (0..1000).map(|key| pair(key, &"v".repeat(key as usize % 200)).to_vec()).collect();
    let mut session = world.session();
    let mut tids = Vec::new();
    session.write(|access, writer| {
        multi_insert(
            access,
            &rel,
            writer,
            rows.iter().map(Vec::as_slice),
            InsertOptions { skip_fsm: true, ..Default::default() },
            &mut tids,
        )
    });
    session.commit();
    assert_eq!(tids.len(), 1000);
    let found = world.rows(&rel);
    assert_eq!(found.len(), 1000);
    assert!(found.iter().enumerate().all(|(i, row)| row.0 == i as i32 && row.1.len() == i % 200));
    world.check_redo(&[&rel]);
}

#[test]
fn a_row_longer_than_a_page_is_refused() {
    let world = World::new();
    let rel = world.pairs();
    let mut session = world.session();
    let xid = session.txn.xid().unwrap();
    let writer = Writer {
        xid,
        cid: session.txn.current_command(),
        me: &session.txn,
        combo: &session.combo,
        compression: Default::default(),
        chunks: None,
    };
    let values = pair(1, &noise(9000, 5));
    let error = insert(&world.access(), &rel, &writer, &values, Default::default()).unwrap_err();
    assert!(matches!(error, HeapError::RowTooBig { .. }), "{error:?}");
}

#[test]
fn unique_checks_see_what_is_not_committed() {
    let world = World::new();
    let rel = world.pairs();
    let mut writer = world.session();
    let tid = writer.insert(&rel, 1, "a");
    let other = world.session();
    let ask = |me: &Session<'_>| unique_liveness(&world.access(), &rel, &me.txn, tid).unwrap();
    let xid = writer.txn.xid().unwrap();
    assert_eq!(ask(&other), Liveness::InProgress { xid, tid });
    assert_eq!(ask(&writer), Liveness::Live { tid });
    writer.commit();
    assert_eq!(ask(&other), Liveness::Live { tid });
    let mut deleter = world.session();
    deleter.delete(&rel, tid);
    let xid = deleter.txn.xid().unwrap();
    assert_eq!(ask(&other), Liveness::InProgress { xid, tid }, "the deleter may yet abort");
    assert_eq!(ask(&deleter), Liveness::Dead { all_dead: false });
    deleter.commit();
    assert!(matches!(ask(&other), Liveness::Dead { .. }));
}

/// A page whose base cannot express a new xid gets another base: old rows are frozen, dead ones stay dead, and life goes on.
#[test]
fn pages_follow_the_xids_beyond_32_bits() {
    let world = World::starting_at(64, Xid((1_u64 << 33).next_multiple_of(txn::clog::XIDS_PER_PAGE)));
    let rel = world.pairs();
    let mut setup = world.session();
    let kept = setup.insert(&rel, 1, "kept");
    let deleted = setup.insert(&rel, 2, "deleted");
    let locked = setup.insert(&rel, 3, "locked");
    setup.commit();
    let mut aborted = world.session();
    let rolled_back = aborted.insert(&rel, 4, "rolled back");
    aborted.delete(&rel, kept);
    let last = aborted.txn.xid().unwrap();
    aborted.abort();
    let mut deleter = world.session();
    deleter.delete(&rel, deleted);
    deleter.lock(&rel, locked, LockStrength::Update);
    let last = last.max(deleter.txn.xid().unwrap());
    deleter.commit();
    {
        // As if the page had been written long ago: the next xid is just out of its reach.
        let pin = world.pool.read(crate::fetch::heap_tag(&rel, BlockNo(0))).unwrap();
        let mut page = pin.exclusive();
        let bases = crate::header::Bases { xid: last.0 - u64::from(u32::MAX), multi: 0 };
        ops::rebase(&mut page, &ops::RebasePlan { bases, ..Default::default() }).unwrap();
        page.mark_dirty();
    }
    let mut session = world.session();
    assert_eq!(session.rows(&rel), [(1, "kept".into()), (3, "locked".into())]);
    session.insert(&rel, 5, "new");
    assert!(session.update(&rel, kept, 1, "kept on").1);
    session.commit();
    let rows = world.rows(&rel);
    assert_eq!(rows, [(1, "kept on".into()), (3, "locked".into()), (5, "new".into())]);
    for gone in [deleted, rolled_back] {
        assert_eq!(world.session().fetch(&rel, gone).0, Fetched::AllDead);
    }
}

#[test]
fn exact_places_and_places_that_are_not_there() {
    let world = World::new();
    let rel = world.pairs();
    let mut session = world.session();
    let tid = session.insert(&rel, 1, "a");
    let (next, _) = session.update(&rel, tid, 1, "b");
    let mut exact = |tid| {
        let mut out = HeapTuple::new();
        session.look(|access, view| fetch_exact(access, &rel, view, tid, &mut out)).unwrap()
    };
    assert!(exact(next));
    assert!(!exact(tid), "the old version is not visible, and the chain is not followed");
    assert!(!exact(Tid::new(BlockNo(0), 77)));
    assert!(!exact(Tid::new(BlockNo(99), 1)));
}

#[test]
fn counters_are_overwritten_in_place() {
    let world = World::new();
    let rel = world.pairs();
    let mut session = world.session();
    let tid = session.insert(&rel, 1, "abc");
    session.commit();
    let overwrite = |key, value| {
        update_in_place(&world.access(), &rel, tid, |values| {
            values.clone_from_slice(&pair(key, value));
            true
        })
    };
    assert_eq!(overwrite(7, "xyz").unwrap(), None);
    assert_eq!(world.rows(&rel), [(7, "xyz".into())]);
    assert!(overwrite(7, "longer").is_err());
    assert_eq!(world.rows(&rel), [(7, "xyz".into())]);
    // Not while somebody replaces the row, nor afterwards in a version that nobody sees any more.
    let mut writer = world.session();
    writer.update(&rel, tid, 8, "new");
    overwrite(9, "old").unwrap();
    assert_eq!(world.rows(&rel), [(7, "xyz".into())]);
    writer.commit();
    overwrite(9, "old").unwrap();
    assert_eq!(world.rows(&rel), [(8, "new".into())]);
    world.check_redo(&[&rel]);
}

#[test]
fn a_row_that_is_taken_back_was_never_there() {
    let world = World::new();
    let rel = world.pairs();
    let mut session = world.session();
    let tid = session.write(|access, writer| {
        let tid = insert(access, &rel, writer, &pair(1, "x"), Default::default())?;
        take_back(access, &rel, writer, tid).map(|_| tid)
    });
    assert_eq!(session.rows(&rel), [], "to its own command");
    session.txn.next_command().unwrap();
    assert_eq!(session.rows(&rel), [], "to later ones");
    assert_eq!(world.rows(&rel), []);
    session.commit();
    assert_eq!(world.rows(&rel), []);
    assert_eq!(world.session().fetch(&rel, tid).0, Fetched::AllDead);
}

/// The shortcuts past old versions are taken by those whom they serve only, and as long as they lead where they did.
#[test]
fn every_snapshot_finds_its_version_of_a_long_chain() {
    let world = World::new();
    let rel = world.pairs();
    let mut setup = world.session();
    let root = setup.insert(&rel, 1, "0");
    setup.commit();
    let mut readers = Vec::new();
    let (mut tid, mut value) = (root, 0);
    for round in 0..400 {
        if round % 40 == 0 {
            let mut reader = world.session();
            let snapshot = reader.txn.statement_snapshot().unwrap();
            readers.push((reader, snapshot, value));
        }
        // One in three is rolled back, and one updates the row several times.
        let mut session = world.session();
        let mut at = tid;
        for step in 0..if round % 5 == 0 { 3 } else { 1 } {
            let (next, hot) = session.update(&rel, at, 1, &(round + 1).to_string());
            assert_eq!(session.fetch(&rel, root).1.is_some(), hot, "step {step}");
            if !hot {
                break;
            }
            at = next;
        }
        let hot = session.fetch(&rel, root).1.is_some();
        if round % 3 == 1 || !hot {
            session.abort();
        } else {
            session.commit();
            (tid, value) = (at, round + 1);
        }
        for (reader, snapshot, seen) in &readers {
            let mut out = HeapTuple::new();
            let found =
                reader.look_with(snapshot, |access, view| fetch(access, &rel, view, root, &mut out)).unwrap();
            assert_eq!(found, Fetched::Visible, "round {round}");
            assert_eq!(decode(&rel, &out.get().unwrap()).1, seen.to_string(), "round {round}");
        }
        // The oldest goes, so that the page can be pruned and places are used again.
        if round % 90 == 89 {
            let (reader, snapshot, _) = readers.remove(0);
            drop(snapshot);
            reader.commit();
        }
        let mut fresh = world.session();
        assert_eq!(fresh.fetch(&rel, root).1, Some((1, value.to_string())), "round {round}");
        fresh.commit();
    }
    for (reader, snapshot, _) in readers {
        drop(snapshot);
        reader.commit();
    }
    // Once nobody needs any version, its entry may go, whichever way was taken.
    let mut last = world.session();
    last.delete(&rel, tid);
    last.commit();
    let mut fresh = world.session();
    assert_eq!(fresh.fetch(&rel, root).0, Fetched::AllDead);
    fresh.commit();
    world.check_redo(&[&rel]);
}

/// A shortcut that leads back to where the chain begins today is no circle.
#[test]
fn the_last_version_is_found_in_a_chain_that_fills_its_page() {
    let world = World::new();
    let rel = world.pairs();
    let mut setup = world.session();
    let root = setup.insert(&rel, 1, "0");
    setup.commit();
    let mut old = world.session();
    let snapshot = old.txn.statement_snapshot().unwrap();
    let mut tid = root;
    for _ in 0..30 {
        let mut session = world.session();
        tid = session.update(&rel, tid, 1, "1").0;
        session.commit();
    }
    // Its way is long, for the old snapshot keeps all versions.
    let mut reader = world.session();
    assert_eq!(reader.fetch(&rel, root).1, Some((1, "1".to_owned())));
    reader.commit();
    drop(snapshot);
    old.commit();
    world.vacuum(&rel, &mut TestIndex::default());
    let mut session = world.session();
    let mut versions = 0;
    loop {
        let (next, hot) = session.update(&rel, tid, 1, &versions.to_string());
        if !hot {
            break;
        }
        (tid, versions) = (next, versions + 1);
        let found = session.fetch(&rel, root).1;
        assert_eq!(found, Some((1, (versions - 1).to_string())), "version {versions}");
    }
    assert!(versions > 100);
    session.commit();
}
