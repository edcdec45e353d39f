//! # What
//! ALTER TABLE ... ALTER COLUMN TYPE: changes the column's catalog rows, its default, all values, and the indexes, constraints and statistics over it.
//!
//! # Layout
//! [`run`] checks the statement. Then definitions over the column are saved and dropped (`Definitions`), the catalogs are changed, a plan that still reads
//! the old file writes the rows to a new one, other indexes are rebuilt, and the definitions are made again.
//!
//! # Invariants
//! 1. The plan that reads the old rows is made before the catalogs change; it keeps the old description and file.
//! 2. Rows are not rewritten if no stored value changes: the new length limit is not tighter, or the new type is stored in the same
//!    way.
//!
//! # Locks
//! ACCESS EXCLUSIVE on the table.
//!
//! # PostgreSQL counterpart and differences
//! `ATPrepAlterColumnType`, `ATExecAlterColumnType`, `ATRewriteTable`. Actions of one ALTER TABLE are carried out one after the
//! other, each with its own pass over the rows.

use std::sync::Arc;

use analyze::Expr;
use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::change::{Behavior, NewColumn, NewDefault, ObjectAddress};
use catalog::system::{pg_attrdef, pg_depend, pg_index, pg_policy, pg_publication_rel, pg_rewrite};
use catalog::{Generated, Identity, RelationKind, RowExt, Table};
use parse::Statement;
use parse::ast;
use session::Session;
use types::{Call, oids};

use super::alter_rows::{self, OldRows};
use super::names::at;
use super::{alter, alter_identity, expression, extended_statistics, index, names, type_name};

/// The action as written.
pub(super) struct Wanted<'a> {
    pub(super) column: &'a str,
    pub(super) type_name: &'a ast::TypeName,
    pub(super) collation: Option<&'a (ast::Name, ast::Location)>,
    pub(super) using: Option<&'a ast::Expr>,
    pub(super) location: ast::Location,
}

/// Carries it out.
pub(super) fn run(session: &Session, table: &Arc<Table>, wanted: &Wanted<'_>, text: &str) -> SqlResult<()> {
    let number = check(table, wanted, text)?;
    let old = table.columns[number as usize - 1].clone();
    let new = new_column(session, wanted, text)?;
    let (value, same) = conversion(session, table, number, &new, wanted, text)?;
    check_dependents(session, table, number)?;
    let default = converted_default(session, &old, &new, text)?;
    let rows =
        if same || table.heap.is_none() { None } else { Some(OldRows::plan(session, table, number, value)?) };
    let definitions = Definitions::take(session, table, number)?;
    session.with_changer(|changer| {
        changer.set_column_type(table.oid, number, &new)?;
        if let Some(default) = &default {
            changer.set_default(table.oid, number, Some(default), old.generated)?;
        }
        Ok::<_, SqlError>(())
    })?;
    if old.identity != Identity::None {
        alter_identity::follow_type(session, old.identity_sequence, new.type_oid, text)?;
    }
    match rows {
        Some(rows) => rows.rewrite(session, table.oid)?,
        None => keep_missing(session, table, number)?,
    }
    definitions.restore(session, table.oid)
}

/// What the column has in rows that do not store it is a value of the new type from now on.
fn keep_missing(session: &Session, before: &Table, number: i16) -> SqlResult<()> {
    let Some(heap) = &before.heap else { return Ok(()) };
    let value = heap.desc.layout.missing(number as usize - 1).clone();
    let after = names::describe(session, before.oid)?;
    alter_rows::set_missing(session, &after, number, value)
}

fn check(table: &Table, wanted: &Wanted<'_>, text: &str) -> SqlResult<i16> {
    let name = wanted.column;
    if index::is_system_column(name) {
        let error = sql_err!(FEATURE_NOT_SUPPORTED, "cannot alter system column \"{name}\"");
        return Err(at(error, text, wanted.location));
    }
    let number = alter::find(table, name)? as i16 + 1;
    if table.kind == RelationKind::ForeignTable && wanted.using.is_some() {
        return Err(sql_err!(WRONG_OBJECT_TYPE, "\"{}\" is not a table", table.name));
    }
    if table.columns[number as usize - 1].generated != Generated::None && wanted.using.is_some() {
        let error = sql_err!(
            INVALID_COLUMN_DEFINITION,
            "cannot specify USING when altering type of generated column"
        );
        let error = error.detail(format!("Column \"{name}\" is a generated column."));
        return Err(at(error, text, wanted.location));
    }
    Ok(number)
}

/// Views, policies and generated columns over the column are in the way.
fn check_dependents(session: &Session, table: &Table, number: i16) -> SqlResult<()> {
    let name = table.columns[number as usize - 1].name.as_str();
    let key = [catalog::system::pg_class::TABLE.oid.into(), table.oid.into(), i32::from(number).into()];
    let rows =
        session.with_reader(|r| r.find(&pg_depend::TABLE, pg_depend::PG_DEPEND_REFERENCE_INDEX, &key))?;
    for (_, row) in rows {
        let (class, object) = (row.oid(pg_depend::CLASSID), row.oid(pg_depend::OBJID));
        if class == pg_rewrite::TABLE.oid {
            return Err(used_by_view(session, name, object)?);
        }
        let used_by = match class {
            class if class == pg_publication_rel::TABLE.oid => Some("by a publication WHERE clause"),
            class if class == pg_policy::TABLE.oid => Some("in a policy definition"),
            _ => None,
        };
        if let Some(used) = used_by {
            let part = session.with_reader(|r| r.describe(ObjectAddress { class, object, sub: 0 }))?;
            let message = format!("cannot alter type of a column used {used}");
            return Err(SqlError::new(base::SqlState::FEATURE_NOT_SUPPORTED, message)
                .detail(format!("{part} depends on column \"{name}\"")));
        }
        if class == pg_attrdef::TABLE.oid && row.char(pg_depend::DEPTYPE) == b'n' {
            let by_oid = pg_attrdef::PG_ATTRDEF_OID_INDEX;
            let found = session.with_reader(|r| r.find_one(&pg_attrdef::TABLE, by_oid, &[object.into()]))?;
            let column = found.map_or(0, |(_, row)| row.int(pg_attrdef::ADNUM) as usize);
            let user = column.checked_sub(1).and_then(|i| table.columns.get(i));
            return Err(sql_err!(
                FEATURE_NOT_SUPPORTED,
                "cannot alter type of a column used by a generated column"
            )
            .detail(format!(
                "Column \"{name}\" is used by generated column \"{}\".",
                user.map_or("?", |column| column.name.as_str())
            )));
        }
    }
    Ok(())
}

fn used_by_view(session: &Session, column: &str, rule: Oid) -> SqlResult<SqlError> {
    let rule = session.with_reader(|r| r.describe(ObjectAddress::rule(rule)))?;
    let error = sql_err!(FEATURE_NOT_SUPPORTED, "cannot alter type of a column used by a view or rule");
    Ok(error.detail(format!("{rule} depends on column \"{column}\"")))
}

pub(super) fn new_column(session: &Session, wanted: &Wanted<'_>, text: &str) -> SqlResult<NewColumn> {
    let (ty, collation) = session.with_reader(|reader| {
        let ty = type_name::resolve(reader, wanted.type_name, text)?;
        let collation = match wanted.collation {
            Some((name, location)) => type_name::collation(reader, (name, *location), &ty, text)?,
            None => ty.collation,
        };
        Ok::<_, SqlError>((ty, collation))
    })?;
    names::check_type_usage(session, ty.oid)?;
    session.with_changer(|changer| changer.check_column_type(wanted.column, ty.oid))?;
    Ok(NewColumn {
        name: wanted.column.to_owned(),
        type_oid: ty.oid,
        typmod: ty.typmod,
        dimensions: ty.dimensions,
        collation,
        ..NewColumn::default()
    })
}

/// The expression that makes the new value of the old row, and whether it leaves every value as it is stored.
fn conversion(
    session: &Session,
    table: &Arc<Table>,
    number: i16,
    new: &NewColumn,
    wanted: &Wanted<'_>,
    text: &str,
) -> SqlResult<(Expr, bool)> {
    let plain = alter::column_expr(wanted.column);
    let source = expression::transform(session, table, wanted.using.unwrap_or(&plain), text)?;
    let format = session.format();
    let call = Call::new(&format).with_session(session);
    let converted = analyze::assign_to(source, new.type_oid, new.typmod, text, session, &call)?;
    let Some(value) = converted else {
        let shown = session.with_reader(|r| type_name::format(r, new.type_oid, new.typmod))?;
        let column = wanted.column;
        return Err(match wanted.using {
            Some(_) => sql_err!(
                DATATYPE_MISMATCH,
                "result of USING clause for column \"{column}\" cannot be cast automatically to type {shown}"
            )
            .hint("You might need to add an explicit cast."),
            None => sql_err!(
                DATATYPE_MISMATCH,
                "column \"{column}\" cannot be cast automatically to type {shown}"
            )
            .hint(format!(
                "You might need to specify \"USING {}::{shown}\".",
                session::functions::quote_identifier(column)
            )),
        });
    };
    let old = &table.columns[number as usize - 1];
    let same = wanted.using.is_none() && stored_alike((old.type_oid, old.typmod), (new.type_oid, new.typmod));
    Ok((value, same))
}

/// Whether values of one type are stored as those of the other, and none is too long for it.
fn stored_alike((old, old_limit): (Oid, i32), (new, new_limit): (Oid, i32)) -> bool {
    let text = |ty| matches!(ty, oids::text | oids::varchar);
    if text(old) && text(new) {
        return new == oids::text
            || new_limit < 0
            || (old == oids::varchar && (0..=new_limit).contains(&old_limit));
    }
    old == new && (new_limit < 0 && old != oids::bpchar || new_limit == old_limit)
}

/// The column's default as one of the new type.
fn converted_default(
    session: &Session,
    old: &catalog::Column,
    new: &NewColumn,
    text: &str,
) -> SqlResult<Option<NewDefault>> {
    let Some(stored) = &old.default else { return Ok(None) };
    let expr = analyze::stored::load_expr(stored, session)?;
    let format = session.format();
    let call = Call::new(&format).with_session(session);
    match analyze::assign_to(expr, new.type_oid, new.typmod, text, session, &call)? {
        Some(expr) => Ok(Some(expression::stored(session, &expr).into())),
        None => {
            let shown = session.with_reader(|r| type_name::format(r, new.type_oid, new.typmod))?;
            let what = if old.generated == Generated::None { "default" } else { "generation expression" };
            Err(sql_err!(
                DATATYPE_MISMATCH,
                "{what} for column \"{}\" cannot be cast automatically to type {shown}",
                old.name
            ))
        }
    }
}

/// Indexes, constraints and statistics objects over the column, as the statements that make them.
struct Definitions {
    statements: Vec<String>,
    /// Statistics objects, with their comments.
    statistics: Vec<(String, Option<String>)>,
    /// The index that CLUSTER goes by, by its name.
    clustered: Option<String>,
    /// The index that is the replica identity.
    identity: Option<String>,
}

impl Definitions {
    /// Notes the definitions, and drops what they made.
    fn take(session: &Session, table: &Table, number: i16) -> SqlResult<Definitions> {
        let (mut statements, mut statistics) = (Vec::new(), Vec::new());
        let mut dropped = Vec::new();
        let mut constraints = session.with_reader(|r| r.constraints(table.oid))?;
        constraints.sort_by_key(|constraint| constraint.oid);
        for constraint in constraints.into_iter().filter(|constraint| constraint.kind != b'n') {
            let index = table.indexes.iter().find(|index| index.oid == constraint.index);
            let computes = match index.filter(|_| constraint.kind == b'x') {
                Some(index) => session.index_uses(index, number)?,
                None => false,
            };
            if !computes && !constraint.columns.contains(&number) {
                continue;
            }
            statements.push(session.constraint_statement(table, constraint.oid, &constraint.name)?);
            dropped.push(ObjectAddress::constraint(constraint.oid));
        }
        for found in table.indexes.iter().filter(|index| !index.constraint.is_valid()) {
            let plain = found.keys.iter().chain(&found.including).any(|&key| key == number);
            if plain || session.index_uses(found, number)? {
                statements.push(session.index_statement(found.oid)?);
                dropped.push(ObjectAddress::relation(found.oid));
            }
        }
        for found in &table.statistics {
            let mut uses = found.keys.contains(&number);
            for stored in &found.expressions {
                uses |= expression::uses(session, stored, number)?;
            }
            if uses && let Some(text) = session.statistics_statement(found.oid)? {
                let object = ObjectAddress::statistics(found.oid);
                statistics.push((text, session.comment_of(object)?));
                dropped.push(object);
            }
        }
        let (clustered, identity) = (
            Definitions::index_with(session, table, pg_index::INDISCLUSTERED)?,
            Definitions::index_with(session, table, pg_index::INDISREPLIDENT)?,
        );
        if !dropped.is_empty() {
            session.with_changer(|changer| changer.drop_objects(&dropped, Behavior::Restrict).map(drop))?;
        }
        Ok(Definitions { statements, statistics, clustered, identity })
    }

    /// The name of the table's index that has a flag.
    fn index_with(session: &Session, table: &Table, flag: usize) -> SqlResult<Option<String>> {
        for index in &table.indexes {
            let row = session.with_reader(|reader| reader.index_row(index.oid))?;
            if row.is_some_and(|row| row.bool(flag)) {
                return Ok(Some(index.name.clone()));
            }
        }
        Ok(None)
    }

    /// Carries the definitions out again.
    fn restore(self, session: &Session, table: Oid) -> SqlResult<()> {
        for text in &self.statements {
            for raw in parse::parse(text)? {
                match &raw.stmt {
                    Statement::CreateIndex(s) => index::create(session, s, text)?,
                    Statement::AlterTable(s) => alter::run(session, s, text)?,
                    _ => return Err(SqlError::internal("a definition is no statement")),
                }
            }
        }
        for (text, comment) in &self.statistics {
            extended_statistics::create_again(session, text, comment.as_deref(), |_| ())?;
        }
        let now = names::describe(session, table)?;
        let named = |name: Option<String>| {
            now.indexes.iter().find(|index| Some(&index.name) == name.as_ref()).map(|index| index.oid)
        };
        let (clustered, identity) = (named(self.clustered), named(self.identity));
        session.with_changer(|changer| {
            if let Some(index) = clustered {
                changer.set_clustered(table, Some(index))?;
            }
            if let Some(index) = identity {
                changer.set_replica_identity(index, true)?;
            }
            Ok::<_, SqlError>(())
        })?;
        Ok(())
    }
}
