//! The statement, and everything that neither reads rows nor defines objects.

use super::{
    AlterDomainAction, AlterEnum, AlterFunction, AlterOperatorFamily, AlterTable,
    AlterTextSearchConfiguration, Call, ColumnDef, CreateAccessMethod, CreateCast, CreateConversion,
    CreateDomain, CreateFunction, CreateIndex, CreateLanguage, CreateOperatorClass, CreateTable,
    CreateTableAs, CreateTrigger, CreateView, DefElem, Define, Delete, Drop, DropBehavior, Expr, Grant,
    GrantRole, Indirection, Insert, Location, Merge, Name, ObjectKind, ObjectName, ObjectWithArgs, RangeVar,
    Rename, RoleSpec, Select, SetStatement, TypeName, Update, VacuumRelation,
};

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// SELECT, VALUES, TABLE
    Select(Box<Select>),
    /// INSERT
    Insert(Box<Insert>),
    /// UPDATE
    Update(Box<Update>),
    /// DELETE
    Delete(Box<Delete>),
    /// MERGE
    Merge(Box<Merge>),
    /// CREATE TABLE
    CreateTable(Box<CreateTable>),
    /// CREATE TABLE AS, SELECT INTO, CREATE MATERIALIZED VIEW
    CreateTableAs(Box<CreateTableAs>),
    /// REFRESH MATERIALIZED VIEW
    RefreshMaterializedView {
        /// View.
        relation: RangeVar,
        /// CONCURRENTLY
        concurrently: bool,
        /// WITH NO DATA
        skip_data: bool,
    },
    /// CREATE INDEX
    CreateIndex(Box<CreateIndex>),
    /// ALTER TABLE, INDEX, VIEW...
    AlterTable(Box<AlterTable>),
    /// ALTER ... RENAME
    Rename(Box<Rename>),
    /// ALTER ... SET SCHEMA
    SetSchema {
        /// Kind.
        kind: ObjectKind,
        /// Relation, if one.
        relation: Option<RangeVar>,
        /// Other object.
        object: Option<ObjectName>,
        /// New schema.
        schema: String,
        /// IF EXISTS
        missing_ok: bool,
    },
    /// ALTER ... OWNER TO, of objects that are not relations
    AlterOwner {
        /// Kind.
        kind: ObjectKind,
        /// Object.
        object: ObjectName,
        /// New owner.
        owner: RoleSpec,
    },
    /// DROP
    Drop(Box<Drop>),
    /// TRUNCATE
    Truncate {
        /// Tables.
        relations: Vec<RangeVar>,
        /// RESTART IDENTITY
        restart_identity: bool,
        /// CASCADE
        behavior: DropBehavior,
    },
    /// CREATE VIEW
    CreateView(Box<CreateView>),
    /// CREATE SEQUENCE
    CreateSequence {
        /// Name and persistence.
        sequence: RangeVar,
        /// Options.
        options: Vec<DefElem>,
        /// IF NOT EXISTS
        if_not_exists: bool,
    },
    /// ALTER SEQUENCE
    AlterSequence {
        /// Sequence.
        sequence: RangeVar,
        /// Options.
        options: Vec<DefElem>,
        /// IF EXISTS
        missing_ok: bool,
    },
    /// CREATE SCHEMA
    CreateSchema {
        /// Name; the role's if absent.
        name: Option<String>,
        /// AUTHORIZATION
        owner: Option<RoleSpec>,
        /// Objects made with it.
        elements: Vec<Statement>,
        /// IF NOT EXISTS
        if_not_exists: bool,
    },
    /// CREATE DOMAIN
    CreateDomain(Box<CreateDomain>),
    /// ALTER DOMAIN
    AlterDomain(Name, AlterDomainAction),
    /// CREATE TYPE AS ENUM
    CreateEnum(Name, Vec<String>),
    /// CREATE TYPE AS RANGE: name, properties
    CreateRange(Name, Vec<DefElem>),
    /// ALTER TYPE ADD VALUE, RENAME VALUE
    AlterEnum(AlterEnum),
    /// CREATE TYPE AS (...)
    CreateComposite(RangeVar, Vec<ColumnDef>),
    /// CREATE FUNCTION, PROCEDURE
    CreateFunction(Box<CreateFunction>),
    /// ALTER FUNCTION, PROCEDURE, ROUTINE
    AlterFunction(Box<AlterFunction>),
    /// CREATE AGGREGATE, OPERATOR
    Define(Box<Define>),
    /// CREATE CAST
    CreateCast(Box<CreateCast>),
    /// CREATE ACCESS METHOD
    CreateAccessMethod(Box<CreateAccessMethod>),
    /// CREATE CONVERSION
    CreateConversion(Box<CreateConversion>),
    /// ALTER TEXT SEARCH DICTIONARY: its parameters.
    AlterTextSearchDictionary(Name, Vec<DefElem>),
    /// ALTER TEXT SEARCH CONFIGURATION ... MAPPING
    AlterTextSearchConfiguration(Box<AlterTextSearchConfiguration>),
    /// ALTER COLLATION ... REFRESH VERSION.
    RefreshCollation(Name),
    /// CREATE OPERATOR CLASS
    CreateOperatorClass(Box<CreateOperatorClass>),
    /// CREATE OPERATOR FAMILY
    CreateOperatorFamily {
        /// Name.
        name: Name,
        /// USING
        method: String,
    },
    /// ALTER OPERATOR FAMILY ... ADD, DROP
    AlterOperatorFamily(Box<AlterOperatorFamily>),
    /// ALTER OPERATOR ... SET
    AlterOperator {
        /// Which.
        operator: ObjectWithArgs,
        /// What it is to have; no value: NONE.
        options: Vec<DefElem>,
    },
    /// CREATE TRIGGER
    CreateTrigger(Box<CreateTrigger>),
    /// CREATE EXTENSION
    CreateExtension {
        /// Name.
        name: String,
        /// IF NOT EXISTS
        if_not_exists: bool,
        /// Options.
        options: Vec<DefElem>,
    },
    /// CREATE LANGUAGE
    CreateLanguage(Box<CreateLanguage>),
    /// ALTER EXTENSION UPDATE
    AlterExtension {
        /// Name.
        name: String,
        /// Options.
        options: Vec<DefElem>,
    },
    /// ALTER EXTENSION ADD, DROP
    AlterExtensionMember {
        /// Name.
        name: String,
        /// ADD
        add: bool,
        /// Kind of the member.
        kind: ObjectKind,
        /// The member.
        object: ObjectName,
    },
    /// CREATE ROLE, USER, GROUP
    CreateRole {
        /// Name.
        name: String,
        /// USER: LOGIN is the default.
        login: bool,
        /// Options.
        options: Vec<DefElem>,
    },
    /// ALTER ROLE
    AlterRole {
        /// Role.
        role: RoleSpec,
        /// Options.
        options: Vec<DefElem>,
        /// ALTER GROUP ADD USER (1), DROP USER (-1)
        action: i32,
    },
    /// ALTER ROLE SET
    AlterRoleSet {
        /// Role; none for ALL.
        role: Option<RoleSpec>,
        /// IN DATABASE
        database: Option<String>,
        /// Setting.
        set: SetStatement,
    },
    /// DROP ROLE
    DropRole {
        /// Roles.
        roles: Vec<RoleSpec>,
        /// IF EXISTS
        missing_ok: bool,
    },
    /// DROP OWNED
    DropOwned(Vec<RoleSpec>, DropBehavior),
    /// REASSIGN OWNED
    ReassignOwned(Vec<RoleSpec>, RoleSpec),
    /// GRANT, REVOKE on objects
    Grant(Box<Grant>),
    /// GRANT, REVOKE of roles
    GrantRole(Box<GrantRole>),
    /// ALTER DEFAULT PRIVILEGES
    AlterDefaultPrivileges(Vec<DefElem>, Box<Grant>),
    /// COMMENT ON
    Comment {
        /// Kind.
        kind: ObjectKind,
        /// Object.
        object: ObjectName,
        /// Text; none to remove it.
        comment: Option<String>,
    },
    /// CREATE DATABASE
    CreateDatabase(String, Vec<DefElem>),
    /// ALTER DATABASE
    AlterDatabase(String, Vec<DefElem>),
    /// ALTER DATABASE SET
    AlterDatabaseSet(String, SetStatement),
    /// ALTER DATABASE REFRESH COLLATION VERSION
    RefreshDatabaseCollation(String),
    /// DROP DATABASE
    DropDatabase {
        /// Name.
        name: String,
        /// IF EXISTS
        missing_ok: bool,
        /// WITH
        options: Vec<DefElem>,
    },
    /// ALTER SYSTEM
    AlterSystem(SetStatement),
    /// COPY
    Copy(Box<Copy>),
    /// BEGIN, COMMIT, SAVEPOINT...
    Transaction(Transaction),
    /// SET, RESET
    Set(SetStatement),
    /// SHOW; `all` for SHOW ALL
    Show(String),
    /// SET CONSTRAINTS; empty: ALL
    SetConstraints(Vec<RangeVar>, bool),
    /// PREPARE
    Prepare {
        /// Name.
        name: String,
        /// Parameter types.
        types: Vec<TypeName>,
        /// Statement.
        query: Box<Statement>,
    },
    /// EXECUTE
    Execute(Execute),
    /// DEALLOCATE; none for ALL
    Deallocate(Option<String>),
    /// DECLARE
    DeclareCursor(Box<DeclareCursor>),
    /// FETCH, MOVE
    Fetch(Fetch),
    /// CLOSE; none for ALL
    Close(Option<String>),
    /// EXPLAIN
    Explain {
        /// Statement explained.
        query: Box<Statement>,
        /// Options.
        options: Vec<DefElem>,
    },
    /// VACUUM, ANALYZE
    Vacuum(Vacuum),
    /// CLUSTER
    Cluster {
        /// Table; none: all.
        relation: Option<RangeVar>,
        /// Index.
        index: Option<String>,
        /// Options.
        options: Vec<DefElem>,
    },
    /// REINDEX
    Reindex(Reindex),
    /// CHECKPOINT
    Checkpoint(Vec<DefElem>),
    /// LOCK TABLE
    Lock {
        /// Tables.
        relations: Vec<RangeVar>,
        /// PostgreSQL's number of the mode, 1 (ACCESS SHARE) to 8 (ACCESS EXCLUSIVE).
        mode: i32,
        /// NOWAIT
        nowait: bool,
    },
    /// LISTEN
    Listen(String),
    /// UNLISTEN; none for `*`
    Unlisten(Option<String>),
    /// NOTIFY
    Notify(String, Option<String>),
    /// DISCARD
    Discard(Discard),
    /// DO: options `as` and `language`
    Do(Vec<DefElem>),
    /// CALL
    Call(Box<Call>),
    /// LOAD
    Load(String),
    /// CREATE TABLESPACE
    CreateTablespace {
        /// Name.
        name: String,
        /// OWNER
        owner: Option<RoleSpec>,
        /// LOCATION
        location: String,
        /// WITH
        options: Vec<DefElem>,
    },
    /// DROP TABLESPACE
    DropTablespace {
        /// Name.
        name: String,
        /// IF EXISTS
        missing_ok: bool,
    },
    /// RETURN, in the body of an SQL function only
    Return(Box<Expr>),
    /// Assignment to a part of a variable, in a procedural language only
    Assign(Box<Assign>),
}

impl Statement {
    /// Whether it is planned and executed. All others are utility statements.
    pub fn is_planned(&self) -> bool {
        matches!(
            self,
            Statement::Select(_)
                | Statement::Insert(_)
                | Statement::Update(_)
                | Statement::Delete(_)
                | Statement::Merge(_)
                | Statement::Return(_)
                | Statement::Assign(_)
        )
    }
}

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
