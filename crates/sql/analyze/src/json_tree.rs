//! SQL/JSON in typed trees.
//!
//! What: [`Json`], the nodes that constructors, IS JSON, path functions and JSON_TABLE become, over any kind of expression: the planner's
//! tree and the executor's code hold the same nodes over theirs.
//!
//! Invariants:
//! 1. [`CaseTest`](crate::CaseTest) stands for the constructed document in [`JsonConstructor::coercion`], and for the item of the row
//!    in [`JsonTableColumn::value`].
//! 2. The value of a [`JsonTableColumn`] is a [`Json::Path`] at its top.
//!
//! PostgreSQL counterpart: `JsonConstructorExpr`, `JsonExpr`, `JsonIsPredicate`, `JsonValueExpr`, `TableFunc` of `nodes/primnodes.h`.

use base::Oid;
use types::oids;

pub use parse::ast::{
    JsonBehaviorKind, JsonEncoding, JsonFormatKind, JsonItemKind, JsonPathOp, JsonWrapper, Location,
};

/// FORMAT JSON ENCODING.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JsonFormat {
    /// Format.
    pub kind: JsonFormatKind,
    /// Encoding.
    pub encoding: JsonEncoding,
}

/// RETURNING.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JsonReturning {
    /// Format.
    pub format: JsonFormat,
    /// Type; 0 while it is not known.
    pub type_oid: Oid,
    /// Modifier.
    pub typmod: i32,
}

/// A value as written with its FORMAT, and as it is used.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonValue<E> {
    /// As written.
    pub raw: E,
    /// As a document; evaluated.
    pub formatted: E,
    /// FORMAT
    pub format: JsonFormat,
}

/// Constructors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum JsonConstructorKind {
    Object,
    Array,
    ObjectAgg,
    ArrayAgg,
    Parse,
    Scalar,
    Serialize,
}

/// A constructor.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonConstructor<E> {
    /// Which.
    pub kind: JsonConstructorKind,
    /// Arguments; keys and values alternate.
    pub args: Vec<E>,
    /// The aggregate or window function called.
    pub call: Option<E>,
    /// What makes the type of RETURNING of the document.
    pub coercion: Option<E>,
    /// RETURNING
    pub returning: JsonReturning,
    /// WITH UNIQUE KEYS
    pub unique: bool,
    /// ABSENT ON NULL
    pub absent_on_null: bool,
    /// Of the keyword.
    pub location: Location,
}

/// IS JSON.
#[derive(Clone, Debug, PartialEq)]
pub struct IsJson<E> {
    /// Value of type `text`, `json` or `jsonb`.
    pub arg: E,
    /// Kind asked for.
    pub item: JsonItemKind,
    /// WITH UNIQUE KEYS
    pub unique: bool,
    /// In the text.
    pub location: Location,
}

/// ON EMPTY, ON ERROR.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonBehavior<E> {
    /// Which.
    pub kind: JsonBehaviorKind,
    /// Its value; none for ERROR.
    pub value: Option<E>,
    /// The value is a `jsonb` that is brought to the type of RETURNING when it is used.
    pub coerce: bool,
}

/// How what was found becomes the type of RETURNING.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonCoercion {
    /// It has it.
    Nothing,
    /// By the input function, of an item's text.
    Input,
    /// As `jsonb_populate_record` brings fields to their types.
    Populate,
}

/// A value of PASSING.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonPassing<E> {
    /// Name.
    pub name: String,
    /// Value.
    pub value: E,
}

/// JSON_EXISTS, JSON_QUERY, JSON_VALUE.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonPath<E> {
    /// Which.
    pub op: JsonPathOp,
    /// Column of JSON_TABLE, for messages.
    pub column: Option<String>,
    /// Document, of type `jsonb`.
    pub context: E,
    /// Path, of type `jsonpath`.
    pub path: E,
    /// PASSING
    pub passing: Vec<JsonPassing<E>>,
    /// RETURNING
    pub returning: JsonReturning,
    /// Collation of the result.
    pub collation: Oid,
    /// ON EMPTY
    pub on_empty: Option<JsonBehavior<E>>,
    /// ON ERROR
    pub on_error: JsonBehavior<E>,
    /// Conversion.
    pub coercion: JsonCoercion,
    /// WRAPPER
    pub wrapper: JsonWrapper,
    /// OMIT QUOTES
    pub omit_quotes: bool,
    /// FORMAT of a column of JSON_TABLE.
    pub format: JsonFormat,
    /// Of the keyword.
    pub location: Location,
}

/// A column of JSON_TABLE.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonTableColumn<E> {
    /// Name.
    pub name: String,
    /// Type.
    pub type_oid: Oid,
    /// Modifier.
    pub typmod: i32,
    /// Value; none for FOR ORDINALITY.
    pub value: Option<E>,
}

/// A path of JSON_TABLE that gives rows.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonTablePath<E> {
    /// The path in its one form.
    pub path: String,
    /// Its name.
    pub name: String,
    /// Columns of its rows.
    pub columns: Vec<JsonTableColumn<E>>,
    /// Paths inside, side by side.
    pub nested: Vec<JsonTablePath<E>>,
}

/// JSON_TABLE. Its columns are those of the root path, then those of the nested ones, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonTable<E> {
    /// Document, of type `jsonb`.
    pub context: E,
    /// PASSING
    pub passing: Vec<JsonPassing<E>>,
    /// ERROR ON ERROR
    pub error_on_error: bool,
    /// ON ERROR is shown although it says what is implied: NULL, EMPTY.
    pub on_error: JsonBehaviorKind,
    /// Path of the rows.
    pub root: JsonTablePath<E>,
    /// Of the keyword.
    pub location: Location,
}

/// A node of SQL/JSON.
#[derive(Clone, Debug, PartialEq)]
pub enum Json<E> {
    /// A value with FORMAT.
    Value(JsonValue<E>),
    /// A constructor.
    Constructor(JsonConstructor<E>),
    /// IS JSON
    Is(IsJson<E>),
    /// JSON_EXISTS, JSON_QUERY, JSON_VALUE
    Path(JsonPath<E>),
    /// JSON_TABLE
    Table(JsonTable<E>),
}

macro_rules! visitors {
    ($path:ident, $children:ident, $iter:ident, $as_ref:ident, $($m:tt)*) => {
        impl<E> JsonTablePath<E> {
            fn $path<'e, X>(&'e $($m)* self, f: &mut dyn FnMut(&'e $($m)* E) -> Result<(), X>) -> Result<(), X> {
                self.columns.$iter().filter_map(|c| c.value.$as_ref()).try_for_each(&mut *f)?;
                self.nested.$iter().try_for_each(|n| n.$path(f))
            }
        }
        impl<E> Json<E> {
            /// Calls `f` for each direct operand.
            pub fn $children<'e, X>(&'e $($m)* self, f: &mut dyn FnMut(&'e $($m)* E) -> Result<(), X>) -> Result<(), X> {
                match self {
                    Json::Value(v) => {
                        f(&$($m)* v.raw)?;
                        f(&$($m)* v.formatted)
                    }
                    Json::Constructor(c) => {
                        c.args.$iter().try_for_each(&mut *f)?;
                        c.call.$as_ref().map_or(Ok(()), &mut *f)?;
                        c.coercion.$as_ref().map_or(Ok(()), f)
                    }
                    Json::Is(i) => f(&$($m)* i.arg),
                    Json::Path(p) => {
                        f(&$($m)* p.context)?;
                        f(&$($m)* p.path)?;
                        p.passing.$iter().try_for_each(|a| f(&$($m)* a.value))?;
                        if let Some(b) = p.on_empty.$as_ref() {
                            b.value.$as_ref().map_or(Ok(()), &mut *f)?;
                        }
                        p.on_error.value.$as_ref().map_or(Ok(()), f)
                    }
                    Json::Table(t) => {
                        f(&$($m)* t.context)?;
                        t.passing.$iter().try_for_each(|a| f(&$($m)* a.value))?;
                        t.root.$path(f)
                    }
                }
            }
        }
    };
}

visitors!(exprs, children, iter, as_ref,);
visitors!(exprs_mut, children_mut, iter_mut, as_mut, mut);

impl<E> JsonBehavior<E> {
    fn map<F, X>(&self, f: &mut dyn FnMut(&E) -> Result<F, X>) -> Result<JsonBehavior<F>, X> {
        Ok(JsonBehavior {
            kind: self.kind,
            value: self.value.as_ref().map(f).transpose()?,
            coerce: self.coerce,
        })
    }
}

fn map_passing<E, F, X>(
    list: &[JsonPassing<E>],
    f: &mut dyn FnMut(&E) -> Result<F, X>,
) -> Result<Vec<JsonPassing<F>>, X> {
    list.iter().map(|p| Ok(JsonPassing { name: p.name.clone(), value: f(&p.value)? })).collect()
}

impl<E> JsonTablePath<E> {
    fn map<F, X>(&self, f: &mut dyn FnMut(&E) -> Result<F, X>) -> Result<JsonTablePath<F>, X> {
        let mut columns = Vec::with_capacity(self.columns.len());
        for c in &self.columns {
            let value = c.value.as_ref().map(&mut *f).transpose()?;
            columns.push(JsonTableColumn {
                name: c.name.clone(),
                type_oid: c.type_oid,
                typmod: c.typmod,
                value,
            });
        }
        let nested = self.nested.iter().map(|n| n.map(f)).collect::<Result<_, X>>()?;
        Ok(JsonTablePath { path: self.path.clone(), name: self.name.clone(), columns, nested })
    }

    /// Columns, those of nested paths included.
    pub fn width(&self) -> usize {
        self.columns.len() + self.nested.iter().map(JsonTablePath::width).sum::<usize>()
    }
}

impl<E> Json<E> {
    /// The same node over other expressions. `f` is given the operands in the order of [`Json::children`].
    pub fn map<F, X>(&self, f: &mut dyn FnMut(&E) -> Result<F, X>) -> Result<Json<F>, X> {
        Ok(match self {
            Json::Value(v) => {
                Json::Value(JsonValue { raw: f(&v.raw)?, formatted: f(&v.formatted)?, format: v.format })
            }
            Json::Constructor(c) => Json::Constructor(JsonConstructor {
                kind: c.kind,
                args: c.args.iter().map(&mut *f).collect::<Result<_, X>>()?,
                call: c.call.as_ref().map(&mut *f).transpose()?,
                coercion: c.coercion.as_ref().map(f).transpose()?,
                returning: c.returning,
                unique: c.unique,
                absent_on_null: c.absent_on_null,
                location: c.location,
            }),
            Json::Is(i) => {
                Json::Is(IsJson { arg: f(&i.arg)?, item: i.item, unique: i.unique, location: i.location })
            }
            Json::Path(p) => Json::Path(JsonPath {
                op: p.op,
                column: p.column.clone(),
                context: f(&p.context)?,
                path: f(&p.path)?,
                passing: map_passing(&p.passing, f)?,
                returning: p.returning,
                collation: p.collation,
                on_empty: p.on_empty.as_ref().map(|b| b.map(f)).transpose()?,
                on_error: p.on_error.map(f)?,
                coercion: p.coercion,
                wrapper: p.wrapper,
                omit_quotes: p.omit_quotes,
                format: p.format,
                location: p.location,
            }),
            Json::Table(t) => Json::Table(JsonTable {
                context: f(&t.context)?,
                passing: map_passing(&t.passing, f)?,
                error_on_error: t.error_on_error,
                on_error: t.on_error,
                root: t.root.map(f)?,
                location: t.location,
            }),
        })
    }

    /// Type of the node, that of an operand told by `of`.
    pub fn type_oid(&self, of: &dyn Fn(&E) -> Oid) -> Oid {
        match self {
            Json::Value(v) => of(&v.formatted),
            Json::Constructor(c) => c.returning.type_oid,
            Json::Is(_) => oids::bool,
            Json::Path(p) => p.returning.type_oid,
            Json::Table(_) => oids::record,
        }
    }

    /// Modifier of the node.
    pub fn typmod(&self, of: &dyn Fn(&E) -> i32) -> i32 {
        match self {
            Json::Value(v) => of(&v.formatted),
            Json::Constructor(c) => c.returning.typmod,
            Json::Path(p) => p.returning.typmod,
            Json::Is(_) | Json::Table(_) => -1,
        }
    }

    /// In the text.
    pub fn location(&self) -> Location {
        match self {
            Json::Value(_) => Location::NONE,
            Json::Constructor(c) => c.location,
            Json::Is(i) => i.location,
            Json::Path(p) => p.location,
            Json::Table(t) => t.location,
        }
    }

    /// Forgets where it stands in the text.
    pub fn clear_location(&mut self) {
        match self {
            Json::Value(_) => {}
            Json::Constructor(c) => c.location = Location::NONE,
            Json::Is(i) => i.location = Location::NONE,
            Json::Path(p) => p.location = Location::NONE,
            Json::Table(t) => t.location = Location::NONE,
        }
    }
}
