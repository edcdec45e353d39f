//! A record being put together, and its bytes.

use base::{BlockNo, Fork, Lsn, PAGE_SIZE, RelFile, Xid};
use page::PageBytes;
use smallvec::SmallVec;

use crate::record::{
    HEADER_SIZE, MAX_RECORD, REF_IMAGE_SIZE, REF_REL_SIZE, REF_SIZE, Rmgr, finish_crc, ref_flags,
};

/// Most block references of a record.
pub const MAX_BLOCKS: usize = u8::MAX as usize;

/// How a block reference is logged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockOptions {
    /// Redo initialises the page, so no image is needed.
    pub will_init: bool,
    /// Keep the block's data beside an image (redo that needs it for something else than the page).
    pub keep_data_with_image: bool,
    /// Log an image whatever the redo pointer.
    pub force_image: bool,
    /// Never log an image (a fork that repairs itself, as the free-space map).
    pub no_image: bool,
}

struct Block<'a> {
    rel: RelFile,
    fork: Fork,
    block: BlockNo,
    options: BlockOptions,
    page: &'a PageBytes,
    data: SmallVec<[u8; 64]>,
}

/// A record being put together: main data, block references with their pages and data.
pub struct RecordBuilder<'a> {
    rmgr: Rmgr,
    info: u8,
    xid: Xid,
    blocks: SmallVec<[Block<'a>; 4]>,
    data: SmallVec<[u8; 128]>,
}

impl<'a> RecordBuilder<'a> {
    /// An empty record. `xid` is 0 outside transactions.
    pub fn new(rmgr: Rmgr, info: u8, xid: Xid) -> RecordBuilder<'a> {
        RecordBuilder { rmgr, info, xid, blocks: SmallVec::new(), data: SmallVec::new() }
    }

    /// Appends to the main data.
    pub fn data(&mut self, bytes: &[u8]) -> &mut Self {
        self.data.extend_from_slice(bytes);
        self
    }

    /// Adds a block reference; returns its index. `page` is the page as it is after the change, with the LSN that it had
    /// before: that decides about its image.
    ///
    /// # Panics
    /// At the 256th reference.
    pub fn block(
        &mut self,
        rel: RelFile,
        fork: Fork,
        block: BlockNo,
        options: BlockOptions,
        page: &'a PageBytes,
    ) -> usize {
        assert!(self.blocks.len() < MAX_BLOCKS, "too many block references in a WAL record");
        self.blocks.push(Block { rel, fork, block, options, page, data: SmallVec::new() });
        self.blocks.len() - 1
    }

    /// Appends to the data of block reference `i`.
    ///
    /// # Panics
    /// Beyond 65,535 bytes: more than a page's worth.
    pub fn block_data(&mut self, i: usize, bytes: &[u8]) -> &mut Self {
        let data = &mut self.blocks[i].data;
        data.extend_from_slice(bytes);
        assert!(data.len() <= u16::MAX as usize, "too much block data in a WAL record");
        self
    }

    /// Decides which pages need images under this redo pointer, and with that the record's length and body check sum.
    pub(crate) fn assemble(&self, redo: Lsn, full_page_writes: bool) -> Assembled<'_, 'a> {
        let mut record = Assembled {
            builder: self,
            redo,
            length: 0,
            body_crc: 0,
            refs: SmallVec::new(),
            images: SmallVec::new(),
        };
        let mut length = HEADER_SIZE + self.data.len();
        let mut previous = None;
        for block in &self.blocks {
            let options = block.options;
            let wanted = full_page_writes && !options.will_init && page::lsn(block.page) <= redo;
            let hole = (!options.no_image && (options.force_image || wanted)).then(|| hole_of(block));
            let keeps_data = hole.is_none() || options.keep_data_with_image;
            record.push_reference(block, hole, keeps_data, previous == Some(block.rel));
            previous = Some(block.rel);
            length += hole.map_or(0, |hole| PAGE_SIZE - hole.length);
            length += if keeps_data { block.data.len() } else { 0 };
            record.images.push(LoggedBlock { hole, keeps_data });
        }
        record.length = length + record.refs.len();
        assert!(record.length <= MAX_RECORD, "WAL record too long");
        let mut crc = 0;
        record.for_each_body_part(&mut |part| crc = crc32c::crc32c_append(crc, part));
        record.body_crc = crc;
        record
    }
}

/// The unused bytes of a page, which its image leaves out.
#[derive(Clone, Copy)]
struct Hole {
    start: usize,
    length: usize,
}

/// Pages of the maps keep their bits where other pages have the hole.
fn hole_of(block: &Block<'_>) -> Hole {
    let (lower, upper) = (page::lower(block.page), page::upper(block.page));
    if block.fork == Fork::Main && (page::HEADER_SIZE..upper).contains(&lower) && upper <= PAGE_SIZE {
        Hole { start: lower, length: upper - lower }
    } else {
        Hole { start: 0, length: 0 }
    }
}

struct LoggedBlock {
    hole: Option<Hole>,
    keeps_data: bool,
}

/// A record whose images are decided: only its position is missing.
pub(crate) struct Assembled<'r, 'a> {
    builder: &'r RecordBuilder<'a>,
    /// The redo pointer that the images were decided under.
    pub redo: Lsn,
    /// Bytes of the whole record.
    pub length: usize,
    body_crc: u32,
    refs: SmallVec<[u8; 128]>,
    images: SmallVec<[LoggedBlock; 4]>,
}

impl Assembled<'_, '_> {
    fn push_reference(&mut self, block: &Block<'_>, hole: Option<Hole>, keeps_data: bool, same_rel: bool) {
        let mut flags = 0;
        flags |= if block.options.will_init { ref_flags::WILL_INIT } else { 0 };
        flags |= if hole.is_some() { ref_flags::IMAGE } else { 0 };
        flags |= if same_rel { ref_flags::SAME_REL } else { 0 };
        let data_length = if keeps_data { block.data.len() as u16 } else { 0 };
        let mut fixed = [0; REF_SIZE];
        fixed[0] = flags;
        fixed[1] = block.fork as u8;
        fixed[2..4].copy_from_slice(&data_length.to_le_bytes());
        fixed[4..8].copy_from_slice(&block.block.0.to_le_bytes());
        self.refs.extend_from_slice(&fixed);
        if !same_rel {
            let mut rel = [0; REF_REL_SIZE];
            rel[0..4].copy_from_slice(&block.rel.tablespace.0.to_le_bytes());
            rel[4..8].copy_from_slice(&block.rel.database.0.to_le_bytes());
            rel[8..12].copy_from_slice(&block.rel.number.to_le_bytes());
            self.refs.extend_from_slice(&rel);
        }
        if let Some(hole) = hole {
            let mut image = [0; REF_IMAGE_SIZE];
            image[0..2].copy_from_slice(&(hole.start as u16).to_le_bytes());
            image[2..4].copy_from_slice(&(hole.length as u16).to_le_bytes());
            self.refs.extend_from_slice(&image);
        }
    }

    /// Number of images of pages.
    pub fn images(&self) -> usize {
        self.images.iter().filter(|logged| logged.hole.is_some()).count()
    }

    /// Everything behind the header, piece by piece.
    pub fn for_each_body_part(&self, each: &mut dyn FnMut(&[u8])) {
        each(&self.refs);
        for (block, logged) in self.builder.blocks.iter().zip(&self.images) {
            if let Some(hole) = logged.hole {
                each(&block.page[..hole.start]);
                each(&block.page[hole.start + hole.length..]);
            }
        }
        for (block, logged) in self.builder.blocks.iter().zip(&self.images) {
            if logged.keeps_data {
                each(&block.data);
            }
        }
        each(&self.builder.data);
    }

    /// The header of the record at `lsn`.
    pub fn header(&self, lsn: Lsn) -> [u8; HEADER_SIZE] {
        let builder = self.builder;
        let mut header = [0; HEADER_SIZE];
        header[0..4].copy_from_slice(&(self.length as u32).to_le_bytes());
        header[8..16].copy_from_slice(&lsn.0.to_le_bytes());
        header[16..24].copy_from_slice(&builder.xid.0.to_le_bytes());
        header[24] = builder.rmgr as u8;
        header[25] = builder.info;
        header[26] = builder.blocks.len() as u8;
        header[28..32].copy_from_slice(&(builder.data.len() as u32).to_le_bytes());
        let crc = finish_crc(self.body_crc, &header);
        header[4..8].copy_from_slice(&crc.to_le_bytes());
        header
    }
}
