//! XML as SQL text: the clauses that views and EXPLAIN show alike.
//!
//! PostgreSQL counterpart: the parts of `ruleutils.c` for `XmlExpr` and `TableFunc`.

use base::Oid;

use crate::names::quote_identifier;
use crate::xml_tree::*;

/// How the parts of a node are written.
pub struct XmlWriter<'w, E> {
    /// An operand.
    pub expr: &'w dyn Fn(&E) -> String,
    /// A type with its modifier.
    pub type_name: &'w dyn Fn(Oid, i32) -> String,
    /// Whether an operand is NULL.
    pub is_null: &'w dyn Fn(&E) -> bool,
}

impl XmlOp {
    /// The keyword; IS DOCUMENT is none that comes first.
    fn keyword(self) -> &'static str {
        match self {
            XmlOp::Concat => "XMLCONCAT",
            XmlOp::Element => "XMLELEMENT",
            XmlOp::Forest => "XMLFOREST",
            XmlOp::Parse => "XMLPARSE",
            XmlOp::Instruction => "XMLPI",
            XmlOp::Root => "XMLROOT",
            XmlOp::Serialize => "XMLSERIALIZE",
            XmlOp::IsDocument => "",
        }
    }
}

fn sql_name(name: &str) -> String {
    quote_identifier(&types::xml::sql_name(name))
}

impl<E> XmlWriter<'_, E> {
    /// XMLELEMENT and its kin, but for IS DOCUMENT.
    pub fn call(&self, c: &XmlCall<E>) -> String {
        let mut parts: Vec<String> = Vec::new();
        if !c.name.is_empty() {
            parts.push(format!("NAME {}", sql_name(&c.name)));
        }
        let named =
            c.named.iter().zip(&c.names).map(|(e, n)| format!("{} AS {}", (self.expr)(e), sql_name(n)));
        let named = named.collect::<Vec<_>>().join(", ");
        match c.op {
            XmlOp::Element if c.named.is_empty() => {}
            XmlOp::Element => parts.push(format!("XMLATTRIBUTES({named})")),
            XmlOp::Forest => parts.push(named),
            _ => {}
        }
        match (c.op, c.args.as_slice()) {
            (XmlOp::Parse, [value, ..]) => {
                let blanks = if c.preserve { "PRESERVE" } else { "STRIP" };
                parts.push(format!("{}{} {blanks} WHITESPACE", option(c.document), (self.expr)(value)));
            }
            (XmlOp::Serialize, [value, ..]) => {
                let indent = if c.indent { "INDENT" } else { "NO INDENT" };
                let target = (self.type_name)(c.target.0, c.target.1);
                parts.push(format!("{}{} AS {target} {indent}", option(c.document), (self.expr)(value)));
            }
            (XmlOp::Root, [value, version]) => {
                parts.push((self.expr)(value));
                parts.push(match (self.is_null)(version) {
                    true => "VERSION NO VALUE".to_owned(),
                    false => format!("VERSION {}", (self.expr)(version)),
                });
                parts.extend(standalone(c.standalone).map(str::to_owned));
            }
            (_, args) => parts.extend(args.iter().map(|a| (self.expr)(a))),
        }
        format!("{}({})", c.op.keyword(), parts.join(", "))
    }

    /// XMLTABLE.
    pub fn table(&self, t: &XmlTable<E>) -> String {
        let mut out = "XMLTABLE(".to_owned();
        if !t.namespaces.is_empty() {
            let one = |(name, uri): &(String, E)| match name.is_empty() {
                true => format!("DEFAULT {}", (self.expr)(uri)),
                false => format!("{} AS {}", (self.expr)(uri), quote_identifier(name)),
            };
            let all: Vec<String> = t.namespaces.iter().map(one).collect();
            out.push_str(&format!("XMLNAMESPACES ({}), ", all.join(", ")));
        }
        out.push_str(&format!("({}) PASSING ({})", (self.expr)(&t.row), (self.expr)(&t.document)));
        let columns: Vec<String> = t.columns.iter().map(|c| self.column(c)).collect();
        if !columns.is_empty() {
            out.push_str(&format!(" COLUMNS {}", columns.join(", ")));
        }
        out.push(')');
        out
    }

    fn column(&self, c: &XmlTableColumn<E>) -> String {
        let name = quote_identifier(&c.name);
        if c.ordinality {
            return format!("{name} FOR ORDINALITY");
        }
        let mut out = format!("{name} {}", (self.type_name)(c.type_oid, c.typmod));
        if let Some(default) = &c.default {
            out.push_str(&format!(" DEFAULT ({})", (self.expr)(default)));
        }
        if let Some(path) = &c.path {
            out.push_str(&format!(" PATH ({})", (self.expr)(path)));
        }
        if c.not_null {
            out.push_str(" NOT NULL");
        }
        out
    }
}

fn option(document: bool) -> &'static str {
    if document { "DOCUMENT " } else { "CONTENT " }
}

fn standalone(standalone: XmlStandalone) -> Option<&'static str> {
    match standalone {
        XmlStandalone::Yes => Some("STANDALONE YES"),
        XmlStandalone::No => Some("STANDALONE NO"),
        XmlStandalone::NoValue => Some("STANDALONE NO VALUE"),
        XmlStandalone::Omitted => None,
    }
}
