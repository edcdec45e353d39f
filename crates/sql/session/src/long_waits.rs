//! Long waits for locks in the server's log (`log_lock_waits`).
//!
//! The lock manager tells of them while the session waits, its transaction in use: what is known of the session here is what others see of it.

use std::sync::Arc;

use base::{Severity, SqlError, SqlState};
use txn::{LockManager, LongWait};

use super::logging::tag_of;
use super::{Sessions, Situation};
use crate::commands::Commands;

/// Lets the sessions' logs have their long waits.
pub(super) fn listen(locks: &LockManager, sessions: &Arc<Sessions>, commands: &'static dyn Commands) {
    let sessions = sessions.clone();
    locks.on_long_wait(move |wait| tell(&sessions, commands, wait));
}

fn tell(sessions: &Sessions, commands: &dyn Commands, wait: &LongWait) {
    let Some(backend) = sessions.get(wait.session.0 as i32) else { return };
    let Some(log) = backend.log() else { return };
    let mut line = SqlError::with_severity(Severity::Log, SqlState::SUCCESSFUL_COMPLETION, wait.message());
    line.report_mut().detail = wait.detail();
    let activity = backend.activity();
    let situation = Situation {
        command: tag_of(&activity.query, commands),
        application: activity.application.to_string(),
        ..Situation::default()
    };
    log(&line, wait.with_statement.then_some(&*activity.query), &situation);
}
