//! From rows to sets, and from sets into rows.

use base::{Oid, SqlResult, sql_err};
use tuple::Datum;
use types::record::{self, Column, FieldType, Row, RowType};
use types::value::FromDatum;
use types::{Call, oids};

use super::value::{Hstore, store};

/// `hstore(record)`: a pair for each column; of a NULL of a known type, all values are NULL.
pub(super) fn from_row(cx: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    let fields: Vec<(String, Datum)> = match &args[0] {
        Datum::Null => {
            let of = cx.session.base_type(cx.arg_type(0));
            let columns = cx.session.row_columns(of)?;
            let columns =
                columns.ok_or_else(|| sql_err!(WRONG_OBJECT_TYPE, "record type has not been registered"))?;
            let names = cx.session.row_names(of)?;
            let live = columns.iter().zip(names).filter(|(column, _)| !column.field.is_dropped());
            live.map(|(_, name)| (name, Datum::Null)).collect()
        }
        value => {
            let fields = cx.session.row_fields(record::type_of(<&[u8]>::from_datum(value)), value)?;
            let mut shown = Vec::with_capacity(fields.len());
            for field in fields {
                let mut text = Vec::new();
                if !field.value.is_null() {
                    types::output(field.type_oid, &field.value, cx, &mut text)?;
                }
                let value = if field.value.is_null() { Datum::Null } else { Datum::Bytes(text.into()) };
                shown.push((field.name, value));
            }
            shown
        }
    };
    store(fields.iter().map(|(name, value)| (name.as_str(), Option::from_datum(value))).collect())
}

/// The columns of the row to be filled, and their names.
fn target(cx: &Call<'_>, row: &Datum) -> SqlResult<(Oid, Vec<Column>, Vec<String>)> {
    let declared = cx.session.base_type(cx.arg_type(0));
    let of = match row {
        Datum::Bytes(bytes) if declared == oids::record => record::type_of(bytes),
        _ => declared,
    };
    if let Some(columns) = cx.session.row_columns(of)? {
        return Ok((of, columns, cx.session.row_names(of)?));
    }
    let (oids::record, Datum::Bytes(bytes)) = (declared, row) else {
        return Err(sql_err!(DATATYPE_MISMATCH, "first argument must be a rowtype"));
    };
    let row = Row::from_payload(bytes);
    let column = |field: &(FieldType, Datum)| Column { field: field.0, typmod: -1 };
    let columns: Vec<Column> = row.fields.iter().map(column).collect();
    let unnamed = (1..=columns.len()).map(|n| format!("f{n}"));
    Ok((of, columns, if row.names.is_empty() { unnamed.collect() } else { row.names }))
}

/// `populate_record`: the row with other values where the set has a key of that name.
pub(super) fn populate(cx: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    let (row, Datum::Bytes(_)) = (&args[0], &args[1]) else { return Ok(args[0].clone()) };
    let (of, columns, names) = target(cx, row)?;
    let set = Hstore::from_datum(&args[1]);
    let before = match row {
        Datum::Bytes(bytes) => Row::from_payload(bytes).fields.into_iter().map(|(_, value)| value).collect(),
        _ => Vec::new(),
    };
    let mut values = Vec::with_capacity(columns.len());
    for (i, (column, name)) in columns.iter().zip(&names).enumerate() {
        let ty = column.field.type_oid;
        values.push(match set.get(name) {
            _ if column.field.is_dropped() => Datum::Null,
            Some(Some(text)) => types::input(ty, text, column.typmod, cx)?,
            None if !row.is_null() => before.get(i).cloned().unwrap_or_default(),
            _ => cx.session.type_null(ty)?,
        });
    }
    let names = if of == oids::record { names.into_iter().map(Into::into).collect() } else { Box::default() };
    let row_type =
        RowType { type_oid: of, fields: columns.iter().map(|column| column.field).collect(), names };
    let value = row_type.row(&values);
    match cx.arg_type(0) == of {
        true => Ok(value),
        false => cx.session.domain_check(cx.arg_type(0), value),
    }
}
