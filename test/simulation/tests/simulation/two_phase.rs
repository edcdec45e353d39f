//! Transfers in two phases: one session prepares, another one ends, perhaps in the machine's next life.
//!
//! What must hold: a transfer whose PREPARE TRANSACTION was answered is prepared or ended, whatever crashes; one whose end was sent but
//! not answered is either still prepared or ended as asked, never lost and never half; none is prepared that nobody prepared.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use history::Choices;
use runtime::{sleep, wait};

use crate::bank::{SharedLedger, Transfer};
use crate::session::Client;

/// Transfers that may be prepared at a time; the setting leaves room for those that are being prepared.
pub const MOST: usize = 20;

/// How a prepared transfer is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    Commit,
    Rollback,
}

/// What the sessions know of transfers in two phases.
#[derive(Default)]
pub struct Phases {
    /// PREPARE TRANSACTION was sent.
    tried: BTreeMap<u64, Transfer>,
    /// It was answered, and no end was sent since.
    prepared: BTreeSet<u64>,
    /// An end was sent and not answered.
    ending: BTreeMap<u64, Wish>,
    /// ROLLBACK PREPARED was answered.
    rolled_back: BTreeSet<u64>,
    /// For the test that the test does something.
    pub ended: u64,
    pub recovered: u64,
}

impl Phases {
    /// Whether one more may be prepared.
    pub fn has_room(&self) -> bool {
        self.prepared.len() + self.ending.len() < MOST
    }

    /// PREPARE TRANSACTION is about to be sent.
    pub fn try_to_prepare(&mut self, id: u64, transfer: Transfer) {
        self.tried.insert(id, transfer);
    }

    /// It was answered.
    pub fn prepared(&mut self, id: u64) {
        self.prepared.insert(id);
    }
}

/// A session that ends what others prepared.
pub struct Resolver {
    pub client: Client,
    pub choices: Choices,
    pub ledger: SharedLedger,
}

impl Resolver {
    /// Works until it is told to stop, nobody else is at work (`alone`) and nothing is prepared: others may wait for its work.
    pub fn work(&mut self, stop: &dyn Fn() -> bool, alone: &dyn Fn() -> bool) {
        loop {
            let last = stop() && alone();
            let resolved = self.resolve();
            if last && !resolved {
                return;
            }
            if self.choices.one_in(3) {
                wait(sleep(Duration::from_micros(self.choices.below(3000))));
            } else {
                runtime::yield_now();
            }
        }
    }

    /// Ends one; false if none is prepared.
    fn resolve(&mut self) -> bool {
        let id = {
            let ledger = self.ledger.borrow();
            let prepared = &ledger.phases.prepared;
            if prepared.is_empty() {
                return false;
            }
            let nth = self.choices.below(prepared.len() as u64) as usize;
            prepared.iter().nth(nth).copied().expect("there are more")
        };
        let wish = if self.choices.one_in(3) { Wish::Rollback } else { Wish::Commit };
        let transfer = {
            let mut ledger = self.ledger.borrow_mut();
            ledger.phases.prepared.remove(&id);
            ledger.phases.ending.insert(id, wish);
            let transfer = ledger.phases.tried[&id];
            if wish == Wish::Commit {
                ledger.attempted.insert(id, transfer);
            }
            transfer
        };
        let command = if wish == Wish::Commit { "commit" } else { "rollback" };
        let sql = format!("{command} prepared 'transfer {id}'");
        self.client.run(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        let mut ledger = self.ledger.borrow_mut();
        ledger.phases.ending.remove(&id);
        ledger.phases.ended += 1;
        if wish == Wish::Commit {
            ledger.acknowledged.insert(id, transfer);
        } else {
            ledger.phases.rolled_back.insert(id);
        }
        true
    }
}

/// After an opening, with nobody else connected: what is prepared is what must be. From now on sessions may end it.
pub fn check(client: &Client, ledger: &SharedLedger) {
    let run = |sql: &str| client.run(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let number = |gid: &String| gid.trim_start_matches("transfer ").parse().expect("a transfer");
    let listed: BTreeSet<u64> = run("select gid from pg_prepared_xacts").iter().map(number).collect();
    let history: BTreeSet<u64> =
        run("select id from history").iter().map(|id| id.parse().expect("a number")).collect();
    let mut ledger = ledger.borrow_mut();
    let phases = &mut ledger.phases;
    for id in &phases.prepared {
        assert!(listed.contains(id) && !history.contains(id), "transfer {id} was prepared and is lost");
    }
    for (id, wish) in &phases.ending {
        let (prepared, committed) = (listed.contains(id), history.contains(id));
        match wish {
            Wish::Commit => {
                assert!(prepared != committed, "transfer {id}: prepared and committed, or neither")
            }
            Wish::Rollback => assert!(!committed, "transfer {id} committed instead of being rolled back"),
        }
    }
    assert!(history.is_disjoint(&phases.rolled_back), "a transfer came back");
    for id in &listed {
        assert!(phases.tried.contains_key(id), "nobody prepared transfer {id}");
        assert!(!phases.rolled_back.contains(id), "transfer {id} was rolled back");
    }
    phases.recovered += listed.len() as u64;
    phases.ending.clear();
    phases.prepared = listed;
}
