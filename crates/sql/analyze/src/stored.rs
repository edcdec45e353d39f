//! Expressions and queries as text for the catalogs: defaults, constraints, index expressions, views.
//!
//! What: [`store_expr`] and [`store_query`] write a tree with OIDs and attribute numbers, never names that can be changed, so that renaming a
//! table, column, function or type leaves what refers to it intact. [`load_expr`] and [`load_query`] read it.
//!
//! Layout of the text: a version and a colon, then the tree. Integers are decimal; booleans `t` and `f`; strings quoted with `\` before
//! quote and backslash; `-` is an absent value, `+` goes before a present one; lists stand in `[ ]`, structures in `{ }` with their fields in the
//! order that this file lists them; an enum is its variant's name, before its content if it has any. Locations are not stored.
//!
//! Invariants:
//! 1. Fields are only ever added behind a new version number, or at the end of a structure and only where they say something, so that
//!    the reader tells old text apart.
//! 2. Any text gives a tree or an error, never a panic.
//!
//! PostgreSQL counterpart: `pg_node_tree`, `outfuncs.c`, `readfuncs.c`.

use base::{Oid, SqlError, SqlResult};
use catalog::view::CatalogView;
use tuple::Datum;

use crate::expr::*;
use crate::json_tree::*;
use crate::query::*;
use crate::rule::{Notify, RuleAction};
use crate::xml_tree::*;

/// The version written.
const VERSION: &str = "1";

/// Text of an expression. A column of the relation that it belongs to has range table index 0.
pub fn store_expr(expr: &Expr) -> String {
    write(expr)
}

/// Text of a query.
pub fn store_query(query: &Query) -> String {
    write(query)
}

/// The expression of a stored text.
pub fn load_expr(text: &str, catalog: &dyn CatalogView) -> SqlResult<Expr> {
    read(text, catalog)
}

/// Text of what a rule does.
pub fn store_actions(actions: &Vec<RuleAction>) -> String {
    write(actions)
}

/// What a rule does, of a stored text.
pub fn load_actions(text: &str, catalog: &dyn CatalogView) -> SqlResult<Vec<RuleAction>> {
    read(text, catalog)
}

/// The query of a stored text; its relations are described as they are now.
pub fn load_query(text: &str, catalog: &dyn CatalogView) -> SqlResult<Query> {
    read(text, catalog)
}

fn write<T: Stored>(value: &T) -> String {
    let mut out = String::from(VERSION);
    out.push(':');
    value.write(&mut out);
    out
}

fn read<T: Stored>(text: &str, catalog: &dyn CatalogView) -> SqlResult<T> {
    let Some(body) = text.strip_prefix("1:") else { return Err(corrupt("version")) };
    let mut reader = Reader { rest: body, catalog };
    let value = T::read(&mut reader)?;
    if reader.rest.trim_ascii().is_empty() { Ok(value) } else { Err(corrupt("end")) }
}

fn corrupt(what: &str) -> SqlError {
    SqlError::internal(format!("stored expression is corrupt: {what}"))
}

/// What can be stored.
trait Stored: Sized {
    fn write(&self, out: &mut String);
    fn read(r: &mut Reader<'_>) -> SqlResult<Self>;
}

struct Reader<'a> {
    rest: &'a str,
    catalog: &'a dyn CatalogView,
}

impl<'a> Reader<'a> {
    fn skip(&mut self) {
        self.rest = self.rest.trim_ascii_start();
    }

    fn expect(&mut self, symbol: char) -> SqlResult<()> {
        self.skip();
        match self.rest.strip_prefix(symbol) {
            Some(rest) => {
                self.rest = rest;
                Ok(())
            }
            None => Err(corrupt("punctuation")),
        }
    }

    fn peek(&mut self) -> Option<char> {
        self.skip();
        self.rest.chars().next()
    }

    fn word(&mut self) -> SqlResult<&'a str> {
        self.skip();
        let end = self
            .rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-' || c == '.' || c == '+'))
            .unwrap_or(self.rest.len());
        if end == 0 {
            return Err(corrupt("word"));
        }
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        Ok(word)
    }
}

macro_rules! numbers {
    ($($t:ty),*) => {$(
        impl Stored for $t {
            fn write(&self, out: &mut String) {
                out.push(' ');
                out.push_str(&self.to_string());
            }
            fn read(r: &mut Reader<'_>) -> SqlResult<Self> {
                r.word()?.parse().map_err(|_| corrupt("number"))
            }
        }
    )*};
}

numbers!(u8, u32, i16, i32, i64, usize, u64);

impl Stored for bool {
    fn write(&self, out: &mut String) {
        out.push_str(if *self { " t" } else { " f" });
    }
    fn read(r: &mut Reader<'_>) -> SqlResult<Self> {
        match r.word()? {
            "t" => Ok(true),
            "f" => Ok(false),
            _ => Err(corrupt("boolean")),
        }
    }
}

impl Stored for Oid {
    fn write(&self, out: &mut String) {
        self.0.write(out);
    }
    fn read(r: &mut Reader<'_>) -> SqlResult<Self> {
        u32::read(r).map(Oid)
    }
}

impl Stored for Location {
    fn write(&self, _: &mut String) {}
    fn read(_: &mut Reader<'_>) -> SqlResult<Self> {
        Ok(Location::NONE)
    }
}

impl Stored for String {
    fn write(&self, out: &mut String) {
        out.push_str(" \"");
        for c in self.chars() {
            if matches!(c, '"' | '\\') {
                out.push('\\');
            }
            out.push(c);
        }
        out.push('"');
    }
    fn read(r: &mut Reader<'_>) -> SqlResult<Self> {
        r.expect('"')?;
        let mut out = String::new();
        let mut chars = r.rest.char_indices();
        while let Some((i, c)) = chars.next() {
            match c {
                '"' => {
                    r.rest = &r.rest[i + 1..];
                    return Ok(out);
                }
                '\\' => match chars.next() {
                    Some((_, c)) => out.push(c),
                    None => break,
                },
                c => out.push(c),
            }
        }
        Err(corrupt("string"))
    }
}

impl<T: Stored> Stored for Option<T> {
    fn write(&self, out: &mut String) {
        match self {
            None => out.push_str(" -"),
            Some(v) => {
                out.push_str(" +");
                v.write(out);
            }
        }
    }
    fn read(r: &mut Reader<'_>) -> SqlResult<Self> {
        match r.peek() {
            Some('-') => {
                r.expect('-')?;
                Ok(None)
            }
            _ => {
                r.expect('+')?;
                T::read(r).map(Some)
            }
        }
    }
}

impl<T: Stored> Stored for Vec<T> {
    fn write(&self, out: &mut String) {
        out.push_str(" [");
        for v in self {
            v.write(out);
        }
        out.push_str(" ]");
    }
    fn read(r: &mut Reader<'_>) -> SqlResult<Self> {
        r.expect('[')?;
        let mut out = Vec::new();
        while r.peek() != Some(']') {
            out.push(T::read(r)?);
        }
        r.expect(']')?;
        Ok(out)
    }
}

impl<T: Stored> Stored for Box<T> {
    fn write(&self, out: &mut String) {
        (**self).write(out);
    }
    fn read(r: &mut Reader<'_>) -> SqlResult<Self> {
        T::read(r).map(Box::new)
    }
}

impl<A: Stored, B: Stored> Stored for (A, B) {
    fn write(&self, out: &mut String) {
        self.0.write(out);
        self.1.write(out);
    }
    fn read(r: &mut Reader<'_>) -> SqlResult<Self> {
        Ok((A::read(r)?, B::read(r)?))
    }
}

impl Stored for Datum {
    fn write(&self, out: &mut String) {
        match self {
            Datum::Null => out.push_str(" null"),
            Datum::Bool(v) => tagged(out, "bool", v),
            Datum::Char(v) => tagged(out, "char", v),
            Datum::Int2(v) => tagged(out, "int2", v),
            Datum::Int4(v) => tagged(out, "int4", v),
            Datum::Int8(v) => tagged(out, "int8", v),
            Datum::Oid(v) => tagged(out, "oid", v),
            Datum::Float4(v) => tagged(out, "float4", &v.to_bits()),
            Datum::Float8(v) => tagged(out, "float8", &v.to_bits()),
            Datum::Bytes(b) => match std::str::from_utf8(b) {
                Ok(text) if !text.contains('\0') => tagged(out, "text", &text.to_owned()),
                _ => {
                    let hex: String = b.iter().map(|b| format!("{b:02x}")).collect();
                    tagged(out, "bytes", &hex);
                }
            },
            Datum::Toasted(_) => out.push_str(" null"),
        }
    }
    fn read(r: &mut Reader<'_>) -> SqlResult<Self> {
        Ok(match r.word()? {
            "null" => Datum::Null,
            "bool" => Datum::Bool(bool::read(r)?),
            "char" => Datum::Char(u8::read(r)?),
            "int2" => Datum::Int2(i16::read(r)?),
            "int4" => Datum::Int4(i32::read(r)?),
            "int8" => Datum::Int8(i64::read(r)?),
            "oid" => Datum::Oid(u32::read(r)?),
            "float4" => Datum::Float4(f32::from_bits(u32::read(r)?)),
            "float8" => Datum::Float8(f64::from_bits(u64::read(r)?)),
            "text" => Datum::text(&String::read(r)?),
            "bytes" => {
                let hex = String::read(r)?;
                let digits = hex.as_bytes();
                if !digits.len().is_multiple_of(2) || !hex.is_ascii() {
                    return Err(corrupt("bytes"));
                }
                let bytes: Option<Vec<u8>> = (0..digits.len() / 2)
                    .map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).ok())
                    .collect();
                let bytes = bytes.ok_or_else(|| corrupt("bytes"))?;
                Datum::Bytes(bytes.as_slice().into())
            }
            _ => return Err(corrupt("value")),
        })
    }
}

fn tagged<T: Stored>(out: &mut String, tag: &str, value: &T) {
    out.push(' ');
    out.push_str(tag);
    value.write(out);
}

macro_rules! structs {
    ($($name:ident $(<$over:ident>)? { $($field:ident),* $(,)? })*) => {$(
        impl Stored for $name $(<$over>)? {
            fn write(&self, out: &mut String) {
                out.push_str(" {");
                $(self.$field.write(out);)*
                out.push_str(" }");
            }
            fn read(r: &mut Reader<'_>) -> SqlResult<Self> {
                r.expect('{')?;
                $(let $field = Stored::read(r)?;)*
                r.expect('}')?;
                Ok($name { $($field),* })
            }
        }
    )*};
}

macro_rules! unit_enums {
    ($($name:ident { $($variant:ident),* $(,)? })*) => {$(
        impl Stored for $name {
            fn write(&self, out: &mut String) {
                out.push(' ');
                out.push_str(match self { $($name::$variant => stringify!($variant)),* });
            }
            fn read(r: &mut Reader<'_>) -> SqlResult<Self> {
                Ok(match r.word()? {
                    $(stringify!($variant) => $name::$variant,)*
                    _ => return Err(corrupt(stringify!($name))),
                })
            }
        }
    )*};
}

macro_rules! data_enums {
    ($($name:ident $(<$over:ident>)? { $($variant:ident),* ; $($unit:ident),* })*) => {$(
        impl Stored for $name $(<$over>)? {
            fn write(&self, out: &mut String) {
                match self {
                    $($name::$variant(v) => tagged(out, stringify!($variant), v),)*
                    $($name::$unit => { out.push(' '); out.push_str(stringify!($unit)); })*
                }
            }
            fn read(r: &mut Reader<'_>) -> SqlResult<Self> {
                Ok(match r.word()? {
                    $(stringify!($variant) => $name::$variant(Stored::read(r)?),)*
                    $(stringify!($unit) => $name::$unit,)*
                    _ => return Err(corrupt(stringify!($name))),
                })
            }
        }
    )*};
}

data_enums! {
    Expr {
        Var, Const, Param, Func, Op, Distinct, NullIf, ScalarArray, Bool, Aggregate, Grouping, Window, SubLink,
        Subscript, Field, FieldStore, Relabel, IoCast, ArrayCast, RowCast, Collate, Case, CaseTest, Array, Row,
        RowCompare, Coalesce, MinMax, SqlValue, NullTest, BooleanTest, ToDomain, DomainValue, Default, CurrentOf,
        NamedArg, NextValue, MergeAction, Json, Xml;
    }
    Json<Expr> { Value, Constructor, Is, Path, Table; }
    Xml<Expr> { Call, Table; }
    RuleAction { Query, Notify; }
    RteKind { Relation, Subquery, Join, Function, Values, Cte, Transition; }
    FromNode { Entry, Join; }
    FrameBound { Preceding, Following; UnboundedPreceding, CurrentRow, UnboundedFollowing }
    SetOperation { Leaf, Node; }
    Grouping { Keys, Sets, Rollup, Cube; }
}

unit_enums! {
    RowVersion { Default, Old, New }
    ParamKind { Extern, Exec, SubLink, MultiExpr }
    CoercionForm { Call, ExplicitCast, ImplicitCast, SqlSyntax }
    BoolOp { And, Or, Not }
    BoolTest { True, NotTrue, False, NotFalse, Unknown, NotUnknown }
    AggregateKind { Normal, OrderedSet, HypotheticalSet }
    SubLinkType { Exists, All, Any, RowCompare, Expr, MultiExpr, Array }
    RowCompareKind { Less, LessEqual, GreaterEqual, Greater }
    SqlValueKind {
        CurrentDate, CurrentTime, CurrentTimestamp, LocalTime, LocalTimestamp, CurrentRole, CurrentUser, User,
        SessionUser, CurrentCatalog, CurrentSchema,
    }
    Command { Select, Insert, Update, Delete, Merge, Utility }
    JoinType { Inner, Left, Full, Right }
    SetOp { Union, Intersect, Except }
    Materialize { Default, Always, Never }
    FrameUnits { Range, Rows, Groups }
    FrameExclusion { NoOthers, CurrentRow, Group, Ties }
    Overriding { None, User, System }
    MergeMatch { Matched, NotMatchedBySource, NotMatchedByTarget }
}

use parse::ast::{LockStrength, LockWait};

unit_enums! {
    JsonFormatKind { Default, Json, Jsonb }
    JsonEncoding { Default, Utf8, Utf16, Utf32 }
    JsonItemKind { Any, Object, Array, Scalar }
    XmlOp { Concat, Element, Forest, Parse, Instruction, Root, Serialize, IsDocument }
    XmlStandalone { Yes, No, NoValue, Omitted }
    JsonConstructorKind { Object, Array, ObjectAgg, ArrayAgg, Parse, Scalar, Serialize }
    JsonPathOp { Exists, Query, Value, Table }
    JsonWrapper { Unspecified, Without, Conditional, Unconditional }
    JsonBehaviorKind { Null, Error, Empty, True, False, Unknown, EmptyArray, EmptyObject, Default }
    JsonCoercion { Nothing, Input, Populate }
    LockStrength { KeyShare, Share, NoKeyUpdate, Update }
    LockWait { Block, Skip, Error }
}

structs! {
    Var { rte, attno, type_oid, typmod, collation, levels_up, version, location }
    Const { type_oid, typmod, collation, value, location }
    Param { kind, id, type_oid, typmod, collation, location }
    FuncExpr { function, result_type, returns_set, variadic, form, collation, input_collation, args, location }
    OpExpr { op, function, result_type, returns_set, collation, input_collation, args, location }
    ScalarArrayExpr { op, function, any, input_collation, scalar, array, location }
    BoolExpr { op, args, location }
    Aggregate {
        function, result_type, collation, input_collation, arg_types, direct_args, args, order_by, distinct, filter,
        star, variadic, kind, levels_up, location,
    }
    GroupingExpr { args, refs, levels_up, location }
    WindowCall {
        function, result_type, collation, input_collation, args, filter, window, star, is_aggregate, location,
    }
    SubLink { kind, id, test, op_name, query, location }
    SubscriptExpr {
        container_type, element_type, result_type, typmod, collation, upper, lower, arg, assign,
    }
    FieldExpr { arg, attno, result_type, typmod, collation }
    FieldStoreExpr { arg, fields, result_type }
    RelabelExpr { arg, result_type, typmod, collation, form, location }
    IoCastExpr { arg, result_type, collation, form, location }
    ArrayCastExpr { arg, element, result_type, typmod, collation, form, location }
    RowCastExpr { arg, result_type, form, location }
    CollateExpr { arg, collation, location }
    CaseExpr { result_type, collation, arg, whens, default, location }
    CaseTest { type_oid, typmod, collation }
    ArrayExpr { array_type, element_type, collation, elements, multidims, location }
    RowExpr { args, row_type, names, form, location }
    RowCompareExpr { kind, ops, families, collations, left, right }
    CoalesceExpr { result_type, collation, args, location }
    MinMaxExpr { result_type, collation, input_collation, greatest, args, location }
    SqlValueExpr { kind, result_type, typmod, location }
    NullTest { arg, not, row, location }
    BooleanTest { arg, test, location }
    ToDomainExpr { arg, domain, typmod, collation, form, location }
    DomainValue { type_oid, typmod, collation, location }
    DefaultExpr { type_oid, typmod, collation, location }
    CurrentOf { rte, cursor, variable }
    NamedArg { name, arg, location }
    NextValue { sequence, type_oid }
    MergeActionExpr { location }
    TargetEntry { expr, resno, name, sort_ref, source_table, source_column, junk }
    RteAlias { name, columns }
    Access { required, as_role, selected, inserted, updated }
    TableSample { method, args, repeatable }
    Join { kind, merged, columns, using_alias }
    Functions { functions, ordinality }
    RangeFunction { call, columns, composite }
    ColumnType { name, type_oid, typmod, collation }
    Values { rows, columns }
    CteReference { name, levels_up, self_reference, columns }
    TransitionReference { name, table, rows, columns }
    SearchClause { columns, breadth_first, sequence }
    CycleClause { columns, mark, value, default, equality, hashable, inequality, path }
    FromExpr { items, filter }
    JoinNode { kind, left, right, natural, using, on, rte }
    SortGroupClause { sort_ref, equality, ordering, descending, nulls_first, hashable }
    WindowClause {
        name, base, partition_by, order_by, frame, in_range, in_range_collation, in_range_ascending,
        in_range_nulls_first, copied_order,
    }
    SetOperationNode { op, all, left, right, left_casts, right_casts, columns, group_by }
    RowMark { rte, strength, wait, pushed_down }
    Inference { elements, filter }
    InferenceElement { expr, collation, opclass }
    ConflictUpdate { targets, filter, excluded_rte }
    ViewCheck { view, condition, cascaded }
    Notify { channel, payload }
    MergeAction { matched, command, condition, targets, overriding }
}

structs! {
    JsonFormat { kind, encoding }
    JsonReturning { format, type_oid, typmod }
    JsonValue<Expr> { raw, formatted, format }
    JsonConstructor<Expr> { kind, args, call, coercion, returning, unique, absent_on_null, location }
    IsJson<Expr> { arg, item, unique, location }
    JsonBehavior<Expr> { kind, value, coerce }
    JsonPassing<Expr> { name, value }
    JsonPath<Expr> {
        op, column, context, path, passing, returning, collation, on_empty, on_error, coercion, wrapper, omit_quotes,
        format, location,
    }
    JsonTableColumn<Expr> { name, type_oid, typmod, value }
    JsonTablePath<Expr> { path, name, columns, nested }
    JsonTable<Expr> { context, passing, error_on_error, on_error, root, location }
    XmlCall<Expr> {
        op, name, names, named, args, document, indent, preserve, standalone, target, location,
    }
    XmlTableColumn<Expr> { name, type_oid, typmod, ordinality, not_null, path, default }
    XmlTable<Expr> { namespaces, document, row, columns, location }
}

/// The description of a relation is looked up again, so that its columns go by their names of now.
impl Stored for Relation {
    fn write(&self, out: &mut String) {
        out.push_str(" {");
        self.oid.write(out);
        self.lock_mode.write(out);
        self.inherit.write(out);
        self.sample.write(out);
        out.push_str(" }");
    }
    fn read(r: &mut Reader<'_>) -> SqlResult<Self> {
        r.expect('{')?;
        let oid = Oid::read(r)?;
        let lock_mode = u8::read(r)?;
        let inherit = bool::read(r)?;
        let sample = Stored::read(r)?;
        r.expect('}')?;
        let table = r
            .catalog
            .relation_by_oid(oid)?
            .ok_or_else(|| SqlError::internal(format!("could not open relation with OID {oid}")))?;
        Ok(Relation { oid, table, lock_mode, inherit, sample, barriers: Vec::new() })
    }
}

/// That BETWEEN was not written is written where it was not.
impl Stored for Frame {
    fn write(&self, out: &mut String) {
        out.push_str(" {");
        self.explicit.write(out);
        self.units.write(out);
        self.start.write(out);
        self.end.write(out);
        self.exclusion.write(out);
        if self.short {
            self.short.write(out);
        }
        out.push_str(" }");
    }
    fn read(r: &mut Reader<'_>) -> SqlResult<Self> {
        r.expect('{')?;
        let mut frame = Frame {
            explicit: Stored::read(r)?,
            short: false,
            units: Stored::read(r)?,
            start: Stored::read(r)?,
            end: Stored::read(r)?,
            exclusion: Stored::read(r)?,
        };
        if r.peek() != Some('}') {
            frame.short = Stored::read(r)?;
        }
        r.expect('}')?;
        Ok(frame)
    }
}

/// What names of columns, SEARCH and CYCLE say is written where they say something.
impl Stored for Cte {
    fn write(&self, out: &mut String) {
        out.push_str(" {");
        self.name.write(out);
        self.materialize.write(out);
        self.query.write(out);
        self.recursive.write(out);
        self.references.write(out);
        self.columns.write(out);
        if self.aliased > 0 || self.search.is_some() || self.cycle.is_some() {
            self.aliased.write(out);
            self.search.write(out);
            self.cycle.write(out);
        }
        out.push_str(" }");
    }
    fn read(r: &mut Reader<'_>) -> SqlResult<Self> {
        r.expect('{')?;
        let mut cte = Cte {
            name: Stored::read(r)?,
            materialize: Stored::read(r)?,
            query: Stored::read(r)?,
            recursive: Stored::read(r)?,
            references: Stored::read(r)?,
            columns: Stored::read(r)?,
            aliased: 0,
            search: None,
            cycle: None,
        };
        if r.peek() != Some('}') {
            cte.aliased = Stored::read(r)?;
            cte.search = Stored::read(r)?;
            cte.cycle = Stored::read(r)?;
        }
        r.expect('}')?;
        Ok(cte)
    }
}

impl Stored for RangeTableEntry {
    fn write(&self, out: &mut String) {
        out.push_str(" {");
        self.kind.write(out);
        self.alias.write(out);
        self.name.write(out);
        self.columns.write(out);
        self.lateral.write(out);
        self.in_from.write(out);
        self.access.write(out);
        out.push_str(" }");
    }
    fn read(r: &mut Reader<'_>) -> SqlResult<Self> {
        r.expect('{')?;
        let mut entry = RangeTableEntry {
            kind: Stored::read(r)?,
            alias: Stored::read(r)?,
            name: Stored::read(r)?,
            columns: Stored::read(r)?,
            lateral: Stored::read(r)?,
            in_from: Stored::read(r)?,
            access: Stored::read(r)?,
        };
        r.expect('}')?;
        if let RteKind::Relation(relation) = &entry.kind {
            if entry.alias.is_none() {
                entry.name.clone_from(&relation.table.name);
            }
            let given = entry.alias.as_ref().map_or(0, |a| a.columns.len());
            let mut live = 0;
            let mut columns = Vec::with_capacity(relation.table.columns.len());
            for (i, c) in relation.table.columns.iter().enumerate() {
                if c.dropped {
                    columns.push(String::new());
                    continue;
                }
                let aliased = live < given;
                columns.push(match entry.columns.get(i) {
                    Some(name) if aliased => name.clone(),
                    _ => c.name.clone(),
                });
                live += 1;
            }
            entry.columns = columns;
        }
        Ok(entry)
    }
}

/// The place of a list of indexes that is no longer kept is left open. What they are inferred from is written where something is.
impl Stored for OnConflict {
    fn write(&self, out: &mut String) {
        out.push_str(" {");
        Vec::<Oid>::new().write(out);
        self.constraint.write(out);
        self.update.write(out);
        if self.inference.is_some() {
            self.inference.write(out);
        }
        out.push_str(" }");
    }
    fn read(r: &mut Reader<'_>) -> SqlResult<Self> {
        r.expect('{')?;
        let indexes: Vec<Oid> = Stored::read(r)?;
        let (constraint, update): (Oid, _) = (Stored::read(r)?, Stored::read(r)?);
        let inference = if r.peek() == Some('}') { None } else { Stored::read(r)? };
        r.expect('}')?;
        match (indexes.is_empty(), constraint.is_valid()) {
            (false, false) => Err(corrupt("ON CONFLICT")),
            _ => Ok(OnConflict { constraint, update, inference }),
        }
    }
}

/// A view stands for whatever its query is when it is used: its own query is not kept.
impl Stored for Subquery {
    fn write(&self, out: &mut String) {
        out.push_str(" {");
        match self.view.is_valid() {
            true => Query::default().write(out),
            false => self.query.write(out),
        }
        self.view.write(out);
        self.security_barrier.write(out);
        out.push_str(" }");
    }
    fn read(r: &mut Reader<'_>) -> SqlResult<Self> {
        r.expect('{')?;
        let (query, view) = (Stored::read(r)?, Stored::read(r)?);
        let sub = Subquery { query, view, security_barrier: Stored::read(r)? };
        r.expect('}')?;
        Ok(sub)
    }
}

impl Stored for Query {
    fn write(&self, out: &mut String) {
        out.push_str(" {");
        self.command.write(out);
        self.target.write(out);
        self.ctes.write(out);
        self.recursive.write(out);
        self.range_table.write(out);
        self.join_tree.write(out);
        self.targets.write(out);
        self.overriding.write(out);
        self.on_conflict.write(out);
        self.merge_actions.write(out);
        self.merge_join.write(out);
        self.returning.write(out);
        self.group_by.write(out);
        self.group_distinct.write(out);
        self.grouping_sets.write(out);
        self.having.write(out);
        self.windows.write(out);
        self.distinct.write(out);
        self.distinct_on.write(out);
        self.order_by.write(out);
        self.offset.write(out);
        self.limit.write(out);
        self.with_ties.write(out);
        self.row_marks.write(out);
        self.set_operation.write(out);
        for flag in [
            self.has_aggregates,
            self.has_windows,
            self.has_target_srfs,
            self.has_sublinks,
            self.has_modifying_cte,
            self.has_for_update,
        ] {
            flag.write(out);
        }
        let [old, new] = &self.row_names;
        let named = old.is_some() || new.is_some();
        let last = [!self.view_checks.is_empty(), self.instead.is_some(), !self.grouping.is_empty(), named];
        if last.contains(&true) {
            self.view_checks.write(out);
        }
        if last[1..].contains(&true) {
            self.instead.write(out);
        }
        if last[2..].contains(&true) {
            self.grouping.write(out);
        }
        if named {
            old.write(out);
            new.write(out);
        }
        out.push_str(" }");
    }
    fn read(r: &mut Reader<'_>) -> SqlResult<Self> {
        r.expect('{')?;
        let mut query = Query {
            command: Stored::read(r)?,
            utility: None,
            view_checks: Vec::new(),
            instead: None,
            grouping: Vec::new(),
            row_names: Default::default(),
            target: Stored::read(r)?,
            ctes: Stored::read(r)?,
            recursive: Stored::read(r)?,
            range_table: Stored::read(r)?,
            join_tree: Stored::read(r)?,
            targets: Stored::read(r)?,
            overriding: Stored::read(r)?,
            on_conflict: Stored::read(r)?,
            merge_actions: Stored::read(r)?,
            merge_join: Stored::read(r)?,
            returning: Stored::read(r)?,
            group_by: Stored::read(r)?,
            group_distinct: Stored::read(r)?,
            grouping_sets: Stored::read(r)?,
            having: Stored::read(r)?,
            windows: Stored::read(r)?,
            distinct: Stored::read(r)?,
            distinct_on: Stored::read(r)?,
            order_by: Stored::read(r)?,
            offset: Stored::read(r)?,
            limit: Stored::read(r)?,
            with_ties: Stored::read(r)?,
            row_marks: Stored::read(r)?,
            set_operation: Stored::read(r)?,
            has_aggregates: Stored::read(r)?,
            has_windows: Stored::read(r)?,
            has_target_srfs: Stored::read(r)?,
            has_sublinks: Stored::read(r)?,
            has_modifying_cte: Stored::read(r)?,
            has_for_update: Stored::read(r)?,
        };
        if r.peek() != Some('}') {
            query.view_checks = Stored::read(r)?;
        }
        if r.peek() != Some('}') {
            query.instead = Stored::read(r)?;
        }
        if r.peek() != Some('}') {
            query.grouping = Stored::read(r)?;
        }
        if r.peek() != Some('}') {
            query.row_names = [Stored::read(r)?, Stored::read(r)?];
        }
        r.expect('}')?;
        Ok(query)
    }
}
