//! What · The history of a run: what transactions appended, what snapshots saw, when it was asked and answered.
//!
//! Layout · [`History::orders`] has the elements of each list as far as anybody has seen them. A list only grows, and what is appended
//! is never equal, so everything read must be a prefix of the list's order; a [`Sighting`] is then just a length.
//!
//! Invariants
//! 1. A [`Moment`] is given once: what was answered before something else was sent has the smaller one.
//! 2. An element is noted before its transaction's end is sent: one that nobody noted cannot be seen.

use rustc_hash::FxHashMap;

use crate::{FIRST_LISTS, LISTS};

/// Number of an event, in the order in which clients sent and received.
pub type Moment = u64;
/// Number of a list.
pub type ListId = u32;
/// What is appended.
pub type Element = u64;

/// When something happened, as far as clients know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// It was asked for.
    pub sent: Moment,
    /// It was done.
    pub answered: Moment,
}

/// Number of a transaction in the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TxnId(pub usize);

/// Number of a snapshot in the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SnapshotId(pub usize);

/// An element that stands: its subtransactions were not rolled back.
#[derive(Clone, Copy, Debug)]
pub struct Append {
    /// Where.
    pub list: ListId,
    /// What.
    pub element: Element,
    /// How many elements of others must be before it, if the transaction knows: it held the row.
    pub after: Option<usize>,
}

/// How far a transaction came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// No end was sent.
    Open,
    /// COMMIT was sent.
    Committing(Moment),
    /// PREPARE TRANSACTION was sent.
    Preparing,
    /// It is prepared, and no end was sent.
    Prepared,
    /// COMMIT PREPARED was sent.
    CommittingPrepared(Moment),
    /// ROLLBACK PREPARED was sent.
    RollingBackPrepared,
    /// It committed.
    Committed(Span),
    /// It was rolled back.
    RolledBack,
}

/// A transaction.
#[derive(Debug)]
pub struct Transaction {
    /// What it appended and did not take back, in its order.
    pub appends: Vec<Append>,
    /// The snapshot of all its statements, under REPEATABLE READ.
    pub snapshot: Option<SnapshotId>,
    /// It runs at SERIALIZABLE.
    pub serializable: bool,
    /// Lists that it looked at in its snapshot, which others may share.
    pub looked: Vec<ListId>,
    /// Its end.
    pub fate: Fate,
}

/// A list in a snapshot: so many elements of its order were committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sighting {
    /// Which.
    pub list: ListId,
    /// Elements of others.
    pub length: usize,
}

/// What was seen at one moment between two others.
#[derive(Debug)]
pub struct Snapshot {
    /// When it was taken.
    pub taken: Span,
    /// What it showed.
    pub seen: Vec<Sighting>,
    /// One that it is no older than, though the clients' time does not tell: a standby went on from there.
    pub behind: Option<SnapshotId>,
    /// A standby showed it.
    pub of_standby: bool,
}

/// All that happened.
#[derive(Debug, Default)]
pub struct History {
    last: Moment,
    last_element: Element,
    /// Transactions that changed something, or tried.
    pub transactions: Vec<Transaction>,
    /// Snapshots that showed something.
    pub snapshots: Vec<Snapshot>,
    /// The elements of each list, in the order of the list, as far as seen.
    pub orders: [Vec<Element>; LISTS as usize],
    /// Who appended an element.
    pub writers: FxHashMap<(ListId, Element), TxnId>,
    /// What cannot be, whatever the order of commits.
    pub violations: Vec<String>,
}

impl History {
    /// The next moment.
    pub fn now(&mut self) -> Moment {
        self.last += 1;
        self.last
    }

    /// An element that nobody has.
    pub fn new_element(&mut self) -> Element {
        self.last_element += 1;
        self.last_element
    }

    /// A transaction begins.
    pub fn begin(&mut self) -> TxnId {
        self.transactions.push(Transaction {
            appends: Vec::new(),
            snapshot: None,
            serializable: false,
            looked: Vec::new(),
            fate: Fate::Open,
        });
        TxnId(self.transactions.len() - 1)
    }

    /// A transaction of the history.
    pub fn of(&mut self, id: TxnId) -> &mut Transaction {
        &mut self.transactions[id.0]
    }

    /// It appended an element.
    pub fn append(&mut self, id: TxnId, append: Append) {
        self.writers.insert((append.list, append.element), id);
        self.of(id).appends.push(append);
    }

    /// A snapshot was taken.
    pub fn snapshot(&mut self, taken: Span) -> SnapshotId {
        self.snapshots.push(Snapshot { taken, seen: Vec::new(), behind: None, of_standby: false });
        SnapshotId(self.snapshots.len() - 1)
    }

    /// A standby's snapshot, asked for and taken until now, of any time before; but not older than one that the same connection had.
    pub fn snapshot_of_standby(&mut self, behind: Option<SnapshotId>) -> SnapshotId {
        let answered = self.now();
        let id = self.snapshot(Span { sent: 0, answered });
        let snapshot = &mut self.snapshots[id.0];
        (snapshot.behind, snapshot.of_standby) = (behind, true);
        id
    }

    /// What a snapshot showed of a list, to a transaction that had appended `own` to it. Returns the number of others' elements.
    pub fn saw(
        &mut self,
        snapshot: SnapshotId,
        list: ListId,
        elements: &[Element],
        own: &[Element],
    ) -> usize {
        let others = elements.strip_suffix(own).unwrap_or_else(|| {
            self.violations.push(format!("list {list}: {elements:?} does not end with one's own {own:?}"));
            elements
        });
        let order = &mut self.orders[list as usize];
        let common = order.iter().zip(others).take_while(|(a, b)| a == b).count();
        if common == order.len() {
            order.extend_from_slice(&others[common..]);
        } else if common < others.len() {
            let (known, seen) = (&order[common..], &others[common..]);
            let message =
                format!("list {list}: some saw {known:?}, others {seen:?}, after the same {common} elements");
            self.violations.push(message);
            return common;
        }
        let sighting = Sighting { list, length: others.len() };
        let seen = &mut self.snapshots[snapshot.0].seen;
        if !seen.contains(&sighting) {
            seen.push(sighting);
        }
        others.len()
    }

    /// A list's row was not there: it has no elements.
    pub fn saw_none(&mut self, snapshot: SnapshotId, list: ListId, own: &[Element]) -> usize {
        if list < FIRST_LISTS {
            self.violations.push(format!("list {list} is missing"));
        }
        self.saw(snapshot, list, &[], own)
    }

    /// Everything from the `kept`-th append on was rolled back.
    pub fn abandon(&mut self, id: TxnId, kept: usize) {
        self.of(id).appends.truncate(kept);
    }

    /// Ends a transaction whose COMMIT or COMMIT PREPARED was sent.
    pub fn committed(&mut self, id: TxnId) {
        let answered = self.now();
        let fate = &mut self.of(id).fate;
        match *fate {
            Fate::Committing(sent) | Fate::CommittingPrepared(sent) => {
                *fate = Fate::Committed(Span { sent, answered });
            }
            other => self.violations.push(format!("transaction {} committed, but is {other:?}", id.0)),
        }
    }

    /// Transactions that are prepared and that nobody is ending.
    pub fn prepared(&self) -> Vec<TxnId> {
        let all = self.transactions.iter().enumerate();
        all.filter(|(_, txn)| txn.fate == Fate::Prepared).map(|(n, _)| TxnId(n)).collect()
    }

    /// The server crashed and is back, with these prepared; each list was read since, and nothing else was done. Now it is settled what
    /// became of those whose answer was lost.
    pub fn recovered(&mut self, listed: &[TxnId]) {
        for n in 0..self.transactions.len() {
            let id = TxnId(n);
            let is_listed = listed.contains(&id);
            let fate = self.transactions[n].fate;
            let prepared = match fate {
                Fate::Prepared => true,
                Fate::Preparing | Fate::CommittingPrepared(_) | Fate::RollingBackPrepared => is_listed,
                _ => false,
            };
            if prepared != is_listed {
                self.violations
                    .push(format!("transaction {n} was {fate:?}, and prepared after the crash: {is_listed}"));
            }
            match fate {
                _ if is_listed => self.of(id).fate = Fate::Prepared,
                Fate::CommittingPrepared(_) => self.committed(id),
                Fate::Committing(_) if self.is_seen(id) => self.committed(id),
                Fate::Committed(_) => {}
                _ => self.of(id).fate = Fate::RolledBack,
            }
        }
    }

    /// Whether an element of it was seen by others.
    fn is_seen(&self, id: TxnId) -> bool {
        let appends = &self.transactions[id.0].appends;
        appends.iter().any(|append| self.orders[append.list as usize].contains(&append.element))
    }
}
