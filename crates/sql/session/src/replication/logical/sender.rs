//! START_REPLICATION … LOGICAL: a slot's changes to one receiver, as they commit.
//!
//! Invariants
//! 1. Only what is on disk is told, and positions that the receiver confirms move the slot: never back.
//! 2. Some 64 KiB of messages wait for the socket at most, and a message.
//! 3. A sender sleeps until there is more log, a message of its receiver, or something is due by the clock.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use base::{Lsn, SqlResult};
use engine::decoding::{Decoder, Step};
use engine::slots::InUse;
use runtime::Instant;
use runtime::time::either;
use wal::Wal;
use wire::replication::{self, Reply, Status};

use super::plugin::{self, Plugin, PluginOption, Sink};
use crate::Session;
use crate::output::{Both, Output};
use crate::replication::link::{End, Link, finished};
use crate::replication::{Sender, SenderState, slot_error};

/// How often is looked for transactions that ended without a word.
const LOOK_FOR_LOST: Duration = Duration::from_secs(10);

/// Records that are read before the receiver is listened to.
const RECORDS: usize = 256;
/// Bytes of messages that may wait for the socket while more are written.
const MOST_UNSENT: usize = 64 << 10;

impl Session {
    pub(in crate::replication) fn start_logical(
        &self,
        name: &str,
        start: Lsn,
        options: &[PluginOption],
        out: &mut dyn Output,
    ) -> SqlResult<()> {
        self.check_decodes()?;
        let slot = self.use_logical_slot(name)?;
        let plugin = slot.slot().logical().map(|logical| logical.plugin.clone()).unwrap_or_default();
        let plugin = plugin::open(&plugin, options)?;
        let _spared = self.begin_streaming()?;
        let confirmed = slot.slot().state().confirmed;
        let decoder = self.decoder(&slot, start.max(confirmed))?;
        let sender = self.instance.senders().enter(self.info.pid);
        sender.update(|figures| figures.state = SenderState::Catchup);
        out.copy_both()?;
        let mut stream = Stream {
            session: self,
            wal: self.engine().wal(),
            slot: &slot,
            sender: &sender,
            link: Link::new(self, &sender),
            told_idle: Lsn::INVALID,
            looked: runtime::now(),
            position: confirmed,
            unsent: 0,
        };
        let ended = stream.run(decoder, plugin, out);
        sender.update(|figures| figures.state = SenderState::Startup);
        match ended? {
            End::Wanted => Ok(()),
            End::Complete => {
                out.command_complete("COPY 0")?;
                Err(finished())
            }
        }
    }
}

/// A stream to one receiver.
struct Stream<'a> {
    session: &'a Session,
    wal: &'a Wal,
    slot: &'a InUse<'a>,
    sender: &'a Sender,
    link: Link<'a>,
    /// The last position of which the receiver was told without changes.
    told_idle: Lsn,
    /// When was last looked for transactions that ended without a word.
    looked: Instant,
    /// Everything before this was decoded and sent.
    position: Lsn,
    /// Bytes of messages that the socket may not have taken.
    unsent: usize,
}

impl Stream<'_> {
    fn run(
        &mut self,
        mut decoder: Decoder,
        mut plugin: Box<dyn Plugin>,
        out: &mut dyn Output,
    ) -> SqlResult<End> {
        loop {
            runtime::check_interrupts()?;
            self.session.adopt_reload();
            if self.link.done == [true; 2] {
                return Ok(End::Wanted);
            }
            let mut caught_up = self.link.done[0];
            for _ in 0..RECORDS {
                if caught_up || self.unsent > 0 {
                    break;
                }
                caught_up = !self.send_more(&mut decoder, plugin.as_mut(), out)?;
            }
            let now = (runtime::now().0 / 1000) as i64;
            self.sender.update(|figures| figures.sends(self.position, now));
            if self.is_complete(caught_up, out) {
                return Ok(End::Complete);
            }
            self.wait(Some(&mut decoder), caught_up, out)?;
            self.unsent = 0;
        }
    }

    /// Sends what one record brought; false if there was none.
    fn send_more(
        &mut self,
        decoder: &mut Decoder,
        plugin: &mut dyn Plugin,
        out: &mut dyn Output,
    ) -> SqlResult<bool> {
        let session = self.session;
        let Step::Record(event) = decoder.step()? else {
            self.caught_up(decoder, out)?;
            return Ok(false);
        };
        if let Some(event) = event {
            session.begin_statement();
            session.tell(event, plugin, &mut |sink| self.deliver(sink, out))?;
            session.end_statement()?;
            decoder.note_restart();
            self.slot.slot().add_figures(&decoder.take_figures());
        }
        self.position = decoder.position();
        Ok(true)
    }

    /// Nothing more is on disk: the receiver hears how far that is, so that its slot moves on without changes too.
    fn caught_up(&mut self, decoder: &mut Decoder, out: &mut dyn Output) -> SqlResult<()> {
        if self.looked.elapsed() >= LOOK_FOR_LOST {
            self.looked = runtime::now();
            decoder.forget_lost()?;
        }
        decoder.note_restart();
        let stopping = self.session.instance.senders().are_stopping();
        self.sender.update(|figures| {
            figures.state = if stopping { SenderState::Stopping } else { SenderState::Streaming };
        });
        let flushed = self.sender.figures().reported[1];
        if self.position > self.told_idle && flushed < self.position {
            self.told_idle = self.position;
            self.link.say_alive(self.position, false, out);
        }
        Ok(())
    }

    /// Brings messages to the receiver, who may take his time.
    fn deliver(&mut self, sink: &mut Sink, out: &mut dyn Output) -> SqlResult<()> {
        for (lsn, bytes) in sink.messages.drain(..) {
            while self.unsent > MOST_UNSENT && out.is_behind() {
                runtime::check_interrupts()?;
                self.wait(None, false, out)?;
            }
            self.unsent = if out.is_behind() { self.unsent + bytes.len() } else { bytes.len() };
            if self.link.done[0] {
                continue;
            }
            out.copy_both_data(&mut |message| {
                replication::log_data(message, lsn, lsn, runtime::wall_clock_micros());
                message.extend_from_slice(&bytes);
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Waits for whatever comes first; with a decoder, what the receiver says moves the slot.
    fn wait(
        &mut self,
        decoder: Option<&mut Decoder>,
        caught_up: bool,
        out: &mut dyn Output,
    ) -> SqlResult<()> {
        let until = self.link.until();
        let received = {
            let mut ready = self.ready(caught_up);
            out.copy_both_wait(ready.as_mut(), until)?
        };
        match received {
            Both::Ready => {}
            Both::Data(body) => {
                self.link.hears();
                if let Reply::Status(status) = replication::reply(&body)? {
                    self.note_status(&status, decoder, out)?;
                }
            }
            Both::Done => self.link.receiver_is_done(out)?,
            Both::Time => self.link.time_is_up(self.position, out)?,
        }
        Ok(())
    }

    /// What there is to wait for, once everything is sent.
    fn ready(&self, caught_up: bool) -> Pin<Box<dyn Future<Output = ()> + '_>> {
        if !caught_up {
            return Box::pin(std::future::ready(()));
        }
        let senders = self.session.instance.senders();
        let more = self.wal.until_flushed_behind(self.position.max(self.wal.flushed()));
        match senders.is_complete() {
            true => Box::pin(more),
            false => Box::pin(either(more, senders.until_complete())),
        }
    }

    /// Whether the log is complete, all of it was told, and the receiver has all. Asks it otherwise.
    fn is_complete(&mut self, caught_up: bool, out: &mut dyn Output) -> bool {
        if !caught_up || self.link.done[0] || !self.session.instance.senders().is_complete() {
            return false;
        }
        self.link.is_complete(self.position, out)
    }

    fn note_status(
        &mut self,
        status: &Status,
        decoder: Option<&mut Decoder>,
        out: &mut dyn Output,
    ) -> SqlResult<()> {
        self.link.note_status(status);
        if status.flushed != Lsn::INVALID {
            let restart = decoder.and_then(|decoder| decoder.restart_for(status.flushed));
            self.slot.confirm(status.flushed, restart);
            if restart.is_some() {
                // The log goes only behind what the file says.
                self.slot.save().map_err(slot_error)?;
            }
        }
        self.link.answer(status, self.position, out);
        Ok(())
    }
}
