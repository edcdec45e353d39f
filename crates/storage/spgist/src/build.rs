//! Making an index: the pages that each has, and entering the rows that there are.

use index::{Access, IndexResult, SortedEntries, create_pages};

use crate::format::{FIRST, NULLS, Place, ROOT, bucket};
use crate::insert::insert;
use crate::ops::{self, Op, apply};
use crate::redo::Kind;
use crate::rel::SpgistRel;

/// Makes the index's main fork, which must be empty, an empty tree. The initial fork of an unlogged one becomes the same.
pub(crate) fn create_empty(access: &Access<'_>, rel: &SpgistRel) -> IndexResult<()> {
    // What is known is of a file that was cut.
    rel.structure(access).lock().hints.clear();
    create_pages(access, rel, Kind::Build as u8, FIRST, |block, page| {
        ops::init(page);
        match block {
            block if block == ROOT.block || block == NULLS.block => {
                apply(page, &Op::Put(1, &bucket::<&[u8]>(&[], Place::NONE)))
            }
            _ => Ok(()),
        }
    })
}

/// Builds the tree in the empty main fork. Returns the number of entries.
pub(crate) fn build(access: &Access<'_>, rel: &SpgistRel, next: SortedEntries<'_>) -> IndexResult<u64> {
    create_empty(access, rel)?;
    let (mut values, mut count) = (Vec::new(), 0);
    while let Some(tid) = next(&mut values)? {
        insert(access, rel, &values, tid)?;
        count += 1;
    }
    Ok(count)
}
