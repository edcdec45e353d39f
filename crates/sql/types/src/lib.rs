//! # What
//! The one registry of types, functions, operators, casts, aggregates and operator classes, and what they do: text and
//! binary forms, comparison, hashing, arithmetic, text and time functions.
//!
//! The catalogs `pg_type`, `pg_proc`, `pg_operator`, `pg_cast`, `pg_aggregate`, `pg_opclass`, `pg_opfamily`, `pg_amop` and
//! `pg_amproc` are filled from here, with PostgreSQL's own OIDs; the analyzer resolves names against the same rows, the
//! executor calls the same implementations.
//!
//! # Layout
//! * [`registry`]: the shapes of entries, the tables, look-up by OID and by name.
//! * [`registry::types`]: descriptors of types, and the table that leads to them; [`oids`]: the list of built-in types.
//! * One file per type or family of functions: the type's descriptor, an entry a line in a `functions!` block, the implementation beside it.
//! * `piece`: how functions work on big values without keeping others from the worker.
//! * [`call`]: what a function is told about its caller: session formats, time, collation, resolved argument types.
//!
//! # Invariants
//! 1. Pure: no I/O, no clock, no locks held over a call, no catalog; of `runtime` only looks for interrupts and the stack. What needs a session is marked [`Imp::Session`] and
//!    supplied by the executor, or asked through [`call::Session`].
//! 2. A strict function is never called with a NULL argument: the caller looks at [`Function::strict`].
//! 3. Every decoder of outside bytes (`receive`, stored payloads) is bounds-checked and answers with an error.
//! 4. A value is never `Datum::Toasted` here: it was resolved before.
//! 5. Values that a B-tree family calls equal hash equal, across the types of the family.
//!
//! # PostgreSQL counterpart and differences
//! `utils/adt`. Payloads of variable-length types are ours ([`numeric`], [`mod@array`]), never PostgreSQL's structs.

#[macro_use]
mod macros;

pub mod acl;
pub mod aggregate;
pub mod aggregate_columns;
pub mod alias;
pub mod array;
pub mod asked;
mod bits;
pub mod bool;
pub mod call;
pub mod comparator;
pub mod compare;
pub mod date;
pub mod datetime;
pub mod encoding;
pub mod enums;
pub mod extended_statistics;
pub mod extract;
pub mod float;
pub mod foreign;
mod geometry;
pub mod hashing;
pub mod ids;
mod in_range;
pub mod int;
pub mod interval;
pub mod json;
mod macaddr;
pub mod made;
pub mod moment;
mod money;
pub mod network;
mod network_space;
mod network_tree;
pub mod numeric;
pub mod oids;
pub mod ordered_set;
pub mod piece;
pub mod place;
mod pseudo;
mod quoted;
pub mod random;
pub mod range;
pub mod record;
pub mod registry;
mod session_functions;
pub mod signature;
mod size;
pub mod snapshot;
mod template;
pub mod text;
pub mod textsearch;
pub mod time;
pub mod timestamp;
pub mod timezone;
mod transition;
pub mod value;
mod value_list;
pub mod xml;

pub use base::calendar;
pub use call::{Call, FormatContext, Session};
pub use comparator::{By, Collated, Comparator, Equality, Hash, Order};
pub use place::place_of;
pub use registry::{
    AggState, Aggregate, AmOp, AmProc, Cast, CastContext, CastMethod, Eval, Function, Imp, OpClass, OpFamily,
    Operator, Selectivity, SessionFn, SetFn, SetRows, TypeInfo, Volatility,
};
pub use registry::{
    builtin_type, compare, equal, format_type, hash, input, output, receive, send, type_named,
};
