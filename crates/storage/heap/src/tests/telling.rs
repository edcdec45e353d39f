//! What records say to decoders of the log.

use std::sync::Arc;

use base::Oid;
use tuple::Datum;
use wal::Rmgr;

use super::world::{World, pair, pair_layout};
use crate::logical::{Change, ChangeKind, OldRow, change_of, columns_of};
use crate::{HeapRel, Identity, Logged};

fn table(world: &World, identity: Identity) -> Arc<HeapRel> {
    let description = b"description".as_slice().into();
    let logged = Logged::Table { oid: Oid(16384), description, identity };
    world.logged_table(pair_layout(), None, Some(Arc::new(logged)))
}

/// What the log says, in order.
fn told(world: &World) -> Vec<Change> {
    world.log().filter_map(|record| change_of(&record)).collect()
}

fn row(bytes: &[u8]) -> Vec<Datum> {
    columns_of(bytes, &pair_layout()).unwrap()
}

fn old(old: &Option<OldRow>) -> Option<(bool, Vec<Datum>)> {
    old.as_ref().map(|old| (old.full, row(&old.row)))
}

fn key(key: i32) -> Vec<Datum> {
    vec![Datum::Int4(key), Datum::Null]
}

#[test]
fn every_change_is_told_with_its_rows() {
    let world = World::new();
    let rel = table(&world, Identity::Columns([0].into()));
    let mut session = world.session();
    let tid = session.insert(&rel, 1, "one");
    session.commit();
    // From here on the first change of the page logs it whole.
    world.pool.wal().begin_checkpoint();
    let mut session = world.session();
    let (tid, _) = session.update(&rel, tid, 1, "two");
    let (tid, _) = session.update(&rel, tid, 5, "two");
    let rows = [pair(7, "a"), pair(8, "b")];
    session.write(|access, writer| {
        let rows = rows.iter().map(|row| row.as_slice());
        crate::multi_insert(access, &rel, writer, rows, Default::default(), &mut Vec::new())
    });
    // To another page.
    while session.insert(&rel, 9, &"x".repeat(1000)).block == tid.block {}
    let (tid, _) = session.update(&rel, tid, 5, &"y".repeat(1500));
    session.delete(&rel, tid);
    session.commit();

    let changes = told(&world);
    assert!(changes.iter().all(|change| change.relation == Oid(16384) && change.file == rel.desc.file));
    let ChangeKind::Insert(rows) = &changes[0].kind else { panic!("{:?}", changes[0]) };
    assert_eq!(rows.iter().map(|(_, bytes)| row(bytes)).collect::<Vec<_>>(), [pair(1, "one")]);
    let ChangeKind::Update { old: none, new } = &changes[1].kind else { panic!("{:?}", changes[1]) };
    assert_eq!((old(none), row(new)), (None, pair(1, "two").to_vec()));
    let ChangeKind::Update { old: some, new } = &changes[2].kind else { panic!("{:?}", changes[2]) };
    assert_eq!((old(some), row(new)), (Some((false, key(1))), pair(5, "two").to_vec()));
    let ChangeKind::Insert(rows) = &changes[3].kind else { panic!("{:?}", changes[3]) };
    assert_eq!(rows.iter().map(|(_, bytes)| row(bytes)).collect::<Vec<_>>(), [pair(7, "a"), pair(8, "b")]);
    let [.., update, delete] = changes.as_slice() else { panic!("{changes:?}") };
    let ChangeKind::Update { old: none, new } = &update.kind else { panic!("{update:?}") };
    assert_eq!((old(none), row(new)), (None, pair(5, &"y".repeat(1500)).to_vec()));
    let ChangeKind::Delete(gone) = &delete.kind else { panic!("{delete:?}") };
    assert_eq!(old(gone), Some((false, key(5))));

    let described = world.log().filter(|record| record.rmgr == Rmgr::Logical).count();
    assert_eq!(described, 2, "once in each transaction");
    world.check_redo(&[&rel]);
}

#[test]
fn old_rows_are_those_of_the_identity() {
    for (identity, expected) in [
        (Identity::Nothing, None),
        (Identity::Full, Some((true, pair(1, "one").to_vec()))),
        (Identity::Columns([1].into()), Some((false, vec![Datum::Null, Datum::text("one")]))),
    ] {
        let world = World::new();
        let rel = table(&world, identity);
        let mut session = world.session();
        let tid = session.insert(&rel, 1, "one");
        session.delete(&rel, tid);
        session.commit();
        let changes = told(&world);
        let ChangeKind::Delete(gone) = &changes[1].kind else { panic!("{:?}", changes[1]) };
        assert_eq!(old(gone), expected);
    }
}

#[test]
fn subtransactions_say_whose_they_are_and_describe_anew_after_a_rollback() {
    let world = World::new();
    let rel = table(&world, Identity::Nothing);
    let mut session = world.session();
    session.insert(&rel, 1, "top");
    session.txn.push_subxact(None);
    session.insert(&rel, 2, "child");
    session.txn.rollback_current();
    session.insert(&rel, 3, "top again");
    session.commit();
    let distances: Vec<u64> = told(&world).iter().map(|change| change.distance).collect();
    assert_eq!(distances, [0, 1, 0]);
    assert_eq!(world.log().filter(|record| record.rmgr == Rmgr::Logical).count(), 2);
}

#[test]
fn what_is_taken_back_says_so() {
    let world = World::new();
    let rel = table(&world, Identity::Nothing);
    let mut session = world.session();
    let tid = session.insert(&rel, 1, "one");
    session.write(|access, writer| crate::take_back(access, &rel, writer, tid));
    session.commit();
    assert_eq!(told(&world)[1].kind, ChangeKind::TakeBack(tid));
}

#[test]
fn tables_that_are_not_logged_say_nothing() {
    let world = World::new();
    let rel = world.pairs();
    let mut session = world.session();
    let tid = session.insert(&rel, 1, "one");
    session.update(&rel, tid, 1, "two");
    session.commit();
    assert_eq!(told(&world), []);
    assert!(world.log().all(|record| record.rmgr != Rmgr::Logical));
}
