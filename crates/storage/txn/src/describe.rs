//! What · Log records of this crate as text, for `waldump`.
//!
//! PostgreSQL counterpart · `xactdesc.c`, `clogdesc.c`: the same words, times in UTC.

use std::fmt;

use base::calendar::Fields;
use base::{RelFile, Xid};
use wal::{Record, Rmgr, WalDescribe};

use crate::commit::{self, MappedFile, info};
use crate::{LockTag, PreparedState, clog, logical, multixact, origin, standby};

/// Describes records of `Rmgr::Xact`, `Rmgr::Clog` and `Rmgr::Multixact`.
pub struct XactDescribe;

impl WalDescribe for XactDescribe {
    fn name(&self, record: &Record) -> &'static str {
        name(record.rmgr, record.info)
    }

    fn describe(&self, record: &Record, out: &mut dyn fmt::Write) -> fmt::Result {
        text(record.rmgr, record.info, record.xid, record.data(), out)
    }
}

fn name(rmgr: Rmgr, kind: u8) -> &'static str {
    match (rmgr, kind) {
        (Rmgr::Xact, info::COMMIT) => "COMMIT",
        (Rmgr::Xact, info::ABORT) => "ABORT",
        (Rmgr::Xact, info::PREPARE) => "PREPARE",
        (Rmgr::Xact, info::COMMIT_PREPARED) => "COMMIT_PREPARED",
        (Rmgr::Xact, info::ABORT_PREPARED) => "ABORT_PREPARED",
        (Rmgr::Xact, info::ORIGIN_SET) => "ORIGIN_SET",
        (Rmgr::Xact, info::ORIGIN_DROP) => "ORIGIN_DROP",
        (Rmgr::Clog, clog::ZERO_PAGE) => "ZEROPAGE",
        (Rmgr::Clog, clog::TRUNCATE) => "TRUNCATE",
        (Rmgr::Multixact, multixact::ZERO_PAGE) => "ZERO_PAGE",
        (Rmgr::Multixact, multixact::TRUNCATE) => "TRUNCATE_ID",
        (Rmgr::Multixact, multixact::CREATE) => "CREATE_ID",
        (Rmgr::Standby, standby::REMOVED) => "REMOVED",
        (Rmgr::Standby, standby::CUT) => "LOCK",
        (Rmgr::Logical, logical::DESCRIBE) => "DESCRIBE",
        (Rmgr::Logical, logical::TRUNCATE) => "TRUNCATE",
        (Rmgr::Logical, logical::MESSAGE) => "MESSAGE",
        (Rmgr::Logical, logical::POINT) => "POINT",
        _ => "UNKNOWN",
    }
}

fn text(rmgr: Rmgr, kind: u8, xid: Xid, data: &[u8], out: &mut dyn fmt::Write) -> fmt::Result {
    match (rmgr, kind) {
        (Rmgr::Clog, clog::ZERO_PAGE) | (Rmgr::Multixact, multixact::ZERO_PAGE) => {
            match data.try_into().map(u64::from_le_bytes) {
                Ok(page) => write!(out, "page {page}"),
                Err(_) => Ok(()),
            }
        }
        (Rmgr::Clog, clog::TRUNCATE) | (Rmgr::Multixact, multixact::TRUNCATE) => {
            match data.try_into().map(u64::from_le_bytes) {
                Ok(oldest) => write!(out, "before {oldest}"),
                Err(_) => Ok(()),
            }
        }
        (Rmgr::Standby, standby::REMOVED) => match data.try_into().map(u64::from_le_bytes) {
            Ok(limit) => write!(out, "snapshotConflictHorizon: {limit}"),
            Err(_) => Ok(()),
        },
        (Rmgr::Standby, standby::CUT) => match standby::decode_cut(data) {
            Some(standby::Conflict::Cut(LockTag::Relation { database, relation }, file)) => {
                write!(out, "db {database} rel {relation} file {file}")
            }
            _ => Ok(()),
        },
        (Rmgr::Multixact, _) => match multixact::entries(data) {
            Some((first, count)) => write!(out, "{first}: {count} entries"),
            None => Ok(()),
        },
        (Rmgr::Xact, info::PREPARE) => {
            let Some(state) = PreparedState::decode(data) else { return Ok(()) };
            write!(out, "gid {}: {}", state.gid, Utc(state.time))?;
            files(out, "rels(commit)", &state.commit_files)?;
            files(out, "rels(abort)", &state.abort_files)?;
            xids(out, &state.subxids)?;
            bytes(out, state.invalidations.len())
        }
        (Rmgr::Xact, info::ORIGIN_SET | info::ORIGIN_DROP) => match origin::decode_record(data) {
            Some((number, remote)) => write!(out, "{number} at {remote}"),
            None => Ok(()),
        },
        (Rmgr::Xact, _) => {
            let Some(end) = commit::decode(xid, data) else { return Ok(()) };
            if matches!(kind, info::COMMIT_PREPARED | info::ABORT_PREPARED) {
                write!(out, "{xid}: ")?;
            }
            write!(out, "{}", Utc(end.time))?;
            files(out, "rels", &end.files)?;
            mapped(out, &end.mapped)?;
            xids(out, &end.subxids)?;
            bytes(out, end.invalidations.len())?;
            match end.origin {
                Some(mark) => {
                    write!(out, "; origin: node {}, lsn {}, at {}", mark.origin, mark.remote, Utc(mark.time))
                }
                None => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

fn files(out: &mut dyn fmt::Write, title: &str, files: &[RelFile]) -> fmt::Result {
    if files.is_empty() {
        return Ok(());
    }
    write!(out, "; {title}:")?;
    files.iter().try_for_each(|file| write!(out, " {file}"))
}

fn mapped(out: &mut dyn fmt::Write, files: &[MappedFile]) -> fmt::Result {
    if files.is_empty() {
        return Ok(());
    }
    out.write_str("; relmap:")?;
    files.iter().try_for_each(|file| write!(out, " {}/{} to {}", file.database, file.relation, file.number))
}

fn xids(out: &mut dyn fmt::Write, xids: &[Xid]) -> fmt::Result {
    if xids.is_empty() {
        return Ok(());
    }
    out.write_str("; subxacts:")?;
    xids.iter().try_for_each(|xid| write!(out, " {xid}"))
}

fn bytes(out: &mut dyn fmt::Write, length: usize) -> fmt::Result {
    if length == 0 { Ok(()) } else { write!(out, "; inval msgs: {length} bytes") }
}

/// A time in microseconds since 2000-01-01, shown as PostgreSQL shows a `timestamptz` in UTC.
struct Utc(i64);

impl fmt::Display for Utc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fields { year, month, day, hour, minute, second, micros } = Fields::of(self.0);
        write!(f, "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{micros:06} UTC")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commit::Remains;
    use base::Oid;

    fn show(kind: u8, data: &[u8]) -> String {
        let mut out = String::new();
        text(Rmgr::Xact, kind, Xid(7), data, &mut out).unwrap();
        format!("{} {out}", name(Rmgr::Xact, kind))
    }

    #[test]
    fn times_are_those_of_the_calendar() {
        let day = |days: i64| Utc(days * 86_400_000_000 + 1).to_string();
        assert_eq!(day(0), "2000-01-01 00:00:00.000001 UTC");
        assert_eq!(day(59), "2000-02-29 00:00:00.000001 UTC");
        assert_eq!(day(60), "2000-03-01 00:00:00.000001 UTC");
        assert_eq!(day(-1), "1999-12-31 00:00:00.000001 UTC");
        assert_eq!(day(9821), "2026-11-21 00:00:00.000001 UTC");
        assert_eq!(day(36_584), "2100-03-01 00:00:00.000001 UTC");
    }

    #[test]
    fn records_say_what_they_hold() {
        let file = |number| RelFile { tablespace: Oid(1663), database: Oid(5), number };
        let state = PreparedState {
            xid: Xid(7),
            gid: "g".into(),
            subxids: vec![Xid(9)],
            commit_files: vec![file(1)],
            abort_files: vec![file(2)],
            ..PreparedState::default()
        };
        let start = "2000-01-01 00:00:00.000000 UTC";
        assert_eq!(
            show(info::PREPARE, &state.encode()),
            format!(
                "PREPARE gid g: {start}; rels(commit): {}; rels(abort): {}; subxacts: 9",
                file(1),
                file(2)
            )
        );
        let remains = Remains {
            xid: Xid(7),
            subxids: &[Xid(9)],
            files: &[file(1)],
            mapped: &[MappedFile { database: Oid(5), relation: Oid(2608), number: 16400 }],
            invalidations: b"abc",
            locks: &[],
            origin: Some(origin::Mark { origin: 4, remote: base::Lsn(0x1A0), time: 0 }),
        };
        let rest = format!(
            "relmap: 5/2608 to 16400; subxacts: 9; inval msgs: 3 bytes; origin: node 4, lsn 0/1A0, at {start}"
        );
        assert_eq!(
            show(info::COMMIT, &commit::encode(&remains, 0)),
            format!("COMMIT {start}; rels: {}; {rest}", file(1))
        );
        let bare = commit::encode(&Remains { xid: Xid(7), ..Remains::default() }, 0);
        assert_eq!(show(info::ABORT, &bare), format!("ABORT {start}"));
        assert_eq!(show(info::COMMIT_PREPARED, &bare), format!("COMMIT_PREPARED 7: {start}"));
        assert_eq!(show(info::PREPARE, b"damaged"), "PREPARE ");
    }
}
