//! A receiver, as who streams to it knows it: when it was heard of, what it was asked and told, what it has.
//!
//! # Invariants
//! 1. A receiver that is silent for half of `wal_sender_timeout` is asked once whether it is there, and given up after all of it.

use std::time::Duration;

use base::settings::Setting;
use base::{Lsn, SqlError, SqlResult, SqlState, sql_err};
use runtime::{Instant, Interrupts};
use wire::replication::{self, Status};

use super::Sender;
use crate::Session;
use crate::output::Output;

/// How a stream ended.
pub(super) enum End {
    /// The receiver wanted no more.
    Wanted,
    /// All is sent, and the server stops.
    Complete,
}

/// The end of a connection that has sent all there is; no error, and nobody is told.
pub(super) fn finished() -> SqlError {
    SqlError::fatal(SqlState::SUCCESSFUL_COMPLETION, "")
}

/// Whether an error is that end: the connection is to be closed without a word.
pub fn is_end(error: &SqlError) -> bool {
    error.code() == SqlState::SUCCESSFUL_COMPLETION
}

/// Whoever sends the log ends by himself when the server stops, while this is there.
pub(super) struct Spared(Interrupts);

impl Drop for Spared {
    fn drop(&mut self) {
        self.0.spare(false);
    }
}

impl Session {
    /// Before a stream: whoever holds what this returns ends by himself when the server stops. Fails if that has begun.
    pub(super) fn begin_streaming(&self) -> SqlResult<Spared> {
        let interrupts = self.backend.interrupts.clone();
        if !self.instance.senders().begin_streaming(&interrupts) {
            return Err(sql_err!(
                OBJECT_NOT_IN_PREREQUISITE_STATE,
                "cannot execute new commands while WAL sender is in stopping mode"
            ));
        }
        Ok(Spared(interrupts))
    }
}

/// The link to one receiver.
pub(super) struct Link<'a> {
    session: &'a Session,
    sender: &'a Sender,
    /// When the receiver was last heard of.
    heard: Instant,
    /// It was asked for an answer since.
    asked: bool,
    /// We have said that nothing will follow, and the receiver has.
    pub(super) done: [bool; 2],
}

impl<'a> Link<'a> {
    /// To one that has just asked for a stream.
    pub(super) fn new(session: &'a Session, sender: &'a Sender) -> Link<'a> {
        Link { session, sender, heard: runtime::now(), asked: false, done: [false; 2] }
    }

    /// `wal_sender_timeout`; none: the receiver may be silent for ever.
    fn patience(&self) -> Option<Duration> {
        let millis = self.session.settings.borrow().get(Setting::wal_sender_timeout).as_int();
        (millis > 0).then(|| Duration::from_millis(millis.unsigned_abs().into()))
    }

    /// When [`time_is_up`](Self::time_is_up), unless the receiver is heard of.
    pub(super) fn until(&self) -> Option<Instant> {
        self.patience().map(|patience| self.heard + if self.asked { patience } else { patience / 2 })
    }

    /// A message has come.
    pub(super) fn hears(&mut self) {
        (self.heard, self.asked) = (runtime::now(), false);
    }

    /// The receiver wants no more.
    pub(super) fn receiver_is_done(&mut self, out: &mut dyn Output) -> SqlResult<()> {
        if !self.done[0] {
            out.copy_out_done()?;
        }
        self.done = [true; 2];
        Ok(())
    }

    /// Tells the receiver how far the stream is. `asks`: it is to answer.
    pub(super) fn say_alive(&self, position: Lsn, asks: bool, out: &mut dyn Output) {
        // Nothing is written that could fail.
        let _ = out.copy_both_data(&mut |message| {
            message.extend(replication::keepalive(position, runtime::wall_clock_micros(), asks));
            Ok(())
        });
    }

    /// Asks the receiver for an answer, unless it was.
    fn ask(&mut self, position: Lsn, out: &mut dyn Output) {
        if !self.asked {
            self.asked = true;
            self.say_alive(position, true, out);
        }
    }

    /// Whether the receiver has reported that it has what was sent.
    pub(super) fn has_all(&self, position: Lsn) -> bool {
        let [written, flushed, _] = self.sender.figures().reported;
        let has = if flushed == Lsn::INVALID { written } else { flushed };
        has >= position
    }

    /// At the end of all that there is to send: whether the receiver has it, and nothing waits for the socket. Asks it otherwise.
    pub(super) fn is_complete(&mut self, position: Lsn, out: &mut dyn Output) -> bool {
        let has_all = self.has_all(position);
        if !has_all {
            self.ask(position, out);
        }
        has_all && !out.is_behind()
    }

    /// Notes how far the receiver is; commits that wait for that go on.
    pub(super) fn note_status(&self, status: &Status) {
        let now = (runtime::now().0 / 1000) as i64;
        self.sender.update(|figures| {
            let settings = self.session.settings.borrow();
            let name = settings.text(Setting::application_name);
            if figures.name != name {
                name.clone_into(&mut figures.name);
            }
            figures.replied(status, now);
        });
        self.release();
    }

    /// Answers a status if it asks for that.
    pub(super) fn answer(&self, status: &Status, position: Lsn, out: &mut dyn Output) {
        if status.asks && !self.done[0] {
            self.say_alive(position, false, out);
        }
    }

    /// Commits that wait for what the receiver has go on. A standby has none.
    pub(super) fn release(&self) {
        if self.session.engine().is_following() {
            return;
        }
        let standbys = self.session.engine().txns().standbys();
        for line in self.session.instance.senders().release(standbys) {
            self.session.log(line, None);
        }
    }

    /// The receiver has been silent for half of its time, or for all of it.
    pub(super) fn time_is_up(&mut self, position: Lsn, out: &mut dyn Output) -> SqlResult<()> {
        let Some(patience) = self.patience() else { return Ok(()) };
        let silence = self.heard.elapsed();
        if silence >= patience {
            self.session.log("terminating walsender process due to replication timeout".into(), None);
            return Err(finished());
        }
        if silence >= patience / 2 {
            self.ask(position, out);
        }
        Ok(())
    }
}
