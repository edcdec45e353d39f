//! Checking a tree: every page is sound, each item is in the tree once or leads to where it went, every entry is where its class's choices lead to, and pages without items are free.

use std::collections::HashSet;

use base::{BlockNo, Fork};
use index::{Access, EntryCheck, IndexResult, Pages, VerifyOptions};
use tuple::Datum;
use tuple::space::{Choice, Space};

use crate::format::{Bucket, FIRST, FREE, HEAD, Item, NULLS, Place, ROOT, items, parse, special};
use crate::rel::SpgistRel;

/// What a check found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VerifyReport {
    /// Entries.
    pub entries: u64,
    /// Buckets in the tree.
    pub buckets: u32,
    /// Inner tuples in the tree.
    pub inner: u32,
    /// Places that something has moved away from.
    pub redirects: u32,
    /// Pages on the list of free pages.
    pub free: u32,
    /// Steps from the root to the deepest bucket.
    pub depth: u32,
}

/// An inner tuple on the way, and the node that was taken.
#[derive(Clone)]
struct Step {
    bytes: std::rc::Rc<Vec<u8>>,
    node: usize,
}

struct Visit {
    place: Place,
    /// None of entries whose key is NULL.
    space: Option<Space>,
    way: Vec<Step>,
}

struct Verify<'a, 'e> {
    access: &'a Access<'a>,
    rel: &'a SpgistRel,
    options: VerifyOptions,
    each: Option<EntryCheck<'e>>,
    report: VerifyReport,
    open: Vec<Visit>,
}

/// Checks the index.
pub(crate) fn verify(
    access: &Access<'_>,
    rel: &SpgistRel,
    options: VerifyOptions,
    each: Option<EntryCheck<'_>>,
) -> IndexResult<VerifyReport> {
    let root = Visit { place: ROOT, space: Some(rel.class().whole()), way: Vec::new() };
    let nulls = Visit { place: NULLS, space: None, way: Vec::new() };
    let mut verify =
        Verify { access, rel, options, each, report: VerifyReport::default(), open: vec![root, nulls] };
    let mut seen = HashSet::new();
    while let Some(visit) = verify.open.pop() {
        let new = seen.insert(visit.place);
        if options.still {
            rel.ensure(visit.place.block, new, "item is in the tree twice")?;
        }
        if new {
            verify.visit(visit)?;
        }
    }
    if options.still {
        verify.pages(&seen)?;
    }
    Ok(verify.report)
}

impl Verify<'_, '_> {
    fn visit(&mut self, visit: Visit) -> IndexResult<()> {
        let (rel, block) = (self.rel, visit.place.block);
        let page = rel.copy(self.access.pool, block)?;
        self.report.depth = self.report.depth.max(visit.way.len() as u32);
        let rest = match rel.item(visit.place, &page)? {
            Item::Redirect(to, _) => {
                rel.ensure(block, !self.options.still, "a link leads to where something was")?;
                to
            }
            Item::Bucket(bucket) => {
                self.report.buckets += 1;
                self.bucket(&visit, &bucket)?;
                bucket.rest()
            }
            Item::Inner(inner) => {
                self.report.inner += 1;
                let bytes = page::item(&page, visit.place.item).unwrap_or_default();
                let bytes = std::rc::Rc::new(bytes.to_vec());
                let Some(space) = &visit.space else {
                    return Err(rel.corrupt(block, "entries without key are divided"));
                };
                for (node, link) in inner.links().enumerate() {
                    let Some(place) = link.known() else { continue };
                    let space = Some(rel.class().part(inner.branch(), node, space));
                    let mut way = visit.way.clone();
                    way.push(Step { bytes: bytes.clone(), node });
                    self.open.push(Visit { place, space, way });
                }
                inner.rest()
            }
        };
        if let Some(place) = rest.known() {
            self.open.push(Visit { place, ..visit });
        }
        Ok(())
    }

    fn bucket(&mut self, visit: &Visit, bucket: &Bucket<'_>) -> IndexResult<()> {
        let (rel, block, layout) = (self.rel, visit.place.block, &self.rel.desc.layout);
        for entry in bucket.entries() {
            let entry = rel.check(block, entry)?;
            let mut values = rel.check(block, entry.decode(layout, layout.len()))?;
            self.report.entries += 1;
            match &visit.space {
                None => rel.ensure(block, values[0].is_null(), "an entry has a key that should be NULL")?,
                Some(space) => {
                    let leaf = rel.check(block, entry.leaf(layout))?;
                    let whole = rel.class().value(space, &leaf);
                    let placed = belongs(rel, &visit.way, &whole, &leaf);
                    rel.ensure(block, placed, "an entry is not where it belongs")?;
                    values[0] = whole;
                }
            }
            if let Some(each) = &mut self.each {
                each(entry.tid(), &values)?;
            }
        }
        Ok(())
    }

    /// Items outside the tree are redirects, pages without items are free, and those on the list are.
    fn pages(&mut self, in_tree: &HashSet<Place>) -> IndexResult<()> {
        let (rel, pool) = (self.rel, self.access.pool);
        let mut listed = HashSet::new();
        let head = rel.copy(pool, HEAD)?;
        let mut block = rel.check(HEAD, special(&head))?.1;
        while block != HEAD {
            rel.ensure(block, listed.insert(block), "list of free pages is a ring")?;
            let page = rel.copy(pool, block)?;
            let (flags, next) = rel.check(block, special(&page))?;
            rel.ensure(block, flags & FREE != 0, "page on the list of free pages is in use")?;
            block = next;
        }
        self.report.free = listed.len() as u32;
        for n in 0..pool.nblocks(rel.desc.file, Fork::Main)? {
            let block = BlockNo(n);
            let page = rel.copy(pool, block)?;
            if page::is_new(&page) {
                continue;
            }
            let free = rel.check(block, special(&page))?.0 & FREE != 0;
            rel.ensure(block, free == listed.contains(&block), "a free page is not on the list")?;
            for n in items(&page) {
                rel.ensure(block, !free && block.0 > 0, "a page without use has items")?;
                let place = Place { block, item: n };
                let is_redirect = matches!(rel.item(place, &page)?, Item::Redirect(..));
                self.report.redirects += u32::from(is_redirect);
                rel.ensure(block, is_redirect || in_tree.contains(&place), "item is not in the tree")?;
                rel.ensure(block, block.0 >= FIRST || n == 1, "a root is not alone on its page")?;
            }
        }
        Ok(())
    }
}

/// Whether the choices of the class lead this way, and leave this leaf.
fn belongs(rel: &SpgistRel, way: &[Step], whole: &Datum, leaf: &Datum) -> bool {
    let mut left = whole.clone();
    for step in way {
        let Ok(Item::Inner(inner)) = parse(&step.bytes) else { return false };
        match rel.class().choose(inner.branch(), &left) {
            Choice::Down { node, rest } if node == step.node => left = rest,
            _ => return false,
        }
    }
    left == *leaf
}
