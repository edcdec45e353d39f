//! Replay and description of [`wal::Rmgr::Heap`] records.
//!
//! Every page is brought up to date by the function of [`crate::ops`] that changed it in normal running.

use std::fmt;

use base::{BlockNo, Fork, Xid};
use page::PageBytes;
use wal::{Record, RecordRef, ResourceManager, Rmgr, WalDescribe};

use crate::header::HEADER_LEN;
use crate::ops::{self, EndedRow, Mismatch, OpResult, Stamp};
use crate::records::{
    Get, LoggedTuple, get_prune, get_rebase, get_row_locks, get_stamp, get_tuple, get_vm, info,
};
use crate::vm;

/// Record and page do not fit together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RedoError {
    /// The record's kind.
    info: u8,
    /// Which of its blocks.
    block: usize,
}

impl fmt::Display for RedoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "heap record {} does not fit its block {}", kind_name(self.info), self.block)
    }
}

impl std::error::Error for RedoError {}

/// Does to a page what a record says about its block reference `index`: to a page that [needs](buffer::needs) it, or to zeros if the record
/// initialises the page. A page that does not fit the record is spoilt.
pub fn redo_block(page: &mut PageBytes, record: &RecordRef<'_>, index: usize) -> Result<(), RedoError> {
    let failed = RedoError { info: record.info, block: index };
    let block = record.block(index).ok_or(failed)?;
    let change = Change {
        kind: record.info,
        xid: record.xid,
        main: record.data(),
        index,
        fork: block.fork,
        block: block.block,
        will_init: block.will_init,
        data: block.data,
    };
    apply(page, &change).map_err(|Mismatch| failed)
}

/// Whether redo of such a record leaves gaps between the items of the heap page. They are closed when there is no other room, and by
/// [`close_gaps`] behind the page's last record: once for many records, where normal running closes them for each.
pub fn leaves_gaps(record: &RecordRef<'_>) -> bool {
    record.rmgr == Rmgr::Heap && record.info == info::PRUNE
}

/// Closes the gaps between a heap page's items.
pub fn close_gaps(page: &mut PageBytes) -> Result<(), RedoError> {
    page::repair(page).map_err(|_| RedoError { info: info::PRUNE, block: 0 })
}

/// What a record says about one of its pages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change<'a> {
    pub kind: u8,
    pub xid: Xid,
    pub main: &'a [u8],
    pub index: usize,
    pub fork: Fork,
    pub block: BlockNo,
    pub will_init: bool,
    pub data: &'a [u8],
}

/// Brings one page up to date.
pub(crate) fn apply(page: &mut PageBytes, change: &Change<'_>) -> OpResult<()> {
    let mut get = Get(change.data);
    if change.fork == Fork::Vm {
        while !get.0.is_empty() {
            let map_change = get_vm(&mut get)?;
            vm::set_bits(page, map_change.block, map_change.bits);
        }
        return Ok(());
    }
    if change.will_init {
        ops::init_page(page, change.xid);
    }
    match (change.kind, change.index) {
        (info::INSERT, _) | (info::UPDATE, 0) => insert(page, change, &mut get),
        (info::UPDATE, _) => stamp(page, change.xid, &mut Get(change.main)),
        (info::DELETE, _) => stamp(page, change.xid, &mut get),
        (info::HOT_UPDATE | info::UPDATE_HERE, _) => update_here(page, change, &mut get),
        (info::MULTI_INSERT, _) => multi_insert(page, change, &mut get),
        (info::LOCK, _) => {
            let lock = Stamp { cid: None, ..get_stamp(&mut get, change.xid)? };
            ops::stamp_xmax(page, &lock)
        }
        (info::LOCK_ROWS, _) => ops::lock_rows(page, change.block, &get_row_locks(&mut get, change.xid)?),
        (info::DELETE_ROWS, _) => {
            let row = |offset| EndedRow { offset, cid: 0, combo: 0 };
            let rows: Vec<EndedRow> = get.set()?.into_iter().map(row).collect();
            ops::delete_rows(page, change.block, change.xid, &rows)
        }
        (info::PRUNE, _) => {
            let (plan, visible) = get_prune(&mut get)?;
            ops::prune_with_gaps(page, &plan)?;
            become_visible(page, visible)
        }
        (info::VISIBLE, _) => {
            ops::set_all_visible(page, true);
            Ok(())
        }
        (info::INVISIBLE, _) => {
            ops::set_all_visible(page, false);
            Ok(())
        }
        (info::REBASE, _) => ops::rebase(page, &get_rebase(&mut get)?),
        (info::VACUUM, _) => {
            ops::free_dead(page, &get.set()?)?;
            become_visible(page, !change.main.is_empty())
        }
        (info::INPLACE, _) => {
            let offset = get.u16()?;
            ops::overwrite_data(page, offset, get.0)
        }
        _ => Err(Mismatch),
    }
}

fn become_visible(page: &mut PageBytes, visible: bool) -> OpResult<()> {
    if visible {
        ops::set_all_visible(page, true);
    }
    Ok(())
}

fn insert(page: &mut PageBytes, change: &Change<'_>, get: &mut Get<'_>) -> OpResult<()> {
    let len = get.0.len().checked_sub(2).ok_or(Mismatch)?;
    put(page, change, get_tuple(get, len, &[], &[])?)?;
    ops::set_all_visible(page, false);
    Ok(())
}

fn put(page: &mut PageBytes, change: &Change<'_>, mut tuple: LoggedTuple) -> OpResult<()> {
    if ops::room(page) < page::align8(tuple.bytes.len()) {
        page::repair(page).map_err(|_| Mismatch)?;
    }
    let (at, xmax) = (Some(tuple.offset), tuple.raw_xmax);
    ops::insert_locked(page, change.block, at, &mut tuple.bytes, change.xid, 0, xmax)?;
    Ok(())
}

fn multi_insert(page: &mut PageBytes, change: &Change<'_>, get: &mut Get<'_>) -> OpResult<()> {
    for _ in 0..get.u16()? {
        let len = get.u16()? as usize;
        put(page, change, get_tuple(get, len, &[], &[])?)?;
    }
    ops::set_all_visible(page, false);
    Ok(())
}

fn stamp(page: &mut PageBytes, xid: Xid, get: &mut Get<'_>) -> OpResult<()> {
    ops::stamp_xmax(page, &get_stamp(get, xid)?)?;
    ops::mark_prunable(page, xid);
    ops::set_all_visible(page, false);
    Ok(())
}

/// An UPDATE within a page: the new version lacks the bytes that it shares with the old one.
fn update_here(page: &mut PageBytes, change: &Change<'_>, get: &mut Get<'_>) -> OpResult<()> {
    let old_stamp = get_stamp(get, change.xid)?;
    let (prefix, suffix) = (get.u16()? as usize, get.u16()? as usize);
    let old = page::item(page, old_stamp.offset).and_then(|old| old.get(HEADER_LEN..)).ok_or(Mismatch)?;
    let head = old.get(..prefix).ok_or(Mismatch)?;
    let tail = old.len().checked_sub(suffix).and_then(|at| old.get(at..)).ok_or(Mismatch)?;
    let len = get.0.len().checked_sub(2).ok_or(Mismatch)?;
    let tuple = get_tuple(get, len, head, tail)?;
    put(page, change, tuple)?;
    ops::stamp_xmax(page, &old_stamp)?;
    ops::mark_prunable(page, change.xid);
    ops::set_all_visible(page, false);
    Ok(())
}

fn kind_name(kind: u8) -> &'static str {
    match kind {
        info::INSERT => "INSERT",
        info::DELETE => "DELETE",
        info::UPDATE | info::UPDATE_HERE => "UPDATE",
        info::HOT_UPDATE => "HOT_UPDATE",
        info::MULTI_INSERT => "MULTI_INSERT",
        info::LOCK => "LOCK",
        info::LOCK_ROWS => "LOCK_ROWS",
        info::DELETE_ROWS => "DELETE_ROWS",
        info::PRUNE => "PRUNE",
        info::VISIBLE => "VISIBLE",
        info::INVISIBLE => "INVISIBLE",
        info::REBASE => "REBASE",
        info::VACUUM => "VACUUM",
        info::INPLACE => "INPLACE",
        info::REWRITE => "REWRITE",
        _ => "UNKNOWN",
    }
}

/// How records of the heap are replayed and shown.
pub const MANAGER: ResourceManager = ResourceManager {
    id: Rmgr::Heap,
    redo_block: Some(|page, record, index| redo_block(page, record, index).map_err(|e| e.to_string())),
    describe: &HeapDescribe,
};

/// Describes heap records for `waldump`.
struct HeapDescribe;

impl WalDescribe for HeapDescribe {
    fn name(&self, record: &Record) -> &'static str {
        kind_name(record.info)
    }

    fn describe(&self, record: &Record, out: &mut dyn fmt::Write) -> fmt::Result {
        let Some(block) = record.block(0) else { return Ok(()) };
        let mut get = Get(block.data);
        // With an image the block's data may be left out: then there is nothing to tell but the blocks.
        let text = match record.info {
            info::INSERT => get.u16().map(|n| format!("off: {n}")),
            info::MULTI_INSERT => get.u16().map(|n| format!("ntuples: {n}")),
            info::DELETE | info::LOCK => get_stamp(&mut get, record.xid)
                .map(|s| format!("off: {}, infobits: {:#06x}", s.offset, s.infomask)),
            info::LOCK_ROWS => get_row_locks(&mut get, record.xid).map(|l| format!("nlocked: {}", l.len())),
            info::DELETE_ROWS => get.set().map(|list| format!("ndeleted: {}", list.len())),
            info::HOT_UPDATE | info::UPDATE_HERE => get_stamp(&mut get, record.xid).map(|s| {
                format!("old_xmax: {}, old_off: {}, new_off: {}", record.xid, s.offset, s.next.offset)
            }),
            info::UPDATE => get_stamp(&mut Get(record.data()), record.xid)
                .map(|s| format!("old_xmax: {}, old_off: {}, new: {}", record.xid, s.offset, s.next)),
            info::PRUNE => get_prune(&mut get).map(|(p, _)| {
                format!(
                    "nredirected: {}, ndead: {}, nunused: {}, nfrozen: {}",
                    p.redirected.len(),
                    p.dead.len(),
                    p.unused.len(),
                    p.frozen.len()
                )
            }),
            info::REBASE => get_rebase(&mut get).map(|p| format!("xid_base: {}", p.bases.xid)),
            info::VACUUM => get.set().map(|list| format!("nunused: {}", list.len())),
            info::INPLACE => get.u16().map(|n| format!("off: {n}")),
            _ => Ok(String::new()),
        };
        out.write_str(&text.unwrap_or_default())
    }
}
