//! A small client: simple queries with results as text. It shows a lost connection as what it is, an answer of its own.

use std::io::{self, BufReader, Read, Write};
use std::net::TcpStream;

use super::PATIENCE;

/// Why there is no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The server's error.
    Error {
        /// Severity.
        severity: String,
        /// SQLSTATE.
        code: String,
        /// Primary message.
        message: String,
    },
    /// The connection is gone. Whether the server carried out what was sent is not known.
    Lost,
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        // With a timeout the server hangs, which must not pass for a lost connection.
        assert!(!matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut), "no answer");
        Failure::Lost
    }
}

/// Rows of text; a null is `None`.
pub type Rows = Vec<Vec<Option<String>>>;

/// A session, over TCP unless it says otherwise.
pub struct Client<S: Read + Write = TcpStream> {
    reader: BufReader<S>,
    /// Bodies of the notices that came.
    pub notices: Vec<String>,
}

impl Client {
    /// Connects as `postgres` to the database `postgres`, unless parameters say otherwise.
    pub fn connect(port: u16, parameters: &[(&str, &str)]) -> Result<Client, Failure> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        Client::over(stream, parameters)
    }
}

impl<S: Read + Write> Client<S> {
    /// The same over a connection that is there.
    pub fn over(stream: S, parameters: &[(&str, &str)]) -> Result<Client<S>, Failure> {
        let mut client = Client { reader: BufReader::new(stream), notices: Vec::new() };
        client.send(&startup(parameters))?;
        client.until_ready().map(|_| client)
    }

    /// What it talks over.
    pub fn stream(&mut self) -> &mut S {
        self.reader.get_mut()
    }

    /// Sends bytes as they are.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.reader.get_mut().write_all(bytes)
    }

    /// Runs statements; rows of all of them.
    pub fn query(&mut self, text: &str) -> Result<Rows, Failure> {
        self.send(&message(b'Q', &[text.as_bytes(), b"\0"].concat()))?;
        self.until_ready()
    }

    /// First column of the first row.
    pub fn value(&mut self, text: &str) -> String {
        let rows = self.query(text).unwrap_or_else(|failure| panic!("{text}: {failure:?}"));
        rows[0][0].clone().unwrap_or_default()
    }

    /// SQLSTATE and message of the error that must come.
    pub fn error(&mut self, text: &str) -> String {
        match self.query(text) {
            Err(Failure::Error { code, message, .. }) => format!("{code} {message}"),
            other => panic!("{text}: an error was expected, not {other:?}"),
        }
    }

    fn until_ready(&mut self) -> Result<Rows, Failure> {
        let mut rows = Rows::new();
        let mut failure = None;
        loop {
            let (kind, body) = match self.message() {
                Ok(message) => message,
                // A FATAL error is followed by the end.
                Err(error) => return Err(failure.unwrap_or_else(|| error.into())),
            };
            match kind {
                b'Z' => return failure.map_or(Ok(rows), Err),
                b'E' => failure = Some(error(&body)),
                b'D' => rows.push(row(&body)),
                b'N' => self.notices.push(String::from_utf8_lossy(&body).into_owned()),
                _ => {}
            }
        }
    }

    /// Next message.
    pub fn message(&mut self) -> io::Result<(u8, Vec<u8>)> {
        let mut head = [0; 5];
        self.reader.read_exact(&mut head)?;
        let length = u32::from_be_bytes(head[1..].try_into().unwrap()) as usize;
        let mut body = vec![0; length - 4];
        self.reader.read_exact(&mut body)?;
        Ok((head[0], body))
    }
}

/// Begins SCRAM and returns what the server says: the salt of a user, whether there is one or not.
pub fn scram_salt(port: u16, user: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(&startup(&[("user", user)])).unwrap();
    let mut client = Client { reader: BufReader::new(stream), notices: Vec::new() };
    assert_eq!(client.message().unwrap().1[..4], [0, 0, 0, 10]);
    let first = b"n,,n=,r=abcdefgh";
    let body = [&b"SCRAM-SHA-256\0"[..], &(first.len() as u32).to_be_bytes(), first].concat();
    client.send(&message(b'p', &body)).unwrap();
    let (_, answer) = client.message().unwrap();
    let text = String::from_utf8_lossy(&answer[4..]).into_owned();
    text.split(',').find(|part| part.starts_with("s=")).unwrap().to_string()
}

/// A start-up packet.
pub fn startup(parameters: &[(&str, &str)]) -> Vec<u8> {
    let mut body = 0x0003_0000u32.to_be_bytes().to_vec();
    for (name, value) in [("user", "postgres"), ("database", "postgres")] {
        if parameters.iter().all(|(given, _)| *given != name) {
            body.extend(format!("{name}\0{value}\0").bytes());
        }
    }
    for (name, value) in parameters {
        body.extend(format!("{name}\0{value}\0").bytes());
    }
    body.push(0);
    let mut packet = (body.len() as u32 + 4).to_be_bytes().to_vec();
    packet.extend(body);
    packet
}

/// A message.
pub fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut out = vec![kind];
    out.extend((body.len() as u32 + 4).to_be_bytes());
    out.extend(body);
    out
}

fn row(body: &[u8]) -> Vec<Option<String>> {
    let mut rest = &body[2..];
    let mut columns = Vec::new();
    while let Some((head, tail)) = rest.split_first_chunk::<4>() {
        let length = i32::from_be_bytes(*head);
        let (value, tail) = tail.split_at(length.max(0) as usize);
        columns.push((length >= 0).then(|| String::from_utf8_lossy(value).into_owned()));
        rest = tail;
    }
    columns
}

fn error(body: &[u8]) -> Failure {
    let field = |code: u8| {
        let field = body.split(|byte| *byte == 0).find(|field| field.first() == Some(&code));
        String::from_utf8_lossy(&field.unwrap_or(b"?")[1..]).into_owned()
    };
    Failure::Error { severity: field(b'S'), code: field(b'C'), message: field(b'M') }
}
