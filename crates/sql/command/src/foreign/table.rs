//! What foreign tables have beside other tables: a server, and options of their own and of their columns.

use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::change::ForeignTable;
use catalog::system::{pg_attribute, pg_foreign_data_wrapper as w, pg_foreign_server as s, pg_foreign_table};
use catalog::{RelationKind, RowExt, Table};
use parse::ast::{
    ColumnDef, Constraint, ConstraintKind, CreateTable, ForeignOption, ForeignSource, TableElement,
};
use session::Session;

use super::{SERVERS, changed};
use crate::alter;
use crate::names::at;

/// A constraint that such tables cannot have.
pub(crate) fn check_constraint(constraint: &Constraint, text: &str) -> SqlResult<()> {
    let what = match constraint.kind {
        ConstraintKind::PrimaryKey(_) => "primary key",
        ConstraintKind::Unique(_) => "unique",
        ConstraintKind::Exclude { .. } => "exclusion",
        ConstraintKind::ForeignKey { .. } => "foreign key",
        _ => return Ok(()),
    };
    let error = sql_err!(FEATURE_NOT_SUPPORTED, "{what} constraints are not supported on foreign tables");
    Err(at(error, text, constraint.location))
}

/// What CREATE FOREIGN TABLE asks for must be what such tables can have.
pub(crate) fn check(statement: &CreateTable, text: &str) -> SqlResult<()> {
    let constraints = statement.elements.iter().flat_map(|element| match element {
        TableElement::Column(column) => column.constraints.as_slice(),
        TableElement::Constraint(constraint) => std::slice::from_ref(constraint),
        TableElement::Like(..) => &[],
    });
    constraints.into_iter().try_for_each(|constraint| check_constraint(constraint, text))
}

/// A foreign table cannot have its part of an index, and without it nothing would be unique.
pub(crate) fn check_parent(parent: &Table) -> SqlResult<()> {
    if !parent.indexes.iter().any(|index| index.unique) {
        return Ok(());
    }
    let name = &parent.name;
    Err(sql_err!(WRONG_OBJECT_TYPE, "cannot create foreign partition of partitioned table \"{name}\"")
        .detail(format!("Table \"{name}\" contains indexes that are unique.")))
}

/// Enters where the rows of a new table come from.
pub(crate) fn enter(session: &Session, table: Oid, source: &ForeignSource) -> SqlResult<()> {
    let server = SERVERS.get(session, &source.server)?;
    SERVERS.check_usage(session, &server, session.names.user())?;
    let wrapper = session.with_reader(|reader| reader.wrapper(server.oid(s::SRVFDW)))?;
    let validator = (wrapper.oid(w::FDWVALIDATOR), pg_foreign_table::TABLE.oid);
    let options = changed(session, Vec::new(), &source.options, validator)?;
    let new = ForeignTable { table, server: server.oid(s::OID), options };
    session.with_changer(|changer| changer.set_foreign_source(&new))
}

/// Enters the options of a new column.
pub(crate) fn enter_column(session: &Session, table: &Table, def: &ColumnDef) -> SqlResult<()> {
    match def.foreign_options.as_slice() {
        [] => Ok(()),
        options => set_column_options(session, table, &def.name, options),
    }
}

fn require_foreign(table: &Table) -> SqlResult<()> {
    match table.kind {
        RelationKind::ForeignTable => Ok(()),
        _ => Err(sql_err!(WRONG_OBJECT_TYPE, "\"{}\" is not a foreign table", table.name)),
    }
}

/// The validator of the options of a table and its columns.
fn validator(session: &Session, source: &ForeignTable) -> SqlResult<Oid> {
    let server = session.with_reader(|reader| reader.server(source.server))?;
    super::server::validator(session, &server)
}

/// The error of TRUNCATE, which no wrapper that there is can carry out.
pub(crate) fn not_truncated(session: &Session, table: &Table) -> SqlResult<SqlError> {
    let source = session.with_reader(|reader| reader.foreign_table(table.oid))?;
    session::foreign::wrapper_of(session, source.server)?;
    Ok(sql_err!(FEATURE_NOT_SUPPORTED, "cannot truncate foreign table \"{}\"", table.name))
}

/// ALTER FOREIGN TABLE ... OPTIONS.
pub(crate) fn set_options(session: &Session, table: &Table, options: &[ForeignOption]) -> SqlResult<()> {
    require_foreign(table)?;
    let source = session.with_reader(|reader| reader.foreign_table(table.oid))?;
    let validator = (validator(session, &source)?, pg_foreign_table::TABLE.oid);
    let options = changed(session, source.options, options, validator)?;
    session.with_changer(|changer| changer.set_foreign_options(table.oid, &options))
}

/// ALTER FOREIGN TABLE ... ALTER COLUMN ... OPTIONS.
pub(crate) fn set_column_options(
    session: &Session,
    table: &Table,
    column: &str,
    options: &[ForeignOption],
) -> SqlResult<()> {
    require_foreign(table)?;
    let number = alter::find(table, column)? as i16 + 1;
    let (source, known) = session.with_reader(|reader| {
        Ok::<_, SqlError>((
            reader.foreign_table(table.oid)?,
            reader.foreign_column_options(table.oid, number)?,
        ))
    })?;
    let validator = (validator(session, &source)?, pg_attribute::TABLE.oid);
    let options = changed(session, known, options, validator)?;
    session.with_changer(|changer| changer.set_foreign_column_options(table.oid, number, &options))
}
