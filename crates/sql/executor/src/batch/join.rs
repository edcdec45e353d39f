//! Hash joins over batches.
//!
//! # What
//! The inner side is read first, by batches where it gives some, and kept in one flat piece of memory ([`InnerRows`]). A batch of the outer side is then
//! looked up at once: its keys are computed and hashed by column, and the pairs of rows that are found become a batch of their own, with copies of the columns that
//! somebody reads. Conditions and output are computed over that. Nodes above take it as a batch or row by row.
//!
//! Where the inner side outgrows its memory, the rows of both sides are dealt out to files by hash. The first part stays in memory; the rows of
//! the others come back as batches, one part after the other.
//!
//! # Invariants
//! 1. The rows are those of the join over rows, in its order as long as nothing is dealt out.
//! 2. If something fails, nothing is given of the batch, and it is done again with one outer row, and one pair of rows, at a time; so the error
//!    that comes first is found, behind all rows before it.
//! 3. An outer row is dealt out once: that fails for good.

use base::SqlResult;
use eval::compile::Inputs;
use eval::cx::Cx;
use eval::node::{Batched, BoxNode, Node};
use eval::row_store::{Place, RowStore};
use eval::spill::{SpillFile, SpillReader, TempDir};
use plan::explain::Detail;
use plan::{Expr, JoinClause, JoinKind, ParamId, Plan};
use tuple::{Batch, Column, Datum, Physical};

use super::calls::reads_of;
use super::condition::Condition;
use super::inner::{InnerRows, NO_KEY, NONE};
use super::keys::{KeyForm, finish};
use super::rows::{CHUNK, Gathered, LONG, copy_rows, datums, number};
use super::vector::Vector;
use crate::nodes::{Builder, affected, depends_on};

/// A hash join over batches; none if it wants rows.
pub(crate) fn build<'p>(
    builder: &mut Builder<'p>,
    plan: &'p Plan,
    kind: (JoinKind, bool),
    (outer, inner): (&'p Plan, &'p Plan),
    hash: &[JoinClause],
    clauses: &[Expr],
) -> SqlResult<Option<BoxNode>> {
    let Some(code) = JoinCode::new(builder, plan, kind, (outer, inner), hash, clauses)? else {
        return Ok(None);
    };
    let inner_depends = depends_on(builder.statement, inner);
    builder.batches = true;
    let outer_node = builder.build(outer)?;
    builder.batches = builder.takes_batches_of(inner);
    let gives_batches = builder.batches;
    let inner_node = builder.build(inner)?;
    builder.batches = false;
    Ok(Some(Box::new(BatchJoin {
        rows: InnerRows::new(&code.types),
        arriving: Gathered::of(outer.output.iter().map(Expr::type_oid)),
        arriving_inner: Gathered::new(inner.output.len()),
        stored: Gathered::of(code.types.iter().copied()),
        code,
        outer: outer_node,
        inner: inner_node,
        gives_batches,
        inner_depends,
        is_built: false,
        parts: Parts::default(),
        unkeyed: RowStore::default(),
        source: None,
        held: None,
        phase: Phase::Probe,
        given: 0,
        row: Vec::new(),
    })))
}

/// One column of the keys.
struct Key {
    form: KeyForm,
    outer: Vector,
    inner: Vector,
    made: (Column, Column),
}

/// A column of joined rows that is read.
#[derive(Clone, Copy)]
enum Read {
    /// The outer side's column of that number.
    Outer(usize),
    /// A column of the joined rows, and which it is of [`InnerRows`].
    Inner(usize, usize),
}

/// Pairs of an outer row of a batch and an inner one or [`NONE`].
#[derive(Default)]
struct Pairs {
    outer: Vec<u16>,
    inner: Vec<u32>,
}

impl Pairs {
    fn clear(&mut self) {
        self.outer.clear();
        self.inner.clear();
    }

    #[inline]
    fn push(&mut self, outer: u16, inner: u32) {
        self.outer.push(outer);
        self.inner.push(inner);
    }

    fn len(&self) -> usize {
        self.inner.len()
    }
}

/// Where the first row of a batch goes on that has had some of its pairs.
#[derive(Clone, Copy, Default)]
struct Resumed {
    /// The next inner row.
    next: Option<u32>,
    matched: bool,
}

/// What is computed, and the memory for it.
struct JoinCode {
    kind: JoinKind,
    inner_unique: bool,
    keys: Vec<Key>,
    /// Types of the columns that are kept of inner rows: the keys, then those of `kept`.
    types: Vec<base::Oid>,
    kept: Vec<usize>,
    /// Columns of the outer side that are read.
    outer_reads: Vec<usize>,
    clauses: Vec<Condition>,
    clause_reads: Vec<Read>,
    filter: Vec<Condition>,
    outputs: Vec<Vector>,
    output_reads: Vec<Read>,
    /// Columns of both sides, then what is computed.
    columns: Vec<Column>,
    /// Number of the columns of both sides.
    joined: usize,
    identity: Vec<usize>,
    /// Where each column of the output stands.
    places: Vec<usize>,
    /// Byte strings of `columns`.
    bytes: Vec<u8>,
    numbers: Vec<u16>,
    /// Outer rows under way, their hashes, and the first inner row with the key of each.
    probe: Vec<u16>,
    hashes: Vec<u64>,
    heads: Vec<u32>,
    found: Pairs,
    /// Which of the pairs found pass the clauses.
    passed: Vec<bool>,
    chosen: Pairs,
    /// Inner rows that the batch under way has marked as matched.
    marked: Vec<u32>,
    /// Rows of the batch that is given.
    given: Vec<u16>,
}

/// What became of outer rows.
enum Outcome {
    /// So many are done; the next one goes on there.
    Done(usize, Resumed),
    /// Something failed.
    Failed,
}

impl JoinCode {
    fn new(
        builder: &Builder<'_>,
        plan: &Plan,
        (kind, inner_unique): (JoinKind, bool),
        (outer, inner): (&Plan, &Plan),
        hash: &[JoinClause],
        clauses: &[Expr],
    ) -> SqlResult<Option<JoinCode>> {
        let (compiler, user_types) = (builder.compiler(), &builder.statement.types);
        let vector = |expr: &Expr, of: &Plan| -> SqlResult<Vector> {
            let code = compiler.expr(expr, Inputs::one(&of.output))?;
            Ok(Vector::new(code, &reads_of(expr, &of.output)))
        };
        let mut keys = Vec::new();
        for clause in hash {
            let Some(form) = KeyForm::of_both(user_types, &clause.outer, &clause.inner)? else {
                return Ok(None);
            };
            let (outer, inner) = (vector(&clause.outer, outer)?, vector(&clause.inner, inner)?);
            let made = (outer.output(), inner.output());
            keys.push(Key { form, outer, inner, made });
        }
        let joined: Vec<Expr> = outer.output.iter().chain(&inner.output).cloned().collect();
        let inputs = Inputs::one(&joined);
        let condition = |expr: &Expr| -> SqlResult<Condition> {
            Ok(Condition::new(compiler.expr(expr, inputs)?, &reads_of(expr, &joined), user_types))
        };
        let mut columns: Vec<Column> = joined.iter().map(|_| Column::of_datums(Physical::Varlena)).collect();
        let (mut outputs, mut places) = (Vec::new(), Vec::new());
        for expr in &plan.output {
            let vector = Vector::new(compiler.expr(expr, inputs)?, &reads_of(expr, &joined));
            places.push(vector.as_column().unwrap_or(columns.len()));
            if vector.as_column().is_none() {
                columns.push(vector.output());
                outputs.push(vector);
            }
        }
        let mut types: Vec<_> = hash.iter().map(|clause| clause.inner.type_oid()).collect();
        let (mut kept, mut outer_reads) = (Vec::new(), Vec::new());
        let mut reads = |exprs: &mut dyn Iterator<Item = &Expr>| {
            let mut numbers: Vec<usize> = exprs.flat_map(|expr| reads_of(expr, &joined)).collect();
            numbers.sort_unstable();
            numbers.dedup();
            let read = |number: usize| match number.checked_sub(outer.output.len()) {
                None => {
                    outer_reads.push(number);
                    Read::Outer(number)
                }
                Some(column) => {
                    let key = keys.iter().position(|key| key.inner.as_column() == Some(column));
                    let known = || kept.iter().position(|kept| *kept == column).map(|at| keys.len() + at);
                    let place = key.or_else(known).unwrap_or_else(|| {
                        kept.push(column);
                        types.push(inner.output[column].type_oid());
                        types.len() - 1
                    });
                    Read::Inner(number, place)
                }
            };
            numbers.into_iter().map(read).collect::<Vec<_>>()
        };
        let clause_reads = reads(&mut clauses.iter());
        let output_reads = reads(&mut plan.filter.iter().chain(&plan.output));
        outer_reads.extend(hash.iter().flat_map(|clause| reads_of(&clause.outer, &outer.output)));
        outer_reads.sort_unstable();
        outer_reads.dedup();
        Ok(Some(JoinCode {
            kind,
            inner_unique,
            keys,
            types,
            kept,
            outer_reads,
            clauses: clauses.iter().map(condition).collect::<SqlResult<_>>()?,
            clause_reads,
            filter: plan.filter.iter().map(condition).collect::<SqlResult<_>>()?,
            outputs,
            output_reads,
            columns,
            identity: (0..joined.len()).collect(),
            joined: joined.len(),
            places,
            bytes: Vec::new(),
            numbers: Vec::new(),
            probe: Vec::new(),
            hashes: Vec::new(),
            heads: Vec::new(),
            found: Pairs::default(),
            passed: Vec::new(),
            chosen: Pairs::default(),
            marked: Vec::new(),
            given: Vec::new(),
        }))
    }

    fn keeps_inner(&self) -> bool {
        matches!(self.kind, JoinKind::Right | JoinKind::Full | JoinKind::RightAnti)
    }

    fn keeps_outer(&self) -> bool {
        matches!(self.kind, JoinKind::Left | JoinKind::Full | JoinKind::Anti)
    }

    /// Whether it is known of inner rows which of them have matched.
    fn marks(&self) -> bool {
        self.keeps_inner() || self.kind == JoinKind::RightSemi
    }

    /// Whether a second match of an outer row means nothing.
    fn wants_one(&self) -> bool {
        match self.kind {
            JoinKind::Semi | JoinKind::Anti => true,
            JoinKind::RightSemi | JoinKind::RightAnti => false,
            _ => self.inner_unique,
        }
    }

    /// Computes the keys of outer rows, and their hashes.
    fn hash_outer(&mut self, batch: &Batch<'_>, cx: &mut Cx<'_>) -> SqlResult<()> {
        for key in &mut self.keys {
            key.outer.eval(batch, batch.rows, cx, &mut key.made.0)?;
        }
        let columns = self.keys.iter().map(|key| (&key.form, key.outer.values(batch, &key.made.0)));
        hash_columns(columns, batch, &mut self.hashes);
        Ok(())
    }

    /// The same of inner rows.
    fn hash_inner(&mut self, batch: &Batch<'_>, cx: &mut Cx<'_>) -> SqlResult<()> {
        for at in 0..self.keys.len() {
            let key = &mut self.keys[at];
            if let Err(error) = key.inner.eval(batch, batch.rows, cx, &mut key.made.1) {
                return Err(self.first_error(batch, cx).err().unwrap_or(error));
            }
        }
        let columns = self.keys.iter().map(|key| (&key.form, key.inner.values(batch, &key.made.1)));
        hash_columns(columns, batch, &mut self.hashes);
        Ok(())
    }

    /// Computes the keys of inner rows one after the other.
    fn first_error(&mut self, batch: &Batch<'_>, cx: &mut Cx<'_>) -> SqlResult<()> {
        for row in batch.rows {
            for key in &mut self.keys {
                key.inner.eval(batch, std::slice::from_ref(row), cx, &mut key.made.1)?;
            }
        }
        Ok(())
    }

    /// Joins outer rows; `one`: with one inner row at most.
    fn join(
        &mut self,
        (batch, one): (&Batch<'_>, bool),
        (rows, parts): (&mut InnerRows, &mut Parts),
        resumed: Resumed,
        cx: &mut Cx<'_>,
    ) -> SqlResult<Outcome> {
        // What interrupts it here is told when it is done again.
        let _kept = (!one).then(runtime::keep_interrupts);
        self.probe.clear();
        self.probe.extend_from_slice(batch.rows);
        let failed = |error| if one { Err(error) } else { Ok(Outcome::Failed) };
        if let Err(error) = self.hash_outer(batch, cx) {
            return failed(error);
        }
        parts.deal_outer(batch, (&mut self.probe, &mut self.hashes), &self.outer_reads, cx.env.temp)?;
        if self.probe.is_empty() {
            return Ok(Outcome::Done(batch.rows.len(), Resumed::default()));
        }
        let probe = std::mem::take(&mut self.probe);
        let done = self.join_rows(&Batch { rows: &probe, ..*batch }, rows, (resumed, one), cx);
        self.probe = probe;
        if let Err(error) = done {
            self.given.clear();
            self.marked.drain(..).for_each(|row| rows.set_matched(row, false));
            return failed(error);
        }
        done
    }

    fn join_rows(
        &mut self,
        batch: &Batch<'_>,
        rows: &mut InnerRows,
        (resumed, one): (Resumed, bool),
        cx: &mut Cx<'_>,
    ) -> SqlResult<Outcome> {
        let (mut done, next) = self.find(batch, rows, (resumed, one));
        self.test_clauses(batch, rows, cx)?;
        let mut going = Resumed::default();
        let mut unjoined = 0;
        if self.kind == JoinKind::Inner && self.clauses.is_empty() {
            std::mem::swap(&mut self.found, &mut self.chosen);
        } else {
            (going.matched, unjoined) = self.choose(batch.rows, rows, (done, resumed.matched));
        }
        if let Some(next) = next {
            match going.matched && self.wants_one() {
                true => (done, going) = (done + 1, Resumed::default()),
                false => going.next = Some(next),
            }
        }
        self.emit(Some(batch), rows, cx)?;
        if unjoined > 0 {
            cx.note_unjoined_rows(unjoined);
        }
        Ok(Outcome::Done(done, going))
    }

    /// Finds pairs with equal keys, about [`CHUNK`] of them: how many outer rows have all of theirs, and the inner row with which the next one goes on.
    fn find(
        &mut self,
        batch: &Batch<'_>,
        rows: &InnerRows,
        (resumed, one): (Resumed, bool),
    ) -> (usize, Option<u32>) {
        let columns = self.keys.iter().map(|key| (&key.form, key.outer.values(batch, &key.made.0)));
        rows.find(&columns.collect::<Vec<_>>(), batch, &self.hashes, &mut self.heads);
        let limit = if one { 1 } else { (LONG / rows.longest.max(1)).clamp(1, CHUNK) };
        let first_only = self.clauses.is_empty() && self.wants_one();
        let unmatched_only = self.kind == JoinKind::RightSemi;
        self.found.clear();
        for (at, row) in batch.rows.iter().enumerate() {
            let mut next = resumed.next.filter(|_| at == 0).unwrap_or(self.heads[at]);
            while next != NONE {
                if !(unmatched_only && rows.is_matched(next)) {
                    self.found.push(*row, next);
                }
                next = if first_only { NONE } else { rows.next(next) };
                if self.found.len() >= limit && next != NONE {
                    return (at, Some(next));
                }
            }
            // Nor more outer rows, each of which may be given without a match.
            if self.found.len() >= limit || at + 1 == CHUNK {
                return (at + 1, None);
            }
        }
        (batch.rows.len(), None)
    }

    /// Tells which of the pairs found pass the clauses.
    fn test_clauses(&mut self, batch: &Batch<'_>, rows: &InnerRows, cx: &mut Cx<'_>) -> SqlResult<()> {
        if self.clauses.is_empty() {
            return Ok(());
        }
        self.bytes.clear();
        let pairs = (&self.found, Some(batch), rows);
        gather(&self.clause_reads, pairs, &mut self.columns, &mut self.bytes);
        let count = self.found.len();
        number(&mut self.numbers, count);
        let joined = Batch {
            page: &self.bytes,
            rows: &[],
            columns: &self.columns[..self.joined],
            places: &self.identity,
        };
        self.given.clear();
        self.given.extend_from_slice(&self.numbers[..count]);
        refine(&mut self.clauses, &joined, cx, &mut self.given)?;
        self.passed.clear();
        self.passed.resize(count, false);
        self.given.iter().for_each(|pair| self.passed[*pair as usize] = true);
        Ok(())
    }

    /// Chooses among the pairs found what is given of each outer row, of which `done` have all their pairs. Whether the next one has matched, and how
    /// many pairs the clauses threw away.
    fn choose(
        &mut self,
        outer: &[u16],
        rows: &mut InnerRows,
        (done, first_matched): (usize, bool),
    ) -> (bool, usize) {
        self.chosen.clear();
        let (mut at, mut unjoined) = (0, 0);
        let (one, marks) = (self.wants_one(), self.marks());
        let (once, silent) =
            (self.kind == JoinKind::RightSemi, matches!(self.kind, JoinKind::Anti | JoinKind::RightAnti));
        let end = outer.len().min(done + 1);
        for (number, row) in outer[..end].iter().enumerate() {
            let mut matched = number == 0 && first_matched;
            while self.found.outer.get(at) == Some(row) {
                let inner = self.found.inner[at];
                at += 1;
                if one && matched || once && rows.is_matched(inner) {
                    continue;
                }
                if self.passed.get(at - 1) == Some(&false) && !self.clauses.is_empty() {
                    unjoined += 1;
                    continue;
                }
                matched = true;
                if marks && !rows.is_matched(inner) {
                    rows.set_matched(inner, true);
                    self.marked.push(inner);
                }
                if !silent {
                    self.chosen.push(*row, inner);
                }
            }
            if number == done {
                return (matched, unjoined);
            }
            if !matched && self.keeps_outer() {
                self.chosen.push(*row, NONE);
            }
        }
        (false, unjoined)
    }

    /// Makes a batch of the pairs chosen.
    fn emit(&mut self, batch: Option<&Batch<'_>>, rows: &InnerRows, cx: &mut Cx<'_>) -> SqlResult<()> {
        self.bytes.clear();
        gather(&self.output_reads, (&self.chosen, batch, rows), &mut self.columns, &mut self.bytes);
        let count = self.chosen.len();
        number(&mut self.numbers, count);
        self.given.clear();
        self.given.extend_from_slice(&self.numbers[..count]);
        let (joined, made) = self.columns.split_at_mut(self.joined);
        let batch = Batch { page: &self.bytes, rows: &[], columns: joined, places: &self.identity };
        refine(&mut self.filter, &batch, cx, &mut self.given)?;
        if !self.given.is_empty() {
            for (vector, out) in self.outputs.iter_mut().zip(made) {
                vector.eval(&batch, &self.given, cx, out)?;
            }
        }
        if self.given.len() < count && cx.state.counters.is_some() {
            cx.note_filtered_rows(count - self.given.len());
        }
        self.marked.clear();
        Ok(())
    }

    /// The batch that is given, from that row on.
    fn batch(&self, from: usize) -> Batch<'_> {
        Batch { page: &self.bytes, rows: &self.given[from..], columns: &self.columns, places: &self.places }
    }
}

/// Hashes of a batch's keys; [`NO_KEY`] if one of their columns is NULL.
fn hash_columns<'a>(
    columns: impl Iterator<Item = (&'a KeyForm, &'a Column)> + Clone,
    batch: &Batch<'_>,
    hashes: &mut Vec<u64>,
) {
    hashes.clear();
    hashes.resize(batch.rows.len(), 0);
    for (form, column) in columns.clone() {
        form.hash(column, batch, hashes);
    }
    hashes.iter_mut().for_each(|hash| *hash = finish(*hash).max(NO_KEY + 1));
    for (_, column) in columns.filter(|(_, column)| column.has_nulls()) {
        for (row, hash) in batch.rows.iter().zip(hashes.iter_mut()) {
            if column.is_null(*row as usize) {
                *hash = NO_KEY;
            }
        }
    }
}

fn refine(
    conditions: &mut [Condition],
    batch: &Batch<'_>,
    cx: &mut Cx<'_>,
    rows: &mut Vec<u16>,
) -> SqlResult<()> {
    for condition in conditions {
        if rows.is_empty() {
            break;
        }
        condition.refine(batch, cx, rows)?;
    }
    Ok(())
}

/// Fills columns with those of pairs. Without an outer batch its columns are NULL.
fn gather(
    reads: &[Read],
    (pairs, batch, rows): (&Pairs, Option<&Batch<'_>>, &InnerRows),
    columns: &mut [Column],
    bytes: &mut Vec<u8>,
) {
    for read in reads {
        match (*read, batch) {
            (Read::Outer(number), Some(batch)) => {
                let (column, out) = (batch.column(number), &mut columns[number]);
                copy_rows(column, batch.page, &pairs.outer, out, bytes);
            }
            (Read::Outer(number), None) => {
                let out = &mut columns[number];
                out.clear();
                datums(out).resize(pairs.len(), Datum::Null);
            }
            (Read::Inner(number, place), _) => {
                rows.gather(place, &pairs.inner, &mut columns[number], bytes);
            }
        }
    }
}

/// The parts in which rows are joined: one, or those that rows were dealt out to by hash.
#[derive(Default)]
struct Parts {
    /// A power of two.
    count: usize,
    current: usize,
    inner: Vec<Option<SpillFile>>,
    outer: Vec<Option<SpillFile>>,
    /// Bytes that the inner rows of a part may take, and the most that they took.
    limit: usize,
    most: usize,
}

impl Parts {
    fn part_of(&self, hash: u64) -> usize {
        (hash >> 40) as usize & (self.count - 1)
    }

    fn put(
        files: &mut Vec<Option<SpillFile>>,
        count: usize,
        part: usize,
        row: &[Datum],
        temp: &TempDir,
    ) -> SqlResult<()> {
        files.resize_with(count, || None);
        let file = &mut files[part];
        if file.is_none() {
            *file = Some(SpillFile::create_dealt(temp)?);
        }
        file.as_mut().map_or(Ok(()), |file| file.write(row))
    }

    /// Leaves the outer rows that belong to this part or none, and puts the others into files.
    fn deal_outer(
        &mut self,
        batch: &Batch<'_>,
        (rows, hashes): (&mut Vec<u16>, &mut Vec<u64>),
        reads: &[usize],
        temp: &TempDir,
    ) -> SqlResult<()> {
        if self.count == 1 {
            return Ok(());
        }
        let (mut kept, mut row) = (0, Vec::new());
        for at in 0..rows.len() {
            let part = self.part_of(hashes[at]);
            if hashes[at] == NO_KEY || part == self.current {
                (rows[kept], hashes[kept]) = (rows[at], hashes[at]);
                kept += 1;
                continue;
            }
            batch.row(rows[at], reads.iter().copied(), &mut row);
            Parts::put(&mut self.outer, self.count, part, &row, temp)?;
        }
        rows.truncate(kept);
        hashes.truncate(kept);
        Ok(())
    }

    /// Twice as many parts, if that helps; else more memory.
    fn split(&mut self, rows: &mut InnerRows, temp: &TempDir) -> SqlResult<()> {
        // Two files a part.
        if self.count * 4 * SpillFile::DEALT_CHUNK > self.limit {
            self.limit *= 2;
            return Ok(());
        }
        self.count *= 2;
        let before = rows.len();
        let (count, current) = (self.count, self.current);
        let part_of = |hash: u64| (hash >> 40) as usize & (count - 1);
        let files = &mut self.inner;
        rows.retain(
            |hash| part_of(hash) == current,
            |hash, row| Parts::put(files, count, part_of(hash), row, temp),
        )?;
        if rows.len() == before || rows.len() == 0 {
            self.limit *= 2;
        }
        Ok(())
    }
}

/// Outer rows that were copied, because only some of them have been joined so far.
struct Held {
    rows: Gathered,
    at: usize,
    /// Something has failed: they are joined one by one.
    one: bool,
    resumed: Resumed,
}

#[derive(Clone, Copy, PartialEq)]
enum Phase {
    Probe,
    /// Inner rows from that number on that match nothing; one by one if something has failed.
    Unmatched(usize, bool),
    /// Likewise those without a key.
    Unkeyed(u64, bool),
    PartEnd,
    Done,
}

struct BatchJoin {
    code: JoinCode,
    outer: BoxNode,
    inner: BoxNode,
    /// Whether the inner side was built to give batches.
    gives_batches: bool,
    inner_depends: Vec<ParamId>,
    rows: InnerRows,
    is_built: bool,
    parts: Parts,
    /// Inner rows without a key, where they are given in the end.
    unkeyed: RowStore,
    /// Where outer rows come from if not from the node.
    source: Option<SpillReader>,
    /// Rows that came one by one.
    arriving: Gathered,
    arriving_inner: Gathered,
    stored: Gathered,
    held: Option<Box<Held>>,
    phase: Phase,
    /// How many rows of the batch have been given.
    given: usize,
    row: Vec<Datum>,
}

impl BatchJoin {
    /// Reads the inner side.
    fn build(&mut self, cx: &mut Cx<'_>) -> SqlResult<()> {
        self.forget();
        self.parts = Parts { count: 1, limit: cx.env.hash_mem, ..Parts::default() };
        loop {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            let BatchJoin { inner, arriving_inner, code, .. } = self;
            let mut ended = None;
            let batch = match inner.batch(cx)? {
                Batched::Rows(batch) => batch,
                Batched::End => break,
                Batched::NotNow => {
                    let most = if self.gives_batches { 1 } else { CHUNK };
                    ended = some_rows(inner, most, arriving_inner, cx);
                    arriving_inner.batch(0, CHUNK)
                }
            };
            code.hash_inner(&batch, cx)?;
            let columns: Vec<&Column> = code
                .keys
                .iter()
                .map(|key| key.inner.values(&batch, &key.made.1))
                .chain(code.kept.iter().map(|column| batch.column(*column)))
                .collect();
            let into = (&mut self.rows, &mut self.parts, &mut self.unkeyed);
            add_inner(into, (&batch, &columns, &code.hashes), code.keeps_inner(), cx)?;
            match ended {
                None => {}
                Some(Ok(())) => break,
                Some(Err(error)) => return Err(error),
            }
        }
        self.index(cx)?;
        self.is_built = true;
        Ok(())
    }

    /// After the last row of a part.
    fn index(&mut self, cx: &mut Cx<'_>) -> SqlResult<()> {
        self.rows.index(&self.code.keys.iter().map(|key| &key.form).collect::<Vec<_>>())?;
        self.parts.most = self.parts.most.max(self.rows.bytes());
        let kilobytes = self.parts.most.div_ceil(1024) as u64;
        let (slots, parts) = (self.rows.slots() as u64, self.parts.count as u64);
        cx.tell(|before| {
            let (most, slots) = match before {
                Detail::Hash { buckets, kilobytes: most, .. } => (most, slots.max(buckets[1])),
                _ => (0, slots),
            };
            Detail::Hash { buckets: [slots, slots], batches: [1, parts], kilobytes: kilobytes.max(most) }
        });
        Ok(())
    }

    /// Moves to the next batch; false at the end.
    fn advance(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        if !self.is_built {
            self.build(cx)?;
        }
        loop {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            self.given = 0;
            self.code.given.clear();
            match self.phase {
                Phase::Probe => {
                    if !self.probe(cx)? {
                        let keeps = self.code.keeps_inner();
                        self.phase = if keeps { Phase::Unmatched(0, false) } else { Phase::PartEnd };
                    }
                }
                Phase::Unmatched(at, one) => self.phase = self.give_unmatched(at, one, cx)?,
                Phase::Unkeyed(at, one) => self.phase = self.give_unkeyed(at, one, cx)?,
                Phase::PartEnd => {
                    self.phase = if self.next_part(cx)? { Phase::Probe } else { Phase::Done };
                }
                Phase::Done => return Ok(false),
            }
            if !self.code.given.is_empty() {
                return Ok(true);
            }
        }
    }

    /// Joins some outer rows; false if there are no more.
    fn probe(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        let BatchJoin { code, outer, rows, parts, arriving, source, held, .. } = self;
        if let Some(some) = held {
            let batch = some.rows.batch(some.at, if some.one { 1 } else { usize::MAX });
            if !batch.rows.is_empty() {
                match code.join((&batch, some.one), (rows, parts), some.resumed, cx)? {
                    Outcome::Done(done, resumed) => {
                        some.at += done;
                        some.resumed = resumed;
                    }
                    Outcome::Failed => some.one = true,
                }
                return Ok(true);
            }
            *held = None;
        }
        let batch = match source {
            Some(reader) => {
                arriving.read(reader)?;
                arriving.batch(0, CHUNK)
            }
            None => match outer.batch(cx)? {
                Batched::Rows(batch) => batch,
                Batched::End => return Ok(false),
                Batched::NotNow => {
                    if let Some(ended) = some_rows(outer, 1, arriving, cx) {
                        return ended.map(|()| false);
                    }
                    arriving.batch(0, CHUNK)
                }
            },
        };
        if batch.rows.is_empty() {
            return Ok(false);
        }
        let (first, one, resumed) = match code.join((&batch, false), (rows, parts), Resumed::default(), cx)? {
            Outcome::Done(done, resumed) => (done, false, resumed),
            Outcome::Failed => (0, true, Resumed::default()),
        };
        if first < code.probe.len() {
            let mut copies = Gathered::new(batch.places.len());
            copies.copy(&batch, &code.outer_reads, &code.probe[first..]);
            *held = Some(Box::new(Held { rows: copies, at: 0, one, resumed }));
        }
        Ok(true)
    }

    /// Gives some inner rows of this part that match nothing.
    fn give_unmatched(&mut self, at: usize, one: bool, cx: &mut Cx<'_>) -> SqlResult<Phase> {
        let BatchJoin { code, rows, .. } = self;
        code.chosen.clear();
        let most = if one { 1 } else { CHUNK };
        let mut next = at;
        while next < rows.len() && code.chosen.len() < most {
            if !rows.is_matched(next as u32) {
                code.chosen.push(0, next as u32);
            }
            next += 1;
        }
        if code.chosen.len() == 0 {
            return Ok(Phase::Unkeyed(0, false));
        }
        Ok(if self.give_inner(one, cx)? { Phase::Unmatched(next, one) } else { Phase::Unmatched(at, true) })
    }

    /// Gives some inner rows that have no key. There they take the place of those that have one.
    fn give_unkeyed(&mut self, at: u64, one: bool, cx: &mut Cx<'_>) -> SqlResult<Phase> {
        let most = if one { 1 } else { CHUNK as u64 };
        let end = self.unkeyed.len().min(at + most);
        if at >= end {
            return Ok(Phase::PartEnd);
        }
        self.stored.clear();
        let mut place = Place::default();
        for number in at..end {
            if let Some(row) = self.unkeyed.get(&mut place, number)? {
                self.stored.push(row);
            }
        }
        let batch = self.stored.batch(0, CHUNK);
        let columns: Vec<&Column> = (0..self.code.types.len()).map(|column| batch.column(column)).collect();
        self.rows.clear();
        self.rows.append(&columns, batch.page, batch.rows, &vec![NO_KEY; batch.rows.len()])?;
        self.code.chosen.clear();
        (0..self.rows.len()).for_each(|row| self.code.chosen.push(0, row as u32));
        Ok(if self.give_inner(one, cx)? { Phase::Unkeyed(end, one) } else { Phase::Unkeyed(at, true) })
    }

    /// Gives inner rows without outer ones; false if that is to be done one by one.
    fn give_inner(&mut self, one: bool, cx: &mut Cx<'_>) -> SqlResult<bool> {
        let _kept = (!one).then(runtime::keep_interrupts);
        match self.code.emit(None, &self.rows, cx) {
            Ok(()) => Ok(true),
            Err(error) if one => Err(error),
            Err(_) => {
                self.code.given.clear();
                Ok(false)
            }
        }
    }

    /// Loads the next part; false if there is none.
    fn next_part(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        if self.parts.current + 1 >= self.parts.count {
            return Ok(false);
        }
        self.parts.current += 1;
        let current = self.parts.current;
        self.rows.clear();
        self.unkeyed.clear();
        let file = self.parts.inner.get_mut(current).and_then(Option::take);
        let mut reader = file.map(SpillFile::into_reader).transpose()?;
        while let Some(reader) = &mut reader {
            self.stored.read(reader)?;
            if self.stored.len() == 0 {
                break;
            }
            let batch = self.stored.batch(0, CHUNK);
            let code = &mut self.code;
            let columns: Vec<&Column> = (0..code.types.len()).map(|column| batch.column(column)).collect();
            let keys = code.keys.iter().zip(&columns).map(|(key, column)| (&key.form, *column));
            hash_columns(keys, &batch, &mut code.hashes);
            let into = (&mut self.rows, &mut self.parts, &mut self.unkeyed);
            add_inner(into, (&batch, &columns, &code.hashes), false, cx)?;
        }
        let file = self.parts.outer.get_mut(current).and_then(Option::take);
        let file = file.map_or_else(|| SpillFile::create(cx.env.temp), Ok)?;
        self.source = Some(file.into_reader()?);
        self.index(cx)?;
        Ok(true)
    }

    /// Lets go of the inner side.
    fn forget(&mut self) {
        self.is_built = false;
        self.rows.clear();
        self.unkeyed.clear();
        self.parts = Parts::default();
    }

    /// Goes back to before the first outer row.
    fn restart(&mut self) {
        self.phase = Phase::Probe;
        (self.held, self.source, self.given) = (None, None, 0);
        self.code.given.clear();
    }
}

/// Replaces the rows of `into` by the next ones of a node, at most so many; tells if that was all, and the error that ended it.
fn some_rows(node: &mut BoxNode, most: usize, into: &mut Gathered, cx: &mut Cx<'_>) -> Option<SqlResult<()>> {
    into.clear();
    while into.len() < most {
        match node.next(cx) {
            Ok(true) => into.push(node.row()),
            Ok(false) => return Some(Ok(())),
            Err(error) => return Some(Err(error)),
        }
    }
    None
}

/// Adds rows to the inner side, or to the files of their parts. Those without a key are kept if somebody wants them.
fn add_inner(
    (rows, parts, unkeyed): (&mut InnerRows, &mut Parts, &mut RowStore),
    (batch, columns, hashes): (&Batch<'_>, &[&Column], &[u64]),
    keeps_unkeyed: bool,
    cx: &mut Cx<'_>,
) -> SqlResult<()> {
    let values = |row: u16| -> Vec<Datum> {
        columns.iter().map(|column| column.datum(row as usize, batch.page)).collect()
    };
    let (mut here, mut their) = (Vec::new(), Vec::new());
    for (row, hash) in batch.rows.iter().zip(hashes) {
        if *hash == NO_KEY {
            if keeps_unkeyed {
                unkeyed.push(values(*row), cx.env.work_mem, cx.env.temp)?;
            }
        } else if parts.part_of(*hash) == parts.current {
            here.push(*row);
            their.push(*hash);
        } else {
            let part = parts.part_of(*hash);
            Parts::put(&mut parts.inner, parts.count, part, &values(*row), cx.env.temp)?;
        }
    }
    rows.append(columns, batch.page, &here, &their)?;
    parts.most = parts.most.max(rows.bytes());
    while rows.bytes() > parts.limit {
        parts.split(rows, cx.env.temp)?;
    }
    Ok(())
}

impl Node for BatchJoin {
    fn next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        if self.given >= self.code.given.len() && !self.advance(cx)? {
            return Ok(false);
        }
        let batch = self.code.batch(self.given);
        batch.row(batch.rows[0], 0..batch.places.len(), &mut self.row);
        self.given += 1;
        Ok(true)
    }

    fn row(&self) -> &[Datum] {
        &self.row
    }

    fn batch(&mut self, cx: &mut Cx<'_>) -> SqlResult<Batched<'_>> {
        if self.given >= self.code.given.len() && !self.advance(cx)? {
            return Ok(Batched::End);
        }
        let from = std::mem::replace(&mut self.given, self.code.given.len());
        Ok(Batched::Rows(self.code.batch(from)))
    }

    fn rescan(&mut self, cx: &mut Cx<'_>, changed: &[ParamId]) -> SqlResult<()> {
        let reusable = !changed.is_empty()
            && !affected(&self.inner_depends, changed)
            && self.is_built
            && self.unkeyed.is_empty()
            && self.parts.count == 1;
        self.restart();
        if reusable {
            (0..self.rows.len()).for_each(|row| self.rows.set_matched(row as u32, false));
        } else {
            self.forget();
            self.inner.rescan(cx, changed)?;
        }
        self.outer.rescan(cx, changed)
    }

    fn close(&mut self, cx: &mut Cx<'_>) {
        self.restart();
        self.forget();
        self.outer.close(cx);
        self.inner.close(cx);
    }
}
