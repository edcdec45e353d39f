//! COPY's files and programs on the server.

use std::io;
use std::path::Path;

use base::{SqlError, SqlResult, sql_err};
use catalog::predefined;
use parse::ast::{Copy, CopyTarget};
use runtime::Program;
use runtime::fs::{File, OpenOptions};
use runtime::program::{BROKEN_PIPE, Exit, ProgramError, signal_text};
use session::Session;
use session::output::{self, Output};
use session::reach;

use super::options::Format;

/// Bytes read or gathered at once.
const CHUNK: usize = 64 * 1024;

/// Only superusers and members of certain roles reach files and programs.
pub(super) fn check_right(session: &Session, copy: &Copy) -> SqlResult<()> {
    let (role, role_name, other_end) = match (&copy.target, copy.from) {
        (CopyTarget::Client, _) => return Ok(()),
        (CopyTarget::Program(_), _) => {
            (predefined::EXECUTE_SERVER_PROGRAM, "pg_execute_server_program", "an external program")
        }
        (CopyTarget::File(_), true) => (predefined::READ_SERVER_FILES, "pg_read_server_files", "a file"),
        (CopyTarget::File(_), false) => (predefined::WRITE_SERVER_FILES, "pg_write_server_files", "a file"),
    };
    if session.has_role(role)? {
        return match &copy.target {
            CopyTarget::File(path) => reach::check_file(session, path),
            CopyTarget::Program(_) => reach::check_programs(session),
            CopyTarget::Client => Ok(()),
        };
    }
    let direction = match (&copy.target, copy.from) {
        (CopyTarget::Program(_), _) => "to or from",
        (_, true) => "from",
        (_, false) => "to",
    };
    Err(sql_err!(INSUFFICIENT_PRIVILEGE, "permission denied to COPY {direction} {other_end}")
        .detail(format!(
            "Only roles with privileges of the \"{role_name}\" role may COPY {direction} {other_end}."
        ))
        .hint("Anyone can COPY to stdout or from stdin. psql's \\copy command also works for anyone."))
}

fn open_error(path: &str, error: &io::Error, from: bool) -> SqlError {
    let why = match error.kind() {
        io::ErrorKind::NotFound => "No such file or directory".to_owned(),
        io::ErrorKind::PermissionDenied => "Permission denied".to_owned(),
        _ => error.to_string(),
    };
    let purpose = if from { "reading" } else { "writing" };
    let message = format!("could not open file \"{path}\" for {purpose}: {why}");
    let code = match error.kind() {
        io::ErrorKind::NotFound => base::SqlState::UNDEFINED_FILE,
        io::ErrorKind::PermissionDenied => base::SqlState::INSUFFICIENT_PRIVILEGE,
        _ => base::SqlState::IO_ERROR,
    };
    let error = SqlError::new(code, message);
    if !matches!(code, base::SqlState::UNDEFINED_FILE | base::SqlState::INSUFFICIENT_PRIVILEGE) {
        return error;
    }
    error.hint(if from {
        "COPY FROM instructs the PostgreSQL server process to read a file. You may want a client-side facility such as psql's \\copy."
    } else {
        "COPY TO instructs the PostgreSQL server process to write a file. You may want a client-side facility such as psql's \\copy."
    })
}

/// What the client is told about the data.
fn wire_format(format: Format) -> output::Format {
    match format {
        Format::Text | Format::Csv => output::Format::Text,
        Format::Binary => output::Format::Binary,
    }
}

fn not_written(error: &io::Error) -> SqlError {
    SqlError::internal(format!("could not write to COPY program: {}", base::os_error(error)))
}

/// Where COPY FROM reads.
pub(super) enum Source {
    /// The client.
    Client,
    /// A file and the place in it.
    File(File, String, u64),
    /// A program and its command, and whether it has said all.
    Program(Program, String, bool),
    /// The client has said that this was all: what it sends next is not data.
    Ended,
}

impl Source {
    /// Opens the file, or greets the client.
    pub(super) fn open(
        target: &CopyTarget,
        format: Format,
        columns: usize,
        out: &mut dyn Output,
    ) -> SqlResult<Source> {
        match target {
            CopyTarget::File(path) => {
                let file =
                    File::open(Path::new(path), OpenOptions::READ).map_err(|e| open_error(path, &e, true))?;
                let directory =
                    file.read_at(&mut [], 0).is_err_and(|e| e.kind() == io::ErrorKind::IsADirectory);
                if directory {
                    return Err(sql_err!(WRONG_OBJECT_TYPE, "\"{path}\" is a directory"));
                }
                Ok(Source::File(file, path.clone(), 0))
            }
            CopyTarget::Program(command) => {
                let program = Program::reading(command).map_err(|e| not_run(command, &e))?;
                Ok(Source::Program(program, command.clone(), false))
            }
            CopyTarget::Client => {
                out.copy_in(wire_format(format), columns)?;
                Ok(Source::Client)
            }
        }
    }

    /// Bytes of the file; 0 if that is not known before.
    pub(super) fn size(&self) -> u64 {
        match self {
            Source::File(file, ..) => file.len().unwrap_or(0),
            Source::Client | Source::Program(..) | Source::Ended => 0,
        }
    }

    /// The next bytes; `None` at the end.
    pub(super) fn read(&mut self, out: &mut dyn Output) -> SqlResult<Option<Vec<u8>>> {
        match self {
            Source::Client => {
                let bytes = out.copy_in_data()?;
                if bytes.is_none() {
                    *self = Source::Ended;
                }
                Ok(bytes)
            }
            Source::Ended => Ok(None),
            Source::Program(program, _, ended) => {
                let mut bytes = vec![0; CHUNK];
                let n = program.read(&mut bytes).map_err(|e| {
                    broken(e, |e| sql_err!(IO_ERROR, "could not read from COPY program: {e}"))
                })?;
                bytes.truncate(n);
                *ended = n == 0;
                Ok((n > 0).then_some(bytes))
            }
            Source::File(file, path, at) => {
                let mut bytes = vec![0; CHUNK];
                let n = file
                    .read_at(&mut bytes, *at)
                    .map_err(|e| sql_err!(IO_ERROR, "could not read from file \"{path}\": {e}"))?;
                bytes.truncate(n);
                *at += n as u64;
                Ok((n > 0).then_some(bytes))
            }
        }
    }
}

impl Source {
    /// The end: a program must have succeeded. One that was not asked for all that it had to say may have died of that.
    pub(super) fn finish(self) -> SqlResult<()> {
        let Source::Program(mut program, command, ended) = self else { return Ok(()) };
        match program.finish().map_err(|e| broken(e, |e| not_closed(&e)))? {
            exit if !ended && exit.is_signal(BROKEN_PIPE) => Ok(()),
            exit => check_exit(&command, exit),
        }
    }
}

fn not_run(command: &str, error: &io::Error) -> SqlError {
    SqlError::internal(format!("could not execute command \"{command}\": {}", base::os_error(error)))
}

fn not_closed(error: &io::Error) -> SqlError {
    SqlError::internal(format!("could not close pipe to external command: {}", base::os_error(error)))
}

/// An error of a program's pipe; `tell` words those of the operating system.
fn broken(error: ProgramError, tell: impl FnOnce(io::Error) -> SqlError) -> SqlError {
    match error {
        ProgramError::Interrupted(interrupt) => plan::interrupted(interrupt),
        ProgramError::Io(error) => tell(error),
    }
}

fn check_exit(command: &str, exit: Exit) -> SqlResult<()> {
    let how = match exit {
        Exit::Code(0) => return Ok(()),
        Exit::Code(126) => "command not executable".into(),
        Exit::Code(127) => "command not found".into(),
        Exit::Code(code) => format!("child process exited with exit code {code}"),
        Exit::Signal(signal) => {
            format!("child process was terminated by signal {signal}: {}", signal_text(signal))
        }
    };
    Err(sql_err!(EXTERNAL_ROUTINE_EXCEPTION, "program \"{command}\" failed").detail(how))
}

/// Where COPY TO writes.
pub(super) enum Sink {
    /// The client.
    Client,
    /// A file, what is not written yet, and the place in it.
    File(File, String, Vec<u8>, u64),
    /// A program, its command, and what is not written yet.
    Program(Program, String, Vec<u8>),
}

impl Sink {
    /// Makes the file, or greets the client.
    pub(super) fn open(
        target: &CopyTarget,
        format: Format,
        columns: usize,
        out: &mut dyn Output,
    ) -> SqlResult<Sink> {
        match target {
            CopyTarget::File(path) => {
                if !Path::new(path).is_absolute() {
                    return Err(sql_err!(INVALID_NAME, "relative path not allowed for COPY to file"));
                }
                let how = OpenOptions::TRUNCATE;
                let file = File::open(Path::new(path), how).map_err(|e| open_error(path, &e, false))?;
                Ok(Sink::File(file, path.clone(), Vec::new(), 0))
            }
            CopyTarget::Program(command) => {
                let program = Program::writing(command).map_err(|e| not_run(command, &e))?;
                Ok(Sink::Program(program, command.clone(), Vec::new()))
            }
            CopyTarget::Client => {
                out.copy_out(wire_format(format), columns)?;
                Ok(Sink::Client)
            }
        }
    }

    /// A line with its ending, or a row's bytes.
    pub(super) fn line(&mut self, line: &[u8], out: &mut dyn Output) -> SqlResult<()> {
        match self {
            Sink::Client => out.copy_out_data(line),
            Sink::File(_, _, buffer, _) | Sink::Program(_, _, buffer) => {
                buffer.extend_from_slice(line);
                if buffer.len() < CHUNK { Ok(()) } else { self.flush() }
            }
        }
    }

    fn flush(&mut self) -> SqlResult<()> {
        match self {
            Sink::Client => {}
            Sink::File(file, path, buffer, at) => {
                file.write_all_at(buffer, *at)
                    .map_err(|e| sql_err!(IO_ERROR, "could not write to file \"{path}\": {e}"))?;
                *at += buffer.len() as u64;
                buffer.clear();
            }
            Sink::Program(program, command, buffer) => {
                match program.write_all(buffer) {
                    // That it has failed says more than that it reads no more.
                    Err(ProgramError::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
                        check_exit(command, program.finish().map_err(|e| broken(e, |e| not_closed(&e)))?)?;
                        return Err(not_written(&error));
                    }
                    written => written.map_err(|e| broken(e, |e| not_written(&e)))?,
                }
                buffer.clear();
            }
        }
        Ok(())
    }

    /// The end.
    pub(super) fn finish(mut self, out: &mut dyn Output) -> SqlResult<()> {
        self.flush()?;
        match self {
            Sink::Client => out.copy_out_done(),
            Sink::File(..) => Ok(()),
            Sink::Program(mut program, command, _) => {
                check_exit(&command, program.finish().map_err(|e| broken(e, |e| not_closed(&e)))?)
            }
        }
    }
}
