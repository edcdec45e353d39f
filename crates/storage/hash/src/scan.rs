//! Scans: the entries with one hash code, or with each of several. A bucket is read under its latch as a whole; what it has is given afterwards, without. Entries are
//! those of equal codes, so their rows are to be checked again.
//!
//! Who wants no TID to be given away meanwhile keeps the bucket pinned until all of its entries are passed: VACUUM waits for that.

use std::sync::Arc;

use base::{BlockNo, Lsn, Tid};
use buffer::{Persistence, Pin};
use index::{Access, Facts, IndexResult, IndexScan, Pages, ScanKeys, ScanOp, Shared, Wants, interrupts};
use runtime::usage::used_often;
use tuple::Datum;
use txn::KeyRange;

use crate::format::{DEAD, DELETED, FIRST, KEY, Key, NONE, Node};
use crate::range::Codes;
use crate::rel::HashRel;

/// Marks that are gathered before they are made.
const MOST_KILLED: usize = 128;

/// An entry whose row was found dead.
#[derive(Clone, Copy, Debug)]
struct Killed {
    block: BlockNo,
    lsn: Lsn,
    at: u16,
    tid: Tid,
}

/// A scan of an index.
#[derive(Debug)]
pub struct Scan {
    rel: Arc<HashRel>,
    wants: Wants,
    /// Codes that are wanted, those still to be searched for in front of `done`; none if a condition compares with NULL.
    codes: Vec<u32>,
    done: usize,
    /// The page on which entries of the present code go on.
    next: BlockNo,
    /// Entries of the page that was read last: their numbers and TIDs.
    found: Vec<(u16, Tid)>,
    passed: usize,
    block: BlockNo,
    lsn: Lsn,
    /// Keeps VACUUM away.
    pin: Option<Pin>,
    killed: Vec<Killed>,
    searches: u64,
}

/// Codes of the values that satisfy all conditions, each once.
pub(crate) fn codes_of(rel: &HashRel, keys: &ScanKeys) -> Vec<u32> {
    let mut all: Option<Vec<u32>> = None;
    for key in &keys.keys {
        let mut codes: Vec<u32> = match &key.op {
            ScanOp::Strategy(_, value) if !value.is_null() => vec![rel.code(value)],
            ScanOp::Any(values) => values.iter().map(|value| rel.code(value)).collect(),
            _ => Vec::new(),
        };
        codes.sort_unstable();
        codes.dedup();
        match &mut all {
            Some(all) => all.retain(|code| codes.binary_search(code).is_ok()),
            None => all = Some(codes),
        }
    }
    all.unwrap_or_default()
}

impl Scan {
    pub(crate) fn new(rel: Arc<HashRel>, keys: ScanKeys, wants: Wants) -> Scan {
        let codes = codes_of(&rel, &keys);
        Scan {
            rel,
            wants,
            codes,
            done: 0,
            next: NONE,
            found: Vec::new(),
            passed: 0,
            block: NONE,
            lsn: Lsn::INVALID,
            pin: None,
            killed: Vec::new(),
            searches: 0,
        }
    }

    fn restart(&mut self) {
        self.done = 0;
        self.next = NONE;
        self.found.clear();
        self.passed = 0;
        self.pin = None;
    }

    /// Reads the page that comes next; `false` behind the last.
    fn read(&mut self, access: &Access<'_>) -> IndexResult<bool> {
        interrupts()?;
        self.found.clear();
        self.passed = 0;
        self.pin = None;
        let rel = self.rel.clone();
        let page = if self.next != NONE {
            self.follow(access, &rel)?
        } else {
            let Some(&code) = self.codes.get(self.done) else { return Ok(false) };
            self.done += 1;
            self.searches += 1;
            used_often(|c| &c.index_searches);
            rel.bucket(access, Key::first(code))?
        };
        self.block = page.tag().block;
        self.lsn = page::lsn(&page);
        let node = rel.node(self.block, &page)?;
        let code = self.codes[self.done - 1];
        let more = self.collect(&node, code);
        self.next = if more { node.op.next } else { NONE };
        if self.wants.pin {
            self.pin = Some(page.into_pin());
        }
        Ok(true)
    }

    /// The page behind the one that was read last, or what took over its keys.
    fn follow(&self, access: &Access<'_>, rel: &HashRel) -> IndexResult<Shared> {
        let mut block = self.next;
        loop {
            let page = rel.shared(access.pool, block)?;
            let op = rel.node(block, &page)?.op;
            if !op.is(DELETED) {
                return Ok(page);
            }
            if op.next == NONE {
                return Err(rel.corrupt(block, "deleted page has no right sibling"));
            }
            drop(page);
            interrupts()?;
            block = op.next;
        }
    }

    /// Takes the entries with a code from a page; whether there may be more behind it.
    fn collect(&mut self, node: &Node<'_>, code: u32) -> bool {
        let count = node.count();
        let mut at = node.lower_bound(Key::first(code));
        while at < count {
            let key = node.key(at);
            if key.code != code {
                return false;
            }
            if !node.is_dead(at) {
                self.found.push((at as u16, key.tid));
            }
            at += 1;
        }
        node.op.next != NONE && node.op.high.code <= code
    }

    /// Marks the entries whose rows were found dead, where they surely still are.
    fn apply_kills(&mut self, access: &Access<'_>) {
        if self.killed.is_empty() || self.rel.desc.persistence != Persistence::Permanent {
            self.killed.clear();
            return;
        }
        if !access.horizon.may_remove() {
            self.killed.clear();
            return;
        }
        let mut killed = std::mem::take(&mut self.killed);
        killed.sort_unstable_by_key(|killed| (killed.block, killed.at));
        for on_page in killed.chunk_by(|a, b| a.block == b.block) {
            let Ok(page) = self.rel.shared(access.pool, on_page[0].block) else { continue };
            let Ok(node) = Node::new(&page) else { continue };
            for killed in on_page {
                let at = killed.at as usize;
                let same = page::lsn(&page) == killed.lsn && node.op.is_bucket() && at < node.count();
                if same && node.key(at).tid == killed.tid {
                    page.set_hint(FIRST + at * KEY + 8, DEAD);
                }
            }
        }
    }
}

impl IndexScan for Scan {
    fn method(&self) -> &'static Facts {
        &crate::method::FACTS
    }

    fn rescan(&mut self, access: &Access<'_>, keys: ScanKeys) {
        self.apply_kills(access);
        self.restart();
        self.codes = codes_of(&self.rel, &keys);
    }

    fn rescan_equal<E>(
        &mut self,
        access: &Access<'_>,
        _columns: usize,
        mut value: impl FnMut(usize) -> Result<Datum, E>,
    ) -> Result<bool, E> {
        self.apply_kills(access);
        self.restart();
        self.codes.clear();
        let value = value(0)?;
        if value.is_null() {
            return Ok(false);
        }
        self.codes.push(self.rel.code(&value));
        Ok(true)
    }

    fn next(&mut self, access: &Access<'_>) -> IndexResult<Option<Tid>> {
        if self.killed.len() >= MOST_KILLED {
            self.apply_kills(access);
        }
        loop {
            if let Some(&(_, tid)) = self.found.get(self.passed) {
                self.passed += 1;
                return Ok(Some(tid));
            }
            if !self.read(access)? {
                return Ok(None);
            }
        }
    }

    fn recheck(&self) -> bool {
        true
    }

    fn has_more(&self) -> bool {
        self.passed < self.found.len() || self.next != NONE || self.done < self.codes.len()
    }

    /// No upcoming rows are known: each row has to be rechecked.
    fn upcoming(&self, _n: usize) -> Option<Tid> {
        None
    }

    fn pass(&mut self, _count: usize) {}

    /// Entries do not have them.
    fn values(&self, _out: &mut Vec<Datum>) -> IndexResult<()> {
        Ok(())
    }

    fn kill_current(&mut self) {
        if let Some(&(at, tid)) = self.passed.checked_sub(1).and_then(|last| self.found.get(last)) {
            self.killed.push(Killed { block: self.block, lsn: self.lsn, at, tid });
        }
    }

    fn watch(&mut self) -> Option<Arc<dyn KeyRange>> {
        crate::range::key_range(&self.rel, self.codes.clone())
    }

    fn read_part(&mut self, _want_values: bool) -> IndexResult<Option<Arc<dyn KeyRange>>> {
        let read: Vec<u32> = self.codes[..self.done].to_vec();
        Ok(Some(Arc::new(Codes { rel: self.rel.clone(), codes: read })))
    }

    fn take_searches(&mut self) -> u64 {
        std::mem::take(&mut self.searches)
    }

    fn finish(&mut self, access: &Access<'_>) {
        self.apply_kills(access);
        self.restart();
    }
}
