//! # What
//! LOCK TABLE.

use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::authority;
use catalog::system::pg_class;
use catalog::{CatalogView, RelationKind, Table};
use parse::ast::RangeVar;
use session::Session;
use txn::{LockMode, LockWait};

use super::{names, uses};

/// LOCK TABLE.
pub(crate) fn run(session: &Session, relations: &[RangeVar], mode: i32, nowait: bool) -> SqlResult<()> {
    let mode = LockMode::ALL.into_iter().find(|m| *m as i32 == mode);
    let mode = mode.ok_or_else(|| SqlError::internal("unknown lock mode"))?;
    if mode > LockMode::RowExclusive {
        session.refuse_in_recovery("LOCK TABLE")?;
    }
    let wait = if nowait { LockWait::NoWait } else { LockWait::Block };
    for name in relations {
        // Who may not lock a relation does not wait for it.
        if let Some(table) = names::lookup(session, name)? {
            check_kind(&table)?;
            names::check_right(session, &table, letters(mode))?;
        }
        let Some(table) = names::try_open_with(session, name, mode, wait)? else {
            return Err(names::missing(session, name)?);
        };
        check_kind(&table)?;
        if table.kind == RelationKind::View {
            lock_view(session, &table, (mode, wait), &mut vec![table.oid])?;
        }
        if name.inherit {
            lock_below(session, &table, mode, wait)?;
        }
    }
    Ok(())
}

fn check_kind(table: &Table) -> SqlResult<()> {
    match table.kind {
        RelationKind::Table | RelationKind::PartitionedTable | RelationKind::View => Ok(()),
        kind => Err(sql_err!(WRONG_OBJECT_TYPE, "cannot lock relation \"{}\"", table.name)
            .detail(format!("This operation is not supported for {}.", names::plural(kind)))),
    }
}

/// Locks the tables that inherit from one.
fn lock_below(session: &Session, table: &Table, mode: LockMode, wait: LockWait) -> SqlResult<()> {
    let mut seen = vec![table.oid];
    let mut queue = table.children.clone();
    while let Some(oid) = queue.pop() {
        runtime::check_interrupts().map_err(plan::interrupted)?;
        if seen.contains(&oid) {
            continue;
        }
        seen.push(oid);
        let Some(child) = session.with_reader(|r| r.relation_by_oid(oid))? else { continue };
        names::lock(session, &child, mode, wait)?;
        queue.extend(&child.children);
    }
    Ok(())
}

/// Locks the tables and views that a view reads, if the view's owner may (or the current user, with `security_invoker`).
fn lock_view(
    session: &Session,
    view: &Table,
    (mode, wait): (LockMode, LockWait),
    views: &mut Vec<Oid>,
) -> SqlResult<()> {
    let Some(text) = &view.view_query else { return Ok(()) };
    runtime::check_stack()?;
    let role = if view.bool_option("security_invoker") { session.names.user() } else { view.owner };
    let mut used = Vec::new();
    uses::of_query(&analyze::stored::load_query(text, session)?, &mut used);
    used.retain(|address| address.class == pg_class::TABLE.oid && address.sub == 0);
    for address in used {
        if views.contains(&address.object) {
            continue;
        }
        let table = names::describe(session, address.object)?;
        if !matches!(table.kind, RelationKind::Table | RelationKind::PartitionedTable | RelationKind::View) {
            continue;
        }
        let held = session.with_reader(|reader| reader.relation_rights(role, &table))?;
        if !held.has((types::acl::bits(letters(mode)), false)) {
            return Err(authority::denied(authority::relation_word(table.kind), &table.name));
        }
        names::lock(session, &table, mode, wait)?;
        match table.kind {
            RelationKind::View => {
                views.push(table.oid);
                lock_view(session, &table, (mode, wait), views)?;
            }
            _ => lock_below(session, &table, mode, wait)?,
        }
    }
    Ok(())
}

/// Privileges, any of which lets lock in a mode.
fn letters(mode: LockMode) -> &'static str {
    match mode {
        LockMode::AccessShare => "mwdDra",
        LockMode::RowShare | LockMode::RowExclusive => "mwdDa",
        _ => "mwdD",
    }
}
