//! Random transactions on a few rows under snapshot isolation, cancelled as the graph says, and whether one order of those that committed explains all:
//! asked of every order there is, not of the graph.

use std::sync::Arc;

use base::Xid;
use proptest::prelude::*;
use proptest::strategy::ValueTree;

use super::conflicts::{After, Graph, Id, Seq};
use super::{Member, Who};
use crate::SessionId;

/// Rows.
const ROWS: usize = 4;

#[derive(Clone, Copy, Debug)]
enum Op {
    Begin { read_only: bool },
    Read(usize),
    Write(usize),
    Prepare,
    Commit,
    Abort,
}

/// A step of one of the sessions.
fn step(sessions: usize) -> impl Strategy<Value = (usize, Op)> {
    let op = prop_oneof![
        2 => any::<bool>().prop_map(|read_only| Op::Begin { read_only }),
        6 => (0..ROWS).prop_map(Op::Read),
        4 => (0..ROWS).prop_map(Op::Write),
        1 => Just(Op::Prepare),
        3 => Just(Op::Commit),
        1 => Just(Op::Abort),
    ];
    (0..sessions, op)
}

/// A version of a row: who wrote it, and when that committed.
#[derive(Clone, Copy, Debug)]
struct Version {
    writer: usize,
    committed: Option<u64>,
}

/// A transaction, and what it did.
#[derive(Debug, Default)]
struct Txn {
    member: Option<Arc<Member>>,
    /// Commits that it sees.
    snapshot: u64,
    prepared: bool,
    committed: bool,
    /// Rows read, with the writer of what was seen.
    reads: Vec<(usize, Option<usize>)>,
    writes: Vec<usize>,
}

/// A database with nothing but snapshot isolation, and the graph beside it.
struct World {
    graph: Graph,
    txns: Vec<Txn>,
    /// The transaction of each session.
    running: Vec<Option<usize>>,
    rows: Vec<Vec<Version>>,
    commits: u64,
    /// Predicate locks on rows: who has read them.
    locks: Vec<Vec<Id>>,
    /// What is left of those of which only a summary is kept.
    old: [Seq; ROWS],
    /// Keep summaries of those that ended.
    forgetful: bool,
    broken: bool,
    cancelled: usize,
}

impl World {
    fn new(sessions: usize, forgetful: bool) -> World {
        World {
            graph: Graph::new(if forgetful { 0 } else { 1000 }),
            txns: Vec::new(),
            running: vec![None; sessions],
            rows: vec![Vec::new(); ROWS],
            commits: 0,
            locks: vec![Vec::new(); ROWS],
            old: [0; ROWS],
            forgetful,
            broken: false,
            cancelled: 0,
        }
    }

    fn settle(&mut self, after: After) {
        for member in after.released {
            self.locks.iter_mut().for_each(|ids| ids.retain(|id| *id != member.id));
        }
        if let Some(seq) = after.forgotten {
            self.old.iter_mut().filter(|old| **old <= seq).for_each(|old| *old = 0);
        }
    }

    fn summarise(&mut self) {
        let Some((member, seq)) = self.graph.oldest_ended() else { return };
        for (ids, old) in self.locks.iter_mut().zip(&mut self.old) {
            if ids.contains(&member.id) {
                *old = seq;
                ids.retain(|id| *id != member.id);
            }
        }
        self.graph.summarise_oldest();
    }

    fn begin(&mut self, session: usize, read_only: bool) {
        let number = self.txns.len();
        let who = Who { session: SessionId(session as u32), local: number as u32 };
        let member = self.graph.begin(who, Some(Xid(number as u64 + 10)), read_only, None);
        self.txns.push(Txn { member, snapshot: self.commits, ..Txn::default() });
        self.running[session] = Some(number);
    }

    fn watched(&self, number: usize) -> Option<Arc<Member>> {
        self.txns[number].member.clone().filter(|member| !member.is_safe())
    }

    fn read(&mut self, number: usize, row: usize) -> bool {
        let snapshot = self.txns[number].snapshot;
        let sees = |version: &&Version| {
            version.writer == number || version.committed.is_some_and(|seq| seq <= snapshot)
        };
        let seen = self.rows[row].iter().rev().find(sees).map(|version| version.writer);
        let next = self.rows[row].iter().find(|version| !sees(version)).map(|version| version.writer);
        self.txns[number].reads.push((row, seen));
        let Some(member) = self.watched(number) else { return true };
        if member.is_doomed() {
            return false;
        }
        if seen != Some(number) && !self.broken {
            self.locks[row].push(member.id);
        }
        next.is_none_or(|writer| self.graph.conflict_out(member.id, Xid(writer as u64 + 10)).is_ok())
    }

    fn write(&mut self, number: usize, row: usize) -> bool {
        let snapshot = self.txns[number].snapshot;
        let last = self.rows[row].last().copied();
        // First updater wins; who would wait gives up here.
        if last.is_some_and(|v| v.writer != number && v.committed.is_none_or(|seq| seq > snapshot)) {
            return false;
        }
        if !self.read(number, row) {
            return false;
        }
        self.txns[number].writes.push(row);
        self.rows[row].push(Version { writer: number, committed: None });
        let Some(member) = self.watched(number) else { return true };
        member.note_write();
        let readers: Vec<Id> = self.locks[row].iter().copied().filter(|id| *id != member.id).collect();
        self.graph.conflicts_in(member.id, &readers, self.old[row]).is_ok()
    }

    fn prepare(&mut self, number: usize) -> bool {
        if let Some(member) = self.watched(number)
            && !self.txns[number].prepared
            && self.graph.prepare(member.id).is_err()
        {
            return false;
        }
        self.txns[number].prepared = true;
        true
    }

    fn commit(&mut self, session: usize, number: usize) {
        self.commits += 1;
        for version in self.rows.iter_mut().flatten().filter(|version| version.writer == number) {
            version.committed = Some(self.commits);
        }
        self.txns[number].committed = true;
        self.running[session] = None;
        if let Some(member) = self.watched(number) {
            let after = self.graph.commit(member.id);
            self.settle(after);
        }
        if self.forgetful && self.graph.is_full() {
            self.summarise();
        }
    }

    fn abort(&mut self, session: usize, number: usize) {
        self.rows.iter_mut().for_each(|row| row.retain(|version| version.writer != number));
        self.running[session] = None;
        if let Some(member) = self.watched(number) {
            let after = self.graph.abort(member.id);
            self.settle(after);
        }
    }

    fn run(&mut self, session: usize, op: Op) {
        let Some(number) = self.running[session] else {
            if let Op::Begin { read_only } = op {
                self.begin(session, read_only);
            }
            return;
        };
        let read_only = self.txns[number].member.is_none() || self.graph_read_only(number);
        let prepared = self.txns[number].prepared;
        let fine = match op {
            Op::Begin { .. } => true,
            Op::Read(row) if !prepared => self.read(number, row),
            Op::Write(row) if !prepared && !read_only => self.write(number, row),
            Op::Read(_) | Op::Write(_) => true,
            Op::Prepare => self.prepare(number),
            Op::Commit => {
                let fine = self.prepare(number);
                if fine {
                    self.commit(session, number);
                }
                fine
            }
            Op::Abort => {
                self.abort(session, number);
                true
            }
        };
        if !fine {
            self.cancelled += 1;
            self.abort(session, number);
        }
    }

    fn graph_read_only(&self, number: usize) -> bool {
        self.txns[number].member.as_ref().is_none_or(|member| self.graph.is_declared_read_only(member.id))
    }

    /// Whether one order of the committed transactions explains what all of them read, and what is left.
    fn is_serializable(&self) -> bool {
        let all: Vec<usize> = (0..self.txns.len()).filter(|n| self.txns[*n].committed).collect();
        let end: Vec<Option<usize>> = self
            .rows
            .iter()
            .map(|row| row.iter().rev().find(|version| version.committed.is_some()).map(|v| v.writer))
            .collect();
        self.extends(&all, &mut vec![false; self.txns.len()], &[None; ROWS], &end)
    }

    /// Whether those that are not `done` can follow one after the other.
    fn extends(
        &self,
        all: &[usize],
        done: &mut Vec<bool>,
        state: &[Option<usize>],
        end: &[Option<usize>],
    ) -> bool {
        let mut left = false;
        for &next in all {
            if done[next] {
                continue;
            }
            left = true;
            let txn = &self.txns[next];
            let fits = |(row, seen): &(usize, Option<usize>)| *seen == Some(next) || *seen == state[*row];
            if !txn.reads.iter().all(fits) {
                continue;
            }
            let mut after = state.to_vec();
            txn.writes.iter().for_each(|row| after[*row] = Some(next));
            done[next] = true;
            if self.extends(all, done, &after, end) {
                return true;
            }
            done[next] = false;
        }
        !left && state == end
    }
}

/// Few enough transactions that all orders can be tried.
const MOST: usize = 9;

fn play(steps: &[(usize, Op)], forgetful: bool, broken: bool) -> World {
    let mut world = World::new(4, forgetful);
    world.broken = broken;
    for &(session, op) in steps {
        if world.txns.len() == MOST && matches!(op, Op::Begin { .. }) {
            continue;
        }
        world.run(session, op);
    }
    world
}

fn config() -> ProptestConfig {
    ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn what_commits_has_an_order(steps in prop::collection::vec(step(4), 10..90), forgetful in any::<bool>()) {
        let world = play(&steps, forgetful, false);
        prop_assert!(world.is_serializable(), "{:#?}", world.txns);
    }

    /// Nothing is left in the graph once everybody has ended.
    #[test]
    fn all_is_forgotten_in_the_end(steps in prop::collection::vec(step(4), 0..60)) {
        let mut world = play(&steps, false, false);
        for session in 0..4 {
            if let Some(number) = world.running[session] {
                world.abort(session, number);
            }
        }
        prop_assert_eq!(world.graph.len(), 0);
        prop_assert!(world.locks.iter().all(Vec::is_empty));
    }
}

/// Without predicate locks the same check finds anomalies at once: it can fail.
#[test]
fn without_predicate_locks_anomalies_are_found() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let strategy = prop::collection::vec(step(4), 10..90);
    let anomaly = (0..3000).any(|_| {
        let steps = strategy.new_tree(&mut runner).expect("steps can be made").current();
        !play(&steps, false, true).is_serializable()
    });
    assert!(anomaly);
}

/// One after the other, nobody is cancelled, whatever they do.
#[test]
fn transactions_that_do_not_overlap_are_never_cancelled() {
    let mut world = World::new(1, false);
    for n in 0..20 {
        for op in [Op::Begin { read_only: n % 5 == 0 }, Op::Read(n % ROWS), Op::Write(n % 3), Op::Commit] {
            world.run(0, op);
        }
    }
    assert_eq!(world.cancelled, 0);
    assert_eq!(world.txns.iter().filter(|txn| txn.committed).count(), 20);
}

/// Two doctors on call, each of whom looks at the other and leaves.
#[test]
fn write_skew_cancels_one_and_only_one() {
    let mut world = World::new(2, false);
    let begin = Op::Begin { read_only: false };
    let steps = [
        (0, begin),
        (1, begin),
        (0, Op::Read(0)),
        (0, Op::Read(1)),
        (1, Op::Read(0)),
        (1, Op::Read(1)),
        (0, Op::Write(0)),
        (1, Op::Write(1)),
        (0, Op::Commit),
        (1, Op::Commit),
    ];
    steps.into_iter().for_each(|(session, op)| world.run(session, op));
    assert_eq!(world.txns.iter().filter(|txn| txn.committed).count(), 1);
    assert!(world.is_serializable());
}

/// A read-only transaction sees a state that none of the orders of the writers has, unless one of those goes.
#[test]
fn a_safe_snapshot_waits_for_the_writers_that_could_spoil_it() {
    let mut world = World::new(4, false);
    let begin = |read_only| Op::Begin { read_only };
    for (session, op) in [
        (0, begin(false)),
        (1, begin(false)),
        (1, Op::Read(0)),
        (1, Op::Read(1)),
        (0, Op::Read(1)),
        (0, Op::Write(1)),
        (0, Op::Commit),
        (2, begin(true)),
        (1, Op::Write(0)),
        (1, Op::Commit),
    ] {
        world.run(session, op);
    }
    let reader = world.txns[2].member.clone().expect("a writer runs");
    assert!(reader.is_unsafe() && !reader.is_safe());
    // The next one finds nobody in its way.
    world.run(3, begin(true));
    assert!(world.txns[3].member.is_none());
}
