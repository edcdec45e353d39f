//! VACUUM: removing dead entries in physical order, then redirects that nobody needs, then what is empty.
//!
//! Entries move while a pass runs. Whoever moves some notes both pages ([`Structure::watched`](crate::rel::Structure)), and the pass ends with visits to these until none is left: so every entry that
//! was there when it began is met, and every page that one was read from is latched for cleanup after that.

use std::collections::{BTreeSet, HashSet};

use base::{BlockNo, OffsetNo, Tid};
use buffer::{ExclusivePage, PageChange, Pin};
use index::{Access, FreeList, IndexError, IndexResult, Manner, Pages, VacuumStats, each_block};

use crate::format::{FIRST, FREE, Item, Link, Place, ROOT, bucket, item, items, redirect, special};
use crate::ops::{Op, apply, encode};
use crate::redo::Kind;
use crate::rel::SpgistRel;
use crate::work::Work;

type IsDead<'d> = Option<&'d mut dyn FnMut(Tid) -> bool>;

struct Pass<'a, 'd> {
    access: &'a Access<'a>,
    rel: &'a SpgistRel,
    is_dead: IsDead<'d>,
    stats: VacuumStats,
    /// Places of buckets without entries, and of inner tuples with nothing below.
    empty: HashSet<Place>,
    /// Pages with links.
    linked: Vec<BlockNo>,
    /// Pages without items.
    unused: Vec<BlockNo>,
}

/// One pass over all pages.
pub(crate) fn pass(
    access: &Access<'_>,
    rel: &SpgistRel,
    is_dead: IsDead<'_>,
    manner: &mut Manner<'_>,
) -> IndexResult<VacuumStats> {
    let mut pass = Pass {
        access,
        rel,
        is_dead,
        stats: VacuumStats::default(),
        empty: HashSet::new(),
        linked: Vec::new(),
        unused: Vec::new(),
    };
    rel.structure(access).lock().watched = Some(BTreeSet::new());
    let done = pass.run(manner);
    rel.structure(access).lock().watched = None;
    done?;
    pass.unlink_empty(manner)?;
    pass.free_unused()?;
    Ok(pass.stats)
}

impl Pass<'_, '_> {
    fn run(&mut self, manner: &mut Manner<'_>) -> IndexResult<()> {
        let ring = manner.ring;
        let (access, rel) = (self.access, self.rel);
        self.stats.pages = each_block(access, &rel.desc, ROOT.block.0, manner, |pin| self.visit(pin, true))?;
        loop {
            let moved = rel.structure(access).lock().watched.replace(BTreeSet::new()).unwrap_or_default();
            if moved.is_empty() {
                return Ok(());
            }
            for block in moved {
                (manner.pause)().map_err(IndexError::Interrupted)?;
                let pin = self.access.pool.read_with(self.rel.tag(block), ring)?;
                self.visit(pin, false)?;
            }
        }
    }

    fn visit(&mut self, pin: Pin, count: bool) -> IndexResult<()> {
        let block = pin.tag().block;
        {
            let page = pin.shared();
            if page::is_new(&page) {
                self.unused.push(block);
                return Ok(());
            }
            if self.rel.check(block, special(&page))?.0 & FREE != 0 {
                self.stats.pages_free += u32::from(count);
                return Ok(());
            }
        }
        let mut page = pin.cleanup();
        let doomed = self.look(block, &page, count)?;
        if !doomed.is_empty() {
            self.remove(block, &mut page, &doomed)?;
        }
        if block.0 >= FIRST && items(&page).next().is_none() {
            self.unused.push(block);
        }
        self.rel_room(block, page::free_space(&page), page);
        Ok(())
    }

    /// Remembers how much room a page has, if somebody can be told at once.
    fn rel_room(&self, block: BlockNo, room: usize, page: ExclusivePage<'_>) {
        drop(page);
        if let Some(mut structure) = self.rel.structure(self.access).try_lock() {
            structure.note(block, room);
        }
    }

    /// What of a page is to go: entries of buckets by their numbers, redirects.
    fn look(
        &mut self,
        block: BlockNo,
        page: &page::PageBytes,
        count: bool,
    ) -> IndexResult<Vec<(OffsetNo, Vec<u16>)>> {
        let (rel, access) = (self.rel, self.access);
        let mut doomed = Vec::new();
        let mut linked = false;
        for n in items(page) {
            let place = Place { block, item: n };
            match rel.item(place, page)? {
                Item::Bucket(bucket) => {
                    let mut dead = Vec::new();
                    for (at, entry) in bucket.entries().enumerate() {
                        let tid = rel.check(block, entry)?.tid();
                        if self.is_dead.as_mut().is_some_and(|is_dead| is_dead(tid)) {
                            dead.push(at as u16);
                        }
                    }
                    let left = bucket.count().saturating_sub(dead.len());
                    self.stats.tuples += if count { left as u64 } else { 0 };
                    self.stats.tuples_removed += dead.len() as u64;
                    linked |= bucket.rest().known().is_some();
                    if left == 0 {
                        self.empty.insert(place);
                    }
                    if !dead.is_empty() {
                        doomed.push((n, dead));
                    }
                }
                Item::Inner(inner) => {
                    linked = true;
                    if inner.links().all(|link| link.known().is_none()) {
                        self.empty.insert(place);
                    }
                }
                Item::Redirect(_, safe) => {
                    if access.horizon.is_removable(safe) {
                        doomed.push((n, Vec::new()));
                    }
                }
            }
        }
        if linked {
            self.linked.push(block);
        }
        Ok(doomed)
    }

    fn remove(
        &self,
        block: BlockNo,
        page: &mut ExclusivePage<'_>,
        doomed: &[(OffsetNo, Vec<u16>)],
    ) -> IndexResult<()> {
        let (mut copy, mut changes) = (Box::new(**page), Vec::new());
        for (n, entries) in doomed {
            let op = if entries.is_empty() { Op::Drop(*n) } else { Op::Remove(*n, entries) };
            self.rel.check(block, apply(&mut copy, &op))?;
            encode(&op, &mut changes);
        }
        **page = *copy;
        let mut action = self.rel.action(self.access, Kind::Vacuum);
        let i = action.page(page, PageChange::default());
        action.page_data(i, &changes);
        action.commit();
        Ok(())
    }

    /// Takes what is empty out of the tree.
    fn unlink_empty(&mut self, manner: &mut Manner<'_>) -> IndexResult<()> {
        self.linked.sort_unstable();
        self.linked.dedup();
        for block in std::mem::take(&mut self.linked) {
            if self.empty.is_empty() {
                return Ok(());
            }
            (manner.pause)().map_err(IndexError::Interrupted)?;
            for (from, to) in self.links_to_empty(block)? {
                self.unlink(from, to)?;
            }
        }
        self.reset_root()
    }

    /// Links of a page that lead to what is empty.
    fn links_to_empty(&self, block: BlockNo) -> IndexResult<Vec<(Place, Place)>> {
        let page = self.rel.shared(self.access.pool, block)?;
        let mut found = Vec::new();
        for n in items(&page) {
            let from = Place { block, item: n };
            let (links, rest) = match self.rel.item(from, &page)? {
                Item::Bucket(bucket) => (Vec::new(), bucket.rest()),
                Item::Inner(inner) => (inner.links().collect(), inner.rest()),
                Item::Redirect(..) => continue,
            };
            found.extend(
                links.into_iter().chain([rest]).filter(|to| self.empty.contains(to)).map(|to| (from, to)),
            );
        }
        Ok(found)
    }

    /// Takes what is at a place out of the tree if it is still empty. What is behind it takes its place.
    fn unlink(&mut self, from: Place, to: Place) -> IndexResult<()> {
        let (access, rel) = (self.access, self.rel);
        let mut structure = rel.structure(access).lock();
        let mut work = Work::new(access, rel, &mut structure);
        // A page of the tree may have become free since, or something else.
        let Some(behind) = rel.check(to.block, empty_at(work.page(to.block)?, to.item))? else {
            return Ok(());
        };
        let link = match rel.check(from.block, item(work.page(from.block)?, from.item))? {
            Some(Item::Bucket(bucket)) if bucket.rest() == to => Link::Rest,
            Some(Item::Inner(inner)) => match inner.links().position(|link| link == to) {
                Some(node) => Link::Node(node),
                None if inner.rest() == to => Link::Rest,
                None => return Ok(()),
            },
            _ => return Ok(()),
        };
        work.change(from.block, &Op::Set(from.item, link, behind))?;
        work.change(to.block, &Op::Put(to.item, &redirect(behind, access.horizon.next_xid())))?;
        work.commit(Kind::Unlink);
        self.empty.remove(&to);
        Ok(())
    }

    /// A root with nothing below begins anew.
    fn reset_root(&mut self) -> IndexResult<()> {
        if !self.empty.contains(&ROOT) {
            return Ok(());
        }
        let mut structure = self.rel.structure(self.access).lock();
        let mut work = Work::new(self.access, self.rel, &mut structure);
        if let Item::Inner(inner) = work.item(ROOT)?
            && inner.links().all(|link| link.known().is_none())
        {
            let bytes = bucket::<&[u8]>(&[], inner.rest());
            work.change(ROOT.block, &Op::Put(ROOT.item, &bytes))?;
            work.commit(Kind::Unlink);
        }
        Ok(())
    }

    fn free_unused(&mut self) -> IndexResult<()> {
        let unused: BTreeSet<BlockNo> = std::mem::take(&mut self.unused).into_iter().collect();
        for block in unused {
            let mut structure = self.rel.structure(self.access).lock();
            if self.rel.put_free(self.access, block)? {
                structure.hints.retain(|(known, _)| *known != block);
                self.stats.pages_newly_deleted += 1;
                self.stats.pages_free += 1;
            }
        }
        self.stats.pages_deleted = self.stats.pages_free;
        Ok(())
    }
}

/// If an item has nothing: what is behind it.
fn empty_at(page: &page::PageBytes, n: OffsetNo) -> index::bytes::Check<Option<Place>> {
    Ok(match item(page, n)? {
        Some(Item::Bucket(bucket)) if bucket.count() == 0 => Some(bucket.rest()),
        Some(Item::Inner(inner)) if inner.links().all(|link| link.known().is_none()) => Some(inner.rest()),
        _ => None,
    })
}
