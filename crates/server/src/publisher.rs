//! # What
//! Connections to publishers: the one implementation of [`session::subscription::Publisher`] with sockets.
//!
//! # Invariants
//! 1. A wait suspends the fiber that asks, and ends when it is interrupted. Then the connection is of no more use, for half a message may have been sent.
//!
//! # PostgreSQL counterpart
//! `libpqwalreceiver.c`.

use std::time::Duration;

use base::SqlError;
use client::{Connection, Copied, Options};
use runtime::Event;
use session::subscription::{Arrived, Failure, Position, Publisher};
use wire::replication::{Message, Status, message};

use crate::log;

/// What a session of ours is to have set there: that values are written as we read them, and names mean what they say.
const SETTINGS: [(&str, &str); 4] =
    [("search_path", ""), ("DateStyle", "ISO"), ("IntervalStyle", "postgres"), ("extra_float_digits", "3")];

struct Remote {
    connection: Connection,
    /// Where the change that came last lies in its message.
    behind: usize,
    /// The end of a COPY has come, and was not told yet.
    ended: bool,
}

/// Bytes of a COPY that are told at once, at least where there are so many.
const CHUNK: usize = 256 << 10;

fn failure(failure: client::Failure) -> Failure {
    match failure {
        client::Failure::Refused(complaint) => Failure::Refused(
            complaint.code.clone(),
            format!("{}:  {}", complaint.severity, complaint.message),
        ),
        client::Failure::Broken(message) => Failure::Broken(message),
    }
}

fn violation(error: &SqlError) -> Failure {
    Failure::Broken(error.message().to_owned())
}

/// What comes of it, unless the session is to stop.
fn wait<T>(course: impl Future<Output = Result<T, client::Failure>>) -> Result<T, Failure> {
    runtime::wait_interruptible(course).map_err(Failure::Interrupted)?.map_err(failure)
}

/// Connects; see [`session::ConnectionStrings::connect`].
pub fn connect(text: &str, name: &str, asked: bool) -> Result<Box<dyn Publisher>, Failure> {
    let environment = |name: &str| std::env::var(name).ok();
    let warn = |warning: &str| log::log(warning.to_owned());
    let options = Options::parse(text, name, &environment, warn).map_err(Failure::Broken)?;
    let connection = wait(Connection::open(&options, "database"))?;
    if asked && !connection.asked {
        return Err(Failure::Refused("2F003".into(), "password is required".into()));
    }
    let mut remote = Remote { connection, behind: 0, ended: false };
    let set = SETTINGS.map(|(name, value)| format!("pg_catalog.set_config('{name}', '{value}', false)"));
    remote.query(&format!("SELECT {}", set.join(", ")))?;
    Ok(Box::new(remote))
}

impl Publisher for Remote {
    fn version(&self) -> u32 {
        let text = self.connection.parameter("server_version").unwrap_or_default();
        let number = |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>().parse();
        let mut parts = text.split('.').map(|part| number(part).unwrap_or(0));
        parts.next().unwrap_or(0) * 10_000 + parts.next().unwrap_or(0)
    }

    fn query(&mut self, command: &str) -> Result<Vec<Vec<Option<String>>>, Failure> {
        wait(self.connection.query(command))
    }

    fn begin_copy(&mut self, command: &str) -> Result<(), Failure> {
        self.begin_stream(command)
    }

    fn copied(&mut self) -> Result<Option<Vec<u8>>, Failure> {
        let mut gathered = Vec::new();
        if std::mem::take(&mut self.ended) {
            wait(self.connection.rows())?;
            return Ok(None);
        }
        while gathered.len() < CHUNK {
            match self.connection.try_receive().map_err(failure)? {
                Some(Copied::Data) => gathered.extend_from_slice(self.connection.message()),
                Some(Copied::Done) => {}
                Some(Copied::Ended) if gathered.is_empty() => {
                    wait(self.connection.rows())?;
                    return Ok(None);
                }
                Some(Copied::Ended) => {
                    self.ended = true;
                    break;
                }
                None if !gathered.is_empty() => break,
                None => wait(self.connection.readable())?,
            }
        }
        Ok(Some(gathered))
    }

    fn begin_stream(&mut self, command: &str) -> Result<(), Failure> {
        match wait(self.connection.start_stream(command))? {
            true => Ok(()),
            false => Err(Failure::Broken("the server sends nothing".into())),
        }
    }

    fn arrived(&mut self) -> Result<Option<Arrived>, Failure> {
        loop {
            match self.connection.try_receive().map_err(failure)? {
                None => return Ok(None),
                Some(Copied::Done) => continue,
                Some(Copied::Ended) => return Ok(Some(Arrived::Ended)),
                Some(Copied::Data) => {}
            }
            let body = self.connection.message();
            let arrived = match message(body).map_err(|error| violation(&error))? {
                Message::Log { end, time, bytes, start } => {
                    self.behind = body.len() - bytes.len();
                    Arrived::Change { end: end.max(start), time }
                }
                Message::Alive { end, time, asks } => Arrived::Alive { end, time, asks },
            };
            return Ok(Some(arrived));
        }
    }

    fn message(&self) -> &[u8] {
        &self.connection.message()[self.behind..]
    }

    fn wait(&mut self, woken: &Event, most: Duration) -> Result<(), Failure> {
        let connection = &mut self.connection;
        wait(async {
            tokio::select! {
                biased;
                came = connection.readable() => came,
                () = woken.until_set() => Ok(()),
                () = runtime::sleep(most) => Ok(()),
            }
        })
    }

    fn tell(&mut self, position: Position, asks: bool) -> Result<(), Failure> {
        let Position { written, flushed, applied } = position;
        let status = Status { written, flushed, applied, time: runtime::wall_clock_micros(), asks };
        wait(self.connection.send_data(&status.encode()))
    }

    fn end_stream(&mut self) -> Result<(), Failure> {
        wait(async {
            self.connection.send_done().await?;
            loop {
                match self.connection.try_receive()? {
                    Some(Copied::Ended) => break,
                    Some(_) => {}
                    None => self.connection.readable().await?,
                }
            }
            self.connection.rows().await.map(drop)
        })
    }

    fn close(self: Box<Self>) {
        let goodbye = self.connection.close();
        let _ = runtime::wait(runtime::time::timeout(client::connection::GOODBYE, goodbye));
    }
}
