//! Tests of the scheduler, the clock and the disk's crashes.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use base::stop::{self, Action};

use super::*;
use crate::fs::{self, File, OpenOptions};
use crate::{Workers, now, random_u64, sleep, spawn_fiber, wait, worker_index, yield_now};

/// The order in which three fibers took their steps, and when.
fn trace(seed: u64) -> Vec<(u32, u64, u64)> {
    Simulation::new(seed)
        .run(|| {
            let log = Rc::new(RefCell::new(Vec::new()));
            let fibers: Vec<_> = (0..3)
                .map(|id| {
                    let log = log.clone();
                    spawn_fiber("step", move || {
                        for _ in 0..5 {
                            log.borrow_mut().push((id, now().0, random_u64()));
                            yield_now();
                        }
                    })
                })
                .collect();
            for fiber in fibers {
                fiber.join().unwrap();
            }
            log.take()
        })
        .unwrap()
}

#[test]
fn the_seed_decides() {
    assert_eq!(trace(1), trace(1));
    let orders: BTreeSet<Vec<u32>> =
        (0..20).map(|seed| trace(seed).into_iter().map(|step| step.0).collect()).collect();
    assert!(orders.len() > 10, "different seeds explore different orders");
}

/// A simulation in which a file is written while others run.
fn writes(seed: u64, text: &'static [u8]) -> Simulation {
    let simulation = Simulation::new(seed);
    simulation.keep_events();
    let run = simulation.run(move || {
        let other = spawn_fiber("other", yield_now);
        fs::write_file(Path::new("/file"), text).unwrap();
        other.join().unwrap();
    });
    run.unwrap();
    simulation
}

#[test]
fn a_digest_tells_apart_what_was_done() {
    let [one, same, other, later] = [(1, "text"), (1, "text"), (1, "tent"), (2, "text")]
        .map(|(seed, text)| writes(seed, text.as_bytes()));
    assert_eq!(one.digest(), same.digest());
    assert_eq!(trace::first_difference(&one.events(), &same.events()), None);
    assert_ne!(one.digest(), later.digest());
    assert_ne!(one.digest(), other.digest());
    let difference = trace::first_difference(&one.events(), &other.events()).unwrap();
    let lines: Vec<_> = difference.lines().rev().take(2).collect();
    assert!(lines[1].starts_with("one: ") && lines[1].contains("main: writes "), "{difference}");
    assert!(lines[0].starts_with("other: "), "{difference}");
}

#[test]
fn the_clock_jumps_over_long_sleeps() {
    let simulation = Simulation::new(3);
    simulation.run(|| wait(sleep(Duration::from_secs(3600)))).unwrap();
    assert!(simulation.elapsed() >= Duration::from_secs(3600));
}

#[test]
#[should_panic(expected = "simulation is stuck")]
fn a_deadlock_is_reported() {
    let _ = Simulation::new(0).run(|| wait(std::future::pending::<()>()));
}

/// How often the step passes from one fiber to another while two of them take a latch that is free each time.
#[cfg(debug_assertions)]
fn switches(odds: u64) -> usize {
    let simulation = Simulation::new(6);
    simulation.interleave(odds);
    let steps = simulation.run(|| {
        let shared = Rc::new((crate::Latch::new(), RefCell::new(Vec::new())));
        let fibers: Vec<_> = (0..2)
            .map(|id| {
                let shared = shared.clone();
                spawn_fiber("step", move || {
                    for i in 0..100 {
                        if i % 2 == 0 {
                            drop(shared.0.read());
                        } else {
                            drop(shared.0.write());
                        }
                        shared.1.borrow_mut().push(id);
                    }
                })
            })
            .collect();
        for fiber in fibers {
            fiber.join().unwrap();
        }
        shared.1.take()
    });
    steps.unwrap().windows(2).filter(|pair| pair[0] != pair[1]).count()
}

#[test]
#[cfg(debug_assertions)]
fn others_run_before_a_free_latch_is_taken() {
    assert_eq!(switches(0), 1);
    assert!(switches(2) > 20);
}

#[test]
fn workers_are_numbers() {
    let seen = Simulation::new(4)
        .run(|| {
            let workers = Workers::start(3).unwrap();
            let (sender, receiver) = crate::sync::oneshot::channel();
            workers.spawn_fiber_on(2, move || {
                let inner = spawn_fiber("inner", worker_index);
                sender.send((worker_index(), inner.join().unwrap())).unwrap();
            });
            (worker_index(), wait(receiver).unwrap())
        })
        .unwrap();
    assert_eq!(seen, (Some(0), (Some(2), Some(2))));
}

#[test]
fn what_was_synced_survives_and_the_rest_may_not() {
    let path = Path::new("/data/file");
    let mut outcomes = BTreeSet::new();
    for seed in 0..200 {
        let simulation = Simulation::new(seed);
        simulation
            .run(move || {
                fs::create_dir_all(Path::new("/data")).unwrap();
                fs::sync_dir(Path::new("/")).unwrap();
                let file = File::open(path, OpenOptions::CREATE).unwrap();
                file.write_and_sync_at(&[&[1u8; 2048]], 0).unwrap();
                fs::sync_dir(Path::new("/data")).unwrap();
                file.write_all_at(&[2u8; 1024], 512).unwrap();
                file.write_all_at(&[3u8; 512], 2048).unwrap();
            })
            .unwrap();
        simulation.crash();
        let bytes = simulation.run(move || fs::read_to_vec(path).unwrap()).unwrap();
        assert_eq!(&bytes[..512], [1; 512], "synced and not overwritten");
        assert_eq!(&bytes[1536..2048], [1; 512], "synced and not overwritten");
        let sectors: Vec<u8> = bytes.chunks(512).map(|s| s[0]).collect();
        assert!(bytes.chunks(512).all(|s| s.iter().all(|b| *b == s[0])), "sectors are whole");
        outcomes.insert(sectors);
    }
    for possible in [&[1, 1, 1, 1][..], &[1, 2, 2, 1], &[1, 2, 1, 1], &[1, 1, 2, 1], &[1, 1, 1, 1, 3]] {
        assert!(outcomes.contains(possible), "some crash leaves {possible:?}");
    }
}

#[test]
fn an_image_is_what_was_synced_and_can_be_used_again() {
    let path = Path::new("/data/file");
    let first = Simulation::new(1);
    first
        .run(move || {
            fs::create_dir_all(Path::new("/data")).unwrap();
            fs::sync_dir(Path::new("/")).unwrap();
            fs::write_file_durably(path, b"synced").unwrap();
            let file = File::open(path, OpenOptions::CREATE).unwrap();
            file.write_all_at(b"not yet", 0).unwrap();
            File::open(Path::new("/data/lost"), OpenOptions::CREATE).unwrap();
        })
        .unwrap();
    let image = first.disk_image();
    for seed in 0..3 {
        let again = Simulation::with_disk(seed, &image);
        let look = move || {
            let names = fs::read_dir(Path::new("/data")).unwrap().len();
            (fs::read_to_vec(path).unwrap(), names)
        };
        assert_eq!(again.run(look).unwrap(), (b"synced".to_vec(), 1));
        again.run(move || fs::write_file_durably(path, b"of one machine").unwrap()).unwrap();
        again.crash();
        assert_eq!(again.run(look).unwrap().0, b"of one machine");
    }
}

#[test]
fn names_survive_by_the_sync_of_their_directory() {
    let (mut lost, mut kept) = (0, 0);
    for seed in 0..100 {
        let simulation = Simulation::new(seed);
        simulation
            .run(|| {
                fs::create_dir_all(Path::new("/d")).unwrap();
                fs::sync_dir(Path::new("/")).unwrap();
                fs::write_file_durably(Path::new("/d/a"), b"old").unwrap();
                let file = File::open(Path::new("/d/new"), OpenOptions::CREATE).unwrap();
                file.write_and_sync_at(&[b"new"], 0).unwrap();
                fs::rename(Path::new("/d/new"), Path::new("/d/a")).unwrap();
            })
            .unwrap();
        simulation.crash();
        let bytes = simulation.run(|| fs::read_to_vec(Path::new("/d/a")).unwrap()).unwrap();
        match &bytes[..] {
            b"old" => lost += 1,
            b"new" => kept += 1,
            other => panic!("neither the old file nor the new one: {other:?}"),
        }
    }
    assert!(lost > 0 && kept > 0, "{lost} lost, {kept} kept");
}

#[test]
fn a_crash_at_any_operation_unwinds_and_kills_handles() {
    let mut points = 0;
    for operations in 1.. {
        let simulation = Simulation::new(operations);
        let handle = Rc::new(RefCell::new(None));
        let slot = handle.clone();
        simulation.crash_after(operations);
        let result = simulation.run(move || {
            fs::create_dir_all(Path::new("/d")).unwrap();
            *slot.borrow_mut() = Some(File::open(Path::new("/d/f"), OpenOptions::CREATE).unwrap());
            spawn_fiber("writer", || fs::write_file_durably(Path::new("/d/g"), b"g"))
                .join()
                .unwrap()
                .unwrap();
        });
        if result.is_ok() {
            break;
        }
        points += 1;
        assert_eq!(result, Err(Crashed));
        if let Some(file) = handle.borrow_mut().take() {
            assert!(file.write_all_at(b"x", 0).is_err(), "the handle of an earlier life is dead");
        }
        simulation.run(|| fs::create_dir_all(Path::new("/d")).unwrap()).unwrap();
    }
    assert!(points >= 6, "only {points} operations");
}

#[test]
fn a_stop_point_crashes_the_machine() {
    let simulation = Simulation::new(9);
    let point = stop::arm("test-plain", Action::Crash, 1);
    let result = simulation.run(|| {
        base::stop_point!("test-plain");
        spawn_fiber("crasher", || base::stop_point!("test-plain")).join().unwrap();
        unreachable!("the machine has crashed");
    });
    assert_eq!(result, Err::<(), _>(Crashed));
    assert_eq!(point.passed(), 2);
}

#[test]
fn a_paused_fiber_goes_on_when_released() {
    let point = stop::arm("test-plain", Action::Pause, 0);
    let seen = Simulation::new(2)
        .run(move || {
            let fiber = spawn_fiber("paused", || {
                base::stop_point!("test-plain");
                now()
            });
            wait(sleep(Duration::from_secs(1)));
            let released = now();
            point.release();
            (released, fiber.join().unwrap())
        })
        .unwrap();
    assert!(seen.1 >= seen.0);
}

#[test]
fn a_full_disk_takes_no_more_and_keeps_what_it_has() {
    let simulation = Simulation::new(4);
    simulation
        .run(|| {
            let dir = Path::new("/full");
            fs::create_dir_all(dir).unwrap();
            let file = File::open(&dir.join("a"), OpenOptions::CREATE_NEW).unwrap();
            limit_disk(dir, Some(1000));
            file.write_all_at(&[1; 900], 0).unwrap();
            let full = file.write_all_at(&[2; 900], 200).unwrap_err();
            assert_eq!(full.kind(), std::io::ErrorKind::StorageFull);
            assert!(fs::write_file(&dir.join("b"), &[3; 200]).is_err());
            fs::write_file(Path::new("/elsewhere"), &[3; 2000]).unwrap();
            file.write_all_at(&[4; 900], 0).unwrap();
            assert_eq!(fs::read_to_vec(&dir.join("a")).unwrap(), [4; 900]);
            fs::remove_file(&dir.join("a")).unwrap();
            fs::write_file(&dir.join("b"), &[3; 1000]).unwrap();
            limit_disk(dir, None);
            fs::write_file(&dir.join("b"), &[3; 2000]).unwrap();
        })
        .unwrap();
}
