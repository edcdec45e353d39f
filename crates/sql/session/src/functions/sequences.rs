//! # What
//! `nextval`, `currval`, `setval`, `lastval` and the facts about sequences.
//!
//! # Invariants
//! 1. A value is handed out once: either from the session's own stock (CACHE), or from the sequence's page under its latch.
//! 2. What a rollback undoes (ALTER SEQUENCE) lies in another file; the session's stock belongs to one file.
//!
//! # Locks
//! ROW EXCLUSIVE on the sequence to the end of the transaction, then the latch of its page. Nobody waits for the log under it: the
//! commit of a transaction that wrote a record does, and its record covers 32 values and the cache.
//!
//! # PostgreSQL counterpart
//! `commands/sequence.c`.

use std::sync::Arc;

use base::{Oid, RelFile, SqlError, SqlResult, sql_err};
use catalog::{CatalogView, RelationKind, Sequence, Table};
use engine::sequence::{Changed, SequenceChange, SequenceRow};
use rustc_hash::FxHashMap;
use tuple::Datum;
use txn::{LockMode, LockWait};
use types::SessionFn;

use super::{Row, arg};
use crate::Session;
use crate::lookup::names::{check_sequence, lock_relation};

/// Values that one record of the log covers.
const LOGGED_AHEAD: i64 = 32;

/// What the session knows of the sequences it used.
#[derive(Default)]
pub struct Sequences {
    held: FxHashMap<Oid, Held>,
    /// The one that `lastval` means.
    last_used: Option<Oid>,
}

/// One sequence.
struct Held {
    /// Its description, and the state of the session's own changes that it was read in.
    table: Arc<Table>,
    own_changes: u64,
    file: RelFile,
    /// What `currval` says.
    last: Option<i64>,
    /// The stock ends here; none if it is empty.
    stock: Option<i64>,
    increment: i64,
}

impl Sequences {
    /// DISCARD SEQUENCES.
    pub fn forget(&mut self) {
        *self = Sequences::default();
    }
}

/// What a fetch came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fetched {
    /// The value for the caller.
    first: i64,
    /// The last of the session's stock.
    last: i64,
    change: SequenceChange,
}

/// The value behind `from`; `None` behind the last one of a sequence that does not cycle.
fn step(sequence: &Sequence, from: i64) -> Option<i64> {
    let next = from.checked_add(sequence.increment).filter(|n| (sequence.min..=sequence.max).contains(n));
    match next {
        Some(next) => Some(next),
        None if !sequence.cycle => None,
        None if sequence.increment > 0 => Some(sequence.min),
        None => Some(sequence.max),
    }
}

/// Takes values for a session's stock, and as many more as the log is to cover. `stale`: the log covers nothing any more. `None` if
/// there is no value left.
fn fetch(sequence: &Sequence, row: SequenceRow, stale: bool) -> Option<Fetched> {
    let mut taken = 0;
    let mut wanted = sequence.cache;
    let (mut first, mut last, mut next) = (row.last_value, row.last_value, row.last_value);
    if !row.is_called {
        taken = 1;
        wanted -= 1;
    }
    let logs = row.log_count < wanted || !row.is_called || stale;
    let mut covered = row.log_count;
    if logs {
        wanted = wanted.saturating_add(LOGGED_AHEAD);
        covered = wanted;
    }
    while wanted > 0 {
        // A cycle does not begin anew within what is fetched ahead.
        let ahead = next.checked_add(sequence.increment);
        let ends = !ahead.is_some_and(|n| (sequence.min..=sequence.max).contains(&n));
        if ends && taken > 0 {
            break;
        }
        next = step(sequence, next)?;
        wanted -= 1;
        if taken < sequence.cache {
            covered -= 1;
            taken += 1;
            last = next;
            if taken == 1 {
                first = next;
            }
        }
    }
    covered -= wanted;
    let called = |last_value, log_count| SequenceRow { last_value, log_count, is_called: true };
    let change = SequenceChange { row: called(last, covered), logged: logs.then(|| called(next, 0)) };
    Some(Fetched { first, last, change })
}

fn exhausted(sequence: &Sequence, name: &str) -> SqlError {
    let (what, bound) =
        if sequence.increment > 0 { ("maximum", sequence.max) } else { ("minimum", sequence.min) };
    sql_err!(
        SEQUENCE_GENERATOR_LIMIT_EXCEEDED,
        "nextval: reached {what} value of sequence \"{name}\" ({bound})"
    )
}

impl Session {
    pub(super) fn sequence_function(&self, id: SessionFn, args: &[Datum]) -> SqlResult<Option<Datum>> {
        use SessionFn as F;
        let oid = || Oid(arg(args, 0));
        Ok(Some(match id {
            F::Nextval => Datum::Int8(self.next_value(oid(), args.len() > 1)?),
            F::Currval => Datum::Int8(self.current_value(oid())?),
            F::Lastval => Datum::Int8(self.last_value()?),
            F::Setval => {
                let (value, called): (i64, bool) = (arg(args, 1), args.get(2).is_none_or(|_| arg(args, 2)));
                self.set_value(oid(), value, called)?;
                Datum::Int8(value)
            }
            F::PgSequenceLastValue => self.sequence_last_value(oid())?,
            _ => return Ok(None),
        }))
    }

    pub(super) fn sequence_rows(&self, id: SessionFn, args: &[Datum]) -> SqlResult<Option<Vec<Row>>> {
        match id {
            SessionFn::PgSequenceParameters => self.sequence_parameters(Oid(arg(args, 0))).map(Some),
            SessionFn::PgGetSequenceData => self.sequence_data(Oid(arg(args, 0))).map(Some),
            _ => Ok(None),
        }
    }

    /// Locks a sequence and returns its current description; the session's cached values of it are brought up to date.
    fn open_sequence(&self, oid: Oid) -> SqlResult<Arc<Table>> {
        lock_relation(self, oid, LockMode::RowExclusive, LockWait::Block)?;
        let own_changes = self.names.changes_version(&self.catalog);
        let mut sequences = self.sequences.borrow_mut();
        if let Some(held) = sequences.held.get(&oid)
            && held.own_changes == own_changes
            && held.table.validity.is_current()
        {
            return Ok(held.table.clone());
        }
        let table = self.with_reader(|reader| reader.relation_by_oid(oid))?;
        let table =
            table.ok_or_else(|| SqlError::internal(format!("could not open relation with OID {oid}")))?;
        check_sequence(&table)?;
        let held = sequences.held.entry(oid).or_insert_with(|| Held {
            table: table.clone(),
            own_changes,
            file: table.file,
            last: None,
            stock: None,
            increment: 0,
        });
        if held.file != table.file {
            (held.file, held.stock) = (table.file, None);
        }
        (held.table, held.own_changes) = (table.clone(), own_changes);
        Ok(table)
    }

    /// Fails unless the current user holds one of these privileges (letters of an ACL) on a sequence.
    fn check_sequence_access(&self, table: &Table, letters: &str) -> SqlResult<()> {
        let held = self.with_reader(|reader| reader.relation_rights(reader.session.user(), table))?;
        if held.has((types::acl::bits(letters), false)) {
            return Ok(());
        }
        Err(catalog::authority::denied("sequence", &table.name))
    }

    fn check_sequence_writable(&self, table: &Table, what: &str) -> SqlResult<()> {
        if table.persistence != 't' && self.txn.borrow().characteristics().read_only {
            return Err(sql_err!(
                READ_ONLY_SQL_TRANSACTION,
                "cannot execute {what} in a read-only transaction"
            ));
        }
        Ok(())
    }

    fn parameters_of(table: &Table) -> SqlResult<Sequence> {
        table
            .sequence
            .ok_or_else(|| SqlError::internal(format!("cache lookup failed for sequence {}", table.oid)))
    }

    /// `implied`: by an identity column, whose sequence everybody may use who may insert.
    fn next_value(&self, oid: Oid, implied: bool) -> SqlResult<i64> {
        let table = self.open_sequence(oid)?;
        if !implied {
            self.check_sequence_access(&table, "Uw")?;
        }
        self.check_sequence_writable(&table, "nextval()")?;
        let from_stock = {
            let mut sequences = self.sequences.borrow_mut();
            sequences.last_used = Some(oid);
            sequences.held.get_mut(&oid).and_then(|held| {
                let end = held.stock?;
                let value = held.last? + held.increment;
                held.last = Some(value);
                if value == end {
                    held.stock = None;
                }
                Some(value)
            })
        };
        if let Some(value) = from_stock {
            return Ok(value);
        }
        let sequence = Self::parameters_of(&table)?;
        let mut fetched = None;
        self.change_sequence(&table, &mut |row, stale| {
            fetched = fetch(&sequence, row, stale);
            fetched.map(|fetched| fetched.change)
        })?;
        let fetched = fetched.ok_or_else(|| exhausted(&sequence, &table.name))?;
        if let Some(held) = self.sequences.borrow_mut().held.get_mut(&oid) {
            held.last = Some(fetched.first);
            held.increment = sequence.increment;
            held.stock = (fetched.first != fetched.last).then_some(fetched.last);
        }
        Ok(fetched.first)
    }

    /// Changes the sequence's row; with an xid if the change wants a record.
    fn change_sequence(
        &self,
        table: &Table,
        decide: &mut dyn FnMut(SequenceRow, bool) -> Option<SequenceChange>,
    ) -> SqlResult<()> {
        let persistence = catalog::persistence_of(table.persistence as u8);
        let mut xid = None;
        loop {
            let engine = self.engine();
            match engine.change_sequence(table.file, persistence, xid, decide)? {
                Changed::NeedsXid => xid = Some(self.txn.borrow_mut().xid().map_err(eval::error::txn)?),
                Changed::Done | Changed::Refused => return Ok(()),
            }
        }
    }

    fn current_value(&self, oid: Oid) -> SqlResult<i64> {
        let table = self.open_sequence(oid)?;
        self.check_sequence_access(&table, "Ur")?;
        let last = self.sequences.borrow().held.get(&oid).and_then(|held| held.last);
        last.ok_or_else(|| {
            sql_err!(
                OBJECT_NOT_IN_PREREQUISITE_STATE,
                "currval of sequence \"{}\" is not yet defined in this session",
                table.name
            )
        })
    }

    fn last_value(&self) -> SqlResult<i64> {
        let undefined =
            || sql_err!(OBJECT_NOT_IN_PREREQUISITE_STATE, "lastval is not yet defined in this session");
        let oid = self.sequences.borrow().last_used.ok_or_else(undefined)?;
        if self.with_reader(|reader| reader.relation_by_oid(oid))?.is_none() {
            return Err(undefined());
        }
        self.current_value(oid)
    }

    fn set_value(&self, oid: Oid, value: i64, called: bool) -> SqlResult<()> {
        let table = self.open_sequence(oid)?;
        self.check_sequence_access(&table, "w")?;
        self.check_sequence_writable(&table, "setval()")?;
        let Sequence { min, max, .. } = Self::parameters_of(&table)?;
        if !(min..=max).contains(&value) {
            return Err(sql_err!(
                NUMERIC_VALUE_OUT_OF_RANGE,
                "setval: value {value} is out of bounds for sequence \"{}\" ({min}..{max})",
                table.name
            ));
        }
        let row = SequenceRow { last_value: value, log_count: 0, is_called: called };
        self.change_sequence(&table, &mut |_, _| Some(SequenceChange { row, logged: Some(row) }))?;
        if let Some(held) = self.sequences.borrow_mut().held.get_mut(&oid) {
            if called {
                held.last = Some(value);
            }
            held.stock = None;
        }
        Ok(())
    }

    /// NULL if no value was handed out yet, or the user may not see it.
    fn sequence_last_value(&self, oid: Oid) -> SqlResult<Datum> {
        let table = self.open_sequence(oid)?;
        if self.check_sequence_access(&table, "Ur").is_err() {
            return Ok(Datum::Null);
        }
        let row = self.engine().read_sequence(table.file)?;
        Ok(if row.is_called { Datum::Int8(row.last_value) } else { Datum::Null })
    }

    fn sequence_parameters(&self, oid: Oid) -> SqlResult<Vec<Row>> {
        let table = self.with_reader(|reader| reader.relation_by_oid(oid))?;
        let table =
            table.ok_or_else(|| sql_err!(UNDEFINED_TABLE, "relation with OID {oid} does not exist"))?;
        if table.kind == RelationKind::Sequence {
            self.check_sequence_access(&table, "wrU")?;
        }
        let sequence = Self::parameters_of(&table)?;
        Ok(vec![vec![
            Datum::Int8(sequence.start),
            Datum::Int8(sequence.min),
            Datum::Int8(sequence.max),
            Datum::Int8(sequence.increment),
            Datum::Bool(sequence.cycle),
            Datum::Int8(sequence.cache),
            Datum::Oid(sequence.type_oid.0),
        ]])
    }

    fn sequence_data(&self, oid: Oid) -> SqlResult<Vec<Row>> {
        let table = self.open_sequence(oid)?;
        if self.check_sequence_access(&table, "r").is_err() {
            return Ok(vec![vec![Datum::Null, Datum::Null]]);
        }
        let row = self.engine().read_sequence(table.file)?;
        Ok(vec![vec![Datum::Int8(row.last_value), Datum::Bool(row.is_called)]])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sequence(increment: i64, min: i64, max: i64, cache: i64, cycle: bool) -> Sequence {
        Sequence { type_oid: types::oids::int8, start: min, increment, max, min, cache, cycle }
    }

    fn row(last_value: i64, log_count: i64, is_called: bool) -> SequenceRow {
        SequenceRow { last_value, log_count, is_called }
    }

    #[test]
    fn the_first_value_is_the_start_and_covers_32_more() {
        let got = fetch(&sequence(1, 1, i64::MAX, 1, false), row(1, 0, false), false).unwrap();
        assert_eq!((got.first, got.last), (1, 1));
        assert_eq!(got.change.row, row(1, 32, true));
        assert_eq!(got.change.logged, Some(row(33, 0, true)));
    }

    #[test]
    fn covered_values_need_no_record_until_a_checkpoint() {
        let of = sequence(1, 1, i64::MAX, 1, false);
        let got = fetch(&of, row(1, 32, true), false).unwrap();
        assert_eq!((got.first, got.change.row, got.change.logged), (2, row(2, 31, true), None));
        let got = fetch(&of, row(1, 32, true), true).unwrap();
        assert_eq!((got.first, got.change.row), (2, row(2, 32, true)));
        assert_eq!(got.change.logged, Some(row(34, 0, true)));
    }

    #[test]
    fn a_stock_is_fetched_at_once_and_stops_at_the_end() {
        let of = sequence(2, 1, 6, 10, false);
        let got = fetch(&of, row(1, 0, false), false).unwrap();
        assert_eq!((got.first, got.last), (1, 5));
        assert_eq!(got.change.row.last_value, 5);
        assert_eq!(fetch(&of, got.change.row, false), None);
    }

    #[test]
    fn cycles_begin_anew_at_the_other_end() {
        let down = sequence(-1, -3, -1, 1, true);
        assert_eq!(fetch(&down, row(-3, 0, true), false).unwrap().first, -1);
        let up = sequence(i64::MAX, 1, i64::MAX, 1, true);
        assert_eq!(fetch(&up, row(5, 0, true), false).unwrap().first, 1);
    }
}
