//! Tests of the files that the model compiles a second time.

use base::Xid;

use crate::subxact::{Family, SubxactMap};

const CHUNK: u64 = 1 << 15;

#[test]
fn leads_to_the_top_and_remembers_aborts() {
    let map = SubxactMap::default();
    assert_eq!(map.family(Xid(11)), Family::Top);
    map.insert(Xid(11), Xid(10));
    map.insert(Xid(12), Xid(10));
    map.mark_aborted(&[Xid(12)]);
    assert_eq!(map.family(Xid(10)), Family::Top);
    assert_eq!(map.family(Xid(11)), Family::Child(Xid(10)));
    assert_eq!(map.family(Xid(12)), Family::AbortedChild(Xid(10)));
    assert_eq!(map.family(Xid(13)), Family::Top);
}

#[test]
fn a_million_children_and_freeing_behind_the_horizon() {
    let map = SubxactMap::default();
    let top = Xid(5);
    for xid in 6..1_000_000 {
        map.insert(Xid(xid), top);
    }
    assert!((6..1_000_000).all(|xid| map.family(Xid(xid)) == Family::Child(top)));
    let all = map.chunks();
    map.free_before(Xid(500_000));
    assert_eq!(map.family(Xid(6)), Family::Top);
    assert_eq!(map.family(Xid(500_000)), Family::Child(top));
    assert!(map.chunks() < all * 6 / 10, "{} of {all} chunks kept", map.chunks());
    map.free_before(Xid(2_000_000));
    assert_eq!(map.chunks(), 0);
}

#[test]
fn a_late_older_child_extends_the_table_downwards() {
    let map = SubxactMap::default();
    map.insert(Xid(10 * CHUNK), Xid(4));
    map.insert(Xid(7 * CHUNK), Xid(4));
    map.free_before(Xid(6 * CHUNK));
    assert_eq!(map.family(Xid(7 * CHUNK)), Family::Child(Xid(4)));
    assert_eq!(map.family(Xid(10 * CHUNK)), Family::Child(Xid(4)));
}
