//! # What
//! DELETE of several rows of one page: judged one after the other under one latch, and logged by one record.
//!
//! It deletes only rows that nobody holds, whose values are all in themselves, and of which neither decoders of the log nor serializable transactions want to know one by one. At the
//! first other one it stops, so that rows are deleted in the order in which they are asked for; that one is for [`crate::delete`], and whoever asks comes back with the rest.
//!
//! # Locks
//! The page exclusively, then its visibility-map page.
//!
//! # WAL and crash
//! [`info::DELETE_ROWS`], replayed by [`ops::delete_rows`], as it was done.
//!
//! # PostgreSQL counterpart and differences
//! None: there each row is a latch and a record of its own.

use base::{BlockNo, OffsetNo, Tid};
use buffer::{ExclusivePage, PageChange, WalAction};
use txn::LockStrength;
use wal::Rmgr;

use crate::error::HeapResult;
use crate::fetch::heap_tag;
use crate::header::infomask;
use crate::insert::maps_to_clear;
use crate::ops::{self, EndedRow};
use crate::place::make_fit;
use crate::records::{Put, info};
use crate::rel::{Access, HeapRel, Writer};
use crate::update::{Look, corrupt, ending_cid, look};
use crate::vm::{VmCursor, latch_covered};

/// Deletes the versions at these places of a page, which ascend, up to the first for which that takes more than a stamp. Returns how many it deleted.
pub fn delete_rows(
    access: &Access<'_>,
    rel: &HeapRel,
    writer: &Writer<'_>,
    (block, places): (BlockNo, &[OffsetNo]),
) -> HeapResult<usize> {
    debug_assert!(places.is_sorted_by(|a, b| a < b), "places ascend");
    access.pool.admit(rel.desc.persistence)?;
    if rel.desc.logged.is_some() || rel.serial(writer.me).is_some() {
        return Ok(0);
    }
    let mut map = VmCursor::default();
    let pin = access.pool.read(heap_tag(rel, block))?;
    let mut page = latch_covered(access, rel, &pin, &mut map)?;
    make_fit(access, rel, &mut page, writer.xid)?;
    let mut rows = Vec::with_capacity(places.len());
    for &offset in places {
        match plan(access, rel, writer, &mut page, Tid::new(block, offset))? {
            Some(row) => rows.push(row),
            None => break,
        }
    }
    if !rows.is_empty() {
        write(access, rel, writer, (&mut page, &map), &rows)?;
    }
    Ok(rows.len())
}

/// What is to become of a version; `None` if it is not one that a stamp is enough for, or not the writer's to delete.
fn plan(
    access: &Access<'_>,
    rel: &HeapRel,
    writer: &Writer<'_>,
    page: &mut ExclusivePage<'_>,
    tid: Tid,
) -> HeapResult<Option<EndedRow>> {
    let Look::Free { header, .. } = look(access, rel, writer, page, tid, LockStrength::Update)? else {
        return Ok(None);
    };
    if !header.xmax_invalid() || header.has(infomask::HAS_EXTERNAL) {
        return Ok(None);
    }
    let (cid, combo) = ending_cid(&header, writer);
    Ok(Some(EndedRow { offset: tid.offset, cid, combo }))
}

/// Deletes rows of a page that takes the writer's xid, and logs that.
fn write(
    access: &Access<'_>,
    rel: &HeapRel,
    writer: &Writer<'_>,
    (page, map): (&mut ExclusivePage<'_>, &VmCursor),
    rows: &[EndedRow],
) -> HeapResult<()> {
    let (block, xid) = (page.tag().block, writer.xid);
    let mut maps = maps_to_clear(page, map, block);
    ops::delete_rows(page, block, xid, rows)
        .map_err(|_| corrupt(rel, Tid::new(block, rows[0].offset), "tuple cannot be deleted"))?;
    maps.apply();
    let mut log = Vec::with_capacity(64);
    let offsets: Vec<OffsetNo> = rows.iter().map(|row| row.offset).collect();
    log.set(&offsets);
    let mut action =
        WalAction::for_relation(access.pool, rel.desc.persistence, Rmgr::Heap, info::DELETE_ROWS, xid);
    let i = action.page(page, PageChange::default());
    action.page_data(i, &log);
    maps.log(&mut action);
    action.commit();
    Ok(())
}
