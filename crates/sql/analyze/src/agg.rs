//! Aggregates, window functions and GROUPING: which query they belong to, where they may stand, and what may stand beside them.
//!
//! PostgreSQL counterpart: `parse_agg.c`.

use base::{SqlError, SqlResult, sql_err};
use parse::ast;

use crate::core::{Analyzer, Place};
use crate::expr::{Aggregate, Expr, GroupingExpr, Location, Var, WindowCall};
use crate::query::{Query, RteKind};
use crate::walk::visit;

/// What the arguments of an aggregate refer to: the smallest number of levels out of a column, and of an aggregate.
#[derive(Default)]
struct ArgumentLevels {
    column: Option<(u32, Location)>,
    aggregate: Option<(u32, Location)>,
    window: Option<Location>,
    srf: Option<Location>,
}

impl ArgumentLevels {
    fn add_column(&mut self, up: u32, location: Location) {
        if self.column.is_none_or(|(known, _)| up < known) {
            self.column = Some((up, location));
        }
    }
}

impl Analyzer<'_> {
    /// Finds the query that an aggregate belongs to, and checks that it is allowed at this place.
    pub(crate) fn place_aggregate(&mut self, a: &mut Aggregate) -> SqlResult<()> {
        let mut found = ArgumentLevels::default();
        for e in a.args.iter().map(|target| &target.expr).chain(&a.filter) {
            self.levels_in(e, &mut found)?;
        }
        let mut direct = ArgumentLevels::default();
        for e in &a.direct_args {
            self.levels_in(e, &mut direct)?;
        }
        if let Some(location) = found.srf.or(direct.srf) {
            let error = sql_err!(
                FEATURE_NOT_SUPPORTED,
                "aggregate function calls cannot contain set-returning function calls"
            )
            .hint("You might be able to move the set-returning function into a LATERAL FROM item.");
            return Err(self.at(error, location));
        }
        if let Some(location) = found.window.or(direct.window) {
            let error =
                sql_err!(GROUPING_ERROR, "aggregate function calls cannot contain window function calls");
            return Err(self.at(error, location));
        }
        let level = match (found.column, found.aggregate) {
            (None, None) => 0,
            (Some((c, _)), None) => c,
            (None, Some((g, _))) => g,
            (Some((c, _)), Some((g, _))) => c.min(g),
        };
        // Direct arguments have no say in where the aggregate belongs, and must be known there.
        if let Some((_, location)) = direct.column.filter(|(column, _)| *column < level) {
            let error = sql_err!(
                GROUPING_ERROR,
                "outer-level aggregate cannot contain a lower-level variable in its direct arguments"
            );
            return Err(self.at(error, location));
        }
        let nested = found.aggregate.filter(|(nested, _)| *nested == level);
        if let Some((_, location)) = nested.or(direct.aggregate.filter(|(nested, _)| *nested <= level)) {
            return Err(
                self.at(sql_err!(GROUPING_ERROR, "aggregate function calls cannot be nested"), location)
            );
        }
        a.levels_up = level;
        self.allow_aggregate(level, a.location, "aggregate functions")?;
        Ok(())
    }

    fn levels_in(&self, e: &Expr, found: &mut ArgumentLevels) -> SqlResult<()> {
        visit(e, 0, &mut |e, depth| {
            match e {
                Expr::Var(v) if v.levels_up >= depth => {
                    let up = v.levels_up - depth;
                    found.add_column(up, v.location);
                }
                Expr::Aggregate(a) if a.levels_up >= depth => {
                    let up = a.levels_up - depth;
                    if found.aggregate.is_none_or(|(c, _)| up < c) {
                        found.aggregate = Some((up, a.location));
                    }
                    return Ok(true);
                }
                Expr::Grouping(g) if g.levels_up >= depth => {
                    let up = g.levels_up - depth;
                    if found.aggregate.is_none_or(|(c, _)| up < c) {
                        found.aggregate = Some((up, g.location));
                    }
                }
                Expr::Window(w) if depth == 0 => found.window = found.window.or(Some(w.location)),
                Expr::Func(f) if depth == 0 && f.returns_set => found.srf = found.srf.or(Some(f.location)),
                // A query of WITH must stay in reach of what refers to it.
                Expr::SubLink(s) => {
                    if let Some(up) = nearest_cte(&s.query, depth + 1) {
                        found.add_column(up, Location::NONE);
                    }
                }
                _ => {}
            }
            Ok(true)
        })
    }

    fn allow_aggregate(&mut self, level: u32, location: Location, what: &str) -> SqlResult<()> {
        let target = self.level_up(level)?;
        target.has_aggregates = true;
        let place = target.place;
        let forbidden = match place {
            Place::None
            | Place::Having
            | Place::WindowPartition
            | Place::WindowOrder
            | Place::SelectTarget
            | Place::OrderBy
            | Place::DistinctOn => return Ok(()),
            Place::UpdateSource
            | Place::Returning
            | Place::Where
            | Place::GroupBy
            | Place::Limit
            | Place::Offset
            | Place::Values
            | Place::Filter
            | Place::CopyWhere => {
                let clause =
                    if place == Place::CopyWhere { "COPY FROM WHERE conditions" } else { place.name() };
                format!("{what} are not allowed in {clause}")
            }
            Place::FromSubselect => {
                // Only LATERAL gets here: an aggregate of the query whose FROM this is.
                return Err(self.at(
                    sql_err!(
                        GROUPING_ERROR,
                        "{what} are not allowed in FROM clause of their own query level"
                    ),
                    location,
                ));
            }
            Place::WindowFrame(_) => format!("{what} are not allowed in {}", place.name()),
            place => format!("{what} are not allowed in {}", place.forbidden_in()),
        };
        Err(self.at(sql_err!(GROUPING_ERROR, "{forbidden}"), location))
    }

    /// GROUPING(...).
    pub(crate) fn grouping(&mut self, args: &[ast::Expr], location: Location) -> SqlResult<Expr> {
        if args.len() > 31 {
            return Err(
                self.at(sql_err!(TOO_MANY_ARGUMENTS, "GROUPING must have fewer than 32 arguments"), location)
            );
        }
        let args = self.expr_list(args)?;
        let mut g = GroupingExpr { args, refs: Vec::new(), levels_up: 0, location };
        let mut found = ArgumentLevels::default();
        for a in &g.args {
            self.levels_in(a, &mut found)?;
        }
        g.levels_up = found.column.map_or(0, |(up, _)| up);
        self.allow_aggregate(g.levels_up, location, "grouping operations")?;
        Ok(Expr::Grouping(Box::new(g)))
    }

    /// Finds or adds the window of a call and checks that one may stand here.
    pub(crate) fn place_window(&mut self, w: &mut WindowCall, over: &ast::WindowDef) -> SqlResult<()> {
        let nested = w
            .args
            .iter()
            .chain(&w.filter)
            .any(|a| crate::walk::contains(a, |e, depth| depth == 0 && matches!(e, Expr::Window(_))));
        if nested {
            return Err(
                self.at(sql_err!(WINDOWING_ERROR, "window function calls cannot be nested"), w.location)
            );
        }
        let place = self.place();
        let forbidden = match place {
            Place::None | Place::SelectTarget | Place::OrderBy | Place::DistinctOn => None,
            Place::JoinOn => Some("JOIN conditions"),
            Place::FromFunction => Some("functions in FROM"),
            Place::WindowPartition | Place::WindowOrder | Place::WindowFrame(_) => Some("window definitions"),
            place => Some(match place {
                Place::Where
                | Place::Having
                | Place::Filter
                | Place::GroupBy
                | Place::Limit
                | Place::Offset
                | Place::Returning
                | Place::Values
                | Place::UpdateSource => place.name(),
                place => place.forbidden_in(),
            }),
        };
        if let Some(clause) = forbidden {
            return Err(self
                .at(sql_err!(WINDOWING_ERROR, "window functions are not allowed in {clause}"), w.location));
        }
        self.level().has_windows = true;
        let bare = over.base.is_none()
            && over.partition_by.is_empty()
            && over.order_by.is_empty()
            && over.frame.is_none();
        if let Some(name) = over.name.as_ref().filter(|_| bare) {
            let found = self.level().windows.iter().position(|d| d.name.as_ref() == Some(name));
            let Some(i) = found else {
                return Err(
                    self.at(sql_err!(UNDEFINED_OBJECT, "window \"{name}\" does not exist"), over.location)
                );
            };
            w.window = i;
            return Ok(());
        }
        let same = |d: &ast::WindowDef| {
            d.name.is_none()
                && d.base == over.base
                && d.frame == over.frame
                && crate::syntax_equal::exprs(&d.partition_by, &over.partition_by)
                && crate::syntax_equal::sorts(&d.order_by, &over.order_by)
        };
        let windows = &mut self.level().windows;
        w.window = match windows.iter().position(same) {
            Some(i) => i,
            None => {
                windows.push(over.clone());
                windows.len() - 1
            }
        };
        Ok(())
    }

    /// Checks that everything outside aggregates is grouped, and numbers GROUPING's arguments.
    pub(crate) fn check_grouping(&mut self, query: &mut Query) -> SqlResult<()> {
        let recursive = query
            .range_table
            .iter()
            .any(|r| matches!(&r.kind, RteKind::Cte(c) if c.self_reference && c.levels_up > 0));
        if query.has_aggregates && recursive {
            let at = query.targets.iter().map(|t| first_aggregate(&t.expr)).find(|l| *l != Location::NONE);
            return Err(crate::recursion::aggregates_refused(self, at.unwrap_or(Location::NONE)));
        }
        let grouped = query.group_by.iter().map(|g| g.sort_ref).collect::<Vec<_>>();
        if grouped.is_empty()
            && query.grouping_sets.is_empty()
            && query.having.is_none()
            && !query.has_aggregates
        {
            return Ok(());
        }
        let mut keys: Vec<(u32, Expr)> = Vec::new();
        for r in &grouped {
            let Some(t) = query.targets.iter().find(|t| t.sort_ref == *r) else { continue };
            let nested = crate::walk::contains(&t.expr, |e, depth| {
                matches!(e, Expr::Aggregate(a) if a.levels_up == depth)
                    || matches!(e, Expr::Window(_) if depth == 0)
            });
            if nested {
                let window =
                    crate::walk::contains(&t.expr, |e, depth| depth == 0 && matches!(e, Expr::Window(_)));
                let error = if window {
                    sql_err!(WINDOWING_ERROR, "window functions are not allowed in GROUP BY")
                } else {
                    sql_err!(GROUPING_ERROR, "aggregate functions are not allowed in GROUP BY")
                };
                return Err(self.at(error, first_aggregate(&t.expr)));
            }
            keys.push((*r, t.expr.clone()));
        }
        // With grouping sets only what is in all of them determines other columns.
        let common: Vec<u32> = if query.grouping_sets.is_empty() {
            grouped
        } else {
            grouped.into_iter().filter(|r| query.grouping_sets.iter().all(|s| s.contains(r))).collect()
        };
        let mut check = GroupCheck { analyzer: self, keys, common, dependent: Vec::new(), in_direct: false };
        let range_table = std::mem::take(&mut query.range_table);
        let mut result = Ok(());
        for t in &mut query.targets {
            result = result.and_then(|()| check.expr(&mut t.expr, 0, &range_table));
        }
        if let Some(h) = &mut query.having {
            result = result.and_then(|()| check.expr(h, 0, &range_table));
        }
        query.range_table = range_table;
        result
    }
}

/// Levels out of the nearest query of WITH, outside the expression, that a subquery refers to.
fn nearest_cte(query: &Query, depth: u32) -> Option<u32> {
    query
        .range_table
        .iter()
        .filter_map(|r| match &r.kind {
            RteKind::Cte(c) => c.levels_up.checked_sub(depth),
            RteKind::Subquery(s) => nearest_cte(&s.query, depth + 1),
            _ => None,
        })
        .min()
}

fn first_aggregate(e: &Expr) -> Location {
    let mut at = Location::NONE;
    let _ = visit::<()>(e, 0, &mut |e, _| match e {
        Expr::Aggregate(a) => {
            at = a.location;
            Err(())
        }
        Expr::Window(w) => {
            at = w.location;
            Err(())
        }
        _ => Ok(true),
    });
    at
}

struct GroupCheck<'c, 'a> {
    analyzer: &'c mut Analyzer<'a>,
    keys: Vec<(u32, Expr)>,
    common: Vec<u32>,
    /// Relations whose primary key is grouped by.
    dependent: Vec<usize>,
    in_direct: bool,
}

impl GroupCheck<'_, '_> {
    fn expr(
        &mut self,
        e: &mut Expr,
        depth: u32,
        range_table: &[crate::query::RangeTableEntry],
    ) -> SqlResult<()> {
        match e {
            Expr::Aggregate(a) if a.levels_up == depth => {
                // Direct arguments must be grouped; the others need not.
                let before = std::mem::replace(&mut self.in_direct, true);
                for d in &mut a.direct_args {
                    self.expr(d, depth, range_table)?;
                }
                self.in_direct = before;
                return Ok(());
            }
            Expr::Aggregate(a) if a.levels_up > depth => return Ok(()),
            Expr::Grouping(g) => {
                if g.levels_up == depth {
                    return self.grouping(g, depth);
                }
                return Ok(());
            }
            Expr::Const(_) | Expr::Param(_) => return Ok(()),
            _ => {}
        }
        let is_own_var = matches!(e, Expr::Var(v) if v.levels_up == depth);
        if (is_own_var || !matches!(e, Expr::Var(_))) && self.is_key(e, depth) {
            return Ok(());
        }
        if let Expr::Var(v) = e {
            return if v.levels_up == depth { self.ungrouped(v, depth, range_table) } else { Ok(()) };
        }
        crate::walk::children_mut(e, &mut |e| self.expr(e, depth, range_table))?;
        if let Expr::SubLink(s) = e {
            self.query(&mut s.query, depth + 1, range_table)?;
        }
        Ok(())
    }

    fn query(
        &mut self,
        q: &mut Query,
        depth: u32,
        range_table: &[crate::query::RangeTableEntry],
    ) -> SqlResult<()> {
        crate::walk::roots_mut(q, &mut |e| self.expr(e, depth, range_table))?;
        for cte in &mut q.ctes {
            self.query(&mut cte.query, depth + 1, range_table)?;
        }
        for rte in &mut q.range_table {
            if let RteKind::Subquery(s) = &mut rte.kind {
                self.query(&mut s.query, depth + 1, range_table)?;
            }
        }
        Ok(())
    }

    fn is_key(&self, e: &Expr, depth: u32) -> bool {
        self.keys.iter().any(|(_, key)| {
            if depth == 0 {
                crate::equal::same(key, e)
            } else {
                let mut raised = key.clone();
                crate::walk::raise_levels(&mut raised, depth, 0);
                crate::equal::same(&raised, e)
            }
        })
    }

    fn grouping(&mut self, g: &mut GroupingExpr, depth: u32) -> SqlResult<()> {
        let mut refs = Vec::with_capacity(g.args.len());
        for a in &g.args {
            let found = self.keys.iter().find(|(_, key)| {
                let mut raised = key.clone();
                crate::walk::raise_levels(&mut raised, depth, 0);
                crate::equal::same(&raised, a)
            });
            match found {
                Some((r, _)) => refs.push(*r),
                None => {
                    let error = sql_err!(
                        GROUPING_ERROR,
                        "arguments to GROUPING must be grouping expressions of the associated query level"
                    );
                    return Err(self.analyzer.at(error, crate::facts::location(a)));
                }
            }
        }
        g.refs = refs;
        Ok(())
    }

    fn ungrouped(
        &mut self,
        v: &Var,
        depth: u32,
        range_table: &[crate::query::RangeTableEntry],
    ) -> SqlResult<()> {
        if self.dependent.contains(&v.rte) {
            return Ok(());
        }
        let Some(entry) = range_table.get(v.rte) else {
            return Err(SqlError::internal("range table entry is missing"));
        };
        if let RteKind::Relation(r) = &entry.kind
            && self.primary_key_grouped(v.rte, &r.table)
        {
            self.dependent.push(v.rte);
            return Ok(());
        }
        let relation = &entry.name;
        let column = match v.attno {
            0 => relation.clone(),
            n if n > 0 => entry.columns.get(n as usize - 1).cloned().unwrap_or_default(),
            n => system_name(n).to_owned(),
        };
        let error = if depth == 0 {
            sql_err!(
                GROUPING_ERROR,
                "column \"{relation}.{column}\" must appear in the GROUP BY clause or be used in an aggregate function"
            )
        } else {
            sql_err!(
                GROUPING_ERROR,
                "subquery uses ungrouped column \"{relation}.{column}\" from outer query"
            )
        };
        let error = if self.in_direct {
            error.detail("Direct arguments of an ordered-set aggregate must use only grouped columns.")
        } else {
            error
        };
        Err(self.analyzer.at(error, v.location))
    }

    fn primary_key_grouped(&self, rte: usize, table: &catalog::view::Table) -> bool {
        let Some(pk) = table.indexes.iter().find(|i| i.primary && i.immediate) else { return false };
        pk.keys.iter().all(|k| {
            self.keys.iter().any(|(r, e)| {
                self.common.contains(r)
                    && matches!(e, Expr::Var(v) if v.rte == rte && v.attno == *k && v.levels_up == 0)
            })
        })
    }
}

pub(crate) fn system_name(attno: i16) -> &'static str {
    use crate::expr::system_column as s;
    match attno {
        s::CTID => "ctid",
        s::XMIN => "xmin",
        s::CMIN => "cmin",
        s::XMAX => "xmax",
        s::CMAX => "cmax",
        _ => "tableoid",
    }
}
