//! # What
//! COPY: rows to and from text or bytes, by the client's connection, or a file or a program of the server.
//!
//! # Layout
//! `options`: what may be asked for. `split`: text and CSV. `binary`: the third format. `from` and `to`: the two directions. `file`: the server's files and programs. `encoding`: those not in UTF-8. `foreign`: files that are read as foreign tables.
//!
//! # PostgreSQL counterpart
//! `commands/copy*.c`.

mod binary;
mod encoding;
mod file;
pub(crate) mod foreign;
mod from;
mod options;
mod split;
mod to;

use std::sync::Arc;

use base::{SqlResult, sql_err};
use catalog::authority::Wanted;
use catalog::{Generated, Table};
use parse::ast::{Copy, CopyTarget};
use session::Session;
use session::output::Output;
use session::progress::{Lengthy, Running};
use types::acl;

use options::Columns;

// Figures of `pg_stat_progress_copy`.
const BYTES: usize = 1;
const BYTES_TOTAL: usize = 2;
const TUPLES: usize = 3;
const TUPLES_EXCLUDED: usize = 4;
const COMMAND: usize = 5;
const ENDPOINT: usize = 6;
const TUPLES_SKIPPED: usize = 7;

/// COPY tells how far it is; `table` is none for a query.
fn progress<'s>(session: &'s Session, copy: &Copy, table: base::Oid) -> Running<'s> {
    let progress = session.progress(Lengthy::Copy, table);
    progress.set(COMMAND, if copy.from { 1 } else { 2 });
    let endpoint = match copy.target {
        CopyTarget::File(_) => 1,
        CopyTarget::Program(_) => 2,
        CopyTarget::Client => 3,
    };
    progress.set(ENDPOINT, endpoint);
    progress
}

/// COPY. Returns the command tag.
pub(crate) fn run(session: &Session, copy: &Copy, text: &str, out: &mut dyn Output) -> SqlResult<String> {
    file::check_right(session, copy)?;
    let options = Arc::new(options::read(&copy.options, copy.from, text)?);
    if copy.from {
        let rows = from::run(session, copy, &options, text, out)?;
        return Ok(format!("COPY {rows}"));
    }
    let rows = to::run(session, copy, &options, text, out)?;
    Ok(format!("COPY {rows}"))
}

/// Attribute numbers of the columns named, or of all.
/// Fails unless the current user may read these columns (positions), or insert them.
fn check_access(session: &Session, table: &Table, numbers: &[usize], read: bool) -> SqlResult<()> {
    let columns: Vec<i16> = numbers.iter().map(|n| *n as i16 + 1).collect();
    let (required, selected, inserted): (_, &[i16], &[i16]) =
        if read { (acl::bits("r"), &columns, &[]) } else { (acl::bits("a"), &[], &columns) };
    let wanted = Wanted { required, selected, inserted, updated: &[] };
    session.check_relation(session.names.user(), table.oid, wanted)
}

fn column_numbers(table: &Table, names: &[String]) -> SqlResult<Vec<usize>> {
    if names.is_empty() {
        let live = |i: &usize| !table.columns[*i].dropped && table.columns[*i].generated == Generated::None;
        return Ok((0..table.columns.len()).filter(live).collect());
    }
    let mut numbers = Vec::with_capacity(names.len());
    for name in names {
        let Some((number, column)) = table.column(name) else {
            return Err(sql_err!(
                UNDEFINED_COLUMN,
                "column \"{name}\" of relation \"{}\" does not exist",
                table.name
            ));
        };
        if column.generated != Generated::None {
            return Err(sql_err!(INVALID_COLUMN_REFERENCE, "column \"{name}\" is a generated column")
                .detail("Generated columns cannot be used in COPY."));
        }
        let number = number as usize - 1;
        if numbers.contains(&number) {
            return Err(sql_err!(DUPLICATE_COLUMN, "column \"{name}\" specified more than once"));
        }
        numbers.push(number);
    }
    Ok(numbers)
}

/// For each column copied, whether a FORCE option names it.
fn forced(table: Option<&Table>, columns: &Columns, names: &[&str], option: &str) -> SqlResult<Vec<bool>> {
    match columns {
        Columns::None => Ok(vec![false; names.len()]),
        Columns::All => Ok(vec![true; names.len()]),
        Columns::List(list) => {
            for name in list {
                if let Some(table) = table.filter(|table| table.column(name).is_none()) {
                    return Err(sql_err!(
                        UNDEFINED_COLUMN,
                        "column \"{name}\" of relation \"{}\" does not exist",
                        table.name
                    ));
                }
                if !names.contains(&name.as_str()) {
                    return Err(sql_err!(
                        INVALID_COLUMN_REFERENCE,
                        "{option} column \"{name}\" not referenced by COPY"
                    ));
                }
            }
            Ok(names.iter().map(|name| list.iter().any(|n| n == name)).collect())
        }
    }
}
