//! What can go wrong in an index.

use std::fmt;

use base::{BlockNo, RelFile, SqlError, SqlState, Tid};
use buffer::BufferError;

/// Failure of an index operation. The tree is consistent after any of them.
#[derive(Debug)]
pub enum BtreeError {
    /// Bytes on a page contradict the format or the tree's invariants.
    Corrupt {
        /// The index.
        rel: RelFile,
        /// The page.
        block: BlockNo,
        /// What is wrong.
        what: &'static str,
    },
    /// An entry does not fit: three must fit on a page.
    TooLarge {
        /// Size of the index row in bytes, aligned.
        size: usize,
        /// Largest size allowed.
        max: usize,
        /// The row that was to be entered.
        tid: Tid,
    },
    /// The page could not be had.
    Buffer(BufferError),
    /// The statement is to stop.
    Interrupted(runtime::Interrupt),
    /// A callback (liveness of a row, sorted input, heap check) failed.
    Callback(SqlError),
}

/// Result of index operations.
pub type BtreeResult<T> = Result<T, BtreeError>;

impl BtreeError {
    /// The error as a client sees it, for the index `index` of table `table`.
    pub fn into_sql(self, index: &str, table: &str) -> SqlError {
        match self {
            BtreeError::TooLarge { size, max, tid } => SqlError::new(
                SqlState::PROGRAM_LIMIT_EXCEEDED,
                format!("index row size {size} exceeds btree version 4 maximum {max} for index \"{index}\""),
            )
            .detail(format!("Index row references tuple {tid} in relation \"{table}\"."))
            .hint(
                "Values larger than 1/3 of a buffer page cannot be indexed.\n\
                 Consider a function index of an MD5 hash of the value, or use full text indexing.",
            ),
            BtreeError::Corrupt { rel, block, what } => SqlError::new(
                SqlState::INDEX_CORRUPTED,
                format!("index \"{index}\" contains corrupted page at block {block}: {what} (file {rel})"),
            )
            .hint("Please REINDEX it."),
            BtreeError::Callback(error) => error,
            BtreeError::Buffer(error) => error.into(),
            BtreeError::Interrupted(interrupt) => interrupt.into(),
        }
    }
}

impl fmt::Display for BtreeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BtreeError::Corrupt { rel, block, what } => write!(f, "index {rel}, block {block}: {what}"),
            BtreeError::TooLarge { size, max, .. } => {
                write!(f, "index row size {size} exceeds btree version 4 maximum {max}")
            }
            BtreeError::Buffer(error) => write!(f, "{error:?}"),
            BtreeError::Interrupted(reason) => write!(f, "interrupted: {reason:?}"),
            BtreeError::Callback(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for BtreeError {}

impl From<BufferError> for BtreeError {
    fn from(error: BufferError) -> BtreeError {
        BtreeError::Buffer(error)
    }
}

impl From<SqlError> for BtreeError {
    fn from(error: SqlError) -> BtreeError {
        BtreeError::Callback(error)
    }
}
