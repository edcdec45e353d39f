//! # What
//! ON COMMIT of temporary tables: which are emptied or dropped when a transaction commits.
//!
//! # Invariants
//! 1. The list has the tables that the session made and that a committed transaction has not dropped. What the running transaction does to
//!    it is undone with the transaction, or with its part that made the table.
//!
//! # PostgreSQL counterpart
//! `PreCommit_on_commit_actions` of `commands/tablecmds.c`.

use std::sync::Arc;

use base::{Oid, SqlResult, sql_err};
use catalog::change::{Behavior, ObjectAddress};
use catalog::{CatalogView, Table};
use parse::ast::OnCommit;
use session::Session;
use txn::{End, Phase};

use super::{names, truncate};

/// Notes what is to become of a new table.
pub(super) fn register(session: &Session, relation: Oid, wanted: OnCommit) {
    if matches!(wanted, OnCommit::DeleteRows | OnCommit::Drop) {
        session.on_commit.borrow_mut().push((relation, wanted));
        forget_at(session, relation, End::Abort);
    }
}

/// Takes a table off the list if the transaction ends like this.
fn forget_at(session: &Session, relation: Oid, when: End) {
    let tables = session.on_commit.clone();
    let forget = move |end| {
        if end == when {
            tables.borrow_mut().retain(|(oid, _)| *oid != relation);
        }
    };
    session.txn.borrow_mut().on_end(Phase::AfterLocks, Box::new(forget));
}

/// Before a commit. A transaction that wrote nothing has left nothing to be emptied.
pub(crate) fn apply(session: &Session) -> SqlResult<()> {
    if session.txn.borrow().top_xid_if_assigned().is_none() || session.on_commit.borrow().is_empty() {
        return Ok(());
    }
    let (mut emptied, mut dropped) = (Vec::new(), Vec::new());
    let tables = session.on_commit.borrow().clone();
    for (oid, wanted) in tables {
        match (session.relation_by_oid(oid)?, wanted) {
            (None, _) => forget_at(session, oid, End::Commit),
            (Some(_), OnCommit::Drop) => {
                dropped.push(ObjectAddress::relation(oid));
                forget_at(session, oid, End::Commit);
            }
            (Some(table), _) => emptied.push(table),
        }
    }
    check_keys(session, &emptied)?;
    for table in &emptied {
        if has_pages(session, table)? {
            truncate::one(session, table)?;
        }
    }
    if !dropped.is_empty() {
        session.with_changer(|changer| changer.drop_objects(&dropped, Behavior::Cascade))?;
    }
    Ok(())
}

fn has_pages(session: &Session, table: &Table) -> SqlResult<bool> {
    let Some(heap) = &table.heap else { return Ok(false) };
    Ok(session.blocks(heap.desc.file)? > 0)
}

/// Rows that refer to some that go must go with them.
fn check_keys(session: &Session, emptied: &[Arc<Table>]) -> SqlResult<()> {
    for table in emptied {
        for key in session.with_reader(|reader| reader.foreign_keys_to(table.oid))? {
            if emptied.iter().any(|other| other.oid == key.table) {
                continue;
            }
            let other = names::describe(session, key.table)?;
            return Err(sql_err!(FEATURE_NOT_SUPPORTED, "unsupported ON COMMIT and foreign key combination")
                .detail(format!(
                    "Table \"{}\" references \"{}\", but they do not have the same ON COMMIT setting.",
                    other.name, table.name
                )));
        }
    }
    Ok(())
}
