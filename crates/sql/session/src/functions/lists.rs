//! Lists of what the server knows by itself: keywords, time zones and their abbreviations, how it was built.

use std::path::Path;

use base::SqlResult;
use base::settings::Setting;
use tuple::Datum;
use types::SessionFn;
use types::interval::Interval;
use types::timezone::{self, Local, TimeZone};

use super::Row;
use crate::Session;

/// Words that are none yet in PostgreSQL 18, though the grammar knows them.
const LATER_KEYWORDS: [&str; 5] = ["ignore", "lsn", "repack", "respect", "wait"];

/// What `pg_config` tells, where it is known.
const BUILD: [&str; 23] = [
    "BINDIR",
    "DOCDIR",
    "HTMLDIR",
    "INCLUDEDIR",
    "PKGINCLUDEDIR",
    "INCLUDEDIR-SERVER",
    "LIBDIR",
    "PKGLIBDIR",
    "LOCALEDIR",
    "MANDIR",
    "SHAREDIR",
    "SYSCONFDIR",
    "PGXS",
    "CONFIGURE",
    "CC",
    "CPPFLAGS",
    "CFLAGS",
    "CFLAGS_SL",
    "LDFLAGS",
    "LDFLAGS_EX",
    "LDFLAGS_SL",
    "LIBS",
    "VERSION",
];

impl Session {
    pub(super) fn list_rows(&self, id: SessionFn) -> SqlResult<Option<Vec<Row>>> {
        use SessionFn as F;
        Ok(Some(match id {
            F::PgGetKeywords => keywords(),
            F::PgTimezoneNames => self.time_zones()?,
            F::PgTimezoneAbbrevsAbbrevs => {
                let format = self.format();
                let all = timezone::abbreviations(format.abbreviations, format.transaction_time);
                all.map(abbreviation_row).collect()
            }
            F::PgTimezoneAbbrevsZone => self.own_abbreviations(),
            F::PgConfig => self.build(),
            _ => return Ok(None),
        }))
    }

    /// The IANA database, as of the beginning of the transaction.
    fn time_zones(&self) -> SqlResult<Vec<Row>> {
        let now = self.format().transaction_time;
        let mut rows = Vec::new();
        for name in timezone::names() {
            runtime::check_interrupts()?;
            let Some(zone) = TimeZone::named(name) else { continue };
            let local = zone.at(now);
            let abbreviation = Datum::text(&local.abbreviation);
            rows.push(vec![Datum::text(name), abbreviation, seconds(local.offset), local.dst.into()]);
        }
        Ok(rows)
    }

    /// The abbreviations that the session's own time zone has used.
    fn own_abbreviations(&self) -> Vec<Row> {
        let format = self.format();
        format.time_zone.abbreviations(format.transaction_time).into_iter().map(abbreviation_row).collect()
    }

    /// Where its files are and how it was compiled, under the names of `pg_config`.
    fn build(&self) -> Vec<Row> {
        let binary = std::env::current_exe().ok();
        let folder = binary.as_deref().and_then(Path::parent).map(|path| path.display().to_string());
        let version = format!("PostgreSQL {}", self.settings.borrow().text(Setting::server_version));
        let value = |name: &str| match name {
            "BINDIR" => folder.as_deref(),
            "CC" => Some("rustc"),
            "VERSION" => Some(&*version),
            _ => None,
        };
        let row = |name: &&str| vec![Datum::text(name), Datum::text(value(name).unwrap_or("not recorded"))];
        BUILD.iter().map(row).collect()
    }
}

fn abbreviation_row(local: Local) -> Row {
    vec![Datum::text(&local.abbreviation), seconds(local.offset), local.dst.into()]
}

fn seconds(offset: i32) -> Datum {
    let micros = i64::from(offset) * 1_000_000;
    Datum::Bytes(Interval { months: 0, days: 0, micros }.to_payload())
}

fn keywords() -> Vec<Row> {
    let known = parse::keywords().filter(|word| !LATER_KEYWORDS.contains(&word.name));
    known
        .map(|word| {
            let (category, description) = match word.kind {
                parse::KeywordKind::Unreserved => ('U', "unreserved"),
                parse::KeywordKind::ColumnName => ('C', "unreserved (cannot be function or type name)"),
                parse::KeywordKind::FunctionOrType => ('T', "reserved (can be function or type name)"),
                parse::KeywordKind::Reserved => ('R', "reserved"),
            };
            let label = if word.bare_label { "can be bare label" } else { "requires AS" };
            vec![
                Datum::text(word.name),
                Datum::Char(category as u8),
                word.bare_label.into(),
                Datum::text(description),
                Datum::text(label),
            ]
        })
        .collect()
}
