//! SQL/JSON constructors and IS JSON: from syntax to typed trees.
//!
//! PostgreSQL counterpart: `transformJsonObjectConstructor` and its neighbours of `parse_expr.c`.

use base::{Oid, SqlResult, sql_err};
use parse::ast;
use tuple::Datum;
use types::oids;

use crate::coerce::{Coercion, location_of};
use crate::core::{Analyzer, Place};
use crate::expr::{
    Aggregate, AggregateKind, CaseTest, CoercionForm, Const, Expr, FuncExpr, Location, WindowCall,
};
use crate::json_tree::*;

/// `convert_from(bytea, name)`, `convert_to(text, name)`.
const CONVERT_FROM: Oid = Oid(1714);
const CONVERT_TO: Oid = Oid(1717);
/// `to_json`, `to_jsonb`.
const TO_JSON: Oid = Oid(3176);
const TO_JSONB: Oid = Oid(3787);

/// What a value of SQL/JSON is to become.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ValueUse<'n> {
    /// The function, for messages.
    pub(crate) function: &'n str,
    /// Format of what has no FORMAT clause.
    pub(crate) default: JsonFormatKind,
    /// Type to cast to, 0 if any that fits the format.
    pub(crate) target: Oid,
    /// A value of PASSING: types that paths know stay as they are.
    pub(crate) passing: bool,
}

impl<'n> ValueUse<'n> {
    fn of(function: &'n str, default: JsonFormatKind) -> ValueUse<'n> {
        ValueUse { function, default, target: Oid::INVALID, passing: false }
    }
}

/// A node as an expression.
pub(crate) fn node(json: Json<Expr>) -> Expr {
    Expr::Json(Box::new(json))
}

fn constructor(kind: JsonConstructorKind, args: Vec<Expr>, location: Location) -> JsonConstructor<Expr> {
    let returning = JsonReturning { format: JsonFormat::default(), type_oid: Oid::INVALID, typmod: -1 };
    JsonConstructor {
        kind,
        args,
        call: None,
        coercion: None,
        returning,
        unique: false,
        absent_on_null: false,
        location,
    }
}

fn function(function: Oid, result_type: Oid, args: Vec<Expr>, location: Location) -> Expr {
    Expr::Func(Box::new(FuncExpr {
        function,
        result_type,
        returns_set: false,
        variadic: false,
        form: CoercionForm::Call,
        collation: Oid::INVALID,
        input_collation: Oid::INVALID,
        args,
        location,
    }))
}

/// The encoding's name for conversions, all of which are UTF-8.
fn utf8_name() -> Expr {
    Expr::Const(Const {
        type_oid: oids::name,
        typmod: -1,
        collation: Oid::INVALID,
        value: Datum::text("UTF8"),
        location: Location::NONE,
    })
}

impl Analyzer<'_> {
    /// An expression of SQL/JSON.
    pub(crate) fn json_expr(&mut self, e: &ast::JsonExpr) -> SqlResult<Expr> {
        use ast::JsonExpr as J;
        match e {
            J::Object { pairs, absent_on_null, unique, output, location } => {
                let value_use = ValueUse::of("JSON_OBJECT()", JsonFormatKind::Default);
                let mut args = Vec::with_capacity(2 * pairs.len());
                for (key, value) in pairs {
                    args.push(self.expr(key)?);
                    args.push(self.json_value(value, value_use)?);
                }
                let returning = self.constructed(output.as_ref(), &args)?;
                let (unique, absent_on_null) = (*unique, *absent_on_null);
                let c = constructor(JsonConstructorKind::Object, args, *location);
                self.construct(JsonConstructor { returning, unique, absent_on_null, ..c })
            }
            J::Array { elements, absent_on_null, output, location } => {
                let value_use = ValueUse::of("JSON_ARRAY()", JsonFormatKind::Default);
                let args =
                    elements.iter().map(|v| self.json_value(v, value_use)).collect::<SqlResult<Vec<_>>>()?;
                let returning = self.constructed(output.as_ref(), &args)?;
                let c = constructor(JsonConstructorKind::Array, args, *location);
                self.construct(JsonConstructor { returning, absent_on_null: *absent_on_null, ..c })
            }
            J::ArrayQuery { query, format, absent_on_null, output, location } => {
                self.json_array_query(query, *format, *absent_on_null, output.as_ref(), *location)
            }
            J::ObjectAgg { key, value, unique, call } => {
                let key = self.expr(key)?;
                let value =
                    self.json_value(value, ValueUse::of("JSON_OBJECTAGG()", JsonFormatKind::Default))?;
                self.json_aggregate(JsonConstructorKind::ObjectAgg, vec![key, value], *unique, call)
            }
            J::ArrayAgg { value, call } => {
                let value =
                    self.json_value(value, ValueUse::of("JSON_ARRAYAGG()", JsonFormatKind::Default))?;
                self.json_aggregate(JsonConstructorKind::ArrayAgg, vec![value], false, call)
            }
            J::Parse { value, unique, output, location } => {
                self.json_parse(value, *unique, output.as_ref(), *location)
            }
            J::Scalar { value, output, location } => {
                let mut arg = self.expr(value)?;
                let returning = self.json_typed(output.as_ref(), "JSON_SCALAR()")?;
                if self.type_of(&arg) == oids::unknown {
                    arg = self.coerce_to_specific(arg, oids::text, "JSON_SCALAR")?;
                }
                let c = constructor(JsonConstructorKind::Scalar, vec![arg], *location);
                self.construct(JsonConstructor { returning, ..c })
            }
            J::Serialize { value, output, location } => {
                self.json_serialize(value, output.as_ref(), *location)
            }
            J::Is { value, format, item, unique, location } => {
                let (arg, type_oid) = self.json_input(value, *format)?;
                if !matches!(type_oid, oids::text | oids::json | oids::jsonb) {
                    let name = self.type_text(type_oid);
                    return Err(sql_err!(DATATYPE_MISMATCH, "cannot use type {name} in IS JSON predicate"));
                }
                Ok(node(Json::Is(IsJson { arg, item: *item, unique: *unique, location: *location })))
            }
            J::Path(call) => self.json_path(call),
        }
    }

    /// A value, as a document if its format or use asks for one.
    pub(crate) fn json_value(&mut self, v: &ast::JsonValue, wanted: ValueUse<'_>) -> SqlResult<Expr> {
        let mut raw = self.expr(&v.value)?;
        if self.type_of(&raw) == oids::unknown {
            raw = self.coerce_to_specific(raw, oids::text, wanted.function)?;
        }
        let source = self.type_of(&raw);
        let category = self.type_facts(source)?.category;
        let is_json = source == oids::json || source == oids::jsonb;
        let format = if v.format.kind != JsonFormatKind::Default {
            if v.format.encoding != JsonEncoding::Default && source != oids::bytea {
                let error =
                    sql_err!(DATATYPE_MISMATCH, "JSON ENCODING clause is only allowed for bytea input type");
                return Err(self.at(error, v.format.location));
            }
            if is_json { JsonFormatKind::Default } else { v.format.kind }
        } else if wanted.passing && (is_path_type(source) || category == b'S') {
            return Ok(raw);
        } else if is_json {
            JsonFormatKind::Default
        } else {
            wanted.default
        };
        let cast = wanted.target.is_valid() && source != wanted.target;
        if format == JsonFormatKind::Default && !cast {
            return Ok(raw);
        }
        self.as_document(raw, source, category == b'S', format, v.format, wanted)
    }

    fn as_document(
        &mut self,
        raw: Expr,
        source: Oid,
        is_string: bool,
        kind: JsonFormatKind,
        format: ast::JsonFormat,
        wanted: ValueUse<'_>,
    ) -> SqlResult<Expr> {
        let location = location_of(&raw);
        let only_cast = wanted.target.is_valid();
        if !wanted.passing && !only_cast && source != oids::bytea && !is_string {
            let how = if format.kind == JsonFormatKind::Default { "implicit" } else { "explicit" };
            let error =
                sql_err!(DATATYPE_MISMATCH, "cannot use non-string types with {how} FORMAT JSON clause");
            let at = if format.location == Location::NONE { location } else { format.location };
            return Err(self.at(error, at));
        }
        let mut expr = raw.clone();
        if kind == JsonFormatKind::Json && source == oids::bytea {
            expr = self.json_bytes(expr, format)?;
        }
        let target = match (only_cast, kind) {
            (true, _) => wanted.target,
            (false, JsonFormatKind::Jsonb) => oids::jsonb,
            (false, _) => oids::json,
        };
        let from = self.type_of(&expr);
        let formatted = match self.coerce_to(expr.clone(), target, -1, Coercion::explicit(location))? {
            Some(cast) => cast,
            None if only_cast => return Err(self.cannot_coerce(from, target, location)),
            None => {
                let by = if target == oids::json { TO_JSON } else { TO_JSONB };
                function(by, target, vec![expr], location)
            }
        };
        if formatted == raw {
            return Ok(raw);
        }
        let format = JsonFormat { kind: format.kind, encoding: format.encoding };
        Ok(node(Json::Value(JsonValue { raw, formatted, format })))
    }

    /// The text that bytes are the encoding of.
    fn json_bytes(&mut self, bytes: Expr, format: ast::JsonFormat) -> SqlResult<Expr> {
        self.check_encoding(format.encoding, format.location)?;
        let location = location_of(&bytes);
        Ok(function(CONVERT_FROM, oids::text, vec![bytes, utf8_name()], location))
    }

    fn check_encoding(&self, encoding: JsonEncoding, location: Location) -> SqlResult<()> {
        if matches!(encoding, JsonEncoding::Default | JsonEncoding::Utf8) {
            return Ok(());
        }
        let error = sql_err!(FEATURE_NOT_SUPPORTED, "unsupported JSON encoding")
            .hint("Only UTF8 JSON encoding is supported.");
        Err(self.at(error, location))
    }

    /// RETURNING as written; type 0 if it is absent.
    pub(crate) fn json_output(
        &mut self,
        output: Option<&ast::JsonOutput>,
        any_type: bool,
    ) -> SqlResult<JsonReturning> {
        let Some(output) = output else {
            return Ok(JsonReturning { format: JsonFormat::default(), type_oid: Oid::INVALID, typmod: -1 });
        };
        let (type_oid, typmod) = self.type_name(&output.type_name)?;
        let refused = |what: &str| {
            sql_err!(FEATURE_NOT_SUPPORTED, "returning {what} is not supported in SQL/JSON functions")
        };
        if output.type_name.setof {
            return Err(refused("SETOF types"));
        }
        let facts = self.type_facts(type_oid)?;
        if matches!(facts.kind, catalog::view::TypeKind::Pseudo) {
            return Err(refused("pseudo-types"));
        }
        let f = output.format;
        let mut format = JsonFormat { kind: f.kind, encoding: f.encoding };
        if f.kind == JsonFormatKind::Default {
            let binary = type_oid == oids::jsonb;
            format.kind = if binary { JsonFormatKind::Jsonb } else { JsonFormatKind::Json };
            return Ok(JsonReturning { format, type_oid, typmod });
        }
        let document = matches!(type_oid, oids::bytea | oids::json | oids::jsonb);
        if !any_type && !document && facts.category != b'S' {
            let error =
                sql_err!(INVALID_PARAMETER_VALUE, "cannot use JSON format with non-string output types");
            return Err(self.at(error, f.location));
        }
        if type_oid != oids::bytea && f.encoding != JsonEncoding::Default {
            let error =
                sql_err!(INVALID_PARAMETER_VALUE, "cannot set JSON encoding for non-bytea output types");
            return Err(self.at(error, f.location));
        }
        self.check_encoding(f.encoding, f.location)?;
        Ok(JsonReturning { format, type_oid, typmod })
    }

    /// What a constructor of these values returns.
    fn constructed(&mut self, output: Option<&ast::JsonOutput>, args: &[Expr]) -> SqlResult<JsonReturning> {
        let mut returning = self.json_output(output, true)?;
        if !returning.type_oid.is_valid() {
            let binary = args.iter().any(|a| self.type_of(a) == oids::jsonb);
            returning.type_oid = if binary { oids::jsonb } else { oids::json };
            returning.format.kind = if binary { JsonFormatKind::Jsonb } else { JsonFormatKind::Json };
        }
        Ok(returning)
    }

    /// What JSON() and JSON_SCALAR() return.
    fn json_typed(&mut self, output: Option<&ast::JsonOutput>, name: &str) -> SqlResult<JsonReturning> {
        let Some(written) = output else {
            let format = JsonFormat { kind: JsonFormatKind::Json, encoding: JsonEncoding::Default };
            return Ok(JsonReturning { format, type_oid: oids::json, typmod: -1 });
        };
        let returning = self.json_output(output, false)?;
        if !matches!(returning.type_oid, oids::json | oids::jsonb) {
            let error = self.wrong_returning(returning.type_oid, name).hint("Try returning json or jsonb.");
            return Err(self.at(error, written.type_name.location));
        }
        Ok(returning)
    }

    fn wrong_returning(&self, type_oid: Oid, name: &str) -> base::SqlError {
        let shown = self.type_text(type_oid);
        sql_err!(DATATYPE_MISMATCH, "cannot use type {shown} in RETURNING clause of {name}")
    }

    /// A constructor with the conversion that RETURNING asks for.
    fn construct(&mut self, mut c: JsonConstructor<Expr>) -> SqlResult<Expr> {
        let made = match (&c.call, c.kind) {
            (Some(call), _) => self.type_of(call),
            (None, JsonConstructorKind::Serialize) => c.args.first().map_or(oids::json, |a| self.type_of(a)),
            (None, _) if c.returning.format.kind == JsonFormatKind::Jsonb => oids::jsonb,
            (None, _) => oids::json,
        };
        let test = Expr::CaseTest(CaseTest { type_oid: made, typmod: -1, collation: Oid::INVALID });
        c.coercion = self.json_returned(test, &c.returning, c.location)?;
        Ok(node(Json::Constructor(c)))
    }

    /// What makes the type of RETURNING of a document; none if it has it.
    fn json_returned(
        &mut self,
        made: Expr,
        returning: &JsonReturning,
        location: Location,
    ) -> SqlResult<Option<Expr>> {
        let source = self.type_of(&made);
        if source == returning.type_oid {
            return Ok(None);
        }
        if returning.format.kind == JsonFormatKind::Json && returning.type_oid == oids::bytea {
            let text = self.coerce_to_specific(made, oids::text, "JSON_FUNCTION")?;
            return Ok(Some(function(CONVERT_TO, oids::bytea, vec![text, utf8_name()], location)));
        }
        let how = Coercion { location, ..Coercion::assignment() };
        match self.coerce_to(made, returning.type_oid, returning.typmod, how)? {
            Some(e) => Ok(Some(e)),
            None => Err(self.cannot_coerce(source, returning.type_oid, location)),
        }
    }

    /// JSON_ARRAY of a query: JSON_ARRAYAGG over it.
    fn json_array_query(
        &mut self,
        query: &ast::Select,
        format: ast::JsonFormat,
        absent_on_null: bool,
        output: Option<&ast::JsonOutput>,
        location: Location,
    ) -> SqlResult<Expr> {
        let columns = self.subselect(query)?.targets.iter().filter(|t| !t.junk).count();
        if columns != 1 {
            let error = sql_err!(SYNTAX_ERROR, "subquery must return only one column");
            return Err(self.at(error, location));
        }
        let field = |name: &str| ast::Indirection::Field(name.to_owned());
        let value = ast::Expr::Column(ast::ColumnRef {
            fields: vec![field("q"), field("a")],
            location: Location::NONE,
        });
        let call = ast::JsonAggregate {
            output: output.cloned(),
            filter: None,
            order_by: Vec::new(),
            over: None,
            absent_on_null,
            location: Location::NONE,
        };
        let value = ast::JsonExpr::ArrayAgg { value: ast::JsonValue { value, format }, call };
        let target =
            ast::ResTarget { name: None, value: ast::Expr::Json(Box::new(value)), location: Location::NONE };
        let from = ast::FromItem::Subquery {
            lateral: false,
            query: Box::new(query.clone()),
            alias: Some(ast::Alias { name: "q".into(), columns: vec!["a".into()] }),
            location: Location::NONE,
        };
        let simple = ast::SimpleSelect { targets: vec![target], from: vec![from], ..Default::default() };
        let select = ast::Select {
            with: None,
            body: ast::SelectBody::Simple(Box::new(simple)),
            order_by: Vec::new(),
            offset: None,
            limit: None,
            with_ties: false,
            locking: Vec::new(),
        };
        self.expr(&ast::Expr::SubLink(Box::new(ast::SubLink {
            kind: ast::SubLinkKind::Expr,
            test: None,
            op: ast::Name::default(),
            query: select,
            location,
        })))
    }

    fn json_aggregate(
        &mut self,
        kind: JsonConstructorKind,
        args: Vec<Expr>,
        unique: bool,
        call: &ast::JsonAggregate,
    ) -> SqlResult<Expr> {
        let returning = self.constructed(call.output.as_ref(), &args)?;
        let binary = returning.format.kind == JsonFormatKind::Jsonb;
        let result = if binary { oids::jsonb } else { oids::json };
        let function = aggregate_function(kind, binary, call.absent_on_null, unique);
        let filter = match &call.filter {
            None => None,
            Some(f) => Some(self.condition(f, Place::Filter)?),
        };
        let location = call.location;
        let made = match &call.over {
            Some(over) => self.json_window(function, result, args, filter, over, call)?,
            None => {
                let mut targets: Vec<_> = args
                    .into_iter()
                    .enumerate()
                    .map(|(i, e)| crate::target::entry(e, i as i16 + 1, None, false))
                    .collect();
                let arg_types = targets.iter().map(|t| self.type_of(&t.expr)).collect();
                let order_by = self.sort_clause(&call.order_by, &mut targets, Place::OrderBy, true)?;
                let mut aggregate = Aggregate {
                    function,
                    result_type: result,
                    collation: Oid::INVALID,
                    input_collation: Oid::INVALID,
                    arg_types,
                    direct_args: Vec::new(),
                    args: targets,
                    order_by,
                    distinct: Vec::new(),
                    filter,
                    star: false,
                    variadic: false,
                    kind: AggregateKind::Normal,
                    levels_up: 0,
                    location,
                };
                self.place_aggregate(&mut aggregate)?;
                Expr::Aggregate(Box::new(aggregate))
            }
        };
        let c = constructor(kind, Vec::new(), location);
        let absent_on_null = call.absent_on_null;
        self.construct(JsonConstructor { call: Some(made), returning, unique, absent_on_null, ..c })
    }

    fn json_window(
        &mut self,
        function: Oid,
        result_type: Oid,
        args: Vec<Expr>,
        filter: Option<Expr>,
        over: &ast::WindowDef,
        call: &ast::JsonAggregate,
    ) -> SqlResult<Expr> {
        if !call.order_by.is_empty() {
            let message = "aggregate ORDER BY is not implemented for window functions";
            return Err(self.at(sql_err!(FEATURE_NOT_SUPPORTED, "{message}"), call.location));
        }
        let mut window = WindowCall {
            function,
            result_type,
            collation: Oid::INVALID,
            input_collation: Oid::INVALID,
            args,
            filter,
            window: 0,
            star: false,
            is_aggregate: true,
            location: call.location,
        };
        self.place_window(&mut window, over)?;
        Ok(Expr::Window(Box::new(window)))
    }

    /// The argument of IS JSON and of JSON() WITH UNIQUE KEYS, and its type: strings and bytes as text.
    fn json_input(&mut self, value: &ast::Expr, format: ast::JsonFormat) -> SqlResult<(Expr, Oid)> {
        let raw = self.expr(value)?;
        let source = self.type_of(&raw);
        if source == oids::bytea {
            let formatted = self.json_bytes(raw.clone(), format)?;
            let format = JsonFormat { kind: format.kind, encoding: format.encoding };
            return Ok((node(Json::Value(JsonValue { raw, formatted, format })), oids::text));
        }
        let is_text = source == oids::unknown || self.type_facts(source)?.category == b'S';
        let (arg, type_oid) = match is_text {
            true => (self.coerce(raw, oids::text, -1, Coercion::implicit())?, oids::text),
            false => (raw, source),
        };
        if format.encoding != JsonEncoding::Default {
            let error = sql_err!(
                DATATYPE_MISMATCH,
                "cannot use JSON FORMAT ENCODING clause for non-bytea input types"
            );
            return Err(self.at(error, format.location));
        }
        Ok((arg, type_oid))
    }

    fn json_parse(
        &mut self,
        value: &ast::JsonValue,
        unique: bool,
        output: Option<&ast::JsonOutput>,
        location: Location,
    ) -> SqlResult<Expr> {
        let returning = self.json_typed(output, "JSON()")?;
        let arg = if unique {
            let (arg, type_oid) = self.json_input(&value.value, value.format)?;
            if type_oid != oids::text {
                let error =
                    sql_err!(DATATYPE_MISMATCH, "cannot use non-string types with WITH UNIQUE KEYS clause");
                return Err(self.at(error, location));
            }
            arg
        } else {
            let wanted =
                ValueUse { target: returning.type_oid, ..ValueUse::of("JSON()", JsonFormatKind::Json) };
            self.json_value(value, wanted)?
        };
        let c = constructor(JsonConstructorKind::Parse, vec![arg], location);
        self.construct(JsonConstructor { returning, unique, ..c })
    }

    fn json_serialize(
        &mut self,
        value: &ast::JsonValue,
        output: Option<&ast::JsonOutput>,
        location: Location,
    ) -> SqlResult<Expr> {
        let arg = self.json_value(value, ValueUse::of("JSON_SERIALIZE()", JsonFormatKind::Json))?;
        let returning = match output {
            None => JsonReturning {
                format: JsonFormat { kind: JsonFormatKind::Json, encoding: JsonEncoding::Default },
                type_oid: oids::text,
                typmod: -1,
            },
            Some(_) => {
                let returning = self.json_output(output, true)?;
                let type_oid = returning.type_oid;
                if type_oid != oids::bytea && self.type_facts(type_oid)?.category != b'S' {
                    return Err(self
                        .wrong_returning(type_oid, "JSON_SERIALIZE()")
                        .hint("Try returning a string type or bytea."));
                }
                returning
            }
        };
        let c = constructor(JsonConstructorKind::Serialize, vec![arg], location);
        self.construct(JsonConstructor { returning, ..c })
    }
}

/// Types whose values a path takes as they are.
fn is_path_type(type_oid: Oid) -> bool {
    matches!(
        type_oid,
        oids::bool
            | oids::numeric
            | oids::int2
            | oids::int4
            | oids::int8
            | oids::float4
            | oids::float8
            | oids::text
            | oids::varchar
            | oids::date
            | oids::time
            | oids::timetz
            | oids::timestamp
            | oids::timestamptz
    )
}

/// The aggregate behind JSON_ARRAYAGG and JSON_OBJECTAGG.
fn aggregate_function(kind: JsonConstructorKind, binary: bool, absent: bool, unique: bool) -> Oid {
    Oid(match (kind, binary, absent, unique) {
        (JsonConstructorKind::ArrayAgg, false, false, _) => 3175,
        (JsonConstructorKind::ArrayAgg, false, true, _) => 6276,
        (JsonConstructorKind::ArrayAgg, true, false, _) => 3267,
        (JsonConstructorKind::ArrayAgg, true, true, _) => 6284,
        (_, false, false, false) => 3197,
        (_, false, true, false) => 6280,
        (_, false, false, true) => 6281,
        (_, false, true, true) => 6282,
        (_, true, false, false) => 3270,
        (_, true, true, false) => 6288,
        (_, true, false, true) => 6289,
        (_, true, true, true) => 6290,
    })
}
