//! # What
//! INSERT and COPY.
//!
//! # Locks
//! The heap page exclusively, then the visibility-map page if the page was all-visible. Large values are stored before.
//!
//! # WAL and crash
//! One record for a row, or for all rows of a batch, of COPY or of one INSERT, that go to one page. The visibility map's page is part of it.

use base::{BlockNo, CommandId, Tid};
use buffer::{ExclusivePage, PageChange, WalAction};
use tuple::Datum;
use wal::Rmgr;

use crate::error::{HeapError, HeapResult};
use crate::header::{INFOMASK, form_tuple, infomask};
use crate::ops;
use crate::place::{Placer, make_fit};
use crate::records::{Put, VmChange, info, logged_len, put_tuple};
use crate::rel::{Access, HeapRel, Writer};
use crate::toast;
use crate::vm::{self, MapGuards, VmCursor};

/// How rows are inserted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InsertOptions {
    /// Do not look for room in old pages: a load.
    pub skip_fsm: bool,
    /// Rows are visible to everybody at once: a table created in this very (sub)transaction that nobody else can see (COPY FREEZE, rewrite).
    pub frozen: bool,
}

/// Builds a row's bytes, storing large values first.
fn form(
    access: &Access<'_>,
    rel: &HeapRel,
    writer: &Writer<'_>,
    values: &[Datum],
    options: InsertOptions,
    out: &mut Vec<u8>,
) -> HeapResult<()> {
    match toast::shrink(access, rel, writer, values, None, options)? {
        Some(smaller) => form_tuple(&rel.desc.layout, &smaller, out),
        None => form_tuple(&rel.desc.layout, values, out),
    };
    if options.frozen {
        let mask = u16::from_le_bytes([out[INFOMASK], out[INFOMASK + 1]]) | infomask::XMIN_FROZEN;
        out[INFOMASK..INFOMASK + 2].copy_from_slice(&mask.to_le_bytes());
    }
    Ok(())
}

/// Inserts a row and returns its place. Large values go to the toast table first.
pub fn insert(
    access: &Access<'_>,
    rel: &HeapRel,
    writer: &Writer<'_>,
    values: &[Datum],
    options: InsertOptions,
) -> HeapResult<Tid> {
    let mut bytes = Vec::with_capacity(256);
    form(access, rel, writer, values, options, &mut bytes)?;
    let mut tids = Vec::with_capacity(1);
    insert_batch(access, rel, writer, &mut [&mut bytes], options, &mut tids)?;
    Ok(tids[0])
}

/// Inserts many rows with one WAL record for each page, and appends their places to `tids` in order.
pub fn multi_insert<'r>(
    access: &Access<'_>,
    rel: &HeapRel,
    writer: &Writer<'_>,
    rows: impl IntoIterator<Item = &'r [Datum]>,
    options: InsertOptions,
    tids: &mut Vec<Tid>,
) -> HeapResult<()> {
    // All rows, concatenated, and the length of each.
    let (mut bytes, mut lengths, mut row) = (Vec::new(), Vec::new(), Vec::new());
    for values in rows {
        form(access, rel, writer, values, options, &mut row)?;
        bytes.extend_from_slice(&row);
        lengths.push(row.len());
    }
    let mut behind = &mut bytes[..];
    let mut tuples: Vec<&mut [u8]> = Vec::with_capacity(lengths.len());
    for length in lengths {
        let (tuple, others) = behind.split_at_mut(length);
        tuples.push(tuple);
        behind = others;
    }
    let mut rest = &mut tuples[..];
    while !rest.is_empty() {
        let done = insert_batch(access, rel, writer, rest, options, tids)?;
        rest = &mut rest[done..];
    }
    Ok(())
}

/// Inserts as many of `tuples`, at least one, as one page takes. Returns how many.
fn insert_batch(
    access: &Access<'_>,
    rel: &HeapRel,
    writer: &Writer<'_>,
    tuples: &mut [&mut [u8]],
    options: InsertOptions,
    tids: &mut Vec<Tid>,
) -> HeapResult<usize> {
    writer.check(rel);
    access.pool.admit(rel.desc.persistence)?;
    let mut map = VmCursor::default();
    let mut placer = Placer::new(access, rel, tuples[0].len(), !options.skip_fsm)?;
    loop {
        let pin = placer.next()?;
        let block = pin.tag().block;
        let mut page = vm::latch_covered(access, rel, &pin, &mut map)?;
        if !placer.fits(&page) {
            placer.reject(block, &page);
            continue;
        }
        make_fit(access, rel, &mut page, writer.xid)?;
        rel.set_target_block(block);
        return put_batch(access, rel, writer, page, tuples, &map, tids);
    }
}

/// Puts tuples on a page that has room for the first, and logs them.
fn put_batch(
    access: &Access<'_>,
    rel: &HeapRel,
    writer: &Writer<'_>,
    mut page: ExclusivePage<'_>,
    tuples: &mut [&mut [u8]],
    map: &VmCursor,
    tids: &mut Vec<Tid>,
) -> HeapResult<usize> {
    let block = page.tag().block;
    let keep_free = crate::prune::reserve(rel);
    let init = page::is_new(&page);
    let mut maps = maps_to_clear(&page, map, block);
    let (xid, CommandId(cid)) = (writer.xid, writer.cid);
    if init {
        ops::init_page(&mut page, xid);
    }
    let mut done = 0;
    let mut log = Vec::with_capacity(tuples[0].len() + 16);
    let single = tuples.len() == 1;
    if !single {
        log.u16(0);
    }
    for tuple in &mut *tuples {
        if done > 0 && ops::room(&page) < page::align8(tuple.len()) + keep_free {
            break;
        }
        let Ok(offset) = ops::insert(&mut page, block, None, tuple, xid, cid) else { break };
        if !single {
            log.u16(logged_len(tuple.len()) as u16);
        }
        put_tuple(&mut log, offset, tuple, 0, 0);
        tids.push(Tid::new(block, offset));
        done += 1;
    }
    if done == 0 {
        // Nothing has changed: a page with room refuses a tuple only if it is damaged.
        debug_assert!(!init, "an empty page takes a tuple");
        return Err(HeapError::Corrupt {
            rel: rel.desc.file,
            block,
            offset: 0,
            what: "page refuses a tuple",
        });
    }
    if !single {
        log[..2].copy_from_slice(&(done as u16).to_le_bytes());
    }
    let kind = if single { info::INSERT } else { info::MULTI_INSERT };
    ops::set_all_visible(&mut page, false);
    maps.apply();
    let mut action = WalAction::for_relation(access.pool, rel.desc.persistence, Rmgr::Heap, kind, xid);
    let i = action.page(&mut page, PageChange { will_init: init, ..PageChange::default() });
    action.page_data(i, &log);
    maps.log(&mut action);
    action.commit();
    if let Some(serial) = rel.serial(writer.me) {
        serial.write_relation(rel.desc.file)?;
    }
    Ok(done)
}

/// Latches the map page of an all-visible heap page whose bits an action is going to clear.
pub(crate) fn maps_to_clear<'a>(page: &page::PageBytes, map: &'a VmCursor, block: BlockNo) -> MapGuards<'a> {
    if !ops::is_all_visible(page) {
        return MapGuards::none();
    }
    MapGuards::latch([(map, VmChange { block, bits: 0 })])
}
