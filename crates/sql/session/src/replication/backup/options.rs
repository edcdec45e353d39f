//! Options of BASE_BACKUP.

use base::{SqlError, SqlResult, SqlState, sql_err};

use super::compression::Compression;
use super::manifest::Checksum;
use crate::replication::grammar::OptionItem;

/// Least and greatest rate, kilobytes a second.
const RATES: std::ops::RangeInclusive<i64> = 32..=1_048_576;
/// Bytes of a label at most.
pub(crate) const LABEL_LENGTH: usize = 1024;

/// Where a backup goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// To the client.
    Client,
    /// Into a folder of the server's machine.
    Server(String),
    /// Nowhere.
    Blackhole,
}

/// Whether there is a manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manifest {
    /// There is.
    Yes,
    /// There is none.
    No,
    /// There is, and names of files are in hexadecimal.
    ForceEncode,
}

/// What a backup is to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Options {
    pub label: String,
    /// Its size is to be estimated first.
    pub progress: bool,
    /// The checkpoint is not spread.
    pub fast: bool,
    /// It has only what has changed since the one whose manifest was uploaded.
    pub incremental: bool,
    /// It has a file that says where tablespaces lie, instead of links.
    pub tablespace_map: bool,
    /// The log that it needs is part of it.
    pub wal: bool,
    /// It ends once the archive has the log that it needs.
    pub wait: bool,
    /// Bytes a second at most.
    pub rate: Option<u64>,
    pub verify: bool,
    pub manifest: Manifest,
    pub checksum: Checksum,
    pub compression: Compression,
    pub target: Target,
}

fn unrecognized(what: &str, value: &str) -> SqlError {
    sql_err!(SYNTAX_ERROR, "unrecognized {what}: \"{value}\"")
}

/// Reads the options. `summarizes`: whether there are summaries of the log.
pub(super) fn read(items: &[OptionItem], summarizes: bool) -> SqlResult<Options> {
    let mut options = Options {
        label: "base backup".into(),
        progress: false,
        fast: false,
        incremental: false,
        tablespace_map: false,
        wal: false,
        wait: true,
        rate: None,
        verify: true,
        manifest: Manifest::No,
        checksum: Checksum::Crc32c,
        compression: Compression::None,
        target: Target::Client,
    };
    let mut seen: Vec<&str> = Vec::new();
    let (mut target, mut target_detail) = (None, None);
    let (mut algorithm, mut detail) = (None, None);
    for item in items {
        let name = item.name.as_str();
        if seen.contains(&name) {
            return Err(sql_err!(SYNTAX_ERROR, "duplicate option \"{name}\""));
        }
        seen.push(name);
        match name {
            "label" => options.label = item.text()?,
            "progress" => options.progress = item.truth()?,
            "checkpoint" => {
                options.fast = match item.text()?.to_ascii_lowercase().as_str() {
                    "fast" => true,
                    "spread" => false,
                    other => return Err(unrecognized("checkpoint type", other)),
                }
            }
            "wait" => options.wait = item.truth()?,
            "wal" => options.wal = item.truth()?,
            "incremental" => {
                options.incremental = item.truth()?;
                if options.incremental && !summarizes {
                    return Err(sql_err!(
                        OBJECT_NOT_IN_PREREQUISITE_STATE,
                        "incremental backups cannot be taken unless WAL summarization is enabled"
                    ));
                }
            }
            "max_rate" => options.rate = Some(rate(item.number()?)?),
            "tablespace_map" => options.tablespace_map = item.truth()?,
            "verify_checksums" => options.verify = item.truth()?,
            "manifest" => options.manifest = manifest(item)?,
            "manifest_checksums" => {
                let word = item.text()?;
                options.checksum =
                    Checksum::named(&word).ok_or_else(|| unrecognized("checksum algorithm", &word))?;
            }
            "target" => target = Some(item.text()?),
            "target_detail" => target_detail = Some(item.text()?),
            "compression" => algorithm = Some(item.text()?.to_ascii_lowercase()),
            "compression_detail" => detail = Some(item.text()?),
            other => return Err(sql_err!(SYNTAX_ERROR, "unrecognized base backup option: \"{other}\"")),
        }
    }
    if options.manifest == Manifest::No {
        if seen.contains(&"manifest_checksums") {
            return Err(sql_err!(SYNTAX_ERROR, "manifest checksums require a backup manifest"));
        }
        options.checksum = Checksum::None;
    }
    if options.label.len() > LABEL_LENGTH {
        return Err(label_too_long());
    }
    options.target = destination(target.as_deref(), target_detail)?;
    options.compression = Compression::named(algorithm.as_deref(), detail.as_deref())?;
    Ok(options)
}

/// What is said of a label that is too long.
pub(crate) fn label_too_long() -> SqlError {
    sql_err!(INVALID_PARAMETER_VALUE, "backup label too long (max {LABEL_LENGTH} bytes)")
}

fn rate(kilobytes: i64) -> SqlResult<u64> {
    if RATES.contains(&kilobytes) {
        return Ok(kilobytes as u64 * 1024);
    }
    let (least, most) = (RATES.start(), RATES.end());
    Err(sql_err!(
        NUMERIC_VALUE_OUT_OF_RANGE,
        "{kilobytes} is outside the valid range for parameter \"MAX_RATE\" ({least} .. {most})"
    ))
}

fn manifest(item: &OptionItem) -> SqlResult<Manifest> {
    if item.value.is_none() {
        return Err(sql_err!(SYNTAX_ERROR, "{} requires a parameter", item.name));
    }
    let word = item.text()?;
    match base::settings::parse_bool(&word) {
        Some(true) => Ok(Manifest::Yes),
        Some(false) => Ok(Manifest::No),
        None if word.eq_ignore_ascii_case("force-encode") => Ok(Manifest::ForceEncode),
        None => Err(unrecognized("manifest option", &word)),
    }
}

fn destination(target: Option<&str>, detail: Option<String>) -> SqlResult<Target> {
    let no_detail = |target: Target, name: &str, detail: Option<String>| match detail {
        None => Ok(target),
        Some(_) => Err(sql_err!(SYNTAX_ERROR, "target \"{name}\" does not accept a target detail")),
    };
    match target {
        None if detail.is_some() => {
            Err(sql_err!(SYNTAX_ERROR, "target detail cannot be used without target"))
        }
        None => Ok(Target::Client),
        Some(name @ "client") => no_detail(Target::Client, name, detail),
        Some(name @ "blackhole") => no_detail(Target::Blackhole, name, detail),
        Some("server") => match detail {
            Some(folder) if folder.starts_with('/') => Ok(Target::Server(folder)),
            Some(_) => Err(sql_err!(INVALID_NAME, "relative path not allowed for backup stored on server")),
            None => Err(sql_err!(SYNTAX_ERROR, "target \"server\" requires a target detail")),
        },
        Some(other) => {
            Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, format!("unrecognized target: \"{other}\"")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replication::grammar::{Command, parse};

    fn read_text(text: &str) -> Result<Options, String> {
        match parse(&format!("BASE_BACKUP ({text})")).unwrap() {
            Some(Command::BaseBackup(items)) => {
                read(&items, false).map_err(|error| format!("{} {}", error.code(), error.message()))
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn options_say_what_a_backup_is_to_be() {
        let options = read_text(
            "LABEL 'x', PROGRESS, CHECKPOINT 'fast', WAL, WAIT false, MAX_RATE 64, TABLESPACE_MAP, VERIFY_CHECKSUMS 0, \
             MANIFEST 'yes', MANIFEST_CHECKSUMS 'SHA256', COMPRESSION 'gzip', COMPRESSION_DETAIL 'level=3', TARGET 'server', TARGET_DETAIL '/x'",
        );
        let wanted = Options {
            label: "x".into(),
            progress: true,
            fast: true,
            incremental: false,
            tablespace_map: true,
            wal: true,
            wait: false,
            rate: Some(65_536),
            verify: false,
            manifest: Manifest::Yes,
            checksum: Checksum::Sha256,
            compression: Compression::Gzip(3),
            target: Target::Server("/x".into()),
        };
        assert_eq!(options, Ok(wanted));
        assert_eq!(read_text("COMPRESSION gzip").unwrap().compression, Compression::Gzip(6));
        assert_eq!(
            read_text("COMPRESSION gzip, COMPRESSION_DETAIL '-1'").unwrap().compression,
            Compression::Gzip(6)
        );
    }

    /// As PostgreSQL 18 says it.
    #[test]
    fn what_cannot_be_is_refused() {
        let gzip = "42601 invalid compression specification: compression algorithm \"gzip\" expects a compression level between 1 and 9 (default at -1)";
        for (text, wanted) in [
            ("foo", "42601 unrecognized base backup option: \"foo\""),
            ("LABEL 'a', LABEL 'b'", "42601 duplicate option \"label\""),
            ("compression 'foo'", "42601 unrecognized compression algorithm: \"foo\""),
            ("TARGET 'x'", "0A000 unrecognized target: \"x\""),
            ("CHECKPOINT 'x'", "42601 unrecognized checkpoint type: \"x\""),
            ("MANIFEST 'x'", "42601 unrecognized manifest option: \"x\""),
            ("MANIFEST_CHECKSUMS 'x'", "42601 unrecognized checksum algorithm: \"x\""),
            ("MAX_RATE 1", "22003 1 is outside the valid range for parameter \"MAX_RATE\" (32 .. 1048576)"),
            ("INCREMENTAL", "55000 incremental backups cannot be taken unless WAL summarization is enabled"),
            ("WAIT 'x'", "42601 wait requires a Boolean value"),
            ("VERIFY_CHECKSUMS 'maybe'", "42601 verify_checksums requires a Boolean value"),
            ("COMPRESSION 'gzip', COMPRESSION_DETAIL 'level=99'", gzip),
            ("COMPRESSION 'gzip', COMPRESSION_DETAIL '99'", gzip),
            ("TARGET 'server'", "42601 target \"server\" requires a target detail"),
            (
                "TARGET 'server', TARGET_DETAIL 'rel'",
                "42602 relative path not allowed for backup stored on server",
            ),
            (
                "TARGET 'blackhole', TARGET_DETAIL 'x'",
                "42601 target \"blackhole\" does not accept a target detail",
            ),
            ("TARGET_DETAIL 'x'", "42601 target detail cannot be used without target"),
            (
                "COMPRESSION_DETAIL 'x'",
                "42601 compression detail cannot be specified unless compression is enabled",
            ),
            (
                "COMPRESSION lz4, COMPRESSION_DETAIL '9'",
                "0A000 lz4 compression of level 9 is not supported yet",
            ),
        ] {
            assert_eq!(read_text(text).unwrap_err(), wanted, "{text}");
        }
    }
}
