//! What records come to, for programs and functions that sum up a log.

use crate::Record;

/// How many records there are, and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Records.
    pub count: u64,
    /// Their bytes without images.
    pub record: u64,
    /// Bytes of their images.
    pub image: u64,
}

impl Figures {
    /// Those of one record.
    pub fn of(record: &Record) -> Figures {
        let image = record.image_length() as u64;
        Figures { count: 1, record: record.total_length() as u64 - image, image }
    }

    /// Counts others too.
    pub fn add(&mut self, other: Figures) {
        self.count += other.count;
        self.record += other.record;
        self.image += other.image;
    }

    /// All their bytes.
    pub fn combined(&self) -> u64 {
        self.record + self.image
    }
}
