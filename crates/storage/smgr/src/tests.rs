use base::Oid;
use base::stop::{self, Action};
use runtime::Simulation;

use super::*;

const REL: RelFile = RelFile { tablespace: Oid(1663), database: Oid(5), number: 16384 };

fn rel(number: u32) -> RelFile {
    RelFile { number, ..REL }
}

/// Runs on a simulated disk, with a data directory and segments of 16 pages.
fn with_smgr<T: 'static>(options: SmgrOptions, f: impl FnOnce(Smgr) -> T + 'static) -> T {
    Simulation::new(1)
        .run(move || {
            fs::create_dir_all(Path::new("/data/base/5")).unwrap();
            f(Smgr::with_segment_pages(Path::new("/data"), options, 16))
        })
        .unwrap()
}

fn page(n: u32) -> [u8; PAGE_SIZE] {
    let mut page = [n as u8 + 1; PAGE_SIZE];
    page[..4].copy_from_slice(&n.to_le_bytes());
    page
}

fn fill(smgr: &Smgr, rel: RelFile, pages: u32) {
    for n in 0..pages {
        smgr.extend(rel, Fork::Main, BlockNo(n), 1).unwrap();
        smgr.write(rel, Fork::Main, BlockNo(n), &page(n)).unwrap();
    }
}

fn read(smgr: &Smgr, rel: RelFile, n: u32) -> SmgrResult<[u8; PAGE_SIZE]> {
    let mut page = [1; PAGE_SIZE];
    smgr.read(rel, Fork::Main, BlockNo(n), &mut page).map(|()| page)
}

fn file_pages(name: &str) -> u64 {
    fs::metadata(Path::new(name)).unwrap().len / PAGE_SIZE as u64
}

fn blank(block: u32) -> [u8; PAGE_SIZE] {
    let mut pages = [[0; PAGE_SIZE]];
    page::write_blank(&mut pages, BlockNo(block));
    pages[0]
}

#[test]
fn files_that_have_lost_pages_are_found() {
    with_smgr(SmgrOptions::default(), |smgr| {
        smgr.create(REL, Fork::Main, false).unwrap();
        fill(&smgr, REL, 40);
        let lengths = smgr.lengths();
        assert_eq!(lengths, [(REL, 40)]);
        let start = |lengths: &[(RelFile, u32)]| {
            let smgr = Smgr::with_segment_pages(Path::new("/data"), SmgrOptions::default(), 16);
            smgr.begin_recovery(lengths.iter().copied());
            smgr
        };
        let whole = start(&lengths);
        whole.end_recovery();
        assert!(whole.nblocks(REL, Fork::Main).unwrap() >= 40);
        fs::remove_file(Path::new("/data/base/5/16384.1")).unwrap();
        let cut = start(&lengths);
        // Redo goes on, and makes pages again.
        assert_eq!(cut.nblocks(REL, Fork::Main), Ok(16));
        cut.extend(REL, Fork::Main, BlockNo(16), 30).unwrap();
        cut.end_recovery();
        let error = cut.nblocks(REL, Fork::Main).unwrap_err();
        assert_eq!(error, SmgrError::Cut { path: "base/5/16384".into(), nblocks: 16, expected: 40 });
        let text = "could not read block 16 in file \"base/5/16384\": the file has 16 of 40 blocks";
        assert_eq!(error.to_string(), text);
        assert_eq!(read(&cut, REL, 3), Err(error));
        // Nor is it forgotten by the next start, whatever the file has by then.
        let later = start(&cut.lengths());
        later.end_recovery();
        assert!(matches!(later.nblocks(REL, Fork::Main), Err(SmgrError::Cut { .. })));
        later.truncate(REL, Fork::Main, 0).unwrap();
        assert_eq!(later.nblocks(REL, Fork::Main), Ok(0));
    });
}

#[test]
fn a_cut_that_redo_repeats_is_no_loss() {
    with_smgr(SmgrOptions::default(), |smgr| {
        smgr.create(REL, Fork::Main, false).unwrap();
        fill(&smgr, REL, 40);
        let lengths = smgr.lengths();
        smgr.truncate(REL, Fork::Main, 10).unwrap();
        assert_eq!(smgr.lengths(), [(REL, 10)]);
        let again = Smgr::with_segment_pages(Path::new("/data"), SmgrOptions::default(), 16);
        again.begin_recovery(lengths.into_iter());
        assert_eq!(again.nblocks(REL, Fork::Main), Ok(10));
        again.truncate(REL, Fork::Main, 20).unwrap();
        again.truncate(REL, Fork::Main, 10).unwrap();
        again.end_recovery();
        assert_eq!(again.nblocks(REL, Fork::Main), Ok(10));
        again.unlink(REL).unwrap();
        assert_eq!(again.lengths(), []);
    });
}

#[test]
fn pages_cross_segments_and_survive_a_restart() {
    with_smgr(SmgrOptions::default(), |smgr| {
        smgr.create(REL, Fork::Main, false).unwrap();
        assert_eq!(smgr.nblocks(REL, Fork::Main), Ok(0));
        fill(&smgr, REL, 40);
        smgr.extend(REL, Fork::Main, BlockNo(40), 10).unwrap();
        assert_eq!(smgr.nblocks(REL, Fork::Main), Ok(50));
        smgr.trim().unwrap();
        assert_eq!((file_pages("/data/base/5/16384"), file_pages("/data/base/5/16384.3")), (16, 2));
        let again = Smgr::with_segment_pages(Path::new("/data"), SmgrOptions::default(), 16);
        assert_eq!(again.nblocks(REL, Fork::Main), Ok(50));
        for n in 0..40 {
            assert!(read(&again, REL, n).unwrap() == page(n), "block {n}");
        }
        assert!(read(&again, REL, 49).unwrap() == blank(49));
    });
}

#[test]
fn room_taken_ahead_is_no_page() {
    with_smgr(SmgrOptions::default(), |smgr| {
        smgr.create(REL, Fork::Main, false).unwrap();
        smgr.extend(REL, Fork::Main, BlockNo(0), 12).unwrap();
        assert_eq!(file_pages("/data/base/5/16384"), 13);
        assert_eq!(smgr.nblocks(REL, Fork::Main), Ok(12));
        assert!(matches!(read(&smgr, REL, 12), Err(SmgrError::PastEnd { nblocks: 12, .. })));
        smgr.extend(REL, Fork::Main, BlockNo(12), 1).unwrap();
        assert!(read(&smgr, REL, 12).unwrap() == blank(12));
    });
}

#[test]
fn missing_short_and_past_the_end_are_told_apart() {
    with_smgr(SmgrOptions::default(), |smgr| {
        assert!(
            matches!(smgr.nblocks(REL, Fork::Main), Err(SmgrError::MissingFile { path }) if path == "base/5/16384")
        );
        assert!(matches!(read(&smgr, REL, 0), Err(SmgrError::MissingFile { .. })));
        smgr.create(REL, Fork::Main, false).unwrap();
        assert!(matches!(
            smgr.create(REL, Fork::Main, false),
            Err(SmgrError::Io { kind: io::ErrorKind::AlreadyExists, .. })
        ));
        smgr.create(REL, Fork::Main, true).unwrap();
        fill(&smgr, REL, 3);
        assert!(matches!(read(&smgr, REL, 3), Err(SmgrError::PastEnd { .. })));
        assert!(matches!(smgr.write(REL, Fork::Main, BlockNo(3), &page(3)), Err(SmgrError::PastEnd { .. })));
        let file = File::open(Path::new("/data/base/5/16384"), OpenOptions::READ_WRITE).unwrap();
        file.set_len(2 * PAGE_SIZE as u64 + 100).unwrap();
        assert!(matches!(read(&smgr, REL, 2), Err(SmgrError::ShortRead { bytes: 100, .. })));
    });
}

#[test]
fn cut_pages_are_gone_and_come_back_empty() {
    with_smgr(SmgrOptions::default(), |smgr| {
        smgr.create(REL, Fork::Main, false).unwrap();
        fill(&smgr, REL, 40);
        smgr.truncate(REL, Fork::Main, 5).unwrap();
        assert_eq!(smgr.nblocks(REL, Fork::Main), Ok(5));
        assert!(read(&smgr, REL, 4).unwrap() == page(4));
        assert!(read(&smgr, REL, 5).is_err());
        let again = Smgr::with_segment_pages(Path::new("/data"), SmgrOptions::default(), 16);
        assert_eq!(again.nblocks(REL, Fork::Main), Ok(5));
        smgr.extend(REL, Fork::Main, BlockNo(5), 30).unwrap();
        for n in 5..35 {
            assert!(read(&smgr, REL, n).unwrap() == blank(n), "block {n}");
        }
    });
}

#[test]
fn few_files_stay_open() {
    let options = SmgrOptions { max_open_files: 16, ..SmgrOptions::default() };
    with_smgr(options, |smgr| {
        for n in 1..100 {
            smgr.create(rel(n), Fork::Main, false).unwrap();
            fill(&smgr, rel(n), 1);
            assert!(smgr.open_files() <= 17, "{} files", smgr.open_files());
        }
        for n in 1..100 {
            assert!(read(&smgr, rel(n), 0).unwrap() == page(0));
            assert!(smgr.open_files() <= 17);
        }
    });
}

#[test]
fn removed_relations_are_not_synced() {
    with_smgr(SmgrOptions::default(), |smgr| {
        for n in [1, 2] {
            smgr.create(rel(n), Fork::Main, false).unwrap();
            fill(&smgr, rel(n), 20);
        }
        smgr.unlink(rel(1)).unwrap();
        smgr.unlink(rel(1)).unwrap();
        assert_eq!(smgr.exists(rel(1), Fork::Main), Ok(false));
        assert!(!fs::exists(Path::new("/data/base/5/1.1")).unwrap());
        // Two segments and a directory.
        assert_eq!(smgr.sync_all_pending().unwrap().count, 3);
        assert_eq!(smgr.sync_all_pending().unwrap().count, 0);
        assert_eq!(smgr.open_files(), 2);
    });
}

#[test]
fn a_failed_sync_is_never_forgotten() {
    with_smgr(SmgrOptions::default(), |smgr| {
        smgr.create(REL, Fork::Main, false).unwrap();
        fill(&smgr, REL, 1);
        let fault = stop::arm("smgr-before-sync", Action::Error, 0);
        let error = smgr.sync_all_pending().unwrap_err();
        drop(fault);
        assert_eq!(smgr.sync_all_pending(), Err(error));
    });
}

#[test]
fn what_was_synced_survives_a_crash() {
    for seed in 0..30 {
        let simulation = Simulation::new(seed);
        simulation
            .run(|| {
                fs::create_dir_all(Path::new("/data/base/5")).unwrap();
                for dir in ["/", "/data", "/data/base"] {
                    fs::sync_dir(Path::new(dir)).unwrap();
                }
                let smgr = Smgr::with_segment_pages(Path::new("/data"), SmgrOptions::default(), 16);
                smgr.create(REL, Fork::Main, false).unwrap();
                fill(&smgr, REL, 30);
                smgr.sync_all_pending().unwrap();
                smgr.extend(REL, Fork::Main, BlockNo(30), 5).unwrap();
                smgr.write(REL, Fork::Main, BlockNo(3), &page(77)).unwrap();
            })
            .unwrap();
        simulation.crash();
        simulation
            .run(|| {
                let smgr = Smgr::with_segment_pages(Path::new("/data"), SmgrOptions::default(), 16);
                assert!(smgr.nblocks(REL, Fork::Main).unwrap() >= 30);
                for n in (0..30).filter(|n| *n != 3) {
                    assert!(read(&smgr, REL, n).unwrap() == page(n), "block {n}");
                }
            })
            .unwrap();
    }
}
