//! # What
//! The version of a row that is current for a statement, from any older one on: WHERE CURRENT OF.
//!
//! # PostgreSQL counterpart
//! `heap_get_latest_tid`.

use base::Tid;

use crate::error::HeapResult;
use crate::fetch::{Fetched, fetch, fetch_exact, fetch_version};
use crate::header::MOVED;
use crate::rel::{Access, HeapRel, View};
use crate::row::HeapTuple;
use crate::visibility::ender;

/// Copies the newest version that `view` sees of the row of which a version is, or was, at `tid`; `false` if it sees none.
pub fn fetch_latest(
    access: &Access<'_>,
    rel: &HeapRel,
    view: &View<'_>,
    tid: Tid,
    out: &mut HeapTuple,
) -> HeapResult<bool> {
    let mut found = false;
    let mut version = HeapTuple::new();
    let (mut at, mut writer) = (tid, None);
    while fetch_version(access, rel, at, &mut version)? {
        let Some(tuple) = version.get() else { break };
        // Another row may have come to the place meanwhile.
        if writer.is_some_and(|xid| tuple.xmin() != xid) {
            break;
        }
        found |= fetch_exact(access, rel, view, at, out)?;
        let header = tuple.header();
        if header.ctid == at || header.ctid == MOVED || header.lock_only() {
            break;
        }
        (at, writer) = (header.ctid, Some(ender(access.txns, header)?));
    }
    // The place may be one that only leads to its chain's first version.
    Ok(found || at == tid && fetch(access, rel, view, tid, out)? == Fetched::Visible)
}
