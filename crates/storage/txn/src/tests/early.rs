//! Commits that are seen before they are durable, and the order of commits.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use base::Xid;
use runtime::{JoinHandle, rest, spawn_fiber};

use super::{Server, file, simulate};
use crate::{SyncCommit, Transaction, XidStatus};

type Notes = Rc<RefCell<Vec<&'static str>>>;

/// Lets others run until they wait.
fn settle() {
    runtime::wait(runtime::sleep(Duration::from_millis(10)));
}

fn committing(mut t: Transaction, sync: SyncCommit, notes: &Notes, name: &'static str) -> JoinHandle<()> {
    let notes = notes.clone();
    spawn_fiber(name, move || {
        t.commit(sync, &[]).unwrap();
        notes.borrow_mut().push(name);
    })
}

/// A fiber that looks at a transaction, and then wants to tell somebody.
fn telling(server: &Server, xid: Xid, notes: &Notes, name: &'static str) -> JoinHandle<()> {
    let (notes, system) = (notes.clone(), server.system.clone());
    spawn_fiber(name, move || {
        assert_eq!(system.status(xid).unwrap(), XidStatus::Committed, "{name}");
        rest::settle().unwrap();
        notes.borrow_mut().push(name);
    })
}

#[test]
fn others_go_on_before_the_disk_has_a_commit_and_nobody_tells_of_it() {
    simulate(1, || {
        let (server, notes) = (Server::new(), Notes::default());
        server.log.stuck.store(true, Ordering::SeqCst);
        let (mut first, mut second, waiter) = (server.session(1), server.session(2), server.session(3));
        let xid = first.xid().unwrap();
        first.push_subxact(Some("s"));
        let child = first.xid().unwrap();
        let waiting = spawn_fiber("waiter", move || waiter.wait_for(xid).unwrap());
        settle();
        let mut all = vec![committing(first, SyncCommit::On, &notes, "first")];
        waiting.join().unwrap();
        assert!(!server.system.may_hint_committed(xid) && !server.system.may_hint_committed(child));
        assert!(server.system.is_early(xid) && server.system.is_early(child));
        all.push(telling(&server, xid, &notes, "tells of the first"));
        all.push(telling(&server, child, &notes, "tells of its child"));
        settle();
        assert!(notes.borrow().is_empty(), "told before the disk has it: {notes:?}");

        // Who waits for no disk waits for nobody else's, and may be told of.
        let later = second.xid().unwrap();
        all.push(committing(second, SyncCommit::Off, &notes, "second"));
        settle();
        all.push(telling(&server, later, &notes, "tells of the second"));
        settle();
        assert_eq!(*notes.borrow(), ["second", "tells of the second"]);

        server.log.stuck.store(false, Ordering::SeqCst);
        all.into_iter().for_each(|one| one.join().unwrap());
        assert!(!server.system.is_early(xid) && !server.system.is_early(child));
        assert_eq!(notes.borrow().len(), 5);
    });
}

#[test]
fn who_commits_behind_a_transaction_that_must_be_durable_first_is_seen_after_it() {
    simulate(2, || {
        let (server, notes) = (Server::new(), Notes::default());
        server.log.stuck.store(true, Ordering::SeqCst);
        let (mut drops, mut behind) = (server.session(1), server.session(2));
        let (first, second) = (drops.xid().unwrap(), behind.xid().unwrap());
        drops.drop_at_commit(file(7));
        let one = committing(drops, SyncCommit::On, &notes, "drops");
        settle();
        let other = committing(behind, SyncCommit::Off, &notes, "behind");
        settle();
        assert!(notes.borrow().is_empty());
        let snapshot = server.system.snapshot();
        assert!(!snapshot.sees(first) && !snapshot.sees(second), "{snapshot:?}");
        server.log.stuck.store(false, Ordering::SeqCst);
        [one, other].into_iter().for_each(|one| one.join().unwrap());
        let snapshot = server.system.snapshot();
        assert!(snapshot.sees(first) && snapshot.sees(second), "{snapshot:?}");
    });
}
