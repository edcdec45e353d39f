//! XML.

use base::SqlResult;
use rupg_sql::nodes as n;

use super::{Converter, alias, loc, shape, text_of};
use crate::ast::{Expr, Literal, XmlExpr, XmlNamed, XmlStandalone, XmlTable, XmlTableColumn};

impl Converter<'_> {
    /// XMLELEMENT and its kin.
    pub(super) fn xml_expr(&mut self, x: n::XmlExpr) -> SqlResult<Expr> {
        let (location, document) = (loc(x.location), x.xmloption == n::XmlOptionType::XMLOPTION_DOCUMENT);
        let name = text_of(x.name);
        let named = self.xml_named(x.named_args)?;
        let args = self.exprs(x.args)?;
        if x.op == n::XmlExprOp::IS_XMLCONCAT {
            return Ok(xml(XmlExpr::Concat { args, location }));
        }
        if x.op == n::XmlExprOp::IS_XMLELEMENT {
            return Ok(xml(XmlExpr::Element { name, attributes: named, content: args, location }));
        }
        if x.op == n::XmlExprOp::IS_XMLFOREST {
            return Ok(xml(XmlExpr::Forest { items: named, location }));
        }
        let mut args = args.into_iter();
        if x.op == n::XmlExprOp::IS_XMLPI {
            return Ok(xml(XmlExpr::Instruction { name, content: args.next(), location }));
        }
        let value = args.next().ok_or_else(|| shape("XML"))?;
        Ok(xml(match x.op {
            n::XmlExprOp::IS_XMLPARSE => {
                let preserve = matches!(args.next(), Some(Expr::Const { value: Literal::Boolean(true), .. }));
                XmlExpr::Parse { document, value, preserve, location }
            }
            n::XmlExprOp::IS_XMLROOT => {
                let version = args.next().ok_or_else(|| shape("XMLROOT"))?;
                XmlExpr::Root { value, version, standalone: standalone(args.next())?, location }
            }
            n::XmlExprOp::IS_DOCUMENT => XmlExpr::IsDocument { value, location },
            _ => return Err(shape("XML")),
        }))
    }

    /// XMLSERIALIZE.
    pub(super) fn xml_serialize(&mut self, x: n::XmlSerialize) -> SqlResult<Expr> {
        Ok(xml(XmlExpr::Serialize {
            document: x.xmloption == n::XmlOptionType::XMLOPTION_DOCUMENT,
            value: self.expr(x.expr)?,
            type_name: self.boxed_type(x.typeName)?,
            indent: x.indent,
            location: loc(x.location),
        }))
    }

    fn xml_named(&mut self, list: n::List) -> SqlResult<Vec<XmlNamed>> {
        let mut out = Vec::with_capacity(list.len());
        for node in list.into_iter().flatten() {
            let n::Node::ResTarget(target) = node else { return Err(shape("XML")) };
            let n::ResTarget { name, val, location, .. } = *target;
            let name = name.map(|name| text_of(Some(name)));
            out.push(XmlNamed { name, value: self.expr(val)?, location: loc(location) });
        }
        Ok(out)
    }

    /// XMLTABLE.
    pub(super) fn xml_table(&mut self, t: n::RangeTableFunc) -> SqlResult<XmlTable> {
        let mut columns = Vec::with_capacity(t.columns.len());
        for node in t.columns.into_iter().flatten() {
            let n::Node::RangeTableFuncCol(c) = node else { return Err(shape("XMLTABLE")) };
            columns.push(XmlTableColumn {
                name: text_of(c.colname),
                type_name: c.typeName.map(|t| self.type_name(*t)).transpose()?,
                not_null: c.is_not_null,
                path: self.opt_expr(c.colexpr)?,
                default: self.opt_expr(c.coldefexpr)?,
                location: loc(c.location),
            });
        }
        Ok(XmlTable {
            document: self.expr(t.docexpr)?,
            row: self.expr(t.rowexpr)?,
            namespaces: self.xml_named(t.namespaces)?,
            columns,
            alias: alias(t.alias)?,
            lateral: t.lateral,
            location: loc(t.location),
        })
    }
}

fn xml(x: XmlExpr) -> Expr {
    Expr::Xml(Box::new(x))
}

fn standalone(arg: Option<Expr>) -> SqlResult<XmlStandalone> {
    let Some(Expr::Const { value: Literal::Integer(number), .. }) = arg else { return Err(shape("XMLROOT")) };
    Ok(match n::XmlStandaloneType(number) {
        n::XmlStandaloneType::XML_STANDALONE_YES => XmlStandalone::Yes,
        n::XmlStandaloneType::XML_STANDALONE_NO => XmlStandalone::No,
        n::XmlStandaloneType::XML_STANDALONE_NO_VALUE => XmlStandalone::NoValue,
        _ => XmlStandalone::Omitted,
    })
}
