//! The same operations on the real and on the simulated disk.

use std::io::{self, ErrorKind, IoSliceMut};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::*;
use crate::Simulation;

/// Runs a test on a plain thread, on a worker, and in a simulation.
fn everywhere(name: &str, test: fn(&Path)) {
    let dir = std::env::temp_dir().join(format!("stampede-runtime-{}-{name}", std::process::id()));
    let in_dir = move |dir: PathBuf| {
        create_dir_all(&dir).unwrap();
        test(&dir);
        remove_dir_all(&dir).unwrap();
        assert!(!exists(&dir).unwrap());
    };
    in_dir(dir.clone());
    let real = dir.clone();
    crate::run(move || in_dir(real));
    for seed in 0..20 {
        let dir = dir.clone();
        Simulation::new(seed).run(move || in_dir(dir)).unwrap();
    }
}

#[test]
fn reads_and_writes() {
    everywhere("rw", |dir| {
        let path = dir.join("file");
        assert_eq!(File::open(&path, OpenOptions::READ).unwrap_err().kind(), ErrorKind::NotFound);
        let file = File::open(&path, OpenOptions::CREATE_NEW).unwrap();
        assert_eq!(File::open(&path, OpenOptions::CREATE_NEW).unwrap_err().kind(), ErrorKind::AlreadyExists);
        file.write_vectored_at(&[b"one", b"", b"two"], 2).unwrap();
        file.write_and_sync_at(&[b"end"], 10).unwrap();
        assert_eq!(file.len().unwrap(), 13);
        let mut all = [9u8; 20];
        assert_eq!(file.read_at(&mut all, 0).unwrap(), 13);
        assert_eq!(&all[..13], b"\0\0onetwo\0\0end");
        assert_eq!(file.read_at(&mut all, 13).unwrap(), 0);
        let error = file.read_exact_at(&mut all, 0).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
        file.set_len(4).unwrap();
        file.allocate(0, 8).unwrap();
        assert_eq!(read_to_vec(&path).unwrap(), b"\0\0on\0\0\0\0");
        let again = File::open(&path, OpenOptions::TRUNCATE).unwrap();
        assert!(again.is_empty().unwrap());
        let read_only = File::open(&path, OpenOptions::READ).unwrap();
        assert!(read_only.write_all_at(b"x", 0).is_err());
    });
}

#[test]
fn mapped_bytes_stay_when_the_file_is_closed() {
    everywhere("map", |dir| {
        let file = File::open(&dir.join("file"), OpenOptions::CREATE).unwrap();
        file.write_all_at(&[7; 10_000], 0).unwrap();
        file.write_all_at(b"end", 9_997).unwrap();
        let mapping = file.map(20_000).unwrap();
        drop(file);
        // SAFETY: the file has these bytes, and nobody writes to it; the last range is outside of what was mapped.
        let [begin, end, none] =
            unsafe { [0..2, 9_997..10_000, 15_000..20_001].map(|range| mapping.get(range)) };
        assert_eq!((begin, end, none), (Some(&[7, 7][..]), Some(&b"end"[..]), None));
    });
}

#[test]
fn many_pieces_in_one_write() {
    everywhere("pieces", |dir| {
        let bytes: Vec<u8> = (0..1000u32).map(|i| i as u8).collect();
        let pieces: Vec<&[u8]> = bytes.chunks(7).collect();
        let path = dir.join("file");
        File::open(&path, OpenOptions::CREATE).unwrap().write_vectored_at(&pieces, 5).unwrap();
        assert_eq!(&read_to_vec(&path).unwrap()[5..], bytes);
    });
}

#[test]
fn names_and_directories() {
    everywhere("names", |dir| {
        write_file(&dir.join("b"), b"b").unwrap();
        create_dir(&dir.join("a")).unwrap();
        assert_eq!(create_dir(&dir.join("a")).unwrap_err().kind(), ErrorKind::AlreadyExists);
        write_file_durably(&dir.join("a/x"), b"x").unwrap();
        write_file_durably(&dir.join("a/x"), b"y").unwrap();
        let entry = |name: &str, is_dir| DirEntry { name: name.into(), is_dir };
        assert_eq!(read_dir(dir).unwrap(), [entry("a", true), entry("b", false)]);
        assert_eq!(read_dir(&dir.join("a")).unwrap(), [entry("x", false)]);
        rename(&dir.join("a"), &dir.join("c")).unwrap();
        assert_eq!(read_to_string(&dir.join("c/x")).unwrap(), "y");
        rename(&dir.join("b"), &dir.join("c/x")).unwrap();
        assert_eq!(read_to_vec(&dir.join("c/x")).unwrap(), b"b");
        assert!(metadata(&dir.join("c")).unwrap().is_dir);
        assert_eq!(metadata(&dir.join("c/x")).unwrap().len, 1);
        remove_file(&dir.join("c/x")).unwrap();
        assert_eq!(remove_file(&dir.join("c/x")).unwrap_err().kind(), ErrorKind::NotFound);
        sync_dir(dir).unwrap();
    });
}

#[test]
fn a_locked_file_is_refused() {
    everywhere("lock", |dir| {
        let path = dir.join("lock");
        let lock = lock_file(&path).unwrap();
        assert_eq!(lock_file(&path).unwrap_err().kind(), ErrorKind::WouldBlock);
        drop(lock);
        assert!(lock_file(&path).is_ok());
    });
}

/// The ways of reading that there are: some systems refuse a ring.
fn methods() -> impl Iterator<Item = ReadMethod> {
    let refused = prepare_reads(ReadMethod::IoUring).err();
    if let Some(error) = &refused {
        eprintln!("reads by io_uring are skipped: {error}");
    }
    let ring = refused.is_none().then_some(ReadMethod::IoUring);
    [ReadMethod::Sync, ReadMethod::Worker].into_iter().chain(ring)
}

/// Memory for pieces of a read, which outlives it.
fn pieces(lens: &[usize]) -> Vec<IoSliceMut<'static>> {
    lens.iter().map(|len| IoSliceMut::new(vec![0; *len].leak())).collect()
}

/// Starts a read, and waits for what comes of it.
fn started(
    file: &Arc<File>,
    how: ReadMethod,
    pieces: Vec<IoSliceMut<'static>>,
    offset: u64,
) -> io::Result<usize> {
    let ended = Arc::new((parking_lot::Mutex::new(None), crate::WaitQueue::new()));
    let told = ended.clone();
    let done = Box::new(move |result| {
        *told.0.lock() = Some(result);
        told.1.wake_all();
    });
    start_read(file.clone(), how, pieces, offset, done);
    ended.1.wait_until(|| ended.0.lock().take())
}

#[test]
fn reads_that_are_started_end_by_themselves() {
    everywhere("started", |dir| {
        let bytes: Vec<u8> = (0..100_000u32).map(|i| (i % 251) as u8).collect();
        let file = Arc::new(File::open(&dir.join("file"), OpenOptions::CREATE).unwrap());
        file.write_all_at(&bytes, 0).unwrap();
        for how in methods() {
            for (at, lens) in [(0, vec![8192; 3]), (8192, vec![5, 8000, 1]), (1, vec![100; 200])] {
                let (read, all) = (pieces(&lens), lens.iter().sum::<usize>());
                let places: Vec<_> = read.iter().map(|piece| (piece.as_ptr(), piece.len())).collect();
                assert_eq!(started(&file, how, read, at as u64).unwrap(), all);
                // SAFETY: leaked by `pieces`, and the read is over.
                let got =
                    places.iter().flat_map(|(at, len)| unsafe { std::slice::from_raw_parts(*at, *len) });
                assert!(got.eq(&bytes[at..at + all]), "{how:?} at {at}");
            }
            assert_eq!(started(&file, how, pieces(&[8192; 16]), 90_000).unwrap(), 10_000);
            assert_eq!(started(&file, how, pieces(&[8192; 2]), 200_000).unwrap(), 0);
        }
    });
}

#[test]
fn threads_and_the_ring_read_what_is_not_at_hand() {
    let path = std::env::temp_dir().join(format!("stampede-runtime-{}-uncached", std::process::id()));
    let bytes: Vec<u8> = (0..200_000u32).map(|i| (i % 241) as u8).collect();
    write_file(&path, &bytes).unwrap();
    // Of such a file nothing is looked for in the page cache first.
    let file = Arc::new(File::open(&path, OpenOptions { direct: true, ..OpenOptions::READ }).unwrap());
    for how in methods().filter(|how| *how != ReadMethod::Sync) {
        let memory: &'static mut [Unit] = vec![Unit([0; 4096]); 60].leak();
        let at = memory.as_ptr();
        let units = memory.iter_mut().map(|unit| IoSliceMut::new(&mut unit.0)).collect();
        assert_eq!(started(&file, how, units, 4096).unwrap(), 200_000 - 4096);
        // SAFETY: leaked, and the read is over.
        let got = (0..60).flat_map(|n| unsafe { (*at.add(n)).0 });
        assert!(got.take(200_000 - 4096).eq(bytes[4096..].iter().copied()), "{how:?}");
    }
    let mut some = vec![0; 5000];
    assert_eq!(file.read_at(&mut some, 12_345).unwrap(), 5000);
    assert_eq!(some, bytes[12_345..17_345]);
    remove_file(&path).unwrap();
}

/// Memory that is read into around the page cache.
#[derive(Clone)]
#[repr(align(4096))]
struct Unit([u8; 4096]);

#[test]
fn files_are_written_around_the_page_cache() {
    everywhere("direct", |dir| {
        let options = OpenOptions { direct: true, ..OpenOptions::CREATE };
        let file = File::open(&dir.join("file"), options).unwrap();
        let page: Vec<u8> = (0..8193u32).map(|i| (i % 249) as u8).collect();
        file.write_all_at(&page[1..], 8192).unwrap();
        file.write_vectored_at(&[&page[..100], &page[100..8192]], 0).unwrap();
        assert_eq!(file.len().unwrap(), 16384);
        assert_eq!(read_to_vec(&dir.join("file")).unwrap(), [&page[..8192], &page[1..]].concat());
        let mut some = [0; 1000];
        file.read_exact_at(&mut some, 8000).unwrap();
        assert_eq!(some[..], [&page[8000..8192], &page[1..809]].concat());
    });
}
