//! # What
//! `pageinspect`: the bytes of pages, and what they mean.
//!
//! # Layout
//! Here: pages of any kind, and those of the free-space map. `versions`: pages of tables. `tree`: those of B-trees. `indexes`: those of GiST, GIN, BRIN and hash indexes.
//!
//! # PostgreSQL counterpart and differences
//! `contrib/pageinspect` 1.13. What there is only in PostgreSQL's indexes fails and says so: figures of GIN's meta page, overflow and meta pages of hash indexes. Pages have this server's layout: `page_header` shows the lower
//! half of a page's check sum; xids are the lower halves of what they stand for; a free-space map has a byte for each page.

mod indexes;
mod tree;
mod versions;

use base::{BlockNo, Fork, PAGE_SIZE, SqlError, SqlResult, SqlState, sql_err};
use buffer::{BufferError, Tag};
use page::PageBytes;
use session::Session;
use session::lookup::names;
use session::module::{Module, ModuleFunction, rows};
use session::routine::{Invocation, Returned};
use tuple::Datum;
use types::value::FromDatum;

use crate::relation::Relation;

use ModuleFunction::Session as F;

/// The extension.
pub static MODULE: Module = Module {
    name: "pageinspect",
    version: "1.13",
    comment: "inspect the contents of database pages at a low level",
    relocatable: true,
    script: include_str!("script.sql"),
    functions: &[
        ("get_raw_page_1_9", F(|session, call| raw(session, &call.args[0], Fork::Main, &call.args[1]))),
        ("get_raw_page_fork_1_9", F(raw_of_fork)),
        ("page_header", F(header)),
        ("page_checksum_1_9", F(checksum)),
        ("heap_page_items", F(versions::items)),
        ("tuple_data_split", F(versions::split)),
        ("heap_tuple_infomask_flags", F(versions::flags)),
        ("fsm_page_contents", F(free_space_map)),
        ("bt_metap", F(tree::meta)),
        ("bt_page_stats_1_9", F(tree::statistics)),
        ("bt_multi_page_stats", F(tree::statistics_of_several)),
        ("bt_page_items_1_9", F(tree::items)),
        ("bt_page_items_bytea", F(tree::items_of_bytes)),
        ("gist_page_opaque_info", F(indexes::gist_about)),
        ("gist_page_items", F(indexes::gist_items)),
        ("gist_page_items_bytea", F(indexes::gist_bytes)),
        ("gin_page_opaque_info", F(indexes::gin_about)),
        ("gin_leafpage_items", F(indexes::gin_leaf)),
        (
            "gin_metapage_info",
            F(|_, _| Err(indexes::not_here("gin_metapage_info", "the meta page keeps no figures"))),
        ),
        ("brin_page_type", F(indexes::brin_kind)),
        ("brin_metapage_info", F(indexes::brin_meta)),
        ("brin_revmap_data", F(indexes::brin_map)),
        ("brin_page_items", F(indexes::brin_items)),
        ("hash_page_type", F(indexes::hash_kind)),
        ("hash_page_stats", F(indexes::hash_statistics)),
        ("hash_page_items", F(indexes::hash_items)),
        (
            "hash_bitmap_info",
            F(|_, _| Err(indexes::not_here("hash_bitmap_info", "there are no overflow pages"))),
        ),
        (
            "hash_metapage_info",
            F(|_, _| Err(indexes::not_here("hash_metapage_info", "there is no meta page"))),
        ),
    ],
    ..Module::LIBRARY
};

/// Fails for others than superusers; `what` they would use.
fn check_superuser(session: &Session, what: &str) -> SqlResult<()> {
    if session.has_all_rights()? {
        return Ok(());
    }
    Err(sql_err!(INSUFFICIENT_PRIVILEGE, "must be superuser to use {what} functions"))
}

fn invalid(message: String) -> SqlError {
    SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message)
}

/// The page that bytes are.
fn page_of(bytes: &Datum) -> SqlResult<Box<PageBytes>> {
    let bytes = <&[u8]>::from_datum(bytes);
    let page = bytes.try_into().map(|page: &PageBytes| Box::new(*page));
    page.map_err(|_| {
        invalid("invalid page size".into())
            .detail(format!("Expected {PAGE_SIZE} bytes, got {}.", bytes.len()))
    })
}

/// The number of a block, which there may be.
fn block_of(value: &Datum) -> SqlResult<BlockNo> {
    let block = u32::try_from(i64::from_datum(value)).ok().filter(|block| *block != u32::MAX);
    block.map(BlockNo).ok_or_else(|| invalid("invalid block number".into()))
}

/// A copy of a page.
fn read(session: &Session, tag: Tag) -> SqlResult<Box<PageBytes>> {
    let pin = session.engine().pool().read(tag)?;
    let page = pin.shared();
    Ok(Box::new(*page))
}

fn raw_of_fork(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    let [relation, fork, block] = invocation.args else {
        return Err(SqlError::internal("three arguments were expected"));
    };
    raw(session, relation, names::fork_named(<&str>::from_datum(fork))?, block)
}

fn raw(session: &Session, relation: &Datum, fork: Fork, block: &Datum) -> SqlResult<Returned> {
    let block = block_of(block)?;
    check_superuser(session, "raw page")?;
    let relation = Relation::open(session, Relation::oid(session, relation)?)?;
    let Some(file) = relation.file() else {
        return Err(sql_err!(WRONG_OBJECT_TYPE, "cannot get raw page from relation \"{}\"", relation.name())
            .detail(relation.not_for_kind()));
    };
    relation.check_not_others(session, "tables")?;
    if !session.engine().smgr().exists(file, fork).map_err(BufferError::File)? {
        let path = format!("{file}{}", fork.suffix());
        return Err(sql_err!(UNDEFINED_FILE, "could not open file \"{path}\": No such file or directory"));
    }
    if block.0 >= Relation::blocks(session, file, fork)? {
        let name = relation.name();
        return Err(invalid(format!("block number {block} is out of range for relation \"{name}\"")));
    }
    let page = read(session, Tag::new(file, fork, block))?;
    Ok(Returned::Value(Datum::Bytes(page.to_vec().into())))
}

/// The lower half of a check sum, as a number with a sign.
fn half(checksum: u32) -> Datum {
    Datum::Int2(checksum as u16 as i16)
}

fn header(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    check_superuser(session, "raw page")?;
    let page = page_of(&invocation.args[0])?;
    let int = |value: usize| Datum::Int4(value as i32);
    let row = vec![
        Datum::Int8(page::lsn(&page).0 as i64),
        half(page::checksum(&page)),
        Datum::Int2(page::flags_of(&page) as i16),
        int(page::lower(&page)),
        int(page::upper(&page)),
        int(page::special_offset(&page)),
        int(if page::is_new(&page) { 0 } else { PAGE_SIZE }),
        Datum::Int2(page::version(&page) as i16),
        Datum::Oid(page::prune_xid(&page).0 as u32),
    ];
    rows(session, invocation, [row])
}

fn checksum(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    check_superuser(session, "raw page")?;
    let block = block_of(&invocation.args[1])?;
    let mut page = page_of(&invocation.args[0])?;
    if page::is_new(&page) {
        return Ok(Returned::Value(Datum::Null));
    }
    page::set_checksum(&mut page, block);
    Ok(Returned::Value(half(page::checksum(&page))))
}

/// The bytes of a page of the map that are not 0, by their numbers.
fn free_space_map(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    use std::fmt::Write;
    check_superuser(session, "raw page")?;
    let page = page_of(&invocation.args[0])?;
    let mut out = String::new();
    for (n, byte) in page[page::HEADER_SIZE..].iter().enumerate().filter(|(_, byte)| **byte != 0) {
        let _ = writeln!(out, "{n}: {byte}");
    }
    Ok(Returned::Value(Datum::text(&out)))
}
