//! # What
//! Summaries of the log: which blocks of which relations a stretch of it has changed. An incremental base backup finds in them what it need not copy.
//!
//! # Layout
//! `table`: what a summary says. `file`: the bytes of one, and its file's name. This file: who writes them, and which of them a backup needs.
//!
//! # Invariants
//! 1. A summary has all changes of the records that begin in its stretch, and its file is there as a whole or not at all.
//! 2. Stretches end at redo points of checkpoints, where a backup may begin, and where a time line is left. On a time line each begins where the one before ends, unless the
//!    log in between is gone: summaries were off for a while.
//! 3. Log that is not summarized yet stays, as long as summaries are on (`Engine::unsummarized`).
//! 4. Nothing is read that is not on disk, or, on a standby, not replayed: what may still be given up is in no summary.
//! 5. A summary goes only when the log is gone that it was made of, so the last one always tells where to go on.
//!
//! Maps of free space are not logged, and so are in no summary; a backup copies them whole.
//!
//! # Locks
//! `Summarizer::reached`, short.
//!
//! # PostgreSQL counterpart and differences
//! `walsummarizer.c`, `walsummary.c`, `blkreftable.c`. A fiber reads the log, and what it has read of a stretch that is not complete is in memory only; after a start it reads that once more.

mod file;
mod table;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use base::{Lsn, TimelineId};
use parking_lot::Mutex;
use runtime::{Event, WaitEvent, WaitQueue, fs};
use wal::{History, Record, Rmgr, WalReader, xlog_info};

use crate::background::Stop;
use crate::{Engine, EngineError, recovery, xlog};

pub use file::{BadSummary, Summary, decode, runs};
pub use table::{BlockTable, ForkChanges};

/// Folder of the summaries, in that of the log.
const FOLDER: &str = "summaries";

/// Rest between two looks at the log, if nobody asks for a summary.
const NAP: Duration = Duration::from_secs(10);
/// Records read between two looks whether others want to run.
const AT_ONCE: usize = 1000;

/// Whether there are summaries, and for how long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SummaryOptions {
    /// `summarize_wal`.
    pub on: bool,
    /// `wal_summary_keep_time`; none: for ever.
    pub keep: Option<Duration>,
}

/// How far the log is summarized.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summarized {
    /// The time line.
    pub timeline: TimelineId,
    /// End of the last summary, or where the first will begin.
    pub on_disk: Lsn,
    /// How far the log was read for the next.
    pub in_memory: Lsn,
}

/// Who writes summaries.
#[derive(Default)]
pub(crate) struct Summarizer {
    /// None until it is known.
    reached: Mutex<Option<Summarized>>,
    /// There is something to do.
    news: Event,
    /// Those who wait for a summary.
    waiting: WaitQueue,
}

impl Summarizer {
    /// A stretch of the log is complete, or the settings have changed.
    pub(crate) fn wake(&self) {
        self.news.set();
    }

    fn set_reached(&self, reached: Option<Summarized>) {
        *self.reached.lock() = reached;
        self.waiting.wake_all();
    }
}

/// The next summary, as far as the log was read for it.
struct Reading {
    timeline: TimelineId,
    start: Lsn,
    /// The next record begins here.
    position: Lsn,
    table: BlockTable,
}

impl Reading {
    fn begin(timeline: TimelineId, start: Lsn) -> Reading {
        Reading { timeline, start, position: start, table: BlockTable::default() }
    }
}

/// The end of a time line.
#[derive(Clone, Copy)]
struct Left {
    /// As its child's history has it.
    at: Lsn,
    /// The child's first record begins here.
    position: Lsn,
    child: TimelineId,
}

/// How the wait for summaries ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// The log is summarized up to there.
    Done,
    /// The time is over.
    NotYet(Summarized),
}

/// Writes summaries as long as they are on; what goes wrong is told, and tried again.
pub fn summarizer(engine: &Arc<Engine>, stop: &Stop, after_round: &dyn Fn()) -> Result<(), EngineError> {
    let mut reading = None;
    while !stop.is_set() {
        match engine.options().summaries.on {
            true => {
                if let Err(error) = engine.summarize(&mut reading, &|| stop.is_set()) {
                    tracing::error!("could not summarize WAL: {error}");
                    (reading, _) = (None, engine.summarizer.set_reached(None));
                }
            }
            false => (reading, _) = (None, engine.summarizer.set_reached(None)),
        }
        after_round();
        if !stop.is_set() {
            let resting = runtime::time::timeout(NAP, engine.summarizer.news.until_set());
            runtime::waiting(WaitEvent::WalSummarizer, || runtime::wait(resting));
            engine.summarizer.news.reset();
        }
    }
    Ok(())
}

/// Whether a checkpoint's redo point is where a record begins.
fn is_redo_point(record: &Record) -> bool {
    let is_bare = record.rmgr == Rmgr::Xlog && record.info == xlog_info::CHECKPOINT_REDO;
    is_bare || xlog::as_checkpoint(record).is_some_and(|checkpoint| checkpoint.redo == record.lsn)
}

impl Engine {
    fn summaries_folder(&self) -> PathBuf {
        self.wal.dir().join(FOLDER)
    }

    /// Path of a summary's file below the data directory.
    pub fn summary_path(summary: &Summary) -> String {
        format!("pg_wal/{FOLDER}/{}", summary.file_name())
    }

    /// All summaries that there are, in order.
    pub fn summaries(&self) -> Result<Vec<Summary>, EngineError> {
        let entries = match fs::read_dir(&self.summaries_folder()) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries
                .map_err(|e| EngineError::Io("could not open directory \"pg_wal/summaries\"".into(), e))?,
        };
        let mut summaries: Vec<_> =
            entries.iter().filter_map(|entry| Summary::of_file(&entry.name)).collect();
        summaries.sort_unstable();
        Ok(summaries)
    }

    /// What a summary says.
    pub fn summary(&self, summary: &Summary) -> Result<BlockTable, EngineError> {
        let name = Self::summary_path(summary);
        let bytes = fs::read_to_vec(&self.dir.join(&name))
            .map_err(|e| EngineError::Io(format!("could not open file \"{name}\""), e))?;
        decode(&bytes)
            .map_err(|bad| EngineError::Summary(format!("WAL summary file \"{name}\" is damaged: {bad}")))
    }

    /// How far the log is summarized; none while that is not known.
    pub fn summarized(&self) -> Option<Summarized> {
        *self.summarizer.reached.lock()
    }

    /// Has the log summarized up to a redo point, and waits for that, at most so long.
    pub fn await_summaries(&self, upto: Lsn, most: Duration) -> Result<Awaited, EngineError> {
        self.summarizer.wake();
        let done = || self.summarized().is_some_and(|reached| reached.on_disk >= upto).then_some(());
        let wait =
            || runtime::wait_interruptible(runtime::time::timeout(most, self.summarizer.waiting.until(done)));
        runtime::waiting(WaitEvent::WalSummaryReady, wait).map_err(EngineError::Interrupted)?;
        Ok(match done() {
            Some(()) => Awaited::Done,
            None => Awaited::NotYet(self.summarized().unwrap_or_default()),
        })
    }

    /// From where on the log is still to be summarized; none if it need not be.
    pub(crate) fn unsummarized(&self) -> Result<Option<Lsn>, EngineError> {
        if !self.options().summaries.on {
            return Ok(None);
        }
        match self.summarized() {
            Some(reached) => Ok(Some(reached.on_disk)),
            None => Ok(Some(self.first_unsummarized()?.1)),
        }
    }

    /// The history of the log, and how far it may be read. In this order: a time line that was entered since leads past that end.
    fn readable(&self) -> Result<(Lsn, History), EngineError> {
        let end = match self.is_following() {
            true => self.replayed().map_or(Lsn::INVALID, |replayed| replayed.end),
            false => self.wal.durable_end(),
        };
        Ok((end, recovery::history(&self.dir, self.timeline())?))
    }

    fn log_reader(&self, history: &History, from: Lsn) -> WalReader {
        WalReader::open(self.wal.dir(), self.wal.segment_size(), Some(self.system_identifier()), from)
            .along(history.clone())
    }

    /// Where the last summary ends, or the oldest log that there is begins, if that is later: then records need not begin there.
    fn first_unsummarized(&self) -> Result<(TimelineId, Lsn, bool), EngineError> {
        let (end, history) = self.readable()?;
        let mut last = None;
        for summary in self.summaries()? {
            let Some(stretch) = history.stretch(summary.timeline) else { continue };
            if stretch.end.is_none_or(|end| summary.end <= end) {
                last = last.max(Some((summary.timeline, summary.end)));
            }
        }
        let oldest = self.wal.oldest_segment(&history, end)?;
        match last {
            Some((timeline, at)) if at >= oldest => Ok((timeline, at, true)),
            _ => Ok((history.at(oldest), oldest, false)),
        }
    }

    /// Begins to read where the last summary ends, or at the first record that there is.
    fn begin_reading(&self) -> Result<Option<Reading>, EngineError> {
        let (timeline, mut start, exact) = self.first_unsummarized()?;
        if !exact {
            let (end, history) = self.readable()?;
            match self.log_reader(&history, start).find(end)? {
                Some(record) => start = record.lsn,
                None => return Ok(None),
            }
        }
        let folder = self.summaries_folder();
        let failed = |e| EngineError::Io("could not create directory \"pg_wal/summaries\"".into(), e);
        if !fs::exists(&folder).map_err(failed)? {
            fs::create_dir_all(&folder).and_then(|()| fs::sync_dir(self.wal.dir())).map_err(failed)?;
        }
        self.remove_unfinished()?;
        Ok(Some(Reading::begin(timeline, start)))
    }

    /// Reads what there is of the log, and writes the summaries that are complete.
    fn summarize(&self, reading: &mut Option<Reading>, stop: &dyn Fn() -> bool) -> Result<(), EngineError> {
        if reading.is_none() {
            *reading = self.begin_reading()?;
        }
        let Some(current) = reading else { return Ok(()) };
        self.note_reached(current);
        let (end, history) = self.readable()?;
        let wrote = self.read_on(current, (end, &history), stop)?;
        if wrote {
            self.remove_old_summaries(self.wal.oldest_segment(&history, end)?)?;
        }
        Ok(())
    }

    fn note_reached(&self, reading: &Reading) {
        let Reading { timeline, start: on_disk, position: in_memory, .. } = *reading;
        self.summarizer.set_reached(Some(Summarized { timeline, on_disk, in_memory }));
    }

    /// Reads up to `end`; whether there are new summaries.
    fn read_on(
        &self,
        reading: &mut Reading,
        (end, history): (Lsn, &History),
        stop: &dyn Fn() -> bool,
    ) -> Result<bool, EngineError> {
        let (mut wrote, mut read) = (false, 0);
        let mut reader = self.log_reader(history, reading.position);
        let mut left = self.where_left(history, reading.timeline)?;
        while !stop() {
            if let Some(end) = left.filter(|end| reading.position >= end.position) {
                self.write_summary(reading, end.at)?;
                *reading = Reading::begin(end.child, end.at);
                (wrote, left) = (true, self.where_left(history, end.child)?);
                continue;
            }
            if reading.position >= end {
                break;
            }
            let Some(record) = reader.next().transpose()? else {
                return self.end_of_log(reading, &reader).map(|()| wrote);
            };
            if is_redo_point(&record) && record.lsn > reading.start {
                self.write_summary(reading, record.lsn)?;
                *reading = Reading::begin(reading.timeline, record.lsn);
                wrote = true;
            }
            reading.table.note(&record).map_err(|_| {
                EngineError::Summary(format!("the record at {} does not say what its kind says", record.lsn))
            })?;
            reading.position = record.end;
            read += 1;
            if read % AT_ONCE == 0 {
                self.note_reached(reading);
                runtime::yield_now();
            }
        }
        self.note_reached(reading);
        Ok(wrote)
    }

    /// Where a time line is left, if it is.
    fn where_left(&self, history: &History, timeline: TimelineId) -> Result<Option<Left>, EngineError> {
        let stretches = history.stretches();
        let at = stretches.iter().position(|stretch| stretch.timeline == timeline).ok_or_else(|| {
            EngineError::Summary(format!("timeline {timeline} is not in this server's history"))
        })?;
        let child = stretches.get(at + 1).map(|next| next.timeline);
        Ok(stretches[at].end.zip(child).map(|(at, child)| Left {
            at,
            position: self.log_reader(history, at).position(),
            child,
        }))
    }

    /// There is no record although it is before the end of what is on disk: a part of it may be.
    fn end_of_log(&self, reading: &Reading, reader: &WalReader) -> Result<(), EngineError> {
        if reading.position >= self.control.lock().checkpoint.redo {
            return Ok(());
        }
        let (at, why) = (reading.position, reader.end_reason().unwrap_or_default());
        Err(EngineError::Summary(format!(
            "could not read WAL from timeline {} at {at}: {why}",
            reading.timeline
        )))
    }

    fn write_summary(&self, reading: &Reading, end: Lsn) -> Result<(), EngineError> {
        let summary = Summary { timeline: reading.timeline, start: reading.start, end };
        if summary.start < end {
            let path = self.summaries_folder().join(summary.file_name());
            let written = runtime::waiting(WaitEvent::WalSummaryWrite, || {
                fs::write_file_durably(&path, &file::encode(&reading.table))
            });
            let name = Self::summary_path(&summary);
            written.map_err(|e| EngineError::Io(format!("could not write file \"{name}\""), e))?;
            let Summary { timeline, start, .. } = summary;
            tracing::debug!("summarized WAL on TLI {timeline} from {start} to {end}");
        }
        self.note_reached(&Reading::begin(reading.timeline, end));
        Ok(())
    }

    /// Summaries that a crash left half written.
    fn remove_unfinished(&self) -> Result<(), EngineError> {
        let failed = |e| EngineError::Io("could not clean directory \"pg_wal/summaries\"".into(), e);
        let folder = self.summaries_folder();
        for entry in fs::read_dir(&folder).map_err(failed)? {
            if entry.name.ends_with(".summary.tmp") {
                fs::remove_file(&folder.join(&entry.name)).map_err(failed)?;
            }
        }
        Ok(())
    }

    /// Removes summaries that are older than they are to be kept, of log before `oldest`.
    fn remove_old_summaries(&self, oldest: Lsn) -> Result<(), EngineError> {
        let Some(keep) = self.options().summaries.keep else { return Ok(()) };
        let now = runtime::wall_clock_micros() + base::calendar::UNIX_SECONDS * 1_000_000;
        let cutoff = now.saturating_sub(keep.as_micros() as i64);
        for summary in self.summaries()?.into_iter().filter(|summary| summary.end <= oldest) {
            let name = Self::summary_path(&summary);
            let path = self.dir.join(&name);
            let failed = |what: &str, e| EngineError::Io(format!("could not {what} file \"{name}\""), e);
            if fs::metadata(&path).map_err(|e| failed("stat", e))?.times[1] < cutoff {
                fs::remove_file(&path).map_err(|e| failed("remove", e))?;
                tracing::debug!("removing file \"{name}\"");
            }
        }
        Ok(())
    }
}
