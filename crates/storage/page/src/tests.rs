//! Random operations on a page against a plain model, and damaged pages.

use base::{BlockNo, Lsn, PAGE_SIZE};
use proptest::prelude::*;

use crate::{
    Corrupt, HEADER_SIZE, Item, LinePointer, LpFlags, PageBytes, State, add_item, align8, compact,
    delete_items, flags, free_space, has_flag, init, insert_at, is_new, item, line_pointer, lower,
    max_offset, overwrite, past_dead, repair, set_checksum, set_line_pointer, set_lsn, special, upper,
    verify, write_blank,
};

fn empty(special: usize) -> PageBytes {
    let mut page = [0; PAGE_SIZE];
    init(&mut page, special);
    page
}

/// Invariants 1 and 2, and the model's contents.
fn check(page: &PageBytes, model: &[Option<Vec<u8>>]) {
    assert_eq!(max_offset(page) as usize, model.len());
    let mut spans = Vec::new();
    for (i, want) in model.iter().enumerate() {
        let n = i as u16 + 1;
        assert_eq!(item(page, n), want.as_deref(), "item {n}");
        if let (Some(lp), Some(_)) = (line_pointer(page, n), want) {
            spans.push((lp.offset as usize, lp.offset as usize + align8(lp.len as usize)));
        }
    }
    spans.sort();
    assert!(spans.windows(2).all(|w| w[0].1 <= w[1].0), "items overlap");
    assert!(spans.first().is_none_or(|s| s.0 >= upper(page)));
    assert!(spans.iter().all(|s| s.0 % 8 == 0 && s.1 <= PAGE_SIZE - special(page).len()));
    assert!(lower(page) <= upper(page));
}

#[derive(Clone, Debug)]
enum Op {
    Add(usize, u8),
    Free(usize),
    Repair,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => (1usize..400, any::<u8>()).prop_map(|(len, byte)| Op::Add(len, byte)),
        3 => any::<usize>().prop_map(Op::Free),
        1 => Just(Op::Repair),
    ]
}

proptest! {
    #[test]
    fn heap_pages_follow_the_model(ops in proptest::collection::vec(op(), 1..200), special_size in prop_oneof![Just(0usize), Just(16)]) {
        let mut page = empty(special_size);
        let mut model: Vec<Option<Vec<u8>>> = Vec::new();
        for op in ops {
            match op {
                Op::Add(len, byte) => {
                    let bytes = vec![byte; len];
                    let room = free_space(&page);
                    let before = page;
                    match add_item(&mut page, &bytes, None) {
                        Some(n) if n as usize > model.len() => model.push(Some(bytes)),
                        Some(n) => {
                            prop_assert!(model[n as usize - 1].is_none());
                            model[n as usize - 1] = Some(bytes);
                        }
                        None => {
                            prop_assert!(room < align8(len) + 4);
                            prop_assert_eq!(&before[14..], &page[14..], "a refused item changes nothing but the hint");
                        }
                    }
                }
                Op::Free(which) if !model.is_empty() => {
                    let n = which % model.len();
                    model[n] = None;
                    set_line_pointer(&mut page, n as u16 + 1, LinePointer::UNUSED);
                }
                Op::Free(_) => {}
                Op::Repair => {
                    repair(&mut page).unwrap();
                    while model.len() > 1 && model.last() == Some(&None) {
                        model.pop();
                    }
                    let used: usize = model.iter().flatten().map(|bytes| align8(bytes.len())).sum();
                    prop_assert_eq!(upper(&page), PAGE_SIZE - special_size - used, "no gaps are left");
                    prop_assert_eq!(has_flag(&page, flags::HAS_FREE_LINES), model.contains(&None));
                }
            }
            check(&page, &model);
        }
    }

    #[test]
    fn index_pages_follow_the_model(steps in proptest::collection::vec((0u8..8, any::<usize>(), 1usize..300, any::<u8>()), 1..200)) {
        let mut page = empty(24);
        let mut model: Vec<Option<Vec<u8>>> = Vec::new();
        for (kind, place, len, byte) in steps {
            let bytes = vec![byte; len];
            match kind {
                0..5 => {
                    let n = place % (model.len() + 1);
                    if insert_at(&mut page, n as u16 + 1, &bytes).is_some() {
                        model.insert(n, Some(bytes));
                    }
                }
                5 if !model.is_empty() => {
                    let n = place % model.len();
                    if overwrite(&mut page, n as u16 + 1, &bytes) {
                        model[n] = Some(bytes);
                    }
                }
                6 => {
                    let doomed: Vec<u16> = (1..=model.len() as u16).filter(|n| (*n as usize).wrapping_add(place).is_multiple_of(3)).collect();
                    delete_items(&mut page, &doomed).unwrap();
                    let mut n = 0;
                    model.retain(|_| { n += 1; !doomed.contains(&n) });
                }
                7 if !model.is_empty() => {
                    let n = place % model.len();
                    delete_items(&mut page, &[n as u16 + 1]).unwrap();
                    model.remove(n);
                }
                _ => {}
            }
            check(&page, &model);
        }
    }

    #[test]
    fn compaction_is_the_same_presorted_or_not(lens in proptest::collection::vec((1usize..200, any::<bool>()), 1..60)) {
        // A page filled in order is presorted; the scratch method must give the same bytes.
        let mut page = empty(0);
        let mut items = Vec::new();
        for (len, keep) in lens {
            let Some(n) = add_item(&mut page, &vec![n_byte(len); len], None) else { break };
            let lp = line_pointer(&page, n).unwrap();
            if keep {
                items.push(Item { index: n - 1, offset: lp.offset, len: align8(len) as u16 });
            } else {
                set_line_pointer(&mut page, n, LinePointer::UNUSED);
            }
        }
        let (mut one, mut two) = (page, page);
        compact(&mut one, &items, true);
        compact(&mut two, &items, false);
        prop_assert_eq!(&one[..lower(&one)], &two[..lower(&two)]);
        prop_assert_eq!(&one[upper(&one)..], &two[upper(&two)..]);
    }

    #[test]
    fn damaged_pages_do_not_panic(damage in proptest::collection::vec((0usize..400, any::<u8>()), 1..40)) {
        let mut page = empty(16);
        for len in 1..40 {
            add_item(&mut page, &vec![7; len * 3], None);
        }
        for (at, byte) in damage {
            page[at] = byte;
        }
        for n in 0..=max_offset(&page) {
            let _ = item(&page, n);
        }
        let mut other = page;
        let _ = add_item(&mut other, &[1; 40], None);
        let _ = insert_at(&mut other, 1, &[1; 40]);
        let _ = overwrite(&mut other, 1, &[1; 90]);
        let _ = repair(&mut other);
        let _ = delete_items(&mut page, &[1, 3]);
    }
}

fn n_byte(len: usize) -> u8 {
    len as u8
}

#[test]
fn items_in_place_are_not_touched() {
    let mut page = empty(0);
    for byte in 1..=10u8 {
        add_item(&mut page, &[byte; 16], None).unwrap();
    }
    set_line_pointer(&mut page, 6, LinePointer::UNUSED);
    let before = page;
    repair(&mut page).unwrap();
    let fifth = line_pointer(&page, 5).unwrap().offset as usize;
    assert_eq!(before[fifth..], page[fifth..], "the first five were at the end of the page already");
    assert_eq!(item(&page, 10), Some(&[10; 16][..]));
}

#[test]
fn dead_index_items_survive_compaction() {
    let mut page = empty(16);
    for byte in 1..=3u8 {
        insert_at(&mut page, byte as u16, &[byte; 24]).unwrap();
    }
    let lp = line_pointer(&page, 2).unwrap();
    set_line_pointer(&mut page, 2, LinePointer { flags: LpFlags::Dead, ..lp });
    delete_items(&mut page, &[1]).unwrap();
    assert_eq!(line_pointer(&page, 1).unwrap().flags, LpFlags::Dead);
    assert_eq!(item(&page, 1), Some(&[2; 24][..]));
}

#[test]
fn checksum_knows_the_block_and_every_byte() {
    let mut page = empty(0);
    add_item(&mut page, b"hello", None).unwrap();
    set_lsn(&mut page, Lsn(0x1_0000_0002));
    set_checksum(&mut page, BlockNo(7));
    assert_eq!(verify(&mut page, BlockNo(7)), Ok(State::Written));
    assert!(matches!(verify(&mut page, BlockNo(8)), Err(Corrupt::Checksum { .. })));
    for at in [0, 9, 13, HEADER_SIZE, 5000, PAGE_SIZE - 1] {
        let mut bad = page;
        bad[at] ^= 1;
        assert!(verify(&mut bad, BlockNo(7)).is_err(), "flipped byte {at}");
    }
}

#[test]
fn blank_pages_are_told_from_those_that_were_never_written() {
    let mut pages = [[7; PAGE_SIZE]; 3];
    write_blank(&mut pages, BlockNo(5));
    for (n, page) in pages.iter().enumerate() {
        assert!(page.iter().any(|&byte| byte != 0));
        let mut elsewhere = *page;
        assert!(verify(&mut elsewhere, BlockNo(n as u32)).is_err());
        let mut read = *page;
        assert_eq!(verify(&mut read, BlockNo(5 + n as u32)), Ok(State::Blank));
        assert!(is_new(&read) && read.iter().all(|&byte| byte == 0));
    }
}

#[test]
fn new_pages_are_valid_only_if_all_zero() {
    let mut page = [0; PAGE_SIZE];
    assert!(is_new(&page));
    assert_eq!(verify(&mut page, BlockNo(3)), Ok(State::Zero));
    assert_eq!(max_offset(&page), 0);
    page[4000] = 1;
    assert!(verify(&mut page, BlockNo(3)).is_err());
}

#[test]
fn redo_places_items_where_they_were() {
    let mut page = empty(16);
    assert_eq!(add_item(&mut page, &[1; 8], Some(1)), Some(1));
    assert_eq!(add_item(&mut page, &[1; 8], Some(3)), None, "no gap in the array");
    assert_eq!(add_item(&mut page, &[1; 8], Some(1)), None, "in use");
    assert_eq!(add_item(&mut page, &[2; 8], Some(2)), Some(2));
}

proptest! {
    #[test]
    fn what_is_dead_is_passed_up_to_the_first_that_is_not(dead in proptest::collection::vec(proptest::bool::weighted(0.97), 1..300), length in 0u16..0x7fff) {
        let mut page = empty(0);
        let mut number = 0;
        for dead in &dead {
            let flags = if *dead { LpFlags::Dead } else { [LpFlags::Normal, LpFlags::Redirect, LpFlags::Unused][number % 3] };
            number += 1;
            add_item(&mut page, b"item", Some(number as u16)).expect("room");
            set_line_pointer(&mut page, number as u16, LinePointer { offset: 0x7fff, flags, len: length });
        }
        let end = dead.len() as u16 + 1;
        for from in 1..=end {
            for to in [from, (from + 17).min(end), end] {
                let first = (from..to).find(|n| !dead[*n as usize - 1]).unwrap_or(to);
                assert_eq!(past_dead(&page, from, to), first, "{from}..{to}");
            }
        }
        assert_eq!(past_dead(&page, end, end + 5), end, "no more than there are");
    }
}
