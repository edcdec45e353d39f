//! The loops that work beside sessions. The server runs each in a fiber of its own until [`Stop::stop`]; an error is one of
//! the log or the disk, on which the server must stop. Each tells when it has done a round of its work.

use std::sync::Arc;
use std::time::Duration;

use runtime::Event;
use runtime::time::timeout;

use crate::{Engine, EngineError};

/// How many of its delays the background writer rests when no buffer is needed; it is woken before if one is.
const HIBERNATION: u32 = 50;

/// How long the archiver rests at most: then it tries again what failed.
const ARCHIVER_NAP: Duration = Duration::from_secs(60);

/// Tells the loops to end.
#[derive(Clone, Default)]
pub struct Stop(Arc<Event>);

impl Stop {
    /// Ends the loops of `engine`, wherever they rest, and the checkpoint that is being taken as soon as its writes are done.
    pub fn stop(&self, engine: &Engine) {
        self.0.set();
        engine.wal().wake_backlog_writer();
        engine.wal().wake_checkpointer();
        engine.wal().archive().wake();
        engine.summarizer.wake();
        engine.pool().wake_bgwriter();
        engine.hurry_checkpoints();
        engine.options().archive_recovery.stop.store(true, std::sync::atomic::Ordering::Relaxed);
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.is_set()
    }

    /// Rests so long, or until the loops are to end.
    fn pause(&self, time: Duration) {
        runtime::wait(timeout(time, self.0.until_set()));
    }
}

/// Takes checkpoints when they are due by time or by log volume; looks whenever a segment of the log is full.
pub fn checkpointer(engine: &Arc<Engine>, stop: &Stop, after_round: &dyn Fn()) -> Result<(), EngineError> {
    let mut trouble = Trouble::default();
    while !stop.is_set() {
        if engine.is_following() {
            trouble.note("restart point", engine.restart_point_if_due())?;
        } else {
            if let Some(cause) = engine.checkpoint_due() {
                trouble.note("checkpoint", engine.checkpoint(cause))?;
            }
            trouble.note("archive_timeout", engine.switch_if_due())?;
        }
        after_round();
        engine.wal().wait_for_full_segment(Duration::from_millis(200));
        if trouble.lasts {
            stop.pause(Duration::from_millis(800));
        }
    }
    Ok(())
}

/// Ends the recovery that the server was opened with, if it was opened before that; follows the log before that, if the server is to.
pub fn recovery(engine: &Arc<Engine>, stop: &Stop, after_round: &dyn Fn()) -> Result<(), EngineError> {
    let mut trouble = Trouble::default();
    if engine.is_following() {
        match engine.follow() {
            Err(EngineError::Stopped) => return Ok(()),
            followed => followed?,
        }
        tracing::info!("database system is ready to accept connections");
    }
    loop {
        trouble.note("recovery", engine.finish_recovery())?;
        after_round();
        if stop.is_set() || !trouble.lasts {
            return Ok(());
        }
        stop.pause(Duration::from_millis(800));
    }
}

/// Archives files of the log as they become complete.
pub fn archiver(engine: &Arc<Engine>, stop: &Stop, after_round: &dyn Fn()) -> Result<(), EngineError> {
    while !stop.is_set() {
        if let Err(error) = engine.archive_waiting(&|| stop.is_set()) {
            tracing::warn!("{error}");
        }
        after_round();
        if !stop.is_set() {
            engine.wal().archive().wait(ARCHIVER_NAP);
        }
    }
    Ok(())
}

/// A full disk is no reason to stop, and is worth a line when it begins and when it ends.
#[derive(Default)]
struct Trouble {
    lasts: bool,
}

impl Trouble {
    /// Takes note of how a round went; other errors are the caller's.
    fn note<T>(&mut self, what: &str, result: Result<T, impl Into<EngineError>>) -> Result<(), EngineError> {
        let error = result.err().map(Into::into);
        match &error {
            Some(error) if !error.is_transient() => {}
            Some(error) if !self.lasts => tracing::warn!("{what} waits for the disk: {error}"),
            None if self.lasts => tracing::info!("{what} goes on"),
            _ => {}
        }
        self.lasts = error.is_some();
        error.filter(|error| !error.is_transient()).map_or(Ok(()), Err)
    }
}

/// Writes dirty pages ahead of the clock sweep, so that whoever needs a buffer finds a clean one; keeps the time for
/// `old_snapshot_threshold`; removes transaction status that waited for snapshots to go. While nobody needs a buffer it rests longer.
pub fn background_writer(
    engine: &Arc<Engine>,
    stop: &Stop,
    after_round: &dyn Fn(),
) -> Result<(), EngineError> {
    let mut trouble = Trouble::default();
    while !stop.is_set() {
        let step = engine.pool().bgwriter_step();
        let may_hibernate = step.as_ref().is_ok_and(|step| step.may_hibernate);
        trouble.note("background writer", step)?;
        engine.txns().note_time();
        if let Err(error) = engine.txns().truncate_pending() {
            tracing::warn!("{error}");
        }
        after_round();
        let delay = engine.options().bgwriter_delay;
        match may_hibernate {
            true => engine.pool().bgwriter_wait(delay * HIBERNATION, &|| stop.is_set()),
            false => stop.pause(delay),
        }
    }
    Ok(())
}

/// Makes asynchronous commits durable soon, and prepares log segments.
pub fn wal_writer(engine: &Arc<Engine>, stop: &Stop, after_round: &dyn Fn()) -> Result<(), EngineError> {
    let mut trouble = Trouble::default();
    while !stop.is_set() {
        engine.wal().write_some()?;
        trouble.note("write-ahead log", engine.wal().prepare_ahead())?;
        after_round();
        stop.pause(engine.options().wal_writer_delay);
    }
    Ok(())
}

/// Writes the log ahead when much of its buffer is waiting, so that inserters find room.
pub fn wal_backlog_writer(
    engine: &Arc<Engine>,
    stop: &Stop,
    after_round: &dyn Fn(),
) -> Result<(), EngineError> {
    while !stop.is_set() {
        engine.wal().wait_for_backlog(&|| stop.is_set());
        engine.wal().write_some()?;
        // The loop above says what is wrong, and whoever needs the segment is refused.
        let _ = engine.wal().prepare_ahead();
        after_round();
    }
    Ok(())
}
