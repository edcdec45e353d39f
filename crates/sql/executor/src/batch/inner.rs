//! The inner side of a hash join over batches: rows in one flat piece of memory.
//!
//! # Layout
//! A row is some words of 8 bytes: its hash; the number of the next row with the same key ([`NONE`] behind the last) and, in the
//! top bit, whether it has matched; a bit for each column that is NULL; then a word a column, the keys first. An integer or a float is in its word; of a byte string
//! the word says where it lies in one piece of memory of byte strings (its length as a u32 before it); values of other shapes are in a list.
//!
//! The slots by which keys are found are made once, when all rows are there: open addressing, a power of two of them, at most half full. A slot has the
//! upper half of a hash and the number, from 1 on, of the last row that came with that key.
//!
//! # Invariants
//! 1. Rows with one key are found the last one first, as by [`crate::nodes`]' hash join over rows.
//! 2. No slot leads to a row with the hash [`NO_KEY`].

use base::{Oid, SqlError, SqlResult, sql_err};
use eval::spill::row_bytes;
use tuple::{Batch, Bytes, Column, Datum, Physical, Values, int_datum};

use super::keys::{KeyForm, int_of, text_of};
use super::rows::{append, datums, floats, ints, views};

/// No row.
pub(super) const NONE: u32 = u32::MAX;

const MATCHED: u64 = 1 << 63;

/// What the word of a column has.
#[derive(Clone, Copy)]
enum Class {
    Int(Physical),
    Float(Physical),
    Bytes,
    Any,
}

impl Class {
    fn of(type_oid: Oid) -> Class {
        let Some(row) = types::builtin_type(type_oid) else { return Class::Any };
        match row.physical {
            physical @ (Physical::Float4 | Physical::Float8) => Class::Float(physical),
            Physical::Fixed(_) | Physical::Name | Physical::Varlena => Class::Bytes,
            physical => Class::Int(physical),
        }
    }
}

/// Rows of the inner side.
pub(super) struct InnerRows {
    classes: Box<[Class]>,
    /// Which columns have had a NULL.
    has_nulls: Box<[bool]>,
    /// Where the first column stands in a row, and the words of a row.
    first: usize,
    stride: usize,
    words: Vec<u64>,
    strings: Vec<u8>,
    any: Vec<Datum>,
    any_bytes: usize,
    /// The longest byte string.
    pub(super) longest: usize,
    slots: Vec<u64>,
}

/// Stands for the hash of a key that is NULL; no other has it.
pub(super) const NO_KEY: u64 = 0;

impl InnerRows {
    /// Of columns of these types, the keys first.
    pub(super) fn new(columns: &[Oid]) -> InnerRows {
        let first = 2 + columns.len().div_ceil(64);
        InnerRows {
            classes: columns.iter().map(|column| Class::of(*column)).collect(),
            has_nulls: columns.iter().map(|_| false).collect(),
            first,
            stride: first + columns.len(),
            words: Vec::new(),
            strings: Vec::new(),
            any: Vec::new(),
            any_bytes: 0,
            longest: 0,
            slots: Vec::new(),
        }
    }

    /// Another one for the same columns, without rows.
    pub(super) fn fresh(&self) -> InnerRows {
        InnerRows {
            classes: self.classes.clone(),
            has_nulls: self.classes.iter().map(|_| false).collect(),
            words: Vec::new(),
            strings: Vec::new(),
            any: Vec::new(),
            slots: Vec::new(),
            any_bytes: 0,
            longest: 0,
            ..*self
        }
    }

    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.words.len() / self.stride
    }

    /// Bytes that the rows take, with the slots that they will need.
    pub(super) fn bytes(&self) -> usize {
        self.words.len() * 8 + self.strings.len() + self.any_bytes + self.len() * 16
    }

    /// Number of slots.
    pub(super) fn slots(&self) -> usize {
        self.slots.len()
    }

    /// Appends rows of a batch whose hashes these are.
    pub(super) fn append(
        &mut self,
        columns: &[&Column],
        page: &[u8],
        rows: &[u16],
        hashes: &[u64],
    ) -> SqlResult<()> {
        let before = self.words.len();
        self.words.resize(before + rows.len() * self.stride, 0);
        for (row, hash) in self.words[before..].chunks_exact_mut(self.stride).zip(hashes) {
            (row[0], row[1]) = (*hash, u64::from(NONE));
        }
        for (number, column) in columns.iter().enumerate() {
            self.append_column(number, column, page, rows, before)?;
        }
        Ok(())
    }

    fn append_column(
        &mut self,
        number: usize,
        column: &Column,
        page: &[u8],
        rows: &[u16],
        before: usize,
    ) -> SqlResult<()> {
        let (first, class) = (self.first, self.classes[number]);
        let targets = self.words[before..].chunks_exact_mut(self.stride);
        let pairs = rows.iter().map(|row| *row as usize).zip(targets);
        if let (Class::Int(_), Values::Ints(list)) = (class, &column.values)
            && column.nulls.is_empty()
        {
            pairs.for_each(|(row, words)| words[first + number] = list[row] as u64);
            return Ok(());
        }
        for (row, words) in pairs {
            if column.is_null(row) {
                words[2 + number / 64] |= 1 << (number % 64);
                self.has_nulls[number] = true;
                continue;
            }
            words[first + number] = match class {
                Class::Int(_) => int_of(column, row) as u64,
                Class::Float(_) => match &column.values {
                    Values::Floats(list) => list[row],
                    _ => types::compare::double(&column.datum(row, page)),
                }
                .to_bits(),
                Class::Bytes => {
                    if let Values::Datums(list) = &column.values
                        && !matches!(list[row], Datum::Bytes(_))
                    {
                        return Err(SqlError::internal("a value in a hash join that is no byte string"));
                    }
                    let start = self.strings.len();
                    let strings = &mut self.strings;
                    let len = text_of(column, row, page, |text| {
                        strings.extend_from_slice(&(text.len() as u32).to_le_bytes());
                        strings.extend_from_slice(text);
                        text.len()
                    });
                    self.longest = self.longest.max(len);
                    start as u64
                }
                Class::Any => {
                    let value = column.datum(row, page);
                    self.any_bytes += row_bytes(std::slice::from_ref(&value));
                    self.any.push(value);
                    self.any.len() as u64 - 1
                }
            };
        }
        Ok(())
    }

    /// Forgets all rows.
    pub(super) fn clear(&mut self) {
        *self = self.fresh();
    }

    /// Makes the slots, after the last row.
    pub(super) fn index(&mut self, keys: &[&KeyForm]) -> SqlResult<()> {
        let count = self.len();
        if count >= NONE as usize {
            return Err(sql_err!(PROGRAM_LIMIT_EXCEEDED, "too many rows in a hash table"));
        }
        self.slots = vec![0; (count * 2).next_power_of_two().max(1024)];
        let mask = self.slots.len() - 1;
        for row in 0..count {
            if row % 4096 == 0 {
                runtime::check_interrupts().map_err(eval::error::interrupted)?;
            }
            let hash = self.words[row * self.stride];
            if hash == NO_KEY {
                continue;
            }
            let mut slot = hash as usize & mask;
            while self.slots[slot] != 0 {
                let other = (self.slots[slot] as u32 - 1) as usize;
                if self.slots[slot] >> 32 == hash >> 32 && self.same_key(keys, row, other) {
                    self.words[row * self.stride + 1] = other as u64;
                    break;
                }
                slot = (slot + 1) & mask;
            }
            self.slots[slot] = hash >> 32 << 32 | (row as u64 + 1);
        }
        Ok(())
    }

    fn same_key(&self, keys: &[&KeyForm], a: usize, b: usize) -> bool {
        keys.iter().enumerate().all(|(number, form)| match form {
            KeyForm::Ints => self.word(a, number) == self.word(b, number),
            KeyForm::Texts => self.text(a, number) == self.text(b, number),
            KeyForm::Any(_, equality) => equality.equal(&self.datum(a, number), &self.datum(b, number)),
        })
    }

    #[inline]
    fn word(&self, row: usize, column: usize) -> u64 {
        self.words[row * self.stride + self.first + column]
    }

    #[inline]
    fn is_null(&self, row: usize, column: usize) -> bool {
        self.has_nulls[column] && self.words[row * self.stride + 2 + column / 64] >> (column % 64) & 1 == 1
    }

    #[inline]
    fn text(&self, row: usize, column: usize) -> &[u8] {
        let start = self.word(row, column) as usize;
        match self.strings[start..].split_first_chunk::<4>() {
            Some((len, rest)) => &rest[..u32::from_le_bytes(*len) as usize],
            None => &[],
        }
    }

    fn datum(&self, row: usize, column: usize) -> Datum {
        if self.is_null(row, column) {
            return Datum::Null;
        }
        let word = self.word(row, column);
        match self.classes[column] {
            Class::Int(physical) => int_datum(physical, word as i64),
            Class::Float(Physical::Float4) => Datum::Float4(f64::from_bits(word) as f32),
            Class::Float(_) => Datum::Float8(f64::from_bits(word)),
            Class::Bytes => Datum::Bytes(Bytes::new(self.text(row, column))),
            Class::Any => self.any[word as usize].clone(),
        }
    }

    /// Leaves the rows whose hash is wanted, before there are slots; the values of others are given to `other`.
    pub(super) fn retain(
        &mut self,
        wanted: impl Fn(u64) -> bool,
        mut other: impl FnMut(u64, &[Datum]) -> SqlResult<()>,
    ) -> SqlResult<()> {
        let (mut kept, mut strings, mut any, mut values) = (0, Vec::new(), Vec::new(), Vec::new());
        self.any_bytes = 0;
        for row in 0..self.len() {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            let hash = self.words[row * self.stride];
            if !wanted(hash) {
                values.clear();
                values.extend((0..self.classes.len()).map(|column| self.datum(row, column)));
                other(hash, &values)?;
                continue;
            }
            for column in 0..self.classes.len() {
                let place = match self.classes[column] {
                    _ if self.is_null(row, column) => continue,
                    Class::Bytes => {
                        let (start, text) = (strings.len(), self.text(row, column));
                        strings.extend_from_slice(&(text.len() as u32).to_le_bytes());
                        strings.extend_from_slice(text);
                        start
                    }
                    Class::Any => {
                        let value = self.datum(row, column);
                        self.any_bytes += row_bytes(std::slice::from_ref(&value));
                        any.push(value);
                        any.len() - 1
                    }
                    Class::Int(_) | Class::Float(_) => continue,
                };
                self.words[row * self.stride + self.first + column] = place as u64;
            }
            self.words.copy_within(row * self.stride..(row + 1) * self.stride, kept * self.stride);
            kept += 1;
        }
        self.words.truncate(kept * self.stride);
        (self.strings, self.any) = (strings, any);
        Ok(())
    }

    /// The first row with each row's key, or [`NONE`], for the rows of a batch with these hashes.
    pub(super) fn find(
        &self,
        keys: &[(&KeyForm, &Column)],
        batch: &Batch<'_>,
        hashes: &[u64],
        heads: &mut Vec<u32>,
    ) {
        heads.clear();
        if let [(KeyForm::Ints, Column { values: Values::Ints(list), .. })] = keys {
            let same = |row: u16, inner: u32| self.word(inner as usize, 0) == list[row as usize] as u64;
            return self.find_by(batch.rows, hashes, same, heads);
        }
        let same = |row: u16, inner: u32| {
            let (row, inner) = (row as usize, inner as usize);
            keys.iter().enumerate().all(|(number, (form, column))| match form {
                KeyForm::Ints => self.word(inner, number) == int_of(column, row) as u64,
                KeyForm::Texts => text_of(column, row, batch.page, |text| text == self.text(inner, number)),
                KeyForm::Any(_, equality) => {
                    equality.equal(&column.datum(row, batch.page), &self.datum(inner, number))
                }
            })
        };
        self.find_by(batch.rows, hashes, same, heads);
    }

    #[inline]
    fn find_by(&self, rows: &[u16], hashes: &[u64], same: impl Fn(u16, u32) -> bool, heads: &mut Vec<u32>) {
        let mask = self.slots.len() - 1;
        // What the slots say first, so that the processor waits for many of them at once; then what may be the row.
        heads.extend(hashes.iter().map(|hash| {
            let found = self.slots[*hash as usize & mask];
            if *hash == NO_KEY || found == 0 { 0 } else { found as u32 }
        }));
        for ((row, hash), head) in rows.iter().zip(hashes).zip(heads) {
            if *head == 0 {
                *head = NONE;
                continue;
            }
            let mut slot = *hash as usize & mask;
            *head = loop {
                let found = self.slots[slot];
                if found == 0 {
                    break NONE;
                }
                let inner = found as u32 - 1;
                if found >> 32 == hash >> 32 && same(*row, inner) {
                    break inner;
                }
                slot = (slot + 1) & mask;
            };
        }
    }

    /// The next row with the same key.
    #[inline]
    pub(super) fn next(&self, row: u32) -> u32 {
        self.words[row as usize * self.stride + 1] as u32
    }

    /// Whether a row has matched.
    #[inline]
    pub(super) fn is_matched(&self, row: u32) -> bool {
        self.words[row as usize * self.stride + 1] & MATCHED != 0
    }

    /// Says whether a row has matched.
    #[inline]
    pub(super) fn set_matched(&mut self, row: u32, matched: bool) {
        let word = &mut self.words[row as usize * self.stride + 1];
        *word = if matched { *word | MATCHED } else { *word & !MATCHED };
    }

    /// Replaces a column's rows by a column of these rows, NULL for [`NONE`]; `bytes` take its byte strings.
    pub(super) fn gather(&self, column: usize, rows: &[u32], out: &mut Column, bytes: &mut Vec<u8>) {
        out.clear();
        let at = self.first + column;
        let word = |row: &u32| match *row {
            NONE => 0,
            row => self.words[row as usize * self.stride + at],
        };
        let none = rows.contains(&NONE);
        match self.classes[column] {
            Class::Int(physical) => {
                out.physical = physical;
                ints(out).extend(rows.iter().map(|row| word(row) as i64));
            }
            Class::Float(physical) => {
                out.physical = physical;
                floats(out).extend(rows.iter().map(|row| f64::from_bits(word(row))));
            }
            Class::Bytes => {
                out.physical = Physical::Varlena;
                let text = |row: &u32| match *row {
                    NONE => &[],
                    row if self.is_null(row as usize, column) => &[],
                    row => self.text(row as usize, column),
                };
                views(out).extend(rows.iter().map(|row| append(bytes, text(row))));
            }
            Class::Any => {
                out.physical = Physical::Varlena;
                let value = |row: &u32| match *row {
                    NONE => Datum::Null,
                    row => self.datum(row as usize, column),
                };
                datums(out).extend(rows.iter().map(value));
                return;
            }
        }
        if none || self.has_nulls[column] {
            let null = |row: &u32| *row == NONE || self.is_null(*row as usize, column);
            out.nulls.extend(rows.iter().map(null));
        }
    }
}
