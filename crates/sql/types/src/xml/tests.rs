//! Names and values between SQL and XML.

use super::*;
use crate::call::{Call, FormatContext};
use crate::oids;

#[test]
fn names_go_there_and_back() {
    for (name, mapped) in [
        (":::_xml_abc135.%-&_", "_x003A_::_x005F_xml_abc135._x0025_-_x0026__"),
        ("123", "_x0031_23"),
        ("a b", "a_x0020_b"),
        ("é", "é"),
    ] {
        assert_eq!(xml_name(name, false, false), mapped);
        assert_eq!(sql_name(mapped), name);
    }
    assert_eq!(xml_name("a:b", true, false), "a_x003A_b");
    assert_eq!(xml_name("XMLq", true, false), "_x0058_MLq");
    assert_eq!(xml_name("a.b", true, true), "a_x002E_b");
    assert_eq!(sql_name("_x00_é_xZZZZ_"), "_x00_é_xZZZZ_");
}

#[test]
fn a_declaration_is_shown_if_it_says_something() {
    for (stored, shown) in [
        ("<?xml version=\"1.0\"?>\n<a/>", "<a/>"),
        ("<?xml version=\"1.0\" encoding=\"latin1\"?><a/>", "<a/>"),
        ("<?xml version=\"1.1\"?>\n<a/>", "<?xml version=\"1.1\"?>\n<a/>"),
        ("<?xml version='1.0' standalone='yes'?><a/>", "<?xml version=\"1.0\" standalone=\"yes\"?><a/>"),
        ("<?xml-stylesheet?>", "<?xml-stylesheet?>"),
    ] {
        let mut out = Vec::new();
        output(stored, &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), shown);
    }
}

#[test]
fn binary_values_are_read_in_the_encoding_that_they_name() {
    let text = |value: SqlResult<Datum>| text_of(&value.unwrap()).to_owned();
    let declared = b"<?xml version=\"1.0\" encoding=\"latin1\"?><a>\xe9</a>";
    assert_eq!(text(receive(declared, false)), "<?xml version=\"1.0\" encoding=\"latin1\"?><a>é</a>");
    assert_eq!(text(receive("<a>é</a>".as_bytes(), true)), "<a>é</a>");
    assert!(receive(b"<a>\xe9</a>", false).is_err());
    assert!(receive(b"<?xml version=\"1.0\" encoding=\"nonsense\"?><a/>", false).is_err());
}

#[test]
fn values_have_the_form_of_xml_schema() {
    let format = FormatContext { xml_hex: true, ..FormatContext::default() };
    let cx = Call::new(&format);
    let shown = |type_oid, value: Datum| value_text(type_oid, &value, true, &cx).unwrap();
    assert_eq!(shown(oids::bytea, Datum::text("bar")), "626172");
    assert_eq!(shown(oids::bool, Datum::Bool(true)), "true");
    assert_eq!(shown(oids::text, Datum::text("<\r")), "&lt;&#x0d;");
    assert_eq!(shown(oids::xml, Datum::text("<a/>")), "<a/>");
    let plain = FormatContext::default();
    let lines = value_text(oids::bytea, &Datum::text(&"a".repeat(60)), true, &Call::new(&plain)).unwrap();
    assert_eq!(lines.lines().map(str::len).collect::<Vec<_>>(), [72, 8]);
}
