//! Hash joins of every kind. When the inner side outgrows `work_mem`, both sides are split into batches by hash; all but the
//! first wait in temporary files.
//!
//! Files need buffers: where those of twice as many batches would take more memory than the table, the table may grow instead.
//! It grows, too, where splitting moves nothing: most of its rows have one key.

use base::SqlResult;
use eval::code::{Code, Rows, passes};
use eval::compile::Inputs;
use eval::cx::Cx;
use eval::row_store::{Place, RowStore};
use eval::spill::{SpillFile, SpillReader, row_bytes};
use plan::explain::Detail;
use plan::{Expr, JoinClause, JoinKind, ParamId, Plan};
use smallvec::SmallVec;
use tuple::Datum;
use types::{Equality, Hash};

use super::{BoxNode, Builder, Node, Projection, affected, depends_on};
use crate::batch::join;
use crate::row_key::mix;

/// How one column of the keys is hashed and compared.
struct KeyCode {
    outer: Code,
    inner: Code,
    hash: Hash,
    equal: Equality,
}

/// A part of a key: in the row if it is a column, else computed before.
#[inline]
fn part<'v>(code: &Code, row: &'v [Datum], computed: &'v Datum) -> &'v Datum {
    match code {
        Code::Outer(column) => &row[*column],
        _ => computed,
    }
}

/// A hash join; the table is built from the inner side.
pub fn build<'p>(
    builder: &mut Builder<'p>,
    plan: &'p Plan,
    (kind, inner_unique): (JoinKind, bool),
    outer: &'p Plan,
    inner: &'p Plan,
    hash: &[JoinClause],
    clauses: &[Expr],
) -> SqlResult<BoxNode> {
    builder.batches = false;
    if builder.takes_batches_of(plan) {
        let (kind, sides) = ((kind, inner_unique), (outer, inner));
        if let Some(node) = join::build(builder, plan, kind, sides, hash, clauses)? {
            return Ok(node);
        }
    }
    let inputs = Inputs::two(&outer.output, &inner.output);
    let compiler = builder.compiler();
    let mut keys = Vec::new();
    for clause in hash {
        let type_oid = clause.outer.type_oid();
        let of = builder.statement.types.comparator_of(&clause.outer)?;
        let none = || base::SqlError::internal("hash join over a type that cannot be hashed");
        keys.push(KeyCode {
            outer: compiler.expr(&clause.outer, Inputs::one(&outer.output))?,
            inner: compiler.expr(&clause.inner, Inputs::one(&inner.output))?,
            hash: of.hash.ok_or_else(none)?,
            equal: if type_oid == clause.inner.type_oid() {
                of.equality.ok_or_else(none)?
            } else {
                Equality::Plain(same_int)
            },
        });
    }
    let clauses = compiler.list(clauses, inputs)?;
    let projection = builder.projection(plan, inputs)?;
    let inner_depends = depends_on(builder.statement, inner);
    Ok(Box::new(HashJoin {
        kind,
        inner_unique,
        keys,
        clauses,
        projection,
        inner_depends,
        outer_nulls: vec![Datum::Null; outer.output.len()],
        inner_nulls: vec![Datum::Null; inner.output.len()],
        outer: builder.build(outer)?,
        inner: builder.build(inner)?,
        table: None,
        phase: Phase::Probe,
        spilled: Vec::new(),
        probe_key: Vec::new(),
        probe_hash: 0,
        chain: NONE,
        matched: false,
        outer_files: Vec::new(),
        reading: None,
    }))
}

fn same_int(a: &Datum, b: &Datum) -> bool {
    let int = |v: &Datum| match v {
        Datum::Int2(n) => Some(i64::from(*n)),
        Datum::Int4(n) => Some(i64::from(*n)),
        Datum::Int8(n) => Some(*n),
        _ => None,
    };
    int(a).is_some() && int(a) == int(b)
}

const NONE: u32 = u32::MAX;

/// Buckets of a new table.
const FIRST_BUCKETS: usize = 1024;

struct Entry {
    hash: u64,
    next: u32,
    matched: bool,
    /// Key, NULL where a part is a column.
    key: Key,
    row: Vec<Datum>,
}

type Key = SmallVec<[Datum; 1]>;

/// The inner side.
struct Table {
    buckets: Vec<u32>,
    entries: Vec<Entry>,
    bytes: usize,
    /// The most that `bytes` has been.
    most: usize,
    /// Number of batches, a power of two; 1 while everything is in memory.
    batches: usize,
    batch: usize,
    files: Vec<Option<SpillFile>>,
    /// Bytes that the table may take.
    limit: usize,
    /// Inner rows with NULL keys: they match nothing, but RIGHT and FULL joins give them.
    unmatched: RowStore,
    place: Place,
}

#[derive(PartialEq)]
enum Phase {
    Probe,
    Unmatched(usize),
    Done,
}

struct HashJoin {
    kind: JoinKind,
    /// No second inner row matches.
    inner_unique: bool,
    keys: Vec<KeyCode>,
    clauses: Box<[Code]>,
    projection: Projection,
    inner_depends: Vec<ParamId>,
    outer_nulls: Vec<Datum>,
    inner_nulls: Vec<Datum>,
    outer: BoxNode,
    inner: BoxNode,
    table: Option<Box<Table>>,
    phase: Phase,
    /// The outer row if it comes from a file; else it is the outer node's.
    spilled: Vec<Datum>,
    probe_key: Vec<Datum>,
    probe_hash: u64,
    chain: u32,
    matched: bool,
    outer_files: Vec<Option<SpillFile>>,
    reading: Option<SpillReader>,
}

/// The value of a part of a key that is no column.
#[inline]
fn computed(code: &Code, row: &[Datum], cx: &mut Cx<'_>) -> SqlResult<Datum> {
    match code {
        Code::Outer(_) => Ok(Datum::Null),
        code => code.eval(Rows::one(row), cx),
    }
}

/// The outer row under way.
#[inline]
fn probe<'r>(reading: &Option<SpillReader>, spilled: &'r [Datum], outer: &'r BoxNode) -> &'r [Datum] {
    if reading.is_some() { spilled } else { outer.row() }
}

impl Table {
    fn new(limit: usize) -> Table {
        Table {
            buckets: vec![NONE; FIRST_BUCKETS],
            entries: Vec::new(),
            bytes: 0,
            most: 0,
            batches: 1,
            batch: 0,
            files: Vec::new(),
            limit,
            unmatched: RowStore::default(),
            place: Place::default(),
        }
    }

    /// Tells EXPLAIN of the largest size that the table had.
    fn tell(&self, cx: &mut Cx<'_>) {
        cx.tell(|before| {
            let memory = (self.most + size_of_val(&self.buckets[..])).div_ceil(1024) as u64;
            let (now, batches) = (self.buckets.len() as u64, self.batches as u64);
            match before {
                Detail::Hash { buckets, kilobytes, .. } => Detail::Hash {
                    buckets: [FIRST_BUCKETS as u64, now.max(buckets[1])],
                    batches: [1, batches],
                    kilobytes: kilobytes.max(memory),
                },
                _ => Detail::Hash {
                    buckets: [FIRST_BUCKETS as u64, now],
                    batches: [1, batches],
                    kilobytes: memory,
                },
            }
        });
    }

    fn batch_of(&self, hash: u64) -> usize {
        (hash >> 40) as usize & (self.batches - 1)
    }

    fn insert(&mut self, hash: u64, key: Key, row: Vec<Datum>) {
        if self.entries.len() >= self.buckets.len() {
            self.buckets = vec![NONE; self.buckets.len() * 4];
            for i in 0..self.entries.len() {
                let bucket = self.entries[i].hash as usize & (self.buckets.len() - 1);
                self.entries[i].next = self.buckets[bucket];
                self.buckets[bucket] = i as u32;
            }
        }
        self.bytes += row_bytes(&row) + row_bytes(&key) + size_of::<Entry>();
        self.most = self.most.max(self.bytes);
        let bucket = hash as usize & (self.buckets.len() - 1);
        let next = std::mem::replace(&mut self.buckets[bucket], self.entries.len() as u32);
        self.entries.push(Entry { hash, next, matched: false, key, row });
    }

    /// Doubles the number of batches and moves rows of later ones to files.
    fn split(&mut self, cx: &Cx<'_>) -> SqlResult<()> {
        // Two files a batch.
        if self.batches * 4 * SpillFile::DEALT_CHUNK > self.limit {
            self.limit *= 2;
            return Ok(());
        }
        self.batches *= 2;
        let before = self.entries.len();
        self.files.resize_with(self.batches, || None);
        let entries = std::mem::take(&mut self.entries);
        self.buckets.fill(NONE);
        self.bytes = 0;
        for entry in entries {
            let batch = self.batch_of(entry.hash);
            if batch == self.batch {
                self.insert(entry.hash, entry.key, entry.row);
            } else {
                self.put(batch, &entry.row, cx)?;
            }
        }
        if self.entries.len() == before || self.entries.is_empty() {
            self.limit *= 2;
        }
        Ok(())
    }

    fn put(&mut self, batch: usize, row: &[Datum], cx: &Cx<'_>) -> SqlResult<()> {
        if self.files[batch].is_none() {
            self.files[batch] = Some(SpillFile::create_dealt(cx.env.temp)?);
        }
        self.files[batch].as_mut().map_or(Ok(()), |f| f.write(row))
    }
}

impl HashJoin {
    fn keeps_inner(&self) -> bool {
        matches!(self.kind, JoinKind::Right | JoinKind::Full | JoinKind::RightAnti)
    }

    fn keeps_outer(&self) -> bool {
        matches!(self.kind, JoinKind::Left | JoinKind::Full | JoinKind::Anti)
    }

    /// Key of an inner row and its hash; `None` if a part is NULL.
    fn inner_key(&self, row: &[Datum], cx: &mut Cx<'_>) -> SqlResult<Option<(u64, Key)>> {
        let mut hash = 0;
        let mut key = Key::with_capacity(self.keys.len());
        for code in &self.keys {
            key.push(computed(&code.inner, row, cx)?);
            let value = part(&code.inner, row, &key[key.len() - 1]);
            if value.is_null() {
                return Ok(None);
            }
            hash = mix(hash, code.hash.hash(value));
        }
        Ok(Some((hash, key)))
    }

    fn add_inner(&self, table: &mut Table, row: Vec<Datum>, cx: &mut Cx<'_>) -> SqlResult<()> {
        let Some((hash, key)) = self.inner_key(&row, cx)? else {
            if self.keeps_inner() {
                table.unmatched.push(row, cx.env.work_mem, cx.env.temp)?;
            }
            return Ok(());
        };
        let batch = table.batch_of(hash);
        if batch != table.batch {
            return table.put(batch, &row, cx);
        }
        table.insert(hash, key, row);
        if table.bytes > table.limit {
            table.split(cx)?;
        }
        Ok(())
    }

    fn build_table(&mut self, cx: &mut Cx<'_>) -> SqlResult<()> {
        let mut table = Table::new(cx.env.hash_mem);
        while self.inner.next(cx)? {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            let row = self.inner.row().to_vec();
            self.add_inner(&mut table, row, cx)?;
        }
        self.outer_files.clear();
        self.outer_files.resize_with(table.batches, || None);
        table.tell(cx);
        self.table = Some(Box::new(table));
        Ok(())
    }

    /// Moves to the next outer row of this batch; false at its end.
    fn next_outer(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        loop {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            let more = match &mut self.reading {
                Some(reader) => reader.next(&mut self.spilled)?,
                None if self.table.as_ref().is_some_and(|t| t.batch == 0) => self.outer.next(cx)?,
                None => false,
            };
            if !more {
                return Ok(false);
            }
            let probe = probe(&self.reading, &self.spilled, &self.outer);
            let mut hash = 0;
            let mut null = false;
            self.probe_key.clear();
            for code in &self.keys {
                self.probe_key.push(computed(&code.outer, probe, cx)?);
                let value = part(&code.outer, probe, &self.probe_key[self.probe_key.len() - 1]);
                null |= value.is_null();
                if !null {
                    hash = mix(hash, code.hash.hash(value));
                }
            }
            self.matched = false;
            self.probe_hash = hash;
            self.chain = NONE;
            let Some(table) = &mut self.table else { return Ok(false) };
            if null {
                if self.keeps_outer() {
                    return Ok(true);
                }
                continue;
            }
            let batch = table.batch_of(hash);
            if batch != table.batch {
                self.outer_files.resize_with(table.batches, || None);
                if self.outer_files[batch].is_none() {
                    self.outer_files[batch] = Some(SpillFile::create_dealt(cx.env.temp)?);
                }
                if let Some(file) = &mut self.outer_files[batch] {
                    file.write(probe)?;
                }
                continue;
            }
            self.chain = table.buckets[hash as usize & (table.buckets.len() - 1)];
            return Ok(true);
        }
    }

    /// Loads the next batch; false if there is none.
    fn next_batch(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        let Some(mut table) = self.table.take() else { return Ok(false) };
        table.batch += 1;
        if table.batch >= table.batches {
            self.table = Some(table);
            return Ok(false);
        }
        table.entries.clear();
        table.unmatched.clear();
        table.place = Place::default();
        table.buckets.fill(NONE);
        table.bytes = 0;
        if let Some(file) = table.files[table.batch].take() {
            let mut reader = file.into_reader()?;
            let mut row = Vec::new();
            while reader.next(&mut row)? {
                runtime::check_interrupts().map_err(eval::error::interrupted)?;
                self.add_inner(&mut table, std::mem::take(&mut row), cx)?;
            }
        }
        self.outer_files.resize_with(table.batches, || None);
        let file = match self.outer_files[table.batch].take() {
            Some(file) => file,
            None => SpillFile::create(cx.env.temp)?,
        };
        self.reading = Some(file.into_reader()?);
        table.tell(cx);
        self.table = Some(table);
        Ok(true)
    }

    /// Looks along the chain for a match of the probe row; true if a row is to be given.
    fn scan_chain(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        let Some(mut table) = self.table.take() else { return Ok(false) };
        let found = self.scan_chain_in(&mut table, cx);
        self.table = Some(table);
        found
    }

    fn scan_chain_in(&mut self, table: &mut Table, cx: &mut Cx<'_>) -> SqlResult<bool> {
        let probe = probe(&self.reading, &self.spilled, &self.outer);
        while self.chain != NONE {
            // A chain may be long and none of its rows match.
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            let at = self.chain as usize;
            self.chain = table.entries[at].next;
            let entry = &table.entries[at];
            let same = entry.hash == self.probe_hash
                && self.keys.iter().zip(&self.probe_key).zip(&entry.key).all(|((k, a), b)| {
                    k.equal.equal(part(&k.outer, probe, a), part(&k.inner, &entry.row, b))
                });
            let skip = self.kind == JoinKind::RightSemi && entry.matched;
            if !same || skip {
                continue;
            }
            let rows = Rows { outer: probe, inner: &entry.row };
            if !passes(&self.clauses, rows, cx)? {
                if cx.state.counters.is_some() {
                    cx.note_unjoined();
                }
                continue;
            }
            self.matched = true;
            table.entries[at].matched = true;
            let rows = Rows { outer: probe, inner: &table.entries[at].row };
            match self.kind {
                JoinKind::Anti => {
                    self.chain = NONE;
                    return Ok(false);
                }
                JoinKind::RightAnti => continue,
                JoinKind::Semi => self.chain = NONE,
                _ if self.inner_unique => self.chain = NONE,
                _ => {}
            }
            if self.projection.apply(rows, cx)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Inner rows of this batch that matched nothing.
    fn next_unmatched(&mut self, mut at: usize, cx: &mut Cx<'_>) -> SqlResult<Option<usize>> {
        let Some(table) = &mut self.table else { return Ok(None) };
        loop {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            let row = match table.entries.get(at) {
                Some(entry) if entry.matched => {
                    at += 1;
                    continue;
                }
                Some(entry) => &entry.row[..],
                None => match table.unmatched.get(&mut table.place, (at - table.entries.len()) as u64)? {
                    Some(row) => row,
                    None => return Ok(None),
                },
            };
            at += 1;
            if self.projection.apply(Rows { outer: &self.outer_nulls, inner: row }, cx)? {
                return Ok(Some(at));
            }
        }
    }
}

impl Node for HashJoin {
    fn next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        if self.table.is_none() {
            self.build_table(cx)?;
        }
        loop {
            match self.phase {
                Phase::Done => return Ok(false),
                Phase::Unmatched(at) => match self.next_unmatched(at, cx)? {
                    Some(next) => {
                        self.phase = Phase::Unmatched(next);
                        return Ok(true);
                    }
                    None => self.phase = if self.next_batch(cx)? { Phase::Probe } else { Phase::Done },
                },
                Phase::Probe => {
                    if self.scan_chain(cx)? {
                        return Ok(true);
                    }
                    if !self.probe_key.is_empty() && !self.matched && self.keeps_outer() {
                        self.matched = true;
                        let outer = probe(&self.reading, &self.spilled, &self.outer);
                        let rows = Rows { outer, inner: &self.inner_nulls };
                        if self.projection.apply(rows, cx)? {
                            return Ok(true);
                        }
                    }
                    if self.next_outer(cx)? {
                        continue;
                    }
                    self.probe_key.clear();
                    self.phase = if self.keeps_inner() {
                        Phase::Unmatched(0)
                    } else if self.next_batch(cx)? {
                        Phase::Probe
                    } else {
                        Phase::Done
                    };
                }
            }
        }
    }

    fn row(&self) -> &[Datum] {
        self.projection.row()
    }

    fn rescan(&mut self, cx: &mut Cx<'_>, changed: &[ParamId]) -> SqlResult<()> {
        let reusable = !changed.is_empty()
            && !affected(&self.inner_depends, changed)
            && self.table.as_ref().is_some_and(|t| t.batches == 1);
        self.phase = Phase::Probe;
        self.probe_key.clear();
        (self.chain, self.matched, self.reading) = (NONE, false, None);
        self.outer_files.clear();
        if let Some(table) = self.table.as_mut().filter(|_| reusable) {
            table.batch = 0;
            table.entries.iter_mut().for_each(|e| e.matched = false);
        } else {
            self.table = None;
            self.inner.rescan(cx, changed)?;
        }
        self.outer.rescan(cx, changed)
    }

    fn close(&mut self, cx: &mut Cx<'_>) {
        self.table = None;
        self.outer_files = Vec::new();
        self.reading = None;
        self.outer.close(cx);
        self.inner.close(cx);
    }
}
