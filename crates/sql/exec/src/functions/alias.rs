//! What types ask of a session: names behind `regclass` and its like, the clock, randomness, types that users made.

use crate::session::Session;

impl types::Session for Session {
    fn clock(&self) -> i64 {
        runtime::wall_clock_micros()
    }

    fn with_random(&self, use_it: &mut dyn FnMut(&mut types::random::Random)) {
        use_it(&mut self.random.borrow_mut());
    }
}
