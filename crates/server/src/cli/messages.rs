//! What programs say beside their output, on standard error, as PostgreSQL's programs say it: `pg_rewind: error: …`.

use std::fmt::Display;

/// Who says it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Messages {
    /// Name of the program.
    pub program: &'static str,
    /// Whether details for developers are wanted (`--debug`).
    pub debug: bool,
}

/// Why a program gives up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Failure {
    /// What is wrong; a line for each error.
    pub message: String,
    /// More of it.
    pub detail: Option<String>,
    /// What to do about it.
    pub hint: Option<String>,
}

impl From<String> for Failure {
    fn from(message: String) -> Failure {
        Failure { message, ..Failure::default() }
    }
}

impl From<&str> for Failure {
    fn from(message: &str) -> Failure {
        Failure::from(message.to_owned())
    }
}

impl Failure {
    /// The same with a detail.
    pub fn detail(self, detail: impl Into<String>) -> Failure {
        Failure { detail: Some(detail.into()), ..self }
    }

    /// The same with a hint.
    pub fn hint(self, hint: impl Into<String>) -> Failure {
        Failure { hint: Some(hint.into()), ..self }
    }
}

impl Messages {
    /// Of a program that says nothing for developers.
    pub const fn of(program: &'static str) -> Messages {
        Messages { program, debug: false }
    }

    /// What happens.
    pub fn info(&self, text: impl Display) {
        eprintln!("{}: {text}", self.program);
    }

    /// What may be wrong.
    pub fn warning(&self, text: impl Display) {
        eprintln!("{}: warning: {text}", self.program);
    }

    /// What happens, for developers.
    pub fn debug(&self, text: impl Display) {
        if self.debug {
            eprintln!("{}: debug: {text}", self.program);
        }
    }

    /// Why nothing more happens; the exit code.
    pub fn fail(&self, failure: &Failure) -> i32 {
        let Messages { program, .. } = self;
        failure.message.lines().for_each(|line| eprintln!("{program}: error: {line}"));
        if let Some(detail) = &failure.detail {
            eprintln!("{program}: detail: {detail}");
        }
        if let Some(hint) = &failure.hint {
            eprintln!("{program}: hint: {hint}");
        }
        1
    }

    /// Arguments that make no sense; the exit code.
    pub fn misused(&self, message: impl Into<String>) -> i32 {
        let hint = format!("Try \"{} --help\" for more information.", self.program);
        self.fail(&Failure::from(message.into()).hint(hint))
    }
}
