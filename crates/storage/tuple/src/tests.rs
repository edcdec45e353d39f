//! Round trips over random layouts and rows, and damaged bytes.

use proptest::prelude::*;

use crate::{
    Attr, Bytes, Column, ColumnReader, Datum, Physical, Position, RowBytes, RowLayout, RowPlace, Selection,
    Undecoded, bitmap_len, encode_nulls,
    varlena::{self, Compression},
};

fn attr(physical: Physical, align: u8) -> Attr {
    Attr { physical, align, storage: b'x', compression: None }
}

fn column() -> impl Strategy<Value = (Attr, Datum)> {
    let fixed = prop_oneof![
        any::<bool>().prop_map(|v| (attr(Physical::Bool, 1), Datum::Bool(v))),
        any::<u8>().prop_map(|v| (attr(Physical::Char, 1), Datum::Char(v))),
        any::<i16>().prop_map(|v| (attr(Physical::Int2, 2), Datum::Int2(v))),
        any::<i32>().prop_map(|v| (attr(Physical::Int4, 4), Datum::Int4(v))),
        any::<i64>().prop_map(|v| (attr(Physical::Int8, 8), Datum::Int8(v))),
        any::<u32>().prop_map(|v| (attr(Physical::Oid, 4), Datum::Oid(v))),
        (-1e9f64..1e9).prop_map(|v| (attr(Physical::Float8, 8), Datum::Float8(v))),
        proptest::collection::vec(any::<u8>(), 16)
            .prop_map(|v| (attr(Physical::Fixed(16), 1), Datum::Bytes(v.into()))),
        "[a-z]{0,63}".prop_map(|v| (attr(Physical::Name, 1), Datum::text(&v))),
    ];
    let lengths = prop_oneof![0usize..10, 120usize..135, 250usize..260, 1000usize..1100];
    let variable =
        (lengths, any::<u8>(), prop_oneof![Just(4u8), Just(8u8)]).prop_map(|(len, byte, align)| {
            (attr(Physical::Varlena, align), Datum::Bytes(vec![byte; len].into()))
        });
    let toasted = (0u32..1 << 30, any::<u32>(), 0..3u8).prop_map(|(size, id, method)| {
        let pointer = varlena::External {
            raw_size: size,
            stored_size: size,
            compression: [None, Some(Compression::Lz4), Some(Compression::Pglz)][usize::from(method)],
            value_id: id,
            toast_relation: 77,
        };
        (attr(Physical::Varlena, 4), Datum::Toasted(pointer.to_bytes().as_slice().into()))
    });
    let compressed = (200usize..5000, any::<u8>()).prop_map(|(len, byte)| {
        let stored = varlena::compress(&vec![byte; len], Compression::Lz4).expect("a run compresses");
        (attr(Physical::Varlena, 4), Datum::Toasted(stored))
    });
    (prop_oneof![4 => fixed, 4 => variable, 1 => toasted, 1 => compressed], 0u8..4)
        .prop_map(|((attr, value), null)| (attr, if null == 0 { Datum::Null } else { value }))
}

fn row() -> impl Strategy<Value = (RowLayout, Vec<Datum>)> {
    proptest::collection::vec(column(), 0..20).prop_map(|columns| {
        let (attrs, values) = columns.into_iter().unzip();
        (RowLayout::new(attrs), values)
    })
}

proptest! {
    #[test]
    fn rows_round_trip((layout, values) in row(), extra in 0usize..3, split in 0usize..20) {
        // Alignment is relative to where the data begin, wherever that is in the buffer.
        let mut out = vec![0xaa; extra * 8];
        let begin = out.len();
        let info = layout.encode(&values, &mut out);
        let data = &out[begin..];
        prop_assert_eq!(data.len(), layout.encoded_len(&values));
        let mut bitmap = Vec::new();
        encode_nulls(&values, &mut bitmap);
        prop_assert_eq!(bitmap.len(), bitmap_len(values.len()));
        prop_assert_eq!(info.has_nulls, values.contains(&Datum::Null));
        let nulls = info.has_nulls.then_some(&bitmap[..]);

        let mut back = Vec::new();
        layout.decode(values.len(), nulls, data, values.len(), &mut back).unwrap();
        prop_assert_eq!(&back, &values);

        let row = RowBytes { columns: values.len(), nulls, data };
        for (i, value) in values.iter().enumerate() {
            prop_assert_eq!(&layout.decode_column(&row, i).unwrap(), value);
        }
        let (mut steps, mut position) = (Vec::new(), Position::default());
        layout.decode_more(&row, &mut position, split, &mut steps).unwrap();
        prop_assert_eq!(steps.len(), split.min(values.len()));
        layout.decode_more(&row, &mut position, values.len(), &mut steps).unwrap();
        prop_assert_eq!(&steps, &values);

        // Early: every third column before `split`; late: all others but every fifth.
        let (early, late) = (|c: usize| c.is_multiple_of(3) && c < split, |c: usize| !c.is_multiple_of(5));
        let selection = Selection::new(values.len(), early, late);
        let (mut left, mut selected) = (Undecoded::default(), vec![Datum::Null; values.len()]);
        selection.decode_first(&layout, &row, &mut left, &mut selected).unwrap();
        for (c, value) in selected.iter().enumerate().filter(|(c, _)| early(*c)) {
            prop_assert_eq!(value, &values[c]);
        }
        selection.decode_rest(&layout, &row, &mut left, &mut selected).unwrap();
        for (c, (value, stored)) in selected.iter().zip(&values).enumerate() {
            let wanted = early(c) || late(c);
            prop_assert_eq!(value, if wanted { stored } else { &Datum::Null });
        }
    }

    #[test]
    fn damaged_rows_do_not_panic((layout, values) in row(), at in any::<usize>(), byte in any::<u8>(), cut in any::<usize>()) {
        let mut out = Vec::new();
        layout.encode(&values, &mut out);
        if !out.is_empty() {
            let at = at % out.len();
            out[at] = byte;
            out.truncate(cut % out.len() + 1);
        }
        let mut bitmap = Vec::new();
        encode_nulls(&values, &mut bitmap);
        let row = RowBytes { columns: values.len(), nulls: Some(&bitmap), data: &out };
        let _ = layout.decode_more(&row, &mut Position::default(), values.len(), &mut Vec::new());
        for i in 0..values.len() {
            if let Ok(Datum::Toasted(stored)) = layout.decode_column(&row, i) {
                let _ = varlena::resolve_inline(&stored);
            }
        }
    }

    #[test]
    fn compression_round_trips(text in "[ab]{0,4000}") {
        for method in [Compression::Lz4, Compression::Pglz] {
            let Some(stored) = varlena::compress(text.as_bytes(), method) else { continue };
            prop_assert_eq!(varlena::compression(&stored).unwrap(), Some(method));
            prop_assert!(stored.len() < text.len());
            prop_assert_eq!(varlena::raw_size(&stored).unwrap(), text.len());
            prop_assert_eq!(varlena::resolve_inline(&stored).unwrap(), Some(Datum::text(&text)));
        }
    }
}

#[test]
fn columns_added_later_are_null() {
    let layout = RowLayout::new(vec![attr(Physical::Int4, 4); 3]);
    let mut out = Vec::new();
    layout.encode(&[Datum::Int4(7)], &mut out);
    let mut back = Vec::new();
    layout.decode(1, None, &out, 3, &mut back).unwrap();
    assert_eq!(back, [Datum::Int4(7), Datum::Null, Datum::Null]);
    let row = RowBytes { columns: 1, nulls: None, data: &out };
    assert_eq!(layout.decode_column(&row, 2), Ok(Datum::Null));
}

#[test]
fn short_values_are_packed() {
    let layout = RowLayout::new(vec![attr(Physical::Char, 1), attr(Physical::Varlena, 4)]);
    let mut out = Vec::new();
    layout.encode(&[Datum::Char(1), Datum::Bytes(Bytes::new(b"abc"))], &mut out);
    assert_eq!(out, [1, 9, b'a', b'b', b'c'], "no padding before a 1-byte header");
}

#[test]
fn incompressible_values_stay() {
    let mut state = 1u64;
    let noise: Vec<u8> = (0..4000)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        })
        .collect();
    assert!(varlena::compress(&noise, Compression::Lz4).is_none());
}

/// A page of rows with these columns: the row's values, or NULL where a bit of its number in `nulls` is set; of later rows fewer columns are stored, the others have what they are to have then.
fn page_of(layout: &RowLayout, values: &[Datum], nulls: &[u32]) -> (Vec<u8>, Vec<RowPlace>, Vec<Vec<Datum>>) {
    let (mut page, mut places, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    for (number, mask) in nulls.iter().enumerate() {
        let stored = if number % 4 == 3 { values.len() / 2 } else { values.len() };
        let value = |(i, v): (usize, &Datum)| if mask >> i & 1 == 1 { Datum::Null } else { v.clone() };
        let mut row: Vec<Datum> = values[..stored].iter().enumerate().map(value).collect();
        let mut bitmap = Vec::new();
        encode_nulls(&row, &mut bitmap);
        // A bitmap never lies at the start of a page.
        page.extend([0xaa; 8]);
        let has_nulls = row.contains(&Datum::Null);
        let bitmap_at = page.len() as u16;
        page.extend(&bitmap);
        page.resize(page.len().next_multiple_of(8), 0xaa);
        let start = page.len() as u16;
        RowLayout::new(layout.attrs()[..stored].to_vec()).encode(&row, &mut page);
        let nulls = if has_nulls { bitmap_at } else { 0 };
        places.push(RowPlace { data: (start, page.len() as u16), nulls, columns: stored as u16 });
        page.resize(page.len().next_multiple_of(8), 0xaa);
        row.extend((stored..values.len()).map(|column| layout.missing(column).clone()));
        rows.push(row);
    }
    (page, places, rows)
}

/// The layout, with these values in rows that do not store them, but for those that lie elsewhere.
fn with_missing(layout: RowLayout, values: &[Datum]) -> RowLayout {
    let plain = |value: &Datum| if matches!(value, Datum::Toasted(_)) { Datum::Null } else { value.clone() };
    layout.with_missing(values.iter().map(plain).collect())
}

proptest! {
    #[test]
    fn columns_that_are_not_stored_have_their_values((layout, values) in row(), early in any::<u32>(), late in any::<u32>()) {
        let layout = with_missing(layout, &values);
        let stored = values.len() / 2;
        let (page, places, rows) = page_of(&layout, &values, &[0; 4]);
        let (place, expected) = (&places[3], &rows[3]);
        prop_assert_eq!(layout.lacks(stored), expected[stored..].iter().any(|value| !value.is_null()));
        let data = &page[usize::from(place.data.0)..usize::from(place.data.1)];
        let nulls = (place.nulls != 0).then(|| &page[usize::from(place.nulls)..usize::from(place.data.0)]);
        let row = RowBytes { columns: stored, nulls, data };
        let mut out = Vec::new();
        layout.decode(stored, nulls, data, values.len(), &mut out).unwrap();
        prop_assert_eq!(&out, expected);
        out = vec![Datum::Int4(0); values.len()];
        layout.decode_over(&row, values.len(), &mut out).unwrap();
        prop_assert_eq!(&out, expected);
        for (column, value) in expected.iter().enumerate() {
            prop_assert_eq!(&layout.decode_column(&row, column).unwrap(), value);
        }
        let bit = |mask: u32, column: usize| mask >> column & 1 == 1;
        let selection = Selection::new(values.len(), |c| bit(early, c), |c| bit(late, c));
        let (mut left, mut out) = (Undecoded::default(), vec![Datum::Bool(true); values.len()]);
        selection.decode_first(&layout, &row, &mut left, &mut out).unwrap();
        selection.decode_rest(&layout, &row, &mut left, &mut out).unwrap();
        for column in (0..values.len()).filter(|c| bit(early | late, *c)) {
            prop_assert_eq!(&out[column], &expected[column]);
        }
    }

    #[test]
    fn columns_hold_what_rows_do((layout, values) in row(), nulls in proptest::collection::vec(prop_oneof![Just(0u32), any::<u32>()], 1..7), step in 1usize..4, missing in any::<bool>()) {
        let layout = if missing { with_missing(layout, &values) } else { layout };
        let (page, places, rows) = page_of(&layout, &values, &nulls);
        let reader = ColumnReader::new(&layout, |c| c.is_multiple_of(step));
        let mut columns: Vec<Column> = layout.attrs().iter().map(|attr| Column::new(attr.physical)).collect();
        // Twice: nothing stays of what was read before.
        for _ in 0..2 {
            let read = reader.read(&layout, &page, &places, &mut columns);
            let wanted: Vec<usize> = reader.columns().collect();
            // What lies elsewhere, or in no row, is no view of the page.
            let elsewhere = |(row, place): (&Vec<Datum>, &RowPlace)| wanted.iter().any(|c| match row[*c] {
                Datum::Toasted(_) => true,
                Datum::Bytes(_) => *c >= usize::from(place.columns),
                _ => false,
            });
            prop_assert_eq!(read, !rows.iter().zip(&places).any(elsewhere));
            for (number, row) in rows.iter().enumerate().filter(|_| read) {
                for column in &wanted {
                    prop_assert_eq!(&columns[*column].datum(number, &page), &row[*column]);
                    prop_assert_eq!(columns[*column].is_null(number), row[*column].is_null());
                }
            }
        }
    }

    #[test]
    fn damaged_pages_do_not_panic((layout, values) in row(), at in any::<usize>(), byte in any::<u8>(), cut in any::<u16>()) {
        let (mut page, mut places, _) = page_of(&layout, &values, &[0, 5]);
        let at = at % page.len();
        page[at] = byte;
        places[0].data.1 = places[0].data.1.min(cut);
        let mut columns: Vec<Column> = layout.attrs().iter().map(|attr| Column::new(attr.physical)).collect();
        let reader = ColumnReader::new(&layout, |_| true);
        if reader.read(&layout, &page, &places, &mut columns) {
            columns.iter().for_each(|column| drop(column.datum(1, &page)));
        }
    }
}
