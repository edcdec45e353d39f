//! # What
//! `file_fdw`: foreign tables whose rows are in files of the server, or are printed by programs, as COPY FROM reads them.
//!
//! # Invariants
//! 1. Who may name a file or program is asked when the option is given; who reads the table later is not asked.
//!
//! # PostgreSQL counterpart and differences
//! `contrib/file_fdw`. The width of a row is that of all columns, not of those that are read.

use std::io;
use std::path::Path;

use base::{Oid, SqlResult, sql_err};
use catalog::change::{ForeignOptions, options_of};
use catalog::predefined;
use catalog::system::{pg_attribute, pg_foreign_table};
use runtime::fs::{File, OpenOptions};
use session::Session;
use session::commands::{FileRead, FileSource};
use session::foreign::{ForeignDetail, ForeignRows, ForeignTable, Scan, Settings, Wrapper};
use session::module::{Module, ModuleFunction};
use session::routine::{Invocation, Returned};
use tuple::Datum;
use types::foreign::unknown_option;
use types::value::FromDatum;

/// The extension.
pub static MODULE: Module = Module {
    name: "file_fdw",
    version: "1.0",
    comment: "foreign-data wrapper for flat file access",
    relocatable: true,
    script: include_str!("script.sql"),
    functions: &[
        ("file_fdw_handler", ModuleFunction::Wrapper(&Files)),
        ("file_fdw_validator", ModuleFunction::Session(validate)),
    ],
    ..Module::LIBRARY
};

/// Options of a table: where the rows are, and those of COPY.
const OF_TABLE: &[&str] = &[
    "filename",
    "program",
    "format",
    "header",
    "delimiter",
    "quote",
    "escape",
    "null",
    "default",
    "encoding",
    "on_error",
    "log_verbosity",
    "reject_limit",
];

/// Options of a column.
const OF_COLUMN: &[&str] = &["force_not_null", "force_null"];

/// Bytes that are assumed of what cannot be looked at.
const UNKNOWN_SIZE: i64 = 10 * 8192;

/// Options that an object of a catalog can have.
fn valid_options(class: Oid) -> &'static [&'static str] {
    if class == pg_foreign_table::TABLE.oid {
        return OF_TABLE;
    }
    if class == pg_attribute::TABLE.oid { OF_COLUMN } else { &[] }
}

/// `file_fdw_validator(options text[], catalog oid)`
fn validate(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    let options = options_of(&invocation.args[0]);
    let class = Oid(u32::from_datum(&invocation.args[1]));
    let valid = valid_options(class);
    for (name, _) in &options {
        if !valid.contains(&name.as_str()) {
            let mut error = unknown_option(name, valid);
            error.report_mut().code = base::SqlState::FDW_INVALID_OPTION_NAME;
            return Err(error);
        }
        check_right(session, name)?;
    }
    if class == pg_attribute::TABLE.oid {
        for (name, value) in &options {
            if types::bool::parse(value).is_err() {
                return Err(sql_err!(SYNTAX_ERROR, "{name} requires a Boolean value"));
            }
        }
    }
    if class == pg_foreign_table::TABLE.oid {
        let (_, copy) = taken_apart(&options, &[])?;
        session.commands().check_file_options(&copy)?;
    }
    Ok(Returned::Value(Datum::Null))
}

/// Whether the user may set this option: files and programs are for members of certain roles.
fn check_right(session: &Session, name: &str) -> SqlResult<()> {
    let (role, role_name) = match name {
        "filename" => (predefined::READ_SERVER_FILES, "pg_read_server_files"),
        "program" => (predefined::EXECUTE_SERVER_PROGRAM, "pg_execute_server_program"),
        _ => return Ok(()),
    };
    if session.has_role(role)? {
        return Ok(());
    }
    Err(sql_err!(
        INSUFFICIENT_PRIVILEGE,
        "permission denied to set the \"{name}\" option of a file_fdw foreign table"
    )
    .detail(format!("Only roles with privileges of the \"{role_name}\" role may set this option.")))
}

/// Where the rows of a table are, and how they are to be read.
fn taken_apart(
    options: &ForeignOptions,
    columns: &[(String, ForeignOptions)],
) -> SqlResult<(FileSource, FileRead)> {
    let value =
        |wanted: &str| options.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.clone());
    let source = match (value("filename"), value("program")) {
        (Some(_), Some(_)) => {
            return Err(sql_err!(SYNTAX_ERROR, "conflicting or redundant options"));
        }
        (Some(path), None) => FileSource::File(path),
        (None, Some(command)) => FileSource::Program(command),
        (None, None) => {
            return Err(sql_err!(
                FDW_DYNAMIC_PARAMETER_VALUE_NEEDED,
                "either filename or program is required for file_fdw foreign tables"
            ));
        }
    };
    let of_copy = options.iter().filter(|(name, _)| !matches!(name.as_str(), "filename" | "program"));
    let forced = |wanted: &str| {
        let is_forced = |of: &ForeignOptions| {
            of.iter().any(|(name, value)| name == wanted && types::bool::parse(value).unwrap_or(false))
        };
        columns.iter().filter(|(_, of)| is_forced(of)).map(|(name, _)| name.clone()).collect()
    };
    let read = FileRead {
        options: of_copy.cloned().collect(),
        force_not_null: forced("force_not_null"),
        force_null: forced("force_null"),
    };
    Ok((source, read))
}

/// What a table says.
fn read_of(table: &ForeignTable) -> SqlResult<(FileSource, FileRead)> {
    let mut options = table.server.clone();
    options.extend(table.options.iter().cloned());
    let named = table.table.columns.iter().zip(&table.columns).filter(|(column, _)| !column.dropped);
    let columns: Vec<_> = named.map(|(column, of)| (column.name.clone(), of.clone())).collect();
    taken_apart(&options, &columns)
}

/// The wrapper.
#[derive(Debug)]
struct Files;

impl Wrapper for Files {
    fn expect(&self, _: &Session, table: &ForeignTable, settings: &Settings) -> SqlResult<ForeignRows> {
        let (source, _) = read_of(table)?;
        let (detail, size) = match source {
            FileSource::File(path) => {
                let size = size_of(&path).ok();
                (ForeignDetail::Text("Foreign File", path), size)
            }
            FileSource::Program(command) => (ForeignDetail::Text("Foreign Program", command), None),
        };
        let mut details = vec![detail];
        details.extend(size.map(|size| ForeignDetail::Bytes("Foreign File Size", size)));
        let size = size.unwrap_or(UNKNOWN_SIZE) as f64;
        let pages = pages_of(size);
        let known = table.table.size;
        let tuples = match known.pages {
            1.. if known.tuples >= 0.0 => f64::from(known.tuples) / f64::from(known.pages) * pages,
            _ => size / (row_width(table) + 24.0),
        };
        let tuples = tuples.round().max(1.0);
        // A row of text costs ten times as much as one that is stored.
        let total = settings.seq_page_cost * pages + settings.cpu_tuple_cost * 10.0 * tuples;
        Ok(ForeignRows { tuples, startup: 0.0, total, details: details.into() })
    }

    fn pages(&self, _: &Session, table: &ForeignTable) -> SqlResult<Option<u32>> {
        match read_of(table)?.0 {
            FileSource::Program(_) => Ok(None),
            FileSource::File(path) => match size_of(&path) {
                Ok(size) => Ok(Some(pages_of(size as f64) as u32)),
                Err(error) => {
                    let why = base::os_error(&error);
                    Err(sql_err!(UNDEFINED_FILE, "could not stat file \"{path}\": {why}"))
                }
            },
        }
    }

    fn begin(&self, session: &Session, table: &ForeignTable, wanted: &[bool]) -> SqlResult<Box<dyn Scan>> {
        let (source, read) = read_of(table)?;
        session.commands().read_file(session, (&table.table, wanted), &source, &read)
    }
}

fn size_of(path: &str) -> io::Result<i64> {
    let file = File::open(Path::new(path), OpenOptions::READ)?;
    file.len().map(|size| size as i64)
}

fn pages_of(size: f64) -> f64 {
    (size / 8192.0).ceil().max(1.0)
}

/// Bytes of a row, to a multiple of eight.
fn row_width(table: &ForeignTable) -> f64 {
    let live = table.table.columns.iter().filter(|column| !column.dropped);
    let bytes = |oid: Oid| {
        types::builtin_type(oid).filter(|info| info.len > 0).map_or(32.0, |info| f64::from(info.len))
    };
    let width: f64 = live.map(|column| bytes(column.type_oid)).sum();
    (width / 8.0).ceil() * 8.0
}
