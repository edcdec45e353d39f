//! Large values.

use std::sync::Arc;

use base::Tid;
use tuple::{Datum, varlena};

use super::world::*;
use crate::*;

fn read(session: &mut Session<'_>, rel: &Arc<HeapRel>, tid: Tid) -> Datum {
    let mut out = HeapTuple::new();
    assert!(session.look(|access, view| fetch_exact(access, rel, view, tid, &mut out)).unwrap());
    out.get().unwrap().decode_column(&rel.desc.layout, 1).unwrap()
}

fn whole(world: &World, rel: &HeapRel, value: &Datum) -> Datum {
    detoast(&world.access(), rel.desc.toast.as_ref(), value).unwrap()
}

#[test]
fn long_rows_are_compressed_then_moved_out() {
    let world = World::new();
    let rel = world.toasted(b'x');
    let mut session = world.session();
    let short = session.insert(&rel, 1, &"a".repeat(1500));
    assert!(
        matches!(read(&mut session, &rel, short), Datum::Bytes(_)),
        "a row that is short enough stays as it is"
    );

    let text = "a".repeat(100_000);
    let compressed = session.insert(&rel, 2, &text);
    let stored = read(&mut session, &rel, compressed);
    let Datum::Toasted(bytes) = &stored else { panic!("{stored:?}") };
    assert!(!varlena::is_external(bytes), "compression was enough");
    assert_eq!(whole(&world, &rel, &stored), Datum::text(&text));

    let text = noise(50_000, 1);
    let external = session.insert(&rel, 3, &text);
    let stored = read(&mut session, &rel, external);
    let pointer = toast::as_external(&stored).expect("moved out");
    assert_eq!((pointer.raw_size, pointer.toast_relation), (50_000, 40_000));
    assert_eq!(whole(&world, &rel, &stored), Datum::text(&text));
    session.commit();
    let toast = rel.desc.toast.as_ref().unwrap();
    world.check_redo(&[&rel, &toast.rel]);
}

#[test]
fn storage_classes_are_obeyed() {
    let world = World::new();
    let text = "a".repeat(20_000);
    for (storage, external) in [(b'e', true), (b'm', false), (b'x', false)] {
        let rel = world.toasted(storage);
        let mut session = world.session();
        let tid = session.insert(&rel, 1, &text);
        let stored = read(&mut session, &rel, tid);
        assert_eq!(toast::as_external(&stored).is_some(), external, "{}", storage as char);
        if let Some(pointer) = toast::as_external(&stored) {
            assert!(pointer.compression.is_none(), "external storage is not compressed");
        }
        assert_eq!(whole(&world, &rel, &stored), Datum::text(&text));
    }
    let rel = world.toasted(b'm');
    let mut session = world.session();
    let tid = session.insert(&rel, 1, &noise(5000, 3));
    assert!(
        matches!(read(&mut session, &rel, tid), Datum::Bytes(_)),
        "main storage stays while it fits a page"
    );
    let tid = session.insert(&rel, 1, &noise(20_000, 3));
    assert!(toast::as_external(&read(&mut session, &rel, tid)).is_some(), "and goes when it does not");
}

#[test]
fn updates_take_over_what_did_not_change() {
    let world = World::new();
    let rel = world.toasted(b'x');
    let toast = rel.desc.toast.clone().unwrap();
    let mut session = world.session();
    let text = noise(10_000, 7);
    let tid = session.insert(&rel, 1, &text);
    let chunks = session_chunks(&mut session, &toast);
    assert_eq!(chunks, 10_000usize.div_ceil(toast::CHUNK));
    let stored = read(&mut session, &rel, tid);
    let values = [Datum::Int4(2), stored.clone()];
    let outcome = session.write(|access, writer| update(access, &rel, writer, tid, &values, true, false));
    session.txn.next_command().unwrap();
    let UpdateOutcome::Updated { tid, .. } = outcome else { panic!("{outcome:?}") };
    assert_eq!(read(&mut session, &rel, tid), stored, "the pointer went over");
    assert_eq!(session_chunks(&mut session, &toast), chunks);

    let shorter = noise(5_000, 8);
    let (tid, _) = session.update(&rel, tid, 3, &shorter);
    let stored = read(&mut session, &rel, tid);
    assert_eq!(whole(&world, &rel, &stored), Datum::text(&shorter));
    assert_eq!(
        session_chunks(&mut session, &toast),
        5_000usize.div_ceil(toast::CHUNK),
        "the old value is deleted"
    );

    let copy = [Datum::Int4(4), stored.clone()];
    let other = session.write(|access, writer| insert(access, &rel, writer, &copy, Default::default()));
    session.txn.next_command().unwrap();
    let copied = read(&mut session, &rel, other);
    assert_ne!(copied, stored, "every value has one owner");
    session.delete(&rel, tid);
    assert_eq!(whole(&world, &rel, &copied), Datum::text(&shorter));
    session.delete(&rel, other);
    assert_eq!(session_chunks(&mut session, &toast), 0);
}

fn session_chunks(session: &mut Session<'_>, toast: &ToastTable) -> usize {
    session.look(|access, view| {
        let mut scan = HeapScan::new(access, toast.rel.clone(), None).unwrap();
        let mut count = 0;
        while scan.next(access, view).unwrap().is_some() {
            count += 1;
        }
        count
    })
}

#[test]
fn value_ids_in_use_are_passed_over() {
    let world = World::new();
    let rel = world.toasted(b'e');
    let mut session = world.session();
    force_value_ids(vec![77]);
    let first = session.insert(&rel, 1, &noise(3000, 1));
    force_value_ids(vec![78, 77]);
    let second = session.insert(&rel, 2, &noise(3000, 2));
    let id = |stored: Datum| toast::as_external(&stored).unwrap().value_id;
    assert_eq!(id(read(&mut session, &rel, first)), 77);
    assert_eq!(id(read(&mut session, &rel, second)), 78);
}
