//! Files and programs of the server that are read row by row, as foreign tables are.

use std::sync::Arc;

use base::SqlResult;
use catalog::Table;
use parse::ast::{CopyTarget, DefElem, Location, OptionValue};
use session::commands::{FileRead, FileSource};
use session::foreign::Scan;
use session::progress::{Lengthy, Progress};
use session::{Session, reach};
use tuple::Datum;

use super::column_numbers;
use super::file::Source;
use super::from::{Given, Input, Load};
use super::options::{self, CopyOptions};
use crate::initialize::Silent;

/// Options as COPY FROM would be given them.
pub(crate) fn options(read: &FileRead) -> SqlResult<CopyOptions> {
    let option = |name: &str, value| DefElem {
        namespace: None,
        name: name.to_owned(),
        value: Some(value),
        location: Location::NONE,
    };
    let written = |(name, value): &(String, String)| option(name, OptionValue::String(value.clone()));
    let mut list: Vec<DefElem> = read.options.iter().map(written).collect();
    for (name, columns) in [("force_not_null", &read.force_not_null), ("force_null", &read.force_null)] {
        if !columns.is_empty() {
            let columns = columns.iter().cloned().map(OptionValue::String).collect();
            list.push(option(name, OptionValue::List(columns)));
        }
    }
    options::read(&list, true, "")
}

/// Opens a file, or starts a program.
pub(crate) fn open(
    session: &Session,
    (table, wanted): (&Arc<Table>, &[bool]),
    source: &FileSource,
    read: &FileRead,
) -> SqlResult<Box<dyn Scan>> {
    let options = Arc::new(options(read)?);
    let numbers = column_numbers(table, &[])?;
    let target = match source {
        FileSource::File(path) => {
            reach::check_file(session, path)?;
            CopyTarget::File(path.clone())
        }
        FileSource::Program(command) => {
            reach::check_programs(session)?;
            CopyTarget::Program(command.clone())
        }
    };
    let source = Source::open(&target, options.format, numbers.len(), &mut Silent)?;
    let mut rows = Rows {
        options,
        table: table.clone(),
        numbers,
        wanted: wanted.to_vec(),
        progress: Progress::new(Lengthy::Copy, table.oid),
        state: None,
    };
    let input = Input::new(session, &rows.options, table, &rows.numbers)?;
    rows.state = Some((source, input));
    Ok(Box::new(rows))
}

/// The rows of a file.
struct Rows {
    options: Arc<CopyOptions>,
    table: Arc<Table>,
    numbers: Vec<usize>,
    wanted: Vec<bool>,
    progress: Progress,
    /// None behind the last row, and behind an error.
    state: Option<(Source, Input)>,
}

impl Rows {
    fn given<'a>(&'a self, session: &'a Session) -> Given<'a> {
        Given {
            session,
            options: &self.options,
            table: &self.table,
            numbers: &self.numbers,
            wanted: &self.wanted,
            progress: &self.progress,
        }
    }
}

impl Scan for Rows {
    fn next(&mut self, session: &Session, row: &mut Vec<Datum>) -> SqlResult<bool> {
        let Some((mut source, input)) = self.state.take() else { return Ok(false) };
        let mut load = Load::resume(self.given(session), input);
        if !load.take(&mut source, &mut Silent, row)? {
            source.finish()?;
            return Ok(false);
        }
        self.state = Some((source, load.suspend()));
        Ok(true)
    }
}
