//! One statement being planned: its relations, subplans and cells.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use base::{Oid, SqlResult};
use catalog::ColumnStatistics;
use catalog::families::OperatorFamilies;
use catalog::view::CatalogView;
use types::record::RowType;

use crate::convert::Converter;
use crate::cost::Settings;
use crate::expr::{Expr, ParamId, RelId, Var};
use crate::inherit::{Inherited, Member};
use crate::logical::{Block, Guard, Source};
use crate::path::DerivedKey;
use crate::plan::{Command, Node, Plan, Relation, ResultColumn, Statement, SubPlan};
use crate::selectivity::Columns;
use crate::stats::Statistics;
use crate::user_types::UserTypes;

/// What planning needs from outside.
pub struct Context<'c> {
    /// Cost settings.
    pub settings: &'c Settings,
    /// Sizes and statistics.
    pub statistics: &'c dyn Statistics,
    /// Expressions stored in catalogs are read through it.
    pub catalog: &'c dyn CatalogView,
    /// Values of parameters for a custom plan; `None` for a generic one.
    pub params: Option<&'c [tuple::Datum]>,
    /// Share of the rows expected to be fetched (cursors), 0 for all.
    pub fraction: f64,
    /// New rows may go into a partition that is hidden as it is being detached: the transaction keeps its snapshot.
    pub routes_to_hidden: bool,
    /// All rows are read once the plan runs, or none: a cursor's may be read a few at a time.
    pub read_at_once: bool,
    /// Who reads the bodies of functions in SQL, which may stand in place of calls; none where calls are to stay.
    pub bodies: Option<&'c dyn crate::inline::Bodies>,
}

/// A subplan on its way.
pub(crate) enum SubState {
    /// Not planned yet.
    Pending(Box<Block>),
    /// Being planned, or taken elsewhere.
    Taken,
    /// Ready.
    Planned(Box<Plan>),
}

/// One subplan and how it is called.
pub(crate) struct Sub {
    pub state: SubState,
    /// Name of a common table expression.
    pub cte: Option<String>,
    /// Shown by EXPLAIN as InitPlan: depends on nothing of the row.
    pub init: bool,
    /// How many were planned before it.
    pub rank: usize,
}

/// One statement being planned.
pub struct Planner<'c> {
    pub(crate) context: &'c Context<'c>,
    /// What operators are to operator classes.
    pub(crate) families: Arc<OperatorFamilies>,
    pub(crate) relations: Vec<Relation>,
    pub(crate) sources: Vec<Source>,
    pub(crate) subs: Vec<Sub>,
    /// How many of them were planned.
    planned: usize,
    pub(crate) cells: usize,
    pub(crate) work_tables: Vec<ParamId>,
    pub(crate) locks: Vec<(Oid, u8)>,
    /// Rows and columns' statistics of relations without a table (subqueries).
    pub(crate) derived_rows: HashMap<RelId, f64>,
    /// Lateral subqueries that give the same rows whenever they run with the same values.
    pub(crate) steady: HashSet<RelId>,
    /// Orders that subqueries in FROM give their rows in.
    pub(crate) derived_orders: HashMap<RelId, Vec<DerivedKey>>,
    /// Rows of relations that their conditions leave.
    pub(crate) rows_left: HashMap<RelId, f64>,
    /// What is known of columns together, of relations with statistics objects.
    pub(crate) extended: HashMap<RelId, Vec<crate::extended::Known>>,
    /// What rows of subqueries that have been planned differ in.
    pub(crate) derived_keys: HashMap<RelId, crate::unique::Keys>,
    /// Unions whose parts are still to become the members of these relations.
    pub(crate) unions: HashMap<RelId, crate::logical::SetTree>,
    pub(crate) modifies: bool,
    /// Whether what is being planned may have parts that several participants run.
    pub(crate) parallel: bool,
    /// Whether it has.
    pub(crate) gathers: bool,
    pub(crate) types: UserTypes,
    pub(crate) whole_rows: HashMap<RelId, Arc<RowType>>,
    /// Relations that stand for inheritance trees.
    pub(crate) inherited: HashMap<RelId, Inherited>,
    /// Of trees whose members are joined with those of others: the number of the last member, or the least that the first may have.
    pub(crate) slots: HashMap<RelId, RelId>,
    /// Partitioned partitions of relations, by number, as members.
    pub(crate) branch_members: HashMap<(RelId, usize), Member>,
    /// Relations so far, members of inheritance trees not counted.
    pub(crate) named: usize,
    /// How deep the query is whose relations are being numbered, and the depth of each relation's.
    pub(crate) depth: usize,
    pub(crate) depths: Vec<usize>,
    pub(crate) no_alias: Arc<str>,
    /// How many calls of volatile functions were numbered.
    volatile_calls: u32,
    /// What hides rows of tables whose levels have not been prepared.
    pub(crate) guards: HashMap<RelId, Vec<Guard>>,
    /// Tables whose policies with subqueries are being put in, outermost first.
    pub(crate) securing: Vec<Oid>,
    /// Bodies of functions that stand in place of calls, and policies.
    pub(crate) inlined: Vec<analyze::Query>,
    /// Functions whose bodies are being put in place of calls, outermost first.
    pub(crate) inlining: Vec<Oid>,
}

/// Plans an analysed statement.
pub fn plan(analyzed: &analyze::Analyzed, context: &Context<'_>) -> SqlResult<Statement> {
    let parallel = context.read_at_once && context.settings.max_parallel_workers_per_gather > 0;
    let (statement, gathers) = plan_once(analyzed, context, parallel)?;
    if gathers && crate::parallel::is_unsafe(&statement) {
        return Ok(plan_once(analyzed, context, false)?.0);
    }
    Ok(statement)
}

/// The plan, and whether it has parts that several participants run; none unless it may.
fn plan_once(
    analyzed: &analyze::Analyzed,
    context: &Context<'_>,
    parallel: bool,
) -> SqlResult<(Statement, bool)> {
    let mut planner = Planner::new(context)?;
    let query = &analyzed.query;
    let mut block = Converter::new(&mut planner).query(query)?;
    if let Some(values) = context.params {
        planner.bind_params(&mut block, values);
    }
    let types: Vec<Oid> = match &block.modify {
        Some(modify) => modify.returning.iter().map(Expr::type_oid).collect(),
        None => block.targets.iter().filter(|t| !t.junk).map(|t| t.expr.type_oid()).collect(),
    };
    let result = query
        .result_columns()
        .zip(types)
        .map(|(t, type_oid)| ResultColumn {
            name: t.name.as_deref().unwrap_or("?column?").into(),
            type_oid,
            // As it was written: folding a call to a constant loses what the call made of it.
            typmod: analyze::facts::expr_typmod(&t.expr),
            origin: (t.source_table, t.source_column),
        })
        .collect::<Vec<_>>();
    // What rules have put nothing in place of tells that it did nothing.
    let replaced = analyzed.rules.as_ref().filter(|rules| rules.replaced);
    let command = match replaced.map_or(query.command, |rules| rules.command) {
        analyze::Command::Insert => Command::Insert,
        analyze::Command::Update => Command::Update,
        analyze::Command::Delete => Command::Delete,
        analyze::Command::Merge => Command::Merge,
        _ => Command::Select,
    };
    planner.modifies |= command != Command::Select;
    planner.parallel = parallel && !planner.modifies;
    let ctes = block.ctes.clone();
    let plan = planner.plan_block(block, context.fraction)?;
    let plan = planner.forced_gather(plan);
    let gathers = planner.gathers;
    Ok((planner.finish(command, (plan, ctes), result, analyzed.params.clone())?, gathers))
}

/// Puts values in place of parameters.
pub(crate) fn put_params(expr: &mut Expr, values: &[tuple::Datum]) {
    expr.replace(&mut |e| match e {
        Expr::Param { number, type_oid } => values.get(*number).map(|value| Expr::Const {
            value: value.clone(),
            type_oid: *type_oid,
            typmod: -1,
        }),
        _ => None,
    });
}

/// Plans an expression that stands alone (a default, a check): subqueries in it are not allowed.
pub fn convert_expression(expr: &analyze::Expr, context: &Context<'_>) -> SqlResult<Expr> {
    // What its user must be allowed to do is asked of the expression as it stands.
    let context = &Context { bodies: None, ..*context };
    let mut planner = Planner::new(context)?;
    let mut converter = Converter::new(&mut planner);
    converter.open_scope(Vec::new());
    let mut expr = converter.expr(expr)?;
    crate::fold::fold(&mut expr);
    Ok(expr)
}

impl<'c> Planner<'c> {
    pub(crate) fn new(context: &'c Context<'c>) -> SqlResult<Planner<'c>> {
        let families = context.catalog.operator_families()?;
        Ok(Planner {
            families,
            context,
            relations: Vec::new(),
            sources: Vec::new(),
            subs: Vec::new(),
            planned: 0,
            cells: 0,
            work_tables: Vec::new(),
            locks: Vec::new(),
            derived_rows: HashMap::new(),
            steady: HashSet::new(),
            derived_orders: HashMap::new(),
            rows_left: HashMap::new(),
            extended: HashMap::new(),
            derived_keys: HashMap::new(),
            unions: HashMap::new(),
            modifies: false,
            parallel: false,
            gathers: false,
            types: UserTypes::default(),
            whole_rows: HashMap::new(),
            inherited: HashMap::new(),
            slots: HashMap::new(),
            branch_members: HashMap::new(),
            named: 0,
            depth: 0,
            depths: Vec::new(),
            no_alias: "".into(),
            volatile_calls: 0,
            guards: HashMap::new(),
            securing: Vec::new(),
            inlined: Vec::new(),
            inlining: Vec::new(),
        })
    }

    pub(crate) fn settings(&self) -> &'c Settings {
        self.context.settings
    }

    pub(crate) fn new_cell(&mut self) -> ParamId {
        self.cells += 1;
        self.cells - 1
    }

    /// [`crate::Call::number`] for a call of `function`.
    pub(crate) fn call_number(&mut self, function: &crate::Function) -> u32 {
        let volatile = function.volatility() == types::Volatility::Volatile;
        self.volatile_calls += u32::from(volatile);
        if volatile { self.volatile_calls } else { 0 }
    }

    pub(crate) fn lock(&mut self, table: Oid, mode: u8) {
        match self.locks.iter_mut().find(|(oid, _)| *oid == table) {
            Some((_, old)) => *old = mode.max(*old),
            None => self.locks.push((table, mode)),
        }
    }

    pub(crate) fn add_subplan(&mut self, block: Block, cte: Option<String>) -> usize {
        self.modifies |= block.modify.is_some() || !block.marks.is_empty();
        self.subs.push(Sub { state: SubState::Pending(Box::new(block)), cte, init: false, rank: 0 });
        self.subs.len() - 1
    }

    /// Notes the plan of a subplan.
    pub(crate) fn note_planned(&mut self, subplan: usize, plan: Plan) {
        self.planned += 1;
        self.subs[subplan].state = SubState::Planned(Box::new(plan));
        self.subs[subplan].rank = self.planned;
    }

    /// Plans a query that may run often, or be read in part: several participants run no part of it.
    pub(crate) fn plan_subplan(&mut self, block: Block, fraction: f64) -> SqlResult<Plan> {
        let parallel = std::mem::replace(&mut self.parallel, false);
        let plan = self.plan_block(block, fraction);
        self.parallel = parallel;
        plan
    }

    pub(crate) fn take_pending(&mut self, subplan: usize) -> Option<Block> {
        match std::mem::replace(&mut self.subs[subplan].state, SubState::Taken) {
            SubState::Pending(block) => Some(*block),
            other => {
                self.subs[subplan].state = other;
                None
            }
        }
    }

    fn bind_params(&mut self, block: &mut Block, values: &[tuple::Datum]) {
        self.deep_exprs(block, &mut |expr| put_params(expr, values));
    }

    fn finish(
        mut self,
        command: Command,
        (plan, ctes): (Plan, Vec<usize>),
        result: Vec<ResultColumn>,
        params: Vec<Oid>,
    ) -> SqlResult<Statement> {
        let numbers = self.subplan_numbers();
        let mut subplans = Vec::new();
        for (entry, number) in std::mem::take(&mut self.subs).into_iter().zip(numbers) {
            let name = match (&entry.cte, entry.init) {
                (Some(name), _) => format!("CTE {name}"),
                (None, true) => format!("InitPlan {number}"),
                (None, false) => format!("SubPlan {number}"),
            };
            let plan = match entry.state {
                SubState::Planned(plan) => *plan,
                _ => Plan::empty(),
            };
            subplans.push(SubPlan { plan, name, cte: entry.cte.is_some() });
        }
        let modifies = self.modifies || has_marks(&plan);
        self.name_relations(std::iter::once(&plan).chain(subplans.iter().map(|s: &SubPlan| &s.plan)));
        let statement = Statement {
            command,
            plan,
            subplans,
            ctes,
            relations: self.relations,
            result,
            params,
            exec_params: self.cells,
            work_tables: self.work_tables,
            locks: self.locks,
            modifies,
            types: self.types,
            whole_rows: self.whole_rows,
            inlined: self.inlined,
            batches: self.context.settings.batch_execution,
        };
        crate::check::check(&statement)?;
        Ok(statement)
    }

    /// What EXPLAIN counts each subplan as that has no name: inner ones, which were planned first, before outer ones.
    fn subplan_numbers(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.subs.len()).filter(|i| self.subs[*i].cte.is_none()).collect();
        order.sort_by_key(|i| self.subs[*i].rank);
        let mut numbers = vec![0; self.subs.len()];
        order.into_iter().enumerate().for_each(|(rank, subplan)| numbers[subplan] = rank + 1);
        numbers
    }

    /// Runs `f` on every expression of a block and of everything below it: subqueries in FROM, pending subplans.
    pub(crate) fn deep_exprs(&mut self, block: &mut Block, f: &mut dyn FnMut(&mut Expr)) {
        let mut pending: Vec<usize> = block.ctes.clone();
        block.for_exprs_mut(&mut |expr| {
            f(expr);
            collect_subplans(expr, &mut pending);
        });
        for rel in crate::logical::rels_of(&block.from).iter().collect::<Vec<_>>() {
            let mut source = std::mem::replace(&mut self.sources[rel], Source::Columns);
            match &mut source {
                Source::Subquery(inner) => self.deep_exprs(inner, f),
                other => other.exprs_mut().into_iter().for_each(|e| {
                    f(e);
                    collect_subplans(e, &mut pending);
                }),
            }
            self.sources[rel] = source;
        }
        if let Some((_, tree)) = &mut block.set {
            self.deep_tree(tree, f);
        }
        for subplan in pending {
            if let Some(mut inner) = self.take_pending(subplan) {
                self.deep_exprs(&mut inner, f);
                self.subs[subplan].state = SubState::Pending(Box::new(inner));
            }
        }
    }

    fn deep_tree(&mut self, tree: &mut crate::logical::SetTree, f: &mut dyn FnMut(&mut Expr)) {
        use crate::logical::SetTree;
        match tree {
            SetTree::Leaf(block) => self.deep_exprs(block, f),
            SetTree::Op { left, right, .. } => {
                self.deep_tree(left, f);
                self.deep_tree(right, f);
            }
            SetTree::Converted { input, exprs, .. } => {
                exprs.iter_mut().for_each(&mut *f);
                self.deep_tree(input, f);
            }
            SetTree::Recursive { initial, recursive, .. } => {
                self.deep_tree(initial, f);
                self.deep_tree(recursive, f);
            }
        }
    }
}

impl Planner<'_> {
    /// Whether a plan gives the same rows whenever it runs with the same values, as far as can be seen from it alone.
    pub(crate) fn is_steady(&self, plan: &Plan) -> bool {
        if matches!(
            plan.node,
            Node::LockRows { .. } | Node::Modify(_) | Node::CteScan { .. } | Node::WorkTableScan { .. }
        ) {
            return false;
        }
        let mut steady = true;
        plan.for_exprs(&mut |e| steady &= !e.is_volatile() && !e.has_subplans());
        plan.for_children(&mut |child| steady &= self.is_steady(child));
        steady
    }
}

fn has_marks(plan: &Plan) -> bool {
    match &plan.node {
        Node::LockRows { .. } | Node::Modify(_) => true,
        Node::Limit { child, .. } | Node::Sort { child, .. } | Node::IncrementalSort { child, .. } => {
            has_marks(child)
        }
        _ => false,
    }
}

/// Numbers of the subplans that an expression uses.
pub(crate) fn collect_subplans(expr: &Expr, out: &mut Vec<usize>) {
    if let Expr::SubPlan(sub) = expr {
        out.push(sub.plan);
    }
    expr.for_children(&mut |child| collect_subplans(child, out));
}

impl Columns for Planner<'_> {
    fn has_extended(&self) -> bool {
        !self.extended.is_empty()
    }

    fn extended(&self, rel: RelId) -> &[crate::extended::Known] {
        self.extended.get(&rel).map_or(&[], Vec::as_slice)
    }

    fn rows_left(&self, rel: RelId) -> Option<f64> {
        self.rows_left.get(&rel).copied()
    }

    fn expression_stats(&self, expr: &Expr) -> Option<Arc<ColumnStatistics>> {
        if self.extended.is_empty() { None } else { crate::extended::expression_stats(self, expr) }
    }

    fn rules(&self, collation: Oid) -> Option<&'static collation::Rules> {
        self.types.rules(collation).ok()
    }

    fn rows(&self, var: &Var) -> f64 {
        if let Some(inherited) = self.inherited.get(&var.rel) {
            return inherited.tuples;
        }
        match &self.relations[var.rel].table {
            Some(table) => self.tuples_of(var.rel, table),
            None => self.derived_rows.get(&var.rel).copied().unwrap_or(1000.0),
        }
    }

    fn stats(&self, var: &Var) -> Option<Arc<ColumnStatistics>> {
        let table = self.relations[var.rel].table.as_ref()?;
        if var.column <= 0 {
            return None;
        }
        self.context.statistics.column(table.oid, var.column)
    }

    fn is_unique(&self, var: &Var) -> bool {
        let Some(table) = &self.relations[var.rel].table else { return false };
        table.indexes.iter().any(|i| i.unique && i.predicate.is_none() && i.keys == [var.column])
    }
}
