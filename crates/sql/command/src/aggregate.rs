//! # What
//! CREATE AGGREGATE.
//!
//! # PostgreSQL counterpart
//! `commands/aggregatecmds.c`, `AggregateCreate` of `catalog/pg_aggregate.c`.

use analyze::aggregate::{Step, step_function};
use base::{Oid, SqlError, SqlResult, SqlState, sql_err};
use catalog::INTERNAL_LANGUAGE;
use catalog::change::{NewAggregate, NewRoutine, NewSteps};
use catalog::system::pg_aggregate;
use catalog::{Parameter, RowExt};
use parse::ast::{Define, Name, ObjectKind, ObjectName, OptionValue, TypeName};
use session::Session;
use tuple::Datum;
use types::oids;

use super::operator::{named, type_oid, warning};
use super::parameters::{self, Parameters};
use super::{function, names, options};

/// Most arguments of an aggregate: its transition function has the state too.
const MOST_ARGUMENTS: usize = 99;

/// What the properties say.
#[derive(Default)]
struct Given {
    plain: GivenSteps,
    moving: GivenSteps,
    inverse: Option<Name>,
    combine: Option<Name>,
    serialize: Option<Name>,
    deserialize: Option<Name>,
    sort_operator: Option<Name>,
    base: Option<TypeName>,
    hypothetical: bool,
    parallel: Option<u8>,
}

/// What the properties say of one set of functions.
#[derive(Default)]
struct GivenSteps {
    transition: Option<Name>,
    finale: Option<Name>,
    final_extra: bool,
    final_modify: Option<u8>,
    state: Option<TypeName>,
    space: i32,
    initial: Option<String>,
}

fn wrong(message: impl Into<String>) -> SqlError {
    SqlError::new(SqlState::INVALID_FUNCTION_DEFINITION, message.into())
}

impl Given {
    fn read(session: &Session, statement: &Define) -> SqlResult<Given> {
        let mut given = Given::default();
        for option in &statement.definition {
            let name = || named(&option.value).map(Some);
            match option.name.as_str() {
                "sfunc" | "sfunc1" => given.plain.transition = name()?,
                "finalfunc" => given.plain.finale = name()?,
                "combinefunc" => given.combine = name()?,
                "serialfunc" => given.serialize = name()?,
                "deserialfunc" => given.deserialize = name()?,
                "msfunc" => given.moving.transition = name()?,
                "minvfunc" => given.inverse = name()?,
                "mfinalfunc" => given.moving.finale = name()?,
                "finalfunc_extra" => given.plain.final_extra = options::boolean(option)?,
                "mfinalfunc_extra" => given.moving.final_extra = options::boolean(option)?,
                "finalfunc_modify" => given.plain.final_modify = Some(modify(option)?),
                "mfinalfunc_modify" => given.moving.final_modify = Some(modify(option)?),
                "sortop" => given.sort_operator = name()?,
                "basetype" => given.base = Some(type_name(option)?),
                "hypothetical" => {
                    given.hypothetical = options::boolean(option)?;
                    if given.hypothetical && statement.direct.is_none() {
                        return Err(wrong("only ordered-set aggregates can be hypothetical"));
                    }
                }
                "stype" | "stype1" => given.plain.state = Some(type_name(option)?),
                "sspace" => given.plain.space = options::integer(option)?,
                "mstype" => given.moving.state = Some(type_name(option)?),
                "msspace" => given.moving.space = options::integer(option)?,
                "initcond" | "initcond1" => given.plain.initial = Some(options::string(option)?),
                "minitcond" => given.moving.initial = Some(options::string(option)?),
                "parallel" => given.parallel = Some(parallel(option)?),
                other => {
                    session.notice(warning(format!("aggregate attribute \"{other}\" not recognized")));
                }
            }
        }
        Ok(given)
    }

    /// What belongs together.
    fn check(&self) -> SqlResult<()> {
        if self.plain.state.is_none() {
            return Err(wrong("aggregate stype must be specified"));
        }
        if self.plain.transition.is_none() {
            return Err(wrong("aggregate sfunc must be specified"));
        }
        let moving = &self.moving;
        if moving.state.is_some() {
            if moving.transition.is_none() {
                return Err(wrong("aggregate msfunc must be specified when mstype is specified"));
            }
            if self.inverse.is_none() {
                return Err(wrong("aggregate minvfunc must be specified when mstype is specified"));
            }
            return Ok(());
        }
        let without = [
            ("msfunc", moving.transition.is_some()),
            ("minvfunc", self.inverse.is_some()),
            ("mfinalfunc", moving.finale.is_some()),
            ("msspace", moving.space != 0),
            ("minitcond", moving.initial.is_some()),
        ];
        match without.iter().find(|(_, given)| *given) {
            Some((what, _)) => Err(wrong(format!("aggregate {what} must not be specified without mstype"))),
            None => Ok(()),
        }
    }
}

/// FINALFUNC_MODIFY.
fn modify(option: &parse::ast::DefElem) -> SqlResult<u8> {
    match options::string(option)?.as_str() {
        "read_only" => Ok(b'r'),
        "shareable" => Ok(b's'),
        "read_write" => Ok(b'w'),
        _ => Err(sql_err!(
            SYNTAX_ERROR,
            "parameter \"{}\" must be READ_ONLY, SHAREABLE, or READ_WRITE",
            option.name
        )),
    }
}

fn parallel(option: &parse::ast::DefElem) -> SqlResult<u8> {
    match options::string(option)?.as_str() {
        "safe" => Ok(b's'),
        "restricted" => Ok(b'r'),
        "unsafe" => Ok(b'u'),
        _ => Err(sql_err!(SYNTAX_ERROR, "parameter \"parallel\" must be SAFE, RESTRICTED, or UNSAFE")),
    }
}

fn type_name(option: &parse::ast::DefElem) -> SqlResult<TypeName> {
    match &option.value {
        Some(OptionValue::Type(name)) => Ok(name.clone()),
        Some(OptionValue::String(name)) => {
            Ok(TypeName { names: vec![name.clone()], typmod: -1, ..TypeName::default() })
        }
        Some(_) => Err(sql_err!(SYNTAX_ERROR, "argument of {} must be a type name", option.name)),
        None => Err(sql_err!(SYNTAX_ERROR, "{} requires a parameter", option.name)),
    }
}

/// CREATE [OR REPLACE] AGGREGATE.
pub(crate) fn create(session: &Session, statement: &Define, text: &str) -> SqlResult<()> {
    let name = names::relation_name(&ObjectName::Name(statement.name.clone()))?;
    let schema = names::routine_schema(session, &name)?;
    let given = Given::read(session, statement)?;
    given.check()?;
    let arguments = arguments(session, statement, &given, text)?;
    let maker = Maker { session, text, inputs: arguments.inputs(), variadic: arguments.variadic };
    if maker.inputs.len() > MOST_ARGUMENTS {
        return Err(sql_err!(
            TOO_MANY_ARGUMENTS,
            "aggregates cannot have more than {MOST_ARGUMENTS} arguments"
        ));
    }
    maker.inputs.iter().try_for_each(|ty| names::check_type_usage(session, *ty))?;
    let (new, result) = maker.aggregate(statement, &given)?;
    let routine = NewRoutine {
        name: name.name.clone(),
        schema,
        owner: session.names.user(),
        language: Oid(INTERNAL_LANGUAGE),
        kind: b'a',
        cost: 1.0,
        rows: 0.0,
        variadic: arguments.variadic,
        security_definer: false,
        leakproof: false,
        strict: false,
        returns_set: false,
        volatility: b'i',
        parallel: given.parallel.unwrap_or(b'u'),
        result,
        parameters: arguments.list,
        defaults: Vec::new(),
        source: "aggregate_dummy".to_owned(),
        library: None,
        body: None,
        config: Vec::new(),
        needs: arguments.needs,
    };
    let old = function::replaced(session, statement.replace, &routine)?;
    if let Some(old) = old {
        check_kind(session, old, &routine.name, &new)?;
    }
    session.with_changer(|changer| changer.create_aggregate(&routine, &new, old).map(drop))
}

/// The arguments, which the old style has in a property.
fn arguments(session: &Session, statement: &Define, given: &Given, text: &str) -> SqlResult<Parameters> {
    if !statement.old_style {
        if given.base.is_some() {
            return Err(wrong("basetype is redundant with aggregate input type specification"));
        }
        return parameters::read(session, ObjectKind::Aggregate, &statement.parameters, (false, text));
    }
    let base = given.base.as_ref().ok_or_else(|| wrong("aggregate input type must be specified"))?;
    let mut read = Parameters::default();
    if !base.names.join(".").eq_ignore_ascii_case("any") {
        let type_oid = type_oid(session, base, text)?;
        read.list.push(Parameter { name: String::new(), type_oid, mode: b'i' });
    }
    Ok(read)
}

/// What OR REPLACE of an aggregate may not change.
fn check_kind(session: &Session, old: Oid, name: &str, new: &NewAggregate) -> SqlResult<()> {
    let row = session.with_reader(|r| r.aggregate_row(old))?;
    let row = row.ok_or_else(|| SqlError::internal(format!("cache lookup failed for aggregate {old}")))?;
    let kind = row.char(pg_aggregate::AGGKIND);
    if kind != new.kind {
        let is = match kind {
            b'o' => "an ordered-set aggregate",
            b'h' => "a hypothetical-set aggregate",
            _ => "an ordinary aggregate function",
        };
        return Err(
            sql_err!(WRONG_OBJECT_TYPE, "cannot change routine kind").detail(format!("\"{name}\" is {is}."))
        );
    }
    if row[pg_aggregate::AGGNUMDIRECTARGS] != Datum::Int2(new.direct_args) {
        return Err(wrong("cannot change number of direct arguments of an aggregate function"));
    }
    Ok(())
}

/// Finds functions for an aggregate with these arguments.
struct Maker<'a> {
    session: &'a Session,
    text: &'a str,
    inputs: Vec<Oid>,
    /// Element type of a trailing VARIADIC argument; 0 if none.
    variadic: Oid,
}

impl Maker<'_> {
    fn shown(&self, type_oid: Oid) -> String {
        analyze::names::format_type(self.session, type_oid, None)
    }

    /// The row of `pg_aggregate`, and the aggregate's result type.
    fn aggregate(&self, statement: &Define, given: &Given) -> SqlResult<(NewAggregate, Oid)> {
        let state = self.state(given.plain.state.as_ref())?;
        self.check_serial(given, state)?;
        let moving_state = self.state(given.moving.state.as_ref())?;
        self.check_initial(state, given.plain.initial.as_deref())?;
        self.check_initial(moving_state, given.moving.initial.as_deref())?;
        self.check_state(state)?;
        self.check_state(moving_state)?;
        let direct = statement.direct.unwrap_or(0);
        let kind = match statement.direct {
            None => b'n',
            Some(_) if given.hypothetical => b'h',
            Some(_) => b'o',
        };
        self.check_set(kind, direct)?;
        let modify = if kind == b'n' { b'r' } else { b'w' };
        let steps = |of: &GivenSteps, state: Oid, transition: Step| NewSteps {
            transition: transition.function,
            finale: Oid::INVALID,
            final_extra: of.final_extra,
            final_modify: of.final_modify.unwrap_or(modify),
            state,
            space: of.space,
            initial: of.initial.clone(),
        };
        let transition = self.transition(kind, direct, &given.plain, state)?;
        let mut new = NewAggregate {
            kind,
            direct_args: direct as i16,
            steps: steps(&given.plain, state, transition),
            moving: NewSteps { final_modify: modify, ..NewSteps::default() },
            ..NewAggregate::default()
        };
        if moving_state.is_valid() {
            let forward = self.transition(kind, direct, &given.moving, moving_state)?;
            new.inverse = self.inverse(kind, direct, given, (moving_state, forward))?;
            new.moving = steps(&given.moving, moving_state, forward);
        }
        let result = self.finale(direct, &given.plain, &mut new.steps)?;
        self.combining(given, state, &mut new)?;
        self.check_result(result)?;
        if moving_state.is_valid() {
            let moved = self.finale(direct, &given.moving, &mut new.moving)?;
            if moved != result {
                return Err(wrong(format!(
                    "moving-aggregate implementation returns type {}, but plain implementation returns type {}",
                    self.shown(moved),
                    self.shown(result)
                )));
            }
        }
        new.sort_operator = self.sort_operator(given)?;
        let used = [state, moving_state, result].into_iter();
        used.filter(|t| t.is_valid()).try_for_each(|t| names::check_type_usage(self.session, t))?;
        Ok((new, result))
    }

    /// Type of the state; 0 if none is given.
    fn state(&self, name: Option<&TypeName>) -> SqlResult<Oid> {
        let Some(name) = name else { return Ok(Oid::INVALID) };
        let found = type_oid(self.session, name, self.text)?;
        let pseudo = parameters::is_pseudo(self.session, found)? && !analyze::is_polymorphic(found);
        if pseudo && !(found == oids::internal && self.session.has_all_rights()?) {
            return Err(wrong(format!("aggregate transition data type cannot be {}", self.shown(found))));
        }
        Ok(found)
    }

    fn check_serial(&self, given: &Given, state: Oid) -> SqlResult<()> {
        match (&given.serialize, &given.deserialize) {
            (None, None) => Ok(()),
            (Some(_), Some(_)) if state == oids::internal => Ok(()),
            (Some(_), Some(_)) => Err(wrong(format!(
                "serialization functions may be specified only when the aggregate transition data type is {}",
                self.shown(oids::internal)
            ))),
            _ => Err(wrong("must specify both or neither of serialization and deserialization functions")),
        }
    }

    /// Reads the first state, so that it will not fail when the aggregate is called.
    fn check_initial(&self, state: Oid, initial: Option<&str>) -> SqlResult<()> {
        let Some(text) = initial else { return Ok(()) };
        if !state.is_valid() || parameters::is_pseudo(self.session, state)? {
            return Ok(());
        }
        let format = self.session.format();
        let call = types::Call::new(&format).with_session(self.session);
        types::input(state, text, -1, &call).map(drop)
    }

    /// A polymorphic state must follow from an argument.
    fn check_state(&self, state: Oid) -> SqlResult<()> {
        match parameters::undetermined(&self.inputs, state) {
            Some(detail) => Err(wrong("cannot determine transition data type").detail(detail)),
            None => Ok(()),
        }
    }

    /// What ordered-set aggregates must be like.
    fn check_set(&self, kind: u8, direct: usize) -> SqlResult<()> {
        if kind != b'n' && self.variadic.is_valid() && self.variadic != oids::any {
            return Err(sql_err!(
                FEATURE_NOT_SUPPORTED,
                "a variadic ordered-set aggregate must use VARIADIC type ANY"
            ));
        }
        let sorted = self.inputs.len().saturating_sub(direct);
        let matching = || {
            !self.variadic.is_valid()
                && direct >= sorted
                && self.inputs[direct - sorted..direct] == self.inputs[direct..]
        };
        if kind == b'h' && sorted > 0 && !matching() {
            return Err(wrong(
                "a hypothetical-set aggregate must have direct arguments matching its aggregated arguments",
            ));
        }
        Ok(())
    }

    /// A function with these arguments, which the current user must be allowed to call.
    fn step(&self, name: &Name, args: &[Oid], variadic: bool) -> SqlResult<Step> {
        let format = self.session.format();
        let call = types::Call::new(&format).with_session(self.session);
        let any = variadic && self.variadic == oids::any;
        let step = step_function(name, args, any, self.session, &call)?;
        self.session.check_function(self.session.names.user(), step.function)?;
        Ok(step)
    }

    /// A function that must give a type.
    fn giving(&self, what: &str, name: &Name, args: &[Oid], variadic: bool, result: Oid) -> SqlResult<Step> {
        let step = self.step(name, args, variadic)?;
        if step.result == result {
            return Ok(step);
        }
        let shown = self.shown(result);
        Err(sql_err!(DATATYPE_MISMATCH, "return type of {what} function {} is not {shown}", name.dotted()))
    }

    /// Arguments of a transition function: those of a direct and a sorted VARIADIC are one.
    fn transition_args(&self, kind: u8, direct: usize, state: Oid) -> Vec<Oid> {
        let from = match kind {
            b'n' => 0,
            _ => direct.min(self.inputs.len().saturating_sub(1)),
        };
        [&[state], &self.inputs[from..]].concat()
    }

    fn transition(&self, kind: u8, direct: usize, given: &GivenSteps, state: Oid) -> SqlResult<Step> {
        let name = given.transition.as_ref().ok_or_else(|| wrong("aggregate sfunc must be specified"))?;
        let args = self.transition_args(kind, direct, state);
        let step = self.giving("transition", name, &args, true, state)?;
        if step.strict && given.initial.is_none() {
            let format = self.session.format();
            let call = types::Call::new(&format).with_session(self.session);
            let fits = match self.inputs.first() {
                Some(first) => analyze::aggregate::is_binary_coercible(*first, state, self.session, &call)?,
                None => false,
            };
            if !fits {
                return Err(wrong(
                    "must not omit initial value when transition function is strict and transition type is not compatible with input type",
                ));
            }
        }
        Ok(step)
    }

    fn inverse(
        &self,
        kind: u8,
        direct: usize,
        given: &Given,
        (state, forward): (Oid, Step),
    ) -> SqlResult<Oid> {
        let Some(name) = &given.inverse else { return Ok(Oid::INVALID) };
        let args = self.transition_args(kind, direct, state);
        let step = self.giving("inverse transition", name, &args, true, state)?;
        if step.strict != forward.strict {
            return Err(wrong(
                "strictness of aggregate's forward and inverse transition functions must match",
            ));
        }
        Ok(step.function)
    }

    /// Finds the final function. Returns the result of the aggregate.
    fn finale(&self, direct: usize, given: &GivenSteps, steps: &mut NewSteps) -> SqlResult<Oid> {
        let Some(name) = &given.finale else { return Ok(steps.state) };
        let count = if given.final_extra { self.inputs.len() } else { direct };
        let args = [&[steps.state], &self.inputs[..count]].concat();
        let variadic = count == self.inputs.len() && count > 0;
        let step = self.step(name, &args, variadic)?;
        if given.final_extra && step.strict {
            return Err(wrong("final function with extra arguments must not be declared STRICT"));
        }
        steps.finale = step.function;
        Ok(step.result)
    }

    /// The functions that join and carry states.
    fn combining(&self, given: &Given, state: Oid, new: &mut NewAggregate) -> SqlResult<()> {
        if let Some(name) = &given.combine {
            let step = self.giving("combine", name, &[state, state], false, state)?;
            if state == oids::internal && step.strict {
                return Err(wrong(format!(
                    "combine function with transition type {} must not be declared STRICT",
                    self.shown(state)
                )));
            }
            new.combine = step.function;
        }
        if let Some(name) = &given.serialize {
            let step = self.giving("serialization", name, &[oids::internal], false, oids::bytea)?;
            new.serialize = step.function;
        }
        if let Some(name) = &given.deserialize {
            let args = [oids::bytea, oids::internal];
            new.deserialize = self.giving("deserialization", name, &args, false, oids::internal)?.function;
        }
        Ok(())
    }

    fn check_result(&self, result: Oid) -> SqlResult<()> {
        if let Some(detail) = parameters::undetermined(&self.inputs, result) {
            return Err(wrong("cannot determine result data type").detail(detail));
        }
        if result == oids::internal && !self.inputs.contains(&oids::internal) {
            return Err(wrong("unsafe use of pseudo-type \"internal\"")
                .detail("A function returning \"internal\" must have at least one \"internal\" argument."));
        }
        Ok(())
    }

    fn sort_operator(&self, given: &Given) -> SqlResult<Oid> {
        let Some(name) = &given.sort_operator else { return Ok(Oid::INVALID) };
        let [input] = self.inputs.as_slice() else {
            return Err(wrong("sort operator can only be specified for single-argument aggregates"));
        };
        match session::lookup::operator::find(self.session, name, *input, *input)? {
            Some(found) => Ok(found),
            None => {
                let (shown, name) = (self.shown(*input), name.dotted());
                Err(sql_err!(UNDEFINED_FUNCTION, "operator does not exist: {shown} {name} {shown}"))
            }
        }
    }
}
