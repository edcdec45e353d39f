//! What was in the way of a change, as it is told in the log: rows that are not there, and rows that have unique keys of new ones.

use base::{Severity, SqlError, SqlResult, SqlState};
use catalog::{Index, Table};
use session::Session;
use session::subscription::Conflict;
use tuple::Datum;
use types::text::quote_identifier;

use super::protocol::{RemoteTable, Value};
use super::target::Target;
use crate::internal::Internal;

/// A change that was to be applied.
#[derive(Clone, Copy)]
pub(super) enum Change<'a> {
    Insert(&'a [Value<'a>]),
    Update(Option<&'a [Value<'a>]>, &'a [Value<'a>]),
    Delete(&'a [Value<'a>]),
}

impl<'a> Change<'a> {
    fn new_row(&self) -> Option<&'a [Value<'a>]> {
        match *self {
            Change::Insert(new) | Change::Update(_, new) => Some(new),
            Change::Delete(_) => None,
        }
    }

    /// What identifies the row that there is.
    fn old_row(&self) -> Option<&'a [Value<'a>]> {
        match *self {
            Change::Insert(_) => None,
            Change::Update(old, new) => Some(old.unwrap_or(new)),
            Change::Delete(old) => Some(old),
        }
    }
}

fn shown(value: &Value<'_>) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Unchanged => "unchanged".into(),
        Value::Text(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::Binary(_) => "(binary)".into(),
    }
}

/// A row of the publisher as a row of the table here.
fn row_text(table: &Table, remote: &RemoteTable, row: &[Value<'_>]) -> String {
    let there = |name: &str| remote.columns.iter().position(|column| column.name == name);
    let columns = table.columns.iter().filter(|column| !column.dropped);
    let values =
        columns.map(|column| there(&column.name).and_then(|at| row.get(at)).map_or("null".into(), shown));
    format!("({})", values.collect::<Vec<_>>().join(", "))
}

/// `(id)=(1)` of these columns of the publisher.
fn key_text(remote: &RemoteTable, row: &[Value<'_>], key: &[usize]) -> String {
    let names: Vec<&str> = key.iter().map(|at| remote.columns[*at].name.as_str()).collect();
    let values: Vec<String> = key.iter().map(|at| row.get(*at).map_or("null".into(), shown)).collect();
    format!("({})=({})", names.join(", "), values.join(", "))
}

/// What identifies the row that was to be changed.
fn identity(target: &Target, remote: &RemoteTable, change: &Change<'_>) -> Option<String> {
    let old = change.old_row()?;
    Some(match target.key() {
        Some(key) => format!("replica identity {}", key_text(remote, old, key)),
        None => format!("replica identity full {}", row_text(&target.table, remote, old)),
    })
}

fn detected(severity: Severity, code: SqlState, table: &Table, conflict: Conflict) -> SqlError {
    let message = format!(
        "conflict detected on relation \"{}.{}\": conflict={}",
        table.schema_name,
        table.name,
        conflict.word()
    );
    SqlError::with_severity(severity, code, message)
}

/// The first letter as at the beginning of a sentence.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// There is no row to change.
pub(super) fn missing(target: &Target, remote: &RemoteTable, change: &Change<'_>) -> SqlError {
    let table = &target.table;
    let identity = identity(target, remote, change).unwrap_or_default();
    let (conflict, what, rest) = match change.new_row() {
        Some(new) => (
            Conflict::UpdateMissing,
            "updated",
            format!("Remote row {}; {identity}.", row_text(table, remote, new)),
        ),
        None => (Conflict::DeleteMissing, "deleted", format!("{}.", capital(&identity))),
    };
    detected(Severity::Log, SqlState::SUCCESSFUL_COMPLETION, table, conflict)
        .detail(format!("Could not find the row to be {what}.\n{rest}"))
}

/// A row that has a unique key of the new one.
struct Rival {
    index: String,
    key: String,
    row: String,
    xid: String,
}

/// A unique key refused a change, whose transaction is over: looks which rows were in the way.
pub(super) fn explain(
    session: &Session,
    target: &Target,
    remote: &RemoteTable,
    change: &Change<'_>,
    error: SqlError,
) -> (Option<Conflict>, SqlError) {
    let Some(new) = change.new_row() else { return (None, error) };
    session.begin_statement();
    let rivals = rivals(session, target, remote, new, change);
    let ended = session.commit_transaction();
    let rivals = match (rivals, ended) {
        (Ok(rivals), Ok(_)) if !rivals.is_empty() => rivals,
        _ => return (None, error),
    };
    let conflict = match (rivals.len(), change) {
        (1, Change::Insert(_)) => Conflict::InsertExists,
        (1, _) => Conflict::UpdateExists,
        _ => Conflict::MultipleUniqueConflicts,
    };
    let new = row_text(&target.table, remote, new);
    let identity = identity(target, remote, change).map_or(String::new(), |text| format!("; {text}"));
    let lines = rivals.iter().map(|rival| {
        let Rival { index, key, row, xid } = rival;
        format!(
            "Key already exists in unique index \"{index}\", modified in transaction {xid}.\nKey {key}; existing local row {row}; remote row {new}{identity}."
        )
    });
    let detail = lines.collect::<Vec<_>>().join("\n");
    let code = SqlState::UNIQUE_VIOLATION;
    (Some(conflict), detected(Severity::Error, code, &target.table, conflict).detail(detail))
}

fn rivals(
    session: &Session,
    target: &Target,
    remote: &RemoteTable,
    new: &[Value<'_>],
    change: &Change<'_>,
) -> SqlResult<Vec<Rival>> {
    let table = &target.table;
    let unique = |index: &&Index| index.unique && index.valid && index.predicate.is_none();
    let mut found = Vec::new();
    for index in table.indexes.iter().map(|index| &**index).filter(unique) {
        let there = |number: &i16| {
            let column = table.columns.get(usize::try_from(*number).ok()?.checked_sub(1)?)?;
            remote.columns.iter().position(|known| known.name == column.name)
        };
        let Some(key) = index.keys.iter().map(there).collect::<Option<Vec<usize>>>() else { continue };
        // The row that is changed has the keys that it keeps.
        if let Some(old) = change.old_row()
            && key.iter().all(|at| old.get(*at) == new.get(*at))
            && target.key() == Some(key.as_slice())
        {
            continue;
        }
        if let Some((row, xid)) = row_with(session, target, remote, new, &key)? {
            found.push(Rival { index: index.name.clone(), key: key_text(remote, new, &key), row, xid });
        }
    }
    Ok(found)
}

/// The row with this key, and who made it.
fn row_with(
    session: &Session,
    target: &Target,
    remote: &RemoteTable,
    new: &[Value<'_>],
    key: &[usize],
) -> SqlResult<Option<(String, String)>> {
    let table = &target.table;
    let (schema, name) = (quote_identifier(&table.schema_name), quote_identifier(&table.name));
    let condition: Vec<String> = key
        .iter()
        .enumerate()
        .map(|(i, at)| format!("{} = ${}", quote_identifier(&remote.columns[*at].name), i + 1))
        .collect();
    let columns: Vec<String> = table
        .columns
        .iter()
        .filter(|column| !column.dropped)
        .map(|column| format!("coalesce({}::text, 'null')", quote_identifier(&column.name)))
        .collect();
    let text = format!(
        "SELECT pg_catalog.concat_ws(', ', {}), xmin::text FROM {schema}.{name} WHERE {}",
        columns.join(", "),
        condition.join(" AND ")
    );
    let (params, types) = target.params(session, new, key)?;
    let parsed = parse::parse(&text)?.into_iter().next();
    let parsed = parsed.ok_or_else(|| SqlError::internal("a query without text"))?;
    let mut row = None;
    Internal::unsecured(session, &parsed.stmt, &text, &types)?.run(session, &params, &mut |values| {
        if let [Datum::Bytes(values), Datum::Bytes(xid)] = values {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            row = Some((format!("({})", text(values)), text(xid)));
        }
        Ok(())
    })?;
    Ok(row)
}
