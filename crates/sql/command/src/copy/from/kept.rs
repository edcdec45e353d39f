//! Loads whose rows are taken one by one, by who stops between two of them: scans of foreign tables.

use std::sync::Arc;

use base::{Oid, SqlResult};
use catalog::Table;
use session::Session;
use session::output::Output;
use session::progress::Progress;
use tuple::Datum;
use types::Call;
use types::encoding::Passage;

use super::super::binary;
use super::super::encoding::Decoder;
use super::super::file::Source;
use super::super::options::{CopyOptions, Format, Header};
use super::super::split::Splitter;
use super::{Load, Place, Target};
use crate::expression::ColumnDefault;

/// What is kept of a load between two rows that are taken one by one.
pub(in super::super) struct Kept {
    domains: Vec<Option<Oid>>,
    force_not_null: Vec<bool>,
    force_null: Vec<bool>,
    splitter: Splitter,
    passage: Option<Passage>,
    decoder: Option<Decoder>,
    last: bool,
    header: Header,
    binary: binary::Reader,
    skipped: i64,
    defaults: Vec<Option<Option<ColumnDefault>>>,
}

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
    /// A load whose rows are taken one by one.
    pub(in super::super) fn taken(given: Given<'a>) -> SqlResult<Load<'a>> {
        let Given { session, options, table, numbers, wanted, progress } = given;
        let load = Load::new(session, options, table, numbers, (Target::Taken, progress))?;
        Ok(Load { wanted: Some(wanted), ..load })
    }

    /// The same, going on behind a row.
    pub(in super::super) fn resume(given: Given<'a>, kept: Kept) -> Load<'a> {
        let Given { session, options, table, numbers, wanted, progress } = given;
        let Kept { force_not_null, force_null, splitter, passage, decoder, last, header, binary, .. } = kept;
        let Kept { skipped, defaults, domains, .. } = kept;
        Load {
            session,
            options,
            table,
            numbers,
            domains,
            force_not_null,
            force_null,
            target: Target::Taken,
            splitter,
            passage,
            decoder,
            last,
            header,
            binary,
            wanted: Some(wanted),
            place: Place::None,
            row: Vec::new(),
            batch: Vec::new(),
            lines: Vec::new(),
            bytes: 0,
            rows: 0,
            skipped,
            progress,
            filtered: false,
            defaults,
        }
    }

    /// What is needed to go on.
    pub(in super::super) fn suspend(self) -> Kept {
        let Load { force_not_null, force_null, splitter, passage, decoder, last, header, binary, .. } = self;
        let Load { skipped, defaults, domains, .. } = self;
        Kept {
            force_not_null,
            force_null,
            splitter,
            passage,
            decoder,
            last,
            header,
            binary,
            skipped,
            defaults,
            domains,
        }
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
