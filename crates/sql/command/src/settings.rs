//! # What
//! SET, RESET, SHOW, DISCARD.

use base::settings::Setting;
use base::{Oid, SqlError, SqlResult, sql_err};
use parse::ast::{DefElem, Expr, Literal, SetAction, SetStatement, SetValue, TypeName};
use session::Session;
use session::output::{Column, Output, RowEncoder};
use tuple::Datum;
use types::interval::Interval;
use types::timezone::TimeZone;

/// SET and RESET.
pub(crate) fn set(session: &Session, statement: &SetStatement) -> SqlResult<()> {
    let name = &statement.name;
    if statement.local && !matches!(statement.action, SetAction::Multi(_)) {
        session.warn_outside_block("SET LOCAL");
    }
    match &statement.action {
        SetAction::Value(values) => {
            session.change_setting(name, Some(&value_text(name, values)?), statement.local)?;
        }
        SetAction::Default => session.change_setting(name, None, statement.local)?,
        SetAction::Reset => session.change_setting(name, None, false)?,
        SetAction::ResetAll => {
            let level = session.txn.borrow().depth() as u32;
            session.settings.borrow_mut().reset_all(level);
            session.apply_settings();
        }
        SetAction::Current => return Err(SqlError::not_supported("SET FROM CURRENT")),
        SetAction::Multi(modes) => return set_modes(session, name, modes),
    }
    Ok(())
}

/// SET TRANSACTION, SET SESSION CHARACTERISTICS, SET TRANSACTION SNAPSHOT.
fn set_modes(session: &Session, name: &str, modes: &[DefElem]) -> SqlResult<()> {
    match name {
        "TRANSACTION" | "TRANSACTION SNAPSHOT" => {
            session.warn_outside_block("SET TRANSACTION");
            session.set_transaction_modes(modes)?;
        }
        "SESSION CHARACTERISTICS" => {
            for mode in modes {
                let value = super::options::string(mode)?;
                let value = if mode.name == "transaction_isolation" {
                    value
                } else {
                    let on = super::options::boolean(mode)?;
                    if on { "on" } else { "off" }.to_owned()
                };
                session.change_setting(&format!("default_{}", mode.name), Some(&value), false)?;
            }
        }
        other => return Err(SqlError::not_supported(format!("SET {other}"))),
    }
    Ok(())
}

/// A value as the setting's text. Lists are joined; names in `search_path` and the like keep their quotes.
pub(crate) fn value_text(name: &str, values: &[SetValue]) -> SqlResult<String> {
    let definition = Setting::find(name).map(Setting::definition);
    let is_list = definition.is_some_and(|definition| definition.is_list);
    let is_quoted = definition.is_some_and(|definition| definition.is_quoted);
    if values.len() > 1 && !is_list {
        return Err(sql_err!(INVALID_PARAMETER_VALUE, "SET {name} takes only one argument"));
    }
    let mut parts = Vec::with_capacity(values.len());
    for value in values {
        parts.push(match value {
            SetValue::String(s) if is_quoted => analyze::names::quote_identifier(s),
            SetValue::String(s) | SetValue::Float(s) => s.clone(),
            SetValue::Integer(n) => n.to_string(),
            SetValue::Interval(text, type_name) => zone_of_interval(text, type_name.as_deref())?,
        });
    }
    Ok(parts.join(", "))
}

/// The name of the time zone that is so far from UTC.
fn zone_of_interval(text: &str, type_name: Option<&TypeName>) -> SqlResult<String> {
    let format = types::FormatContext::default();
    let call = types::Call::new(&format);
    let value = types::input(types::oids::interval, text, interval_typmod(type_name), &call)?;
    let Datum::Bytes(bytes) = &value else { return Err(SqlError::internal("an interval without a value")) };
    let interval = Interval::from_payload(bytes);
    let refuse = |unit: &str| {
        let shown = interval.plain_text();
        Err(sql_err!(
            INVALID_PARAMETER_VALUE,
            "invalid value for parameter \"TimeZone\": \"INTERVAL '{shown}'\""
        )
        .detail(format!("Cannot specify {unit} in time zone interval.")))
    };
    match (interval.months, interval.days) {
        (0, 0) => {}
        (0, _) => return refuse("days"),
        _ => return refuse("months"),
    }
    let seconds = i32::try_from(interval.micros / 1_000_000).unwrap_or(i32::MAX);
    Ok(TimeZone::fixed(seconds).name().to_owned())
}

/// The modifier of `INTERVAL … HOUR TO MINUTE`: its fields, and maybe a precision.
fn interval_typmod(type_name: Option<&TypeName>) -> i32 {
    let number = |expr: &Expr| match expr {
        Expr::Const { value: Literal::Integer(n), .. } => Some(*n),
        _ => None,
    };
    let numbers: Vec<i32> = type_name.iter().flat_map(|t| &t.modifiers).filter_map(number).collect();
    match numbers[..] {
        [fields] => fields << 16 | 0xffff,
        [fields, precision] => fields << 16 | precision,
        _ => -1,
    }
}

fn text_column(name: &str) -> Column {
    Column {
        name: name.into(),
        table: Oid::INVALID,
        number: 0,
        type_oid: types::oids::text,
        declared: types::oids::text,
        type_len: -1,
        typmod: -1,
    }
}

/// Columns that SHOW returns.
pub(crate) fn show_columns(name: &str) -> Vec<Column> {
    if name.eq_ignore_ascii_case("all") {
        return ["name", "setting", "description"].map(text_column).to_vec();
    }
    let shown = Setting::find(name).map_or_else(|| name.to_owned(), |setting| setting.name().to_owned());
    vec![text_column(&shown)]
}

/// SHOW: one row, or all settings. RowDescription has been sent.
pub(crate) fn show(session: &Session, name: &str, out: &mut dyn Output) -> SqlResult<()> {
    let columns = show_columns(name);
    let format = session.format.borrow().clone();
    let encoder = RowEncoder { columns: &columns, formats: &[], context: &format, session };
    if !name.eq_ignore_ascii_case("all") {
        let value = session.shown_setting(name)?;
        return out.data_row(&encoder, &[Datum::text(&value)]);
    }
    let rows = session.visible_settings()?;
    for row in rows {
        let value = session.settings.borrow().show(&row.name)?;
        let row = [Datum::text(&row.name), Datum::text(&value), Datum::text(row.short_desc)];
        out.data_row(&encoder, &row)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lists_take_several_values() {
        let two = [SetValue::String("a".into()), SetValue::String("B".into())];
        assert_eq!(value_text("search_path", &two).unwrap(), "a, \"B\"");
        let error = value_text("work_mem", &two).unwrap_err();
        assert_eq!(error.message(), "SET work_mem takes only one argument");
    }
}
