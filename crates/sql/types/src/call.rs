//! What a function is told about its caller: session formats, time, collation and the resolved types of the call.

use std::cell::Cell;
use std::sync::Arc;

use base::{Oid, SqlError, SqlResult};
use collation::Rules;
use textsearch::configuration::Configuration;
use textsearch::dictionary::Dictionary;
use tuple::Datum;

use crate::comparator::{is_collatable, pinned_rules, undetermined};
use crate::registry::TypeShape;

/// Order of day, month and year in dates that are written with numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DateOrder {
    /// Year, month, day.
    Ymd,
    /// Day, month, year.
    Dmy,
    /// Month, day, year: the default.
    #[default]
    Mdy,
}

/// Output style of dates and timestamps, first half of `DateStyle`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DateFormat {
    /// `1997-12-17 07:37:16-08`
    #[default]
    Iso,
    /// `12/17/1997 07:37:16.00 PST`
    Sql,
    /// `Wed Dec 17 07:37:16 1997 PST`
    Postgres,
    /// `17.12.1997 07:37:16.00 PST`
    German,
}

/// `IntervalStyle`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IntervalStyle {
    /// `1 year 2 mons 3 days 04:05:06`
    #[default]
    Postgres,
    /// `@ 1 year 2 mons 3 days 4 hours 5 mins 6 secs`
    PostgresVerbose,
    /// `+1-2 +3 +4:05:06`
    SqlStandard,
    /// `P1Y2M3DT4H5M6S`
    Iso8601,
}

/// `bytea_output`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ByteaOutput {
    /// `\x6869`
    #[default]
    Hex,
    /// `hi\000`
    Escape,
}

/// Session facts that text forms and time functions depend on. Kept by the session, changed by SET and at the start of
/// transactions and statements.
#[derive(Clone, Debug)]
pub struct FormatContext {
    /// First half of `DateStyle`.
    pub date_format: DateFormat,
    /// Second half of `DateStyle`.
    pub date_order: DateOrder,
    /// `IntervalStyle`
    pub interval_style: IntervalStyle,
    /// `TimeZone`
    pub time_zone: Arc<crate::timezone::TimeZone>,
    /// `timezone_abbreviations`
    pub abbreviations: crate::timezone::Abbreviations,
    /// `bytea_output`
    pub bytea_output: ByteaOutput,
    /// `extra_float_digits`; above 0 means shortest exact output.
    pub extra_float_digits: i32,
    /// `array_nulls`: whether an unquoted NULL in array input is a NULL.
    pub array_nulls: bool,
    /// `transform_null_equals`: whether `x = NULL` is read as `x IS NULL`.
    pub null_equals: bool,
    /// `xmloption`: texts become documents, and not content.
    pub xml_document: bool,
    /// `xmlbinary`: `bytea` is written in hexadecimal digits, and not as base64.
    pub xml_hex: bool,
    /// Start of the transaction, microseconds since 2000-01-01 UTC: `now()`.
    pub transaction_time: i64,
    /// Arrival of the statement, microseconds since 2000-01-01 UTC.
    pub statement_time: i64,
    /// Whether a value was read whose text means another one at another time (`'now'`), since somebody took this down.
    pub read_clock: Cell<bool>,
}

impl FormatContext {
    /// The time that texts like `'today'` go by.
    pub fn time_of_text(&self) -> i64 {
        self.read_clock.set(true);
        self.transaction_time
    }
}

impl Default for FormatContext {
    fn default() -> FormatContext {
        FormatContext {
            date_format: DateFormat::Iso,
            date_order: DateOrder::Mdy,
            interval_style: IntervalStyle::Postgres,
            time_zone: crate::timezone::TimeZone::utc(),
            abbreviations: Default::default(),
            bytea_output: ByteaOutput::Hex,
            extra_float_digits: 1,
            array_nulls: true,
            null_equals: false,
            xml_document: false,
            xml_hex: false,
            transaction_time: 0,
            statement_time: 0,
            read_clock: Cell::new(false),
        }
    }
}

/// The kinds of objects that an OID alias type names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegKind {
    /// `regclass`
    Class,
    /// `regtype`
    Type,
    /// `regproc`
    Proc,
    /// `regprocedure`
    Procedure,
    /// `regoper`
    Oper,
    /// `regoperator`
    Operator,
    /// `regnamespace`
    Namespace,
    /// `regrole`
    Role,
    /// `regcollation`
    Collation,
    /// `regconfig`
    Config,
    /// `regdictionary`
    Dictionary,
}

/// A text search parser.
#[derive(Clone, Copy, Debug)]
pub enum Parser<'n> {
    /// With this OID.
    Number(Oid),
    /// By its name, as SQL has it.
    Named(&'n str),
    /// That of a configuration.
    Of(Oid),
}

/// One field of a composite value.
#[derive(Clone, Debug)]
pub struct RowField {
    /// Its name.
    pub name: String,
    /// Its type.
    pub type_oid: Oid,
    /// Its value.
    pub value: Datum,
}

/// What this crate asks of the session that it works for. All methods have defaults that suit a place without catalogs.
pub trait Session {
    /// OID of the object that `name` (possibly qualified and quoted) names, or an error in PostgreSQL's words.
    fn reg_lookup(&self, kind: RegKind, name: &str) -> SqlResult<Oid> {
        Err(SqlError::not_supported(format!("looking up {name:?} as {kind:?} here")))
    }

    /// What a collation of the catalogs does.
    fn collation_rules(&self, collation: Oid) -> SqlResult<&'static Rules> {
        Err(SqlError::internal(format!("cache lookup failed for collation {collation}")))
    }

    /// Name of an object as its alias type prints it; `None` prints the number.
    fn reg_name(&self, _kind: RegKind, _oid: Oid) -> Option<String> {
        None
    }

    /// The text search configuration that is meant where none is named.
    fn text_search_configuration(&self) -> SqlResult<Oid> {
        Ok(Oid(textsearch::builtin::SIMPLE_CONFIGURATION))
    }

    /// What a text search configuration does.
    fn text_search(&self, configuration: Oid) -> SqlResult<Arc<Configuration>> {
        textsearch::builtin::configuration(configuration.0).ok_or_else(|| {
            SqlError::internal(format!("cache lookup failed for text search configuration {configuration}"))
        })
    }

    /// What a text search dictionary does.
    fn text_search_dictionary(&self, dictionary: Oid) -> SqlResult<Arc<dyn Dictionary>> {
        textsearch::builtin::dictionary(dictionary.0).ok_or_else(|| {
            SqlError::internal(format!("cache lookup failed for text search dictionary {dictionary}"))
        })
    }

    /// Fails unless there is this text search parser, and it is the default one, under whatever name.
    fn text_search_parser(&self, _parser: Parser<'_>) -> SqlResult<()> {
        Ok(())
    }

    /// Sends the client a notice.
    fn tell(&self, _notice: SqlError) {}

    /// The wall clock, microseconds since 2000-01-01 UTC.
    fn clock(&self) -> i64 {
        0
    }

    /// The wall clock in nanoseconds since 2000-01-01 UTC, each time at least `step` later than in the session before.
    fn ascending_clock(&self, _step: i64) -> i64 {
        self.clock() * 1000
    }

    /// Called now and then by long computations: an error if the statement is to end. Other fibers may run meanwhile.
    fn check_interrupts(&self) -> SqlResult<()> {
        Ok(())
    }

    /// Lends the session's random generator.
    fn with_random(&self, use_it: &mut dyn FnMut(&mut crate::random::Random)) {
        use_it(&mut crate::random::Random::new(0));
    }

    /// Shape of a type that is not built in (enum, domain, composite).
    fn type_shape(&self, _type_oid: Oid) -> Option<TypeShape> {
        None
    }

    /// Text input of a type that is not built in.
    fn type_input(&self, type_oid: Oid, _text: &str, _typmod: i32) -> SqlResult<Datum> {
        Err(SqlError::internal(format!("cache lookup failed for type {type_oid}")))
    }

    /// NULL as a value of a type: an error for domains that do not allow it.
    fn type_null(&self, _type_oid: Oid) -> SqlResult<Datum> {
        Ok(Datum::Null)
    }

    /// What a range or multirange type that is not built in is made of.
    fn range_info(&self, _type_oid: Oid) -> Option<crate::range::RangeInfo> {
        None
    }

    /// Columns of a composite type by number, dropped ones included.
    fn row_columns(&self, _type_oid: Oid) -> SqlResult<Option<Vec<crate::record::Column>>> {
        Ok(None)
    }

    /// Names of these columns; those of dropped ones mean nothing.
    fn row_names(&self, _type_oid: Oid) -> SqlResult<Vec<String>> {
        Ok(Vec::new())
    }

    /// A value of the type below a domain as a value of the domain, if its constraints allow it.
    fn domain_check(&self, _domain: Oid, value: Datum) -> SqlResult<Datum> {
        Ok(value)
    }

    /// Text output of a type that is not built in.
    fn type_output(&self, type_oid: Oid, _value: &Datum, _out: &mut Vec<u8>) -> SqlResult<()> {
        Err(SqlError::internal(format!("cache lookup failed for type {type_oid}")))
    }

    /// Binary input of a type that is not built in.
    fn type_receive(&self, type_oid: Oid, _bytes: &[u8], _typmod: i32) -> SqlResult<Datum> {
        Err(SqlError::internal(format!("cache lookup failed for type {type_oid}")))
    }

    /// Binary output of a type that is not built in.
    fn type_send(&self, type_oid: Oid, _value: &Datum, _out: &mut Vec<u8>) -> SqlResult<()> {
        Err(SqlError::internal(format!("cache lookup failed for type {type_oid}")))
    }

    /// The type below a domain; any other type as it is.
    fn base_type(&self, type_oid: Oid) -> Oid {
        type_oid
    }

    /// Whether a type that is not built in is composite.
    fn is_row_type(&self, _type_oid: Oid) -> bool {
        false
    }

    /// The fields of a composite value.
    fn row_fields(&self, _type_oid: Oid, _value: &Datum) -> SqlResult<Vec<RowField>> {
        Err(SqlError::not_supported("a composite value as JSON"))
    }
}

/// A session that knows nothing: for tests and for values whose form depends on nothing.
pub struct NoSession;

impl Session for NoSession {}

/// A column of the rows that a call is to give.
#[derive(Clone, Debug)]
pub struct ResultColumn {
    /// Its name.
    pub name: String,
    /// Its type.
    pub type_oid: Oid,
    /// Its type modifier.
    pub typmod: i32,
}

/// Context of one call (or of a row's worth of input or output). Cheap to make.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    /// Session formats and times.
    pub format: &'a FormatContext,
    /// Catalogs, clock, randomness.
    pub session: &'a dyn Session,
    /// Collation of the call, 0 where none.
    pub collation: Oid,
    /// Actual types of the arguments; needed by polymorphic functions and by `"any"`.
    pub arg_types: &'a [Oid],
    /// Actual result type; needed by polymorphic functions.
    pub result_type: Oid,
    /// Whether a variadic argument was given as an array with the VARIADIC keyword (for `VARIADIC "any"`).
    pub variadic_array: bool,
    /// Columns that the query asks of a function that gives `record`; empty where it does not say.
    pub columns: &'a [ResultColumn],
}

impl<'a> Call<'a> {
    /// A call without session and types, in the collation of the database.
    pub fn new(format: &'a FormatContext) -> Call<'a> {
        Call {
            format,
            session: &NoSession,
            collation: crate::comparator::DEFAULT_COLLATION,
            arg_types: &[],
            result_type: Oid::INVALID,
            variadic_array: false,
            columns: &[],
        }
    }

    /// The same with a session.
    pub fn with_session(mut self, session: &'a dyn Session) -> Call<'a> {
        self.session = session;
        self
    }

    /// The same with resolved types.
    pub fn with_types(mut self, arg_types: &'a [Oid], result_type: Oid) -> Call<'a> {
        self.arg_types = arg_types;
        self.result_type = result_type;
        self
    }

    /// The same with a collation.
    pub fn with_collation(mut self, collation: Oid) -> Call<'a> {
        self.collation = collation;
        self
    }

    /// The rules of the call's collation, for `what` it does: an error if the arguments disagree on it.
    pub fn rules(&self, what: &str) -> SqlResult<&'static Rules> {
        match pinned_rules(self.collation) {
            Some(rules) => Ok(rules),
            None if !self.collation.is_valid() => Err(undetermined(what)),
            None => self.session.collation_rules(self.collation),
        }
    }

    /// The rules by which values of a type compare in the call: any, if the type has no collation.
    pub fn rules_for(&self, type_oid: Oid) -> SqlResult<&'static Rules> {
        match is_collatable(type_oid) || self.collation.is_valid() {
            true => self.rules("string comparison"),
            false => Ok(&collation::C),
        }
    }

    /// Actual type of argument `n`, 0 when the caller did not say.
    pub fn arg_type(&self, n: usize) -> Oid {
        self.arg_types.get(n).copied().unwrap_or_default()
    }
}
