//! What comes from outside and is not as it should be: pages, streams of bytes, passwords, a second server.

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use crate::support::client::{message, startup};
use crate::support::{Client, Failure, PATIENCE, Random, Server, exists, has, knob, output, text, until};

#[test]
fn a_flipped_byte_is_an_error_that_names_the_page() {
    let mut server = Server::start(&[]);
    let mut client = server.client();
    for table in ["hurt", "whole"] {
        client.query(&format!("create table {table} (a int primary key, b text)")).unwrap();
        let insert = format!("insert into {table} select g, repeat('x', 200) from generate_series(1, 200) g");
        client.query(&insert).unwrap();
    }
    let path = client.value("select pg_relation_filepath('hurt')");
    assert!(path.starts_with("base/"), "{path}");
    // In the pages of a stopped server nothing is newer in memory.
    server.stop();
    let file = fs::OpenOptions::new().read(true).write(true).open(server.data().join(&path)).unwrap();
    assert!(file.metadata().unwrap().len() >= 3 * 8192);
    let mut byte = [0];
    let at = 8192 + 5000;
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[byte[0] ^ 0x10], at).unwrap();
    server.run();
    let mut client = server.client();
    let expected = format!("XX001 invalid page in block 1 of relation \"{path}\"");
    assert_eq!(client.error("select count(*) from hurt"), expected);
    // Again, and in the same session: nothing stays locked, nothing was taken for good.
    assert_eq!(client.error("select sum(length(b)) from hurt"), expected);
    let counted = "select concat_ws(' ', checksum_failures, checksum_last_failure is null) from pg_stat_database where datname = current_database()";
    assert_eq!(client.value(counted), "2 f");
    assert_eq!(client.value("select count(*) from whole"), "200");
    assert_eq!(client.value("select b from hurt where a = 1"), "x".repeat(200));
    client.query("insert into whole values (201, 'y')").unwrap();
    assert_eq!(server.client().value("select count(*) from whole"), "201");
    assert!(server.log().contains(&expected[6..]), "{}", server.log());
    file.write_all_at(&byte, at).unwrap();
    assert_eq!(client.value("select count(*) from hurt"), "200");
}

/// What the log has for a page that is damaged cannot be done. Whoever reads it is told, and the server ends, early opened or not.
#[test]
fn a_page_that_cannot_be_redone_ends_the_server() {
    let mut server = Server::start(&["full_page_writes=off"]);
    let mut client = server.client();
    client.query("create table t (a int primary key, b text)").unwrap();
    client.query("insert into t select g, repeat('x', 200) from generate_series(1, 200) g").unwrap();
    client.query("vacuum freeze t").unwrap();
    client.query("checkpoint").unwrap();
    client.query("update t set b = 'y' where a = 50").unwrap();
    let path = client.value("select pg_relation_filepath('t')");
    server.kill();
    let file = fs::OpenOptions::new().read(true).write(true).open(server.data().join(&path)).unwrap();
    let (mut byte, at) = ([0], 8192 + 5000);
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[byte[0] ^ 0x10], at).unwrap();
    let expected = format!("invalid page in block 1 of relation \"{path}\"");
    for early in ["on", "off"] {
        server.set_option(&format!("stampede.open_during_recovery={early}"));
        server.launch();
        assert!(!server.wait().success());
        let log = server.log();
        let last = log.lines().rfind(|line| line.contains("PANIC:") || line.contains("FATAL:"));
        assert!(last.is_some_and(|line| line.contains(&expected)), "{log}");
    }
    // Nothing was done by halves: with the page as it was all is there.
    file.write_all_at(&byte, at).unwrap();
    server.run();
    let mut client = server.client();
    assert_eq!(client.value("select count(*) || ' ' || count(*) filter (where b = 'y') from t"), "200 1");
}

/// A session as a driver would send it, to be mutated.
fn streams() -> Vec<Vec<u8>> {
    let hello = startup(&[("application_name", "mutant")]);
    let simple = message(b'Q', b"select a, b from t where a > 3\0");
    let parse = message(b'P', b"s\0select b from t where a = $1 and b <> $2\0\0\x02\0\0\0\x17\0\0\0\x19");
    let bind = message(b'B', b"p\0s\0\0\x02\0\x01\0\0\0\x02\0\0\0\x04\0\0\0\x05\0\0\0\x03abc\0\x01\0\x01");
    let describe = message(b'D', b"Pp\0");
    let execute = message(b'E', b"p\0\0\0\0\x02");
    let close = message(b'C', b"Ss\0");
    let sync = message(b'S', b"");
    let copy = message(b'Q', b"copy t from stdin\0");
    let data = message(b'd', b"1\tx\n2\t\\N\n");
    let done = message(b'c', b"");
    let many = message(b'Q', b"begin; insert into t values (7, 'seven'); savepoint a; rollback\0");
    vec![
        [hello.clone(), simple, sync.clone()].concat(),
        [hello.clone(), parse, bind, describe, execute, close, sync].concat(),
        [hello.clone(), copy, data, done].concat(),
        [hello, many, message(b'X', b"")].concat(),
        // Requests for TLS, GSS and to cancel.
        [[0u8, 0, 0, 8, 4, 210, 22, 47], [0, 0, 0, 8, 4, 210, 22, 48]].concat(),
        [0, 0, 0, 16, 4, 210, 22, 46, 0, 0, 0, 1, 0, 0, 0, 2].to_vec(),
    ]
}

/// A copy with some bytes changed, taken out, repeated, or cut off.
fn mutate(stream: &[u8], random: &mut Random) -> Vec<u8> {
    let mut out = stream.to_vec();
    for _ in 0..=random.below(4) {
        let at = random.below(out.len().max(1) as u64) as usize;
        match random.below(6) {
            _ if out.is_empty() => break,
            0 => out[at] = random.next() as u8,
            1 => out[at] ^= 1 << random.below(8),
            2 => out.truncate(at),
            3 => drop(out.remove(at)),
            4 => out.insert(at, random.next() as u8),
            _ => {
                let piece = out[at..].to_vec();
                out.extend(piece);
            }
        }
    }
    out
}

/// Sends a stream and reads until the server closes; a hang would fail the test.
fn throw(socket: &std::path::Path, bytes: &[u8]) {
    let mut stream = UnixStream::connect(socket).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    // The server may have closed already.
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(Shutdown::Write);
    if let Err(error) = stream.read_to_end(&mut Vec::new()) {
        assert!(error.kind() != std::io::ErrorKind::WouldBlock, "the server hangs on {bytes:?}");
    }
}

#[test]
fn bytes_that_are_not_the_protocol_hurt_nobody_else() {
    let seed = knob("STAMPEDE_TEST_SEED", u64::from(std::process::id()));
    println!("STAMPEDE_TEST_SEED={seed}");
    let server = Server::start(&["authentication_timeout=10s"]);
    let mut witness = server.client();
    witness.query("create table t (a int, b text)").unwrap();
    witness.query("insert into t select g, 'row ' || g from generate_series(1, 10) g").unwrap();
    let socket = server.socket().join(format!(".s.PGSQL.{}", server.port));
    let total = knob("STAMPEDE_FUZZ_STREAMS", 3_000);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let socket = &socket;
            scope.spawn(move || {
                let mut random = Random(seed.wrapping_mul(31).wrapping_add(thread));
                let streams = streams();
                for _ in 0..total / 4 {
                    let bytes = if random.below(5) == 0 {
                        (0..random.below(400)).map(|_| random.next() as u8).collect()
                    } else {
                        mutate(&streams[random.below(streams.len() as u64) as usize], &mut random)
                    };
                    throw(socket, &bytes);
                }
            });
        }
        for _ in 0..50 {
            // One session that stays, and new ones, while it rains.
            assert_eq!(witness.value("select 6 * 7"), "42");
            assert_eq!(server.client().value("select 'in'"), "in");
            std::thread::sleep(Duration::from_millis(10));
        }
    });
    assert!(witness.value("select count(*) from t where a between 1 and 10").parse::<u32>().unwrap() >= 10);
    crate::support::until("all strangers are gone", || {
        witness.value("select count(*) from pg_stat_activity where backend_type = 'client backend'") == "1"
    });
    let log = server.log();
    assert!(!log.contains("panicked") && !log.contains("internal error"), "{log}");
}

#[test]
fn a_connection_that_says_nothing_is_closed() {
    let server = Server::start(&["authentication_timeout=1s"]);
    let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    // A word of farewell is allowed; the end must come.
    let mut farewell = Vec::new();
    stream.read_to_end(&mut farewell).unwrap();
    assert!(farewell.is_empty() || farewell[0] == b'E', "{farewell:?}");
    assert_eq!(server.client().value("select 1"), "1");
}

#[test]
fn a_second_server_is_refused() {
    let server = Server::start(&[]);
    let mut second = server.program("postgres");
    let second = second.arg("-D").arg(server.data()).args(["-p", "1", "-k", "", "-h", ""]);
    let refused = output(second);
    assert_eq!(refused.status.code(), Some(1));
    let said = text(&refused);
    assert!(said.contains("FATAL:  lock file \"postmaster.pid\" already exists"), "{said}");
    let hint = format!(
        "HINT:  Is another postmaster (PID {}) running in data directory \"{}\"?",
        server.pid(),
        server.data().display()
    );
    assert!(said.contains(&hint), "{said}");
    // Not by a deleted file either.
    fs::remove_file(server.data().join("postmaster.pid")).unwrap();
    let refused = output(second);
    assert_eq!(refused.status.code(), Some(1), "{}", text(&refused));
    assert_eq!(server.client().value("select 1"), "1");
}

#[test]
fn a_data_directory_that_others_may_enter_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let mut server = Server::init(&[]);
    for (mode, refused) in [(0o755, true), (0o770, true), (0o701, true), (0o750, false)] {
        fs::set_permissions(server.data(), fs::Permissions::from_mode(mode)).unwrap();
        server.launch();
        if refused {
            assert_eq!(server.wait().code(), Some(1), "{mode:o}");
            let dir = server.data();
            let said = format!("FATAL:  data directory \"{}\" has invalid permissions", dir.display());
            assert!(server.log().contains(&said), "{mode:o}: {}", server.log());
            let detail = "DETAIL:  Permissions should be u=rwx (0700) or u=rwx,g=rx (0750).";
            assert!(server.log().contains(detail), "{mode:o}: {}", server.log());
        } else {
            until("it serves", || server.connect(&[]).is_ok());
        }
    }
}

#[test]
fn a_server_that_runs_as_root_keeps_the_files_of_its_machine() {
    // SAFETY: plain system call without arguments.
    if unsafe { libc::geteuid() } != 0 {
        println!("skipped: this is not root");
        return;
    }
    let mut server = Server::start(&[]);
    let inside = server.data().join("copied");
    let link = server.data().join("link");
    std::os::unix::fs::symlink("/etc/hosts", &link).unwrap();
    let mut client = server.client();
    client.query("create table t (a text)").unwrap();
    client.query(&format!("copy t to '{}'", inside.display())).unwrap();
    client.query(&format!("copy t from '{}'", inside.display())).unwrap();
    let (outside, place) = (server.file("outside"), server.file("place"));
    fs::create_dir(&place).unwrap();
    client.query(&format!("create tablespace s location '{}'", place.display())).unwrap();
    // Its files are the server's own, but nothing beside them is.
    client.query("select pg_ls_dir('pg_tblspc/' || oid || '/PG_18_202506291') from pg_tablespace where spcname = 's'").unwrap();
    for statement in [
        format!("copy t to '{}'", place.join("beside").display()),
        "copy t from '/etc/hosts'".to_string(),
        format!("copy t from '{}'", link.display()),
        format!("copy t from '{}/../../../../../etc/hosts'", server.data().display()),
        format!("copy t to '{}'", outside.display()),
        format!("copy t to '{}'", link.display()),
    ] {
        assert!(client.error(&statement).starts_with("42501"), "{statement}");
    }
    assert!(!exists(&outside));
    assert!(server.log().contains("WARNING:  the server runs as root"), "{}", server.log());
    server.stop();
    server.set_option("stampede.allow_root_access=on");
    server.run();
    server.client().query(&format!("copy t to '{}'", outside.display())).unwrap();
}

#[test]
fn a_pid_file_that_names_a_stranger_is_replaced() {
    let mut server = Server::start(&[]);
    server.client().query("create table t as select 1 a").unwrap();
    server.kill();
    // A living process of the same program, which serves another directory, and this one's own parent.
    let other = Server::start(&[]);
    for (round, pid) in [other.pid(), std::process::id() as i32, 1].into_iter().enumerate() {
        let path = server.data().join("postmaster.pid");
        fs::write(&path, format!("{pid}\n{}\n", server.data().display())).unwrap();
        server.run();
        assert_eq!(server.client().value("select a from t"), "1", "round {round}");
        assert_eq!(server.pid_file(), Some(server.pid()));
        server.kill();
    }
}

#[test]
fn a_port_in_use_is_refused() {
    let server = Server::start(&[]);
    let mut other = Server::init(&[]);
    other.port = server.port;
    other.launch();
    assert_eq!(other.wait().code(), Some(1));
    let log = other.log();
    assert!(log.contains("could not bind IPv4 address \"127.0.0.1\": Address already in use"), "{log}");
    let hint = format!(
        "Is another postmaster already running on port {}? If not, wait a few seconds and retry.",
        server.port
    );
    assert!(log.contains(&hint), "{log}");
    assert!(log.contains("FATAL:  could not create any TCP/IP sockets"), "{log}");
    assert!(!exists(&other.data().join("postmaster.pid")));
}

#[test]
fn strangers_are_turned_away() {
    let server = Server::start(&[]);
    let refused = |parameters: &[(&str, &str)]| match server.connect(parameters) {
        Err(Failure::Error { severity, code, message }) => format!("{severity} {code} {message}"),
        other => panic!("{:?}", other.map(|_| ())),
    };
    assert_eq!(refused(&[("user", "nobody")]), "FATAL 28000 role \"nobody\" does not exist");
    assert_eq!(refused(&[("database", "nowhere")]), "FATAL 3D000 database \"nowhere\" does not exist");
    assert_eq!(
        refused(&[("work_mem", "lots")]),
        "FATAL 22023 invalid value for parameter \"work_mem\": \"lots\""
    );
    assert_eq!(
        refused(&[("nonsense", "1")]),
        "FATAL 42704 unrecognized configuration parameter \"nonsense\""
    );
    assert_eq!(server.client().value("select current_user"), "postgres");
}

#[test]
fn passwords() {
    if !has("psql") {
        return;
    }
    let secret = std::env::temp_dir().join(format!("stampede-test-secret-{}", std::process::id()));
    fs::write(&secret, "geheim \u{df}\n").unwrap();
    let mut server = Server::init(&["--auth", "scram-sha-256", "--pwfile", &secret.display().to_string()]);
    fs::remove_file(&secret).unwrap();
    server.run();
    let login = |password: &str| {
        let mut psql = server.tool("psql");
        psql.args(["-X", "-A", "-t", "-w", "-c", "select current_user"]).env("PGPASSWORD", password);
        let done = output(&mut psql);
        (done.status.code(), text(&done))
    };
    assert_eq!(login("geheim \u{df}"), (Some(0), "postgres\n".to_string()));
    let (code, said) = login("wrong");
    assert_eq!(code, Some(2));
    assert!(said.contains("FATAL:  password authentication failed for user \"postgres\""), "{said}");
    // Nothing tells a stranger which roles there are.
    let mut psql = server.tool("psql");
    let said =
        text(&output(psql.args(["-X", "-w", "-U", "nobody", "-c", "select 1"]).env("PGPASSWORD", "x")));
    assert!(said.contains("FATAL:  password authentication failed for user \"nobody\""), "{said}");
    // A client that sends no password, but a query.
    let mut rude = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    rude.set_read_timeout(Some(PATIENCE)).unwrap();
    rude.write_all(&[startup(&[]), message(b'Q', b"select 'let in'\0")].concat()).unwrap();
    let mut answer = Vec::new();
    let _ = rude.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer);
    assert!(answer.contains("08P01") && !answer.contains("let in"), "{answer}");
    // Roles made by SQL log in with the passwords that it gave them, until they end.
    let as_role = |user: &str, password: &str, sql: &str| {
        let mut psql = server.tool("psql");
        text(&output(psql.args(["-X", "-A", "-t", "-w", "-U", user, "-c", sql]).env("PGPASSWORD", password)))
    };
    let make = "create role joe login password 'pass'; create role old login password 'pass' valid until '2001-01-01'";
    as_role("postgres", "geheim \u{df}", make);
    assert_eq!(as_role("joe", "pass", "select current_user"), "joe\n");
    assert!(as_role("joe", "other", "").contains("password authentication failed for user \"joe\""));
    assert!(as_role("old", "pass", "").contains("password authentication failed for user \"old\""));
    as_role("joe", "pass", "alter role current_user password 'new'");
    assert_eq!(as_role("joe", "new", "select 1"), "1\n");
    let log = server.log();
    assert!(!log.contains("geheim"), "a password in the log");
}

#[test]
fn too_many_clients() {
    let server =
        Server::start(&["max_connections=5", "superuser_reserved_connections=0", "reserved_connections=0"]);
    let clients: Vec<Client> = (0..5).map(|_| server.client()).collect();
    match server.connect(&[]) {
        Err(Failure::Error { severity, code, message }) => {
            assert_eq!((severity.as_str(), code.as_str()), ("FATAL", "53300"));
            assert_eq!(message, "sorry, too many clients already");
        }
        other => panic!("{:?}", other.map(|_| ())),
    }
    drop(clients);
    crate::support::until("there is room again", || server.connect(&[]).is_ok());
}

/// Ways to nest: what goes before, in the middle and behind, and what may be around it.
const NESTING: &[(&str, &str, &str, &str, &str)] = &[
    ("select ", "", "1", "+1", ""),
    ("select ", "", "a", "+a", " from (select 1 a offset 0) t"),
    ("select ", "", "'a'", "||'a'", ""),
    ("select ", "not ", "a", "", " from (select true a offset 0) t"),
    ("select ", "(", "1", ")", ""),
    ("select ", "- ", "1", "", ""),
    ("select ", "abs(", "a", ")", " from (select 1 a offset 0) t"),
    ("explain verbose select ", "abs(", "a", ")", " from (select 1 a offset 0) t"),
    ("select ", "coalesce(null, ", "a", ")", " from (select 1 a offset 0) t"),
    ("select ", "case when a = 1 then 1 else ", "0", " end", " from (select 2 a offset 0) t"),
    ("select ", "", "1", "::int::bigint", ""),
    ("select ", "array[", "1", "]", ""),
    ("select (", "row(", "1", ")", ") is null"),
    ("select ", "(select ", "1", ")", ""),
    ("select 1 where ", "exists (select 1 where ", "true", ")", ""),
    (
        "select a from (values (1)) t(a) where ",
        "a in (select a from (values (1)) s(a) where ",
        "true",
        ")",
        "",
    ),
    ("select * from ", "(select * from ", "(select 1) s", ") t", ""),
    ("select x from (", "with q as (", "select 1 x", ") select x from q", ") t"),
    ("", "", "select 1", " union all select 1", ""),
    ("select 1", " intersect (select 1", "", ")", ""),
    ("select '", "[", "", "]", "'::json is null"),
    ("select '", "[", "", "]", "'::jsonb is null"),
    ("select '", "{\"a\":", "1", "}", "'::jsonb #- '{a,a}' is null"),
    ("select '", "(", "$", ")", "'::jsonpath is null"),
    ("select '{}' @? '$", "?(@.a ", "", ")", "'"),
    ("select '", "{", "", "}", "'::int[] is null"),
    ("select 'a' ~ '", "(", "a", ")", "'"),
    ("select 'a' ~ '", "(", "", "", "'"),
    ("select 'a' ~ '", "(?=", "a", ")", "'"),
    ("select 'a' ~ '", "(a|", "a", ")*", "'"),
    ("select 'aa' ~ '(a)", "(", "\\1", ")", "'"),
    ("select regexp_replace('aaa', '", "(", "a", ")", "', '\\1')"),
    ("do $$ begin ", "begin ", "null;", " end;", " end $$"),
    ("do $$ begin ", "if true then ", "null;", " end if;", " end $$"),
    ("do $$ declare a int := ", "abs(", "1", ")", "; begin end $$"),
    ("create or replace view deep as select ", "abs(", "1", ")", " a; select * from deep"),
];

#[test]
fn whatever_nests_ends_with_an_error_at_most() {
    let server = Server::start(&[]);
    let mut client = server.client();
    client.query("set max_stack_depth = '100kB'").unwrap();
    let mut too_deep = 0;
    for (before, open, core, close, behind) in NESTING {
        for depth in [30, 300, 3000] {
            let nested = format!("{}{core}{}", open.repeat(depth), close.repeat(depth));
            match client.query(&format!("{before}{nested}{behind}")) {
                Ok(_) => {}
                Err(Failure::Error { code, message, .. }) => {
                    assert!(!code.starts_with("XX"), "{before}{open}… {depth}: {code} {message}");
                    too_deep += usize::from(code == "54001");
                }
                Err(failure) => panic!("{before}{open}… {depth}: {failure:?}"),
            }
            assert_eq!(client.value("select 1"), "1", "{before}{open}… {depth}");
        }
    }
    assert!(too_deep > 20, "{too_deep}");
}

/// What is copied, compared, stored, shown and dropped at the full depth, `?` stands for the expression.
const DEEP_USES: &[&str] = &[
    "explain verbose select ? from t",
    "create view v as select ? as x from t; select length(pg_get_viewdef('v'::regclass)) from v",
    "create table d (a int default 1, b int generated always as (?) stored, check (? < 9)); insert into d values (1)",
    "create table i (a int); create index on i ((?)) where ? = 1; insert into i values (1)",
    "select ?, count(*) from t group by ? having ? = 1 order by ?",
    "prepare p as select ? from t; execute p; explain execute p; deallocate p",
    "create function f(a int) returns int language sql as $$ select ? $$; select f(f(a)) from t",
    "create function g(a int) returns int language sql return ?; select g(g(a)) from t",
    "create function h(a int) returns int language plpgsql as $$ begin return ?; end $$; select h(a) from t",
    "begin; declare c cursor for select ? from t; fetch c; commit",
];

#[test]
fn what_nests_deeply_is_copied_stored_and_shown() {
    let server = Server::start(&[]);
    let mut client = server.client();
    client.query("create table t (a int); insert into t values (1)").unwrap();
    for (open, close) in [("abs(", ")"), ("(", " is null)::int"), ("case when a = 1 then 1 else ", " end")] {
        let deep = format!("{}a{}", open.repeat(1500), close.repeat(1500));
        for statements in DEEP_USES {
            let sql = statements.replace('?', &deep);
            client.query(&sql).unwrap_or_else(|failure| panic!("{open} {statements}: {failure:?}"));
        }
        client.query("drop view v; drop table d, i; drop function f, g, h").unwrap();
    }
}

#[test]
fn what_calls_itself_ends_with_an_error() {
    let server = Server::start(&["max_stack_depth=200kB"]);
    let mut client = server.client();
    for sql in [
        "create function s(int) returns int language sql as 'select 1'",
        "create or replace function s(int) returns int language sql as 'select s($1) + 1'",
        "create function p(a int) returns int language plpgsql as 'begin return p(a + 1); end'",
        "create table t (a int)",
        "create function f() returns trigger language plpgsql as 'begin insert into t values (new.a); return new; end'",
        "create trigger t after insert on t for each row execute function f()",
        "create domain d as int",
        "create function c(d) returns bool language plpgsql as 'begin perform ($1::int + 1)::d; return true; end'",
        "alter domain d add check (c(value))",
    ] {
        client.query(sql).unwrap();
    }
    for sql in ["select s(1)", "select p(1)", "insert into t values (1)", "select 1::d"] {
        assert_eq!(client.error(sql), "54001 stack depth limit exceeded", "{sql}");
        assert_eq!(client.value("select count(*) from t"), "0");
    }
}

#[test]
fn the_setting_says_how_deep_statements_nest() {
    let server = Server::start(&[]);
    let mut client = server.client();
    // Each text is a new one: an equal one would run with the plan that is there.
    let sum = |terms: usize| format!("select {terms} - 1{}", "+1".repeat(terms));
    assert_eq!(client.value(&sum(5000)), "9999");
    assert_eq!(client.error(&sum(9000)), "54001 stack depth limit exceeded");
    client.query("set max_stack_depth = '100kB'").unwrap();
    assert_eq!(client.error(&sum(5001)), "54001 stack depth limit exceeded");
    client.query("reset max_stack_depth").unwrap();
    assert_eq!(client.value(&sum(5001)), "10001");
    let refused = client.error("set max_stack_depth = '8MB'");
    assert_eq!(refused, "22023 invalid value for parameter \"max_stack_depth\": 8192");
    // The hint names the value that is set.
    client.query("set max_stack_depth = '300kB'").unwrap();
    client
        .query(
            "create function hint() returns text language plpgsql as $$ declare h text; begin \
         execute 'select 1' || repeat('+1', 9000); exception when statement_too_complex then \
         get stacked diagnostics h = pg_exception_hint; return h; end $$",
        )
        .unwrap();
    let hint = client.value("select hint()");
    assert!(hint.contains("\"max_stack_depth\" (currently 300kB)"), "{hint}");
}
