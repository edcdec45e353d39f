//! The analysed statement.
//!
//! What: [`Query`], PostgreSQL's structure in spirit: a range table, a join tree over it, target list, grouping, ordering.
//!
//! Invariants:
//! 1. Every range table index counts from 0 in the same query's [`Query::range_table`].
//! 2. Every `sort_ref` in a sort, group, distinct or window clause is that of exactly one [`TargetEntry`].
//! 3. Views are already expanded: their entry is [`RteKind::Subquery`] with [`Subquery::view`] set. System views too.
//! 4. INSERT, UPDATE: the target list has one entry per column written, defaults of inserted rows filled in, in VALUES lists too;
//!    `resno` is the column's attribute number; columns not listed get NULL (INSERT) or stay (UPDATE). Generated columns are never
//!    listed: whoever stores the row computes them from the relation's description. A statement of a function's body is stored as it
//!    was written instead: one entry per assignment, [`Expr::Default`] where DEFAULT stands, a view as target ([`crate::rewrite`]).
//! 5. No [`crate::Var`] names a join's entry: a column of a join stands there as what it is made of.
//!
//! PostgreSQL counterpart: `Query`, `RangeTblEntry` and so on of `nodes/parsenodes.h`, after parse analysis and rewriting.
//! Differences: indexes from 0; views that are read are expanded by analysis.

use std::sync::Arc;

use base::Oid;
use catalog::view::Table;
use parse::ast::{self, LockStrength, LockWait};

use crate::expr::{Expr, TargetEntry};

pub use parse::ast::{FrameExclusion, FrameUnits, Materialize, MergeMatch, Overriding, SetOp};

/// What a query does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Command {
    #[default]
    Select,
    Insert,
    Update,
    Delete,
    Merge,
    Utility,
}

/// A checked statement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query {
    /// What it does.
    pub command: Command,
    /// For [`Command::Utility`]: the statement, with its inner query analysed where it has one.
    pub utility: Option<Box<Utility>>,
    /// Target of INSERT, UPDATE, DELETE, MERGE: index in the range table.
    pub target: Option<usize>,
    /// WITH
    pub ctes: Vec<Cte>,
    /// WITH RECURSIVE was written.
    pub recursive: bool,
    /// Range table.
    pub range_table: Vec<RangeTableEntry>,
    /// FROM and WHERE.
    pub join_tree: FromExpr,
    /// Target list.
    pub targets: Vec<TargetEntry>,
    /// OVERRIDING
    pub overriding: Overriding,
    /// ON CONFLICT
    pub on_conflict: Option<OnConflict>,
    /// WHEN arms of MERGE.
    pub merge_actions: Vec<MergeAction>,
    /// MERGE: index of the source in the range table, and the join condition.
    pub merge_join: Option<(FromNode, Expr)>,
    /// RETURNING
    pub returning: Vec<TargetEntry>,
    /// WITH (OLD AS, NEW AS) of RETURNING.
    pub row_names: [Option<String>; 2],
    /// WITH CHECK OPTION of the views that the target was named through, innermost first.
    pub view_checks: Vec<ViewCheck>,
    /// The entry with the present rows of the target, if that is a view that INSTEAD OF triggers change.
    pub instead: Option<usize>,
    /// GROUP BY: the distinct expressions.
    pub group_by: Vec<SortGroupClause>,
    /// GROUP BY DISTINCT
    pub group_distinct: bool,
    /// GROUPING SETS, flattened: each a list of `sort_ref`s. Empty unless grouping sets were written.
    pub grouping_sets: Vec<Vec<u32>>,
    /// GROUP BY as it was written, if it has grouping sets; for deparsing.
    pub grouping: Vec<Grouping>,
    /// HAVING
    pub having: Option<Expr>,
    /// WINDOW, in the order first used.
    pub windows: Vec<WindowClause>,
    /// DISTINCT
    pub distinct: Vec<SortGroupClause>,
    /// DISTINCT ON was written.
    pub distinct_on: bool,
    /// ORDER BY
    pub order_by: Vec<SortGroupClause>,
    /// OFFSET, of type int8
    pub offset: Option<Expr>,
    /// LIMIT, of type int8; a null constant is no limit
    pub limit: Option<Expr>,
    /// WITH TIES
    pub with_ties: bool,
    /// FOR UPDATE and its kin.
    pub row_marks: Vec<RowMark>,
    /// Set operation tree over subquery entries of the range table.
    pub set_operation: Option<SetOperation>,
    /// There are aggregates (of this level) in target list or HAVING.
    pub has_aggregates: bool,
    /// There are window functions.
    pub has_windows: bool,
    /// There are set-returning functions in the target list.
    pub has_target_srfs: bool,
    /// There are sublinks.
    pub has_sublinks: bool,
    /// A CTE inserts, updates, deletes or merges.
    pub has_modifying_cte: bool,
    /// FOR UPDATE or its kin was written here (not in a subquery).
    pub has_for_update: bool,
}

impl Query {
    /// The columns that the statement returns, in order: RETURNING's for a modifying statement.
    pub fn result_columns(&self) -> impl Iterator<Item = &TargetEntry> {
        let list = if self.command == Command::Select { &self.targets } else { &self.returning };
        list.iter().filter(|t| !t.junk)
    }
}

/// A statement that is executed, not planned.
#[derive(Clone, Debug, PartialEq)]
pub struct Utility {
    /// The statement; names are looked up when it is executed.
    pub statement: ast::Statement,
    /// The analysed query of EXPLAIN, DECLARE CURSOR, CREATE TABLE AS, CREATE MATERIALIZED VIEW and COPY (query).
    pub query: Option<Query>,
}

/// A member of the range table.
#[derive(Clone, Debug, PartialEq)]
pub struct RangeTableEntry {
    /// What it is.
    pub kind: RteKind,
    /// `AS name (columns)` as the user wrote it.
    pub alias: Option<RteAlias>,
    /// Name by which it is known.
    pub name: String,
    /// Names of all columns, by attribute number - 1; empty string for a dropped column.
    pub columns: Vec<String>,
    /// LATERAL
    pub lateral: bool,
    /// Named in FROM (not, say, a view's OLD or an INSERT's target).
    pub in_from: bool,
    /// Privileges to check, for relations.
    pub access: Option<Access>,
}

/// `AS name (columns)`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RteAlias {
    /// Name.
    pub name: String,
    /// Columns, as many as given.
    pub columns: Vec<String>,
}

/// Privileges that a query needs on a relation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Access {
    /// SELECT, INSERT, UPDATE, DELETE bits of [`access`].
    pub required: u32,
    /// Checked as this role (a view's owner); `None`: as the current user.
    pub as_role: Option<Oid>,
    /// Columns read (attribute numbers; 0 for the whole row), sorted.
    pub selected: Vec<i16>,
    /// Columns inserted, sorted.
    pub inserted: Vec<i16>,
    /// Columns updated, sorted.
    pub updated: Vec<i16>,
}

/// Bits of [`Access::required`], PostgreSQL's `ACL_*`.
pub mod access {
    #![allow(missing_docs)]
    pub const INSERT: u32 = 1;
    pub const SELECT: u32 = 2;
    pub const UPDATE: u32 = 4;
    pub const DELETE: u32 = 8;
}

/// What a range table entry is.
#[derive(Clone, Debug, PartialEq)]
pub enum RteKind {
    /// A table, materialized view, sequence or TOAST table.
    Relation(Relation),
    /// A subquery in FROM, an expanded view, or an arm of a set operation.
    Subquery(Subquery),
    /// A join.
    Join(Join),
    /// Functions in FROM.
    Function(Functions),
    /// VALUES with more than one row (one row becomes a plain target list).
    Values(Values),
    /// A query of WITH.
    Cte(CteReference),
    /// Rows that a statement changed, in the function of one of its triggers.
    Transition(TransitionReference),
}

/// A relation in the range table.
#[derive(Clone, Debug)]
pub struct Relation {
    /// OID.
    pub oid: Oid,
    /// Its definition as of analysis.
    pub table: Arc<Table>,
    /// Lock to take, PostgreSQL's number: 1 ACCESS SHARE, 2 ROW SHARE, 3 ROW EXCLUSIVE.
    pub lock_mode: u8,
    /// Children too (not ONLY).
    pub inherit: bool,
    /// TABLESAMPLE
    pub sample: Option<Box<TableSample>>,
    /// Conditions of the views with `security_barrier` through which it is changed, innermost first: whatever else the statement says of
    /// its rows is asked of those only that satisfy them.
    pub barriers: Vec<Expr>,
}

impl PartialEq for Relation {
    fn eq(&self, other: &Relation) -> bool {
        (self.oid, self.lock_mode, self.inherit, &self.sample)
            == (other.oid, other.lock_mode, other.inherit, &other.sample)
    }
}

/// TABLESAMPLE.
#[derive(Clone, Debug, PartialEq)]
pub struct TableSample {
    /// `system` or `bernoulli`.
    pub method: String,
    /// Arguments.
    pub args: Vec<Expr>,
    /// REPEATABLE
    pub repeatable: Option<Expr>,
}

/// A subquery in the range table.
#[derive(Clone, Debug, PartialEq)]
pub struct Subquery {
    /// The query.
    pub query: Box<Query>,
    /// View it is the expansion of; 0 if none.
    pub view: Oid,
    /// A security barrier view.
    pub security_barrier: bool,
}

/// Kinds of joins in the analysed tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum JoinType {
    Inner,
    Left,
    Full,
    Right,
}

/// A join in the range table: a name for the columns of both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Join {
    /// Kind.
    pub kind: JoinType,
    /// How many leading columns are merged by USING.
    pub merged: usize,
    /// What each column stands for: a [`Expr::Var`] of an input, or the COALESCE of a merged column. For deparsing.
    pub columns: Vec<Expr>,
    /// Alias of the USING columns.
    pub using_alias: Option<String>,
}

/// Functions in FROM.
#[derive(Clone, Debug, PartialEq)]
pub struct Functions {
    /// One, or those of ROWS FROM.
    pub functions: Vec<RangeFunction>,
    /// WITH ORDINALITY: one more column of type int8 at the end.
    pub ordinality: bool,
}

/// A function in FROM with the columns it gives.
#[derive(Clone, Debug, PartialEq)]
pub struct RangeFunction {
    /// The call; maybe not a set-returning one, maybe no [`Expr::Func`] (CURRENT_DATE).
    pub call: Expr,
    /// Its columns.
    pub columns: Vec<ColumnType>,
    /// The result is a row to be spread over the columns (a composite type or record).
    pub composite: bool,
}

/// Name and type of a column.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnType {
    /// Name.
    pub name: String,
    /// Type; 0 for a dropped column.
    pub type_oid: Oid,
    /// Modifier.
    pub typmod: i32,
    /// Collation.
    pub collation: Oid,
}

/// VALUES.
#[derive(Clone, Debug, PartialEq)]
pub struct Values {
    /// Rows, all of one length; of one type per column.
    pub rows: Vec<Vec<Expr>>,
    /// Types.
    pub columns: Vec<ColumnType>,
}

/// A reference to a query of WITH.
#[derive(Clone, Debug, PartialEq)]
pub struct CteReference {
    /// Its name.
    pub name: String,
    /// The query whose WITH it is, levels out.
    pub levels_up: u32,
    /// Inside the recursive part of itself.
    pub self_reference: bool,
    /// Columns.
    pub columns: Vec<ColumnType>,
}

/// A reference to the rows before or after a change.
#[derive(Clone, Debug, PartialEq)]
pub struct TransitionReference {
    /// Their name.
    pub name: String,
    /// The table that was changed.
    pub table: Oid,
    /// How many they were when the query was analysed.
    pub rows: u64,
    /// Columns, by attribute number - 1; dropped ones without a type.
    pub columns: Vec<ColumnType>,
}

/// A query of WITH.
#[derive(Clone, Debug, PartialEq)]
pub struct Cte {
    /// Name.
    pub name: String,
    /// MATERIALIZED
    pub materialize: Materialize,
    /// The query; for a modifying one its RETURNING gives the rows.
    pub query: Query,
    /// Refers to itself.
    pub recursive: bool,
    /// References from outside itself.
    pub references: u32,
    /// Columns; those that SEARCH and CYCLE add are the last, and no columns of the query yet.
    pub columns: Vec<ColumnType>,
    /// How many leading columns were named in front of AS.
    pub aliased: usize,
    /// SEARCH
    pub search: Option<SearchClause>,
    /// CYCLE
    pub cycle: Option<CycleClause>,
}

impl Cte {
    /// The columns of the query as it was written.
    pub fn written_columns(&self) -> &[ColumnType] {
        let added = usize::from(self.search.is_some()) + 2 * usize::from(self.cycle.is_some());
        &self.columns[..self.columns.len().saturating_sub(added)]
    }
}

/// SEARCH of a recursive query.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchClause {
    /// BY
    pub columns: Vec<String>,
    /// BREADTH rather than DEPTH.
    pub breadth_first: bool,
    /// The column that it adds.
    pub sequence: String,
}

/// CYCLE of a recursive query.
#[derive(Clone, Debug, PartialEq)]
pub struct CycleClause {
    /// Columns.
    pub columns: Vec<String>,
    /// The column that marks a row that closes a cycle.
    pub mark: ColumnType,
    /// Its value in such a row.
    pub value: Expr,
    /// Its value in other rows.
    pub default: Expr,
    /// `=` of the mark's type.
    pub equality: Oid,
    /// `equality` can be hashed.
    pub hashable: bool,
    /// `<>` of the mark's type, and its function.
    pub inequality: (Oid, Oid),
    /// The column with the rows so far.
    pub path: String,
}

/// FROM and WHERE.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FromExpr {
    /// Items, joined as by CROSS JOIN. Empty: one row without columns.
    pub items: Vec<FromNode>,
    /// WHERE
    pub filter: Option<Expr>,
}

/// A node of the join tree.
#[derive(Clone, Debug, PartialEq)]
pub enum FromNode {
    /// An entry of the range table that is no join.
    Entry(usize),
    /// A join.
    Join(Box<JoinNode>),
}

/// A join in the join tree.
#[derive(Clone, Debug, PartialEq)]
pub struct JoinNode {
    /// Kind.
    pub kind: JoinType,
    /// Left input.
    pub left: FromNode,
    /// Right input.
    pub right: FromNode,
    /// NATURAL, for deparsing.
    pub natural: bool,
    /// USING columns, for deparsing; their conditions are in `on`.
    pub using: Vec<String>,
    /// Condition; `None`: always true.
    pub on: Option<Expr>,
    /// The join's own entry in the range table.
    pub rte: usize,
}

/// A key of ORDER BY, GROUP BY, DISTINCT, PARTITION BY.
#[derive(Clone, Debug, PartialEq)]
pub struct SortGroupClause {
    /// [`TargetEntry::sort_ref`] of the key.
    pub sort_ref: u32,
    /// `=` operator.
    pub equality: Oid,
    /// `<` or `>` operator; 0 if the type cannot be sorted (hash grouping only).
    pub ordering: Oid,
    /// `ordering` sorts downwards.
    pub descending: bool,
    /// NULLS FIRST.
    pub nulls_first: bool,
    /// `equality` can be hashed.
    pub hashable: bool,
}

/// An item of GROUP BY as it was written; keys by their `sort_ref`.
#[derive(Clone, Debug, PartialEq)]
pub enum Grouping {
    /// A key, or several in parentheses; none: the empty set.
    Keys(Vec<u32>),
    /// GROUPING SETS
    Sets(Vec<Grouping>),
    /// ROLLUP
    Rollup(Vec<Grouping>),
    /// CUBE
    Cube(Vec<Grouping>),
}

/// A window.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowClause {
    /// Name in the WINDOW clause.
    pub name: Option<String>,
    /// Window it extends.
    pub base: Option<String>,
    /// PARTITION BY
    pub partition_by: Vec<SortGroupClause>,
    /// ORDER BY
    pub order_by: Vec<SortGroupClause>,
    /// Frame.
    pub frame: Frame,
    /// `in_range` functions (start, end) for RANGE with an offset; 0 if unused.
    pub in_range: (Oid, Oid),
    /// Collation for them.
    pub in_range_collation: Oid,
    /// ORDER BY is ascending, for them.
    pub in_range_ascending: bool,
    /// ORDER BY puts nulls first, for them.
    pub in_range_nulls_first: bool,
    /// Nothing but a copied ORDER BY.
    pub copied_order: bool,
}

/// A frame's end.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum FrameBound {
    UnboundedPreceding,
    Preceding(Expr),
    CurrentRow,
    Following(Expr),
    UnboundedFollowing,
}

/// A window frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// A frame was written.
    pub explicit: bool,
    /// It was written without BETWEEN.
    pub short: bool,
    /// Units.
    pub units: FrameUnits,
    /// Start.
    pub start: FrameBound,
    /// End.
    pub end: FrameBound,
    /// Rows left out.
    pub exclusion: FrameExclusion,
}

/// A set operation or one of its inputs.
#[derive(Clone, Debug, PartialEq)]
pub enum SetOperation {
    /// A subquery of the range table.
    Leaf(usize),
    /// An operation.
    Node(Box<SetOperationNode>),
}

/// An operation on two inputs.
#[derive(Clone, Debug, PartialEq)]
pub struct SetOperationNode {
    /// Which.
    pub op: SetOp,
    /// ALL.
    pub all: bool,
    /// Left input.
    pub left: SetOperation,
    /// Right input.
    pub right: SetOperation,
    /// What makes the result's columns of the left input's: expressions over its leftmost entry. Empty if the types agree.
    pub left_casts: Vec<Expr>,
    /// The same for the right input.
    pub right_casts: Vec<Expr>,
    /// Columns of the result.
    pub columns: Vec<ColumnType>,
    /// How to compare each column (unless UNION ALL): sort references are column numbers from 1.
    pub group_by: Vec<SortGroupClause>,
}

/// FOR UPDATE of an entry.
#[derive(Clone, Debug, PartialEq)]
pub struct RowMark {
    /// Entry: a relation, or a subquery whose own query carries the marks too.
    pub rte: usize,
    /// Strength.
    pub strength: LockStrength,
    /// Waiting.
    pub wait: LockWait,
    /// Pushed down from a clause on the subquery or view.
    pub pushed_down: bool,
}

/// ON CONFLICT.
#[derive(Clone, Debug, PartialEq)]
pub struct OnConflict {
    /// The constraint named; 0 if none is.
    pub constraint: Oid,
    /// DO UPDATE's assignments; `None` for DO NOTHING. Var of `excluded_rte` is the row proposed for insertion.
    pub update: Option<ConflictUpdate>,
    /// What tells the unique indexes whose violation is meant. Neither this nor a constraint: any of them (DO NOTHING only).
    pub inference: Option<Inference>,
}

/// What the arbiter indexes of ON CONFLICT are inferred from; over the target.
#[derive(Clone, Debug, PartialEq)]
pub struct Inference {
    /// Their keys.
    pub elements: Vec<InferenceElement>,
    /// WHERE, which must imply the condition of a partial index.
    pub filter: Option<Expr>,
}

/// A key of an index.
#[derive(Clone, Debug, PartialEq)]
pub struct InferenceElement {
    /// A column or an expression.
    pub expr: Expr,
    /// COLLATE; 0 if any collation will do.
    pub collation: Oid,
    /// Operator class; 0 if any will do.
    pub opclass: Oid,
}

/// DO UPDATE.
#[derive(Clone, Debug, PartialEq)]
pub struct ConflictUpdate {
    /// Assignments; `resno` is the column's attribute number.
    pub targets: Vec<TargetEntry>,
    /// WHERE
    pub filter: Option<Expr>,
    /// Range table entry of EXCLUDED.
    pub excluded_rte: usize,
}

/// WITH CHECK OPTION of a view, over the target.
#[derive(Clone, Debug, PartialEq)]
pub struct ViewCheck {
    /// Name of the view.
    pub view: String,
    /// Its WHERE; none if only what it hands on to the views below matters.
    pub condition: Option<Expr>,
    /// CASCADED: the views below are checked too.
    pub cascaded: bool,
}

/// A WHEN of MERGE.
#[derive(Clone, Debug, PartialEq)]
pub struct MergeAction {
    /// Rows it applies to.
    pub matched: MergeMatch,
    /// INSERT, UPDATE, DELETE; Utility for DO NOTHING.
    pub command: Command,
    /// AND condition.
    pub condition: Option<Expr>,
    /// Values; `resno` is the column's attribute number.
    pub targets: Vec<TargetEntry>,
    /// OVERRIDING
    pub overriding: Overriding,
}
