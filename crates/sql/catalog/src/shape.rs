//! What storage and the executor need of any type, built in or made by a user: shapes of values and of rows.

use std::sync::Arc;

use base::{Oid, SqlError, SqlResult};
use tuple::Physical;
use types::oids;
use types::record::{Column, FieldType};
use types::registry::TypeShape;

use crate::view::{CatalogView, Table, TypeKind};

/// `pg_type.typalign` and `attalign`, for bytes.
pub fn align_letter(align: u8) -> u8 {
    match align {
        2 => b's',
        4 => b'i',
        8 => b'd',
        _ => b'c',
    }
}

/// Shape of any type.
pub fn type_shape(view: &dyn CatalogView, oid: Oid) -> SqlResult<TypeShape> {
    if let Some(info) = types::builtin_type(oid) {
        return Ok(info.shape());
    }
    let plain = |physical, align, comparable| TypeShape {
        physical,
        align,
        delimiter: b',',
        element: Oid::INVALID,
        array: Oid::INVALID,
        comparable,
    };
    let Some(def) = view.type_by_oid(oid)? else {
        // Types of some statistics catalogs have no functions yet; all are of variable length.
        if oid.is_pinned() {
            return Ok(plain(Physical::Varlena, 8, oid));
        }
        return Err(SqlError::internal(format!("cache lookup failed for type {oid}")));
    };
    let mut shape = match &def.kind {
        TypeKind::Enum(_) => plain(Physical::Int8, 8, oids::anyenum),
        TypeKind::Domain(domain) => type_shape(view, domain.base)?,
        TypeKind::Like(like) => TypeShape {
            comparable: if like.order.is_valid() { like.order } else { oid },
            element: Oid::INVALID,
            ..type_shape(view, like.base)?
        },
        TypeKind::Composite(_) => plain(Physical::Varlena, 8, oids::record),
        TypeKind::Range(_) => plain(Physical::Varlena, 8, oids::anyrange),
        TypeKind::Multirange(_) => plain(Physical::Varlena, 8, oids::anymultirange),
        _ if def.element.is_valid() => {
            TypeShape { element: def.element, ..plain(Physical::Varlena, 8, oids::anyarray) }
        }
        _ => plain(Physical::Varlena, 8, oid),
    };
    shape.array = def.array;
    Ok(shape)
}

/// What a collation does.
pub fn collation_rules(view: &dyn CatalogView, oid: Oid) -> SqlResult<&'static collation::Rules> {
    if let Some(rules) = types::comparator::pinned_rules(oid) {
        return Ok(rules);
    }
    let found = view.collation_by_oid(oid)?;
    let found =
        found.ok_or_else(|| SqlError::internal(format!("cache lookup failed for collation {oid}")))?;
    Ok(found.rules)
}

/// The relation behind a composite type, or behind the one under a domain.
pub fn composite_relation(view: &dyn CatalogView, oid: Oid) -> SqlResult<Option<Arc<Table>>> {
    if types::builtin_type(oid).is_some() {
        return Ok(None);
    }
    match view.type_by_oid(oid)?.as_deref().map(|def| &def.kind) {
        Some(TypeKind::Composite(relation)) => view.relation_by_oid(*relation),
        Some(TypeKind::Domain(domain)) => composite_relation(view, domain.base),
        _ => Ok(None),
    }
}

/// Columns of a relation as a row of it has them, dropped ones included.
pub fn row_columns(view: &dyn CatalogView, table: &Table) -> SqlResult<Vec<Column>> {
    let column = |c: &crate::view::Column| {
        if c.dropped {
            return Ok(Column { field: FieldType::DROPPED, typmod: -1 });
        }
        let shape = type_shape(view, c.type_oid)?;
        Ok(Column { field: FieldType::new(c.type_oid, &shape), typmod: c.typmod })
    };
    table.columns.iter().map(column).collect()
}
