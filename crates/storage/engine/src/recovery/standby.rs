//! A server that is open while it replays: a hot standby, or a recovery to a target that sessions watch.
//!
//! # Steps
//! 1. The data are consistent: [`Engine::open_following`] keeps the course for later, and the server opens.
//! 2. [`Engine::follow`] goes on with it in a thread of its own. Sessions read.
//! 3. The log's end is reached, or the target, or somebody promotes: the engine goes over to writing ([`Engine::end_archive`]) while sessions are connected.
//!    What they began before stays read-only to its end.
//!
//! # Locks
//! `Standby::state`, short.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use runtime::{Event, fs};

use super::archive::PROMOTE_SIGNAL;
use super::conflicts::Conflicts;
use super::course::{Course, Outcome};
use super::drain;
use super::restore::RestartPoint;
use crate::{Engine, EngineError};

/// How long a pause goes without a look at whether it is to end.
const LOOK: std::time::Duration = std::time::Duration::from_millis(20);

/// What is known of the replay beside sessions.
#[derive(Default)]
pub(crate) struct Standby {
    /// The log is replayed, and nothing can be written.
    following: AtomicBool,
    state: Mutex<State>,
    ended: Event,
    pause: AtomicU8,
    /// Somebody has asked for a pause.
    pause_wanted: Event,
    pub(super) conflicts: OnceLock<Arc<dyn Conflicts>>,
}

/// Whether replay pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplayPause {
    /// It goes on.
    No,
    /// It is to.
    Requested,
    /// It does.
    Paused,
}

#[derive(Default)]
struct State {
    /// Where to go on, before the thread has it.
    course: Option<Course>,
    restart: Option<Arc<RestartPoint>>,
    result: Option<Result<(), EngineError>>,
}

impl Engine {
    /// Whether the log is replayed while the server is open: nothing can be written.
    #[inline]
    pub fn is_following(&self) -> bool {
        // Acquire: who finds that it is over finds the log open.
        self.standby.following.load(Ordering::Acquire)
    }

    /// The data are consistent: sessions may read.
    pub(super) fn open_following(&self, course: Course) -> Result<(), EngineError> {
        let mut state = self.standby.state.lock();
        state.restart = Some(course.archive().restart.clone());
        tracing::info!("consistent recovery state reached at {}", course.reached());
        state.course = Some(course);
        self.standby.following.store(true, Ordering::Release);
        Ok(())
    }

    /// Goes on with the replay in a thread of its own, and waits for its end. At once if there is none.
    pub fn follow(self: &Arc<Engine>) -> Result<(), EngineError> {
        let Some(course) = self.standby.state.lock().course.take() else { return Ok(()) };
        let engine = self.clone();
        runtime::spawn_thread("startup", move || {
            let result = engine.run_course(course);
            engine.standby.state.lock().result = Some(result);
            engine.standby.ended.set();
        })
        .map_err(|e| EngineError::Io("could not start thread of recovery".into(), e))?;
        self.standby.ended.wait();
        self.standby.state.lock().result.take().unwrap_or(Ok(()))
    }

    fn run_course(&self, mut course: Course) -> Result<(), EngineError> {
        match course.run(self, false)? {
            Outcome::Ended(ended) => self.end_archive(&course, &ended)?,
            Outcome::Consistent => {}
        }
        self.standby.following.store(false, Ordering::Release);
        Ok(())
    }

    /// Has the replay pause, or go on.
    pub fn pause_replay(&self, pauses: bool) {
        let state = &self.standby.pause;
        match pauses {
            true => {
                // One that pauses already goes on doing so.
                let (no, requested) = (ReplayPause::No as u8, ReplayPause::Requested as u8);
                let _ = state.compare_exchange(no, requested, Ordering::AcqRel, Ordering::Acquire);
                self.standby.pause_wanted.set();
            }
            false => state.store(ReplayPause::No as u8, Ordering::Release),
        }
    }

    /// Set behind each request to pause, for who waits for more of the log; he resets it before he looks whether to pause.
    pub(super) fn pause_wanted(&self) -> &Event {
        &self.standby.pause_wanted
    }

    /// Whether the replay pauses.
    pub fn replay_pause(&self) -> ReplayPause {
        match self.standby.pause.load(Ordering::Acquire) {
            0 => ReplayPause::No,
            1 => ReplayPause::Requested,
            _ => ReplayPause::Paused,
        }
    }

    /// Between two records: rests as long as the replay is to pause.
    #[inline]
    pub(super) fn rest_if_paused(&self, stops: &dyn Fn() -> bool) {
        // Relaxed: a request is found a record later.
        if self.standby.pause.load(Ordering::Relaxed) != ReplayPause::No as u8 {
            self.rest(stops);
        }
    }

    #[cold]
    fn rest(&self, stops: &dyn Fn() -> bool) {
        tracing::info!(hint = %"Execute pg_wal_replay_resume() to continue.", "recovery has paused");
        while self.replay_pause() != ReplayPause::No && !stops() && !self.is_promoted() {
            let (requested, paused) = (ReplayPause::Requested as u8, ReplayPause::Paused as u8);
            let _ =
                self.standby.pause.compare_exchange(requested, paused, Ordering::AcqRel, Ordering::Acquire);
            runtime::waiting(runtime::WaitEvent::RecoveryPause, || runtime::wait(runtime::sleep(LOOK)));
        }
        self.pause_replay(false);
    }

    /// At the target: pauses until somebody wants recovery to end.
    pub(super) fn pause_at_end(&self, stops: &dyn Fn() -> bool) {
        tracing::info!(hint = %"Execute pg_wal_replay_resume() to promote.", "pausing at the end of recovery");
        self.standby.pause.store(ReplayPause::Paused as u8, Ordering::Release);
        while self.replay_pause() != ReplayPause::No && !stops() && !self.is_promoted() {
            runtime::waiting(runtime::WaitEvent::RecoveryPause, || runtime::wait(runtime::sleep(LOOK)));
        }
        self.pause_replay(false);
    }

    /// Has the standby become a server of its own, soon.
    pub fn promote(&self) -> Result<(), EngineError> {
        let path = self.dir.join(PROMOTE_SIGNAL);
        let failed = |e| EngineError::Io(format!("could not create file \"{PROMOTE_SIGNAL}\""), e);
        fs::write_file(&path, b"").map_err(failed)
    }

    /// Whether the standby becomes a server of its own.
    pub fn promotion_is_triggered(&self) -> bool {
        self.is_promoted()
    }

    /// Whether somebody wants the standby to become a server of its own. A file that cannot be looked at is looked at again.
    pub(super) fn is_promoted(&self) -> bool {
        fs::exists(&self.dir.join(PROMOTE_SIGNAL)).unwrap_or(false)
    }

    /// A restart point of the last checkpoint that was replayed, if it is a new one: pages are brought up to date first.
    pub(crate) fn newest_restart_point(&self) -> Result<(), EngineError> {
        // Not locked meanwhile: the replay looks at it too.
        let Some(recovery) = self.recovery.lock().clone() else { return Ok(()) };
        let end = recovery.reached.end();
        drain::start(&recovery, &self.pool, self.options().recovery.workers)?.wait()?;
        recovery.checkpoints.set_drained(end);
        self.restart_point(&mut |_, _| ()).map(drop)
    }

    /// A restart point, if one can be made.
    pub fn restart_point(&self, progress: &mut dyn FnMut(usize, usize)) -> Result<bool, EngineError> {
        let Some(restart) = self.standby.state.lock().restart.clone() else { return Ok(false) };
        let Some(recovery) = self.recovery.lock().clone() else { return Ok(false) };
        self.restart_point_of(&recovery, &restart, progress)
    }
}
