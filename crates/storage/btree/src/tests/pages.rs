//! The pure functions: comparison, pivots, page changes, and damage.

use std::cmp::Ordering;
use std::sync::Arc;

use base::{BlockNo, Lsn, PAGE_SIZE, Tid};
use index::{Compare, IndexDesc, KeyColumn};
use page::PageBytes;
use proptest::prelude::*;
use store::tid;
use tuple::{Attr, Datum, Physical, RowLayout};

use crate::BtreeRel;
use crate::format::{
    INCOMPLETE_SPLIT, Item, LEAF, MAX_ENTRY, NONE, Node, Opaque, ROOT, init, leaf_item, leaf_item_of,
    with_child,
};
use crate::insert;
use crate::key::{SearchKey, equal_prefix};
use crate::ops::{self, ListUpdate, SplitPlan};
use crate::split::{choose, leaf_high_key};

const OPAQUE: Opaque = Opaque { prev: NONE, next: NONE, level: 0, flags: LEAF | ROOT, split: Lsn::INVALID };

fn attr(physical: Physical) -> Attr {
    let align = match physical {
        Physical::Int8 | Physical::Float8 => 8,
        Physical::Int4 | Physical::Oid | Physical::Float4 | Physical::Varlena => 4,
        Physical::Int2 => 2,
        _ => 1,
    };
    Attr { physical, align, storage: b'x', compression: None }
}

fn desc(columns: &[(Physical, Compare, bool, bool)], included: usize) -> IndexDesc {
    let keys = columns[..columns.len() - included]
        .iter()
        .map(|&(_, compare, descending, nulls_first)| KeyColumn { compare, descending, nulls_first })
        .collect();
    IndexDesc {
        file: Default::default(),
        layout: Arc::new(RowLayout::new(columns.iter().map(|c| attr(c.0)).collect())),
        keys,
        trees: Vec::new(),
        hashes: Vec::new(),
        parts: Vec::new(),
        spaces: Vec::new(),
        summaries: Vec::new(),
        persistence: Default::default(),
        unique: false,
        nulls_not_distinct: false,
        equal_image: included == 0,
        options: Vec::new(),
    }
}

fn by_text(a: &Datum, b: &Datum) -> Ordering {
    match (a, b) {
        (Datum::Bytes(a), Datum::Bytes(b)) => a.as_slice().cmp(b.as_slice()),
        _ => panic!("NULL or a wrong class reached a comparison"),
    }
}

/// int4, text under C, text by a function, int8 descending, float8, name, bool; one INCLUDE column.
fn wide() -> IndexDesc {
    desc(
        &[
            (Physical::Int4, Compare::Int4, false, false),
            (Physical::Varlena, Compare::Bytes, false, true),
            (Physical::Varlena, Compare::With(by_text), true, true),
            (Physical::Int8, Compare::Int8, true, false),
            (Physical::Float8, Compare::Float8, false, false),
            (Physical::Name, Compare::Bytes, false, false),
            (Physical::Bool, Compare::Bool, false, false),
            (Physical::Varlena, Compare::Bytes, false, false),
        ],
        1,
    )
}

fn nullable(value: impl Strategy<Value = Datum>) -> impl Strategy<Value = Datum> {
    prop_oneof![1 => Just(Datum::Null), 4 => value]
}

fn text() -> impl Strategy<Value = Datum> {
    prop_oneof!["[ab]{0,3}", "[ab]{125,130}", "a{600,700}"].prop_map(|s| Datum::text(&s))
}

fn wide_row() -> impl Strategy<Value = Vec<Datum>> {
    let float = prop_oneof![Just(f64::NAN), Just(-0.0), Just(0.0), Just(1.5)];
    (
        nullable((0..2i32).prop_map(Datum::Int4)),
        nullable(text()),
        nullable(text()),
        nullable((0..2i64).prop_map(Datum::Int8)),
        nullable(float.prop_map(Datum::Float8)),
        nullable("[ab]{0,2}".prop_map(|s| Datum::text(&s))),
        nullable(any::<bool>().prop_map(Datum::Bool)),
        nullable(text()),
    )
        .prop_map(|(a, b, c, d, e, f, g, h)| vec![a, b, c, d, e, f, g, h])
}

fn item_of(desc: &IndexDesc, row: &[Datum], at: Tid) -> Vec<u8> {
    leaf_item(&desc.layout, &crate::split::compressed(desc, row), at)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// The comparison with page bytes is the one with values; a pivot between two neighbours is really between them.
    #[test]
    fn bytes_compare_as_values(a in wide_row(), b in wide_row(), s in 0..4u32, t in 0..4u32) {
        let desc = wide();
        let rel = BtreeRel::new(desc.clone());
        let (x, y) = (item_of(&desc, &a, tid(s)), item_of(&desc, &b, tid(t)));
        let item = Item::new(&y).unwrap();
        let key = SearchKey { tid: Some(tid(s)), ..SearchKey::new(&desc, &a[..7], false) };
        let order = rel.desc.compare_entries((&a, tid(s)), (&b, tid(t)));
        prop_assert_eq!(key.compare(&item).unwrap(), order);

        let mut back = Vec::new();
        item.decode(&desc.layout, 8, &mut back).unwrap();
        prop_assert_eq!(format!("{back:?}"), format!("{b:?}"));

        let (low, high, low_row, high_row, low_tid, high_tid) = match order {
            Ordering::Less => (&x, &y, &a, &b, tid(s), tid(t)),
            Ordering::Greater => (&y, &x, &b, &a, tid(t), tid(s)),
            Ordering::Equal => return Ok(()),
        };
        let pivot = leaf_high_key(&desc, low, high).unwrap();
        prop_assert!(pivot.len() <= high.len() + 8);
        let pivot = Item::new(&pivot).unwrap();
        prop_assert_eq!(pivot.columns(&desc.layout), (equal_prefix(&desc, low_row, high_row).unwrap() + 1).min(7));
        let at = |row: &[Datum], tid| {
            SearchKey { tid: Some(tid), ..SearchKey::new(&desc, &row[..7], false) }.compare(&pivot).unwrap()
        };
        prop_assert_ne!(at(low_row, low_tid), Ordering::Greater);
        prop_assert_eq!(at(high_row, high_tid), Ordering::Greater);
    }

    /// The search that begins with a guess finds what comparing one item after the other finds, however the keys are spread.
    #[test]
    fn guessing_finds_what_comparing_all_finds(
        shifts in prop::collection::vec(0..62u32, 1..120),
        probes in prop::collection::vec(any::<i64>(), 1..20),
        descending in any::<bool>(),
        behind in any::<bool>(),
    ) {
        let desc = desc(&[(Physical::Int8, Compare::Int8, descending, false)], 0);
        let mut keys: Vec<i64> = shifts.iter().enumerate().map(|(i, s)| (i as i64 - 40) << s).collect();
        keys.sort_unstable();
        if descending {
            keys.reverse();
        }
        let mut page = [0; PAGE_SIZE];
        init(&mut page, OPAQUE);
        for (i, key) in keys.iter().enumerate() {
            ops::insert(&mut page, i as u16 + 1, &item_of(&desc, &[Datum::Int8(*key)], tid(i as u32))).unwrap();
        }
        let node = Node::new(&page).unwrap();
        let near = keys.iter().flat_map(|k| [k.wrapping_sub(1), *k, k.wrapping_add(1)]);
        for value in near.chain(probes) {
            let values = [Datum::Int8(value)];
            let key = SearchKey::new(&desc, &values, behind);
            let below = |n: &u16| key.beyond(&node.item(*n).unwrap()).unwrap();
            let place = node.first() + (node.first()..=node.max()).filter(below).count() as u16;
            prop_assert_eq!(key.search(&node), Ok(place));
            for from in node.first()..=place {
                prop_assert_eq!(key.gallop(&node, from), Ok(place));
            }
        }
    }

    /// Random damage to a page makes functions fail, not panic.
    #[test]
    fn damage_is_an_error(holes in prop::collection::vec((0..PAGE_SIZE, any::<u8>()), 1..40), value in 0..60i32) {
        let desc = desc(&[(Physical::Int4, Compare::Int4, false, false), (Physical::Varlena, Compare::Bytes, false, false)], 0);
        let mut page = filled(&desc, 60);
        for (at, byte) in holes {
            page[at] = byte;
        }
        let values = [Datum::Int4(value), Datum::text("x")];
        let key = SearchKey { tid: Some(tid(7)), ..SearchKey::new(&desc, &values, false) };
        if let Ok(node) = Node::new(&page) {
            let _ = key.search(&node);
            let _ = key.gallop(&node, node.first());
            for n in node.first()..=node.max() {
                if let Ok(item) = node.item(n) {
                    let mut out = Vec::new();
                    let _ = (item.tids(), item.pivot_tid(), item.key_part(), item.decode(&desc.layout, 2, &mut out));
                }
            }
            let _ = insert::plan_runs(&node);
        }
        let new = item_of(&desc, &values, tid(1));
        let plan = SplitPlan { at: 5, posting: false, left_count: 9, right: BlockNo(9), split: Lsn(1), new: &new, high: &new };
        for at in 1..5 {
            let mut work = page;
            let _ = ops::insert(&mut work, at, &new);
            let _ = ops::insert_into_posting(&mut work, at, &new);
            let _ = ops::delete(&mut work, &[at, at + 1], &[ListUpdate { at: at + 2, removed: vec![0] }]);
            let _ = ops::deduplicate(&mut work, &[(at, 2)]);
            let _ = ops::remove_downlink(&mut work, at, BlockNo(3));
        }
        let mut right = [0; PAGE_SIZE];
        let _ = ops::split_right(&mut right, &page, BlockNo(1), &plan);
        let _ = ops::split_left(&mut page.clone(), &plan);
        let _ = ops::blob(&page).and_then(|blob| ops::from_blob(&mut right, &blob));
        let _ = ops::from_blob(&mut right, &page[..100]);
    }
}

/// A leaf with posting lists and plain items.
fn filled(desc: &IndexDesc, n: i32) -> PageBytes {
    let mut page = [0; PAGE_SIZE];
    init(&mut page, OPAQUE);
    for i in 0..n {
        let item = item_of(desc, &[Datum::Int4(i), Datum::text("abc")], tid(i as u32));
        let item = if i % 3 == 0 { leaf_item_of(&item, &[tid(5), tid(8), tid(11)]) } else { item };
        ops::insert(&mut page, i as u16 + 1, &item).unwrap();
    }
    page
}

fn tids_of(page: &PageBytes) -> Vec<Tid> {
    Node::new(page).unwrap().items().flat_map(|item| item.unwrap().1.tids().unwrap()).collect()
}

fn int_desc() -> IndexDesc {
    desc(&[(Physical::Int4, Compare::Int4, false, false)], 0)
}

fn int_item(value: i32, tids: &[Tid]) -> Vec<u8> {
    leaf_item_of(&leaf_item(&int_desc().layout, &[Datum::Int4(value)], tids[0]), tids)
}

#[test]
fn tid_inside_a_posting_list_changes_places_with_the_last() {
    let mut page = [0; PAGE_SIZE];
    init(&mut page, OPAQUE);
    ops::insert(&mut page, 1, &int_item(1, &[tid(10), tid(20), tid(30)])).unwrap();
    let used = page::free_space(&page);
    ops::insert_into_posting(&mut page, 1, &int_item(1, &[tid(15)])).unwrap();
    assert_eq!(tids_of(&page), [10, 15, 20, 30].map(tid));
    assert_eq!(used - page::free_space(&page), 16 + 4);
    assert_eq!(Node::new(&page).unwrap().item(1).unwrap().tid_count(), 3);
    // Outside, or there already: the page stays as it is.
    for wrong in [5, 10, 40] {
        let before = page;
        assert!(ops::insert_into_posting(&mut page, 1, &int_item(1, &[tid(wrong)])).is_err());
        assert!(page == before);
    }
}

#[test]
fn runs_of_equal_keys_merge_and_come_apart_again() {
    let mut page = [0; PAGE_SIZE];
    init(&mut page, OPAQUE);
    for n in 0..300u32 {
        ops::insert(&mut page, n as u16 + 1, &int_item((n / 250) as i32, &[tid(n)])).unwrap();
    }
    let before = tids_of(&page);
    let runs = insert::plan_runs(&Node::new(&page).unwrap()).unwrap();
    // 250 TIDs of 6 bytes are two lists of at most 1352 bytes; the 50 others are one.
    assert_eq!(runs.iter().map(|r| r.1).collect::<Vec<_>>(), [222, 28, 50]);
    ops::deduplicate(&mut page, &runs).unwrap();
    assert_eq!(tids_of(&page), before);
    assert_eq!(Node::new(&page).unwrap().count(), 3);

    let keep_one: Vec<u16> = (1..222).collect();
    let updates = [ListUpdate { at: 1, removed: keep_one }, ListUpdate { at: 3, removed: vec![0, 49] }];
    ops::delete(&mut page, &[2], &updates).unwrap();
    let expected: Vec<Tid> = std::iter::once(tid(0)).chain((251..299).map(tid)).collect();
    assert_eq!(tids_of(&page), expected);
    assert!(!Node::new(&page).unwrap().item(1).unwrap().is_posting());
}

/// Splits `items` as insertion would and returns the counts on both halves and the columns kept.
fn split_counts(
    desc: &IndexDesc,
    next: BlockNo,
    high: Option<&[u8]>,
    items: &[Vec<u8>],
) -> (usize, usize, bool) {
    let mut page = [0; PAGE_SIZE];
    let opaque = Opaque { next, flags: LEAF, ..OPAQUE };
    let (last, fitting) = items.split_last().unwrap();
    ops::fill(&mut page, opaque, high, fitting).unwrap();
    let node = Node::new(&page).unwrap();
    let at = node.max() + 1;
    let all = ops::items_with(&node, at, last, false).unwrap();
    let choice = choose(&BtreeRel::new(desc.clone()), &node, &all).unwrap();
    let plan = SplitPlan {
        at,
        posting: false,
        left_count: choice.left_count as u16,
        right: BlockNo(77),
        split: Lsn(5),
        new: last,
        high: &choice.high,
    };
    let mut right = [0; PAGE_SIZE];
    ops::split_right(&mut right, &page, BlockNo(3), &plan).unwrap();
    let mut left = page;
    ops::split_left(&mut left, &plan).unwrap();
    let (l, r) = (Node::new(&left).unwrap(), Node::new(&right).unwrap());
    assert_eq!((l.op.next, r.op.prev, r.op.next), (BlockNo(77), BlockNo(3), next));
    assert!(l.op.is(INCOMPLETE_SPLIT) && !r.op.is(INCOMPLETE_SPLIT));
    let together: Vec<Tid> = tids_of(&left).into_iter().chain(tids_of(&right)).collect();
    let expected: Vec<Tid> = all.iter().flat_map(|item| Item::new(item).unwrap().tids().unwrap()).collect();
    assert_eq!(together, expected);
    let has_tid = l.high_key().unwrap().unwrap().pivot_tid().unwrap().is_some();
    (l.count(), r.count(), has_tid)
}

fn full_of(value: impl Fn(u32) -> i32) -> Vec<Vec<u8>> {
    (0..403).map(|n| int_item(value(n), &[tid(n)])).collect()
}

#[test]
fn split_points() {
    let desc = int_desc();
    // The right-most page keeps 90 %, others half.
    let (left, right, _) = split_counts(&desc, NONE, None, &full_of(|n| n as i32));
    assert!((355..=372).contains(&left) && left + right == 403, "{left} {right}");
    let high = with_child(
        &leaf_high_key(&desc, &int_item(900, &[tid(1)]), &int_item(901, &[tid(1)])).unwrap(),
        NONE,
    );
    let items = full_of(|n| n as i32);
    let (left, right, _) = split_counts(&desc, BlockNo(9), Some(&high), &items[..400]);
    assert!(left.abs_diff(right) <= 20, "{left} {right}");
    // Between two values rather than within one, even far from the wanted fill.
    let (left, _, has_tid) = split_counts(&desc, NONE, None, &full_of(|n| i32::from(n >= 120)));
    assert_eq!((left, has_tid), (120, false));
    // One value only: nearly all stay, and the pivot needs a TID.
    let (left, _, has_tid) = split_counts(&desc, NONE, None, &full_of(|_| 7));
    assert!(left > 380 && has_tid, "{left}");
}

#[test]
fn the_largest_entries_split() {
    let desc = desc(&[(Physical::Varlena, Compare::Bytes, false, false)], 0);
    // Incompressible, so that its size is its size.
    let mut state = 1u32;
    let mut noise = |first: u8| {
        let mut bytes = vec![first];
        while bytes.len() < MAX_ENTRY - 12 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            bytes.push((state >> 24) as u8);
        }
        item_of(&desc, &[Datum::Bytes(bytes.into())], tid(first.into()))
    };
    let items: Vec<Vec<u8>> = (1..=3).map(&mut noise).collect();
    assert!(items.iter().all(|item| item.len() == MAX_ENTRY), "{}", items[0].len());
    let last = noise(9);
    let high = leaf_high_key(&desc, &items[2], &last).unwrap();
    let (left, right, _) = split_counts(&desc, BlockNo(9), Some(&high), &items);
    assert_eq!(left + right, 3);
}

#[test]
fn blob_builds_the_same_page() {
    let page = filled(&int_desc_two(), 50);
    let mut copy = [0; PAGE_SIZE];
    ops::from_blob(&mut copy, &ops::blob(&page).unwrap()).unwrap();
    assert_eq!(tids_of(&copy), tids_of(&page));
    assert_eq!(Node::new(&copy).unwrap().op, Node::new(&page).unwrap().op);
}

fn int_desc_two() -> IndexDesc {
    desc(
        &[(Physical::Int4, Compare::Int4, false, false), (Physical::Varlena, Compare::Bytes, false, false)],
        0,
    )
}

#[test]
fn mixed_integers_compare() {
    let desc = desc(&[(Physical::Int2, Compare::Int2, false, false)], 0);
    let item = leaf_item(&desc.layout, &[Datum::Int2(5)], tid(1));
    let item = Item::new(&item).unwrap();
    for (value, order) in [
        (Datum::Int8(1 << 40), Ordering::Greater),
        (Datum::Int4(5), Ordering::Equal),
        (Datum::Int2(4), Ordering::Less),
    ] {
        let values = [value];
        assert_eq!(SearchKey::new(&desc, &values, false).compare(&item).unwrap(), order);
    }
}
