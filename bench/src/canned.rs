//! The limit: a server that speaks just enough of the protocol to answer pgbench's `-S -M prepared` from a constant.
//!
//! One event loop per core; connections are handed out in turn. What a real server does beyond this is its own work.

use std::net::TcpListener;
use std::thread::JoinHandle;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

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

/// Starts the server on 127.0.0.1.
///
/// # Panics
/// If the port is taken.
pub fn serve(port: u16, workers: usize) -> Canned {
    let listener = TcpListener::bind(("127.0.0.1", port)).expect("the port is free");
    let mut queues = Vec::new();
    for _ in 0..workers {
        let (send, mut receive) = tokio::sync::mpsc::unbounded_channel();
        queues.push(send);
        std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_io().build().expect("an event loop");
            tokio::task::LocalSet::new().block_on(&runtime, async move {
                while let Some(socket) = receive.recv().await {
                    tokio::task::spawn_local(session(socket));
                }
            });
        });
    }
    let acceptor = std::thread::spawn(move || {
        for (n, socket) in listener.incoming().flatten().enumerate() {
            let _ = queues[n % queues.len()].send(socket);
        }
    });
    Canned { acceptor }
}

async fn session(socket: std::net::TcpStream) {
    let _ = socket.set_nonblocking(true);
    let _ = socket.set_nodelay(true);
    if let Ok(socket) = TcpStream::from_std(socket) {
        let _ = talk(socket).await;
    }
}

async fn talk(mut socket: TcpStream) -> std::io::Result<()> {
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
            output.clear();
        }
    }
}

/// Reads the start-up packet (refusing encryption) and lets the client in.
async fn startup(socket: &mut TcpStream) -> std::io::Result<()> {
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
        return socket.write_all(&out).await;
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
            b'D' => row_description(output),
            b'E' => row(output),
            b'S' => message(output, b'Z', b"I"),
            b'Q' => {
                row_description(output);
                row(output);
                message(output, b'Z', b"I");
            }
            _ => {}
        }
        at += 1 + len;
    }
    at
}

fn row_description(output: &mut Vec<u8>) {
    let mut body = vec![0, 1];
    body.extend(b"abalance\0");
    body.extend(16384i32.to_be_bytes());
    body.extend(3i16.to_be_bytes());
    body.extend(23i32.to_be_bytes());
    body.extend(4i16.to_be_bytes());
    body.extend((-1i32).to_be_bytes());
    body.extend(0i16.to_be_bytes());
    message(output, b'T', &body);
}

fn row(output: &mut Vec<u8>) {
    message(output, b'D', &[0, 1, 0, 0, 0, 1, b'0']);
    message(output, b'C', b"SELECT 1\0");
}

fn message(output: &mut Vec<u8>, kind: u8, body: &[u8]) {
    output.push(kind);
    output.extend((body.len() as u32 + 4).to_be_bytes());
    output.extend_from_slice(body);
}
