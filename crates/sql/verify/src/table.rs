//! A table.

use base::{BlockNo, Fork, Oid, SqlError, SqlResult, sql_err};
use catalog::system::pg_class;
use catalog::{NotedIds, RelationKind, Table};
use heap::HeapError;
use heap::verify::{Finding, Skip, Verifier, VerifyOptions};
use session::Session;
use session::lookup::database::noted_ids;
use session::lookup::names::{self, plural};
use txn::{LockMode, OldestIds};

use super::{check_not_temporary, lock};

/// What of a table is checked.
#[derive(Clone, Copy, Debug, Default)]
pub struct TableChecks {
    /// Chunks of large values too.
    pub toast: bool,
    /// Pages left out.
    pub skip: Skip,
    /// First page; none: the first of the table.
    pub first: Option<i64>,
    /// Last page; none: the last of the table.
    pub last: Option<i64>,
}

/// Checks a table, materialized view, TOAST table or sequence; `found` is told what is wrong with a page, and says whether to go on.
///
/// # Errors
/// The relation is none of these; a page cannot be read, or its check sum is wrong: `on_error` may take note of that and go on.
pub fn table(
    session: &Session,
    oid: Oid,
    checks: &TableChecks,
    found: &mut dyn FnMut(Vec<Finding>) -> SqlResult<bool>,
    on_error: &mut dyn FnMut(SqlError) -> SqlResult<()>,
) -> SqlResult<()> {
    lock(session, &*names::describe(session, oid)?, LockMode::AccessShare)?;
    let table = names::describe(session, oid)?;
    check_kind(&table)?;
    check_not_temporary(session, &table, &format!("Table \"{}\" is temporary.", table.name))?;
    let Some(heap) = &table.heap else { return Ok(()) };
    let access = session.engine().heap_access();
    let pages = session.engine().pool().nblocks(heap.desc.file, Fork::Main)?;
    let Some(last_page) = pages.checked_sub(1) else { return Ok(()) };
    let bound = |which: &str, asked: Option<i64>, default: u32| match asked {
        None => Ok(default),
        Some(n) if (0..=i64::from(last_page)).contains(&n) => Ok(n as u32),
        Some(_) => {
            Err(sql_err!(INVALID_PARAMETER_VALUE, "{which} block number must be between 0 and {last_page}"))
        }
    };
    let first = bound("starting", checks.first, 0)?;
    let last = bound("ending", checks.last, last_page)?;
    // Chunks stay as long as the rows that a snapshot sees.
    let _snapshot = session.engine().txns().snapshot();
    let oldest = oldest(session, oid, &table)?;
    let options = VerifyOptions { skip: checks.skip, toast: checks.toast, oldest };
    let mut verifier = Verifier::new(&access, heap, options);
    for block in first..=last {
        runtime::check_interrupts()?;
        match verifier.page(BlockNo(block)) {
            Ok(findings) if findings.is_empty() => {}
            Ok(findings) => {
                if !found(findings)? {
                    break;
                }
            }
            Err(HeapError::Interrupted(interrupt)) => return Err(interrupt.into()),
            Err(error) => on_error(error.into_sql())?,
        }
    }
    Ok(())
}

fn check_kind(table: &Table) -> SqlResult<()> {
    use RelationKind as K;
    match table.kind {
        K::Table | K::MaterializedView | K::Toast | K::Sequence => Ok(()),
        kind => Err(sql_err!(WRONG_OBJECT_TYPE, "cannot check relation \"{}\"", table.name)
            .detail(format!("This operation is not supported for {}.", plural(kind)))),
    }
}

/// The oldest ids that the table may have.
fn oldest(session: &Session, oid: Oid, table: &Table) -> SqlResult<OldestIds> {
    // The row of a sequence is frozen, and a temporary table's are its session's business. What one database notes of a table that all share is about its
    // own VACUUMs.
    if table.kind == RelationKind::Sequence
        || table.persistence == 't'
        || catalog::system::is_shared_relation(oid)
    {
        return Ok(OldestIds::default());
    }
    let noted = NotedIds::new(session.engine().txns());
    let database = noted_ids(session, &noted)?;
    let row = session.with_reader(|reader| {
        reader.find_one(&pg_class::TABLE, pg_class::PG_CLASS_OID_INDEX, &[oid.into()])
    })?;
    Ok(row.and_then(|(_, row)| noted.of_relation(&row, database)).unwrap_or_default())
}
