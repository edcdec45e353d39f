//! `backup_label`: where redo of a copy of a running server begins. `pg_backup_start` and `BASE_BACKUP` write it, as text, in PostgreSQL's format.

use std::path::Path;
use std::str::FromStr;

use base::{Lsn, TimelineId};
use runtime::fs;

use crate::EngineError;

const FILE: &str = "backup_label";
const OLD: &str = "backup_label.old";

/// What the file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BackupLabel {
    /// Redo begins here.
    pub start: Lsn,
    /// The checkpoint whose redo point that is.
    pub checkpoint: Lsn,
    /// The time line of both.
    pub timeline: TimelineId,
    /// The server that was copied was replaying the log itself: no record tells of the backup's end.
    pub from_standby: bool,
    /// The backup's end has a record, without which the copy is not consistent.
    pub end_required: bool,
}

impl BackupLabel {
    /// Reads the file of a data directory, if it has one.
    pub fn read(dir: &Path) -> Result<Option<BackupLabel>, EngineError> {
        match fs::read_to_string(&dir.join(FILE)) {
            Ok(text) => BackupLabel::parse(&text).map(Some),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(EngineError::Io(format!("could not read file \"{FILE}\""), error)),
        }
    }

    /// The control file has it all now.
    pub fn put_aside(dir: &Path) -> Result<(), EngineError> {
        let failed = |e| EngineError::Io(format!("could not rename file \"{FILE}\" to \"{OLD}\""), e);
        fs::rename(&dir.join(FILE), &dir.join(OLD)).and_then(|()| fs::sync_dir(dir)).map_err(failed)
    }

    fn parse(text: &str) -> Result<BackupLabel, EngineError> {
        let field = |name: &str| {
            let lines = text.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
            lines.map(str::trim_end).next()
        };
        if field("INCREMENTAL FROM LSN").is_some() {
            return Err(EngineError::NoRecovery {
                message: "this is an incremental backup, not a data directory".into(),
                hint: "Use pg_combinebackup to reconstruct a valid data directory.".into(),
            });
        }
        let invalid = || EngineError::Map(format!("invalid data in file \"{FILE}\""));
        let start = field("START WAL LOCATION").ok_or_else(invalid)?;
        let (start, file) = start.split_once(" (file ").ok_or_else(invalid)?;
        let file = file.strip_suffix(')').filter(|name| wal::is_segment_name(name)).ok_or_else(invalid)?;
        let lsn = |text: &str| Lsn::from_str(text).map_err(|()| invalid());
        let timeline = u32::from_str_radix(&file[..8], 16).map(TimelineId).map_err(|_| invalid())?;
        if let Some(told) = field("START TIMELINE").filter(|told| *told != timeline.to_string()) {
            return Err(EngineError::Map(format!(
                "invalid data in file \"{FILE}\": Timeline ID parsed is {told}, but expected {timeline}."
            )));
        }
        Ok(BackupLabel {
            start: lsn(start)?,
            checkpoint: lsn(field("CHECKPOINT LOCATION").ok_or_else(invalid)?)?,
            timeline,
            from_standby: field("BACKUP FROM") == Some("standby"),
            end_required: field("BACKUP METHOD") == Some("streamed"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "START WAL LOCATION: 0/2000028 (file 000000030000000000000002)\n\
        CHECKPOINT LOCATION: 0/2000080\nBACKUP METHOD: streamed\nBACKUP FROM: primary\n\
        START TIME: 2026-11-27 18:37:19 UTC\nLABEL: a: b\nSTART TIMELINE: 3\n";

    #[test]
    fn a_label_is_read() {
        let label = BackupLabel::parse(TEXT).unwrap();
        assert_eq!((label.start, label.checkpoint), (Lsn(0x200_0028), Lsn(0x200_0080)));
        assert_eq!((label.timeline, label.from_standby, label.end_required), (TimelineId(3), false, true));
        assert!(BackupLabel::parse(&TEXT.replace("primary", "standby")).unwrap().from_standby);
    }

    #[test]
    fn a_damaged_label_is_refused() {
        let why = |from: &str, to: &str| BackupLabel::parse(&TEXT.replace(from, to)).unwrap_err().to_string();
        for (from, to) in
            [("0/2000028", "2000028"), ("CHECKPOINT", "CHECK"), ("(file 0", "(file "), (")\n", "\n")]
        {
            assert_eq!(why(from, to), "invalid data in file \"backup_label\"", "{from}");
        }
        let other = why("TIMELINE: 3", "TIMELINE: 2");
        assert!(other.ends_with("Timeline ID parsed is 2, but expected 3."), "{other}");
        assert!(why("START TIME:", "INCREMENTAL FROM LSN: 0/1\nX:").contains("incremental backup"));
    }
}
