//! A client of protocol version 3 that can do what scenarios need beyond `psql`: keep a session, time single statements, feed a COPY.

use std::io::{BufReader, BufWriter, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use crate::peers::Server;

/// Bytes of a COPY sent as one message.
const COPY_CHUNK: usize = 64 * 1024;

/// A row as text, NULL as `None`.
pub type Row = Vec<Option<String>>;

/// A session of the user `postgres` in the database `postgres`, authenticated by trust.
pub struct Client {
    input: BufReader<Box<dyn Read + Send>>,
    output: BufWriter<Box<dyn Write + Send>>,
}

impl Client {
    /// Connects as the server's other clients do.
    pub fn connect(server: &Server) -> Result<Client, String> {
        let fail = |e: std::io::Error| format!("{}: {e}", server.name);
        let (input, output) = halves(server).map_err(fail)?;
        let mut client = Client { input: BufReader::new(input), output: BufWriter::new(output) };
        let mut startup = 196_608u32.to_be_bytes().to_vec();
        startup.extend(b"user\0postgres\0database\0postgres\0\0");
        let length = startup.len() as u32 + 4;
        client.output.write_all(&length.to_be_bytes()).map_err(fail)?;
        client.output.write_all(&startup).map_err(fail)?;
        client.until_ready()?;
        Ok(client)
    }

    /// Runs statements; the rows of all of them.
    pub fn query(&mut self, sql: &str) -> Result<Vec<Row>, String> {
        self.send(b'Q', &[sql.as_bytes(), b"\0"])?;
        self.until_ready()
    }

    /// The first value that statements give.
    pub fn value(&mut self, sql: &str) -> Result<String, String> {
        let rows = self.query(sql)?;
        rows.into_iter().flatten().next().flatten().ok_or_else(|| format!("{sql}: no value"))
    }

    /// Waits for the next notification.
    pub fn notification(&mut self) -> Result<(), String> {
        while self.receive()?.0 != b'A' {}
        Ok(())
    }

    /// Prepares a statement under the empty name.
    pub fn prepare(&mut self, sql: &str) -> Result<(), String> {
        self.send(b'P', &[b"\0", sql.as_bytes(), b"\0\0\0"])?;
        self.send(b'S', &[])?;
        self.until_ready().map(drop)
    }

    /// Prepares statements, each under its name, in one go.
    pub fn prepare_all(&mut self, statements: impl Iterator<Item = (String, String)>) -> Result<(), String> {
        for (name, sql) in statements {
            self.send(b'P', &[name.as_bytes(), b"\0", sql.as_bytes(), b"\0\0\0"])?;
        }
        self.send(b'S', &[])?;
        self.until_ready().map(drop)
    }

    /// Runs `COPY … FROM STDIN` with the bytes that `feed` writes.
    pub fn copy_in(
        &mut self,
        sql: &str,
        feed: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
    ) -> Result<(), String> {
        self.send(b'Q', &[sql.as_bytes(), b"\0"])?;
        self.flush()?;
        let (kind, body) = self.receive()?;
        if kind != b'G' {
            return match kind {
                b'E' => Err(message_of(&body)),
                _ => Err(format!("{sql}: the server does not ask for data")),
            };
        }
        let mut data = BufWriter::with_capacity(COPY_CHUNK, CopyData(self));
        let fed = feed(&mut data).and_then(|()| data.flush());
        drop(data);
        // A server that fails under way says why; the broken pipe alone would not.
        if let Err(error) = fed {
            return Err(self.until_ready().err().unwrap_or(error.to_string()));
        }
        self.send(b'c', &[])?;
        self.until_ready().map(drop)
    }

    fn send(&mut self, kind: u8, parts: &[&[u8]]) -> Result<(), String> {
        self.write_message(kind, parts).map_err(|e| e.to_string())
    }

    fn write_message(&mut self, kind: u8, parts: &[&[u8]]) -> std::io::Result<()> {
        let length = parts.iter().map(|p| p.len()).sum::<usize>() as u32 + 4;
        self.output.write_all(&[kind])?;
        self.output.write_all(&length.to_be_bytes())?;
        parts.iter().try_for_each(|part| self.output.write_all(part))
    }

    fn flush(&mut self) -> Result<(), String> {
        self.output.flush().map_err(|e| e.to_string())
    }

    fn receive(&mut self) -> Result<(u8, Vec<u8>), String> {
        let mut head = [0; 5];
        self.input.read_exact(&mut head).map_err(|e| e.to_string())?;
        let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
        let mut body = vec![0; length.checked_sub(4).ok_or("a message shorter than its length")?];
        self.input.read_exact(&mut body).map_err(|e| e.to_string())?;
        Ok((head[0], body))
    }

    /// Sends what is buffered and reads up to ReadyForQuery; the first error wins.
    fn until_ready(&mut self) -> Result<Vec<Row>, String> {
        self.flush()?;
        let mut rows = Vec::new();
        let mut failed = None;
        loop {
            let (kind, body) = self.receive()?;
            match kind {
                b'Z' => return failed.map_or(Ok(rows), Err),
                b'D' => rows.push(row_of(&body).ok_or("a row cut short")?),
                b'E' => failed = failed.or(Some(message_of(&body))),
                _ => {}
            }
        }
    }
}

/// Both directions of a connection.
fn halves(server: &Server) -> std::io::Result<(Box<dyn Read + Send>, Box<dyn Write + Send>)> {
    if server.host.starts_with('/') {
        let socket = UnixStream::connect(format!("{}/.s.PGSQL.{}", server.host, server.port))?;
        return Ok(both(socket));
    }
    let socket = TcpStream::connect((server.host.as_str(), server.port))?;
    socket.set_nodelay(true)?;
    Ok(both(socket))
}

fn both<S: Send + Sync + 'static>(socket: S) -> (Box<dyn Read + Send>, Box<dyn Write + Send>)
where
    for<'s> &'s S: Read + Write,
{
    let socket = Arc::new(socket);
    (Box::new(Half(socket.clone())), Box::new(Half(socket)))
}

/// One direction of a socket. Both share its one descriptor: there may be thousands.
struct Half<S>(Arc<S>);

impl<S> Read for Half<S>
where
    for<'s> &'s S: Read,
{
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        (&*self.0).read(bytes)
    }
}

impl<S> Write for Half<S>
where
    for<'s> &'s S: Write,
{
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        (&*self.0).write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        (&*self.0).flush()
    }
}

/// Writes CopyData messages.
struct CopyData<'c>(&'c mut Client);

impl Write for CopyData<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write_message(b'd', &[bytes])?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.output.flush()
    }
}

/// The fields of a DataRow.
fn row_of(mut body: &[u8]) -> Option<Row> {
    let count = u16::from_be_bytes(body.split_off(..2)?.try_into().ok()?);
    let mut row = Vec::with_capacity(usize::from(count));
    for _ in 0..count {
        let length = i32::from_be_bytes(body.split_off(..4)?.try_into().ok()?);
        row.push(match usize::try_from(length) {
            Ok(length) => Some(String::from_utf8_lossy(body.split_off(..length)?).into_owned()),
            Err(_) => None,
        });
    }
    Some(row)
}

/// The message field of an ErrorResponse.
fn message_of(body: &[u8]) -> String {
    let field = body.split(|b| *b == 0).find(|f| f.first() == Some(&b'M'));
    String::from_utf8_lossy(field.map_or(body, |f| &f[1..])).into_owned()
}
