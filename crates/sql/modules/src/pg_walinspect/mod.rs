//! # What
//! `pg_walinspect`: what is in the write-ahead log, read from its files up to what is flushed.
//!
//! # PostgreSQL counterpart and differences
//! `contrib/pg_walinspect` 1.1. The log is of this server's own form: managers and records are those that `pg_waldump` shows. A record does not name the one before it, so that `prev_lsn` is known of
//! those only that were read behind another.

use std::collections::BTreeMap;
use std::fmt::Write;

use base::{Lsn, PAGE_SIZE, SqlError, SqlResult, sql_err};
use session::Session;
use session::module::{Module, ModuleFunction, rows};
use session::routine::{Invocation, Returned};
use tuple::Datum;
use types::value::FromDatum;
use wal::{BlockRef, Figures, Image, Record, Rmgr, WalReader};

use ModuleFunction::Session as F;

/// The extension.
pub static MODULE: Module = Module {
    name: "pg_walinspect",
    version: "1.1",
    comment: "functions to inspect contents of PostgreSQL Write-Ahead Log",
    relocatable: true,
    script: include_str!("script.sql"),
    functions: &[
        ("pg_get_wal_record_info", F(record_info)),
        ("pg_get_wal_records_info", F(records_info)),
        ("pg_get_wal_stats", F(statistics)),
        ("pg_get_wal_block_info", F(block_info)),
    ],
    ..Module::LIBRARY
};

/// The first record begins at most so far behind the position that was asked for, in bytes; PostgreSQL looks through a page.
const SOUGHT: u64 = 1 << 20;

fn lsn(value: &Datum) -> Lsn {
    Lsn(i64::from_datum(value) as u64)
}

fn show(lsn: Lsn) -> Datum {
    Datum::Int8(lsn.0 as i64)
}

fn invalid(message: String, now: Lsn) -> SqlError {
    sql_err!(INVALID_PARAMETER_VALUE, "{message}")
        .detail(format!("Current WAL LSN on the database system is at {now}."))
}

/// The records that begin between two positions, in order.
struct Log {
    reader: WalReader,
    /// The first record, until it is asked for.
    first: Option<Record>,
    end: Lsn,
    previous: Option<Lsn>,
}

impl Log {
    /// Begins with the first record at or after `start`; log that is not flushed is not read.
    fn open(session: &Session, start: Lsn, end: Lsn) -> SqlResult<Log> {
        let wal = session.engine().wal();
        let options = wal.options();
        if start.0 < options.segment_size {
            return Err(sql_err!(INVALID_PARAMETER_VALUE, "could not read WAL at LSN {start}"));
        }
        let end = Lsn(end.0.min(wal.flushed().0));
        let mut reader = wal.reader(start);
        let found = reader.find(Lsn(end.0.min(start.0 + SOUGHT)));
        let Some(first) = found.map_err(|error| SqlError::internal(error.to_string()))? else {
            return Err(SqlError::internal(format!("could not find a valid record after {start}")));
        };
        Ok(Log { reader, first: Some(first), end, previous: None })
    }

    /// The next record, and the position of the one before it.
    fn next(&mut self) -> SqlResult<Option<(Record, Option<Lsn>)>> {
        runtime::check_interrupts()?;
        let record = match self.first.take() {
            Some(first) => Some(first),
            None if self.reader.position() < self.end => {
                let next = self.reader.next().transpose();
                next.map_err(|error| SqlError::internal(error.to_string()))?
            }
            None => None,
        };
        let Some(record) = record.filter(|record| record.lsn < self.end) else { return Ok(None) };
        let before = self.previous.replace(record.lsn);
        Ok(Some((record, before)))
    }
}

/// The records of the range that a call names.
fn log_of(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Log> {
    let (start, end) = (lsn(&invocation.args[0]), lsn(&invocation.args[1]));
    let now = session.engine().wal().flushed();
    if start > now {
        return Err(invalid("WAL start LSN must be less than current LSN".into(), now));
    }
    if start > end {
        return Err(sql_err!(INVALID_PARAMETER_VALUE, "WAL start LSN must be less than end LSN"));
    }
    Log::open(session, start, end)
}

fn int(value: usize) -> Datum {
    Datum::Int4(value as i32)
}

/// NULL instead of nothing.
fn text(value: &str) -> Datum {
    if value.is_empty() { Datum::Null } else { Datum::text(value) }
}

/// How a reference to a block reads.
fn reference(number: usize, block: &BlockRef<'_>, out: &mut String) {
    let (rel, fork) = (block.rel, block.fork.name());
    let (space, database) = (rel.tablespace, rel.database);
    if number > 0 {
        out.push(' ');
    }
    let _ = write!(
        out,
        "blkref #{number}: rel {space}/{database}/{} fork {fork} blk {}",
        rel.number, block.block
    );
    let Some(image) = block.image else { return };
    let hole = image.hole();
    let _ = write!(out, " (FPW); hole: offset: {}, length: {}", hole.start, hole.len());
    if let Some(method) = image.compression() {
        let saved = PAGE_SIZE - hole.len() - image.stored_length();
        let _ = write!(out, ", compression saved: {saved}, method: {}", method.as_str());
    }
}

fn record_row(record: &Record, before: Option<Lsn>) -> Vec<Datum> {
    let (name, said) = engine::describe(record);
    let mut blocks = String::new();
    for (number, block) in record.blocks().enumerate() {
        reference(number, &block, &mut blocks);
    }
    vec![
        show(record.lsn),
        show(record.end),
        before.map_or(Datum::Null, show),
        Datum::Oid(record.xid.0 as u32),
        Datum::text(record.rmgr.name()),
        Datum::text(name),
        int(record.total_length()),
        int(record.data().len()),
        int(record.image_length()),
        text(&said),
        text(&blocks),
    ]
}

fn record_info(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    let start = lsn(&invocation.args[0]);
    let now = session.engine().wal().flushed();
    if start > now {
        return Err(invalid("WAL input LSN must be less than current LSN".into(), now));
    }
    let found = Log::open(session, start, now)?.next()?;
    let Some((record, before)) = found else {
        return Err(SqlError::internal(format!("could not find a valid record after {start}")));
    };
    rows(session, invocation, [record_row(&record, before)])
}

fn records_info(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    let (mut log, mut list) = (log_of(session, invocation)?, Vec::new());
    while let Some((record, before)) = log.next()? {
        runtime::memory::ask(record.total_length())?;
        list.push(record_row(&record, before));
    }
    rows(session, invocation, list)
}

/// A line about these records, of `all`.
fn figures_row(name: &str, figures: Figures, all: Figures) -> Vec<Datum> {
    let part = |part: u64, whole: u64| Datum::Float8(crate::relation::percent(part, whole));
    let number = |value: u64| Datum::Int8(value as i64);
    vec![
        Datum::text(name),
        number(figures.count),
        part(figures.count, all.count),
        number(figures.record),
        part(figures.record, all.record),
        number(figures.image),
        part(figures.image, all.image),
        number(figures.combined()),
        part(figures.combined(), all.combined()),
    ]
}

fn statistics(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    let by_record = bool::from_datum(&invocation.args[2]);
    let mut log = log_of(session, invocation)?;
    let mut sums: BTreeMap<(Rmgr, u8), (String, Figures)> = BTreeMap::new();
    if !by_record {
        sums.extend(
            Rmgr::ALL.into_iter().map(|rmgr| ((rmgr, 0), (rmgr.name().to_owned(), Figures::default()))),
        );
    }
    let mut all = Figures::default();
    while let Some((record, _)) = log.next()? {
        let one = Figures::of(&record);
        all.add(one);
        let kind = if by_record { record.info } else { 0 };
        let named = || format!("{}/{}", record.rmgr.name(), engine::describe(&record).0);
        sums.entry((record.rmgr, kind)).or_insert_with(|| (named(), Figures::default())).1.add(one);
    }
    rows(session, invocation, sums.into_values().map(|(name, sum)| figures_row(&name, sum, all)))
}

fn image_facts(image: &Image<'_>) -> Datum {
    let method = image.compression().map(|method| match method.as_str() {
        "lz4" => "COMPRESS_LZ4",
        _ => "COMPRESS_PGLZ",
    });
    let hole = (!image.hole().is_empty()).then_some("HAS_HOLE");
    types::array::from_texts([hole, Some("APPLY"), method].into_iter().flatten().map(Some))
}

fn block_info(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    let with_data = bool::from_datum(&invocation.args[2]);
    let (mut log, mut list) = (log_of(session, invocation)?, Vec::new());
    while let Some((record, before)) = log.next()? {
        let (name, said) = engine::describe(&record);
        for (number, block) in record.blocks().enumerate() {
            runtime::memory::ask(if with_data { PAGE_SIZE + block.data.len() } else { 0 })?;
            list.push(block_row(&record, (before, name, &said), (number, &block), with_data)?);
        }
    }
    rows(session, invocation, list)
}

fn block_row(
    record: &Record,
    (before, name, said): (Option<Lsn>, &str, &str),
    (number, block): (usize, &BlockRef<'_>),
    with_data: bool,
) -> SqlResult<Vec<Datum>> {
    let mut page = None;
    if let Some(image) = block.image.filter(|_| with_data) {
        let mut bytes = Box::new([0; PAGE_SIZE]);
        image.restore(&mut bytes).map_err(|error| SqlError::internal(error.to_string()))?;
        page = Some(Datum::Bytes(bytes.to_vec().into()));
    }
    let data = (with_data && !block.data.is_empty()).then(|| Datum::Bytes(block.data.to_vec().into()));
    Ok(vec![
        show(record.lsn),
        show(record.end),
        before.map_or(Datum::Null, show),
        Datum::Int2(number as i16),
        Datum::Oid(block.rel.tablespace.0),
        Datum::Oid(block.rel.database.0),
        Datum::Oid(block.rel.number),
        Datum::Int2(block.fork as i16),
        Datum::Int8(i64::from(block.block.0)),
        Datum::Oid(record.xid.0 as u32),
        Datum::text(record.rmgr.name()),
        Datum::text(name),
        int(record.total_length()),
        int(record.data().len()),
        int(block.data.len()),
        int(block.image.map_or(0, |image| image.stored_length())),
        block.image.map_or(Datum::Null, |image| image_facts(&image)),
        text(said),
        data.unwrap_or(Datum::Null),
        page.unwrap_or(Datum::Null),
    ])
}
