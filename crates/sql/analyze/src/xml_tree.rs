//! XML in typed trees.
//!
//! What: [`Xml`], the nodes that XMLELEMENT and its kin and XMLTABLE become, over any kind of expression: the planner's tree and the
//! executor's code hold the same nodes over theirs.
//!
//! Invariants:
//! 1. Names of elements and attributes are XML's: what XML does not allow in them is written otherwise already.
//!
//! PostgreSQL counterpart: `XmlExpr` and `TableFunc` of `nodes/primnodes.h`.

use base::Oid;
use types::oids;

pub use parse::ast::XmlStandalone;

use crate::expr::Location;

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum XmlOp {
    Concat,
    Element,
    Forest,
    Parse,
    Instruction,
    /// Arguments are the value and the version.
    Root,
    Serialize,
    IsDocument,
}

/// XMLELEMENT or one of its kin.
#[derive(Clone, Debug, PartialEq)]
pub struct XmlCall<E> {
    /// What is done.
    pub op: XmlOp,
    /// Name of the element or instruction.
    pub name: String,
    /// Names of `named`.
    pub names: Vec<String>,
    /// Attributes of an element, elements of a forest.
    pub named: Vec<E>,
    /// The other arguments.
    pub args: Vec<E>,
    /// DOCUMENT, not CONTENT
    pub document: bool,
    /// INDENT
    pub indent: bool,
    /// PRESERVE WHITESPACE
    pub preserve: bool,
    /// STANDALONE
    pub standalone: XmlStandalone,
    /// What XMLSERIALIZE is asked for, to be shown; its value is text.
    pub target: (Oid, i32),
    /// Of the keyword.
    pub location: Location,
}

/// A column of XMLTABLE.
#[derive(Clone, Debug, PartialEq)]
pub struct XmlTableColumn<E> {
    /// Name.
    pub name: String,
    /// Type.
    pub type_oid: Oid,
    /// Modifier.
    pub typmod: i32,
    /// FOR ORDINALITY
    pub ordinality: bool,
    /// NOT NULL
    pub not_null: bool,
    /// PATH; none: the column's name.
    pub path: Option<E>,
    /// DEFAULT
    pub default: Option<E>,
}

/// XMLTABLE.
#[derive(Clone, Debug, PartialEq)]
pub struct XmlTable<E> {
    /// XMLNAMESPACES: prefixes, empty for the default, and URIs.
    pub namespaces: Vec<(String, E)>,
    /// PASSING
    pub document: E,
    /// Path of the rows.
    pub row: E,
    /// COLUMNS
    pub columns: Vec<XmlTableColumn<E>>,
    /// Of the keyword.
    pub location: Location,
}

/// A node of XML.
#[derive(Clone, Debug, PartialEq)]
pub enum Xml<E> {
    /// XMLELEMENT and so on
    Call(XmlCall<E>),
    /// XMLTABLE
    Table(XmlTable<E>),
}

macro_rules! visitors {
    ($children:ident, $iter:ident, $as_ref:ident, $($m:tt)*) => {
        impl<E> Xml<E> {
            /// Calls `f` for each direct operand.
            pub fn $children<'e, X>(&'e $($m)* self, f: &mut dyn FnMut(&'e $($m)* E) -> Result<(), X>) -> Result<(), X> {
                match self {
                    Xml::Call(c) => {
                        c.named.$iter().try_for_each(&mut *f)?;
                        c.args.$iter().try_for_each(f)
                    }
                    Xml::Table(t) => {
                        t.namespaces.$iter().try_for_each(|(_, uri)| f(uri))?;
                        f(&$($m)* t.document)?;
                        f(&$($m)* t.row)?;
                        t.columns.$iter().try_for_each(|c| {
                            c.path.$as_ref().map_or(Ok(()), &mut *f)?;
                            c.default.$as_ref().map_or(Ok(()), &mut *f)
                        })
                    }
                }
            }
        }
    };
}

visitors!(children, iter, as_ref,);
visitors!(children_mut, iter_mut, as_mut, mut);

impl<E> Xml<E> {
    /// The same node over other expressions. `f` is given the operands in the order of [`Xml::children`].
    pub fn map<F, X>(&self, f: &mut dyn FnMut(&E) -> Result<F, X>) -> Result<Xml<F>, X> {
        Ok(match self {
            Xml::Call(c) => Xml::Call(XmlCall {
                op: c.op,
                name: c.name.clone(),
                names: c.names.clone(),
                named: c.named.iter().map(&mut *f).collect::<Result<_, X>>()?,
                args: c.args.iter().map(f).collect::<Result<_, X>>()?,
                document: c.document,
                indent: c.indent,
                preserve: c.preserve,
                standalone: c.standalone,
                target: c.target,
                location: c.location,
            }),
            Xml::Table(t) => {
                let uri = |(name, uri): &(String, E)| Ok((name.clone(), f(uri)?));
                let namespaces = t.namespaces.iter().map(uri).collect::<Result<_, X>>()?;
                let (document, row) = (f(&t.document)?, f(&t.row)?);
                let mut columns = Vec::with_capacity(t.columns.len());
                for c in &t.columns {
                    columns.push(XmlTableColumn {
                        name: c.name.clone(),
                        type_oid: c.type_oid,
                        typmod: c.typmod,
                        ordinality: c.ordinality,
                        not_null: c.not_null,
                        path: c.path.as_ref().map(&mut *f).transpose()?,
                        default: c.default.as_ref().map(&mut *f).transpose()?,
                    });
                }
                Xml::Table(XmlTable { namespaces, document, row, columns, location: t.location })
            }
        })
    }

    /// Type of the node.
    pub fn type_oid(&self) -> Oid {
        match self {
            Xml::Call(c) => match c.op {
                XmlOp::IsDocument => oids::bool,
                XmlOp::Serialize => oids::text,
                _ => oids::xml,
            },
            Xml::Table(_) => oids::record,
        }
    }

    /// In the text.
    pub fn location(&self) -> Location {
        match self {
            Xml::Call(c) => c.location,
            Xml::Table(t) => t.location,
        }
    }

    /// Forgets where it stands in the text.
    pub fn clear_location(&mut self) {
        match self {
            Xml::Call(c) => c.location = Location::NONE,
            Xml::Table(t) => t.location = Location::NONE,
        }
    }
}
