//! # What
//! ALTER TYPE and ALTER DOMAIN ... RENAME TO, SET SCHEMA; which types may be altered as such.
//!
//! # PostgreSQL counterpart
//! `RenameType` and `AlterTypeNamespace` of `commands/typecmds.c`.

use std::sync::Arc;

use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::{RelationKind, TypeDef, TypeKind};
use parse::ast::{Name, ObjectKind, ObjectName, RangeVar, Rename};
use session::Session;

use super::object_kind::Move;
use super::{names, rename, type_name, user_type};

/// The type or domain that a statement alters: neither the row type of a table nor an array.
pub(super) fn altered(session: &Session, kind: ObjectKind, object: &ObjectName) -> SqlResult<Arc<TypeDef>> {
    let written = match object {
        ObjectName::Name(name) => name.clone(),
        ObjectName::Type(name) => Name(name.names.clone()),
        _ => return Err(SqlError::internal("a type was expected")),
    };
    let def = user_type::existing(session, &written)?;
    let shown = session.with_reader(|reader| type_name::format(reader, def.oid, -1))?;
    if kind == ObjectKind::Domain && !matches!(def.kind, TypeKind::Domain(_)) {
        return Err(sql_err!(WRONG_OBJECT_TYPE, "{shown} is not a domain"));
    }
    if let TypeKind::Composite(relation) = def.kind
        && names::describe(session, relation)?.kind != RelationKind::Composite
    {
        return Err(
            sql_err!(WRONG_OBJECT_TYPE, "{shown} is a table's row type").hint("Use ALTER TABLE instead.")
        );
    }
    if def.element.is_valid() {
        let element = session.with_reader(|reader| type_name::format(reader, def.element, -1))?;
        return Err(sql_err!(WRONG_OBJECT_TYPE, "cannot alter array type {shown}")
            .hint(format!("You can alter type {element}, which will alter the array type as well.")));
    }
    Ok(def)
}

/// The relation of a composite type.
fn relation_of(def: &TypeDef) -> Option<Oid> {
    match def.kind {
        TypeKind::Composite(relation) => Some(relation),
        _ => None,
    }
}

/// RENAME TO.
pub(super) fn rename(session: &Session, asked: &Rename) -> SqlResult<()> {
    let new = asked.new_name.as_str();
    let object = asked.object.as_ref().ok_or_else(|| SqlError::internal("RENAME without a type"))?;
    let def = altered(session, asked.kind, object)?;
    user_type::check_owner(session, &def)?;
    if let Some(relation) = relation_of(&def) {
        return rename::relation(session, names::describe(session, relation)?.as_ref(), new);
    }
    if user_type::exists(session, def.schema, new)? {
        return Err(sql_err!(DUPLICATE_OBJECT, "type \"{new}\" already exists"));
    }
    session.with_changer(|changer| changer.rename_type(def.oid, new))
}

/// SET SCHEMA.
pub(super) fn set_schema(session: &Session, asked: &Move<'_>) -> SqlResult<()> {
    let schema = asked.schema;
    let def = altered(session, asked.kind, asked.object()?)?;
    user_type::check_owner(session, &def)?;
    let target = RangeVar { schema: Some(schema.to_owned()), name: def.name.clone(), ..RangeVar::default() };
    let target = names::creation_schema(session, &target)?;
    if target == def.schema {
        return Ok(());
    }
    if user_type::exists(session, target, &def.name)? {
        return Err(sql_err!(
            DUPLICATE_OBJECT,
            "type \"{}\" already exists in schema \"{schema}\"",
            def.name
        ));
    }
    match relation_of(&def) {
        Some(relation) => rename::move_relation(session, relation, target),
        None => session.with_changer(|changer| changer.set_type_schema(def.oid, target)),
    }
}
