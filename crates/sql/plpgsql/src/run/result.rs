//! What a function returns.

use std::rc::Rc;

use analyze::ColumnType;
use analyze::routine::ReturnType;
use base::{Oid, SqlError, SqlResult, SqlState, sql_err};
use session::routine::{Invocation, Place, Returned, RowStore, within_body};
use tuple::Datum;
use types::oids;

use super::{Flow, Frame, RowValue, Value};
use crate::ast::*;
use crate::expr::Expression;

impl Frame<'_> {
    pub(super) fn return_value(&mut self, value: Option<&Rc<Expression>>) -> SqlResult<Flow> {
        if let Some(expression) = value {
            if let Some(variable) =
                self.names_row(expression).map_err(|e| within_body(e, &expression.text))?
            {
                let ty = self.type_of(variable);
                // Nothing runs behind it, unless a handler around catches an error of its block's end.
                let row = match self.session.in_subtransaction() {
                    true => self.rows_of[variable].clone(),
                    false => self.rows_of[variable].take(),
                };
                self.returned = Some((Value::Row(row), ty));
                return Ok(Flow::Return);
            }
            let (value, ty) = self.evaluate(expression)?;
            if self.function.returns_row && !value.is_null() {
                self.check_composite(ty)?;
            }
            self.returned = Some((Value::Scalar(value), ty));
        }
        Ok(Flow::Return)
    }

    /// The OUT parameters as one value.
    fn outputs(&self) -> SqlResult<(Value, TypeRef)> {
        let function = &self.function;
        let any = TypeRef { oid: oids::record, typmod: -1, collation: Oid::INVALID };
        if let ([one], false) = (function.outputs.as_slice(), function.kind == FunctionKind::Procedure) {
            return Ok(match self.is_row(*one) {
                false => (Value::Scalar(self.scalar_value(*one)), self.type_of(*one)),
                true => (Value::Row(self.rows_of[*one].clone()), any),
            });
        }
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        for &id in &function.outputs {
            let variable = &function.variables[id];
            let type_oid = match &variable.kind {
                VariableKind::Record(ty) => ty.oid,
                _ => self.type_of(id).oid,
            };
            columns.push(ColumnType {
                name: variable.name.clone(),
                type_oid,
                typmod: -1,
                collation: Oid::INVALID,
            });
            values.push(self.variable_value(id)?);
        }
        Ok((Value::Row(Some(RowValue { columns: columns.into(), values })), any))
    }

    pub(super) fn return_next(&mut self, value: Option<&Rc<Expression>>) -> SqlResult<Flow> {
        let (value, ty) = match value {
            None => self.outputs()?,
            Some(expression) => {
                let (value, ty) = self.evaluate(expression)?;
                (Value::Scalar(value), ty)
            }
        };
        let wanted = self.wanted()?;
        let value = self.converted(value, ty, &wanted, "wrong record type supplied in RETURN NEXT")?;
        self.session.keep_row(&mut self.rows, vec![value])?;
        Ok(Flow::Next)
    }

    pub(super) fn return_query(&mut self, query: &Query) -> SqlResult<Flow> {
        let ready = self.ready(query)?;
        let columns = self.columns(&ready)?;
        if columns.is_empty() {
            return Err(sql_err!(SYNTAX_ERROR, "cannot open non-SELECT query as cursor"));
        }
        let wanted = self.wanted()?;
        let mismatch = "structure of query does not match function result type";
        let checked = match &wanted {
            ReturnType::Scalar(to) => check_columns(self, &columns, &[nameless(*to)], mismatch),
            ReturnType::Row(_, expected) => check_columns(self, &columns, expected, mismatch),
            ReturnType::Record | ReturnType::Void => Ok(()),
        };
        checked.map_err(|e| ready.within(self, e))?;
        let mut rows = RowStore::default();
        let done = self.session.run_in_body(&ready.statement, &ready.params, self.sees, 0, &mut |row| {
            self.session.keep_row(&mut rows, row.to_vec())
        });
        done.map_err(|e| ready.within(self, e))?;
        let count = rows.len();
        let mut place = Place::default();
        for number in 0..count {
            let Some(values) = rows.get(&mut place, number)?.map(<[Datum]>::to_vec) else { break };
            let value = match &wanted {
                ReturnType::Scalar(_) => values.into_iter().next().unwrap_or_default(),
                _ => {
                    let any = TypeRef { oid: oids::record, typmod: -1, collation: Oid::INVALID };
                    let row = Value::Row(Some(RowValue { columns: columns.clone(), values }));
                    self.converted(row, any, &wanted, mismatch)?
                }
            };
            self.session.keep_row(&mut self.rows, vec![value])?;
        }
        self.row_count = count;
        self.set_found(count > 0);
        Ok(Flow::Next)
    }

    /// What the call wants.
    fn wanted(&self) -> SqlResult<ReturnType> {
        match self.invocation {
            Some(i) => self.session.return_type_of(i.function, i.call),
            None => Ok(ReturnType::Void),
        }
    }

    /// The result of a call whose body has run.
    pub(super) fn finish(&mut self, invocation: &Invocation<'_>) -> SqlResult<Returned> {
        let function = self.function;
        if function.returns_set {
            return Ok(Returned::Set(std::mem::take(&mut self.rows)));
        }
        let wanted = match function.plain_result {
            Some(result) => ReturnType::Scalar(result),
            None => self.session.return_type_of(invocation.function, invocation.call)?,
        };
        if wanted == ReturnType::Void {
            return Ok(Returned::Value(Datum::Null));
        }
        let (value, ty) = match self.returned.take() {
            Some(returned) => returned,
            None if !function.outputs.is_empty() => self.outputs()?,
            None => return Ok(Returned::Value(Datum::Null)),
        };
        let message = "returned record type does not match expected record type";
        let value = self.converted(value, ty, &wanted, message);
        value
            .map(Returned::Value)
            .map_err(|e| self.during(e, "while casting return value to function's return type"))
    }

    /// Fails if a row is to be returned and the value is not one.
    fn check_composite(&self, ty: TypeRef) -> SqlResult<()> {
        if ty.oid == oids::record || self.session.row_columns_of(ty.oid)?.is_some() {
            return Ok(());
        }
        let message = "cannot return non-composite value from function returning composite type";
        Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message))
    }

    /// A value as the result type wants it.
    fn converted(&self, value: Value, ty: TypeRef, wanted: &ReturnType, mismatch: &str) -> SqlResult<Datum> {
        let (row_type, columns) = match wanted {
            ReturnType::Void => return Ok(Datum::Null),
            ReturnType::Scalar(to) => {
                let Value::Scalar(value) = value else {
                    let message = "cannot return a row where a scalar is expected";
                    return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message));
                };
                if ty.oid == *to {
                    return Ok(value);
                }
                return self.session.convert_in_body(value, ty.oid, (*to, -1));
            }
            ReturnType::Row(oid, columns) => (*oid, Some(columns.as_slice())),
            ReturnType::Record => (oids::record, None),
        };
        let row = match value {
            Value::Row(row) => row,
            Value::Scalar(Datum::Null) => None,
            Value::Scalar(value) => {
                self.check_composite(ty)?;
                self.row_of(&value, ty.oid)?
            }
        };
        let Some(row) = row else { return Ok(Datum::Null) };
        match columns {
            None => self.session.make_row(row_type, &row.columns, &row.values),
            Some(columns) => {
                let values = matched(self, &row, columns, mismatch)?;
                self.session.make_row(row_type, columns, &values)
            }
        }
    }
}

/// The one column that a function of a scalar type returns.
fn nameless(type_oid: Oid) -> ColumnType {
    ColumnType { name: String::new(), type_oid, typmod: -1, collation: Oid::INVALID }
}

/// Columns must be as many as wanted and of the same types, dropped ones left out on both sides.
fn check_columns(
    frame: &Frame<'_>,
    given: &[ColumnType],
    wanted: &[ColumnType],
    message: &str,
) -> SqlResult<()> {
    let wrong = |detail: String| Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message).detail(detail));
    let live =
        |columns: &'_ [ColumnType]| columns.iter().filter(|c| c.type_oid.is_valid()).cloned().collect();
    let (given, wanted): (Vec<ColumnType>, Vec<ColumnType>) = (live(given), live(wanted));
    for (number, (have, column)) in (1..).zip(given.iter().zip(&wanted)) {
        if have.type_oid != column.type_oid {
            return wrong(format!(
                "Returned type {} does not match expected type {} in column \"{}\" (position {number}).",
                frame.session.type_text(have.type_oid),
                frame.session.type_text(column.type_oid),
                column.name
            ));
        }
    }
    if given.len() != wanted.len() {
        return wrong(format!(
            "Number of returned columns ({}) does not match expected column count ({}).",
            given.len(),
            wanted.len()
        ));
    }
    Ok(())
}

/// A row's values for columns that it must have; NULL for dropped ones.
pub(super) fn matched(
    frame: &Frame<'_>,
    row: &RowValue,
    wanted: &[ColumnType],
    message: &str,
) -> SqlResult<Vec<Datum>> {
    check_columns(frame, &row.columns, wanted, message)?;
    let given = row.columns.iter().zip(&row.values);
    let mut values = given.filter(|(c, _)| c.type_oid.is_valid()).map(|(_, value)| value.clone());
    let value = |column: &ColumnType| match column.type_oid.is_valid() {
        true => values.next().unwrap_or_default(),
        false => Datum::Null,
    };
    Ok(wanted.iter().map(value).collect())
}
