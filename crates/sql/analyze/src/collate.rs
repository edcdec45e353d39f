//! Derivation of collations.
//!
//! PostgreSQL counterpart: `parse_collate.c`; the rules are those of the documentation's "Collation Support".

use base::{Oid, SqlResult, sql_err};

use crate::core::Analyzer;
use crate::expr::{Expr, Location, SubLinkType, TargetEntry};
use crate::json_tree::Json;
use crate::query::Query;

/// The collation of the database.
const DEFAULT_COLLATION: Oid = Oid(100);

/// How a collation came about, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Strength {
    None,
    Implicit,
    Conflict,
    Explicit,
}

/// Collation of an expression, and how firm it is.
#[derive(Clone, Copy, Debug)]
struct State {
    collation: Oid,
    strength: Strength,
    location: Location,
    /// Of a conflict: what `collation` does not agree with, at `location`.
    other: Oid,
}

const NOTHING: State = State {
    collation: Oid::INVALID,
    strength: Strength::None,
    location: Location::NONE,
    other: Oid::INVALID,
};

impl State {
    /// The collation; 0 if several do not agree.
    fn usable(self) -> Oid {
        if self.strength == Strength::Conflict { Oid::INVALID } else { self.collation }
    }

    /// The same, for a place where they must agree.
    fn agreed(self, analyzer: &Analyzer<'_>) -> SqlResult<Oid> {
        if self.strength != Strength::Conflict {
            return Ok(self.collation);
        }
        let error = sql_err!(
            COLLATION_MISMATCH,
            "collation mismatch between implicit collations \"{}\" and \"{}\"",
            name(analyzer, self.collation),
            name(analyzer, self.other)
        )
        .hint("You can choose the collation by applying the COLLATE clause to one or both expressions.");
        Err(analyzer.at(error, self.location))
    }
}

/// Sets the collations of an expression.
pub(crate) fn assign(analyzer: &Analyzer<'_>, e: &mut Expr) -> SqlResult<()> {
    derive(analyzer, e).map(|_| ())
}

/// Sets the collations of all expressions of a query; its subqueries have theirs.
pub(crate) fn assign_query(analyzer: &Analyzer<'_>, query: &mut Query) -> SqlResult<()> {
    crate::walk::roots_mut(query, &mut |e| assign(analyzer, e))?;
    query.targets.iter().try_for_each(|target| check_key(analyzer, target))
}

/// What is sorted or grouped by must have a collation, if its type has any.
fn check_key(analyzer: &Analyzer<'_>, target: &TargetEntry) -> SqlResult<()> {
    let settled = || crate::facts::expr_collation(&target.expr).is_valid();
    if target.sort_ref == 0
        || settled()
        || !analyzer.type_collation(analyzer.type_of(&target.expr))?.is_valid()
    {
        return Ok(());
    }
    derive(analyzer, &mut target.expr.clone())?.agreed(analyzer).map(|_| ())
}

/// The collation that several expressions have together; 0 if they disagree.
pub(crate) fn common(analyzer: &Analyzer<'_>, exprs: &[&Expr]) -> SqlResult<Oid> {
    let mut state = NOTHING;
    for e in exprs {
        let mut e = (*e).clone();
        state = merge(analyzer, state, derive(analyzer, &mut e)?)?;
    }
    Ok(state.usable())
}

/// A column of one input of a set operation.
pub(crate) struct SetInput<'a> {
    /// What it is made of, if the input is a query and not a set operation itself.
    pub expr: Option<&'a Expr>,
    /// Collation of the column.
    pub collation: Oid,
    /// Where the input has it.
    pub location: Location,
}

/// The collation of a column of a set operation over two inputs, `natural` if they have none. If they disagree it is 0, or an error where rows are to
/// be compared.
pub(crate) fn of_set(
    analyzer: &Analyzer<'_>,
    inputs: [SetInput<'_>; 2],
    natural: Oid,
    compares: bool,
) -> SqlResult<Oid> {
    let mut state = NOTHING;
    for input in inputs {
        let own = match input.expr {
            Some(e) => derive(analyzer, &mut e.clone())?,
            None => implicit(input.collation, input.location),
        };
        state = merge(analyzer, state, own)?;
    }
    match state.strength {
        Strength::None => Ok(natural),
        _ if compares => state.agreed(analyzer),
        _ => Ok(state.usable()),
    }
}

fn merge(analyzer: &Analyzer<'_>, a: State, b: State) -> SqlResult<State> {
    use std::cmp::Ordering;
    Ok(match b.strength.cmp(&a.strength) {
        Ordering::Greater => b,
        Ordering::Less => a,
        Ordering::Equal => match a.strength {
            Strength::Implicit if a.collation != b.collation => {
                // The default collation gives way to any other.
                if b.collation == DEFAULT_COLLATION {
                    a
                } else if a.collation == DEFAULT_COLLATION {
                    b
                } else {
                    State { strength: Strength::Conflict, location: b.location, other: b.collation, ..a }
                }
            }
            Strength::Explicit if a.collation != b.collation => {
                let error = sql_err!(
                    COLLATION_MISMATCH,
                    "collation mismatch between explicit collations \"{}\" and \"{}\"",
                    name(analyzer, a.collation),
                    name(analyzer, b.collation)
                );
                return Err(analyzer.at(error, b.location));
            }
            _ => a,
        },
    })
}

/// Name of a collation.
pub(crate) fn name(analyzer: &Analyzer<'_>, oid: Oid) -> String {
    match oid.0 {
        100 => "default".to_owned(),
        950 => "C".to_owned(),
        951 => "POSIX".to_owned(),
        _ => analyzer.catalog.collation_by_oid(oid).ok().flatten().map_or(oid.to_string(), |c| c.name),
    }
}

fn implicit(collation: Oid, location: Location) -> State {
    let strength = if collation.is_valid() { Strength::Implicit } else { Strength::None };
    State { collation, strength, location, other: Oid::INVALID }
}

/// Derives the collation of an expression and stores it in its nodes.
fn derive(analyzer: &Analyzer<'_>, e: &mut Expr) -> SqlResult<State> {
    let location = crate::facts::location(e);
    if let Expr::Collate(c) = e {
        assign(analyzer, &mut c.arg)?;
        return Ok(State {
            collation: c.collation,
            strength: Strength::Explicit,
            location: c.location,
            ..NOTHING
        });
    }
    // Leaves, and what has its collation already.
    if matches!(
        e,
        Expr::Var(_)
            | Expr::Const(_)
            | Expr::Param(_)
            | Expr::CaseTest(_)
            | Expr::DomainValue(_)
            | Expr::Default(_)
            | Expr::SqlValue(_)
    ) {
        if let Expr::Const(c) = e
            && !c.collation.is_valid()
        {
            c.collation = analyzer.type_collation(c.type_oid)?;
        }
        if let Expr::CaseTest(c) = e
            && !c.collation.is_valid()
        {
            c.collation = analyzer.type_collation(c.type_oid)?;
        }
        return Ok(implicit(crate::facts::expr_collation(e), location));
    }
    let inputs = input_state(analyzer, e)?;
    let result_type = analyzer.type_of(e);
    let collatable = analyzer.type_collation(result_type)?;
    let result = if let Expr::SubLink(s) = e {
        match s.kind {
            SubLinkType::Expr | SubLinkType::Array => implicit(crate::facts::expr_collation(e), location),
            _ => NOTHING,
        }
    } else if !collatable.is_valid() {
        NOTHING
    } else if inputs.strength == Strength::None
        || matches!(e, Expr::ToDomain(_)) && collatable != DEFAULT_COLLATION
    {
        implicit(collatable, location)
    } else {
        inputs
    };
    store(e, result.usable(), inputs.usable());
    if result.strength == Strength::Conflict {
        return Ok(result);
    }
    Ok(State { location: result.location.leftmost(location), ..result })
}

/// The collations of the operands merged.
fn input_state(analyzer: &Analyzer<'_>, e: &mut Expr) -> SqlResult<State> {
    let mut state = NOTHING;
    match e {
        Expr::Aggregate(a) => {
            for d in &mut a.direct_args {
                assign(analyzer, d)?;
            }
            for t in &mut a.args {
                let s = derive(analyzer, &mut t.expr)?;
                // Of an aggregate's ORDER BY keys that are no arguments the collation is their own affair.
                if !t.junk {
                    state = merge(analyzer, state, s)?;
                }
                check_key(analyzer, t)?;
            }
            if let Some(f) = &mut a.filter {
                assign(analyzer, f)?;
            }
        }
        Expr::Window(w) => {
            for a in &mut w.args {
                let s = derive(analyzer, a)?;
                state = merge(analyzer, state, s)?;
            }
            if let Some(f) = &mut w.filter {
                assign(analyzer, f)?;
            }
        }
        Expr::Case(c) => {
            if let Some(a) = &mut c.arg {
                assign(analyzer, a)?;
            }
            for (when, then) in &mut c.whens {
                assign(analyzer, when)?;
                let s = derive(analyzer, then)?;
                state = merge(analyzer, state, s)?;
            }
            let s = derive(analyzer, &mut c.default)?;
            state = merge(analyzer, state, s)?;
        }
        Expr::RowCompare(r) => {
            for i in 0..r.left.len() {
                let l = derive(analyzer, &mut r.left[i])?;
                let s = derive(analyzer, &mut r.right[i])?;
                let both = merge(analyzer, l, s)?;
                r.collations[i] = both.usable();
            }
        }
        Expr::Row(r) => {
            for a in &mut r.args {
                assign(analyzer, a)?;
            }
        }
        Expr::Subscript(s) => {
            for i in s.upper.iter_mut().chain(&mut s.lower).flatten() {
                assign(analyzer, i)?;
            }
            state = derive(analyzer, &mut s.arg)?;
            if let Some(a) = &mut s.assign {
                assign(analyzer, a)?;
            }
        }
        // What a path gives has the collation of its type, whatever its parts have.
        Expr::Json(json) if matches!(**json, Json::Path(_) | Json::Table(_)) => {
            json.children_mut(&mut |c| assign(analyzer, c))?;
        }
        Expr::Xml(xml) => {
            xml.children_mut(&mut |c| assign(analyzer, c))?;
            if xml.type_oid() == types::oids::text {
                state = implicit(Oid(100), xml.location());
            }
        }
        Expr::Field(f) => {
            assign(analyzer, &mut f.arg)?;
            state = implicit(f.collation, crate::facts::location(&f.arg));
        }
        Expr::ArrayCast(a) => {
            assign(analyzer, &mut a.element)?;
            state = derive(analyzer, &mut a.arg)?;
        }
        other => {
            crate::walk::children_mut(other, &mut |c| {
                let s = derive(analyzer, c)?;
                state = merge(analyzer, state, s)?;
                Ok::<(), base::SqlError>(())
            })?;
        }
    }
    Ok(state)
}

fn store(e: &mut Expr, collation: Oid, input: Oid) {
    match e {
        Expr::Func(x) => (x.collation, x.input_collation) = (collation, input),
        Expr::Op(x) | Expr::Distinct(x) | Expr::NullIf(x) => {
            (x.collation, x.input_collation) = (collation, input)
        }
        Expr::ScalarArray(x) => x.input_collation = input,
        Expr::Aggregate(x) => (x.collation, x.input_collation) = (collation, input),
        Expr::Window(x) => (x.collation, x.input_collation) = (collation, input),
        Expr::Subscript(x) => x.collation = collation,
        Expr::Relabel(x) => x.collation = collation,
        Expr::IoCast(x) => x.collation = collation,
        Expr::ArrayCast(x) => x.collation = collation,
        Expr::Case(x) => x.collation = collation,
        Expr::Array(x) => x.collation = collation,
        Expr::Coalesce(x) => x.collation = collation,
        Expr::MinMax(x) => (x.collation, x.input_collation) = (collation, input),
        Expr::ToDomain(x) => x.collation = collation,
        _ => {}
    }
}
