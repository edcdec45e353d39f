//! # What
//! VACUUM and ANALYZE as statements: the list of tables, and one transaction for each.
//!
//! # Layout
//! `asked`: the options. `maintenance`: one table, for statements and for autovacuum. `table`: VACUUM of one heap. `parallel`: passes over its indexes. `pace`: pauses. `report`: messages.
//!
//! # Locks
//! ACCESS SHARE for a moment on each named table, which waits for transactions that drop or rename it. For the rest see `maintenance`.
//!
//! # PostgreSQL counterpart
//! `commands/vacuum.c`.

mod asked;
mod maintenance;
mod pace;
mod parallel;
mod report;
mod table;

use std::sync::Arc;

use base::{Oid, SqlResult, SqlState, sql_err};
use catalog::system::pg_class;
use catalog::{RowExt, Table};
use parse::ast::{RangeVar, Vacuum, VacuumRelation};
use session::Session;
use session::output::Output;
use txn::{BlockState, LockMode, LockWait};

use super::{analyze, names, oldest_ids};
use asked::{Asked, read};
pub(crate) use maintenance::skipped_locked;
pub use maintenance::{FreezeAges, Maintenance};
use maintenance::{analyze_named, rewrite_named, vacuum_named, warn_locked};
pub use pace::Budget;
pub(crate) use pace::Pace;
pub(crate) use report::Effort;
pub use report::{AnalyzeReport, Used, VacuumReport};
pub(crate) use table::full_name;

/// A table to go through, with the columns named for ANALYZE.
struct Item {
    oid: Oid,
    columns: Vec<String>,
    named: bool,
}

/// VACUUM or ANALYZE.
pub(crate) fn run(session: &Session, statement: &Vacuum, text: &str, out: &mut dyn Output) -> SqlResult<()> {
    let asked = read(statement, text)?;
    if asked.vacuum {
        session.prevent_in_block("VACUUM")?;
    }
    if !asked.analyze && statement.relations.iter().any(|r| !r.columns.is_empty()) {
        return Err(sql_err!(
            FEATURE_NOT_SUPPORTED,
            "ANALYZE option must be specified when a column list is provided"
        ));
    }
    if asked.only_database_stats {
        return oldest_ids::settle(session);
    }
    let how = asked.maintenance(session);
    let own = asked.vacuum || session.txn.borrow().state() == BlockState::Started;
    for Item { oid, columns, named } in targets(session, &statement.relations, &asked)? {
        if own {
            session.next_transaction()?;
        }
        // What could not be vacuumed is not analysed either.
        let done = match (asked.vacuum, asked.full) {
            (false, _) => true,
            (true, true) => rewrite_named(session, oid, &how, named)?,
            (true, false) => vacuum_named(session, oid, &how, named)?.is_some(),
        };
        if asked.analyze && done {
            if asked.vacuum {
                session.next_transaction()?;
            }
            analyze_named(session, oid, &columns, (&how, named))?;
        }
        session.send_notices(out);
    }
    if asked.vacuum && asked.database_stats {
        session.next_transaction()?;
        oldest_ids::settle(session)?;
    }
    Ok(())
}

/// The tables to go through. Nobody is waited for to go through a named one that the user may not.
fn targets(session: &Session, named: &[VacuumRelation], asked: &Asked) -> SqlResult<Vec<Item>> {
    let mut targets = Vec::new();
    for target in named {
        let verb = if asked.vacuum { "vacuum" } else { "analyze" };
        let Some(table) = find(session, &target.relation, (asked, verb))? else { continue };
        if analyze::may(session, &table, verb)? {
            targets.push(Item { oid: table.oid, columns: target.columns.clone(), named: true });
        }
        if target.relation.inherit {
            add_children(session, &table, &target.columns, &mut targets)?;
        }
    }
    if !named.is_empty() {
        return Ok(targets);
    }
    let rows = session.with_reader(|reader| reader.scan(&pg_class::TABLE))?;
    for (_, row) in rows {
        if matches!(row.char(pg_class::RELKIND), b'r' | b'm') {
            targets.push(Item { oid: row.oid(pg_class::OID), columns: Vec::new(), named: false });
        }
    }
    Ok(targets)
}

/// The table with this name once nobody alters it; none if that is not waited for. The lock is not kept: each table is gone through in a
/// transaction of its own.
fn find(session: &Session, name: &RangeVar, (asked, verb): (&Asked, &str)) -> SqlResult<Option<Arc<Table>>> {
    let mode = LockMode::AccessShare;
    let wait = if asked.skip_locked { LockWait::NoWait } else { LockWait::Block };
    match names::try_open_with(session, name, mode, wait) {
        Ok(Some(table)) => {
            session.txn.borrow_mut().unlock(session.catalog.lock_tag(table.oid), mode);
            Ok(Some(table))
        }
        Ok(None) => Err(names::missing(session, name)?),
        Err(error) if asked.skip_locked && error.code() == SqlState::LOCK_NOT_AVAILABLE => {
            warn_locked(session, verb, &name.name);
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// The partitions of a table, or what inherits it, are meant too.
fn add_children(
    session: &Session,
    table: &Table,
    columns: &[String],
    targets: &mut Vec<Item>,
) -> SqlResult<()> {
    for &oid in &table.children {
        runtime::check_interrupts().map_err(plan::interrupted)?;
        targets.push(Item { oid, columns: columns.to_vec(), named: false });
        if let Some(child) = session.with_reader(|r| catalog::CatalogView::relation_by_oid(r, oid))? {
            add_children(session, &child, columns, targets)?;
        }
    }
    Ok(())
}
