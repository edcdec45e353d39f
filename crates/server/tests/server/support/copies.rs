//! Copies of data directories, and archives of the log.

use std::fs;
use std::path::{Path, PathBuf};

pub use template::copy;

use super::{Client, Server, until};

/// The setting that copies files of the log to an archive.
pub fn archive_command(archive: &Path) -> String {
    let to = archive.display();
    format!("archive_command=test ! -f {to}/%f && cp %p {to}/%f.new && mv {to}/%f.new {to}/%f")
}

/// A copy of a data directory takes the place of a server's, which is not running.
pub fn copy_into(from: &Path, server: &mut Server) {
    let _ = fs::remove_dir_all(server.data());
    copy(from, &server.data());
}

/// A copy of the data of a server that is stopped for it.
pub fn base_copy(server: &mut Server, name: &str) -> PathBuf {
    server.stop();
    let base = server.file(name);
    copy(&server.data(), &base);
    let _ = fs::remove_dir_all(base.join("pg_wal"));
    fs::create_dir(base.join("pg_wal")).unwrap();
    server.run();
    base
}

/// A server on a copy of the data that recovers an archive, not started yet.
pub fn restored(base: &Path, archive: &Path, settings: &[&str]) -> Server {
    let mut server = Server::without_data();
    copy_into(base, &mut server);
    fs::write(server.data().join("recovery.signal"), "").unwrap();
    let command = format!("restore_command=cp {}/%f %p", archive.display());
    for setting in ["autovacuum=off", &command, "recovery_target_action=promote"].iter().chain(settings) {
        server.set_option(setting);
    }
    server
}

/// All log so far is in the archive on return.
pub fn archived(client: &mut Client, archive: &Path) {
    let last = client.value("select pg_walfile_name(pg_switch_wal())");
    until("the last file is archived", || archive.join(&last).exists());
}
