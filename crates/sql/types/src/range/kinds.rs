//! The built-in ranges and multiranges: their descriptors.

use super::text as form;
use super::*;
use crate::registry::types::prelude::*;

functions! {
    3832 anyrange_in(cstring, oid, int4) -> anyrange [stable strict] { input anyrange }
    3833 anyrange_out(anyrange) -> cstring [stable strict] { output anyrange }
    3834 range_in(cstring, oid, int4) -> anyrange [stable strict] { input anyrange }
    3835 range_out(anyrange) -> cstring [stable strict] { output anyrange }
    3836 range_recv(internal, oid, int4) -> anyrange [stable strict] { receive anyrange }
    3837 range_send(anyrange) -> bytea [stable strict] { send anyrange }
    4229 anymultirange_in(cstring, oid, int4) -> anymultirange [stable strict] { input anymultirange }
    4230 anymultirange_out(anymultirange) -> cstring [stable strict] { output anymultirange }
    4231 multirange_in(cstring, oid, int4) -> anymultirange [stable strict] { input anymultirange }
    4232 multirange_out(anymultirange) -> cstring [stable strict] { output anymultirange }
    4233 multirange_recv(internal, oid, int4) -> anymultirange [stable strict] { receive anymultirange }
    4234 multirange_send(anymultirange) -> bytea [stable strict] { send anymultirange }
}

/// What all ranges share.
const RANGE: TypeImp = TypeImp {
    input: |type_oid, text, _, cx| form::input(&range_info(type_oid, cx)?, text, cx),
    output: |_, value, cx, out| form::output(value, cx, out),
    receive: |type_oid, reader, _, cx| form::receive(&range_info(type_oid, cx)?, reader, cx),
    send: |_, value, cx, out| form::send(value, cx, out),
    compare: Some(compare),
    equal: Some(|a, b| compare(a, b).is_eq()),
    hash: Some(hash),
    seeded_hash: Some(sql_hash),
    ..TypeImp::NONE
};

/// What all multiranges share.
const MULTIRANGE: TypeImp = TypeImp {
    input: |type_oid, text, _, cx| form::multirange_input(&range_info(type_oid, cx)?, text, cx),
    output: |_, value, cx, out| form::multirange_output(value, cx, out),
    receive: |type_oid, reader, _, cx| form::multirange_receive(&range_info(type_oid, cx)?, reader, cx),
    send: |_, value, cx, out| form::multirange_send(value, cx, out),
    compare: Some(compare_multi),
    equal: Some(|a, b| compare_multi(a, b).is_eq()),
    hash: Some(hash_multi),
    seeded_hash: Some(sql_hash_multi),
    ..TypeImp::NONE
};

const fn range(oid: Oid, name: &'static str, array: Oid, align: u8) -> TypeImp {
    let io = [Oid(3834), Oid(3835), Oid(3836), Oid(3837)];
    let row = TypeInfo { kind: b'r', array, io, align, ..TypeInfo::new(oid, name, b'R', Physical::Varlena) };
    TypeImp { row: Some(row), ..RANGE }
}

const fn multirange(oid: Oid, name: &'static str, array: Oid, align: u8) -> TypeImp {
    let io = [Oid(4231), Oid(4232), Oid(4233), Oid(4234)];
    let row = TypeInfo { kind: b'm', array, io, align, ..TypeInfo::new(oid, name, b'R', Physical::Varlena) };
    TypeImp { row: Some(row), ..MULTIRANGE }
}

/// Any range, and what every one of them compares as.
pub(crate) static ANYRANGE: TypeImp = TypeImp {
    row: Some(TypeInfo {
        io: [Oid(3832), Oid(3833), Oid(0), Oid(0)],
        align: 8,
        ..TypeInfo::pseudo(oids::anyrange, "anyrange", Physical::Varlena)
    }),
    input: TypeImp::NONE.input,
    receive: TypeImp::NONE.receive,
    send: TypeImp::NONE.send,
    ..RANGE
};

/// Any multirange, and what every one of them compares as.
pub(crate) static ANYMULTIRANGE: TypeImp = TypeImp {
    row: Some(TypeInfo {
        io: [Oid(4229), Oid(4230), Oid(0), Oid(0)],
        align: 8,
        ..TypeInfo::pseudo(oids::anymultirange, "anymultirange", Physical::Varlena)
    }),
    input: TypeImp::NONE.input,
    receive: TypeImp::NONE.receive,
    send: TypeImp::NONE.send,
    ..MULTIRANGE
};

/// Ranges of `int4`.
pub(crate) static INT4RANGE: TypeImp = range(oids::int4range, "int4range", oids::_int4range, 4);

/// Ranges of `numeric`.
pub(crate) static NUMRANGE: TypeImp = range(oids::numrange, "numrange", oids::_numrange, 4);

/// Ranges of `timestamp`.
pub(crate) static TSRANGE: TypeImp = range(oids::tsrange, "tsrange", oids::_tsrange, 8);

/// Ranges of `timestamptz`.
pub(crate) static TSTZRANGE: TypeImp = range(oids::tstzrange, "tstzrange", oids::_tstzrange, 8);

/// Ranges of `date`.
pub(crate) static DATERANGE: TypeImp = range(oids::daterange, "daterange", oids::_daterange, 4);

/// Ranges of `int8`.
pub(crate) static INT8RANGE: TypeImp = range(oids::int8range, "int8range", oids::_int8range, 8);

/// Multiranges of `int4`.
pub(crate) static INT4MULTIRANGE: TypeImp =
    multirange(oids::int4multirange, "int4multirange", oids::_int4multirange, 4);

/// Multiranges of `numeric`.
pub(crate) static NUMMULTIRANGE: TypeImp =
    multirange(oids::nummultirange, "nummultirange", oids::_nummultirange, 4);

/// Multiranges of `timestamp`.
pub(crate) static TSMULTIRANGE: TypeImp =
    multirange(oids::tsmultirange, "tsmultirange", oids::_tsmultirange, 8);

/// Multiranges of `timestamptz`.
pub(crate) static TSTZMULTIRANGE: TypeImp =
    multirange(oids::tstzmultirange, "tstzmultirange", oids::_tstzmultirange, 8);

/// Multiranges of `date`.
pub(crate) static DATEMULTIRANGE: TypeImp =
    multirange(oids::datemultirange, "datemultirange", oids::_datemultirange, 4);

/// Multiranges of `int8`.
pub(crate) static INT8MULTIRANGE: TypeImp =
    multirange(oids::int8multirange, "int8multirange", oids::_int8multirange, 8);
