//! Definitions: CREATE, ALTER, DROP, COMMENT, GRANT.

use super::{
    Expr, ForeignOption, ForeignSource, FuncCall, Location, Name, RangeVar, Select, SortDirection, SortNulls,
    Statement, TypeName,
};

/// Value of an option.
#[derive(Clone, Debug, PartialEq)]
pub enum OptionValue {
    /// A quoted string, or a bare word.
    String(String),
    /// An integer.
    Integer(i32),
    /// Another number, as written.
    Float(String),
    /// TRUE or FALSE.
    Boolean(bool),
    /// A word that may be a type, or a name with dots.
    Type(TypeName),
    /// Several values.
    List(Vec<OptionValue>),
    /// `*`
    Star,
    /// A relation (OWNED BY, or a sequence's name).
    Names(Vec<String>),
    /// A role.
    Role(RoleSpec),
    /// An expression (WHEN, and arguments of DO).
    Expr(Expr),
    /// SET or RESET, of a function.
    Set(SetStatement),
}

/// `name = value` in an option list.
#[derive(Clone, Debug, PartialEq)]
pub struct DefElem {
    /// `toast.` and the like.
    pub namespace: Option<String>,
    /// Option, lower case.
    pub name: String,
    /// Value, if given.
    pub value: Option<OptionValue>,
    /// Of the name.
    pub location: Location,
}

/// CASCADE or RESTRICT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum DropBehavior {
    #[default]
    Restrict,
    Cascade,
}

/// A role as named in a statement.
#[derive(Clone, Debug, PartialEq)]
pub enum RoleSpec {
    /// By name.
    Name(String, Location),
    /// CURRENT_ROLE
    CurrentRole(Location),
    /// CURRENT_USER
    CurrentUser(Location),
    /// SESSION_USER
    SessionUser(Location),
    /// PUBLIC
    Public(Location),
}

/// Kinds of objects that ALTER, COMMENT, DROP, GRANT name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum ObjectKind {
    AccessMethod,
    Aggregate,
    Cast,
    Column,
    Collation,
    Conversion,
    Database,
    Domain,
    DomainConstraint,
    EventTrigger,
    Extension,
    ForeignDataWrapper,
    ForeignServer,
    ForeignTable,
    Function,
    Index,
    Language,
    LargeObject,
    MaterializedView,
    OperatorClass,
    Operator,
    OperatorFamily,
    Parameter,
    Policy,
    Procedure,
    Publication,
    Role,
    Routine,
    Rule,
    Schema,
    Sequence,
    Subscription,
    Statistics,
    TableConstraint,
    Table,
    Tablespace,
    Transform,
    Trigger,
    TextSearchConfiguration,
    TextSearchDictionary,
    TextSearchParser,
    TextSearchTemplate,
    Type,
    Attribute,
    View,
}

/// An object as named in a statement.
#[derive(Clone, Debug, PartialEq)]
pub enum ObjectName {
    /// Relation, type, schema, database, column (`table.column`), trigger (`table.trigger`) and so on.
    Name(Name),
    /// Type or domain.
    Type(TypeName),
    /// Function, aggregate or operator with argument types.
    WithArgs(ObjectWithArgs),
    /// Cast.
    Cast(TypeName, TypeName),
    /// Constraint of a domain.
    DomainConstraint(TypeName, String),
    /// Transform for a type in a language.
    Transform(TypeName, String),
    /// By OID.
    Number(String),
}

/// A function or operator with its argument types.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectWithArgs {
    /// Name.
    pub name: Name,
    /// Types; `None`: a missing operand.
    pub args: Vec<Option<TypeName>>,
    /// Of a function: all parameters with their modes, where they were written.
    pub parameters: Vec<FunctionParameter>,
    /// No parentheses were written.
    pub args_unspecified: bool,
}

/// GENERATED ... AS IDENTITY
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Identity {
    Always,
    ByDefault,
}

/// A column in CREATE TABLE, ALTER TABLE, or a column definition list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ColumnDef {
    /// Name.
    pub name: String,
    /// Type; absent in `CREATE TABLE OF` and in lists of names only.
    pub type_name: Option<TypeName>,
    /// COMPRESSION
    pub compression: Option<String>,
    /// STORAGE
    pub storage: Option<String>,
    /// COLLATE
    pub collation: Option<(Name, Location)>,
    /// OPTIONS, of a foreign table
    pub foreign_options: Vec<ForeignOption>,
    /// Constraints in the order written, DEFAULT among them.
    pub constraints: Vec<Constraint>,
    /// Of the name.
    pub location: Location,
}

/// Actions of a foreign key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ForeignKeyAction {
    #[default]
    NoAction,
    Restrict,
    Cascade,
    SetNull,
    SetDefault,
}

/// MATCH of a foreign key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ForeignKeyMatch {
    #[default]
    Simple,
    Full,
    Partial,
}

/// What a constraint says.
#[derive(Clone, Debug, PartialEq)]
pub enum ConstraintKind {
    /// NULL
    Null,
    /// NOT NULL; the column, if written as a table constraint
    NotNull(Option<String>),
    /// DEFAULT
    Default(Expr),
    /// GENERATED ... AS IDENTITY (sequence options)
    Identity(Identity, Vec<DefElem>),
    /// GENERATED ALWAYS AS (...) STORED (true) or VIRTUAL
    Generated {
        /// Expression.
        expr: Expr,
        /// STORED.
        stored: bool,
        /// GENERATED ALWAYS (not BY DEFAULT).
        always: bool,
    },
    /// CHECK
    Check(Expr),
    /// PRIMARY KEY
    PrimaryKey(IndexConstraint),
    /// UNIQUE
    Unique(IndexConstraint),
    /// EXCLUDE
    Exclude {
        /// Index part.
        index: IndexConstraint,
        /// Elements, with their operators.
        elements: Vec<(IndexElement, Name)>,
        /// USING method.
        access_method: Option<String>,
        /// WHERE
        filter: Option<Expr>,
    },
    /// FOREIGN KEY, REFERENCES
    ForeignKey {
        /// Referenced table.
        table: RangeVar,
        /// Referencing columns; empty for a column constraint.
        columns: Vec<String>,
        /// Referenced columns; empty: the primary key.
        referenced: Vec<String>,
        /// MATCH
        matching: ForeignKeyMatch,
        /// ON UPDATE
        on_update: ForeignKeyAction,
        /// ON DELETE
        on_delete: ForeignKeyAction,
        /// Columns of ON DELETE SET NULL (columns).
        delete_columns: Vec<String>,
        /// PERIOD before the last referencing column.
        period: bool,
        /// PERIOD before the last referenced column.
        referenced_period: bool,
    },
    /// DEFERRABLE (an attribute of the preceding constraint)
    Deferrable,
    /// NOT DEFERRABLE
    NotDeferrable,
    /// INITIALLY DEFERRED
    Deferred,
    /// INITIALLY IMMEDIATE
    Immediate,
    /// ENFORCED
    Enforced,
    /// NOT ENFORCED
    NotEnforced,
}

/// The index behind a constraint.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IndexConstraint {
    /// Key columns; empty for a column constraint.
    pub columns: Vec<String>,
    /// INCLUDE
    pub including: Vec<String>,
    /// NULLS NOT DISTINCT
    pub nulls_not_distinct: bool,
    /// WITHOUT OVERLAPS
    pub without_overlaps: bool,
    /// WITH
    pub options: Vec<DefElem>,
    /// USING INDEX name
    pub using_index: Option<String>,
    /// USING INDEX TABLESPACE
    pub tablespace: Option<String>,
}

/// A constraint.
#[derive(Clone, Debug, PartialEq)]
pub struct Constraint {
    /// CONSTRAINT name
    pub name: Option<String>,
    /// What it says.
    pub kind: ConstraintKind,
    /// DEFERRABLE
    pub deferrable: bool,
    /// INITIALLY DEFERRED
    pub deferred: bool,
    /// Not NOT ENFORCED.
    pub enforced: bool,
    /// NOT VALID
    pub not_valid: bool,
    /// NO INHERIT
    pub no_inherit: bool,
    /// Of its first word.
    pub location: Location,
}

/// LIKE's INCLUDING bits, as PostgreSQL numbers them.
pub mod like {
    #![allow(missing_docs)]
    pub const COMMENTS: u32 = 1;
    pub const COMPRESSION: u32 = 2;
    pub const CONSTRAINTS: u32 = 4;
    pub const DEFAULTS: u32 = 8;
    pub const GENERATED: u32 = 16;
    pub const IDENTITY: u32 = 32;
    pub const INDEXES: u32 = 64;
    pub const STATISTICS: u32 = 128;
    pub const STORAGE: u32 = 256;
}

/// An element of CREATE TABLE's list.
#[derive(Clone, Debug, PartialEq)]
pub enum TableElement {
    /// A column.
    Column(ColumnDef),
    /// A table constraint.
    Constraint(Constraint),
    /// LIKE table, with [`like`] bits
    Like(RangeVar, u32),
}

/// ON COMMIT of a temporary table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum OnCommit {
    #[default]
    None,
    PreserveRows,
    DeleteRows,
    Drop,
}

/// Strategy of PARTITION BY.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum PartitionStrategy {
    List,
    Range,
    Hash,
}

/// PARTITION BY.
#[derive(Clone, Debug, PartialEq)]
pub struct PartitionBy {
    /// Strategy.
    pub strategy: PartitionStrategy,
    /// Key: columns and expressions.
    pub keys: Vec<IndexElement>,
    /// Of PARTITION.
    pub location: Location,
}

/// FOR VALUES of a partition.
#[derive(Clone, Debug, PartialEq)]
pub enum PartitionBound {
    /// DEFAULT
    Default,
    /// WITH (MODULUS m, REMAINDER r)
    Hash(i32, i32),
    /// IN (values)
    List(Vec<Expr>),
    /// FROM (values) TO (values); MINVALUE and MAXVALUE are column references
    Range(Vec<Expr>, Vec<Expr>),
}

/// CREATE TABLE.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateTable {
    /// Its name and persistence.
    pub relation: RangeVar,
    /// IF NOT EXISTS
    pub if_not_exists: bool,
    /// Columns, constraints, LIKE.
    pub elements: Vec<TableElement>,
    /// INHERITS
    pub inherits: Vec<RangeVar>,
    /// PARTITION OF parent (then `inherits` has it) FOR VALUES
    pub partition_of: Option<PartitionBound>,
    /// PARTITION BY
    pub partition_by: Option<PartitionBy>,
    /// OF type
    pub of_type: Option<TypeName>,
    /// WITH
    pub options: Vec<DefElem>,
    /// ON COMMIT
    pub on_commit: OnCommit,
    /// TABLESPACE
    pub tablespace: Option<String>,
    /// USING
    pub access_method: Option<String>,
    /// CREATE FOREIGN TABLE: SERVER, OPTIONS
    pub foreign: Option<ForeignSource>,
}

/// What SELECT INTO and CREATE TABLE AS create.
#[derive(Clone, Debug, PartialEq)]
pub struct Into {
    /// Its name and persistence.
    pub relation: RangeVar,
    /// Column names.
    pub columns: Vec<String>,
    /// USING
    pub access_method: Option<String>,
    /// WITH
    pub options: Vec<DefElem>,
    /// ON COMMIT
    pub on_commit: OnCommit,
    /// TABLESPACE
    pub tablespace: Option<String>,
    /// WITH NO DATA
    pub skip_data: bool,
}

/// CREATE TABLE AS, SELECT INTO, CREATE MATERIALIZED VIEW.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateTableAs {
    /// SELECT, VALUES or EXECUTE.
    pub query: Box<Statement>,
    /// Target.
    pub into: Into,
    /// A materialized view.
    pub materialized_view: bool,
    /// Written as SELECT INTO.
    pub select_into: bool,
    /// IF NOT EXISTS
    pub if_not_exists: bool,
}

/// A key of an index, or of ON CONFLICT, or of a partition key.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexElement {
    /// Column, or...
    pub column: Option<String>,
    /// ...expression.
    pub expr: Option<Expr>,
    /// COLLATE
    pub collation: Option<Name>,
    /// Operator class.
    pub opclass: Option<Name>,
    /// Its parameters.
    pub opclass_options: Vec<DefElem>,
    /// ASC, DESC
    pub direction: SortDirection,
    /// NULLS FIRST, LAST
    pub nulls: SortNulls,
    /// Of the element.
    pub location: Location,
}

/// CREATE INDEX.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateIndex {
    /// Name; chosen by the server if absent.
    pub name: Option<String>,
    /// Table.
    pub relation: RangeVar,
    /// USING; `btree` if not written
    pub access_method: String,
    /// Keys.
    pub keys: Vec<IndexElement>,
    /// INCLUDE
    pub including: Vec<IndexElement>,
    /// WITH
    pub options: Vec<DefElem>,
    /// WHERE
    pub filter: Option<Expr>,
    /// TABLESPACE
    pub tablespace: Option<String>,
    /// UNIQUE
    pub unique: bool,
    /// NULLS NOT DISTINCT
    pub nulls_not_distinct: bool,
    /// CONCURRENTLY
    pub concurrently: bool,
    /// IF NOT EXISTS
    pub if_not_exists: bool,
}

/// One action of ALTER TABLE (INDEX, VIEW, SEQUENCE, MATERIALIZED VIEW).
#[derive(Clone, Debug, PartialEq)]
pub enum AlterAction {
    /// ADD COLUMN \[IF NOT EXISTS\], ADD ATTRIBUTE and what becomes of tables of the type
    AddColumn(ColumnDef, bool, DropBehavior),
    /// ALTER COLUMN SET DEFAULT (or DROP DEFAULT)
    ColumnDefault(String, Option<Expr>),
    /// DROP NOT NULL
    DropNotNull(String),
    /// SET NOT NULL
    SetNotNull(String),
    /// SET EXPRESSION AS
    SetExpression(String, Expr),
    /// DROP EXPRESSION \[IF EXISTS\]
    DropExpression(String, bool),
    /// SET STATISTICS; the column by name or number; no value for DEFAULT
    SetStatistics(Option<String>, i16, Option<i32>),
    /// ALTER COLUMN SET (options)
    SetColumnOptions(String, Vec<DefElem>),
    /// ALTER COLUMN RESET (options)
    ResetColumnOptions(String, Vec<DefElem>),
    /// SET STORAGE
    SetStorage(String, String),
    /// SET COMPRESSION
    SetCompression(String, String),
    /// DROP COLUMN \[IF EXISTS\]
    DropColumn(String, bool, DropBehavior),
    /// ADD constraint
    AddConstraint(Constraint),
    /// ALTER CONSTRAINT
    AlterConstraint {
        /// Name.
        name: String,
        /// ENFORCED or NOT ENFORCED
        enforced: Option<bool>,
        /// (DEFERRABLE, INITIALLY DEFERRED)
        deferrability: Option<(bool, bool)>,
        /// NO INHERIT or INHERIT
        no_inherit: Option<bool>,
    },
    /// VALIDATE CONSTRAINT
    ValidateConstraint(String),
    /// DROP CONSTRAINT \[IF EXISTS\]
    DropConstraint(String, bool, DropBehavior),
    /// ALTER COLUMN TYPE
    ColumnType {
        /// Column.
        column: String,
        /// New type.
        type_name: TypeName,
        /// COLLATE
        collation: Option<(Name, Location)>,
        /// USING
        using: Option<Expr>,
        /// Of the column.
        location: Location,
        /// Of an attribute: what becomes of tables of the type.
        behavior: DropBehavior,
    },
    /// OWNER TO
    Owner(RoleSpec),
    /// CLUSTER ON
    ClusterOn(String),
    /// SET WITHOUT CLUSTER
    DropCluster,
    /// SET LOGGED
    SetLogged,
    /// SET UNLOGGED
    SetUnlogged,
    /// SET WITHOUT OIDS
    DropOids,
    /// SET ACCESS METHOD; none for DEFAULT
    SetAccessMethod(Option<String>),
    /// SET TABLESPACE
    SetTablespace(String),
    /// SET (options)
    SetOptions(Vec<DefElem>),
    /// RESET (options)
    ResetOptions(Vec<DefElem>),
    /// OPTIONS of a foreign table
    ForeignOptions(Vec<ForeignOption>),
    /// ALTER COLUMN OPTIONS of a foreign table
    ForeignColumnOptions(String, Vec<ForeignOption>),
    /// ENABLE or DISABLE TRIGGER, with the state letter O, A, R, D
    Trigger(TriggerTarget, char),
    /// ENABLE or DISABLE RULE
    Rule(String, char),
    /// INHERIT (true) or NO INHERIT
    Inherit(RangeVar, bool),
    /// OF type
    Of(TypeName),
    /// NOT OF
    NotOf,
    /// REPLICA IDENTITY: letter d, n, f, i and the index
    ReplicaIdentity(char, Option<String>),
    /// ENABLE or DISABLE ROW LEVEL SECURITY
    RowSecurity(bool),
    /// FORCE or NO FORCE ROW LEVEL SECURITY
    ForceRowSecurity(bool),
    /// ATTACH PARTITION
    AttachPartition(RangeVar, Option<PartitionBound>),
    /// DETACH PARTITION \[CONCURRENTLY\] \[FINALIZE\]
    DetachPartition(RangeVar, bool, bool),
    /// ALTER COLUMN ADD GENERATED AS IDENTITY
    AddIdentity(String, Identity, Vec<DefElem>),
    /// ALTER COLUMN SET GENERATED ..., SET sequence option
    SetIdentity(String, Vec<DefElem>),
    /// DROP IDENTITY \[IF EXISTS\]
    DropIdentity(String, bool),
}

/// Which triggers ALTER TABLE switches.
#[derive(Clone, Debug, PartialEq)]
pub enum TriggerTarget {
    /// One.
    Name(String),
    /// ALL
    All,
    /// USER
    User,
}

/// ALTER TABLE and its kin.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterTable {
    /// Which word followed ALTER.
    pub kind: ObjectKind,
    /// Relation.
    pub relation: RangeVar,
    /// Actions in the order written.
    pub actions: Vec<AlterAction>,
    /// IF EXISTS
    pub missing_ok: bool,
}

/// ALTER ... RENAME
#[derive(Clone, Debug, PartialEq)]
pub struct Rename {
    /// What is renamed; Column, Attribute and TableConstraint with the relation.
    pub kind: ObjectKind,
    /// For columns: kind of the relation.
    pub relation_kind: Option<ObjectKind>,
    /// Relation, for relations and what belongs to one.
    pub relation: Option<RangeVar>,
    /// Object, for others.
    pub object: Option<ObjectName>,
    /// Column, constraint, trigger... in the relation, or the old name of a role, schema...
    pub old_name: Option<String>,
    /// New name.
    pub new_name: String,
    /// For attributes of types.
    pub behavior: DropBehavior,
    /// IF EXISTS
    pub missing_ok: bool,
}

/// ALTER ... ALL IN TABLESPACE ... SET TABLESPACE.
#[derive(Clone, Debug, PartialEq)]
pub struct MoveAll {
    /// Tables, indexes or materialized views.
    pub kind: ObjectKind,
    /// The tablespace that they are in.
    pub from: String,
    /// Where they go.
    pub to: String,
    /// OWNED BY
    pub owners: Vec<RoleSpec>,
    /// NOWAIT
    pub nowait: bool,
}

/// DROP of anything but roles, databases and tablespaces.
#[derive(Clone, Debug, PartialEq)]
pub struct Drop {
    /// Kind.
    pub kind: ObjectKind,
    /// Objects.
    pub objects: Vec<ObjectName>,
    /// CASCADE
    pub behavior: DropBehavior,
    /// IF EXISTS
    pub missing_ok: bool,
    /// CONCURRENTLY
    pub concurrently: bool,
}

/// CREATE VIEW.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateView {
    /// Name and persistence.
    pub view: RangeVar,
    /// Column names.
    pub columns: Vec<String>,
    /// Query.
    pub query: Box<Select>,
    /// OR REPLACE
    pub replace: bool,
    /// WITH
    pub options: Vec<DefElem>,
    /// WITH CHECK OPTION: cascaded if true
    pub check_option: Option<bool>,
}

/// A privilege: name (none for ALL) and columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Privilege {
    /// Lower case.
    pub name: Option<String>,
    /// Columns.
    pub columns: Vec<String>,
}

/// What GRANT is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrantTarget {
    /// Objects by name.
    Objects,
    /// ALL ... IN SCHEMA
    AllInSchema,
    /// ALTER DEFAULT PRIVILEGES
    Defaults,
}

/// GRANT and REVOKE on objects.
#[derive(Clone, Debug, PartialEq)]
pub struct Grant {
    /// GRANT (not REVOKE).
    pub grant: bool,
    /// Which objects.
    pub target: GrantTarget,
    /// Kind.
    pub kind: ObjectKind,
    /// Objects, or schemas.
    pub objects: Vec<ObjectName>,
    /// Privileges; empty: ALL.
    pub privileges: Vec<Privilege>,
    /// Roles.
    pub grantees: Vec<RoleSpec>,
    /// WITH GRANT OPTION, GRANT OPTION FOR
    pub grant_option: bool,
    /// GRANTED BY
    pub grantor: Option<RoleSpec>,
    /// CASCADE
    pub behavior: DropBehavior,
}

/// GRANT and REVOKE of roles.
#[derive(Clone, Debug, PartialEq)]
pub struct GrantRole {
    /// GRANT (not REVOKE).
    pub grant: bool,
    /// Roles granted.
    pub roles: Vec<Privilege>,
    /// To whom.
    pub grantees: Vec<RoleSpec>,
    /// WITH options.
    pub options: Vec<DefElem>,
    /// GRANTED BY
    pub grantor: Option<RoleSpec>,
    /// CASCADE
    pub behavior: DropBehavior,
}

/// Mode of a function's parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ParameterMode {
    In,
    Out,
    InOut,
    Variadic,
    Table,
}

/// A parameter of CREATE FUNCTION.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionParameter {
    /// Name.
    pub name: Option<String>,
    /// Type.
    pub type_name: TypeName,
    /// Mode.
    pub mode: ParameterMode,
    /// DEFAULT
    pub default: Option<Expr>,
    /// Of the parameter.
    pub location: Location,
}

/// CREATE FUNCTION, CREATE PROCEDURE.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateFunction {
    /// PROCEDURE
    pub procedure: bool,
    /// OR REPLACE
    pub replace: bool,
    /// Name.
    pub name: Name,
    /// Parameters.
    pub parameters: Vec<FunctionParameter>,
    /// RETURNS
    pub returns: Option<TypeName>,
    /// LANGUAGE, AS, volatility and so on.
    pub options: Vec<DefElem>,
    /// BEGIN ATOMIC or RETURN: statements of the body.
    pub body: Option<Vec<Statement>>,
}

/// ALTER FUNCTION, PROCEDURE, ROUTINE: its options.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterFunction {
    /// Function, procedure or routine.
    pub kind: ObjectKind,
    /// Which.
    pub function: ObjectWithArgs,
    /// Volatility and so on.
    pub actions: Vec<DefElem>,
}

/// CREATE AGGREGATE, CREATE OPERATOR, CREATE TYPE: objects that a list of properties defines.
#[derive(Clone, Debug, PartialEq)]
pub struct Define {
    /// Aggregate, operator, base type, collation or object of text search.
    pub kind: ObjectKind,
    /// OR REPLACE
    pub replace: bool,
    /// IF NOT EXISTS
    pub if_not_exists: bool,
    /// An aggregate whose arguments are among the properties.
    pub old_style: bool,
    /// Name.
    pub name: Name,
    /// Arguments of an aggregate; direct ones first.
    pub parameters: Vec<FunctionParameter>,
    /// How many of them are direct; `None` without ORDER BY.
    pub direct: Option<usize>,
    /// Properties.
    pub definition: Vec<DefElem>,
}

/// CREATE CAST.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateCast {
    /// From.
    pub source: TypeName,
    /// To.
    pub target: TypeName,
    /// WITH FUNCTION; none for WITHOUT FUNCTION and WITH INOUT.
    pub function: Option<ObjectWithArgs>,
    /// WITH INOUT
    pub inout: bool,
    /// `pg_cast.castcontext`: `i`, `a` or `e`
    pub context: u8,
}

/// CREATE DOMAIN.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateDomain {
    /// Name.
    pub name: Name,
    /// Base type.
    pub type_name: TypeName,
    /// COLLATE
    pub collation: Option<(Name, Location)>,
    /// Constraints, DEFAULT among them.
    pub constraints: Vec<Constraint>,
}

/// An action of ALTER DOMAIN.
#[derive(Clone, Debug, PartialEq)]
pub enum AlterDomainAction {
    /// SET DEFAULT, DROP DEFAULT
    Default(Option<Expr>),
    /// SET NOT NULL
    SetNotNull,
    /// DROP NOT NULL
    DropNotNull,
    /// ADD constraint
    AddConstraint(Box<Constraint>),
    /// DROP CONSTRAINT \[IF EXISTS\]
    DropConstraint(String, bool, DropBehavior),
    /// VALIDATE CONSTRAINT
    ValidateConstraint(String),
}

/// ALTER TYPE of an enum.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterEnum {
    /// Type.
    pub name: Name,
    /// RENAME VALUE: the old label.
    pub old_value: Option<String>,
    /// New label.
    pub new_value: String,
    /// BEFORE or AFTER (true) this label.
    pub neighbor: Option<(String, bool)>,
    /// IF NOT EXISTS
    pub if_not_exists: bool,
}

/// CREATE LANGUAGE.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateLanguage {
    /// Name.
    pub name: String,
    /// OR REPLACE
    pub replace: bool,
    /// TRUSTED
    pub trusted: bool,
    /// HANDLER; without one the name is an extension's.
    pub handler: Option<Name>,
    /// INLINE
    pub inline: Option<Name>,
    /// VALIDATOR
    pub validator: Option<Name>,
}

/// CREATE TRIGGER.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateTrigger {
    /// OR REPLACE
    pub replace: bool,
    /// CONSTRAINT
    pub constraint: bool,
    /// Name.
    pub name: String,
    /// Table.
    pub relation: RangeVar,
    /// Function.
    pub function: Name,
    /// Its arguments.
    pub args: Vec<String>,
    /// FOR EACH ROW
    pub row: bool,
    /// PostgreSQL's bits: 2 BEFORE, 64 INSTEAD OF, 0 AFTER
    pub timing: i16,
    /// PostgreSQL's bits: 4 INSERT, 8 DELETE, 16 UPDATE, 32 TRUNCATE
    pub events: i16,
    /// UPDATE OF
    pub columns: Vec<String>,
    /// WHEN
    pub when: Option<Expr>,
    /// REFERENCING: (name, new, table)
    pub transitions: Vec<(String, bool, bool)>,
    /// DEFERRABLE
    pub deferrable: bool,
    /// INITIALLY DEFERRED
    pub deferred: bool,
    /// FROM
    pub from: Option<RangeVar>,
}

/// CREATE RULE.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateRule {
    /// OR REPLACE
    pub replace: bool,
    /// Name.
    pub name: String,
    /// Table or view.
    pub relation: RangeVar,
    /// ON
    pub event: RuleEvent,
    /// WHERE
    pub condition: Option<Expr>,
    /// DO INSTEAD
    pub instead: bool,
    /// What is done; empty: NOTHING.
    pub actions: Vec<Statement>,
}

/// What a rule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum RuleEvent {
    Select,
    Update,
    Insert,
    Delete,
}

/// CREATE POLICY.
#[derive(Clone, Debug, PartialEq)]
pub struct CreatePolicy {
    /// Name.
    pub name: String,
    /// Table.
    pub table: RangeVar,
    /// AS PERMISSIVE, not RESTRICTIVE
    pub permissive: bool,
    /// FOR: `all`, `select`, `insert`, `update` or `delete`
    pub command: String,
    /// TO
    pub roles: Vec<RoleSpec>,
    /// USING
    pub using: Option<Expr>,
    /// WITH CHECK
    pub check: Option<Expr>,
}

/// ALTER POLICY.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterPolicy {
    /// Name.
    pub name: String,
    /// Table.
    pub table: RangeVar,
    /// TO; empty: as before
    pub roles: Vec<RoleSpec>,
    /// USING
    pub using: Option<Expr>,
    /// WITH CHECK
    pub check: Option<Expr>,
}

/// SET and RESET, also inside other statements.
#[derive(Clone, Debug, PartialEq)]
pub struct SetStatement {
    /// What to do.
    pub action: SetAction,
    /// Setting; empty for RESET ALL. `TRANSACTION`, `SESSION CHARACTERISTICS` and `TRANSACTION SNAPSHOT` for
    /// [`SetAction::Multi`].
    pub name: String,
    /// SET LOCAL
    pub local: bool,
}

/// What SET does.
#[derive(Clone, Debug, PartialEq)]
pub enum SetAction {
    /// To these values.
    Value(Vec<SetValue>),
    /// TO DEFAULT
    Default,
    /// FROM CURRENT
    Current,
    /// SET TRANSACTION and the like: options.
    Multi(Vec<DefElem>),
    /// RESET name
    Reset,
    /// RESET ALL
    ResetAll,
}

/// A value of SET.
#[derive(Clone, Debug, PartialEq)]
pub enum SetValue {
    /// Word or string.
    String(String),
    /// Integer.
    Integer(i32),
    /// Other number, as written.
    Float(String),
    /// `INTERVAL '...' HOUR TO MINUTE`, of SET TIME ZONE: text and the field mask
    Interval(String, Option<Box<TypeName>>),
}

/// CALL.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The procedure's call.
    pub call: FuncCall,
}

/// A relation of VACUUM or ANALYZE.
#[derive(Clone, Debug, PartialEq)]
pub struct VacuumRelation {
    /// Relation.
    pub relation: RangeVar,
    /// Columns.
    pub columns: Vec<String>,
}

/// CREATE ACCESS METHOD.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateAccessMethod {
    /// Its name.
    pub name: String,
    /// The function that says what it is.
    pub handler: Name,
    /// `i` of indexes, `t` of tables.
    pub kind: u8,
}

/// ALTER TEXT SEARCH CONFIGURATION, as far as it is about mappings.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterTextSearchConfiguration {
    /// Its name.
    pub name: Name,
    /// Kinds of tokens; none for all, which REPLACE allows.
    pub kinds: Vec<String>,
    /// What is done about them.
    pub action: MappingAction,
}

/// What becomes of the dictionaries that kinds of tokens are looked up in.
#[derive(Clone, Debug, PartialEq)]
pub enum MappingAction {
    /// ADD MAPPING: these are asked.
    Add(Vec<Name>),
    /// ALTER MAPPING FOR: these are asked in place of others.
    Set(Vec<Name>),
    /// ALTER MAPPING ... REPLACE: the second takes the place of the first.
    Replace(Name, Name),
    /// DROP MAPPING: none is asked.
    Drop {
        /// IF EXISTS
        missing_ok: bool,
    },
}

/// CREATE STATISTICS.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateStatistics {
    /// Its name, if it was given one.
    pub name: Option<Name>,
    /// Kinds of statistics that are asked for.
    pub kinds: Vec<String>,
    /// Columns and expressions.
    pub elements: Vec<StatisticsElement>,
    /// The table.
    pub relation: RangeVar,
    /// IF NOT EXISTS
    pub if_not_exists: bool,
}

/// A column or an expression of CREATE STATISTICS.
#[derive(Clone, Debug, PartialEq)]
pub struct StatisticsElement {
    /// The column's name.
    pub column: Option<String>,
    /// The expression.
    pub expr: Option<Expr>,
}

/// CREATE CONVERSION.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateConversion {
    /// Its name.
    pub name: Name,
    /// Name of the source encoding.
    pub from: String,
    /// Name of the destination encoding.
    pub to: String,
    /// The function that converts.
    pub function: Name,
    /// DEFAULT
    pub default: bool,
}
