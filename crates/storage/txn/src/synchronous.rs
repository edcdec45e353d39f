//! What · Commits that wait until standbys have their records (`synchronous_standby_names`).
//!
//! Layout · For each [`Reach`] the position up to which as many standbys as are wanted have come, and who waits for more, by position. Where no standby is
//! named the position is the end of all log: nobody waits.
//!
//! Invariants
//! 1. Who waits is woken once, when the position has come to his record; nobody else is looked at. So ten thousand waiters cost no more than their own waits.
//! 2. A position is stored before waiters are taken out, and a waiter looks at it again after he has entered: no wake-up is lost.
//! 3. A transaction that waits is seen already ([`early`](crate::early)): who learns of it rests on its record, and waits for the same
//!    (`Standbys::settle`). A failover takes back nothing that anybody outside was told of.
//! 4. It holds no lock, no place among the commits and no checkpoint up.
//!
//! Locks · `waiters`, short mutexes, one for each reach; `named` (short) before them.
//!
//! PostgreSQL counterpart · `syncrep.c`. There a transaction waits while it still counts as running: others see it when the wait is over.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

use base::Lsn;
use parking_lot::Mutex;
use runtime::{Interrupt, WaitEvent, wait_interruptible, waiting};

/// How far a commit's record must come on standbys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// Their operating systems have it (`remote_write`).
    Written,
    /// Their disks have it (`on`).
    Flushed,
    /// It is seen there (`remote_apply`).
    Applied,
}

const REACHES: [Reach; 3] = [Reach::Written, Reach::Flushed, Reach::Applied];

/// Nobody waits.
const ALL: u64 = u64::MAX;

/// Waiters by position; the number tells those of one position apart.
type Waiters = Mutex<BTreeMap<(u64, u64), Waker>>;

/// Who waits for standbys.
pub struct Standbys {
    /// Standbys are named.
    named: Mutex<bool>,
    /// So far they have come.
    reached: [AtomicU64; 3],
    /// No record that anybody waits for ends behind this.
    latest: [AtomicU64; 3],
    waiters: [Waiters; 3],
    numbers: AtomicU64,
}

impl Default for Standbys {
    fn default() -> Standbys {
        Standbys {
            named: Mutex::new(false),
            reached: [ALL; 3].map(AtomicU64::new),
            latest: Default::default(),
            waiters: Default::default(),
            numbers: AtomicU64::new(0),
        }
    }
}

impl Standbys {
    /// Whether commits wait for standbys from now on. If not, all who wait go on.
    pub fn set_named(&self, are_named: bool) {
        let mut named = self.named.lock();
        if *named == are_named {
            return;
        }
        *named = are_named;
        for reach in REACHES {
            // Who waited before waits no more.
            self.latest[reach as usize].store(0, Ordering::SeqCst);
            self.reached[reach as usize].store(if are_named { 0 } else { ALL }, Ordering::SeqCst);
            self.wake(reach);
        }
    }

    /// Whether commits wait for standbys.
    #[inline]
    pub fn are_named(&self) -> bool {
        self.reached[0].load(Ordering::Relaxed) != ALL
    }

    /// As many standbys as are wanted have come so far, by reach. Positions do not go back.
    pub fn come_to(&self, positions: [Lsn; 3]) {
        let named = self.named.lock();
        if !*named {
            return;
        }
        for (reach, position) in REACHES.into_iter().zip(positions) {
            if self.reached[reach as usize].fetch_max(position.0, Ordering::SeqCst) < position.0 {
                self.wake(reach);
            }
        }
    }

    fn wake(&self, reach: Reach) {
        let reached = self.reached[reach as usize].load(Ordering::SeqCst);
        let mut waiters = self.waiters[reach as usize].lock();
        let left = match reached {
            ALL => BTreeMap::new(),
            _ => waiters.split_off(&(reached + 1, 0)),
        };
        let woken = std::mem::replace(&mut *waiters, left);
        drop(waiters);
        woken.into_values().for_each(Waker::wake);
    }

    /// Whether they have come to `lsn`.
    #[inline]
    pub fn have(&self, reach: Reach, lsn: Lsn) -> bool {
        self.reached[reach as usize].load(Ordering::SeqCst) >= lsn.0
    }

    /// A transaction is about to be seen whose client waits for standbys to have its record.
    pub(crate) fn expect(&self, reach: Reach, lsn: Lsn) {
        self.latest[reach as usize].fetch_max(lsn.0, Ordering::AcqRel);
    }

    /// Waits until they have come to `lsn`; an interrupt that ends the session or cancels what it does ends the wait.
    pub(crate) fn wait(&self, reach: Reach, lsn: Lsn) -> Result<(), Interrupt> {
        while !self.have(reach, lsn) {
            let arrival = Arrival { standbys: self, reach, lsn, number: None };
            match waiting(WaitEvent::SyncRep, || wait_interruptible(arrival)) {
                Ok(()) => return Ok(()),
                // The transaction is over, and so is its time.
                Err(Interrupt::TransactionTimeout | Interrupt::LockTimeout) => {}
                Err(interrupt) => return Err(interrupt),
            }
        }
        Ok(())
    }

    /// Waits until every transaction that waits for standbys and whose record does not end behind `lsn` has what it waits for.
    pub(crate) fn settle(&self, lsn: Lsn) -> Result<(), Interrupt> {
        for reach in REACHES {
            let latest = Lsn(self.latest[reach as usize].load(Ordering::Acquire));
            self.wait(reach, latest.min(lsn))?;
        }
        Ok(())
    }
}

/// Standbys come to a position.
struct Arrival<'a> {
    standbys: &'a Standbys,
    reach: Reach,
    lsn: Lsn,
    number: Option<u64>,
}

impl Future for Arrival<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Arrival { standbys, reach, lsn, number } = *self;
        if standbys.have(reach, lsn) {
            return Poll::Ready(());
        }
        // Relaxed: only uniqueness matters.
        let number = number.unwrap_or_else(|| standbys.numbers.fetch_add(1, Ordering::Relaxed));
        standbys.waiters[reach as usize].lock().insert((lsn.0, number), cx.waker().clone());
        self.number = Some(number);
        // Again: whoever came between has not seen us (invariant 2).
        if standbys.have(reach, lsn) { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Drop for Arrival<'_> {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            self.standbys.waiters[self.reach as usize].lock().remove(&(self.lsn.0, number));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_waits_while_no_standby_is_named() {
        let standbys = Standbys::default();
        assert!(!standbys.are_named() && standbys.have(Reach::Applied, Lsn(5)));
        standbys.come_to([Lsn(1); 3]);
        assert!(standbys.have(Reach::Applied, Lsn(5)));
        standbys.set_named(true);
        assert!(standbys.are_named() && !standbys.have(Reach::Written, Lsn(5)));
    }

    #[test]
    fn each_waits_for_what_it_wants() {
        let standbys = Standbys::default();
        standbys.set_named(true);
        std::thread::scope(|scope| {
            let waiters: Vec<_> = REACHES
                .into_iter()
                .map(|reach| {
                    let standbys = &standbys;
                    scope.spawn(move || standbys.wait(reach, Lsn(10)))
                })
                .collect();
            standbys.come_to([Lsn(10), Lsn(9), Lsn(8)]);
            let mut waiters = waiters.into_iter();
            waiters.next().unwrap().join().unwrap().unwrap();
            assert!(!standbys.have(Reach::Flushed, Lsn(10)));
            standbys.come_to([Lsn(10), Lsn(12), Lsn(8)]);
            waiters.next().unwrap().join().unwrap().unwrap();
            standbys.come_to([Lsn(3), Lsn(3), Lsn(10)]);
            waiters.next().unwrap().join().unwrap().unwrap();
        });
        assert!(standbys.have(Reach::Written, Lsn(10)), "positions do not go back");
    }

    #[test]
    fn all_go_on_when_none_is_named_any_more() {
        let standbys = Standbys::default();
        standbys.set_named(true);
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| standbys.wait(Reach::Flushed, Lsn(10)));
            while standbys.waiters[1].lock().is_empty() {
                std::thread::yield_now();
            }
            standbys.set_named(false);
            waits.join().unwrap().unwrap();
        });
        assert!(standbys.waiters.iter().all(|waiters| waiters.lock().is_empty()));
    }

    #[test]
    fn who_rests_on_a_record_waits_as_far_as_its_transaction_does() {
        let standbys = Standbys::default();
        standbys.set_named(true);
        standbys.expect(Reach::Flushed, Lsn(10));
        standbys.come_to([Lsn(10), Lsn(10), Lsn(0)]);
        standbys.settle(Lsn(20)).unwrap();
    }
}
