//! Checking an index: directories and maps are where they are looked for, every place in a map has a summary of its range that can be read, and no summary is without its place.

use std::collections::HashSet;

use base::{BlockNo, Fork};
use index::{Access, IndexResult, Pages, VerifyOptions};
use page::PageBytes;

use crate::format::{BLOCKS, Kind, META, Opaque, Place, RANGES, block_at, place_at};
use crate::rel::{BrinRel, Located};

/// What a check found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VerifyReport {
    /// Ranges with a summary, placeholders too.
    pub summaries: u64,
    /// Of these, placeholders.
    pub placeholders: u64,
}

/// Checks the index.
pub(crate) fn verify(
    access: &Access<'_>,
    rel: &BrinRel,
    options: VerifyOptions,
) -> IndexResult<VerifyReport> {
    let mut report = VerifyReport::default();
    let mut known = HashSet::new();
    rel.pages_of_range(access)?;
    let meta = rel.copy(access.pool, META)?;
    for slot in 0..BLOCKS {
        let directory = block_at(&meta, slot);
        if directory == META {
            continue;
        }
        let page = rel.copy(access.pool, directory)?;
        expect(rel, directory, &page, Kind::Directory, slot)?;
        for map in 0..BLOCKS {
            let block = block_at(&page, map);
            if block != META {
                check_map(access, rel, (block, slot * BLOCKS + map), &mut known, &mut report)?;
            }
        }
    }
    if options.still {
        data_pages(access, rel, &known)?;
    }
    Ok(report)
}

fn expect(rel: &BrinRel, block: BlockNo, page: &PageBytes, kind: Kind, number: u32) -> IndexResult<()> {
    match rel.check(block, Opaque::read(page))?.is(kind, number) {
        true => Ok(()),
        false => Err(rel.corrupt(block, "page is not the one that leads there")),
    }
}

fn check_map(
    access: &Access<'_>,
    rel: &BrinRel,
    (block, number): (BlockNo, u32),
    known: &mut HashSet<Place>,
    report: &mut VerifyReport,
) -> IndexResult<()> {
    let page = rel.copy(access.pool, block)?;
    expect(rel, block, &page, Kind::Map, number)?;
    for slot in 0..RANGES {
        if place_at(&page, slot).is_none() {
            continue;
        }
        let Some(located) = rel.read(access, number * RANGES + slot)? else { continue };
        report.summaries += 1;
        report.placeholders += u64::from(rel.parse(&located)?.placeholder);
        known.insert(located.place);
    }
    Ok(())
}

/// Summaries without a place are damage; pages that were never used are none.
fn data_pages(access: &Access<'_>, rel: &BrinRel, known: &HashSet<Place>) -> IndexResult<()> {
    for n in 1..access.pool.nblocks(rel.desc.file, Fork::Main)? {
        let block = BlockNo(n);
        let page = rel.copy(access.pool, block)?;
        if page::is_new(&page) || rel.check(block, Opaque::read(&page))?.kind != Kind::Data {
            continue;
        }
        for offset in 1..=page::max_offset(&page) {
            let place = Place { block, offset };
            let Some(item) = page::item(&page, offset) else { continue };
            if !known.contains(&place) {
                return Err(rel.corrupt(block, "summary is in no map"));
            }
            rel.parse(&Located { place, bytes: item.to_vec() })?;
        }
    }
    Ok(())
}
