//! Stop points: named places where tests may pause, crash or fail the code, or count how often it passes.
//!
//! `stop_point!("name")` costs one relaxed load while nothing is armed. The names are listed in [`POINTS`]; a name that is
//! not there does not compile. Concurrency tests and crash tests use the same list.
//!
//! Tests arm points for their own thread ([`arm`]), which is where simulations run. Where a process is to crash, a test starts another
//! one of itself, which arms them for all its threads ([`arm_process`]).

use std::cell::RefCell;
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Every stop point: its name, and whether an error may be injected there (`stop_result!`).
pub const POINTS: &[(&str, bool)] = &[
    ("checkpoint-begin", false),
    ("checkpoint-before-map", false),
    ("checkpoint-before-record", false),
    ("checkpoint-before-control", false),
    ("checkpoint-end", false),
    ("wal-before-flush", true),
    ("wal-after-flush", false),
    ("wal-switch-segment", false),
    ("commit-before-record", false),
    ("commit-before-flush", false),
    ("commit-before-clog", false),
    ("commit-after-clog", false),
    ("commit-after-running", false),
    ("commit-before-last-flush", false),
    ("commit-before-standbys", false),
    ("prepare-before-record", false),
    ("prepare-before-flush", false),
    ("prepare-before-hand-over", false),
    ("prepare-before-publish", false),
    ("end-prepared-before-record", false),
    ("end-prepared-before-flush", false),
    ("end-prepared-before-clog", false),
    ("end-prepared-after-clog", false),
    ("end-prepared-before-unlink", false),
    ("prepared-file-before-write", false),
    ("truncate-before-record", false),
    ("truncate-before-removal", false),
    ("truncate-between-files", false),
    ("database-before-rename", false),
    ("database-made", false),
    ("database-moved", false),
    ("database-before-removal", false),
    ("database-before-emptying", false),
    ("tablespace-before-folder", false),
    ("tablespace-before-link", false),
    ("tablespace-made", false),
    ("relation-copied", false),
    ("tablespace-before-removal", false),
    ("tablespace-before-link-goes", false),
    ("buffer-before-write", true),
    ("smgr-before-extend", true),
    ("smgr-before-run", true),
    ("smgr-before-sync", true),
    ("recovery-log-read", false),
    ("recovery-page", false),
    ("recovery-pages-done", false),
    ("archive-before-restart-point", false),
    ("archive-before-signals-go", false),
    ("btree-split-before-log", false),
    ("btree-split-after-log", false),
    ("btree-delete-half-dead", false),
    ("btree-delete-unlinked", false),
    ("test-plain", false),
    ("test-failing", true),
    ("test-uncounted-completion", true),
    ("test-no-predicate-lock", true),
];

/// What happens when armed code passes a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The process aborts; in a simulation the machine crashes.
    Crash,
    /// `stop_result!` gives an error.
    Error,
    /// The code waits until [`ArmedPoint::release`] is called.
    Pause,
    /// Nothing but counting.
    Count,
}

/// An error that a test asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Injected(pub &'static str);

impl fmt::Display for Injected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error injected at stop point \"{}\"", self.0)
    }
}

impl std::error::Error for Injected {}

impl From<Injected> for std::io::Error {
    fn from(injected: Injected) -> Self {
        std::io::Error::other(injected)
    }
}

/// How the layers above carry out what this crate cannot.
#[derive(Clone, Copy, Debug)]
pub struct Hooks {
    /// Ends the process or the simulated machine.
    pub crash: fn(&'static str) -> !,
    /// Waits until `released()` holds, letting others run.
    pub pause: fn(&'static str, released: &dyn Fn() -> bool),
}

#[derive(Clone)]
struct Armed {
    point: usize,
    action: Action,
    /// Passes that are let through before the action is taken.
    skip: u64,
    passed: u64,
    released: bool,
}

/// Number of armed points in the process, over all threads. The one word that unarmed code reads.
static ARMED: AtomicU32 = AtomicU32::new(0);
static PROCESS: Mutex<Vec<Armed>> = Mutex::new(Vec::new());
static HOOKS: OnceLock<Hooks> = OnceLock::new();

thread_local! {
    static THREAD: RefCell<Vec<Armed>> = const { RefCell::new(Vec::new()) };
}

/// Number of a point in [`POINTS`]; does not compile for unknown names.
#[doc(hidden)]
pub const fn index_of(name: &str, failing: bool) -> usize {
    let mut i = 0;
    while i < POINTS.len() {
        if same(POINTS[i].0.as_bytes(), name.as_bytes()) {
            assert!(
                POINTS[i].1 == failing,
                "stop_result! is for points that may fail, stop_point! for the others"
            );
            return i;
        }
        i += 1;
    }
    panic!("no such stop point in stop::POINTS");
}

const fn same(a: &[u8], b: &[u8]) -> bool {
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

/// A place where tests may stop the code: `stop_point!("name")`.
#[macro_export]
macro_rules! stop_point {
    ($name:literal) => {{
        const POINT: usize = $crate::stop::index_of($name, false);
        if $crate::stop::any_armed() {
            // Points that cannot fail are never armed with an error.
            let _ = $crate::stop::pass(POINT);
        }
    }};
}

/// A place where tests may stop the code or make it fail: `stop_result!("name")?`.
#[macro_export]
macro_rules! stop_result {
    ($name:literal) => {{
        const POINT: usize = $crate::stop::index_of($name, true);
        if $crate::stop::any_armed() { $crate::stop::pass(POINT) } else { Ok(()) }
    }};
}

#[doc(hidden)]
#[inline]
pub fn any_armed() -> bool {
    // Relaxed: arming is meant for code that runs later, and tests order the two by other means.
    ARMED.load(Ordering::Relaxed) != 0
}

/// Carries out what is armed for this point, on this thread or in the process.
#[doc(hidden)]
#[cold]
pub fn pass(point: usize) -> Result<(), Injected> {
    let name = POINTS[point].0;
    let in_thread = THREAD.with_borrow_mut(|armed| due(armed, point));
    let (action, in_thread) = match in_thread {
        Some(action) => (action, true),
        None => match due(&mut process(), point) {
            Some(action) => (action, false),
            None => return Ok(()),
        },
    };
    match action {
        Action::Count => Ok(()),
        Action::Error => Err(Injected(name)),
        Action::Crash => match HOOKS.get() {
            Some(hooks) => (hooks.crash)(name),
            None => std::process::abort(),
        },
        Action::Pause => {
            let released = || {
                if in_thread {
                    THREAD.with_borrow(|armed| is_released(armed, point))
                } else {
                    is_released(&process(), point)
                }
            };
            match HOOKS.get() {
                Some(hooks) => (hooks.pause)(name, &released),
                None => {
                    while !released() {
                        std::thread::yield_now();
                    }
                }
            }
            Ok(())
        }
    }
}

fn process() -> std::sync::MutexGuard<'static, Vec<Armed>> {
    PROCESS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Counts the pass; the action if it is its turn.
fn due(armed: &mut [Armed], point: usize) -> Option<Action> {
    let armed = armed.iter_mut().find(|a| a.point == point)?;
    armed.passed += 1;
    (armed.passed > armed.skip).then_some(armed.action)
}

fn is_released(armed: &[Armed], point: usize) -> bool {
    armed.iter().find(|a| a.point == point).is_none_or(|a| a.released)
}

/// Installs the hooks. The first call wins.
pub fn set_hooks(hooks: Hooks) {
    // A second call comes from a second server in the same process, with the same hooks.
    let _ = HOOKS.set(hooks);
}

/// A point that is armed until this is dropped.
#[derive(Debug)]
pub struct ArmedPoint {
    point: usize,
    in_thread: bool,
}

impl ArmedPoint {
    /// How often the point was passed since it was armed.
    pub fn passed(&self) -> u64 {
        self.with(|armed| armed.map_or(0, |a| a.passed))
    }

    /// Lets those go on that are paused here, and lets everybody pass from now on.
    pub fn release(&self) {
        self.with(|armed| {
            if let Some(armed) = armed {
                armed.released = true;
            }
        });
    }

    fn with<T>(&self, f: impl FnOnce(Option<&mut Armed>) -> T) -> T {
        let find = |armed: &mut Vec<Armed>| f(armed.iter_mut().find(|a| a.point == self.point));
        if self.in_thread { THREAD.with_borrow_mut(find) } else { find(&mut process()) }
    }
}

impl Drop for ArmedPoint {
    fn drop(&mut self) {
        let remove = |armed: &mut Vec<Armed>| armed.retain(|a| a.point != self.point);
        if self.in_thread {
            THREAD.with_borrow_mut(remove)
        } else {
            remove(&mut process())
        }
        ARMED.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Arms a point for code on this thread: the action is taken after `skip` passes.
///
/// # Panics
/// When there is no such point, when it is armed already, or when an error is to be injected where none can be.
pub fn arm(name: &str, action: Action, skip: u64) -> ArmedPoint {
    let armed = new_armed(name, action, skip);
    let point = armed.point;
    THREAD.with_borrow_mut(|list| add(list, armed));
    ARMED.fetch_add(1, Ordering::SeqCst);
    ArmedPoint { point, in_thread: true }
}

/// Arms a point for the whole process.
///
/// # Panics
/// As [`arm`].
pub fn arm_process(name: &str, action: Action, skip: u64) -> ArmedPoint {
    let armed = new_armed(name, action, skip);
    let point = armed.point;
    add(&mut process(), armed);
    ARMED.fetch_add(1, Ordering::SeqCst);
    ArmedPoint { point, in_thread: false }
}

fn new_armed(name: &str, action: Action, skip: u64) -> Armed {
    let point = POINTS.iter().position(|p| p.0 == name).unwrap_or_else(|| panic!("no stop point \"{name}\""));
    assert!(action != Action::Error || POINTS[point].1, "no error can be injected at \"{name}\"");
    Armed { point, action, skip, passed: 0, released: false }
}

fn add(list: &mut Vec<Armed>, armed: Armed) {
    assert!(list.iter().all(|a| a.point != armed.point), "stop point is armed already");
    list.push(armed);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failing() -> Result<(), Injected> {
        stop_result!("test-failing")
    }

    #[test]
    fn error_after_skipped_passes_and_none_after_disarming() {
        let point = arm("test-failing", Action::Error, 2);
        assert_eq!(failing(), Ok(()));
        assert_eq!(failing(), Ok(()));
        assert_eq!(failing(), Err(Injected("test-failing")));
        assert_eq!(point.passed(), 3);
        drop(point);
        assert_eq!(failing(), Ok(()));
    }

    #[test]
    fn arming_is_for_one_thread() {
        let point = arm("test-plain", Action::Count, 0);
        std::thread::spawn(|| stop_point!("test-plain")).join().unwrap();
        assert_eq!(point.passed(), 0);
        stop_point!("test-plain");
        assert_eq!(point.passed(), 1);
    }

    #[test]
    fn a_released_point_lets_pass() {
        let point = arm("test-plain", Action::Pause, 0);
        point.release();
        stop_point!("test-plain");
        assert_eq!(point.passed(), 1);
    }
}
