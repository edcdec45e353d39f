//! What a simulation did, so that two runs of one seed can be compared.
//!
//! # What
//! Each step of the scheduler, and what each task wrote to files and connections, goes into a [digest](super::Simulation::digest). Two runs that
//! have the same one did the same. Where they have not, the [events](super::Simulation::events) that both kept show where they parted
//! ([`first_difference`]).
//!
//! # Invariants
//! 1. Nothing that differs from process to process goes in: no address, no real time, no number of a thread.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::time::Duration;

use super::SimCore;

/// Something that a simulation did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When, in nanoseconds since the start.
    pub at: u64,
    /// The task that did it.
    pub task: &'static str,
    /// What it was.
    pub what: &'static str,
    /// Which task, which bytes: a number or a hash.
    pub number: u64,
    /// The state of the random numbers: it tells apart who has drawn more of them since the last event.
    pub drawn: u64,
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Event { at, task, what, number, drawn } = self;
        write!(f, "{:?} {task}: {what} {number}, random numbers {drawn:x}", Duration::from_nanos(*at))
    }
}

/// How many events before a difference are shown.
const SHOWN: usize = 10;

/// Where two runs parted, with what came before; none if they did the same.
pub fn first_difference(one: &[Event], other: &[Event]) -> Option<String> {
    let same = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    if same == one.len() && same == other.len() {
        return None;
    }
    let mut text = format!("the runs differ after {same} events\n");
    for event in &one[same.saturating_sub(SHOWN)..same] {
        text += &format!("both: {event}\n");
    }
    for (run, events) in [("one", one), ("other", other)] {
        match events.get(same) {
            Some(event) => text += &format!("{run}: {event}\n"),
            None => text += &format!("{run}: nothing more\n"),
        }
    }
    Some(text)
}

/// A number for bytes.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    let mut chunks = bytes.chunks_exact(8);
    let mut digest = mix(0, bytes.len() as u64);
    for chunk in &mut chunks {
        digest = mix(digest, u64::from_le_bytes(chunk.try_into().expect("eight bytes")));
    }
    chunks.remainder().iter().fold(digest, |digest, byte| mix(digest, u64::from(*byte)))
}

fn mix(digest: u64, word: u64) -> u64 {
    (digest.rotate_left(5) ^ word).wrapping_mul(0x517C_C1B7_2722_0A95)
}

/// The digest so far, and the events if they are kept.
#[derive(Default)]
pub(super) struct Trace {
    digest: Cell<u64>,
    events: RefCell<Option<Vec<Event>>>,
}

impl Trace {
    pub(super) fn digest(&self) -> u64 {
        self.digest.get()
    }

    pub(super) fn keep(&self) {
        self.events.borrow_mut().get_or_insert_default();
    }

    pub(super) fn events(&self) -> Vec<Event> {
        self.events.borrow().clone().unwrap_or_default()
    }
}

impl SimCore {
    /// Somebody looked for interrupts, or drew a random number: too often for the digest, where the number of draws says as much.
    #[cfg(debug_assertions)]
    #[track_caller]
    pub(super) fn note_place(&self) {
        let place = std::panic::Location::caller();
        let event = self.event(place.file(), u64::from(place.line()));
        if let Some(events) = &mut *self.trace.events.borrow_mut() {
            events.push(event);
        }
    }

    fn event(&self, what: &'static str, number: u64) -> Event {
        Event { at: self.clock.get(), task: self.running.get(), what, number, drawn: self.random.get() }
    }

    /// Something happened.
    pub(super) fn note(&self, what: &'static str, number: u64) {
        let event = self.event(what, number);
        let words = [event.at, hash(event.task.as_bytes()), hash(what.as_bytes()), number, event.drawn];
        self.trace.digest.set(words.into_iter().fold(self.trace.digest.get(), mix));
        if let Some(events) = &mut *self.trace.events.borrow_mut() {
            events.push(event);
        }
    }
}
