//! # What
//! What a type is and does: its [descriptor](TypeImp), and the one table that leads from OIDs to descriptors.
//!
//! # Layout
//! A built-in type has one `static` beside its functions, and a line in [`crate::oids`]. Descriptors of arrays are made of those of
//! their elements. Types of extensions have theirs in the extension's module ([`super::libraries`]). All other types that are made at run time
//! (enums, composites, domains, ranges, and arrays of them) share one, `MADE`, which asks the session. Descriptors of a family are written over a constant that has what they share.
//!
//! # Invariants
//! 1. Every OID has a descriptor: [`type_imp`] is total.
//! 2. A type has both hashes or none, and equal values hash equal. What has an order or a hash has an equality, but for arrays of what is in
//!    no order.

use std::sync::LazyLock;

use base::{Oid, SqlError, SqlResult, sql_err};
use rustc_hash::FxHashMap;
use tuple::{Datum, Physical};

use super::{CompareFn, Volatility, format_type, function, libraries};
use crate::call::{Call, RegKind};
use crate::comparator::Collated;
use crate::oids;
use crate::value::Reader;

/// What the file of a type needs to describe it.
pub(crate) mod prelude {
    pub(crate) use base::Oid;
    pub(crate) use tuple::{Datum, Physical};

    pub(crate) use super::{TypeImp, TypeInfo, io_functions, show, text_of};
    pub(crate) use crate::oids;
    pub(crate) use crate::value::{FromDatum, IntoDatum};
}

/// Value of a text form, brought to a type modifier (-1: none).
pub type InputFn = fn(Oid, &str, i32, &Call) -> SqlResult<Datum>;

/// Appends the text form of a value that is not NULL.
pub type OutputFn = fn(Oid, &Datum, &Call, &mut Vec<u8>) -> SqlResult<()>;

/// Value of a binary form, brought to a type modifier (-1: none). What it leaves unread is an error.
pub type ReceiveFn = fn(Oid, &mut Reader, i32, &Call) -> SqlResult<Datum>;

/// Appends the binary form of a value that is not NULL, without its length.
pub type SendFn = fn(Oid, &Datum, &Call, &mut Vec<u8>) -> SqlResult<()>;

/// Whether two values that are not NULL are equal.
pub type EqualFn = fn(&Datum, &Datum) -> bool;

/// Hash for joins and aggregates of a value that is not NULL.
pub type HashFn = fn(&Datum) -> u64;

/// Hash that SQL sees of a value that is not NULL, with a seed.
pub type SeededHashFn = fn(&Datum, u64) -> u64;

/// The type modifier that the modifiers in parentheses mean.
pub type TypmodInFn = fn(Oid, &[&str]) -> SqlResult<i32>;

/// Descriptor of a type, or of all types of a kind: their functions are told which of them is meant.
#[derive(Clone, Copy)]
pub struct TypeImp {
    /// Its row of `pg_type`; none if it is made at run time, or in no catalog.
    pub row: Option<TypeInfo>,
    /// Text form to value.
    pub input: InputFn,
    /// Value to text form.
    pub output: OutputFn,
    /// Binary form to value.
    pub receive: ReceiveFn,
    /// Value to binary form.
    pub send: SendFn,
    /// B-tree order: the comparison of the default operator class.
    pub compare: Option<CompareFn>,
    /// Whether `compare` and `equal` are those of the stored form: signed integers, unsigned OIDs and bytes, floats, false before true.
    pub plain_order: bool,
    /// Equality: as `compare` says, or of the hash class where there is no order (`xid`, `cid`).
    pub equal: Option<EqualFn>,
    /// Hash for joins and aggregates; equal values of one family hash equal.
    pub hash: Option<HashFn>,
    /// Hash that SQL sees, and that hash partitioning is built on: PostgreSQL's.
    pub seeded_hash: Option<SeededHashFn>,
    /// How its values compare under a collation, if they do.
    pub collated: Option<&'static Collated>,
    /// Other types whose values bytes alone put in one order with these.
    pub orders_with: &'static [(Oid, CompareFn)],
    /// `numeric(10,2)` to a type modifier.
    pub typmod_in: TypmodInFn,
    /// A type modifier (-1: none) as `format_type` prints it behind the name: `(10,2)`, or nothing.
    pub typmod_out: fn(i32) -> String,
    /// SQL name where it is not that of `pg_type`.
    pub sql_name: &'static str,
    /// SQL name where it is known that there is no type modifier, if another.
    pub unsized_name: Option<&'static str>,
    /// Type whose operators and operator classes take its values as they are (`text` for `varchar`), 0 if it has its own.
    pub operators_of: Oid,
    /// What its values are the OIDs of, if it shows them as names.
    pub alias: Option<RegKind>,
    /// How a subscript reaches one of its values by a text, if it does ([`Subscripting::Entries`]).
    pub entries: Option<&'static Entries>,
}

/// What subscripts do with a type whose values are texts that other texts lead to.
#[derive(Clone, Copy, Debug)]
pub struct Entries {
    /// `value[key]`: a text, or NULL. Neither is NULL.
    pub get: fn(&Datum, &str) -> Datum,
    /// The value, or NULL, with another text, or NULL, at a key.
    pub set: fn(&Datum, &str, &Datum) -> SqlResult<Datum>,
    /// The type's name, for messages.
    pub name: &'static str,
}

impl TypeImp {
    /// A type without values: nothing but errors.
    pub const NONE: TypeImp = TypeImp {
        row: None,
        input: |type_oid, _, _, _| Err(not_accepted(type_oid)),
        output: |type_oid, _, _, _| Err(not_displayed(type_oid)),
        receive: |type_oid, _, _, _| Err(not_accepted(type_oid)),
        send: send_plain,
        compare: None,
        plain_order: false,
        equal: None,
        hash: None,
        seeded_hash: None,
        collated: None,
        orders_with: &[],
        typmod_in: |type_oid, _| Err(no_typmod(type_oid)),
        typmod_out: |_| String::new(),
        sql_name: "",
        unsized_name: None,
        operators_of: Oid::INVALID,
        alias: None,
        entries: None,
    };
}

/// Types that are made at run time: the session knows their kind and their parts.
pub(crate) static MADE: TypeImp = TypeImp {
    input: |type_oid, text, typmod, cx| cx.session.type_input(type_oid, text, typmod),
    output: |type_oid, value, cx, out| cx.session.type_output(type_oid, value, out),
    receive: |type_oid, reader, typmod, cx| cx.session.type_receive(type_oid, reader.rest(), typmod),
    send: |type_oid, value, cx, out| cx.session.type_send(type_oid, value, out),
    ..TypeImp::NONE
};

/// Above all built-in types.
const NUMBERED: usize = 10_000;

/// Position in [`TABLE`], by OID.
static PLACES: [u8; NUMBERED] = {
    assert!(oids::NUMBERS.len() <= 256);
    let mut places = [0; NUMBERED];
    let mut at = 1;
    while at < oids::NUMBERS.len() {
        let oid = oids::NUMBERS[at] as usize;
        assert!(places[oid] == 0, "two types of one OID");
        places[oid] = at as u8;
        at += 1;
    }
    places
};

/// The descriptors. As many as a byte can number, so that none is looked for beyond.
static TABLE: [&TypeImp; 256] = {
    let mut table = [&MADE; 256];
    let mut at = 0;
    while at < oids::DESCRIPTORS.len() {
        table[at] = oids::DESCRIPTORS[at];
        at += 1;
    }
    table
};

/// The descriptor of a type.
#[inline]
pub fn type_imp(oid: Oid) -> &'static TypeImp {
    match PLACES.get(oid.0 as usize) {
        Some(0) if libraries::NUMBERS.contains(&oid.0) => libraries::descriptor(oid),
        Some(place) => TABLE[usize::from(*place)],
        None => &MADE,
    }
}

/// What a subscript of a value reaches, of a type that is built in or of a library.
pub fn subscripting(oid: Oid) -> Option<Subscripting> {
    let imp = type_imp(oid);
    match imp.entries {
        Some(_) => Some(Subscripting::Entries),
        None => imp.row.as_ref().and_then(TypeInfo::subscripting),
    }
}

/// The type whose operators and operator classes take a type's values: itself, or `text` for `varchar`.
pub fn operand_type(oid: Oid) -> Oid {
    match type_imp(oid).operators_of {
        Oid::INVALID => oid,
        other => other,
    }
}

/// [`TypeInfo::io`] by numbers, 0 for a form that a type does not have.
pub(crate) const fn io_functions(numbers: [u32; 4]) -> [Oid; 4] {
    let [input, output, receive, send] = numbers;
    [Oid(input), Oid(output), Oid(receive), Oid(send)]
}

/// Text of its own of what is appended; it is ASCII.
pub(crate) fn text_of(append: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    append(&mut out);
    String::from_utf8(out).unwrap_or_default()
}

/// Appends what a value is displayed as.
pub(crate) fn show(value: impl std::fmt::Display, out: &mut Vec<u8>) -> SqlResult<()> {
    use std::io::Write;
    // Writing to memory does not fail.
    let _ = write!(out, "{value}");
    Ok(())
}

fn not_accepted(type_oid: Oid) -> SqlError {
    let name = format_type(type_oid, None).unwrap_or_default();
    sql_err!(FEATURE_NOT_SUPPORTED, "cannot accept a value of type {name}")
}

fn not_displayed(type_oid: Oid) -> SqlError {
    let name = format_type(type_oid, None).unwrap_or_default();
    sql_err!(FEATURE_NOT_SUPPORTED, "cannot display a value of type {name}")
}

fn no_typmod(type_oid: Oid) -> SqlError {
    let name = format_type(type_oid, None).unwrap_or_default();
    sql_err!(SYNTAX_ERROR, "type modifier is not allowed for type \"{name}\"")
}

/// Appends the stored bytes, numbers in the order of the network.
fn send_plain(_type_oid: Oid, value: &Datum, _cx: &Call, out: &mut Vec<u8>) -> SqlResult<()> {
    match value {
        Datum::Bool(v) => out.push(u8::from(*v)),
        Datum::Char(v) => out.push(*v),
        Datum::Int2(v) => out.extend_from_slice(&v.to_be_bytes()),
        Datum::Int4(v) => out.extend_from_slice(&v.to_be_bytes()),
        Datum::Int8(v) => out.extend_from_slice(&v.to_be_bytes()),
        Datum::Oid(v) => out.extend_from_slice(&v.to_be_bytes()),
        Datum::Float4(v) => out.extend_from_slice(&v.to_be_bytes()),
        Datum::Float8(v) => out.extend_from_slice(&v.to_be_bytes()),
        Datum::Bytes(bytes) => out.extend_from_slice(bytes),
        Datum::Toasted(_) | Datum::Null => return Err(SqlError::internal("a value without binary form")),
    }
    Ok(())
}

/// What storage needs to know of a type, built in or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeShape {
    /// Variant of its [`Datum`]s and form on disk.
    pub physical: Physical,
    /// Alignment in bytes.
    pub align: u8,
    /// Separator in array text.
    pub delimiter: u8,
    /// Element type if it is an array, else 0.
    pub element: Oid,
    /// Array type over it, 0 if none.
    pub array: Oid,
    /// Built-in type whose order, equality and hash it has: itself, or `anyenum`, `record`, `anyarray` or a domain's base type.
    pub comparable: Oid,
}

/// A row of `pg_type`.
#[derive(Clone, Copy, Debug)]
pub struct TypeInfo {
    /// PostgreSQL's OID.
    pub oid: Oid,
    /// `typname`
    pub name: &'static str,
    /// `typlen`: bytes, -1 for varlena, -2 for a C string.
    pub len: i16,
    /// `typbyval`
    pub byval: bool,
    /// `typtype`: `b` base, `p` pseudo, `r` range, `m` multirange.
    pub kind: u8,
    /// `typcategory`
    pub category: u8,
    /// `typispreferred`
    pub preferred: bool,
    /// `typdelim`
    pub delimiter: u8,
    /// `typelem`
    pub element: Oid,
    /// `typarray`
    pub array: Oid,
    /// `typinput`, `typoutput`, `typreceive`, `typsend`
    pub io: [Oid; 4],
    /// `typmodin`, `typmodout`
    pub typmod_io: [Oid; 2],
    /// Alignment in bytes: 1, 2, 4 or 8.
    pub align: u8,
    /// `typstorage`: `p`, `e`, `m`, `x`.
    pub storage: u8,
    /// `typcollation`: 0, 100 (default) or 950 (C).
    pub collation: Oid,
    /// `typsubscript`, 0 if it cannot be subscripted.
    pub subscript: Oid,
    /// Variant of its [`Datum`]s and form on disk.
    pub physical: Physical,
}

/// What a subscript reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subscripting {
    /// Elements of an array.
    Elements,
    /// Parts of a value of fixed length that is an array of another type: `name`, `point` and its relatives.
    Parts,
    /// Members of a document.
    Members,
    /// Texts by texts: `hstore`.
    Entries,
}

impl TypeInfo {
    /// What a subscript of a value reaches; none if it cannot be subscripted.
    pub fn subscripting(&self) -> Option<Subscripting> {
        match self.subscript.0 {
            6179 => Some(Subscripting::Elements),
            6180 => Some(Subscripting::Parts),
            6098 => Some(Subscripting::Members),
            _ => None,
        }
    }

    /// A base type as most of its physical class are.
    pub const fn new(oid: Oid, name: &'static str, category: u8, physical: Physical) -> TypeInfo {
        let (len, align) = match physical {
            Physical::Bool | Physical::Char => (1, 1),
            Physical::Int2 => (2, 2),
            Physical::Int4 | Physical::Oid | Physical::Float4 => (4, 4),
            Physical::Int8 | Physical::Float8 => (8, 8),
            Physical::Fixed(len) => (len as i16, 8),
            Physical::Name => (64, 1),
            Physical::Varlena => (-1, 4),
        };
        TypeInfo {
            oid,
            name,
            len,
            byval: !matches!(physical, Physical::Fixed(_) | Physical::Name | Physical::Varlena),
            kind: b'b',
            category,
            preferred: false,
            delimiter: b',',
            element: Oid::INVALID,
            array: Oid::INVALID,
            io: [Oid::INVALID; 4],
            typmod_io: [Oid::INVALID; 2],
            align,
            storage: if matches!(physical, Physical::Varlena) { b'x' } else { b'p' },
            collation: Oid::INVALID,
            subscript: Oid::INVALID,
            physical,
        }
    }

    /// A pseudo-type.
    pub(crate) const fn pseudo(oid: Oid, name: &'static str, physical: Physical) -> TypeInfo {
        TypeInfo { kind: b'p', ..TypeInfo::new(oid, name, b'P', physical) }
    }

    /// Whether this is a true array type (`int4[]`; not `name` or `point`, which can be subscripted too).
    pub const fn is_array(&self) -> bool {
        self.element.0 != 0 && self.len == -1
    }

    /// Whether text becomes its values whatever the settings are.
    pub fn input_is_immutable(&self) -> bool {
        function(self.io[0]).is_some_and(|f| f.volatility == Volatility::Immutable)
    }

    /// Whether its values become text whatever the settings are.
    pub fn output_is_immutable(&self) -> bool {
        function(self.io[1]).is_some_and(|f| f.volatility == Volatility::Immutable)
    }

    /// What storage needs.
    pub fn shape(&self) -> TypeShape {
        TypeShape {
            physical: self.physical,
            align: self.align,
            delimiter: self.delimiter,
            element: if self.is_array() { self.element } else { Oid::INVALID },
            array: self.array,
            comparable: self.oid,
        }
    }

    /// The column as storage sees it.
    pub fn attr(&self) -> tuple::Attr {
        tuple::Attr { physical: self.physical, align: self.align, storage: self.storage, compression: None }
    }
}

/// The rows of all built-in types, by OID.
pub fn builtin_types() -> &'static [&'static TypeInfo] {
    static ROWS: LazyLock<Vec<&TypeInfo>> = LazyLock::new(|| {
        let mut rows: Vec<&TypeInfo> = oids::DESCRIPTORS.iter().filter_map(|imp| imp.row.as_ref()).collect();
        rows.sort_by_key(|row| row.oid);
        rows
    });
    &ROWS
}

/// The built-in type with this OID.
#[inline]
pub fn builtin_type(oid: Oid) -> Option<&'static TypeInfo> {
    type_imp(oid).row.as_ref()
}

/// The built-in type with this `pg_type` name (`int4`, `_int4`).
pub fn type_named(name: &str) -> Option<&'static TypeInfo> {
    static NAMES: LazyLock<FxHashMap<&str, &TypeInfo>> =
        LazyLock::new(|| builtin_types().iter().map(|t| (t.name, *t)).collect());
    NAMES.get(name).copied()
}

/// Shape of any type: built in, or asked of the session.
pub fn shape_of(oid: Oid, cx: &Call) -> SqlResult<TypeShape> {
    match builtin_type(oid) {
        Some(info) => Ok(info.shape()),
        None => cx
            .session
            .type_shape(oid)
            .ok_or_else(|| SqlError::internal(format!("cache lookup failed for type {oid}"))),
    }
}

/// The built-in type whose input function this is.
pub fn type_with_input(function: Oid) -> Option<&'static TypeInfo> {
    builtin_types().iter().copied().find(|info| info.io[0] == function)
}
