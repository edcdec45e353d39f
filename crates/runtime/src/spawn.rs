//! Workers, tasks, threads and randomness.
//!
//! # What
//! A worker is an OS thread with its own event loop. Tasks never leave their worker. In a simulation workers are only
//! numbers, and all tasks share the simulation's thread.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use tokio::runtime::{Builder, LocalOptions, LocalRuntime};
use tokio::sync::{mpsc, oneshot};

use crate::env::{self, Kind};
use crate::fiber::{self, run_fiber};
use crate::sim::SimCore;
use crate::sync::Event;

/// Why a task or thread gave no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JoinError {
    /// It panicked, with this message.
    Panicked(String),
    /// It was aborted, or its worker was shut down.
    Aborted,
}

impl std::fmt::Display for JoinError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            JoinError::Panicked(message) => write!(f, "task panicked: {message}"),
            JoinError::Aborted => f.write_str("task aborted"),
        }
    }
}

impl std::error::Error for JoinError {}

/// The text of a panic's payload.
pub fn panic_message(payload: &(dyn std::any::Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&str>() {
        (*text).to_string()
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text.clone()
    } else {
        "unknown panic".to_string()
    }
}

enum Task<T> {
    Tokio(tokio::task::JoinHandle<T>),
    Sim(u64, oneshot::Receiver<T>),
}

/// A task on this worker. Dropping the handle leaves the task alone.
pub struct JoinHandle<T>(Task<T>);

impl<T> JoinHandle<T> {
    /// Drops the task where it stands; a suspended fiber is unwound.
    pub fn abort(&self) {
        match &self.0 {
            Task::Tokio(handle) => handle.abort(),
            Task::Sim(id, _) => {
                if let Some(sim) = env::sim() {
                    sim.abort(*id);
                }
            }
        }
    }

    /// Waits for its value.
    pub fn join(self) -> Result<T, JoinError> {
        fiber::wait(self)
    }
}

impl<T> std::fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JoinHandle")
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            Task::Tokio(handle) => Pin::new(handle).poll(cx).map_err(|error| match error.try_into_panic() {
                Ok(payload) => JoinError::Panicked(panic_message(&*payload)),
                Err(_) => JoinError::Aborted,
            }),
            Task::Sim(_, receiver) => Pin::new(receiver).poll(cx).map_err(|_| JoinError::Aborted),
        }
    }
}

/// Starts a task on this worker.
///
/// # Panics
/// On a plain thread: there is no event loop. Use [`run`] to make one.
pub fn spawn_local<F: Future + 'static>(future: F) -> JoinHandle<F::Output> {
    spawn_named("task", None, future)
}

fn spawn_named<F: Future + 'static>(
    name: &'static str,
    worker: Option<usize>,
    future: F,
) -> JoinHandle<F::Output> {
    match env::kind() {
        Kind::Worker(_) => JoinHandle(Task::Tokio(tokio::task::spawn_local(future))),
        Kind::Sim => {
            let (sender, receiver) = oneshot::channel();
            let sim = env::sim().expect("a simulation runs on this thread");
            let id = sim.spawn(name, worker, async move {
                // Nobody may be interested in the value.
                let _ = sender.send(future.await);
            });
            JoinHandle(Task::Sim(id, receiver))
        }
        Kind::Plain => panic!("spawn_local needs a worker or a simulation"),
    }
}

/// Starts a background fiber on this worker. `name` appears in reports of stuck simulations.
pub fn spawn_fiber<T: 'static>(name: &'static str, f: impl FnOnce() -> T + 'static) -> JoinHandle<T> {
    spawn_named(name, None, run_fiber(f))
}

/// A thread of its own, for long computations. Its panic comes out of [`ThreadHandle::join`].
#[derive(Debug)]
pub struct ThreadHandle<T>(oneshot::Receiver<std::thread::Result<T>>);

impl<T> ThreadHandle<T> {
    /// Waits for its value.
    pub fn join(self) -> Result<T, JoinError> {
        fiber::wait(self)
    }
}

impl<T> Future for ThreadHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(cx).map(|received| match received {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(payload)) => Err(JoinError::Panicked(panic_message(&*payload))),
            Err(_) => Err(JoinError::Aborted),
        })
    }
}

/// Runs `f` on a new thread (where [`crate::wait`] parks), in a simulation as one more fiber.
pub fn spawn_thread<T: Send + 'static>(
    name: &'static str,
    f: impl FnOnce() -> T + Send + 'static,
) -> std::io::Result<ThreadHandle<T>> {
    let (sender, receiver) = oneshot::channel();
    let body = move || {
        // Nobody may be interested in the value.
        let _ = sender.send(catch_unwind(AssertUnwindSafe(f)));
        crate::memory::settle();
    };
    if env::kind() == Kind::Sim {
        spawn_fiber(name, body);
    } else {
        std::thread::Builder::new().name(name.into()).spawn(body)?;
    }
    Ok(ThreadHandle(receiver))
}

/// Number of the worker that runs the caller, from 0. In a simulation: the simulated worker's. State kept for each
/// worker is found by this number, not by a thread-local, so that simulations have it too.
pub fn worker_index() -> Option<usize> {
    match env::kind() {
        Kind::Worker(index) => Some(index),
        Kind::Sim => env::sim().map(|sim| sim.current_worker()),
        Kind::Plain => None,
    }
}

/// What a worker does that is woken while another thread has its processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wakeup {
    /// It takes the processor at once: the shortest way for a few sessions.
    Prompt,
    /// It waits for the other's turn to end. With many sessions whose clients run on the same machine, requests then come in
    /// bunches, and fewer changes of threads stand between them.
    Patient,
}

/// Says how this worker is woken. Without effect elsewhere, or where the kernel does not want it.
pub fn set_wakeup(wakeup: Wakeup) {
    if !matches!(env::kind(), Kind::Worker(_)) {
        return;
    }
    let policy = match wakeup {
        Wakeup::Prompt => libc::SCHED_OTHER,
        Wakeup::Patient => libc::SCHED_BATCH,
    };
    let param = libc::sched_param { sched_priority: 0 };
    // Threads that a worker starts, for calls that block, are to be woken promptly.
    // SAFETY: a plain system call about the calling thread, with a pointer to a live struct.
    unsafe { libc::sched_setscheduler(0, policy | libc::SCHED_RESET_ON_FORK, &raw const param) };
}

/// Runs `f` in a fiber on an event loop of this thread's own: for tests and tools that spawn tasks. Tasks that are left
/// when it returns are dropped. On a worker or in a simulation: calls it.
pub fn run<T: 'static>(f: impl FnOnce() -> T + 'static) -> T {
    if env::kind() != Kind::Plain {
        return f();
    }
    let runtime = event_loop().expect("no event loop to be had");
    let _entered = env::enter_worker(0);
    runtime.block_on(run_fiber(f))
}

/// Runs a future on an event loop of this thread's own, which is no worker: for the thread that accepts connections and
/// signals. Code below it that waits blocks this thread; in a simulation, which has no event loop, it blocks this fiber.
pub fn run_async<F: Future>(future: F) -> std::io::Result<F::Output> {
    match env::kind() {
        Kind::Sim => Ok(run_async_in_fiber(future)),
        _ => Ok(event_loop()?.block_on(future)),
    }
}

/// The future has a waker of its own: what it waits for may come while it waits for something else, as for the disk, in the midst of a poll.
fn run_async_in_fiber<F: Future>(future: F) -> F::Output {
    struct Woken(Event);
    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.set();
        }
    }
    let woken = Arc::new(Woken(Event::new()));
    let waker = Waker::from(woken.clone());
    let mut future = std::pin::pin!(future);
    loop {
        woken.0.reset();
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return value;
        }
        woken.0.wait();
    }
}

fn event_loop() -> std::io::Result<LocalRuntime> {
    Builder::new_current_thread().enable_all().build_local(LocalOptions::default())
}

type Start = Box<dyn FnOnce() + Send>;

/// A message to a worker.
enum Order {
    Start(Start),
    Stop,
}

enum Inner {
    Threads {
        senders: Vec<mpsc::UnboundedSender<Order>>,
        threads: parking_lot::Mutex<Vec<std::thread::JoinHandle<()>>>,
    },
    Sim {
        core: std::rc::Weak<SimCore>,
        count: usize,
    },
}

// SAFETY: the `Sim` variant is made and used on the one thread of its simulation (invariant 4 of the crate), the other
// is `Send` and `Sync` by itself.
unsafe impl Send for Inner {}
// SAFETY: as above.
unsafe impl Sync for Inner {}

/// The workers of a server. Clones are handles to the same workers.
#[derive(Clone)]
pub struct Workers(Arc<Inner>);

impl std::fmt::Debug for Workers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Workers").field("count", &self.count()).finish()
    }
}

impl Workers {
    /// Starts `count` workers (at least one).
    pub fn start(count: usize) -> std::io::Result<Workers> {
        install_stop_hooks();
        let count = count.max(1);
        if let Some(sim) = env::sim() {
            return Ok(Workers(Arc::new(Inner::Sim { core: std::rc::Rc::downgrade(&sim), count })));
        }
        let mut senders = Vec::new();
        let mut threads = Vec::new();
        for index in 0..count {
            let (sender, mut receiver) = mpsc::unbounded_channel::<Order>();
            let (ready, started) = std::sync::mpsc::sync_channel(1);
            let body = move || {
                let runtime = match event_loop() {
                    Ok(runtime) => runtime,
                    Err(error) => return drop(ready.send(Err(error))),
                };
                let _entered = env::enter_worker(index);
                drop(ready.send(Ok(())));
                runtime.block_on(async {
                    while let Some(Order::Start(start)) = receiver.recv().await {
                        start();
                    }
                });
                // Suspended fibers are unwound here, while this is still a worker.
                drop(runtime);
            };
            threads.push(std::thread::Builder::new().name(format!("worker {index}")).spawn(body)?);
            started.recv().unwrap_or_else(|_| Err(std::io::Error::other("worker ended at once")))?;
            senders.push(sender);
        }
        Ok(Workers(Arc::new(Inner::Threads { senders, threads: parking_lot::Mutex::new(threads) })))
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        match &*self.0 {
            Inner::Threads { senders, .. } => senders.len(),
            Inner::Sim { count, .. } => *count,
        }
    }

    /// Starts a task on worker `index`: `f` is sent there and makes the future. Without effect after a shutdown.
    pub fn spawn_on<F: Future + 'static>(&self, index: usize, f: impl FnOnce() -> F + Send + 'static) {
        match &*self.0 {
            Inner::Threads { senders, .. } => {
                let start: Start = Box::new(move || drop(spawn_local(f())));
                // A closed channel means that the worker was shut down.
                let _ = senders[index % senders.len()].send(Order::Start(start));
            }
            Inner::Sim { core, count } => {
                if let Some(core) = core.upgrade() {
                    core.spawn("remote task", Some(index % count), async move {
                        f().await;
                    });
                }
            }
        }
    }

    /// Starts a fiber on worker `index`.
    pub fn spawn_fiber_on(&self, index: usize, f: impl FnOnce() + Send + 'static) {
        self.spawn_on(index, move || run_fiber(f));
    }

    /// Ends the workers: tasks that are still there are dropped, and their fibers unwound. Not to be called from a
    /// worker.
    pub fn shutdown(self) {
        if let Inner::Threads { senders, threads } = &*self.0 {
            debug_assert_eq!(env::kind(), Kind::Plain, "a worker cannot wait for its own end");
            for sender in senders {
                // A closed channel means that it has ended already.
                let _ = sender.send(Order::Stop);
            }
            for thread in threads.lock().drain(..) {
                let _ = thread.join();
            }
        }
    }
}

/// A random number: from the system, or from the simulation's seed.
#[cfg_attr(debug_assertions, track_caller)]
pub fn random_u64() -> u64 {
    if let Some(drawn) = crate::sim::draw() {
        return drawn;
    }
    let mut bytes = [0u8; 8];
    fill_random(&mut bytes);
    u64::from_ne_bytes(bytes)
}

/// Fills a buffer with random bytes fit for salts and keys; in a simulation they come from the seed.
#[cfg_attr(debug_assertions, track_caller)]
pub fn fill_random(buffer: &mut [u8]) {
    if env::kind() == Kind::Sim {
        for chunk in buffer.chunks_mut(8) {
            chunk.copy_from_slice(&random_u64().to_le_bytes()[..chunk.len()]);
        }
        return;
    }
    let mut filled = 0;
    while filled < buffer.len() {
        let rest = &mut buffer[filled..];
        // SAFETY: writes at most `rest.len()` bytes into `rest`.
        let n = unsafe { libc::getrandom(rest.as_mut_ptr().cast(), rest.len(), 0) };
        // Fails only when interrupted by a signal.
        filled += usize::try_from(n).unwrap_or(0);
    }
}

/// Tells `base::stop` how to crash a simulated machine and how to pause a fiber.
pub(crate) fn install_stop_hooks() {
    base::stop::set_hooks(base::stop::Hooks {
        crash: |_| {
            if env::kind() == Kind::Sim {
                crate::sim::crash_here()
            }
            std::process::abort()
        },
        pause: |_, released| {
            while !released() {
                fiber::wait(crate::time::sleep(std::time::Duration::from_millis(1)));
            }
        },
    });
}
