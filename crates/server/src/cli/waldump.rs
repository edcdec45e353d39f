//! `stampede waldump`: shows the records of the write-ahead log.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use base::Lsn;
use wal::{History, InspectedSegment, Record, WalReader};

use super::answered;
use super::options::{Flag, flag, parse, value};
use super::say;

const FLAGS: &[Flag] = &[
    value(Some('p'), "path"),
    value(Some('s'), "start"),
    value(Some('e'), "end"),
    value(Some('n'), "limit"),
    value(Some('r'), "rmgr"),
    flag(Some('b'), "bkp-details"),
    flag(Some('q'), "quiet"),
    flag(Some('V'), "version"),
    flag(Some('?'), "help"),
];

const HELP: &str = "\
waldump shows the records of a write-ahead log.

Usage:
  stampede waldump [OPTION]... [STARTSEG]

Options:
  -p, --path=PATH     pg_wal directory, or data directory
  -s, --start=LSN     first position
  -e, --end=LSN       stop before this position
  -n, --limit=N       number of records to display
  -r, --rmgr=NAME     only show records of this resource manager
  -b, --bkp-details   show the blocks of each record
  -q, --quiet         no output but errors
";

pub(super) fn main(args: &[String]) -> i32 {
    let given = match parse(args, FLAGS) {
        Ok(given) => given,
        Err(message) => return complain(&message),
    };
    if answered(&given, "waldump", HELP) {
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
    let view = View {
        rmgr: given.get("rmgr").map(str::to_string),
        blocks: given.has("bkp-details"),
        quiet: given.has("quiet"),
    };
    match locate(given.get("path"), given.words.first().map(String::as_str)) {
        Err(message) => complain(&message),
        Ok((dir, segment)) => match dump(&dir, &segment, start, end, limit, &view) {
            Ok(()) => 0,
            Err(message) => complain(&message),
        },
    }
}

fn complain(message: &str) -> i32 {
    eprintln!("waldump: error: {message}");
    1
}

/// `16/B374D848`.
fn parse_lsn(text: &str) -> Option<Lsn> {
    let (high, low) = text.split_once('/')?;
    let half = |text: &str| u32::from_str_radix(text, 16).ok();
    Some(Lsn((u64::from(half(high)?) << 32) | u64::from(half(low)?)))
}

/// The directory of the log, and its first segment or the one named.
fn locate(path: Option<&str>, segment: Option<&str>) -> Result<(PathBuf, PathBuf), String> {
    let given = Path::new(path.unwrap_or("."));
    let below = given.join("pg_wal");
    let dir = if runtime::fs::exists(&below).unwrap_or(false) { below } else { given.to_path_buf() };
    if let Some(segment) = segment {
        let file = Path::new(segment);
        let file = if segment.contains('/') { file.to_path_buf() } else { dir.join(file) };
        let parent = file.parent().map(Path::to_path_buf).unwrap_or(dir);
        return Ok((parent, file));
    }
    let entries = runtime::fs::read_dir(&dir).map_err(|error| {
        format!("could not open directory \"{}\": {}", dir.display(), base::os_error(&error))
    })?;
    let is_segment = |name: &str| name.len() == 24 && name.bytes().all(|b| b.is_ascii_hexdigit());
    let first = entries.iter().map(|entry| entry.name.as_str()).find(|name| is_segment(name));
    let first = first.ok_or_else(|| format!("could not find any WAL file in \"{}\"", dir.display()))?;
    Ok((dir.clone(), dir.join(first)))
}

struct View {
    rmgr: Option<String>,
    blocks: bool,
    quiet: bool,
}

fn dump(
    dir: &Path,
    segment: &Path,
    start: Option<Lsn>,
    end: Option<Lsn>,
    limit: usize,
    view: &View,
) -> Result<(), String> {
    let inspected = WalReader::inspect_segment(segment).map_err(|error| error.to_string())?;
    let InspectedSegment { first, segment_size, system_identifier, timeline } =
        inspected.ok_or_else(|| format!("invalid WAL file \"{}\"", segment.display()))?;
    let reader = WalReader::open(dir, segment_size, Some(system_identifier), start.unwrap_or(first));
    let mut reader = reader.along(History::of(timeline));
    let mut shown = 0;
    for record in &mut reader {
        let record = record.map_err(|error| error.to_string())?;
        if end.is_some_and(|end| record.lsn >= end) || shown == limit {
            return Ok(());
        }
        if view.rmgr.as_deref().is_some_and(|name| !name.eq_ignore_ascii_case(record.rmgr.name())) {
            continue;
        }
        shown += 1;
        if !view.quiet && !say::write(format_args!("{}", line(&record, view.blocks))) {
            return Ok(());
        }
    }
    if let Some(reason) = reader.end_reason() {
        eprintln!("waldump: {reason}");
    }
    Ok(())
}

fn line(record: &Record, blocks: bool) -> String {
    let (name, text) = engine::describe(record);
    let mut out = format!(
        "rmgr: {:<10} len: {:6}, tx: {:10}, lsn: {}, desc: {name} {text}",
        record.rmgr.name(),
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
