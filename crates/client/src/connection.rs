//! A connection: made, let in, and used for commands and a stream in both directions.

use std::fmt;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::time::Duration;

use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{
    ChannelBinding, SCRAM_SHA_256, SCRAM_SHA_256_PLUS, ScramSha256,
};
use runtime::sim::net;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::TlsConnector;
use wire::answers::{self, Complaint, Request};

use crate::options::{Binding, Keepalives, Options, Place, SslMode, Wanted};
use crate::tls::endpoint_hash;

/// Bytes read at once.
const READ: usize = 256 << 10;

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The server said so.
    Refused(Complaint),
    /// There is no connection, or no more.
    Broken(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Refused(complaint) => complaint.fmt(f),
            Failure::Broken(message) => f.write_str(message),
        }
    }
}

fn broken(message: impl Into<String>) -> Failure {
    Failure::Broken(message.into())
}

fn lost(error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => broken("server closed the connection unexpectedly"),
        _ => broken(format!("could not receive data from server: {error}")),
    }
}

impl From<base::SqlError> for Failure {
    fn from(error: base::SqlError) -> Failure {
        broken(error.message())
    }
}

trait Stream: AsyncRead + AsyncWrite + Unpin {}
impl<S: AsyncRead + AsyncWrite + Unpin> Stream for S {}

/// What a stream brings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Copied {
    /// Its message begins here in [`Connection::message`].
    Data,
    /// The server sends no more.
    Done,
    /// The server has ended the command, and the stream with it.
    Ended,
}

/// A connection to a server that has let us in.
pub struct Connection {
    stream: Box<dyn Stream>,
    /// Bytes that came; those before `position` were read.
    input: Vec<u8>,
    position: usize,
    /// Where the last message's body lies.
    body: std::ops::Range<usize>,
    /// What the server told of settings.
    parameters: Vec<(String, String)>,
    /// Where it is.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// It asked for a password.
    pub asked: bool,
}

impl Connection {
    /// Connects to the first place that will do, for replication: `true`, or `database`. The error names all that were tried.
    pub async fn open(options: &Options, replication: &str) -> Result<Connection, Failure> {
        let mut failures = Vec::new();
        let passes: &[Wanted] = match options.wanted {
            Wanted::PreferStandby => &[Wanted::Standby, Wanted::Any],
            _ => std::slice::from_ref(&options.wanted),
        };
        for wanted in passes {
            for place in &options.places {
                let attempt = Connection::open_at(options, place, replication, *wanted);
                let result = match options.timeout {
                    None => attempt.await,
                    Some(most) => match tokio::time::timeout(most, attempt).await {
                        Ok(result) => result,
                        Err(_) => Err(broken(format!("{} failed: timeout expired", described(place, None)))),
                    },
                };
                match result {
                    Ok(connection) => return Ok(connection),
                    Err(failure) => failures.push(failure),
                }
            }
        }
        match failures.len() {
            1 => Err(failures.remove(0)),
            _ => Err(broken(failures.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))),
        }
    }

    async fn open_at(
        options: &Options,
        place: &Place,
        replication: &str,
        wanted: Wanted,
    ) -> Result<Connection, Failure> {
        let attempts: &[bool] = match options.ssl {
            // Nobody listens on a socket of this machine.
            _ if place.is_socket() => &[false],
            SslMode::Disable => &[false],
            SslMode::Allow => &[false, true],
            SslMode::Prefer => &[true, false],
            SslMode::Require => &[true],
        };
        let mut failure = None;
        for encrypted in attempts {
            match Connection::attempt(options, place, replication, *encrypted).await {
                Ok(connection) => return connection.suits(wanted).map(|()| connection),
                // The other way may be what the server wants.
                Err(error @ Failure::Refused(_)) => failure = Some(error),
                Err(error) => return Err(error),
            }
        }
        let place = described(place, None);
        Err(failure
            .map_or_else(|| broken("no attempt"), |failure| broken(format!("{place} failed: {failure}"))))
    }

    async fn attempt(
        options: &Options,
        place: &Place,
        replication: &str,
        encrypted: bool,
    ) -> Result<Connection, Failure> {
        let (mut stream, shown) = reach(place, options.keepalives).await?;
        let failed = |why: String| broken(format!("{shown} failed: {why}"));
        let mut endpoint = None;
        if encrypted {
            stream
                .write_all(&[0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f])
                .await
                .map_err(|e| failed(e.to_string()))?;
            match stream.read_u8().await.map_err(|e| failed(e.to_string()))? {
                b'S' => {
                    let name = ServerName::try_from(place.host.clone()).map_err(|e| failed(e.to_string()))?;
                    let connector = TlsConnector::from(options.tls.clone());
                    let sealed = connector
                        .connect(name, stream)
                        .await
                        .map_err(|e| failed(format!("SSL error: {e}")))?;
                    let certificates = sealed.get_ref().1.peer_certificates();
                    endpoint = certificates.and_then(|chain| endpoint_hash(chain.first()?));
                    stream = Box::new(sealed);
                }
                b'N' if options.ssl == SslMode::Require => {
                    return Err(failed("server does not support SSL, but SSL was required".into()));
                }
                b'N' => {}
                other => {
                    return Err(failed(format!(
                        "received invalid response to SSL negotiation: {}",
                        answers::shown(other)
                    )));
                }
            }
        }
        let mut connection = Connection {
            stream,
            input: Vec::with_capacity(8 << 10),
            position: 0,
            body: 0..0,
            parameters: Vec::new(),
            host: place.host.clone(),
            port: place.port,
            asked: false,
        };
        let started = connection.start(options, place, replication, endpoint).await;
        started.map(|()| connection).map_err(|failure| match failure {
            // May be tried the other way; said with its place once it counts.
            Failure::Refused(_) => failure,
            Failure::Broken(why) => failed(why),
        })
    }

    /// The start-up packet, authentication, and what the server tells then.
    async fn start(
        &mut self,
        options: &Options,
        place: &Place,
        replication: &str,
        endpoint: Option<Vec<u8>>,
    ) -> Result<(), Failure> {
        let mut packet = vec![0, 0, 0, 0, 0, 3, 0, 0];
        let pairs = [
            ("user", Some(options.user.as_str())),
            ("database", Some(options.database.as_str())),
            ("replication", Some(replication)),
            ("options", options.options.as_deref()),
            ("application_name", Some(options.application.as_str())),
            ("client_encoding", Some("UTF8")),
        ];
        for (name, value) in pairs.into_iter().filter_map(|(name, value)| Some((name, value?))) {
            packet.extend_from_slice(name.as_bytes());
            packet.push(0);
            packet.extend(value.bytes().filter(|byte| *byte != 0));
            packet.push(0);
        }
        packet.push(0);
        let length = (packet.len() as u32).to_be_bytes();
        packet[..4].copy_from_slice(&length);
        self.write(&packet).await?;
        self.authenticate(options, place, endpoint).await?;
        loop {
            match self.next(false).await? {
                b'S' => {
                    let parameter = answers::parameter(self.message())?;
                    self.parameters.push(parameter);
                }
                b'K' | b'N' => {}
                b'Z' => return Ok(()),
                b'E' => return Err(self.complaint()?),
                other => return Err(unexpected(other)),
            }
        }
    }

    async fn authenticate(
        &mut self,
        options: &Options,
        place: &Place,
        endpoint: Option<Vec<u8>>,
    ) -> Result<(), Failure> {
        let password = options.password.as_deref().or(place.password.as_deref());
        let password = || password.ok_or_else(|| broken("fe_sendauth: no password supplied"));
        let mut exchange: Option<ScramSha256> = None;
        let mut bound = false;
        let mut verified = true;
        loop {
            let request = match self.next(true).await? {
                b'R' => answers::request(self.message())?,
                b'E' => return Err(self.complaint()?),
                // The server speaks an older protocol; what it does not know we did not ask for.
                b'v' => continue,
                other => {
                    return Err(broken(format!(
                        "expected authentication request from server, but received {}",
                        answers::shown(other)
                    )));
                }
            };
            if options.binding == Binding::Require && !bound && !matches!(request, Request::Sasl(_)) {
                return Err(broken(
                    "channel binding required, but server authenticated client without channel binding",
                ));
            }
            match request {
                Request::Ok if verified => return Ok(()),
                Request::Ok => return Err(broken("server did not complete authentication")),
                Request::Password => {
                    self.asked = true;
                    let mut body = password()?.as_bytes().to_vec();
                    body.push(0);
                    self.send(b'p', &body).await?;
                }
                Request::Md5(salt) => {
                    self.asked = true;
                    let mut body =
                        md5_hash(options.user.as_bytes(), password()?.as_bytes(), salt).into_bytes();
                    body.push(0);
                    self.send(b'p', &body).await?;
                }
                Request::Sasl(mechanisms) => {
                    let has = |name: &str| mechanisms.iter().any(|mechanism| mechanism == name);
                    let wants = options.binding != Binding::Disable;
                    let (mechanism, binding) = match &endpoint {
                        Some(hash) if wants && has(SCRAM_SHA_256_PLUS) => {
                            bound = true;
                            (SCRAM_SHA_256_PLUS, ChannelBinding::tls_server_end_point(hash.clone()))
                        }
                        _ if options.binding == Binding::Require => {
                            return Err(broken(
                                "channel binding is required, but server did not offer an authentication method that supports channel binding",
                            ));
                        }
                        Some(_) if wants && has(SCRAM_SHA_256) => {
                            (SCRAM_SHA_256, ChannelBinding::unrequested())
                        }
                        _ if has(SCRAM_SHA_256) => (SCRAM_SHA_256, ChannelBinding::unsupported()),
                        _ => {
                            return Err(broken(
                                "none of the server's SASL authentication mechanisms are supported",
                            ));
                        }
                    };
                    self.asked = true;
                    let scram = ScramSha256::new(password()?.as_bytes(), binding);
                    let mut body = mechanism.as_bytes().to_vec();
                    body.push(0);
                    body.extend_from_slice(&(scram.message().len() as i32).to_be_bytes());
                    body.extend_from_slice(scram.message());
                    self.send(b'p', &body).await?;
                    (exchange, verified) = (Some(scram), false);
                }
                Request::SaslContinue(data) => {
                    let scram = exchange.as_mut().ok_or_else(|| unexpected(b'R'))?;
                    scram.update(&data).map_err(|error| broken(error.to_string()))?;
                    let body = scram.message().to_vec();
                    self.send(b'p', &body).await?;
                }
                Request::SaslFinal(data) => {
                    let scram = exchange.as_mut().ok_or_else(|| unexpected(b'R'))?;
                    scram.finish(&data).map_err(|error| broken(error.to_string()))?;
                    verified = true;
                }
                Request::Other(number) => {
                    return Err(broken(format!("authentication method {number} not supported")));
                }
            }
        }
    }

    /// Whether the server is one of those that are wanted.
    fn suits(&self, wanted: Wanted) -> Result<(), Failure> {
        let is = |name: &str| self.parameter(name) == Some("on");
        let (standby, read_only) = (is("in_hot_standby"), is("default_transaction_read_only"));
        let why = match wanted {
            Wanted::ReadWrite if standby || read_only => "session is read-only",
            Wanted::ReadOnly if !standby && !read_only => "session is not read-only",
            Wanted::Primary if standby => "server is in hot standby mode",
            Wanted::Standby if !standby => "server is not in hot standby mode",
            _ => return Ok(()),
        };
        Err(broken(format!("connection to server at \"{}\", port {} failed: {why}", self.host, self.port)))
    }

    /// A setting that the server has told of.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Runs a command; the rows of its answer.
    pub async fn query(&mut self, text: &str) -> Result<Vec<Vec<Option<String>>>, Failure> {
        self.send_query(text).await?;
        self.rows().await
    }

    /// What is left of a command's answer.
    pub async fn rows(&mut self) -> Result<Vec<Vec<Option<String>>>, Failure> {
        let (mut rows, mut failure) = (Vec::new(), None);
        loop {
            match self.next(false).await? {
                b'D' => rows.push(answers::row(self.message())?),
                b'E' => failure = Some(self.complaint()?),
                b'Z' => return failure.map_or(Ok(rows), Err),
                b'T' | b'C' | b'N' | b'S' | b'I' => {}
                other => return Err(unexpected(other)),
            }
        }
    }

    /// Runs a COPY to the client; all that it sends.
    pub async fn copy_out(&mut self, text: &str) -> Result<Vec<u8>, Failure> {
        self.send_query(text).await?;
        let (mut sent, mut failure) = (Vec::new(), None);
        loop {
            match self.next(false).await? {
                b'd' => sent.extend_from_slice(self.message()),
                b'E' => failure = Some(self.complaint()?),
                b'Z' => return failure.map_or(Ok(sent), Err),
                b'H' | b'c' | b'C' | b'N' | b'S' => {}
                other => return Err(unexpected(other)),
            }
        }
    }

    /// Runs a command that begins a stream, to here or in both directions; false if the server has nothing to send, when [`rows`](Self::rows) says what it answers.
    pub async fn start_stream(&mut self, text: &str) -> Result<bool, Failure> {
        self.send_query(text).await?;
        loop {
            match self.next(false).await? {
                b'W' | b'H' => return Ok(true),
                b'T' => return Ok(false),
                b'N' | b'S' => {}
                b'E' => {
                    let failure = self.complaint()?;
                    // What follows is its end, or that of the connection.
                    let _ = self.rows().await;
                    return Err(failure);
                }
                other => return Err(unexpected(other)),
            }
        }
    }

    async fn send_query(&mut self, text: &str) -> Result<(), Failure> {
        let mut body = text.as_bytes().to_vec();
        body.push(0);
        self.send(b'Q', &body).await
    }

    /// What the stream brings next, if it is there already.
    pub fn try_receive(&mut self) -> Result<Option<Copied>, Failure> {
        while let Some(kind) = self.take(false)? {
            match kind {
                b'd' => return Ok(Some(Copied::Data)),
                b'c' => return Ok(Some(Copied::Done)),
                b'C' => return Ok(Some(Copied::Ended)),
                b'E' => return Err(self.complaint()?),
                b'N' | b'S' => {}
                other => return Err(unexpected(other)),
            }
        }
        Ok(None)
    }

    /// The body of the last message.
    pub fn message(&self) -> &[u8] {
        &self.input[self.body.clone()]
    }

    /// Waits until more bytes have come. May be dropped: none is lost.
    pub async fn readable(&mut self) -> Result<(), Failure> {
        self.input.drain(..self.position);
        (self.position, self.body) = (0, 0..0);
        self.input.reserve(READ);
        match self.stream.read_buf(&mut self.input).await {
            Ok(0) => Err(broken("server closed the connection unexpectedly")),
            Ok(_) => Ok(()),
            Err(error) => Err(lost(&error)),
        }
    }

    /// Sends a message of the stream.
    pub async fn send_data(&mut self, body: &[u8]) -> Result<(), Failure> {
        self.send(b'd', body).await
    }

    /// Says that no more will come in the stream.
    pub async fn send_done(&mut self) -> Result<(), Failure> {
        self.send(b'c', &[]).await
    }

    /// Says that the connection ends.
    pub async fn close(mut self) {
        let _ = self.send(b'X', &[]).await;
        let _ = self.stream.shutdown().await;
    }

    async fn send(&mut self, kind: u8, body: &[u8]) -> Result<(), Failure> {
        let mut message = Vec::with_capacity(body.len() + 5);
        message.push(kind);
        message.extend_from_slice(&(body.len() as u32 + 4).to_be_bytes());
        message.extend_from_slice(body);
        self.write(&message).await
    }

    async fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let written = async {
            self.stream.write_all(bytes).await?;
            self.stream.flush().await
        };
        written.await.map_err(|error| broken(format!("could not send data to server: {error}")))
    }

    /// The next message that is there: its kind.
    fn take(&mut self, starting: bool) -> Result<Option<u8>, Failure> {
        let Some(answer) = answers::answer(&self.input[self.position..], starting)? else { return Ok(None) };
        let end = self.position + answer.length;
        let kind = answer.kind;
        self.body = self.position + 5..end;
        self.position = end;
        Ok(Some(kind))
    }

    /// Waits for the next message: its kind.
    async fn next(&mut self, starting: bool) -> Result<u8, Failure> {
        loop {
            if let Some(kind) = self.take(starting)? {
                return Ok(kind);
            }
            self.readable().await?;
        }
    }

    fn complaint(&self) -> Result<Failure, Failure> {
        Ok(Failure::Refused(answers::complaint(self.message())?))
    }
}

fn unexpected(kind: u8) -> Failure {
    broken(format!(
        "unexpected response from server; first received character was \"{}\"",
        answers::shown(kind)
    ))
}

/// A place as messages name it.
fn described(place: &Place, address: Option<std::net::IpAddr>) -> String {
    let port = place.port;
    if place.is_socket() {
        return format!("connection to server on socket \"{}/.s.PGSQL.{port}\"", place.host);
    }
    match address.filter(|address| address.to_string() != place.host) {
        Some(address) => format!("connection to server at \"{}\" ({address}), port {port}", place.host),
        None => format!("connection to server at \"{}\", port {port}", place.host),
    }
}

/// Opens a socket to a place; and how messages name it.
async fn reach(place: &Place, keepalives: Keepalives) -> Result<(Box<dyn Stream>, String), Failure> {
    if net::is_simulated() {
        let shown = described(place, None);
        let stream = net::connect(&place.host).await;
        let stream = stream.map_err(|error| broken(format!("{shown} failed: {}", base::os_error(&error))))?;
        return Ok((Box::new(stream), shown));
    }
    if place.is_socket() {
        let shown = described(place, None);
        let path = format!("{}/.s.PGSQL.{}", place.host, place.port);
        let stream = UnixStream::connect(&path).await.map_err(|error| {
            broken(format!(
                "{shown} failed: {}\n\tIs the server running locally and accepting connections on that socket?",
                base::os_error(&error)
            ))
        })?;
        return Ok((Box::new(stream), shown));
    }
    let host = place.address.as_deref().unwrap_or(&place.host);
    let addresses = tokio::net::lookup_host((host, place.port)).await.map_err(|error| {
        broken(format!("could not translate host name \"{host}\" to address: {}", base::os_error(&error)))
    })?;
    let mut failure = broken(format!("could not translate host name \"{host}\" to address"));
    for address in addresses {
        let shown = described(place, Some(address.ip()));
        match TcpStream::connect(address).await {
            Ok(stream) => {
                // Neither is worth an error.
                let _ = stream.set_nodelay(true);
                keep_alive(stream.as_raw_fd(), keepalives);
                return Ok((Box::new(stream), shown));
            }
            Err(error) => {
                failure = broken(format!(
                    "{shown} failed: {}\n\tIs the server running on that host and accepting TCP/IP connections?",
                    base::os_error(&error)
                ));
            }
        }
    }
    Err(failure)
}

fn keep_alive(socket: RawFd, keepalives: Keepalives) {
    let set = |level: i32, option: i32, value: i32| {
        // SAFETY: a plain system call about an open socket, with a pointer to a live integer.
        let _ = unsafe {
            libc::setsockopt(
                socket,
                level,
                option,
                (&raw const value).cast(),
                size_of::<i32>() as libc::socklen_t,
            )
        };
    };
    if keepalives.off {
        return;
    }
    set(libc::SOL_SOCKET, libc::SO_KEEPALIVE, 1);
    let [idle, interval, count] = keepalives.numbers;
    let numbers = [
        (libc::TCP_KEEPIDLE, idle),
        (libc::TCP_KEEPINTVL, interval),
        (libc::TCP_KEEPCNT, count),
        (libc::TCP_USER_TIMEOUT, keepalives.user_timeout),
    ];
    for (option, value) in numbers.into_iter().filter(|(_, value)| *value > 0) {
        set(libc::IPPROTO_TCP, option, value);
    }
}

/// Longest time that a goodbye may take.
pub const GOODBYE: Duration = Duration::from_secs(1);
