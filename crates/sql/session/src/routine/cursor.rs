//! Cursors of procedural languages: they are those of SQL, opened over statements of a body.

use analyze::ColumnType;
use base::{Oid, SqlResult};
use parse::ast::{Fetch, FetchDirection};
use tuple::Datum;

use super::statement::{BodyStatement, Sees, Sink};
use crate::Session;

impl Session {
    /// Opens a cursor over a query; without a name it gets one. Gives its name.
    pub fn open_in_body(
        &self,
        name: Option<&str>,
        statement: &BodyStatement,
        params: Vec<Datum>,
        (scroll, sees): (Option<bool>, Sees<'_>),
    ) -> SqlResult<String> {
        if let Sees::Now = sees {
            self.see_changes()?;
        }
        let name = match name {
            Some(name) => name.to_owned(),
            None => self.unnamed_cursor(),
        };
        self.open_cursor(&name, statement.source().clone(), params, scroll)?;
        Ok(name)
    }

    /// FETCH or MOVE from a cursor. Gives the number of rows.
    pub fn fetch_in_body(
        &self,
        name: &str,
        direction: FetchDirection,
        is_move: bool,
        each: &mut dyn FnMut(&[Datum]) -> SqlResult<()>,
    ) -> SqlResult<u64> {
        let fetch = Fetch { direction, cursor: name.to_owned(), is_move };
        let mut sink = Sink::new(self, each);
        let tag = self.fetch(&fetch, &mut sink)?;
        Ok(tag.rsplit(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0))
    }

    /// Columns of a cursor.
    pub fn cursor_columns_in_body(&self, name: &str) -> SqlResult<Vec<ColumnType>> {
        let columns = self.cursor_columns(name)?;
        let column = |c: &crate::output::Column| ColumnType {
            name: c.name.to_string(),
            type_oid: c.type_oid,
            typmod: c.typmod,
            collation: Oid::INVALID,
        };
        Ok(columns.iter().flat_map(|list| list.iter()).map(column).collect())
    }

    /// CLOSE.
    pub fn close_in_body(&self, name: &str) -> SqlResult<()> {
        self.close_cursor(Some(name))
    }
}
