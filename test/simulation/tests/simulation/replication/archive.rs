//! The archive: a folder of the simulated disk that is no machine's, and the commands that put files there and fetch them.

use std::io;
use std::path::Path;

use runtime::fs::{self, File, OpenOptions};
use runtime::program::Exit;
use runtime::sim::programs;

/// Where the archive is.
pub const DIR: &str = "/archive";
/// Bytes that are copied at once; a crash may come in between.
const PIECE: usize = 16 << 10;

/// `archive_command` that puts a file in place when it is whole.
pub const CAREFUL: &str = "put-whole %p %f";
/// `archive_command` that copies over what is there, as `cp` does: a crash leaves half a file, and who fetches one meanwhile gets half of it.
pub const CARELESS: &str = "put %p %f";
/// `restore_command`.
pub const RESTORE: &str = "get %f %p";

/// Makes the commands known.
pub fn install() {
    programs::answer_with(|command, dir| {
        let words: Vec<&str> = command.split_whitespace().collect();
        let archived = |name: &str| Path::new(DIR).join(name);
        let done = match words.as_slice() {
            ["put", path, name] => copy(&dir.join(path), &archived(name)),
            ["put-whole", path, name] => put_whole(&dir.join(path), &archived(name)),
            ["get", name, path] => copy(&archived(name), &dir.join(path)),
            _ => panic!("unknown command: {command}"),
        };
        match done {
            Ok(()) => Exit::Code(0),
            Err(_) => Exit::Code(1),
        }
    });
}

/// What `cp` does.
pub fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let from = File::open(from, OpenOptions::READ)?;
    let to = File::open(to, OpenOptions::TRUNCATE)?;
    let (mut piece, mut at) = (vec![0; PIECE], 0);
    loop {
        let read = from.read_at(&mut piece, at)?;
        if read == 0 {
            return to.sync_all();
        }
        to.write_all_at(&piece[..read], at)?;
        at += read as u64;
    }
}

fn put_whole(from: &Path, to: &Path) -> io::Result<()> {
    if fs::exists(to)? {
        // A crash came before the server had noted it.
        return match fs::read_to_vec(to)? == fs::read_to_vec(from)? {
            true => Ok(()),
            false => Err(io::ErrorKind::AlreadyExists.into()),
        };
    }
    let half = to.with_extension("half");
    copy(from, &half)?;
    fs::rename(&half, to)?;
    fs::sync_dir(Path::new(DIR))
}
