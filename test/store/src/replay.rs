//! Redo of a log on other pages.

use base::PAGE_SIZE;
use buffer::BufferPool;
use page::PageBytes;
use wal::{Record, RecordRef, WalDescribe};

use crate::{Random, Store};

/// Redo of one page of a record; the error says what does not fit.
pub type RedoBlock = fn(&mut PageBytes, &RecordRef<'_>, usize) -> Result<(), &'static str>;

/// Redoes a record on the pages that need it.
///
/// # Panics
/// A page is not what the record expects.
pub fn redo(pool: &BufferPool, record: &Record, block: RedoBlock) {
    buffer::replay(pool, record, |page, record, index| block(page, record, index).map_err(str::to_owned))
        .unwrap();
}

/// The whole log gives the same `pages` in another place, and once more on pages that have it all already. All its records can be shown.
pub fn gives_the_same_pages<T: PartialEq>(
    store: &Store,
    log: &[Record],
    block: RedoBlock,
    describe: &dyn WalDescribe,
    pages: impl Fn(&Store) -> T,
) {
    let copy = Store::new(4096);
    for time in ["first", "second"] {
        log.iter().for_each(|record| redo(&copy.pool, record, block));
        assert!(pages(&copy) == pages(store), "{time} redo");
    }
    assert_eq!(copy.pool.pins(), 0);
    for record in log {
        let mut text = String::new();
        describe.describe(record, &mut text).unwrap();
        assert!(!text.contains("damaged"), "{text}");
    }
}

/// The places in a log after records of a kind at which a crash is tried: some of them, and the last.
pub fn stops(log: &[Record], kind: u8) -> Vec<usize> {
    let stops: Vec<usize> = (0..log.len()).filter(|&i| log[i].info == kind).collect();
    let step = (stops.len() / 4).max(1);
    stops.iter().step_by(step).chain(stops.last()).copied().collect()
}

/// A page that is not what a record expects is told, never a crash.
pub fn damaged_pages_are_told(log: &[Record], block: RedoBlock) {
    let (mut random, mut refused) = (Random(9), 0);
    for record in log.iter().step_by(7) {
        let record = record.borrowed();
        for index in 0..record.blocks().count() {
            let mut page = [0; PAGE_SIZE];
            page.iter_mut().skip(8).for_each(|byte| *byte = random.below(256) as u8);
            refused += u32::from(block(&mut page, &record, index).is_err());
        }
    }
    assert!(refused > 10);
}
