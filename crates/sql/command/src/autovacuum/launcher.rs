//! The loop that finds tables which need something, and starts workers for them.

use std::sync::Arc;
use std::time::Duration;

use base::settings::{ServerSettings, Setting};
use base::{Oid, Severity, SqlError, SqlResult, SqlState, Xid};
use catalog::Reader;
use counters::{self, Key};
use runtime::Instant;
use runtime::usage::Account;
use rustc_hash::FxHashMap;
use session::Instance;

use super::need::{Facts, Need};
use super::state::{Autovacuum, Ended, Job, Outcome, is_wanted};
use super::{Host, LAUNCHER_PID, look, worker};

/// How long a table rests that is found for the first time: it may still be being loaded, and loads often end with a VACUUM or ANALYZE of their own.
const FIRST_REST: Duration = Duration::from_secs(1);

/// How long the launcher of a standby goes without a look at whether it is one still.
const STANDBY_NAP: Duration = Duration::from_secs(1);

/// The shortest rest of a table after a VACUUM.
const REST: Duration = Duration::from_millis(50);

/// The rest of a table whose dead rows some snapshot needs.
const HELD_REST: Duration = Duration::from_secs(1);

/// The shortest rest of a table that was found locked.
const REFUSED_REST: Duration = Duration::from_millis(200);

/// How many times as long as an ANALYZE has taken a table rests after it: what it finds seldom changes, and plans are made again for it.
const ANALYZE_RESTS: u32 = 20;
/// The shortest rest of a table after an ANALYZE.
const ANALYZE_REST: Duration = Duration::from_secs(10);

/// What was done to a table lately.
#[derive(Default)]
struct Past {
    /// It is not vacuumed before.
    vacuum_from: Option<Instant>,
    /// It is not analysed before.
    analyze_from: Option<Instant>,
    /// Rows that died from this transaction on could not be removed.
    horizon: Option<Xid>,
    /// Nothing is done to it before the next look at all tables.
    is_aside: bool,
    /// How many times in a row it was found locked.
    refused: u32,
}

/// The launcher.
pub struct Launcher {
    instance: Arc<Instance>,
    autovacuum: Arc<Autovacuum>,
    host: Arc<dyn Host>,
    /// What the catalogs say of tables, and in which database, until the next look at all tables.
    facts: FxHashMap<Key, (Oid, Facts)>,
    past: FxHashMap<Key, Past>,
    /// Tables to look at when their rest is over.
    resting: FxHashMap<Key, Instant>,
    shown: bool,
}

impl Launcher {
    /// Of a server.
    pub fn new(instance: Arc<Instance>, autovacuum: Arc<Autovacuum>, host: Arc<dyn Host>) -> Launcher {
        let (facts, past, resting) = Default::default();
        Launcher { instance, autovacuum, host, facts, past, resting, shown: false }
    }

    /// Works until the server is shut down. Called in a fiber.
    pub fn run(mut self) {
        Account::AutovacuumLauncher.enter();
        let autovacuum = self.autovacuum.clone();
        let mut settings = self.instance.settings();
        let mut next_look = runtime::now();
        self.warn_of(&settings);
        while !autovacuum.is_stopped() {
            autovacuum.wake().reset();
            let now_set = self.instance.settings();
            if !Arc::ptr_eq(&settings, &now_set) {
                self.warn_of(&now_set);
                // Thresholds may be others.
                (settings, next_look) = (now_set, runtime::now());
            }
            if self.instance.engine().is_following() {
                // Nothing can be written; that ends some time.
                runtime::wait(runtime::time::timeout(STANDBY_NAP, autovacuum.wake().until_set()));
                continue;
            }
            let wanted = is_wanted(&settings);
            self.show(wanted);
            if !wanted {
                self.forget();
                next_look = runtime::now();
                runtime::wait(autovacuum.wake().until_set());
                continue;
            }
            if runtime::now() >= next_look {
                self.look_at_all(&settings);
                next_look = later(runtime::now(), settings.duration(Setting::autovacuum_naptime));
            }
            self.look_at_suspects(&settings);
            self.start_workers(&settings);
            self.wait_until(next_look);
        }
        self.show(false);
    }

    /// Waits until there is something to do, or it is time to look at all tables.
    fn wait_until(&self, next_look: Instant) {
        let due = self.resting.values().copied().min().unwrap_or(next_look).min(next_look);
        let woken = self.autovacuum.wake().until_set();
        runtime::wait(runtime::time::timeout(due.since(runtime::now()), woken));
    }

    /// Shows the launcher among the server's loops, or not.
    fn show(&mut self, shown: bool) {
        if self.shown == shown {
            return;
        }
        self.shown = shown;
        let sessions = self.instance.sessions();
        match shown {
            true => sessions.add_background(LAUNCHER_PID, "autovacuum launcher", "AutovacuumMain"),
            false => sessions.remove_background(LAUNCHER_PID),
        }
    }

    /// Settings that are in each other's way.
    fn warn_of(&self, settings: &ServerSettings) {
        let warn = |message: String| SqlError::with_severity(Severity::Warning, SqlState::WARNING, message);
        if settings.bool(Setting::autovacuum) && !settings.bool(Setting::track_counts) {
            let warning = warn("autovacuum not started because of misconfiguration".into());
            self.host.log(&warning.hint("Enable the \"track_counts\" option."));
        }
        let (most, slots) =
            (settings.int(Setting::autovacuum_max_workers), settings.int(Setting::autovacuum_worker_slots));
        if most > slots {
            let warning = warn(format!(
                "\"autovacuum_max_workers\" ({most}) should be less than or equal to \"autovacuum_worker_slots\" ({slots})"
            ));
            self.host.log(&warning.detail(format!(
                "The server will only start up to \"autovacuum_worker_slots\" ({slots}) autovacuum workers at a given time."
            )));
        }
    }

    /// There are no automatic vacuums now.
    fn forget(&mut self) {
        self.autovacuum.clear();
        // Whoever is to look at tables again looks at all.
        self.instance.counters().take_suspects();
        self.instance.counters().take_ranges();
        self.facts.clear();
        self.past.clear();
        self.resting.clear();
    }

    fn start_workers(&self, settings: &ServerSettings) {
        let number = |setting| settings.int(setting).max(0) as usize;
        let most = number(Setting::autovacuum_max_workers).min(number(Setting::autovacuum_worker_slots));
        while let Some((hired, job)) = self.autovacuum.hire(most) {
            let instance = self.instance.clone();
            self.host.start_worker(Box::new(move |place| worker::work(&instance, place, &hired, job)));
        }
    }

    /// Tables that tell by their counters, those whose upkeep has ended, and those whose rest is over.
    fn look_at_suspects(&mut self, settings: &ServerSettings) {
        for (index, block) in self.instance.counters().take_ranges() {
            self.autovacuum.add_range(index, block);
        }
        let mut keys = self.instance.counters().take_suspects();
        for ended in self.autovacuum.take_ended() {
            self.note(&ended, settings);
            keys.push(ended.job.key);
        }
        let now = runtime::now();
        self.resting.retain(|key, time| {
            let over = *time <= now;
            if over {
                keys.push(*key);
            }
            !over
        });
        keys.sort_unstable();
        keys.dedup();
        for key in keys {
            // Nobody interrupts the launcher: it only lets others run.
            runtime::pause();
            self.look_at(key, settings);
        }
    }

    /// Takes note of how the upkeep of a table has ended.
    fn note(&mut self, ended: &Ended, settings: &ServerSettings) {
        self.facts.remove(&ended.job.key);
        let past = self.past.entry(ended.job.key).or_default();
        let (now, most) = (runtime::now(), settings.duration(Setting::autovacuum_naptime));
        match ended.outcome {
            Outcome::Unneeded => {}
            Outcome::Failed => past.is_aside = true,
            Outcome::Refused => {
                let from = later(now, (REFUSED_REST * 2u32.saturating_pow(past.refused.min(20))).min(most));
                past.refused += 1;
                (past.vacuum_from, past.analyze_from) = (Some(from), Some(from));
            }
            Outcome::Done(done) => {
                past.refused = 0;
                let rest = |times: u32, least: Duration| (ended.took * times).max(least).min(most);
                if done.vacuum {
                    past.vacuum_from = Some(later(now, rest(1, REST)));
                    past.horizon = Some(ended.horizon);
                }
                if done.analyze {
                    past.analyze_from = Some(later(now, rest(ANALYZE_RESTS, ANALYZE_REST)));
                }
            }
        }
    }

    /// Once in a while: all tables of all databases.
    fn look_at_all(&mut self, settings: &ServerSettings) {
        self.facts.clear();
        self.resting.clear();
        let mut past = std::mem::take(&mut self.past);
        let known = self.instance.counters().known_databases();
        let mut is_first = true;
        for database in self.attempt(look::databases).unwrap_or_default() {
            if !known.contains(&database) {
                continue;
            }
            let sessions = self.instance.sessions().clone();
            let read = |reader: &Reader<'_>| look::tables(reader, &sessions, settings);
            let tables = self.attempt(|instance| look::in_database(instance, database, read));
            for facts in tables.flatten().unwrap_or_default() {
                runtime::pause();
                let key = counters::key(database, facts.oid);
                // Those that all databases share are looked at once.
                if key.0.is_valid() || is_first {
                    if let Some(past) = past.remove(&key) {
                        self.past.insert(key, Past { is_aside: false, ..past });
                    }
                    self.judge(key, database, &facts, settings);
                }
            }
            is_first = false;
        }
    }

    /// Looks whether a table needs something.
    fn look_at(&mut self, key: Key, settings: &ServerSettings) {
        if self.autovacuum.knows(key) {
            return;
        }
        if !self.facts.contains_key(&key) {
            let Some(found) = self.attempt(|instance| read(instance, key, settings)).flatten() else {
                return;
            };
            self.facts.insert(key, found);
        }
        if let Some((database, facts)) = self.facts.get(&key).cloned() {
            self.judge(key, database, &facts, settings);
        }
    }

    /// Has a table worked on that needs something, and may have it; otherwise says when to look again.
    fn judge(&mut self, key: Key, database: Oid, facts: &Facts, settings: &ServerSettings) {
        let counters = self.instance.counters();
        let counted = counters.of_key(key);
        if counted.is_none() && !facts.has_old_ids && !facts.is_orphan {
            return;
        }
        let counted = counted.unwrap_or_default();
        let need = facts.need(&counted, settings);
        // A table that rests after what it needs may soon need something else besides.
        let (left, of) = facts.distance(&counted, need, settings);
        counters.look_again_after(key, left, of);
        if !need.any() {
            return;
        }
        let (allowed, later) = self.allowed(key, need, facts.has_old_ids);
        if allowed.any() {
            self.autovacuum.add(Job { key, database, allowed, summarize: None });
        } else if let Some(time) = later {
            self.resting.insert(key, time);
        }
        // Otherwise the next look at all tables finds it.
    }

    /// What a table may have now of what it needs, and when it may have the rest, if that is known.
    fn allowed(&mut self, key: Key, need: Need, has_old_ids: bool) -> (Need, Option<Instant>) {
        let now = runtime::now();
        let past = self.past.entry(key).or_insert_with(|| {
            let from = Some(later(now, FIRST_REST));
            Past { vacuum_from: from, analyze_from: from, ..Past::default() }
        });
        if past.is_aside {
            return (Need::default(), None);
        }
        let is_over = |from: Option<Instant>| from.is_none_or(|from| from <= now);
        if need.vacuum
            && is_over(past.vacuum_from)
            && !has_old_ids
            && past.horizon == Some(worker::horizon(&self.instance))
        {
            past.vacuum_from = Some(later(now, HELD_REST));
        }
        let allowed = Need {
            vacuum: need.vacuum && is_over(past.vacuum_from),
            analyze: need.analyze && is_over(past.analyze_from),
            drop: need.drop && is_over(past.vacuum_from),
        };
        let times = [
            past.vacuum_from.filter(|_| need.vacuum || need.drop),
            past.analyze_from.filter(|_| need.analyze),
        ];
        (allowed, times.into_iter().flatten().filter(|time| *time > now).min())
    }

    /// What went wrong is told, and no reason to end.
    fn attempt<T>(&self, work: impl FnOnce(&Instance) -> SqlResult<T>) -> Option<T> {
        let mut error = match work(&self.instance) {
            Ok(value) => return Some(value),
            Err(error) => error,
        };
        error.report_mut().severity = Severity::Log;
        self.host.log(&error);
        None
    }
}

/// What is known of a table, and a database where it can be worked on.
fn read(instance: &Instance, key: Key, settings: &ServerSettings) -> SqlResult<Option<(Oid, Facts)>> {
    let database = match key.0 {
        Oid::INVALID => look::databases(instance)?.first().copied(),
        database => Some(database),
    };
    let Some(database) = database else { return Ok(None) };
    let facts = look::in_database(instance, database, |reader| {
        look::table(reader, instance.sessions(), key.1, settings)
    })?;
    Ok(facts.flatten().map(|facts| (database, facts)))
}

fn later(time: Instant, more: Duration) -> Instant {
    Instant(time.0.saturating_add(more.as_nanos() as u64))
}
