//! Scans of what is no table: VALUES, functions, subqueries, common table expressions, work tables.

use base::{Oid, SqlError, SqlResult};
use plan::{Expr, ParamId, Plan, RelId};
use tuple::Datum;
use types::registry::SetRows;
use types::{Function, Imp};

use super::{BoxNode, Builder, Node, Projection};
use crate::compile::{Inputs, RawRow};
use crate::cx::Cx;
use crate::eval::{Code, Rows};

/// The relation's columns in order: how rows of these scans are laid out.
fn raw_row(builder: &Builder<'_>, rel: RelId) -> RawRow {
    RawRow { rel, upto: builder.statement.relations[rel].columns.len(), system: Vec::new(), start: 0 }
}

/// VALUES.
pub fn values(builder: &Builder<'_>, plan: &Plan, rel: RelId, rows: &[Vec<Expr>]) -> SqlResult<BoxNode> {
    let raw = raw_row(builder, rel);
    let projection = builder.projection(plan, Inputs::scan(&raw))?;
    let compiler = builder.compiler();
    let rows = rows.iter().map(|row| compiler.list(row, Inputs::default())).collect::<SqlResult<_>>()?;
    Ok(Box::new(ValuesScan { rows, at: 0, values: Vec::new(), projection }))
}

struct ValuesScan {
    rows: Vec<Box<[Code]>>,
    at: usize,
    values: Vec<Datum>,
    projection: Projection,
}

impl Node for ValuesScan {
    fn next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        while let Some(row) = self.rows.get(self.at) {
            self.at += 1;
            crate::eval::project(row, Rows::one(&[]), cx, &mut self.values)?;
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
        self.at = 0;
        Ok(())
    }

    fn close(&mut self, _cx: &mut Cx<'_>) {
        self.at = 0;
    }
}

/// A call of a set-returning (or any other) function, row by row.
pub struct SetCall {
    function: &'static Function,
    args: Box<[Code]>,
    types: Box<[Oid]>,
    result: Oid,
    collation: Oid,
    variadic: bool,
    /// Columns of its rows, where the query says them.
    columns: Box<[types::call::ResultColumn]>,
}

impl SetCall {
    /// Compiles a call.
    pub fn new(builder: &Builder<'_>, call: &plan::Call, inputs: Inputs<'_>) -> SqlResult<SetCall> {
        Ok(SetCall {
            function: call.function,
            args: builder.compiler().list(&call.args, inputs)?,
            types: call.args.iter().map(Expr::type_oid).collect(),
            result: call.type_oid,
            collation: call.collation,
            variadic: call.variadic,
            columns: Box::default(),
        })
    }

    /// Starts the call: its rows.
    pub fn start(&self, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<Box<dyn SetRows>> {
        let mut args = Vec::with_capacity(self.args.len());
        for code in &self.args {
            args.push(code.eval(rows, cx)?);
        }
        if self.function.strict && args.iter().any(Datum::is_null) {
            // A function that is no set gives a row of NULLs.
            let rows = if self.function.retset { Vec::new() } else { vec![Vec::new()] };
            return Ok(Box::new(List(rows.into_iter())));
        }
        let mut call = cx.call(&self.types, self.result, self.collation, self.variadic);
        call.columns = &self.columns;
        match self.function.imp {
            Imp::Set(start) => start(&call, &args),
            Imp::Session(id) => Ok(Box::new(List(cx.session.call_set(id, &call, &args)?.into_iter()))),
            _ => Err(SqlError::not_supported(format!("function {}() in FROM", self.function.name))),
        }
    }
}

/// Rows made before.
struct List(std::vec::IntoIter<Vec<Datum>>);

impl SetRows for List {
    fn next(&mut self, row: &mut Vec<Datum>) -> SqlResult<bool> {
        match self.0.next() {
            Some(next) => {
                *row = next;
                Ok(true)
            }
            None => Ok(false),
        }
    }
}

/// Whether the session answers with the columns of one row.
fn session_record(function: &Function) -> bool {
    matches!(function.imp, Imp::Session(_)) && function.out_columns().nth(1).is_some()
}

/// The columns that a column definition list gives a relation.
fn defined_columns(builder: &Builder<'_>, rel: RelId, count: usize) -> Box<[types::call::ResultColumn]> {
    let columns = builder.statement.relations[rel].columns.iter().take(count);
    columns
        .map(|column| types::call::ResultColumn {
            name: column.name.to_string(),
            type_oid: column.type_oid,
            typmod: column.typmod,
        })
        .collect()
}

enum Source {
    Set(SetCall),
    Scalar(Code),
}

/// Functions in FROM, side by side.
pub fn function(
    builder: &Builder<'_>,
    plan: &Plan,
    rel: RelId,
    calls: &[Expr],
    ordinality: bool,
) -> SqlResult<BoxNode> {
    let raw = raw_row(builder, rel);
    let projection = builder.projection(plan, Inputs::scan(&raw))?;
    let compiler = builder.compiler();
    let mut sources = Vec::new();
    let columns = raw.upto - usize::from(ordinality);
    for call in calls {
        let source = match call {
            Expr::Call(c)
                if c.function.retset
                    || session_record(c.function)
                    || matches!(c.function.imp, Imp::Set(_)) =>
            {
                let mut set = SetCall::new(builder, c, Inputs::default())?;
                if c.type_oid == types::oids::record && c.function.all_args.is_empty() {
                    if calls.len() > 1 {
                        return Err(SqlError::not_supported("a column definition list within ROWS FROM"));
                    }
                    set.columns = defined_columns(builder, rel, columns);
                }
                Source::Set(set)
            }
            other => Source::Scalar(compiler.expr(other, Inputs::default())?),
        };
        let width = match call {
            _ if calls.len() == 1 => columns,
            Expr::Call(c) => c.function.out_columns().count().max(1),
            _ => 1,
        };
        sources.push((source, width));
    }
    Ok(Box::new(FunctionScan {
        sources,
        ordinality,
        running: None,
        count: 0,
        values: Vec::new(),
        projection,
    }))
}

struct FunctionScan {
    sources: Vec<(Source, usize)>,
    ordinality: bool,
    running: Option<Vec<Option<Box<dyn SetRows>>>>,
    count: i64,
    values: Vec<Datum>,
    projection: Projection,
}

impl FunctionScan {
    fn start(&mut self, cx: &mut Cx<'_>) -> SqlResult<()> {
        let mut running: Vec<Option<Box<dyn SetRows>>> = Vec::new();
        for (source, _) in &self.sources {
            running.push(Some(match source {
                Source::Set(call) => call.start(Rows::one(&[]), cx)?,
                Source::Scalar(code) => {
                    let value = code.eval(Rows::one(&[]), cx)?;
                    Box::new(List(vec![vec![value]].into_iter()))
                }
            }));
        }
        self.running = Some(running);
        self.count = 0;
        Ok(())
    }

    fn fill(&mut self) -> SqlResult<bool> {
        let Some(running) = &mut self.running else { return Ok(false) };
        self.values.clear();
        let mut any = false;
        let mut row = Vec::new();
        for (slot, (_, width)) in running.iter_mut().zip(&self.sources) {
            let has = match slot {
                Some(rows) => rows.next(&mut row)?,
                None => false,
            };
            if has {
                any = true;
                row.resize(*width, Datum::Null);
                self.values.append(&mut row);
            } else {
                *slot = None;
                self.values.extend(std::iter::repeat_n(Datum::Null, *width));
            }
        }
        self.count += 1;
        if self.ordinality {
            self.values.push(Datum::Int8(self.count));
        }
        Ok(any)
    }
}

impl Node for FunctionScan {
    fn next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        if self.running.is_none() {
            self.start(cx)?;
        }
        loop {
            runtime::check_interrupts().map_err(crate::error::interrupted)?;
            if !self.fill()? {
                return Ok(false);
            }
            if self.projection.apply(Rows::one(&self.values), cx)? {
                return Ok(true);
            }
        }
    }

    fn row(&self) -> &[Datum] {
        self.projection.row()
    }

    fn rescan(&mut self, _cx: &mut Cx<'_>, _changed: &[ParamId]) -> SqlResult<()> {
        self.running = None;
        Ok(())
    }

    fn close(&mut self, _cx: &mut Cx<'_>) {
        self.running = None;
    }
}

/// A subquery: its columns by position.
pub fn subquery<'p>(
    builder: &mut Builder<'p>,
    plan: &Plan,
    rel: RelId,
    child: &'p Plan,
) -> SqlResult<BoxNode> {
    let raw = raw_row(builder, rel);
    let projection = builder.projection(plan, Inputs::scan(&raw))?;
    Ok(Box::new(SubqueryScan { child: builder.build(child)?, projection }))
}

struct SubqueryScan {
    child: BoxNode,
    projection: Projection,
}

impl Node for SubqueryScan {
    fn next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        while self.child.next(cx)? {
            if self.projection.apply(Rows::one(self.child.row()), cx)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn row(&self) -> &[Datum] {
        self.projection.row()
    }

    fn rescan(&mut self, cx: &mut Cx<'_>, changed: &[ParamId]) -> SqlResult<()> {
        self.child.rescan(cx, changed)
    }

    fn close(&mut self, cx: &mut Cx<'_>) {
        self.child.close(cx);
    }
}

/// A reference to a common table expression: all references read the rows that the first has fetched.
pub fn cte(builder: &Builder<'_>, plan: &Plan, rel: RelId, subplan: usize) -> SqlResult<BoxNode> {
    let raw = raw_row(builder, rel);
    let projection = builder.projection(plan, Inputs::scan(&raw))?;
    Ok(Box::new(CteScan { subplan, at: 0, projection }))
}

struct CteScan {
    subplan: usize,
    at: usize,
    projection: Projection,
}

impl Node for CteScan {
    fn next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        loop {
            runtime::check_interrupts().map_err(crate::error::interrupted)?;
            if !crate::subplan::cte_row(self.subplan, self.at, cx)? {
                return Ok(false);
            }
            let row = match &cx.subs[self.subplan] {
                Some(sub) => sub.rows[self.at].clone(),
                None => return Ok(false),
            };
            self.at += 1;
            if self.projection.apply(Rows::one(&row), cx)? {
                return Ok(true);
            }
        }
    }

    fn row(&self) -> &[Datum] {
        self.projection.row()
    }

    fn rescan(&mut self, cx: &mut Cx<'_>, changed: &[ParamId]) -> SqlResult<()> {
        self.at = 0;
        crate::subplan::cte_changed(self.subplan, cx, changed)
    }

    fn close(&mut self, _cx: &mut Cx<'_>) {
        self.at = 0;
    }
}

/// The previous step's rows of a recursive query.
pub fn work_table(builder: &Builder<'_>, plan: &Plan, rel: RelId, table: usize) -> SqlResult<BoxNode> {
    let raw = raw_row(builder, rel);
    let projection = builder.projection(plan, Inputs::scan(&raw))?;
    Ok(Box::new(WorkTableScan { table, at: 0, projection }))
}

struct WorkTableScan {
    table: usize,
    at: usize,
    projection: Projection,
}

impl Node for WorkTableScan {
    fn next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        loop {
            let Some(row) = cx.work_tables[self.table].get(self.at).cloned() else { return Ok(false) };
            self.at += 1;
            if self.projection.apply(Rows::one(&row), cx)? {
                return Ok(true);
            }
        }
    }

    fn row(&self) -> &[Datum] {
        self.projection.row()
    }

    fn rescan(&mut self, _cx: &mut Cx<'_>, _changed: &[ParamId]) -> SqlResult<()> {
        self.at = 0;
        Ok(())
    }

    fn close(&mut self, _cx: &mut Cx<'_>) {
        self.at = 0;
    }
}
