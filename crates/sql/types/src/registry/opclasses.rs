//! `pg_opfamily`, `pg_opclass`, `pg_amop`, `pg_amproc` of the access methods btree (403) and hash (405).

use base::Oid;

use super::{AmOp, AmProc, OpClass, OpFamily};

/// Every family: OID, access method, name.
#[rustfmt::skip]
pub static OPFAMILIES: &[OpFamily] = &[
];

/// Every class: OID, access method, name, family, type, default, stored type.
#[rustfmt::skip]
pub static OPCLASSES: &[OpClass] = &[
];

/// Every operator of a family: OID, family, left, right, strategy, operator.
#[rustfmt::skip]
pub static AMOPS: &[AmOp] = &[
];

/// Every support function of a family: OID, family, left, right, number, function.
#[rustfmt::skip]
pub static AMPROCS: &[AmProc] = &[
];

const fn class(
    oid: u32,
    method: u32,
    name: &'static str,
    family: u32,
    input: u32,
    default: bool,
    key: u32,
) -> OpClass {
    OpClass {
        oid: Oid(oid),
        method: Oid(method),
        name,
        family: Oid(family),
        input: Oid(input),
        default,
        key: Oid(key),
    }
}

const fn amop(oid: u32, family: u32, left: u32, right: u32, strategy: i16, operator: u32) -> AmOp {
    AmOp {
        oid: Oid(oid),
        family: Oid(family),
        left: Oid(left),
        right: Oid(right),
        strategy,
        operator: Oid(operator),
    }
}

const fn amproc(oid: u32, family: u32, left: u32, right: u32, number: i16, function: u32) -> AmProc {
    AmProc {
        oid: Oid(oid),
        family: Oid(family),
        left: Oid(left),
        right: Oid(right),
        number,
        function: Oid(function),
    }
}
