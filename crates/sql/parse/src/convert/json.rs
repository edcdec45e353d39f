//! SQL/JSON.

use base::SqlResult;
use rupg_sql::nodes as n;

use super::{Converter, alias, loc, shape, text_of};
use crate::ast::{
    Expr, JsonAggregate, JsonBehavior, JsonBehaviorKind, JsonColumnKind, JsonEncoding, JsonExpr, JsonFormat,
    JsonFormatKind, JsonItemKind, JsonOutput, JsonPathCall, JsonPathOp, JsonQuotes, JsonTable,
    JsonTableColumn, JsonTablePath, JsonValue, JsonWrapper, Literal,
};

impl Converter<'_> {
    /// An expression of SQL/JSON; `None` if the node is none.
    pub(super) fn json_expr(&mut self, node: n::Node) -> SqlResult<Option<Expr>> {
        let json = match node {
            n::Node::JsonObjectConstructor(c) => JsonExpr::Object {
                pairs: self.json_pairs(c.exprs)?,
                absent_on_null: c.absent_on_null,
                unique: c.unique,
                output: self.json_output(c.output)?,
                location: loc(c.location),
            },
            n::Node::JsonArrayConstructor(c) => JsonExpr::Array {
                elements: self.json_values(c.exprs)?,
                absent_on_null: c.absent_on_null,
                output: self.json_output(c.output)?,
                location: loc(c.location),
            },
            n::Node::JsonArrayQueryConstructor(c) => JsonExpr::ArrayQuery {
                query: self.select_node(c.query)?,
                format: format(c.format),
                absent_on_null: c.absent_on_null,
                output: self.json_output(c.output)?,
                location: loc(c.location),
            },
            n::Node::JsonObjectAgg(a) => {
                let pair = a.arg.ok_or_else(|| shape("JSON_OBJECTAGG"))?;
                JsonExpr::ObjectAgg {
                    key: self.expr(pair.key)?,
                    value: self.json_value(pair.value)?,
                    unique: a.unique,
                    call: self.json_aggregate(a.constructor, a.absent_on_null)?,
                }
            }
            n::Node::JsonArrayAgg(a) => JsonExpr::ArrayAgg {
                value: self.json_value(a.arg)?,
                call: self.json_aggregate(a.constructor, a.absent_on_null)?,
            },
            n::Node::JsonParseExpr(p) => JsonExpr::Parse {
                value: self.json_value(p.expr)?,
                unique: p.unique_keys,
                output: self.json_output(p.output)?,
                location: loc(p.location),
            },
            n::Node::JsonScalarExpr(s) => JsonExpr::Scalar {
                value: self.expr(s.expr)?,
                output: self.json_output(s.output)?,
                location: loc(s.location),
            },
            n::Node::JsonSerializeExpr(s) => JsonExpr::Serialize {
                value: self.json_value(s.expr)?,
                output: self.json_output(s.output)?,
                location: loc(s.location),
            },
            n::Node::JsonIsPredicate(p) => JsonExpr::Is {
                value: self.expr(p.expr)?,
                format: format(p.format),
                item: match p.item_type {
                    n::JsonValueType::JS_TYPE_OBJECT => JsonItemKind::Object,
                    n::JsonValueType::JS_TYPE_ARRAY => JsonItemKind::Array,
                    n::JsonValueType::JS_TYPE_SCALAR => JsonItemKind::Scalar,
                    _ => JsonItemKind::Any,
                },
                unique: p.unique_keys,
                location: loc(p.location),
            },
            n::Node::JsonFuncExpr(f) => JsonExpr::Path(self.json_path_call(*f)?),
            _ => return Ok(None),
        };
        Ok(Some(Expr::Json(Box::new(json))))
    }

    fn json_pairs(&mut self, list: n::List) -> SqlResult<Vec<(Expr, JsonValue)>> {
        let mut pairs = Vec::with_capacity(list.len());
        for node in list.into_iter().flatten() {
            let n::Node::JsonKeyValue(pair) = node else { return Err(shape("JSON_OBJECT")) };
            pairs.push((self.expr(pair.key)?, self.json_value(pair.value)?));
        }
        Ok(pairs)
    }

    fn json_values(&mut self, list: n::List) -> SqlResult<Vec<JsonValue>> {
        let mut values = Vec::with_capacity(list.len());
        for node in list.into_iter().flatten() {
            let n::Node::JsonValueExpr(value) = node else { return Err(shape("JSON_ARRAY")) };
            values.push(self.json_value(Some(value))?);
        }
        Ok(values)
    }

    fn json_value(&mut self, value: Option<Box<n::JsonValueExpr>>) -> SqlResult<JsonValue> {
        let value = value.ok_or_else(|| shape("JSON value"))?;
        Ok(JsonValue { value: self.expr(value.raw_expr)?, format: format(value.format) })
    }

    fn json_output(&mut self, output: Option<Box<n::JsonOutput>>) -> SqlResult<Option<JsonOutput>> {
        let Some(output) = output else { return Ok(None) };
        let format = format(output.returning.and_then(|r| r.format));
        Ok(Some(JsonOutput { type_name: self.boxed_type(output.typeName)?, format }))
    }

    fn json_aggregate(
        &mut self,
        constructor: Option<Box<n::JsonAggConstructor>>,
        absent_on_null: bool,
    ) -> SqlResult<JsonAggregate> {
        let c = constructor.ok_or_else(|| shape("JSON aggregate"))?;
        Ok(JsonAggregate {
            output: self.json_output(c.output)?,
            filter: self.opt_expr(c.agg_filter)?,
            order_by: self.sort_list(c.agg_order)?,
            over: c.over.map(|w| self.window(*w)).transpose()?,
            absent_on_null,
            location: loc(c.location),
        })
    }

    fn json_path_call(&mut self, f: n::JsonFuncExpr) -> SqlResult<JsonPathCall> {
        Ok(JsonPathCall {
            op: match f.op {
                n::JsonExprOp::JSON_EXISTS_OP => JsonPathOp::Exists,
                n::JsonExprOp::JSON_QUERY_OP => JsonPathOp::Query,
                n::JsonExprOp::JSON_VALUE_OP => JsonPathOp::Value,
                _ => return Err(shape("JSON function")),
            },
            column: None,
            context: self.json_value(f.context_item)?,
            path: self.expr(f.pathspec)?,
            passing: self.json_passing(f.passing)?,
            output: self.json_output(f.output)?,
            on_empty: self.json_behavior(f.on_empty)?,
            on_error: self.json_behavior(f.on_error)?,
            wrapper: wrapper(f.wrapper),
            quotes: quotes(f.quotes),
            location: loc(f.location),
        })
    }

    fn json_passing(&mut self, list: n::List) -> SqlResult<Vec<(String, JsonValue)>> {
        let mut passing = Vec::with_capacity(list.len());
        for node in list.into_iter().flatten() {
            let n::Node::JsonArgument(a) = node else { return Err(shape("PASSING")) };
            passing.push((text_of(a.name), self.json_value(a.val)?));
        }
        Ok(passing)
    }

    fn json_behavior(&mut self, b: Option<Box<n::JsonBehavior>>) -> SqlResult<Option<JsonBehavior>> {
        let Some(b) = b else { return Ok(None) };
        use JsonBehaviorKind as Kind;
        use n::JsonBehaviorType as Type;
        let kind = match b.btype {
            Type::JSON_BEHAVIOR_NULL => Kind::Null,
            Type::JSON_BEHAVIOR_ERROR => Kind::Error,
            Type::JSON_BEHAVIOR_EMPTY => Kind::Empty,
            Type::JSON_BEHAVIOR_TRUE => Kind::True,
            Type::JSON_BEHAVIOR_FALSE => Kind::False,
            Type::JSON_BEHAVIOR_UNKNOWN => Kind::Unknown,
            Type::JSON_BEHAVIOR_EMPTY_ARRAY => Kind::EmptyArray,
            Type::JSON_BEHAVIOR_EMPTY_OBJECT => Kind::EmptyObject,
            Type::JSON_BEHAVIOR_DEFAULT => Kind::Default,
            _ => return Err(shape("JSON behavior")),
        };
        Ok(Some(JsonBehavior { kind, value: self.opt_expr(b.expr)?, location: loc(b.location) }))
    }

    /// JSON_TABLE.
    pub(super) fn json_table(&mut self, t: n::JsonTable) -> SqlResult<JsonTable> {
        Ok(JsonTable {
            context: self.json_value(t.context_item)?,
            path: table_path(t.pathspec)?.ok_or_else(|| shape("JSON_TABLE"))?,
            passing: self.json_passing(t.passing)?,
            columns: self.json_columns(t.columns)?,
            on_error: self.json_behavior(t.on_error)?,
            alias: alias(t.alias)?,
            lateral: t.lateral,
            location: loc(t.location),
        })
    }

    fn json_columns(&mut self, list: n::List) -> SqlResult<Vec<JsonTableColumn>> {
        let mut columns = Vec::with_capacity(list.len());
        for node in list.into_iter().flatten() {
            let n::Node::JsonTableColumn(c) = node else { return Err(shape("JSON_TABLE")) };
            columns.push(self.deeper(|converter| converter.json_column(*c))?);
        }
        Ok(columns)
    }

    fn json_column(&mut self, c: n::JsonTableColumn) -> SqlResult<JsonTableColumn> {
        let kind = match c.coltype {
            n::JsonTableColumnType::JTC_FOR_ORDINALITY => JsonColumnKind::Ordinality,
            n::JsonTableColumnType::JTC_REGULAR => JsonColumnKind::Regular,
            n::JsonTableColumnType::JTC_EXISTS => JsonColumnKind::Exists,
            n::JsonTableColumnType::JTC_FORMATTED => JsonColumnKind::Formatted,
            _ => JsonColumnKind::Nested(self.json_columns(c.columns)?),
        };
        Ok(JsonTableColumn {
            kind,
            name: text_of(c.name),
            type_name: c.typeName.map(|t| self.type_name(*t)).transpose()?,
            path: table_path(c.pathspec)?,
            format: format(c.format),
            wrapper: wrapper(c.wrapper),
            quotes: quotes(c.quotes),
            on_empty: self.json_behavior(c.on_empty)?,
            on_error: self.json_behavior(c.on_error)?,
            location: loc(c.location),
        })
    }
}

fn format(format: Option<Box<n::JsonFormat>>) -> JsonFormat {
    let Some(format) = format else { return JsonFormat::default() };
    JsonFormat {
        kind: match format.format_type {
            n::JsonFormatType::JS_FORMAT_JSON => JsonFormatKind::Json,
            n::JsonFormatType::JS_FORMAT_JSONB => JsonFormatKind::Jsonb,
            _ => JsonFormatKind::Default,
        },
        encoding: match format.encoding {
            n::JsonEncoding::JS_ENC_UTF8 => JsonEncoding::Utf8,
            n::JsonEncoding::JS_ENC_UTF16 => JsonEncoding::Utf16,
            n::JsonEncoding::JS_ENC_UTF32 => JsonEncoding::Utf32,
            _ => JsonEncoding::Default,
        },
        location: loc(format.location),
    }
}

fn wrapper(wrapper: n::JsonWrapper) -> JsonWrapper {
    match wrapper {
        n::JsonWrapper::JSW_NONE => JsonWrapper::Without,
        n::JsonWrapper::JSW_CONDITIONAL => JsonWrapper::Conditional,
        n::JsonWrapper::JSW_UNCONDITIONAL => JsonWrapper::Unconditional,
        _ => JsonWrapper::Unspecified,
    }
}

fn quotes(quotes: n::JsonQuotes) -> JsonQuotes {
    match quotes {
        n::JsonQuotes::JS_QUOTES_KEEP => JsonQuotes::Keep,
        n::JsonQuotes::JS_QUOTES_OMIT => JsonQuotes::Omit,
        _ => JsonQuotes::Unspecified,
    }
}

fn table_path(spec: Option<Box<n::JsonTablePathSpec>>) -> SqlResult<Option<JsonTablePath>> {
    let Some(spec) = spec else { return Ok(None) };
    let text = match spec.string {
        Some(n::Node::A_Const(c)) => match super::expr::literal(*c)? {
            Literal::String(text) => text,
            _ => return Err(shape("JSON_TABLE path")),
        },
        _ => return Err(shape("JSON_TABLE path")),
    };
    Ok(Some(JsonTablePath {
        text,
        name: super::opt_text(spec.name),
        name_location: loc(spec.name_location),
        location: loc(spec.location),
    }))
}
