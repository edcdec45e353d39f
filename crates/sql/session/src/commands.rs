//! # What
//! Utility statements as sessions see them: what is known of one before it runs, and who runs it. The layer above implements [`Commands`]
//! and is named when an [`Instance`](crate::Instance) is made.
//!
//! # Invariants
//! 1. A descriptor comes from one of the constructors below, each of which decides every fact. A fact that is added to [`Descriptor`]
//!    has to be decided in each of them.
//!
//! # PostgreSQL counterpart
//! `tcop/utility.c`: `CreateCommandTag`, `ClassifyUtilityCommandAsReadOnly`, `GetCommandLogLevel`, `UtilityReturnsTuples`,
//! `standard_ProcessUtility`; `PlannedStmtRequiresSnapshot` of `tcop/pquery.c`.

use std::rc::Rc;
use std::sync::Arc;

use analyze::ParamTypes;
use base::SqlResult;
use catalog::Table;
use executor::run::{Prepared, StoredRows};
use parse::Statement;
use parse::ast::{Call, CreateTableAs, DefElem, Execute};
use tuple::Datum;

use crate::foreign::Scan;
use crate::output::{Column, Output};
use crate::{Arguments, Session, Source};

/// Who carries utility statements out.
pub trait Commands: Send + Sync {
    /// What is known of a statement before it runs.
    fn describe<'s>(&self, statement: &'s Statement) -> Descriptor<'s>;

    /// Columns of a utility statement's result, if it returns rows.
    fn columns(
        &self,
        session: &Session,
        statement: &Statement,
        text: &str,
        types: ParamTypes,
    ) -> SqlResult<Option<Arc<[Column]>>>;

    /// Runs a utility statement. Returns the command tag (`CREATE TABLE`).
    ///
    /// `text` is the whole query string, for positions and for EXPLAIN and PREPARE. RowDescription of [`Commands::columns`] has been sent.
    fn run(
        &self,
        session: &Session,
        statement: &Statement,
        text: &str,
        arguments: &Arguments<'_>,
        out: &mut dyn Output,
    ) -> SqlResult<String>;

    /// What is to be done before the running transaction commits: ON COMMIT of temporary tables.
    fn before_commit(&self, session: &Session) -> SqlResult<()>;

    /// The query of CREATE TABLE AS, planned, for EXPLAIN; none if IF NOT EXISTS leaves nothing to do.
    fn table_query(
        &self,
        session: &Session,
        statement: &CreateTableAs,
        text: &str,
        arguments: &Arguments<'_>,
    ) -> SqlResult<Option<Box<dyn TableQuery>>>;

    /// Fails if COPY FROM could not have these options.
    fn check_file_options(&self, read: &FileRead) -> SqlResult<()>;

    /// Reads a file as COPY FROM does, row by row; these columns of the table are wanted.
    fn read_file(
        &self,
        session: &Session,
        table: (&Arc<Table>, &[bool]),
        source: &FileSource,
        read: &FileRead,
    ) -> SqlResult<Box<dyn Scan>>;
}

/// Where the rows of a file are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileSource {
    /// In a file of the server.
    File(String),
    /// A program of the server prints them.
    Program(String),
}

/// How a file is to be read: the options of COPY FROM.
#[derive(Clone, Debug, Default)]
pub struct FileRead {
    /// Those with one value, as written.
    pub options: Vec<(String, String)>,
    /// FORCE_NOT_NULL
    pub force_not_null: Vec<String>,
    /// FORCE_NULL
    pub force_null: Vec<String>,
}

/// The query of CREATE TABLE AS, and the table that is to be made.
pub trait TableQuery {
    /// The plan.
    fn prepared(&self) -> &Arc<Prepared>;
    /// What it is read from.
    fn source(&self) -> &Rc<Source>;
    /// Values of its parameters.
    fn params(&self) -> &[Datum];
    /// Makes the table; none WITH NO DATA if no rows are to come.
    fn target<'s>(
        &mut self,
        session: &'s Session,
        statement: &CreateTableAs,
    ) -> SqlResult<Option<Box<dyn Load + 's>>>;
}

/// Rows on their way into a new table.
pub trait Load: StoredRows {
    /// Stores the last rows, and shows all of them to the commands that follow. Returns their number.
    fn finish(self: Box<Self>) -> SqlResult<u64>;
}

/// What is known of a statement before it runs.
pub struct Descriptor<'s> {
    /// Its command tag, unless what it does adds to that (`COPY 5`). Messages call it so too.
    pub tag: &'static str,
    /// Whether a read-only transaction or a function that is not volatile lets it through: it changes nothing that a dump would show,
    /// or finds out itself what it may do, as planned statements and COPY do.
    pub read_only: bool,
    /// Whether it is refused while the log is replayed, as what needs a place in the log is.
    pub writes_log: bool,
    /// Whether it counts as the first query of a transaction: the snapshot is taken no later than when it begins.
    pub snapshot: bool,
    /// Whether it may run inside a transaction block.
    pub block: Block,
    /// What messages call it, if its effect on the session would outlive a security-restricted operation.
    pub outlives: Option<&'static str>,
    /// From which word of `log_statement` on it is logged.
    pub log: LogClass<'s>,
    /// The rows that it returns.
    pub rows: Rows<'s>,
    /// Whether `$1` has a meaning in it. That of planned statements has.
    pub parameters: bool,
}

/// Whether a statement may run inside a transaction block. The names are those in messages.
pub enum Block {
    /// It may.
    Any,
    /// It must not.
    Refused(&'static str),
    /// It must be in one.
    Required(&'static str),
}

/// The value of `log_statement` from which on a statement is logged.
pub enum LogClass<'s> {
    /// `ddl`
    Definition,
    /// `mod`
    Change,
    /// `all`
    Other,
    /// That of a statement inside it.
    As(&'s Statement),
    /// That of what was prepared under this name.
    AsPrepared(&'s str),
}

/// The rows that a utility statement returns.
pub enum Rows<'s> {
    /// It returns none.
    None,
    /// The output parameters of a procedure.
    Call(&'s Call),
    /// The value of a setting.
    Setting(&'s str),
    /// Those of a prepared statement.
    Prepared(&'s Execute),
    /// Those of the cursor with this name.
    Cursor(&'s str),
    /// A plan, shown with these options.
    Plan(&'s [DefElem]),
}

impl<'s> Descriptor<'s> {
    /// A statement that reads, and is planned.
    pub const fn query(tag: &'static str) -> Self {
        Descriptor {
            tag,
            read_only: true,
            writes_log: false,
            snapshot: true,
            block: Block::Any,
            outlives: None,
            log: LogClass::Other,
            rows: Rows::None,
            parameters: true,
        }
    }

    /// A statement that changes rows, and is planned.
    pub const fn change(tag: &'static str) -> Self {
        Descriptor { log: LogClass::Change, ..Descriptor::query(tag) }
    }

    /// A statement that changes the catalogs.
    pub const fn definition(tag: &'static str) -> Self {
        Descriptor {
            tag,
            read_only: false,
            writes_log: false,
            snapshot: true,
            block: Block::Any,
            outlives: None,
            log: LogClass::Definition,
            rows: Rows::None,
            parameters: false,
        }
    }

    /// A statement that reads stored data and changes none.
    pub const fn reading(tag: &'static str) -> Self {
        Descriptor { read_only: true, log: LogClass::Other, ..Descriptor::definition(tag) }
    }

    /// A statement that neither changes nor reads what is stored, or does so in transactions of its own.
    pub const fn detached(tag: &'static str) -> Self {
        Descriptor { snapshot: false, ..Descriptor::reading(tag) }
    }

    /// Its effect on the session outlives a security-restricted operation; messages call it so.
    pub const fn outliving(self, name: &'static str) -> Self {
        Descriptor { outlives: Some(name), ..self }
    }

    /// It is refused while the log is replayed.
    pub const fn writing_log(self) -> Self {
        Descriptor { writes_log: true, ..self }
    }

    /// It must not run inside a transaction block; messages call it so.
    pub const fn outside_blocks(self, name: &'static str) -> Self {
        Descriptor { block: Block::Refused(name), ..self }
    }

    /// It is logged otherwise than its kind.
    pub const fn logged_as(self, log: LogClass<'s>) -> Self {
        Descriptor { log, ..self }
    }

    /// It returns rows.
    pub const fn returning(self, rows: Rows<'s>) -> Self {
        Descriptor { rows, ..self }
    }

    /// Whether `$1` has a meaning in it.
    pub const fn with_parameters(self, parameters: bool) -> Self {
        Descriptor { parameters, ..self }
    }

    /// Fails where the statement may not run, and takes its snapshot.
    pub fn admit(&self, session: &Session) -> SqlResult<()> {
        if !self.read_only {
            session.refuse_read_only(self.tag)?;
        }
        if self.writes_log {
            session.refuse_in_recovery(self.tag)?;
        }
        if let Some(name) = self.outlives {
            session.refuse_restricted(&format!("execute {name}"))?;
        }
        match self.block {
            Block::Any => {}
            Block::Refused(name) => session.prevent_in_block(name)?,
            Block::Required(name) => session.require_block(name)?,
        }
        if self.snapshot {
            drop(session.txn.borrow_mut().statement_snapshot()?);
        }
        Ok(())
    }
}
