//! XML in plans.

use analyze::{self as a, Xml, XmlOp};
use base::{Oid, SqlResult};
use types::Volatility;

use crate::convert::Converter;
use crate::expr::Expr;

/// A node of XML.
#[derive(Clone, Debug, PartialEq)]
pub struct XmlExpr {
    /// The node.
    pub node: Xml<Expr>,
    /// Types of named arguments, then of the others.
    pub types: Vec<Oid>,
}

impl XmlExpr {
    /// Calls `f` on each direct child.
    pub(crate) fn for_children<'a>(&'a self, f: &mut dyn FnMut(&'a Expr)) {
        let Ok(()) = self.node.children::<std::convert::Infallible>(&mut |e| {
            f(e);
            Ok(())
        });
    }

    /// Calls `f` on each direct child, to be changed.
    pub(crate) fn for_children_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        let Ok(()) = self.node.children_mut::<std::convert::Infallible>(&mut |e| {
            f(e);
            Ok(())
        });
    }

    /// How predictable the node itself is, its operands apart: texts of values depend on settings.
    pub(crate) fn volatility(&self) -> Volatility {
        let stable = match &self.node {
            Xml::Call(c) => match c.op {
                XmlOp::Element | XmlOp::Forest => {
                    self.types.iter().any(|t| !types::json::is_immutable(*t) || *t == types::oids::bytea)
                }
                _ => false,
            },
            Xml::Table(_) => true,
        };
        if stable { Volatility::Stable } else { Volatility::Immutable }
    }

    /// Whether it is XMLTABLE.
    pub fn is_table(&self) -> bool {
        matches!(self.node, Xml::Table(_))
    }
}

impl Converter<'_, '_> {
    /// A node of XML.
    pub(crate) fn xml(&mut self, xml: &Xml<a::Expr>) -> SqlResult<Expr> {
        let node = xml.map(&mut |e| self.expr(e))?;
        let mut types = Vec::new();
        match &node {
            Xml::Call(c) => types.extend(c.named.iter().chain(&c.args).map(Expr::type_oid)),
            Xml::Table(t) => {
                for column in &t.columns {
                    self.planner.note_type(column.type_oid)?;
                }
            }
        }
        Ok(Expr::Xml(Box::new(XmlExpr { node, types })))
    }
}
