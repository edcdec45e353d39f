//! # What
//! Types as written in definitions: OID, modifier, collation.

use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::{CatalogView, Reader};
use parse::ast::{Expr, Indirection, Literal, Location, Name, TypeName};

use super::names::at;

/// A type as a column has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnType {
    /// Type.
    pub oid: Oid,
    /// Modifier.
    pub typmod: i32,
    /// Collation that columns of the type have; 0 if none.
    pub collation: Oid,
    /// Array dimensions as declared.
    pub dimensions: i16,
}

/// Looks a type up.
pub fn resolve(reader: &Reader<'_>, name: &TypeName, text: &str) -> SqlResult<ColumnType> {
    if name.setof {
        let error = sql_err!(INVALID_TABLE_DEFINITION, "column cannot be declared SETOF");
        return Err(at(error, text, name.location));
    }
    if name.percent_type {
        return Err(SqlError::not_supported("%TYPE in a column definition"));
    }
    let undefined =
        || at(sql_err!(UNDEFINED_OBJECT, "type \"{}\" does not exist", written(name)), text, name.location);
    let (schema, last) = match name.names.as_slice() {
        [last] => (None, last),
        [schema, last] | [_, schema, last] => (Some(schema.as_str()), last),
        _ => return Err(undefined()),
    };
    let mut def = reader.type_by_name(schema, last)?.ok_or_else(undefined)?;
    if !def.defined {
        let error = sql_err!(UNDEFINED_OBJECT, "type \"{}\" is only a shell", written(name));
        return Err(at(error, text, name.location));
    }
    let typmod = modifier(reader, name, def.oid, text)?;
    if !name.array_bounds.is_empty() {
        def = match def.array {
            Oid::INVALID => return Err(undefined()),
            array => reader.type_by_oid(array)?.ok_or_else(undefined)?,
        };
    }
    Ok(ColumnType {
        oid: def.oid,
        typmod,
        collation: def.collation,
        dimensions: name.array_bounds.len() as i16,
    })
}

/// `numeric(10,2)`: what the words in the parentheses mean for the type.
fn modifier(reader: &Reader<'_>, name: &TypeName, oid: Oid, text: &str) -> SqlResult<i32> {
    if name.modifiers.is_empty() {
        return Ok(name.typmod);
    }
    let mut words = Vec::with_capacity(name.modifiers.len());
    for modifier in &name.modifiers {
        words.push(word(modifier).ok_or_else(|| {
            let error = sql_err!(SYNTAX_ERROR, "type modifiers must be simple constants or identifiers");
            at(error, text, name.location)
        })?);
    }
    let Some(modified) = analyze::names::modified(reader, oid)? else {
        let error = sql_err!(SYNTAX_ERROR, "type modifier is not allowed for type \"{}\"", written(name));
        return Err(at(error, text, name.location));
    };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    types::registry::typmod_in(modified, &words).map_err(|e| at(e, text, name.location))
}

fn word(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Const { value: Literal::Integer(n), .. } => Some(n.to_string()),
        Expr::Const { value: Literal::Float(s) | Literal::String(s), .. } => Some(s.clone()),
        Expr::Column(column) => match column.fields.as_slice() {
            [Indirection::Field(name)] => Some(name.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// The type's name as it was written, for messages.
pub fn written(name: &TypeName) -> String {
    let brackets = if name.array_bounds.is_empty() { "" } else { "[]" };
    format!("{}{brackets}", name.names.join("."))
}

/// SQL name of any type: `character varying(20)`.
pub fn format(reader: &Reader<'_>, oid: Oid, typmod: i32) -> SqlResult<String> {
    Ok(analyze::names::format_type(reader, oid, Some(typmod)))
}

/// A collation by name, which must suit the column's type.
pub fn collation(
    reader: &Reader<'_>,
    (name, location): (&Name, Location),
    ty: &ColumnType,
    text: &str,
) -> SqlResult<Oid> {
    let (schema, last) = match name.0.as_slice() {
        [last] => (None, last),
        [schema, last] | [_, schema, last] => (Some(schema.as_str()), last),
        _ => return Err(SqlError::internal("improper collation name")),
    };
    let found = reader.collation(schema, last)?.ok_or_else(|| {
        let error = sql_err!(
            UNDEFINED_OBJECT,
            "collation \"{}\" for encoding \"{}\" does not exist",
            name.dotted(),
            types::text::server_encoding().name()
        );
        at(error, text, location)
    })?;
    if !ty.collation.is_valid() {
        let shown = format(reader, ty.oid, -1)?;
        let error = sql_err!(DATATYPE_MISMATCH, "collations are not supported by type {shown}");
        return Err(at(error, text, location));
    }
    Ok(found.oid)
}
