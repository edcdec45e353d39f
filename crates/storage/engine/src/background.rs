//! The loops that work beside sessions. The server runs each in a fiber of its own until [`Stop::stop`]; an error is one of
//! the log or the disk, on which the server must stop. Each tells when it has done a round of its work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::{Engine, EngineError};

/// Tells the loops to end.
#[derive(Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Ends the loops of `engine`, each at its next round, and the checkpoint that is being taken as soon as its writes are done.
    pub fn stop(&self, engine: &Engine) {
        // Relaxed: the flag guards no other memory.
        self.0.store(true, Ordering::Relaxed);
        engine.wal().wake_backlog_writer();
        engine.hurry_checkpoints();
    }

    fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Takes checkpoints when they are due by time or by log volume; looks whenever a segment of the log is full.
pub fn checkpointer(engine: &Engine, stop: &Stop, after_round: &dyn Fn()) -> Result<(), EngineError> {
    let mut trouble = Trouble::default();
    while !stop.is_set() {
        if let Some(cause) = engine.checkpoint_due() {
            trouble.note("checkpoint", engine.checkpoint(cause))?;
        }
        after_round();
        engine.wal().wait_for_full_segment(Duration::from_millis(200));
        if trouble.lasts {
            pause(Duration::from_millis(800));
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
/// `old_snapshot_threshold`; removes transaction status that waited for snapshots to go.
pub fn background_writer(engine: &Engine, stop: &Stop, after_round: &dyn Fn()) -> Result<(), EngineError> {
    let mut trouble = Trouble::default();
    while !stop.is_set() {
        trouble.note("background writer", engine.pool().bgwriter_step())?;
        engine.txns().note_time();
        if let Err(error) = engine.txns().truncate_pending() {
            tracing::warn!("{error}");
        }
        after_round();
        pause(engine.options().bgwriter_delay);
    }
    Ok(())
}

/// Makes asynchronous commits durable soon, and prepares log segments.
pub fn wal_writer(engine: &Engine, stop: &Stop, after_round: &dyn Fn()) -> Result<(), EngineError> {
    let mut trouble = Trouble::default();
    while !stop.is_set() {
        engine.wal().write_some()?;
        trouble.note("write-ahead log", engine.wal().prepare_ahead())?;
        after_round();
        pause(engine.options().wal_writer_delay);
    }
    Ok(())
}

/// Writes the log ahead when much of its buffer is waiting, so that inserters find room.
pub fn wal_backlog_writer(engine: &Engine, stop: &Stop, after_round: &dyn Fn()) -> Result<(), EngineError> {
    while !stop.is_set() {
        engine.wal().wait_for_backlog(&|| stop.is_set());
        engine.wal().write_some()?;
        // The loop above says what is wrong, and whoever needs the segment is refused.
        let _ = engine.wal().prepare_ahead();
        after_round();
    }
    Ok(())
}

fn pause(time: Duration) {
    runtime::wait(runtime::time::sleep(time));
}
