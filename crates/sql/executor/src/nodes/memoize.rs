//! Memoize: the rows of a parameterised plan by the values that it was run with, so that a loop that comes again with the same values
//! does not run it again.
//!
//! # Invariants
//! 1. Kept are only complete results, each under the values of the keys that it depends on. A cell that is no key makes all of
//!    them invalid when it changes.
//! 2. Entries are in the order of their last use; together, with the one being read, they take no more than a hash table may. Who needs
//!    room drops those that were used longest ago; a result that does not fit at all is handed on without being kept.
//! 3. The child is started again only when it is needed, with all cells that changed since its last run.
//!
//! # PostgreSQL counterpart and differences
//! `nodeMemoize.c`. A result whose reading ends early is forgotten at once.

use std::collections::HashMap;

use base::{SqlError, SqlResult};
use eval::code::{Code, Rows};
use eval::compile::Inputs;
use eval::cx::Cx;
use eval::spill::{encode_row, row_bytes};
use plan::explain::Detail;
use plan::{Expr, ParamId, Plan};
use tuple::Datum;

use super::{BoxNode, Builder, Node, affected, depends_on};
use crate::row_key::RowKey;

/// Keeps the results of `child` by the values of `keys`. `binary`: values that are equal but not the same have results of their own.
/// `single`: nobody reads more than one row.
pub fn build<'p>(
    builder: &mut Builder<'p>,
    child: &'p Plan,
    keys: &[Expr],
    binary: bool,
    single: bool,
) -> SqlResult<BoxNode> {
    let none = |_| SqlError::internal("memoize over a type that cannot be hashed");
    let equality = match binary {
        true => None,
        false => Some(RowKey::of(&builder.statement.types, keys, none)?),
    };
    let mut key_cells = Vec::new();
    for key in keys {
        key.any(&mut |e| {
            if let Expr::ExecParam { id, .. } = e {
                key_cells.push(*id);
            }
            false
        });
    }
    let mut others = depends_on(builder.statement, child);
    others.retain(|cell| !key_cells.contains(cell));
    let keys = builder.compiler().list(keys, Inputs::default())?;
    let child = builder.build(child)?;
    let (cache, told) = (Cache::default(), Told::default());
    let (state, pending) = (State::Start, Vec::new());
    Ok(Box::new(Memoize { child, keys, equality, others, single, cache, state, pending, told }))
}

struct Memoize {
    child: BoxNode,
    keys: Box<[Code]>,
    /// How keys are compared; none: by their bytes.
    equality: Option<RowKey>,
    /// Cells that the child depends on beside the keys.
    others: Vec<ParamId>,
    single: bool,
    cache: Cache,
    state: State,
    /// Cells that changed since the child was started.
    pending: Vec<ParamId>,
    told: Told,
}

/// Where a run is.
enum State {
    /// The keys have not been looked up.
    Start,
    /// A result is read from the child, and kept.
    Filling { key: Key, rows: Vec<Vec<Datum>>, bytes: usize },
    /// A result is read from the child, and kept no more.
    Passing,
    /// A kept result is read: up to this row.
    Kept { entry: usize, at: usize },
    /// The result has been read.
    End,
}

/// What EXPLAIN ANALYZE hears.
#[derive(Clone, Copy, Default)]
struct Told {
    hits: u64,
    misses: u64,
    evictions: u64,
    overflows: u64,
    bytes: usize,
}

/// The values of the keys.
struct Key {
    hash: u64,
    values: Vec<Datum>,
}

/// A complete result.
struct Entry {
    key: Key,
    rows: Vec<Vec<Datum>>,
    bytes: usize,
    /// The entries that were used before and after it.
    older: Option<usize>,
    newer: Option<usize>,
}

/// Complete results, from the one that was used longest ago to the latest.
#[derive(Default)]
struct Cache {
    entries: Vec<Option<Entry>>,
    free: Vec<usize>,
    by_hash: HashMap<u64, Vec<usize>>,
    oldest: Option<usize>,
    newest: Option<usize>,
    bytes: usize,
}

impl Cache {
    fn clear(&mut self) {
        *self = Cache::default();
    }

    /// The entry of a key, which becomes the latest.
    fn look_up(&mut self, key: &Key, equality: Option<&RowKey>) -> Option<usize> {
        let same =
            |entry: &&usize| self.entries[**entry].as_ref().is_some_and(|e| same(equality, &e.key, key));
        let found = *self.by_hash.get(&key.hash)?.iter().find(same)?;
        self.unlink(found);
        self.link(found);
        Some(found)
    }

    fn rows(&self, entry: usize) -> &[Vec<Datum>] {
        self.entries[entry].as_ref().map_or(&[], |entry| &entry.rows)
    }

    fn insert(&mut self, key: Key, rows: Vec<Vec<Datum>>, bytes: usize) -> usize {
        let hash = key.hash;
        let entry = Some(Entry { key, rows, bytes, older: None, newer: None });
        let at = match self.free.pop() {
            Some(at) => {
                self.entries[at] = entry;
                at
            }
            None => {
                self.entries.push(entry);
                self.entries.len() - 1
            }
        };
        self.by_hash.entry(hash).or_default().push(at);
        self.bytes += bytes;
        self.link(at);
        at
    }

    /// Drops the entry that was used longest ago; false if there is none.
    fn drop_oldest(&mut self) -> bool {
        let Some(at) = self.oldest else { return false };
        self.unlink(at);
        if let Some(entry) = self.entries[at].take() {
            self.bytes -= entry.bytes;
            if let Some(list) = self.by_hash.get_mut(&entry.key.hash) {
                list.retain(|other| *other != at);
                if list.is_empty() {
                    self.by_hash.remove(&entry.key.hash);
                }
            }
        }
        self.free.push(at);
        true
    }

    /// Puts an entry behind the latest.
    fn link(&mut self, at: usize) {
        let before = self.newest.replace(at);
        if let Some(entry) = &mut self.entries[at] {
            (entry.older, entry.newer) = (before, None);
        }
        match before.and_then(|before| self.entries[before].as_mut()) {
            Some(before) => before.newer = Some(at),
            None => self.oldest = Some(at),
        }
    }

    /// Takes an entry out of the order.
    fn unlink(&mut self, at: usize) {
        let Some((older, newer)) = self.entries[at].as_ref().map(|entry| (entry.older, entry.newer)) else {
            return;
        };
        match older.and_then(|older| self.entries[older].as_mut()) {
            Some(entry) => entry.newer = newer,
            None => self.oldest = newer,
        }
        match newer.and_then(|newer| self.entries[newer].as_mut()) {
            Some(entry) => entry.older = older,
            None => self.newest = older,
        }
    }
}

fn same(equality: Option<&RowKey>, a: &Key, b: &Key) -> bool {
    a.hash == b.hash
        && match equality {
            Some(equality) => equality.same(&a.values, &b.values),
            None => bytes_of(&a.values) == bytes_of(&b.values),
        }
}

fn bytes_of(values: &[Datum]) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode_row(values, &mut bytes);
    bytes
}

impl Memoize {
    /// The present values of the keys.
    fn key(&self, cx: &mut Cx<'_>) -> SqlResult<Key> {
        let values =
            self.keys.iter().map(|key| key.eval(Rows::one(&[]), cx)).collect::<SqlResult<Vec<_>>>()?;
        let hash = match &self.equality {
            Some(equality) => equality.hash(&values),
            None => {
                bytes_of(&values).into_iter().fold(0, |hash, byte| crate::row_key::mix(hash, byte.into()))
            }
        };
        Ok(Key { hash, values })
    }

    fn start(&mut self, cx: &mut Cx<'_>) -> SqlResult<()> {
        let key = self.key(cx)?;
        if let Some(entry) = self.cache.look_up(&key, self.equality.as_ref()) {
            self.told.hits += 1;
            self.state = State::Kept { entry, at: 0 };
            return Ok(());
        }
        self.told.misses += 1;
        if !self.pending.is_empty() {
            self.child.rescan(cx, &self.pending)?;
            self.pending.clear();
        }
        let bytes = size_of::<Entry>() + row_bytes(&key.values);
        self.state = State::Filling { key, rows: Vec::new(), bytes };
        Ok(())
    }

    /// The next row of the child, which is kept if there is room.
    fn fill(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        let more = self.child.next(cx)?;
        let State::Filling { rows, bytes, .. } = &mut self.state else { return Ok(more) };
        if more {
            let row = self.child.row();
            *bytes += row_bytes(row);
            while self.cache.bytes + *bytes > cx.env.hash_mem && self.cache.drop_oldest() {
                self.told.evictions += 1;
            }
            if *bytes > cx.env.hash_mem {
                self.told.overflows += 1;
                self.state = State::Passing;
                return Ok(true);
            }
            rows.push(row.to_vec());
            self.told.bytes = self.told.bytes.max(self.cache.bytes + *bytes);
            if !self.single {
                return Ok(true);
            }
        }
        if let State::Filling { key, rows, bytes } = std::mem::replace(&mut self.state, State::End) {
            let at = rows.len();
            let entry = self.cache.insert(key, rows, bytes);
            self.told.bytes = self.told.bytes.max(self.cache.bytes);
            self.state = State::Kept { entry, at };
        }
        Ok(more)
    }
}

impl Node for Memoize {
    fn next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        if matches!(self.state, State::Start) {
            self.start(cx)?;
        }
        match &mut self.state {
            State::Kept { entry, at } => {
                *at += 1;
                let more = *at <= self.cache.rows(*entry).len();
                if !more {
                    self.state = State::End;
                }
                Ok(more)
            }
            State::Filling { .. } => self.fill(cx),
            State::Passing => self.child.next(cx),
            State::Start | State::End => Ok(false),
        }
    }

    fn row(&self) -> &[Datum] {
        match &self.state {
            State::Kept { entry, at } => &self.cache.rows(*entry)[at - 1],
            _ => self.child.row(),
        }
    }

    fn rescan(&mut self, cx: &mut Cx<'_>, changed: &[ParamId]) -> SqlResult<()> {
        self.state = State::Start;
        // Every execution begins with a rescan that names no cell: nothing may be left from the previous one.
        if changed.is_empty() {
            self.cache.clear();
            self.pending.clear();
            return self.child.rescan(cx, changed);
        }
        if affected(&self.others, changed) {
            self.cache.clear();
        }
        for cell in changed {
            if !self.pending.contains(cell) {
                self.pending.push(*cell);
            }
        }
        Ok(())
    }

    fn close(&mut self, cx: &mut Cx<'_>) {
        let Told { hits, misses, evictions, overflows, bytes } = self.told;
        let kilobytes = (bytes as u64).div_ceil(1024);
        cx.tell(|_| Detail::Cache { hits, misses, evictions, overflows, kilobytes });
        self.state = State::Start;
        self.cache.clear();
        self.child.close(cx);
    }
}
