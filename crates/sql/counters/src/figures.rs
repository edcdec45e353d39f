//! What is counted, and the cells of one worker that count it.

use std::ops::Add;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

macro_rules! figures {
    (
        $(#[$outer:meta])* $name:ident
        $(#[$inner:meta])* $lane:ident
        counted { $($(#[$doc:meta])* $count:ident,)* }
        latest { $($(#[$recent:meta])* $latest:ident,)* }
        settled { $($(#[$later:meta])* $settled:ident,)* }
        own { $($(#[$kept:meta])* $own:ident,)* }
    ) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name {
            $($(#[$doc])* pub $count: i64,)*
            $($(#[$recent])* pub $latest: i64,)*
            $($(#[$later])* pub $settled: i64,)*
        }

        impl $name {
            /// All figures, in a fixed order.
            pub(super) fn to_list(self) -> Vec<i64> {
                vec![$(self.$count,)* $(self.$latest,)* $(self.$settled,)*]
            }

            /// The figures of [`Self::to_list`]; `None` if there are too few.
            pub(super) fn from_list(list: &[i64]) -> Option<$name> {
                let mut list = list.iter().copied();
                Some($name {
                    $($count: list.next()?,)* $($latest: list.next()?,)* $($settled: list.next()?,)*
                })
            }

            /// Adds what a lane has counted, which others may be counting on.
            pub(super) fn add_lane(&mut self, lane: &$lane) {
                $(self.$count += lane.$count.get();)*
                $(self.$latest = self.$latest.max(lane.$latest.get());)*
            }

            /// What is to be added to figures of lanes that give `self` in order to show `wanted`.
            pub(super) fn offset(&self, wanted: &$name) -> $name {
                $name {
                    $($count: wanted.$count - self.$count,)*
                    $($latest: wanted.$latest,)*
                    $($settled: wanted.$settled,)*
                }
            }
        }

        impl Add<&$name> for $name {
            type Output = $name;
            fn add(self, other: &$name) -> $name {
                $name {
                    $($count: self.$count + other.$count,)*
                    $($latest: self.$latest.max(other.$latest),)*
                    $($settled: self.$settled + other.$settled,)*
                }
            }
        }

        $(#[$inner])*
        #[derive(Debug, Default)]
        #[repr(align(64))]
        pub struct $lane {
            $(pub(super) $count: Figure,)*
            $(pub(super) $latest: Figure,)*
            $($(#[$kept])* pub(super) $own: Figure,)*
        }

        impl $lane {
            /// Adds what was counted elsewhere. By the worker of the lane only.
            pub(super) fn add(&self, more: &$name) {
                $(self.$count.add(more.$count);)*
                $(if more.$latest != 0 {
                    self.$latest.set(more.$latest);
                })*
            }
        }
    };
}

/// A counter of one worker, which only that worker changes and any thread may read. It needs no ordering with other memory.
#[derive(Debug, Default)]
pub(super) struct Figure(AtomicI64);

impl Figure {
    #[inline]
    pub(super) fn get(&self) -> i64 {
        self.0.load(Relaxed)
    }

    #[inline]
    pub(super) fn set(&self, value: i64) {
        self.0.store(value, Relaxed);
    }

    #[inline]
    pub(super) fn add(&self, more: i64) {
        self.set(self.get() + more);
    }
}

figures! {
    /// What is known of a table or an index. Times are microseconds since 2000-01-01 UTC, 0 for never.
    Relation
    /// What one worker has counted of a table or an index.
    RelationLane
    counted {
        /// Scans begun; of an index, descents.
        scans,
        /// Rows read by sequential scans; of an index, entries.
        returned,
        /// Rows fetched by bitmap scans; of an index, rows fetched for its entries.
        fetched,
        /// Pages found in the pool.
        blocks_hit,
        /// Pages read.
        blocks_read,
        /// Rows inserted.
        inserted,
        /// Rows updated.
        updated,
        /// Rows deleted.
        deleted,
        /// Updates without new index entries.
        hot_updated,
        /// Updates whose new version went to another page.
        newpage_updated,
        /// Live rows, by estimate.
        live,
        /// Dead versions, by estimate.
        dead,
        /// Rows changed since ANALYZE.
        changed,
        /// Rows inserted since VACUUM.
        inserted_since_vacuum,
    }
    latest {
        /// When it was last scanned.
        last_scan,
    }
    settled {
        /// Runs of VACUUM.
        vacuums,
        /// Runs of ANALYZE.
        analyzes,
        /// Microseconds spent in VACUUM.
        vacuum_time,
        /// Microseconds spent in ANALYZE.
        analyze_time,
        /// When VACUUM last ran.
        last_vacuum,
        /// When ANALYZE last ran.
        last_analyze,
        /// Automatic runs of VACUUM, which the ones above do not count.
        autovacuums,
        /// Automatic runs of ANALYZE.
        autoanalyzes,
        /// Microseconds spent in automatic runs of VACUUM.
        autovacuum_time,
        /// Microseconds spent in automatic runs of ANALYZE.
        autoanalyze_time,
        /// When VACUUM last ran by itself.
        last_autovacuum,
        /// When ANALYZE last ran by itself.
        last_autoanalyze,
    }
    own {
        /// What this lane has counted of all that upkeep depends on.
        weight,
        /// The count from which on the table is to be checked.
        limit,
    }
}

figures! {
    /// What is known of a database.
    Database
    /// What one worker has counted of a database.
    DatabaseLane
    counted {
        /// Transactions that committed.
        commits,
        /// Transactions that rolled back.
        rollbacks,
        /// Pages found in the pool.
        blocks_hit,
        /// Pages read.
        blocks_read,
        /// Temporary files made.
        temp_files,
        /// Bytes written to them.
        temp_bytes,
        /// Nanoseconds reading.
        read_time,
        /// Nanoseconds writing.
        write_time,
        /// Sessions begun.
        sessions,
        /// Microseconds of sessions that have ended.
        session_time,
        /// Microseconds in commands.
        active_time,
        /// Microseconds that transactions waited for their client.
        idle_in_transaction_time,
        /// Sessions whose client went without a word.
        abandoned,
        /// Sessions that an error ended.
        fatal,
        /// Sessions that somebody ended.
        killed,
        /// Deadlocks found.
        deadlocks,
        /// Statements and sessions that a standby cancelled for a lock.
        conflicts_lock,
        /// For a snapshot.
        conflicts_snapshot,
        /// Pages read whose checksum was wrong.
        checksum_failures,
        /// Log records.
        wal_records,
        /// Images of pages in them.
        wal_images,
        /// Bytes of log.
        wal_bytes,
        /// Times that the log's buffers were full.
        wal_buffers_full,
        /// Pages of the commit log found in memory.
        xact_hits,
        /// Pages of multixacts found in memory.
        multixact_hits,
        /// Helpers that plans asked for.
        helpers_asked,
        /// Those that they got.
        helpers_started,
    }
    latest {
        /// When the counters were last set to zero.
        reset,
        /// When a checksum was last wrong.
        last_checksum_failure,
    }
    settled {
        /// Rows read; of the relations that are gone until they are summed up, as the four that follow.
        returned,
        /// Rows fetched by indexes.
        fetched,
        /// Rows inserted.
        inserted,
        /// Rows updated.
        updated,
        /// Rows deleted.
        deleted,
    }
    own {}
}

/// What is known of a function. Times are microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Function {
    /// Calls.
    pub calls: i64,
    /// Time spent in it and in what it called.
    pub total: i64,
    /// Of that, in itself.
    pub own: i64,
}

impl Function {
    /// Adds what was counted elsewhere.
    pub(super) fn add(&mut self, other: &Function) {
        self.calls += other.calls;
        self.total += other.total;
        self.own += other.own;
    }
}

impl Database {
    /// Zero, but for what is the server's and not the database's.
    pub(super) fn reset_at(&self, now: i64) -> Database {
        Database {
            reset: now,
            wal_records: self.wal_records,
            wal_images: self.wal_images,
            wal_bytes: self.wal_bytes,
            wal_buffers_full: self.wal_buffers_full,
            xact_hits: self.xact_hits,
            multixact_hits: self.multixact_hits,
            ..Database::default()
        }
    }

    /// Adds the rows that were counted of a relation.
    pub(super) fn add_rows(&mut self, relation: &Relation) {
        self.returned += relation.returned;
        self.fetched += relation.fetched;
        self.inserted += relation.inserted;
        self.updated += relation.updated;
        self.deleted += relation.deleted;
    }
}

/// What a scan counts while it runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scan {
    /// Scans begun.
    pub scans: i64,
    /// Rows or entries read.
    pub returned: i64,
    /// Rows fetched.
    pub fetched: i64,
    /// Pages found in the pool.
    pub blocks_hit: i64,
    /// Pages read.
    pub blocks_read: i64,
}

impl Scan {
    /// Counts pages, those found in the pool first.
    #[inline]
    pub fn add_pages(&mut self, [hit, read]: [u64; 2]) {
        self.blocks_hit += hit as i64;
        self.blocks_read += read as i64;
    }

    /// Counts the pages that were asked for since; what [`runtime::usage::pages`] says now.
    #[inline]
    pub fn pages_since(&mut self, before: [u64; 2]) -> [u64; 2] {
        let now = runtime::usage::pages();
        self.add_pages([now[0] - before[0], now[1] - before[1]]);
        now
    }

    /// Whether nothing was counted.
    #[inline]
    pub fn is_empty(&self) -> bool {
        (self.scans | self.returned | self.fetched | self.blocks_hit | self.blocks_read) == 0
    }
}

impl Relation {
    /// Adds what a scan counted.
    pub(super) fn add_scan(&mut self, scan: &Scan) {
        self.scans += scan.scans;
        self.returned += scan.returned;
        self.fetched += scan.fetched;
        self.blocks_hit += scan.blocks_hit;
        self.blocks_read += scan.blocks_read;
    }
}

impl Relation {
    /// VACUUM has run, for so many microseconds.
    pub fn vacuumed(&mut self, automatic: bool, took: i64, now: i64) {
        let (runs, time, last) = match automatic {
            false => (&mut self.vacuums, &mut self.vacuum_time, &mut self.last_vacuum),
            true => (&mut self.autovacuums, &mut self.autovacuum_time, &mut self.last_autovacuum),
        };
        (*runs, *time, *last) = (*runs + 1, *time + took, now);
    }

    /// ANALYZE has run, for so many microseconds.
    pub fn analyzed(&mut self, automatic: bool, took: i64, now: i64) {
        let (runs, time, last) = match automatic {
            false => (&mut self.analyzes, &mut self.analyze_time, &mut self.last_analyze),
            true => (&mut self.autoanalyzes, &mut self.autoanalyze_time, &mut self.last_autoanalyze),
        };
        (*runs, *time, *last) = (*runs + 1, *time + took, now);
    }

    /// How much more of what upkeep depends on.
    fn weight(&self) -> i64 {
        self.dead.max(self.changed).max(self.inserted_since_vacuum)
    }
}

impl DatabaseLane {
    /// Resets the time of the last checksum failure; a concurrent failure may set it again.
    pub(super) fn forget_last_failure(&self) {
        self.last_checksum_failure.set(0);
    }
}

impl RelationLane {
    /// Takes note of what was just added. Whether so much has come together that somebody is to look; says so once, until a new limit is set.
    /// By the worker of the lane only.
    pub(super) fn is_over_limit(&self, more: &Relation) -> bool {
        let more = more.weight();
        if more <= 0 {
            return false;
        }
        self.weight.add(more);
        let over = self.weight.get() > self.limit.get();
        if over {
            self.limit.set(i64::MAX);
        }
        over
    }

    /// Sets the counts at which the table is to be checked next.
    pub(super) fn set_limit(&self, more: i64) {
        self.limit.set(self.weight.get().saturating_add(more));
    }

    /// Resets the time of the last scan; a concurrent scan may set it again.
    pub(super) fn forget_last_scan(&self) {
        self.last_scan.set(0);
    }

    /// Adds what a scan counted. By the worker of the lane only.
    #[inline]
    pub(super) fn add_scan(&self, scan: &Scan, now: i64) {
        self.scans.add(scan.scans);
        self.returned.add(scan.returned);
        self.fetched.add(scan.fetched);
        self.blocks_hit.add(scan.blocks_hit);
        self.blocks_read.add(scan.blocks_read);
        if scan.scans > 0 {
            self.last_scan.set(now);
        }
    }
}
