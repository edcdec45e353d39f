//! `pg_waldump`, or `stampede waldump`: shows the records of the write-ahead log, a line each, which begins as PostgreSQL's do.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use base::{Lsn, TimelineId};
use wal::{History, InspectedSegment, Record, WalReader, is_segment_name};

use super::answered;
use super::options::{Flag, Given, flag, parse, value};
use super::say;

const FLAGS: &[Flag] = &[
    value(Some('p'), "path"),
    value(Some('s'), "start"),
    value(Some('e'), "end"),
    value(Some('n'), "limit"),
    value(Some('r'), "rmgr"),
    value(Some('t'), "timeline"),
    value(Some('x'), "xid"),
    flag(Some('w'), "fullpage"),
    flag(Some('b'), "bkp-details"),
    flag(Some('q'), "quiet"),
    flag(Some('V'), "version"),
    flag(Some('?'), "help"),
];

const HELP: &str = "\
pg_waldump shows the records of a write-ahead log.

Usage:
  pg_waldump [OPTION]... [STARTSEG [ENDSEG]]

Options:
  -p, --path=PATH     pg_wal directory, or data directory (default: current
                      directory, ./pg_wal, $PGDATA/pg_wal)
  -s, --start=LSN     first position
  -e, --end=LSN       stop before this position
  -n, --limit=N       number of records to display
  -r, --rmgr=NAME     only show records of this resource manager
  -t, --timeline=TLI  timeline to read (default: that of STARTSEG, or 1)
  -x, --xid=XID       only show records of this transaction
  -w, --fullpage      only show records with images of pages
  -b, --bkp-details   show the blocks of each record
  -q, --quiet         no output but errors
";

pub(super) fn main(args: &[String]) -> i32 {
    let given = match parse(args, FLAGS) {
        Ok(given) => given,
        Err(message) => return complain(&message),
    };
    if answered(&given, "pg_waldump", HELP) {
        return 0;
    }
    let number = |name: &str| {
        given
            .get(name)
            .map(|text| parse_lsn(text).ok_or(format!("invalid WAL location: \"{text}\"")))
            .transpose()
    };
    let (start, end) = match (number("start"), number("end")) {
        (Ok(start), Ok(end)) => (start, end),
        (Err(message), _) | (_, Err(message)) => return complain(&message),
    };
    let limit = match given.get("limit").map(str::parse::<usize>) {
        None => usize::MAX,
        Some(Ok(limit)) => limit,
        Some(Err(_)) => return complain("invalid value for option -n"),
    };
    let (timeline, xid) = match (plain(&given, "timeline"), plain(&given, "xid")) {
        (Ok(timeline), Ok(xid)) => (timeline.map(|number| TimelineId(number as u32)), xid),
        (Err(message), _) | (_, Err(message)) => return complain(&message),
    };
    let view = View {
        rmgr: given.get("rmgr").map(str::to_string),
        blocks: given.has("bkp-details"),
        quiet: given.has("quiet"),
        xid,
        images: given.has("fullpage"),
    };
    let words: Vec<&str> = given.words.iter().map(String::as_str).collect();
    match locate(given.get("path"), words.first().copied(), timeline, start) {
        Err(message) => complain(&message),
        Ok((dir, segment)) => match dump(&dir, (&segment, words.get(1).copied()), start, end, limit, &view) {
            Ok(()) => 0,
            Err(message) => complain(&message),
        },
    }
}

fn complain(message: &str) -> i32 {
    eprintln!("pg_waldump: error: {message}");
    1
}

/// A number that an option has, if it was given.
fn plain(given: &Given, name: &str) -> Result<Option<u64>, String> {
    let invalid = |text: &str| format!("invalid value for option --{name}: \"{text}\"");
    given.get(name).map(|text| text.parse().map_err(|_| invalid(text))).transpose()
}

/// `16/B374D848`.
fn parse_lsn(text: &str) -> Option<Lsn> {
    let (high, low) = text.split_once('/')?;
    let half = |text: &str| u32::from_str_radix(text, 16).ok();
    Some(Lsn((u64::from(half(high)?) << 32) | u64::from(half(low)?)))
}

/// The directory of the log, and the segment that is named, or has the position to begin at, or is the first of a time line.
fn locate(
    path: Option<&str>,
    segment: Option<&str>,
    timeline: Option<TimelineId>,
    start: Option<Lsn>,
) -> Result<(PathBuf, PathBuf), String> {
    let file = segment.map(Path::new);
    // Where a file is named with its folder, no other is looked for.
    if let Some(file) = file
        && let Some(parent) = file.parent().filter(|parent| !parent.as_os_str().is_empty())
    {
        return Ok((parent.to_path_buf(), file.to_path_buf()));
    }
    let dir = log_directory(path)?;
    if let Some(file) = file {
        return Ok((dir.clone(), dir.join(file)));
    }
    let entries = runtime::fs::read_dir(&dir).map_err(|error| {
        format!("could not open directory \"{}\": {}", dir.display(), base::os_error(&error))
    })?;
    let mut names: Vec<&str> =
        entries.iter().map(|entry| entry.name.as_str()).filter(|name| is_segment_name(name)).collect();
    names.sort_unstable();
    let wanted = timeline.unwrap_or(TimelineId::FIRST);
    let of_timeline = |name: &&&str| name.starts_with(&format!("{:08X}", wanted.0));
    // All segments have one size.
    let size = names.iter().find_map(|name| WalReader::inspect_segment(&dir.join(name)).ok().flatten());
    let named = start.zip(size).map(|(start, size)| wal::segment_file_name(wanted, start, size.segment_size));
    let first = match (&named, names.iter().find(of_timeline).or(names.first())) {
        (Some(named), _) => named.as_str(),
        (None, Some(first)) => first,
        (None, None) => return Err(format!("could not find any WAL file in \"{}\"", dir.display())),
    };
    Ok((dir.clone(), dir.join(first)))
}

/// The folder of the log: what is given or `pg_wal` below it, or else here, below here, or below `PGDATA`.
fn log_directory(path: Option<&str>) -> Result<PathBuf, String> {
    let has_segments = |dir: &Path| {
        let entries = runtime::fs::read_dir(dir).unwrap_or_default();
        entries.iter().any(|entry| is_segment_name(&entry.name))
    };
    let below = |dir: &Path| dir.join("pg_wal");
    let places = match path {
        Some(path) => vec![PathBuf::from(path), below(Path::new(path))],
        None => {
            let data = super::data_directory(None);
            let here = [PathBuf::from("."), below(Path::new("."))];
            here.into_iter().chain(data.map(|data| below(&data))).collect()
        }
    };
    let found = places.iter().find(|dir| has_segments(dir)).cloned();
    found.ok_or_else(|| format!("could not find any WAL file in \"{}\"", path.unwrap_or(".")))
}

struct View {
    rmgr: Option<String>,
    blocks: bool,
    quiet: bool,
    xid: Option<u64>,
    images: bool,
}

impl View {
    fn shows(&self, record: &Record) -> bool {
        self.rmgr.as_deref().is_none_or(|name| name.eq_ignore_ascii_case(record.rmgr.name()))
            && self.xid.is_none_or(|xid| xid == record.xid.0)
            && (!self.images || record.blocks().any(|block| block.image.is_some()))
    }
}

fn dump(
    dir: &Path,
    (segment, last): (&Path, Option<&str>),
    start: Option<Lsn>,
    end: Option<Lsn>,
    limit: usize,
    view: &View,
) -> Result<(), String> {
    let inspect = |file: &Path| {
        let inspected = WalReader::inspect_segment(file).map_err(|error| error.to_string())?;
        inspected.ok_or_else(|| format!("invalid WAL file \"{}\"", file.display()))
    };
    let InspectedSegment { first, segment_size, system_identifier, timeline } = inspect(segment)?;
    let end = match last {
        None => end,
        Some(last) => {
            Some(Lsn(inspect(&dir.join(last))?.first.0 / segment_size * segment_size + segment_size))
        }
    };
    let open =
        |from| WalReader::open(dir, segment_size, Some(system_identifier), from).along(History::of(timeline));
    let from = start.unwrap_or(first);
    let before = open(from).record_before(from).map_err(|error| error.to_string())?;
    let mut previous = before.unwrap_or(Lsn::INVALID);
    let mut reader = open(from);
    let mut shown = 0;
    for record in &mut reader {
        let record = record.map_err(|error| error.to_string())?;
        if end.is_some_and(|end| record.lsn >= end) {
            return Ok(());
        }
        let behind = std::mem::replace(&mut previous, record.lsn);
        if !view.shows(&record) {
            continue;
        }
        shown += 1;
        if !view.quiet && !say::write(format_args!("{}", line(&record, behind, view.blocks))) {
            return Ok(());
        }
        if shown == limit {
            return Ok(());
        }
    }
    match reader.end_reason() {
        // What PostgreSQL says of a log that ends with nothing.
        Some(reason) if reason.contains("got 0 length") => Err(format!(
            "error in WAL record at {previous}: invalid record length at {}: expected at least 24, got 0",
            reader.position()
        )),
        Some(reason) => Err(format!("error in WAL record at {previous}: {reason}")),
        None => Ok(()),
    }
}

fn line(record: &Record, previous: Lsn, blocks: bool) -> String {
    let (name, text) = engine::describe(record);
    let images: usize =
        record.blocks().filter_map(|block| block.image.map(|image| image.stored_length())).sum();
    let mut out = format!(
        "rmgr: {:<11} len (rec/tot): {:6}/{:6}, tx: {:10}, lsn: {}, prev {previous}, desc: {name} {text}",
        record.rmgr.name(),
        record.total_length() - images,
        record.total_length(),
        record.xid,
        record.lsn,
    );
    for (i, block) in record.blocks().enumerate() {
        if blocks {
            let _ =
                write!(out, "\n\tblkref #{i}: rel {} fork {:?} blk {}", block.rel, block.fork, block.block);
            match block.image.map(|image| (image.compression(), image.stored_length())) {
                Some((Some(method), length)) => {
                    let _ = write!(out, " (FPW, {length} bytes by {})", method.as_str());
                }
                Some((None, _)) => out.push_str(" (FPW)"),
                None => {}
            }
        } else {
            let _ = write!(out, ", blkref #{i}: rel {} blk {}", block.rel, block.block);
            if block.image.is_some() {
                out.push_str(" FPW");
            }
        }
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions() {
        assert_eq!(parse_lsn("16/B374D848"), Some(Lsn(0x16_B374_D848)));
        assert_eq!(parse_lsn("0"), None);
        assert_eq!(parse_lsn("x/1"), None);
    }
}
