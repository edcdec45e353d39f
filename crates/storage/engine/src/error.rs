//! What can go wrong in storage as a whole.

use std::{fmt, io};

use base::os::{file_error, is_transient, os_error};
use base::{Lsn, SqlError, SqlState};

use crate::backup::Spoiled;
use crate::tablespace::Unusable;

/// A data directory could not be opened, or storage failed.
#[derive(Debug)]
pub enum EngineError {
    /// The operating system failed; what was tried, and its error.
    Io(String, io::Error),
    /// The control file is damaged.
    ControlFile(String),
    /// A map of the catalogs' files is damaged.
    Map(String),
    /// The data directory was made by another version.
    FormatVersion {
        /// Version found.
        found: u32,
        /// Version that this server reads.
        expected: u32,
    },
    /// The data directory exists and is not empty.
    NotEmpty(String),
    /// Another server uses the data directory.
    Locked(String),
    /// It was not shut down cleanly, and is only to be looked at.
    NotShutDown,
    /// The checkpoint that the control file names is not in the log.
    NoCheckpoint(Lsn),
    /// A record cannot be replayed.
    Redo {
        /// Start of the record.
        lsn: Lsn,
        /// Why not.
        reason: String,
    },
    /// The log ends before a record that is known to have been on disk.
    LogEnds {
        /// Where it ends.
        at: Lsn,
        /// So far it went.
        known: Lsn,
        /// Why it ends there.
        reason: String,
    },
    /// The log has a hole: something on disk behind it was written when all of it was there.
    LogHole {
        /// Where it begins: no valid record is there.
        at: Lsn,
        /// A valid record behind it.
        behind: Lsn,
        /// Why there is none where it begins.
        reason: String,
    },
    /// An archive cannot be recovered as it was asked for.
    NoRecovery {
        /// PostgreSQL's message.
        message: String,
        /// Its hint, if it has one.
        hint: String,
    },
    /// Recovery has come to its target, and the server is to stop there.
    ShutDownAtTarget,
    /// The server was told to stop while it recovered.
    Stopped,
    /// The history of a time line is damaged.
    History(wal::HistoryError),
    /// The log cannot be summarized, or a summary is damaged.
    Summary(String),
    /// What is not there yet, as a subject of a sentence in the plural.
    NotSupported(&'static str),
    /// No tablespace can be there.
    Location(String, Unusable),
    /// A backup of a standby is of no use.
    Backup(Spoiled),
    /// There are more replication slots than there may be.
    TooManySlots,
    /// The log cannot be decoded here, and why.
    Decoding(Lsn, String),
    /// A segment of the log is wanted that was removed.
    LogRemoved(String),
    /// The log failed; the server must stop.
    Wal(wal::WalError),
    /// A page could not be read or written.
    Buffer(buffer::BufferError),
    /// A relation file could not be made, read or removed.
    File(smgr::SmgrError),
    /// The transaction system failed.
    Txn(txn::TxnError),
    /// The session was told to stop what it does.
    Interrupted(runtime::Interrupt),
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EngineError::Io(what, error) => write!(f, "{what}: {}", os_error(error)),
            EngineError::ControlFile(why) => write!(f, "control file is damaged: {why}"),
            EngineError::Map(why) | EngineError::Summary(why) => f.write_str(why),
            EngineError::Backup(why) => f.write_str(why.message()),
            EngineError::FormatVersion { found, expected } => write!(
                f,
                "database files are incompatible with server: the data directory has format version {found}, this server reads {expected}"
            ),
            EngineError::NotEmpty(dir) => write!(f, "directory \"{dir}\" exists but is not empty"),
            EngineError::Locked(by) => f.write_str(by),
            EngineError::NotShutDown => f.write_str("cluster must be shut down"),
            EngineError::NoCheckpoint(lsn) => {
                write!(f, "could not locate a valid checkpoint record at {lsn}")
            }
            EngineError::Redo { lsn, reason } => {
                write!(f, "could not replay the WAL record at {lsn}: {reason}")
            }
            EngineError::LogEnds { at, known, reason } => {
                write!(f, "WAL ends at {at}, before the end of the checkpoint record at {known}: {reason}")
            }
            EngineError::LogHole { at, behind, reason } => {
                write!(f, "WAL has a hole at {at}, before the valid record at {behind}: {reason}")
            }
            EngineError::NoRecovery { message, .. } => f.write_str(message),
            EngineError::ShutDownAtTarget => f.write_str("shutdown at recovery target"),
            EngineError::Stopped => f.write_str("the server was told to stop"),
            EngineError::History(error) => write!(f, "{}: {}", error.message, error.hint),
            EngineError::NotSupported(what) => write!(f, "{what} are not supported yet"),
            EngineError::Location(location, why) => f.write_str(&why.message(location)),
            EngineError::TooManySlots => f.write_str("too many replication slots active before shutdown"),
            EngineError::Decoding(at, why) => write!(f, "could not decode the WAL at {at}: {why}"),
            EngineError::LogRemoved(name) => {
                write!(f, "requested WAL segment {name} has already been removed")
            }
            EngineError::Wal(error) => error.fmt(f),
            EngineError::Buffer(error) => error.fmt(f),
            EngineError::File(error) => error.fmt(f),
            EngineError::Txn(error) => error.fmt(f),
            EngineError::Interrupted(reason) => write!(f, "interrupted: {reason:?}"),
        }
    }
}

impl std::error::Error for EngineError {}

impl EngineError {
    /// Whether there was no room or no descriptor: what was tried may be tried again, and nothing is damaged.
    pub fn is_transient(&self) -> bool {
        match self {
            EngineError::Io(_, error) => is_transient(error),
            EngineError::Wal(error) => error.transient,
            EngineError::Buffer(error) => error.is_transient(),
            EngineError::File(error) => error.is_transient(),
            EngineError::Txn(error) => error.is_transient(),
            _ => false,
        }
    }
}

impl From<EngineError> for SqlError {
    fn from(error: EngineError) -> SqlError {
        match error {
            EngineError::Io(what, error) => {
                let message = format!("{what}: {}", os_error(&error));
                file_error(error.kind(), is_transient(&error), message)
            }
            error @ EngineError::NotSupported(_) => {
                SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, error.to_string())
            }
            EngineError::Location(location, why) => why.error(&location),
            EngineError::Backup(why) => {
                SqlError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, why.message()).hint(why.hint())
            }
            EngineError::Wal(error) => file_error(error.kind, error.transient, error.message),
            EngineError::Buffer(error) => error.into(),
            EngineError::File(error) => buffer::BufferError::File(error).into(),
            EngineError::Txn(error) => error.into(),
            EngineError::Interrupted(interrupt) => interrupt.into(),
            error @ EngineError::LogRemoved(_) => SqlError::new(SqlState::UNDEFINED_FILE, error.to_string()),
            error @ EngineError::Decoding(..) => SqlError::new(SqlState::DATA_CORRUPTED, error.to_string()),
            EngineError::Summary(why) => SqlError::new(SqlState::DATA_CORRUPTED, why),
            error => SqlError::new(SqlState::IO_ERROR, error.to_string()),
        }
    }
}

macro_rules! from {
    ($($from:ty => $variant:ident),*) => {
        $(impl From<$from> for EngineError {
            fn from(error: $from) -> EngineError {
                EngineError::$variant(error)
            }
        })*
    };
}

from!(wal::HistoryError => History, wal::WalError => Wal, buffer::BufferError => Buffer, smgr::SmgrError => File, txn::TxnError => Txn);
