//! Whether a data directory may be served: its version, its owner, who else may enter it; and what a server that runs as root gives away.
//!
//! PostgreSQL counterpart: `checkDataDir`, `ValidatePgVersion`. PostgreSQL never runs as root; containers that know no other user do.

use std::path::Path;

use base::settings::{ServerSettings, Setting};
use base::{Severity, SqlError, SqlResult, SqlState};

use crate::log;

/// Permissions that a data directory may not give: writing for its group, anything for others.
const FORBIDDEN: u32 = 0o027;

/// Permissions that let the group read, as `initdb --allow-group-access` gives them.
const FOR_GROUP: u32 = 0o050;

/// Fails unless the directory is there, is ours alone and of this version.
pub fn check(dir: &Path) -> SqlResult<()> {
    let shown = dir.display();
    let refuse = |message: String| SqlError::fatal(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, message);
    let Ok(facts) = runtime::fs::metadata(dir) else {
        return Err(refuse(format!("data directory \"{shown}\" does not exist")));
    };
    if !facts.is_dir {
        return Err(refuse(format!("specified data directory \"{shown}\" is not a directory")));
    }
    if facts.owner != effective_user() {
        return Err(refuse(format!("data directory \"{shown}\" has wrong ownership"))
            .hint("The server must be started by the user that owns the data directory."));
    }
    if facts.mode & FORBIDDEN != 0 {
        return Err(refuse(format!("data directory \"{shown}\" has invalid permissions"))
            .detail("Permissions should be u=rwx (0700) or u=rwx,g=rx (0750)."));
    }
    give_group_access(facts.mode & FOR_GROUP == FOR_GROUP);
    check_version(dir)
}

/// What the server makes has the permissions of its data directory, whatever mask it was started with.
fn give_group_access(allowed: bool) {
    runtime::fs::set_group_access(allowed);
    let mask = if allowed { FORBIDDEN } else { 0o077 };
    // SAFETY: plain system call that cannot fail.
    unsafe { libc::umask(mask) };
}

/// File with the secret that salts of users who do not exist are made of.
const MOCK_SECRET: &str = "global/mock_authentication_nonce";

/// The secret of this cluster that salts of users who do not exist are made of: always the same, or a restart would tell who exists. Made by
/// the first server that asks.
pub fn mock_secret(dir: &Path) -> SqlResult<[u8; 32]> {
    let path = dir.join(MOCK_SECRET);
    if let Some(secret) = runtime::fs::read_to_vec(&path).ok().and_then(|bytes| bytes.try_into().ok()) {
        return Ok(secret);
    }
    let mut secret = [0; 32];
    runtime::spawn::fill_random(&mut secret);
    runtime::fs::write_file_durably(&path, &secret).map_err(|error| {
        let why = base::os_error(&error);
        SqlError::fatal(SqlState::IO_ERROR, format!("could not write file \"{MOCK_SECRET}\": {why}"))
    })?;
    Ok(secret)
}

fn check_version(dir: &Path) -> SqlResult<()> {
    let version = dir.join("PG_VERSION");
    let text = runtime::fs::read_to_string(&version).map_err(|_| {
        SqlError::fatal(
            SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
            format!("\"{}\" is not a valid data directory", dir.display()),
        )
        .detail(format!("File \"{}\" is missing.", version.display()))
    })?;
    let major = crate::PG_VERSION.split('.').next().unwrap_or_default();
    if text.trim().parse::<u32>().is_err() {
        return Err(SqlError::fatal(
            SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
            format!("\"{}\" is not a valid data directory", dir.display()),
        )
        .detail(format!("File \"{}\" does not contain valid data.", version.display()))
        .hint("You might need to initdb."));
    }
    if text.trim() != major {
        return Err(SqlError::fatal(
            SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
            "database files are incompatible with server",
        )
        .detail(format!(
            "The data directory was initialized by PostgreSQL version {}, which is not compatible with this \
             version {}.",
            text.trim(),
            crate::PG_VERSION
        )));
    }
    Ok(())
}

/// Whether users of this server reach files outside the data directory: not if it runs as root, unless the setting says so. Warns in the log
/// about a server that runs as root.
pub fn gives_files(settings: &ServerSettings) -> bool {
    if effective_user() != 0 {
        return true;
    }
    let allowed = settings.bool(Setting::stampede_allow_root_access);
    let files = match allowed {
        true => "and \"stampede.allow_root_access\" lets its superusers reach every file of this machine",
        false => {
            "statements reach no files outside the data directory, unless \"stampede.allow_root_access\" is set"
        }
    };
    let message = format!("the server runs as root, which is not recommended; {files}");
    log::report(&SqlError::with_severity(Severity::Warning, SqlState::WARNING, message), None, None);
    allowed
}

fn effective_user() -> u32 {
    // SAFETY: plain system call without arguments.
    unsafe { libc::geteuid() }
}
