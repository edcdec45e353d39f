//! The `pg_type` and `pg_proc` entries of `xml`.

use base::{SqlResult, sql_err};

use super::{construct, path};
use crate::registry::types::prelude::*;
use crate::value::str_of;

/// A document, or content of one, as its text.
pub(crate) static XML: TypeImp = TypeImp {
    row: Some(TypeInfo {
        array: oids::_xml,
        io: [Oid(2893), Oid(2894), Oid(2898), Oid(2899)],
        ..TypeInfo::new(oids::xml, "xml", b'U', Physical::Varlena)
    }),
    input: |_, text, _, cx| super::input(text, cx.format.xml_document),
    output: |_, value, _, out| super::output(str_of(<&[u8]>::from_datum(value)), out),
    receive: |_, reader, _, cx| super::receive(reader.rest(), cx.format.xml_document),
    send: |_, value, _, out| super::output(str_of(<&[u8]>::from_datum(value)), out),
    ..TypeImp::NONE
};

functions! {
    2893 xml_in(cstring) -> xml [stable strict] { input xml }
    2894 xml_out(xml) -> cstring [immutable strict] { output xml }
    2898 xml_recv(internal) -> xml [stable strict] { receive xml }
    2899 xml_send(xml) -> bytea [stable strict] { send xml }
    2614 xmlexists(text, xml) -> bool [immutable strict] { fn path::xml_exists }
    2895 xmlcomment(text) -> xml [immutable strict] { |x: &str| construct::comment(x) }
    2896 xml(text) -> xml [stable strict] { |cx; x: &str| super::input(x, cx.format.xml_document) }
    2897 xmlvalidate(xml, text) -> bool [immutable strict] { |_x: &str, _y: &str| not_validated() }
    2900 xmlconcat2(xml, xml) -> xml [immutable] { fn construct::concat_two }
    2901 xmlagg(xml) -> xml [immutable] { aggregate }
    2922 text(xml) -> text [immutable strict] { |x: &Datum| x.clone() }
    2923 table_to_xml(regclass, bool, bool, text) -> xml [stable strict restricted cost(100.0) names(&["tbl", "nulls", "tableforest", "targetns"])] { session TableToXml }
    2924 query_to_xml(text, bool, bool, text) -> xml [strict parallel_unsafe cost(100.0) names(&["query", "nulls", "tableforest", "targetns"])] { session QueryToXml }
    2925 cursor_to_xml(refcursor, int4, bool, bool, text) -> xml [strict parallel_unsafe cost(100.0) names(&["cursor", "count", "nulls", "tableforest", "targetns"])] { session CursorToXml }
    2926 table_to_xmlschema(regclass, bool, bool, text) -> xml [stable strict restricted cost(100.0) names(&["tbl", "nulls", "tableforest", "targetns"])] { session TableToXmlschema }
    2927 query_to_xmlschema(text, bool, bool, text) -> xml [strict parallel_unsafe cost(100.0) names(&["query", "nulls", "tableforest", "targetns"])] { session QueryToXmlschema }
    2928 cursor_to_xmlschema(refcursor, bool, bool, text) -> xml [strict parallel_unsafe cost(100.0) names(&["cursor", "nulls", "tableforest", "targetns"])] { session CursorToXmlschema }
    2929 table_to_xml_and_xmlschema(regclass, bool, bool, text) -> xml [stable strict restricted cost(100.0) names(&["tbl", "nulls", "tableforest", "targetns"])] { session TableToXmlAndXmlschema }
    2930 query_to_xml_and_xmlschema(text, bool, bool, text) -> xml [strict parallel_unsafe cost(100.0) names(&["query", "nulls", "tableforest", "targetns"])] { session QueryToXmlAndXmlschema }
    2931 xpath(text, xml, _text) -> _xml [immutable strict] { fn path::xpath }
    2932 xpath(text, xml) -> _xml [immutable strict] { fn path::xpath }
    2933 schema_to_xml(name, bool, bool, text) -> xml [stable strict restricted cost(100.0) names(&["schema", "nulls", "tableforest", "targetns"])] { session SchemaToXml }
    2934 schema_to_xmlschema(name, bool, bool, text) -> xml [stable strict restricted cost(100.0) names(&["schema", "nulls", "tableforest", "targetns"])] { session SchemaToXmlschema }
    2935 schema_to_xml_and_xmlschema(name, bool, bool, text) -> xml [stable strict restricted cost(100.0) names(&["schema", "nulls", "tableforest", "targetns"])] { session SchemaToXmlAndXmlschema }
    2936 database_to_xml(bool, bool, text) -> xml [stable strict restricted cost(100.0) names(&["nulls", "tableforest", "targetns"])] { session DatabaseToXml }
    2937 database_to_xmlschema(bool, bool, text) -> xml [stable strict restricted cost(100.0) names(&["nulls", "tableforest", "targetns"])] { session DatabaseToXmlschema }
    2938 database_to_xml_and_xmlschema(bool, bool, text) -> xml [stable strict restricted cost(100.0) names(&["nulls", "tableforest", "targetns"])] { session DatabaseToXmlAndXmlschema }
    3049 xpath_exists(text, xml, _text) -> bool [immutable strict] { fn path::xpath_exists }
    3050 xpath_exists(text, xml) -> bool [immutable strict] { fn path::xpath_exists }
    3051 xml_is_well_formed(text) -> bool [stable strict] { |cx; x: &str| super::is_well_formed(x, cx.format.xml_document) }
    3052 xml_is_well_formed_document(text) -> bool [immutable strict] { |x: &str| super::is_well_formed(x, true) }
    3053 xml_is_well_formed_content(text) -> bool [immutable strict] { |x: &str| super::is_well_formed(x, false) }
    3813 xmltext(text) -> xml [immutable strict] { |x: &str| construct::text(x) }
}

fn not_validated() -> SqlResult<bool> {
    Err(sql_err!(FEATURE_NOT_SUPPORTED, "xmlvalidate is not implemented"))
}
