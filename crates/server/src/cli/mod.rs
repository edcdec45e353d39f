//! The command line: one binary under many names.
//!
//! # What
//! Called as `initdb`, `pg_ctl` or `postgres`, it is that program, with PostgreSQL's flags, messages and exit codes. Called
//! as `stampede`, the first word says which.

mod checksums;
mod combinebackup;
mod controldata;
mod ctl;
mod initdb;
mod messages;
mod options;
mod pgconfig;
mod postgres;
mod resetwal;
mod rewind;
mod say;
mod serve;
mod top;
mod verify;
mod waldump;
mod walsummary;

use std::path::{Path, PathBuf};

use ::verify::Watcher;

use crate::server::Open;
use messages::Messages;
use options::{Flag, Given, parse};
use say::{say, say_line};

/// What a new data directory is to contain.
#[derive(Clone, Debug)]
pub struct NewCluster {
    /// Data directory; exists and is empty.
    pub dir: PathBuf,
    /// Name of the first superuser.
    pub superuser: String,
    /// Its password, if it gets one.
    pub password: Option<String>,
    /// Size of a file of the log, in bytes.
    pub wal_segment_size: u64,
    /// Encoding of the first databases: `UTF8` or `SQL_ASCII`.
    pub encoding: base::Encoding,
    /// Their locale provider.
    pub provider: collation::Provider,
    /// The locale of a provider that is not the C library.
    pub provider_locale: Option<String>,
}

/// What the commands need from the database.
#[derive(Clone, Copy)]
pub struct Commands {
    /// Opens the database of a data directory.
    pub open: Open,
    /// Makes a new one. The error is a message.
    pub create: fn(&NewCluster) -> Result<(), String>,
    /// Checks one that no server runs on. The error is a message: why it could not be checked.
    pub verify: fn(&Path, &mut dyn Watcher) -> Result<(), String>,
}

const HELP: &str = "\
Stampede is a PostgreSQL-compatible database server for many connections.

Usage:
  stampede serve [-D DIR] [-p PORT] [-h ADDRESS] [-k SOCKETDIR] [-c NAME=VALUE]
                       make a data directory if there is none, and serve it
  stampede init ...    make a data directory (initdb)
  stampede ctl ...     start, stop and ask a server (pg_ctl)
  stampede postgres .. run a server on an existing data directory (postgres)
  stampede top ..      watch sessions, waits, statements and locks, and end what runs away
  stampede waldump ..  show the write-ahead log
  stampede verify ..   check every page, index entry and row of a data directory that is shut down
  stampede --version

Under the names initdb, pg_ctl, postgres, pg_waldump, pg_controldata, pg_checksums, pg_resetwal, pg_rewind, pg_combinebackup, pg_walsummary and pg_config (links to this file)
it takes the flags of those programs.
";

/// Runs the command that name and arguments ask for; returns the exit code.
pub fn main(args: &[String], commands: Commands) -> i32 {
    let name = args.first().map(|path| base_name(path)).unwrap_or_default();
    let rest = args.get(1..).unwrap_or_default();
    match name {
        "initdb" => initdb::main(rest, commands),
        "pg_ctl" => ctl::main(rest, commands),
        "postgres" | "postmaster" => postgres::main(rest, commands),
        "pg_waldump" => waldump::main(rest),
        "pg_controldata" => controldata::main(rest),
        "pg_checksums" => checksums::main(rest),
        "pg_resetwal" => resetwal::main(rest),
        "pg_rewind" => rewind::main(rest),
        "pg_combinebackup" => combinebackup::main(rest),
        "pg_walsummary" => walsummary::main(rest),
        "pg_config" => pgconfig::main(args.first().map(String::as_str).unwrap_or_default(), rest),
        _ => match rest.split_first() {
            Some((word, rest)) => match word.as_str() {
                "serve" => serve::main(rest, commands),
                "init" => initdb::main(rest, commands),
                "ctl" => ctl::main(rest, commands),
                "postgres" => postgres::main(rest, commands),
                "top" => top::main(rest),
                "waldump" => waldump::main(rest),
                "verify" => verify::main(rest, commands),
                "--version" | "-V" | "version" => {
                    say_line!("stampede {} (PostgreSQL {})", crate::VERSION, crate::PG_VERSION);
                    0
                }
                "--help" | "-?" | "help" => {
                    say!("{HELP}");
                    0
                }
                other => {
                    eprintln!(
                        "stampede: unknown command \"{other}\"\nTry \"stampede --help\" for more information."
                    );
                    1
                }
            },
            None => {
                say!("{HELP}");
                0
            }
        },
    }
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Path of this program under the name it was called by.
pub fn program_path(called: &str) -> String {
    if called.contains('/') {
        return crate::config::absolute_keeping_links(Path::new(called)).display().to_string();
    }
    match std::env::current_exe() {
        Ok(path) => path.with_file_name(base_name(called)).display().to_string(),
        Err(_) => called.to_string(),
    }
}

/// Whether a program was only asked for its help or its version, which it has printed.
fn answered(given: &Given, program: &str, help: &str) -> bool {
    if given.has("help") {
        say!("{help}");
        return true;
    }
    if given.has("version") {
        say_line!("{}", version(program));
        return true;
    }
    false
}

/// The arguments of a program; or how it is to end, because they make no sense or it was only asked for its help or version.
fn given(messages: &Messages, args: &[String], flags: &[Flag], help: &str) -> Result<Given, i32> {
    let given = parse(args, flags).map_err(|message| messages.misused(message))?;
    if answered(&given, messages.program, help) { Err(0) } else { Ok(given) }
}

/// The `--version` line of a program.
fn version(program: &str) -> String {
    format!("{program} (PostgreSQL) {} (Stampede {})", crate::PG_VERSION, crate::VERSION)
}

/// Data directory of `-D`, else of the environment.
fn data_directory(given: Option<&str>) -> Option<PathBuf> {
    given
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("PGDATA").filter(|v| !v.is_empty()).map(PathBuf::from))
}
