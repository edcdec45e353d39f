//! How nodes and sessions count, until the transaction ends.

use std::cell::RefCell;
use std::sync::Arc;

use base::Oid;
use runtime::usage::Usage;
use rustc_hash::FxHashMap;

use super::{Counters, Database, DatabaseLane, Function, Relation, RelationLane, Scan};

/// A change of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// INSERT, of so many rows.
    Insert(i64),
    /// UPDATE of a row.
    Update {
        /// No index needed new entries.
        hot: bool,
        /// The new version is on another page.
        newpage: bool,
    },
    /// DELETE, of so many rows.
    Delete(i64),
    /// So many dead versions have gone without VACUUM.
    Pruned(i64),
}

/// How a session ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SessionEnd {
    /// The client said so.
    #[default]
    Wanted,
    /// The client went without a word.
    Abandoned,
    /// By an error.
    Fatal,
    /// An administrator ended it, or the server stopped.
    Killed,
}

/// A relation that a node scans, and what it has counted in this run. The node stays with its worker, and so does the lane.
#[derive(Default)]
pub struct Counted {
    relation: Oid,
    lane: Option<Arc<RelationLane>>,
    /// What was counted.
    pub scan: Scan,
}

impl Counted {
    /// For the scans of a relation.
    pub fn new(relation: Oid) -> Counted {
        Counted { relation, ..Counted::default() }
    }

    /// Of which relation.
    pub fn relation(&self) -> Oid {
        self.relation
    }

    /// A statement that is a transaction of its own has ended the scan: the lane counts it, which is `find`'s the first time.
    #[inline]
    pub fn count(&mut self, now: i64, find: impl FnOnce(Oid) -> Arc<RelationLane>) {
        let lane = self.lane.get_or_insert_with(|| find(self.relation));
        lane.add_scan(&std::mem::take(&mut self.scan), now);
    }
}

impl DatabaseLane {
    /// Counts what the running fiber has used since it was last asked. By the worker of the lane only.
    #[cold]
    pub(super) fn take_usage(&self) {
        let used = Usage::take();
        self.add(&Database {
            blocks_hit: used.shared_hit as i64,
            blocks_read: used.shared_read as i64,
            temp_files: used.temp_files as i64,
            temp_bytes: used.temp_bytes as i64,
            read_time: used.shared_read_time as i64,
            write_time: used.shared_write_time as i64,
            wal_records: used.wal_records as i64,
            wal_images: used.wal_images as i64,
            wal_bytes: used.wal_bytes as i64,
            wal_buffers_full: used.wal_buffers_full as i64,
            deadlocks: used.deadlocks as i64,
            conflicts_lock: used.conflicts_lock as i64,
            conflicts_snapshot: used.conflicts_snapshot as i64,
            checksum_failures: used.checksum_failures as i64,
            last_checksum_failure: match used.checksum_failures {
                0 => 0,
                _ => runtime::wall_clock_micros(),
            },
            xact_hits: used.xact_hits as i64,
            multixact_hits: used.multixact_hits as i64,
            helpers_asked: used.helpers_asked as i64,
            helpers_started: used.helpers_started as i64,
            ..Database::default()
        });
    }
}

/// What one level of subtransactions has done to a table.
#[derive(Clone, Copy, Debug, Default)]
struct Level {
    depth: u32,
    rows: Rows,
    /// The transaction has truncated the table, which a rollback may undo: its changes to the rows before that.
    emptied: Option<Rows>,
}

/// Changes of rows.
#[derive(Clone, Copy, Debug, Default)]
struct Rows {
    inserted: i64,
    updated: i64,
    deleted: i64,
}

impl Rows {
    fn add(&mut self, other: Rows) {
        self.inserted += other.inserted;
        self.updated += other.updated;
        self.deleted += other.deleted;
    }

    /// Versions that nobody needs if the changes come to nothing.
    fn written(&self) -> i64 {
        self.inserted + self.updated
    }
}

impl Level {
    /// The table is empty now.
    fn empty(&mut self) {
        let rows = std::mem::take(&mut self.rows);
        self.emptied.get_or_insert_default().add(rows);
    }

    /// A level inside this one has committed.
    fn take(&mut self, inner: &Level) {
        if let Some(emptied) = inner.emptied {
            self.empty();
            self.emptied.get_or_insert_default().add(emptied);
        }
        self.rows.add(inner.rows);
    }

    /// Versions that are dead if it comes to nothing: of those written since the table was emptied, the file is gone.
    fn dead_if_undone(&self) -> i64 {
        self.emptied.unwrap_or(self.rows).written()
    }
}

#[derive(Default)]
struct Entry {
    counts: Relation,
    /// Ascending by depth.
    levels: Vec<Level>,
}

impl Entry {
    /// The level of this depth, which is the deepest.
    fn level(&mut self, depth: u32) -> &mut Level {
        if self.levels.last().is_none_or(|level| level.depth < depth) {
            self.levels.push(Level { depth, ..Level::default() });
        }
        let last = self.levels.len() - 1;
        &mut self.levels[last]
    }

    /// Whether the transaction has emptied the table.
    fn is_emptied(&self) -> bool {
        self.levels.iter().any(|level| level.emptied.is_some())
    }
}

/// What a transaction has counted of objects.
#[derive(Default)]
struct Objects {
    relations: FxHashMap<Oid, Entry>,
    functions: FxHashMap<Oid, Function>,
}

/// What a session has counted.
pub struct Pending {
    database: Arc<DatabaseLane>,
    /// Made on first use: an idle session keeps none.
    objects: RefCell<Option<Box<Objects>>>,
}

impl Pending {
    /// Of a session that begins; the server's own are not counted as sessions.
    pub fn new(database: Arc<DatabaseLane>, is_client: bool) -> Pending {
        database.sessions.add(i64::from(is_client));
        Pending { database, objects: RefCell::default() }
    }

    /// A scan of a transaction that may go on has ended.
    pub fn scanned(&self, counted: &mut Counted) {
        let scan = std::mem::take(&mut counted.scan);
        let mut objects = self.objects.borrow_mut();
        let relations = &mut objects.get_or_insert_default().relations;
        relations.entry(counted.relation).or_default().counts.add_scan(&scan);
    }

    /// Counts a change of a table, made at this depth of subtransactions.
    pub fn changed(&self, relation: Oid, depth: u32, change: Change) {
        let mut objects = self.objects.borrow_mut();
        let relations = &mut objects.get_or_insert_default().relations;
        let entry = relations.entry(relation).or_default();
        match change {
            Change::Insert(rows) => {
                entry.level(depth).rows.inserted += rows;
                entry.counts.inserted += rows;
            }
            Change::Update { hot, newpage } => {
                entry.level(depth).rows.updated += 1;
                entry.counts.updated += 1;
                entry.counts.hot_updated += i64::from(hot);
                entry.counts.newpage_updated += i64::from(newpage);
            }
            Change::Delete(rows) => {
                entry.level(depth).rows.deleted += rows;
                entry.counts.deleted += rows;
            }
            Change::Pruned(versions) => entry.counts.dead -= versions,
        }
    }

    /// The levels of subtransactions from `depth` on have ended.
    pub fn end_subtransaction(&self, depth: u32, committed: bool) {
        let mut objects = self.objects.borrow_mut();
        let Some(objects) = &mut *objects else { return };
        for entry in objects.relations.values_mut() {
            while let Some(level) = entry.levels.pop_if(|level| level.depth >= depth) {
                if !committed {
                    entry.counts.dead += level.dead_if_undone();
                    continue;
                }
                match entry.levels.last_mut() {
                    Some(outer) if outer.depth + 1 >= depth => outer.take(&level),
                    _ => {
                        entry.levels.push(Level { depth: depth - 1, ..level });
                        break;
                    }
                }
            }
        }
    }

    /// Counts what the running fiber has used since it was last asked. Returns whether that was more than pages that the pool had.
    #[inline]
    pub fn take_usage(&self) -> bool {
        match runtime::usage::take_hits() {
            Some(hits) => self.database.blocks_hit.add(hits as i64),
            None => {
                self.database.take_usage();
                return true;
            }
        }
        false
    }

    /// TRUNCATE: whatever there was is gone if the transaction commits.
    pub fn truncated(&self, relation: Oid, depth: u32) {
        let mut objects = self.objects.borrow_mut();
        objects.get_or_insert_default().relations.entry(relation).or_default().level(depth).empty();
    }

    /// A relation or a function is gone.
    pub fn forget(&self, object: Oid) {
        if let Some(objects) = &mut *self.objects.borrow_mut() {
            objects.relations.remove(&object);
            objects.functions.remove(&object);
        }
    }

    /// A call of a function has ended after so many microseconds, `own` of them in the function itself. Before it had a `total`, to
    /// which calls of the function by itself have added since.
    pub fn called(&self, function: Oid, total: i64, (elapsed, own): (i64, i64)) {
        let mut objects = self.objects.borrow_mut();
        let counted = objects.get_or_insert_default().functions.entry(function).or_default();
        counted.calls += 1;
        counted.total = total + elapsed;
        counted.own += own;
    }

    /// What the running transaction called of a function.
    pub fn calls_of(&self, function: Oid) -> Option<Function> {
        self.objects.borrow().as_ref()?.functions.get(&function).copied()
    }

    /// A command took so many microseconds.
    #[inline]
    pub fn was_active(&self, time: i64) {
        self.database.active_time.add(time);
    }

    /// A transaction waited so many microseconds for its client.
    pub fn was_idle_in_transaction(&self, time: i64) {
        self.database.idle_in_transaction_time.add(time);
    }

    /// The session has ended after so many microseconds.
    pub fn ended(&self, lived: i64, how: SessionEnd) {
        self.database.session_time.add(lived);
        match how {
            SessionEnd::Wanted => {}
            SessionEnd::Abandoned => self.database.abandoned.add(1),
            SessionEnd::Fatal => self.database.fatal.add(1),
            SessionEnd::Killed => self.database.killed.add(1),
        }
    }

    /// What is pending of a relation: what the running transaction did to it.
    pub fn of(&self, relation: Oid) -> Relation {
        let objects = self.objects.borrow();
        let entry = objects.as_ref().and_then(|objects| objects.relations.get(&relation));
        entry.map(|entry| entry.counts).unwrap_or_default()
    }

    /// The end of a transaction: everything goes to the lanes.
    #[inline]
    pub fn report(&self, counters: &Counters, database: Oid, committed: bool, now: impl Fn() -> i64) {
        match committed {
            true => self.database.commits.add(1),
            false => self.database.rollbacks.add(1),
        }
        let Some(objects) = self.objects.take() else { return };
        for (relation, entry) in objects.relations {
            report_relation(counters, (database, relation), entry, committed, now());
        }
        if !objects.functions.is_empty() {
            counters.add_functions(database, objects.functions);
        }
    }
}

fn report_relation(
    counters: &Counters,
    (database, relation): (Oid, Oid),
    mut entry: Entry,
    committed: bool,
    now: i64,
) {
    if committed && entry.is_emptied() {
        // Versions that savepoints undid were in the old file.
        (entry.counts.live, entry.counts.dead) = (0, 0);
        counters.replace(database, relation, |all| {
            (all.live, all.dead, all.inserted_since_vacuum) = (0, 0, 0);
        });
    }
    settle(&mut entry, committed);
    if entry.counts.scans > 0 {
        entry.counts.last_scan = now;
    }
    let lane = counters.relation_lane(database, relation);
    lane.add(&entry.counts);
    if lane.is_over_limit(&entry.counts) {
        counters.suspect(database, relation);
    }
}

/// What the changes of a transaction mean for the number of live and dead versions.
fn settle(entry: &mut Entry, committed: bool) {
    for level in &entry.levels {
        let Rows { inserted, updated, deleted } = level.rows;
        if committed {
            entry.counts.live += inserted - deleted;
            entry.counts.dead += updated + deleted;
            entry.counts.changed += inserted + updated + deleted;
        } else {
            entry.counts.dead += level.dead_if_undone();
        }
        entry.counts.inserted_since_vacuum += inserted;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: Oid = Oid(20000);
    const DATABASE: Oid = Oid(5);

    fn pending(counters: &Counters) -> Pending {
        Pending::new(counters.database_lane(DATABASE), true)
    }

    #[test]
    fn what_savepoints_undid_is_dead() {
        let counters = Counters::default();
        let pending = pending(&counters);
        pending.changed(TABLE, 1, Change::Insert(10));
        pending.changed(TABLE, 3, Change::Insert(5));
        pending.changed(TABLE, 3, Change::Delete(1));
        pending.end_subtransaction(3, true);
        pending.changed(TABLE, 3, Change::Insert(100));
        pending.end_subtransaction(3, false);
        assert_eq!(pending.of(TABLE).inserted, 115);
        pending.end_subtransaction(2, true);
        pending.report(&counters, DATABASE, true, || 7);
        let found = counters.relation(DATABASE, TABLE).unwrap();
        assert_eq!((found.live, found.dead, found.changed), (14, 101, 16));
        assert_eq!((found.inserted, found.deleted), (115, 1));
        assert_eq!(counters.database(DATABASE).commits, 1);
        assert_eq!(pending.of(TABLE), Relation::default());
    }

    #[test]
    fn a_rolled_back_transaction_leaves_dead_versions() {
        let counters = Counters::default();
        let pending = pending(&counters);
        pending.changed(TABLE, 1, Change::Insert(3));
        pending.changed(TABLE, 1, Change::Update { hot: true, newpage: false });
        pending.report(&counters, DATABASE, false, || 7);
        let found = counters.relation(DATABASE, TABLE).unwrap();
        assert_eq!((found.live, found.dead, found.changed), (0, 4, 0));
        counters.replace(DATABASE, TABLE, |all| all.dead = 0);
        assert_eq!(counters.relation(DATABASE, TABLE).unwrap().dead, 0);
    }

    #[test]
    fn a_table_that_was_not_emptied_after_all_has_its_rows() {
        let counters = Counters::default();
        let pending = pending(&counters);
        let found = || counters.relation(DATABASE, TABLE).map(|found| (found.live, found.dead)).unwrap();
        pending.changed(TABLE, 1, Change::Insert(10));
        pending.changed(TABLE, 2, Change::Insert(5));
        pending.truncated(TABLE, 2);
        pending.changed(TABLE, 2, Change::Insert(3));
        pending.end_subtransaction(2, false);
        pending.changed(TABLE, 1, Change::Delete(1));
        pending.report(&counters, DATABASE, true, || 7);
        assert_eq!(found(), (9, 6), "the file with the three rows is gone");
        pending.changed(TABLE, 1, Change::Insert(1));
        pending.changed(TABLE, 3, Change::Insert(2));
        pending.truncated(TABLE, 3);
        pending.changed(TABLE, 3, Change::Insert(4));
        pending.end_subtransaction(3, true);
        pending.end_subtransaction(2, false);
        pending.report(&counters, DATABASE, true, || 7);
        assert_eq!(found(), (10, 8), "the outer savepoint undoes it too");
        pending.changed(TABLE, 1, Change::Update { hot: true, newpage: false });
        pending.changed(TABLE, 2, Change::Insert(7));
        pending.truncated(TABLE, 2);
        pending.changed(TABLE, 2, Change::Insert(4));
        pending.end_subtransaction(2, true);
        pending.report(&counters, DATABASE, false, || 7);
        assert_eq!(found(), (10, 16), "rolled back");
        pending.changed(TABLE, 2, Change::Insert(7));
        pending.end_subtransaction(2, false);
        pending.changed(TABLE, 2, Change::Insert(7));
        pending.truncated(TABLE, 2);
        pending.end_subtransaction(2, true);
        pending.changed(TABLE, 1, Change::Insert(2));
        pending.report(&counters, DATABASE, true, || 7);
        assert_eq!(found(), (2, 0));
    }

    #[test]
    fn a_lane_goes_on_after_resets() {
        let counters = Counters::default();
        let mut node = Counted::new(TABLE);
        let mut scan = || {
            node.scan = Scan { scans: 1, returned: 3, ..Scan::default() };
            node.count(7, |relation| counters.relation_lane(DATABASE, relation));
        };
        let scans = || counters.relation(DATABASE, TABLE).map(|all| (all.scans, all.last_scan));
        scan();
        counters.reset_relation(DATABASE, TABLE, 8);
        assert_eq!((scans(), counters.database(DATABASE).returned), (Some((0, 0)), 3));
        assert_eq!(counters.database(DATABASE).reset, 8);
        let lane = counters.database_lane(DATABASE);
        lane.add(&Database { checksum_failures: 1, last_checksum_failure: 5, ..Database::default() });
        assert_eq!(counters.database(DATABASE).last_checksum_failure, 5);
        scan();
        scan();
        assert_eq!((scans(), counters.database(DATABASE).returned), (Some((2, 7)), 9));
        counters.reset(DATABASE, 9);
        assert_eq!(scans(), Some((0, 0)));
        assert_eq!(counters.database(DATABASE), Database { reset: 9, ..Database::default() });
        scan();
        assert_eq!((scans(), counters.database(DATABASE).returned), (Some((1, 7)), 3));
        counters.forget(DATABASE, TABLE);
        assert_eq!((scans(), counters.database(DATABASE).returned), (None, 3));
    }
}
