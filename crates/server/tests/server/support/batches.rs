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
