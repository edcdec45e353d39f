//! Base backups: BASE_BACKUP and `pg_basebackup`, `pg_backup_start` and `pg_backup_stop`, and copies that are started.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::support::client::message;
use crate::support::pair::{caught_up, run_standby, standby_of};
use crate::support::{Client, Failure, Server, has, output, run, text};

/// What BASE_BACKUP sends, without the heads of its messages.
#[derive(Default)]
struct Backup {
    archives: Vec<(String, Vec<u8>)>,
    manifest: String,
    rows: Vec<Vec<u8>>,
    tags: Vec<String>,
    error: Option<String>,
    progress: u64,
}

fn take(server: &Server, command: &str) -> Backup {
    let mut client = server.connect(&[("replication", "true")]).unwrap();
    client.send(&message(b'Q', format!("{command}\0").as_bytes())).unwrap();
    let mut backup = Backup::default();
    let mut in_manifest = false;
    loop {
        let (kind, body) = client.message().unwrap();
        match (kind, body.first()) {
            (b'd', Some(b'n')) => {
                let name = body[1..].split(|byte| *byte == 0).next().unwrap();
                backup.archives.push((String::from_utf8(name.to_vec()).unwrap(), Vec::new()));
            }
            (b'd', Some(b'm')) => in_manifest = true,
            (b'd', Some(b'd')) if in_manifest => {
                backup.manifest.push_str(std::str::from_utf8(&body[1..]).unwrap());
            }
            (b'd', Some(b'd')) => backup.archives.last_mut().unwrap().1.extend(&body[1..]),
            (b'd', Some(b'p')) => backup.progress = u64::from_be_bytes(body[1..].try_into().unwrap()),
            (b'D', _) => backup.rows.push(body),
            (b'C', _) => backup.tags.push(String::from_utf8_lossy(&body).trim_end_matches('\0').into()),
            (b'E', _) => backup.error = Some(String::from_utf8_lossy(&body).replace('\0', " ")),
            (b'Z', _) => return backup,
            _ => {}
        }
    }
}

/// Names in a tar archive.
fn names(archive: &[u8]) -> Vec<String> {
    let (mut at, mut names) = (0, Vec::new());
    while archive[at] != 0 {
        let field = |from: usize, to: usize| {
            let bytes = &archive[at + from..at + to];
            String::from_utf8_lossy(bytes.split(|byte| *byte == 0).next().unwrap()).trim().to_owned()
        };
        let size = usize::from_str_radix(&field(124, 136), 8).unwrap();
        names.push(field(0, 100));
        at += 512 + size.next_multiple_of(512);
    }
    assert_eq!(archive.len(), at + 1024, "two empty blocks end it");
    names
}

#[test]
fn base_backup_sends_an_archive() {
    let server = Server::start(&[]);
    let mut admin = server.client();
    run(
        &mut admin,
        &[
            "create table logged as select generate_series(1, 1000) as id",
            "create unlogged table unlogged as select generate_series(1, 1000) as id",
        ],
    );
    let path =
        |client: &mut Client, table: &str| client.value(&format!("select pg_relation_filepath('{table}')"));
    let (logged, unlogged) = (path(&mut admin, "logged"), path(&mut admin, "unlogged"));
    let backup =
        take(&server, "BASE_BACKUP (LABEL 'it''s mine', PROGRESS, CHECKPOINT 'fast', MANIFEST 'yes')");
    assert_eq!(backup.error, None);
    assert_eq!(backup.tags, ["SELECT", "SELECT", "SELECT", "BASE_BACKUP"]);
    let (name, archive) = &backup.archives[0];
    assert_eq!((backup.archives.len(), name.as_str()), (1, "base.tar"));
    assert_eq!(backup.progress, archive.len() as u64);
    let names = names(archive);
    assert_eq!(names.first().map(String::as_str), Some("backup_label"));
    assert_eq!(names.last().map(String::as_str), Some("global/pg_control"));
    let has = |name: &str| names.iter().any(|known| known == name);
    for there in
        [&*logged, &format!("{unlogged}_init"), "PG_VERSION", "pg_wal/", "pg_replslot/", "global/pg_lengths"]
    {
        assert!(has(there), "{there} in {names:?}");
    }
    for missing in [&*unlogged, "postmaster.pid", "stampede.lock", "base/pgsql_tmp/"] {
        assert!(!has(missing), "{missing}");
    }
    assert!(!names.iter().any(|name| name.starts_with("pg_wal/0")), "the log was not asked for");
    let label = String::from_utf8_lossy(&archive[512..1024]).into_owned();
    assert!(label.starts_with("START WAL LOCATION: ") && label.contains("\nLABEL: it's mine\n"), "{label}");
    assert!(backup.manifest.contains(&format!("{{ \"Path\": \"{logged}\", ")));
    assert!(backup.manifest.starts_with("{ \"PostgreSQL-Backup-Manifest-Version\": 2,\n"));

    let gzip =
        take(&server, "BASE_BACKUP (CHECKPOINT 'fast', COMPRESSION gzip, COMPRESSION_DETAIL '1', WAL)");
    assert_eq!((gzip.archives[0].0.as_str(), gzip.manifest.as_str()), ("base.tar.gz", ""));
    assert!(gzip.archives[0].1.starts_with(&[0x1f, 0x8b]));

    let folder = server.file("stored");
    let command = format!(
        "BASE_BACKUP (CHECKPOINT 'fast', MANIFEST 'yes', TARGET 'server', TARGET_DETAIL '{}')",
        folder.display()
    );
    let stored = take(&server, &command);
    assert!(stored.error.is_none() && stored.archives[0].1.is_empty());
    assert!(fs::metadata(folder.join("base.tar")).unwrap().len() > 1 << 20);
    assert!(folder.join("backup_manifest").exists());
    let error = take(&server, &command).error.unwrap();
    assert!(error.contains("exists but is not empty"), "{error}");
    let error = take(&server, "BASE_BACKUP (foo)").error.unwrap();
    assert!(error.contains("unrecognized base backup option: \"foo\""), "{error}");
    assert_eq!(admin.value("select count(*) from pg_stat_progress_basebackup"), "0");
}

#[test]
fn a_damaged_page_fails_the_backup_and_is_named() {
    let mut server = Server::start(&[]);
    let mut admin = server.client();
    run(&mut admin, &["create table t as select generate_series(1, 5000) as id", "checkpoint"]);
    let path = admin.value("select pg_relation_filepath('t')");
    drop(admin);
    server.stop();
    let file = server.data().join(&path);
    let mut bytes = fs::read(&file).unwrap();
    bytes[8192 + 5000] ^= 1;
    fs::write(&file, bytes).unwrap();
    server.run();
    let failed = take(&server, "BASE_BACKUP (CHECKPOINT 'fast')");
    assert!(failed.error.unwrap().contains("checksum verification failure during base backup"));
    assert!(take(&server, "BASE_BACKUP (CHECKPOINT 'fast', VERIFY_CHECKSUMS false)").error.is_none());
}

#[test]
fn pg_backup_start_and_stop() {
    let server = Server::start(&[]);
    let mut admin = server.client();
    assert_eq!(admin.error("select pg_backup_stop()"), "55000 backup is not in progress");
    assert_eq!(
        admin.error("select pg_backup_start(repeat('x', 2000))"),
        "22023 backup label too long (max 1024 bytes)"
    );
    let start = admin.value("select pg_backup_start('here', true)");
    assert_eq!(
        admin.error("select pg_backup_start('again')"),
        "55000 a backup is already in progress in this session"
    );
    let rows = admin.query("select lsn > $$0/0$$, labelfile, spcmapfile from pg_backup_stop(false)").unwrap();
    let label = rows[0][1].clone().unwrap();
    let words = label.lines().map(|line| line.split(": ").next().unwrap()).collect::<Vec<_>>();
    assert_eq!(
        words,
        [
            "START WAL LOCATION",
            "CHECKPOINT LOCATION",
            "BACKUP METHOD",
            "BACKUP FROM",
            "START TIME",
            "LABEL",
            "START TIMELINE"
        ]
    );
    assert!(label.starts_with(&format!("START WAL LOCATION: {start} (file 0000000100000000")), "{label}");
    let histories = fs::read_dir(server.data().join("pg_wal")).unwrap();
    let histories =
        histories.filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().ends_with(".backup"));
    assert_eq!(histories.count(), 1);
    // One that is not ended ends with its session.
    admin.value("select pg_backup_start('lost', true)");
    drop(admin);
    crate::support::until("it is given up", || {
        server.log().contains("aborting backup due to backend exiting before pg_backup_stop was called")
    });
}

/// While a backup runs, pages are logged whole, whatever the setting.
#[test]
fn a_backup_forces_whole_pages() {
    let server = Server::start(&["full_page_writes=off"]);
    let mut admin = server.client();
    run(&mut admin, &["create table t as select generate_series(1, 100) as id", "checkpoint"]);
    let images =
        "explain (analyze, wal, costs off, timing off, summary off) update t set id = id where id = 7";
    let has_image = |client: &mut Client| {
        let rows = client.query(images).unwrap();
        rows.iter().any(|row| row[0].as_deref().unwrap_or_default().contains("fpi="))
    };
    assert!(!has_image(&mut admin));
    admin.value("select pg_backup_start('x', true)");
    assert!(has_image(&mut admin));
    run(&mut admin, &["select from pg_backup_stop(false)", "checkpoint"]);
    assert!(!has_image(&mut admin));
}

/// `pg_basebackup` of version 15, which is told that the server is too.
fn program(server: &Server, name: &str) -> Command {
    let port = crate::support::relay::as_version_15(server.port).to_string();
    let mut program = server.tool(name);
    program.env("PGHOST", "127.0.0.1").env("PGPORT", port).env("PGSSLMODE", "disable");
    program.env("PGGSSENCMODE", "disable").env_remove("PGDATABASE");
    program
}

fn pg_basebackup(server: &Server, folder: &Path, options: &[&str]) {
    let done = output(program(server, "pg_basebackup").args(["-c", "fast", "-D"]).arg(folder).args(options));
    assert!(done.status.success(), "{options:?}: {}", text(&done));
}

/// A server on a copy.
fn start_copy(server: &Server, folder: &Path) -> (Child, u16, PathBuf) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).unwrap();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let log = folder.with_extension("log");
    let file = fs::File::create(&log).unwrap();
    let mut command = server.program("postgres");
    command.arg("-D").arg(folder).args(["-p", &port.to_string(), "-k"]).arg(server.socket());
    let mut child = command.stdout(file.try_clone().unwrap()).stderr(file).spawn().unwrap();
    crate::support::until("the copy is ready", || {
        let text = fs::read_to_string(&log).unwrap();
        assert!(child.try_wait().unwrap().is_none(), "the copy has ended: {text}");
        text.contains(crate::support::READY)
    });
    (child, port, log)
}

/// A copy that was taken under load has the sums that must be, and nothing is wrong with it.
fn check_copy(server: &Server, folder: &Path) {
    let (mut child, port, _) = start_copy(server, folder);
    let mut client = Client::connect(port, &[]).unwrap();
    assert_eq!(
        client.value("select (select sum(abalance) from pgbench_accounts) = (select sum(bbalance) from pgbench_branches) and (select sum(abalance) from pgbench_accounts) = (select sum(delta) from pgbench_history)"),
        "t"
    );
    drop(client);
    crate::support::signal_to(child.id() as i32, libc::SIGINT);
    assert!(crate::support::wait(&mut child).is_some_and(|status| status.success()));
    let done = output(server.program("stampede").args(["verify", "-D"]).arg(folder));
    assert_eq!(text(&done), "verify: nothing is wrong\n");
}

/// pgbench at work, until this goes.
struct Load(Child);

impl Load {
    fn on(server: &Server) -> Load {
        let made = output(server.tool("pgbench").args(["-i", "-q", "-s", "2"]));
        assert!(made.status.success(), "{}", text(&made));
        let mut load = server.tool("pgbench");
        load.args(["-n", "-c", "4", "-T", "600"]).stdout(Stdio::null()).stderr(Stdio::null());
        Load(load.spawn().unwrap())
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn copies_of_a_server_under_load_are_sound() {
    if !has("pg_basebackup") || !has("pgbench") {
        return;
    }
    let server = Server::start(&["full_page_writes=off", "shared_buffers=4MB"]);
    let load = Load::on(&server);
    let streamed = server.file("streamed");
    pg_basebackup(&server, &streamed, &["-X", "stream", "--no-manifest"]);
    let fetched = server.file("fetched");
    pg_basebackup(&server, &fetched, &["-X", "fetch", "--max-rate=100M", "--no-manifest"]);
    drop(load);
    check_copy(&server, &streamed);
    check_copy(&server, &fetched);
}

#[test]
fn copies_of_a_standby_under_load_are_sound() {
    if !has("pg_basebackup") || !has("pgbench") {
        return;
    }
    let mut primary = Server::start(&["shared_buffers=4MB"]);
    let mut standby = standby_of(&mut primary, "", &["shared_buffers=4MB"]);
    run_standby(&mut standby);
    let load = Load::on(&primary);
    let (streamed, fetched) = (standby.file("streamed"), standby.file("fetched"));
    pg_basebackup(&standby, &streamed, &["-X", "stream", "--no-manifest"]);
    pg_basebackup(&standby, &fetched, &["-X", "fetch", "--no-manifest"]);
    drop(load);
    for folder in [streamed, fetched] {
        let label = fs::read_to_string(folder.join("backup_label")).unwrap();
        assert!(label.contains("\nBACKUP FROM: standby\n"), "{label}");
        fs::remove_file(folder.join("standby.signal")).unwrap();
        check_copy(&standby, &folder);
    }
}

/// The error of a backup, which may not have another one.
fn refusal(server: &Server) -> String {
    take(server, "BASE_BACKUP (CHECKPOINT 'fast')").error.expect("it is refused")
}

#[test]
fn a_standby_is_copied_only_where_the_log_mends_the_copy() {
    let mut primary = Server::start(&[]);
    let mut standby = standby_of(&mut primary, "", &[]);
    run_standby(&mut standby);
    let (mut admin, mut reader) = (primary.client(), standby.client());
    run(&mut admin, &["create table t as select generate_series(1, 1000) as id"]);
    let mut follow = |sql: &[&str]| {
        run(&mut admin, sql);
        caught_up(&mut admin, &mut reader);
    };
    follow(&["checkpoint"]);
    assert_eq!(take(&standby, "BASE_BACKUP (CHECKPOINT 'fast')").error, None);
    // The server that writes the log says when it lacks images of pages, and when no more.
    follow(&["alter system set full_page_writes = off", "select pg_reload_conf()"]);
    crate::support::until("it is off", || {
        follow(&[]);
        take(&standby, "BASE_BACKUP (CHECKPOINT 'fast')").error.is_some()
    });
    let bare = "WAL generated with \"full_page_writes=off\" was replayed since last restartpoint";
    let refused = refusal(&standby);
    assert!(refused.contains(bare) && refused.contains("C55000"), "{refused}");
    follow(&["checkpoint"]);
    assert!(refusal(&standby).contains(bare), "the checkpoint has been taken without");
    follow(&["alter system reset full_page_writes", "select pg_reload_conf()"]);
    crate::support::until("a checkpoint is taken with images", || {
        follow(&["checkpoint"]);
        take(&standby, "BASE_BACKUP (CHECKPOINT 'fast')").error.is_none()
    });
    let mut copier = standby.client();
    copier.query("select pg_backup_start('promoted', true)").unwrap();
    run(&mut copier, &["select pg_promote()"]);
    let Err(Failure::Error { code, message, .. }) = copier.query("select * from pg_backup_stop(false)")
    else {
        panic!("the backup is of no use");
    };
    assert_eq!((&*code, &*message), ("55000", "the standby was promoted during online backup"));
}

#[test]
fn pg_basebackup_takes_all_options() {
    if !has("pg_basebackup") {
        return;
    }
    let server = Server::start(&[]);
    let mut admin = server.client();
    run(&mut admin, &["create table t as select generate_series(1, 1000) as id"]);
    let tar = server.file("tar");
    pg_basebackup(&server, &tar, &["-Ft", "-z", "-X", "stream", "-S", "kept", "-C", "-l", "my label"]);
    for name in ["base.tar.gz", "pg_wal.tar.gz", "backup_manifest"] {
        assert!(tar.join(name).exists(), "{name}");
    }
    assert_eq!(admin.value("select slot_name from pg_replication_slots"), "kept");
    for (number, method) in ["gzip:3", "lz4", "zstd:level=5,long"].into_iter().enumerate() {
        let compressed = server.file(&format!("compressed{number}"));
        pg_basebackup(&server, &compressed, &[&format!("--compress=server-{method}"), "-X", "fetch", "-R"]);
        for name in ["PG_VERSION", "standby.signal"] {
            assert!(compressed.join(name).exists(), "{method}: {name}");
        }
    }
}
