//! A query between analysis and paths: one [`Block`] a query level, relations numbered across all levels.

use std::sync::Arc;

use crate::expr::{Expr, RelId, SortKey};
use crate::order::Shape;
use crate::plan::{JoinKind, Modify, RowMark, Sample, WindowFrame};
use crate::relset::RelSet;

/// A condition that hides rows of a table from whatever else a query says of them: of row security, or of a view with `security_barrier`
/// through which the table is changed.
#[derive(Clone, Debug)]
pub struct Guard {
    /// The table.
    pub rel: RelId,
    /// Which guards of the table come before it: those with a smaller number.
    pub rank: usize,
    /// The condition.
    pub expr: Expr,
}

/// One query level.
#[derive(Debug, Default)]
pub struct Block {
    /// FROM: the items are cross joined.
    pub from: Vec<From>,
    /// FROM as it was written.
    pub written: Vec<Shape>,
    /// WHERE, as a conjunction.
    pub quals: Vec<Expr>,
    /// What hides rows of tables in FROM.
    pub guards: Vec<Guard>,
    /// Target list, hidden entries included.
    pub targets: Vec<Target>,
    /// GROUP BY.
    pub group: Vec<Expr>,
    /// Grouping sets as indexes into `group`; empty without them.
    pub grouping_sets: Vec<Vec<usize>>,
    /// HAVING, as a conjunction.
    pub having: Vec<Expr>,
    /// Aggregates occur, or grouping.
    pub aggregated: bool,
    /// Windows that window functions name.
    pub windows: Vec<Window>,
    /// Conditions of the query above on window functions' values that, once false, are so for the rest of a partition.
    pub run: Vec<Expr>,
    /// DISTINCT: the expressions that must differ.
    pub distinct: Vec<Expr>,
    /// DISTINCT ON rather than DISTINCT.
    pub distinct_on: bool,
    /// ORDER BY.
    pub sort: Vec<SortKey>,
    /// LIMIT.
    pub limit: Option<Expr>,
    /// OFFSET.
    pub offset: Option<Expr>,
    /// FETCH FIRST … WITH TIES.
    pub with_ties: bool,
    /// FOR UPDATE and the like.
    pub marks: Vec<RowMark>,
    /// UNION and the like; its columns are those of the relation named.
    pub set: Option<(RelId, SetTree)>,
    /// Common table expressions defined here, as subplans.
    pub ctes: Vec<usize>,
    /// INSERT, UPDATE, DELETE above the query.
    pub modify: Option<Box<Modify>>,
    /// Aggregates of this level that subqueries name.
    pub named_below: Option<NamedBelow>,
    /// Relations merged into this level whose columns are [`Expr::Placeholder`]s.
    pub dissolved: RelSet,
    /// A view with `security_barrier`: conditions of the query above see none of the rows that it hides.
    pub barrier: bool,
}

/// Aggregates and GROUPINGs of a level that subqueries in its expressions name: there they are columns of a relation that stands
/// for them.
#[derive(Debug)]
pub struct NamedBelow {
    /// The relation.
    pub rel: RelId,
    /// Its columns.
    pub exprs: Vec<Expr>,
}

/// A target list entry.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// Value.
    pub expr: Expr,
    /// Name.
    pub name: Arc<str>,
    /// Not part of the result.
    pub junk: bool,
}

/// An item of FROM.
#[derive(Clone, Debug)]
pub enum From {
    /// A relation.
    Rel(RelId),
    /// A join; the right side of SEMI and ANTI is not visible above.
    Join {
        /// Kind; RIGHT has been turned round.
        kind: JoinKind,
        /// Left side.
        left: Vec<From>,
        /// Right side.
        right: Vec<From>,
        /// ON, as a conjunction.
        quals: Vec<Expr>,
    },
}

impl From {
    /// Relations below.
    pub fn rels(&self) -> RelSet {
        match self {
            From::Rel(rel) => RelSet::one(*rel),
            From::Join { left, right, .. } => rels_of(left) | rels_of(right),
        }
    }
}

/// Relations of a FROM list.
pub fn rels_of(from: &[From]) -> RelSet {
    from.iter().fold(RelSet::EMPTY, |set, item| set | item.rels())
}

/// Relations of a FROM list whose columns can be named above it.
pub fn visible_rels(from: &[From]) -> RelSet {
    from.iter().fold(RelSet::EMPTY, |set, item| {
        set | match item {
            From::Rel(rel) => RelSet::one(*rel),
            From::Join { kind: JoinKind::Semi | JoinKind::Anti, left, .. } => visible_rels(left),
            From::Join { left, right, .. } => visible_rels(left) | visible_rels(right),
        }
    })
}

/// What a relation is.
#[derive(Debug)]
pub enum Source {
    /// A table, materialised view or sequence.
    Table,
    /// Part of a table, drawn by lot.
    Sample(Box<Sample>),
    /// A foreign table.
    Foreign(crate::foreign::ForeignRows),
    /// A subquery.
    Subquery(Box<Block>),
    /// VALUES.
    Values(Vec<Vec<Expr>>),
    /// Functions in FROM.
    Function {
        /// The calls.
        calls: Vec<Expr>,
        /// Columns of each.
        widths: Vec<usize>,
        /// WITH ORDINALITY.
        ordinality: bool,
    },
    /// A common table expression kept apart.
    Cte(usize),
    /// The recursive reference of WITH RECURSIVE.
    WorkTable(usize),
    /// Rows that a statement changed, under their name in a trigger.
    Transition {
        /// The name.
        name: std::sync::Arc<str>,
        /// How many there are.
        rows: f64,
    },
    /// Names columns only: result of a set operation, target of an INSERT, `excluded`.
    Columns,
}

impl Source {
    /// Whether it is a table, or part of one.
    pub fn is_table(&self) -> bool {
        matches!(self, Source::Table | Source::Sample(_))
    }

    /// Its own expressions, those of subqueries not counted.
    pub fn exprs_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Source::Values(rows) => rows.iter_mut().flatten().collect(),
            Source::Function { calls, .. } => calls.iter_mut().collect(),
            Source::Sample(sample) => {
                std::iter::once(&mut sample.percent).chain(&mut sample.repeatable).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// A tree of set operations.
#[derive(Debug)]
pub enum SetTree {
    /// An input.
    Leaf(Box<Block>),
    /// An operation.
    Op {
        /// Which.
        op: SetOperation,
        /// ALL.
        all: bool,
        /// Left input.
        left: Box<SetTree>,
        /// Right input.
        right: Box<SetTree>,
    },
    /// An input whose columns are converted.
    Converted {
        /// The input.
        input: Box<SetTree>,
        /// Its columns: variables of the operation's relation, with the input's types.
        columns: Vec<Expr>,
        /// The converted ones, over `columns`.
        exprs: Vec<Expr>,
    },
    /// WITH RECURSIVE: non-recursive and recursive term, number of the work table.
    Recursive {
        /// Run first.
        initial: Box<SetTree>,
        /// Run until it yields nothing.
        recursive: Box<SetTree>,
        /// The work table.
        table: usize,
        /// UNION rather than UNION ALL.
        distinct: bool,
    },
}

/// Set operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum SetOperation {
    Union,
    Intersect,
    Except,
}

/// A window definition.
#[derive(Clone, Debug)]
pub struct Window {
    /// Name shown by EXPLAIN; empty until one without a name gets its own.
    pub name: Arc<str>,
    /// PARTITION BY.
    pub partition: Vec<Expr>,
    /// ORDER BY.
    pub order: Vec<SortKey>,
    /// Frame.
    pub frame: WindowFrame,
}

impl Window {
    /// What rows are sorted by.
    pub fn sort_keys(&self) -> Vec<SortKey> {
        let mut keys = crate::plan::SortKeys::ascending(self.partition.clone()).0;
        keys.extend(self.order.iter().cloned());
        keys
    }
}

impl Block {
    /// Calls `f` on every expression of this level, joins' conditions included.
    pub fn for_exprs_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        for item in &mut self.from {
            item.for_exprs_mut(f);
        }
        self.quals.iter_mut().for_each(&mut *f);
        self.guards.iter_mut().for_each(|guard| f(&mut guard.expr));
        self.for_upper_exprs_mut(f);
    }

    /// Calls `f` on every expression above FROM and WHERE.
    pub fn for_upper_exprs_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        self.targets.iter_mut().for_each(|t| f(&mut t.expr));
        self.group.iter_mut().for_each(&mut *f);
        self.having.iter_mut().for_each(&mut *f);
        for window in &mut self.windows {
            window.partition.iter_mut().for_each(&mut *f);
            window.order.iter_mut().for_each(|k| f(&mut k.expr));
            window.frame.offsets_mut().for_each(&mut *f);
        }
        self.run.iter_mut().for_each(&mut *f);
        self.distinct.iter_mut().for_each(&mut *f);
        self.sort.iter_mut().for_each(|k| f(&mut k.expr));
        self.named_below.iter_mut().flat_map(|named| &mut named.exprs).for_each(&mut *f);
        self.limit.iter_mut().for_each(&mut *f);
        self.offset.iter_mut().for_each(&mut *f);
        if let Some(target) = &mut self.modify {
            target.for_exprs_mut(f);
        }
    }

    /// Whether the query merely joins and filters: it may be merged into the one above.
    pub fn is_simple(&self) -> bool {
        !self.aggregated
            && self.group.is_empty()
            && self.grouping_sets.is_empty()
            && self.having.is_empty()
            && self.windows.is_empty()
            && self.distinct.is_empty()
            && self.limit.is_none()
            && self.offset.is_none()
            && self.marks.is_empty()
            && self.set.is_none()
            && self.ctes.is_empty()
            && self.modify.is_none()
            && !self.barrier
            && !self.targets.iter().any(|t| t.expr.returns_set())
    }
}

impl From {
    /// Calls `f` on the conditions of every join below.
    pub fn for_exprs_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        if let From::Join { left, right, quals, .. } = self {
            left.iter_mut().chain(right.iter_mut()).for_each(|item| item.for_exprs_mut(f));
            quals.iter_mut().for_each(f);
        }
    }
}

impl Modify {
    /// Calls `f` on every expression but those of the source.
    pub fn for_exprs_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        self.returning.iter_mut().for_each(&mut *f);
        self.row_checks.iter_mut().flat_map(|c| &mut c.quals).for_each(&mut *f);
        for action in self.merge.iter_mut().flat_map(|m| &mut m.actions) {
            action.condition.iter_mut().chain(&mut action.multi).for_each(&mut *f);
            action.set.iter_mut().for_each(|(_, e)| f(e));
        }
        if let Some(conflict) = &mut self.on_conflict {
            conflict.multi.iter_mut().for_each(&mut *f);
            conflict.set.iter_mut().flatten().for_each(|(_, e)| f(e));
            conflict.filter.iter_mut().for_each(f);
        }
    }
}
