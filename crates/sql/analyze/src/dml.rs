//! INSERT, UPDATE, DELETE, MERGE as written; `rewrite` completes them.
//!
//! PostgreSQL counterpart: `analyze.c`.

use std::sync::Arc;

use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::view::{RelationKind, Table};
use parse::ast::{self, Assignment, SelectBody, Statement};
use types::oids;

use crate::coerce::location_of;
use crate::core::{Analyzer, NsItem, Place};
use crate::expr::{Expr, Location, RowVersion, TargetEntry};
use crate::query::{Command, FromExpr, FromNode, MergeAction, Overriding, Query, RteKind, Values, access};

impl Analyzer<'_> {
    /// A statement that is planned, on the innermost level, which must be fresh.
    pub(crate) fn plannable(&mut self, s: &Statement) -> SqlResult<Query> {
        match s {
            Statement::Select(s) => self.select(s),
            Statement::Insert(s) => self.insert(s),
            Statement::Update(s) => self.update(s),
            Statement::Delete(s) => self.delete(s),
            Statement::Merge(s) => self.merge(s),
            Statement::Return(e) => self.return_value(e),
            Statement::Assign(s) => self.assignment(s),
            _ => Err(SqlError::internal("statement is not plannable")),
        }
    }

    /// The relation to be written to.
    pub(crate) fn target_relation(
        &mut self,
        r: &ast::RangeVar,
        required: u32,
        verb: &str,
    ) -> SqlResult<(Arc<Table>, NsItem)> {
        if self.transition(r).is_some() {
            return Err(sql_err!(
                SYNTAX_ERROR,
                "relation \"{}\" cannot be the target of a modifying statement",
                r.name
            ));
        }
        let table = self.open_relation(r)?;
        match table.kind {
            RelationKind::Table
            | RelationKind::PartitionedTable
            | RelationKind::View
            | RelationKind::ForeignTable => {}
            RelationKind::MaterializedView if self.catalog.maintained() == table.oid => {}
            kind => {
                let what = match kind {
                    RelationKind::Sequence => "sequence",
                    RelationKind::MaterializedView => "materialized view",
                    RelationKind::Toast => "TOAST relation",
                    _ => "relation",
                };
                if matches!(
                    kind,
                    RelationKind::Index | RelationKind::Composite | RelationKind::PartitionedIndex
                ) {
                    return Err(self.at(
                        sql_err!(WRONG_OBJECT_TYPE, "cannot open relation \"{}\"", table.name).detail(
                            if kind == RelationKind::Composite {
                                "This operation is not supported for composite types."
                            } else {
                                "This operation is not supported for indexes."
                            },
                        ),
                        r.location,
                    ));
                }
                let _ = verb;
                return Err(sql_err!(WRONG_OBJECT_TYPE, "cannot change {what} \"{}\"", table.name));
            }
        }
        let item = self.plain_item(table.clone(), r, 3, required)?;
        self.level().target = Some(item.rte);
        let rte = item.rte;
        self.level().range_table[rte].in_from = required != access::INSERT;
        Ok((table, item))
    }

    fn insert(&mut self, s: &ast::Insert) -> SqlResult<Query> {
        let mut query = Query { command: Command::Insert, overriding: s.overriding, ..Query::default() };
        if let Some(with) = &s.with {
            self.with_clause(with, &mut query)?;
        }
        let required = if s.on_conflict.as_ref().is_some_and(|c| c.update.is_some()) {
            access::INSERT | access::UPDATE
        } else {
            access::INSERT
        };
        let (table, item) = self.target_relation(&s.relation, access::INSERT, "insert into")?;
        let rte = item.rte;
        if let Some(a) = &mut self.level().range_table[rte].access {
            a.required = required;
        }
        let columns = self.insert_columns(&table, &s.columns)?;
        let values = self.insert_source(s, &table, &columns, &mut query)?;
        query.targets = self.insert_row(&table, &columns, values, (rte, !s.columns.is_empty()))?;
        self.level().namespace.clear();
        if let Some(c) = &s.on_conflict {
            query.on_conflict = Some(self.on_conflict(c, &s.relation, &table, &item)?);
        }
        self.level().namespace.clear();
        self.returning(&s.returning, item, &mut query)?;
        self.finish_change(query)
    }

    /// Attribute numbers and steps of the columns to insert into.
    fn insert_columns<'s>(
        &mut self,
        table: &Table,
        columns: &'s [ast::TargetColumn],
    ) -> SqlResult<Vec<(i16, &'s [ast::Indirection], Location)>> {
        if columns.is_empty() {
            let all = table.columns.iter().enumerate().filter(|(_, c)| !c.dropped);
            return Ok(all.map(|(i, _)| (i as i16 + 1, [].as_slice(), Location::NONE)).collect());
        }
        let mut out: Vec<(i16, &[ast::Indirection], Location)> = Vec::with_capacity(columns.len());
        for c in columns {
            let attno = self.target_attno(table, &c.name, c.location)?;
            let twice =
                out.iter().any(|(a, steps, _)| *a == attno && (steps.is_empty() || c.steps.is_empty()));
            if twice {
                return Err(self.at(
                    sql_err!(DUPLICATE_COLUMN, "column \"{}\" specified more than once", c.name),
                    c.location,
                ));
            }
            out.push((attno, &c.steps, c.location));
        }
        Ok(out)
    }

    /// Attribute number of a column to be written.
    pub(crate) fn target_attno(&self, table: &Table, name: &str, location: Location) -> SqlResult<i16> {
        if let Some((attno, _)) = table.column(name) {
            return Ok(attno);
        }
        let error = if crate::columns::system_column_named(name).is_some() {
            sql_err!(FEATURE_NOT_SUPPORTED, "cannot assign to system column \"{name}\"")
        } else {
            sql_err!(UNDEFINED_COLUMN, "column \"{name}\" of relation \"{}\" does not exist", table.name)
        };
        Err(self.at(error, location))
    }

    /// Values of the first (or only) row: literals, columns of VALUES, or columns of a subquery.
    fn insert_source(
        &mut self,
        s: &ast::Insert,
        table: &Table,
        columns: &[(i16, &[ast::Indirection], Location)],
        query: &mut Query,
    ) -> SqlResult<Vec<(Expr, Location)>> {
        let Some(source) = &s.source else { return Ok(Vec::new()) };
        let plain = source.with.is_none()
            && source.order_by.is_empty()
            && source.limit.is_none()
            && source.offset.is_none()
            && source.locking.is_empty();
        if let (SelectBody::Values(rows), true) = (&source.body, plain) {
            if let [row] = rows.as_slice() {
                return self.value_row(row);
            }
            return self.value_rows(s, rows, table, columns, query);
        }
        let sub = self.nested(|a| {
            a.level().resolve_unknowns = false;
            a.select(source)
        })?;
        let mut values = Vec::new();
        let literals: Vec<Option<Expr>> = sub
            .targets
            .iter()
            .filter(|t| !t.junk)
            .map(|t| match &t.expr {
                Expr::Const(c) if c.type_oid == oids::unknown => Some(t.expr.clone()),
                Expr::Param(p) if p.type_oid == oids::unknown => Some(t.expr.clone()),
                _ => None,
            })
            .collect();
        let locations: Vec<Location> =
            sub.targets.iter().filter(|t| !t.junk).map(|t| location_of(&t.expr)).collect();
        let alias = ast::Alias { name: "*SELECT*".into(), columns: Vec::new() };
        let item = self.add_subquery(sub, false, Some(&alias))?;
        query.join_tree = FromExpr { items: vec![FromNode::Entry(item.rte)], filter: None };
        for ((c, literal), location) in item.columns.iter().zip(literals).zip(locations) {
            let mut e = literal.unwrap_or_else(|| c.expr.clone());
            crate::columns::set_location(&mut e, location);
            values.push((e, location));
        }
        Ok(values)
    }

    /// One row of VALUES as written: DEFAULT stays a marker.
    fn value_row(&mut self, row: &[ast::Expr]) -> SqlResult<Vec<(Expr, Location)>> {
        let mut out = Vec::with_capacity(row.len());
        for e in row {
            if let ast::Expr::Default { location } = e {
                let marker =
                    crate::expr_transform::default_marker(oids::unknown, -1, Oid::INVALID, *location);
                out.push((marker, *location));
                continue;
            }
            let exprs = self.in_place(Place::Values, |a| a.expanded_list(std::slice::from_ref(e)))?;
            out.extend(exprs.into_iter().map(|e| {
                let location = location_of(&e);
                (e, location)
            }));
        }
        Ok(out)
    }

    /// Several rows of VALUES: an entry of the range table whose columns have the target's types.
    fn value_rows(
        &mut self,
        s: &ast::Insert,
        rows: &[Vec<ast::Expr>],
        table: &Table,
        columns: &[(i16, &[ast::Indirection], Location)],
        query: &mut Query,
    ) -> SqlResult<Vec<(Expr, Location)>> {
        let mut out: Vec<Vec<Expr>> = Vec::with_capacity(rows.len());
        let mut width = None;
        let mut locations = Vec::new();
        for row in rows {
            let values = self.value_row(row)?;
            let first = values.first().map_or(Location::NONE, |v| v.1);
            if *width.get_or_insert(values.len()) != values.len() {
                return Err(
                    self.at(sql_err!(SYNTAX_ERROR, "VALUES lists must all be the same length"), first)
                );
            }
            if locations.is_empty() {
                locations = values.iter().map(|v| v.1).collect();
            }
            self.check_row_width(columns, &values, !s.columns.is_empty())?;
            let mut done = Vec::with_capacity(values.len());
            for ((value, location), (attno, steps, at)) in values.into_iter().zip(columns) {
                let mut e = match value {
                    Expr::Default(_) => {
                        self.check_default_steps(steps, *location_or(&location, at))?;
                        open(table, *attno)
                    }
                    value if steps.is_empty() => self.coerce_to_column(value, table, *attno)?,
                    value => {
                        let location = *location_or(&location, at);
                        let mut stored = self.assign_column(table, *attno, steps, value, location, true)?;
                        crate::rewrite::take_value(&mut stored)
                    }
                };
                crate::collate::assign(self, &mut e)?;
                done.push(e);
            }
            out.push(done);
        }
        let mut types = Vec::new();
        for (i, (attno, steps, _)) in columns.iter().enumerate().take(width.unwrap_or(0)) {
            let c = &table.columns[*attno as usize - 1];
            let plain = steps.is_empty();
            let of_rows = out.first().map_or(c.type_oid, |r| self.type_of(&r[i]));
            types.push(crate::query::ColumnType {
                name: format!("column{}", i + 1),
                type_oid: if plain { c.type_oid } else { of_rows },
                typmod: if plain { c.typmod } else { -1 },
                collation: c.collation,
            });
        }
        let names = types.iter().map(|c| c.name.clone()).collect();
        let kind = RteKind::Values(Values { rows: out, columns: types.clone() });
        let item = self.add_entry(kind, None, "*VALUES*", names, &types, None, Oid::INVALID)?;
        query.join_tree = FromExpr { items: vec![FromNode::Entry(item.rte)], filter: None };
        Ok(item
            .columns
            .into_iter()
            .zip(locations)
            .map(|(c, location)| {
                let mut e = c.expr;
                crate::columns::set_location(&mut e, location);
                (e, location)
            })
            .collect())
    }

    fn check_row_width(
        &self,
        columns: &[(i16, &[ast::Indirection], Location)],
        values: &[(Expr, Location)],
        named: bool,
    ) -> SqlResult<()> {
        if values.len() > columns.len() {
            let at = values.get(columns.len()).map_or(Location::NONE, |v| v.1);
            return Err(
                self.at(sql_err!(SYNTAX_ERROR, "INSERT has more expressions than target columns"), at)
            );
        }
        if named && values.len() < columns.len() {
            let error = sql_err!(SYNTAX_ERROR, "INSERT has more target columns than expressions");
            let row = matches!(values, [(Expr::Row(r), _)] if r.args.len() == columns.len());
            let error = if row {
                error.hint("The insertion source is a row expression containing the same number of columns expected by the INSERT. Did you accidentally use extra parentheses?")
            } else {
                error
            };
            return Err(self.at(error, columns[values.len()].2));
        }
        Ok(())
    }

    /// Values converted to their columns, as target entries in the order in which the columns of entry `rte` are named; whether they are.
    fn insert_row(
        &mut self,
        table: &Table,
        columns: &[(i16, &[ast::Indirection], Location)],
        values: Vec<(Expr, Location)>,
        (rte, named): (usize, bool),
    ) -> SqlResult<Vec<TargetEntry>> {
        if values.is_empty() {
            return Ok(Vec::new());
        }
        self.check_row_width(columns, &values, named)?;
        let mut out = Vec::with_capacity(values.len());
        for ((value, location), (attno, steps, at)) in values.into_iter().zip(columns) {
            let location = *location_or(&location, at);
            let value = self.assign_column(table, *attno, steps, value, location, true)?;
            self.mark_written(rte, *attno, true);
            out.push(crate::target::entry(value, *attno, Some(column_name(table, *attno)), false));
        }
        Ok(out)
    }

    fn check_default_steps(&self, steps: &[ast::Indirection], location: Location) -> SqlResult<()> {
        let what = match steps.first() {
            None => return Ok(()),
            Some(ast::Indirection::Field(_)) => "cannot set a subfield to DEFAULT",
            Some(_) => "cannot set an array element to DEFAULT",
        };
        Err(self.at(sql_err!(FEATURE_NOT_SUPPORTED, "{what}"), location))
    }

    fn update(&mut self, s: &ast::Update) -> SqlResult<Query> {
        let mut query = Query { command: Command::Update, ..Query::default() };
        if let Some(with) = &s.with {
            self.with_clause(with, &mut query)?;
        }
        let (table, item) = self.target_relation(&s.relation, access::UPDATE, "update")?;
        let rte = item.rte;
        self.level().namespace.push(item.clone());
        let mut items = vec![FromNode::Entry(rte)];
        items.extend(self.join_list(&s.from)?);
        query.targets = self.set_list(&s.assignments, &table, rte, &s.relation)?;
        let filter = self.opt_condition(s.filter.as_ref(), Place::Where)?;
        query.join_tree = FromExpr { items, filter };
        self.returning(&s.returning, item, &mut query)?;
        self.finish_change(query)
    }

    /// SET's list as target entries.
    pub(crate) fn set_list(
        &mut self,
        list: &[Assignment],
        table: &Table,
        rte: usize,
        relation: &ast::RangeVar,
    ) -> SqlResult<Vec<TargetEntry>> {
        let (mut out, mut junk) = (Vec::with_capacity(list.len()), Vec::new());
        for a in list {
            match a {
                Assignment::Single(column, value) => {
                    out.push(self.set_column_to(table, column, value, relation)?)
                }
                Assignment::Multi(columns, source) => {
                    self.multi_assignment(table, columns, source, &mut out, &mut junk, relation)?;
                }
            }
        }
        out.iter().for_each(|target| self.mark_written(rte, target.resno, false));
        for (i, e) in junk.into_iter().enumerate() {
            let resno = table.columns.len() as i16 + 1 + i as i16;
            out.push(crate::target::entry(e, resno, None, true));
        }
        Ok(out)
    }

    /// Notes that a column is written, for the privilege check.
    pub(crate) fn mark_written(&mut self, rte: usize, attno: i16, insert: bool) {
        if let Some(a) = self.level().range_table.get_mut(rte).and_then(|r| r.access.as_mut()) {
            let list = if insert { &mut a.inserted } else { &mut a.updated };
            if let Err(i) = list.binary_search(&attno) {
                list.insert(i, attno);
            }
        }
    }

    fn delete(&mut self, s: &ast::Delete) -> SqlResult<Query> {
        let mut query = Query { command: Command::Delete, ..Query::default() };
        if let Some(with) = &s.with {
            self.with_clause(with, &mut query)?;
        }
        let (_, item) = self.target_relation(&s.relation, access::DELETE, "delete from")?;
        self.level().namespace.push(item.clone());
        let mut items = vec![FromNode::Entry(item.rte)];
        items.extend(self.join_list(&s.using)?);
        let filter = self.opt_condition(s.filter.as_ref(), Place::Where)?;
        query.join_tree = FromExpr { items, filter };
        self.returning(&s.returning, item, &mut query)?;
        self.finish_change(query)
    }

    /// Ends the analysis of a change; what it leaves open is filled in by [`crate::rewrite`].
    fn finish_change(&mut self, mut query: Query) -> SqlResult<Query> {
        self.finish_query(&mut query)?;
        Ok(query)
    }

    /// RETURNING, with OLD and NEW in view.
    fn returning(&mut self, r: &ast::Returning, target: NsItem, query: &mut Query) -> SqlResult<()> {
        if r.targets.is_empty() {
            return Ok(());
        }
        if query.command == Command::Insert {
            self.level().namespace.push(target.clone());
        }
        for (given, default, version) in [(&r.old, "old", RowVersion::Old), (&r.new, "new", RowVersion::New)]
        {
            let taken = |a: &mut Self, name: &str| {
                // The rows that a rule is about have their names in its actions.
                let own = a.levels.len() - 1..a.levels.len();
                let mut levels = own.chain(0..a.outside.min(a.levels.len() - 1));
                levels.any(|at| a.levels[at].namespace.iter().any(|n| n.rel_visible && n.name == name))
            };
            let name = match given {
                Some(name) => {
                    if taken(self, name) {
                        return Err(sql_err!(
                            DUPLICATE_ALIAS,
                            "table name \"{name}\" specified more than once"
                        ));
                    }
                    name.clone()
                }
                None if taken(self, default) => continue,
                None => default.to_owned(),
            };
            let mut item = target.clone();
            item.name = name;
            item.aliased = true;
            item.cols_visible = false;
            item.version = version;
            for c in &mut item.columns {
                crate::columns::set_version(&mut c.expr, version);
            }
            self.level().namespace.push(item);
        }
        let mut targets = self.target_list(&r.targets, Place::Returning)?;
        if targets.is_empty() {
            return Err(sql_err!(SYNTAX_ERROR, "RETURNING must have at least one column"));
        }
        self.mark_origins(&mut targets);
        self.resolve_unknown_targets(&mut targets)?;
        query.returning = targets;
        query.row_names = [r.old.clone(), r.new.clone()];
        Ok(())
    }

    fn merge(&mut self, s: &ast::Merge) -> SqlResult<Query> {
        let mut query = Query { command: Command::Merge, ..Query::default() };
        if let Some(with) = &s.with {
            if with.recursive {
                return Err(sql_err!(SYNTAX_ERROR, "WITH RECURSIVE is not supported for MERGE statement"));
            }
            self.with_clause(with, &mut query)?;
        }
        let mut unreachable = [false; 3];
        for w in &s.whens {
            let kind = w.matched as usize;
            if unreachable[kind] {
                return Err(sql_err!(
                    SYNTAX_ERROR,
                    "unreachable WHEN clause specified after unconditional WHEN clause"
                ));
            }
            unreachable[kind] = w.condition.is_none();
        }
        let mergeable = self.open_relation(&s.relation)?;
        check_mergeable(&mergeable)?;
        let (table, target) = self.target_relation(&s.relation, 0, "merge into")?;
        self.level().range_table[target.rte].in_from = true;
        let nodes = self.join_list(std::slice::from_ref(&s.source))?;
        let Some(source_node) = nodes.into_iter().next() else { return Err(crate::expr_transform::shape()) };
        let source = self.level().namespace.clone();
        if source.iter().any(|n| n.rel_visible && n.name == target.name) {
            let error = sql_err!(DUPLICATE_ALIAS, "name \"{}\" specified more than once", target.name)
                .detail("The name is used both as MERGE target table and data source.");
            return Err(error);
        }
        let mut both = vec![target.clone()];
        both.extend(source.iter().cloned());
        self.level().namespace.clone_from(&both);
        let on = self.condition(&s.on, Place::JoinOn)?;
        query.merge_join = Some((source_node, on));
        for w in &s.whens {
            let names = match w.matched {
                ast::MergeMatch::Matched => both.clone(),
                ast::MergeMatch::NotMatchedBySource => vec![target.clone()],
                ast::MergeMatch::NotMatchedByTarget => source.clone(),
            };
            self.level().namespace = names;
            let action = self.merge_action(w, &table, target.rte, &s.relation)?;
            query.merge_actions.push(action);
        }
        // `*` gives the source's columns first.
        both.rotate_left(1);
        self.level().namespace = both;
        self.level().merge_returning = true;
        self.returning(&s.returning, target, &mut query)?;
        self.level().merge_returning = false;
        self.finish_change(query)
    }

    fn merge_action(
        &mut self,
        w: &ast::MergeWhen,
        table: &Table,
        rte: usize,
        relation: &ast::RangeVar,
    ) -> SqlResult<MergeAction> {
        let condition = self.opt_condition(w.condition.as_ref(), Place::MergeWhen)?;
        let mut action = MergeAction {
            matched: w.matched,
            command: Command::Utility,
            condition,
            targets: Vec::new(),
            overriding: Overriding::None,
        };
        let required = match &w.action {
            ast::MergeAction::Nothing => 0,
            ast::MergeAction::Delete => {
                action.command = Command::Delete;
                access::DELETE
            }
            ast::MergeAction::Update(list) => {
                action.command = Command::Update;
                action.targets = self.set_list(list, table, rte, relation)?;
                access::UPDATE
            }
            ast::MergeAction::Insert(columns, values, overriding) => {
                action.command = Command::Insert;
                action.overriding = *overriding;
                let names = self.insert_columns(table, columns)?;
                let row = self.value_row(values)?;
                action.targets = self.insert_row(table, &names, row, (rte, !columns.is_empty()))?;
                access::INSERT
            }
        };
        if let Some(a) = &mut self.level().range_table[rte].access {
            a.required |= required;
        }
        Ok(action)
    }
}

/// Refuses MERGE into what has no rows of its own.
fn check_mergeable(table: &Table) -> SqlResult<()> {
    let kinds = match table.kind {
        RelationKind::Table | RelationKind::PartitionedTable | RelationKind::View => return Ok(()),
        RelationKind::Sequence => "sequences",
        RelationKind::MaterializedView => "materialized views",
        RelationKind::Toast => "TOAST tables",
        RelationKind::Index | RelationKind::PartitionedIndex => "indexes",
        RelationKind::Composite => "composite types",
        RelationKind::ForeignTable => "foreign tables",
    };
    let error = sql_err!(WRONG_OBJECT_TYPE, "cannot execute MERGE on relation \"{}\"", table.name);
    Err(error.detail(format!("This operation is not supported for {kinds}.")))
}

/// The first of two locations that is known.
fn location_or<'l>(a: &'l Location, b: &'l Location) -> &'l Location {
    if *a == Location::NONE { b } else { a }
}

/// DEFAULT of a column, for `rewrite` to fill in.
pub(crate) fn open(table: &Table, attno: i16) -> Expr {
    let c = &table.columns[attno as usize - 1];
    crate::expr_transform::default_marker(c.type_oid, c.typmod, c.collation, Location::NONE)
}

/// The name of a column.
pub(crate) fn column_name(table: &Table, attno: i16) -> String {
    table.columns[attno as usize - 1].name.clone()
}
