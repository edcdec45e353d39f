//! The write-ahead log: record format, parallel insertion, group commit, reading.

mod builder;
mod log;
mod reader;
mod record;

pub use builder::{BlockOptions, MAX_BLOCKS, RecordBuilder};
pub use log::{Wal, WalError, WalOptions, WalStart};
pub use reader::WalReader;
pub use record::{BlockRef, Image, Record, Rmgr, WalDescribe};
