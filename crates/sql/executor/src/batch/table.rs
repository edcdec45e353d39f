//! The groups of a hash aggregation over batches: one flat table.
//!
//! # Layout
//! Keys are kept by column, each in the shape of what it groups by, and found by a table of slots: open addressing, a power of two of them, never
//! more than half full. A slot has the upper half of its group's hash and the group's number. Groups are numbered in the order in which they came;
//! their hashes are kept in that order too, so that more slots are made without looking at keys.

use base::{SqlError, SqlResult};
use eval::compile::Inputs;
use eval::cx::Cx;
use eval::spill::row_bytes;
use plan::{Expr, Plan};
use tuple::{Batch, Bytes, Column, Datum, Physical, int_datum};

use super::calls::reads_of;
use super::is_plain;
use super::keys::{KeyForm, finish, int_of, text_of};
use super::vector::Vector;
use crate::nodes::Builder;

/// Groups by key.
pub(crate) struct GroupTable {
    keys: Vec<GroupKey>,
    /// Upper half of the hash, and the number of the group from 1 on; 0 is a free slot.
    slots: Vec<(u32, u32)>,
    /// By group.
    hash_list: Vec<u64>,
    /// Bytes of a group beside its key.
    overhead: usize,
    /// Bytes of all groups.
    pub(crate) bytes: usize,
    /// Of the rows of the last batch.
    pub(super) hashes: Vec<u64>,
    /// The group of each of them, or [`NONE`].
    pub(crate) groups: Vec<u32>,
}

/// No group.
pub(super) const NONE: u32 = u32::MAX;

struct GroupKey {
    vector: Vector,
    made: Column,
    form: KeyForm,
    kept: KeptKey,
}

/// A key by group.
struct KeptKey {
    values: Kept,
    /// Which groups' keys are NULL.
    nulls: Vec<bool>,
}

/// The groups of a table, without what finds them.
#[derive(Default)]
pub(super) struct KeptGroups {
    keys: Vec<KeptKey>,
    hash_list: Vec<u64>,
    bytes: usize,
}

/// Values of a key by group.
enum Kept {
    Ints(Physical, Vec<i64>),
    /// Byte strings in one piece of memory, with the end of each.
    Texts(Vec<u8>, Vec<usize>),
    Any(Vec<Datum>),
}

impl GroupTable {
    /// For an aggregation by these keys, with so many bytes of states a group; none if they want rows.
    pub(crate) fn new(
        builder: &Builder<'_>,
        child: &Plan,
        keys: &[Expr],
        states: usize,
    ) -> SqlResult<Option<GroupTable>> {
        if keys.is_empty() || !keys.iter().all(is_plain) {
            return Ok(None);
        }
        let mut made = Vec::new();
        for key in keys {
            let code = builder.compiler().expr(key, Inputs::one(&child.output))?;
            let vector = Vector::new(code, &reads_of(key, &child.output));
            let column = vector.output();
            let form = KeyForm::of(&builder.statement.types, key)?
                .ok_or_else(|| SqlError::internal("a grouping expression cannot be hashed"))?;
            let kept = Kept::of(&form, key);
            let kept = KeptKey { values: kept, nulls: Vec::new() };
            made.push(GroupKey { vector, made: column, form, kept });
        }
        let slots = vec![(0, 0); 512];
        // Its hash, and the slots that it needs.
        let overhead = states + 8 + 2 * size_of::<(u32, u32)>();
        let (hash_list, hashes, groups) = Default::default();
        Ok(Some(GroupTable { keys: made, slots, hash_list, overhead, bytes: 0, hashes, groups }))
    }

    /// Number of groups.
    pub(crate) fn len(&self) -> usize {
        self.hash_list.len()
    }

    /// Takes all groups out.
    pub(crate) fn clear(&mut self) {
        if self.hash_list.is_empty() {
            return;
        }
        self.slots = vec![(0, 0); 512];
        (self.hash_list, self.bytes) = (Vec::new(), 0);
        for key in &mut self.keys {
            key.kept = key.kept.fresh();
        }
    }

    /// Takes all groups out, for another table.
    pub(super) fn take(&mut self) -> KeptGroups {
        let keys = self.keys.iter_mut().map(|key| {
            let fresh = key.kept.fresh();
            std::mem::replace(&mut key.kept, fresh)
        });
        let (keys, hash_list) = (keys.collect(), std::mem::take(&mut self.hash_list));
        self.slots = vec![(0, 0); 512];
        KeptGroups { keys, hash_list, bytes: std::mem::take(&mut self.bytes) }
    }

    /// Puts the groups of another table in, where there is none.
    pub(super) fn put(&mut self, other: KeptGroups) {
        self.keys.iter_mut().zip(other.keys).for_each(|(key, kept)| key.kept = kept);
        (self.hash_list, self.bytes) = (other.hash_list, other.bytes);
        self.fill_slots((self.len() * 2 + 1).next_power_of_two().max(512));
    }

    /// The hash of a group.
    pub(super) fn hash_of(&self, group: usize) -> u64 {
        self.hash_list[group]
    }

    /// The group here that a group of another table is; it is added if it is missing.
    pub(super) fn find_group(&mut self, other: &KeptGroups, group: usize) -> usize {
        let hash = other.hash_list[group];
        let same = |table: &GroupTable, mine: u32| {
            let mut keys = table.keys.iter().zip(&other.keys);
            keys.all(|(key, other)| key.same_kept(mine as usize, other, group))
        };
        match self.seek(hash, same) {
            Ok(found) => found as usize,
            Err(slot) => {
                let pairs = self.keys.iter_mut().zip(&other.keys);
                let key = pairs.map(|(key, other)| key.kept.push_of(other, group)).sum();
                self.enter(slot, hash, key) as usize
            }
        }
    }

    /// Replaces `out` by the key of a group.
    pub(crate) fn key(&self, group: usize, out: &mut Vec<Datum>) {
        out.clear();
        out.extend(self.keys.iter().map(|key| key.kept.datum(group)));
    }

    /// Computes the keys of a batch's rows. No group has come if that fails.
    pub(crate) fn prepare(&mut self, batch: &Batch<'_>, cx: &mut Cx<'_>) -> SqlResult<()> {
        self.keys.iter_mut().try_for_each(|key| key.vector.eval(batch, batch.rows, cx, &mut key.made))
    }

    /// Finds the groups of the rows of a batch; those that are missing are added, up to so many bytes of all.
    pub(crate) fn find(&mut self, batch: &Batch<'_>, limit: usize) {
        self.hashes.clear();
        self.hashes.resize(batch.rows.len(), 0);
        for key in &self.keys {
            key.form.hash(key.column(batch), batch, &mut self.hashes);
        }
        let mask = self.slots.len() - 1;
        self.groups.clear();
        // What the slots say first, so that the processor waits for many of them at once.
        for hash in &mut self.hashes {
            *hash = finish(*hash);
            let (tag, group) = self.slots[*hash as usize & mask];
            self.groups.push(if tag == (*hash >> 32) as u32 { group } else { 0 });
        }
        for at in 0..batch.rows.len() {
            let (row, likely) = (batch.rows[at] as usize, self.groups[at]);
            self.groups[at] = match likely {
                group if group > 0 && self.is_of(group - 1, batch, row) => group - 1,
                _ => self.find_row(batch, row, self.hashes[at], limit),
            };
        }
    }

    #[inline]
    fn is_of(&self, group: u32, batch: &Batch<'_>, row: usize) -> bool {
        self.keys.iter().all(|key| key.same(group as usize, batch, row))
    }

    fn find_row(&mut self, batch: &Batch<'_>, row: usize, hash: u64, limit: usize) -> u32 {
        match self.seek(hash, |table, group| table.is_of(group, batch, row)) {
            Ok(group) => group,
            Err(_) if self.bytes > limit => NONE,
            Err(slot) => {
                let key = self.keys.iter_mut().map(|key| key.push(batch, row)).sum();
                self.enter(slot, hash, key)
            }
        }
    }

    /// The group with this hash that is the one, or else the slot where it is to go.
    #[inline]
    fn seek(&self, hash: u64, is_it: impl Fn(&GroupTable, u32) -> bool) -> Result<u32, usize> {
        let mask = self.slots.len() - 1;
        let tag = (hash >> 32) as u32;
        let mut slot = hash as usize & mask;
        loop {
            let (found, group) = self.slots[slot];
            if group == 0 {
                return Err(slot);
            }
            if found == tag && is_it(self, group - 1) {
                return Ok(group - 1);
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Enters the group whose key, of so many bytes, was put behind those of all others.
    fn enter(&mut self, slot: usize, hash: u64, key: usize) -> u32 {
        self.hash_list.push(hash);
        let count = self.hash_list.len();
        self.slots[slot] = ((hash >> 32) as u32, count as u32);
        self.bytes += key + self.overhead;
        if count * 2 > self.slots.len() {
            self.grow();
        }
        count as u32 - 1
    }

    /// Four times the slots.
    fn grow(&mut self) {
        self.fill_slots(self.slots.len() * 4);
    }

    /// Makes so many slots.
    fn fill_slots(&mut self, count: usize) {
        let mask = count - 1;
        let mut slots = vec![(0, 0); mask + 1];
        for (group, hash) in self.hash_list.iter().enumerate() {
            let mut slot = *hash as usize & mask;
            while slots[slot].1 != 0 {
                slot = (slot + 1) & mask;
            }
            slots[slot] = ((hash >> 32) as u32, group as u32 + 1);
        }
        self.slots = slots;
    }
}

impl KeptGroups {
    /// Number of groups.
    pub(super) fn len(&self) -> usize {
        self.hash_list.len()
    }
}

impl KeptKey {
    /// For the same key, without groups.
    fn fresh(&self) -> KeptKey {
        let values = match &self.values {
            Kept::Ints(physical, _) => Kept::Ints(*physical, Vec::new()),
            Kept::Texts(..) => Kept::Texts(Vec::new(), Vec::new()),
            Kept::Any(_) => Kept::Any(Vec::new()),
        };
        KeptKey { values, nulls: Vec::new() }
    }

    /// Keeps the key of another table's group; returns the bytes that it takes.
    fn push_of(&mut self, other: &KeptKey, group: usize) -> usize {
        self.nulls.push(other.nulls[group]);
        1 + match (&mut self.values, &other.values) {
            (Kept::Ints(_, list), Kept::Ints(_, values)) => {
                list.push(values[group]);
                8
            }
            (Kept::Texts(bytes, ends), Kept::Texts(values, value_ends)) => {
                let text = text_at(values, value_ends, group);
                bytes.extend_from_slice(text);
                ends.push(bytes.len());
                8 + text.len()
            }
            (Kept::Any(list), _) => push_any(list, other.datum(group)),
            // Both are of one key.
            _ => 0,
        }
    }

    fn datum(&self, group: usize) -> Datum {
        if self.nulls[group] {
            return Datum::Null;
        }
        match &self.values {
            Kept::Ints(physical, list) => int_datum(*physical, list[group]),
            Kept::Texts(bytes, ends) => Datum::Bytes(Bytes::new(text_at(bytes, ends, group))),
            Kept::Any(list) => list[group].clone(),
        }
    }
}

/// Keeps a value; returns the bytes that it takes.
fn push_any(list: &mut Vec<Datum>, value: Datum) -> usize {
    let size = row_bytes(std::slice::from_ref(&value)) - row_bytes(&[]);
    list.push(value);
    size
}

impl Kept {
    fn of(form: &KeyForm, key: &Expr) -> Kept {
        match (form, types::builtin_type(key.type_oid())) {
            (KeyForm::Ints, Some(row)) => Kept::Ints(row.physical, Vec::new()),
            (KeyForm::Texts, _) => Kept::Texts(Vec::new(), Vec::new()),
            _ => Kept::Any(Vec::new()),
        }
    }
}

impl GroupKey {
    fn column<'a>(&'a self, batch: &Batch<'a>) -> &'a Column {
        self.vector.values(batch, &self.made)
    }

    #[inline]
    fn same(&self, group: usize, batch: &Batch<'_>, row: usize) -> bool {
        let column = self.column(batch);
        let is_null = self.kept.nulls[group];
        if is_null || column.is_null(row) {
            return is_null && column.is_null(row);
        }
        match &self.kept.values {
            Kept::Ints(_, list) => list[group] == int_of(column, row),
            Kept::Texts(bytes, ends) => {
                text_of(column, row, batch.page, |text| text == text_at(bytes, ends, group))
            }
            Kept::Any(list) => match &self.form {
                KeyForm::Any(_, equality) => equality.equal(&list[group], &column.datum(row, batch.page)),
                _ => false,
            },
        }
    }

    /// Whether the key of a group here is that of another table's group.
    fn same_kept(&self, group: usize, other: &KeptKey, other_group: usize) -> bool {
        let nulls = (self.kept.nulls[group], other.nulls[other_group]);
        if nulls.0 || nulls.1 {
            return nulls.0 && nulls.1;
        }
        match (&self.kept.values, &other.values) {
            (Kept::Ints(_, list), Kept::Ints(_, values)) => list[group] == values[other_group],
            (Kept::Texts(bytes, ends), Kept::Texts(values, value_ends)) => {
                text_at(bytes, ends, group) == text_at(values, value_ends, other_group)
            }
            (Kept::Any(list), Kept::Any(values)) => match &self.form {
                KeyForm::Any(_, equality) => equality.equal(&list[group], &values[other_group]),
                _ => false,
            },
            _ => false,
        }
    }

    /// Keeps a row's value as the key of a new group; returns the bytes that it takes.
    fn push(&mut self, batch: &Batch<'_>, row: usize) -> usize {
        let column = self.vector.values(batch, &self.made);
        let is_null = column.is_null(row);
        self.kept.nulls.push(is_null);
        1 + match &mut self.kept.values {
            Kept::Ints(_, list) => {
                list.push(if is_null { 0 } else { int_of(column, row) });
                8
            }
            Kept::Texts(bytes, ends) => {
                let before = bytes.len();
                if !is_null {
                    text_of(column, row, batch.page, |text| bytes.extend_from_slice(text));
                }
                ends.push(bytes.len());
                8 + bytes.len() - before
            }
            Kept::Any(list) => {
                push_any(list, if is_null { Datum::Null } else { column.datum(row, batch.page) })
            }
        }
    }
}

fn text_at<'a>(bytes: &'a [u8], ends: &[usize], group: usize) -> &'a [u8] {
    let start = group.checked_sub(1).map_or(0, |before| ends[before]);
    &bytes[start..ends[group]]
}
