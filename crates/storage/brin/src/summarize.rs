//! Summaries of ranges: when an index is built, when ranges are summarized later, and when rows are entered.
//!
//! A range that is summarized later has a placeholder first. Whoever enters a row meanwhile widens it, since the one who summarizes may have passed the row's page; at the end the two are put
//! together. A placeholder that an error or a crash has left is as good as no summary: scans read the range, and it is summarized again.

use base::{BlockNo, Tid};
use index::{Access, IndexResult, Pages, Ranges, TableRows, interrupts};
use tuple::Datum;

use crate::format::{META, Summary};
use crate::rel::BrinRel;

/// Makes a summary tell of a row; whether that changed it.
pub(crate) fn add_row(rel: &BrinRel, summary: &mut Summary, values: &[Datum]) -> bool {
    let mut changed = false;
    for ((column, class), value) in summary.columns.iter_mut().zip(rel.classes()).zip(values) {
        if value.is_null() {
            changed |= !std::mem::replace(&mut column.has_null, true);
        } else {
            changed |= class.add(&mut column.values, value);
        }
    }
    changed
}

/// Makes a summary tell of all rows that another tells of.
fn add_summary(rel: &BrinRel, summary: &mut Summary, other: &Summary) {
    for ((column, class), other) in summary.columns.iter_mut().zip(rel.classes()).zip(&other.columns) {
        column.has_null |= other.has_null;
        if let Some(values) = &other.values {
            class.union(&mut column.values, values);
        }
    }
}

fn empty(rel: &BrinRel, range: u32) -> Summary {
    Summary::empty(range, rel.classes().len())
}

/// Enters rows, `values` one row's behind the other's: the summaries of their ranges, where there are any, tell of them too.
pub(crate) fn insert(access: &Access<'_>, rel: &BrinRel, values: &[Datum], tids: &[Tid]) -> IndexResult<()> {
    access.pool.admit(rel.desc.persistence)?;
    let per_range = rel.pages_of_range(access)?;
    let width = values.len() / tids.len().max(1);
    let mut from = 0;
    for rows in tids.chunk_by(|a, b| a.block.0 / per_range == b.block.0 / per_range) {
        let until = from + rows.len() * width;
        insert_into(access, rel, rows[0].block.0 / per_range, (&values[from..until], width))?;
        from = until;
    }
    Ok(())
}

/// Makes the summary of a range, if there is one, tell of rows with so many columns each.
fn insert_into(
    access: &Access<'_>,
    rel: &BrinRel,
    range: u32,
    (values, width): (&[Datum], usize),
) -> IndexResult<()> {
    loop {
        let Some(old) = rel.read(access, range)? else { return Ok(()) };
        let mut summary = rel.parse(&old)?;
        let mut changed = false;
        for row in values.chunks_exact(width) {
            changed |= add_row(rel, &mut summary, row);
        }
        if !changed || rel.replace(access, range, &old, &rel.bytes(&summary)?)? {
            return Ok(());
        }
        interrupts()?;
    }
}

/// Whether the summary of a row's range, if there is one, tells of it.
pub(crate) fn covers(access: &Access<'_>, rel: &BrinRel, values: &[Datum], tid: Tid) -> IndexResult<bool> {
    let range = tid.block.0 / rel.pages_of_range(access)?;
    let Some(located) = rel.read(access, range)? else { return Ok(true) };
    let mut summary = rel.parse(&located)?;
    Ok(summary.placeholder || !add_row(rel, &mut summary, values))
}

/// Summarizes all ranges of a table, of which the index has none. Returns how many rows there are.
pub(crate) fn build(access: &Access<'_>, rel: &BrinRel, rows: &mut dyn TableRows) -> IndexResult<u64> {
    let (per_range, pages) = (rel.pages_of_range(access)?, rows.pages()?);
    let mut summary = empty(rel, 0);
    let mut count = 0;
    rows.rows(BlockNo(0), pages, &mut |tid, values| {
        count += 1;
        while summary.range < tid.block.0 / per_range {
            let next = empty(rel, summary.range + 1);
            let done = std::mem::replace(&mut summary, next);
            rel.enter(access, done.range, &rel.bytes(&done)?)?;
        }
        add_row(rel, &mut summary, values);
        Ok(())
    })?;
    for range in summary.range..pages.div_ceil(per_range) {
        interrupts()?;
        if range > summary.range {
            summary = empty(rel, range);
        }
        rel.enter(access, range, &rel.bytes(&summary)?)?;
    }
    Ok(count)
}

/// Summarizes ranges that have no summary. Returns how many these were.
pub(crate) fn summarize(
    access: &Access<'_>,
    rel: &BrinRel,
    rows: &mut dyn TableRows,
    which: Ranges,
) -> IndexResult<u64> {
    let (per_range, pages) = (rel.pages_of_range(access)?, rows.pages()?);
    let ranges = match which {
        Ranges::Of(block) if block.0 >= pages => return Ok(0),
        Ranges::Of(block) => block.0 / per_range..block.0 / per_range + 1,
        Ranges::All => 0..pages.div_ceil(per_range),
        Ranges::Full => 0..pages / per_range,
    };
    let mut done = 0;
    for range in ranges {
        interrupts()?;
        let there = rel.read(access, range)?;
        let summarized = match &there {
            Some(located) => !rel.parse(located)?.placeholder,
            None => false,
        };
        if !summarized {
            access.pool.admit(rel.desc.persistence)?;
            one_range(access, rel, rows, range, per_range)?;
            done += 1;
        }
    }
    Ok(done)
}

fn one_range(
    access: &Access<'_>,
    rel: &BrinRel,
    rows: &mut dyn TableRows,
    range: u32,
    per_range: u32,
) -> IndexResult<()> {
    let mut placeholder = empty(rel, range);
    placeholder.placeholder = true;
    rel.enter(access, range, &rel.bytes(&placeholder)?)?;
    let mut summary = empty(rel, range);
    let first = range * per_range;
    // The table may have grown since, into the last range too.
    let count = per_range.min(rows.pages()?.saturating_sub(first));
    rows.rows(BlockNo(first), count, &mut |_, values| {
        add_row(rel, &mut summary, values);
        Ok(())
    })?;
    loop {
        let Some(old) = rel.read(access, range)? else {
            return Err(rel.corrupt(META, "a placeholder is gone"));
        };
        let mut whole = summary.clone();
        add_summary(rel, &mut whole, &rel.parse(&old)?);
        if rel.replace(access, range, &old, &rel.bytes(&whole)?)? {
            return Ok(());
        }
        interrupts()?;
    }
}

/// Takes away the summary of the range that a block of the table is in.
pub(crate) fn desummarize(access: &Access<'_>, rel: &BrinRel, block: BlockNo) -> IndexResult<()> {
    access.pool.admit(rel.desc.persistence)?;
    let range = block.0 / rel.pages_of_range(access)?;
    while let Some(old) = rel.read(access, range)? {
        if rel.remove(access, range, &old)? {
            rel.has_room(old.place.block);
            break;
        }
        interrupts()?;
    }
    Ok(())
}
