//! What · Replay of `Rmgr::Xact`, `Rmgr::Clog`, `Rmgr::Multixact` and `Rmgr::Standby`.
//!
//! Replay is idempotent: bits of the commit log are set again, files take catalogs' places again, and those that are gone are dropped again. Every record's xid,
//! of whatever resource manager, is shown to [`TxnSystem::observe_xid`], so that no xid with a trace in WAL is given out
//! again.

use std::ops::Deref;

use base::{MultiXactId, Xid};
use wal::{Record, Rmgr};

use crate::clog::{self, Outcome};
use crate::commit::{self, info};
use crate::error::TxnError;
use crate::multixact;
use crate::origin::{self, Progress};
use crate::prepared_state::PreparedState;
use crate::standby;
use crate::system::TxnSystem;

impl TxnSystem {
    /// Recovery read a record of this xid.
    pub fn observe_xid(&self, xid: Xid) {
        if xid.is_normal() {
            self.running().observe(xid);
        }
    }

    /// Takes from a record that was replayed before what is kept nowhere else: which xids and multixacts have been given out. Changes nothing on disk.
    pub fn observe<B: Deref<Target = [u8]>>(&self, record: &Record<B>) {
        self.observe_xid(record.xid);
        let (xid, data) = (record.xid, record.data());
        match (record.rmgr, record.info) {
            (Rmgr::Xact, info::PREPARE) => {
                let state = PreparedState::decode(data);
                state.iter().for_each(|state| self.observe_xid(state.latest()));
            }
            (Rmgr::Xact, info::COMMIT | info::ABORT | info::COMMIT_PREPARED | info::ABORT_PREPARED) => {
                let last = commit::decode(xid, data).and_then(|record| record.subxids.last().copied());
                last.into_iter().for_each(|xid| self.observe_xid(xid));
            }
            (Rmgr::Multixact, multixact::CREATE) => self.multixacts.observe_create(data),
            _ => {}
        }
    }

    /// Replays a record of `Rmgr::Xact`, `Rmgr::Clog`, `Rmgr::Multixact` or `Rmgr::Standby`; false if it is none that this version writes.
    pub fn redo<B: Deref<Target = [u8]>>(&self, record: &Record<B>) -> Result<bool, TxnError> {
        self.redo_parts(record.rmgr, record.info, record.xid, record.data(), record.end)
    }

    pub(crate) fn redo_parts(
        &self,
        rmgr: Rmgr,
        info: u8,
        xid: Xid,
        data: &[u8],
        end: base::Lsn,
    ) -> Result<bool, TxnError> {
        match (rmgr, info) {
            (Rmgr::Xact, info::PREPARE) => {
                let known = PreparedState::decode(data).filter(|state| state.xid == xid);
                let Some(state) = known else { return Ok(false) };
                self.observe_xid(state.latest());
                self.prepared().redo_prepare(state, end);
                Ok(true)
            }
            (Rmgr::Xact, info::COMMIT | info::ABORT | info::COMMIT_PREPARED | info::ABORT_PREPARED) => {
                let Some(record) = commit::decode(xid, data) else { return Ok(false) };
                self.observe_xid(xid);
                if let Some(&last) = record.subxids.last() {
                    self.observe_xid(last);
                }
                let outcome = match info {
                    info::COMMIT | info::COMMIT_PREPARED => Outcome::Committed,
                    _ => Outcome::Aborted,
                };
                self.clog()
                    .mark(Some(xid), &record.subxids, outcome, end, false)
                    .map_err(TxnError::status(xid))?;
                self.map_files(&record.mapped);
                if let (Some(mark), Outcome::Committed) = (record.origin, outcome) {
                    self.origins().advance(mark, end);
                }
                let mut ended = record.subxids;
                ended.insert(0, xid);
                self.running().replay_end(&ended);
                self.replayed_commit(&record.mapped, &record.invalidations);
                self.drop_files(&record.files);
                if matches!(info, info::COMMIT_PREPARED | info::ABORT_PREPARED) {
                    self.prepared().redo_end(xid);
                }
                Ok(true)
            }
            (Rmgr::Xact, info::ORIGIN_SET) => {
                let Some((origin, remote)) = origin::decode_record(data) else { return Ok(false) };
                self.origins().set(origin, Progress { remote, local: end });
                Ok(true)
            }
            (Rmgr::Xact, info::ORIGIN_DROP) => {
                let Some((origin, _)) = origin::decode_record(data) else { return Ok(false) };
                self.origins().remove(origin);
                Ok(true)
            }
            // What they tell is heeded before ([`standby`](crate::standby)).
            (Rmgr::Standby, standby::REMOVED | standby::CUT) => Ok(true),
            (Rmgr::Clog, clog::ZERO_PAGE) => {
                let Ok(page) = data.try_into().map(u64::from_le_bytes) else { return Ok(false) };
                self.clog().redo_zero_page(page, end).map_err(TxnError::status(xid))?;
                Ok(true)
            }
            (Rmgr::Multixact, multixact::ZERO_PAGE) => {
                let Ok(page) = data.try_into().map(u64::from_le_bytes) else { return Ok(false) };
                let failed = TxnError::multi(self.next_multi());
                self.multixacts.redo_zero_page(page, end).map_err(failed)?;
                Ok(true)
            }
            (Rmgr::Clog, clog::TRUNCATE) => {
                let Ok(oldest) = data.try_into().map(u64::from_le_bytes) else { return Ok(false) };
                self.clog().redo_truncate(Xid(oldest)).map_err(TxnError::status(Xid(oldest)))?;
                Ok(true)
            }
            (Rmgr::Multixact, multixact::TRUNCATE) => {
                let Ok(oldest) = data.try_into().map(|bytes| MultiXactId(u64::from_le_bytes(bytes))) else {
                    return Ok(false);
                };
                self.multixacts.redo_truncate(oldest).map_err(TxnError::multi(oldest))?;
                Ok(true)
            }
            (Rmgr::Multixact, multixact::CREATE) => {
                self.multixacts.redo_create(data).map_err(TxnError::multi(self.next_multi()))
            }
            _ => Ok(false),
        }
    }
}
