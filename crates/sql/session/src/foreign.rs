//! # What
//! Foreign-data wrappers: who reads foreign tables. A module provides one behind the symbol of a handler function ([`ModuleFunction::Wrapper`]); CREATE FOREIGN
//! DATA WRAPPER ... HANDLER leads to it, and servers and tables of that wrapper.
//!
//! # Invariants
//! 1. A plan refers to no wrapper: it is found again when the plan runs, with the options that tables and servers have then.
//! 2. The executor knows a scan as something of the session's that it lends back for each row ([`eval::cx::Facilities`]).
//!
//! # PostgreSQL counterpart and differences
//! `foreign/fdwapi.h`, `foreign/foreign.c`. A wrapper gives all rows of a table; conditions, joins and sorts are not handed to it, and it changes no rows.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::change::{ForeignOptions, options_of};
use catalog::system::{pg_foreign_data_wrapper as w, pg_foreign_server as s};
use catalog::{CatalogView, RowExt, Table};
pub use plan::{ForeignDetail, ForeignRows, Settings};
use tuple::Datum;

use crate::Session;
use crate::module::ModuleFunction;

/// A foreign table as its wrapper sees it.
#[derive(Clone, Debug)]
pub struct ForeignTable {
    /// The table.
    pub table: Arc<Table>,
    /// Options of its server.
    pub server: ForeignOptions,
    /// Its own.
    pub options: ForeignOptions,
    /// Those of each column.
    pub columns: Vec<ForeignOptions>,
}

/// A foreign-data wrapper.
pub trait Wrapper: Debug + Sync {
    /// How many rows a table is expected to have, what they cost, and what EXPLAIN tells.
    fn expect(&self, session: &Session, table: &ForeignTable, settings: &Settings) -> SqlResult<ForeignRows>;

    /// How large ANALYZE says that a table is, in pages. None: it cannot be read for statistics.
    fn pages(&self, session: &Session, table: &ForeignTable) -> SqlResult<Option<u32>>;

    /// Begins to read a table; values of columns that are not wanted may be left NULL.
    fn begin(&self, session: &Session, table: &ForeignTable, wanted: &[bool]) -> SqlResult<Box<dyn Scan>>;
}

/// A foreign table that is being read. It ends when it is dropped.
pub trait Scan {
    /// The next row: a value for each column of the table. False behind the last.
    fn next(&mut self, session: &Session, row: &mut Vec<Datum>) -> SqlResult<bool>;
}

/// The wrapper of a server.
pub fn wrapper_of(session: &Session, server: Oid) -> SqlResult<&'static dyn Wrapper> {
    let server = session.with_reader(|reader| reader.server(server))?;
    let row = session.with_reader(|reader| reader.wrapper(server.oid(s::SRVFDW)))?;
    let (name, handler) = (row.str(w::FDWNAME), row.oid(w::FDWHANDLER));
    if !handler.is_valid() {
        return Err(sql_err!(
            OBJECT_NOT_IN_PREREQUISITE_STATE,
            "foreign-data wrapper \"{name}\" has no handler"
        ));
    }
    let function = session.function_by_oid(handler)?;
    let function = function.ok_or_else(|| SqlError::internal(format!("function {handler} is gone")))?;
    let library = function.library.as_deref().unwrap_or_default();
    match session.instance().modules().function(library, &function.source)? {
        ModuleFunction::Wrapper(wrapper) => Ok(wrapper),
        _ => Err(SqlError::not_supported(format!("function {} as the handler of a wrapper", function.name))),
    }
}

impl Session {
    /// A foreign table, with who reads it.
    fn foreign_table(&self, table: &Arc<Table>) -> SqlResult<(&'static dyn Wrapper, ForeignTable)> {
        if self.restricts("foreign-table") {
            return Err(sql_err!(
                OBJECT_NOT_IN_PREREQUISITE_STATE,
                "access to non-system foreign table is restricted"
            ));
        }
        let source = self.with_reader(|reader| reader.foreign_table(table.oid))?;
        let wrapper = wrapper_of(self, source.server)?;
        let server = self.with_reader(|reader| reader.server(source.server))?;
        let columns = (1..=table.columns.len() as i16)
            .map(|number| self.with_reader(|reader| reader.foreign_column_options(table.oid, number)));
        let columns = columns.collect::<SqlResult<_>>()?;
        let server = options_of(&server[s::SRVOPTIONS]);
        Ok((wrapper, ForeignTable { table: table.clone(), server, options: source.options, columns }))
    }

    /// What is to be expected of the rows of a foreign table.
    pub(crate) fn expect_foreign(&self, table: &Table, settings: &Settings) -> SqlResult<ForeignRows> {
        let (wrapper, table) = self.foreign_table(&Arc::new(table.clone()))?;
        wrapper.expect(self, &table, settings)
    }

    /// Pages of a foreign table, for ANALYZE; none if it cannot be read for statistics.
    pub fn foreign_pages(&self, table: &Arc<Table>) -> SqlResult<Option<u32>> {
        let (wrapper, table) = self.foreign_table(table)?;
        wrapper.pages(self, &table)
    }

    /// Begins to read a foreign table.
    pub fn begin_foreign(&self, table: &Arc<Table>, wanted: &[bool]) -> SqlResult<Box<dyn Scan>> {
        let (wrapper, table) = self.foreign_table(table)?;
        wrapper.begin(self, &table, wanted)
    }

    /// The next row of a scan that the executor lends back.
    pub(crate) fn next_foreign(&self, scan: &mut dyn Any, row: &mut Vec<Datum>) -> SqlResult<bool> {
        match scan.downcast_mut::<Box<dyn Scan>>() {
            Some(scan) => scan.next(self, row),
            None => Err(SqlError::internal("a foreign scan of somebody else's")),
        }
    }
}
