//! The result type of a call, and rows as values of it.

use std::sync::Arc;

use analyze::ColumnType;
use analyze::routine::ReturnType;
use base::{Oid, SqlResult};
use catalog::{CatalogView, FunctionDef, TypeKind};
use tuple::Datum;
use types::oids;
use types::record::{FieldType, RowType};

use crate::Session;

/// What a function returns in a call with these types.
pub fn return_type(
    session: &Session,
    function: &FunctionDef,
    call: &types::Call<'_>,
) -> SqlResult<ReturnType> {
    let type_oid = if call.result_type.is_valid() { call.result_type } else { function.result };
    if type_oid == oids::void {
        return Ok(ReturnType::Void);
    }
    if type_oid == oids::record {
        if !function.out_columns.is_empty() {
            let columns = analyze::routine::output_columns(function, call.arg_types, session, call)?;
            return Ok(ReturnType::Row(type_oid, columns));
        }
        if call.columns.is_empty() {
            return Ok(ReturnType::Record);
        }
        let column = |c: &types::call::ResultColumn| ColumnType {
            name: c.name.clone(),
            type_oid: c.type_oid,
            typmod: c.typmod,
            collation: Oid::INVALID,
        };
        return Ok(ReturnType::Row(type_oid, call.columns.iter().map(column).collect()));
    }
    Ok(match composite_columns(session, type_oid)? {
        Some(columns) => ReturnType::Row(type_oid, columns),
        None => ReturnType::Scalar(type_oid),
    })
}

/// Columns of a composite type or a domain over one, dropped ones with type 0.
pub(crate) fn composite_columns(session: &Session, type_oid: Oid) -> SqlResult<Option<Vec<ColumnType>>> {
    let Some(table) = catalog::composite_relation(session, type_oid)? else { return Ok(None) };
    let column = |c: &catalog::Column| ColumnType {
        name: c.name.clone(),
        type_oid: if c.dropped { Oid::INVALID } else { c.type_oid },
        typmod: c.typmod,
        collation: c.collation,
    };
    Ok(Some(table.columns.iter().map(column).collect()))
}

/// Makes rows of a type out of their columns' values.
#[derive(Clone, Debug)]
pub struct RowShape(Arc<RowType>);

impl RowShape {
    /// Rows with these columns; of a composite type, of a domain over one, or of `record`.
    pub(crate) fn new(session: &Session, type_oid: Oid, columns: &[ColumnType]) -> SqlResult<RowShape> {
        let row_type = base_type(session, type_oid)?;
        let field = |column: &ColumnType| match column.type_oid {
            Oid::INVALID => Ok(FieldType::DROPPED),
            oid => Ok(FieldType::new(oid, &catalog::type_shape(session, oid)?)),
        };
        let fields = columns.iter().map(field).collect::<SqlResult<_>>()?;
        let names = match row_type == oids::record {
            true => columns.iter().map(|c| c.name.as_str().into()).collect(),
            false => Box::default(),
        };
        Ok(RowShape(Arc::new(RowType { type_oid: row_type, fields, names })))
    }

    /// A row.
    pub(crate) fn row(&self, values: &[Datum]) -> Datum {
        self.0.row(values)
    }
}

/// The type under domains.
pub fn base_type(session: &Session, type_oid: Oid) -> SqlResult<Oid> {
    Ok(base_and_typmod(session, type_oid, -1)?.0)
}

/// The type under domains, and its modifier: the given one, or that of the outermost domain that has one.
pub fn base_and_typmod(session: &Session, mut type_oid: Oid, mut typmod: i32) -> SqlResult<(Oid, i32)> {
    while types::builtin_type(type_oid).is_none() {
        match session.type_by_oid(type_oid)?.map(|def| def.kind.clone()) {
            Some(TypeKind::Domain(domain)) => {
                type_oid = domain.base;
                typmod = if typmod < 0 { domain.typmod } else { typmod };
            }
            _ => break,
        }
    }
    Ok((type_oid, typmod))
}
