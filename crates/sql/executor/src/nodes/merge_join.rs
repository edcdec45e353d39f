//! Merge joins: both sides come sorted; equal inner rows are kept as a group, beyond `work_mem` in a file.

use std::cmp::Ordering;

use base::SqlResult;
use eval::code::{Code, Rows, passes, project};
use eval::compile::{Inputs, order_of};
use eval::cx::Cx;
use eval::row_store::{Place, RowStore};
use plan::{Expr, JoinClause, JoinKind, ParamId, Plan};
use tuple::Datum;

use super::{BoxNode, Builder, Key, Node, Projection};

/// A merge join.
pub fn build<'p>(
    builder: &mut Builder<'p>,
    plan: &'p Plan,
    kind: JoinKind,
    outer: &'p Plan,
    inner: &'p Plan,
    merge: &[JoinClause],
    clauses: &[Expr],
) -> SqlResult<BoxNode> {
    let inputs = Inputs::two(&outer.output, &inner.output);
    let compiler = builder.compiler();
    let mut outer_keys = Vec::new();
    let mut inner_keys = Vec::new();
    let mut order = Vec::new();
    for (i, clause) in merge.iter().enumerate() {
        outer_keys.push(compiler.expr(&clause.outer, Inputs::one(&outer.output))?);
        inner_keys.push(compiler.expr(&clause.inner, Inputs::one(&inner.output))?);
        order.push(Key::column(i, order_of(builder.statement, &clause.outer)?));
    }
    let clauses = compiler.list(clauses, inputs)?;
    let projection = builder.projection(plan, inputs)?;
    Ok(Box::new(MergeJoin {
        kind,
        outer_keys,
        inner_keys,
        order,
        clauses,
        projection,
        outer_nulls: vec![Datum::Null; outer.output.len()],
        inner_nulls: vec![Datum::Null; inner.output.len()],
        outer: builder.build(outer)?,
        inner: builder.build(inner)?,
        outer_key: Vec::new(),
        inner_key: Vec::new(),
        inner_row: None,
        group: Group::default(),
        at: 0,
        have_outer: false,
        matched: false,
        started: false,
        flush: 0,
        outer_done: false,
    }))
}

struct MergeJoin {
    kind: JoinKind,
    outer_keys: Vec<Code>,
    inner_keys: Vec<Code>,
    order: Vec<Key>,
    clauses: Box<[Code]>,
    projection: Projection,
    outer_nulls: Vec<Datum>,
    inner_nulls: Vec<Datum>,
    outer: BoxNode,
    inner: BoxNode,
    outer_key: Vec<Datum>,
    inner_key: Vec<Datum>,
    /// The inner row read ahead.
    inner_row: Option<Vec<Datum>>,
    group: Group,
    /// The group's row that is looked at next.
    at: usize,
    have_outer: bool,
    matched: bool,
    started: bool,
    /// Rows of the group already looked at for giving unmatched ones.
    flush: usize,
    outer_done: bool,
}

/// Inner rows with the same key.
#[derive(Default)]
struct Group {
    rows: RowStore,
    place: Place,
    /// Whether each row matched.
    matched: Vec<bool>,
    key: Vec<Datum>,
}

impl Group {
    fn clear(&mut self) {
        self.rows.clear();
        self.place = Place::default();
        self.matched.clear();
    }

    fn push(&mut self, row: Vec<Datum>, cx: &Cx<'_>) -> SqlResult<()> {
        self.matched.push(false);
        self.rows.push(row, cx.env.work_mem, cx.env.temp)
    }

    fn len(&self) -> usize {
        self.matched.len()
    }

    fn row(&mut self, at: usize) -> SqlResult<&[Datum]> {
        Ok(self.rows.get(&mut self.place, at as u64)?.unwrap_or_default())
    }
}

impl MergeJoin {
    fn keeps_inner(&self) -> bool {
        matches!(self.kind, JoinKind::Right | JoinKind::Full | JoinKind::RightAnti)
    }

    fn keeps_outer(&self) -> bool {
        matches!(self.kind, JoinKind::Left | JoinKind::Full | JoinKind::Anti)
    }

    fn read_inner(&mut self, cx: &mut Cx<'_>) -> SqlResult<()> {
        runtime::check_interrupts().map_err(eval::error::interrupted)?;
        if self.inner.next(cx)? {
            let row = self.inner.row().to_vec();
            project(&self.inner_keys, Rows::one(&row), cx, &mut self.inner_key)?;
            self.inner_row = Some(row);
        } else {
            self.inner_row = None;
        }
        Ok(())
    }

    /// Replaces the group by the inner rows that share the next key.
    fn next_group(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        self.group.clear();
        self.flush = 0;
        let Some(first) = self.inner_row.take() else { return Ok(false) };
        self.group.key.clone_from(&self.inner_key);
        self.group.push(first, cx)?;
        self.read_inner(cx)?;
        while self.inner_row.is_some()
            && self.compare(&self.group.key, &self.inner_key).is_eq()
            && !self.group.key.iter().any(Datum::is_null)
        {
            if let Some(row) = self.inner_row.take() {
                self.group.push(row, cx)?;
            }
            self.read_inner(cx)?;
        }
        Ok(true)
    }

    fn compare(&self, a: &[Datum], b: &[Datum]) -> Ordering {
        for (i, key) in self.order.iter().enumerate() {
            let order = key.compare(&a[i], &b[i]);
            if order.is_ne() {
                return order;
            }
        }
        Ordering::Equal
    }

    fn next_outer(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        if self.outer_done || !self.outer.next(cx)? {
            self.outer_done = true;
            return Ok(false);
        }
        project(&self.outer_keys, Rows::one(self.outer.row()), cx, &mut self.outer_key)?;
        (self.have_outer, self.matched, self.at) = (true, false, 0);
        Ok(true)
    }

    /// Gives the next row of the group that never matched.
    fn flush_group(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        while self.keeps_inner() && self.flush < self.group.len() {
            let at = self.flush;
            self.flush += 1;
            if !self.group.matched[at] {
                let rows = Rows { outer: &self.outer_nulls, inner: self.group.row(at)? };
                if self.projection.apply(rows, cx)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Gives the outer row with NULLs if it matched nothing and the join keeps it.
    fn unmatched_outer(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        self.have_outer = false;
        if self.matched || !self.keeps_outer() {
            return Ok(false);
        }
        let rows = Rows { outer: self.outer.row(), inner: &self.inner_nulls };
        self.projection.apply(rows, cx)
    }

    /// Pairs the outer row with the group's next matching row.
    fn pair(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        while self.at < self.group.len() {
            // A group may be long and none of its rows match.
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            let at = self.at;
            self.at += 1;
            let rows = Rows { outer: self.outer.row(), inner: self.group.row(at)? };
            if !passes(&self.clauses, rows, cx)? {
                if cx.state.counters.is_some() {
                    cx.note_unjoined();
                }
                continue;
            }
            self.matched = true;
            self.group.matched[at] = true;
            match self.kind {
                JoinKind::RightAnti => continue,
                JoinKind::Anti | JoinKind::Semi => self.at = self.group.len(),
                _ => {}
            }
            let rows = Rows { outer: self.outer.row(), inner: self.group.row(at)? };
            if self.kind != JoinKind::Anti && self.projection.apply(rows, cx)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Node for MergeJoin {
    fn next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        if !self.started {
            self.started = true;
            self.read_inner(cx)?;
            self.next_group(cx)?;
        }
        loop {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            if !self.have_outer && !self.next_outer(cx)? {
                // Only inner rows are left.
                if !self.keeps_inner() {
                    return Ok(false);
                }
                if self.flush_group(cx)? {
                    return Ok(true);
                }
                if !self.next_group(cx)? {
                    return Ok(false);
                }
                continue;
            }
            let null = self.outer_key.iter().any(Datum::is_null);
            let order = if self.group.len() == 0 || null {
                Ordering::Less
            } else if self.group.key.iter().any(Datum::is_null) {
                // A NULL in any key matches nothing, wherever it sorts.
                Ordering::Greater
            } else {
                self.compare(&self.outer_key, &self.group.key)
            };
            match order {
                Ordering::Less => {
                    if self.unmatched_outer(cx)? {
                        return Ok(true);
                    }
                }
                Ordering::Greater => {
                    if self.flush_group(cx)? {
                        return Ok(true);
                    }
                    self.next_group(cx)?;
                }
                Ordering::Equal => {
                    if self.pair(cx)? {
                        return Ok(true);
                    }
                    if self.unmatched_outer(cx)? {
                        return Ok(true);
                    }
                }
            }
        }
    }

    fn row(&self) -> &[Datum] {
        self.projection.row()
    }

    fn rescan(&mut self, cx: &mut Cx<'_>, changed: &[ParamId]) -> SqlResult<()> {
        self.group.clear();
        self.inner_row = None;
        (self.have_outer, self.started, self.outer_done, self.flush) = (false, false, false, 0);
        self.outer.rescan(cx, changed)?;
        self.inner.rescan(cx, changed)
    }

    fn close(&mut self, cx: &mut Cx<'_>) {
        self.group = Group::default();
        self.inner_row = None;
        self.outer.close(cx);
        self.inner.close(cx);
    }
}
