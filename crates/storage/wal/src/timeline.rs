//! # What
//! The time lines that lead to one: its ancestors, and where each of them was left.
//!
//! # Layout
//! `pg_wal/<time line>.history`, text as PostgreSQL writes it. A line for each ancestor, oldest first: its number, a tab, the LSN where its child
//! leaves it, a tab, why. Lines that begin with `#` and empty ones say nothing. The file of a time line never changes.
//!
//! # Invariants
//! 1. Numbers ascend, and all are below that of the time line itself.
//! 2. A time line other than the first has an ancestor, and its file ends with the end of a line: another one was cut off.

use std::fmt;
use std::fmt::Write as _;
use std::path::Path;

use base::{Lsn, TimelineId};
use runtime::fs;

use crate::geometry::Geometry;
use crate::log::WalError;

/// A stretch of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The time line.
    pub timeline: TimelineId,
    /// Where it begins, which is where its parent was left; none for the first.
    pub begin: Lsn,
    /// Where its child leaves it; none for the last.
    pub end: Option<Lsn>,
}

/// A time line with its ancestors, oldest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    stretches: Vec<Stretch>,
    /// As it stands in the file.
    text: String,
}

/// What is wrong with a history file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryError {
    /// PostgreSQL's message.
    pub message: String,
    /// Its hint.
    pub hint: &'static str,
}

impl fmt::Display for HistoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for HistoryError {}

impl History {
    /// A time line without ancestors.
    pub fn of(timeline: TimelineId) -> History {
        History { stretches: vec![Stretch { timeline, begin: Lsn::INVALID, end: None }], text: String::new() }
    }

    /// Name of a time line's file.
    pub fn file_name(timeline: TimelineId) -> String {
        format!("{:08X}.history", timeline.0)
    }

    /// The time line whose history file has this name.
    pub fn timeline_of_file(name: &str) -> Option<TimelineId> {
        let digits = name.strip_suffix(".history")?;
        let number = u32::from_str_radix(digits, 16).ok().map(TimelineId)?;
        (History::file_name(number) == name).then_some(number)
    }

    /// Reads the text of a time line's file.
    pub fn parse(timeline: TimelineId, text: &str) -> Result<History, HistoryError> {
        let invalid = |hint| HistoryError {
            message: format!("invalid data in history file \"{}\"", History::file_name(timeline)),
            hint,
        };
        if !text.is_empty() && !text.ends_with('\n') {
            return Err(invalid("The file does not end with a line's end: it was cut off."));
        }
        let mut stretches: Vec<Stretch> = Vec::new();
        let mut begin = Lsn::INVALID;
        let lines = text.lines().map(str::trim_start);
        for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let syntax =
                |hint| HistoryError { message: format!("syntax error in history file: {line}"), hint };
            let mut words = line.split_ascii_whitespace();
            let parent = words.next().and_then(|word| word.parse().ok());
            let parent = TimelineId(parent.ok_or_else(|| syntax("Expected a numeric timeline ID."))?);
            let end: Option<Lsn> = words.next().and_then(|word| word.parse().ok());
            let end = end.ok_or_else(|| syntax("Expected a write-ahead log switchpoint location."))?;
            if stretches.last().is_some_and(|last| parent <= last.timeline) {
                return Err(invalid("Timeline IDs must be in increasing sequence."));
            }
            stretches.push(Stretch { timeline: parent, begin, end: Some(end) });
            begin = end;
        }
        match stretches.last() {
            Some(last) if last.timeline >= timeline => {
                return Err(invalid("Timeline IDs must be less than child timeline's ID."));
            }
            None if timeline > TimelineId::FIRST => return Err(invalid("The file names no ancestor.")),
            _ => {}
        }
        stretches.push(Stretch { timeline, begin, end: None });
        Ok(History { stretches, text: text.into() })
    }

    /// Reads a time line's file in the log's folder; `None` if it is not there. The first has none.
    pub fn read(dir: &Path, timeline: TimelineId) -> Result<Option<Result<History, HistoryError>>, WalError> {
        if timeline <= TimelineId::FIRST {
            return Ok(Some(Ok(History::of(timeline))));
        }
        let path = dir.join(History::file_name(timeline));
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Some(History::parse(timeline, &text))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(WalError::new("read", &path, &error)),
        }
    }

    /// Writes the file of this history into the log's folder, durably.
    pub fn write(&self, dir: &Path) -> Result<(), WalError> {
        let path = dir.join(History::file_name(self.timeline()));
        fs::write_file_durably(&path, self.text.as_bytes())
            .map_err(|error| WalError::new("write", &path, &error))
    }

    /// The history of a new time line that leaves this one at `at`.
    pub fn child(&self, timeline: TimelineId, at: Lsn, reason: &str) -> History {
        let mut child = self.clone();
        let last = child.stretches.last_mut().expect("a history has its own time line");
        last.end = Some(at);
        // Writing to a string does not fail.
        let _ = writeln!(child.text, "{}\t{at}\t{reason}", last.timeline);
        child.stretches.push(Stretch { timeline, begin: at, end: None });
        child
    }

    /// The history of what was before `end`: of the time line that has the byte before it.
    pub fn until(&self, end: Lsn) -> History {
        let past = self.stretches.iter().filter(|stretch| stretch.begin < end).count().max(1);
        let mut stretches = self.stretches[..past].to_vec();
        if let Some(last) = stretches.last_mut() {
            last.end = None;
        }
        let named =
            |line: &&str| line.split_whitespace().next().is_some_and(|word| word.parse::<u32>().is_ok());
        let lines = self.text.lines().filter(named).take(past - 1);
        History { stretches, text: lines.map(|line| format!("{line}\n")).collect() }
    }

    /// The time line itself.
    pub fn timeline(&self) -> TimelineId {
        self.stretches.last().expect("a history has its own time line").timeline
    }

    /// Text of the file.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// All stretches, oldest first.
    pub fn stretches(&self) -> &[Stretch] {
        &self.stretches
    }

    /// The stretch on a time line, if it is one of those.
    pub fn stretch(&self, timeline: TimelineId) -> Option<Stretch> {
        self.stretches.iter().find(|stretch| stretch.timeline == timeline).copied()
    }

    /// The time line that has the byte at `lsn`.
    pub fn at(&self, lsn: Lsn) -> TimelineId {
        let found = self.stretches.iter().rev().find(|stretch| stretch.begin <= lsn);
        found.map_or(TimelineId::FIRST, |stretch| stretch.timeline)
    }

    /// The time line that has the last byte before `end`.
    pub fn before(&self, end: Lsn) -> TimelineId {
        self.at(Lsn(end.0.saturating_sub(1)))
    }

    /// The time lines whose files may have a segment, newest first: a new time line begins with a copy of its parent's last segment.
    pub(crate) fn of_segment(&self, geometry: Geometry, segment: u64) -> impl Iterator<Item = TimelineId> {
        let began = move |stretch: &&Stretch| geometry.segment_of(stretch.begin) <= segment;
        self.stretches.iter().rev().filter(began).map(|stretch| stretch.timeline)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn third() -> History {
        History::of(TimelineId(1))
            .child(TimelineId(2), Lsn(0x300_0100), "no recovery target specified")
            .child(TimelineId(3), Lsn(0x1_0000_0028), "before 2026-11-27")
    }

    #[test]
    fn what_is_written_is_read() {
        let history = third();
        assert_eq!(
            history.text(),
            "1\t0/3000100\tno recovery target specified\n2\t1/28\tbefore 2026-11-27\n"
        );
        assert_eq!(History::parse(TimelineId(3), history.text()), Ok(history.clone()));
        assert_eq!(History::parse(TimelineId(1), ""), Ok(History::of(TimelineId(1))));
        let commented = format!("# by hand\n\n  {}", history.text());
        assert_eq!(History::parse(TimelineId(3), &commented).unwrap().stretches(), history.stretches());
    }

    #[test]
    fn a_position_is_on_one_time_line() {
        let history = third();
        for (lsn, timeline) in [(1, 1), (0x300_00FF, 1), (0x300_0100, 2), (0x1_0000_0028, 3), (1 << 40, 3)] {
            assert_eq!(history.at(Lsn(lsn)), TimelineId(timeline), "{lsn:x}");
        }
        assert_eq!(history.before(Lsn(0x300_0100)), TimelineId(1));
        assert_eq!(history.before(Lsn(0x300_0101)), TimelineId(2));
        let geometry = Geometry::new(16 << 20);
        let of = |segment| history.of_segment(geometry, segment).map(|t| t.0).collect::<Vec<_>>();
        assert_eq!((of(2), of(3), of(256)), (vec![1], vec![2, 1], vec![3, 2, 1]));
        assert_eq!(history.stretch(TimelineId(2)).unwrap().end, Some(Lsn(0x1_0000_0028)));
        assert_eq!(history.stretch(TimelineId(4)), None);
    }

    #[test]
    fn what_was_before_a_position() {
        let history = third();
        assert_eq!(history.until(Lsn(1 << 40)), history);
        assert_eq!(history.until(Lsn(0x300_0200)).text(), "1\t0/3000100\tno recovery target specified\n");
        assert_eq!(history.until(Lsn(0x300_0200)).timeline(), TimelineId(2));
        assert_eq!(history.until(Lsn(0x300_0100)), History::of(TimelineId(1)));
        let child = history.until(Lsn(0x300_0200)).child(TimelineId(4), Lsn(0x300_0200), "x");
        assert_eq!(History::parse(TimelineId(4), child.text()), Ok(child));
    }

    #[test]
    fn damage_is_named() {
        let why = |text: &str| History::parse(TimelineId(3), text).unwrap_err();
        assert_eq!(why("x\t0/1\tr\n").message, "syntax error in history file: x\t0/1\tr");
        assert_eq!(why("1\t0\tr\n").hint, "Expected a write-ahead log switchpoint location.");
        assert_eq!(why("2\t0/1\n1\t0/2\n").hint, "Timeline IDs must be in increasing sequence.");
        assert_eq!(why("3\t0/1\n").hint, "Timeline IDs must be less than child timeline's ID.");
        assert_eq!(why("").message, "invalid data in history file \"00000003.history\"");
        assert!(why("1\t0/3000100\tno rec").hint.ends_with("it was cut off."));
    }

    #[test]
    fn names_of_files() {
        assert_eq!(History::file_name(TimelineId(0xAB)), "000000AB.history");
        assert_eq!(History::timeline_of_file("000000AB.history"), Some(TimelineId(0xAB)));
        for other in ["ab.history", "000000ab.history", "000000AB", "+00000AB.history"] {
            assert_eq!(History::timeline_of_file(other), None, "{other}");
        }
    }
}
