//! How far statements reach: which files of the machine they may name, and whether they run programs (`stampede.allow_root_access`).

use std::path::Path;

use base::{SqlResult, TABLESPACE_VERSION, sql_err};
use runtime::fs::canonical;

use crate::Session;

/// Fails for a file that no statement of this server reaches.
pub fn check_file(session: &Session, path: &str) -> SqlResult<()> {
    match session.instance().files_within() {
        Some(folder) => check_within(session, Path::new(path), folder),
        None => Ok(()),
    }
}

/// Whether a place is in the folder that has the files of a tablespace, which are the server's own wherever they lie, or a path is where one lies: that has a
/// name in the data directory, but nothing may be made beside the folder.
fn is_in_tablespace(session: &Session, path: &Path, place: &Path) -> SqlResult<bool> {
    let (tablespaces, whole) = (session.engine().tablespaces()?, canonical(path).ok());
    let mut locations =
        tablespaces.into_iter().filter_map(|tablespace| canonical(&tablespace.location?).ok());
    Ok(locations.any(|location| {
        place.starts_with(location.join(TABLESPACE_VERSION)) || whole.as_ref() == Some(&location)
    }))
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

/// Fails unless a file, or the folder in which it is to be created, lies in the folder that statements are confined to, or in a tablespace.
fn check_within(session: &Session, path: &Path, folder: &Path) -> SqlResult<()> {
    let place = canonical(path).or_else(|_| canonical(path.parent().unwrap_or(path)));
    // What is nowhere is opening's to tell.
    let (Ok(place), Ok(folder)) = (place, canonical(folder)) else { return Ok(()) };
    if place.starts_with(folder) || is_in_tablespace(session, path, &place)? {
        return Ok(());
    }
    Err(sql_err!(INSUFFICIENT_PRIVILEGE, "permission denied for file \"{}\"", path.display())
        .detail("The server runs as root, and statements reach no files outside the data directory then.")
        .hint(ROOT_HINT))
}
