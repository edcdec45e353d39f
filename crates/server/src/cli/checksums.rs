//! `pg_checksums`: checks the check sums of all pages of a data directory that is shut down.

use engine::control::ClusterState;

use super::options::{Flag, flag, parse, value};
use super::say::say_line;
use super::{answered, controldata, data_directory};

const FLAGS: &[Flag] = &[
    value(Some('D'), "pgdata"),
    flag(Some('c'), "check"),
    flag(Some('d'), "disable"),
    flag(Some('e'), "enable"),
    value(Some('f'), "filenode"),
    flag(Some('N'), "no-sync"),
    flag(Some('P'), "progress"),
    flag(Some('v'), "verbose"),
    flag(Some('V'), "version"),
    flag(Some('?'), "help"),
];

const HELP: &str = "\
pg_checksums verifies data checksums in a PostgreSQL database cluster. They are always on.

Usage:
  pg_checksums [OPTION]... [DATADIR]

Options:
 [-D, --pgdata=]DATADIR    data directory
  -c, --check              check data checksums (default)
  -f, --filenode=FILENODE  check only relation with specified filenode
  -v, --verbose            output verbose messages
  -V, --version            output version information, then exit
  -?, --help               show this help, then exit

If no data directory (DATADIR) is specified, the environment variable PGDATA
is used.
";

pub(super) fn main(args: &[String]) -> i32 {
    let given = match parse(args, FLAGS) {
        Ok(given) => given,
        Err(message) => return complain(&message),
    };
    if answered(&given, "pg_checksums", HELP) {
        return 0;
    }
    if given.has("enable") {
        return complain("data checksums are already enabled in cluster");
    }
    if given.has("disable") {
        return complain("data checksums cannot be disabled: they are always on");
    }
    let number = match given.get("filenode").map(str::parse::<u32>) {
        None => None,
        Some(Ok(number)) => Some(number.to_string()),
        Some(Err(_)) => return complain("invalid value for option -f/--filenode"),
    };
    let dir = given.get("pgdata").or(given.words.first().map(String::as_str));
    let Some(dir) = data_directory(dir) else { return complain("no data directory specified") };
    let control = match controldata::read(&dir) {
        Ok(control) => control,
        Err(message) => return complain(&message),
    };
    if !matches!(control.state, ClusterState::ShutDown | ClusterState::ShutDownInRecovery) {
        return complain("cluster must be shut down");
    }
    let files = match engine::files::list(&dir) {
        Ok(files) => files,
        Err(error) => return complain(&error.to_string()),
    };
    let (mut scanned, mut pages, mut bad) = (0, 0, 0);
    for file in files.iter().filter(|file| number.as_ref().is_none_or(|number| is_of(&file.name, number))) {
        scanned += 1;
        let checked = engine::files::check(file, &mut |read| pages += read, &mut |block, why| {
            bad += 1;
            eprintln!(
                "pg_checksums: error: checksum verification failed in file \"{}\", block {}: {why}",
                file.name, block.0
            );
        });
        if let Err(error) = checked {
            return complain(&error.to_string());
        }
        if given.has("verbose") {
            eprintln!("pg_checksums: checksums verified in file \"{}\"", file.name);
        }
    }
    say_line!("Checksum operation completed");
    say_line!("Files scanned:   {scanned}");
    say_line!("Blocks scanned:  {pages}");
    say_line!("Bad checksums:  {bad}");
    say_line!("Data checksum version: 1");
    i32::from(bad > 0)
}

fn complain(message: &str) -> i32 {
    eprintln!("pg_checksums: error: {message}");
    1
}

/// Whether a file is one of the relation whose files have this number.
fn is_of(name: &str, number: &str) -> bool {
    let name = name.rsplit('/').next().unwrap_or(name);
    name.strip_prefix(number).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '_']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_a_relation() {
        for name in ["base/5/1259", "base/5/1259.1", "base/5/1259_vm"] {
            assert!(is_of(name, "1259"), "{name}");
        }
        assert!(!is_of("base/5/12591", "1259") && !is_of("base/5/125", "1259"));
    }
}
