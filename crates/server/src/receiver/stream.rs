//! A stream of the log, from the connection to its end.

use std::sync::Arc;
use std::time::Duration;

use base::settings::{ServerSettings, Setting};
use base::{Lsn, SqlError, SqlResult, SqlState, TimelineId};
use client::{Connection, Copied, Failure, Options};
use engine::{Begin, Phase};
use runtime::spawn::{JoinError, ThreadHandle};
use runtime::{Event, Instant};
use wal::{History, Incoming, Syncing, Wal, WalError};
use wire::replication::{Feedback, Message, Status, message};

use super::Receiver;
use crate::log;

/// Bytes that are not made durable on the stream's own thread: the sender would wait meanwhile.
const MUCH: u64 = 128 << 10;
/// Bytes that are not durable from which on no more are received.
const AHEAD: u64 = 32 << 20;

/// A thread that makes something durable.
type Flusher = ThreadHandle<(Syncing, Result<(), WalError>)>;
/// What it says in the end.
type Synced = Result<(Syncing, Result<(), WalError>), JoinError>;

/// Receives a time line from `begin` on, or from `again` if the sender has not come that far, until it ends, the connection fails, or `end` is set. What has arrived is kept, however it ends: recovery, which reads
/// on once this is over, then has seen all that is in the files.
pub async fn receive(
    receiver: &Receiver,
    wal: &Arc<Wal>,
    (begin, again): (Begin, Begin),
    end: &Event,
) -> SqlResult<()> {
    let open = async {
        let settings = receiver.settings();
        let mut stream = Stream::connect(receiver, wal, &settings, (begin, again)).await?;
        stream.fetch_histories(stream.timeline).await?;
        Ok(stream.begin(&settings).await?.then_some(stream))
    };
    let Some(mut stream) = unless_unwanted(end, open).await? else { return Ok(()) };
    let result = unless_unwanted(end, stream.run()).await;
    let kept = stream.keep().await;
    result.and(kept)
}

/// What comes of it, unless nobody wants it any more.
async fn unless_unwanted<T>(end: &Event, course: impl Future<Output = SqlResult<T>>) -> SqlResult<T> {
    tokio::select! {
        biased;
        () = end.until_set() => Err(SqlError::fatal(
            SqlState::ADMIN_SHUTDOWN,
            "terminating walreceiver process due to administrator command",
        )),
        result = course => result,
    }
}

fn failed(what: &str, failure: &Failure) -> SqlError {
    let message = match failure {
        Failure::Refused(complaint) => {
            let error = SqlError::fatal(
                SqlState::CONNECTION_FAILURE,
                format!("{what}: {}:  {}", complaint.severity, complaint.message),
            );
            return match complaint.detail.is_empty() {
                true => error,
                false => error.detail(complaint.detail.clone()),
            };
        }
        Failure::Broken(message) => format!("{what}: {message}"),
    };
    SqlError::fatal(SqlState::CONNECTION_FAILURE, message)
}

fn disk(error: WalError) -> SqlError {
    let mut error = base::os::file_error(error.kind, error.transient, error.message);
    error.report_mut().severity = base::Severity::Fatal;
    error
}

fn violation(message: impl Into<String>) -> SqlError {
    SqlError::fatal(SqlState::PROTOCOL_VIOLATION, message)
}

/// Waits until what is being made durable is so; for ever if nothing is.
async fn until_synced(syncing: &mut Option<Flusher>) -> Synced {
    match syncing {
        Some(thread) => thread.await,
        None => std::future::pending().await,
    }
}

/// A number of a time line in an answer.
fn timeline_of(text: Option<&Option<String>>) -> Option<TimelineId> {
    text?.as_deref()?.parse().ok().map(TimelineId)
}

/// A connection that receives.
struct Stream<'a> {
    receiver: &'a Receiver,
    wal: &'a Arc<Wal>,
    connection: Connection,
    incoming: Incoming,
    timeline: TimelineId,
    /// The newest time line of the sender.
    newest: TimelineId,
    /// What was told of how far we are, and when.
    told: [Lsn; 3],
    told_at: Instant,
    /// When the sender was last heard of; it was asked for a word since.
    heard: Instant,
    asked: bool,
    /// The sender holds back rows for us; when it was told last of which.
    holds: bool,
    fed_back_at: Option<Instant>,
    /// What is being made durable on another thread.
    syncing: Option<Flusher>,
    /// Something could not be made durable: whether it is no later attempt can tell.
    in_doubt: bool,
}

impl<'a> Stream<'a> {
    /// Connects to the sender, and makes sure that its data are ours.
    async fn connect(
        receiver: &'a Receiver,
        wal: &'a Arc<Wal>,
        settings: &ServerSettings,
        (begin, again): (Begin, Begin),
    ) -> SqlResult<Stream<'a>> {
        let name = match settings.text(Setting::cluster_name) {
            "" => "walreceiver",
            name => name,
        };
        let text = settings.text(Setting::primary_conninfo);
        let environment = |name: &str| std::env::var(name).ok();
        let warn = |warning: &str| log::log(warning.to_owned());
        let options = Options::parse(text, name, &environment, warn).map_err(|why| {
            SqlError::fatal(SqlState::SYNTAX_ERROR, format!("invalid connection string syntax: {why}"))
        })?;
        let mut connection = Connection::open(&options, "true").await.map_err(|failure| {
            failed(
                &format!("streaming replication receiver \"{name}\" could not connect to the primary server"),
                &failure,
            )
        })?;
        receiver.inflow.update(|progress| {
            let sender = &mut progress.sender;
            (sender.host, sender.port) = (connection.host.clone(), connection.port);
            sender.connection = client::options::shown(text);
        });
        let what = "could not receive database system identifier and timeline ID from the primary server";
        let rows = connection.query("IDENTIFY_SYSTEM").await.map_err(|failure| failed(what, &failure))?;
        let row = rows.first().filter(|row| row.len() >= 3);
        let identifier = row
            .and_then(|row| row[0].clone())
            .ok_or_else(|| violation("invalid response from primary server"))?;
        let newest = timeline_of(row.and_then(|row| row.get(1)))
            .ok_or_else(|| violation("invalid response from primary server"))?;
        let own = wal.system_identifier().to_string();
        if identifier != own {
            let message = "database system identifier differs between the primary and standby";
            return Err(SqlError::fatal(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, message).detail(
                format!("The primary's identifier is {identifier}, the standby's identifier is {own}."),
            ));
        }
        let reached = row.and_then(|row| row[2].as_deref()?.parse::<Lsn>().ok());
        let Begin { at: start, timeline } = match reached {
            Some(reached) if reached < begin.at => again,
            _ => begin,
        };
        receiver.inflow.update(|progress| progress.begin(Begin { at: start, timeline }));
        if newest < timeline {
            return Err(SqlError::fatal(
                SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
                format!("highest timeline {newest} of the primary is behind recovery timeline {timeline}"),
            ));
        }
        let now = runtime::now();
        Ok(Stream {
            receiver,
            wal,
            connection,
            incoming: Incoming::new(wal.clone(), timeline, start),
            timeline,
            newest,
            told: [Lsn::INVALID; 3],
            told_at: now,
            heard: now,
            asked: false,
            holds: false,
            fed_back_at: None,
            syncing: None,
            in_doubt: false,
        })
    }

    /// Brings the histories of time lines from `first` to the sender's, where they are not there yet.
    async fn fetch_histories(&mut self, first: TimelineId) -> SqlResult<()> {
        let mut timeline = first;
        while timeline <= self.newest {
            if timeline > TimelineId::FIRST
                && History::read(self.wal.dir(), timeline).map_err(disk)?.is_none()
            {
                self.fetch_history(timeline).await?;
            }
            timeline = timeline.next();
        }
        Ok(())
    }

    async fn fetch_history(&mut self, timeline: TimelineId) -> SqlResult<()> {
        log::log(format!("fetching timeline history file for timeline {timeline} from primary server"));
        let what = "could not receive timeline history file from the primary server";
        let command = format!("TIMELINE_HISTORY {timeline}");
        let rows = self.connection.query(&command).await.map_err(|failure| failed(what, &failure))?;
        let Some([Some(name), Some(text)]) = rows.first().map(Vec::as_slice) else {
            return Err(violation("invalid response from primary server"));
        };
        let wanted = History::file_name(timeline);
        if *name != wanted {
            return Err(violation(format!(
                "primary reported unexpected file name for timeline history file of timeline {timeline}"
            )));
        }
        let history =
            History::parse(timeline, text).map_err(|error| violation(error.message).hint(error.hint))?;
        history.write(self.wal.dir()).map_err(disk)?;
        match self.wal.archive() {
            archive if archive.is_active() => archive.notify(&wanted),
            archive => archive.set_done(&wanted),
        }
        .map_err(disk)
    }

    /// Begins to stream; false if the sender has no more of this time line.
    async fn begin(&mut self, settings: &ServerSettings) -> SqlResult<bool> {
        let mut slot = settings.text(Setting::primary_slot_name).to_owned();
        if slot.is_empty() && settings.bool(Setting::wal_receiver_create_temp_slot) {
            slot = format!("pg_walreceiver_{}", std::process::id());
            let command = format!("CREATE_REPLICATION_SLOT \"{slot}\" TEMPORARY PHYSICAL RESERVE_WAL");
            let what = format!("could not create replication slot \"{slot}\"");
            self.connection.query(&command).await.map_err(|failure| failed(&what, &failure))?;
        }
        let (start, timeline) = (self.incoming.written(), self.timeline);
        let named = if slot.is_empty() { String::new() } else { format!("SLOT \"{slot}\" ") };
        let command = format!("START_REPLICATION {named}PHYSICAL {start} TIMELINE {timeline}");
        let what = "could not start WAL streaming";
        let streams =
            self.connection.start_stream(&command).await.map_err(|failure| failed(what, &failure))?;
        if !streams {
            self.next_timeline().await?;
            log::log(format!("primary server contains no more WAL on requested timeline {timeline}"));
            return Ok(false);
        }
        log::log(format!("started streaming WAL from primary at {start} on timeline {timeline}"));
        self.heard = runtime::now();
        self.receiver.inflow.update(|progress| {
            progress.phase = Phase::Streaming;
            progress.sender.slot = slot;
        });
        Ok(true)
    }

    /// Receives until the time line ends.
    async fn run(&mut self) -> SqlResult<()> {
        self.tell(true, false).await?;
        loop {
            while let Some(copied) = self.connection.try_receive().map_err(|failure| lost(&failure))? {
                match copied {
                    Copied::Data => self.take().await?,
                    Copied::Done => return self.end().await,
                    Copied::Ended => return self.sender_stops().await,
                }
            }
            self.flush()?;
            self.tell(false, false).await?;
            let settings = self.receiver.settings();
            self.feed_back(&settings).await?;
            let due = self.due(&settings);
            tokio::select! {
                // In this order, which is no random one: a simulation does the same each time.
                biased;
                done = until_synced(&mut self.syncing) => self.synced(done)?,
                arrived = self.connection.readable(), if self.incoming.unflushed() < AHEAD => arrived.map_err(|failure| lost(&failure))?,
                // A commit there may wait for it to be seen here.
                () = self.receiver.inflow.until_applied_behind(self.told[2]), if self.told[2] < self.told[1] && reports(&settings) => {}
                () = runtime::sleep(due) => self.time_is_up(&settings).await?,
            }
        }
    }

    /// A message of the stream.
    async fn take(&mut self) -> SqlResult<()> {
        (self.heard, self.asked) = (runtime::now(), false);
        let now = runtime::wall_clock_micros();
        let heard = |end: Lsn, time: i64| {
            self.receiver.inflow.update(|progress| {
                let sender = &mut progress.sender;
                (sender.sent_at, sender.arrived_at) = (time, now);
                if sender.end < end {
                    (sender.end, sender.end_at) = (end, now);
                }
            });
        };
        match message(self.connection.message()).map_err(|error| violation(error.message()))? {
            Message::Log { start, end, time, bytes } => {
                if start != self.incoming.written() {
                    let expected = self.incoming.written();
                    return Err(violation(format!("received WAL at {start}, expected {expected}")));
                }
                heard(end, time);
                self.incoming.write(bytes).map_err(disk)
            }
            Message::Alive { end, time, asks } => {
                heard(end, time);
                if asks { self.tell(true, false).await } else { Ok(()) }
            }
        }
    }

    /// Makes durable what was written, here if it is little, and else on another thread: the stream goes on beside it.
    fn flush(&mut self) -> SqlResult<()> {
        match self.incoming.unflushed() {
            0 => {}
            _ if self.syncing.is_some() => {}
            few if few < MUCH => self.flush_here()?,
            _ => {
                let syncing = self.incoming.sync();
                let sync = move || {
                    let result = syncing.run();
                    (syncing, result)
                };
                let thread = runtime::spawn_thread("walreceiver sync", sync);
                let failed = |error: std::io::Error| {
                    let why = base::os_error(&error);
                    let message = format!("could not start thread of the WAL receiver: {why}");
                    SqlError::fatal(SqlState::INSUFFICIENT_RESOURCES, message)
                };
                self.syncing = Some(thread.map_err(failed)?);
            }
        }
        self.note();
        Ok(())
    }

    /// What was being made durable is so.
    fn synced(&mut self, done: Synced) -> SqlResult<()> {
        self.syncing = None;
        let done = done.map_err(|error| SqlError::internal(error.to_string()));
        let synced = done
            .and_then(|(syncing, result)| result.and_then(|()| self.incoming.synced(syncing)).map_err(disk));
        self.in_doubt |= synced.is_err();
        self.note();
        synced
    }

    /// Makes durable what was written, while the stream waits.
    fn flush_here(&mut self) -> SqlResult<()> {
        let flushed = self.incoming.flush().map_err(disk);
        self.in_doubt |= flushed.is_err();
        flushed
    }

    /// Makes durable all that was written.
    async fn flush_all(&mut self) -> SqlResult<()> {
        if self.syncing.is_some() {
            let done = until_synced(&mut self.syncing).await;
            self.synced(done)?;
        }
        self.flush_here()?;
        self.note();
        Ok(())
    }

    /// The stream is over: makes durable what has arrived.
    async fn keep(&mut self) -> SqlResult<()> {
        if self.in_doubt { Ok(()) } else { self.flush_all().await }
    }

    /// Lets be replayed what is durable.
    fn note(&mut self) {
        let (written, flushed) = (self.incoming.written(), self.incoming.flushed());
        if self.receiver.inflow.durable().0 < flushed {
            self.receiver.inflow.update(|progress| {
                (progress.written, progress.flushed) = (written, flushed);
            });
        }
    }

    /// Tells the sender how far we are, if that is news; `anyway`: in any case.
    async fn tell(&mut self, anyway: bool, asks: bool) -> SqlResult<()> {
        let settings = self.receiver.settings();
        // What was replayed before may be further on than where this stream began.
        let applied = self.receiver.inflow.applied().min(self.incoming.flushed());
        let now = [self.incoming.written(), self.incoming.flushed(), applied];
        if !anyway && (!reports(&settings) || self.told == now) {
            return Ok(());
        }
        let [written, flushed, applied] = now;
        let status = Status { written, flushed, applied, time: runtime::wall_clock_micros(), asks };
        (self.told, self.told_at) = (now, runtime::now());
        self.connection.send_data(&status.encode()).await.map_err(|failure| lost(&failure))
    }

    /// Tells the sender which rows queries here need (`hot_standby_feedback`), as often as it is told how far we are.
    async fn feed_back(&mut self, settings: &ServerSettings) -> SqlResult<()> {
        let interval = settings.duration(Setting::wal_receiver_status_interval);
        let wanted = settings.bool(Setting::hot_standby_feedback) && reports(settings);
        let is_due = self.fed_back_at.is_none_or(|at| at.elapsed() >= interval);
        if !(wanted && is_due) && (wanted || !self.holds) {
            return Ok(());
        }
        let needed = self.receiver.inflow.horizon().filter(|_| wanted);
        self.fed_back_at = Some(runtime::now());
        if needed.is_none() && !self.holds {
            return Ok(());
        }
        self.holds = needed.is_some();
        let xid = needed.unwrap_or_default().0;
        let feedback = Feedback {
            time: runtime::wall_clock_micros(),
            xmin: (xid as u32, (xid >> 32) as u32),
            catalog_xmin: (0, 0),
        };
        self.connection.send_data(&feedback.encode()).await.map_err(|failure| lost(&failure))
    }

    /// When the clock asks for something next.
    fn due(&self, settings: &ServerSettings) -> Duration {
        let of = |setting: Setting, since: Instant, share: u32| {
            let most = settings.duration(setting) / share;
            (!most.is_zero()).then(|| most.saturating_sub(since.elapsed()))
        };
        let timeout = of(Setting::wal_receiver_timeout, self.heard, if self.asked { 1 } else { 2 });
        let status = of(Setting::wal_receiver_status_interval, self.told_at, 1);
        timeout
            .into_iter()
            .chain(status)
            .min()
            .unwrap_or(Duration::from_secs(3600))
            .max(Duration::from_millis(1))
    }

    async fn time_is_up(&mut self, settings: &ServerSettings) -> SqlResult<()> {
        let patience = settings.duration(Setting::wal_receiver_timeout);
        let silence = self.heard.elapsed();
        if !patience.is_zero() && silence >= patience {
            let message = "terminating walreceiver due to timeout";
            return Err(SqlError::fatal(SqlState::CONNECTION_FAILURE, message));
        }
        let asks = !patience.is_zero() && silence >= patience / 2 && !self.asked;
        self.asked |= asks;
        self.tell(true, asks).await
    }

    /// The sender has no more of this time line.
    async fn end(&mut self) -> SqlResult<()> {
        self.report_end().await?;
        self.connection.send_done().await.map_err(|failure| lost(&failure))?;
        self.next_timeline().await
    }

    /// The sender has shut down, and has sent all it had. As PostgreSQL's receiver, we report too that there is nobody to say good-bye to.
    async fn sender_stops(&mut self) -> SqlResult<()> {
        self.report_end().await?;
        let message = "could not send end-of-streaming message to primary: no COPY in progress";
        Err(SqlError::fatal(SqlState::CONNECTION_FAILURE, message))
    }

    async fn report_end(&mut self) -> SqlResult<()> {
        self.flush_all().await?;
        let at = self.incoming.written();
        log::report(
            &SqlError::with_severity(
                base::Severity::Log,
                SqlState::SUCCESSFUL_COMPLETION,
                "replication terminated by primary server",
            )
            .detail(format!("End of WAL reached on timeline {} at {at}.", self.timeline)),
            None,
            None,
        );
        Ok(())
    }

    /// What the sender says of the time line that follows: its history is fetched, and recovery goes on there.
    async fn next_timeline(&mut self) -> SqlResult<()> {
        let what = "error reading result of streaming command";
        let rows = self.connection.rows().await.map_err(|failure| failed(what, &failure))?;
        if let Some(next) = timeline_of(rows.first().and_then(|row| row.first())) {
            self.newest = self.newest.max(next);
            self.fetch_histories(self.timeline.next()).await?;
        }
        Ok(())
    }
}

/// Whether the sender is told of progress unasked.
fn reports(settings: &ServerSettings) -> bool {
    settings.int(Setting::wal_receiver_status_interval) > 0
}

fn lost(failure: &Failure) -> SqlError {
    failed("could not receive data from WAL stream", failure)
}
