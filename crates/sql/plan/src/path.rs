//! Ways to produce the rows of a set of relations, with what they cost.

use std::rc::Rc;

use base::Oid;

use crate::cost::DISABLED;
use crate::expr::{Expr, RelId, SortKey};
use crate::inherit::Member;
use crate::plan::{
    Bitmap, Cost, IndexCondition, IndexDistance, IndexRef, JoinClause, JoinKind, SoughtKeys, TidBound,
};
use crate::relset::RelSet;

/// One key of an order: an expression's number in its level's list, and the direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathKey {
    /// Equivalence class or expression.
    pub class: usize,
    /// DESC.
    pub descending: bool,
    /// NULLS FIRST.
    pub nulls_first: bool,
}

/// One key of the order in which a subquery gives its rows.
#[derive(Clone, Copy, Debug)]
pub struct DerivedKey {
    /// Column of the subquery, from 1.
    pub column: i16,
    /// Collation that it is sorted by.
    pub collation: Oid,
    /// DESC.
    pub descending: bool,
    /// NULLS FIRST.
    pub nulls_first: bool,
}

/// A condition that a parameterised scan has taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enforced {
    /// Clause by number.
    Clause(usize),
    /// Equivalence class by number.
    Class(usize),
}

/// A way to produce rows.
#[derive(Debug)]
pub struct Path {
    /// Relations joined.
    pub rels: RelSet,
    /// Estimates.
    pub cost: Cost,
    /// Order of the rows.
    pub order: Vec<PathKey>,
    /// Relations whose current row must be handed down as parameters.
    pub outer: RelSet,
    /// Join conditions already checked below.
    pub enforced: Vec<Enforced>,
    /// Who helps the session, if it gives the part of the rows that one participant gets; 0 if it gives all of them.
    pub workers: u32,
    /// How.
    pub kind: PathKind,
}

impl Path {
    /// Whether an index finds the rows by conditions of a join, and nothing else is left to check of these.
    pub fn is_looked_up(&self) -> bool {
        let PathKind::Scan(scan) = &self.kind else { return false };
        let other = match scan {
            ScanKind::Index { filter, .. } | ScanKind::Bitmap { filter, .. } => filter,
            _ => return false,
        };
        !self.enforced.is_empty() && !other.iter().any(|e| RelSet::of(e).overlaps(self.outer))
    }
}

/// How a path produces rows.
#[derive(Debug)]
#[allow(missing_docs)]
pub enum PathKind {
    Scan(ScanKind),
    /// The members of an inheritance tree, in their order, or joins of such members; with keys, merged.
    Append {
        whole: Whole,
        children: Vec<Rc<Path>>,
        keys: Vec<SortKey>,
        /// What rows satisfy, for choosing partitions when the plan runs.
        conditions: Vec<Expr>,
    },
    /// All rows of a path that several participants run.
    Gather {
        child: Rc<Path>,
    },
    /// The same, in an order in which each of them sorts its part: so many of the rows at most, as far as is known.
    GatherMerge {
        child: Rc<Path>,
        keys: Vec<SortKey>,
        limit: Option<f64>,
    },
    NestLoop {
        kind: JoinKind,
        outer: Rc<Path>,
        inner: Rc<Path>,
        clauses: Vec<Expr>,
        filter: Vec<Expr>,
        inner_unique: bool,
        keep: Keep,
    },
    HashJoin {
        kind: JoinKind,
        outer: Rc<Path>,
        inner: Rc<Path>,
        hash: Vec<JoinClause>,
        clauses: Vec<Expr>,
        filter: Vec<Expr>,
        inner_unique: bool,
    },
    MergeJoin {
        kind: JoinKind,
        outer: Rc<Path>,
        inner: Rc<Path>,
        merge: Vec<JoinClause>,
        clauses: Vec<Expr>,
        filter: Vec<Expr>,
        inner_unique: bool,
        /// Sort the outer side, which comes sorted by so many of the keys.
        sort_outer: Option<usize>,
        sort_inner: bool,
    },
}

/// What the children of an [`PathKind::Append`] are parts of.
#[derive(Clone, Debug)]
pub enum Whole {
    /// A relation, whose members they read.
    Members(RelId),
    /// A join: each child joins members that stand in the places of its relations.
    Joins(Rc<[Places]>),
}

/// Relations, and the member that stands in the place of each.
pub type Places = Rc<[(RelId, Member)]>;

/// What a nested loop keeps of its inner side.
#[derive(Clone, Debug)]
pub enum Keep {
    /// Nothing.
    Nothing,
    /// All rows, for every run.
    Rows,
    /// The rows of each run, by what it was run with.
    Results(Memo),
}

/// How results are kept.
#[derive(Clone, Debug)]
pub struct Memo {
    /// Values of the outer side that they depend on.
    pub keys: Vec<Expr>,
    /// Values are the same only if their bytes are.
    pub binary: bool,
    /// One row at most is read of each.
    pub single: bool,
}

/// How a relation is read.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum ScanKind {
    /// By its source: table from the start, subquery, function, values.
    Whole {
        rel: RelId,
        filter: Vec<Expr>,
        /// Of a table: the part of an index in which all rows lie that it returns.
        keys: Option<SoughtKeys>,
    },
    Index {
        rel: RelId,
        index: IndexRef,
        conditions: Vec<IndexCondition>,
        /// What rows come in the order of, if not that of the keys.
        distances: Vec<IndexDistance>,
        filter: Vec<Expr>,
        backward: bool,
        only: bool,
    },
    Bitmap {
        rel: RelId,
        bitmap: Bitmap,
        recheck: Vec<Expr>,
        filter: Vec<Expr>,
    },
    Tid {
        rel: RelId,
        tids: Vec<Expr>,
        condition: Vec<Expr>,
        filter: Vec<Expr>,
    },
    TidRange {
        rel: RelId,
        bounds: Vec<TidBound>,
        condition: Vec<Expr>,
        filter: Vec<Expr>,
    },
}

/// Whether rows in order `have` are also in order `want`.
pub fn order_contains(have: &[PathKey], want: &[PathKey]) -> bool {
    have.len() >= want.len() && have[..want.len()] == *want
}

/// How many keys two orders have in common, from the first on.
pub fn shared_keys(a: &[PathKey], b: &[PathKey]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// Adds `path` unless another is at least as good in every respect; drops those it beats.
pub fn add_path(paths: &mut Vec<Rc<Path>>, path: Path) {
    const FUZZ: f64 = 1.01;
    // What is disabled is so by a cost that would hide all others.
    let below = |a: f64, b: f64, fuzz: f64| {
        let (a_disabled, b_disabled) = ((a / DISABLED).floor(), (b / DISABLED).floor());
        a_disabled < b_disabled || (a_disabled == b_disabled && a % DISABLED <= (b % DISABLED) * fuzz)
    };
    let beats = |a: &Path, b: &Path, fuzz: f64| {
        below(a.cost.total, b.cost.total, fuzz)
            && below(a.cost.startup, b.cost.startup, fuzz)
            && order_contains(&a.order, &b.order)
            && a.outer.is_subset(b.outer)
            && a.cost.rows <= b.cost.rows
    };
    // Of two that are about as good the cheaper one stays.
    let replaces = |old: &Path| path.cost.total < old.cost.total && beats(&path, old, FUZZ);
    if paths.iter().any(|old| beats(old, &path, FUZZ) && !replaces(old)) {
        return;
    }
    paths.retain(|old| !beats(&path, old, FUZZ));
    paths.push(Rc::new(path));
}

/// The cheapest path by total cost among those that `accept` takes.
pub fn cheapest(paths: &[Rc<Path>], accept: impl Fn(&Path) -> bool) -> Option<Rc<Path>> {
    paths.iter().filter(|p| accept(p)).min_by(|a, b| a.cost.total.total_cmp(&b.cost.total)).cloned()
}
