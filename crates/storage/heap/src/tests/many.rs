//! Rows that are deleted, or taken over from another table, many at a time.

use std::sync::Arc;

use base::Tid;
use tuple::{Attr, Datum, Physical, RowLayout};

use super::world::*;
use crate::header::{Header, infomask, infomask2, read_header};
use crate::*;

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

/// Deletes rows of one page; how many.
fn delete_rows(session: &mut Session<'_>, rel: &HeapRel, tids: &[Tid]) -> usize {
    let places: Vec<_> = tids.iter().map(|tid| tid.offset).collect();
    let done =
        session.write(|access, writer| crate::delete_rows(access, rel, writer, (tids[0].block, &places)));
    session.txn.next_command().unwrap();
    done
}

#[test]
fn rows_that_are_deleted_together_cost_one_record() {
    let world = World::new();
    let rel = world.pairs();
    let tids = rows(&world, &rel, 100);
    world.vacuum(&rel, &mut TestIndex::default());
    let chosen: Vec<Tid> = tids.iter().copied().step_by(3).collect();
    let mut session = world.session();
    // The first change of a page logs an image of it, and the visibility map is cleared.
    session.delete(&rel, tids[1]);
    let before = log_end(&world);
    assert_eq!(delete_rows(&mut session, &rel, &chosen), chosen.len());
    let bytes = log_end(&world) - before;
    assert!(bytes < 120, "{bytes} bytes of log");
    assert_eq!(session.rows(&rel).len(), 100 - 1 - chosen.len());
    let mut other = world.session();
    assert_eq!(other.rows(&rel).len(), 100, "others see them until that commits");
    for tid in &chosen {
        let header = header(&world, &rel, *tid);
        assert_eq!((header.raw_xmax, header.ctid), (session.txn.xid().unwrap(), *tid));
        assert_eq!(header.infomask2 & infomask2::XMAX_BITS, infomask2::KEYS_UPDATED);
        assert_eq!(header.infomask & infomask::XMAX_BITS, 0);
    }
    other.commit();
    session.commit();
    world.check_redo(&[&rel]);
    let stats = world.vacuum(&rel, &mut TestIndex::default());
    assert_eq!(stats.tuples_removed as usize, 1 + chosen.len(), "the page is told to be looked at");
    world.check_redo(&[&rel]);
}

#[test]
fn a_batch_ends_before_a_row_that_somebody_holds_or_has_changed() {
    let world = World::new();
    let rel = world.pairs();
    let tids = rows(&world, &rel, 10);
    let mut other = world.session();
    other.lock(&rel, tids[3], LockStrength::KeyShare);
    other.update(&rel, tids[6], 6, "new");
    let mut session = world.session();
    assert_eq!(delete_rows(&mut session, &rel, &tids), 3);
    assert_eq!(delete_rows(&mut session, &rel, &tids[3..]), 0);
    assert_eq!(delete_rows(&mut session, &rel, &tids[4..]), 2);
    assert_eq!(delete_rows(&mut session, &rel, &tids[..1]), 0, "deleted by an earlier command");
    other.commit();
    assert_eq!(delete_rows(&mut session, &rel, &tids[3..4]), 1, "a lock that has ended is none");
    session.lock(&rel, tids[9], LockStrength::KeyShare);
    assert_eq!(delete_rows(&mut session, &rel, &tids[7..]), 2, "its own lock is to be kept in mind");
    assert_eq!(session.delete(&rel, tids[9]), DeleteOutcome::Deleted);
    session.abort();
    assert_eq!(world.rows(&rel).len(), 10);
    world.check_redo(&[&rel]);
}

#[test]
fn own_rows_are_deleted_together_by_a_later_command_only() {
    let world = World::new();
    let rel = world.pairs();
    let mut session = world.session();
    let tids: Vec<Tid> = (0..5).map(|key| session.insert(&rel, key, "row")).collect();
    assert_eq!(delete_rows(&mut session, &rel, &tids[..3]), 3);
    assert_eq!(session.rows(&rel).len(), 2);
    let mine: Vec<_> = (0..2)
        .map(|key| {
            session.write(|access, writer| insert(access, &rel, writer, &pair(key, "x"), Default::default()))
        })
        .collect();
    assert_eq!(delete_rows(&mut session, &rel, &mine), 0, "the command that inserts does not see them");
    assert_eq!(delete_rows(&mut session, &rel, &mine), 2);
    session.commit();
    assert_eq!(world.rows(&rel).len(), 2);
    world.check_redo(&[&rel]);
}

#[test]
fn rows_with_values_stored_elsewhere_are_deleted_alone() {
    let world = World::new();
    let rel = world.toasted(b'x');
    let mut session = world.session();
    let small = session.insert(&rel, 1, "small");
    let large = session.insert(&rel, 2, &noise(50_000, 1));
    assert_eq!(delete_rows(&mut session, &rel, &[small, large]), 1);
    assert_eq!(delete_rows(&mut session, &rel, &[large]), 0);
    assert_eq!(session.delete(&rel, large), DeleteOutcome::Deleted);
    session.commit();
    let toast = rel.desc.toast.as_ref().unwrap();
    world.check_redo(&[&rel, &toast.rel]);
}

/// Copies all rows of one table to another that stores rows alike; how many were not whole.
fn copy(session: &mut Session<'_>, from: &Arc<HeapRel>, to: &HeapRel, options: InsertOptions) -> usize {
    assert!(stores_alike(&from.desc.layout, &to.desc.layout));
    let (mut formed, mut left) = (FormedRows::default(), 0);
    session
        .look(|access, view| {
            let mut scan = HeapScan::new(access, from.clone(), None)?;
            while let Some(row) = scan.next(access, view)? {
                match row.is_whole(to.desc.layout.len()) {
                    true => formed.add_stored(&row, options),
                    false => left += 1,
                }
            }
            Ok::<_, HeapError>(())
        })
        .unwrap();
    session.write(|access, writer| formed.insert(access, to, writer, options, &mut Vec::new()));
    session.txn.next_command().unwrap();
    left
}

#[test]
fn of_rows_that_are_taken_over_nothing_but_the_columns_goes_with_them() {
    let world = World::new();
    let (from, to) = (world.pairs(), world.pairs());
    let mut setup = world.session();
    let tids: Vec<Tid> = (0..300).map(|key| setup.insert(&from, key, &"v".repeat(key as usize))).collect();
    setup.commit();
    let mut setup = world.session();
    // Heap-only versions, versions with combos, with an updater that aborted, and with locks.
    setup.update(&from, tids[0], 0, "hot");
    let (again, _) = setup.update(&from, tids[1], 1, "once");
    setup.update(&from, again, 1, "twice");
    setup.commit();
    let mut aborted = world.session();
    aborted.update(&from, tids[2], 2, "never");
    aborted.delete(&from, tids[3]);
    aborted.abort();
    let mut locker = world.session();
    locker.lock(&from, tids[4], LockStrength::Update);
    let mut session = world.session();
    assert_eq!(copy(&mut session, &from, &to, InsertOptions::default()), 0);
    let (expected, copied) = (session.rows(&from), session.scan(&to));
    let xid = session.txn.xid().unwrap();
    for (tid, _) in &copied {
        let header = header(&world, &to, *tid);
        assert_eq!((header.raw_xmin, header.ctid), (xid, *tid));
        assert_eq!(header.infomask, infomask::XMAX_INVALID | infomask::HAS_VARLENA);
        assert_eq!(header.infomask2, 2);
    }
    let mut copied: Vec<_> = copied.into_iter().map(|(_, row)| row).collect();
    copied.sort();
    assert_eq!(copied, expected);
    session.commit();
    locker.abort();
    assert_eq!(world.rows(&to), expected);
    world.check_redo(&[&from, &to]);
}

#[test]
fn compressed_values_are_taken_over_as_they_are_and_others_are_not_whole() {
    let world = World::new();
    let (from, to) = (world.toasted(b'x'), world.toasted(b'x'));
    let mut session = world.session();
    session.insert(&from, 1, &"a".repeat(100_000));
    session.insert(&from, 2, &noise(50_000, 1));
    session.insert(&from, 3, "small");
    assert_eq!(copy(&mut session, &from, &to, InsertOptions::default()), 1, "one is stored elsewhere");
    let rows = session.look(|access, view| {
        let mut scan = HeapScan::new(access, to.clone(), None).unwrap();
        let mut rows = Vec::new();
        while let Some(row) = scan.next(access, view).unwrap() {
            rows.push(row.decode_column(&to.desc.layout, 1).unwrap());
        }
        rows
    });
    assert!(matches!(&rows[0], Datum::Toasted(_)), "{rows:?}");
    let whole = detoast(&world.access(), to.desc.toast.as_ref(), &rows[0]).unwrap();
    assert_eq!(whole, Datum::text(&"a".repeat(100_000)));
    assert_eq!(rows[1..], [Datum::text("small")]);
    session.commit();
}

#[test]
fn rows_that_are_taken_over_can_be_frozen_and_keep_their_nulls() {
    let world = World::new();
    let attr = |physical, align| Attr { physical, align, storage: b'x', compression: None };
    let layout =
        || RowLayout::new(vec![attr(Physical::Int4, 4), attr(Physical::Varlena, 4), attr(Physical::Int8, 8)]);
    let (from, to) = (world.table(layout(), None), world.table(layout(), None));
    let mut session = world.session();
    let values = [Datum::Null, Datum::text("x"), Datum::Int8(7)];
    session.write(|access, writer| insert(access, &from, writer, &values, Default::default()));
    // A row of fewer columns than the table has by now.
    session.write(|access, writer| insert(access, &from, writer, &values[..2], Default::default()));
    session.txn.next_command().unwrap();
    assert_eq!(copy(&mut session, &from, &to, InsertOptions { skip_fsm: true, frozen: true }), 1);
    let header = header(&world, &to, Tid::new(base::BlockNo(0), 1));
    assert!(header.xmin_frozen() && header.has(infomask::HAS_NULL));
    let row = session.look(|access, view| {
        let mut scan = HeapScan::new(access, to.clone(), None).unwrap();
        let mut row = Vec::new();
        scan.next(access, view).unwrap().unwrap().decode(&to.desc.layout, 3, &mut row).unwrap();
        row
    });
    assert_eq!(row, values);
    session.commit();
    world.check_redo(&[&from, &to]);
    let other = RowLayout::new(vec![attr(Physical::Int4, 4), attr(Physical::Varlena, 4)]);
    assert!(!stores_alike(&other, &layout()));
    let other =
        RowLayout::new(vec![attr(Physical::Int4, 4), attr(Physical::Varlena, 8), attr(Physical::Int8, 8)]);
    assert!(!stores_alike(&other, &layout()), "an array is not where a text would be");
}
