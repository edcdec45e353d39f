//! Types whose values are OIDs of objects and whose text is the name of the object: `regclass` and the like.

use base::SqlResult;

use crate::call::{Call, RegKind};
use crate::registry::type_imp;
use crate::registry::types::prelude::*;

functions! {
    44 regprocin(cstring) -> regproc [stable strict] { input regproc }
    45 regprocout(regproc) -> cstring [stable strict] { output regproc }
    2212 regprocedurein(cstring) -> regprocedure [stable strict] { input regprocedure }
    2213 regprocedureout(regprocedure) -> cstring [stable strict] { output regprocedure }
    2214 regoperin(cstring) -> regoper [stable strict] { input regoper }
    2215 regoperout(regoper) -> cstring [stable strict] { output regoper }
    2216 regoperatorin(cstring) -> regoperator [stable strict] { input regoperator }
    2217 regoperatorout(regoperator) -> cstring [stable strict] { output regoperator }
    2218 regclassin(cstring) -> regclass [stable strict] { input regclass }
    2219 regclassout(regclass) -> cstring [stable strict] { output regclass }
    2220 regtypein(cstring) -> regtype [stable strict] { input regtype }
    2221 regtypeout(regtype) -> cstring [stable strict] { output regtype }
    2444 regprocrecv(internal) -> regproc [immutable strict] { receive regproc }
    2445 regprocsend(regproc) -> bytea [immutable strict] { send regproc }
    2446 regprocedurerecv(internal) -> regprocedure [immutable strict] { receive regprocedure }
    2447 regproceduresend(regprocedure) -> bytea [immutable strict] { send regprocedure }
    2448 regoperrecv(internal) -> regoper [immutable strict] { receive regoper }
    2449 regopersend(regoper) -> bytea [immutable strict] { send regoper }
    2450 regoperatorrecv(internal) -> regoperator [immutable strict] { receive regoperator }
    2451 regoperatorsend(regoperator) -> bytea [immutable strict] { send regoperator }
    2452 regclassrecv(internal) -> regclass [immutable strict] { receive regclass }
    2453 regclasssend(regclass) -> bytea [immutable strict] { send regclass }
    2454 regtyperecv(internal) -> regtype [immutable strict] { receive regtype }
    2455 regtypesend(regtype) -> bytea [immutable strict] { send regtype }
    3736 regconfigin(cstring) -> regconfig [stable strict] { input regconfig }
    3737 regconfigout(regconfig) -> cstring [stable strict] { output regconfig }
    3738 regconfigrecv(internal) -> regconfig [immutable strict] { receive regconfig }
    3739 regconfigsend(regconfig) -> bytea [immutable strict] { send regconfig }
    3771 regdictionaryin(cstring) -> regdictionary [stable strict] { input regdictionary }
    3772 regdictionaryout(regdictionary) -> cstring [stable strict] { output regdictionary }
    3773 regdictionaryrecv(internal) -> regdictionary [immutable strict] { receive regdictionary }
    3774 regdictionarysend(regdictionary) -> bytea [immutable strict] { send regdictionary }
    4084 regnamespacein(cstring) -> regnamespace [stable strict] { input regnamespace }
    4085 regnamespaceout(regnamespace) -> cstring [stable strict] { output regnamespace }
    4087 regnamespacerecv(internal) -> regnamespace [immutable strict] { receive regnamespace }
    4088 regnamespacesend(regnamespace) -> bytea [immutable strict] { send regnamespace }
    4092 regroleout(regrole) -> cstring [stable strict] { output regrole }
    4094 regrolerecv(internal) -> regrole [immutable strict] { receive regrole }
    4095 regrolesend(regrole) -> bytea [immutable strict] { send regrole }
    4098 regrolein(cstring) -> regrole [stable strict] { input regrole }
    4193 regcollationin(cstring) -> regcollation [stable strict] { input regcollation }
    4194 regcollationout(regcollation) -> cstring [stable strict] { output regcollation }
    4196 regcollationrecv(internal) -> regcollation [immutable strict] { receive regcollation }
    4197 regcollationsend(regcollation) -> bytea [immutable strict] { send regcollation }
}

/// The kind of object that an alias type names.
pub fn reg_kind(type_oid: Oid) -> Option<RegKind> {
    type_imp(type_oid).alias
}

const fn alias(oid: Oid, name: &'static str, array: Oid, io: [u32; 4], kind: RegKind) -> TypeImp {
    TypeImp {
        row: Some(TypeInfo { array, io: io_functions(io), ..TypeInfo::new(oid, name, b'N', Physical::Oid) }),
        input,
        output,
        receive: |_, reader, _, _| Ok(Datum::Oid(reader.i32()? as u32)),
        operators_of: oids::oid,
        alias: Some(kind),
        ..crate::compare::OBJECT_IDS
    }
}

/// `-` is 0, digits are the number itself, all else is looked up.
fn input(type_oid: Oid, text: &str, _typmod: i32, cx: &Call) -> SqlResult<Datum> {
    if text == "-" {
        return Ok(Datum::Oid(0));
    }
    if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
        return Ok(Datum::Oid(crate::ids::parse_oid(text, "oid")?));
    }
    let kind = reg_kind(type_oid).unwrap_or(RegKind::Class);
    Ok(Datum::Oid(cx.session.reg_lookup(kind, text)?.0))
}

fn output(type_oid: Oid, value: &Datum, cx: &Call, out: &mut Vec<u8>) -> SqlResult<()> {
    let oid = u32::from_datum(value);
    let kind = reg_kind(type_oid);
    if oid == 0 {
        // No operator is `0`, nothing else is `-`.
        let zero = if matches!(kind, Some(RegKind::Oper | RegKind::Operator)) { b'0' } else { b'-' };
        out.push(zero);
        return Ok(());
    }
    match kind.and_then(|kind| cx.session.reg_name(kind, Oid(oid))) {
        Some(name) => out.extend_from_slice(name.as_bytes()),
        None => base::push_decimal(out, oid.into()),
    }
    Ok(())
}

/// The name of a relation.
pub(crate) static REGCLASS: TypeImp =
    alias(oids::regclass, "regclass", oids::_regclass, [2218, 2219, 2452, 2453], RegKind::Class);

/// The name of a type.
pub(crate) static REGTYPE: TypeImp =
    alias(oids::regtype, "regtype", oids::_regtype, [2220, 2221, 2454, 2455], RegKind::Type);

/// The name of a function.
pub(crate) static REGPROC: TypeImp =
    alias(oids::regproc, "regproc", oids::_regproc, [44, 45, 2444, 2445], RegKind::Proc);

/// The name of a function with its arguments.
pub(crate) static REGPROCEDURE: TypeImp = alias(
    oids::regprocedure,
    "regprocedure",
    oids::_regprocedure,
    [2212, 2213, 2446, 2447],
    RegKind::Procedure,
);

/// The name of an operator.
pub(crate) static REGOPER: TypeImp =
    alias(oids::regoper, "regoper", oids::_regoper, [2214, 2215, 2448, 2449], RegKind::Oper);

/// The name of an operator with its operands.
pub(crate) static REGOPERATOR: TypeImp =
    alias(oids::regoperator, "regoperator", oids::_regoperator, [2216, 2217, 2450, 2451], RegKind::Operator);

/// The name of a schema.
pub(crate) static REGNAMESPACE: TypeImp = alias(
    oids::regnamespace,
    "regnamespace",
    oids::_regnamespace,
    [4084, 4085, 4087, 4088],
    RegKind::Namespace,
);

/// The name of a role.
pub(crate) static REGROLE: TypeImp =
    alias(oids::regrole, "regrole", oids::_regrole, [4098, 4092, 4094, 4095], RegKind::Role);

/// The name of a collation.
pub(crate) static REGCOLLATION: TypeImp = alias(
    oids::regcollation,
    "regcollation",
    oids::_regcollation,
    [4193, 4194, 4196, 4197],
    RegKind::Collation,
);

/// The name of a text search configuration.
pub(crate) static REGCONFIG: TypeImp =
    alias(oids::regconfig, "regconfig", oids::_regconfig, [3736, 3737, 3738, 3739], RegKind::Config);

/// The name of a text search dictionary.
pub(crate) static REGDICTIONARY: TypeImp = alias(
    oids::regdictionary,
    "regdictionary",
    oids::_regdictionary,
    [3771, 3772, 3773, 3774],
    RegKind::Dictionary,
);
