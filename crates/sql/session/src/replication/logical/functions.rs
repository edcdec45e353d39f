//! Functions of SQL about logical slots and what is in them.

use base::{Lsn, Oid, SqlError, SqlResult, SqlState, Xid, sql_err};
use catalog::CatalogView;
use engine::decoding::Step;
use engine::slots::SlotError;
use tuple::Datum;
use types::SessionFn;

use super::plugin::{self, PluginOption};
use super::{no_two_phase, test_decoding};
use crate::Session;
use crate::functions::{Row, arg};
use crate::replication::{position, slot_error};

/// How changes are asked for.
struct Asked {
    /// The function, as errors name it.
    function: &'static str,
    /// They are taken out.
    takes: bool,
    /// As bytes.
    binary: bool,
}

impl Asked {
    fn of(id: SessionFn) -> Option<Asked> {
        use SessionFn as F;
        let (function, takes, binary) = match id {
            F::PgLogicalSlotGetChanges => {
                ("pg_logical_slot_get_changes(name,pg_lsn,integer,text[])", true, false)
            }
            F::PgLogicalSlotPeekChanges => {
                ("pg_logical_slot_peek_changes(name,pg_lsn,integer,text[])", false, false)
            }
            F::PgLogicalSlotGetBinaryChanges => {
                ("pg_logical_slot_get_binary_changes(name,pg_lsn,integer,text[])", true, true)
            }
            F::PgLogicalSlotPeekBinaryChanges => {
                ("pg_logical_slot_peek_binary_changes(name,pg_lsn,integer,text[])", false, true)
            }
            _ => return None,
        };
        Some(Asked { function, takes, binary })
    }
}

fn no_null(message: &str) -> SqlError {
    SqlError::new(SqlState::NULL_VALUE_NOT_ALLOWED, message)
}

/// Options as an array has them: names and values by turns.
fn options_of(array: &Datum) -> SqlResult<Vec<PluginOption>> {
    let Datum::Bytes(bytes) = array else { return Err(no_null("options array must not be null")) };
    let elements = types::array::Array::from_payload(bytes).into_elements();
    if !elements.len().is_multiple_of(2) {
        return Err(sql_err!(INVALID_PARAMETER_VALUE, "array must have even number of elements"));
    }
    if elements.iter().any(Datum::is_null) {
        return Err(no_null("array must not contain nulls"));
    }
    let text = |i: usize| arg::<&str>(&elements, i).to_owned();
    Ok((0..elements.len()).step_by(2).map(|i| (text(i), Some(text(i + 1)))).collect())
}

impl Session {
    /// Functions about logical slots that give rows.
    pub(in crate::replication) fn logical_rows(
        &self,
        id: SessionFn,
        args: &[Datum],
    ) -> SqlResult<Option<Vec<Row>>> {
        use SessionFn as F;
        if let Some(asked) = Asked::of(id) {
            return self.slot_changes(&asked, args).map(Some);
        }
        Ok(Some(match id {
            F::PgCreateLogicalReplicationSlot => {
                self.check_may_use_slots()?;
                self.check_decodes()?;
                let (name, plugin) = (arg::<&str>(args, 0), arg::<&str>(args, 1));
                if arg(args, 3) {
                    return Err(no_two_phase());
                }
                let (slot, point, _) = self.make_logical_slot(name, plugin, arg(args, 2), arg(args, 4))?;
                slot.finish().map_err(slot_error)?;
                vec![vec![Datum::text(name), position(point)]]
            }
            F::PgCopyLogicalReplicationSlot => {
                let temporary = args.get(2).map(|_| arg::<bool>(args, 2));
                let plugin = args.get(3).map(|_| arg::<&str>(args, 3));
                vec![self.copy_logical_slot((arg(args, 0), arg(args, 1)), temporary, plugin)?]
            }
            _ => return Ok(None),
        }))
    }

    /// Functions about logical decoding that give one value.
    pub(in crate::replication) fn logical_value(
        &self,
        id: SessionFn,
        args: &[Datum],
    ) -> SqlResult<Option<Datum>> {
        match id {
            SessionFn::PgLogicalEmitMessage => self.emit_message(args).map(Some),
            SessionFn::PgGetReplicaIdentityIndex => {
                let table = self.relation_by_oid(Oid(arg(args, 0)))?;
                let index = table.as_ref().and_then(|table| table.identity_index());
                Ok(Some(index.map_or(Datum::Null, |index| Datum::Oid(index.oid.0))))
            }
            _ => Ok(None),
        }
    }

    fn emit_message(&self, args: &[Datum]) -> SqlResult<Datum> {
        let (transactional, prefix, flush) =
            (arg::<bool>(args, 0), arg::<&str>(args, 1), arg::<bool>(args, 3));
        let contents = match args.get(2) {
            Some(Datum::Bytes(bytes)) => bytes.clone(),
            _ => tuple::Bytes::default(),
        };
        let database = self.catalog.database();
        let mut txn = self.txn.borrow_mut();
        let xid: Option<Xid> = if transactional { Some(txn.xid_for(true)?) } else { None };
        let end = txn.log_message(xid, database, prefix, &contents);
        drop(txn);
        if flush && !transactional {
            self.engine().wal().flush(end).map_err(engine::EngineError::Wal)?;
        }
        Ok(Datum::Int8(end.0 as i64))
    }

    fn slot_changes(&self, asked: &Asked, args: &[Datum]) -> SqlResult<Vec<Row>> {
        self.check_may_use_slots()?;
        self.check_decodes()?;
        if args[0].is_null() {
            return Err(no_null("slot name must not be null"));
        }
        let upto_lsn = arg::<Option<i64>>(args, 1).map(|lsn| Lsn(lsn as u64));
        let upto_count = arg::<Option<i32>>(args, 2).filter(|count| *count != 0);
        let options = options_of(&args[3])?;
        let slot = self.use_logical_slot(arg(args, 0))?;
        let name = slot.slot().logical().map(|logical| logical.plugin.clone()).unwrap_or_default();
        let mut plugin = plugin::open(&name, &options)?;
        if !asked.binary {
            test_decoding::check_text(plugin.as_ref(), &name, asked.function)?;
        }
        let state = slot.slot().state();
        let mut decoder = self.decoder(&slot, state.confirmed)?;
        let end = self.engine().wal().flushed();
        let end = upto_lsn.map_or(end, |upto| end.min(upto));
        let mut rows: Vec<Row> = Vec::new();
        while decoder.position() < end {
            runtime::check_interrupts()?;
            let event = match decoder.step()? {
                Step::CaughtUp => break,
                Step::Record(event) => event,
            };
            if let Some(event) = event {
                let xid = match &event {
                    engine::decoding::Event::Committed(transaction) => transaction.xid.0 as u32,
                    engine::decoding::Event::Message(_) => 0,
                };
                self.tell(event, plugin.as_mut(), &mut |sink| {
                    rows.extend(sink.messages.drain(..).map(|(lsn, bytes)| {
                        vec![
                            Datum::Int8(lsn.0 as i64),
                            Datum::Oid(xid),
                            Datum::Bytes(bytes.as_slice().into()),
                        ]
                    }));
                    Ok(())
                })?;
            }
            if upto_count.is_some_and(|most| rows.len() as i64 >= most.into()) {
                break;
            }
        }
        decoder.forget_lost()?;
        slot.slot().add_figures(&decoder.take_figures());
        if asked.takes {
            slot.confirm(decoder.position(), Some(decoder.restart()));
            if slot.slot().state() != state {
                slot.save().map_err(slot_error)?;
            }
        }
        Ok(rows)
    }

    /// Moves a logical slot on.
    pub(in crate::replication) fn advance_logical(&self, name: &str, wanted: Lsn) -> SqlResult<Lsn> {
        self.check_decodes()?;
        let slot = self.use_logical_slot(name)?;
        let least = slot.slot().state().confirmed;
        if wanted < least {
            return Err(sql_err!(
                OBJECT_NOT_IN_PREREQUISITE_STATE,
                "cannot advance replication slot to {wanted}, minimum is {least}"
            ));
        }
        let mut decoder = self.decoder(&slot, wanted)?;
        while decoder.position() < wanted {
            runtime::check_interrupts()?;
            if matches!(decoder.step()?, Step::CaughtUp) {
                break;
            }
        }
        decoder.forget_lost()?;
        slot.confirm(wanted, Some(decoder.restart().min(wanted)));
        slot.save().map_err(slot_error)?;
        Ok(slot.slot().state().confirmed)
    }

    fn copy_logical_slot(
        &self,
        (from, to): (&str, &str),
        temporary: Option<bool>,
        plugin: Option<&str>,
    ) -> SqlResult<Row> {
        self.check_may_use_slots()?;
        self.check_decodes()?;
        let source =
            self.engine().slots().find(from).ok_or_else(|| slot_error(SlotError::Missing(from.into())))?;
        let Some(logical) = source.logical() else {
            return Err(sql_err!(
                FEATURE_NOT_SUPPORTED,
                "cannot copy physical replication slot \"{from}\" as a logical replication slot"
            ));
        };
        if source.state().invalid.is_some() {
            return Err(sql_err!(
                OBJECT_NOT_IN_PREREQUISITE_STATE,
                "cannot copy invalidated replication slot \"{from}\""
            ));
        }
        self.check_slot_is_ours(from, logical)?;
        let mut logical = logical.clone();
        if let Some(plugin) = plugin {
            plugin::check(plugin)?;
            logical.plugin = plugin.into();
        }
        logical.failover = false;
        let temporary = temporary.unwrap_or(source.is_temporary());
        let lasting =
            if temporary { engine::slots::Lasting::Temporary } else { engine::slots::Lasting::Unfinished };
        let copy = self.new_slot(to, lasting, Some(logical))?;
        let state = source.state();
        copy.keep_from(state.restart);
        copy.confirm(state.confirmed, None);
        if source.state().restart != state.restart
            || !self.engine().wal().has_segment(state.restart).map_err(engine::EngineError::Wal)?
        {
            return Err(sql_err!(
                OBJECT_NOT_IN_PREREQUISITE_STATE,
                "could not copy replication slot \"{from}\""
            )
            .detail("The source replication slot was modified incompatibly during the copy operation."));
        }
        copy.finish().map_err(slot_error)?;
        Ok(vec![Datum::text(to), position(state.confirmed)])
    }
}
