//! Deterministic simulation: one thread, one seed.
//!
//! # What
//! [`Simulation::run`] runs a closure in a fiber. Everything that it starts through this crate runs on the same thread: the
//! scheduler picks a random ready task, the clock moves only by what is simulated, and files live on a simulated disk.
//! [`Simulation::crash`] pulls the plug: tasks are gone, and the disk keeps what was synced and a random part of the
//! rest. The next `run` is the machine after the restart.
//!
//! Several machines may be simulated at once: what [`machines::spawn_on`] starts belongs to another one, with all that it starts, and
//! [`machines::crash`] pulls the plug of that one alone. They talk over a [network](net) with delays and cuts.
//!
//! # Layout
//! `mod.rs`: scheduler, clock, randomness. `disk`: files, directories, what a crash leaves of them. [`machines`]: crashes of one among several.
//! [`net`]: connections between them. [`programs`]: what stands in for programs that the server runs. [`trace`]: what was done, to compare runs.
//!
//! # Invariants
//! 1. The seed decides everything: two runs with the same seed and the same code do the same, step by step.
//! 2. Time moves by a little at each step, and to the next timer when nothing is ready.
//! 3. When nothing is ready and no timer is set, the simulation is stuck, and says so with the names of its tasks.

mod disk;
pub mod machines;
pub mod net;
pub mod programs;
pub mod trace;

#[cfg(test)]
mod tests;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use crate::env;
use crate::fiber::{self, run_fiber};
use crate::time::Instant;

use disk::Disk;
pub use disk::DiskImage;
pub(crate) use disk::{SimFile, SimLock};
use machines::Machine;
use net::Network;
use programs::Answer;
use trace::{Event, Trace};

/// The simulated machine crashed before the closure was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crashed;

impl std::fmt::Display for Crashed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the simulated machine crashed")
    }
}

impl std::error::Error for Crashed {}

/// Wall clock at the start of a simulation: 2026-01-01 00:00 UTC, in microseconds since 2000-01-01.
const WALL_CLOCK_START: i64 = 820_540_800_000_000;

/// One in so many calls of `check_interrupts` lets others run.
const YIELD_ODDS: u64 = 16;
/// Nanoseconds that others have at most at an [`interleaving_point`].
#[cfg(debug_assertions)]
const LONGEST_INTERLEAVING: u64 = 1_000_000;

/// A simulated machine. It outlives its crashes; its disk is what they left.
pub struct Simulation {
    core: Rc<SimCore>,
}

impl std::fmt::Debug for Simulation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Simulation").field("now", &self.core.now()).finish_non_exhaustive()
    }
}

impl Simulation {
    /// A machine with an empty disk.
    pub fn new(seed: u64) -> Simulation {
        Simulation::with_disk(seed, &DiskImage::default())
    }

    /// A machine whose disk begins with this content.
    pub fn with_disk(seed: u64, image: &DiskImage) -> Simulation {
        Simulation {
            core: Rc::new(SimCore {
                random: Cell::new(seed ^ 0x5171_4D50_E3D1_7A2B),
                clock: Cell::new(1),
                timers: RefCell::default(),
                next_timer: Cell::new(0),
                tasks: RefCell::default(),
                next_task: Cell::new(0),
                ready: Arc::default(),
                current: Cell::new(Place::default()),
                running: Cell::new(""),
                crashed: Cell::new(false),
                operations: Cell::new(0),
                crash_at: Cell::new(u64::MAX),
                interleaving: Cell::new(0),
                disk: Arc::new(Disk::new(image)),
                slow_disks: RefCell::default(),
                network: RefCell::default(),
                programs: RefCell::default(),
                trace: Trace::default(),
            }),
        }
    }

    /// Runs `f` in a fiber until it returns. Tasks that it started and left go on in the next `run`.
    ///
    /// A panic in any task comes out of here, so that a failed assertion fails the test.
    pub fn run<T: 'static>(&self, f: impl FnOnce() -> T + 'static) -> Result<T, Crashed> {
        let _entered = env::enter_sim(self.core.clone());
        crate::spawn::install_stop_hooks();
        let result = Rc::new(RefCell::new(None));
        let slot = result.clone();
        let main = self.core.spawn("main", Some(0), async move {
            let value = run_fiber(f).await;
            *slot.borrow_mut() = Some(value);
        });
        while self.core.tasks.borrow().contains_key(&main) {
            if self.core.crashed.get() {
                self.core.crash();
                return Err(Crashed);
            }
            self.core.step();
        }
        if self.core.crashed.get() {
            self.core.crash();
            return Err(Crashed);
        }
        let value = result.borrow_mut().take();
        Ok(value.expect("the main task left its value"))
    }

    /// Pulls the plug between two runs.
    pub fn crash(&self) {
        let _entered = env::enter_sim(self.core.clone());
        self.core.crash();
    }

    /// Ends all tasks without touching the disk: the process is gone, the machine stays up.
    pub fn kill(&self) {
        let _entered = env::enter_sim(self.core.clone());
        self.core.drop_tasks();
    }

    /// What the disk is sure to keep through a crash now, unsynced writes left out.
    pub fn disk_image(&self) -> DiskImage {
        self.core.disk.image()
    }

    /// Crashes by itself when `operations` more disk operations have been made.
    pub fn crash_after(&self, operations: u64) {
        self.core.crash_at.set(self.core.operations.get().saturating_add(operations));
    }

    /// From now on others run at one in `odds` [interleaving points](interleaving_point), of which each taking of a latch is one, though it
    /// may be free; 0: at none. Explores how pieces of code interleave that run at once on several processors. Debug builds only.
    pub fn interleave(&self, odds: u64) {
        self.core.interleaving.set(odds);
    }

    /// Disk operations made so far: what [`Simulation::crash_after`] counts.
    pub fn disk_operations(&self) -> u64 {
        self.core.operations.get()
    }

    /// A number for all that was done so far: two runs that have the same one did the same.
    pub fn digest(&self) -> u64 {
        self.core.trace.digest()
    }

    /// From now on keeps what is done, for [`trace::first_difference`].
    pub fn keep_events(&self) {
        self.core.trace.keep();
    }

    /// What was done since events are kept.
    pub fn events(&self) -> Vec<Event> {
        self.core.trace.events()
    }

    /// Virtual time since the start.
    pub fn elapsed(&self) -> Duration {
        Duration::from_nanos(self.core.clock.get())
    }
}

impl Drop for Simulation {
    fn drop(&mut self) {
        let _entered = env::enter_sim(self.core.clone());
        self.core.drop_tasks();
    }
}

/// Crashes the simulated machine here: does not return. Outside a simulation, and in async code outside a fiber: panics.
pub fn crash_here() -> ! {
    match env::sim() {
        Some(sim) if fiber::in_fiber() => {
            sim.crashed.set(true);
            fiber::wait(std::future::pending())
        }
        _ => panic!("crash_here needs a fiber in a simulation"),
    }
}

/// Whether the scheduler wants the running fiber to let others run, although its time slice is not over.
#[cfg_attr(debug_assertions, track_caller)]
pub(crate) fn wants_yield() -> bool {
    draw().is_some_and(|drawn| drawn.is_multiple_of(YIELD_ODDS))
}

/// A random number for somebody outside this module.
#[cfg_attr(debug_assertions, track_caller)]
pub(crate) fn draw() -> Option<u64> {
    let sim = env::sim()?;
    #[cfg(debug_assertions)]
    sim.note_place();
    Some(sim.random())
}

/// Lets files of the simulated disk below `dir` grow no further than this together; none: without bound. Does nothing elsewhere.
pub fn limit_disk(dir: &std::path::Path, bytes: Option<usize>) {
    if let Some(sim) = env::sim() {
        sim.disk.limit(dir, bytes);
    }
}

/// Bytes of the files of the simulated disk below `dir`; 0 elsewhere.
pub fn disk_used(dir: &std::path::Path) -> usize {
    env::sim().map_or(0, |sim| sim.disk.used(dir))
}

/// A place between two steps that others may come between: a simulation may let them ([`Simulation::interleave`]). The caller holds nothing
/// short. Nothing outside debug builds.
#[inline]
pub fn interleaving_point() {
    #[cfg(debug_assertions)]
    interleave();
}

#[cfg(debug_assertions)]
#[inline]
fn interleave() {
    if env::kind() != env::Kind::Sim || !fiber::in_fiber() || fiber::is_unwinding() {
        return;
    }
    let random = env::sim().and_then(|sim| {
        let odds = sim.interleaving.get();
        (odds != 0 && sim.random().is_multiple_of(odds)).then(|| sim.random())
    });
    match random {
        None => {}
        Some(random) if random % 2 == 0 => fiber::yield_now(),
        // Long enough for those who wait for a time.
        Some(random) => fiber::wait(crate::time::sleep(Duration::from_nanos(random % LONGEST_INTERLEAVING))),
    }
}

/// Identifies a timer until it fires.
pub(crate) type TimerId = (u64, u64);

/// Where a task runs.
#[derive(Clone, Copy, Default)]
struct Place {
    worker: usize,
    machine: Machine,
}

struct Task {
    name: &'static str,
    place: Place,
    future: Pin<Box<dyn Future<Output = ()>>>,
    queued: Arc<TaskWaker>,
}

/// Tasks that were woken, in no particular order.
type Ready = parking_lot::Mutex<Vec<u64>>;

struct TaskWaker {
    id: u64,
    queued: AtomicBool,
    ready: Arc<Ready>,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // AcqRel: pairs with the swap in `step`; whoever sets it queues the task.
        if !self.queued.swap(true, Ordering::AcqRel) {
            self.ready.lock().push(self.id);
        }
    }
}

/// The state of a simulation, reached through a thread-local while it runs.
pub(crate) struct SimCore {
    random: Cell<u64>,
    /// Nanoseconds since the start.
    clock: Cell<u64>,
    timers: RefCell<BTreeMap<TimerId, Waker>>,
    next_timer: Cell<u64>,
    tasks: RefCell<BTreeMap<u64, Task>>,
    next_task: Cell<u64>,
    ready: Arc<Ready>,
    /// Where the task is that is polled now.
    current: Cell<Place>,
    /// The name of that task.
    running: Cell<&'static str>,
    /// The plug was pulled; `run` notices after the current step.
    crashed: Cell<bool>,
    operations: Cell<u64>,
    crash_at: Cell<u64>,
    /// See [`Simulation::interleave`].
    interleaving: Cell<u64>,
    disk: Arc<Disk>,
    /// Machines whose disk takes so many times as long.
    slow_disks: RefCell<BTreeMap<Machine, u32>>,
    network: RefCell<Network>,
    programs: RefCell<Option<Rc<Answer>>>,
    trace: Trace,
}

impl SimCore {
    pub(crate) fn now(&self) -> Instant {
        Instant(self.clock.get())
    }

    pub(crate) fn wall_clock_micros(&self) -> i64 {
        WALL_CLOCK_START + (self.clock.get() / 1000) as i64
    }

    /// SplitMix64.
    pub(crate) fn random(&self) -> u64 {
        let state = self.random.get().wrapping_add(0x9E37_79B9_7F4A_7C15);
        self.random.set(state);
        let z = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`.
    fn random_below(&self, bound: u64) -> u64 {
        self.random() % bound
    }

    pub(crate) fn current_worker(&self) -> usize {
        self.current.get().worker
    }

    /// The machine of the task that runs.
    fn machine(&self) -> Machine {
        self.current.get().machine
    }

    pub(crate) fn add_timer(&self, deadline: Instant, waker: Waker) -> TimerId {
        let id = (deadline.0, self.next_timer.get());
        self.next_timer.set(id.1 + 1);
        self.timers.borrow_mut().insert(id, waker);
        id
    }

    pub(crate) fn cancel_timer(&self, id: TimerId) {
        let waker = self.timers.borrow_mut().remove(&id);
        drop(waker);
    }

    pub(crate) fn spawn(
        &self,
        name: &'static str,
        worker: Option<usize>,
        future: impl Future<Output = ()> + 'static,
    ) -> u64 {
        let id = self.next_task.get();
        self.next_task.set(id + 1);
        let waker = Arc::new(TaskWaker { id, queued: AtomicBool::new(true), ready: self.ready.clone() });
        let current = self.current.get();
        let task = Task {
            name,
            place: Place { worker: worker.unwrap_or(current.worker), ..current },
            future: Box::pin(future),
            queued: waker,
        };
        self.tasks.borrow_mut().insert(id, task);
        self.ready.lock().push(id);
        id
    }

    pub(crate) fn abort(&self, id: u64) {
        let task = self.tasks.borrow_mut().remove(&id);
        drop(task);
    }

    /// Polls one random ready task, or moves the clock to the next timer.
    fn step(&self) {
        self.clock.set(self.clock.get() + 100 + self.random_below(10_000));
        self.fire_timers();
        let picked = {
            let mut ready = self.ready.lock();
            match ready.len() {
                0 => None,
                n => {
                    let at = self.random_below(n as u64) as usize;
                    Some(ready.swap_remove(at))
                }
            }
        };
        match picked {
            Some(id) => self.poll_task(id),
            None => {
                let next = self.timers.borrow().keys().next().map(|id| id.0);
                match next {
                    Some(deadline) => self.clock.set(self.clock.get().max(deadline)),
                    None => self.stuck(),
                }
            }
        }
    }

    fn fire_timers(&self) {
        loop {
            let mut timers = self.timers.borrow_mut();
            match timers.first_entry() {
                Some(first) if first.key().0 <= self.clock.get() => {
                    let waker = first.remove();
                    drop(timers);
                    waker.wake();
                }
                _ => return,
            }
        }
    }

    fn poll_task(&self, id: u64) {
        // Taken out while it runs, because it may start and abort tasks.
        let Some(mut task) = self.tasks.borrow_mut().remove(&id) else { return };
        // AcqRel: pairs with the swap in `wake_by_ref`; a wake from now on queues the task again.
        task.queued.queued.swap(false, Ordering::AcqRel);
        let before = self.current.replace(task.place);
        let name_before = self.running.replace(task.name);
        self.note("runs", id);
        let waker = Waker::from(task.queued.clone());
        let done = task.future.as_mut().poll(&mut Context::from_waker(&waker)).is_ready();
        if done {
            drop(task);
        } else {
            self.tasks.borrow_mut().insert(id, task);
        }
        self.current.set(before);
        self.running.set(name_before);
    }

    fn stuck(&self) -> ! {
        let names: Vec<_> = self.tasks.borrow().iter().map(|(id, t)| format!("{} ({id})", t.name)).collect();
        panic!("simulation is stuck: nothing is ready and no timer is set; tasks: {}", names.join(", "));
    }

    fn crash(&self) {
        self.crashed.set(true);
        self.crash_at.set(u64::MAX);
        self.disk.power_off();
        self.drop_tasks();
        self.disk.power_on(&mut |bound| self.random_below(bound));
        self.crashed.set(false);
    }

    /// Unwinds all tasks, one after the other.
    fn drop_tasks(&self) {
        loop {
            let first = self.tasks.borrow_mut().pop_first();
            match first {
                Some((_, task)) => drop(task),
                None => break,
            }
        }
        self.timers.borrow_mut().clear();
        self.ready.lock().clear();
        *self.network.borrow_mut() = Network::default();
    }
}
