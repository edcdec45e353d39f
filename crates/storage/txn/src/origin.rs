//! What · Replication origins: from which servers changes were applied here, and how far each has come.
//!
//! Layout · `pg_logical/replorigin_checkpoint`, little-endian: magic, number of origins u32, for each its number u32 and two positions u64: of the other server, of here;
//! CRC-32C of all that.
//!
//! Invariants
//! 1. How far an origin has come is part of the transactions that say so: their commit records have it ([`Mark`]), and replay tells it again. So after a crash
//!    it is neither ahead of what was applied nor behind it.
//! 2. The file has what the log before the redo point of its checkpoint says, and nothing that is not durable yet.
//! 3. One session at a time commits for an origin, unless it says that it shares it.
//!
//! Locks · `table` (short), a leaf.
//!
//! PostgreSQL counterpart · `origin.c`.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use base::{Lsn, Xid};
use parking_lot::Mutex;
use runtime::fs;
use wal::Rmgr;

use crate::SessionId;
use crate::commit::{get, info, put};
use crate::error::TxnError;
use crate::system::{Log, TxnSystem};

/// The file, below the data directory.
const FILE: &str = "pg_logical/replorigin_checkpoint";
const MAGIC: u32 = 0x1257_DADE;
/// Bytes of an origin in the file.
const ENTRY: usize = 20;

/// What a transaction that was replicated says of where it comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// The origin's number.
    pub origin: u16,
    /// Where the transaction ends there; invalid: not said.
    pub remote: Lsn,
    /// When it committed there, in microseconds since 2000-01-01 UTC.
    pub time: i64,
}

impl Mark {
    /// Appends it to a commit record.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        put(out, self.origin.into());
        out.extend_from_slice(&self.remote.0.to_le_bytes());
        out.extend_from_slice(&self.time.to_le_bytes());
    }

    /// Takes it off the end of a commit record.
    pub(crate) fn decode(mut bytes: &[u8]) -> Option<Mark> {
        let origin = get(&mut bytes)?.try_into().ok()?;
        let (remote, bytes) = bytes.split_first_chunk()?;
        let time = i64::from_le_bytes(bytes.try_into().ok()?);
        Some(Mark { origin, remote: Lsn(u64::from_le_bytes(*remote)), time })
    }
}

/// How far an origin has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// What ended there before was applied here.
    pub remote: Lsn,
    /// End of the record here that said so.
    pub local: Lsn,
}

#[derive(Clone, Copy, Default)]
struct State {
    progress: Progress,
    /// Who commits for it.
    user: SessionId,
}

/// Why a session cannot commit for an origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// Another session does.
    InUse(SessionId),
    /// As many origins as may be (`max_active_replication_origins`) have come somewhere.
    Full,
    /// The session that it was to share it with does not.
    NotInUse,
}

/// How far all origins have come.
pub struct Origins {
    file: PathBuf,
    most: usize,
    table: Mutex<BTreeMap<u16, State>>,
}

impl Origins {
    pub(crate) fn new(data_dir: &Path, most: usize) -> Origins {
        Origins { file: data_dir.join(FILE), most, table: Mutex::default() }
    }

    /// The session commits for an origin from now on; together with the session `with`, if that is one.
    pub fn acquire(&self, origin: u16, session: SessionId, with: SessionId) -> Result<(), Refused> {
        let mut table = self.table.lock();
        let (known, full) = (table.get(&origin).copied(), table.len() >= self.most);
        let user = known.unwrap_or_default().user;
        match (user, with) {
            (user, with) if with != SessionId::default() && user != with => Err(Refused::NotInUse),
            (user, with) if user != SessionId::default() && user != with => Err(Refused::InUse(user)),
            _ if known.is_none() && full => Err(Refused::Full),
            (user, _) => {
                let user = if user == SessionId::default() { session } else { user };
                table.entry(origin).or_default().user = user;
                Ok(())
            }
        }
    }

    /// Who commits for an origin.
    pub fn user(&self, origin: u16) -> Option<SessionId> {
        let user = self.table.lock().get(&origin).map(|state| state.user);
        user.filter(|user| *user != SessionId::default())
    }

    /// The session commits for this origin no more.
    pub fn leave(&self, origin: u16, session: SessionId) {
        let mut table = self.table.lock();
        if let Some(state) = table.get_mut(&origin).filter(|state| state.user == session) {
            state.user = SessionId::default();
        }
    }

    /// The session ends, or commits for nobody any more.
    pub fn release(&self, session: SessionId) {
        self.table.lock().values_mut().filter(|state| state.user == session).for_each(|state| {
            state.user = SessionId::default();
        });
    }

    /// How far an origin has come; none if it has come nowhere.
    pub fn progress(&self, origin: u16) -> Option<Progress> {
        self.table.lock().get(&origin).map(|state| state.progress)
    }

    /// The same of all, by number.
    pub fn list(&self) -> Vec<(u16, Progress)> {
        self.table.lock().iter().map(|(origin, state)| (*origin, state.progress)).collect()
    }

    /// A transaction has committed, or its commit was replayed, whose record ends at `local`.
    pub(crate) fn advance(&self, mark: Mark, local: Lsn) {
        let mut table = self.table.lock();
        let progress = &mut table.entry(mark.origin).or_default().progress;
        progress.remote = progress.remote.max(mark.remote);
        progress.local = progress.local.max(local);
    }

    /// As a record says, which is replayed or was just logged.
    pub(crate) fn set(&self, origin: u16, progress: Progress) {
        self.table.lock().entry(origin).or_default().progress = progress;
    }

    pub(crate) fn remove(&self, origin: u16) {
        self.table.lock().remove(&origin);
    }

    fn encode(&self) -> Vec<u8> {
        let all = self.list();
        let mut out = MAGIC.to_le_bytes().to_vec();
        out.extend_from_slice(&(all.len() as u32).to_le_bytes());
        for (origin, progress) in all {
            out.extend_from_slice(&u32::from(origin).to_le_bytes());
            out.extend_from_slice(&progress.remote.0.to_le_bytes());
            out.extend_from_slice(&progress.local.0.to_le_bytes());
        }
        out.extend_from_slice(&crc32c::crc32c(&out).to_le_bytes());
        out
    }

    /// Brings to disk how far they have come, once the log says so there.
    pub(crate) fn checkpoint(&self, log: &dyn Log) -> Result<(), TxnError> {
        let local = self.list().iter().map(|(_, progress)| progress.local).max();
        match local {
            Some(local) => log.flush(local)?,
            None if !self.has_file()? => return Ok(()),
            None => {}
        }
        fs::write_file_durably(&self.file, &self.encode()).map_err(|error| self.failed(&error))
    }

    /// Reads how far they had come at the last checkpoint.
    pub(crate) fn load(&self) -> Result<(), TxnError> {
        if !self.has_file()? {
            return Ok(());
        }
        let bytes = fs::read_to_vec(&self.file).map_err(|error| self.failed(&error))?;
        let damaged = || self.failed(&io::Error::new(io::ErrorKind::InvalidData, "it is damaged"));
        let known = decode(&bytes).ok_or_else(damaged)?;
        known.into_iter().for_each(|(origin, progress)| self.set(origin, progress));
        Ok(())
    }

    fn has_file(&self) -> Result<bool, TxnError> {
        fs::exists(&self.file).map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &io::Error) -> TxnError {
        TxnError::StateFile {
            name: FILE.into(),
            kind: error.kind(),
            transient: base::os::is_transient(error),
            reason: base::os_error(error).to_string(),
        }
    }
}

fn decode(bytes: &[u8]) -> Option<Vec<(u16, Progress)>> {
    let (body, crc) = bytes.split_last_chunk()?;
    let rest = body.strip_prefix(&MAGIC.to_le_bytes())?;
    let (count, entries) = rest.split_first_chunk()?;
    if crc32c::crc32c(body) != u32::from_le_bytes(*crc)
        || entries.len() != u32::from_le_bytes(*count) as usize * ENTRY
    {
        return None;
    }
    let word = |bytes: &[u8]| Some(u64::from_le_bytes(bytes.try_into().ok()?));
    let entry = |entry: &[u8]| {
        let number = u32::from_le_bytes(entry[..4].try_into().ok()?);
        let progress = Progress { remote: Lsn(word(&entry[4..12])?), local: Lsn(word(&entry[12..])?) };
        Some((number.try_into().ok()?, progress))
    };
    entries.chunks(ENTRY).map(entry).collect()
}

/// The origin that a record of [`info::ORIGIN_SET`] or [`info::ORIGIN_DROP`] is about, and how far it has come.
pub(crate) fn decode_record(mut data: &[u8]) -> Option<(u16, Lsn)> {
    let origin = get(&mut data)?.try_into().ok()?;
    Some((origin, Lsn(u64::from_le_bytes(data.try_into().ok()?))))
}

impl TxnSystem {
    /// Says how far an origin that no session commits for has come, durably. It goes back only if that is `wanted`.
    pub fn set_origin(&self, origin: u16, remote: Lsn, wanted: bool) -> Result<(), TxnError> {
        let known = self.origins().progress(origin).unwrap_or_default();
        let remote = if wanted { remote } else { remote.max(known.remote) };
        let local = self.log_origin(info::ORIGIN_SET, origin, remote)?;
        self.origins().set(origin, Progress { remote, local });
        Ok(())
    }

    /// Forgets how far an origin has come, durably: its number may be another's soon.
    pub fn forget_origin(&self, origin: u16) -> Result<(), TxnError> {
        self.log_origin(info::ORIGIN_DROP, origin, Lsn::INVALID)?;
        self.origins().remove(origin);
        Ok(())
    }

    fn log_origin(&self, kind: u8, origin: u16, remote: Lsn) -> Result<Lsn, TxnError> {
        let worker = self.worker();
        // A checkpoint whose redo begins behind the record must find what it says.
        let _pass = self.gate().enter(&worker.in_flight);
        let mut data = Vec::with_capacity(11);
        put(&mut data, origin.into());
        data.extend_from_slice(&remote.0.to_le_bytes());
        let end = self.log().insert(Rmgr::Xact, kind, Xid::INVALID, &data);
        self.log().flush(end)?;
        Ok(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origins() -> Origins {
        Origins::new(Path::new("/nowhere"), 2)
    }

    #[test]
    fn an_origin_is_one_sessions() {
        let (origins, nobody) = (origins(), SessionId::default());
        assert_eq!(origins.acquire(1, SessionId(7), nobody), Ok(()));
        assert_eq!(origins.acquire(1, SessionId(8), nobody), Err(Refused::InUse(SessionId(7))));
        assert_eq!(origins.acquire(1, SessionId(8), SessionId(7)), Ok(()));
        assert_eq!(origins.acquire(2, SessionId(8), SessionId(7)), Err(Refused::NotInUse));
        origins.release(SessionId(7));
        assert_eq!(origins.acquire(1, SessionId(8), nobody), Ok(()));
        assert_eq!(origins.acquire(2, SessionId(8), nobody), Ok(()));
        assert_eq!(origins.acquire(3, SessionId(8), nobody), Err(Refused::Full));
    }

    #[test]
    fn progress_never_goes_back_and_survives_in_its_file() {
        let origins = origins();
        let mark = |remote| Mark { origin: 9, remote: Lsn(remote), time: 1 };
        origins.advance(mark(500), Lsn(50));
        origins.advance(mark(400), Lsn(60));
        let progress = Progress { remote: Lsn(500), local: Lsn(60) };
        assert_eq!(origins.progress(9), Some(progress));
        let bytes = origins.encode();
        assert_eq!(decode(&bytes), Some(vec![(9, progress)]));
        for byte in 0..bytes.len() {
            let mut bad = bytes.clone();
            bad[byte] ^= 1;
            assert_eq!(decode(&bad), None, "byte {byte}");
        }
    }

    #[test]
    fn marks_survive_and_damage_is_noticed() {
        let mark = Mark { origin: 300, remote: Lsn(u64::MAX - 1), time: -5 };
        let mut bytes = Vec::new();
        mark.encode(&mut bytes);
        assert_eq!(Mark::decode(&bytes), Some(mark));
        assert_eq!(Mark::decode(&bytes[..bytes.len() - 1]), None);
    }
}
