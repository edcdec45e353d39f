//! SQL/JSON: constructors, tests, queries and `JSON_TABLE` as written.

use super::{Alias, Expr, Location, Select, SortBy, TypeName, WindowDef};

/// Encoding of a FORMAT JSON clause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum JsonEncoding {
    #[default]
    Default,
    Utf8,
    Utf16,
    Utf32,
}

/// What text is to be taken for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum JsonFormatKind {
    /// No FORMAT clause.
    #[default]
    Default,
    /// FORMAT JSON, or the type `json`.
    Json,
    /// The type `jsonb`; nothing that can be written.
    Jsonb,
}

/// FORMAT JSON ENCODING.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JsonFormat {
    /// Format.
    pub kind: JsonFormatKind,
    /// Encoding.
    pub encoding: JsonEncoding,
    /// Of FORMAT.
    pub location: Location,
}

/// A value with its format.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonValue {
    /// Value.
    pub value: Expr,
    /// Format.
    pub format: JsonFormat,
}

/// RETURNING.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonOutput {
    /// Type.
    pub type_name: TypeName,
    /// Format.
    pub format: JsonFormat,
}

/// What IS JSON asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum JsonItemKind {
    #[default]
    Any,
    Object,
    Array,
    Scalar,
}

/// What constructors of aggregates have beside their arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonAggregate {
    /// RETURNING
    pub output: Option<JsonOutput>,
    /// FILTER
    pub filter: Option<Expr>,
    /// ORDER BY
    pub order_by: Vec<SortBy>,
    /// OVER
    pub over: Option<WindowDef>,
    /// ABSENT ON NULL
    pub absent_on_null: bool,
    /// Of the keyword.
    pub location: Location,
}

/// A function that follows a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum JsonPathOp {
    Exists,
    Query,
    Value,
    Table,
}

/// WRAPPER of JSON_QUERY.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum JsonWrapper {
    #[default]
    Unspecified,
    Without,
    Conditional,
    Unconditional,
}

/// QUOTES of JSON_QUERY.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum JsonQuotes {
    #[default]
    Unspecified,
    Keep,
    Omit,
}

/// What comes of an error or of nothing found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum JsonBehaviorKind {
    Null,
    Error,
    Empty,
    True,
    False,
    Unknown,
    EmptyArray,
    EmptyObject,
    Default,
}

/// ON EMPTY, ON ERROR.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonBehavior {
    /// Which.
    pub kind: JsonBehaviorKind,
    /// DEFAULT's value.
    pub value: Option<Expr>,
    /// Of the clause.
    pub location: Location,
}

/// JSON_EXISTS, JSON_QUERY, JSON_VALUE.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonPathCall {
    /// Which.
    pub op: JsonPathOp,
    /// Column of JSON_TABLE that it computes, for messages.
    pub column: Option<String>,
    /// Document.
    pub context: JsonValue,
    /// Path.
    pub path: Expr,
    /// PASSING
    pub passing: Vec<(String, JsonValue)>,
    /// RETURNING
    pub output: Option<JsonOutput>,
    /// ON EMPTY
    pub on_empty: Option<JsonBehavior>,
    /// ON ERROR
    pub on_error: Option<JsonBehavior>,
    /// WRAPPER
    pub wrapper: JsonWrapper,
    /// QUOTES
    pub quotes: JsonQuotes,
    /// Of the keyword.
    pub location: Location,
}

/// An expression of SQL/JSON.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum JsonExpr {
    /// JSON_OBJECT
    Object {
        pairs: Vec<(Expr, JsonValue)>,
        absent_on_null: bool,
        unique: bool,
        output: Option<JsonOutput>,
        location: Location,
    },
    /// JSON_ARRAY of values
    Array { elements: Vec<JsonValue>, absent_on_null: bool, output: Option<JsonOutput>, location: Location },
    /// JSON_ARRAY of a query
    ArrayQuery {
        query: Select,
        format: JsonFormat,
        absent_on_null: bool,
        output: Option<JsonOutput>,
        location: Location,
    },
    /// JSON_OBJECTAGG
    ObjectAgg { key: Expr, value: JsonValue, unique: bool, call: JsonAggregate },
    /// JSON_ARRAYAGG
    ArrayAgg { value: JsonValue, call: JsonAggregate },
    /// JSON()
    Parse { value: JsonValue, unique: bool, output: Option<JsonOutput>, location: Location },
    /// JSON_SCALAR
    Scalar { value: Expr, output: Option<JsonOutput>, location: Location },
    /// JSON_SERIALIZE
    Serialize { value: JsonValue, output: Option<JsonOutput>, location: Location },
    /// IS JSON
    Is { value: Expr, format: JsonFormat, item: JsonItemKind, unique: bool, location: Location },
    /// JSON_EXISTS, JSON_QUERY, JSON_VALUE
    Path(JsonPathCall),
}

impl JsonExpr {
    /// Of the keyword.
    pub fn location(&self) -> Location {
        match self {
            JsonExpr::Object { location, .. }
            | JsonExpr::Array { location, .. }
            | JsonExpr::ArrayQuery { location, .. }
            | JsonExpr::Parse { location, .. }
            | JsonExpr::Scalar { location, .. }
            | JsonExpr::Serialize { location, .. }
            | JsonExpr::Is { location, .. } => *location,
            JsonExpr::ObjectAgg { call, .. } | JsonExpr::ArrayAgg { call, .. } => call.location,
            JsonExpr::Path(call) => call.location,
        }
    }

    /// Calls `f` for each expression in it; a query is not entered.
    pub fn for_exprs<'e>(&'e self, f: &mut dyn FnMut(&'e Expr)) {
        match self {
            JsonExpr::Object { pairs, .. } => pairs.iter().for_each(|(key, value)| {
                f(key);
                f(&value.value);
            }),
            JsonExpr::Array { elements, .. } => elements.iter().for_each(|e| f(&e.value)),
            JsonExpr::ArrayQuery { .. } => {}
            JsonExpr::ObjectAgg { key, value, call, .. } => {
                f(key);
                f(&value.value);
                call.for_exprs(f);
            }
            JsonExpr::ArrayAgg { value, call } => {
                f(&value.value);
                call.for_exprs(f);
            }
            JsonExpr::Parse { value, .. } | JsonExpr::Serialize { value, .. } => f(&value.value),
            JsonExpr::Scalar { value, .. } | JsonExpr::Is { value, .. } => f(value),
            JsonExpr::Path(call) => {
                f(&call.context.value);
                f(&call.path);
                call.passing.iter().for_each(|(_, v)| f(&v.value));
                let behaviors = call.on_empty.iter().chain(&call.on_error);
                behaviors.filter_map(|b| b.value.as_ref()).for_each(f);
            }
        }
    }
}

impl JsonAggregate {
    fn for_exprs<'e>(&'e self, f: &mut dyn FnMut(&'e Expr)) {
        self.filter.iter().for_each(&mut *f);
        self.order_by.iter().for_each(|k| f(&k.expr));
        if let Some(w) = &self.over {
            w.partition_by.iter().for_each(&mut *f);
            w.order_by.iter().for_each(|k| f(&k.expr));
        }
    }
}

/// A path of JSON_TABLE with its name.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonTablePath {
    /// The path.
    pub text: String,
    /// AS
    pub name: Option<String>,
    /// Of the name.
    pub name_location: Location,
    /// Of the path.
    pub location: Location,
}

/// Kinds of columns of JSON_TABLE.
#[derive(Clone, Debug, PartialEq)]
pub enum JsonColumnKind {
    /// FOR ORDINALITY
    Ordinality,
    /// A type and maybe a path.
    Regular,
    /// EXISTS
    Exists,
    /// FORMAT JSON
    Formatted,
    /// NESTED PATH with its columns.
    Nested(Vec<JsonTableColumn>),
}

/// A column of JSON_TABLE, or a nested path.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonTableColumn {
    /// Kind.
    pub kind: JsonColumnKind,
    /// Name; empty for a nested path.
    pub name: String,
    /// Type.
    pub type_name: Option<TypeName>,
    /// PATH
    pub path: Option<JsonTablePath>,
    /// FORMAT
    pub format: JsonFormat,
    /// WRAPPER
    pub wrapper: JsonWrapper,
    /// QUOTES
    pub quotes: JsonQuotes,
    /// ON EMPTY
    pub on_empty: Option<JsonBehavior>,
    /// ON ERROR
    pub on_error: Option<JsonBehavior>,
    /// Of the name or NESTED.
    pub location: Location,
}

/// JSON_TABLE.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonTable {
    /// Document.
    pub context: JsonValue,
    /// Path of the rows.
    pub path: JsonTablePath,
    /// PASSING
    pub passing: Vec<(String, JsonValue)>,
    /// COLUMNS
    pub columns: Vec<JsonTableColumn>,
    /// ON ERROR
    pub on_error: Option<JsonBehavior>,
    /// Alias.
    pub alias: Option<Alias>,
    /// LATERAL
    pub lateral: bool,
    /// Of the keyword.
    pub location: Location,
}
