//! Rows that are gathered from several pages are those that are fetched one by one.

use base::{BlockNo, OffsetNo, Tid};

use super::world::*;
use crate::*;

/// Rows at these places, gathered as often as there is room.
fn gathered(
    session: &mut Session<'_>,
    rel: &std::sync::Arc<HeapRel>,
    tids: &[Tid],
) -> Vec<(Tid, (i32, String))> {
    session.look(|access, view| {
        let (mut rows, mut found) = (GatheredRows::new(rel.clone()), Vec::new());
        let take = |rows: &mut GatheredRows, found: &mut Vec<_>| {
            let mut places = Vec::new();
            assert!(rows.places(&mut places));
            assert_eq!(places.len(), rows.left());
            assert!(places.iter().all(|place| usize::from(place.data.1) <= rows.bytes().len()));
            while let Some(row) = rows.next_row().unwrap() {
                found.push((row.tid, decode(rel, &row)));
            }
            rows.clear();
        };
        for page in tids.chunk_by(|a, b| a.block == b.block) {
            if !rows.has_room() {
                take(&mut rows, &mut found);
            }
            let roots: Vec<OffsetNo> = page.iter().map(|tid| tid.offset).collect();
            let pin = access.pool.read(crate::fetch::heap_tag(rel, page[0].block)).unwrap();
            rows.add(access, view, &pin, &roots).unwrap();
        }
        take(&mut rows, &mut found);
        found
    })
}

fn assert_as_fetched(session: &mut Session<'_>, rel: &std::sync::Arc<HeapRel>, tids: &[Tid]) {
    let one_by_one: Vec<_> = tids.iter().filter_map(|tid| session.fetch(rel, *tid).1).collect();
    let together = gathered(session, rel, tids);
    assert!(!one_by_one.is_empty());
    assert_eq!(together.into_iter().map(|(_, row)| row).collect::<Vec<_>>(), one_by_one);
}

#[test]
fn gathered_rows_are_those_that_are_fetched() {
    let world = World::new();
    let rel = world.pairs();
    let mut setup = world.session();
    let all: Vec<Tid> =
        (0..3000).map(|key| setup.insert(&rel, key, &noise(40 + key as usize % 90, key as u64))).collect();
    setup.commit();
    let mut old = world.session();
    assert_as_fetched(&mut old, &rel, &all);
    // Some of the places of each page, and one a page.
    let some: Vec<Tid> = all.iter().copied().filter(|tid| tid.offset % 3 == 1).collect();
    let lone: Vec<Tid> = all.iter().copied().filter(|tid| tid.offset == 2).collect();
    assert!(lone.len() > 20 && lone.last().unwrap().block > BlockNo(20));
    let mut writer = world.session();
    for tid in all.iter().filter(|tid| tid.offset % 5 == 0) {
        writer.delete(&rel, *tid);
    }
    let mut moved = Vec::new();
    for (key, tid) in all.iter().enumerate().filter(|(_, tid)| tid.offset % 7 == 2 && tid.offset % 5 != 0) {
        moved.push(writer.update(&rel, *tid, key as i32, "new").1);
    }
    assert!(moved.contains(&true), "no chain");
    for tids in [&all, &some, &lone] {
        assert_as_fetched(&mut old, &rel, tids);
        assert_as_fetched(&mut writer, &rel, tids);
    }
    writer.commit();
    old.commit();
    let mut index = TestIndex { entries: all.clone(), ..Default::default() };
    world.vacuum(&rel, &mut index);
    world.vacuum(&rel, &mut TestIndex { entries: index.entries.clone(), ..Default::default() });
    let mut reader = world.session();
    let left: Vec<Tid> = all.iter().copied().filter(|tid| tid.offset % 5 != 0).collect();
    for tids in [&all, &left] {
        assert_as_fetched(&mut reader, &rel, tids);
    }
    reader.commit();
}
