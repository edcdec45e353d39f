//! Settings that a server starts with, or reads again.

use std::fs;
use std::io::Read;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::time::Instant;

use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

use super::{locked_together, lockers, transcript};
use crate::support::authority::{Authority, accepted, secure, secured_server, socket};
use crate::support::client::Client;
use crate::support::xids::skip_xids;
use crate::support::{Failure, PATIENCE, Server, until};

/// Files of relations are open for direct I/O on one server, and not on the other.
fn direct_files(with: &Server, without: &Server) {
    let direct = |server: &Server| {
        transcript(&mut server.client(), "select count(*) from pg_class;;checkpoint");
        let files = fs::read_dir(format!("/proc/{}/fd", server.pid())).unwrap().flatten();
        let of_relations = files.filter(|file| {
            fs::read_link(file.path()).is_ok_and(|path| path.to_string_lossy().contains("/base/"))
        });
        let mut flags = of_relations.filter_map(|file| {
            let info = format!("/proc/{}/fdinfo/{}", server.pid(), file.file_name().display());
            let info = fs::read_to_string(info).ok()?;
            let flags = info.lines().find_map(|line| line.strip_prefix("flags:"))?;
            i32::from_str_radix(flags.trim(), 8).ok()
        });
        flags.any(|flags| flags & libc::O_DIRECT != 0)
    };
    assert!(direct(with) && !direct(without));
}

/// How the effect shows of a value that a server starts with.
enum Shows {
    /// The statements' transcript tells this on a server with the values, and not on one without.
    Tells(&'static str, &'static str),
    /// The other way round.
    Silences(&'static str, &'static str),
    /// The log of the server with the values has this, not that of the other.
    Logs(&'static str),
    /// Looked for on a server with the values, and on one without.
    Seen(fn(&Server, &Server)),
}
use Shows::{Logs, Seen, Silences, Tells};

type Row = (&'static str, &'static str, Shows);

/// Names of all settings here.
pub fn names() -> impl Iterator<Item = &'static str> {
    let started = STARTED.iter().map(|row| row.0);
    let elsewhere = ["config_file", "data_directory", "port"]
        .into_iter()
        .chain(ARCHIVE.iter().copied())
        .chain(SUMMARIES.iter().copied())
        .chain(STANDBY.iter().copied())
        .chain(DECODING.iter().copied())
        .chain(SUBSCRIPTIONS.iter().copied());
    started.chain(TLS.iter().map(|row| row.0)).chain(elsewhere)
}

/// Seen by the tests of the archive.
const ARCHIVE: &[&str] = &[
    "archive_cleanup_command",
    "archive_command",
    "archive_mode",
    "archive_timeout",
    "recovery_end_command",
    "recovery_min_apply_delay",
    "recovery_target",
    "recovery_target_action",
    "recovery_target_inclusive",
    "recovery_target_lsn",
    "recovery_target_name",
    "recovery_target_time",
    "recovery_target_timeline",
    "recovery_target_xid",
    "restore_command",
    "wal_keep_size",
    "wal_retrieve_retry_interval",
];

/// Seen by the tests of summaries of the log.
const SUMMARIES: &[&str] = &["summarize_wal", "wal_summary_keep_time"];

/// Seen by the tests of standbys and of streaming.
const STANDBY: &[&str] = &[
    "cluster_name",
    "hot_standby",
    "hot_standby_feedback",
    "log_recovery_conflict_waits",
    "max_standby_archive_delay",
    "max_standby_streaming_delay",
    "primary_conninfo",
    "primary_slot_name",
    "synchronous_standby_names",
    "wal_receiver_create_temp_slot",
    "wal_receiver_status_interval",
    "wal_receiver_timeout",
];

/// Seen by the tests of logical decoding.
const DECODING: &[&str] = &["logical_decoding_work_mem", "wal_level"];

/// Seen by the tests of subscriptions.
const SUBSCRIPTIONS: &[&str] = &[
    "max_active_replication_origins",
    "max_logical_replication_workers",
    "max_sync_workers_per_subscription",
];

/// On a server whose values for all of them are others.
const STARTED: &[Row] = &[
    (
        "allow_alter_system",
        "off",
        Tells("alter system set work_mem = '1MB'", "ALTER SYSTEM is not allowed in this environment"),
    ),
    ("authentication_timeout", "1s", Seen(a_silent_client)),
    ("autovacuum_freeze_max_age", "100000", Seen(ages)),
    ("autovacuum_multixact_freeze_max_age", "10000", Seen(|_, _| ())),
    (
        "autovacuum_worker_slots",
        "1",
        Logs(
            "\"autovacuum_max_workers\" (3) should be less than or equal to \"autovacuum_worker_slots\" (1)",
        ),
    ),
    ("external_pid_file", "BASE/other_pid", Seen(another_pid_file)),
    (
        "fsync",
        "off",
        Silences(
            "insert into kept values (1);;select pg_stat_force_next_flush();;select 'synced' from pg_stat_io where object = 'wal' and fsyncs > 0",
            "synced",
        ),
    ),
    (
        "full_page_writes",
        "off",
        Silences("checkpoint;;explain (analyze, wal, costs off) insert into kept values (2)", "fpi="),
    ),
    ("hba_file", "BASE/other_hba.conf", Tells("select file_name from pg_hba_file_rules", "other_hba.conf")),
    (
        "ident_file",
        "BASE/other_ident.conf",
        Tells("select file_name, pg_username from pg_ident_file_mappings", "other_ident.conf|them"),
    ),
    ("idle_replication_slot_timeout", "1s", Seen(an_idle_slot)),
    ("listen_addresses", "127.0.0.1,127.0.0.2", Seen(another_address)),
    ("log_connections", "receipt", Logs("connection received: ")),
    ("log_disconnections", "on", Seen(ends_of_sessions)),
    ("log_checkpoints", "off", Seen(silent_checkpoints)),
    ("checkpoint_warning", "1h", Logs("checkpoints are occurring too frequently (")),
    ("log_hostname", "on", Seen(host_names)),
    ("log_line_prefix", "%t<%d> ", Logs("<postgres> ERROR:  division by zero")),
    ("log_timezone", "Asia/Tokyo", Logs(" JST")),
    ("max_connections", "12", Seen(limits_of_connections)),
    ("max_files_per_process", "64", Seen(open_files)),
    (
        "max_locks_per_transaction",
        "10",
        Tells(
            "select count(pg_try_advisory_xact_lock(i)) from generate_series(1, 2000) i",
            "You might need to increase \"max_locks_per_transaction\".",
        ),
    ),
    ("max_notify_queue_pages", "64", Seen(a_full_queue)),
    (
        "max_pred_locks_per_page",
        "0",
        Tells(
            "begin isolation level serializable;;select from filler where ctid = '(0,1)';;select 'locks ' || string_agg(distinct locktype, ',') from pg_locks where mode = 'SIReadLock' and relation = 'filler'::regclass;;rollback",
            "locks page",
        ),
    ),
    // Four rows are more than a quarter of ten, and not more than a quarter of 64 or half of ten.
    ("max_pred_locks_per_relation", "-4", Tells(FOUR_ROWS, "locks relation")),
    ("max_pred_locks_per_transaction", "10", Tells(FOUR_ROWS, "locks relation")),
    (
        "max_replication_slots",
        "3",
        Tells(
            "select pg_create_physical_replication_slot('s' || i) from generate_series(1, 4) i",
            "all replication slots are in use",
        ),
    ),
    (
        "max_slot_wal_keep_size",
        "100MB",
        Tells(
            "select pg_drop_replication_slot('s1');;select from pg_create_physical_replication_slot('s1', true);;select 'limited' from pg_replication_slots where safe_wal_size > 0",
            "limited",
        ),
    ),
    ("max_wal_senders", "0", Seen(senders)),
    (
        "max_prepared_transactions",
        "1",
        Tells(
            "begin; create table prepared ();;prepare transaction 'p';;rollback prepared 'p'",
            "ROLLBACK PREPARED",
        ),
    ),
    (
        "max_wal_size",
        "4MB",
        Tells("select 'often ' || (num_requested > 3) from pg_stat_checkpointer", "often true"),
    ),
    ("min_wal_size", "2MB", Seen(files_of_the_log)),
    (
        "multixact_member_buffers",
        "256",
        Tells(
            "select 'pages ' || size / 8192 from pg_shmem_allocations where name = 'multixact'",
            "pages 8192",
        ),
    ),
    ("multixact_offset_buffers", "256", Seen(|_, _| ())),
    ("reserved_connections", "2", Seen(|_, _| ())),
    (
        "shared_preload_libraries",
        "pg_stat_statements",
        Tells("select 'loaded' from pg_settings where name = 'pg_stat_statements.max'", "loaded"),
    ),
    (
        "session_preload_libraries",
        "auto_explain",
        Tells("select 'loaded' from pg_settings where name = 'auto_explain.log_analyze'", "loaded"),
    ),
    (
        "shared_buffers",
        "1MB",
        Tells(
            "select 'small ' || (size < 8000000) from pg_shmem_allocations where name = 'Buffer Blocks'",
            "small true",
        ),
    ),
    ("stampede.allow_root_access", "on", Seen(programs_of_root)),
    (
        "stampede.memory_limit",
        "900MB",
        Tells(
            "select 'little ' || (size < 950e6) from pg_shmem_allocations where name is null",
            "little true",
        ),
    ),
    ("stampede.open_during_recovery", "off", Seen(openings)),
    ("stampede.workers", "3", Seen(workers)),
    ("debug_io_direct", "data", Seen(direct_files)),
    ("superuser_reserved_connections", "4", Seen(|_, _| ())),
    ("tcp_keepalives_count", "3", Seen(|other, _| options_of_sockets(other))),
    ("tcp_keepalives_idle", "60", Seen(|_, _| ())),
    ("tcp_keepalives_interval", "7", Seen(|_, _| ())),
    ("tcp_user_timeout", "8000", Seen(|_, _| ())),
    ("trace_connection_negotiation", "on", Logs("SSLRequest")),
    (
        "track_io_timing",
        "on",
        Tells("explain (analyze, buffers, costs off) select * from filler", "I/O Timings: shared"),
    ),
    (
        "transaction_buffers",
        "64",
        Tells(
            "select 'pages ' || size / 8192 from pg_shmem_allocations where name = 'transaction'",
            "pages 64",
        ),
    ),
    ("unix_socket_directories", "BASE/elsewhere", Seen(another_socket)),
    ("unix_socket_permissions", "0700", Seen(|_, _| ())),
    (
        "wal_buffers",
        "128kB",
        Tells("select 'bytes ' || size from pg_shmem_allocations where name = 'XLOG Ctl'", "bytes 131072"),
    ),
    (
        "wal_compression",
        "lz4",
        Tells(
            "create table whole (a int, b text);;insert into whole select g, repeat('x', 50) from generate_series(1, 80) g;;checkpoint;;
            do $$ declare
                start pg_lsn := pg_current_wal_insert_lsn();
            begin
                delete from whole where a = 1;
                raise notice 'short %', pg_current_wal_insert_lsn() - start < 4000;
            end $$",
            "short t",
        ),
    ),
];

/// What a reload with the value leaves in the log; without, another look is taken.
const TLS: &[(&str, &str, &str)] = &[
    ("ssl_ca_file", "nowhere", "could not load root certificate file \"nowhere\""),
    ("ssl_cert_file", "nowhere", "could not load server certificate file \"nowhere\""),
    ("ssl_ciphers", "nonsense", "could not set the cipher list (no valid ciphers available)"),
    ("ssl_crl_dir", "nowhere", "could not load SSL certificate revocation list directory "),
    ("ssl_crl_file", "nowhere", "could not load SSL certificate revocation list file "),
    ("ssl_dh_params_file", "some", "\"ssl_dh_params_file\" setting \"some\" not supported by this build"),
    ("ssl_groups", "nonsense", "could not set group names specified in ssl_groups: nonsense"),
    ("ssl_key_file", "nowhere", "private key file \"nowhere\""),
    (
        "ssl_passphrase_command",
        "echo",
        "\"ssl_passphrase_command\" setting \"echo\" not supported by this build",
    ),
    ("ssl_tls13_ciphers", "nonsense", "nonsense"),
    ("ssl", "off", ""),
    ("ssl_max_protocol_version", "TLSv1.2", ""),
    ("ssl_min_protocol_version", "TLSv1.3", ""),
    ("ssl_prefer_server_ciphers", "off", ""),
];

/// A serializable transaction reads a row each of four pages, and tells what it has locked.
const FOUR_ROWS: &str = "begin isolation level serializable;;select from filler where ctid in ('(0,1)', '(1,1)', '(2,1)', '(3,1)');;select 'locks ' || string_agg(distinct locktype, ',') from pg_locks where mode = 'SIReadLock' and relation = 'filler'::regclass;;rollback";

/// What both servers have done before anything is looked for.
const WORK: &str = "create table kept (a int primary key);;
    create role plain login;;create role special login in role pg_use_reserved_connections;;
    create table filler as select repeat('x', 500) from generate_series(1, 12000);;
    insert into filler select repeat('x', 500) from generate_series(1, 12000);;
    select 1 / 0";

/// Starts a server with files of 1 MB for its log.
pub fn start(settings: &[(&str, &str)], changed: impl FnOnce(&Server)) -> Server {
    let mut server = Server::init(&["--wal-segsize=1"]);
    changed(&server);
    for (name, value) in settings {
        let base = server.file("").display().to_string();
        server.set_option(&format!("{name}={}", value.replace("BASE/", &base)));
    }
    server.run();
    server
}

#[test]
fn what_a_server_starts_with() {
    let settings: Vec<(&str, &str)> = STARTED.iter().map(|row| (row.0, row.1)).collect();
    let other = start(&settings, |server| {
        fs::write(server.file("other_hba.conf"), "local all all trust\nhost all all all trust\n").unwrap();
        fs::write(server.file("other_ident.conf"), "map us them\n").unwrap();
        fs::create_dir(server.file("elsewhere")).unwrap();
    });
    let plain = start(&[], |_| {});
    for server in [&other, &plain] {
        transcript(&mut server.client(), WORK);
        // One that asks for TLS.
        let mut asks = socket(server);
        std::io::Write::write_all(&mut asks, &[0, 0, 0, 8, 4, 0xD2, 0x16, 0x2F]).unwrap();
        asks.read_exact(&mut [0]).unwrap();
    }
    let mut failed = Vec::new();
    for (name, _, shows) in STARTED {
        let look = std::panic::AssertUnwindSafe(|| see(&other, &plain, name, shows));
        if std::panic::catch_unwind(look).is_err() {
            failed.push(name);
        }
    }
    assert!(failed.is_empty(), "without the effect that is named: {failed:?}");
}

fn see(other: &Server, plain: &Server, name: &str, shows: &Shows) {
    let tells = |server: &Server, statements: &str, wanted: &str| {
        let told = transcript(&mut server.client(), statements);
        (told.contains(wanted), told)
    };
    match shows {
        Tells(statements, wanted) => {
            assert!(!tells(plain, statements, wanted).0, "{name} is not set, and still: {wanted}");
            let (told, all) = tells(other, statements, wanted);
            assert!(told, "{name} is set, and still no \"{wanted}\" in: {all}");
        }
        Silences(statements, wanted) => {
            let (told, all) = tells(plain, statements, wanted);
            assert!(told, "{name} is not set, and still no \"{wanted}\" in: {all}");
            assert!(!tells(other, statements, wanted).0, "{name} is set, and still: {wanted}");
        }
        Logs(wanted) => {
            until(name, || other.log().contains(wanted));
            assert!(!plain.log().contains(wanted), "{name} is not set, and still logged: {wanted}");
        }
        Seen(seen) => seen(other, plain),
    }
}

/// A slot that nobody uses is of no use any more at the next checkpoint.
fn an_idle_slot(other: &Server, usual: &Server) {
    for (server, idle) in [(other, true), (usual, false)] {
        let mut client = server.client();
        transcript(&mut client, "select from pg_create_physical_replication_slot('idle', true)");
        let state =
            "checkpoint;;select 'state: ' || coalesce(invalidation_reason, 'kept') from pg_replication_slots";
        match idle {
            true => until("it is idle", || transcript(&mut client, state).contains("state: idle_timeout")),
            false => assert!(transcript(&mut client, state).contains("state: kept")),
        }
        transcript(&mut client, "select pg_drop_replication_slot('idle')");
    }
}

fn senders(other: &Server, usual: &Server) {
    assert!(usual.connect(&[("replication", "1")]).is_ok());
    assert!(other.connect(&[("replication", "1")]).is_err());
}

fn a_silent_client(other: &Server, _: &Server) {
    let mut rest = Vec::new();
    let began = Instant::now();
    let _ = socket(other).read_to_end(&mut rest);
    assert!(began.elapsed() < PATIENCE / 2);
}

/// VACUUM freezes rows of half the age at which it would have to come, and renews a set of lockers of which one has ended.
fn ages(_: &Server, _: &Server) {
    let kept = |settings: &[&str]| {
        let mut server = Server::start(&[&["max_prepared_transactions=2"], settings].concat());
        let before = locked_together(&server);
        let (mut client, mut holder) = (server.client(), server.client());
        transcript(&mut holder, "begin;;select from locked where id = 2 for key share");
        let sets = "do 'begin for i in 1..5100 loop perform from locked where id = 2 for key share; commit; end loop; end'";
        transcript(&mut client, sets);
        transcript(&mut holder, "commit");
        transcript(&mut client, "vacuum locked");
        let set = lockers(&mut client) == before;
        // They would keep rows from being old.
        transcript(&mut client, "rollback prepared 'a';;rollback prepared 'b'");
        transcript(&mut client, "create table old ();;insert into old default values");
        let xid: u64 = client.value("select pg_current_xact_id()").parse().unwrap();
        server.stop();
        skip_xids(&server, xid + 51_000);
        server.run();
        let (mut client, mut other) = (server.client(), server.client());
        // A page that may be frozen as a whole is, however young its rows.
        transcript(&mut other, "begin;;insert into old default values");
        transcript(&mut client, "vacuum old");
        let rows =
            client.value("select age(relfrozenxid) > 50500 from pg_class where relname = 'old'") == "t";
        (set, rows)
    };
    let low = ["autovacuum_freeze_max_age=100000", "autovacuum_multixact_freeze_max_age=10000"];
    assert_eq!((kept(&[]), kept(&low)), ((true, true), (false, false)));
}

fn another_pid_file(other: &Server, _: &Server) {
    let path = other.file("other_pid");
    assert_eq!(fs::read_to_string(&path).unwrap(), format!("{}\n", other.pid()));
}

fn another_address(other: &Server, plain: &Server) {
    assert!(TcpStream::connect(("127.0.0.2", other.port)).is_ok());
    assert!(TcpStream::connect(("127.0.0.2", plain.port)).is_err());
}

/// Programs that COPY runs; a server that does not run as root needs nobody's leave.
fn programs_of_root(other: &Server, plain: &Server) {
    let runs =
        |server: &Server| transcript(&mut server.client(), "copy kept from program 'true'") == "COPY 0 \n";
    // SAFETY: a plain system call.
    let root = unsafe { libc::geteuid() } == 0;
    assert!(runs(other) && runs(plain) != root);
}

fn workers(other: &Server, plain: &Server) {
    let count = |server: &Server| {
        let threads = fs::read_dir(format!("/proc/{}/task", server.pid())).unwrap();
        let name = |thread: fs::DirEntry| fs::read_to_string(thread.path().join("comm")).unwrap_or_default();
        threads.flatten().map(name).filter(|name| name.starts_with("worker ")).count()
    };
    assert_eq!(count(other), 3);
    assert_eq!(count(plain), std::thread::available_parallelism().unwrap().get());
}

/// What a session asks for itself counts as what the server has for all.
fn ends_of_sessions(other: &Server, plain: &Server) {
    let wanted = "disconnection: session time: ";
    until("the end of a session is logged", || other.log().contains(wanted));
    assert!(!plain.log().contains(wanted));
    drop(plain.connect(&[("options", "-c log_disconnections=on")]).unwrap());
    until("the end of the session that asked for it is logged", || plain.log().contains(wanted));
}

fn limits_of_connections(other: &Server, _: &Server) {
    let connect = |user: &str| match other.connect(&[("user", user)]) {
        Ok(client) => Ok(client),
        Err(Failure::Error { message, .. }) => Err(message),
        Err(Failure::Lost) => panic!("lost"),
    };
    until("nobody else is there", || {
        other.client().value("select count(*) from pg_stat_activity where backend_type = 'client backend'")
            == "1"
    });
    let mut there: Vec<Client> = Vec::new();
    let mut fill = |user: &str, most: usize| loop {
        match connect(user) {
            Ok(client) => there.push(client),
            Err(why) => {
                // The one of before may have been there for a moment longer.
                assert!(there.len() == most, "{} are there, not {most}", there.len());
                return why;
            }
        }
    };
    let kept = "remaining connection slots are reserved for roles with ";
    assert_eq!(fill("plain", 6), format!("{kept}privileges of the \"pg_use_reserved_connections\" role"));
    assert_eq!(fill("special", 8), format!("{kept}the SUPERUSER attribute"));
    assert_eq!(fill("postgres", 12), "sorry, too many clients already");
    drop(there);
    until("there is room again", || other.connect(&[]).is_ok());
}

/// A server that comes back from a crash with more than 3 MB of log.
fn after_a_crash(settings: &[&str]) -> String {
    let mut server = Server::start(&[&["checkpoint_timeout=1h"], settings].concat());
    transcript(
        &mut server.client(),
        "create table t as select repeat('x', 500) from generate_series(1, 8000)",
    );
    server.kill();
    server.run();
    until("pages are redone", || server.log().contains("redo done at"));
    server.log()
}

fn openings(_: &Server, _: &Server) {
    let opened_early = |settings: &[&str]| {
        let log = after_a_crash(settings);
        log.contains("database system is open ") && log.contains("pages are still to be redone")
    };
    assert!(opened_early(&[]) && !opened_early(&["stampede.open_during_recovery=off"]));
}

fn silent_checkpoints(other: &Server, plain: &Server) {
    transcript(&mut plain.client(), "checkpoint");
    transcript(&mut other.client(), "checkpoint");
    assert!(plain.log().contains("checkpoint starting: ") && !other.log().contains("checkpoint starting: "));
}

/// The view has a name where the log has it; a system that knows none has none to show.
fn host_names(other: &Server, plain: &Server) {
    let name = "select coalesce(client_hostname, 'none') from pg_stat_activity where pid = pg_backend_pid()";
    assert_eq!(plain.client().value(name), "none");
    let (name, log) = (other.client().value(name), other.log());
    let known = if name == "none" { "127.0.0.1" } else { &name };
    assert!(log.contains(&format!("connection received: host={known} port=")), "{name}: {log}");
}

/// Files of tables that a server has open after it has used many.
fn open_files(other: &Server, plain: &Server) {
    let open = |server: &Server| {
        let make: String = (0..100).map(|n| format!("create table many{n} as select 1;")).collect();
        transcript(&mut server.client(), &make);
        let files = fs::read_dir(format!("/proc/{}/fd", server.pid())).unwrap();
        let is_table = |file: &fs::DirEntry| {
            fs::read_link(file.path()).is_ok_and(|path| path.to_string_lossy().contains("/base/"))
        };
        files.filter(|file| file.as_ref().is_ok_and(is_table)).count()
    };
    let (few, many) = (open(other), open(plain));
    assert!(few <= 64 && many > 100, "{few} and {many}");
}

fn a_full_queue(other: &Server, plain: &Server) {
    let fill = |server: &Server| {
        let mut listener = server.client();
        listener.query("listen c").unwrap();
        listener.query("begin").unwrap();
        let many = "do 'begin for i in 1..100 loop perform pg_notify($$c$$, repeat($$x$$, 7990) || i); end loop; end'";
        transcript(&mut server.client(), many)
    };
    assert!(fill(other).contains("too many notifications in the NOTIFY queue"));
    assert!(fill(plain).starts_with("DO"));
}

/// Files of the log that are kept for later once nothing needs them.
fn files_of_the_log(other: &Server, plain: &Server) {
    let kept = |server: &Server| {
        (0..3).for_each(|_| {
            drop(transcript(&mut server.client(), "insert into filler select 'x';;checkpoint"))
        });
        fs::read_dir(server.data().join("pg_wal")).unwrap().count()
    };
    let (few, many) = (kept(other), kept(plain));
    assert!(few < many, "{few} and {many}");
}

fn another_socket(other: &Server, _: &Server) {
    let path = other.file("elsewhere").join(format!(".s.PGSQL.{}", other.port));
    assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o700);
}

/// The options of a session's socket, as the server has them; a session may set its own.
fn options_of_sockets(server: &Server) {
    let mut client = server.client();
    let names =
        ["tcp_keepalives_count", "tcp_keepalives_idle", "tcp_keepalives_interval", "tcp_user_timeout"];
    let mut options = || names.map(|name| client_option(server, &mut client, name));
    assert_eq!(options(), [3, 60, 7, 8000]);
    for name in names {
        client.query(&format!("set {name} = 5")).unwrap();
    }
    let mut options = || names.map(|name| client_option(server, &mut client, name));
    assert_eq!(options(), [5; 4]);
}

/// Asks the system for an option of the server's end of a connection.
fn client_option(server: &Server, client: &mut Client, name: &str) -> i32 {
    let option = match name {
        "tcp_keepalives_count" => libc::TCP_KEEPCNT,
        "tcp_keepalives_idle" => libc::TCP_KEEPIDLE,
        "tcp_keepalives_interval" => libc::TCP_KEEPINTVL,
        _ => libc::TCP_USER_TIMEOUT,
    };
    let port = client.stream().local_addr().unwrap().port();
    server_socket(server, port, |socket| {
        let (mut value, mut length) = (0i32, size_of::<i32>() as libc::socklen_t);
        // SAFETY: the value and its length outlive the call.
        let rc = unsafe {
            libc::getsockopt(socket, libc::IPPROTO_TCP, option, (&raw mut value).cast(), &mut length)
        };
        (rc == 0).then_some(value)
    })
}

/// Looks at the server's socket whose peer has this port.
fn server_socket<T>(server: &Server, port: u16, look: impl Fn(i32) -> Option<T>) -> T {
    // SAFETY: plain system calls; the descriptors are closed below.
    let process = unsafe { libc::syscall(libc::SYS_pidfd_open, server.pid(), 0) } as i32;
    assert!(process >= 0);
    let mut found = None;
    for number in 0..200 {
        // SAFETY: as above.
        let copy = unsafe { libc::syscall(libc::SYS_pidfd_getfd, process, number, 0) } as i32;
        if copy < 0 {
            continue;
        }
        // SAFETY: the copy is ours.
        let stream = unsafe { <TcpStream as std::os::fd::FromRawFd>::from_raw_fd(copy) };
        if stream.peer_addr().is_ok_and(|peer| peer.port() == port) {
            found = look(copy);
        }
    }
    // SAFETY: the descriptor is ours.
    unsafe { libc::close(process) };
    found.expect("a socket of the server's with this peer")
}

#[test]
fn what_tls_is_like() {
    let authority = Authority::new("authority");
    let mut server = secured_server(&authority);
    fs::copy(server.file("root.crt"), server.data().join("root.crt")).unwrap();
    server.set_option("autovacuum=off");
    fs::write(server.data().join("postgresql.auto.conf"), "ssl_ca_file = 'root.crt'\n").unwrap();
    server.run();
    let mut client = server.client();
    for (name, value, line) in TLS.iter().filter(|row| !row.2.is_empty()) {
        transcript(&mut client, &format!("alter system set {name} = '{value}';;select pg_reload_conf()"));
        server.wait_for_log(line);
        let back = if *name == "ssl_ca_file" {
            "set ssl_ca_file = 'root.crt'".into()
        } else {
            format!("reset {name}")
        };
        transcript(&mut client, &format!("alter system {back};;select pg_reload_conf()"));
    }
    let set = |client: &mut Client, settings: &[(&str, &str)]| {
        for (name, value) in settings {
            transcript(client, &format!("alter system set {name} = '{value}'"));
        }
        transcript(client, "select pg_reload_conf()");
    };
    // Versions.
    until("the newest version", || agreed(&server, &authority, false) == Some(("TLSv1_3".into(), true)));
    set(&mut client, &[("ssl_max_protocol_version", "TLSv1.2")]);
    // The server's order of ciphers, whatever the client's is, until the client's counts.
    until("an older version", || {
        agreed(&server, &authority, true) == agreed(&server, &authority, false)
            && agreed(&server, &authority, false).is_some_and(|(version, _)| version == "TLSv1_2")
    });
    set(&mut client, &[("ssl_prefer_server_ciphers", "off")]);
    until("the client's order", || agreed(&server, &authority, true) != agreed(&server, &authority, false));
    set(&mut client, &[("ssl_max_protocol_version", ""), ("ssl_min_protocol_version", "TLSv1.3")]);
    until("no older version", || older(&server, &authority).is_err());
}

/// Version of TLS, and whether the cipher is of 256 bits, with a client that turns its ciphers round or not.
fn agreed(server: &Server, authority: &Authority, turned: bool) -> Option<(String, bool)> {
    let mut provider = rustls::crypto::ring::default_provider();
    if turned {
        provider.cipher_suites.reverse();
    }
    let config = config(authority, provider, rustls::ALL_VERSIONS);
    let mut secured = secure(accepted(server), config);
    let client = Client::over(&mut secured, &[]);
    client.ok()?;
    let version = format!("{:?}", secured.conn.protocol_version()?);
    let cipher = format!("{:?}", secured.conn.negotiated_cipher_suite()?.suite());
    Some((version, cipher.contains("256_GCM")))
}

/// A session of a client that knows no newer version.
fn older(server: &Server, authority: &Authority) -> Result<(), Failure> {
    let provider = rustls::crypto::ring::default_provider();
    let config = config(authority, provider, &[&rustls::version::TLS12]);
    Client::over(secure(accepted(server), config), &[]).map(drop)
}

fn config(
    authority: &Authority,
    provider: rustls::crypto::CryptoProvider,
    versions: &[&'static rustls::SupportedProtocolVersion],
) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots
        .add(rustls::pki_types::CertificateDer::from_pem_slice(authority.pem().as_bytes()).unwrap())
        .unwrap();
    let builder =
        ClientConfig::builder_with_provider(Arc::new(provider)).with_protocol_versions(versions).unwrap();
    Arc::new(builder.with_root_certificates(roots).with_no_client_auth())
}

#[test]
fn what_is_elsewhere() {
    let mut server = Server::init(&[]);
    let folder = server.file("configuration");
    fs::create_dir(&folder).unwrap();
    let data = server.data().display().to_string();
    let hba = fs::read_to_string(server.data().join("pg_hba.conf")).unwrap();
    fs::write(folder.join("pg_hba.conf"), hba).unwrap();
    fs::write(folder.join("pg_ident.conf"), "").unwrap();
    let file = folder.join("main.conf");
    fs::write(&file, format!("data_directory = '{data}'\nwork_mem = 7MB\n")).unwrap();
    server.set_option(&format!("config_file={}", file.display()));
    let place = folder.clone();
    server.prepare(move |command| {
        command.arg("-D").arg(&place);
    });
    server.run();
    let mut client = server.client();
    assert_eq!(client.value("show work_mem"), "7MB");
    assert_eq!(client.value("show data_directory"), data);
    assert!(server.data().join("postmaster.pid").exists() && !folder.join("postmaster.pid").exists());
    assert_eq!(client.value("show port"), server.port.to_string());
}
