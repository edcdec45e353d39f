//! A function as the parser leaves it: variables, expressions, statements.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Weak;

use analyze::ColumnType;
use base::{Oid, SqlState};
use catalog::Table;
use types::oids;

use crate::expr::{Expression, FieldName};
use crate::namespace::Scope;
use crate::run::Values;

/// Number of a variable in [`Function::variables`].
pub type VarId = usize;

/// A function, procedure or block, compiled for one set of argument types.
#[derive(Debug)]
pub struct Function {
    /// `f(integer)`, as context lines show it.
    pub signature: String,
    /// Variables, records and fields of them.
    pub variables: Vec<Variable>,
    /// One more than the number of the last record among them.
    pub rows: usize,
    /// Slots behind those of the variables, in which expressions find fields and rows; more when an expression is compiled that needs more.
    pub more_slots: Cell<usize>,
    /// The variable of each input argument.
    pub arguments: Vec<VarId>,
    /// OUT, INOUT and TABLE parameters.
    pub outputs: Vec<VarId>,
    /// `FOUND`.
    pub found: VarId,
    /// What it is made for.
    pub kind: FunctionKind,
    /// Result type; for a block `void`.
    pub result: Oid,
    /// The result is composite: of a named type or `record`.
    pub returns_row: bool,
    /// SETOF.
    pub returns_set: bool,
    /// The result is one value of this built-in type.
    pub plain_result: Option<Oid>,
    /// `#print_strict_params`
    pub print_strict_params: bool,
    /// What a trigger function knows of its call.
    pub trigger: Option<TriggerVariables>,
    /// The table that it last fired for, if it is a trigger's, and its columns.
    pub table: RefCell<Option<TableColumns>>,
    /// Of runs that have ended, for the next ones: all NULL.
    pub spare: RefCell<Vec<Values>>,
    /// The body.
    pub body: Block,
}

impl Function {
    /// The value that a body returns which does nothing else.
    pub fn only_value(&self) -> Option<&Expression> {
        let plain = self.kind == FunctionKind::Function && !self.returns_set && self.outputs.is_empty();
        let Block { declared, body, handlers: None, .. } = &self.body else { return None };
        match body.as_slice() {
            [Statement { kind: StatementKind::Return(Some(value)), .. }] if plain && declared.is_empty() => {
                Some(value)
            }
            _ => None,
        }
    }
}

/// A table and the columns of its rows.
pub type TableColumns = (Weak<Table>, Rc<[ColumnType]>);

/// Variables of a trigger function.
#[derive(Clone, Copy, Debug)]
pub struct TriggerVariables {
    /// `NEW`.
    pub new: VarId,
    /// `OLD`.
    pub old: VarId,
    /// The first of the variables that [`TRIGGER_FACTS`] names, which stand one behind the other.
    pub facts: VarId,
    /// The function may name some of those.
    pub uses_facts: bool,
}

/// Names and types of what a trigger function is told.
pub const TRIGGER_FACTS: [(&str, Oid); 10] = [
    ("tg_name", oids::name),
    ("tg_when", oids::text),
    ("tg_level", oids::text),
    ("tg_op", oids::text),
    ("tg_relid", oids::oid),
    ("tg_relname", oids::name),
    ("tg_table_name", oids::name),
    ("tg_table_schema", oids::name),
    ("tg_nargs", oids::int4),
    ("tg_argv", oids::_text),
];

/// What a function is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionKind {
    /// A function.
    Function,
    /// A procedure.
    Procedure,
    /// DO.
    Block,
    /// A trigger's function.
    Trigger,
}

/// A variable.
#[derive(Debug)]
pub struct Variable {
    /// Name.
    pub name: String,
    /// Line of the declaration; 0 for parameters.
    pub line: u32,
    /// What it holds.
    pub kind: VariableKind,
    /// CONSTANT.
    pub constant: bool,
    /// NOT NULL.
    pub not_null: bool,
    /// DEFAULT.
    pub default: Option<Rc<Expression>>,
}

/// What a variable holds.
#[derive(Debug)]
pub enum VariableKind {
    /// One value.
    Scalar(TypeRef),
    /// A row: of a composite type, or of any columns for `record`.
    Record(TypeRef),
    /// A bound cursor.
    Cursor(Rc<BoundCursor>),
}

/// A type with its modifier and collation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeRef {
    /// Type.
    pub oid: Oid,
    /// Modifier.
    pub typmod: i32,
    /// Collation.
    pub collation: Oid,
}

/// `name CURSOR (args) FOR query`.
#[derive(Debug)]
pub struct BoundCursor {
    /// The query.
    pub query: Rc<Expression>,
    /// SCROLL, NO SCROLL.
    pub scroll: Option<bool>,
    /// Its arguments.
    pub arguments: Vec<VarId>,
}

/// BEGIN … END.
#[derive(Debug)]
pub struct Block {
    /// Label.
    pub label: Option<String>,
    /// Variables declared in it.
    pub declared: Vec<VarId>,
    /// Statements.
    pub body: Vec<Statement>,
    /// EXCEPTION.
    pub handlers: Option<Handlers>,
}

/// EXCEPTION of a block.
#[derive(Debug)]
pub struct Handlers {
    /// `SQLSTATE` and `SQLERRM`.
    pub variables: (VarId, VarId),
    /// WHEN … THEN.
    pub list: Vec<Handler>,
}

/// WHEN … THEN.
#[derive(Debug)]
pub struct Handler {
    /// Conditions, any of which it catches.
    pub conditions: Vec<Condition>,
    /// Statements.
    pub body: Vec<Statement>,
}

/// A condition of WHEN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// OTHERS.
    Others,
    /// This code; one that ends in 000 stands for its class.
    Code(SqlState),
}

/// A statement and its line.
#[derive(Debug)]
pub struct Statement {
    /// Line.
    pub line: u32,
    /// What it is called in context lines.
    pub name: &'static str,
    /// What it does.
    pub kind: StatementKind,
}

impl Statement {
    /// A statement on a line.
    pub fn new(line: u32, kind: StatementKind) -> Statement {
        Statement { line, name: name_of(&kind), kind }
    }
}

/// Where a value goes.
#[derive(Clone, Debug)]
pub enum Target {
    /// A variable as a whole.
    Variable(VarId),
    /// A field of a record variable.
    Field(VarId, FieldName),
    /// Several targets, one a column.
    List(Vec<Target>),
}

/// A query of FOR, RETURN QUERY, OPEN.
#[derive(Debug)]
pub enum Query {
    /// As written.
    Static(Rc<Expression>),
    /// EXECUTE text USING values.
    Dynamic(Rc<Expression>, Vec<Rc<Expression>>),
}

/// What a statement does.
#[derive(Debug)]
#[allow(missing_docs)]
pub enum StatementKind {
    Null,
    Block(Box<Block>),
    Assign {
        target: Target,
        value: Rc<Expression>,
    },
    /// Assignment to an element or a field within a value; the expression gives the variable's new value.
    Store {
        target: Target,
        value: Rc<Expression>,
    },
    If {
        arms: Vec<(Rc<Expression>, Vec<Statement>)>,
        otherwise: Vec<Statement>,
    },
    Case {
        operand: Option<(Rc<Expression>, VarId)>,
        arms: Vec<(Rc<Expression>, Vec<Statement>)>,
        otherwise: Option<Vec<Statement>>,
    },
    Loop {
        label: Option<String>,
        body: Vec<Statement>,
    },
    While {
        label: Option<String>,
        condition: Rc<Expression>,
        body: Vec<Statement>,
    },
    ForRange {
        label: Option<String>,
        variable: VarId,
        lower: Rc<Expression>,
        upper: Rc<Expression>,
        step: Option<Rc<Expression>>,
        reverse: bool,
        body: Vec<Statement>,
    },
    ForQuery {
        label: Option<String>,
        target: Target,
        query: Query,
        body: Vec<Statement>,
    },
    ForCursor {
        label: Option<String>,
        row: VarId,
        cursor: VarId,
        arguments: Option<Vec<Rc<Expression>>>,
        body: Vec<Statement>,
    },
    ForEach {
        label: Option<String>,
        target: Target,
        slice: usize,
        array: Rc<Expression>,
        body: Vec<Statement>,
    },
    Exit {
        leave: bool,
        label: Option<String>,
        condition: Option<Rc<Expression>>,
    },
    Return(Option<Rc<Expression>>),
    ReturnNext(Option<Rc<Expression>>),
    ReturnQuery(Query),
    Raise(Box<Raise>),
    Assert {
        condition: Rc<Expression>,
        message: Option<Rc<Expression>>,
    },
    Sql {
        statement: Rc<Expression>,
        into: Option<IntoClause>,
    },
    Execute {
        text: Rc<Expression>,
        into: Option<IntoClause>,
        using: Vec<Rc<Expression>>,
    },
    Perform(Rc<Expression>),
    Call(Rc<Expression>),
    GetDiagnostics {
        stacked: bool,
        items: Vec<(Target, Diagnostic)>,
    },
    Open {
        cursor: VarId,
        scroll: Option<bool>,
        source: OpenSource,
    },
    Fetch {
        cursor: VarId,
        direction: Direction,
        into: Option<Target>,
    },
    Close(VarId),
    Commit {
        chain: bool,
    },
    Rollback {
        chain: bool,
    },
}

/// INTO of a statement.
#[derive(Debug)]
pub struct IntoClause {
    /// Where the row goes.
    pub target: Target,
    /// STRICT.
    pub strict: bool,
}

/// What OPEN opens.
#[derive(Debug)]
pub enum OpenSource {
    /// The query of a bound cursor, with its arguments.
    Bound(Option<Vec<Rc<Expression>>>),
    /// FOR query, FOR EXECUTE.
    Query(Query),
}

/// Where FETCH and MOVE go.
#[derive(Debug)]
pub struct Direction {
    /// The word.
    pub way: Way,
    /// A count; one row without it.
    pub count: Option<Rc<Expression>>,
    /// More than one row: MOVE only.
    pub all: bool,
}

/// The word of a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Way {
    Forward,
    Backward,
    Absolute,
    Relative,
    First,
    Last,
}

/// RAISE.
#[derive(Debug)]
pub struct Raise {
    /// Severity; `None` without a word: EXCEPTION.
    pub level: Level,
    /// The condition or code named.
    pub condition: Option<String>,
    /// Format and its arguments.
    pub message: Option<(String, Vec<Rc<Expression>>)>,
    /// USING.
    pub options: Vec<(RaiseOption, Rc<Expression>)>,
}

/// Severity of RAISE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Level {
    Debug,
    Log,
    Info,
    Notice,
    Warning,
    Exception,
}

/// What USING sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum RaiseOption {
    Errcode,
    Message,
    Detail,
    Hint,
    Column,
    Constraint,
    Datatype,
    Table,
    Schema,
}

/// Items of GET DIAGNOSTICS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Diagnostic {
    RowCount,
    RoutineOid,
    Context,
    ErrorContext,
    ErrorDetail,
    ErrorHint,
    ReturnedSqlstate,
    ColumnName,
    ConstraintName,
    DatatypeName,
    MessageText,
    TableName,
    SchemaName,
}

/// Names in view at one point of a function.
pub type ScopeRef = Option<Rc<Scope>>;

/// What a statement is called in context lines.
fn name_of(kind: &StatementKind) -> &'static str {
    use StatementKind as K;
    match kind {
        K::Null => "NULL",
        K::Block(_) => "statement block",
        K::Assign { .. } | K::Store { .. } => "assignment",
        K::If { .. } => "IF",
        K::Case { .. } => "CASE",
        K::Loop { .. } => "LOOP",
        K::While { .. } => "WHILE",
        K::ForRange { .. } => "FOR with integer loop variable",
        K::ForQuery { query: Query::Static(_), .. } => "FOR over SELECT rows",
        K::ForQuery { .. } => "FOR over EXECUTE statement",
        K::ForCursor { .. } => "FOR over cursor",
        K::ForEach { .. } => "FOREACH over array",
        K::Exit { leave: true, .. } => "EXIT",
        K::Exit { .. } => "CONTINUE",
        K::Return(_) => "RETURN",
        K::ReturnNext(_) => "RETURN NEXT",
        K::ReturnQuery(_) => "RETURN QUERY",
        K::Raise(_) => "RAISE",
        K::Assert { .. } => "ASSERT",
        K::Sql { .. } => "SQL statement",
        K::Execute { .. } => "EXECUTE",
        K::Perform(_) => "PERFORM",
        K::Call(_) => "CALL",
        K::GetDiagnostics { stacked: true, .. } => "GET STACKED DIAGNOSTICS",
        K::GetDiagnostics { .. } => "GET DIAGNOSTICS",
        K::Open { .. } => "OPEN",
        K::Fetch { into: None, .. } => "MOVE",
        K::Fetch { .. } => "FETCH",
        K::Close(_) => "CLOSE",
        K::Commit { .. } => "COMMIT",
        K::Rollback { .. } => "ROLLBACK",
    }
}
