//! The raw syntax tree.
//!
//! What: the tree of a statement as written, before any name is looked up. It is ours, not the grammar library's, so that the
//! grammar can be replaced without touching analysis.
//!
//! Layout: this file holds names, types, expressions and the five statements that read and write rows; [`ddl`] holds
//! definitions of objects, [`foreign`] those of foreign data; [`json`] SQL/JSON, [`xml`] XML; [`utility`] everything else. What a statement is as a whole stands beside its conversion, in `convert/statement`. The names are re-exported here.
//!
//! Invariants:
//! 1. Every [`Location`] is a byte offset into the text handed to [`crate::parse`], or [`Location::NONE`].
//! 2. Identifiers are already folded to lower case and truncated as PostgreSQL does; they are never empty.
//! 3. Nothing here depends on a catalog.
//!
//! PostgreSQL counterpart: `nodes/parsenodes.h`; lists of defaults and flags are Rust enums here, and what only the analysed
//! tree needs is absent.

pub mod ddl;
pub mod foreign;
pub mod json;
pub mod operator_class;
pub mod publication;
pub mod utility;
pub mod xml;

pub use ddl::*;
pub use foreign::*;
pub use json::*;
pub use operator_class::*;
pub use publication::*;
pub use utility::*;
pub use xml::*;

pub use crate::convert::statement::Statement;

/// Byte offset of a node in the statement text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location(pub i32);

impl Location {
    /// Not known.
    pub const NONE: Location = Location(-1);

    /// The byte offset, if known.
    pub fn offset(self) -> Option<usize> {
        usize::try_from(self.0).ok()
    }

    /// The leftmost of two known locations.
    pub fn leftmost(self, other: Location) -> Location {
        match (self.0 < 0, other.0 < 0) {
            (true, _) => other,
            (_, true) => self,
            _ => self.min(other),
        }
    }
}

impl Default for Location {
    fn default() -> Location {
        Location::NONE
    }
}

/// A possibly qualified name (`schema.name`), outermost first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Name(pub Vec<String>);

impl Name {
    /// The last part.
    pub fn last(&self) -> &str {
        self.0.last().map_or("", String::as_str)
    }

    /// `a.b.c`, unquoted, as error messages show it.
    pub fn dotted(&self) -> String {
        self.0.join(".")
    }
}

/// A relation as named in a statement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RangeVar {
    /// Database part of a three-part name.
    pub catalog: Option<String>,
    /// Schema, if qualified.
    pub schema: Option<String>,
    /// Relation name.
    pub name: String,
    /// False after ONLY.
    pub inherit: bool,
    /// TEMP or UNLOGGED, where the syntax allows it.
    pub persistence: Persistence,
    /// `AS alias (columns)`.
    pub alias: Option<Alias>,
    /// Of the first part.
    pub location: Location,
}

impl RangeVar {
    /// `schema.name` as error messages show it.
    pub fn dotted(&self) -> String {
        let mut parts: Vec<&str> = Vec::new();
        parts.extend(self.catalog.as_deref());
        parts.extend(self.schema.as_deref());
        parts.push(&self.name);
        parts.join(".")
    }
}

/// How long a relation's rows last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Persistence {
    /// Logged.
    #[default]
    Permanent,
    /// Emptied by a crash.
    Unlogged,
    /// Gone with the session.
    Temporary,
}

/// `AS name (columns)`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Alias {
    /// Alias of the relation.
    pub name: String,
    /// Aliases of its columns, as many as given.
    pub columns: Vec<String>,
}

/// A type as written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TypeName {
    /// Name; built-in spellings are already mapped (`int` → `pg_catalog.int4`).
    pub names: Vec<String>,
    /// SETOF.
    pub setof: bool,
    /// `%TYPE`: the type of the column named.
    pub percent_type: bool,
    /// Modifiers, as `(10,2)`.
    pub modifiers: Vec<Expr>,
    /// INTERVAL's field mask or another modifier fixed by the grammar; -1 if none.
    pub typmod: i32,
    /// One per array dimension; -1 where no bound was given.
    pub array_bounds: Vec<i32>,
    /// Of the name.
    pub location: Location,
}

/// A literal constant.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// NULL
    Null,
    /// An integer that fits into 32 bits.
    Integer(i32),
    /// Any other number, as written.
    Float(String),
    /// TRUE or FALSE
    Boolean(bool),
    /// A quoted string, escapes resolved.
    String(String),
    /// `b0101` or `x1FF`: kind letter and digits.
    BitString(String),
}

/// A part of a column reference or of what follows a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Indirection {
    /// `.name`
    Field(String),
    /// `.*`
    Star,
    /// `[i]`
    Index(Expr),
    /// `[lower:upper]`
    Slice(Option<Expr>, Option<Expr>),
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// `a`, `t.a`, `t.*`, `*`: a name and fields; only [`Indirection::Field`] and a last [`Indirection::Star`].
    Column(ColumnRef),
    /// `$1`
    Param {
        /// From 1; 0 and negatives cannot occur.
        number: i32,
        /// Of the `$`.
        location: Location,
    },
    /// A literal.
    Const {
        /// Its value.
        value: Literal,
        /// Of its start.
        location: Location,
    },
    /// An operator of any kind.
    Op(Box<OpExpr>),
    /// AND, OR, NOT
    Bool {
        /// Which.
        op: BoolOp,
        /// One for NOT, two or more otherwise.
        args: Vec<Expr>,
        /// Of the keyword.
        location: Location,
    },
    /// A function call, aggregate or window function.
    Func(Box<FuncCall>),
    /// `CAST (x AS t)`, `x::t`, `t 'literal'`
    Cast(Box<CastExpr>),
    /// `x COLLATE c`
    Collate(Box<CollateClause>),
    /// A subquery in an expression.
    SubLink(Box<SubLink>),
    /// `ARRAY[...]`
    Array {
        /// Elements; nested lists are `Array` again.
        elements: Vec<Expr>,
        /// Of ARRAY or `[`.
        location: Location,
    },
    /// `ROW(...)` or `(a, b)`
    Row {
        /// Fields.
        args: Vec<Expr>,
        /// Whether ROW was written.
        explicit: bool,
        /// Of ROW or `(`.
        location: Location,
    },
    /// CASE
    Case(Box<CaseExpr>),
    /// COALESCE
    Coalesce {
        /// Arguments.
        args: Vec<Expr>,
        /// Of the keyword.
        location: Location,
    },
    /// GREATEST, LEAST
    MinMax {
        /// True for GREATEST.
        greatest: bool,
        /// Arguments.
        args: Vec<Expr>,
        /// Of the keyword.
        location: Location,
    },
    /// IS \[NOT\] NULL
    NullTest {
        /// Operand.
        arg: Box<Expr>,
        /// IS NOT NULL.
        not: bool,
        /// Of IS.
        location: Location,
    },
    /// IS \[NOT\] TRUE, FALSE, UNKNOWN
    BooleanTest {
        /// Operand.
        arg: Box<Expr>,
        /// Which test.
        test: BoolTest,
        /// Of IS.
        location: Location,
    },
    /// CURRENT_DATE and its kin.
    SqlValue {
        /// Which.
        kind: SqlValueKind,
        /// Precision, or -1.
        typmod: i32,
        /// Of the keyword.
        location: Location,
    },
    /// DEFAULT as a value.
    Default {
        /// Of the keyword.
        location: Location,
    },
    /// `x.field`, `x[1]`, `(x).*`
    Indirection {
        /// What is selected from.
        arg: Box<Expr>,
        /// Steps from left to right.
        steps: Vec<Indirection>,
    },
    /// GROUPING(...)
    Grouping {
        /// Grouping expressions.
        args: Vec<Expr>,
        /// Of the keyword.
        location: Location,
    },
    /// `name => value` in an argument list.
    NamedArg {
        /// Parameter name.
        name: String,
        /// Value.
        arg: Box<Expr>,
        /// Of the name.
        location: Location,
    },
    /// WHERE CURRENT OF cursor
    CurrentOf {
        /// Cursor name.
        cursor: String,
    },
    /// MERGE_ACTION()
    MergeAction {
        /// Of the keyword.
        location: Location,
    },
    /// A constructor, test or query of SQL/JSON.
    Json(Box<JsonExpr>),
    /// XMLELEMENT and its kin.
    Xml(Box<XmlExpr>),
}

/// A reference by name.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnRef {
    /// Parts; never empty.
    pub fields: Vec<Indirection>,
    /// Of the first part.
    pub location: Location,
}

/// How an operator was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpKind {
    /// `a + b`, `- a`
    Op,
    /// `a = ANY (array)`
    OpAny,
    /// `a = ALL (array)`
    OpAll,
    /// IS DISTINCT FROM
    Distinct,
    /// IS NOT DISTINCT FROM
    NotDistinct,
    /// NULLIF(a, b)
    NullIf,
    /// `a IN (list)`: name is `=` or `<>`, the right side a list
    In,
    /// LIKE: name is `~~` or `!~~`
    Like,
    /// ILIKE: `~~*`
    Ilike,
    /// SIMILAR TO: `~`, the pattern wrapped in `similar_to_escape`
    Similar,
    /// BETWEEN; the right side is a list of two
    Between,
    /// NOT BETWEEN
    NotBetween,
    /// BETWEEN SYMMETRIC
    BetweenSymmetric,
    /// NOT BETWEEN SYMMETRIC
    NotBetweenSymmetric,
}

/// An operator with its operands.
#[derive(Clone, Debug, PartialEq)]
pub struct OpExpr {
    /// How it was written.
    pub kind: OpKind,
    /// Operator name, maybe qualified.
    pub name: Name,
    /// Left operand; absent for a prefix operator.
    pub left: Option<Expr>,
    /// Right operand, or the list of IN and BETWEEN.
    pub right: OpRight,
    /// Of the operator.
    pub location: Location,
}

/// What stands right of an operator.
#[derive(Clone, Debug, PartialEq)]
pub enum OpRight {
    /// One expression.
    Expr(Expr),
    /// The list of IN, the two bounds of BETWEEN.
    List(Vec<Expr>),
}

/// Logical connective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum BoolOp {
    And,
    Or,
    Not,
}

/// Test of a boolean's truth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum BoolTest {
    True,
    NotTrue,
    False,
    NotFalse,
    Unknown,
    NotUnknown,
}

/// A parameterless function with syntax of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum SqlValueKind {
    CurrentDate,
    CurrentTime,
    CurrentTimestamp,
    LocalTime,
    LocalTimestamp,
    CurrentRole,
    CurrentUser,
    User,
    SessionUser,
    CurrentCatalog,
    CurrentSchema,
}

/// A call.
#[derive(Clone, Debug, PartialEq)]
pub struct FuncCall {
    /// Function name.
    pub name: Name,
    /// Arguments; [`Expr::NamedArg`] may occur.
    pub args: Vec<Expr>,
    /// ORDER BY inside the parentheses, or of WITHIN GROUP.
    pub order_by: Vec<SortBy>,
    /// FILTER (WHERE ...)
    pub filter: Option<Expr>,
    /// OVER ...
    pub over: Option<WindowDef>,
    /// RESPECT NULLS / IGNORE NULLS do not exist in version 18; WITHIN GROUP does.
    pub within_group: bool,
    /// `(*)`
    pub star: bool,
    /// DISTINCT inside the parentheses.
    pub distinct: bool,
    /// VARIADIC before the last argument.
    pub variadic: bool,
    /// Whether SQL's special syntax was used (EXTRACT, AT TIME ZONE, ...), for deparsing.
    pub sql_syntax: bool,
    /// Of the name.
    pub location: Location,
}

/// A cast.
#[derive(Clone, Debug, PartialEq)]
pub struct CastExpr {
    /// Operand.
    pub arg: Expr,
    /// Target.
    pub type_name: TypeName,
    /// Of CAST, `::` or the literal's type.
    pub location: Location,
}

/// COLLATE.
#[derive(Clone, Debug, PartialEq)]
pub struct CollateClause {
    /// Operand; absent in a column definition.
    pub arg: Option<Expr>,
    /// Collation name.
    pub name: Name,
    /// Of COLLATE.
    pub location: Location,
}

/// Kinds of subqueries in expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubLinkKind {
    /// EXISTS (...)
    Exists,
    /// `x op ALL (...)`
    All,
    /// `x op ANY (...)`, `x IN (...)`
    Any,
    /// A scalar subquery.
    Expr,
    /// ARRAY(...)
    Array,
}

/// A subquery in an expression.
#[derive(Clone, Debug, PartialEq)]
pub struct SubLink {
    /// Which kind.
    pub kind: SubLinkKind,
    /// Left side of ALL and ANY.
    pub test: Option<Expr>,
    /// Operator of ALL and ANY; empty for IN.
    pub op: Name,
    /// The subquery.
    pub query: Select,
    /// Of the keyword, operator or parenthesis.
    pub location: Location,
}

/// CASE.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseExpr {
    /// `CASE x WHEN`: the tested value.
    pub arg: Option<Expr>,
    /// WHEN arms.
    pub whens: Vec<CaseWhen>,
    /// ELSE.
    pub default: Option<Expr>,
    /// Of CASE.
    pub location: Location,
}

/// WHEN condition THEN result.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseWhen {
    /// Condition, or value compared with.
    pub when: Expr,
    /// Result.
    pub then: Expr,
    /// Of WHEN.
    pub location: Location,
}

/// Direction of a sort key.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum SortDirection {
    /// Not given: ascending.
    #[default]
    Default,
    /// ASC
    Ascending,
    /// DESC
    Descending,
    /// USING operator
    Using(Name),
}

/// NULLS FIRST or LAST.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SortNulls {
    /// Last if ascending, first if descending.
    #[default]
    Default,
    /// NULLS FIRST
    First,
    /// NULLS LAST
    Last,
}

/// One key of ORDER BY.
#[derive(Clone, Debug, PartialEq)]
pub struct SortBy {
    /// Key.
    pub expr: Expr,
    /// Direction.
    pub direction: SortDirection,
    /// Place of nulls.
    pub nulls: SortNulls,
    /// Of the USING operator.
    pub location: Location,
}

/// Unit of a window frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum FrameUnits {
    Range,
    Rows,
    Groups,
}

/// One end of a window frame.
#[derive(Clone, Debug, PartialEq)]
pub enum FrameBound {
    /// UNBOUNDED PRECEDING
    UnboundedPreceding,
    /// n PRECEDING
    Preceding(Expr),
    /// CURRENT ROW
    CurrentRow,
    /// n FOLLOWING
    Following(Expr),
    /// UNBOUNDED FOLLOWING
    UnboundedFollowing,
}

/// EXCLUDE ...
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum FrameExclusion {
    #[default]
    NoOthers,
    CurrentRow,
    Group,
    Ties,
}

/// A window frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Units.
    pub units: FrameUnits,
    /// BETWEEN was written.
    pub between: bool,
    /// Start.
    pub start: FrameBound,
    /// End.
    pub end: FrameBound,
    /// Rows left out.
    pub exclusion: FrameExclusion,
}

/// A window: of the WINDOW clause or after OVER.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowDef {
    /// Name in the WINDOW clause, or of `OVER name`.
    pub name: Option<String>,
    /// Existing window that this one extends: `OVER (w ...)`.
    pub base: Option<String>,
    /// PARTITION BY
    pub partition_by: Vec<Expr>,
    /// ORDER BY
    pub order_by: Vec<SortBy>,
    /// Frame, if one was written.
    pub frame: Option<Frame>,
    /// Of the definition.
    pub location: Location,
}

/// An item of a target list, or of a RETURNING list.
#[derive(Clone, Debug, PartialEq)]
pub struct ResTarget {
    /// `AS name`.
    pub name: Option<String>,
    /// Value.
    pub value: Expr,
    /// Of the value.
    pub location: Location,
}

/// A column to write to: `name.field[1]`.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetColumn {
    /// Column.
    pub name: String,
    /// Subfields and subscripts.
    pub steps: Vec<Indirection>,
    /// Of the column.
    pub location: Location,
}

/// WITH.
#[derive(Clone, Debug, PartialEq)]
pub struct With {
    /// RECURSIVE
    pub recursive: bool,
    /// Its queries.
    pub ctes: Vec<Cte>,
    /// Of WITH.
    pub location: Location,
}

/// MATERIALIZED option of a CTE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Materialize {
    #[default]
    Default,
    Always,
    Never,
}

/// One query of WITH.
#[derive(Clone, Debug, PartialEq)]
pub struct Cte {
    /// Name.
    pub name: String,
    /// Column aliases.
    pub columns: Vec<String>,
    /// MATERIALIZED
    pub materialize: Materialize,
    /// SELECT, INSERT, UPDATE, DELETE or MERGE.
    pub query: Statement,
    /// SEARCH
    pub search: Option<CteSearch>,
    /// CYCLE
    pub cycle: Option<CteCycle>,
    /// Of the name.
    pub location: Location,
}

/// SEARCH ... FIRST BY ... SET.
#[derive(Clone, Debug, PartialEq)]
pub struct CteSearch {
    /// BY
    pub columns: Vec<String>,
    /// BREADTH rather than DEPTH.
    pub breadth_first: bool,
    /// SET
    pub sequence: String,
    /// Of the clause.
    pub location: Location,
}

/// CYCLE ... SET ... TO ... DEFAULT ... USING.
#[derive(Clone, Debug, PartialEq)]
pub struct CteCycle {
    /// Columns.
    pub columns: Vec<String>,
    /// SET
    pub mark: String,
    /// TO; true if it is not written.
    pub mark_value: Expr,
    /// DEFAULT; false if it is not written.
    pub mark_default: Expr,
    /// USING
    pub path: String,
    /// Of the clause.
    pub location: Location,
}

/// UNION and its kin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum SetOp {
    Union,
    Intersect,
    Except,
}

/// DISTINCT of a select.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Distinct {
    /// Absent.
    #[default]
    None,
    /// DISTINCT
    All,
    /// DISTINCT ON (...)
    On(Vec<Expr>),
}

/// What a select does before ORDER BY and LIMIT.
#[derive(Clone, Debug, PartialEq)]
pub enum SelectBody {
    /// SELECT ... FROM ...
    Simple(Box<SimpleSelect>),
    /// VALUES (...), (...)
    Values(Vec<Vec<Expr>>),
    /// left UNION right
    SetOp {
        /// Operation.
        op: SetOp,
        /// ALL.
        all: bool,
        /// Left input.
        left: Box<Select>,
        /// Right input.
        right: Box<Select>,
    },
}

/// SELECT with the clauses that go with FROM.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SimpleSelect {
    /// DISTINCT
    pub distinct: Distinct,
    /// SELECT INTO
    pub into: Option<Into>,
    /// Target list.
    pub targets: Vec<ResTarget>,
    /// FROM
    pub from: Vec<FromItem>,
    /// WHERE
    pub filter: Option<Expr>,
    /// GROUP BY
    pub group_by: Vec<GroupBy>,
    /// GROUP BY DISTINCT
    pub group_distinct: bool,
    /// HAVING
    pub having: Option<Expr>,
    /// WINDOW
    pub windows: Vec<WindowDef>,
}

/// A select, with or without set operations.
#[derive(Clone, Debug, PartialEq)]
pub struct Select {
    /// WITH
    pub with: Option<With>,
    /// Body.
    pub body: SelectBody,
    /// ORDER BY
    pub order_by: Vec<SortBy>,
    /// OFFSET
    pub offset: Option<Expr>,
    /// LIMIT; `LIMIT ALL` is a null constant.
    pub limit: Option<Expr>,
    /// FETCH FIRST ... WITH TIES
    pub with_ties: bool,
    /// FOR UPDATE and its kin.
    pub locking: Vec<Locking>,
}

/// An item of GROUP BY.
#[derive(Clone, Debug, PartialEq)]
pub enum GroupBy {
    /// An expression.
    Expr(Expr),
    /// `()`
    Empty(Location),
    /// ROLLUP (...)
    Rollup(Vec<GroupBy>, Location),
    /// CUBE (...)
    Cube(Vec<GroupBy>, Location),
    /// GROUPING SETS (...)
    Sets(Vec<GroupBy>, Location),
}

/// Strength of a row lock, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum LockStrength {
    KeyShare,
    Share,
    NoKeyUpdate,
    Update,
}

impl LockStrength {
    /// `FOR UPDATE` and so on, as error messages show it.
    pub fn clause(self) -> &'static str {
        match self {
            LockStrength::KeyShare => "FOR KEY SHARE",
            LockStrength::Share => "FOR SHARE",
            LockStrength::NoKeyUpdate => "FOR NO KEY UPDATE",
            LockStrength::Update => "FOR UPDATE",
        }
    }
}

/// What to do about a row locked by another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LockWait {
    /// Wait.
    #[default]
    Block,
    /// SKIP LOCKED
    Skip,
    /// NOWAIT
    Error,
}

/// FOR UPDATE OF ...
#[derive(Clone, Debug, PartialEq)]
pub struct Locking {
    /// Strength.
    pub strength: LockStrength,
    /// OF tables; empty: all.
    pub tables: Vec<RangeVar>,
    /// Waiting.
    pub wait: LockWait,
}

/// Kinds of joins as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum JoinKind {
    Inner,
    Left,
    Full,
    Right,
}

/// JOIN.
#[derive(Clone, Debug, PartialEq)]
pub struct Join {
    /// Kind.
    pub kind: JoinKind,
    /// NATURAL
    pub natural: bool,
    /// Left input.
    pub left: FromItem,
    /// Right input.
    pub right: FromItem,
    /// USING columns.
    pub using: Vec<String>,
    /// `USING (...) AS alias`
    pub using_alias: Option<Alias>,
    /// ON; absent for USING, NATURAL and CROSS JOIN.
    pub on: Option<Expr>,
    /// `(a JOIN b) AS alias`
    pub alias: Option<Alias>,
}

/// A function in FROM with its column definitions.
#[derive(Clone, Debug, PartialEq)]
pub struct FromFunction {
    /// The call; also CURRENT_DATE and the like.
    pub call: Expr,
    /// `AS (name type, ...)` of this one of ROWS FROM.
    pub columns: Vec<ColumnDef>,
}

/// An item of FROM.
#[derive(Clone, Debug, PartialEq)]
pub enum FromItem {
    /// A relation or CTE.
    Table(RangeVar),
    /// `table TABLESAMPLE method (args) REPEATABLE (seed)`
    Sample {
        /// Relation.
        table: RangeVar,
        /// Method.
        method: Name,
        /// Arguments.
        args: Vec<Expr>,
        /// Seed.
        repeatable: Option<Expr>,
        /// Of the method.
        location: Location,
    },
    /// `(SELECT ...) AS alias`
    Subquery {
        /// LATERAL
        lateral: bool,
        /// Query.
        query: Box<Select>,
        /// Alias.
        alias: Option<Alias>,
        /// Of the subquery's parenthesis or first word, if known.
        location: Location,
    },
    /// `f(...) AS alias`, ROWS FROM (...)
    Function {
        /// LATERAL
        lateral: bool,
        /// WITH ORDINALITY
        ordinality: bool,
        /// ROWS FROM was written.
        rows_from: bool,
        /// Functions; one unless ROWS FROM.
        functions: Vec<FromFunction>,
        /// Alias.
        alias: Option<Alias>,
        /// `AS (name type, ...)`
        columns: Vec<ColumnDef>,
    },
    /// JOIN
    Join(Box<Join>),
    /// JSON_TABLE(...)
    JsonTable(Box<JsonTable>),
    /// XMLTABLE(...)
    XmlTable(Box<XmlTable>),
}

/// RETURNING.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Returning {
    /// WITH (OLD AS name)
    pub old: Option<String>,
    /// WITH (NEW AS name)
    pub new: Option<String>,
    /// List; empty if there is no RETURNING.
    pub targets: Vec<ResTarget>,
}

/// OVERRIDING of an INSERT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Overriding {
    #[default]
    None,
    User,
    System,
}

/// INSERT.
#[derive(Clone, Debug, PartialEq)]
pub struct Insert {
    /// WITH
    pub with: Option<With>,
    /// Target.
    pub relation: RangeVar,
    /// Columns; empty: all.
    pub columns: Vec<TargetColumn>,
    /// Rows; absent for DEFAULT VALUES.
    pub source: Option<Box<Select>>,
    /// OVERRIDING
    pub overriding: Overriding,
    /// ON CONFLICT
    pub on_conflict: Option<OnConflict>,
    /// RETURNING
    pub returning: Returning,
}

/// ON CONFLICT.
#[derive(Clone, Debug, PartialEq)]
pub struct OnConflict {
    /// Which unique index, by its columns or by constraint.
    pub target: Option<ConflictTarget>,
    /// DO UPDATE's assignments and WHERE; absent for DO NOTHING.
    pub update: Option<(Vec<Assignment>, Option<Expr>)>,
    /// Of ON.
    pub location: Location,
}

/// The arbiter of ON CONFLICT.
#[derive(Clone, Debug, PartialEq)]
pub enum ConflictTarget {
    /// `(columns) WHERE predicate`
    Index {
        /// Key columns and expressions.
        elements: Vec<IndexElement>,
        /// Predicate.
        filter: Option<Expr>,
        /// Of the parenthesis.
        location: Location,
    },
    /// ON CONSTRAINT name
    Constraint {
        /// Name.
        name: String,
        /// Of the clause.
        location: Location,
    },
}

/// `column = value` or `(a, b) = source`.
#[derive(Clone, Debug, PartialEq)]
pub enum Assignment {
    /// One column.
    Single(TargetColumn, Expr),
    /// Several columns from a row or subquery.
    Multi(Vec<TargetColumn>, Expr),
}

/// UPDATE.
#[derive(Clone, Debug, PartialEq)]
pub struct Update {
    /// WITH
    pub with: Option<With>,
    /// Target.
    pub relation: RangeVar,
    /// SET
    pub assignments: Vec<Assignment>,
    /// FROM
    pub from: Vec<FromItem>,
    /// WHERE
    pub filter: Option<Expr>,
    /// RETURNING
    pub returning: Returning,
}

/// DELETE.
#[derive(Clone, Debug, PartialEq)]
pub struct Delete {
    /// WITH
    pub with: Option<With>,
    /// Target.
    pub relation: RangeVar,
    /// USING
    pub using: Vec<FromItem>,
    /// WHERE
    pub filter: Option<Expr>,
    /// RETURNING
    pub returning: Returning,
}

/// Which rows a WHEN of MERGE applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum MergeMatch {
    Matched,
    NotMatchedBySource,
    NotMatchedByTarget,
}

/// What a WHEN of MERGE does.
#[derive(Clone, Debug, PartialEq)]
pub enum MergeAction {
    /// DO NOTHING
    Nothing,
    /// DELETE
    Delete,
    /// UPDATE SET
    Update(Vec<Assignment>),
    /// INSERT (columns) VALUES (values); no values for DEFAULT VALUES
    Insert(Vec<TargetColumn>, Vec<Expr>, Overriding),
}

/// WHEN of MERGE.
#[derive(Clone, Debug, PartialEq)]
pub struct MergeWhen {
    /// Rows.
    pub matched: MergeMatch,
    /// AND condition.
    pub condition: Option<Expr>,
    /// Action.
    pub action: MergeAction,
}

/// MERGE.
#[derive(Clone, Debug, PartialEq)]
pub struct Merge {
    /// WITH
    pub with: Option<With>,
    /// Target.
    pub relation: RangeVar,
    /// USING
    pub source: FromItem,
    /// ON
    pub on: Expr,
    /// Arms.
    pub whens: Vec<MergeWhen>,
    /// RETURNING
    pub returning: Returning,
}
