//! What records of the log come to: PostgreSQL's table.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use base::Lsn;
use wal::{Figures, Record, Rmgr};

/// Figures of all kinds of records.
#[derive(Debug, Default)]
pub(super) struct Stats(BTreeMap<(Rmgr, &'static str), Figures>);

impl Stats {
    pub fn add(&mut self, record: &Record) {
        self.0.entry((record.rmgr, engine::describe(record).0)).or_default().add(Figures::of(record));
    }

    /// The table; `by_kind`: a line for each kind of record, else for each resource manager.
    pub fn table(&self, (from, to): (Lsn, Lsn), by_kind: bool) -> String {
        let mut lines = Vec::new();
        if by_kind {
            lines.extend(
                self.0.iter().map(|((rmgr, kind), figures)| (format!("{}/{kind}", rmgr.name()), *figures)),
            );
        } else {
            for rmgr in Rmgr::ALL {
                let mut sum = Figures::default();
                self.0.iter().filter(|((of, _), _)| *of == rmgr).for_each(|(_, figures)| sum.add(*figures));
                lines.push((rmgr.name().to_owned(), sum));
            }
        }
        let mut total = Figures::default();
        lines.iter().for_each(|(_, figures)| total.add(*figures));
        let mut out = format!("WAL statistics between {from} and {to}:\n");
        // Writing to a string does not fail.
        let mut heading = |cells: [&str; 9]| {
            let [name, count, share, cells @ ..] = cells;
            let _ = write!(out, "{name:<27} {count:>20} {share:>8}");
            for pair in cells.chunks(2) {
                let _ = write!(out, " {:>20} {:>8}", pair[0], pair[1]);
            }
            out.push('\n');
        };
        heading(["Type", "N", "(%)", "Record size", "(%)", "FPI size", "(%)", "Combined size", "(%)"]);
        heading(["----", "-", "---", "-----------", "---", "--------", "---", "-------------", "---"]);
        for (name, figures) in &lines {
            out.push_str(&line(name, figures, &total));
        }
        let rule = "--------";
        let _ = writeln!(
            out,
            "{:<27} {rule:>20} {:8} {rule:>20} {:8} {rule:>20} {:8} {rule:>20}",
            "", "", "", ""
        );
        let combined = total.combined();
        let share = |bytes: u64| format!("[{:.2}%]", percent(bytes, combined));
        let _ = writeln!(
            out,
            "{:<27} {:>20} {:>8} {:>20} {:>8} {:>20} {:>8} {combined:>20} [100%]",
            "Total",
            total.count,
            "",
            total.record,
            share(total.record),
            total.image,
            share(total.image),
        );
        out
    }
}

fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 }
}

fn line(name: &str, figures: &Figures, total: &Figures) -> String {
    let Figures { count, record, image } = *figures;
    let columns = [
        (count, total.count),
        (record, total.record),
        (image, total.image),
        (figures.combined(), total.combined()),
    ];
    let mut out = format!("{name:<27}");
    for (part, whole) in columns {
        // Writing to a string does not fail.
        let _ = write!(out, " {part:>20} ({:>6.2})", percent(part, whole));
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines that PostgreSQL 18 has written.
    #[test]
    fn a_table_is_as_postgresqls() {
        let mut stats = Stats::default();
        let figures = |count, record, image| Figures { count, record, image };
        stats.0.insert((Rmgr::Xlog, "FPI"), figures(320, 17_939, 1_874_064));
        stats.0.insert((Rmgr::Btree, "INSERT_LEAF"), figures(20_000, 2_946_688, 2_372_692));
        let table = stats.table((Lsn(0x100_0028), Lsn(0x16E_D498)), true);
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines[0], "WAL statistics between 0/1000028 and 0/16ED498:");
        assert_eq!(
            lines[1],
            "Type                                           N      (%)          Record size      (%)             FPI size      (%)        Combined size      (%)"
        );
        assert_eq!(
            lines[3],
            "XLOG/FPI                                     320 (  1.57)                17939 (  0.61)              1874064 ( 44.13)              1892003 ( 26.24)"
        );
        assert_eq!(
            lines[5],
            "                                        --------                      --------                      --------                      --------"
        );
        assert_eq!(
            lines[6],
            "Total                                      20320                       2964627 [41.11%]              4246756 [58.89%]              7211383 [100%]"
        );
    }
}
