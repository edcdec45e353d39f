//! XML.

use super::{Alias, Expr, Location, TypeName};

/// A value with the name that it is given, if it is.
#[derive(Clone, Debug, PartialEq)]
pub struct XmlNamed {
    /// AS
    pub name: Option<String>,
    /// The value.
    pub value: Expr,
    /// In the text.
    pub location: Location,
}

/// STANDALONE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum XmlStandalone {
    Yes,
    No,
    NoValue,
    #[default]
    Omitted,
}

/// An expression of XML.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum XmlExpr {
    /// XMLCONCAT
    Concat { args: Vec<Expr>, location: Location },
    /// XMLELEMENT
    Element { name: String, attributes: Vec<XmlNamed>, content: Vec<Expr>, location: Location },
    /// XMLFOREST
    Forest { items: Vec<XmlNamed>, location: Location },
    /// XMLPARSE
    Parse { document: bool, value: Expr, preserve: bool, location: Location },
    /// XMLPI
    Instruction { name: String, content: Option<Expr>, location: Location },
    /// XMLROOT; no version is NULL
    Root { value: Expr, version: Expr, standalone: XmlStandalone, location: Location },
    /// XMLSERIALIZE
    Serialize { document: bool, value: Expr, type_name: TypeName, indent: bool, location: Location },
    /// IS DOCUMENT
    IsDocument { value: Expr, location: Location },
}

impl XmlExpr {
    /// Of the keyword.
    pub fn location(&self) -> Location {
        match self {
            XmlExpr::Concat { location, .. }
            | XmlExpr::Element { location, .. }
            | XmlExpr::Forest { location, .. }
            | XmlExpr::Parse { location, .. }
            | XmlExpr::Instruction { location, .. }
            | XmlExpr::Root { location, .. }
            | XmlExpr::Serialize { location, .. }
            | XmlExpr::IsDocument { location, .. } => *location,
        }
    }

    /// Calls `f` for each expression in it.
    pub fn for_exprs<'e>(&'e self, f: &mut dyn FnMut(&'e Expr)) {
        match self {
            XmlExpr::Concat { args, .. } => args.iter().for_each(f),
            XmlExpr::Element { attributes, content, .. } => {
                attributes.iter().for_each(|a| f(&a.value));
                content.iter().for_each(f);
            }
            XmlExpr::Forest { items, .. } => items.iter().for_each(|i| f(&i.value)),
            XmlExpr::Instruction { content, .. } => content.iter().for_each(f),
            XmlExpr::Root { value, version, .. } => {
                f(value);
                f(version);
            }
            XmlExpr::Parse { value, .. }
            | XmlExpr::Serialize { value, .. }
            | XmlExpr::IsDocument { value, .. } => f(value),
        }
    }
}

/// A column of XMLTABLE.
#[derive(Clone, Debug, PartialEq)]
pub struct XmlTableColumn {
    /// Name.
    pub name: String,
    /// Type; none for FOR ORDINALITY.
    pub type_name: Option<TypeName>,
    /// NOT NULL
    pub not_null: bool,
    /// PATH
    pub path: Option<Expr>,
    /// DEFAULT
    pub default: Option<Expr>,
    /// In the text.
    pub location: Location,
}

/// XMLTABLE.
#[derive(Clone, Debug, PartialEq)]
pub struct XmlTable {
    /// PASSING
    pub document: Expr,
    /// Path of the rows.
    pub row: Expr,
    /// XMLNAMESPACES; one without a name is the default.
    pub namespaces: Vec<XmlNamed>,
    /// COLUMNS
    pub columns: Vec<XmlTableColumn>,
    /// Alias.
    pub alias: Option<Alias>,
    /// LATERAL
    pub lateral: bool,
    /// Of the keyword.
    pub location: Location,
}

impl XmlTable {
    /// Calls `f` for each expression in it.
    pub fn for_exprs<'e>(&'e self, f: &mut dyn FnMut(&'e Expr)) {
        f(&self.document);
        f(&self.row);
        self.namespaces.iter().for_each(|n| f(&n.value));
        self.columns.iter().flat_map(|c| c.path.iter().chain(&c.default)).for_each(f);
    }
}
