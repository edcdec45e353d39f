//! The loop that starts workers for subscriptions that are enabled, and for tables that are to be copied.

use std::sync::Arc;
use std::time::Duration;

use base::settings::Setting;
use base::{Oid, SqlResult};
use runtime::Instant;
use rustc_hash::FxHashMap;
use session::Instance;
use session::subscription::Subscribers;

use super::{Host, LAUNCHER_PID, copier, worker};

/// How long the launcher sleeps if nobody wakes it.
const NAP: Duration = Duration::from_secs(180);
/// How long the launcher of a standby goes without a look at whether it is one still.
const STANDBY_NAP: Duration = Duration::from_secs(1);

/// The launcher.
pub struct Launcher {
    instance: Arc<Instance>,
    host: Arc<dyn Host>,
    /// When a worker was started last.
    started: FxHashMap<Oid, Instant>,
}

impl Launcher {
    /// Of a server.
    pub fn new(instance: Arc<Instance>, host: Arc<dyn Host>) -> Launcher {
        Launcher { instance, host, started: FxHashMap::default() }
    }

    /// Works until the server is shut down. Called in a fiber.
    pub fn run(mut self) {
        let subscribers = self.instance.subscribers().clone();
        if self.most() == 0 {
            return;
        }
        let sessions = self.instance.sessions().clone();
        sessions.add_background(LAUNCHER_PID, "logical replication launcher", "LogicalLauncherMain");
        while !subscribers.is_shut_down() {
            subscribers.wake().reset();
            let nap = match self.instance.engine().is_following() {
                true => STANDBY_NAP,
                false => self.start(&subscribers).unwrap_or_else(|error| {
                    self.host.log(&error);
                    self.instance.settings().duration(Setting::wal_retrieve_retry_interval)
                }),
            };
            if !subscribers.is_shut_down() {
                runtime::wait(runtime::time::timeout(nap, subscribers.wake().until_set()));
            }
        }
        sessions.remove_background(LAUNCHER_PID);
    }

    fn most(&self) -> usize {
        self.instance.settings().int(Setting::max_logical_replication_workers).max(0) as usize
    }

    /// Starts what is to run and does not; tells when to look again.
    fn start(&mut self, subscribers: &Arc<Subscribers>) -> SqlResult<Duration> {
        let settings = self.instance.settings();
        let rest = settings.duration(Setting::wal_retrieve_retry_interval);
        let enabled = self.instance.read_shared(LAUNCHER_PID, |reader| reader.enabled_subscriptions())?;
        self.started.retain(|oid, _| enabled.iter().any(|(known, _)| known == oid));
        let running = subscribers.list();
        let (mut nap, mut count) = (NAP, running.len());
        let now = runtime::now();
        for (subscription, database) in &enabled {
            if running.iter().any(|worker| (worker.0, worker.1) == (*subscription, Oid::INVALID)) {
                continue;
            }
            let due = self.started.get(subscription).map(|at| rest.saturating_sub(now.since(*at)));
            match due {
                Some(due) if !due.is_zero() => nap = nap.min(due),
                _ if count >= self.most() => nap = nap.min(rest),
                _ => {
                    count += 1;
                    self.started.insert(*subscription, now);
                    let (instance, subscription, database) =
                        (self.instance.clone(), *subscription, *database);
                    self.host.start_worker(Box::new(move |place| {
                        worker::work(&instance, place, database, subscription);
                    }));
                }
            }
        }
        let most = settings.int(Setting::max_sync_workers_per_subscription).max(0) as usize;
        for (subscription, table) in subscribers.take_asked() {
            let Some((_, database)) = enabled.iter().find(|(known, _)| *known == subscription) else {
                continue;
            };
            let copying = subscribers.list().iter().filter(|w| w.0 == subscription && w.1.is_valid()).count();
            if count >= self.most() || copying >= most {
                continue;
            }
            count += 1;
            let (instance, database) = (self.instance.clone(), *database);
            self.host.start_worker(Box::new(move |place| {
                copier::work(&instance, place, database, (subscription, table));
            }));
        }
        Ok(nap)
    }
}
