//! ALTER DEFAULT PRIVILEGES: what objects to come grant.

use base::{Oid, SqlError, SqlResult, SqlState, sql_err};
use catalog::RowExt;
use catalog::change::DefaultAcl;
use catalog::system::pg_default_acl;
use parse::ast::{DefElem, Grant, ObjectKind, OptionValue, RoleSpec};
use session::Session;
use types::acl;

use super::super::{names, schema};
use super::{Order, allowed};

/// ALTER DEFAULT PRIVILEGES.
pub(crate) fn alter(session: &Session, options: &[DefElem], grant: &Grant) -> SqlResult<()> {
    let (mut roles, mut schemas): (Vec<RoleSpec>, Vec<String>) = Default::default();
    for option in options {
        let Some(OptionValue::List(values)) = &option.value else { continue };
        for value in values {
            match value {
                OptionValue::Role(role) => roles.push(role.clone()),
                OptionValue::String(name) => schemas.push(name.clone()),
                _ => return Err(SqlError::internal("option of ALTER DEFAULT PRIVILEGES not recognized")),
            }
        }
    }
    let order = Order::read(session, grant, allowed(grant.kind)?)?;
    if !order.columns.is_empty() {
        let message = "default privileges cannot be set for columns";
        return Err(SqlError::new(SqlState::INVALID_GRANT_OPERATION, message));
    }
    let me = session.names.user();
    let roles = match roles.is_empty() {
        true => vec![me],
        false => {
            roles.iter().map(|spec| Ok(schema::role(session, spec)?.0)).collect::<SqlResult<Vec<_>>>()?
        }
    };
    for role in roles {
        if !session.has_role(role)? {
            return Err(sql_err!(INSUFFICIENT_PRIVILEGE, "permission denied to change default privileges"));
        }
        if schemas.is_empty() {
            set(session, &order, grant.kind, role, Oid::INVALID)?;
        }
        for name in &schemas {
            let oid = session.with_reader(|reader| reader.schema_by_name(name))?;
            set(session, &order, grant.kind, role, oid.ok_or_else(|| names::undefined_schema(name))?)?;
        }
    }
    Ok(())
}

/// DROP OWNED: takes what a role will be granted by these default privileges.
pub(super) fn revoke_all(session: &Session, order: &Order, oid: Oid) -> SqlResult<()> {
    use pg_default_acl::*;
    let key = [oid.into()];
    let row = session.with_reader(|r| r.find_one(&TABLE, PG_DEFAULT_ACL_OID_INDEX, &key))?;
    let Some((_, row)) = row else { return Ok(()) };
    let kind = match row.char(DEFACLOBJTYPE) {
        b'S' => ObjectKind::Sequence,
        b'f' => ObjectKind::Function,
        b'T' => ObjectKind::Type,
        b'n' => ObjectKind::Schema,
        b'L' => ObjectKind::LargeObject,
        _ => ObjectKind::Table,
    };
    set(session, order, kind, row.oid(DEFACLROLE), row.oid(DEFACLNAMESPACE))
}

fn set(session: &Session, order: &Order, kind: ObjectKind, role: Oid, schema: Oid) -> SqlResult<()> {
    let refused = |what: &str| {
        let message = format!("cannot use IN SCHEMA clause when using GRANT/REVOKE ON {what}");
        Err(SqlError::new(SqlState::INVALID_GRANT_OPERATION, message))
    };
    let (letter, default_letter, all) = match kind {
        ObjectKind::Sequence => (b'S', b's', acl::bits("rwU")),
        ObjectKind::Function | ObjectKind::Procedure | ObjectKind::Routine => (b'f', b'f', acl::bits("X")),
        ObjectKind::Type | ObjectKind::Domain => (b'T', b'T', acl::bits("U")),
        ObjectKind::Schema if schema.is_valid() => return refused("SCHEMAS"),
        ObjectKind::Schema => (b'n', b'n', acl::bits("UC")),
        ObjectKind::LargeObject if schema.is_valid() => return refused("LARGE OBJECTS"),
        ObjectKind::LargeObject => (b'L', b'L', acl::bits("rw")),
        _ => (b'r', b'r', acl::bits("arwdDxtm")),
    };
    let privileges = order.privileges.unwrap_or(all);
    if privileges & !all != 0 {
        return Err(super::invalid(privileges & !all, "table"));
    }
    // In a schema only what it adds to the role's general defaults is noted.
    let built_in = if schema.is_valid() { Vec::new() } else { acl::default_items(default_letter, role)? };
    let known = session.with_reader(|reader| reader.default_acl(role, schema, letter))?;
    let old = known.unwrap_or_else(|| built_in.clone());
    let new = order.apply(session, old, (role, role), privileges)?;
    let place = DefaultAcl { role, schema, letter };
    let new = (!acl::same_items(&new, &built_in)).then_some(new);
    session.with_changer(|changer| changer.set_default_acl(place, new.as_deref()))
}
