//! # What
//! Rows in temporary files (`pgsql_tmp` of a tablespace): where sorts and hashes go when they outgrow `work_mem`.
//!
//! # Layout
//! A file is a sequence of rows: length of the rest (u32, little-endian), then each value as a tag byte and its bytes;
//! variable-length values carry a u32 length. The files never outlive the transaction and are not portable.
//!
//! # Invariants
//! 1. A [`SpillFile`] is removed from the directory when dropped, also on error.
//! 2. Rows come back in the order they were written.

use std::path::PathBuf;
use std::sync::Arc;

use base::os::{file_error, is_disk_full, is_transient};
use base::{Oid, SqlResult, sql_err, tablespace_folder};
use parking_lot::Mutex;
use runtime::fs::{self, File, OpenOptions};
use runtime::usage::{timed, used};
use runtime::{WaitEvent, waiting};
use tuple::{Bytes, Datum};

pub use crate::temp_account::TempAccount;

/// Bytes gathered before a write, and read at once.
const CHUNK: usize = 32 * 1024;

/// Memory that a row takes, by estimate: the slots and what hangs on them.
pub fn row_bytes(row: &[Datum]) -> usize {
    let mut size = size_of::<Vec<Datum>>() + size_of_val(row);
    for value in row {
        match value {
            Datum::Bytes(Bytes::Inline { .. }) => {}
            Datum::Bytes(bytes) => size += bytes.len() + 16,
            Datum::Toasted(bytes) => size += bytes.len() + 16,
            _ => {}
        }
    }
    size
}

/// Appends a row in the file's form, without its length word.
pub fn encode_row(row: &[Datum], out: &mut Vec<u8>) {
    for value in row {
        match value {
            Datum::Null => out.push(0),
            Datum::Bool(v) => out.extend([1, u8::from(*v)]),
            Datum::Char(v) => out.extend([2, *v]),
            Datum::Int2(v) => tagged(out, 3, &v.to_le_bytes()),
            Datum::Int4(v) => tagged(out, 4, &v.to_le_bytes()),
            Datum::Int8(v) => tagged(out, 5, &v.to_le_bytes()),
            Datum::Oid(v) => tagged(out, 6, &v.to_le_bytes()),
            Datum::Float4(v) => tagged(out, 7, &v.to_le_bytes()),
            Datum::Float8(v) => tagged(out, 8, &v.to_le_bytes()),
            Datum::Bytes(v) => {
                tagged(out, 9, &(v.len() as u32).to_le_bytes());
                out.extend_from_slice(v);
            }
            Datum::Toasted(v) => {
                tagged(out, 10, &(v.len() as u32).to_le_bytes());
                out.extend_from_slice(v);
            }
        }
    }
}

fn tagged(out: &mut Vec<u8>, tag: u8, bytes: &[u8]) {
    out.push(tag);
    out.extend_from_slice(bytes);
}

/// Reads a row written by [`encode_row`]; replaces the contents of `out`. `None` if the bytes are not a row.
pub fn decode_row(mut bytes: &[u8], out: &mut Vec<Datum>) -> Option<()> {
    out.clear();
    while let Some((&tag, rest)) = bytes.split_first() {
        bytes = rest;
        out.push(match tag {
            0 => Datum::Null,
            1 => Datum::Bool(take::<1>(&mut bytes)?[0] != 0),
            2 => Datum::Char(take::<1>(&mut bytes)?[0]),
            3 => Datum::Int2(i16::from_le_bytes(take(&mut bytes)?)),
            4 => Datum::Int4(i32::from_le_bytes(take(&mut bytes)?)),
            5 => Datum::Int8(i64::from_le_bytes(take(&mut bytes)?)),
            6 => Datum::Oid(u32::from_le_bytes(take(&mut bytes)?)),
            7 => Datum::Float4(f32::from_le_bytes(take(&mut bytes)?)),
            8 => Datum::Float8(f64::from_le_bytes(take(&mut bytes)?)),
            9 => Datum::Bytes(Bytes::new(take_long(&mut bytes)?)),
            10 => Datum::Toasted(take_long(&mut bytes)?.into()),
            _ => return None,
        });
    }
    Some(())
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (head, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*head)
}

fn take_long<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let len = u32::from_le_bytes(take(bytes)?) as usize;
    let (head, rest) = bytes.split_at_checked(len)?;
    *bytes = rest;
    Some(head)
}

/// Where temporary files are made, and what their names are made of.
#[derive(Clone, Debug)]
pub struct TempDir {
    /// The data directory.
    data: PathBuf,
    /// The database's own tablespace, for what has no other.
    own: Oid,
    /// Process number of the session, part of the names as in PostgreSQL.
    pid: i32,
    /// What the session's files take.
    pub account: Arc<TempAccount>,
    /// Tablespaces that take turns.
    turns: Arc<Mutex<Turns>>,
}

#[derive(Debug, Default)]
struct Turns {
    tablespaces: Vec<Oid>,
    last: usize,
}

impl TempDir {
    /// In a database's own tablespace, as long as [nothing else is chosen](Self::choose).
    pub fn new(data: PathBuf, own: Oid, pid: i32) -> TempDir {
        TempDir { data, own, pid, account: Default::default(), turns: Default::default() }
    }

    /// From now on these tablespaces take turns, beginning with any of them; 0 is the database's own.
    pub fn choose(&self, tablespaces: Vec<Oid>) {
        let last = runtime::random_u64() as usize % tablespaces.len().max(1);
        *self.turns.lock() = Turns { tablespaces, last };
    }

    /// The tablespace whose turn it is; 0, also if none were chosen: the database's own.
    pub fn next_tablespace(&self) -> Oid {
        let mut turns = self.turns.lock();
        turns.last = (turns.last + 1) % turns.tablespaces.len().max(1);
        turns.tablespaces.get(turns.last).copied().unwrap_or(Oid::INVALID)
    }

    /// A new file, with its path below the data directory.
    fn create(&self) -> std::io::Result<(File, String)> {
        let name = format!("pgsql_tmp{}.{:016x}", self.pid, runtime::random_u64());
        let create_in = |tablespace: Oid| {
            let folder = format!("{}/pgsql_tmp", tablespace_folder(tablespace));
            let path = self.data.join(&folder);
            let file = match open_new(&path.join(&name)) {
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                    // A chosen tablespace may be gone, and is not to be made anew.
                    match tablespace == self.own {
                        true => fs::create_dir_all(&path)?,
                        false => fs::create_dir(&path)?,
                    }
                    open_new(&path.join(&name))
                }
                other => other,
            };
            Ok((file?, format!("{folder}/{name}")))
        };
        match self.next_tablespace() {
            chosen if chosen.is_valid() && chosen != self.own => {
                create_in(chosen).or_else(|_| create_in(self.own))
            }
            _ => create_in(self.own),
        }
    }
}

/// A temporary file of rows, being written.
pub struct SpillFile {
    file: File,
    /// Its path below the data directory, `data`.
    name: String,
    data: PathBuf,
    buffer: Vec<u8>,
    /// Bytes gathered before a write.
    chunk: usize,
    written: u64,
    /// Bytes that the file takes.
    size: u64,
    account: Arc<TempAccount>,
}

impl SpillFile {
    /// Bytes gathered before a write where rows are dealt out to many files.
    pub const DEALT_CHUNK: usize = 8 * 1024;

    /// An empty file, one of several among which rows are partitioned.
    pub fn create_dealt(dir: &TempDir) -> SqlResult<SpillFile> {
        let mut file = SpillFile::create(dir)?;
        file.chunk = SpillFile::DEALT_CHUNK;
        Ok(file)
    }

    /// An empty file.
    pub fn create(dir: &TempDir) -> SqlResult<SpillFile> {
        let (file, name) = dir.create().map_err(io_error)?;
        used(|c| &c.temp_files, 1);
        let (account, data) = (dir.account.clone(), dir.data.clone());
        Ok(SpillFile { file, name, data, buffer: Vec::new(), chunk: CHUNK, written: 0, size: 0, account })
    }

    /// Appends a row.
    pub fn write(&mut self, row: &[Datum]) -> SqlResult<()> {
        self.write_with(row, &[])
    }

    /// Appends a row of these values and some more.
    pub fn write_with(&mut self, row: &[Datum], more: &[Datum]) -> SqlResult<()> {
        let start = self.buffer.len();
        self.buffer.extend_from_slice(&[0; 4]);
        encode_row(row, &mut self.buffer);
        encode_row(more, &mut self.buffer);
        let len = (self.buffer.len() - start - 4) as u32;
        self.buffer[start..start + 4].copy_from_slice(&len.to_le_bytes());
        if self.buffer.len() >= self.chunk { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> SqlResult<()> {
        self.grow(self.buffer.len())?;
        write(&self.file, &self.buffer, self.written)?;
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// So many bytes are about to be written at the end.
    fn grow(&mut self, bytes: usize) -> SqlResult<()> {
        let more = (self.written + bytes as u64).saturating_sub(self.size);
        self.account.grow(more)?;
        self.size += more;
        used(|c| &c.temp_bytes, more);
        Ok(())
    }

    /// Appends bytes that are rows already, past the buffer; not for files that rows are written to one by one.
    pub fn append(&mut self, bytes: &[u8]) -> SqlResult<()> {
        self.grow(bytes.len())?;
        write(&self.file, bytes, self.written)?;
        self.written += bytes.len() as u64;
        Ok(())
    }

    /// Forgets appended bytes behind the first `len`.
    pub fn cut(&mut self, len: u64) {
        self.written = self.written.min(len);
    }

    /// Reads bytes that were appended.
    pub fn read(&self, bytes: &mut [u8], at: u64) -> SqlResult<()> {
        read(&self.file, bytes, at)
    }

    /// Bytes in the file.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Ends writing: the file needs no memory until it is read.
    pub fn finish(&mut self) -> SqlResult<()> {
        self.flush()?;
        self.buffer = Vec::new();
        Ok(())
    }

    /// Ends writing and reads from the beginning.
    pub fn into_reader(mut self) -> SqlResult<SpillReader> {
        self.finish()?;
        Ok(SpillReader { file: self, buffer: Vec::new(), start: 0, position: 0 })
    }
}

impl Drop for SpillFile {
    fn drop(&mut self) {
        // Nothing can be done about a file that cannot be removed; the next start clears the directory.
        let _ = fs::remove_file(&self.data.join(&self.name));
        self.account.end(&self.name, self.size);
    }
}

/// Rows dealt out to files by hash, so that each file can be worked on alone.
#[derive(Default)]
pub struct Parts(Vec<Option<SpillFile>>);

impl Parts {
    /// How many there are.
    pub const COUNT: usize = 32;

    /// The part of a row. What is dealt out again looks, one level deeper, at other bits of the hash.
    pub fn part_of(hash: u64, level: usize) -> usize {
        let mixed = (hash ^ hash >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> (59 - level % 12 * 5)) as usize % Parts::COUNT
    }

    /// No rows at all.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a part has rows.
    pub fn has(&self, part: usize) -> bool {
        self.0.get(part).is_some_and(Option::is_some)
    }

    /// Appends a row to a part.
    pub fn write(&mut self, part: usize, row: &[Datum], dir: &TempDir) -> SqlResult<()> {
        self.0.resize_with(Parts::COUNT, || None);
        let file = match &mut self.0[part] {
            Some(file) => file,
            none => none.insert(SpillFile::create_dealt(dir)?),
        };
        file.write(row)
    }

    /// Ends writing; the files in the order of the parts.
    pub fn finish(mut self) -> SqlResult<Vec<Option<SpillFile>>> {
        self.0.iter_mut().flatten().try_for_each(SpillFile::finish)?;
        self.0.resize_with(Parts::COUNT, || None);
        Ok(self.0)
    }
}

/// A temporary file of rows, being read.
pub struct SpillReader {
    file: SpillFile,
    buffer: Vec<u8>,
    start: usize,
    position: u64,
}

impl SpillReader {
    /// The next row into `out`; `false` at the end.
    pub fn next(&mut self, out: &mut Vec<Datum>) -> SqlResult<bool> {
        if !self.fill(4)? {
            return Ok(false);
        }
        let head = &self.buffer[self.start..self.start + 4];
        let len = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
        let whole = self.fill(4 + len)?;
        let bytes = &self.buffer[self.start + 4..];
        if !whole || decode_row(&bytes[..len], out).is_none() {
            return Err(sql_err!(DATA_CORRUPTED, "unexpected end of temporary file"));
        }
        self.start += 4 + len;
        Ok(true)
    }

    /// Bytes in the file.
    pub fn bytes(&self) -> u64 {
        self.file.written
    }

    /// Back to the first row.
    pub fn rewind(&mut self) {
        self.buffer.clear();
        self.start = 0;
        self.position = 0;
    }

    /// Makes `need` bytes available from `start`; `false` if the file ends before.
    fn fill(&mut self, need: usize) -> SqlResult<bool> {
        while self.buffer.len() - self.start < need {
            self.buffer.drain(..self.start);
            self.start = 0;
            let left = (self.file.written - self.position) as usize;
            let want = left.min(CHUNK.max(need));
            if want == 0 {
                return Ok(false);
            }
            let old = self.buffer.len();
            self.buffer.resize(old + want, 0);
            read(&self.file.file, &mut self.buffer[old..], self.position)?;
            self.position += want as u64;
        }
        Ok(true)
    }
}

/// Writes, and counts the blocks.
fn write(file: &File, bytes: &[u8], at: u64) -> SqlResult<()> {
    used(|c| &c.temp_written, blocks(bytes));
    let write = || timed(|c| &c.temp_write_time, || file.write_all_at(bytes, at)).0;
    waiting(WaitEvent::TempFileWrite, write).map_err(io_error)
}

/// Reads, and counts the blocks.
fn read(file: &File, bytes: &mut [u8], at: u64) -> SqlResult<()> {
    used(|c| &c.temp_read, blocks(bytes));
    let read = || timed(|c| &c.temp_read_time, || file.read_exact_at(bytes, at)).0;
    waiting(WaitEvent::TempFileRead, read).map_err(io_error)
}

fn blocks(bytes: &[u8]) -> u64 {
    bytes.len().div_ceil(base::PAGE_SIZE) as u64
}

fn open_new(path: &std::path::Path) -> std::io::Result<File> {
    File::open(path, OpenOptions::CREATE_NEW)
}

fn io_error(error: std::io::Error) -> base::SqlError {
    let what = if is_disk_full(error.kind()) { "write" } else { "access" };
    let message = format!("could not {what} temporary file: {}", base::os_error(&error));
    file_error(error.kind(), is_transient(&error), message)
}
