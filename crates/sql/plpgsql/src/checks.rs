//! Checks of `plpgsql.extra_warnings` and `plpgsql.extra_errors`.

use base::{Severity, SqlError};
use session::Session;

/// What is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// A variable whose name is another's in an outer level. Looked for when the function is made.
    ShadowedVariables,
    /// More columns than targets of INTO, or fewer.
    StrictMultiAssignment,
    /// More rows than the one that INTO takes.
    TooManyRows,
}

impl Check {
    fn name(self) -> &'static str {
        match self {
            Check::ShadowedVariables => "shadowed_variables",
            Check::StrictMultiAssignment => "strict_multi_assignment",
            Check::TooManyRows => "too_many_rows",
        }
    }

    /// The severity of what the check finds; none if it is off.
    pub fn severity(self, session: &Session) -> Option<Severity> {
        let (errors, warnings) = session.extra_checks(self.name());
        match (errors, warnings) {
            (true, _) => Some(Severity::Error),
            (_, true) => Some(Severity::Warning),
            _ => None,
        }
    }

    /// The DETAIL of who wanted to know.
    pub fn is_active(self, severity: Severity) -> String {
        let list = if severity == Severity::Error { "extra_errors" } else { "extra_warnings" };
        format!("{} check of {list} is active.", self.name())
    }
}

/// An error of this severity: one that is none is for the client, and the caller goes on.
pub fn with_severity(mut error: SqlError, severity: Severity) -> SqlError {
    error.report_mut().severity = severity;
    error
}
