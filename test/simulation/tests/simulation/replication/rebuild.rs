//! A new standby from a running server, as a base backup makes it: files are copied while they change, and recovery makes them whole.

use std::path::{Path, PathBuf};

use runtime::fs;

use super::archive::copy;
use super::node::Node;

/// What a copy leaves behind.
const OWN: &[&str] = &["postmaster.pid", "standby.signal", "backup_label.old", "promote", "pg_replslot"];

/// Makes the data directory of `to` a copy of that of `from`, which runs.
pub fn rebuild(from: &Node, to: &Node) {
    let client = from.connect(4).expect("the server is up");
    client.run("select pg_backup_start('rebuild', true)").expect("a backup begins");
    fs::remove_dir_all(to.dir()).expect("there is a directory");
    fs::create_dir_all(to.dir()).expect("there is room");
    copy_folder(from.dir(), to.dir(), &PathBuf::new());
    let label = client.run("select labelfile from pg_backup_stop(false)").expect("the backup ends");
    fs::write_file_durably(&to.dir().join("backup_label"), label.join("\n").as_bytes())
        .expect("there is room");
    client.close();
}

fn copy_folder(from: &Path, to: &Path, below: &Path) {
    for entry in fs::read_dir(&from.join(below)).expect("a folder") {
        let path = below.join(&entry.name);
        if OWN.contains(&entry.name.as_str()) && below.as_os_str().is_empty() && !entry.is_dir {
            continue;
        }
        let is_log = path.starts_with("pg_wal");
        match entry.is_dir {
            true => {
                fs::create_dir_all(&to.join(&path)).expect("there is room");
                copy_folder(from, to, &path);
            }
            false if is_log => {}
            // What is gone meanwhile is not needed.
            false => match copy(&from.join(&path), &to.join(&path)) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                copied => copied.expect("a file is copied"),
            },
        }
    }
}
