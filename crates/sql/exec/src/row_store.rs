//! # What
//! Rows kept for reading in any order: what scrollable and holdable cursors have fetched.
//!
//! # Layout
//! Rows are encoded as in `spill`, one behind the other, in memory up to a limit and then in a temporary file. The position of each
//! row's end is kept: eight bytes a row stay in memory whatever happens.
//!
//! # Invariants
//! 1. No row lies half in the file and half in memory: the buffer is written as a whole.

use base::{SqlResult, sql_err};
use tuple::Datum;

use crate::spill::{SpillFile, TempDir, decode_row, encode_row};

/// Bytes read from the file at once, around the row that is wanted.
const WINDOW: u64 = 64 * 1024;

/// Rows by number, from 0.
pub struct RowStore {
    /// Where each row ends; it begins where the one before ends.
    ends: Vec<u64>,
    file: Option<SpillFile>,
    /// The rows behind those in the file.
    buffer: Vec<u8>,
    /// Bytes of the file read last, and where they begin.
    window: (u64, Vec<u8>),
    limit: usize,
    dir: TempDir,
}

impl RowStore {
    /// No rows; more than `limit` bytes of them go into a file.
    pub fn new(limit: usize, dir: &TempDir) -> RowStore {
        RowStore {
            ends: Vec::new(),
            file: None,
            buffer: Vec::new(),
            window: (0, Vec::new()),
            limit,
            dir: dir.clone(),
        }
    }

    /// Number of rows.
    pub fn len(&self) -> u64 {
        self.ends.len() as u64
    }

    /// Appends a row.
    pub fn push(&mut self, row: &[Datum]) -> SqlResult<()> {
        let before = self.buffer.len();
        encode_row(row, &mut self.buffer);
        let bytes = (self.buffer.len() - before) as u64;
        self.ends.push(self.ends.last().copied().unwrap_or(0) + bytes);
        if self.buffer.len() > self.limit {
            let file = match &mut self.file {
                Some(file) => file,
                none => none.insert(SpillFile::create(&self.dir)?),
            };
            file.append(&self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }

    /// Row `number` into `row`; false if there is none.
    pub fn read(&mut self, number: u64, row: &mut Vec<Datum>) -> SqlResult<bool> {
        let number = number as usize;
        let Some(&end) = self.ends.get(number) else { return Ok(false) };
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        let in_file = self.file.as_ref().map_or(0, SpillFile::written);
        let bytes = match &self.file {
            Some(file) if start < in_file => {
                let (from, window) = &mut self.window;
                if start < *from || end > *from + window.len() as u64 {
                    *from = start.saturating_sub(WINDOW / 2);
                    let to = (start + WINDOW / 2).max(end).min(in_file);
                    window.resize((to - *from) as usize, 0);
                    file.read(window, *from)?;
                }
                &window[(start - *from) as usize..(end - *from) as usize]
            }
            _ => &self.buffer[(start - in_file) as usize..(end - in_file) as usize],
        };
        match decode_row(bytes, row) {
            Some(()) => Ok(true),
            None => Err(sql_err!(DATA_CORRUPTED, "unexpected end of temporary file")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_in_any_order_from_memory_and_file() {
        let path = std::env::temp_dir().join(format!("row-store-{:016x}", runtime::random_u64()));
        let dir = TempDir { path: path.clone(), pid: 1 };
        for limit in [usize::MAX, 1000, 0] {
            let mut store = RowStore::new(limit, &dir);
            let row =
                |i: u64| vec![Datum::Int8(i as i64), Datum::text(&"x".repeat(i as usize % 300)), Datum::Null];
            let count = 3000;
            for i in 0..count {
                store.push(&row(i)).unwrap();
            }
            let mut read = Vec::new();
            let back = (0..count).rev();
            for i in (0..count).chain(back).chain([5, 2999, 0, 1500]) {
                assert!(store.read(i, &mut read).unwrap());
                assert_eq!(read, row(i), "limit {limit}");
            }
            assert!(!store.read(count, &mut read).unwrap());
            assert_eq!(store.len(), count);
        }
        // Dropped stores leave no file behind; the directory itself is ours.
        assert_eq!(std::fs::read_dir(&path).unwrap().count(), 0);
        std::fs::remove_dir_all(&path).unwrap();
    }
}
