//! Tables in new files: what snapshots see there, and where updated rows lead.

use std::sync::Arc;

use base::{Fork, Tid};

use super::world::*;
use crate::rewrite::{RewriteStats, Rewriter, each_version};
use crate::*;

/// The versions of `old` in a new table, in the order that `order` makes of their places.
fn rewritten(world: &World, old: &HeapRel, order: impl Fn(&mut Vec<Tid>)) -> (Arc<HeapRel>, RewriteStats) {
    let new = world.pairs();
    let mut session = world.session();
    let xid = session.txn.xid().unwrap();
    let mut places = Vec::new();
    each_version(&world.access(), old, &mut |found| {
        places.push(found.tid);
        Ok(())
    })
    .unwrap();
    order(&mut places);
    let mut rewriter = Rewriter::new(world.access(), (old, &new), xid, Vec::new());
    session.write(|_, writer| places.iter().try_for_each(|&tid| rewriter.copy(writer, tid)));
    let stats = rewriter.finish().unwrap();
    session.commit();
    (new, stats)
}

#[test]
fn dead_rows_stay_behind_and_the_rest_is_packed() {
    let world = World::new();
    let rel = world.pairs();
    let mut setup = world.session();
    let tids: Vec<Tid> = (0..500).map(|key| setup.insert(&rel, key, &"x".repeat(100))).collect();
    tids.iter()
        .skip(1)
        .step_by(2)
        .for_each(|&tid| assert_eq!(setup.delete(&rel, tid), DeleteOutcome::Deleted));
    setup.commit();
    let mut gone = world.session();
    gone.insert(&rel, -1, "never");
    gone.abort();
    let new = world.pairs();
    let mut session = world.session();
    let xid = session.txn.xid().unwrap();
    let mut rewriter = Rewriter::new(world.access(), (&rel, &new), xid, Vec::new());
    session.write(|_, writer| rewriter.copy_all(writer, &mut |_| {}));
    let stats = rewriter.finish().unwrap();
    assert_eq!((stats.live, stats.recently_dead, stats.removed), (250, 0, 251));
    assert_eq!(world.pool.nblocks(new.desc.file, Fork::Main).unwrap(), stats.pages);
    assert!(stats.pages * 2 <= world.pool.nblocks(rel.desc.file, Fork::Main).unwrap() + 1);
    assert_eq!(world.rows(&new), world.rows(&rel));
    let mut tuple = HeapTuple::new();
    assert!(fetch_version(&world.access(), &new, Tid::new(base::BlockNo(0), 1), &mut tuple).unwrap());
    assert!(tuple.get().unwrap().header().xmin_frozen(), "everybody sees it");
    world.check_redo(&[&new]);
}

#[test]
fn an_old_snapshot_sees_what_it_saw_and_its_rows_lead_to_the_newest() {
    for backwards in [false, true] {
        let world = World::new();
        let rel = world.pairs();
        let mut setup = world.session();
        let first = setup.insert(&rel, 1, "first");
        setup.insert(&rel, 2, "kept");
        let doomed = setup.insert(&rel, 3, "doomed");
        setup.commit();
        let mut reader = world.session();
        let snapshot = reader.txn.statement_snapshot().unwrap();
        let mut writer = world.session();
        let (second, _) = writer.update(&rel, first, 1, "second");
        writer.delete(&rel, doomed);
        writer.commit();
        let mut writer = world.session();
        writer.update(&rel, second, 1, "third");
        writer.commit();
        let (new, stats) = rewritten(&world, &rel, |places| {
            if backwards {
                places.reverse();
            }
        });
        assert_eq!((stats.live, stats.recently_dead, stats.removed), (2, 3, 0));
        let seen = reader.look_with(&snapshot, |access, view| {
            let mut scan = HeapScan::new(access, new.clone(), None).unwrap();
            let mut rows = Vec::new();
            while let Some(row) = scan.next(access, view).unwrap() {
                rows.push((row.tid, decode(&new, &row)));
            }
            rows
        });
        let row = |key: i32| seen.iter().find(|(_, row)| row.0 == key).unwrap();
        assert_eq!(row(1).1.1, "first");
        assert_eq!((row(2).1.1.as_str(), row(3).1.1.as_str()), ("kept", "doomed"));
        assert_eq!(world.rows(&new), [(1, "third".into()), (2, "kept".into())]);
        // From version to version to the newest one.
        let mut at = row(1).0;
        let mut values = Vec::new();
        let mut tuple = HeapTuple::new();
        loop {
            assert!(fetch_version(&world.access(), &new, at, &mut tuple).unwrap());
            let found = tuple.get().unwrap();
            assert!(!found.header().is_heap_only() && !found.header().is_hot_updated());
            values.push(decode(&new, &found).1);
            if found.header().ctid == at {
                break;
            }
            at = found.header().ctid;
        }
        assert_eq!(values, ["first", "second", "third"]);
        world.check_redo(&[&new]);
    }
}
