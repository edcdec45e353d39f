//! What running statements ask of their session.

use std::any::Any;
use std::sync::Arc;

use base::settings::Setting;
use base::{BlockNo, CommandId, Oid, Severity, SqlError, SqlResult, SqlState, Tid, sql_err};
use catalog::{CatalogView, FunctionDef, Index, Table};
use counters::{Change, Counted, Scan};
use eval::cx::Facilities;
use eval::team::Places;
use eval::trigger::Firing;
use heap::{Chunks, HeapRel};
use plan::SqlValueKind;
use tuple::Datum;
use txn::{BlockState, Snapshot};
use types::calendar::DAY;
use types::{FormatContext, SessionFn};

use super::Session;
use crate::violation;

impl Facilities for Session {
    fn count_change(&self, table: Oid, depth: u32, change: Change) {
        if self.settings.borrow().fast().track_counts {
            self.pending.changed(table, depth, change);
        }
    }

    fn count_chunks(&self, table: &HeapRel, depth: u32, chunks: &Chunks) {
        let Some(toast) = table.desc.toast.as_ref().filter(|_| !chunks.is_empty()) else { return };
        for change in
            [Change::Insert(chunks.inserted.get().into()), Change::Delete(chunks.deleted.get().into())]
        {
            self.count_change(toast.oid, depth, change);
        }
    }

    fn ask_for_summary(&self, index: Oid, block: BlockNo) {
        if !self.instance.counters().ask_for_summary((self.catalog.database(), index), block) {
            let name = self.with_reader(|reader| reader.relation_by_oid(index)).ok().flatten();
            let message = format!(
                "request for BRIN range summarization for index \"{}\" page {} was not recorded",
                name.map_or(String::new(), |index| index.name.clone()),
                block.0
            );
            self.log_report(&SqlError::with_severity(
                Severity::Log,
                SqlState::SUCCESSFUL_COMPLETION,
                message,
            ));
        }
    }

    fn count_scan(&self, counted: &mut Counted) {
        if !self.settings.borrow().fast().track_counts {
            counted.scan = Scan::default();
        } else if self.txn.borrow().state() == BlockState::Started {
            let lane = |relation| self.instance.counters().relation_lane(self.catalog.database(), relation);
            counted.count(self.format.borrow().statement_time, lane);
        } else {
            self.pending.scanned(counted);
        }
    }

    fn call(
        &self,
        id: SessionFn,
        call: &types::Call<'_>,
        args: &[Datum],
        snapshot: &Snapshot,
    ) -> SqlResult<Datum> {
        self.call_session_function(id, call, args, snapshot)
    }

    fn call_set(&self, id: SessionFn, call: &types::Call<'_>, args: &[Datum]) -> SqlResult<Vec<Vec<Datum>>> {
        self.call_session_set(id, call, args)
    }

    fn call_routine(
        &self,
        function: &Arc<FunctionDef>,
        call: &types::Call<'_>,
        args: &[Datum],
        sees: (&Snapshot, CommandId),
    ) -> SqlResult<Datum> {
        Session::call_routine(self, function, call, args, sees)
    }

    fn call_routine_set(
        &self,
        function: &Arc<FunctionDef>,
        call: &types::Call<'_>,
        args: &[Datum],
        sees: (&Snapshot, CommandId),
    ) -> SqlResult<eval::row_store::RowStore> {
        Session::call_routine_set(self, function, call, args, sees)
    }

    fn begin_foreign(&self, table: &Arc<Table>, wanted: &[bool]) -> SqlResult<Box<dyn Any>> {
        Ok(Box::new(Session::begin_foreign(self, table, wanted)?))
    }

    fn next_foreign(&self, scan: &mut dyn Any, row: &mut Vec<Datum>) -> SqlResult<bool> {
        Session::next_foreign(self, scan, row)
    }

    fn index_limits(&self) -> index::Limits {
        Session::index_limits(self)
    }

    fn shown_columns(&self, table: &Table, written: &[i16]) -> Option<Vec<i16>> {
        self.readable_columns(table, written)
    }

    fn partition_key_columns(&self, table: &catalog::Table) -> SqlResult<String> {
        Ok(self.partition_key_sql(table)?.join(", "))
    }

    fn key_text(&self, table: &Table, index: &Index, key: &[Datum]) -> Option<String> {
        violation::key_text(self, table, index, key).ok().flatten()
    }

    fn triggers(&self) -> Option<&dyn Firing> {
        Some(self)
    }

    fn current_of(&self, cursor: &str, table: Oid) -> SqlResult<Option<Tid>> {
        Session::current_of(self, cursor, table)
    }

    fn claim_helpers(&self, wanted: usize) -> Places<'_> {
        let claim = Session::claim_helpers(self, wanted);
        let leader_works = self.settings.borrow().get(Setting::parallel_leader_participation).as_bool();
        Places { count: claim.count(), leader_works, held: Some(Box::new(claim)) }
    }

    fn types(&self) -> &dyn types::Session {
        self
    }

    fn sql_value(&self, kind: SqlValueKind, _type_oid: Oid, typmod: i32) -> SqlResult<Datum> {
        let format = self.format();
        let role = |oid: Oid| -> SqlResult<Datum> {
            let name = self.with_reader(|r| r.role_name(oid))?;
            name.map(|name| Datum::text(&name))
                .ok_or_else(|| sql_err!(UNDEFINED_OBJECT, "role with OID {oid} does not exist"))
        };
        match kind {
            SqlValueKind::CurrentUser | SqlValueKind::CurrentRole | SqlValueKind::User => {
                role(self.names.user())
            }
            SqlValueKind::SessionUser => role(self.names.session_user()),
            SqlValueKind::CurrentCatalog => Ok(Datum::text(self.catalog.database_name())),
            SqlValueKind::CurrentSchema => {
                let schema = self.with_reader(|r| r.creation_schema())?;
                let name = schema.map(|oid| self.schema_name(oid)).transpose()?.flatten();
                Ok(name.map_or(Datum::Null, |name| Datum::text(&name)))
            }
            kind => Ok(time_value(kind, typmod, &format)),
        }
    }
}

/// CURRENT_TIMESTAMP and its kin: the start of the transaction, in the session's time zone.
fn time_value(kind: SqlValueKind, precision: i32, format: &FormatContext) -> Datum {
    let call = types::Call::new(format);
    let now = types::time::round_micros(format.transaction_time, precision);
    let local = types::timestamp::to_local(now, &call);
    let of_day = local.rem_euclid(DAY);
    match kind {
        SqlValueKind::CurrentDate => Datum::Int4(types::date::from_timestamp(local)),
        SqlValueKind::CurrentTime => types::time::timetz_datum(of_day, -format.time_zone.at(now).offset),
        SqlValueKind::LocalTime => Datum::Int8(of_day),
        SqlValueKind::LocalTimestamp => Datum::Int8(local),
        _ => Datum::Int8(now),
    }
}
