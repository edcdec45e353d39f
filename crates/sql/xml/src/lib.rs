//! # What
//! XML for SQL: a reader that says of text what libxml2 says of it, with the place of each problem; documents as trees; XPath 1.0 over
//! them; and trees back to text.
//!
//! # Layout
//! `reader` makes a [`Document`] (`tree`) of text, `declaration` reads and writes `<?xml …?>`, `xpath` evaluates paths, `writer` writes nodes.
//!
//! # Invariants
//! 1. Nothing outside the text is read: external entities and DTDs are empty.
//! 2. What text can cost is bounded: elements nest [`MOST_DEPTH`] deep, and what entities expand to is bounded by the size of the text
//!    ([`Reading`]). Reading, evaluation and writing look for interrupts.
//! 3. The order of node numbers is document order: an element is followed by its attributes, then by its children.
//! 4. No input panics.
//!
//! # PostgreSQL counterpart and differences
//! libxml2, as `xml.c` uses it: `xmlParseBalancedChunkMemory`, `xmlCtxtReadMemory`, `xmlNodeDump`, `xmlXPathCompiledEval`. DTDs are read as far
//! as they say something of content: entities, attributes with defaults, IDs. Declarations of elements and notations are skipped.

mod chars;
pub mod declaration;
mod error;
mod reader;
mod tree;
mod writer;
pub mod xpath;

#[cfg(test)]
mod tests;

pub use chars::{is_name_char, is_name_start, is_xml_char};
pub use error::{Problem, Severity};
pub use reader::{MOST_DEPTH, Reading, read, read_content};
pub use tree::{Document, Kind, Name, NodeId};
pub use writer::{escape_attribute, escape_text, write_copy, write_indented};
