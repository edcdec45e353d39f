//! A session whose answers are text.

use std::sync::Arc;

use base::{SqlError, SqlResult};
use session::{Format, Instance, Output, RowEncoder, Session, SessionInfo};
use tuple::Datum;

/// A session of the superuser. A crash drops it as it is: nothing is rolled back by its destructor.
pub struct Client(Session);

impl Client {
    /// Connects.
    pub fn connect(instance: &Arc<Instance>, pid: i32) -> Client {
        let info = SessionInfo::local(pid, "postgres".into(), "postgres".into());
        Client(Session::new(instance.clone(), info).expect("the superuser can connect"))
    }

    /// Rows, their columns separated by `|`.
    pub fn run(&self, sql: &str) -> SqlResult<Vec<String>> {
        let mut rows = Rows::default();
        let executed = self.0.simple_query(sql, &mut rows);
        answer(executed, rows)
    }

    /// As [`Client::run`], through the extended protocol.
    pub fn run_extended(&self, sql: &str) -> SqlResult<Vec<String>> {
        let mut rows = Rows::default();
        let executed = self
            .0
            .parse("", sql, &[], &mut rows)
            .and_then(|()| self.0.bind("", "", &[], &[], &[]))
            .and_then(|()| self.0.execute("", 0, &mut rows));
        let executed = executed.and(self.0.sync(&mut rows));
        answer(executed, rows)
    }

    /// What `psql -At` would show: rows, or the error.
    pub fn show(&self, sql: &str) -> String {
        match self.run(sql) {
            Ok(rows) => rows.join("\n"),
            Err(error) => format!("{} {error}", error.code()),
        }
    }

    /// Disconnects.
    pub fn close(self) {
        self.0.close();
    }
}

/// What a client is told, rows or the error alike, once nothing of it can be lost any more: as the server does it before it sends anything.
fn answer(executed: SqlResult<()>, rows: Rows) -> SqlResult<Vec<String>> {
    runtime::rest::settle()?;
    executed.map(|()| rows.0)
}

#[derive(Default)]
struct Rows(Vec<String>);

impl Output for Rows {
    fn data_row(&mut self, encoder: &RowEncoder<'_>, row: &[Datum]) -> SqlResult<()> {
        let mut line = Vec::new();
        for (i, value) in row.iter().enumerate() {
            if i > 0 {
                line.push(b'|');
            }
            encoder.encode(i, value, &mut line)?;
        }
        self.0.push(String::from_utf8_lossy(&line).into_owned());
        Ok(())
    }
    fn notice(&mut self, _: &SqlError) {}
    fn copy_in(&mut self, _: Format, _: usize) -> SqlResult<()> {
        Ok(())
    }
    fn copy_out_data(&mut self, row: &[u8]) -> SqlResult<()> {
        self.0.push(String::from_utf8_lossy(row).into_owned());
        Ok(())
    }
}
