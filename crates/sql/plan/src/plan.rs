//! What the executor runs: an immutable tree of nodes.
//!
//! Expressions keep naming relations and columns; a node's `output` says which expressions its rows carry, and the node
//! above finds its inputs by looking for equal expressions there. So EXPLAIN needs no second bookkeeping.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::Arc;

pub use analyze::MergeMatch;
use base::Oid;
use catalog::view::{Index, Table};
use types::Function as BuiltinFunction;

use crate::expr::{AggCall, Expr, ParamId, RelId, SortKey, WindowCall};
use crate::partition::PartitionMap;
use crate::prune::Pruning;
use crate::published::Hindrances;

/// An index of a table.
#[derive(Clone, Debug)]
pub struct IndexRef {
    /// The table.
    pub table: Arc<Table>,
    /// Position in its list of indexes.
    pub position: usize,
}

impl Deref for IndexRef {
    type Target = Index;
    fn deref(&self) -> &Index {
        &self.table.indexes[self.position]
    }
}

/// Estimates of a node, in PostgreSQL's units.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Before the first row.
    pub startup: f64,
    /// For all rows.
    pub total: f64,
    /// Rows out.
    pub rows: f64,
    /// Bytes a row.
    pub width: f64,
}

/// A relation of a statement.
#[derive(Clone, Debug)]
pub struct Relation {
    /// Alias, unique when EXPLAIN shows it.
    pub alias: Arc<str>,
    /// The table, for a base relation.
    pub table: Option<Arc<Table>>,
    /// Names and types of the columns, from column 1.
    pub columns: Vec<RelColumn>,
}

/// A column of a [`Relation`].
#[derive(Clone, Debug, PartialEq)]
pub struct RelColumn {
    /// Name.
    pub name: Arc<str>,
    /// Type.
    pub type_oid: Oid,
    /// Type modifier.
    pub typmod: i32,
}

/// A column of the statement's result.
#[derive(Clone, Debug, PartialEq)]
pub struct ResultColumn {
    /// Name.
    pub name: Arc<str>,
    /// Type.
    pub type_oid: Oid,
    /// Type modifier.
    pub typmod: i32,
    /// Table and column number it comes from, or zeros.
    pub origin: (Oid, i16),
}

/// What kind of statement a plan carries out; decides the command tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Command {
    Select,
    Insert,
    Update,
    Delete,
    Merge,
}

/// A planned statement.
#[derive(Debug)]
pub struct Statement {
    /// What it does.
    pub command: Command,
    /// The tree.
    pub plan: Plan,
    /// Subplans, named by [`crate::SubPlanRef::plan`].
    pub subplans: Vec<SubPlan>,
    /// Those that are common table expressions of the statement itself, not of a query in it.
    pub ctes: Vec<usize>,
    /// All relations of all levels.
    pub relations: Vec<Relation>,
    /// Columns of the result; empty for a statement that returns no rows.
    pub result: Vec<ResultColumn>,
    /// Types of the parameters.
    pub params: Vec<Oid>,
    /// Number of executor parameters.
    pub exec_params: usize,
    /// Work tables of recursive queries: each has a cell that changes with its rows, for what is kept between rescans.
    pub work_tables: Vec<ParamId>,
    /// Tables to lock before running, and how strongly (PostgreSQL's lock mode numbers).
    pub locks: Vec<(Oid, u8)>,
    /// Writes anything (DML, also in CTEs, or row locks).
    pub modifies: bool,
    /// Its types that are not built in.
    pub types: crate::UserTypes,
    /// Relations that are referred to as a whole row, with their row types.
    pub whole_rows: HashMap<RelId, Arc<types::record::RowType>>,
    /// Bodies of functions that stand in place of calls: its user needs what they need.
    pub inlined: Vec<analyze::Query>,
    /// Whether scans of many rows give them many at once.
    pub batches: bool,
}

/// A planned subquery or CTE.
#[derive(Debug)]
pub struct SubPlan {
    /// The tree.
    pub plan: Plan,
    /// Name for EXPLAIN: `SubPlan 1`, `InitPlan 1`, `CTE x`.
    pub name: String,
    /// Common table expression.
    pub cte: bool,
}

/// A node and what all nodes have.
#[derive(Debug)]
pub struct Plan {
    /// Estimates.
    pub cost: Cost,
    /// What the node's rows carry.
    pub output: Vec<Expr>,
    /// Conditions that rows must pass, all of them.
    pub filter: Vec<Expr>,
    /// What it does.
    pub node: Node,
}

impl Statement {
    /// A statement that gives one row with the value of an expression without columns.
    pub fn of_expression(expr: Expr) -> Statement {
        let column = ResultColumn {
            name: "?column?".into(),
            type_oid: expr.type_oid(),
            typmod: expr.typmod(),
            origin: (Oid::INVALID, 0),
        };
        Statement {
            command: Command::Select,
            exec_params: expr.cells(),
            plan: Plan { output: vec![expr], ..Plan::empty() },
            subplans: Vec::new(),
            ctes: Vec::new(),
            relations: Vec::new(),
            result: vec![column],
            params: Vec::new(),
            work_tables: Vec::new(),
            locks: Vec::new(),
            modifies: false,
            types: crate::UserTypes::default(),
            whole_rows: HashMap::new(),
            inlined: Vec::new(),
            batches: true,
        }
    }
}

impl Plan {
    /// One row without columns.
    pub fn empty() -> Plan {
        Plan {
            cost: Cost::default(),
            output: Vec::new(),
            filter: Vec::new(),
            node: Node::Result { one_time: Vec::new(), child: None },
        }
    }
}

impl Node {
    /// Whether it keeps its rows, so that reading them again costs little.
    pub(crate) fn keeps_rows(&self) -> bool {
        use Node::{CteScan, FunctionScan, Materialize, Sort, TransitionScan, WorkTableScan};
        matches!(
            self,
            Materialize { .. }
                | Sort { .. }
                | FunctionScan { .. }
                | CteScan { .. }
                | WorkTableScan { .. }
                | TransitionScan { .. }
        )
    }
}

impl Plan {
    /// Calls `f` on each child.
    pub fn for_children<'p>(&'p self, f: &mut dyn FnMut(&'p Plan)) {
        match &self.node {
            Node::Result { child, .. } => child.iter().for_each(|c| f(c)),
            Node::ProjectSet { child }
            | Node::SubqueryScan { child, .. }
            | Node::Materialize { child }
            | Node::Memoize { child, .. }
            | Node::Gather { child, .. }
            | Node::Sort { child, .. }
            | Node::IncrementalSort { child, .. }
            | Node::Unique { child, .. }
            | Node::Aggregate { child, .. }
            | Node::WindowAgg { child, .. }
            | Node::Limit { child, .. }
            | Node::LockRows { child, .. } => f(child),
            Node::NestLoop { outer, inner, .. }
            | Node::HashJoin { outer, inner, .. }
            | Node::MergeJoin { outer, inner, .. } => {
                f(outer);
                f(inner);
            }
            Node::RecursiveUnion { initial, recursive, .. } => {
                f(initial);
                f(recursive);
            }
            Node::SetOp { left, right, .. } => {
                f(left);
                f(right);
            }
            Node::Append { children, .. } | Node::MergeAppend { children, .. } => {
                children.iter().for_each(f);
            }
            Node::Modify(modify) => f(&modify.source),
            Node::SeqScan { .. }
            | Node::SampleScan { .. }
            | Node::ForeignScan { .. }
            | Node::IndexScan { .. }
            | Node::IndexOnlyScan { .. }
            | Node::BitmapHeapScan { .. }
            | Node::TidScan { .. }
            | Node::TidRangeScan { .. }
            | Node::ValuesScan { .. }
            | Node::FunctionScan { .. }
            | Node::CteScan { .. }
            | Node::WorkTableScan { .. }
            | Node::TransitionScan { .. } => {}
        }
    }

    /// Calls `f` on each expression of the node itself.
    pub fn for_exprs<'p>(&'p self, f: &mut dyn FnMut(&'p Expr)) {
        self.output.iter().chain(&self.filter).for_each(&mut *f);
        match &self.node {
            Node::Result { one_time, .. } => one_time.iter().for_each(f),
            Node::IndexScan { conditions, distances, .. }
            | Node::IndexOnlyScan { conditions, distances, .. } => {
                conditions.iter().for_each(|c| f(&c.value));
                distances.iter().for_each(|d| f(&d.value));
            }
            Node::BitmapHeapScan { bitmap, recheck, .. } => {
                bitmap.for_exprs(f);
                recheck.iter().for_each(f);
            }
            Node::TidScan { tids, .. } => tids.iter().for_each(f),
            Node::TidRangeScan { bounds, condition, .. } => {
                bounds.iter().for_each(|bound| f(&bound.value));
                condition.iter().for_each(f);
            }
            Node::Memoize { keys, .. } => keys.iter().for_each(f),
            Node::SampleScan { sample, .. } => {
                std::iter::once(&sample.percent).chain(&sample.repeatable).for_each(f);
            }
            Node::ValuesScan { rows, .. } => rows.iter().flatten().for_each(f),
            Node::FunctionScan { functions, .. } => functions.iter().for_each(f),
            Node::NestLoop { clauses, params, .. } => {
                clauses.iter().for_each(&mut *f);
                params.iter().for_each(|(_, e)| f(e));
            }
            Node::HashJoin { hash: keys, clauses, .. } | Node::MergeJoin { merge: keys, clauses, .. } => {
                clauses.iter().for_each(&mut *f);
                keys.iter().for_each(|k| {
                    f(&k.outer);
                    f(&k.inner);
                });
            }
            Node::Sort { keys, .. } | Node::IncrementalSort { keys, .. } => {
                keys.iter().for_each(|k| f(&k.expr));
            }
            Node::MergeAppend { keys, tree, .. } => {
                keys.iter().for_each(|k| f(&k.expr));
                tree.iter().flat_map(|tree| &tree.pruning).for_each(|p| p.for_exprs(f));
            }
            Node::Append { tree: Some(tree), .. } => tree.pruning.iter().for_each(|p| p.for_exprs(f)),
            Node::Unique { columns, .. } => columns.iter().for_each(f),
            Node::Aggregate { keys, calls, .. } => {
                keys.iter().for_each(&mut *f);
                for call in calls {
                    call.args.iter().chain(&call.direct).chain(&call.filter).for_each(&mut *f);
                    call.order.iter().for_each(|k| f(&k.expr));
                }
            }
            Node::WindowAgg { partition, order, frame, calls, run, .. } => {
                run.iter().for_each(&mut *f);
                partition.iter().for_each(&mut *f);
                order.iter().for_each(|k| f(&k.expr));
                frame.offsets().for_each(&mut *f);
                calls.iter().for_each(|c| c.args.iter().chain(&c.filter).for_each(&mut *f));
            }
            Node::Limit { count, offset, .. } => count.iter().chain(offset).for_each(f),
            Node::Modify(modify) => {
                for target in &modify.targets {
                    target.checks.iter().for_each(|(_, e)| f(e));
                    target.generated.iter().chain(&target.required).for_each(|(_, e)| f(e));
                }
                modify.routing.iter().for_each(|r| r.for_exprs(f));
                modify.partition.iter().flat_map(|p| &p.keys).for_each(&mut *f);
                modify.row_checks.iter().flat_map(|c| &c.quals).for_each(&mut *f);
                for action in modify.merge.iter().flat_map(|m| &m.actions) {
                    action.condition.iter().chain(&action.multi).for_each(&mut *f);
                    action.set.iter().for_each(|(_, e)| f(e));
                }
                if let Some(conflict) = &modify.on_conflict {
                    conflict.multi.iter().for_each(&mut *f);
                    conflict.set.iter().flatten().for_each(|(_, e)| f(e));
                    conflict.filter.iter().for_each(f);
                }
            }
            _ => {}
        }
    }
}

impl Bitmap {
    /// Rows that it names, about.
    pub fn rows(&self) -> f64 {
        match self {
            Bitmap::Index { cost, .. } | Bitmap::And(_, cost) => cost.rows,
            Bitmap::Or(list, _) => list.iter().map(Bitmap::rows).sum(),
        }
    }

    fn for_exprs<'p>(&'p self, f: &mut dyn FnMut(&'p Expr)) {
        match self {
            Bitmap::Index { conditions, .. } => conditions.iter().for_each(|c| f(&c.value)),
            Bitmap::And(list, _) | Bitmap::Or(list, _) => list.iter().for_each(|b| b.for_exprs(f)),
        }
    }
}

/// Kinds of joins. Outer side is the left one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum JoinKind {
    Inner,
    Left,
    Right,
    Full,
    Semi,
    Anti,
    RightSemi,
    RightAnti,
}

/// One condition of an index scan: `index column op value`.
#[derive(Clone, Debug)]
pub struct IndexCondition {
    /// Column of the index, from 0.
    pub column: usize,
    /// What bound it gives.
    pub bound: IndexBound,
    /// Value, computed when the scan starts.
    pub value: Expr,
    /// The condition as it was, for EXPLAIN and rechecks.
    pub original: Expr,
}

/// What an index scan gives its rows in the order of, nearest first: `index column op value`.
#[derive(Clone, Debug)]
pub struct IndexDistance {
    /// Column of the index, from 0.
    pub column: usize,
    /// Strategy number of the operator in the class's family.
    pub strategy: u16,
    /// Type of the value, as the family has it.
    pub operand: Oid,
    /// Value, computed when the scan starts.
    pub value: Expr,
    /// The distance as it was, for EXPLAIN and for rows whose own the index does not know.
    pub original: Expr,
}

/// A bound of a scan by place.
#[derive(Clone, Debug)]
pub struct TidBound {
    /// No row below it counts; otherwise none above it.
    pub lower: bool,
    /// The place.
    pub value: Expr,
}

/// A range of an index's keys in which all rows are that a filter lets through. A serializable transaction that reads the whole table for them
/// depends on no others.
#[derive(Clone, Debug)]
pub struct SoughtKeys {
    /// The index: of columns, not of expressions.
    pub index: IndexRef,
    /// Whose values cost nothing and cannot fail.
    pub conditions: Vec<IndexCondition>,
}

/// What a condition says about a column of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum IndexBound {
    Less,
    LessEqual,
    Equal,
    GreaterEqual,
    Greater,
    /// `= ANY (array)`
    Any,
    IsNull,
    IsNotNull,
    /// Of a method whose operator classes say what an operator means.
    Operator {
        /// Strategy number in the class's family.
        strategy: u16,
        /// Type of the value, as the family has it.
        operand: Oid,
    },
}

/// A part of a bitmap scan.
#[derive(Clone, Debug)]
pub enum Bitmap {
    /// Rows that an index finds.
    Index {
        /// The index.
        index: IndexRef,
        /// Conditions.
        conditions: Vec<IndexCondition>,
        /// Estimates.
        cost: Cost,
    },
    /// Intersection.
    And(Vec<Bitmap>, Cost),
    /// Union.
    Or(Vec<Bitmap>, Cost),
}

/// How an aggregation groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AggStrategy {
    /// One group.
    Plain,
    /// Input sorted by the grouping expressions.
    Sorted,
    /// A hash table of groups.
    Hashed,
    /// Grouping sets, some by hash tables and some by sorted input.
    Mixed,
}

/// How much of an aggregation a node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// All of it.
    Whole,
    /// Each participant's rows only: directly below a [`Node::Gather`].
    Partial,
    /// What the participants have, merged: directly above a [`Node::Gather`] of a partial one.
    Final,
}

/// Grouping sets that are computed together.
#[derive(Clone, Debug, PartialEq)]
pub struct Rollup {
    /// By a hash table: of one set. Otherwise rows come sorted by the keys of the first set, from below for the first rollup that is sorted, and
    /// sorted anew for each further one.
    pub hashed: bool,
    /// Positions of the sets' keys. The keys of each begin those of the one before.
    pub sets: Vec<Vec<usize>>,
}

/// An equality that a hash or merge join uses.
#[derive(Clone, Debug)]
pub struct JoinClause {
    /// Over the outer side.
    pub outer: Expr,
    /// Over the inner side.
    pub inner: Expr,
    /// Equality function.
    pub equality: crate::function::Function,
    /// The condition as it was.
    pub original: Expr,
    /// Collation that applies.
    pub collation: Oid,
}

/// Set operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum SetOpKind {
    Intersect,
    IntersectAll,
    Except,
    ExceptAll,
}

/// Frame of a window.
#[derive(Clone, Debug)]
pub struct WindowFrame {
    /// ROWS, RANGE or GROUPS.
    pub mode: FrameMode,
    /// Where it begins.
    pub start: FrameBound,
    /// Where it ends.
    pub end: FrameBound,
    /// What is left out.
    pub exclude: FrameExclude,
    /// How RANGE with an offset compares.
    pub range: Option<FrameRange>,
}

/// What RANGE with an offset compares the key by; a side without an offset has no function.
#[derive(Clone, Debug)]
pub struct FrameRange {
    /// `in_range` function of the start.
    pub start: Option<&'static BuiltinFunction>,
    /// `in_range` function of the end.
    pub end: Option<&'static BuiltinFunction>,
    /// Collation of the key.
    pub collation: Oid,
}

/// Unit of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum FrameMode {
    Rows,
    Range,
    Groups,
}

impl WindowFrame {
    /// How far its ends are from the current row, where that is an expression.
    pub fn offsets(&self) -> impl Iterator<Item = &Expr> {
        [&self.start, &self.end].into_iter().filter_map(|bound| match bound {
            FrameBound::Preceding(offset) | FrameBound::Following(offset) => Some(offset),
            _ => None,
        })
    }

    /// [`WindowFrame::offsets`], to be changed.
    pub fn offsets_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        [&mut self.start, &mut self.end].into_iter().filter_map(|bound| match bound {
            FrameBound::Preceding(offset) | FrameBound::Following(offset) => Some(offset),
            _ => None,
        })
    }
}

/// End of a frame.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum FrameBound {
    UnboundedPreceding,
    Preceding(Expr),
    CurrentRow,
    Following(Expr),
    UnboundedFollowing,
}

/// EXCLUDE of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum FrameExclude {
    Nothing,
    CurrentRow,
    Group,
    Ties,
}

/// Strength of a row lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum RowLockStrength {
    KeyShare,
    Share,
    NoKeyUpdate,
    Update,
}

/// What to do when a row is locked by another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum RowLockWait {
    Block,
    SkipLocked,
    NoWait,
}

/// FOR UPDATE and the like on one relation.
#[derive(Clone, Debug)]
pub struct RowMark {
    /// The relation.
    pub rel: RelId,
    /// How strongly.
    pub strength: RowLockStrength,
    /// When it cannot be had at once.
    pub wait: RowLockWait,
    /// The relation stands for an inheritance tree: rows carry their `tableoid`.
    pub tree: bool,
}

/// ON CONFLICT.
#[derive(Debug)]
pub struct OnConflict {
    /// Unique indexes that arbitrate; empty means all (DO NOTHING without target).
    pub arbiters: Vec<Oid>,
    /// Which they are, values of parameters decide: the plan cannot run.
    pub unsettled: bool,
    /// DO UPDATE: column number and value; none is DO NOTHING.
    pub set: Option<Vec<(i16, Expr)>>,
    /// Subqueries of several columns, which set cells for `set`.
    pub multi: Vec<Expr>,
    /// WHERE of DO UPDATE.
    pub filter: Vec<Expr>,
    /// Relation id of `excluded`.
    pub excluded: RelId,
}

/// INSERT, UPDATE, DELETE at the top of a plan.
#[derive(Debug)]
pub struct Modify {
    /// Which.
    pub command: Command,
    /// The target.
    pub rel: RelId,
    /// Its descriptor.
    pub table: Arc<Table>,
    /// Where the rows come from. INSERT: one output a column of the table, in column order. UPDATE: the new values in
    /// the order of `columns`, then the old row's `ctid`. DELETE, MERGE: the `ctid`. Behind the `ctid` stands the `tableoid` where the
    /// target stands for an inheritance tree.
    pub source: Plan,
    /// UPDATE: columns assigned, from 1.
    pub columns: Vec<i16>,
    /// RETURNING, over the target and other relations of the source.
    pub returning: Vec<Expr>,
    /// Names of the columns of RETURNING.
    pub returning_names: Vec<Arc<str>>,
    /// The tables that rows are written to: the target itself, or members of its inheritance tree.
    pub targets: Vec<TargetTable>,
    /// How many of these rows are found in; the others are only routed to.
    pub found_in: usize,
    /// How new rows are routed to partitions, if the target may be partitioned.
    pub routing: Option<Routing>,
    /// What new rows must satisfy if the target is a partition.
    pub partition: Vec<PartitionCheck>,
    /// ON CONFLICT.
    pub on_conflict: Option<OnConflict>,
    /// What rows must satisfy: policies of the target, then WITH CHECK OPTION of the views that the change goes through, innermost first.
    pub row_checks: Vec<RowCheck>,
    /// Relations that stand for the target's row before and after the change in RETURNING, where it names them.
    pub versions: [Option<RelId>; 2],
    /// The arms of MERGE.
    pub merge: Option<Merge>,
}

/// What MERGE does with a row of its source joined with the target.
#[derive(Debug)]
pub struct Merge {
    /// The arms in the order written.
    pub actions: Vec<MergeAction>,
    /// Position in the source's rows that says whether there is a row of MERGE's own source; none if there always is.
    pub source_there: Option<usize>,
    /// Cell of `merge_action()`.
    pub action_cell: Option<ParamId>,
}

/// An action of MERGE. Its expressions are over the target's current row and the relations of the source.
#[derive(Debug)]
pub struct MergeAction {
    /// Rows that it is for.
    pub matched: MergeMatch,
    /// INSERT, UPDATE or DELETE; none for DO NOTHING.
    pub command: Option<Command>,
    /// AND condition, as a conjunction.
    pub condition: Vec<Expr>,
    /// Subqueries of several columns, which set cells for `set`.
    pub multi: Vec<Expr>,
    /// Columns and their values.
    pub set: Vec<(i16, Expr)>,
}

/// TABLESAMPLE: which part of a table is read.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Whole pages are drawn, not single rows.
    pub system: bool,
    /// How many in a hundred (`float4`).
    pub percent: Expr,
    /// REPEATABLE: what the draw begins with (`float8`).
    pub repeatable: Option<Expr>,
}

/// Which rows are checked, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckKind {
    /// WITH CHECK OPTION of a view: a new row that has been stored.
    View,
    /// Row security: a row before it is inserted.
    Insert,
    /// Row security: the new row of an UPDATE before it is stored.
    Update,
    /// Row security: the present row that ON CONFLICT DO UPDATE is to change.
    Conflict,
    /// Row security: the present row that MERGE is to update.
    MergeUpdate,
    /// Row security: the present row that MERGE is to delete.
    MergeDelete,
}

/// What a row must satisfy.
#[derive(Debug)]
pub struct RowCheck {
    /// When it is asked.
    pub kind: CheckKind,
    /// Name of the view, or of the policy if there is only one that could allow the row.
    pub name: Option<Arc<str>>,
    /// The condition over the target, as a conjunction.
    pub quals: Vec<Expr>,
}

/// How rows of a partitioned table find their partitions.
#[derive(Debug)]
pub struct Routing {
    /// The partitions.
    pub map: Arc<PartitionMap>,
    /// The table.
    pub table: Arc<Table>,
    /// Its key over the statement's target.
    pub keys: Vec<Expr>,
    /// The hashes that stand for values of the key, where users' functions make them.
    pub hashes: Vec<Option<Expr>>,
    /// What each partition is.
    pub parts: Vec<Option<Route>>,
}

/// Where a row goes next.
#[derive(Debug)]
pub enum Route {
    /// Into a target of the statement, by position.
    Target(usize),
    /// On among the partitions of a partition.
    Table(Box<Routing>),
    /// Into a foreign table, which takes none.
    Foreign(Arc<Table>),
}

impl Routing {
    fn for_exprs<'p>(&'p self, f: &mut dyn FnMut(&'p Expr)) {
        self.keys.iter().chain(self.hashes.iter().flatten()).for_each(&mut *f);
        for part in self.parts.iter().flatten() {
            if let Route::Table(nested) = part {
                nested.for_exprs(f);
            }
        }
    }
}

/// What a row must satisfy to be in a partition: its parent would put it there.
#[derive(Debug)]
pub struct PartitionCheck {
    /// The parent's partitions.
    pub map: Arc<PartitionMap>,
    /// The parent's key over the partition.
    pub keys: Vec<Expr>,
    /// As in [`Routing`].
    pub hashes: Vec<Option<Expr>>,
    /// The partition.
    pub part: usize,
}

/// A table that rows are written to. All its expressions are over its own columns.
#[derive(Debug)]
pub struct TargetTable {
    /// The relation: the target of the statement, or a member of its inheritance tree.
    pub rel: RelId,
    /// Its descriptor.
    pub table: Arc<Table>,
    /// Its number of each column of the statement's target, 0 for dropped ones; none if all have the same numbers.
    pub columns: Option<Arc<[i16]>>,
    /// CHECK constraints: name and condition.
    pub checks: Vec<(Arc<str>, Expr)>,
    /// Generated stored columns: number and expression.
    pub generated: Vec<(i16, Expr)>,
    /// Virtual columns that must not be null: number and expression.
    pub required: Vec<(i16, Expr)>,
    /// Its indexes.
    pub indexes: Vec<IndexExprs>,
    /// Of each index the partitioned ones that it is a part of, nearest first.
    pub index_ancestors: Vec<Vec<Oid>>,
    /// What publications have against changes of its rows.
    pub hindrances: Option<Hindrances>,
}

/// Expressions of an index over its table.
#[derive(Debug)]
pub struct IndexExprs {
    /// The index.
    pub index: IndexRef,
    /// One expression a key or included column.
    pub columns: Vec<Expr>,
    /// Predicate of a partial index.
    pub predicate: Vec<Expr>,
}

/// What a node does.
#[derive(Debug)]
#[allow(missing_docs)]
pub enum Node {
    /// Rows computed from nothing, or a child behind a condition that is checked once.
    Result {
        one_time: Vec<Expr>,
        child: Option<Box<Plan>>,
    },
    /// Set-returning functions in the target list.
    ProjectSet {
        child: Box<Plan>,
    },
    /// The whole table; `parallel`: each participant of the [`Node::Gather`] above reads a part of its pages.
    SeqScan {
        rel: RelId,
        keys: Option<Box<SoughtKeys>>,
        parallel: bool,
    },
    /// A foreign table, and what EXPLAIN tells of it.
    ForeignScan {
        rel: RelId,
        details: std::sync::Arc<[crate::foreign::ForeignDetail]>,
    },
    /// Part of the table, drawn by lot.
    SampleScan {
        rel: RelId,
        sample: Box<Sample>,
    },
    /// In index order, rows from the heap.
    IndexScan {
        rel: RelId,
        index: IndexRef,
        conditions: Vec<IndexCondition>,
        distances: Vec<IndexDistance>,
        backward: bool,
    },
    /// In index order, rows from the index where the page is all-visible.
    IndexOnlyScan {
        rel: RelId,
        index: IndexRef,
        conditions: Vec<IndexCondition>,
        distances: Vec<IndexDistance>,
        backward: bool,
    },
    /// Pages in order as a bitmap says; `parallel`: as of [`Node::SeqScan`].
    BitmapHeapScan {
        rel: RelId,
        bitmap: Bitmap,
        recheck: Vec<Expr>,
        parallel: bool,
    },
    /// By place; values of type tid, or arrays of them.
    TidScan {
        rel: RelId,
        tids: Vec<Expr>,
        condition: Vec<Expr>,
    },
    /// Pages between places; `condition` holds for the rows that count.
    TidRangeScan {
        rel: RelId,
        bounds: Vec<TidBound>,
        condition: Vec<Expr>,
    },
    /// VALUES lists.
    ValuesScan {
        rel: RelId,
        rows: Vec<Vec<Expr>>,
    },
    /// A set-returning function in FROM.
    FunctionScan {
        rel: RelId,
        functions: Vec<Expr>,
        /// Columns of each.
        widths: Vec<usize>,
        ordinality: bool,
    },
    /// A subquery that could not be merged.
    SubqueryScan {
        rel: RelId,
        child: Box<Plan>,
    },
    /// Rows of a common table expression.
    CteScan {
        rel: RelId,
        subplan: usize,
    },
    /// Rows of the previous step of a recursive one.
    WorkTableScan {
        rel: RelId,
        table: usize,
    },
    /// Rows that a statement changed, in the function of one of its triggers.
    TransitionScan {
        rel: RelId,
        name: Arc<str>,
    },
    /// WITH RECURSIVE.
    RecursiveUnion {
        initial: Box<Plan>,
        recursive: Box<Plan>,
        table: usize,
        distinct: bool,
    },
    NestLoop {
        kind: JoinKind,
        outer: Box<Plan>,
        inner: Box<Plan>,
        clauses: Vec<Expr>,
        params: Vec<(ParamId, Expr)>,
        inner_unique: bool,
    },
    HashJoin {
        kind: JoinKind,
        outer: Box<Plan>,
        inner: Box<Plan>,
        hash: Vec<JoinClause>,
        clauses: Vec<Expr>,
        inner_unique: bool,
    },
    MergeJoin {
        kind: JoinKind,
        outer: Box<Plan>,
        inner: Box<Plan>,
        merge: Vec<JoinClause>,
        clauses: Vec<Expr>,
        inner_unique: bool,
    },
    /// Rows of a plan that several participants run beside each other: the session, and as many workers if there are so many. They come in any
    /// order, or with `merge` in that of the child, which is a [`Node::Sort`]. With `single_copy` one worker alone runs it all.
    Gather {
        child: Box<Plan>,
        workers: u32,
        merge: bool,
        single_copy: bool,
    },
    /// Keeps rows so that they can be read again.
    Materialize {
        child: Box<Plan>,
    },
    /// Keeps the rows of each run by the values of `keys`; `binary`: those are the same only if their bytes are; `single`: one row at most
    /// is read of each run.
    Memoize {
        child: Box<Plan>,
        keys: Vec<Expr>,
        binary: bool,
        single: bool,
    },
    Sort {
        child: Box<Plan>,
        keys: Vec<SortKey>,
    },
    /// Sorts rows that come sorted by the first `presorted` keys.
    IncrementalSort {
        child: Box<Plan>,
        keys: Vec<SortKey>,
        presorted: usize,
    },
    /// Adjacent duplicates removed.
    Unique {
        child: Box<Plan>,
        columns: Vec<Expr>,
    },
    Aggregate {
        strategy: AggStrategy,
        split: Split,
        child: Box<Plan>,
        keys: Vec<Expr>,
        /// Of grouping sets.
        rollups: Vec<Rollup>,
        calls: Vec<AggCall>,
    },
    WindowAgg {
        child: Box<Plan>,
        partition: Vec<Expr>,
        order: Vec<SortKey>,
        frame: WindowFrame,
        calls: Vec<WindowCall>,
        /// Rows of which this is not true are left out, and so are the others of the partition behind the first of them.
        run: Vec<Expr>,
        name: Arc<str>,
    },
    Limit {
        child: Box<Plan>,
        count: Option<Expr>,
        offset: Option<Expr>,
        with_ties: Vec<SortKey>,
    },
    SetOp {
        kind: SetOpKind,
        left: Box<Plan>,
        right: Box<Plan>,
    },
    /// Rows of the children one after the other; their columns are the output's by position.
    Append {
        children: Vec<Plan>,
        tree: Option<Box<Tree>>,
    },
    /// Sorted rows of the children, merged.
    MergeAppend {
        children: Vec<Plan>,
        keys: Vec<SortKey>,
        tree: Option<Box<Tree>>,
    },
    LockRows {
        child: Box<Plan>,
        marks: Vec<RowMark>,
    },
    Modify(Box<Modify>),
}

/// Whose rows an [`Node::Append`] gives, if its children are the members of an inheritance tree, or join those of several.
#[derive(Debug)]
pub struct Tree {
    /// The relations that stand for the trees.
    pub rels: Vec<RelId>,
    /// The member of each that a child reads.
    pub members: Vec<Vec<RelId>>,
    /// Which children are read, if that depends on values that are known only at run time.
    pub pruning: Option<Pruning>,
}

impl Tree {
    /// The members of one relation, if it is among those whose rows are given.
    pub fn members_of(&self, rel: RelId) -> Option<Vec<RelId>> {
        let at = self.rels.iter().position(|of| *of == rel)?;
        Some(self.members.iter().filter_map(|child| child.get(at)).copied().collect())
    }

    /// Each member with what stands for it.
    pub fn parents(&self) -> impl Iterator<Item = (RelId, RelId)> {
        self.members.iter().flat_map(|child| child.iter().copied().zip(self.rels.iter().copied()))
    }
}

/// Keys of a sort.
pub struct SortKeys(pub Vec<SortKey>);

impl SortKeys {
    /// Ascending, NULLs last.
    pub fn ascending(exprs: Vec<Expr>) -> SortKeys {
        SortKeys(
            exprs.into_iter().map(|expr| SortKey { expr, descending: false, nulls_first: false }).collect(),
        )
    }
}
