//! Whether backups belong together, by their labels, control files and manifests.

use std::path::{Path, PathBuf};

use base::{Lsn, TimelineId};
use engine::backup::LABEL;
use engine::control::ControlFile;
use runtime::fs;
use session::replication::backup::manifest::Manifest;

use super::super::messages::{Failure, Messages};
use super::io;

/// Backups that are based on each other.
pub(super) struct Chain {
    /// Oldest first.
    pub backups: Vec<Backup>,
    pub system_identifier: u64,
}

/// One of them.
pub(super) struct Backup {
    pub dir: PathBuf,
    /// None if it has none.
    pub manifest: Option<Manifest>,
    pub label: Label,
}

/// What a label says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Label {
    pub text: String,
    pub start: (Lsn, TimelineId),
    /// Where the backup began that it is based on; none if it is a full one.
    pub from: Option<(Lsn, TimelineId)>,
}

impl Label {
    /// Reads a label; `name` is for messages.
    pub fn parse(text: &str, name: &str) -> Result<Label, String> {
        let field = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": "));
        let lsn = |key: &str, until: char| -> Result<Option<Lsn>, String> {
            let Some(value) = field(key) else { return Ok(None) };
            let value = value.split(until).next().unwrap_or_default();
            value.parse().map(Some).map_err(|()| format!("{name}: could not parse {key}"))
        };
        let timeline = |key: &str| -> Result<Option<TimelineId>, String> {
            let Some(value) = field(key) else { return Ok(None) };
            let value = value.parse().map_err(|_| format!("{name}: could not parse TLI for {key}"))?;
            Ok(Some(TimelineId(value)))
        };
        let missing = |key: &str| format!("{name}: could not find {key}");
        let start = lsn("START WAL LOCATION", ' ')?.ok_or_else(|| missing("START WAL LOCATION"))?;
        let on = timeline("START TIMELINE")?.ok_or_else(|| missing("START TIMELINE"))?;
        let from = match (lsn("INCREMENTAL FROM LSN", ' ')?, timeline("INCREMENTAL FROM TLI")?) {
            (Some(lsn), Some(timeline)) => Some((lsn, timeline)),
            (None, None) => None,
            (Some(_), None) => {
                return Err(format!("{name}: INCREMENTAL FROM LSN requires INCREMENTAL FROM TLI"));
            }
            (None, Some(_)) => {
                return Err(format!("{name}: INCREMENTAL FROM TLI requires INCREMENTAL FROM LSN"));
            }
        };
        Ok(Label { text: text.to_owned(), start: (start, on), from })
    }

    /// The label of a full backup of the same moment.
    pub fn of_full(&self) -> String {
        let stays = |line: &&str| !line.starts_with("INCREMENTAL FROM ");
        self.text.lines().filter(stays).map(|line| format!("{line}\n")).collect()
    }
}

/// Reads what the backups say of themselves, and fails unless each is based on the one before.
pub(super) fn check(dirs: &[PathBuf], messages: &Messages) -> Result<Chain, Failure> {
    let mut backups = Vec::new();
    for dir in dirs {
        backups.push(Backup {
            dir: dir.clone(),
            manifest: manifest(dir, messages)?,
            label: label(dir, messages)?,
        });
    }
    let system_identifier = check_control_files(&backups, messages)?;
    for backup in &backups {
        if let Some(told) = backup.manifest.as_ref().map(|manifest| manifest.system_identifier)
            && told != system_identifier
        {
            let name = backup.dir.join("backup_manifest");
            return Err(format!(
                "{}: manifest system identifier is {told}, but control file has {system_identifier}",
                name.display()
            )
            .into());
        }
    }
    check_order(&backups)?;
    Ok(Chain { backups, system_identifier })
}

fn label(dir: &Path, messages: &Messages) -> Result<Label, Failure> {
    let path = dir.join(LABEL);
    messages.debug(format!("reading \"{}\"", path.display()));
    let text = fs::read_to_string(&path).map_err(|e| io("open", "file", &path, &e))?;
    Label::parse(&text, &path.display().to_string()).map_err(Failure::from)
}

fn manifest(dir: &Path, messages: &Messages) -> Result<Option<Manifest>, Failure> {
    let path = dir.join("backup_manifest");
    match fs::read_to_vec(&path) {
        Ok(text) => Ok(Some(Manifest::parse(&text)?)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            messages.warning(format!("file \"{}\" does not exist", path.display()));
            Ok(None)
        }
        Err(error) => Err(io("open", "file", &path, &error)),
    }
}

/// All control files are of one system, whose identifier is returned.
fn check_control_files(backups: &[Backup], messages: &Messages) -> Result<u64, Failure> {
    let mut expected = None;
    for backup in backups.iter().rev() {
        let path = backup.dir.join(engine::files::CONTROL);
        messages.debug(format!("reading \"{}\"", path.display()));
        let control = ControlFile::read(&backup.dir)
            .map_err(|error| Failure::from(format!("{}: {error}", path.display())))?;
        let found = control.system_identifier;
        match expected {
            Some(expected) if expected != found => {
                return Err(format!(
                    "{}: expected system identifier {expected}, but found {found}",
                    path.display()
                )
                .into());
            }
            _ => expected = Some(found),
        }
    }
    let identifier = expected.unwrap_or_default();
    messages.debug(format!("system identifier is {identifier}"));
    Ok(identifier)
}

/// The first is a full one, and each other is based on the one before. The last is looked at first.
fn check_order(backups: &[Backup]) -> Result<(), Failure> {
    let mut wanted: Option<(Lsn, TimelineId)> = None;
    for (number, Backup { dir, label, .. }) in backups.iter().enumerate().rev() {
        let shown = dir.display();
        if number > 0 && label.from.is_none() {
            return Err(format!(
                "backup at \"{shown}\" is a full backup, but only the first backup should be a full backup"
            )
            .into());
        }
        if number == 0 && label.from.is_some() {
            return Err(format!(
                "backup at \"{shown}\" is an incremental backup, but the first backup should be a full backup"
            )
            .into());
        }
        let (start, timeline) = label.start;
        if let Some((lsn, on)) = wanted {
            if timeline != on {
                return Err(format!(
                    "backup at \"{shown}\" starts on timeline {timeline}, but expected {on}"
                )
                .into());
            }
            if start != lsn {
                return Err(format!("backup at \"{shown}\" starts at LSN {start}, but expected {lsn}").into());
            }
        }
        wanted = label.from;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: &str = "START WAL LOCATION: 0/2000028 (file 000000010000000000000002)\nCHECKPOINT LOCATION: 0/2000080\n\
        BACKUP METHOD: streamed\nLABEL: x\nSTART TIMELINE: 1\n";

    fn backup(start: u64, from: Option<u64>) -> Backup {
        let on = TimelineId(1);
        let label =
            Label { text: String::new(), start: (Lsn(start), on), from: from.map(|lsn| (Lsn(lsn), on)) };
        Backup { dir: format!("b{start:X}").into(), manifest: None, label }
    }

    #[test]
    fn labels() {
        let label = Label::parse(FULL, "l").unwrap();
        assert_eq!((label.start, label.from), ((Lsn(0x200_0028), TimelineId(1)), None));
        let text = format!("{FULL}INCREMENTAL FROM LSN: 0/1000028\nINCREMENTAL FROM TLI: 1\n");
        let label = Label::parse(&text, "l").unwrap();
        assert_eq!(label.from, Some((Lsn(0x100_0028), TimelineId(1))));
        assert_eq!(label.of_full(), FULL);
        let why = |text: &str| Label::parse(text, "l").unwrap_err();
        assert_eq!(why(""), "l: could not find START WAL LOCATION");
        assert_eq!(why(&FULL.replace("0/2000028", "x")), "l: could not parse START WAL LOCATION");
        assert_eq!(
            why(&text.replace("INCREMENTAL FROM TLI: 1\n", "")),
            "l: INCREMENTAL FROM LSN requires INCREMENTAL FROM TLI"
        );
    }

    #[test]
    fn each_is_based_on_the_one_before() {
        let order = |backups: &[(u64, Option<u64>)]| {
            let backups: Vec<_> = backups.iter().map(|&(start, from)| backup(start, from)).collect();
            check_order(&backups).map_err(|failure| failure.message)
        };
        assert_eq!(order(&[(1, None), (2, Some(1)), (5, Some(2))]), Ok(()));
        for (backups, why) in [
            (
                vec![(1, None), (2, None)],
                "backup at \"b2\" is a full backup, but only the first backup should be a full backup",
            ),
            (
                vec![(2, Some(1))],
                "backup at \"b2\" is an incremental backup, but the first backup should be a full backup",
            ),
            (vec![(1, None), (5, Some(2))], "backup at \"b1\" starts at LSN 0/1, but expected 0/2"),
        ] {
            assert_eq!(order(&backups), Err(why.into()));
        }
    }
}
