//! Small nodes: result, limit, append, unique, materialize, project set, and the one that counts for EXPLAIN ANALYZE.

use base::{SqlResult, sql_err};
use eval::code::{Code, Rows, passes};
use eval::compile::Inputs;
use eval::cx::Cx;
use eval::row_store::{Place, RowStore};
use plan::{Expr, ParamId, Plan, SortKey};
use tuple::Datum;
use types::registry::SetRows;

use super::scan::SetCall;
use super::{BoxNode, Builder, Node, Origin, Projection, affected, depends_on};
use crate::partition::Pruner;

/// One row from nothing, or a child behind a condition checked once.
pub fn result<'p>(
    builder: &mut Builder<'p>,
    plan: &'p Plan,
    one_time: &[Expr],
    child: Option<&'p Plan>,
) -> SqlResult<BoxNode> {
    let never = |e: &Expr| matches!(e, Expr::Const { value: Datum::Bool(false) | Datum::Null, .. });
    if child.is_none() && one_time.iter().any(never) {
        return Ok(Box::new(Nothing));
    }
    let inputs = child.map_or(Inputs::default(), |c| Inputs::one(&c.output));
    let projection = builder.projection(plan, inputs)?;
    let one_time = builder.compiler().list(one_time, Inputs::default())?;
    let child = child.map(|c| builder.build(c)).transpose()?;
    Ok(Box::new(ResultNode { one_time, checked: false, done: false, child, projection }))
}

/// No row at all.
struct Nothing;

impl Node for Nothing {
    fn next(&mut self, _cx: &mut Cx<'_>) -> SqlResult<bool> {
        Ok(false)
    }

    fn row(&self) -> &[Datum] {
        &[]
    }

    fn rescan(&mut self, _cx: &mut Cx<'_>, _changed: &[ParamId]) -> SqlResult<()> {
        Ok(())
    }

    fn close(&mut self, _cx: &mut Cx<'_>) {}
}

struct ResultNode {
    one_time: Box<[Code]>,
    checked: bool,
    done: bool,
    child: Option<BoxNode>,
    projection: Projection,
}

impl Node for ResultNode {
    fn next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        if self.done {
            return Ok(false);
        }
        if !self.checked {
            self.checked = true;
            if !passes(&self.one_time, Rows::one(&[]), cx)? {
                self.done = true;
                return Ok(false);
            }
        }
        let Some(child) = &mut self.child else {
            self.done = true;
            return self.projection.apply(Rows::one(&[]), cx);
        };
        while child.next(cx)? {
            if self.projection.apply(Rows::one(child.row()), cx)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn row(&self) -> &[Datum] {
        self.projection.row()
    }

    fn origins(&self, found: &mut Vec<Origin>) {
        self.child.iter().for_each(|child| child.origins(found));
    }

    fn bound(&mut self, rows: Option<usize>) {
        if let Some(child) = &mut self.child {
            child.bound(rows.filter(|_| self.projection.filter.is_empty()));
        }
    }

    fn rescan(&mut self, cx: &mut Cx<'_>, changed: &[ParamId]) -> SqlResult<()> {
        (self.checked, self.done) = (false, false);
        self.child.as_mut().map_or(Ok(()), |c| c.rescan(cx, changed))
    }

    fn close(&mut self, cx: &mut Cx<'_>) {
        if let Some(child) = &mut self.child {
            child.close(cx);
        }
    }
}

/// Set-returning functions in the target list: rows until the longest has ended.
pub fn project_set<'p>(builder: &mut Builder<'p>, plan: &'p Plan, child: &'p Plan) -> SqlResult<BoxNode> {
    let inputs = Inputs::one(&child.output);
    let mut calls = Vec::new();
    for expr in &plan.output {
        collect_sets(expr, &mut calls);
    }
    // The functions' values stand behind the child's columns.
    let mut carried = child.output.clone();
    carried.extend(calls.iter().map(|c| Expr::Call(Box::new(c.clone()))));
    let projection = builder.projection(plan, Inputs::one(&carried))?;
    let sets = calls.iter().map(|c| SetCall::new(builder, c, inputs)).collect::<SqlResult<_>>()?;
    Ok(Box::new(ProjectSet {
        child: builder.build(child)?,
        sets,
        running: Vec::new(),
        input: Vec::new(),
        one: Vec::new(),
        projection,
    }))
}

fn collect_sets(expr: &Expr, out: &mut Vec<plan::Call>) {
    match expr {
        Expr::Call(call) if call.function.retset() => {
            if !out.contains(call) {
                out.push((**call).clone());
            }
        }
        _ => expr.for_children(&mut |child| collect_sets(child, out)),
    }
}

/// Values that are handed over between two looks for interrupts.
const MOST_AT_ONCE: usize = 1024;

struct ProjectSet {
    child: BoxNode,
    sets: Vec<SetCall>,
    running: Vec<Option<Box<dyn SetRows>>>,
    input: Vec<Datum>,
    /// A row of one of the functions.
    one: Vec<Datum>,
    projection: Projection,
}

impl Node for ProjectSet {
    fn next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        loop {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            if self.running.is_empty() {
                if !self.child.next(cx)? {
                    return Ok(false);
                }
                self.input = self.child.row().to_vec();
                for set in &self.sets {
                    self.running.push(Some(set.start(Rows::one(&self.input), cx)?));
                }
            }
            let width = self.input.len();
            let mut row = std::mem::take(&mut self.input);
            let mut any = false;
            for (slot, set) in self.running.iter_mut().zip(&self.sets) {
                let has = match slot {
                    Some(rows) => rows.next(&mut self.one)?,
                    None => false,
                };
                any |= has;
                row.push(if has { set.value(&self.one) } else { Datum::Null });
                if !has {
                    *slot = None;
                }
            }
            let found = any && self.projection.apply(Rows::one(&row), cx)?;
            row.truncate(width);
            self.input = row;
            if !any {
                self.running.clear();
            }
            if found {
                return Ok(true);
            }
        }
    }

    fn row(&self) -> &[Datum] {
        self.projection.row()
    }

    fn append(&mut self, _cx: &mut Cx<'_>, out: &mut Vec<Datum>) -> SqlResult<()> {
        runtime::check_interrupts().map_err(eval::error::interrupted)?;
        match (&mut self.running[..], &self.sets[..]) {
            ([Some(rows)], [set]) if set.is_plain() && self.projection.is_column(self.input.len()) => {
                rows.append(MOST_AT_ONCE, out)
            }
            _ => Ok(()),
        }
    }

    fn rescan(&mut self, cx: &mut Cx<'_>, changed: &[ParamId]) -> SqlResult<()> {
        self.running.clear();
        self.child.rescan(cx, changed)
    }

    fn close(&mut self, cx: &mut Cx<'_>) {
        self.running.clear();
        self.child.close(cx);
    }
}

/// LIMIT and OFFSET.
pub fn limit<'p>(
    builder: &mut Builder<'p>,
    child: &'p Plan,
    count: &Option<Expr>,
    offset: &Option<Expr>,
    ties: &[SortKey],
) -> SqlResult<BoxNode> {
    let compiler = builder.compiler();
    let code = |e: &Option<Expr>| e.as_ref().map(|e| compiler.expr(e, Inputs::default())).transpose();
    let (count, offset) = (code(count)?, code(offset)?);
    let ties = super::sort::keys(builder, ties, Inputs::one(&child.output))?;
    let child = builder.build(child)?;
    Ok(Box::new(Limit { child, count, offset, ties, left: None, last: Vec::new(), started: false }))
}

struct Limit {
    child: BoxNode,
    count: Option<Code>,
    offset: Option<Code>,
    ties: Box<[super::Key]>,
    left: Option<i64>,
    last: Vec<Datum>,
    started: bool,
}

fn row_count(code: &Option<Code>, what: &str, cx: &mut Cx<'_>) -> SqlResult<Option<i64>> {
    let Some(code) = code else { return Ok(None) };
    match code.eval(Rows::one(&[]), cx)? {
        Datum::Int8(n) if n >= 0 => Ok(Some(n)),
        Datum::Int8(_) if what == "LIMIT" => {
            Err(sql_err!(INVALID_ROW_COUNT_IN_LIMIT_CLAUSE, "LIMIT must not be negative"))
        }
        Datum::Int8(_) => {
            Err(sql_err!(INVALID_ROW_COUNT_IN_RESULT_OFFSET_CLAUSE, "OFFSET must not be negative"))
        }
        _ => Ok(None),
    }
}

impl Node for Limit {
    fn next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        if !self.started {
            self.started = true;
            let skip = row_count(&self.offset, "OFFSET", cx)?.unwrap_or(0);
            self.left = row_count(&self.count, "LIMIT", cx)?;
            if self.left == Some(0) {
                return Ok(false);
            }
            // How many rows equal the last one, nobody knows before.
            let all = self.left.filter(|_| self.ties.is_empty()).and_then(|left| left.checked_add(skip));
            self.child.bound(all.and_then(|all| usize::try_from(all).ok()));
            for _ in 0..skip {
                if !self.child.next(cx)? {
                    self.left = Some(0);
                    return Ok(false);
                }
            }
        }
        match &mut self.left {
            None => self.child.next(cx),
            Some(0) => {
                if self.ties.is_empty() || self.last.is_empty() || !self.child.next(cx)? {
                    return Ok(false);
                }
                let same = super::sort::compare_rows(&self.ties, &self.last, self.child.row(), cx)?.is_eq();
                if !same {
                    self.last.clear();
                }
                Ok(same)
            }
            Some(left) => {
                *left -= 1;
                let last = *left == 0;
                let more = self.child.next(cx)?;
                if more && last && !self.ties.is_empty() {
                    self.last = self.child.row().to_vec();
                }
                Ok(more)
            }
        }
    }

    fn row(&self) -> &[Datum] {
        self.child.row()
    }

    fn origins(&self, found: &mut Vec<Origin>) {
        self.child.origins(found);
    }

    fn rescan(&mut self, cx: &mut Cx<'_>, changed: &[ParamId]) -> SqlResult<()> {
        self.started = false;
        self.last.clear();
        self.child.rescan(cx, changed)
    }

    fn close(&mut self, cx: &mut Cx<'_>) {
        self.child.close(cx);
    }
}

/// Reads its children one after the other, except those that `tree` excludes.
pub fn append<'p>(
    builder: &mut Builder<'p>,
    children: &'p [Plan],
    tree: Option<&plan::Tree>,
) -> SqlResult<BoxNode> {
    let children = children.iter().map(|c| builder.build(c)).collect::<SqlResult<Vec<_>>>()?;
    let live = Live::new(builder, children.len(), tree)?;
    Ok(Box::new(Append { children, at: 0, live }))
}

/// Which children of a tree's scan are read.
pub struct Live {
    pruner: Option<Pruner>,
    chosen: bool,
    live: Vec<bool>,
}

impl Live {
    /// All `children`, or those that the tree's pruning leaves.
    pub fn new(builder: &Builder<'_>, children: usize, tree: Option<&plan::Tree>) -> SqlResult<Live> {
        let pruning = tree.and_then(|tree| tree.pruning.as_ref());
        let pruner = pruning.map(|p| Pruner::new(&builder.compiler(), p)).transpose()?;
        Ok(Live { chosen: pruner.is_none(), pruner, live: vec![true; children] })
    }

    /// Chooses, unless that was done for the present values.
    pub fn choose(&mut self, cx: &mut Cx<'_>) -> SqlResult<()> {
        if let Some(pruner) = self.pruner.as_ref().filter(|_| !self.chosen) {
            self.live.fill(false);
            pruner.choose(&mut self.live, cx)?;
            self.chosen = true;
        }
        Ok(())
    }

    /// Whether a child is read.
    pub fn is_live(&self, child: usize) -> bool {
        self.live[child]
    }

    /// Values change.
    pub fn forget(&mut self) {
        self.chosen = self.pruner.is_none();
    }
}

struct Append {
    children: Vec<BoxNode>,
    at: usize,
    live: Live,
}

impl Node for Append {
    fn next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        self.live.choose(cx)?;
        while let Some(child) = self.children.get_mut(self.at) {
            if self.live.is_live(self.at) && child.next(cx)? {
                return Ok(true);
            }
            self.at += 1;
        }
        Ok(false)
    }

    fn row(&self) -> &[Datum] {
        self.children[self.at].row()
    }

    fn bound(&mut self, rows: Option<usize>) {
        self.children.iter_mut().for_each(|c| c.bound(rows));
    }

    fn origins(&self, found: &mut Vec<Origin>) {
        if let Some(child) = self.children.get(self.at) {
            child.origins(found);
        }
    }

    fn rescan(&mut self, cx: &mut Cx<'_>, changed: &[ParamId]) -> SqlResult<()> {
        self.at = 0;
        self.live.forget();
        self.children.iter_mut().try_for_each(|c| c.rescan(cx, changed))
    }

    fn close(&mut self, cx: &mut Cx<'_>) {
        self.children.iter_mut().for_each(|c| c.close(cx));
    }
}

/// Drops rows whose `columns` equal those of the previous row.
pub fn unique<'p>(builder: &mut Builder<'p>, child: &'p Plan, columns: &[Expr]) -> SqlResult<BoxNode> {
    let keys: Vec<SortKey> =
        columns.iter().map(|e| SortKey { expr: e.clone(), descending: false, nulls_first: false }).collect();
    let keys = super::sort::keys(builder, &keys, Inputs::one(&child.output))?;
    Ok(Box::new(Unique { child: builder.build(child)?, keys, last: None }))
}

struct Unique {
    child: BoxNode,
    keys: Box<[super::Key]>,
    last: Option<Vec<Datum>>,
}

impl Node for Unique {
    fn next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        while self.child.next(cx)? {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            let row = self.child.row();
            let same = match &self.last {
                Some(last) => super::sort::compare_rows(&self.keys, last, row, cx)?.is_eq(),
                None => false,
            };
            if !same {
                self.last = Some(self.child.row().to_vec());
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn row(&self) -> &[Datum] {
        self.child.row()
    }

    fn rescan(&mut self, cx: &mut Cx<'_>, changed: &[ParamId]) -> SqlResult<()> {
        self.last = None;
        self.child.rescan(cx, changed)
    }

    fn close(&mut self, cx: &mut Cx<'_>) {
        self.last = None;
        self.child.close(cx);
    }
}

/// Keeps rows for reading again; beyond `work_mem` in a file.
pub fn materialize<'p>(builder: &mut Builder<'p>, child: &'p Plan) -> SqlResult<BoxNode> {
    let depends = depends_on(builder.statement, child);
    let child = builder.build(child)?;
    Ok(Box::new(Materialize {
        child,
        depends,
        rows: RowStore::default(),
        place: Place::default(),
        row: Vec::new(),
        at: 0,
        complete: false,
    }))
}

struct Materialize {
    child: BoxNode,
    depends: Vec<ParamId>,
    rows: RowStore,
    place: Place,
    row: Vec<Datum>,
    at: u64,
    complete: bool,
}

impl Materialize {
    fn forget(&mut self) {
        self.rows.clear();
        (self.at, self.place, self.complete) = (0, Place::default(), false);
    }
}

impl Node for Materialize {
    fn next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        if self.at >= self.rows.len() {
            if self.complete || !self.child.next(cx)? {
                self.complete = true;
                return Ok(false);
            }
            self.rows.push(self.child.row().to_vec(), cx.env.work_mem, cx.env.temp)?;
        }
        if self.rows.in_memory().is_none() {
            self.rows.read(&mut self.place, self.at, &mut self.row)?;
        }
        self.at += 1;
        Ok(true)
    }

    fn row(&self) -> &[Datum] {
        self.rows.in_memory().map_or(&self.row, |rows| &rows[self.at as usize - 1])
    }

    fn rescan(&mut self, cx: &mut Cx<'_>, changed: &[ParamId]) -> SqlResult<()> {
        self.at = 0;
        // Every execution begins with a rescan that names no cell: nothing may be left from the previous one.
        if affected(&self.depends, changed) || changed.is_empty() {
            self.forget();
            self.child.rescan(cx, changed)?;
        }
        Ok(())
    }

    fn close(&mut self, cx: &mut Cx<'_>) {
        cx.tell(|before| super::stored(before, &self.rows));
        self.forget();
        self.child.close(cx);
    }
}
