//! TLS, as clients meet it: what libpq asks for, what goes wrong, what a reload brings, and what idle sessions take.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;

use crate::support::authority::{Authority, accepted, secure, secured_server, session, socket, write_key};
use crate::support::client::{Client, startup};
use crate::support::{Failure, has, output, text, until};

#[test]
fn libpq_in_all_its_modes() {
    if !has("psql") {
        return;
    }
    let authority = Authority::new("authority");
    let mut server = secured_server(&authority);
    server.set_option("log_connections=all");
    server.run();
    let root = server.file("root.crt").display().to_string();
    let facts = "select ssl, version, cipher, bits, client_dn from pg_stat_ssl where pid = pg_backend_pid()";
    let modern = "t|TLSv1.3|TLS_AES_256_GCM_SHA384|256|\n";
    assert_eq!(server.psql("host=127.0.0.1 sslmode=require", facts), modern);
    assert_eq!(server.psql(&format!("host=127.0.0.1 sslmode=verify-ca sslrootcert={root}"), facts), modern);
    let full = format!("host=localhost hostaddr=127.0.0.1 sslmode=verify-full sslrootcert={root}");
    assert_eq!(server.psql(&full, facts), modern);
    assert_eq!(
        server.psql("host=127.0.0.1 sslmode=require ssl_max_protocol_version=TLSv1.2", facts),
        "t|TLSv1.2|ECDHE-ECDSA-AES256-GCM-SHA384|256|\n"
    );
    assert_eq!(server.psql("host=127.0.0.1 sslmode=disable", facts), "f||||\n");
    // More than one record, both ways.
    let long = format!("select length('{}'), repeat('xy', 100000)", "z".repeat(100_000));
    assert_eq!(server.psql("host=127.0.0.1 sslmode=require", &long).len(), "100000|".len() + 200_001);
    let elsewhere = format!("host=elsewhere hostaddr=127.0.0.1 sslmode=verify-full sslrootcert={root}");
    let said = server.psql(&elsewhere, facts);
    assert!(said.contains("does not match host name \"elsewhere\""), "{said}");
    let socket = server.socket().display().to_string();
    assert_eq!(
        server.psql(&format!("host={socket} sslmode=prefer"), facts),
        "f||||\n",
        "a Unix socket needs none"
    );
    let log = server.log();
    assert!(log.contains("SSL enabled (protocol=TLSv1.3, cipher=TLS_AES_256_GCM_SHA384, bits=256)"), "{log}");
}

#[test]
fn a_client_that_begins_with_tls_names_the_protocol() {
    let authority = Authority::new("authority");
    let mut server = secured_server(&authority);
    server.run();
    let mut client = Client::over(secure(socket(&server), authority.client_config(true)), &[]).unwrap();
    assert_eq!(client.value("select ssl from pg_stat_ssl where pid = pg_backend_pid()"), "t");
    // Within TLS there is no second one.
    let mut twice = secure(socket(&server), authority.client_config(true));
    twice.write_all(&[0, 0, 0, 8, 4, 0xD2, 0x16, 0x2F]).unwrap();
    let mut answer = [0];
    twice.read_exact(&mut answer).unwrap();
    assert_eq!(answer, *b"N");
    let silent = Client::over(secure(socket(&server), authority.client_config(false)), &[]);
    assert_eq!(silent.err(), Some(Failure::Lost));
    server.wait_for_log("received direct SSL connection request without ALPN protocol negotiation extension");
}

#[test]
fn what_is_not_the_clients_is_not_taken_for_it() {
    let authority = Authority::new("authority");
    let mut server = secured_server(&authority);
    server.run();
    // Somebody on the way adds a packet behind the request.
    let mut stream = socket(&server);
    let mut bytes = vec![0, 0, 0, 8, 4, 0xD2, 0x16, 0x2F];
    bytes.extend(startup(&[]));
    stream.write_all(&bytes).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let answer = String::from_utf8_lossy(&answer);
    assert!(
        answer.starts_with('E') && answer.contains("received unencrypted data after SSL request"),
        "{answer}"
    );
    // Bytes that are no TLS where the handshake is due, and in the middle of a session.
    let mut stream = accepted(&server);
    stream.write_all(&startup(&[])).unwrap();
    until("the handshake fails", || server.log().contains("could not accept SSL connection"));
    let mut client = session(&server, &authority);
    assert_eq!(client.value("select 1"), "1");
    client.stream().sock.write_all(&[0x17, 3, 3, 0, 30]).unwrap();
    client.stream().sock.write_all(&[7; 30]).unwrap();
    let mut rest = Vec::new();
    let _ = client.stream().read_to_end(&mut rest);
    server.wait_for_log("SSL error: cannot decrypt peer's message");
    assert_eq!(session(&server, &authority).value("select 2"), "2");
}

#[test]
fn half_open_handshakes_hold_nobody_up() {
    let authority = Authority::new("authority");
    let mut server = secured_server(&authority);
    server.set_option("authentication_timeout=2s");
    server.run();
    let mut half = Vec::new();
    for number in 0..crate::support::knob("STAMPEDE_HALF_OPEN", 200) {
        let mut stream = if number % 2 == 0 { accepted(&server) } else { socket(&server) };
        // The beginning of a record that does not go on.
        stream.write_all(&[0x16, 3, 1, 2, 0, 1]).unwrap();
        half.push(stream);
    }
    let mut client = session(&server, &authority);
    assert_eq!(client.value("select 1"), "1");
    for mut stream in half {
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
    }
    assert_eq!(client.value("select 2"), "2");
}

#[test]
fn a_reload_brings_new_certificates_or_leaves_the_old_ones() {
    let authority = Authority::new("old");
    let mut server = secured_server(&authority);
    server.run();
    let mut first = session(&server, &authority);
    let key = server.data().join("server.key");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    server.signal(libc::SIGHUP);
    server.wait_for_log("SSL configuration was not reloaded");
    assert!(server.log().contains("private key file \"server.key\" has group or world access"));
    assert_eq!(session(&server, &authority).value("select 1"), "1");
    let young = Authority::new("young");
    young.sign(&server.data(), "server", &[("CN", "localhost")], 8, &["localhost"]);
    server.signal(libc::SIGHUP);
    until("the new certificate is shown", || {
        let stream = secure(accepted(&server), young.client_config(true));
        Client::over(stream, &[]).is_ok()
    });
    assert!(Client::over(secure(accepted(&server), authority.client_config(true)), &[]).is_err());
    assert_eq!(first.value("select 1"), "1", "who is in stays in");
}

#[test]
fn what_the_server_does_not_start_with() {
    let authority = Authority::new("authority");
    let server = secured_server(&authority);
    let data = server.data();
    let (certificate, key) = (data.join("server.crt"), data.join("server.key"));
    let start = |settings: &[&str]| {
        let mut command = server.program("postgres");
        command.arg("-D").arg(&data).args([
            "-p",
            &server.port.to_string(),
            "-k",
            "",
            "-h",
            "",
            "-c",
            "ssl=on",
        ]);
        for setting in settings {
            command.args(["-c", setting]);
        }
        let done = output(&mut command);
        assert_eq!(done.status.code(), Some(1), "{settings:?}");
        text(&done)
    };
    let refused = |settings: &[&str], words: &str| {
        let said = start(settings);
        assert!(said.contains(&format!("FATAL:  {words}")), "{words}: {said}");
    };
    let (good_certificate, good_key) =
        (fs::read_to_string(&certificate).unwrap(), fs::read_to_string(&key).unwrap());
    refused(
        &["ssl_cert_file=no.crt"],
        "could not load server certificate file \"no.crt\": No such file or directory",
    );
    refused(
        &["ssl_key_file=no.key"],
        "could not access private key file \"no.key\": No such file or directory",
    );
    refused(
        &["ssl_ca_file=no.crt"],
        "could not load root certificate file \"no.crt\": No such file or directory",
    );
    refused(
        &["ssl_min_protocol_version=TLSv1.1"],
        "\"ssl_min_protocol_version\" setting \"TLSv1.1\" not supported by this build",
    );
    refused(
        &["ssl_passphrase_command=cat x"],
        "\"ssl_passphrase_command\" setting \"cat x\" not supported by this build",
    );
    refused(&["ssl_groups=X448"], "could not set group names specified in ssl_groups: X448");
    fs::write(&certificate, "nothing\n").unwrap();
    refused(&[], "could not load server certificate file \"server.crt\": no start line");
    authority.sign(&data, "other", &[("CN", "localhost")], 9, &["localhost"]);
    fs::write(&certificate, &good_certificate).unwrap();
    refused(&["ssl_key_file=other.key"], "check of private key failed: key values mismatch");
    let encrypted = good_key
        .replace("BEGIN PRIVATE", "BEGIN ENCRYPTED PRIVATE")
        .replace("END PRIVATE", "END ENCRYPTED PRIVATE");
    write_key(&key, &encrypted);
    refused(&[], "private key file \"server.key\" cannot be loaded because it requires a passphrase");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o640)).unwrap();
    refused(&[], "private key file \"server.key\" has group or world access");
}

/// Resident memory of a process, in KiB.
fn resident(pid: i32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn an_idle_session_over_tls_is_small() {
    let authority = Authority::new("authority");
    let mut server = secured_server(&authority);
    server.set_option("max_connections=20000");
    server.run();
    let sessions = crate::support::knob("STAMPEDE_TLS_SESSIONS", 300);
    let open = |count: u64| -> Vec<_> {
        let one = |_| {
            let mut client = session(&server, &authority);
            assert_eq!(client.value("select repeat('x', 40000)").len(), 40_000);
            client
        };
        (0..count).map(one).collect()
    };
    let warm = open(20);
    let before = resident(server.pid());
    let idle = open(sessions);
    // A system that is short of memory may take more away meanwhile than they need.
    let each = resident(server.pid()).saturating_sub(before) as f64 / sessions as f64;
    println!("{each:.1} KiB for each of {sessions} idle sessions over TLS");
    assert!(each < 48.0, "{each} KiB");
    drop((warm, idle));
}
