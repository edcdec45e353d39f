//! `pg_controldata`: shows the control file of a data directory, with PostgreSQL's lines.

use std::path::Path;

use base::Xid;
use engine::control::{CATALOG_VERSION, ClusterState, ControlFile, PG_CONTROL_VERSION};
use types::moment::Moment;
use types::timezone::TimeZone;

use super::options::{Flag, flag, parse, value};
use super::say::say_line;
use super::{answered, data_directory};

const FLAGS: &[Flag] = &[value(Some('D'), "pgdata"), flag(Some('V'), "version"), flag(Some('?'), "help")];

const HELP: &str = "\
pg_controldata displays control information of a PostgreSQL database cluster.

Usage:
  pg_controldata [OPTION] [DATADIR]

Options:
 [-D, --pgdata=]DATADIR  data directory
  -V, --version          output version information, then exit
  -?, --help             show this help, then exit

If no data directory (DATADIR) is specified, the environment variable PGDATA
is used.
";

pub(super) fn main(args: &[String]) -> i32 {
    let given = match parse(args, FLAGS) {
        Ok(given) => given,
        Err(message) => return complain(&message),
    };
    if answered(&given, "pg_controldata", HELP) {
        return 0;
    }
    if given.words.len() > 1 {
        return complain(&format!("too many command-line arguments (first is \"{}\")", given.words[1]));
    }
    let dir = given.get("pgdata").or(given.words.first().map(String::as_str));
    let Some(dir) = data_directory(dir) else { return complain("no data directory specified") };
    match read(&dir) {
        Ok(control) => {
            for (name, value) in lines(&control, &TimeZone::utc()) {
                say_line!("{:<38}{value}", format!("{name}:"));
            }
            0
        }
        Err(message) => complain(&message),
    }
}

fn complain(message: &str) -> i32 {
    eprintln!("pg_controldata: error: {message}");
    1
}

/// Reads a control file; the error is PostgreSQL's message.
pub(super) fn read(dir: &Path) -> Result<ControlFile, String> {
    let path = dir.join(engine::files::CONTROL);
    if let Err(error) = runtime::fs::metadata(&path) {
        let why = base::os_error(&error);
        return Err(format!("could not open file \"{}\" for reading: {why}", path.display()));
    }
    ControlFile::read(dir).map_err(|error| error.to_string())
}

/// The words of a state.
fn state(state: ClusterState) -> &'static str {
    match state {
        ClusterState::Initializing => "starting up",
        ClusterState::ShutDown => "shut down",
        ClusterState::ShutDownInRecovery => "shut down in recovery",
        ClusterState::InRecovery => "in crash recovery",
        ClusterState::InArchiveRecovery => "in archive recovery",
        ClusterState::InProduction => "in production",
    }
}

/// A moment as `%c` has it: `Fri Nov 27 18:41:00 2026`.
fn moment(micros: i64, zone: &TimeZone) -> String {
    Moment::new(micros, zone).format("%a %b %e %T %Y")
}

/// All lines of a control file: names and values.
pub(super) fn lines(control: &ControlFile, zone: &TimeZone) -> Vec<(&'static str, String)> {
    let of = &control.checkpoint;
    let settings = &control.settings;
    let on = |value: bool| if value { "on" } else { "off" }.to_owned();
    let oldest = of.oldest_xid.max(Xid::FIRST_NORMAL);
    let name = wal::segment_file_name(of.timeline, of.redo, control.wal_segment_size.into());
    vec![
        ("pg_control version number", PG_CONTROL_VERSION.to_string()),
        ("Catalog version number", CATALOG_VERSION.to_string()),
        ("Database system identifier", control.system_identifier.to_string()),
        ("Database cluster state", state(control.state).to_owned()),
        ("pg_control last modified", moment(control.time, zone)),
        ("Latest checkpoint location", control.checkpoint_lsn.to_string()),
        ("Latest checkpoint's REDO location", of.redo.to_string()),
        ("Latest checkpoint's REDO WAL file", name),
        ("Latest checkpoint's TimeLineID", of.timeline.to_string()),
        ("Latest checkpoint's PrevTimeLineID", of.previous_timeline.to_string()),
        ("Latest checkpoint's full_page_writes", on(of.full_page_writes)),
        ("Latest checkpoint's NextXID", format!("{}:{}", of.next_xid.0 >> 32, of.next_xid.0 as u32)),
        ("Latest checkpoint's NextOID", of.next_oid.to_string()),
        ("Latest checkpoint's NextMultiXactId", of.next_multixact.to_string()),
        ("Latest checkpoint's NextMultiOffset", "0".into()),
        ("Latest checkpoint's oldestXID", oldest.to_string()),
        ("Latest checkpoint's oldestXID's DB", "1".into()),
        ("Latest checkpoint's oldestActiveXID", of.oldest_running.to_string()),
        ("Latest checkpoint's oldestMultiXid", of.oldest_multixact.max(1).to_string()),
        ("Latest checkpoint's oldestMulti's DB", "1".into()),
        ("Latest checkpoint's oldestCommitTsXid", "0".into()),
        ("Latest checkpoint's newestCommitTsXid", "0".into()),
        ("Time of latest checkpoint", moment(of.time, zone)),
        ("Fake LSN counter for unlogged rels", "0/0".into()),
        ("Minimum recovery ending location", control.min_recovery_point.to_string()),
        ("Min recovery ending loc's timeline", control.min_recovery_timeline.to_string()),
        ("Backup start location", control.backup_start.to_string()),
        ("Backup end location", control.backup_end.to_string()),
        ("End-of-backup record required", if control.backup_end_required { "yes" } else { "no" }.into()),
        ("wal_level setting", settings.wal_level.as_str().into()),
        ("wal_log_hints setting", on(true)),
        ("max_connections setting", settings.max_connections.to_string()),
        ("max_worker_processes setting", settings.max_worker_processes.to_string()),
        ("max_wal_senders setting", settings.max_wal_senders.to_string()),
        ("max_prepared_xacts setting", settings.max_prepared_transactions.to_string()),
        ("max_locks_per_xact setting", settings.max_locks_per_transaction.to_string()),
        ("track_commit_timestamp setting", on(settings.track_commit_timestamp)),
        ("Maximum data alignment", "8".into()),
        ("Database block size", base::PAGE_SIZE.to_string()),
        ("Blocks per segment of large relation", engine::files::SEGMENT_PAGES.to_string()),
        ("WAL block size", base::PAGE_SIZE.to_string()),
        ("Bytes per WAL segment", control.wal_segment_size.to_string()),
        ("Maximum length of identifiers", "64".into()),
        ("Maximum columns in an index", "32".into()),
        ("Maximum size of a TOAST chunk", "1996".into()),
        ("Size of a large-object chunk", "2048".into()),
        ("Date/time type storage", "64-bit integers".into()),
        ("Float8 argument passing", "by value".into()),
        ("Data page checksum version", "1".into()),
        ("Default char data signedness", "signed".into()),
        ("Mock authentication nonce", "0".repeat(64)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_as_the_c_library_writes_them() {
        let utc = TimeZone::utc();
        assert_eq!(moment(0, &utc), "Sat Jan  1 00:00:00 2000");
        // 2026-11-27 18:41:00 UTC.
        assert_eq!(
            moment((1_795_804_860 - base::calendar::UNIX_SECONDS) * 1_000_000, &utc),
            "Fri Nov 27 18:41:00 2026"
        );
    }
}
