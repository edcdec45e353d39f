//! `pg_waldump`, or `stampede waldump`: shows the records of the write-ahead log, a line each, which begins as PostgreSQL's do, or what they come to.

mod stats;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base::{BlockNo, Fork, Lsn, PAGE_SIZE, RelFile, TimelineId};
use wal::{BlockRef, History, InspectedSegment, Record, Rmgr, WalReader, is_segment_name};

use super::answered;
use super::messages::{Failure, Messages};
use super::options::{Flag, Given, flag, parse, value};
use super::say::{self, say_line};
use stats::Stats;

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
    value(Some('B'), "block"),
    flag(Some('f'), "follow"),
    value(Some('F'), "fork"),
    flag(Some('q'), "quiet"),
    value(Some('R'), "relation"),
    flag(Some('z'), "stats"),
    flag(None, "stats-by-record"),
    value(None, "save-fullpage"),
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
  -r, --rmgr=NAME     only show records of this resource manager; may be given
                      several times; \"list\" shows their names
  -t, --timeline=TLI  timeline to read (default: that of STARTSEG, or 1)
  -x, --xid=XID       only show records of this transaction
  -w, --fullpage      only show records with images of pages
  -R, --relation=T/D/R
                      only show records that modify blocks of this relation
  -B, --block=N       with --relation, only records that modify this block
  -F, --fork=FORK     only records that modify blocks of this fork: main, fsm,
                      vm, init
  -b, --bkp-details   show the blocks of each record
  -f, --follow        keep retrying after the end of the log
  -q, --quiet         no output but errors
  -z, --stats[=record]
                      show what records come to, by resource manager or by kind
      --save-fullpage=DIR
                      save images of pages in a directory
";

const MESSAGES: Messages = Messages::of("pg_waldump");

pub(super) fn main(args: &[String]) -> i32 {
    let given = match with_kinds(args).and_then(|args| parse(&args, FLAGS)) {
        Ok(given) => given,
        Err(message) => return MESSAGES.misused(message),
    };
    if answered(&given, MESSAGES.program, HELP) {
        return 0;
    }
    if given.all("rmgr").any(|name| name == "list") {
        Rmgr::ALL.iter().for_each(|rmgr| say_line!("{}", rmgr.name()));
        return 0;
    }
    let (view, range) = match View::of(&given).and_then(|view| Ok((view, Range::of(&given)?))) {
        Ok(read) => read,
        Err(failure) => {
            let hint = format!("Try \"{} --help\" for more information.", MESSAGES.program);
            return MESSAGES.fail(&failure.hint(hint));
        }
    };
    let words: Vec<&str> = given.words.iter().map(String::as_str).collect();
    let located = locate(given.get("path"), words.first().copied(), range.timeline, range.start);
    let dumped = located
        .map_err(Failure::from)
        .and_then(|(dir, segment)| dump(&dir, (&segment, words.get(1).copied()), &range, &view));
    match dumped {
        Ok(()) => 0,
        Err(failure) => MESSAGES.fail(&failure),
    }
}

/// The value of `--stats` may be left out: with it, it is another flag. An error says which value there is not.
fn with_kinds(args: &[String]) -> Result<Vec<String>, String> {
    let replaced = |arg: &String| match arg.strip_prefix("--stats=") {
        Some("record") => Ok("--stats-by-record".to_owned()),
        Some(other) => Err(format!("unrecognized value for option --stats: {other}")),
        None => Ok(arg.clone()),
    };
    args.iter().map(replaced).collect()
}

/// Which part of the log is read.
struct Range {
    start: Option<Lsn>,
    end: Option<Lsn>,
    limit: usize,
    timeline: Option<TimelineId>,
    /// Behind the end of the log more is waited for.
    follow: bool,
}

impl Range {
    fn of(given: &Given) -> Result<Range, Failure> {
        let position = |name: &str| {
            let invalid = |text: &str| Failure::from(format!("invalid WAL location: \"{text}\""));
            given.get(name).map(|text| parse_lsn(text).ok_or_else(|| invalid(text))).transpose()
        };
        let limit = match given.get("limit").map(|text| (text, text.parse())) {
            None => usize::MAX,
            Some((_, Ok(limit))) => limit,
            Some((text, Err(_))) => {
                return Err(format!("invalid value \"{text}\" for option -n/--limit").into());
            }
        };
        let timeline = match given.get("timeline").map(|text| (text, text.parse())) {
            None => None,
            Some((_, Ok(number))) => Some(TimelineId(number)),
            Some((text, Err(_))) => return Err(format!("invalid timeline specification: \"{text}\"").into()),
        };
        let (start, end) = (position("start")?, position("end")?);
        Ok(Range { start, end, limit, timeline, follow: given.has("follow") })
    }
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

/// What is shown, and how.
struct View {
    rmgrs: Vec<Rmgr>,
    blocks: bool,
    quiet: bool,
    xid: Option<u64>,
    images: bool,
    relation: Option<RelFile>,
    block: Option<BlockNo>,
    fork: Option<Fork>,
    /// Figures instead of records; by kind of record.
    stats: Option<bool>,
    /// Where images of pages go.
    saved: Option<PathBuf>,
}

impl View {
    fn of(given: &Given) -> Result<View, Failure> {
        let rmgr = |name: &str| {
            let found = Rmgr::ALL.into_iter().find(|rmgr| rmgr.name().eq_ignore_ascii_case(name));
            found.ok_or_else(|| Failure::from(format!("resource manager \"{name}\" does not exist")))
        };
        let fork = |name: &str| {
            let forks = [("main", Fork::Main), ("fsm", Fork::Fsm), ("vm", Fork::Vm), ("init", Fork::Init)];
            let found = forks.into_iter().find(|(known, _)| *known == name).map(|(_, fork)| fork);
            found.ok_or_else(|| Failure::from(format!("invalid fork name: \"{name}\"")))
        };
        let relation = |text: &str| {
            parse_relation(text).ok_or_else(|| {
                Failure::from(format!("invalid relation specification: \"{text}\""))
                    .detail("Expecting \"tablespace OID/database OID/relation filenode\".")
            })
        };
        let number = |name: &str, what: &str| -> Result<Option<u64>, Failure> {
            let Some(text) = given.get(name) else { return Ok(None) };
            text.parse().map(Some).map_err(|_| format!("invalid {what}: \"{text}\"").into())
        };
        let block = number("block", "block number")?.map(|block| BlockNo(block as u32));
        if block.is_some() && !given.has("relation") {
            return Err("option -B/--block requires option -R/--relation to be specified".into());
        }
        let by_kind = given.has("stats-by-record");
        Ok(View {
            rmgrs: given.all("rmgr").map(rmgr).collect::<Result<_, _>>()?,
            blocks: given.has("bkp-details"),
            quiet: given.has("quiet"),
            xid: number("xid", "transaction ID specification")?,
            images: given.has("fullpage"),
            relation: given.get("relation").map(relation).transpose()?,
            block,
            fork: given.get("fork").map(fork).transpose()?,
            stats: (by_kind || given.has("stats")).then_some(by_kind),
            saved: given.get("save-fullpage").map(PathBuf::from),
        })
    }

    fn shows(&self, record: &Record) -> bool {
        let is_block = |block: BlockRef<'_>| {
            self.relation.is_none_or(|rel| rel == block.rel)
                && self.block.is_none_or(|wanted| wanted == block.block)
                && self.fork.is_none_or(|fork| fork == block.fork)
        };
        let asks_blocks = self.relation.is_some() || self.fork.is_some();
        (self.rmgrs.is_empty() || self.rmgrs.contains(&record.rmgr))
            && self.xid.is_none_or(|xid| xid == record.xid.0)
            && (!asks_blocks || record.blocks().any(is_block))
            && (!self.images || record.blocks().any(|block| block.image.is_some()))
    }
}

/// `1663/5/16384`.
fn parse_relation(text: &str) -> Option<RelFile> {
    let numbers: Option<Vec<u32>> = text.split('/').map(|part| part.parse().ok()).collect();
    let [tablespace, database, number] = numbers?[..] else { return None };
    let is_sound = tablespace != 0 && number != 0;
    is_sound.then_some(RelFile { tablespace: base::Oid(tablespace), database: base::Oid(database), number })
}

fn dump(
    dir: &Path,
    (segment, last): (&Path, Option<&str>),
    range: &Range,
    view: &View,
) -> Result<(), Failure> {
    let inspect = |file: &Path| {
        let inspected = WalReader::inspect_segment(file).map_err(|error| error.to_string())?;
        inspected.ok_or_else(|| format!("invalid WAL file \"{}\"", file.display()))
    };
    let InspectedSegment { first, segment_size, system_identifier, timeline } = inspect(segment)?;
    let end = match last {
        None => range.end,
        Some(last) => {
            Some(Lsn(inspect(&dir.join(last))?.first.0 / segment_size * segment_size + segment_size))
        }
    };
    if let Some(folder) = &view.saved {
        make_folder(folder)?;
    }
    let open =
        |from| WalReader::open(dir, segment_size, Some(system_identifier), from).along(History::of(timeline));
    let from = range.start.unwrap_or(first);
    let before = open(from).record_before(from).map_err(|error| error.to_string())?;
    let mut previous = before.unwrap_or(Lsn::INVALID);
    let mut reader = open(from);
    let mut stats = Stats::default();
    let mut shown = 0;
    let ended = loop {
        let Some(record) = reader.next().transpose().map_err(|error| error.to_string())? else {
            if !range.follow {
                break end_of_log(&reader, previous);
            }
            std::thread::sleep(Duration::from_secs(1));
            reader = open(reader.position());
            continue;
        };
        if end.is_some_and(|end| record.lsn >= end) {
            break Ok(());
        }
        let behind = std::mem::replace(&mut previous, record.lsn);
        if !view.shows(&record) {
            continue;
        }
        shown += 1;
        stats.add(&record);
        if let Some(folder) = &view.saved {
            save_images(folder, timeline, &record)?;
        }
        let is_listed = !view.quiet && view.stats.is_none();
        if is_listed && !say::write(format_args!("{}", line(&record, behind, view.blocks))) {
            return Ok(());
        }
        if shown == range.limit {
            break Ok(());
        }
    };
    if let (Some(by_kind), false) = (view.stats, view.quiet) {
        say::write(format_args!("{}", stats.table((from, reader.position()), by_kind)));
    }
    ended
}

/// What PostgreSQL says of a log that ends with nothing.
fn end_of_log(reader: &WalReader, previous: Lsn) -> Result<(), Failure> {
    match reader.end_reason() {
        Some(reason) if reason.contains("got 0 length") => Err(format!(
            "error in WAL record at {previous}: invalid record length at {}: expected at least 24, got 0",
            reader.position()
        )
        .into()),
        Some(reason) => Err(format!("error in WAL record at {previous}: {reason}").into()),
        None => Ok(()),
    }
}

fn make_folder(folder: &Path) -> Result<(), Failure> {
    let failed = |what: &str, error: &std::io::Error| {
        Failure::from(format!("could not {what} \"{}\": {}", folder.display(), base::os_error(error)))
    };
    match runtime::fs::read_dir(folder) {
        Ok(entries) if entries.is_empty() => Ok(()),
        Ok(_) => Err(format!("directory \"{}\" exists but is not empty", folder.display()).into()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            runtime::fs::create_dir(folder).map_err(|error| failed("create directory", &error))
        }
        Err(error) => Err(failed("access directory", &error)),
    }
}

/// Writes each image of a page into a file of its own.
fn save_images(folder: &Path, timeline: TimelineId, record: &Record) -> Result<(), Failure> {
    for block in record.blocks() {
        let Some(image) = block.image else { continue };
        let mut page = Box::new([0; PAGE_SIZE]);
        image.restore(&mut page).map_err(|invalid| invalid.to_string())?;
        let RelFile { tablespace, database, number } = block.rel;
        let name = format!(
            "{:08X}-{:08X}-{:08X}.{tablespace}.{database}.{number}.{}_{}",
            timeline.0,
            record.lsn.0 >> 32,
            record.lsn.0 as u32,
            block.block,
            fork_name(block.fork)
        );
        let path = folder.join(name);
        runtime::fs::write_file(&path, &page[..]).map_err(|error| {
            format!("could not write file \"{}\": {}", path.display(), base::os_error(&error))
        })?;
    }
    Ok(())
}

fn fork_name(fork: Fork) -> &'static str {
    match fork {
        Fork::Main => "main",
        Fork::Fsm => "fsm",
        Fork::Vm => "vm",
        Fork::Init => "init",
    }
}

fn line(record: &Record, previous: Lsn, blocks: bool) -> String {
    let (name, text) = engine::describe(record);
    let mut out = format!(
        "rmgr: {:<11} len (rec/tot): {:6}/{:6}, tx: {:10}, lsn: {}, prev {previous}, desc: {name} {text}",
        record.rmgr.name(),
        record.total_length() - record.image_length(),
        record.total_length(),
        record.xid,
        record.lsn,
    );
    for (i, block) in record.blocks().enumerate() {
        // Writing to a string does not fail.
        let _ = write!(out, "{}blkref #{i}: {}", if blocks { "\n\t" } else { ", " }, reference(&block));
        match (block.image, blocks) {
            (Some(_), false) => out.push_str(" FPW"),
            (Some(image), true) => {
                let hole = image.hole();
                let _ = write!(out, " (FPW); hole: offset: {}, length: {}", hole.start, hole.len());
                if let Some(method) = image.compression() {
                    let saved = PAGE_SIZE - hole.len() - image.stored_length();
                    let _ = write!(out, ", compression saved: {saved}, method: {}", method.as_str());
                }
            }
            (None, _) => {}
        }
    }
    out.push('\n');
    out
}

/// `rel 1663/5/16384 fork vm blk 0`
fn reference(block: &BlockRef<'_>) -> String {
    let RelFile { tablespace, database, number } = block.rel;
    let fork = match block.fork {
        Fork::Main => String::new(),
        fork => format!(" fork {}", fork_name(fork)),
    };
    format!("rel {tablespace}/{database}/{number}{fork} blk {}", block.block)
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
