//! What · Waits for locks that last: when a session looks for a deadlock or gives up, what is told of it (`log_lock_waits`), and to
//! those who may give way.
//!
//! Locks · As [`lock`](crate::lock): none is held while a session sleeps or what it waits for is told.
//!
//! PostgreSQL counterpart · `ProcSleep` in `proc.c`.

use std::sync::Arc;
use std::time::Duration;

use runtime::usage::used;

use crate::SessionId;
use crate::lock::{LockError, LockManager, LockMode, LockTag, Queued, Waiter, within};

/// A session's `deadlock_timeout` and `lock_timeout`, and what it tells of long waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockTimeouts {
    /// A wait that lasts longer looks for deadlocks.
    pub deadlock: Duration,
    /// A wait that lasts longer fails.
    pub lock: Option<Duration>,
    /// Whether a wait is told of that lasts longer than `deadlock`.
    pub told: Told,
}

/// Whether long waits are told of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Told {
    /// No.
    #[default]
    Never,
    /// Yes.
    Alone,
    /// With the statement that waits.
    WithStatement,
}

impl Default for LockTimeouts {
    fn default() -> LockTimeouts {
        LockTimeouts { deadlock: Duration::from_secs(1), lock: None, told: Told::Never }
    }
}

/// How a wait stands that has lasted for `deadlock_timeout`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It goes on.
    Waits,
    /// The session has its lock.
    Acquired,
    /// It was in a deadlock, and has ended.
    Deadlock,
    /// It would have been in a deadlock, had the queue not been changed.
    Avoided,
}

/// A wait that is told of.
#[derive(Clone, Debug)]
pub struct LongWait {
    /// Who waits.
    pub session: SessionId,
    /// For what.
    pub tag: LockTag,
    /// In which mode.
    pub mode: LockMode,
    /// Since when.
    pub waited: Duration,
    /// How it stands.
    pub standing: Standing,
    /// The lock's holder, and the session that waits.
    pub around: [Vec<SessionId>; 2],
    /// Whether the statement is told of as well.
    pub with_statement: bool,
}

/// Is told of long waits.
pub(crate) type Listener = Box<dyn Fn(&LongWait) + Send + Sync>;

/// Is told of sessions that others wait for.
pub(crate) type BlockedListener = Box<dyn Fn(&[SessionId]) + Send + Sync>;

impl LongWait {
    /// In PostgreSQL's words.
    pub fn message(&self) -> String {
        let (process, mode, tag) = (self.session.0, self.mode.name(), self.tag);
        let micros = self.waited.as_micros();
        let after = format!("after {}.{:03} ms", micros / 1000, micros % 1000);
        match self.standing {
            Standing::Waits => format!("process {process} still waiting for {mode} on {tag} {after}"),
            Standing::Acquired => format!("process {process} acquired {mode} on {tag} {after}"),
            Standing::Deadlock => {
                format!("process {process} detected deadlock while waiting for {mode} on {tag} {after}")
            }
            Standing::Avoided => format!(
                "process {process} avoided deadlock for {mode} on {tag} by rearranging queue order {after}"
            ),
        }
    }

    /// Its DETAIL: the others.
    pub fn detail(&self) -> Option<String> {
        let [holders, queue] = &self.around;
        let list = |sessions: &[SessionId]| {
            sessions.iter().map(|session| session.0.to_string()).collect::<Vec<_>>().join(", ")
        };
        let who = if holders.len() == 1 { "Process" } else { "Processes" };
        (self.standing != Standing::Acquired)
            .then(|| format!("{who} holding the lock: {}. Wait queue: {}.", list(holders), list(queue)))
    }
}

impl LockManager {
    /// Sleeps in the queue until granted, interrupted, timed out, or found to be in a deadlock. Leaves the queue in every
    /// other case, a fiber that is unwound among them. Returns the tag of what it got.
    pub(crate) fn sleep(&self, waiter: Arc<Waiter>, timeouts: LockTimeouts) -> Result<LockTag, LockError> {
        let mut queued = Queued { manager: self, waiter, granted: false };
        let start = runtime::now();
        let tell = |waiter: &Waiter, standing| self.tell(waiter, start.elapsed(), standing, timeouts.told);
        let mut checked = false;
        while !queued.waiter.granted() {
            let passed = start.elapsed();
            let until_check = (!checked).then(|| timeouts.deadlock.saturating_sub(passed));
            let until_timeout = timeouts.lock.map(|limit| limit.saturating_sub(passed));
            if until_timeout.is_some_and(|left| left.is_zero()) {
                return Err(LockError::Timeout);
            }
            if until_check.is_some_and(|left| left.is_zero()) {
                checked = true;
                match self.check_deadlock(queued.waiter.session) {
                    Err(cycle) => {
                        used(|c| &c.deadlocks, 1);
                        tell(&queued.waiter, Standing::Deadlock);
                        return Err(LockError::Deadlock(cycle));
                    }
                    Ok(true) => tell(&queued.waiter, Standing::Avoided),
                    Ok(false) => {}
                }
                if !queued.waiter.granted() {
                    tell(&queued.waiter, Standing::Waits);
                    self.tell_blocked(&queued.waiter);
                }
                continue;
            }
            let limit = [until_check, until_timeout].into_iter().flatten().min();
            runtime::wait_interruptible(within(queued.waiter.until_granted(), limit))
                .map_err(LockError::Interrupted)?;
        }
        queued.granted = true;
        if checked {
            tell(&queued.waiter, Standing::Acquired);
        }
        Ok(queued.waiter.tag())
    }

    /// Who is told of long waits; set once.
    pub fn on_long_wait(&self, listener: impl Fn(&LongWait) + Send + Sync + 'static) {
        let _ = self.listener.set(Box::new(listener));
    }

    /// Is told of sessions that others have waited for longer than `deadlock_timeout`, so that they can yield; set once.
    pub fn on_blocked(&self, listener: impl Fn(&[SessionId]) + Send + Sync + 'static) {
        let _ = self.blocked.set(Box::new(listener));
    }

    fn tell_blocked(&self, waiter: &Waiter) {
        if let Some(listener) = self.blocked.get() {
            listener(&self.blocking(waiter.session));
        }
    }

    fn tell(&self, waiter: &Waiter, waited: Duration, standing: Standing, told: Told) {
        let Some(listener) = self.listener.get().filter(|_| told != Told::Never) else { return };
        let tag = waiter.tag();
        listener(&LongWait {
            session: waiter.session,
            tag,
            mode: waiter.mode,
            waited,
            standing,
            around: self.around(tag),
            with_statement: told == Told::WithStatement,
        });
    }
}
