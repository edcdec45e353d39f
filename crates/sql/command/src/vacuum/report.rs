//! # What
//! What VACUUM and ANALYZE of a table found, did and used, and the texts that tell of it: those of VERBOSE, and those of the server's log for what ran by
//! itself.
//!
//! # PostgreSQL counterpart
//! The ends of `heap_vacuum_rel` and `do_analyze_rel`. Every VACUUM looks at all pages that may hold ids, so none is eager.

use std::fmt::Write;
use std::time::Duration;

use base::{PAGE_SIZE, Xid};
use heap::vacuum::VacuumStats;
use index::VacuumStats as IndexStats;
use runtime::time::Stopwatch;
use runtime::usage::Usage;
use txn::OldestIds;

use super::pace::Pace;

/// What something used, from the beginning on until it is asked.
pub(crate) struct Effort {
    watch: Stopwatch,
    before: Usage,
    times_io: bool,
}

impl Effort {
    /// It begins. `times_io`: reads and writes are measured.
    pub fn begin(times_io: bool) -> Effort {
        Effort { watch: Stopwatch::start(), before: Usage::so_far(), times_io }
    }

    /// It ends.
    pub fn end(&self, pace: &Pace<'_>) -> Used {
        Used {
            took: self.watch.elapsed(),
            system: self.watch.to_string(),
            usage: Usage::so_far() - self.before,
            slept: pace.slept(),
            times_io: self.times_io,
        }
    }
}

/// What something used.
#[derive(Clone, Debug)]
pub struct Used {
    took: Duration,
    system: String,
    usage: Usage,
    slept: Option<Duration>,
    times_io: bool,
}

impl Used {
    /// Appends the last lines of a report.
    fn write(&self, text: &mut String) {
        let usage = &self.usage;
        let rate = |pages: u64| match self.took.as_secs_f64() {
            0.0 => 0.0,
            seconds => pages as f64 * PAGE_SIZE as f64 / (1 << 20) as f64 / seconds,
        };
        let millis = |nanos: u64| nanos as f64 / 1e6;
        if let Some(slept) = self.slept {
            let _ = writeln!(text, "delay time: {:.3} ms", slept.as_secs_f64() * 1000.0);
        }
        if self.times_io {
            let (read, write) = (millis(usage.shared_read_time), millis(usage.shared_write_time));
            let _ = writeln!(text, "I/O timings: read: {read:.3} ms, write: {write:.3} ms");
        }
        let _ = write!(
            text,
            "avg read rate: {:.3} MB/s, avg write rate: {:.3} MB/s\n\
             buffer usage: {} hits, {} reads, {} dirtied\n\
             WAL usage: {} records, {} full page images, {} bytes, {} buffers full\n\
             system usage: {}",
            rate(usage.shared_read),
            rate(usage.shared_dirtied),
            usage.shared_hit,
            usage.shared_read,
            usage.shared_dirtied,
            usage.wal_records,
            usage.wal_images,
            usage.wal_bytes,
            usage.wal_buffers_full,
            self.system,
        );
    }
}

/// What VACUUM of a table did.
#[derive(Clone, Debug)]
pub struct VacuumReport {
    /// `database.schema.table`
    pub table: String,
    /// What was found and done.
    pub stats: VacuumStats,
    /// The indexes that were gone through.
    pub indexes: Vec<(String, IndexStats)>,
    /// Rows whose deleters are not older had to stay.
    pub cutoff: Xid,
    /// The next xid, at the end.
    pub next: Xid,
    /// The oldest ids that the table was known to have before.
    pub before: Option<OldestIds>,
    /// What it used.
    pub used: Used,
}

impl VacuumReport {
    /// How long it took.
    pub fn took(&self) -> Duration {
        self.used.took
    }

    /// What VERBOSE says.
    pub fn verbose(&self) -> String {
        self.text("finished vacuuming")
    }

    /// What the log says of a VACUUM that came by itself.
    pub fn automatic(&self) -> String {
        self.text("automatic vacuum of table")
    }

    fn text(&self, what: &str) -> String {
        let (stats, mut text) = (&self.stats, String::with_capacity(1024));
        let _ = write!(
            text,
            "{what} \"{}\": index scans: {}\n\
             pages: {} removed, {} remain, {} scanned ({:.2}% of total), 0 eagerly scanned\n\
             tuples: {} removed, {} remain, {} are dead but not yet removable\n",
            self.table,
            stats.index_passes,
            stats.pages_removed,
            stats.pages,
            stats.pages_scanned,
            self.share(stats.pages_scanned),
            stats.tuples_removed,
            stats.live_tuples,
            stats.recently_dead_tuples,
        );
        if stats.tuples_missed > 0 {
            let _ = writeln!(
                text,
                "tuples missed: {} dead from {} pages not removed due to cleanup lock contention",
                stats.tuples_missed, stats.pages_missed
            );
        }
        self.write_ids(&mut text);
        let _ = write!(
            text,
            "frozen: {} pages from table ({:.2}% of total) had {} tuples frozen\n\
             visibility map: {} pages set all-visible, {} pages set all-frozen ({} were all-visible)\n",
            stats.pages_frozen,
            self.share(stats.pages_frozen),
            stats.tuples_frozen,
            stats.pages_set_visible,
            stats.pages_set_frozen,
            stats.pages_were_visible,
        );
        self.write_indexes(&mut text);
        self.used.write(&mut text);
        text
    }

    /// Percent of the pages that there were.
    fn share(&self, pages: u32) -> f64 {
        match self.stats.pages + self.stats.pages_removed {
            0 => 100.0,
            all => 100.0 * f64::from(pages) / f64::from(all),
        }
    }

    fn write_ids(&self, text: &mut String) {
        let old = self.next.0.saturating_sub(self.cutoff.0);
        let cutoff = self.cutoff.0 as u32;
        let _ = writeln!(text, "removable cutoff: {cutoff}, which was {old} XIDs old when operation ended");
        let Some(before) = self.before else { return };
        let mut new = |column: &str, (before, now): (u64, u64), unit: &str| {
            if now > before {
                let (id, ahead) = (now as u32, now - before);
                let _ = writeln!(text, "new {column}: {id}, which is {ahead} {unit} ahead of previous value");
            }
        };
        new("relfrozenxid", (before.xid.0, self.stats.oldest.xid.0), "XIDs");
        new("relminmxid", (before.multi.0, self.stats.oldest.multi.0), "MXIDs");
    }

    fn write_indexes(&self, text: &mut String) {
        let stats = &self.stats;
        let (what, verb, end) = match stats.index_passes {
            _ if stats.bypassed => ("bypassed", "have", ""),
            0 => ("not needed", "had", " removed"),
            _ => ("needed", "had", " removed"),
        };
        let _ = writeln!(
            text,
            "index scan {what}: {} pages from table ({:.2}% of total) {verb} {} dead item identifiers{end}",
            stats.dead_item_pages,
            self.share(stats.dead_item_pages),
            stats.dead_items,
        );
        for (name, index) in &self.indexes {
            let _ = writeln!(
                text,
                "index \"{name}\": pages: {} in total, {} newly deleted, {} currently deleted, {} reusable",
                index.pages, index.pages_newly_deleted, index.pages_deleted, index.pages_free
            );
        }
    }
}

/// What ANALYZE of a table used.
#[derive(Clone, Debug)]
pub struct AnalyzeReport {
    /// `database.schema.table`
    pub table: String,
    /// What it used.
    pub used: Used,
}

impl AnalyzeReport {
    /// How long it took.
    pub fn took(&self) -> Duration {
        self.used.took
    }

    /// What VERBOSE says.
    pub fn verbose(&self) -> String {
        self.text("finished analyzing table")
    }

    /// What the log says of an ANALYZE that came by itself.
    pub fn automatic(&self) -> String {
        self.text("automatic analyze of table")
    }

    fn text(&self, what: &str) -> String {
        let mut text = format!("{what} \"{}\"\n", self.table);
        self.used.write(&mut text);
        text
    }
}
