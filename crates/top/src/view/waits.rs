//! Waits: what sessions that have something to do waited for in the last minute.

use super::{column, figures};
use crate::model::WaitHistory;
use crate::table::{Cell, Column, Row, Table, Tone};
use crate::text::{bars, one_line};

/// Place of the column with the average number of sessions.
pub const AVERAGE: usize = 3;

const COLUMNS: &[Column] = &[
    column("TYPE", 6, 14, 8),
    column("EVENT", 10, 32, 9),
    figures("NOW", 5, 7, 7),
    figures("AVG", 6, 8, 7),
    figures("MAX", 5, 7, 6),
    figures("SHARE", 5, 6, 5),
    column("LAST MINUTE", 0, 0, 9),
];

/// The table. `width`: of the histograms.
pub fn table(history: &WaitHistory, width: usize) -> Table {
    let waits = history.waits();
    let samples = history.len().max(1) as f64;
    let sum = |counts: &[usize]| counts.iter().sum::<usize>();
    let all = waits.values().map(|counts| sum(counts)).sum::<usize>().max(1) as f64;
    let top = waits.values().flatten().copied().max().unwrap_or(0);
    let row = |((kind, event), counts): (&(String, String), Vec<usize>)| {
        let count = |count: usize| Cell::number(count as f64, count.to_string());
        let (now, max) = (counts.last().copied().unwrap_or(0), counts.iter().copied().max().unwrap_or(0));
        let (average, share) = (sum(&counts) as f64 / samples, sum(&counts) as f64 / all);
        let runs = event.is_empty();
        Row {
            key: format!("{kind}:{event}"),
            pid: None,
            tone: match kind.as_str() {
                _ if runs => Tone::Busy,
                "Lock" => Tone::Blocked,
                _ => Tone::Plain,
            },
            cells: vec![
                Cell::text(if runs { "(none)".to_string() } else { one_line(kind) }),
                Cell::text(if runs { "running".to_string() } else { one_line(event) }),
                count(now),
                Cell::number(average, format!("{average:.1}")),
                count(max),
                Cell::number(share, format!("{:.0}%", share * 100.0)),
                Cell::number(average, bars(&counts, top, width)),
            ],
        }
    };
    Table {
        columns: COLUMNS,
        rows: waits.into_iter().map(row).collect(),
        empty: "No session had anything to do.",
    }
}
