//! # What
//! The control file `global/pg_control`: the few facts that recovery needs before it can read anything else.
//!
//! # Layout
//! 8192 bytes, little-endian. It is replaced as a whole (new file, fsync, rename, fsync of the directory), so a reader sees
//! the old facts or the new ones.
//!
//! The first bytes are laid out as in PostgreSQL 18, for backup tools that read them; what is Stampede's own follows.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 8 | system identifier |
//! | 8 | 4 | 1800, the version of that layout |
//! | 12 | 4 | 202506291, the version of the catalogs whose contents we follow |
//! | 16 | 4 | cluster state |
//! | 24 | 8 | time of the last update, seconds since 1970 |
//! | 32 | 8 | start of the latest checkpoint record |
//! | 40 | 88 | that checkpoint: redo point, time line and the one before, `full_page_writes`, `wal_level`, next xid, next OID, next multixact, 0, oldest xid and its database, oldest multixact and its database, time, two commit times' xids (0), oldest running xid |
//! | 128 | 8 | 0 |
//! | 136 | 12 | least LSN that redo must reach, and its time line |
//! | 152 | 17 | start of the base backup that is being recovered, its end if known, whether a record of its end must come |
//! | 172 | 29 | settings: `wal_level`, `wal_log_hints` (1), `max_connections`, `max_worker_processes`, `max_wal_senders`, `max_prepared_transactions`, `max_locks_per_transaction`, `track_commit_timestamp` |
//! | 204 | 53 | sizes: alignment, 1234567.0, page, pages of a file, page of the log, segment of the log, names, index keys, TOAST chunk, large object chunk, 1, check sums (1), signed characters (1) |
//! | 257 | 32 | 0 |
//! | 292 | 4 | CRC-32C of the bytes before |
//! | 512 | 8 | magic `STAMPEDE` |
//! | 520 | 4 | format version of the data directory |
//! | 524 | 4 | size of the checkpoint |
//! | 528 | 96 | that [`Checkpoint`] |
//! | 624 | 8 | time of the last update, microseconds since 2000-01-01 UTC |
//! | 8188 | 4 | CRC-32C of the bytes before |
//!
//! # Invariants
//! 1. The checkpoint named here is complete: all pages dirtied before its redo point are on disk.
//! 2. State `ShutDown` is written only after a shutdown checkpoint with nothing inserted behind it.
//! 3. While an archive is replayed, no page on disk is ahead of the least LSN that redo must reach.
//!
//! # PostgreSQL counterpart and differences
//! `pg_control`; PostgreSQL overwrites one sector in place and relies on sector atomicity.

use std::path::Path;

use base::calendar::UNIX_SECONDS;
use base::{Lsn, Oid, PAGE_SIZE, TimelineId, Xid};

use crate::EngineError;

/// Version of the data directory's formats. A server starts only on its own.
pub const FORMAT_VERSION: u32 = 17;
/// PostgreSQL's version of the control file's layout.
pub const PG_CONTROL_VERSION: u32 = 1800;
/// PostgreSQL's version of the catalogs.
pub const CATALOG_VERSION: u32 = 202_506_291;

const MAGIC: &[u8; 8] = b"STAMPEDE";
const SIZE: usize = 8192;
/// Where the check sum of PostgreSQL's part stands.
const OUTER_CRC: usize = 292;
/// Where our own part begins.
const OWN: usize = 512;
const OWN_CHECKPOINT: usize = OWN + 16;
const OWN_TIME: usize = OWN_CHECKPOINT + Checkpoint::SIZE;
/// Bytes of the file before version 14, which began with the magic.
const OLD_SIZE: usize = 160;
/// Its name below the data directory.
pub const FILE: &str = "global/pg_control";

/// What the cluster was doing when the control file was last written. Numbers are PostgreSQL's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum ClusterState {
    /// Bootstrap is not finished.
    Initializing = 0,
    /// Stopped after a shutdown checkpoint.
    ShutDown = 1,
    /// Stopped while an archive was replayed.
    ShutDownInRecovery = 2,
    /// Replaying WAL after a crash.
    InRecovery = 4,
    /// Replaying an archive.
    InArchiveRecovery = 5,
    /// Running; if nobody runs it now, it crashed.
    InProduction = 6,
}

impl ClusterState {
    const ALL: [ClusterState; 6] = [
        Self::Initializing,
        Self::ShutDown,
        Self::ShutDownInRecovery,
        Self::InRecovery,
        Self::InArchiveRecovery,
        Self::InProduction,
    ];

    fn from_u32(n: u32) -> Option<ClusterState> {
        Self::ALL.into_iter().find(|state| *state as u32 == n)
    }
}

/// How much the log says (`wal_level`). Numbers are PostgreSQL's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub enum WalLevel {
    /// What recovery from a crash needs.
    Minimal = 0,
    /// What an archive and copies of the server need too.
    #[default]
    Replica = 1,
    /// What decoding of changes needs too.
    Logical = 2,
}

impl WalLevel {
    /// The word of the setting.
    pub fn as_str(self) -> &'static str {
        ["minimal", "replica", "logical"][self as usize]
    }

    /// The level of this name.
    pub fn named(word: &str) -> Option<WalLevel> {
        [Self::Minimal, Self::Replica, Self::Logical].into_iter().find(|level| level.as_str() == word)
    }

    fn from_u64(n: u64) -> Option<WalLevel> {
        [Self::Minimal, Self::Replica, Self::Logical].into_iter().find(|level| *level as u64 == n)
    }
}

/// Settings that a copy of the server needs at least, or that tools ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordedSettings {
    /// `wal_level`.
    pub wal_level: WalLevel,
    /// `max_connections`.
    pub max_connections: u32,
    /// `max_worker_processes`.
    pub max_worker_processes: u32,
    /// `max_wal_senders`.
    pub max_wal_senders: u32,
    /// `max_prepared_transactions`.
    pub max_prepared_transactions: u32,
    /// `max_locks_per_transaction`.
    pub max_locks_per_transaction: u32,
    /// `track_commit_timestamp`.
    pub track_commit_timestamp: bool,
}

/// Where redo begins and what the counters were there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checkpoint {
    /// Redo starts here: every later record may not be in the files yet.
    pub redo: Lsn,
    /// First xid not assigned at the redo point.
    pub next_xid: Xid,
    /// First OID not handed out.
    pub next_oid: Oid,
    /// First multixact id not handed out; those before it have their pages.
    pub next_multixact: u64,
    /// Oldest xid that was running at the redo point.
    pub oldest_running: Xid,
    /// When it was taken, microseconds since 2000-01-01 UTC.
    pub time: i64,
    /// Whether the server had stopped accepting work.
    pub shutdown: bool,
    /// Oldest xid that rows may hold; 0 stands for the first.
    pub oldest_xid: Xid,
    /// Oldest multixact entry that rows may need; 0 stands for the first.
    pub oldest_multixact: u64,
    /// The time line that it is on.
    pub timeline: TimelineId,
    /// The one before, if this checkpoint begins the time line; otherwise the same.
    pub previous_timeline: TimelineId,
    /// `full_page_writes`.
    pub full_page_writes: bool,
    /// `wal_level`.
    pub wal_level: WalLevel,
}

impl Checkpoint {
    /// Encoded size, in the control file and as main data of the WAL record.
    pub const SIZE: usize = 96;

    /// Fixed-size little-endian form.
    pub fn encode(&self) -> [u8; Self::SIZE] {
        let words = [
            self.redo.0,
            self.next_xid.0,
            u64::from(self.next_oid.0),
            self.next_multixact,
            self.oldest_running.0,
            self.time as u64,
            u64::from(self.shutdown),
            self.oldest_xid.0,
            self.oldest_multixact,
            u64::from(self.timeline.0) | u64::from(self.previous_timeline.0) << 32,
            u64::from(self.full_page_writes),
            self.wal_level as u64,
        ];
        let mut out = [0; Self::SIZE];
        for (slot, word) in out.chunks_exact_mut(8).zip(words) {
            slot.copy_from_slice(&word.to_le_bytes());
        }
        out
    }

    /// Reads what [`Checkpoint::encode`] wrote; `None` if it is too short.
    pub fn decode(bytes: &[u8]) -> Option<Checkpoint> {
        let word = |i: usize| Some(u64::from_le_bytes(bytes.get(i * 8..i * 8 + 8)?.try_into().ok()?));
        if bytes.len() < Self::SIZE {
            return None;
        }
        let timelines = word(9)?;
        Some(Checkpoint {
            redo: Lsn(word(0)?),
            next_xid: Xid(word(1)?),
            next_oid: Oid(u32::try_from(word(2)?).ok()?),
            next_multixact: word(3)?,
            oldest_running: Xid(word(4)?),
            time: word(5)? as i64,
            shutdown: word(6)? != 0,
            oldest_xid: Xid(word(7)?),
            oldest_multixact: word(8)?,
            timeline: TimelineId(timelines as u32),
            previous_timeline: TimelineId((timelines >> 32) as u32),
            full_page_writes: word(10)? != 0,
            wal_level: WalLevel::from_u64(word(11)?)?,
        })
    }
}

/// The control file's contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlFile {
    /// What the cluster is doing.
    pub state: ClusterState,
    /// Drawn at initdb; WAL segments carry it.
    pub system_identifier: u64,
    /// When this was written.
    pub time: i64,
    /// Start of the latest checkpoint record.
    pub checkpoint_lsn: Lsn,
    /// Its contents.
    pub checkpoint: Checkpoint,
    /// Redo must come so far before the data are consistent; none: they are at the log's end.
    pub min_recovery_point: Lsn,
    /// Its time line.
    pub min_recovery_timeline: TimelineId,
    /// Redo point of the base backup that is being recovered; none when its end was met.
    pub backup_start: Lsn,
    /// Where the backup ended, if that is known before its record comes: it was taken of a server that replays.
    pub backup_end: Lsn,
    /// A record of the backup's end must come.
    pub backup_end_required: bool,
    /// Settings when the server started.
    pub settings: RecordedSettings,
    /// Bytes per WAL segment file.
    pub wal_segment_size: u32,
}

impl ControlFile {
    /// Of a new cluster that is not made yet.
    pub fn new(system_identifier: u64, wal_segment_size: u32, checkpoint: Checkpoint) -> ControlFile {
        ControlFile {
            state: ClusterState::Initializing,
            system_identifier,
            time: runtime::wall_clock_micros(),
            checkpoint_lsn: Lsn::INVALID,
            checkpoint,
            min_recovery_point: Lsn::INVALID,
            min_recovery_timeline: TimelineId(0),
            backup_start: Lsn::INVALID,
            backup_end: Lsn::INVALID,
            backup_end_required: false,
            settings: RecordedSettings::default(),
            wal_segment_size,
        }
    }

    /// Reads and checks the control file below `dir`.
    pub fn read(dir: &Path) -> Result<ControlFile, EngineError> {
        let bytes = runtime::fs::read_to_vec(&dir.join(FILE))
            .map_err(|e| EngineError::Io(format!("could not open file \"{FILE}\""), e))?;
        Self::decode(&bytes)
    }

    /// Replaces the control file durably.
    pub fn write(&self, dir: &Path) -> Result<(), EngineError> {
        runtime::fs::write_file_durably(&dir.join(FILE), &self.encode()[..])
            .map_err(|e| EngineError::Io(format!("could not write file \"{FILE}\""), e))
    }

    /// The time line of the log that redo follows when nobody asks for another: that of what is known to be in the data.
    pub fn timeline(&self) -> TimelineId {
        self.checkpoint.timeline.max(self.min_recovery_timeline)
    }

    /// Forgets how far redo had to come: it is over.
    pub fn end_recovery(&mut self) {
        (self.min_recovery_point, self.min_recovery_timeline) = (Lsn::INVALID, TimelineId(0));
        (self.backup_start, self.backup_end) = (Lsn::INVALID, Lsn::INVALID);
        self.backup_end_required = false;
    }

    fn encode(&self) -> Box<[u8; SIZE]> {
        let mut file = Writer(Box::new([0; SIZE]));
        self.encode_outer(&mut file);
        let crc = crc32c::crc32c(&file.0[..OUTER_CRC]);
        file.put(OUTER_CRC, crc);
        file.0[OWN..OWN + 8].copy_from_slice(MAGIC);
        file.put(OWN + 8, FORMAT_VERSION);
        file.put(OWN + 12, Checkpoint::SIZE as u32);
        file.0[OWN_CHECKPOINT..OWN_TIME].copy_from_slice(&self.checkpoint.encode());
        file.put_long(OWN_TIME, self.time as u64);
        let crc = crc32c::crc32c(&file.0[..SIZE - 4]);
        file.put(SIZE - 4, crc);
        file.0
    }

    /// What has PostgreSQL's layout.
    fn encode_outer(&self, file: &mut Writer) {
        let seconds = |micros: i64| (micros.div_euclid(1_000_000) + UNIX_SECONDS) as u64;
        let Checkpoint { timeline, previous_timeline, .. } = self.checkpoint;
        file.put_long(0, self.system_identifier);
        file.put_all(8, &[PG_CONTROL_VERSION, CATALOG_VERSION, self.state as u32]);
        file.put_long(24, seconds(self.time));
        file.put_long(32, self.checkpoint_lsn.0);
        let of = &self.checkpoint;
        file.put_long(40, of.redo.0);
        file.put_all(48, &[timeline.0, previous_timeline.0, of.full_page_writes.into(), of.wal_level as u32]);
        file.put_long(64, of.next_xid.0);
        let oldest = of.oldest_xid.max(Xid::FIRST_NORMAL).0 as u32;
        file.put_all(72, &[of.next_oid.0, of.next_multixact as u32, 0, oldest, 1]);
        file.put_all(92, &[of.oldest_multixact.max(1) as u32, 1]);
        file.put_long(104, seconds(of.time));
        file.put(120, of.oldest_running.0 as u32);
        file.put_long(136, self.min_recovery_point.0);
        file.put(144, self.min_recovery_timeline.0);
        file.put_long(152, self.backup_start.0);
        file.put_long(160, self.backup_end.0);
        file.put(168, self.backup_end_required.into());
        let settings = &self.settings;
        file.put_all(172, &[settings.wal_level as u32, 1, settings.max_connections]);
        file.put_all(184, &[settings.max_worker_processes, settings.max_wal_senders]);
        file.put_all(192, &[settings.max_prepared_transactions, settings.max_locks_per_transaction]);
        file.put_all(200, &[settings.track_commit_timestamp.into(), 8]);
        file.put_long(208, 1_234_567.0f64.to_bits());
        file.put_all(216, &[PAGE_SIZE as u32, smgr::SEGMENT_PAGES, PAGE_SIZE as u32, self.wal_segment_size]);
        file.put_all(232, &[64, 32, 1996, 2048, 1, 1, 1]);
    }

    /// Checks and reads the bytes of a control file.
    pub fn decode(bytes: &[u8]) -> Result<ControlFile, EngineError> {
        let corrupt = |what: &str| EngineError::ControlFile(what.to_owned());
        let version = |found| EngineError::FormatVersion { found, expected: FORMAT_VERSION };
        if bytes.len() == OLD_SIZE && bytes.starts_with(MAGIC) {
            return Err(version(u32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]])));
        }
        let b: &[u8; SIZE] = bytes.try_into().map_err(|_| corrupt("wrong size"))?;
        let u32_at = |i: usize| u32::from_le_bytes([b[i], b[i + 1], b[i + 2], b[i + 3]]);
        let u64_at = |i: usize| u64::from(u32_at(i)) | u64::from(u32_at(i + 4)) << 32;
        if &b[OWN..OWN + 8] != MAGIC {
            return Err(corrupt("not a Stampede data directory"));
        }
        if crc32c::crc32c(&b[..SIZE - 4]) != u32_at(SIZE - 4) {
            return Err(corrupt("incorrect checksum"));
        }
        if u32_at(OWN + 8) != FORMAT_VERSION {
            return Err(version(u32_at(OWN + 8)));
        }
        if u32_at(216) as usize != PAGE_SIZE {
            return Err(corrupt("made with another page size"));
        }
        let checkpoint = Checkpoint::decode(&b[OWN_CHECKPOINT..OWN_TIME]);
        Ok(ControlFile {
            state: ClusterState::from_u32(u32_at(16)).ok_or_else(|| corrupt("unknown cluster state"))?,
            system_identifier: u64_at(0),
            time: u64_at(OWN_TIME) as i64,
            checkpoint_lsn: Lsn(u64_at(32)),
            checkpoint: checkpoint.ok_or_else(|| corrupt("bad checkpoint"))?,
            min_recovery_point: Lsn(u64_at(136)),
            min_recovery_timeline: TimelineId(u32_at(144)),
            backup_start: Lsn(u64_at(152)),
            backup_end: Lsn(u64_at(160)),
            backup_end_required: u32_at(168) != 0,
            settings: RecordedSettings {
                wal_level: WalLevel::from_u64(u32_at(172).into()).ok_or_else(|| corrupt("bad wal_level"))?,
                max_connections: u32_at(180),
                max_worker_processes: u32_at(184),
                max_wal_senders: u32_at(188),
                max_prepared_transactions: u32_at(192),
                max_locks_per_transaction: u32_at(196),
                track_commit_timestamp: u32_at(200) != 0,
            },
            wal_segment_size: u32_at(228),
        })
    }
}

/// Puts numbers into a file.
struct Writer(Box<[u8; SIZE]>);

impl Writer {
    fn put(&mut self, at: usize, number: u32) {
        self.0[at..at + 4].copy_from_slice(&number.to_le_bytes());
    }

    fn put_all(&mut self, at: usize, numbers: &[u32]) {
        for (i, number) in numbers.iter().enumerate() {
            self.put(at + 4 * i, *number);
        }
    }

    fn put_long(&mut self, at: usize, number: u64) {
        self.0[at..at + 8].copy_from_slice(&number.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> ControlFile {
        ControlFile {
            state: ClusterState::InArchiveRecovery,
            system_identifier: 0x0123_4567_89AB_CDEF,
            time: -5,
            checkpoint_lsn: Lsn(0x1_0000_0028),
            checkpoint: Checkpoint {
                redo: Lsn(0x1_0000_0000),
                next_xid: Xid(1 << 40),
                next_oid: Oid(16_400),
                next_multixact: 7,
                oldest_running: Xid(99),
                time: 42,
                shutdown: true,
                oldest_xid: Xid(1 << 33),
                oldest_multixact: 5,
                timeline: TimelineId(3),
                previous_timeline: TimelineId(2),
                full_page_writes: true,
                wal_level: WalLevel::Logical,
            },
            min_recovery_point: Lsn(0x1_0000_1000),
            min_recovery_timeline: TimelineId(4),
            backup_start: Lsn(0x1_0000_0000),
            backup_end: Lsn(0x1_0000_2000),
            backup_end_required: true,
            settings: RecordedSettings {
                wal_level: WalLevel::Replica,
                max_connections: 10_000,
                max_worker_processes: 8,
                max_wal_senders: 10,
                max_prepared_transactions: 3,
                max_locks_per_transaction: 64,
                track_commit_timestamp: false,
            },
            wal_segment_size: 16 << 20,
        }
    }

    /// Both check sums are right again.
    fn sealed(mut bytes: Box<[u8; SIZE]>) -> Box<[u8; SIZE]> {
        for end in [OUTER_CRC, SIZE - 4] {
            let crc = crc32c::crc32c(&bytes[..end]);
            bytes[end..end + 4].copy_from_slice(&crc.to_le_bytes());
        }
        bytes
    }

    #[test]
    fn what_is_written_is_read() {
        let sample = sample();
        assert_eq!(ControlFile::decode(&sample.encode()[..]).unwrap(), sample);
        assert_eq!(sample.timeline(), TimelineId(4));
    }

    /// What Stolon, wal-g and pgBackRest look at, as `initdb` of PostgreSQL 18.1 writes it.
    #[test]
    fn tools_find_what_they_look_for() {
        let bytes = sample().encode();
        let long = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        assert_eq!((long(0), word(8), word(12)), (0x0123_4567_89AB_CDEF, 1800, 202_506_291));
        assert_eq!((word(16), long(24), long(32)), (5, 946_684_799, 0x1_0000_0028));
        assert_eq!((long(40), word(48), word(52), word(56)), (0x1_0000_0000, 3, 2, 1));
        assert_eq!((word(216), word(220), word(228), word(252)), (8192, 131_072, 16 << 20, 1));
        assert_eq!((word(204), long(208)), (8, 0x4132_D687_0000_0000));
        assert_eq!(word(292), crc32c::crc32c(&bytes[..292]));
    }

    #[test]
    fn another_format_is_refused_by_its_name() {
        let message = |found| {
            format!(
                "database files are incompatible with server: the data directory has format version {found}, \
                 this server reads {FORMAT_VERSION}"
            )
        };
        let mut other = sample().encode();
        other[OWN + 8..OWN + 12].copy_from_slice(&(FORMAT_VERSION + 1).to_le_bytes());
        let refused = ControlFile::decode(&sealed(other)[..]).unwrap_err();
        assert_eq!(refused.to_string(), message(FORMAT_VERSION + 1));
        let mut old = [0; OLD_SIZE];
        old[..8].copy_from_slice(MAGIC);
        old[8] = 13;
        assert_eq!(ControlFile::decode(&old).unwrap_err().to_string(), message(13));
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let good = sample().encode();
        for byte in 0..SIZE {
            let mut bad = good.clone();
            bad[byte] ^= 1 << (byte % 8);
            assert!(ControlFile::decode(&bad[..]).is_err(), "byte {byte}");
        }
    }

    #[test]
    fn a_short_file_is_refused() {
        assert!(ControlFile::decode(&sample().encode()[..SIZE - 1]).is_err());
    }
}
