//! # What
//! New values of a column in all rows of a table: rows in a new file ([`OldRows`]), in place for a new column that is generated, or in `pg_attribute` alone where every
//! row has the same.
//!
//! # Invariants
//! 1. For a new column triggers do not fire, and constraints that were there before are not asked: rows may break those that are NOT VALID.
//!
//! # Locks
//! The caller holds ACCESS EXCLUSIVE on the table.
//!
//! # PostgreSQL counterpart
//! `ATRewriteTable` of `commands/tablecmds.c`, `StoreAttrMissingVal` of `catalog/heap.c`.

use std::sync::Arc;

use analyze::Expr;
use analyze::query::RteKind;
use base::{Oid, SqlError, SqlResult};
use catalog::{Generated, RelationKind, Table};
use heap::{HeapDesc, HeapRel};
use parse::Statement;
use parse::ast;
use session::Session;
use tuple::Datum;
use types::Call;
use types::array::Array;

use super::create_as::Load;
use super::internal::{Internal, unsecure};
use super::{alter, names, rewrite};

/// Gives the rows of a table the values of a new column: its default, or what it is generated as.
pub(super) fn fill_new(session: &Session, oid: Oid, number: i16) -> SqlResult<()> {
    let table = names::describe(session, oid)?;
    if table.kind != RelationKind::Table {
        return Ok(());
    }
    let column = &table.columns[number as usize - 1];
    if column.generated == Generated::Stored {
        // Other generated columns may tell where the row is stored, as this one may: all are computed.
        return fill(session, &table, &column.name, false);
    }
    let format = session.format();
    let call = Call::new(&format).with_session(session);
    let Some(value) = analyze::column_default(&table, number, session, &call)? else { return Ok(()) };
    let planned = session.with_planner(session, |cx| plan::convert_expression(&value, cx))?;
    if is_null(&planned) {
        return Ok(());
    }
    if planned.is_volatile() || matches!(planned, plan::Expr::ToDomain { .. }) {
        return OldRows::plan(session, &table, number, value)?.rewrite(session, oid);
    }
    set_missing(session, &table, number, session.evaluate(&value)?)
}

/// Rows that do not store a column have this value there from now on.
pub(super) fn set_missing(session: &Session, table: &Table, number: i16, value: Datum) -> SqlResult<()> {
    if value.is_null() {
        return Ok(());
    }
    let format = session.format();
    let call = Call::new(&format).with_session(session);
    let type_oid = table.columns[number as usize - 1].type_oid;
    let list = Array::from_values(type_oid, vec![value], &call)?.to_datum();
    session.with_changer(|changer| changer.set_missing(table.oid, number, list))
}

/// Whether this is NULL, of whatever type.
fn is_null(expr: &plan::Expr) -> bool {
    match expr {
        plan::Expr::Relabel { arg, .. } => is_null(arg),
        plan::Expr::Const { value, .. } => value.is_null(),
        _ => false,
    }
}

/// `UPDATE ONLY t SET column = DEFAULT`; unless `checked`, as if the table had neither triggers nor constraints.
pub(super) fn fill(session: &Session, table: &Table, column: &str, checked: bool) -> SqlResult<()> {
    let of = ast::TargetColumn { name: column.to_owned(), steps: Vec::new(), location: ast::Location::NONE };
    let value = ast::Expr::Default { location: ast::Location::NONE };
    let update = Statement::Update(Box::new(ast::Update {
        with: None,
        relation: alter::range(table),
        assignments: vec![ast::Assignment::Single(of, value)],
        from: Vec::new(),
        filter: None,
        returning: ast::Returning::default(),
    }));
    let format = session.format();
    let call = Call::new(&format).with_session(session);
    let mut analyzed = analyze::analyze_beyond_rules(&update, "", analyze::ParamTypes::None, session, &call)?;
    unsecure(&mut analyzed.query);
    for entry in &mut analyzed.query.range_table {
        if let RteKind::Relation(relation) = &mut entry.kind {
            relation.table = untold(&relation.table);
            if !checked {
                relation.table = unconstrained(&relation.table);
            }
        }
    }
    Internal::planned(session, &analyzed)?.run(session, &[], &mut |_| Ok(()))?;
    session.next_command()
}

/// The table as who writes its rows anew has it: decoders of the log are told of changes, and the rows are the same.
fn untold(table: &Arc<Table>) -> Arc<Table> {
    let (Some(heap), true) = (&table.heap, table.logged.is_some()) else { return table.clone() };
    let mut desc = HeapDesc { logged: None, ..heap.desc.clone() };
    if let Some(toast) = &mut desc.toast {
        toast.rel = Arc::new(HeapRel::new(HeapDesc { logged: None, ..toast.rel.desc.clone() }));
    }
    let mut table = (**table).clone();
    table.heap = Some(Arc::new(HeapRel::new(desc)));
    Arc::new(table)
}

/// The table without what a new row is to pass.
fn unconstrained(table: &Table) -> Arc<Table> {
    let mut table = table.clone();
    table.checks.clear();
    table.triggers.clear();
    table.columns.iter_mut().for_each(|column| column.not_null = false);
    Arc::new(table)
}

/// A plan over the old rows: the values of the live columns.
pub(super) struct OldRows {
    internal: Internal,
    /// Where each value of a row goes.
    places: Vec<usize>,
    width: usize,
}

impl OldRows {
    /// Plans it, with another value in the column with this number.
    pub(super) fn plan(session: &Session, table: &Table, number: i16, value: Expr) -> SqlResult<OldRows> {
        let kept = |column: &catalog::Column| !column.dropped && !analyze::computed::is_virtual(column);
        let live: Vec<usize> = (0..table.columns.len()).filter(|&i| kept(&table.columns[i])).collect();
        let select = alter::select_columns(table, live.iter().map(|&i| table.columns[i].name.as_str()));
        let format = session.format();
        let call = Call::new(&format).with_session(session);
        let none = analyze::ParamTypes::None;
        let mut analyzed = analyze::analyze_beyond_rules(&select, "", none, session, &call)?;
        unsecure(&mut analyzed.query);
        if let Some(i) = live.iter().position(|&i| i == number as usize - 1) {
            analyzed.query.targets[i].expr = value;
        }
        let internal = Internal::planned(session, &analyzed)?;
        Ok(OldRows { internal, places: live, width: table.columns.len() })
    }

    /// Writes the rows to a new file, and makes the table's indexes anew.
    pub(super) fn rewrite(mut self, session: &Session, oid: Oid) -> SqlResult<()> {
        let before = names::describe(session, oid)?;
        let mut row = vec![Datum::Null; self.width];
        let places = std::mem::take(&mut self.places);
        replace(session, &before, &mut |load| {
            let each = &mut |values: &[Datum]| {
                for (&place, value) in places.iter().zip(values) {
                    row[place] = value.clone();
                }
                load.put(&row)
            };
            self.internal.run(session, &[], each).map(drop)
        })
        .map(drop)
    }
}

/// Gives a table new files with the rows that `produce` puts there, and makes its indexes again. Returns the number of rows.
pub(super) fn replace(
    session: &Session,
    before: &Table,
    produce: &mut dyn FnMut(&mut Load<'_>) -> SqlResult<()>,
) -> SqlResult<u64> {
    session.with_changer(|changer| {
        changer.new_file(before.oid)?;
        changer.clear_missing(before.oid)?;
        if before.toast.is_valid() {
            changer.new_file(before.toast)?;
        }
        Ok::<_, SqlError>(())
    })?;
    if before.toast.is_valid() {
        new_trees(session, before.toast)?;
    }
    let table = names::describe(session, before.oid)?;
    let mut load = Load::new(session, untold(&table))?;
    produce(&mut load)?;
    let rows = load.finish()?;
    table.indexes.iter().try_for_each(|index| rewrite::rebuild(session, &table, index))?;
    Ok(rows)
}

/// New empty trees for a TOAST table's index.
fn new_trees(session: &Session, oid: Oid) -> SqlResult<()> {
    let toast = names::describe(session, oid)?;
    session.with_changer(|changer| {
        for index in &toast.indexes {
            changer.new_file(index.oid)?;
            changer.create_empty_index(index.oid)?;
        }
        Ok(())
    })
}
