//! Row values and domains in expressions.

use base::{SqlError, SqlResult, sql_err};
use tuple::Datum;
use types::call::RegKind;
use types::record::{self, Row};

use crate::code::{Code, DomainCode, FieldStoreCode, Rows};
use crate::cx::Cx;

/// The value of a row expression or of a value on its way into a domain.
pub fn eval(code: &Code, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<Datum> {
    match code {
        Code::Row(fields, row) => {
            let mut values = Vec::with_capacity(fields.len());
            for field in fields {
                values.push(field.eval(rows, cx)?);
            }
            Ok(row.row(&values))
        }
        Code::Field(arg, n) => Ok(match arg.eval(rows, cx)? {
            Datum::Bytes(bytes) => record::field(&bytes, *n),
            _ => Datum::Null,
        }),
        Code::FieldStore(store) => field_store(store, rows, cx),
        Code::RowValueNull { arg, not, row } => {
            let value = arg.eval(rows, cx)?;
            let Datum::Bytes(bytes) = value else { return Ok(Datum::Bool(value.is_null() != *not)) };
            // A column may have been dropped since the row was made, or added: those count as they are now.
            let made = Row::from_payload(&bytes).fields;
            let fields = row.as_ref().map(|row| &row.fields);
            let count = fields.map_or(made.len(), |fields| fields.len());
            let passes = |i: usize| {
                let field = fields.map_or_else(|| made[i].0, |fields| fields[i]);
                field.is_dropped() || made.get(i).is_none_or(|(_, value)| value.is_null()) != *not
            };
            Ok(Datum::Bool((0..count).all(passes)))
        }
        Code::Domain(domain) => to_domain(domain, rows, cx),
        _ => Err(SqlError::internal("not a row expression")),
    }
}

fn field_store(store: &FieldStoreCode, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<Datum> {
    let mut values = vec![Datum::Null; store.row.fields.len()];
    if let Datum::Bytes(bytes) = store.arg.eval(rows, cx)? {
        let old = Row::from_payload(&bytes).fields.into_iter().map(|(_, value)| value);
        values.iter_mut().zip(old).for_each(|(value, old)| *value = old);
    }
    for (n, code) in &store.fields {
        let value = code.eval(rows, cx)?;
        if let Some(slot) = values.get_mut(*n) {
            *slot = value;
        }
    }
    Ok(store.row.row(&values))
}

fn to_domain(domain: &DomainCode, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<Datum> {
    let value = domain.arg.eval(rows, cx)?;
    // A condition may contain the same domain again.
    let outer = std::mem::replace(&mut cx.state.cells[domain.cell], value.clone());
    let checked = check(domain, &value, rows, cx);
    cx.set(domain.cell, outer);
    checked.map(|()| value)
}

fn check(domain: &DomainCode, value: &Datum, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<()> {
    for (condition, rule) in &domain.checks {
        let passes = match condition {
            None => !value.is_null(),
            Some(condition) => condition.eval(rows, cx)? != Datum::Bool(false),
        };
        if !passes {
            return Err(violation(rule, cx));
        }
    }
    Ok(())
}

fn violation(rule: &plan::DomainCheck, cx: &Cx<'_>) -> SqlError {
    let (schema, name) = &rule.name;
    let shown = cx.env.session.types().reg_name(RegKind::Type, rule.domain);
    let shown = shown.unwrap_or_else(|| name.to_string());
    let mut error = match &rule.check {
        None => sql_err!(NOT_NULL_VIOLATION, "domain {shown} does not allow null values"),
        Some((check, _)) => {
            sql_err!(CHECK_VIOLATION, "value for domain {shown} violates check constraint \"{check}\"")
                .constraint(check.to_string())
        }
    };
    let report = error.report_mut();
    report.schema = Some(schema.to_string());
    report.data_type = Some(name.to_string());
    error
}
