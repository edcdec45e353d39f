//! # What
//! Queries of the simple protocol that differ only in literals that are mere values run as one statement with parameters, which is parsed and
//! analysed once, and planned as that of a Parse message is.
//!
//! The first texts of a shape run as they are. From then on a text that fits one that ran before ([`parse::shape`]) gives its literals as
//! values to the statement made of it; which plan that runs by is the business of `choice`.
//!
//! # Invariants
//! 1. A client cannot tell. Where the statement with parameters is not surely the same (types of users, code of users that planning may run,
//!    notices, texts that mean something else tomorrow), or another result was described, the texts go on running as they are.
//! 2. Whatever goes wrong before a run begins, except what any statement meets (cancelling, deadlocks), is not reported: the text runs as it is,
//!    and its own error is.
//! 3. A session remembers a limited number of shapes.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::fmt::Write as _;
use std::rc::Rc;
use std::sync::Arc;

use base::{Oid, Severity, SqlError, SqlResult};
use catalog::{CatalogView, TypeKind};
use parse::shape::{Class, Shape, Value};
use tuple::Datum;
use txn::BlockState;
use types::{Call, oids};

use super::Session;
use super::choice::Wanted;
use super::portal::{Params, Portal};
use super::protocol::escapes_read;
use super::statement::{Planned, Source, Work};
use crate::clock_map::ClockMap;
use crate::output::Column;

/// Shapes that a session remembers.
const MOST_SHAPES: usize = 128;

/// Sets of literals that are no values, remembered of one shape.
const MOST_VARIANTS: usize = 4;

/// Texts that run as they are before a statement is made of them.
const FIRST_TEXTS: u8 = 2;

/// The shapes of a session's simple queries.
pub(super) struct Shapes(RefCell<ClockMap<u64, Rc<Entry>>>);

/// A shape that was seen.
struct Entry {
    skeleton: Box<str>,
    values: Box<[Value]>,
    variants: RefCell<Vec<Rc<Variant>>>,
}

/// Texts of a shape with the same literals where those are no values.
struct Variant {
    /// These literals, as written.
    fixed: Box<[Box<str>]>,
    state: RefCell<State>,
}

/// What is known of the texts of a variant.
enum State {
    /// So many have run.
    Seen(u8),
    /// They are this statement.
    Shared(Rc<Shared>),
    /// Each is a statement of its own.
    Alone,
}

/// What a session knows of a text of the simple protocol whose shape it has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// No text has run with these literals where those are no values.
    Unseen,
    /// Too few such texts have run to make a statement of them.
    Seen,
    /// There is a statement for them, which has not run.
    Untried,
    /// They run as one statement with parameters.
    Shared,
    /// Each is a statement of its own.
    Alone,
}

/// A statement with parameters in place of literals.
struct Shared {
    source: Rc<Source>,
    /// What the result of the texts was described as.
    columns: Option<Arc<[Column]>>,
    /// It ran.
    proven: Cell<bool>,
}

impl Default for Shapes {
    fn default() -> Shapes {
        Shapes(RefCell::new(ClockMap::new(MOST_SHAPES)))
    }
}

impl Shapes {
    fn find(&self, shape: &Shape<'_>) -> Option<Rc<Entry>> {
        let mut shapes = self.0.borrow_mut();
        shapes.get(&shape.hash()).filter(|entry| shape.fits(&entry.skeleton)).cloned()
    }

    /// Forgets everything: a setting may have changed the meaning of literals.
    pub(super) fn clear(&self) {
        self.0.borrow_mut().clear();
    }
}

impl Entry {
    fn variant(&self, shape: &Shape<'_>) -> Option<Rc<Variant>> {
        let same = |variant: &&Rc<Variant>| variant.fixed.iter().map(|text| &**text).eq(self.fixed(shape));
        self.variants.borrow().iter().find(same).cloned()
    }

    fn new_variant(&self, shape: &Shape<'_>) -> Rc<Variant> {
        let fixed = self.fixed(shape).map(Box::from).collect();
        let variant = Rc::new(Variant { fixed, state: RefCell::new(State::Seen(0)) });
        let mut variants = self.variants.borrow_mut();
        variants.truncate(MOST_VARIANTS - 1);
        variants.insert(0, variant.clone());
        variant
    }

    /// The literals of a text that are no values.
    fn fixed<'t>(&self, shape: &Shape<'t>) -> impl Iterator<Item = &'t str> {
        let mut values = self.values.iter().map(|value| value.literal).peekable();
        let fixed = move |at: &usize| values.next_if_eq(at).is_none();
        (0..shape.literals().len()).filter(fixed).map(|at| shape.written(&shape.literals()[at]))
    }
}

impl Session {
    /// The shape of a simple query, if it may be shared now.
    pub(super) fn shape_of<'t>(&self, text: &'t str) -> Option<Shape<'t>> {
        let failed = self.txn.borrow().state() == BlockState::Failed;
        // A plan that is told of is that of the text.
        let told = self.settings.borrow().fast().watch.explained_from().is_some();
        if failed || told { None } else { parse::shape::scan(text) }
    }

    /// How a text would run, by what the session knows of its shape; none if it has not seen that. For tests: no client can tell.
    pub fn sharing_of(&self, text: &str) -> Option<Sharing> {
        let shape = parse::shape::scan(text)?;
        let entry = self.shapes.find(&shape)?;
        let Some(variant) = entry.variant(&shape) else { return Some(Sharing::Unseen) };
        Some(match &*variant.state.borrow() {
            State::Seen(_) => Sharing::Seen,
            State::Shared(shared) if shared.proven.get() => Sharing::Shared,
            State::Shared(_) => Sharing::Untried,
            State::Alone => Sharing::Alone,
        })
    }

    /// A run of the statement that texts of this shape are, with a plan; `None` if the text is to run as it is.
    pub(super) fn portal_of_shape(&self, shape: &Shape<'_>) -> SqlResult<Option<Box<Portal>>> {
        let Some(entry) = self.shapes.find(shape) else { return Ok(None) };
        let Some(variant) = entry.variant(shape) else { return Ok(None) };
        let shared = match &*variant.state.borrow() {
            State::Shared(shared) => shared.clone(),
            State::Seen(_) | State::Alone => return Ok(None),
        };
        let notices = self.notices.raised();
        match self.plan_of_shape(&shared, shape, &entry.values) {
            Ok(Some((params, planned))) => {
                shared.proven.set(true);
                return Ok(Some(Portal::of_text(shape.text(), shared.source.clone(), params, planned)));
            }
            Ok(None) => {}
            Err(error) if concerns_all(&error) => return Err(error),
            Err(_) => {
                let state = if shared.proven.get() { State::Seen(0) } else { State::Alone };
                *variant.state.borrow_mut() = state;
            }
        }
        // The text itself brings them.
        self.notices.forget_since(notices);
        Ok(None)
    }

    /// The values of a text's literals and a plan for them; `None` if a literal is no value of its parameter's type, or if the text fails
    /// when it is planned. An error is one of the
    /// statement.
    fn plan_of_shape(
        &self,
        shared: &Shared,
        shape: &Shape<'_>,
        values: &[Value],
    ) -> SqlResult<Option<(Params, Rc<Planned>)>> {
        shared.source.read_names_again();
        let generic = self.current_plan(&shared.source)?;
        let same = shared.proven.get() || generic.shared.columns == shared.columns;
        if !(generic.shared.suits_literals && shared.source.is_timeless() && same) {
            return Err(SqlError::internal("the statement is not what its texts are"));
        }
        let format = self.format();
        let call = Call::new(&format).with_session(self);
        let mut params = Params::with_capacity(values.len());
        for (value, &ty) in values.iter().zip(&*generic.shared.params) {
            match value_of(shape, value, ty, &call) {
                Ok(datum) => params.push(datum),
                Err(error) if concerns_all(&error) => return Err(error),
                Err(_) => return Ok(None),
            }
        }
        if !generic.shared.suits_values(&params) {
            return Ok(None);
        }
        let planned = self.choose_plan(&shared.source, generic, &params, Wanted::Equivalent, shape.text())?;
        Ok(Some((params, planned)))
    }

    /// Remembers that a text ran as it is.
    pub(super) fn note_shape(&self, shape: &Shape<'_>, source: &Source) {
        let Work::Query(raw) = &source.work else { return };
        let entry = self.shapes.find(shape).unwrap_or_else(|| {
            let values = parse::shape::values(&raw.stmt, shape).into();
            let entry = Rc::new(Entry { skeleton: shape.skeleton(), values, variants: RefCell::default() });
            self.shapes.0.borrow_mut().insert(shape.hash(), entry.clone());
            entry
        });
        if entry.values.is_empty() {
            return;
        }
        let variant = entry.variant(shape).unwrap_or_else(|| entry.new_variant(shape));
        let mut state = variant.state.borrow_mut();
        let State::Seen(before) = *state else { return };
        *state = match before + 1 {
            FIRST_TEXTS => match with_parameters(shape, &entry.values) {
                Some(with) => {
                    let (columns, proven) = (source.columns(), Cell::new(false));
                    State::Shared(Rc::new(Shared { source: with, columns, proven }))
                }
                None => State::Alone,
            },
            seen => State::Seen(seen),
        };
    }

    /// Whether a literal may stand for a parameter of this type, and the other way round.
    pub(super) fn suits_literals(&self, ty: Oid) -> bool {
        match ty {
            // The same text means another interval if the type allows only some of its fields.
            oids::interval => false,
            oids::bool
            | oids::int2
            | oids::int4
            | oids::int8
            | oids::float4
            | oids::float8
            | oids::numeric => true,
            oids::text | oids::varchar | oids::bpchar | oids::name | oids::bytea | oids::uuid => true,
            oids::date | oids::time | oids::timetz | oids::timestamp | oids::timestamptz => true,
            oids::json | oids::jsonb | oids::inet | oids::cidr | oids::oid => true,
            oids::_int2 | oids::_int4 | oids::_int8 | oids::_text | oids::_varchar | oids::_uuid => true,
            _ if ty.is_pinned() => false,
            _ => matches!(self.type_by_oid(ty), Ok(Some(def)) if matches!(def.kind, TypeKind::Enum(_))),
        }
    }
}

/// Whether an error is nothing that the text of a statement could avoid: it is reported as it is.
fn concerns_all(error: &SqlError) -> bool {
    let code = error.code();
    let class = code.as_str().get(..2).unwrap_or_default();
    error.report().severity >= Severity::Fatal || matches!(class, "40" | "53" | "55" | "57" | "58")
}

/// The statement of a text with parameters in place of its values.
fn with_parameters(shape: &Shape<'_>, values: &[Value]) -> Option<Rc<Source>> {
    let mut text = String::with_capacity(shape.text().len());
    let mut given = Vec::with_capacity(values.len());
    let mut from = 0;
    for (i, value) in values.iter().enumerate() {
        let literal = &shape.literals()[value.literal];
        write!(text, "{} ${} ", &shape.text()[from..literal.start - value.sign], i + 1).ok()?;
        given.push(match literal.class {
            Class::Int4 => oids::int4,
            Class::Int8 => oids::int8,
            Class::Numeric => oids::numeric,
            Class::Text => Oid::INVALID,
        });
        from = literal.end;
    }
    text.push_str(&shape.text()[from..]);
    let mut parsed = parse::parse_with_notices(&escapes_read(&text).ok()?).ok()?;
    let statement = parsed.statements.pop()?;
    let alone = parsed.statements.is_empty() && parsed.notices.is_empty();
    alone.then(|| Source::of_shape(text, statement, given))
}

/// The value that a literal gives to a parameter of this type.
fn value_of(shape: &Shape<'_>, value: &Value, ty: Oid, call: &Call<'_>) -> SqlResult<Datum> {
    let literal = &shape.literals()[value.literal];
    let written = shape.written(literal);
    let overflow = || SqlError::internal("a literal is larger than its class");
    match literal.class {
        Class::Int4 => {
            let number: i32 = written.parse().map_err(|_| overflow())?;
            Ok(Datum::Int4(if value.sign > 0 { -number } else { number }))
        }
        Class::Int8 => Ok(Datum::Int8(written.parse().map_err(|_| overflow())?)),
        Class::Numeric if value.sign > 0 => types::input(ty, &format!("-{written}"), -1, call),
        Class::Numeric => types::input(ty, written, -1, call),
        Class::Text => {
            let text = &written[1..written.len() - 1];
            let text =
                if text.contains('\'') { Cow::Owned(text.replace("''", "'")) } else { Cow::Borrowed(text) };
            types::input(ty, &text, -1, call)
        }
    }
}
