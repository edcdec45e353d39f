//! XMLELEMENT and its kin, and XMLTABLE: from syntax to typed trees.
//!
//! PostgreSQL counterpart: `transformXmlExpr` and `transformXmlSerialize` of `parse_expr.c`, `transformRangeTableFunc` of
//! `parse_clause.c`.

use base::{Oid, SqlResult, sql_err};
use parse::ast;
use types::oids;
use types::xml::xml_name;

use crate::coerce::Coercion;
use crate::core::{Analyzer, NsItem, Place};
use crate::expr::{Expr, Location};
use crate::query::{ColumnType, Functions, RangeFunction, RteKind};
use crate::xml_tree::*;

/// For messages.
const TABLE: &str = "XMLTABLE";

fn call(op: XmlOp, args: Vec<Expr>, location: Location) -> XmlCall<Expr> {
    XmlCall {
        op,
        name: String::new(),
        names: Vec::new(),
        named: Vec::new(),
        args,
        document: false,
        indent: false,
        preserve: false,
        standalone: XmlStandalone::Omitted,
        target: (Oid::INVALID, -1),
        location,
    }
}

fn node(xml: Xml<Expr>) -> Expr {
    Expr::Xml(Box::new(xml))
}

impl Analyzer<'_> {
    /// An expression of XML.
    pub(crate) fn xml_expr(&mut self, x: &ast::XmlExpr) -> SqlResult<Expr> {
        use ast::XmlExpr as X;
        Ok(node(Xml::Call(match x {
            X::Concat { args, location } => {
                let args = args.iter().map(|a| self.xml_arg(a, oids::xml, "XMLCONCAT"));
                call(XmlOp::Concat, args.collect::<SqlResult<_>>()?, *location)
            }
            X::Element { name, attributes, content, location } => {
                let (names, named) = self.xml_named(attributes, XmlOp::Element)?;
                let args = content.iter().map(|c| self.expr(c)).collect::<SqlResult<_>>()?;
                let name = xml_name(name, false, false);
                XmlCall { name, names, named, ..call(XmlOp::Element, args, *location) }
            }
            X::Forest { items, location } => {
                let (names, named) = self.xml_named(items, XmlOp::Forest)?;
                XmlCall { names, named, ..call(XmlOp::Forest, Vec::new(), *location) }
            }
            X::Parse { document, value, preserve, location } => {
                let args = vec![self.xml_arg(value, oids::text, "XMLPARSE")?];
                XmlCall { document: *document, preserve: *preserve, ..call(XmlOp::Parse, args, *location) }
            }
            X::Instruction { name, content, location } => {
                let args = content.iter().map(|c| self.xml_arg(c, oids::text, "XMLPI"));
                let args = args.collect::<SqlResult<_>>()?;
                XmlCall { name: xml_name(name, false, false), ..call(XmlOp::Instruction, args, *location) }
            }
            X::Root { value, version, standalone, location } => {
                let value = self.xml_arg(value, oids::xml, "XMLROOT")?;
                let version = self.xml_arg(version, oids::text, "XMLROOT")?;
                XmlCall { standalone: *standalone, ..call(XmlOp::Root, vec![value, version], *location) }
            }
            X::IsDocument { value, location } => {
                call(XmlOp::IsDocument, vec![self.xml_arg(value, oids::xml, "IS DOCUMENT")?], *location)
            }
            X::Serialize { document, value, type_name, indent, location } => {
                let args = vec![self.xml_arg(value, oids::xml, "XMLSERIALIZE")?];
                let target = self.type_name(type_name)?;
                let c = call(XmlOp::Serialize, args, *location);
                let text = node(Xml::Call(XmlCall { document: *document, indent: *indent, target, ..c }));
                let converted = self.coerce_to(text, target.0, target.1, Coercion::implicit())?;
                return converted.ok_or_else(|| {
                    let shown = self.type_text(target.0);
                    self.at(sql_err!(CANNOT_COERCE, "cannot cast XMLSERIALIZE result to {shown}"), *location)
                });
            }
        })))
    }

    fn xml_arg(&mut self, value: &ast::Expr, target: Oid, construct: &str) -> SqlResult<Expr> {
        let value = self.expr(value)?;
        self.coerce_to_specific(value, target, construct)
    }

    /// Attributes, or the elements of a forest, with their names.
    fn xml_named(&mut self, items: &[ast::XmlNamed], op: XmlOp) -> SqlResult<(Vec<String>, Vec<Expr>)> {
        let (mut names, mut values) = (Vec::new(), Vec::new());
        for item in items {
            let name = match (&item.name, &item.value) {
                (Some(name), _) => xml_name(name, false, false),
                (None, column @ ast::Expr::Column(_)) => {
                    xml_name(&crate::target::figure_name(column).unwrap_or_default(), true, false)
                }
                _ => {
                    let what = if op == XmlOp::Element { "attribute" } else { "element" };
                    let error = sql_err!(SYNTAX_ERROR, "unnamed XML {what} value must be a column reference");
                    return Err(self.at(error, item.location));
                }
            };
            if op == XmlOp::Element && names.contains(&name) {
                let error = sql_err!(SYNTAX_ERROR, "XML attribute name \"{name}\" appears more than once");
                return Err(self.at(error, item.location));
            }
            values.push(self.expr(&item.value)?);
            names.push(name);
        }
        Ok((names, values))
    }

    /// XMLTABLE.
    pub(crate) fn xml_table(&mut self, t: &ast::XmlTable) -> SqlResult<NsItem> {
        let before = std::mem::replace(&mut self.level().lateral_active, true);
        let result = self.in_place(Place::FromFunction, |a| a.xml_table_node(t));
        self.level().lateral_active = before;
        let (table, columns) = result?;
        let call = node(Xml::Table(table));
        let lateral = t.lateral
            || crate::walk::contains(&call, |e, depth| matches!(e, Expr::Var(v) if v.levels_up == depth));
        let alias = t.alias.as_ref();
        if let Some(alias) = alias.filter(|a| a.columns.len() > columns.len()) {
            let (has, given) = (columns.len(), alias.columns.len());
            let message =
                format!("{TABLE} function has {has} columns available but {given} columns specified");
            return Err(sql_err!(INVALID_COLUMN_REFERENCE, "{message}"));
        }
        let names = columns.iter().map(|c| c.name.clone()).collect();
        let function = RangeFunction { call, columns: columns.clone(), composite: true };
        let kind = RteKind::Function(Functions { functions: vec![function], ordinality: false });
        let item = self.add_entry(kind, alias, "xmltable", names, &columns, None, Oid::INVALID)?;
        self.level().range_table[item.rte].lateral = lateral;
        Ok(item)
    }

    fn xml_table_node(&mut self, t: &ast::XmlTable) -> SqlResult<(XmlTable<Expr>, Vec<ColumnType>)> {
        let row = self.xml_arg(&t.row, oids::text, TABLE)?;
        let document = self.xml_arg(&t.document, oids::xml, TABLE)?;
        let (mut columns, mut types) = (Vec::<XmlTableColumn<Expr>>::new(), Vec::new());
        for c in &t.columns {
            let column = self.xml_column(c)?;
            let wrong = if column.ordinality && columns.iter().any(|c| c.ordinality) {
                Some(sql_err!(SYNTAX_ERROR, "only one FOR ORDINALITY column is allowed"))
            } else if columns.iter().any(|other| other.name == column.name) {
                Some(sql_err!(SYNTAX_ERROR, "column name \"{}\" is not unique", column.name))
            } else {
                None
            };
            if let Some(error) = wrong {
                return Err(self.at(error, c.location));
            }
            types.push(ColumnType {
                name: column.name.clone(),
                type_oid: column.type_oid,
                typmod: column.typmod,
                collation: self.type_collation(column.type_oid)?,
            });
            columns.push(column);
        }
        let namespaces = self.xml_namespaces(&t.namespaces)?;
        Ok((XmlTable { namespaces, document, row, columns, location: t.location }, types))
    }

    fn xml_column(&mut self, c: &ast::XmlTableColumn) -> SqlResult<XmlTableColumn<Expr>> {
        let (type_oid, typmod) = match &c.type_name {
            None => (oids::int4, -1),
            Some(name) => {
                if name.setof {
                    let error =
                        sql_err!(INVALID_TABLE_DEFINITION, "column \"{}\" cannot be declared SETOF", c.name);
                    return Err(self.at(error, c.location));
                }
                self.type_name(name)?
            }
        };
        let path = c.path.as_ref().map(|p| self.xml_arg(p, oids::text, TABLE)).transpose()?;
        let mut default = None;
        if let Some(value) = &c.default {
            let value = self.xml_arg(value, type_oid, TABLE)?;
            default = Some(self.coerce_typmod(value, type_oid, typmod, Coercion::implicit())?);
        }
        Ok(XmlTableColumn {
            name: c.name.clone(),
            type_oid,
            typmod,
            ordinality: c.type_name.is_none(),
            not_null: c.not_null,
            path,
            default,
        })
    }

    fn xml_namespaces(&mut self, list: &[ast::XmlNamed]) -> SqlResult<Vec<(String, Expr)>> {
        let mut out: Vec<(String, Expr)> = Vec::new();
        for n in list {
            let uri = self.xml_arg(&n.value, oids::text, TABLE)?;
            let name = n.name.clone().unwrap_or_default();
            if out.iter().any(|(other, _)| *other == name) {
                let error = match name.is_empty() {
                    true => sql_err!(SYNTAX_ERROR, "only one default namespace is allowed"),
                    false => sql_err!(SYNTAX_ERROR, "namespace name \"{name}\" is not unique"),
                };
                return Err(self.at(error, n.location));
            }
            out.push((name, uri));
        }
        Ok(out)
    }
}
