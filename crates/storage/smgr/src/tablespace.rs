//! Tablespaces that users made, as folders and links.
//!
//! `pg_tblspc/N` is a symbolic link to where the tablespace lies, or a folder, if it lies *in place*. Below it is a folder of one name
//! ([`TABLESPACE_VERSION`]), in which are folders of databases, as in `base`.

use std::io;
use std::path::{Path, PathBuf};

use base::{Oid, RelFile, TABLESPACE_VERSION, stop_point, tablespace_folder};
use runtime::fs;

use crate::{Smgr, SmgrError, SmgrResult};

const UNFINISHED_PREFIX: &str = "tablespace_";
const UNFINISHED_SUFFIX: &str = ".unfinished";

/// Where all of them are.
pub const TABLESPACES: &str = "pg_tblspc";

/// The tablespaces that may have relations of databases: `pg_default`, and those that users made.
pub fn tablespaces(data_dir: &Path) -> io::Result<Vec<Oid>> {
    let entries = fs::read_dir(&data_dir.join(TABLESPACES))?;
    let own = entries.iter().filter_map(|entry| entry.name.parse().ok()).map(Oid);
    Ok(std::iter::once(Oid::PG_DEFAULT).chain(own).collect())
}

/// The name by which the server finds a tablespace.
pub fn tablespace_link(data_dir: &Path, tablespace: Oid) -> PathBuf {
    data_dir.join(format!("{TABLESPACES}/{tablespace}"))
}

/// The file that says that a tablespace may not have been made; it is the last of it that goes.
pub fn unfinished_tablespace(data_dir: &Path, tablespace: Oid) -> PathBuf {
    data_dir.join(format!("global/{UNFINISHED_PREFIX}{tablespace}{UNFINISHED_SUFFIX}"))
}

/// The tablespaces that have such files.
pub fn unfinished_tablespaces(data_dir: &Path) -> io::Result<Vec<Oid>> {
    let number = |name: &str| -> Option<Oid> {
        name.strip_prefix(UNFINISHED_PREFIX)?.strip_suffix(UNFINISHED_SUFFIX)?.parse().ok().map(Oid)
    };
    Ok(fs::read_dir(&data_dir.join("global"))?.iter().filter_map(|entry| number(&entry.name)).collect())
}

/// Where a tablespace lies; none if it is in place.
pub fn tablespace_location(data_dir: &Path, tablespace: Oid) -> io::Result<Option<PathBuf>> {
    fs::read_link(&tablespace_link(data_dir, tablespace))
}

/// Whether a tablespace has any file.
pub fn has_files(data_dir: &Path, tablespace: Oid) -> io::Result<bool> {
    let folder = data_dir.join(tablespace_folder(tablespace));
    let is_missing = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
    let databases = match fs::read_dir(&folder) {
        Err(error) if is_missing(&error) => return Ok(false),
        entries => entries?,
    };
    for database in &databases {
        match fs::read_dir(&folder.join(&database.name)) {
            Ok(entries) if entries.is_empty() => {}
            Err(error) if is_missing(&error) => {}
            Err(error) if database.is_dir => return Err(error),
            _ => return Ok(true),
        }
    }
    Ok(false)
}

/// Makes what is missing of a tablespace; durable on return. An empty location: in place. What `pg_tblspc` has under its name and leads elsewhere goes.
pub fn make_tablespace(data_dir: &Path, tablespace: Oid, location: &Path) -> io::Result<()> {
    let link = tablespace_link(data_dir, tablespace);
    let missing = |result: io::Result<()>| match result {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        done => done.map(|()| true),
    };
    if !location.as_os_str().is_empty() {
        if missing(fs::create_dir(&location.join(TABLESPACE_VERSION)))? {
            fs::sync_dir(location)?;
        }
        stop_point!("tablespace-before-link");
        return link_tablespace(data_dir, tablespace, location);
    }
    missing(fs::create_dir(&link))?;
    if missing(fs::create_dir(&link.join(TABLESPACE_VERSION)))? {
        fs::sync_dir(&link)?;
    }
    fs::sync_dir(&data_dir.join(TABLESPACES))
}

/// Makes the link of a tablespace; durable on return. What leads elsewhere under its name goes.
pub fn link_tablespace(data_dir: &Path, tablespace: Oid, location: &Path) -> io::Result<()> {
    let link = tablespace_link(data_dir, tablespace);
    match fs::symlink(location, &link) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            if fs::read_link(&link)?.is_none_or(|to| to != location) {
                remove_link(&link)?;
                fs::symlink(location, &link)?;
            }
        }
        done => done?,
    }
    fs::sync_dir(&data_dir.join(TABLESPACES))
}

/// Removes what stands under a tablespace's name: a link, or an empty folder.
fn remove_link(link: &Path) -> io::Result<()> {
    match fs::read_link(link)? {
        Some(_) => fs::remove_file(link),
        None => fs::remove_dir(link),
    }
}

impl Smgr {
    /// Removes a tablespace, which has no files of relations any more. One that is gone is no error.
    pub fn remove_tablespace(&self, tablespace: Oid) -> SmgrResult<()> {
        let whole = RelFile::whole_tablespace(tablespace).to_string();
        let failed = |error: io::Error| SmgrError::io("remove directory", &whole, &error);
        let optional = |result: io::Result<()>| match result {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            done => done.map_err(failed),
        };
        stop_point!("tablespace-before-removal");
        optional(fs::remove_dir_all(&self.dir.join(tablespace_folder(tablespace))))?;
        stop_point!("tablespace-before-link-goes");
        optional(remove_link(&tablespace_link(&self.dir, tablespace)))?;
        fs::sync_dir(&self.dir.join(TABLESPACES)).map_err(failed)?;
        optional(fs::remove_file(&unfinished_tablespace(&self.dir, tablespace)))
    }
}
