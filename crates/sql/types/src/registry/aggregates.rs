//! `pg_aggregate`.

use super::Aggregate;

/// Every built-in aggregate, by OID.
pub static AGGREGATES: &[Aggregate] = &[];
