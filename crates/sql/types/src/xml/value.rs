//! Values of SQL as text in XML.

use base::{Oid, SqlResult, sql_err};
use tuple::Datum;

use crate::array::Array;
use crate::call::Call;
use crate::json::{Category, category, moment_text};
use crate::value::{FromDatum, str_of};
use crate::{date, oids, registry, timestamp};

/// Text that stands in an element.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\r' => out.push_str("&#x0d;"),
            c => out.push(c),
        }
    }
    out
}

/// A value as XML Schema writes it; `escape`: text that is not XML itself is escaped.
pub fn text(type_oid: Oid, value: &Datum, escape: bool, cx: &Call) -> SqlResult<String> {
    let (category, base) = category(type_oid, cx);
    match category {
        Category::Array => return array(value, cx),
        Category::Bool => return Ok(if bool::from_datum(value) { "true" } else { "false" }.to_owned()),
        Category::Date if !date::is_finite(i32::from_datum(value)) => {
            return Err(sql_err!(DATETIME_FIELD_OVERFLOW, "date out of range")
                .detail("XML does not support infinite date values."));
        }
        Category::Timestamp | Category::TimestampTz if !timestamp::is_finite(i64::from_datum(value)) => {
            return Err(sql_err!(DATETIME_FIELD_OVERFLOW, "timestamp out of range")
                .detail("XML does not support infinite timestamp values."));
        }
        Category::Date | Category::Timestamp | Category::TimestampTz => {
            return Ok(moment_text(category, value, cx));
        }
        _ => {}
    }
    if base == oids::bytea {
        return bytes(<&[u8]>::from_datum(value), cx.format.xml_hex);
    }
    let mut out = Vec::new();
    registry::output(base, value, cx, &mut out)?;
    let text = str_of(&out);
    Ok(if escape && base != oids::xml { escaped(text) } else { text.to_owned() })
}

/// Elements in order, each in an element of its own.
fn array(value: &Datum, cx: &Call) -> SqlResult<String> {
    let array = Array::from_payload(<&[u8]>::from_datum(value));
    let mut out = String::new();
    for element in array.elements().iter().filter(|e| !e.is_null()) {
        cx.session.check_interrupts()?;
        out.push_str("<element>");
        out.push_str(&text(array.element, element, true, cx)?);
        out.push_str("</element>");
    }
    Ok(out)
}

/// Characters of a line of base64.
const LINE: usize = 72;

fn bytes(bytes: &[u8], hex: bool) -> SqlResult<String> {
    if hex {
        return Ok(bytes.iter().map(|b| format!("{b:02X}")).collect());
    }
    let mut plain = crate::text::base64(bytes)?;
    plain.retain(|b| *b != b'\n');
    let lines: Vec<&str> = plain.chunks(LINE).map(str_of).collect();
    Ok(lines.join("\r\n"))
}
