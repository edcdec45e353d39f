//! The lines above the table: the server, its connections, its work.

use crate::model::{Snapshot, connections};
use crate::text::{bytes, count, duration, one_line};

/// Three lines. `rate`: transactions in a second, if known.
pub fn lines(place: &str, snapshot: &Snapshot, rate: Option<f64>) -> Vec<String> {
    let server = &snapshot.server;
    let connections = connections(snapshot);
    let totals = &snapshot.totals;
    let pages = totals.hits + totals.reads;
    let hits = if pages > 0.0 { format!("{:.1}%", totals.hits / pages * 100.0) } else { "-".to_string() };
    let rate = rate.map(|rate| format!("{} tx/s, ", count(rate))).unwrap_or_default();
    vec![
        one_line(&format!("{}, {place}/{}, up {}", server.version, server.database, duration(server.uptime))),
        format!(
            "{}/{} connections: {} active, {} idle in tx, {} idle, {} blocked",
            connections.all,
            server.max_connections,
            connections.active,
            connections.idle_in_transaction,
            connections.idle,
            connections.blocked
        ),
        format!(
            "{rate}{} commits, {} rollbacks, {hits} cache hits, {} temp, {} deadlocks",
            count(totals.commits),
            count(totals.rollbacks),
            bytes(totals.temp_bytes),
            count(totals.deadlocks)
        ),
    ]
}
