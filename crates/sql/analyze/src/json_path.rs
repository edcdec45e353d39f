//! JSON_EXISTS, JSON_QUERY, JSON_VALUE and JSON_TABLE: from syntax to typed trees.
//!
//! PostgreSQL counterpart: `transformJsonFuncExpr` of `parse_expr.c`, `parse_jsontable.c`.

use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::view::TypeKind;
use parse::ast;
use tuple::Datum;
use types::oids;

use crate::coerce::{Coercion, location_of, null_const, returns_set};
use crate::core::{Analyzer, NsItem, Place};
use crate::expr::{CaseTest, CoercionForm, Const, Expr, Location};
use crate::json::{ValueUse, node};
use crate::json_tree::*;
use crate::query::{ColumnType, Functions, RangeFunction, RteKind};

/// What the path functions and the columns of JSON_TABLE have in common, as written.
struct PathParts<'p> {
    op: JsonPathOp,
    column: Option<&'p str>,
    path: &'p ast::Expr,
    passing: &'p [(String, ast::JsonValue)],
    output: Option<&'p ast::JsonOutput>,
    on_empty: Option<&'p ast::JsonBehavior>,
    on_error: Option<&'p ast::JsonBehavior>,
    wrapper: JsonWrapper,
    quotes: ast::JsonQuotes,
    format: JsonFormat,
    location: Location,
}

/// JSON_TABLE under way.
struct TableState<'t> {
    passing: &'t [(String, ast::JsonValue)],
    /// Names of paths and columns so far.
    names: Vec<String>,
    /// Names of paths made up so far.
    unnamed: usize,
    /// Type of the document.
    context: Oid,
}

fn function_name(op: JsonPathOp) -> &'static str {
    match op {
        JsonPathOp::Exists => "JSON_EXISTS",
        JsonPathOp::Query => "JSON_QUERY",
        JsonPathOp::Value => "JSON_VALUE",
        JsonPathOp::Table => "JSON_TABLE",
    }
}

/// Whether a function knows what to do so, and its answers in words: of the function, and of columns of its kind.
fn allowed(op: JsonPathOp, kind: JsonBehaviorKind) -> Option<(&'static str, &'static str)> {
    use JsonBehaviorKind as Kind;
    let (fine, words, columns) = match op {
        JsonPathOp::Exists => (
            matches!(kind, Kind::Error | Kind::True | Kind::False | Kind::Unknown),
            "ERROR, TRUE, FALSE, or UNKNOWN",
            "EXISTS",
        ),
        JsonPathOp::Query | JsonPathOp::Table => (
            matches!(
                kind,
                Kind::Error | Kind::Null | Kind::Empty | Kind::EmptyArray | Kind::EmptyObject | Kind::Default
            ),
            "ERROR, NULL, EMPTY ARRAY, EMPTY OBJECT, or DEFAULT expression",
            "formatted",
        ),
        JsonPathOp::Value => (
            matches!(kind, Kind::Error | Kind::Null | Kind::Default),
            "ERROR, NULL, or DEFAULT expression",
            "scalar",
        ),
    };
    (!fine).then_some((words, columns))
}

impl Analyzer<'_> {
    /// JSON_EXISTS, JSON_QUERY, JSON_VALUE.
    pub(crate) fn json_path(&mut self, call: &ast::JsonPathCall) -> SqlResult<Expr> {
        let parts = PathParts {
            op: call.op,
            column: call.column.as_deref(),
            path: &call.path,
            passing: &call.passing,
            output: call.output.as_ref(),
            on_empty: call.on_empty.as_ref(),
            on_error: call.on_error.as_ref(),
            wrapper: call.wrapper,
            quotes: call.quotes,
            format: JsonFormat { kind: call.context.format.kind, encoding: call.context.format.encoding },
            location: call.location,
        };
        self.check_path_clauses(&parts)?;
        let context = self.json_context(&call.context, call.op)?;
        self.json_path_over(context, &parts)
    }

    /// The document that a path is followed through, as `jsonb`.
    fn json_context(&mut self, value: &ast::JsonValue, op: JsonPathOp) -> SqlResult<Expr> {
        let default = if op == JsonPathOp::Value { JsonFormatKind::Default } else { JsonFormatKind::Jsonb };
        let wanted = ValueUse { function: function_name(op), default, target: oids::jsonb, passing: false };
        self.json_value(value, wanted)
    }

    fn check_path_clauses(&self, p: &PathParts<'_>) -> SqlResult<()> {
        if p.op != JsonPathOp::Query
            && let Some(output) = p.output
            && p.column.is_none()
            && (output.format.kind != JsonFormatKind::Default
                || output.format.encoding != JsonEncoding::Default)
        {
            let name = function_name(p.op);
            let error = sql_err!(SYNTAX_ERROR, "cannot specify FORMAT JSON in RETURNING clause of {name}()");
            return Err(self.at(error, output.format.location));
        }
        let wrapped = matches!(p.wrapper, JsonWrapper::Conditional | JsonWrapper::Unconditional);
        if p.op == JsonPathOp::Query && p.quotes == ast::JsonQuotes::Omit && wrapped {
            let message = "SQL/JSON QUOTES behavior must not be specified when WITH WRAPPER is used";
            return Err(self.at(sql_err!(SYNTAX_ERROR, "{message}"), p.location));
        }
        for (behavior, event) in [(p.on_empty, "ON EMPTY"), (p.on_error, "ON ERROR")] {
            let Some(b) = behavior else { continue };
            let Some((words, columns)) = allowed(p.op, b.kind) else { continue };
            let error = match p.column {
                None => sql_err!(SYNTAX_ERROR, "invalid {event} behavior")
                    .detail(format!("Only {words} is allowed in {event} for {}().", function_name(p.op))),
                Some(column) => sql_err!(SYNTAX_ERROR, "invalid {event} behavior for column \"{column}\"")
                    .detail(format!("Only {words} is allowed in {event} for {columns} columns.")),
            };
            return Err(self.at(error, b.location));
        }
        Ok(())
    }

    /// A constant or expression as a path.
    fn json_path_spec(&mut self, path: &ast::Expr) -> SqlResult<Expr> {
        let path = self.expr(path)?;
        let (source, location) = (self.type_of(&path), location_of(&path));
        let how = Coercion { form: CoercionForm::ImplicitCast, ..Coercion::explicit(location) };
        match self.coerce_to(path, oids::jsonpath, -1, how)? {
            Some(path) => Ok(path),
            None => {
                let shown = self.type_text(source);
                let error = sql_err!(
                    DATATYPE_MISMATCH,
                    "JSON path expression must be of type jsonpath, not of type {shown}"
                );
                Err(self.at(error, location))
            }
        }
    }

    fn json_passing(
        &mut self,
        list: &[(String, ast::JsonValue)],
        op: JsonPathOp,
    ) -> SqlResult<Vec<JsonPassing<Expr>>> {
        let wanted = ValueUse {
            function: function_name(op),
            default: JsonFormatKind::Jsonb,
            target: Oid::INVALID,
            passing: true,
        };
        list.iter()
            .map(|(name, value)| {
                Ok(JsonPassing { name: name.clone(), value: self.json_value(value, wanted)? })
            })
            .collect()
    }

    fn json_path_over(&mut self, context: Expr, p: &PathParts<'_>) -> SqlResult<Expr> {
        let path = self.json_path_spec(p.path)?;
        let passing = self.json_passing(p.passing, p.op)?;
        let mut returning = self.json_output(p.output, false)?;
        let default = |r: &mut JsonReturning, t: Oid| {
            if !r.type_oid.is_valid() {
                (r.type_oid, r.typmod) = (t, -1);
                r.format.kind =
                    if t == oids::jsonb { JsonFormatKind::Jsonb } else { JsonFormatKind::Default };
            }
        };
        let mut omit_quotes = false;
        let mut coercion = JsonCoercion::Nothing;
        let implied = match p.op {
            JsonPathOp::Exists => {
                default(&mut returning, oids::bool);
                if returning.type_oid != oids::bool {
                    coercion = JsonCoercion::Populate;
                }
                JsonBehaviorKind::False
            }
            JsonPathOp::Query | JsonPathOp::Table => {
                default(&mut returning, oids::jsonb);
                omit_quotes = p.quotes == ast::JsonQuotes::Omit;
                if returning.type_oid != oids::jsonb || omit_quotes {
                    coercion = JsonCoercion::Populate;
                }
                JsonBehaviorKind::Null
            }
            JsonPathOp::Value => {
                default(&mut returning, oids::text);
                returning.format = JsonFormat::default();
                omit_quotes = true;
                if returning.type_oid != oids::text {
                    coercion = match self.is_constrained_domain(returning.type_oid)? {
                        true => JsonCoercion::Populate,
                        false => JsonCoercion::Input,
                    };
                }
                JsonBehaviorKind::Null
            }
        };
        let on_empty = match p.op {
            JsonPathOp::Exists => None,
            _ => Some(self.json_behavior(p.on_empty, implied, &returning)?),
        };
        let on_error = self.json_behavior(p.on_error, implied, &returning)?;
        Ok(node(Json::Path(JsonPath {
            op: p.op,
            column: p.column.map(str::to_owned),
            context,
            path,
            passing,
            collation: self.type_collation(returning.type_oid)?,
            returning,
            on_empty,
            on_error,
            coercion,
            wrapper: p.wrapper,
            omit_quotes,
            format: p.format,
            location: p.location,
        })))
    }

    /// Whether the type is a domain that does not allow every value of the type below.
    fn is_constrained_domain(&self, mut type_oid: Oid) -> SqlResult<bool> {
        while let TypeKind::Domain(d) = self.type_facts(type_oid)?.kind {
            if d.not_null || !d.checks.is_empty() {
                return Ok(true);
            }
            type_oid = d.base;
        }
        Ok(false)
    }

    /// ON EMPTY or ON ERROR, with its value in the type of RETURNING.
    fn json_behavior(
        &mut self,
        written: Option<&ast::JsonBehavior>,
        implied: JsonBehaviorKind,
        returning: &JsonReturning,
    ) -> SqlResult<JsonBehavior<Expr>> {
        let kind = written.map_or(implied, |b| b.kind);
        let location = written.map_or(Location::NONE, |b| b.location);
        let value = match written.and_then(|b| b.value.as_ref()) {
            Some(value) if kind == JsonBehaviorKind::Default => self.json_default(value, returning)?,
            _ if kind == JsonBehaviorKind::Error => {
                return Ok(JsonBehavior { kind, value: None, coerce: false });
            }
            _ => behavior_const(kind, location),
        };
        let source = self.type_of(&value);
        if source == returning.type_oid {
            return Ok(JsonBehavior { kind, value: Some(value), coerce: false });
        }
        let is_null = matches!(&value, Expr::Const(c) if c.value.is_null());
        let integer = self.base_type(returning.type_oid, -1)?.0 == oids::int4;
        if is_null || source == oids::jsonb || (source == oids::bool && !integer) {
            let value = match &value {
                Expr::Const(c) if source == oids::bool => {
                    let text = if c.value == Datum::Bool(true) { "true" } else { "false" };
                    jsonb_const(text, location)
                }
                Expr::Const(c) if c.value.is_null() => null_const(oids::jsonb, -1, Oid::INVALID),
                _ => value,
            };
            return Ok(JsonBehavior { kind, value: Some(value), coerce: true });
        }
        let value = self.json_behavior_cast(value, kind, location, returning)?;
        Ok(JsonBehavior { kind, value: Some(value), coerce: false })
    }

    fn json_behavior_cast(
        &mut self,
        mut value: Expr,
        kind: JsonBehaviorKind,
        location: Location,
        returning: &JsonReturning,
    ) -> SqlResult<Expr> {
        let source = self.type_of(&value);
        let (_, typmod) = self.base_type(returning.type_oid, returning.typmod)?;
        let at = location_of(&value);
        let mut how = Coercion::explicit(location);
        if typmod > 0 {
            if source != oids::unknown || self.type_facts(returning.type_oid)?.category == b'S' {
                value = self.coerce_to_specific(value, oids::text, "JSON_FUNCTION()")?;
            }
            how = Coercion { location, ..Coercion::implicit() };
        }
        if let Some(cast) = self.coerce_to(value, returning.type_oid, typmod, how)? {
            return Ok(cast);
        }
        let (from, to) = (self.type_text(source), self.type_text(returning.type_oid));
        let error = sql_err!(CANNOT_COERCE, "cannot cast behavior expression of type {from} to {to}");
        let error = match kind {
            JsonBehaviorKind::Default => {
                error.hint(format!("You will need to explicitly cast the expression to type {to}."))
            }
            _ => error,
        };
        Err(self.at(error, at))
    }

    /// The value of DEFAULT.
    fn json_default(&mut self, value: &ast::Expr, returning: &JsonReturning) -> SqlResult<Expr> {
        let value = self.expr(value)?;
        let refuse =
            |a: &Self, what: &str| Err(a.at(sql_err!(DATATYPE_MISMATCH, "{what}"), location_of(&value)));
        if !is_default_value(&value) {
            return refuse(
                self,
                "can only specify a constant, non-aggregate function, or operator expression for DEFAULT",
            );
        }
        if crate::walk::contains(&value, |e, depth| matches!(e, Expr::Var(v) if v.levels_up >= depth)) {
            return refuse(self, "DEFAULT expression must not contain column references");
        }
        if returns_set(&value) {
            return refuse(self, "DEFAULT expression must not return a set");
        }
        let own = crate::facts::expr_collation(&value);
        let wanted = self.type_collation(returning.type_oid)?;
        if matches!(value, Expr::Collate(_)) && wanted.is_valid() && own != wanted {
            let names = (crate::collate::name(self, own), crate::collate::name(self, wanted));
            let error = sql_err!(
                COLLATION_MISMATCH,
                "collation of DEFAULT expression conflicts with RETURNING clause"
            )
            .detail(format!("\"{}\" versus \"{}\"", names.0, names.1));
            return Err(self.at(error, location_of(&value)));
        }
        Ok(value)
    }

    /// JSON_TABLE.
    pub(crate) fn json_table(&mut self, t: &ast::JsonTable) -> SqlResult<NsItem> {
        let before = std::mem::replace(&mut self.level().lateral_active, true);
        let result = self.in_place(Place::FromFunction, |a| a.json_table_node(t));
        self.level().lateral_active = before;
        let (table, columns) = result?;
        let call = node(Json::Table(table));
        let lateral = t.lateral
            || crate::walk::contains(&call, |e, depth| matches!(e, Expr::Var(v) if v.levels_up == depth));
        let names = columns.iter().map(|c| c.name.clone()).collect();
        let function = RangeFunction { call, columns: columns.clone(), composite: true };
        let kind = RteKind::Function(Functions { functions: vec![function], ordinality: false });
        let alias = t.alias.as_ref();
        let item = self.add_entry(kind, alias, "json_table", names, &columns, None, Oid::INVALID)?;
        self.level().range_table[item.rte].lateral = lateral;
        Ok(item)
    }

    fn json_table_node(&mut self, t: &ast::JsonTable) -> SqlResult<(JsonTable<Expr>, Vec<ColumnType>)> {
        use JsonBehaviorKind as Kind;
        if let Some(b) = &t.on_error
            && !matches!(b.kind, Kind::Error | Kind::Empty | Kind::EmptyArray)
        {
            let error = sql_err!(SYNTAX_ERROR, "invalid ON ERROR behavior")
                .detail("Only EMPTY [ ARRAY ] or ERROR is allowed in the top-level ON ERROR clause.");
            return Err(self.at(error, b.location));
        }
        let on_error = t.on_error.as_ref().map_or(Kind::EmptyArray, |b| b.kind);
        let mut state =
            TableState { passing: &t.passing, names: Vec::new(), unnamed: 0, context: oids::jsonb };
        let name = self.json_path_name(t.path.name.as_deref(), &mut state);
        state.names.push(name.clone());
        self.check_json_names(&t.columns, &mut state)?;
        let context = self.json_context(&t.context, JsonPathOp::Table)?;
        state.context = self.type_of(&context);
        let mut types = Vec::new();
        let path = self.json_row_path(&t.path)?;
        let passing = self.json_passing(&t.passing, JsonPathOp::Table)?;
        let root = self.json_columns(&t.columns, (path, name), &mut state, &mut types)?;
        let error_on_error = on_error == Kind::Error;
        Ok((JsonTable { context, passing, error_on_error, on_error, root, location: t.location }, types))
    }

    /// The path of rows in its one form.
    fn json_row_path(&self, path: &ast::JsonTablePath) -> SqlResult<String> {
        let value =
            types::input(oids::jsonpath, &path.text, -1, self.call).map_err(|e| self.at(e, path.location))?;
        let mut text = Vec::new();
        types::output(oids::jsonpath, &value, self.call, &mut text)?;
        String::from_utf8(text).map_err(|_| SqlError::internal("path is no text"))
    }

    fn json_path_name(&self, given: Option<&str>, state: &mut TableState<'_>) -> String {
        given.map(str::to_owned).unwrap_or_else(|| {
            state.unnamed += 1;
            format!("json_table_path_{}", state.unnamed - 1)
        })
    }

    /// Names of columns and paths must differ.
    fn check_json_names(
        &self,
        columns: &[ast::JsonTableColumn],
        state: &mut TableState<'_>,
    ) -> SqlResult<()> {
        for c in columns {
            let (name, at) = match (&c.kind, &c.path) {
                (ast::JsonColumnKind::Nested(_), Some(path)) => (path.name.as_ref(), path.name_location),
                _ => (Some(&c.name), c.location),
            };
            if let Some(name) = name {
                if state.names.contains(name) {
                    let error = sql_err!(DUPLICATE_ALIAS, "duplicate JSON_TABLE column or path name: {name}");
                    return Err(self.at(error, at));
                }
                state.names.push(name.clone());
            }
            if let ast::JsonColumnKind::Nested(columns) = &c.kind {
                self.check_json_names(columns, state)?;
            }
        }
        Ok(())
    }

    fn json_columns(
        &mut self,
        columns: &[ast::JsonTableColumn],
        (path, name): (String, String),
        state: &mut TableState<'_>,
        types: &mut Vec<ColumnType>,
    ) -> SqlResult<JsonTablePath<Expr>> {
        runtime::check_stack()?;
        let mut out = JsonTablePath { path, name, columns: Vec::new(), nested: Vec::new() };
        let mut ordinality = false;
        for c in columns {
            let column = match &c.kind {
                ast::JsonColumnKind::Nested(_) => continue,
                ast::JsonColumnKind::Ordinality => {
                    if std::mem::replace(&mut ordinality, true) {
                        let message = "only one FOR ORDINALITY column is allowed";
                        return Err(self.at(sql_err!(SYNTAX_ERROR, "{message}"), c.location));
                    }
                    JsonTableColumn { name: c.name.clone(), type_oid: oids::int4, typmod: -1, value: None }
                }
                kind => self.json_column(c, kind, state)?,
            };
            types.push(ColumnType {
                name: column.name.clone(),
                type_oid: column.type_oid,
                typmod: column.typmod,
                collation: self.type_collation(column.type_oid)?,
            });
            out.columns.push(column);
        }
        for c in columns {
            let (ast::JsonColumnKind::Nested(inner), Some(path)) = (&c.kind, &c.path) else { continue };
            let name = self.json_path_name(path.name.as_deref(), state);
            let path = self.json_row_path(path)?;
            out.nested.push(self.json_columns(inner, (path, name), state, types)?);
        }
        Ok(out)
    }

    /// A column that a path gives.
    fn json_column(
        &mut self,
        c: &ast::JsonTableColumn,
        kind: &ast::JsonColumnKind,
        state: &TableState<'_>,
    ) -> SqlResult<JsonTableColumn<Expr>> {
        let Some(type_name) = &c.type_name else { return Err(crate::expr_transform::shape()) };
        let (type_oid, typmod) = self.type_name(type_name)?;
        let plain = c.quotes == ast::JsonQuotes::Unspecified && c.wrapper == JsonWrapper::Unspecified;
        let op = match kind {
            ast::JsonColumnKind::Exists => JsonPathOp::Exists,
            ast::JsonColumnKind::Regular if plain && !self.is_json_container(type_oid)? => JsonPathOp::Value,
            _ => JsonPathOp::Query,
        };
        let (text, location) = match &c.path {
            Some(path) => (path.text.clone(), path.location),
            None => (format!("$.{}", types::json::quoted(&c.name)), Location::NONE),
        };
        let path = ast::Expr::Const { value: ast::Literal::String(text), location };
        let output = ast::JsonOutput { type_name: type_name.clone(), format: c.format };
        let parts = PathParts {
            op,
            column: Some(&c.name),
            path: &path,
            passing: state.passing,
            output: Some(&output),
            on_empty: c.on_empty.as_ref(),
            on_error: c.on_error.as_ref(),
            wrapper: c.wrapper,
            quotes: c.quotes,
            format: JsonFormat { kind: c.format.kind, encoding: c.format.encoding },
            location: c.location,
        };
        self.check_path_clauses(&parts)?;
        let item = Expr::CaseTest(CaseTest { type_oid: state.context, typmod: -1, collation: Oid::INVALID });
        let value = self.json_path_over(item, &parts)?;
        Ok(JsonTableColumn { name: c.name.clone(), type_oid, typmod, value: Some(value) })
    }

    /// Types whose columns are documents or made of them.
    fn is_json_container(&self, type_oid: Oid) -> SqlResult<bool> {
        let base = self.base_type(type_oid, -1)?.0;
        Ok(matches!(base, oids::json | oids::jsonb | oids::record)
            || self.element_type(base)?.is_valid()
            || self.is_composite(base)?)
    }
}

/// What DEFAULT may be: a constant, a call, an operator, or a conversion of one.
fn is_default_value(e: &Expr) -> bool {
    match e {
        Expr::Const(_) | Expr::Func(_) | Expr::Op(_) => true,
        Expr::IoCast(c) => is_default_value(&c.arg),
        Expr::ToDomain(c) => is_default_value(&c.arg),
        Expr::ArrayCast(c) => is_default_value(&c.arg),
        Expr::RowCast(c) => is_default_value(&c.arg),
        Expr::Relabel(c) => is_default_value(&c.arg),
        Expr::Collate(c) => is_default_value(&c.arg),
        _ => false,
    }
}

fn jsonb_const(text: &str, location: Location) -> Expr {
    let format = types::FormatContext::default();
    let value = types::input(oids::jsonb, text, -1, &types::Call::new(&format)).unwrap_or_default();
    Expr::Const(Const { type_oid: oids::jsonb, typmod: -1, collation: Oid::INVALID, value, location })
}

/// The value of a behavior that is not written out.
fn behavior_const(kind: JsonBehaviorKind, location: Location) -> Expr {
    let boolean = |value| {
        Expr::Const(Const {
            type_oid: oids::bool,
            typmod: -1,
            collation: Oid::INVALID,
            value: Datum::Bool(value),
            location,
        })
    };
    match kind {
        JsonBehaviorKind::EmptyArray => jsonb_const("[]", location),
        JsonBehaviorKind::EmptyObject => jsonb_const("{}", location),
        JsonBehaviorKind::True => boolean(true),
        JsonBehaviorKind::False => boolean(false),
        _ => null_const(oids::int4, -1, Oid::INVALID),
    }
}
