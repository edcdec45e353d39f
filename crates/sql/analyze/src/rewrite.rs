//! Completes INSERT, UPDATE, DELETE and MERGE: defaults, assignments to parts of one column, views as targets.
//!
//! What: analysis gives INSERT, UPDATE and MERGE as they were written. [`load`] and the analyzer's `rewrite` make of that what can be
//! planned, by the definitions of now: a function's body that is stored as written follows new defaults and new views.
//!
//! Invariants:
//! 1. A query is rewritten once; what it holds then is what [`crate::query`] promises.
//! 2. Columns that only the server may fill are looked at here, after all types have been.
//!
//! PostgreSQL counterpart: `rewriteTargetListIU` and `rewriteValuesRTE` of `rewriteHandler.c`.

use std::sync::Arc;

use base::{SqlError, SqlResult, sql_err};
use catalog::view::{CatalogView, Column, Generated, Identity, RelationKind, Table};

use crate::ParamTypes;
use crate::core::Analyzer;
use crate::expr::{Expr, TargetEntry};
use crate::query::{Command, Overriding, Query, RangeTableEntry, RteKind, Values};

/// A statement of a function's body, as [`crate::stored::store_query`] wrote what [`crate::analyze_body`] made of it, for planning.
pub fn load(text: &str, catalog: &dyn CatalogView, call: &types::Call<'_>) -> SqlResult<Query> {
    let mut query = crate::stored::load_query(text, catalog)?;
    crate::views::refresh(&mut query, catalog)?;
    Analyzer::new("", ParamTypes::None, catalog, call).rewrite_all(&mut query)?;
    Ok(query)
}

impl Analyzer<'_> {
    /// Rewrites a query and those of its WITH.
    fn rewrite_all(&mut self, query: &mut Query) -> SqlResult<()> {
        query.ctes.iter_mut().try_for_each(|cte| self.rewrite_all(&mut cte.query))?;
        self.rewrite(query)
    }

    /// Fills in what a change leaves open.
    pub(crate) fn rewrite(&mut self, query: &mut Query) -> SqlResult<()> {
        let Some(table) = target_table(query) else { return Ok(()) };
        let targets = std::mem::take(&mut query.targets);
        let what = (query.command, query.overriding);
        query.targets = self.complete(&table, targets, what, &mut query.range_table)?;
        if let Some(update) = query.on_conflict.as_mut().and_then(|c| c.update.as_mut()) {
            update.targets = self.complete_assignments(&table, std::mem::take(&mut update.targets))?;
        }
        for action in &mut query.merge_actions {
            let targets = std::mem::take(&mut action.targets);
            let what = (action.command, action.overriding);
            action.targets = self.complete(&table, targets, what, &mut query.range_table)?;
        }
        self.change_through_views(query)
    }

    /// What a query or an action of MERGE writes.
    fn complete(
        &mut self,
        table: &Table,
        given: Vec<TargetEntry>,
        (command, overriding): (Command, Overriding),
        entries: &mut [RangeTableEntry],
    ) -> SqlResult<Vec<TargetEntry>> {
        match command {
            Command::Insert => self.complete_row(table, given, overriding, entries),
            Command::Update => self.complete_assignments(table, given),
            _ => Ok(given),
        }
    }

    /// The row that an INSERT stores: what is given, in the order of the columns, and defaults for the rest.
    pub(crate) fn complete_row(
        &mut self,
        table: &Table,
        given: Vec<TargetEntry>,
        overriding: Overriding,
        entries: &mut [RangeTableEntry],
    ) -> SqlResult<Vec<TargetEntry>> {
        let mut by_column: Vec<Option<Expr>> = vec![None; table.columns.len()];
        for target in given {
            let slot = &mut by_column[target.resno as usize - 1];
            *slot = Some(match slot.take() {
                None => target.expr,
                Some(before) => combine(before, target.expr),
            });
        }
        let mut out = Vec::with_capacity(table.columns.len());
        for (i, given) in by_column.into_iter().enumerate().filter(|(i, _)| !table.columns[*i].dropped) {
            let attno = i as i16 + 1;
            let stored = match given {
                Some(expr) if !matches!(expr, Expr::Default(_)) => {
                    self.given_value(table, attno, expr, overriding, entries)?
                }
                _ => self.filled_in(table, attno)?,
            };
            let name = || Some(table.columns[i].name.clone());
            out.extend(stored.map(|expr| crate::target::entry(expr, attno, name(), false)));
        }
        Ok(out)
    }

    /// What becomes of a value that is given for a column: nothing, if the server computes that.
    fn given_value(
        &mut self,
        table: &Table,
        attno: i16,
        expr: Expr,
        overriding: Overriding,
        entries: &mut [RangeTableEntry],
    ) -> SqlResult<Option<Expr>> {
        let column = &table.columns[attno as usize - 1];
        let own = overriding == Overriding::User && column.identity != Identity::None;
        let written = match rows_of(&expr, entries) {
            Some((values, at)) => self.fill_rows(table, attno, values, (at, own))?,
            None => true,
        };
        if written {
            check_insertable(column, overriding)?;
        }
        match (column.generated, own) {
            (Generated::None, false) => Ok(Some(expr)),
            (Generated::None, true) => self.filled_in(table, attno),
            _ => Ok(None),
        }
    }

    /// Puts the default of a column in place of DEFAULT in rows of VALUES, or of all values if the column is the server's `own`. Whether a
    /// value other than DEFAULT was written.
    fn fill_rows(
        &mut self,
        table: &Table,
        attno: i16,
        values: &mut Values,
        (at, own): (usize, bool),
    ) -> SqlResult<bool> {
        let is_open = |value: &Expr| matches!(value, Expr::Default(_));
        let written = values.rows.iter().any(|row| !is_open(&row[at]));
        // A column that is not given gets the default of the table below the view.
        let default = match self.filled_in(table, attno)? {
            None if table.kind == RelationKind::View => return Ok(written),
            None => null_of(table, attno),
            Some(default) => default,
        };
        for value in values.rows.iter_mut().map(|row| &mut row[at]) {
            if own || is_open(value) {
                value.clone_from(&default);
            }
        }
        Ok(written)
    }

    /// The list of an UPDATE: one entry a column, defaults put in, without columns that the server computes.
    fn complete_assignments(
        &mut self,
        table: &Table,
        given: Vec<TargetEntry>,
    ) -> SqlResult<Vec<TargetEntry>> {
        let mut out: Vec<TargetEntry> = Vec::with_capacity(given.len());
        for target in given {
            match out.iter().position(|t| !target.junk && t.resno == target.resno) {
                None => out.push(target),
                Some(at) if is_partial(&out[at].expr) && is_partial(&target.expr) => {
                    let before = out.remove(at);
                    out.push(TargetEntry { expr: combine(before.expr, target.expr), ..target });
                }
                Some(_) => {
                    let name = &table.columns[target.resno as usize - 1].name;
                    return Err(sql_err!(SYNTAX_ERROR, "multiple assignments to same column \"{name}\""));
                }
            }
        }
        for target in out.iter_mut().filter(|t| !t.junk) {
            if matches!(target.expr, Expr::Default(_)) {
                target.expr =
                    self.filled_in(table, target.resno)?.unwrap_or_else(|| null_of(table, target.resno));
            } else {
                check_updatable(&table.columns[target.resno as usize - 1])?;
            }
        }
        let computed = |t: &TargetEntry| table.columns[t.resno as usize - 1].generated != Generated::None;
        out.retain(|t| t.junk || !computed(t));
        Ok(out)
    }

    /// A column's default, ready to be stored; `None` for null.
    fn filled_in(&mut self, table: &Table, attno: i16) -> SqlResult<Option<Expr>> {
        let mut default = self.column_default(table, attno)?;
        default.iter_mut().try_for_each(|expr| crate::collate::assign(self, expr))?;
        Ok(default)
    }
}

/// The relation that a statement changes, as its target names it.
fn target_table(query: &Query) -> Option<Arc<Table>> {
    match &query.range_table.get(query.target?)?.kind {
        RteKind::Relation(r) => Some(r.table.clone()),
        _ => None,
    }
}

/// The rows of VALUES that an expression is a column of, and which.
fn rows_of<'e>(expr: &Expr, entries: &'e mut [RangeTableEntry]) -> Option<(&'e mut Values, usize)> {
    let Expr::Var(var) = expr else { return None };
    match &mut entries.get_mut(var.rte)?.kind {
        RteKind::Values(values) => Some((values, usize::try_from(var.attno - 1).ok()?)),
        _ => None,
    }
}

/// Whether a value assigns to a field or an element only.
pub(crate) fn is_partial(expr: &Expr) -> bool {
    match expr {
        Expr::Subscript(s) => s.assign.is_some(),
        Expr::FieldStore(_) => true,
        Expr::ToDomain(d) => is_partial(&d.arg),
        _ => false,
    }
}

/// What an assignment to a part of a column puts there.
pub(crate) fn take_value(e: &mut Expr) -> Expr {
    match e {
        Expr::Subscript(s) if s.assign.is_some() => take_value(s.assign.as_mut().unwrap_or(&mut s.arg)),
        Expr::FieldStore(f) if !f.fields.is_empty() => take_value(&mut f.fields[0].1),
        Expr::ToDomain(d) if is_partial(&d.arg) => take_value(&mut d.arg),
        value => std::mem::replace(value, crate::coerce::bool_const(true)),
    }
}

/// Combines two assignments to parts of one column: the second is applied to the result of the first.
fn combine(before: Expr, mut after: Expr) -> Expr {
    replace_innermost(&mut after, before);
    after
}

fn replace_innermost(e: &mut Expr, with: Expr) {
    match e {
        Expr::Subscript(s) if s.assign.is_some() => replace_innermost(&mut s.arg, with),
        Expr::FieldStore(f) => replace_innermost(&mut f.arg, with),
        Expr::ToDomain(d) if is_partial(&d.arg) => replace_innermost(&mut d.arg, with),
        other => *other = with,
    }
}

/// Refuses a value for a column that only the server may fill.
fn check_insertable(c: &Column, overriding: Overriding) -> SqlResult<()> {
    let cannot =
        || sql_err!(GENERATED_ALWAYS, "cannot insert a non-DEFAULT value into column \"{}\"", c.name);
    if c.generated != Generated::None {
        return Err(cannot().detail(format!("Column \"{}\" is a generated column.", c.name)));
    }
    if c.identity == Identity::Always && overriding == Overriding::None {
        return Err(cannot()
            .detail(format!("Column \"{}\" is an identity column defined as GENERATED ALWAYS.", c.name))
            .hint("Use OVERRIDING SYSTEM VALUE to override."));
    }
    Ok(())
}

/// Refuses to update a column that only the server may fill, but by DEFAULT.
pub(crate) fn check_updatable(c: &Column) -> SqlResult<()> {
    let detail = if c.generated != Generated::None {
        format!("Column \"{}\" is a generated column.", c.name)
    } else if c.identity == Identity::Always {
        format!("Column \"{}\" is an identity column defined as GENERATED ALWAYS.", c.name)
    } else {
        return Ok(());
    };
    let error: SqlError = sql_err!(GENERATED_ALWAYS, "column \"{}\" can only be updated to DEFAULT", c.name);
    Err(error.detail(detail))
}

/// A null of a column's type.
pub(crate) fn null_of(table: &Table, attno: i16) -> Expr {
    let c = &table.columns[attno as usize - 1];
    crate::expr_transform::typed_null(c.type_oid, c.typmod, c.collation)
}
