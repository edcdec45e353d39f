//! XML as SQL text.

use crate::deparse::{Deparse, Parent, Scope};
use crate::expr::Expr;
use crate::names::format_type;
use crate::xml_text::XmlWriter;
use crate::xml_tree::*;

impl Deparse<'_> {
    /// Writes a node of XML.
    pub(crate) fn xml(&self, xml: &Xml<Expr>, scope: &Scope<'_>, out: &mut String) {
        if let Xml::Call(XmlCall { op: XmlOp::IsDocument, args, .. }) = xml {
            return self.wrapped(out, |d, out| {
                args.iter().for_each(|a| d.child(a, &Parent::Other, scope, out));
                out.push_str(" IS DOCUMENT");
            });
        }
        let text = |e: &Expr| {
            let mut out = String::new();
            self.write(e, scope, &mut out);
            out
        };
        let writer = XmlWriter {
            expr: &text,
            type_name: &|oid, typmod| format_type(self.catalog, oid, Some(typmod)),
            is_null: &|e| matches!(e, Expr::Const(c) if c.value.is_null()),
        };
        out.push_str(&match xml {
            Xml::Call(c) => writer.call(c),
            Xml::Table(t) => writer.table(t),
        });
    }
}
