//! What · A reader's connection that shows half of the lists as they were one transaction before.
//!
//! So would a standby look whose replay lets some commits be seen too late. Each list goes forward, a transaction sees the same twice, and no statement fails: only the
//! order of commits across lists tells. Tests put it in to see that the check finds it.

use std::time::Duration;

use crate::record::ListId;
use crate::session::{Database, Failure, LOOK};

/// The connection, and what it showed.
pub struct Torn<D> {
    db: D,
    /// Rows as they are in this transaction, and as they were in the one before.
    now: Vec<String>,
    before: Vec<String>,
}

impl<D> Torn<D> {
    /// Over a sound one.
    pub fn new(db: D) -> Torn<D> {
        Torn { db, now: Vec::new(), before: Vec::new() }
    }
}

impl<D: Database> Database for Torn<D> {
    fn run(&mut self, sql: &str) -> Result<Vec<String>, Failure> {
        if sql.starts_with("begin") {
            self.before.clone_from(&self.now);
        }
        let rows = self.db.run(sql)?;
        if sql != LOOK {
            return Ok(rows);
        }
        self.now.clone_from(&rows);
        if self.before.is_empty() {
            return Ok(rows);
        }
        let old = self.before.iter().filter(|row| is_late(row)).cloned();
        Ok(rows.into_iter().filter(|row| !is_late(row)).chain(old).collect())
    }

    fn pause(&mut self, time: Duration) {
        self.db.pause(time);
    }
}

/// Whether a row is of a list that is shown as it was.
fn is_late(row: &str) -> bool {
    let list = row.split_once('|').and_then(|(list, _)| list.parse::<ListId>().ok());
    list.is_some_and(|list| list % 2 == 1)
}
