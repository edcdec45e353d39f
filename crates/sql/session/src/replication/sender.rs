//! START_REPLICATION: the log, byte for byte, to one receiver.
//!
//! # Invariants
//! 1. Only what is on disk is sent.
//! 2. One message waits for the socket at a time: a receiver that takes nothing costs one buffer, and holds up nobody.
//! 3. A sender sleeps until there is more log, a message of its receiver, or something is due by the clock.

use std::future::Future;
use std::pin::Pin;

use base::{Lsn, SqlError, SqlResult, TimelineId, Xid, sql_err};
use engine::EngineError;
use engine::slots::InUse;
use runtime::time::either;
use tuple::Datum;
use txn::StandbyHolder;
use types::oids;
use wal::{History, StreamError, Wal, WalStream};
use wire::replication::{self, Feedback, Reply, Status};

use super::link::{End, Link, finished};
use super::{Sender, SenderState, slot_error};
use crate::Session;
use crate::output::{Both, Output};

/// Bytes of the log in a message.
const MESSAGE: usize = 128 << 10;

impl Session {
    pub(super) fn start_physical(
        &self,
        slot: Option<&str>,
        start: Lsn,
        timeline: Option<u32>,
        out: &mut dyn Output,
    ) -> SqlResult<()> {
        let slot = slot.map(|name| self.acquire_slot(name, false)).transpose()?;
        if let Some(slot) = &slot {
            if slot.slot().logical().is_some() {
                return Err(sql_err!(
                    OBJECT_NOT_IN_PREREQUISITE_STATE,
                    "cannot use a logical replication slot for physical replication"
                ));
            }
            slot.check_valid().map_err(slot_error)?;
        }
        let course = self.course(timeline.map(TimelineId), start)?;
        let _spared = self.begin_streaming()?;
        if course.end.is_some_and(|end| start >= end) {
            // There is nothing to send of it.
            return self.next_timeline(&course, out);
        }
        let sender = self.instance.senders().enter(self.info.pid);
        sender.update(|figures| figures.state = SenderState::Catchup);
        out.copy_both()?;
        let wal = self.engine().wal();
        let flushed = wal.durable_end();
        if flushed < start {
            sender.update(|figures| figures.state = SenderState::Startup);
            return Err(SqlError::internal(format!(
                "requested starting point {start} is ahead of the WAL flush position of this server {flushed}"
            )));
        }
        let mut stream = Stream {
            session: self,
            wal,
            log: wal.stream(course.timeline),
            course,
            slot: slot.as_ref(),
            sender: &sender,
            link: Link::new(self, &sender),
            sent: start,
        };
        sender.update(|figures| figures.sent = start);
        let ended = stream.run(out);
        sender.update(|figures| figures.state = SenderState::Startup);
        match ended? {
            End::Wanted => self.next_timeline(&stream.course, out),
            End::Complete => {
                // The receiver knows that nothing will follow.
                out.command_complete("COPY 0")?;
                Err(finished())
            }
        }
    }
}

impl Session {
    /// The course of the log on a time line, the current one if none is named; it must be one that this server came by, and have the position.
    fn course(&self, wanted: Option<TimelineId>, start: Lsn) -> SqlResult<Course> {
        let wal = self.engine().wal();
        let current = wal.timeline();
        let wanted = wanted.unwrap_or(current);
        if wanted == current {
            return Ok(Course { timeline: current, end: None, next: None });
        }
        let unknown =
            || SqlError::internal(format!("requested timeline {wanted} is not in this server's history"));
        let history = History::read(wal.dir(), current).map_err(EngineError::Wal)?.ok_or_else(unknown)?;
        let history = history.map_err(|error| SqlError::internal(error.message))?;
        let stretch = history.stretch(wanted).ok_or_else(unknown)?;
        let end = stretch.end.ok_or_else(unknown)?;
        if start > end {
            let message = format!(
                "requested starting point {start} on timeline {wanted} is not in this server's history"
            );
            return Err(SqlError::internal(message)
                .detail(format!("This server's history forked from timeline {wanted} at {end}.")));
        }
        Ok(Course { timeline: wanted, end: Some(end), next: Some(history.at(end)) })
    }

    /// After an old time line the receiver is told of the next.
    fn next_timeline(&self, course: &Course, out: &mut dyn Output) -> SqlResult<()> {
        let (Some(next), Some(end)) = (course.next, course.end) else { return Ok(()) };
        let row = [Datum::Int8(next.0.into()), Datum::text(&end.to_string())];
        self.answer(&[("next_tli", oids::int8), ("next_tli_startpos", oids::text)], &row, out)
    }
}

/// What is sent: a time line, up to where the next one leaves it.
struct Course {
    timeline: TimelineId,
    end: Option<Lsn>,
    next: Option<TimelineId>,
}

impl Drop for Stream<'_> {
    /// What it held back for the receiver goes with the connection; what the slot holds back stays.
    fn drop(&mut self) {
        let holder = StandbyHolder::Sender(self.session.info.pid);
        self.session.engine().txns().hold_for_standby(holder, None);
        self.session.backend.holds_snapshots(std::iter::empty());
    }
}

/// A stream to one receiver.
struct Stream<'a> {
    session: &'a Session,
    wal: &'a Wal,
    log: WalStream<'a>,
    course: Course,
    slot: Option<&'a InUse<'a>>,
    sender: &'a Sender,
    link: Link<'a>,
    /// What is before this was sent.
    sent: Lsn,
}

impl Stream<'_> {
    fn run(&mut self, out: &mut dyn Output) -> SqlResult<End> {
        loop {
            runtime::check_interrupts()?;
            self.session.adopt_reload();
            if !out.is_behind() {
                if self.link.done == [true; 2] {
                    return Ok(End::Wanted);
                }
                self.follow_timeline()?;
                self.send_more(out)?;
                if self.course.end.is_some_and(|end| self.sent >= end) && !self.link.done[0] {
                    out.copy_out_done()?;
                    self.link.done[0] = true;
                }
                if self.is_complete(out) {
                    return Ok(End::Complete);
                }
            }
            let until = self.link.until();
            let received = {
                let mut ready = self.ready();
                out.copy_both_wait(ready.as_mut(), until)?
            };
            match received {
                Both::Ready => {}
                Both::Data(body) => self.received(&body, out)?,
                Both::Done => self.link.receiver_is_done(out)?,
                Both::Time => self.link.time_is_up(self.sent, out)?,
            }
        }
    }

    /// What there is to wait for, once everything is sent.
    fn ready(&self) -> Pin<Box<dyn Future<Output = ()> + '_>> {
        if self.link.done[0] {
            // The last bytes were to go; they have.
            return if self.link.done[1] {
                Box::pin(std::future::ready(()))
            } else {
                Box::pin(std::future::pending())
            };
        }
        let senders = self.session.instance.senders();
        if self.sent < self.available() {
            return Box::pin(std::future::ready(()));
        }
        if senders.is_complete() {
            // Its report may have come before the last bytes were taken from here: no other message need follow.
            return match self.link.has_all(self.sent) {
                true => Box::pin(std::future::ready(())),
                false => Box::pin(self.wal.until_flushed_behind(self.sent)),
            };
        }
        Box::pin(either(self.wal.until_flushed_behind(self.sent), senders.until_complete()))
    }

    /// The time line that is sent may have become an old one: a standby here has followed another, or become a server of its own.
    fn follow_timeline(&mut self) -> SqlResult<()> {
        if self.course.end.is_none() && self.course.timeline != self.wal.timeline() {
            self.course = self.session.course(Some(self.course.timeline), self.sent)?;
        }
        Ok(())
    }

    /// What there is to send: the log that is on disk, or all of an old time line.
    fn available(&self) -> Lsn {
        // While the log is replayed, the end of the time line need not be here yet.
        self.course.end.map_or_else(|| self.wal.flushed_bytes(), |end| end.min(self.wal.durable_end()))
    }

    /// Puts the next bytes of the log into the output.
    fn send_more(&mut self, out: &mut dyn Output) -> SqlResult<()> {
        if self.link.done[0] {
            return Ok(());
        }
        let end = self.available();
        if end > self.sent {
            let mut length = 0;
            out.copy_both_data(&mut |message| {
                replication::log_data(message, self.sent, end, runtime::wall_clock_micros());
                length = self.log.read(self.sent, end, MESSAGE, message).map_err(stream_error)?;
                Ok(())
            })?;
            self.sent = Lsn(self.sent.0 + length as u64);
        }
        let state = match self.session.instance.senders() {
            senders if senders.are_stopping() => SenderState::Stopping,
            _ if self.sent >= end => SenderState::Streaming,
            _ => SenderState::Catchup,
        };
        let now = (runtime::now().0 / 1000) as i64;
        let caught_up = self.sender.update(|figures| {
            let was = figures.state;
            // What was streaming once falls behind for moments only.
            if !(was == SenderState::Streaming && state == SenderState::Catchup) {
                figures.state = state;
            }
            figures.sends(self.sent, now);
            was != figures.state
        });
        if caught_up {
            self.link.release();
        }
        Ok(())
    }

    /// Whether the log is complete, all of it is sent, and the receiver has all. Asks it otherwise.
    fn is_complete(&mut self, out: &mut dyn Output) -> bool {
        if self.link.done[0] || !self.session.instance.senders().is_complete() || self.sent < self.available()
        {
            return false;
        }
        self.link.is_complete(self.sent, out)
    }

    fn received(&mut self, body: &[u8], out: &mut dyn Output) -> SqlResult<()> {
        self.link.hears();
        match replication::reply(body)? {
            Reply::Status(status) => self.note_status(&status, out),
            Reply::Feedback(feedback) => self.note_feedback(&feedback),
        }
        Ok(())
    }

    /// Rows that the receiver's queries need stay, if they are still there: for the slot, or as long as it is connected.
    fn note_feedback(&self, feedback: &Feedback) {
        let txns = self.session.engine().txns();
        let full = |(xid, epoch): (u32, u32)| Xid(u64::from(epoch) << 32 | u64::from(xid));
        let needed = [feedback.xmin, feedback.catalog_xmin].map(full);
        let needed: Vec<Xid> = needed.into_iter().filter(|xid| xid.0 as u32 != 0).collect();
        // What is not yet given out is another server's, or nonsense.
        if needed.iter().any(|xid| *xid > txns.next_xid()) {
            return;
        }
        let xmin = needed.into_iter().min();
        match self.slot {
            Some(slot) => slot.hold_from(xmin),
            None => {
                txns.hold_for_standby(StandbyHolder::Sender(self.session.info.pid), xmin);
                self.session.backend.holds_snapshots(xmin.into_iter());
            }
        }
    }

    fn note_status(&mut self, status: &Status, out: &mut dyn Output) {
        self.link.note_status(status);
        if let Some(slot) = self.slot
            && status.flushed != Lsn::INVALID
        {
            // It is written at the next checkpoint: a crash may take it back.
            slot.keep_from(status.flushed);
        }
        self.link.answer(status, self.sent, out);
    }
}

fn stream_error(error: StreamError) -> SqlError {
    match error {
        StreamError::Removed(name) => Session::removed(&name),
        StreamError::Failed(error) => base::os::file_error(error.kind, error.transient, error.message),
    }
}
