use base::Oid;
use tuple::Datum;

use super::*;
use crate::call::{Call, FormatContext};
use crate::oids;

fn columns(types: &[Oid]) -> Vec<Column> {
    let field = |oid: &Oid| match oid.is_valid() {
        true => FieldType::new(*oid, &crate::builtin_type(*oid).unwrap().shape()),
        false => FieldType::DROPPED,
    };
    types.iter().map(|oid| Column { field: field(oid), typmod: -1 }).collect()
}

fn read(types: &[Oid], text: &str) -> Result<Datum, String> {
    let format = FormatContext::default();
    input(Oid(99999), &columns(types), text, &Call::new(&format))
        .map_err(|e| e.report().detail.clone().unwrap_or_else(|| e.message().to_owned()))
}

fn show(value: &Datum) -> String {
    let Datum::Bytes(bytes) = value else { panic!("a row") };
    let format = FormatContext::default();
    let mut out = Vec::new();
    output(bytes, None, &Call::new(&format), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn text_forms_come_back() {
    let types = [oids::int4, oids::text, oids::text];
    for (given, shown) in [
        ("(1,a,b)", "(1,a,b)"),
        (" ( 7 ,\"\",) ", "(7,\"\",)"),
        ("(1,\"a,\"\"b\\\\\",x\\,y)", "(1,\"a,\"\"b\\\\\",\"x,y\")"),
        ("(,a b,\"(\")", "(,\"a b\",\"(\")"),
    ] {
        assert_eq!(show(&read(&types, given).unwrap()), shown);
    }
}

#[test]
fn malformed_text_is_refused() {
    let types = [oids::int4, oids::text];
    for (given, detail) in [
        ("1,a", "Missing left parenthesis."),
        ("(1)", "Too few columns."),
        ("(1,a,b)", "Too many columns."),
        ("(1,a", "Unexpected end of input."),
        ("(1,\"a)", "Unexpected end of input."),
        ("(1,a) x", "Junk after right parenthesis."),
    ] {
        assert_eq!(read(&types, given).unwrap_err(), detail, "{given}");
    }
}

#[test]
fn binary_forms_come_back_without_dropped_columns() {
    let format = FormatContext::default();
    let cx = Call::new(&format);
    let columns = columns(&[oids::int4, Oid::INVALID, oids::text]);
    let row = input(Oid(99999), &columns, "(1,)", &cx).unwrap();
    let Datum::Bytes(bytes) = &row else { panic!("a row") };
    let mut sent = Vec::new();
    send(bytes, Some(&columns), &cx, &mut sent).unwrap();
    assert_eq!(sent[..4], 2i32.to_be_bytes());
    assert_eq!(receive(Oid(99999), &columns, &sent, &cx).unwrap(), row);
    sent[7] = 25;
    let error = receive(Oid(99999), &columns, &sent, &cx).unwrap_err();
    assert_eq!(
        error.message(),
        "binary data has type 25 (text) instead of expected 23 (integer) in record column 1"
    );
}

#[test]
fn rows_order_field_by_field_with_null_last() {
    let types = [oids::int4, oids::text];
    let rows = ["(1,a)", "(1,b)", "(1,)", "(2,a)", "(,a)"].map(|text| read(&types, text).unwrap());
    let order = crate::compare(oids::record).unwrap();
    let hash = crate::hash(oids::record).unwrap();
    for pair in rows.windows(2) {
        assert!(order(&pair[0], &pair[1]).is_lt());
        assert_ne!(hash(&pair[0]), hash(&pair[1]));
    }
}

#[test]
fn damaged_payloads_have_no_fields() {
    let Datum::Bytes(bytes) = read(&[oids::int4, oids::text], "(1,abc)").unwrap() else { panic!("a row") };
    for length in 0..bytes.len() {
        assert!(Row::from_payload(&bytes[..length]).fields.is_empty());
    }
    assert_eq!(field(&bytes, 1), Datum::text("abc"));
    assert_eq!(field(&bytes, 2), Datum::Null);
}
