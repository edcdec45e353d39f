//! Arrays of built-in types, and the two vectors: their descriptors.

use base::{SqlResult, sql_err};

use collation::Rules;

use super::*;
use crate::comparator::Collated;
use crate::registry::types::prelude::*;
use crate::registry::{type_imp, types::OutputFn};
use crate::value::Reader;

functions! {
    40 int2vectorin(cstring) -> int2vector [immutable strict] { input int2vector }
    41 int2vectorout(int2vector) -> cstring [immutable strict] { output int2vector }
    54 oidvectorin(cstring) -> oidvector [immutable strict] { input oidvector }
    55 oidvectorout(oidvector) -> cstring [immutable strict] { output oidvector }
    750 array_in(cstring, oid, int4) -> anyarray [stable strict] { input anyarray }
    751 array_out(anyarray) -> cstring [stable strict] { output anyarray }
    2296 anyarray_in(cstring) -> anyarray [immutable strict] { input anyarray }
    2297 anyarray_out(anyarray) -> cstring [stable strict] { output anyarray }
    2400 array_recv(internal, oid, int4) -> anyarray [stable strict] { receive anyarray }
    2401 array_send(anyarray) -> bytea [stable strict] { send anyarray }
    2410 int2vectorrecv(internal) -> int2vector [immutable strict] { receive int2vector }
    2411 int2vectorsend(int2vector) -> bytea [immutable strict] { send int2vector }
    2420 oidvectorrecv(internal) -> oidvector [immutable strict] { receive oidvector }
    2421 oidvectorsend(oidvector) -> bytea [immutable strict] { send oidvector }
    2502 anyarray_recv(internal) -> anyarray [stable strict] { receive anyarray }
    2503 anyarray_send(anyarray) -> bytea [stable strict] { send anyarray }
}

/// What all arrays share.
const ARRAY: TypeImp = TypeImp {
    input: |type_oid, value, typmod, cx| input(element_of(type_oid), value, typmod, cx),
    output: |_, value, cx, out| output(<&[u8]>::from_datum(value), cx, out),
    receive: |type_oid, reader, typmod, cx| binary_receive(element_of(type_oid), reader.rest(), typmod, cx),
    send: |_, value, cx, out| binary_send(<&[u8]>::from_datum(value), cx, out),
    compare: Some(arrays),
    equal: Some(|a, b| arrays(a, b).is_eq()),
    hash: Some(|value| hash(<&[u8]>::from_datum(value))),
    seeded_hash: Some(seeded_hash),
    collated: Some(&COLLATED),
    typmod_in: |type_oid, modifiers| {
        let element = element_of(type_oid);
        (type_imp(element).typmod_in)(element, modifiers)
    },
    ..TypeImp::NONE
};

/// The descriptor of arrays of a type: compared and hashed if their elements are.
pub(crate) const fn array_of(element: &TypeImp, oid: Oid, name: &'static str) -> TypeImp {
    let Some(of) = &element.row else { panic!("the elements are of a built-in type") };
    TypeImp {
        row: Some(TypeInfo {
            element: of.oid,
            delimiter: of.delimiter,
            io: [Oid(750), Oid(751), Oid(2400), Oid(2401)],
            typmod_io: of.typmod_io,
            align: if of.align < 4 { 4 } else { of.align },
            collation: of.collation,
            subscript: Oid(6179),
            ..TypeInfo::new(oid, name, b'A', Physical::Varlena)
        }),
        compare: if element.compare.is_some() { ARRAY.compare } else { None },
        equal: if element.compare.is_some() { ARRAY.equal } else { None },
        hash: if element.hash.is_some() { ARRAY.hash } else { None },
        seeded_hash: if element.hash.is_some() { ARRAY.seeded_hash } else { None },
        collated: if element.collated.is_some() { ARRAY.collated } else { None },
        ..ARRAY
    }
}

static COLLATED: Collated = Collated {
    compare: |rules, a, b| compare_under(rules, <&[u8]>::from_datum(a), <&[u8]>::from_datum(b)),
    compare_bytes: None,
    // Arrays are told apart by comparing them.
    leading: |_, _| 0,
    hash: |rules, a| hash_under(rules, <&[u8]>::from_datum(a)),
    seeded_hash: |rules, a, seed| seeded_hash_under(rules, a, seed),
};

fn element_of(type_oid: Oid) -> Oid {
    type_imp(type_oid).row.map_or(Oid::INVALID, |row| row.element)
}

fn arrays(a: &Datum, b: &Datum) -> std::cmp::Ordering {
    compare(<&[u8]>::from_datum(a), <&[u8]>::from_datum(b))
}

fn seeded_hash(value: &Datum, seed: u64) -> u64 {
    seeded_hash_under(&collation::C, value, seed)
}

/// The hash that SQL sees, by the rules of a collation.
pub(crate) fn seeded_hash_under(rules: &Rules, value: &Datum, seed: u64) -> u64 {
    let array = Array::at_once(<&[u8]>::from_datum(value));
    let collated = type_imp(array.comparable).collated.filter(|_| !rules.is_deterministic());
    let part = |element: &Datum| match collated {
        Some(of) => (of.seeded_hash)(rules, element, seed),
        None => crate::hashing::hash_value(array.comparable, element, seed),
    };
    let parts = array.elements().iter().map(|element| (!element.is_null()).then(|| part(element)));
    crate::hashing::hash_list(1, parts)
}

/// Text form of a vector.
const VECTOR_OUT: OutputFn = |_, value, _, out| show(vector_output(<&[u8]>::from_datum(value)), out);

/// A vector must have one dimension without NULLs, counted from 0.
fn vector_receive(element: Oid, reader: &mut Reader, cx: &Call) -> SqlResult<Datum> {
    let value = binary_receive(element, reader.rest(), -1, cx)?;
    let array = Array::from_payload(<&[u8]>::from_datum(&value));
    if array.dimensions.len() > 1
        || array.has_nulls()
        || array.dimensions.first().is_some_and(|d| d.lower != 0)
    {
        return Err(sql_err!(INVALID_BINARY_REPRESENTATION, "invalid vector data"));
    }
    if array.dimensions.is_empty() {
        return Ok(if element == oids::oid { from_oids(&[]) } else { from_int2s(&[]) });
    }
    Ok(value)
}

fn oid_vectors(a: &Datum, b: &Datum) -> std::cmp::Ordering {
    let (a, b) = (oid_vector(<&[u8]>::from_datum(a)), oid_vector(<&[u8]>::from_datum(b)));
    a.len().cmp(&b.len()).then_with(|| a.cmp(&b))
}

fn hash_oid_vector(value: &Datum, seed: u64) -> u64 {
    let words = oid_vector(<&[u8]>::from_datum(value));
    crate::hashing::hash_bytes(&words.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>(), seed)
}

/// Small numbers, counted from 0.
pub(crate) static INT2VECTOR: TypeImp = TypeImp {
    row: Some(TypeInfo {
        element: oids::int2,
        array: oids::_int2vector,
        io: [Oid(40), Oid(41), Oid(2410), Oid(2411)],
        storage: b'p',
        subscript: Oid(6179),
        ..TypeInfo::new(oids::int2vector, "int2vector", b'A', Physical::Varlena)
    }),
    input: |_, text, _, _| vector_input(text, false),
    output: VECTOR_OUT,
    receive: |_, reader, _, cx| vector_receive(oids::int2, reader, cx),
    equal: crate::compare::BYTES.equal,
    hash: crate::compare::BYTES.hash,
    ..ARRAY
};

/// Numbers of objects, counted from 0.
pub(crate) static OIDVECTOR: TypeImp = TypeImp {
    row: Some(TypeInfo {
        element: oids::oid,
        array: oids::_oidvector,
        io: [Oid(54), Oid(55), Oid(2420), Oid(2421)],
        storage: b'p',
        subscript: Oid(6179),
        ..TypeInfo::new(oids::oidvector, "oidvector", b'A', Physical::Varlena)
    }),
    input: |_, text, _, _| vector_input(text, true),
    output: VECTOR_OUT,
    receive: |_, reader, _, cx| vector_receive(oids::oid, reader, cx),
    compare: Some(oid_vectors),
    equal: crate::compare::BYTES.equal,
    hash: crate::compare::BYTES.hash,
    seeded_hash: Some(hash_oid_vector),
    ..ARRAY
};

/// Any array.
pub(crate) static ANYARRAY: TypeImp = TypeImp {
    row: Some(TypeInfo {
        io: [Oid(2296), Oid(2297), Oid(2502), Oid(2503)],
        align: 8,
        ..TypeInfo::pseudo(oids::anyarray, "anyarray", Physical::Varlena)
    }),
    input: TypeImp::NONE.input,
    receive: TypeImp::NONE.receive,
    send: TypeImp::NONE.send,
    typmod_in: TypeImp::NONE.typmod_in,
    ..ARRAY
};
