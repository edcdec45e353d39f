//! SELECT: plain, VALUES, and set operations.
//!
//! PostgreSQL counterpart: `transformSelectStmt` and its kin of `analyze.c`.

use base::{Oid, SqlError, SqlResult, sql_err};
use parse::ast::{self, Distinct, LockStrength, Select, SelectBody, SetOp, SimpleSelect};
use types::oids;

use crate::coerce::location_of;
use crate::core::{Analyzer, Place};
use crate::expr::{Expr, Location, RowVersion, TargetEntry, Var};
use crate::query::{
    ColumnType, Command, FromExpr, FromNode, Query, RowMark, RteKind, SetOperation, SetOperationNode,
    SortGroupClause, Values,
};

impl Analyzer<'_> {
    /// A SELECT on the innermost level, which must be fresh.
    pub(crate) fn select(&mut self, s: &Select) -> SqlResult<Query> {
        runtime::check_stack()?;
        let mut query = Query::default();
        if let Some(with) = &s.with {
            self.with_clause(with, &mut query)?;
        }
        match &s.body {
            SelectBody::Simple(body) => self.simple_select(s, body, &mut query)?,
            SelectBody::Values(rows) => self.values_select(s, rows, &mut query)?,
            SelectBody::SetOp { .. } => self.set_select(s, &mut query)?,
        }
        self.finish_query(&mut query)?;
        for l in &s.locking {
            self.locking(&mut query, l)?;
        }
        Ok(query)
    }

    /// RETURN in the body of a function: a SELECT of one value.
    pub(crate) fn return_value(&mut self, value: &ast::Expr) -> SqlResult<Query> {
        let target = ast::ResTarget { name: None, value: value.clone(), location: Location::NONE };
        let body = SimpleSelect { targets: vec![target], ..SimpleSelect::default() };
        let body = SelectBody::Simple(Box::new(body));
        self.select(&Select {
            with: None,
            body,
            order_by: Vec::new(),
            offset: None,
            limit: None,
            with_ties: false,
            locking: Vec::new(),
        })
    }

    fn simple_select(&mut self, s: &Select, body: &SimpleSelect, query: &mut Query) -> SqlResult<()> {
        if let Some(into) = &body.into {
            let error = sql_err!(SYNTAX_ERROR, "SELECT ... INTO is not allowed here");
            return Err(self.at(error, into.relation.location));
        }
        self.level().windows = body.windows.clone();
        let items = self.join_list(&body.from)?;
        let mut targets = self.target_list(&body.targets, Place::SelectTarget)?;
        self.mark_origins(&mut targets);
        let filter = self.opt_condition(body.filter.as_ref(), Place::Where)?;
        query.having = self.opt_condition(body.having.as_ref(), Place::Having)?;
        query.order_by = self.sort_clause(&s.order_by, &mut targets, Place::OrderBy, false)?;
        let order_by = query.order_by.clone();
        let grouped = self.group_clause(&body.group_by, &mut targets, &order_by, body.group_distinct)?;
        (query.group_by, query.grouping_sets, query.grouping) = (grouped.keys, grouped.sets, grouped.written);
        query.group_distinct = body.group_distinct;
        match &body.distinct {
            Distinct::None => {}
            Distinct::All => query.distinct = self.distinct_clause(&mut targets, &order_by, false)?,
            Distinct::On(list) => {
                query.distinct = self.distinct_on(list, &mut targets, &order_by)?;
                query.distinct_on = true;
            }
        }
        query.offset = self.limit(s.offset.as_ref(), Place::Offset, false)?;
        query.limit = self.limit(s.limit.as_ref(), Place::Limit, s.with_ties)?;
        query.with_ties = s.with_ties;
        if s.with_ties && s.order_by.is_empty() {
            return Err(sql_err!(SYNTAX_ERROR, "WITH TIES cannot be specified without ORDER BY clause"));
        }
        let windows = std::mem::take(&mut self.level().windows);
        query.windows = self.window_clauses(&windows, &mut targets)?;
        if self.level().resolve_unknowns {
            self.resolve_unknown_targets(&mut targets)?;
        }
        query.targets = targets;
        query.join_tree = FromExpr { items, filter };
        Ok(())
    }

    fn values_select(&mut self, s: &Select, rows: &[Vec<ast::Expr>], query: &mut Query) -> SqlResult<()> {
        if let Some(l) = s.locking.first() {
            return Err(sql_err!(
                FEATURE_NOT_SUPPORTED,
                "{} cannot be applied to VALUES",
                l.strength.clause()
            ));
        }
        let mut columns: Vec<Vec<Expr>> = Vec::new();
        for (i, row) in rows.iter().enumerate() {
            let exprs = self.in_place(Place::Values, |a| a.expanded_list(row))?;
            if i == 0 {
                columns.resize_with(exprs.len(), Vec::new);
            } else if exprs.len() != columns.len() {
                let at = exprs.first().map_or(Location::NONE, location_of);
                return Err(self.at(sql_err!(SYNTAX_ERROR, "VALUES lists must all be the same length"), at));
            }
            for (column, e) in columns.iter_mut().zip(exprs) {
                column.push(e);
            }
        }
        let mut types = Vec::with_capacity(columns.len());
        let mut table: Vec<Vec<Expr>> = (0..rows.len()).map(|_| Vec::with_capacity(columns.len())).collect();
        for (i, column) in columns.into_iter().enumerate() {
            let refs: Vec<&Expr> = column.iter().collect();
            let common = self.common_type(&refs, Some("VALUES"))?;
            let mut coerced = Vec::with_capacity(column.len());
            for e in column {
                let mut e = self.coerce_to_common(e, common, "VALUES")?;
                crate::collate::assign(self, &mut e)?;
                coerced.push(e);
            }
            let refs: Vec<&Expr> = coerced.iter().collect();
            types.push(ColumnType {
                name: format!("column{}", i + 1),
                type_oid: common,
                typmod: self.common_typmod(&refs, common),
                collation: crate::collate::common(self, &refs)?,
            });
            for (row, e) in table.iter_mut().zip(coerced) {
                row.push(e);
            }
        }
        let names = types.iter().map(|c| c.name.clone()).collect();
        let lateral = self.levels.len() > 1
            && table.iter().flatten().any(|e| {
                crate::walk::contains(e, |e, depth| matches!(e, Expr::Var(v) if v.levels_up == depth))
            });
        let kind = RteKind::Values(Values { rows: table, columns: types.clone() });
        let item = self.add_entry(kind, None, "*VALUES*", names, &types, None, Oid::INVALID)?;
        self.level().range_table[item.rte].lateral = lateral;
        let rte = item.rte;
        let mut targets: Vec<TargetEntry> = item
            .columns
            .iter()
            .enumerate()
            .map(|(i, c)| crate::target::entry(c.expr.clone(), i as i16 + 1, Some(c.name.clone()), false))
            .collect();
        self.level().namespace.push(item);
        query.order_by = self.sort_clause(&s.order_by, &mut targets, Place::OrderBy, false)?;
        query.offset = self.limit(s.offset.as_ref(), Place::Offset, false)?;
        query.limit = self.limit(s.limit.as_ref(), Place::Limit, s.with_ties)?;
        query.with_ties = s.with_ties;
        query.targets = targets;
        query.join_tree = FromExpr { items: vec![FromNode::Entry(rte)], filter: None };
        Ok(())
    }

    fn set_select(&mut self, s: &Select, query: &mut Query) -> SqlResult<()> {
        if let Some(l) = s.locking.first() {
            return Err(sql_err!(
                FEATURE_NOT_SUPPORTED,
                "{} is not allowed with UNION/INTERSECT/EXCEPT",
                l.strength.clause()
            ));
        }
        let SelectBody::SetOp { op, all, left, right } = &s.body else {
            return Err(crate::expr_transform::shape());
        };
        let (tree, columns) = self.set_node(*op, *all, left, right, true)?;
        let Some(leftmost) = leftmost(&tree) else { return Err(crate::expr_transform::shape()) };
        let mut targets = Vec::with_capacity(columns.len());
        let mut names = Vec::with_capacity(columns.len());
        for (i, c) in columns.iter().enumerate() {
            let expr = Expr::Var(crate::expr::Var {
                rte: leftmost,
                attno: i as i16 + 1,
                type_oid: c.type_oid,
                typmod: c.typmod,
                collation: c.collation,
                levels_up: 0,
                version: crate::expr::RowVersion::Default,
                location: Location::NONE,
            });
            names.push(crate::core::NsColumn { name: c.name.clone(), expr: expr.clone(), unlisted: false });
            targets.push(crate::target::entry(expr, i as i16 + 1, Some(c.name.clone()), false));
        }
        // ORDER BY sees the output columns only.
        let outer = std::mem::take(&mut self.level().namespace);
        self.level().namespace.push(crate::core::NsItem {
            name: String::new(),
            aliased: true,
            rte: leftmost,
            relation: Oid::INVALID,
            columns: names,
            rel_visible: false,
            cols_visible: true,
            lateral_only: false,
            lateral_ok: true,
            version: crate::expr::RowVersion::Default,
            is_join: true,
        });
        let before = targets.len();
        let order_by = self.sort_clause(&s.order_by, &mut targets, Place::OrderBy, false);
        self.level().namespace = outer;
        query.order_by = order_by?;
        if let Some(extra) = targets.get(before) {
            let error = sql_err!(FEATURE_NOT_SUPPORTED, "invalid UNION/INTERSECT/EXCEPT ORDER BY clause")
                .detail("Only result column names can be used, not expressions or functions.")
                .hint("Add the expression/function to every SELECT, or move the UNION into a FROM clause.");
            return Err(self.at(error, location_of(&extra.expr)));
        }
        query.offset = self.limit(s.offset.as_ref(), Place::Offset, false)?;
        query.limit = self.limit(s.limit.as_ref(), Place::Limit, s.with_ties)?;
        query.with_ties = s.with_ties;
        query.targets = targets;
        query.set_operation = Some(tree);
        Ok(())
    }

    /// One input of a set operation: its tree and columns.
    fn set_input(&mut self, s: &Select, top: bool) -> SqlResult<(SetOperation, Vec<ColumnType>)> {
        runtime::check_stack()?;
        let bare = s.with.is_none()
            && s.order_by.is_empty()
            && s.limit.is_none()
            && s.offset.is_none()
            && s.locking.is_empty();
        if let (SelectBody::SetOp { op, all, left, right }, true) = (&s.body, bare) {
            return self.set_node(*op, *all, left, right, top);
        }
        if let SelectBody::Simple(body) = &s.body
            && let Some(into) = &body.into
        {
            let error =
                sql_err!(SYNTAX_ERROR, "INTO is only allowed on first SELECT of UNION/INTERSECT/EXCEPT");
            return Err(self.at(error, into.relation.location));
        }
        let query = self.nested(|a| {
            a.level().resolve_unknowns = false;
            a.select(s)
        })?;
        let own = crate::views::refers_to_level(&query, 1);
        if own && self.level().namespace.iter().any(|n| !n.lateral_only) {
            return Err(sql_err!(
                INVALID_COLUMN_REFERENCE,
                "UNION/INTERSECT/EXCEPT member statement cannot refer to other relations of same query level"
            ));
        }
        let columns = self.query_columns(&query);
        let name = format!("*SELECT* {}", self.level().range_table.len() + 1);
        let mut item = self.add_subquery(query, false, None)?;
        item.name.clone_from(&name);
        self.level().range_table[item.rte].name = name;
        self.level().range_table[item.rte].in_from = false;
        Ok((SetOperation::Leaf(item.rte), columns))
    }

    fn set_node(
        &mut self,
        op: SetOp,
        all: bool,
        left: &Select,
        right: &Select,
        top: bool,
    ) -> SqlResult<(SetOperation, Vec<ColumnType>)> {
        let context = match op {
            SetOp::Union => "UNION",
            SetOp::Intersect => "INTERSECT",
            SetOp::Except => "EXCEPT",
        };
        let (left, left_columns) = self.set_input(left, false)?;
        // The recursive term of a CTE sees the columns of the other one.
        if top {
            self.announce_recursive(&left_columns)?;
        }
        let (right, right_columns) = self.set_input(right, false)?;
        if left_columns.len() != right_columns.len() {
            let at = self.set_location(&right);
            let error = sql_err!(SYNTAX_ERROR, "each {context} query must have the same number of columns");
            return Err(self.at(error, at));
        }
        let compares = !(op == SetOp::Union && all);
        let mut columns = Vec::with_capacity(left_columns.len());
        let mut group_by = Vec::new();
        for (i, l) in left_columns.iter().enumerate() {
            let sides = [(&left, l), (&right, &right_columns[i])];
            let column = self.set_column(i, sides, context, compares)?;
            if compares {
                group_by.push(self.set_group(i, &column, &left, &right)?);
            }
            columns.push(column);
        }
        let left_casts = self.set_casts(&left, &left_columns, &columns)?;
        let right_casts = self.set_casts(&right, &right_columns, &columns)?;
        let made = columns.clone();
        let node =
            SetOperationNode { op, all, left, right, left_casts, right_casts, columns: made, group_by };
        Ok((SetOperation::Node(Box::new(node)), columns))
    }

    /// Column `i` of a set operation, from that of each side.
    fn set_column(
        &mut self,
        i: usize,
        [(left, l), (right, r)]: [(&SetOperation, &ColumnType); 2],
        context: &str,
        compares: bool,
    ) -> SqlResult<ColumnType> {
        let left_at = self.column_location(left, i);
        let right_at = self.column_location(right, i);
        let type_oid = self.common_of(&[(l.type_oid, left_at), (r.type_oid, right_at)], Some(context))?;
        self.settle_unknown(left, i, type_oid)?;
        self.settle_unknown(right, i, type_oid)?;
        for (c, at) in [(l, left_at), (r, right_at)] {
            if !self.can_coerce(c.type_oid, type_oid, types::CastContext::Implicit)? {
                let (from, to) = (self.type_text(c.type_oid), self.type_text(type_oid));
                return Err(
                    self.at(sql_err!(CANNOT_COERCE, "{context} could not convert type {from} to {to}"), at)
                );
            }
        }
        let typmod = if l.type_oid == r.type_oid && l.typmod == r.typmod { l.typmod } else { -1 };
        let natural = self.type_collation(type_oid)?;
        let collation = if natural.is_valid() {
            let sides = [(left, l.collation, left_at), (right, r.collation, right_at)];
            let inputs = sides.map(|(input, collation, location)| crate::collate::SetInput {
                expr: self.leaf_column(input, i),
                collation,
                location,
            });
            crate::collate::of_set(self, inputs, natural, compares)?
        } else {
            Oid::INVALID
        };
        Ok(ColumnType { name: l.name.clone(), type_oid, typmod, collation })
    }

    /// What makes the columns of a set operation of an input's; nothing if they are of the same types.
    fn set_casts(
        &mut self,
        input: &SetOperation,
        from: &[ColumnType],
        to: &[ColumnType],
    ) -> SqlResult<Vec<Expr>> {
        // Untyped literals have been converted to the type that the operation wants.
        let settled = |l: &ColumnType| matches!(input, SetOperation::Leaf(_)) && l.type_oid == oids::unknown;
        if from.iter().zip(to).all(|(f, t)| f.type_oid == t.type_oid || settled(f)) {
            return Ok(Vec::new());
        }
        let rte = leftmost(input).ok_or_else(|| SqlError::internal("set operation without input"))?;
        let mut casts = Vec::with_capacity(to.len());
        for (i, (from, to)) in from.iter().zip(to).enumerate() {
            let source = if settled(from) { to } else { from };
            let column = Expr::Var(Var {
                rte,
                attno: i as i16 + 1,
                type_oid: source.type_oid,
                typmod: source.typmod,
                collation: source.collation,
                levels_up: 0,
                version: RowVersion::default(),
                location: Location::NONE,
            });
            casts.push(self.coerce(column, to.type_oid, -1, crate::coerce::Coercion::implicit())?);
        }
        Ok(casts)
    }

    fn set_group(
        &mut self,
        i: usize,
        column: &ColumnType,
        left: &SetOperation,
        _: &SetOperation,
    ) -> SqlResult<SortGroupClause> {
        let ops = self.sort_operators(column.type_oid)?;
        if !ops.equal.is_valid() {
            let at = self.column_location(left, i);
            let error = sql_err!(
                UNDEFINED_FUNCTION,
                "could not identify an equality operator for type {}",
                self.type_text(column.type_oid)
            );
            return Err(self.at(error, at));
        }
        Ok(SortGroupClause {
            sort_ref: i as u32 + 1,
            equality: ops.equal,
            ordering: ops.less,
            descending: false,
            nulls_first: false,
            hashable: ops.hashable,
        })
    }

    /// Converts the literals of no type, in an input's target list, to the column's type.
    fn settle_unknown(&mut self, input: &SetOperation, i: usize, type_oid: Oid) -> SqlResult<()> {
        let SetOperation::Leaf(rte) = input else { return Ok(()) };
        let level = self.level();
        let Some(RteKind::Subquery(s)) = level.range_table.get_mut(*rte).map(|r| &mut r.kind) else {
            return Ok(());
        };
        let Some(t) = s.query.targets.iter_mut().filter(|t| !t.junk).nth(i) else { return Ok(()) };
        let unknown = match &t.expr {
            Expr::Const(c) => c.type_oid == oids::unknown,
            Expr::Param(p) => p.type_oid == oids::unknown,
            _ => false,
        };
        if !unknown {
            return Ok(());
        }
        let e = std::mem::replace(&mut t.expr, crate::coerce::bool_const(true));
        let e = self.coerce(e, type_oid, -1, crate::coerce::Coercion::implicit())?;
        let level = self.level();
        if let Some(RteKind::Subquery(s)) = level.range_table.get_mut(*rte).map(|r| &mut r.kind)
            && let Some(t) = s.query.targets.iter_mut().filter(|t| !t.junk).nth(i)
        {
            t.expr = e;
        }
        Ok(())
    }

    fn column_location(&self, input: &SetOperation, i: usize) -> Location {
        leftmost(input).and_then(|rte| self.subquery_column(rte, i)).map_or(Location::NONE, location_of)
    }

    /// What column `i` of an input is made of, if that is a query and not a set operation itself.
    fn leaf_column(&self, input: &SetOperation, i: usize) -> Option<&Expr> {
        match input {
            SetOperation::Leaf(rte) => self.subquery_column(*rte, i),
            SetOperation::Node(_) => None,
        }
    }

    /// What column `i` of a subquery in the innermost level's range table is made of.
    fn subquery_column(&self, rte: usize, i: usize) -> Option<&Expr> {
        match &self.levels.last()?.range_table.get(rte)?.kind {
            RteKind::Subquery(s) => s.query.result_columns().nth(i).map(|t| &t.expr),
            _ => None,
        }
    }

    fn set_location(&self, input: &SetOperation) -> Location {
        self.column_location(input, 0)
    }

    /// Moves what was collected for the query level into the query, and checks the result.
    pub(crate) fn finish_query(&mut self, query: &mut Query) -> SqlResult<()> {
        let level = self.level();
        query.range_table = std::mem::take(&mut level.range_table);
        let mut ctes = std::mem::take(&mut level.ctes);
        query.ctes.append(&mut ctes);
        query.target = level.target;
        query.has_aggregates |= level.has_aggregates;
        query.has_windows |= level.has_windows;
        query.has_target_srfs |= level.has_srfs;
        query.has_sublinks |= level.has_sublinks;
        query.has_modifying_cte |= level.has_modifying_cte;
        crate::collate::assign_query(self, query)?;
        self.check_grouping(query)
    }

    fn locking(&mut self, query: &mut Query, l: &ast::Locking) -> SqlResult<()> {
        let clause = l.strength.clause();
        let refuse = if query.set_operation.is_some() {
            Some("is not allowed with UNION/INTERSECT/EXCEPT")
        } else if !query.distinct.is_empty() {
            Some("is not allowed with DISTINCT clause")
        } else if !query.group_by.is_empty() || !query.grouping_sets.is_empty() {
            Some("is not allowed with GROUP BY clause")
        } else if query.having.is_some() {
            Some("is not allowed with HAVING clause")
        } else if query.has_aggregates {
            Some("is not allowed with aggregate functions")
        } else if query.has_windows {
            Some("is not allowed with window functions")
        } else if query.has_target_srfs {
            Some("is not allowed with set-returning functions in the target list")
        } else {
            None
        };
        if let Some(why) = refuse {
            return Err(sql_err!(FEATURE_NOT_SUPPORTED, "{clause} {why}"));
        }
        query.has_for_update = true;
        if l.tables.is_empty() {
            for rte in 0..query.range_table.len() {
                if query.range_table[rte].in_from {
                    mark_row(query, rte, (l.strength, l.wait), Marked::Named);
                }
            }
            return Ok(());
        }
        for t in &l.tables {
            if t.schema.is_some() || t.catalog.is_some() {
                let error = sql_err!(SYNTAX_ERROR, "{clause} must specify unqualified relation names");
                return Err(self.at(error, t.location));
            }
            let found = query.range_table.iter().position(|r| {
                r.in_from && r.name == t.name && !(matches!(r.kind, RteKind::Join(_)) && r.alias.is_none())
            });
            let Some(rte) = found else {
                let error = sql_err!(
                    UNDEFINED_TABLE,
                    "relation \"{}\" in {clause} clause not found in FROM clause",
                    t.name
                );
                return Err(self.at(error, t.location));
            };
            let what = match &query.range_table[rte].kind {
                RteKind::Join(_) => Some("a join"),
                RteKind::Function(_) => Some("a function"),
                RteKind::Values(_) => Some("VALUES"),
                RteKind::Cte(_) => Some("a WITH query"),
                RteKind::Transition(_) => Some("a named tuplestore"),
                _ => None,
            };
            if let Some(what) = what {
                let error = sql_err!(FEATURE_NOT_SUPPORTED, "{clause} cannot be applied to {what}");
                return Err(self.at(error, t.location));
            }
            mark_row(query, rte, (l.strength, l.wait), Marked::Named);
        }
        Ok(())
    }
}

/// How an entry comes to be locked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Marked {
    /// The clause names it, or means all.
    Named,
    /// It is in a subquery that is locked.
    InSubquery,
    /// It is in a view that is locked. Who locks the view need not be allowed to lock the views in it.
    InView,
}

/// Marks the rows of an entry to be locked; a subquery's relations too.
fn mark_row(query: &mut Query, rte: usize, (strength, wait): (LockStrength, ast::LockWait), how: Marked) {
    let pushed_down = how != Marked::Named;
    let entry = &mut query.range_table[rte];
    match &mut entry.kind {
        RteKind::Relation(r) => {
            r.lock_mode = r.lock_mode.max(2);
            if let Some(a) = &mut entry.access {
                a.required |= crate::query::access::UPDATE;
            }
        }
        RteKind::Subquery(s) => {
            let is_view = s.view.is_valid();
            if is_view
                && how != Marked::InView
                && let Some(a) = &mut entry.access
            {
                a.required |= crate::query::access::UPDATE;
            }
            let inner = if is_view || how == Marked::InView { Marked::InView } else { Marked::InSubquery };
            for i in 0..s.query.range_table.len() {
                if s.query.range_table[i].in_from && s.query.command == Command::Select {
                    mark_row(&mut s.query, i, (strength, wait), inner);
                }
            }
        }
        _ => return,
    }
    match query.row_marks.iter_mut().find(|m| m.rte == rte) {
        Some(m) => {
            m.strength = m.strength.max(strength);
            m.wait = m.wait.max(wait);
            m.pushed_down &= pushed_down;
        }
        None => query.row_marks.push(RowMark { rte, strength, wait, pushed_down }),
    }
}

/// The leftmost input of a set operation.
fn leftmost(tree: &SetOperation) -> Option<usize> {
    match tree {
        SetOperation::Leaf(rte) => Some(*rte),
        SetOperation::Node(n) => leftmost(&n.left),
    }
}
