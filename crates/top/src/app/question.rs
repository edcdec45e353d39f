//! Questions that stand before anything is ended, and what is ended.

use ratatui::crossterm::event::KeyCode;

use crate::text::one_line;

/// How something is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Means {
    /// Its statement, if it runs one.
    Cancel,
    /// The session.
    Terminate,
}

impl Means {
    /// The function that does it.
    pub fn function(self) -> &'static str {
        match self {
            Means::Cancel => "pg_cancel_backend",
            Means::Terminate => "pg_terminate_backend",
        }
    }
}

/// Who is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// One session.
    Session {
        /// Its number.
        pid: i32,
        /// When it began, as the server writes it.
        started: String,
        /// Its role.
        user: String,
    },
    /// All sessions of a role.
    Role {
        /// Name of the role.
        role: String,
        /// How many there were when it was asked.
        sessions: usize,
    },
}

/// What is to be ended, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// How.
    pub means: Means,
    /// Who.
    pub whom: Ask,
}

/// A question on the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// How all sessions of a role are to be ended.
    How {
        /// Name of the role.
        role: String,
        /// How many it has.
        sessions: usize,
    },
    /// Whether it is really meant.
    Sure(Means, Ask),
}

/// What follows from a key.
pub(super) enum Answer {
    Ask(Question),
    Do(End),
    Leave,
}

impl Question {
    pub(super) fn answer(self, code: KeyCode) -> Answer {
        match (self, code) {
            (Question::How { role, sessions }, KeyCode::Char(c @ ('c' | 't'))) => {
                let means = if c == 'c' { Means::Cancel } else { Means::Terminate };
                Answer::Ask(Question::Sure(means, Ask::Role { role, sessions }))
            }
            (Question::Sure(means, whom), KeyCode::Char('y' | 'Y')) => Answer::Do(End { means, whom }),
            // A key that was meant for something else ends nothing.
            _ => Answer::Leave,
        }
    }

    /// As it is asked.
    pub fn text(&self) -> String {
        let sessions =
            |count: &usize| if *count == 1 { "1 session".into() } else { format!("{count} sessions") };
        match self {
            Question::How { role, sessions: count } => format!(
                "{} of role {}: c cancels, t terminates, other keys leave",
                sessions(count),
                one_line(role)
            ),
            Question::Sure(means, Ask::Session { pid, user, .. }) => {
                let what = match means {
                    Means::Cancel => "Cancel the statement of session",
                    Means::Terminate => "Terminate session",
                };
                format!("{what} {pid} (role {})? y/n", one_line(user))
            }
            Question::Sure(means, Ask::Role { role, sessions: count }) => {
                let what = match means {
                    Means::Cancel => "Cancel the statements of",
                    Means::Terminate => "Terminate",
                };
                format!("{what} all {} of role {}? y/n", sessions(count), one_line(role))
            }
        }
    }
}

impl End {
    /// What is said of it: what the function answered for each session.
    pub fn outcome(&self, answers: &[bool]) -> Result<String, String> {
        let done = match self.means {
            Means::Cancel => "asked to cancel its statement",
            Means::Terminate => "terminated",
        };
        let sent = answers.iter().filter(|sent| **sent).count();
        match &self.whom {
            Ask::Session { pid, .. } => match answers.first() {
                Some(true) => Ok(format!("session {pid}: {done}")),
                Some(false) => {
                    Err(format!("{}({pid}) returned false: see the server's warning", self.means.function()))
                }
                None => Err(format!("session {pid} has gone already")),
            },
            Ask::Role { role, .. } if sent == answers.len() => {
                Ok(format!("role {}: {sent} sessions, each {done}", one_line(role)))
            }
            Ask::Role { role, .. } => {
                Err(format!("role {}: {sent} of {} sessions, each {done}", one_line(role), answers.len()))
            }
        }
    }
}
