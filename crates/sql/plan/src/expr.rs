//! Expressions as planner and executor see them: relations numbered across the whole statement, sublinks turned into
//! subplans, functions resolved to the registry.

use std::sync::Arc;

use base::Oid;
pub use parse::ast::SqlValueKind;
use tuple::Datum;
use types::Selectivity;
use types::asked::UserOrder;
use types::record::RowType;

use crate::aggregate::Steps;
use crate::function::Function;
use crate::json::JsonExpr;
use crate::xml::XmlExpr;

/// Number of a relation in [`crate::Statement::relations`]: unique across all query levels of a statement.
pub type RelId = usize;

/// Number of an executor parameter: a cell that one node sets and nodes below it read.
pub type ParamId = usize;

/// `tideq`
pub const TID_EQUAL: Oid = Oid(1292);

/// `tidlt` and `tidle`, `tidgt` and `tidge`
pub const TID_BELOW: [Oid; 2] = [Oid(2791), Oid(2793)];
/// See [`TID_BELOW`].
pub const TID_ABOVE: [Oid; 2] = [Oid(2790), Oid(2792)];

/// A column of a relation.
#[derive(Clone, Debug, PartialEq)]
pub struct Var {
    /// The relation.
    pub rel: RelId,
    /// Column number from 1; 0 is the whole row, negative ones are system columns.
    pub column: i16,
    /// Type.
    pub type_oid: Oid,
    /// Type modifier.
    pub typmod: i32,
}

/// An operator, as far as plans ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorRef {
    /// OID; 0 if it has none.
    pub oid: Oid,
    /// Name.
    pub name: Arc<str>,
    /// The operator with its operands exchanged; 0 if none.
    pub commutator: Oid,
    /// The operator that is true where it is false; 0 if none.
    pub negator: Oid,
    /// How its share of rows is estimated.
    pub selectivity: Selectivity,
    /// It is an equality by which values can be hashed.
    pub can_hash: bool,
    /// It is an equality by which sorted values can be merged.
    pub can_merge: bool,
}

impl OperatorRef {
    /// One of the registry.
    pub fn built_in(operator: &types::Operator) -> OperatorRef {
        OperatorRef {
            oid: operator.oid,
            name: operator.name.into(),
            commutator: operator.commutator,
            negator: operator.negator,
            selectivity: operator.selectivity,
            can_hash: operator.can_hash,
            can_merge: operator.can_merge,
        }
    }
}

/// How a call is shown by EXPLAIN.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallForm {
    /// `f(a, b)`
    Function,
    /// `a op b` or `op a`.
    Operator(OperatorRef),
    /// `(a)::type`
    ExplicitCast,
    /// `a`
    ImplicitCast,
}

/// A call of a function.
#[derive(Clone, Debug)]
pub struct Call {
    /// The function.
    pub function: Function,
    /// How it was written.
    pub form: CallForm,
    /// Arguments, defaults filled in.
    pub args: Vec<Expr>,
    /// Result type (polymorphic ones resolved).
    pub type_oid: Oid,
    /// Type modifier of the result.
    pub typmod: i32,
    /// Collation that applies.
    pub collation: Oid,
    /// The last argument is an array given by VARIADIC.
    pub variadic: bool,
    /// Tells volatile calls apart that are written alike, from 1 on; 0 for all others. What stands for one column in several places, such as
    /// a target and the key that sorts by it, has one number.
    pub number: u32,
}

impl PartialEq for Call {
    fn eq(&self, other: &Call) -> bool {
        self.function.oid() == other.function.oid()
            && (self.type_oid, self.typmod) == (other.type_oid, other.typmod)
            && self.collation == other.collation
            && self.variadic == other.variadic
            && self.number == other.number
            && self.args == other.args
    }
}

/// `left op ANY (array)` or `ALL`.
#[derive(Clone, Debug)]
pub struct ArrayOp {
    /// Function of the operator.
    pub function: Function,
    /// Its operator.
    pub operator: OperatorRef,
    /// ANY rather than ALL.
    pub any: bool,
    /// Left operand.
    pub left: Expr,
    /// The array.
    pub array: Expr,
    /// Type of the array's elements.
    pub element: Oid,
    /// Collation that applies.
    pub collation: Oid,
}

impl ArrayOp {
    /// The comparison with one element.
    pub fn call_with(&self, element: Expr) -> Call {
        Call {
            function: self.function.clone(),
            form: CallForm::Operator(self.operator.clone()),
            args: vec![self.left.clone(), element],
            type_oid: Oid(16),
            typmod: -1,
            collation: self.collation,
            variadic: false,
            number: 0,
        }
    }
}

impl PartialEq for ArrayOp {
    fn eq(&self, other: &ArrayOp) -> bool {
        self.function.oid() == other.function.oid()
            && self.any == other.any
            && self.collation == other.collation
            && self.left == other.left
            && self.array == other.array
    }
}

/// A call of an aggregate.
#[derive(Clone, Debug)]
pub struct AggCall {
    /// The aggregate's `pg_proc` entry.
    pub function: Function,
    /// What computes it.
    pub steps: Steps,
    /// Arguments.
    pub args: Vec<Expr>,
    /// Direct arguments of an ordered-set aggregate.
    pub direct: Vec<Expr>,
    /// ORDER BY within the call, or WITHIN GROUP.
    pub order: Vec<SortKey>,
    /// An ordered-set aggregate: `order` is that of WITHIN GROUP.
    pub within_group: bool,
    /// DISTINCT within the call.
    pub distinct: bool,
    /// Rows come in the order that it asks for: by `order`, then, if they are to be distinct, by the arguments.
    pub presorted: bool,
    /// FILTER.
    pub filter: Option<Expr>,
    /// `count(*)`.
    pub star: bool,
    /// Result type.
    pub type_oid: Oid,
    /// Collation that applies.
    pub collation: Oid,
}

impl PartialEq for AggCall {
    fn eq(&self, other: &AggCall) -> bool {
        self.function.oid() == other.function.oid()
            && (self.type_oid, self.collation) == (other.type_oid, other.collation)
            && self.args == other.args
            && self.direct == other.direct
            && self.order == other.order
            && self.distinct == other.distinct
            && self.filter == other.filter
    }
}

/// A call of a window function; `window` numbers the query's window definitions.
#[derive(Clone, Debug)]
pub struct WindowCall {
    /// The function, an aggregate or a true window function.
    pub function: Function,
    /// What computes it, if it is an aggregate.
    pub steps: Option<Steps>,
    /// Arguments.
    pub args: Vec<Expr>,
    /// FILTER.
    pub filter: Option<Expr>,
    /// `count(*)`.
    pub star: bool,
    /// Which window of the query.
    pub window: usize,
    /// Result type.
    pub type_oid: Oid,
    /// Collation that applies.
    pub collation: Oid,
}

impl PartialEq for WindowCall {
    fn eq(&self, other: &WindowCall) -> bool {
        self.function.oid() == other.function.oid()
            && (self.type_oid, self.collation) == (other.type_oid, other.collation)
            && self.args == other.args
            && self.filter == other.filter
            && self.window == other.window
    }
}

/// What a subplan yields.
#[derive(Clone, Debug, PartialEq)]
pub enum SubPlanKind {
    /// Whether there is a row.
    Exists,
    /// The one row's first column, or NULL.
    Scalar,
    /// All rows' first column as an array.
    Array {
        /// The column is an array itself: the result has a dimension more.
        nested: bool,
    },
    /// `test` for any (or all) rows; the row's columns are the executor parameters `columns`.
    Quantified {
        /// ANY rather than ALL.
        any: bool,
        /// A comparison with the one row of the subquery.
        single: bool,
        /// Boolean expression over `columns`.
        test: Box<Expr>,
        /// Parameters standing for the subplan's columns in `test`.
        columns: Vec<ParamId>,
        /// Equality pairs (left side, right column number) if the rows may be looked up in a hash table.
        hash: Option<Vec<HashPair>>,
    },
    /// Several columns at once (`UPDATE … SET (a, b) = (SELECT …)`): sets these parameters.
    Multi {
        /// One parameter a column.
        columns: Vec<ParamId>,
    },
}

impl SubPlanRef {
    /// Whether it has one value for the whole statement, which does not depend on any row.
    pub fn is_initial(&self) -> bool {
        let is_value =
            matches!(self.kind, SubPlanKind::Exists | SubPlanKind::Scalar | SubPlanKind::Array { .. });
        is_value && self.args.is_empty()
    }
}

/// One equality of a hashed subplan.
#[derive(Clone, Debug, PartialEq)]
pub struct HashPair {
    /// Expression over the outer row.
    pub left: Expr,
    /// Column of the subplan's rows, from 0.
    pub column: usize,
    /// Type both sides are compared as.
    pub type_oid: Oid,
    /// Collation by which they are compared.
    pub collation: Oid,
}

/// A use of a subplan.
#[derive(Clone, Debug, PartialEq)]
pub struct SubPlanRef {
    /// Index into [`crate::Statement::subplans`].
    pub plan: usize,
    /// What it yields.
    pub kind: SubPlanKind,
    /// Outer values handed down: parameter and expression. None: uncorrelated, run once (an initplan).
    pub args: Vec<(ParamId, Expr)>,
    /// Result type.
    pub type_oid: Oid,
    /// Type modifier of the result.
    pub typmod: i32,
}

/// A constraint of a domain.
#[derive(Clone, Debug, PartialEq)]
pub struct DomainCheck {
    /// The domain whose values it holds for; it may have it from one below.
    pub domain: Oid,
    /// That one's schema and name, for reports.
    pub name: (Arc<str>, Arc<str>),
    /// CHECK: the constraint's name and its expression; none for NOT NULL.
    pub check: Option<(Arc<str>, Expr)>,
}

/// Tests that yield a boolean and never NULL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Test {
    IsNull,
    IsNotNull,
    IsTrue,
    IsNotTrue,
    IsFalse,
    IsNotFalse,
    IsUnknown,
    IsNotUnknown,
}

/// The collation of expressions of a type that say nothing else: that of the database, and of names C.
pub fn natural_collation(type_oid: Oid) -> Oid {
    let own = types::builtin_type(type_oid).map(|info| info.collation).filter(|own| own.is_valid());
    own.unwrap_or(types::comparator::DEFAULT_COLLATION)
}

impl Expr {
    /// Collation of the value, 0 if what it is made of disagrees. Of a type without collations it means nothing.
    pub fn collation(&self) -> Oid {
        match self {
            Expr::Relabel { collation: Some(collation), .. } => *collation,
            Expr::Placeholder(placeholder) => placeholder.arg.collation(),
            Expr::Ordered { arg, .. } => arg.collation(),
            other => natural_collation(other.type_oid()),
        }
    }

    /// The same value under a collation, which its type has.
    pub fn under(self, collation: Oid) -> Expr {
        let type_oid = self.type_oid();
        let wanted = Some(collation).filter(|c| *c != natural_collation(type_oid));
        match self {
            Expr::Relabel { arg, type_oid, typmod, explicit, collation: had } => {
                if wanted.is_none() && had.is_some() && arg.type_oid() == type_oid && arg.typmod() == typmod {
                    return arg.under(collation);
                }
                Expr::Relabel { arg, type_oid, typmod, explicit, collation: wanted }
            }
            value if wanted.is_none() => value,
            value => {
                let typmod = value.typmod();
                Expr::Relabel { arg: Box::new(value), type_oid, typmod, explicit: false, collation: wanted }
            }
        }
    }
}

/// A sort key: expression, type, direction.
#[derive(Clone, Debug, PartialEq)]
pub struct SortKey {
    /// What to sort by.
    pub expr: Expr,
    /// DESC.
    pub descending: bool,
    /// NULLS FIRST.
    pub nulls_first: bool,
}

/// A column of a relation that was merged into a query level and what it is computed from there. It stays apart from what else is
/// computed so, since a grouping set may null the one and not the other: it equals only itself, and no constant is made of it.
#[derive(Clone, Debug)]
pub struct Placeholder {
    /// The column.
    pub column: Var,
    /// What it is computed from.
    pub arg: Expr,
}

impl PartialEq for Placeholder {
    fn eq(&self, other: &Placeholder) -> bool {
        (self.column.rel, self.column.column) == (other.column.rel, other.column.column)
    }
}

/// A typed expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// A value known when planning.
    Const {
        /// The value.
        value: Datum,
        /// Its type.
        type_oid: Oid,
        /// Its type modifier.
        typmod: i32,
    },
    /// Parameter `$n` of the statement, from 0.
    Param {
        /// Number from 0.
        number: usize,
        /// Its type.
        type_oid: Oid,
    },
    /// A cell set by another node; `source` is what it stands for, for EXPLAIN.
    ExecParam {
        /// The cell.
        id: ParamId,
        /// Its type.
        type_oid: Oid,
        /// The expression it carries.
        source: Option<Arc<Expr>>,
    },
    /// WHERE CURRENT OF: the place of the row of a table, once that is known, that a cursor stands on. The variable, if there is one,
    /// has the cursor's name.
    CurrentOf {
        /// The cursor, or the variable.
        cursor: Arc<str>,
        /// The variable.
        variable: Option<Box<Expr>>,
        /// The table.
        table: Oid,
    },
    /// A column.
    Var(Var),
    /// A column that was merged into the level.
    Placeholder(Box<Placeholder>),
    /// A function or operator.
    Call(Box<Call>),
    /// `op ANY (array)`.
    ArrayOp(Box<ArrayOp>),
    /// Conjunction.
    And(Vec<Expr>),
    /// Disjunction.
    Or(Vec<Expr>),
    /// Negation.
    Not(Box<Expr>),
    /// IS NULL, IS TRUE and so on.
    Test(Test, Box<Expr>),
    /// `IS [NOT] DISTINCT FROM`: the equality function, and whether NOT was written.
    Distinct {
        /// The call of the equality operator.
        equality: Box<Call>,
        /// IS NOT DISTINCT FROM.
        negated: bool,
    },
    /// NULLIF: the call of the equality operator.
    NullIf(Box<Call>),
    /// CASE.
    Case {
        /// `CASE x WHEN …`: the operand, and the parameter that stands for it in the conditions.
        operand: Option<(ParamId, Box<Expr>)>,
        /// Conditions and results.
        arms: Vec<(Expr, Expr)>,
        /// ELSE.
        otherwise: Option<Box<Expr>>,
        /// Result type.
        type_oid: Oid,
    },
    /// COALESCE.
    Coalesce(Vec<Expr>, Oid),
    /// GREATEST (true) or LEAST: type, and the collation by which values compare.
    Extreme(bool, Vec<Expr>, Oid, Oid),
    /// Same bits, other type; whether it was written.
    Relabel {
        /// The value.
        arg: Box<Expr>,
        /// New type.
        type_oid: Oid,
        /// New type modifier.
        typmod: i32,
        /// Written by the user.
        explicit: bool,
        /// The collation of the value, if it is not the one that values of its type have of themselves ([`natural_collation`]); 0 where what it is
        /// made of disagrees.
        collation: Option<Oid>,
    },
    /// A value that is in another order than values of its type are: a function of a user tells it. Only of sort keys and of what indexes are in order of.
    Ordered {
        /// The value.
        arg: Box<Expr>,
        /// The order.
        by: &'static UserOrder,
        /// Its operators of less and greater, for EXPLAIN.
        operators: [Arc<str>; 2],
    },
    /// Through text.
    IoCast {
        /// The value.
        arg: Box<Expr>,
        /// New type.
        type_oid: Oid,
        /// Written by the user.
        explicit: bool,
    },
    /// Every element of an array through a cast; `element` has [`Expr::ExecParam`] `cell` for the element.
    ArrayCast {
        /// The array.
        arg: Box<Expr>,
        /// Cast of one element.
        element: Box<Expr>,
        /// Stands for the element.
        cell: ParamId,
        /// New type of the array.
        type_oid: Oid,
        /// New type of an element.
        target: Oid,
    },
    /// ARRAY[…]; elements that are arrays themselves when `nested`.
    Array {
        /// The elements.
        elements: Vec<Expr>,
        /// Type of the whole.
        type_oid: Oid,
        /// Type of an element.
        element: Oid,
        /// Elements are arrays of the next dimension.
        nested: bool,
    },
    /// `array[i]` or `array[l:u]`.
    Subscript {
        /// The array.
        array: Box<Expr>,
        /// Indexes; a slice has lower bounds.
        upper: Vec<Option<Expr>>,
        /// Lower bounds of a slice.
        lower: Vec<Option<Expr>>,
        /// A slice rather than an element.
        slice: bool,
        /// New value, in an assignment.
        assign: Option<Box<Expr>>,
        /// Result type.
        type_oid: Oid,
        /// Type of an element.
        element: Oid,
        /// Type of the container.
        container: Oid,
    },
    /// ROW(…).
    Row {
        /// Values by column number, NULL for dropped columns.
        fields: Vec<Expr>,
        /// What the row is.
        row: Arc<RowType>,
    },
    /// A row with some fields replaced.
    FieldStore {
        /// The row before; NULL is a row of NULLs.
        arg: Box<Expr>,
        /// Numbers from 0 and new values.
        fields: Vec<(usize, Expr)>,
        /// What the row is.
        row: Arc<RowType>,
        /// Result type: that of the row, or a domain over it.
        type_oid: Oid,
    },
    /// A value that a domain's constraints are checked for.
    ToDomain {
        /// The value.
        arg: Box<Expr>,
        /// Stands for the value in `checks`.
        cell: ParamId,
        /// Constraints in order.
        checks: Vec<DomainCheck>,
        /// The domain.
        type_oid: Oid,
    },
    /// `(row).field`, from 0.
    Field {
        /// The row.
        arg: Box<Expr>,
        /// Field from 0.
        field: usize,
        /// Result type.
        type_oid: Oid,
    },
    /// `current_date`, `current_user` and the like: which, type, precision.
    SqlValue(SqlValueKind, Oid, i32),
    /// A constructor, test or query of SQL/JSON, JSON_TABLE.
    Json(Box<JsonExpr>),
    /// XMLELEMENT and its kin, XMLTABLE.
    Xml(Box<XmlExpr>),
    /// `row IS [NOT] NULL`: of all fields.
    RowNullTest {
        /// The row.
        arg: Box<Expr>,
        /// IS NOT NULL.
        not: bool,
        /// What the row is, if it is of a composite type.
        row: Option<Arc<RowType>>,
    },
    /// An aggregate.
    Aggregate(Box<AggCall>),
    /// A window function.
    Window(Box<WindowCall>),
    /// A subquery in an expression.
    SubPlan(Box<SubPlanRef>),
    /// `GROUPING(…)`: indexes of grouping expressions.
    Grouping(Vec<usize>),
}
