//! # What
//! `pg_buffercache`: what the buffers hold, and functions that send pages out.
//!
//! # PostgreSQL counterpart and differences
//! `contrib/pg_buffercache` 1.6. Pages of temporary tables are in the same buffers as all others, so that they are shown and sent out too. On which nodes of the machine's memory buffers lie is not told,
//! as by a PostgreSQL that was built without libnuma.

use base::{SqlError, SqlResult, sql_err};
use buffer::{BufferPool, Evicted, FrameFacts, Tag};
use session::Session;
use session::module::{Module, ModuleFunction, rows};
use session::routine::{Invocation, Returned};
use tuple::Datum;
use types::value::FromDatum;

use crate::relation::Relation;

use ModuleFunction::Session as F;

/// The extension.
pub static MODULE: Module = Module {
    name: "pg_buffercache",
    version: "1.6",
    comment: "examine the shared buffer cache",
    relocatable: true,
    script: include_str!("script.sql"),
    functions: &[
        ("pg_buffercache_pages", F(pages)),
        ("pg_buffercache_summary", F(summary)),
        ("pg_buffercache_usage_counts", F(usage_counts)),
        ("pg_buffercache_numa_pages", F(numa_pages)),
        ("pg_buffercache_evict", F(evict)),
        ("pg_buffercache_evict_relation", F(evict_relation)),
        ("pg_buffercache_evict_all", F(evict_all)),
    ],
    ..Module::LIBRARY
};

/// Greatest number of uses that is counted.
const MAX_USAGE: usize = 5;

/// What each buffer holds; a look for interrupts now and then.
fn each_buffer(pool: &BufferPool, each: &mut dyn FnMut(usize, Option<FrameFacts>)) -> SqlResult<()> {
    for index in 0..pool.buffers() {
        runtime::check_interrupts()?;
        each(index, pool.frame_facts(index));
    }
    Ok(())
}

fn pages(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    let pool = session.engine().pool();
    runtime::memory::ask(pool.buffers() * 9 * size_of::<Datum>())?;
    let mut list = Vec::with_capacity(pool.buffers());
    each_buffer(pool, &mut |index, facts| {
        let mut row = vec![Datum::Null; 9];
        row[0] = Datum::Int4(index as i32 + 1);
        if let Some(FrameFacts { tag, dirty, usage, pins }) = facts {
            row[1..].clone_from_slice(&[
                Datum::Oid(tag.rel.number),
                Datum::Oid(tag.rel.tablespace.0),
                Datum::Oid(tag.rel.database.0),
                Datum::Int2(tag.fork as i16),
                Datum::Int8(i64::from(tag.block.0)),
                Datum::Bool(dirty),
                Datum::Int2(i16::from(usage)),
                Datum::Int4(pins as i32),
            ]);
        }
        list.push(row);
    })?;
    rows(session, invocation, list)
}

fn summary(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    let (mut used, mut unused, mut dirty, mut pinned, mut uses) = (0, 0, 0, 0, 0);
    each_buffer(session.engine().pool(), &mut |_, facts| match facts {
        Some(facts) => {
            used += 1;
            uses += i64::from(facts.usage);
            dirty += i32::from(facts.dirty);
            pinned += i32::from(facts.pins > 0);
        }
        None => unused += 1,
    })?;
    let average = if used == 0 { Datum::Null } else { Datum::Float8(uses as f64 / f64::from(used)) };
    let row = vec![Datum::Int4(used), Datum::Int4(unused), Datum::Int4(dirty), Datum::Int4(pinned), average];
    rows(session, invocation, [row])
}

fn usage_counts(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    let mut counts = [[0; 3]; MAX_USAGE + 1];
    each_buffer(session.engine().pool(), &mut |_, facts| {
        let facts = facts.map_or((0, false, 0), |facts| (facts.usage, facts.dirty, facts.pins));
        let [buffers, dirty, pinned] = &mut counts[usize::from(facts.0).min(MAX_USAGE)];
        *buffers += 1;
        *dirty += i32::from(facts.1);
        *pinned += i32::from(facts.2 > 0);
    })?;
    let row = |(usage, [buffers, dirty, pinned]): (usize, [i32; 3])| {
        vec![Datum::Int4(usage as i32), Datum::Int4(buffers), Datum::Int4(dirty), Datum::Int4(pinned)]
    };
    rows(session, invocation, counts.into_iter().enumerate().map(row))
}

fn numa_pages(_: &Session, _: &Invocation<'_>) -> SqlResult<Returned> {
    Err(SqlError::internal("libnuma initialization failed or NUMA is not supported on this platform"))
}

fn check_superuser(session: &Session, function: &str) -> SqlResult<()> {
    if session.has_all_rights()? {
        return Ok(());
    }
    Err(sql_err!(INSUFFICIENT_PRIVILEGE, "must be superuser to use {function}()"))
}

fn evict(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    check_superuser(session, "pg_buffercache_evict")?;
    let (id, pool) = (i32::from_datum(&invocation.args[0]), session.engine().pool());
    if id < 1 || id as usize > pool.buffers() {
        return Err(SqlError::internal(format!("bad buffer ID: {id}")));
    }
    let Evicted { evicted, written } = pool.evict_frame(id as usize - 1, |_| true)?.unwrap_or_default();
    rows(session, invocation, [vec![Datum::Bool(evicted), Datum::Bool(written)]])
}

/// Evicts all pages that satisfy a condition.
fn evict_where(
    session: &Session,
    invocation: &Invocation<'_>,
    wanted: impl Fn(Tag) -> bool,
) -> SqlResult<Returned> {
    let (mut evicted, mut written, mut skipped) = (0, 0, 0);
    let pool = session.engine().pool();
    for index in 0..pool.buffers() {
        runtime::check_interrupts()?;
        let Some(one) = pool.evict_frame(index, &wanted)? else { continue };
        evicted += i32::from(one.evicted);
        skipped += i32::from(!one.evicted);
        written += i32::from(one.written);
    }
    let row = vec![Datum::Int4(evicted), Datum::Int4(written), Datum::Int4(skipped)];
    rows(session, invocation, [row])
}

fn evict_relation(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    check_superuser(session, "pg_buffercache_evict_relation")?;
    let relation = Relation::open(session, Relation::oid(session, &invocation.args[0])?)?;
    let file = relation.file();
    evict_where(session, invocation, |tag| Some(tag.rel) == file)
}

fn evict_all(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    check_superuser(session, "pg_buffercache_evict_all")?;
    evict_where(session, invocation, |_| true)
}
