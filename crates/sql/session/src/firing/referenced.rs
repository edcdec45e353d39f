//! # What
//! Whether the row is there that a new one refers to: asked of the index itself where that comes to the same as the statement.
//!
//! # Invariants
//! 1. The statement runs first, and again whenever something that it depends on has changed: so what it takes to run it (privileges of the table's owner,
//!    locks) is asked for as often as ever.
//! 2. A transaction that keeps its snapshot, whose reads may have to be watched too, and a statement whose parts are counted, run the statement.
//! 3. A key that was found is known as long as the (sub)transaction has changed nothing since: its row is locked, so nobody else takes it away. Rows of one
//!    statement that refer to few others ask for each of them once.
//!
//! # PostgreSQL counterpart
//! `RI_FKey_check` in `utils/adt/ri_triggers.c`.

use std::cell::RefCell;
use std::hash::BuildHasher;
use std::rc::Rc;

use base::{CommandId, SqlResult, SubxactId, Xid};
use executor::probe::KeyProbe;
use rustc_hash::FxBuildHasher;
use tuple::Datum;

use super::foreign_key::{Known, Query};
use crate::routine::Sees;
use crate::{Planned, Session};

/// How a session finds the rows that a foreign key refers to.
#[derive(Default)]
pub(super) struct Referenced {
    /// The plan with which the statement has run.
    ran: RefCell<Option<Rc<Planned>>>,
    /// There is one once the statement has run, if the index serves; taken out while it is used.
    probe: RefCell<Option<Box<KeyProbe>>>,
    found: RefCell<Found>,
}

/// Keys that are remembered.
const REMEMBERED: usize = 256;

/// When a key was found: the transaction and its part, and the command that sees all it has done.
type Moment = (Option<Xid>, SubxactId, CommandId);

/// Keys that were found last.
#[derive(Default)]
struct Found {
    when: Option<Moment>,
    /// By what they hash to; none before the second key of a moment.
    keys: Vec<Vec<Datum>>,
}

impl Found {
    fn has(&self, when: Moment, key: &[Datum]) -> bool {
        self.when == Some(when) && self.keys.get(slot(key)).is_some_and(|known| known == key)
    }

    fn note(&mut self, when: Moment, key: &[Datum]) {
        if self.when != Some(when) {
            self.when = Some(when);
            self.keys.clear();
            return;
        }
        self.keys.resize(REMEMBERED, Vec::new());
        self.keys[slot(key)] = key.to_vec();
    }
}

fn slot(key: &[Datum]) -> usize {
    let number = match key.first() {
        Some(Datum::Int2(number)) => *number as u64,
        Some(Datum::Int4(number)) => *number as u64,
        Some(Datum::Int8(number)) => *number as u64,
        Some(Datum::Bytes(bytes)) => FxBuildHasher.hash_one(&bytes[..]),
        _ => 0,
    };
    (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize % REMEMBERED
}

impl Known {
    /// Whether there is a row with the key that one refers to, of values that are not NULL. It is locked then.
    pub(super) fn is_referenced(&self, session: &Session, key: &[Datum], sees: Sees<'_>) -> SqlResult<bool> {
        if let Some(mut probe) = self.usable_probe(session, sees) {
            let found = self.probe_once(session, &mut probe, key);
            *self.probe.probe.borrow_mut() = Some(probe);
            return found;
        }
        let found = self.finds(session, Query::Referenced, key, sees)?;
        if session.may_probe() && !self.info.period && self.is_as_indexed() {
            *self.probe.ran.borrow_mut() = self.source(Query::Referenced)?.planned.borrow().clone();
            let probe = KeyProbe::new(&self.other, &self.info.foreign.columns, self.info.index)?;
            *self.probe.probe.borrow_mut() = probe.map(Box::new);
        }
        Ok(found)
    }

    fn probe_once(&self, session: &Session, probe: &mut KeyProbe, key: &[Datum]) -> SqlResult<bool> {
        session.see_changes()?;
        let moment = || {
            let txn = session.txn.borrow();
            (txn.top_xid_if_assigned(), txn.subxact(), txn.current_command())
        };
        if self.probe.found.borrow().has(moment(), key) {
            return Ok(true);
        }
        let found = session.probe(probe, key)?;
        if found {
            self.probe.found.borrow_mut().note(moment(), key);
        }
        Ok(found)
    }

    fn usable_probe(&self, session: &Session, sees: Sees<'_>) -> Option<Box<KeyProbe>> {
        let Referenced { ran, probe, .. } = &self.probe;
        let usable = matches!(sees, Sees::Now)
            && session.may_probe()
            && ran.borrow().as_ref().is_some_and(|planned| session.depends_on_the_same(planned));
        if usable { probe.take() } else { None }
    }

    /// Whether values of the foreign key's columns are compared with those of the index as these are among each other.
    fn is_as_indexed(&self) -> bool {
        let same = |(own, their): (&i16, &i16)| {
            let of = |table: &catalog::Table, number: i16| table.columns[number as usize - 1].type_oid;
            of(&self.table, *own) == of(&self.other, *their)
        };
        let [across, within, _] = &self.info.foreign.equal;
        across == within
            && self.info.columns.iter().zip(&self.info.foreign.columns).all(same)
            && self.equal.across.iter().all(|equal| equal.casts.iter().all(String::is_empty))
    }
}

impl Session {
    /// Invariant 2.
    fn may_probe(&self) -> bool {
        !self.keeps_snapshot() && !self.is_watching()
    }

    /// Looks for a key, seeing all that has committed until now and the commands of this transaction before the present one.
    fn probe(&self, probe: &mut KeyProbe, key: &[Datum]) -> SqlResult<bool> {
        let (snapshot, command) = {
            let mut txn = self.txn.borrow_mut();
            (txn.statement_snapshot()?, txn.current_command())
        };
        self.with_env(&snapshot, command, |env| probe.lock(env, key))
    }
}
