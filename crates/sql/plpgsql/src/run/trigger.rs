//! Trigger functions: what they are told, and the row that they return.

use std::rc::Rc;
use std::sync::Arc;

use analyze::ColumnType;
use base::{Oid, SqlError, SqlResult, SqlState};
use catalog::{Column, Table};
use eval::trigger::TriggerCall;
use session::Session;
use session::routine::Sees;
use tuple::Datum;
use types::array::Dimension;
use types::oids;

use super::result::matched;
use super::{Frame, RowValue, Value};
use crate::ast::*;
use crate::compile::Compiled;

/// Runs a trigger's function. Gives the row that it returned, with the columns of the trigger's table.
pub fn fire(
    session: &Session,
    state: &Compiled,
    function: &Function,
    call: &TriggerCall<'_>,
) -> SqlResult<Option<Vec<Datum>>> {
    let mut frame = Frame::new(session, state, function, (None, Sees::Now), true);
    let columns = function.columns_of(call.table);
    frame.tell(call, &columns)?;
    frame.run()?;
    if !call.trigger.kind.row() {
        return Ok(None);
    }
    frame.returned_row(&columns).map_err(|e| frame.during(e, "during function exit"))
}

impl Function {
    /// Columns of rows of a table, kept from one call to the next.
    fn columns_of(&self, table: &Arc<Table>) -> Rc<[ColumnType]> {
        let mut known = self.table.borrow_mut();
        if let Some((of, columns)) = &*known
            && std::ptr::eq(of.as_ptr(), Arc::as_ptr(table))
        {
            return columns.clone();
        }
        let columns: Rc<[ColumnType]> = table.columns.iter().map(column_type).collect();
        *known = Some((Arc::downgrade(table), columns.clone()));
        columns
    }
}

fn column_type(column: &Column) -> ColumnType {
    ColumnType {
        name: column.name.clone(),
        type_oid: if column.dropped { Oid::INVALID } else { column.type_oid },
        typmod: column.typmod,
        collation: column.collation,
    }
}

impl Frame<'_> {
    /// Gives the function's own variables their values.
    fn tell(&mut self, call: &TriggerCall<'_>, columns: &Rc<[ColumnType]>) -> SqlResult<()> {
        let Some(variables) = self.function.trigger else {
            return Err(SqlError::internal("not a trigger function"));
        };
        let row = |values: &[Datum]| RowValue {
            columns: columns.clone(),
            values: values[..columns.len()].to_vec(),
        };
        self.rows_of[variables.new] = call.new.map(row);
        self.rows_of[variables.old] = call.old.map(row);
        if !variables.uses_facts {
            return Ok(());
        }
        let trigger = call.trigger;
        let when = match trigger.kind {
            kind if kind.before() => "BEFORE",
            kind if kind.instead() => "INSTEAD OF",
            _ => "AFTER",
        };
        let level = if trigger.kind.row() { "ROW" } else { "STATEMENT" };
        let facts = [
            Datum::text(&trigger.name),
            Datum::text(when),
            Datum::text(level),
            Datum::text(call.event.name()),
            Datum::Oid(call.table.oid.0),
            Datum::text(&call.table.name),
            Datum::text(&call.table.name),
            Datum::text(&call.table.schema_name),
            Datum::Int4(trigger.args.len() as i32),
            self.arguments_of(call)?,
        ];
        for (id, value) in (variables.facts..).zip(facts) {
            self.slots[id] = value;
        }
        Ok(())
    }

    /// `TG_ARGV`, which begins with 0.
    fn arguments_of(&self, call: &TriggerCall<'_>) -> SqlResult<Datum> {
        let args = &call.trigger.args;
        if args.is_empty() {
            return Ok(Datum::Null);
        }
        let dimension = Dimension { length: args.len() as i32, lower: 0 };
        let elements = args.iter().map(|arg| Datum::text(arg)).collect();
        self.session.make_array(oids::_text, vec![dimension], elements)
    }

    /// What RETURN gave, as a row of the table.
    fn returned_row(&mut self, columns: &Rc<[ColumnType]>) -> SqlResult<Option<Vec<Datum>>> {
        let Some((value, ty)) = self.returned.take() else { return Ok(None) };
        let row = match value {
            Value::Row(row) => row,
            Value::Scalar(Datum::Null) => None,
            Value::Scalar(value) => {
                if ty.oid != oids::record && self.session.row_columns_of(ty.oid)?.is_none() {
                    let message = "cannot return non-composite value from function returning composite type";
                    return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message));
                }
                self.row_of(&value, ty.oid)?
            }
        };
        let mismatch = "returned row structure does not match the structure of the triggering table";
        match row {
            Some(row) if Rc::ptr_eq(&row.columns, columns) => Ok(Some(row.values)),
            row => row.map(|row| matched(self, &row, columns, mismatch)).transpose(),
        }
    }
}
