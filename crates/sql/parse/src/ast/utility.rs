//! Everything that neither reads rows nor defines objects.

use super::{DefElem, Expr, Indirection, Location, RangeVar, Select, Statement, VacuumRelation};

/// `name.field[1] := value`: gives the whole that the name stands for with the part replaced.
#[derive(Clone, Debug, PartialEq)]
pub struct Assign {
    /// The variable's name, and what is behind it.
    pub place: Vec<Indirection>,
    /// The value.
    pub value: Select,
    /// Of the place.
    pub location: Location,
}

/// Source or sink of COPY.
#[derive(Clone, Debug, PartialEq)]
pub enum CopyTarget {
    /// STDIN, STDOUT
    Client,
    /// A file of the server.
    File(String),
    /// PROGRAM
    Program(String),
}

/// COPY.
#[derive(Clone, Debug, PartialEq)]
pub struct Copy {
    /// Table, unless a query.
    pub relation: Option<RangeVar>,
    /// Query.
    pub query: Option<Statement>,
    /// Columns; empty: all.
    pub columns: Vec<String>,
    /// COPY FROM
    pub from: bool,
    /// Other end.
    pub target: CopyTarget,
    /// Options.
    pub options: Vec<DefElem>,
    /// WHERE
    pub filter: Option<Expr>,
}

/// Transaction control.
#[derive(Clone, Debug, PartialEq)]
pub enum Transaction {
    /// BEGIN with its modes
    Begin(Vec<DefElem>),
    /// START TRANSACTION with its modes
    Start(Vec<DefElem>),
    /// COMMIT \[AND CHAIN\]
    Commit {
        /// AND CHAIN
        chain: bool,
    },
    /// ROLLBACK \[AND CHAIN\]
    Rollback {
        /// AND CHAIN
        chain: bool,
    },
    /// SAVEPOINT
    Savepoint(String),
    /// RELEASE
    Release(String),
    /// ROLLBACK TO
    RollbackTo(String),
    /// PREPARE TRANSACTION
    Prepare(String),
    /// COMMIT PREPARED
    CommitPrepared(String),
    /// ROLLBACK PREPARED
    RollbackPrepared(String),
}

/// EXECUTE.
#[derive(Clone, Debug, PartialEq)]
pub struct Execute {
    /// Prepared statement.
    pub name: String,
    /// Parameters.
    pub params: Vec<Expr>,
}

/// DECLARE CURSOR.
#[derive(Clone, Debug, PartialEq)]
pub struct DeclareCursor {
    /// Name.
    pub name: String,
    /// BINARY
    pub binary: bool,
    /// SCROLL (true), NO SCROLL (false)
    pub scroll: Option<bool>,
    /// INSENSITIVE (true), ASENSITIVE (false)
    pub insensitive: Option<bool>,
    /// WITH HOLD
    pub hold: bool,
    /// Query.
    pub query: Statement,
}

/// Where FETCH goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchDirection {
    /// n rows forward; [`i64::MAX`] for ALL
    Forward(i64),
    /// n rows backward
    Backward(i64),
    /// To row n, from the end if negative
    Absolute(i64),
    /// n rows on
    Relative(i64),
}

/// FETCH, MOVE.
#[derive(Clone, Debug, PartialEq)]
pub struct Fetch {
    /// Where to.
    pub direction: FetchDirection,
    /// Cursor.
    pub cursor: String,
    /// MOVE
    pub is_move: bool,
}

/// VACUUM and ANALYZE.
#[derive(Clone, Debug, PartialEq)]
pub struct Vacuum {
    /// VACUUM (not ANALYZE).
    pub vacuum: bool,
    /// Options.
    pub options: Vec<DefElem>,
    /// Tables; empty: all.
    pub relations: Vec<VacuumRelation>,
}

/// What REINDEX rebuilds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ReindexKind {
    Index,
    Table,
    Schema,
    System,
    Database,
}

/// REINDEX.
#[derive(Clone, Debug, PartialEq)]
pub struct Reindex {
    /// What.
    pub kind: ReindexKind,
    /// Index or table.
    pub relation: Option<RangeVar>,
    /// Schema or database.
    pub name: Option<String>,
    /// Options, CONCURRENTLY among them.
    pub options: Vec<DefElem>,
}

/// DISCARD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Discard {
    All,
    Plans,
    Sequences,
    Temporary,
}

/// A statement and where it stands in the text.
#[derive(Clone, Debug, PartialEq)]
pub struct RawStatement {
    /// The statement.
    pub stmt: Statement,
    /// Byte offset of its first character in the text.
    pub location: usize,
    /// Its length in bytes, without the semicolon.
    pub length: usize,
}
