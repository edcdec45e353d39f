//! Values that may be many.

use std::ops::{Deref, DerefMut};

use tuple::Datum;

/// Values that are freed with a pause between two pieces: to give back ten million texts takes half a second, in which nobody else would be served.
#[derive(Clone, Debug, Default)]
pub struct ValueList(Vec<Datum>);

impl ValueList {
    /// Values whose blocks are freed in one go: a millisecond or two.
    const PIECE: usize = 16 << 10;
}

impl From<Vec<Datum>> for ValueList {
    fn from(values: Vec<Datum>) -> ValueList {
        ValueList(values)
    }
}

impl Deref for ValueList {
    type Target = Vec<Datum>;

    fn deref(&self) -> &Vec<Datum> {
        &self.0
    }
}

impl DerefMut for ValueList {
    fn deref_mut(&mut self) -> &mut Vec<Datum> {
        &mut self.0
    }
}

impl Drop for ValueList {
    fn drop(&mut self) {
        while self.0.len() > ValueList::PIECE {
            self.0.truncate(self.0.len() - ValueList::PIECE);
            runtime::pause();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::task::{Context, Poll, Waker};

    use runtime::{Fiber, run_fiber};

    use super::*;

    fn texts(count: usize) -> ValueList {
        (0..count)
            .map(|i| Datum::text(&format!("a text that needs a block of its own: {i}")))
            .collect::<Vec<_>>()
            .into()
    }

    fn poll(fiber: &mut Fiber<()>) -> Poll<()> {
        Pin::new(fiber).poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn others_run_while_many_values_are_freed() {
        let list = texts(1_000_000);
        let mut fiber = run_fiber(move || drop(list));
        let mut pauses = 0;
        while poll(&mut fiber).is_pending() {
            pauses += 1;
        }
        assert!(pauses > 0, "a million values were freed in one go");
    }

    /// A destructor must not wait while its fiber is dropped: that would end the process.
    #[test]
    fn a_dropped_fiber_frees_them_at_once() {
        let list = texts(100_000);
        let mut fiber = run_fiber(move || {
            let _list = list;
            runtime::wait(std::future::pending::<()>());
        });
        assert!(poll(&mut fiber).is_pending());
        drop(fiber);
    }
}
