//! Pages of B-trees.

use base::{BlockNo, Fork, PAGE_SIZE, SqlError, SqlResult, sql_err};
use buffer::Tag;
use catalog::RelationKind;
use engine::inspect::btree::{self as tree, Item};
use page::PageBytes;
use session::Session;
use session::module::rows;
use session::routine::{Invocation, Returned};
use tuple::Datum;
use types::ids::tid_datum;
use types::value::FromDatum;

use super::{check_superuser, invalid, page_of, read};
use crate::relation::Relation;

/// The index that a function names.
fn open(session: &Session, argument: &Datum) -> SqlResult<Relation> {
    check_superuser(session, "pageinspect")?;
    let relation = Relation::open(session, Relation::oid(session, argument)?)?;
    let is_tree = relation.index.as_ref().is_some_and(|index| index.method.name == "btree");
    if !is_tree || relation.kind() != RelationKind::Index {
        return Err(sql_err!(WRONG_OBJECT_TYPE, "\"{}\" is not a btree index", relation.name()));
    }
    relation.check_not_others(session, "tables")?;
    Ok(relation)
}

fn damaged(what: &'static str) -> SqlError {
    sql_err!(INDEX_CORRUPTED, "{what}")
}

/// A page of the index.
fn page_at(session: &Session, relation: &Relation, block: BlockNo) -> SqlResult<Box<PageBytes>> {
    let file = relation.file().ok_or_else(|| SqlError::internal("an index without files"))?;
    read(session, Tag::new(file, Fork::Main, block))
}

/// Fails unless a page is one of the tree.
fn check_block(session: &Session, relation: &Relation, block: i64) -> SqlResult<BlockNo> {
    if !(0..i64::from(u32::MAX)).contains(&block) {
        return Err(invalid(format!("invalid block number {block}")));
    }
    let pages = relation.file().map_or(Ok(0), |file| Relation::blocks(session, file, Fork::Main))?;
    match block {
        0 => Err(invalid("block 0 is a meta page".into())),
        block if block >= i64::from(pages) => Err(invalid(format!("block number {block} is out of range"))),
        block => Ok(BlockNo(block as u32)),
    }
}

pub(super) fn meta(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    let relation = open(session, &invocation.args[0])?;
    let meta = tree::meta(&*page_at(session, &relation, BlockNo(0))?).map_err(damaged)?;
    let equal = relation.index.as_ref().and_then(|index| index.rel.as_ref());
    let number = |value: u32| Datum::Int8(i64::from(value));
    let row = vec![
        Datum::Int4(meta.magic as i32),
        Datum::Int4(meta.version as i32),
        number(meta.root.0),
        number(meta.level),
        number(meta.fast_root.0),
        number(meta.fast_level),
        number(meta.left_deleted),
        Datum::Float8(-1.0),
        Datum::Bool(equal.is_some_and(|rel| rel.desc().equal_image)),
    ];
    rows(session, invocation, [row])
}

fn statistics_of(session: &Session, relation: &Relation, block: BlockNo) -> SqlResult<Vec<Datum>> {
    let page = page_at(session, relation, block)?;
    let number = |value: u32| Datum::Int8(i64::from(value));
    if page::is_new(&page) {
        return Err(invalid(format!("block {block} is a new page")));
    }
    let links = tree::links(&page).map_err(damaged)?;
    let (mut live, mut dead, mut bytes) = (0, 0, 0);
    for n in (1..=page::max_offset(&page)).filter(|_| links.has_items) {
        let Some(pointer) = page::line_pointer(&page, n) else { continue };
        bytes += i32::from(pointer.len);
        match pointer.flags {
            page::LpFlags::Dead => dead += 1,
            _ => live += 1,
        }
    }
    Ok(vec![
        number(block.0),
        Datum::Char(links.kind),
        Datum::Int4(live),
        Datum::Int4(dead),
        Datum::Int4(bytes.checked_div(live + dead).unwrap_or(0)),
        Datum::Int4(PAGE_SIZE as i32),
        Datum::Int4(page::free_space_for_item(&page) as i32),
        number(links.prev.0),
        number(links.next.0),
        number(links.level),
        Datum::Int4(i32::from(links.flags)),
    ])
}

pub(super) fn statistics(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    let relation = open(session, &invocation.args[0])?;
    let block = check_block(session, &relation, i64::from_datum(&invocation.args[1]))?;
    let row = statistics_of(session, &relation, block)?;
    rows(session, invocation, [row])
}

pub(super) fn statistics_of_several(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    let relation = open(session, &invocation.args[0])?;
    let [first, count] = [1, 2].map(|at| i64::from_datum(&invocation.args[at]));
    let first = check_block(session, &relation, first)?;
    let pages = relation.file().map_or(Ok(0), |file| Relation::blocks(session, file, Fork::Main))?;
    let end = match count {
        ..0 => i64::from(pages),
        0 => i64::from(first.0),
        count => {
            let last = i64::from(first.0).saturating_add(count - 1);
            i64::from(check_block(session, &relation, last)?.0) + 1
        }
    };
    let mut list = Vec::new();
    for block in i64::from(first.0)..end {
        runtime::check_interrupts()?;
        list.push(statistics_of(session, &relation, BlockNo(block as u32))?);
    }
    rows(session, invocation, list)
}

fn item_row(item: Item, call: &types::Call<'_>) -> SqlResult<Vec<Datum>> {
    let tid = |tid: base::Tid| tid_datum(tid.block.0, tid.offset);
    let data: Vec<String> = item.data.iter().map(|byte| format!("{byte:02x}")).collect();
    let tids = match item.tids.is_empty() {
        true => Datum::Null,
        false => {
            let list = item.tids.iter().map(|one| tid(*one)).collect();
            types::array::Array::from_values(types::oids::tid, list, call)?.to_datum()
        }
    };
    Ok(vec![
        Datum::Int2(item.number as i16),
        tid(item.word),
        Datum::Int2(item.length as i16),
        Datum::Bool(item.has_nulls),
        Datum::Null,
        Datum::text(&data.join(" ")),
        item.dead.map_or(Datum::Null, Datum::Bool),
        item.row.map_or(Datum::Null, tid),
        tids,
    ])
}

fn item_rows(session: &Session, invocation: &Invocation<'_>, page: &PageBytes) -> SqlResult<Returned> {
    let items = tree::items(page).map_err(damaged)?;
    let list: SqlResult<Vec<_>> = items.into_iter().map(|item| item_row(item, invocation.call)).collect();
    rows(session, invocation, list?)
}

pub(super) fn items(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    let relation = open(session, &invocation.args[0])?;
    let block = check_block(session, &relation, i64::from_datum(&invocation.args[1]))?;
    let page = page_at(session, &relation, block)?;
    item_rows(session, invocation, &page)
}

pub(super) fn items_of_bytes(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    check_superuser(session, "raw page")?;
    let page = page_of(&invocation.args[0])?;
    if page::is_new(&page) {
        return rows(session, invocation, []);
    }
    if tree::meta(&page).is_ok() {
        return Err(invalid("block is a meta page".into()));
    }
    if tree::links(&page).is_err() {
        return Err(invalid("input page is not a valid btree page".into()));
    }
    item_rows(session, invocation, &page)
}
