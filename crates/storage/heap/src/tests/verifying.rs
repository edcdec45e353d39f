//! The verifier: sound tables have nothing wrong with them, and each kind of damage is named.

use std::sync::Arc;

use base::{BlockNo, Fork, Tid};
use page::{LinePointer, LpFlags, PageBytes};

use super::world::*;
use crate::fetch::heap_tag;
use crate::header::{Bases, INFOMASK, infomask, read_header};
use crate::verify::{Skip, Target, Verifier, VerifyOptions, target};
use crate::*;

/// What is wrong with a table: block, offset, message.
fn found(world: &World, rel: &HeapRel) -> Vec<String> {
    let access = world.access();
    let options = VerifyOptions { skip: Skip::None, toast: true, oldest: Default::default() };
    let mut verifier = Verifier::new(&access, rel, options);
    let pages = world.pool.nblocks(rel.desc.file, Fork::Main).unwrap();
    let findings = (0..pages).flat_map(|block| verifier.page(BlockNo(block)).unwrap());
    let offset = |n: Option<u16>| n.map_or("page".into(), |n| n.to_string());
    findings.map(|one| format!("{} {}: {}", one.block, offset(one.offset), one.message)).collect()
}

/// Rows 1 to 20; the first ones updated, locked, deleted, rolled back.
fn table(world: &World) -> Arc<HeapRel> {
    let rel = world.pairs();
    let mut session = world.session();
    let tids: Vec<Tid> = (1..=20).map(|key| session.insert(&rel, key, "value")).collect();
    session.commit();
    let mut session = world.session();
    session.update(&rel, tids[0], 1, "new value");
    session.delete(&rel, tids[1]);
    session.lock(&rel, tids[2], LockStrength::KeyShare);
    session.commit();
    let mut session = world.session();
    session.update(&rel, tids[3], 4, "never");
    session.insert(&rel, 21, "never");
    session.abort();
    rel
}

/// The first page is changed as if by damage that no check sum tells of.
fn damaged(change: impl FnOnce(&mut PageBytes)) -> Vec<String> {
    let world = World::new();
    let rel = table(&world);
    assert_eq!(found(&world, &rel), Vec::<String>::new());
    {
        let pin = world.pool.read(heap_tag(&rel, BlockNo(0))).unwrap();
        let mut page = pin.exclusive();
        change(&mut page);
        page.mark_dirty();
    }
    found(&world, &rel)
}

fn tuple(page: &mut PageBytes, n: u16) -> &mut [u8] {
    page::item_mut(page, n).unwrap()
}

#[test]
fn sound_tables_have_nothing_wrong_with_them() {
    let world = World::new();
    let rel = table(&world);
    let open = world.session();
    let mut writer = world.session();
    writer.insert(&rel, 30, "running");
    let (mut one, mut two) = (world.session(), world.session());
    for session in [&mut one, &mut two] {
        session.lock(&rel, Tid::new(BlockNo(0), 9), LockStrength::Share);
    }
    assert_eq!(found(&world, &rel), Vec::<String>::new());
    [open, writer, one, two].into_iter().for_each(Session::commit);
    assert_eq!(found(&world, &rel), Vec::<String>::new());
    // What a transaction updated that it had written, before it was rolled back.
    let mut session = world.session();
    let tid = session.insert(&rel, 31, "own");
    let (tid, hot) = session.update(&rel, tid, 31, "own again");
    session.update(&rel, tid, 31, "and again");
    session.abort();
    assert!(hot);
    world.rows(&rel);
    assert_eq!(found(&world, &rel), Vec::<String>::new());
    // Pruned, frozen, all-visible.
    world.vacuum(&rel, &mut TestIndex::default());
    world.vacuum(&rel, &mut TestIndex::default());
    assert_eq!(found(&world, &rel), Vec::<String>::new());
}

#[test]
fn line_pointers() {
    let lp = |offset, flags, len| LinePointer { offset, flags, len };
    let one = |n, lp| damaged(move |page| page::set_line_pointer(page, n, lp));
    let wrong = one(5, lp(8001, LpFlags::Normal, 40));
    assert_eq!(wrong, ["0 5: line pointer to page offset 8001 is not maximally aligned"]);
    let wrong = one(5, lp(8000, LpFlags::Normal, 8));
    assert_eq!(wrong, ["0 5: line pointer length 8 is less than the minimum tuple header size 23"]);
    let wrong = one(5, lp(8000, LpFlags::Normal, 4000));
    assert_eq!(
        wrong,
        ["0 5: line pointer to page offset 8000 with length 4000 ends beyond maximum page offset 8176"]
    );
    let wrong = one(5, LinePointer::redirect(99));
    assert_eq!(wrong, ["0 5: line pointer redirection to item at offset 99 exceeds maximum offset 23"]);
    let wrong = one(5, LinePointer::redirect(6));
    assert_eq!(wrong, ["0 5: redirected line pointer points to a non-heap-only tuple at offset 6"]);
    // The same bytes twice.
    let wrong = damaged(|page| {
        let other = page::line_pointer(page, 6).unwrap();
        page::set_line_pointer(page, 5, other);
    });
    assert_eq!(wrong.len(), 1);
    assert!(wrong[0].contains("line pointer shares bytes with the one at offset 5"), "{wrong:?}");
}

#[test]
fn headers_and_transactions() {
    // From the future.
    let wrong = damaged(|page| tuple(page, 5)[..4].copy_from_slice(&900_000u32.to_le_bytes()));
    assert_eq!(wrong.len(), 1);
    assert!(
        wrong[0].starts_with("0 5: xmin 900000 equals or exceeds next valid transaction ID"),
        "{wrong:?}"
    );
    // None.
    let wrong = damaged(|page| tuple(page, 5)[..4].fill(0));
    assert_eq!(wrong, ["0 5: xmin is invalid"]);
    // A hint that is not true: the row of the transaction that was rolled back.
    let wrong = damaged(|page| {
        let n = (1..=page::max_offset(page))
            .find(|&n| read_header(page, n).is_some_and(|h| h.is_heap_only() && h.raw_xmin.0 > 4));
        let bytes = tuple(page, n.unwrap());
        let mask = (infomask::XMIN_COMMITTED | infomask::XMAX_INVALID | infomask::HAS_VARLENA).to_le_bytes();
        bytes[INFOMASK..INFOMASK + 2].copy_from_slice(&mask);
    });
    assert!(
        wrong.iter().any(|one| one.contains("is marked committed, but it is aborted in the commit log")),
        "{wrong:?}"
    );
    // Where data begins.
    let wrong = damaged(|page| tuple(page, 5)[22] = 32);
    assert!(
        wrong[0].starts_with("0 5: tuple data should begin at byte 24, but actually begins at byte 32"),
        "{wrong:?}"
    );
    let wrong = damaged(|page| tuple(page, 5)[22] = 7);
    assert!(wrong[0].contains("but actually begins at byte 7"), "{wrong:?}");
    let wrong = damaged(|page| tuple(page, 5)[18] = 9);
    assert_eq!(wrong, ["0 5: number of attributes 9 exceeds maximum 2 expected for table"]);
    // A set that there is not.
    let wrong = damaged(|page| {
        let bytes = tuple(page, 5);
        let mask = (infomask::XMAX_IS_MULTI | infomask::XMIN_COMMITTED | infomask::HAS_VARLENA).to_le_bytes();
        bytes[INFOMASK..INFOMASK + 2].copy_from_slice(&mask);
        bytes[4..8].copy_from_slice(&77u32.to_le_bytes());
    });
    assert_eq!(wrong, ["0 5: multitransaction ID 77 equals or exceeds next valid multitransaction ID 1"]);
}

#[test]
fn chains_and_columns() {
    // The new version of row 1 is the last but some; its chain is cut.
    let wrong = damaged(|page| {
        let bytes = tuple(page, 1);
        bytes[16..18].copy_from_slice(&9u16.to_le_bytes());
    });
    assert!(
        wrong.iter().any(|one| one.contains("is root of chain but is marked as heap-only tuple")),
        "{wrong:?}"
    );
    // A version that is not heap-only any more.
    let wrong = damaged(|page| {
        let to = read_header(page, 1).unwrap().ctid.offset;
        tuple(page, to)[19] &= 0x7f;
    });
    assert_eq!(wrong.len(), 1);
    assert!(
        wrong[0].starts_with("0 1: heap-only update produced a non-heap only tuple at offset"),
        "{wrong:?}"
    );
    // A length that goes beyond the row.
    let wrong = damaged(|page| {
        let bytes = tuple(page, 5);
        let at = 24 + 4;
        bytes[at] = 0xff;
    });
    assert_eq!(wrong.len(), 1);
    assert!(wrong[0].starts_with("0 5: "), "{wrong:?}");
    assert!(wrong[0].contains("attribute"), "{wrong:?}");
}

#[test]
fn marks_of_visibility() {
    let world = World::new();
    let rel = table(&world);
    world.vacuum(&rel, &mut TestIndex::default());
    world.vacuum(&rel, &mut TestIndex::default());
    let change = |change: &dyn Fn(&mut PageBytes)| {
        let pin = world.pool.read(heap_tag(&rel, BlockNo(0))).unwrap();
        let mut page = pin.exclusive();
        change(&mut page);
    };
    change(&|page| page::set_flag(page, page::flags::ALL_VISIBLE, false));
    let wrong = found(&world, &rel);
    assert_eq!(
        wrong,
        ["0 page: page is not marked all-visible in page header but visibility map bit is set"]
    );
    change(&|page| page::set_flag(page, page::flags::ALL_VISIBLE, true));
    assert_eq!(found(&world, &rel), Vec::<String>::new());
    change(&|page| page::set_line_pointer(page, 2, LinePointer::DEAD));
    let wrong = found(&world, &rel);
    assert_eq!(wrong, ["0 2: line pointer is dead on a page that is marked all-visible"]);
}

#[test]
fn chunks_of_large_values() {
    let world = World::new();
    let rel = world.toasted(b'e');
    let mut session = world.session();
    session.insert(&rel, 1, &noise(10_000, 3));
    session.commit();
    assert_eq!(found(&world, &rel), Vec::<String>::new());
    let toast = &rel.desc.toast.as_ref().unwrap().rel;
    let last =
        (0..world.pool.nblocks(toast.desc.file, Fork::Main).unwrap()).map(BlockNo).next_back().unwrap();
    let pin = world.pool.read(heap_tag(toast, last)).unwrap();
    {
        let mut page = pin.exclusive();
        let n = page::max_offset(&page);
        page::set_line_pointer(&mut page, n, LinePointer::UNUSED);
    }
    drop(pin);
    let wrong = found(&world, &rel);
    assert_eq!(wrong.len(), 1);
    assert!(
        wrong[0].contains("was expected to end at chunk 5, but ended while expecting chunk 5"),
        "{wrong:?}"
    );
}

#[test]
fn what_index_entries_lead_to() {
    let world = World::new();
    let rel = table(&world);
    let access = world.access();
    let target = |block, offset| target(&access, &rel, Tid::new(BlockNo(block), offset)).unwrap();
    assert_eq!((target(0, 1), target(0, 99), target(7, 1)), (Target::Root, Target::Nothing, Target::Nothing));
    let pin = world.pool.read(heap_tag(&rel, BlockNo(0))).unwrap();
    let next = read_header(&pin.shared(), 1).unwrap().ctid.offset;
    assert_eq!(target(0, next), Target::HeapOnly);
    page::set_line_pointer(&mut pin.exclusive(), 5, LinePointer::UNUSED);
    assert_eq!(target(0, 5), Target::Unused);
}

#[test]
fn no_damage_makes_it_panic() {
    let mut state = 7u64;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let world = World::new();
    let rel = table(&world);
    let pin = world.pool.read(heap_tag(&rel, BlockNo(0))).unwrap();
    let sound = *pin.shared();
    for _ in 0..2000 {
        let mut page = pin.exclusive();
        *page = sound;
        for _ in 0..=next() % 4 {
            let at = if next().is_multiple_of(2) { 8000 + next() % 192 } else { next() % 8192 };
            page[at as usize] = next() as u8;
        }
        drop(page);
        let _ = Bases::of(&pin.shared());
        found(&world, &rel);
    }
}
