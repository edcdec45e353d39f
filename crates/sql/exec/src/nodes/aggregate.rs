//! Aggregation: one group, sorted groups, or a hash table of groups; grouping sets in one pass over the input.
//!
//! A hash table that outgrows `work_mem` takes no new groups: rows of unknown groups go to files by hash, each of which is
//! aggregated afterwards in the same way.

use std::cmp::Ordering;

use base::{Oid, SqlError, SqlResult};
use plan::explain::Detail;
use plan::{AggCall, AggStrategy, Expr, ParamId, Plan};
use rustc_hash::FxHashMap;
use tuple::Datum;
use types::AggState;
use types::registry::Aggregate;

use super::sort::Sorter;
use super::{BoxNode, Builder, Key, Node, Projection};
use crate::compile::{Inputs, compare_of};
use crate::cx::Cx;
use crate::eval::{Code, Rows, project};
use crate::spill::{SpillFile, row_bytes};

/// One aggregate call, compiled.
pub struct CallCode {
    imp: &'static Aggregate,
    args: Box<[Code]>,
    /// Direct arguments of an ordered-set aggregate.
    direct: Box<[Code]>,
    types: Box<[Oid]>,
    result: Oid,
    collation: Oid,
    filter: Option<Code>,
    distinct: bool,
    /// Order of the rows handed over: keys over (arguments, sort expressions).
    order: Box<[Code]>,
    order_keys: Vec<Key>,
    skip_nulls: bool,
}

/// State of one call in one group.
pub enum State {
    /// Running.
    Plain(AggState),
    /// Rows kept until the end, for DISTINCT and ORDER BY.
    Kept(Box<Sorter>),
    /// Rows of an ordered-set aggregate.
    Set(Box<SortedSet>),
}

impl CallCode {
    /// Compiles a call over the rows of `inputs`.
    pub fn new(builder: &Builder<'_>, call: &AggCall, inputs: Inputs<'_>) -> SqlResult<CallCode> {
        let compiler = builder.compiler();
        let none = || SqlError::not_supported(format!("aggregate {}()", call.function.name()));
        let imp = types::registry::aggregate(call.function.oid()).ok_or_else(none)?;
        let args = &call.args;
        let width = args.len();
        let mut keys: Vec<Key> = Vec::new();
        let mut order = Vec::new();
        for key in &call.order {
            let mut made =
                Key::column(width + order.len(), compare_of(builder.statement, key.expr.type_oid())?);
            made.set_direction(key.descending, key.nulls_first);
            keys.push(made);
            order.push(compiler.expr(&key.expr, inputs)?);
        }
        if call.distinct {
            for (i, arg) in args.iter().enumerate() {
                keys.push(Key::column(i, compare_of(builder.statement, arg.type_oid())?));
            }
        }
        Ok(CallCode {
            imp,
            types: call.direct.iter().chain(args).map(Expr::type_oid).collect(),
            args: compiler.list(args, inputs)?,
            direct: compiler.list(&call.direct, inputs)?,
            result: call.type_oid,
            collation: call.collation,
            filter: call.filter.as_ref().map(|e| compiler.expr(e, inputs)).transpose()?,
            distinct: call.distinct,
            order: order.into(),
            order_keys: keys,
            skip_nulls: call.function.strict(),
        })
    }

    /// The state of a new group.
    pub fn start(&self) -> State {
        if self.imp.kind != b'n' {
            State::Set(Box::new(SortedSet::new(&self.order_keys)))
        } else if self.order_keys.is_empty() {
            State::Plain(self.imp.imp.start())
        } else {
            State::Kept(Box::new(Sorter::new(&self.order_keys)))
        }
    }

    fn context<'a>(&'a self, cx: &'a Cx<'_>) -> types::Call<'a> {
        cx.call(&self.types, self.result, self.collation, false)
    }

    /// Takes a row.
    pub fn add(&self, state: &mut State, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<()> {
        if let State::Set(set) = state
            && set.direct.is_none()
        {
            set.direct = Some(self.direct_values(rows, cx)?);
        }
        if let Some(filter) = &self.filter
            && !filter.test(rows, cx)?
        {
            return Ok(());
        }
        let mut args: smallvec::SmallVec<[Datum; 4]> = smallvec::SmallVec::new();
        for code in &self.args {
            args.push(code.eval(rows, cx)?);
        }
        match state {
            State::Plain(state) => {
                if self.skip_nulls && args.iter().any(Datum::is_null) {
                    return Ok(());
                }
                self.imp.imp.add(&self.context(cx), state, &args)
            }
            State::Kept(sorter) => {
                let mut row = args.into_vec();
                for code in &self.order {
                    row.push(code.eval(rows, cx)?);
                }
                sorter.add(row, &self.order_keys, cx)
            }
            State::Set(_) if self.imp.kind == b'o' && args.iter().any(Datum::is_null) => Ok(()),
            State::Set(set) => {
                let mut row = args.into_vec();
                for code in &self.order {
                    row.push(code.eval(rows, cx)?);
                }
                set.rows += 1;
                set.sorter.add(row, &self.order_keys, cx)
            }
        }
    }

    /// The group's result.
    pub fn finish(&self, state: &mut State, cx: &mut Cx<'_>) -> SqlResult<Datum> {
        match state {
            State::Plain(state) => self.imp.imp.finish(&self.context(cx), state),
            State::Kept(sorter) => {
                sorter.finish(&self.order_keys, cx)?;
                let mut inner = self.imp.imp.start();
                let width = self.args.len();
                let mut last: Option<Vec<Datum>> = None;
                let distinct_from = self.order_keys.len() - width * usize::from(self.distinct);
                while sorter.next(&self.order_keys)? {
                    runtime::check_interrupts().map_err(crate::error::interrupted)?;
                    let row = sorter.row();
                    if self.distinct {
                        let keys = &self.order_keys[distinct_from..];
                        let same = last.as_ref().is_some_and(|l| {
                            keys.iter().enumerate().all(|(i, k)| k.compare(&l[i], &row[i]).is_eq())
                        });
                        if same {
                            continue;
                        }
                        last = Some(row.to_vec());
                    }
                    let args = &row[..width];
                    if self.skip_nulls && args.iter().any(Datum::is_null) {
                        continue;
                    }
                    self.imp.imp.add(&self.context(cx), &mut inner, args)?;
                }
                self.imp.imp.finish(&self.context(cx), &inner)
            }
            State::Set(set) => self.finish_set(set, cx),
        }
    }

    fn direct_values(&self, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<Vec<Datum>> {
        self.direct.iter().map(|code| code.eval(rows, cx)).collect()
    }

    /// The result of an ordered-set or hypothetical-set aggregate.
    fn finish_set(&self, set: &mut SortedSet, cx: &mut Cx<'_>) -> SqlResult<Datum> {
        let direct = match set.direct.take() {
            Some(direct) => direct,
            // A group without rows has no columns that a direct argument could be made of.
            None => self.direct_values(Rows::one(&[]), cx)?,
        };
        set.sorter.finish(&self.order_keys, cx)?;
        let mut state = self.imp.imp.start_sorted(&self.context(cx), &direct, set.rows)?;
        let keys = &self.order_keys;
        let width = self.args.len();
        let mut last: Option<Vec<Datum>> = None;
        while set.sorter.next(keys)? {
            runtime::check_interrupts().map_err(crate::error::interrupted)?;
            let row = &set.sorter.row()[width..];
            let peer = last.as_deref().is_some_and(|last| compare_keys(keys, last, row).is_eq());
            let value = match self.imp.kind {
                b'h' => Datum::Int4(compare_keys(keys, row, &direct) as i32),
                _ => row.first().cloned().unwrap_or_default(),
            };
            self.imp.imp.add(&self.context(cx), &mut state, &[value, Datum::Bool(peer)])?;
            last = Some(row.to_vec());
        }
        self.imp.imp.finish(&self.context(cx), &state)
    }
}

/// The rows of one group, for an ordered-set aggregate.
pub struct SortedSet {
    sorter: Sorter,
    rows: u64,
    /// Direct arguments, known from the group's first row.
    direct: Option<Vec<Datum>>,
}

impl SortedSet {
    fn new(keys: &[Key]) -> SortedSet {
        SortedSet { sorter: Sorter::new(keys), rows: 0, direct: None }
    }
}

/// Order of two lists of key values.
fn compare_keys(keys: &[Key], a: &[Datum], b: &[Datum]) -> Ordering {
    let orders = keys.iter().zip(a.iter().zip(b)).map(|(key, (a, b))| key.compare(a, b));
    orders.fold(Ordering::Equal, Ordering::then)
}

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
    let compiled = calls.iter().map(|c| CallCode::new(builder, c, inputs)).collect::<SqlResult<Vec<_>>>()?;
    // Groups' rows: keys, results, then one bit set a GROUPING call, then the input columns grouped by their table's key.
    let mut carried: Vec<Expr> = keys.to_vec();
    carried.extend(calls.iter().map(|c| Expr::Aggregate(Box::new(c.clone()))));
    let mut groupings = Vec::new();
    for expr in plan.output.iter().chain(&plan.filter) {
        collect_groupings(expr, &mut groupings);
    }
    carried.extend(groupings.iter().cloned());
    // DISTINCT as an aggregation passes on every column; functionally dependent columns come from a group's first row.
    let first_row = carried.len();
    carried.extend(child.output.iter().cloned());
    let projection = builder.projection(plan, Inputs::one(&carried))?;
    let mut hash = Vec::new();
    let mut equal = Vec::new();
    if matches!(strategy, AggStrategy::Hashed | AggStrategy::Mixed) {
        for key in keys {
            let none = || SqlError::internal("a grouping expression cannot be hashed");
            hash.push(builder.statement.types.hash(key.type_oid()).ok_or_else(none)?);
            equal.push(builder.statement.types.equal(key.type_oid()).ok_or_else(none)?);
        }
    }
    let order = match strategy {
        AggStrategy::Sorted => keys
            .iter()
            .enumerate()
            .map(|(i, k)| Ok(Key::column(i, compare_of(builder.statement, k.type_oid())?)))
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
    let sets = if sets.is_empty() { vec![all] } else { sets.to_vec() };
    let core = Core { keys: key_codes, calls: compiled, hash, equal, order, sets, groupings, first_row };
    let input_width = child.output.len();
    let child = builder.build(child)?;
    Ok(Box::new(AggregateNode { strategy, child, core, projection, input_width, state: Progress::Start }))
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
    hash: Vec<fn(&Datum) -> u64>,
    equal: Vec<fn(&Datum, &Datum) -> bool>,
    order: Vec<Key>,
    sets: Vec<Vec<usize>>,
    groupings: Vec<Vec<usize>>,
    first_row: usize,
}

struct Group {
    set: usize,
    key: Vec<Datum>,
    states: Vec<State>,
    first: Vec<Datum>,
}

impl Core {
    fn group(&self, set: usize, key: Vec<Datum>, first: &[Datum]) -> Group {
        Group { set, key, states: self.calls.iter().map(CallCode::start).collect(), first: first.to_vec() }
    }

    fn add(&self, group: &mut Group, row: &[Datum], cx: &mut Cx<'_>) -> SqlResult<()> {
        for (call, state) in self.calls.iter().zip(&mut group.states) {
            call.add(state, Rows::one(row), cx)?;
        }
        Ok(())
    }

    /// The group's row as the projection wants it.
    fn finish(&self, mut group: Group, width: usize, cx: &mut Cx<'_>) -> SqlResult<Vec<Datum>> {
        let mut row = std::mem::take(&mut group.key);
        for (call, state) in self.calls.iter().zip(&mut group.states) {
            row.push(call.finish(state, cx)?);
        }
        for grouping in &self.groupings {
            let in_set = |k: &usize| self.sets[group.set].contains(k);
            let bits = grouping.iter().fold(0, |bits, k| bits << 1 | i32::from(!in_set(k)));
            row.push(Datum::Int4(bits));
        }
        debug_assert_eq!(row.len(), self.first_row);
        let grouped_all = self.sets.len() == 1;
        if grouped_all && !group.first.is_empty() {
            row.append(&mut group.first);
        } else {
            row.extend(std::iter::repeat_n(Datum::Null, width));
        }
        Ok(row)
    }

    fn hash_key(&self, set: usize, key: &[Datum]) -> u64 {
        let mut hash = set as u64;
        for (value, f) in key.iter().zip(&self.hash) {
            let part = if value.is_null() { 0x9e37 } else { f(value) };
            hash = (hash.rotate_left(5) ^ part).wrapping_mul(0x517c_c1b7_2722_0a95);
        }
        hash
    }

    fn same_key(&self, a: &[Datum], b: &[Datum]) -> bool {
        a.iter().zip(b).zip(&self.equal).all(|((a, b), f)| match (a.is_null(), b.is_null()) {
            (true, true) => true,
            (false, false) => f(a, b),
            _ => false,
        })
    }
}

/// Groups of a hash aggregation.
#[derive(Default)]
struct Groups {
    by_hash: FxHashMap<u64, Vec<u32>>,
    list: Vec<Group>,
    bytes: usize,
}

enum Progress {
    Start,
    Plain,
    /// Sorted: the group under way.
    Sorted(Option<Box<Group>>),
    Hashed {
        ready: std::vec::IntoIter<Group>,
        files: Vec<SpillFile>,
    },
    Done,
}

struct AggregateNode {
    strategy: AggStrategy,
    child: BoxNode,
    core: Core,
    projection: Projection,
    input_width: usize,
    state: Progress,
}

const PARTITIONS: usize = 32;

impl AggregateNode {
    fn emit(&mut self, group: Group, cx: &mut Cx<'_>) -> SqlResult<bool> {
        let width = self.input_width;
        let row = self.core.finish(group, width, cx)?;
        self.projection.apply(Rows::one(&row), cx)
    }

    /// Aggregates rows of `next` by hashing; rows of groups that do not fit go to files.
    fn hash_all(
        core: &Core,
        depth: usize,
        next: &mut dyn FnMut(&mut Vec<Datum>, &mut Cx<'_>) -> SqlResult<bool>,
        cx: &mut Cx<'_>,
    ) -> SqlResult<(Vec<Group>, Vec<SpillFile>)> {
        let mut groups = Groups::default();
        let mut files: Vec<Option<SpillFile>> = Vec::new();
        let mut row = Vec::new();
        let mut key = Vec::new();
        let limit = cx.work_mem * 2;
        while next(&mut row, cx)? {
            runtime::check_interrupts().map_err(crate::error::interrupted)?;
            project(&core.keys, Rows::one(&row), cx, &mut key)?;
            for (set, members) in core.sets.iter().enumerate() {
                let masked: Vec<Datum> = key
                    .iter()
                    .enumerate()
                    .map(|(i, v)| if members.contains(&i) { v.clone() } else { Datum::Null })
                    .collect();
                let hash = core.hash_key(set, &masked);
                let Groups { by_hash, list, bytes } = &mut groups;
                let chain = by_hash.entry(hash).or_default();
                let known = chain.iter().copied().find(|i| {
                    let group = &list[*i as usize];
                    group.set == set && core.same_key(&group.key, &masked)
                });
                let at = match known {
                    Some(at) => at as usize,
                    None if *bytes > limit && core.sets.len() == 1 => {
                        files.resize_with(PARTITIONS, || None);
                        let part = (hash >> (20 + depth * 5)) as usize % PARTITIONS;
                        if files[part].is_none() {
                            files[part] = Some(SpillFile::create(cx.temp)?);
                        }
                        if let Some(file) = &mut files[part] {
                            file.write(&row)?;
                        }
                        continue;
                    }
                    None => {
                        *bytes += row_bytes(&masked) + row_bytes(&row) + 64 * core.calls.len() + 64;
                        list.push(core.group(set, masked, &row));
                        chain.push(list.len() as u32 - 1);
                        list.len() - 1
                    }
                };
                core.add(&mut list[at], &row, cx)?;
            }
        }
        // An empty input still has the group of the empty set.
        for (set, members) in core.sets.iter().enumerate() {
            if members.is_empty() && !groups.list.iter().any(|g| g.set == set) {
                groups.list.push(core.group(set, vec![Datum::Null; core.keys.len()], &[]));
            }
        }
        let files: Vec<SpillFile> = files.into_iter().flatten().collect();
        cx.tell(|before| {
            let (memory, spilled) = (groups.bytes as u64, files.iter().map(SpillFile::written).sum::<u64>());
            let (batches, most, disk) = match before {
                Detail::Groups { batches, kilobytes, disk } => (batches, kilobytes, disk),
                _ => (1, 0, 0),
            };
            let disk = disk + spilled.div_ceil(1024);
            let kilobytes = most.max(memory.div_ceil(1024)).max(1);
            Detail::Groups { batches: batches + files.len() as u64, kilobytes, disk }
        });
        Ok((groups.list, files))
    }

    fn start(&mut self, cx: &mut Cx<'_>) -> SqlResult<()> {
        self.state = match self.strategy {
            AggStrategy::Plain => Progress::Plain,
            AggStrategy::Sorted => Progress::Sorted(None),
            AggStrategy::Hashed | AggStrategy::Mixed => {
                let child = &mut self.child;
                let mut next = |row: &mut Vec<Datum>, cx: &mut Cx<'_>| -> SqlResult<bool> {
                    let more = child.next(cx)?;
                    if more {
                        row.clear();
                        row.extend_from_slice(child.row());
                    }
                    Ok(more)
                };
                let (groups, files) = Self::hash_all(&self.core, 0, &mut next, cx)?;
                Progress::Hashed { ready: groups.into_iter(), files }
            }
        };
        Ok(())
    }

    fn plain(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        self.state = Progress::Done;
        let mut group = self.core.group(0, Vec::new(), &[]);
        let mut first = true;
        while self.child.next(cx)? {
            runtime::check_interrupts().map_err(crate::error::interrupted)?;
            if first {
                group.first = self.child.row().to_vec();
                first = false;
            }
            self.core.add(&mut group, self.child.row(), cx)?;
        }
        self.emit(group, cx)
    }

    fn sorted(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        let Progress::Sorted(current) = &mut self.state else { return Ok(false) };
        let mut current = current.take();
        let mut key = Vec::new();
        while self.child.next(cx)? {
            runtime::check_interrupts().map_err(crate::error::interrupted)?;
            let row = self.child.row();
            project(&self.core.keys, Rows::one(row), cx, &mut key)?;
            let same = current.as_ref().is_some_and(|g| {
                self.core.order.iter().enumerate().all(|(i, k)| k.compare(&g.key[i], &key[i]).is_eq())
            });
            let done = if same {
                None
            } else {
                current.replace(Box::new(self.core.group(0, key.clone(), self.child.row())))
            };
            if let Some(group) = &mut current {
                self.core.add(group, self.child.row(), cx)?;
            }
            if let Some(group) = done
                && self.emit(*group, cx)?
            {
                self.state = Progress::Sorted(current);
                return Ok(true);
            }
        }
        self.state = Progress::Done;
        match current {
            Some(group) => self.emit(*group, cx),
            None => Ok(false),
        }
    }
}

impl Node for AggregateNode {
    fn next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        loop {
            match &mut self.state {
                Progress::Start => self.start(cx)?,
                Progress::Plain => return self.plain(cx),
                Progress::Sorted(_) => return self.sorted(cx),
                Progress::Hashed { ready, files } => {
                    if let Some(group) = ready.next() {
                        if self.emit(group, cx)? {
                            return Ok(true);
                        }
                        continue;
                    }
                    let Some(file) = files.pop() else {
                        self.state = Progress::Done;
                        return Ok(false);
                    };
                    let mut rest = std::mem::take(files);
                    let mut reader = file.into_reader()?;
                    let mut next = |row: &mut Vec<Datum>, _: &mut Cx<'_>| reader.next(row);
                    let depth = rest.len() % 7 + 1;
                    let (groups, more) = Self::hash_all(&self.core, depth, &mut next, cx)?;
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
        self.state = Progress::Start;
        self.child.rescan(cx, changed)
    }

    fn close(&mut self, cx: &mut Cx<'_>) {
        self.state = Progress::Start;
        self.child.close(cx);
    }
}
