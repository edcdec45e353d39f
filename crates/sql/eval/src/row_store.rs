//! # What
//! Rows kept for reading in any order: common table expressions, window partitions, work tables, what cursors have fetched, sets
//! that functions return.
//!
//! # Layout
//! As long as they fit into the given memory, rows are kept as they are. Then all of them go into a temporary file, each as the
//! length of the rest (u32, little-endian) and the row as `spill` encodes it. Where every `EVERY`th row begins stays in memory:
//! one row in the file costs an eighth of a byte.
//!
//! # Invariants
//! 1. Rows lie in memory or in the file, never some here and some there; only the file's last bytes wait in a buffer.
//! 2. A [`Place`] is valid for one filling of one store: after the store is cleared or replaced, a new one is needed.

use base::{SqlResult, sql_err};
use tuple::Datum;

use crate::spill::{SpillFile, TempDir, decode_row, encode_row, row_bytes};

/// Distance of rows whose beginning is known.
const EVERY: u64 = 64;

/// Bytes gathered before a write, and read at once.
const WINDOW: u64 = 32 * 1024;

/// Rows by number, from 0.
#[derive(Default)]
pub struct RowStore {
    rows: Vec<Vec<Datum>>,
    bytes: usize,
    spilled: Option<Spilled>,
}

/// Rows in a file.
struct Spilled {
    file: SpillFile,
    /// Where rows 0, [`EVERY`], … begin.
    anchors: Vec<u64>,
    count: u64,
    /// The bytes behind those in the file.
    buffer: Vec<u8>,
}

/// The position of a reader of a [`RowStore`].
#[derive(Default)]
pub struct Place {
    /// Number of the row that begins at `at`.
    number: u64,
    at: u64,
    /// Bytes of the file read last, and where they begin.
    window: Vec<u8>,
    from: u64,
    /// The row read last, and one more than its number.
    row: Vec<Datum>,
    read: u64,
}

impl RowStore {
    /// Number of rows.
    pub fn len(&self) -> u64 {
        self.spilled.as_ref().map_or(self.rows.len() as u64, |s| s.count)
    }

    /// No rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether rows are in a file.
    pub fn is_spilled(&self) -> bool {
        self.spilled.is_some()
    }

    /// Bytes of the rows, where they are.
    pub fn size(&self) -> u64 {
        self.spilled.as_ref().map_or(self.bytes as u64, Spilled::end)
    }

    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.bytes = 0;
        self.spilled = None;
    }

    /// Appends a row; more than `limit` bytes of rows go into a file.
    pub fn push(&mut self, row: Vec<Datum>, limit: usize, dir: &TempDir) -> SqlResult<()> {
        if let Some(spilled) = &mut self.spilled {
            return spilled.push(&row);
        }
        self.bytes += row_bytes(&row);
        self.rows.push(row);
        if self.bytes > limit {
            let file = SpillFile::create(dir)?;
            let mut spilled = Spilled { file, anchors: Vec::new(), count: 0, buffer: Vec::new() };
            for row in std::mem::take(&mut self.rows) {
                runtime::check_interrupts().map_err(crate::error::interrupted)?;
                spilled.push(&row)?;
            }
            self.spilled = Some(spilled);
        }
        Ok(())
    }

    /// The rows, if they are in memory.
    pub fn in_memory(&self) -> Option<&[Vec<Datum>]> {
        self.spilled.is_none().then_some(&self.rows)
    }

    /// Row `number`; none if there are not so many.
    pub fn get<'a>(&'a self, place: &'a mut Place, number: u64) -> SqlResult<Option<&'a [Datum]>> {
        let Some(spilled) = &self.spilled else {
            return Ok(self.rows.get(number as usize).map(Vec::as_slice));
        };
        if number >= spilled.count {
            return Ok(None);
        }
        if place.read != number + 1 {
            spilled.read(place, number)?;
        }
        Ok(Some(&place.row))
    }

    /// Row `number` into `row`; false if there is none.
    pub fn read(&self, place: &mut Place, number: u64, row: &mut Vec<Datum>) -> SqlResult<bool> {
        let Some(stored) = self.get(place, number)? else { return Ok(false) };
        row.clear();
        row.extend_from_slice(stored);
        Ok(true)
    }
}

impl Spilled {
    fn end(&self) -> u64 {
        self.file.written() + self.buffer.len() as u64
    }

    fn push(&mut self, row: &[Datum]) -> SqlResult<()> {
        if self.count.is_multiple_of(EVERY) {
            self.anchors.push(self.end());
        }
        self.count += 1;
        let start = self.buffer.len();
        self.buffer.extend_from_slice(&[0; 4]);
        encode_row(row, &mut self.buffer);
        let len = (self.buffer.len() - start - 4) as u32;
        self.buffer[start..start + 4].copy_from_slice(&len.to_le_bytes());
        if self.buffer.len() as u64 >= WINDOW {
            self.file.append(&self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }

    fn read(&self, place: &mut Place, number: u64) -> SqlResult<()> {
        if number < place.number || number - place.number >= EVERY {
            place.number = number - number % EVERY;
            place.at = self.anchors[(number / EVERY) as usize];
        }
        loop {
            let head = self.bytes(place, 4)?;
            let len = u64::from(u32::from_le_bytes([head[0], head[1], head[2], head[3]]));
            if place.number == number {
                let mut row = std::mem::take(&mut place.row);
                let whole = decode_row(&self.bytes(place, 4 + len)?[4..], &mut row);
                (place.row, place.read) = (row, number + 1);
                return whole.ok_or_else(damaged);
            }
            place.at += 4 + len;
            place.number += 1;
        }
    }

    /// `len` bytes from where the place is.
    fn bytes<'a>(&'a self, place: &'a mut Place, len: u64) -> SqlResult<&'a [u8]> {
        let in_file = self.file.written();
        let end = place.at + len;
        if end > self.end() {
            return Err(damaged());
        }
        if place.at >= in_file {
            return Ok(&self.buffer[(place.at - in_file) as usize..(end - in_file) as usize]);
        }
        let behind = place.from + place.window.len() as u64;
        if place.at < place.from || end > behind {
            // Who goes on reads ahead; who jumps may go either way.
            let on = place.at >= place.from && place.at <= behind && !place.window.is_empty();
            let from = if on { place.at } else { place.at.saturating_sub(WINDOW / 4) };
            let to = (from + WINDOW).max(end).min(in_file);
            place.window.resize((to - from) as usize, 0);
            place.from = from;
            self.file.read(&mut place.window, from)?;
        }
        Ok(&place.window[(place.at - place.from) as usize..(end - place.from) as usize])
    }
}

fn damaged() -> base::SqlError {
    sql_err!(DATA_CORRUPTED, "unexpected end of temporary file")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_in_any_order_from_memory_and_file() {
        let path = std::env::temp_dir().join(format!("row-store-{:016x}", runtime::random_u64()));
        let dir = TempDir::new(path.clone(), base::Oid::PG_DEFAULT, 1);
        let row =
            |i: u64| vec![Datum::Int8(i as i64), Datum::text(&"x".repeat(i as usize % 300)), Datum::Null];
        let count = 3000;
        for limit in [usize::MAX, 1000, 0] {
            let mut store = RowStore::default();
            let (mut behind, mut place) = (Place::default(), Place::default());
            for i in 0..count {
                store.push(row(i), limit, &dir).unwrap();
                // One reader reads what was just written, another what was written long ago.
                assert_eq!(store.get(&mut place, i).unwrap().unwrap(), row(i), "limit {limit}");
                assert_eq!(store.get(&mut behind, i / 2).unwrap().unwrap(), row(i / 2), "limit {limit}");
            }
            let mut read = Vec::new();
            let back = (0..count).rev();
            for i in (0..count).chain(back).chain([5, 2999, 0, 1500, 1499, 64, 63]) {
                assert!(store.read(&mut place, i, &mut read).unwrap());
                assert_eq!(read, row(i), "limit {limit}");
            }
            assert!(!store.read(&mut place, count, &mut read).unwrap());
            assert_eq!(store.len(), count);
        }
        // Dropped stores leave no file behind; the directory itself is ours.
        assert_eq!(std::fs::read_dir(path.join("base/pgsql_tmp")).unwrap().count(), 0);
        std::fs::remove_dir_all(&path).unwrap();
    }
}
