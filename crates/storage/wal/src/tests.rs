use std::cell::Cell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use base::stop::{self, Action};
use base::{BlockNo, Fork, Lsn, Oid, PAGE_SIZE, RelFile, TimelineId, Xid};
use compress::Method;
use page::PageBytes;
use proptest::prelude::*;
use runtime::Simulation;
use runtime::sim::limit_disk;

use crate::builder::ImageOptions;
use crate::record::{HEADER_SIZE, finish_crc};
use crate::*;

const REL: RelFile = RelFile { tablespace: Oid(1663), database: Oid(5), number: 16384 };

fn small() -> WalOptions {
    WalOptions {
        segment_size: 64 << 10,
        buffers: 64 << 10,
        min_size: 128 << 10,
        max_size: 512 << 10,
        ..WalOptions::default()
    }
}

/// A directory that goes away with the test.
struct TempDir(PathBuf);

impl TempDir {
    fn new() -> TempDir {
        let path = std::env::temp_dir().join(format!(
            "stampede-wal-{}-{:x}",
            std::process::id(),
            runtime::random_u64()
        ));
        runtime::fs::create_dir_all(&path).unwrap();
        TempDir(path)
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = runtime::fs::remove_dir_all(&self.0);
    }
}

fn start_lsn() -> Lsn {
    Lsn((64 << 10) + 64)
}

fn start_at(end: Lsn, redo: Lsn) -> WalStart {
    let timeline = TimelineId::FIRST;
    WalStart { system_identifier: 7, read: timeline, timeline, end, redo }
}

fn page_with(lsn: u64, fill: u8) -> PageBytes {
    let mut page = [0; PAGE_SIZE];
    page::init(&mut page, 0);
    page::add_item(&mut page, &[fill; 100], None);
    page::set_lsn(&mut page, Lsn(lsn));
    page
}

/// A record of the test: the number twice, and `length` bytes between.
fn numbered(n: u64, length: usize) -> RecordBuilder<'static> {
    numbered_in_round(0, n, length)
}

fn numbered_in_round(round: u8, n: u64, length: usize) -> RecordBuilder<'static> {
    let mut record = RecordBuilder::new(Rmgr::Heap, round, Xid(n));
    record.data(&n.to_le_bytes()).data(&vec![n as u8; length]).data(&n.to_le_bytes());
    record
}

fn check_numbered(record: &Record) -> u64 {
    let data = record.data();
    let n = record.xid.0;
    assert_eq!(data[..8], n.to_le_bytes());
    assert_eq!(data[data.len() - 8..], n.to_le_bytes());
    assert!(data[8..data.len() - 8].iter().all(|byte| *byte == n as u8));
    n
}

fn read_all(wal: &Wal) -> Vec<Record> {
    wal.reader(start_lsn()).map(|record| record.unwrap()).collect()
}

#[test]
fn records_come_back_as_they_went_in() {
    let dir = TempDir::new();
    let wal = Wal::create(&dir.0, small(), 7).unwrap();
    assert_eq!(wal.insert_end(), start_lsn());
    // LSN before the redo pointer: an image. Behind it: data.
    let old = page_with(1, 0xAA);
    let new = page_with(u64::MAX / 2, 0xBB);
    let mut record = RecordBuilder::new(Rmgr::Btree, 0x30, Xid(99));
    let a = record.block(REL, Fork::Main, BlockNo(3), BlockOptions::default(), &old);
    let b = record.block(REL, Fork::Main, BlockNo(4), BlockOptions::default(), &new);
    let init = BlockOptions { will_init: true, ..Default::default() };
    let c = record.block(RelFile { number: 5, ..REL }, Fork::Vm, BlockNo(0), init, &old);
    record.block_data(a, b"superfluous").block_data(b, b"new ").block_data(b, b"data").block_data(c, b"init");
    record.data(b"main");
    let end = wal.insert(&record);
    wal.flush(end).unwrap();
    let records = read_all(&wal);
    let [record] = records.as_slice() else { panic!("{} records", records.len()) };
    assert_eq!((record.lsn, record.end, record.xid.0), (start_lsn(), end, 99));
    assert_eq!((record.rmgr, record.info, record.data()), (Rmgr::Btree, 0x30, &b"main"[..]));
    let blocks: Vec<_> = record.blocks().collect();
    assert_eq!(blocks.len(), 3);
    let mut restored = [9; PAGE_SIZE];
    let image = blocks[0].image.expect("an image");
    image.restore(&mut restored).unwrap();
    assert!(restored == old);
    assert!(image.stored_length() < 200, "the hole is left out");
    assert!(blocks[0].data.is_empty());
    assert!(blocks[1].image.is_none() && blocks[2].image.is_none());
    assert_eq!((blocks[1].rel, blocks[1].block, blocks[1].data), (REL, BlockNo(4), &b"new data"[..]));
    assert_eq!((blocks[2].rel.number, blocks[2].fork, blocks[2].will_init), (5, Fork::Vm, true));
    assert_eq!(blocks[2].data, b"init");
}

#[test]
fn pages_of_the_maps_keep_what_lies_in_the_hole() {
    let mut map = page_with(1, 1);
    map[4000..4100].fill(0x55);
    let dir = TempDir::new();
    let wal = Wal::create(&dir.0, small(), 7).unwrap();
    let mut record = RecordBuilder::new(Rmgr::Heap, 0, Xid(0));
    record.block(REL, Fork::Vm, BlockNo(0), BlockOptions::default(), &map);
    wal.flush(wal.insert(&record)).unwrap();
    let mut restored = [0; PAGE_SIZE];
    read_all(&wal)[0].block(0).unwrap().image.unwrap().restore(&mut restored).unwrap();
    assert!(restored == map);
}

/// A record takes no more room than it must: the xid and the length of the data only the bytes that they have.
/// After a crash the log goes on where its last whole record ends: what lies behind that in a full segment changes once more, so the segment is not archived.
#[test]
fn a_segment_is_archived_once_the_record_at_its_end_is_whole() {
    let dir = TempDir::new();
    let wal = Wal::create(&dir.0.join("pg_wal"), small(), 7).unwrap();
    runtime::fs::create_dir_all(&dir.0.join("pg_wal").join(ARCHIVE_STATUS)).unwrap();
    wal.archive().set_active(true);
    let first = wal.file_name(start_lsn());
    let one = wal.insert(&numbered(1, 40_000));
    wal.flush(one).unwrap();
    let two = wal.insert(&numbered(2, 40_000));
    assert_ne!(wal.file_name(two), first);
    // The leader has come to the end of the segment.
    wal.write_in_segment(wal.geometry.position(one), wal.geometry.position(two)).unwrap();
    assert!(!wal.archive().is_ready(&first).unwrap());
    wal.flush(two).unwrap();
    assert!(wal.archive().is_ready(&first).unwrap());
}

#[test]
fn small_records_are_small() {
    let length = |xid, data: &[u8]| {
        let mut record = RecordBuilder::new(Rmgr::Xact, 0, Xid(xid));
        record.data(data);
        record.assemble(Lsn(0), ImageOptions::default()).length
    };
    assert_eq!(length(0, b""), HEADER_SIZE);
    assert_eq!(length(255, b"x"), HEADER_SIZE + 1 + 1 + 1);
    assert_eq!(length(256, &[0; 256]), HEADER_SIZE + 2 + 2 + 256);
    assert_eq!(length(u64::MAX, b""), HEADER_SIZE + 8);
    let page = page_with(1, 1);
    let mut record = RecordBuilder::new(Rmgr::Heap, 0, Xid(0));
    record.block(REL, Fork::Vm, BlockNo(u32::MAX - 1), BlockOptions::default(), &page);
    assert_eq!(record.assemble(Lsn(0), ImageOptions::default()).length, HEADER_SIZE + 1 + 1 + 4 + 8);
    record.block(
        RelFile { tablespace: Oid(1664), ..REL },
        Fork::Main,
        BlockNo(0),
        BlockOptions::default(),
        &page,
    );
    record.block_data(1, &[7; 300]);
    let length = record.assemble(Lsn(0), ImageOptions::default()).length;
    assert_eq!(length, HEADER_SIZE + 14 + 1 + 2 + 4 + 4 + 8 + 300);
}

#[test]
fn images_are_compressed_when_that_is_asked_for_and_pays() {
    let dir = TempDir::new();
    let wal = Wal::create(&dir.0, small(), 7).unwrap();
    let repetitive = page_with(1, 0xAB);
    let mut noise = page_with(1, 1);
    let mut state = 1u64;
    for byte in &mut noise[24..] {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        *byte = (state >> 56) as u8;
    }
    for method in [Method::Lz4, Method::Pglz] {
        wal.tune(&WalOptions { compression: Some(method), ..small() });
        let mut record = RecordBuilder::new(Rmgr::Heap, 0, Xid(0));
        record.block(REL, Fork::Vm, BlockNo(0), BlockOptions::default(), &repetitive);
        record.block(REL, Fork::Vm, BlockNo(1), BlockOptions::default(), &noise);
        wal.flush(wal.insert(&record)).unwrap();
    }
    for (record, method) in read_all(&wal).iter().zip([Method::Lz4, Method::Pglz]) {
        let [small, large] = [0, 1].map(|i| record.block(i).unwrap().image.unwrap());
        assert_eq!((small.compression(), large.compression()), (Some(method), None));
        assert!(small.stored_length() < 500, "{}", small.stored_length());
        for (image, page) in [(small, &repetitive), (large, &noise)] {
            let mut restored = [9; PAGE_SIZE];
            image.restore(&mut restored).unwrap();
            assert!(restored == *page);
        }
    }
}

#[test]
fn images_follow_the_redo_pointer() {
    let dir = TempDir::new();
    let wal = Wal::create(&dir.0, small(), 7).unwrap();
    let log = |page: &PageBytes| {
        let mut record = RecordBuilder::new(Rmgr::Heap, 0, Xid(0));
        record.block(REL, Fork::Main, BlockNo(0), BlockOptions::default(), page);
        wal.insert(&record)
    };
    let first = log(&page_with(0, 1));
    log(&page_with(first.0, 1));
    let redo = wal.begin_checkpoint();
    assert_eq!(redo, wal.redo());
    let again = log(&page_with(first.0, 1));
    log(&page_with(again.0, 1));
    // A page whose last change ended exactly where redo starts has no image behind it.
    log(&page_with(redo.0, 1));
    wal.flush(wal.insert_end()).unwrap();
    let records = read_all(&wal);
    let images: Vec<bool> = records
        .iter()
        .filter(|record| record.rmgr == Rmgr::Heap)
        .map(|record| record.block(0).unwrap().image.is_some())
        .collect();
    assert_eq!(images, [true, false, true, false, true]);
    let checkpoint = records.iter().find(|record| record.rmgr == Rmgr::Xlog).unwrap();
    assert_eq!((checkpoint.lsn, checkpoint.info), (redo, xlog_info::CHECKPOINT_REDO));
}

#[test]
fn many_threads_many_segments_and_long_records() {
    let dir = TempDir::new();
    let wal = Arc::new(Wal::create(&dir.0, small(), 7).unwrap());
    let threads: Vec<_> = (0..4u64)
        .map(|thread| {
            let wal = wal.clone();
            std::thread::spawn(move || {
                for i in 0..150u64 {
                    let n = thread * 1000 + i;
                    // Now and then longer than the ring.
                    let length = if i % 50 == 49 { 150_000 } else { (n * 37 % 900) as usize };
                    let end = wal.insert(&numbered(n, length));
                    if i % 3 == 0 {
                        wal.flush(end).unwrap();
                        assert!(wal.flushed() >= end);
                    }
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    wal.flush(wal.insert_end()).unwrap();
    let mut last: HashMap<u64, u64> = HashMap::new();
    let mut count = 0;
    let mut reader = wal.reader(start_lsn());
    for record in &mut reader {
        let n = check_numbered(&record.unwrap());
        let (thread, i) = (n / 1000, n % 1000);
        assert_eq!(last.insert(thread, i).map_or(0, |last| last + 1), i, "thread {thread}");
        count += 1;
    }
    assert_eq!(count, 600);
    assert_eq!(reader.position(), wal.insert_end());
    assert!(reader.end_reason().unwrap().contains("0 length"), "{:?}", reader.end_reason());
}

/// Small ones and some that are longer than a segment, of which many lie in two files or three.
#[test]
fn records_that_were_read_are_found_again() {
    let read = || {
        let dir = TempDir::new();
        let wal = Wal::create(&dir.0, small(), 7).unwrap();
        let length = |n: u64| if n % 50 == 49 { 100_000 } else { n as usize * 13 % 3000 };
        let end = (0..200).map(|n| wal.insert(&numbered(n, length(n)))).max().unwrap();
        wal.flush(end).unwrap();
        let mut reader = wal.reader(start_lsn());
        let mut log = Replayed::new(&reader);
        let mut known = Vec::new();
        while let Some(chunk) = reader.next_chunk() {
            let chunk = chunk.unwrap();
            log.keep(&chunk).unwrap();
            known.extend(chunk.records().map(|(at, lsn, record)| (at, lsn, record.unwrap().data().to_vec())));
        }
        assert_eq!(
            (known.len(), log.bytes()),
            (200, end.0 - start_lsn().0 - (end.0 / small().segment_size - 1) * 64)
        );
        let mut scratch = Vec::new();
        for (at, lsn, data) in known.iter().rev() {
            log.prefetch(*at);
            let record = log.record(*at, &mut scratch).unwrap();
            assert_eq!((record.lsn, record.data()), (*lsn, &data[..]));
        }
        // What no chunk had, in a file that is mapped and in none.
        for behind in [log.bytes(), log.bytes() + (1 << 20)] {
            let at = RecordAt { position: known[0].0.position + behind, length: 50 };
            assert!(log.record(at, &mut scratch).is_err());
        }
    };
    read();
    Simulation::new(1).run(read).unwrap();
}

/// A record that is longer than the ring is copied in parts, each of which waits for room. Who writes ahead must not look on without a pause meanwhile.
#[test]
fn who_writes_ahead_sleeps_while_a_long_record_is_copied() {
    for seed in 0..20 {
        let simulation = Simulation::new(seed);
        let run = simulation.run(|| {
            let wal = Rc::new(Wal::create(Path::new("/pg_wal"), small(), 7).unwrap());
            let done = Rc::new(Cell::new(false));
            let (writers, ended) = (wal.clone(), done.clone());
            let writer = runtime::spawn_fiber("writer", move || {
                for _ in 0..1000 {
                    writers.wait_for_backlog(&|| ended.get());
                    writers.write_some().unwrap();
                    if ended.get() {
                        return;
                    }
                }
                panic!("it never sleeps");
            });
            let insert = |n: u64| {
                let wal = wal.clone();
                // Small ones make the writer begin.
                let lengths = [2000, 7000, 150_000].into_iter().cycle().skip(n as usize).take(9);
                runtime::spawn_fiber("inserter", move || {
                    for length in lengths {
                        wal.insert(&numbered(n, length));
                    }
                })
            };
            let inserters: Vec<_> = (0..3).map(insert).collect();
            inserters.into_iter().for_each(|inserter| inserter.join().unwrap());
            done.set(true);
            wal.wake_backlog_writer();
            writer.join().unwrap();
        });
        run.unwrap();
    }
}

#[test]
fn one_flush_serves_many_commits() {
    let simulation = Simulation::new(3);
    simulation
        .run(|| {
            let wal = Rc::new(Wal::create(Path::new("/pg_wal"), small(), 7).unwrap());
            let writes = stop::arm("wal-before-flush", Action::Count, 0);
            let commits: Vec<_> = (0..100)
                .map(|n| {
                    let wal = wal.clone();
                    runtime::spawn_fiber("commit", move || {
                        let end = wal.insert(&numbered(n, 10));
                        wal.flush(end).unwrap();
                        assert!(wal.flushed() >= end);
                    })
                })
                .collect();
            commits.into_iter().for_each(|commit| commit.join().unwrap());
            assert!(writes.passed() <= 50, "{} writes for 100 commits", writes.passed());
        })
        .unwrap();
}

#[test]
fn a_failed_write_is_sticky_and_wakes_everybody() {
    let simulation = Simulation::new(5);
    simulation
        .run(|| {
            let wal = Rc::new(Wal::create(Path::new("/pg_wal"), small(), 7).unwrap());
            let end = wal.insert(&numbered(1, 10));
            wal.flush(end).unwrap();
            let fault = stop::arm("wal-before-flush", Action::Error, 1);
            let commits: Vec<_> = (0..30)
                .map(|n| {
                    let wal = wal.clone();
                    runtime::spawn_fiber("commit", move || {
                        // More than the ring holds: nobody may wait for room in a broken log either.
                        (0..10).all(|_| {
                            let end = wal.insert(&numbered(n, 5000));
                            wal.flush(end).is_ok()
                        })
                    })
                })
                .collect();
            let all_committed =
                commits.into_iter().map(|commit| commit.join().unwrap()).filter(|ok| *ok).count();
            assert_eq!(all_committed, 0);
            drop(fault);
            assert!(wal.flush(wal.insert(&numbered(1, 1))).is_err(), "an error is forgotten");
            assert!(wal.failure().is_some() && wal.write_some().is_err());
        })
        .unwrap();
}

/// Files of the log in the simulated directory.
fn names() -> Vec<String> {
    let entries = runtime::fs::read_dir(Path::new("/pg_wal")).unwrap();
    entries.into_iter().map(|entry| entry.name).collect()
}

#[test]
fn a_full_disk_refuses_changes_and_lets_those_under_way_end() {
    let dir = Path::new("/pg_wal");
    for seed in 0..10 {
        let simulation = Simulation::new(seed);
        simulation
            .run(move || {
                let wal = Wal::create(dir, small(), 7).unwrap();
                limit_disk(dir, Some(150 << 10));
                let mut n = 0;
                let refused = loop {
                    match wal.admit() {
                        Ok(()) => drop(wal.insert(&numbered(n, 1000))),
                        Err(error) => break error,
                    }
                    n += 1;
                    wal.flush(wal.insert_end()).unwrap();
                    let _ = wal.prepare_ahead();
                };
                assert!(n > 80, "refused after {n} records");
                assert_eq!((refused.kind, refused.transient), (std::io::ErrorKind::StorageFull, true));
                assert!(refused.message.ends_with(": No space left on device"), "{refused}");
                assert!(wal.is_short() && !wal.has_room() && wal.failure().is_none());
                assert_eq!(names().len(), 2, "what there was room for is not given back: {:?}", names());
                // What may not fail has the last quarter.
                for _ in 0..12 {
                    wal.flush(wal.insert(&numbered(n, 1000))).unwrap();
                    n += 1;
                }
                // A checkpoint gives the first segment another name.
                let (redo, first) = (wal.insert_end(), n);
                wal.remove_segments_before(redo, redo).unwrap();
                wal.admit().unwrap();
                assert!(!wal.is_short());
                limit_disk(dir, None);
                for _ in 0..200 {
                    wal.admit().unwrap();
                    wal.flush(wal.insert(&numbered(n, 1000))).unwrap();
                    n += 1;
                }
                let kept: Vec<u64> =
                    wal.reader(redo).map(|record| check_numbered(&record.unwrap())).collect();
                assert_eq!(kept, (first..n).collect::<Vec<_>>());
            })
            .unwrap();
    }
}

#[test]
fn who_needs_a_flush_waits_for_a_full_disk() {
    let dir = Path::new("/pg_wal");
    for seed in 0..20 {
        let simulation = Simulation::new(seed);
        simulation
            .run(move || {
                let wal = Rc::new(Wal::create(dir, small(), 7).unwrap());
                limit_disk(dir, Some(150 << 10));
                // More than there is room for, by those who do not ask before.
                let commits: Vec<_> = (0..10)
                    .map(|_| {
                        let wal = wal.clone();
                        runtime::spawn_fiber("commit", move || {
                            for n in 0..30 {
                                let end = wal.insert(&numbered(n, 1000));
                                wal.flush(end).unwrap();
                                assert!(wal.flushed() >= end);
                            }
                        })
                    })
                    .collect();
                runtime::wait(runtime::time::sleep(std::time::Duration::from_secs(5)));
                let stuck = wal.flushed();
                assert!(
                    stuck <= wal.insert_end() && stuck.0 <= (192 << 10) + 64,
                    "{stuck} is beyond the disk"
                );
                limit_disk(dir, None);
                commits.into_iter().for_each(|commit| commit.join().unwrap());
                assert!(wal.failure().is_none());
                assert_eq!(read_all(&wal).len(), 300);
            })
            .unwrap();
    }
}

/// After a crash: everything flushed is there, in order, and the log ends cleanly; then it goes on.
#[test]
fn flushed_records_survive_crashes() {
    for seed in 0..60 {
        let simulation = Simulation::new(seed);
        let durable = Arc::new(parking_lot::Mutex::new(0u64));
        let written = Arc::new(parking_lot::Mutex::new(0u64));
        simulation.run(|| drop(Wal::create(Path::new("/pg_wal"), small(), 7).unwrap())).unwrap();
        for round in 0..6 {
            if round > 0 {
                simulation.crash_after(1 + (seed * 7 + round * 13) % 60);
            }
            let (durable, written) = (durable.clone(), written.clone());
            let result = simulation.run(move || recover_and_write(&durable, &written));
            if result.is_ok() {
                simulation.crash();
            }
        }
    }
}

fn recover_and_write(durable: &Arc<parking_lot::Mutex<u64>>, written: &Arc<parking_lot::Mutex<u64>>) {
    let dir = Path::new("/pg_wal");
    let mut reader = WalReader::open(dir, 64 << 10, Some(7), start_lsn());
    let mut last = 0;
    let mut round = 0;
    for record in &mut reader {
        let record = record.unwrap();
        let n = check_numbered(&record);
        assert_eq!(n, last + 1, "a record is missing");
        assert!(record.info >= round, "a record of the time before a crash came back");
        (last, round) = (n, record.info);
    }
    assert!(last >= *durable.lock(), "record {} was flushed, {last} is the last", *durable.lock());
    assert!(last <= *written.lock());
    let start = start_at(reader.position(), start_lsn());
    let wal = Wal::open(dir, small(), start).unwrap();
    // The records behind `last` are gone for good.
    *durable.lock() = last;
    for n in last + 1..last + 40 {
        *written.lock() = n;
        // Equal lengths: what a torn record left behind would fit exactly behind its successor.
        let end = wal.insert(&numbered_in_round(round + 1, n, if n % 11 == 0 { 9000 } else { 1000 }));
        if n % 4 == 0 {
            wal.flush(end).unwrap();
            *durable.lock() = n;
        }
        if n % 9 == 0 {
            runtime::yield_now();
        }
    }
}

/// A torn record with whole ones behind it, as reordered writes leave it: its successor of the same length must not revive them.
#[test]
fn what_lies_behind_a_torn_record_does_not_come_back() {
    let dir = TempDir::new();
    let wal = Wal::create(&dir.0, small(), 7).unwrap();
    let ends: Vec<Lsn> = (0..200).map(|n| wal.insert(&numbered(n, TILING))).collect();
    wal.flush(ends[199]).unwrap();
    drop(wal);
    let segment = dir.0.join("000000010000000000000001");
    let file = runtime::fs::File::open(&segment, runtime::fs::OpenOptions::READ_WRITE).unwrap();
    file.write_all_at(b"torn", (ends[49].0 & 0xFFFF) + 100).unwrap();
    let mut reader = WalReader::open(&dir.0, 64 << 10, Some(7), start_lsn());
    assert_eq!((&mut reader).count(), 50);
    assert_eq!(reader.position(), ends[49]);
    let start = start_at(reader.position(), start_lsn());
    let wal = Wal::open(&dir.0, small(), start).unwrap();
    for n in 50..120 {
        assert_eq!(wal.insert(&numbered_in_round(1, n, TILING)), ends[n as usize]);
        wal.flush(ends[n as usize]).unwrap();
        assert_eq!(wal.reader(ends[48]).count() as u64, n - 48, "records came back behind record {n}");
    }
}

/// Makes records that fill segments exactly, so that those of a recycled file begin where new ones do.
const TILING: usize = (64 * 1024 - 64) / 93 - 32 - 16;

#[test]
fn old_segments_are_recycled_and_do_not_come_back() {
    let dir = TempDir::new();
    let wal = Wal::create(&dir.0, small(), 7).unwrap();
    let mut ends = vec![wal.insert_end()];
    for n in 0..700 {
        ends.push(wal.insert(&numbered(n, TILING)));
        wal.write_some().unwrap();
    }
    let keep = ends[650];
    let before = runtime::fs::read_dir(&dir.0).unwrap().len();
    let done = wal.remove_segments_before(keep, keep).unwrap();
    assert!(done.recycled > 0 && done.recycled + done.removed >= 4, "{done:?} of {before}");
    let from_kept: Vec<u64> = wal.reader(keep).map(|record| check_numbered(&record.unwrap())).collect();
    assert_eq!(from_kept, (650..700).collect::<Vec<_>>());
    // The recycled files hold old records: none is taken for a new one while the log grows through them.
    for n in 700..1000 {
        wal.flush(wal.insert(&numbered(n, TILING))).unwrap();
        let mut reader = wal.reader(keep);
        assert_eq!((&mut reader).map(|record| record.unwrap().xid.0).last(), Some(n));
        assert_eq!(reader.position(), wal.insert_end());
    }
    assert_eq!(wal.reader(start_lsn()).count(), 0, "the first segment is gone");
}

#[test]
fn segments_of_another_cluster_end_the_log() {
    let dir = TempDir::new();
    let wal = Wal::create(&dir.0, small(), 7).unwrap();
    wal.flush(wal.insert(&numbered(1, 10))).unwrap();
    assert_eq!(WalReader::open(&dir.0, 64 << 10, Some(7), start_lsn()).count(), 1);
    let mut foreign = WalReader::open(&dir.0, 64 << 10, Some(8), start_lsn());
    assert_eq!(foreign.next().map(|record| record.is_ok()), None);
    assert!(foreign.end_reason().unwrap().contains("different database system"));
    let file = dir.0.join("000000010000000000000001");
    let (first, segment_size, timeline) = (start_lsn(), 64 << 10, TimelineId::FIRST);
    let seen = InspectedSegment { first, segment_size, system_identifier: 7, timeline };
    assert_eq!(WalReader::inspect_segment(&file).unwrap(), Some(seen));
}

/// A valid record's bytes, for damage; its image is compressed if `compression` says so.
fn sample(compression: Option<Method>) -> Vec<u8> {
    let page = page_with(1, 0xAA);
    let mut record = RecordBuilder::new(Rmgr::Heap, 0x30, Xid(99));
    let a = record.block(REL, Fork::Main, BlockNo(3), BlockOptions::default(), &page);
    let b = record.block(
        REL,
        Fork::Fsm,
        BlockNo(4),
        BlockOptions { no_image: true, ..Default::default() },
        &page,
    );
    record.block_data(a, b"superfluous").block_data(b, b"data").data(b"main data");
    let assembled = record.assemble(Lsn(100), ImageOptions { full_page_writes: true, compression });
    let mut bytes = assembled.header(Lsn(64)).to_vec();
    assembled.for_each_body_part(&mut |part| bytes.extend_from_slice(part));
    bytes
}

fn decode(bytes: &[u8]) -> Result<Record, Invalid> {
    Record::decode(bytes.to_vec().into_boxed_slice(), Lsn(64), Lsn(128))
}

fn touch_everything(record: &Record) {
    let mut page = [0; PAGE_SIZE];
    for block in record.blocks() {
        if let Some(image) = block.image {
            // A record may lie about how its image is compressed.
            let _ = image.restore(&mut page);
        }
        std::hint::black_box(block.data.iter().fold(0u8, |a, b| a ^ b));
    }
    std::hint::black_box(record.data().len());
}

#[test]
fn every_flipped_bit_is_noticed() {
    for bytes in [None, Some(Method::Lz4)].map(sample) {
        touch_everything(&decode(&bytes).unwrap());
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(decode(&damaged).is_err(), "bit {bit}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Damage behind a valid check sum is an error or a record that can be walked, never a panic.
    #[test]
    fn damaged_structure_never_panics(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
        cuts in any::<bool>(),
        compressed in any::<bool>(),
    ) {
        let mut bytes = sample(compressed.then_some(Method::Pglz));
        // The structure is at the front; the page image behind is only bytes.
        let structure = bytes.len().min(100);
        for (at, value) in edits {
            bytes[at.index(structure)] = value;
        }
        if cuts {
            bytes.truncate(cut.index(bytes.len()));
        }
        if bytes.len() >= HEADER_SIZE {
            let length = (bytes.len() as u32).to_le_bytes();
            bytes[..4].copy_from_slice(&length);
            let crc = finish_crc(crc32c::crc32c(&bytes[HEADER_SIZE..]), &bytes, Lsn(64));
            bytes[4..8].copy_from_slice(&crc.to_le_bytes());
        }
        if let Ok(record) = decode(&bytes) {
            touch_everything(&record);
        }
    }
}

/// Three segments and a part of a fourth; the LSNs of all records.
fn log_of_segments(dir: &TempDir) -> (Wal, Vec<Lsn>) {
    let wal = Wal::create(&dir.0, small(), 7).unwrap();
    let mut places = Vec::new();
    while places.last().is_none_or(|last: &Lsn| last.0 / (64 << 10) < 4) {
        let range = wal.insert_range(&numbered(places.len() as u64 + 1, 1000));
        places.push(range.start);
        wal.flush(range.end).unwrap();
    }
    (wal, places)
}

fn zero(dir: &TempDir, at: Lsn, length: usize) {
    let (segment, offset) = (at.0 / (64 << 10), at.0 % (64 << 10));
    let path = dir.0.join(format!("0000000100000000{segment:08X}"));
    let file = runtime::fs::File::open(&path, runtime::fs::OpenOptions::READ_WRITE).unwrap();
    file.write_all_at(&vec![0; length], offset).unwrap();
}

#[test]
fn a_hole_is_told_from_a_torn_tail_by_what_a_later_segment_has() {
    let whole = TempDir::new();
    let (_, places) = log_of_segments(&whole);
    let behind = |dir: &TempDir| {
        let mut reader = WalReader::open(&dir.0, 64 << 10, Some(7), start_lsn());
        assert!(reader.by_ref().all(|record| record.is_ok()));
        (reader.position(), reader.record_behind().unwrap())
    };
    assert_eq!(behind(&whole).1, None);
    // In the first, the second, the third segment: records of the next one prove the hole.
    for nth in [3, 70, 130] {
        let dir = TempDir::new();
        let (_, places) = log_of_segments(&dir);
        zero(&dir, places[nth], 64);
        let (end, found) = behind(&dir);
        assert_eq!(end, places[nth]);
        let found = found.expect("a record behind the hole");
        assert!(places.contains(&found) && found.0 / (64 << 10) > end.0 / (64 << 10), "{end} {found}");
    }
    // In the last one: it may be what was never synced, whatever follows.
    let dir = TempDir::new();
    let (_, last) = log_of_segments(&dir);
    assert_eq!(last, places);
    let nth = places.iter().position(|at| at.0 / (64 << 10) == 4).unwrap();
    zero(&dir, places[nth], 64);
    assert_eq!(behind(&dir), (places[nth], None));
    // The rest of a record that begins in the segment before is a part of that write too.
    let dir = TempDir::new();
    log_of_segments(&dir);
    let rest = Lsn((4 << 16) + 64);
    assert!(rest.0 + 8 <= places[nth].0);
    zero(&dir, rest, 8);
    assert_eq!(behind(&dir), (places[nth - 1], None));
    // A whole segment is missing.
    let dir = TempDir::new();
    log_of_segments(&dir);
    runtime::fs::remove_file(&dir.0.join("000000010000000000000002")).unwrap();
    assert!(behind(&dir).1.is_some());
}

/// Leaves the rest of segments empty here and there; what is read is what was inserted, by records and by chunks.
#[test]
fn a_segment_that_is_left_early_is_read_past() {
    let dir = TempDir::new();
    let wal = Wal::create(&dir.0, small(), 7).unwrap();
    let start = wal.insert_end();
    assert_eq!(wal.switch_segment(), start, "nothing to leave");
    let mut wanted = Vec::new();
    for n in 1..200 {
        wal.insert(&numbered(n, 500));
        wanted.push(n);
        if n % 37 == 0 {
            let end = wal.switch_segment();
            assert_eq!(wal.insert_end(), Lsn((wal.segment_start(end).0) + (64 << 10) + 64));
            assert_eq!(wal.switch_segment(), wal.insert_end(), "twice is once");
        }
    }
    let last = wal.switch_segment();
    wal.flush(wal.insert_end()).unwrap();
    let is_data = |record: &Record| record.rmgr != Rmgr::Xlog;
    let records = wal.reader(start).map(|record| record.unwrap());
    assert_eq!(records.filter(is_data).map(|r| check_numbered(&r)).collect::<Vec<_>>(), wanted);
    let mut reader = wal.reader(start);
    let (mut seen, mut ends) = (Vec::new(), Vec::new());
    while let Some(chunk) = reader.next_chunk() {
        for (_, _, record) in chunk.unwrap().records() {
            let record = record.unwrap();
            match record.is_switch() {
                true => ends.push(record.end),
                false => seen.push(record.xid.0),
            }
        }
    }
    assert_eq!((seen, ends.len()), (wanted, 6));
    assert_eq!((reader.position(), ends[5]), (wal.insert_end(), wal.insert_end()));
    assert_eq!(wal.file_name(Lsn(last.0 - 1)), wal.file_name(Lsn(ends[4].0)));
}

/// A new time line leaves the old one in the middle of a segment, twice; both are there, each with its own records.
#[test]
fn time_lines_part() {
    let dir = TempDir::new();
    let wal = Wal::create(&dir.0, small(), 7).unwrap();
    let mut ends = Vec::new();
    for n in 1..300 {
        ends.push(wal.insert(&numbered(n, 500)));
    }
    wal.flush(*ends.last().unwrap()).unwrap();
    drop(wal);
    let first = History::of(TimelineId(1));
    let second = first.child(TimelineId(2), ends[199], "test");
    let start = |read, timeline, end| WalStart { read, timeline, ..start_at(end, start_lsn()) };
    let wal = Wal::open(&dir.0, small(), start(TimelineId(1), TimelineId(2), ends[199])).unwrap();
    for n in 1000..1200 {
        ends.push(wal.insert(&numbered(n, 500)));
    }
    wal.flush(*ends.last().unwrap()).unwrap();
    let read = |history: &History| -> Vec<u64> {
        let reader = WalReader::open(&dir.0, 64 << 10, Some(7), start_lsn()).along(history.clone());
        reader.map(|record| check_numbered(&record.unwrap())).collect()
    };
    assert_eq!(read(&second), (1..=200).chain(1000..1200).collect::<Vec<_>>());
    let old = read(&first);
    assert!(old.len() >= 200 && old.iter().copied().eq(1..=old.len() as u64), "{old:?}");
    assert_eq!(wal.timeline(), TimelineId(2));
    assert!(wal.file_name(ends[199]).starts_with("00000002"));
}

/// A standby that is to follow a new time line has more of the old one than that has taken over, and nothing of the new one yet.
#[test]
fn nothing_is_read_of_a_time_line_behind_where_it_was_left() {
    let dir = TempDir::new();
    let wal = Wal::create(&dir.0, small(), 7).unwrap();
    let ends: Vec<Lsn> = (1..300).map(|n| wal.insert(&numbered(n, 500))).collect();
    wal.flush(ends[298]).unwrap();
    drop(wal);
    // In the first segment, in a later one, and at the end of what there is.
    for left in [10, 200, 299] {
        let history = History::of(TimelineId(1)).child(TimelineId(2), ends[left - 1], "test");
        let along = || WalReader::open(&dir.0, 64 << 10, Some(7), start_lsn()).along(history.clone());
        let wanted: Vec<u64> = (1..=left as u64).collect();
        let mut reader = along();
        let read: Vec<u64> = reader.by_ref().map(|record| check_numbered(&record.unwrap())).collect();
        assert_eq!((read, reader.position()), (wanted, ends[left - 1]));
        let mut reader = along();
        let chunks: Vec<Chunk> = std::iter::from_fn(|| reader.next_chunk()).map(Result::unwrap).collect();
        let last = chunks.iter().flat_map(Chunk::records).last().unwrap().2.unwrap().end;
        assert_eq!(last, ends[left - 1]);
    }
}

/// What is to be archived is neither removed nor used anew before it is.
#[test]
fn nothing_goes_before_it_is_archived() {
    let dir = TempDir::new();
    let wal = Wal::create(&dir.0, small(), 7).unwrap();
    wal.archive().set_active(true);
    for n in 0..700 {
        wal.insert(&numbered(n, 500));
        wal.write_some().unwrap();
    }
    let keep = wal.insert_end();
    let done = wal.remove_segments_before(keep, keep).unwrap();
    assert_eq!(done, Recycled::default());
    let waiting = wal.archive().waiting().unwrap();
    assert_eq!(waiting.first().map(String::as_str), Some("000000010000000000000001"));
    assert!(waiting.len() >= 4);
    for name in &waiting {
        wal.archive().set_done(name).unwrap();
    }
    let done = wal.remove_segments_before(keep, keep).unwrap();
    assert_eq!(done.recycled + done.removed, waiting.len());
    assert_eq!(wal.archive().waiting().unwrap(), Vec::<String>::new());
    assert!(!wal.archive().is_done(&waiting[0]).unwrap(), "its mark went with it");
}
