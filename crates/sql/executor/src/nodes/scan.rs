//! Scans of what is no table: VALUES, functions, subqueries, common table expressions, work tables, rows that triggers are told of.

use std::sync::Arc;

use base::{Oid, SqlError, SqlResult, sql_err};
use eval::code::{Code, Rows};
use eval::compile::{Inputs, RawRow};
use eval::cx::Cx;
use eval::json::JsonCode;
use eval::row_store::{Place, RowStore};
use eval::trigger::ChangedRows;
use eval::xml::XmlCode;
use plan::{Expr, ParamId, Plan, RelId};
use tuple::Datum;
use types::Imp;
use types::call::RegKind;
use types::record::{FieldType, RowType};
use types::registry::SetRows;

use super::{BoxNode, Builder, Node, Origin, Projection};

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
            eval::code::project(row, Rows::one(&[]), cx, &mut self.values)?;
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
    function: plan::Function,
    args: Box<[Code]>,
    types: Box<[Oid]>,
    result: Oid,
    collation: Oid,
    variadic: bool,
    /// Columns of its rows, where the query says them.
    columns: Box<[types::call::ResultColumn]>,
    /// Composite values are spread over the columns.
    spread: bool,
    /// What a row is as one value, where a function built in gives several columns.
    row_type: Option<RowType>,
}

/// Rows that a function built in gives, as values; none if it gives one column.
pub fn row_type(function: &types::Function) -> Option<RowType> {
    let columns: Vec<_> = function.out_columns().collect();
    let field = |oid| types::builtin_type(oid).map(|ty| FieldType::new(oid, &ty.shape()));
    let fields = columns.iter().map(|(_, oid)| field(*oid)).collect::<Option<_>>()?;
    let names = columns.iter().map(|(name, _)| (*name).into()).collect();
    (columns.len() > 1).then_some(RowType { type_oid: types::oids::record, fields, names })
}

impl SetCall {
    /// Compiles a call.
    pub fn new(builder: &Builder<'_>, call: &plan::Call, inputs: Inputs<'_>) -> SqlResult<SetCall> {
        Ok(SetCall {
            function: call.function.clone(),
            args: builder.compiler().list(&call.args, inputs)?,
            types: call.args.iter().map(Expr::type_oid).collect(),
            result: call.type_oid,
            collation: call.collation,
            variadic: call.variadic,
            columns: Box::default(),
            spread: false,
            row_type: call.function.builtin().and_then(row_type),
        })
    }

    /// Whether the value that a row of the call is in an expression is its first column.
    pub fn is_plain(&self) -> bool {
        self.row_type.is_none()
    }

    /// The value that a row of the call is in an expression.
    pub fn value(&self, row: &[Datum]) -> Datum {
        match &self.row_type {
            Some(row_type) => row_type.row(row),
            None => row.first().cloned().unwrap_or_default(),
        }
    }

    /// Starts the call: its rows.
    pub fn start(&self, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<Box<dyn SetRows>> {
        let mut args = Vec::with_capacity(self.args.len());
        for code in &self.args {
            args.push(code.eval(rows, cx)?);
        }
        if self.function.strict() && args.iter().any(Datum::is_null) {
            // A function that is no set gives a row of NULLs.
            let rows = if self.function.retset() { Vec::new() } else { vec![Vec::new()] };
            return Ok(Box::new(List(rows.into_iter())));
        }
        let mut call = cx.call(&self.types, self.result, self.collation, self.variadic);
        call.columns = &self.columns;
        if let plan::Function::User(routine) = &self.function
            && self.function.imp().is_none()
        {
            let sees = (cx.env.snapshot, cx.env.command);
            let values = cx.env.session.call_routine_set(routine, &call, &args, sees)?;
            let (at, place, stored) = (0, Place::default(), Vec::new());
            return Ok(Box::new(RoutineRows { values, at, place, stored, spread: self.spread }));
        }
        match self.function.imp() {
            Some(Imp::Set(start)) if self.spread => self.spread_rows(start(&call, &args)?, cx),
            Some(Imp::Set(start)) => start(&call, &args),
            Some(Imp::Native(eval)) if self.spread => {
                let row = vec![eval(&call, &args)?];
                self.spread_rows(Box::new(List(vec![row].into_iter())), cx)
            }
            Some(Imp::Session(id)) => {
                Ok(Box::new(List(cx.env.session.call_set(id, &call, &args)?.into_iter())))
            }
            _ => Err(SqlError::not_supported(format!("function {}() in FROM", self.function.name()))),
        }
    }
}

impl SetCall {
    /// Composite values, each as a row with the columns that the query names.
    fn spread_rows(&self, mut values: Box<dyn SetRows>, cx: &Cx<'_>) -> SqlResult<Box<dyn SetRows>> {
        let (mut rows, mut row) = (Vec::new(), Vec::new());
        while values.next(&mut row)? {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            if let Some(Datum::Bytes(bytes)) = row.first() {
                self.check_row(&types::record::Row::from_payload(bytes), cx)?;
            }
            spread(&mut row);
            rows.push(std::mem::take(&mut row));
        }
        Ok(Box::new(List(rows.into_iter())))
    }

    /// A row must be what a column definition list says.
    fn check_row(&self, row: &types::record::Row, cx: &Cx<'_>) -> SqlResult<()> {
        let refuse = |detail: String| {
            let message = "function return row and query-specified return row do not match";
            Err(sql_err!(DATATYPE_MISMATCH, "{message}").detail(detail))
        };
        let (given, wanted) = (row.fields.len(), self.columns.len());
        if wanted > 0 && given != wanted {
            let plural = if given == 1 { "" } else { "s" };
            return refuse(format!(
                "Returned row contains {given} attribute{plural}, but query expects {wanted}."
            ));
        }
        for (i, ((field, _), column)) in row.fields.iter().zip(&self.columns).enumerate() {
            if field.type_oid != column.type_oid {
                let shown = |oid| cx.env.session.types().reg_name(RegKind::Type, oid).unwrap_or_default();
                return refuse(format!(
                    "Returned type {} at ordinal position {}, but query expects {}.",
                    shown(field.type_oid),
                    i + 1,
                    shown(column.type_oid)
                ));
            }
        }
        Ok(())
    }
}

/// Values that a user's function gave.
struct RoutineRows {
    values: RowStore,
    at: u64,
    place: Place,
    stored: Vec<Datum>,
    spread: bool,
}

impl SetRows for RoutineRows {
    fn next(&mut self, row: &mut Vec<Datum>) -> SqlResult<bool> {
        if !self.values.read(&mut self.place, self.at, &mut self.stored)? {
            return Ok(false);
        }
        self.at += 1;
        let value = self.stored.pop().unwrap_or_default();
        row.clear();
        row.push(value);
        if self.spread {
            spread(row);
        }
        Ok(true)
    }
}

/// A composite value as the values of its columns.
fn spread(row: &mut Vec<Datum>) {
    match row.pop() {
        Some(Datum::Bytes(bytes)) => {
            row.extend(types::record::Row::from_payload(&bytes).fields.into_iter().map(|(_, value)| value));
        }
        Some(Datum::Null) | None => {}
        Some(value) => row.push(value),
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
fn session_record(function: &plan::Function) -> bool {
    matches!(function.imp(), Some(Imp::Session(_))) && function.out_columns() > 1
}

/// Whether a call gives composite values, which are spread over columns.
fn spreads(builder: &Builder<'_>, call: &plan::Call) -> bool {
    let composite = match &call.function {
        plan::Function::User(_) => true,
        plan::Function::Builtin(f) => f.result == types::oids::anyelement,
    };
    composite && builder.statement.types.comparable(call.type_oid) == types::oids::record
}

/// The columns that a column definition list gives a relation.
fn defined_columns(
    builder: &Builder<'_>,
    rel: RelId,
    first: usize,
    count: usize,
) -> Box<[types::call::ResultColumn]> {
    let columns = builder.statement.relations[rel].columns.iter().skip(first).take(count);
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
    Table(Box<JsonCode>),
    XmlTable(Box<XmlCode>),
    Scalar(Code),
}

/// Functions in FROM, side by side.
pub fn function(
    builder: &Builder<'_>,
    plan: &Plan,
    rel: RelId,
    (calls, widths): (&[Expr], &[usize]),
    ordinality: bool,
) -> SqlResult<BoxNode> {
    let raw = raw_row(builder, rel);
    let projection = builder.projection(plan, Inputs::scan(&raw))?;
    let compiler = builder.compiler();
    let mut sources = Vec::new();
    let mut first = 0;
    for (call, &width) in calls.iter().zip(widths) {
        let source = match call {
            Expr::Call(c)
                if c.function.retset()
                    || session_record(&c.function)
                    || spreads(builder, c)
                    || matches!(c.function.imp(), Some(Imp::Set(_))) =>
            {
                let mut set = SetCall::new(builder, c, Inputs::default())?;
                set.spread = spreads(builder, c);
                if c.type_oid == types::oids::record && c.function.out_columns() == 0 {
                    set.columns = defined_columns(builder, rel, first, width);
                }
                Source::Set(set)
            }
            Expr::Json(json) if matches!(json.node, analyze::Json::Table(_)) => {
                Source::Table(Box::new(compiler.json(json, Inputs::default())?))
            }
            Expr::Xml(xml) if xml.is_table() => {
                Source::XmlTable(Box::new(compiler.xml(xml, Inputs::default())?))
            }
            other => Source::Scalar(compiler.expr(other, Inputs::default())?),
        };
        first += width;
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
                Source::Table(table) => Box::new(List(table.table(Rows::one(&[]), cx)?.into_iter())),
                Source::XmlTable(table) => Box::new(List(table.table(Rows::one(&[]), cx)?.into_iter())),
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
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
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
    Ok(Box::new(SubqueryScan { child: builder.build(child)?, idle: projection.is_idle(), projection }))
}

struct SubqueryScan {
    child: BoxNode,
    projection: Projection,
    idle: bool,
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

    fn bound(&mut self, rows: Option<usize>) {
        self.child.bound(rows.filter(|_| self.projection.filter.is_empty()));
    }

    fn skip(&mut self, cx: &mut Cx<'_>) -> SqlResult<usize> {
        if self.idle { self.child.skip(cx) } else { Ok(0) }
    }

    fn origins(&self, found: &mut Vec<Origin>) {
        self.child.origins(found);
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
    Ok(Box::new(CteScan { subplan, at: 0, place: Place::default(), values: Vec::new(), projection }))
}

struct CteScan {
    subplan: usize,
    at: u64,
    place: Place,
    values: Vec<Datum>,
    projection: Projection,
}

impl Node for CteScan {
    fn next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        loop {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            if !eval::subplan::cte_row(self.subplan, self.at, cx)? {
                return Ok(false);
            }
            let Some(sub) = &cx.state.subs[self.subplan] else { return Ok(false) };
            sub.rows.read(&mut self.place, self.at, &mut self.values)?;
            self.at += 1;
            if self.projection.apply(Rows::one(&self.values), cx)? {
                return Ok(true);
            }
        }
    }

    fn row(&self) -> &[Datum] {
        self.projection.row()
    }

    fn rescan(&mut self, cx: &mut Cx<'_>, changed: &[ParamId]) -> SqlResult<()> {
        (self.at, self.place) = (0, Place::default());
        eval::subplan::cte_changed(self.subplan, cx, changed)
    }

    fn close(&mut self, cx: &mut Cx<'_>) {
        let number = self.subplan;
        if cx.state.counters.is_some()
            && let Some(sub) = cx.state.subs[number].take()
        {
            cx.tell(|before| super::stored(before, &sub.rows));
            cx.state.subs[number] = Some(sub);
        }
        (self.at, self.place) = (0, Place::default());
    }
}

/// The previous step's rows of a recursive query.
pub fn work_table(builder: &Builder<'_>, plan: &Plan, rel: RelId, table: usize) -> SqlResult<BoxNode> {
    let raw = raw_row(builder, rel);
    let projection = builder.projection(plan, Inputs::scan(&raw))?;
    Ok(Box::new(WorkTableScan { table, at: 0, place: Place::default(), values: Vec::new(), projection }))
}

struct WorkTableScan {
    table: usize,
    at: u64,
    place: Place,
    values: Vec<Datum>,
    projection: Projection,
}

impl Node for WorkTableScan {
    fn next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        loop {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            if !cx.state.work_tables[self.table].read(&mut self.place, self.at, &mut self.values)? {
                return Ok(false);
            }
            self.at += 1;
            if self.projection.apply(Rows::one(&self.values), cx)? {
                return Ok(true);
            }
        }
    }

    fn row(&self) -> &[Datum] {
        self.projection.row()
    }

    fn rescan(&mut self, _cx: &mut Cx<'_>, _changed: &[ParamId]) -> SqlResult<()> {
        (self.at, self.place) = (0, Place::default());
        Ok(())
    }

    fn close(&mut self, _cx: &mut Cx<'_>) {
        (self.at, self.place) = (0, Place::default());
    }
}

/// The rows before or after the change that a trigger is about.
pub fn transition(builder: &Builder<'_>, plan: &Plan, rel: RelId, name: &Arc<str>) -> SqlResult<BoxNode> {
    let raw = raw_row(builder, rel);
    let projection = builder.projection(plan, Inputs::scan(&raw))?;
    let (place, values) = (Place::default(), Vec::new());
    Ok(Box::new(TransitionScan { name: name.clone(), rows: None, at: 0, place, values, projection }))
}

struct TransitionScan {
    name: Arc<str>,
    /// The rows, from the first one that is asked for.
    rows: Option<ChangedRows>,
    at: u64,
    place: Place,
    values: Vec<Datum>,
    projection: Projection,
}

impl TransitionScan {
    fn read(&mut self, cx: &Cx<'_>) -> SqlResult<bool> {
        if self.rows.is_none() {
            let firing = cx.env.session.triggers();
            self.rows = firing.and_then(|firing| firing.changed_rows(&self.name));
        }
        let missing = || SqlError::internal(format!("transition table \"{}\" not found", self.name));
        let rows = self.rows.as_ref().ok_or_else(missing)?;
        rows.read(&mut self.place, self.at, &mut self.values)
    }
}

impl Node for TransitionScan {
    fn next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        loop {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            if !self.read(cx)? {
                return Ok(false);
            }
            self.at += 1;
            if self.projection.apply(Rows::one(&self.values), cx)? {
                return Ok(true);
            }
        }
    }

    fn row(&self) -> &[Datum] {
        self.projection.row()
    }

    fn rescan(&mut self, _cx: &mut Cx<'_>, _changed: &[ParamId]) -> SqlResult<()> {
        (self.at, self.place) = (0, Place::default());
        Ok(())
    }

    fn close(&mut self, _cx: &mut Cx<'_>) {
        (self.at, self.place, self.rows) = (0, Place::default(), None);
    }
}
