//! Visibility, savepoints, block states, end actions.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use base::{BlockNo, CommandId, Oid, SubxactId, Xid};
use proptest::prelude::*;

use super::{Server, file, simulate};
use crate::{
    BlockState, Characteristics, End, IsolationLevel, MappedFile, Phase, RelKind, Snapshot, SyncCommit,
    Transaction, TxnOptions, XidHolds, XidStatus,
};

fn commit(transaction: &mut Transaction) {
    assert_eq!(transaction.commit(SyncCommit::On, &[]).unwrap(), End::Commit);
}

/// What a reader with this snapshot takes for committed.
fn visible(server: &Server, snapshot: &Snapshot, xid: Xid) -> bool {
    snapshot.sees(xid) && server.system.did_commit(xid).unwrap()
}

#[test]
fn a_snapshot_is_reused_until_a_transaction_with_an_xid_ends() {
    simulate(1, || {
        let server = Server::new();
        let first = server.system.snapshot();
        let mut reader = server.session(1);
        commit(&mut reader);
        let again = server.system.snapshot();
        assert!(std::sync::Arc::ptr_eq(first.data(), again.data()), "a read-only commit changes nothing");
        let mut writer = server.session(2);
        let xid = writer.xid().unwrap();
        assert!(std::sync::Arc::ptr_eq(first.data(), server.system.snapshot().data()), "assignment neither");
        commit(&mut writer);
        let after = server.system.snapshot();
        assert!(visible(&server, &after, xid) && !visible(&server, &first, xid));
        assert!(server.log.records.lock().len() == 1, "only the writer logged");
    });
}

#[test]
fn rolled_back_subtransactions_are_surely_dead_at_once() {
    simulate(2, || {
        let server = Server::new();
        let mut writer = server.session(1);
        writer.begin_block();
        let top = writer.xid().unwrap();
        let before = server.system.snapshot();
        writer.push_subxact(Some("s"));
        let child = writer.xid().unwrap();
        writer.push_subxact(Some("t"));
        let grandchild = writer.xid().unwrap();
        writer.release("t").unwrap();
        assert!(writer.is_mine(child) && writer.is_mine(grandchild));
        writer.rollback_to("s").unwrap();
        for dead in [child, grandchild] {
            assert!(!writer.is_mine(dead));
            assert!(!server.system.is_in_progress(dead), "{dead} counts as not running");
            assert!(server.system.snapshot().sees(dead) && !server.system.did_commit(dead).unwrap());
            assert_eq!(server.system.status(dead).unwrap(), XidStatus::Aborted);
        }
        let now = server.system.snapshot();
        assert!(now.data().completions > before.data().completions, "thread 4: the counter advances");
        assert!(!now.sees(top) && server.system.is_in_progress(top));
        let second = {
            writer.push_subxact(None);
            writer.xid().unwrap()
        };
        writer.release_current();
        commit(&mut writer);
        let after = server.system.snapshot();
        assert!(visible(&server, &after, top) && visible(&server, &after, second));
        assert!(!visible(&server, &after, child) && !visible(&server, &now, second));
    });
}

#[test]
fn parents_get_their_xids_before_children() {
    simulate(3, || {
        let server = Server::new();
        let mut writer = server.session(1);
        for name in ["a", "b", "c"] {
            writer.push_subxact(Some(name));
        }
        let innermost = writer.xid().unwrap();
        assert_eq!(writer.top_xid_if_assigned(), Some(Xid(3)));
        assert_eq!((innermost, writer.subxids()), (Xid(6), &[Xid(4), Xid(5), Xid(6)][..]));
        assert_eq!(server.system.top_level(innermost), Xid(3));
        writer.rollback_to("b").unwrap();
        assert_eq!(writer.subxids(), [Xid(4)]);
        assert_eq!(writer.xid_if_assigned(), None, "the savepoint begins anew");
        assert_eq!(writer.xid().unwrap(), Xid(7));
        commit(&mut writer);
        let committed: Vec<_> = (3..8).map(|xid| server.system.did_commit(Xid(xid)).unwrap()).collect();
        assert_eq!(committed, [true, true, false, false, true]);
    });
}

#[test]
fn a_million_savepoints_are_linear_and_commit_as_one() {
    simulate(4, || {
        let server = Server::new();
        let mut writer = server.session(1);
        writer.begin_block();
        for _ in 0..1_000_000 {
            writer.push_subxact(Some("s"));
            writer.xid().unwrap();
            writer.release("s").unwrap();
        }
        assert!(writer.is_mine(Xid(500_000)));
        let during = server.system.snapshot();
        commit(&mut writer);
        assert!(!visible(&server, &during, Xid(500_000)));
        assert!(visible(&server, &server.system.snapshot(), Xid(1_000_003)));
        let longest = server.log.records.lock().iter().map(|record| record.data.len()).max();
        assert!(longest.unwrap() < 64, "one run in the record");
        drop(during);
        server.system.horizon(RelKind::Plain, None);
        assert!(server.system.parents().chunks() <= 1, "parents are freed behind the horizon");
    });
}

#[test]
fn horizons_follow_the_oldest_snapshot_and_vacuum_holds_nobody_back() {
    simulate(5, || {
        let server = Server::new();
        let write = || {
            let mut writer = server.session(9);
            let xid = writer.xid().unwrap();
            commit(&mut writer);
            xid
        };
        let old = server.system.snapshot();
        let deleter = write();
        assert!(!server.system.is_removable(RelKind::Plain, deleter), "the old snapshot needs it");
        drop(old);
        write();
        drop(server.system.snapshot());
        assert!(server.system.is_removable(RelKind::Plain, deleter));
        let mut vacuum = server.session(1);
        assert!(vacuum.set_holds(XidHolds::Nothing));
        vacuum.xid().unwrap();
        let held = server.system.snapshot_for_vacuum();
        let deleter = write();
        drop(server.system.snapshot());
        assert!(server.system.horizon(RelKind::Plain, None).maybe_needed > deleter);
        drop(held);
        let mut writer = server.session(2);
        let running = writer.xid().unwrap();
        let deleter = write();
        assert!(!server.system.is_removable(RelKind::Plain, deleter), "{running} runs and is older");
        let own = |kind, xid| server.system.horizon(kind, xid).maybe_needed;
        assert!(own(RelKind::Temp, None) > deleter && own(RelKind::Temp, Some(running)) == running);
        assert!(server.system.is_removable(RelKind::Temp, deleter), "others do not read temporary relations");
        assert!(!server.system.is_removable(RelKind::Temp, running));
    });
}

#[test]
fn an_index_build_holds_back_catalogs_and_no_table() {
    simulate(6, || {
        let server = Server::new();
        let mut build = server.session(1);
        assert!(build.set_holds(XidHolds::Catalogs));
        let building = build.xid().unwrap();
        assert!(!build.set_holds(XidHolds::Everything), "an xid's class is settled");
        let mut writer = server.session(2);
        let deleter = writer.xid().unwrap();
        commit(&mut writer);
        let during = server.system.snapshot();
        assert!(!during.sees(building) && during.sees(deleter));
        let horizon = |kind| server.system.horizon(kind, None).maybe_needed;
        assert!(horizon(RelKind::Plain) > deleter, "the build writes no tables");
        assert_eq!(horizon(RelKind::Catalog), building);
        assert_eq!(horizon(RelKind::Shared), building);
        commit(&mut build);
        assert_eq!(horizon(RelKind::Catalog), building, "the snapshot still needs its catalog rows");
        drop(during);
        assert_eq!(horizon(RelKind::Catalog), server.system.next_xid());
    });
}

#[test]
fn an_accurate_horizon_is_computed_once_for_each_xmin_or_many_ends() {
    use crate::horizon::{Known, REFRESH_AFTER};
    let bounds = crate::horizon::Bounds::default();
    let computed = std::cell::Cell::new(0);
    let test = |xid, (needed, completions), accurate| {
        bounds.is_removable(Xid(xid), Known { needed: Xid(needed), completions }, || {
            computed.set(computed.get() + 1);
            Xid(accurate)
        })
    };
    let first = (100, 1);
    assert!(!test(50, first, 50));
    assert!(test(49, first, 0) && !test(50, first, 0) && !test(99, first, 0) && !test(100, first, 0));
    assert_eq!(computed.get(), 1);
    assert!(test(60, (101, 2), 70) && test(50, (101, 3), 0) && !test(70, (101, 4), 101));
    assert_eq!(computed.get(), 2);
    // A long transaction keeps the upper bound where it is: the lower one follows all the same.
    assert!(!test(80, (101, 1 + REFRESH_AFTER), 101));
    assert!(test(80, (101, 2 + REFRESH_AFTER), 101));
    assert_eq!(computed.get(), 3);
}

#[test]
fn parents_are_freed_although_nobody_asks_for_a_horizon() {
    simulate(7, || {
        let server = Server::new();
        for _ in 0..20 {
            let mut writer = server.session(1);
            writer.begin_block();
            for _ in 0..20_000 {
                writer.push_subxact(None);
                writer.xid().unwrap();
                writer.release_current();
            }
            commit(&mut writer);
        }
        let chunks = server.system.parents().chunks();
        assert!(chunks <= 3, "{chunks} chunks are kept for 400,000 ended subtransactions");
    });
}

#[test]
fn rolling_back_a_deep_stack_is_one_step() {
    simulate(8, || {
        let server = Server::new();
        let mut writer = server.session(1);
        writer.begin_block();
        for n in 0..1_000 {
            writer.push_subxact(Some(&format!("s{n}")));
            writer.xid().unwrap();
        }
        let records = server.log.records.lock().len();
        writer.rollback_to("s100").unwrap();
        assert_eq!(server.log.records.lock().len(), records + 1);
        assert_eq!((writer.depth(), writer.subxids().len()), (102, 100));
        assert!(writer.is_mine(Xid(103)) && !writer.is_mine(Xid(104)) && !writer.is_mine(Xid(1_000)));
        let again = writer.xid().unwrap();
        commit(&mut writer);
        let committed = |xid| server.system.did_commit(xid).unwrap();
        assert!(committed(Xid(103)) && committed(again) && !committed(Xid(104)) && !committed(Xid(1_003)));
    });
}

/// Versions that only a snapshot over the threshold sees may go, by the simulation's clock, and it alone hears of it.
#[test]
fn old_snapshots_lose_what_is_removed_and_no_others_do() {
    simulate(9, || {
        let threshold = Some(Duration::from_secs(120));
        let server = Server::with(TxnOptions { old_snapshot_threshold: threshold, ..TxnOptions::default() });
        let write = || {
            let mut writer = server.session(9);
            let xid = writer.xid().unwrap();
            commit(&mut writer);
            xid
        };
        let minutes = |n: u64| runtime::wait(runtime::sleep(Duration::from_secs(60 * n)));
        let limit = || server.system.early_limit(RelKind::Plain);
        let inserter = write();
        let old = server.system.snapshot();
        let deleter = write();
        minutes(1);
        let young = server.system.snapshot();
        assert!(limit() <= deleter, "the old snapshot is one minute old");
        minutes(2);
        assert!(limit() > deleter && !server.system.is_removable(RelKind::Plain, deleter));
        assert_eq!(server.system.early_limit(RelKind::Catalog), Xid::INVALID);
        let later = write();
        assert!(limit() <= later);
        let (table, block) = (file(7), BlockNo(3));
        server.system.lose(table, BlockNo(4), &[(deleter, later)]);
        assert!(!old.lost_page(table, BlockNo(4)), "it did not see that version");
        assert!(young.lost_page(table, BlockNo(4)), "this one did");
        server.system.lose(table, block, &[(inserter, deleter)]);
        assert!(old.lost_page(table, block) && old.lost_from(table, BlockNo(0)));
        assert!(old.clone().lost_page(table, block), "copies of a snapshot know it too");
        assert!(!young.lost_page(table, block) && !server.system.snapshot().lost_page(table, block));
    });
}

#[test]
fn repeatable_read_keeps_its_snapshot_and_read_committed_does_not() {
    simulate(6, || {
        let server = Server::new();
        let mut keeps = Transaction::new(server.system.clone(), crate::SessionId(1));
        keeps.start(Characteristics { isolation: IsolationLevel::RepeatableRead, ..Default::default() });
        let mut moves = server.session(2);
        assert!(!keeps.has_snapshot());
        keeps.statement_snapshot().unwrap();
        let mut writer = server.session(3);
        let xid = writer.xid().unwrap();
        commit(&mut writer);
        assert!(
            !keeps.statement_snapshot().unwrap().sees(xid) && moves.statement_snapshot().unwrap().sees(xid)
        );
        commit(&mut keeps);
        assert!(!keeps.has_snapshot());
    });
}

#[test]
fn a_failed_block_waits_and_a_savepoint_mends_it() {
    simulate(7, || {
        let server = Server::new();
        let mut t = server.session(1);
        assert!(t.begin_block() && !t.begin_block());
        let top = t.xid().unwrap();
        t.push_subxact(Some("s"));
        let child = t.xid().unwrap();
        t.push_subxact(None);
        t.xid().unwrap();
        t.fail();
        assert_eq!(t.state(), BlockState::Failed);
        assert!(!server.system.is_in_progress(child) && server.system.is_in_progress(top));
        assert_eq!(t.release("nix").unwrap_err().message(), "savepoint \"nix\" does not exist");
        t.rollback_to("s").unwrap();
        assert_eq!(t.state(), BlockState::InBlock);
        commit(&mut t);
        assert!(server.system.did_commit(top).unwrap());

        t.start(Characteristics::default());
        t.begin_block();
        let top = t.xid().unwrap();
        t.fail();
        assert!(!server.system.is_in_progress(top), "undone before ROLLBACK comes");
        assert_eq!(t.commit(SyncCommit::On, &[]).unwrap(), End::Abort, "COMMIT of a failed block rolls back");
        assert_eq!(t.state(), BlockState::Idle);

        t.start(Characteristics::default());
        t.fail();
        assert_eq!(t.state(), BlockState::Idle, "outside a block an error ends the transaction");
    });
}

#[test]
fn names_repeat_and_shadow() {
    simulate(8, || {
        let server = Server::new();
        let mut t = server.session(1);
        t.push_subxact(Some("s"));
        let outer = t.xid().unwrap();
        t.push_subxact(Some("s"));
        let inner = t.xid().unwrap();
        t.rollback_to("s").unwrap();
        assert!(t.is_mine(outer) && !t.is_mine(inner));
        t.release("s").unwrap();
        t.rollback_to("s").unwrap();
        assert!(!t.is_mine(outer));
        assert_eq!(t.depth(), 2);
    });
}

#[test]
fn files_and_actions_follow_their_level() {
    simulate(9, || {
        let server = Server::new();
        let seen = Rc::new(RefCell::new(Vec::new()));
        let note = |name: &'static str| {
            let seen = seen.clone();
            Box::new(move |end| seen.borrow_mut().push((name, end)))
        };
        let mut t = server.session(1);
        t.xid().unwrap();
        let mapped = |number| MappedFile { database: Oid(5), relation: Oid(2608), number };
        t.drop_at_commit(file(1));
        t.drop_at_abort(file(2));
        t.map_at_commit(mapped(2));
        t.on_end(Phase::AfterLocks, note("late"));
        t.push_subxact(Some("s"));
        t.xid().unwrap();
        t.drop_at_commit(file(3));
        t.map_at_commit(mapped(4));
        t.drop_at_abort(file(4));
        t.on_end(Phase::BeforeLocks, note("first"));
        t.on_end(Phase::BeforeLocks, note("second"));
        t.rollback_to("s").unwrap();
        assert_eq!(*server.dropped.0.lock(), [4]);
        assert_eq!(seen.take(), [("second", End::Abort), ("first", End::Abort)]);
        t.on_end(Phase::BeforeLocks, note("third"));
        t.on_end(Phase::BeforeRecord, note("before"));
        t.release("s").unwrap();
        commit(&mut t);
        assert_eq!(*server.dropped.0.lock(), [4, 1]);
        assert_eq!(*server.dropped.1.lock(), [mapped(2)]);
        assert_eq!(seen.take(), [("before", End::Commit), ("third", End::Commit), ("late", End::Commit)]);
    });
}

#[test]
fn commands_and_subtransactions_are_numbered() {
    simulate(10, || {
        let server = Server::new();
        let mut t = server.session(1);
        assert_eq!((t.current_command(), t.subxact()), (CommandId(0), SubxactId(1)));
        t.next_command().unwrap();
        t.push_subxact(None);
        assert_eq!((t.current_command(), t.subxact()), (CommandId(1), SubxactId(2)));
        t.rollback_current();
        t.push_subxact(None);
        assert_eq!(t.subxact(), SubxactId(3), "numbers are not used twice");
        assert_eq!(t.current_command(), CommandId(1), "commands never go back");
    });
}

/// Steps of the property test; the number says which session.
#[derive(Clone, Debug)]
enum Step {
    Write(usize),
    Savepoint(usize),
    Release(usize),
    RollbackTo(usize),
    Commit(usize),
    Abort(usize),
    Snapshot,
    DropSnapshot(prop::sample::Index),
}

const SESSIONS: usize = 4;

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let session = 0..SESSIONS;
    let step = prop_oneof![
        4 => session.clone().prop_map(Step::Write),
        3 => session.clone().prop_map(Step::Savepoint),
        2 => session.clone().prop_map(Step::Release),
        2 => session.clone().prop_map(Step::RollbackTo),
        2 => session.clone().prop_map(Step::Commit),
        1 => session.prop_map(Step::Abort),
        3 => Just(Step::Snapshot),
        1 => any::<prop::sample::Index>().prop_map(Step::DropSnapshot),
    ];
    prop::collection::vec(step, 1..120)
}

/// The simple model: each session's stack of sets of live xids, and what has committed when.
#[derive(Default)]
struct Model {
    stacks: Vec<Vec<Vec<Xid>>>,
    committed: BTreeMap<Xid, usize>,
    dead: Vec<Xid>,
    given_out: Vec<Xid>,
}

struct Run {
    server: Server,
    sessions: Vec<Transaction>,
    model: Model,
    snapshots: Vec<(usize, Snapshot)>,
}

impl Run {
    fn new() -> Run {
        let server = Server::new();
        let sessions = (0..SESSIONS).map(|n| server.session(n as u32 + 1)).collect();
        let model = Model { stacks: vec![vec![Vec::new()]; SESSIONS], ..Model::default() };
        Run { server, sessions, model, snapshots: Vec::new() }
    }

    fn step(&mut self, at: usize, step: &Step) {
        match *step {
            Step::Write(n) => {
                let before = self.sessions[n].xid_if_assigned();
                let xid = self.sessions[n].xid().unwrap();
                if before.is_none() {
                    // Parents that had none got theirs too; each belongs to its own level.
                    let mut known: Vec<_> = self.model.stacks[n].concat();
                    let mine = self.sessions[n].top_xid_if_assigned().into_iter();
                    let new: Vec<_> = mine
                        .chain(self.sessions[n].subxids().iter().copied())
                        .filter(|x| !known.contains(x))
                        .collect();
                    let depth = self.model.stacks[n].len();
                    for (level, &new_xid) in (depth - new.len()..depth).zip(&new) {
                        self.model.stacks[n][level].push(new_xid);
                        known.push(new_xid);
                    }
                    self.model.given_out.extend(new);
                }
                assert!(self.model.stacks[n].last().unwrap().contains(&xid));
            }
            Step::Savepoint(n) => {
                self.sessions[n].push_subxact(Some("s"));
                self.model.stacks[n].push(Vec::new());
            }
            Step::Release(n) if self.model.stacks[n].len() > 1 => {
                self.sessions[n].release("s").unwrap();
                let level = self.model.stacks[n].pop().unwrap();
                self.model.stacks[n].last_mut().unwrap().extend(level);
            }
            Step::RollbackTo(n) if self.model.stacks[n].len() > 1 => {
                self.sessions[n].rollback_to("s").unwrap();
                let level = self.model.stacks[n].last_mut().unwrap();
                self.model.dead.append(level);
            }
            Step::Commit(n) => {
                commit(&mut self.sessions[n]);
                let tree = std::mem::replace(&mut self.model.stacks[n], vec![Vec::new()]).concat();
                self.model.committed.extend(tree.into_iter().map(|xid| (xid, at)));
                self.sessions[n].start(Characteristics::default());
            }
            Step::Abort(n) => {
                self.sessions[n].abort();
                let tree = std::mem::replace(&mut self.model.stacks[n], vec![Vec::new()]).concat();
                self.model.dead.extend(tree);
                self.sessions[n].start(Characteristics::default());
            }
            Step::Snapshot => self.snapshots.push((at, self.server.system.snapshot())),
            Step::DropSnapshot(which) if !self.snapshots.is_empty() => {
                let which = which.index(self.snapshots.len());
                self.snapshots.remove(which);
            }
            _ => {}
        }
    }

    fn check(&self) {
        for &xid in &self.model.given_out {
            let committed = self.model.committed.get(&xid);
            let expected = match committed {
                Some(_) => XidStatus::Committed,
                None if self.model.dead.contains(&xid) => XidStatus::Aborted,
                None => XidStatus::InProgress,
            };
            assert_eq!(self.server.system.status(xid).unwrap(), expected, "status of {xid}");
            for (taken, snapshot) in &self.snapshots {
                let seen = visible(&self.server, snapshot, xid);
                assert_eq!(
                    seen,
                    committed.is_some_and(|when| when < taken),
                    "{xid} by {snapshot:?} of {taken}"
                );
            }
            for (n, session) in self.sessions.iter().enumerate() {
                assert_eq!(session.is_mine(xid), self.model.stacks[n].concat().contains(&xid));
            }
        }
        let horizon = self.server.system.horizon(RelKind::Plain, None).maybe_needed;
        for (_, snapshot) in &self.snapshots {
            assert!(horizon <= snapshot.xmin(), "{horizon} passed {snapshot:?}");
        }
        let running = self.model.stacks.iter().flatten().flatten().min();
        assert!(running.is_none_or(|&xid| horizon <= xid));
        if self.snapshots.is_empty() && running.is_none() {
            assert_eq!(horizon, self.server.system.next_xid(), "nothing holds the horizon back");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn visibility_agrees_with_a_simple_model(steps in steps()) {
        simulate(11, move || {
            let mut run = Run::new();
            for (at, step) in steps.iter().enumerate() {
                run.step(at, step);
                run.check();
            }
        });
    }
}
