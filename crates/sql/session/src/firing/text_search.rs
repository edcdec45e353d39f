//! `tsvector_update_trigger` and the like: keep a column of the document up to date with columns of text.

use std::sync::Arc;

use base::{Oid, SqlError, SqlResult, sql_err};
use eval::trigger::TriggerCall;
use textsearch::configuration::{Configuration, Document};
use tuple::Datum;
use types::Session as _;
use types::call::RegKind;
use types::oids;
use types::value::FromDatum;

use crate::Session;

/// `tsvector_update_trigger(column, configuration, text columns …)`
pub(super) const BY_NAME: Oid = Oid(3752);
/// `tsvector_update_trigger_column(column, column of the configuration, text columns …)`
pub(super) const BY_COLUMN: Oid = Oid(3753);

/// The row with its vector made again, if a text of it is another than before.
pub(super) fn update(session: &Session, call: &TriggerCall<'_>) -> SqlResult<Option<Vec<Datum>>> {
    let must = |what: &str| Err(SqlError::internal(format!("tsvector_update_trigger: {what}")));
    if !call.trigger.kind.row() {
        return must("must be fired for row");
    }
    if !call.trigger.kind.before() {
        return must("must be fired BEFORE event");
    }
    let Some(new) = call.new else { return must("must be fired for INSERT or UPDATE") };
    let [vector, configuration, texts @ ..] = call.trigger.args.as_slice() else {
        return must("arguments must be tsvector_field, ts_config, text_field1, ...)");
    };
    if texts.is_empty() {
        return must("arguments must be tsvector_field, ts_config, text_field1, ...)");
    }
    let vector = column(call, vector, "tsvector column", |ty| ty == oids::tsvector, "tsvector type")?;
    let configuration = configuration_of(session, call, configuration, new)?;
    let is_text = |ty| matches!(ty, oids::text | oids::varchar | oids::bpchar);
    let (mut document, mut needed) = (Document::default(), call.old.is_none());
    for name in texts {
        let at = column(call, name, "column", is_text, "a character type")?;
        needed |= call.old.is_some_and(|old| old[at] != new[at]);
        if let Some(text) = Option::<&str>::from_datum(&new[at]) {
            document.add(&configuration, text, &mut |notice| session.tell(notice))?;
        }
    }
    let mut row = new[..call.table.columns.len()].to_vec();
    if needed {
        row[vector] = Datum::Bytes(document.finish()?.into());
    }
    Ok(Some(row))
}

/// The place of a column of a type that fits.
fn column(
    call: &TriggerCall<'_>,
    name: &str,
    what: &str,
    fits: impl Fn(Oid) -> bool,
    of: &str,
) -> SqlResult<usize> {
    let found = call.table.columns.iter().position(|column| !column.dropped && column.name == name);
    let Some(at) = found else {
        return Err(sql_err!(UNDEFINED_COLUMN, "{what} \"{name}\" does not exist"));
    };
    match fits(call.table.columns[at].type_oid) {
        true => Ok(at),
        false => Err(sql_err!(DATATYPE_MISMATCH, "column \"{name}\" is not of {of}")),
    }
}

fn configuration_of(
    session: &Session,
    call: &TriggerCall<'_>,
    name: &str,
    new: &[Datum],
) -> SqlResult<Arc<Configuration>> {
    let oid = if call.trigger.function == BY_COLUMN {
        let is_name = |ty| ty == oids::regconfig;
        let at = column(call, name, "configuration column", is_name, "regconfig type")?;
        Option::<u32>::from_datum(&new[at]).ok_or_else(|| {
            sql_err!(NULL_VALUE_NOT_ALLOWED, "configuration column \"{name}\" must not be null")
        })?
    } else if name.contains('.') {
        session.reg_lookup(RegKind::Config, name)?.0
    } else {
        return Err(sql_err!(
            INVALID_PARAMETER_VALUE,
            "text search configuration name \"{name}\" must be schema-qualified"
        ));
    };
    session.text_search_of(Oid(oid))
}
