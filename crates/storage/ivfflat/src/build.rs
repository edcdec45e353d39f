//! Building: centres are found by a sample, then every row goes to its list. Rows come in an order by chance, so that the first ones are the sample.

use base::Tid;
use index::{Access, IndexAccessMethod, IndexResult, SortedEntries, interrupts};
use tuple::Datum;

use crate::centres::centres;
use crate::insert::append;
use crate::lists::{self, List};
use crate::rel::IvfflatRel;

/// Rows that are sampled for a list.
const SAMPLED: usize = 50;
/// Rows that are sampled at least.
const LEAST_SAMPLED: usize = 10_000;
/// About what a key takes in memory beside its bytes.
const AROUND: usize = 48;

/// A number for a TID in which nothing of its place is left, by which rows come for a build.
pub(crate) fn scatter(tid: Tid) -> u64 {
    let mut n = u64::from(tid.block.0) << 16 | u64::from(tid.offset);
    for (shift, factor) in [(33, 0xff51_afd7_ed55_8ccd), (33, 0xc4ce_b9fe_1a85_ec53)] {
        n = (n ^ n >> shift).wrapping_mul(factor);
    }
    n ^ n >> 33
}

/// Fills the empty main fork.
pub(crate) fn build(access: &Access<'_>, rel: &IvfflatRel, next: SortedEntries<'_>) -> IndexResult<u64> {
    rel.create_empty(access)?;
    let (mut sample, mut bytes, mut count, mut values) = (Vec::new(), 0, 0, Vec::new());
    let wanted = (rel.wanted_lists() * SAMPLED).max(LEAST_SAMPLED);
    let mut more = true;
    while sample.len() < wanted && bytes < access.limits.memory {
        interrupts()?;
        let Some(tid) = next(&mut values)? else {
            more = false;
            break;
        };
        count += 1;
        let Some(key) = rel.key_of(&values)? else { continue };
        bytes += AROUND + index::as_bytes(&key).map_or(0, <[u8]>::len);
        sample.push((tid, key));
    }
    let keys: Vec<&Datum> = sample.iter().map(|(_, key)| key).collect();
    let found = centres(rel, &keys, rel.wanted_lists())?;
    if found.is_empty() {
        return Ok(count);
    }
    let found: Vec<Vec<u8>> =
        found.iter().map(|centre| index::as_bytes(centre).unwrap_or_default().to_vec()).collect();
    lists::make(access, rel, &found)?;
    let mut known = lists::all(access, rel, Ok)?;
    for (tid, key) in sample {
        place(access, rel, &mut known, tid, &key)?;
    }
    while more && let Some(tid) = next(&mut values)? {
        count += 1;
        if let Some(key) = rel.key_of(&values)? {
            place(access, rel, &mut known, tid, &key)?;
        }
    }
    Ok(count)
}

fn place(
    access: &Access<'_>,
    rel: &IvfflatRel,
    known: &mut [List],
    tid: Tid,
    key: &Datum,
) -> IndexResult<()> {
    interrupts()?;
    match lists::nearest(rel, known, key)? {
        Some(list) => append(access, rel, list, tid, key),
        None => Ok(()),
    }
}
