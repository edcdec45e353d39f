//! Counters of the server as a whole: background writer, checkpoints, the log, SLRUs, I/O; and setting counters to zero.

use base::{Oid, SqlResult, sql_err};
use buffer::{BufferStats, IoKind};
use counters::{Group, SLRUS};
use runtime::usage::Account;
use tuple::Datum;
use types::SessionFn;
use types::numeric::Numeric;
use types::value::IntoDatum;

use super::statistics::{millis, time};
use super::{Row, arg};
use crate::{Instance, Session};

/// Bytes of a page.
const PAGE: i64 = base::PAGE_SIZE as i64;

impl Instance {
    /// What was counted of a group since the server started.
    fn counted_of(&self, group: Group) -> Vec<i64> {
        let pool = self.engine().pool().stats();
        match group {
            Group::Archiver => {
                let stats = self.engine().archiver_stats();
                vec![stats.done.count as i64, stats.failed.count as i64]
            }
            Group::RecoveryPrefetch => Vec::new(),
            Group::BackgroundWriter => {
                let (writer, sessions) = (pool.of(IoKind::BackgroundWriter), pool.sessions());
                let written =
                    [writer.writes, pool.bgwriter_maxwritten, sessions.read_pages + sessions.extends];
                written.map(|figure| figure as i64).to_vec()
            }
            Group::Checkpointer => {
                let totals = self.engine().checkpoint_totals();
                vec![
                    totals.timed as i64,
                    totals.requested as i64,
                    totals.done as i64,
                    totals.write.as_micros() as i64,
                    totals.sync.as_micros() as i64,
                    pool.of(IoKind::Checkpointer).writes as i64,
                    totals.slru_written as i64,
                ]
            }
            Group::Wal => {
                let sum = self.counters().all_databases();
                vec![sum.wal_records, sum.wal_images, sum.wal_bytes, sum.wal_buffers_full]
            }
            Group::Slru(number) => self.counted_of_slru(SLRUS[usize::from(number)]),
            Group::Io => self.counted_of_io(),
        }
    }

    /// Pages zeroed, hit, read, written, checked for existence; flushes; truncations.
    fn counted_of_slru(&self, name: &str) -> Vec<i64> {
        let [xact, multixact] = self.engine().txns().slru_stats();
        let hits = self.counters().all_databases();
        let (stats, hits) = match name {
            "transaction" => (xact, hits.xact_hits),
            // A set of lockers is one entry, with its members.
            "multixact_member" => (multixact, hits.multixact_hits),
            _ => return vec![0; 7],
        };
        let figure = |figure: u64| figure as i64;
        vec![
            figure(stats.zeroed),
            hits,
            figure(stats.read),
            figure(stats.written),
            0,
            figure(stats.flushes),
            figure(stats.truncates),
        ]
    }

    /// The figures of [`IO`], [`IO_FIGURES`] for each of its rows.
    fn counted_of_io(&self) -> Vec<i64> {
        let pool = self.engine().pool().stats();
        let mut all = Vec::with_capacity(IO.len() * IO_FIGURES);
        for row in &IO {
            all.extend(match row.source {
                IoSource::Pages(kind) => self.counted_pages(kind, &pool),
                IoSource::Log(account) => self.counted_log(account),
            });
        }
        all
    }

    fn counted_pages(&self, kind: IoKind, pool: &BufferStats) -> [i64; IO_FIGURES] {
        let io = pool.of(kind);
        let mut row = [0; IO_FIGURES];
        let pages = |count: u64| [count as i64, count as i64 * PAGE];
        row[..2].copy_from_slice(&[io.reads as i64, io.read_pages as i64 * PAGE]);
        row[2] = (io.read_time / 1000) as i64;
        row[3..5].copy_from_slice(&pages(io.writes));
        row[5] = (io.write_time / 1000) as i64;
        row[8..10].copy_from_slice(&pages(io.extends));
        (row[11], row[12], row[13]) = (io.hits as i64, io.evictions as i64, io.reuses as i64);
        if kind == IoKind::Checkpointer {
            let checkpoints = self.engine().checkpoint_totals();
            (row[14], row[15]) = (checkpoints.files as i64, checkpoints.sync.as_micros() as i64);
        }
        row
    }

    fn counted_log(&self, account: Account) -> [i64; IO_FIGURES] {
        let wal = self.engine().wal().stats(account);
        let mut row = [0; IO_FIGURES];
        (row[3], row[4], row[14]) = (wal.writes as i64, wal.bytes as i64, wal.syncs as i64);
        // Where a write syncs too, it is one step, and that takes its time.
        row[if wal.syncs > 0 { 15 } else { 5 }] = (wal.time / 1000) as i64;
        row
    }

    /// Writes all counters to the data directory, when the server stops.
    pub fn save_counters(&self) -> std::io::Result<()> {
        if let Some(statements) = self.statements() {
            statements.save(self.engine().dir())?;
        }
        let stats = self.engine().archiver_stats();
        let archived = [stats.done.last, stats.failed.last];
        self.counters().save(self.engine().dir(), |group| self.counted_of(group), archived)
    }
}

/// A row of `pg_stat_io`.
struct IoRow {
    backend: &'static str,
    object: &'static str,
    context: &'static str,
    source: IoSource,
}

/// Where its figures come from.
#[derive(Clone, Copy)]
enum IoSource {
    /// Pages of relations.
    Pages(IoKind),
    /// The log.
    Log(Account),
}

const fn pages(backend: &'static str, context: &'static str, kind: IoKind) -> IoRow {
    IoRow { backend, object: "relation", context, source: IoSource::Pages(kind) }
}

const fn log(backend: &'static str, account: Account) -> IoRow {
    IoRow { backend, object: "wal", context: "normal", source: IoSource::Log(account) }
}

/// The rows of `pg_stat_io`.
const IO: [IoRow; 17] = [
    pages("client backend", "bulkread", IoKind::BulkRead),
    pages("client backend", "bulkwrite", IoKind::BulkWrite),
    pages("client backend", "normal", IoKind::Normal),
    pages("client backend", "vacuum", IoKind::Vacuum),
    log("client backend", Account::Session),
    pages("autovacuum launcher", "bulkread", IoKind::LauncherBulkRead),
    pages("autovacuum launcher", "normal", IoKind::LauncherNormal),
    log("autovacuum launcher", Account::AutovacuumLauncher),
    pages("autovacuum worker", "bulkread", IoKind::WorkerBulkRead),
    pages("autovacuum worker", "normal", IoKind::WorkerNormal),
    pages("autovacuum worker", "vacuum", IoKind::WorkerVacuum),
    log("autovacuum worker", Account::AutovacuumWorker),
    pages("background writer", "normal", IoKind::BackgroundWriter),
    log("background writer", Account::BackgroundWriter),
    pages("checkpointer", "normal", IoKind::Checkpointer),
    log("checkpointer", Account::Checkpointer),
    log("walwriter", Account::WalWriter),
];

/// Of a row: reads, bytes, time; writes, bytes, time; writebacks, time; extends, bytes, time; hits; evictions; reuses; syncs, time.
const IO_FIGURES: usize = 16;

/// Whether a row of [`IO`] can have a figure. Nobody waits for write-backs, only checkpoints sync files of relations.
fn io_applies(source: IoSource, figure: usize) -> bool {
    match (source, figure) {
        (IoSource::Log(_), _) => matches!(figure, 3..=5 | 14 | 15),
        (IoSource::Pages(IoKind::Checkpointer), 14 | 15) => true,
        (IoSource::Pages(IoKind::Checkpointer | IoKind::BackgroundWriter), _) => matches!(figure, 3..=7),
        (IoSource::Pages(IoKind::BulkRead | IoKind::LauncherBulkRead | IoKind::WorkerBulkRead), 8..=10) => {
            false
        }
        (IoSource::Pages(IoKind::LauncherNormal), 8..=10 | 13) => false,
        (IoSource::Pages(IoKind::Normal | IoKind::WorkerNormal), 13) => false,
        (IoSource::Pages(_), _) => figure < 14,
    }
}

fn bytes(count: i64) -> SqlResult<Datum> {
    Numeric::from_i64(count).into_datum()
}

impl Session {
    /// A group's figures, and when they were last set to zero.
    fn figures_of(&self, group: Group) -> (Vec<i64>, Datum) {
        let shown = self.instance.counters().shown(group, self.instance.counted_of(group));
        (shown.figures, time(shown.reset))
    }

    /// A function of one figure.
    pub(super) fn server_figure(&self, id: SessionFn) -> Option<Datum> {
        use SessionFn as F;
        let (group, figure) = match id {
            F::PgStatGetBgwriterBufWrittenClean => (Group::BackgroundWriter, 0),
            F::PgStatGetBgwriterMaxwrittenClean => (Group::BackgroundWriter, 1),
            F::PgStatGetBufAlloc => (Group::BackgroundWriter, 2),
            F::PgStatGetBgwriterStatResetTime => return Some(self.figures_of(Group::BackgroundWriter).1),
            F::PgStatGetCheckpointerNumTimed => (Group::Checkpointer, 0),
            F::PgStatGetCheckpointerNumRequested => (Group::Checkpointer, 1),
            F::PgStatGetCheckpointerNumPerformed => (Group::Checkpointer, 2),
            F::PgStatGetCheckpointerWriteTime => (Group::Checkpointer, 3),
            F::PgStatGetCheckpointerSyncTime => (Group::Checkpointer, 4),
            F::PgStatGetCheckpointerBuffersWritten => (Group::Checkpointer, 5),
            F::PgStatGetCheckpointerSlruWritten => (Group::Checkpointer, 6),
            F::PgStatGetCheckpointerStatResetTime => return Some(self.figures_of(Group::Checkpointer).1),
            // Recovery takes no restart points.
            F::PgStatGetCheckpointerRestartpointsTimed
            | F::PgStatGetCheckpointerRestartpointsRequested
            | F::PgStatGetCheckpointerRestartpointsPerformed => return Some(Datum::Int8(0)),
            _ => return None,
        };
        let value = self.figures_of(group).0[figure];
        Some(match id {
            F::PgStatGetCheckpointerWriteTime | F::PgStatGetCheckpointerSyncTime => millis(value),
            _ => Datum::Int8(value),
        })
    }

    pub(super) fn statistics_rows(&self, id: SessionFn, args: &[Datum]) -> SqlResult<Option<Vec<Row>>> {
        use SessionFn as F;
        Ok(Some(match id {
            F::PgStatGetWalSenders => self.sender_rows()?,
            F::PgShowReplicationOriginStatus => self.origin_rows()?,
            F::PgStatGetSubscription => self.subscription_rows(args),
            // No memory is of one node, and no I/O is in flight behind a statement's back.
            F::PgGetAios | F::PgGetShmemAllocationsNuma => Vec::new(),
            F::PgGetShmemAllocations => memory_of_server(&self.engine().options()),
            F::PgGetBackendMemoryContexts => memory_of_session(),
            F::PgStatGetWalReceiver => vec![self.receiver_row()?],
            F::PgStatGetReplicationSlot => {
                let name = arg::<&str>(args, 0);
                let figures = self.engine().slots().find(name).map(|slot| slot.figures()).unwrap_or_default();
                let counts = [
                    figures.spilled_transactions,
                    figures.spills,
                    figures.spilled_bytes,
                    0,
                    0,
                    0,
                    figures.transactions,
                    figures.bytes,
                ];
                let mut row = vec![Datum::text(name)];
                row.extend(counts.map(|count| Datum::Int8(count as i64)));
                row.push(figures.since.map_or(Datum::Null, Datum::Int8));
                vec![row]
            }
            F::PgStatGetSubscriptionStats => {
                let counted = self.instance().subscribers().counted(Oid(arg(args, 0)));
                let mut row = vec![args[0].clone()];
                row.extend(counted.counts.map(Datum::Int8));
                row.push(counted.since.map_or(Datum::Null, Datum::Int8));
                vec![row]
            }
            F::PgStatGetWal => vec![self.wal_row()?],
            F::PgStatGetArchiver => {
                let (figures, reset) = self.figures_of(Group::Archiver);
                let stats = self.engine().archiver_stats();
                let mut row = Row::new();
                let before = self.instance().counters().last_archived();
                let own = [stats.done.last, stats.failed.last];
                for (count, (last, before)) in figures.into_iter().zip(own.into_iter().zip(before)) {
                    // What was before a reset is forgotten with it.
                    let last = last.or(before).filter(|_| count > 0);
                    let time = last.as_ref().map_or(Datum::Null, |(_, time)| Datum::Int8(*time));
                    let name = last.map_or(Datum::Null, |(name, _)| Datum::text(&name));
                    row.extend([Datum::Int8(count), name, time]);
                }
                row.push(reset);
                vec![row]
            }
            F::PgStatGetRecoveryPrefetch => {
                // Redo reads its pages when it needs them.
                let mut row = vec![self.figures_of(Group::RecoveryPrefetch).1];
                row.extend(std::iter::repeat_n(Datum::Int8(0), 6));
                row.extend(std::iter::repeat_n(Datum::Int4(0), 3));
                vec![row]
            }
            F::PgStatGetSlru => (0..SLRUS.len()).map(|number| self.slru_row(number)).collect(),
            F::PgStatGetIo => self.io_rows()?,
            F::PgGetWaitEvents => wait_events(),
            _ => return Ok(None),
        }))
    }

    /// The workers of subscriptions, or of one.
    fn subscription_rows(&self, args: &[Datum]) -> Vec<Row> {
        let wanted = match args.first() {
            Some(Datum::Oid(oid)) => Some(Oid(*oid)),
            _ => None,
        };
        let position = |lsn: base::Lsn| match lsn {
            base::Lsn::INVALID => Datum::Null,
            lsn => Datum::Int8(lsn.0 as i64),
        };
        let moment = |micros: Option<i64>| micros.map_or(Datum::Null, Datum::Int8);
        let workers = self.instance().subscribers().list().into_iter();
        let row = |(subscription, table, pid, seen): (Oid, Oid, i32, crate::subscription::Seen)| {
            let (sent, came) = seen.last_message.unzip();
            let (reported, asked) = seen.reported.unzip();
            let (table, kind) = match table.is_valid() {
                true => (Datum::Oid(table.0), "table synchronization"),
                false => (Datum::Null, "apply"),
            };
            vec![
                Datum::Oid(subscription.0),
                table,
                Datum::Int4(pid),
                Datum::Null,
                position(seen.received),
                moment(sent),
                moment(came),
                position(reported.unwrap_or_default()),
                moment(asked),
                Datum::text(kind),
            ]
        };
        workers.filter(|worker| wanted.is_none_or(|wanted| worker.0 == wanted)).map(row).collect()
    }

    /// Sets to zero what was counted of one subscription, or of all.
    fn reset_subscription_figures(&self, args: &[Datum]) -> SqlResult<()> {
        let all = match args.first() {
            Some(Datum::Oid(0)) => {
                return Err(sql_err!(INVALID_PARAMETER_VALUE, "invalid subscription OID 0"));
            }
            Some(Datum::Oid(oid)) => vec![Oid(*oid)],
            _ => self.with_reader(|reader| reader.all_subscriptions())?,
        };
        all.into_iter().for_each(|oid| self.instance().subscribers().reset(oid));
        Ok(())
    }

    /// The row of `pg_stat_wal`.
    fn wal_row(&self) -> SqlResult<Row> {
        let (figures, reset) = self.figures_of(Group::Wal);
        let [records, images, written, full] = figures[..] else { return Ok(Vec::new()) };
        Ok(vec![Datum::Int8(records), Datum::Int8(images), bytes(written)?, Datum::Int8(full), reset])
    }

    /// A row of `pg_stat_slru`.
    fn slru_row(&self, number: usize) -> Row {
        let (figures, reset) = self.figures_of(Group::Slru(number as u8));
        let mut row = vec![Datum::text(SLRUS[number])];
        row.extend(figures.into_iter().map(Datum::Int8));
        row.push(reset);
        row
    }

    /// The rows of `pg_stat_io`.
    fn io_rows(&self) -> SqlResult<Vec<Row>> {
        let (figures, reset) = self.figures_of(Group::Io);
        let mut rows = Vec::new();
        for (who, figures) in IO.iter().zip(figures.chunks(IO_FIGURES)) {
            let mut row = [who.backend, who.object, who.context].map(Datum::text).to_vec();
            for (number, figure) in figures.iter().enumerate() {
                row.push(match number {
                    _ if !io_applies(who.source, number) => Datum::Null,
                    1 | 4 | 9 => bytes(*figure)?,
                    2 | 5 | 7 | 10 | 15 => millis(*figure),
                    _ => Datum::Int8(*figure),
                });
            }
            row.push(reset.clone());
            rows.push(row);
        }
        Ok(rows)
    }

    /// Functions that set counters to zero.
    pub(super) fn reset_function(&self, id: SessionFn, args: &[Datum]) -> SqlResult<Option<Datum>> {
        use SessionFn as F;
        let (counters, database) = (self.instance.counters(), self.catalog.database());
        let object = || Oid(arg::<u32>(args, 0));
        let now = runtime::wall_clock_micros;
        match id {
            F::PgStatReset => counters.reset(database, now()),
            F::PgStatResetSingleTableCounters => counters.reset_relation(database, object(), now()),
            F::PgStatResetSingleFunctionCounters => counters.reset_function(database, object(), now()),
            F::PgStatResetShared => self.reset_groups(arg(args, 0))?,
            F::PgStatResetSlru => {
                let named = arg::<Option<&str>>(args, 0).map(slru_number);
                let wanted = |group| matches!(group, Group::Slru(n) if named.is_none_or(|named| n == named));
                Group::all().filter(|group| wanted(*group)).for_each(|group| self.reset_group(group));
            }
            // There are none, whichever is named.
            F::PgStatResetSubscriptionStats => self.reset_subscription_figures(args)?,
            F::PgStatResetReplicationSlot => {
                let slots = self.engine().slots();
                match arg::<Option<&str>>(args, 0) {
                    None => slots.list().iter().for_each(|slot| slot.reset_figures()),
                    Some(name) => slots
                        .find(name)
                        .ok_or_else(|| {
                            sql_err!(INVALID_PARAMETER_VALUE, "replication slot \"{name}\" does not exist")
                        })?
                        .reset_figures(),
                }
            }
            _ => return Ok(None),
        }
        self.forget_seen_counters();
        Ok(Some(Datum::text("")))
    }

    fn reset_group(&self, group: Group) {
        let counted = self.instance.counted_of(group);
        self.instance.counters().reset_group(group, counted, runtime::wall_clock_micros());
    }

    /// `pg_stat_reset_shared`: one kind of groups, or all.
    fn reset_groups(&self, target: Option<&str>) -> SqlResult<()> {
        let chosen: Vec<Group> =
            Group::all().filter(|group| target.is_none_or(|target| target == group.name())).collect();
        if let (Some(target), true) = (target, chosen.is_empty()) {
            return Err(sql_err!(INVALID_PARAMETER_VALUE, "unrecognized reset target: \"{target}\"").hint(
                "Target must be \"archiver\", \"bgwriter\", \"checkpointer\", \"io\", \"recovery_prefetch\", \"slru\", or \"wal\".",
            ));
        }
        chosen.into_iter().for_each(|group| self.reset_group(group));
        Ok(())
    }
}

/// The number of an SLRU; that of the others for a name that is not known.
fn slru_number(name: &str) -> u8 {
    SLRUS.iter().position(|known| *known == name).unwrap_or(SLRUS.len() - 1) as u8
}

/// What sessions and loops can be seen waiting for.
const WAITS: [(&str, &str, &str); 69] = [
    ("Activity", "ArchiverMain", "The archiver pauses until a file of the log is to be archived."),
    ("Activity", "BgwriterMain", "The background writer pauses between two rounds."),
    ("Activity", "CheckpointerMain", "The checkpointer pauses until a checkpoint may be due."),
    ("Activity", "WalSenderMain", "A sender of the log waits for more of it, or for word of its receiver."),
    ("Activity", "WalSummarizerWal", "The summarizer waits for more of the log."),
    ("Activity", "WalWriterMain", "The log writer pauses between two rounds."),
    (
        "BufferPin",
        "BufferPin",
        "The page is to be changed with nobody else at it, and others have not let go of it.",
    ),
    ("Client", "ClientRead", "The session has nothing to do until its client sends something."),
    ("Client", "ClientWrite", "The client does not take what was sent to it fast enough."),
    ("Client", "WalSenderWriteData", "A receiver does not take the log fast enough that was sent to it."),
    ("IO", "BasebackupRead", "A base backup reads a file."),
    ("IO", "BasebackupWrite", "A base backup writes a file beside the server."),
    ("IO", "BuffileRead", "A temporary file is read."),
    ("IO", "BuffileWrite", "A temporary file is written."),
    ("IO", "ControlFileSyncUpdate", "Another one writes the control file."),
    ("IO", "DataFileExtend", "A relation's file grows."),
    ("IO", "DataFileRead", "A page of a relation is read."),
    ("IO", "DataFileSync", "Files of relations are made durable."),
    ("IO", "DataFileWrite", "A page of a relation is written, to make room for another or for a checkpoint."),
    ("IO", "ReplicationSlotWrite", "The file of a replication slot is made durable."),
    ("IO", "SlruRead", "A page of the commit log or of the multixacts is read."),
    (
        "IO",
        "SlruSync",
        "Pages of the commit log or of the multixacts are made durable, or their files removed.",
    ),
    ("IO", "SlruWrite", "A page of the commit log or of the multixacts is written."),
    ("IO", "TwophaseFileSync", "The state of a prepared transaction is written or removed."),
    ("IO", "WalInitWrite", "A file is made for the log."),
    ("IO", "WalSummaryWrite", "A summary of the log is written."),
    ("IO", "WalSync", "The session writes the log and makes it durable, for all that wait for that."),
    (
        "IO",
        "WalWrite",
        "The session writes the log, which fsync does not make durable, or waits for room on the disk.",
    ),
    (
        "IPC",
        "ArchiveCleanupCommand",
        "The command runs that removes what is not needed any more from an archive.",
    ),
    ("IPC", "ArchiveCommand", "The command runs that archives a file of the log."),
    ("IPC", "BackendTermination", "A session waits until another one has ended."),
    ("IPC", "BackupWaitWalArchive", "A base backup waits until all the log that it needs is archived."),
    ("IPC", "BufferIo", "Another session reads or writes the page."),
    ("IPC", "CheckpointDone", "A checkpoint is under way, and must be over first."),
    ("IPC", "ProcarrayGroupUpdate", "The transaction commits, and one that comes before is not seen yet."),
    ("IPC", "RecoveryConflictSnapshot", "The replay waits for snapshots that need what the log removes."),
    ("IPC", "RecoveryEndCommand", "The command runs that was to run when recovery is over."),
    ("IPC", "RecoveryPause", "The replay is paused, until somebody lets it go on."),
    ("IPC", "ReplicationSlotDrop", "Another session uses the replication slot."),
    ("IPC", "RestoreCommand", "The command runs that brings a file of the log from an archive."),
    (
        "IPC",
        "SafeSnapshot",
        "A read-only transaction waits until serializable ones that write cannot make its snapshot unsafe.",
    ),
    ("IPC", "SyncRep", "The transaction has committed here, and waits for synchronous standbys."),
    (
        "IPC",
        "WalSummaryReady",
        "A base backup waits until all the log is summarized that it needs summaries of.",
    ),
    ("LWLock", "BufferContent", "Another session changes the page, or reads what is to be changed."),
    ("LWLock", "MultiXactGen", "Another session makes a page for new multixacts."),
    ("LWLock", "MultiXactMemberSLRU", "Another session changes which pages of the multixacts are in memory."),
    ("LWLock", "OidGen", "Another session takes new OIDs."),
    ("LWLock", "RelationMapping", "The files of a system catalog change."),
    ("LWLock", "ReplicationSlotAllocation", "Another session makes or removes a replication slot."),
    ("LWLock", "TwoPhaseState", "A prepared transaction changes hands."),
    ("LWLock", "WALInsert", "Another session copies a record into the log's buffer."),
    ("LWLock", "WALWrite", "Another session writes the log, this session's records among it."),
    ("LWLock", "WrapLimitsVacuum", "Another session removes what old transactions have left."),
    ("LWLock", "XactSLRU", "Another session changes which pages of the commit log are in memory."),
    ("LWLock", "XidGen", "Another session makes a page of the commit log for new transactions."),
    ("Lock", "advisory", "Another session has an advisory lock that conflicts."),
    ("Lock", "extend", "Another session makes a relation longer."),
    ("Lock", "object", "Another session has a conflicting lock on an object that is no relation."),
    ("Lock", "page", "Another session has a conflicting lock on a page of a relation."),
    ("Lock", "relation", "Another session has a conflicting lock on a relation."),
    ("Lock", "spectoken", "Another session has put in a row that it may take back at once."),
    ("Lock", "transactionid", "A transaction that has an identifier must end first."),
    ("Lock", "tuple", "Another session has a conflicting lock on a row."),
    ("Lock", "virtualxid", "A transaction, with or without an identifier, must end first."),
    ("Timeout", "BaseBackupThrottle", "A base backup keeps to the rate that it was told."),
    ("Timeout", "CheckpointWriteDelay", "A checkpoint spreads its writes over time."),
    ("Timeout", "PgSleep", "The session called pg_sleep or one of its like."),
    ("Timeout", "VacuumDelay", "A VACUUM or ANALYZE that has used its cost limit pauses."),
    ("Timeout", "VacuumTruncate", "A VACUUM wants to cut the empty end of a table that others have locked."),
];

fn wait_events() -> Vec<Row> {
    let row = |(kind, name, what): (&str, &str, &str)| {
        vec![Datum::text(kind), Datum::text(name), Datum::text(what)]
    };
    WAITS.into_iter().map(row).collect()
}

/// What the session has, in two contexts: what it had before its statement began, and what the statement has taken since.
fn memory_of_session() -> Vec<Row> {
    let held = runtime::memory::held();
    let context = |name, path: &[i32], bytes: usize| {
        let bytes = Datum::Int8(bytes as i64);
        let level = Datum::Int4(path.len() as i32);
        let path = types::array::from_int4s(path);
        let zero = Datum::Int8(0);
        let kind = Datum::text("AllocSet");
        let blocks = Datum::Int8(1);
        let row = [
            Datum::text(name),
            Datum::Null,
            kind,
            level,
            path,
            bytes.clone(),
            blocks,
            zero.clone(),
            zero,
            bytes,
        ];
        row.to_vec()
    };
    let before = held.session - held.statement;
    vec![context("TopMemoryContext", &[1], before), context("MessageContext", &[1, 2], held.statement)]
}

/// What all sessions share: the pool, the log's buffer, what caches of transactions may grow to, all that is allocated, and, without a name, what the
/// limit leaves.
fn memory_of_server(options: &engine::EngineOptions) -> Vec<Row> {
    let (total, mapped) = (runtime::memory::total(), runtime::memory::total_mapped());
    let part = |name, bytes: usize| {
        let bytes = Datum::Int8(bytes as i64);
        vec![name, Datum::Null, bytes.clone(), bytes]
    };
    let mut rows = vec![
        part(Datum::text("Buffer Blocks"), mapped),
        part(Datum::text("XLOG Ctl"), options.wal.buffers),
        part(Datum::text("multixact"), options.txn.multixact_buffers * base::PAGE_SIZE),
        part(Datum::text("transaction"), options.txn.transaction_buffers * base::PAGE_SIZE),
        part(Datum::text("<anonymous>"), total.saturating_sub(mapped)),
    ];
    rows.extend(runtime::memory::limit().map(|limit| part(Datum::Null, limit.saturating_sub(total))));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wait_is_described() {
        for (kind, name) in runtime::WaitEvent::ALL.iter().map(|event| event.names()) {
            assert!(WAITS.iter().any(|wait| (wait.0, wait.1) == (kind, name)), "{kind} {name}");
        }
        assert!(WAITS.is_sorted_by_key(|wait| (wait.0, wait.1.to_lowercase())));
    }

    #[test]
    fn an_unknown_slru_is_one_of_the_others() {
        assert_eq!(SLRUS[usize::from(slru_number("transaction"))], "transaction");
        assert_eq!(SLRUS[usize::from(slru_number("nix"))], "other");
    }
}
