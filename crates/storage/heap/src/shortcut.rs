//! # What
//! Ways past the beginning of long HOT chains. While many sessions wait to update one row, each of their snapshots needs another of its
//! versions, so the chain cannot be pruned, and whoever looks for the newest would judge hundreds of old ones before.
//!
//! # Layout
//! A table remembers a few chains: by their root, a member whose inserter somebody saw as committed, and that snapshot's completion counter.
//!
//! # Invariants
//! 1. Who has a snapshot that is not older sees that inserter too. Each member before was ended by a transaction that committed before the
//!    next member could be ended, so he sees none of them; and if the member is dead for everybody, so are they.
//! 2. The member is known by its place and its xmin. A transaction that has ended writes nothing, so no other version that it wrote comes to
//!    the place; and a root is not given to another row while a member of its chain is there. So a shortcut that is old is noticed, and
//!    nobody has to take it back.
//!
//! # Locks
//! `kept`, a short mutex, taken with a page latched. Who finds it taken does without.
//!
//! # PostgreSQL counterpart
//! None.

use base::{BlockNo, OffsetNo, Tid, Xid};
use page::{LpFlags, PageBytes};
use runtime::Short;

use crate::header::read_header;
use crate::rel::View;

/// Members that are looked at before a shortcut is asked for, and that one must save to be noted.
pub(crate) const LONG: u32 = 8;

/// Chains of a table that are remembered.
const CHAINS: usize = 32;

/// The shortcuts of a table; it has room for them from the first long chain on.
#[derive(Default)]
pub(crate) struct Shortcuts {
    kept: Short<Option<Box<[Shortcut; CHAINS]>>>,
}

#[derive(Clone, Copy, Debug)]
struct Shortcut {
    root: Tid,
    to: Member,
    completions: u64,
}

/// A member of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    pub offset: OffsetNo,
    pub xmin: Xid,
}

const NONE: Shortcut = Shortcut {
    root: Tid::new(BlockNo::INVALID, 0),
    to: Member { offset: 0, xmin: Xid::INVALID },
    completions: u64::MAX,
};

fn slot(root: Tid) -> usize {
    root.block.0.wrapping_mul(31).wrapping_add(root.offset.into()) as usize % CHAINS
}

impl Shortcuts {
    /// Where the walk along a chain may go on, on the latched page that it is on.
    #[cold]
    pub(crate) fn of(&self, root: Tid, page: &PageBytes, view: &View<'_>) -> Option<Member> {
        let kept = self.kept.try_lock()?;
        let found = kept.as_ref()?[slot(root)];
        drop(kept);
        let known = found.root == root && found.completions <= view.snapshot.data().completions;
        (known && is_there(page, found.to)).then_some(found.to)
    }

    /// Notes a member that was inserted by somebody whom the snapshot sees as committed, and who is not its own transaction.
    #[cold]
    pub(crate) fn note(&self, root: Tid, to: Member, page: &PageBytes, view: &View<'_>) {
        let Some(mut kept) = self.kept.try_lock() else { return };
        let kept = &mut kept.get_or_insert_with(|| Box::new([NONE; CHAINS]))[slot(root)];
        let completions = view.snapshot.data().completions;
        // An old snapshot's way is shorter, and of use to more; but those who look for the newest version are the ones who come again.
        let better = kept.root == root && kept.completions > completions && is_there(page, kept.to);
        if !better {
            *kept = Shortcut { root, to, completions };
        }
    }
}

/// Whether the place still has that version.
fn is_there(page: &PageBytes, member: Member) -> bool {
    page::line_pointer(page, member.offset).is_some_and(|lp| lp.flags == LpFlags::Normal)
        && read_header(page, member.offset)
            .is_some_and(|header| header.is_heap_only() && header.raw_xmin == member.xmin)
}
