//! Words that every layer uses: identifiers, SQLSTATEs, errors at the SQL boundary, the calendar, names of encodings, settings, stop points.
//!
//! Small and dull on purpose: whatever changes here rebuilds everything.
//!
//! Invariant: nothing here blocks, allocates much, or knows any other crate.

pub mod calendar;
mod decimal;
mod encoding;
pub mod error;
pub mod ids;
pub mod os;
mod prefetch;
pub mod settings;
pub mod sqlstate;
pub mod stop;

pub use decimal::{push_decimal, push_padded};
pub use encoding::Encoding;
pub use error::{Severity, SqlError, SqlResult};
pub use ids::{
    BlockNo, CommandId, Fork, Lsn, MultiXactId, OffsetNo, Oid, PAGE_SIZE, RelFile, SubxactId,
    TABLESPACE_VERSION, Tid, TimelineId, Xid, tablespace_folder,
};
pub use os::os_error;
pub use prefetch::{Lines, prefetch_line};
pub use sqlstate::SqlState;
