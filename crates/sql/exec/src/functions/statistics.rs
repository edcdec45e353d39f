//! Counters: those that something counts, and those that begin at zero because nothing of their kind can happen yet.

use base::settings::Setting;
use base::{Oid, SqlResult};
use tuple::Datum;
use types::SessionFn;
use types::value::IntoDatum;

use super::{Row, arg};
use crate::counters::{Database, Relation};
use crate::session::Session;

impl Session {
    pub(super) fn statistics_function(&self, id: SessionFn, args: &[Datum]) -> SqlResult<Option<Datum>> {
        use SessionFn as F;
        let pool = || self.engine().pool().stats();
        Ok(Some(match id {
            F::PgStatGetBgwriterBufWrittenClean => Datum::Int8(pool().bgwriter_writes as i64),
            F::PgStatGetBgwriterMaxwrittenClean => Datum::Int8(pool().bgwriter_maxwritten as i64),
            F::PgStatGetBufAlloc => Datum::Int8((pool().reads + pool().extends) as i64),
            F::PgStatGetCheckpointerBuffersWritten => Datum::Int8(pool().checkpoint_writes as i64),
            F::PgStatClearSnapshot => {
                self.forget_seen_counters();
                Datum::text("")
            }
            // Nothing is kept back beyond the end of a transaction.
            F::PgStatForceNextFlush => Datum::text(""),
            F::PgStatReset => {
                self.instance.counters().reset(self.catalog.database(), self.format().statement_time);
                self.forget_seen_counters();
                Datum::text("")
            }
            F::PgStatResetSingleTableCounters => {
                let relation = Oid(arg::<u32>(args, 0));
                self.instance.counters().reset_relation(self.catalog.database(), relation);
                self.forget_seen_counters();
                Datum::text("")
            }
            // There is no autovacuum yet.
            F::PgStatGetAutovacuumCount | F::PgStatGetAutoanalyzeCount => Datum::Int8(0),
            F::PgStatGetTotalAutovacuumTime | F::PgStatGetTotalAutoanalyzeTime => Datum::Float8(0.0),
            F::PgStatGetLastAutovacuumTime | F::PgStatGetLastAutoanalyzeTime => Datum::Null,
            other => {
                let object = || Oid(arg::<u32>(args, 0));
                if let Some(figure) = relation_figure(other) {
                    return Ok(Some(figure(&self.counted(object()))));
                }
                if let Some(figure) = running_figure(other) {
                    return Ok(Some(figure(&self.pending.of(object()))));
                }
                if let Some(figure) = database_figure(other) {
                    return Ok(Some(figure(&self.counted_database(object()))));
                }
                return Ok(None);
            }
        }))
    }

    /// A transaction has ended, or wants to see anew.
    pub(crate) fn forget_seen_counters(&self) {
        if !self.seen_counters.borrow().is_empty() {
            self.seen_counters.take();
        }
    }

    /// What is known of a relation, as consistent as `stats_fetch_consistency` wants it.
    fn counted(&self, relation: Oid) -> Relation {
        let consistency = self.settings.borrow().text(Setting::stats_fetch_consistency).to_owned();
        let counters = self.instance.counters();
        let database = self.catalog.database();
        if consistency == "none" {
            return counters.relation(database, relation).unwrap_or_default();
        }
        let mut seen = self.seen_counters.borrow_mut();
        if consistency == "snapshot" && seen.is_empty() {
            *seen = counters.relations(database);
            // Marks the snapshot as taken, even if there is nothing in it.
            seen.entry(Oid::INVALID).or_default();
        }
        if consistency == "snapshot" {
            return seen.get(&relation).copied().unwrap_or_default();
        }
        let known = seen.entry(relation);
        *known.or_insert_with(|| counters.relation(database, relation).unwrap_or_default())
    }

    fn counted_database(&self, database: Oid) -> Database {
        self.instance.counters().database(database)
    }

    pub(super) fn statistics_rows(&self, id: SessionFn) -> SqlResult<Option<Vec<Row>>> {
        Ok(match id {
            // Nothing can replicate yet.
            SessionFn::PgStatGetWalSenders | SessionFn::PgGetReplicationSlots => Some(Vec::new()),
            SessionFn::PgStatGetWal => Some(vec![self.wal_row()?]),
            _ => None,
        })
    }

    /// The row of `pg_stat_wal`: what all sessions have logged.
    fn wal_row(&self) -> SqlResult<Row> {
        let sum = self.instance.counters().all_databases();
        let bytes = types::numeric::Numeric::from_i64(sum.wal_bytes).into_datum()?;
        Ok(vec![
            Datum::Int8(sum.wal_records),
            Datum::Int8(sum.wal_images),
            bytes,
            Datum::Int8(sum.wal_buffers_full),
            time(sum.reset),
        ])
    }
}

type Figure<T> = fn(&T) -> Datum;

fn time(micros: i64) -> Datum {
    if micros == 0 { Datum::Null } else { Datum::Int8(micros) }
}

fn millis(micros: i64) -> Datum {
    Datum::Float8(micros as f64 / 1000.0)
}

/// What a function tells of a relation.
fn relation_figure(id: SessionFn) -> Option<Figure<Relation>> {
    use SessionFn as F;
    Some(match id {
        F::PgStatGetNumscans => |r| Datum::Int8(r.scans),
        F::PgStatGetLastscan => |r| time(r.last_scan),
        F::PgStatGetTuplesReturned => |r| Datum::Int8(r.returned),
        F::PgStatGetTuplesFetched => |r| Datum::Int8(r.fetched),
        F::PgStatGetTuplesInserted => |r| Datum::Int8(r.inserted),
        F::PgStatGetTuplesUpdated => |r| Datum::Int8(r.updated),
        F::PgStatGetTuplesDeleted => |r| Datum::Int8(r.deleted),
        F::PgStatGetTuplesHotUpdated => |r| Datum::Int8(r.hot_updated),
        F::PgStatGetTuplesNewpageUpdated => |r| Datum::Int8(r.newpage_updated),
        F::PgStatGetLiveTuples => |r| Datum::Int8(r.live.max(0)),
        F::PgStatGetDeadTuples => |r| Datum::Int8(r.dead.max(0)),
        F::PgStatGetModSinceAnalyze => |r| Datum::Int8(r.changed),
        F::PgStatGetInsSinceVacuum => |r| Datum::Int8(r.inserted_since_vacuum),
        F::PgStatGetBlocksFetched => |r| Datum::Int8(r.blocks_hit + r.blocks_read),
        F::PgStatGetBlocksHit => |r| Datum::Int8(r.blocks_hit),
        F::PgStatGetLastVacuumTime => |r| time(r.last_vacuum),
        F::PgStatGetLastAnalyzeTime => |r| time(r.last_analyze),
        F::PgStatGetVacuumCount => |r| Datum::Int8(r.vacuums),
        F::PgStatGetAnalyzeCount => |r| Datum::Int8(r.analyzes),
        F::PgStatGetTotalVacuumTime => |r| millis(r.vacuum_time),
        F::PgStatGetTotalAnalyzeTime => |r| millis(r.analyze_time),
        _ => return None,
    })
}

/// What a function tells of the running transaction's work on a relation.
fn running_figure(id: SessionFn) -> Option<Figure<Relation>> {
    use SessionFn as F;
    Some(match id {
        F::PgStatGetXactNumscans => |r| Datum::Int8(r.scans),
        F::PgStatGetXactTuplesReturned => |r| Datum::Int8(r.returned),
        F::PgStatGetXactTuplesFetched => |r| Datum::Int8(r.fetched),
        F::PgStatGetXactTuplesInserted => |r| Datum::Int8(r.inserted),
        F::PgStatGetXactTuplesUpdated => |r| Datum::Int8(r.updated),
        F::PgStatGetXactTuplesDeleted => |r| Datum::Int8(r.deleted),
        F::PgStatGetXactTuplesHotUpdated => |r| Datum::Int8(r.hot_updated),
        F::PgStatGetXactTuplesNewpageUpdated => |r| Datum::Int8(r.newpage_updated),
        F::PgStatGetXactBlocksFetched => |r| Datum::Int8(r.blocks_hit + r.blocks_read),
        F::PgStatGetXactBlocksHit => |r| Datum::Int8(r.blocks_hit),
        _ => return None,
    })
}

/// What a function tells of a database.
fn database_figure(id: SessionFn) -> Option<Figure<Database>> {
    use SessionFn as F;
    Some(match id {
        F::PgStatGetDbXactCommit => |d| Datum::Int8(d.commits),
        F::PgStatGetDbXactRollback => |d| Datum::Int8(d.rollbacks),
        F::PgStatGetDbBlocksFetched => |d| Datum::Int8(d.blocks_hit + d.blocks_read),
        F::PgStatGetDbBlocksHit => |d| Datum::Int8(d.blocks_hit),
        F::PgStatGetDbTuplesReturned => |d| Datum::Int8(d.returned),
        F::PgStatGetDbTuplesFetched => |d| Datum::Int8(d.fetched),
        F::PgStatGetDbTuplesInserted => |d| Datum::Int8(d.inserted),
        F::PgStatGetDbTuplesUpdated => |d| Datum::Int8(d.updated),
        F::PgStatGetDbTuplesDeleted => |d| Datum::Int8(d.deleted),
        F::PgStatGetDbTempFiles => |d| Datum::Int8(d.temp_files),
        F::PgStatGetDbTempBytes => |d| Datum::Int8(d.temp_bytes),
        F::PgStatGetDbSessions => |d| Datum::Int8(d.sessions),
        F::PgStatGetDbBlkReadTime => |d| millis(d.read_time / 1000),
        F::PgStatGetDbBlkWriteTime => |d| millis(d.write_time / 1000),
        F::PgStatGetDbStatResetTime => |d| time(d.reset),
        _ => return None,
    })
}
