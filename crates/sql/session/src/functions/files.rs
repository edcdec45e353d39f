//! Functions that list and read files of the server.
//!
//! # Invariants
//! 1. Who is not a member of `pg_read_server_files` reaches the data directory and the folder of the log only, by whichever path.
//! 2. A server that runs as root reaches its data directory only, unless it is told otherwise.
//!
//! # PostgreSQL counterpart
//! `utils/adt/genfile.c`.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use base::settings::Setting;
use base::{Oid, SqlError, SqlResult, os, sql_err};
use catalog::predefined;
use catalog::system::pg_tablespace;
use runtime::fs::{File, Metadata, OpenOptions};
use tuple::Datum;
use types::SessionFn;

use super::{Row, arg};
use crate::Session;

/// `pg_tablespace.oid` of `pg_default`, whose folder has the temporary files.
const PG_DEFAULT: Oid = Oid(1663);

/// Longest value, in bytes.
const LONGEST: i64 = 0x3fff_ffff - 4;

/// Bytes read between two looks for interrupts.
const AT_ONCE: usize = 1 << 20;

impl Session {
    pub(super) fn file_function(&self, id: SessionFn, args: &[Datum]) -> SqlResult<Option<Datum>> {
        let bytes = match id {
            SessionFn::PgReadFile | SessionFn::PgReadBinaryFile => self.read_file(args)?,
            _ => return Ok(None),
        };
        Ok(Some(match (bytes, id) {
            (None, _) => Datum::Null,
            (Some(bytes), SessionFn::PgReadFile) => Datum::text(&types::encoding::text_of(&bytes)?),
            (Some(bytes), _) => Datum::Bytes(bytes.into()),
        }))
    }

    pub(super) fn file_rows(&self, id: SessionFn, args: &[Datum]) -> SqlResult<Option<Vec<Row>>> {
        Ok(Some(match id {
            SessionFn::PgStatFile => vec![self.file_facts(arg(args, 0), is_true(args, 1))?],
            SessionFn::PgLsDir => self.names_in(arg(args, 0), is_true(args, 1), is_true(args, 2))?,
            SessionFn::PgLsWaldir => self.plain_files_in("pg_wal", false)?,
            SessionFn::PgLsArchiveStatusdir => self.plain_files_in("pg_wal/archive_status", true)?,
            SessionFn::PgLsSummariesdir => self.plain_files_in("pg_wal/summaries", true)?,
            SessionFn::PgLsLogdir => {
                let folder = self.settings.borrow().text(Setting::log_directory).to_owned();
                self.plain_files_in(&folder, false)?
            }
            SessionFn::PgLsTmpdir => self.temporary_files(args)?,
            _ => return Ok(None),
        }))
    }

    /// Where a path leads, if the user may go there.
    fn reachable(&self, path: &str) -> SqlResult<PathBuf> {
        let (data, path) = (self.engine().dir(), canonical(path));
        let refuse = |message: &str| Err(sql_err!(INSUFFICIENT_PRIVILEGE, "{message}"));
        if !self.has_role(predefined::READ_SERVER_FILES)? {
            let settings = self.settings.borrow();
            let log = Path::new(settings.text(Setting::log_directory));
            let in_log = log.is_absolute() && path.starts_with(log);
            if path.is_absolute() && !path.starts_with(data) && !in_log {
                return refuse("absolute path not allowed");
            }
            if path.starts_with("..") {
                return refuse("path must be in or below the data directory");
            }
        }
        let place = data.join(path);
        crate::reach::check_file(self, &place.to_string_lossy())?;
        Ok(place)
    }

    /// `pg_read_file(name [, offset, length] [, missing_ok])`.
    fn read_file(&self, args: &[Datum]) -> SqlResult<Option<Vec<u8>>> {
        let name: &str = arg(args, 0);
        let (part, missing_ok) = match args.len() {
            1 | 2 => (None, is_true(args, 1)),
            _ => (Some((arg::<i64>(args, 1), arg::<i64>(args, 2))), is_true(args, 3)),
        };
        if part.is_some_and(|(_, length)| length < 0) {
            return Err(sql_err!(INVALID_PARAMETER_VALUE, "requested length cannot be negative"));
        }
        let place = self.reachable(name)?;
        let failed =
            |what: &str, error: &io::Error| file_error(&format!("could not {what} \"{name}\""), error);
        let file = match File::open(&place, OpenOptions::READ) {
            Err(error) if missing_ok && error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                let what = format!("could not open file \"{name}\" for reading");
                return Err(file_error(&what, &error));
            }
            Ok(file) => file,
        };
        let len = file.len().map_err(|error| failed("stat file", &error))?;
        let (start, wanted) = match part {
            None => (0, LONGEST.saturating_add(1)),
            Some((offset, length)) if offset >= 0 => (offset as u64, length),
            Some((offset, length)) => match len.checked_sub(offset.unsigned_abs()) {
                Some(start) => (start, length),
                None => return Err(failed("seek in file", &io::Error::from_raw_os_error(INVALID))),
            },
        };
        if part.is_some() && wanted > LONGEST {
            return Err(sql_err!(INVALID_PARAMETER_VALUE, "requested length too large"));
        }
        let bytes = read(&file, start, wanted as usize).map_err(|error| match error {
            Stopped::Interrupted(error) => error,
            Stopped::Failed(error) => failed("read file", &error),
        })?;
        if bytes.len() as i64 > LONGEST {
            return Err(sql_err!(PROGRAM_LIMIT_EXCEEDED, "file length too large"));
        }
        Ok(Some(bytes))
    }

    /// A row of `pg_stat_file`.
    fn file_facts(&self, name: &str, missing_ok: bool) -> SqlResult<Row> {
        let found = match runtime::fs::metadata(&self.reachable(name)?) {
            Err(error) if missing_ok && error.kind() == ErrorKind::NotFound => {
                return Ok(vec![Datum::Null; 6]);
            }
            Err(error) => return Err(file_error(&format!("could not stat file \"{name}\""), &error)),
            Ok(found) => found,
        };
        let [accessed, modified, changed] = found.times.map(moment);
        let size = Datum::Int8(found.len as i64);
        // When a file was made is not known.
        Ok(vec![size, accessed, modified, changed, Datum::Null, found.is_dir.into()])
    }

    /// Rows of `pg_ls_dir`.
    fn names_in(&self, name: &str, missing_ok: bool, dots: bool) -> SqlResult<Vec<Row>> {
        let entries = match runtime::fs::read_dir(&self.reachable(name)?) {
            Err(error) if missing_ok && error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(directory_error(name, &error)),
            Ok(entries) => entries,
        };
        let dots = if dots { &[".", ".."][..] } else { &[] };
        let names = dots.iter().copied().chain(entries.iter().map(|entry| entry.name.as_str()));
        Ok(names.map(|name| vec![Datum::text(name)]).collect())
    }

    /// The plain files in a folder of the server, with sizes and times; hidden ones are left out.
    fn plain_files_in(&self, folder: &str, missing_ok: bool) -> SqlResult<Vec<Row>> {
        let place = self.engine().dir().join(folder);
        let entries = match runtime::fs::read_dir(&place) {
            Err(error) if missing_ok && error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(directory_error(folder, &error)),
            Ok(entries) => entries,
        };
        let mut rows = Vec::with_capacity(entries.len());
        for entry in entries.iter().filter(|entry| !entry.is_dir && !entry.name.starts_with('.')) {
            runtime::check_interrupts()?;
            match runtime::fs::metadata(&place.join(&entry.name)) {
                // It went away meanwhile.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => {
                    let what = format!("could not stat file \"{folder}/{}\"", entry.name);
                    return Err(file_error(&what, &error));
                }
                Ok(found) if found.is_file => rows.push(file_row(&entry.name, &found)),
                Ok(_) => {}
            }
        }
        Ok(rows)
    }

    /// Rows of `pg_ls_tmpdir`.
    fn temporary_files(&self, args: &[Datum]) -> SqlResult<Vec<Row>> {
        let tablespace = args.first().map_or(PG_DEFAULT, |_| Oid(arg(args, 0)));
        let index = pg_tablespace::PG_TABLESPACE_OID_INDEX;
        let key = [tablespace.into()];
        if self.with_reader(|r| r.find_one(&pg_tablespace::TABLE, index, &key))?.is_none() {
            return Err(sql_err!(UNDEFINED_OBJECT, "tablespace with OID {tablespace} does not exist"));
        }
        let tablespace = if tablespace == Oid::PG_GLOBAL { PG_DEFAULT } else { tablespace };
        self.plain_files_in(&engine::temporary_folder(tablespace), true)
    }
}

/// EINVAL.
const INVALID: i32 = 22;

/// Why reading ended early.
enum Stopped {
    Interrupted(SqlError),
    Failed(io::Error),
}

/// At most so many bytes from a place in a file.
fn read(file: &File, start: u64, most: usize) -> Result<Vec<u8>, Stopped> {
    let mut bytes = Vec::new();
    while bytes.len() < most {
        runtime::check_interrupts().map_err(|interrupt| Stopped::Interrupted(interrupt.into()))?;
        let before = bytes.len();
        bytes.resize(before + AT_ONCE.min(most - before), 0);
        let read = file.read_at(&mut bytes[before..], start + before as u64).map_err(Stopped::Failed)?;
        bytes.truncate(before + read);
        if read == 0 {
            break;
        }
    }
    Ok(bytes)
}

/// Argument `i`, false where it is not given.
fn is_true(args: &[Datum], i: usize) -> bool {
    matches!(args.get(i), Some(Datum::Bool(true)))
}

/// A path without `.`, and without `..` but at its beginning.
fn canonical(path: &str) -> PathBuf {
    use std::path::Component;
    let mut out = PathBuf::new();
    for component in Path::new(path).components() {
        match (component, out.components().next_back()) {
            (Component::CurDir, _) | (Component::ParentDir, Some(Component::RootDir)) => {}
            (Component::ParentDir, Some(Component::Normal(_))) => drop(out.pop()),
            (component, _) => out.push(component),
        }
    }
    out
}

/// Microseconds since 1970 as a `timestamptz` of whole seconds.
fn moment(micros: i64) -> Datum {
    Datum::Int8(micros - micros.rem_euclid(1_000_000) + types::timestamp::EPOCH)
}

fn file_row(name: &str, found: &Metadata) -> Row {
    vec![Datum::text(name), Datum::Int8(found.len as i64), moment(found.times[1])]
}

fn file_error(what: &str, error: &io::Error) -> SqlError {
    os::file_error(error.kind(), os::is_transient(error), format!("{what}: {}", os::os_error(error)))
}

fn directory_error(name: &str, error: &io::Error) -> SqlError {
    file_error(&format!("could not open directory \"{name}\""), error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_where_they_say() {
        for (path, place) in [
            ("base/./1/../2", "base/2"),
            ("a/../../b", "../b"),
            ("../../x", "../../x"),
            ("/a/../../etc", "/etc"),
            (".", ""),
        ] {
            assert_eq!(canonical(path), Path::new(place), "{path}");
        }
    }
}
