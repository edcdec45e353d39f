//! # What
//! CREATE and DROP of operators and casts.
//!
//! # PostgreSQL counterpart
//! `commands/operatorcmds.c`, `CreateCast` of `commands/functioncmds.c`.

use base::{Oid, SqlError, SqlResult, SqlState, sql_err};
use catalog::change::{NewCast, NewOperator, ObjectAddress};
use catalog::system::{pg_cast, pg_operator, pg_type};
use catalog::{CatalogView, RowExt, TypeKind};
use parse::ast::{
    CreateCast, Define, Drop, Name, ObjectKind, ObjectName, ObjectWithArgs, OptionValue, TypeName,
};
use session::Session;
use session::lookup::operator;
use types::oids;

use super::parameters::{is_pseudo, try_type};
use super::type_name::written;
use super::{alter_function, names, options, routine_name};

/// OID of a type as written.
pub(crate) fn type_oid(session: &Session, name: &TypeName, text: &str) -> SqlResult<Oid> {
    try_type(session, name, text)?.ok_or_else(|| {
        let error = sql_err!(UNDEFINED_OBJECT, "type \"{}\" does not exist", written(name));
        names::at(error, text, name.location)
    })
}

/// CREATE OPERATOR.
pub(crate) fn create(session: &Session, statement: &Define, text: &str) -> SqlResult<()> {
    let name = names::relation_name(&ObjectName::Name(statement.name.clone()))?;
    let schema = names::routine_schema(session, &name)?;
    let mut given = Given::default();
    for option in &statement.definition {
        let ty = || match &option.value {
            Some(OptionValue::Type(t)) if t.setof => {
                Err(sql_err!(INVALID_FUNCTION_DEFINITION, "SETOF type not allowed for operator argument"))
            }
            Some(OptionValue::Type(t)) => type_oid(session, t, text),
            _ => Err(sql_err!(SYNTAX_ERROR, "argument of {} must be a type name", option.name)),
        };
        match option.name.as_str() {
            "leftarg" => given.left = ty()?,
            "rightarg" => given.right = ty()?,
            "function" | "procedure" => given.function = Some(named(&option.value)?),
            "commutator" => given.commutator = Some(named(&option.value)?),
            "negator" => given.negator = Some(named(&option.value)?),
            "restrict" => given.restrict = Some(named(&option.value)?),
            "join" => given.join = Some(named(&option.value)?),
            "hashes" => given.hashes = options::boolean(option)?,
            "merges" => given.merges = options::boolean(option)?,
            "sort1" | "sort2" | "ltcmp" | "gtcmp" => given.merges = true,
            other => {
                let message = format!("operator attribute \"{other}\" not recognized");
                session.notice(warning(message));
            }
        }
    }
    let function = given
        .function
        .clone()
        .ok_or_else(|| sql_err!(INVALID_FUNCTION_DEFINITION, "operator function must be specified"))?;
    if !given.right.is_valid() {
        let (message, detail) = match given.left.is_valid() {
            false => ("operator argument types must be specified", None),
            true => (
                "operator right argument type must be specified",
                Some("Postfix operators are not supported."),
            ),
        };
        let error = SqlError::new(SqlState::INVALID_FUNCTION_DEFINITION, message);
        return Err(detail.map_or(error.clone(), |detail| error.detail(detail)));
    }
    let operands: Vec<Oid> = [given.left, given.right].into_iter().filter(|t| t.is_valid()).collect();
    operands.iter().try_for_each(|ty| names::check_type_usage(session, *ty))?;
    let (function, result) = function_of(session, &function, &operands)?;
    session.check_function(session.names.user(), function)?;
    names::check_type_usage(session, result)?;
    given.check(result)?;
    let known = session.with_reader(|r| r.operator_row(schema, &name.name, given.left, given.right))?;
    if known.as_ref().is_some_and(|row| row.oid(pg_operator::OPRCODE).is_valid()) {
        return Err(sql_err!(DUPLICATE_FUNCTION, "operator {} already exists", name.name));
    }
    let shell = known.map(|row| row.oid(pg_operator::OID));
    let other = |wanted: &Option<Name>, left: Oid, right: Oid| -> SqlResult<Option<Oid>> {
        let Some(wanted) = wanted else { return Ok(None) };
        if wanted.last() == name.name && (left, right) == (given.left, given.right) {
            return Ok(Some(Oid::INVALID));
        }
        match operator::find(session, wanted, left, right)? {
            Some(found) => Ok(Some(found)),
            None => shell_of(session, wanted, left, right).map(Some),
        }
    };
    let commutator = other(&given.commutator, given.right, given.left)?;
    let negator = other(&given.negator, given.left, given.right)?;
    if negator == Some(Oid::INVALID) {
        return Err(sql_err!(INVALID_FUNCTION_DEFINITION, "operator cannot be its own negator"));
    }
    let new = NewOperator {
        name: name.name.clone(),
        schema,
        owner: session.names.user(),
        left: given.left,
        right: given.right,
        result,
        function,
        commutator,
        negator,
        restrict: estimator(session, &given.restrict)?,
        join: estimator(session, &given.join)?,
        hashes: given.hashes,
        merges: given.merges,
    };
    session.with_changer(|changer| changer.create_operator(&new, shell).map(drop))
}

/// The place of an operator that does not exist yet, and is named by another one already.
pub(super) fn shell_of(session: &Session, wanted: &Name, left: Oid, right: Oid) -> SqlResult<Oid> {
    let name = names::relation_name(&ObjectName::Name(wanted.clone()))?;
    let schema = names::creation_schema(session, &name)?;
    let shell = NewOperator {
        name: name.name,
        schema,
        owner: session.names.user(),
        left,
        right,
        result: Oid::INVALID,
        function: Oid::INVALID,
        commutator: None,
        negator: None,
        restrict: Oid::INVALID,
        join: Oid::INVALID,
        hashes: false,
        merges: false,
    };
    session.with_changer(|changer| changer.create_operator(&shell, None))
}

/// ALTER OPERATOR ... OWNER TO.
pub(super) fn set_owner(session: &Session, object: &ObjectName, owner: Oid) -> SqlResult<()> {
    let oid = address(session, object)?.object;
    let index = pg_operator::PG_OPERATOR_OID_INDEX;
    let row = session.with_reader(|r| r.find_one(&pg_operator::TABLE, index, &[oid.into()]))?;
    let Some((_, row)) = row.filter(|(_, row)| row.oid(pg_operator::OPROWNER) != owner) else {
        return Ok(());
    };
    super::owner::check_new_owner(session, owner, row.oid(pg_operator::OPRNAMESPACE))?;
    session.with_changer(|changer| {
        changer.set_object_owner(ObjectAddress::operator(oid), pg_operator::OPROWNER, owner)
    })
}

/// ALTER OPERATOR ... SET SCHEMA.
pub(super) fn set_schema(session: &Session, object: Option<&ObjectName>, schema: &str) -> SqlResult<()> {
    let named = alter_function::with_args(object)?;
    let oid = named_operator(session, named)??;
    let to = names::schema_to_move_to(session, schema)?;
    let index = pg_operator::PG_OPERATOR_OID_INDEX;
    let row = session.with_reader(|r| r.find_one(&pg_operator::TABLE, index, &[oid.into()]))?;
    let Some((_, row)) = row.filter(|(_, row)| row.oid(pg_operator::OPRNAMESPACE) != to) else {
        return Ok(());
    };
    check_operator_owner(session, oid, &named.name, false)?;
    let (left, right) = (row.oid(pg_operator::OPRLEFT), row.oid(pg_operator::OPRRIGHT));
    let taken = session.with_reader(|r| r.operator_row(to, named.name.last(), left, right))?;
    if taken.is_some() {
        // PostgreSQL leaves this one to the index of its catalog.
        let name = named.name.last();
        return Err(sql_err!(
            UNIQUE_VIOLATION,
            "duplicate key value violates unique constraint \"pg_operator_oprname_l_r_n_index\""
        )
        .detail(format!(
            "Key (oprname, oprleft, oprright, oprnamespace)=({name}, {left}, {right}, {to}) already exists."
        )));
    }
    session.with_changer(|changer| {
        changer.set_object_schema(ObjectAddress::operator(oid), pg_operator::OPRNAMESPACE, to)
    })
}

/// What CREATE OPERATOR says.
#[derive(Default)]
pub(super) struct Given {
    pub(super) left: Oid,
    pub(super) right: Oid,
    pub(super) function: Option<Name>,
    pub(super) commutator: Option<Name>,
    pub(super) negator: Option<Name>,
    pub(super) restrict: Option<Name>,
    pub(super) join: Option<Name>,
    pub(super) hashes: bool,
    pub(super) merges: bool,
}

impl Given {
    /// What only operators of some shapes may have.
    pub(super) fn check(&self, result: Oid) -> SqlResult<()> {
        let wrong = |message: &str| Err(SqlError::new(SqlState::INVALID_FUNCTION_DEFINITION, message));
        if !self.left.is_valid() {
            match () {
                () if self.commutator.is_some() => {
                    return wrong("only binary operators can have commutators");
                }
                () if self.join.is_some() => return wrong("only binary operators can have join selectivity"),
                () if self.merges => return wrong("only binary operators can merge join"),
                () if self.hashes => return wrong("only binary operators can hash"),
                () => {}
            }
        }
        if result != oids::bool {
            match () {
                () if self.negator.is_some() => return wrong("only boolean operators can have negators"),
                () if self.restrict.is_some() => {
                    return wrong("only boolean operators can have restriction selectivity");
                }
                () if self.join.is_some() => {
                    return wrong("only boolean operators can have join selectivity");
                }
                () if self.merges => return wrong("only boolean operators can merge join"),
                () if self.hashes => return wrong("only boolean operators can hash"),
                () => {}
            }
        }
        Ok(())
    }
}

/// What is said of a property that does not exist.
pub(crate) fn warning(message: String) -> SqlError {
    SqlError::with_severity(base::Severity::Warning, SqlState::SYNTAX_ERROR, message)
}

/// The name that an option's value is.
pub(crate) fn named(value: &Option<OptionValue>) -> SqlResult<Name> {
    match value {
        Some(OptionValue::Type(t)) => Ok(Name(t.names.clone())),
        Some(OptionValue::List(list)) => Ok(Name(list.iter().filter_map(options::text).collect())),
        Some(value) => options::text(value)
            .map(|text| Name(vec![text]))
            .ok_or_else(|| sql_err!(SYNTAX_ERROR, "a name was expected")),
        None => Err(sql_err!(SYNTAX_ERROR, "a name was expected")),
    }
}

/// The function with this name and exactly these arguments: its OID and result type.
pub(crate) fn function_of(session: &Session, name: &Name, args: &[Oid]) -> SqlResult<(Oid, Oid)> {
    for schema in routine_name::schemas(session, name)? {
        let found = session.with_reader(|r| r.routine_oid(schema, name.last(), args))?;
        if let Some((oid, _)) = found {
            let row = session.with_reader(|r| r.routine_row(oid))?;
            let result = row.map_or(Oid::INVALID, |row| row.oid(catalog::system::pg_proc::PRORETTYPE));
            return Ok((oid, result));
        }
    }
    let shown = args.iter().map(|t| analyze::names::format_type(session, *t, None)).collect::<Vec<_>>();
    Err(sql_err!(UNDEFINED_FUNCTION, "function {}({}) does not exist", name.dotted(), shown.join(", ")))
}

/// The estimator of this name.
pub(super) fn estimator(session: &Session, name: &Option<Name>) -> SqlResult<Oid> {
    let Some(name) = name else { return Ok(Oid::INVALID) };
    let signatures: [&[Oid]; 2] = [
        &[oids::internal, oids::oid, oids::internal, oids::int4],
        &[oids::internal, oids::oid, oids::internal, oids::int2, oids::internal],
    ];
    for args in signatures {
        if let Ok((oid, _)) = function_of(session, name, args) {
            return Ok(oid);
        }
    }
    function_of(session, name, signatures[0]).map(|(oid, _)| oid)
}

/// The operator that DROP or COMMENT names, or why there is none.
pub(super) fn named_operator(session: &Session, named: &ObjectWithArgs) -> SqlResult<Result<Oid, SqlError>> {
    let mut types = [Oid::INVALID; 2];
    for (slot, arg) in types.iter_mut().zip(&named.args) {
        if let Some(arg) = arg {
            *slot = routine_name::resolve(session, arg)?;
        }
    }
    find_or_why(session, &named.name, types)
}

fn find_or_why(session: &Session, name: &Name, [left, right]: [Oid; 2]) -> SqlResult<Result<Oid, SqlError>> {
    if let Some(found) = operator::find(session, name, left, right)? {
        return Ok(Ok(found));
    }
    Ok(Err(operator::undefined(session, name, [left, right])))
}

/// The operator with this name and these operands; an error if there is none.
pub(crate) fn existing(session: &Session, name: &Name, operands: [Oid; 2]) -> SqlResult<Oid> {
    find_or_why(session, name, operands)?
}

/// Fails unless the current user owns an operator or, for a drop, its schema.
pub(super) fn check_operator_owner(session: &Session, oid: Oid, name: &Name, dropped: bool) -> SqlResult<()> {
    let key = [oid.into()];
    let index = pg_operator::PG_OPERATOR_OID_INDEX;
    let row = session.with_reader(|r| r.find_one(&pg_operator::TABLE, index, &key))?;
    if let Some((_, row)) = row
        && (names::owns(session, row.oid(pg_operator::OPROWNER))?
            || dropped && names::owns_schema(session, row.oid(pg_operator::OPRNAMESPACE))?)
    {
        return Ok(());
    }
    Err(sql_err!(INSUFFICIENT_PRIVILEGE, "must be owner of operator {}", name.dotted()))
}

/// What DROP OPERATOR names.
pub(crate) fn dropped_operators(session: &Session, statement: &Drop) -> SqlResult<Vec<ObjectAddress>> {
    let mut objects = Vec::with_capacity(statement.objects.len());
    for object in &statement.objects {
        let named = alter_function::with_args(Some(object))?;
        let found = match named_operator(session, named) {
            Ok(Ok(found)) => found,
            Ok(Err(missing)) | Err(missing) => {
                if !statement.missing_ok {
                    return Err(missing);
                }
                let message = format!("operator {} does not exist, skipping", named.name.dotted());
                session.notice(names::notice(SqlState::SUCCESSFUL_COMPLETION, message));
                continue;
            }
        };
        check_operator_owner(session, found, &named.name, true)?;
        objects.push(ObjectAddress::operator(found));
    }
    Ok(objects)
}

/// The operator that COMMENT names.
pub(crate) fn address(session: &Session, object: &ObjectName) -> SqlResult<ObjectAddress> {
    let named = alter_function::with_args(Some(object))?;
    let found = named_operator(session, named)??;
    check_operator_owner(session, found, &named.name, false)?;
    Ok(ObjectAddress::operator(found))
}

/// The cast that COMMENT names.
pub(crate) fn cast_address(session: &Session, object: &ObjectName) -> SqlResult<ObjectAddress> {
    let ObjectName::Cast(from, to) = object else { return Err(SqlError::internal("a cast was expected")) };
    let found = named_cast(session, (from, to))??;
    check_cast_owner(session, (from, to))?;
    Ok(ObjectAddress::cast(found))
}

fn check_cast_owner(session: &Session, (from, to): (&TypeName, &TypeName)) -> SqlResult<()> {
    check_types_owner(session, [routine_name::resolve(session, from)?, routine_name::resolve(session, to)?])
}

/// Fails unless the current user owns one of a cast's types.
fn check_types_owner(session: &Session, types: [Oid; 2]) -> SqlResult<()> {
    for ty in types {
        let index = pg_type::PG_TYPE_OID_INDEX;
        let row = session.with_reader(|r| r.find_one(&pg_type::TABLE, index, &[ty.into()]))?;
        if names::owns(session, row.map_or(Oid::INVALID, |(_, row)| row.oid(pg_type::TYPOWNER)))? {
            return Ok(());
        }
    }
    let [from, to] = types.map(|oid| analyze::names::format_type(session, oid, None));
    Err(sql_err!(INSUFFICIENT_PRIVILEGE, "must be owner of type {from} or type {to}"))
}

/// A cast by its types; the inner error is that there is none.
fn named_cast(session: &Session, (from, to): (&TypeName, &TypeName)) -> SqlResult<Result<Oid, SqlError>> {
    let (source, target) = (routine_name::resolve(session, from)?, routine_name::resolve(session, to)?);
    let row = session.with_reader(|r| r.cast_row(source, target))?;
    let shown = |oid| analyze::names::format_type(session, oid, None);
    Ok(match row {
        Some(row) => Ok(row.oid(pg_cast::OID)),
        None => Err(sql_err!(
            UNDEFINED_OBJECT,
            "cast from type {} to type {} does not exist",
            shown(source),
            shown(target)
        )),
    })
}

/// CREATE CAST.
pub(crate) fn create_cast(session: &Session, statement: &CreateCast, text: &str) -> SqlResult<()> {
    let (source, target) =
        (type_oid(session, &statement.source, text)?, type_oid(session, &statement.target, text)?);
    let shown = |oid| analyze::names::format_type(session, oid, None);
    let refuse = |message: String| Err(SqlError::new(SqlState::INVALID_OBJECT_DEFINITION, message));
    for (what, oid) in [("source", source), ("target", target)] {
        if is_pseudo(session, oid)? {
            let message = format!("{what} data type {} is a pseudo-type", shown(oid));
            return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message));
        }
    }
    check_types_owner(session, [source, target])?;
    [source, target].into_iter().try_for_each(|oid| names::check_type_usage(session, oid))?;
    for oid in [source, target] {
        let domain = session.type_by_oid(oid)?.is_some_and(|def| matches!(def.kind, TypeKind::Domain(_)));
        if domain {
            let which = if oid == source { "source" } else { "target" };
            let message = format!("cast will be ignored because the {which} data type is a domain");
            session.notice(warning(message));
        }
    }
    let mut new =
        NewCast { source, target, function: Oid::INVALID, context: statement.context, method: b'b' };
    match &statement.function {
        Some(named) => {
            new.method = b'f';
            new.function = cast_function(session, named, source, target)?;
        }
        None if statement.inout => new.method = b'i',
        None => check_binary(session, source, target)?,
    }
    if source == target && new.method != b'f' {
        return refuse("source data type and target data type are the same".to_owned());
    }
    if session.with_reader(|r| r.cast_row(source, target))?.is_some() {
        return Err(sql_err!(
            DUPLICATE_OBJECT,
            "cast from type {} to type {} already exists",
            shown(source),
            shown(target)
        ));
    }
    session.with_changer(|changer| changer.create_cast(&new).map(drop))
}

fn cast_function(session: &Session, named: &ObjectWithArgs, source: Oid, target: Oid) -> SqlResult<Oid> {
    use catalog::system::pg_proc;
    let found = routine_name::find(session, ObjectKind::Function, named)?;
    let missing = || SqlError::internal(format!("cache lookup failed for function {}", found.oid));
    let row = session.with_reader(|r| r.routine_row(found.oid))?.ok_or_else(missing)?;
    let refuse = |message: &str| Err(SqlError::new(SqlState::INVALID_OBJECT_DEFINITION, message));
    let args = catalog::oids_of(&row[pg_proc::PROARGTYPES]);
    let same = |a: Oid, b: Oid| a == b || operator::alike(a, b);
    if args.is_empty() || args.len() > 3 {
        return refuse("cast function must take one to three arguments");
    }
    if !same(source, args[0]) {
        return refuse("argument of cast function must match or be binary-coercible from source data type");
    }
    if args.get(1).is_some_and(|t| *t != oids::int4) {
        return refuse("second argument of cast function must be type integer");
    }
    if args.get(2).is_some_and(|t| *t != oids::bool) {
        return refuse("third argument of cast function must be type boolean");
    }
    if !same(row.oid(pg_proc::PRORETTYPE), target) {
        return refuse(
            "return data type of cast function must match or be binary-coercible to target data type",
        );
    }
    match row.char(pg_proc::PROKIND) {
        b'f' if row.bool(pg_proc::PRORETSET) => refuse("cast function must not return a set"),
        b'f' => Ok(found.oid),
        _ => refuse("cast function must be a normal function"),
    }
}

/// WITHOUT FUNCTION: the bytes must mean the same.
fn check_binary(session: &Session, source: Oid, target: Oid) -> SqlResult<()> {
    let refuse = |message: &str| Err(SqlError::new(SqlState::INVALID_OBJECT_DEFINITION, message));
    if !session.has_all_rights()? {
        return Err(sql_err!(INSUFFICIENT_PRIVILEGE, "must be superuser to create a cast WITHOUT FUNCTION"));
    }
    let (from, to) = (catalog::type_shape(session, source)?, catalog::type_shape(session, target)?);
    if from.physical != to.physical || from.align != to.align {
        return refuse("source and target data types are not physically compatible");
    }
    for oid in [source, target] {
        let kind = session.type_by_oid(oid)?.map(|def| def.kind.clone());
        match kind {
            Some(TypeKind::Composite(_)) => return refuse("composite data types are not binary-compatible"),
            Some(TypeKind::Enum(_)) => return refuse("enum data types are not binary-compatible"),
            Some(TypeKind::Domain(_)) => {
                return refuse("domain data types must not be marked binary-compatible");
            }
            _ if from.element.is_valid() || to.element.is_valid() => {
                return refuse("array data types are not binary-compatible");
            }
            _ => {}
        }
    }
    Ok(())
}

/// What DROP CAST names.
pub(crate) fn dropped_casts(session: &Session, statement: &Drop) -> SqlResult<Vec<ObjectAddress>> {
    let mut objects = Vec::with_capacity(statement.objects.len());
    for object in &statement.objects {
        let ObjectName::Cast(from, to) = object else {
            return Err(SqlError::internal("a cast was expected"));
        };
        let find = || named_cast(session, (from, to));
        match find() {
            Ok(Ok(found)) => {
                check_cast_owner(session, (from, to))?;
                objects.push(ObjectAddress::cast(found));
            }
            Ok(Err(missing)) | Err(missing) => {
                if !statement.missing_ok {
                    return Err(missing);
                }
                let what = match missing.message().starts_with("type") {
                    true => missing.message().to_owned(),
                    false => {
                        format!("cast from type {} to type {} does not exist", written(from), written(to))
                    }
                };
                session.notice(names::notice(SqlState::SUCCESSFUL_COMPLETION, format!("{what}, skipping")));
            }
        }
    }
    Ok(objects)
}
