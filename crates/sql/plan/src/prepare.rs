//! Rewriting of a level before its joins are planned: sublinks to joins, subqueries merged, outer joins reduced.

use crate::expr::{Expr, RelId, SubPlanKind};
use crate::fold::fold;
use crate::logical::{Block, From, Source, rels_of};
use crate::order::Shape;
use crate::placeholder::{Merged, show_through};
use crate::plan::JoinKind;
use crate::planner::Planner;
use crate::relset::RelSet;
use crate::walk::flatten_and;

impl Planner<'_> {
    /// All rewriting of one level.
    pub(crate) fn prepare(&mut self, block: &mut Block) {
        block.for_exprs_mut(&mut fold);
        self.refold(block);
        flatten_joins(&mut block.from, &mut block.quals);
        self.pull_up_sublinks(block);
        self.pull_up_subqueries(block);
        if !block.dissolved.is_empty() {
            show_through(block);
        }
        flatten_joins(&mut block.from, &mut block.quals);
        self.lower_having(block);
        let quals = block.quals.clone();
        reduce_outer_joins(&mut block.from, &quals);
        if block.from.iter().any(|item| matches!(item, From::Join { .. })) {
            self.simplify_joins(block);
        }
        flatten_joins(&mut block.from, &mut block.quals);
        self.refold(block);
        self.take_guards(block);
    }

    fn refold(&mut self, block: &mut Block) {
        block.quals.iter_mut().for_each(fold);
        let mut flat = Vec::new();
        std::mem::take(&mut block.quals).into_iter().for_each(|q| flatten_and(q, &mut flat));
        block.quals = flat;
        let mut having = Vec::new();
        std::mem::take(&mut block.having).into_iter().for_each(|q| flatten_and(q, &mut having));
        block.having = having;
    }

    fn pull_up_sublinks(&mut self, block: &mut Block) {
        if block.from.is_empty() {
            return;
        }
        let mut kept = Vec::new();
        for qual in std::mem::take(&mut block.quals) {
            let visible = rels_of(&block.from);
            let (kind, sub) = match qual {
                Expr::SubPlan(sub) => (JoinKind::Semi, sub),
                Expr::Not(arg) => match *arg {
                    Expr::SubPlan(sub) if sub.kind == SubPlanKind::Exists => (JoinKind::Anti, sub),
                    other => {
                        kept.push(Expr::Not(Box::new(other)));
                        continue;
                    }
                },
                other => {
                    kept.push(other);
                    continue;
                }
            };
            let made = match &sub.kind {
                SubPlanKind::Exists => self.exists_join(sub.plan, visible),
                SubPlanKind::Quantified { any: true, single: false, test, columns, .. } => {
                    self.any_join(sub.plan, test, columns, visible)
                }
                _ => None,
            };
            match made {
                Some((right, quals)) => {
                    let left = std::mem::take(&mut block.from);
                    block.from = vec![From::Join { kind, left, right, quals }];
                }
                None if kind == JoinKind::Anti => kept.push(Expr::Not(Box::new(Expr::SubPlan(sub)))),
                None => kept.push(Expr::SubPlan(sub)),
            }
        }
        block.quals.extend(kept);
    }

    /// The same for a subquery that becomes a part of a level with the relations `others`, of whose sublinks those that look at these are left: they
    /// could not be joined before the subquery is.
    fn pull_up_own_sublinks(&mut self, inner: &mut Block, others: RelSet) {
        let with_sublinks = |qual: &Expr| qual.has_subplans();
        if !inner.quals.iter().any(with_sublinks) {
            return;
        }
        let (mut own, mut kept) = (Vec::new(), Vec::new());
        for qual in std::mem::take(&mut inner.quals) {
            match with_sublinks(&qual) && !self.deeply_mention(vec![qual.clone()], others) {
                true => own.push(qual),
                false => kept.push(qual),
            }
        }
        inner.quals = own;
        self.pull_up_sublinks(inner);
        inner.quals.append(&mut kept);
    }

    /// EXISTS (SELECT … FROM b WHERE b.x = a.x): the right side and the join's conditions.
    fn exists_join(&mut self, plan: usize, visible: RelSet) -> Option<(Vec<From>, Vec<Expr>)> {
        let mut inner = self.take_pending(plan)?;
        let fixed_limit = matches!(&inner.limit, Some(Expr::Const { value, .. }) if positive(value));
        let plain = !inner.aggregated
            && inner.windows.is_empty()
            && inner.set.is_none()
            && inner.ctes.is_empty()
            && inner.modify.is_none()
            && inner.offset.is_none()
            && (inner.limit.is_none() || fixed_limit)
            && inner.marks.is_empty()
            && !inner.from.is_empty()
            && !inner.targets.iter().any(|t| t.expr.returns_set());
        let mut outer_in_from = false;
        if plain {
            outer_in_from = self.any_source_mentions(&inner, visible);
            inner.from.iter_mut().for_each(|f| {
                f.for_exprs_mut(&mut |e| {
                    outer_in_from |= RelSet::of(e).overlaps(visible) || e.has_subplans()
                });
            });
        }
        let correlated = inner.quals.iter().any(|q| RelSet::of(q).overlaps(visible));
        let volatile = inner.quals.iter().any(Expr::is_volatile);
        let nested = inner.quals.iter().any(|q| q.has_subplans() && RelSet::of(q).overlaps(visible));
        if !plain || outer_in_from || !correlated || volatile || nested {
            self.subs[plan].state = crate::planner::SubState::Pending(Box::new(inner));
            return None;
        }
        inner.quals.iter_mut().for_each(fold);
        flatten_joins(&mut inner.from, &mut inner.quals);
        self.pull_up_own_sublinks(&mut inner, visible);
        inner.targets.clear();
        inner.sort.clear();
        Some((inner.from, inner.quals))
    }

    /// `a.x IN (SELECT b.x FROM b)`: the subquery as a relation, and the test over it.
    fn any_join(
        &mut self,
        plan: usize,
        test: &Expr,
        columns: &[usize],
        visible: RelSet,
    ) -> Option<(Vec<From>, Vec<Expr>)> {
        let mentioned = RelSet::of(test);
        if mentioned.is_empty() || !mentioned.is_subset(visible) || test.is_volatile() || test.has_subplans()
        {
            return None;
        }
        let mut inner = self.take_pending(plan)?;
        let mut outer = false;
        self.deep_exprs(&mut inner, &mut |e| outer |= RelSet::of(e).overlaps(visible));
        let targets: Vec<_> = inner.targets.iter().filter(|t| !t.junk).cloned().collect();
        // Merged, a FROM item that needs the left side could not be joined to its neighbours before that.
        if (outer && (!inner.is_simple() || self.any_source_mentions(&inner, visible)))
            || inner.from.is_empty() && inner.set.is_none()
            || inner.modify.is_some()
            || !self.has_room()
        {
            self.subs[plan].state = crate::planner::SubState::Pending(Box::new(inner));
            return None;
        }
        let described = targets
            .iter()
            .map(|t| crate::plan::RelColumn {
                name: t.name.clone(),
                type_oid: t.expr.type_oid(),
                typmod: t.expr.typmod(),
            })
            .collect::<Vec<_>>();
        let relation =
            crate::plan::Relation { alias: "ANY_subquery".into(), table: None, columns: described };
        let rel = self.add_relation(relation, Source::Subquery(Box::new(inner))).ok()?;
        let mut qual = test.clone();
        qual.replace(&mut |e| match e {
            Expr::ExecParam { id, type_oid, .. } => columns.iter().position(|c| c == id).map(|i| {
                Expr::Var(crate::expr::Var { rel, column: i as i16 + 1, type_oid: *type_oid, typmod: -1 })
            }),
            _ => None,
        });
        let mut quals = Vec::new();
        flatten_and(qual, &mut quals);
        Some((vec![From::Rel(rel)], quals))
    }

    /// Whether a relation in FROM refers to one of `visible`.
    fn any_source_mentions(&mut self, block: &Block, visible: RelSet) -> bool {
        rels_of(&block.from).iter().any(|rel| self.source_mentions(rel, visible))
    }

    fn source_mentions(&mut self, rel: RelId, visible: RelSet) -> bool {
        let mut found = false;
        let mut source = std::mem::replace(&mut self.sources[rel], Source::Columns);
        match &mut source {
            Source::Subquery(inner) => {
                self.deep_exprs(inner, &mut |e| found |= RelSet::of(e).overlaps(visible))
            }
            other => found = other.exprs_mut().iter().any(|e| RelSet::of(e).overlaps(visible)),
        }
        self.sources[rel] = source;
        found
    }

    /// Whether expressions, or subqueries in them, look at one of `rels`.
    fn deeply_mention(&mut self, exprs: Vec<Expr>, rels: RelSet) -> bool {
        let mut found = false;
        let mut holder = Block { quals: exprs, ..Block::default() };
        self.deep_exprs(&mut holder, &mut |e| found |= RelSet::of(e).overlaps(rels));
        found
    }

    fn pull_up_subqueries(&mut self, block: &mut Block) {
        loop {
            let mut merged = Vec::new();
            let mut quals = Vec::new();
            let beside = rels_of(&block.from);
            let around = Around { nullable: None, below: None, beside };
            self.pull_items(&mut block.from, around, &mut quals, &mut merged);
            block.quals.extend(quals);
            if merged.is_empty() {
                return;
            }
            let apart = !block.grouping_sets.is_empty();
            while !merged.is_empty() {
                let subquery = merged.remove(0);
                Shape::merge(&mut block.written, subquery.rel, &subquery.written);
                // A lateral one that was merged with it names its columns.
                let others = merged.iter_mut().flat_map(|other| &mut other.targets);
                others.for_each(|expr| subquery.put_in(expr, false));
                self.deep_exprs(block, &mut |expr| subquery.put_in(expr, apart));
                if apart {
                    block.dissolved.insert(subquery.rel);
                }
            }
            block.for_exprs_mut(&mut fold);
            self.refold(block);
            flatten_joins(&mut block.from, &mut block.quals);
            self.pull_up_sublinks(block);
        }
    }

    fn pull_items(
        &mut self,
        items: &mut Vec<From>,
        around: Around,
        quals: &mut Vec<Expr>,
        merged: &mut Vec<Merged>,
    ) {
        let mut out = Vec::new();
        for item in std::mem::take(items) {
            match item {
                From::Rel(rel) => match self.mergeable(rel, around) {
                    Some(mut inner) => {
                        let targets =
                            inner.targets.iter().filter(|t| !t.junk).map(|t| t.expr.clone()).collect();
                        let (row, written) =
                            (self.whole_rows.get(&rel).cloned(), std::mem::take(&mut inner.written));
                        merged.push(Merged { rel, targets, row, written });
                        inner.quals.iter_mut().for_each(fold);
                        flatten_joins(&mut inner.from, &mut inner.quals);
                        // Elsewhere that is done for all quals of the level together.
                        if around.below.is_some() {
                            self.pull_up_own_sublinks(&mut inner, around.beside);
                        }
                        let around = around.and(rels_of(&inner.from));
                        self.pull_items(&mut inner.from, around, &mut inner.quals, merged);
                        quals.append(&mut inner.quals);
                        out.append(&mut inner.from);
                    }
                    None => out.push(From::Rel(rel)),
                },
                From::Join { kind: JoinKind::Full, left, right, quals: on } => {
                    out.push(From::Join { kind: JoinKind::Full, left, right, quals: on });
                }
                From::Join { kind, mut left, mut right, quals: mut on } => {
                    let (mut on_left, mut on_right) = (around, around);
                    if kind != JoinKind::Inner {
                        on_left.below = Some(rels_of(&left) | rels_of(&right));
                        on_right.below = on_left.below;
                    }
                    if kind == JoinKind::Left {
                        on_right.nullable = on_right.below;
                    }
                    self.pull_items(&mut left, on_left, quals, merged);
                    let inside = if kind == JoinKind::Inner { &mut *quals } else { &mut on };
                    self.pull_items(&mut right, on_right, inside, merged);
                    out.push(From::Join { kind, left, right, quals: on });
                }
            }
        }
        *items = out;
    }

    /// The subquery, if it may be merged into its parent.
    fn mergeable(&mut self, rel: RelId, around: Around) -> Option<Block> {
        let Around { nullable, below, beside } = around;
        let Source::Subquery(inner) = &self.sources[rel] else { return None };
        if !inner.is_simple() || inner.from.is_empty() || !inner.sort.is_empty() {
            return None;
        }
        let volatile = inner.targets.iter().any(|t| t.expr.is_volatile() || t.expr.has_subplans());
        // Under an outer join only plain columns become NULL by themselves, and only those of the subquery's own relations.
        let own = rels_of(&inner.from);
        let plain = inner.targets.iter().all(|t| matches!(&t.expr, Expr::Var(var) if own.contains(var.rel)));
        let whole = self.whole_rows.contains_key(&rel);
        if volatile || (nullable.is_some() && (!plain || whole || inner.from.len() > 1)) {
            return None;
        }
        // What decides an outer join's matches must be known where that is done. The subquery's columns may be among it.
        let outside = beside - below.unwrap_or(beside);
        if inner.targets.iter().any(|t| RelSet::of(&t.expr).overlaps(outside)) {
            return None;
        }
        let mut conditions = Vec::new();
        outer_join_conditions(&inner.from, false, &mut conditions);
        let quals = if nullable.is_some() { inner.quals.clone() } else { Vec::new() };
        if self.deeply_mention(conditions, beside)
            || self.deeply_mention(quals, beside - nullable.unwrap_or_default())
        {
            return None;
        }
        match std::mem::replace(&mut self.sources[rel], Source::Columns) {
            Source::Subquery(inner) => Some(*inner),
            _ => None,
        }
    }
}

/// Where the items of a FROM list stand when their subqueries are merged with it.
#[derive(Clone, Copy)]
struct Around {
    /// The relations of the lowest outer join that they are on the right side of.
    nullable: Option<RelSet>,
    /// The relations of the lowest outer join that has some of them on either side.
    below: Option<RelSet>,
    /// What they may look at.
    beside: RelSet,
}

impl Around {
    /// The same place after relations of a subquery there have joined it.
    fn and(self, rels: RelSet) -> Around {
        Around {
            nullable: self.nullable.map(|join| join | rels),
            below: self.below.map(|join| join | rels),
            beside: self.beside | rels,
        }
    }
}

/// The conditions in and below outer joins.
fn outer_join_conditions(items: &[From], below: bool, out: &mut Vec<Expr>) {
    for item in items {
        let From::Join { kind, left, right, quals } = item else { continue };
        let below = below || *kind != JoinKind::Inner;
        if below {
            out.extend_from_slice(quals);
        }
        outer_join_conditions(left, below, out);
        outer_join_conditions(right, below, out);
    }
}

fn positive(value: &tuple::Datum) -> bool {
    match value {
        tuple::Datum::Int8(n) => *n > 0,
        tuple::Datum::Int4(n) => *n > 0,
        _ => false,
    }
}

/// Turns inner joins into members of the FROM list; their conditions join the others.
pub(crate) fn flatten_joins(items: &mut Vec<From>, quals: &mut Vec<Expr>) {
    let mut out = Vec::new();
    for item in std::mem::take(items) {
        match item {
            From::Join { kind: JoinKind::Inner, mut left, mut right, quals: on } => {
                flatten_joins(&mut left, quals);
                flatten_joins(&mut right, quals);
                quals.extend(on);
                out.append(&mut left);
                out.append(&mut right);
            }
            From::Join { kind, mut left, mut right, quals: mut on } => {
                if kind == JoinKind::Full {
                    left = vec![wrap(left)];
                    right = vec![wrap(right)];
                } else {
                    // Rows of the left side that its conditions reject never reach the join.
                    flatten_joins(&mut left, quals);
                    flatten_joins(&mut right, &mut on);
                }
                on.iter_mut().for_each(fold);
                let mut flat = Vec::new();
                on.into_iter().for_each(|q| flatten_and(q, &mut flat));
                out.push(From::Join { kind, left, right, quals: flat });
            }
            rel => out.push(rel),
        }
    }
    *items = out;
}

fn wrap(mut items: Vec<From>) -> From {
    match items.len() {
        1 => items.swap_remove(0),
        _ => {
            let right = items.split_off(1);
            From::Join { kind: JoinKind::Inner, left: items, right, quals: Vec::new() }
        }
    }
}

/// Reduces LEFT and FULL joins whose NULL-extended rows a condition above rejects.
fn reduce_outer_joins(items: &mut [From], above: &[Expr]) {
    for item in items {
        let From::Join { kind, left, right, quals } = item else { continue };
        let rejects =
            |set: RelSet| above.iter().any(|q| set.iter().any(|rel| q.rejects_nulls_of(&|r| r == rel)));
        let (left_set, right_set) = (rels_of(left), rels_of(right));
        match kind {
            JoinKind::Left if rejects(right_set) => *kind = JoinKind::Inner,
            JoinKind::Full => match (rejects(left_set), rejects(right_set)) {
                (true, true) => *kind = JoinKind::Inner,
                (true, false) => *kind = JoinKind::Left,
                (false, true) => {
                    std::mem::swap(left, right);
                    *kind = JoinKind::Left;
                }
                (false, false) => {}
            },
            _ => {}
        }
        let mut inside: Vec<Expr> = quals.clone();
        match kind {
            JoinKind::Inner => {
                inside.extend_from_slice(above);
                reduce_outer_joins(left, &inside);
                reduce_outer_joins(right, &inside);
            }
            JoinKind::Left | JoinKind::Anti => {
                reduce_outer_joins(left, above);
                reduce_outer_joins(right, &inside);
            }
            JoinKind::Semi => {
                inside.extend_from_slice(above);
                reduce_outer_joins(left, &inside);
                reduce_outer_joins(right, quals);
            }
            _ => {}
        }
    }
}
