//! Scans: the nearest rows, nearest first. Without more to look for than `hnsw.ef_search` rows a scan ends, unless `hnsw.iterative_scan` lets it go on.

use std::sync::Arc;

use base::{BlockNo, Fork, Tid};
use index::{
    Access, Facts, IndexResult, IndexScan, Pages, ScanKey, ScanKeys, interrupts, settings,
    vectors::{self, setting},
};
use tuple::Datum;
use txn::KeyRange;

use crate::format::{Head, LIVE, Pointer};
use crate::graph::{Found, Graph};
use crate::insert::FIRST_PAGE;
use crate::rel::HnswRel;
use crate::search::{self, Discarded, Nodes, Visited};

/// `hnsw.ef_search` by default.
const EF_SEARCH: u32 = 40;
/// `hnsw.max_scan_tuples` by default.
const MAX_SCAN_TUPLES: u32 = 20_000;

/// A scan.
pub struct Scan {
    rel: Arc<HnswRel>,
    keys: Vec<ScanKey>,
    order: Option<ScanKey>,
    started: bool,
    /// What comes next, in reverse.
    found: Vec<(f64, Tid)>,
    visited: Visited<Pointer>,
    discarded: Discarded<Pointer, Head>,
    /// The greatest distance that was given.
    reached: f64,
    distance: [f64; 1],
    /// The next page, where all rows are given in any order.
    page: Option<BlockNo>,
    searches: u64,
}

impl Scan {
    pub(crate) fn new(rel: Arc<HnswRel>, keys: ScanKeys) -> Scan {
        Scan {
            rel,
            keys: keys.keys,
            order: None,
            started: false,
            found: Vec::new(),
            visited: Visited::default(),
            discarded: Discarded::new(),
            reached: f64::NEG_INFINITY,
            distance: [0.0],
            page: None,
            searches: 0,
        }
    }

    fn restart(&mut self) {
        self.started = false;
        self.found.clear();
        self.visited.clear();
        self.discarded.clear();
        self.reached = f64::NEG_INFINITY;
        self.page = None;
    }

    /// The key that is sought; none: all rows are as near.
    fn sought(&self) -> IndexResult<Option<Datum>> {
        vectors::sought(self.rel.desc.trees[0], self.order.as_ref(), "hnsw")
    }

    fn take(&mut self, found: Vec<Found>) {
        let strict = runtime::word(settings::ITERATIVE) == 2;
        let reached = self.reached;
        let given = found.iter().filter(|near| !strict || near.distance >= reached);
        self.found = given.map(|near| (near.distance, near.node.tid)).collect();
        self.found.reverse();
        self.reached = self.found.first().map_or(self.reached, |(distance, _)| self.reached.max(*distance));
    }

    fn start(&mut self, access: &Access<'_>) -> IndexResult<()> {
        self.started = true;
        self.searches += 1;
        let Some(key) = self.sought()? else {
            self.page = Some(FIRST_PAGE);
            return Ok(());
        };
        let key = index::as_bytes(&key).unwrap_or_default();
        let rel = self.rel.clone();
        let graph = Graph::open(access, &rel)?;
        let Some(entry) = graph.entry(key)? else { return Ok(()) };
        let from = [search::descend(&graph, key, entry, (graph.meta.level, 0))?];
        let most = setting(settings::EF_SEARCH, EF_SEARCH) as usize;
        let discarded = (runtime::word(settings::ITERATIVE) != 0).then_some(&mut self.discarded);
        let found = search::nearest(&graph, key, &from, (most, 0), &mut self.visited, discarded)?;
        self.take(found);
        Ok(())
    }

    /// About how many bytes it takes to know what was met.
    fn memory(&self) -> usize {
        self.visited.capacity() * (size_of::<Pointer>() + 1) + self.discarded.capacity() * size_of::<Found>()
    }

    /// Looks for more; false if there is no more.
    fn go_on(&mut self, access: &Access<'_>) -> IndexResult<bool> {
        let most = setting(settings::EF_SEARCH, EF_SEARCH) as usize;
        let limit = setting(settings::MAX_SCAN_TUPLES, MAX_SCAN_TUPLES) as usize;
        let rel = self.rel.clone();
        let graph = Graph::open(access, &rel)?;
        if self.discarded.is_empty() || self.visited.len() >= limit || self.memory() > access.limits.scan {
            // What was met and not given comes at last.
            let Some(std::cmp::Reverse(near)) = self.discarded.pop() else { return Ok(false) };
            if graph.is_live(&near.node) {
                self.take(vec![near]);
            }
            return Ok(true);
        }
        let Some(key) = self.sought()? else { return Ok(false) };
        let key = index::as_bytes(&key).unwrap_or_default();
        let mut from = Vec::new();
        while from.len() < most
            && let Some(std::cmp::Reverse(near)) = self.discarded.pop()
        {
            from.push(near);
        }
        let discarded = Some(&mut self.discarded);
        let found = search::nearest(&graph, key, &from, (most, 0), &mut self.visited, discarded)?;
        self.take(found);
        Ok(true)
    }

    /// The rows of the next page, if there is one.
    fn next_page(&mut self, access: &Access<'_>) -> IndexResult<bool> {
        let Some(block) = self.page else { return Ok(false) };
        if block.0 >= access.pool.nblocks(self.rel.desc.file, Fork::Main)? {
            self.page = None;
            return Ok(false);
        }
        interrupts()?;
        let page = self.rel.shared(access.pool, block)?;
        for n in 1..=page::max_offset(&page) {
            let Some(item) = page::item(&page, n) else { continue };
            if let Some((head, _)) = self.rel.check(block, Head::read(item))?
                && head.state == LIVE
            {
                self.found.push((f64::INFINITY, head.tid));
            }
        }
        self.page = Some(BlockNo(block.0 + 1));
        Ok(true)
    }
}

impl IndexScan for Scan {
    fn method(&self) -> &'static Facts {
        &crate::method::FACTS
    }

    fn rescan(&mut self, _access: &Access<'_>, keys: ScanKeys) {
        self.restart();
        self.keys = keys.keys;
        self.order = None;
    }

    fn order_by(&mut self, distances: Vec<ScanKey>) -> IndexResult<()> {
        self.restart();
        self.order = distances.into_iter().next();
        Ok(())
    }

    fn distances(&self) -> Option<&[f64]> {
        self.order.is_some().then_some(&self.distance)
    }

    fn next(&mut self, access: &Access<'_>) -> IndexResult<Option<Tid>> {
        if !self.started {
            self.start(access)?;
        }
        loop {
            if let Some((distance, tid)) = self.found.pop() {
                self.distance = [distance];
                return Ok(Some(tid));
            }
            if self.page.is_some() {
                if !self.next_page(access)? {
                    return Ok(None);
                }
            } else if runtime::word(settings::ITERATIVE) == 0 || !self.go_on(access)? {
                return Ok(None);
            }
        }
    }

    fn has_more(&self) -> bool {
        true
    }

    fn watch(&mut self) -> Option<Arc<dyn KeyRange>> {
        index::conditions(&self.rel, self.keys.clone())
    }

    fn take_searches(&mut self) -> u64 {
        std::mem::take(&mut self.searches)
    }
}
