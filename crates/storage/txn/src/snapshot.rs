//! Snapshots.
use base::Xid;
use std::rc::Rc;

/// Which transactions count as completed. Cheap to clone, not `Send`; holds the horizon back until its last clone is dropped.
#[derive(Clone, Debug)]
pub struct Snapshot(Rc<()>);

impl Snapshot {
    /// Whether `xid` (any: top level or subtransaction) had completed when the snapshot was taken: then its commit-log
    /// status decides. The caller asks `Transaction::is_mine` first.
    pub fn sees(&self, _xid: Xid) -> bool {
        todo!()
    }
    /// Oldest xid still running, inclusive.
    pub fn xmin(&self) -> Xid {
        todo!()
    }
    /// First xid not yet completed by anybody, exclusive.
    pub fn xmax(&self) -> Xid {
        todo!()
    }
    /// Top-level xids in progress within `xmin..xmax`, ascending.
    pub fn in_progress(&self) -> &[Xid] {
        todo!()
    }
}
