//! A table of sums, which tell whether a copy has all that the original has.

use super::{Client, Server};

/// Makes the table.
pub fn create(server: &Server) {
    server.client().query("create table t (n int primary key, amount int, pad text)").unwrap();
}

/// Adds `count` rows.
pub fn add(client: &mut Client, from: u32, count: u32) {
    let statement = format!(
        "insert into t select n, n % 97, repeat('x', 200) from generate_series({from}, {}) n",
        from + count - 1
    );
    client.query(&statement).unwrap();
}

/// What the rows come to.
pub fn sum(client: &mut Client) -> String {
    client.value("select count(*) || ' ' || coalesce(sum(amount), 0) from t")
}
