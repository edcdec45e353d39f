//! # What
//! Statistics objects: CREATE STATISTICS and ALTER STATISTICS ... SET STATISTICS. For other statements see `schema_object`.
//!
//! # Locks
//! SHARE UPDATE EXCLUSIVE on the table.
//!
//! # PostgreSQL counterpart
//! `commands/statscmds.c`.

use std::sync::Arc;

use base::{Oid, Severity, SqlError, SqlResult, SqlState, sql_err};
use catalog::change::{NewStatistics, ObjectAddress};
use catalog::system::pg_statistic_ext as s;
use catalog::{Generated, RelationKind, Row, RowExt, StatisticsObject, Table};
use parse::ast::{CreateStatistics, Name, ObjectName, Statement, StatisticsElement};
use session::Session;
use txn::LockMode;

use super::schema_object::SchemaObject;
use super::{expression, index, names, object_name, routine_name, type_name};

/// Most columns and expressions of an object.
const MAX_COLUMNS: usize = 8;
/// Most entries of a list.
const MAX_TARGET: i32 = 10_000;

/// What other statements than CREATE do with statistics objects.
pub(super) const STATISTICS: SchemaObject = SchemaObject {
    noun: "statistics object",
    oid: s::OID,
    name: s::STXNAME,
    schema: s::STXNAMESPACE,
    owner: Some(s::STXOWNER),
    address: ObjectAddress::statistics,
    find,
    taken: |session, _, name, schema| {
        let found = session.with_reader(|r| r.statistics_row(name, schema))?;
        Ok(found.map(|_| String::new()))
    },
};

/// CREATE STATISTICS. Returns the object's OID, none if it was there before.
pub(crate) fn create(session: &Session, statement: &CreateStatistics, text: &str) -> SqlResult<Option<Oid>> {
    let table = names::open(session, &statement.relation, LockMode::ShareUpdateExclusive)?;
    check_table(session, &table)?;
    let (name, schema) = name_and_schema(session, statement, &table)?;
    names::check_creation(session, schema)?;
    if session.with_reader(|r| r.statistics_row(&name, schema))?.is_some() {
        let there = format!("statistics object \"{name}\" already exists");
        if statement.if_not_exists {
            session.notice(names::notice(SqlState::DUPLICATE_OBJECT, format!("{there}, skipping")));
            return Ok(None);
        }
        return Err(SqlError::new(SqlState::DUPLICATE_OBJECT, there));
    }
    let count = statement.elements.len();
    if count > MAX_COLUMNS {
        return Err(sql_err!(TOO_MANY_COLUMNS, "cannot have more than {MAX_COLUMNS} columns in statistics"));
    }
    let owner = session.names.user();
    let mut new = NewStatistics {
        name,
        schema,
        owner,
        table: table.oid,
        keys: Vec::new(),
        kinds: Vec::new(),
        expressions: Vec::new(),
        used: Vec::new(),
        needs: Vec::new(),
    };
    for element in &statement.elements {
        add(session, &table, element, count > 1, &mut new, text)?;
    }
    new.kinds = kinds(statement, &new)?;
    new.keys.sort_unstable();
    if new.keys.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(sql_err!(DUPLICATE_COLUMN, "duplicate column name in statistics definition"));
    }
    if (1..new.expressions.len()).any(|at| new.expressions[..at].contains(&new.expressions[at])) {
        return Err(sql_err!(DUPLICATE_COLUMN, "duplicate expression in statistics definition"));
    }
    session.with_changer(|changer| changer.create_statistics(&new)).map(Some)
}

/// Makes an object of the statement that made another one, after a change to it, with a comment.
pub(crate) fn create_again(
    session: &Session,
    definition: &str,
    comment: Option<&str>,
    change: impl FnOnce(&mut CreateStatistics),
) -> SqlResult<()> {
    let parsed = parse::parse(definition)?.into_iter().next().map(|raw| raw.stmt);
    let Some(Statement::CreateStatistics(mut statement)) = parsed else {
        return Err(SqlError::internal("a definition is no statement"));
    };
    change(&mut statement);
    match create(session, &statement, definition)? {
        Some(made) => {
            session.with_changer(|changer| changer.set_comment(ObjectAddress::statistics(made), comment))
        }
        None => Ok(()),
    }
}

fn check_table(session: &Session, table: &Table) -> SqlResult<()> {
    let kinds = match table.kind {
        RelationKind::Table
        | RelationKind::MaterializedView
        | RelationKind::ForeignTable
        | RelationKind::PartitionedTable => {
            names::check_owner(session, table)?;
            return names::check_not_system(table);
        }
        kind => names::plural(kind),
    };
    Err(sql_err!(WRONG_OBJECT_TYPE, "cannot define statistics for relation \"{}\"", table.name)
        .detail(format!("This operation is not supported for {kinds}.")))
}

/// The name that was given, or one made of the table's and the columns'.
fn name_and_schema(
    session: &Session,
    statement: &CreateStatistics,
    table: &Table,
) -> SqlResult<(String, Oid)> {
    if let Some(name) = &statement.name {
        let name = names::relation_name(&ObjectName::Name(name.clone()))?;
        let schema = names::routine_schema(session, &name)?;
        return Ok((name.name, schema));
    }
    let columns: Vec<String> =
        statement.elements.iter().map(|e| e.column.clone().unwrap_or_else(|| "expr".to_owned())).collect();
    let part = object_name::columns_part(&columns);
    let name = object_name::first_free((&table.name, Some(&part), "stat"), |name| {
        Ok(session.with_reader(|r| r.statistics_row(name, table.schema))?.is_some())
    })?;
    Ok((name, table.schema))
}

/// A column or an expression.
fn add(
    session: &Session,
    table: &Arc<Table>,
    element: &StatisticsElement,
    several: bool,
    new: &mut NewStatistics,
    text: &str,
) -> SqlResult<()> {
    let Some(expr) = &element.expr else {
        let name = element.column.as_deref().unwrap_or_default();
        if index::is_system_column(name) {
            return Err(system_column());
        }
        let (number, _) = table
            .column(name)
            .ok_or_else(|| sql_err!(UNDEFINED_COLUMN, "column \"{name}\" does not exist"))?;
        return add_column(session, table, number, new);
    };
    match expression::statistics_element(session, table, expr, text)? {
        expression::IndexKey::Column(number, _) => add_column(session, table, number, new),
        expression::IndexKey::Expression(stored) => {
            if stored.used.iter().any(|number| *number <= 0) {
                return Err(system_column());
            }
            let virtually = |number: &i16| {
                usize::try_from(number - 1)
                    .ok()
                    .and_then(|i| table.columns.get(i))
                    .is_some_and(|c| c.generated == Generated::Virtual)
            };
            if stored.used.iter().any(virtually) {
                return Err(virtual_column());
            }
            if several && !is_ordered(session, stored.type_oid)? {
                let shown = session.with_reader(|r| type_name::format(r, stored.type_oid, -1))?;
                return Err(sql_err!(
                    FEATURE_NOT_SUPPORTED,
                    "expression cannot be used in multivariate statistics because its type {shown} has no default btree operator class"
                ));
            }
            new.expressions.push(stored.text);
            new.used.extend(stored.used);
            new.needs.extend(stored.needs);
            Ok(())
        }
    }
}

fn add_column(session: &Session, table: &Table, number: i16, new: &mut NewStatistics) -> SqlResult<()> {
    let column = &table.columns[number as usize - 1];
    if column.generated == Generated::Virtual {
        return Err(virtual_column());
    }
    if !is_ordered(session, column.type_oid)? {
        let shown = session.with_reader(|r| type_name::format(r, column.type_oid, -1))?;
        return Err(sql_err!(
            FEATURE_NOT_SUPPORTED,
            "column \"{}\" cannot be used in statistics because its type {shown} has no default btree operator class",
            column.name
        ));
    }
    new.keys.push(number);
    Ok(())
}

fn is_ordered(session: &Session, type_oid: Oid) -> SqlResult<bool> {
    let comparable = session.with_reader(|reader| catalog::type_shape(reader, type_oid))?.comparable;
    Ok(types::registry::compare(comparable).is_some())
}

fn system_column() -> SqlError {
    sql_err!(FEATURE_NOT_SUPPORTED, "statistics creation on system columns is not supported")
}

fn virtual_column() -> SqlError {
    sql_err!(FEATURE_NOT_SUPPORTED, "statistics creation on virtual generated columns is not supported")
}

/// Letters of the kinds that are asked for; all that there can be if none is.
fn kinds(statement: &CreateStatistics, new: &NewStatistics) -> SqlResult<Vec<u8>> {
    let count = new.keys.len() + new.expressions.len();
    let alone = count == 1 && new.expressions.len() == 1;
    if alone && !statement.kinds.is_empty() {
        return Err(sql_err!(
            INVALID_PARAMETER_VALUE,
            "when building statistics on a single expression, statistics kinds may not be specified"
        ));
    }
    const KNOWN: [(&str, u8); 3] = StatisticsObject::KINDS;
    for kind in &statement.kinds {
        if !KNOWN.iter().any(|(name, _)| name == kind) {
            return Err(sql_err!(SYNTAX_ERROR, "unrecognized statistics kind \"{kind}\""));
        }
    }
    if count < 2 && !alone {
        return Err(sql_err!(INVALID_OBJECT_DEFINITION, "extended statistics require at least 2 columns"));
    }
    let asked = |name: &str| statement.kinds.iter().any(|kind| kind == name) || statement.kinds.is_empty();
    let mut letters: Vec<u8> =
        KNOWN.iter().filter(|(name, _)| count > 1 && asked(name)).map(|(_, letter)| *letter).collect();
    if !new.expressions.is_empty() {
        letters.push(b'e');
    }
    Ok(letters)
}

/// ALTER STATISTICS ... SET STATISTICS.
pub(crate) fn set_target(
    session: &Session,
    name: &Name,
    target: Option<i32>,
    missing_ok: bool,
) -> SqlResult<()> {
    let target = match target {
        None | Some(-1) => None,
        Some(target @ ..0) => {
            return Err(sql_err!(INVALID_PARAMETER_VALUE, "statistics target {target} is too low"));
        }
        Some(target) if target > MAX_TARGET => {
            session.notice(SqlError::with_severity(
                Severity::Warning,
                SqlState::INVALID_PARAMETER_VALUE,
                format!("lowering statistics target to {MAX_TARGET}"),
            ));
            Some(MAX_TARGET as i16)
        }
        Some(target) => Some(target as i16),
    };
    let row = match find(session, &ObjectName::Name(name.clone())) {
        Ok(Ok(row)) => row,
        Ok(Err(missing)) => return names::skip_missing(session, missing_ok, missing),
        Err(error) if error.code() == SqlState::UNDEFINED_SCHEMA && missing_ok => {
            return names::skip_missing(session, missing_ok, undefined(name));
        }
        Err(error) => return Err(error),
    };
    STATISTICS.check_owner(session, &row)?;
    session.with_changer(|changer| changer.set_statistics_target(row.oid(s::OID), target))
}

/// The object of a name, the first in the search path; an inner error if there is none.
fn find(session: &Session, object: &ObjectName) -> SqlResult<Result<Row, SqlError>> {
    let ObjectName::Name(name) = object else {
        return Err(SqlError::internal("a statistics object was expected"));
    };
    for schema in routine_name::schemas(session, name)? {
        if let Some(row) = session.with_reader(|r| r.statistics_row(name.last(), schema))? {
            return Ok(Ok(row));
        }
    }
    Ok(Err(undefined(name)))
}

fn undefined(name: &Name) -> SqlError {
    sql_err!(UNDEFINED_OBJECT, "statistics object \"{}\" does not exist", name.dotted())
}
