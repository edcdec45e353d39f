//! An empty index: the meta page.

use base::Fork;
use buffer::{PageChange, Persistence, WalAction};
use index::{Access, IndexResult, Pages};
use wal::Rmgr;

use crate::format::{Kind as PageKind, META, Opaque};
use crate::ops;
use crate::redo::Kind;
use crate::rel::BrinRel;

/// Makes the index's main fork, which must be empty, an index without summaries. The initial fork of an unlogged one becomes the same.
pub(crate) fn create_empty(access: &Access<'_>, rel: &BrinRel) -> IndexResult<()> {
    let persistence = rel.desc.persistence;
    let initial = (persistence == Persistence::Unlogged).then_some((Fork::Init, Persistence::Permanent));
    for (fork, persistence) in std::iter::once((Fork::Main, persistence)).chain(initial) {
        access.pool.admit(persistence)?;
        let mut page = access.pool.extend(rel.desc.file, fork, persistence)?;
        if page.tag().block != META {
            return Err(rel.corrupt(page.tag().block, "index to be made is not empty"));
        }
        ops::init(&mut page, Opaque { pages: rel.pages_per_range, ..Opaque::new(PageKind::Meta, 0) });
        let kind = Kind::Build as u8;
        let mut action = WalAction::for_relation(access.pool, persistence, Rmgr::Brin, kind, access.xid);
        action.page(&mut page, PageChange { force_image: true, ..PageChange::default() });
        action.commit();
    }
    Ok(())
}
