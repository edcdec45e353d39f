//! `pg_rewind`: a server whose time line was left behind becomes like the one that went on; and what it needs: `postgres --single`.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use crate::support::copies::{archive_command, archived, base_copy, copy, restored};
use crate::support::{Client, Random, Server, output, run, text, until};

/// A server that archives, with some tables.
fn primary() -> (Server, PathBuf) {
    let mut server = Server::init(&["--wal-segsize=1"]);
    let archive = server.file("archive");
    fs::create_dir(&archive).unwrap();
    for setting in ["autovacuum=off", "archive_mode=on", &archive_command(&archive)] {
        server.set_option(setting);
    }
    // Recovery in single-user mode keeps the log too.
    configure(&server, "wal_keep_size = '64MB'");
    server.run();
    for table in ["a", "b", "c"] {
        let statement = format!("create table {table} (n int primary key, x int, pad text)");
        run(&mut server.client(), &[&statement, &format!("create index on {table} (x)")]);
    }
    (server, archive)
}

/// One more line of the configuration.
fn configure(server: &Server, line: &str) {
    let mut file = fs::File::options().append(true).open(server.data().join("postgresql.conf")).unwrap();
    writeln!(file, "{line}").unwrap();
}

/// Changes of all kinds.
fn work(client: &mut Client, random: &mut Random, rounds: u32, marks: &str) {
    for round in 0..rounds {
        let table = ["a", "b", "c"][random.below(3) as usize];
        let (key, more) = (random.below(1 << 20), random.below(300) + 10);
        let statement = match random.below(12) {
            0..4 => format!(
                "insert into {table} select n, n % 89, repeat('{marks}', 100) from generate_series({key}, {key} + {more}) n on conflict do nothing"
            ),
            4 | 5 => {
                format!("update {table} set x = x + 1, pad = pad || '{marks}' where n % 7 = {}", more % 7)
            }
            6 => format!("delete from {table} where n % 5 = {}", more % 5),
            7 => format!("vacuum {table}"),
            8 => format!("truncate {table}"),
            9 => format!("create table {marks}{round} as select * from {table}"),
            10 => "checkpoint".into(),
            _ => format!("vacuum full {table}"),
        };
        client.query(&statement).unwrap_or_else(|failure| panic!("{statement}: {failure:?}"));
    }
}

/// What the tables come to: one line for each.
fn contents(client: &mut Client) -> Vec<String> {
    let tables = client.query("select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by 1");
    let sum = |name: String| {
        client.value(&format!(
            "select '{name}: ' || count(*) || ' ' || coalesce(sum(n), 0) || ' ' || coalesce(sum(x), 0) || ' ' || coalesce(sum(length(pad)), 0) from {name}"
        ))
    };
    let names: Vec<String> = tables.unwrap().into_iter().map(|row| row[0].clone().unwrap()).collect();
    names.into_iter().map(sum).collect()
}

fn rewind(target: &Server, source: &Path, options: &[&str]) -> Output {
    let mut program = target.program("pg_rewind");
    program.args(["-N", "-D"]).arg(target.data()).arg("--source-pgdata").arg(source).args(options);
    output(&mut program)
}

fn rewind_from_server(target: &Server, source: &Server, options: &[&str]) -> Output {
    let mut program = target.program("pg_rewind");
    let source = format!("host=127.0.0.1 port={} user=postgres dbname=postgres", source.port);
    program.args(["-N", "-D"]).arg(target.data()).args(["--source-server", &source]).args(options);
    output(&mut program)
}

fn assert_done(done: &Output) {
    assert!(done.status.success() && text(done).ends_with("pg_rewind: Done!\n"), "{}", text(done));
}

/// A copy of the first server that went its own way from a point of the log on, and the first one, which went on too.
fn parted(random: &mut Random) -> (Server, Server, PathBuf) {
    let (mut old, archive) = primary();
    work(&mut old.client(), random, 8, "q");
    let base = base_copy(&mut old, "base");
    let mut client = old.client();
    work(&mut client, random, 6, "r");
    client.query("select pg_create_restore_point('fork')").unwrap();
    work(&mut client, random, 8, "s");
    archived(&mut client, &archive);
    let new_archive = old.file("archive2");
    fs::create_dir(&new_archive).unwrap();
    let settings = ["recovery_target_name=fork", "archive_mode=on", &archive_command(&new_archive)];
    let mut new = restored(&base, &archive, &settings);
    new.run();
    work(&mut new.client(), random, 8, "t");
    work(&mut client, random, 6, "u");
    (old, new, new_archive)
}

#[test]
fn an_old_leader_becomes_like_the_new_one() {
    for seed in 0..crate::support::knob("STAMPEDE_REWINDS", 3) {
        let mut random = Random(seed);
        let (mut old, mut new, _) = parted(&mut random);
        let wanted = contents(&mut new.client());
        // It crashed, which single-user mode mends first.
        if seed % 2 == 0 {
            old.kill();
        } else {
            old.stop();
        }
        new.stop();
        let tried = rewind(&old, &new.data(), &["--dry-run"]);
        if seed % 2 == 1 {
            assert_done(&tried);
        } else {
            assert!(
                text(&tried).ends_with("error: target server must be shut down cleanly\n"),
                "{}",
                text(&tried)
            );
        }
        let done = rewind(&old, &new.data(), &["--progress"]);
        assert_done(&done);
        let told = text(&done);
        assert!(told.contains("pg_rewind: servers diverged at WAL location 0/"), "{told}");
        assert!(told.contains("pg_rewind: rewinding from last common checkpoint at 0/"), "{told}");
        assert_eq!(told.contains("to complete crash recovery"), seed % 2 == 0, "{told}");
        assert!(told.contains(" (100%) copied\n"), "{told}");
        old.run();
        assert_eq!(contents(&mut old.client()), wanted, "seed {seed}");
        work(&mut old.client(), &mut random, 3, "v");
        old.stop();
        old.assert_sound();
        // Once more there is nothing to do.
        let done = rewind(&old, &new.data(), &[]);
        let told =
            "pg_rewind: source and target cluster are on the same timeline\npg_rewind: no rewind required\n";
        assert_eq!((done.status.code(), &*text(&done)), (Some(0), told));
    }
}

/// The same from a server that runs and writes meanwhile, which the old one then follows.
#[test]
fn an_old_leader_follows_the_one_that_it_was_rewound_to() {
    let mut random = Random(11);
    let (mut old, mut new, _) = parted(&mut random);
    old.stop();
    crate::support::beside(
        &new,
        &[&|client, round| {
            client.query(&format!("insert into a values ({round} + 5000000, 1, 'meanwhile')")).unwrap();
        }],
        || {
            let done = rewind_from_server(&old, &new, &["--progress", "-R"]);
            assert_done(&done);
            assert!(text(&done).starts_with("pg_rewind: connected to server\n"), "{}", text(&done));
        },
    );
    let wanted = contents(&mut new.client());
    let end = new.client().value("select pg_current_wal_lsn()");
    old.set_option("archive_mode=off");
    old.launch();
    let caught_up = format!("select count(*) from pg_stat_replication where replay_lsn >= '{end}'");
    until("the old leader has it all", || new.client().value(&caught_up) == "1");
    // It crashes before anything but the end of the copy was noted: that end lies on the new time line.
    old.kill();
    old.launch();
    until("it has it all again", || new.client().value(&caught_up) == "1");
    assert_promoted_with(&mut old, &wanted);
    new.stop();
    let away = rewind_from_server(&old, &new, &[]);
    assert_eq!(away.status.code(), Some(1));
    assert!(
        text(&away).contains("pg_rewind: error: connection to server at \"127.0.0.1\""),
        "{}",
        text(&away)
    );
}

/// A standby is promoted, and has these contents.
fn assert_promoted_with(standby: &mut Server, wanted: &[String]) {
    let promoted = output(standby.program("pg_ctl").arg("-D").arg(standby.data()).arg("promote"));
    assert!(promoted.status.success(), "{}", text(&promoted));
    standby.wait_for_log(crate::support::READY);
    assert_eq!(contents(&mut standby.client()), wanted);
    standby.stop();
    standby.assert_sound();
}

/// It follows the new leader's archive as a standby, and needs log that its own folder does not have any more.
#[test]
fn a_rewound_leader_follows_the_archive() {
    let mut random = Random(7);
    let (mut old, mut new, new_archive) = parted(&mut random);
    let mut client = new.client();
    archived(&mut client, &new_archive);
    old.stop();
    let archive = old.file("archive");
    // What was archived is gone from the folder, but for the last segment.
    let mut segments: Vec<PathBuf> = fs::read_dir(old.data().join("pg_wal"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file() && archive.join(path.file_name().unwrap()).exists())
        .collect();
    segments.sort();
    segments.pop();
    segments.iter().for_each(|path| fs::remove_file(path).unwrap());
    new.stop();
    let missing = rewind(&old, &new.data(), &[]);
    assert_eq!(missing.status.code(), Some(1));
    assert!(text(&missing).contains("error: could not open file \""), "{}", text(&missing));
    let unset = rewind(&old, &new.data(), &["-c"]);
    assert!(
        text(&unset).contains("error: \"restore_command\" is not set in the target cluster"),
        "{}",
        text(&unset)
    );
    configure(&old, &format!("restore_command = 'cp {}/%f %p'", archive.display()));
    assert_done(&rewind(&old, &new.data(), &["--restore-target-wal"]));
    new.run();
    let mut client = new.client();
    run(&mut client, &["create table later as select 1 as n, 2 as x, 'p' as pad"]);
    let wanted = contents(&mut client);
    let last = client.value("select pg_walfile_name(pg_switch_wal())");
    fs::write(old.data().join("standby.signal"), "").unwrap();
    old.set_option(&format!(
        "restore_command=cp {}/%f %p || cp {}/%f %p",
        new_archive.display(),
        archive.display()
    ));
    old.set_option("archive_mode=off");
    old.set_option("wal_retrieve_retry_interval=200ms");
    old.launch();
    old.wait_for_log(&format!("restored log file \"{last}\" from archive"));
    assert_promoted_with(&mut old, &wanted);
}

/// The name of a tablespace in a data directory.
fn link(server: &Server, oid: &str) -> PathBuf {
    server.data().join("pg_tblspc").join(oid)
}

/// Each cluster keeps its place for a tablespace that both have; one that only the target has goes, one that only the source has comes, but never to a place that is in use.
#[test]
fn tablespaces_are_rewound_too() {
    let (mut old, archive) = primary();
    let mut client = old.client();
    let places = old.file("places");
    let tablespace = |client: &mut Client, name: &str| {
        let place = places.join(name);
        fs::create_dir_all(&place).unwrap();
        run(client, &[&format!("create tablespace {name} location '{}'", place.display())]);
        (client.value(&format!("select oid from pg_tablespace where spcname = '{name}'")), place)
    };
    let (both, place) = tablespace(&mut client, "shared");
    let insert = "insert into d select n, n, repeat('p', 300) from generate_series(1, 2000) n";
    run(&mut client, &["create table d (n int, x int, pad text) tablespace shared", insert]);
    drop(client);
    // A copy, whose tablespace lies elsewhere.
    old.stop();
    fs::remove_file(link(&old, &both)).unwrap();
    let base = old.file("base");
    copy(&old.data(), &base);
    fs::remove_dir_all(base.join("pg_wal")).unwrap();
    fs::create_dir(base.join("pg_wal")).unwrap();
    let copied = old.file("shared of the copy");
    copy(&place, &copied);
    std::os::unix::fs::symlink(&place, link(&old, &both)).unwrap();
    old.run();
    let mut client = old.client();
    run(&mut client, &["select pg_create_restore_point('fork')", "update d set x = -1 where n % 100 = 0"]);
    let (lost, lost_place) = tablespace(&mut client, "lost");
    run(&mut client, &["create table e (n int, x int, pad text) tablespace lost"]);
    archived(&mut client, &archive);
    drop(client);
    let mut new = restored(&base, &archive, &["recovery_target_name=fork", "archive_mode=off"]);
    std::os::unix::fs::symlink(&copied, link(&new, &both)).unwrap();
    new.run();
    let mut client = new.client();
    run(
        &mut client,
        &[
            "update d set x = 7 where n % 77 = 0",
            "set allow_in_place_tablespaces = on",
            // First, so that the tablespace gets another OID than that of the old server.
            "create table f (n int, x int, pad text)",
            "create tablespace inside location ''",
            "alter table f set tablespace inside",
        ],
    );
    let wanted = contents(&mut client);
    old.stop();
    let gained = old.file("gained");
    fs::create_dir(&gained).unwrap();
    run(&mut client, &[&format!("create tablespace gained location '{}'", gained.display())]);
    let refused = rewind_from_server(&old, &new, &[]);
    assert!(
        !refused.status.success() && text(&refused).contains("already in use as a tablespace"),
        "{}",
        text(&refused)
    );
    run(&mut client, &["drop tablespace gained"]);
    assert_done(&rewind_from_server(&old, &new, &[]));
    assert!(!link(&old, &lost).exists() && fs::read_dir(&lost_place).unwrap().count() == 0);
    assert_eq!(fs::read_link(link(&old, &both)).unwrap(), place);
    drop(client);
    old.run();
    assert_eq!(contents(&mut old.client()), wanted);
    old.stop();
    old.assert_sound();
}

#[test]
fn what_cannot_be_is_refused() {
    let (mut old, _) = primary();
    let mut stranger = Server::init_anew(&[]);
    stranger.run();
    stranger.stop();
    let said = |done: &Output| (done.status.code(), text(done));
    let error = |message: &str| (Some(1), format!("pg_rewind: error: {message}\n"));
    let running = rewind(&old, &stranger.data(), &[]);
    assert!(
        text(&running).contains("pg_rewind: error: postgres single-user mode in target cluster failed"),
        "{}",
        text(&running)
    );
    old.stop();
    assert_eq!(
        said(&rewind(&old, &stranger.data(), &[])),
        error("source and target clusters are from different systems")
    );
    let copied = old.file("copied");
    copy(&old.data(), &copied);
    old.run();
    old.kill();
    assert_eq!(
        said(&rewind(&old, &copied, &["--no-ensure-shutdown"])),
        error("target server must be shut down cleanly")
    );
    old.run();
    old.stop();
    let mut crashed = restored(&copied, &old.file("archive"), &[]);
    fs::remove_file(crashed.data().join("recovery.signal")).unwrap();
    crashed.run();
    crashed.kill();
    assert_eq!(
        said(&rewind(&old, &crashed.data(), &[])),
        error("source data directory must be shut down cleanly")
    );
    let misused = |options: &[&str], message: &str| {
        let hint = "pg_rewind: hint: Try \"pg_rewind --help\" for more information.\n";
        let done = output(old.program("pg_rewind").args(options));
        let (code, wanted) = error(message);
        assert_eq!(said(&done), (code, wanted + hint));
    };
    misused(&["-D", "x"], "no source specified (--source-pgdata or --source-server)");
    misused(&["--source-pgdata=x"], "no target data directory specified (--target-pgdata)");
    misused(
        &["--source-pgdata=x", "--source-server=y"],
        "only one of --source-pgdata or --source-server can be specified",
    );
    misused(&["--source-pgdata=x", "-D", "y", "z"], "too many command-line arguments (first is \"z\")");
}

/// Runs statements in single-user mode.
fn single(server: &Server, options: &[&str], input: &str) -> Output {
    let mut command = server.program("postgres");
    command.args(["--single", "-D"]).arg(server.data()).args(options);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn a_server_without_sessions_waits_for_no_standby() {
    let mut server = Server::start(&["synchronous_standby_names=nobody"]);
    // Nobody has entered the database so far: that is noted, without the standby.
    server.client().query("select 1").unwrap();
    server.kill();
    let done = single(&server, &["template1"], "create table t (n int)\n");
    assert!(done.status.success() && text(&done).contains("database system is shut down"), "{}", text(&done));
    server.assert_sound();
}

#[test]
fn a_server_without_sessions_recovers_and_closes() {
    let mut server = Server::start(&[]);
    run(&mut server.client(), &["create table t as select generate_series(1, 1000) as n"]);
    server.kill();
    let input = "select count(*), null as nothing, 'x'::text as word from t\nselect 1/0\ncreate table u (n int)\n\nselect \\\n  2 as two";
    let done = single(&server, &["postgres"], input);
    assert!(done.status.success(), "{}", text(&done));
    let (out, log) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    let shown = "\
        \t 1: count\t(typeid = 20, len = 8, typmod = -1, byval = t)\n\
        \t 2: nothing\t(typeid = 25, len = -1, typmod = -1, byval = f)\n\
        \t 3: word\t(typeid = 25, len = -1, typmod = -1, byval = f)\n\
        \t----\n\
        \t 1: count = \"1000\"\t(typeid = 20, len = 8, typmod = -1, byval = t)\n\
        \t 3: word = \"x\"\t(typeid = 25, len = -1, typmod = -1, byval = f)\n\
        \t----\n";
    assert!(out.starts_with("\nPostgreSQL stand-alone backend 18"), "{out}");
    assert!(out.contains(shown) && out.contains("\t 1: two = \"2\"\t(typeid = 23"), "{out}");
    assert!(log.contains("ERROR:  division by zero") && log.contains("STATEMENT:  select 1/0"), "{log}");
    assert!(
        log.contains("redo done at") && log.trim_end().ends_with("database system is shut down"),
        "{log}"
    );
    server.assert_sound();
    // The whole input is read as statements that end with an empty line.
    let done = single(
        &server,
        &["-j", "-E", "template1"],
        "create table\nv (n int);\n\nselect current_database() as d;\n\n",
    );
    let out = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success() && out.contains("d = \"template1\""), "{}", text(&done));
    assert!(out.contains("statement: create table\nv (n int);\n"), "{out}");
    let missing = single(&server, &["nowhere"], "");
    assert_eq!(missing.status.code(), Some(1));
    assert!(text(&missing).contains("FATAL:  database \"nowhere\" does not exist"), "{}", text(&missing));
    server.run();
    assert_eq!(server.client().value("select count(*) from u"), "0");
    let busy = single(&server, &["postgres"], "");
    assert!(
        !busy.status.success() && text(&busy).contains("lock file \"postmaster.pid\" already exists"),
        "{}",
        text(&busy)
    );
    server.stop();
    fs::write(server.data().join("standby.signal"), "").unwrap();
    let standby = single(&server, &["postgres"], "");
    assert!(
        text(&standby).contains("FATAL:  standby mode is not supported by single-user servers"),
        "{}",
        text(&standby)
    );
}

fn resetwal(server: &Server, options: &[&str]) -> (Option<i32>, String) {
    let done = output(server.program("pg_resetwal").args(options).arg(server.data()));
    (done.status.code(), text(&done))
}

#[test]
fn a_lost_log_is_made_anew() {
    let mut server = Server::start(&["max_prepared_transactions=2"]);
    let mut client = server.client();
    run(&mut client, &["create table t as select generate_series(1, 1000) as n", "checkpoint"]);
    run(&mut client, &["begin", "insert into t values (1001)", "prepare transaction 'p'", "checkpoint"]);
    let xid: u64 = client.value("select pg_current_xact_id()").parse().unwrap();
    let (code, told) = resetwal(&server, &[]);
    assert!(
        code == Some(1) && told.starts_with("pg_resetwal: error: lock file \"postmaster.pid\" exists\n"),
        "{told}"
    );
    server.kill();
    fs::remove_file(server.data().join("postmaster.pid")).unwrap();
    let refused = "pg_resetwal: error: database server was not shut down cleanly\n\
        pg_resetwal: detail: Resetting the write-ahead log might cause data to be lost.\n\
        pg_resetwal: hint: If you want to proceed anyway, use -f to force reset.\n";
    assert_eq!(resetwal(&server, &[]), (Some(1), refused.into()));
    // The log is gone, and the control file damaged.
    let control = server.data().join("global/pg_control");
    let mut bytes = fs::read(&control).unwrap();
    bytes[600] ^= 1;
    fs::write(&control, &bytes).unwrap();
    let (code, told) = resetwal(&server, &["-n"]);
    assert!(code == Some(0) && told.contains("Guessed pg_control values:\n\n"), "{told}");
    assert!(told.contains("First log segment after reset:        000000010000000000000002\n"), "{told}");
    let (code, told) = resetwal(&server, &[]);
    assert!(
        code == Some(1) && told.contains("error: not proceeding because control file values were guessed"),
        "{told}"
    );
    assert_eq!(resetwal(&server, &["-f"]).0, Some(0));
    server.run();
    let mut client = server.client();
    assert_eq!(client.value("select count(*) from t"), "1000");
    run(&mut client, &["commit prepared 'p'"]);
    assert_eq!(client.value("select count(*) from t"), "1001");
    drop(client);
    server.stop();
    server.assert_sound();
    // Other counters, and a segment to begin with.
    let options = ["-x", &(xid + 5000).to_string(), "-o", "50000", "-l", "000000010000000000000020", "-D"];
    assert_eq!(resetwal(&server, &options), (Some(0), "Write-ahead log reset\n".into()));
    server.run();
    let mut client = server.client();
    assert_eq!(client.value("select pg_current_xact_id()"), (xid + 5000).to_string());
    assert_eq!(client.value("select pg_walfile_name(pg_current_wal_lsn())"), "000000010000000000000020");
    run(&mut client, &["create table later (n int)", "insert into t values (0)"]);
    assert_eq!(client.value("select 'later'::regclass::oid"), "50000");
    drop(client);
    server.stop();
    server.assert_sound();
}
