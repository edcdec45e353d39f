mod stream;

use std::cell::Cell;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base::stop::{self, Action};
use base::{BlockNo, Fork, Lsn, Oid, RelFile, Xid};
use page::PageBytes;
use runtime::{Simulation, spawn_fiber, yield_now};
use smgr::{Smgr, SmgrError};
use wal::{Rmgr, Wal, WalOptions, WalReader, WalStart, xlog_info};

use super::*;

const REL: RelFile = RelFile { tablespace: Oid(1663), database: Oid(5), number: 16384 };
const XID: Xid = Xid(10);

fn wal_options() -> WalOptions {
    WalOptions {
        segment_size: 1 << 20,
        buffers: 1 << 20,
        min_size: 2 << 20,
        max_size: 4 << 20,
        ..WalOptions::default()
    }
}

fn tag(block: u32) -> Tag {
    Tag::new(REL, Fork::Main, BlockNo(block))
}

fn new_pool(buffers: usize) -> BufferPool {
    runtime::fs::create_dir_all(Path::new("/data/base/5")).unwrap();
    for dir in ["/", "/data", "/data/base"] {
        runtime::fs::sync_dir(Path::new(dir)).unwrap();
    }
    let wal = Arc::new(Wal::create(Path::new("/data/pg_wal"), wal_options(), 7).unwrap());
    let smgr = Arc::new(Smgr::new(Path::new("/data")));
    smgr.create(REL, Fork::Main, false).unwrap();
    BufferPool::new(buffers, smgr, wal)
}

/// Runs on a simulated machine; at the end no pin may be left.
fn with_pool<T: 'static>(seed: u64, buffers: usize, f: impl FnOnce(&Rc<BufferPool>) -> T + 'static) -> T {
    Simulation::new(seed)
        .run(move || {
            let pool = Rc::new(new_pool(buffers));
            let result = f(&pool);
            assert_eq!(pool.pins(), 0, "pins are left");
            result
        })
        .unwrap()
}

/// A page's content in these tests: one item with a number.
fn set_number(page: &mut PageBytes, n: u64) {
    if page::is_new(page) {
        page::init(page, 0);
        page::add_item(page, &n.to_le_bytes(), None).unwrap();
    } else {
        page::item_mut(page, 1).unwrap().copy_from_slice(&n.to_le_bytes());
    }
}

/// 0 for a page that was only added.
fn number(page: &PageBytes) -> u64 {
    if page::is_new(page) {
        return 0;
    }
    u64::from_le_bytes(page::item(page, 1).unwrap().try_into().unwrap())
}

/// The logged change of these tests.
fn log_number(pool: &BufferPool, page: &mut ExclusivePage<'_>, n: u64) -> Lsn {
    let will_init = page::is_new(page);
    set_number(page, n);
    let mut action = WalAction::new(pool, Rmgr::Heap, 0, XID);
    let i = action.page(page, PageChange { will_init, ..PageChange::default() });
    action.page_data(i, &n.to_le_bytes());
    action.commit()
}

fn add_page(pool: &BufferPool, n: u64) -> BlockNo {
    let mut page = pool.extend(REL, Fork::Main, Persistence::Permanent).unwrap();
    log_number(pool, &mut page, n);
    page.tag().block
}

fn add_pages(pool: &BufferPool, numbers: std::ops::Range<u64>) {
    for n in numbers {
        add_page(pool, n);
    }
}

fn read_number(pool: &BufferPool, block: u32) -> u64 {
    number(&pool.read(tag(block)).unwrap().shared())
}

#[test]
fn more_pages_than_buffers() {
    with_pool(1, 16, |pool| {
        for n in 0..100 {
            assert_eq!(add_page(pool, n * 3), BlockNo(n as u32));
        }
        assert_eq!(pool.nblocks(REL, Fork::Main), Ok(100));
        for n in (0..100).rev() {
            assert_eq!(read_number(pool, n), n as u64 * 3);
        }
        let stats = pool.stats();
        let io = stats.of(IoKind::Normal);
        assert_eq!(stats.sessions(), io);
        assert_eq!(io.extends, 100);
        assert!(io.writes >= 84 && io.evictions >= 84 + 84 && io.reuses == 0, "{io:?}");
        assert!(io.reads >= 84 && io.hits + io.reads >= 100, "{io:?}");
        assert!(matches!(
            pool.read(tag(100)),
            Err(BufferError::File(SmgrError::PastEnd { nblocks: 100, .. }))
        ));
        // What was read behind the end is no page, and does not get in the way of the next one.
        assert_eq!(add_page(pool, 7), BlockNo(100));
        assert_eq!(read_number(pool, 100), 7);
    });
}

#[test]
fn many_fibers_find_the_same_pages() {
    for seed in 0..20 {
        with_pool(seed, 16, |pool| {
            for n in 0..60 {
                add_page(pool, n);
            }
            let fibers: Vec<_> = (0..8u64)
                .map(|fiber| {
                    let pool = pool.clone();
                    spawn_fiber("reader", move || {
                        for i in 0..80u64 {
                            let block = (i * (fiber + 3) * 7 % 60) as u32;
                            let pin = pool.read(tag(block)).unwrap();
                            assert_eq!(pin.tag(), tag(block));
                            if i % 5 == 0 {
                                let mut page = pin.exclusive();
                                let n = number(&page);
                                log_number(&pool, &mut page, n + 100);
                            } else {
                                let page = pin.shared();
                                yield_now();
                                assert_eq!(number(&page) % 100, block as u64);
                            }
                        }
                    })
                })
                .collect();
            fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
            let sum: u64 = (0..60).map(|block| read_number(pool, block) / 100).sum();
            assert_eq!(sum, 8 * 16, "a change was lost");
        });
    }
}

/// Threads, real files, everything at once.
#[test]
fn many_threads_on_a_small_pool() {
    let dir = std::env::temp_dir().join(format!("stampede-buffer-{}", std::process::id()));
    runtime::fs::create_dir_all(&dir.join("base/5")).unwrap();
    let wal = Arc::new(Wal::create(&dir.join("pg_wal"), wal_options(), 7).unwrap());
    let smgr = Arc::new(Smgr::new(&dir));
    smgr.create(REL, Fork::Main, false).unwrap();
    let pool = Arc::new(BufferPool::new(24, smgr, wal));
    add_pages(&pool, 0..60);
    let stop = Arc::new(AtomicBool::new(false));
    let checkpointer = {
        let (pool, stop) = (pool.clone(), stop.clone());
        std::thread::spawn(move || {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                pool.wal().begin_checkpoint();
                pool.checkpoint_write(false, &mut |_, _| {}).unwrap();
                pool.bgwriter_step().unwrap();
            }
        })
    };
    let threads: Vec<_> = (0..4u64)
        .map(|thread| {
            let pool = pool.clone();
            std::thread::spawn(move || {
                for i in 0..600u64 {
                    let block = (i * (2 * thread + 7) * 11 % 60) as u32;
                    let pin = pool.read(tag(block)).unwrap();
                    if i % 4 == 0 {
                        let mut page = pin.exclusive();
                        let n = number(&page);
                        log_number(&pool, &mut page, n + 100);
                    } else {
                        let page = pin.shared();
                        assert_eq!(number(&page) % 100, block as u64);
                        page.set_hint(2000 + (i % 16) as usize * 2, 1 << thread);
                    }
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    checkpointer.join().unwrap();
    let sum: u64 = (0..60).map(|block| read_number(&pool, block) / 100).sum();
    assert_eq!((sum, pool.pins()), (4 * 150, 0));
    pool.flush_relation(REL).unwrap();
    for block in 0..60 {
        let mut bytes = [0; base::PAGE_SIZE];
        pool.smgr().read(REL, Fork::Main, BlockNo(block), &mut bytes).unwrap();
        page::verify(&mut bytes, BlockNo(block)).unwrap();
        assert_eq!(number(&bytes), read_number(&pool, block));
    }
    drop(pool);
    runtime::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn one_reads_and_the_others_wait() {
    with_pool(4, 32, |pool| {
        for n in 0..40 {
            add_page(pool, n);
        }
        (8..40).for_each(|block| drop(pool.read(tag(block)).unwrap()));
        let before = pool.stats().sessions().reads;
        assert!(pool.read_cached(tag(0)).is_none());
        let fibers: Vec<_> = (0..10)
            .map(|_| {
                let pool = pool.clone();
                spawn_fiber("reader", move || read_number(&pool, 0))
            })
            .collect();
        fibers.into_iter().for_each(|fiber| assert_eq!(fiber.join().unwrap(), 0));
        assert_eq!(pool.stats().sessions().reads - before, 1);
    });
}

#[test]
fn all_buffers_pinned_is_an_error() {
    with_pool(1, 16, |pool| {
        add_pages(pool, 0..20);
        let pins: Vec<_> = (0..16).map(|block| pool.read(tag(block)).unwrap()).collect();
        assert_eq!(pool.read(tag(17)).map(drop), Err(BufferError::NoUnpinnedBuffers));
        assert_eq!(pool.pins(), 16);
        drop(pins);
        assert_eq!(read_number(pool, 17), 17);
    });
}

#[test]
fn a_damaged_page_is_named() {
    with_pool(1, 16, |pool| {
        add_pages(pool, 0..40);
        let mut bytes = [0; base::PAGE_SIZE];
        pool.smgr().read(REL, Fork::Main, BlockNo(3), &mut bytes).unwrap();
        bytes[8000] ^= 1;
        pool.smgr().write(REL, Fork::Main, BlockNo(3), &bytes).unwrap();
        let error = pool.read(tag(3)).map(drop).unwrap_err();
        assert_eq!(error, BufferError::Corrupt { rel: REL, fork: Fork::Main, block: BlockNo(3) });
        assert_eq!(error.to_string(), "invalid page in block 3 of relation \"base/5/16384\"");
        assert!(page::is_new(&pool.read_or_reset(tag(3)).unwrap().shared()));
        assert_eq!(read_number(pool, 4), 4);
    });
}

#[test]
fn the_log_is_flushed_before_a_page_is_written() {
    with_pool(1, 16, |pool| {
        add_page(pool, 1);
        let lsn = log_number(pool, &mut pool.read(tag(0)).unwrap().exclusive(), 2);
        assert!(pool.wal().flushed() < lsn);
        pool.flush_relation(REL).unwrap();
        assert!(pool.wal().flushed() >= lsn);
        let mut bytes = [0; base::PAGE_SIZE];
        pool.smgr().read(REL, Fork::Main, BlockNo(0), &mut bytes).unwrap();
        assert_eq!((number(&bytes), page::lsn(&bytes)), (2, lsn));
        page::verify(&mut bytes, BlockNo(0)).unwrap();
        assert_eq!(pool.dirty(), 0);
    });
}

#[test]
fn unlogged_pages_need_no_log() {
    with_pool(1, 16, |pool| {
        let end = pool.wal().insert_end();
        for n in 0..40 {
            let mut page = pool.extend(REL, Fork::Main, Persistence::Unlogged).unwrap();
            set_number(&mut page, n);
            let mut action = WalAction::for_relation(pool, Persistence::Unlogged, Rmgr::Heap, 0, XID);
            action.page(&mut page, PageChange::default());
            action.data(b"ignored");
            assert_eq!(action.commit(), Lsn::INVALID);
        }
        assert_eq!(read_number(pool, 0), 0);
        // One that is here since it was made, and one that was read again.
        for block in [39, 1] {
            pool.read(tag(block)).unwrap().shared().set_hint(4000, 1);
        }
        assert_eq!(pool.wal().insert_end(), end);
        pool.flush_relation(REL).unwrap();
        let mut page = pool.extend(REL, Fork::Main, Persistence::Unlogged).unwrap();
        page.mark_dirty();
        drop(page);
        assert_eq!(pool.checkpoint_write(false, &mut |_, _| {}), Ok(0));
        assert_eq!(pool.checkpoint_write(true, &mut |_, _| {}), Ok(1));
        assert_eq!(pool.dirty(), 0);
    });
}

#[test]
fn a_failed_write_leaves_the_page_dirty() {
    with_pool(1, 16, |pool| {
        add_page(pool, 1);
        let fault = stop::arm("buffer-before-write", Action::Error, 0);
        assert!(matches!(pool.flush_relation(REL), Err(BufferError::File(_))));
        assert_eq!(pool.dirty(), 1);
        drop(fault);
        pool.flush_relation(REL).unwrap();
        assert_eq!(pool.dirty(), 0);
    });
}

fn xlog_records(pool: &BufferPool, info: u8) -> usize {
    pool.wal().flush(pool.wal().insert_end()).unwrap();
    let start = Lsn((1 << 20) + 32);
    pool.wal().reader(start).filter(|r| matches!(r, Ok(r) if r.rmgr == Rmgr::Xlog && r.info == info)).count()
}

#[test]
fn the_first_hint_after_a_checkpoint_logs_an_image() {
    with_pool(1, 16, |pool| {
        add_page(pool, 5);
        pool.flush_relation(REL).unwrap();
        let hint = |bits| pool.read(tag(0)).unwrap().shared().set_hint(5000, bits);
        // Changed after the redo pointer: its image, or its making, is in the log.
        hint(1);
        assert_eq!((xlog_records(pool, xlog_info::FPI_FOR_HINT), pool.dirty()), (0, 1));
        pool.wal().begin_checkpoint();
        hint(2);
        // Dirty since before: it will be written by this checkpoint.
        assert_eq!(xlog_records(pool, xlog_info::FPI_FOR_HINT), 0);
        assert_eq!(pool.checkpoint_write(false, &mut |_, _| {}), Ok(1));
        hint(2);
        assert_eq!(pool.dirty(), 0, "a hint that is there already changes nothing");
        hint(4);
        hint(8);
        assert_eq!((xlog_records(pool, xlog_info::FPI_FOR_HINT), pool.dirty()), (1, 1));
        let lsn = page::lsn(&pool.read(tag(0)).unwrap().shared());
        assert!(lsn > pool.wal().redo());
        pool.flush_relation(REL).unwrap();
        hint(16);
        assert_eq!(xlog_records(pool, xlog_info::FPI_FOR_HINT), 1, "one image a checkpoint");
        assert_eq!(pool.read(tag(0)).unwrap().shared()[5000], 31);
    });
}

#[test]
fn checkpoints_write_what_is_dirty_in_file_order() {
    with_pool(2, 64, |pool| {
        add_pages(pool, 0..30);
        pool.flush_relation(REL).unwrap();
        for block in [17, 3, 29, 8] {
            log_number(pool, &mut pool.read(tag(block)).unwrap().exclusive(), 1000);
        }
        pool.wal().begin_checkpoint();
        let seen = Cell::new((0, 0));
        let written = pool.checkpoint_write(false, &mut |done, total| {
            // What is changed now is the next checkpoint's.
            if done == 1 {
                log_number(pool, &mut pool.read(tag(20)).unwrap().exclusive(), 2000);
            }
            seen.set((done, total));
        });
        assert_eq!((written, seen.get(), pool.dirty()), (Ok(4), (4, 4), 1));
        assert_eq!(pool.stats().of(IoKind::Checkpointer).writes, 4);
    });
}

/// The change that the checkpoint is about came while an older state was being written.
#[test]
fn a_checkpoint_mark_outlives_an_older_write() {
    use crate::frame::{CHECKPOINT, Claim, Frame, READING, VALID, WRITING};
    let frame = Frame::default();
    assert_eq!(frame.try_claim(), Claim::Claimed);
    frame.occupy(tag(0).words());
    frame.end_io(READING, VALID);
    frame.set_dirty();
    assert!(frame.try_begin_write());
    frame.set_dirty();
    assert!(frame.mark_for_checkpoint(false));
    frame.end_io(WRITING, 0);
    assert!(frame.state() & CHECKPOINT != 0);
    assert!(frame.try_begin_write());
    frame.end_io(WRITING, 0);
    assert!(frame.state() & CHECKPOINT == 0);
}

#[test]
fn cleanup_waits_for_the_other_pins() {
    for seed in 0..20 {
        with_pool(seed, 16, |pool| {
            add_page(pool, 5);
            let pin = pool.read(tag(0)).unwrap();
            assert!(pin.try_cleanup().is_some());
            let other = pool.read(tag(0)).unwrap();
            assert!(pin.try_cleanup().is_none());
            let released = Rc::new(Cell::new(false));
            let cleaner = {
                let (pool, released) = (pool.clone(), released.clone());
                drop(pin);
                spawn_fiber("cleaner", move || {
                    let pin = pool.read(tag(0)).unwrap();
                    let page = pin.cleanup();
                    assert!(released.get() && page.is_alone());
                })
            };
            for _ in 0..5 {
                yield_now();
                assert_eq!(number(&other.shared()), 5);
            }
            released.set(true);
            drop(other);
            cleaner.join().unwrap();
        });
    }
}

#[test]
fn cut_and_dropped_pages_are_gone() {
    with_pool(3, 32, |pool| {
        add_pages(pool, 0..20);
        pool.truncate(REL, Fork::Main, 5).unwrap();
        assert_eq!(pool.nblocks(REL, Fork::Main), Ok(5));
        assert!(pool.read(tag(5)).is_err());
        assert_eq!(add_page(pool, 77), BlockNo(5));
        assert_eq!((read_number(pool, 4), read_number(pool, 5)), (4, 77));
        pool.drop_relations(&[REL]);
        assert_eq!(pool.dirty(), 0);
        pool.smgr().unlink(REL).unwrap();
        assert!(matches!(pool.read(tag(0)), Err(BufferError::File(SmgrError::MissingFile { .. }))));
        pool.smgr().sync_all_pending().unwrap();
    });
}

#[test]
fn a_scan_with_a_ring_leaves_the_pool_alone() {
    with_pool(1, 128, |pool| {
        add_pages(pool, 0..300);
        pool.flush_relation(REL).unwrap();
        for _ in 0..3 {
            (0..64).for_each(|block| drop(pool.read(tag(block)).unwrap()));
        }
        let ring = pool.ring(RingKind::BulkRead);
        for block in 100..300 {
            let pin = pool.read_with(tag(block), Some(&ring)).unwrap();
            assert_eq!(number(&pin.shared()), block as u64);
        }
        let kept = (0..64).filter(|block| pool.read_cached(tag(*block)).is_some()).count();
        assert_eq!(kept, 64, "the scan threw hot pages out");
        let io = pool.stats().of(IoKind::BulkRead);
        assert_eq!(io.reads + io.hits, 200);
        assert!(io.reuses > io.evictions && io.evictions > 0, "{io:?}");
    });
}

#[test]
fn the_background_writer_cleans_ahead_of_the_sweep() {
    with_pool(1, 64, |pool| {
        add_pages(pool, 0..64);
        assert_eq!(pool.dirty(), 64);
        // All have lives left: nothing to write yet.
        pool.bgwriter_step().unwrap();
        let mut written = 0;
        for n in 64..500 {
            add_page(pool, n);
            if n % 4 == 0 {
                written += pool.bgwriter_step().unwrap().written;
            }
        }
        let stats = pool.stats();
        assert_eq!(stats.of(IoKind::BackgroundWriter).writes, written as u64);
        assert!(written > 300 && stats.of(IoKind::Normal).writes < 80, "{stats:?}");
        while !pool.bgwriter_step().unwrap().may_hibernate {}
        let long = Duration::from_secs(3600);
        let sleep = |stopped: Arc<AtomicBool>| {
            let pool = pool.clone();
            spawn_fiber("bgwriter", move || pool.bgwriter_wait(long, &|| stopped.load(Ordering::Relaxed)))
        };
        let sleeper = sleep(Arc::default());
        yield_now();
        add_page(pool, 1);
        sleeper.join().unwrap();
        while !pool.bgwriter_step().unwrap().may_hibernate {}
        let stopped = Arc::new(AtomicBool::new(false));
        let sleeper = sleep(stopped.clone());
        yield_now();
        stopped.store(true, Ordering::Relaxed);
        pool.wake_bgwriter();
        sleeper.join().unwrap();
    });
}

/// Redo of this module's records.
fn redo(pool: &BufferPool, record: &wal::Record) {
    let change = |page: &mut page::PageBytes, record: &wal::RecordRef<'_>, index| {
        let data = record.block(index).unwrap().data;
        set_number(page, u64::from_le_bytes(data.try_into().unwrap()));
        Ok(())
    };
    crate::replay(pool, record, change).unwrap();
}

/// Random changes, hints, write-backs and checkpoints; crashes that lose and tear; redo; nothing flushed is missing.
#[test]
fn flushed_changes_survive_crashes() {
    let start = Lsn((1 << 20) + 32);
    for seed in 0..40u64 {
        let simulation = Simulation::new(seed);
        let durable: Arc<parking_lot::Mutex<Vec<u64>>> = Arc::default();
        let redo_from = Arc::new(parking_lot::Mutex::new(start));
        simulation
            .run(|| {
                let pool = new_pool(16);
                pool.smgr().sync_all_pending().unwrap();
            })
            .unwrap();
        for round in 0..4u64 {
            simulation.crash_after(20 + (seed * 31 + round * 17) % 200);
            let (durable, redo_from) = (durable.clone(), redo_from.clone());
            let result = simulation.run(move || crash_round(seed * 10 + round, &durable, &redo_from));
            if result.is_ok() {
                simulation.crash();
            }
        }
    }
}

fn crash_round(seed: u64, durable: &parking_lot::Mutex<Vec<u64>>, redo_from: &parking_lot::Mutex<Lsn>) {
    let dir = Path::new("/data/pg_wal");
    wal::sync_segments(dir).unwrap();
    let wal = Arc::new(Wal::recovering(dir, wal_options(), 7));
    let pool = BufferPool::new(16, Arc::new(Smgr::new(Path::new("/data"))), wal.clone());
    let from = *redo_from.lock();
    let mut reader = WalReader::open(dir, 1 << 20, Some(7), from);
    for record in &mut reader {
        redo(&pool, &record.unwrap());
    }
    let timeline = base::TimelineId::FIRST;
    let start =
        WalStart { system_identifier: 7, read: timeline, timeline, end: reader.position(), redo: from };
    wal.start(start).unwrap();
    let expected = durable.lock().clone();
    for (block, least) in expected.iter().enumerate() {
        let found = read_number(&pool, block as u32);
        assert!(found >= *least, "block {block}: {least} was flushed, {found} is there");
    }
    let mut random = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = move |n: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % n
    };
    let mut current: Vec<u64> = (0..expected.len()).map(|block| read_number(&pool, block as u32)).collect();
    for step in 0..200u64 {
        match next(20) {
            0 | 1 if current.len() < 40 => {
                let block = add_page(&pool, step);
                current.resize(current.len().max(block.0 as usize + 1), 0);
                current[block.0 as usize] = step;
            }
            2..12 if !current.is_empty() => {
                let block = next(current.len() as u64) as usize;
                current[block] += 1;
                let pin = pool.read(tag(block as u32)).unwrap();
                log_number(&pool, &mut pin.exclusive(), current[block]);
            }
            12..16 if !current.is_empty() => {
                let pin = pool.read(tag(next(current.len() as u64) as u32)).unwrap();
                let page = pin.shared();
                // Nothing on an empty page is worth a hint.
                if !page::is_new(&page) {
                    page.set_hint(3000 + next(16) as usize * 2, 1 << next(16));
                }
            }
            16 => drop(pool.bgwriter_step().unwrap()),
            17 | 18 => {
                wal.flush(wal.insert_end()).unwrap();
                durable.lock().clone_from(&current);
            }
            19 if next(3) == 0 => {
                let redo = wal.begin_checkpoint();
                pool.checkpoint_write(false, &mut |_, _| {}).unwrap();
                pool.smgr().sync_all_pending().unwrap();
                wal.flush(wal.insert_end()).unwrap();
                *redo_from.lock() = redo;
            }
            _ => {}
        }
    }
}

#[test]
fn buffers_are_shown_and_sent_out() {
    with_pool(3, 16, |pool| {
        let (first, second) = (add_page(pool, 1), add_page(pool, 2));
        let find = |block| {
            (0..pool.buffers()).find(|&n| pool.frame_facts(n).is_some_and(|facts| facts.tag.block == block))
        };
        let (at, other) = (find(first).unwrap(), find(second).unwrap());
        let facts = pool.frame_facts(at).unwrap();
        assert_eq!((facts.tag, facts.dirty, facts.pins), (tag(first.0), true, 0));
        let kept = pool.read(tag(second.0)).unwrap();
        assert_eq!(pool.frame_facts(other).unwrap().pins, 1);
        let all = |_: Tag| true;
        assert_eq!(pool.evict_frame(other, all).unwrap(), Some(Evicted::default()), "somebody keeps it");
        assert_eq!(pool.evict_frame(at, |tag| tag.block == second).unwrap(), None, "not wanted");
        let out = Evicted { evicted: true, written: true };
        assert_eq!(pool.evict_frame(at, all).unwrap(), Some(out));
        assert_eq!(pool.frame_facts(at), None);
        assert_eq!(pool.evict_frame(at, all).unwrap(), None);
        assert_eq!(pool.evict_frame(pool.buffers(), all).unwrap(), None);
        assert_eq!(number(&pool.read(tag(first.0)).unwrap().shared()), 1, "it was written");
        drop(kept);
    });
}
