//! # What
//! Replication slots: each keeps the log from some position on for one receiver, also while that is away. A physical one for who takes the log as it is, a logical one for
//! who takes the changes of a database ([`decoding`](crate::decoding)).
//!
//! # Layout
//! A slot is a folder `pg_replslot/NAME` with a file `state`, 200 bytes, little-endian. It is replaced as a whole.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 4 | magic `0x1051CA1` |
//! | 4 | 4 | CRC-32C of the bytes from 8 on |
//! | 8 | 4 | version, 5 |
//! | 12 | 4 | bytes that follow, 184 |
//! | 16 | 64 | name, then zeros |
//! | 80 | 4 | database of a logical slot, else 0 |
//! | 84 | 4 | 0 a persistent slot, 1 one that is not complete yet, 2 a temporary one |
//! | 88 | 4 | lower half of the xid from which on a standby needs rows; 0: it needs none |
//! | 92 | 4 | xmin of catalogs, 0 |
//! | 96 | 8 | position from which on the log is kept; 0: none yet |
//! | 104 | 4 | why it is of no use any more: [`Cause`]; 0: it is not |
//! | 108 | 4 | upper half of that xid |
//! | 112 | 8 | position before which the receiver has everything that a logical slot told |
//! | 120 | 8 | position from which on prepared transactions are told, 0 |
//! | 128 | 1 | whether prepared transactions are told, 0 |
//! | 129 | 64 | output plugin of a logical slot, then zeros |
//! | 193 | 7 | whether it is kept in step with that of another server, 0; whether it is to be kept so by standbys; zeros |
//!
//! The fields stand where those of PostgreSQL 18 stand.
//!
//! # Invariants
//! 1. A slot that others can find is on disk: its folder is filled under another name (`NAME.tmp`) and renamed. What has such a name at a
//!    start is removed, and so are temporary slots, and logical ones that were not complete.
//! 2. A position on disk is never behind the one in memory: the log is removed only behind what [`Slots::oldest`] says, which may be younger than what
//!    the file says. After a crash a slot keeps more than it did, or its receiver asks for what it has already.
//! 3. One session at a time uses a slot: the one whose number it shows.
//!
//! # Locks
//! `changing` (fiber-aware, over I/O): slots are made and removed by one at a time. `Slot::saving` (fiber-aware, over I/O): its file. `table` and
//! `Slot::state`, `Slot::figures` (short): what slots there are; what one is. `hold` (short) before them: who is told what they hold back.
//!
//! # PostgreSQL counterpart
//! `slot.c`.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use base::{Lsn, Oid, Xid};
use parking_lot::Mutex;
use runtime::{WaitEvent, WaitQueue, fs};

use crate::decoding::Figures;
use crate::{Engine, EngineError};

/// The folder of slots.
pub const FOLDER: &str = "pg_replslot";
const MAGIC: u32 = 0x0105_1CA1;
const VERSION: u32 = 5;
const SIZE: usize = 200;
/// Bytes before those that are counted.
const HEAD: usize = 16;
/// Bytes of a name.
const NAME: usize = 64;

/// Why a slot is of no use any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Cause {
    /// Log that it kept was removed.
    LogRemoved = 1,
    /// Nobody has used it for too long.
    Idle = 8,
}

impl Cause {
    /// `pg_replication_slots.invalidation_reason`
    pub fn as_str(self) -> &'static str {
        match self {
            Cause::LogRemoved => "wal_removed",
            Cause::Idle => "idle_timeout",
        }
    }

    fn of(number: u32) -> Option<Cause> {
        [Cause::LogRemoved, Cause::Idle].into_iter().find(|cause| *cause as u32 == number)
    }
}

/// What cannot be done to slots.
#[derive(Debug)]
pub enum SlotError {
    /// There is one of this name.
    Exists(String),
    /// There is none of this name.
    Missing(String),
    /// It is another session's.
    Active(String, i32),
    /// As many are there as may be.
    Full,
    /// It is of no use any more.
    Invalid(String, Cause),
    /// A file failed.
    Io(String, io::Error),
    /// The session is to stop what it does.
    Interrupted(runtime::Interrupt),
}

/// What a logical slot is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logical {
    /// Whose changes.
    pub database: Oid,
    /// How they are told.
    pub plugin: String,
    /// To be kept in step by standbys.
    pub failover: bool,
}

/// What becomes of a slot when nobody uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Lasting {
    /// It stays.
    Persistent = 0,
    /// It is being made: it goes.
    Unfinished = 1,
    /// It ends with its session.
    Temporary = 2,
}

impl Lasting {
    fn of(number: u32) -> Lasting {
        match number {
            0 => Lasting::Persistent,
            1 => Lasting::Unfinished,
            _ => Lasting::Temporary,
        }
    }
}

/// What a slot is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlotState {
    /// The log is kept from here on; invalid: none is.
    pub restart: Lsn,
    /// Of a logical slot: its receiver has everything that ended before.
    pub confirmed: Lsn,
    /// Its standby needs rows from here on (`hot_standby_feedback`).
    pub xmin: Option<Xid>,
    /// Why it is of no use any more.
    pub invalid: Option<Cause>,
    /// Number of the session that uses it; 0: none.
    pub pid: i32,
    /// Since when nobody uses it, microseconds since 2000-01-01 UTC; 0 while somebody does.
    pub inactive_since: i64,
}

/// One slot.
#[derive(Debug)]
pub struct Slot {
    name: String,
    lasting: AtomicU32,
    logical: Option<Logical>,
    state: Mutex<SlotState>,
    /// What decoding has cost.
    figures: Mutex<Figures>,
    /// From where on its file says that the log is kept.
    saved: AtomicU64,
    /// Held while its file is written.
    saving: runtime::Mutex<()>,
}

impl Slot {
    fn new(name: &str, lasting: Lasting, logical: Option<Logical>, state: SlotState) -> Arc<Slot> {
        let saving = runtime::Mutex::new(WaitEvent::SlotFile, ());
        let lasting = AtomicU32::new(lasting as u32);
        let saved = AtomicU64::new(state.restart.0);
        Arc::new(Slot {
            name: name.into(),
            lasting,
            logical,
            state: Mutex::new(state),
            figures: Mutex::default(),
            saved,
            saving,
        })
    }

    /// What decoding has cost so far.
    pub fn figures(&self) -> Figures {
        *self.figures.lock()
    }

    /// Adds what decoding has cost meanwhile.
    pub fn add_figures(&self, more: &Figures) {
        self.figures.lock().add(more);
    }

    /// Forgets what decoding has cost.
    pub fn reset_figures(&self) {
        *self.figures.lock() = Figures { since: Some(runtime::wall_clock_micros()), ..Figures::default() };
    }

    /// From where on it needs the log; invalid: it needs none. A logical slot must find it after a crash too: from where its file says.
    fn needs(&self) -> Lsn {
        let state = self.state();
        match (&self.logical, state.invalid) {
            (_, Some(_)) => Lsn::INVALID,
            (None, None) => state.restart,
            // Relaxed: an old position keeps more.
            (Some(_), None) => match Lsn(self.saved.load(Ordering::Relaxed)) {
                Lsn::INVALID => state.restart,
                saved => saved.min(state.restart),
            },
        }
    }

    fn lasting(&self) -> Lasting {
        // Relaxed: only who uses the slot changes it.
        Lasting::of(self.lasting.load(Ordering::Relaxed))
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it ends with its session.
    pub fn is_temporary(&self) -> bool {
        self.lasting() == Lasting::Temporary
    }

    /// What it is for, if it is a logical one.
    pub fn logical(&self) -> Option<&Logical> {
        self.logical.as_ref()
    }

    /// What it is now.
    pub fn state(&self) -> SlotState {
        *self.state.lock()
    }

    /// The bytes of its file.
    fn encode(&self) -> [u8; SIZE] {
        let state = self.state();
        let mut bytes = [0; SIZE];
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        put(0, &MAGIC.to_le_bytes());
        put(8, &VERSION.to_le_bytes());
        put(12, &((SIZE - HEAD) as u32).to_le_bytes());
        put(HEAD, self.name.as_bytes());
        put(84, &(self.lasting() as u32).to_le_bytes());
        let xmin = state.xmin.unwrap_or(Xid::INVALID).0;
        put(88, &(xmin as u32).to_le_bytes());
        put(108, &((xmin >> 32) as u32).to_le_bytes());
        put(96, &state.restart.0.to_le_bytes());
        if let Some(logical) = &self.logical {
            put(80, &logical.database.0.to_le_bytes());
            put(112, &state.confirmed.0.to_le_bytes());
            put(129, logical.plugin.as_bytes());
            put(194, &[logical.failover.into()]);
        }
        put(104, &state.invalid.map_or(0, |cause| cause as u32).to_le_bytes());
        let crc = crc32c::crc32c(&bytes[8..]);
        bytes[4..8].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// The slot of a file; an error says what is wrong with the bytes.
    fn decode(bytes: &[u8], now: i64) -> Result<Arc<Slot>, String> {
        let u32_at = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        if bytes.len() != SIZE {
            return Err(format!("has {} of {SIZE} bytes", bytes.len()));
        }
        if u32_at(0) != MAGIC {
            return Err(format!("has wrong magic number: {} instead of {MAGIC}", u32_at(0)));
        }
        if u32_at(4) != crc32c::crc32c(&bytes[8..]) {
            return Err("has a wrong checksum".into());
        }
        if u32_at(8) != VERSION {
            return Err(format!("has unsupported version {}", u32_at(8)));
        }
        let name_at = |at: usize| {
            let name = bytes[at..at + NAME].split(|byte| *byte == 0).next().unwrap_or_default();
            std::str::from_utf8(name).map_err(|_| "has a name that is none".to_owned())
        };
        let lsn_at = |at: usize| Lsn(u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes")));
        let name = name_at(HEAD)?;
        let (restart, confirmed) = (lsn_at(96), lsn_at(112));
        let database = Oid(u32_at(80));
        let logical = match database.is_valid() {
            true => Some(Logical { database, plugin: name_at(129)?.into(), failover: bytes[194] != 0 }),
            false => None,
        };
        let invalid = match u32_at(104) {
            0 => None,
            other => Some(Cause::of(other).ok_or_else(|| format!("has an unknown cause {other}"))?),
        };
        let xmin = Xid(u64::from(u32_at(88)) | u64::from(u32_at(108)) << 32);
        let xmin = Some(xmin).filter(|xmin| xmin.is_valid());
        let state = SlotState { restart, confirmed, xmin, invalid, pid: 0, inactive_since: now };
        Ok(Slot::new(name, Lasting::of(u32_at(84)), logical, state))
    }
}

/// Hears what standbys need by their slots.
type Hold = Box<dyn Fn(Option<Xid>) + Send + Sync>;
/// Ends a session that uses a slot.
type Terminate = Box<dyn Fn(i32) + Send + Sync>;

/// The slots of a server.
pub struct Slots {
    dir: PathBuf,
    most: AtomicUsize,
    table: Mutex<BTreeMap<String, Arc<Slot>>>,
    /// Held while one is made or removed.
    changing: runtime::Mutex<()>,
    /// Who waits for a slot that others use.
    released: WaitQueue,
    terminate: OnceLock<Terminate>,
    hold: OnceLock<Mutex<Hold>>,
}

/// What the removal of old log makes of slots.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Log before this is about to be removed.
    pub keep_from: Lsn,
    /// How much a slot may keep, in bytes (`max_slot_wal_keep_size`), as the log tells of it.
    pub allowed: Lsn,
    /// `idle_replication_slot_timeout`; none: no such limit.
    pub idle: Option<Duration>,
}

impl Slots {
    /// The slots in a data directory, which has the folder already; `most`: `max_replication_slots`.
    pub fn open(data: &Path, most: usize) -> Result<Slots, EngineError> {
        let dir = data.join(FOLDER);
        let io = |what: &str, path: &Path, error| {
            EngineError::Io(format!("could not {what} \"{}\"", path.display()), error)
        };
        let now = runtime::wall_clock_micros();
        let mut table = BTreeMap::new();
        for entry in fs::read_dir(&dir).map_err(|e| io("open directory", &dir, e))? {
            let path = dir.join(&entry.name);
            if !entry.is_dir {
                continue;
            }
            if entry.name.ends_with(".tmp") {
                fs::remove_dir_all(&path).map_err(|e| io("remove directory", &path, e))?;
                continue;
            }
            let file = path.join("state");
            let bytes = fs::read_to_vec(&file).map_err(|e| io("open file", &file, e))?;
            let slot = Slot::decode(&bytes, now).map_err(|why| {
                EngineError::ControlFile(format!("replication slot file \"{}\" {why}", file.display()))
            })?;
            if slot.lasting() != Lasting::Persistent || slot.name != entry.name {
                fs::remove_dir_all(&path).map_err(|e| io("remove directory", &path, e))?;
                continue;
            }
            table.insert(slot.name.clone(), slot);
        }
        fs::sync_dir(&dir).map_err(|e| io("fsync directory", &dir, e))?;
        if table.len() > most {
            return Err(EngineError::TooManySlots);
        }
        Ok(Slots {
            dir,
            most: AtomicUsize::new(most),
            table: Mutex::new(table),
            changing: runtime::Mutex::new(WaitEvent::SlotChange, ()),
            released: WaitQueue::new(),
            terminate: OnceLock::new(),
            hold: OnceLock::new(),
        })
    }

    /// Who ends sessions that use a slot which is of no use any more; set once.
    pub fn on_terminate(&self, terminate: impl Fn(i32) + Send + Sync + 'static) {
        let _ = self.terminate.set(Box::new(terminate));
    }

    /// Who holds back rows that standbys need by their slots: is told now, and whenever that changes; set once.
    pub fn on_hold(&self, hold: impl Fn(Option<Xid>) + Send + Sync + 'static) {
        let _ = self.hold.set(Mutex::new(Box::new(hold)));
        self.tell_holds();
    }

    fn tell_holds(&self) {
        let Some(hold) = self.hold.get() else { return };
        // Who comes later tells later.
        let hold = hold.lock();
        let states: Vec<SlotState> = self.table.lock().values().map(|slot| slot.state()).collect();
        let valid = states.iter().filter(|state| state.invalid.is_none());
        hold(valid.filter_map(|state| state.xmin).min());
    }

    /// `max_replication_slots`
    pub fn most(&self) -> usize {
        // Relaxed: set once.
        self.most.load(Ordering::Relaxed)
    }

    /// All there are, by name.
    pub fn list(&self) -> Vec<Arc<Slot>> {
        self.table.lock().values().cloned().collect()
    }

    /// The slot of this name.
    pub fn find(&self, name: &str) -> Option<Arc<Slot>> {
        self.table.lock().get(name).cloned()
    }

    /// The logical slots of a database.
    pub fn of_database(&self, database: Oid) -> Vec<Arc<Slot>> {
        let mut slots = self.list();
        slots.retain(|slot| slot.logical().is_some_and(|logical| logical.database == database));
        slots
    }

    /// Removes the logical slots of a database.
    pub fn remove_of_database(&self, database: Oid, pid: i32) -> Result<(), SlotError> {
        for slot in self.of_database(database) {
            self.acquire(slot.name(), pid, false)?.remove()?;
        }
        Ok(())
    }

    /// From where on slots need the log; invalid: none needs any.
    pub fn oldest(&self) -> Lsn {
        let table = self.table.lock();
        table
            .values()
            .map(|slot| slot.needs())
            .filter(|restart| *restart != Lsn::INVALID)
            .min()
            .unwrap_or(Lsn::INVALID)
    }

    /// Makes a slot, which the session uses from now on.
    pub fn create(
        &self,
        name: &str,
        lasting: Lasting,
        logical: Option<Logical>,
        pid: i32,
    ) -> Result<InUse<'_>, SlotError> {
        let _changing = self.changing.lock();
        {
            let table = self.table.lock();
            if table.contains_key(name) {
                return Err(SlotError::Exists(name.into()));
            }
            if table.len() >= self.most() {
                return Err(SlotError::Full);
            }
        }
        let slot = Slot::new(name, lasting, logical, SlotState { pid, ..SlotState::default() });
        let folder = self.dir.join(name);
        let filling = self.dir.join(format!("{name}.tmp"));
        let make = || -> io::Result<()> {
            match fs::remove_dir_all(&filling) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            fs::create_dir(&filling)?;
            fs::write_file_durably(&filling.join("state"), &slot.encode())?;
            fs::rename(&filling, &folder)?;
            fs::sync_dir(&self.dir)
        };
        make().map_err(|error| {
            SlotError::Io(format!("could not create directory \"{FOLDER}/{name}\""), error)
        })?;
        self.table.lock().insert(name.into(), slot.clone());
        Ok(InUse { slots: self, slot })
    }

    /// Takes a slot into use. With `wait` it waits for who uses it.
    pub fn acquire(&self, name: &str, pid: i32, wait: bool) -> Result<InUse<'_>, SlotError> {
        let taken = || {
            let Some(slot) = self.find(name) else { return Some(Err(SlotError::Missing(name.into()))) };
            let mut state = slot.state.lock();
            // A temporary slot shows its session for as long as it lives.
            if state.pid == 0 || (slot.is_temporary() && state.pid == pid) {
                (state.pid, state.inactive_since) = (pid, 0);
                drop(state);
                return Some(Ok(InUse { slots: self, slot }));
            }
            let other = state.pid;
            (!wait).then(|| Err(SlotError::Active(name.into(), other)))
        };
        match taken() {
            Some(done) => done,
            None => runtime::waiting(WaitEvent::SlotDrop, || self.released.wait_until_interruptible(taken))
                .map_err(SlotError::Interrupted)?,
        }
    }

    /// The session ends: its temporary slots go. What cannot be removed goes at the next start.
    pub fn end_session(&self, pid: i32) {
        for slot in self.list() {
            if slot.is_temporary() && slot.state().pid == pid {
                let _ = InUse { slots: self, slot }.remove();
            }
        }
    }

    fn save(&self, slot: &Slot) -> Result<(), SlotError> {
        let _saving = slot.saving.lock();
        let file = self.dir.join(&slot.name).join("state");
        let bytes = slot.encode();
        fs::write_file_durably(&file, &bytes).map_err(|error| {
            SlotError::Io(format!("could not write to file \"{FOLDER}/{}/state\"", slot.name), error)
        })?;
        let restart = u64::from_le_bytes(bytes[96..104].try_into().expect("eight bytes"));
        slot.saved.store(restart, Ordering::Relaxed);
        Ok(())
    }

    /// Writes all positions to disk: at checkpoints.
    pub fn save_all(&self) -> Result<(), EngineError> {
        for slot in self.list() {
            // One that goes meanwhile has no file any more.
            match self.save(&slot) {
                Err(SlotError::Io(what, error)) if self.find(&slot.name).is_some() => {
                    return Err(EngineError::Io(what, error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Log is about to be removed: slots that need it are of no use any more, and neither are those that nobody has used for too long. Sessions that use
    /// them are ended. Returns whether any was.
    pub fn invalidate(&self, limits: Limits) -> Result<bool, EngineError> {
        let now = runtime::wall_clock_micros();
        let mut any = false;
        for slot in self.list() {
            let mut state = slot.state.lock();
            if state.invalid.is_some() || state.restart == Lsn::INVALID {
                continue;
            }
            let idle = (now - state.inactive_since).max(0) as u128;
            let cause = if state.restart < limits.keep_from {
                Cause::LogRemoved
            } else if state.inactive_since != 0
                && limits.idle.is_some_and(|most| idle >= most.as_micros())
                && state.pid == 0
            {
                Cause::Idle
            } else {
                continue;
            };
            let (restart, pid) = (state.restart, state.pid);
            state.invalid = Some(cause);
            if cause == Cause::LogRemoved {
                state.restart = Lsn::INVALID;
            }
            drop(state);
            self.tell_holds();
            any = true;
            tell(&slot, cause, (restart, pid), limits, idle);
            if pid != 0
                && let Some(terminate) = self.terminate.get()
            {
                terminate(pid);
            }
            match self.save(&slot) {
                Err(SlotError::Io(what, error)) if self.find(&slot.name).is_some() => {
                    return Err(EngineError::Io(what, error));
                }
                _ => {}
            }
        }
        Ok(any)
    }
}

/// How a slot fares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlotHealth {
    /// `pg_replication_slots.wal_status`
    pub status: Option<&'static str>,
    /// Bytes of the log that may still come before it loses what it keeps, if there is such a limit.
    pub safe: Option<i64>,
}

impl Engine {
    /// From where on the log must stay, with what slots need. `floor`: all before it is needed by nobody else. Slots that may not keep so much are of no use any
    /// more, and neither are idle ones.
    pub(crate) fn keep_for_slots(&self, floor: Lsn) -> Result<Lsn, EngineError> {
        let options = self.options();
        let size = self.wal.segment_size();
        let segment = |position: Lsn| Lsn(position.0 / size * size);
        let end = segment(self.wal.insert_end());
        let limit = options.slot_keep_size.map(|most| Lsn(end.0.saturating_sub(most / size * size)));
        loop {
            let oldest = self.slots.oldest();
            let kept = match oldest {
                Lsn::INVALID => floor,
                oldest => floor.min(oldest.max(limit.unwrap_or(Lsn::INVALID))),
            };
            let keep_from = segment(kept);
            let limits = Limits { keep_from, allowed: limit.unwrap_or(keep_from), idle: options.slot_idle };
            if !self.slots.invalidate(limits)? {
                return Ok(kept);
            }
        }
    }

    /// How a slot fares that is in this state.
    pub fn slot_health(&self, state: &SlotState) -> SlotHealth {
        if state.invalid.is_some() {
            return SlotHealth { status: Some("lost"), safe: None };
        }
        if state.restart == Lsn::INVALID {
            return SlotHealth::default();
        }
        let options = self.options();
        let size = self.wal.segment_size();
        let end = self.wal.flushed();
        let (segment, current) = (state.restart.0 / size, end.0 / size);
        let keep = options.slot_keep_size.map(|most| most / size);
        // As far back as slots may hold the log, and as a checkpoint would let it grow anyway.
        let oldest_kept = keep.map_or(segment, |keep| current.saturating_sub(keep).max(1));
        let usual = current.saturating_sub(options.wal.max_size / size + 1).max(1);
        let status = match segment {
            segment if segment >= oldest_kept && segment >= usual => "reserved",
            segment if segment >= oldest_kept => "extended",
            _ => "unreserved",
        };
        let safe = keep.map(|keep| ((segment + keep + 1) * size) as i64 - end.0 as i64);
        SlotHealth { status: Some(status), safe }
    }
}

/// Tells the log why a slot is of no use any more.
fn tell(slot: &Slot, cause: Cause, (restart, pid): (Lsn, i32), limits: Limits, idle: u128) {
    let (detail, hint) = match cause {
        Cause::LogRemoved => {
            let beyond = limits.allowed.0.saturating_sub(restart.0);
            let plural = if beyond == 1 { "" } else { "s" };
            (
                format!("The slot's restart_lsn {restart} exceeds the limit by {beyond} byte{plural}."),
                "You might need to increase \"max_slot_wal_keep_size\".",
            )
        }
        Cause::Idle => (
            format!(
                "The slot's idle time of {}s exceeds the configured \"idle_replication_slot_timeout\" duration of {}s.",
                idle / 1_000_000,
                limits.idle.unwrap_or_default().as_secs()
            ),
            "You might need to increase \"idle_replication_slot_timeout\".",
        ),
    };
    if pid != 0 {
        tracing::info!(detail = %detail, hint = %hint, "terminating process {pid} to release replication slot \"{}\"", slot.name);
    } else {
        tracing::info!(detail = %detail, hint = %hint, "invalidating obsolete replication slot \"{}\"", slot.name);
    }
}

/// A slot that a session uses, until this is dropped.
pub struct InUse<'a> {
    slots: &'a Slots,
    slot: Arc<Slot>,
}

impl InUse<'_> {
    /// The slot.
    pub fn slot(&self) -> &Slot {
        &self.slot
    }

    /// Fails if the slot is of no use any more.
    pub fn check_valid(&self) -> Result<(), SlotError> {
        match self.slot.state().invalid {
            Some(cause) => Err(SlotError::Invalid(self.slot.name.clone(), cause)),
            None => Ok(()),
        }
    }

    /// The log is kept from here on; not yet on disk.
    pub fn keep_from(&self, restart: Lsn) {
        let mut state = self.slot.state.lock();
        if state.invalid.is_none() {
            state.restart = restart;
        }
    }

    /// Its receiver has everything that ended before `confirmed`, and decoding begins again at `restart`; not yet on disk. Neither goes back.
    pub fn confirm(&self, confirmed: Lsn, restart: Option<Lsn>) {
        let mut state = self.slot.state.lock();
        if state.invalid.is_none() {
            state.confirmed = state.confirmed.max(confirmed);
            state.restart = restart.map_or(state.restart, |restart| state.restart.max(restart));
        }
    }

    /// It is complete: it stays. Brings it to disk.
    pub fn finish(&self) -> Result<(), SlotError> {
        if self.slot.lasting() == Lasting::Unfinished {
            self.slot.lasting.store(Lasting::Persistent as u32, Ordering::Relaxed);
        }
        self.save()
    }

    /// Its standby needs rows from here on; not yet on disk.
    pub fn hold_from(&self, xmin: Option<Xid>) {
        let was = std::mem::replace(&mut self.slot.state.lock().xmin, xmin);
        if was != xmin {
            self.slots.tell_holds();
        }
    }

    /// Brings what it is to disk.
    pub fn save(&self) -> Result<(), SlotError> {
        self.slots.save(&self.slot)
    }

    /// Removes it.
    pub fn remove(self) -> Result<(), SlotError> {
        self.take_away()
    }

    fn take_away(&self) -> Result<(), SlotError> {
        let name = &self.slot.name;
        let _changing = self.slots.changing.lock();
        let (folder, going) = (self.slots.dir.join(name), self.slots.dir.join(format!("{name}.tmp")));
        let failed = |error| SlotError::Io(format!("could not remove directory \"{FOLDER}/{name}\""), error);
        {
            let _saving = self.slot.saving.lock();
            fs::rename(&folder, &going).map_err(failed)?;
            self.slots.table.lock().remove(name);
        }
        self.slots.tell_holds();
        // The rename is what counts; what is left of the folder goes at the next start.
        let cleaned = fs::sync_dir(&self.slots.dir).and_then(|()| fs::remove_dir_all(&going));
        self.slots.released.wake_all();
        cleaned.map_err(failed)
    }
}

impl Drop for InUse<'_> {
    fn drop(&mut self) {
        if self.slot.lasting() == Lasting::Unfinished && self.slots.find(&self.slot.name).is_some() {
            // What cannot be removed goes at the next start.
            let _ = self.take_away();
            return;
        }
        if !self.slot.is_temporary() {
            let mut state = self.slot.state.lock();
            (state.pid, state.inactive_since) = (0, runtime::wall_clock_micros());
        }
        self.slots.released.wake_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Dir(PathBuf);

    impl Dir {
        fn new() -> Dir {
            let dir = std::env::temp_dir().join(format!("stampede-slots-{:x}", runtime::random_u64()));
            fs::create_dir_all(&dir.join(FOLDER)).unwrap();
            Dir(dir)
        }

        fn open(&self, most: usize) -> Slots {
            Slots::open(&self.0, most).unwrap()
        }
    }

    impl Drop for Dir {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn limits(keep_from: u64, idle: Option<Duration>) -> Limits {
        Limits { keep_from: Lsn(keep_from), allowed: Lsn(keep_from), idle }
    }

    #[test]
    fn slots_stay_and_temporary_ones_go() {
        let dir = Dir::new();
        let slots = dir.open(3);
        let one = slots.create("one", Lasting::Persistent, None, 7).unwrap();
        one.keep_from(Lsn(0x500));
        one.save().unwrap();
        drop(one);
        drop(slots.create("two", Lasting::Temporary, None, 7).unwrap());
        assert_eq!(slots.find("two").unwrap().state().pid, 7, "it shows its session");
        assert!(matches!(slots.create("one", Lasting::Persistent, None, 7), Err(SlotError::Exists(_))));
        let three = slots.create("three", Lasting::Persistent, None, 7).unwrap();
        assert!(matches!(slots.create("four", Lasting::Persistent, None, 7), Err(SlotError::Full)));
        three.remove().unwrap();
        drop(slots);
        let again = dir.open(3);
        let names: Vec<_> = again.list().iter().map(|slot| slot.name().to_owned()).collect();
        assert_eq!(names, ["one"]);
        let state = again.find("one").unwrap().state();
        assert_eq!((state.restart, state.invalid, state.pid), (Lsn(0x500), None, 0));
        assert_eq!(again.oldest(), Lsn(0x500));
        assert!(matches!(Slots::open(&dir.0, 0), Err(EngineError::TooManySlots)));
    }

    #[test]
    fn one_session_at_a_time_uses_a_slot() {
        let dir = Dir::new();
        let slots = dir.open(3);
        let used = slots.create("s", Lasting::Persistent, None, 7).unwrap();
        assert!(matches!(slots.acquire("s", 8, false), Err(SlotError::Active(_, 7))));
        assert!(matches!(slots.acquire("nix", 8, false), Err(SlotError::Missing(_))));
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| slots.acquire("s", 8, true).map(|used| used.slot().state().pid));
            drop(used);
            assert!(matches!(waits.join().unwrap(), Ok(8)));
        });
        drop(slots.create("t", Lasting::Temporary, None, 7).unwrap());
        assert!(slots.acquire("t", 7, false).is_ok());
        let held = Arc::new(Mutex::new(None));
        slots.on_hold({
            let held = held.clone();
            move |xmin| *held.lock() = xmin
        });
        slots.acquire("t", 7, false).unwrap().hold_from(Some(Xid(30)));
        slots.acquire("s", 8, true).unwrap().hold_from(Some(Xid(40)));
        assert_eq!(*held.lock(), Some(Xid(30)));
        slots.end_session(7);
        assert_eq!(*held.lock(), Some(Xid(40)), "it holds nothing back any more");
        assert!(slots.find("t").is_none() && slots.find("s").is_some());
    }

    #[test]
    fn slots_that_keep_too_much_or_are_idle_become_invalid() {
        let dir = Dir::new();
        let slots = dir.open(3);
        let ended = Arc::new(Mutex::new(Vec::new()));
        slots.on_terminate({
            let ended = ended.clone();
            move |pid| ended.lock().push(pid)
        });
        let used = slots.create("used", Lasting::Persistent, None, 9).unwrap();
        used.keep_from(Lsn(100));
        let idle = slots.create("idle", Lasting::Persistent, None, 9).unwrap();
        idle.keep_from(Lsn(300));
        drop(idle);
        drop(slots.create("keeps_nothing", Lasting::Persistent, None, 9).unwrap());
        assert!(!slots.invalidate(limits(100, None)).unwrap());
        assert!(slots.invalidate(limits(200, None)).unwrap());
        assert_eq!(*ended.lock(), [9]);
        assert!(matches!(used.check_valid(), Err(SlotError::Invalid(_, Cause::LogRemoved))));
        used.keep_from(Lsn(900));
        assert_eq!(slots.oldest(), Lsn(300), "it does not come back");
        assert!(slots.invalidate(limits(200, Some(Duration::ZERO))).unwrap());
        assert_eq!(slots.find("idle").unwrap().state().invalid, Some(Cause::Idle));
        assert_eq!(slots.oldest(), Lsn::INVALID);
        assert_eq!(slots.find("keeps_nothing").unwrap().state().invalid, None);
        drop(used);
        drop(slots);
        assert_eq!(dir.open(3).find("used").unwrap().state().invalid, Some(Cause::LogRemoved));
    }

    #[test]
    fn a_damaged_file_is_noticed() {
        let xmin = Some(Xid(5 << 32 | 9));
        let slot = Slot::new(
            "s",
            Lasting::Persistent,
            None,
            SlotState { restart: Lsn(77), xmin, ..SlotState::default() },
        );
        let good = slot.encode();
        let state = Slot::decode(&good, 5).unwrap().state();
        assert_eq!((state.restart, state.xmin), (Lsn(77), xmin));
        for byte in 0..SIZE {
            let mut bad = good;
            bad[byte] ^= 1;
            assert!(Slot::decode(&bad, 5).is_err(), "byte {byte}");
        }
        assert!(Slot::decode(&good[..SIZE - 1], 5).is_err());
    }
}
