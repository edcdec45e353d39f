//! Reading ahead.

use runtime::ReadAhead;
use runtime::fs::{OpenOptions, ReadMethod};

use super::*;

/// Adds pages with their block's number, of which no buffer is left.
fn cold(pool: &BufferPool, count: u64) {
    add_pages(pool, 0..count);
    pool.flush_relation(REL).unwrap();
    pool.discard_all();
}

fn stream(pool: &BufferPool, ring: Option<&Ring>) -> ReadStream {
    ReadStream::new(pool, (REL, Fork::Main), ring, Purpose::Query)
}

/// What a stream gives of these blocks: numbers, or its error.
fn numbers(
    pool: &BufferPool,
    ring: Option<&Ring>,
    blocks: impl IntoIterator<Item = u32>,
) -> Result<Vec<u64>, BufferError> {
    let (mut stream, mut blocks, mut found) = (stream(pool, ring), blocks.into_iter(), Vec::new());
    while let Some(pin) = stream.next(pool, ring, || blocks.next())? {
        found.push(number(&pin.shared()));
    }
    assert!(stream.next(pool, ring, || None)?.is_none());
    Ok(found)
}

/// A pool whose pages are read by this method.
fn with_method<T: 'static>(
    (seed, buffers, method): (u64, usize, ReadMethod),
    f: impl FnOnce(&Rc<BufferPool>) -> T + 'static,
) -> T {
    with_pool(seed, 16, move |small| {
        let reads = ReadOptions { method, ..ReadOptions::default() };
        let options = PoolOptions { buffers, reads, ..PoolOptions::default() };
        let pool = Rc::new(BufferPool::with_options(options, small.smgr().clone(), small.wal().clone()));
        let result = f(&pool);
        // Reads that nobody waited for end by themselves.
        while pool.pins() > 0 {
            runtime::wait(runtime::sleep(Duration::from_millis(1)));
        }
        assert_eq!(pool.inner().under_way.load(Ordering::SeqCst), 0);
        result
    })
}

const METHODS: [ReadMethod; 2] = [ReadMethod::Sync, ReadMethod::Worker];

#[test]
fn neighbours_come_in_one_read() {
    for method in METHODS {
        with_method((1, 2000, method), |pool| {
            cold(pool, 200);
            let before = pool.stats().sessions();
            assert_eq!(numbers(pool, None, 0..200), Ok((0..200).collect()));
            let io = pool.stats().sessions();
            let (reads, pages) = (io.reads - before.reads, io.read_pages - before.read_pages);
            assert!(reads <= 17 && pages == 200 && io.hits == before.hits, "{reads}, {io:?}");
            // Now that they are here, each is found once and nothing is read.
            assert_eq!(numbers(pool, None, 0..200), Ok((0..200).collect()));
            let again = pool.stats().sessions();
            assert_eq!((again.reads, again.hits), (io.reads, io.hits + 200));
        });
    }
}

#[test]
fn any_order_of_blocks_is_kept() {
    for (seed, method) in (0..20).flat_map(|seed| METHODS.map(|method| (seed, method))) {
        with_method((seed, 64 + seed as usize * 20, method), |pool| {
            cold(pool, 300);
            // Some are here already, some come twice, some next to each other.
            for block in (0..300).step_by(7) {
                read_number(pool, block);
            }
            let blocks: Vec<u32> = (0..400).map(|n| (n * 3 + n / 5 * 40) % 300).chain(100..200).collect();
            let wanted: Vec<u64> = blocks.iter().map(|block| u64::from(*block)).collect();
            assert_eq!(numbers(pool, None, blocks.clone()), Ok(wanted.clone()));
            pool.discard_all();
            let ring = pool.ring(RingKind::BulkRead);
            assert_eq!(numbers(pool, Some(&ring), blocks), Ok(wanted));
        });
    }
}

#[test]
fn many_streams_share_few_buffers() {
    for (seed, method) in (0..20).flat_map(|seed| METHODS.map(|method| (seed, method))) {
        with_method((seed, 32, method), |pool| {
            cold(pool, 150);
            let fibers = (0..4u32).map(|n| {
                let pool = pool.clone();
                spawn_fiber("reader", move || {
                    let ring = (n % 2 == 0).then(|| pool.ring(RingKind::BulkRead));
                    assert_eq!(numbers(&pool, ring.as_ref(), n..150), Ok((u64::from(n)..150).collect()));
                })
            });
            fibers.collect::<Vec<_>>().into_iter().for_each(|fiber| fiber.join().unwrap());
        });
    }
}

#[test]
fn the_settings_limit_how_far_it_looks_ahead() {
    let ahead = |settings: ReadAhead, purpose| {
        with_method((1, 4000, ReadMethod::Worker), move |pool| {
            cold(pool, 400);
            settings.enter();
            let (mut stream, mut taken) = (ReadStream::new(pool, (REL, Fork::Main), None, purpose), 0);
            for _ in 0..100 {
                stream.next(pool, None, || (taken < 400).then(|| (taken, taken += 1).0)).unwrap();
            }
            ReadAhead::DEFAULT.enter();
            taken - 100
        })
    };
    let settings = |effective, maintenance| ReadAhead { effective, maintenance, combine: 8 };
    assert!(ahead(settings(0, 16), Purpose::Query) <= 8);
    assert!((57..=64).contains(&ahead(settings(8, 0), Purpose::Query)));
    assert!(ahead(settings(16, 1), Purpose::Maintenance) <= 8);
    assert!((57..=64).contains(&ahead(settings(0, 8), Purpose::Maintenance)));
}

#[test]
fn a_damaged_page_is_named_and_its_neighbours_are_read() {
    for method in METHODS {
        with_method((1, 2000, method), |pool| {
            cold(pool, 100);
            let mut bytes = [0; base::PAGE_SIZE];
            pool.smgr().read(REL, Fork::Main, BlockNo(40), &mut bytes).unwrap();
            bytes[8000] ^= 1;
            pool.smgr().write(REL, Fork::Main, BlockNo(40), &bytes).unwrap();
            let damaged = BufferError::Corrupt { rel: REL, fork: Fork::Main, block: BlockNo(40) };
            assert_eq!(numbers(pool, None, 0..100), Err(damaged));
            assert_eq!(numbers(pool, None, (0..100).filter(|block| *block != 40)).unwrap().len(), 99);
        });
    }
}

#[test]
fn a_read_that_fails_leaves_pages_to_be_read_alone() {
    for (skip, method) in (0..6).flat_map(|skip| METHODS.map(|method| (skip, method))) {
        with_method((1, 2000, method), move |pool| {
            cold(pool, 100);
            let before = pool.stats().sessions();
            let armed = stop::arm("smgr-before-run", Action::Error, skip);
            assert_eq!(numbers(pool, None, 0..100), Ok((0..100).collect()));
            assert!(armed.passed() > skip);
            assert!(pool.stats().sessions().read_pages - before.read_pages > 100);
        });
    }
}

#[test]
fn where_a_file_ends_too_early_is_told() {
    for method in METHODS {
        with_method((1, 2000, method), |pool| {
            cold(pool, 100);
            let path = Path::new("/data/base/5/16384");
            let file = runtime::fs::File::open(path, OpenOptions::READ_WRITE).unwrap();
            file.set_len(50 * base::PAGE_SIZE as u64 + 100).unwrap();
            let Err(BufferError::File(SmgrError::ShortRead { block, bytes, .. })) =
                numbers(pool, None, 0..100)
            else {
                panic!("a page that is not there was read");
            };
            assert_eq!((block, bytes), (BlockNo(50), 100));
            assert_eq!(numbers(pool, None, 0..50).unwrap().len(), 50);
        });
    }
}

#[test]
fn who_gives_up_leaves_no_page_in_between() {
    for seed in 0..20 {
        with_method((seed, 200, ReadMethod::Worker), |pool| {
            cold(pool, 150);
            let own = pool.clone();
            let fiber = spawn_fiber("reader", move || {
                let (mut stream, mut blocks) = (stream(&own, None), 0..150);
                while stream.next(&own, None, || blocks.next()).unwrap().is_some() {
                    yield_now();
                }
            });
            for _ in 0..30 {
                yield_now();
            }
            fiber.abort();
            assert_eq!(numbers(pool, None, 0..150), Ok((0..150).collect()));
        });
    }
}
