//! Tests of documents: text, stored form, and bytes that are neither.

use base::{SqlResult, SqlState};
use proptest::prelude::*;
use tuple::{Bytes, Datum};

use crate::{
    Call, FormatContext, oids,
    registry::{input, output, receive, send},
    value::FromDatum,
};

use super::{
    binary::{Builder, Json, Kind},
    compare_datums,
    contains::contains,
    edit, hash_datum,
};

fn with<T>(f: impl FnOnce(&Call) -> T) -> T {
    let format = FormatContext::default();
    f(&Call::new(&format))
}

fn jsonb(text: &str) -> Datum {
    with(|cx| input(oids::jsonb, text, -1, cx)).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn text(value: &Datum) -> String {
    let mut out = Vec::new();
    with(|cx| output(oids::jsonb, value, cx, &mut out)).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn objects_are_ordered_by_length_and_the_last_of_equal_keys_stays() {
    let value = jsonb(r#" {"bb": 1, "a": [1, {"x": null}], "c": "ü", "bb": 2.50, "a": {"k": true}} "#);
    assert_eq!(text(&value), r#"{"a": {"k": true}, "c": "ü", "bb": 2.50}"#);
    let json = Json::from_datum(&value);
    assert_eq!(json.get("a").map(|a| a.get("k").map(Json::kind)), Some(Some(Kind::Bool(true))));
    assert!(json.get("b").is_none());
}

#[test]
fn what_fell_away_leaves_no_bytes() {
    assert_eq!(jsonb(r#"{"a": [1, 2, 3, 4], "a": 1}"#), jsonb(r#"{"a": 1}"#));
}

#[test]
fn errors_tell_place_and_line() {
    let error = |text: &str| with(|cx| input(oids::json, text, -1, cx)).unwrap_err().report().clone();
    let found = error("{\"a\":\n [1, tru]}");
    assert_eq!(found.message, "invalid input syntax for type json");
    assert_eq!(found.detail.as_deref(), Some("Token \"tru\" is invalid."));
    assert_eq!(found.context.as_deref(), Some("JSON data, line 2:  [1, tru..."));
    assert_eq!(error("[1,]").detail.as_deref(), Some("Expected JSON value, but found \"]\"."));
    assert_eq!(error("[1").detail.as_deref(), Some("The input string ended unexpectedly."));
    assert_eq!(error("\"\\q\"").detail.as_deref(), Some("Escape sequence \"\\q\" is invalid."));
    assert_eq!(error("01").detail.as_deref(), Some("Token \"01\" is invalid."));
}

#[test]
fn escapes_have_a_meaning_only_in_jsonb() {
    for bad in [r#""\u0000""#, r#""\ud800""#, r#""\udc00""#, r#""\ud800x""#, r#""\ud800\ud800""#] {
        with(|cx| {
            assert!(input(oids::json, bad, -1, cx).is_ok(), "{bad}");
            assert!(input(oids::jsonb, bad, -1, cx).is_err(), "{bad}");
        });
    }
    assert_eq!(text(&jsonb(r#""\ud83d\ude04\u00e9\n\/""#)), "\"😄é\\n/\"");
}

#[test]
fn deep_nesting_is_an_error_or_works() {
    let nested = |n: usize| format!("{}1{}", "[".repeat(n), "]".repeat(n));
    runtime::run(move || {
        let error = with(|cx| input(oids::jsonb, &nested(20_000), -1, cx)).unwrap_err();
        assert_eq!(error.code(), SqlState::STATEMENT_TOO_COMPLEX);
        let deep = jsonb(&nested(9000));
        assert_eq!(text(&deep).len(), 18_001);
        let json = Json::from_datum(&deep);
        assert!(contains(json, json).unwrap());
        assert!(compare_datums(&deep, &deep).is_eq());
        let path: Vec<String> = (0..8999).map(|_| "0".to_owned()).collect();
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        let new = jsonb("\"x\"");
        let set = edit::Change::Set { create: true };
        let edited = edit::Edit::new(&path, set, Some(Json::from_datum(&new))).apply(json).unwrap();
        assert!(text(&edited).contains("[\"x\"]"));
    });
}

#[test]
fn order_is_by_kind_then_size_then_members() {
    let sorted = [
        "[]",
        "null",
        "\"\"",
        "\"a\"",
        "-1",
        "1",
        "1e1",
        "false",
        "true",
        "[0]",
        "[1]",
        "[0, 0]",
        "[0, []]",
        "{}",
        r#"{"a": 1}"#,
        r#"{"a": 2}"#,
        r#"{"b": 0}"#,
        r#"{"a": 1, "b": 1}"#,
    ];
    for (i, a) in sorted.iter().enumerate() {
        for (j, b) in sorted.iter().enumerate() {
            assert_eq!(compare_datums(&jsonb(a), &jsonb(b)), i.cmp(&j), "{a} and {b}");
        }
    }
}

#[test]
fn equal_documents_hash_equal() {
    let (a, b) = (jsonb(r#"{"a": 1.0, "b": [10]}"#), jsonb(r#"{"b": [1e1], "a": 1.00}"#));
    assert!(compare_datums(&a, &b).is_eq());
    assert_eq!(hash_datum(&a), hash_datum(&b));
    assert_ne!(hash_datum(&jsonb("[[1], 2]")), hash_datum(&jsonb("[[1, 2]]")));
}

/// Everything that reads a stored value.
fn read_all(bytes: &[u8]) {
    let value = Datum::Bytes(Bytes::new(bytes));
    let json = Json::of(bytes);
    let mut out = Vec::new();
    let _ = with(|cx| output(oids::jsonb, &value, cx, &mut out));
    let _ = compare_datums(&value, &jsonb(r#"{"a": [1, {"b": "x"}]}"#));
    hash_datum(&value);
    let _ = contains(json, json);
    let _ = json.get("a");
    let _ = edit::concat(json, json);
    let _ = edit::delete_keys(json, &["a"]);
    let change = edit::Change::Insert { after: true };
    let _ = edit::Edit::new(&["a", "0"], change, Some(json)).apply(json);
}

fn document() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        any::<bool>().prop_map(|b| b.to_string()),
        any::<i32>().prop_map(|n| n.to_string()),
        "[a-zü]{0,6}".prop_map(|s| format!("\"{s}\"")),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(|list| format!("[{}]", list.join(", "))),
            prop::collection::vec(("[a-c]{0,2}", inner), 0..6).prop_map(|list| {
                let pairs: Vec<String> = list.into_iter().map(|(k, v)| format!("\"{k}\": {v}")).collect();
                format!("{{{}}}", pairs.join(", "))
            }),
        ]
    })
}

proptest! {
    #[test]
    fn text_and_binary_forms_come_back(source in document()) {
        let value = jsonb(&source);
        let again = jsonb(&text(&value));
        prop_assert!(compare_datums(&value, &again).is_eq());
        prop_assert_eq!(hash_datum(&value), hash_datum(&again));
        prop_assert_eq!(text(&value), text(&again));
        let mut wire = Vec::new();
        with(|cx| send(oids::jsonb, &value, cx, &mut wire)).unwrap();
        let received = with(|cx| receive(oids::jsonb, &wire, -1, cx)).unwrap();
        prop_assert!(compare_datums(&value, &received).is_eq());
        prop_assert!(contains(Json::from_datum(&value), Json::from_datum(&again)).unwrap());
    }

    #[test]
    fn every_member_is_found(source in document()) {
        let value = jsonb(&source);
        let json = Json::from_datum(&value);
        for (key, member) in json.pairs() {
            prop_assert_eq!(json.get(key).map(Json::bytes), Some(member.bytes()));
        }
        for i in 0..json.len() {
            let one = json.kind() != Kind::Array || json.element(i).is_some_and(|e| e.kind() != Kind::Damaged);
            prop_assert!(one);
        }
    }

    #[test]
    fn order_is_antisymmetric(a in document(), b in document()) {
        let (a, b) = (jsonb(&a), jsonb(&b));
        prop_assert_eq!(compare_datums(&a, &b), compare_datums(&b, &a).reverse());
    }

    #[test]
    fn bytes_from_the_wire_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        let _ = with(|cx| receive(oids::jsonb, &bytes, -1, cx));
        let _ = with(|cx| receive(oids::json, &bytes, -1, cx));
    }

    #[test]
    fn damaged_text_never_panics(source in document(), at in any::<prop::sample::Index>(), put in "[\\\\\"u\\[{,:0-9a-f ]{0,3}") {
        let mut text = source;
        let mut i = at.index(text.len());
        while !text.is_char_boundary(i) {
            i -= 1;
        }
        text.insert_str(i, &put);
        let _ = with(|cx| input(oids::jsonb, &text, -1, cx));
        let _ = with(|cx| input(oids::json, &text, -1, cx));
    }

    #[test]
    fn damaged_bytes_from_disk_never_panic(source in document(), changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let Datum::Bytes(bytes) = jsonb(&source) else { return Ok(()) };
        let mut bytes = bytes.as_slice().to_vec();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        read_all(&bytes);
    }

    #[test]
    fn any_bytes_from_disk_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        read_all(&bytes);
    }
}

#[test]
fn a_builder_gives_what_the_text_means() {
    let mut out = Builder::new();
    out.open(true);
    out.key("b").unwrap();
    out.null();
    out.key("a").unwrap();
    out.node(Json::from_datum(&jsonb("[1, 2]")));
    out.close().unwrap();
    assert!(compare_datums(&out.finish(), &jsonb(r#"{"a": [1, 2], "b": null}"#)).is_eq());
}

#[test]
fn rows_come_from_objects_by_the_columns_that_are_asked_for() {
    let column = |name: &str, type_oid| crate::call::ResultColumn { name: name.into(), type_oid, typmod: -1 };
    let columns = [
        column("a", oids::int4),
        column("b", oids::_int4),
        column("c", oids::jsonb),
        column("d", oids::text),
    ];
    let rows = |function: u32, document: &Datum| -> SqlResult<Vec<Vec<Datum>>> {
        let Some(crate::Imp::Set(start)) = crate::registry::function(base::Oid(function)).map(|f| f.imp)
        else {
            panic!("no set-returning function {function}");
        };
        with(|cx| {
            let mut rows = start(&Call { columns: &columns, ..*cx }, std::slice::from_ref(document))?;
            let (mut all, mut row) = (Vec::new(), Vec::new());
            while rows.next(&mut row)? {
                all.push(row.clone());
            }
            Ok(all)
        })
    };
    let source = r#"[{"a": "7", "b": [[1, null], [3, 4]], "c": null}, {"c": {"x": 1}, "d": true}]"#;
    for (function, document) in [(3205, Datum::text(source)), (3491, jsonb(source))] {
        let found = rows(function, &document).unwrap();
        assert_eq!(found[0][0], Datum::Int4(7));
        let mut shown = Vec::new();
        with(|cx| output(oids::_int4, &found[0][1], cx, &mut shown)).unwrap();
        assert_eq!(shown, b"{{1,NULL},{3,4}}");
        assert_eq!(found[0][2..], [Datum::Null, Datum::Null]);
        assert_eq!(found[1][..2], [Datum::Null, Datum::Null]);
        assert_eq!(text(&found[1][2]), r#"{"x": 1}"#);
        assert_eq!(found[1][3], Datum::text("true"));
    }
    let error = rows(3205, &Datum::text(r#"[{"b": [[1], 2]}]"#)).unwrap_err();
    assert_eq!(error.report().hint.as_deref(), Some("See the array element [1] of key \"b\"."));
    assert_eq!(rows(3491, &jsonb("[1]")).unwrap_err().code(), SqlState::INVALID_PARAMETER_VALUE);
}
