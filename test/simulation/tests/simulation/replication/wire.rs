//! The server's end of a simulated connection: it lets everybody in, and carries out the commands of who replicates. The session behind it, its
//! walsender too, is the real one.

use std::future::{Future, pending, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use base::{Severity, SqlError, SqlResult, SqlState};
use runtime::sim::net::SimStream;
use runtime::time::sleep_until;
use runtime::{Instant, Interrupts, with_interrupts};
use session::{Both, Column, Format, Instance, Output, Replication, RowEncoder, Session, SessionInfo};
use tokio::io::{AsyncRead, ReadBuf};
use tuple::Datum;
use wire::backend::{self, Field};
use wire::startup::{FirstPacket, first_packet};

/// Bytes asked of the connection at once.
const READ: usize = 64 << 10;

/// A connection with the bytes that came and those that are to go.
struct Wire {
    stream: SimStream,
    input: Vec<u8>,
    position: usize,
    output: Vec<u8>,
    interrupts: Interrupts,
}

fn lost() -> SqlError {
    SqlError::fatal(SqlState::CONNECTION_FAILURE, "connection to client lost")
}

/// Serves a connection that replicates until it ends, in the fiber of the caller.
pub fn serve(instance: &Arc<Instance>, stream: SimStream, pid: i32) {
    let interrupts = Interrupts::new();
    let (input, output) = Default::default();
    let mut wire = Wire { stream, input, position: 0, output, interrupts: interrupts.clone() };
    // Whatever ends it, the client sees the end of the connection.
    let _ = with_interrupts(&interrupts, || wire.serve(instance, pid));
}

impl Wire {
    fn serve(&mut self, instance: &Arc<Instance>, pid: i32) -> SqlResult<()> {
        let options = self.greeting()?;
        let mut info = SessionInfo::local(pid, "postgres".into(), String::new());
        (info.replication, info.options) = (Some(Replication::Physical), options);
        let session = match Session::new(instance.clone(), info) {
            Ok(session) => session,
            Err(error) => return self.refuse(&error),
        };
        backend::authentication_ok(&mut self.output);
        self.ready(&session)?;
        let ended = self.commands(&session);
        session.close();
        ended
    }

    /// The settings in the first packet.
    fn greeting(&mut self) -> SqlResult<Vec<(String, String)>> {
        loop {
            let read = match first_packet(&self.input)? {
                Some((FirstPacket::Startup(startup), length)) => {
                    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
                    let pairs = startup.parameters().map(|(name, value)| (text(name), text(value)));
                    let own = ["user", "database", "replication"];
                    let pairs = pairs.filter(|(name, _)| !own.contains(&name.as_str()));
                    Some((pairs.collect(), length))
                }
                Some(_) => return Err(lost()),
                None => None,
            };
            if let Some((options, length)) = read {
                self.position = length;
                return Ok(options);
            }
            self.fill()?;
        }
    }

    fn commands(&mut self, session: &Session) -> SqlResult<()> {
        loop {
            let Some(text) = self.next_query()? else { return Ok(()) };
            match session.simple_query(&text, self) {
                Ok(()) => {}
                Err(error) if session::replication::is_end(&error) => return self.flush(),
                Err(error) if error.report().severity >= Severity::Fatal => return self.refuse(&error),
                Err(error) => backend::error_response(&mut self.output, error.report()),
            }
            self.ready(session)?;
        }
    }

    fn ready(&mut self, session: &Session) -> SqlResult<()> {
        let status = match session.transaction_status() {
            session::TransactionStatus::Idle => backend::TransactionStatus::Idle,
            session::TransactionStatus::InBlock => backend::TransactionStatus::InTransaction,
            session::TransactionStatus::Failed => backend::TransactionStatus::Failed,
        };
        backend::ready_for_query(&mut self.output, status);
        self.flush()
    }

    fn refuse(&mut self, error: &SqlError) -> SqlResult<()> {
        backend::error_response(&mut self.output, error.report());
        self.flush()
    }

    /// The next command; none at the end.
    fn next_query(&mut self) -> SqlResult<Option<String>> {
        loop {
            while let Some(frame) = wire::frame(&self.input[self.position..])? {
                let text = String::from_utf8_lossy(frame.body.strip_suffix(&[0]).unwrap_or(frame.body));
                let (kind, text) = (frame.kind, text.into_owned());
                self.position += frame.length;
                match kind {
                    b'Q' => return Ok(Some(text)),
                    b'X' => return Ok(None),
                    // Left over from a stream that has failed.
                    _ => {}
                }
            }
            self.fill()?;
        }
    }

    fn next_of_both(&mut self) -> SqlResult<Option<Both>> {
        let Some(frame) = wire::frame(&self.input[self.position..])? else { return Ok(None) };
        let both = match frame.kind {
            b'd' => Both::Data(frame.body.to_vec()),
            b'c' => Both::Done,
            _ => return Err(lost()),
        };
        self.position += frame.length;
        Ok(Some(both))
    }

    /// More bytes.
    fn fill(&mut self) -> SqlResult<()> {
        runtime::wait(poll_fn(|cx| self.poll_fill(cx)))
    }

    fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<SqlResult<()>> {
        self.input.drain(..std::mem::take(&mut self.position));
        let mut bytes = vec![0; READ];
        let mut buffer = ReadBuf::new(&mut bytes);
        let read = Pin::new(&mut self.stream).poll_read(cx, &mut buffer);
        read.map(|read| match (read, buffer.filled()) {
            (Err(_), _) | (_, []) => Err(lost()),
            (_, filled) => {
                self.input.extend_from_slice(filled);
                Ok(())
            }
        })
    }

    fn flush(&mut self) -> SqlResult<()> {
        runtime::wait(poll_fn(|cx| self.poll_flush(cx)))
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<SqlResult<()>> {
        while !self.output.is_empty() {
            let written = tokio::io::AsyncWrite::poll_write(Pin::new(&mut self.stream), cx, &self.output);
            match written {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(written)) => drop(self.output.drain(..written)),
                Poll::Ready(Err(_)) => return Poll::Ready(Err(lost())),
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl Output for Wire {
    fn row_description(&mut self, columns: &[Column], _: &[Format]) -> SqlResult<()> {
        let fields = columns.iter().map(|column| Field {
            name: &column.name,
            table: column.table.0,
            column: column.number,
            type_oid: column.type_oid.0,
            type_len: column.type_len,
            typmod: column.typmod,
            format: Format::Text.code(),
        });
        backend::row_description(&mut self.output, fields);
        Ok(())
    }

    fn data_row(&mut self, encoder: &RowEncoder<'_>, row: &[Datum]) -> SqlResult<()> {
        let mut writer = backend::data_row(&mut self.output, row.len());
        for (i, value) in row.iter().enumerate() {
            writer.try_value(|out| encoder.encode(i, value, out))?;
        }
        writer.finish();
        Ok(())
    }

    fn command_complete(&mut self, tag: &str) -> SqlResult<()> {
        backend::command_complete(&mut self.output, tag);
        Ok(())
    }

    fn notice(&mut self, _: &SqlError) {}

    fn copy_in(&mut self, _: Format, _: usize) -> SqlResult<()> {
        Err(lost())
    }

    fn copy_out_data(&mut self, row: &[u8]) -> SqlResult<()> {
        backend::copy_data(&mut self.output, &[row]);
        Ok(())
    }

    fn copy_out_done(&mut self) -> SqlResult<()> {
        backend::copy_done(&mut self.output);
        Ok(())
    }

    fn copy_both(&mut self) -> SqlResult<()> {
        backend::copy_both_response(&mut self.output);
        self.flush()
    }

    fn copy_both_data(&mut self, write: &mut dyn FnMut(&mut Vec<u8>) -> SqlResult<()>) -> SqlResult<()> {
        let length = self.output.len();
        let start = backend::begin(&mut self.output, b'd');
        let written = write(&mut self.output);
        match written {
            Ok(()) => backend::end(&mut self.output, start),
            Err(_) => self.output.truncate(length),
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
            let mut time = pin!(async {
                match until {
                    Some(until) => sleep_until(until).await,
                    None => pending().await,
                }
            });
            let step = poll_fn(|cx| {
                if interrupted.as_mut().poll(cx).is_ready() {
                    return Poll::Ready(Ok(None));
                }
                if let Poll::Ready(filled) = self.poll_fill(cx) {
                    return Poll::Ready(filled.map(|()| None));
                }
                match self.poll_flush(cx) {
                    Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                    Poll::Ready(Ok(())) if ready.as_mut().poll(cx).is_ready() => {
                        return Poll::Ready(Ok(Some(Both::Ready)));
                    }
                    _ => {}
                }
                time.as_mut().poll(cx).map(|()| Ok(Some(Both::Time)))
            });
            let step: SqlResult<Option<Both>> = runtime::wait(step);
            match step? {
                Some(both) => return Ok(both),
                None => runtime::check_interrupts()?,
            }
        }
    }

    fn is_behind(&self) -> bool {
        !self.output.is_empty()
    }
}
