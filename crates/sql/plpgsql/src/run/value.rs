//! Expressions, assignments, conversions.

use std::rc::Rc;

use analyze::ColumnType;
use base::{Oid, SqlError, SqlResult, SqlState, sql_err};
use session::routine::{BodyStatement, within_body};
use tuple::Datum;
use types::oids;

use super::{Frame, RowValue};
use crate::ast::*;
use crate::checks::Check;
use crate::expr::{Expression, FieldName, Form, Names, Prepared, REFCURSOR, Shape, Use, unassigned};

impl Frame<'_> {
    /// Whether a variable is a record.
    pub(super) fn is_row(&self, variable: VarId) -> bool {
        matches!(self.function.variables[variable].kind, VariableKind::Record(_))
    }

    /// Whether a variable is the operand of a CASE, whose type is known at run time only.
    pub(super) fn is_operand(&self, variable: VarId) -> bool {
        matches!(&self.function.variables[variable].kind, VariableKind::Scalar(ty) if ty.oid == oids::record)
    }

    /// The type of a scalar variable.
    #[inline]
    pub(super) fn type_of(&self, variable: VarId) -> TypeRef {
        match &self.function.variables[variable].kind {
            VariableKind::Scalar(ty) if ty.oid == oids::record => {
                let operand = self.operands.iter().find(|(known, _)| *known == variable);
                operand.map_or(*ty, |(_, ty)| *ty)
            }
            VariableKind::Scalar(ty) => *ty,
            VariableKind::Cursor(_) => REFCURSOR,
            VariableKind::Record(ty) => *ty,
        }
    }

    /// The expression analysed for the types that the variables have now.
    pub(super) fn prepared(&self, expression: &Expression) -> SqlResult<Prepared> {
        if let Some(known) = expression.prepared()
            && self.still_fits(&known)
        {
            return Ok(known);
        }
        let names = Rc::new(self.names_of(expression)?);
        let statement =
            BodyStatement::new(expression.text.clone(), expression.raw.clone(), names.clone(), None);
        let columns = self.session.columns_in_body(&statement)?.into();
        let prepared = Prepared { statement, names, columns };
        let simple = match expression.form {
            Form::Value => self.compiled(&prepared, expression.target)?,
            Form::Statement => None,
        };
        expression.keep(prepared.clone(), simple);
        Ok(prepared)
    }

    /// Names in view of an expression, as variables are now.
    pub(super) fn names_of(&self, expression: &Expression) -> SqlResult<Names> {
        Ok(Names::new(expression, self.shapes()?, self.function.arguments.clone()))
    }

    /// Values of the variables that were used.
    pub(super) fn values_of(&self, names: &Names) -> SqlResult<Vec<Datum>> {
        names.used().iter().map(|(wanted, _)| self.used_value(wanted)).collect()
    }

    /// Whether the variables have the types that the expression was analysed for.
    fn still_fits(&self, prepared: &Prepared) -> bool {
        prepared.names.used().iter().all(|(wanted, ty)| match wanted {
            Use::Variable(v) => self.is_row(*v) || self.type_of(*v).oid == ty.oid,
            Use::Field(v, field) => match &self.rows_of[*v] {
                Some(row) => {
                    row.columns.iter().find(|c| c.name == *field).is_some_and(|c| c.type_oid == ty.oid)
                }
                None => self.is_named_row(*v),
            },
        })
    }

    /// Whether a record variable has a type that says which columns it has.
    pub(super) fn is_named_row(&self, variable: VarId) -> bool {
        matches!(&self.function.variables[variable].kind, VariableKind::Record(ty) if ty.oid != oids::record)
    }

    fn shapes(&self) -> SqlResult<Vec<(String, Shape)>> {
        let mut shapes = Vec::with_capacity(self.function.variables.len());
        for (id, variable) in self.function.variables.iter().enumerate() {
            let shape = match &variable.kind {
                VariableKind::Record(ty) => match &self.rows_of[id] {
                    Some(row) => Shape::Row(ty.oid, Some(row.columns.clone())),
                    None => Shape::Row(ty.oid, self.session.row_columns_of(ty.oid)?.map(Into::into)),
                },
                _ => Shape::Scalar(self.type_of(id)),
            };
            shapes.push((variable.name.clone(), shape));
        }
        Ok(shapes)
    }

    /// Values of what an expression uses.
    pub(super) fn params(&self, prepared: &Prepared) -> SqlResult<Vec<Datum>> {
        self.values_of(&prepared.names)
    }

    pub(super) fn used_value(&self, wanted: &Use) -> SqlResult<Datum> {
        match wanted {
            Use::Variable(v) => self.variable_value(*v),
            Use::Field(v, field) => match &self.rows_of[*v] {
                Some(row) => {
                    let at = row.columns.iter().position(|c| c.name == *field);
                    Ok(at.map_or(Datum::Null, |at| row.values[at].clone()))
                }
                None if self.is_named_row(*v) => Ok(Datum::Null),
                None => Err(unassigned(&self.function.variables[*v].name)),
            },
        }
    }

    /// A variable's value as one.
    pub(super) fn variable_value(&self, variable: VarId) -> SqlResult<Datum> {
        let VariableKind::Record(ty) = &self.function.variables[variable].kind else {
            return Ok(self.scalar_value(variable));
        };
        self.check_assigned(variable)?;
        match &self.rows_of[variable] {
            None => Ok(Datum::Null),
            Some(row) => self.session.make_row(ty.oid, &row.columns, &row.values),
        }
    }

    /// Fails if a record has no columns yet.
    pub(super) fn check_assigned(&self, variable: VarId) -> SqlResult<()> {
        match self.rows_of[variable].is_some() || self.is_named_row(variable) {
            true => Ok(()),
            false => Err(unassigned(&self.function.variables[variable].name)),
        }
    }

    /// Computes an expression: its value and type.
    pub(super) fn evaluate(&mut self, expression: &Expression) -> SqlResult<(Datum, TypeRef)> {
        if let Some(found) = self.at_once(expression) {
            return found.map_err(|e| self.within(e, expression));
        }
        self.evaluate_slow(expression)
    }

    fn evaluate_slow(&mut self, expression: &Expression) -> SqlResult<(Datum, TypeRef)> {
        if let Some(simple) = self.simple(expression).map_err(|e| within_body(e, &expression.text))? {
            return self
                .compute(&simple)
                .map(|value| (value, simple.ty))
                .map_err(|e| self.within(e, expression));
        }
        let prepared = self.prepared(expression).map_err(|e| within_body(e, &expression.text))?;
        let ty = match &*prepared.columns {
            [one] => TypeRef { oid: one.type_oid, typmod: one.typmod, collation: one.collation },
            columns => {
                let (n, s) = (columns.len(), if columns.len() == 1 { "" } else { "s" });
                return Err(sql_err!(SYNTAX_ERROR, "query returned {n} column{s}")
                    .context(format!("query: {}", expression.text)));
            }
        };
        let params = self.params(&prepared)?;
        let mut value = Datum::Null;
        let mut rows = 0;
        let ran = self.session.run_in_body(&prepared.statement, &params, self.sees, 2, &mut |row| {
            rows += 1;
            value = row.first().cloned().unwrap_or_default();
            Ok(())
        });
        self.state.look_again(self.session);
        ran.map_err(|e| self.within(e, expression))?;
        if rows > 1 {
            return Err(sql_err!(CARDINALITY_VIOLATION, "query returned more than one row")
                .context(format!("query: {}", expression.text)));
        }
        Ok((value, ty))
    }

    /// An error in an expression or statement: its position there, or a line that names it unless it is a plain expression.
    pub(super) fn within(&self, error: SqlError, expression: &Expression) -> SqlError {
        if error.report().position.is_some() {
            return within_body(error, &expression.text);
        }
        if expression.is_plain() { error } else { error.context(expression.context()) }
    }

    /// Computes a condition; NULL is false.
    pub(super) fn test(&mut self, expression: &Expression) -> SqlResult<bool> {
        if let Some(found) = self.truth_at_once(expression) {
            return found.map_err(|e| self.within(e, expression));
        }
        let (value, ty) = self.evaluate(expression)?;
        let value = self.session.convert_in_body(value, ty.oid, (oids::bool, -1))?;
        Ok(matches!(value, Datum::Bool(true)))
    }

    /// Computes an expression as a text; `None` for NULL.
    pub(super) fn text(&mut self, expression: &Expression) -> SqlResult<Option<String>> {
        let (value, ty) = self.evaluate(expression)?;
        match value {
            Datum::Null => Ok(None),
            value => self.session.value_text(ty.oid, &value).map(Some),
        }
    }

    // Assignments

    /// Gives a target a value.
    pub(super) fn assign(&mut self, target: &Target, value: Datum, ty: TypeRef) -> SqlResult<()> {
        match target {
            Target::Variable(v) => self.assign_variable(*v, value, ty),
            Target::Field(v, field) => self.assign_field(*v, field, value, ty.oid),
            Target::List(list) => {
                let row = self.row_of(&value, ty.oid)?;
                let (columns, values) = match row {
                    Some(row) => (row.columns, row.values),
                    None => (Rc::from([]), Vec::new()),
                };
                self.assign_list(list, &columns, Some(&values))
            }
        }
    }

    pub(super) fn assign_variable(&mut self, id: VarId, value: Datum, ty: TypeRef) -> SqlResult<()> {
        let VariableKind::Record(declared) = &self.function.variables[id].kind else {
            return self.assign_scalar(id, value, ty.oid);
        };
        if value.is_null() {
            // A row of NULLs, if it is known which.
            let columns: Option<Rc<[ColumnType]>> = match &self.rows_of[id] {
                _ if declared.oid != oids::record => None,
                Some(row) => Some(row.columns.clone()),
                None => self.session.row_columns_of(ty.oid)?.map(Into::into),
            };
            self.rows_of[id] =
                columns.map(|columns| RowValue { values: vec![Datum::Null; columns.len()], columns });
            return self.check_not_null(id);
        }
        let composite = ty.oid == oids::record || self.session.row_columns_of(ty.oid)?.is_some();
        if !composite {
            let message = "cannot assign non-composite value to a record variable";
            return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message));
        }
        let Some(row) = self.row_of(&value, ty.oid)? else { return Ok(()) };
        self.assign_row(id, &row.columns, Some(&row.values))
    }

    #[inline]
    pub(super) fn assign_scalar(&mut self, id: VarId, value: Datum, from: Oid) -> SqlResult<()> {
        let to = self.type_of(id);
        let value = if from == to.oid && to.typmod < 0 { value } else { self.converted_to(value, from, to)? };
        self.set_slot(id, value);
        self.check_not_null(id)
    }

    /// A value as one of another type.
    fn converted_to(&self, value: Datum, from: Oid, to: TypeRef) -> SqlResult<Datum> {
        let converted = self.session.convert_in_body(value, from, (to.oid, to.typmod));
        if !(from.is_pinned() && to.oid.is_pinned()) {
            // Users' casts and constraints may have changed anything.
            self.state.look_again(self.session);
        }
        converted
    }

    #[inline]
    fn check_not_null(&self, id: VarId) -> SqlResult<()> {
        let variable = &self.function.variables[id];
        if variable.not_null
            && if self.is_row(id) { self.rows_of[id].is_none() } else { self.slots[id].is_null() }
        {
            return Err(sql_err!(
                NULL_VALUE_NOT_ALLOWED,
                "null value cannot be assigned to variable \"{}\" declared NOT NULL",
                variable.name
            ));
        }
        Ok(())
    }

    fn assign_field(&mut self, id: VarId, field: &FieldName, value: Datum, from: Oid) -> SqlResult<()> {
        let Variable { name, kind, .. } = &self.function.variables[id];
        let VariableKind::Record(ty) = kind else {
            return Err(SqlError::internal("a field of a variable that is no row"));
        };
        if self.rows_of[id].is_none() {
            let columns = self.session.row_columns_of(ty.oid)?.ok_or_else(|| unassigned(name))?;
            self.rows_of[id] =
                Some(RowValue { values: vec![Datum::Null; columns.len()], columns: columns.into() });
        }
        let Some(row) = &mut self.rows_of[id] else { return Err(unassigned(name)) };
        let at = field.place.find(&row.columns, &field.name, |c| c.type_oid.is_valid());
        let at = at
            .ok_or_else(|| sql_err!(UNDEFINED_COLUMN, "record \"{name}\" has no field \"{}\"", field.name))?;
        let ColumnType { type_oid, typmod, collation, .. } = row.columns[at];
        if from == type_oid && typmod < 0 {
            row.values[at] = value;
            return Ok(());
        }
        let value = self.converted_to(value, from, TypeRef { oid: type_oid, typmod, collation })?;
        if let Some(row) = &mut self.rows_of[id] {
            row.values[at] = value;
        }
        Ok(())
    }

    /// Gives a target the columns of a row; without values all are NULL.
    pub(super) fn assign_columns(
        &mut self,
        target: &Target,
        columns: &Rc<[ColumnType]>,
        values: Option<&[Datum]>,
    ) -> SqlResult<()> {
        match target {
            Target::Variable(v) if self.is_row(*v) => self.assign_row(*v, columns, values),
            Target::List(list) => self.assign_list(list, columns, values),
            single => self.assign_list(std::slice::from_ref(single), columns, values),
        }
    }

    fn assign_list(
        &mut self,
        list: &[Target],
        columns: &[ColumnType],
        values: Option<&[Datum]>,
    ) -> SqlResult<()> {
        let mut live = (0..columns.len()).filter(|i| columns[*i].type_oid.is_valid());
        for target in list {
            let at = live.next();
            let value = at.and_then(|at| values?.get(at).cloned()).unwrap_or_default();
            let ty = match at {
                Some(at) => TypeRef { oid: columns[at].type_oid, typmod: -1, collation: Oid::INVALID },
                None => TypeRef { oid: oids::text, typmod: -1, collation: Oid::INVALID },
            };
            if at.is_none() {
                self.check_columns(false, values)?;
            }
            self.assign(target, value, ty)?;
        }
        self.check_columns(live.next().is_none(), values)
    }

    /// Tells of columns without a target, or targets without a column, if that is to be told. Without a row nothing is amiss.
    fn check_columns(&self, fit: bool, values: Option<&[Datum]>) -> SqlResult<()> {
        let check = Check::StrictMultiAssignment;
        if fit || values.is_none() {
            return Ok(());
        }
        let Some(severity) = check.severity(self.session) else { return Ok(()) };
        let message = "number of source and target fields in assignment does not match";
        let error = SqlError::new(SqlState::DATATYPE_MISMATCH, message)
            .detail(check.is_active(severity))
            .hint("Make sure the query returns the exact list of columns.");
        self.tell_finding(error, severity)
    }

    fn assign_row(
        &mut self,
        id: VarId,
        columns: &Rc<[ColumnType]>,
        values: Option<&[Datum]>,
    ) -> SqlResult<()> {
        let VariableKind::Record(declared) = &self.function.variables[id].kind else {
            return Err(SqlError::internal("a row for a variable that is none"));
        };
        let Some(own) = self.session.row_columns_of(declared.oid)? else {
            let values = values.map_or_else(|| vec![Datum::Null; columns.len()], <[Datum]>::to_vec);
            self.rows_of[id] = Some(RowValue { columns: columns.clone(), values });
            return Ok(());
        };
        let mut live = (0..columns.len()).filter(|i| columns[*i].type_oid.is_valid());
        let mut converted = Vec::with_capacity(own.len());
        for column in &own {
            if !column.type_oid.is_valid() {
                converted.push(Datum::Null);
                continue;
            }
            let value = match live.next() {
                Some(at) => {
                    let value = values.and_then(|v| v.get(at).cloned()).unwrap_or_default();
                    let to = (column.type_oid, column.typmod);
                    self.session.convert_in_body(value, columns[at].type_oid, to)?
                }
                None => {
                    self.check_columns(false, values)?;
                    Datum::Null
                }
            };
            converted.push(value);
        }
        self.check_columns(live.next().is_none(), values)?;
        self.rows_of[id] = Some(RowValue { columns: own.into(), values: converted });
        Ok(())
    }

    pub(super) fn set_found(&mut self, found: bool) {
        self.slots[self.function.found] = Datum::Bool(found);
    }
}
