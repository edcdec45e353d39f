//! # What
//! CREATE SEQUENCE, ALTER SEQUENCE, and the sequences of serial and identity columns.
//!
//! # Invariants
//! 1. What ALTER changes is in a new file: a rollback brings the old state back, as it does not for `nextval`.
//!
//! # Locks
//! ALTER takes SHARE ROW EXCLUSIVE on the sequence, which waits for transactions that used it (`nextval` takes ROW EXCLUSIVE).
//!
//! # PostgreSQL counterpart
//! `commands/sequence.c`; for columns `parser/parse_utilcmd.c`.

use base::{Oid, SqlError, SqlResult, SqlState, sql_err};
use catalog::change::{Dependency, NewSequence};
use catalog::{RelationKind, Sequence, Table};
use engine::sequence::SequenceRow;
use parse::ast::{
    CastExpr, DefElem, Expr, FuncCall, Literal, Location, Name, OptionValue, RangeVar, TypeName,
};
use session::Session;
use session::functions::quoted_relation;
use txn::LockMode;
use types::oids;

use super::names::at;
use super::{names, object_name, options, table, type_name};

/// A sequence as its options make it.
#[derive(Clone, Copy)]
struct Definition {
    sequence: Sequence,
    row: SequenceRow,
}

/// Options by what they say.
#[derive(Default)]
struct Options<'a> {
    type_name: Option<&'a DefElem>,
    increment: Option<&'a DefElem>,
    start: Option<&'a DefElem>,
    restart: Option<&'a DefElem>,
    max: Option<&'a DefElem>,
    min: Option<&'a DefElem>,
    cache: Option<&'a DefElem>,
    cycle: Option<&'a DefElem>,
    owned_by: Option<&'a DefElem>,
}

impl<'a> Options<'a> {
    fn sort(list: &'a [DefElem], text: &str) -> SqlResult<Options<'a>> {
        let mut out = Options::default();
        for option in list {
            let slot = match option.name.as_str() {
                "as" => &mut out.type_name,
                "increment" => &mut out.increment,
                "start" => &mut out.start,
                "restart" => &mut out.restart,
                "maxvalue" => &mut out.max,
                "minvalue" => &mut out.min,
                "cache" => &mut out.cache,
                "cycle" => &mut out.cycle,
                "owned_by" => &mut out.owned_by,
                "sequence_name" => {
                    let error = sql_err!(SYNTAX_ERROR, "invalid sequence option SEQUENCE NAME");
                    return Err(at(error, text, option.location));
                }
                other => return Err(SqlError::internal(format!("option \"{other}\" not recognized"))),
            };
            if slot.replace(option).is_some() {
                let error = sql_err!(SYNTAX_ERROR, "conflicting or redundant options");
                return Err(at(error, text, option.location));
            }
        }
        Ok(out)
    }
}

/// Least and greatest value of a sequence's type.
fn type_range(type_oid: Oid) -> (i64, i64) {
    match type_oid {
        oids::int2 => (i64::from(i16::MIN), i64::from(i16::MAX)),
        oids::int4 => (i64::from(i32::MIN), i64::from(i32::MAX)),
        _ => (i64::MIN, i64::MAX),
    }
}

/// An integer option; none for NO MAXVALUE and the like.
fn number(option: &DefElem) -> SqlResult<Option<i64>> {
    match &option.value {
        None => Ok(None),
        Some(OptionValue::Integer(n)) => Ok(Some(i64::from(*n))),
        Some(OptionValue::Float(digits)) => match digits.parse() {
            Ok(n) => Ok(Some(n)),
            Err(_) => Err(sql_err!(
                NUMERIC_VALUE_OUT_OF_RANGE,
                "value \"{digits}\" is out of range for type bigint"
            )),
        },
        Some(_) => Err(sql_err!(SYNTAX_ERROR, "{} requires a numeric value", option.name)),
    }
}

fn given(option: Option<&DefElem>) -> SqlResult<Option<i64>> {
    option.map_or(Ok(None), number)
}

fn wrong(message: String) -> SqlError {
    SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message)
}

/// What options make of a new sequence (`old` is none) or of an old one.
fn define(
    session: &Session,
    options: &Options<'_>,
    old: Option<Definition>,
    for_identity: bool,
    text: &str,
) -> SqlResult<Definition> {
    let init = old.is_none();
    let mut new = old.unwrap_or(Definition {
        sequence: Sequence {
            type_oid: oids::int8,
            start: 1,
            increment: 1,
            max: i64::MAX,
            min: 1,
            cache: 1,
            cycle: false,
        },
        row: SequenceRow { last_value: 1, log_count: 0, is_called: false },
    });
    new.row.log_count = 0;
    let mut follows = (false, false);
    if let Some(DefElem { value: Some(OptionValue::Type(name)), .. }) = options.type_name {
        let ty = session.with_reader(|reader| type_name::resolve(reader, name, text))?.oid;
        if !matches!(ty, oids::int2 | oids::int4 | oids::int8) {
            let what = if for_identity { "identity column" } else { "sequence" };
            return Err(wrong(format!("{what} type must be smallint, integer, or bigint")));
        }
        let (low, high) = type_range(new.sequence.type_oid);
        // A bound that was the type's follows the type.
        follows = (old.is_some() && new.sequence.min == low, old.is_some() && new.sequence.max == high);
        new.sequence.type_oid = ty;
    }
    if let Some(increment) = given(options.increment)? {
        if increment == 0 {
            return Err(wrong("INCREMENT must not be zero".into()));
        }
        new.sequence.increment = increment;
    }
    if let Some(cycle) = options.cycle {
        new.sequence.cycle = options::boolean(cycle)?;
    }
    bounds(&mut new.sequence, options, init, follows)?;
    positions(&mut new, options, init)?;
    if let Some(cache) = given(options.cache)? {
        if cache <= 0 {
            return Err(wrong(format!("CACHE ({cache}) must be greater than zero")));
        }
        new.sequence.cache = cache;
    }
    Ok(new)
}

/// MINVALUE and MAXVALUE: as given, as a new sequence has them, or, where they follow a changed type, its own.
fn bounds(
    sequence: &mut Sequence,
    options: &Options<'_>,
    init: bool,
    (min_follows, max_follows): (bool, bool),
) -> SqlResult<()> {
    let (low, high) = type_range(sequence.type_oid);
    let ascends = sequence.increment > 0;
    let shown = types::format_type(sequence.type_oid, None).unwrap_or_default();
    match given(options.max)? {
        Some(max) => sequence.max = max,
        None if init || max_follows || options.max.is_some() => {
            sequence.max = if ascends || max_follows { high } else { -1 };
        }
        None => {}
    }
    if !(low..=high).contains(&sequence.max) {
        let max = sequence.max;
        return Err(wrong(format!("MAXVALUE ({max}) is out of range for sequence data type {shown}")));
    }
    match given(options.min)? {
        Some(min) => sequence.min = min,
        None if init || min_follows || options.min.is_some() => {
            sequence.min = if !ascends || min_follows { low } else { 1 };
        }
        None => {}
    }
    let (min, max) = (sequence.min, sequence.max);
    if !(low..=high).contains(&min) {
        return Err(wrong(format!("MINVALUE ({min}) is out of range for sequence data type {shown}")));
    }
    if min >= max {
        return Err(wrong(format!("MINVALUE ({min}) must be less than MAXVALUE ({max})")));
    }
    Ok(())
}

fn positions(new: &mut Definition, options: &Options<'_>, init: bool) -> SqlResult<()> {
    let Sequence { min, max, increment, .. } = new.sequence;
    let within = |what: &str, value: i64| {
        if value < min {
            return Err(wrong(format!("{what} value ({value}) cannot be less than MINVALUE ({min})")));
        }
        if value > max {
            return Err(wrong(format!("{what} value ({value}) cannot be greater than MAXVALUE ({max})")));
        }
        Ok(())
    };
    match given(options.start)? {
        Some(start) => new.sequence.start = start,
        None if init => new.sequence.start = if increment > 0 { min } else { max },
        None => {}
    }
    within("START", new.sequence.start)?;
    let first = |value| SequenceRow { last_value: value, log_count: 0, is_called: false };
    match options.restart {
        Some(restart) => new.row = first(number(restart)?.unwrap_or(new.sequence.start)),
        None if init => new.row = first(new.sequence.start),
        None => {}
    }
    within("RESTART", new.row.last_value)
}

/// The row of a sequence that is locked.
fn row_of(session: &Session, table: &Table) -> SqlResult<SequenceRow> {
    let found = session.engine().read_sequence(table.file);
    found.map_err(|e| SqlError::new(SqlState::IO_ERROR, e.to_string()))
}

fn definition_of(session: &Session, table: &Table) -> SqlResult<Definition> {
    let sequence = table
        .sequence
        .ok_or_else(|| SqlError::internal(format!("cache lookup failed for sequence {}", table.oid)))?;
    Ok(Definition { sequence, row: row_of(session, table)? })
}

/// CREATE SEQUENCE.
pub(crate) fn create(
    session: &Session,
    name: &RangeVar,
    list: &[DefElem],
    if_not_exists: bool,
    text: &str,
) -> SqlResult<()> {
    let schema = table::target_schema(session, name)?;
    if if_not_exists && table::already_there(session, schema, &name.name, true)?.is_some() {
        return Ok(());
    }
    let sorted = Options::sort(list, text)?;
    let new = define(session, &sorted, None, false, text)?;
    table::already_there(session, schema, &name.name, false)?;
    let persistence = table::persistence(session, name, schema);
    let oid = enter(session, (schema, name.name.clone()), persistence, new)?;
    match sorted.owned_by {
        Some(option) => own(session, names::describe(session, oid)?.as_ref(), option),
        None => Ok(()),
    }
}

fn enter(
    session: &Session,
    (schema, name): (Oid, String),
    persistence: u8,
    new: Definition,
) -> SqlResult<Oid> {
    let new = NewSequence {
        name,
        schema,
        owner: session.names.user(),
        persistence,
        sequence: new.sequence,
        row: new.row,
    };
    session.with_changer(|changer| changer.create_sequence(&new))
}

/// ALTER SEQUENCE with options.
pub(crate) fn alter(
    session: &Session,
    name: &RangeVar,
    list: &[DefElem],
    missing_ok: bool,
    text: &str,
) -> SqlResult<()> {
    let Some(found) = names::try_open(session, name, LockMode::ShareRowExclusive)? else {
        if !missing_ok {
            return Err(names::missing(session, name)?);
        }
        let message = format!("relation \"{}\" does not exist, skipping", name.name);
        session.notice(names::notice(SqlState::SUCCESSFUL_COMPLETION, message));
        return Ok(());
    };
    names::check_sequence(&found)?;
    names::check_owner(session, &found)?;
    let sorted = Options::sort(list, text)?;
    if list.iter().any(|option| option.name != "owned_by") {
        change(session, &found, &sorted, false, text)?;
    }
    match sorted.owned_by {
        Some(option) => own(session, names::describe(session, found.oid)?.as_ref(), option),
        None => Ok(()),
    }
}

fn change(
    session: &Session,
    table: &Table,
    options: &Options<'_>,
    for_identity: bool,
    text: &str,
) -> SqlResult<()> {
    let old = definition_of(session, table)?;
    let new = define(session, options, Some(old), for_identity, text)?;
    session.with_changer(|changer| changer.alter_sequence(table.oid, &new.sequence, new.row))
}

/// ALTER of an identity column's sequence.
pub(crate) fn alter_identity(session: &Session, oid: Oid, list: &[DefElem], text: &str) -> SqlResult<()> {
    let table = names::describe(session, oid)?;
    names::lock(session, &table, LockMode::ShareRowExclusive, txn::LockWait::Block)?;
    change(session, names::describe(session, oid)?.as_ref(), &Options::sort(list, text)?, true, text)
}

/// SET LOGGED, SET UNLOGGED: it goes on where it is.
pub(super) fn set_persistence(session: &Session, oid: Oid, letter: char) -> SqlResult<()> {
    let old = definition_of(session, names::describe(session, oid)?.as_ref())?;
    session.with_changer(|changer| {
        changer.set_persistence(oid, letter)?;
        changer.alter_sequence(oid, &old.sequence, old.row)
    })
}

/// TRUNCATE ... RESTART IDENTITY: begins anew, unless the transaction rolls back.
pub(crate) fn restart(session: &Session, oid: Oid) -> SqlResult<()> {
    let table = names::describe(session, oid)?;
    names::lock(session, &table, LockMode::AccessExclusive, txn::LockWait::Block)?;
    let old = definition_of(session, names::describe(session, oid)?.as_ref())?;
    let row = SequenceRow { last_value: old.sequence.start, log_count: 0, is_called: false };
    session.with_changer(|changer| changer.alter_sequence(oid, &old.sequence, row))
}

/// OWNED BY.
fn own(session: &Session, sequence: &Table, option: &DefElem) -> SqlResult<()> {
    let parts: Vec<String> = match &option.value {
        Some(OptionValue::List(list)) => list.iter().filter_map(options::text).collect(),
        Some(value) => options::text(value).into_iter().collect(),
        None => Vec::new(),
    };
    let owner = match parts.as_slice() {
        [none] if none == "none" => None,
        [] | [_] => {
            return Err(sql_err!(SYNTAX_ERROR, "invalid OWNED BY option")
                .hint("Specify OWNED BY table.column or OWNED BY NONE."));
        }
        [relation @ .., column] => Some((owning_table(session, sequence, relation)?, column)),
    };
    if let Some((column, true)) = session.with_reader(|reader| reader.sequence_owner(sequence.oid))? {
        let table = names::describe(session, column.object)?;
        return Err(sql_err!(FEATURE_NOT_SUPPORTED, "cannot change ownership of identity sequence")
            .detail(format!("Sequence \"{}\" is linked to table \"{}\".", sequence.name, table.name)));
    }
    let owner = match owner {
        None => None,
        Some((table, column)) => match table.column(column) {
            Some((number, _)) => Some((table.oid, number, Dependency::Auto)),
            None => {
                return Err(sql_err!(
                    UNDEFINED_COLUMN,
                    "column \"{column}\" of relation \"{}\" does not exist",
                    table.name
                ));
            }
        },
    };
    session.with_changer(|changer| changer.own_sequence(sequence.oid, owner))
}

fn owning_table(session: &Session, sequence: &Table, name: &[String]) -> SqlResult<std::sync::Arc<Table>> {
    let name = names::relation_name(&parse::ast::ObjectName::Name(Name(name.to_vec())))?;
    let table = names::open(session, &name, LockMode::AccessShare)?;
    let fits = matches!(
        table.kind,
        RelationKind::Table
            | RelationKind::View
            | RelationKind::ForeignTable
            | RelationKind::PartitionedTable
    );
    if !fits {
        let kinds = names::plural(table.kind);
        return Err(sql_err!(WRONG_OBJECT_TYPE, "sequence cannot be owned by relation \"{}\"", table.name)
            .detail(format!("This operation is not supported for {kinds}.")));
    }
    if table.owner != sequence.owner {
        return Err(sql_err!(
            OBJECT_NOT_IN_PREREQUISITE_STATE,
            "sequence must have same owner as table it is linked to"
        ));
    }
    if table.schema != sequence.schema {
        return Err(sql_err!(
            OBJECT_NOT_IN_PREREQUISITE_STATE,
            "sequence must be in same schema as table it is linked to"
        ));
    }
    Ok(table)
}

/// A column that gets a sequence of its own.
pub(crate) struct ForColumn<'a> {
    /// Schema of the table, and of the sequence.
    pub(crate) schema: Oid,
    /// Table and column, for the name.
    pub(crate) table: &'a str,
    /// See `table`.
    pub(crate) column: &'a str,
    /// The column's type.
    pub(crate) type_oid: Oid,
    /// `pg_class.relpersistence` of the table, and of the sequence unless its options say another.
    pub(crate) persistence: u8,
    /// GENERATED AS IDENTITY, not serial.
    pub(crate) identity: bool,
}

/// Makes the sequence of a serial or identity column; [`catalog::change::Changer::own_sequence`] links them when the column is there.
pub(crate) fn for_column(
    session: &Session,
    of: &ForColumn<'_>,
    list: &[DefElem],
    text: &str,
) -> SqlResult<Oid> {
    let mut rest = Vec::with_capacity(list.len());
    let (mut named, mut persistence) = (None, of.persistence);
    for option in list {
        match (option.name.as_str(), &option.value) {
            ("sequence_name", Some(value)) => named = name_of(value),
            ("logged" | "unlogged", _) if of.persistence == b't' => {
                let message = "cannot set logged status of a temporary sequence";
                return Err(at(sql_err!(INVALID_TABLE_DEFINITION, "{message}"), text, option.location));
            }
            ("logged", _) => persistence = b'p',
            ("unlogged", _) => persistence = b'u',
            _ => rest.push(option.clone()),
        }
    }
    let sorted = Options::sort(&rest, text)?;
    if !matches!(of.type_oid, oids::int2 | oids::int4 | oids::int8) {
        return Err(wrong("identity column type must be smallint, integer, or bigint".into()));
    }
    let type_name =
        TypeName { names: vec![type_word(of.type_oid).into()], typmod: -1, ..TypeName::default() };
    let as_type = DefElem {
        namespace: None,
        name: "as".into(),
        value: Some(OptionValue::Type(type_name)),
        location: Location::NONE,
    };
    if let Some(twice) = sorted.type_name {
        let error = sql_err!(SYNTAX_ERROR, "conflicting or redundant options");
        return Err(at(error, text, twice.location));
    }
    let sorted = Options { type_name: Some(&as_type), ..sorted };
    let new = define(session, &sorted, None, of.identity, text)?;
    let (schema, name) = match named {
        Some(name) if name.schema.is_some() => (table::target_schema(session, &name)?, name.name),
        Some(name) => (of.schema, name.name),
        None => {
            let parts = (of.table, Some(of.column), "seq");
            (of.schema, object_name::free_relation(session, of.schema, parts, false)?)
        }
    };
    table::already_there(session, schema, &name, false)?;
    enter(session, (schema, name), persistence, new)
}

fn type_word(type_oid: Oid) -> &'static str {
    match type_oid {
        oids::int2 => "int2",
        oids::int4 => "int4",
        _ => "int8",
    }
}

fn name_of(value: &OptionValue) -> Option<RangeVar> {
    let parts: Vec<String> = match value {
        OptionValue::Names(parts) => parts.clone(),
        OptionValue::List(list) => list.iter().filter_map(options::text).collect(),
        value => options::text(value).into_iter().collect(),
    };
    names::relation_name(&parse::ast::ObjectName::Name(Name(parts))).ok()
}

/// `nextval('s'::regclass)`, the default of a serial column.
pub(crate) fn next_value(session: &Session, sequence: Oid) -> SqlResult<Expr> {
    let table = names::describe(session, sequence)?;
    let name = quoted_relation(&table.schema_name, &table.name);
    let constant = Expr::Const { value: Literal::String(name), location: Location::NONE };
    let regclass =
        TypeName { names: vec!["pg_catalog".into(), "regclass".into()], typmod: -1, ..TypeName::default() };
    let cast =
        Expr::Cast(Box::new(CastExpr { arg: constant, type_name: regclass, location: Location::NONE }));
    Ok(Expr::Func(Box::new(FuncCall {
        name: Name(vec!["pg_catalog".into(), "nextval".into()]),
        args: vec![cast],
        order_by: Vec::new(),
        filter: None,
        over: None,
        within_group: false,
        star: false,
        distinct: false,
        variadic: false,
        sql_syntax: false,
        location: Location::NONE,
    })))
}
