//! What · Changes that wait for the end of their transaction.
//!
//! Layout · A [`Part`] for each transaction: its changes and those of its subtransactions in the order of the log, each with the xid that made it. Those of subtransactions that were rolled
//! back are left out when the transaction is told. A million savepoints are one part, and one file.
//!
//! In a spill file changes stand one behind the other, each after its length `u32`: position and xid `u64`, a letter, then what [`Entry::encode`] writes.
//!
//! Invariants
//! 1. The last change of a part is in memory: it can still be taken back.
//! 2. Spill files are of no use after a crash, and are removed when the slot is used again.
//!
//! PostgreSQL counterpart · `reorderbuffer.c`.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::{BlockNo, Lsn, Oid, RelFile, Tid, Xid};
use heap::logical::{Change, ChangeKind, OldRow};
use runtime::fs::{self, File, OpenOptions};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Figures;
use crate::EngineError;

/// Memory that a change takes beside its bytes.
const OVERHEAD: usize = 96;
/// Bytes that are read from or written to a spill file at a time.
const WINDOW: usize = 64 << 10;
/// How a spill file's name ends.
const SPILL: &str = ".spill";

/// Something that waits.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Waiting {
    /// A table is described.
    Description(Arc<[u8]>),
    /// Rows changed.
    Rows(Change),
    /// Tables were emptied: flags as the log has them, OIDs.
    Truncate(u8, Vec<Oid>),
    /// A message of a user: prefix and contents.
    Message(String, Vec<u8>),
}

/// Where it stood in the log, and what it is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub lsn: Lsn,
    /// Who did it: the transaction, or a subtransaction of it.
    pub xid: Xid,
    pub what: Waiting,
}

/// What waits of one transaction.
#[derive(Default)]
struct Part {
    /// Position of the first record of it.
    first: Lsn,
    entries: VecDeque<Entry>,
    /// Memory that these take.
    bytes: usize,
    spilled: Option<Spill>,
    /// Its subtransactions that did something.
    children: FxHashSet<Xid>,
    /// Those of them that were rolled back.
    undone: FxHashSet<Xid>,
}

struct Spill {
    path: PathBuf,
    file: File,
    length: u64,
}

/// All that waits.
pub(crate) struct Buffer {
    parts: FxHashMap<Xid, Part>,
    /// Subtransactions that did something, with their transactions.
    tops: FxHashMap<Xid, Xid>,
    bytes: usize,
    /// `logical_decoding_work_mem`, in bytes.
    limit: usize,
    folder: PathBuf,
}

fn io_error(what: &str, path: &Path, error: io::Error) -> EngineError {
    EngineError::Io(format!("could not {what} file \"{}\"", path.display()), error)
}

impl Buffer {
    /// An empty one that spills into the slot's folder, where nothing of an earlier one is left.
    pub fn new(folder: PathBuf, limit: usize) -> Result<Buffer, EngineError> {
        let left = fs::read_dir(&folder).map_err(|error| io_error("read", &folder, error))?;
        for entry in left.iter().filter(|entry| entry.name.ends_with(SPILL)) {
            let path = folder.join(&entry.name);
            fs::remove_file(&path).map_err(|error| io_error("remove", &path, error))?;
        }
        Ok(Buffer { parts: FxHashMap::default(), tops: FxHashMap::default(), bytes: 0, limit, folder })
    }

    /// Position of the oldest record that is still waited with.
    pub fn oldest(&self) -> Option<Lsn> {
        self.parts.values().map(|part| part.first).min()
    }

    /// The transactions of which something waits.
    pub fn xids(&self) -> impl Iterator<Item = Xid> + '_ {
        self.parts.keys().copied()
    }

    fn part(&mut self, xid: Xid, lsn: Lsn) -> &mut Part {
        self.parts.entry(xid).or_insert_with(|| Part { first: lsn, ..Part::default() })
    }

    /// The xid did something that is not told, of whichever transaction it is.
    pub fn touch(&mut self, xid: Xid, lsn: Lsn) {
        self.part(self.tops.get(&xid).copied().unwrap_or(xid), lsn);
    }

    /// One more change of a transaction.
    pub fn add(&mut self, top: Xid, entry: Entry, figures: &mut Figures) -> Result<(), EngineError> {
        let size = entry.what.size();
        if entry.xid != top {
            self.tops.insert(entry.xid, top);
        }
        let part = self.part(top, entry.lsn);
        if entry.xid != top {
            part.children.insert(entry.xid);
        }
        part.entries.push_back(entry);
        part.bytes += size;
        self.bytes += size;
        while self.bytes > self.limit && self.spill_largest(figures)? {}
        Ok(())
    }

    /// The version that was inserted last at this place never was.
    pub fn take_back(&mut self, top: Xid, file: RelFile, tid: Tid) {
        let Some(part) = self.parts.get_mut(&top) else { return };
        let is_it = |entry: &Entry| match &entry.what {
            Waiting::Rows(Change { file: of, kind: ChangeKind::Insert(rows), .. }) => {
                *of == file && matches!(rows.as_slice(), [(at, _)] if *at == tid)
            }
            _ => false,
        };
        if let Some(at) = part.entries.iter().rposition(is_it) {
            let size = part.entries.remove(at).map_or(0, |entry| entry.what.size());
            part.bytes -= size;
            self.bytes -= size;
        }
    }

    /// Brings what waits of the xid that takes most to disk; false if that would free nothing.
    fn spill_largest(&mut self, figures: &mut Figures) -> Result<bool, EngineError> {
        let Some((xid, part)) = self.parts.iter_mut().max_by_key(|(_, part)| part.bytes) else {
            return Ok(false);
        };
        if part.entries.len() < 2 {
            return Ok(false);
        }
        if part.spilled.is_none() {
            let path = self.folder.join(format!("xid-{}{SPILL}", xid.0));
            let file = File::open(&path, OpenOptions::CREATE).map_err(|e| io_error("open", &path, e))?;
            part.spilled = Some(Spill { path, file, length: 0 });
            figures.spilled_transactions += 1;
        }
        let spill = part.spilled.as_mut().expect("set above");
        let last = part.entries.pop_back().expect("there are two");
        let mut bytes = Vec::with_capacity(WINDOW);
        for entry in part.entries.drain(..) {
            let start = bytes.len();
            bytes.extend_from_slice(&[0; 4]);
            entry.encode(&mut bytes);
            let length = (bytes.len() - start - 4) as u32;
            bytes[start..start + 4].copy_from_slice(&length.to_le_bytes());
            if bytes.len() >= WINDOW {
                spill.write(&mut bytes, figures)?;
            }
        }
        spill.write(&mut bytes, figures)?;
        figures.spills += 1;
        let kept = last.what.size();
        part.entries.push_back(last);
        self.bytes = self.bytes - part.bytes + kept;
        part.bytes = kept;
        Ok(true)
    }

    /// An xid was rolled back: that of a transaction, or of a subtransaction.
    pub fn undo(&mut self, xid: Xid) {
        self.take_part(xid);
        let top = self.tops.get(&xid);
        if let Some(part) = top.and_then(|top| self.parts.get_mut(top)) {
            part.undone.insert(xid);
        }
    }

    fn take_part(&mut self, xid: Xid) -> Option<Part> {
        let part = self.parts.remove(&xid)?;
        self.bytes -= part.bytes;
        for child in &part.children {
            self.tops.remove(child);
        }
        Some(part)
    }

    /// Takes out what a transaction did, with its subtransactions; `None` if that is nothing. With the position of its first record.
    pub fn take(&mut self, top: Xid, children: &[Xid]) -> Option<(Lsn, Changes)> {
        let mut whole = self.take_part(top);
        // Of subtransactions that did nothing that is told.
        for child in children {
            let Some(part) = self.take_part(*child) else { continue };
            whole = whole.or_else(|| Some(Part { first: part.first, ..Part::default() }));
        }
        let part = whole?;
        let changes = Changes {
            spill: part.spilled,
            at: 0,
            read: Vec::new(),
            taken: 0,
            rest: part.entries,
            undone: part.undone,
        };
        Some((part.first, changes))
    }
}

impl Spill {
    fn write(&mut self, bytes: &mut Vec<u8>, figures: &mut Figures) -> Result<(), EngineError> {
        self.file.write_all_at(bytes, self.length).map_err(|e| io_error("write", &self.path, e))?;
        self.length += bytes.len() as u64;
        figures.spilled_bytes += bytes.len() as u64;
        bytes.clear();
        Ok(())
    }
}

impl Drop for Spill {
    fn drop(&mut self) {
        // What is left goes when the slot is used again.
        let _ = fs::remove_file(&self.path);
    }
}

/// The changes of a transaction, in the order of the log.
pub(crate) struct Changes {
    spill: Option<Spill>,
    /// Bytes of the spill file that were read.
    at: u64,
    /// Those read last; what stands before `taken` was given out.
    read: Vec<u8>,
    taken: usize,
    rest: VecDeque<Entry>,
    /// Subtransactions that were rolled back.
    undone: FxHashSet<Xid>,
}

impl Changes {
    /// The next one.
    pub fn next(&mut self) -> Result<Option<Entry>, EngineError> {
        loop {
            match self.next_of_all()? {
                Some(entry) if self.undone.contains(&entry.xid) => {}
                other => return Ok(other),
            }
        }
    }

    fn next_of_all(&mut self) -> Result<Option<Entry>, EngineError> {
        if self.spill.as_ref().is_none_or(|spill| self.at >= spill.length && self.taken == self.read.len()) {
            self.spill = None;
            return Ok(self.rest.pop_front());
        }
        let length = self.spilled(4)?.first_chunk().map_or(0, |length| u32::from_le_bytes(*length));
        let entry = Entry::decode(self.spilled(length as usize)?);
        entry.ok_or_else(|| self.damaged()).map(Some)
    }

    /// The next bytes of the spill file, of which a window is read at a time.
    fn spilled(&mut self, count: usize) -> Result<&[u8], EngineError> {
        let Some(spill) = &self.spill else { return Err(self.damaged()) };
        let here = self.read.len() - self.taken;
        if here < count {
            self.read.drain(..self.taken);
            self.taken = 0;
            let more = (count - here).max(WINDOW).min((spill.length - self.at) as usize);
            self.read.resize(here + more, 0);
            let read = spill.file.read_exact_at(&mut self.read[here..], self.at);
            read.map_err(|e| io_error("read", &spill.path, e))?;
            self.at += more as u64;
        }
        if self.read.len() - self.taken < count {
            return Err(self.damaged());
        }
        self.taken += count;
        Ok(&self.read[self.taken - count..self.taken])
    }

    fn damaged(&self) -> EngineError {
        let path = self.spill.as_ref().map_or(Path::new(""), |spill| &spill.path);
        io_error("read", path, io::Error::new(io::ErrorKind::InvalidData, "it is damaged"))
    }
}

impl Waiting {
    pub fn size(&self) -> usize {
        let old = |old: &Option<OldRow>| old.as_ref().map_or(0, |old| old.row.len());
        OVERHEAD
            + match self {
                Waiting::Description(bytes) => bytes.len(),
                Waiting::Rows(change) => match &change.kind {
                    ChangeKind::Insert(rows) => rows.iter().map(|(_, row)| row.len() + 40).sum(),
                    ChangeKind::Chunks(rows) => rows.iter().map(|row| row.len() + 24).sum(),
                    ChangeKind::Update { old: before, new } => old(before) + new.len(),
                    ChangeKind::Delete(before) => old(before),
                    ChangeKind::TakeBack(_) => 0,
                },
                Waiting::Truncate(_, tables) => 4 * tables.len(),
                Waiting::Message(prefix, contents) => prefix.len() + contents.len(),
            }
    }
}

/// Writes for a spill file.
struct Put<'a>(&'a mut Vec<u8>);

impl Put<'_> {
    fn u32(&mut self, number: u32) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }
    fn bytes(&mut self, bytes: &[u8]) {
        self.u32(bytes.len() as u32);
        self.0.extend_from_slice(bytes);
    }
    fn tid(&mut self, tid: Tid) {
        self.u32(tid.block.0);
        self.u32(tid.offset.into());
    }
    fn old(&mut self, old: &Option<OldRow>) {
        self.u32(old.as_ref().map_or(0, |old| 1 + u32::from(old.full)));
        if let Some(old) = old {
            self.bytes(&old.row);
        }
    }
}

/// Reads what [`Put`] wrote.
struct Get<'a>(&'a [u8]);

impl<'a> Get<'a> {
    fn u32(&mut self) -> Option<u32> {
        let (head, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*head))
    }
    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.u32()? as usize;
        let (head, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(head)
    }
    fn tid(&mut self) -> Option<Tid> {
        Some(Tid::new(BlockNo(self.u32()?), self.u32()? as u16))
    }
    fn old(&mut self) -> Option<Option<OldRow>> {
        Some(match self.u32()? {
            0 => None,
            kind => Some(OldRow { full: kind == 2, row: self.bytes()?.to_vec() }),
        })
    }
}

impl Entry {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.lsn.0.to_le_bytes());
        out.extend_from_slice(&self.xid.0.to_le_bytes());
        let mut put = Put(out);
        match &self.what {
            Waiting::Description(bytes) => {
                put.0.push(b'd');
                put.bytes(bytes);
            }
            Waiting::Rows(change) => encode_change(change, &mut put),
            Waiting::Truncate(flags, tables) => {
                put.0.push(b't');
                put.u32((*flags).into());
                put.u32(tables.len() as u32);
                tables.iter().for_each(|table| put.u32(table.0));
            }
            Waiting::Message(prefix, contents) => {
                put.0.push(b'm');
                put.bytes(prefix.as_bytes());
                put.bytes(contents);
            }
        }
    }

    fn decode(bytes: &[u8]) -> Option<Entry> {
        let (lsn, rest) = bytes.split_first_chunk()?;
        let (xid, rest) = rest.split_first_chunk()?;
        let (lsn, xid) = (Lsn(u64::from_le_bytes(*lsn)), Xid(u64::from_le_bytes(*xid)));
        let (&letter, rest) = rest.split_first()?;
        let mut get = Get(rest);
        let what = match letter {
            b'd' => Waiting::Description(get.bytes()?.into()),
            b't' => {
                let flags = get.u32()? as u8;
                let count = get.u32()?;
                Waiting::Truncate(flags, (0..count).map(|_| get.u32().map(Oid)).collect::<Option<_>>()?)
            }
            b'm' => {
                let prefix = String::from_utf8(get.bytes()?.to_vec()).ok()?;
                Waiting::Message(prefix, get.bytes()?.to_vec())
            }
            letter => Waiting::Rows(decode_change(letter, &mut get)?),
        };
        Some(Entry { lsn, xid, what })
    }
}

fn encode_change(change: &Change, put: &mut Put<'_>) {
    put.0.push(match change.kind {
        ChangeKind::Insert(_) => b'I',
        ChangeKind::Update { .. } => b'U',
        ChangeKind::Delete(_) => b'D',
        ChangeKind::TakeBack(_) => b'B',
        ChangeKind::Chunks(_) => b'C',
    });
    put.u32(change.relation.0);
    put.u32(change.file.tablespace.0);
    put.u32(change.file.database.0);
    put.u32(change.file.number);
    match &change.kind {
        ChangeKind::Insert(rows) => {
            put.u32(rows.len() as u32);
            for (tid, row) in rows {
                put.tid(*tid);
                put.bytes(row);
            }
        }
        ChangeKind::Update { old, new } => {
            put.old(old);
            put.bytes(new);
        }
        ChangeKind::Delete(old) => put.old(old),
        ChangeKind::TakeBack(tid) => put.tid(*tid),
        ChangeKind::Chunks(rows) => {
            put.u32(rows.len() as u32);
            rows.iter().for_each(|row| put.bytes(row));
        }
    }
}

fn decode_change(letter: u8, get: &mut Get<'_>) -> Option<Change> {
    let relation = Oid(get.u32()?);
    let (tablespace, database) = (Oid(get.u32()?), Oid(get.u32()?));
    let file = RelFile { tablespace, database, number: get.u32()? };
    let kind = match letter {
        b'I' => {
            let count = get.u32()?;
            let rows = (0..count).map(|_| Some((get.tid()?, get.bytes()?.to_vec())));
            ChangeKind::Insert(rows.collect::<Option<_>>()?)
        }
        b'U' => ChangeKind::Update { old: get.old()?, new: get.bytes()?.to_vec() },
        b'D' => ChangeKind::Delete(get.old()?),
        b'B' => ChangeKind::TakeBack(get.tid()?),
        b'C' => {
            let count = get.u32()?;
            ChangeKind::Chunks((0..count).map(|_| get.bytes().map(<[u8]>::to_vec)).collect::<Option<_>>()?)
        }
        _ => return None,
    };
    Some(Change { relation, file, distance: 0, kind })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn insert(xid: u64, lsn: u64, offset: u16) -> Entry {
        let file = RelFile { tablespace: Oid(1663), database: Oid(5), number: 9 };
        let rows = vec![(Tid::new(BlockNo(1), offset), vec![offset as u8; 300])];
        let change = Change { relation: Oid(16384), file, distance: 0, kind: ChangeKind::Insert(rows) };
        Entry { lsn: Lsn(lsn), xid: Xid(xid), what: Waiting::Rows(change) }
    }

    fn positions(mut changes: Changes) -> Vec<u64> {
        std::iter::from_fn(|| changes.next().unwrap().map(|entry| entry.lsn.0)).collect()
    }

    struct Dir(PathBuf);

    impl Dir {
        fn new() -> Dir {
            let dir = std::env::temp_dir().join(format!("stampede-decoding-{:x}", runtime::random_u64()));
            fs::create_dir_all(&dir).unwrap();
            Dir(dir)
        }

        fn files(&self) -> usize {
            fs::read_dir(&self.0).unwrap().len()
        }
    }

    impl Drop for Dir {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn what_was_rolled_back_is_left_out_and_what_is_too_much_goes_to_disk() {
        let dir = Dir::new();
        for limit in [1 << 20, 1000] {
            let mut figures = Figures::default();
            let mut buffer = Buffer::new(dir.0.clone(), limit).unwrap();
            for lsn in 1..=40 {
                // A transaction and two subtransactions take turns; one of these is rolled back.
                buffer.add(Xid(100), insert(100 + lsn % 3, lsn, lsn as u16), &mut figures).unwrap();
            }
            assert_eq!(buffer.oldest(), Some(Lsn(1)));
            assert_eq!(figures.spills > 0, limit == 1000);
            assert_eq!(dir.files(), usize::from(limit == 1000), "they share a file");
            buffer.undo(Xid(102));
            let (first, changes) = buffer.take(Xid(100), &[Xid(101), Xid(103)]).unwrap();
            assert_eq!(first, Lsn(1));
            assert_eq!(positions(changes), (1..=40).filter(|lsn| lsn % 3 != 2).collect::<Vec<_>>());
            assert_eq!((buffer.oldest(), buffer.bytes, buffer.tops.len(), dir.files()), (None, 0, 0, 0));
            assert!(buffer.take(Xid(100), &[]).is_none());
        }
    }

    #[test]
    fn a_spill_file_is_read_in_windows() {
        let dir = Dir::new();
        let mut figures = Figures::default();
        let mut buffer = Buffer::new(dir.0.clone(), 1000).unwrap();
        // Some end at a window's end or just beside it, one is larger than any.
        let sizes = [WINDOW - 33, 1, 40_000, 30_000, 3 * WINDOW, 0, WINDOW, 7];
        let message = |size| Waiting::Message(String::new(), vec![size as u8; size]);
        for (lsn, size) in (1..).zip(sizes) {
            let entry = Entry { lsn: Lsn(lsn), xid: Xid(7), what: message(size) };
            buffer.add(Xid(7), entry, &mut figures).unwrap();
        }
        let (_, mut changes) = buffer.take(Xid(7), &[]).unwrap();
        let found: Vec<Waiting> =
            std::iter::from_fn(|| changes.next().unwrap().map(|entry| entry.what)).collect();
        assert_eq!(found, sizes.map(message));
    }

    #[test]
    fn an_insertion_is_taken_back() {
        let dir = Dir::new();
        let mut figures = Figures::default();
        let mut buffer = Buffer::new(dir.0.clone(), 10).unwrap();
        for lsn in 1..=3 {
            buffer.add(Xid(7), insert(7, lsn, lsn as u16), &mut figures).unwrap();
        }
        let file = RelFile { tablespace: Oid(1663), database: Oid(5), number: 9 };
        buffer.take_back(Xid(7), file, Tid::new(BlockNo(1), 3));
        let (_, changes) = buffer.take(Xid(7), &[]).unwrap();
        assert_eq!(positions(changes), [1, 2]);
    }

    #[test]
    fn every_change_comes_back_from_its_bytes() {
        let file = RelFile { tablespace: Oid(1663), database: Oid(5), number: 9 };
        let old = || Some(OldRow { full: true, row: vec![1, 2] });
        let kinds = [
            ChangeKind::Update { old: old(), new: vec![3; 9] },
            ChangeKind::Update { old: None, new: vec![] },
            ChangeKind::Delete(old()),
            ChangeKind::TakeBack(Tid::new(BlockNo(70000), 3)),
            ChangeKind::Chunks(vec![vec![4], vec![]]),
        ];
        let rows = kinds.map(|kind| Waiting::Rows(Change { relation: Oid(16384), file, distance: 0, kind }));
        let others = [
            Waiting::Description(vec![1, 2, 3].into()),
            Waiting::Truncate(2, vec![Oid(5), Oid(6)]),
            Waiting::Message("ä".into(), vec![0, 255]),
        ];
        for what in rows.into_iter().chain(others) {
            let entry = Entry { lsn: Lsn(77), xid: Xid(9), what };
            let mut bytes = Vec::new();
            entry.encode(&mut bytes);
            assert_eq!(Entry::decode(&bytes), Some(entry));
            for end in 0..bytes.len() {
                assert_eq!(Entry::decode(&bytes[..end]), None);
            }
        }
    }

    #[test]
    fn what_an_earlier_one_left_goes() {
        let dir = Dir::new();
        fs::write_file(&dir.0.join("xid-5.spill"), b"old").unwrap();
        fs::write_file(&dir.0.join("state"), b"stays").unwrap();
        Buffer::new(dir.0.clone(), 10).unwrap();
        assert_eq!(dir.files(), 1);
    }
}
