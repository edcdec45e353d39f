//! What `initdb` makes of a data directory besides its contents, and what a server on it keeps to.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::support::{Server, output, text};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn the_group_may_read_what_is_made_later_too() {
    for (options, directory, file) in [(&["-g"][..], 0o750, 0o640), (&[][..], 0o700, 0o600)] {
        let mut server = Server::init_anew(options);
        server.run();
        let path = server.client().value("create table t (); select pg_relation_filepath('t')");
        assert_eq!(mode(&server.data()), directory);
        assert_eq!(mode(&server.data().join("base/1")), directory);
        assert_eq!(mode(&server.data().join(path)), file);
        let shown = server.client().value("show data_directory_mode");
        assert_eq!(shown, format!("0{directory:o}"));
    }
}

#[test]
fn the_log_has_a_directory_of_its_own() {
    let place = std::env::temp_dir().join(format!("stampede-wal-{}", std::process::id()));
    let _ = fs::remove_dir_all(&place);
    let mut server = Server::init_anew(&["-X", place.to_str().unwrap()]);
    assert_eq!(fs::read_link(server.data().join("pg_wal")).unwrap(), place);
    server.run();
    server.client().query("create table t (a int); insert into t values (7)").unwrap();
    server.kill();
    server.run();
    assert_eq!(server.client().value("select a from t"), "7");

    // A second data directory may not have the same one, and what initdb had begun to make is gone again.
    let other = server.file("other");
    let refused = output(server.program("initdb").arg("-D").arg(&other).arg("-X").arg(&place));
    assert!(text(&refused).contains("exists but is not empty"), "{}", text(&refused));
    assert!(!other.exists());
    let synced = output(server.program("initdb").arg("-S").arg("-D").arg(server.data()));
    assert!(synced.status.success(), "{}", text(&synced));
    drop(server);
    fs::remove_dir_all(place).unwrap();
}

/// `initdb | head`.
#[test]
fn who_no_longer_listens_ends_no_program_halfway() {
    let mut server = Server::init(&[]);
    let unheard = |command: &mut std::process::Command| {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let done = command.stdout(writer).stderr(std::process::Stdio::piped()).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&done.stderr), "");
        done.status.code()
    };
    let other = server.file("other");
    assert_eq!(
        unheard(server.program("initdb").args(["--auth-local=peer", "--auth-host=reject", "-D"]).arg(&other)),
        Some(0)
    );
    assert!(other.join("postgresql.conf").exists());
    server.run();
    server.stop();
    let mut files = fs::read_dir(server.data().join("pg_wal")).unwrap().map(|file| file.unwrap().path());
    let log = files.find(|path| path.is_file()).unwrap();
    assert_eq!(unheard(server.program("stampede").arg("waldump").arg(log)), Some(0));
    fs::remove_dir_all(other).unwrap();
}
