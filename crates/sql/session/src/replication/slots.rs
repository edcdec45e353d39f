//! Commands and functions about replication slots.

use base::{Lsn, SqlError, SqlResult, SqlState, sql_err};
use engine::slots::{InUse, Lasting, Logical, SlotError, SlotState};
use engine::{EngineError, Phase};
use tuple::Datum;
use types::value::IntoDatum;
use types::{SessionFn, oids};

use super::grammar::OptionItem;
use super::logical::SlotOptions;
use super::{RECEIVER_PID, position, text_or_null};
use crate::Session;
use crate::functions::{Row, arg};
use crate::output::Output;

/// Bytes of a name, and the zero behind it.
const NAME_LENGTH: usize = 64;

/// What a client is told of an error about slots.
pub fn slot_error(error: SlotError) -> SqlError {
    match error {
        SlotError::Exists(name) => {
            sql_err!(DUPLICATE_OBJECT, "replication slot \"{name}\" already exists")
        }
        SlotError::Missing(name) => {
            sql_err!(UNDEFINED_OBJECT, "replication slot \"{name}\" does not exist")
        }
        SlotError::Active(name, pid) => {
            sql_err!(OBJECT_IN_USE, "replication slot \"{name}\" is active for PID {pid}")
        }
        SlotError::Full => sql_err!(CONFIGURATION_LIMIT_EXCEEDED, "all replication slots are in use")
            .hint("Free one or increase \"max_replication_slots\"."),
        SlotError::Invalid(name, cause) => {
            sql_err!(OBJECT_NOT_IN_PREREQUISITE_STATE, "can no longer access replication slot \"{name}\"")
                .detail(format!("This replication slot has been invalidated due to \"{}\".", cause.as_str()))
        }
        SlotError::Io(what, error) => {
            let message = format!("{what}: {}", base::os_error(&error));
            base::os::file_error(error.kind(), base::os::is_transient(&error), message)
        }
        SlotError::Interrupted(interrupt) => interrupt.into(),
    }
}

/// Fails unless slots may have such a name.
pub fn check_name(name: &str) -> SqlResult<()> {
    if name.is_empty() {
        return Err(sql_err!(INVALID_NAME, "replication slot name \"{name}\" is too short"));
    }
    if name.len() >= NAME_LENGTH {
        return Err(sql_err!(NAME_TOO_LONG, "replication slot name \"{name}\" is too long"));
    }
    if name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_') {
        return Ok(());
    }
    Err(sql_err!(INVALID_NAME, "replication slot name \"{name}\" contains invalid character").hint(
        "Replication slot names may only contain lower case letters, numbers, and the underscore character.",
    ))
}

/// Options of CREATE_REPLICATION_SLOT … PHYSICAL: whether the log is kept at once.
fn reserves(options: &[OptionItem]) -> SqlResult<bool> {
    let conflict = || Err(sql_err!(SYNTAX_ERROR, "conflicting or redundant options"));
    let mut reserves = None;
    for option in options {
        match option.name.as_str() {
            "reserve_wal" if reserves.is_none() => reserves = Some(option.truth()?),
            "reserve_wal" | "snapshot" | "two_phase" | "failover" => return conflict(),
            other => return Err(SqlError::internal(format!("unrecognized option: {other}"))),
        }
    }
    Ok(reserves.unwrap_or(false))
}

impl Session {
    pub(super) fn check_slots_are_there(&self) -> SqlResult<()> {
        if self.engine().slots().most() > 0 {
            return Ok(());
        }
        Err(sql_err!(
            OBJECT_NOT_IN_PREREQUISITE_STATE,
            "replication slots can only be used if \"max_replication_slots\" > 0"
        ))
    }

    pub(super) fn acquire_slot(&self, name: &str, wait: bool) -> SqlResult<InUse<'_>> {
        self.engine().slots().acquire(name, self.info.pid, wait).map_err(slot_error)
    }

    pub(super) fn new_slot(
        &self,
        name: &str,
        lasting: Lasting,
        logical: Option<Logical>,
    ) -> SqlResult<InUse<'_>> {
        check_name(name)?;
        self.engine().slots().create(name, lasting, logical, self.info.pid).map_err(slot_error)
    }

    fn new_physical_slot(&self, name: &str, temporary: bool) -> SqlResult<InUse<'_>> {
        self.new_slot(name, if temporary { Lasting::Temporary } else { Lasting::Persistent }, None)
    }

    /// Has the log kept from the latest redo point on.
    fn reserve_log(&self, slot: &InUse<'_>) -> SqlResult<()> {
        let (engine, wal) = (self.engine(), self.engine().wal());
        loop {
            let redo = if engine.is_following() { engine.control().checkpoint.redo } else { wal.redo() };
            slot.keep_from(redo);
            // A checkpoint that did not see the slot yet may have been faster.
            if wal.has_segment(redo).map_err(EngineError::Wal)? {
                return slot.save().map_err(slot_error);
            }
            runtime::check_interrupts()?;
        }
    }

    pub(super) fn create_slot(
        &self,
        name: &str,
        temporary: bool,
        plugin: Option<&str>,
        options: &[OptionItem],
        out: &mut dyn Output,
    ) -> SqlResult<()> {
        let columns = ["slot_name", "consistent_point", "snapshot_name", "output_plugin"];
        let columns = columns.map(|name| (name, oids::text));
        let Some(plugin) = plugin else {
            let reserve = reserves(options)?;
            self.check_slots_are_there()?;
            let slot = self.new_physical_slot(name, temporary)?;
            if reserve {
                self.reserve_log(&slot)?;
            }
            drop(slot);
            return self.answer(
                &columns,
                &[Datum::text(name), Datum::text("0/0"), Datum::Null, Datum::Null],
                out,
            );
        };
        let options = SlotOptions::read(options)?;
        self.check_decodes()?;
        self.check_slot_snapshot(options.snapshot)?;
        let (slot, point, snapshot) = self.make_logical_slot(name, plugin, temporary, options.failover)?;
        let snapshot = self.take_slot_snapshot(options.snapshot, &snapshot)?;
        slot.finish().map_err(slot_error)?;
        let row = [
            Datum::text(name),
            Datum::text(&point.to_string()),
            text_or_null(snapshot.as_deref()),
            Datum::text(plugin),
        ];
        self.answer(&columns, &row, out)
    }

    pub(super) fn alter_slot(&self, name: &str, options: &[OptionItem]) -> SqlResult<()> {
        for option in options {
            match option.name.as_str() {
                "failover" | "two_phase" => drop(option.truth()?),
                other => return Err(SqlError::internal(format!("unrecognized option: {other}"))),
            }
        }
        let slot = self.acquire_slot(name, false)?;
        if slot.slot().logical().is_some() {
            return Err(SqlError::not_supported("ALTER_REPLICATION_SLOT of a logical replication slot"));
        }
        Err(SqlError::new(
            SqlState::FEATURE_NOT_SUPPORTED,
            "cannot use ALTER_REPLICATION_SLOT with a physical replication slot",
        ))
    }

    pub(super) fn drop_slot(&self, name: &str, wait: bool) -> SqlResult<()> {
        self.check_slots_are_there()?;
        self.acquire_slot(name, wait)?.remove().map_err(slot_error)
    }

    pub(super) fn read_slot(&self, name: &str, out: &mut dyn Output) -> SqlResult<()> {
        let columns = [("slot_type", oids::text), ("restart_lsn", oids::text), ("restart_tli", oids::int8)];
        let row = match self.engine().slots().find(name) {
            None => [Datum::Null, Datum::Null, Datum::Null],
            Some(slot) if slot.logical().is_some() => {
                return Err(sql_err!(
                    FEATURE_NOT_SUPPORTED,
                    "cannot use READ_REPLICATION_SLOT with a logical replication slot"
                ));
            }
            Some(slot) => {
                let restart = Some(slot.state().restart).filter(|restart| *restart != Lsn::INVALID);
                [
                    Datum::text("physical"),
                    text_or_null(restart.map(|restart| restart.to_string()).as_deref()),
                    restart.map_or(Datum::Null, |_| Datum::Int8(self.engine().wal().timeline().0.into())),
                ]
            }
        };
        self.answer(&columns, &row, out)
    }

    /// Functions about slots that give one value.
    pub(crate) fn slot_function(&self, id: SessionFn, args: &[Datum]) -> SqlResult<Option<Datum>> {
        match id {
            SessionFn::PgDropReplicationSlot => {
                self.check_may_use_slots()?;
                self.drop_slot(arg(args, 0), false)?;
                Ok(Some(Datum::text("")))
            }
            _ => match self.origin_function(id, args)? {
                None => self.logical_value(id, args),
                value => Ok(value),
            },
        }
    }

    /// Functions about slots that give rows.
    pub(crate) fn slot_rows(&self, id: SessionFn, args: &[Datum]) -> SqlResult<Option<Vec<Row>>> {
        use SessionFn as F;
        if let Some(rows) = self.logical_rows(id, args)? {
            return Ok(Some(rows));
        }
        Ok(Some(match id {
            F::PgGetReplicationSlots => self
                .engine()
                .slots()
                .list()
                .iter()
                .map(|slot| self.slot_row(slot))
                .collect::<SqlResult<_>>()?,
            F::PgCreatePhysicalReplicationSlot => {
                self.check_may_use_slots()?;
                self.check_slots_are_there()?;
                let (name, reserve, temporary) = (arg::<&str>(args, 0), arg(args, 1), arg(args, 2));
                let slot = self.new_physical_slot(name, temporary)?;
                if reserve {
                    self.reserve_log(&slot)?;
                }
                vec![vec![Datum::text(name), position(slot.slot().state().restart)]]
            }
            F::PgCopyPhysicalReplicationSlot => {
                let temporary = args.get(2).map(|_| arg::<bool>(args, 2));
                vec![self.copy_slot(arg(args, 0), arg(args, 1), temporary)?]
            }
            F::PgReplicationSlotAdvance => {
                vec![self.advance_slot(arg(args, 0), Lsn(arg::<i64>(args, 1) as u64))?]
            }
            _ => return Ok(None),
        }))
    }

    fn copy_slot(&self, from: &str, to: &str, temporary: Option<bool>) -> SqlResult<Row> {
        self.check_may_use_slots()?;
        self.check_slots_are_there()?;
        let slots = self.engine().slots();
        let source = slots.find(from).ok_or_else(|| slot_error(SlotError::Missing(from.into())))?;
        if source.logical().is_some() {
            return Err(sql_err!(
                FEATURE_NOT_SUPPORTED,
                "cannot copy logical replication slot \"{from}\" as a physical replication slot"
            ));
        }
        let state = source.state();
        if state.invalid.is_some() {
            return Err(sql_err!(
                OBJECT_NOT_IN_PREREQUISITE_STATE,
                "cannot copy invalidated replication slot \"{from}\""
            ));
        }
        if state.restart == Lsn::INVALID {
            return Err(sql_err!(
                OBJECT_NOT_IN_PREREQUISITE_STATE,
                "cannot copy a replication slot that doesn't reserve WAL"
            ));
        }
        let copy = self.new_physical_slot(to, temporary.unwrap_or(source.is_temporary()))?;
        // The source's position may move on; what it had is kept only from when the copy has it.
        copy.keep_from(source.state().restart);
        let restart = copy.slot().state().restart;
        if !self.engine().wal().has_segment(restart).map_err(EngineError::Wal)? {
            copy.remove().map_err(slot_error)?;
            return Err(sql_err!(
                OBJECT_NOT_IN_PREREQUISITE_STATE,
                "could not copy replication slot \"{from}\""
            )
            .detail("The source replication slot was modified incompatibly during the copy operation."));
        }
        copy.save().map_err(slot_error)?;
        // PostgreSQL does not tell where a physical one begins.
        Ok(vec![Datum::text(to), Datum::Null])
    }

    fn advance_slot(&self, name: &str, wanted: Lsn) -> SqlResult<Row> {
        self.check_may_use_slots()?;
        self.check_slots_are_there()?;
        if wanted == Lsn::INVALID {
            return Err(sql_err!(INVALID_PARAMETER_VALUE, "invalid target WAL LSN"));
        }
        let engine = self.engine();
        let replayed = engine.replayed().filter(|_| engine.is_following());
        let wanted = wanted.min(replayed.map_or_else(|| engine.wal().flushed(), |replayed| replayed.end));
        if engine.slots().find(name).is_some_and(|slot| slot.logical().is_some()) {
            let end = self.advance_logical(name, wanted)?;
            return Ok(vec![Datum::text(name), position(end)]);
        }
        let slot = self.acquire_slot(name, false)?;
        let SlotState { restart, .. } = slot.slot().state();
        if restart == Lsn::INVALID {
            return Err(sql_err!(
                OBJECT_NOT_IN_PREREQUISITE_STATE,
                "replication slot \"{name}\" cannot be advanced"
            )
            .detail("This slot has never previously reserved WAL, or it has been invalidated."));
        }
        if wanted < restart {
            return Err(sql_err!(
                OBJECT_NOT_IN_PREREQUISITE_STATE,
                "cannot advance replication slot to {wanted}, minimum is {restart}"
            ));
        }
        // It is written at the next checkpoint: a crash may take it back.
        slot.keep_from(wanted);
        Ok(vec![Datum::text(name), position(slot.slot().state().restart)])
    }

    /// A row of `pg_get_replication_slots`.
    fn slot_row(&self, slot: &engine::slots::Slot) -> SqlResult<Row> {
        let state = slot.state();
        let health = self.engine().slot_health(&state);
        let no = || Datum::Bool(false);
        let logical = slot.logical();
        Ok(vec![
            Datum::text(slot.name()),
            text_or_null(logical.map(|logical| logical.plugin.as_str())),
            Datum::text(if logical.is_some() { "logical" } else { "physical" }),
            logical.map_or(Datum::Null, |logical| Datum::Oid(logical.database.0)),
            Datum::Bool(slot.is_temporary()),
            Datum::Bool(state.pid != 0),
            if state.pid != 0 { Datum::Int4(state.pid) } else { Datum::Null },
            state.xmin.map_or(Datum::Null, |xmin| Datum::Oid(xmin.0 as u32)),
            Datum::Null,
            position(state.restart),
            position(state.confirmed),
            text_or_null(health.status),
            health.safe.map_or(Datum::Null, Datum::Int8),
            no(),
            Datum::Null,
            if state.inactive_since != 0 { Datum::Int8(state.inactive_since) } else { Datum::Null },
            if logical.is_some() { no() } else { Datum::Null },
            text_or_null(state.invalid.map(|cause| cause.as_str())),
            Datum::Bool(logical.is_some_and(|logical| logical.failover)),
            no(),
        ])
    }

    /// The row of `pg_stat_get_wal_receiver`; all null without a receiver.
    pub(crate) fn receiver_row(&self) -> SqlResult<Row> {
        let progress = self.engine().received().filter(|progress| progress.phase != Phase::Ended);
        let Some(progress) = progress else { return Ok(vec![Datum::Null; 15]) };
        let mut row = vec![Datum::Int4(RECEIVER_PID)];
        if !self.has_role(catalog::predefined::READ_ALL_STATS)? {
            row.resize(15, Datum::Null);
            return Ok(row);
        }
        let sender = &progress.sender;
        let time = |time: i64| if time == 0 { Datum::Null } else { Datum::Int8(time) };
        let text = |text: &str| text_or_null(Some(text).filter(|text| !text.is_empty()));
        row.push(Datum::text(if progress.phase == Phase::Streaming { "streaming" } else { "starting" }));
        row.extend([position(progress.start), Datum::Int4(progress.timeline.0 as i32)]);
        row.extend([progress.written, progress.flushed].map(position));
        row.push(Datum::Int4(progress.timeline.0 as i32));
        row.extend([
            time(sender.sent_at),
            time(sender.arrived_at),
            position(sender.end),
            time(sender.end_at),
        ]);
        row.extend([text(&sender.slot), text(&sender.host)]);
        row.push(if sender.port == 0 { Datum::Null } else { Datum::Int4(sender.port.into()) });
        row.push(text(&sender.connection));
        Ok(row)
    }

    /// Rows of `pg_stat_get_wal_senders`.
    pub(crate) fn sender_rows(&self) -> SqlResult<Vec<Row>> {
        let sees = self.has_role(catalog::predefined::READ_ALL_STATS)?;
        let mut rows = Vec::new();
        let follows = self.engine().is_following();
        for (pid, sender) in self.instance.senders().list() {
            let mut row = vec![Datum::Int4(pid)];
            if !sees {
                row.resize(12, Datum::Null);
                rows.push(row);
                continue;
            }
            let figures = sender.figures();
            row.push(Datum::text(figures.state.as_str()));
            row.push(position(figures.sent));
            row.extend(figures.reported.map(position));
            for lag in figures.lags {
                row.push(match lag {
                    Some(micros) => types::interval::Interval { months: 0, days: 0, micros }.into_datum()?,
                    None => Datum::Null,
                });
            }
            // Nothing waits for those that stream from a standby.
            let (priority, state) = match follows {
                true => (0, "async"),
                false => self.instance.senders().standing(pid),
            };
            row.push(Datum::Int4(priority));
            row.push(Datum::text(state));
            row.push(figures.reply_time.map_or(Datum::Null, Datum::Int8));
            rows.push(row);
        }
        Ok(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_slots() {
        assert!(check_name("a_1").is_ok());
        assert!(check_name(&"a".repeat(63)).is_ok());
        for bad in ["", "A", "a b", "ä", "a-b", &"a".repeat(64)] {
            assert!(check_name(bad).is_err(), "{bad}");
        }
    }
}
