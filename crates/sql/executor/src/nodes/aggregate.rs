//! Aggregation: one group, sorted groups, or a hash table of groups.
//!
//! A hash table that outgrows its memory takes no new groups: rows of unknown groups go to files by hash, each of which is
//! aggregated afterwards in the same way. Where states grow with their rows (arrays, texts), it then takes no more rows at all; a file's groups go on
//! from the states that they had. Grouping sets share the table, and the files: a row is written once for each set that
//! does not know its group. Sets that cannot be hashed are done one after the other, each over the whole input, sorted for it.

use base::{SqlError, SqlResult};
use eval::code::{Code, Rows, project};
use eval::compile::{Inputs, order_of};
use eval::cx::Cx;
use eval::row_store::{Place, RowStore};
use eval::spill::{Parts, SpillFile, SpillReader, row_bytes};
use plan::explain::Detail;
use plan::{AggCall, AggStrategy, Expr, ParamId, Plan};
use tuple::Datum;

use super::aggregate_call::{CallCode, State, compare_keys};
use super::sort::Sorter;
use super::{BoxNode, Builder, Key, Node, Projection};
use crate::row_key::RowKey;

/// An aggregation node.
pub fn build<'p>(
    builder: &mut Builder<'p>,
    plan: &'p Plan,
    strategy: AggStrategy,
    child: &'p Plan,
    keys: &[Expr],
    sets: &[Vec<usize>],
    calls: &[AggCall],
) -> SqlResult<BoxNode> {
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
    let hashed: &[Expr] = match strategy {
        AggStrategy::Hashed | AggStrategy::Mixed => keys,
        AggStrategy::Plain | AggStrategy::Sorted => &[],
    };
    let row_key = RowKey::of(&builder.statement.types, hashed, |_| {
        SqlError::internal("a grouping expression cannot be hashed")
    })?;
    let order = match strategy {
        AggStrategy::Sorted => keys
            .iter()
            .enumerate()
            .map(|(i, k)| Ok(Key::column(i, order_of(builder.statement, k)?)))
            .collect::<SqlResult<_>>()?,
        _ => Vec::new(),
    };
    let groupings = groupings
        .into_iter()
        .map(|g| match g {
            Expr::Grouping(list) => list,
            _ => Vec::new(),
        })
        .collect();
    let all: Vec<usize> = (0..keys.len()).collect();
    let sorts_sets = strategy == AggStrategy::Sorted && !sets.is_empty();
    let sets = if sets.is_empty() { vec![all] } else { sets.to_vec() };
    let width = child.output.len();
    let kept = if keeps_first { width } else { 0 };
    let whole = sets.iter().map(|set| (0..keys.len()).all(|key| set.contains(&key))).collect();
    let grows = calls.iter().any(|call| types::builtin_type(call.type_oid).is_none_or(|ty| ty.len < 0));
    let only_counts = !keeps_first && compiled.iter().all(CallCode::counts_rows);
    let core = Core {
        grows,
        only_counts,
        keys: key_codes,
        calls: compiled,
        row_key,
        order,
        sets,
        sorts_sets,
        groupings,
        whole,
        first_row,
        width,
        kept,
    };
    let child = builder.build(child)?;
    let state = Progress::Start;
    Ok(Box::new(AggregateNode { strategy, child, core, projection, state, sets: None }))
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

struct Core {
    keys: Box<[Code]>,
    calls: Vec<CallCode>,
    /// Keys in a hash table.
    row_key: RowKey,
    order: Vec<Key>,
    sets: Vec<Vec<usize>>,
    /// The input comes in no order: each set sorts it.
    sorts_sets: bool,
    groupings: Vec<Vec<usize>>,
    /// The sets that have all keys.
    whole: Vec<bool>,
    /// States may grow with each row.
    grows: bool,
    /// No column is read: rows are only counted.
    only_counts: bool,
    first_row: usize,
    /// Columns of the input.
    width: usize,
    /// Those that a group keeps of its first row: all or none.
    kept: usize,
}

struct Group {
    set: usize,
    key: Vec<Datum>,
    states: Box<[State]>,
    first: Vec<Datum>,
    /// Bytes that states have grown by.
    grown: usize,
    hash: u64,
    /// The next group of the same bucket.
    next: u32,
}

impl Core {
    /// A group of which `first` is the first row, if there is one.
    fn group(&self, set: usize, key: Vec<Datum>, first: &[Datum]) -> Group {
        let states = self.calls.iter().map(CallCode::start).collect();
        let first = first.get(..self.kept).unwrap_or_default().to_vec();
        Group { set, key, states, first, grown: 0, hash: 0, next: NONE }
    }

    /// Adds a row to a group.
    fn add(&self, group: &mut Group, row: &[Datum], cx: &mut Cx<'_>) -> SqlResult<()> {
        for (call, state) in self.calls.iter().zip(&mut group.states) {
            call.add(state, Rows::one(row), cx)?;
        }
        Ok(())
    }

    /// Adds so many rows of which nothing is read.
    fn count(&self, group: &mut Group, rows: i64, cx: &Cx<'_>) -> SqlResult<()> {
        let mut pairs = self.calls.iter().zip(&mut group.states);
        pairs.try_for_each(|(call, state)| call.count(state, rows, cx))
    }

    /// The same; returns by how many bytes the states have grown.
    fn add_measured(&self, group: &mut Group, row: &[Datum], cx: &mut Cx<'_>) -> SqlResult<usize> {
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
        for grouping in &self.groupings {
            let in_set = |k: &usize| self.sets[group.set].contains(k);
            let bits = grouping.iter().fold(0, |bits, k| bits << 1 | i32::from(!in_set(k)));
            row.push(Datum::Int4(bits));
        }
        debug_assert_eq!(row.len(), self.first_row);
        // Of the first row only columns are read that depend on the keys of every set.
        if !group.first.is_empty() {
            row.append(&mut group.first);
        } else {
            row.extend(std::iter::repeat_n(Datum::Null, self.kept));
        }
        Ok(row)
    }

    /// The input in the order of a set's keys.
    fn sorted_set(&self, rows: RowStore, set: usize, cx: &mut Cx<'_>) -> SqlResult<SortedSets> {
        let order: Vec<Key> =
            self.sets[set].iter().map(|i| self.order[*i].at_column(self.width + i)).collect();
        let mut sorter = Sorter::new(&order);
        let (mut place, mut key) = (Place::default(), Vec::new());
        for number in 0..rows.len() {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            let Some(row) = rows.get(&mut place, number)? else { break };
            let mut row = row.to_vec();
            project(&self.keys, Rows::one(&row), cx, &mut key)?;
            row.append(&mut key);
            sorter.add(row, &order, cx)?;
        }
        sorter.finish(&order, cx)?;
        Ok(SortedSets { rows, set, sorter, order })
    }

    /// A key of one grouping set: NULL for columns that the set does not group by.
    fn masked(&self, set: usize, key: &[Datum]) -> Vec<Datum> {
        let member = |i: &usize| self.sets[set].contains(i);
        key.iter().enumerate().map(|(i, v)| if member(&i) { v.clone() } else { Datum::Null }).collect()
    }
}

/// No group.
const NONE: u32 = u32::MAX;

/// Groups of a hash aggregation.
struct Groups {
    /// First group of each bucket; a power of two.
    buckets: Vec<u32>,
    list: Vec<Group>,
    bytes: usize,
}

impl Groups {
    fn new() -> Groups {
        Groups { buckets: vec![NONE; 256], list: Vec::new(), bytes: 0 }
    }

    fn bucket(&self, hash: u64) -> usize {
        // The low bits of a product are the least random.
        (hash >> 32) as usize & (self.buckets.len() - 1)
    }

    fn find(&self, core: &Core, set: usize, hash: u64, key: &[Datum]) -> Option<usize> {
        let mut at = self.buckets[self.bucket(hash)];
        while at != NONE {
            let group = &self.list[at as usize];
            if group.hash == hash && group.set == set && core.row_key.same(&group.key, key) {
                return Some(at as usize);
            }
            at = group.next;
        }
        None
    }

    /// Adds a group that is not there yet.
    fn add(&mut self, core: &Core, hash: u64, mut group: Group) -> usize {
        if self.list.len() >= self.buckets.len() {
            self.buckets = vec![NONE; self.buckets.len() * 4];
            for at in 0..self.list.len() {
                let bucket = self.bucket(self.list[at].hash);
                self.list[at].next = std::mem::replace(&mut self.buckets[bucket], at as u32);
            }
        }
        self.bytes +=
            row_bytes(&group.key) + row_bytes(&group.first) + 64 * core.calls.len() + 64 + group.grown;
        let at = self.list.len();
        let bucket = self.bucket(hash);
        group.hash = hash;
        group.next = std::mem::replace(&mut self.buckets[bucket], at as u32);
        self.list.push(group);
        at
    }
}

/// Rows for a hash aggregation.
enum Input<'a> {
    Child(&'a mut BoxNode),
    /// Rows that did not fit; with several grouping sets, each row is followed by the number of its set.
    File(SpillReader, Vec<Datum>),
}

impl Input<'_> {
    /// Moves to the next row; returns the grouping sets that it belongs to.
    fn next(&mut self, core: &Core, cx: &mut Cx<'_>) -> SqlResult<Option<std::ops::Range<usize>>> {
        match self {
            Input::Child(child) => Ok(child.next(cx)?.then_some(0..core.sets.len())),
            Input::File(reader, row) => {
                if !reader.next(row)? {
                    return Ok(None);
                }
                let set = match row.get(core.width) {
                    Some(Datum::Int4(set)) => *set as usize,
                    _ => 0,
                };
                row.truncate(core.width);
                Ok(Some(set..set + 1))
            }
        }
    }

    fn row(&self) -> &[Datum] {
        match self {
            Input::Child(child) => child.row(),
            Input::File(_, row) => row,
        }
    }
}

/// Rows not aggregated yet.
struct Waiting {
    file: SpillFile,
    /// How often they were dealt out.
    level: usize,
    /// Those of their groups that have rows already.
    begun: Vec<Group>,
}

/// Rows are dealt out so often at most because of states that grow: what then is still too large is one group.
const DEEPEST: usize = 6;

enum Progress {
    Start,
    Plain,
    /// Sorted: the group under way.
    Sorted(Option<Box<Group>>),
    Hashed {
        ready: std::vec::IntoIter<Group>,
        files: Vec<Waiting>,
    },
    Done,
}

/// Grouping sets by sorting.
struct SortedSets {
    /// The input.
    rows: RowStore,
    /// The set under way.
    set: usize,
    /// The input in the order of its keys, which stand behind the columns.
    sorter: Sorter,
    order: Vec<Key>,
}

/// What EXPLAIN says after one more table.
fn told(before: Detail, memory: u64, spilled: u64, more: u64) -> Detail {
    let (batches, most, disk) = match before {
        Detail::Groups { batches, kilobytes, disk } => (batches, kilobytes, disk),
        _ => (1, 0, 0),
    };
    let disk = disk + spilled.div_ceil(1024);
    let kilobytes = most.max(memory.div_ceil(1024)).max(1);
    Detail::Groups { batches: batches + more, kilobytes, disk }
}

/// Groups that are complete, and files of rows, with the groups that wait for them if the table has taken no more rows (`full`).
fn set_aside(
    groups: Vec<Group>,
    files: Vec<Option<SpillFile>>,
    level: usize,
    full: bool,
) -> (Vec<Group>, Vec<Waiting>) {
    let waits = |file: SpillFile| Waiting { file, level: level + 1, begun: Vec::new() };
    let mut waiting: Vec<Option<Waiting>> = files.into_iter().map(|file| file.map(waits)).collect();
    let mut ready = Vec::with_capacity(groups.len());
    for group in groups {
        let part = if full { waiting.get_mut(Parts::part_of(group.hash, level)) } else { None };
        match part {
            Some(Some(waiting)) => waiting.begun.push(group),
            _ => ready.push(group),
        }
    }
    (ready, waiting.into_iter().flatten().collect())
}

struct AggregateNode {
    strategy: AggStrategy,
    child: BoxNode,
    core: Core,
    projection: Projection,
    state: Progress,
    sets: Option<SortedSets>,
}

impl AggregateNode {
    fn emit(&mut self, group: Group, cx: &mut Cx<'_>) -> SqlResult<bool> {
        let row = self.core.finish(group, cx)?;
        self.projection.apply(Rows::one(&row), cx)
    }

    /// Aggregates `rows` by hashing; those of groups that do not fit go to files.
    fn hash_all(
        core: &Core,
        rows: &mut Input<'_>,
        (level, begun): (usize, Vec<Group>),
        cx: &mut Cx<'_>,
    ) -> SqlResult<(Vec<Group>, Vec<Waiting>)> {
        let mut groups = Groups::new();
        for group in begun {
            groups.add(core, group.hash, group);
        }
        let mut parts = Parts::default();
        let mut key = Vec::new();
        let limit = cx.env.hash_mem;
        let mut full = false;
        while let Some(sets) = rows.next(core, cx)? {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            let row = rows.row();
            project(&core.keys, Rows::one(row), cx, &mut key)?;
            for set in sets {
                let masked;
                let key = if core.whole[set] {
                    &key
                } else {
                    masked = core.masked(set, &key);
                    &masked
                };
                let hash = core.row_key.hash(key).wrapping_add(set as u64);
                full |= core.grows && groups.bytes > limit && level < DEEPEST && groups.list.len() > 1;
                let found = if full { None } else { groups.find(core, set, hash, key) };
                let at = match found {
                    Some(at) => at,
                    None if full || groups.bytes > limit => {
                        let part = Parts::part_of(hash, level);
                        if core.sets.len() > 1 {
                            let mut dealt = row.to_vec();
                            dealt.push(Datum::Int4(set as i32));
                            parts.write(part, &dealt, cx.env.temp)?;
                        } else {
                            parts.write(part, row, cx.env.temp)?;
                        }
                        continue;
                    }
                    None => groups.add(core, hash, core.group(set, key.clone(), row)),
                };
                groups.bytes += core.add_measured(&mut groups.list[at], row, cx)?;
            }
        }
        // An empty input still has the group of the empty set.
        if level == 0 && groups.list.is_empty() {
            for set in (0..core.sets.len()).filter(|set| core.sets[*set].is_empty()) {
                groups.list.push(core.group(set, vec![Datum::Null; core.keys.len()], &[]));
            }
        }
        let files = if parts.is_empty() { Vec::new() } else { parts.finish()? };
        let spilled = files.iter().flatten().map(SpillFile::written).sum::<u64>();
        let batches = files.iter().flatten().count() as u64;
        cx.tell(|before| told(before, groups.bytes as u64, spilled, batches));
        Ok(set_aside(groups.list, files, level, full))
    }

    fn start(&mut self, cx: &mut Cx<'_>) -> SqlResult<()> {
        self.state = match self.strategy {
            AggStrategy::Plain => Progress::Plain,
            AggStrategy::Sorted if self.core.sorts_sets => {
                let mut rows = RowStore::default();
                while self.child.next(cx)? {
                    runtime::check_interrupts().map_err(eval::error::interrupted)?;
                    rows.push(self.child.row().to_vec(), cx.env.work_mem, cx.env.temp)?;
                }
                self.sets = Some(self.core.sorted_set(rows, 0, cx)?);
                Progress::Sorted(None)
            }
            AggStrategy::Sorted => Progress::Sorted(None),
            AggStrategy::Hashed | AggStrategy::Mixed => {
                let mut rows = Input::Child(&mut self.child);
                let (groups, files) = Self::hash_all(&self.core, &mut rows, (0, Vec::new()), cx)?;
                Progress::Hashed { ready: groups.into_iter(), files }
            }
        };
        Ok(())
    }

    fn plain(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        self.state = Progress::Done;
        let mut group = self.core.group(0, Vec::new(), &[]);
        let mut first = true;
        loop {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
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
        self.emit(group, cx)
    }

    /// The next row of what is aggregated in order; false at its end.
    fn next_sorted(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        runtime::check_interrupts().map_err(eval::error::interrupted)?;
        match &mut self.sets {
            Some(sets) => sets.sorter.next(&sets.order),
            None => self.child.next(cx),
        }
    }

    fn sorted(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        let Progress::Sorted(current) = &mut self.state else { return Ok(false) };
        let mut current = current.take();
        let mut key = Vec::new();
        let set = self.sets.as_ref().map_or(0, |sets| sets.set);
        while self.next_sorted(cx)? {
            let row = match &self.sets {
                Some(sets) => &sets.sorter.row()[..self.core.width],
                None => self.child.row(),
            };
            project(&self.core.keys, Rows::one(row), cx, &mut key)?;
            if self.sets.is_some() {
                key = self.core.masked(set, &key);
            }
            let same = current.as_ref().is_some_and(|g| compare_keys(&self.core.order, &g.key, &key).is_eq());
            let done =
                if same { None } else { current.replace(Box::new(self.core.group(set, key.clone(), row))) };
            if let Some(group) = &mut current {
                self.core.add(group, row, cx)?;
            }
            if let Some(group) = done
                && self.emit(*group, cx)?
            {
                self.state = Progress::Sorted(current);
                return Ok(true);
            }
        }
        self.end_sorted(current, cx)
    }

    /// After the last row: gives the last group and moves to the next grouping set.
    fn end_sorted(&mut self, mut last: Option<Box<Group>>, cx: &mut Cx<'_>) -> SqlResult<bool> {
        self.state = Progress::Done;
        if let Some(sets) = self.sets.take() {
            let (set, empty) = (sets.set, sets.rows.is_empty());
            if set + 1 < self.core.sets.len() {
                self.sets = Some(self.core.sorted_set(sets.rows, set + 1, cx)?);
                self.state = Progress::Sorted(None);
            }
            if empty && self.core.sets[set].is_empty() {
                last = Some(Box::new(self.core.group(set, vec![Datum::Null; self.core.keys.len()], &[])));
            }
        }
        last.map_or(Ok(false), |group| self.emit(*group, cx))
    }
}

impl Node for AggregateNode {
    fn next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        loop {
            match &mut self.state {
                Progress::Start => self.start(cx)?,
                Progress::Plain => return self.plain(cx),
                Progress::Sorted(_) => {
                    if self.sorted(cx)? {
                        return Ok(true);
                    }
                }
                Progress::Hashed { ready, files } => {
                    if let Some(group) = ready.next() {
                        if self.emit(group, cx)? {
                            return Ok(true);
                        }
                        continue;
                    }
                    let Some(Waiting { file, level, begun }) = files.pop() else {
                        self.state = Progress::Done;
                        return Ok(false);
                    };
                    let mut rest = std::mem::take(files);
                    let mut rows = Input::File(file.into_reader()?, Vec::new());
                    let (groups, more) = Self::hash_all(&self.core, &mut rows, (level, begun), cx)?;
                    rest.extend(more);
                    self.state = Progress::Hashed { ready: groups.into_iter(), files: rest };
                }
                Progress::Done => return Ok(false),
            }
        }
    }

    fn row(&self) -> &[Datum] {
        self.projection.row()
    }

    fn rescan(&mut self, cx: &mut Cx<'_>, changed: &[ParamId]) -> SqlResult<()> {
        (self.state, self.sets) = (Progress::Start, None);
        self.child.rescan(cx, changed)
    }

    fn close(&mut self, cx: &mut Cx<'_>) {
        (self.state, self.sets) = (Progress::Start, None);
        self.child.close(cx);
    }
}
