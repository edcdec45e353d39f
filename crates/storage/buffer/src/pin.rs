//! Pins and page guards.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use base::Lsn;
use page::PageBytes;

use crate::pool::Tag;

/// Keeps a page in the pool. Not `Send`: a fiber stays on its thread.
pub struct Pin {
    _not_send: PhantomData<*const ()>,
}

impl Clone for Pin {
    fn clone(&self) -> Pin {
        todo!()
    }
}

impl Pin {
    /// Which page.
    pub fn tag(&self) -> Tag {
        todo!()
    }
    /// Waits for the shared latch.
    pub fn shared(&self) -> SharedPage<'_> {
        todo!()
    }
    /// As [`shared`](Self::shared); the guard keeps the pin.
    pub fn into_shared(self) -> SharedPage<'static> {
        todo!()
    }
    /// Waits for the exclusive latch.
    pub fn exclusive(&self) -> ExclusivePage<'_> {
        todo!()
    }
    /// As [`exclusive`](Self::exclusive); the guard keeps the pin.
    pub fn into_exclusive(self) -> ExclusivePage<'static> {
        todo!()
    }
    /// The exclusive latch if it is free.
    pub fn try_exclusive(&self) -> Option<ExclusivePage<'_>> {
        todo!()
    }
    /// Waits until this is the only pin, then holds the exclusive latch. The caller must hold no second pin.
    pub fn cleanup(&self) -> ExclusivePage<'_> {
        todo!()
    }
    /// The exclusive latch if it is free and this is the only pin.
    pub fn try_cleanup(&self) -> Option<ExclusivePage<'_>> {
        todo!()
    }
}

/// A page under the shared latch.
pub struct SharedPage<'a> {
    _pin: PhantomData<&'a Pin>,
    _not_send: PhantomData<*const ()>,
}

impl SharedPage<'_> {
    /// Which page.
    pub fn tag(&self) -> Tag {
        todo!()
    }
    /// A pin of its own.
    pub fn pin(&self) -> Pin {
        todo!()
    }
    /// Gives up the latch, keeps (or takes) a pin.
    pub fn into_pin(self) -> Pin {
        todo!()
    }
    /// Sets bits of the little-endian u16 at `offset` (even): a hint that may be lost. Marks the page dirty; with checksums, the
    /// first hint after a checkpoint logs an image.
    pub fn set_hint(&self, _offset: usize, _bits: u16) {
        todo!()
    }
}

impl Deref for SharedPage<'_> {
    type Target = PageBytes;
    fn deref(&self) -> &PageBytes {
        todo!()
    }
}

/// A page under the exclusive latch.
pub struct ExclusivePage<'a> {
    _pin: PhantomData<&'a Pin>,
    _not_send: PhantomData<*const ()>,
}

impl<'a> ExclusivePage<'a> {
    /// Which page.
    pub fn tag(&self) -> Tag {
        todo!()
    }
    /// A pin of its own.
    pub fn pin(&self) -> Pin {
        todo!()
    }
    /// Gives up the latch, keeps (or takes) a pin.
    pub fn into_pin(self) -> Pin {
        todo!()
    }
    /// Redo: stamps the record's end and marks the page dirty.
    pub fn set_redone(&mut self, _end: Lsn) {
        todo!()
    }
    /// Marks a page dirty whose change is not logged (unlogged relation, free-space map).
    pub fn mark_dirty(&mut self) {
        todo!()
    }
    /// Marks a page dirty whose change may be lost (as [`SharedPage::set_hint`], after any change of bytes).
    pub fn mark_dirty_hint(&mut self) {
        todo!()
    }
}

impl Deref for ExclusivePage<'_> {
    type Target = PageBytes;
    fn deref(&self) -> &PageBytes {
        todo!()
    }
}

impl DerefMut for ExclusivePage<'_> {
    fn deref_mut(&mut self) -> &mut PageBytes {
        todo!()
    }
}
