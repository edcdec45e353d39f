//! Histories by hand: good ones pass, and each anomaly is found.

use super::check;
use crate::record::{Append, Fate, History, ListId, SnapshotId, Span, TxnId};

/// A history that grows by whole steps.
#[derive(Default)]
struct Story(History);

impl Story {
    fn append(&mut self, id: TxnId, list: ListId, after: Option<usize>) -> u64 {
        let element = self.0.new_element();
        self.0.append(id, Append { list, element, after });
        element
    }

    fn commit(&mut self, id: TxnId) {
        let sent = self.0.now();
        self.0.of(id).fate = Fate::Committing(sent);
        self.0.committed(id);
    }

    /// A transaction that appends one element to each list.
    fn writer(&mut self, lists: &[ListId]) -> (TxnId, Vec<u64>) {
        let id = self.0.begin();
        let elements = lists.iter().map(|&list| self.append(id, list, None)).collect();
        (id, elements)
    }

    fn snapshot(&mut self) -> SnapshotId {
        let sent = self.0.now();
        let answered = self.0.now();
        self.0.snapshot(Span { sent, answered })
    }

    /// A snapshot that was asked for at the beginning and that somebody still uses.
    fn old_snapshot(&mut self) -> SnapshotId {
        let answered = self.0.now();
        self.0.snapshot(Span { sent: 1, answered })
    }

    fn sees(&mut self, snapshot: SnapshotId, list: ListId, elements: &[u64]) {
        self.0.saw(snapshot, list, elements, &[]);
    }

    fn anomaly(&self) -> String {
        check(&self.0).map(|report| panic!("an anomaly passes: {report:?}")).unwrap_err()
    }

    fn is_good(&self) {
        check(&self.0).unwrap_or_else(|anomaly| panic!("{anomaly}"));
    }
}

/// Two transactions that each appended to lists 0 and 1, and committed in this order.
fn two_writers() -> (Story, [TxnId; 2], [Vec<u64>; 2]) {
    let mut story = Story::default();
    let (a, first) = story.writer(&[0, 1]);
    story.commit(a);
    let (b, second) = story.writer(&[0, 1]);
    story.commit(b);
    (story, [a, b], [first, second])
}

#[test]
fn snapshots_at_every_moment_are_good() {
    let (mut story, _, [a, b]) = two_writers();
    for (list, seen) in [(0, vec![a[0], b[0]]), (1, vec![a[1], b[1]])] {
        let now = story.snapshot();
        story.sees(now, list, &seen);
    }
    let middle = story.old_snapshot();
    story.sees(middle, 0, &a[..1]);
    story.sees(middle, 1, &a[1..]);
    story.is_good();
}

#[test]
fn elements_of_the_rolled_back_are_found() {
    let mut story = Story::default();
    let (a, seen) = story.writer(&[0]);
    let now = story.snapshot();
    story.sees(now, 0, &seen);
    story.0.of(a).fate = Fate::RolledBack;
    assert!(story.anomaly().contains("RolledBack"));
}

#[test]
fn elements_of_a_rolled_back_savepoint_are_found() {
    let mut story = Story::default();
    let (a, seen) = story.writer(&[0]);
    let kept = story.append(a, 0, None);
    story.0.of(a).appends.remove(0);
    story.commit(a);
    let now = story.snapshot();
    story.sees(now, 0, &[seen[0], kept]);
    assert!(story.anomaly().contains("was rolled back within transaction 0"));
}

#[test]
fn a_lost_element_is_found() {
    let (mut story, _, [_, b]) = two_writers();
    let now = story.snapshot();
    story.sees(now, 0, &b[..1]);
    story.sees(now, 1, &b[1..]);
    assert!(story.anomaly().contains("elements of transaction 0 are in the lists"));
}

#[test]
fn lists_that_differ_are_found() {
    let (mut story, _, [a, b]) = two_writers();
    let now = story.snapshot();
    story.sees(now, 0, &[a[0], b[0]]);
    story.sees(now, 0, &[b[0], a[0]]);
    assert!(story.anomaly().contains("some saw"));
}

#[test]
fn a_dirty_write_is_found() {
    let (mut story, _, [a, b]) = two_writers();
    let now = story.snapshot();
    story.sees(now, 0, &[a[0], b[0]]);
    story.sees(now, 1, &[b[1], a[1]]);
    assert!(story.anomaly().contains("is behind"));
}

#[test]
fn an_intermediate_read_is_found() {
    let mut story = Story::default();
    let (a, first) = story.writer(&[0]);
    let second = story.append(a, 0, None);
    let early = story.snapshot();
    story.sees(early, 0, &first);
    story.commit(a);
    let now = story.snapshot();
    story.sees(now, 0, &[first[0], second]);
    assert!(story.anomaly().contains("does not see element 1 of list 0"));
}

#[test]
fn read_skew_is_found() {
    let (mut story, _, [a, b]) = two_writers();
    let skewed = story.old_snapshot();
    story.sees(skewed, 0, &[a[0], b[0]]);
    story.sees(skewed, 1, &a[1..]);
    let now = story.snapshot();
    story.sees(now, 1, &[a[1], b[1]]);
    assert!(story.anomaly().contains("does not see element 1 of list 1"));
}

#[test]
fn a_long_fork_is_found() {
    let mut story = Story::default();
    let (a, of_a) = story.writer(&[0]);
    let (b, of_b) = story.writer(&[1]);
    story.commit(a);
    story.commit(b);
    let (one, other) = (story.old_snapshot(), story.old_snapshot());
    story.sees(one, 0, &of_a);
    story.sees(one, 1, &[]);
    story.sees(other, 0, &[]);
    story.sees(other, 1, &of_b);
    let message = story.anomaly();
    assert_eq!(message.matches("commit of").count(), 4, "{message}");
    let fork = "a long fork: snapshot 1 shows 0 elements of list 0 and 1 of list 1, snapshot 0 shows 1 elements of list 0 and 0 of list 1";
    assert!(message.ends_with(fork), "{message}");
}

#[test]
fn a_standby_may_be_late_but_goes_forward_only() {
    let (mut story, _, [a, b]) = two_writers();
    let now = story.snapshot();
    for list in [0, 1] {
        story.sees(now, list, &[a[list as usize], b[list as usize]]);
    }
    let late = story.0.snapshot_of_standby(None);
    story.sees(late, 0, &a[..1]);
    story.is_good();
    let later = story.0.snapshot_of_standby(Some(late));
    story.sees(later, 0, &[]);
    let message = story.anomaly();
    assert!(message.contains("on a standby"), "{message}");
}

#[test]
fn a_long_fork_between_two_standbys_is_found() {
    let mut story = Story::default();
    let (a, of_a) = story.writer(&[0]);
    let (b, of_b) = story.writer(&[1]);
    story.commit(a);
    story.commit(b);
    let [one, other] = [(); 2].map(|()| story.0.snapshot_of_standby(None));
    story.sees(one, 0, &of_a);
    story.sees(one, 1, &[]);
    story.sees(other, 0, &[]);
    story.sees(other, 1, &of_b);
    let message = story.anomaly();
    assert!(message.contains("does not see") && message.contains("a long fork"), "{message}");
}

#[test]
fn a_snapshot_that_misses_what_was_acknowledged_is_found() {
    let (mut story, _, [a, b]) = two_writers();
    let late = story.snapshot();
    story.sees(late, 0, &a[..1]);
    for list in [0, 1] {
        let now = story.snapshot();
        story.sees(now, list, &[a[list as usize], b[list as usize]]);
    }
    assert!(story.anomaly().contains("moment"));
}

#[test]
fn a_lost_update_is_found() {
    let mut story = Story::default();
    let reader = story.snapshot();
    let (a, of_a) = story.writer(&[0]);
    story.commit(a);
    let (b, of_b) = story.writer(&[0]);
    story.0.of(b).snapshot = Some(reader);
    story.commit(b);
    let now = story.snapshot();
    story.sees(now, 0, &[of_a[0], of_b[0]]);
    assert!(story.anomaly().contains("to what it saw"));
}

#[test]
fn an_append_that_is_not_behind_what_was_locked_is_found() {
    let mut story = Story::default();
    let (a, of_a) = story.writer(&[0]);
    story.commit(a);
    let b = story.0.begin();
    let of_b = story.append(b, 0, Some(0));
    story.commit(b);
    let now = story.snapshot();
    story.sees(now, 0, &[of_a[0], of_b]);
    assert!(story.anomaly().contains("is at Some(1), not at Some(0)"));
}

#[test]
fn what_a_crash_leaves_open_is_settled_by_what_is_there() {
    let mut story = Story::default();
    let ids: Vec<TxnId> = (0..4).map(|_| story.writer(&[0]).0).collect();
    let fates = [Fate::Committing(1), Fate::Committing(2), Fate::CommittingPrepared(3), Fate::Preparing];
    for (&id, fate) in ids.iter().zip(fates) {
        story.0.of(id).fate = fate;
        story.0.now();
    }
    let now = story.snapshot();
    story.sees(now, 0, &[2, 3]);
    story.0.recovered(&[ids[3]]);
    assert_eq!(story.0.of(ids[0]).fate, Fate::RolledBack);
    assert!(matches!(story.0.of(ids[1]).fate, Fate::Committed(_)));
    assert!(matches!(story.0.of(ids[2]).fate, Fate::Committed(_)));
    assert_eq!(story.0.prepared(), [ids[3]]);
    story.0.recovered(&[]);
    assert!(story.anomaly().contains("transaction 3 was Prepared, and prepared after the crash: false"));
}
