//! # What
//! Cumulative counters of tables, indexes and databases: what `pg_stat_*` shows.
//!
//! A scan counts in its node, and tells when it ends. If its statement is a transaction of its own, that goes at once to the [`RelationLane`]
//! of its worker; otherwise to the session's `Pending`, with all changes of rows, and from there to the lanes when the transaction ends.
//!
//! # Layout
//! `figures`: what is counted. `pending`: a session's, and how nodes count. `groups`: what is
//! counted of the server as a whole. `file`: what is kept over a clean restart. `suspects`: tables that may need upkeep.
//!
//! # Invariants
//! 1. Nothing is touched for a row that another worker writes, and no lock is taken for a statement that only reads: a lane is written by its
//!    worker alone, without read-modify-write, and found once by a node that its worker keeps (`Counted`).
//! 2. What is shown is the sum of the lanes and of what is settled. Who puts figures in place of others (VACUUM, a reset) changes what is
//!    settled, never a lane; so no lane's worker can undo it.
//! 3. Counts may still be added to a dropped lane for a while. They are never read.
//! 4. Nothing survives a crash: counters begin at zero after recovery.
//!
//! # Locks
//! Short mutexes (rank 61): the names of a worker's lanes, taken by a node's first run, by the end of a transaction that changed
//! rows, and by whoever reads; what is settled; the suspects, under no other. Those of lanes are taken one at a time, and inside the other if both.
//!
//! # PostgreSQL counterpart and differences
//! `pgstat.c`, `pgstat_relation.c`, `pgstat_database.c`. There a session reports once a second at most, and counters are a shared hash table.

mod figures;
mod file;
mod groups;
mod pending;
mod suspects;

use std::sync::{Arc, OnceLock};

use base::Oid;
use parking_lot::Mutex;
use rustc_hash::{FxHashMap, FxHashSet};

pub use figures::{Database, DatabaseLane, Function, Relation, RelationLane, Scan};
use groups::Offset;
pub use groups::{Group, SLRUS};
pub use pending::SessionEnd;
pub use pending::{Change, Counted, Pending};
use suspects::Suspects;

/// Workers with lanes of their own; those beyond this number share them, and may lose counts to each other.
const WORKERS: usize = 256;

/// Database and relation.
pub type Key = (Oid, Oid);

/// The lanes of one worker.
#[derive(Default)]
struct Lanes {
    relations: FxHashMap<Key, Arc<RelationLane>>,
    databases: FxHashMap<Oid, Arc<DatabaseLane>>,
}

/// What is to be added to the lanes.
#[derive(Default)]
struct Settled {
    relations: FxHashMap<Key, Relation>,
    databases: FxHashMap<Oid, Database>,
    /// By database and function; these have no lanes, as most servers do not count them.
    functions: FxHashMap<Key, Function>,
    groups: FxHashMap<Group, Offset>,
    /// The last file of the log that servers before this one archived, and the last one that they could not.
    archived: LastFiles,
}

/// Names of files, and when it was, in microseconds since 2000-01-01 UTC: one that was archived, and one that was not.
pub type LastFiles = [Option<(String, i64)>; 2];

/// The counters of a server.
pub struct Counters {
    workers: Box<[OnceLock<Box<Mutex<Lanes>>>]>,
    settled: Mutex<Settled>,
    suspects: Suspects,
}

/// Stands for a database where the server's own loops count.
const BACKGROUND: Oid = Oid(u32::MAX);

impl Default for Counters {
    fn default() -> Counters {
        let workers = (0..WORKERS).map(|_| OnceLock::new()).collect();
        Counters { workers, settled: Mutex::default(), suspects: Suspects::default() }
    }
}

/// The database by which a relation is known: none if all databases share it.
pub fn key(database: Oid, relation: Oid) -> Key {
    (if catalog::system::is_shared_relation(relation) { Oid::INVALID } else { database }, relation)
}

impl Counters {
    /// The last files that servers before this one archived, and could not.
    pub fn last_archived(&self) -> LastFiles {
        self.settled.lock().archived.clone()
    }

    /// The lanes of the calling worker.
    fn here(&self) -> &Mutex<Lanes> {
        let index = runtime::worker_index().unwrap_or(0) % WORKERS;
        self.workers[index].get_or_init(Box::default)
    }

    fn lanes(&self) -> impl Iterator<Item = &Mutex<Lanes>> {
        self.workers.iter().filter_map(|worker| worker.get().map(|lanes| &**lanes))
    }

    /// Where the calling worker counts what is done to a relation.
    pub fn relation_lane(&self, database: Oid, relation: Oid) -> Arc<RelationLane> {
        let key = key(database, relation);
        self.here().lock().relations.entry(key).or_default().clone()
    }

    /// Where the calling worker counts what is done in a database.
    pub fn database_lane(&self, database: Oid) -> Arc<DatabaseLane> {
        self.here().lock().databases.entry(database).or_default().clone()
    }

    fn relation_lanes(&self, key: Key) -> Option<Relation> {
        let mut sum = None;
        for lanes in self.lanes() {
            if let Some(lane) = lanes.lock().relations.get(&key) {
                sum.get_or_insert_with(Relation::default).add_lane(lane);
            }
        }
        sum
    }

    /// All that is known of a relation, if anything was counted.
    pub fn relation(&self, database: Oid, relation: Oid) -> Option<Relation> {
        let key = key(database, relation);
        let settled = self.settled.lock();
        let sum = self.relation_lanes(key);
        match settled.relations.get(&key) {
            None => sum,
            Some(settled) => Some(sum.unwrap_or_default() + settled),
        }
    }

    /// Every relation of a database, and those that all share, of which something is known.
    pub fn relations(&self, database: Oid) -> FxHashMap<Oid, Relation> {
        let settled = self.settled.lock();
        let mut known = self.known_relations(&settled, database);
        known.extend(self.known_relations(&settled, Oid::INVALID));
        known.into_iter().map(|key| (key.1, self.whole_relation(&settled, key))).collect()
    }

    /// All that is known of a database; of none, what is known of the relations that all share.
    pub fn database(&self, database: Oid) -> Database {
        let settled = self.settled.lock();
        let mut sum = self.own_figures(&settled, database);
        for key in self.known_relations(&settled, database) {
            sum.add_rows(&self.whole_relation(&settled, key));
        }
        sum
    }

    /// All databases together, without their rows.
    pub fn all_databases(&self) -> Database {
        let settled = self.settled.lock();
        let all = self.databases(&settled).into_iter();
        all.fold(Database::default(), |sum, database| sum + &self.own_figures(&settled, database))
    }

    fn whole_relation(&self, settled: &Settled, key: Key) -> Relation {
        let lanes = self.relation_lanes(key).unwrap_or_default();
        lanes + &settled.relations.get(&key).copied().unwrap_or_default()
    }

    /// What is known of a database beside the rows of its relations.
    fn own_figures(&self, settled: &Settled, database: Oid) -> Database {
        let mut sum = settled.databases.get(&database).copied().unwrap_or_default();
        for lanes in self.lanes() {
            if let Some(lane) = lanes.lock().databases.get(&database) {
                sum.add_lane(lane);
            }
        }
        sum
    }

    /// The relations of a database of which something is known.
    fn known_relations(&self, settled: &Settled, database: Oid) -> FxHashSet<Key> {
        let mut known: FxHashSet<Key> = settled.relations.keys().copied().collect();
        for lanes in self.lanes() {
            known.extend(lanes.lock().relations.keys());
        }
        known.retain(|(owner, _)| *owner == database);
        known
    }

    /// The databases of which something is known; [`Oid::INVALID`] stands for what all share.
    fn databases(&self, settled: &Settled) -> FxHashSet<Oid> {
        let mut known: FxHashSet<Oid> = settled.databases.keys().copied().collect();
        known.insert(Oid::INVALID);
        known.extend(settled.relations.keys().map(|key| key.0));
        for lanes in self.lanes() {
            let lanes = lanes.lock();
            known.extend(lanes.databases.keys());
            known.extend(lanes.relations.keys().map(|key| key.0));
        }
        known
    }

    /// Puts figures in place of a relation's.
    pub fn replace(&self, database: Oid, relation: Oid, change: impl FnOnce(&mut Relation)) {
        let key = key(database, relation);
        let mut settled = self.settled.lock();
        let lanes = self.relation_lanes(key).unwrap_or_default();
        let offset = settled.relations.entry(key).or_default();
        let mut wanted = lanes + offset;
        change(&mut wanted);
        *offset = lanes.offset(&wanted);
        if wanted.last_scan == 0 {
            self.forget_last_scan(key);
        }
    }

    fn forget_last_scan(&self, key: Key) {
        for lanes in self.lanes() {
            if let Some(lane) = lanes.lock().relations.get(&key) {
                lane.forget_last_scan();
            }
        }
    }

    /// Sets the counters of a relation to zero. Those of the database stay, and say when that was.
    pub fn reset_relation(&self, database: Oid, relation: Oid, now: i64) {
        let owner = key(database, relation).0;
        let mut before = Relation::default();
        self.replace(database, relation, |all| before = std::mem::take(all));
        let mut settled = self.settled.lock();
        settled.databases.entry(owner).or_default().add_rows(&before);
        settled.databases.entry(database).or_default().reset = now;
    }

    /// Adds calls of functions.
    fn add_functions(&self, database: Oid, calls: FxHashMap<Oid, Function>) {
        let mut settled = self.settled.lock();
        for (function, call) in calls {
            settled.functions.entry((database, function)).or_default().add(&call);
        }
    }

    /// All that is known of a function, if anything was counted.
    pub fn function(&self, database: Oid, function: Oid) -> Option<Function> {
        self.settled.lock().functions.get(&(database, function)).copied()
    }

    /// Sets the counters of a function to zero; its database's say when that was.
    pub fn reset_function(&self, database: Oid, function: Oid, now: i64) {
        let mut settled = self.settled.lock();
        if let Some(counted) = settled.functions.get_mut(&(database, function)) {
            *counted = Function::default();
        }
        settled.databases.entry(database).or_default().reset = now;
    }

    /// Whether anything is known of a database.
    pub fn knows_database(&self, database: Oid) -> bool {
        let settled = self.settled.lock();
        self.databases(&settled).contains(&database)
    }

    /// Counts what the running fiber, one of the server's own loops, has used since it was last asked.
    pub fn count_background(&self) {
        self.database_lane(BACKGROUND).take_usage();
    }

    /// Forgets a relation or a function; what was done to a relation stays in its database's figures.
    pub fn forget(&self, database: Oid, object: Oid) {
        let key = key(database, object);
        let mut settled = self.settled.lock();
        settled.functions.remove(&key);
        let mut sum = settled.relations.remove(&key).unwrap_or_default();
        for lanes in self.lanes() {
            if let Some(lane) = lanes.lock().relations.remove(&key) {
                sum.add_lane(&lane);
            }
        }
        settled.databases.entry(key.0).or_default().add_rows(&sum);
    }

    /// Forgets a database that was removed.
    pub fn forget_database(&self, database: Oid) {
        let mut settled = self.settled.lock();
        settled.databases.remove(&database);
        settled.relations.retain(|(owner, _), _| *owner != database);
        settled.functions.retain(|(owner, _), _| *owner != database);
        for lanes in self.lanes() {
            let mut lanes = lanes.lock();
            lanes.databases.remove(&database);
            lanes.relations.retain(|(owner, _), _| *owner != database);
        }
    }

    /// Sets all counters of a database to zero.
    pub fn reset(&self, database: Oid, now: i64) {
        let mut settled = self.settled.lock();
        for key in self.known_relations(&settled, database) {
            let lanes = self.relation_lanes(key).unwrap_or_default();
            settled.relations.insert(key, lanes.offset(&Relation::default()));
            self.forget_last_scan(key);
        }
        for (_, function) in settled.functions.iter_mut().filter(|((owner, _), _)| *owner == database) {
            *function = Function::default();
        }
        let wanted = self.own_figures(&settled, database).reset_at(now);
        settled.databases.remove(&database);
        for lanes in self.lanes() {
            if let Some(lane) = lanes.lock().databases.get(&database) {
                lane.forget_last_failure();
            }
        }
        let lanes = self.own_figures(&settled, database);
        settled.databases.insert(database, lanes.offset(&wanted));
    }
}
