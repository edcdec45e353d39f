//! Summaries of the log: which there are, what they say, how far the log is summarized.
//!
//! # PostgreSQL counterpart
//! `walsummaryfuncs.c`.

use base::{BlockNo, Lsn, SqlResult, TimelineId, sql_err};
use engine::summaries::Summary;
use tuple::Datum;
use types::SessionFn;

use super::{Row, arg};
use crate::Session;

/// The number by which the summarizer is shown.
pub const SUMMARIZER_PID: i32 = 7;

impl Session {
    pub(super) fn summary_rows(&self, id: SessionFn, args: &[Datum]) -> SqlResult<Option<Vec<Row>>> {
        Ok(Some(match id {
            SessionFn::PgAvailableWalSummaries => {
                let summaries = self.engine().summaries()?;
                summaries.iter().map(|summary| stretch(summary).to_vec()).collect()
            }
            SessionFn::PgWalSummaryContents => self.summary_contents(args)?,
            SessionFn::PgGetWalSummarizerState => vec![self.summarizer_state()],
            _ => return Ok(None),
        }))
    }

    fn summarizer_state(&self) -> Row {
        let is_shown =
            self.instance.sessions().background().iter().any(|background| background.pid == SUMMARIZER_PID);
        let reached = self.engine().summarized();
        let lsn = |of: Option<Lsn>| Datum::Int8(of.unwrap_or_default().0 as i64);
        vec![
            Datum::Int8(reached.map_or(0, |reached| reached.timeline.0.into())),
            lsn(reached.map(|reached| reached.on_disk)),
            lsn(reached.map(|reached| reached.in_memory)),
            if is_shown { Datum::Int4(SUMMARIZER_PID) } else { Datum::Null },
        ]
    }

    /// A row for each limit and for each changed block.
    fn summary_contents(&self, args: &[Datum]) -> SqlResult<Vec<Row>> {
        let timeline: i64 = arg(args, 0);
        let timeline = u32::try_from(timeline)
            .ok()
            .filter(|timeline| (1..=i32::MAX as u32).contains(timeline))
            .ok_or_else(|| sql_err!(INVALID_PARAMETER_VALUE, "invalid timeline {timeline}"))?;
        let lsn = |n: usize| Lsn(arg::<i64>(args, n) as u64);
        let summary = Summary { timeline: TimelineId(timeline), start: lsn(1), end: lsn(2) };
        let mut rows = Vec::new();
        for (rel, fork, changes) in self.engine().summary(&summary)?.forks() {
            let row = |block: BlockNo, is_limit: bool| {
                vec![
                    Datum::Oid(rel.number),
                    Datum::Oid(rel.tablespace.0),
                    Datum::Oid(rel.database.0),
                    Datum::Int2(fork as i16),
                    Datum::Int8(block.0.into()),
                    Datum::Bool(is_limit),
                ]
            };
            rows.extend(changes.limit.map(|limit| row(limit, true)));
            for block in changes.blocks.iter() {
                runtime::check_interrupts()?;
                rows.push(row(block, false));
            }
        }
        Ok(rows)
    }
}

fn stretch(summary: &Summary) -> [Datum; 3] {
    [
        Datum::Int8(summary.timeline.0.into()),
        Datum::Int8(summary.start.0 as i64),
        Datum::Int8(summary.end.0 as i64),
    ]
}
