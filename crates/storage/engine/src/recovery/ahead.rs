//! A thread that reads and checks the log ahead of the pass.

use std::collections::VecDeque;
use std::sync::Arc;

use base::Lsn;
use parking_lot::Mutex;
use runtime::time::either;
use runtime::{Event, WaitQueue};
use wal::{Chunk, WalError, WalReader};

use crate::EngineError;

/// Chunks read ahead.
const AHEAD: usize = 16;

/// Why the log has no more.
#[derive(Clone, Debug)]
pub(super) struct Ended {
    /// Where it ends.
    pub end: Lsn,
    pub reason: String,
}

#[derive(Default)]
struct State {
    chunks: VecDeque<Result<Arc<Chunk>, WalError>>,
    ended: Option<Ended>,
    /// The thread has ended, or nobody wants more.
    closed: bool,
    /// The thread has ended.
    gone: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: WaitQueue,
}

impl Shared {
    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let value = change(&mut self.state.lock());
        self.changed.wake_all();
        value
    }
}

/// Either side; the other learns that it is gone.
struct Side(Arc<Shared>);

impl Drop for Side {
    fn drop(&mut self) {
        self.0.change(|state| state.closed = true);
    }
}

/// Chunks as they come.
pub(super) struct Ahead {
    side: Side,
    /// Ends a wait for more of the log.
    given_up: Arc<Event>,
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.given_up.set();
    }
}

/// The thread's end, even by a panic.
struct Gone<'a>(&'a Shared);

impl Drop for Gone<'_> {
    fn drop(&mut self) {
        self.0.change(|state| state.gone = true);
    }
}

impl Ahead {
    /// Starts reading.
    pub fn start(reader: WalReader) -> Result<Ahead, EngineError> {
        let shared = Arc::<Shared>::default();
        let side = Side(shared.clone());
        let given_up = reader.given_up();
        runtime::spawn_thread("log reader", move || read(reader, &side))
            .map_err(|e| EngineError::Io("could not start thread of the log's reader".into(), e))?;
        Ok(Ahead { side: Side(shared), given_up })
    }

    /// Nobody wants more. The thread has ended when this returns: it brings no more files.
    pub fn end(self) {
        let shared = &self.side.0;
        self.given_up.set();
        shared.change(|state| state.closed = true);
        shared.changed.wait_until(|| shared.state.lock().gone.then_some(()));
    }

    /// Waits for the next chunk or the log's end, and says that it is there; or for `news`, if that comes first.
    pub fn is_next_there(&self, news: &Event) -> bool {
        let shared = &self.side.0;
        let there = || {
            let state = shared.state.lock();
            (state.closed || !state.chunks.is_empty()).then_some(())
        };
        if there().is_none() {
            runtime::wait(either(shared.changed.until(there), news.until_set()));
        }
        there().is_some()
    }

    /// The next chunk; the end of the log behind the last.
    pub fn next(&self) -> Result<Result<Arc<Chunk>, Ended>, WalError> {
        let shared = &self.side.0;
        let next = shared.changed.wait_until(|| {
            let mut state = shared.state.lock();
            match state.chunks.pop_front() {
                Some(chunk) => Some(chunk.map(Ok)),
                None if state.closed => Some(Ok(Err(state.ended.clone().unwrap_or_else(lost)))),
                None => None,
            }
        });
        shared.changed.wake_all();
        next
    }
}

/// The thread panicked, which it has told: nothing is known to be there.
fn lost() -> Ended {
    Ended { end: Lsn::INVALID, reason: "reading the log was interrupted".into() }
}

fn read(mut reader: WalReader, side: &Side) {
    let shared = &side.0;
    let _gone = Gone(shared);
    while let Some(chunk) = reader.next_chunk() {
        shared.change(|state| state.chunks.push_back(chunk.map(Arc::new)));
        let wanted = || {
            let state = shared.state.lock();
            (state.closed || state.chunks.len() < AHEAD).then_some(state.closed)
        };
        if shared.changed.wait_until(wanted) {
            return;
        }
    }
    let reason = reader.end_reason().unwrap_or_default().to_owned();
    shared.change(|state| state.ended = Some(Ended { end: reader.position(), reason }));
}
