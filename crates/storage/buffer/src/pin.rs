//! Pins and page guards.

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};

use base::PAGE_SIZE;
use page::PageBytes;
use runtime::{WaitEvent, waiting};

use crate::frame::pins;
use crate::pool::Inner;
use crate::tag::Tag;

/// Keeps a page in the pool. Cheap: one compare-and-swap to take, one to give back. Not `Send`: a fiber stays on its thread.
pub struct Pin {
    inner: NonNull<Inner>,
    index: u32,
}

impl Pin {
    /// Takes over a pin that was taken on the frame.
    ///
    /// # Safety
    /// `inner` is alive, and the caller has a pin of frame `index` that no other guard stands for. The pin keeps `inner` alive.
    pub(crate) unsafe fn adopt(inner: NonNull<Inner>, index: u32) -> Pin {
        Pin { inner, index }
    }

    pub(crate) fn pool(&self) -> &Inner {
        // SAFETY: a pool with pins is not freed.
        unsafe { self.inner.as_ref() }
    }

    pub(crate) fn index(&self) -> u32 {
        self.index
    }

    /// Which page.
    pub fn tag(&self) -> Tag {
        Tag::from_words(self.pool().frame(self.index).tag_words())
    }

    /// Has the processor fetch what is so many bytes into the page, for whoever is to latch it and look there.
    #[inline]
    pub fn prefetch(&self, offset: usize) {
        base::prefetch_line(self.pool().page_ptr(self.index).cast::<u8>().wrapping_add(offset));
    }

    /// Whether both pin the same buffer.
    pub fn same_page(&self, other: &Pin) -> bool {
        self.inner == other.inner && self.index == other.index
    }

    fn borrowed<'a>(&self) -> Held<'a> {
        Held {
            pin: ManuallyDrop::new(Pin { inner: self.inner, index: self.index }),
            owned: false,
            _borrow: PhantomData,
        }
    }

    fn owned(self) -> Held<'static> {
        Held { pin: ManuallyDrop::new(self), owned: true, _borrow: PhantomData }
    }

    /// Waits for the shared latch.
    pub fn shared(&self) -> SharedPage<'_> {
        self.pool().frame(self.index).latch.lock_shared();
        SharedPage { held: self.borrowed() }
    }

    /// As [`shared`](Self::shared); the guard keeps the pin.
    pub fn into_shared(self) -> SharedPage<'static> {
        self.pool().frame(self.index).latch.lock_shared();
        SharedPage { held: self.owned() }
    }

    /// The shared latch if that needs no waiting.
    pub fn try_shared(&self) -> Option<SharedPage<'_>> {
        self.pool().frame(self.index).latch.try_lock_shared().then(|| SharedPage { held: self.borrowed() })
    }

    /// Waits for the exclusive latch.
    pub fn exclusive(&self) -> ExclusivePage<'_> {
        self.pool().frame(self.index).latch.lock_exclusive();
        ExclusivePage { held: self.borrowed() }
    }

    /// As [`exclusive`](Self::exclusive); the guard keeps the pin.
    pub fn into_exclusive(self) -> ExclusivePage<'static> {
        self.pool().frame(self.index).latch.lock_exclusive();
        ExclusivePage { held: self.owned() }
    }

    /// The exclusive latch if that needs no waiting.
    pub fn try_exclusive(&self) -> Option<ExclusivePage<'_>> {
        self.pool()
            .frame(self.index)
            .latch
            .try_lock_exclusive()
            .then(|| ExclusivePage { held: self.borrowed() })
    }

    fn is_alone(&self) -> bool {
        pins(self.pool().frame(self.index).state()) == 1
    }

    /// Waits until this is the only pin. Others may come at once, unless a latch keeps them from mattering.
    pub(crate) fn wait_to_be_alone(&self) {
        if self.is_alone() {
            return;
        }
        let frame = self.pool().frame(self.index);
        let alone = || {
            frame.set_pin_waiter();
            self.is_alone().then_some(())
        };
        waiting(WaitEvent::BufferPin, || self.pool().queue(self.index).wait_until(alone));
        frame.clear_pin_waiter();
    }

    /// Waits until this is the only pin, and holds the exclusive latch then: what others knew about the page is void. The
    /// caller must hold no second pin of the page, and at most one fiber may wait like this for a page (as a lock on the
    /// relation sees to).
    pub fn cleanup(&self) -> ExclusivePage<'_> {
        loop {
            let page = self.exclusive();
            if self.is_alone() {
                return page;
            }
            drop(page);
            self.wait_to_be_alone();
        }
    }

    /// The exclusive latch if it is free and this is the only pin.
    pub fn try_cleanup(&self) -> Option<ExclusivePage<'_>> {
        if !self.is_alone() {
            return None;
        }
        self.try_exclusive().filter(|_| self.is_alone())
    }
}

impl Clone for Pin {
    fn clone(&self) -> Pin {
        self.pool().frame(self.index).add_pin();
        Pin { inner: self.inner, index: self.index }
    }
}

impl Drop for Pin {
    fn drop(&mut self) {
        self.pool().unpin(self.index);
    }
}

impl std::fmt::Debug for Pin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Pin").field(&self.tag()).finish()
    }
}

/// The pin below a page guard: its own, or that of the `Pin` it borrows from.
struct Held<'a> {
    pin: ManuallyDrop<Pin>,
    owned: bool,
    _borrow: PhantomData<&'a Pin>,
}

impl Held<'_> {
    fn latch(&self) -> &runtime::Latch {
        &self.pin.pool().frame(self.pin.index).latch
    }

    /// Ends the guard but keeps a pin.
    fn into_pin(mut self) -> Pin {
        if !self.owned {
            self.pin.pool().frame(self.pin.index).add_pin();
        }
        self.owned = false;
        Pin { inner: self.pin.inner, index: self.pin.index }
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        if self.owned {
            // SAFETY: dropped here once; nobody uses it after.
            unsafe { ManuallyDrop::drop(&mut self.pin) };
        }
    }
}

/// A page under the shared latch.
pub struct SharedPage<'a> {
    held: Held<'a>,
}

impl SharedPage<'_> {
    /// Which page.
    pub fn tag(&self) -> Tag {
        self.held.pin.tag()
    }

    /// Another pin.
    pub fn pin(&self) -> Pin {
        Pin::clone(&self.held.pin)
    }

    /// Gives up the latch, keeps a pin.
    pub fn into_pin(self) -> Pin {
        let this = ManuallyDrop::new(self);
        // SAFETY: `this` is not dropped, so the held pin is moved out once, and the latch given back once.
        let held = unsafe { std::ptr::read(&this.held) };
        // SAFETY: the hold that the guard stood for.
        unsafe { held.latch().unlock_shared() };
        held.into_pin()
    }

    /// Sets bits of the little-endian u16 at `offset` (even): a hint that may be lost. Marks the page dirty; with checksums, the
    /// first hint after a checkpoint logs an image, as PostgreSQL's.
    ///
    /// Others read the page meanwhile. They see the bits or not, both of which are right, or it would be no hint.
    ///
    /// # Panics
    /// When `offset` is odd or beyond the page.
    pub fn set_hint(&self, offset: usize, bits: u16) {
        assert!(offset.is_multiple_of(2) && offset < PAGE_SIZE, "hint at {offset}");
        let (pool, index) = (self.held.pin.pool(), self.held.pin.index);
        // SAFETY: in the page, aligned; all who write under the shared latch do so by atomic operations.
        let word = unsafe { &*pool.page_ptr(index).cast::<AtomicU16>().add(offset / 2) };
        let bits = bits.to_le();
        if word.load(Ordering::Relaxed) & bits == bits {
            return;
        }
        word.fetch_or(bits, Ordering::Relaxed);
        // SAFETY: latched.
        unsafe { pool.mark_hint(index, || self.tag()) };
    }
}

impl Deref for SharedPage<'_> {
    type Target = PageBytes;

    fn deref(&self) -> &PageBytes {
        // SAFETY: the shared latch keeps everybody from changing the page but for hint bits, of which a reader may see any.
        unsafe { &*self.held.pin.pool().page_ptr(self.held.pin.index) }
    }
}

impl Drop for SharedPage<'_> {
    fn drop(&mut self) {
        // SAFETY: the hold that this guard stands for; the pin goes after it.
        unsafe { self.held.latch().unlock_shared() };
    }
}

/// A page under the exclusive latch.
pub struct ExclusivePage<'a> {
    held: Held<'a>,
}

impl ExclusivePage<'_> {
    pub(crate) fn index(&self) -> u32 {
        self.held.pin.index
    }

    pub(crate) fn pool(&self) -> &Inner {
        self.held.pin.pool()
    }

    /// Which page.
    pub fn tag(&self) -> Tag {
        self.held.pin.tag()
    }

    /// Another pin.
    pub fn pin(&self) -> Pin {
        Pin::clone(&self.held.pin)
    }

    /// Gives up the latch, keeps a pin.
    pub fn into_pin(self) -> Pin {
        let this = ManuallyDrop::new(self);
        // SAFETY: `this` is not dropped, so the held pin is moved out once, and the latch given back once.
        let held = unsafe { std::ptr::read(&this.held) };
        // SAFETY: the hold that the guard stood for.
        unsafe { held.latch().unlock_exclusive() };
        held.into_pin()
    }

    /// Marks a page dirty whose change is not logged (unlogged relation, free-space map).
    pub fn mark_dirty(&mut self) {
        self.pool().set_dirty(self.index());
    }

    /// Marks a page dirty whose change may be lost (as [`SharedPage::set_hint`], after any change of bytes).
    pub fn mark_dirty_hint(&mut self) {
        // SAFETY: latched.
        unsafe { self.pool().mark_hint(self.index(), || self.tag()) };
    }

    /// Whether this guard's page has no pin but the guard's: a cleanup that happens to be possible.
    pub fn is_alone(&self) -> bool {
        self.held.pin.is_alone()
    }
}

impl Deref for ExclusivePage<'_> {
    type Target = PageBytes;

    fn deref(&self) -> &PageBytes {
        // SAFETY: the exclusive latch.
        unsafe { &*self.held.pin.pool().page_ptr(self.held.pin.index) }
    }
}

impl DerefMut for ExclusivePage<'_> {
    fn deref_mut(&mut self) -> &mut PageBytes {
        // SAFETY: the exclusive latch, and `&mut` of the only guard.
        unsafe { &mut *self.held.pin.pool().page_ptr(self.held.pin.index) }
    }
}

impl Drop for ExclusivePage<'_> {
    fn drop(&mut self) {
        // SAFETY: the hold that this guard stands for; the pin goes after it.
        unsafe { self.held.latch().unlock_exclusive() };
    }
}
