//! Values made of others: XMLELEMENT, XMLFOREST, XMLCONCAT and so on.

use ::xml::{declaration, escape_attribute};
use base::{Oid, SqlError, SqlResult, sql_err};
use tuple::Datum;

use super::{datum, is_wrong, parsed, text_of, value};
use crate::aggregate::{AggState, AggregateImp};
use crate::call::Call;

/// STANDALONE of XMLROOT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standalone {
    /// YES
    Yes,
    /// NO
    No,
    /// NO VALUE
    NoValue,
    /// As the value has it.
    Omitted,
}

/// A value with the name that it is to have.
pub struct Attribute<'a> {
    /// Name of XML.
    pub name: &'a str,
    /// Type of the value.
    pub type_oid: Oid,
    /// The value.
    pub value: &'a Datum,
}

/// XMLELEMENT.
pub fn element(
    name: &str,
    attributes: &[Attribute<'_>],
    content: &[(Oid, &Datum)],
    cx: &Call,
) -> SqlResult<Datum> {
    let mut out = format!("<{name}");
    for a in attributes.iter().filter(|a| !a.value.is_null()) {
        let text = value::text(a.type_oid, a.value, false, cx)?;
        out.push_str(&format!(" {}=\"", a.name));
        escape_attribute(&text, true, &mut out);
        out.push('"');
    }
    let mut closed = false;
    for (type_oid, item) in content.iter().filter(|(_, v)| !v.is_null()) {
        if !std::mem::replace(&mut closed, true) {
            out.push('>');
        }
        out.push_str(&value::text(*type_oid, item, true, cx)?);
    }
    match closed {
        true => out.push_str(&format!("</{name}>")),
        false => out.push_str("/>"),
    }
    Ok(datum(out))
}

/// XMLFOREST.
pub fn forest(items: &[Attribute<'_>], cx: &Call) -> SqlResult<Datum> {
    let mut out = String::new();
    for item in items.iter().filter(|i| !i.value.is_null()) {
        let text = value::text(item.type_oid, item.value, true, cx)?;
        out.push_str(&format!("<{0}>{text}</{0}>", item.name));
    }
    Ok(if items.iter().all(|i| i.value.is_null()) { Datum::Null } else { datum(out) })
}

/// XMLCONCAT: contents behind each other, with one declaration that holds for all.
pub fn concat(values: &[Datum]) -> SqlResult<Datum> {
    let mut out = String::new();
    let mut version: Option<String> = None;
    let mut versions_differ = false;
    let mut standalone = Some(true);
    let mut any = false;
    for text in values.iter().filter(|v| !v.is_null()).map(text_of) {
        runtime::check_interrupts()?;
        any = true;
        let (declared, length) = declaration::parse(text).unwrap_or_default();
        standalone = match (standalone, declared.standalone) {
            (Some(_), None) | (None, _) => None,
            (Some(all), Some(this)) => Some(all && this),
        };
        match (&version, declared.version) {
            (_, None) => versions_differ = true,
            (None, Some(first)) => version = Some(first),
            (Some(first), Some(other)) => versions_differ |= *first != other,
        }
        out.push_str(&text[length..]);
    }
    if !any {
        return Ok(Datum::Null);
    }
    let version = version.filter(|_| !versions_differ);
    if version.is_some() || standalone.is_some() {
        let head = declaration::written(version.as_deref(), None, standalone).unwrap_or_default();
        out.insert_str(0, &head);
    }
    Ok(datum(out))
}

pub(super) fn concat_two(_cx: &Call, args: &[Datum]) -> SqlResult<Datum> {
    match args {
        [a, Datum::Null] => Ok(a.clone()),
        [Datum::Null, b] => Ok(b.clone()),
        _ => concat(args),
    }
}

/// `xmltext`
pub(super) fn text(text: &str) -> SqlResult<Datum> {
    let mut out = String::new();
    ::xml::escape_text(text, &mut out);
    Ok(datum(out.replace('"', "&quot;")))
}

/// `xmlcomment`
pub(super) fn comment(text: &str) -> SqlResult<Datum> {
    if text.contains("--") || text.ends_with('-') {
        return Err(sql_err!(INVALID_XML_COMMENT, "invalid XML comment"));
    }
    Ok(datum(format!("<!--{text}-->")))
}

/// XMLPI; `content` is NULL where it is given as NULL.
pub fn instruction(name: &str, content: Option<&Datum>) -> SqlResult<Datum> {
    let wrong = |detail: &str| {
        sql_err!(INVALID_XML_PROCESSING_INSTRUCTION, "invalid XML processing instruction").detail(detail)
    };
    if name.eq_ignore_ascii_case("xml") {
        return Err(wrong(&format!("XML processing instruction target name cannot be \"{name}\".")));
    }
    match content {
        Some(Datum::Null) => Ok(Datum::Null),
        None => Ok(datum(format!("<?{name}?>"))),
        Some(content) => {
            let content = text_of(content);
            if content.contains("?>") {
                return Err(wrong("XML processing instruction cannot contain \"?>\"."));
            }
            Ok(datum(format!("<?{name} {}?>", content.trim_start_matches(' '))))
        }
    }
}

/// XMLROOT: another declaration; `version` is NULL for NO VALUE.
pub fn root(value: &Datum, version: &Datum, standalone: Standalone) -> SqlResult<Datum> {
    let text = text_of(value);
    let (declared, length) = declaration::parse(text).unwrap_or_default();
    let version = (!version.is_null()).then(|| text_of(version));
    let standalone = match standalone {
        Standalone::Yes => Some(true),
        Standalone::No => Some(false),
        Standalone::NoValue => None,
        Standalone::Omitted => declared.standalone,
    };
    let mut out = declaration::written(version, None, standalone).unwrap_or_default();
    out.push_str(&text[length..]);
    Ok(datum(out))
}

/// XMLPARSE.
pub fn parse(text: &Datum, document: bool) -> SqlResult<Datum> {
    super::input(text_of(text), document)
}

/// IS DOCUMENT.
pub fn is_document(value: &Datum) -> SqlResult<bool> {
    super::is_well_formed(text_of(value), true)
}

/// The text of XMLSERIALIZE.
pub fn serialize(value: &Datum, document: bool, indent: bool) -> SqlResult<Datum> {
    if !document && !indent {
        return Ok(value.clone());
    }
    let text = text_of(value);
    let (tree, as_document) = parsed(text, document, !indent).map_err(|error| match is_wrong(&error) {
        true => sql_err!(NOT_AN_XML_DOCUMENT, "not an XML document"),
        false => error,
    })?;
    if !indent {
        return Ok(value.clone());
    }
    let mut out = String::new();
    if as_document {
        if let Ok((declared, 1..)) = declaration::parse(text) {
            let version = declared.version.as_deref().unwrap_or("1.0");
            let encoding = declared.encoding.map(|e| format!(" encoding=\"{e}\"")).unwrap_or_default();
            let standalone = match declared.standalone {
                Some(true) => " standalone=\"yes\"",
                Some(false) => " standalone=\"no\"",
                None => "",
            };
            out.push_str(&format!("<?xml version=\"{version}\"{encoding}{standalone}?>\n"));
        }
        out.push_str(&::xml::write_indented(&tree, ::xml::NodeId::ROOT)?);
        if document && out.ends_with('\n') {
            out.pop();
        }
    } else {
        for node in tree.children(::xml::NodeId::ROOT) {
            let is_text = matches!(tree.kind(node), ::xml::Kind::Text(_));
            if !is_text && tree.previous(node).is_some() {
                out.push('\n');
            }
            out.push_str(&::xml::write_indented(&tree, node)?);
        }
    }
    Ok(datum(out))
}

/// `xmlagg`
#[derive(Debug)]
pub(crate) struct XmlAgg;

impl AggregateImp for XmlAgg {
    fn start(&self) -> AggState {
        AggState::Empty
    }

    fn add(&self, _cx: &Call, state: &mut AggState, args: &[Datum]) -> SqlResult<()> {
        let Some(value) = args.first().filter(|v| !v.is_null()) else { return Ok(()) };
        match state {
            AggState::Values(values) => values.push(value.clone()),
            _ => *state = AggState::Values(vec![value.clone()].into()),
        }
        Ok(())
    }

    fn finish(&self, _cx: &Call, state: &AggState) -> SqlResult<Datum> {
        match state {
            // One value keeps its declaration.
            AggState::Values(values) if values.len() == 1 => Ok(values[0].clone()),
            AggState::Values(values) => concat(values),
            _ => Ok(Datum::Null),
        }
    }

    fn combine(&self, _cx: &Call, state: &mut AggState, other: AggState) -> SqlResult<()> {
        match (&mut *state, other) {
            (_, AggState::Empty) => Ok(()),
            (AggState::Empty, other) => {
                *state = other;
                Ok(())
            }
            _ => Err(SqlError::internal("states of xmlagg cannot be joined")),
        }
    }

    fn order_matters(&self) -> bool {
        true
    }
}
