//! # What
//! Logical replication, the publisher's side: slots, and who reads changes out of them.
//!
//! # Layout
//! `plugin`: what an output plugin is; `test_decoding` and `pgoutput` are those there are. `functions`: slots and changes by SQL. `sender`: START_REPLICATION … LOGICAL. This file:
//! making a slot, and telling a transaction. The log is decoded in [`engine::decoding`].
//!
//! # Invariants
//! 1. *The beginning of a slot.* Its restart position is taken first; then every transaction that has an xid is waited for; then a consistent point is made. So all of a transaction that commits
//!    behind the point stands behind the restart position, and the snapshot of the point sees the others.
//! 2. A transaction is told whole or not at all, in the order of commits.
//! 3. While nothing is told, who sends holds no transaction.
//!
//! # PostgreSQL counterpart and differences
//! `slotfuncs.c`, `logicalfuncs.c`, `walsender.c`. Large transactions wait in files until they commit and are never streamed before, also where a receiver allows it; prepared
//! transactions are told when they commit.

mod functions;
pub(crate) mod pgoutput;
pub(crate) mod plugin;
mod sender;
mod test_decoding;

use base::settings::Setting;
use base::{Lsn, SqlError, SqlResult, sql_err};
use engine::control::WalLevel;
use engine::decoding::{Decoder, Event, Transaction};
use engine::slots::{InUse, Lasting, Logical};
use txn::{Snapshot, SnapshotSource};

use super::grammar::OptionItem;
use super::slot_error;
use crate::Session;
use plugin::{Plugin, Sink, Told};

/// What becomes of the snapshot of a new slot's consistent point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SlotSnapshot {
    /// Others may go on with it, until the next command.
    Export,
    /// The running transaction goes on with it.
    Use,
    /// Nothing.
    Nothing,
}

/// Options of CREATE_REPLICATION_SLOT … LOGICAL.
pub(super) struct SlotOptions {
    pub(super) snapshot: SlotSnapshot,
    pub(super) failover: bool,
}

impl SlotOptions {
    pub(super) fn read(options: &[OptionItem]) -> SqlResult<SlotOptions> {
        let conflict = || sql_err!(SYNTAX_ERROR, "conflicting or redundant options");
        let (mut snapshot, mut two_phase, mut failover) = (None, None, None);
        for option in options {
            match option.name.as_str() {
                "snapshot" if snapshot.is_none() => {
                    snapshot = Some(match option.text()?.as_str() {
                        "export" => SlotSnapshot::Export,
                        "use" => SlotSnapshot::Use,
                        "nothing" => SlotSnapshot::Nothing,
                        other => {
                            return Err(SqlError::internal(format!(
                                "unrecognized value for CREATE_REPLICATION_SLOT option \"snapshot\": \"{other}\""
                            )));
                        }
                    });
                }
                "two_phase" if two_phase.is_none() => two_phase = Some(option.truth()?),
                "failover" if failover.is_none() => failover = Some(option.truth()?),
                "reserve_wal" | "snapshot" | "two_phase" | "failover" => return Err(conflict()),
                other => return Err(SqlError::internal(format!("unrecognized option: {other}"))),
            }
        }
        if two_phase == Some(true) {
            return Err(no_two_phase());
        }
        Ok(SlotOptions {
            snapshot: snapshot.unwrap_or(SlotSnapshot::Export),
            failover: failover.unwrap_or(false),
        })
    }
}

pub(super) fn no_two_phase() -> SqlError {
    SqlError::not_supported("logical decoding of prepared transactions")
}

impl Session {
    /// Fails unless changes can be decoded here.
    pub(super) fn check_decodes(&self) -> SqlResult<()> {
        self.check_slots_are_there()?;
        if self.engine().options().recorded.wal_level < WalLevel::Logical {
            return Err(super::no_logical_decoding());
        }
        if !self.catalog.database().is_valid() {
            return Err(sql_err!(
                OBJECT_NOT_IN_PREREQUISITE_STATE,
                "logical decoding requires a database connection"
            ));
        }
        if self.engine().is_following() {
            return Err(SqlError::not_supported("logical decoding on a standby"));
        }
        Ok(())
    }

    /// Makes a logical slot; also gives its consistent point, and the snapshot of that. [`InUse::finish`] completes it.
    pub(super) fn make_logical_slot(
        &self,
        name: &str,
        plugin: &str,
        temporary: bool,
        failover: bool,
    ) -> SqlResult<(InUse<'_>, Lsn, Snapshot)> {
        if self.txn.borrow().top_xid_if_assigned().is_some() {
            return Err(sql_err!(
                ACTIVE_SQL_TRANSACTION,
                "cannot create logical replication slot in transaction that has performed writes"
            ));
        }
        plugin::check(plugin)?;
        let lasting = if temporary { Lasting::Temporary } else { Lasting::Unfinished };
        let logical = Logical { database: self.catalog.database(), plugin: plugin.into(), failover };
        let slot = self.new_slot(name, lasting, Some(logical))?;
        let (engine, wal) = (self.engine(), self.engine().wal());
        loop {
            let from = wal.insert_end();
            slot.keep_from(from);
            // A checkpoint that did not see the slot yet may have been faster, if there is more log already.
            if wal.insert_end() == from || wal.has_segment(from).map_err(engine::EngineError::Wal)? {
                break;
            }
            runtime::check_interrupts()?;
        }
        slot.save().map_err(slot_error)?;
        engine.txns().wait_for_running(crate::session_id(self.info.pid))?;
        let (point, snapshot) = engine.txns().consistent_point();
        wal.flush(point).map_err(engine::EngineError::Wal)?;
        slot.confirm(point, None);
        Ok((slot, point, snapshot))
    }

    /// Does with the snapshot of a slot's consistent point what was asked for; returns the name under which others find it.
    pub(super) fn take_slot_snapshot(
        &self,
        what: SlotSnapshot,
        snapshot: &Snapshot,
    ) -> SqlResult<Option<String>> {
        match what {
            SlotSnapshot::Nothing => Ok(None),
            SlotSnapshot::Export => Ok(Some(self.export_for_slot(snapshot))),
            SlotSnapshot::Use => {
                self.txn.borrow_mut().set_snapshot(snapshot.clone(), SnapshotSource::Plain);
                Ok(None)
            }
        }
    }

    /// Fails unless the snapshot of a slot may be used as asked for.
    pub(super) fn check_slot_snapshot(&self, what: SlotSnapshot) -> SqlResult<()> {
        let txn = self.txn.borrow();
        let command = match what {
            SlotSnapshot::Nothing => return Ok(()),
            SlotSnapshot::Export => "CREATE_REPLICATION_SLOT ... (SNAPSHOT 'export')",
            SlotSnapshot::Use => "CREATE_REPLICATION_SLOT ... (SNAPSHOT 'use')",
        };
        let refused = |why: &str| Err(SqlError::internal(format!("{command} must {why}")));
        let in_block = txn.state() == txn::BlockState::InBlock;
        if what == SlotSnapshot::Export {
            return if in_block { refused("not be called inside a transaction") } else { Ok(()) };
        }
        let modes = txn.characteristics();
        match () {
            () if !in_block => refused("be called inside a transaction"),
            () if modes.isolation != txn::IsolationLevel::RepeatableRead => {
                refused("be called in REPEATABLE READ isolation mode transaction")
            }
            () if !modes.read_only => refused("be called in a read-only transaction"),
            () if txn.snapshot_taken() => refused("be called before any query"),
            () if txn.depth() > 1 => refused("not be called in a subtransaction"),
            () => Ok(()),
        }
    }

    /// Takes a logical slot of this database into use.
    fn use_logical_slot(&self, name: &str) -> SqlResult<InUse<'_>> {
        let slot = self.acquire_slot(name, false)?;
        let Some(logical) = slot.slot().logical() else {
            return Err(sql_err!(
                OBJECT_NOT_IN_PREREQUISITE_STATE,
                "cannot use physical replication slot for logical decoding"
            ));
        };
        self.check_slot_is_ours(name, logical)?;
        slot.check_valid().map_err(slot_error)?;
        Ok(slot)
    }

    /// Fails if a slot is of another database.
    fn check_slot_is_ours(&self, name: &str, logical: &Logical) -> SqlResult<()> {
        if logical.database == self.catalog.database() {
            return Ok(());
        }
        Err(sql_err!(
            OBJECT_NOT_IN_PREREQUISITE_STATE,
            "replication slot \"{name}\" was not created in this database"
        ))
    }

    /// Decodes for a slot: what commits at `start` or behind it.
    fn decoder(&self, slot: &InUse<'_>, start: Lsn) -> SqlResult<Decoder> {
        let memory = self.settings.borrow().get(Setting::logical_decoding_work_mem).as_int();
        let memory = memory.unsigned_abs() as usize * 1024;
        let restart = slot.slot().state().restart;
        let engine = self.instance.engine().clone();
        Ok(Decoder::new(engine, slot.slot().name(), self.catalog.database(), (restart, start), memory)?)
    }

    /// Has a plugin tell what a record brought; `deliver` takes its messages after each change.
    fn tell(
        &self,
        event: Event,
        plugin: &mut dyn Plugin,
        deliver: &mut dyn FnMut(&mut Sink) -> SqlResult<()>,
    ) -> SqlResult<()> {
        let mut sink = Sink::default();
        let mut transaction = match event {
            Event::Message(message) => {
                plugin.message(&message, &mut sink)?;
                return deliver(&mut sink);
            }
            Event::Committed(transaction) => transaction,
        };
        if transaction.origin.is_some() && !plugin.wants_replicated() {
            return Ok(());
        }
        let told = told(&transaction);
        plugin.begin(self, &told, &mut sink)?;
        while let Some((lsn, change)) = transaction.next_change()? {
            runtime::check_interrupts()?;
            plugin.change(self, &told, (lsn, &change), &mut sink)?;
            deliver(&mut sink)?;
        }
        plugin.commit(self, &told, &mut sink)?;
        deliver(&mut sink)
    }
}

fn told(transaction: &Transaction) -> Told {
    Told {
        xid: transaction.xid.0 as u32,
        first: transaction.first,
        commit: transaction.commit,
        end: transaction.end,
        time: transaction.time,
        origin: transaction.origin,
    }
}
