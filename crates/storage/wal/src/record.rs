//! Decoding of records: the byte tables are in the [crate's documentation](crate).

use std::fmt;
use std::ops::Range;

use base::{BlockNo, Fork, Lsn, Oid, PAGE_SIZE, RelFile, Xid};
use page::PageBytes;
use smallvec::SmallVec;

/// Bytes of a record's header.
pub(crate) const HEADER_SIZE: usize = 32;
/// Longest record that is accepted.
pub(crate) const MAX_RECORD: usize = 1 << 30;
/// Bytes of a block reference without relation and image.
pub(crate) const REF_SIZE: usize = 8;
/// Bytes of a reference's relation.
pub(crate) const REF_REL_SIZE: usize = 12;
/// Bytes of a reference's image description.
pub(crate) const REF_IMAGE_SIZE: usize = 4;

/// Flags of a block reference.
pub(crate) mod ref_flags {
    /// Redo initialises the page.
    pub const WILL_INIT: u8 = 1;
    /// An image follows.
    pub const IMAGE: u8 = 2;
    /// The relation is that of the reference before.
    pub const SAME_REL: u8 = 4;
    /// Every flag that has a meaning.
    pub const ALL: u8 = WILL_INIT | IMAGE | SAME_REL;
}

/// Resource manager: who wrote the record and replays it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Rmgr {
    /// Checkpoints, full-page images: kinds in [`xlog_info`].
    Xlog = 0,
    /// Commit and abort.
    Xact = 1,
    /// Creation and truncation of relation files.
    Smgr = 2,
    /// Commit-log pages.
    Clog = 3,
    /// Heap, visibility map.
    Heap = 4,
    /// B-tree.
    Btree = 5,
    /// Sets of row lockers.
    Multixact = 6,
    /// Sequences.
    Sequence = 7,
    /// Running transactions and locks.
    Standby = 8,
    /// Making of databases.
    Database = 9,
}

impl Rmgr {
    /// Every resource manager, in order of its number.
    pub const ALL: [Rmgr; 10] = [
        Rmgr::Xlog,
        Rmgr::Xact,
        Rmgr::Smgr,
        Rmgr::Clog,
        Rmgr::Heap,
        Rmgr::Btree,
        Rmgr::Multixact,
        Rmgr::Sequence,
        Rmgr::Standby,
        Rmgr::Database,
    ];

    /// The resource manager with this number in records.
    pub fn from_u8(n: u8) -> Option<Rmgr> {
        Rmgr::ALL.get(n as usize).copied()
    }

    /// PostgreSQL's name (`Heap`, `Transaction`).
    pub fn name(self) -> &'static str {
        match self {
            Rmgr::Xlog => "XLOG",
            Rmgr::Xact => "Transaction",
            Rmgr::Smgr => "Storage",
            Rmgr::Clog => "CLOG",
            Rmgr::Heap => "Heap",
            Rmgr::Btree => "Btree",
            Rmgr::Multixact => "MultiXact",
            Rmgr::Sequence => "Sequence",
            Rmgr::Standby => "Standby",
            Rmgr::Database => "Database",
        }
    }
}

/// Kinds of [`Rmgr::Xlog`] records (PostgreSQL's numbers).
pub mod xlog_info {
    /// Checkpoint with nothing after it.
    pub const CHECKPOINT_SHUTDOWN: u8 = 0x00;
    /// Checkpoint; its redo pointer is older.
    pub const CHECKPOINT_ONLINE: u8 = 0x10;
    /// OIDs up to the one in the data may have been given out.
    pub const NEXT_OID: u8 = 0x30;
    /// Image of a page that only got a hint.
    pub const FPI_FOR_HINT: u8 = 0xA0;
    /// Images of pages.
    pub const FPI: u8 = 0xB0;
    /// Where the redo of a checkpoint starts.
    pub const CHECKPOINT_REDO: u8 = 0xE0;
}

/// Why bytes are no record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invalid {
    /// Zero length: nothing was written here.
    Empty,
    /// Shorter than a header or absurdly long.
    Length,
    /// It says that it belongs elsewhere: left over in a recycled file.
    Position,
    /// Its check sum is wrong.
    Checksum,
    /// Its parts do not add up, or it names something unknown.
    Malformed,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Invalid::Empty => "expected a record, got 0 length",
            Invalid::Length => "invalid record length",
            Invalid::Position => "record is of another position",
            Invalid::Checksum => "incorrect resource manager data checksum in record",
            Invalid::Malformed => "malformed record",
        })
    }
}

/// A header, checked as far as it can be without the rest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    pub total_length: usize,
    crc: u32,
    xid: Xid,
    rmgr: Rmgr,
    info: u8,
    blocks: usize,
    data_length: usize,
}

impl Header {
    /// Checks length, position and numbers; not the check sum.
    pub fn decode(bytes: &[u8; HEADER_SIZE], lsn: Lsn) -> Result<Header, Invalid> {
        let total_length = u32_at(bytes, 0) as usize;
        if total_length == 0 {
            return Err(Invalid::Empty);
        }
        if !(HEADER_SIZE..=MAX_RECORD).contains(&total_length) {
            return Err(Invalid::Length);
        }
        if u64_at(bytes, 8) != lsn.0 {
            return Err(Invalid::Position);
        }
        let rmgr = Rmgr::from_u8(bytes[24]).ok_or(Invalid::Malformed)?;
        Ok(Header {
            total_length,
            crc: u32_at(bytes, 4),
            xid: Xid(u64_at(bytes, 16)),
            rmgr,
            info: bytes[25],
            blocks: bytes[26] as usize,
            data_length: u32_at(bytes, 28) as usize,
        })
    }
}

/// Check sum of a record: the body first, so that it can be computed before the position is known; then the header
/// without the field itself.
pub(crate) fn finish_crc(body: u32, header: &[u8]) -> u32 {
    let crc = crc32c::crc32c_append(body, &header[..4]);
    crc32c::crc32c_append(crc, &header[8..HEADER_SIZE])
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(bytes[at..at + 2].try_into().expect("two bytes"))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

/// A decoded record; owns its bytes.
#[derive(Clone, Debug)]
pub struct Record {
    /// Where it begins.
    pub lsn: Lsn,
    /// Where the next one begins: the LSN stamped on the pages it changed.
    pub end: Lsn,
    /// The transaction that wrote it, or 0.
    pub xid: Xid,
    /// Who replays it.
    pub rmgr: Rmgr,
    /// Kind of record, in `rmgr`'s own terms.
    pub info: u8,
    bytes: Box<[u8]>,
    blocks: SmallVec<[Parsed; 2]>,
    data: Range<usize>,
}

/// Where the parts of a block reference lie in the record's bytes.
#[derive(Clone, Debug)]
struct Parsed {
    rel: RelFile,
    fork: Fork,
    block: BlockNo,
    will_init: bool,
    image: Option<ParsedImage>,
    data: Range<usize>,
}

#[derive(Clone, Debug)]
struct ParsedImage {
    bytes: Range<usize>,
    hole_start: usize,
}

impl Record {
    /// Decodes and checks a whole record that begins at `lsn`; `end` is where the next would begin.
    pub fn decode(bytes: Box<[u8]>, lsn: Lsn, end: Lsn) -> Result<Record, Invalid> {
        let head: &[u8; HEADER_SIZE] =
            bytes.get(..HEADER_SIZE).and_then(|b| b.try_into().ok()).ok_or(Invalid::Length)?;
        let header = Header::decode(head, lsn)?;
        if header.total_length != bytes.len() {
            return Err(Invalid::Length);
        }
        if finish_crc(crc32c::crc32c(&bytes[HEADER_SIZE..]), &bytes) != header.crc {
            return Err(Invalid::Checksum);
        }
        let (blocks, data) = parse_blocks(&bytes, &header)?;
        let Header { xid, rmgr, info, .. } = header;
        Ok(Record { lsn, end, xid, rmgr, info, bytes, blocks, data })
    }

    /// The main data.
    pub fn data(&self) -> &[u8] {
        &self.bytes[self.data.clone()]
    }

    /// Bytes of the whole record.
    pub fn total_length(&self) -> usize {
        self.bytes.len()
    }

    /// Number of block references.
    pub fn block_count(&self) -> usize {
        self.blocks.len()
    }

    /// The `i`-th block reference.
    pub fn block(&self, i: usize) -> Option<BlockRef<'_>> {
        let parsed = self.blocks.get(i)?;
        let image = parsed
            .image
            .as_ref()
            .map(|image| Image { bytes: &self.bytes[image.bytes.clone()], hole_start: image.hole_start });
        Some(BlockRef {
            rel: parsed.rel,
            fork: parsed.fork,
            block: parsed.block,
            image,
            data: &self.bytes[parsed.data.clone()],
            will_init: parsed.will_init,
        })
    }

    /// All block references, in order.
    pub fn blocks(&self) -> impl Iterator<Item = BlockRef<'_>> {
        (0..self.block_count()).filter_map(|i| self.block(i))
    }
}

/// Takes lengths off the front of what is left of a record.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    fn take(&mut self, n: usize) -> Result<Range<usize>, Invalid> {
        let end = self.at.checked_add(n).filter(|end| *end <= self.bytes.len()).ok_or(Invalid::Malformed)?;
        let range = self.at..end;
        self.at = end;
        Ok(range)
    }
}

fn parse_blocks(bytes: &[u8], header: &Header) -> Result<(SmallVec<[Parsed; 2]>, Range<usize>), Invalid> {
    let mut cursor = Cursor { bytes, at: HEADER_SIZE };
    let mut blocks: SmallVec<[Parsed; 2]> = SmallVec::new();
    let mut lengths: SmallVec<[(usize, usize); 2]> = SmallVec::new();
    for _ in 0..header.blocks {
        let at = cursor.take(REF_SIZE)?.start;
        let flags = bytes[at];
        if flags & !ref_flags::ALL != 0 {
            return Err(Invalid::Malformed);
        }
        let fork = Fork::from_u8(bytes[at + 1]).ok_or(Invalid::Malformed)?;
        let data_length = u16_at(bytes, at + 2) as usize;
        let block = BlockNo(u32_at(bytes, at + 4));
        let rel = if flags & ref_flags::SAME_REL != 0 {
            blocks.last().ok_or(Invalid::Malformed)?.rel
        } else {
            let at = cursor.take(REF_REL_SIZE)?.start;
            RelFile {
                tablespace: Oid(u32_at(bytes, at)),
                database: Oid(u32_at(bytes, at + 4)),
                number: u32_at(bytes, at + 8),
            }
        };
        let mut image_length = 0;
        let mut image = None;
        if flags & ref_flags::IMAGE != 0 {
            let at = cursor.take(REF_IMAGE_SIZE)?.start;
            let hole_start = u16_at(bytes, at) as usize;
            let hole_length = u16_at(bytes, at + 2) as usize;
            if hole_start + hole_length > PAGE_SIZE {
                return Err(Invalid::Malformed);
            }
            image_length = PAGE_SIZE - hole_length;
            image = Some(ParsedImage { bytes: 0..0, hole_start });
        }
        let will_init = flags & ref_flags::WILL_INIT != 0;
        blocks.push(Parsed { rel, fork, block, will_init, image, data: 0..0 });
        lengths.push((image_length, data_length));
    }
    for (block, (image_length, _)) in blocks.iter_mut().zip(&lengths) {
        if let Some(image) = &mut block.image {
            image.bytes = cursor.take(*image_length)?;
        }
    }
    for (block, (_, data_length)) in blocks.iter_mut().zip(&lengths) {
        block.data = cursor.take(*data_length)?;
    }
    let data = cursor.take(header.data_length)?;
    if cursor.at != bytes.len() {
        return Err(Invalid::Malformed);
    }
    Ok((blocks, data))
}

/// A page that a record changes.
#[derive(Clone, Copy, Debug)]
pub struct BlockRef<'a> {
    /// Relation.
    pub rel: RelFile,
    /// Fork.
    pub fork: Fork,
    /// Page.
    pub block: BlockNo,
    /// The whole page, if the record carries it.
    pub image: Option<Image<'a>>,
    /// What to change on the page; empty if an image makes it superfluous.
    pub data: &'a [u8],
    /// Redo builds the page from nothing.
    pub will_init: bool,
}

/// A page image without the hole between `lower` and `upper`.
#[derive(Clone, Copy, Debug)]
pub struct Image<'a> {
    bytes: &'a [u8],
    hole_start: usize,
}

impl Image<'_> {
    /// Writes the page as it was when the record was inserted (its LSN is older than the record).
    pub fn restore(&self, page: &mut PageBytes) {
        let tail = self.bytes.len() - self.hole_start;
        page[..self.hole_start].copy_from_slice(&self.bytes[..self.hole_start]);
        page[self.hole_start..PAGE_SIZE - tail].fill(0);
        page[PAGE_SIZE - tail..].copy_from_slice(&self.bytes[self.hole_start..]);
    }

    /// Bytes stored.
    pub fn stored_length(&self) -> usize {
        self.bytes.len()
    }
}

/// Text for `waldump`: each resource manager's owner describes its records.
pub trait WalDescribe {
    /// PostgreSQL's name of the record's kind (`INSERT`, `COMMIT`).
    fn name(&self, record: &Record) -> &'static str;
    /// What it says, in one line.
    fn describe(&self, record: &Record, out: &mut dyn fmt::Write) -> fmt::Result;
}

/// The records of [`Rmgr::Xlog`].
pub struct XlogDescribe;

impl WalDescribe for XlogDescribe {
    fn name(&self, record: &Record) -> &'static str {
        match record.info {
            xlog_info::CHECKPOINT_SHUTDOWN => "CHECKPOINT_SHUTDOWN",
            xlog_info::CHECKPOINT_ONLINE => "CHECKPOINT_ONLINE",
            xlog_info::NEXT_OID => "NEXTOID",
            xlog_info::FPI_FOR_HINT => "FPI_FOR_HINT",
            xlog_info::FPI => "FPI",
            xlog_info::CHECKPOINT_REDO => "CHECKPOINT_REDO",
            _ => "UNKNOWN",
        }
    }

    fn describe(&self, record: &Record, out: &mut dyn fmt::Write) -> fmt::Result {
        match record.info {
            xlog_info::NEXT_OID if record.data().len() >= 4 => write!(out, "{}", u32_at(record.data(), 0)),
            _ => Ok(()),
        }
    }
}
