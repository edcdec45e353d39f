//! Methods of items: `.type()`, `.double()`, `.datetime()`, …

use base::{SqlError, sql_err};

use crate::{
    json::{
        binary::{Json, Kind},
        walk::text_datum,
    },
    numeric::{Numeric, numeric_typmod},
    value::FromDatum,
};

use super::{
    Method, NodeId,
    exec::{Exec, Found, Step, Stop, Value, soft},
    moment::{Moment, Wanted},
};

/// Whether a method looks at the elements of an array in a lax path.
pub(super) fn unwraps(method: Method) -> bool {
    !matches!(method, Method::Type | Method::Size)
}

/// The error for an item of the wrong kind.
fn wrong_item(method: Method) -> SqlError {
    let name = method.name();
    let only = |what: &str| format!("jsonpath item method .{name}() can only be applied to {what}");
    match method {
        Method::Abs | Method::Floor | Method::Ceiling => {
            sql_err!(NON_NUMERIC_SQL_JSON_ITEM, "{}", only("a numeric value"))
        }
        Method::Double | Method::BigInt | Method::Integer | Method::Number | Method::Decimal => {
            sql_err!(NON_NUMERIC_SQL_JSON_ITEM, "{}", only("a string or numeric value"))
        }
        Method::Boolean => {
            sql_err!(NON_NUMERIC_SQL_JSON_ITEM, "{}", only("a boolean, string, or numeric value"))
        }
        Method::String => {
            sql_err!(NON_NUMERIC_SQL_JSON_ITEM, "{}", only("a boolean, string, numeric, or datetime value"))
        }
        Method::KeyValue => sql_err!(SQL_JSON_OBJECT_NOT_FOUND, "{}", only("an object")),
        Method::Size => sql_err!(SQL_JSON_ARRAY_NOT_FOUND, "{}", only("an array")),
        _ => sql_err!(INVALID_ARGUMENT_FOR_SQL_JSON_DATETIME_FUNCTION, "{}", only("a string")),
    }
}

fn invalid(method: Method, text: &str, type_name: &str) -> SqlError {
    let name = method.name();
    sql_err!(
        NON_NUMERIC_SQL_JSON_ITEM,
        "argument \"{text}\" of jsonpath item method .{name}() is invalid for type {type_name}"
    )
}

fn not_finite(method: Method) -> SqlError {
    let name = method.name();
    sql_err!(NON_NUMERIC_SQL_JSON_ITEM, "NaN or Infinity is not allowed for jsonpath item method .{name}()")
}

/// A method of a path: which, its numbers, its template.
type Called<'q> = (Method, &'q [Numeric], Option<&'q str>);

impl<'q> Exec<'q> {
    /// Applies a method to a value.
    pub(super) fn method(
        &mut self,
        level: usize,
        id: NodeId,
        (method, args, template): Called<'q>,
        value: &Value<'q>,
        found: &mut Found<'q>,
    ) -> Step {
        let result = match method {
            Method::Type => Value::string(type_name(value))?,
            Method::Size if value.kind() == Kind::Array => {
                Value::number(&Numeric::from_i64(value.json().len() as i64))?
            }
            Method::Size if self.is_lax() => Value::number(&Numeric::from_i64(1))?,
            Method::Size if self.is_lenient() => return Ok(false),
            Method::Abs | Method::Floor | Method::Ceiling if value.kind() == Kind::Number => {
                let n = value.json().number();
                Value::number(&match method {
                    Method::Abs => n.abs(),
                    Method::Floor => n.floor(),
                    _ => n.ceil(),
                })?
            }
            Method::Double | Method::BigInt | Method::Integer | Method::Number | Method::Decimal => {
                Value::number(&number((method, args, template), value)?)?
            }
            Method::Boolean => Value::bool(boolean(value)?)?,
            Method::String => Value::string(&string(value)?)?,
            Method::KeyValue if value.kind() == Kind::Object => {
                return self.key_values(level, id, value, found);
            }
            Method::DateTime
            | Method::Date
            | Method::Time
            | Method::TimeTz
            | Method::Timestamp
            | Method::TimestampTz => Value::Moment(self.moment((method, args, template), value)?),
            _ => return soft(wrong_item(method)),
        };
        self.next(level, id, &result, found)
    }

    /// `.keyvalue()`: an object for each pair, with an id of the object that it is of.
    fn key_values(&mut self, level: usize, id: NodeId, value: &Value<'q>, found: &mut Found<'q>) -> Step {
        // The place of the object's bytes in the document; objects that were made have none.
        let start = self.query.target.bytes().as_ptr() as usize;
        let place = value.json().bytes().as_ptr() as usize;
        let inside = (start..start + self.query.target.bytes().len()).contains(&place);
        let number = Numeric::from_i64(if inside { (place - start) as i64 } else { 0 });
        let mut any = false;
        let pairs: Vec<Value<'q>> = value
            .json()
            .pairs()
            .map(|(key, member)| {
                Value::made(|out| {
                    out.open(true);
                    out.key("key")?;
                    out.string(key)?;
                    out.key("value")?;
                    out.node(member);
                    out.key("id")?;
                    out.number(&number);
                    out.close()
                })
            })
            .collect::<Result<_, _>>()?;
        for pair in &pairs {
            any |= self.next(level, id, pair, found)?;
            if any && found.is_enough() {
                break;
            }
        }
        Ok(any)
    }

    fn moment(&self, (method, args, template): Called<'q>, value: &Value<'q>) -> Result<Moment, Stop> {
        let moment = match value {
            Value::Moment(moment) => *moment,
            _ => {
                let Some(text) = value.text() else { return soft(wrong_item(method)) };
                if let Some(template) = template {
                    return Moment::by_template(text, template).or_else(soft);
                }
                match Moment::parse(text) {
                    Some(moment) => moment,
                    None => return soft(not_recognized(method, text)),
                }
            }
        };
        let wanted = match method {
            Method::Date => Wanted::Date,
            Method::Time => Wanted::Time,
            Method::TimeTz => Wanted::TimeTz,
            Method::Timestamp => Wanted::Timestamp,
            Method::TimestampTz => Wanted::TimestampTz,
            _ => return Ok(moment),
        };
        let Some(converted) = moment.convert(wanted, self.query.zone, self.query.cx)? else {
            let text = value.text().map_or_else(|| moment.text(), str::to_owned);
            return soft(not_recognized(method, &text));
        };
        let Some(precision) = args.first() else { return Ok(converted) };
        match precision.to_i128().and_then(|n| i32::try_from(n).ok()) {
            Some(precision) => Ok(converted.rounded(precision)),
            None => soft(sql_err!(
                INVALID_ARGUMENT_FOR_SQL_JSON_DATETIME_FUNCTION,
                "time precision of jsonpath item method .{}() is out of range for type integer",
                method.name()
            )),
        }
    }
}

fn not_recognized(method: Method, text: &str) -> SqlError {
    let name = method.name();
    let error = sql_err!(
        INVALID_ARGUMENT_FOR_SQL_JSON_DATETIME_FUNCTION,
        "{name} format is not recognized: \"{text}\""
    );
    if method == Method::DateTime {
        return error.hint("Use a datetime template argument to specify the input data format.");
    }
    error
}

fn type_name(value: &Value<'_>) -> &'static str {
    match (value, value.kind()) {
        (Value::Moment(moment), _) => moment.type_name(),
        (_, Kind::Object) => "object",
        (_, Kind::Array) => "array",
        (_, Kind::String) => "string",
        (_, Kind::Number) => "number",
        (_, Kind::Bool(_)) => "boolean",
        (_, Kind::Null | Kind::Damaged) => "null",
    }
}

/// The text of a string or number.
fn scalar_text(value: &Value<'_>) -> Option<String> {
    match value.kind() {
        Kind::Number => Some(value.json().number().to_string()),
        _ => value.text().map(str::to_owned),
    }
}

/// `.double()`, `.number()`, `.decimal()`, `.bigint()` and `.integer()`.
fn number((method, args, _): Called<'_>, value: &Value<'_>) -> Result<Numeric, Stop> {
    let Some(text) = scalar_text(value) else { return soft(wrong_item(method)) };
    let is_number = value.kind() == Kind::Number;
    let whole = |n: Option<i64>, type_name: &str| match n {
        Some(n) => Ok(Numeric::from_i64(n)),
        None => soft(invalid(method, &text, type_name)),
    };
    match method {
        Method::BigInt if is_number => whole(value.json().number().to_int("bigint").ok(), "bigint"),
        Method::BigInt => whole(crate::int::parse(&text, "bigint").ok(), "bigint"),
        Method::Integer if is_number => {
            whole(value.json().number().to_int::<i32>("integer").ok().map(i64::from), "integer")
        }
        Method::Integer => whole(crate::int::parse::<i32>(&text, "integer").ok().map(i64::from), "integer"),
        Method::Double => match crate::float::parse8(&text) {
            Err(_) => soft(invalid(method, &text, "double precision")),
            Ok(n) if !n.is_finite() => soft(not_finite(method)),
            Ok(_) if is_number => Ok(value.json().number()),
            Ok(n) => Ok(Numeric::from_float(n, 15)?),
        },
        _ => {
            let n = match Numeric::parse(&text) {
                Err(_) => return soft(invalid(method, &text, "numeric")),
                Ok(n) if !n.is_finite() => return soft(not_finite(method)),
                Ok(n) => n,
            };
            fitted(method, args, n, &text)
        }
    }
}

/// A number brought to the precision and scale of `.decimal(p, s)`.
fn fitted(method: Method, args: &[Numeric], n: Numeric, text: &str) -> Result<Numeric, Stop> {
    if args.is_empty() {
        return Ok(n);
    }
    let mut modifiers = Vec::with_capacity(2);
    for (arg, what) in args.iter().zip(["precision", "scale"]) {
        match arg.to_i128().and_then(|n| i32::try_from(n).ok()) {
            Some(n) => modifiers.push(n.to_string()),
            None => {
                return soft(sql_err!(
                    NON_NUMERIC_SQL_JSON_ITEM,
                    "{what} of jsonpath item method .{}() is out of range for type integer",
                    method.name()
                ));
            }
        }
    }
    let modifiers: Vec<&str> = modifiers.iter().map(String::as_str).collect();
    let typmod = numeric_typmod(&modifiers)?;
    n.apply_typmod(typmod).or_else(|_| soft(invalid(method, text, "numeric")))
}

fn boolean(value: &Value<'_>) -> Result<bool, Stop> {
    if let Kind::Bool(value) = value.kind() {
        return Ok(value);
    }
    let Some(text) = scalar_text(value) else { return soft(wrong_item(Method::Boolean)) };
    let found = match value.kind() {
        Kind::Number => crate::int::parse::<i32>(&text, "integer").map(|n| n != 0),
        _ => crate::bool::parse(&text),
    };
    found.or_else(|_| soft(invalid(Method::Boolean, &text, "boolean")))
}

fn string(value: &Value<'_>) -> Result<String, Stop> {
    match (value, value.kind()) {
        (Value::Moment(moment), _) => Ok(moment.text()),
        (_, Kind::String | Kind::Number | Kind::Bool(_)) => {
            let node: Json<'_> = value.json();
            Ok(<&str>::from_datum(&text_datum(node)?).to_owned())
        }
        _ => soft(wrong_item(Method::String)),
    }
}
