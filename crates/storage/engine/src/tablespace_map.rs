//! # What
//! The file `tablespace_map` of a backup: where tablespaces lie. A copy whose archives have no links gets its links of it at the first start.
//!
//! # Layout
//! A line for each tablespace that does not lie in the data directory: OID, a space, the location. A backslash stands before line ends and backslashes in a location.
//!
//! # Invariants
//! 1. Links are made before anything looks into a tablespace: one that was copied may lead to the tablespace of the server that was backed up.
//! 2. The file counts only beside a backup's label, and goes aside with it.
//!
//! # PostgreSQL counterpart
//! `read_tablespace_map` in `xlogrecovery.c`.

use std::io;
use std::path::{Path, PathBuf};

use base::Oid;
use runtime::fs;

use crate::EngineError;
use crate::backup::{LABEL, TABLESPACE_MAP, Tablespace};

const OLD: &str = "tablespace_map.old";

/// The file's text.
pub(crate) fn text(tablespaces: &[Tablespace]) -> String {
    let mut text = String::new();
    for Tablespace { oid, location } in tablespaces {
        let Some(location) = location else { continue };
        text.push_str(&format!("{oid} "));
        for letter in location.to_string_lossy().chars() {
            if ['\n', '\r', '\\'].contains(&letter) {
                text.push('\\');
            }
            text.push(letter);
        }
        text.push('\n');
    }
    text
}

/// Reads the file's text; none if it is damaged.
fn parse(text: &str) -> Option<Vec<(Oid, PathBuf)>> {
    let (mut found, mut line) = (Vec::new(), String::new());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => line.push(letters.next()?),
            '\n' | '\r' if line.is_empty() => {}
            '\n' | '\r' => {
                let (oid, location) = line.split_once(' ')?;
                let oid = oid.parse().ok().filter(|oid| *oid != 0).map(Oid)?;
                found.push((oid, PathBuf::from(location)));
                line.clear();
            }
            letter => line.push(letter),
        }
    }
    line.is_empty().then_some(found)
}

/// Makes the links that the map of a backup asks for, if there is one.
pub(crate) fn follow(dir: &Path) -> Result<(), EngineError> {
    let text = match fs::read_to_string(&dir.join(TABLESPACE_MAP)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        text => text.map_err(|e| failed("read file", TABLESPACE_MAP, e))?,
    };
    if !fs::exists(&dir.join(LABEL)).map_err(|e| failed("stat file", LABEL, e))? {
        tracing::info!("ignoring file \"{TABLESPACE_MAP}\" because no file \"{LABEL}\" exists");
        return put_aside(dir);
    }
    let tablespaces =
        parse(&text).ok_or_else(|| EngineError::Map(format!("invalid data in file \"{TABLESPACE_MAP}\"")))?;
    for (oid, location) in tablespaces {
        smgr::link_tablespace(dir, oid, &location)
            .map_err(|e| failed("create symbolic link", &format!("{}/{oid}", smgr::TABLESPACES), e))?;
    }
    Ok(())
}

/// The map is followed, if there was one.
pub(crate) fn put_aside(dir: &Path) -> Result<(), EngineError> {
    match fs::rename(&dir.join(TABLESPACE_MAP), &dir.join(OLD)).and_then(|()| fs::sync_dir(dir)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(failed("rename file", TABLESPACE_MAP, error))
        }
        _ => Ok(()),
    }
}

fn failed(what: &str, name: &str, error: io::Error) -> EngineError {
    EngineError::Io(format!("could not {what} \"{name}\""), error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tablespace(oid: u32, location: Option<&str>) -> Tablespace {
        Tablespace { oid: Oid(oid), location: location.map(PathBuf::from) }
    }

    #[test]
    fn what_is_written_is_read() {
        let odd = "/a b\\c\nd\re";
        let all = [tablespace(16_384, Some("/mnt/a")), tablespace(16_385, None), tablespace(7, Some(odd))];
        assert_eq!(text(&all), "16384 /mnt/a\n7 /a b\\\\c\\\nd\\\re\n");
        let found = parse(&text(&all)).unwrap();
        assert_eq!(found, [(Oid(16_384), "/mnt/a".into()), (Oid(7), PathBuf::from(odd))]);
        assert_eq!(parse(""), Some(vec![]));
    }

    #[test]
    fn damage_is_found() {
        for damaged in ["16384\n", "x /a\n", "0 /a\n", "5 /a", "5 /a\\"] {
            assert_eq!(parse(damaged), None, "{damaged}");
        }
    }
}
