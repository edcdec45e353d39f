//! The course of a recovery of an archive: passes over the log, one behind the other, to the end that was asked for.
//!
//! # What
//! A pass reads what there is. Where the log has no more, a standby waits; else recovery ends. Pages are brought up to date beside the pass, in rounds of the
//! workers ([`Drainer`]), so that neither lists nor the log that they refer to grow without bound. Once the data are consistent the server opens, if sessions
//! may look ([`ArchiveRecovery::hot_standby`](super::ArchiveRecovery)), and the course goes on in a thread of its own ([`Engine::follow`]).
//!
//! # Invariants
//! 1. Whoever reads a page sees what the log had for it when he asked, up to the record that was published last ([`lists`](super::lists),
//!    [`buffer::Overdue`]). So all pages change together, record by record, at the moment when it is published; who reads one page after the other reads
//!    them as of moments in that order.
//! 2. A commit is published behind all records before its own: who sees a transaction finds all that it did.
//! 3. *Links between pages.* A record that changes several pages does so in one moment (1). On the server that wrote it those pages were latched until all were
//!    changed. Who reads one page at a time, as searches of all access methods do, meets here what he could have met there: each page as it was at
//!    some moment, later ones at later moments. That was all that a search could rely on.
//!
//! # PostgreSQL counterpart
//! `PerformWalRecovery`, `WaitForWALToBecomeAvailable`.

use std::sync::Arc;
use std::time::Duration;

use base::Lsn;
use wal::{History, Replayed};

use super::Recovery;
use super::archive::{Request, no_recovery};
use super::drain::{self, Round};
use super::pass::{Bounds, Consistency, Live, Pass, Read, Why};
use super::restore::Archive;
use super::supply::{Ending, Supply};
use super::target::{Stopper, TargetAction, TargetTimeline};
use super::upstream::Upstream;
use crate::{Engine, EngineError};

/// Bytes of log from which on a round is worth its while: the more there are, the more of them are of the same pages.
const ROUND: u64 = 64 << 20;
/// Bytes of log that lists refer to at most, about.
const MOST: u64 = 256 << 20;

/// Brings pages up to date beside a pass, a round behind the other.
#[derive(Default)]
pub(super) struct Drainer {
    round: Option<Running>,
    /// Where in the log the last round began.
    began: u64,
}

/// A round, and where the log was read to when it began.
struct Running {
    round: Arc<Round>,
    position: u64,
    end: Lsn,
}

impl Drainer {
    /// Between two chunks: begins and ends rounds as it is time. `end`: all before it is published.
    pub fn look(&mut self, engine: &Engine, log: &mut Replayed, end: Lsn) -> Result<(), EngineError> {
        let position = log.position(end);
        let is_over = |running: &Running| running.round.has_ended() || position > running.position + MOST;
        if self.round.as_ref().is_some_and(is_over) {
            self.finish(engine, log)?;
        }
        if self.round.is_none() && position > self.began + ROUND {
            self.begin(engine, position, end)?;
        }
        Ok(())
    }

    fn begin(&mut self, engine: &Engine, position: u64, end: Lsn) -> Result<(), EngineError> {
        let Some(recovery) = engine.recovery.lock().clone() else { return Ok(()) };
        let round = drain::start(&recovery, &engine.pool, engine.options().recovery.workers)?;
        self.began = position;
        self.round = Some(Running { round, position, end });
        Ok(())
    }

    /// Waits for the round that runs: what the log has before it is wanted by nobody any more.
    fn finish(&mut self, engine: &Engine, log: &mut Replayed) -> Result<(), EngineError> {
        let Some(Running { round, position, end }) = self.round.take() else { return Ok(()) };
        round.wait()?;
        if let Some(recovery) = engine.recovery.lock().clone() {
            recovery.checkpoints.set_drained(end);
        }
        log.forget_before(position);
        Ok(())
    }

    /// Brings all pages up to date.
    fn finish_all(&mut self, engine: &Engine, log: &mut Replayed, end: Lsn) -> Result<(), EngineError> {
        self.finish(engine, log)?;
        self.begin(engine, log.position(end), end)?;
        self.finish(engine, log)
    }
}

/// A recovery that is under way.
pub(crate) struct Course {
    request: Request,
    supply: Supply,
    end: Arc<Ending>,
    stopper: Stopper,
    consistency: Consistency,
    recovery: Arc<Recovery>,
    drainer: Drainer,
    /// Replayed up to here.
    from: Lsn,
    /// The target was reached before sessions could look.
    at_target: Option<(Read, Replayed)>,
}

/// What follows a pass.
enum Next {
    /// Sessions may look.
    Open,
    /// There is more log, and time for a restart point.
    GoOn,
    /// More log may come.
    Wait,
    /// Recovery is over, and the server goes on.
    End,
    /// The server stops: it was told to, or is where it was to stop.
    Stop(EngineError),
}

/// Where a course has come to.
pub(super) enum Outcome {
    /// The data are consistent.
    Consistent,
    /// The log is replayed.
    Ended(Ended),
}

/// The end of a recovery.
pub(super) struct Ended {
    pub read: Read,
    pub log: Replayed,
}

/// What a course begins with.
pub(super) struct Start {
    pub request: Request,
    pub supply: Supply,
    pub end: Arc<Ending>,
    pub stopper: Stopper,
    pub consistency: Consistency,
    pub redo: Lsn,
}

impl Course {
    pub fn new(engine: &Engine, start: Start) -> Course {
        let Start { request, supply, end, stopper, consistency, redo } = start;
        tracing::info!("redo starts at {redo}");
        let history = &supply.history;
        let reader = engine.wal.reader(redo).along(history.clone());
        let log = Replayed::new(&reader);
        // A standby is never done, so its log is not to tell of that without end.
        let report = match request {
            Request::Standby => Duration::ZERO,
            _ => engine.options().startup_progress,
        };
        let recovery = Arc::new(Recovery::new(log, 0, report));
        recovery.reached.set(redo);
        recovery.reached.follow(history);
        engine.pool.set_overdue(Some(recovery.clone()));
        *engine.recovery.lock() = Some(recovery.clone());
        super::reached::keep_floor(
            &engine.wal,
            engine.dir.clone(),
            engine.control.clone(),
            recovery.reached.clone(),
        );
        *engine.replayed.lock() = Some(recovery.reached.clone());
        let drainer = Drainer::default();
        Course { request, supply, end, stopper, consistency, recovery, drainer, from: redo, at_target: None }
    }

    /// Replayed up to here.
    pub fn reached(&self) -> Lsn {
        self.from
    }

    pub fn archive(&self) -> &Archive {
        &self.supply.archive
    }

    pub fn history(&self) -> &History {
        &self.supply.history
    }

    /// Nothing comes from another server any more.
    pub fn close(&self) {
        self.supply.close();
    }

    pub fn request(&self) -> Request {
        self.request
    }

    /// Replays to the end that was asked for; or until sessions may look, if they are to and cannot yet (`opens`).
    pub fn run(&mut self, engine: &Engine, opens: bool) -> Result<Outcome, EngineError> {
        loop {
            let (read, mut log) = match self.at_target.take() {
                Some(reached) => reached,
                None => self.pass(engine, opens)?,
            };
            self.from = read.end;
            match self.next(engine, &read, opens)? {
                Next::Open => {
                    if let Why::Target(_) = &read.why {
                        self.at_target = Some((read, log));
                    }
                    return Ok(Outcome::Consistent);
                }
                Next::GoOn => {
                    self.drainer.finish_all(engine, &mut log, read.end)?;
                    self.keep(&log);
                    self.restart_point(engine)?;
                }
                Next::Wait => {
                    self.drainer.finish_all(engine, &mut log, read.end)?;
                    self.keep(&log);
                    if !engine.is_following() {
                        self.restart_point(engine)?;
                    }
                    // Who had no more of one time line has perhaps told of the next: that is asked for at once.
                    if !self.follow_newest(engine)? {
                        self.supply.rest(engine.options().archive_recovery.retry);
                    }
                }
                Next::End => {
                    self.drainer.finish_all(engine, &mut log, read.end)?;
                    *self.recovery.last.write() = read.last;
                    *self.recovery.end.write() = Some(read.end);
                    return Ok(Outcome::Ended(Ended { read, log }));
                }
                Next::Stop(reason) => {
                    self.drainer.finish_all(engine, &mut log, read.end)?;
                    let _alone = engine.hold_checkpoints();
                    if !self.restart_point(engine)? {
                        engine.write_replayed(&self.recovery, &mut |_, _| ())?;
                    }
                    engine.set_state(crate::control::ClusterState::ShutDownInRecovery)?;
                    return Err(reason);
                }
            }
        }
    }

    /// What lists may refer to from now on.
    fn keep(&self, log: &Replayed) {
        *self.recovery.log.write() = Arc::new(log.clone());
    }

    fn pass(&mut self, engine: &Engine, opens: bool) -> Result<(Read, Replayed), EngineError> {
        let options = engine.options();
        let supply = self.supply.clone();
        self.recovery.reached.follow(&supply.history);
        engine.wal.note_received(Some(supply.history.timeline()), self.from);
        let reader = engine.wal.reader(self.from).along(supply.history.clone()).bringing(Box::new(supply));
        let inflow = options.archive_recovery.upstream.as_deref().map(Upstream::inflow);
        let mut log = Replayed::clone(&self.recovery.log.read());
        log.go_on(&reader);
        let bounds = Bounds {
            until_consistent: opens,
            // The checkpointer makes restart points when there are sessions.
            bytes: if engine.is_following() { u64::MAX } else { options.wal.max_size },
            stopper: Some(&self.stopper),
            consistency: self.consistency,
            delay: match self.request {
                Request::Standby => options.archive_recovery.apply_delay,
                _ => Duration::ZERO,
            },
            end: Some(&self.end),
            inflow,
        };
        let live = Live { drainer: &mut self.drainer, since: runtime::now(), inflow, cutting: None };
        let (read, log) = Pass::live(engine, &self.recovery, log, live).run(reader, &bounds)?;
        self.consistency = read.consistency;
        let mut control = engine.control.lock();
        let before = control.clone();
        self.consistency.note_in(&mut control, &self.recovery.reached);
        if *control != before {
            control.write(&engine.dir)?;
        }
        drop(control);
        Ok((read, log))
    }

    /// What follows a pass.
    fn next(&self, engine: &Engine, read: &Read, opens: bool) -> Result<Next, EngineError> {
        let settings = &engine.options().archive_recovery;
        if self.end.is_stopped() {
            return Ok(Next::Stop(EngineError::Stopped));
        }
        match &read.why {
            Why::Stopped => return Ok(Next::Stop(EngineError::Stopped)),
            Why::Consistent => return Ok(Next::Open),
            Why::Full => return Ok(Next::GoOn),
            Why::Ended(_) if self.request == Request::Standby => {
                if !self.end.is_promoted() {
                    return Ok(Next::Wait);
                }
                tracing::info!("received promote request");
            }
            Why::Ended(_) => {}
            Why::Target(_)
                if opens
                    && settings.action == TargetAction::Pause
                    && self.consistency.is_reached(read.end) =>
            {
                return Ok(Next::Open);
            }
            Why::Target(reached) => tracing::info!("{}", reached.message),
        }
        self.check_end(read)?;
        match &read.why {
            Why::Target(_) if settings.action == TargetAction::Pause && engine.is_following() => {
                let stops = || self.end.is_stopped();
                engine.pause_at_end(&stops);
                Ok(if stops() { Next::Stop(EngineError::Stopped) } else { Next::End })
            }
            Why::Target(_) if settings.action != TargetAction::Promote => {
                Ok(Next::Stop(EngineError::ShutDownAtTarget))
            }
            _ => Ok(Next::End),
        }
    }

    /// Without sessions, the course makes restart points itself.
    fn restart_point(&self, engine: &Engine) -> Result<bool, EngineError> {
        engine.restart_point_of(&self.recovery, &self.supply.archive.restart, &mut |_, _| ())
    }

    /// Whether the data are as they have to be where redo ends.
    fn check_end(&self, read: &Read) -> Result<(), EngineError> {
        let consistent = self.consistency.is_reached(read.end);
        match &read.why {
            Why::Target(_) if !consistent => {
                Err(no_recovery("requested recovery stop point is before consistent recovery point".into()))
            }
            Why::Target(_) | Why::Full | Why::Stopped | Why::Consistent => Ok(()),
            Why::Ended(reason) if !consistent && self.consistency.awaits_backup_end() => {
                Err(EngineError::NoRecovery {
                    message: format!("WAL ends before end of online backup: {reason}"),
                    hint: "All WAL generated while online backup was taken must be available at recovery."
                        .into(),
                })
            }
            Why::Ended(reason) if !consistent => {
                Err(no_recovery(format!("WAL ends before consistent recovery point: {reason}")))
            }
            Why::Ended(reason) if self.stopper.target.is_some() => Err(no_recovery(format!(
                "recovery ended before configured recovery target was reached: {reason}"
            ))),
            Why::Ended(reason) => {
                tracing::info!("{reason}");
                Ok(())
            }
        }
    }

    /// Follows a newer time line, if there is one that leaves this one behind what was replayed. Returns whether it does.
    fn follow_newest(&mut self, engine: &Engine) -> Result<bool, EngineError> {
        if self.end.is_stopped() || engine.options().archive_recovery.timeline != TargetTimeline::Latest {
            return Ok(false);
        }
        let own = self.supply.history.timeline();
        let newest = self.supply.archive.newest(own)?;
        if newest == own {
            return Ok(false);
        }
        let Some(history) = self.supply.archive.history(newest)? else { return Ok(false) };
        match history.stretch(own).and_then(|stretch| stretch.end) {
            Some(end) if end >= self.from => {
                tracing::info!("new target timeline is {newest}");
                self.supply.history = history;
                return Ok(true);
            }
            Some(_) => tracing::info!(
                "new timeline {newest} forked off current database system timeline {own} before current recovery point {}",
                self.from
            ),
            None => tracing::info!("new timeline {newest} is not a child of database system timeline {own}"),
        }
        Ok(false)
    }
}
