//! Contents of all buffers, and evicting pages on request.
//!
//! # Locks
//! None. A frame is pinned while it is looked at, so that it keeps its page; the state of all frames together is that of no one moment.

use super::frame::{DIRTY, MAPPED, VALID, pins, usage};
use super::pool::{BufferError, BufferPool};
use super::stats::IoKind;
use super::tag::Tag;
use super::write_back::{Latching, Outcome};

/// A buffer with a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameFacts {
    /// The page.
    pub tag: Tag,
    /// It differs from the file.
    pub dirty: bool,
    /// How often it was used lately, 0 to 5.
    pub usage: u8,
    /// Who keeps it here.
    pub pins: u32,
}

/// How a page was sent out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Evicted {
    /// It is out.
    pub evicted: bool,
    /// It was written before.
    pub written: bool,
}

impl BufferPool {
    /// What buffer `index`, from 0, holds; none if it has no page.
    pub fn frame_facts(&self, index: usize) -> Option<FrameFacts> {
        if index >= self.buffers() {
            return None;
        }
        let state = self
            .inner()
            .frame(index as u32)
            .try_pin_if(|state| state & (MAPPED | VALID) == MAPPED | VALID)?;
        let pin = self.pin_of(index as u32);
        Some(FrameFacts {
            tag: pin.tag(),
            dirty: state & DIRTY != 0,
            usage: usage(state) as u8,
            pins: pins(state) as u32,
        })
    }

    /// Sends the page of buffer `index` out, if `wanted`, and nobody keeps it here; none if the buffer has no such page. It is written before if it is dirty. No latch may be held.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn evict_frame(
        &self,
        index: usize,
        wanted: impl Fn(Tag) -> bool,
    ) -> Result<Option<Evicted>, BufferError> {
        if index >= self.buffers() {
            return Ok(None);
        }
        let has_page = |state| state & (MAPPED | VALID) == MAPPED | VALID;
        let Some(state) = self.inner().frame(index as u32).try_pin_if(has_page) else { return Ok(None) };
        let pin = self.pin_of(index as u32);
        if !wanted(pin.tag()) {
            return Ok(None);
        }
        if pins(state) > 0 {
            return Ok(Some(Evicted::default()));
        }
        let written = self.write_back(&pin, Latching::Wait, IoKind::Normal)? == Outcome::Written;
        Ok(Some(Evicted { evicted: self.evict(&pin), written }))
    }
}
