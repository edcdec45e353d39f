//! Tests of fibers, waits and interrupts.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Waker};
use std::time::Duration;

use crate::*;

/// Most that `max_stack_depth` may be.
const DEEPEST: u32 = base::settings::MAX_STACK_DEPTH as u32;

fn noop() -> Context<'static> {
    Context::from_waker(Waker::noop())
}

fn poll<T>(fiber: &mut Fiber<T>) -> std::task::Poll<T> {
    std::pin::Pin::new(fiber).poll(&mut noop())
}

#[test]
fn a_plain_thread_parks() {
    let (sender, receiver) = sync::oneshot::channel();
    let thread = std::thread::spawn(move || wait(receiver));
    sender.send(7).unwrap();
    assert_eq!(thread.join().unwrap(), Ok(7));
    assert!(!in_fiber());
}

#[test]
fn fibers_take_turns_on_one_thread() {
    let log = Rc::new(RefCell::new(Vec::new()));
    let seen = log.clone();
    run(move || {
        let handles: Vec<_> = (0..3)
            .map(|id| {
                let log = log.clone();
                spawn_fiber("turn", move || {
                    for step in 0..3 {
                        log.borrow_mut().push((step, id));
                        yield_now();
                    }
                })
            })
            .collect();
        for handle in handles {
            handle.join().unwrap();
        }
    });
    let steps: Vec<i32> = seen.borrow().iter().map(|turn| turn.0).collect();
    assert!(steps.is_sorted(), "each step of all comes before the next step of any: {steps:?}");
    assert_eq!(steps.len(), 9);
}

#[test]
fn a_panic_comes_out_of_the_future_and_the_stack_is_reused() {
    for _ in 0..10 {
        let mut fiber = run_fiber(|| panic!("boom"));
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _: std::task::Poll<()> = poll(&mut fiber);
        }));
        assert_eq!(spawn::panic_message(&*caught.unwrap_err()), "boom");
        assert!(!in_fiber(), "the thread is no longer inside the fiber");
    }
}

#[test]
fn dropping_a_suspended_fiber_runs_its_destructors() {
    struct Witness(Rc<Cell<u32>>);
    impl Drop for Witness {
        fn drop(&mut self) {
            assert!(fiber::is_unwinding());
            self.0.set(self.0.get() + 1);
        }
    }
    let dropped = Rc::new(Cell::new(0));
    let witness = Witness(dropped.clone());
    let mut fiber = run_fiber(move || {
        let _witness = witness;
        wait(std::future::pending::<()>());
    });
    assert!(poll(&mut fiber).is_pending());
    assert_eq!(dropped.get(), 0);
    drop(fiber);
    assert_eq!(dropped.get(), 1);
}

#[test]
fn a_fiber_inside_a_fiber_suspends_both() {
    let (sender, receiver) = sync::oneshot::channel();
    let mut outer = run_fiber(|| wait(run_fiber(|| wait(receiver).unwrap())) + 1);
    assert!(poll(&mut outer).is_pending());
    sender.send(41).unwrap();
    assert_eq!(poll(&mut outer), std::task::Poll::Ready(42));
}

/// Levels until the stack is used up, and what is said then.
fn dive() -> (u64, StackTooDeep) {
    fn level(depth: u64) -> (u64, StackTooDeep) {
        match check_stack() {
            Ok(()) => std::hint::black_box(level(std::hint::black_box(depth + 1))),
            Err(error) => (depth, error),
        }
    }
    level(0)
}

fn in_new_fiber<T: 'static>(f: impl FnOnce() -> T + 'static) -> T {
    match poll(&mut run_fiber(f)) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => panic!("it waits"),
    }
}

#[test]
fn deep_recursion_is_an_error() {
    let (_, error) = dive();
    assert_eq!(error.to_string(), "stack depth limit exceeded");
    assert_eq!(check_stack(), Ok(()));
    in_new_fiber(|| {
        let (first, error) = dive();
        let error = base::SqlError::from(error);
        assert_eq!(error.code(), base::SqlState::STATEMENT_TOO_COMPLEX);
        assert!(error.report().hint.as_ref().is_some_and(|hint| hint.contains("(currently 2048kB)")));
        assert_eq!(dive().0, first, "a second time");
        assert_eq!(check_stack(), Ok(()));
    });
}

#[test]
fn stacks_go_as_deep_as_the_setting_says() {
    let levels = |kilobytes| {
        in_new_fiber(move || {
            set_stack_depth(kilobytes);
            dive().0
        })
    };
    let usual = in_new_fiber(|| dive().0);
    let near = move |kilobytes: u32, levels: u64| {
        let expected = usual * u64::from(kilobytes) / 2048;
        assert!(levels.abs_diff(expected) * 20 < expected, "{kilobytes} kB: {levels}, not about {expected}");
    };
    for kilobytes in [100, 1000, 2048, 5000, DEEPEST] {
        near(kilobytes, levels(kilobytes));
    }
    // Raised and lowered while the fiber runs.
    in_new_fiber(move || {
        for kilobytes in [300, DEEPEST, 1000] {
            set_stack_depth(kilobytes);
            near(kilobytes, dive().0);
        }
    });
}

#[test]
fn a_deep_stack_keeps_no_memory_in_the_pool() {
    use crate::stack::{pooled_memory, shallow_memory};
    std::thread::spawn(|| {
        in_new_fiber(|| {
            set_stack_depth(DEEPEST);
            dive();
        });
        assert!(pooled_memory() > 0, "the stack is in the pool");
        assert!(pooled_memory() <= shallow_memory(), "{} bytes are still there", pooled_memory());
        // It is as good as new.
        let again = in_new_fiber(|| dive().0);
        assert_eq!(again, in_new_fiber(|| dive().0));
    })
    .join()
    .unwrap();
}

#[test]
fn interrupts_are_reported_by_urgency_and_held_off() {
    let interrupts = Interrupts::new();
    with_interrupts(&interrupts, || {
        assert_eq!(check_interrupts(), Ok(()));
        interrupts.set(Interrupt::Cancel);
        interrupts.set(Interrupt::StatementTimeout);
        let hold = hold_interrupts();
        assert_eq!(check_interrupts(), Ok(()));
        assert_eq!(wait_interruptible(std::future::ready(1)), Ok(1));
        drop(hold);
        {
            let _kept = crate::keep_interrupts();
            assert_eq!(check_interrupts(), Err(Interrupt::StatementTimeout));
            assert_eq!(crate::check_piece(), Err(Interrupt::StatementTimeout), "it stays set");
            let waited = wait_interruptible(std::future::pending::<()>());
            assert_eq!(waited, Err(Interrupt::StatementTimeout), "here too");
        }
        assert_eq!(check_interrupts(), Err(Interrupt::StatementTimeout));
        assert_eq!(check_interrupts(), Err(Interrupt::Cancel));
        assert_eq!(check_interrupts(), Ok(()));
        interrupts.set(Interrupt::Terminate);
        assert_eq!(check_interrupts(), Err(Interrupt::Terminate));
        assert_eq!(check_interrupts(), Err(Interrupt::Terminate), "the end of a session is not taken back");
    });
    assert_eq!(check_interrupts(), Ok(()), "no longer installed");
}

#[test]
fn an_interrupt_ends_a_wait_from_another_thread() {
    let interrupts = Interrupts::new();
    let remote = interrupts.clone();
    let (ready, is_ready) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        is_ready.recv().unwrap();
        remote.set(Interrupt::Cancel);
    });
    let result = run(move || {
        with_interrupts(&interrupts, || {
            ready.send(()).unwrap();
            wait_interruptible(std::future::pending::<()>())
        })
    });
    assert_eq!(result, Err(Interrupt::Cancel));
    thread.join().unwrap();
}

#[test]
fn interrupts_belong_to_the_fiber() {
    let first = Interrupts::new();
    first.set(Interrupt::Cancel);
    let mut fiber = run_fiber(move || {
        with_interrupts(&first, || {
            let hold = hold_interrupts();
            yield_now();
            drop(hold);
            check_interrupts()
        })
    });
    assert!(poll(&mut fiber).is_pending());
    assert_eq!(check_interrupts(), Ok(()), "the thread outside has none");
    assert_eq!(poll(&mut fiber), std::task::Poll::Ready(Err(Interrupt::Cancel)));
}

#[test]
fn a_busy_fiber_lets_others_run() {
    let done = Rc::new(Cell::new(false));
    let flag = done.clone();
    run(move || {
        spawn_fiber("other", move || flag.set(true));
        while !done.get() {
            check_interrupts().unwrap();
        }
    });
}

#[test]
fn sleeping_on_every_kind_of_thread() {
    let start = now();
    wait(sleep(Duration::from_millis(2)));
    assert!(start.elapsed() >= Duration::from_millis(2));
    run(|| {
        let start = now();
        wait(sleep(Duration::from_millis(2)));
        assert!(start.elapsed() >= Duration::from_millis(2));
        assert_eq!(wait(time::timeout(Duration::from_millis(1), std::future::pending::<()>())), None);
    });
}

#[test]
fn blocking_leaves_the_worker_free() {
    let (sender, receiver) = std::sync::mpsc::channel();
    run(move || {
        // The closure ends only after another fiber of this worker has run.
        spawn_fiber("other", move || sender.send(5).unwrap());
        let text = String::from("borrowed");
        let length = text.as_str();
        let value = blocking(move || receiver.recv().unwrap() + length.len());
        assert_eq!(value, 13);
    });
}

#[test]
fn short_calls_stay_on_a_worker_with_one_task() {
    let here = || std::thread::current().id();
    let moved = move || (0..100).filter(|_| pool::short(here) != here()).count();
    run(move || {
        let alone = moved();
        assert!(alone > 0 && alone < 100, "{alone} calls were handed over");
        // Another fiber runs during each call that is handed over.
        let stop = Rc::new(Cell::new(false));
        let seen = stop.clone();
        let other = spawn_fiber("other", move || {
            while !seen.get() {
                yield_now();
            }
        });
        yield_now();
        assert_eq!(moved(), 100);
        stop.set(true);
        other.join().unwrap();
    });
}

#[test]
fn a_panic_in_blocking_comes_back() {
    let caught = run(|| std::panic::catch_unwind(|| blocking(|| panic!("in the pool"))));
    assert_eq!(spawn::panic_message(&*caught.unwrap_err()), "in the pool");
}

#[test]
fn workers_run_tasks_and_end() {
    let workers = Workers::start(2).unwrap();
    let (sender, receiver) = std::sync::mpsc::channel();
    for index in 0..2 {
        let sender = sender.clone();
        workers.spawn_fiber_on(index, move || sender.send((index, worker_index())).unwrap());
    }
    let mut seen: Vec<_> = (0..2).map(|_| receiver.recv().unwrap()).collect();
    seen.sort();
    assert_eq!(seen, [(0, Some(0)), (1, Some(1))]);
    struct Witness(std::sync::mpsc::Sender<(usize, Option<usize>)>);
    impl Drop for Witness {
        fn drop(&mut self) {
            self.0.send((9, worker_index())).unwrap();
        }
    }
    let witness = Witness(sender);
    let (started, has_started) = std::sync::mpsc::channel();
    workers.spawn_fiber_on(1, move || {
        let _witness = witness;
        started.send(()).unwrap();
        wait(std::future::pending::<()>());
    });
    has_started.recv().unwrap();
    workers.shutdown();
    assert_eq!(receiver.recv(), Ok((9, Some(1))), "the suspended fiber was unwound on its worker");
}

#[test]
fn threads_give_their_value_to_a_fiber() {
    let value = run(|| spawn_thread("sum", || (1..=10).sum::<i32>()).unwrap().join());
    assert_eq!(value, Ok(55));
    let failed = run(|| spawn_thread("bad", || -> () { panic!("no") }).unwrap().join());
    assert_eq!(failed, Err(JoinError::Panicked("no".into())));
}

/// What a thread keeps may be dropped when the thread's own state is gone already.
#[test]
fn a_thread_that_ends_still_has_a_state() {
    struct Late;
    impl Drop for Late {
        fn drop(&mut self) {
            assert!(crate::check_interrupts().is_ok());
        }
    }
    thread_local! {
        static LATE: Late = const { Late };
    }
    // Those that come later go earlier.
    std::thread::spawn(|| {
        LATE.with(|_| ());
        assert!(crate::check_interrupts().is_ok());
    })
    .join()
    .unwrap();
}

#[test]
fn helpers_run_beside_the_fiber_and_are_waited_for() {
    let started = run(|| {
        let (met, ended) = (std::sync::Barrier::new(3), AtomicUsize::new(0));
        let help = || {
            met.wait();
            ended.fetch_add(1, Ordering::SeqCst)
        };
        let own = |started| {
            blocking(|| met.wait());
            started
        };
        let (started, given) = crate::alongside(2, help, || {}, own);
        let mut given = given.unwrap();
        given.sort_unstable();
        assert_eq!((given, ended.into_inner()), (vec![0, 1], 2));
        started
    });
    assert_eq!(started, 2);
}

#[test]
fn helpers_have_the_words_of_the_fiber() {
    let given = run(|| {
        crate::set_word(3, 33);
        crate::alongside(2, || crate::word(3), || {}, |_| ()).1
    });
    assert_eq!(given, Ok(vec![33, 33]));
}

#[test]
fn an_interrupt_stops_helpers() {
    let ended = run(|| {
        let (stopped, ended) = (AtomicBool::new(false), AtomicUsize::new(0));
        let help = || {
            while !stopped.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
            ended.fetch_add(1, Ordering::SeqCst);
        };
        let interrupts = Interrupts::new();
        let given = with_interrupts(&interrupts, || {
            let own = |_| interrupts.set(Interrupt::Cancel);
            crate::alongside(3, help, || stopped.store(true, Ordering::SeqCst), own).1
        });
        assert_eq!(given, Err(Interrupt::Cancel));
        ended.into_inner()
    });
    assert_eq!(ended, 3);
}

#[test]
fn a_panic_stops_helpers_too() {
    run(|| {
        let (stopped, ended) = (AtomicBool::new(false), AtomicUsize::new(0));
        let help = || {
            while !stopped.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
            ended.fetch_add(1, Ordering::SeqCst);
        };
        let work = || crate::alongside(2, help, || stopped.store(true, Ordering::SeqCst), |_| panic!("here"));
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        assert!(caught.is_err());
        assert_eq!(ended.load(Ordering::SeqCst), 2, "they have ended");
    });
}
