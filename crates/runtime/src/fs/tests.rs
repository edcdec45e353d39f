//! The same operations on the real and on the simulated disk.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

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
