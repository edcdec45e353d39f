//! The messages of an authenticated session, carried out inside its fiber.
//!
//! # Invariants
//! 1. After an error in the extended protocol every message up to Sync is skipped.
//! 2. ReadyForQuery ends each Query and each Sync, and nothing else.
//!
//! # PostgreSQL counterpart and differences
//! The loop of `PostgresMain`.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

use base::{Lines, Oid, Severity, SqlError, SqlResult, SqlState, sql_err};
use counters::SessionEnd;
use runtime::{Interrupt, Interrupts, JoinHandle, with_interrupts};
use session::{Format, TransactionStatus};
use smallvec::SmallVec;
use wire::Frame;
use wire::backend;
use wire::frontend::{self, Bind, Formats, Frontend, FunctionCall, Target};

use super::io::{Arrival, Io, timer};
use crate::backend::Client;
use crate::log::{self, Subject};

/// What follows a batch of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Wait for more.
    Continue,
    /// The session is over.
    Close,
}

/// An authenticated session. It is moved into the fiber that carries out its messages, and back.
pub struct Connection {
    pub(super) io: Io,
    pub(super) client: Box<dyn Client>,
    pub(super) interrupts: Interrupts,
    pub(super) subject: Subject,
    /// How the session will have ended.
    pub(super) end: SessionEnd,
    /// It replicates: only the simple protocol is spoken.
    replicates: bool,
    /// Skipping to Sync after an error.
    skipping: bool,
    /// Text of the Query, or name of the portal of the Execute that runs: it must not lie in the input buffer, which COPY
    /// reads on.
    text: String,
    /// Messages came since the last ReadyForQuery.
    busy: bool,
    transaction_timer: Option<JoinHandle<()>>,
}

impl Connection {
    pub(super) fn new(
        io: Io,
        client: Box<dyn Client>,
        interrupts: Interrupts,
        subject: Subject,
        replicates: bool,
    ) -> Connection {
        Connection {
            io,
            client,
            interrupts,
            subject,
            end: SessionEnd::Wanted,
            replicates,
            skipping: false,
            text: String::new(),
            busy: false,
            transaction_timer: None,
        }
    }

    /// Notes what the next messages will look at.
    pub(super) fn note_lines(&self, lines: &mut Lines) {
        lines.clear();
        lines.add(self);
        self.interrupts.note_lines(lines);
        self.client.note_lines(lines);
    }

    /// Waits for bytes or an interrupt; while the session is idle, for news too. `lines` as noted: they are fetched while the system reads the socket, if
    /// other sessions may have driven them out of the processor's caches.
    pub(super) async fn arrival(&mut self, lines: &Lines) -> Arrival {
        let idle = self.is_idle();
        let fetch = || {
            if !runtime::is_alone() {
                lines.fetch();
            }
        };
        self.io.fill_or_interrupt(idle, fetch).await
    }

    /// Carries out all whole messages in the input buffer.
    pub(super) fn run_batch(&mut self) -> Next {
        let interrupts = self.interrupts.clone();
        with_interrupts(&interrupts, || {
            loop {
                match catch_unwind(AssertUnwindSafe(|| self.step())) {
                    Ok(Some(Next::Continue)) => {}
                    Ok(Some(Next::Close)) => {
                        self.settle();
                        return Next::Close;
                    }
                    Ok(None) => return self.settle(),
                    // The fiber is being dropped: this is not a panic of ours.
                    Err(payload) if runtime::fiber::is_unwinding() => resume_unwind(payload),
                    Err(payload) => {
                        let message = runtime::spawn::panic_message(&*payload);
                        let mut error = SqlError::internal(format!("internal error: {message}"));
                        error.report_mut().severity = Severity::Fatal;
                        self.send_error(&error);
                        return Next::Close;
                    }
                }
            }
        })
    }

    /// What the batch answered is about to be sent.
    fn settle(&mut self) -> Next {
        match self.io.settle() {
            Ok(()) => Next::Continue,
            Err(error) => {
                self.send_error(&error);
                Next::Close
            }
        }
    }

    /// The next message; `None` when there is no whole one.
    fn step(&mut self) -> Option<Next> {
        let frame = match wire::frame(self.io.unread()) {
            Ok(Some(frame)) => frame,
            Ok(None) => return None,
            Err(error) => return Some(self.failed(error, b'?')),
        };
        let (kind, length) = (frame.kind, frame.length);
        if self.skipping && !matches!(kind, b'S' | b'X') {
            self.io.consume(length);
            return Some(Next::Continue);
        }
        if self.replicates && matches!(kind, b'P' | b'B' | b'E' | b'D' | b'C' | b'F') {
            return Some(self.forbidden(kind, length));
        }
        let result = match kind {
            b'X' => return Some(Next::Close),
            // Left over from a COPY that has failed.
            b'd' | b'c' | b'f' => {
                self.io.consume(length);
                return Some(Next::Continue);
            }
            b'Q' | b'E' => self.run(kind, length),
            _ => self.borrowed(kind, length),
        };
        Some(match result {
            Ok(()) => Next::Continue,
            Err(error) => self.failed(error, kind),
        })
    }

    /// A message that connections which replicate may not send.
    fn forbidden(&mut self, kind: u8, length: usize) -> Next {
        self.io.consume(length);
        let what = if kind == b'F' { "fastpath function calls" } else { "extended query protocol" };
        let error = SqlError::new(
            SqlState::PROTOCOL_VIOLATION,
            format!("{what} not supported in a replication connection"),
        );
        self.failed(error, kind)
    }

    /// A message that may read on (COPY): what it needs is copied out of the input buffer first.
    fn run(&mut self, kind: u8, length: usize) -> SqlResult<()> {
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        let frame = whole(kind, &self.io.unread()[..length]);
        let body = self.io.decoded(&frame);
        let message = match &body {
            Ok(body) => frontend::decode(&Frame { body, ..frame }),
            Err(error) => Err(error.clone()),
        };
        let max_rows = match &message {
            Ok(Frontend::Query(query)) => {
                text.push_str(query);
                None
            }
            Ok(Frontend::Execute { portal, max_rows }) => {
                text.push_str(portal);
                Some(*max_rows)
            }
            _ => None,
        };
        let checked = message.map(|_| ());
        drop(body);
        self.io.consume(length);
        checked?;
        let result = match max_rows {
            Some(max_rows) => {
                self.begin_statement();
                // PostgreSQL takes negative numbers for no limit.
                self.client.execute(&text, u32::try_from(max_rows).unwrap_or(0), &mut self.io)
            }
            None => self.query(&text),
        };
        // What a huge statement needed is not kept.
        if text.capacity() <= 64 << 10 {
            self.text = text;
        }
        result
    }

    fn query(&mut self, text: &str) -> SqlResult<()> {
        self.begin_statement();
        let result = self.client.simple_query(text, &mut self.io);
        self.survive(result)?;
        self.ready()
    }

    /// Tells the client of an error, unless it ends the session.
    fn survive(&mut self, result: SqlResult<()>) -> SqlResult<()> {
        let Err(error) = result else { return Ok(()) };
        let error = self.weighed(error);
        if error.report().severity >= Severity::Fatal {
            return Err(error);
        }
        self.send_error(&error);
        Ok(())
    }

    /// The error as one that ends the session, if each does.
    fn weighed(&self, mut error: SqlError) -> SqlError {
        if error.report().severity < Severity::Fatal && self.client.exits_on_error() {
            error.report_mut().severity = Severity::Fatal;
        }
        error
    }

    /// A message that only looks at its own bytes.
    fn borrowed(&mut self, kind: u8, length: usize) -> SqlResult<()> {
        let input = std::mem::take(&mut self.io.input);
        let position = self.io.position;
        let frame = whole(kind, &input[position..position + length]);
        let body = self.io.decoded(&frame);
        let result = body.and_then(|body| self.dispatch(&Frame { body: &body, ..frame }));
        self.io.input = input;
        self.io.consume(length);
        if matches!(result, Ok(true)) {
            return self.ready();
        }
        result.map(|_| ())
    }

    /// Carries out a message; true when ReadyForQuery is due.
    fn dispatch(&mut self, frame: &wire::Frame<'_>) -> SqlResult<bool> {
        match frontend::decode(frame)? {
            Frontend::Parse { name, query, types } => {
                self.begin_statement();
                let types: SmallVec<[Oid; 16]> = types.iter().map(Oid).collect();
                self.client.parse(name, query, &types, &mut self.io)?;
                backend::parse_complete(self.io.out());
            }
            Frontend::Bind(bind) => {
                self.begin_statement();
                self.bind(&bind)?;
                backend::bind_complete(self.io.out());
            }
            Frontend::Describe(Target::Statement(name)) => {
                self.begin_statement();
                self.client.describe_statement(name, &mut self.io)?;
            }
            Frontend::Describe(Target::Portal(name)) => {
                self.begin_statement();
                self.client.describe_portal(name, &mut self.io)?;
            }
            Frontend::Close(target) => {
                match target {
                    Target::Statement(name) => self.client.close_statement(name),
                    Target::Portal(name) => self.client.close_portal(name),
                }
                backend::close_complete(self.io.out());
            }
            Frontend::Flush => self.io.flush_in_fiber()?,
            Frontend::Sync => {
                self.skipping = false;
                let result = self.client.sync(&mut self.io);
                self.survive(result)?;
                return Ok(true);
            }
            Frontend::FunctionCall(call) => {
                self.begin_statement();
                let result = self.call(&call);
                self.survive(result)?;
                return Ok(true);
            }
            _ => {}
        }
        Ok(false)
    }

    fn call(&mut self, call: &FunctionCall<'_>) -> SqlResult<()> {
        let argument_formats = formats(call.formats)?;
        let result = Format::from_code(call.result_format).ok_or_else(|| {
            sql_err!(INVALID_PARAMETER_VALUE, "unsupported format code: {}", call.result_format)
        })?;
        let mut arguments: SmallVec<[Option<&[u8]>; 4]> = SmallVec::with_capacity(call.argument_count());
        arguments.extend(call.arguments());
        let function = Oid(call.function);
        let value =
            self.client.function_call(function, &argument_formats, &arguments, result, &mut self.io)?;
        backend::function_call_response(self.io.out(), value.as_deref());
        Ok(())
    }

    fn bind(&mut self, bind: &Bind<'_>) -> SqlResult<()> {
        let parameter_formats = formats(bind.parameter_formats)?;
        let result_formats = formats(bind.result_formats)?;
        let mut parameters: SmallVec<[Option<&[u8]>; 4]> = SmallVec::with_capacity(bind.parameter_count());
        bind.parameters().for_each(|parameter| parameters.push(parameter));
        self.client.bind(bind.portal, bind.statement, &parameter_formats, &parameters, &result_formats)
    }

    /// ReadyForQuery. It is sent with everything before it: now if more messages have come already, else by the session's loop.
    fn ready(&mut self) -> SqlResult<()> {
        self.end_statement();
        self.tell_news();
        let status = match self.client.transaction_status() {
            TransactionStatus::Idle => backend::TransactionStatus::Idle,
            TransactionStatus::InBlock => backend::TransactionStatus::InTransaction,
            TransactionStatus::Failed => backend::TransactionStatus::Failed,
        };
        backend::ready_for_query(self.io.out(), status);
        if self.io.unread().is_empty() { Ok(()) } else { self.io.flush_in_fiber() }
    }

    /// Writes what other sessions told this one, unless a transaction runs; whether there was something.
    pub(super) fn tell_news(&mut self) -> bool {
        if !self.is_idle() || !self.interrupts.take_news() {
            return false;
        }
        let notifications = self.client.take_notifications();
        for notification in &notifications {
            let (pid, channel, payload) = (notification.pid, &notification.channel, &notification.payload);
            let told = self.io.say(|out| backend::notification(out, pid, channel, payload));
            if let Err(error) = told {
                self.send_error(&error);
            }
        }
        !notifications.is_empty()
    }

    /// Whether the session is between two transactions, and not in the middle of a series of extended messages.
    pub(super) fn is_idle(&self) -> bool {
        !self.busy && !self.skipping && self.client.transaction_status() == TransactionStatus::Idle
    }

    /// An error of a message of this kind.
    fn failed(&mut self, error: SqlError, kind: u8) -> Next {
        if error.code() == SqlState::PROTOCOL_VIOLATION
            || error.code() == SqlState::CHARACTER_NOT_IN_REPERTOIRE
            || error.code() == SqlState::UNTRANSLATABLE_CHARACTER
        {
            // Found by the server, so the session does not know of it yet.
            self.client.fail(&error);
        }
        if session::replication::is_end(&error) {
            return Next::Close;
        }
        let error = self.weighed(error);
        self.send_error(&error);
        if error.report().severity >= Severity::Fatal {
            return Next::Close;
        }
        match kind {
            b'P' | b'B' | b'D' | b'C' | b'E' | b'H' => {
                self.skipping = true;
                Next::Continue
            }
            _ => match self.ready() {
                Ok(()) => Next::Continue,
                Err(_) => Next::Close,
            },
        }
    }

    pub(super) fn send_error(&mut self, error: &SqlError) {
        if error.report().severity >= Severity::Fatal {
            self.end = match error.code() == SqlState::ADMIN_SHUTDOWN {
                true => SessionEnd::Killed,
                false => SessionEnd::Fatal,
            };
        }
        let situation = self.client.situation();
        let statement = self.client.failed_statement(error.report().severity);
        log::report_in(error, Some(&self.subject), statement.as_deref(), &situation);
        if let Err(other) = self.io.say(|out| backend::error_response(out, error.report())) {
            // What cannot be told in the client's encoding: that is told instead.
            backend::error_response(self.io.out(), other.report());
        }
    }

    /// Starts the clocks of a statement, unless they run.
    fn begin_statement(&mut self) {
        let timeouts = self.client.timeouts();
        if !self.busy {
            self.busy = true;
            self.interrupts.begin_statement();
        }
        if timeouts.watch_statements() || self.transaction_timer.is_some() {
            self.io.time_statement(timeouts.statement);
            self.io.watch_client(timeouts.client_check);
            self.time_transaction(timeouts.transaction);
        }
    }

    fn end_statement(&mut self) {
        self.busy = false;
        self.io.statement_ends();
        // A cancel request that comes while nothing runs is ignored.
        self.interrupts.end_statement();
        if self.client.take_chained() {
            self.time_transaction(0);
        }
        match self.client.transaction_status() {
            TransactionStatus::Idle => self.time_transaction(0),
            // The statement may have been the one that set it.
            _ => self.time_transaction(self.client.timeouts().transaction),
        }
    }

    /// Starts the clock of `transaction_timeout` unless it runs; 0 stops it.
    #[inline]
    fn time_transaction(&mut self, timeout: i32) {
        match &self.transaction_timer {
            None if timeout != 0 => {
                self.transaction_timer =
                    Some(timer(&self.interrupts, timeout, Interrupt::TransactionTimeout));
            }
            Some(timer) if timeout == 0 => {
                timer.abort();
                self.interrupts.clear(Interrupt::TransactionTimeout);
                self.transaction_timer = None;
            }
            _ => {}
        }
    }

    /// How long the client may be silent now, and what happens then.
    pub(super) fn idle_limit(&self) -> Option<(Duration, Interrupt)> {
        let timeouts = self.client.timeouts();
        let (millis, interrupt) = match self.client.transaction_status() {
            TransactionStatus::Idle => (timeouts.idle_session, Interrupt::IdleSessionTimeout),
            _ => (timeouts.idle_in_transaction, Interrupt::IdleInTransactionTimeout),
        };
        // In the middle of a series of extended messages the client is not idle.
        let waiting = !self.busy && !self.skipping;
        (millis > 0 && waiting).then(|| (Duration::from_millis(millis.unsigned_abs().into()), interrupt))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(timer) = &self.transaction_timer {
            timer.abort();
        }
    }
}

/// A message that was found to be all there.
fn whole(kind: u8, bytes: &[u8]) -> wire::Frame<'_> {
    wire::Frame { kind, body: &bytes[5..], length: bytes.len() }
}

#[inline]
fn formats(codes: Formats<'_>) -> SqlResult<SmallVec<[Format; 16]>> {
    let mut formats = SmallVec::with_capacity(codes.len());
    for code in codes.iter() {
        let unsupported = || sql_err!(INVALID_PARAMETER_VALUE, "unsupported format code: {code}");
        formats.push(Format::from_code(code).ok_or_else(unsupported)?);
    }
    Ok(formats)
}
