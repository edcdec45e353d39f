//! The B-tree's WAL records: what they hold, their replay, their description.
//!
//! | record | main data | block 0 | further blocks |
//! |---|---|---|---|
//! | `INSERT_LEAF`, `INSERT_POST` | item number | page: the item | |
//! | `INSERT_UPPER` | item number | page: the item | child whose split is finished |
//! | `INSERT_META` | item number, meta fields | page: the item | child, meta page |
//! | `SPLIT` | which blocks follow | left page: [`SplitPlan`] | right page: links and items; old right sibling; child |
//! | `NEWROOT` | meta fields | root: links and items | meta page; left child whose split is finished |
//! | `DEDUP` | | page: runs | |
//! | `DELETE`, `VACUUM` | | page: items and TIDs to remove | |
//! | `MARK_PAGE_HALFDEAD` | downlink's number, right sibling of the branch, its top | leaf | parent |
//! | `UNLINK_PAGE` | which blocks follow, safe xid, siblings, rest of the branch, meta fields | target | right sibling; left sibling; leaf; meta page |
//! | `PUT_FREE` | meta fields | page: links and items | meta page |
//! | `TAKE_FREE` | meta fields | page | meta page |
//! | `META` | meta fields | meta page | |
//! | `BUILD` | | full image | |
//!
//! Each page is changed by what the record says, never by what another page says: pages of one record may be replayed in any order. They stay
//! latched until the record is done.

use std::fmt::Write;

use base::{BlockNo, Lsn, Xid};
use buffer::{BufferPool, RedoPage, redo_init_page, redo_page};
use page::PageBytes;
use wal::Record;

use crate::format::{Check, Meta, NONE};
use crate::ops::{self, ListUpdate, Reader, SplitPlan, put_sized};
use crate::search::Exclusive;
use crate::{BtreeError, BtreeResult};

/// Kind of a record, its `info`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    InsertLeaf = 0,
    InsertPosting = 1,
    InsertUpper = 2,
    InsertMeta = 3,
    Split = 4,
    NewRoot = 5,
    Dedup = 6,
    Delete = 7,
    Vacuum = 8,
    HalfDead = 9,
    Unlink = 10,
    PutFree = 11,
    TakeFree = 12,
    Meta = 13,
    Build = 14,
}

impl Kind {
    const ALL: [Kind; 15] = [
        Kind::InsertLeaf,
        Kind::InsertPosting,
        Kind::InsertUpper,
        Kind::InsertMeta,
        Kind::Split,
        Kind::NewRoot,
        Kind::Dedup,
        Kind::Delete,
        Kind::Vacuum,
        Kind::HalfDead,
        Kind::Unlink,
        Kind::PutFree,
        Kind::TakeFree,
        Kind::Meta,
        Kind::Build,
    ];

    fn of(record: &Record) -> Option<Kind> {
        Kind::ALL.get(record.info as usize).copied()
    }

    fn name(self) -> &'static str {
        match self {
            Kind::InsertLeaf => "INSERT_LEAF",
            Kind::InsertPosting => "INSERT_POST",
            Kind::InsertUpper => "INSERT_UPPER",
            Kind::InsertMeta => "INSERT_META",
            Kind::Split => "SPLIT",
            Kind::NewRoot => "NEWROOT",
            Kind::Dedup => "DEDUP",
            Kind::Delete => "DELETE",
            Kind::Vacuum => "VACUUM",
            Kind::HalfDead => "MARK_PAGE_HALFDEAD",
            Kind::Unlink => "UNLINK_PAGE",
            Kind::PutFree => "PUT_FREE",
            Kind::TakeFree => "TAKE_FREE",
            Kind::Meta => "META",
            Kind::Build => "BUILD",
        }
    }
}

/// `SPLIT`: the old right sibling takes part.
pub(crate) const SPLIT_SIBLING: u8 = 1;
/// `SPLIT`: the child whose downlink is inserted takes part.
pub(crate) const SPLIT_CHILD: u8 = 2;

pub(crate) fn split_bytes(plan: &SplitPlan<'_>) -> Vec<u8> {
    let mut out = Vec::with_capacity(24 + plan.new.len() + plan.high.len());
    out.extend_from_slice(&plan.at.to_le_bytes());
    out.extend_from_slice(&plan.left_count.to_le_bytes());
    out.extend_from_slice(&u16::from(plan.posting).to_le_bytes());
    out.extend_from_slice(&plan.right.0.to_le_bytes());
    out.extend_from_slice(&plan.split.0.to_le_bytes());
    put_sized(plan.new, &mut out);
    put_sized(plan.high, &mut out);
    out
}

fn read_split(bytes: &[u8]) -> Check<SplitPlan<'_>> {
    let mut r = Reader(bytes);
    Ok(SplitPlan {
        at: r.u16()?,
        left_count: r.u16()?,
        posting: r.u16()? != 0,
        right: r.block()?,
        split: Lsn(r.u64()?),
        new: r.sized()?,
        high: r.sized()?,
    })
}

/// Data of `DELETE` and `VACUUM`.
pub(crate) fn delete_bytes(doomed: &[u16], updates: &[ListUpdate]) -> Vec<u8> {
    let mut out = Vec::with_capacity(4 + 2 * doomed.len() + 8 * updates.len());
    let put = |n: u16, out: &mut Vec<u8>| out.extend_from_slice(&n.to_le_bytes());
    put(doomed.len() as u16, &mut out);
    doomed.iter().for_each(|&n| put(n, &mut out));
    for update in updates {
        put(update.at, &mut out);
        put(update.removed.len() as u16, &mut out);
        update.removed.iter().for_each(|&n| put(n, &mut out));
    }
    out
}

fn read_delete(bytes: &[u8]) -> Check<(Vec<u16>, Vec<ListUpdate>)> {
    let mut r = Reader(bytes);
    let list = |r: &mut Reader<'_>| -> Check<Vec<u16>> {
        let n = r.u16()?;
        (0..n).map(|_| r.u16()).collect()
    };
    let doomed = list(&mut r)?;
    let mut updates = Vec::new();
    while !r.0.is_empty() {
        updates.push(ListUpdate { at: r.u16()?, removed: list(&mut r)? });
    }
    Ok((doomed, updates))
}

/// What `MARK_PAGE_HALFDEAD` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HalfDead {
    /// Number of the downlink in the parent.
    pub at: u16,
    /// Right sibling of the branch's top: takes over the key space.
    pub top_right: BlockNo,
    /// Highest page that goes with the leaf, or none.
    pub top: BlockNo,
}

impl HalfDead {
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = self.at.to_le_bytes().to_vec();
        out.extend_from_slice(&self.top_right.0.to_le_bytes());
        out.extend_from_slice(&self.top.0.to_le_bytes());
        out
    }
    fn read(bytes: &[u8]) -> Check<HalfDead> {
        let mut r = Reader(bytes);
        Ok(HalfDead { at: r.u16()?, top_right: r.block()?, top: r.block()? })
    }
}

/// What `UNLINK_PAGE` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unlink {
    pub safe: Xid,
    /// Left sibling, or none.
    pub left: BlockNo,
    pub right: BlockNo,
    /// The target is an internal page: the leaf below remembers the next page of the branch, or none.
    pub leaf_top: Option<BlockNo>,
    /// The level has one page left: the new fast root.
    pub meta: Option<Meta>,
}

impl Unlink {
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = self.safe.0.to_le_bytes().to_vec();
        out.extend_from_slice(&self.left.0.to_le_bytes());
        out.extend_from_slice(&self.right.0.to_le_bytes());
        out.extend_from_slice(&u16::from(self.leaf_top.is_some()).to_le_bytes());
        out.extend_from_slice(&self.leaf_top.unwrap_or(NONE).0.to_le_bytes());
        out.extend(self.meta.iter().flat_map(crate::search::meta_bytes));
        out
    }
    fn read(bytes: &[u8]) -> Check<Unlink> {
        let mut r = Reader(bytes);
        let (safe, left, right) = (Xid(r.u64()?), r.block()?, r.block()?);
        let (has_leaf, top) = (r.u16()? != 0, r.block()?);
        let meta = if r.0.is_empty() { None } else { Some(read_meta(&mut r)?) };
        Ok(Unlink { safe, left, right, leaf_top: has_leaf.then_some(top), meta })
    }
}

fn read_meta(r: &mut Reader<'_>) -> Check<Meta> {
    Ok(Meta {
        root: r.block()?,
        level: r.u32()?,
        fast_root: r.block()?,
        fast_level: r.u32()?,
        free_head: r.block()?,
        free_count: r.u32()?,
        pending: r.u32()?,
    })
}

fn read_runs(bytes: &[u8]) -> Check<Vec<(u16, u16)>> {
    let mut r = Reader(bytes);
    let mut runs = Vec::new();
    while !r.0.is_empty() {
        runs.push((r.u16()?, r.u16()?));
    }
    Ok(runs)
}

/// The blocks of one record being replayed.
struct Redo<'a> {
    pool: &'a BufferPool,
    record: &'a Record,
    /// Pages stay latched until the record is done.
    held: Vec<Exclusive>,
}

impl Redo<'_> {
    fn corrupt(&self, index: usize, what: &'static str) -> BtreeError {
        let (rel, block) =
            self.record.block(index).map_or((Default::default(), NONE), |block| (block.rel, block.block));
        BtreeError::Corrupt { rel, block, what }
    }

    fn finish(
        &mut self,
        index: usize,
        page: RedoPage,
        change: impl FnOnce(&mut PageBytes) -> Check<()>,
    ) -> BtreeResult<()> {
        match page {
            RedoPage::Apply(mut page) => {
                change(&mut page).map_err(|what| self.corrupt(index, what))?;
                page.set_redone(self.record.end);
                self.held.push(page);
            }
            RedoPage::Restored(page) => self.held.push(page),
            RedoPage::Done | RedoPage::Missing => {}
        }
        Ok(())
    }

    /// Changes the page of block reference `index` unless it has the change already. `change` gets the reference's data.
    fn change(
        &mut self,
        index: usize,
        change: impl FnOnce(&mut PageBytes, &[u8]) -> Check<()>,
    ) -> BtreeResult<()> {
        let block = self.record.block(index).ok_or_else(|| self.corrupt(index, "record lacks a block"))?;
        let page = redo_page(self.pool, self.record, index)?;
        self.finish(index, page, |page| change(page, block.data))
    }

    /// Builds the page of block reference `index` from nothing.
    fn init(
        &mut self,
        index: usize,
        build: impl FnOnce(&mut PageBytes, &[u8]) -> Check<()>,
    ) -> BtreeResult<()> {
        let block = self.record.block(index).ok_or_else(|| self.corrupt(index, "record lacks a block"))?;
        let page = redo_init_page(self.pool, self.record, index)?;
        self.finish(index, page, |page| build(page, block.data))
    }

    fn write_meta(&mut self, index: usize, meta: &Meta) -> BtreeResult<()> {
        self.init(index, |page, _| {
            meta.write(page);
            Ok(())
        })
    }

    fn data<T>(&self, read: impl FnOnce(&mut Reader<'_>) -> Check<T>) -> BtreeResult<T> {
        read(&mut Reader(self.record.data())).map_err(|what| self.corrupt(0, what))
    }
}

/// Replays one record of [`wal::Rmgr::Btree`].
pub fn redo(pool: &BufferPool, record: &Record) -> BtreeResult<()> {
    let mut redo = Redo { pool, record, held: Vec::new() };
    let Some(kind) = Kind::of(record) else { return Err(redo.corrupt(0, "unknown kind of record")) };
    match kind {
        Kind::InsertLeaf | Kind::InsertPosting | Kind::InsertUpper | Kind::InsertMeta => {
            redo_insert(&mut redo, kind)
        }
        Kind::Split => redo_split(&mut redo),
        Kind::NewRoot => redo_new_root(&mut redo),
        Kind::Dedup => redo.change(0, |page, data| ops::deduplicate(page, &read_runs(data)?)),
        Kind::Delete | Kind::Vacuum => redo.change(0, |page, data| {
            let (doomed, updates) = read_delete(data)?;
            ops::delete(page, &doomed, &updates)
        }),
        Kind::HalfDead => redo_half_dead(&mut redo),
        Kind::Unlink => redo_unlink(&mut redo),
        Kind::PutFree => {
            let meta = redo.data(read_meta)?;
            redo.init(0, ops::from_blob)?;
            redo.write_meta(1, &meta)
        }
        Kind::TakeFree => {
            let meta = redo.data(read_meta)?;
            redo.change(0, |page, _| ops::unmark_free(page))?;
            redo.write_meta(1, &meta)
        }
        Kind::Meta => {
            let meta = redo.data(read_meta)?;
            redo.write_meta(0, &meta)
        }
        Kind::Build => redo.change(0, |_, _| Err("page image is missing")),
    }
}

fn redo_insert(redo: &mut Redo<'_>, kind: Kind) -> BtreeResult<()> {
    let (at, meta) = redo.data(|r| {
        let at = r.u16()?;
        Ok((at, if r.0.is_empty() { None } else { Some(read_meta(r)?) }))
    })?;
    redo.change(0, |page, item| match kind {
        Kind::InsertPosting => ops::insert_into_posting(page, at, item),
        _ => ops::insert(page, at, item),
    })?;
    if matches!(kind, Kind::InsertUpper | Kind::InsertMeta) {
        redo.change(1, |page, _| ops::finish_split(page))?;
    }
    match meta {
        Some(meta) => redo.write_meta(2, &meta),
        None => Ok(()),
    }
}

fn redo_split(redo: &mut Redo<'_>) -> BtreeResult<()> {
    let present = redo.data(|r| r.take(1).map(|bytes| bytes[0]))?;
    let right = redo.record.block(1).map_or(NONE, |block| block.block);
    redo.change(0, |page, data| ops::split_left(page, &read_split(data)?))?;
    redo.init(1, ops::from_blob)?;
    let mut index = 2;
    if present & SPLIT_SIBLING != 0 {
        redo.change(index, |page, _| ops::link(page, Some(right), None))?;
        index += 1;
    }
    if present & SPLIT_CHILD != 0 {
        redo.change(index, |page, _| ops::finish_split(page))?;
    }
    Ok(())
}

fn redo_new_root(redo: &mut Redo<'_>) -> BtreeResult<()> {
    let meta = redo.data(read_meta)?;
    redo.init(0, ops::from_blob)?;
    redo.write_meta(1, &meta)?;
    if redo.record.block_count() > 2 { redo.change(2, |page, _| ops::finish_split(page)) } else { Ok(()) }
}

fn redo_half_dead(redo: &mut Redo<'_>) -> BtreeResult<()> {
    let what = redo.data(|r| HalfDead::read(r.0))?;
    redo.change(0, |page, _| ops::half_dead(page, what.top))?;
    redo.change(1, |page, _| ops::remove_downlink(page, what.at, what.top_right))
}

fn redo_unlink(redo: &mut Redo<'_>) -> BtreeResult<()> {
    let what = redo.data(|r| Unlink::read(r.0))?;
    redo.change(0, |page, _| ops::mark_deleted(page, what.safe))?;
    redo.change(1, |page, _| ops::link(page, Some(what.left), None))?;
    let mut index = 2;
    if what.left != NONE {
        redo.change(index, |page, _| ops::link(page, None, Some(what.right)))?;
        index += 1;
    }
    if let Some(top) = what.leaf_top {
        redo.change(index, |page, _| ops::half_dead(page, top))?;
        index += 1;
    }
    match &what.meta {
        Some(meta) => redo.write_meta(index, meta),
        None => Ok(()),
    }
}

/// Name of the action and its details, as `pg_waldump` shows them.
pub fn describe(record: &Record) -> (&'static str, String) {
    let Some(kind) = Kind::of(record) else { return ("UNKNOWN", format!("info {}", record.info)) };
    let text = details(kind, record).unwrap_or_else(|what| format!("damaged: {what}"));
    (kind.name(), text)
}

fn details(kind: Kind, record: &Record) -> Check<String> {
    let main = record.data();
    let block_data = record.block(0).map_or(&[][..], |block| block.data);
    let mut out = String::new();
    let written = match kind {
        Kind::InsertLeaf | Kind::InsertPosting | Kind::InsertUpper | Kind::InsertMeta => {
            write!(out, "off: {}", Reader(main).u16()?)
        }
        Kind::Split if !block_data.is_empty() => {
            let plan = read_split(block_data)?;
            write!(
                out,
                "left count: {}, new off: {}, posting: {}, right: {}",
                plan.left_count, plan.at, plan.posting, plan.right
            )
        }
        Kind::NewRoot | Kind::PutFree | Kind::TakeFree | Kind::Meta => {
            let meta = read_meta(&mut Reader(main))?;
            write!(
                out,
                "root: {}, level: {}, fast root: {}, fast level: {}, free: {} from {}",
                meta.root, meta.level, meta.fast_root, meta.fast_level, meta.free_count, meta.free_head
            )
        }
        Kind::Dedup if !block_data.is_empty() => write!(out, "nintervals: {}", read_runs(block_data)?.len()),
        Kind::Delete | Kind::Vacuum if !block_data.is_empty() => {
            let (doomed, updates) = read_delete(block_data)?;
            write!(out, "ndeleted: {}, nupdated: {}, deleted: {doomed:?}", doomed.len(), updates.len())
        }
        Kind::HalfDead => {
            let what = HalfDead::read(main)?;
            write!(out, "off: {}, right: {}, topparent: {}", what.at, what.top_right, what.top)
        }
        Kind::Unlink => {
            let what = Unlink::read(main)?;
            write!(
                out,
                "left: {}, right: {}, safexid: {}, leaftopparent: {}",
                what.left,
                what.right,
                what.safe,
                what.leaf_top.unwrap_or(NONE)
            )
        }
        Kind::Split | Kind::Dedup | Kind::Delete | Kind::Vacuum | Kind::Build => Ok(()),
    };
    written.map_err(|_| "description failed")?;
    Ok(out)
}
