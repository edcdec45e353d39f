//! # What
//! What statements and functions name, looked up: relations (and locked), routines, types, operators, the session's database and its temporary schema.

pub mod access_method;
pub mod database;
pub mod language;
pub mod names;
pub mod operator;
pub mod routine_name;
pub mod temporary;
pub mod type_name;

use base::{Oid, SqlResult, sql_err};

use crate::Session;

/// The OID of a large object that there is, as a statement has it.
pub fn large_object(session: &Session, number: &str) -> SqlResult<Oid> {
    let oid = number.parse().map(Oid).ok();
    let missing = || sql_err!(UNDEFINED_OBJECT, "large object {number} does not exist");
    let oid = oid.ok_or_else(missing)?;
    let found = session.with_reader(|reader| reader.large_object(oid, None))?;
    found.map(|_| oid).ok_or_else(missing)
}
