//! The map of times, and what snapshots lose.

use std::time::Duration;

use base::{BlockNo, RelFile, Xid};
use runtime::Instant;

use crate::old_snapshot::{Lost, OldSnapshots};

fn at(seconds: u64) -> Instant {
    Instant(seconds * 1_000_000_000)
}

fn minutes(n: u64) -> OldSnapshots {
    OldSnapshots::new(Duration::from_secs(60 * n))
}

#[test]
fn the_limit_is_what_was_needed_a_threshold_ago() {
    let old = minutes(2);
    assert_eq!(old.limit(at(0), || Xid(100)), Xid::INVALID);
    assert_eq!(old.limit(at(59), || unreachable!("at most one sample for each minute")), Xid::INVALID);
    assert_eq!(old.limit(at(60), || Xid(200)), Xid::INVALID);
    assert_eq!(old.limit(at(119), || unreachable!()), Xid::INVALID);
    assert_eq!(old.limit(at(120), || Xid(300)), Xid(100));
    assert_eq!(old.limit(at(179), || unreachable!()), Xid(100), "xid 200's sample is too young");
    assert_eq!(old.limit(at(180), || Xid(400)), Xid(200));
    // Nobody asked for an hour: what is known of the time before is used.
    assert_eq!(old.limit(at(3600), || Xid(500)), Xid(400));
}

#[test]
fn a_threshold_of_nothing_still_goes_by_samples() {
    let old = minutes(0);
    assert_eq!(old.limit(at(7), || Xid(100)), Xid(100));
    assert_eq!(old.limit(at(66), || Xid(200)), Xid(100));
    assert_eq!(old.limit(at(67), || Xid(200)), Xid(200));
}

#[test]
fn lost_pages_are_found_one_by_one_and_from_a_block_on() {
    let (lost, file) = (Lost::default(), RelFile { number: 7, ..RelFile::default() });
    assert!(!lost.any_from(file, BlockNo(0)));
    lost.note(file, BlockNo(3));
    assert!(lost.page(file, BlockNo(3)) && !lost.page(file, BlockNo(2)));
    assert!(lost.any_from(file, BlockNo(3)) && !lost.any_from(file, BlockNo(4)));
    assert!(!lost.any_from(RelFile { number: 8, ..file }, BlockNo(0)));
}
