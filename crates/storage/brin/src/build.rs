//! An empty index: the meta page.

use index::{Access, IndexResult, create_pages};

use crate::format::{Kind as PageKind, Opaque};
use crate::ops;
use crate::redo::Kind;
use crate::rel::BrinRel;

/// Makes the index's main fork, which must be empty, an index without summaries. The initial fork of an unlogged one becomes the same.
pub(crate) fn create_empty(access: &Access<'_>, rel: &BrinRel) -> IndexResult<()> {
    create_pages(access, rel, Kind::Build as u8, 1, |_, page| {
        ops::init(page, Opaque { pages: rel.pages_per_range, ..Opaque::new(PageKind::Meta, 0) });
        Ok(())
    })
}
