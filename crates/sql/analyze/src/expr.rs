//! Typed expressions.
//!
//! What: [`Expr`], every node of which knows its type, modifier and collation, with functions and operators resolved to OIDs and
//! implicit casts written out. Constants are folded by the planner, not here.
//!
//! Invariants:
//! 1. A range table index ([`Var::rte`]) counts from 0 in [`crate::Query::range_table`] of the query `levels_up` levels out.
//! 2. Attribute numbers are PostgreSQL's: columns from 1, 0 the whole row, negative system columns ([`system_column`]).
//! 3. An expression that analysis returned holds no [`Expr::NamedArg`] and no [`Expr::Default`].
//! 4. No expression has the type `unknown`, except the target list of a subquery whose column nobody used (there are none in
//!    a returned query).
//!
//! PostgreSQL counterpart: `nodes/primnodes.h`.

use base::Oid;
use tuple::Datum;

use crate::json_tree::Json;
use crate::query::{Query, SortGroupClause};
use crate::xml_tree::Xml;

pub use parse::ast::{BoolOp, BoolTest, Location, SqlValueKind, SubLinkKind};

/// Attribute numbers of system columns.
pub mod system_column {
    /// `ctid`
    pub const CTID: i16 = -1;
    /// `xmin`
    pub const XMIN: i16 = -2;
    /// `cmin`
    pub const CMIN: i16 = -3;
    /// `xmax`
    pub const XMAX: i16 = -4;
    /// `cmax`
    pub const CMAX: i16 = -5;
    /// `tableoid`
    pub const TABLEOID: i16 = -6;
}

/// A typed expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// A column.
    Var(Var),
    /// A constant.
    Const(Const),
    /// `$n`, or an executor parameter.
    Param(Param),
    /// A function call that is neither aggregate nor window function.
    Func(Box<FuncExpr>),
    /// An operator.
    Op(Box<OpExpr>),
    /// IS DISTINCT FROM, by the `=` operator.
    Distinct(Box<OpExpr>),
    /// NULLIF, by the `=` operator; the result is the first argument.
    NullIf(Box<OpExpr>),
    /// `x op ANY (array)`, `x op ALL (array)`, IN lists.
    ScalarArray(Box<ScalarArrayExpr>),
    /// AND, OR, NOT.
    Bool(Box<BoolExpr>),
    /// An aggregate call.
    Aggregate(Box<Aggregate>),
    /// GROUPING(...).
    Grouping(Box<GroupingExpr>),
    /// A window function call.
    Window(Box<WindowCall>),
    /// A subquery.
    SubLink(Box<SubLink>),
    /// Array element or slice, or assignment to one.
    Subscript(Box<SubscriptExpr>),
    /// A field of a composite value.
    Field(Box<FieldExpr>),
    /// A composite value with some fields replaced.
    FieldStore(Box<FieldStoreExpr>),
    /// A change of type without change of bits.
    Relabel(Box<RelabelExpr>),
    /// A cast through text output and input.
    IoCast(Box<IoCastExpr>),
    /// A cast of every element of an array.
    ArrayCast(Box<ArrayCastExpr>),
    /// A cast of a row to a row type by matching columns.
    RowCast(Box<RowCastExpr>),
    /// COLLATE.
    Collate(Box<CollateExpr>),
    /// CASE.
    Case(Box<CaseExpr>),
    /// The tested value inside a CASE arm, and the element inside [`ArrayCastExpr::element`].
    CaseTest(CaseTest),
    /// ARRAY\[...\].
    Array(Box<ArrayExpr>),
    /// ROW(...).
    Row(Box<RowExpr>),
    /// `(a, b) < (c, d)`.
    RowCompare(Box<RowCompareExpr>),
    /// COALESCE.
    Coalesce(Box<CoalesceExpr>),
    /// GREATEST, LEAST.
    MinMax(Box<MinMaxExpr>),
    /// CURRENT_DATE and its kin.
    SqlValue(SqlValueExpr),
    /// IS \[NOT\] NULL.
    NullTest(Box<NullTest>),
    /// IS \[NOT\] TRUE and so on.
    BooleanTest(Box<BooleanTest>),
    /// A value checked against a domain's constraints.
    ToDomain(Box<ToDomainExpr>),
    /// VALUE inside a domain's constraint.
    DomainValue(DomainValue),
    /// DEFAULT, where a default has not been put in yet.
    Default(DefaultExpr),
    /// WHERE CURRENT OF.
    CurrentOf(CurrentOf),
    /// `name => value`; only while a call is being resolved.
    NamedArg(Box<NamedArg>),
    /// `nextval` of an identity column's sequence.
    NextValue(NextValue),
    /// MERGE_ACTION().
    MergeAction(MergeActionExpr),
    /// A constructor, test or query of SQL/JSON.
    Json(Box<Json<Expr>>),
    /// A node of XML.
    Xml(Box<Xml<Expr>>),
}

/// Which version of a target row a column comes from (RETURNING OLD, NEW).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RowVersion {
    /// Whichever the command returns by default.
    #[default]
    Default,
    /// The row before.
    Old,
    /// The row after.
    New,
}

/// A column of a range table entry.
#[derive(Clone, Debug, PartialEq)]
pub struct Var {
    /// Index in the range table, from 0.
    pub rte: usize,
    /// Attribute number.
    pub attno: i16,
    /// Type.
    pub type_oid: Oid,
    /// Modifier, -1 if none.
    pub typmod: i32,
    /// Collation, 0 if none.
    pub collation: Oid,
    /// How many queries further out the range table is.
    pub levels_up: u32,
    /// OLD or NEW of RETURNING.
    pub version: RowVersion,
    /// In the text.
    pub location: Location,
}

/// A constant.
#[derive(Clone, Debug, PartialEq)]
pub struct Const {
    /// Type.
    pub type_oid: Oid,
    /// Modifier.
    pub typmod: i32,
    /// Collation.
    pub collation: Oid,
    /// Value.
    pub value: Datum,
    /// In the text.
    pub location: Location,
}

/// Where a parameter's value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParamKind {
    /// The client: `$n`, from 1.
    Extern,
    /// The executor; numbered by the planner.
    Exec,
    /// The columns of the sublink being tested, from 1; only in [`SubLink::test`].
    SubLink,
    /// The columns of the query of a multiple assignment: `id` is `sublink number << 16 | column`.
    MultiExpr,
}

/// A parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Source.
    pub kind: ParamKind,
    /// Number.
    pub id: i32,
    /// Type.
    pub type_oid: Oid,
    /// Modifier.
    pub typmod: i32,
    /// Collation.
    pub collation: Oid,
    /// In the text.
    pub location: Location,
}

/// How a function call came about, for deparsing and for casts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CoercionForm {
    /// Written as a call.
    Call,
    /// Written as a cast.
    ExplicitCast,
    /// Inserted by analysis.
    ImplicitCast,
    /// Written in SQL's own syntax (EXTRACT, ...).
    SqlSyntax,
}

/// A function call.
#[derive(Clone, Debug, PartialEq)]
pub struct FuncExpr {
    /// Function.
    pub function: Oid,
    /// Result type (polymorphic types resolved).
    pub result_type: Oid,
    /// Returns a set.
    pub returns_set: bool,
    /// Called with VARIADIC, or the last argument is the array made of the trailing ones.
    pub variadic: bool,
    /// Origin.
    pub form: CoercionForm,
    /// Collation of the result.
    pub collation: Oid,
    /// Collation the function is to use.
    pub input_collation: Oid,
    /// Arguments, defaults filled in.
    pub args: Vec<Expr>,
    /// In the text.
    pub location: Location,
}

/// An operator with its one or two operands.
#[derive(Clone, Debug, PartialEq)]
pub struct OpExpr {
    /// Operator.
    pub op: Oid,
    /// Its function.
    pub function: Oid,
    /// Result type.
    pub result_type: Oid,
    /// Returns a set.
    pub returns_set: bool,
    /// Collation of the result.
    pub collation: Oid,
    /// Collation the operator is to use.
    pub input_collation: Oid,
    /// One operand for a prefix operator, else two.
    pub args: Vec<Expr>,
    /// Of the operator.
    pub location: Location,
}

/// An operator applied to every element of an array.
#[derive(Clone, Debug, PartialEq)]
pub struct ScalarArrayExpr {
    /// Operator; it returns boolean.
    pub op: Oid,
    /// Its function.
    pub function: Oid,
    /// ANY (true) or ALL.
    pub any: bool,
    /// Collation the operator is to use.
    pub input_collation: Oid,
    /// Left operand.
    pub scalar: Expr,
    /// Right operand, of an array type.
    pub array: Expr,
    /// Of the operator.
    pub location: Location,
}

/// A logical connective.
#[derive(Clone, Debug, PartialEq)]
pub struct BoolExpr {
    /// Which.
    pub op: BoolOp,
    /// One for NOT; two or more otherwise.
    pub args: Vec<Expr>,
    /// Of the keyword.
    pub location: Location,
}

/// Kind of an aggregate (`pg_aggregate.aggkind`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum AggregateKind {
    Normal,
    OrderedSet,
    HypotheticalSet,
}

/// An aggregate call.
#[derive(Clone, Debug, PartialEq)]
pub struct Aggregate {
    /// Function.
    pub function: Oid,
    /// Result type.
    pub result_type: Oid,
    /// Collation of the result.
    pub collation: Oid,
    /// Collation the aggregate is to use.
    pub input_collation: Oid,
    /// Types of the aggregated arguments as declared after resolution, direct ones first.
    pub arg_types: Vec<Oid>,
    /// Direct arguments of an ordered-set aggregate.
    pub direct_args: Vec<Expr>,
    /// Aggregated arguments; those with a sort reference only may be junk.
    pub args: Vec<TargetEntry>,
    /// ORDER BY, referring to `args`.
    pub order_by: Vec<SortGroupClause>,
    /// DISTINCT, referring to `args`; empty if absent.
    pub distinct: Vec<SortGroupClause>,
    /// FILTER
    pub filter: Option<Expr>,
    /// `count(*)`
    pub star: bool,
    /// VARIADIC was used or a variadic array built.
    pub variadic: bool,
    /// Kind.
    pub kind: AggregateKind,
    /// Query the aggregate belongs to, levels out.
    pub levels_up: u32,
    /// Of the call.
    pub location: Location,
}

/// GROUPING(...).
#[derive(Clone, Debug, PartialEq)]
pub struct GroupingExpr {
    /// Arguments as written.
    pub args: Vec<Expr>,
    /// Their [`TargetEntry::sort_ref`]s.
    pub refs: Vec<u32>,
    /// Query it belongs to, levels out.
    pub levels_up: u32,
    /// Of the call.
    pub location: Location,
}

/// A window function call.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowCall {
    /// Window function or aggregate.
    pub function: Oid,
    /// Result type.
    pub result_type: Oid,
    /// Collation of the result.
    pub collation: Oid,
    /// Collation the function is to use.
    pub input_collation: Oid,
    /// Arguments.
    pub args: Vec<Expr>,
    /// FILTER
    pub filter: Option<Expr>,
    /// Index in [`Query::windows`].
    pub window: usize,
    /// `(*)`
    pub star: bool,
    /// A plain aggregate.
    pub is_aggregate: bool,
    /// Of the call.
    pub location: Location,
}

/// Kinds of sublinks, those that analysis makes included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SubLinkType {
    /// EXISTS
    Exists,
    /// ALL; `test` compares with [`ParamKind::SubLink`] parameters
    All,
    /// ANY, IN
    Any,
    /// A row compared with a one-row subquery; `test` is as for ALL
    RowCompare,
    /// A scalar subquery
    Expr,
    /// The source of a multiple assignment
    MultiExpr,
    /// ARRAY(...)
    Array,
}

/// A subquery in an expression.
#[derive(Clone, Debug, PartialEq)]
pub struct SubLink {
    /// Kind.
    pub kind: SubLinkType,
    /// Number of a [`SubLinkType::MultiExpr`] within its query, from 1; else 0.
    pub id: i32,
    /// Comparison of ALL, ANY and RowCompare: left sides with sublink parameters.
    pub test: Option<Expr>,
    /// Operator names as written, for deparsing.
    pub op_name: Vec<String>,
    /// The subquery.
    pub query: Box<Query>,
    /// In the text.
    pub location: Location,
}

/// Array subscripting.
#[derive(Clone, Debug, PartialEq)]
pub struct SubscriptExpr {
    /// Type of the container (array, jsonb).
    pub container_type: Oid,
    /// Type of an element.
    pub element_type: Oid,
    /// Type of the result: the element's, or the container's for slices and assignments.
    pub result_type: Oid,
    /// Modifier.
    pub typmod: i32,
    /// Collation.
    pub collation: Oid,
    /// Upper subscripts (the only ones of an element); `None` where a slice omits one.
    pub upper: Vec<Option<Expr>>,
    /// Lower subscripts of a slice; empty for an element.
    pub lower: Vec<Option<Expr>>,
    /// Container.
    pub arg: Expr,
    /// New value, in an assignment.
    pub assign: Option<Expr>,
}

/// A field of a composite value.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldExpr {
    /// Composite value.
    pub arg: Expr,
    /// Attribute number.
    pub attno: i16,
    /// Type.
    pub result_type: Oid,
    /// Modifier.
    pub typmod: i32,
    /// Collation.
    pub collation: Oid,
}

/// A composite value with fields replaced.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldStoreExpr {
    /// Composite value.
    pub arg: Expr,
    /// Attribute numbers and their new values.
    pub fields: Vec<(i16, Expr)>,
    /// Composite type.
    pub result_type: Oid,
}

/// A change of type only.
#[derive(Clone, Debug, PartialEq)]
pub struct RelabelExpr {
    /// Value.
    pub arg: Expr,
    /// Type.
    pub result_type: Oid,
    /// Modifier.
    pub typmod: i32,
    /// Collation.
    pub collation: Oid,
    /// Origin.
    pub form: CoercionForm,
    /// In the text.
    pub location: Location,
}

/// A cast through text.
#[derive(Clone, Debug, PartialEq)]
pub struct IoCastExpr {
    /// Value.
    pub arg: Expr,
    /// Type; the modifier is applied by a function call around it.
    pub result_type: Oid,
    /// Collation.
    pub collation: Oid,
    /// Origin.
    pub form: CoercionForm,
    /// In the text.
    pub location: Location,
}

/// A cast of array elements.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayCastExpr {
    /// Array.
    pub arg: Expr,
    /// Cast of one element, given as [`Expr::CaseTest`].
    pub element: Expr,
    /// Array type.
    pub result_type: Oid,
    /// Modifier.
    pub typmod: i32,
    /// Collation.
    pub collation: Oid,
    /// Origin.
    pub form: CoercionForm,
    /// In the text.
    pub location: Location,
}

/// A cast between row types.
#[derive(Clone, Debug, PartialEq)]
pub struct RowCastExpr {
    /// Row.
    pub arg: Expr,
    /// Row type.
    pub result_type: Oid,
    /// Origin.
    pub form: CoercionForm,
    /// In the text.
    pub location: Location,
}

/// COLLATE.
#[derive(Clone, Debug, PartialEq)]
pub struct CollateExpr {
    /// Value.
    pub arg: Expr,
    /// Collation.
    pub collation: Oid,
    /// Of COLLATE.
    pub location: Location,
}

/// CASE.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseExpr {
    /// Result type.
    pub result_type: Oid,
    /// Collation.
    pub collation: Oid,
    /// Value tested; the arms then compare [`Expr::CaseTest`] with theirs.
    pub arg: Option<Expr>,
    /// Conditions (boolean) and results.
    pub whens: Vec<(Expr, Expr)>,
    /// ELSE; a null constant if not written.
    pub default: Expr,
    /// Of CASE.
    pub location: Location,
}

/// Placeholder for a value computed outside.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseTest {
    /// Type.
    pub type_oid: Oid,
    /// Modifier.
    pub typmod: i32,
    /// Collation.
    pub collation: Oid,
}

/// ARRAY\[...\].
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayExpr {
    /// Array type.
    pub array_type: Oid,
    /// Type of elements.
    pub element_type: Oid,
    /// Collation.
    pub collation: Oid,
    /// Elements; arrays of one dimension less if `multidims`.
    pub elements: Vec<Expr>,
    /// Elements are arrays themselves.
    pub multidims: bool,
    /// In the text.
    pub location: Location,
}

/// ROW(...).
#[derive(Clone, Debug, PartialEq)]
pub struct RowExpr {
    /// Fields.
    pub args: Vec<Expr>,
    /// `record` (2249), or a composite type after a cast.
    pub row_type: Oid,
    /// Names of the fields: `f1`, `f2`..., or the whole row's columns.
    pub names: Vec<String>,
    /// Origin.
    pub form: CoercionForm,
    /// In the text.
    pub location: Location,
}

/// Order comparisons of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum RowCompareKind {
    Less,
    LessEqual,
    GreaterEqual,
    Greater,
}

/// `(a, b) < (c, d)`; equality of rows becomes AND and OR of operators instead.
#[derive(Clone, Debug, PartialEq)]
pub struct RowCompareExpr {
    /// Which.
    pub kind: RowCompareKind,
    /// One operator per column, all of the same B-tree strategy.
    pub ops: Vec<Oid>,
    /// Operator families the operators were found in.
    pub families: Vec<Oid>,
    /// Collations, one per column.
    pub collations: Vec<Oid>,
    /// Left fields.
    pub left: Vec<Expr>,
    /// Right fields.
    pub right: Vec<Expr>,
}

/// COALESCE.
#[derive(Clone, Debug, PartialEq)]
pub struct CoalesceExpr {
    /// Result type.
    pub result_type: Oid,
    /// Collation.
    pub collation: Oid,
    /// Arguments.
    pub args: Vec<Expr>,
    /// In the text.
    pub location: Location,
}

/// GREATEST, LEAST: by the type's default B-tree comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct MinMaxExpr {
    /// Result type.
    pub result_type: Oid,
    /// Collation of the result.
    pub collation: Oid,
    /// Collation to compare by.
    pub input_collation: Oid,
    /// GREATEST.
    pub greatest: bool,
    /// Arguments.
    pub args: Vec<Expr>,
    /// In the text.
    pub location: Location,
}

/// CURRENT_DATE and its kin.
#[derive(Clone, Debug, PartialEq)]
pub struct SqlValueExpr {
    /// Which.
    pub kind: SqlValueKind,
    /// Type.
    pub result_type: Oid,
    /// Precision, -1 if none.
    pub typmod: i32,
    /// In the text.
    pub location: Location,
}

/// IS \[NOT\] NULL.
#[derive(Clone, Debug, PartialEq)]
pub struct NullTest {
    /// Operand.
    pub arg: Expr,
    /// IS NOT NULL.
    pub not: bool,
    /// The operand is a row, tested field by field.
    pub row: bool,
    /// Of IS.
    pub location: Location,
}

/// IS \[NOT\] TRUE and so on.
#[derive(Clone, Debug, PartialEq)]
pub struct BooleanTest {
    /// Operand.
    pub arg: Expr,
    /// Which.
    pub test: BoolTest,
    /// Of IS.
    pub location: Location,
}

/// A value checked by a domain.
#[derive(Clone, Debug, PartialEq)]
pub struct ToDomainExpr {
    /// Value of the base type.
    pub arg: Expr,
    /// Domain.
    pub domain: Oid,
    /// Modifier, always -1 now.
    pub typmod: i32,
    /// Collation.
    pub collation: Oid,
    /// Origin.
    pub form: CoercionForm,
    /// In the text.
    pub location: Location,
}

/// VALUE inside a domain's constraint.
#[derive(Clone, Debug, PartialEq)]
pub struct DomainValue {
    /// Base type.
    pub type_oid: Oid,
    /// Modifier.
    pub typmod: i32,
    /// Collation.
    pub collation: Oid,
    /// In the text.
    pub location: Location,
}

/// DEFAULT.
#[derive(Clone, Debug, PartialEq)]
pub struct DefaultExpr {
    /// The column's type.
    pub type_oid: Oid,
    /// Modifier.
    pub typmod: i32,
    /// Collation.
    pub collation: Oid,
    /// In the text.
    pub location: Location,
}

/// WHERE CURRENT OF.
#[derive(Clone, Debug, PartialEq)]
pub struct CurrentOf {
    /// Target, index in the range table.
    pub rte: usize,
    /// Cursor.
    pub cursor: String,
    /// The variable of this name, if it is one of a function's: the cursor is the one that it names.
    pub variable: Option<Box<Expr>>,
}

/// `name => value`.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedArg {
    /// Parameter name.
    pub name: String,
    /// Value.
    pub arg: Expr,
    /// Of the name.
    pub location: Location,
}

/// The next value of a sequence, without the privileges `nextval` asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct NextValue {
    /// Sequence.
    pub sequence: Oid,
    /// Type of the column.
    pub type_oid: Oid,
}

/// MERGE_ACTION().
#[derive(Clone, Debug, PartialEq)]
pub struct MergeActionExpr {
    /// In the text.
    pub location: Location,
}

/// An item of a target list.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetEntry {
    /// Value.
    pub expr: Expr,
    /// Number: from 1 in order for SELECT; the target column's attribute number for INSERT, UPDATE, MERGE.
    pub resno: i16,
    /// Name the client sees; `None` for some junk.
    pub name: Option<String>,
    /// Nonzero if a sort, group or distinct clause refers to this item.
    pub sort_ref: u32,
    /// Table that the value is a plain column of; 0 if none.
    pub source_table: Oid,
    /// Its column there.
    pub source_column: i16,
    /// Computed for sorting or grouping only, not returned.
    pub junk: bool,
}
