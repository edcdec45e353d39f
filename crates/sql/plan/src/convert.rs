//! From the analysed query to [`Block`]s: relations numbered across all levels, sublinks set aside as pending subplans.

use std::rc::Rc;
use std::sync::Arc;

use analyze::{self as a, Query, RteKind};
use base::{Oid, SqlError, SqlResult};
use catalog::RelationKind;
use tuple::Datum;

use crate::expr::*;
use crate::function::Function;
use crate::logical::{self as l, Block, NamedBelow, SetTree, Source, Target};
use crate::order::Shape;
use crate::plan::{
    CheckKind, Command, FrameBound, FrameExclude, FrameMode, FrameRange, JoinKind, Merge, Modify, OnConflict,
    Plan, RelColumn, Relation, RowCheck, RowLockStrength, RowLockWait, RowMark, Sample, WindowFrame,
};
use crate::planner::Planner;
use crate::relset::MAX_RELATIONS;
use crate::user_types::UserTypes;
use crate::walk::flatten_and;

/// What the range table entries of a level became.
#[derive(Default)]
pub(crate) struct Scope {
    entries: Vec<Entry>,
    /// Subplans of the WITH queries, by name; with the work table of recursive ones under way.
    ctes: Vec<(String, CteState)>,
    /// Sort references of the grouping expressions.
    group: Vec<u32>,
    /// Cells of multiple assignments: (sublink number, column) → cell.
    multi: Vec<((i32, i32), ParamId)>,
    /// Relations that stand for the target's row before and after the change, where RETURNING names them.
    pub(crate) versions: [Option<RelId>; 2],
    /// Cell of `merge_action()`, on a level that is a MERGE and where it is used.
    pub(crate) merge_action: Option<ParamId>,
    /// The level is a MERGE.
    pub(crate) is_merge: bool,
    /// Its aggregates that subqueries name.
    named_below: Option<NamedBelow>,
}

#[derive(Clone)]
enum Entry {
    Rel(RelId),
    Join(Vec<Expr>),
}

#[derive(Clone)]
enum CteState {
    Planned {
        subplan: usize,
    },
    /// A common table expression that is inlined wherever it is referred to: the first reference takes the converted query, later ones convert it again.
    Inline {
        subplan: usize,
        query: Rc<Query>,
    },
    Recursive {
        table: usize,
    },
}

/// `record`
const RECORD: Oid = Oid(2249);

/// Converts one statement.
pub(crate) struct Converter<'p, 'c> {
    pub planner: &'p mut Planner<'c>,
    pub(crate) scopes: Vec<Scope>,
    case_cells: Vec<ParamId>,
    domain_cells: Vec<ParamId>,
    link_cells: Vec<Vec<ParamId>>,
}

/// The function of the registry with this OID.
fn builtin(oid: Oid) -> SqlResult<&'static types::Function> {
    types::registry::function(oid)
        .ok_or_else(|| SqlError::internal(format!("function {oid} is not built in")))
}

impl<'p, 'c> Converter<'p, 'c> {
    pub fn new(planner: &'p mut Planner<'c>) -> Converter<'p, 'c> {
        Converter {
            planner,
            scopes: Vec::new(),
            case_cells: Vec::new(),
            domain_cells: Vec::new(),
            link_cells: Vec::new(),
        }
    }

    /// Begins a query level with these relations as its range table.
    pub fn open_scope(&mut self, rels: Vec<RelId>) {
        let entries = rels.into_iter().map(Entry::Rel).collect();
        self.scopes.push(Scope { entries, ..Scope::default() });
    }

    /// Converts a query and everything below it.
    pub fn query(&mut self, query: &Query) -> SqlResult<Block> {
        runtime::check_stack()?;
        self.scopes.push(Scope::default());
        let outer = std::mem::replace(&mut self.planner.depth, self.scopes.len());
        let block = self.query_in_scope(query);
        self.planner.depth = outer;
        self.scopes.pop();
        block
    }

    pub(crate) fn scope(&mut self) -> &mut Scope {
        self.scopes.last_mut().expect("a query is being converted")
    }

    fn query_in_scope(&mut self, query: &Query) -> SqlResult<Block> {
        let mut block = Block::default();
        for cte in &query.ctes {
            self.cte(cte, &mut block)?;
        }
        self.range_table(query)?;
        if let Some(tree) = &query.set_operation {
            return self.set_query(query, tree, block);
        }
        for item in &query.join_tree.items {
            let item = self.join_tree_node(item)?;
            block.from.push(item);
        }
        block.written = Shape::of(&block.from);
        if query.command == a::Command::Merge {
            self.merge_join(query, &mut block)?;
        } else if let Some(filter) = &query.join_tree.filter {
            flatten_and(self.expr(filter)?, &mut block.quals);
        }
        self.upper(query, &mut block)?;
        if query.command != a::Command::Select {
            self.modify(query, &mut block)?;
        }
        block.named_below = self.scope().named_below.take();
        Ok(block)
    }

    fn upper(&mut self, query: &Query, block: &mut Block) -> SqlResult<()> {
        block.aggregated =
            query.has_aggregates || !query.group_by.is_empty() || !query.grouping_sets.is_empty();
        self.scope().group = query.group_by.iter().map(|clause| clause.sort_ref).collect();
        for entry in &query.targets {
            let expr = self.expr(&entry.expr)?;
            block.targets.push(Target {
                expr,
                name: entry.name.as_deref().unwrap_or("?column?").into(),
                junk: entry.junk,
            });
        }
        let by_ref = |sort_ref: u32| {
            let at = query.targets.iter().position(|t| t.sort_ref == sort_ref);
            at.ok_or_else(|| SqlError::internal("sort reference without target"))
        };
        let mut apart = None;
        for clause in &query.group_by {
            let target = by_ref(clause.sort_ref)?;
            if !query.grouping_sets.is_empty() {
                self.keep_apart(block, target, &mut apart)?;
            }
            block.group.push(block.targets[target].expr.clone());
        }
        for set in &query.grouping_sets {
            let index = |r: &u32| query.group_by.iter().position(|g| g.sort_ref == *r).unwrap_or(0);
            block.grouping_sets.push(set.iter().map(index).collect());
        }
        if let Some(having) = &query.having {
            block.aggregated = true;
            flatten_and(self.expr(having)?, &mut block.having);
        }
        crate::placeholder::name_kept_apart(block);
        let value = |block: &Block, c: &a::SortGroupClause| -> SqlResult<Expr> {
            Ok(block.targets[by_ref(c.sort_ref)?].expr.clone())
        };
        for window in &query.windows {
            let partition = window.partition_by.iter().map(|c| value(block, c)).collect::<SqlResult<_>>()?;
            let order = window.order_by.iter().map(|c| self.sort_key(c, value(block, c)?));
            let order = order.collect::<SqlResult<_>>()?;
            let frame = self.frame(window)?;
            let name = window.name.as_deref().unwrap_or_default().into();
            block.windows.push(l::Window { name, partition, order, frame });
        }
        let differs = |c: &a::SortGroupClause| self.planner.in_order_by(value(block, c)?, c.ordering);
        block.distinct = query.distinct.iter().map(differs).collect::<SqlResult<_>>()?;
        block.distinct_on = query.distinct_on;
        let sort = query.order_by.iter().map(|c| self.sort_key(c, value(block, c)?));
        block.sort = sort.collect::<SqlResult<_>>()?;
        self.limits(query, block)?;
        for mark in query.row_marks.iter() {
            self.check_lockable(query, mark.rte)?;
            if let Entry::Rel(rel) = self.scope().entries[mark.rte].clone()
                && self.planner.sources[rel].is_table()
            {
                let tree = self.planner.is_inherited(rel);
                let (strength, wait) = (strength(mark.strength), wait(mark.wait));
                block.marks.push(RowMark { rel, strength, wait, tree });
            }
        }
        Ok(())
    }

    /// A relation that only stands for columns of the level.
    pub(crate) fn nameless_relation(&mut self) -> SqlResult<RelId> {
        let relation = Relation { alias: "".into(), table: None, columns: Vec::new() };
        self.planner.add_relation(relation, Source::Columns)
    }

    /// Only rows of tables can be locked.
    fn check_lockable(&self, query: &Query, rte: usize) -> SqlResult<()> {
        let Some(RteKind::Relation(relation)) = query.range_table.get(rte).map(|entry| &entry.kind) else {
            return Ok(());
        };
        let what = match relation.table.kind {
            RelationKind::Sequence => "sequence",
            RelationKind::MaterializedView => "materialized view",
            RelationKind::Toast => "TOAST relation",
            _ => return Ok(()),
        };
        Err(base::sql_err!(WRONG_OBJECT_TYPE, "cannot lock rows in {what} \"{}\"", relation.table.name))
    }

    fn limits(&mut self, query: &Query, block: &mut Block) -> SqlResult<()> {
        block.limit = query.limit.as_ref().map(|e| self.expr(e)).transpose()?;
        if matches!(&block.limit, Some(Expr::Const { value: Datum::Null, .. })) {
            block.limit = None;
        }
        block.offset = query.offset.as_ref().map(|e| self.expr(e)).transpose()?;
        block.with_ties = query.with_ties;
        Ok(())
    }

    fn frame(&mut self, window: &a::WindowClause) -> SqlResult<WindowFrame> {
        let frame = &window.frame;
        Ok(WindowFrame {
            mode: match frame.units {
                a::FrameUnits::Rows => FrameMode::Rows,
                a::FrameUnits::Range => FrameMode::Range,
                a::FrameUnits::Groups => FrameMode::Groups,
            },
            start: self.bound(&frame.start)?,
            end: self.bound(&frame.end)?,
            exclude: match frame.exclusion {
                a::FrameExclusion::NoOthers => FrameExclude::Nothing,
                a::FrameExclusion::CurrentRow => FrameExclude::CurrentRow,
                a::FrameExclusion::Group => FrameExclude::Group,
                a::FrameExclusion::Ties => FrameExclude::Ties,
            },
            range: match window.in_range {
                (Oid::INVALID, Oid::INVALID) => None,
                (start, end) => {
                    let collation = window.in_range_collation;
                    let by = |oid: Oid| (oid != Oid::INVALID).then(|| builtin(oid)).transpose();
                    Some(FrameRange { start: by(start)?, end: by(end)?, collation })
                }
            },
        })
    }

    fn bound(&mut self, bound: &a::FrameBound) -> SqlResult<FrameBound> {
        Ok(match bound {
            a::FrameBound::UnboundedPreceding => FrameBound::UnboundedPreceding,
            a::FrameBound::Preceding(e) => FrameBound::Preceding(self.expr(e)?),
            a::FrameBound::CurrentRow => FrameBound::CurrentRow,
            a::FrameBound::Following(e) => FrameBound::Following(self.expr(e)?),
            a::FrameBound::UnboundedFollowing => FrameBound::UnboundedFollowing,
        })
    }

    fn set_query(&mut self, query: &Query, tree: &a::SetOperation, mut block: Block) -> SqlResult<Block> {
        let columns = query
            .targets
            .iter()
            .map(|t| {
                let e = analysed_type(&t.expr);
                RelColumn { name: t.name.as_deref().unwrap_or("?column?").into(), type_oid: e.0, typmod: e.1 }
            })
            .collect::<Vec<_>>();
        let rel = self.planner.add_relation(
            Relation { alias: "*SELECT*".into(), table: None, columns: columns.clone() },
            Source::Columns,
        )?;
        let tree = self.set_tree(query, rel, tree)?;
        for (i, column) in columns.iter().enumerate() {
            let var = Var { rel, column: i as i16 + 1, type_oid: column.type_oid, typmod: column.typmod };
            let junk = query.targets[i].junk;
            let collation = a::facts::expr_collation(&query.targets[i].expr);
            let expr = self.planner.collated(Expr::Var(var), collation)?;
            block.targets.push(Target { expr, name: column.name.clone(), junk });
        }
        for clause in &query.order_by {
            let at = query.targets.iter().position(|t| t.sort_ref == clause.sort_ref);
            let at = at.ok_or_else(|| SqlError::internal("sort reference without target"))?;
            let key = self.sort_key(clause, block.targets[at].expr.clone())?;
            block.sort.push(key);
        }
        self.limits(query, &mut block)?;
        block.set = Some((rel, tree));
        Ok(block)
    }

    fn set_tree(&mut self, query: &Query, rel: RelId, tree: &a::SetOperation) -> SqlResult<SetTree> {
        Ok(match tree {
            a::SetOperation::Leaf(rte) => {
                let RteKind::Subquery(sub) = &query.range_table[*rte].kind else {
                    return Err(SqlError::internal("set operation over something else than a subquery"));
                };
                SetTree::Leaf(Box::new(self.query(&sub.query)?))
            }
            a::SetOperation::Node(node) => SetTree::Op {
                op: match node.op {
                    a::SetOp::Union => l::SetOperation::Union,
                    a::SetOp::Intersect => l::SetOperation::Intersect,
                    a::SetOp::Except => l::SetOperation::Except,
                },
                all: node.all,
                left: Box::new(self.set_input(query, rel, &node.left, &node.left_casts)?),
                right: Box::new(self.set_input(query, rel, &node.right, &node.right_casts)?),
            },
        })
    }

    /// An input of an operation, its columns converted to the operation's types.
    fn set_input(
        &mut self,
        query: &Query,
        rel: RelId,
        input: &a::SetOperation,
        casts: &[a::Expr],
    ) -> SqlResult<SetTree> {
        let tree = self.set_tree(query, rel, input)?;
        if casts.is_empty() {
            return Ok(tree);
        }
        let types: Vec<(Oid, i32)> = match (input, &tree) {
            (a::SetOperation::Node(node), _) => node.columns.iter().map(|c| (c.type_oid, c.typmod)).collect(),
            (_, SetTree::Leaf(block)) => {
                let targets = block.targets.iter().filter(|t| !t.junk);
                targets.map(|t| (t.expr.type_oid(), t.expr.typmod())).collect()
            }
            _ => return Err(SqlError::internal("input of a set operation without columns")),
        };
        let column = |(i, (type_oid, typmod))| Expr::Var(Var { rel, column: i as i16 + 1, type_oid, typmod });
        let columns: Vec<Expr> = types.into_iter().enumerate().map(column).collect();
        // The left-most entry stands for the input while the conversions are read.
        let mut leftmost = input;
        while let a::SetOperation::Node(node) = leftmost {
            leftmost = &node.left;
        }
        let a::SetOperation::Leaf(entry) = *leftmost else { unreachable!("a tree ends in leaves") };
        let kept = std::mem::replace(&mut self.scope().entries[entry], Entry::Join(columns.clone()));
        let exprs = casts.iter().map(|cast| self.expr(cast)).collect::<SqlResult<Vec<_>>>();
        self.scope().entries[entry] = kept;
        Ok(SetTree::Converted { input: Box::new(tree), columns, exprs: exprs? })
    }

    fn cte(&mut self, cte: &a::Cte, block: &mut Block) -> SqlResult<()> {
        if cte.recursive {
            return self.recursive_cte(cte, block);
        }
        let inner = self.query(&cte.query)?;
        let modifies = inner.modify.is_some();
        let inline = !modifies
            && inner.marks.is_empty()
            && match cte.materialize {
                a::Materialize::Never => true,
                a::Materialize::Always => false,
                a::Materialize::Default => cte.references == 1,
            }
            && !inner.targets.iter().any(|t| t.expr.is_volatile());
        if cte.references == 0 && !modifies {
            return Ok(());
        }
        let subplan = self.planner.add_subplan(inner, Some(cte.name.clone()));
        let state = if inline {
            CteState::Inline { subplan, query: Rc::new(cte.query.clone()) }
        } else {
            block.ctes.push(subplan);
            CteState::Planned { subplan }
        };
        self.scope().ctes.push((cte.name.clone(), state));
        Ok(())
    }

    fn recursive_cte(&mut self, cte: &a::Cte, block: &mut Block) -> SqlResult<()> {
        let expanded;
        let cte = match cte.search.is_some() || cte.cycle.is_some() {
            true => {
                expanded = a::search_cycle::expanded(cte)?;
                &expanded
            }
            false => cte,
        };
        let Some(a::SetOperation::Node(node)) = &cte.query.set_operation else {
            return Err(SqlError::internal("recursive query without UNION"));
        };
        if node.group_by.iter().any(|key| !key.hashable) {
            return Err(base::sql_err!(FEATURE_NOT_SUPPORTED, "could not implement recursive UNION")
                .detail("All column datatypes must be hashable."));
        }
        let table = self.planner.work_tables.len();
        let cell = self.planner.new_cell();
        self.planner.work_tables.push(cell);
        self.scope().ctes.push((cte.name.clone(), CteState::Recursive { table }));
        self.scopes.push(Scope::default());
        let result = (|| -> SqlResult<_> {
            for inner in &cte.query.ctes {
                self.cte(inner, block)?;
            }
            self.range_table(&cte.query)?;
            let columns: Vec<RelColumn> = cte.columns.iter().map(column_of).collect();
            let relation =
                Relation { alias: cte.name.as_str().into(), table: None, columns: columns.clone() };
            let rel = self.planner.add_relation(relation, Source::Columns)?;
            let query = &cte.query;
            let initial = Box::new(self.set_input(query, rel, &node.left, &node.left_casts)?);
            let recursive = Box::new(self.set_input(query, rel, &node.right, &node.right_casts)?);
            let tree = SetTree::Recursive { initial, recursive, table, distinct: !node.all };
            let mut inner = Block { set: Some((rel, tree)), ..Block::default() };
            for (i, column) in columns.iter().enumerate() {
                let var = Var { rel, column: i as i16 + 1, type_oid: column.type_oid, typmod: column.typmod };
                inner.targets.push(Target { expr: Expr::Var(var), name: column.name.clone(), junk: false });
            }
            Ok(inner)
        })();
        self.scopes.pop();
        let subplan = self.planner.add_subplan(result?, Some(cte.name.clone()));
        block.ctes.push(subplan);
        let ctes = &mut self.scope().ctes;
        ctes.pop();
        ctes.push((cte.name.clone(), CteState::Planned { subplan }));
        Ok(())
    }

    fn range_table(&mut self, query: &Query) -> SqlResult<()> {
        // Joins last: their columns name the other entries, wherever those stand.
        for entry in &query.range_table {
            let placeholder = Entry::Join(Vec::new());
            let made = match &entry.kind {
                RteKind::Join(_) => placeholder,
                RteKind::Subquery(_) if query.set_operation.is_some() && !entry.in_from => placeholder,
                _ if entry.lateral => placeholder,
                _ => Entry::Rel(self.relation(entry)?),
            };
            self.scope().entries.push(made);
        }
        for (i, entry) in query.range_table.iter().enumerate() {
            if entry.lateral && !matches!(entry.kind, RteKind::Join(_)) {
                let rel = self.relation(entry)?;
                self.scope().entries[i] = Entry::Rel(rel);
            } else if let RteKind::Join(join) = &entry.kind {
                let columns = join.columns.iter().map(|e| self.expr(e)).collect::<SqlResult<Vec<_>>>()?;
                self.scope().entries[i] = Entry::Join(columns);
            }
        }
        self.guard(query)
    }

    fn sample(&mut self, sample: &a::TableSample) -> SqlResult<Sample> {
        let [percent] = sample.args.as_slice() else {
            return Err(SqlError::internal("a sampling method has one argument"));
        };
        let mut converted = |expr: &a::Expr| {
            let mut expr = self.expr(expr)?;
            crate::fold::fold(&mut expr);
            Ok::<_, SqlError>(expr)
        };
        Ok(Sample {
            system: sample.method == "system",
            percent: converted(percent)?,
            repeatable: sample.repeatable.as_ref().map(converted).transpose()?,
        })
    }

    fn relation(&mut self, entry: &a::RangeTableEntry) -> SqlResult<RelId> {
        let alias: Arc<str> = entry.alias.as_ref().map_or(entry.name.as_str(), |a| a.name.as_str()).into();
        let named =
            |i: usize, name: &str| -> Arc<str> { entry.columns.get(i).map_or(name, String::as_str).into() };
        let typed = |columns: &[a::ColumnType]| -> Vec<RelColumn> {
            let column = |(i, c): (usize, &a::ColumnType)| RelColumn {
                name: named(i, &c.name),
                type_oid: c.type_oid,
                typmod: c.typmod,
            };
            columns.iter().enumerate().map(column).collect()
        };
        match &entry.kind {
            RteKind::Relation(relation) => {
                let columns = relation
                    .table
                    .columns
                    .iter()
                    .enumerate()
                    .map(|(i, c)| RelColumn {
                        name: named(i, &c.name),
                        type_oid: c.type_oid,
                        typmod: c.typmod,
                    })
                    .collect();
                self.planner.lock(relation.oid, relation.lock_mode);
                let table = Some(relation.table.clone());
                let source = match &relation.sample {
                    Some(sample) => Source::Sample(Box::new(self.sample(sample)?)),
                    // The target of triggers: its present rows are those of another entry.
                    None if relation.table.kind == RelationKind::View => Source::Columns,
                    // It stands for the members of its tree.
                    None if relation.inherit && !relation.table.children.is_empty() => Source::Table,
                    None => self.planner.source_of(&relation.table)?,
                };
                let rel = self.planner.add_relation(Relation { alias, table, columns }, source)?;
                self.planner.note_inherited(rel, relation);
                Ok(rel)
            }
            RteKind::Subquery(sub) => {
                let block = Block { barrier: sub.security_barrier, ..self.query(&sub.query)? };
                if sub.view.is_valid() {
                    self.planner.lock(sub.view, 1);
                }
                self.add_subquery(block, alias, &named)
            }
            RteKind::Function(functions) => {
                if let Some((function, body)) = self.inlined_query(functions)? {
                    self.planner.inlining.push(function);
                    let block = self.query(&body);
                    self.planner.inlining.pop();
                    return self.add_subquery(block?, alias, &named);
                }
                let mut columns = Vec::new();
                let mut calls = Vec::new();
                let mut widths = Vec::new();
                for function in &functions.functions {
                    widths.push(function.columns.len());
                    columns.extend(typed(&function.columns));
                    // The columns have the collation, not the call.
                    let call = self.expr_of(&function.call)?;
                    self.planner.note_type(call.type_oid())?;
                    calls.push(call);
                }
                if functions.ordinality {
                    columns.push(RelColumn { name: "ordinality".into(), type_oid: Oid(20), typmod: -1 });
                }
                for (i, column) in columns.iter_mut().enumerate() {
                    column.name = named(i, &column.name);
                }
                let source = Source::Function { calls, widths, ordinality: functions.ordinality };
                self.planner.add_relation(Relation { alias, table: None, columns }, source)
            }
            RteKind::Values(values) => {
                let columns = typed(&values.columns);
                let rows = values
                    .rows
                    .iter()
                    .map(|row| row.iter().map(|e| self.expr(e)).collect::<SqlResult<Vec<_>>>())
                    .collect::<SqlResult<Vec<_>>>()?;
                let alias =
                    if entry.name.is_empty() && entry.alias.is_none() { "*VALUES*".into() } else { alias };
                self.planner.add_relation(Relation { alias, table: None, columns }, Source::Values(rows))
            }
            RteKind::Cte(cte) => {
                let columns = typed(&cte.columns);
                let source = self.cte_source(cte)?;
                self.planner.add_relation(Relation { alias, table: None, columns }, source)
            }
            RteKind::Transition(transition) => {
                let columns = typed(&transition.columns);
                let rows = (transition.rows as f64).max(1.0);
                let source = Source::Transition { name: transition.name.as_str().into(), rows };
                self.planner.add_relation(Relation { alias, table: None, columns }, source)
            }
            RteKind::Join(_) => Err(SqlError::internal("a join is no relation")),
        }
    }

    /// Adds a subquery as a relation; `named` are the names of its columns, by number and own name.
    fn add_subquery(
        &mut self,
        block: Block,
        alias: Arc<str>,
        named: &dyn Fn(usize, &str) -> Arc<str>,
    ) -> SqlResult<RelId> {
        let columns = block
            .targets
            .iter()
            .filter(|t| !t.junk)
            .enumerate()
            .map(|(i, t)| RelColumn {
                name: named(i, &t.name),
                type_oid: t.expr.type_oid(),
                typmod: t.expr.typmod(),
            })
            .collect();
        self.planner.add_relation(Relation { alias, table: None, columns }, Source::Subquery(Box::new(block)))
    }

    fn cte_source(&mut self, cte: &a::CteReference) -> SqlResult<Source> {
        let place = self.scopes.iter().enumerate().rev().find_map(|(level, scope)| {
            scope.ctes.iter().rposition(|(name, _)| *name == cte.name).map(|at| (level, at))
        });
        let Some((level, at)) = place else {
            return Err(SqlError::internal(format!("WITH query \"{}\" not found", cte.name)));
        };
        Ok(match self.scopes[level].ctes[at].1.clone() {
            CteState::Inline { subplan, query } => {
                Source::Subquery(Box::new(match self.planner.take_pending(subplan) {
                    Some(block) => block,
                    None => self.query_within(&query, level, at)?,
                }))
            }
            CteState::Planned { subplan } => Source::Cte(subplan),
            CteState::Recursive { table } => Source::WorkTable(table),
        })
    }

    /// Converts a query of WITH where it stands: in a scope further out, behind so many others.
    fn query_within(&mut self, query: &Query, level: usize, at: usize) -> SqlResult<Block> {
        let inner = self.scopes.split_off(level + 1);
        let later = self.scopes[level].ctes.split_off(at);
        let block = self.query(query);
        self.scopes[level].ctes.extend(later);
        self.scopes.extend(inner);
        block
    }

    pub(crate) fn join_tree_node(&mut self, node: &a::FromNode) -> SqlResult<l::From> {
        match node {
            a::FromNode::Entry(rte) => match &self.scope().entries[*rte] {
                Entry::Rel(rel) => Ok(l::From::Rel(*rel)),
                Entry::Join(_) => Err(SqlError::internal("join tree names a join entry as relation")),
            },
            a::FromNode::Join(join) => {
                let mut left = vec![self.join_tree_node(&join.left)?];
                let mut right = vec![self.join_tree_node(&join.right)?];
                let mut quals = Vec::new();
                if let Some(on) = &join.on {
                    flatten_and(self.expr(on)?, &mut quals);
                }
                let kind = match join.kind {
                    a::JoinType::Inner => JoinKind::Inner,
                    a::JoinType::Left => JoinKind::Left,
                    a::JoinType::Full => JoinKind::Full,
                    a::JoinType::Right => {
                        std::mem::swap(&mut left, &mut right);
                        JoinKind::Left
                    }
                };
                Ok(l::From::Join { kind, left, right, quals })
            }
        }
    }

    fn modify(&mut self, query: &Query, block: &mut Block) -> SqlResult<()> {
        let command = match query.command {
            a::Command::Insert => Command::Insert,
            a::Command::Update => Command::Update,
            a::Command::Delete => Command::Delete,
            _ => Command::Merge,
        };
        let rel = self.target(query)?;
        let table = self.planner.relations[rel].table.clone();
        let table = table.ok_or_else(|| SqlError::internal("the target is no table"))?;
        let mut columns = Vec::new();
        let mut targets: Vec<Target> = Vec::new();
        let given = std::mem::take(&mut block.targets);
        let value = |entry: &a::TargetEntry, list: &[Target]| {
            let at = query.targets.iter().position(|t| std::ptr::eq(t, entry)).unwrap_or(0);
            list[at].clone()
        };
        match command {
            Command::Insert => {
                for (i, column) in table.columns.iter().enumerate() {
                    let entry = query.targets.iter().find(|t| !t.junk && t.resno as usize == i + 1);
                    let expr = entry.map(|e| value(e, &given).expr);
                    let null = || Expr::Const {
                        value: Datum::Null,
                        type_oid: column.type_oid,
                        typmod: column.typmod,
                    };
                    let name = column.name.as_str().into();
                    let expr = match expr {
                        Some(expr) => expr,
                        None => self.null_of(null(), column)?,
                    };
                    targets.push(Target { expr, name, junk: false });
                }
            }
            Command::Update => {
                for entry in query.targets.iter().filter(|t| !t.junk) {
                    columns.push(entry.resno);
                    targets.push(value(entry, &given));
                }
            }
            _ => {}
        }
        if query.instead.is_some() {
            let rows = self.rows_of_target(query)?;
            self.present_row(rows, command, &mut targets)?;
        } else if command != Command::Insert {
            let ctid = Var { rel, column: -1, type_oid: Oid(27), typmod: -1 };
            targets.push(Target { expr: Expr::Var(ctid), name: "ctid".into(), junk: true });
            if self.planner.is_inherited(rel) {
                let tableoid = Expr::Var(crate::inherit::tableoid(rel));
                targets.push(Target { expr: tableoid, name: "tableoid".into(), junk: true });
            }
        }
        let merge = match command {
            Command::Merge => Some(self.merge(query, &table, &mut targets)?),
            _ => None,
        };
        for entry in query.targets.iter().filter(|t| t.junk) {
            targets.push(value(entry, &given));
        }
        block.targets = targets;
        let returning = query.returning.iter().map(|t| self.expr(&t.expr)).collect::<SqlResult<Vec<_>>>()?;
        let on_conflict = query.on_conflict.as_ref().map(|c| self.on_conflict(c, rel)).transpose()?;
        let mut row_checks = self.policy_checks(query)?;
        for check in &query.view_checks {
            row_checks.push(self.view_check(check)?);
        }
        let names = query.returning.iter().map(|t| t.name.as_deref().unwrap_or("?column?").into()).collect();
        block.modify = Some(Box::new(Modify {
            command,
            rel,
            table,
            source: Plan::empty(),
            columns,
            returning,
            returning_names: names,
            targets: Vec::new(),
            found_in: 0,
            routing: None,
            partition: Vec::new(),
            on_conflict,
            row_checks,
            versions: self.scope().versions,
            merge: merge.map(|m| Merge { action_cell: self.scope().merge_action, ..m }),
        }));
        Ok(())
    }

    /// The relation that an entry of the present level became.
    pub(crate) fn relation_of(&self, entry: usize) -> Option<RelId> {
        match self.scopes.last()?.entries.get(entry)? {
            Entry::Rel(rel) => Some(*rel),
            Entry::Join(_) => None,
        }
    }

    /// The relation that a statement changes.
    pub(crate) fn target(&mut self, query: &Query) -> SqlResult<RelId> {
        let target = query.target.ok_or_else(|| SqlError::internal("no target table"))?;
        match self.scope().entries[target] {
            Entry::Rel(rel) => Ok(rel),
            Entry::Join(_) => Err(SqlError::internal("the target is no relation")),
        }
    }

    /// The relation with the present rows of what a statement changes: that itself, but for a view that triggers change.
    pub(crate) fn rows_of_target(&mut self, query: &Query) -> SqlResult<RelId> {
        let Some(rte) = query.instead else { return self.target(query) };
        match self.scope().entries[rte] {
            Entry::Rel(rel) => Ok(rel),
            Entry::Join(_) => Err(SqlError::internal("the target's rows are no relation")),
        }
    }

    /// What INSTEAD OF triggers need of a row of their view: its columns, and for MERGE, in front of them, whether there is a row.
    fn present_row(&mut self, rel: RelId, command: Command, targets: &mut Vec<Target>) -> SqlResult<()> {
        if command == Command::Merge {
            let marker = Box::new(self.planner.row_marker(rel)?);
            targets.push(Target { expr: Expr::Test(Test::IsNotNull, marker), name: "".into(), junk: true });
        }
        let columns = self.planner.relations[rel].columns.iter().enumerate();
        targets.extend(columns.map(|(i, column)| {
            let (type_oid, typmod) = (column.type_oid, column.typmod);
            let var = Var { rel, column: i as i16 + 1, type_oid, typmod };
            Target { expr: Expr::Var(var), name: column.name.clone(), junk: true }
        }));
        Ok(())
    }

    fn on_conflict(&mut self, conflict: &a::OnConflict, rel: RelId) -> SqlResult<OnConflict> {
        let (arbiters, unsettled) = self.arbiters(conflict, rel)?;
        let mut out = OnConflict {
            arbiters,
            unsettled,
            set: None,
            multi: Vec::new(),
            filter: Vec::new(),
            excluded: rel,
        };
        if let Some(update) = &conflict.update {
            let Entry::Rel(excluded) = self.scope().entries[update.excluded_rte].clone() else {
                return Err(SqlError::internal("EXCLUDED is no relation"));
            };
            out.excluded = excluded;
            let mut set = Vec::new();
            for entry in &update.targets {
                let value = self.expr(&entry.expr)?;
                if entry.junk { out.multi.push(value) } else { set.push((entry.resno, value)) }
            }
            out.set = Some(set);
            if let Some(filter) = &update.filter {
                flatten_and(self.expr(filter)?, &mut out.filter);
            }
        }
        Ok(out)
    }

    /// The condition of WITH CHECK OPTION over the target's new row.
    fn view_check(&mut self, check: &a::ViewCheck) -> SqlResult<RowCheck> {
        let mut quals = Vec::new();
        if let Some(condition) = &check.condition {
            flatten_and(self.expr(condition)?, &mut quals);
        }
        Ok(RowCheck { kind: CheckKind::View, name: Some(check.view.as_str().into()), quals })
    }

    fn exprs(&mut self, list: &[a::Expr]) -> SqlResult<Vec<Expr>> {
        list.iter().map(|e| self.expr(e)).collect()
    }

    /// Converts an expression of the current level.
    pub fn expr(&mut self, expr: &a::Expr) -> SqlResult<Expr> {
        runtime::check_stack()?;
        runtime::check_interrupts()?;
        let converted = self.expr_of(expr)?;
        self.planner.note_type(converted.type_oid())?;
        self.planner.collated(converted, a::facts::expr_collation(expr))
    }

    fn expr_of(&mut self, expr: &a::Expr) -> SqlResult<Expr> {
        Ok(match expr {
            a::Expr::Var(var) => self.var(var)?,
            a::Expr::Const(c) => {
                Expr::Const { value: c.value.clone(), type_oid: c.type_oid, typmod: c.typmod }
            }
            a::Expr::Param(param) => self.param(param)?,
            a::Expr::Func(f) => self.call(f)?,
            a::Expr::Op(op) => Expr::Call(Box::new(self.operator(op)?)),
            a::Expr::Distinct(op) => {
                Expr::Distinct { equality: Box::new(self.operator(op)?), negated: false }
            }
            a::Expr::NullIf(op) => Expr::NullIf(Box::new(self.operator(op)?)),
            a::Expr::ScalarArray(op) => self.array_op(op)?,
            a::Expr::Bool(b) => match b.op {
                a::BoolOp::And => Expr::And(self.exprs(&b.args)?),
                a::BoolOp::Or => Expr::Or(self.exprs(&b.args)?),
                a::BoolOp::Not => Expr::Not(Box::new(self.expr(&b.args[0])?)),
            },
            a::Expr::Aggregate(agg) => self.aggregate(agg)?,
            a::Expr::Grouping(g) => self.grouping(g)?,
            a::Expr::Window(w) => self.window_call(w)?,
            a::Expr::SubLink(link) => self.sublink(link)?,
            a::Expr::Subscript(s) => self.subscript(s)?,
            a::Expr::Field(f) => Expr::Field {
                arg: Box::new(self.expr(&f.arg)?),
                field: f.attno as usize - 1,
                type_oid: f.result_type,
            },
            a::Expr::Relabel(r) => Expr::Relabel {
                arg: Box::new(self.expr(&r.arg)?),
                type_oid: r.result_type,
                typmod: r.typmod,
                explicit: r.form == a::CoercionForm::ExplicitCast,
                collation: None,
            },
            a::Expr::IoCast(c) => Expr::IoCast {
                arg: Box::new(self.expr(&c.arg)?),
                type_oid: c.result_type,
                explicit: c.form == a::CoercionForm::ExplicitCast,
            },
            a::Expr::ArrayCast(c) => {
                let arg = Box::new(self.expr(&c.arg)?);
                let cell = self.planner.new_cell();
                let element = Box::new(self.with_case_cell(cell, &c.element)?);
                let target = self.planner.note_type(c.result_type)?.element;
                Expr::ArrayCast { arg, element, cell, type_oid: c.result_type, target }
            }
            a::Expr::Collate(c) => self.expr(&c.arg)?,
            a::Expr::Case(c) => self.case(c)?,
            a::Expr::CaseTest(test) => {
                let id =
                    *self.case_cells.last().ok_or_else(|| SqlError::internal("CASE value outside CASE"))?;
                Expr::ExecParam { id, type_oid: test.type_oid, source: None }
            }
            a::Expr::Array(array) => Expr::Array {
                elements: self.exprs(&array.elements)?,
                type_oid: array.array_type,
                element: array.element_type,
                nested: array.multidims,
            },
            a::Expr::Row(row) => self.row(row)?,
            a::Expr::RowCompare(compare) => self.row_compare(compare)?,
            a::Expr::Coalesce(c) => Expr::Coalesce(self.exprs(&c.args)?, c.result_type),
            a::Expr::MinMax(m) => {
                self.planner.note_collation(m.input_collation)?;
                Expr::Extreme(m.greatest, self.exprs(&m.args)?, m.result_type, m.input_collation)
            }
            a::Expr::SqlValue(v) => Expr::SqlValue(v.kind, v.result_type, v.typmod),
            a::Expr::NullTest(t) => {
                let arg = Box::new(self.expr(&t.arg)?);
                if t.row {
                    let row = self.planner.composite_row(arg.type_oid())?;
                    return Ok(Expr::RowNullTest { arg, not: t.not, row });
                }
                Expr::Test(if t.not { Test::IsNotNull } else { Test::IsNull }, arg)
            }
            a::Expr::BooleanTest(t) => {
                let test = match t.test {
                    a::BoolTest::True => Test::IsTrue,
                    a::BoolTest::NotTrue => Test::IsNotTrue,
                    a::BoolTest::False => Test::IsFalse,
                    a::BoolTest::NotFalse => Test::IsNotFalse,
                    a::BoolTest::Unknown => Test::IsUnknown,
                    a::BoolTest::NotUnknown => Test::IsNotUnknown,
                };
                Expr::Test(test, Box::new(self.expr(&t.arg)?))
            }
            a::Expr::NextValue(next) => self.next_value(next)?,
            a::Expr::Default(_) => return Err(SqlError::internal("DEFAULT was not replaced")),
            a::Expr::FieldStore(store) => self.field_store(store)?,
            a::Expr::RowCast(_) => return Err(SqlError::not_supported("a cast between row types")),
            a::Expr::ToDomain(to) => {
                let arg = self.expr(&to.arg)?;
                self.checked_for(arg, to.domain)?
            }
            a::Expr::DomainValue(value) => {
                let id = self.domain_cells.last().copied();
                let id = id.ok_or_else(|| SqlError::internal("VALUE outside a domain's constraint"))?;
                Expr::ExecParam { id, type_oid: value.type_oid, source: None }
            }
            a::Expr::CurrentOf(of) => self.current_of(of)?,
            a::Expr::NamedArg(named) => self.expr(&named.arg)?,
            a::Expr::MergeAction(_) => self.merge_action_name()?,
            a::Expr::Json(json) => self.json(json)?,
            a::Expr::Xml(xml) => self.xml(xml)?,
        })
    }

    /// An expression in which the cell stands for the tested value.
    pub(crate) fn with_case_cell(&mut self, cell: ParamId, expr: &a::Expr) -> SqlResult<Expr> {
        self.case_cells.push(cell);
        let converted = self.expr(expr);
        self.case_cells.pop();
        converted
    }

    /// The next value of an identity column's sequence. The second argument, which no user can write, says that rights on the
    /// sequence are not asked for: who may insert into the table may draw from it.
    fn next_value(&mut self, next: &a::NextValue) -> SqlResult<Expr> {
        let function = Function::Builtin(builtin(Oid(1574))?);
        let sequence = Expr::Const { value: Datum::Oid(next.sequence.0), type_oid: Oid(2205), typmod: -1 };
        let implied = Expr::Const { value: Datum::Bool(true), type_oid: types::oids::bool, typmod: -1 };
        Expr::Call(Box::new(Call {
            number: self.planner.call_number(&function),
            function,
            form: CallForm::Function,
            args: vec![sequence, implied],
            type_oid: Oid(20),
            typmod: -1,
            collation: Oid::INVALID,
            variadic: false,
        }))
        .cast_integer(next.type_oid)
    }

    /// WHERE CURRENT OF: a condition on the target's `ctid`, which the target's scan always evaluates itself.
    fn current_of(&mut self, of: &a::CurrentOf) -> SqlResult<Expr> {
        let Entry::Rel(rel) = self.scope().entries[of.rte] else {
            return Err(SqlError::internal("the target is no relation"));
        };
        let place = Var { rel, column: -1, type_oid: types::oids::tid, typmod: -1 };
        let variable = of.variable.as_deref().map(|e| self.expr(e)).transpose()?.map(Box::new);
        let cursor = Expr::CurrentOf { cursor: of.cursor.as_str().into(), variable, table: Oid::INVALID };
        Ok(Expr::Call(Box::new(Call {
            function: Function::Builtin(builtin(TID_EQUAL)?),
            form: CallForm::Function,
            args: vec![Expr::Var(place), cursor],
            type_oid: types::oids::bool,
            typmod: -1,
            collation: Oid::INVALID,
            variadic: false,
            number: 0,
        })))
    }

    /// A call. A cast's function may give another type than the cast, alike in binary: where values of the two differ in
    /// memory, the result is relabelled.
    fn call(&mut self, f: &a::FuncExpr) -> SqlResult<Expr> {
        if let Some(body) = a::body::function_body(f, self.planner.context.catalog)? {
            return self.expr_of(&body);
        }
        let function = self.planner.function(f.function)?;
        let args = self.exprs(&f.args)?;
        if let Some(body) = self.inlined_call(&function, f, &args)? {
            return Ok(body);
        }
        self.planner.note_collation(f.input_collation)?;
        let result = function.result();
        let form = match f.form {
            a::CoercionForm::ExplicitCast => CallForm::ExplicitCast,
            a::CoercionForm::ImplicitCast => CallForm::ImplicitCast,
            _ => CallForm::Function,
        };
        let converts = types::registry::relabel_converts(result, f.result_type);
        let number = self.planner.call_number(&function);
        let call = Expr::Call(Box::new(Call {
            function,
            form: if converts { CallForm::ImplicitCast } else { form },
            args,
            type_oid: if converts { result } else { f.result_type },
            typmod: cast_typmod(f),
            collation: f.input_collation,
            variadic: f.variadic,
            number,
        }));
        if !converts {
            return Ok(call);
        }
        let explicit = f.form == a::CoercionForm::ExplicitCast;
        Ok(Expr::Relabel {
            arg: Box::new(call),
            type_oid: f.result_type,
            typmod: -1,
            explicit,
            collation: None,
        })
    }

    /// NULL for a column that is not given: a domain may refuse it.
    pub(crate) fn null_of(&mut self, null: Expr, column: &catalog::Column) -> SqlResult<Expr> {
        if column.dropped || types::builtin_type(column.type_oid).is_some() {
            return Ok(null);
        }
        match self.checked_for(null.clone(), column.type_oid)? {
            checked @ Expr::ToDomain { .. } => Ok(checked),
            _ => Ok(null),
        }
    }

    fn row(&mut self, row: &a::RowExpr) -> SqlResult<Expr> {
        let fields = self.exprs(&row.args)?;
        let made = match row.row_type {
            RECORD => None,
            composite => self.planner.composite_row(composite)?,
        };
        let made = match made {
            Some(made) if made.fields.len() == fields.len() => made,
            _ => self.planner.anonymous_row(row.row_type, fields.iter().map(Expr::type_oid))?,
        };
        Ok(Expr::Row { fields, row: made })
    }

    fn field_store(&mut self, store: &a::FieldStoreExpr) -> SqlResult<Expr> {
        let arg = Box::new(self.expr(&store.arg)?);
        let row = self.planner.composite_row(store.result_type)?;
        let row = row.ok_or_else(|| SqlError::internal("assignment to a field of no composite type"))?;
        let mut fields = Vec::with_capacity(store.fields.len());
        for (number, value) in &store.fields {
            // A value may name the field as it was.
            fields.push((*number as usize - 1, self.expr(value)?));
        }
        Ok(Expr::FieldStore { arg, fields, row, type_oid: store.result_type })
    }

    /// A value with the checks of a domain around it; the value itself if there are none.
    fn checked_for(&mut self, arg: Expr, domain: Oid) -> SqlResult<Expr> {
        let rules = self.planner.domain_rules(domain)?;
        let cell = self.planner.new_cell();
        let mut checks = Vec::new();
        self.domain_cells.push(cell);
        // Reports name the domain that was asked for, whichever it has the rule from.
        let name = rules.levels.last().map(|own| (own.schema.as_str().into(), own.name.as_str().into()));
        let name: (Arc<str>, Arc<str>) = name.unwrap_or_default();
        let rule = |check| DomainCheck { domain, name: name.clone(), check };
        if rules.levels.iter().any(|level| level.not_null) {
            checks.push(rule(None));
        }
        for (check, text) in rules.levels.iter().flat_map(|level| &level.checks) {
            let analysed = a::stored::load_expr(text, self.planner.context.catalog)?;
            checks.push(rule(Some((check.as_str().into(), self.expr(&analysed)?))));
        }
        self.domain_cells.pop();
        if checks.is_empty() {
            let arg = Box::new(arg);
            return Ok(Expr::Relabel { arg, type_oid: domain, typmod: -1, explicit: false, collation: None });
        }
        Ok(Expr::ToDomain { arg: Box::new(arg), cell, checks, type_oid: domain })
    }

    fn var(&mut self, var: &a::Var) -> SqlResult<Expr> {
        let at = self.scopes.len() - 1 - var.levels_up as usize;
        match &self.scopes[at].entries[var.rte] {
            Entry::Rel(rel) => {
                let table = self.planner.relations[*rel].table.as_ref();
                if let Some(table) = table
                    && let Some(value) = a::computed::value(var, table, self.planner.context.catalog)?
                {
                    return self.expr(&value);
                }
                let (rel, column) = (self.version(at, *rel, var.version)?, var.attno);
                if column == 0 {
                    self.planner.whole_row(rel, var.type_oid)?;
                }
                Ok(Expr::Var(Var { rel, column, type_oid: var.type_oid, typmod: var.typmod }))
            }
            Entry::Join(columns) => columns
                .get(var.attno as usize - 1)
                .cloned()
                .ok_or_else(|| SqlError::internal("join column not found")),
        }
    }

    /// The relation that stands for OLD or NEW of the target `rel` of a level.
    fn version(&mut self, level: usize, rel: RelId, version: a::RowVersion) -> SqlResult<RelId> {
        let (slot, alias) = match version {
            a::RowVersion::Default => return Ok(rel),
            a::RowVersion::Old => (0, "old"),
            a::RowVersion::New => (1, "new"),
        };
        if let Some(known) = self.scopes[level].versions[slot] {
            return Ok(known);
        }
        let relation = Relation { alias: alias.into(), ..self.planner.relations[rel].clone() };
        let made = self.planner.add_relation(relation, Source::Columns)?;
        self.scopes[level].versions[slot] = Some(made);
        Ok(made)
    }

    fn param(&mut self, param: &a::Param) -> SqlResult<Expr> {
        let type_oid = param.type_oid;
        Ok(match param.kind {
            a::ParamKind::Extern => Expr::Param { number: param.id as usize - 1, type_oid },
            a::ParamKind::SubLink => {
                let cells = self.link_cells.last();
                let id = cells.and_then(|c| c.get(param.id as usize - 1)).copied();
                let id = id.ok_or_else(|| SqlError::internal("sublink parameter outside a sublink"))?;
                Expr::ExecParam { id, type_oid, source: None }
            }
            a::ParamKind::MultiExpr => {
                let id = self.multi_cell(param.id >> 16, param.id & 0xffff);
                Expr::ExecParam { id, type_oid, source: None }
            }
            a::ParamKind::Exec => return Err(SqlError::internal("executor parameter before planning")),
        })
    }

    fn multi_cell(&mut self, link: i32, column: i32) -> ParamId {
        let known = self.scope().multi.iter().find(|(key, _)| *key == (link, column)).map(|(_, id)| *id);
        known.unwrap_or_else(|| {
            let id = self.planner.new_cell();
            self.scope().multi.push(((link, column), id));
            id
        })
    }

    fn operator(&mut self, op: &a::OpExpr) -> SqlResult<Call> {
        if let Some(body) = a::body::operator_body(op, self.planner.context.catalog)? {
            return self.operator(&body);
        }
        let (op_oid, function) = self.planner.operator(op)?;
        self.planner.note_collation(op.input_collation)?;
        Ok(Call {
            number: self.planner.call_number(&function),
            function,
            form: CallForm::Operator(self.planner.operator_ref(op_oid)?),
            args: self.exprs(&op.args)?,
            type_oid: op.result_type,
            typmod: -1,
            collation: op.input_collation,
            variadic: false,
        })
    }

    fn array_op(&mut self, op: &a::ScalarArrayExpr) -> SqlResult<Expr> {
        let left = self.expr(&op.scalar)?;
        let array = self.expr(&op.array)?;
        let element = self.planner.types.element(array.type_oid());
        self.planner.note_collation(op.input_collation)?;
        Ok(Expr::ArrayOp(Box::new(ArrayOp {
            function: self.planner.function(op.function)?,
            operator: self.planner.operator_ref(op.op)?,
            any: op.any,
            left,
            array,
            element,
            collation: op.input_collation,
        })))
    }

    /// A key of a sort by this value.
    fn sort_key(&self, clause: &a::SortGroupClause, value: Expr) -> SqlResult<SortKey> {
        let expr = self.planner.in_order_by(value, clause.ordering)?;
        Ok(SortKey { expr, descending: clause.descending, nulls_first: clause.nulls_first })
    }

    fn aggregate(&mut self, agg: &a::Aggregate) -> SqlResult<Expr> {
        // Each once: an argument that is sorted by too is one value.
        let mut entries = Vec::new();
        for entry in &agg.args {
            entries.push(self.expr(&entry.expr)?);
        }
        let mut order = Vec::new();
        for clause in &agg.order_by {
            let at = agg.args.iter().position(|t| t.sort_ref == clause.sort_ref);
            let at = at.ok_or_else(|| SqlError::internal("sort reference without argument"))?;
            order.push(self.sort_key(clause, entries[at].clone())?);
        }
        let given = agg.args.iter().map(|entry| !entry.junk);
        let args: Vec<Expr> =
            entries.into_iter().zip(given).filter(|(_, given)| *given).map(|(e, _)| e).collect();
        let direct = self.exprs(&agg.direct_args)?;
        let function = self.planner.function(agg.function)?;
        let types: Vec<Oid> = direct.iter().chain(&args).map(Expr::type_oid).collect();
        let call = AggCall {
            steps: self.planner.aggregate_steps(&function, &types)?,
            function,
            args,
            direct,
            order,
            within_group: agg.kind != a::AggregateKind::Normal,
            distinct: !agg.distinct.is_empty(),
            presorted: false,
            filter: agg.filter.as_ref().map(|e| self.expr(e)).transpose()?,
            star: agg.star,
            type_oid: agg.result_type,
            collation: agg.input_collation,
        };
        self.of_level(agg.levels_up, Expr::Aggregate(Box::new(call)))
    }

    fn window_call(&mut self, w: &a::WindowCall) -> SqlResult<Expr> {
        let function = self.planner.function(w.function)?;
        let args = self.exprs(&w.args)?;
        let types: Vec<Oid> = args.iter().map(Expr::type_oid).collect();
        let steps = w.is_aggregate.then(|| self.planner.aggregate_steps(&function, &types)).transpose()?;
        Ok(Expr::Window(Box::new(WindowCall {
            function,
            steps,
            args,
            filter: w.filter.as_ref().map(|e| self.expr(e)).transpose()?,
            star: w.star,
            window: w.window,
            type_oid: w.result_type,
            collation: w.input_collation,
        })))
    }

    /// An aggregate or GROUPING of the level `levels_up` out: itself on its own level, a column that stands for it below.
    fn of_level(&mut self, levels_up: u32, expr: Expr) -> SqlResult<Expr> {
        if levels_up == 0 {
            return Ok(expr);
        }
        let (type_oid, typmod) = (expr.type_oid(), expr.typmod());
        let at = self.scopes.len() - 1 - levels_up as usize;
        let mut named = match self.scopes[at].named_below.take() {
            Some(named) => named,
            None => {
                let depth = std::mem::replace(&mut self.planner.depth, at + 1);
                let rel = self.nameless_relation();
                self.planner.depth = depth;
                NamedBelow { rel: rel?, exprs: Vec::new() }
            }
        };
        let column = named.exprs.iter().position(|known| *known == expr).unwrap_or_else(|| {
            named.exprs.push(expr);
            self.planner.relations[named.rel].columns.push(RelColumn { name: "".into(), type_oid, typmod });
            named.exprs.len() - 1
        });
        let var = Var { rel: named.rel, column: column as i16 + 1, type_oid, typmod };
        self.scopes[at].named_below = Some(named);
        Ok(Expr::Var(var))
    }

    fn grouping(&mut self, grouping: &a::GroupingExpr) -> SqlResult<Expr> {
        let keys = &self.scopes[self.scopes.len() - 1 - grouping.levels_up as usize].group;
        let place = |r: &u32| keys.iter().position(|k| k == r);
        let places = grouping.refs.iter().map(place).collect::<Option<_>>();
        let places = places.ok_or_else(|| SqlError::internal("GROUPING without its key"))?;
        self.of_level(grouping.levels_up, Expr::Grouping(places))
    }

    fn sublink(&mut self, link: &a::SubLink) -> SqlResult<Expr> {
        let block = self.query(&link.query)?;
        let types: Vec<(Oid, i32)> =
            block.targets.iter().filter(|t| !t.junk).map(|t| (t.expr.type_oid(), t.expr.typmod())).collect();
        let first = types.first().copied().unwrap_or((Oid::INVALID, -1));
        let boolean = (Oid(16), -1);
        let (kind, (type_oid, typmod)) = match link.kind {
            a::SubLinkType::Exists => (SubPlanKind::Exists, boolean),
            a::SubLinkType::Expr => (SubPlanKind::Scalar, first),
            a::SubLinkType::Array => {
                let (own, over) = (self.planner.types.element(first.0), self.planner.types.array(first.0));
                let nested = own != Oid::INVALID && over == Oid::INVALID;
                let array = if nested { first.0 } else { over };
                self.planner.note_type(array)?;
                (SubPlanKind::Array { nested }, (array, -1))
            }
            a::SubLinkType::Any | a::SubLinkType::All | a::SubLinkType::RowCompare => {
                let columns: Vec<ParamId> = types.iter().map(|_| self.planner.new_cell()).collect();
                self.link_cells.push(columns.clone());
                let test = link.test.as_ref().map(|t| self.expr(t));
                self.link_cells.pop();
                let test = Box::new(test.ok_or_else(|| SqlError::internal("sublink without test"))??);
                let single = link.kind == a::SubLinkType::RowCompare;
                let any = link.kind == a::SubLinkType::Any;
                let hash = if any { hash_pairs(&test, &columns, &self.planner.types) } else { None };
                (SubPlanKind::Quantified { any, single, test, columns, hash }, boolean)
            }
            a::SubLinkType::MultiExpr => {
                let columns = (1..=types.len()).map(|c| self.multi_cell(link.id, c as i32)).collect();
                (SubPlanKind::Multi { columns }, (Oid(2249), -1))
            }
        };
        let plan = self.planner.add_subplan(block, None);
        Ok(Expr::SubPlan(Box::new(SubPlanRef { plan, kind, args: Vec::new(), type_oid, typmod })))
    }

    fn subscript(&mut self, s: &a::SubscriptExpr) -> SqlResult<Expr> {
        let mut side = |list: &[Option<a::Expr>]| {
            list.iter().map(|e| e.as_ref().map(|e| self.expr(e)).transpose()).collect::<SqlResult<Vec<_>>>()
        };
        let (upper, lower) = (side(&s.upper)?, side(&s.lower)?);
        let slice = !s.lower.is_empty();
        self.planner.note_type(s.container_type)?;
        let array = Box::new(self.expr(&s.arg)?);
        let assign = s.assign.as_ref().map(|e| self.expr(e)).transpose()?.map(Box::new);
        Ok(Expr::Subscript {
            array,
            upper,
            lower,
            slice,
            assign,
            type_oid: s.result_type,
            element: s.element_type,
            container: s.container_type,
        })
    }

    fn case(&mut self, case: &a::CaseExpr) -> SqlResult<Expr> {
        let operand = match &case.arg {
            Some(arg) => Some((self.planner.new_cell(), Box::new(self.expr(arg)?))),
            None => None,
        };
        if let Some((cell, _)) = &operand {
            self.case_cells.push(*cell);
        }
        let arms = case.whens.iter().map(|(when, then)| Ok((self.expr(when)?, self.expr(then)?))).collect();
        if operand.is_some() {
            self.case_cells.pop();
        }
        let otherwise = Some(Box::new(self.expr(&case.default)?));
        Ok(Expr::Case {
            operand,
            arms: {
                let arms: SqlResult<Vec<_>> = arms;
                arms?
            },
            otherwise,
            type_oid: case.result_type,
        })
    }

    /// `(a, b) < (c, d)` is `a < c OR a = c AND b < d`.
    fn row_compare(&mut self, compare: &a::RowCompareExpr) -> SqlResult<Expr> {
        let left = self.exprs(&compare.left)?;
        let right = self.exprs(&compare.right)?;
        let strict = match compare.kind {
            a::RowCompareKind::Less | a::RowCompareKind::LessEqual => "<",
            a::RowCompareKind::Greater | a::RowCompareKind::GreaterEqual => ">",
        };
        let mut result: Option<Expr> = None;
        for i in (0..left.len()).rev() {
            self.planner.note_collation(compare.collations.get(i).copied().unwrap_or_default())?;
            let call = |oid: Oid| -> SqlResult<Expr> {
                let operator = types::registry::operator(oid);
                let operator =
                    operator.ok_or_else(|| SqlError::internal("operator of a row comparison not found"))?;
                Ok(Expr::Call(Box::new(Call {
                    function: Function::Builtin(builtin(operator.function)?),
                    form: CallForm::Operator(OperatorRef::built_in(operator)),
                    args: vec![left[i].clone(), right[i].clone()],
                    type_oid: Oid(16),
                    typmod: -1,
                    collation: compare.collations.get(i).copied().unwrap_or_default(),
                    variadic: false,
                    number: 0,
                })))
            };
            let types = types::registry::operator(compare.ops[i]).map(|o| (o.left, o.right));
            let named = |name: &str| {
                let found = types.and_then(|(l, r)| types::registry::operator_between(name, l, r));
                found.map(|o| o.oid).ok_or_else(|| SqlError::internal("row comparison without equality"))
            };
            result = Some(match result {
                None => call(compare.ops[i])?,
                Some(rest) => {
                    Expr::Or(vec![call(named(strict)?)?, Expr::And(vec![call(named("=")?)?, rest])])
                }
            });
        }
        result.ok_or_else(|| SqlError::internal("comparison of empty rows"))
    }
}

impl Planner<'_> {
    /// Whether the statement may have one more relation.
    pub(crate) fn has_room(&self) -> bool {
        self.named < MAX_RELATIONS
    }

    /// Adds a relation to the statement.
    pub(crate) fn add_relation(&mut self, relation: Relation, source: Source) -> SqlResult<RelId> {
        let rel = self.named;
        if !self.has_room() {
            return Err(base::sql_err!(PROGRAM_LIMIT_EXCEEDED, "too many range table entries"));
        }
        self.named += 1;
        self.depths.push(self.depth);
        self.put_relation(rel, relation, source);
        Ok(rel)
    }

    /// Makes `rel` this relation; numbers below it that are not given yet stay free.
    pub(crate) fn put_relation(&mut self, rel: RelId, relation: Relation, source: Source) {
        while self.relations.len() <= rel {
            self.relations.push(Relation { alias: self.no_alias.clone(), table: None, columns: Vec::new() });
            self.sources.push(Source::Columns);
        }
        self.relations[rel] = relation;
        self.sources[rel] = source;
    }
}

impl Expr {
    /// An `int8` brought to the type of an identity column.
    fn cast_integer(self, target: Oid) -> SqlResult<Expr> {
        if self.type_oid() == target {
            return Ok(self);
        }
        let cast = types::registry::cast(self.type_oid(), target);
        let Some(types::Cast { method: types::CastMethod::Function(oid), .. }) = cast else {
            return Err(SqlError::internal("identity column of no integer type"));
        };
        Ok(Expr::Call(Box::new(Call {
            function: Function::Builtin(builtin(*oid)?),
            form: CallForm::ImplicitCast,
            args: vec![self],
            type_oid: target,
            typmod: -1,
            collation: Oid::INVALID,
            variadic: false,
            number: 0,
        })))
    }
}

/// Equalities of a quantified test that a hash table can answer: every part must be one.
fn hash_pairs(test: &Expr, columns: &[ParamId], user: &UserTypes) -> Option<Vec<HashPair>> {
    let mut parts = Vec::new();
    flatten_and(test.clone(), &mut parts);
    parts
        .iter()
        .map(|part| {
            let (call, left, right) = crate::level::as_equality(part)?;
            let Expr::ExecParam { id, .. } = crate::scan::strip(right) else { return None };
            let column = columns.iter().position(|c| c == id)?;
            let type_oid = user.comparable(left.type_oid());
            let same = left.type_oid() == right.type_oid() && types::hash(type_oid).is_some();
            same.then(|| HashPair { left: left.clone(), column, type_oid, collation: call.collation })
        })
        .collect()
}

/// The modifier that a length coercion applies: its second argument.
fn cast_typmod(f: &a::FuncExpr) -> i32 {
    match (f.form, f.args.get(1)) {
        (a::CoercionForm::ExplicitCast | a::CoercionForm::ImplicitCast, Some(a::Expr::Const(c))) => {
            match c.value {
                Datum::Int4(n) => n,
                _ => -1,
            }
        }
        _ => -1,
    }
}

fn column_of(column: &a::ColumnType) -> RelColumn {
    RelColumn { name: column.name.as_str().into(), type_oid: column.type_oid, typmod: column.typmod }
}

/// Type and modifier of a set operation's column, which is always a plain column.
fn analysed_type(expr: &a::Expr) -> (Oid, i32) {
    match expr {
        a::Expr::Var(var) => (var.type_oid, var.typmod),
        _ => (Oid::INVALID, -1),
    }
}

fn strength(strength: parse::ast::LockStrength) -> RowLockStrength {
    match strength {
        parse::ast::LockStrength::KeyShare => RowLockStrength::KeyShare,
        parse::ast::LockStrength::Share => RowLockStrength::Share,
        parse::ast::LockStrength::NoKeyUpdate => RowLockStrength::NoKeyUpdate,
        parse::ast::LockStrength::Update => RowLockStrength::Update,
    }
}

fn wait(wait: parse::ast::LockWait) -> RowLockWait {
    match wait {
        parse::ast::LockWait::Block => RowLockWait::Block,
        parse::ast::LockWait::Skip => RowLockWait::SkipLocked,
        parse::ast::LockWait::Error => RowLockWait::NoWait,
    }
}
