//! `pg_snapshot` and its older name `txid_snapshot`: which transactions had ended at a moment.
//!
//! Layout · A payload is a row of little-endian `u64`: `xmin`, `xmax`, then the xids in progress between them, ascending, each once.
//!
//! PostgreSQL counterpart and differences · `xid8funcs.c`. As there, no xid whose lower half is zero is accepted from outside.

use base::{SqlError, SqlResult, sql_err};
use tuple::{Bytes, Datum};

use crate::call::Call;
use crate::registry::types::prelude::*;
use crate::registry::{SetRows, Values};
use crate::value::{FromDatum, Reader};

/// What both names share.
const fn snapshot(oid: Oid, name: &'static str, array: Oid, io: [u32; 4]) -> TypeImp {
    TypeImp {
        row: Some(TypeInfo {
            array,
            io: io_functions(io),
            align: 8,
            ..TypeInfo::new(oid, name, b'U', Physical::Varlena)
        }),
        input: |_, text, _, _| parse(text),
        output: |_, value, _, out| show(text(<&[u8]>::from_datum(value)), out),
        receive: |_, reader, _, _| receive(reader),
        send: |_, value, _, out| {
            send(<&[u8]>::from_datum(value), out);
            Ok(())
        },
        ..TypeImp::NONE
    }
}

/// Which transactions a snapshot sees.
pub(crate) static PG_SNAPSHOT: TypeImp =
    snapshot(oids::pg_snapshot, "pg_snapshot", oids::_pg_snapshot, [5055, 5056, 5057, 5058]);

/// The same under its old name.
pub(crate) static TXID_SNAPSHOT: TypeImp =
    snapshot(oids::txid_snapshot, "txid_snapshot", oids::_txid_snapshot, [2939, 2940, 2941, 2942]);

functions! {
    2939 txid_snapshot_in(cstring) -> txid_snapshot [immutable strict] { input txid_snapshot }
    2940 txid_snapshot_out(txid_snapshot) -> cstring [immutable strict] { output txid_snapshot }
    2941 txid_snapshot_recv(internal) -> txid_snapshot [immutable strict] { receive txid_snapshot }
    2942 txid_snapshot_send(txid_snapshot) -> bytea [immutable strict] { send txid_snapshot }
    5055 pg_snapshot_in(cstring) -> pg_snapshot [immutable strict] { input pg_snapshot }
    5056 pg_snapshot_out(pg_snapshot) -> cstring [immutable strict] { output pg_snapshot }
    5057 pg_snapshot_recv(internal) -> pg_snapshot [immutable strict] { receive pg_snapshot }
    5058 pg_snapshot_send(pg_snapshot) -> bytea [immutable strict] { send pg_snapshot }
    5062 pg_snapshot_xmin(pg_snapshot) -> xid8 [immutable strict] { |a: &[u8]| xid(a, 0) as i64 }
    2945 txid_snapshot_xmin(txid_snapshot) -> int8 [immutable strict] { |a: &[u8]| xid(a, 0) as i64 }
    5063 pg_snapshot_xmax(pg_snapshot) -> xid8 [immutable strict] { |a: &[u8]| xid(a, 1) as i64 }
    2946 txid_snapshot_xmax(txid_snapshot) -> int8 [immutable strict] { |a: &[u8]| xid(a, 1) as i64 }
    5064 pg_snapshot_xip(pg_snapshot) -> xid8 [immutable strict returns_set rows(50.0)] { set xip }
    2947 txid_snapshot_xip(txid_snapshot) -> int8 [immutable strict returns_set rows(50.0)] { set xip }
    5065 pg_visible_in_snapshot(xid8, pg_snapshot) -> bool [immutable strict] { |id: i64, a: &[u8]| sees(a, id as u64) }
    2948 txid_visible_in_snapshot(int8, txid_snapshot) -> bool [immutable strict] { |id: i64, a: &[u8]| sees(a, id as u64) }
}

/// The value of these bounds and of these xids between them, ascending.
pub fn snapshot_datum(xmin: u64, xmax: u64, in_progress: impl IntoIterator<Item = u64>) -> Datum {
    let mut bytes = Vec::with_capacity(16);
    for xid in [xmin, xmax].into_iter().chain(in_progress) {
        bytes.extend_from_slice(&xid.to_le_bytes());
    }
    Datum::Bytes(Bytes::new(&bytes))
}

/// Number `at` of the payload; 0 behind its end.
fn xid(payload: &[u8], at: usize) -> u64 {
    let bytes = payload.chunks_exact(8).nth(at).and_then(|chunk| chunk.try_into().ok());
    bytes.map_or(0, u64::from_le_bytes)
}

fn in_progress(payload: &[u8]) -> impl Iterator<Item = u64> {
    (2..payload.len() / 8).map(|at| xid(payload, at))
}

fn xip(_: &Call, args: &[Datum]) -> SqlResult<Box<dyn SetRows>> {
    let xids: Vec<u64> = in_progress(<&[u8]>::from_datum(&args[0])).collect();
    Ok(Box::new(Values(xids.into_iter().map(|xid| Ok(Datum::Int8(xid as i64))))))
}

/// Whether a transaction had ended.
fn sees(payload: &[u8], id: u64) -> bool {
    if id < xid(payload, 0) || id >= xid(payload, 1) {
        return id < xid(payload, 0);
    }
    let (mut from, mut to) = (2, payload.len() / 8);
    while from < to {
        let middle = from + (to - from) / 2;
        match xid(payload, middle).cmp(&id) {
            std::cmp::Ordering::Equal => return false,
            std::cmp::Ordering::Less => from = middle + 1,
            std::cmp::Ordering::Greater => to = middle,
        }
    }
    true
}

/// Whether an xid from outside can be a bound.
fn is_bound(xid: u64) -> bool {
    xid as u32 != 0
}

/// Reads `xmin:xmax:xip,xip`.
pub fn parse(text: &str) -> SqlResult<Datum> {
    parts(text).ok_or_else(|| {
        // The older type's errors have the newer one's name, too.
        sql_err!(INVALID_TEXT_REPRESENTATION, "invalid input syntax for type pg_snapshot: \"{text}\"")
    })
}

fn parts(text: &str) -> Option<Datum> {
    let mut rest = text;
    let xmin = number(&mut rest)?;
    rest = rest.strip_prefix(':')?;
    let xmax = number(&mut rest)?;
    rest = rest.strip_prefix(':')?;
    if !is_bound(xmin) || !is_bound(xmax) || xmax < xmin {
        return None;
    }
    let mut xids = Vec::new();
    while !rest.is_empty() {
        let xid = number(&mut rest)?;
        let last = xids.last().copied().unwrap_or(xmin);
        if xid < last || xid >= xmax {
            return None;
        }
        if xids.last() != Some(&xid) {
            xids.push(xid);
        }
        if !rest.is_empty() {
            rest = rest.strip_prefix(',')?;
        }
    }
    Some(snapshot_datum(xmin, xmax, xids))
}

/// The number at the front of `rest`, as `strtoull` reads it: blanks and a sign before it, too large ones cut.
fn number(rest: &mut &str) -> Option<u64> {
    let body = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '\x0b');
    let (negative, body) = match body.as_bytes().first()? {
        b'-' => (true, &body[1..]),
        b'+' => (false, &body[1..]),
        _ => (false, body),
    };
    let length = body.bytes().take_while(u8::is_ascii_digit).count();
    if length == 0 {
        return None;
    }
    *rest = &body[length..];
    Some(match body[..length].parse::<u64>() {
        Ok(value) if negative => value.wrapping_neg(),
        Ok(value) => value,
        Err(_) => u64::MAX,
    })
}

/// Text of a snapshot.
pub fn text(payload: &[u8]) -> String {
    let xids: Vec<String> = in_progress(payload).map(|xid| xid.to_string()).collect();
    format!("{}:{}:{}", xid(payload, 0), xid(payload, 1), xids.join(","))
}

/// Reads the binary form: number of xids, `xmin`, `xmax`, xids.
pub fn receive(reader: &mut Reader<'_>) -> SqlResult<Datum> {
    let bad = || -> SqlError { sql_err!(INVALID_BINARY_REPRESENTATION, "invalid external pg_snapshot data") };
    let count = usize::try_from(reader.i32()?).map_err(|_| bad())?;
    let mut next = || reader.i64().map(|xid| xid as u64);
    let (xmin, xmax) = (next()?, next()?);
    if !is_bound(xmin) || !is_bound(xmax) || xmax < xmin || xmax > i64::MAX as u64 {
        return Err(bad());
    }
    let mut xids: Vec<u64> = Vec::new();
    for _ in 0..count {
        let xid = next()?;
        if xid < xids.last().copied().unwrap_or(xmin) || xid > xmax {
            return Err(bad());
        }
        if xids.last() != Some(&xid) {
            xids.push(xid);
        }
    }
    Ok(snapshot_datum(xmin, xmax, xids))
}

/// Appends the binary form.
pub fn send(payload: &[u8], out: &mut Vec<u8>) {
    let count = (payload.len() / 8).saturating_sub(2);
    out.extend_from_slice(&(count as u32).to_be_bytes());
    for at in 0..count + 2 {
        out.extend_from_slice(&xid(payload, at).to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<String> {
        parse(text).ok().map(|value| super::text(<&[u8]>::from_datum(&value)))
    }

    #[test]
    fn text_is_read_as_postgresql_reads_it() {
        for (text, value) in [
            ("12:18:14,16", "12:18:14,16"),
            (" +12: 13:12,", "12:13:12"),
            ("12:16:14,14", "12:16:14"),
            ("12:12:", "12:12:"),
            ("1:99999999999999999999:3", "1:18446744073709551615:3"),
        ] {
            assert_eq!(read(text).as_deref(), Some(value), "{text}");
        }
        for text in [
            "",
            "12:13",
            "31:12:",
            "0:1:",
            "12:13:0",
            "12:16:14,13",
            "12:16:16",
            "12 :13:",
            "12:15:12 ",
            "12:15:,12",
            "0x10:17:",
            "1:9223372036854775808:3",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn a_search_finds_who_was_in_progress() {
        let value = parse("10:40:10,12,20,21,39").unwrap();
        let payload = <&[u8]>::from_datum(&value);
        let unseen: Vec<u64> = (5..45).filter(|&id| !sees(payload, id)).collect();
        assert_eq!(unseen, [10, 12, 20, 21, 39, 40, 41, 42, 43, 44]);
    }

    #[test]
    fn the_binary_form_is_checked() {
        let value = parse("12:18:14,16").unwrap();
        let mut bytes = Vec::new();
        send(<&[u8]>::from_datum(&value), &mut bytes);
        assert_eq!(bytes.len(), 4 + 4 * 8);
        assert_eq!(receive(&mut Reader::new(&bytes)).unwrap(), value);
        for cut in 0..bytes.len() {
            assert!(receive(&mut Reader::new(&bytes[..cut])).is_err());
        }
        // Xids out of order, and more of them than anybody has memory for.
        bytes[27] = 17;
        assert_eq!(
            receive(&mut Reader::new(&bytes)).unwrap_err().message(),
            "invalid external pg_snapshot data"
        );
        assert!(receive(&mut Reader::new(&[0x7F, 0xFF, 0xFF, 0xFF])).is_err());
    }
}
