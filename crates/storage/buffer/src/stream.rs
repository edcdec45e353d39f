//! Streams of pages: who knows which pages he will want has them read ahead, and neighbours together.
//!
//! # What
//! A [`ReadStream`] takes numbers of blocks from its user, as far ahead as is worth while, and gives pins in their order. Pages that are not
//! in the pool are read by [together](super::together). How far it looks ahead doubles with each read and falls by one with each page that
//! was in the pool: where all are, it looks at one after the other and costs nothing.
//!
//! # Invariants
//! 1. A stream holds no pin and no latch between calls: pages that it has had read are in the pool like any others. One that is thrown out again
//!    before its turn is read once more.
//! 2. Blocks come out in the order in which they went in, each once.
//! 3. With a ring, it looks ahead by half of it at most: it does not throw out what it has just had read.
//!
//! # PostgreSQL counterpart and differences
//! `read_stream.c`. PostgreSQL's keeps what it has read pinned until it is wanted, and so must limit the pins of a session.

use std::collections::VecDeque;

use base::{BlockNo, Fork, RelFile};
use runtime::ReadAhead;
use runtime::fs::ReadMethod;

use crate::pin::Pin;
use crate::pool::{BufferError, BufferPool};
use crate::ring::Ring;
use crate::tag::Tag;

/// Whose setting says how many reads may be under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A query's: `effective_io_concurrency`.
    Query,
    /// `maintenance_io_concurrency`.
    Maintenance,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// In the pool when the stream came by.
    Here,
    /// To be read.
    Planned,
    /// Being read, or read.
    Started,
}

/// Blocks next to each other.
#[derive(Clone, Copy, Debug)]
struct Run {
    first: u32,
    count: u32,
    state: State,
}

/// See the module. Belongs to one fiber.
#[derive(Debug)]
pub struct ReadStream {
    rel: RelFile,
    fork: Fork,
    /// Blocks that were taken and not given yet.
    runs: VecDeque<Run>,
    /// How many.
    taken: u32,
    /// How many are to be.
    distance: u32,
    /// At most.
    most: u32,
    /// Pages of a read at most.
    combine: u32,
    /// Reads that may be under way; 0: none is started before its page is wanted.
    concurrency: u32,
    under_way: u32,
    /// The system is told of reads that come, for nobody starts them.
    advises: bool,
    /// There were no more blocks.
    ended: bool,
}

impl ReadStream {
    /// A stream of pages of a fork, with a ring or without.
    pub fn new(
        pool: &BufferPool,
        (rel, fork): (RelFile, Fork),
        ring: Option<&Ring>,
        purpose: Purpose,
    ) -> ReadStream {
        let settings = ReadAhead::current();
        let concurrency = match purpose {
            Purpose::Query => settings.effective,
            Purpose::Maintenance => settings.maintenance,
        };
        let options = pool.inner().options.reads;
        let concurrency = u32::from(concurrency).min(options.most_reads);
        let combine = u32::from(settings.combine).min(options.most_pages).max(1);
        let within = ring.map_or(pool.buffers() / 8, |ring| ring.len() / 2);
        let most = (concurrency.max(1) * combine).min(within as u32).max(1);
        let starts = options.method != ReadMethod::Sync;
        ReadStream {
            rel,
            fork,
            runs: VecDeque::new(),
            taken: 0,
            distance: 1,
            most,
            combine: combine.min(most),
            concurrency: if starts { concurrency } else { 0 },
            under_way: 0,
            advises: !starts && concurrency > 0,
            ended: false,
        }
    }

    /// Forgets the blocks that were taken.
    pub fn restart(&mut self) {
        self.runs.clear();
        (self.taken, self.under_way, self.ended) = (0, 0, false);
    }

    fn tag(&self, block: u32) -> Tag {
        Tag::new(self.rel, self.fork, BlockNo(block))
    }

    /// The next page. `source` gives the blocks, now or ahead of need, and `None` at the end; the ring is the one that the stream was made with.
    #[inline]
    pub fn next(
        &mut self,
        pool: &BufferPool,
        ring: Option<&Ring>,
        mut source: impl FnMut() -> Option<u32>,
    ) -> Result<Option<Pin>, BufferError> {
        if self.distance == 1 && self.taken == 0 {
            let Some(block) = source() else { return Ok(None) };
            if let Some(pin) = pool.find(self.tag(block), ring) {
                return Ok(Some(pin));
            }
            self.runs.push_back(Run { first: block, count: 1, state: State::Planned });
            self.taken = 1;
            self.look_farther();
        }
        self.next_ahead(pool, ring, &mut source)
    }

    #[cold]
    fn next_ahead(
        &mut self,
        pool: &BufferPool,
        ring: Option<&Ring>,
        source: &mut dyn FnMut() -> Option<u32>,
    ) -> Result<Option<Pin>, BufferError> {
        self.look_ahead(pool, source);
        if self.concurrency > 0 {
            self.start_reads(pool, ring);
        }
        if self.runs.front().is_some_and(|run| run.state == State::Planned) {
            self.read(0, pool, ring);
        }
        let Some(run) = self.runs.front_mut() else {
            self.ended = false;
            return Ok(None);
        };
        let Run { first, count, state } = *run;
        *run = Run { first: first + 1, count: count - 1, state };
        self.taken -= 1;
        if count == 1 {
            self.runs.pop_front();
            self.under_way -= u32::from(state == State::Started);
        }
        let tag = self.tag(first);
        match state {
            State::Started => pool.read_started(tag, ring).map(Some),
            State::Here | State::Planned => {
                self.distance = (self.distance - 1).max(1);
                pool.read_with(tag, ring).map(Some)
            }
        }
    }

    fn look_farther(&mut self) {
        self.distance = (self.distance * 2).min(self.most);
    }

    /// Takes blocks.
    fn look_ahead(&mut self, pool: &BufferPool, source: &mut dyn FnMut() -> Option<u32>) {
        while !self.ended && self.taken < self.distance {
            let Some(block) = source() else {
                self.ended = true;
                return;
            };
            let state = if pool.probably_has(self.tag(block)) { State::Here } else { State::Planned };
            self.taken += 1;
            let combine = self.combine;
            let last = self.runs.back().map(|run| run.first + run.count);
            match self.runs.back_mut() {
                Some(run)
                    if run.state == state
                        && last == Some(block)
                        && (state == State::Here || run.count < combine) =>
                {
                    run.count += 1;
                }
                _ => self.runs.push_back(Run { first: block, count: 1, state }),
            }
            // The system reads ahead by itself where blocks come one after the other.
            if self.advises && state == State::Planned && last != Some(block) {
                pool.prefetch(self.tag(block));
            }
        }
    }

    /// Starts those reads that are worth it: the last one may grow yet, if there are others under way.
    fn start_reads(&mut self, pool: &BufferPool, ring: Option<&Ring>) {
        let mut at = 0;
        while at < self.runs.len() && self.under_way < self.concurrency {
            let run = self.runs[at];
            let grows = at + 1 == self.runs.len() && run.count < self.combine && !self.ended;
            if run.state == State::Planned && !(grows && self.under_way > 0) && !self.read(at, pool, ring) {
                return;
            }
            at += 1;
        }
    }

    /// Reads pages of a run; what is left of it becomes another. False if there is nothing to read them into.
    fn read(&mut self, at: usize, pool: &BufferPool, ring: Option<&Ring>) -> bool {
        let Run { first, count, .. } = self.runs[at];
        let read = pool.read_together(self.tag(first), count, ring, self.concurrency > 0);
        if read == 0 {
            return false;
        }
        self.runs[at] = Run { first, count: read, state: State::Started };
        if read < count {
            let rest = Run { first: first + read, count: count - read, state: State::Planned };
            self.runs.insert(at + 1, rest);
        }
        self.under_way += 1;
        self.look_farther();
        true
    }
}
