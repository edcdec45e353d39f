//! Sessions over real sockets, with a canned database behind them: the order of messages, errors, COPY, cancel requests,
//! timeouts, and streams that are not the protocol.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use base::settings::{ServerSettings, SessionSettings, Setting, Source, Timeouts};
use base::{Oid, SqlError, SqlResult, SqlState, sql_err};
use runtime::rest::{Ground, rest_on};
use runtime::{Interrupt, Workers};
use server::backend::{Client, Database, Role};
use server::config::access::Rules;
use server::listener::Listeners;
use server::pidfile::Contents;
use server::session::{Phase, Shared};
use server::sessions::Sessions;
use session::{Column, Format, Notification, Output, ParamValue, RowEncoder, SessionInfo, TransactionStatus};
use tuple::Datum;

/// How often what answers rest on was made durable.
static SETTLED: AtomicU64 = AtomicU64::new(0);

/// What answers rest on; it takes a moment to become durable. This position never does.
struct Slow;
const LOST: u64 = u64::MAX;

fn ground() -> Arc<dyn Ground> {
    Arc::new(Slow)
}

impl Ground for Slow {
    fn settle(&self, position: u64) -> SqlResult<()> {
        if position == LOST {
            return Err(SqlError::fatal(SqlState::IO_ERROR, "the disk is broken"));
        }
        runtime::wait(runtime::sleep(Duration::from_millis(50)));
        SETTLED.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

/// Answers without SQL.
struct Canned(Arc<ServerSettings>);

impl Database for Canned {
    fn role(&self, _: &str) -> SqlResult<Option<Role>> {
        Ok(Some(Role { can_login: true, ..Role::default() }))
    }

    fn is_member(&self, _: &str, _: &str) -> SqlResult<bool> {
        Ok(false)
    }

    fn connect(&self, info: SessionInfo) -> SqlResult<Box<dyn Client>> {
        let mut settings = SessionSettings::new(self.0.clone());
        for (name, value) in &info.options {
            settings.set_default(name, value, Source::Client, base::settings::Who::User)?;
        }
        Ok(Box::new(CannedClient { settings, status: TransactionStatus::Idle }))
    }

    fn reload(&self, _: Arc<ServerSettings>) {}

    fn set_control(&self, _: Arc<dyn session::ServerControl>) {}

    fn start_background(&self, _: &Workers, _: &Arc<Sessions>) {}

    fn shutdown(&self) -> SqlResult<()> {
        Ok(())
    }
}

struct CannedClient {
    settings: SessionSettings,
    status: TransactionStatus,
}

impl CannedClient {
    /// One row with one text.
    fn row(text: &str, out: &mut dyn Output) -> SqlResult<()> {
        let column = Column {
            name: "c".into(),
            table: Oid(0),
            number: 0,
            type_oid: Oid(25),
            declared: Oid(25),
            type_len: -1,
            typmod: -1,
        };
        let context = types::FormatContext::default();
        let session = &types::call::NoSession;
        let encoder = RowEncoder { columns: &[column], formats: &[], context: &context, session };
        out.data_row(&encoder, &[Datum::from(text)])
    }

    fn run(&mut self, text: &str, out: &mut dyn Output) -> SqlResult<()> {
        match text {
            "begin" => self.status = TransactionStatus::InBlock,
            "fail" => return Err(sql_err!(DIVISION_BY_ZERO, "division by zero")),
            "panic" => panic!("canned"),
            "copy" => {
                out.copy_in(Format::Text, 1)?;
                let mut bytes = 0;
                while let Some(data) = out.copy_in_data()? {
                    bytes += data.len();
                }
                return out.command_complete(&format!("COPY {bytes}"));
            }
            "wait" => {
                let waited = runtime::wait_interruptible(std::future::pending::<()>());
                return Err(match waited {
                    Err(Interrupt::Terminate) => server::session::terminated(),
                    other => sql_err!(QUERY_CANCELED, "canceled by {other:?}"),
                });
            }
            "known, then fail" => {
                rest_on(1, &ground());
                return Err(sql_err!(DIVISION_BY_ZERO, "division by zero"));
            }
            "known, then many" | "many" => {
                if text != "many" {
                    rest_on(1, &ground());
                }
                for _ in 0..100_000 {
                    Self::row("0123456789", out)?;
                }
            }
            "known" => {
                rest_on(1, &ground());
                Self::row(text, out)?;
            }
            "lost" => {
                rest_on(LOST, &ground());
                Self::row(text, out)?;
            }
            text if text.starts_with("wide") => Self::row(&format!("{text:.<3000}"), out)?,
            text => Self::row(text, out)?,
        }
        out.command_complete("DONE")
    }
}

impl Client for CannedClient {
    fn simple_query(&mut self, text: &str, out: &mut dyn Output) -> SqlResult<()> {
        self.run(text, out)
    }

    fn parse(&mut self, _: &str, text: &str, _: &[Oid], _: &mut dyn Output) -> SqlResult<()> {
        if text == "bad" { Err(sql_err!(SYNTAX_ERROR, "syntax error")) } else { Ok(()) }
    }

    fn bind(&mut self, _: &str, _: &str, _: &[Format], _: &[ParamValue<'_>], _: &[Format]) -> SqlResult<()> {
        Ok(())
    }

    fn describe_statement(&mut self, _: &str, out: &mut dyn Output) -> SqlResult<()> {
        out.no_data()
    }

    fn describe_portal(&mut self, _: &str, out: &mut dyn Output) -> SqlResult<()> {
        out.no_data()
    }

    fn execute(&mut self, portal: &str, _: u32, out: &mut dyn Output) -> SqlResult<()> {
        self.run(if portal.is_empty() { "row" } else { portal }, out)
    }

    fn function_call(
        &mut self,
        function: Oid,
        _: &[Format],
        args: &[ParamValue<'_>],
        _: Format,
        _: &mut dyn Output,
    ) -> SqlResult<Option<Vec<u8>>> {
        match function {
            Oid(0) => Err(sql_err!(UNDEFINED_FUNCTION, "no such function")),
            _ => Ok(args.first().copied().flatten().map(<[u8]>::to_vec)),
        }
    }

    fn close_statement(&mut self, _: &str) {}

    fn close_portal(&mut self, _: &str) {}

    fn sync(&mut self, _: &mut dyn Output) -> SqlResult<()> {
        Ok(())
    }

    fn fail(&mut self, _: &SqlError) {
        if self.status == TransactionStatus::InBlock {
            self.status = TransactionStatus::Failed;
        }
    }

    fn transaction_status(&self) -> TransactionStatus {
        self.status
    }

    fn take_chained(&mut self) -> bool {
        false
    }

    fn timeouts(&self) -> Timeouts {
        self.settings.fast().timeouts()
    }

    fn reported_settings(&self) -> Vec<(String, String)> {
        vec![("server_version".into(), self.settings.text(Setting::server_version).into())]
    }

    fn take_notifications(&mut self) -> VecDeque<Arc<Notification>> {
        VecDeque::new()
    }

    fn close(&mut self, _: counters::SessionEnd) {}
}

/// A server in this process. It runs until the process ends.
struct Server {
    socket: PathBuf,
    shared: Arc<Shared>,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(self.socket.parent().unwrap());
    }
}

fn start(name: &str, hba: &str) -> Server {
    let dir = std::env::temp_dir().join(format!("stampede-protocol-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("hba"), hba).unwrap();
    let mut settings = ServerSettings::new();
    for (name, value) in
        [("listen_addresses", ""), ("max_connections", "20"), ("authentication_timeout", "5s")]
    {
        settings.set(name, value, Source::CommandLine, None).unwrap();
    }
    settings.set("unix_socket_directories", &dir.display().to_string(), Source::CommandLine, None).unwrap();
    let settings = Arc::new(settings);
    let shared =
        Arc::new(Shared::new(settings.clone(), Rules::read(&dir.join("hba"), false).unwrap(), 2, [7; 32]));
    assert!(shared.database.set(Arc::new(Canned(settings.clone()))).is_ok());
    *shared.phase.write() = Phase::Running;
    let contents = Contents {
        pid: std::process::id() as i32,
        data_directory: dir.clone(),
        started: 0,
        port: 5432,
        socket_directory: String::new(),
        address: String::new(),
    };
    let listeners = Listeners::open(&settings, &contents).unwrap();
    let (workers, accepting) = (Workers::start(2).unwrap(), shared.clone());
    std::thread::spawn(move || runtime::run_async(listeners.accept(accepting, workers)));
    Server { socket: dir.join(".s.PGSQL.5432"), shared }
}

const TRUST: &str = "local all all trust\n";

fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut out = vec![kind];
    out.extend((body.len() as u32 + 4).to_be_bytes());
    out.extend(body);
    out
}

fn query(text: &str) -> Vec<u8> {
    message(b'Q', format!("{text}\0").as_bytes())
}

fn parse(text: &str) -> Vec<u8> {
    message(b'P', format!("\0{text}\0\0\0").as_bytes())
}

fn bind() -> Vec<u8> {
    message(b'B', b"\0\0\0\0\0\0\0\0")
}

fn execute(portal: &str) -> Vec<u8> {
    message(b'E', format!("{portal}\0\0\0\0\0").as_bytes())
}

fn sync() -> Vec<u8> {
    message(b'S', b"")
}

/// A client that shows what it gets as one line.
struct Peer {
    stream: UnixStream,
    pid: i32,
    key: Vec<u8>,
}

impl Peer {
    fn raw(server: &Server) -> UnixStream {
        let stream = UnixStream::connect(&server.socket).unwrap();
        // A hang fails the test instead of blocking it.
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream
    }

    fn connect(server: &Server, parameters: &[(&str, &str)]) -> Result<Peer, String> {
        let mut body = 0x0003_0000u32.to_be_bytes().to_vec();
        for (name, value) in [("user", "me")].iter().chain(parameters) {
            body.extend(format!("{name}\0{value}\0").as_bytes());
        }
        body.push(0);
        let mut stream = Peer::raw(server);
        stream.write_all(&(body.len() as u32 + 4).to_be_bytes()).unwrap();
        stream.write_all(&body).unwrap();
        let mut peer = Peer { stream, pid: 0, key: Vec::new() };
        loop {
            match peer.message() {
                Some((b'K', body)) => {
                    peer.pid = i32::from_be_bytes(body[..4].try_into().unwrap());
                    peer.key = body[4..].to_vec();
                }
                Some((b'Z', _)) => return Ok(peer),
                Some((b'E', body)) => return Err(error_text(&body)),
                Some(_) => {}
                None => return Err("closed".into()),
            }
        }
    }

    fn send(&mut self, messages: &[Vec<u8>]) {
        self.stream.write_all(&messages.concat()).unwrap();
    }

    fn message(&mut self) -> Option<(u8, Vec<u8>)> {
        let mut head = [0; 5];
        self.stream.read_exact(&mut head).ok()?;
        let length = u32::from_be_bytes(head[1..].try_into().unwrap()) as usize;
        let mut body = vec![0; length - 4];
        self.stream.read_exact(&mut body).ok()?;
        Some((head[0], body))
    }

    /// Messages up to the next ReadyForQuery, or the end.
    fn until_ready(&mut self) -> String {
        let mut seen = Vec::new();
        loop {
            match self.message() {
                Some((b'Z', body)) => {
                    seen.push(format!("Z{}", char::from(body[0])));
                    break;
                }
                Some((b'E', body)) => seen.push(format!("E[{}]", error_text(&body))),
                Some((b'C', body)) => {
                    seen.push(format!("C[{}]", String::from_utf8_lossy(&body[..body.len() - 1])))
                }
                Some((kind, _)) => seen.push(char::from(kind).to_string()),
                None => {
                    seen.push("end".into());
                    break;
                }
            }
        }
        seen.join(" ")
    }
}

fn error_text(body: &[u8]) -> String {
    let field = |code: u8| {
        let field = body.split(|b| *b == 0).find(|field| field.first() == Some(&code));
        String::from_utf8_lossy(&field.unwrap_or(b"?")[1..]).into_owned()
    };
    format!("{} {} {}", field(b'S'), field(b'C'), field(b'M'))
}

#[test]
fn answers_keep_their_order_when_the_client_does_not_read() {
    let server = start("unread", TRUST);
    let mut peers: Vec<Peer> = (0..4).map(|_| Peer::connect(&server, &[]).unwrap()).collect();
    // More than the socket takes, asked for one by one.
    for number in 0..300 {
        peers.iter_mut().for_each(|peer| peer.send(&[query(&format!("wide {number};"))]));
    }
    for peer in &mut peers {
        for number in 0..300 {
            let (kind, body) = peer.message().unwrap();
            assert_eq!(kind, b'D');
            assert!(body[6..].starts_with(format!("wide {number};").as_bytes()), "answer {number}");
            assert_eq!(peer.until_ready(), "C[DONE] ZI");
        }
    }
}

#[test]
fn simple_and_extended_queries() {
    let server = start("queries", TRUST);
    let mut peer = Peer::connect(&server, &[]).unwrap();
    peer.send(&[query("x")]);
    assert_eq!(peer.until_ready(), "D C[DONE] ZI");
    peer.send(&[query("fail")]);
    assert_eq!(peer.until_ready(), "E[ERROR 22012 division by zero] ZI");
    peer.send(&[parse("x"), bind(), execute(""), sync()]);
    assert_eq!(peer.until_ready(), "1 2 D C[DONE] ZI");
    // Everything up to Sync is skipped after an error; what follows is carried out.
    peer.send(&[parse("bad"), bind(), execute(""), query("lost"), sync(), query("x")]);
    assert_eq!(peer.until_ready(), "E[ERROR 42601 syntax error] ZI");
    assert_eq!(peer.until_ready(), "D C[DONE] ZI");
    // Pipelined, with an answer asked for in between.
    peer.send(&[parse("x"), message(b'H', b"")]);
    assert_eq!(peer.message().unwrap().0, b'1');
    peer.send(&[bind(), message(b'D', b"P\0"), execute(""), message(b'C', b"P\0"), sync(), sync()]);
    assert_eq!(peer.until_ready(), "2 n D C[DONE] 3 ZI");
    assert_eq!(peer.until_ready(), "ZI");
}

#[test]
fn functions_are_called_by_oid() {
    let server = start("calls", TRUST);
    let mut peer = Peer::connect(&server, &[]).unwrap();
    peer.send(&[message(b'F', b"\0\0\0\x07\0\x01\0\x01\0\x01\0\0\0\x02hi\0\x01")]);
    assert_eq!(peer.message(), Some((b'V', b"\0\0\0\x02hi".to_vec())));
    assert_eq!(peer.until_ready(), "ZI");
    peer.send(&[message(b'F', b"\0\0\0\x07\0\0\0\x01\xff\xff\xff\xff\0\0")]);
    assert_eq!(peer.message(), Some((b'V', b"\xff\xff\xff\xff".to_vec())));
    assert_eq!(peer.until_ready(), "ZI");
    peer.send(&[message(b'F', b"\0\0\0\0\0\0\0\0\0\0")]);
    assert_eq!(peer.until_ready(), "E[ERROR 42883 no such function] ZI");
}

#[test]
fn protocol_errors_fail_the_transaction() {
    let server = start("errors", TRUST);
    let mut peer = Peer::connect(&server, &[]).unwrap();
    peer.send(&[query("begin")]);
    assert_eq!(peer.until_ready(), "C[DONE] ZT");
    peer.send(&[message(b'D', b"Xname\0"), sync()]);
    assert_eq!(peer.until_ready(), "E[ERROR 08P01 invalid DESCRIBE message subtype 88] ZE");
    peer.send(&[message(b'B', b"\0\0\0\x01\0\x07\0\0\0\0"), sync()]);
    assert_eq!(peer.until_ready(), "E[ERROR 22023 unsupported format code: 7] ZE");
    peer.send(&[message(b'F', b"")]);
    assert_eq!(peer.until_ready(), "E[ERROR 08P01 insufficient data left in message] ZE");
    peer.send(&[message(b'z', b"")]);
    assert_eq!(peer.until_ready(), "E[FATAL 08P01 invalid frontend message type 122] end");
}

#[test]
fn a_panic_ends_one_session_only() {
    let server = start("panic", TRUST);
    let mut peer = Peer::connect(&server, &[]).unwrap();
    let mut other = Peer::connect(&server, &[]).unwrap();
    peer.send(&[query("panic")]);
    assert_eq!(peer.until_ready(), "E[FATAL XX000 internal error: canned] end");
    other.send(&[query("x")]);
    assert_eq!(other.until_ready(), "D C[DONE] ZI");
}

#[test]
fn copy_in_reads_on_and_leaves_the_rest() {
    let server = start("copy", TRUST);
    let mut peer = Peer::connect(&server, &[]).unwrap();
    let data = message(b'd', &[b'x'; 1000]);
    // All in one piece, the next query included.
    peer.send(&[
        query("copy"),
        data.clone(),
        message(b'H', b""),
        data.clone(),
        message(b'c', b""),
        query("x"),
    ]);
    assert_eq!(peer.until_ready(), "G C[COPY 2000] ZI");
    assert_eq!(peer.until_ready(), "D C[DONE] ZI");
    // In pieces that cut messages.
    peer.send(&[query("copy")]);
    assert_eq!(peer.message().unwrap().0, b'G');
    let rest = [data, message(b'c', b"")].concat();
    for piece in rest.chunks(300) {
        peer.stream.write_all(piece).unwrap();
    }
    assert_eq!(peer.until_ready(), "C[COPY 1000] ZI");
    peer.send(&[query("copy"), message(b'f', b"enough\0"), message(b'd', b"late"), query("x")]);
    assert_eq!(peer.until_ready(), "G E[ERROR 57014 COPY from stdin failed: enough] ZI");
    assert_eq!(peer.until_ready(), "D C[DONE] ZI");
    peer.send(&[query("copy"), query("x"), query("y")]);
    assert_eq!(peer.until_ready(), "G E[ERROR 08P01 unexpected message type 0x51 during COPY from stdin] ZI");
    assert_eq!(peer.until_ready(), "D C[DONE] ZI");
    // In the extended protocol, by a portal.
    peer.send(&[execute("copy"), message(b'd', b"abc"), message(b'c', b""), sync()]);
    assert_eq!(peer.until_ready(), "G C[COPY 3] ZI");
}

#[test]
fn large_results_wait_for_a_slow_reader() {
    let server = start("large", TRUST);
    let mut peer = Peer::connect(&server, &[]).unwrap();
    peer.send(&[query("many"), query("x")]);
    let mut rows = 0;
    loop {
        match peer.message().unwrap() {
            (b'D', body) => {
                assert_eq!(body, b"\0\x01\0\0\0\x0A0123456789");
                rows += 1;
            }
            (b'C', _) => break,
            (kind, _) => panic!("unexpected message {}", char::from(kind)),
        }
    }
    assert_eq!(rows, 100_000);
    assert_eq!(peer.until_ready(), "ZI");
    assert_eq!(peer.until_ready(), "D C[DONE] ZI");
    // A client that goes away in the middle takes nobody with it.
    peer.send(&[query("many")]);
    drop(peer);
    let mut other = Peer::connect(&server, &[]).unwrap();
    other.send(&[query("x")]);
    assert_eq!(other.until_ready(), "D C[DONE] ZI");
}

#[test]
fn cancel_requests_and_timeouts() {
    let server = start("cancel", TRUST);
    let mut peer = Peer::connect(&server, &[]).unwrap();
    let cancel = |key: &[u8], pid: i32| {
        let mut stream = Peer::raw(&server);
        let mut packet = (key.len() as u32 + 12).to_be_bytes().to_vec();
        packet.extend(80_877_102u32.to_be_bytes());
        packet.extend(pid.to_be_bytes());
        packet.extend(key);
        stream.write_all(&packet).unwrap();
        // The server closes the connection when it has carried out the request.
        assert_eq!(stream.read(&mut [0]).unwrap(), 0);
    };
    // Nothing runs: ignored, and the next statement is not hit.
    cancel(&peer.key, peer.pid);
    peer.send(&[query("x")]);
    assert_eq!(peer.until_ready(), "D C[DONE] ZI");
    peer.send(&[query("x"), query("wait")]);
    assert_eq!(peer.until_ready(), "D C[DONE] ZI");
    cancel(&[0; 4], peer.pid);
    // The statement may not have begun when the first request comes.
    let mut answer = None;
    let (key, pid) = (peer.key.clone(), peer.pid);
    peer.stream.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    while answer.is_none() {
        cancel(&key, pid);
        answer = peer.message();
    }
    assert_eq!(error_text(&answer.unwrap().1), "ERROR 57014 canceled by Err(Cancel)");
    drop(peer);

    let mut timed = Peer::connect(&server, &[("options", "-c statement_timeout=20ms")]).unwrap();
    timed.send(&[query("wait")]);
    assert_eq!(timed.until_ready(), "E[ERROR 57014 canceled by Err(StatementTimeout)] ZI");
    timed.send(&[query("x")]);
    assert_eq!(timed.until_ready(), "D C[DONE] ZI");

    let mut idle = Peer::connect(&server, &[("idle_session_timeout", "20ms")]).unwrap();
    assert_eq!(idle.until_ready(), "E[FATAL 57P05 terminating connection due to idle-session timeout] end");
    let idle = [("idle_in_transaction_session_timeout", "20ms")];
    let mut idle = Peer::connect(&server, &idle).unwrap();
    idle.send(&[query("begin")]);
    assert_eq!(idle.until_ready(), "C[DONE] ZT");
    assert_eq!(
        idle.until_ready(),
        "E[FATAL 25P03 terminating connection due to idle-in-transaction timeout] end"
    );
}

#[test]
fn ending_all_sessions() {
    let server = start("end", TRUST);
    let mut waiting = Peer::connect(&server, &[]).unwrap();
    let mut running = Peer::connect(&server, &[]).unwrap();
    running.send(&[query("x"), query("wait")]);
    assert_eq!(running.until_ready(), "D C[DONE] ZI");
    server.shared.sessions.terminate_all();
    let last = "E[FATAL 57P01 terminating connection due to administrator command] end";
    assert_eq!(waiting.until_ready(), last);
    assert_eq!(running.until_ready(), last);
    runtime::run_async(server.shared.sessions.until_no_clients()).unwrap();
    *server.shared.phase.write() = Phase::Stopping;
    let refused = Peer::connect(&server, &[]).err();
    assert_eq!(refused.as_deref(), Some("FATAL 57P03 the database system is shutting down"));
}

#[test]
fn who_is_let_in() {
    let server = start("limits", "local no all reject\nlocal all all trust\n");
    let refusal = |parameters: &[(&str, &str)]| Peer::connect(&server, parameters).err().unwrap();
    assert!(refusal(&[("database", "no")]).starts_with("FATAL 28000 pg_hba.conf rejects connection"));
    assert_eq!(refusal(&[("no_such", "1")]), "FATAL 42704 unrecognized configuration parameter \"no_such\"");
    assert_eq!(
        refusal(&[("replication", "on")]),
        "FATAL 28000 no pg_hba.conf entry for replication connection from host \"[local]\", user \"me\", no encryption"
    );
    assert_eq!(refusal(&[("user", "")]), "FATAL 28000 no PostgreSQL user name specified in startup packet");
    // 20 connections at most, of which three are for superusers.
    let peers: Vec<Peer> = (0..17).map(|_| Peer::connect(&server, &[]).unwrap()).collect();
    assert!(refusal(&[]).starts_with("FATAL 53300 remaining connection slots are reserved"));
    drop(peers);
}

/// Random bytes and mutated streams: connections may end, the server may not.
#[test]
fn streams_that_are_not_the_protocol() {
    let server = start("fuzz", TRUST);
    let mut seed = 0x1234_5678_9ABC_DEF0u64;
    let mut random = move |bound: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % bound
    };
    let good = [parse("x"), bind(), execute(""), query("x"), message(b'D', b"S\0"), sync()].concat();
    for round in 0..300 {
        let mut bytes = good.clone();
        for _ in 0..1 + random(6) {
            let at = random(bytes.len());
            match random(3) {
                0 => bytes[at] = random(256) as u8,
                1 => bytes.insert(at, random(256) as u8),
                _ => drop(bytes.remove(at)),
            }
        }
        if round % 2 == 0 {
            // As the first bytes of a connection; the server may close it before all is written.
            let _ = Peer::raw(&server).write_all(&bytes);
        } else if let Ok(mut peer) = Peer::connect(&server, &[]) {
            let _ = peer.stream.write_all(&bytes);
            let _ = peer.stream.shutdown(std::net::Shutdown::Write);
            while peer.message().is_some() {}
        }
    }
    let mut peer = Peer::connect(&server, &[]).unwrap();
    peer.send(&[query("x")]);
    assert_eq!(peer.until_ready(), "D C[DONE] ZI");
}

/// The only test that looks at [`SETTLED`].
#[test]
fn nothing_is_said_before_what_it_rests_on_is_durable() {
    let server = start("rest", TRUST);
    let mut peer = Peer::connect(&server, &[]).unwrap();
    for (number, text) in ["known", "known, then fail", "known, then many"].into_iter().enumerate() {
        peer.send(&[query(text)]);
        let first = peer.message().unwrap().0;
        assert_eq!(SETTLED.load(Ordering::SeqCst), number as u64 + 1, "said {first} to {text}");
        assert!(peer.until_ready().ends_with("ZI"));
    }
    peer.send(&[parse("x"), bind(), execute("known"), execute("known"), sync()]);
    assert_eq!(peer.until_ready(), "1 2 D C[DONE] D C[DONE] ZI");
    assert_eq!(SETTLED.load(Ordering::SeqCst), 4, "a batch waits once");
    peer.send(&[query("lost")]);
    assert_eq!(peer.until_ready(), "E[FATAL 58030 the disk is broken] end", "nothing of it is said");
}
