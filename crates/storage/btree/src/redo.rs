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
//! Each page is changed by what the record says, never by what another page says: pages of one record may be replayed in any order.

use std::fmt::Write;

use base::{BlockNo, Lsn, Xid};
use index::Records;
use index::bytes::{Check, Reader, put_sized};
use page::PageBytes;
use wal::{Record, RecordRef, ResourceManager, Rmgr};

use crate::format::{Meta, NONE};
use crate::ops::{self, ListUpdate, SplitPlan};

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

    fn from_info(info: u8) -> Option<Kind> {
        Kind::ALL.get(info as usize).copied()
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

/// Does to a page what a record says about its block reference `index`: to a page that [needs](buffer::needs) it, or to zeros if the record
/// initialises the page. The error says what does not fit.
pub(crate) fn redo_block(
    page: &mut PageBytes,
    record: &RecordRef<'_>,
    index: usize,
) -> Result<(), &'static str> {
    let data = record.block(index).ok_or("the record lacks a block")?.data;
    let mut main = Reader(record.data());
    let kind = Kind::from_info(record.info).ok_or("unknown kind of record")?;
    match (kind, index) {
        (Kind::InsertLeaf | Kind::InsertUpper | Kind::InsertMeta, 0) => ops::insert(page, main.u16()?, data),
        (Kind::InsertPosting, 0) => ops::insert_into_posting(page, main.u16()?, data),
        (Kind::InsertUpper | Kind::InsertMeta, 1) | (Kind::NewRoot, 2) => ops::finish_split(page),
        (Kind::InsertMeta, 2) => {
            main.u16()?;
            write_meta(page, &mut main)
        }
        (Kind::Split, 0) => ops::split_left(page, &read_split(data)?),
        (Kind::Split, 1) | (Kind::NewRoot | Kind::PutFree, 0) => ops::from_blob(page, data),
        (Kind::Split, _) => {
            let present = main.take(1)?[0];
            match index == 2 && present & SPLIT_SIBLING != 0 {
                true => ops::link(page, record.block(1).map(|right| right.block), None),
                false => ops::finish_split(page),
            }
        }
        (Kind::NewRoot | Kind::PutFree | Kind::TakeFree, 1) | (Kind::Meta, 0) => write_meta(page, &mut main),
        (Kind::Dedup, 0) => ops::deduplicate(page, &read_runs(data)?),
        (Kind::Delete | Kind::Vacuum, 0) => {
            let (doomed, updates) = read_delete(data)?;
            ops::delete(page, &doomed, &updates)
        }
        (Kind::HalfDead, 0) => ops::half_dead(page, HalfDead::read(main.0)?.top),
        (Kind::HalfDead, 1) => {
            let what = HalfDead::read(main.0)?;
            ops::remove_downlink(page, what.at, what.top_right)
        }
        (Kind::Unlink, _) => redo_unlink(page, &Unlink::read(main.0)?, index),
        (Kind::TakeFree, 0) => ops::unmark_free(page),
        (Kind::Build, _) => Err("page image is missing"),
        _ => Err("the record has too many blocks"),
    }
}

fn write_meta(page: &mut PageBytes, main: &mut Reader<'_>) -> Check<()> {
    read_meta(main)?.write(page);
    Ok(())
}

/// The blocks behind the first two are there if they are needed, in this order: left sibling, leaf, meta page.
fn redo_unlink(page: &mut PageBytes, what: &Unlink, index: usize) -> Check<()> {
    let left = usize::from(what.left != NONE);
    let leaf = left + usize::from(what.leaf_top.is_some());
    match (index, what.leaf_top, &what.meta) {
        (0, ..) => ops::mark_deleted(page, what.safe),
        (1, ..) => ops::link(page, Some(what.left), None),
        (n, ..) if n < 2 + left => ops::link(page, None, Some(what.right)),
        (n, Some(top), _) if n < 2 + leaf => ops::half_dead(page, top),
        (n, _, Some(meta)) if n == 2 + leaf => {
            meta.write(page);
            Ok(())
        }
        _ => Err("the record has too many blocks"),
    }
}

/// How records of B-trees are replayed and shown.
pub(crate) const MANAGER: ResourceManager = ResourceManager {
    id: Rmgr::Btree,
    redo_block: Some(|page, record, index| redo_block(page, record, index).map_err(str::to_owned)),
    describe: &Records { name: |info| Kind::from_info(info).map(Kind::name), details },
};

fn details(record: &Record) -> Check<String> {
    let kind = Kind::from_info(record.info).ok_or("unknown kind of record")?;
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
