//! How far statements reach: which files of the machine they may name, and whether they run programs (`stampede.allow_root_access`).

use std::path::Path;

use base::{SqlResult, sql_err};

use crate::Session;

/// Fails for a file that no statement of this server reaches.
pub fn check_file(session: &Session, path: &str) -> SqlResult<()> {
    match session.instance().files_within() {
        Some(folder) => check_within(Path::new(path), folder),
        None => Ok(()),
    }
}

/// Fails where statements run no programs.
pub fn check_programs(session: &Session) -> SqlResult<()> {
    if session.instance().files_within().is_none() {
        return Ok(());
    }
    Err(sql_err!(INSUFFICIENT_PRIVILEGE, "permission denied to run a program")
        .detail("The server runs as root, and COPY runs no programs then.")
        .hint(ROOT_HINT))
}

/// What to do about a server that runs as root.
const ROOT_HINT: &str =
    "Run the server as another user, or set \"stampede.allow_root_access\" when it starts.";

/// Fails unless a file, or the folder in which it is to be created, lies in the folder that statements are confined to.
fn check_within(path: &Path, folder: &Path) -> SqlResult<()> {
    use runtime::fs::canonical;
    let place = canonical(path).or_else(|_| canonical(path.parent().unwrap_or(path)));
    let within = canonical(folder).and_then(|folder| Ok(place?.starts_with(folder)));
    // What is nowhere is opening's to tell.
    if !within.is_ok_and(|within| !within) {
        return Ok(());
    }
    Err(sql_err!(INSUFFICIENT_PRIVILEGE, "permission denied for file \"{}\"", path.display())
        .detail("The server runs as root, and statements reach no files outside the data directory then.")
        .hint(ROOT_HINT))
}
