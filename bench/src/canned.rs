//! The limit: a server that speaks just enough of the protocol to answer pgbench's `-S -M prepared` from a constant.
//!
//! One event loop per core; connections are handed out in turn. What a real server does beyond this is its own work.

use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::TlsAcceptor;

/// How many branches there would be: pgbench's scale.
const BRANCHES: &str = "20";

/// Threads to serve with: one a core.
pub fn workers() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

/// The running server.
pub struct Canned {
    acceptor: JoinHandle<()>,
}

impl Canned {
    /// Serves until the process ends.
    pub fn join(self) {
        let _ = self.acceptor.join();
    }
}

/// A connection, over TCP or a Unix socket.
enum Socket {
    Tcp(std::net::TcpStream),
    Unix(std::os::unix::net::UnixStream),
}

/// How the server encrypts, with the key and the certificate of a data directory.
///
/// # Errors
/// If they cannot be read or do not belong together.
pub fn acceptor(data: &Path) -> Result<TlsAcceptor, String> {
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", data.display());
    let key = PrivateKeyDer::from_pem_file(data.join("server.key")).map_err(|e| failed(&e))?;
    let certificate = CertificateDer::from_pem_file(data.join("server.crt")).map_err(|e| failed(&e))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|config| config.with_no_client_auth().with_single_cert(vec![certificate], key))
        .map_err(|e| failed(&e))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// Starts the server on 127.0.0.1, and on a Unix socket in `folder` if there is one. It encrypts if it has a `tls`.
///
/// # Panics
/// If the port is taken.
pub fn serve(port: u16, folder: Option<&Path>, workers: usize, tls: Option<TlsAcceptor>) -> Canned {
    let mut queues = Vec::new();
    for _ in 0..workers {
        let (send, mut receive) = tokio::sync::mpsc::unbounded_channel();
        queues.push(send);
        let tls = tls.clone();
        std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_io().build().expect("an event loop");
            tokio::task::LocalSet::new().block_on(&runtime, async move {
                while let Some(socket) = receive.recv().await {
                    tokio::task::spawn_local(session(socket, tls.clone()));
                }
            });
        });
    }
    if let Some(folder) = folder {
        let path = folder.join(format!(".s.PGSQL.{port}"));
        let listener = UnixListener::bind(path).expect("the socket is free");
        let queues = queues.clone();
        std::thread::spawn(move || {
            for (n, socket) in listener.incoming().flatten().enumerate() {
                let _ = queues[n % queues.len()].send(Socket::Unix(socket));
            }
        });
    }
    let listener = TcpListener::bind(("127.0.0.1", port)).expect("the port is free");
    let acceptor = std::thread::spawn(move || {
        for (n, socket) in listener.incoming().flatten().enumerate() {
            let _ = queues[n % queues.len()].send(Socket::Tcp(socket));
        }
    });
    Canned { acceptor }
}

async fn session(socket: Socket, tls: Option<TlsAcceptor>) {
    let _ = match socket {
        Socket::Tcp(socket) => {
            let _ = socket.set_nonblocking(true);
            let _ = socket.set_nodelay(true);
            let Ok(socket) = TcpStream::from_std(socket) else { return };
            greet(socket, tls).await
        }
        Socket::Unix(socket) => {
            let _ = socket.set_nonblocking(true);
            let Ok(socket) = UnixStream::from_std(socket) else { return };
            talk(socket).await
        }
    };
}

/// Serves a client that may ask for encryption first.
async fn greet(mut socket: TcpStream, tls: Option<TlsAcceptor>) -> std::io::Result<()> {
    let Some(tls) = tls else { return talk(socket).await };
    let mut request = [0; 8];
    socket.read_exact(&mut request).await?;
    socket.write_all(b"S").await?;
    talk(tls.accept(socket).await?).await
}

async fn talk(mut socket: impl AsyncRead + AsyncWrite + Unpin) -> std::io::Result<()> {
    let mut input = Vec::with_capacity(4096);
    let mut output = Vec::with_capacity(4096);
    startup(&mut socket).await?;
    loop {
        if socket.read_buf(&mut input).await? == 0 {
            return Ok(());
        }
        let used = answer(&input, &mut output);
        input.drain(..used);
        if !output.is_empty() {
            socket.write_all(&output).await?;
            socket.flush().await?;
            output.clear();
        }
    }
}

/// Reads the start-up packet (refusing encryption) and lets the client in.
async fn startup(socket: &mut (impl AsyncRead + AsyncWrite + Unpin)) -> std::io::Result<()> {
    loop {
        let len = socket.read_i32().await? as usize;
        let mut body = vec![0; len.saturating_sub(4).min(10_000)];
        socket.read_exact(&mut body).await?;
        let code = i32::from_be_bytes([body[0], body[1], body[2], body[3]]);
        if code == 80877103 || code == 80877104 {
            socket.write_all(b"N").await?;
            continue;
        }
        let mut out = Vec::new();
        message(&mut out, b'R', &0i32.to_be_bytes());
        for (name, value) in
            [("server_version", "18.0"), ("client_encoding", "UTF8"), ("DateStyle", "ISO, MDY")]
        {
            message(&mut out, b'S', format!("{name}\0{value}\0").as_bytes());
        }
        message(&mut out, b'K', &[0, 0, 0, 1, 0, 0, 0, 1]);
        message(&mut out, b'Z', b"I");
        socket.write_all(&out).await?;
        return socket.flush().await;
    }
}

/// Answers every complete message in `input`; returns the bytes used.
fn answer(input: &[u8], output: &mut Vec<u8>) -> usize {
    let mut at = 0;
    while let Some(header) = input.get(at..at + 5) {
        let len = u32::from_be_bytes([header[1], header[2], header[3], header[4]]) as usize;
        if input.len() < at + 1 + len {
            break;
        }
        match header[0] {
            b'P' => message(output, b'1', &[]),
            b'B' => message(output, b'2', &[]),
            b'D' => row_description(output, &["abalance"]),
            b'E' => row(output, &[Some("0")]),
            b'S' => message(output, b'Z', b"I"),
            b'Q' => {
                let text = input.get(at + 5..at + 1 + len).unwrap_or_default();
                simple_query(text, output);
            }
            _ => {}
        }
        at += 1 + len;
    }
    at
}

/// What pgbench asks before it starts: the number of branches, and whether the accounts are partitioned. It reads three columns of the answer
/// to that: a number, no strategy, and no partitions.
fn simple_query(text: &[u8], output: &mut Vec<u8>) {
    let is = |word: &[u8]| text.windows(word.len()).any(|part| part == word);
    if is(b"partstrat") {
        row_description(output, &["n", "partstrat", "count"]);
        row(output, &[Some("1"), None, Some("0")]);
    } else {
        row_description(output, &["count"]);
        row(output, &[Some(BRANCHES)]);
    }
    message(output, b'Z', b"I");
}

fn row_description(output: &mut Vec<u8>, names: &[&str]) {
    let mut body = (names.len() as i16).to_be_bytes().to_vec();
    for name in names {
        body.extend(name.bytes());
        body.push(0);
        body.extend(16384i32.to_be_bytes());
        body.extend(3i16.to_be_bytes());
        body.extend(23i32.to_be_bytes());
        body.extend(4i16.to_be_bytes());
        body.extend((-1i32).to_be_bytes());
        body.extend(0i16.to_be_bytes());
    }
    message(output, b'T', &body);
}

fn row(output: &mut Vec<u8>, values: &[Option<&str>]) {
    let mut body = (values.len() as i16).to_be_bytes().to_vec();
    for value in values {
        body.extend(value.map_or(-1, |value| value.len() as i32).to_be_bytes());
        body.extend(value.unwrap_or_default().bytes());
    }
    message(output, b'D', &body);
    message(output, b'C', b"SELECT 1\0");
}

fn message(output: &mut Vec<u8>, kind: u8, body: &[u8]) {
    output.push(kind);
    output.extend((body.len() as u32 + 4).to_be_bytes());
    output.extend_from_slice(body);
}
