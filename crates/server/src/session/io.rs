//! A client's socket with the bytes that came and those that are to go.
//!
//! # Invariants
//! 1. Both buffers come from the worker's pool and go back when they are empty and the session waits.
//! 2. The clock and the watch of a statement run while it does, and end before the socket is closed.
//! 3. Once the socket has failed, output is dropped and input has ended.
//! 4. Texts are in the client's encoding in both, and in the server's form outside.
//! 5. Over TLS both buffers hold what is plain; it is sealed as it goes and opened as it comes (`sealed`). Without TLS no byte is copied for it.

use std::borrow::Cow;
use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, RawFd};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use base::{Oid, Severity, SqlError, SqlResult, SqlState};
use runtime::{Instant, Interrupt, Interrupts, JoinHandle, WaitEvent, sleep, spawn_local, waiting};
use rustls::ServerConfig;
use session::{Both, Column, Format, Output, RowEncoder};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tuple::Datum;
use types::encoding::Passage;
use wire::backend::{self, Field};
use wire::{Frame, recode};

use super::sealed::{Sealed, Secured};
use super::sender::{self, Late, Round};

/// Output is sent when so much has gathered, even if nobody asks for it.
const SEND_AT: usize = 32 << 10;
/// Bytes asked of the socket at once.
const READ_AT_ONCE: usize = 64 << 10;
/// Buffers that grew beyond this are not kept.
const KEEP_AT_MOST: usize = 64 << 10;
/// An input buffer of so many bytes asks before it grows.
const ASK_FROM: usize = 1 << 20;
/// Buffers kept by each worker.
const POOL_LIMIT: usize = 64;

thread_local! {
    static SCRATCH: RefCell<Vec<u8>> = RefCell::new(vec![0; READ_AT_ONCE]);
    static POOL: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

pub(super) fn take_buffer() -> Vec<u8> {
    POOL.with_borrow_mut(Vec::pop).unwrap_or_else(|| Vec::with_capacity(8 << 10))
}

pub(super) fn give_buffer(buffer: &mut Vec<u8>) {
    let mut buffer = std::mem::take(buffer);
    if buffer.capacity() > 0 && buffer.capacity() <= KEEP_AT_MOST {
        buffer.clear();
        POOL.with_borrow_mut(|pool| {
            if pool.len() < POOL_LIMIT {
                pool.push(buffer);
            }
        });
    }
}

/// A connected socket.
#[derive(Debug)]
pub enum Stream {
    /// Over TCP.
    Tcp(TcpStream),
    /// Over a Unix socket.
    Unix(UnixStream),
}

impl Stream {
    /// The address that the client has connected to; `None` on a Unix socket.
    pub fn local_address(&self) -> Option<std::net::IpAddr> {
        match self {
            Stream::Tcp(s) => s.local_addr().ok().map(|address| address.ip()),
            Stream::Unix(_) => None,
        }
    }

    fn as_raw_fd(&self) -> RawFd {
        match self {
            Stream::Tcp(s) => s.as_raw_fd(),
            Stream::Unix(s) => s.as_raw_fd(),
        }
    }

    fn poll_read(&mut self, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self {
            Stream::Tcp(s) => Pin::new(s).poll_read(cx, buffer),
            Stream::Unix(s) => Pin::new(s).poll_read(cx, buffer),
        }
    }

    /// What the socket takes at once.
    fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(s) => s.try_write(bytes),
            Stream::Unix(s) => s.try_write(bytes),
        }
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self {
            Stream::Tcp(s) => Pin::new(s).poll_write(cx, bytes),
            Stream::Unix(s) => Pin::new(s).poll_write(cx, bytes),
        }
    }
}

/// What a wait for the client brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// More bytes.
    Bytes,
    /// The end: the client has gone.
    End,
    /// More bytes than there is memory for. They are dropped with all before them, and nothing more is read.
    Refused,
    /// An interrupt of the session is set, or there is news for it.
    Interrupt,
}

/// Socket and buffers of one session.
#[derive(Debug)]
pub struct Io {
    stream: Stream,
    /// Of a connection over TLS.
    sealed: Option<Box<Sealed>>,
    /// Bytes that came; those before `position` were consumed.
    pub(super) input: Vec<u8>,
    pub(super) position: usize,
    pub(super) output: Vec<u8>,
    /// So many bytes have gone of what goes to the socket as it is: the output, or what was sealed of it.
    sent: usize,
    /// When the last answer that the worker's sender got leaves.
    gathered: Round,
    interrupts: Interrupts,
    broken: bool,
    /// How texts go between client and server; none: as they are.
    passage: Option<Passage>,
    statement_timer: Option<JoinHandle<()>>,
    /// Looks whether the client is still there while a statement runs.
    watch: Option<JoinHandle<()>>,
}

impl Io {
    /// Nothing has been read or written yet.
    pub fn new(stream: Stream, interrupts: Interrupts) -> Io {
        Io {
            stream,
            sealed: None,
            input: Vec::new(),
            position: 0,
            output: Vec::new(),
            sent: 0,
            gathered: Round::default(),
            interrupts,
            broken: false,
            passage: None,
            statement_timer: None,
            watch: None,
        }
    }

    /// Address of our end, over TCP.
    pub fn local_address(&self) -> Option<SocketAddr> {
        match &self.stream {
            Stream::Tcp(stream) => stream.local_addr().ok(),
            Stream::Unix(_) => None,
        }
    }

    /// Starts the clock of `statement_timeout` (milliseconds; 0: none) unless it runs.
    #[inline]
    pub fn time_statement(&mut self, timeout: i32) {
        if timeout > 0 && self.statement_timer.is_none() {
            self.statement_timer = Some(timer(&self.interrupts, timeout, Interrupt::StatementTimeout));
        }
    }

    /// Looks every so often (milliseconds; 0: never) whether the client is still there, until the statement ends.
    #[inline]
    pub fn watch_client(&mut self, interval: i32) {
        if interval > 0 && self.watch.is_none() {
            self.start_watch(interval);
        }
    }

    #[cold]
    fn start_watch(&mut self, interval: i32) {
        let (interrupts, socket) = (self.interrupts.clone(), self.stream.as_raw_fd());
        let interval = Duration::from_millis(interval.unsigned_abs().into());
        self.watch = Some(spawn_local(async move {
            while !is_closed(socket) {
                sleep(interval).await;
            }
            interrupts.set(Interrupt::ConnectionLost);
        }));
    }

    /// The statement has ended: its clock stops.
    pub fn statement_ends(&mut self) {
        if let Some(timer) = self.statement_timer.take() {
            timer.abort();
            self.interrupts.clear(Interrupt::StatementTimeout);
        }
        if let Some(watch) = self.watch.take() {
            watch.abort();
        }
    }

    /// Its descriptor.
    pub fn socket(&self) -> RawFd {
        self.stream.as_raw_fd()
    }

    /// Bytes not yet consumed.
    pub fn unread(&self) -> &[u8] {
        &self.input[self.position..]
    }

    /// Consumes `n` bytes.
    pub fn consume(&mut self, n: usize) {
        self.position += n;
    }

    /// Gives empty buffers back: the session is about to wait for its client.
    pub fn release(&mut self) {
        if self.position == self.input.len() {
            self.position = 0;
            give_buffer(&mut self.input);
        }
        if self.output.is_empty() {
            give_buffer(&mut self.output);
        }
        if let Some(sealed) = &mut self.sealed {
            sealed.release();
        }
    }

    /// A buffer to write messages to.
    pub fn out(&mut self) -> &mut Vec<u8> {
        if self.output.capacity() == 0 {
            self.output = take_buffer();
        }
        &mut self.output
    }

    /// Writes messages whose texts go in the client's encoding. If they cannot, nothing is written.
    pub fn say(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> SqlResult<()> {
        let out = self.out();
        let start = out.len();
        write(out);
        match self.passage {
            None => Ok(()),
            Some(passage) => recode::backend(&mut self.output, start, &|text, out| {
                passage.encode(types::value::str_of(text), out)
            }),
        }
    }

    /// A message of the client with its texts as the server has them.
    pub fn decoded<'m>(&self, frame: &Frame<'m>) -> SqlResult<Cow<'m, [u8]>> {
        match self.passage {
            None => Ok(Cow::Borrowed(frame.body)),
            Some(passage) => recode::frontend(frame, &|bytes, out| {
                let mut text = String::with_capacity(bytes.len());
                passage.decode(bytes, &mut text)?;
                out.append(&mut text.into_bytes());
                Ok(())
            }),
        }
    }

    fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<Arrival> {
        if self.broken {
            return Poll::Ready(Arrival::End);
        }
        SCRATCH.with_borrow_mut(|scratch| {
            loop {
                let mut buffer = ReadBuf::new(scratch);
                match self.stream.poll_read(cx, &mut buffer) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(Ok(())) if !buffer.filled().is_empty() => match self.sealed.take() {
                        None => return Poll::Ready(self.received(buffer.filled())),
                        // Less than a record, or one of TLS's own, brings nothing.
                        Some(sealed) => {
                            if let Some(arrival) = self.open(sealed, buffer.filled_mut()) {
                                return Poll::Ready(arrival);
                            }
                        }
                    },
                    Poll::Ready(_) => {
                        self.broken = true;
                        return Poll::Ready(Arrival::End);
                    }
                }
            }
        })
    }

    fn received(&mut self, bytes: &[u8]) -> Arrival {
        if self.append(bytes) { Arrival::Bytes } else { Arrival::Refused }
    }

    /// Opens bytes of the socket. `None` if there was nothing for us in them.
    fn open(&mut self, mut sealed: Box<Sealed>, bytes: &mut [u8]) -> Option<Arrival> {
        // In the handshake each step is told, for there may be something to answer.
        let mut arrival = sealed.is_new.then_some(Arrival::Bytes);
        sealed.open(bytes, |plain| {
            if arrival != Some(Arrival::Refused) {
                arrival = Some(self.received(plain));
            }
        });
        if sealed.failure.is_some() || (arrival.is_none() && sealed.has_ended()) {
            // What the client did wrong it may be told; it need not listen.
            let _ = self.stream.try_write(&sealed.outgoing);
            sealed.outgoing.clear();
            self.broken = true;
            arrival = Some(Arrival::End);
        }
        self.sealed = Some(sealed);
        arrival
    }

    /// False if the memory for them is refused.
    fn append(&mut self, bytes: &[u8]) -> bool {
        if self.input.capacity() == 0 {
            self.input = take_buffer();
        }
        if self.position == self.input.len() {
            self.input.clear();
            self.position = 0;
        } else if self.position > READ_AT_ONCE {
            self.input.drain(..self.position);
            self.position = 0;
        }
        let (length, capacity) = (self.input.len(), self.input.capacity());
        // It doubles. Until it is copied, both are there.
        if capacity >= ASK_FROM
            && length + bytes.len() > capacity
            && self.interrupts.ask_memory(2 * capacity, capacity).is_err()
        {
            self.input = Vec::new();
            self.position = 0;
            return false;
        }
        self.input.extend_from_slice(bytes);
        true
    }

    /// Waits for more bytes.
    pub async fn fill(&mut self) -> Arrival {
        poll_fn(|cx| self.poll_fill(cx)).await
    }

    /// Waits for more bytes or an interrupt, or, if it is `idle`, for news. When it is woken it does `meanwhile` before it asks the socket: what can be
    /// had while the system works.
    pub async fn fill_or_interrupt(&mut self, idle: bool, meanwhile: impl Fn()) -> Arrival {
        let interrupts = self.interrupts.clone();
        let mut interrupted = pin!(async {
            match idle {
                true => interrupts.wait_any_or_news().await,
                false => interrupts.wait_any().await,
            }
        });
        let mut woken = false;
        poll_fn(|cx| {
            if std::mem::replace(&mut woken, true) {
                meanwhile();
            }
            match self.poll_late(cx) {
                // What the client has not taken yet comes first.
                Poll::Ready(()) if let ready @ Poll::Ready(_) = self.poll_fill(cx) => ready,
                _ => interrupted.as_mut().poll(cx).map(|()| Arrival::Interrupt),
            }
        })
        .await
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        sender::send_if_waiting(self.gathered);
        self.recover_late();
        self.seal();
        let bytes = match &mut self.sealed {
            None => &mut self.output,
            Some(sealed) => &mut sealed.outgoing,
        };
        while self.sent < bytes.len() && !self.broken {
            match self.stream.poll_write(cx, &bytes[self.sent..]) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(n)) if n > 0 => self.sent += n,
                Poll::Ready(_) => self.broken = true,
            }
        }
        bytes.clear();
        self.sent = 0;
        Poll::Ready(())
    }

    /// Over TLS: seals what is in the output buffer.
    fn seal(&mut self) {
        if let Some(sealed) = &mut self.sealed
            && !self.output.is_empty()
        {
            self.broken |= !sealed.seal(&self.output);
            self.output.clear();
        }
    }

    /// Whether the socket has taken everything.
    fn is_flushed(&self) -> bool {
        self.output.is_empty() && self.sealed.as_ref().is_none_or(|sealed| sealed.outgoing.is_empty())
    }

    /// Goes on with what the socket did not take at once.
    fn poll_late(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.recover_late();
        if self.is_flushed() { Poll::Ready(()) } else { self.poll_flush(cx) }
    }

    /// What the worker's sender could not send goes before all that waits for the socket.
    fn recover_late(&mut self) {
        match sender::take_late(self.stream.as_raw_fd()) {
            None => {}
            Some(Late::Failed) => self.broken = true,
            Some(Late::Bytes(mut bytes)) => {
                let waiting = match &mut self.sealed {
                    None => &mut self.output,
                    Some(sealed) => &mut sealed.outgoing,
                };
                bytes.extend_from_slice(&waiting[self.sent..]);
                *waiting = bytes;
                self.sent = 0;
            }
        }
    }

    /// Sends what is in the output buffer.
    pub async fn flush(&mut self) {
        poll_fn(|cx| self.poll_flush(cx)).await;
    }

    /// Sends what a batch of messages left in the output buffer: an answer of usual length together with those of other sessions, when they have run.
    pub async fn flush_with_others(&mut self) -> SqlResult<()> {
        if self.output.is_empty() {
            return Ok(());
        }
        let socket = self.stream.as_raw_fd();
        if self.gathered == Round::default() {
            poll_fn(|cx| {
                sender::introduce(socket, cx.waker());
                Poll::Ready(())
            })
            .await;
        }
        self.seal();
        let answer = match &mut self.sealed {
            None => &mut self.output,
            Some(sealed) => &mut sealed.outgoing,
        };
        if self.sent == 0
            && let Some(round) = sender::gather(socket, answer)
        {
            self.gathered = round;
            answer.clear();
            return Ok(());
        }
        let interrupts = self.interrupts.clone();
        unless_terminated(&interrupts, |cx| self.poll_flush(cx)).await?;
        if self.broken { Err(connection_lost()) } else { Ok(()) }
    }

    /// From inside the session's fiber: sends what is in the output buffer. Ends early when the session is terminated.
    pub fn flush_in_fiber(&mut self) -> SqlResult<()> {
        self.settle()?;
        let interrupts = self.interrupts.clone();
        let sent = unless_terminated(&interrupts, |cx| self.poll_flush(cx));
        waiting(WaitEvent::ClientWrite, || runtime::wait(sent))?;
        if self.broken {
            return Err(connection_lost());
        }
        Ok(())
    }

    /// From inside the session's fiber: waits until nothing in the output buffer can be taken back by a crash. After an error nothing of it is sent.
    pub fn settle(&mut self) -> SqlResult<()> {
        runtime::rest::settle().inspect_err(|_| self.output.clear())
    }

    /// From inside the session's fiber: waits for more bytes.
    fn fill_in_fiber(&mut self) -> SqlResult<()> {
        let interrupts = self.interrupts.clone();
        let filled = unless_terminated(&interrupts, |cx| self.poll_fill(cx));
        match waiting(WaitEvent::ClientRead, || runtime::wait(filled))? {
            Arrival::End => Err(connection_lost()),
            Arrival::Refused => Err(out_of_memory()),
            Arrival::Bytes | Arrival::Interrupt => Ok(()),
        }
    }

    /// From here on everything is sealed. The bytes that came already are the first ones of the handshake. An error says why it failed.
    pub async fn secure(&mut self, config: Arc<ServerConfig>) -> Result<Secured, String> {
        let mut sealed = Box::new(Sealed::new(config).map_err(|error| error.to_string())?);
        let mut first = std::mem::take(&mut self.input).split_off(std::mem::take(&mut self.position));
        sealed.open(&mut first, |plain| {
            self.append(plain);
        });
        self.sealed = Some(sealed);
        loop {
            self.flush().await;
            if let Some(sealed) = &mut self.sealed
                && sealed.failure.is_none()
                && !sealed.is_handshaking()
            {
                return sealed.secured();
            }
            if let Some(failure) = self.take_failure() {
                return Err(failure);
            }
            if self.fill().await == Arrival::End && !self.has_failed() {
                return Err("EOF detected".into());
            }
        }
    }

    fn has_failed(&self) -> bool {
        self.sealed.as_ref().is_some_and(|sealed| sealed.failure.is_some())
    }

    /// What was wrong with the bytes of the client that TLS should have opened.
    pub fn take_failure(&mut self) -> Option<String> {
        self.sealed.as_mut()?.failure.take()
    }

    /// Sends what is in the output buffer, and that nothing more will come.
    pub async fn finish(&mut self) {
        self.flush().await;
        if let Some(sealed) = &mut self.sealed
            && !self.broken
        {
            sealed.close();
            self.flush().await;
        }
    }

    fn copy_failed(&self, frame: &Frame<'_>) -> SqlError {
        let reason = self.decoded(frame).and_then(|body| {
            match wire::frontend::decode(&Frame { body: &body, ..*frame })? {
                wire::Frontend::CopyFail(reason) => Ok(reason.to_owned()),
                _ => Err(SqlError::internal("not a CopyFail message")),
            }
        });
        match reason {
            Ok(reason) => {
                SqlError::new(SqlState::QUERY_CANCELED, format!("COPY from stdin failed: {reason}"))
            }
            Err(error) => error,
        }
    }

    fn send_if_much(&mut self) -> SqlResult<()> {
        if self.output.len() >= SEND_AT { self.flush_in_fiber() } else { Ok(()) }
    }
}

impl Drop for Io {
    fn drop(&mut self) {
        self.statement_ends();
        sender::take_leave(self.stream.as_raw_fd(), self.gathered);
    }
}

/// Sets an interrupt when the time (milliseconds) is over.
pub fn timer(interrupts: &Interrupts, millis: i32, interrupt: Interrupt) -> JoinHandle<()> {
    let interrupts = interrupts.clone();
    let time = Duration::from_millis(millis.unsigned_abs().into());
    spawn_local(async move {
        sleep(time).await;
        interrupts.set(interrupt);
    })
}

/// Whether the peer has closed its side. Does not wait and reads nothing.
fn is_closed(socket: RawFd) -> bool {
    let closed = libc::POLLRDHUP | libc::POLLHUP | libc::POLLERR;
    let mut asked = libc::pollfd { fd: socket, events: libc::POLLRDHUP, revents: 0 };
    // SAFETY: one valid pollfd, which outlives the call; a descriptor that is not open is reported in `revents`.
    let answers = unsafe { libc::poll(&mut asked, 1, 0) };
    answers > 0 && asked.revents & closed != 0
}

fn connection_lost() -> SqlError {
    SqlError::fatal(SqlState::CONNECTION_FAILURE, "connection to client lost")
}

/// A message is too long for the memory that is left. What follows cannot be told from its rest.
pub fn out_of_memory() -> SqlError {
    SqlError::fatal(SqlState::OUT_OF_MEMORY, "out of memory").detail("Failed on a message of the client.")
}

/// Polls until it is ready, or the session is to end.
async fn unless_terminated<T>(
    interrupts: &Interrupts,
    mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>,
) -> SqlResult<T> {
    let mut interrupted = pin!(interrupts.wait_any());
    poll_fn(|cx| {
        if let Poll::Ready(value) = poll(cx) {
            return Poll::Ready(Ok(value));
        }
        // Leaves a waker for interrupts; other ones than the end of the session are not looked at here.
        if interrupted.as_mut().poll(cx).is_ready() {
            interrupted.set(interrupts.wait_any());
        }
        if interrupts.is_set(Interrupt::Terminate) {
            return Poll::Ready(Err(super::terminated()));
        }
        Poll::Pending
    })
    .await
}

impl Output for Io {
    fn row_description(&mut self, columns: &[Column], formats: &[Format]) -> SqlResult<()> {
        let format = |i: usize| match formats {
            [one] => *one,
            many => many.get(i).copied().unwrap_or_default(),
        };
        let fields = columns.iter().enumerate().map(|(i, column)| Field {
            name: &column.name,
            table: column.table.0,
            column: column.number,
            type_oid: column.type_oid.0,
            type_len: column.type_len,
            typmod: column.typmod,
            format: format(i).code(),
        });
        self.say(|out| backend::row_description(out, fields))
    }

    fn no_data(&mut self) -> SqlResult<()> {
        backend::no_data(self.out());
        Ok(())
    }

    fn parameter_description(&mut self, types: &[Oid]) -> SqlResult<()> {
        backend::parameter_description(self.out(), types.iter().map(|oid| oid.0));
        Ok(())
    }

    #[inline]
    fn data_row(&mut self, encoder: &RowEncoder<'_>, row: &[Datum]) -> SqlResult<()> {
        let passage = self.passage;
        let mut writer = backend::data_row(self.out(), row.len());
        if let Some(passage) = passage {
            for (i, value) in row.iter().enumerate() {
                if let Err(error) = writer.try_value(|out| encoder.encode_in(passage, i, value, out)) {
                    writer.abandon();
                    return Err(error);
                }
            }
            writer.finish();
            return self.send_if_much();
        }
        for (i, value) in row.iter().enumerate() {
            if let Err(error) = writer.try_value(|out| encoder.encode(i, value, out)) {
                writer.abandon();
                return Err(error);
            }
        }
        writer.finish();
        self.send_if_much()
    }

    fn next_statement(&mut self, timeout: i32) {
        if let Some(timer) = self.statement_timer.take() {
            timer.abort();
            self.interrupts.clear(Interrupt::StatementTimeout);
        }
        self.time_statement(timeout);
    }

    fn command_complete(&mut self, tag: &str) -> SqlResult<()> {
        backend::command_complete(self.out(), tag);
        Ok(())
    }

    fn command_complete_rows(&mut self, command: &'static str, rows: u64) -> SqlResult<()> {
        backend::command_complete_rows(self.out(), command, rows);
        Ok(())
    }

    fn empty_query(&mut self) -> SqlResult<()> {
        backend::empty_query_response(self.out());
        Ok(())
    }

    fn portal_suspended(&mut self) -> SqlResult<()> {
        backend::portal_suspended(self.out());
        Ok(())
    }

    fn notice(&mut self, notice: &SqlError) {
        if let Err(error) = self.say(|out| backend::notice_response(out, notice.report())) {
            // It was to be told something that its encoding has no characters for.
            backend::notice_response(self.out(), warning(error).report());
        }
        // The user is to see it at once; a lost connection is noticed later.
        let _ = self.flush_in_fiber();
    }

    fn parameter_status(&mut self, name: &str, value: &str) {
        // Settings that are reported have plain values, or are set in the client's encoding.
        let _ = self.say(|out| backend::parameter_status(out, name, value));
    }

    fn passage(&mut self, passage: Option<Passage>) {
        self.passage = passage;
    }

    fn copy_in(&mut self, format: Format, columns: usize) -> SqlResult<()> {
        backend::copy_in_response(self.out(), format == Format::Binary, columns);
        self.flush_in_fiber()
    }

    fn copy_in_data(&mut self) -> SqlResult<Option<Vec<u8>>> {
        loop {
            let Some(frame) = wire::frame(self.unread())? else {
                self.fill_in_fiber()?;
                continue;
            };
            let length = frame.length;
            let answer = match frame.kind {
                b'd' => Some(Ok(Some(frame.body.to_vec()))),
                b'c' => Some(Ok(None)),
                b'f' => Some(Err(self.copy_failed(&frame))),
                b'H' | b'S' => None,
                other => Some(Err(SqlError::new(
                    SqlState::PROTOCOL_VIOLATION,
                    format!("unexpected message type 0x{other:02X} during COPY from stdin"),
                ))),
            };
            self.consume(length);
            if let Some(answer) = answer {
                return answer;
            }
        }
    }

    fn copy_out(&mut self, format: Format, columns: usize) -> SqlResult<()> {
        backend::copy_out_response(self.out(), format == Format::Binary, columns);
        Ok(())
    }

    fn copy_out_data(&mut self, row: &[u8]) -> SqlResult<()> {
        self.copy_out_parts(&[row])
    }

    fn copy_out_parts(&mut self, parts: &[&[u8]]) -> SqlResult<()> {
        backend::copy_data(self.out(), parts);
        self.send_if_much()
    }

    fn copy_out_done(&mut self) -> SqlResult<()> {
        backend::copy_done(self.out());
        Ok(())
    }

    fn copy_both(&mut self) -> SqlResult<()> {
        backend::copy_both_response(self.out());
        self.flush_in_fiber()
    }

    fn copy_both_data(&mut self, write: &mut dyn FnMut(&mut Vec<u8>) -> SqlResult<()>) -> SqlResult<()> {
        let out = self.out();
        let length = out.len();
        let start = backend::begin(out, b'd');
        let written = write(out);
        match written {
            Ok(()) => backend::end(out, start),
            Err(_) => out.truncate(length),
        }
        written
    }

    fn copy_both_wait(
        &mut self,
        mut ready: Pin<&mut dyn Future<Output = ()>>,
        until: Option<Instant>,
    ) -> SqlResult<Both> {
        loop {
            if let Some(both) = self.next_of_both()? {
                return Ok(both);
            }
            let interrupts = self.interrupts.clone();
            let mut interrupted = pin!(interrupts.wait_any());
            let left = until.map(|until| until.since(runtime::now()));
            let mut time = pin!(async {
                match left {
                    Some(left) => sleep(left).await,
                    None => std::future::pending().await,
                }
            });
            let event = if self.is_behind() { WaitEvent::WalSenderWrite } else { WaitEvent::WalSenderMain };
            let step = poll_fn(|cx| {
                if interrupted.as_mut().poll(cx).is_ready() {
                    return Poll::Ready(Ok(Step::Interrupt));
                }
                if let Poll::Ready(arrival) = self.poll_fill(cx) {
                    return Poll::Ready(match arrival {
                        Arrival::End => Err(connection_lost()),
                        Arrival::Refused => Err(out_of_memory()),
                        Arrival::Bytes | Arrival::Interrupt => Ok(Step::Bytes),
                    });
                }
                if self.poll_flush(cx).is_ready() && ready.as_mut().poll(cx).is_ready() {
                    return Poll::Ready(Ok(Step::Ready));
                }
                time.as_mut().poll(cx).map(|()| Ok(Step::Time))
            });
            match waiting(event, || runtime::wait(step))? {
                Step::Bytes => {}
                Step::Interrupt => runtime::check_interrupts()?,
                Step::Ready => return Ok(Both::Ready),
                Step::Time => return Ok(Both::Time),
            }
        }
    }

    fn is_behind(&self) -> bool {
        !self.is_flushed()
    }
}

/// What woke a sender.
enum Step {
    Bytes,
    Interrupt,
    Ready,
    Time,
}

impl Io {
    /// The next message in the midst of COPY in both directions, if it is there.
    fn next_of_both(&mut self) -> SqlResult<Option<Both>> {
        while let Some(frame) = wire::frame(self.unread())? {
            let length = frame.length;
            let both = match frame.kind {
                b'd' => Some(Ok(Both::Data(frame.body.to_vec()))),
                b'c' => Some(Ok(Both::Done)),
                b'X' => Some(Err(connection_lost())),
                b'H' | b'S' => None,
                other => Some(Err(SqlError::fatal(
                    SqlState::PROTOCOL_VIOLATION,
                    format!("invalid standby message type \"{}\"", char::from(other).escape_default()),
                ))),
            };
            self.consume(length);
            if let Some(both) = both {
                return both.map(Some);
            }
        }
        Ok(None)
    }
}

/// An error as a warning.
fn warning(mut error: SqlError) -> SqlError {
    error.report_mut().severity = Severity::Warning;
    error
}
