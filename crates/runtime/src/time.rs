//! Clocks and sleeping, real or virtual.

use std::fmt;
use std::future::Future;
use std::ops::{Add, Sub};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use base::calendar::UNIX_MICROS;

use crate::env::{self, Kind};
use crate::fiber::PARK_DEADLINE;

/// A point on the monotonic clock, in nanoseconds since some fixed point. In a simulation: since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(pub u64);

impl Instant {
    /// Time from `earlier` to this; zero if `earlier` is later.
    pub fn since(self, earlier: Instant) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// Time since this.
    pub fn elapsed(self) -> Duration {
        now().since(self)
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;

    fn add(self, rhs: Duration) -> Instant {
        Instant(self.0.saturating_add(u64::try_from(rhs.as_nanos()).unwrap_or(u64::MAX)))
    }
}

impl Sub for Instant {
    type Output = Duration;

    fn sub(self, rhs: Instant) -> Duration {
        self.since(rhs)
    }
}

/// Now, on the monotonic clock.
pub fn now() -> Instant {
    match env::sim() {
        Some(sim) => sim.now(),
        None => Instant(clock(libc::CLOCK_MONOTONIC)),
    }
}

/// Time of day in microseconds since 2000-01-01 00:00 UTC: PostgreSQL's `timestamptz`.
#[inline]
pub fn wall_clock_micros() -> i64 {
    match env::sim() {
        Some(sim) => sim.wall_clock_micros(),
        None => (clock(libc::CLOCK_REALTIME) / 1000) as i64 - UNIX_MICROS,
    }
}

/// Processor time that this process has used so far: (user, system). In a simulation: zero.
pub fn cpu_times() -> (Duration, Duration) {
    if env::kind() == Kind::Sim {
        return Default::default();
    }
    // SAFETY: `usage` is plain data that getrusage fills in.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage
    };
    let duration = |t: libc::timeval| Duration::new(t.tv_sec as u64, t.tv_usec as u32 * 1000);
    (duration(usage.ru_utime), duration(usage.ru_stime))
}

/// Time since it was started: the process's and the clock's. Shown as PostgreSQL reports what long work took.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    cpu: (Duration, Duration),
    started: Instant,
}

impl Stopwatch {
    /// Starts now.
    pub fn start() -> Stopwatch {
        Stopwatch { cpu: cpu_times(), started: now() }
    }

    /// Time since then.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}

impl fmt::Display for Stopwatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (user, system) = cpu_times();
        write!(
            f,
            "CPU: user: {:.2} s, system: {:.2} s, elapsed: {:.2} s",
            user.saturating_sub(self.cpu.0).as_secs_f64(),
            system.saturating_sub(self.cpu.1).as_secs_f64(),
            (now() - self.started).as_secs_f64()
        )
    }
}

pub(crate) fn clock(id: libc::clockid_t) -> u64 {
    // SAFETY: `time` is plain data that clock_gettime fills in; the clock ids used here always exist.
    let time = unsafe {
        let mut time: libc::timespec = std::mem::zeroed();
        libc::clock_gettime(id, &mut time);
        time
    };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Ready when `duration` has passed. Use it as `wait(sleep(d))`, or await it.
pub fn sleep(duration: Duration) -> Sleep {
    sleep_until(now() + duration)
}

/// Ready at `deadline`.
pub fn sleep_until(deadline: Instant) -> Sleep {
    Sleep { deadline, timer: Timer::None }
}

enum Timer {
    None,
    Tokio(Pin<Box<tokio::time::Sleep>>),
    Sim(crate::sim::TimerId),
}

/// Future of [`sleep`]. Works on workers, in simulations and on plain threads.
pub struct Sleep {
    deadline: Instant,
    timer: Timer,
}

impl std::fmt::Debug for Sleep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sleep").field("deadline", &self.deadline).finish()
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let now = now();
        if now >= self.deadline {
            return Poll::Ready(());
        }
        match env::kind() {
            Kind::Plain if tokio::runtime::Handle::try_current().is_err() => {
                PARK_DEADLINE.set(PARK_DEADLINE.get().min(self.deadline.0));
            }
            Kind::Sim => {
                let deadline = self.deadline;
                if let Some(sim) = env::sim() {
                    if let Timer::Sim(id) = self.timer {
                        sim.cancel_timer(id);
                    }
                    self.timer = Timer::Sim(sim.add_timer(deadline, cx.waker().clone()));
                }
            }
            // An event loop runs here.
            Kind::Worker(_) | Kind::Plain => {
                if matches!(self.timer, Timer::None) {
                    let left = self.deadline.since(now);
                    self.timer = Timer::Tokio(Box::pin(tokio::time::sleep(left)));
                }
                if let Timer::Tokio(timer) = &mut self.timer {
                    return timer.as_mut().poll(cx);
                }
            }
        }
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Timer::Sim(id) = self.timer
            && let Some(sim) = env::sim()
        {
            sim.cancel_timer(id);
        }
    }
}

/// `future`'s output, or `None` when `duration` passes first.
pub async fn timeout<F: Future>(duration: Duration, future: F) -> Option<F::Output> {
    let mut timer = sleep(duration);
    let mut future = std::pin::pin!(future);
    std::future::poll_fn(|cx| {
        if let Poll::Ready(value) = future.as_mut().poll(cx) {
            return Poll::Ready(Some(value));
        }
        Pin::new(&mut timer).poll(cx).map(|()| None)
    })
    .await
}

/// Waits for whichever of two comes first.
pub async fn either(one: impl Future<Output = ()>, other: impl Future<Output = ()>) {
    let (mut one, mut other) = (std::pin::pin!(one), std::pin::pin!(other));
    std::future::poll_fn(|cx| match one.as_mut().poll(cx) {
        Poll::Ready(()) => Poll::Ready(()),
        Poll::Pending => other.as_mut().poll(cx),
    })
    .await;
}
