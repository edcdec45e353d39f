//! A record being put together, and its bytes.

use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use base::{BlockNo, Fork, Lsn, Oid, PAGE_SIZE, RelFile, Xid};
use compress::Method;
use page::PageBytes;
use smallvec::SmallVec;

use crate::record::{HEADER_SIZE, MAX_RECORD, Rmgr, byte_width, finish_crc, method_of, number_of, ref_flags};

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

    /// Makes `bytes` the data of block reference `i`, which has none yet: many bytes are not copied.
    ///
    /// # Panics
    /// As [`RecordBuilder::block_data`].
    pub fn take_block_data(&mut self, i: usize, bytes: Vec<u8>) -> &mut Self {
        assert!(bytes.len() <= u16::MAX as usize, "too much block data in a WAL record");
        let data = &mut self.blocks[i].data;
        debug_assert!(data.is_empty(), "a block reference's data is taken once");
        *data = SmallVec::from_vec(bytes);
        self
    }

    /// Decides which pages need images under this redo pointer, and with that the record's length and body check sum.
    pub(crate) fn assemble(&self, redo: Lsn, images: ImageOptions) -> Assembled<'_, 'a> {
        let mut record = Assembled {
            builder: self,
            redo,
            length: 0,
            body_crc: 0,
            front: SmallVec::new(),
            blocks: SmallVec::new(),
        };
        let (xid, data_length) = (self.xid.0, self.data.len() as u64);
        record.front.extend_from_slice(&xid.to_le_bytes()[..byte_width(xid)]);
        record.front.extend_from_slice(&data_length.to_le_bytes()[..byte_width(data_length)]);
        let mut length = HEADER_SIZE + self.data.len();
        let mut previous = None;
        for block in &self.blocks {
            let options = block.options;
            let wanted = images.full_page_writes && !options.will_init && page::lsn(block.page) <= redo;
            let image = (!options.no_image && (options.force_image || wanted))
                .then(|| LoggedImage::of(block, images.compression));
            let keeps_data = image.is_none() || options.keep_data_with_image;
            length += image.as_ref().map_or(0, LoggedImage::stored_length);
            length += if keeps_data { block.data.len() } else { 0 };
            let logged = LoggedBlock { image, keeps_data };
            record.push_reference(block, &logged, previous == Some(block.rel));
            previous = Some(block.rel);
            record.blocks.push(logged);
        }
        record.length = length + record.front.len();
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

impl Hole {
    /// What is before and behind it.
    fn around(self, page: &PageBytes) -> [&[u8]; 2] {
        [&page[..self.start], &page[self.start + self.length..]]
    }
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

/// Which pages are logged whole, and how.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ImageOptions {
    pub full_page_writes: bool,
    pub compression: Option<Method>,
}

/// [`ImageOptions`] that may change under those who insert: bit 0, then the method's number.
#[derive(Debug)]
pub(crate) struct AtomicImageOptions {
    bits: AtomicU8,
    /// How many wish for whole pages whatever the setting.
    forced: AtomicU32,
}

impl AtomicImageOptions {
    pub fn new(options: ImageOptions) -> AtomicImageOptions {
        AtomicImageOptions { bits: AtomicU8::new(Self::bits(options)), forced: AtomicU32::new(0) }
    }

    fn bits(options: ImageOptions) -> u8 {
        u8::from(options.full_page_writes) | options.compression.map_or(0, number_of) << 1
    }

    // Relaxed: the next record is soon enough. Who reads the redo pointer first finds what was forced before that was set.
    pub fn load(&self) -> ImageOptions {
        let bits = self.bits.load(Ordering::Relaxed);
        let full_page_writes = bits & 1 != 0 || self.forced.load(Ordering::Relaxed) > 0;
        ImageOptions { full_page_writes, compression: method_of(bits >> 1) }
    }

    pub fn store(&self, options: ImageOptions) {
        self.bits.store(Self::bits(options), Ordering::Relaxed);
    }

    /// One more wishes for whole pages, or one fewer.
    pub fn force(&self, force: bool) {
        match force {
            true => self.forced.fetch_add(1, Ordering::SeqCst),
            false => self.forced.fetch_sub(1, Ordering::SeqCst),
        };
    }
}

struct LoggedImage {
    hole: Hole,
    compressed: Option<(Method, Vec<u8>)>,
}

impl LoggedImage {
    fn of(block: &Block<'_>, compression: Option<Method>) -> LoggedImage {
        let hole = hole_of(block);
        let compressed = compression.and_then(|method| {
            let mut plain = Vec::with_capacity(PAGE_SIZE);
            hole.around(block.page).iter().for_each(|part| plain.extend_from_slice(part));
            let mut out = Vec::new();
            // It must make up for the three bytes that say so.
            compress::compress(method, &plain, plain.len().checked_sub(4)?, &mut out)?;
            Some((method, out))
        });
        LoggedImage { hole, compressed }
    }

    fn stored_length(&self) -> usize {
        self.compressed.as_ref().map_or(PAGE_SIZE - self.hole.length, |(_, bytes)| bytes.len())
    }
}

struct LoggedBlock {
    image: Option<LoggedImage>,
    keeps_data: bool,
}

/// A record whose images are decided: only its place is missing.
pub(crate) struct Assembled<'r, 'a> {
    builder: &'r RecordBuilder<'a>,
    /// The redo pointer that the images were decided under.
    pub redo: Lsn,
    /// Bytes of the whole record.
    pub length: usize,
    body_crc: u32,
    /// What is between the header and the images.
    front: SmallVec<[u8; 128]>,
    blocks: SmallVec<[LoggedBlock; 4]>,
}

impl Assembled<'_, '_> {
    fn push_reference(&mut self, block: &Block<'_>, logged: &LoggedBlock, same_rel: bool) {
        let data_length = if logged.keeps_data { block.data.len() as u16 } else { 0 };
        let compressed = logged.image.as_ref().and_then(|image| image.compressed.as_ref());
        let in_default = block.rel.tablespace == Oid::PG_DEFAULT;
        let mut flags = (block.fork as u8) << ref_flags::FORK_SHIFT;
        for (flag, set) in [
            (ref_flags::WILL_INIT, block.options.will_init),
            (ref_flags::IMAGE, logged.image.is_some()),
            (ref_flags::SAME_REL, same_rel),
            (ref_flags::LONG_DATA, data_length > 0xff),
            (ref_flags::DEFAULT_TABLESPACE, in_default),
            (ref_flags::COMPRESSED, compressed.is_some()),
        ] {
            flags |= if set { flag } else { 0 };
        }
        let front = &mut self.front;
        front.push(flags);
        front.extend_from_slice(&data_length.to_le_bytes()[..if data_length > 0xff { 2 } else { 1 }]);
        front.extend_from_slice(&block.block.0.to_le_bytes());
        if !same_rel {
            if !in_default {
                front.extend_from_slice(&block.rel.tablespace.0.to_le_bytes());
            }
            front.extend_from_slice(&block.rel.database.0.to_le_bytes());
            front.extend_from_slice(&block.rel.number.to_le_bytes());
        }
        if let Some(LoggedImage { hole, .. }) = logged.image {
            front.extend_from_slice(&(hole.start as u16).to_le_bytes());
            front.extend_from_slice(&(hole.length as u16).to_le_bytes());
        }
        if let Some((method, bytes)) = compressed {
            front.push(number_of(*method));
            front.extend_from_slice(&(bytes.len() as u16).to_le_bytes());
        }
    }

    /// Number of images of pages.
    pub fn images(&self) -> usize {
        self.blocks.iter().filter(|logged| logged.image.is_some()).count()
    }

    /// Everything behind the header, piece by piece.
    pub fn for_each_body_part(&self, each: &mut dyn FnMut(&[u8])) {
        each(&self.front);
        for (block, logged) in self.builder.blocks.iter().zip(&self.blocks) {
            match &logged.image {
                Some(LoggedImage { compressed: Some((_, bytes)), .. }) => each(bytes),
                Some(image) => image.hole.around(block.page).into_iter().for_each(&mut *each),
                None => {}
            }
        }
        for (block, logged) in self.builder.blocks.iter().zip(&self.blocks) {
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
        header[8] = builder.rmgr as u8;
        header[9] = builder.info;
        header[10] = builder.blocks.len() as u8;
        header[11] = (byte_width(builder.xid.0) | byte_width(builder.data.len() as u64) << 4) as u8;
        let crc = finish_crc(self.body_crc, &header, lsn);
        header[4..8].copy_from_slice(&crc.to_le_bytes());
        header
    }
}
