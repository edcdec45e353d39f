//! Pages of tables.

use base::{Oid, PAGE_SIZE, SqlError, SqlResult, sql_err};
use heap::header::{Bases, HEADER_LEN, Header, SPECIAL_LEN, infomask, infomask2};
use heap::{HeapError, detoast};
use page::{LinePointer, LpFlags, PageBytes};
use session::Session;
use session::module::rows;
use session::routine::{Invocation, Returned};
use tuple::{Attr, Datum, RowBytes, RowLayout};
use types::ids::tid_datum;
use types::value::FromDatum;

use super::{check_superuser, invalid, page_of};
use crate::relation::Relation;

const NAMES: [(u16, &str); 16] = [
    (infomask::HAS_NULL, "HEAP_HASNULL"),
    (infomask::HAS_VARLENA, "HEAP_HASVARWIDTH"),
    (infomask::HAS_EXTERNAL, "HEAP_HASEXTERNAL"),
    (infomask::XMAX_OVER_LOCK, "HEAP_XMAX_OVER_LOCK"),
    (infomask::XMAX_KEYSHR_LOCK, "HEAP_XMAX_KEYSHR_LOCK"),
    (infomask::COMBO_CID, "HEAP_COMBOCID"),
    (infomask::XMAX_EXCL_LOCK, "HEAP_XMAX_EXCL_LOCK"),
    (infomask::XMAX_LOCK_ONLY, "HEAP_XMAX_LOCK_ONLY"),
    (infomask::XMIN_COMMITTED, "HEAP_XMIN_COMMITTED"),
    (infomask::XMIN_INVALID, "HEAP_XMIN_INVALID"),
    (infomask::XMAX_COMMITTED, "HEAP_XMAX_COMMITTED"),
    (infomask::XMAX_INVALID, "HEAP_XMAX_INVALID"),
    (infomask::XMAX_IS_MULTI, "HEAP_XMAX_IS_MULTI"),
    (infomask::UPDATED, "HEAP_UPDATED"),
    (0x4000, "HEAP_MOVED_OFF"),
    (0x8000, "HEAP_MOVED_IN"),
];

const NAMES2: [(u16, &str); 4] = [
    (infomask2::LOCK_BENEATH, "HEAP_LOCK_BENEATH"),
    (infomask2::KEYS_UPDATED, "HEAP_KEYS_UPDATED"),
    (infomask2::HOT_UPDATED, "HEAP_HOT_UPDATED"),
    (infomask2::HEAP_ONLY, "HEAP_ONLY_TUPLE"),
];

const COMBINED: [(u16, &str); 3] = [
    (infomask::XMAX_KEYSHR_LOCK | infomask::XMAX_EXCL_LOCK, "HEAP_XMAX_SHR_LOCK"),
    (infomask::XMIN_FROZEN, "HEAP_XMIN_FROZEN"),
    (0xc000, "HEAP_MOVED"),
];

pub(super) fn flags(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    check_superuser(session, "raw page")?;
    let [first, second] = [0, 1].map(|at| i32::from_datum(&invocation.args[at]) as u16);
    let named = |bits: u16, names: &'static [(u16, &'static str)]| {
        names.iter().filter(move |(bit, _)| bits & bit != 0).map(|(_, name)| Some(*name))
    };
    let raw = named(first, &NAMES).chain(named(second, &NAMES2));
    let whole = COMBINED.iter().filter(|(bits, _)| first & bits == *bits).map(|(_, name)| Some(*name));
    rows(session, invocation, [vec![types::array::from_texts(raw), types::array::from_texts(whole)]])
}

pub(super) fn items(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    check_superuser(session, "raw page")?;
    let bytes = <&[u8]>::from_datum(&invocation.args[0]).len();
    if bytes < PAGE_SIZE {
        return Err(invalid(format!("input page too small ({bytes} bytes)")));
    }
    let page = page_of(&invocation.args[0])?;
    if page::is_new(&page) {
        return rows(session, invocation, []);
    }
    if page::special_offset(&page) != PAGE_SIZE - SPECIAL_LEN {
        return Err(invalid("input page is not a valid heap page".into()));
    }
    let items =
        (1..=page::max_offset(&page)).filter_map(|n| Some(item(&page, n, page::line_pointer(&page, n)?)));
    rows(session, invocation, items)
}

fn item(page: &PageBytes, n: u16, pointer: LinePointer) -> Vec<Datum> {
    let kind = match pointer.flags {
        LpFlags::Unused => 0,
        LpFlags::Normal => 1,
        LpFlags::Redirect => 2,
        LpFlags::Dead => 3,
    };
    let small = |value: u16| Datum::Int2(value as i16);
    let mut row = vec![small(n), small(pointer.offset), Datum::Int2(kind), small(pointer.len)];
    let version = page::item(page, n).and_then(|item| Some((item, Header::read(item, Bases::of(page))?)));
    let Some((item, header)) = version else {
        row.resize(14, Datum::Null);
        return row;
    };
    let hoff = usize::from(header.hoff);
    let bitmap = item
        .get(HEADER_LEN..HEADER_LEN + header.columns().div_ceil(8))
        .filter(|_| header.has(infomask::HAS_NULL));
    let bits = bitmap.map(|bytes| {
        bytes
            .iter()
            .flat_map(|byte| (0..8).map(move |n| if byte >> n & 1 == 1 { '1' } else { '0' }))
            .collect()
    });
    row.extend([
        Datum::Oid(header.raw_xmin.0 as u32),
        Datum::Oid(header.raw_xmax.0 as u32),
        Datum::Int4(header.cid as i32),
        tid_datum(header.ctid.block.0, header.ctid.offset),
        Datum::Int4(i32::from(header.infomask2)),
        Datum::Int4(i32::from(header.infomask)),
        Datum::Int2(i16::from(header.hoff)),
        bits.map_or(Datum::Null, |bits: String| Datum::text(&bits)),
        Datum::Null,
        Datum::Bytes(item[hoff..].to_vec().into()),
    ]);
    row
}

/// What `t_bits` says.
fn bitmap(text: &str, columns: usize) -> SqlResult<Vec<u8>> {
    if text.len() < columns || !text.len().is_multiple_of(8) {
        let wanted = columns.next_multiple_of(8);
        return Err(sql_err!(
            DATA_CORRUPTED,
            "unexpected length of t_bits {}, expected {wanted}",
            text.len()
        ));
    }
    text.as_bytes()
        .chunks(8)
        .map(|bits| {
            bits.iter().enumerate().try_fold(0, |byte, (n, bit)| match bit {
                b'0' => Ok(byte),
                b'1' => Ok(byte | 1 << n),
                other => Err(sql_err!(
                    DATA_CORRUPTED,
                    "illegal character '{}' in t_bits string",
                    char::from(*other)
                )),
            })
        })
        .collect()
}

pub(super) fn split(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    let args = invocation.args;
    check_superuser(session, "raw page")?;
    let [relation, data, first, second, bits, ..] = args else {
        return Err(SqlError::internal("five arguments were expected"));
    };
    if data.is_null() || relation.is_null() || first.is_null() || second.is_null() {
        return Ok(Returned::Value(Datum::Null));
    }
    let whole = args.get(5).is_some_and(|value| !value.is_null() && bool::from_datum(value));
    let relation = Relation::open(session, Oid(u32::from_datum(relation)))?;
    let heap = relation.table.heap.as_ref().filter(|_| relation.index.is_none());
    let Some(heap) = heap else {
        return Err(sql_err!(FEATURE_NOT_SUPPORTED, "only heap AM is supported"));
    };
    let (layout, stored) = (&heap.desc.layout, i32::from_datum(second) as u16 & infomask2::COLUMNS);
    let columns = usize::from(stored);
    if columns > layout.len() {
        return Err(sql_err!(
            INVALID_PARAMETER_VALUE,
            "number of attributes in tuple header is greater than number of attributes in tuple descriptor"
        ));
    }
    let nulls = match (i32::from_datum(first) as u16 & infomask::HAS_NULL != 0, bits) {
        (true, Datum::Null) => {
            return Err(sql_err!(INVALID_PARAMETER_VALUE, "t_bits string must not be NULL"));
        }
        (true, bits) => Some(bitmap(<&str>::from_datum(bits), columns)?),
        (false, _) => None,
    };
    let row = RowBytes { columns, nulls: nulls.as_deref(), data: <&[u8]>::from_datum(data) };
    let mut values: Vec<Datum> = Vec::new();
    let decoded = layout.decode_over(&row, layout.len(), &mut values);
    decoded.map_err(|_| sql_err!(DATA_CORRUPTED, "unexpected end of tuple data"))?;
    let access = session.engine().heap_access();
    let mut out = Vec::new();
    for (value, attr) in values.into_iter().zip(layout.attrs()) {
        let value = match value {
            value @ Datum::Toasted(_) if whole => {
                detoast(&access, heap.desc.toast.as_ref(), &value).map_err(HeapError::into_sql)?
            }
            value => value,
        };
        out.push(bytes_of(value, attr, whole));
    }
    types::array::Array::from_values(types::oids::bytea, out, invocation.call)
        .map(|array| Returned::Value(array.to_datum()))
}

/// A value as it is stored; `bare`: without its length.
fn bytes_of(value: Datum, attr: &Attr, bare: bool) -> Datum {
    match value {
        Datum::Null => Datum::Null,
        Datum::Bytes(bytes) if bare => Datum::Bytes(bytes),
        Datum::Toasted(bytes) => Datum::Bytes(bytes.to_vec().into()),
        value => {
            let mut out = Vec::new();
            RowLayout::new(vec![*attr]).encode(&[value], &mut out);
            Datum::Bytes(out.into())
        }
    }
}
