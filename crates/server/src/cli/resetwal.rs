//! `pg_resetwal`: gives a data directory an empty log, and other counters if they are asked for.

use std::path::{Path, PathBuf};

use base::{Lsn, Oid, TimelineId, Xid};
use engine::control::{ClusterState, ControlFile};
use engine::lock::DirectoryLock;
use engine::reset;
use types::timezone::TimeZone;

use super::messages::{Failure, Messages};
use super::options::{Flag, Given, flag, value};
use super::say::{say, say_line};
use super::{controldata, given};

const FLAGS: &[Flag] = &[
    value(Some('D'), "pgdata"),
    flag(Some('f'), "force"),
    flag(Some('n'), "dry-run"),
    value(Some('c'), "commit-timestamp-ids"),
    value(Some('e'), "epoch"),
    value(Some('l'), "next-wal-file"),
    value(Some('m'), "multixact-ids"),
    value(Some('o'), "next-oid"),
    value(Some('O'), "multixact-offset"),
    value(Some('u'), "oldest-transaction-id"),
    value(Some('x'), "next-transaction-id"),
    value(None, "char-signedness"),
    value(None, "wal-segsize"),
    flag(Some('V'), "version"),
    flag(Some('?'), "help"),
];

const HELP: &str = "\
pg_resetwal resets the PostgreSQL write-ahead log.

Usage:
  pg_resetwal [OPTION]... DATADIR

Options:
 [-D, --pgdata=]DATADIR  data directory
  -f, --force            force update to be done even after unclean shutdown or
                         if pg_control values had to be guessed
  -n, --dry-run          no update, just show what would be done
  -V, --version          output version information, then exit
  -?, --help             show this help, then exit

Options to override control file values:
  -e, --epoch=XIDEPOCH             set next transaction ID epoch
  -l, --next-wal-file=WALFILE      set minimum starting location for new WAL
  -m, --multixact-ids=MXID,MXID    set next and oldest multitransaction ID
  -o, --next-oid=OID               set next OID
  -u, --oldest-transaction-id=XID  set oldest transaction ID
  -x, --next-transaction-id=XID    set next transaction ID
      --wal-segsize=SIZE           size of WAL segments, in megabytes
";

const MESSAGES: Messages = Messages::of("pg_resetwal");

/// What of the control file is shown: all but what is about a log.
const SHOWN: [&str; 25] = [
    "pg_control version number",
    "Catalog version number",
    "Database system identifier",
    "Latest checkpoint's TimeLineID",
    "Latest checkpoint's full_page_writes",
    "Latest checkpoint's NextXID",
    "Latest checkpoint's NextOID",
    "Latest checkpoint's NextMultiXactId",
    "Latest checkpoint's oldestXID",
    "Latest checkpoint's oldestXID's DB",
    "Latest checkpoint's oldestActiveXID",
    "Latest checkpoint's oldestMultiXid",
    "Latest checkpoint's oldestMulti's DB",
    "Maximum data alignment",
    "Database block size",
    "Blocks per segment of large relation",
    "WAL block size",
    "Bytes per WAL segment",
    "Maximum length of identifiers",
    "Maximum columns in an index",
    "Maximum size of a TOAST chunk",
    "Size of a large-object chunk",
    "Date/time type storage",
    "Float8 argument passing",
    "Data page checksum version",
];

pub(super) fn main(args: &[String]) -> i32 {
    let given = match given(&MESSAGES, args, FLAGS, HELP) {
        Ok(given) => given,
        Err(status) => return status,
    };
    let wanted = match Wanted::of(&given) {
        Ok(wanted) => wanted,
        Err(Misuse::Argument(option)) => {
            return MESSAGES.misused(format!("invalid argument for option {option}"));
        }
        Err(Misuse::Value(message)) => return MESSAGES.fail(&message.into()),
    };
    let dir = given.get("pgdata").or(given.words.first().map(String::as_str));
    if let Some(word) = given.words.get(usize::from(!given.has("pgdata"))) {
        return MESSAGES.misused(format!("too many command-line arguments (first is \"{word}\")"));
    }
    let Some(dir) = dir.map(PathBuf::from).or_else(|| super::data_directory(None)) else {
        return MESSAGES.misused("no data directory specified");
    };
    match run(&dir, &wanted, given.has("force"), given.has("dry-run")) {
        Ok(()) => 0,
        Err(failure) => MESSAGES.fail(&failure),
    }
}

/// Why arguments are refused.
#[derive(Debug, PartialEq, Eq)]
enum Misuse {
    /// The argument of an option cannot be read.
    Argument(&'static str),
    /// It can, but makes no sense.
    Value(String),
}

/// Values that replace those of the control file.
#[derive(Debug, Default, PartialEq, Eq)]
struct Wanted {
    epoch: Option<u32>,
    xid: Option<u64>,
    oldest_xid: Option<u64>,
    oid: Option<u32>,
    multixacts: Option<(u64, u64)>,
    /// The segment named by `-l`: its time line, and the two halves of its number.
    segment: Option<(u32, u32, u32)>,
    segment_size: Option<u32>,
}

/// As `strtoul` with base 0 reads it.
fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None if text.len() > 1 && text.starts_with('0') => u64::from_str_radix(&text[1..], 8).ok(),
        None => text.parse().ok(),
    }
}

impl Wanted {
    fn of(given: &Given) -> Result<Wanted, Misuse> {
        let read = |name: &str, option: &'static str| {
            given.get(name).map(|text| number(text).ok_or(Misuse::Argument(option))).transpose()
        };
        let refuse = |message: &str| Err(Misuse::Value(message.to_owned()));
        let normal = Xid::FIRST_NORMAL.0;
        if given.get("epoch").is_some_and(|text| text == "-1") {
            return refuse("transaction ID epoch (-e) must not be -1");
        }
        let epoch = read("epoch", "-e")?.map(u32::try_from).transpose();
        let mut wanted = Wanted {
            epoch: epoch.map_err(|_| Misuse::Argument("-e"))?,
            xid: read("next-transaction-id", "-x")?,
            oldest_xid: read("oldest-transaction-id", "-u")?,
            ..Wanted::default()
        };
        if wanted.oldest_xid.is_some_and(|xid| xid < normal) {
            return Err(Misuse::Value(format!(
                "oldest transaction ID (-u) must be greater than or equal to {normal}"
            )));
        }
        if wanted.xid.is_some_and(|xid| xid < normal) {
            return Err(Misuse::Value(format!(
                "transaction ID (-x) must be greater than or equal to {normal}"
            )));
        }
        if let Some(oid) = read("next-oid", "-o")? {
            wanted.oid = Some(u32::try_from(oid).map_err(|_| Misuse::Argument("-o"))?);
            if oid == 0 {
                return refuse("OID (-o) must not be 0");
            }
        }
        if let Some(text) = given.get("multixact-ids") {
            let pair = text.split_once(',').and_then(|(next, oldest)| Some((number(next)?, number(oldest)?)));
            let (next, oldest) = pair.ok_or(Misuse::Argument("-m"))?;
            if oldest == 0 {
                return refuse("oldest multitransaction ID (-m) must not be 0");
            }
            wanted.multixacts = Some((next, oldest));
        }
        if let Some(name) = given.get("next-wal-file") {
            let part = |at: usize| u32::from_str_radix(&name[at..at + 8], 16).unwrap_or_default();
            if !wal::is_segment_name(name) {
                return Err(Misuse::Argument("-l"));
            }
            wanted.segment = Some((part(0), part(8), part(16)));
        }
        if let Some(text) = given.get("wal-segsize") {
            let size = text.parse::<u32>().ok().filter(|size| (1..=1024).contains(size));
            let Some(size) = size else {
                return refuse("--wal-segsize must be in range 1..1024");
            };
            if !size.is_power_of_two() {
                return refuse("argument of --wal-segsize must be a power of two between 1 and 1024");
            }
            wanted.segment_size = Some(size << 20);
        }
        if given.has("commit-timestamp-ids") {
            return refuse("commit timestamps are not kept (-c)");
        }
        if given.has("multixact-offset") {
            return refuse("sets of row lockers have no offsets (-O)");
        }
        if given.get("char-signedness").is_some_and(|word| word != "signed") {
            return refuse("characters are always signed (--char-signedness)");
        }
        Ok(wanted)
    }

    /// Puts the values into the control file; where the new log begins. `end`: behind the old one.
    fn apply(&self, control: &mut ControlFile, end: Lsn) -> Lsn {
        let of = &mut control.checkpoint;
        if let Some(xid) = self.xid {
            of.next_xid = Xid(if xid > u64::from(u32::MAX) { xid } else { of.next_xid.0 >> 32 << 32 | xid });
        }
        if let Some(epoch) = self.epoch {
            of.next_xid = Xid(u64::from(epoch) << 32 | of.next_xid.0 & u64::from(u32::MAX));
        }
        if self.xid.is_some() || self.epoch.is_some() {
            of.oldest_running = of.next_xid;
            of.oldest_xid = of.oldest_xid.min(of.next_xid);
        }
        if let Some(oldest) = self.oldest_xid {
            of.oldest_xid = Xid(oldest);
        }
        if let Some(oid) = self.oid {
            of.next_oid = Oid(oid);
        }
        if let Some((next, oldest)) = self.multixacts {
            (of.next_multixact, of.oldest_multixact) = (next, oldest);
        }
        if let Some(size) = self.segment_size {
            control.wal_segment_size = size;
        }
        let size = u64::from(control.wal_segment_size);
        let behind = end.0.next_multiple_of(size);
        let Some((timeline, high, low)) = self.segment else { return Lsn(behind) };
        let of = &mut control.checkpoint;
        of.timeline = of.timeline.max(TimelineId(timeline));
        let least = (u64::from(high) * ((1 << 32) / size) + u64::from(low)) * size;
        Lsn(behind.max(least))
    }

    /// What is to be changed, with its names.
    fn lines(&self, control: &ControlFile) -> Vec<(&'static str, String)> {
        let of = &control.checkpoint;
        let mut lines = Vec::new();
        if self.multixacts.is_some() {
            lines.push(("NextMultiXactId", of.next_multixact.to_string()));
            lines.push(("OldestMultiXid", of.oldest_multixact.to_string()));
        }
        if self.oid.is_some() {
            lines.push(("NextOID", of.next_oid.to_string()));
        }
        if self.xid.is_some() {
            lines.push(("NextXID", (of.next_xid.0 as u32).to_string()));
        }
        if self.oldest_xid.is_some() || self.xid.is_some() {
            lines.push(("OldestXID", of.oldest_xid.to_string()));
        }
        if self.epoch.is_some() {
            lines.push(("NextXID epoch", (of.next_xid.0 >> 32).to_string()));
        }
        if self.segment_size.is_some() {
            lines.push(("Bytes per WAL segment", control.wal_segment_size.to_string()));
        }
        lines
    }
}

fn run(dir: &Path, wanted: &Wanted, force: bool, dry: bool) -> Result<(), Failure> {
    let pid_file = dir.join("postmaster.pid");
    let failed = |error: engine::EngineError| Failure::from(error.to_string());
    if runtime::fs::exists(&pid_file).unwrap_or(false) {
        return Err(Failure::from("lock file \"postmaster.pid\" exists")
            .hint("Is a server running?  If not, delete the lock file and try again."));
    }
    check_version(dir)?;
    let _lock = DirectoryLock::acquire(dir).map_err(failed)?;
    let (mut control, guessed) = match ControlFile::read(dir) {
        Ok(control) => (control, false),
        Err(error @ engine::EngineError::Io(..)) => {
            return Err(Failure::from(error.to_string()).hint(format!(
                "If you are sure the data directory path is correct, execute\n  touch global/pg_control\nand try again.\nThe data directory is \"{}\".",
                dir.display()
            )));
        }
        Err(_) => {
            MESSAGES.warning("pg_control exists but is broken or wrong version; ignoring it");
            (reset::guess(dir).map_err(failed)?, true)
        }
    };
    let end = reset::end_of_log(dir, &control).map_err(failed)?;
    if dry || (guessed && !force) {
        say!("{} pg_control values:\n\n", if guessed { "Guessed" } else { "Current" });
        show(&control);
    }
    let start = wanted.apply(&mut control, end);
    if dry || (guessed && !force) {
        let name =
            wal::segment_file_name(control.checkpoint.timeline, start, control.wal_segment_size.into());
        say!("\n\nValues to be changed:\n\n");
        say_line!("{:<38}{name}", "First log segment after reset:");
        for (name, value) in wanted.lines(&control) {
            say_line!("{:<38}{value}", format!("{name}:"));
        }
        if !dry {
            return Err(Failure::from("not proceeding because control file values were guessed")
                .hint("If these values seem acceptable, use -f to force reset."));
        }
        return Ok(());
    }
    if !guessed && control.state != ClusterState::ShutDown && !force {
        return Err(Failure::from("database server was not shut down cleanly")
            .detail("Resetting the write-ahead log might cause data to be lost.")
            .hint("If you want to proceed anyway, use -f to force reset."));
    }
    reset::reset(dir, &control, start).map_err(failed)?;
    say_line!("Write-ahead log reset");
    Ok(())
}

/// The directory must be one of this version.
fn check_version(dir: &Path) -> Result<(), Failure> {
    let path = dir.join("PG_VERSION");
    let found = runtime::fs::read_to_string(&path).map_err(|error| {
        format!("could not open file \"{}\" for reading: {}", path.display(), base::os_error(&error))
    })?;
    match found.trim_end() == engine::PG_VERSION {
        true => Ok(()),
        false => Err(Failure::from("data directory is of wrong version").detail(format!(
            "File \"PG_VERSION\" contains \"{}\", which is not compatible with this program's version \"{}\".",
            found.trim_end(),
            engine::PG_VERSION
        ))),
    }
}

fn show(control: &ControlFile) {
    let lines = controldata::lines(control, &TimeZone::utc());
    for (name, value) in lines.iter().filter(|(name, _)| SHOWN.contains(name)) {
        say_line!("{:<38}{value}", format!("{name}:"));
    }
}

#[cfg(test)]
mod tests {
    use super::super::options::parse;
    use super::*;

    fn read(line: &str) -> Result<Wanted, Misuse> {
        let args: Vec<String> = line.split_whitespace().map(str::to_string).collect();
        Wanted::of(&parse(&args, FLAGS).unwrap())
    }

    #[test]
    fn arguments() {
        let wanted =
            read("-x 0x10 -o 16384 -m 7,5 -e 3 -u 012 -l 0000000200000001000000FF --wal-segsize=1").unwrap();
        assert_eq!(
            wanted,
            Wanted {
                epoch: Some(3),
                xid: Some(16),
                oldest_xid: Some(10),
                oid: Some(16384),
                multixacts: Some((7, 5)),
                segment: Some((2, 1, 255)),
                segment_size: Some(1 << 20),
            }
        );
        for (line, option) in
            [("-x y", "-x"), ("-m 1", "-m"), ("-l 1", "-l"), ("-o 5000000000", "-o"), ("-e x", "-e")]
        {
            assert_eq!(read(line), Err(Misuse::Argument(option)));
        }
        for (line, message) in [
            ("-x 2", "transaction ID (-x) must be greater than or equal to 3"),
            ("-u 2", "oldest transaction ID (-u) must be greater than or equal to 3"),
            ("-o 0", "OID (-o) must not be 0"),
            ("-m 1,0", "oldest multitransaction ID (-m) must not be 0"),
            ("-e -1", "transaction ID epoch (-e) must not be -1"),
            ("--wal-segsize=3", "argument of --wal-segsize must be a power of two between 1 and 1024"),
        ] {
            assert_eq!(read(line), Err(Misuse::Value(message.into())), "{line}");
        }
    }
}
