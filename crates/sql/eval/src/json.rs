//! SQL/JSON: constructors, IS JSON, path functions and JSON_TABLE, evaluated.
//!
//! PostgreSQL counterpart: `ExecEvalJsonConstructor`, `ExecEvalJsonExprPath` and their neighbours of `execExprInterp.c`, and the executor's
//! part of `jsonpath_exec.c`. Errors that PostgreSQL's input functions report softly are those of the classes that `is_soft` names.

use analyze::{
    IsJson, Json, JsonBehavior, JsonBehaviorKind, JsonCoercion, JsonConstructor, JsonConstructorKind,
    JsonFormatKind, JsonItemKind, JsonPassing, JsonPath, JsonPathOp, JsonTable, JsonTablePath, JsonWrapper,
};
use base::{Oid, SqlError, SqlResult, sql_err};
use plan::ParamId;
use smallvec::SmallVec;
use tuple::Datum;
use types::json::path::{Outcome, PathUse, ScalarForm, Variable, Wrapping};
use types::json::{Construction, DocumentKind};
use types::oids;
use types::value::str_of;

use crate::code::{Code, Rows};
use crate::cx::Cx;

/// A node of SQL/JSON, compiled.
pub struct JsonCode {
    /// The node.
    pub node: Json<Code>,
    /// Holds the document that is converted, the item of a row of JSON_TABLE.
    pub cell: ParamId,
    /// Types of a constructor's arguments, of PASSING, of the operand of IS JSON.
    pub types: Vec<Oid>,
    /// The base type of RETURNING is `integer`.
    pub integer: bool,
}

/// Whether an error is one of the value, to which ON ERROR applies.
fn is_soft(error: &SqlError) -> bool {
    matches!(&error.code().as_str()[..2], "22" | "23" | "42")
}

impl JsonCode {
    /// The value of a node that is no JSON_TABLE.
    pub fn eval(&self, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<Datum> {
        match &self.node {
            Json::Value(v) => v.formatted.eval(rows, cx),
            Json::Constructor(c) => self.construct(c, rows, cx),
            Json::Is(i) => self.is_json(i, rows, cx),
            Json::Path(p) => self.path(p, rows, cx),
            Json::Table(_) => Err(SqlError::internal("JSON_TABLE outside FROM")),
        }
    }

    fn construct(&self, c: &JsonConstructor<Code>, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<Datum> {
        let mut args: SmallVec<[Datum; 4]> = SmallVec::new();
        for arg in &c.args {
            args.push(arg.eval(rows, cx)?);
        }
        let how = Construction {
            binary: c.returning.format.kind == JsonFormatKind::Jsonb,
            unique: c.unique,
            absent_on_null: c.absent_on_null,
        };
        let call = cx.call(&self.types, c.returning.type_oid, Oid::INVALID, false);
        let first = args.first().unwrap_or(&Datum::Null);
        let made = match c.kind {
            JsonConstructorKind::Object => types::json::object(how, &self.types, &args, &call)?,
            JsonConstructorKind::Array => types::json::array(how, &self.types, &args, &call)?,
            JsonConstructorKind::Scalar => {
                let type_oid = self.types.first().copied().unwrap_or_default();
                types::json::scalar(how.binary, type_oid, first, &call)?
            }
            JsonConstructorKind::Parse if c.unique => types::json::parse_unique(how.binary, first)?,
            JsonConstructorKind::Parse | JsonConstructorKind::Serialize => first.clone(),
            JsonConstructorKind::ObjectAgg | JsonConstructorKind::ArrayAgg => match &c.call {
                Some(call) => call.eval(rows, cx)?,
                None => return Err(SqlError::internal("JSON aggregate without its call")),
            },
        };
        match &c.coercion {
            None => Ok(made),
            Some(coercion) => {
                cx.set(self.cell, made);
                coercion.eval(rows, cx)
            }
        }
    }

    fn is_json(&self, i: &IsJson<Code>, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<Datum> {
        let value = i.arg.eval(rows, cx)?;
        if value.is_null() {
            return Ok(Datum::Null);
        }
        let kind = match i.item {
            JsonItemKind::Any => DocumentKind::Any,
            JsonItemKind::Object => DocumentKind::Object,
            JsonItemKind::Array => DocumentKind::Array,
            JsonItemKind::Scalar => DocumentKind::Scalar,
        };
        let type_oid = self.types.first().copied().unwrap_or(oids::text);
        types::json::is_document(type_oid, &value, kind, i.unique).map(Datum::Bool)
    }

    fn path(&self, p: &JsonPath<Code>, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<Datum> {
        let document = p.context.eval(rows, cx)?;
        let path = p.path.eval(rows, cx)?;
        let silent = p.on_error.kind != JsonBehaviorKind::Error;
        if document.is_null() || path.is_null() {
            return self.converted(p, Datum::Null, silent, rows, cx);
        }
        let values = passed(&p.passing, rows, cx)?;
        let variables = variables(&p.passing, &values, &self.types);
        let used = PathUse {
            document: &document,
            path: &path,
            variables: &variables,
            silent,
            column: p.column.as_deref(),
        };
        let call = cx.call(&[], p.returning.type_oid, Oid::INVALID, false);
        let outcome = match p.op {
            JsonPathOp::Exists => match used.exists(&call)? {
                Some(found) => Outcome::Found(Datum::Bool(found)),
                None => Outcome::Error,
            },
            JsonPathOp::Value => used.value(scalar_form(p), &call)?,
            JsonPathOp::Query | JsonPathOp::Table => used.query(wrapping(p.wrapper), &call)?,
        };
        match (outcome, &p.on_empty) {
            (Outcome::Found(value), _) => self.converted(p, value, silent, rows, cx),
            (Outcome::Empty, Some(b)) if b.kind != JsonBehaviorKind::Error => {
                self.behave(p, b, "ON EMPTY", rows, cx)
            }
            (Outcome::Empty, None) if silent => self.behave(p, &p.on_error, "ON ERROR", rows, cx),
            (Outcome::Empty, _) => Err(match &p.column {
                None => sql_err!(NO_SQL_JSON_ITEM, "no SQL/JSON item found for specified path"),
                Some(column) => sql_err!(
                    NO_SQL_JSON_ITEM,
                    "no SQL/JSON item found for specified path of column \"{column}\""
                ),
            }),
            (Outcome::Error, _) => self.behave(p, &p.on_error, "ON ERROR", rows, cx),
        }
    }

    /// What was found in the type of RETURNING, or what ON ERROR says.
    fn converted(
        &self,
        p: &JsonPath<Code>,
        value: Datum,
        silent: bool,
        rows: Rows<'_>,
        cx: &mut Cx<'_>,
    ) -> SqlResult<Datum> {
        match self.convert(p, value, cx) {
            Err(error) if silent && is_soft(&error) => self.behave(p, &p.on_error, "ON ERROR", rows, cx),
            result => result,
        }
    }

    fn convert(&self, p: &JsonPath<Code>, value: Datum, cx: &Cx<'_>) -> SqlResult<Datum> {
        let (type_oid, typmod) = (p.returning.type_oid, p.returning.typmod);
        let call = cx.call(&[], type_oid, p.collation, false);
        match (p.coercion, value) {
            (JsonCoercion::Nothing, value) => Ok(value),
            (JsonCoercion::Input, Datum::Null) => Ok(Datum::Null),
            (JsonCoercion::Populate, Datum::Null) => types::json::null_of(type_oid, &call),
            (JsonCoercion::Input, Datum::Bytes(text)) => types::input(type_oid, str_of(&text), typmod, &call),
            // EXISTS in the type of a column.
            (_, Datum::Bool(found)) if self.integer => {
                types::input(type_oid, if found { "1" } else { "0" }, typmod, &call)
            }
            (_, Datum::Bool(found)) => {
                types::input(type_oid, if found { "true" } else { "false" }, typmod, &call)
            }
            (_, document) => types::json::typed(&document, type_oid, typmod, p.omit_quotes, &call),
        }
    }

    /// The value of ON EMPTY or ON ERROR.
    fn behave(
        &self,
        p: &JsonPath<Code>,
        b: &JsonBehavior<Code>,
        event: &str,
        rows: Rows<'_>,
        cx: &mut Cx<'_>,
    ) -> SqlResult<Datum> {
        let Some(code) = &b.value else { return Err(SqlError::internal("no value of a behavior")) };
        let reported = |error: SqlError| match p.on_error.kind != JsonBehaviorKind::Error && is_soft(&error) {
            true => sql_err!(
                DATATYPE_MISMATCH,
                "could not coerce {event} expression ({}) to the RETURNING type",
                analyze::json_text::behavior_words(b.kind)
            )
            .detail(error.message().to_owned()),
            false => error,
        };
        if !b.coerce {
            let value = code.eval(rows, cx);
            return if matches!(code, Code::Domain(_)) { value.map_err(reported) } else { value };
        }
        let value = code.eval(rows, cx)?;
        let (type_oid, typmod) = (p.returning.type_oid, p.returning.typmod);
        let call = cx.call(&[], type_oid, p.collation, false);
        let typed = match value {
            Datum::Null => types::json::null_of(type_oid, &call),
            document => types::json::typed(&document, type_oid, typmod, p.omit_quotes, &call),
        };
        typed.map_err(reported)
    }

    /// The rows of JSON_TABLE.
    pub fn table(&self, rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<Vec<Vec<Datum>>> {
        let Json::Table(t) = &self.node else { return Err(SqlError::internal("not JSON_TABLE")) };
        let document = t.context.eval(rows, cx)?;
        let mut out = Vec::new();
        if document.is_null() {
            return Ok(out);
        }
        let values = passed(&t.passing, rows, cx)?;
        let variables = variables(&t.passing, &values, &self.types);
        let mut fill = TableFill { code: self, table: t, variables: &variables, rows, out: &mut out };
        let mut row = vec![Datum::Null; t.root.width()];
        fill.path(&t.root, 0, &document, &mut row, cx)?;
        Ok(out)
    }
}

/// JSON_TABLE under way.
struct TableFill<'t, 'r> {
    code: &'t JsonCode,
    table: &'t JsonTable<Code>,
    variables: &'t [Variable<'t>],
    rows: Rows<'r>,
    out: &'t mut Vec<Vec<Datum>>,
}

impl TableFill<'_, '_> {
    /// Adds the rows of a path, whose columns begin at `start`; gives whether there were any.
    fn path(
        &mut self,
        path: &JsonTablePath<Code>,
        start: usize,
        document: &Datum,
        row: &mut Vec<Datum>,
        cx: &mut Cx<'_>,
    ) -> SqlResult<bool> {
        runtime::check_stack()?;
        let text = Datum::text(&path.path);
        let used = PathUse {
            document,
            path: &text,
            variables: self.variables,
            silent: !self.table.error_on_error,
            column: None,
        };
        let items = used.items(&cx.call(&[], oids::jsonb, Oid::INVALID, false))?.unwrap_or_default();
        for (number, item) in items.iter().enumerate() {
            runtime::check_interrupts().map_err(crate::error::interrupted)?;
            for (i, column) in path.columns.iter().enumerate() {
                row[start + i] = match &column.value {
                    None => Datum::Int4(i32::try_from(number + 1).unwrap_or(i32::MAX)),
                    Some(code) => {
                        cx.set(self.code.cell, item.clone());
                        code.eval(self.rows, cx)?
                    }
                };
            }
            let mut at = start + path.columns.len();
            let mut any = false;
            for nested in &path.nested {
                any |= self.path(nested, at, item, row, cx)?;
                at += nested.width();
            }
            if !any {
                self.out.push(row.clone());
            }
        }
        // What stands beside or around sees NULLs here.
        row[start..start + path.width()].fill(Datum::Null);
        Ok(!items.is_empty())
    }
}

fn passed(list: &[JsonPassing<Code>], rows: Rows<'_>, cx: &mut Cx<'_>) -> SqlResult<SmallVec<[Datum; 2]>> {
    list.iter().map(|p| p.value.eval(rows, cx)).collect()
}

fn variables<'v>(
    list: &'v [JsonPassing<Code>],
    values: &'v [Datum],
    types: &[Oid],
) -> SmallVec<[Variable<'v>; 2]> {
    let of = |((p, value), type_oid): ((&'v JsonPassing<Code>, &'v Datum), &Oid)| Variable {
        name: &p.name,
        type_oid: *type_oid,
        value,
    };
    list.iter().zip(values).zip(types).map(of).collect()
}

fn wrapping(wrapper: JsonWrapper) -> Wrapping {
    match wrapper {
        JsonWrapper::Unspecified | JsonWrapper::Without => Wrapping::Never,
        JsonWrapper::Conditional => Wrapping::IfMany,
        JsonWrapper::Unconditional => Wrapping::Always,
    }
}

fn scalar_form(p: &JsonPath<Code>) -> ScalarForm {
    match (p.returning.type_oid, p.coercion) {
        (oids::json | oids::jsonb, _) => ScalarForm::JsonText,
        (_, JsonCoercion::Populate) => ScalarForm::Jsonb,
        _ => ScalarForm::Text,
    }
}
