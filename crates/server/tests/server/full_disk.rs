//! Full disks, under the log, the data, or both: writes are refused with 53100, reads go on, and with room again all is as before, also if
//! the server was killed meanwhile. What was acknowledged is kept.
//!
//! Each disk is a small file system in memory, which only root may mount: without that the tests say so and do nothing.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::pair::{caught_up, run_standby, standby_of};
use crate::support::{Client, Failure, Server, beside, until};

/// A file system of its own, gone with this.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Mounts one of so many MiB; none where that is not allowed.
    fn mount(mib: usize) -> Option<SmallDisk> {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("stampede-disk-{}-{number}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        let size = format!("size={mib}m,mode=700");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(&dir).output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(SmallDisk(dir));
        }
        fs::remove_dir(&dir).unwrap();
        eprintln!("left out: no file system may be mounted here");
        None
    }

    /// Moves a directory here, and leaves a link in its place.
    fn take(&self, dir: &Path) {
        let here = self.0.join(dir.file_name().unwrap());
        let copied = Command::new("cp").arg("-a").arg(dir).arg(&here).status().unwrap();
        assert!(copied.success());
        fs::remove_dir_all(dir).unwrap();
        symlink(here, dir).unwrap();
    }

    /// Leaves no more than so many bytes free.
    fn fill(&self, keep: u64) {
        // SAFETY: a system call with a path that ends in a NUL and a pointer to plain data, which may be all zero.
        let free = unsafe {
            let path = std::ffi::CString::new(self.0.as_os_str().as_encoded_bytes()).unwrap();
            let mut about: libc::statvfs = std::mem::zeroed();
            assert_eq!(libc::statvfs(path.as_ptr(), &mut about), 0);
            about.f_bavail * about.f_bsize
        };
        // What others take meanwhile is missing at the end.
        let _ = fs::write(self.0.join("ballast"), vec![1; free.saturating_sub(keep) as usize]);
    }

    fn free(&self) {
        fs::remove_file(self.0.join("ballast")).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
        let _ = fs::remove_dir(&self.0);
    }
}

/// Who inserts numbered rows, and knows how many were acknowledged.
struct Writer {
    client: Client,
    number: u64,
    acknowledged: u64,
}

impl Writer {
    fn new(server: &Server, number: u64) -> Writer {
        Writer { client: server.client(), number, acknowledged: 0 }
    }

    /// Inserts the next row, of `size` bytes and more.
    fn insert(&mut self, size: usize) -> Result<(), Failure> {
        let next = self.acknowledged + 1;
        let row = format!(
            "insert into ledger select {}, {next}, string_agg(md5(i::text), '') from generate_series(0, {}) i",
            self.number,
            size / 32
        );
        self.client.query(&row)?;
        self.acknowledged = next;
        Ok(())
    }

    /// Inserts until there is no room; the message of that.
    fn insert_until_refused(&mut self, size: usize) -> String {
        loop {
            match self.insert(size) {
                Ok(()) => assert!(self.acknowledged < 100_000, "the disk has no end"),
                Err(Failure::Error { code, message, .. }) => {
                    assert_eq!(code, "53100", "{message}");
                    return message;
                }
                Err(failure) => panic!("{failure:?}"),
            }
        }
    }

    /// All that was acknowledged is there, and nothing else.
    fn check(&self, client: &mut Client) {
        let kept = format!(
            "select count(*) || ' ' || coalesce(max(n), 0) || ' ' || count(*) filter (where filling is null)
             from ledger where writer = {}",
            self.number
        );
        assert_eq!(client.value(&kept), format!("{0} {0} 0", self.acknowledged));
    }
}

const LEDGER: &str =
    "create table ledger (writer int, n int, filling text, primary key (writer, n)); create sequence s";

/// What may not happen without room, and what may.
fn refused(client: &mut Client, statement: &str) {
    let error = client.error(statement);
    assert!(
        error.starts_with("53100 ") && error.ends_with(": No space left on device"),
        "{statement}: {error}"
    );
}

fn reads(client: &mut Client, _: u64) {
    assert_eq!(client.value("select count(*) >= 0 from ledger"), "t");
}

#[test]
fn under_the_log() {
    let Some(disk) = SmallDisk::mount(24) else { return };
    let mut server = Server::init(&["--wal-segsize=1"]);
    // A checkpoint, which comes sooner or later, makes no room.
    server.set_option("wal_keep_size=1GB");
    disk.take(&server.data().join("pg_wal"));
    server.run();
    server.client().query(LEDGER).unwrap();
    let mut writer = Writer::new(&server, 1);
    let mut open = server.client();
    open.query(
        "begin; insert into ledger values (2, 1, ''); savepoint s; insert into ledger values (2, 2, '')",
    )
    .unwrap();
    disk.fill(0);
    beside(&server, &[&reads, &reads], || {
        let message = writer.insert_until_refused(500);
        assert!(message.starts_with("could not ") && message.contains("pg_wal/"), "{message}");
        // What is refused again and again does not use up what is kept for those under way.
        for _ in 0..1000 {
            writer.insert(500).unwrap_err();
        }
        let mut other = server.client();
        for statement in [
            "update ledger set filling = 'x' where n = 1",
            "delete from ledger",
            "select * from ledger where n = 1 for update",
            "create table another (a int)",
            "select nextval('s')",
            "comment on table ledger is 'x'",
            "vacuum (freeze) ledger",
        ] {
            refused(&mut other, statement);
        }
        other.query("begin").unwrap();
        refused(&mut other, "delete from ledger where writer = 1");
        assert!(other.error("select 1").starts_with("25P02"));
        other.query("rollback; create temp table t (a int)").unwrap_err();
        open.query("rollback to s; commit").unwrap();
        writer.check(&mut other);
        assert_eq!(other.value("select count(*) from ledger where writer = 2"), "1");
        disk.free();
        writer.insert(500).unwrap();
        other.query("update ledger set filling = filling || 'x' where n = 1").unwrap();
    });
    disk.fill(0);
    writer.insert_until_refused(500);
    server.kill();
    server.run();
    let mut client = server.client();
    writer.check(&mut client);
    refused_sooner_or_later(&mut client);
    server.kill();
    disk.free();
    server.run();
    writer.client = server.client();
    for _ in 0..3000 {
        writer.insert(500).unwrap();
    }
    server.stop();
    server.run();
    writer.check(&mut server.client());
}

/// After a start there may be a little room.
fn refused_sooner_or_later(client: &mut Client) {
    until("writes are refused", || {
        client
            .query("insert into ledger select 9, g, repeat('x', 1000) from generate_series(1, 5000) g")
            .is_err()
    });
}

#[test]
fn under_data_and_temporary_files() {
    let Some(disk) = SmallDisk::mount(160) else { return };
    let mut server = Server::init(&["--wal-segsize=1"]);
    let data = server.data();
    fs::rename(data.join("pg_wal"), server.file("wal")).unwrap();
    symlink(server.file("wal"), data.join("pg_wal")).unwrap();
    disk.take(&data);
    server.set_option("autovacuum=off");
    server.run();
    server.client().query(LEDGER).unwrap();
    let mut writer = Writer::new(&server, 1);
    writer.insert(500).unwrap();
    disk.fill(1 << 20);
    beside(&server, &[&reads, &reads], || {
        let message = writer.insert_until_refused(100_000);
        assert!(message.starts_with("could not extend file \"base/"), "{message}");
        let mut other = server.client();
        other.query("set work_mem = 64").unwrap();
        let sorted =
            "select count(*) from (select g from generate_series(1, 200000) g order by g::text desc) s";
        let error = other.error(sorted);
        assert_eq!(error, "53100 could not write temporary file: No space left on device");
        refused(
            &mut other,
            "create table another as select g, repeat('x', 1000) from generate_series(1, 10000) g",
        );
        writer.check(&mut other);
        disk.free();
        assert_eq!(other.value(sorted), "200000");
        writer.insert(100_000).unwrap();
    });
    disk.fill(1 << 20);
    writer.insert_until_refused(100_000);
    server.kill();
    disk.free();
    server.run();
    writer.check(&mut server.client());
    writer.client = server.client();
    writer.insert(100_000).unwrap();
    server.stop();
}

#[test]
fn under_everything() {
    let Some(disk) = SmallDisk::mount(160) else { return };
    let mut server = Server::init(&["--wal-segsize=1"]);
    disk.take(&server.data());
    for setting in ["max_wal_size=8MB", "checkpoint_timeout=30s"] {
        server.set_option(setting);
    }
    server.run();
    server.client().query(LEDGER).unwrap();
    let mut writers: Vec<Writer> = (1..=3).map(|number| Writer::new(&server, number)).collect();
    for round in 0..6 {
        disk.fill((round % 3) << 20);
        beside(&server, &[&reads], || {
            std::thread::scope(|scope| {
                for writer in &mut writers {
                    scope.spawn(move || writer.insert_until_refused(2000));
                }
            });
        });
        if round % 2 == 1 {
            server.kill();
            disk.free();
            server.run();
        } else {
            disk.free();
        }
        let mut client = server.client();
        for writer in &mut writers {
            writer.check(&mut client);
            writer.client = server.client();
            writer.insert(2000).unwrap();
        }
        client.query("checkpoint").unwrap();
    }
    server.stop();
}

/// An archive without room takes no file, and none is lost: all are there once there is room again.
#[test]
fn under_the_archive() {
    let Some(disk) = SmallDisk::mount(16) else { return };
    let mut server = Server::init(&["--wal-segsize=1"]);
    let settings = ["autovacuum=off", "archive_mode=on", "max_wal_size=2MB", "min_wal_size=2MB"];
    settings.iter().for_each(|setting| server.set_option(setting));
    server.set_option(&crate::support::copies::archive_command(&disk.0));
    server.run();
    let mut client = server.client();
    client.query(LEDGER).unwrap();
    let first = client.value("select pg_walfile_name(pg_switch_wal())");
    let archived = |name: &str| disk.0.join(name).exists();
    until("the first file is archived", || archived(&first));
    disk.fill(100 << 10);
    let mut writer = Writer::new(&server, 1);
    for _ in 0..20 {
        writer.insert(200_000).unwrap();
    }
    let last = client.value("select pg_walfile_name(pg_switch_wal())");
    client.query("checkpoint").unwrap();
    until("the archive has refused one", || {
        client.value("select failed_count > 0 from pg_stat_archiver") == "t"
    });
    assert!(!archived(&last));
    assert!(server.log().contains("LOG:  archive command failed with exit code 1"), "{}", server.log());
    disk.free();
    until("the last file is archived", || archived(&last));
    let number = |name: &str| u64::from_str_radix(&name[16..], 16).unwrap();
    for segment in number(&first)..=number(&last) {
        assert!(archived(&format!("{}{segment:08X}", &first[..16])), "{segment} is lost");
    }
    writer.check(&mut client);
    drop((client, writer));
    server.stop();
    server.assert_sound();
}

/// A primary with a ledger that keeps its log, and a standby that does not run yet.
fn with_standby() -> (Server, Server) {
    let mut primary = Server::init(&["--wal-segsize=1"]);
    ["autovacuum=off", "wal_keep_size=1GB"].iter().for_each(|setting| primary.set_option(setting));
    primary.run();
    primary.client().query(LEDGER).unwrap();
    let standby = standby_of(&mut primary, "", &["max_wal_size=2MB", "min_wal_size=2MB"]);
    (primary, standby)
}

/// A standby that has no room for the log goes on answering, and asks for it again until it has.
#[test]
fn under_the_log_of_a_standby() {
    let Some(disk) = SmallDisk::mount(24) else { return };
    let (primary, mut standby) = with_standby();
    disk.take(&standby.data().join("pg_wal"));
    run_standby(&mut standby);
    let mut writer = Writer::new(&primary, 1);
    writer.insert(500).unwrap();
    let (mut here, mut there) = (primary.client(), standby.client());
    caught_up(&mut here, &mut there);
    for _ in 0..2 {
        disk.fill(0);
        for _ in 0..40 {
            writer.insert(200_000).unwrap();
        }
        standby.wait_for_log("No space left on device");
        assert!(standby.log().contains("pg_wal/"), "{}", standby.log());
        assert_eq!(there.value("select pg_is_in_recovery()"), "t");
        reads(&mut there, 0);
        disk.free();
        caught_up(&mut here, &mut there);
        writer.check(&mut there);
    }
    sound_by_itself(standby);
}

/// It is promoted, and its data are whole.
fn sound_by_itself(mut standby: Server) {
    standby.client().query("select pg_promote()").unwrap();
    standby.stop();
    standby.assert_sound();
}

/// A standby that has no room for what it replays says so and ends, as it cannot leave it out; with room it goes on.
#[test]
fn under_the_data_of_a_standby() {
    let Some(disk) = SmallDisk::mount(160) else { return };
    let (primary, mut standby) = with_standby();
    let data = standby.data();
    fs::rename(data.join("pg_wal"), standby.file("wal")).unwrap();
    symlink(standby.file("wal"), data.join("pg_wal")).unwrap();
    disk.take(&data);
    standby.set_option("checkpoint_timeout=30s");
    run_standby(&mut standby);
    let mut writer = Writer::new(&primary, 1);
    writer.insert(500).unwrap();
    let mut here = primary.client();
    caught_up(&mut here, &mut standby.client());
    disk.fill(1 << 20);
    for _ in 0..40 {
        writer.insert(200_000).unwrap();
    }
    until("the standby has no room", || standby.log().contains("No space left on device"));
    assert!(standby.log().contains("could not extend file \"base/"), "{}", standby.log());
    until("it ends", || standby.has_ended());
    disk.free();
    run_standby(&mut standby);
    caught_up(&mut here, &mut standby.client());
    writer.check(&mut standby.client());
    sound_by_itself(standby);
}
