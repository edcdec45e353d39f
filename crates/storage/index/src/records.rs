//! How a method's log records are shown.

use std::fmt::{self, Write};

use wal::{Record, WalDescribe};

use crate::bytes::Check;

/// Names of a method's records and their details, as `pg_waldump` shows them.
#[derive(Clone, Copy, Debug)]
pub struct Records {
    /// Name of a record by its `info`.
    pub name: fn(u8) -> Option<&'static str>,
    /// Details of one that has a name.
    pub details: fn(&Record) -> Check<String>,
}

impl WalDescribe for Records {
    fn name(&self, record: &Record) -> &'static str {
        (self.name)(record.info).unwrap_or("UNKNOWN")
    }

    fn describe(&self, record: &Record, out: &mut dyn Write) -> fmt::Result {
        if (self.name)(record.info).is_none() {
            return write!(out, "info {}", record.info);
        }
        match (self.details)(record) {
            Ok(text) => out.write_str(&text),
            Err(what) => write!(out, "damaged: {what}"),
        }
    }
}
