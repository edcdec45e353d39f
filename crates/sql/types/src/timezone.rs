//! Time zones: the tables of the IANA database and PostgreSQL's abbreviations.

use std::sync::Arc;

/// A time zone: the changes of its offset from UTC.
#[derive(Debug)]
pub struct TimeZone {
    name: String,
}

impl TimeZone {
    /// UTC.
    pub fn utc() -> Arc<TimeZone> {
        Arc::new(TimeZone { name: "UTC".into() })
    }

    /// The name it was looked up by, in the database's spelling.
    pub fn name(&self) -> &str {
        &self.name
    }
}
