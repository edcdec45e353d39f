//! # What
//! COPY FROM: text or bytes to rows.
//!
//! Rows of a plain table are gathered and stored a batch at a time, one log record a page. Where expressions or triggers have a say
//! (generated columns, checks, partitions, WHERE, a default that could look at the table), each row runs through an INSERT of our own, which stores
//! rows together where PostgreSQL does.
//!
//! # PostgreSQL counterpart
//! `commands/copyfrom.c`, `copyfromparse.c`.

mod taken;

use std::borrow::Cow;
use std::sync::Arc;

use base::{Oid, Severity, SqlError, SqlResult, SqlState, sql_err};
use catalog::view::{Column, Domain, TypeKind};
use catalog::{CatalogView, Generated, Identity, RelationKind, Table, TriggerKind};
use eval::trigger::{At, Event, Events, Firing, TableTriggers};
use executor::nodes::KeptRows;
use heap::InsertOptions;
use parse::Statement;
use parse::ast::{
    Copy, Expr, FromItem, Insert, Location, Overriding, RangeVar, ResTarget, Returning, Select, SelectBody,
    SimpleSelect, TargetColumn,
};
use session::Session;
use session::output::Output;
use session::progress::Progress;
use tuple::Datum;
use txn::LockMode;
use types::Call;
use types::encoding::Passage;

use super::binary;
use super::encoding::{self, Decoder};
use super::file::Source;
use super::options::{CopyOptions, Format, Header};
use super::split::{Next, Splitter, extra_data, missing_data};
use super::{column_numbers, forced};
use crate::expression::{ColumnDefault, RowChecks};
use crate::heap_load::HeapLoad;
use crate::index_entries::TableIndexes;
use crate::internal::Internal;
use crate::{expression, names, violation};

pub(super) use taken::Given;

/// Rows stored at once.
const BATCH_ROWS: usize = 1000;
/// Bytes of input gathered at once.
const BATCH_BYTES: usize = 65_535;
/// Longest piece of a value or line in a context line.
const MAX_SHOWN: usize = 100;

/// Runs it. Returns the number of rows.
pub(super) fn run(
    session: &Session,
    copy: &Copy,
    options: &Arc<CopyOptions>,
    text: &str,
    out: &mut dyn Output,
) -> SqlResult<u64> {
    let name = copy.relation.as_ref().ok_or_else(|| SqlError::internal("COPY FROM without a table"))?;
    let table = names::open(session, name, LockMode::RowExclusive)?;
    let numbers = column_numbers(&table, &copy.columns)?;
    super::check_access(session, &table, &numbers, false)?;
    if session.secures(&table, None)? {
        let error = sql_err!(FEATURE_NOT_SUPPORTED, "COPY FROM not supported with row-level security");
        return Err(error.hint("Use INSERT statements instead."));
    }
    check(session, &table)?;
    if let Some(filter) = &copy.filter {
        expression::copy_filter(session, &table, filter, text)?;
    }
    let target = Target::new(session, copy, &table, &numbers, text)?;
    let progress = super::progress(session, copy, table.oid);
    let input = Input::new(session, options, &table, &numbers)?;
    let mut load = Load::new(session, options, &table, &numbers, (target, &progress), input);
    let mut source = Source::open(&copy.target, options.format, numbers.len(), out)?;
    load.filtered = copy.filter.is_some();
    progress.set(super::BYTES_TOTAL, source.size() as i64);
    // As in PostgreSQL the client has begun to send by now, so that a script's data is not taken for SQL.
    if options.freeze {
        load.freeze(check_freeze(session, &table)?);
    }
    let triggers = TableTriggers::new(&table);
    if let Some(triggers) = &triggers {
        triggers.fire_before_statement(Event::Insert, None, &At::now(session, &session.txn))?;
    }
    let done = match options.format {
        Format::Binary => load.all_binary(&mut source, out),
        _ => load.all(&mut source, out),
    };
    done.map_err(|e| load.locate(e))?;
    source.finish()?;
    let mut events = load.take_events();
    if let Some(triggers) = &triggers {
        triggers.queue_statement(Event::Insert, None, (&At::now(session, &session.txn), &mut events))?;
    }
    session.fire_after(events)?;
    load.report_skipped();
    Ok(load.rows)
}

fn check(session: &Session, table: &Table) -> SqlResult<()> {
    let name = &table.name;
    let what = match table.kind {
        RelationKind::Table | RelationKind::PartitionedTable => {
            names::check_not_system(table)?;
            if table.persistence != 't' {
                session.refuse_read_only("COPY FROM")?;
            }
            return Ok(());
        }
        RelationKind::View if inserts_instead(table) => return session.refuse_read_only("COPY FROM"),
        RelationKind::View => {
            return Err(sql_err!(WRONG_OBJECT_TYPE, "cannot copy to view \"{name}\"")
                .hint("To enable copying to a view, provide an INSTEAD OF INSERT trigger."));
        }
        RelationKind::MaterializedView => "materialized view",
        RelationKind::Sequence => "sequence",
        RelationKind::ForeignTable => return Err(plan::not_changeable(table, plan::Command::Insert)),
        _ => "non-table relation",
    };
    Err(sql_err!(WRONG_OBJECT_TYPE, "cannot copy to {what} \"{name}\""))
}

/// Whether triggers take the rows that are copied to a view.
fn inserts_instead(view: &Table) -> bool {
    let wanted = TriggerKind::ROW | TriggerKind::INSTEAD | TriggerKind::INSERT;
    view.triggers.iter().any(|trigger| trigger.kind.has(wanted))
}

/// FREEZE: only into a file that goes away with this very (sub)transaction.
fn check_freeze(session: &Session, table: &Table) -> SqlResult<InsertOptions> {
    if table.kind == RelationKind::PartitionedTable {
        return Err(sql_err!(FEATURE_NOT_SUPPORTED, "cannot perform COPY FREEZE on a partitioned table"));
    }
    if session.txn.borrow().made_here(table.file) {
        return Ok(InsertOptions { skip_fsm: true, frozen: true });
    }
    Err(sql_err!(
        OBJECT_NOT_IN_PREREQUISITE_STATE,
        "cannot perform COPY FREEZE because the table was not created or truncated in the current subtransaction"
    ))
}

/// Where rows go.
enum Target {
    /// Straight into the heap.
    Plain {
        heap: Box<HeapLoad>,
        indexes: Box<TableIndexes>,
        /// Columns that are not copied but have a default.
        defaults: Vec<(usize, ColumnDefault)>,
        checks: RowChecks,
        /// Columns that must not be NULL.
        required: Vec<usize>,
    },
    /// Through an INSERT with one parameter for each column copied.
    Insert(Box<Internal>),
    /// Nowhere: each is taken as it is read.
    Taken,
}

impl Target {
    fn new(
        session: &Session,
        copy: &Copy,
        table: &Arc<Table>,
        numbers: &[usize],
        text: &str,
    ) -> SqlResult<Target> {
        let plain = copy.filter.is_none()
            && !table.partition_of.is_valid()
            && table.triggers.is_empty()
            && table.columns.iter().all(|c| c.generated == Generated::None || c.dropped)
            && table.indexes.iter().all(|i| i.immediate);
        let defaults = if plain { quiet_defaults(session, table, numbers)? } else { None };
        let checks = if plain { RowChecks::new(session, table)? } else { None };
        match (&table.heap, defaults, checks) {
            (Some(heap), Some(defaults), Some(checks)) => Ok(Target::Plain {
                heap: Box::new(HeapLoad::new(table.oid, heap.clone(), InsertOptions::default())),
                indexes: Box::new(TableIndexes::new(session, table)?),
                defaults,
                checks,
                required: required(table),
            }),
            _ => {
                let statement = insert_statement(table, numbers, copy.filter.as_ref());
                let types: Vec<Oid> = numbers.iter().map(|&n| table.columns[n].type_oid).collect();
                let mut insert = Internal::new(session, &statement, text, &types)?;
                insert.begin_load()?;
                Ok(Target::Insert(Box::new(insert)))
            }
        }
    }
}

/// Positions of the columns that must not be NULL.
fn required(table: &Table) -> Vec<usize> {
    let columns = table.columns.iter().enumerate();
    columns.filter(|(_, c)| c.not_null && !c.dropped).map(|(i, _)| i).collect()
}

/// Defaults of the columns that are not copied; `None` if one may call a function that could look at the table between two rows.
fn quiet_defaults(
    session: &Session,
    table: &Table,
    numbers: &[usize],
) -> SqlResult<Option<Vec<(usize, ColumnDefault)>>> {
    let mut defaults = Vec::new();
    for (i, column) in table.columns.iter().enumerate() {
        let has = column.default.is_some()
            || column.identity != Identity::None
            || domain_of(session, column)?.is_some_and(|domain| domain.default.is_some());
        if column.dropped || !has || numbers.contains(&i) {
            continue;
        }
        match ColumnDefault::new(session, table, i as i16 + 1)? {
            Some(default) if default.has_effects() => return Ok(None),
            Some(default) => defaults.push((i, default)),
            None => {}
        }
    }
    Ok(Some(defaults))
}

/// The domain that a column is of.
fn domain_of(session: &Session, column: &Column) -> SqlResult<Option<Domain>> {
    if column.dropped || types::builtin_type(column.type_oid).is_some() {
        return Ok(None);
    }
    let known = session.type_by_oid(column.type_oid)?;
    Ok(known.and_then(|known| match &known.kind {
        TypeKind::Domain(domain) => Some(domain.clone()),
        _ => None,
    }))
}

/// `INSERT INTO t (columns) OVERRIDING SYSTEM VALUE SELECT * FROM (SELECT $1, $2) t (columns) WHERE filter`.
fn insert_statement(table: &Table, numbers: &[usize], filter: Option<&Expr>) -> Statement {
    let names = || numbers.iter().map(|&n| table.columns[n].name.clone());
    let simple = |targets, from, filter| Select {
        with: None,
        body: SelectBody::Simple(Box::new(SimpleSelect { targets, from, filter, ..SimpleSelect::default() })),
        order_by: Vec::new(),
        offset: None,
        limit: None,
        with_ties: false,
        locking: Vec::new(),
    };
    let location = Location::NONE;
    let target = |value| ResTarget { name: None, value, location };
    let param = |i: usize| target(Expr::Param { number: i as i32 + 1, location });
    let params = simple((0..numbers.len()).map(param).collect(), Vec::new(), None);
    let column = |name: String| {
        target(Expr::Column(parse::ast::ColumnRef {
            fields: vec![parse::ast::Indirection::Field(name)],
            location,
        }))
    };
    let alias = parse::ast::Alias { name: table.name.clone(), columns: names().collect() };
    let row = FromItem::Subquery { lateral: false, query: Box::new(params), alias: Some(alias), location };
    let source = simple(names().map(column).collect(), vec![row], filter.cloned());
    let columns = names().map(|name| TargetColumn { name, steps: Vec::new(), location });
    Statement::Insert(Box::new(Insert {
        with: None,
        relation: RangeVar {
            schema: Some(table.schema_name.clone()),
            name: table.name.clone(),
            ..RangeVar::default()
        },
        columns: columns.collect(),
        source: Some(Box::new(source)),
        overriding: Overriding::System,
        on_conflict: None,
        returning: Returning::default(),
    }))
}

/// What an error is to be told about its place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Not in any line.
    None,
    /// The line and what it says.
    Line,
    /// The line's number only: it is not text, or rows read before are being stored.
    Number(u64),
    /// A column of the present line; whether its value is NULL.
    Column(usize, bool),
    /// A column of the present row, whose value cannot be shown.
    Name(usize),
}

/// How a column's text is read.
#[derive(Clone, Copy)]
struct Reading {
    type_oid: Oid,
    typmod: i32,
    imp: &'static types::registry::TypeImp,
}

/// How far the input has been read, and how its columns are.
pub(super) struct Input {
    /// The types of columns that are copied, where they are domains.
    domains: Vec<Option<Oid>>,
    /// How the text of each is read.
    readings: Vec<Reading>,
    force_not_null: Vec<bool>,
    force_null: Vec<bool>,
    splitter: Splitter,
    passage: Option<Passage>,
    decoder: Option<Decoder>,
    /// It has ended.
    last: bool,
    /// The header that is still to come.
    header: Header,
    binary: binary::Reader,
    /// Rows that were left out for their errors.
    skipped: i64,
    /// Defaults of columns, once asked for; none where a column has none.
    defaults: Vec<Option<Option<ColumnDefault>>>,
}

/// Rows on their way from a file.
pub(super) struct Load<'a> {
    session: &'a Session,
    options: &'a Arc<CopyOptions>,
    table: &'a Arc<Table>,
    numbers: &'a [usize],
    input: Input,
    target: Target,
    /// The columns of the table whose values are wanted; none: all.
    wanted: Option<&'a [bool]>,
    place: Place,
    /// Values of the present row, as many as the target takes.
    row: Vec<Datum>,
    /// Values of the rows of the batch, one row's behind the other's, if there are indexes to enter them into.
    batch: Vec<Datum>,
    /// Line of each row of the batch.
    lines: Vec<u64>,
    bytes: usize,
    rows: u64,
    progress: &'a Progress,
    /// There is a condition that rows must meet.
    filtered: bool,
}

impl Input {
    /// Nothing has been read yet.
    pub(super) fn new(
        session: &Session,
        options: &Arc<CopyOptions>,
        table: &Table,
        numbers: &[usize],
    ) -> SqlResult<Input> {
        let names: Vec<&str> = numbers.iter().map(|&n| table.columns[n].name.as_str()).collect();
        let domain = |n: &usize| {
            let column = &table.columns[*n];
            Ok(domain_of(session, column)?.map(|_| column.type_oid))
        };
        let reading = |n: &usize| {
            let Column { type_oid, typmod, .. } = table.columns[*n];
            Reading { type_oid, typmod, imp: types::registry::type_imp(type_oid) }
        };
        let passage = encoding::of_file(session, options, true)?;
        Ok(Input {
            domains: numbers.iter().map(domain).collect::<SqlResult<_>>()?,
            readings: numbers.iter().map(reading).collect(),
            force_not_null: forced(Some(table), &options.force_not_null, &names, "FORCE_NOT_NULL")?,
            force_null: forced(Some(table), &options.force_null, &names, "FORCE_NULL")?,
            splitter: Splitter::new(options.clone()),
            passage,
            decoder: passage.map(Decoder::new),
            last: false,
            header: options.header,
            binary: binary::Reader::default(),
            skipped: 0,
            defaults: numbers.iter().map(|_| None).collect(),
        })
    }
}

impl<'a> Load<'a> {
    fn new(
        session: &'a Session,
        options: &'a Arc<CopyOptions>,
        table: &'a Arc<Table>,
        numbers: &'a [usize],
        (target, progress): (Target, &'a Progress),
        input: Input,
    ) -> Load<'a> {
        Load {
            session,
            options,
            table,
            numbers,
            input,
            target,
            wanted: None,
            place: Place::None,
            row: Vec::new(),
            batch: Vec::new(),
            lines: Vec::new(),
            bytes: 0,
            rows: 0,
            progress,
            filtered: false,
        }
    }

    /// What is to fire after the rows.
    fn take_events(&mut self) -> Events {
        match &mut self.target {
            Target::Insert(insert) => insert.take_events(),
            Target::Plain { .. } | Target::Taken => Events::default(),
        }
    }

    /// FREEZE: every snapshot sees the rows at once.
    fn freeze(&mut self, frozen: InsertOptions) {
        if let Target::Plain { heap, .. } = &mut self.target {
            heap.set_options(frozen);
        }
    }

    fn all(&mut self, source: &mut Source, out: &mut dyn Output) -> SqlResult<()> {
        let format = self.session.format();
        let call = Call::new(&format).with_session(self.session);
        while self.next_line(source, out)? {
            match self.line(&call)? {
                true => self.put()?,
                false => self.session.send_notices(out),
            }
        }
        self.drain(source, out)?;
        self.flush()
    }

    /// Finds the next line behind the header.
    fn next_line(&mut self, source: &mut Source, out: &mut dyn Output) -> SqlResult<bool> {
        loop {
            self.place = Place::Number(self.input.splitter.line_number.max(1));
            match self.input.splitter.next_line(self.input.last)? {
                Next::End => return Ok(false),
                Next::More => {
                    self.place = Place::Number(self.input.splitter.line_number + 1);
                    let bytes = source.read(out)?;
                    self.progress.add(super::BYTES, bytes.as_ref().map_or(0, Vec::len) as i64);
                    let bytes = match &mut self.input.decoder {
                        None => bytes,
                        Some(decoder) => decoder.decode(bytes)?,
                    };
                    match bytes {
                        Some(bytes) => self.input.splitter.feed(&bytes),
                        None => self.input.last = true,
                    }
                }
                Next::Line => {
                    self.place = Place::Line;
                    match std::mem::replace(&mut self.input.header, Header::None) {
                        Header::None => return Ok(true),
                        header => self.header(header)?,
                    }
                }
            }
        }
    }

    fn all_binary(&mut self, source: &mut Source, out: &mut dyn Output) -> SqlResult<()> {
        let format = self.session.format();
        let call = Call::new(&format).with_session(self.session);
        while self.binary_row(&call, source, out)? {
            self.put()?;
        }
        self.flush()
    }

    /// Reads the next row of binary input, and what comes before the first.
    fn binary_row(&mut self, call: &Call<'_>, source: &mut Source, out: &mut dyn Output) -> SqlResult<bool> {
        runtime::check_interrupts().map_err(plan::interrupted)?;
        let progress = self.progress;
        let mut more = || {
            let bytes = source.read(out)?;
            progress.add(super::BYTES, bytes.as_ref().map_or(0, Vec::len) as i64);
            Ok(bytes)
        };
        let mut reader = std::mem::take(&mut self.input.binary);
        if self.input.splitter.line_number == 0 {
            self.place = Place::Number(0);
            reader.header(&mut more)?;
        }
        self.input.splitter.line_number += 1;
        self.place = Place::Number(self.input.splitter.line_number);
        if !reader.row(self.numbers.len(), &mut more)? {
            return Ok(false);
        }
        self.begin_row();
        for i in 0..self.numbers.len() {
            self.place = Place::Name(i);
            let column = &self.table.columns[self.numbers[i]];
            let slot = self.slot(i);
            let Some(bytes) = reader.field(&mut more)? else {
                self.row[slot] = self.null(i)?;
                continue;
            };
            self.bytes += bytes.len();
            let value = match self.input.passage {
                None => Cow::Borrowed(bytes),
                Some(passage) => types::encoding::from_client(passage, column.type_oid, bytes, call)?,
            };
            self.row[slot] = types::receive(column.type_oid, &value, column.typmod, call)?;
        }
        self.place = Place::Number(self.input.splitter.line_number);
        self.input.binary = reader;
        Ok(true)
    }

    /// Values of the row to come that are not copied are NULL. Those that are may be those of the row before.
    fn begin_row(&mut self) {
        let width = self.width();
        if self.row.len() != width || matches!(self.target, Target::Taken) {
            self.row.clear();
            self.row.resize(width, Datum::Null);
        }
    }

    /// How many values the target takes.
    fn width(&self) -> usize {
        match self.target {
            Target::Plain { .. } | Target::Taken => self.table.columns.len(),
            Target::Insert(_) => self.numbers.len(),
        }
    }

    /// Where the target takes the value of a column that is copied.
    fn slot(&self, i: usize) -> usize {
        match self.target {
            Target::Plain { .. } | Target::Taken => self.numbers[i],
            Target::Insert(_) => i,
        }
    }

    /// The default of a column that is copied.
    fn default_value(&mut self, i: usize) -> SqlResult<Datum> {
        let (session, table, number) = (self.session, self.table, self.numbers[i]);
        let known = &mut self.input.defaults[i];
        if known.is_none() {
            *known = Some(ColumnDefault::new(session, table, number as i16 + 1)?);
        }
        match known.as_mut().and_then(Option::as_mut) {
            Some(default) => default.value(session),
            None => Err(sql_err!(BAD_COPY_FILE_FORMAT, "unexpected default marker in COPY data")
                .detail(format!("Column \"{}\" has no default value.", table.columns[number].name))),
        }
    }

    /// Reads what the client still sends behind the end marker.
    fn drain(&mut self, source: &mut Source, out: &mut dyn Output) -> SqlResult<()> {
        if let Source::Client = source {
            while source.read(out)?.is_some() {}
        }
        Ok(())
    }

    fn header(&mut self, header: Header) -> SqlResult<()> {
        if header != Header::Match {
            return Ok(());
        }
        let fields = self.input.splitter.fields()?.to_vec();
        if fields.len() != self.numbers.len() {
            return Err(sql_err!(
                BAD_COPY_FILE_FORMAT,
                "wrong number of fields in header line: got {}, expected {}",
                fields.len(),
                self.numbers.len()
            ));
        }
        for (i, field) in fields.into_iter().enumerate() {
            let expected = &self.table.columns[self.numbers[i]].name;
            let got = String::from_utf8_lossy(self.input.splitter.bytes(field));
            let got = if field.null {
                format!("null value (\"{}\")", self.options.null)
            } else {
                format!("\"{got}\"")
            };
            if got != format!("\"{expected}\"") {
                return Err(sql_err!(
                    BAD_COPY_FILE_FORMAT,
                    "column name mismatch in header line field {}: got {got}, expected \"{expected}\"",
                    i + 1
                ));
            }
        }
        Ok(())
    }

    /// Reads the values of the present line; false if it is left out.
    fn line(&mut self, call: &Call<'_>) -> SqlResult<bool> {
        runtime::check_interrupts().map_err(plan::interrupted)?;
        if !self.input.splitter.is_plain()
            && let Err(error) = types::text::check_utf8(self.input.splitter.line())
        {
            self.place = Place::Number(self.input.splitter.line_number);
            return Err(error);
        }
        let count = self.input.splitter.fields()?.len();
        // A single empty field is an empty line, which a table without columns takes.
        if self.numbers.is_empty() && !self.input.splitter.line().is_empty()
            || count > self.numbers.len().max(1)
        {
            return Err(extra_data());
        }
        self.begin_row();
        for (i, &n) in self.numbers.iter().enumerate() {
            let Some(field) = self.input.splitter.get(i) else {
                self.place = Place::Line;
                return Err(missing_data(&self.table.columns[n].name));
            };
            if self.wanted.is_some_and(|wanted| !wanted[n]) {
                continue;
            }
            let slot = self.slot(i);
            if let Some(number) = self.whole_number(i, field) {
                self.row[slot] = number;
                continue;
            }
            match self.value(i, field, call) {
                Ok(value) => self.row[slot] = value,
                Err(error) if self.options.ignore_errors && is_data_error(&error) => {
                    return self.skip().map(|()| false);
                }
                Err(error) => return Err(error),
            }
        }
        self.bytes += self.input.splitter.line().len();
        self.place = Place::Line;
        Ok(true)
    }

    /// The value of a whole number that is written as most are: it is read without more ado, and nothing can be wrong with it.
    #[inline]
    fn whole_number(&self, i: usize, field: super::split::Field) -> Option<Datum> {
        let type_oid = self.input.readings[i].type_oid;
        if type_oid != types::oids::int4 && type_oid != types::oids::int8
            || field.null
            || field.quoted
            || field.default
        {
            return None;
        }
        let number = types::int::parse_plain(self.input.splitter.bytes(field))?;
        match type_oid == types::oids::int4 {
            true => i32::try_from(number).ok().map(Datum::Int4),
            false => Some(Datum::Int8(number)),
        }
    }

    fn value(&mut self, i: usize, field: super::split::Field, call: &Call<'_>) -> SqlResult<Datum> {
        if field.default {
            self.place = Place::Column(i, false);
            return self.default_value(i);
        }
        let mut null = field.null;
        if self.options.format == Format::Csv {
            let is_null_string = || self.input.splitter.bytes(field) == self.options.null.as_bytes();
            if null && self.input.force_not_null[i] {
                null = false;
            } else if field.quoted && self.input.force_null[i] && is_null_string() {
                null = true;
            }
        }
        self.place = Place::Column(i, null);
        if null {
            return self.null(i);
        }
        let text = self.input.splitter.text(field)?;
        let Reading { type_oid, typmod, imp } = self.input.readings[i];
        (imp.input)(type_oid, text, typmod, call)
    }

    /// NULL in a column that is copied.
    fn null(&self, i: usize) -> SqlResult<Datum> {
        match self.input.domains[i] {
            Some(domain) => self.session.check_domain(domain, Datum::Null),
            None => Ok(Datum::Null),
        }
    }

    /// ON_ERROR ignore: the row is left out.
    fn skip(&mut self) -> SqlResult<()> {
        self.input.skipped += 1;
        self.progress.set(super::TUPLES_SKIPPED, self.input.skipped);
        if self.options.verbose {
            let (column, value) = match self.place {
                Place::Column(i, true) => (i, "null input".to_owned()),
                Place::Column(i, false) => (i, self.shown_field(i)),
                _ => (0, String::new()),
            };
            let column = self.numbers.get(column).map_or("", |n| self.table.columns[*n].name.as_str());
            let message = format!(
                "skipping row due to data type incompatibility at line {} for column \"{column}\": {value}",
                self.input.splitter.line_number
            );
            let notice = names::notice(SqlState::SUCCESSFUL_COMPLETION, message);
            self.session.notice(notice.context(format!("COPY {}", self.table.name)));
        }
        if self.options.reject_limit > 0 && self.input.skipped > self.options.reject_limit {
            return Err(sql_err!(
                INVALID_TEXT_REPRESENTATION,
                "skipped more than REJECT_LIMIT ({}) rows due to data type incompatibility",
                self.options.reject_limit
            ));
        }
        Ok(())
    }

    fn report_skipped(&self) {
        if self.input.skipped == 0 || self.options.silent {
            return;
        }
        let (rows, were) = if self.input.skipped == 1 { ("row", "was") } else { ("rows", "were") };
        let message =
            format!("{} {rows} {were} skipped due to data type incompatibility", self.input.skipped);
        let severity = Severity::Notice;
        self.session.notice(SqlError::with_severity(severity, SqlState::SUCCESSFUL_COMPLETION, message));
    }

    /// Hands the present row to the target.
    fn put(&mut self) -> SqlResult<()> {
        match &mut self.target {
            Target::Taken => Ok(()),
            Target::Insert(insert) => {
                let stored = insert.load(self.session, &self.row, self.input.splitter.line_number);
                let state = insert.load_state();
                if let Some(line) = state.refused {
                    self.place = Place::Number(line);
                }
                self.count(stored?);
                if !state.taken && self.filtered {
                    self.progress.add(super::TUPLES_EXCLUDED, 1);
                }
                Ok(())
            }
            Target::Plain { heap, indexes, defaults, checks, required } => {
                for (i, default) in defaults {
                    self.row[*i] = default.value(self.session)?;
                }
                let refusal = match required.iter().find(|&&n| self.row[n].is_null()) {
                    Some(&n) => Some(executor::violation::null_in(self.table, &self.table.columns[n])),
                    None => {
                        let violated = checks.violated(self.session, &self.row)?;
                        violated.map(|name| executor::violation::check(self.table, name))
                    }
                };
                if let Some(refusal) = refusal {
                    let written: Vec<i16> = self.numbers.iter().map(|n| *n as i16 + 1).collect();
                    return Err(violation::with_row(
                        self.session,
                        refusal,
                        self.table,
                        (&self.row, &written),
                    )?);
                }
                heap.add(self.session, &self.row)?;
                if !indexes.is_empty() {
                    self.batch.append(&mut self.row);
                }
                self.lines.push(self.input.splitter.line_number);
                if self.lines.len() >= BATCH_ROWS || self.bytes >= BATCH_BYTES {
                    self.flush()
                } else {
                    Ok(())
                }
            }
        }
    }

    fn count(&mut self, stored: u64) {
        self.rows += stored;
        self.progress.set(super::TUPLES, self.rows as i64);
    }

    /// Stores the rows that wait.
    fn flush(&mut self) -> SqlResult<()> {
        match &mut self.target {
            Target::Taken => Ok(()),
            Target::Plain { .. } => self.flush_plain(),
            Target::Insert(insert) => {
                let stored = insert.end_load(self.session);
                self.place = insert.load_state().refused.map_or(self.place, Place::Number);
                self.count(stored?);
                Ok(())
            }
        }
    }

    fn flush_plain(&mut self) -> SqlResult<()> {
        let Target::Plain { heap, indexes, .. } = &mut self.target else { return Ok(()) };
        if self.lines.is_empty() {
            return Ok(());
        }
        let rows = KeptRows { values: &self.batch, count: self.lines.len(), width: self.table.columns.len() };
        let session = self.session;
        self.place = Place::Number(self.lines[0]);
        let rel = heap.heap().clone();
        let tids = heap.store(session)?;
        if !indexes.is_empty() {
            for ((row, &tid), &line) in rows.iter().zip(tids).zip(&self.lines) {
                self.place = Place::Number(line);
                indexes.enter(session, self.table, &rel, (row, tid))?;
            }
        }
        self.count(self.lines.len() as u64);
        self.batch.clear();
        self.lines.clear();
        self.bytes = 0;
        Ok(())
    }

    /// Adds the line of context that names the place of an error.
    fn locate(&self, error: SqlError) -> SqlError {
        let (table, line) = (&self.table.name, self.input.splitter.line_number);
        match self.place {
            Place::None => error,
            Place::Number(line) => error.context(format!("COPY {table}, line {line}")),
            Place::Line => {
                let shown = shown(self.input.splitter.line());
                error.context(format!("COPY {table}, line {line}: \"{shown}\""))
            }
            Place::Name(i) => {
                let column = &self.table.columns[self.numbers[i]].name;
                error.context(format!("COPY {table}, line {line}, column {column}"))
            }
            Place::Column(i, null) => {
                let column = &self.table.columns[self.numbers[i]].name;
                let value = if null { "null input".to_owned() } else { self.shown_field(i) };
                error.context(format!("COPY {table}, line {line}, column {column}: {value}"))
            }
        }
    }

    fn shown_field(&self, i: usize) -> String {
        match self.input.splitter.field(i) {
            Some(bytes) => format!("\"{}\"", shown(bytes)),
            None => "null input".to_owned(),
        }
    }
}

/// Errors of a value, its domain's constraints and the names it may hold; not of the machine.
fn is_data_error(error: &SqlError) -> bool {
    matches!(error.code().as_str().get(..2), Some("22" | "23" | "42"))
}

/// The beginning of a line or value.
fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    if text.len() <= MAX_SHOWN {
        return text.into_owned();
    }
    format!("{}...", &text[..text.floor_char_boundary(MAX_SHOWN)])
}
