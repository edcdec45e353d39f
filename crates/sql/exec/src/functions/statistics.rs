//! Counters: those that something counts, and those that begin at zero because nothing of their kind can happen yet.

use base::SqlResult;
use tuple::Datum;
use types::SessionFn;

use super::{Row, arg};
use crate::session::Session;

impl Session {
    pub(super) fn statistics_function(&self, id: SessionFn, args: &[Datum]) -> SqlResult<Option<Datum>> {
        use SessionFn as F;
        let pool = self.engine().pool().stats();
        let here = || arg::<u32>(args, 0) == self.catalog.database().0;
        Ok(Some(match id {
            F::PgStatGetBgwriterBufWrittenClean => Datum::Int8(pool.bgwriter_writes as i64),
            F::PgStatGetBgwriterMaxwrittenClean => Datum::Int8(pool.bgwriter_maxwritten as i64),
            F::PgStatGetBufAlloc => Datum::Int8((pool.reads + pool.extends) as i64),
            F::PgStatGetCheckpointerBuffersWritten => Datum::Int8(pool.checkpoint_writes as i64),
            // The pool counts for the server as a whole; the database asked from stands for all.
            F::PgStatGetDbBlocksFetched if here() => Datum::Int8((pool.hits + pool.reads) as i64),
            F::PgStatGetDbBlocksHit if here() => Datum::Int8(pool.hits as i64),
            F::PgStatGetDbBlocksFetched | F::PgStatGetDbBlocksHit => Datum::Int8(0),
            // There is no snapshot of counters to forget, and nothing is kept back from them.
            F::PgStatClearSnapshot | F::PgStatForceNextFlush => Datum::text(""),
            // There is no autovacuum yet.
            F::PgStatGetAutovacuumCount | F::PgStatGetAutoanalyzeCount => Datum::Int8(0),
            F::PgStatGetLastAutovacuumTime | F::PgStatGetLastAutoanalyzeTime => Datum::Null,
            _ => return Ok(None),
        }))
    }
}

pub(super) fn rows(id: SessionFn) -> Option<Vec<Row>> {
    match id {
        // Nothing can replicate yet.
        SessionFn::PgStatGetWalSenders | SessionFn::PgGetReplicationSlots => Some(Vec::new()),
        _ => None,
    }
}
