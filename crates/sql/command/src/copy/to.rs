//! COPY TO: a table's or a query's rows as text or bytes.

use base::{Oid, SqlResult, sql_err};
use catalog::{RelationKind, Table};
use parse::Statement;
use parse::ast::Copy;
use session::output::Output;
use session::progress::Running;
use session::{Session, Source};
use tuple::{Datum, Selection, Undecoded};
use txn::LockMode;
use types::Call;
use types::encoding::Passage;

use super::binary;
use super::encoding;
use super::file::Sink;
use super::options::{CopyOptions, Format, Header};
use super::split::{finish_field, write_field};
use super::{check_access, column_numbers, forced};
use crate::internal::Internal;
use crate::{alter, names};

/// Runs it. Returns the number of rows.
pub(super) fn run(
    session: &Session,
    copy: &Copy,
    options: &CopyOptions,
    text: &str,
    out: &mut dyn Output,
) -> SqlResult<u64> {
    match (&copy.relation, &copy.query) {
        (Some(name), _) => {
            let table = names::open(session, name, LockMode::AccessShare)?;
            let numbers = column_numbers(&table, &copy.columns)?;
            check_access(session, &table, &numbers, true)?;
            if session.secures(&table, None)? {
                let names = numbers.iter().map(|n| table.columns[*n].name.as_str());
                let query = alter::select_columns(&table, names);
                return copy_query(session, copy, options, (&query, text), out);
            }
            check(&table)?;
            copy_table(session, copy, options, &table, &numbers, out)
        }
        (None, Some(query)) => copy_query(session, copy, options, (query, text), out),
        (None, None) => Err(base::SqlError::internal("COPY of nothing")),
    }
}

fn check(table: &Table) -> SqlResult<()> {
    let name = &table.name;
    match table.kind {
        RelationKind::Table | RelationKind::Toast | RelationKind::MaterializedView => {}
        RelationKind::View => {
            return Err(sql_err!(WRONG_OBJECT_TYPE, "cannot copy from view \"{name}\"")
                .hint("Try the COPY (SELECT ...) TO variant."));
        }
        RelationKind::PartitionedTable => {
            return Err(sql_err!(WRONG_OBJECT_TYPE, "cannot copy from partitioned table \"{name}\"")
                .hint("Try the COPY (SELECT ...) TO variant."));
        }
        RelationKind::Sequence => {
            return Err(sql_err!(WRONG_OBJECT_TYPE, "cannot copy from sequence \"{name}\""));
        }
        _ => {
            return Err(sql_err!(WRONG_OBJECT_TYPE, "cannot copy from non-table relation \"{name}\""));
        }
    }
    Ok(())
}

/// Writes rows of columns with these names and types.
struct Writer<'a> {
    options: &'a CopyOptions,
    types: Vec<Oid>,
    force_quote: Vec<bool>,
    sink: Sink,
    passage: Option<Passage>,
    line: Vec<u8>,
    rows: u64,
    bytes: u64,
    progress: Running<'a>,
}

impl<'a> Writer<'a> {
    fn open(
        session: &'a Session,
        copy: &Copy,
        options: &'a CopyOptions,
        (table, columns): (Option<&Table>, &[(&str, Oid)]),
        out: &mut dyn Output,
    ) -> SqlResult<Writer<'a>> {
        let names: Vec<&str> = columns.iter().map(|c| c.0).collect();
        let force_quote = forced(table, &options.force_quote, &names, "FORCE_QUOTE")?;
        let passage = encoding::of_file(session, options, false)?;
        let sink = Sink::open(&copy.target, options.format, columns.len(), out)?;
        // The header travels with the first row, or with the trailer if there is none.
        let line = if options.format == Format::Binary { binary::header() } else { Vec::new() };
        let types = columns.iter().map(|c| c.1).collect();
        let progress = super::progress(session, copy, table.map_or(Oid::INVALID, |table| table.oid));
        let mut writer =
            Writer { options, types, force_quote, sink, passage, line, rows: 0, bytes: 0, progress };
        if options.header != Header::None {
            for (i, name) in names.iter().enumerate() {
                writer.field(i, Some(name.as_bytes()));
            }
            writer.end_line(out)?;
        }
        Ok(writer)
    }

    /// Appends a field that is no value of the column's type: its name, or NULL.
    fn field(&mut self, i: usize, text: Option<&[u8]>) {
        self.begin_field(i);
        write_field(self.options, text, (false, self.is_only()), &mut self.line);
    }

    fn begin_field(&mut self, i: usize) {
        if i > 0 {
            self.line.push(self.options.delimiter);
        }
    }

    /// Whether lines have one column.
    fn is_only(&self) -> bool {
        self.types.len() == 1
    }

    fn end_line(&mut self, out: &mut dyn Output) -> SqlResult<()> {
        self.line.push(b'\n');
        if let Some(passage) = self.passage {
            let mut encoded = Vec::with_capacity(self.line.len());
            passage.encode(types::value::str_of(&self.line), &mut encoded)?;
            self.line = encoded;
        }
        self.send_line(out)
    }

    fn send_line(&mut self, out: &mut dyn Output) -> SqlResult<()> {
        self.sink.line(&self.line, out)?;
        self.bytes += self.line.len() as u64;
        self.line.clear();
        self.progress.set(super::BYTES, self.bytes as i64);
        self.progress.set(super::TUPLES, self.rows as i64);
        Ok(())
    }

    fn binary_row<'v>(
        &mut self,
        row: impl Iterator<Item = &'v Datum>,
        call: &Call<'_>,
        out: &mut dyn Output,
    ) -> SqlResult<()> {
        self.line.extend_from_slice(&(self.types.len() as i16).to_be_bytes());
        for (value, &type_oid) in row.zip(&self.types) {
            let start = self.line.len();
            self.line.extend_from_slice(&(-1i32).to_be_bytes());
            if !value.is_null() {
                types::send(type_oid, value, call, &mut self.line)?;
                if let Some(passage) = self.passage {
                    let sent = self.line.split_off(start + 4);
                    let sent = types::encoding::to_client(passage, type_oid, &sent, call)?;
                    self.line.extend_from_slice(&sent);
                }
                let length = (self.line.len() - start - 4) as i32;
                self.line[start..start + 4].copy_from_slice(&length.to_be_bytes());
            }
        }
        self.rows += 1;
        self.send_line(out)
    }

    /// Writes a row with these values.
    fn row<'v>(
        &mut self,
        row: impl Iterator<Item = &'v Datum>,
        call: &Call<'_>,
        out: &mut dyn Output,
    ) -> SqlResult<()> {
        runtime::check_interrupts().map_err(plan::interrupted)?;
        if self.options.format == Format::Binary {
            return self.binary_row(row, call, out);
        }
        for (i, value) in row.enumerate() {
            if value.is_null() {
                self.field(i, None);
                continue;
            }
            self.begin_field(i);
            let (start, force) = (self.line.len(), self.force_quote[i] && self.options.format == Format::Csv);
            types::output(self.types[i], value, call, &mut self.line)?;
            finish_field(self.options, start, (force, self.is_only()), &mut self.line);
        }
        self.rows += 1;
        self.end_line(out)
    }

    fn finish(mut self, out: &mut dyn Output) -> SqlResult<u64> {
        if self.options.format == Format::Binary {
            self.line.extend_from_slice(&binary::TRAILER);
            self.send_line(out)?;
        }
        self.sink.finish(out)?;
        Ok(self.rows)
    }
}

fn copy_table(
    session: &Session,
    copy: &Copy,
    options: &CopyOptions,
    table: &Table,
    numbers: &[usize],
    out: &mut dyn Output,
) -> SqlResult<u64> {
    let columns: Vec<(&str, Oid)> =
        numbers.iter().map(|&n| (table.columns[n].name.as_str(), table.columns[n].type_oid)).collect();
    let mut writer = Writer::open(session, copy, options, (Some(table), &columns), out)?;
    let format = session.format();
    let call = Call::new(&format).with_session(session);
    let Some(heap) = &table.heap else { return writer.finish(out) };
    let access = session.engine().heap_access();
    let (snapshot, curcid) = {
        let mut txn = session.txn.borrow_mut();
        (txn.statement_snapshot()?, txn.current_command())
    };
    let upto = numbers.iter().max().map_or(0, |n| n + 1);
    heap::watch_scan(heap, &session.txn.borrow());
    let mut scan = heap::HeapScan::new(&access, heap.clone(), None).map_err(heap::HeapError::into_sql)?;
    let selection = Selection::new(upto, |n| numbers.contains(&n), |_| false);
    let (mut values, mut left) = (vec![Datum::Null; upto], Undecoded::default());
    loop {
        {
            let me = session.txn.borrow();
            let view = heap::View { snapshot: &snapshot, curcid, me: &me, combo: &session.combo };
            let Some(found) = scan.next(&access, &view).map_err(heap::HeapError::into_sql)? else { break };
            selection
                .decode_first(&heap.desc.layout, &found.row(), &mut left, &mut values)
                .map_err(|_| sql_err!(DATA_CORRUPTED, "corrupt row in table \"{}\"", table.name))?;
        }
        for &n in numbers {
            if let Datum::Toasted(_) = values[n] {
                values[n] = heap::detoast(&access, heap.desc.toast.as_ref(), &values[n])
                    .map_err(heap::HeapError::into_sql)?;
            }
        }
        writer.row(numbers.iter().map(|n| &values[*n]), &call, out)?;
    }
    writer.finish(out)
}

fn copy_query(
    session: &Session,
    copy: &Copy,
    options: &CopyOptions,
    (query, text): (&Statement, &str),
    out: &mut dyn Output,
) -> SqlResult<u64> {
    let mut internal = Internal::of_user(session, query, text, "COPY")?;
    session.check_access(&internal.prepared().needs)?;
    let result = internal.columns().to_vec();
    if result.is_empty() && internal.modifies() {
        return Err(sql_err!(FEATURE_NOT_SUPPORTED, "COPY query must have a RETURNING clause"));
    }
    let columns: Vec<(&str, Oid)> = result.iter().map(|c| (&*c.name, c.type_oid)).collect();
    let mut writer = Writer::open(session, copy, options, (None, &columns), out)?;
    let format = session.format();
    let call = Call::new(&format).with_session(session);
    let source = Source::nested(text, query, None);
    internal.run_written(session, (&source, &[]), &mut |row| writer.row(row.iter(), &call, out))?;
    writer.finish(out)
}
