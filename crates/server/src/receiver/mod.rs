//! # What
//! Receives the log from another server for a standby: the one implementation of [`engine::Upstream`] with sockets.
//!
//! # Layout
//! This file: who is asked to begin and to end. `stream`: a stream, from the connection to its end.
//!
//! # Invariants
//! 1. One thread at a time receives. It has an event loop of its own, in which it waits for the disk only if little is to be made durable: what is more is made
//!    so on another thread, one at a time, while it goes on.
//! 2. Whatever ends it, a panic too, the reader is told that the stream has ended.
//!
//! # Locks
//! `settings`, `running` (short).
//!
//! # PostgreSQL counterpart
//! `walreceiver.c`, `walreceiverfuncs.c`. There the receiver is a process, which stays connected between two time lines.

mod stream;

use std::sync::Arc;

use base::settings::{ServerSettings, Setting};
use base::{SqlError, SqlState};
use engine::{Begin, Inflow, Phase, Upstream};
use parking_lot::Mutex;
use runtime::Event;
use wal::Wal;

use crate::log;

/// Settings that a stream was begun with: with others it begins anew.
const OF_STREAM: [Setting; 3] =
    [Setting::primary_conninfo, Setting::primary_slot_name, Setting::wal_receiver_create_temp_slot];

/// What these are in some settings.
fn source(settings: &ServerSettings) -> String {
    OF_STREAM.map(|setting| settings.show(setting)).join("\n")
}

/// Who receives the log.
pub struct Receiver {
    inflow: Inflow,
    settings: Mutex<Arc<ServerSettings>>,
    /// Ends the stream that there is.
    running: Mutex<Option<Arc<Event>>>,
    itself: std::sync::Weak<Receiver>,
}

impl std::fmt::Debug for Receiver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Receiver").field("inflow", &self.inflow).finish_non_exhaustive()
    }
}

/// Tells the reader that the stream has ended.
struct Ended(Arc<Receiver>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.running.lock().take();
        self.0.inflow.update(|progress| progress.phase = Phase::Ended);
    }
}

impl Receiver {
    /// Nothing is received yet.
    pub fn new(settings: Arc<ServerSettings>) -> Arc<Receiver> {
        Arc::new_cyclic(|itself| Receiver {
            inflow: Inflow::default(),
            settings: Mutex::new(settings),
            running: Mutex::default(),
            itself: itself.clone(),
        })
    }

    /// The settings in force.
    fn settings(&self) -> Arc<ServerSettings> {
        self.settings.lock().clone()
    }

    /// The server has new settings. A stream that was begun with others ends, and recovery asks for the next.
    pub fn take_settings(&self, settings: Arc<ServerSettings>) {
        let old = std::mem::replace(&mut *self.settings.lock(), settings.clone());
        let changed = source(&old) != source(&settings);
        if let Some(running) = self.running.lock().as_ref().filter(|_| changed) {
            log::log("WAL receiver process shutdown requested");
            running.set();
        }
    }
}

impl Upstream for Receiver {
    fn is_configured(&self) -> bool {
        !self.settings().text(Setting::primary_conninfo).is_empty()
    }

    fn source(&self) -> String {
        source(&self.settings())
    }

    fn start(&self, wal: &Arc<Wal>, begin: Begin, again: Begin) {
        let Some(itself) = self.itself.upgrade() else { return };
        let end = Arc::<Event>::default();
        *self.running.lock() = Some(end.clone());
        self.inflow.update(|progress| {
            progress.phase = Phase::Starting;
            progress.begin(again);
            progress.sender = engine::Sender::default();
        });
        let (wal, ended) = (wal.clone(), Ended(itself.clone()));
        let receive = move || {
            let _ended = ended;
            let stream = stream::receive(&itself, &wal, (begin, again), &end);
            let result = runtime::run_async(stream).unwrap_or_else(|error| {
                Err(SqlError::fatal(
                    SqlState::INSUFFICIENT_RESOURCES,
                    format!("could not start event loop: {}", base::os_error(&error)),
                ))
            });
            if let Err(error) = result {
                log::report(&error, None, None);
            }
        };
        if let Err(error) = runtime::spawn_thread("walreceiver", receive) {
            log::log(format!("could not start thread of the WAL receiver: {}", base::os_error(&error)));
        }
    }

    fn stop(&self) {
        let running = self.running.lock().clone();
        if let Some(running) = running {
            running.set();
            self.inflow.wait_for_end();
        }
    }

    fn inflow(&self) -> &Inflow {
        &self.inflow
    }
}
