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
use tuple::{Attr, Datum, RowLayout};
use wal::Rmgr;

use crate::error::{HeapError, HeapResult};
use crate::header::{INFOMASK, append_copy, append_tuple, infomask};
use crate::ops;
use crate::place::{Placer, make_fit};
use crate::records::{Put, VmChange, info, logged_len, put_new_tuple};
use crate::rel::{Access, HeapRel, Writer};
use crate::row::TupleRef;
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

/// Appends a row's bytes if they are few and have no value that is stored elsewhere; whether it did.
fn form_small(rel: &HeapRel, values: &[Datum], options: InsertOptions, out: &mut Vec<u8>) -> bool {
    let start = out.len();
    let info = append_tuple(&rel.desc.layout, values, out);
    let small = !info.has_external && out.len() - start <= toast::THRESHOLD;
    match small {
        true => freeze(&mut out[start..], options),
        false => out.truncate(start),
    }
    small
}

fn freeze(tuple: &mut [u8], options: InsertOptions) {
    if options.frozen {
        let mask = &mut tuple[INFOMASK..INFOMASK + 2];
        let frozen = u16::from_le_bytes([mask[0], mask[1]]) | infomask::XMIN_FROZEN;
        mask.copy_from_slice(&frozen.to_le_bytes());
    }
}

/// Appends a row's bytes, storing large values first. `out` is as long as before if that fails.
fn form(
    access: &Access<'_>,
    rel: &HeapRel,
    writer: &Writer<'_>,
    values: &[Datum],
    options: InsertOptions,
    out: &mut Vec<u8>,
) -> HeapResult<()> {
    // Most rows are small enough, and then need no measuring before.
    if form_small(rel, values, options, out) {
        return Ok(());
    }
    let (layout, start) = (&rel.desc.layout, out.len());
    match toast::shrink(access, rel, writer, values, None, options)? {
        Some(smaller) => append_tuple(layout, &smaller, out),
        None => append_tuple(layout, values, out),
    };
    freeze(&mut out[start..], options);
    Ok(())
}

/// Whether rows of one layout have the same bytes as those of another.
pub fn stores_alike(one: &RowLayout, other: &RowLayout) -> bool {
    let class = |attr: &Attr| (attr.physical, attr.align);
    one.attrs().iter().map(class).eq(other.attrs().iter().map(class))
}

/// Rows of one table on their way to it, as bytes: what a load keeps between two pages. Nothing of them can be seen before [`FormedRows::insert`], but for their large values in
/// the TOAST table.
#[derive(Default)]
pub struct FormedRows {
    /// The rows, one behind the other.
    bytes: Vec<u8>,
    /// Where each ends.
    ends: Vec<usize>,
}

impl FormedRows {
    /// How many rows.
    pub fn count(&self) -> usize {
        self.ends.len()
    }

    /// Bytes that they take.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Forgets them.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Forms one more if it has no large values; otherwise nothing is done, and it is to be [added](FormedRows::add). Whether it was formed.
    #[inline]
    pub fn add_small(&mut self, rel: &HeapRel, values: &[Datum], options: InsertOptions) -> bool {
        let small = form_small(rel, values, options, &mut self.bytes);
        if small {
            self.ends.push(self.bytes.len());
        }
        small
    }

    /// Takes one more over from a table that [stores rows alike](stores_alike): a row that [is whole](TupleRef::is_whole).
    #[inline]
    pub fn add_stored(&mut self, row: &TupleRef<'_>, options: InsertOptions) {
        let start = self.bytes.len();
        append_copy(row, &mut self.bytes);
        freeze(&mut self.bytes[start..], options);
        self.ends.push(self.bytes.len());
    }

    /// Forms one more. Its large values go to the TOAST table at once.
    pub fn add(
        &mut self,
        access: &Access<'_>,
        rel: &HeapRel,
        writer: &Writer<'_>,
        values: &[Datum],
        options: InsertOptions,
    ) -> HeapResult<()> {
        form(access, rel, writer, values, options, &mut self.bytes)?;
        self.ends.push(self.bytes.len());
        Ok(())
    }

    /// Stores them with one WAL record for each page, appends their places to `tids` in order, and forgets them. `options` are those that they were formed with.
    pub fn insert(
        &mut self,
        access: &Access<'_>,
        rel: &HeapRel,
        writer: &Writer<'_>,
        options: InsertOptions,
        tids: &mut Vec<Tid>,
    ) -> HeapResult<()> {
        let (mut behind, mut start) = (&mut self.bytes[..], 0);
        let mut tuples: Vec<&mut [u8]> = Vec::with_capacity(self.ends.len());
        for end in &self.ends {
            let (tuple, others) = behind.split_at_mut(end - start);
            tuples.push(tuple);
            (behind, start) = (others, *end);
        }
        let (mut rest, mut use_map) = (&mut tuples[..], !options.skip_fsm);
        while !rest.is_empty() {
            let done = insert_batch(access, rel, writer, rest, &mut use_map, tids)?;
            rest = &mut rest[done..];
        }
        self.clear();
        Ok(())
    }
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
    insert_batch(access, rel, writer, &mut [&mut bytes], &mut !options.skip_fsm, &mut tids)?;
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
    let mut formed = FormedRows::default();
    for values in rows {
        formed.add(access, rel, writer, values, options)?;
    }
    formed.insert(access, rel, writer, options, tids)
}

/// Inserts as many of `tuples`, at least one, as one page takes. Returns how many. `use_map`: look for room in old pages; not again once there was none.
fn insert_batch(
    access: &Access<'_>,
    rel: &HeapRel,
    writer: &Writer<'_>,
    tuples: &mut [&mut [u8]],
    use_map: &mut bool,
    tids: &mut Vec<Tid>,
) -> HeapResult<usize> {
    writer.check(rel);
    access.pool.admit(rel.desc.persistence)?;
    if let Some(logged) = &rel.desc.logged {
        logged.describe(rel, writer);
    }
    let mut map = VmCursor::default();
    let mut placer = Placer::new(access, rel, tuples[0].len(), *use_map)?;
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
        *use_map &= !placer.has_left_map();
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
    let single = tuples.len() == 1;
    let mut log = Vec::with_capacity(if single { tuples[0].len() + 16 } else { base::PAGE_SIZE });
    if !single {
        log.u16(0);
    }
    for tuple in &mut *tuples {
        if done > 0 && ops::room(&page) < page::align8(tuple.len()) + keep_free {
            break;
        }
        let Ok(offset) = ops::insert_new(&mut page, block, tuple, xid, cid) else { break };
        if !single {
            log.u16(logged_len(tuple.len()) as u16);
        }
        put_new_tuple(&mut log, offset, tuple);
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
    let logged = rel.desc.logged.as_ref();
    let change = PageChange { will_init: init, keep_data: logged.is_some(), ..PageChange::default() };
    let i = action.page(&mut page, change);
    action.take_page_data(i, log);
    if let Some(logged) = logged {
        action.data(&logged.of_insert(writer));
    }
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
