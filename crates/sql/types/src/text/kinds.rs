//! The types that are texts or bytes: their descriptors.

use base::SqlResult;
use base::sql_err;

use collation::Rules;

use super::*;
use crate::comparator::Collated;
use crate::compare::{hash_bytes, trim_blanks};
use crate::encoding::passage::hashed_bytes;
use crate::registry::types::prelude::*;
use crate::value::Reader;

/// Types whose text form is what is stored.
pub(crate) const AS_IS: TypeImp =
    TypeImp { output: |_, value, _, out| piece::append(out, <&[u8]>::from_datum(value)), ..TypeImp::NONE };

/// Texts, compared by their bytes.
const TEXT_KIND: TypeImp = TypeImp {
    input: |_, text, _, _| piece::datum(text.as_bytes()),
    output: AS_IS.output,
    receive: |_, reader, _, _| Ok(Datum::text(check_utf8(reader.rest())?)),
    seeded_hash: Some(|value, seed| {
        crate::hashing::hash_bytes(&hashed_bytes(<&[u8]>::from_datum(value)), seed)
    }),
    collated: Some(&COLLATED),
    ..crate::compare::BYTES
};

static COLLATED: Collated = Collated {
    compare: |rules, a, b| rules.compare(<&[u8]>::from_datum(a), <&[u8]>::from_datum(b)),
    compare_bytes: Some(Rules::compare),
    leading: |rules, a| rules.leading(<&[u8]>::from_datum(a)),
    hash: |rules, a| rules.hashed(<&[u8]>::from_datum(a), hash_bytes),
    seeded_hash: |rules, a, seed| hash_under(rules, <&[u8]>::from_datum(a), seed),
};

static COLLATED_PADDED: Collated = Collated {
    compare: |rules, a, b| rules.compare(unpadded_bytes(a), unpadded_bytes(b)),
    compare_bytes: Some(|rules, a, b| rules.compare(trim_blanks(a), trim_blanks(b))),
    leading: |rules, a| rules.leading(unpadded_bytes(a)),
    hash: |rules, a| rules.hashed(unpadded_bytes(a), hash_bytes),
    seeded_hash: |rules, a, seed| hash_under(rules, unpadded_bytes(a), seed),
};

fn hash_under(rules: &Rules, text: &[u8], seed: u64) -> u64 {
    match rules.is_deterministic() {
        true => crate::hashing::hash_bytes(&hashed_bytes(text), seed),
        false => rules.hashed(text, |key| crate::hashing::hash_bytes(key, seed)),
    }
}

fn unpadded_bytes(value: &Datum) -> &[u8] {
    trim_blanks(<&[u8]>::from_datum(value))
}

fn padded(a: &Datum, b: &Datum) -> std::cmp::Ordering {
    trim_blanks(<&[u8]>::from_datum(a)).cmp(trim_blanks(<&[u8]>::from_datum(b)))
}

/// The length of `varchar` and `bpchar`.
fn length_text(typmod: i32) -> String {
    if typmod > 4 { format!("({})", typmod - 4) } else { String::new() }
}

fn received_name(reader: &mut Reader) -> SqlResult<Datum> {
    let name = check_utf8(reader.rest())?;
    if name.len() > NAME_LENGTH {
        return Err(sql_err!(NAME_TOO_LONG, "identifier too long")
            .detail("Identifier must be less than 64 characters."));
    }
    Ok(Datum::text(name))
}

functions! {
    31 byteaout(bytea) -> cstring [immutable strict] { output bytea }
    34 namein(cstring) -> name [immutable strict] { input name }
    35 nameout(name) -> cstring [immutable strict] { output name }
    46 textin(cstring) -> text [immutable strict] { input text }
    47 textout(text) -> cstring [immutable strict] { output text }
    109 unknownin(cstring) -> unknown [immutable strict] { input unknown }
    110 unknownout(unknown) -> cstring [immutable strict] { output unknown }
    195 pg_node_tree_in(cstring) -> pg_node_tree [immutable strict] { input pg_node_tree }
    196 pg_node_tree_out(pg_node_tree) -> cstring [immutable strict] { output pg_node_tree }
    197 pg_node_tree_recv(internal) -> pg_node_tree [stable strict] { receive pg_node_tree }
    198 pg_node_tree_send(pg_node_tree) -> bytea [stable strict] { send pg_node_tree }
    1044 bpcharin(cstring, oid, int4) -> bpchar [immutable strict] { input bpchar }
    1045 bpcharout(bpchar) -> cstring [immutable strict] { output bpchar }
    1046 varcharin(cstring, oid, int4) -> varchar [immutable strict] { input varchar }
    1047 varcharout(varchar) -> cstring [immutable strict] { output varchar }
    1244 byteain(cstring) -> bytea [immutable strict] { input bytea }
    2292 cstring_in(cstring) -> cstring [immutable strict] { input cstring }
    2293 cstring_out(cstring) -> cstring [immutable strict] { output cstring }
    2412 bytearecv(internal) -> bytea [immutable strict] { receive bytea }
    2413 byteasend(bytea) -> bytea [immutable strict] { send bytea }
    2414 textrecv(internal) -> text [stable strict] { receive text }
    2415 textsend(text) -> bytea [stable strict] { send text }
    2416 unknownrecv(internal) -> unknown [immutable strict] { receive unknown }
    2417 unknownsend(unknown) -> bytea [immutable strict] { send unknown }
    2422 namerecv(internal) -> name [stable strict] { receive name }
    2423 namesend(name) -> bytea [stable strict] { send name }
    2430 bpcharrecv(internal, oid, int4) -> bpchar [stable strict] { receive bpchar }
    2431 bpcharsend(bpchar) -> bytea [stable strict] { send bpchar }
    2432 varcharrecv(internal, oid, int4) -> varchar [stable strict] { receive varchar }
    2433 varcharsend(varchar) -> bytea [stable strict] { send varchar }
    2500 cstring_recv(internal) -> cstring [stable strict] { receive cstring }
    2501 cstring_send(cstring) -> bytea [stable strict] { send cstring }
    2913 bpchartypmodin(_cstring) -> int4 [immutable strict] { typmod_in bpchar }
    2914 bpchartypmodout(int4) -> cstring [immutable strict] { typmod_out bpchar }
    2915 varchartypmodin(_cstring) -> int4 [immutable strict] { typmod_in varchar }
    2916 varchartypmodout(int4) -> cstring [immutable strict] { typmod_out varchar }
}

/// Text of any length.
pub(crate) static TEXT: TypeImp = TypeImp {
    row: Some(TypeInfo {
        preferred: true,
        array: oids::_text,
        io: [Oid(46), Oid(47), Oid(2414), Oid(2415)],
        collation: Oid(100),
        ..TypeInfo::new(oids::text, "text", b'S', Physical::Varlena)
    }),
    ..TEXT_KIND
};

/// Text up to a length.
pub(crate) static VARCHAR: TypeImp = TypeImp {
    row: Some(TypeInfo {
        array: oids::_varchar,
        io: [Oid(1046), Oid(1047), Oid(2432), Oid(2433)],
        typmod_io: [Oid(2915), Oid(2916)],
        collation: Oid(100),
        ..TypeInfo::new(oids::varchar, "varchar", b'S', Physical::Varlena)
    }),
    input: |_, text, typmod, _| piece::datum(varchar_fit(text, typmod, false)?.as_bytes()),
    receive: |_, reader, typmod, _| Ok(Datum::text(varchar_fit(check_utf8(reader.rest())?, typmod, false)?)),
    typmod_in: |_, modifiers| length_typmod(modifiers, "varchar"),
    typmod_out: length_text,
    sql_name: "character varying",
    operators_of: oids::text,
    ..TEXT_KIND
};

/// Text of a length, blanks at its end do not count.
pub(crate) static BPCHAR: TypeImp = TypeImp {
    row: Some(TypeInfo {
        array: oids::_bpchar,
        io: [Oid(1044), Oid(1045), Oid(2430), Oid(2431)],
        typmod_io: [Oid(2913), Oid(2914)],
        collation: Oid(100),
        ..TypeInfo::new(oids::bpchar, "bpchar", b'S', Physical::Varlena)
    }),
    input: |_, text, typmod, _| bpchar_fit(text, typmod, false),
    receive: |_, reader, typmod, _| bpchar_fit(check_utf8(reader.rest())?, typmod, false),
    compare: Some(padded),
    plain_order: false,
    equal: Some(|a, b| padded(a, b).is_eq()),
    hash: Some(|a| hash_bytes(trim_blanks(<&[u8]>::from_datum(a)))),
    seeded_hash: Some(|value, seed| {
        crate::hashing::hash_bytes(&hashed_bytes(trim_blanks(<&[u8]>::from_datum(value))), seed)
    }),
    collated: Some(&COLLATED_PADDED),
    typmod_in: |_, modifiers| length_typmod(modifiers, "char"),
    typmod_out: length_text,
    sql_name: "character",
    unsized_name: Some("bpchar"),
    ..TEXT_KIND
};

/// The name of an object, up to 63 bytes.
pub(crate) static NAME: TypeImp = TypeImp {
    row: Some(TypeInfo {
        element: oids::char,
        array: oids::_name,
        io: [Oid(34), Oid(35), Oid(2422), Oid(2423)],
        collation: Oid(950),
        subscript: Oid(6180),
        ..TypeInfo::new(oids::name, "name", b'S', Physical::Name)
    }),
    input: |_, text, _, _| Ok(name_datum(text)),
    receive: |_, reader, _, _| received_name(reader),
    ..TEXT_KIND
};

/// A literal whose type is not known yet.
pub(crate) static UNKNOWN: TypeImp = TypeImp {
    row: Some(TypeInfo {
        kind: b'p',
        io: [Oid(109), Oid(110), Oid(2416), Oid(2417)],
        len: -2,
        align: 1,
        storage: b'p',
        ..TypeInfo::new(oids::unknown, "unknown", b'X', Physical::Varlena)
    }),
    hash: None,
    seeded_hash: None,
    collated: None,
    ..TEXT_KIND
};

/// Text as input and output functions take it.
pub(crate) static CSTRING: TypeImp = TypeImp {
    row: Some(TypeInfo {
        array: oids::_cstring,
        io: [Oid(2292), Oid(2293), Oid(2500), Oid(2501)],
        len: -2,
        align: 1,
        storage: b'p',
        ..TypeInfo::pseudo(oids::cstring, "cstring", Physical::Varlena)
    }),
    hash: None,
    seeded_hash: None,
    collated: None,
    ..TEXT_KIND
};

/// The name of a cursor.
pub(crate) static REFCURSOR: TypeImp = TypeImp {
    row: Some(TypeInfo {
        array: oids::_refcursor,
        io: [Oid(46), Oid(47), Oid(2414), Oid(2415)],
        ..TypeInfo::new(oids::refcursor, "refcursor", b'U', Physical::Varlena)
    }),
    input: TEXT_KIND.input,
    receive: TEXT_KIND.receive,
    ..AS_IS
};

/// A stored expression.
pub(crate) static PG_NODE_TREE: TypeImp = TypeImp {
    row: Some(TypeInfo {
        io: [Oid(195), Oid(196), Oid(197), Oid(198)],
        collation: Oid(100),
        ..TypeInfo::new(oids::pg_node_tree, "pg_node_tree", b'Z', Physical::Varlena)
    }),
    ..AS_IS
};

/// Bytes.
pub(crate) static BYTEA: TypeImp = TypeImp {
    row: Some(TypeInfo {
        array: oids::_bytea,
        io: [Oid(1244), Oid(31), Oid(2412), Oid(2413)],
        ..TypeInfo::new(oids::bytea, "bytea", b'U', Physical::Varlena)
    }),
    input: |_, text, _, _| Ok(Datum::Bytes(bytea_in(text)?.into())),
    output: |_, value, cx, out| bytea_out(<&[u8]>::from_datum(value), cx.format.bytea_output, out),
    receive: |_, reader, _, _| Ok(Datum::Bytes(Bytes::new(reader.rest()))),
    ..crate::compare::BYTES
};
