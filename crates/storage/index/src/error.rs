//! What can go wrong in an index.

use std::fmt;

use base::{BlockNo, RelFile, SqlError, SqlState, Tid};
use buffer::BufferError;

/// Failure of an index operation. The index is consistent after any of them.
#[derive(Debug)]
pub enum IndexError {
    /// Bytes on a page contradict the format or the method's invariants.
    Corrupt {
        /// The index.
        rel: RelFile,
        /// The page.
        block: BlockNo,
        /// What is wrong.
        what: &'static str,
    },
    /// An entry does not fit.
    TooLarge {
        /// Name and version of the method's format (`btree version 4`); empty if messages do not tell it.
        format: &'static str,
        /// Size of the index row in bytes, aligned.
        size: usize,
        /// Largest size allowed.
        max: usize,
        /// The row that was to be entered.
        tid: Tid,
    },
    /// A summary does not fit on a page.
    SummaryTooLarge {
        /// Its size in bytes, aligned.
        size: usize,
        /// Largest size allowed.
        max: usize,
    },
    /// The page could not be had.
    Buffer(BufferError),
    /// The statement is to stop.
    Interrupted(runtime::Interrupt),
    /// The method has no such operation: the facts say so, and whoever asks for it nevertheless is told.
    Unsupported {
        /// Name of the method.
        method: &'static str,
        /// The operation.
        what: &'static str,
    },
    /// A callback (liveness of a row, sorted input, heap check) failed.
    Callback(SqlError),
}

/// Result of index operations.
pub type IndexResult<T> = Result<T, IndexError>;

impl IndexError {
    /// The error as a client sees it, for the index `index` of table `table`.
    pub fn into_sql(self, index: &str, table: &str) -> SqlError {
        match self {
            IndexError::TooLarge { format: "", size, max, .. } => SqlError::new(
                SqlState::PROGRAM_LIMIT_EXCEEDED,
                format!("index row size {size} exceeds maximum {max} for index \"{index}\""),
            ),
            IndexError::TooLarge { format, size, max, tid } => SqlError::new(
                SqlState::PROGRAM_LIMIT_EXCEEDED,
                format!("index row size {size} exceeds {format} maximum {max} for index \"{index}\""),
            )
            .detail(format!("Index row references tuple {tid} in relation \"{table}\"."))
            .hint(
                "Values larger than 1/3 of a buffer page cannot be indexed.\n\
                 Consider a function index of an MD5 hash of the value, or use full text indexing.",
            ),
            IndexError::SummaryTooLarge { size, max } => SqlError::new(
                SqlState::PROGRAM_LIMIT_EXCEEDED,
                format!("index row size {size} exceeds maximum {max} for index \"{index}\""),
            ),
            IndexError::Corrupt { rel, block, what } => SqlError::new(
                SqlState::INDEX_CORRUPTED,
                format!("index \"{index}\" contains corrupted page at block {block}: {what} (file {rel})"),
            )
            .hint("Please REINDEX it."),
            IndexError::Unsupported { method, what } => SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                format!("access method \"{method}\" does not support {what}"),
            ),
            IndexError::Callback(error) => error,
            IndexError::Buffer(error) => error.into(),
            IndexError::Interrupted(interrupt) => interrupt.into(),
        }
    }
}

impl fmt::Display for IndexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IndexError::Corrupt { rel, block, what } => write!(f, "index {rel}, block {block}: {what}"),
            IndexError::TooLarge { format, size, max, .. } => {
                write!(f, "index row size {size} exceeds {format} maximum {max}")
            }
            IndexError::SummaryTooLarge { size, max } => {
                write!(f, "index row size {size} exceeds maximum {max}")
            }
            IndexError::Unsupported { method, what } => {
                write!(f, "access method \"{method}\" does not support {what}")
            }
            IndexError::Buffer(error) => write!(f, "{error:?}"),
            IndexError::Interrupted(reason) => write!(f, "interrupted: {reason:?}"),
            IndexError::Callback(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for IndexError {}

impl From<BufferError> for IndexError {
    fn from(error: BufferError) -> IndexError {
        IndexError::Buffer(error)
    }
}

impl From<SqlError> for IndexError {
    fn from(error: SqlError) -> IndexError {
        IndexError::Callback(error)
    }
}
