//! Nested loops.

use base::SqlResult;
use eval::code::{Code, Rows, passes};
use eval::compile::Inputs;
use eval::cx::Cx;
use plan::{Expr, JoinKind, ParamId, Plan};
use tuple::Datum;

use super::{BoxNode, Builder, Node, Projection};

/// A nested loop: the inner side runs once for each outer row.
pub fn nest_loop<'p>(
    builder: &mut Builder<'p>,
    plan: &'p Plan,
    (kind, inner_unique): (JoinKind, bool),
    outer: &'p Plan,
    inner: &'p Plan,
    clauses: &[Expr],
    params: &[(ParamId, Expr)],
) -> SqlResult<BoxNode> {
    let inputs = Inputs::two(&outer.output, &inner.output);
    let compiler = builder.compiler();
    let clauses = compiler.list(clauses, inputs)?;
    let params = params
        .iter()
        .map(|(id, e)| Ok((*id, compiler.expr(e, Inputs::one(&outer.output))?)))
        .collect::<SqlResult<Vec<_>>>()?;
    let changed = params.iter().map(|(id, _)| *id).collect();
    let projection = builder.projection(plan, inputs)?;
    let nulls = vec![Datum::Null; inner.output.len()];
    Ok(Box::new(NestLoop {
        kind,
        inner_unique,
        outer: builder.build(outer)?,
        inner: builder.build(inner)?,
        clauses,
        params,
        changed,
        projection,
        nulls,
        outer_row: false,
        matched: false,
        inner_started: false,
    }))
}

struct NestLoop {
    kind: JoinKind,
    /// No second row matches.
    inner_unique: bool,
    outer: BoxNode,
    inner: BoxNode,
    clauses: Box<[Code]>,
    params: Vec<(ParamId, Code)>,
    changed: Vec<ParamId>,
    projection: Projection,
    nulls: Vec<Datum>,
    outer_row: bool,
    matched: bool,
    inner_started: bool,
}

/// Named when an inner side is started again though no cell changed: what it keeps stays valid.
const UNCHANGED: &[ParamId] = &[ParamId::MAX];

impl NestLoop {
    fn next_outer(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        if !self.outer.next(cx)? {
            return Ok(false);
        }
        for (id, code) in &self.params {
            let value = code.eval(Rows::one(self.outer.row()), cx)?;
            cx.set(*id, value);
        }
        if self.inner_started {
            let changed = if self.changed.is_empty() { UNCHANGED } else { &self.changed };
            self.inner.rescan(cx, changed)?;
        }
        self.inner_started = true;
        (self.outer_row, self.matched) = (true, false);
        Ok(true)
    }
}

impl Node for NestLoop {
    fn next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        loop {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            if !self.outer_row && !self.next_outer(cx)? {
                return Ok(false);
            }
            if self.inner.next(cx)? {
                let rows = Rows { outer: self.outer.row(), inner: self.inner.row() };
                if !passes(&self.clauses, rows, cx)? {
                    if cx.state.counters.is_some() {
                        cx.note_unjoined();
                    }
                    continue;
                }
                self.matched = true;
                match self.kind {
                    JoinKind::Anti => self.outer_row = false,
                    JoinKind::Semi => {
                        self.outer_row = false;
                        if self.projection.apply(rows, cx)? {
                            return Ok(true);
                        }
                    }
                    _ => {
                        self.outer_row = !self.inner_unique;
                        if self.projection.apply(rows, cx)? {
                            return Ok(true);
                        }
                    }
                }
                continue;
            }
            self.outer_row = false;
            if !self.matched && matches!(self.kind, JoinKind::Left | JoinKind::Anti) {
                let rows = Rows { outer: self.outer.row(), inner: &self.nulls };
                if self.projection.apply(rows, cx)? {
                    return Ok(true);
                }
            }
        }
    }

    fn row(&self) -> &[Datum] {
        self.projection.row()
    }

    fn rescan(&mut self, cx: &mut Cx<'_>, changed: &[ParamId]) -> SqlResult<()> {
        self.outer_row = false;
        self.outer.rescan(cx, changed)?;
        self.inner_started = false;
        if changed.is_empty() {
            return self.inner.rescan(cx, changed);
        }
        // The loop's own cells get new values before the inner side runs again.
        let all: Vec<ParamId> = changed.iter().chain(&self.changed).copied().collect();
        self.inner.rescan(cx, &all)
    }

    fn close(&mut self, cx: &mut Cx<'_>) {
        self.outer_row = false;
        self.outer.close(cx);
        self.inner.close(cx);
    }
}
