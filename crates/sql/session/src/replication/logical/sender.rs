//! START_REPLICATION … LOGICAL: a slot's changes to one receiver, as they commit.
//!
//! Invariants
//! 1. Only what is on disk is told, and positions that the receiver confirms move the slot: never back.
//! 2. Some 64 KiB of messages wait for the socket at most, and a message.
//! 3. A sender sleeps until there is more log, a message of its receiver, or something is due by the clock.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use base::settings::Setting;
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
use crate::replication::sender::finished;
use crate::replication::{Sender, SenderState, slot_error};

/// How often is looked for transactions that ended without a word.
const LOOK_FOR_LOST: Duration = Duration::from_secs(10);

/// Records that are read before the receiver is listened to.
const RECORDS: usize = 256;
/// Bytes of messages that may wait for the socket while more are written.
const MOST_UNSENT: usize = 64 << 10;

/// How a stream ended.
enum End {
    /// The receiver wanted no more.
    Wanted,
    /// All is sent, and the server stops.
    Complete,
}

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
            heard: runtime::now(),
            asked: false,
            done: [false; 2],
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
    /// When the receiver was last heard of.
    heard: Instant,
    /// It was asked for an answer since.
    asked: bool,
    /// We have said that nothing will follow, and the receiver has.
    done: [bool; 2],
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
            if self.done == [true; 2] {
                return Ok(End::Wanted);
            }
            let mut caught_up = self.done[0];
            for _ in 0..RECORDS {
                if caught_up || self.unsent > 0 {
                    break;
                }
                caught_up = !self.send_more(&mut decoder, plugin.as_mut(), out)?;
            }
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
        let now = (runtime::now().0 / 1000) as i64;
        self.sender.update(|figures| figures.sends(self.position, now));
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
            self.say_alive(false, out);
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
            if self.done[0] {
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
        let millis = self.session.settings.borrow().get(Setting::wal_sender_timeout).as_int();
        let patience = (millis > 0).then(|| Duration::from_millis(millis.unsigned_abs().into()));
        let until = patience.map(|patience| self.heard + if self.asked { patience } else { patience / 2 });
        let received = {
            let mut ready = self.ready(caught_up);
            out.copy_both_wait(ready.as_mut(), until)?
        };
        match received {
            Both::Ready => {}
            Both::Data(body) => {
                (self.heard, self.asked) = (runtime::now(), false);
                if let Reply::Status(status) = replication::reply(&body)? {
                    self.note_status(&status, decoder, out)?;
                }
            }
            Both::Done => {
                if !self.done[0] {
                    out.copy_out_done()?;
                }
                self.done = [true; 2];
            }
            Both::Time => self.time_is_up(patience, out)?,
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
        if !caught_up || self.done[0] || !self.session.instance.senders().is_complete() {
            return false;
        }
        let [written, flushed, _] = self.sender.figures().reported;
        let has = if flushed == Lsn::INVALID { written } else { flushed };
        let has_all = has >= self.position;
        if !has_all && !self.asked {
            self.asked = true;
            self.say_alive(true, out);
        }
        has_all && !out.is_behind()
    }

    fn say_alive(&self, asks: bool, out: &mut dyn Output) {
        // Nothing is written that could fail.
        let _ = out.copy_both_data(&mut |message| {
            message.extend(replication::keepalive(self.position, runtime::wall_clock_micros(), asks));
            Ok(())
        });
    }

    fn note_status(
        &mut self,
        status: &Status,
        decoder: Option<&mut Decoder>,
        out: &mut dyn Output,
    ) -> SqlResult<()> {
        let now = (runtime::now().0 / 1000) as i64;
        self.sender.update(|figures| {
            let settings = self.session.settings.borrow();
            let name = settings.text(Setting::application_name);
            if figures.name != name {
                name.clone_into(&mut figures.name);
            }
            figures.replied(status, now);
        });
        let standbys = self.session.engine().txns().standbys();
        for line in self.session.instance.senders().release(standbys) {
            self.session.log(line, None);
        }
        if status.flushed != Lsn::INVALID {
            let restart = decoder.and_then(|decoder| decoder.restart_for(status.flushed));
            self.slot.confirm(status.flushed, restart);
            if restart.is_some() {
                // The log goes only behind what the file says.
                self.slot.save().map_err(slot_error)?;
            }
        }
        if status.asks && !self.done[0] {
            self.say_alive(false, out);
        }
        Ok(())
    }

    /// The receiver has been silent for half of its time, or for all of it.
    fn time_is_up(&mut self, patience: Option<Duration>, out: &mut dyn Output) -> SqlResult<()> {
        let Some(patience) = patience else { return Ok(()) };
        let silence = self.heard.elapsed();
        if silence >= patience {
            self.session.log("terminating walsender process due to replication timeout".into(), None);
            return Err(finished());
        }
        if silence >= patience / 2 && !self.asked {
            self.asked = true;
            self.say_alive(true, out);
        }
        Ok(())
    }
}
