//! Pruning.

use base::BlockNo;

use crate::error::HeapResult;
use crate::rel::{Access, HeapRel};

/// Prunes a page if that looks worth while and nobody else has it pinned.
pub fn prune_opt(access: &Access<'_>, rel: &HeapRel, block: BlockNo) -> HeapResult<()> {
    let _ = (access, rel, block);
    todo!()
}
