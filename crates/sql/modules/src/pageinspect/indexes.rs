//! Pages of GiST, GIN, BRIN and hash indexes.

use base::{BlockNo, Fork, Oid, SqlError, SqlResult, Tid, sql_err};
use buffer::Tag;
use engine::OpenIndex;
use engine::inspect::{brin, gin, gist, hash};
use page::PageBytes;
use session::Session;
use session::module::{one_column, rows};
use session::routine::{BodyStatement, Invocation, Returned, Sees};
use tuple::Datum;
use types::array::Array;
use types::ids::tid_datum;
use types::oids;
use types::value::FromDatum;

use super::{check_superuser, invalid, page_of, read};
use crate::relation::Relation;

pub(super) fn not_here(function: &str, why: &str) -> SqlError {
    SqlError::not_supported(format!("{function}()")).detail(format!("In an index of this server {why}."))
}

/// The page that is given; none if nothing was ever written to it.
fn given(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Option<Box<PageBytes>>> {
    check_superuser(session, "raw page")?;
    let page = page_of(&invocation.args[0])?;
    Ok((!page::is_new(&page)).then_some(page))
}

/// What is said of a page of another kind.
fn not_valid(kind: &str) -> impl FnOnce(&'static str) -> SqlError {
    move |what| invalid(format!("input page is not a valid {kind} page")).detail(format!("{what}."))
}

/// The index that is given besides a page.
fn index_of(session: &Session, argument: &Datum, method: &str, shown: &str) -> SqlResult<Relation> {
    let relation = Relation::open(session, Relation::oid(session, argument)?)?;
    match &relation.index {
        Some(index) if index.method.name == method => Ok(relation),
        _ => Err(sql_err!(WRONG_OBJECT_TYPE, "\"{}\" is not a {shown} index", relation.name())),
    }
}

fn words(list: &[&str], call: &types::Call<'_>) -> SqlResult<Datum> {
    let all = list.iter().map(|word| Datum::text(word)).collect();
    Ok(Array::from_values(oids::text, all, call)?.to_datum())
}

fn tid(tid: Tid) -> Datum {
    tid_datum(tid.block.0, tid.offset)
}

fn nothing() -> SqlResult<Returned> {
    Ok(Returned::Value(Datum::Null))
}

fn link(next: Option<u32>) -> Datum {
    Datum::Int8(next.map_or(i64::from(u32::MAX), i64::from))
}

pub(super) fn gist_about(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    let Some(page) = given(session, invocation)? else { return nothing() };
    let about = gist::about(&page).map_err(not_valid("GiST"))?;
    let (lsn, nsn) = (Datum::Int8(page::lsn(&page).0 as i64), Datum::Int8(about.nsn.0 as i64));
    let flags = words(&about.flags, invocation.call)?;
    rows(session, invocation, [vec![lsn, nsn, link(about.next), flags]])
}

pub(super) fn gist_bytes(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    let Some(page) = given(session, invocation)? else { return rows(session, invocation, []) };
    let items = gist::items(&page).map_err(not_valid("GiST"))?;
    let row = |item: gist::Item| {
        vec![
            Datum::Int2(item.number as i16),
            tid(item.tid),
            Datum::Int2(item.bytes.len() as i16),
            Datum::Bool(item.dead),
            Datum::Bytes(item.bytes.into()),
        ]
    };
    rows(session, invocation, items.into_iter().map(row))
}

/// Names and types of an index's columns.
fn columns_of(session: &Session, index: Oid) -> SqlResult<Vec<(String, Oid)>> {
    let text = format!(
        "SELECT attname::pg_catalog.text, atttypid FROM pg_catalog.pg_attribute WHERE attrelid = {index} AND attnum > 0 ORDER BY attnum"
    );
    let statement = BodyStatement::of_text(&text)?;
    let mut all = Vec::new();
    session.run_in_body(&statement, &[], Sees::Now, 0, &mut |row| {
        let ty = if let Datum::Oid(oid) = row[1] { Oid(oid) } else { Oid::INVALID };
        all.push((<&str>::from_datum(&row[0]).to_owned(), ty));
        Ok(())
    })?;
    Ok(all)
}

/// A value between double quotes, where it is not a plain word.
fn shown(session: &Session, ty: Oid, value: &Datum) -> SqlResult<String> {
    if value.is_null() {
        return Ok("null".into());
    }
    let text = session.value_text(ty, value)?;
    let plain = !text.is_empty() && !text.contains(|c: char| "\"\\(),".contains(c) || c.is_whitespace());
    let escaped = || text.replace('\\', "\\\\").replace('"', "\"\"");
    Ok(if plain { text } else { format!("\"{}\"", escaped()) })
}

pub(super) fn gist_items(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    let page = given(session, invocation)?;
    let relation = index_of(session, &invocation.args[1], "gist", "GiST")?;
    let Some(page) = page else { return rows(session, invocation, []) };
    let about = gist::about(&page).map_err(not_valid("GiST"))?;
    let open = relation.index.as_ref().and_then(|index| index.rel.as_ref());
    let open = open.ok_or_else(|| SqlError::internal("an index without files"))?;
    let leaf = about.flags.contains(&"leaf");
    let columns = columns_of(session, relation.index.as_ref().map_or(Oid::INVALID, |index| index.oid))?;
    let mut list = Vec::new();
    for item in gist::items(&page).map_err(not_valid("GiST"))? {
        let values =
            gist::values(&item, open.desc(), leaf).map_err(|what| sql_err!(INDEX_CORRUPTED, "{what}"))?;
        let (mut names, mut keys) = (Vec::new(), Vec::new());
        for (value, (name, ty)) in values.iter().zip(&columns) {
            names.push(types::text::quote_identifier(name));
            keys.push(shown(session, *ty, value)?);
        }
        list.push(vec![
            Datum::Int2(item.number as i16),
            tid(item.tid),
            Datum::Int2(item.bytes.len() as i16),
            Datum::Bool(item.dead),
            Datum::text(&format!("({})=({})", names.join(", "), keys.join(", "))),
        ]);
    }
    rows(session, invocation, list)
}

pub(super) fn gin_about(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    let Some(page) = given(session, invocation)? else { return nothing() };
    let about = gin::about(&page).map_err(not_valid("GIN"))?;
    let flags = words(&about.flags, invocation.call)?;
    rows(session, invocation, [vec![link(about.next), Datum::Int4(i32::from(about.items)), flags]])
}

pub(super) fn gin_leaf(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    let Some(page) = given(session, invocation)? else { return rows(session, invocation, []) };
    let items = gin::leaf(&page).map_err(not_valid("GIN data leaf"))?;
    let row = |item: gin::Rows| {
        let tids = item.tids.iter().map(|row| tid(*row)).collect();
        let tids = Array::from_values(oids::tid, tids, invocation.call)?.to_datum();
        let first = item.tids.first().map_or(Datum::Null, |row| tid(*row));
        Ok(vec![first, Datum::Int2(item.bytes as i16), tids])
    };
    let list: SqlResult<Vec<_>> = items.into_iter().map(row).collect();
    rows(session, invocation, list?)
}

pub(super) fn brin_kind(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    let Some(page) = given(session, invocation)? else { return nothing() };
    Ok(Returned::Value(Datum::text(brin::kind(&page).map_err(not_valid("BRIN"))?)))
}

pub(super) fn brin_meta(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    let Some(page) = given(session, invocation)? else { return nothing() };
    let meta = brin::meta(&page).map_err(not_valid("BRIN meta"))?;
    let row = vec![
        Datum::text(&format!("0x{:08X}", meta.magic)),
        Datum::Int4(1),
        Datum::Int4(meta.pages_per_range as i32),
        Datum::Int8(i64::from(meta.last_directory)),
    ];
    rows(session, invocation, [row])
}

pub(super) fn brin_map(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    let Some(page) = given(session, invocation)? else { return one_column(session, []) };
    let map = brin::map(&page).map_err(not_valid("BRIN revmap"))?;
    one_column(session, map.into_iter().map(|(block, item)| tid_datum(block, item)))
}

pub(super) fn brin_items(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    let page = given(session, invocation)?;
    let relation = index_of(session, &invocation.args[1], "brin", "BRIN")?;
    let Some(page) = page else { return rows(session, invocation, []) };
    let index = relation.index.as_ref().ok_or_else(|| SqlError::internal("an index was expected"))?;
    let (Some(OpenIndex::Brin(rel)), Some(file)) = (&index.rel, relation.file()) else {
        return Err(SqlError::internal("an index without files"));
    };
    let meta = read(session, Tag::new(file, Fork::Main, BlockNo(0)))?;
    let pages = brin::meta(&meta).map_err(not_valid("BRIN meta"))?.pages_per_range;
    let columns = columns_of(session, index.oid)?;
    let mut list = Vec::new();
    for item in brin::items(rel, &page, pages).map_err(not_valid("BRIN regular"))? {
        let empty = item.values.is_none() && !item.has_null;
        let value = match &item.values {
            Some(values) => {
                let ty = columns.get(item.column - 1).map_or(Oid::INVALID, |(_, ty)| *ty);
                Datum::text(&bounds(session, ty, values)?)
            }
            None => Datum::Null,
        };
        list.push(vec![
            Datum::Int4(i32::from(item.item)),
            Datum::Int8(item.block as i64),
            Datum::Int4(item.column as i32),
            Datum::Bool(item.values.is_none()),
            Datum::Bool(item.has_null),
            Datum::Bool(item.placeholder),
            Datum::Bool(empty),
            value,
        ]);
    }
    rows(session, invocation, list)
}

/// What is kept of a column: values of its type as they are, others as bytes.
fn bounds(session: &Session, ty: Oid, values: &[Datum]) -> SqlResult<String> {
    let is_pair = values.len() == 2;
    let texts: SqlResult<Vec<String>> = values
        .iter()
        .map(|value| match value {
            _ if is_pair => session.value_text(ty, value),
            Datum::Bytes(_) => session.value_text(oids::bytea, value),
            other => Ok(format!("{other:?}")),
        })
        .collect();
    Ok(format!("{{{}}}", texts?.join(" .. ")))
}

pub(super) fn hash_kind(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    let Some(page) = given(session, invocation)? else {
        return Ok(Returned::Value(Datum::text("unused")));
    };
    Ok(Returned::Value(Datum::text(hash::about(&page).map_err(not_valid("hash"))?.kind)))
}

pub(super) fn hash_statistics(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    let Some(page) = given(session, invocation)? else { return nothing() };
    let about = hash::about(&page).map_err(not_valid("hash"))?;
    if about.kind != "bucket" {
        return Err(invalid("page is not a hash bucket page".into()));
    }
    let int = |value: usize| Datum::Int4(value as i32);
    let row = vec![
        int(about.live),
        int(about.dead),
        int(base::PAGE_SIZE),
        int(about.free),
        link(None),
        link(about.next),
        Datum::Null,
        Datum::Int4(i32::from(about.flags)),
        Datum::Int4(about.tag as i32),
    ];
    rows(session, invocation, [row])
}

pub(super) fn hash_items(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    let Some(page) = given(session, invocation)? else { return rows(session, invocation, []) };
    let items = hash::items(&page).map_err(not_valid("hash bucket"))?;
    let row = |(at, (row, code)): (usize, (Tid, u32))| {
        vec![Datum::Int4(at as i32 + 1), tid(row), Datum::Int8(i64::from(code))]
    };
    rows(session, invocation, items.into_iter().enumerate().map(row))
}
