//! Positions and LSNs.
//!
//! An LSN counts every byte of the log, segment headers included. Insertion counts only bytes that records may use
//! (*positions*), so that reserving is one addition; this module converts.

use base::{Lsn, TimelineId};

/// Bytes of a segment file's header.
pub(crate) const SEGMENT_HEADER: u64 = 64;
/// Records begin at multiples of this.
pub(crate) const ALIGN: u64 = 8;

/// The size of segments, and what follows from it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Geometry {
    segment_size: u64,
}

impl Geometry {
    pub fn new(segment_size: u64) -> Geometry {
        assert!(segment_size.is_power_of_two() && segment_size >= 4096, "segment size {segment_size}");
        Geometry { segment_size }
    }

    pub fn segment_size(self) -> u64 {
        self.segment_size
    }

    /// Bytes of a segment that records may use.
    pub fn usable(self) -> u64 {
        self.segment_size - SEGMENT_HEADER
    }

    /// The LSN of the byte at `position`; never within a segment header.
    pub fn lsn(self, position: u64) -> Lsn {
        let (segment, offset) = self.locate(position);
        Lsn(segment * self.segment_size + offset)
    }

    /// The position of the first record byte at or behind `lsn`.
    pub fn position(self, lsn: Lsn) -> u64 {
        let offset = lsn.0 & (self.segment_size - 1);
        self.segment_of(lsn) * self.usable() + offset.saturating_sub(SEGMENT_HEADER)
    }

    /// As an end is told to clients: one behind a segment that is full, or was left, is where the next one begins, before its header.
    pub fn told_end(self, end: Lsn) -> Lsn {
        let offset = end.0 & (self.segment_size - 1);
        if offset == SEGMENT_HEADER { Lsn(end.0 - SEGMENT_HEADER) } else { end }
    }

    /// Segment number and byte offset in its file.
    pub fn locate(self, position: u64) -> (u64, u64) {
        (position / self.usable(), position % self.usable() + SEGMENT_HEADER)
    }

    /// The position behind a record of so many bytes at `position`. `switch`: it has the rest of its segment.
    pub fn behind(self, position: u64, length: u64, switch: bool) -> u64 {
        let end = position + align(length);
        if switch { end.next_multiple_of(self.usable()) } else { end }
    }

    pub fn segment_of(self, lsn: Lsn) -> u64 {
        lsn.0 / self.segment_size
    }

    pub fn segment_start(self, segment: u64) -> Lsn {
        Lsn(segment * self.segment_size)
    }

    /// PostgreSQL's file name: time line, then upper and lower half of the number.
    pub fn file_name(self, timeline: TimelineId, segment: u64) -> String {
        let per_id = (1u64 << 32) / self.segment_size;
        format!("{:08X}{:08X}{:08X}", timeline.0, segment / per_id, segment % per_id)
    }

    /// Time line and number of the segment with this file name.
    pub fn parse_file_name(self, name: &str) -> Option<(TimelineId, u64)> {
        if !is_segment_name(name) {
            return None;
        }
        let per_id = (1u64 << 32) / self.segment_size;
        let part = |at: usize| u64::from_str_radix(&name[at..at + 8], 16).ok();
        let (timeline, high, low) = (part(0)?, part(8)?, part(16)?);
        (low < per_id).then_some((TimelineId(timeline as u32), high * per_id + low))
    }
}

/// Whether a file of this name is a segment, of whatever size.
pub fn is_segment_name(name: &str) -> bool {
    name.len() == 24 && name.bytes().all(|b| b.is_ascii_digit() || (b'A'..=b'F').contains(&b))
}

/// The name of the segment file that has the byte at `lsn`, on a time line, with segments of this size.
pub fn segment_file_name(timeline: TimelineId, lsn: Lsn, segment_size: u64) -> String {
    let geometry = Geometry::new(segment_size);
    geometry.file_name(timeline, geometry.segment_of(lsn))
}

/// Time line and first byte of the segment with this file name.
pub fn parse_segment_file_name(name: &str, segment_size: u64) -> Option<(TimelineId, Lsn)> {
    let geometry = Geometry::new(segment_size);
    let (timeline, segment) = geometry.parse_file_name(name)?;
    Some((timeline, geometry.segment_start(segment)))
}

/// The next multiple of [`ALIGN`].
pub(crate) fn align(n: u64) -> u64 {
    n.next_multiple_of(ALIGN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_and_lsns_are_inverse_and_skip_headers() {
        let geometry = Geometry::new(4096);
        for position in (0..40_000).step_by(8) {
            let lsn = geometry.lsn(position);
            assert!(lsn.0 % 4096 >= SEGMENT_HEADER);
            assert_eq!(geometry.position(lsn), position);
        }
        assert_eq!(geometry.position(Lsn(8192)), geometry.position(Lsn(8192 + SEGMENT_HEADER)));
        assert_eq!(geometry.told_end(Lsn(8192 + SEGMENT_HEADER)), Lsn(8192));
        assert_eq!(geometry.told_end(Lsn(8200 + SEGMENT_HEADER)), Lsn(8200 + SEGMENT_HEADER));
    }

    #[test]
    fn file_names_are_postgresqls() {
        let geometry = Geometry::new(16 << 20);
        let first = TimelineId::FIRST;
        assert_eq!(geometry.file_name(first, 1), "000000010000000000000001");
        assert_eq!(geometry.file_name(TimelineId(0xAB), 256 + 15), "000000AB000000010000000F");
        for segment in [0, 1, 255, 256, 70_000] {
            for timeline in [first, TimelineId(17)] {
                let name = geometry.file_name(timeline, segment);
                assert_eq!(geometry.parse_file_name(&name), Some((timeline, segment)));
            }
        }
        assert_eq!(geometry.parse_file_name("000000010000000000000100"), None);
        assert_eq!(geometry.parse_file_name("archive_status"), None);
    }
}
