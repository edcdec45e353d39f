//! Paths in SQL/JSON: JSON_EXISTS, JSON_QUERY, JSON_VALUE and the rows of JSON_TABLE.
//!
//! Errors of the path come as [`Outcome::Error`] where they are passed over; the caller knows what then.

use base::{Oid, SqlError, SqlResult, sql_err};
use tuple::Datum;

use crate::{
    call::Call,
    json::{
        binary::{Builder, Json, Kind},
        input,
        walk::text_datum,
    },
    numeric::Numeric,
    oids, registry,
    time::{timetz_datum, timetz_parts},
    value::{FromDatum, str_of},
};

use super::{Query, Vars, exec, exec::Value, moment::Moment, path_of};

/// A value of PASSING.
#[derive(Clone, Copy)]
pub struct Variable<'v> {
    /// Name.
    pub name: &'v str,
    /// Type.
    pub type_oid: Oid,
    /// Value.
    pub value: &'v Datum,
}

/// A path to be followed.
#[derive(Clone, Copy)]
pub struct PathUse<'v> {
    /// The document, of type `jsonb`.
    pub document: &'v Datum,
    /// The path, of type `jsonpath`.
    pub path: &'v Datum,
    /// PASSING
    pub variables: &'v [Variable<'v>],
    /// Errors of the path are passed over.
    pub silent: bool,
    /// The column of JSON_TABLE that it is for, for messages.
    pub column: Option<&'v str>,
}

/// What a path gave.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// An error that was passed over.
    Error,
    /// Nothing was found.
    Empty,
    /// What was found.
    Found(Datum),
}

/// What JSON_VALUE gives of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalarForm {
    /// Its text.
    Text,
    /// The text of the document that it is.
    JsonText,
    /// The document that it is.
    Jsonb,
}

/// When several items are put into an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Wrapping {
    Never,
    IfMany,
    Always,
}

impl PathUse<'_> {
    /// The items found; nothing for an error that was passed over.
    fn follow<T>(
        &self,
        cx: &Call<'_>,
        first_only: bool,
        take: impl FnOnce(Vec<Value<'_>>) -> SqlResult<T>,
    ) -> SqlResult<Option<T>> {
        let query = Query {
            cx,
            path: path_of(self.path)?,
            target: Json::from_datum(self.document),
            vars: Vars::Passed(self.variables),
            silent: self.silent,
            zone: true,
        };
        let (list, failed) = exec::run(&query, first_only && query.path.lax)?;
        if failed { Ok(None) } else { take(list).map(Some) }
    }

    /// JSON_EXISTS; nothing for an error that was passed over.
    pub fn exists(&self, cx: &Call<'_>) -> SqlResult<Option<bool>> {
        self.follow(cx, true, |list| Ok(!list.is_empty()))
    }

    /// All items, as documents.
    pub fn items(&self, cx: &Call<'_>) -> SqlResult<Option<Vec<Datum>>> {
        self.follow(cx, false, |list| list.iter().map(Value::to_datum).collect())
    }

    /// An error of what was found.
    fn refuse(&self, error: SqlError) -> SqlResult<Outcome> {
        if self.silent { Ok(Outcome::Error) } else { Err(error) }
    }

    /// JSON_QUERY.
    pub fn query(&self, wrapping: Wrapping, cx: &Call<'_>) -> SqlResult<Outcome> {
        let outcome = self.follow(cx, false, |list| {
            let wrap = match wrapping {
                Wrapping::Never => false,
                Wrapping::IfMany => list.len() > 1,
                Wrapping::Always => !list.is_empty(),
            };
            if wrap {
                let mut out = Builder::new();
                out.open(false);
                list.iter().try_for_each(|item| item.append(&mut out))?;
                out.close()?;
                return Ok(Outcome::Found(out.finish()));
            }
            match list.as_slice() {
                [] => Ok(Outcome::Empty),
                [only] => Ok(Outcome::Found(only.to_datum()?)),
                _ => {
                    let of = match self.column {
                        Some(column) => format!("for column \"{column}\""),
                        None => "in JSON_QUERY".to_owned(),
                    };
                    self.refuse(
                        sql_err!(
                            MORE_THAN_ONE_SQL_JSON_ITEM,
                            "JSON path expression {of} must return single item when no wrapper is requested"
                        )
                        .hint("Use the WITH WRAPPER clause to wrap SQL/JSON items into an array."),
                    )
                }
            }
        })?;
        Ok(outcome.unwrap_or(Outcome::Error))
    }

    /// JSON_VALUE; JSON's null is NULL.
    pub fn value(&self, form: ScalarForm, cx: &Call<'_>) -> SqlResult<Outcome> {
        let of = match self.column {
            Some(column) => format!("for column \"{column}\""),
            None => "in JSON_VALUE".to_owned(),
        };
        let message = format!("JSON path expression {of} must return single scalar item");
        let outcome = self.follow(cx, false, |list| match list.as_slice() {
            [] => Ok(Outcome::Empty),
            [only] if !matches!(only.kind(), Kind::Array | Kind::Object) => scalar(only, form, cx),
            [_] => self.refuse(sql_err!(SQL_JSON_SCALAR_REQUIRED, "{message}")),
            _ => self.refuse(sql_err!(MORE_THAN_ONE_SQL_JSON_ITEM, "{message}")),
        })?;
        Ok(outcome.unwrap_or(Outcome::Error))
    }
}

fn scalar(item: &Value<'_>, form: ScalarForm, cx: &Call<'_>) -> SqlResult<Outcome> {
    if item.kind() == Kind::Null {
        return Ok(Outcome::Found(Datum::Null));
    }
    Ok(Outcome::Found(match (item, form) {
        (Value::Moment(moment), ScalarForm::Text) => {
            let (type_oid, value) = moment.datum();
            let mut out = Vec::new();
            registry::output(type_oid, &value, cx, &mut out)?;
            Datum::Bytes(out.into())
        }
        (_, ScalarForm::Text) => match item.kind() {
            Kind::Bool(value) => Datum::text(if value { "t" } else { "f" }),
            _ => text_datum(item.json())?,
        },
        (_, ScalarForm::JsonText) => {
            let document = item.to_datum()?;
            let mut out = Vec::new();
            input::output(<&[u8]>::from_datum(&document), &mut out)?;
            Datum::Bytes(out.into())
        }
        (_, ScalarForm::Jsonb) => item.to_datum()?,
    }))
}

/// A value of PASSING as an item.
pub(super) fn variable<'v>(v: &Variable<'v>, cx: &Call<'_>) -> SqlResult<Value<'v>> {
    if v.value.is_null() {
        return Ok(Value::Node(Json::of(&[0])));
    }
    let text = || {
        let mut out = Vec::new();
        registry::output(v.type_oid, v.value, cx, &mut out)?;
        Ok::<_, SqlError>(str_of(&out).to_owned())
    };
    Ok(match v.type_oid {
        oids::bool => Value::bool(bool::from_datum(v.value))?,
        oids::int2 | oids::int4 | oids::int8 | oids::float4 | oids::float8 | oids::numeric => {
            Value::number(&Numeric::parse(&text()?)?)?
        }
        oids::date => Value::Moment(Moment::Date(i32::from_datum(v.value))),
        oids::time => Value::Moment(Moment::Time(i64::from_datum(v.value))),
        oids::timetz => {
            let (time, zone) = timetz_parts(<&[u8]>::from_datum(v.value));
            Value::Moment(Moment::TimeTz(time, zone))
        }
        oids::timestamp => Value::Moment(Moment::Timestamp(i64::from_datum(v.value))),
        oids::timestamptz => Value::Moment(Moment::TimestampTz(i64::from_datum(v.value), 0)),
        oids::jsonb => Value::Node(Json::from_datum(v.value)),
        oids::json => {
            let document = input::from_text(<&str>::from_datum(v.value))?;
            Value::Own(<&[u8]>::from_datum(&document).into())
        }
        _ => Value::string(&text()?)?,
    })
}

impl Moment {
    /// The SQL value that it is.
    fn datum(self) -> (Oid, Datum) {
        match self {
            Moment::Date(days) => (oids::date, Datum::Int4(days)),
            Moment::Time(time) => (oids::time, Datum::Int8(time)),
            Moment::TimeTz(time, zone) => (oids::timetz, timetz_datum(time, zone)),
            Moment::Timestamp(local) => (oids::timestamp, Datum::Int8(local)),
            Moment::TimestampTz(utc, _) => (oids::timestamptz, Datum::Int8(utc)),
        }
    }
}
