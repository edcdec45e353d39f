//! What · The one order of commits: snapshots see transactions in exactly the order of their commit records.
//!
//! Layout · An entry for each transaction between the moment before it inserts its commit record and the moment when it leaves the running
//! set. It has a *bound*: where the log ended before, and from the insertion on the end of the record itself.
//!
//! Invariant · Of two committed transactions A and B, A's record before B's, no snapshot sees B without A.
//!
//! Proof. A transaction leaves only in `release`, under the mutex, if no entry that stays has a bound below its record's end. Say
//! B leaves there while A has not left. If A has an entry, that has a bound which is at most the end of A's record, which lies before B's: B may not
//! leave. If A has none yet, it inserts its record after it will have entered, which is after B's record was inserted: A's record
//! is behind B's, against what was said. So A has left before B or leaves with it. All who leave together leave the running
//! set in one step (`Running::complete_all`), and steps are ordered by the mutex. A snapshot is built from the running set between
//! two steps, or is one that was ([`running`](super::running)).
//!
//! Who cannot leave yet waits, or is taken along by whoever was in the way. Nobody is in the way for longer than inserting a record and marking the
//! commit log take, but those that must be durable before anybody sees them ([`commit`](crate::commit)): they are few, and for them it
//! takes a flush.
//!
//! Locks · `state`, a short mutex; the running set's are taken inside.
//!
//! PostgreSQL counterpart · None: there a transaction is seen when it has come back from its flush, whatever the order of the records.

use base::Lsn;
use smallvec::SmallVec;

use super::running::{Completion, Running};
use super::sync::{Alone, Mutex};

/// Transactions between their records and the end of their running, see above.
#[derive(Default)]
pub struct CommitOrder {
    state: Alone<Mutex<State>>,
}

#[derive(Default)]
struct State {
    next: u64,
    entries: Vec<Entry>,
}

struct Entry {
    number: u64,
    /// Its record does not end before this.
    bound: Lsn,
    /// What is to leave the running set, when nothing is in the way.
    ready: Option<Completion>,
}

/// A transaction's entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number(u64);

impl CommitOrder {
    /// Before a commit record is inserted. `end`: where the log ends now, or ended at any time before.
    pub fn enter(&self, end: Lsn) -> Number {
        let mut state = self.state.lock();
        let number = state.next;
        state.next += 1;
        state.entries.push(Entry { number, bound: end, ready: None });
        Number(number)
    }

    /// The record was inserted and ends at `lsn`; more is to be done before the transaction can be seen.
    pub fn inserted(&self, number: Number, lsn: Lsn, running: &Running) {
        let mut state = self.state.lock();
        if let Some(entry) = state.find(number) {
            entry.bound = lsn;
        }
        release(&mut state, running);
    }

    /// Whether all whose records come before have left.
    pub fn is_first(&self, number: Number) -> bool {
        let mut state = self.state.lock();
        let Some(own) = state.find(number).map(|entry| entry.bound) else { return true };
        state.entries.iter().all(|entry| entry.number == number.0 || entry.bound >= own)
    }

    /// The transaction, whose record ends at `lsn`, may be seen as soon as all before it may. Whether it has left the running set.
    pub(super) fn complete(
        &self,
        number: Number,
        lsn: Lsn,
        completion: Completion,
        running: &Running,
    ) -> bool {
        let mut state = self.state.lock();
        if let Some(entry) = state.find(number) {
            entry.bound = lsn;
            entry.ready = Some(completion);
        }
        release(&mut state, running);
        state.find(number).is_none()
    }

    /// Whether it has left the running set, taken along by another.
    pub fn has_left(&self, number: Number) -> bool {
        self.state.lock().find(number).is_none()
    }

    /// The log is broken, so that the transaction's outcome is unknown: it holds up no other.
    pub fn withdraw(&self, number: Number, running: &Running) {
        let mut state = self.state.lock();
        state.entries.retain(|entry| entry.number != number.0);
        release(&mut state, running);
    }
}

impl State {
    fn find(&mut self, number: Number) -> Option<&mut Entry> {
        self.entries.iter_mut().find(|entry| entry.number == number.0)
    }
}

/// Releases all that are ready and have no other before them.
fn release(state: &mut State, running: &Running) {
    let waited_for =
        state.entries.iter().filter(|entry| entry.ready.is_none()).map(|entry| entry.bound).min();
    let mut leaving = SmallVec::<[Completion; 4]>::new();
    state.entries.retain(|entry| match entry.ready {
        Some(completion) if waited_for.is_none_or(|bound| entry.bound <= bound) => {
            leaving.push(completion);
            false
        }
        _ => true,
    });
    running.complete_all(&mut leaving);
}
