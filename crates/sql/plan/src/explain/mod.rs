//! # What
//! Plans as EXPLAIN shows them.
//!
//! # Layout
//! * [`document`]: what there is to say, as data. [`text`], [`json`], [`xml`], [`yaml`]: one writer a format.
//! * `node`: a plan's nodes, from the top. `properties`: what each says of itself. `expr`: expressions. [`usage`]: pages and log.
//!
//! # Invariants
//! 1. What is said does not depend on the format but for lines that the text format has in place of several properties.
//! 2. Nodes are numbered as the executor builds them: the main plan in pre-order, then each subplan; behind a bitmap scan come the nodes of its
//!    bitmap. [`Measured`] values are found by that number.
//!
//! # PostgreSQL counterpart
//! `commands/explain.c`, `explain_format.c`.

use std::collections::HashMap;

use base::{Oid, SqlResult};
use runtime::usage::Usage;
use tuple::Datum;

use crate::cost::Settings;
use crate::expr::{Expr, ParamId, RelId};
use crate::plan::{Bitmap, Node, Plan, Statement};

pub mod document;
mod expr;
pub mod json;
mod node;
mod properties;
pub mod text;
pub mod usage;
pub mod xml;
pub mod yaml;

pub use expr::quote;

use document::Item;

/// What EXPLAIN was asked for.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Estimates.
    pub costs: bool,
    /// What a run measured.
    pub analyze: bool,
    /// Times of nodes.
    pub timing: bool,
    /// Output lists.
    pub verbose: bool,
    /// Pages.
    pub buffers: bool,
    /// Times of reads and writes of pages (`track_io_timing`).
    pub io_timing: bool,
    /// The log.
    pub wal: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            costs: true,
            analyze: false,
            timing: true,
            verbose: false,
            buffers: false,
            io_timing: false,
            wal: false,
        }
    }
}

/// What a run measured of one node.
#[derive(Clone, Copy, Debug, Default)]
pub struct Measured {
    /// Rows of all runs.
    pub rows: f64,
    /// Runs.
    pub loops: f64,
    /// Milliseconds to the first row, all runs.
    pub startup: f64,
    /// Milliseconds, all runs.
    pub total: f64,
    /// Rows that the filter threw away, all runs.
    pub filtered: f64,
    /// Rows that an index named although they do not satisfy its conditions, all runs.
    pub rechecked: f64,
    /// Pairs that a join's own conditions threw away, all runs.
    pub unjoined: f64,
    /// What the node and those below it used, all runs.
    pub usage: Usage,
    /// What only nodes of its kind have to tell.
    pub detail: Detail,
}

/// What nodes of some kinds tell of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[allow(missing_docs)]
pub enum Detail {
    #[default]
    None,
    /// How rows were sorted: kilobytes of memory or of disk.
    Sort { method: SortMethod, kilobytes: u64 },
    /// How rows were sorted group by group.
    SortGroups { full: SortGroups, presorted: SortGroups },
    /// A hash table: kilobytes of memory at most; the first figures are those that it began with.
    Hash { buckets: [u64; 2], batches: [u64; 2], kilobytes: u64 },
    /// A hash table of groups: kilobytes of memory at most, and of disk.
    Groups { batches: u64, kilobytes: u64, disk: u64 },
    /// Results that were kept: how often one was found, was not, had to go, did not fit; kilobytes at most.
    Cache { hits: u64, misses: u64, evictions: u64, overflows: u64, kilobytes: u64 },
    /// Workers that a gathering had.
    Workers(u64),
    /// Rows that were kept: kilobytes at most.
    Storage { disk: bool, kilobytes: u64 },
    /// Pages that a bitmap named, and batches that its scan gave.
    HeapBlocks { exact: u64, lossy: u64, batches: u64 },
    /// Rows that an index-only scan looked for in the table.
    HeapFetches(u64),
    /// Batches that a scan gave.
    RowBatches(u64),
    /// INSERT with ON CONFLICT.
    Conflicts { inserted: u64, conflicting: u64, filtered: u64 },
    /// MERGE.
    Merge { inserted: u64, updated: u64, deleted: u64, skipped: u64 },
}

impl Detail {
    /// The same of a node that gave one batch more; only of a scan of a table that is said.
    pub fn one_more_batch(self) -> Detail {
        match self {
            Detail::RowBatches(count) => Detail::RowBatches(count + 1),
            Detail::None => Detail::RowBatches(1),
            Detail::HeapBlocks { exact, lossy, batches } => {
                Detail::HeapBlocks { exact, lossy, batches: batches + 1 }
            }
            other => other,
        }
    }

    /// What two participants have to tell of the same node; of most only the first is heard.
    pub fn with(self, other: Detail) -> Detail {
        match (self, other) {
            (Detail::None, other) => other,
            (Detail::RowBatches(count), Detail::RowBatches(more)) => Detail::RowBatches(count + more),
            (Detail::HeapBlocks { exact, lossy, batches }, Detail::RowBatches(more))
            | (Detail::RowBatches(more), Detail::HeapBlocks { exact, lossy, batches }) => {
                Detail::HeapBlocks { exact, lossy, batches: batches + more }
            }
            (own, _) => own,
        }
    }
}

/// How rows were sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum SortMethod {
    TopN,
    Quicksort,
    ExternalMerge,
}

impl SortMethod {
    /// All of them, as EXPLAIN lists them.
    const ALL: [SortMethod; 3] = [SortMethod::TopN, SortMethod::Quicksort, SortMethod::ExternalMerge];

    fn name(self) -> &'static str {
        match self {
            SortMethod::TopN => "top-N heapsort",
            SortMethod::Quicksort => "quicksort",
            SortMethod::ExternalMerge => "external merge",
        }
    }

    /// Where the rows lay.
    fn space(self) -> &'static str {
        if self == SortMethod::ExternalMerge { "Disk" } else { "Memory" }
    }
}

/// Sorts of groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SortGroups {
    count: u64,
    /// By the place in [`SortMethod::ALL`].
    used: [bool; 3],
    /// Kilobytes of all of them and at most, in memory and on disk.
    memory: [u64; 2],
    disk: [u64; 2],
}

impl SortGroups {
    /// One more.
    pub fn add(&mut self, method: SortMethod, kilobytes: u64) {
        self.count += 1;
        self.used[method as usize] = true;
        let space = if method == SortMethod::ExternalMerge { &mut self.disk } else { &mut self.memory };
        *space = [space[0] + kilobytes, space[1].max(kilobytes)];
    }
}

/// Text forms of values and names of types, as the session shows them.
pub trait Display {
    /// Appends the text form of a value.
    fn value(&self, type_oid: Oid, value: &Datum, out: &mut Vec<u8>) -> SqlResult<()>;
    /// The name of a collation as an identifier, qualified where it must be.
    fn collation(&self, oid: Oid) -> String;
    /// The name of a type with its modifier.
    fn type_name(&self, type_oid: Oid, typmod: Option<i32>) -> String;
}

/// The plan of a statement: a group called `Plan`.
///
/// `settings`: those that it was made under, for what they meant to exclude.
pub fn plan(
    statement: &Statement,
    options: Options,
    settings: &Settings,
    measured: &[Measured],
    display: &dyn Display,
) -> Item {
    let computed = computed_below(statement);
    let mut explain = Explain {
        statement,
        computed: &computed,
        options,
        settings,
        measured,
        display,
        starts: Vec::new(),
        windows: Vec::new(),
        carried: Vec::new(),
        partial: false,
        shown: Vec::new(),
        links: Vec::new(),
        ctes: &statement.ctes,
    };
    explain.number_subplans();
    explain.name_windows();
    let mut number = 0;
    Item::Group(explain.node(&statement.plan, None, &mut number))
}

/// Columns of relations that the plan has no node for, by what gives them: of a set operation, the first input; of a subquery that
/// gives its rows as they are, its plan.
type Computed<'a> = HashMap<(RelId, i16), &'a Expr>;

fn computed_below(statement: &Statement) -> Computed<'_> {
    fn look<'p>(plan: &'p Plan, out: &mut Computed<'p>) {
        let below = match &plan.node {
            Node::Append { children, tree: None } | Node::MergeAppend { children, tree: None, .. } => {
                children.first()
            }
            Node::SetOp { left, .. } => Some(&**left),
            Node::SubqueryScan { child, .. } if is_trivial(plan) => Some(&**child),
            _ => None,
        };
        for (column, given) in plan.output.iter().zip(below.iter().flat_map(|b| &b.output)) {
            if let Expr::Var(var) = column {
                out.insert((var.rel, var.column), given);
            }
        }
        plan.for_children(&mut |child| look(child, out));
    }
    let mut out = HashMap::new();
    let plans = std::iter::once(&statement.plan).chain(statement.subplans.iter().map(|s| &s.plan));
    plans.for_each(|plan| look(plan, &mut out));
    out
}

/// Whether a subquery's rows are handed on as they are, or nothing of them but that they are there.
fn is_trivial(plan: &Plan) -> bool {
    let Node::SubqueryScan { rel, child } = &plan.node else { return false };
    let same = |(i, e): (usize, &Expr)| matches!(e, Expr::Var(var) if var.rel == *rel && usize::try_from(var.column) == Ok(i + 1));
    let all = plan.output.is_empty() || plan.output.len() == child.output.len();
    plan.filter.is_empty() && all && plan.output.iter().enumerate().all(same)
}

/// A description under way.
struct Explain<'a> {
    statement: &'a Statement,
    computed: &'a Computed<'a>,
    options: Options,
    settings: &'a Settings,
    measured: &'a [Measured],
    display: &'a dyn Display,
    /// First number of each subplan.
    starts: Vec<usize>,
    /// Names of windows.
    windows: Vec<(usize, &'a str)>,
    /// What the children of the node give.
    carried: Vec<&'a [Expr]>,
    /// Aggregates are what one participant has of them.
    partial: bool,
    /// Subplans that were described.
    shown: Vec<usize>,
    /// Columns of the subplans around whose tests are shown, by their cells.
    links: Vec<(ParamId, String)>,
    /// Common table expressions of the statement, which its first node describes.
    ctes: &'a [usize],
}

/// Number of nodes that are counted for a plan.
fn count(plan: &Plan) -> usize {
    let mut nodes = 1;
    if let Node::BitmapHeapScan { bitmap, .. } = &plan.node {
        nodes += bitmap.nodes();
    }
    plan.for_children(&mut |child| nodes += count(child));
    nodes
}

impl Bitmap {
    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        match self {
            Bitmap::Index { .. } => 1,
            Bitmap::And(list, _) | Bitmap::Or(list, _) => 1 + list.iter().map(Bitmap::nodes).sum::<usize>(),
        }
    }
}

impl<'a> Explain<'a> {
    fn number_subplans(&mut self) {
        let mut next = count(&self.statement.plan);
        for sub in &self.statement.subplans {
            self.starts.push(next);
            next += count(&sub.plan);
        }
    }

    fn name_windows(&mut self) {
        fn look<'p>(plan: &'p Plan, out: &mut Vec<(usize, &'p str)>) {
            if let Node::WindowAgg { calls, name, .. } = &plan.node {
                out.extend(calls.iter().map(|call| (call.window, &**name)));
            }
            plan.for_children(&mut |child| look(child, out));
        }
        let plans =
            std::iter::once(&self.statement.plan).chain(self.statement.subplans.iter().map(|s| &s.plan));
        plans.for_each(|plan| look(plan, &mut self.windows));
    }

    /// What expressions need to know.
    fn shallow(&self) -> Explain<'a> {
        Explain {
            windows: self.windows.clone(),
            links: self.links.clone(),
            starts: Vec::new(),
            shown: Vec::new(),
            ctes: &[],
            carried: Vec::new(),
            ..*self
        }
    }

    fn measured(&self, number: usize) -> Measured {
        self.measured.get(number).copied().unwrap_or_default()
    }
}

/// The lines of a plan that was not run, in the text format.
pub fn text_lines(statement: &Statement, options: Options, display: &dyn Display) -> Vec<String> {
    text::lines(&[plan(statement, options, &Settings::default(), &[], display)])
}

/// Bytes that a plan takes, by estimate.
pub fn memory(statement: &Statement) -> u64 {
    fn of_expr(expr: &Expr) -> usize {
        let mut bytes = size_of::<Expr>();
        expr.for_children(&mut |child| bytes += of_expr(child));
        bytes
    }
    fn of_plan(plan: &Plan) -> usize {
        let mut bytes = size_of::<Plan>();
        plan.for_exprs(&mut |expr| bytes += of_expr(expr));
        plan.for_children(&mut |child| bytes += of_plan(child));
        bytes
    }
    let plans = std::iter::once(&statement.plan).chain(statement.subplans.iter().map(|sub| &sub.plan));
    (size_of::<Statement>() + plans.map(of_plan).sum::<usize>()) as u64
}
