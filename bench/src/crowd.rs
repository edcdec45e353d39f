//! Crowds at the door and in the house: does anybody else feel thousands that begin a connection and do not end it, or sessions that keep
//! as many prepared statements as they like?
//!
//! 100 clients ask point queries over TLS meanwhile; what counts is that the server goes on and what latency they see.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::client::Client;
use crate::peers::Server;
use crate::pgbench;
use crate::scenario::p99_ms;

/// Clients that ask point queries meanwhile.
const NEIGHBOURS: u32 = 100;

/// Connections that ask for TLS and then say no more.
const HALF_OPEN: usize = 10_000;

/// Clients that say one byte of their first message a second.
const SLOW: usize = 1_000;

/// Sessions, and statements that each of them prepares.
const SESSIONS: usize = 1_000;
const STATEMENTS: usize = 10_000;

/// Statements of one batch between two Syncs.
const BATCH: usize = 500;

/// What a client sends first: length 8 and the number that asks for TLS.
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];

/// How a ClientHello of TLS begins.
const HELLO: [u8; 5] = [22, 3, 1, 2, 0];

/// Prints a line a crowd.
pub fn run(server: &Server, scale: u32, seconds: u32) -> Result<(), String> {
    pgbench::initialize(server, scale)?;
    let alone = beside(server, seconds, |_| Ok(()))?;
    println!("{NEIGHBOURS} clients of -S over TLS, nobody beside: p99 {alone:.2} ms");
    let mut open = Vec::new();
    let p99 = beside(server, seconds, |_| {
        for _ in 0..HALF_OPEN {
            open.push(half_open(server)?);
        }
        Ok(())
    })?;
    println!("beside {} half-open TLS connections: p99 {p99:.2} ms", open.len());
    drop(open);
    let p99 = beside(server, seconds, |ended| slow(server, ended))?;
    println!("beside {SLOW} clients that log in a byte a second: p99 {p99:.2} ms");
    let mut keeping = Vec::new();
    let p99 = beside(server, seconds, |_| {
        for _ in 0..SESSIONS {
            keeping.push(with_statements(server)?);
        }
        Ok(())
    })?;
    println!("beside {} sessions that prepare {STATEMENTS} statements each: p99 {p99:.2} ms", keeping.len());
    let p99 = beside(server, seconds, |_| Ok(()))?;
    println!("beside these, idle: p99 {p99:.2} ms");
    Client::connect(server)?.query("select 1").map(drop)
}

/// 99th percentile of the neighbours' latency while `crowd` comes, until it has come and at least for so long. `crowd` is told
/// when the neighbours have seen enough.
fn beside(
    server: &Server,
    seconds: u32,
    crowd: impl FnOnce(&AtomicBool) -> Result<(), String> + Send,
) -> Result<f64, String> {
    let log = std::env::temp_dir().join(format!("stampede-crowd-{}", std::process::id()));
    let prefix = log.to_string_lossy().into_owned();
    let args = ["-S", "-M", "prepared", "-l", "--sampling-rate", "0.2", "--log-prefix", &prefix];
    let ended = AtomicBool::new(false);
    thread::scope(|scope| {
        let crowd = scope.spawn(|| crowd(&ended));
        let mut load = Ok(());
        loop {
            load = load.and_then(|()| pgbench::run(server, NEIGHBOURS, seconds, &args).map(drop));
            ended.store(true, Ordering::Relaxed);
            if load.is_err() || crowd.is_finished() {
                break;
            }
        }
        crowd.join().map_err(|_| "the crowd's thread panicked")??;
        load?;
        p99_ms(&log)
    })
}

/// A connection that has begun its handshake.
fn half_open(server: &Server) -> Result<TcpStream, String> {
    let begin = || {
        let mut socket = TcpStream::connect((server.host.as_str(), server.port))?;
        socket.write_all(&SSL_REQUEST)?;
        let mut answer = [0];
        socket.read_exact(&mut answer)?;
        socket.write_all(&HELLO)?;
        Ok((socket, answer[0]))
    };
    match begin().map_err(|e: std::io::Error| format!("half-open connection: {e}"))? {
        (socket, b'S') => Ok(socket),
        (_, answer) => Err(format!("TLS was answered with {answer}")),
    }
}

/// Clients that log in a byte a second, until the others have ended.
fn slow(server: &Server, ended: &AtomicBool) -> Result<(), String> {
    let mut sockets = Vec::new();
    for _ in 0..SLOW {
        sockets.push(TcpStream::connect((server.host.as_str(), server.port)).map_err(|e| e.to_string())?);
    }
    let startup = b"\0\0\0\x64\0\x03\0\0user\0postgres\0database\0";
    for byte in startup.iter().cycle() {
        if ended.load(Ordering::Relaxed) {
            break;
        }
        // The server may have had enough of one.
        sockets.retain_mut(|socket| socket.write_all(&[*byte]).is_ok());
        thread::sleep(Duration::from_secs(1));
    }
    Ok(())
}

/// A session with its prepared statements.
fn with_statements(server: &Server) -> Result<Client, String> {
    let mut client = Client::connect(server)?;
    for batch in 0..STATEMENTS / BATCH {
        let statements = (batch * BATCH..(batch + 1) * BATCH).map(|n| {
            (format!("s{n}"), format!("select abalance + {n} from pgbench_accounts where aid = $1"))
        });
        client.prepare_all(statements)?;
    }
    Ok(client)
}
