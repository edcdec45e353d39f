//! Aggregation: one group, sorted groups ([`Passes`]), or a hash table of groups ([`Hashing`]).
//!
//! The partial and the final half of one that is split, with the gathering between them, are one node: each participant aggregates the rows
//! that it finds, and the leader joins the states that all of them have of a group.

use base::{Oid, SqlError, SqlResult};
use eval::code::{Code, Rows, project};
use eval::compile::{Inputs, order_of};
use eval::cx::Cx;
use eval::node::Batched;
use eval::spill::SpillReader;
use plan::{AggCall, AggStrategy, Expr, ParamId, Plan, Rollup, Split};
use tuple::{Batch, Datum};

use super::aggregate_call::{CallCode, State};
use super::counting::measure;
use super::gather::{Part, together};
use super::hashing::{self, Hashed, Hashing, NONE, Waiting, told};
use super::passes::{Pass, Passes};
use super::{BoxNode, Builder, Key, Node, Projection};
use crate::batch::calls::ColumnCalls;
use crate::batch::groups::{self, Filled, Groups};
use crate::batch::rows::Gathered;
use crate::row_key::RowKey;

/// An aggregation node.
pub fn build<'p>(
    builder: &mut Builder<'p>,
    plan: &'p Plan,
    strategy: AggStrategy,
    child: &'p Plan,
    keys: &[Expr],
    rollups: &[Rollup],
    calls: &[AggCall],
) -> SqlResult<BoxNode> {
    Ok(Box::new(node(builder, plan, strategy, child, keys, rollups, calls)?))
}

/// The final half of an aggregation that is split, with all below it.
pub fn build_gathered<'p>(builder: &mut Builder<'p>, plan: &'p Plan, gather: &'p Plan) -> SqlResult<BoxNode> {
    let plan::Node::Gather { child: partial, workers, .. } = &gather.node else { return Err(unsplit()) };
    let numbers = (builder.count(), builder.count());
    let mut part = Part::new(builder, gather, *workers)?;
    let mut node = half(builder, plan, partial)?;
    part.scans = builder.scans;
    node.gathering = Some(Box::new(Gathering { part, gather: numbers.0, partial: numbers.1 }));
    Ok(Box::new(node))
}

/// What a participant runs of the final half `plan` of an aggregation.
fn half<'p>(builder: &mut Builder<'p>, plan: &'p Plan, partial: &'p Plan) -> SqlResult<AggregateNode> {
    match &partial.node {
        plan::Node::Aggregate { split: Split::Partial, strategy, child, keys, rollups, calls } => {
            node(builder, plan, *strategy, child, keys, rollups, calls)
        }
        _ => Err(unsplit()),
    }
}

fn unsplit() -> SqlError {
    SqlError::internal("the final half of an aggregation without the other one")
}

fn node<'p>(
    builder: &mut Builder<'p>,
    plan: &'p Plan,
    strategy: AggStrategy,
    child: &'p Plan,
    keys: &[Expr],
    rollups: &[Rollup],
    calls: &[AggCall],
) -> SqlResult<AggregateNode> {
    let inputs = Inputs::one(&child.output);
    let compiler = builder.compiler();
    let key_codes = compiler.list(keys, inputs)?;
    let grouped: Vec<Expr> = keys.iter().chain(&child.output).cloned().collect();
    let grouped = Inputs::one(&grouped);
    let compiled = calls.iter().map(|c| CallCode::new(builder, c, inputs, grouped, false));
    let compiled = compiled.collect::<SqlResult<Vec<_>>>()?;
    // Groups' rows: keys, results, then one bit set a GROUPING call, then input columns if some are read that the keys determine.
    let mut carried: Vec<Expr> = keys.to_vec();
    carried.extend(calls.iter().map(|c| Expr::Aggregate(Box::new(c.clone()))));
    let mut groupings = Vec::new();
    for expr in plan.output.iter().chain(&plan.filter) {
        collect_groupings(expr, &mut groupings);
    }
    carried.extend(groupings.iter().cloned());
    // DISTINCT as an aggregation passes on every column; functionally dependent columns come from a group's first row.
    let first_row = carried.len();
    let read = plan.output.iter().chain(&plan.filter).any(|e| reads_input(e, &carried, &child.output));
    let keeps_first = read || calls.iter().any(|call| !call.direct.is_empty());
    if keeps_first {
        carried.extend(child.output.iter().cloned());
    }
    let projection = builder.projection(plan, Inputs::one(&carried))?;
    let groupings = groupings
        .into_iter()
        .map(|g| match g {
            Expr::Grouping(list) => list,
            _ => Vec::new(),
        })
        .collect();
    let width = child.output.len();
    let kept = if keeps_first { width } else { 0 };
    let whole_set =
        || vec![Rollup { hashed: strategy == AggStrategy::Hashed, sets: vec![(0..keys.len()).collect()] }];
    let rollups = if rollups.is_empty() { whole_set() } else { rollups.to_vec() };
    let sets: Vec<Vec<usize>> = rollups.iter().flat_map(|rollup| rollup.sets.iter().cloned()).collect();
    let whole = sets.iter().map(|set| (0..keys.len()).all(|key| set.contains(&key))).collect();
    let (mut hashed, mut passes) = (Vec::new(), Vec::new());
    let mut first = 0;
    for rollup in &rollups {
        let sets = first..first + rollup.sets.len();
        first = sets.end;
        if rollup.hashed {
            hashed.extend(sets);
            continue;
        }
        let order = |key: &usize| Ok(Key::column(width + key, order_of(builder.statement, &keys[*key])?));
        let order = rollup.keys().iter().map(order).collect::<SqlResult<_>>()?;
        passes.push(Pass { sets, keys: rollup.keys().to_vec(), order });
    }
    // A key that no hashed set has is NULL there, whatever its type.
    let in_table = |key: usize| hashed.iter().any(|set: &usize| sets[*set].contains(&key));
    let typed = |(i, key): (usize, &Expr)| match in_table(i) {
        true => (key.type_oid(), key.collation()),
        false => (types::oids::bool, Oid::INVALID),
    };
    let row_key = RowKey::new(
        &builder.statement.types,
        &keys.iter().enumerate().map(typed).collect::<Vec<_>>(),
        |_| SqlError::internal("a grouping expression cannot be hashed"),
    )?;
    let grows = calls.iter().any(|call| types::builtin_type(call.type_oid).is_none_or(|ty| ty.len < 0));
    let only_counts = !keeps_first && compiled.iter().all(CallCode::counts_rows);
    let core = Core {
        grows,
        only_counts,
        keys: key_codes,
        calls: compiled,
        row_key,
        sets,
        hashed,
        passes,
        groupings,
        whole,
        first_row,
        width,
        kept,
    };
    let columns = match keeps_first || core.sets.len() > 1 || !builder.takes_batches_of(child) {
        true => None,
        false => Columns::new(builder, strategy, child, keys, calls)?.map(Box::new),
    };
    builder.batches = columns.is_some();
    let child = builder.build(child)?;
    builder.batches = false;
    let state = Progress::Start;
    Ok(AggregateNode { strategy, child, core, projection, state, columns, gathering: None })
}

/// What an aggregation has to take batches.
struct Columns {
    calls: ColumnCalls,
    /// Of a hash aggregation.
    groups: Option<Groups>,
    /// Rows that come one by one.
    arriving: Gathered,
}

impl Columns {
    fn new(
        builder: &Builder<'_>,
        strategy: AggStrategy,
        child: &Plan,
        keys: &[Expr],
        calls: &[AggCall],
    ) -> SqlResult<Option<Columns>> {
        let groups = match strategy {
            AggStrategy::Plain => None,
            AggStrategy::Hashed => match Groups::new(builder, child, keys, calls)? {
                None => return Ok(None),
                groups => groups,
            },
            AggStrategy::Sorted | AggStrategy::Mixed => return Ok(None),
        };
        let arriving = Groups::arriving(child);
        Ok(ColumnCalls::new(builder, child, keys, calls)?.map(|calls| Columns { calls, groups, arriving }))
    }
}

/// Whether an expression reads a column of the input that is not in the groups' rows anyway.
fn reads_input(expr: &Expr, carried: &[Expr], input: &[Expr]) -> bool {
    if carried.contains(expr) {
        return false;
    }
    let mut reads = !matches!(expr, Expr::Const { .. }) && input.contains(expr);
    expr.for_children(&mut |child| reads |= reads_input(child, carried, input));
    reads
}

fn collect_groupings(expr: &Expr, out: &mut Vec<Expr>) {
    if matches!(expr, Expr::Grouping(_)) {
        if !out.contains(expr) {
            out.push(expr.clone());
        }
    } else {
        expr.for_children(&mut |child| collect_groupings(child, out));
    }
}

/// What is computed, and how.
pub(super) struct Core {
    pub(super) keys: Box<[Code]>,
    pub(super) calls: Vec<CallCode>,
    /// Keys in a hash table.
    pub(super) row_key: RowKey,
    /// Grouping sets; one of all keys where none are named.
    pub(super) sets: Vec<Vec<usize>>,
    /// Those that are hashed.
    pub(super) hashed: Vec<usize>,
    /// For the others.
    pub(super) passes: Vec<Pass>,
    groupings: Vec<Vec<usize>>,
    /// The sets that have all keys.
    pub(super) whole: Vec<bool>,
    /// States may grow with each row.
    pub(super) grows: bool,
    /// No column is read: rows are only counted.
    only_counts: bool,
    first_row: usize,
    /// Columns of the input.
    pub(super) width: usize,
    /// Those that a group keeps of its first row: all or none.
    kept: usize,
}

/// A group under way.
pub(super) struct Group {
    pub(super) set: usize,
    pub(super) key: Vec<Datum>,
    states: Box<[State]>,
    pub(super) first: Vec<Datum>,
    /// Bytes that states have grown by.
    pub(super) grown: usize,
    pub(super) hash: u64,
    /// The next group of the same bucket.
    pub(super) next: u32,
}

impl Core {
    /// A group of which `first` is the first row, if there is one.
    pub(super) fn group(&self, set: usize, key: Vec<Datum>, first: &[Datum]) -> Group {
        let states = self.calls.iter().map(CallCode::start).collect();
        let first = first.get(..self.kept).unwrap_or_default().to_vec();
        Group { set, key, states, first, grown: 0, hash: 0, next: NONE }
    }

    /// Adds a row to a group.
    pub(super) fn add(&self, group: &mut Group, row: &[Datum], cx: &mut Cx<'_>) -> SqlResult<()> {
        for (call, state) in self.calls.iter().zip(&mut group.states) {
            call.add(state, Rows::one(row), cx)?;
        }
        Ok(())
    }

    /// Joins the states of a group with those that another participant has of it.
    pub(super) fn join(&self, group: &mut Group, other: Group, cx: &Cx<'_>) -> SqlResult<()> {
        for ((call, state), other) in self.calls.iter().zip(&mut group.states).zip(other.states) {
            call.combine(state, other, cx)?;
        }
        if group.first.is_empty() {
            group.first = other.first;
        }
        group.grown += other.grown;
        Ok(())
    }

    /// Adds the rows of a batch.
    fn add_batch(
        &self,
        columns: &mut ColumnCalls,
        group: &mut Group,
        batch: &Batch<'_>,
        cx: &mut Cx<'_>,
    ) -> SqlResult<()> {
        if let Err(error) = columns.prepare(batch, &[], cx) {
            return Err(self.first_error(columns, batch, error, cx));
        }
        for (number, (call, state)) in self.calls.iter().zip(&mut group.states).enumerate() {
            let State::Plain(state) = state else {
                return Err(SqlError::internal("a state that takes no columns"));
            };
            columns.add_to_one(number, call, state, batch, cx)?;
        }
        Ok(())
    }

    /// Adds the rows of a batch to their groups.
    fn group_batch(
        &self,
        (calls, groups): (&mut ColumnCalls, &mut Groups),
        batch: &Batch<'_>,
        cx: &mut Cx<'_>,
    ) -> SqlResult<()> {
        if let Err(error) = groups.prepare(batch, cx) {
            return Err(self.first_error(calls, batch, error, cx));
        }
        groups.find(batch, &calls.reads, cx)?;
        let (rows, numbers) = groups.known();
        if rows.is_empty() {
            return Ok(());
        }
        let known = Batch { rows, ..*batch };
        if let Err(error) = calls.prepare(&known, numbers, cx) {
            return Err(self.first_error(calls, &known, error, cx));
        }
        groups.add(batch, (&*calls, &self.calls), cx)
    }

    /// The error that rows of a batch have, one after the other, if not all of a column could be computed.
    fn first_error(
        &self,
        columns: &ColumnCalls,
        batch: &Batch<'_>,
        error: SqlError,
        cx: &mut Cx<'_>,
    ) -> SqlError {
        let mut key = Vec::new();
        let found = columns.for_rows(batch, |rows| {
            project(&self.keys, rows, cx, &mut key)?;
            self.calls.iter().try_for_each(|call| call.rehearse(rows, cx))
        });
        found.err().unwrap_or(error)
    }

    /// Adds so many rows of which nothing is read.
    fn count(&self, group: &mut Group, rows: i64, cx: &Cx<'_>) -> SqlResult<()> {
        let mut pairs = self.calls.iter().zip(&mut group.states);
        pairs.try_for_each(|(call, state)| call.count(state, rows, cx))
    }

    /// The same; returns by how many bytes the states have grown.
    pub(super) fn add_measured(&self, group: &mut Group, row: &[Datum], cx: &mut Cx<'_>) -> SqlResult<usize> {
        if !self.grows {
            return self.add(group, row, cx).map(|()| 0);
        }
        let before = runtime::memory::held().session;
        self.add(group, row, cx)?;
        let grown = runtime::memory::held().session.saturating_sub(before);
        group.grown += grown;
        Ok(grown)
    }

    /// The group's row as the projection wants it.
    fn finish(&self, mut group: Group, cx: &mut Cx<'_>) -> SqlResult<Vec<Datum>> {
        let mut row = std::mem::take(&mut group.key);
        let mut grouped = Vec::new();
        if self.calls.iter().any(CallCode::reads_group) {
            grouped = [&row[..], &group.first].concat();
            // A group without rows.
            grouped.resize(row.len() + self.width, Datum::Null);
        }
        for (call, state) in self.calls.iter().zip(&mut group.states) {
            row.push(call.finish(state, &grouped, cx)?);
        }
        self.push_groupings(group.set, &mut row);
        // Of the first row only columns are read that depend on the keys of every set.
        if !group.first.is_empty() {
            row.append(&mut group.first);
        } else {
            row.extend(std::iter::repeat_n(Datum::Null, self.kept));
        }
        Ok(row)
    }

    /// Appends a bit set for each GROUPING call.
    fn push_groupings(&self, set: usize, row: &mut Vec<Datum>) {
        for grouping in &self.groupings {
            let in_set = |k: &usize| self.sets[set].contains(k);
            let bits = grouping.iter().fold(0, |bits, k| bits << 1 | i32::from(!in_set(k)));
            row.push(Datum::Int4(bits));
        }
        debug_assert_eq!(row.len(), self.first_row);
    }

    /// A key of one grouping set: NULL for columns that the set does not group by.
    pub(super) fn masked(&self, set: usize, key: &[Datum]) -> Vec<Datum> {
        if self.whole[set] {
            return key.to_vec();
        }
        let member = |i: &usize| self.sets[set].contains(i);
        key.iter().enumerate().map(|(i, v)| if member(&i) { v.clone() } else { Datum::Null }).collect()
    }
}

enum Progress {
    Start,
    Plain,
    Passes(Box<Passes>),
    Hashed(Hashed),
    /// Groups of batches.
    Columns,
    /// The only group, of all participants.
    Joined(Box<Group>),
    Done,
}

/// How the work of a node is split.
struct Gathering {
    part: Part,
    /// Numbers of the nodes between this one and its child.
    gather: usize,
    partial: usize,
}

/// What one participant has found.
enum Share {
    One(Box<Group>),
    Rows(hashing::Share),
    Columns(groups::Share),
}

impl Share {
    /// Number of groups.
    fn len(&self) -> usize {
        match self {
            Share::One(_) => 1,
            Share::Rows(share) => share.len(),
            Share::Columns(share) => share.len(),
        }
    }
}

struct AggregateNode {
    strategy: AggStrategy,
    child: BoxNode,
    core: Core,
    projection: Projection,
    state: Progress,
    /// Of one that takes batches.
    columns: Option<Box<Columns>>,
    /// Of one that is split.
    gathering: Option<Box<Gathering>>,
}

impl AggregateNode {
    /// Lets go of all groups.
    fn forget(&mut self) {
        self.state = Progress::Start;
        if let Some(groups) = self.columns.as_mut().and_then(|columns| columns.groups.as_mut()) {
            groups.forget();
        }
    }

    fn emit(&mut self, group: Group, cx: &mut Cx<'_>) -> SqlResult<bool> {
        let row = self.core.finish(group, cx)?;
        self.projection.apply(Rows::one(&row), cx)
    }

    /// Aggregates the child's rows by hashing.
    fn hash_rows(&mut self, cx: &mut Cx<'_>) -> SqlResult<Hashing> {
        let (core, mut hashing, mut key) = (&self.core, Hashing::default(), Vec::new());
        while self.child.next(cx)? {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            let row = self.child.row();
            project(&core.keys, Rows::one(row), cx, &mut key)?;
            hashing.take_row(core, (row, &key), cx)?;
        }
        Ok(hashing)
    }

    /// Aggregates rows that were written to files.
    fn hash_files(&self, Waiting { files, level, begun }: Waiting, cx: &mut Cx<'_>) -> SqlResult<Hashed> {
        let (core, mut hashing) = (&self.core, Hashing::of(&self.core, level, begun));
        let (mut row, mut key) = (Vec::new(), Vec::new());
        for file in files {
            let mut rows = file.into_reader()?;
            while rows.next(&mut row)? {
                runtime::check_interrupts().map_err(eval::error::interrupted)?;
                let set = match row.get(core.width) {
                    Some(Datum::Int4(set)) => *set as usize,
                    _ => core.hashed[0],
                };
                row.truncate(core.width);
                project(&core.keys, Rows::one(&row), cx, &mut key)?;
                hashing.take(core, set, (&row, &key), cx)?;
            }
        }
        hashing.finish(cx)
    }

    /// Aggregates the child's batches by hashing.
    fn hash_batches(&mut self, cx: &mut Cx<'_>) -> SqlResult<()> {
        self.take_batches(None, cx)?;
        self.end_batches(cx)
    }

    fn end_batches(&mut self, cx: &mut Cx<'_>) -> SqlResult<()> {
        if let Some(groups) = self.columns.as_mut().and_then(|columns| columns.groups.as_mut()) {
            let Filled { memory, spilled, files } = groups.end()?;
            cx.tell(|before| told(before, memory, spilled, files));
        }
        Ok(())
    }

    /// Takes batches into groups: those of a file, or the child's.
    fn take_batches(&mut self, mut file: Option<SpillReader>, cx: &mut Cx<'_>) -> SqlResult<()> {
        let AggregateNode { core, child, columns, .. } = self;
        let Some(Columns { calls, groups: Some(groups), arriving }) = columns.as_deref_mut() else {
            return Err(SqlError::internal("an aggregation of batches without groups"));
        };
        loop {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            let batch = match &mut file {
                Some(reader) => {
                    arriving.read(reader)?;
                    arriving.batch(0, usize::MAX)
                }
                None => match child.batch(cx)? {
                    Batched::Rows(batch) => batch,
                    Batched::End => break,
                    Batched::NotNow => {
                        if !child.next(cx)? {
                            break;
                        }
                        arriving.clear();
                        arriving.push(child.row());
                        arriving.batch(0, usize::MAX)
                    }
                },
            };
            if batch.rows.is_empty() {
                break;
            }
            core.group_batch((&mut *calls, &mut *groups), &batch, cx)?;
        }
        Ok(())
    }

    /// Gives the next group of batches; false after the last.
    fn next_of_batches(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        let mut row = Vec::new();
        loop {
            let Some(groups) = self.columns.as_mut().and_then(|columns| columns.groups.as_mut()) else {
                return Ok(false);
            };
            while let Some(group) = groups.next(&mut row) {
                runtime::check_interrupts().map_err(eval::error::interrupted)?;
                for (call, state) in self.core.calls.iter().zip(groups.states(group)) {
                    row.push(call.finish_column(state, cx)?);
                }
                self.core.push_groupings(0, &mut row);
                if self.projection.apply(Rows::one(&row), cx)? {
                    return Ok(true);
                }
            }
            let Some(files) = groups.next_files(&self.core.calls, cx)? else { return Ok(false) };
            for file in files {
                self.take_batches(Some(file), cx)?;
            }
            self.end_batches(cx)?;
        }
    }

    /// What this participant finds.
    fn share(&mut self, cx: &mut Cx<'_>) -> SqlResult<Share> {
        match self.strategy {
            AggStrategy::Plain => Ok(Share::One(Box::new(self.only_group(cx)?))),
            AggStrategy::Hashed if self.columns.is_some() => {
                self.take_batches(None, cx)?;
                let groups = self.columns.as_mut().and_then(|columns| columns.groups.as_mut());
                let (share, filled) = groups.ok_or_else(unsplit)?.share()?;
                cx.tell(|before| told(before, filled.memory, filled.spilled, filled.files));
                Ok(Share::Columns(share))
            }
            AggStrategy::Hashed => Ok(Share::Rows(self.hash_rows(cx)?.share(cx)?)),
            AggStrategy::Sorted | AggStrategy::Mixed => Err(unsplit()),
        }
    }

    /// The same, counted for the partial half of this number.
    fn counted_share(&mut self, partial: usize, cx: &mut Cx<'_>) -> SqlResult<Share> {
        let before = cx.state.counters.as_ref().map_or(0, |counters| counters[partial].total);
        let (share, counters) = measure(cx, partial, |cx| self.share(cx));
        let share = share?;
        if let Some(counters) = counters {
            counters.startup += counters.total - before;
            counters.rows += share.len() as f64;
            counters.loops += 1.0;
        }
        Ok(share)
    }

    /// What all participants find.
    fn shares(&mut self, gathering: &Gathering, cx: &mut Cx<'_>) -> SqlResult<Vec<Share>> {
        let partial = gathering.partial;
        let found = together(
            &gathering.part,
            cx,
            |cx| {
                self.child.rescan(cx, &[])?;
                self.counted_share(partial, cx)
            },
            &|builder, (above, below), cx| {
                let mut half = half(builder, above.ok_or_else(unsplit)?, below)?;
                let share = half.counted_share(partial, cx);
                half.child.close(cx);
                share
            },
        )?;
        if let Some(shares) = found {
            return Ok(shares);
        }
        self.forget();
        self.child.rescan(cx, &[])?;
        Ok(vec![self.counted_share(partial, cx)?])
    }

    /// The groups of all participants.
    fn gathered(&mut self, gathering: &Gathering, cx: &mut Cx<'_>) -> SqlResult<Progress> {
        let before = cx.state.counters.as_ref().map_or(0, |counters| counters[gathering.gather].total);
        let (shares, counters) = measure(cx, gathering.gather, |cx| self.shares(gathering, cx));
        let shares = shares?;
        if let Some(counters) = counters {
            counters.startup += counters.total - before;
            counters.rows += shares.iter().map(Share::len).sum::<usize>() as f64;
            counters.loops += 1.0;
        }
        let (mut one, mut rows, mut columns) = (None::<Box<Group>>, Vec::new(), Vec::new());
        for share in shares {
            match (share, &mut one) {
                (Share::One(group), Some(first)) => self.core.join(first, *group, cx)?,
                (Share::One(group), None) => one = Some(group),
                (Share::Rows(share), _) => rows.push(share),
                (Share::Columns(share), _) => columns.push(share),
            }
        }
        if let Some(group) = one {
            return Ok(Progress::Joined(group));
        }
        if let Some(groups) = self.columns.as_mut().and_then(|columns| columns.groups.as_mut()) {
            let Filled { memory, files, .. } = groups.take_in(columns, &self.core.calls, cx)?;
            cx.tell(|before| told(before, memory, 0, files));
            return Ok(Progress::Columns);
        }
        Ok(Progress::Hashed(hashing::Share::join(&self.core, rows, cx)?))
    }

    fn start(&mut self, cx: &mut Cx<'_>) -> SqlResult<()> {
        if let Some(gathering) = self.gathering.take() {
            let progress = self.gathered(&gathering, cx);
            self.gathering = Some(gathering);
            self.state = progress?;
            return Ok(());
        }
        self.state = match self.strategy {
            AggStrategy::Plain if self.core.sets.len() == 1 => Progress::Plain,
            AggStrategy::Hashed if self.columns.is_some() => {
                self.hash_batches(cx)?;
                Progress::Columns
            }
            AggStrategy::Hashed => Progress::Hashed(self.hash_rows(cx)?.finish(cx)?),
            _ => Progress::Passes(Box::new(Passes::new(&self.core))),
        };
        Ok(())
    }

    fn plain(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        self.state = Progress::Done;
        let group = self.only_group(cx)?;
        self.emit(group, cx)
    }

    /// The group of all rows.
    fn only_group(&mut self, cx: &mut Cx<'_>) -> SqlResult<Group> {
        let mut group = self.core.group(0, Vec::new(), &[]);
        let mut first = true;
        loop {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            if let Some(columns) = &mut self.columns {
                match self.child.batch(cx)? {
                    Batched::Rows(batch) => {
                        self.core.add_batch(&mut columns.calls, &mut group, &batch, cx)?;
                        continue;
                    }
                    Batched::End => break,
                    Batched::NotNow => {}
                }
            }
            if self.core.only_counts {
                let passed = self.child.skip(cx)?;
                if passed > 0 {
                    self.core.count(&mut group, passed as i64, cx)?;
                    continue;
                }
            }
            if !self.child.next(cx)? {
                break;
            }
            if first {
                group.first = self.child.row()[..self.core.kept].to_vec();
                first = false;
            }
            self.core.add(&mut group, self.child.row(), cx)?;
        }
        Ok(group)
    }
}

impl Node for AggregateNode {
    fn next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        loop {
            match &mut self.state {
                Progress::Start => self.start(cx)?,
                Progress::Plain => return self.plain(cx),
                Progress::Joined(_) => {
                    if let Progress::Joined(group) = std::mem::replace(&mut self.state, Progress::Done) {
                        return self.emit(*group, cx);
                    }
                }
                Progress::Columns => {
                    if self.next_of_batches(cx)? {
                        return Ok(true);
                    }
                    self.state = Progress::Done;
                }
                Progress::Passes(passes) => match passes.next(&self.core, &mut self.child, cx)? {
                    Some(group) => {
                        if self.emit(group, cx)? {
                            return Ok(true);
                        }
                    }
                    None => self.state = Progress::Hashed(std::mem::take(passes).hashed()),
                },
                Progress::Hashed(hashed) => {
                    if let Some(group) = hashed.ready.next() {
                        if self.emit(group, cx)? {
                            return Ok(true);
                        }
                        continue;
                    }
                    let Some(waiting) = hashed.files.pop() else {
                        self.state = Progress::Done;
                        return Ok(false);
                    };
                    let mut files = std::mem::take(&mut hashed.files);
                    let mut hashed = self.hash_files(waiting, cx)?;
                    files.append(&mut hashed.files);
                    self.state = Progress::Hashed(Hashed { files, ..hashed });
                }
                Progress::Done => return Ok(false),
            }
        }
    }

    fn row(&self) -> &[Datum] {
        self.projection.row()
    }

    fn rescan(&mut self, cx: &mut Cx<'_>, changed: &[ParamId]) -> SqlResult<()> {
        self.forget();
        self.child.rescan(cx, changed)
    }

    fn close(&mut self, cx: &mut Cx<'_>) {
        self.forget();
        self.child.close(cx);
    }
}
