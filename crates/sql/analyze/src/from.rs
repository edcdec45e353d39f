//! FROM: relations, subqueries, functions, joins, and the names that they make visible.
//!
//! PostgreSQL counterpart: `parse_clause.c` and `parse_relation.c`.

use std::sync::Arc;

use base::{Oid, SqlResult, sql_err};
use catalog::view::{RelationKind, Table};
use parse::ast::{self, FromItem};
use types::oids;

use crate::coerce::location_of;
use crate::core::{Analyzer, NsColumn, NsItem, Place};
use crate::expr::{Expr, Location, RowVersion, Var};
use crate::query::{
    Access, ColumnType, CteReference, FromNode, Functions, Query, RangeFunction, RangeTableEntry, Relation,
    RteAlias, RteKind, Subquery, TableSample, access,
};

impl Analyzer<'_> {
    /// The FROM list: its items go into the join tree, its names into view.
    pub(crate) fn join_list(&mut self, items: &[FromItem]) -> SqlResult<Vec<FromNode>> {
        let mut nodes = Vec::with_capacity(items.len());
        for item in items {
            let (node, mut names) = self.joined(item)?;
            self.check_conflicts(&names)?;
            for n in &mut names {
                (n.lateral_only, n.lateral_ok) = (true, true);
            }
            self.level().namespace.append(&mut names);
            nodes.push(node);
        }
        for n in &mut self.level().namespace {
            (n.lateral_only, n.lateral_ok) = (false, true);
        }
        Ok(nodes)
    }

    /// No two relations in view may have one name, unless they are different tables without alias.
    pub(crate) fn check_conflicts(&mut self, new: &[NsItem]) -> SqlResult<()> {
        for (i, n) in new.iter().enumerate() {
            if !n.rel_visible {
                continue;
            }
            let before = self.level().namespace.iter().chain(&new[..i]);
            for old in before {
                let both_tables =
                    !old.aliased && !n.aliased && old.relation.is_valid() && n.relation.is_valid();
                if old.rel_visible && old.name == n.name && !(both_tables && old.relation != n.relation) {
                    return Err(sql_err!(
                        DUPLICATE_ALIAS,
                        "table name \"{}\" specified more than once",
                        n.name
                    ));
                }
            }
        }
        Ok(())
    }

    pub(crate) fn joined(&mut self, item: &FromItem) -> SqlResult<(FromNode, Vec<NsItem>)> {
        runtime::check_stack()?;
        match item {
            FromItem::Table(r) => {
                let item = self.table_item(r)?;
                Ok((FromNode::Entry(item.rte), vec![item]))
            }
            FromItem::Sample { table, method, args, repeatable, location } => {
                let item = self.table_item(table)?;
                let sample = self.table_sample(method, args, repeatable.as_ref(), *location)?;
                let rte = item.rte;
                match &mut self.level().range_table[rte].kind {
                    RteKind::Relation(r)
                        if matches!(
                            r.table.kind,
                            RelationKind::Table
                                | RelationKind::MaterializedView
                                | RelationKind::PartitionedTable
                        ) =>
                    {
                        r.sample = Some(Box::new(sample));
                    }
                    _ => {
                        let error = sql_err!(
                            FEATURE_NOT_SUPPORTED,
                            "TABLESAMPLE clause can only be applied to tables and materialized views"
                        );
                        return Err(self.at(error, table.location));
                    }
                }
                Ok((FromNode::Entry(rte), vec![item]))
            }
            FromItem::Subquery { lateral, query, alias, location: _ } => {
                let item = self.subquery_item(*lateral, query, alias.as_ref())?;
                Ok((FromNode::Entry(item.rte), vec![item]))
            }
            FromItem::Function { .. } => {
                let item = self.function_item(item)?;
                Ok((FromNode::Entry(item.rte), vec![item]))
            }
            FromItem::JsonTable(t) => {
                let item = self.json_table(t)?;
                Ok((FromNode::Entry(item.rte), vec![item]))
            }
            FromItem::XmlTable(t) => {
                let item = self.xml_table(t)?;
                Ok((FromNode::Entry(item.rte), vec![item]))
            }
            FromItem::Join(j) => self.join(j),
        }
    }

    fn table_sample(
        &mut self,
        method: &ast::Name,
        args: &[ast::Expr],
        repeatable: Option<&ast::Expr>,
        location: Location,
    ) -> SqlResult<TableSample> {
        let name = method.last();
        if !matches!(name, "system" | "bernoulli") {
            let error = sql_err!(UNDEFINED_OBJECT, "tablesample method {} does not exist", method.dotted());
            return Err(self.at(error, location));
        }
        if args.len() != 1 {
            let error = sql_err!(
                INVALID_TABLESAMPLE_ARGUMENT,
                "tablesample method {name} requires 1 argument, not {}",
                args.len()
            );
            return Err(self.at(error, location));
        }
        let mut out = Vec::new();
        for a in args {
            let e = self.in_place(Place::FromFunction, |s| s.expr(a))?;
            out.push(self.coerce_to_specific(e, oids::float4, "TABLESAMPLE")?);
        }
        let repeatable = match repeatable {
            None => None,
            Some(r) => {
                let e = self.in_place(Place::FromFunction, |s| s.expr(r))?;
                Some(self.coerce_to_specific(e, oids::float8, "REPEATABLE")?)
            }
        };
        Ok(TableSample { method: name.to_owned(), args: out, repeatable })
    }

    /// A relation or a query of WITH.
    fn table_item(&mut self, r: &ast::RangeVar) -> SqlResult<NsItem> {
        if r.schema.is_none()
            && let Some(item) = self.cte_item(r)?
        {
            return Ok(item);
        }
        if let Some(item) = self.transition_item(r)? {
            return Ok(item);
        }
        let table = self.open_relation(r)?;
        self.readable(&table, r)?;
        self.relation_item(table, r, 1, access::SELECT)
    }

    /// The rows of a change, if a trigger that runs calls them so.
    fn transition_item(&mut self, r: &ast::RangeVar) -> SqlResult<Option<NsItem>> {
        let Some(found) = self.transition(r) else { return Ok(None) };
        let (names, columns) = columns_of_table(&found.table);
        let kind = RteKind::Transition(crate::query::TransitionReference {
            name: r.name.clone(),
            table: found.table.oid,
            rows: found.rows,
            columns: columns.clone(),
        });
        self.add_entry(kind, r.alias.as_ref(), &r.name, names, &columns, None, Oid::INVALID).map(Some)
    }

    /// The rows of a change that a name without a schema stands for.
    pub(crate) fn transition(&self, r: &ast::RangeVar) -> Option<catalog::view::Transition> {
        if r.schema.is_some() { None } else { self.catalog.transition(&r.name) }
    }

    fn readable(&self, table: &Table, r: &ast::RangeVar) -> SqlResult<()> {
        let what = match table.kind {
            RelationKind::Index | RelationKind::PartitionedIndex => "index",
            RelationKind::Composite => "composite type",
            _ => return Ok(()),
        };
        let error = sql_err!(WRONG_OBJECT_TYPE, "cannot open relation \"{}\"", table.name).detail(format!(
            "This operation is not supported for {}.",
            if what == "index" { "indexes" } else { "composite types" }
        ));
        Err(self.at(error, r.location))
    }

    /// A relation by name, or the error that it does not exist.
    pub(crate) fn open_relation(&mut self, r: &ast::RangeVar) -> SqlResult<Arc<Table>> {
        if let Some(database) = &r.catalog
            && *database != self.catalog.database()
        {
            let error = sql_err!(
                FEATURE_NOT_SUPPORTED,
                "cross-database references are not implemented: \"{}\"",
                r.dotted()
            );
            return Err(self.at(error, r.location));
        }
        match self.catalog.relation(r.schema.as_deref(), &r.name).map_err(|e| self.at(e, r.location))? {
            Some(table) => Ok(table),
            None => {
                let error = sql_err!(UNDEFINED_TABLE, "relation \"{}\" does not exist", r.dotted());
                let later = r.schema.is_none() && self.levels.iter().any(|l| l.future_ctes.contains(&r.name));
                let error = if later {
                    error
                        .detail(format!(
                            "There is a WITH item named \"{}\", but it cannot be referenced from this part of the query.",
                            r.name
                        ))
                        .hint("Use WITH RECURSIVE, or re-order the WITH items to remove forward references.")
                } else {
                    error
                };
                Err(self.at(error, r.location))
            }
        }
    }

    /// Adds a relation to the range table: a view as its query.
    pub(crate) fn relation_item(
        &mut self,
        table: Arc<Table>,
        r: &ast::RangeVar,
        lock_mode: u8,
        required: u32,
    ) -> SqlResult<NsItem> {
        if table.kind == RelationKind::View {
            return self.view_item(&table, r);
        }
        self.plain_item(table, r, lock_mode, required)
    }

    /// Adds a relation to the range table as such, also if it is a view (as the target of a change).
    pub(crate) fn plain_item(
        &mut self,
        table: Arc<Table>,
        r: &ast::RangeVar,
        lock_mode: u8,
        required: u32,
    ) -> SqlResult<NsItem> {
        let (oid, inherit) = (table.oid, r.inherit);
        let (names, columns) = columns_of_table(&table);
        let (sample, barriers) = (None, Vec::new());
        let kind =
            RteKind::Relation(Relation { oid, table: table.clone(), lock_mode, inherit, sample, barriers });
        let access = Some(Access { required, ..Access::default() });
        self.add_entry(kind, r.alias.as_ref(), &table.name, names, &columns, access, oid)
    }

    fn view_item(&mut self, table: &Arc<Table>, r: &ast::RangeVar) -> SqlResult<NsItem> {
        let query = crate::views::expand(table, self.catalog)?;
        let columns: Vec<ColumnType> = table
            .columns
            .iter()
            .map(|c| ColumnType {
                name: c.name.clone(),
                type_oid: c.type_oid,
                typmod: c.typmod,
                collation: c.collation,
            })
            .collect();
        let names = columns.iter().map(|c| c.name.clone()).collect();
        let security_barrier = table.bool_option("security_barrier");
        let kind = RteKind::Subquery(Subquery { query: Box::new(query), view: table.oid, security_barrier });
        let access = Some(Access { required: access::SELECT, ..Access::default() });
        self.add_entry(kind, r.alias.as_ref(), &table.name, names, &columns, access, table.oid)
    }

    /// A reference to a query of WITH, if there is one of that name.
    fn cte_item(&mut self, r: &ast::RangeVar) -> SqlResult<Option<NsItem>> {
        for up in 0..self.levels.len() {
            let i = self.levels.len() - 1 - up;
            let level = &mut self.levels[i];
            if let Some(p) = level.pending.iter_mut().find(|p| p.name == r.name) {
                p.referenced = true;
                let added = p.added.clone();
                let Some(columns) = p.columns.clone() else {
                    let error = sql_err!(
                        INVALID_RECURSION,
                        "recursive reference to query \"{}\" must not appear within its non-recursive term",
                        r.name
                    );
                    return Err(self.at(error, r.location));
                };
                let listed = columns.len();
                let columns = columns.into_iter().chain(added).collect();
                let mut item = self.add_cte(r, up as u32, true, columns)?;
                item.columns.iter_mut().skip(listed).for_each(|c| c.unlisted = true);
                return Ok(Some(item));
            }
            if let Some(cte) = level.ctes.iter_mut().find(|c| c.name == r.name) {
                cte.references += 1;
                let columns = cte.columns.clone();
                let returns =
                    cte.query.command == crate::query::Command::Select || !cte.query.returning.is_empty();
                if !returns {
                    let error = sql_err!(
                        FEATURE_NOT_SUPPORTED,
                        "WITH query \"{}\" does not have a RETURNING clause",
                        r.name
                    );
                    return Err(self.at(error, r.location));
                }
                return self.add_cte(r, up as u32, false, columns).map(Some);
            }
        }
        Ok(None)
    }

    fn add_cte(
        &mut self,
        r: &ast::RangeVar,
        levels_up: u32,
        self_reference: bool,
        columns: Vec<ColumnType>,
    ) -> SqlResult<NsItem> {
        let names = columns.iter().map(|c| c.name.clone()).collect();
        let kind = RteKind::Cte(CteReference {
            name: r.name.clone(),
            levels_up,
            self_reference,
            columns: columns.clone(),
        });
        self.add_entry(kind, r.alias.as_ref(), &r.name, names, &columns, None, Oid::INVALID)
    }

    fn subquery_item(
        &mut self,
        lateral: bool,
        query: &ast::Select,
        alias: Option<&ast::Alias>,
    ) -> SqlResult<NsItem> {
        let before = std::mem::replace(&mut self.level().lateral_active, lateral);
        let place = std::mem::replace(&mut self.level().place, Place::FromSubselect);
        let result = self.subselect(query);
        self.level().lateral_active = before;
        self.level().place = place;
        let query = result?;
        self.add_subquery(query, lateral, alias)
    }

    /// Adds a subquery to the range table.
    pub(crate) fn add_subquery(
        &mut self,
        query: Query,
        lateral: bool,
        alias: Option<&ast::Alias>,
    ) -> SqlResult<NsItem> {
        let columns = self.query_columns(&query);
        let names = columns.iter().map(|c| c.name.clone()).collect();
        let kind = RteKind::Subquery(Subquery {
            query: Box::new(query),
            view: Oid::INVALID,
            security_barrier: false,
        });
        let mut item =
            self.add_entry(kind, alias, "unnamed_subquery", names, &columns, None, Oid::INVALID)?;
        self.level().range_table[item.rte].lateral = lateral;
        // Without alias the columns are in view, but no name for the whole.
        item.rel_visible = alias.is_some();
        Ok(item)
    }

    /// Names and types of what a query returns.
    pub(crate) fn query_columns(&self, query: &Query) -> Vec<ColumnType> {
        query
            .result_columns()
            .map(|t| ColumnType {
                name: t.name.clone().unwrap_or_default(),
                type_oid: self.type_of(&t.expr),
                typmod: self.typmod_of(&t.expr),
                collation: crate::facts::expr_collation(&t.expr),
            })
            .collect()
    }

    /// Adds an entry with plain columns and gives its names.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn add_entry(
        &mut self,
        kind: RteKind,
        alias: Option<&ast::Alias>,
        name: &str,
        names: Vec<String>,
        columns: &[ColumnType],
        access: Option<Access>,
        relation: Oid,
    ) -> SqlResult<NsItem> {
        let shown = alias.map_or(name, |a| a.name.as_str()).to_owned();
        let names = self.aliased_columns(names, alias, &shown)?;
        let rte = self.add_rte(RangeTableEntry {
            kind,
            alias: alias.map(|a| RteAlias { name: a.name.clone(), columns: a.columns.clone() }),
            name: shown.clone(),
            columns: names.clone(),
            lateral: false,
            in_from: true,
            access,
        });
        let ns_columns = names
            .into_iter()
            .zip(columns)
            .enumerate()
            .map(|(i, (name, c))| NsColumn {
                unlisted: false,
                name,
                expr: Expr::Var(Var {
                    rte,
                    attno: i as i16 + 1,
                    type_oid: c.type_oid,
                    typmod: c.typmod,
                    collation: c.collation,
                    levels_up: 0,
                    version: RowVersion::Default,
                    location: Location::NONE,
                }),
            })
            .collect();
        Ok(NsItem {
            name: shown,
            aliased: alias.is_some(),
            rte,
            relation,
            columns: ns_columns,
            rel_visible: true,
            cols_visible: true,
            lateral_only: false,
            lateral_ok: true,
            version: RowVersion::Default,
            is_join: false,
        })
    }

    /// Column names, with those of the alias in place of the first ones.
    pub(crate) fn aliased_columns(
        &self,
        mut names: Vec<String>,
        alias: Option<&ast::Alias>,
        shown: &str,
    ) -> SqlResult<Vec<String>> {
        let Some(alias) = alias else { return Ok(names) };
        let live = names.iter().filter(|n| !n.is_empty()).count();
        if alias.columns.len() > live {
            let error = sql_err!(
                INVALID_COLUMN_REFERENCE,
                "table \"{shown}\" has {live} columns available but {} columns specified",
                alias.columns.len()
            );
            return Err(error);
        }
        let mut given = alias.columns.iter();
        for name in names.iter_mut().filter(|n| !n.is_empty()) {
            match given.next() {
                Some(a) => *name = a.clone(),
                None => break,
            }
        }
        Ok(names)
    }

    fn function_item(&mut self, item: &FromItem) -> SqlResult<NsItem> {
        let FromItem::Function { lateral, ordinality, rows_from, functions, alias, columns } = item else {
            return Err(crate::expr_transform::shape());
        };
        let before = std::mem::replace(&mut self.level().lateral_active, true);
        let result = self.range_functions(functions, alias.as_ref(), columns, *rows_from, *ordinality);
        self.level().lateral_active = before;
        let functions = result?;
        let lateral = *lateral
            || functions.iter().any(|f| {
                crate::walk::contains(&f.call, |e, depth| matches!(e, Expr::Var(v) if v.levels_up == depth))
            });
        let mut all: Vec<ColumnType> = functions.iter().flat_map(|f| f.columns.iter().cloned()).collect();
        if *ordinality {
            all.push(ColumnType {
                name: "ordinality".into(),
                type_oid: oids::int8,
                typmod: -1,
                collation: Oid::INVALID,
            });
        }
        let name =
            functions.first().and_then(|f| self.call_name(&f.call)).unwrap_or_else(|| "function".into());
        let names = all.iter().map(|c| c.name.clone()).collect();
        let kind = RteKind::Function(Functions { functions, ordinality: *ordinality });
        let alias = alias.as_ref();
        let item = self.add_entry(kind, alias, &name, names, &all, None, Oid::INVALID)?;
        self.level().range_table[item.rte].lateral = lateral;
        Ok(item)
    }

    fn range_functions(
        &mut self,
        functions: &[ast::FromFunction],
        alias: Option<&ast::Alias>,
        columns: &[ast::ColumnDef],
        rows_from: bool,
        ordinality: bool,
    ) -> SqlResult<Vec<RangeFunction>> {
        let mut out = Vec::with_capacity(functions.len());
        for f in functions {
            // unnest(a, b) means ROWS FROM (unnest(a), unnest(b)).
            let calls = split_unnest(&f.call);
            let named = functions.len() == 1 && calls.len() == 1 && !rows_from;
            for call in calls {
                let e = self.in_place(Place::FromFunction, |a| a.expr(&call))?;
                let single = functions.len() == 1;
                let definitions = if f.columns.is_empty() && single { columns } else { &f.columns };
                let many = !single || rows_from && !columns.is_empty();
                if many && !columns.is_empty() {
                    let error = sql_err!(
                        SYNTAX_ERROR,
                        "ROWS FROM() with multiple functions cannot have a column definition list"
                    )
                    .hint("Put a separate column definition list for each function inside ROWS FROM().");
                    return Err(self.at(error, columns[0].location));
                }
                if ordinality && !columns.is_empty() {
                    let error = sql_err!(
                        SYNTAX_ERROR,
                        "WITH ORDINALITY cannot be used with a column definition list"
                    )
                    .hint("Put the column definition list inside ROWS FROM().");
                    return Err(self.at(error, columns[0].location));
                }
                out.push(self.range_function(e, &call, alias.filter(|_| named), definitions)?);
            }
        }
        Ok(out)
    }

    fn range_function(
        &mut self,
        call: Expr,
        written: &ast::Expr,
        alias: Option<&ast::Alias>,
        definitions: &[ast::ColumnDef],
    ) -> SqlResult<RangeFunction> {
        let type_oid = self.type_of(&call);
        let name = crate::target::figure_name(written).unwrap_or_else(|| "?column?".into());
        let outs = self.out_columns(&call)?;
        if !definitions.is_empty() {
            if !outs.is_empty() {
                let error = sql_err!(
                    SYNTAX_ERROR,
                    "a column definition list is redundant for a function with OUT parameters"
                );
                return Err(self.at(error, definitions[0].location));
            }
            if type_oid != oids::record {
                let what = if self.is_composite(type_oid)? {
                    "a column definition list is redundant for a function returning a named composite type"
                } else {
                    "a column definition list is only allowed for functions returning \"record\""
                };
                return Err(self.at(sql_err!(SYNTAX_ERROR, "{what}"), definitions[0].location));
            }
            let columns = self.defined_columns(definitions)?;
            return Ok(RangeFunction { call, columns, composite: true });
        }
        if !outs.is_empty() {
            return Ok(RangeFunction { composite: outs.len() > 1, call, columns: outs });
        }
        if let Some(columns) = self.composite_columns(type_oid)? {
            return Ok(RangeFunction { call, columns, composite: true });
        }
        if type_oid == oids::record {
            let error = sql_err!(
                SYNTAX_ERROR,
                "a column definition list is required for functions returning \"record\""
            );
            return Err(self.at(error, location_of(&call)));
        }
        let typmod = self.typmod_of(&call);
        let collation = self.type_collation(type_oid)?;
        let shown = alias.map_or(name, |a| a.name.clone());
        let columns = vec![ColumnType { name: shown, type_oid, typmod, collation }];
        Ok(RangeFunction { call, columns, composite: false })
    }

    fn defined_columns(&mut self, definitions: &[ast::ColumnDef]) -> SqlResult<Vec<ColumnType>> {
        let mut out = Vec::with_capacity(definitions.len());
        for d in definitions {
            let Some(t) = &d.type_name else { return Err(crate::expr_transform::shape()) };
            if t.setof {
                let error =
                    sql_err!(INVALID_TABLE_DEFINITION, "column \"{}\" cannot be declared SETOF", d.name);
                return Err(self.at(error, d.location));
            }
            let (type_oid, typmod) = self.type_name(t)?;
            let collation = match &d.collation {
                Some((name, location)) => self.collation(name, *location)?,
                None => self.type_collation(type_oid)?,
            };
            out.push(ColumnType { name: d.name.clone(), type_oid, typmod, collation });
        }
        Ok(out)
    }

    /// A function's name, for an entry without alias.
    fn call_name(&self, call: &Expr) -> Option<String> {
        let Expr::Func(f) = call else { return None };
        match types::registry::function(f.function) {
            Some(builtin) => Some(builtin.name.to_owned()),
            None => self.catalog.function_by_oid(f.function).ok().flatten().map(|f| f.name.clone()),
        }
    }

    /// OUT columns of a function call, polymorphic types resolved.
    pub(crate) fn out_columns(&mut self, call: &Expr) -> SqlResult<Vec<ColumnType>> {
        let Expr::Func(f) = call else { return Ok(Vec::new()) };
        let mut outs: Vec<(String, Oid)> = match types::registry::function(f.function) {
            Some(b) => b.out_columns().map(|(n, t)| (n.to_owned(), t)).collect(),
            None => self.catalog.function_by_oid(f.function)?.map_or(Vec::new(), |u| u.out_columns.clone()),
        };
        if outs.len() == 1 && outs[0].0.is_empty() {
            return Ok(Vec::new());
        }
        let actual: Vec<Oid> = f.args.iter().map(|a| self.type_of(a)).collect();
        let declared: Vec<Oid> = match types::registry::function(f.function) {
            Some(b) => b.args.to_vec(),
            None => self.catalog.function_by_oid(f.function)?.map_or(Vec::new(), |u| u.args.clone()),
        };
        let mut columns = Vec::with_capacity(outs.len());
        for (i, (name, t)) in outs.iter_mut().enumerate() {
            let mut again = declared.clone();
            let type_oid = if actual.len() == again.len() {
                self.resolve_polymorphic(&actual, &mut again, *t)?
            } else {
                *t
            };
            let name = if name.is_empty() { format!("column{}", i + 1) } else { std::mem::take(name) };
            columns.push(ColumnType {
                name,
                type_oid,
                typmod: -1,
                collation: self.type_collation(type_oid)?,
            });
        }
        Ok(columns)
    }
}

/// Columns in view of these relations, in order.
pub(crate) fn visible_columns(items: &[NsItem]) -> Vec<NsColumn> {
    items
        .iter()
        .filter(|n| n.cols_visible)
        .flat_map(|n| n.columns.iter().filter(|c| !c.name.is_empty() && !c.unlisted).cloned())
        .collect()
}

/// `unnest` with several arguments as one call each.
fn split_unnest(call: &ast::Expr) -> Vec<ast::Expr> {
    if let ast::Expr::Func(f) = call {
        let plain = f.name.0.len() == 1 || f.name.0.first().is_some_and(|s| s == "pg_catalog");
        if plain && f.name.last() == "unnest" && f.args.len() > 1 && !f.variadic && f.order_by.is_empty() {
            return f
                .args
                .iter()
                .map(|a| ast::Expr::Func(Box::new(ast::FuncCall { args: vec![a.clone()], ..(**f).clone() })))
                .collect();
        }
    }
    vec![call.clone()]
}

/// Columns of a range table entry as far as the entry knows them.
pub(crate) fn entry_columns(entry: &RangeTableEntry) -> Vec<ColumnType> {
    let named = |list: &[ColumnType]| -> Vec<ColumnType> {
        list.iter()
            .zip(&entry.columns)
            .map(|(c, name)| ColumnType { name: name.clone(), ..c.clone() })
            .collect()
    };
    let of_expr = |e: &Expr, name: &String| ColumnType {
        name: name.clone(),
        type_oid: crate::facts::expr_type(e, &|_| Oid::INVALID),
        typmod: crate::facts::expr_typmod(e),
        collation: crate::facts::expr_collation(e),
    };
    match &entry.kind {
        RteKind::Relation(r) => r
            .table
            .columns
            .iter()
            .zip(&entry.columns)
            .map(|(c, name)| ColumnType {
                name: name.clone(),
                type_oid: if c.dropped { Oid::INVALID } else { c.type_oid },
                typmod: c.typmod,
                collation: c.collation,
            })
            .collect(),
        RteKind::Subquery(s) => {
            s.query.result_columns().zip(&entry.columns).map(|(t, name)| of_expr(&t.expr, name)).collect()
        }
        RteKind::Join(j) => j.columns.iter().zip(&entry.columns).map(|(e, name)| of_expr(e, name)).collect(),
        RteKind::Function(f) => {
            let mut all: Vec<ColumnType> =
                f.functions.iter().flat_map(|f| f.columns.iter().cloned()).collect();
            if f.ordinality {
                all.push(ColumnType {
                    name: String::new(),
                    type_oid: oids::int8,
                    typmod: -1,
                    collation: Oid::INVALID,
                });
            }
            named(&all)
        }
        RteKind::Values(v) => named(&v.columns),
        RteKind::Cte(c) => named(&c.columns),
        RteKind::Transition(t) => named(&t.columns),
    }
}

/// Names and types of a table's columns by attribute number - 1; dropped ones have neither.
fn columns_of_table(table: &Table) -> (Vec<String>, Vec<ColumnType>) {
    let name = |c: &catalog::view::Column| if c.dropped { String::new() } else { c.name.clone() };
    let column = |c: &catalog::view::Column| ColumnType {
        name: String::new(),
        type_oid: if c.dropped { Oid::INVALID } else { c.type_oid },
        typmod: c.typmod,
        collation: c.collation,
    };
    (table.columns.iter().map(name).collect(), table.columns.iter().map(column).collect())
}
