//! What a run used of pages and of the log.

use runtime::usage::Usage;

use super::document::{Item, Property, Value};

/// Pages and temporary files; `timed`: with the times of reads and writes.
pub fn buffers(usage: &Usage, timed: bool) -> Vec<Item> {
    let mut fields = Vec::new();
    for (label, count) in [
        ("Shared Hit Blocks", usage.shared_hit),
        ("Shared Read Blocks", usage.shared_read),
        ("Shared Dirtied Blocks", usage.shared_dirtied),
        ("Shared Written Blocks", usage.shared_written),
        // Pages of temporary tables are in the shared pool.
        ("Local Hit Blocks", 0),
        ("Local Read Blocks", 0),
        ("Local Dirtied Blocks", 0),
        ("Local Written Blocks", 0),
        ("Temp Read Blocks", usage.temp_read),
        ("Temp Written Blocks", usage.temp_written),
    ] {
        fields.push(Property::new(label, count));
    }
    let mut out = vec![Item::Line(blocks_line(usage), fields)];
    if timed {
        let fields = [
            ("Shared I/O Read Time", usage.shared_read_time),
            ("Shared I/O Write Time", usage.shared_write_time),
            ("Local I/O Read Time", 0),
            ("Local I/O Write Time", 0),
            ("Temp I/O Read Time", usage.temp_read_time),
            ("Temp I/O Write Time", usage.temp_write_time),
        ];
        let fields = fields.map(|(label, nanos)| Property::new(label, Value::float(millis(nanos), 3)));
        out.push(Item::Line(times_line(usage), fields.into()));
    }
    out
}

/// Whether the text format shows a line about pages.
pub fn any_buffers(usage: &Usage) -> bool {
    blocks_line(usage).is_some() || times_line(usage).is_some()
}

/// ` name=count` of those that are not zero.
fn counts(list: &[(&str, u64)]) -> String {
    list.iter().filter(|(_, n)| *n > 0).map(|(name, n)| format!(" {name}={n}")).collect()
}

/// The parts that say something, behind their names.
fn parts(head: &str, list: [(&str, String); 2]) -> Option<String> {
    let list: Vec<String> = list
        .into_iter()
        .filter(|(_, text)| !text.is_empty())
        .map(|(name, text)| format!(" {name}{text}"))
        .collect();
    (!list.is_empty()).then(|| format!("{head}:{}", list.join(",")))
}

fn blocks_line(usage: &Usage) -> Option<String> {
    let shared = counts(&[
        ("hit", usage.shared_hit),
        ("read", usage.shared_read),
        ("dirtied", usage.shared_dirtied),
        ("written", usage.shared_written),
    ]);
    let temp = counts(&[("read", usage.temp_read), ("written", usage.temp_written)]);
    parts("Buffers", [("shared", shared), ("temp", temp)])
}

fn times_line(usage: &Usage) -> Option<String> {
    let times = |read: u64, write: u64| {
        let shown = |(name, nanos): (&str, u64)| match nanos {
            0 => String::new(),
            nanos => format!(" {name}={:.3}", millis(nanos)),
        };
        [("read", read), ("write", write)].map(shown).concat()
    };
    let shared = times(usage.shared_read_time, usage.shared_write_time);
    let temp = times(usage.temp_read_time, usage.temp_write_time);
    parts("I/O Timings", [("shared", shared), ("temp", temp)])
}

/// What was logged.
pub fn wal(usage: &Usage) -> Item {
    let counts = counts(&[
        ("records", usage.wal_records),
        ("fpi", usage.wal_images),
        ("bytes", usage.wal_bytes),
        ("buffers full", usage.wal_buffers_full),
    ]);
    let line = (!counts.is_empty()).then(|| format!("WAL:{counts}"));
    let fields = [
        ("WAL Records", usage.wal_records),
        ("WAL FPI", usage.wal_images),
        ("WAL Bytes", usage.wal_bytes),
        ("WAL Buffers Full", usage.wal_buffers_full),
    ];
    Item::Line(line, fields.map(|(label, count)| Property::new(label, count)).into())
}

fn millis(nanos: u64) -> f64 {
    nanos as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_used_is_in_the_text() {
        assert_eq!(blocks_line(&Usage::default()), None);
        let usage = Usage { shared_hit: 3, shared_dirtied: 1, temp_written: 7, ..Usage::default() };
        assert_eq!(blocks_line(&usage).unwrap(), "Buffers: shared hit=3 dirtied=1, temp written=7");
        let usage = Usage { shared_read_time: 1_500_000, ..Usage::default() };
        assert_eq!(times_line(&usage).unwrap(), "I/O Timings: shared read=1.500");
        let Item::Line(Some(line), _) = wal(&Usage { wal_records: 2, wal_bytes: 99, ..usage }) else {
            panic!()
        };
        assert_eq!(line, "WAL: records=2 bytes=99");
    }
}
