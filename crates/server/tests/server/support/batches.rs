//! The same answers over batches and over rows, and in other ways that must not tell.

use super::{Client, Failure, run};

/// The rows of a query, sorted, or its error.
pub fn answer(client: &mut Client, text: &str) -> Result<Vec<Vec<Option<String>>>, (String, String)> {
    match client.query(text) {
        Ok(mut rows) => {
            rows.sort();
            Ok(rows)
        }
        Err(Failure::Error { code, message, .. }) => Err((code, message)),
        Err(Failure::Lost) => panic!("the connection is gone: {text}"),
    }
}

/// Asserts that a query answers the same with batches and without.
pub fn assert_same(client: &mut Client, text: &str) {
    assert_same_after(
        client,
        ["set stampede.batch_execution = off", "set stampede.batch_execution = on"],
        text,
    );
}

/// Asserts that a query answers the same after each of two settings.
pub fn assert_same_after(client: &mut Client, settings: [&str; 2], text: &str) {
    let [first, second] = settings.map(|setting| {
        run(client, &[setting]);
        answer(client, text)
    });
    assert_eq!(second, first, "{text}");
}

/// Even small tables are shared by participants.
pub const EAGER: &[&str] = &[
    "set parallel_setup_cost = 0",
    "set parallel_tuple_cost = 0",
    "set min_parallel_table_scan_size = 0",
    "set min_parallel_index_scan_size = 0",
];

/// Settings for [`assert_same_after`]: without helpers, and with.
pub const ALONE_AND_TOGETHER: [&str; 2] =
    ["set max_parallel_workers_per_gather = 0", "set max_parallel_workers_per_gather = 4"];

/// What EXPLAIN ANALYZE says, without what differs from run to run.
pub fn analyzed(client: &mut Client, text: &str) -> String {
    let options = "analyze, verbose, costs off, timing off, summary off, buffers on";
    let rows = client.query(&format!("explain ({options}) {text}")).unwrap();
    let lines = rows.into_iter().map(|row| row[0].clone().unwrap_or_default());
    lines.take_while(|line| !line.starts_with("Planning")).collect::<Vec<_>>().join("\n")
}
