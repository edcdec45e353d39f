//! What planning is told of a foreign table by its wrapper, and the way to read it.

use std::rc::Rc;
use std::sync::Arc;

use base::{SqlError, SqlResult, sql_err};
use catalog::{RelationKind, Table};

use crate::cost::clamp_rows;
use crate::expr::{Expr, RelId};
use crate::joins::Search;
use crate::logical::Source;
use crate::path::{Path, PathKind, ScanKind};
use crate::plan::{Command, Cost};
use crate::planner::Planner;
use crate::selectivity;

/// The rows of a foreign table as its wrapper expects them.
#[derive(Clone, Debug)]
pub struct ForeignRows {
    /// How many there are.
    pub tuples: f64,
    /// Cost up to the first row.
    pub startup: f64,
    /// Cost of all of them, unfiltered.
    pub total: f64,
    /// What EXPLAIN tells of the scan.
    pub details: Arc<[ForeignDetail]>,
}

/// A line of EXPLAIN about a foreign scan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ForeignDetail {
    /// A label and what it says.
    Text(&'static str, String),
    /// A label and a number of bytes, shown with costs.
    Bytes(&'static str, i64),
}

impl Planner<'_> {
    /// What a table is to the planner.
    pub(crate) fn source_of(&self, table: &Table) -> SqlResult<Source> {
        Ok(match table.kind {
            RelationKind::ForeignTable => {
                Source::Foreign(self.context.statistics.foreign(table, self.context.settings)?)
            }
            _ => Source::Table,
        })
    }

    /// Rows of a table that is no tree.
    pub(crate) fn tuples_of(&self, rel: RelId, table: &Table) -> f64 {
        match &self.sources[rel] {
            Source::Foreign(rows) => rows.tuples,
            _ => self.context.statistics.table(table).tuples,
        }
    }
}

impl Search<'_, '_> {
    /// The one way to read a foreign table: all of its rows, filtered here.
    pub(crate) fn foreign_path(&self, rel: RelId, rows: &ForeignRows, filters: &[Expr]) -> Rc<Path> {
        let operators: f64 = filters.iter().map(Expr::operators).sum();
        let cost = Cost {
            startup: rows.startup,
            total: rows.total + self.planner.settings().cpu_operator_cost * operators * rows.tuples,
            rows: clamp_rows(rows.tuples * selectivity::conjunction(&*self.planner, filters)),
            width: self.width_of(rel),
        };
        let kind = PathKind::Scan(ScanKind::Whole { rel, filter: filters.to_vec(), keys: None });
        let outer = self.level.lateral.get(&rel).copied().unwrap_or_default();
        Rc::new(Path { outer, ..crate::scan::scan_path(rel, cost, kind) })
    }
}

/// Fails if a statement would change rows of a foreign table.
pub(crate) fn check_changeable(table: &Table, command: Command) -> SqlResult<()> {
    match table.kind {
        RelationKind::ForeignTable => Err(not_changeable(table, command)),
        _ => Ok(()),
    }
}

/// The error of changing rows of a foreign table: no wrapper that there is can.
pub fn not_changeable(table: &Table, command: Command) -> SqlError {
    let verb = match command {
        Command::Insert => "insert into",
        Command::Delete => "delete from",
        _ => "update",
    };
    sql_err!(FEATURE_NOT_SUPPORTED, "cannot {verb} foreign table \"{}\"", table.name)
}
