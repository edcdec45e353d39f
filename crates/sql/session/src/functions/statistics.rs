//! Counters of tables, indexes, functions and databases. Those of the server as a whole are in `server_statistics`.

use base::settings::Setting;
use base::{Oid, SqlResult, sql_err};
use counters::{Database, Function, Relation};
use tuple::Datum;
use types::SessionFn;

use super::arg;
use crate::Session;

impl Session {
    pub(super) fn statistics_function(&self, id: SessionFn, args: &[Datum]) -> SqlResult<Option<Datum>> {
        use SessionFn as F;
        if let Some(value) = self.server_figure(id) {
            return Ok(Some(value));
        }
        if let Some(value) = self.reset_function(id, args)? {
            return Ok(Some(value));
        }
        Ok(Some(match id {
            F::PgStatClearSnapshot => {
                self.forget_seen_counters();
                Datum::text("")
            }
            // Nothing is kept back beyond the end of a transaction.
            F::PgStatForceNextFlush => Datum::text(""),
            F::PgStatGetSnapshotTimestamp => match self.seen_counters.borrow().get(&Oid::INVALID) {
                Some(_) => Datum::Int8(self.seen_at.get()),
                None => Datum::Null,
            },
            F::PgIndexamProgressPhasename => {
                let phase = build_step(Oid(arg(args, 0)), arg(args, 1));
                phase.map_or(Datum::Null, Datum::text)
            }
            F::PgStatHaveStats => self.have_statistics(arg(args, 0), Oid(arg(args, 1)), arg(args, 2))?,
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
                if let Some((figure, running)) = function_figure(other) {
                    let counted = match running {
                        true => self.pending.calls_of(object()),
                        false => self.instance.counters().function(self.catalog.database(), object()),
                    };
                    return Ok(Some(counted.map_or(Datum::Null, |counted| figure(&counted))));
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
        if consistency == "snapshot" && !seen.contains_key(&Oid::INVALID) {
            self.seen_at.set(runtime::wall_clock_micros());
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

    /// What is known of a database, its connected sessions' time included.
    fn counted_database(&self, database: Oid) -> Database {
        let mut counted = self.instance.counters().database(database);
        let now = runtime::wall_clock_micros();
        let connected = self.instance.sessions().list();
        let connected = connected.iter().filter(|backend| backend.database == database);
        counted.session_time += connected.map(|backend| now - backend.start.max(counted.reset)).sum::<i64>();
        counted
    }

    /// Whether there are counters of this kind for an object.
    fn have_statistics(&self, kind: &str, database: Oid, object: i64) -> SqlResult<Datum> {
        let counters = self.instance.counters();
        let oid = u32::try_from(object).map(Oid).unwrap_or_default();
        let kind = kind.to_ascii_lowercase();
        Ok(Datum::Bool(match kind.as_str() {
            "relation" => counters.relation(database, oid).is_some(),
            "function" => counters.function(database, oid).is_some(),
            "database" => counters.knows_database(database),
            "backend" => i32::try_from(object).is_ok_and(|pid| self.instance.sessions().get(pid).is_some()),
            "replslot" | "subscription" => false,
            "archiver" | "bgwriter" | "checkpointer" | "io" | "slru" | "wal" => true,
            _ => {
                return Err(sql_err!(INVALID_PARAMETER_VALUE, "invalid statistics kind: \"{kind}\""));
            }
        }))
    }
}

type Figure<T> = fn(&T) -> Datum;

pub(super) fn time(micros: i64) -> Datum {
    if micros == 0 { Datum::Null } else { Datum::Int8(micros) }
}

pub(super) fn millis(micros: i64) -> Datum {
    Datum::Float8(micros as f64 / 1000.0)
}

/// The figure of a relation that a function returns.
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
        F::PgStatGetLastAutovacuumTime => |r| time(r.last_autovacuum),
        F::PgStatGetLastAutoanalyzeTime => |r| time(r.last_autoanalyze),
        F::PgStatGetAutovacuumCount => |r| Datum::Int8(r.autovacuums),
        F::PgStatGetAutoanalyzeCount => |r| Datum::Int8(r.autoanalyzes),
        F::PgStatGetTotalAutovacuumTime => |r| millis(r.autovacuum_time),
        F::PgStatGetTotalAutoanalyzeTime => |r| millis(r.autoanalyze_time),
        _ => return None,
    })
}

/// The figure that a function returns of the running transaction's work on a relation.
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

/// The figure of a function that a function returns, and whether it covers the running transaction's calls only.
fn function_figure(id: SessionFn) -> Option<(Figure<Function>, bool)> {
    use SessionFn as F;
    let calls: Figure<Function> = |f| Datum::Int8(f.calls);
    let total: Figure<Function> = |f| millis(f.total);
    let own: Figure<Function> = |f| millis(f.own);
    Some(match id {
        F::PgStatGetFunctionCalls => (calls, false),
        F::PgStatGetFunctionTotalTime => (total, false),
        F::PgStatGetFunctionSelfTime => (own, false),
        F::PgStatGetXactFunctionCalls => (calls, true),
        F::PgStatGetXactFunctionTotalTime => (total, true),
        F::PgStatGetXactFunctionSelfTime => (own, true),
        _ => return None,
    })
}

/// The figure of a database that a function returns.
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
        F::PgStatGetDbDeadlocks => |d| Datum::Int8(d.deadlocks),
        F::PgStatGetDbSessionTime => |d| millis(d.session_time),
        F::PgStatGetDbActiveTime => |d| millis(d.active_time),
        F::PgStatGetDbIdleInTransactionTime => |d| millis(d.idle_in_transaction_time),
        F::PgStatGetDbSessionsAbandoned => |d| Datum::Int8(d.abandoned),
        F::PgStatGetDbSessionsFatal => |d| Datum::Int8(d.fatal),
        F::PgStatGetDbSessionsKilled => |d| Datum::Int8(d.killed),
        F::PgStatGetDbConflictAll => |d| Datum::Int8(d.conflicts_lock + d.conflicts_snapshot),
        F::PgStatGetDbConflictLock => |d| Datum::Int8(d.conflicts_lock),
        F::PgStatGetDbConflictSnapshot => |d| Datum::Int8(d.conflicts_snapshot),
        F::PgStatGetDbParallelWorkersToLaunch => |d| Datum::Int8(d.helpers_asked),
        F::PgStatGetDbParallelWorkersLaunched => |d| Datum::Int8(d.helpers_started),
        // Nothing of the kind conflicts with replay.
        F::PgStatGetDbConflictTablespace
        | F::PgStatGetDbConflictBufferpin
        | F::PgStatGetDbConflictStartupDeadlock
        | F::PgStatGetDbConflictLogicalslot => |_| Datum::Int8(0),
        F::PgStatGetDbChecksumFailures => |d| Datum::Int8(d.checksum_failures),
        F::PgStatGetDbChecksumLastFailure => |d| time(d.last_checksum_failure),
        F::PgStatGetDbBlkReadTime => |d| millis(d.read_time / 1000),
        F::PgStatGetDbBlkWriteTime => |d| millis(d.write_time / 1000),
        F::PgStatGetDbStatResetTime => |d| time(d.reset),
        _ => return None,
    })
}

/// What a step of building an index with this access method is called.
fn build_step(method: Oid, step: i64) -> Option<&'static str> {
    let step = usize::try_from(step).ok()?.checked_sub(1)?;
    engine::indexes::method(method)?.build_steps.get(step).copied()
}
