//! What · What outlives the session of a prepared transaction, as the log and state files carry it.
//!
//! Layout · [`PreparedState::encode`] is the data of the PREPARE record. Numbers are LEB128 unless said otherwise:
//!
//! | field | bytes |
//! |---|---|
//! | xid, time of PREPARE (i64) | 8 + 8, little-endian |
//! | owner, database | two numbers |
//! | identifier | length, UTF-8 |
//! | commit | length, then as the data of a commit record: subtransactions, files that go at COMMIT PREPARED, invalidations |
//! | abort | length, then as the data of an abort record: files that go at ROLLBACK PREPARED |
//! | locks | count; for each a kind and a mode (1 byte each) and the numbers of its tag |
//! | predicate locks | 0, or of a serializable transaction one more than their number; for each a kind (1 byte), its relation (three numbers), block and row |
//!
//! A state file, `pg_twophase/` and the xid in 16 hexadecimal digits: magic `STMP2PC1`, those bytes, CRC-32C of all before
//! (4 bytes, little-endian). It is written once, as a new file that is synced, renamed and made durable with its folder.
//!
//! PostgreSQL counterpart · `TwoPhaseFileHeader` and its records, file names of full xids. Differences: one layout for the log
//! and for files; invalidations are those of the catalog layer, not messages.

use std::io;
use std::path::{Path, PathBuf};

use base::{BlockNo, Oid, RelFile, Tid, Xid};
use runtime::fs;

use crate::commit::{self, Remains, get, put};
use crate::lock::{LockMode, LockTag};
use crate::serializable::Target;

const MAGIC: &[u8; 8] = b"STMP2PC1";

/// What outlives the session of a prepared transaction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PreparedState {
    /// Top-level xid.
    pub xid: Xid,
    /// The client's identifier.
    pub gid: String,
    /// Role that prepared it.
    pub owner: Oid,
    /// Database it belongs to.
    pub database: Oid,
    /// When, in microseconds since 2000-01-01 UTC.
    pub time: i64,
    /// Live subtransactions, ascending.
    pub subxids: Vec<Xid>,
    /// Files that go when it commits.
    pub commit_files: Vec<RelFile>,
    /// Files that go when it is rolled back.
    pub abort_files: Vec<RelFile>,
    /// What the catalog's caches must forget when it commits; not read by this crate.
    pub invalidations: Vec<u8>,
    /// Heavyweight locks, but for those on its xids.
    pub locks: Vec<(LockTag, LockMode)>,
    /// Predicate locks, of a serializable transaction.
    pub predicate_locks: Option<Vec<Target>>,
}

impl PreparedState {
    /// Its bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(128 + self.invalidations.len());
        out.extend_from_slice(&self.xid.0.to_le_bytes());
        out.extend_from_slice(&self.time.to_le_bytes());
        put(&mut out, self.owner.0.into());
        put(&mut out, self.database.0.into());
        put_bytes(&mut out, self.gid.as_bytes());
        let end = |files, invalidations| {
            let (xid, subxids) = (self.xid, &self.subxids);
            commit::encode(&Remains { xid, subxids, files, invalidations, ..Remains::default() }, self.time)
        };
        put_bytes(&mut out, &end(&self.commit_files, &self.invalidations));
        put_bytes(&mut out, &end(&self.abort_files, &[]));
        put(&mut out, self.locks.len() as u64);
        for &(tag, mode) in &self.locks {
            put_lock(&mut out, tag, mode);
        }
        let targets = self.predicate_locks.as_ref();
        put(&mut out, targets.map_or(0, |targets| targets.len() as u64 + 1));
        targets.into_iter().flatten().for_each(|target| put_target(&mut out, *target));
        out
    }

    /// What [`encode`](Self::encode) wrote; `None` for anything else.
    pub fn decode(bytes: &[u8]) -> Option<PreparedState> {
        let (xid, rest) = bytes.split_first_chunk::<8>()?;
        let (time, mut rest) = rest.split_first_chunk::<8>()?;
        let xid = Xid(u64::from_le_bytes(*xid));
        let rest = &mut rest;
        let (owner, database) = (Oid(get_u32(rest)?), Oid(get_u32(rest)?));
        let gid = String::from_utf8(get_bytes(rest)?.to_vec()).ok()?;
        let at_commit = commit::decode(xid, get_bytes(rest)?)?;
        let at_abort = commit::decode(xid, get_bytes(rest)?)?;
        let mut locks = Vec::new();
        for _ in 0..get(rest)? {
            locks.push(get_lock(rest)?);
        }
        let predicate_locks = match get(rest)?.checked_sub(1) {
            None => None,
            Some(count) => Some((0..count).map(|_| get_target(rest)).collect::<Option<Vec<_>>>()?),
        };
        let sound =
            rest.is_empty() && xid.is_normal() && at_commit.subxids.first().is_none_or(|&sub| sub > xid);
        sound.then(|| PreparedState {
            xid,
            gid,
            owner,
            database,
            time: i64::from_le_bytes(*time),
            subxids: at_commit.subxids,
            commit_files: at_commit.files,
            abort_files: at_abort.files,
            invalidations: at_commit.invalidations,
            locks,
            predicate_locks,
        })
    }

    /// Greatest xid of it and its subtransactions.
    pub fn latest(&self) -> Xid {
        self.subxids.last().copied().unwrap_or(self.xid)
    }

    /// Writes the state file; durable on return.
    pub(crate) fn write_file(&self, dir: &Path) -> io::Result<()> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&self.encode());
        bytes.extend_from_slice(&crc32c::crc32c(&bytes).to_le_bytes());
        fs::write_file_durably(&state_file(dir, self.xid), &bytes)
    }

    /// The contents of a state file; `None` if it is damaged.
    pub(crate) fn from_file(bytes: &[u8]) -> Option<PreparedState> {
        let (rest, crc) = bytes.split_last_chunk::<4>()?;
        let sound = u32::from_le_bytes(*crc) == crc32c::crc32c(rest);
        // First of all: damaged counts could ask for any amount of memory.
        sound.then(|| PreparedState::decode(rest.strip_prefix(MAGIC)?))?
    }
}

/// Path of a transaction's state file.
pub(crate) fn state_file(dir: &Path, xid: Xid) -> PathBuf {
    dir.join(format!("{:016X}", xid.0))
}

/// The xid that a file's name says, if it is that of a state file.
pub(crate) fn xid_of_file(name: &str) -> Option<Xid> {
    let digits = name.len() == 16 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    digits.then(|| u64::from_str_radix(name, 16).ok().map(Xid))?
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

fn get_bytes<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(get(rest)?).ok()?;
    let (bytes, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(bytes)
}

fn get_u32(rest: &mut &[u8]) -> Option<u32> {
    u32::try_from(get(rest)?).ok()
}

fn put_lock(out: &mut Vec<u8>, tag: LockTag, mode: LockMode) {
    let (kind, numbers): (u8, [u64; 4]) = match tag {
        LockTag::Relation { database, relation } => (0, [database.0.into(), relation.0.into(), 0, 0]),
        LockTag::Extend { database, relation } => (1, [database.0.into(), relation.0.into(), 0, 0]),
        LockTag::Page { database, relation, block } => {
            (2, [database.0.into(), relation.0.into(), block.0.into(), 0])
        }
        LockTag::Tuple { database, relation, tid } => {
            (3, [database.0.into(), relation.0.into(), tid.block.0.into(), tid.offset.into()])
        }
        LockTag::Xid(xid) => (4, [xid.0, 0, 0, 0]),
        LockTag::VirtualXid { session, local } => (5, [session.0.into(), local.into(), 0, 0]),
        LockTag::Object { database, class, object, sub } => {
            (6, [database.0.into(), class.0.into(), object.0.into(), sub.into()])
        }
        LockTag::Advisory { database, key1, key2, kind } => {
            (7, [database.0.into(), key1.into(), key2.into(), kind.into()])
        }
        LockTag::Speculative(xid) => (8, [xid.0, 0, 0, 0]),
    };
    out.extend_from_slice(&[kind, mode as u8]);
    for number in numbers {
        put(out, number);
    }
}

fn get_lock(rest: &mut &[u8]) -> Option<(LockTag, LockMode)> {
    let (&[kind, mode], after) = rest.split_first_chunk::<2>()?;
    *rest = after;
    let mode = LockMode::ALL.into_iter().find(|&known| known as u8 == mode)?;
    let numbers = [get(rest)?, get(rest)?, get(rest)?, get(rest)?];
    let word = |at: usize| u32::try_from(numbers[at]).ok();
    let short = |at: usize| u16::try_from(numbers[at]).ok();
    let (database, relation) = (Oid(word(0).unwrap_or_default()), Oid(word(1).unwrap_or_default()));
    let tag = match kind {
        0 => LockTag::Relation { database, relation },
        1 => LockTag::Extend { database, relation },
        2 => LockTag::Page { database, relation, block: BlockNo(word(2)?) },
        3 => LockTag::Tuple { database, relation, tid: Tid { block: BlockNo(word(2)?), offset: short(3)? } },
        4 => LockTag::Xid(Xid(numbers[0])),
        5 => LockTag::VirtualXid { session: crate::SessionId(word(0)?), local: word(1)? },
        6 => LockTag::Object { database, class: Oid(word(1)?), object: Oid(word(2)?), sub: short(3)? },
        7 => LockTag::Advisory { database, key1: word(1)?, key2: word(2)?, kind: short(3)? },
        8 => LockTag::Speculative(Xid(numbers[0])),
        _ => return None,
    };
    Some((tag, mode))
}

fn put_target(out: &mut Vec<u8>, target: Target) {
    let (kind, relation, tid) = match target {
        Target::Relation(relation) | Target::Keys(relation) => (0, relation, Tid::default()),
        Target::Page(relation, block) => (1, relation, Tid { block, offset: 0 }),
        Target::Row(relation, tid) => (2, relation, tid),
    };
    out.push(kind);
    for number in [relation.tablespace.0, relation.database.0, relation.number, tid.block.0] {
        put(out, number.into());
    }
    put(out, tid.offset.into());
}

fn get_target(rest: &mut &[u8]) -> Option<Target> {
    let (&kind, after) = rest.split_first()?;
    *rest = after;
    let (tablespace, database) = (Oid(get_u32(rest)?), Oid(get_u32(rest)?));
    let relation = RelFile { tablespace, database, number: get_u32(rest)? };
    let tid = Tid { block: BlockNo(get_u32(rest)?), offset: u16::try_from(get(rest)?).ok()? };
    Some(match kind {
        0 => Target::Relation(relation),
        1 => Target::Page(relation, tid.block),
        2 => Target::Row(relation, tid),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tags(a: u32, b: u32, c: u32, d: u16) -> Vec<LockTag> {
        let (database, relation, block) = (Oid(a), Oid(b), BlockNo(c));
        vec![
            LockTag::Relation { database, relation },
            LockTag::Extend { database, relation },
            LockTag::Page { database, relation, block },
            LockTag::Tuple { database, relation, tid: Tid { block, offset: d } },
            LockTag::Xid(Xid(u64::from(a) << 20)),
            LockTag::VirtualXid { session: crate::SessionId(a), local: b },
            LockTag::Object { database, class: Oid(b), object: Oid(c), sub: d },
            LockTag::Advisory { database, key1: b, key2: c, kind: d },
            LockTag::Speculative(Xid(u64::from(b) << 20)),
        ]
    }

    fn targets(a: u32, b: u32, c: u16) -> Vec<Target> {
        let relation = RelFile { tablespace: Oid(1663), database: Oid(a), number: b };
        let tid = Tid { block: BlockNo(a), offset: c };
        vec![Target::Relation(relation), Target::Page(relation, BlockNo(b)), Target::Row(relation, tid)]
    }

    proptest! {
        #[test]
        fn states_survive_and_damage_is_noticed(
            gid in "\\PC{0,40}",
            gaps in prop::collection::vec(1_u64..5, 0..50),
            numbers in prop::collection::vec(any::<u32>(), 0..4),
            invalidations in prop::collection::vec(any::<u8>(), 0..50),
            (a, b, c, d) in any::<(u32, u32, u32, u16)>(),
            cut in any::<prop::sample::Index>(),
            bit in 0_u8..8,
        ) {
            let mut last = 70_000;
            let subxids = gaps.iter().map(|gap| { last += gap; Xid(last) }).collect();
            let files: Vec<_> = numbers.iter().map(|&number| RelFile { number, ..RelFile::default() }).collect();
            let state = PreparedState {
                xid: Xid(70_000),
                gid,
                owner: Oid(10),
                database: Oid(5),
                time: -7,
                subxids,
                commit_files: files.clone(),
                abort_files: files.iter().rev().copied().collect(),
                invalidations,
                locks: tags(a, b, c, d).into_iter().zip(LockMode::ALL).collect(),
                predicate_locks: (a % 2 == 0).then(|| targets(b, c, d)),
            };
            let bytes = state.encode();
            prop_assert_eq!(PreparedState::decode(&bytes), Some(state.clone()));
            prop_assert_eq!(PreparedState::decode(&bytes[..cut.index(bytes.len())]), None);
            let mut file = MAGIC.to_vec();
            file.extend_from_slice(&bytes);
            file.extend_from_slice(&crc32c::crc32c(&file).to_le_bytes());
            prop_assert_eq!(PreparedState::from_file(&file), Some(state));
            let at = cut.index(file.len());
            file[at] ^= 1 << bit;
            prop_assert_eq!(PreparedState::from_file(&file), None);
        }
    }

    #[test]
    fn only_state_files_have_names_of_state_files() {
        let path = state_file(Path::new("d"), Xid(0x1_0000_00AB));
        assert_eq!(path, Path::new("d/00000001000000AB"));
        assert_eq!(xid_of_file("00000001000000AB"), Some(Xid(0x1_0000_00AB)));
        for other in ["00000001000000AB.tmp", "AB", "+000000000000001", "zz00000000000001"] {
            assert_eq!(xid_of_file(other), None, "{other}");
        }
    }
}
