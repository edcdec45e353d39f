//! WAL records of [`wal::Rmgr::Heap`]: what is logged beside the pages.
//!
//! The heap page is block 0 (of an UPDATE to another page: the new version's; the old version's is block 1). Visibility-map pages
//! come last; the data of each are entries of [`VmChange`]. The record's xid is the inserter, deleter or locker. At the end of the main data may stand what decoders of the log need ([`crate::logical`]).

use base::{BlockNo, OffsetNo, Tid, Xid};

use crate::header::{Bases, HEADER_LEN, infomask};
use crate::ops::{Mismatch, OpResult, PrunePlan, RebasePlan, RenewedXmax, RowLock, Stamp};

/// Kinds of records (`info`).
pub mod info {
    /// Block data: one tuple.
    pub const INSERT: u8 = 1;
    /// Block data: a stamp.
    pub const DELETE: u8 = 2;
    /// Main data: a stamp. Block 0 data: a tuple, complete.
    pub const UPDATE: u8 = 3;
    /// Block data: a stamp, then a tuple of which parts are to be copied from the old version.
    pub const HOT_UPDATE: u8 = 4;
    /// Block data: number of tuples, then for each its length and the tuple.
    pub const MULTI_INSERT: u8 = 5;
    /// Block data: a stamp.
    pub const LOCK: u8 = 6;
    /// Block data: a prune plan. Main data: newest xid whose rows were removed, for standbys, without its upper bytes that are zero.
    pub const PRUNE: u8 = 7;
    /// The heap page's all-visible bit is set; the map's change is with its block.
    pub const VISIBLE: u8 = 8;
    /// Block data: a rebase plan.
    pub const REBASE: u8 = 9;
    /// Block data: dead line pointers that become unused. Main data: a byte if the heap page becomes all-visible.
    pub const VACUUM: u8 = 10;
    /// Block data: offset and new data of a tuple.
    pub const INPLACE: u8 = 11;
    /// The heap page's all-visible bit is cleared without any other change; the map's change is with its block.
    pub const INVISIBLE: u8 = 13;
    /// The image of a new page: all of it.
    pub const REWRITE: u8 = 14;
    /// As `HOT_UPDATE`, but the new version, on the same page too, has index entries of its own.
    pub const UPDATE_HERE: u8 = 12;
    /// Block data: row locks, for each that is like others its bits, the multixact if it is one, and the versions that it is on.
    pub const LOCK_ROWS: u8 = 15;
    /// Block data: the set of versions that are deleted. They have no next ones.
    pub const DELETE_ROWS: u8 = 16;
}

/// Appends little-endian numbers.
pub(crate) trait Put {
    fn u8(&mut self, v: u8);
    fn u16(&mut self, v: u16);
    fn u32(&mut self, v: u32);
    fn u64(&mut self, v: u64);
    fn offsets(&mut self, list: &[OffsetNo]);
    /// Ascending offsets, as a list or a bitmap, whichever is shorter.
    fn set(&mut self, list: &[OffsetNo]);
}

/// In the place of a set's length: it is a bitmap.
const BITMAP: u8 = u8::MAX;

impl Put for Vec<u8> {
    fn u8(&mut self, v: u8) {
        self.push(v);
    }
    fn u16(&mut self, v: u16) {
        self.extend_from_slice(&v.to_le_bytes());
    }
    fn u32(&mut self, v: u32) {
        self.extend_from_slice(&v.to_le_bytes());
    }
    fn u64(&mut self, v: u64) {
        self.extend_from_slice(&v.to_le_bytes());
    }
    fn offsets(&mut self, list: &[OffsetNo]) {
        self.u16(list.len() as u16);
        list.iter().for_each(|&n| self.u16(n));
    }
    fn set(&mut self, list: &[OffsetNo]) {
        debug_assert!(list.is_sorted(), "a set ascends");
        let bytes = list.last().map_or(0, |last| *last as usize / 8 + 1);
        if list.len() < BITMAP as usize && 2 * list.len() <= 1 + bytes {
            self.u8(list.len() as u8);
            list.iter().for_each(|&n| self.u16(n));
            return;
        }
        self.u8(BITMAP);
        self.u16(bytes as u16);
        let at = self.len();
        self.resize(at + bytes, 0);
        list.iter().for_each(|&n| self[at + n as usize / 8] |= 1 << (n % 8));
    }
}

/// Reads what [`Put`] wrote; running out of bytes is a mismatch.
pub(crate) struct Get<'a>(pub &'a [u8]);

impl<'a> Get<'a> {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    fn chunk<const N: usize>(&mut self) -> OpResult<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk().ok_or(Mismatch)?;
        self.0 = rest;
        Ok(*head)
    }
    pub fn u8(&mut self) -> OpResult<u8> {
        Ok(self.chunk::<1>()?[0])
    }
    pub fn u16(&mut self) -> OpResult<u16> {
        Ok(u16::from_le_bytes(self.chunk()?))
    }
    pub fn u32(&mut self) -> OpResult<u32> {
        Ok(u32::from_le_bytes(self.chunk()?))
    }
    pub fn u64(&mut self) -> OpResult<u64> {
        Ok(u64::from_le_bytes(self.chunk()?))
    }
    pub fn bytes(&mut self, n: usize) -> OpResult<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(n).ok_or(Mismatch)?;
        self.0 = rest;
        Ok(head)
    }
    pub fn offsets(&mut self) -> OpResult<Vec<OffsetNo>> {
        let n = self.u16()?;
        (0..n).map(|_| self.u16()).collect()
    }
    /// What [`Put::set`] wrote.
    pub fn set(&mut self) -> OpResult<Vec<OffsetNo>> {
        let n = self.u8()?;
        if n != BITMAP {
            return (0..n).map(|_| self.u16()).collect();
        }
        let count = self.u16()? as usize;
        let bitmap = self.bytes(count)?;
        let is_in = |n: &usize| bitmap[n / 8] >> (n % 8) & 1 != 0;
        Ok((0..8 * count).filter(is_in).map(|n| n as OffsetNo).collect())
    }
}

/// Bytes of the header that [`put_new_tuple`] logs: infomask2, infomask, hoff.
const LOGGED_HEADER: usize = 5;

/// Logs a new tuple: offset, flags of its header, and what follows the header.
#[inline]
pub(crate) fn put_new_tuple(out: &mut Vec<u8>, offset: OffsetNo, tuple: &[u8]) {
    out.u16(offset);
    out.extend_from_slice(logged_tail(tuple));
}

/// Logs a tuple as [`put_new_tuple`] does, but for `prefix` and `suffix` bytes of what follows the header, and with its `xmax` behind the flags if these say that
/// there is one.
pub(crate) fn put_locked_tuple(
    out: &mut Vec<u8>,
    offset: OffsetNo,
    tuple: &[u8],
    prefix: usize,
    suffix: usize,
    raw_xmax: Xid,
) {
    out.u16(offset);
    let flags = &tuple[HEADER_LEN - LOGGED_HEADER..HEADER_LEN];
    out.extend_from_slice(flags);
    if has_xmax(flags) {
        out.u64(raw_xmax.0);
    }
    out.extend_from_slice(&tuple[HEADER_LEN + prefix..tuple.len() - suffix]);
}

/// Whether the logged flags of a header say that the tuple has an `xmax`.
fn has_xmax(flags: &[u8]) -> bool {
    u16::from_le_bytes([flags[2], flags[3]]) & infomask::XMAX_INVALID == 0
}

/// A tuple out of the log, without xids in its header.
pub(crate) struct LoggedTuple {
    /// Where it is.
    pub offset: OffsetNo,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Its `xmax` as it is stored, if the flags say that there is one.
    pub raw_xmax: Xid,
}

/// Rebuilds a tuple from its `len` bytes in the log and the parts of the old version that were left out.
pub(crate) fn get_tuple(
    get: &mut Get<'_>,
    len: usize,
    prefix: &[u8],
    suffix: &[u8],
) -> OpResult<LoggedTuple> {
    let offset = get.u16()?;
    let flags = get.bytes(LOGGED_HEADER)?;
    let (raw_xmax, head) = match has_xmax(flags) {
        true => (Xid(get.u64()?), LOGGED_HEADER + size_of::<u64>()),
        false => (Xid::INVALID, LOGGED_HEADER),
    };
    let middle = get.bytes(len.checked_sub(head).ok_or(Mismatch)?)?;
    let mut bytes = vec![0; HEADER_LEN - LOGGED_HEADER];
    for part in [flags, prefix, middle, suffix] {
        bytes.extend_from_slice(part);
    }
    Ok(LoggedTuple { offset, bytes, raw_xmax })
}

/// Of a whole tuple what records have of it, without an `xmax`.
pub(crate) fn logged_tail(tuple: &[u8]) -> &[u8] {
    &tuple[HEADER_LEN - LOGGED_HEADER..]
}

/// The tuple of which [`logged_tail`] is there.
pub(crate) fn whole_tuple(tail: &[u8]) -> Vec<u8> {
    [&[0; HEADER_LEN - LOGGED_HEADER], tail].concat()
}

/// Length that [`get_tuple`] must be told for a whole tuple of `len` bytes.
pub(crate) fn logged_len(len: usize) -> usize {
    len - HEADER_LEN + LOGGED_HEADER
}

/// Bytes equal at the start and at the end of two tuples behind their headers, if worth leaving out: (prefix, suffix).
pub(crate) fn common_parts(old: &[u8], new: &[u8]) -> (u16, u16) {
    let (old, new) = (&old[HEADER_LEN..], &new[HEADER_LEN..]);
    let shorter = old.len().min(new.len());
    let prefix = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let suffix =
        old.iter().rev().zip(new.iter().rev()).take(shorter - prefix).take_while(|(a, b)| a == b).count();
    (prefix as u16, suffix as u16)
}

/// Logs a stamp; `xmax` is the record's xid unless it is a multixact, command ids are not logged.
pub(crate) fn put_stamp(out: &mut Vec<u8>, stamp: &Stamp) {
    out.u16(stamp.offset);
    out.u16(stamp.infomask & !infomask::COMBO_CID);
    out.u16(stamp.infomask2);
    out.u32(stamp.next.block.0);
    out.u16(stamp.next.offset);
    if stamp.infomask & infomask::XMAX_IS_MULTI != 0 {
        out.u64(stamp.xmax.0);
    }
}

pub(crate) fn get_stamp(get: &mut Get<'_>, xid: Xid) -> OpResult<Stamp> {
    let (offset, infomask, infomask2) = (get.u16()?, get.u16()?, get.u16()?);
    let next = Tid::new(BlockNo(get.u32()?), get.u16()?);
    let xmax = if infomask & infomask::XMAX_IS_MULTI != 0 { Xid(get.u64()?) } else { xid };
    Ok(Stamp { offset, xmax, infomask, infomask2, cid: Some(0), next })
}

/// Logs row locks, those that are alike one behind the other; `xmax` is the record's xid unless it is a multixact.
pub(crate) fn put_row_locks(out: &mut Vec<u8>, locks: &[(RowLock, OffsetNo)]) {
    for alike in locks.chunk_by(|a, b| a.0 == b.0) {
        let lock = alike[0].0;
        out.u16(lock.infomask);
        out.u16(lock.infomask2);
        if lock.infomask & infomask::XMAX_IS_MULTI != 0 {
            out.u64(lock.xmax.0);
        }
        out.u16(alike.len() as u16);
        alike.iter().for_each(|&(_, n)| out.u16(n));
    }
}

pub(crate) fn get_row_locks(get: &mut Get<'_>, xid: Xid) -> OpResult<Vec<(RowLock, OffsetNo)>> {
    let mut locks = Vec::new();
    while !get.is_empty() {
        let (infomask, infomask2) = (get.u16()?, get.u16()?);
        let xmax = if infomask & infomask::XMAX_IS_MULTI != 0 { Xid(get.u64()?) } else { xid };
        let lock = RowLock { xmax, infomask, infomask2 };
        locks.extend(get.offsets()?.into_iter().map(|n| (lock, n)));
    }
    Ok(locks)
}

/// Which parts of a prune plan are logged: most plans have one or two.
mod prune_parts {
    pub const PRUNE_XID: u8 = 1;
    pub const REDIRECTED: u8 = 2;
    pub const DEAD: u8 = 4;
    pub const UNUSED: u8 = 8;
    pub const FROZEN: u8 = 16;
    pub const XMAX_CLEARED: u8 = 32;
    pub const XMAX_REPLACED: u8 = 64;
    /// No list: the page becomes all-visible.
    pub const VISIBLE: u8 = 128;
}

/// Logs a prune plan: the parts that there are, then those in their order, then the renewed lockers.
/// `visible`: the page becomes all-visible besides.
pub(crate) fn put_prune(out: &mut Vec<u8>, plan: &PrunePlan, visible: bool) {
    let lists = [
        (prune_parts::DEAD, &plan.dead),
        (prune_parts::UNUSED, &plan.unused),
        (prune_parts::FROZEN, &plan.frozen),
        (prune_parts::XMAX_CLEARED, &plan.xmax_cleared),
    ];
    let mut parts = if visible { prune_parts::VISIBLE } else { 0 };
    for (part, there) in [
        (prune_parts::PRUNE_XID, plan.prune_xid.is_valid()),
        (prune_parts::REDIRECTED, !plan.redirected.is_empty()),
        (prune_parts::XMAX_REPLACED, !plan.xmax_replaced.is_empty()),
    ]
    .into_iter()
    .chain(lists.map(|(part, list)| (part, !list.is_empty())))
    {
        parts |= if there { part } else { 0 };
    }
    out.u8(parts);
    if plan.prune_xid.is_valid() {
        out.u64(plan.prune_xid.0);
    }
    if !plan.redirected.is_empty() {
        out.u16(plan.redirected.len() as u16);
        for &(from, to) in &plan.redirected {
            out.u16(from);
            out.u16(to);
        }
    }
    lists.into_iter().filter(|(_, list)| !list.is_empty()).for_each(|(_, list)| out.set(list));
    if !plan.xmax_replaced.is_empty() {
        out.u16(plan.xmax_replaced.len() as u16);
        for &(n, updater) in &plan.xmax_replaced {
            out.u16(n);
            out.u64(updater.0);
        }
    }
    for new in &plan.xmax_renewed {
        out.u16(new.offset);
        out.u64(new.xmax.0);
        out.u16(new.infomask);
        out.u16(new.infomask2);
    }
}

/// The plan, and whether the page becomes all-visible.
pub(crate) fn get_prune(get: &mut Get<'_>) -> OpResult<(PrunePlan, bool)> {
    let parts = get.u8()?;
    let has = |part: u8| parts & part != 0;
    let mut plan = PrunePlan::default();
    if has(prune_parts::PRUNE_XID) {
        plan.prune_xid = Xid(get.u64()?);
    }
    if has(prune_parts::REDIRECTED) {
        let n = get.u16()?;
        plan.redirected = (0..n).map(|_| Ok((get.u16()?, get.u16()?))).collect::<OpResult<_>>()?;
    }
    for (part, list) in [
        (prune_parts::DEAD, &mut plan.dead),
        (prune_parts::UNUSED, &mut plan.unused),
        (prune_parts::FROZEN, &mut plan.frozen),
        (prune_parts::XMAX_CLEARED, &mut plan.xmax_cleared),
    ] {
        if has(part) {
            *list = get.set()?;
        }
    }
    if has(prune_parts::XMAX_REPLACED) {
        let n = get.u16()?;
        plan.xmax_replaced = (0..n).map(|_| Ok((get.u16()?, Xid(get.u64()?)))).collect::<OpResult<_>>()?;
    }
    while !get.is_empty() {
        let (offset, xmax) = (get.u16()?, Xid(get.u64()?));
        plan.xmax_renewed.push(RenewedXmax { offset, xmax, infomask: get.u16()?, infomask2: get.u16()? });
    }
    Ok((plan, has(prune_parts::VISIBLE)))
}

pub(crate) fn put_rebase(out: &mut Vec<u8>, plan: &RebasePlan) {
    out.u64(plan.bases.xid);
    out.u64(plan.bases.multi);
    for list in [&plan.frozen, &plan.xmin_aborted, &plan.xmax_cleared, &plan.xmax_frozen] {
        out.offsets(list);
    }
}

pub(crate) fn get_rebase(get: &mut Get<'_>) -> OpResult<RebasePlan> {
    Ok(RebasePlan {
        bases: Bases { xid: get.u64()?, multi: get.u64()? },
        frozen: get.offsets()?,
        xmin_aborted: get.offsets()?,
        xmax_cleared: get.offsets()?,
        xmax_frozen: get.offsets()?,
    })
}

/// The two bits of a heap page in the visibility map become `bits`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VmChange {
    /// The heap page.
    pub block: BlockNo,
    /// Its new bits.
    pub bits: u8,
}

pub(crate) fn put_vm(out: &mut Vec<u8>, change: VmChange) {
    out.u32(change.block.0);
    out.u8(change.bits);
}

pub(crate) fn get_vm(get: &mut Get<'_>) -> OpResult<VmChange> {
    Ok(VmChange { block: BlockNo(get.u32()?), bits: get.u8()? })
}
