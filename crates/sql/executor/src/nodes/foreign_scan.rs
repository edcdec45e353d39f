//! Scans of foreign tables: rows come from the session, which knows the table's wrapper.
//!
//! PostgreSQL counterpart: `executor/nodeForeignscan.c`.

use std::any::Any;
use std::sync::Arc;

use base::{BlockNo, SqlError, SqlResult, Tid};
use catalog::Table;
use eval::code::Rows;
use eval::compile::{Inputs, RawRow};
use eval::cx::Cx;
use eval::node::tid_datum;
use plan::{ParamId, Plan, RelId};
use tuple::Datum;

use super::{BoxNode, Builder, Node, Projection};

/// A scan of a foreign table.
pub fn build(builder: &Builder<'_>, plan: &Plan, rel: RelId) -> SqlResult<BoxNode> {
    let relation = &builder.statement.relations[rel];
    let table = relation.table.clone();
    let table = table.ok_or_else(|| SqlError::internal("a foreign scan of no table"))?;
    let exprs = || plan.output.iter().chain(&plan.filter);
    let raw = RawRow::of(rel, exprs(), relation.columns.len());
    let projection = builder.projection(plan, Inputs::scan(&raw))?;
    let mut wanted = raw.read_by(exprs());
    wanted.resize(relation.columns.len(), false);
    Ok(Box::new(ForeignScan { table, wanted, raw, scan: None, ended: false, values: Vec::new(), projection }))
}

struct ForeignScan {
    table: Arc<Table>,
    /// The columns that are read.
    wanted: Vec<bool>,
    raw: RawRow,
    scan: Option<Box<dyn Any>>,
    /// The last row has been read.
    ended: bool,
    values: Vec<Datum>,
    projection: Projection,
}

impl ForeignScan {
    /// The row as the expressions expect it: its first columns, then system columns, which say nothing but the table's own.
    fn arrange(&mut self) {
        self.values.truncate(self.raw.upto);
        for column in &self.raw.system {
            self.values.push(match column {
                -1 => tid_datum(Tid { block: BlockNo(u32::MAX), offset: 0 }),
                -6 => Datum::Oid(self.table.oid.0),
                _ => Datum::Oid(0),
            });
        }
    }
}

impl Node for ForeignScan {
    fn next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        let session = cx.env.session;
        while !self.ended {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            let scan = match &mut self.scan {
                Some(scan) => scan,
                none => none.insert(session.begin_foreign(&self.table, &self.wanted)?),
            };
            self.values.clear();
            if !session.next_foreign(scan.as_mut(), &mut self.values)? {
                self.ended = true;
                break;
            }
            self.arrange();
            if self.projection.apply(Rows::one(&self.values), cx)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn row(&self) -> &[Datum] {
        self.projection.row()
    }

    fn rescan(&mut self, _cx: &mut Cx<'_>, _changed: &[ParamId]) -> SqlResult<()> {
        (self.scan, self.ended) = (None, false);
        Ok(())
    }

    fn close(&mut self, _cx: &mut Cx<'_>) {
        (self.scan, self.ended) = (None, false);
    }
}
