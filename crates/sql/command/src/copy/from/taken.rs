//! Loads whose rows are taken one by one, by who stops between two of them: scans of foreign tables.

use std::sync::Arc;

use base::SqlResult;
use catalog::Table;
use session::Session;
use session::output::Output;
use session::progress::Progress;
use tuple::Datum;
use types::Call;

use super::super::file::Source;
use super::super::options::{CopyOptions, Format};
use super::{Input, Load, Target};

/// What a load of rows that are taken one by one refers to.
#[derive(Clone, Copy)]
pub(in super::super) struct Given<'a> {
    pub(in super::super) session: &'a Session,
    pub(in super::super) options: &'a Arc<CopyOptions>,
    pub(in super::super) table: &'a Arc<Table>,
    /// Positions of the columns that the file has.
    pub(in super::super) numbers: &'a [usize],
    /// The columns whose values are wanted.
    pub(in super::super) wanted: &'a [bool],
    pub(in super::super) progress: &'a Progress,
}

impl<'a> Load<'a> {
    /// A load whose rows are taken one by one, from its beginning or behind a row.
    pub(in super::super) fn resume(given: Given<'a>, input: Input) -> Load<'a> {
        let Given { session, options, table, numbers, wanted, progress } = given;
        let load = Load::new(session, options, table, numbers, (Target::Taken, progress), input);
        Load { wanted: Some(wanted), ..load }
    }

    /// What is needed to go on.
    pub(in super::super) fn suspend(self) -> Input {
        self.input
    }

    /// Reads the next row into `row`; false behind the last. Errors tell the place.
    pub(in super::super) fn take(
        &mut self,
        source: &mut Source,
        out: &mut dyn Output,
        row: &mut Vec<Datum>,
    ) -> SqlResult<bool> {
        let found = self.next_row(source, out).map_err(|error| self.locate(error))?;
        match found {
            true => std::mem::swap(row, &mut self.row),
            false => self.report_skipped(),
        }
        Ok(found)
    }

    fn next_row(&mut self, source: &mut Source, out: &mut dyn Output) -> SqlResult<bool> {
        let format = self.session.format();
        let call = Call::new(&format).with_session(self.session);
        if self.options.format == Format::Binary {
            return self.binary_row(&call, source, out);
        }
        while self.next_line(source, out)? {
            if self.line(&call)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
