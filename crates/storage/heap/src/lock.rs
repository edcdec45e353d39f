//! # What
//! Row locks: FOR UPDATE and FOR NO KEY UPDATE, held in the row version's header by one transaction.
//!
//! # WAL and crash
//! Logged, so that a prepared transaction keeps its locks; the lock of a transaction that a crash ended is recognised as such.
//!
//! # PostgreSQL counterpart and differences
//! `heap_lock_tuple`. Shared strengths need multixacts, for which the format has room. A subtransaction that changes a row which its parent
//! locked takes the parent's place in the header and notes that there was a lock ([`covers_lock`]), where PostgreSQL makes a multixact: a
//! savepoint around each change costs nothing more. When the subtransaction alone is rolled back, its xid still tells the top level,
//! and that one holds the row. Who held it is not noted: a lock of a savepoint that is rolled back too stays to the end.

use base::Tid;
use buffer::{ExclusivePage, PageChange, WalAction};
use wal::Rmgr;

use crate::error::{HeapError, HeapResult, LockOutcome, LockStrength};
use crate::fetch::heap_tag;
use crate::header::{Header, infomask, infomask2, read_header};
use crate::ops::{self, Stamp};
use crate::place::make_fit;
use crate::records::{VmChange, info, put_stamp};
use crate::rel::{Access, HeapRel, Writer};
use crate::update::{Look, corrupt, look};
use crate::vm::{self, MapGuards, VmCursor, latch_covered};

/// Locks the row version at `tid` until the end of the (sub)transaction. Shared strengths are refused as not supported.
pub fn lock_tuple(
    access: &Access<'_>,
    rel: &HeapRel,
    writer: &Writer<'_>,
    tid: Tid,
    strength: LockStrength,
) -> HeapResult<LockOutcome> {
    let for_update = match strength {
        LockStrength::Update => true,
        LockStrength::NoKeyUpdate => false,
        LockStrength::Share => return Err(HeapError::NotSupported("SELECT FOR SHARE")),
        LockStrength::KeyShare => return Err(HeapError::NotSupported("SELECT FOR KEY SHARE")),
    };
    let mut map = VmCursor::default();
    let pin = access.pool.read(heap_tag(rel, tid.block))?;
    let mut page = latch_covered(access, rel, &pin, &mut map)?;
    match look(access, rel, writer, &mut page, tid)? {
        Look::Refused(refusal) => return Ok(LockOutcome::Refused(refusal)),
        Look::Free { header, mine: true } => {
            let strong_enough = !for_update || header.infomask2 & infomask2::KEYS_UPDATED != 0;
            if strong_enough {
                return Ok(LockOutcome::Locked);
            }
        }
        Look::Free { .. } => {}
    }
    lock_on_page(access, rel, writer, &mut page, &map, tid, for_update)?;
    Ok(LockOutcome::Locked)
}

/// Stamps a version that is free with the writer's lock. Its page is latched, and the map page pinned if the page is all-visible: it stays
/// so, but is no longer all-frozen.
pub(crate) fn lock_on_page(
    access: &Access<'_>,
    rel: &HeapRel,
    writer: &Writer<'_>,
    page: &mut ExclusivePage<'_>,
    map: &VmCursor,
    tid: Tid,
    for_update: bool,
) -> HeapResult<()> {
    make_fit(access, rel, page, writer.xid)?;
    let header = read_header(page, tid.offset).ok_or_else(|| corrupt(rel, tid, "tuple is gone"))?;
    let stamp = Stamp {
        offset: tid.offset,
        xmax: writer.xid,
        infomask: infomask::XMAX_LOCK_ONLY | infomask::XMAX_EXCL_LOCK | covers_lock(&header, writer),
        infomask2: if for_update { infomask2::KEYS_UPDATED } else { 0 },
        cid: None,
        next: tid,
    };
    let mut maps = if ops::is_all_visible(page) {
        MapGuards::latch([(map, VmChange { block: tid.block, bits: vm::ALL_VISIBLE })])
    } else {
        MapGuards::none()
    };
    let mut log = Vec::with_capacity(16);
    put_stamp(&mut log, &stamp);
    ops::stamp_xmax(page, &stamp).map_err(|_| corrupt(rel, tid, "tuple cannot be locked"))?;
    maps.apply();
    let mut action =
        WalAction::for_relation(access.pool, rel.desc.persistence, Rmgr::Heap, info::LOCK, writer.xid);
    let i = action.page(page, PageChange::default());
    action.page_data(i, &log);
    maps.log(&mut action);
    action.commit();
    Ok(())
}

/// What a stamp of the writer's must say about a lock that is there: [`infomask::XMAX_OVER_LOCK`] if the writer is a subtransaction and
/// the lock an ancestor's, which has the smaller xid.
pub(crate) fn covers_lock(header: &Header, writer: &Writer<'_>) -> u16 {
    let xmax = header.raw_xmax;
    let locked = header.lock_only() || header.has(infomask::XMAX_OVER_LOCK);
    let older = xmax < writer.xid || xmax == writer.xid && header.has(infomask::XMAX_OVER_LOCK);
    let mine = || writer.me.is_mine(xmax) || writer.me.is_rolled_back_child(xmax);
    if locked && older && !header.xmax_invalid() && mine() { infomask::XMAX_OVER_LOCK } else { 0 }
}
