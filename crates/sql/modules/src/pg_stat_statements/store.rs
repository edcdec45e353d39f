//! # What
//! The figures of all statements ([`Store`]).
//!
//! # Invariants
//! 1. Each worker counts in a lane of its own, whose lock nobody else takes unless somebody looks, resets or forgets.
//! 2. Whatever is in a lane is known; who takes something away holds all locks.
//!
//! # Locks
//! Short mutexes: the lanes in ascending order, then what is known (`LOCKS.md`, ranks 62 and 63).
//!
//! # PostgreSQL counterpart and differences
//! `pgss_store`, `entry_dealloc`. There one table is shared under a lock. What is forgotten when there are too many statements is what was not counted
//! lately, and of that what was counted least.

use std::any::Any;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use base::Oid;
use base::settings::Setting;
use parking_lot::{Mutex, MutexGuard};
use rustc_hash::FxHashMap;
use session::Instance;
use session::hooks::{Counted, Statements};

use super::figures::Figures;
use super::file;

/// Lanes; workers beyond this number share them.
const LANES: usize = 64;

/// What tells statements apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) user: Oid,
    pub(super) database: Oid,
    pub(super) top_level: bool,
    pub(super) id: i64,
}

/// What is known of a statement besides figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) text: Arc<str>,
    /// Since when it is counted, microseconds since 2000-01-01 UTC.
    pub(super) since: i64,
    /// Since when extremes are.
    pub(super) extremes_since: i64,
}

#[derive(Default)]
struct Directory {
    known: FxHashMap<Key, Known>,
    /// Times that statements were forgotten.
    forgotten: i64,
    /// When everything was reset.
    reset: i64,
}

type Lane = FxHashMap<Key, Figures>;

/// The figures of a server's statements.
pub(super) struct Store {
    max: usize,
    instance: Weak<Instance>,
    lanes: Box<[Mutex<Lane>]>,
    directory: Mutex<Directory>,
    /// Rounds of forgetting so far.
    round: AtomicU64,
}

impl Store {
    /// An empty one, for so many statements.
    pub(super) fn new(max: usize, instance: Weak<Instance>) -> Store {
        let directory = Directory { reset: runtime::wall_clock_micros(), ..Directory::default() };
        Store {
            max,
            instance,
            lanes: (0..LANES).map(|_| Mutex::default()).collect(),
            directory: Mutex::new(directory),
            round: AtomicU64::new(0),
        }
    }

    fn lane(&self) -> MutexGuard<'_, Lane> {
        self.lanes[runtime::worker_index().unwrap_or(0) % LANES].lock()
    }

    fn all_lanes(&self) -> Vec<MutexGuard<'_, Lane>> {
        self.lanes.iter().map(Mutex::lock).collect()
    }

    /// Adds to the figures of a statement. Of one that is new here the text is asked for.
    fn add(&self, key: Key, text: &dyn Fn() -> String, add: impl Fn(&mut Figures)) {
        if let Some(figures) = self.lane().get_mut(&key) {
            return add(figures);
        }
        let text = text();
        let mut lane = self.lane();
        let mut directory = self.directory.lock();
        directory.known.entry(key).or_insert_with(|| {
            let now = runtime::wall_clock_micros();
            Known { text: text.into(), since: now, extremes_since: now }
        });
        add(lane.entry(key).or_default());
        let full = directory.known.len() > self.max;
        drop((directory, lane));
        if full {
            self.forget();
        }
    }

    /// Makes room for more statements.
    fn forget(&self) {
        let mut lanes = self.all_lanes();
        let mut directory = self.directory.lock();
        if directory.known.len() <= self.max {
            return;
        }
        let mut order: Vec<_> = directory
            .known
            .keys()
            .map(|key| {
                let figures = sum(&lanes, key);
                (figures.round, figures.runs.count + figures.plans.count, *key)
            })
            .collect();
        order.sort_unstable();
        let room = (self.max / 20).max(10) + directory.known.len() - self.max;
        for (_, _, key) in order.into_iter().take(room) {
            directory.known.remove(&key);
            lanes.iter_mut().for_each(|lane| {
                lane.remove(&key);
            });
        }
        directory.forgotten += 1;
        // Relaxed: at worst a statement looks older than it is and is evicted.
        self.round.fetch_add(1, Ordering::Relaxed);
    }

    /// Resets statements, or only their minima and maxima; `all`: the module's own figures too. Returns the time of the reset.
    pub(super) fn reset(&self, chosen: impl Fn(&Key) -> bool, only_extremes: bool, all: bool) -> i64 {
        let now = runtime::wall_clock_micros();
        let mut lanes = self.all_lanes();
        let mut directory = self.directory.lock();
        if only_extremes {
            let figures = lanes.iter_mut().flat_map(|lane| lane.iter_mut());
            figures.filter(|(key, _)| chosen(key)).for_each(|(_, figures)| figures.reset_extremes());
            let known = directory.known.iter_mut();
            known.filter(|(key, _)| chosen(key)).for_each(|(_, known)| known.extremes_since = now);
            return now;
        }
        lanes.iter_mut().for_each(|lane| lane.retain(|key, _| !chosen(key)));
        directory.known.retain(|key, _| !chosen(key));
        if all {
            (directory.forgotten, directory.reset) = (0, now);
        }
        now
    }

    /// How often statements were forgotten, and since when that is counted.
    pub(super) fn info(&self) -> (i64, i64) {
        let directory = self.directory.lock();
        (directory.forgotten, directory.reset)
    }

    /// All statements and their figures.
    pub(super) fn sums(&self) -> Vec<(Key, Known, Figures)> {
        let lanes = self.all_lanes();
        let directory = self.directory.lock();
        directory.known.iter().map(|(key, known)| (*key, known.clone(), sum(&lanes, key))).collect()
    }

    /// Takes over what was kept.
    pub(super) fn restore(&self, list: Vec<(Key, Known, Figures)>, (forgotten, reset): (i64, i64)) {
        let mut lane = self.lane();
        let mut directory = self.directory.lock();
        (directory.forgotten, directory.reset) = (forgotten, reset);
        for (key, known, figures) in list.into_iter().take(self.max) {
            directory.known.insert(key, known);
            lane.insert(key, figures);
        }
    }
}

fn sum(lanes: &[MutexGuard<'_, Lane>], key: &Key) -> Figures {
    let mut sum = Figures::default();
    lanes.iter().filter_map(|lane| lane.get(key)).for_each(|figures| sum.merge(figures));
    sum
}

impl Statements for Store {
    fn count(&self, counted: &Counted<'_>) {
        let Counted { user, database, top_level, id, .. } = *counted;
        let round = self.round.load(Ordering::Relaxed);
        self.add(Key { user, database, top_level, id }, counted.text, |figures| {
            let times = if counted.planning { &mut figures.plans } else { &mut figures.runs };
            times.add(counted.nanos as f64 / 1e6);
            figures.rows += counted.rows;
            figures.usage += counted.usage;
            figures.round = round;
        });
    }

    fn save(&self, data: &Path) -> std::io::Result<()> {
        let wanted =
            self.instance.upgrade().is_none_or(|i| i.settings().bool(Setting::pg_stat_statements_save));
        if wanted { file::save(self, data) } else { Ok(()) }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(id: i64) -> Key {
        Key { user: Oid(10), database: Oid(5), top_level: true, id }
    }

    fn run(store: &Store, id: i64) {
        store.add(key(id), &|| format!("select {id}"), |figures| {
            figures.runs.add(2.0);
            figures.round = store.round.load(Ordering::Relaxed);
        });
    }

    #[test]
    fn what_is_used_least_is_forgotten() {
        let store = Store::new(20, Weak::new());
        for id in 0..20 {
            run(&store, id);
        }
        run(&store, 3);
        assert_eq!(store.sums().len(), 20);
        run(&store, 20);
        let left: Vec<i64> = store.sums().iter().map(|(key, ..)| key.id).collect();
        assert!(left.len() == 10 && left.contains(&3), "{left:?}");
        assert_eq!(store.info().0, 1);
        // Used since, though seldom: it outlives those that are used no more.
        run(&store, 100);
        (101..111).for_each(|id| run(&store, id));
        let left: Vec<i64> = store.sums().iter().map(|(key, ..)| key.id).collect();
        assert!(left.contains(&110) && !left.contains(&3), "{left:?}");
    }

    #[test]
    fn resets_take_what_they_name() {
        let store = Store::new(20, Weak::new());
        (1..4).for_each(|id| run(&store, id));
        store.reset(|key| key.id == 2, false, false);
        store.reset(|key| key.id == 3, true, false);
        let mut sums = store.sums();
        sums.sort_by_key(|(key, ..)| key.id);
        assert_eq!(sums.iter().map(|(key, ..)| key.id).collect::<Vec<_>>(), [1, 3]);
        assert_eq!((sums[0].2.runs.max, sums[1].2.runs.max, sums[1].2.runs.shown_min()), (2.0, 0.0, 0.0));
        assert_eq!(&*sums[0].1.text, "select 1");
        run(&store, 2);
        assert_eq!(store.sums().len(), 3);
    }

    #[test]
    fn a_clean_restart_keeps_everything() {
        let data = std::env::temp_dir().join(format!("statements-{:016x}", runtime::random_u64()));
        let store = Store::new(20, Weak::new());
        run(&store, -7);
        store.add(key(8), &|| "two\nlines \\".to_string(), |figures| figures.usage.wal_bytes += 9);
        file::save(&store, &data).unwrap();
        let next = Store::new(20, Weak::new());
        file::load(&next, &data);
        let sorted = |store: &Store| {
            let mut sums = store.sums();
            sums.sort_by_key(|(key, ..)| *key);
            sums
        };
        assert_eq!(sorted(&next), sorted(&store));
        assert_eq!(next.info(), store.info());
        let again = Store::new(20, Weak::new());
        file::load(&again, &data);
        assert!(again.sums().is_empty(), "the file is gone");
        std::fs::remove_dir_all(&data).unwrap();
    }
}
