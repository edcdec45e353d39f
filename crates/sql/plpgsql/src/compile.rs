//! From a function's definition to its statements, kept by session.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use base::{Oid, SqlError, SqlResult, SqlState};
use catalog::FunctionDef;
use rustc_hash::FxHashMap;
use session::Session;
use session::routine::{Epoch, Invocation, within_body};
use types::oids;

use crate::ast::*;
use crate::namespace;
use crate::parse::{Parser, Returns};

/// The functions that a session has called.
#[derive(Default)]
pub struct Compiled {
    functions: RefCell<FxHashMap<Oid, Vec<Variant>>>,
    turn: Cell<u64>,
    /// Of the present turn.
    epoch: RefCell<Option<Epoch>>,
}

impl Compiled {
    /// A number that changes with what expressions depend on (catalogs, settings, the user): one that was found current in a turn is so to its end.
    #[inline]
    pub fn turn(&self) -> u64 {
        self.turn.get()
    }

    /// To be called when anything may have changed: if something has, another turn begins.
    #[inline]
    pub fn look_again(&self, session: &Session) {
        if !self.epoch.borrow().as_ref().is_some_and(|epoch| session.is_epoch(epoch)) {
            self.next_turn(session.epoch());
        }
    }

    #[cold]
    fn next_turn(&self, epoch: Epoch) {
        *self.epoch.borrow_mut() = Some(epoch);
        self.turn.set(self.turn.get() + 1);
    }
}

/// Variants of one function (argument types) kept before they are forgotten.
const MOST_VARIANTS: usize = 16;

/// A function for one set of types.
struct Variant {
    definition: Arc<FunctionDef>,
    types: (Vec<Oid>, Oid),
    function: Rc<Function>,
}

/// The compiled function for a call.
pub fn compiled(session: &Session, state: &Compiled, invocation: &Invocation<'_>) -> SqlResult<Rc<Function>> {
    let definition = invocation.function;
    let (args, result) = (invocation.call.arg_types, invocation.call.result_type);
    if let Some(known) = known(state, definition, (args, result)) {
        return Ok(known);
    }
    let function = Rc::new(compile(session, definition, args, result, None)?);
    keep(state, definition, (args.to_vec(), result), &function);
    Ok(function)
}

/// The compiled function of a trigger on a relation with rows of this type. `names_rows`: the trigger, if it has names for the rows of a
/// change, which queries of the function may know.
pub fn compiled_trigger(
    session: &Session,
    state: &Compiled,
    definition: &Arc<FunctionDef>,
    row_type: Oid,
    names_rows: Option<Oid>,
) -> SqlResult<Rc<Function>> {
    let both = [row_type, names_rows.unwrap_or_default()];
    let types = if names_rows.is_some() { &both[..] } else { &both[..1] };
    if let Some(known) = known(state, definition, (types, oids::trigger)) {
        return Ok(known);
    }
    let function = Rc::new(compile_trigger(session, definition, row_type, None)?);
    keep(state, definition, (types.to_vec(), oids::trigger), &function);
    Ok(function)
}

fn known(
    state: &Compiled,
    definition: &Arc<FunctionDef>,
    (args, result): (&[Oid], Oid),
) -> Option<Rc<Function>> {
    let all = state.functions.borrow();
    let same = |v: &&Variant| {
        v.types.1 == result
            && v.types.0 == args
            && (Arc::ptr_eq(&v.definition, definition) || v.definition == *definition)
    };
    all.get(&definition.oid)?.iter().find(same).map(|found| found.function.clone())
}

fn keep(state: &Compiled, definition: &Arc<FunctionDef>, types: (Vec<Oid>, Oid), function: &Rc<Function>) {
    let mut all = state.functions.borrow_mut();
    let variants = all.entry(definition.oid).or_default();
    variants.retain(|v| v.definition == *definition);
    if variants.len() >= MOST_VARIANTS {
        variants.clear();
    }
    variants.push(Variant { definition: definition.clone(), types, function: function.clone() });
}

/// Judges a function that is about to be made. Gives what it warns of.
pub fn validate(session: &Session, definition: &FunctionDef) -> SqlResult<Vec<SqlError>> {
    let mut warnings = Vec::new();
    let pseudo = |t: Oid| types::builtin_type(t).is_some_and(|t| t.kind == b'p');
    let fine = |t: Oid| analyze::is_polymorphic(t) || t == oids::record;
    let result = definition.result;
    if pseudo(result) && !fine(result) && result != oids::void {
        if result == oids::trigger {
            compile_trigger(session, definition, oids::record, Some(&mut warnings))?;
            return Ok(warnings);
        }
        if result == oids::event_trigger {
            return Err(SqlError::not_supported("an event trigger function"));
        }
        let shown = session.type_text(result);
        let message = format!("PL/pgSQL functions cannot return type {shown}");
        return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
    }
    if let Some(arg) = definition.args.iter().find(|t| pseudo(**t) && !fine(**t)) {
        let shown = session.type_text(*arg);
        let message = format!("PL/pgSQL functions cannot accept type {shown}");
        return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
    }
    // What polymorphic types are is known at a call only: integers stand for them.
    let stand_in = |t: &Oid| match *t {
        oids::anyarray | oids::anycompatiblearray => oids::_int4,
        t if analyze::is_polymorphic(t) => oids::int4,
        t => t,
    };
    let args: Vec<Oid> = definition.args.iter().map(stand_in).collect();
    compile(session, definition, &args, stand_in(&result), Some(&mut warnings))?;
    Ok(warnings)
}

/// Compiles the text of DO.
pub fn block(session: &Session, text: &str) -> SqlResult<Rc<Function>> {
    let text = &*session::escapes_read(text)?;
    let mut parser = Parser::new(session, text).map_err(|e| within_body(e, text))?;
    parser.returns = Returns { void: true, ..Returns::default() };
    namespace::push_level(&mut parser.scope, Some("inline_code_block".to_owned()), false);
    let found = found(&mut parser);
    let body = parser.function().map_err(|e| near(e, text, "inline_code_block", &parser))?;
    Ok(Rc::new(Function {
        signature: "inline_code_block".to_owned(),
        rows: rows(&parser.variables),
        more_slots: Cell::new(0),
        variables: parser.variables,
        arguments: Vec::new(),
        outputs: Vec::new(),
        found,
        kind: FunctionKind::Block,
        result: oids::void,
        returns_row: false,
        returns_set: false,
        plain_result: None,
        print_strict_params: parser.print_strict_params,
        trigger: None,
        table: RefCell::default(),
        spare: RefCell::default(),
        body,
    }))
}

fn found(parser: &mut Parser<'_>) -> VarId {
    let ty = TypeRef { oid: oids::bool, typmod: -1, collation: Oid::INVALID };
    parser.declare(variable("found", VariableKind::Scalar(ty)))
}

fn variable(name: &str, kind: VariableKind) -> Variable {
    Variable { name: name.to_owned(), line: 0, kind, constant: false, not_null: false, default: None }
}

/// An error of compilation: with its place in the text, or the line near which it came up.
fn near(error: SqlError, text: &str, name: &str, parser: &Parser<'_>) -> SqlError {
    match error.report().position {
        Some(_) => within_body(error, text),
        None => {
            let line = parser.latest_line();
            error.context(format!("compilation of PL/pgSQL function \"{name}\" near line {line}"))
        }
    }
}

fn compile(
    session: &Session,
    definition: &FunctionDef,
    arg_types: &[Oid],
    result: Oid,
    warnings: Option<&mut Vec<SqlError>>,
) -> SqlResult<Function> {
    let text = &*session::escapes_read(&definition.source)?;
    let mut parser = Parser::new(session, text).map_err(|e| within_body(e, text))?;
    parser.look_for_shadows(warnings.is_some());
    let result = if result.is_valid() { result } else { definition.result };
    let procedure = definition.kind == 'p';
    parser.returns = Returns {
        void: result == oids::void,
        set: definition.returns_set,
        outputs: !definition.out_columns.is_empty(),
        procedure,
    };
    namespace::push_level(&mut parser.scope, Some(definition.name.clone()), false);
    let (arguments, outputs) = parameters(session, definition, arg_types, &mut parser)?;
    let found = found(&mut parser);
    let body = parser.function().map_err(|e| near(e, text, &definition.name, &parser))?;
    if let Some(warnings) = warnings {
        warnings.append(&mut parser.warnings);
    }
    let shown: Vec<String> = definition.args.iter().map(|t| session.type_text(*t)).collect();
    Ok(Function {
        signature: format!("{}({})", definition.name, shown.join(",")),
        rows: rows(&parser.variables),
        more_slots: Cell::new(0),
        variables: parser.variables,
        arguments,
        outputs,
        found,
        kind: if procedure { FunctionKind::Procedure } else { FunctionKind::Function },
        result,
        returns_row: result == oids::record || session.row_columns_of(result)?.is_some(),
        returns_set: definition.returns_set,
        plain_result: Some(result).filter(|t| {
            let builtin = types::builtin_type(*t);
            !definition.returns_set && builtin.is_some_and(|t| matches!(t.kind, b'b' | b'r' | b'm'))
        }),
        print_strict_params: parser.print_strict_params,
        trigger: None,
        table: RefCell::default(),
        spare: RefCell::default(),
        body,
    })
}

/// Compiles the function of triggers on relations with rows of a type; `record` stands for any.
fn compile_trigger(
    session: &Session,
    definition: &FunctionDef,
    row_type: Oid,
    warnings: Option<&mut Vec<SqlError>>,
) -> SqlResult<Function> {
    if !definition.parameters.is_empty() {
        let message = "trigger functions cannot have declared arguments";
        return Err(SqlError::new(SqlState::INVALID_FUNCTION_DEFINITION, message)
            .hint("The arguments of the trigger can be accessed through TG_NARGS and TG_ARGV instead."));
    }
    let text = &*session::escapes_read(&definition.source)?;
    let mut parser = Parser::new(session, text).map_err(|e| within_body(e, text))?;
    parser.look_for_shadows(warnings.is_some());
    parser.returns = Returns::default();
    namespace::push_level(&mut parser.scope, Some(definition.name.clone()), false);
    let row = TypeRef { oid: row_type, typmod: -1, collation: Oid::INVALID };
    let new = parser.declare(variable("new", VariableKind::Record(row)));
    let old = parser.declare(variable("old", VariableKind::Record(row)));
    let mut facts = None;
    for (name, oid) in TRIGGER_FACTS {
        let ty = TypeRef { oid, typmod: -1, collation: session.type_collation_of(oid)? };
        let id = parser.declare(variable(name, VariableKind::Scalar(ty)));
        facts.get_or_insert(id);
    }
    let found = found(&mut parser);
    let body = parser.function().map_err(|e| near(e, text, &definition.name, &parser))?;
    if let Some(warnings) = warnings {
        warnings.append(&mut parser.warnings);
    }
    Ok(Function {
        signature: format!("{}()", definition.name),
        rows: rows(&parser.variables),
        more_slots: Cell::new(0),
        variables: parser.variables,
        arguments: Vec::new(),
        outputs: Vec::new(),
        found,
        kind: FunctionKind::Trigger,
        result: oids::trigger,
        returns_row: true,
        returns_set: false,
        plain_result: None,
        print_strict_params: parser.print_strict_params,
        trigger: facts.map(|facts| TriggerVariables { new, old, facts, uses_facts: may_name_facts(text) }),
        table: RefCell::default(),
        spare: RefCell::default(),
        body,
    })
}

/// One more than the number of the last record.
fn rows(variables: &[Variable]) -> usize {
    variables.iter().rposition(|v| matches!(v.kind, VariableKind::Record(_))).map_or(0, |last| last + 1)
}

/// Whether a text can name one of [`TRIGGER_FACTS`]: a name is written out, or with escapes.
fn may_name_facts(text: &str) -> bool {
    let has = |word: &[u8]| text.as_bytes().windows(word.len()).any(|part| part.eq_ignore_ascii_case(word));
    has(b"tg_") || has(b"u&")
}

/// Declares the parameters: `$n`, and their names. Gives the variables of inputs and of outputs.
fn parameters(
    session: &Session,
    definition: &FunctionDef,
    arg_types: &[Oid],
    parser: &mut Parser<'_>,
) -> SqlResult<(Vec<VarId>, Vec<VarId>)> {
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    let resolved = session.output_types_of(definition, arg_types)?;
    let mut output_types = resolved.into_iter();
    for (i, parameter) in definition.parameters.iter().enumerate() {
        let is_input = !matches!(parameter.mode, b'o' | b't');
        let is_output = matches!(parameter.mode, b'o' | b'b' | b't');
        let output_type = if is_output { output_types.next() } else { None };
        let type_oid = match is_input {
            true => arg_types.get(inputs.len()).copied().filter(|t| t.is_valid()),
            false => output_type,
        };
        let type_oid = type_oid.unwrap_or(parameter.type_oid);
        let collation = session.type_collation_of(type_oid)?;
        let ty = TypeRef { oid: type_oid, typmod: -1, collation };
        let row = type_oid == oids::record || session.row_columns_of(type_oid)?.is_some();
        let kind = if row { VariableKind::Record(ty) } else { VariableKind::Scalar(ty) };
        // Messages call a parameter by its name.
        let shown = if parameter.name.is_empty() { format!("${}", i + 1) } else { parameter.name.clone() };
        let id = parser.declare(variable(&shown, kind));
        namespace::push_variable(&mut parser.scope, &format!("${}", i + 1), id, row);
        if is_input {
            inputs.push(id);
        }
        if is_output {
            outputs.push(id);
        }
    }
    Ok((inputs, outputs))
}
