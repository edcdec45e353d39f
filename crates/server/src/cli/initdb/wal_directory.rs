//! `--waldir`: the log in a directory of its own, which `pg_wal` is a symbolic link to.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use runtime::fs;

/// Reads the flag's value.
pub(super) fn parse(value: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(value);
    if !path.is_absolute() {
        return Err("WAL directory location must be an absolute path".into());
    }
    Ok(path)
}

/// Makes the directory, unless it is there and empty, and the link to it in the data directory. Says whether it was there.
pub(super) fn prepare(wal: &Path, data: &Path, say: &dyn Fn(&str)) -> Result<bool, String> {
    let shown = wal.display();
    let failed = |what: &str, error: &std::io::Error| {
        format!("could not {what} \"{shown}\": {}", base::os_error(error))
    };
    let existed = match fs::read_dir(wal) {
        Ok(entries) if entries.is_empty() => {
            say(&format!("fixing permissions on existing directory {shown} ... "));
            fs::set_permissions(wal, fs::directory_mode())
                .map_err(|error| failed("change permissions of directory", &error))?;
            true
        }
        Ok(_) => {
            return Err(format!(
                "directory \"{shown}\" exists but is not empty\n\
                 initdb: hint: If you want to store the WAL there, either remove or empty the directory \"{shown}\"."
            ));
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            say(&format!("creating directory {shown} ... "));
            fs::create_dir_all(wal).map_err(|error| failed("create directory", &error))?;
            false
        }
        Err(error) => return Err(failed("access directory", &error)),
    };
    let link = data.join("pg_wal");
    fs::symlink(wal, &link).map_err(|error| {
        format!("could not create symbolic link \"{}\": {}", link.display(), base::os_error(&error))
    })?;
    say("ok\n");
    Ok(existed)
}
