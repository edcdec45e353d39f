//! Where recovery's log comes from: an archive, the log's folder, another server.
//!
//! # What
//! Whoever reads the log asks for files, which come from the archive if it has them, and lie in the folder otherwise. Where neither has the next record, a standby lets
//! its upstream send the log, and reads it as it arrives. When the stream ends, the archive is asked again.
//!
//! # Invariants
//! 1. While the log is streamed the archive is not asked, and the reader looks no further than what is durable.
//! 2. A time line is left only between two passes: this one ends its stream with the log of one.
//!
//! # PostgreSQL counterpart
//! `WaitForWALToBecomeAvailable`.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use base::{Lsn, TimelineId};
use parking_lot::Mutex;
use runtime::time::either;
use runtime::{Event, Instant, fs};
use wal::{Gap, History, SegmentSource, WalError};

use super::archive::PROMOTE_SIGNAL;
use super::restore::Archive;
use super::upstream::{Begin, Phase, Upstream};

/// How long a standby goes without a look at whether it is to end.
const LOOK: Duration = Duration::from_millis(200);

/// What there is to read from.
#[derive(Clone)]
pub(super) struct Supply {
    pub archive: Archive,
    /// The time lines that lead to the one that is followed.
    pub history: History,
    /// A stream is to begin here, if that is before what is wanted.
    pub from: Option<Lsn>,
    stream: Option<Arc<Stream>>,
    end: Arc<Ending>,
}

/// A standby's upstream.
struct Stream {
    upstream: Arc<dyn Upstream>,
    /// The log is read as it arrives.
    active: AtomicBool,
    /// The reader has looked at it up to here.
    looked: AtomicU64,
    /// [`source`](Upstream::source) when it was last asked.
    asked: Mutex<String>,
    /// When nobody had more.
    failed: Mutex<Option<Instant>>,
}

impl Drop for Stream {
    fn drop(&mut self) {
        // In a fiber that is being dropped nothing can be waited for; the receiver's goes the same way.
        if !runtime::fiber::is_unwinding() {
            self.upstream.stop();
        }
    }
}

/// Whether a recovery is to end.
pub(super) struct Ending {
    dir: PathBuf,
    stop: Arc<AtomicBool>,
}

impl Ending {
    pub fn new(dir: PathBuf, stop: Arc<AtomicBool>) -> Arc<Ending> {
        Arc::new(Ending { dir, stop })
    }

    /// The server is to stop.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Somebody wants the standby to become a server of its own. A file that cannot be looked at is looked at again.
    pub fn is_promoted(&self) -> bool {
        fs::exists(&self.dir.join(PROMOTE_SIGNAL)).unwrap_or(false)
    }

    fn is_wanted(&self) -> bool {
        self.is_stopped() || self.is_promoted()
    }
}

impl Supply {
    /// `upstream`: that of a standby.
    pub fn new(
        archive: Archive,
        history: History,
        upstream: Option<Arc<dyn Upstream>>,
        end: Arc<Ending>,
    ) -> Supply {
        let stream = upstream.map(|upstream| {
            let (active, looked, asked, failed) = Default::default();
            Arc::new(Stream { upstream, active, looked, asked, failed })
        });
        Supply { archive, history, from: None, stream, end }
    }

    /// Nothing comes from upstream any more.
    pub fn close(&self) {
        if let Some(stream) = &self.stream {
            stream.upstream.stop();
            stream.active.store(false, Ordering::Relaxed);
        }
    }

    /// Nobody had more of the log: rests, so that all are asked again no sooner than `retry` after they were last. Ends early if recovery is to end, or another upstream is to be asked.
    pub fn rest(&self, retry: Duration) {
        let until = match &self.stream {
            None => runtime::now() + retry,
            Some(stream) => match stream.failed.lock().replace(runtime::now()) {
                Some(failed) => failed + retry,
                None => return,
            },
        };
        let is_asked = |stream: &Arc<Stream>| *stream.asked.lock() == stream.upstream.source();
        while runtime::now() < until && !self.end.is_wanted() && self.stream.as_ref().is_none_or(is_asked) {
            runtime::wait(runtime::sleep(LOOK.min(until.since(runtime::now()))));
        }
        if let Some(stream) = &self.stream {
            *stream.failed.lock() = Some(runtime::now());
        }
    }

    /// The stream that the log is read from now.
    fn active(&self) -> Option<&Stream> {
        // Relaxed: reader and course take turns.
        self.stream.as_deref().filter(|stream| stream.active.load(Ordering::Relaxed))
    }

    /// Lets the log come from upstream, if there is one. A stream begins with a segment: that of `from`, where a record goes on that begins at `at`, or with that of `at`: a
    /// sender that failed in the middle of the record, and was told to us before, has another one there.
    fn start(&self, from: Lsn, at: Lsn) -> bool {
        let Some(stream) = self.stream.as_deref() else { return false };
        *stream.asked.lock() = stream.upstream.source();
        if !stream.upstream.is_configured() {
            return false;
        }
        let begin = |position: Lsn| {
            let position = self.from.map_or(position, |from| from.min(position));
            Begin { at: self.archive.wal.segment_start(position), timeline: self.history.at(position) }
        };
        stream.upstream.start(&self.archive.wal, begin(from), begin(at));
        stream.looked.store(0, Ordering::Relaxed);
        stream.active.store(true, Ordering::Relaxed);
        true
    }

    /// Waits until there is more than the reader has looked at; false if the stream has ended without, or the reader is not wanted any more.
    fn wait(&self, stream: &Stream, at: Lsn, given_up: &Event) -> bool {
        let inflow = stream.upstream.inflow();
        let looked = at.max(Lsn(stream.looked.load(Ordering::Relaxed)));
        while !given_up.is_set() && !self.end.is_stopped() {
            if self.end.is_promoted() {
                // All that the sender was told of is replayed.
                stream.upstream.stop();
            }
            let (flushed, phase) = inflow.durable();
            if flushed > looked {
                return true;
            }
            if phase == Phase::Ended {
                return false;
            }
            let news = either(inflow.until_behind(looked), given_up.until_set());
            runtime::wait(runtime::time::timeout(LOOK, news));
        }
        false
    }
}

impl SegmentSource for Supply {
    fn bring(&mut self, _timeline: TimelineId, _start: Lsn, name: &str) -> Result<bool, WalError> {
        match self.active() {
            Some(_) => Ok(false),
            None => self.archive.bring(name),
        }
    }

    fn end_of_written(&self) -> Option<Lsn> {
        let stream = self.active()?;
        let (end, _) = stream.upstream.inflow().durable();
        stream.looked.store(end.0, Ordering::Relaxed);
        Some(end)
    }

    fn wait_for_more(&mut self, gap: &Gap<'_>, given_up: &Event) -> Result<bool, WalError> {
        if self.active().is_none()
            && (given_up.is_set() || self.end.is_wanted() || !self.start(gap.from, gap.at))
        {
            return Ok(false);
        }
        let Some(stream) = self.active() else { return Ok(false) };
        if gap.is_invalid && Lsn(stream.looked.load(Ordering::Relaxed)) > gap.at {
            tracing::info!("{}", gap.reason);
        } else if self.wait(stream, gap.at, given_up) {
            return Ok(true);
        }
        if !given_up.is_set() {
            // It has ended, or is to.
            self.close();
        }
        Ok(false)
    }
}
