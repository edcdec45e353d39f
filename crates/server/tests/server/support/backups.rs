//! Base backups over the protocol, as folders, and servers on them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::client::message;
use super::{Client, Server, output, text};

/// What the server answers to a command of replication, and to the manifest that it may ask for: the error, if there is one.
pub fn ask(client: &mut Client, command: &str, manifest: &str) -> String {
    client.send(&message(b'Q', format!("{command}\0").as_bytes())).unwrap();
    let mut error = String::new();
    loop {
        let (kind, body) = client.message().unwrap();
        match kind {
            b'G' => {
                // In pieces, as PostgreSQL's program sends it.
                for piece in manifest.as_bytes().chunks(1000) {
                    client.send(&message(b'd', piece)).unwrap();
                }
                client.send(&message(b'c', b"")).unwrap();
            }
            b'E' => error = String::from_utf8_lossy(&body).replace('\0', " "),
            b'Z' => return error,
            _ => {}
        }
    }
}

/// Takes an archive apart.
pub fn unpack(archive: &Path, folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).unwrap();
    let unpacked = output(Command::new("tar").arg("-xf").arg(archive).arg("-C").arg(folder));
    assert!(unpacked.status.success(), "{}", text(&unpacked));
}

/// A backup in archives of the server's, based on an earlier one if there is one, with more options.
pub fn stored(server: &Server, name: &str, earlier: Option<&Path>, more: &str) -> PathBuf {
    let folder = server.file(name);
    let mut client = server.connect(&[("replication", "1")]).unwrap();
    if let Some(earlier) = earlier {
        let manifest = fs::read_to_string(earlier.join("backup_manifest")).unwrap();
        assert_eq!(ask(&mut client, "UPLOAD_MANIFEST", &manifest), "");
    }
    let command = format!(
        "BASE_BACKUP (CHECKPOINT 'fast', WAL, MANIFEST 'yes', TARGET 'server', TARGET_DETAIL '{}', INCREMENTAL {}{more})",
        folder.display(),
        earlier.is_some()
    );
    assert_eq!(ask(&mut client, &command, ""), "");
    folder
}

/// A backup as a folder, based on an earlier one if there is one. `tablespaces`: OIDs, and where they come to lie.
pub fn backup(
    server: &Server,
    name: &str,
    earlier: Option<&Path>,
    tablespaces: &[(&str, PathBuf)],
) -> PathBuf {
    let (folder, stored) = (server.file(name), stored(server, &format!("{name}.tar"), earlier, ""));
    unpack(&stored.join("base.tar"), &folder);
    fs::rename(stored.join("backup_manifest"), folder.join("backup_manifest")).unwrap();
    for (oid, place) in tablespaces {
        unpack(&stored.join(format!("{oid}.tar")), place);
        let link = folder.join("pg_tblspc").join(oid);
        if place != &link {
            fs::remove_file(&link).unwrap();
            std::os::unix::fs::symlink(place, &link).unwrap();
        }
    }
    folder
}

/// A server on what was a backup.
pub fn started(folder: &Path) -> Server {
    let mut restored = Server::without_data();
    fs::rename(folder, restored.data()).unwrap();
    restored.set_option("autovacuum=off");
    restored.run();
    restored
}
