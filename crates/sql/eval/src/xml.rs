//! XML: XMLELEMENT and its kin, and XMLTABLE, evaluated.
//!
//! PostgreSQL counterpart: `ExecEvalXmlExpr` of `execExprInterp.c`, `nodeTableFuncscan.c`.

use std::rc::Rc;

use analyze::{Xml, XmlCall, XmlOp, XmlStandalone, XmlTable, XmlTableColumn};
use base::{Oid, SqlError, SqlResult, sql_err};
use tuple::Datum;
use types::value::FromDatum;
use types::value::str_of;
use types::xml::{self, Attribute, ColumnPath, Found, Namespaces, Source, Standalone};

use crate::code::{Code, Rows};
use crate::cx::Cx;

/// A node of XML, compiled.
pub struct XmlCode {
    /// The node.
    pub node: Xml<Code>,
    /// Types of named arguments, then of the others.
    pub types: Vec<Oid>,
}

impl XmlCode {
    /// The value of a node that is no XMLTABLE.
    pub fn eval(&self, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<Datum> {
        let Xml::Call(c) = &self.node else { return Err(SqlError::internal("XMLTABLE outside FROM")) };
        let mut values = Vec::with_capacity(c.named.len() + c.args.len());
        for code in c.named.iter().chain(&c.args) {
            values.push(code.eval(rows, cx)?);
        }
        let (named, args) = values.split_at(c.named.len());
        match c.op {
            XmlOp::Concat => return xml::concat(args),
            XmlOp::Element | XmlOp::Forest => return self.made(c, named, args, cx),
            XmlOp::Instruction => return xml::instruction(&c.name, args.first()),
            _ => {}
        }
        let Some(first) = args.first().filter(|v| !v.is_null()) else { return Ok(Datum::Null) };
        match c.op {
            XmlOp::Parse => xml::parse(first, c.document),
            XmlOp::Root => {
                let standalone = match c.standalone {
                    XmlStandalone::Yes => Standalone::Yes,
                    XmlStandalone::No => Standalone::No,
                    XmlStandalone::NoValue => Standalone::NoValue,
                    XmlStandalone::Omitted => Standalone::Omitted,
                };
                xml::root(first, args.get(1).unwrap_or(&Datum::Null), standalone)
            }
            XmlOp::Serialize => xml::serialize(first, c.document, c.indent),
            _ => xml::is_document(first).map(Datum::Bool),
        }
    }

    /// An element or a forest.
    fn made(&self, c: &XmlCall<Code>, named: &[Datum], args: &[Datum], cx: &Cx<'_>) -> SqlResult<Datum> {
        let call = cx.call(&[], types::oids::xml, Oid::INVALID, false);
        let of_name = |((name, value), type_oid)| Attribute { name, type_oid, value };
        let types = self.types.iter().copied();
        let named: Vec<Attribute<'_>> =
            c.names.iter().map(String::as_str).zip(named).zip(types.clone()).map(of_name).collect();
        if c.op == XmlOp::Forest {
            return xml::forest(&named, &call);
        }
        let content: Vec<(Oid, &Datum)> = types.skip(named.len()).zip(args).collect();
        xml::element(&c.name, &named, &content, &call)
    }

    /// The rows of XMLTABLE.
    pub fn table(&self, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<Vec<Vec<Datum>>> {
        let Xml::Table(t) = &self.node else { return Err(SqlError::internal("not XMLTABLE")) };
        let document = t.document.eval(rows, cx)?;
        if document.is_null() {
            return Ok(Vec::new());
        }
        let namespaces = namespaces(t, rows, cx)?;
        let row_path = t.row.eval(rows, cx)?;
        if row_path.is_null() {
            return Err(sql_err!(NULL_VALUE_NOT_ALLOWED, "row filter expression must not be null"));
        }
        let call = cx.call(&[], types::oids::record, Oid::INVALID, false);
        let source = Rc::new(Source::new(text(&document), namespaces, &call)?);
        let found = source.rows(text(&row_path))?;
        let mut paths = Vec::with_capacity(t.columns.len());
        for column in &t.columns {
            paths.push(column_path(column, rows, cx)?);
        }
        let mut out = Vec::with_capacity(found.len());
        for number in 0..found.len() {
            runtime::check_interrupts().map_err(crate::error::interrupted)?;
            let mut row = Vec::with_capacity(t.columns.len());
            for (column, path) in t.columns.iter().zip(&paths) {
                row.push(match path {
                    None => Datum::Int4(i32::try_from(number + 1).unwrap_or(i32::MAX)),
                    Some(path) => value(column, path, (&found, number), rows, cx)?,
                });
            }
            out.push(row);
        }
        Ok(out)
    }
}

fn text(value: &Datum) -> &str {
    str_of(<&[u8]>::from_datum(value))
}

fn namespaces(t: &XmlTable<Code>, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<Namespaces> {
    let mut out = Vec::with_capacity(t.namespaces.len());
    for (prefix, uri) in &t.namespaces {
        let uri = uri.eval(rows, cx)?;
        if uri.is_null() {
            return Err(sql_err!(NULL_VALUE_NOT_ALLOWED, "namespace URI must not be null"));
        }
        if prefix.is_empty() {
            return Err(sql_err!(FEATURE_NOT_SUPPORTED, "DEFAULT namespace is not supported"));
        }
        out.push((prefix.clone(), text(&uri).to_owned()));
    }
    Ok(Namespaces(out))
}

/// The path of a column; none of one that numbers the rows.
fn column_path(
    column: &XmlTableColumn<Code>,
    rows: Rows<'_>,
    cx: &mut Cx<'_>,
) -> SqlResult<Option<ColumnPath>> {
    if column.ordinality {
        return Ok(None);
    }
    let Some(path) = &column.path else { return ColumnPath::new(&column.name).map(Some) };
    let path = path.eval(rows, cx)?;
    if path.is_null() {
        return Err(sql_err!(NULL_VALUE_NOT_ALLOWED, "column filter expression must not be null")
            .detail(format!("Filter for column \"{}\" is null.", column.name)));
    }
    ColumnPath::new(text(&path)).map(Some)
}

fn value(
    column: &XmlTableColumn<Code>,
    path: &ColumnPath,
    (found, number): (&xml::Rows, usize),
    rows: Rows<'_>,
    cx: &mut Cx<'_>,
) -> SqlResult<Datum> {
    let numeric = types::builtin_type(column.type_oid).is_some_and(|t| t.category == b'N');
    let value = match found.column(number, path, column.type_oid, numeric)? {
        Found::Text(text) => {
            let call = cx.call(&[], column.type_oid, Oid::INVALID, false);
            types::input(column.type_oid, &text, column.typmod, &call)?
        }
        Found::Nothing => match &column.default {
            Some(default) => default.eval(rows, cx)?,
            None => Datum::Null,
        },
    };
    if column.not_null && value.is_null() {
        return Err(sql_err!(NULL_VALUE_NOT_ALLOWED, "null is not allowed in column \"{}\"", column.name));
    }
    Ok(value)
}
