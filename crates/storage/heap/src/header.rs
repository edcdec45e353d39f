//! # What
//! The header of a row version, and the page's bases that make its 32-bit xids 64 bits wide.
//!
//! # Layout
//! 23 bytes, then the null bitmap if some column is null, padded with zeros to a multiple of 8 (`hoff`), then the data. Little-endian.
//!
//! | byte | field | |
//! |---|---|---|
//! | 0 | `xmin` u32 | inserter |
//! | 4 | `xmax` u32 | deleter, updater or locker, or a multixact: the set of them |
//! | 8 | `cid` u32 | cmin, cmax, or number of a combo ([`crate::combo`]) |
//! | 12 | `ctid` block u32 | next version, or the tuple itself; a place that is none if the row went to another table |
//! | 16 | `ctid` offset u16 | |
//! | 18 | `infomask2` u16 | see [`infomask2`] |
//! | 20 | `infomask` u16 | see [`infomask`] |
//! | 22 | `hoff` u8 | start of the data |
//!
//! `xmin` and `xmax` on the page: 0 invalid, 1 bootstrap, 2 frozen (committed before anything that is running or will run), `n >= 3`:
//! the page's `xid_base + n`. A multixact in `xmax` is `multi_base + n`. The page's special area (16 bytes) is `xid_base` u64,
//! `multi_base` u64.
//!
//! # Invariants
//! 1. An xid or multixact is written to a page only if the page's base can express it ([`Bases::fits`], [`Bases::fits_multi`]).
//! 2. Tuples start at multiples of 8, so `infomask` lies at an even byte and a hint is one aligned 16-bit store.
//!
//! # PostgreSQL counterpart and differences
//! `htup_details.h`: same bits, same meaning, but 64-bit xids by page bases. [`infomask::XMAX_OVER_LOCK`] is ours.

use base::{BlockNo, MultiXactId, OffsetNo, PAGE_SIZE, Tid, Xid};
use page::PageBytes;
use txn::{LockStrength, MemberStatus};

use crate::row::TupleRef;

/// Bytes of the header before the null bitmap.
pub const HEADER_LEN: usize = 23;
/// Bytes of a heap page's special area.
pub const SPECIAL_LEN: usize = 16;
/// Most columns of a row: `infomask2` has 11 bits for their number; PostgreSQL's limit is lower.
pub const MAX_COLUMNS: usize = 1600;
/// Longest tuple.
pub const MAX_TUPLE: usize = PAGE_SIZE - page::HEADER_SIZE - SPECIAL_LEN - 8;
/// `ctid` of a version whose row an UPDATE put into another table, a partition: no place of a tuple, and it has no next version here.
pub(crate) const MOVED: Tid = Tid::new(BlockNo(u32::MAX), 0xfffd);
/// Most tuples on a page: each takes a line pointer and a padded header.
pub const MAX_TUPLES_PER_PAGE: usize = (PAGE_SIZE - page::HEADER_SIZE - SPECIAL_LEN) / (24 + 4);

const XMIN: usize = 0;
const XMAX: usize = 4;
const CID: usize = 8;
const CTID_BLOCK: usize = 12;
const CTID_OFFSET: usize = 16;
const INFOMASK2: usize = 18;
/// Where `infomask` is in a tuple: hints are set here.
pub(crate) const INFOMASK: usize = 20;
const HOFF: usize = 22;

/// Bits of `infomask`.
pub mod infomask {
    /// There is a null bitmap.
    pub const HAS_NULL: u16 = 0x0001;
    /// Some value is of variable length.
    pub const HAS_VARLENA: u16 = 0x0002;
    /// Some value is stored in the toast table.
    pub const HAS_EXTERNAL: u16 = 0x0004;
    /// `xmax` is a subtransaction that changed or locked a row on which an ancestor held a lock: should it alone be rolled back, the row
    /// stays locked by its top level, as `LOCK_BENEATH` of `infomask2` says.
    pub const XMAX_OVER_LOCK: u16 = 0x0008;
    /// `xmax` holds a key-shared lock (with `XMAX_EXCL_LOCK`: a shared one); of a multixact: the strongest member.
    pub const XMAX_KEYSHR_LOCK: u16 = 0x0010;
    /// `cid` is the number of a combo.
    pub const COMBO_CID: u16 = 0x0020;
    /// `xmax` holds an exclusive lock: FOR UPDATE if `KEYS_UPDATED`, else FOR NO KEY UPDATE.
    pub const XMAX_EXCL_LOCK: u16 = 0x0040;
    /// `xmax` only locked the tuple: it is neither updated nor deleted.
    pub const XMAX_LOCK_ONLY: u16 = 0x0080;
    /// Hint: `xmin` committed.
    pub const XMIN_COMMITTED: u16 = 0x0100;
    /// Hint: `xmin` aborted.
    pub const XMIN_INVALID: u16 = 0x0200;
    /// Both: not a hint. `xmin` committed and everybody sees it; the number in `xmin` is of historical interest.
    pub const XMIN_FROZEN: u16 = XMIN_COMMITTED | XMIN_INVALID;
    /// Hint: `xmax` committed.
    pub const XMAX_COMMITTED: u16 = 0x0400;
    /// Hint: there is no `xmax`, it aborted, or it only locked and has ended.
    pub const XMAX_INVALID: u16 = 0x0800;
    /// `xmax` is a multixact.
    pub const XMAX_IS_MULTI: u16 = 0x1000;
    /// An UPDATE wrote this version.
    pub const UPDATED: u16 = 0x2000;
    /// All that describes `xmax`.
    pub const XMAX_BITS: u16 = XMAX_COMMITTED
        | XMAX_INVALID
        | XMAX_IS_MULTI
        | XMAX_LOCK_ONLY
        | XMAX_KEYSHR_LOCK
        | XMAX_EXCL_LOCK
        | XMAX_OVER_LOCK;
    /// All hints: what two copies of a page may differ in.
    pub const HINTS: u16 = XMIN_COMMITTED | XMIN_INVALID | XMAX_COMMITTED | XMAX_INVALID;
}

/// Bits of `infomask2`.
pub mod infomask2 {
    /// Number of columns stored.
    pub const COLUMNS: u16 = 0x07ff;
    /// Strength of the lock beneath `XMAX_OVER_LOCK`.
    pub const LOCK_BENEATH: u16 = 0x1800;
    /// Where `LOCK_BENEATH` begins.
    pub const LOCK_BENEATH_SHIFT: u32 = 11;
    /// A DELETE, an UPDATE of key columns, or FOR UPDATE.
    pub const KEYS_UPDATED: u16 = 0x2000;
    /// The next version is on this page and has no index entries of its own.
    pub const HOT_UPDATED: u16 = 0x4000;
    /// This version has no index entries: it is reached through the chain.
    pub const HEAP_ONLY: u16 = 0x8000;
    /// All that describes `xmax`.
    pub const XMAX_BITS: u16 = LOCK_BENEATH | KEYS_UPDATED | HOT_UPDATED;
}

/// The bases of a page's 32-bit ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bases {
    /// Added to xids from 3 on.
    pub xid: u64,
    /// Added to multixact ids.
    pub multi: u64,
}

impl Bases {
    /// Bases of a new page, so that `xid` and as many as possible before and behind it fit.
    pub fn around(xid: Xid) -> Bases {
        Bases { xid: xid.0.saturating_sub(1 << 31), multi: 0 }
    }

    /// Base of a page so that `multi` and as many as possible before and behind it fit.
    pub fn multi_around(multi: MultiXactId) -> u64 {
        multi.0.saturating_sub(1 << 31)
    }

    /// The bases of a page.
    #[inline]
    pub fn of(page: &PageBytes) -> Bases {
        const AT: usize = PAGE_SIZE - SPECIAL_LEN;
        Bases { xid: read_u64(&page[AT..]), multi: read_u64(&page[AT + 8..]) }
    }

    /// Writes a page's bases.
    pub fn store(self, page: &mut PageBytes) {
        const AT: usize = PAGE_SIZE - SPECIAL_LEN;
        page[AT..AT + 8].copy_from_slice(&self.xid.to_le_bytes());
        page[AT + 8..].copy_from_slice(&self.multi.to_le_bytes());
    }

    /// Whether tuples of such a page can hold `xid`.
    #[inline]
    pub fn fits(self, xid: Xid) -> bool {
        !xid.is_normal() || (xid.0 >= self.xid + 3 && xid.0 - self.xid <= u32::MAX as u64)
    }

    /// Whether tuples of such a page can hold a multixact.
    #[inline]
    pub fn fits_multi(self, multi: MultiXactId) -> bool {
        multi.0 > self.multi && multi.0 - self.multi <= u32::MAX as u64
    }

    /// Whether tuples of such a page can hold this `xmax`.
    #[inline]
    pub fn fits_xmax(self, raw_xmax: Xid, infomask: u16) -> bool {
        match infomask & infomask::XMAX_IS_MULTI != 0 {
            true => self.fits_multi(MultiXactId(raw_xmax.0)),
            false => self.fits(raw_xmax),
        }
    }

    /// The 32 bits that stand for `xid`.
    #[inline]
    pub fn encode(self, xid: Xid) -> u32 {
        debug_assert!(self.fits(xid), "invariant 1: {xid} does not fit base {}", self.xid);
        if xid.is_normal() { (xid.0 - self.xid) as u32 } else { xid.0 as u32 }
    }

    /// The xid that 32 bits stand for.
    #[inline]
    pub fn decode(self, word: u32) -> Xid {
        if word >= 3 { Xid(self.xid + word as u64) } else { Xid(word as u64) }
    }
}

#[inline]
fn read_u64(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |chunk| u64::from_le_bytes(*chunk))
}

#[inline]
fn read_u32(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

#[inline]
fn read_u16(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

/// The bits of both masks that say what an `xmax` did.
pub(crate) fn status_bits(status: MemberStatus) -> (u16, u16) {
    use infomask::{XMAX_EXCL_LOCK, XMAX_KEYSHR_LOCK, XMAX_LOCK_ONLY};
    match status {
        MemberStatus::Locked(LockStrength::KeyShare) => (XMAX_LOCK_ONLY | XMAX_KEYSHR_LOCK, 0),
        MemberStatus::Locked(LockStrength::Share) => (XMAX_LOCK_ONLY | XMAX_KEYSHR_LOCK | XMAX_EXCL_LOCK, 0),
        MemberStatus::Locked(LockStrength::NoKeyUpdate) => (XMAX_LOCK_ONLY | XMAX_EXCL_LOCK, 0),
        MemberStatus::Locked(LockStrength::Update) => {
            (XMAX_LOCK_ONLY | XMAX_EXCL_LOCK, infomask2::KEYS_UPDATED)
        }
        MemberStatus::UpdatedNoKey => (0, 0),
        MemberStatus::Updated => (0, infomask2::KEYS_UPDATED),
    }
}

/// The bits of both masks for a lock of this strength beneath a subtransaction's `xmax`.
pub(crate) fn beneath_bits(strength: LockStrength) -> (u16, u16) {
    (infomask::XMAX_OVER_LOCK, (strength as u16) << infomask2::LOCK_BENEATH_SHIFT)
}

/// What a header says of the columns behind it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DataPlace {
    /// Start of the data.
    pub hoff: u16,
    /// There is a null bitmap.
    pub has_nulls: bool,
    /// Columns stored.
    pub columns: u16,
}

impl DataPlace {
    /// Of a tuple's bytes; `None` where [`Header::read`] would find no tuple.
    #[inline]
    pub(crate) fn read(bytes: &[u8]) -> Option<DataPlace> {
        let header: &[u8; HEADER_LEN] = bytes.first_chunk()?;
        let hoff = header[HOFF];
        if (hoff as usize) < HEADER_LEN || hoff as usize > bytes.len() || !hoff.is_multiple_of(8) {
            return None;
        }
        let has_nulls = read_u16(header, INFOMASK) & infomask::HAS_NULL != 0;
        let columns = read_u16(header, INFOMASK2) & infomask2::COLUMNS;
        Some(DataPlace { hoff: hoff.into(), has_nulls, columns })
    }
}

/// A header, read. Every field is copied: no reference to the page remains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Inserter as stored, whatever the hints say about it.
    pub raw_xmin: Xid,
    /// Deleter, updater or locker as stored; the number of a multixact if the flags say so ([`Header::multi`]).
    pub raw_xmax: Xid,
    /// Command id or combo number.
    pub cid: u32,
    /// Next version, or the tuple itself.
    pub ctid: Tid,
    /// See [`infomask2`].
    pub infomask2: u16,
    /// See [`infomask`].
    pub infomask: u16,
    /// Start of the data.
    pub hoff: u8,
}

impl Header {
    /// Reads a tuple's header; `None` if the bytes are no tuple.
    #[inline]
    pub fn read(bytes: &[u8], bases: Bases) -> Option<Header> {
        if bytes.len() < HEADER_LEN {
            return None;
        }
        let hoff = bytes[HOFF];
        if (hoff as usize) < HEADER_LEN || hoff as usize > bytes.len() || !hoff.is_multiple_of(8) {
            return None;
        }
        let infomask = read_u16(bytes, INFOMASK);
        let xmax = read_u32(bytes, XMAX);
        let raw_xmax = match infomask & infomask::XMAX_IS_MULTI != 0 {
            true => Xid(bases.multi + u64::from(xmax)),
            false => bases.decode(xmax),
        };
        Some(Header {
            raw_xmin: bases.decode(read_u32(bytes, XMIN)),
            raw_xmax,
            cid: read_u32(bytes, CID),
            ctid: Tid::new(BlockNo(read_u32(bytes, CTID_BLOCK)), read_u16(bytes, CTID_OFFSET)),
            infomask2: read_u16(bytes, INFOMASK2),
            infomask,
            hoff,
        })
    }

    /// Writes all fields. `bytes` is at least [`HEADER_LEN`] long and the ids fit `bases`.
    pub fn write(&self, bytes: &mut [u8], bases: Bases) {
        bytes[XMIN..XMIN + 4].copy_from_slice(&bases.encode(self.raw_xmin).to_le_bytes());
        let xmax = match self.multi() {
            Some(multi) => {
                debug_assert!(
                    bases.fits_multi(multi),
                    "invariant 1: {multi:?} does not fit base {}",
                    bases.multi
                );
                (multi.0 - bases.multi) as u32
            }
            None => bases.encode(self.raw_xmax),
        };
        bytes[XMAX..XMAX + 4].copy_from_slice(&xmax.to_le_bytes());
        bytes[CID..CID + 4].copy_from_slice(&self.cid.to_le_bytes());
        bytes[CTID_BLOCK..CTID_BLOCK + 4].copy_from_slice(&self.ctid.block.0.to_le_bytes());
        bytes[CTID_OFFSET..CTID_OFFSET + 2].copy_from_slice(&self.ctid.offset.to_le_bytes());
        bytes[INFOMASK2..INFOMASK2 + 2].copy_from_slice(&self.infomask2.to_le_bytes());
        bytes[INFOMASK..INFOMASK + 2].copy_from_slice(&self.infomask.to_le_bytes());
        bytes[HOFF] = self.hoff;
    }

    /// Whether all these bits of `infomask` are set.
    #[inline]
    pub fn has(&self, bits: u16) -> bool {
        self.infomask & bits == bits
    }

    /// Inserter; [`Xid::FROZEN`] if everybody sees it.
    #[inline]
    pub fn xmin(&self) -> Xid {
        if self.xmin_frozen() { Xid::FROZEN } else { self.raw_xmin }
    }

    /// Whether the inserter is visible to everybody.
    #[inline]
    pub fn xmin_frozen(&self) -> bool {
        self.has(infomask::XMIN_FROZEN) || !self.raw_xmin.is_normal() && self.raw_xmin.is_valid()
    }

    /// Whether a hint says that the inserter committed (or it is frozen).
    #[inline]
    pub fn xmin_hinted_committed(&self) -> bool {
        self.has(infomask::XMIN_COMMITTED) || self.xmin_frozen()
    }

    /// Whether a hint says that the inserter aborted.
    #[inline]
    pub fn xmin_hinted_aborted(&self) -> bool {
        self.infomask & infomask::XMIN_FROZEN == infomask::XMIN_INVALID
    }

    /// Whether something is known of the inserter's end.
    #[inline]
    pub(crate) fn has_xmin_hint(&self) -> bool {
        self.infomask & infomask::XMIN_FROZEN != 0 || !self.raw_xmin.is_normal()
    }

    /// Whether nobody updated, deleted or locked this version, as far as it tells.
    #[inline]
    pub fn xmax_invalid(&self) -> bool {
        self.has(infomask::XMAX_INVALID) || !self.raw_xmax.is_valid()
    }

    /// Whether `xmax` only locked.
    #[inline]
    pub fn lock_only(&self) -> bool {
        self.has(infomask::XMAX_LOCK_ONLY)
    }

    /// The multixact in `xmax`.
    #[inline]
    pub fn multi(&self) -> Option<MultiXactId> {
        self.has(infomask::XMAX_IS_MULTI).then_some(MultiXactId(self.raw_xmax.0))
    }

    /// What `xmax` did, of a multixact the most that one of its members did.
    pub fn xmax_status(&self) -> MemberStatus {
        let key = self.infomask2 & infomask2::KEYS_UPDATED != 0;
        if self.lock_only() {
            MemberStatus::Locked(self.strength())
        } else if key {
            MemberStatus::Updated
        } else {
            MemberStatus::UpdatedNoKey
        }
    }

    fn strength(&self) -> LockStrength {
        let key = self.infomask2 & infomask2::KEYS_UPDATED != 0;
        match (self.has(infomask::XMAX_EXCL_LOCK), self.has(infomask::XMAX_KEYSHR_LOCK)) {
            (true, true) => LockStrength::Share,
            (false, true) => LockStrength::KeyShare,
            _ if key => LockStrength::Update,
            _ => LockStrength::NoKeyUpdate,
        }
    }

    /// Strength of the lock that a subtransaction's `xmax` stands over.
    pub fn lock_beneath(&self) -> Option<LockStrength> {
        self.has(infomask::XMAX_OVER_LOCK).then_some(())?;
        Some(match self.infomask2 >> infomask2::LOCK_BENEATH_SHIFT & 3 {
            0 => LockStrength::KeyShare,
            1 => LockStrength::Share,
            2 => LockStrength::NoKeyUpdate,
            _ => LockStrength::Update,
        })
    }

    /// Whether the next version is on this page and shares this one's index entries.
    #[inline]
    pub fn is_hot_updated(&self) -> bool {
        self.infomask2 & infomask2::HOT_UPDATED != 0
            && !self.has(infomask::XMAX_INVALID)
            && !self.xmin_hinted_aborted()
    }

    /// Whether no index entry leads here.
    #[inline]
    pub fn is_heap_only(&self) -> bool {
        self.infomask2 & infomask2::HEAP_ONLY != 0
    }

    /// Number of columns stored.
    #[inline]
    pub fn columns(&self) -> usize {
        (self.infomask2 & infomask2::COLUMNS) as usize
    }
}

/// A tuple's header on a page.
#[inline]
pub fn read_header(page: &PageBytes, offset: OffsetNo) -> Option<Header> {
    Header::read(page::item(page, offset)?, Bases::of(page))
}

/// Builds the bytes of a new tuple with no xids yet: header, null bitmap, data.
pub fn form_tuple(
    layout: &tuple::RowLayout,
    values: &[tuple::Datum],
    out: &mut Vec<u8>,
) -> tuple::EncodedInfo {
    out.clear();
    append_tuple(layout, values, out)
}

/// As [`form_tuple`], behind what `out` has.
pub fn append_tuple(
    layout: &tuple::RowLayout,
    values: &[tuple::Datum],
    out: &mut Vec<u8>,
) -> tuple::EncodedInfo {
    let start = out.len();
    let has_nulls = values.iter().any(tuple::Datum::is_null);
    let bitmap = if has_nulls { tuple::bitmap_len(values.len()) } else { 0 };
    let hoff = page::align8(HEADER_LEN + bitmap);
    out.extend_from_slice(&[0; HEADER_LEN]);
    if has_nulls {
        tuple::encode_nulls(values, out);
    }
    out.resize(start + hoff, 0);
    let info = layout.encode(values, out);
    let mut mask = infomask::XMAX_INVALID;
    for (set, bit) in [
        (info.has_nulls, infomask::HAS_NULL),
        (info.has_varlena, infomask::HAS_VARLENA),
        (info.has_external, infomask::HAS_EXTERNAL),
    ] {
        if set {
            mask |= bit;
        }
    }
    let header = &mut out[start..start + HEADER_LEN];
    header[INFOMASK..INFOMASK + 2].copy_from_slice(&mask.to_le_bytes());
    header[INFOMASK2..INFOMASK2 + 2].copy_from_slice(&(values.len() as u16).to_le_bytes());
    header[HOFF] = hoff as u8;
    info
}

/// Appends a tuple with the columns of a row version, as [`append_tuple`] would form it: nothing else of the version goes with them.
pub(crate) fn append_copy(row: &TupleRef<'_>, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(row.bytes());
    let header = &mut out[start..start + HEADER_LEN];
    let kept = infomask::HAS_NULL | infomask::HAS_VARLENA | infomask::HAS_EXTERNAL;
    let mask = row.header().infomask & kept | infomask::XMAX_INVALID;
    header[..INFOMASK2].fill(0);
    header[INFOMASK2..INFOMASK2 + 2].copy_from_slice(&(row.columns() as u16).to_le_bytes());
    header[INFOMASK..INFOMASK + 2].copy_from_slice(&mask.to_le_bytes());
}

/// Writes what is known of a new version before it has a place: no `xmax`, and itself as the next one.
#[inline]
pub(crate) fn begin_version(tuple: &mut [u8], xmin: u32, cid: u32) {
    tuple[XMIN..XMIN + 4].copy_from_slice(&xmin.to_le_bytes());
    tuple[XMAX..XMAX + 4].fill(0);
    tuple[CID..CID + 4].copy_from_slice(&cid.to_le_bytes());
}

/// Writes the place of a new version.
#[inline]
pub(crate) fn place_version(tuple: &mut [u8], place: Tid) {
    tuple[CTID_BLOCK..CTID_BLOCK + 4].copy_from_slice(&place.block.0.to_le_bytes());
    tuple[CTID_OFFSET..CTID_OFFSET + 2].copy_from_slice(&place.offset.to_le_bytes());
}

/// Size of the tuple that [`form_tuple`] would build.
pub fn tuple_len(layout: &tuple::RowLayout, values: &[tuple::Datum]) -> usize {
    let has_nulls = values.iter().any(tuple::Datum::is_null);
    let bitmap = if has_nulls { tuple::bitmap_len(values.len()) } else { 0 };
    page::align8(HEADER_LEN + bitmap) + layout.encoded_len(values)
}
