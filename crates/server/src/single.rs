//! A server without sessions of clients (`postgres --single`): one session of the first superuser, whose statements come from standard input.
//!
//! # What
//! What `pg_rewind` and Patroni use to recover a data directory and close it cleanly, and administrators where nobody else is to be let in. Results and
//! errors go to standard output and the log, as PostgreSQL's stand-alone backend shows them.
//!
//! # PostgreSQL counterpart and differences
//! `PostgresSingleUserMain`, `InteractiveBackend`, `debugtup`. What storage needs beside the session runs on workers here too; nothing is archived, no
//! standby is waited for, and nothing is vacuumed by itself. COPY from standard input is not supported.

use std::io::{BufRead, Write};
use std::path::Path;
use std::sync::Arc;

use base::settings::{ServerSettings, Setting};
use base::{Severity, SqlError, SqlResult, SqlState};
use runtime::{Interrupts, Workers, with_interrupts};
use session::{Column, Format, Output, RowEncoder, SessionInfo};
use tuple::Datum;

use crate::backend::Database;
use crate::config::{self, CommandLine};
use crate::pidfile::{Contents, PidFile, Status};
use crate::server::{Open, check_connections, config_failed, lock_directory};
use crate::{descriptors, directory, log, memory_limit};

/// Workers: one for the session, one for what blocks it.
const WORKERS: usize = 2;
/// Number of the session.
const PID: i32 = crate::sessions::FIRST_PID;

/// What is to be done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Single {
    /// Command line.
    pub command_line: CommandLine,
    /// Database; none: the one with the user's name.
    pub database: Option<String>,
    /// Each statement is shown (`-E`).
    pub echo: bool,
    /// Statements end with a semicolon and an empty line, not with the line (`-j`).
    pub long: bool,
}

/// Runs the session until standard input ends; returns the exit code.
pub fn run(single: Single, open: Open) -> i32 {
    log::install_tracing();
    let loaded = match config::load(&single.command_line) {
        Ok(loaded) => loaded,
        Err(error) => return config_failed(&error),
    };
    log::configure(&loaded.settings);
    loaded.notes.iter().for_each(|note| log::log(note.clone()));
    let code = match serve(single, Arc::new(loaded.settings), open) {
        Ok(()) => 0,
        Err(error) => {
            log::report(&error, None, None);
            1
        }
    };
    log::flush();
    code
}

fn serve(single: Single, settings: Arc<ServerSettings>, open: Open) -> SqlResult<()> {
    let dir = Path::new(settings.text(Setting::data_directory)).to_path_buf();
    directory::check(&dir)?;
    let lock = lock_directory(&dir)?;
    let contents = Contents {
        // PostgreSQL's sign of a server without sessions.
        pid: -(std::process::id() as i32),
        data_directory: dir.clone(),
        started: runtime::wall_clock_micros() / 1_000_000 + base::calendar::UNIX_SECONDS,
        port: settings.int(Setting::port) as u16,
        socket_directory: String::new(),
        address: String::new(),
    };
    let pid_file = PidFile::create(contents, &lock)?;
    pid_file.write(Status::Starting)?;
    descriptors::raise_limit();
    memory_limit::apply(&settings)?;
    check_connections(&settings)?;
    if engine::is_standby(&dir) {
        let message = "standby mode is not supported by single-user servers";
        return Err(SqlError::fatal(SqlState::FEATURE_NOT_SUPPORTED, message));
    }
    let workers = Workers::start(WORKERS).map_err(|error| {
        let message = format!("could not start workers: {}", base::os_error(&error));
        SqlError::fatal(SqlState::INSUFFICIENT_RESOURCES, message)
    })?;
    let Some(database) = open(&dir, lock, settings, &Arc::default())? else {
        log::log("database system is shut down");
        return Ok(());
    };
    database.start_standalone(&workers);
    let ended = session(single, &database, &workers);
    log::log("shutting down");
    let closed = database.shutdown();
    workers.shutdown();
    closed?;
    log::log("database system is shut down");
    drop(pid_file);
    ended
}

/// Runs the session on a worker.
fn session(single: Single, database: &Arc<dyn Database>, workers: &Workers) -> SqlResult<()> {
    let (sender, receiver) = std::sync::mpsc::channel();
    let database = database.clone();
    workers.spawn_fiber_on(0, move || {
        let interrupts = Interrupts::new();
        let result = with_interrupts(&interrupts, || converse(&single, &*database));
        // Who waits for it is there until it comes.
        let _ = sender.send(result);
    });
    receiver.recv().unwrap_or_else(|_| {
        Err(SqlError::fatal(SqlState::INTERNAL_ERROR, "the session has ended by an internal error"))
    })
}

fn converse(single: &Single, database: &dyn Database) -> SqlResult<()> {
    let user = database.first_superuser()?.unwrap_or_default();
    let name = single.database.clone().unwrap_or_else(|| user.clone());
    let mut client = database.connect(SessionInfo::local(PID, user, name))?;
    let mut terminal = Terminal;
    write_out(&format!("\nPostgreSQL stand-alone backend {}\n", crate::PG_VERSION));
    loop {
        write_out("backend> ");
        let statement = match runtime::blocking(|| read_statement(&mut std::io::stdin().lock(), single.long))
        {
            Ok(Some(statement)) => statement,
            Ok(None) => break,
            Err(error) => {
                log::log(format!("could not read from standard input: {}", base::os_error(&error)));
                break;
            }
        };
        if single.echo {
            write_out(&format!("statement: {statement}\n"));
        }
        if let Err(error) = client.simple_query(&statement, &mut terminal) {
            log::report(&error, None, Some(statement.trim_end()));
            if error.report().severity >= Severity::Fatal {
                break;
            }
        }
    }
    client.close(counters::SessionEnd::Wanted);
    Ok(())
}

/// The next statement; none at the end of the input. A line, and what follows behind a backslash at its end; or all up to a semicolon with an empty line
/// behind it.
fn read_statement(input: &mut dyn BufRead, long: bool) -> std::io::Result<Option<String>> {
    let mut statement = Vec::new();
    loop {
        let read = input.read_until(b'\n', &mut statement)?;
        let at_end = read == 0;
        if at_end && statement.is_empty() {
            return Ok(None);
        }
        let goes_on = match long {
            true => !statement.ends_with(b";\n\n"),
            false => statement.ends_with(b"\\\n"),
        };
        if at_end || !goes_on {
            return Ok(Some(String::from_utf8_lossy(&statement).into_owned()));
        }
        if !long {
            statement.truncate(statement.len() - 2);
        }
    }
}

/// Whoever reads it may be gone: no reason to leave the data directory as after a crash.
fn write_out(text: &str) {
    let mut out = std::io::stdout();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Shows results.
struct Terminal;

const LINE: &str = "\t----\n";

fn show_attribute(number: usize, column: &Column, value: Option<&str>) {
    let Column { name, type_oid, type_len, typmod, .. } = column;
    let by_value = matches!(type_len, 1 | 2 | 4 | 8) && *type_oid != types::oids::macaddr8;
    let value = value.map(|value| format!(" = \"{value}\"")).unwrap_or_default();
    write_out(&format!(
        "\t{number:2}: {name}{value}\t(typeid = {type_oid}, len = {type_len}, typmod = {typmod}, byval = {})\n",
        if by_value { 't' } else { 'f' }
    ));
}

impl Output for Terminal {
    fn row_description(&mut self, columns: &[Column], _: &[Format]) -> SqlResult<()> {
        (1..).zip(columns).for_each(|(number, column)| show_attribute(number, column, None));
        write_out(LINE);
        Ok(())
    }

    fn data_row(&mut self, encoder: &RowEncoder<'_>, row: &[Datum]) -> SqlResult<()> {
        let encoder = RowEncoder { formats: &[], ..*encoder };
        for (i, value) in row.iter().enumerate().take(encoder.len()) {
            let mut text = Vec::new();
            if encoder.encode(i, value, &mut text)? {
                show_attribute(i + 1, &encoder.columns[i], Some(&String::from_utf8_lossy(&text)));
            }
        }
        write_out(LINE);
        Ok(())
    }

    fn notice(&mut self, notice: &SqlError) {
        if notice.report().severity >= Severity::Warning {
            log::report(notice, None, None);
        }
    }

    fn copy_in(&mut self, _: Format, _: usize) -> SqlResult<()> {
        Err(SqlError::not_supported("COPY FROM STDIN in single-user mode"))
    }

    fn copy_out_data(&mut self, row: &[u8]) -> SqlResult<()> {
        write_out(&String::from_utf8_lossy(row));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statements(input: &str, long: bool) -> Vec<String> {
        let mut input = input.as_bytes();
        std::iter::from_fn(|| read_statement(&mut input, long).unwrap()).collect()
    }

    #[test]
    fn statements_end_with_lines() {
        assert_eq!(
            statements("select 1\n\nselect \\\n2\nselect 3", false),
            ["select 1\n", "\n", "select 2\n", "select 3"]
        );
    }

    #[test]
    fn long_statements_end_with_an_empty_line() {
        let text = "select\n1;\n\nselect 2;\nselect 3;\n\nrest";
        assert_eq!(statements(text, true), ["select\n1;\n\n", "select 2;\nselect 3;\n\n", "rest"]);
    }
}
