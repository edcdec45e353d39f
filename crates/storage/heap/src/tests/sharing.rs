//! Rows that several transactions hold at once.

use base::Tid;
use txn::{Member, MemberStatus};

use super::world::*;
use crate::header::infomask;
use crate::*;

const STRENGTHS: [LockStrength; 4] =
    [LockStrength::KeyShare, LockStrength::Share, LockStrength::NoKeyUpdate, LockStrength::Update];

fn xmax_is_multi(world: &World, rel: &HeapRel, tid: Tid) -> bool {
    let pin = world.pool.read(crate::fetch::heap_tag(rel, tid.block)).unwrap();
    let header = header::read_header(&pin.shared(), tid.offset).unwrap();
    header.has(infomask::XMAX_IS_MULTI)
}

fn blocked(outcome: LockOutcome) -> bool {
    matches!(outcome, LockOutcome::Refused(Refusal::WouldBlock { .. }))
}

#[test]
fn locks_conflict_as_the_table_says() {
    // Rows: held; columns: wanted; in order of strength.
    let table = [
        [false, false, false, true],
        [false, false, true, true],
        [false, true, true, true],
        [true, true, true, true],
    ];
    let world = World::new();
    let rel = world.pairs();
    let mut setup = world.session();
    let tid = setup.insert(&rel, 1, "a");
    setup.commit();
    for (held, row) in STRENGTHS.into_iter().zip(table) {
        for (wanted, conflict) in STRENGTHS.into_iter().zip(row) {
            let (mut first, mut second) = (world.session(), world.session());
            assert_eq!(first.lock(&rel, tid, held), LOCKED);
            assert_eq!(blocked(second.lock(&rel, tid, wanted)), conflict, "{held:?} and {wanted:?}");
            first.commit();
            assert_eq!(second.lock(&rel, tid, wanted), LOCKED, "{wanted:?} after {held:?} ended");
            second.abort();
        }
    }
    world.check_redo(&[&rel]);
}

#[test]
fn a_row_is_free_when_all_who_share_it_have_ended() {
    let world = World::new();
    let rel = world.pairs();
    let mut setup = world.session();
    let tid = setup.insert(&rel, 1, "a");
    setup.commit();
    let mut lockers: Vec<_> = (0..100).map(|_| world.session()).collect();
    for locker in &mut lockers {
        assert_eq!(locker.lock(&rel, tid, LockStrength::Share), LOCKED);
    }
    assert!(xmax_is_multi(&world, &rel, tid));
    let mut writer = world.session();
    let last = lockers.pop().unwrap();
    for (n, locker) in lockers.into_iter().enumerate() {
        assert!(blocked(writer.lock(&rel, tid, LockStrength::NoKeyUpdate)), "{n} of 100 have ended");
        if n % 2 == 0 { locker.commit() } else { locker.abort() }
    }
    assert!(blocked(writer.lock(&rel, tid, LockStrength::Update)));
    last.commit();
    let (next, _) = writer.update(&rel, tid, 1, "b");
    assert!(!xmax_is_multi(&world, &rel, tid), "a writer leaves no set of the past behind");
    writer.commit();
    assert_eq!(world.rows(&rel), [(1, "b".into())]);
    let mut next_locker = world.session();
    assert_eq!(next_locker.lock(&rel, next, LockStrength::KeyShare), LOCKED);
    assert!(!xmax_is_multi(&world, &rel, next));
    world.check_redo(&[&rel]);
}

/// One locker after another, each ending before the next but one comes: the sets stay short.
#[test]
fn members_that_have_ended_do_not_pile_up() {
    let world = World::new();
    let rel = world.pairs();
    let mut setup = world.session();
    let tid = setup.insert(&rel, 1, "a");
    setup.commit();
    let mut before = world.session();
    before.lock(&rel, tid, LockStrength::KeyShare);
    for _ in 0..200 {
        let mut locker = world.session();
        assert_eq!(locker.lock(&rel, tid, LockStrength::KeyShare), LOCKED);
        before.commit();
        before = locker;
    }
    let pin = world.pool.read(crate::fetch::heap_tag(&rel, tid.block)).unwrap();
    let multi = header::read_header(&pin.shared(), tid.offset).unwrap().multi().unwrap();
    assert!(world.txns.multixacts().members(multi).unwrap().len() < 10);
}

#[test]
fn a_lock_on_the_key_goes_along_with_updates() {
    let world = World::new();
    let rel = world.pairs();
    let mut setup = world.session();
    let first = setup.insert(&rel, 1, "a");
    setup.commit();
    let (mut locker, mut updater) = (world.session(), world.session());
    assert_eq!(locker.lock(&rel, first, LockStrength::KeyShare), LOCKED);
    let (second, hot) = updater.update(&rel, first, 1, "b");
    assert!(hot, "the key is locked, not the value");
    assert!(xmax_is_multi(&world, &rel, first));
    assert_eq!(locker.rows(&rel), [(1, "a".into())]);
    assert_eq!(updater.rows(&rel), [(1, "b".into())]);
    updater.commit();
    assert_eq!(world.rows(&rel), [(1, "b".into())], "an updater in a set is seen to have committed");

    let mut deleter = world.session();
    let xid = locker.txn.xid().unwrap();
    let refused = DeleteOutcome::Refused(Refusal::WouldBlock { xid, mine: false });
    assert_eq!(deleter.delete(&rel, second), refused, "the new version is locked too");
    locker.commit();
    assert_eq!(deleter.delete(&rel, second), DeleteOutcome::Deleted);
    deleter.commit();
    assert_eq!(world.rows(&rel), []);
    world.check_redo(&[&rel]);
}

#[test]
fn whoever_wants_the_newest_version_gets_none_in_between() {
    let world = World::new();
    let rel = world.pairs();
    let mut setup = world.session();
    let first = setup.insert(&rel, 1, "a");
    setup.commit();
    let (mut updater, mut locker) = (world.session(), world.session());
    let (second, _) = updater.update(&rel, first, 1, "b");
    let (third, _) = updater.update(&rel, second, 1, "c");
    let xmax = updater.txn.xid().unwrap();
    let mut lock = |tid| {
        locker.write(|access, writer| {
            lock_tuple(access, &rel, writer, (tid, Wanted::Newest), LockStrength::KeyShare)
        })
    };
    assert!(matches!(lock(first), LockOutcome::Locked { later: Some(_) }), "its update may come to nothing");
    updater.commit();
    let refused = |next| LockOutcome::Refused(Refusal::Concurrent { next, xmax });
    assert_eq!([lock(first), lock(second), lock(third)], [refused(second), refused(third), LOCKED]);
}

#[test]
fn whoever_locks_the_key_of_an_updated_row_locks_what_came_after() {
    let world = World::new();
    let rel = world.pairs();
    let mut setup = world.session();
    let first = setup.insert(&rel, 1, "a");
    setup.commit();
    let (mut updater, mut locker) = (world.session(), world.session());
    let (second, _) = updater.update(&rel, first, 1, "b");
    let (third, _) = updater.update(&rel, second, 1, "c");
    let xmin = updater.txn.xid().unwrap();
    let LockOutcome::Locked { later: Some(later) } = locker.lock(&rel, first, LockStrength::KeyShare) else {
        panic!("the next version must be locked too");
    };
    assert_eq!(later, Later { tid: second, xmin });
    assert_eq!(
        locker.lock_later(&rel, later, LockStrength::KeyShare),
        LockOutcome::Locked { later: Some(Later { tid: third, xmin }) }
    );
    assert_eq!(locker.lock_later(&rel, Later { tid: third, xmin }, LockStrength::KeyShare), LOCKED);
    let wrong = Later { tid: third, xmin: base::Xid(3) };
    assert_eq!(
        locker.lock_later(&rel, wrong, LockStrength::Update),
        LOCKED,
        "another row's version is left alone"
    );
    updater.commit();
    let mut deleter = world.session();
    assert!(matches!(deleter.delete(&rel, third), DeleteOutcome::Refused(Refusal::WouldBlock { .. })));
    locker.commit();
    assert_eq!(deleter.delete(&rel, third), DeleteOutcome::Deleted);
    deleter.commit();
    world.check_redo(&[&rel]);
}

#[test]
fn an_update_among_lockers_that_is_rolled_back_leaves_them() {
    let world = World::new();
    let rel = world.pairs();
    let mut setup = world.session();
    let tid = setup.insert(&rel, 1, "a");
    setup.commit();
    let (mut locker, mut updater) = (world.session(), world.session());
    locker.lock(&rel, tid, LockStrength::KeyShare);
    updater.update(&rel, tid, 1, "b");
    updater.abort();
    assert_eq!(world.rows(&rel), [(1, "a".into())]);
    let mut other = world.session();
    assert!(blocked(other.lock(&rel, tid, LockStrength::Update)));
    let (next, _) = other.update(&rel, tid, 1, "c");
    other.commit();
    assert_eq!(world.rows(&rel), [(1, "c".into())]);
    locker.commit();
    let mut last = world.session();
    assert_eq!(last.delete(&rel, next), DeleteOutcome::Deleted);
}

#[test]
fn a_rolled_back_savepoint_gives_back_the_lock_that_was_there() {
    let world = World::new();
    let rel = world.pairs();
    let mut setup = world.session();
    let tid = setup.insert(&rel, 1, "a");
    setup.commit();
    for beneath in [LockStrength::KeyShare, LockStrength::Share, LockStrength::NoKeyUpdate] {
        let mut session = world.session();
        assert_eq!(session.lock(&rel, tid, beneath), LOCKED);
        session.txn.push_subxact(Some("s"));
        assert_eq!(session.delete(&rel, tid), DeleteOutcome::Deleted);
        session.txn.rollback_to("s").unwrap();
        for wanted in STRENGTHS {
            let mut other = world.session();
            assert_eq!(
                blocked(other.lock(&rel, tid, wanted)),
                beneath.conflicts(wanted),
                "{wanted:?} after {beneath:?}"
            );
            other.abort();
        }
        session.commit();
    }
    assert_eq!(world.rows(&rel), [(1, "a".into())]);
    world.check_redo(&[&rel]);
}

#[test]
fn savepoints_among_lockers_come_and_go() {
    let world = World::new();
    let rel = world.pairs();
    let mut setup = world.session();
    let tid = setup.insert(&rel, 1, "a");
    setup.commit();
    let (mut locker, mut session) = (world.session(), world.session());
    locker.lock(&rel, tid, LockStrength::KeyShare);
    session.lock(&rel, tid, LockStrength::KeyShare);
    session.txn.push_subxact(Some("s"));
    session.update(&rel, tid, 1, "b");
    let mut other = world.session();
    assert!(blocked(other.lock(&rel, tid, LockStrength::Share)));
    session.txn.rollback_to("s").unwrap();
    assert_eq!(other.lock(&rel, tid, LockStrength::Share), LOCKED);
    assert_eq!(session.rows(&rel), [(1, "a".into())]);
    other.commit();
    assert!(
        blocked(session.lock(&rel, tid, LockStrength::Update)),
        "its own lock is not in the way, the other is"
    );
    locker.commit();
    assert_eq!(session.lock(&rel, tid, LockStrength::Update), LOCKED);
    session.update(&rel, tid, 1, "c");
    session.commit();
    assert_eq!(world.rows(&rel), [(1, "c".into())]);
}

#[test]
fn vacuum_forgets_sets_that_have_ended() {
    let world = World::new();
    let rel = world.pairs();
    let mut setup = world.session();
    let (locked, updated) = (setup.insert(&rel, 1, "a"), setup.insert(&rel, 2, "b"));
    setup.commit();
    let reader = world.session().txn.statement_snapshot().unwrap();
    let (mut one, mut two) = (world.session(), world.session());
    for tid in [locked, updated] {
        one.lock(&rel, tid, LockStrength::KeyShare);
        two.lock(&rel, tid, LockStrength::KeyShare);
    }
    two.update(&rel, updated, 2, "c");
    let mut index = TestIndex::default();
    world.vacuum(&rel, &mut index);
    assert!(xmax_is_multi(&world, &rel, locked) && xmax_is_multi(&world, &rel, updated));
    one.commit();
    two.commit();
    world.vacuum(&rel, &mut index);
    assert!(!xmax_is_multi(&world, &rel, locked) && !xmax_is_multi(&world, &rel, updated));
    let old = world.session();
    let found = |tid| {
        let mut out = HeapTuple::new();
        old.look_with(&reader, |access, view| fetch(access, &rel, view, tid, &mut out)).unwrap();
        out.get().map(|row| decode(&rel, &row))
    };
    assert_eq!([found(locked), found(updated)], [Some((1, "a".into())), Some((2, "b".into()))]);
    old.abort();
    assert_eq!(world.rows(&rel), [(1, "a".into()), (2, "c".into())]);
    world.check_redo(&[&rel]);
}

#[test]
fn many_rows_locked_alike_need_one_set() {
    let world = World::new();
    let rel = world.pairs();
    let mut setup = world.session();
    let tids: Vec<Tid> = (0..50).map(|n| setup.insert(&rel, n, "a")).collect();
    setup.commit();
    let (mut one, mut two) = (world.session(), world.session());
    for &tid in &tids {
        one.lock(&rel, tid, LockStrength::Share);
    }
    let before = world.txns.next_multi();
    for &tid in &tids {
        two.lock(&rel, tid, LockStrength::KeyShare);
    }
    assert_eq!(world.txns.next_multi().0, before.0 + 1);
    let pin = world.pool.read(crate::fetch::heap_tag(&rel, tids[9].block)).unwrap();
    let multi = header::read_header(&pin.shared(), tids[9].offset).unwrap().multi().unwrap();
    let member = |xid, strength| Member { xid, status: MemberStatus::Locked(strength) };
    assert_eq!(
        world.txns.multixacts().members(multi).unwrap(),
        [
            member(one.txn.xid().unwrap(), LockStrength::Share),
            member(two.txn.xid().unwrap(), LockStrength::KeyShare)
        ]
    );
}

/// A page whose base cannot express a new multixact gets another base.
#[test]
fn pages_follow_the_multixacts_beyond_32_bits() {
    let world = World::new();
    let rel = world.pairs();
    let mut setup = world.session();
    let tids = [setup.insert(&rel, 1, "a"), setup.insert(&rel, 2, "b")];
    setup.commit();
    {
        // As if ids had been given out for ages since the page was made.
        let pin = world.pool.read(crate::fetch::heap_tag(&rel, tids[0].block)).unwrap();
        let mut page = pin.exclusive();
        let bases = header::Bases { multi: 1 << 40, ..header::Bases::of(&page) };
        ops::rebase(&mut page, &ops::RebasePlan { bases, ..Default::default() }).unwrap();
        page.mark_dirty();
    }
    let (mut one, mut two) = (world.session(), world.session());
    for tid in tids {
        assert_eq!(one.lock(&rel, tid, LockStrength::Share), LOCKED);
        assert_eq!(two.lock(&rel, tid, LockStrength::Share), LOCKED);
    }
    assert!(xmax_is_multi(&world, &rel, tids[1]));
    let mut writer = world.session();
    one.commit();
    assert!(blocked(writer.lock(&rel, tids[1], LockStrength::Update)));
    two.commit();
    assert_eq!(writer.lock(&rel, tids[1], LockStrength::Update), LOCKED);
}
