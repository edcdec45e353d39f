//! # What
//! Incremental backups: UPLOAD_MANIFEST, which tells what an earlier backup has, and which blocks a backup need copy that is based on it.
//!
//! # Why it is enough
//! A block that no record has changed between the redo points of two backups is in the second as it is in the first, but for hints, for every change of a page is logged with its block, the
//! first hint behind a checkpoint with the page's image. What was changed behind the second redo point is brought by redo, as in every backup. So the blocks that summaries name
//! ([`engine::summaries`]) are copied, and no others, of main forks; all other files are copied whole, as is a file that the earlier backup does not have.
//!
//! # PostgreSQL counterpart
//! `basebackup_incremental.c`.

use std::time::Duration;

use base::{Fork, Lsn, Oid, RelFile, Severity, SqlError, SqlResult, SqlState, TimelineId};
use engine::backup::Backup;
use engine::files::SEGMENT_PAGES;
use engine::incremental::{Incremental, PREFIX};
use engine::summaries::{Awaited, BlockTable, Summarized, Summary};
use wal::History;

use super::manifest::{Manifest, Range};
use crate::Session;
use crate::output::{Format, Output};

/// How long the summarizer is waited for before it is told that it is.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often it may be found not to have gone on.
const TRIES: u32 = 6;
/// A file of which a larger part than this has changed, in tenths, is copied whole.
const MOST: u64 = 9;

/// What an incremental backup goes by.
pub(super) struct Basis<'a> {
    earlier: &'a Manifest,
    changes: BlockTable,
}

fn wrong_state(message: String) -> SqlError {
    SqlError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, message)
}

impl Session {
    /// UPLOAD_MANIFEST.
    pub(in crate::replication) fn upload_manifest(&self, out: &mut dyn Output) -> SqlResult<()> {
        self.end_statement()?;
        out.copy_in(Format::Text, 0)?;
        let mut text = Vec::new();
        while let Some(bytes) = out.copy_in_data()? {
            text.extend(bytes);
        }
        let manifest = Manifest::parse(&text).map_err(|why| SqlError::new(SqlState::INTERNAL_ERROR, why))?;
        let (told, own) = (manifest.system_identifier, self.engine().wal().system_identifier());
        if told != own {
            return Err(SqlError::new(
                SqlState::INTERNAL_ERROR,
                format!(
                    "system identifier in backup manifest is {told}, but database system identifier is {own}"
                ),
            ));
        }
        *self.manifest.borrow_mut() = Some(manifest);
        Ok(())
    }

    /// Finds out what has changed since the backup of the manifest that was uploaded, up to one that has begun.
    pub(super) fn basis<'a>(&self, earlier: &'a Manifest, begun: &Backup) -> SqlResult<Basis<'a>> {
        let history = engine::recovery::history(self.engine().dir(), begun.timeline)?;
        let needed = needed(&earlier.ranges, &history, begun)?;
        self.await_summaries(begun.start)?;
        let there = self.engine().summaries()?;
        let mut changes = BlockTable::default();
        for stretch in needed {
            for summary in covering(&there, stretch)? {
                runtime::check_interrupts()?;
                changes.add(&self.engine().summary(&summary)?);
            }
        }
        Ok(Basis { earlier, changes })
    }

    /// Waits until the log is summarized up to the backup's start.
    fn await_summaries(&self, upto: Lsn) -> SqlResult<()> {
        let (mut before, mut stuck, mut waited) = (Summarized::default(), 0, Duration::ZERO);
        loop {
            let reached = match self.engine().await_summaries(upto, PATIENCE)? {
                Awaited::Done => return Ok(()),
                Awaited::NotYet(reached) => reached,
            };
            waited += PATIENCE;
            stuck = if reached == before { stuck + 1 } else { 0 };
            before = reached;
            let Summarized { on_disk, in_memory, .. } = reached;
            if stuck >= TRIES || !self.engine().options().summaries.on {
                return Err(wrong_state("WAL summarization is not progressing".into()).detail(format!(
                    "Summarization is needed through {upto}, but is stuck at {on_disk} on disk and {in_memory} in memory."
                )));
            }
            let message = format!(
                "still waiting for WAL summarization through {upto} after {} seconds",
                waited.as_secs()
            );
            let detail = format!("Summarization has reached {on_disk} on disk and {in_memory} in memory.");
            self.notice(
                SqlError::with_severity(Severity::Warning, SqlState::WARNING, message).detail(detail),
            );
        }
    }
}

/// The stretches of the log that the earlier backup and this one enclose, in order, one for each time line.
fn needed(ranges: &[Range], history: &History, begun: &Backup) -> SqlResult<Vec<Summary>> {
    if ranges.is_empty() {
        return Err(wrong_state("manifest contains no required WAL ranges".into()));
    }
    let mut found = Vec::new();
    for range in ranges {
        let stretch = history.stretch(range.timeline).ok_or_else(|| {
            let timeline = range.timeline;
            wrong_state(format!("timeline {timeline} found in manifest, but not in this server's history"))
        })?;
        found.push((stretch, range));
    }
    found.sort_by_key(|(stretch, _)| stretch.timeline);
    let last = found.len() - 1;
    for (number, (stretch, range)) in found.iter().enumerate() {
        let Range { timeline, start, end } = range;
        let begins = |kind: &str| {
            wrong_state(format!(
                "manifest requires WAL from {kind} timeline {timeline} starting at {start}, but that timeline begins at {}",
                stretch.begin
            ))
        };
        match number {
            0 if *start < stretch.begin => return Err(begins("initial")),
            0 => {}
            _ if *start != stretch.begin => return Err(begins("continuation")),
            _ => {}
        }
        if number == last && *end > begun.start {
            return Err(wrong_state(format!(
                "manifest requires WAL from final timeline {timeline} ending at {end}, but this backup starts at {}",
                begun.start
            ))
            .hint("This can happen for incremental backups on a standby if there was little activity since the previous backup."));
        }
        if let Some(left) = stretch.end.filter(|left| number < last && left != end) {
            return Err(wrong_state(format!(
                "manifest requires WAL from non-final timeline {timeline} ending at {end}, but this server switched timelines at {left}"
            )));
        }
    }
    let first = found[0].1;
    let since = history.stretches().iter().filter(|stretch| stretch.timeline >= first.timeline);
    Ok(since
        .map(|stretch| Summary {
            timeline: stretch.timeline,
            start: if stretch.timeline == first.timeline { first.start } else { stretch.begin },
            end: stretch.end.unwrap_or(begun.start).min(begun.start),
        })
        .collect())
}

/// The summaries that together have all changes of a stretch, in order. One that leads beyond the stretch's end is of a history that was given up.
fn covering(there: &[Summary], stretch: Summary) -> SqlResult<Vec<Summary>> {
    let overlaps = |summary: &&Summary| {
        summary.timeline == stretch.timeline && summary.end <= stretch.end && summary.end > stretch.start
    };
    let mut found: Vec<Summary> = there.iter().filter(overlaps).copied().collect();
    found.sort_unstable();
    let Summary { timeline, start, end } = stretch;
    let required = |how: &str| {
        wrong_state(format!(
            "WAL summaries are required on timeline {timeline} from {start} to {end}, but {how}"
        ))
    };
    if found.is_empty() && start < end {
        return Err(required("no summaries for that timeline and LSN range exist"));
    }
    let mut reached = start;
    for summary in &found {
        if summary.start > reached {
            break;
        }
        reached = reached.max(summary.end);
    }
    if reached < end {
        return Err(required("the summaries for that timeline and LSN range are incomplete")
            .detail(format!("The first unsummarized LSN in this range is {reached}.")));
    }
    Ok(found)
}

impl Basis<'_> {
    /// The earlier backup, as the label names it: where it began.
    pub fn start(&self) -> Option<(Lsn, TimelineId)> {
        let first = self.earlier.ranges.iter().min_by_key(|range| range.timeline)?;
        Some((first.start, first.timeline))
    }

    /// What stands for a file in the backup; none: the file is copied whole.
    pub fn of_file(&self, path: &str, (rel, segment): (RelFile, u32), size: u64) -> Option<Incremental> {
        let length = u32::try_from(size / base::PAGE_SIZE as u64).ok()?;
        if !size.is_multiple_of(base::PAGE_SIZE as u64) || length > SEGMENT_PAGES {
            return None;
        }
        let (folder, name) = path.rsplit_once('/')?;
        let there = |path: &str| self.earlier.files.contains_key(path);
        if !there(path) && !there(&format!("{folder}/{PREFIX}{name}")) {
            return None;
        }
        if rel.database != Oid::INVALID && self.changes.has_database(rel.database) {
            return None;
        }
        let Some(changes) = self.changes.get(rel, Fork::Main) else {
            return Some(Incremental { blocks: Vec::new(), kept: length, length });
        };
        let first = segment.checked_mul(SEGMENT_PAGES)?;
        let kept = changes.limit.map_or(length, |limit| limit.0.saturating_sub(first).min(length));
        if kept == 0 {
            return None;
        }
        let within = changes.blocks.iter().skip_while(|block| block.0 < first);
        let blocks: Vec<u32> =
            within.map(|block| block.0 - first).take_while(|block| *block < length).collect();
        if blocks.len() as u64 * 10 > u64::from(length) * MOST {
            return None;
        }
        Some(Incremental { blocks, kept, length })
    }
}

#[cfg(test)]
mod tests {
    use base::BlockNo;

    use super::*;

    const REL: RelFile = RelFile { tablespace: Oid::PG_DEFAULT, database: Oid(5), number: 7 };

    fn backup(start: u64, timeline: u32) -> Backup {
        Backup {
            label: String::new(),
            start: Lsn(start),
            checkpoint: Lsn(start),
            timeline: TimelineId(timeline),
            time: 0,
            lengths: Vec::new(),
            from: None,
            tablespaces: Vec::new(),
            of_standby: false,
        }
    }

    fn stretch(timeline: u32, start: u64, end: u64) -> Summary {
        Summary { timeline: TimelineId(timeline), start: Lsn(start), end: Lsn(end) }
    }

    fn range(timeline: u32, start: u64, end: u64) -> Range {
        Range { timeline: TimelineId(timeline), start: Lsn(start), end: Lsn(end) }
    }

    #[test]
    fn a_backup_is_based_on_one_of_the_same_history() {
        let history = History::of(TimelineId(1)).child(TimelineId(2), Lsn(0x100), "").child(
            TimelineId(4),
            Lsn(0x200),
            "",
        );
        let needed = |ranges: &[Range]| {
            needed(ranges, &history, &backup(0x300, 4)).map_err(|error| error.message().to_owned())
        };
        assert_eq!(needed(&[range(4, 0x210, 0x220)]), Ok(vec![stretch(4, 0x210, 0x300)]));
        let all = vec![stretch(1, 0x80, 0x100), stretch(2, 0x100, 0x200), stretch(4, 0x200, 0x300)];
        assert_eq!(needed(&[range(1, 0x80, 0x90)]), Ok(all.clone()));
        assert_eq!(needed(&[range(2, 0x100, 0x120), range(1, 0x80, 0x100)]), Ok(all));
        for (ranges, why) in [
            (vec![], "manifest contains no required WAL ranges"),
            (vec![range(3, 1, 2)], "timeline 3 found in manifest, but not in this server's history"),
            (
                vec![range(4, 0x1F0, 0x220)],
                "manifest requires WAL from initial timeline 4 starting at 0/1F0, but that timeline begins at 0/200",
            ),
            (
                vec![range(1, 0x80, 0x100), range(2, 0x110, 0x120)],
                "manifest requires WAL from continuation timeline 2 starting at 0/110, but that timeline begins at 0/100",
            ),
            (
                vec![range(1, 0x80, 0x110), range(2, 0x100, 0x120)],
                "manifest requires WAL from non-final timeline 1 ending at 0/110, but this server switched timelines at 0/100",
            ),
            (
                vec![range(4, 0x210, 0x310)],
                "manifest requires WAL from final timeline 4 ending at 0/310, but this backup starts at 0/300",
            ),
        ] {
            assert_eq!(needed(&ranges), Err(why.into()));
        }
    }

    #[test]
    fn summaries_must_have_it_all() {
        let there = [stretch(1, 10, 20), stretch(1, 20, 40), stretch(1, 50, 60), stretch(2, 0, 90)];
        assert_eq!(covering(&there, stretch(1, 12, 40)).unwrap(), there[..2]);
        assert_eq!(covering(&there, stretch(1, 30, 30)).unwrap(), []);
        let missing = covering(&there, stretch(1, 60, 70)).unwrap_err();
        assert!(
            missing
                .message()
                .ends_with("from 0/3C to 0/46, but no summaries for that timeline and LSN range exist")
        );
        let left = covering(&there, stretch(1, 10, 30)).unwrap_err();
        assert!(left.message().ends_with("are incomplete"), "the second leads beyond");
        let gap = covering(&there, stretch(1, 15, 60)).unwrap_err();
        assert!(gap.message().ends_with("but the summaries for that timeline and LSN range are incomplete"));
        assert_eq!(gap.report().detail.as_deref(), Some("The first unsummarized LSN in this range is 0/28."));
    }

    #[test]
    fn files_are_copied_whole_or_by_the_block() {
        let file = super::super::manifest::File { size: 8192, checksum: None };
        let names = ["base/5/7", "base/5/INCREMENTAL.7.1", "base/6/7"];
        let earlier = Manifest {
            system_identifier: 1,
            files: names.map(|name| (name.to_owned(), file.clone())).into(),
            ranges: vec![],
        };
        let mut basis = Basis { earlier: &earlier, changes: BlockTable::default() };
        let size = |blocks: u64| blocks * 8192;
        let of = |basis: &Basis<'_>, path: &str, segment: u32, blocks: u64| {
            basis
                .of_file(path, (REL, segment), size(blocks))
                .map(|file| (file.blocks, file.kept, file.length))
        };
        assert_eq!(of(&basis, "base/5/7", 0, 10), Some((vec![], 10, 10)), "nothing has changed");
        assert_eq!(of(&basis, "base/5/8", 0, 10), None, "the earlier backup does not have it");
        assert_eq!(basis.of_file("base/5/7", (REL, 0), 100), None, "no whole pages");
        for block in [3, 4, SEGMENT_PAGES + 2] {
            basis.changes.insert(REL, Fork::Main, BlockNo(block));
        }
        assert_eq!(of(&basis, "base/5/7", 0, 10), Some((vec![3, 4], 10, 10)));
        assert_eq!(of(&basis, "base/5/7.1", 1, 5), Some((vec![2], 5, 5)));
        assert_eq!(of(&basis, "base/5/7", 0, 2), Some((vec![], 2, 2)), "it is shorter now");
        assert_eq!(of(&basis, "base/5/7.1", 1, 1), Some((vec![], 1, 1)));
        basis.changes.cut(REL, Fork::Main, BlockNo(SEGMENT_PAGES));
        basis.changes.insert(REL, Fork::Main, BlockNo(SEGMENT_PAGES + 1));
        assert_eq!(of(&basis, "base/5/7.1", 1, 5), None, "all of it is new");
        basis.changes.cut(REL, Fork::Main, BlockNo(6));
        basis.changes.insert(REL, Fork::Main, BlockNo(7));
        assert_eq!(of(&basis, "base/5/7", 0, 10), Some((vec![3, 4, 7], 6, 10)));
        (0..10).for_each(|block| basis.changes.insert(REL, Fork::Main, BlockNo(block)));
        assert_eq!(of(&basis, "base/5/7", 0, 10), None, "most of it has changed");
        let other = RelFile { database: Oid(6), ..REL };
        assert!(basis.of_file("base/6/7", (other, 0), 8192).is_some());
        basis.changes.cut(RelFile::whole_database(Oid::PG_DEFAULT, Oid(6)), Fork::Main, BlockNo(0));
        assert!(basis.of_file("base/6/7", (other, 0), 8192).is_none(), "another database of that number");
    }
}
