//! Decoding of records: the byte tables are in the [crate's documentation](crate).

use std::borrow::Cow;
use std::fmt;
use std::ops::{Deref, Range};

use base::{BlockNo, Fork, Lsn, Oid, PAGE_SIZE, RelFile, Xid};
use compress::Method;
use page::PageBytes;
use smallvec::SmallVec;

/// Bytes of a record's header, up to what has no fixed length.
pub(crate) const HEADER_SIZE: usize = 12;
/// Longest record that is accepted.
pub(crate) const MAX_RECORD: usize = 1 << 30;

/// Flags of a block reference. What is left is the number of the fork, in [`FORK_SHIFT`](ref_flags::FORK_SHIFT).
pub(crate) mod ref_flags {
    /// Redo initialises the page.
    pub const WILL_INIT: u8 = 1;
    /// An image follows.
    pub const IMAGE: u8 = 2;
    /// The relation is that of the reference before.
    pub const SAME_REL: u8 = 4;
    /// Place of the fork's number, of two bits.
    pub const FORK_SHIFT: u8 = 3;
    /// The length of the data takes two bytes.
    pub const LONG_DATA: u8 = 32;
    /// The tablespace is `pg_default` and left out.
    pub const DEFAULT_TABLESPACE: u8 = 64;
    /// The image is compressed.
    pub const COMPRESSED: u8 = 128;
}

/// A method's number in the log.
pub(crate) fn number_of(method: Method) -> u8 {
    match method {
        Method::Pglz => 1,
        Method::Lz4 => 2,
    }
}

/// The method with this number, if it is one's.
pub(crate) fn method_of(number: u8) -> Option<Method> {
    [Method::Pglz, Method::Lz4].into_iter().find(|&method| number_of(method) == number)
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
    /// GiST.
    Gist = 10,
    /// Hash indexes.
    Hash = 11,
    /// GIN.
    Gin = 12,
    /// BRIN.
    Brin = 13,
    /// HNSW.
    Hnsw = 14,
    /// SP-GiST.
    Spgist = 15,
    /// IVFFlat.
    Ivfflat = 16,
    /// Making of tablespaces.
    Tablespace = 17,
    /// What decoders of the log must know beside the rows of tables.
    Logical = 18,
}

impl Rmgr {
    /// Every resource manager, in order of its number.
    pub const ALL: [Rmgr; 19] = [
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
        Rmgr::Gist,
        Rmgr::Hash,
        Rmgr::Gin,
        Rmgr::Brin,
        Rmgr::Hnsw,
        Rmgr::Spgist,
        Rmgr::Ivfflat,
        Rmgr::Tablespace,
        Rmgr::Logical,
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
            Rmgr::Gist => "Gist",
            Rmgr::Hash => "Hash",
            Rmgr::Gin => "Gin",
            Rmgr::Brin => "BRIN",
            Rmgr::Hnsw => "HNSW",
            Rmgr::Spgist => "SPGist",
            Rmgr::Ivfflat => "IVFFlat",
            Rmgr::Tablespace => "Tablespace",
            Rmgr::Logical => "Logical",
        }
    }
}

/// Kinds of [`Rmgr::Xlog`] records (PostgreSQL's numbers).
pub mod xlog_info {
    /// Checkpoint with nothing after it.
    pub const CHECKPOINT_SHUTDOWN: u8 = 0x00;
    /// Checkpoint; its redo pointer is older.
    pub const CHECKPOINT_ONLINE: u8 = 0x10;
    /// The rest of the segment is left empty: the next record begins the next segment.
    pub const SWITCH: u8 = 0x40;
    /// A place with a name, to which recovery may go.
    pub const RESTORE_POINT: u8 = 0x70;
    /// A base backup that began at the redo point in the data is complete.
    pub const BACKUP_END: u8 = 0x50;
    /// OIDs up to the one in the data may have been given out.
    pub const NEXT_OID: u8 = 0x30;
    /// From here on pages are logged whole at their first change after a checkpoint, or are not: the data is 1 or 0.
    pub const FPW_CHANGE: u8 = 0x80;
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
    /// Its check sum is wrong: damaged, or left over in a recycled file, for the record's place is summed up too.
    Checksum,
    /// Its parts do not add up, or it names something unknown.
    Malformed,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Invalid::Empty => "expected a record, got 0 length",
            Invalid::Length => "invalid record length",
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
    rmgr: Rmgr,
    info: u8,
    blocks: usize,
    /// Bytes of the xid, and of the main data's length.
    widths: (usize, usize),
}

impl Header {
    /// The header at the front of a record.
    fn of(bytes: &[u8]) -> Result<Header, Invalid> {
        Header::decode(bytes.first_chunk().ok_or(Invalid::Length)?)
    }

    /// Checks lengths and numbers; not the check sum.
    pub fn decode(bytes: &[u8; HEADER_SIZE]) -> Result<Header, Invalid> {
        let total_length = u32_at(bytes, 0) as usize;
        if total_length == 0 {
            return Err(Invalid::Empty);
        }
        if !(HEADER_SIZE..=MAX_RECORD).contains(&total_length) {
            return Err(Invalid::Length);
        }
        let widths = ((bytes[11] & 15) as usize, (bytes[11] >> 4) as usize);
        if widths.0 > size_of::<u64>() || widths.1 > size_of::<u32>() {
            return Err(Invalid::Malformed);
        }
        Ok(Header {
            total_length,
            crc: u32_at(bytes, 4),
            rmgr: Rmgr::from_u8(bytes[8]).ok_or(Invalid::Malformed)?,
            info: bytes[9],
            blocks: bytes[10] as usize,
            widths,
        })
    }

    /// Whether the next record begins the next segment.
    pub fn is_switch(&self) -> bool {
        self.rmgr == Rmgr::Xlog && self.info == xlog_info::SWITCH
    }

    /// Whether bytes, which have this header, are a whole record that begins at `lsn`, by its length and check sum. What is in it is not looked at.
    pub fn check(&self, bytes: &[u8], lsn: Lsn) -> Result<(), Invalid> {
        if self.total_length != bytes.len() {
            return Err(Invalid::Length);
        }
        match finish_crc(crc32c::crc32c(&bytes[HEADER_SIZE..]), bytes, lsn) == self.crc {
            true => Ok(()),
            false => Err(Invalid::Checksum),
        }
    }
}

/// How many bytes a number takes without its upper ones that are zero.
pub fn byte_width(number: u64) -> usize {
    (u64::BITS - number.leading_zeros()).div_ceil(8) as usize
}

/// Check sum of a record: the body first, so that it can be computed before the place is known; then the header without the field
/// itself, and the place.
pub(crate) fn finish_crc(body: u32, header: &[u8], lsn: Lsn) -> u32 {
    let mut rest = [0; HEADER_SIZE + 4];
    rest[..4].copy_from_slice(&header[..4]);
    rest[4..8].copy_from_slice(&header[8..HEADER_SIZE]);
    rest[8..].copy_from_slice(&lsn.0.to_le_bytes());
    crc32c::crc32c_append(body, &rest)
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

/// A decoded record. It owns its bytes, or borrows them from a stretch of the log ([`RecordRef`]).
#[derive(Clone, Debug)]
pub struct Record<B = Box<[u8]>> {
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
    bytes: B,
    blocks: SmallVec<[Parsed; 2]>,
    data: Range<usize>,
}

/// A record whose bytes are somebody else's.
pub type RecordRef<'a> = Record<&'a [u8]>;

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
    /// As they are stored.
    bytes: Range<usize>,
    hole: Range<usize>,
    compressed: Option<Method>,
}

impl<B: Deref<Target = [u8]>> Record<B> {
    /// Decodes and checks a whole record that begins at `lsn`; `end` is where the next would begin.
    pub fn decode(bytes: B, lsn: Lsn, end: Lsn) -> Result<Record<B>, Invalid> {
        let header = Header::of(&bytes)?;
        header.check(&bytes, lsn)?;
        Record::assemble(bytes, header, lsn, end)
    }

    /// As [`decode`](Self::decode), of bytes that were [checked](Header::check) before.
    pub(crate) fn decode_checked(bytes: B, lsn: Lsn, end: Lsn) -> Result<Record<B>, Invalid> {
        let header = Header::of(&bytes)?;
        Record::assemble(bytes, header, lsn, end)
    }

    fn assemble(bytes: B, header: Header, lsn: Lsn, end: Lsn) -> Result<Record<B>, Invalid> {
        let (xid, blocks, data) = parse_body(&bytes, &header)?;
        let Header { rmgr, info, .. } = header;
        Ok(Record { lsn, end, xid, rmgr, info, bytes, blocks, data })
    }

    /// The same record, with these bytes.
    pub fn borrowed(&self) -> RecordRef<'_> {
        let Record { lsn, end, xid, rmgr, info, .. } = *self;
        Record {
            lsn,
            end,
            xid,
            rmgr,
            info,
            bytes: &self.bytes,
            blocks: self.blocks.clone(),
            data: self.data.clone(),
        }
    }

    /// Whether the next record begins the next segment.
    pub fn is_switch(&self) -> bool {
        self.rmgr == Rmgr::Xlog && self.info == xlog_info::SWITCH
    }

    /// The main data.
    pub fn data(&self) -> &[u8] {
        &self.bytes[self.data.clone()]
    }

    /// Bytes of the whole record.
    pub fn total_length(&self) -> usize {
        self.bytes.len()
    }

    /// Bytes of the images of pages among them.
    pub fn image_length(&self) -> usize {
        self.blocks().filter_map(|block| block.image).map(|image| image.stored_length()).sum()
    }

    /// Number of block references.
    pub fn block_count(&self) -> usize {
        self.blocks.len()
    }

    /// The `i`-th block reference.
    pub fn block(&self, i: usize) -> Option<BlockRef<'_>> {
        let parsed = self.blocks.get(i)?;
        let image =
            parsed.image.as_ref().map(|image| Image { bytes: &self.bytes[image.bytes.clone()], of: image });
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

    /// A number of `n` bytes, eight at most.
    #[inline]
    fn number(&mut self, n: usize) -> Result<u64, Invalid> {
        let taken = self.take(n)?;
        // A copy of a length that is not known here would cost more than all the rest.
        if let Some(eight) = self.bytes[taken.start..].first_chunk::<8>() {
            let unwanted = u64::BITS - 8 * n as u32;
            return Ok(u64::from_le_bytes(*eight) & u64::MAX.checked_shr(unwanted).unwrap_or(0));
        }
        let mut bytes = [0; 8];
        bytes[..n].copy_from_slice(&self.bytes[taken]);
        Ok(u64::from_le_bytes(bytes))
    }
}

/// What is behind the header: xid, blocks, main data.
type Body = (Xid, SmallVec<[Parsed; 2]>, Range<usize>);

fn parse_body(bytes: &[u8], header: &Header) -> Result<Body, Invalid> {
    let mut cursor = Cursor { bytes, at: HEADER_SIZE };
    let xid = Xid(cursor.number(header.widths.0)?);
    let data_length = cursor.number(header.widths.1)? as usize;
    let mut blocks: SmallVec<[Parsed; 2]> = SmallVec::new();
    let mut lengths: SmallVec<[(usize, usize); 2]> = SmallVec::new();
    for _ in 0..header.blocks {
        let (block, image_length, data_length) = parse_reference(&mut cursor, blocks.last())?;
        blocks.push(block);
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
    let data = cursor.take(data_length)?;
    if cursor.at != bytes.len() {
        return Err(Invalid::Malformed);
    }
    Ok((xid, blocks, data))
}

/// A reference behind `previous`, and the lengths of its image and data, which follow later.
fn parse_reference(
    cursor: &mut Cursor<'_>,
    previous: Option<&Parsed>,
) -> Result<(Parsed, usize, usize), Invalid> {
    let flags = cursor.number(1)? as u8;
    let has = |flag: u8| flags & flag != 0;
    let fork = Fork::from_u8(flags >> ref_flags::FORK_SHIFT & 3).ok_or(Invalid::Malformed)?;
    let data_length = cursor.number(if has(ref_flags::LONG_DATA) { 2 } else { 1 })? as usize;
    let block = BlockNo(cursor.number(4)? as u32);
    let rel = if has(ref_flags::SAME_REL) {
        previous.ok_or(Invalid::Malformed)?.rel
    } else {
        let tablespace = match has(ref_flags::DEFAULT_TABLESPACE) {
            true => Oid::PG_DEFAULT,
            false => Oid(cursor.number(4)? as u32),
        };
        let (database, number) = (Oid(cursor.number(4)? as u32), cursor.number(4)? as u32);
        RelFile { tablespace, database, number }
    };
    let (mut image, mut image_length) = (None, 0);
    if has(ref_flags::IMAGE) {
        let parsed;
        (parsed, image_length) = parse_image(cursor, has(ref_flags::COMPRESSED))?;
        image = Some(parsed);
    }
    let will_init = has(ref_flags::WILL_INIT);
    Ok((Parsed { rel, fork, block, will_init, image, data: 0..0 }, image_length, data_length))
}

/// What is said of an image, and how many bytes it takes.
fn parse_image(cursor: &mut Cursor<'_>, compressed: bool) -> Result<(ParsedImage, usize), Invalid> {
    let start = cursor.number(2)? as usize;
    let hole = start..start + cursor.number(2)? as usize;
    if hole.end > PAGE_SIZE {
        return Err(Invalid::Malformed);
    }
    let (mut method, mut length) = (None, PAGE_SIZE - hole.len());
    if compressed {
        method = Some(method_of(cursor.number(1)? as u8).ok_or(Invalid::Malformed)?);
        length = cursor.number(2)? as usize;
    }
    Ok((ParsedImage { bytes: 0..0, hole, compressed: method }, length))
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
    of: &'a ParsedImage,
}

impl Image<'_> {
    /// Writes the page as it was when the record was inserted (its LSN is older than the record). Nothing is written if the image cannot be
    /// decompressed.
    pub fn restore(&self, page: &mut PageBytes) -> Result<(), Invalid> {
        let hole = &self.of.hole;
        let plain = match self.of.compressed {
            None => Cow::Borrowed(self.bytes),
            Some(method) => compress::decompress(method, self.bytes, PAGE_SIZE - hole.len())
                .ok_or(Invalid::Malformed)?
                .into(),
        };
        let (head, tail) = plain.split_at(hole.start);
        page[..hole.start].copy_from_slice(head);
        page[hole.clone()].fill(0);
        page[hole.end..].copy_from_slice(tail);
        Ok(())
    }

    /// Bytes stored.
    pub fn stored_length(&self) -> usize {
        self.bytes.len()
    }

    /// Bytes of the page that are zeros and not stored.
    pub fn hole(&self) -> Range<usize> {
        self.of.hole.clone()
    }

    /// How they are compressed.
    pub fn compression(&self) -> Option<Method> {
        self.of.compressed
    }
}

/// Text for `waldump`: each resource manager's owner describes its records.
pub trait WalDescribe {
    /// PostgreSQL's name of the record's kind (`INSERT`, `COMMIT`).
    fn name(&self, record: &Record) -> &'static str;
    /// What it says, in one line.
    fn describe(&self, record: &Record, out: &mut dyn fmt::Write) -> fmt::Result;
}

/// Replays on a page what a record says of its block reference with this number: a pure function of page and record, of a page that
/// lacks the change, or of zeros if the record initialises the page.
pub type RedoBlock = fn(&mut PageBytes, &RecordRef<'_>, usize) -> Result<(), String>;

/// Who writes records of one kind: what recovery and `waldump` must know of them. Its crate declares it; the engine has the table of all.
#[derive(Clone, Copy)]
pub struct ResourceManager {
    /// Its number in records, and its name.
    pub id: Rmgr,
    /// How its records change pages; none if the pages of its records come as images only.
    pub redo_block: Option<RedoBlock>,
    /// What its records say.
    pub describe: &'static (dyn WalDescribe + Sync),
}

/// When a restore point was made, in microseconds since 2000-01-01 UTC, and its name; `None` if the record is none.
pub fn restore_point<B: Deref<Target = [u8]>>(record: &Record<B>) -> Option<(i64, &str)> {
    if record.rmgr != Rmgr::Xlog || record.info != xlog_info::RESTORE_POINT {
        return None;
    }
    let (time, name) = record.data().split_first_chunk()?;
    Some((i64::from_le_bytes(*time), std::str::from_utf8(name).ok()?))
}

/// The records of [`Rmgr::Xlog`].
pub struct XlogDescribe;

impl WalDescribe for XlogDescribe {
    fn name(&self, record: &Record) -> &'static str {
        match record.info {
            xlog_info::CHECKPOINT_SHUTDOWN => "CHECKPOINT_SHUTDOWN",
            xlog_info::CHECKPOINT_ONLINE => "CHECKPOINT_ONLINE",
            xlog_info::NEXT_OID => "NEXTOID",
            xlog_info::SWITCH => "SWITCH",
            xlog_info::RESTORE_POINT => "RESTORE_POINT",
            xlog_info::BACKUP_END => "BACKUP_END",
            xlog_info::FPW_CHANGE => "FPW_CHANGE",
            xlog_info::FPI_FOR_HINT => "FPI_FOR_HINT",
            xlog_info::FPI => "FPI",
            xlog_info::CHECKPOINT_REDO => "CHECKPOINT_REDO",
            _ => "UNKNOWN",
        }
    }

    fn describe(&self, record: &Record, out: &mut dyn fmt::Write) -> fmt::Result {
        match record.info {
            xlog_info::NEXT_OID if record.data().len() >= 4 => write!(out, "{}", u32_at(record.data(), 0)),
            xlog_info::RESTORE_POINT => match restore_point(record) {
                Some((_, name)) => out.write_str(name),
                None => Ok(()),
            },
            xlog_info::FPW_CHANGE => write!(out, "{}", record.data() == [1]),
            xlog_info::BACKUP_END if record.data().len() >= 8 => {
                write!(
                    out,
                    "{}",
                    Lsn(u64::from_le_bytes(record.data()[..8].try_into().expect("eight bytes")))
                )
            }
            _ => Ok(()),
        }
    }
}
