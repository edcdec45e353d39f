//! XPath 1.0.
//!
//! What: [`Path::parse`] makes an expression of text; [`Path::evaluate`] gives its value at a node of a document.
//!
//! # Layout
//! `lex` cuts the text into tokens, `parse` makes the tree, `eval` walks it, `functions` has the core library, `number` the texts of numbers.
//!
//! # Invariants
//! 1. A node-set is in document order, without doubles; it never has more nodes than the document has, and their namespaces.
//! 2. Recursion looks at the stack, loops look for interrupts.
//!
//! # Differences
//! As in libxml2, a function or prefix that is not known is told when it is used, not when the text is read.

mod eval;
mod functions;
mod lex;
mod number;
mod parse;

pub use eval::{Context, Item, Value};
pub use number::number_text;

use crate::tree::Document;

/// The namespace of the prefix `xml`.
pub const XML_NAMESPACE: &str = "http://www.w3.org/XML/1998/namespace";

/// What went wrong.
#[derive(Clone, Debug)]
pub enum Error {
    /// The text is no expression.
    Syntax(&'static str),
    /// It has no value; in words, where there are any.
    Value(&'static str),
    /// It is too deep.
    Depth(runtime::StackTooDeep),
    /// The statement is to end.
    Interrupt(runtime::Interrupt),
}

impl From<runtime::Interrupt> for Error {
    fn from(interrupt: runtime::Interrupt) -> Error {
        Error::Interrupt(interrupt)
    }
}

impl From<runtime::StackTooDeep> for Error {
    fn from(deep: runtime::StackTooDeep) -> Error {
        Error::Depth(deep)
    }
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Path {
    root: parse::Expr,
}

impl Path {
    /// Of text.
    pub fn parse(text: &str) -> Result<Path, Error> {
        let tokens = lex::tokens(text)?;
        Ok(Path { root: parse::expression(&tokens)? })
    }

    /// The value at a node.
    pub fn evaluate(
        &self,
        document: &Document,
        namespaces: &[(String, String)],
        item: Item,
    ) -> Result<Value, Error> {
        Context::new(document, namespaces).value(&self.root, item)
    }
}
