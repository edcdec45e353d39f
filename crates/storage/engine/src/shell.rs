//! # What
//! Commands of the administrator, which the shell runs in the data directory: what archives a file, what fetches one.
//!
//! # PostgreSQL counterpart
//! `replace_percent_placeholders`, `shell_archive.c`, `shell_restore.c`.

use std::path::Path;

use runtime::program::{Exit, Program, ProgramError, signal_text};
use runtime::{WaitEvent, waiting};

/// Why a command did not do its work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The setting's text has a placeholder that there is not, or ends in the middle of one: PostgreSQL's detail.
    Placeholder(String),
    /// It ended with another code than 0.
    Code(i32),
    /// It was ended by a signal.
    Signal(i32),
    /// It could not be run.
    NotRun(String),
}

impl Failure {
    /// PostgreSQL's line of the log about a command that is called `what`.
    pub fn message(&self, what: &str, setting: &str) -> String {
        match self {
            Failure::Placeholder(_) => format!("invalid value for parameter \"{setting}\""),
            Failure::Code(code) => format!("{what} failed with exit code {code}"),
            Failure::Signal(signal) => {
                format!("{what} was terminated by signal {signal}: {}", signal_text(*signal))
            }
            Failure::NotRun(why) => format!("could not execute {what}: {why}"),
        }
    }

    /// Whether the command was ended from outside, or the shell could not run it: no answer to what it was asked.
    pub fn is_signal(&self) -> bool {
        match self {
            Failure::Signal(_) => true,
            Failure::Code(code) => *code > 128,
            _ => false,
        }
    }
}

/// A command's text with `%x` replaced by what `values` has for `x`, and `%%` by `%`.
pub fn fill(command: &str, values: &[(char, &str)]) -> Result<String, Failure> {
    let mut out = String::with_capacity(command.len());
    let mut rest = command.chars();
    while let Some(c) = rest.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        match rest.next() {
            Some('%') => out.push('%'),
            Some(letter) => match values.iter().find(|(known, _)| *known == letter) {
                Some((_, value)) => out.push_str(value),
                None => {
                    let detail = format!("String contains unexpected placeholder \"%{letter}\".");
                    return Err(Failure::Placeholder(detail));
                }
            },
            None => {
                let detail = "String ends unexpectedly after escape character \"%\".".into();
                return Err(Failure::Placeholder(detail));
            }
        }
    }
    Ok(out)
}

/// Runs a command and waits for its end.
pub fn run(command: &str, dir: &Path, event: WaitEvent) -> Result<(), Failure> {
    let not_run = |error| Failure::NotRun(base::os_error(&error));
    let mut program = Program::running(command, dir).map_err(not_run)?;
    match waiting(event, || program.finish()) {
        Ok(Exit::Code(0)) => Ok(()),
        Ok(Exit::Code(code)) => Err(Failure::Code(code)),
        Ok(Exit::Signal(signal)) => Err(Failure::Signal(signal)),
        Err(ProgramError::Io(error)) => Err(not_run(error)),
        Err(ProgramError::Interrupted(_)) => Err(Failure::NotRun("interrupted".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders() {
        let values = [('p', "pg_wal/X"), ('f', "X")];
        assert_eq!(fill("cp %p /a/%f 100%%", &values), Ok("cp pg_wal/X /a/X 100%".into()));
        assert_eq!(
            fill("cp %r", &values),
            Err(Failure::Placeholder("String contains unexpected placeholder \"%r\".".into()))
        );
        assert_eq!(
            fill("cp %", &values),
            Err(Failure::Placeholder("String ends unexpectedly after escape character \"%\".".into()))
        );
    }

    #[test]
    fn ends_of_commands() {
        let run = |command| run(command, Path::new("/"), WaitEvent::ArchiveCommand);
        assert_eq!(run("test -d etc"), Ok(()));
        assert_eq!(run("exit 3"), Err(Failure::Code(3)));
        let killed = run("kill -9 $$").unwrap_err();
        assert!(killed.is_signal() && !Failure::Code(1).is_signal());
        assert_eq!(
            killed.message("archive command", "archive_command"),
            "archive command was terminated by signal 9: Killed"
        );
    }
}
