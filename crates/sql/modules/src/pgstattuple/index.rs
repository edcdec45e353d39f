//! Indexes.

use std::sync::Arc;

use ::index::{PageMeasure, PageUse};
use base::{BlockNo, Fork, PAGE_SIZE, SqlResult, sql_err};
use buffer::{RingKind, Tag};
use catalog::{Index, RelationKind};
use session::Session;
use session::module::rows;
use session::routine::{Invocation, Returned};
use tuple::Datum;

use super::{Figures, number, rounded};
use crate::relation::{Relation, percent};

/// The index that a function is for.
fn open(session: &Session, invocation: &Invocation<'_>, method: &str, called: &str) -> SqlResult<Relation> {
    let relation = Relation::open(session, Relation::oid(session, &invocation.args[0])?)?;
    let index = relation
        .index
        .as_ref()
        .filter(|index| relation.kind() == RelationKind::Index && index.method.name == method);
    let Some(index) = index else {
        return Err(sql_err!(WRONG_OBJECT_TYPE, "relation \"{}\" is not a {called} index", relation.name()));
    };
    relation.check_not_others(session, "indexes")?;
    check_valid(index)?;
    Ok(relation)
}

fn check_valid(index: &Index) -> SqlResult<()> {
    if !index.valid {
        return Err(sql_err!(OBJECT_NOT_IN_PREREQUISITE_STATE, "index \"{}\" is not valid", index.name));
    }
    Ok(())
}

/// Calls `each` for every page, `None` for those that are new; the number of pages.
fn each_page(
    session: &Session,
    relation: &Relation,
    each: &mut dyn FnMut(BlockNo, Option<PageMeasure>),
) -> SqlResult<u32> {
    let Some(index): Option<&Arc<Index>> = relation.index.as_ref() else { return Ok(0) };
    let (open, pool) = (index.storage()?, session.engine().pool());
    let (ring, pages) = (pool.ring(RingKind::BulkRead), Relation::blocks(session, index.file, Fork::Main)?);
    for block in (0..pages).map(BlockNo) {
        runtime::check_interrupts()?;
        let pin = pool.read_with(Tag::new(index.file, Fork::Main, block), Some(&ring))?;
        let page = pin.shared();
        let measure = match page::is_new(&page) {
            true => None,
            false => {
                let measured = open.measure(block, &page);
                Some(measured.map_err(|error| error.into_sql(&index.name, &relation.table.name))?)
            }
        };
        drop(page);
        each(block, measure);
    }
    Ok(pages)
}

pub(super) fn figures(session: &Session, relation: &Relation) -> SqlResult<Figures> {
    let Some(index) = &relation.index else { return Ok(Figures::default()) };
    if !matches!(index.method.name, "btree" | "hash" | "gist") {
        let kind = match index.method.name {
            known @ ("gin" | "spgist" | "brin") => known,
            _ => "unknown",
        };
        return Err(sql_err!(
            FEATURE_NOT_SUPPORTED,
            "index \"{}\" ({kind} index) is not supported",
            index.name
        ));
    }
    check_valid(index)?;
    let mut figures = Figures::default();
    figures.pages = each_page(session, relation, &mut |_, measure| match measure {
        None => figures.free += PAGE_SIZE as u64,
        Some(PageMeasure { used: PageUse::Deleted | PageUse::Leaving, .. }) => {
            figures.free += PAGE_SIZE as u64
        }
        Some(PageMeasure { used: PageUse::Leaf, free, live, dead, .. }) => {
            figures.free += free as u64;
            figures.live = (figures.live.0 + live.count, figures.live.1 + live.bytes);
            figures.dead = (figures.dead.0 + dead.count, figures.dead.1 + dead.bytes);
        }
        Some(_) => {}
    })?;
    Ok(figures)
}

/// What pages of a B-tree are used for.
#[derive(Default)]
struct Tree {
    version: u32,
    level: u32,
    root: u32,
    inner: u64,
    leaves: u64,
    leaving: u64,
    deleted: u64,
    room: u64,
    free: u64,
    /// Leaves whose right sibling lies before them.
    jumps: u64,
}

pub(super) fn btree(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    let relation = open(session, invocation, "btree", "btree")?;
    let mut tree = Tree::default();
    let pages = each_page(session, &relation, &mut |block, measure| match measure {
        Some(PageMeasure { used: PageUse::Meta { version, root, level }, .. }) => {
            (tree.version, tree.root, tree.level) = (version, root.0, level);
        }
        Some(PageMeasure { used: PageUse::Leaf, next, room, free, .. }) => {
            tree.leaves += 1;
            tree.room += room as u64;
            tree.free += free as u64;
            tree.jumps += u64::from(next.is_some_and(|next| next < block));
        }
        Some(PageMeasure { used: PageUse::Leaving, .. }) => tree.leaving += 1,
        Some(PageMeasure { used: PageUse::Inner, .. }) => tree.inner += 1,
        _ => tree.deleted += 1,
    })?;
    let of_leaves = |part: u64, whole: u64| match tree.leaves {
        0 => Datum::Float8(f64::NAN),
        _ => rounded(percent(part, whole)),
    };
    let row = vec![
        Datum::Int4(tree.version as i32),
        Datum::Int4(tree.level as i32),
        number(crate::relation::bytes_of(pages)),
        Datum::Int8(i64::from(tree.root)),
        number(tree.inner),
        number(tree.leaves),
        number(tree.leaving),
        number(tree.deleted),
        of_leaves(tree.room - tree.free, tree.room),
        of_leaves(tree.jumps, tree.leaves),
    ];
    rows(session, invocation, [row])
}

pub(super) fn gin(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    let relation = open(session, invocation, "gin", "GIN")?;
    let (mut known, mut pages, mut entries) = (0, 0, 0);
    each_page(session, &relation, &mut |_, measure| match measure {
        Some(PageMeasure { used: PageUse::Meta { version, .. }, .. }) => known = version as i32,
        // An empty page of a lane is not counted as pending.
        Some(PageMeasure { used: PageUse::Pending, live, .. }) if live.count > 0 => {
            pages += 1;
            entries += live.count;
        }
        _ => {}
    })?;
    rows(session, invocation, [vec![Datum::Int4(known), Datum::Int4(pages), number(entries)]])
}

pub(super) fn hash(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    let relation = open(session, invocation, "hash", "hash")?;
    let (mut buckets, mut unused, mut live, mut dead) = (0, 0, 0, 0);
    let (mut room, mut free) = (0, 0);
    each_page(session, &relation, &mut |_, measure| match measure {
        Some(PageMeasure { used: PageUse::Inner | PageUse::Meta { .. }, .. }) => {}
        Some(PageMeasure { used: PageUse::Leaf, room: of, free: left, live: items, dead: gone, .. }) => {
            buckets += 1;
            live += items.count;
            dead += gone.count;
            room += of as u64;
            free += left as u64;
        }
        _ => {
            unused += 1;
            room += PAGE_SIZE as u64;
            free += PAGE_SIZE as u64;
        }
    })?;
    let row = vec![
        Datum::Int4(4),
        number(buckets),
        number(0),
        number(0),
        number(unused),
        number(live),
        number(dead),
        Datum::Float8(percent(free, room)),
    ];
    rows(session, invocation, [row])
}
