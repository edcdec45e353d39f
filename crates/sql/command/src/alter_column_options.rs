//! ALTER TABLE ... ALTER COLUMN ... SET and RESET of parameters: what ANALYZE is to take for the number of distinct values.

use base::{Oid, SqlResult, sql_err};
use catalog::system::pg_attribute as a;
use catalog::{Row, Table, texts_of};
use parse::ast::DefElem;
use session::Session;
use tuple::Datum;

use super::alter::find;
use super::storage_parameter::{self, Target};

fn row_of(session: &Session, table: Oid, number: i16) -> SqlResult<Option<Row>> {
    let (index, key) = (a::PG_ATTRIBUTE_RELID_ATTNUM_INDEX, [table.into(), number.into()]);
    let found = session.with_reader(|reader| reader.find_one(&a::TABLE, index, &key))?;
    Ok(found.map(|(_, row)| row))
}

/// SET, or RESET.
pub(super) fn set(
    session: &Session,
    table: &Table,
    name: &str,
    (list, reset): (&[DefElem], bool),
) -> SqlResult<()> {
    let number = find(table, name)? as i16 + 1;
    let new = match reset {
        false => storage_parameter::check(Target::Column, list)?,
        true => {
            if list.iter().any(|option| option.value.is_some()) {
                return Err(sql_err!(SYNTAX_ERROR, "RESET must not include values for parameters"));
            }
            list.iter().try_for_each(|option| storage_parameter::check_name(Target::Column, &option.name))?;
            Vec::new()
        }
    };
    let row = row_of(session, table.oid, number)?;
    let mut all = row.map(|row| texts_of(&row[a::ATTOPTIONS])).unwrap_or_default();
    all.retain(|entry| !list.iter().any(|option| entry.starts_with(&format!("{}=", option.name))));
    all.extend(new);
    let array = if all.is_empty() { Datum::Null } else { catalog::text_array(&all) };
    session.with_changer(|changer| changer.edit_column(table.oid, number, |row| row[a::ATTOPTIONS] = array))
}

/// The number of distinct values that ANALYZE is to believe in, if one was set.
pub(super) fn distinct(session: &Session, table: Oid, number: i16) -> SqlResult<Option<f32>> {
    let row = row_of(session, table, number)?;
    let options = row.map(|row| texts_of(&row[a::ATTOPTIONS])).unwrap_or_default();
    let set = options.iter().find_map(|entry| entry.strip_prefix("n_distinct="));
    Ok(set.and_then(|value| value.parse().ok()).filter(|value| *value != 0.0))
}
