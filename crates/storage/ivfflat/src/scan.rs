//! Scans: the rows of the lists whose centres are nearest, nearest first. A scan ends with `ivfflat.probes` lists, unless `ivfflat.iterative_scan` lets it go on with as many again.

use std::sync::Arc;

use base::{BlockNo, Fork, Tid};
use index::vectors;
use index::{Access, Facts, IndexResult, IndexScan, Pages, ScanKey, ScanKeys, settings};
use tuple::Datum;
use txn::KeyRange;

use crate::format::{ENTRIES, META, MOST_LISTS, Opaque, items, read_entry};
use crate::lists;
use crate::rel::IvfflatRel;

/// A scan.
pub struct Scan {
    rel: Arc<IvfflatRel>,
    keys: Vec<ScanKey>,
    order: Option<ScanKey>,
    started: bool,
    /// What is sought; none: all rows are as near.
    sought: Option<Datum>,
    /// Lists that were not looked through, by number and first page, the nearest last.
    left: Vec<(u16, BlockNo)>,
    /// How many were.
    probed: usize,
    /// What comes next, in reverse.
    found: Vec<(f64, Tid)>,
    distance: [f64; 1],
    searches: u64,
}

fn setting(word: usize, default: u32) -> usize {
    vectors::setting(word, default) as usize
}

impl Scan {
    pub(crate) fn new(rel: Arc<IvfflatRel>, keys: ScanKeys) -> Scan {
        Scan {
            rel,
            keys: keys.keys,
            order: None,
            started: false,
            sought: None,
            left: Vec::new(),
            probed: 0,
            found: Vec::new(),
            distance: [0.0],
            searches: 0,
        }
    }

    fn restart(&mut self) {
        self.started = false;
        self.left.clear();
        self.probed = 0;
        self.found.clear();
    }

    /// The key that is sought; none: all rows are as near.
    fn key(&self) -> IndexResult<Option<Datum>> {
        vectors::sought(self.rel.desc.trees[0], self.order.as_ref(), "ivfflat")
    }

    fn start(&mut self, access: &Access<'_>) -> IndexResult<()> {
        self.started = true;
        self.searches += 1;
        self.sought = self.key()?;
        let rel = self.rel.clone();
        let mut lists = lists::all(access, &rel, |list| {
            let distance = match &self.sought {
                Some(key) => list.distance(&rel, key)?,
                None => 0.0,
            };
            Ok((distance, list.number, list.head.first))
        })?;
        lists.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        self.left = lists.into_iter().map(|(_, number, first)| (number, first)).collect();
        let probes = if self.sought.is_some() { setting(settings::PROBES, 1) } else { self.left.len() };
        self.probe(access, probes)
    }

    /// Looks through so many more lists.
    fn probe(&mut self, access: &Access<'_>, count: usize) -> IndexResult<()> {
        for _ in 0..count {
            let Some((number, first)) = self.left.pop() else { break };
            self.probed += 1;
            self.gather(access, number, first)?;
        }
        self.found.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        Ok(())
    }

    /// Takes the rows of a list.
    fn gather(&mut self, access: &Access<'_>, number: u16, first: BlockNo) -> IndexResult<()> {
        let rel = &self.rel;
        let mut block = first;
        let mut pages = access.pool.nblocks(rel.desc.file, Fork::Main)?;
        while block != META {
            rel.ensure(block, pages > 0, "pages of a list form a circle")?;
            pages -= 1;
            let page = rel.copy(access.pool, block)?;
            let opaque = rel.check(block, Opaque::read_of(&page, ENTRIES, number))?;
            for item in items(&page) {
                let (_, item) = rel.check(block, item)?;
                let (tid, key) = rel.check(block, read_entry(item))?;
                let distance = match &self.sought {
                    Some(sought) => rel.distance(&Datum::Bytes(key.to_vec().into()), sought)?,
                    None => f64::INFINITY,
                };
                self.found.push((distance, tid));
            }
            block = opaque.next;
        }
        Ok(())
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
            let most = setting(settings::MAX_PROBES, u32::from(MOST_LISTS));
            if runtime::word(settings::ITERATIVE_PROBES) == 0 || self.left.is_empty() || self.probed >= most {
                return Ok(None);
            }
            self.probe(access, setting(settings::PROBES, 1).min(most - self.probed))?;
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
